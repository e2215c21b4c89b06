#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain's launcher takes from memory that whoever runs in the command can write, fuzzed under ASan and
# UBSan with a fixed seed.
#
# Nightly: half a minute of building.

header=explain_share longest=500
source tests/fuzz/lib.bash

units=(summary judge record state compare compare_page compare_read compare_wait)

# compiled FILE OBJECT
compiled() {
	"${CLANG:-clang}" "${flags[@]}" -D_GNU_SOURCE -DEXPLAIN_FEW=16 -Itools/explain -fsanitize=fuzzer-no-link,address,undefined \
		-c "$1" -o "$2"
}

# What is the same for all of them, once.
compiled_units() {
	local unit
	for unit in "${units[@]}"; do
		compiled "tools/explain/$unit.c" "$build/share.$unit.o"
	done
	compiled "tests/fuzz/$header.c" "$build/share.o"
}

# linked NAME OBJECT...
linked() {
	"${CLANG:-clang}" -fsanitize=fuzzer,address,undefined "$build/share.o" "${@:2}" -pthread -o "$build/$1"
}

built() {
	local objects=("${units[@]/#/$build/share.}")
	objects=("${objects[@]/%/.o}")
	compiled_units && linked explain_share "${objects[@]}"
}

# fuzz_launcher NAME RUNS [DEFECT]
fuzz_launcher() {
	DEFECT=${3-0} "$build/$1" -seed=1 -runs="$2" "-max_len=$longest" -len_control=0 -close_fd_mask=3 \
		-artifact_prefix="$scratch/" "$(kept explain_share)"
}

# Each defect is a condition in a copy of its unit, and so all of them are compiled at once.
defects=() copies=()

# defect PATTERN UNIT WHAT SCRIPT: SCRIPT, of sed, is done to a copy of the unit; DEFECT in it is whether it is wanted. Then
# the launcher fails, and says PATTERN.
defect() {
	local copy=$scratch/$2.c before
	defects+=("$1" "$3")
	[[ " ${copies[*]-} " == *" $2 "* ]] || {
		copies+=("$2")
		sed '1i extern int explain_defect;' "tools/explain/$2.c" >"$copy"
	}
	before=$(<"$copy")
	sed -i "${4//DEFECT/(explain_defect == $((${#defects[@]} / 2)))}" "$copy"
	[[ $(<"$copy") != "$before" ]] || defects[-1]+=", but nothing is seeded: it"
}

built_with_defects() {
	local unit objects=()
	rm -f "$build/share_defects"
	for unit in "${units[@]}"; do
		if [[ " ${copies[*]} " == *" $unit "* ]]; then
			compiled "$scratch/$unit.c" "$build/defects.$unit.o" || return
			objects+=("$build/defects.$unit.o")
		else
			objects+=("$build/share.$unit.o")
		fi
	done
	linked share_defects "${objects[@]}"
}

ok 'the launcher is built' built
runs=$(nightly_runs 2000 20000)
ok "$runs states of the shared memory are read without a misstep" fuzz_launcher explain_share "$runs"

defect 'AddressSanitizer' summary 'a text that is too long' \
	's/left->text > sizeof(left->bytes)/(!DEFECT \&\& &)/'
defect 'index .* out of bounds|AddressSanitizer' summary 'a finding beyond the table' \
	's/its_count >= EXPLAIN_COUNTS/(!DEFECT \&\& &)/'
defect 'index .* out of bounds|AddressSanitizer' summary 'a process beyond the table' \
	's/its_process >= EXPLAIN_PROCESSES/(!DEFECT \&\& &)/'
defect 'index .* out of bounds|AddressSanitizer' summary 'a kind that there is not' \
	's/if (\(.*kind >= EXPLAIN_KIND_COUNT\))/if (!DEFECT \&\& \1)/'
defect 'deadly signal' summary 'an escape sequence' \
	'/explain_make_plain(left->bytes/s/^/if (!DEFECT)/'
defect 'deadly signal|AddressSanitizer' summary 'a name that is no string' \
	'/explain_make_word(process->name/s/^/if (!DEFECT)/'
defect 'deadly signal|AddressSanitizer' summary 'a verb that is no string' \
	'/explain_make_word(process->doing.verb/s/^/if (!DEFECT)/'
defect 'AddressSanitizer' summary 'what is read again after it was checked' \
	's/from->bytes, left->text + left->json/from->bytes, DEFECT ? from->text + from->json : left->text + left->json/'
defect 'index .* out of bounds|AddressSanitizer' judge 'a state that there is not' \
	'/qp->state = bound/s/^/if (!DEFECT)/'
defect 'index .* out of bounds|AddressSanitizer' judge 'an MTU that there is not' \
	'/qp->path_mtu = bound/s/^/if (!DEFECT)/'
defect 'index .* out of bounds|AddressSanitizer' judge 'a completion queue beyond the rows' \
	'/qp->send_cq = bound/s/^/if (!DEFECT)/'
defect 'index .* out of bounds|AddressSanitizer|deadly' judge 'a verb that there is not' \
	's/calls.at..verb >= EXPLAIN_VERB_COUNT/(!DEFECT \&\& &)/'
defect 'deadly signal' judge "a device's name that leads elsewhere" \
	'/make_name(qp->device/s/^/if (!DEFECT)/'
defect 'index .* out of bounds|AddressSanitizer' judge 'a shared receive queue beyond the rows' \
	'/qp->srq = bound/s/^/if (!DEFECT)/'
defect 'index .* out of bounds|AddressSanitizer' judge "a port's MTU that there is not" \
	'/qp->active_mtu = bound/s/^/if (!DEFECT)/'

ok 'the launcher is built with defects' built_with_defects
ok 'none of which matters unless it is wanted' fuzz_launcher share_defects 200
for ((i = 0; i < ${#defects[@]}; i += 2)); do
	often=()
	((i % 8 == 0)) || often=(nightly) # each fourth tells whether any is seen
	"${often[@]}" fails "${defects[i + 1]} is noticed" "${defects[i]}" fuzz_launcher share_defects 20000 $((i / 2 + 1))
done
done_testing
