#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain on real traffic: tests/tools/explain/traffic.c, two processes of which one does a thing wrong, and the
# library's own ping-pong. What they see is the same with and without.
#
# Nightly: half a minute; tests/tools/explain_data.t has most of it.

cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_data.t here
fi
source tests/tap.bash
# shellcheck source=tests/device/listener.bash
source tests/device/listener.bash
PATH=$PWD/build/tools:$PWD/build/tests/explain:$PATH

# explained CASE PATTERN...: each pattern is found in what is said; nothing is said if there is none.
explained() {
	local pattern
	timeout 20 traffic "$1" >"$scratch/alone"
	timeout 20 rdmaez-explain traffic "$1" >"$scratch/out" 2>"$scratch/err"
	diff "$scratch/alone" "$scratch/out"
	tr -s '[:space:]' ' ' <"$scratch/err" >"$scratch/line"
	for pattern in "${@:2}"; do
		grep -qE -- "$pattern" "$scratch/line" || { echo "no '$pattern' in:"; cat "$scratch/err"; return 1; }
	done
	(($# > 1)) || ! grep . "$scratch/err"
}

# The library's own ping-pong, both ends under rdmaez-explain.
stock() {
	local server
	timeout 60 rdmaez-explain ibv_rc_pingpong --gid-idx 0 --iters 200 "$@" >"$scratch/server" 2>&1 &
	server=$!
	await_tcp_listener "$server" 18515
	timeout 60 rdmaez-explain ibv_rc_pingpong --gid-idx 0 --iters 200 "$@" localhost >"$scratch/client" 2>&1
	wait "$server"
	grep -h 'iters in' "$scratch/server" "$scratch/client"
	! grep -h rdmaez "$scratch/server" "$scratch/client"
}

ok 'says nothing of a ping-pong' explained pingpong
ok 'explains a peer that posts no receive' explained not_ready 'IBV_WC_RNR_RETRY_EXC_ERR.* on rxe0 .*, QP [0-9]+, RC' \
	'rnr_retry: .*posted' 'Given: 1; accepted: 7'
ok 'explains a wrong rkey, and the end that refuses it' explained wrong_rkey \
	'IBV_WC_REM_ACCESS_ERR.* on rxe0 .*, QP [0-9]+, RC' 'rkey' 'IBV_WC_WR_FLUSH_ERR.* on rxe0 .*, QP [0-9]+, RC'
# From Linux 6.12 on rxe flushes a request whose own memory is wrong.
ok 'explains a wrong lkey' explained wrong_lkey 'IBV_WC_(LOC_.*|WR_FLUSH_)ERR, .* on rxe0 ' 'lkey( is wrong or stale|, bounds and)'
ok 'explains a peer that has died' explained killed 'IBV_WC_RETRY_EXC_ERR.* on rxe0 .*, QP [0-9]+, RC' 'Next: '
ok 'says nothing of flushes that the program asked for' explained own_flush
ok 'explains too many SGEs' explained many_sges 'ibv_post_send failed with EINVAL' 'num_sge: '
ok 'says nothing of a ping-pong by ibv_wr_send()' explained ex_pingpong
ok 'explains a peer that posts no receive to ibv_wr_send()' explained ex_not_ready \
	'IBV_WC_RNR_RETRY_EXC_ERR.* QP [0-9]+, RC'
ok 'explains a dead peer to ibv_start_poll()' explained ex_killed 'IBV_WC_RETRY_EXC_ERR.* QP [0-9]+, RC'
ok 'explains a full queue to ibv_wr_complete()' explained ex_full 'ibv_wr_complete failed with ' 'max_send_wr: '
ok 'explains inline data that is too long to ibv_wr_complete()' explained ex_long_inline \
	'ibv_wr_complete failed with ' 'sg_list: .*inline' '4000 bytes'
ok 'says nothing of the stock ping-pong' stock
ok 'says nothing of it with events' stock --events
fails 'sees a finding that is missing' "no 'IBV_WC_LOC_PROT_ERR'" explained not_ready IBV_WC_LOC_PROT_ERR
fails 'sees a finding too many' RNR_RETRY explained not_ready

done_testing
