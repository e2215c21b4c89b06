#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The rules as constant expressions: right in every cell of the kernel's table and of the drivers' own, with every
# compiler and as every kind of constant; and a wrong mask does not compile, with a message that names the
# transition.
#
# C++ compilers take ten times as long over them as gcc over C. So make check has all masks with gcc, and every seventh
# with the others; make check-nightly has all with each.

source tests/compile/lib.bash

# cells STATEMENTS: what the awk function cell(type, from, to, legal, required, optional) prints for each type and
# pair of states; masks are text that C reads.
cells() {
	cat tests/data/qp-state-table.tsv tests/data/driver-type-table.tsv | awk -F '\t' '
	function text(names) {
		gsub(/\|/, " | ", names)
		return names == "-" ? "0" : names
	}
	'"$1"'
	BEGIN {
		split("RESET INIT RTR RTS SQD SQE ERR", states, " ")
		split("RC UC UD RAW_PACKET XRC_INI XRC_TGT SRD DCI DCT", types, " ")
		split("RC UC UD RAW_PACKET XRC_SEND XRC_RECV SRD DCI DCT", spoken, " ")
	}
	{ required[$3, $1, $2] = text($4); optional[$3, $1, $2] = text($5) }
	END {
		for (t = 1; t <= 9; t++)
			for (f = 1; f <= 7; f++)
				for (n = 1; n <= 7; n++) {
					key = types[t] SUBSEP states[f] SUBSEP states[n]
					legal = key in required
					moves = f != n || t > 7 # of mlx5 the types always take the state
					cell((t > 6 ? "RDMAEZ_QPT_" : "IBV_QPT_") spoken[t], "IBV_QPS_" states[f],
						"IBV_QPS_" states[n], legal,
						legal ? required[key] (moves ? " | IBV_QP_STATE" : "") : "0",
						legal ? optional[key] (moves ? "" : " | IBV_QP_STATE") : "0")
				}
	}'
}

# What all sources begin with. C++ spells the assertion otherwise.
head_lines() {
	echo '#include <rdmaez.h>'
	echo '#ifdef __cplusplus'
	echo '#define _Static_assert static_assert'
	echo '#endif'
}

# Every cell, where declarations stand; the first mask of each kind also within a function, and as other kinds
# of constants.
write_right() {
	head_lines
	# shellcheck disable=SC2016 # it is awk
	cells 'function cell(type, from, to, legal, required, optional) {
		where = type ", " from ", " to
		printf "_Static_assert(RDMAEZ_QP_REQUIRED(%s) == (%s), \"required\");\n", where, required
		printf "_Static_assert(RDMAEZ_QP_OPTIONAL(%s) == (%s), \"optional\");\n", where, optional
		if (legal) {
			printf "RDMAEZ_QP_MASK_ASSERT(%s, %s);\n", where, required
			printf "RDMAEZ_QP_MASK_ASSERT(%s, %s | %s);\n", where, required, optional
		}
	}'
	cat <<-'END'
		enum { to_init = RDMAEZ_QP_REQUIRED(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT) };
		extern char to_rtr[RDMAEZ_QP_REQUIRED(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR)];
		struct bits { unsigned int bit : RDMAEZ_QP_OPTIONAL(IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_SQD); };
		static const unsigned int mask = RDMAEZ_QP_REQUIRED(IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS);
		int which(int attr_mask);
		int which(int attr_mask)
		{
			RDMAEZ_QP_MASK_ASSERT(RDMAEZ_QPT_DCI, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_PATH_MTU);
			RDMAEZ_QP_MASK_ASSERT(IBV_QPT_UC, IBV_QPS_ERR, IBV_QPS_ERR, 0u);
			switch (attr_mask) {
			case RDMAEZ_QP_REQUIRED(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR):
				return 1;
			case RDMAEZ_QP_REQUIRED(IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR):
				return 2;
			case to_init:
				return 3;
			default:
				return mask == RDMAEZ_QP_REQUIRED(IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR) ? 4 : 5;
			}
		}
	END
}

# A wrong mask a line: of every cell one that lacks a required bit, one with a bit too many, one that is right
# but for a transition that does not exist.
write_wrong() {
	head_lines
	# shellcheck disable=SC2016 # it is awk
	cells 'function cell(type, from, to, legal, required, optional,    bit, bits, i) {
		where = "RDMAEZ_QP_MASK_ASSERT(" type ", " from ", " to ", "
		if (!legal) {
			print where "IBV_QP_STATE);"
			return
		}
		split(required, bits, / \| /)
		for (i in bits)
			if (bits[i] != "0")
				print where "(" required " | " optional ") & ~" bits[i] ");"
		print where required " | IBV_QP_CAP);"
		print where required " | (1 << (" ++places % 31 ") & ~(" required " | " optional ")) | IBV_QP_CAP);"
	}'
}

compiles() {
	compile "$1" "$2" include -fsyntax-only "$3"
}

tcc_compiles() {
	tcc -std=c11 -Iinclude -c -o "$scratch/$BASHPID.o" "$1"
}

# "TYPE FROM TO" of the assertions in a source; of the messages about them.
asserted() {
	sed -nE 's/^RDMAEZ_QP_MASK_ASSERT\((\w+), (\w+), (\w+), .*/\1 \2 \3/p' "$1" | sort -u
}

