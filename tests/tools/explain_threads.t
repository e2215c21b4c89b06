#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain under ThreadSanitizer: threads poll and post, and fail, while contexts come and go.

source tests/tap.bash
source tests/tools/explain.bash
programs threads
run_make build/threads/rdmaez-explain || exit

# Some kernels place memory at random where the sanitizer of gcc 12 does not expect it.
fixed=(setarch --addr-no-randomize)
"${fixed[@]}" true 2>/dev/null || fixed=()

# raceless [ARGUMENT]
raceless() {
	local code=0
	"${fixed[@]}" build/threads/rdmaez-explain build/tests/explain/threads "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
	grep -A 30 'WARNING: ThreadSanitizer' "$scratch/err" || :
	((code == 0))
	[[ $(sort --unique "$scratch/out") == 'failed 800 refused 200' ]]
	says ' 800 refusals \(ibv_post_send EINVAL 400, ibv_wr_complete EINVAL 400\)' \
		' 104 failed completions .*, 1596 later failures .*, 1600 flushed'
}

ok 'takes part in no race' raceless
fails 'sees a race' 'data race .* in work' raceless race

done_testing
