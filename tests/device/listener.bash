# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For tests that start a server and then a client: they wait until somebody listens, or the process PID that should has
# ended.
#
#     await_cm_listener PID SECONDS     by rdma_cm
#     await_tcp_listener PID PORT       on a TCP port, for ten minutes

await_cm_listener() {
	local try
	for ((try = 0; try < 10 * $2; try++)); do
		kill -0 "$1" || return
		! rdma resource show cm_id | grep -q LISTEN || return 0
		pause 0.1
	done
	echo 'nobody listens'
	return 1
}

await_tcp_listener() {
	local try port rows
	printf -v port '%04X' "$2"
	for ((try = 0; try < 12000; try++)); do
		kill -0 "$1" || return
		mapfile -t rows </proc/net/tcp
		mapfile -t -O "${#rows[@]}" rows </proc/net/tcp6
		[[ ${rows[*]} != *":$port "+(0)":0000 0A "* ]] || return 0
		pause 0.05
	done
	echo "nobody listens on TCP port $2"
	return 1
}