told() {
	sed -nE 's/.*error: .*rdmaez: (.* )?((RDMAEZ|IBV)_QPT_\w+) .*from (IBV_QPS_\w+) to (IBV_QPS_\w+).*/\2 \4 \5/p' "$1" |
		sort -u
}

# refuses COMPILER STD [FILE]: each line of the wrong masks is refused, with a message that names its transition, and is
# short enough to read.
refuses() {
	local out=$scratch/told.$BASHPID limit=-fmax-errors=0 wrong=${3-$scratch/wrong.c}
	[[ $1 != "$CLANG" && $1 != "$CLANGXX" ]] || limit=-ferror-limit=0
	! compile "$1" "$2" include -fsyntax-only "$limit" "$wrong" >"$out" 2>&1 || return 1
	diff <(grep -nE '^RDMAEZ_QP_MASK' "$wrong" | cut -d: -f1) \
		<(grep -oE '(wrong|some)\.c:[0-9]+:[0-9]+:' "$out" | cut -d: -f2 | sort -nu)
	diff <(asserted "$wrong") <(told "$out")
	awk 'length > 600 { print "a message of " length " characters"; exit 1 }' "$out"
}

# says STD MASK: what is said of a mask for UD from INIT to RTR.
says() {
	{ head_lines; echo "RDMAEZ_QP_MASK_ASSERT(IBV_QPT_UD, IBV_QPS_INIT, $2);"; } >"$scratch/says.$BASHPID.c"
	compile "$CC" "$1" include -fsyntax-only "$scratch/says.$BASHPID.c"
}

# seventh FILE: every seventh mask of a source, and all that is no mask. Cells have two lines, four, or many, so all kinds
# of lines are met.
seventh() {
	awk '!/^(_Static_assert|RDMAEZ_QP_MASK_ASSERT)\(/ || ++masks % 7 == 0' "$1"
}

write_right >"$scratch/right.c"
write_wrong >"$scratch/wrong.c"
seventh "$scratch/right.c" >"$scratch/right_some.c"
seventh "$scratch/wrong.c" >"$scratch/some.c"
ok 'there are masks of all kinds' awk 'END { exit NR < 700 }' "$scratch/wrong.c"
ok 'and a seventh of them' awk 'END { exit NR < 100 || NR > 300 }' "$scratch/some.c"
for compiler in "$CC c11" "$CC c2x" "$CLANG c11" "$CXX c++11" "$CXX c++23" "$CLANGXX c++20"; do
	sample "$compiler" "$CXX c++11" "$CLANG c11"
	# shellcheck disable=SC2086 # two words
	{
		if [[ $compiler == "$CC c11" ]]; then
			soon ok "the rules are constants, and the kernel's and the drivers': $compiler" \
				compiles $compiler "$scratch/right.c"
		else
			$often soon ok "every seventh rule is a constant, and the kernel's and the drivers': $compiler" \
				compiles $compiler "$scratch/right_some.c"
			nightly soon ok "the rules are constants, and the kernel's and the drivers': $compiler" \
				compiles $compiler "$scratch/right.c"
		fi
	}
done
soon fails 'another table would be seen' 'error: static assertion failed' compile "$CC" c11 \
	"$(seeded table rdmaez/impl/qp_rules.h 's/IBV_QP_PATH_MTU | IBV_QP_AV |/IBV_QP_AV |/')" -fsyntax-only "$scratch/right.c"
for compiler in "$CC c11" "$CLANG c11" "$CXX c++11" "$CLANGXX c++11"; do
	sample "$compiler" "$CLANGXX c++11"
	# shellcheck disable=SC2086 # two words
	{
		if [[ $compiler == "$CC c11" ]]; then
			soon ok "every wrong mask is refused, and the message names the transition: $compiler" refuses $compiler
		else
			$often soon ok "every seventh wrong mask is refused, and the message names the transition: $compiler" \
				refuses $compiler "$scratch/some.c"
			nightly soon ok "every wrong mask is refused, and the message names the transition: $compiler" \
				refuses $compiler
		fi
	}
done
if command -v tcc >/dev/null; then
	soon ok 'the rules are constants: tcc' tcc_compiles "$scratch/right.c"
	{ head_lines; grep '^RDMAEZ_QP_MASK' "$scratch/wrong.c" | tail -n 1; } >"$scratch/one.c"
	soon fails 'a wrong mask is refused: tcc' 'rdmaez: .*RDMAEZ_QPT_DCT .*from IBV_QPS_ERR to IBV_QPS_ERR' \
		tcc_compiles "$scratch/one.c"
fi
for std in c11 c++11; do
	soon fails "it is said that bits are missing: $std" \
		'attributes are missing that IBV_QPT_UD requires from IBV_QPS_INIT to IBV_QPS_RTR: IBV_QP_QKEY' \
		says "$std" 'IBV_QPS_RTR, IBV_QP_QKEY'
	soon fails "and that there are too many: $std" \
		'attributes are there that IBV_QPT_UD does not take from IBV_QPS_INIT to IBV_QPS_RTR: IBV_QP_STATE . IBV_QP_AV' \
		says "$std" 'IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_AV'
	soon fails "and that there is no such transition: $std" \
		'IBV_QPT_UD has no transition from IBV_QPS_INIT to IBV_QPS_RTS' says "$std" 'IBV_QPS_RTS, IBV_QP_STATE'
done
done_testing
