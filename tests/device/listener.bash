# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For tests of programs that connect by rdma_cm.

# await_listener PID SECONDS: until somebody listens, or the process that should has ended.
await_listener() {
	local try
	for ((try = 0; try < 10 * $2; try++)); do
		kill -0 "$1" || return
		! rdma resource show cm_id | grep -q LISTEN || return 0
		sleep 0.1
	done
	echo 'nobody listens'
	return 1
}
