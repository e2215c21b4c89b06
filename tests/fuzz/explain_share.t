#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain's launcher takes from memory that whoever runs in the command can write, fuzzed under ASan and
# UBSan with a fixed seed.

header=explain_share longest=500
source tests/fuzz/lib.bash

units=(summary judge record state compare compare_page compare_read compare_wait)

# compiled FILE OBJECT
compiled() {
	"${CLANG:-clang}" "${flags[@]}" -D_GNU_SOURCE -DEXPLAIN_FEW -Itools/explain -fsanitize=fuzzer-no-link,address,undefined \
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

# fuzz_launcher NAME RUNS [FILE UNIT]: FILE stands for that unit of the launcher.
fuzz_launcher() {
	local unit objects=()
	for unit in "${units[@]}"; do
		[[ $unit == "${4-}" ]] || objects+=("$build/share.$unit.o")
	done
	[[ -z ${3-} ]] || compiled "$3" "$build/$1.o"
	"${CLANG:-clang}" -fsanitize=fuzzer,address,undefined "$build/share.o" "${objects[@]}" ${3:+"$build/$1.o"} -pthread \
		-o "$build/$1"
	"$build/$1" -seed=1 -runs="$2" "-max_len=$longest" -len_control=0 -close_fd_mask=3 -artifact_prefix="$scratch/"
}

# seeded NAME PATTERN UNIT WHAT SCRIPT: a copy of the unit with SCRIPT, of sed, done to it fails
seeded() {
	local copy=$scratch/$1.c
	sed "$5" "tools/explain/$3.c" >"$copy"
	! cmp -s "tools/explain/$3.c" "$copy" || echo "nothing was seeded by $5" >&2
	fails "$4 is noticed" "$2" fuzz_launcher "share_$1" 20000 "$copy" "$3"
}

ok 'the launcher is built' compiled_units
runs=$(nightly_runs 2000)
ok "$runs states of the shared memory are read without a misstep" fuzz_launcher explain_share "$runs"

seeded text 'AddressSanitizer' summary 'a text that is too long' \
	's/left->text > sizeof(left->bytes) ||/0 \&\&/'
seeded count 'index .* out of bounds|AddressSanitizer' summary 'a finding beyond the table' \
	's/ || its_count >= EXPLAIN_COUNTS//'
seeded process 'index .* out of bounds|AddressSanitizer' summary 'a process beyond the table' \
	's/its_process >= EXPLAIN_PROCESSES || //'
seeded kind 'index .* out of bounds|AddressSanitizer' summary 'a kind that there is not' \
	's/if (.*kind >= EXPLAIN_KIND_COUNT)/if (0)/'
seeded plain 'deadly signal' summary 'an escape sequence' \
	'/explain_make_plain(left->bytes/d'
seeded name 'deadly signal|AddressSanitizer' summary 'a name that is no string' \
	'/explain_make_word(process->name/d'
seeded doing 'deadly signal|AddressSanitizer' summary 'a verb that is no string' \
	'/explain_make_word(process->doing.verb/d'
seeded twice 'AddressSanitizer' summary 'what is read again after it was checked' \
	's/from->bytes, left->text + left->json/from->bytes, from->text + from->json/'
seeded state 'index .* out of bounds|AddressSanitizer' judge 'a state that there is not' \
	'/qp->state = bound/d'
seeded mtu 'index .* out of bounds|AddressSanitizer' judge 'an MTU that there is not' \
	'/qp->path_mtu = bound/d'
seeded cq 'index .* out of bounds|AddressSanitizer' judge 'a completion queue beyond the rows' \
	'/qp->send_cq = bound/d'
seeded verb 'index .* out of bounds|AddressSanitizer|deadly' judge 'a verb that there is not' \
	's/calls.at..verb >= EXPLAIN_VERB_COUNT/0/'
seeded device 'deadly signal' judge "a device's name that leads elsewhere" \
	'/make_name(qp->device/d'
seeded shared 'index .* out of bounds|AddressSanitizer' judge 'a shared receive queue beyond the rows' \
	'/qp->srq = bound/d'
seeded port 'index .* out of bounds|AddressSanitizer' judge "a port's MTU that there is not" \
	'/qp->active_mtu = bound/d'
seeded program 'deadly signal|AddressSanitizer' record "a program's name that is no string" \
	'/explain_make_word(process->name/d'
seeded region 'deadly signal|AddressSanitizer' judge "a region's device that is no name" \
	'/make_name(mr->device/d'
done_testing
