#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain --waiting says why a program waits forever, and nothing of one that does not. Each mistake is one of
# tests/device/explained/waits.c. Needs build/tools and build/device/explained; runs itself again in the guest.
#
# Reports of hangs, and the case that stands for each:
#     PSNs that differ                            psn
#     the peer is connected to another one        qp_num
#     one end was not moved to RTR or RTS         not_rtr
#     timeout 0, max_rd_atomic 0, SQD             timeout, rd_atomic, sqd
#     no send signaled, another CQ polled         unsignaled, wrong_cq
#     more completions than entries               overrun
#     not armed, armed late, not acknowledged     not_armed, armed_late, epoll, not_acked
#     one completion taken for each event         stall
#     another Q_Key                               qkey
#     no receive posted, rnr_retry 7              no_receive, two_no_receive
#     the peer stopped, the peer killed           stopped, killed, killed_event, uc_killed
#     unequal numbers of messages                 ended
#     a datagram above the MTU                    datagram
#     the interface goes down                     ib_write_bw, below
#     a child posts                               fork
#     other MTUs, RC and UC, RC and UD            tests/programs/wrong.rows, with programs of rdma-core
#     rping -s alone                              tests/programs/unchanged.t: idle is not waiting
#     UC without a receive, a message lost        uc_no_receive, uc_dropped, uc_lost
# Nothing is said of a datagram to a number that nobody has (number): the sends complete, and receives alone may be idle. One
# who sends before RTS is refused on rxe: not_rts.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --env RDMAEZ_NIGHTLY --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_waiting.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

program=build/device/explained/waits
tool=build/tools/rdmaez-explain
ulimit -l unlimited

# Each waits for some seconds, so they do it at once.
run() {
	code=0
	"$tool" --waiting 2 --log "$scratch/$1.log" --json "$scratch/$1.json" "$program" "$1" 8 >"$scratch/$1.out" 2>&1 ||
		code=$?
	echo "$code" >"$scratch/$1.code"
}
mistakes=(psn qp_num not_rtr timeout unsignaled wrong_cq not_armed armed_late not_acked fork qkey no_receive two_no_receive
	stopped killed uc_dropped not_rts number gone_rkey rights idle idle_event sleeps slow child)
later=(type rd_atomic sqd overrun epoll stall datagram killed_event ended uc_no_receive gone_lkey bounds idle_init computes
	selective)
[[ ${RDMAEZ_NIGHTLY:-0} != 1 ]] || mistakes+=("${later[@]}")
for mistake in "${mistakes[@]}"; do
	run "$mistake" &
	[[ $(jobs -r | wc -l) -lt 8 ]] || wait -n
