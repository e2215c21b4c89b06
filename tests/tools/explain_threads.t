#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain under ThreadSanitizer: eight threads poll and post, and fail, while contexts come and go; also with
# --waiting, which keeps what they do.

source tests/tap.bash
source tests/tools/explain.bash
programs threads
run_make build/threads/rdmaez-explain || exit

# Some kernels place memory at random where the sanitizer of gcc 12 does not expect it.
fixed=(setarch --addr-no-randomize)
"${fixed[@]}" true 2>/dev/null || fixed=()

options=()

# raceless [ARGUMENT]
raceless() {
	local code=0
	"${fixed[@]}" build/threads/rdmaez-explain "${options[@]}" build/tests/explain/threads "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
	grep -A 30 'WARNING: ThreadSanitizer' "$scratch/err" || :
	((code == 0))
	[[ $(sort --unique "$scratch/out") == 'failed 400 refused 100' ]]
	says ' 800 refusals \(ibv_(post_send EINVAL 400, ibv_wr_complete|wr_complete EINVAL 400, ibv_post_send) EINVAL 400\)' \
		' 108 failed completions .*, 1592 later failures .*, 1600 flushed'
}

ok 'takes part in no race' raceless
fails 'sees a race' 'data race .* in work' raceless race
options=(--waiting 1)
ok 'takes part in none with --waiting' raceless
fails 'sees a race with --waiting' 'data race .* in work' raceless race

done_testing
