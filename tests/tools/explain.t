#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain: what its options do, and that a program under it is the program it was.

source tests/tap.bash
source tests/tools/explain.bash
programs copies dlopen wrong_mask

explains_a_refusal() {
	ends 0 wrong_mask
	[[ $(<"$scratch/out") == 22 ]]
	says '^rdmaez-explain: wrong_mask\[[0-9]+\]: refused at 0x[0-9a-f]+ main\+0x[0-9a-f]+ \(wrong_mask\)$' \
		'^ibv_modify_qp failed with EINVAL on fake0, QP [0-9]+, RC, RESET to RTR\.$' 'Next: '
	[[ $(grep -c rdmaez_ "$scratch/err") == 0 ]]
}

# The address is the call's, as addr2line takes it.
tells_the_line() {
	local address
	ends 0 wrong_mask
	address=$(sed -n 's/.*refused at \(0x[0-9a-f]*\) .*/\1/p' "$scratch/err")
	addr2line --exe=build/tests/explain/wrong_mask "$address" >"$scratch/line"
	cat "$scratch/line"
	[[ $(<"$scratch/line") == */wrong_mask.c:$(sed -n '/ibv_modify_qp/=' tests/tools/explain/wrong_mask.c)* ]]
}

counts_repetitions() {
	ends 0 wrong_mask 30
	[[ $(grep -c ' refused at ' "$scratch/err") == 1 ]]
	says '\]: 30 refusals \(ibv_modify_qp EINVAL 30\)$'
}

# --- How the library is found -------------------------------------------------------------------

# looked_up FILE [plain]: a program that finds the verbs itself gets wrappers for them, and for nothing else.
looked_up() {
	dlopen "$@" >"$scratch/alone"
	ends 0 dlopen "$@"
	[[ $(<"$scratch/out") == '0 22 0 0 1' ]]
	diff "$scratch/alone" "$scratch/out"
	says 'ibv_modify_qp failed with EINVAL'
}

elsewhere() {
	mkdir -p "$scratch/elsewhere"
	cp build/tests/fake/libibverbs.so.1 "$scratch/elsewhere/${1:-libibverbs.so.1}"
}

keeps_libraries_apart() {
	local files=(libibverbs.so.1 "$scratch/elsewhere/libibverbs.so.1")
	elsewhere
	copies "${files[@]}" >"$scratch/alone"
	ends 0 copies "${files[@]}"
	diff "$scratch/alone" "$scratch/out"
	[[ $(<"$scratch/out") == '22 22 1 1 1 1 ' ]]
	says 'ibv_modify_qp failed with EINVAL'
}

ok 'explains a refusal' explains_a_refusal
ok 'tells the line of the call' tells_the_line
ok 'counts repetitions' counts_repetitions
ok 'is found by dlvsym()' looked_up libibverbs.so.1
ok 'is found by dlsym(), of a library for one user alone' looked_up libibverbs.so.1 plain
elsewhere
ok 'is found in a library from another directory' looked_up "$scratch/elsewhere/libibverbs.so.1"
elsewhere libother.so
ok 'is found in a library of another name' looked_up "$scratch/elsewhere/libother.so"
ok 'keeps the objects of two libraries apart' keeps_libraries_apart

done_testing