done
wait
# To start jq once for each takes longer than all of the rest.
jq --raw-output 'select(.kind == "waiting") | .findings[] | "\(input_filename | sub(".*/"; "")) \(.severity):\(.reason)"' \
	"$scratch"/*.json >"$scratch/found"

# says MISTAKE REASON...: it hangs, and the reasons are these, each as severity:REASON, in this order
says() {
	cat "$scratch/$1.out" "$scratch/$1.log"
	[[ $(<"$scratch/$1.code") == 9 ]]
	diff <(printf '%s\n' "${@:2}") <(sed -n "s/^$1.json //p" "$scratch/found")
}

# silent CODE MISTAKE: it is none
silent() {
	cat "$scratch/$2.out" "$scratch/$2.log"
	[[ $(<"$scratch/$2.code") == "$1" && ! -s $scratch/$2.log ]]
	[[ $(<"$scratch/$2.out") != *rdmaez-explain:* ]]
	! grep "^$2.json " "$scratch/found"
}

# begins MISTAKE PATTERN: the first sentence
begins() {
	tr -s '\n ' ' ' <"$scratch/$1.log" | grep -E "^rdmaez-explain: waits\[[0-9]+\]: $2"
}

ok 'names PSNs that differ' says psn error:WAIT_PSN advice:WAIT_RETRY_7
ok 'says it in the first sentence' begins psn \
	'QP [0-9]+ of rxe0 \(RC, RTS\) has waited for [0-9]+ s: the PSNs differ: this end sends from 200, and the peer expects 999 '
ok 'names a peer that is connected to another one' says qp_num error:WAIT_PEER_QPN advice:WAIT_RETRY_7
ok 'names a peer that was not moved to RTR' says not_rtr error:WAIT_PEER_STATE advice:WAIT_RETRY_7
nightly ok 'names types that differ' says type error:WAIT_TYPE advice:WAIT_RETRY_7
ok 'names a timeout of 0' says timeout error:WAIT_PEER_STATE advice:WAIT_TIMEOUT_0 advice:WAIT_RETRY_7
nightly ok 'names a max_rd_atomic of 0' says rd_atomic error:WAIT_RD_ATOMIC advice:WAIT_RETRY_7
nightly ok 'names SQD' says sqd error:WAIT_SQD advice:WAIT_RETRY_7
ok 'names sends that nobody asked a completion of' says unsignaled likely:WAIT_UNSIGNALED
ok 'names a completion queue that is not the right one' says wrong_cq error:WAIT_WRONG_CQ
nightly ok 'names a completion queue that was overrun' says overrun likely:WAIT_CQ_OVERRUN advice:WAIT_RETRY_7
ok 'names a completion queue that was never armed' says not_armed error:WAIT_NOT_ARMED advice:WAIT_RETRY_7
ok 'names one that was armed too late' says armed_late likely:WAIT_ARMED_LATE advice:WAIT_RETRY_7
nightly ok 'names it where the program sleeps in poll()' says epoll likely:WAIT_ARMED_LATE advice:WAIT_RETRY_7
nightly ok 'names it where one completion is taken for each event' says stall likely:WAIT_ARMED_LATE
ok 'names an event that was not acknowledged' says not_acked error:WAIT_CQ_EVENTS
ok 'says who waits for it' begins not_acked \
	'thread [0-9]+ has been in ibv_destroy_cq for [0-9]+ s: it waits until each event .*: 1 were taken, 0 acknowledged'

# The child's post is refused, and it is told that the queue pair is its parent's.
of_parent() {
	cat "$scratch/fork.out" "$scratch/fork.log"
	[[ $(<"$scratch/fork.code") == 9 ]]
	[[ $(jq --raw-output 'select(.opened_by) | "\(.record.call) \(.record.errno) \(.pid != .opened_by)"' \
		"$scratch/fork.json") == 'ibv_post_send EACCES true' ]]
}
ok 'names the parent of a child that posts' of_parent
ok 'names Q_Keys that differ' says qkey likely:WAIT_QKEY
ok 'names a receive that is missing' says no_receive error:WAIT_NO_RECEIVE advice:WAIT_RNR_7
ok 'names it where the peer is another process' says two_no_receive error:WAIT_NO_RECEIVE advice:WAIT_RNR_7
ok 'names a process that is stopped' says stopped error:WAIT_PEER_STOPPED error:WAIT_NO_RECEIVE advice:WAIT_RNR_7
ok 'names a process that has ended' says killed error:WAIT_PEER_ENDED advice:WAIT_RETRY_7

nightly ok 'names it where this one waits for an event' says killed_event error:WAIT_PEER_ENDED advice:WAIT_RETRY_7
nightly ok 'names one that had fewer messages to send' says ended error:WAIT_PEER_ENDED advice:WAIT_RETRY_7
nightly ok 'names a completion queue for which no receive is posted' says uc_no_receive error:WAIT_NO_RECEIVE
ok 'names a receive that is missing where what comes is dropped' says uc_dropped likely:WAIT_NO_RECEIVE
nightly ok 'names a datagram that is longer than the MTU' says datagram likely:WAIT_DATAGRAM

# refused: on this driver; on others it waits
refused() {
	cat "$scratch/not_rts.out" "$scratch/not_rts.log"
	[[ $(jq --raw-output 'select(.record) | "\(.record.call) \(.record.errno) \(.record.findings[0].reason)"' \
		"$scratch/not_rts.json") == 'ibv_post_send EINVAL WR_STATE' ]]
}
ok 'names a request before RTS' refused

# fails_of MISTAKE STATUS REASON PATTERN: the completion has this status, and the one line that is true of it is this one
fails_of() {
	local found
	cat "$scratch/$1.out" "$scratch/$1.log"
	[[ $(<"$scratch/$1.code") == "$2" ]]
	found=$(jq --raw-output 'select(.kind == "failed") | .findings[] | "\(.severity):\(.reason)"' "$scratch/$1.json")
	[[ $found == "$3" ]]
	tr -s '\n ' ' ' <"$scratch/$1.log" | grep -E "$4"
}

ok 'names a region that the peer had' fails_of gone_rkey 10 error:FAILED_DEREGISTERED \
	'rkey 0x[0-9a-f]+: the peer had this region \(0x[0-9a-f]+, 4096 bytes\) and has deregistered it\.'
nightly ok 'names a region that this process had' fails_of gone_lkey 2 error:FAILED_DEREGISTERED \
	'lkey 0x[0-9a-f]+: this process had this region \(0x[0-9a-f]+, 4096 bytes\) and has deregistered it\.'
nightly ok 'names a request that reaches beyond a region' fails_of bounds 10 likely:FAILED_BOUNDS \
	'the region of the peer is 4096 bytes at 0x[0-9a-f]+, but the request is for 64 at'
ok 'names a right that a region lacks' fails_of rights 10 error:FAILED_RIGHTS \
	'the region of the peer has the access flags 0x1, which lack 0x2\.'

ok 'is silent of an idle server' silent 0 idle
nightly ok 'is silent of one that is not connected' silent 0 idle_init
ok 'is silent of one that waits for an event' silent 9 idle_event
nightly ok 'is silent of a program that computes' silent 0 computes
ok 'is silent of a program that sleeps' silent 0 sleeps
nightly ok 'is silent of one that asks for few completions' silent 0 selective
ok 'is silent of a datagram to a number that nobody has' silent 9 number
ok 'is silent of a child that inherits the device' silent 0 child
ok 'is silent of a peer that takes its time' silent 0 slow
fails 'sees what is said' '^' silent 9 psn

# ---- When it speaks --------------------------------------------------------------------------------------------------

# starts ARG...: in the background, until it has waited for a moment. $waits_by: another mistake
starts() {
	"$tool" "$@" --log "$scratch/log" --json "$scratch/json" "$program" "${waits_by-psn}" 60 >"$scratch/out" 2>&1 &
	launcher=$!
	sleep 4
	[[ ! -s $scratch/log ]] || cat "$scratch/log"
}

occasions() {
	jq --raw-output 'select(.kind == "waiting") | "\(.occasion) \([.findings[].reason] | join(" "))"' "$scratch/json"
}

# asked: it says by SIGUSR1 what waits, and of the peer what is outstanding; goes on, and says it when it is about to be ended
asked() {
	local code=0
	rm -f "$scratch/json" "$scratch/log"
	starts --waiting 0
	[[ -z $(occasions) ]]
	kill -USR1 "$launcher"
	sleep 1
	[[ $(occasions) == $'asked WAIT_PSN WAIT_RETRY_7\nasked ' ]]
	kill -0 "$launcher"
	kill -TERM "$launcher"
	wait "$launcher" || code=$?
	occasions
	((code == 143))
}

# ended: something else ends the program
ended() {
	local code=0
	rm -f "$scratch/json" "$scratch/log"
	starts --waiting 0
	kill -KILL "$(pgrep -P "$launcher")"
	wait "$launcher" || code=$?
	((code == 137))
	cat "$scratch/log"
	[[ $(occasions) == 'end WAIT_PSN WAIT_RETRY_7' ]]
}

# terminated: before it passes SIGTERM on
terminated() {
	rm -f "$scratch/json" "$scratch/log"
	starts --waiting 0
	kill -TERM "$launcher"
	wait "$launcher" || :
	[[ $(occasions) == 'signal WAIT_PSN WAIT_RETRY_7' ]]
}

# both: systemd signals all processes of a service with SIGTERM. It is said once, before the end or
# at it, and the program ends as it would.
both() {
	local code=0 times
	rm -f "$scratch/json" "$scratch/log"
	starts --waiting 0
	kill -TERM "$launcher" "$(pgrep -P "$launcher")"
	wait "$launcher" || code=$?
	cat "$scratch/log"
	((code == 143))
	times=$(grep -c 'the PSNs differ' "$scratch/log")
	((times == 1))
	occasions | grep -xE '(signal|end) WAIT_PSN WAIT_RETRY_7'
	(($(occasions | wc -l) == 1))
}

# debugged: by the function for a debugger; what the program did before it was stopped is what counts
debugged() {
	local waits_by=unsignaled
	rm -f "$scratch/json" "$scratch/log"
	starts --waiting 0
	gdb -quiet -batch -nx -p "$(pgrep -P "$launcher")" -ex 'shell sleep 9' -ex 'call (int)rdmaez_explain_waiting()' \
		-ex 'shell sleep 1' >"$scratch/gdb" 2>&1
	kill -TERM "$launcher"
	wait "$launcher" || :
	cat "$scratch/gdb" "$scratch/log"
	grep -x '.1 = 0' "$scratch/gdb"
	occasions | grep -x 'asked WAIT_UNSIGNALED'
}

# cored MISTAKE TEXT...: of the core that the kernel makes of it, each TEXT is said, and nothing of how long it has waited
cored() {
	local waits_by=$1 line was
	was=$(</proc/sys/kernel/core_pattern)
	rm -f "$scratch/json" "$scratch/log" "$scratch"/core*
	echo "$scratch/core" >/proc/sys/kernel/core_pattern
	ulimit -c unlimited
	starts --waiting 0
	kill -ABRT "$(pgrep -P "$launcher")"
	wait "$launcher" || :
	echo "$was" >/proc/sys/kernel/core_pattern
	"$tool" --core "$scratch"/core* >"$scratch/said" 2>&1
	cat "$scratch/said"
	tr -s '\n ' ' ' <"$scratch/said" >"$scratch/words"
	for line in "${@:2}"; do
		grep -F -- "$line" "$scratch/words"
	done
	! grep -E '[0-9] s( ago|[.:,])' "$scratch/said"
}

# A debugger's core; and those that have nothing of it.
other_cores() {
	local waits_by=psn
	no_core() {
		local code=0
		"$tool" --core "$1" 2>"$scratch/err" || code=$?
		cat "$scratch/err"
		((code == 1))
		grep -F -- "$2" "$scratch/err"
	}
	rm -f "$scratch/json" "$scratch/log" "$scratch"/core*
	starts --waiting 0
	gcore -o "$scratch/live" "$(pgrep -P "$launcher")"
	kill -TERM "$launcher"
	wait "$launcher" || :
	"$tool" --line --core "$scratch"/live.* | grep 'kind=waiting seconds=0 .* finding=error:WAIT_PSN '
	head -c 100000 "$(echo "$scratch"/live.*)" >"$scratch/cut"
	no_core "$scratch/cut" 'cut'
	no_core "$tool" 'this is no core file'
	rm -f "$scratch"/live.*
	"$tool" "$program" psn 60 >"$scratch/out" 2>&1 &
	launcher=$!
	sleep 4
	gcore -o "$scratch/live" "$(pgrep -P "$launcher")"
	kill -TERM "$launcher"
	wait "$launcher" || :
	no_core "$(echo "$scratch"/live.*)" 'the program ran without --waiting and --json, so nothing was kept'
}

# undebugged: without --waiting nothing is kept, and 95 is EOPNOTSUPP
undebugged() {
	rm -f "$scratch/json" "$scratch/log"
	starts --summary
	gdb -quiet -batch -nx -p "$(pgrep -P "$launcher")" -ex 'call (int)rdmaez_explain_waiting()' >"$scratch/gdb" 2>&1
	kill -0 "$launcher"
	kill -TERM "$launcher"
	wait "$launcher" || :
	cat "$scratch/gdb"
	grep -x '.1 = 95' "$scratch/gdb"
}

# dead MISTAKE REASON: receives alone are no reason to speak, but who asks is told
dead() {
	local waits_by=$1
	rm -f "$scratch/json" "$scratch/log"
	starts --waiting 1
	[[ -z $(occasions) ]]
	kill -USR1 "$launcher"
	sleep 1
	[[ $(occasions) == "asked $2" ]]
	kill -TERM "$launcher"
	wait "$launcher" || :
}

# passes: SIGUSR1 is the program's, which it ends
passes() {
	local code=0
	rm -f "$scratch/json" "$scratch/log"
	starts "$@"
	kill -USR1 "$launcher"
	wait "$launcher" || code=$?
	((code == 138))
}

ok 'says it when it is asked' asked
ok 'names the end of a peer of UC to who asks' dead uc_killed WAIT_PEER_ENDED
nightly ok 'names a message that was lost' dead uc_lost WAIT_LOST
nightly ok 'names a completion queue that nobody polls' dead computes $'WAIT_NOT_POLLED\nasked '
ok 'says it before a program is ended' terminated
ok 'says it when a program was ended' ended
ok 'says it once to SIGTERM of a whole service' both
ok 'says it to a debugger' debugged
nightly ok 'and to none without --waiting' undebugged
ok 'says it of a core' cored psn 'has something outstanding: the PSNs differ: this end sends from 200, and the peer expects 999 (its rq_psn).' \
	'Its send CQ: polls: '
nightly ok 'with the call that it was in' cored not_acked 'is in ibv_destroy_cq: it waits until each event of the completion queue is acknowledged: 1 were taken, 0 acknowledged.'
nightly ok 'of a core by a debugger, and of none that lacks it' other_cores
ok 'passes SIGUSR1 on where it is asked in another way' passes --waiting 0 --signal HUP
ok 'passes it on without --waiting' passes --summary

# ---- Programs --------------------------------------------------------------------------------------------------------

# A server of rdma-core's that waits for its client by TCP.
waits_on_tcp() {
	local code=0
	timeout 6 "$tool" --waiting 1 --log "$scratch/tcp" ibv_rc_pingpong -d rxe0 -g 1 || code=$?
	cat "$scratch/tcp"
	[[ $code == 124 && ! -s $scratch/tcp ]]
}
ok 'is silent of a server that waits for a client by TCP' waits_on_tcp

# The link goes away under a run of it, and comes again. The address stays, so that no request fails.
link() {
	rm -f "$scratch/json" "$scratch/log"
	"$tool" --waiting 2 --log "$scratch/log" --json "$scratch/json" sh -c '
		ib_write_bw -d rxe1 -x 1 -D 600 &
		until ss -Hltn | grep -q :18515; do kill -0 $! || exit; sleep 0.1; done
		ib_write_bw -d rxe0 -x 1 -D 600 127.0.0.1' >"$scratch/out" 2>&1 &
	launcher=$!
	until [[ $(rdma resource show qp | grep -c 'state RT[RS].*ib_write_bw') -ge 2 ]]; do
		kill -0 "$launcher"
		sleep 0.1
	done
	sleep 1
	ip link set dev veth1 down
	until grep -q '"kind":"waiting"' "$scratch/json"; do
		sleep 0.5
	done
	ip link set dev veth1 up
	pkill -TERM -P "$(pgrep -P "$launcher")"
	wait "$launcher" || :
	cat "$scratch/out" "$scratch/log"
	[[ $(jq --raw-output 'select(.kind == "waiting") | .findings[0].reason' "$scratch/json" | sort --unique) == \
		WAIT_PORT_DOWN ]]
}
ok 'names a link that is gone' link

done_testing
