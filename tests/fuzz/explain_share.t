#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain's launcher takes from memory that whoever runs in the command can write, fuzzed under ASan and
# UBSan with a fixed seed.

header=explain_share longest=500
source tests/fuzz/lib.bash

# fuzz_launcher NAME RUNS [FILE [WHICH]]: FILE stands for tools/explain/summary.c, or with JUDGE for judge.c.
fuzz_launcher() {
	"${CLANG:-clang}" "${flags[@]}" -D_GNU_SOURCE -Itools/explain ${3:+-D${4:-SUMMARY}="\"$3\""} \
		-fsanitize=fuzzer,address,undefined "tests/fuzz/$header.c" -pthread -o "$build/$1"
	"$build/$1" -seed=1 -runs="$2" "-max_len=$longest" -len_control=0 -close_fd_mask=3 -artifact_prefix="$scratch/"
}

# without NAME SCRIPT [FILE]: a copy of the launcher's reading side with SCRIPT, of sed, done to it.
without() {
	local file=tools/explain/${3:-summary.c}
	sed "$2" "$file" >"$scratch/$1.c"
	! cmp -s "$file" "$scratch/$1.c" || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1.c"
}

runs=$(nightly_runs 20000)
ok "$runs states of the shared memory are read without a misstep" fuzz_launcher explain_share "$runs"

fails "a text that is too long is noticed" 'AddressSanitizer' \
	fuzz_launcher share_text 20000 "$(without text 's/left->text > sizeof(left->bytes) ||/0 \&\&/')"
fails "a finding beyond the table is noticed" 'index .* out of bounds|AddressSanitizer' \
	fuzz_launcher share_count 20000 "$(without count 's/ || its_count >= EXPLAIN_COUNTS//')"
fails "a process beyond the table is noticed" 'index .* out of bounds|AddressSanitizer' \
	fuzz_launcher share_process 20000 "$(without process 's/its_process >= EXPLAIN_PROCESSES || //')"
fails "a kind that there is not is noticed" 'index .* out of bounds|AddressSanitizer' \
	fuzz_launcher share_kind 20000 "$(without kind 's/if (.*kind >= EXPLAIN_KIND_COUNT)/if (0)/')"
fails "an escape sequence is noticed" 'deadly signal' \
	fuzz_launcher share_plain 20000 "$(without plain '/explain_make_plain(left->bytes/d')"
fails "a name that is no string is noticed" 'deadly signal|AddressSanitizer' \
	fuzz_launcher share_name 20000 "$(without name '/explain_make_word(process->name/d')"
fails "a verb that is no string is noticed" 'deadly signal|AddressSanitizer' \
	fuzz_launcher share_doing 20000 "$(without doing '/explain_make_word(process->doing.verb/d')"
fails "what is read again after it was checked is noticed" 'AddressSanitizer' \
	fuzz_launcher share_twice 20000 "$(without twice 's/from->bytes, left->text + left->json/from->bytes, from->text + from->json/')"
fails "a state that there is not is noticed" 'index .* out of bounds|AddressSanitizer' \
	fuzz_launcher share_state 20000 "$(without state '/qp->state = bound/d' judge.c)" JUDGE
fails "an MTU that there is not is noticed" 'index .* out of bounds|AddressSanitizer' \
	fuzz_launcher share_mtu 20000 "$(without mtu '/qp->path_mtu = bound/d' judge.c)" JUDGE
fails "a completion queue beyond the rows is noticed" 'index .* out of bounds|AddressSanitizer' \
	fuzz_launcher share_cq 20000 "$(without cq '/qp->send_cq = bound/d' judge.c)" JUDGE
fails "a verb that there is not is noticed" 'index .* out of bounds|AddressSanitizer|deadly' \
	fuzz_launcher share_verb 20000 "$(without verb 's/calls.at..verb >= EXPLAIN_VERB_COUNT/0/' judge.c)" JUDGE
fails "a device's name that leads elsewhere is noticed" 'deadly signal' \
	fuzz_launcher share_device 20000 "$(without device '/make_name(qp->device/d' judge.c)" JUDGE
done_testing
