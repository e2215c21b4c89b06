#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor --pid says of processes that work, wait or hang: tests/tools/holds.c, ibv_rc_pingpong and rping,
# with a peer that is stopped or killed, here and on the host of --peer, queue pairs that were not brought up, and a user
# without privilege. Needs build/tools and build/device/explained; runs itself again in the guest.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	mkdir -p build/tools
	"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -Iinclude tests/tools/holds.c -o build/tools/holds -libverbs -pthread || exit
	exec tools/softroce --quiet --timeout 0 --env RDMAEZ_NIGHTLY --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} \
		-- tests/device/doctor_process.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/device/listener.bash
source tests/device/listener.bash

doctor=build/tools/rdmaez-doctor
code=0

# hold STATE [PAIRS]: $pid is a process that holds queue pairs.
hold() {
	coproc HOLDS { exec build/tools/holds "$@" 2>&1; }
	pid=$HOLDS_PID
	read -r -t 60 said <&"${HOLDS[0]}"
	[[ $said == ready ]]
}

# drop PID...: ends them.
drop() {
	kill -KILL "$@"
	wait "$@" 2>/dev/null || :
}

# look ARG...: what is said is in $scratch/out, the status in $code.
look() {
	code=0
	$doctor "$@" >"$scratch/out" 2>&1 || code=$?
}

# first PATTERN: the first line, all of it.
first() {
	head -n 1 "$scratch/out" | grep -xE -- "$1" || { cat "$scratch/out"; return 1; }
}

line() {
	grep -xE -- "$1" "$scratch/out" || { cat "$scratch/out"; return 1; }
}

no_line() {
	! grep -E -- "$1" "$scratch/out"
}

# held STATE PAIRS: looks at it while it is held.
held() {
	hold "$@"
	look --pid "$pid"
	$doctor --json --pid "$pid" >"$scratch/json" || (($? == 1))
	drop "$pid"
}

idle() {
	held idle 1
	((code == 0))
	first "ok   process $pid: holds: nothing visible is wrong: all queue pairs are idle"
	line 'ok   process rxe0: 2 queue pairs, [0-9]+ to [0-9]+ \(RC, RTS\): idle: neither it nor its peer, of process [0-9]+ \(holds\), moves, and their PSNs agree'
	line "ok   process $pid: contexts: 1; protection domains: 1; completion queues: 1, of 511 entries; memory regions: 1, of 1 MiB; shared receive queues: 0; cm_ids: 0"
	line "ok   process $pid: S \(sleeping\), 1 thread, mostly asleep, in .*; [0-9]+ files are open \(limit: [0-9]+\); 1 MiB of memory are pinned \(limit: .*\)"
	line "note process $pid: only the process itself can tell what is posted .*"
	no_line '^(WARN|FAIL)'
}

# The limit of queue pairs is where few are missing to it: rdma_rxe has a constant, so the least is proven.
counts() {
	hold idle 3
	look --only objects rxe0
	$doctor --json --only objects rxe0 >"$scratch/json"
	drop "$pid"
	line 'ok   objects rxe0: queue pairs: [0-9]+ of [0-9]+; completion queues: [0-9]+ of [0-9]+; memory regions: .*; protection domains: .*'
	jq --exit-status --arg pid "$pid" '.checks | any(.subject == "rxe0" and
		(.evidence | any(. == "process \($pid) (holds): 6")))' "$scratch/json"
}

# What may not create a queue pair hears from rdmaez-explain how many there are, as iproute2 counts them: here it is the
# cgroup's limit. Where something else is certain, nobody counts.
refused() {
	local pairs
	mkdir -p /run/cgroup
	mount -t cgroup2 none /run/cgroup
	mkdir /run/cgroup/few
	echo +rdma >/run/cgroup/cgroup.subtree_control
	echo 'rxe0 hca_object=3' >/run/cgroup/few/rdma.max
	hold idle 3
	pairs=$(rdma --json resource show rxe0 | jq '.[0].qp')
	sh -c 'echo $$ >/run/cgroup/few/cgroup.procs && exec "$@"' sh build/tools/rdmaez-explain \
		--json "$scratch/json" build/tools/holds init >"$scratch/out" 2>&1 || code=$?
	setpriv --bounding-set=-ipc_lock prlimit --memlock=16384 build/tools/rdmaez-explain --json "$scratch/certain" \
		build/tools/holds region >/dev/null 2>&1 || code=$?
	drop "$pid"
	rmdir /run/cgroup/few
	umount /run/cgroup
	line 'ibv_create_qp failed with EAGAIN \(11\) on rxe0 \(driver rdma_rxe\), RC\.'
	tr '\n' ' ' <"$scratch/out" | tr --squeeze-repeats ' ' | grep -E \
		"This process has created 0 queue pairs that it has not destroyed\. All processes together hold $pairs queue pairs on rxe0; \`rdmaez-doctor --only objects\` names the processes\."
	((pairs > 6))
	jq 'select(.held) | .held' "$scratch/json" | jq --exit-status --argjson pairs "$pairs" \
		'. == {object: "QP", process: 0, all: $pairs}'
	jq 'select(.held)' "$scratch/json" >"$scratch/line"
	python3 -m jsonschema --instance "$scratch/line" docs/schema/explain.schema.json
	grep -q '"reason":"MEMLOCK"' "$scratch/certain"
	! grep '"held"' "$scratch/certain"
}

# Peers may write to the same memory by two devices, and rdmaez-explain advises of it once.
unordered() {
	build/tools/rdmaez-explain --advice --json "$scratch/json" build/tools/holds shared 2>"$scratch/err"
	cat "$scratch/err"
	grep -x 'Writes into this memory region are not ordered on rxe1\.' "$scratch/err"
	diff <(jq --raw-output 'select(.kind == "advice") | "\(.record.device) \(.record.findings[].reason)"' "$scratch/json") \
		<(echo 'rxe1 ORDER_DEVICES')
	grep -q 'peers may also write to the same memory by rxe0' "$scratch/json"
}

# The same of a device with a name that a terminal would obey, and that would make two pairs of one.
renamed() {
	local name=$'rxe0\e[31m\xe2\x80\xae error=0' format code=0
	rdma dev set rxe0 name "$name"
	for format in --advice --line; do
		build/tools/rdmaez-explain --advice "$format" build/tools/holds shared 2>>"$scratch/err" || code=$?
	done
	rdma dev set "$name" name rxe0
	cat -v "$scratch/err"
	((code == 0)) && ! grep -a $'\e\|\xe2' "$scratch/err" && ! grep -a ' error=0 .*error=' "$scratch/err"
	grep -q 'by rxe0?\[31m? error=0, and writes' "$scratch/err"
}

as_json() {
	hold idle 1
	$doctor --json --pid "$pid" >"$scratch/json"
	drop "$pid"
	jq --exit-status --argjson pid "$pid" '(.queue_pairs | length) == 2 and (.queue_pairs |
		all(.device == "rxe0" and .type == "RC" and .state == "RTS" and .pid == $pid and .peer == "here" and
		.peer_pid == $pid and .peer_device == "rxe0" and .sq_psn == 1000 and .rq_psn == 1000 and (.moved | not))) and
		.queue_pairs[0].qp_num == .queue_pairs[1].peer_qp_num and
		.queue_pairs[1].qp_num == .queue_pairs[0].peer_qp_num' "$scratch/json"
	python3 -m jsonschema --instance "$scratch/json" docs/schema/doctor.schema.json
}

init() {
	held init 1
	((code == 0))
	first "WARN process $pid: holds: on rxe0, 2 queue pairs, [0-9]+ to [0-9]+ \(RC, INIT\): INIT: it neither sends nor receives, because it is not connected"
	line '     > find out whether the program waits for its peer'\''s data, or leaves out the moves to RTR and RTS'
	jq --exit-status '.queue_pairs | length == 2 and all(.state == "INIT" and .peer == "" and .peer_qp_num == null)' \
		"$scratch/json"
}

rtr() {
	held rtr 1
	first "WARN process $pid: holds: on rxe0, queue pair [0-9]+ \(RC, RTS\): RTS here, but RTR at its peer, of process $pid \(holds\): that end receives, but sends nothing"
	line 'WARN process rxe0: queue pair [0-9]+ \(RC, RTR\): RTR: it receives, but sends nothing'
	line '     > move it to RTS'
}

# One that is only written to needs no more than RTR, and one beside it may be for later.
one_way() {
	held oneway 1
	((code == 0))
	first "note process $pid: holds: it works: 2 of 3 queue pairs moved in 1 s.*"
	line 'ok   process rxe0: queue pair [0-9]+ \(RC, RTR\): it moves: its PSNs have advanced'
	line 'ok   process rxe0: queue pair [0-9]+ \(RC, RTS\): it moves: its PSNs have advanced'
	line 'WARN process rxe0: queue pair [0-9]+ \(RC, INIT\): INIT: it neither sends nor receives, .*'
	jq --exit-status '[.queue_pairs[] | select(.moved)] | length == 2' "$scratch/json"
}

datagrams() {
	held datagrams
	((code == 0))
	first "note process $pid: holds: it works: 1 of 2 queue pairs moved in 1 s.*"
	line 'ok   process rxe0: queue pair [0-9]+ \(UD, RTS\): it moves: its PSNs have advanced'
	jq --exit-status '.checks | any(.evidence | any(test("queue pair [0-9]+: sq_psn [0-9]+, before [0-9]+")))' "$scratch/json"
}

err() {
	held err 1
	((code == 1))
	first "FAIL process $pid: holds: on rxe0, 2 queue pairs, .* \(RC, ERR\): ERR: the queue pair has stopped working; whatever is posted ends in IBV_WC_WR_FLUSH_ERR"
	line '     > poll for the first completion with an error, then reconnect'
}

uc() {
	held uc 1
	((code == 0))
	first "ok   process $pid: holds: nothing visible is wrong: all queue pairs are idle"
	line 'ok   process rxe0: 2 queue pairs, .* \(UC, RTS\): idle: .*'
}

psn() {
	held psn 1
	first "WARN process $pid: holds: on rxe0, queue pair [0-9]+ \(RC, RTS\): it does not move, and its peer, of process $pid \(holds\), expects a PSN beyond what was sent, so what arrives counts as a duplicate"
	line '       queue pair [0-9]+: sq_psn 1001, rq_psn 1000; peer [0-9]+ of rxe0 \(RC, RTS\): sq_psn 1000, rq_psn 5000; the difference is -3999'
	line '     > set rq_psn of each end to the other'\''s sq_psn'
}

# A queue pair is not taken for its own peer where another device has one of its number.
twins() {
	held twins
	first "WARN process $pid: holds: on rxe0, queue pair [0-9]+ \(RC, RTS\): it does not move, and its peer, of process $pid \(holds\), expects a PSN beyond what was sent, so what arrives counts as a duplicate"
	line '       queue pair ([0-9]+): sq_psn 1001, rq_psn 2000; peer \1 of rxe1 \(RC, RTS\): sq_psn 1000, rq_psn 5000; the difference is -3999'
}

# The one that waits for a receive, by what the port counts.
receive() {
	held receive 1
	first "WARN process $pid: holds: send_rnr_err of rxe0/1 grew by [0-9]+: messages arrived while no receive was posted; the port counts for all of its queue pairs"
	line 'WARN process rxe0/1: rcvd_rnr_err grew by [0-9]+ in 1 s: the peer had no receive posted, so this side waited and sent again'
}

# The kernel knows the thread that made an object, and not the process.
ended_thread() {
	held thread 1
	first "ok   process $pid: holds: nothing visible is wrong: all queue pairs are idle"
	line 'note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are; no other process has the device open, so they are counted here'
}

two_with_it_open() {
	local other
	hold region
	other=$pid
	hold thread 1
	look --pid "$pid"
	drop "$pid" "$other"
	first "note process $pid: holds: no RDMA objects: no queue pair, no cm_id and no memory region"
	line 'note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are'
}

region() {
	held region
	first "ok   process $pid: holds: nothing visible is wrong: no queue pair"
	line "ok   process $pid: contexts: 1; .* memory regions: 1, of 1 MiB; .*"
}

many() {
	held idle 32
	line 'ok   process rxe0: 64 queue pairs, [0-9]+ to [0-9]+ \(RC, RTS\): idle: .*'
	(($(wc -l <"$scratch/out") < 10))
	jq --exit-status '(.queue_pairs | length) == 64 and
		([.checks[] | select(.finding | startswith("64 queue pairs")) | .evidence[-1]] == ["and 61 more"])' "$scratch/json"
}

# Two of ibv_rc_pingpong, $server and $client, that are at it.
pingpong() {
	local try
	ibv_rc_pingpong -d rxe0 -g 1 -n 90000000 >/dev/null 2>&1 &
	server=$!
	client=
	for ((try = 0; try < 200; try++)); do
		if [[ -z $client ]] || ! kill -0 "$client" 2>/dev/null; then
			ibv_rc_pingpong -d rxe0 -g 1 -n 90000000 127.0.0.1 >/dev/null 2>&1 &
			client=$!
		fi
		sleep 0.3
		(($(rdma -j resource show qp pid "$client" | jq '[.[] | select(.state == "RTS")] | length') == 0)) || break
	done
	sleep 1
}

moving() {
	look --pid "$server"
	((code == 0))
	first "(ok  |note) process $server: ibv_rc_pingpong: it works: 1 of 1 queue pair moved in 1 s.*"
	line 'ok   process rxe0: queue pair [0-9]+ \(RC, RTS\): it moves: its PSNs have advanced'
	line "ok   process $server: R .*, 1 thread, busy: it computes, or polls; .*"
}

peer_stopped() {
	kill -STOP "$client"
	look --pid "$server"
	first "WARN process $server: ibv_rc_pingpong: on rxe0, queue pair [0-9]+ \(RC, RTS\): its peer, process $client \(ibv_rc_pingpong\), is stopped: State T \(stopped\)"
	line "     > kill -CONT $client"
}

stopped() {
	look --pid "$client"
	((code == 1))
	first "FAIL process $client: ibv_rc_pingpong: process $client is stopped: State T \(stopped\)"
	look --job command=ibv_rc_pingpong
	first "FAIL process command=ibv_rc_pingpong: 2 processes: process $client is stopped: State T \(stopped\)"
	line "WARN process rxe0: queue pair [0-9]+ \(RC, RTS\): its peer, process $client \(ibv_rc_pingpong\), is stopped: State T \(stopped\)"
	look --job user=root
	first "FAIL process user=root: 2 processes: process $client is stopped: .*"
	look --job user=nobody
	first 'FAIL process user=nobody: there is no such process here'
	look --job cgroup=/no/such
	first 'FAIL process cgroup=/no/such: there is no such process here'
}

# It was neither stopped nor touched by the doctor.
goes_on() {
	kill -CONT "$client"
	sleep 1
	look --pid "$client"
	first "(ok  |note) process $client: ibv_rc_pingpong: it works: 1 of 1 queue pair moved in 1 s.*"
}

# The retries to a peer that is gone may fall into the second in which the doctor looks, or not.
retries='WARN process [0-9]+: ibv_rc_pingpong: completer_retry_err of rxe0/1 grew by [0-9]+: .*'

peer_killed() {
	local number
	number=$(rdma -j resource show qp pid "$client" | jq '.[0].lqpn')
	drop "$client"
	look --pid "$server"
	first "note process $server: ibv_rc_pingpong: on rxe0, queue pair .*: it does not move, .*|$retries"
	line ".*queue pair [0-9]+ \(RC, RTS\): it does not move, and there is no queue pair $number on this host: its peer is on another one, or is gone"
}

unprivileged() {
	code=0
	setpriv --reuid 65534 --regid 65534 --clear-groups $doctor --pid "$server" >"$scratch/out" || code=$?
	((code == 0))
	first "note process $server: ibv_rc_pingpong: on rxe0, queue pair .*: it does not move, .*|$retries"
	line "note process $server: open files and the function in which it waits are hidden from this user"
	line "       /proc/PID/fd and wchan need the right to debug a process: its own user, or CAP_SYS_PTRACE"
}

connection_manager() {
	local listener user try
	rping -s -a 192.0.2.1 >/dev/null 2>&1 &
	listener=$!
	for ((try = 0; try < 100; try++)); do
		[[ $(rdma resource show cm_id) != *LISTEN* ]] || break
		sleep 0.1
	done
	look --pid "$listener"
	first "ok   process $listener: rping: nothing visible is wrong: no queue pair yet, and a cm_id that listens"
	line 'ok   process rxe0: cm_id: LISTEN, at 192.0.2.1:7174'
	rping -c -a 192.0.2.1 -C 100000000 >/dev/null 2>&1 &
	user=$!
	for ((try = 0; try < 200; try++)); do
		[[ $(rdma resource show qp pid "$user") != *RTS* ]] || break
		sleep 0.1
	done
	look --pid "$user"
	drop "$user" "$listener"
	line 'ok   process rxe0: cm_id: CONNECT, from 192.0.2.1:[0-9]+ to 192.0.2.1:7174, queue pair [0-9]+'
}

# --- The other end is on the host of --peer, whose part somebody plays here -------------------------------------------

# answer LINE...: what the other host tells of its queue pairs from now on.
answer() {
	printf '%s\n' "$@" >"$scratch/answer"
}

# Who answers whatever is asked by $scratch/answer, and writes down the questions.
play_host() {
	python3 -c 'import socket, sys
server = socket.create_server(("", 18510))
while True:
	stream = server.accept()[0].makefile("rwb")
	try:
		for line in stream:
			open(sys.argv[2], "ab").write(line)
			if line == b"\n":
				stream.write(b"rdmaez-doctor 1 queues\n" + open(sys.argv[1], "rb").read() + b"\n")
				stream.flush()
	except OSError:
		pass' "$scratch/answer" "$scratch/asked" &
	host=$!
	await_tcp_listener "$host" 18510
}

# alone: $pid is a process whose peer on this host is gone; $own and $far are the numbers of both queue pairs.
alone() {
	local try
	build/device/explained/waits killed 600 >/dev/null 2>&1 &
	pid=$!
	own=
	for ((try = 0; try < 200; try++)); do
		read -r own far < <(rdma -j resource show qp pid "$pid" | jq -r '.[] | select(.state == "RTS") | "\(.lqpn) \(.rqpn)"') || :
		[[ -z $own || $(rdma -j resource show qp | jq --argjson far "$far" 'any(.lqpn == $far)') != false ]] || break
		pause 0.1
	done
}

there() {
	look --pid "$pid" --peer 127.0.0.1
}

peer_there() {
	look --pid "$pid"
	line ".*queue pair $own \(RC, RTS\): it does not move, and there is no queue pair $far on this host: its peer is on another one, or is gone"
	line '     > look at the peer'\''s host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect'
	: >"$scratch/asked"
	answer "qp mlx5_3 $far $own 1f0 2 3 100 200 4711 S train"
	there
	diff <(printf 'rdmaez-doctor 1 queues\nask %s %s\n\n' "$far" "$own" "$far" "$own") "$scratch/asked"
	line ".*queue pair $own \(RC, RTS\): it does not move, and its peer, of process 4711 \(train\) on 127\.0\.0\.1, has not accepted what was sent"
	line "       queue pair $own: sq_psn 201, rq_psn 100; peer $far of mlx5_3 on 127\.0\.0\.1 \(RC, RTS\): sq_psn 100, rq_psn 200; the difference is 1"
	answer "qp mlx5_3 $far $own 1f0 2 3 100 201 4711 S train"
	there
	line ".*queue pair $own \(RC, RTS\): idle: neither it nor its peer, of process 4711 \(train\) on 127\.0\.0\.1, moves, and their PSNs agree"
	$doctor --json --pid "$pid" --peer 127.0.0.1 >"$scratch/json"
	jq --exit-status --argjson pid "$pid" --argjson far "$far" '.queue_pairs | length == 1 and (.[0] | .pid == $pid and
		.peer == "there" and .peer_pid == 4711 and .peer_device == "mlx5_3" and .peer_qp_num == $far)' "$scratch/json"
	python3 -m jsonschema --instance "$scratch/json" docs/schema/doctor.schema.json
}

peer_there_is_wrong() {
	answer "qp mlx5_3 $far $own 1f0 2 3 100 200 4711 T train"
	there
	first "WARN process $pid: waits: on rxe0, queue pair $own \(RC, RTS\): its peer, process 4711 \(train\) on 127\.0\.0\.1, is stopped: State T \(stopped\)"
	line '     > on 127\.0\.0\.1: kill -CONT 4711'
	answer "qp mlx5_3 $far $own 1f0 2 6 100 200 4711 S train"
	there
	line ".*queue pair $own \(RC, RTS\): RTS here, but ERR at its peer, of process 4711 \(train\) on 127\.0\.0\.1: that end does not accept what is sent to it"
	answer "qp mlx5_3 $far $own 1f0 3 3 100 200 4711 S train"
	there
	line ".*queue pair $own \(RC, RTS\): its type is RC, but its peer, of process 4711 \(train\) on 127\.0\.0\.1, has the type UC, so packets are dropped"
	answer "qp mlx5_3 $far $((own + 1)) 190 2 3 0 0 0 ? "
	there
	line ".*queue pair $own \(RC, RTS\): the queue pair of 127\.0\.0\.1 that has its peer's number, of a process on 127\.0\.0\.1, is connected to another one: the numbers were mixed up, or the peer is on another host"
	answer ''
	there
	line ".*queue pair $own \(RC, RTS\): it does not move, and there is no queue pair $far on this host nor on 127\.0\.0\.1: its peer is gone, or on a third host"
	answer 'why the kernel lists no RDMA device'
	there
	line "note process $pid: 127\.0\.0\.1 lists no queue pair: the kernel lists no RDMA device"
	line ".*queue pair $own \(RC, RTS\): it does not move, and there is no queue pair $far on this host: its peer is on another one, or is gone"
}

# What cannot be is left out, and what could confuse a terminal.
hostile() {
	answer "qp mlx5_3 $far $own 1f0 2 300 100 200 4711 T train" "qp mlx5_3 $far" 'qp' 'nothing' "$(printf 'qp \033[2J %s %s' "$far" "$own")" \
		"qp mlx5_3 $far $own fffffff0 2 3 100 200 -5 T train"
	there
	line ".*queue pair $own \(RC, RTS\): it does not move, and there is no queue pair $far on this host nor on 127\.0\.0\.1: .*"
	answer "$(printf 'qp \033[31m %s %s 1f0 2 3 100 200 4711 T \033[2Jtrain' "$far" "$own")"
	there
	if grep "$(printf '\033')" "$scratch/out"; then
		return 1
	fi
	first 'WARN process .*: its peer, process 4711 \(\?\[2Jtrain\) on 127\.0\.0\.1, is stopped: .*'
	head -c 100000 /dev/zero | tr '\0' 'q' >"$scratch/answer"
	there
	first 'FAIL process 127\.0\.0\.1: does not list its queue pairs: .*'
}

# rdma_cm knows which host it was.
peer_of_cm() {
	local server try
	rping -s -a 192.0.2.1 >/dev/null 2>&1 &
	server=$!
	await_cm_listener "$server" 60
	rping -c -a 192.0.2.1 -C 100000000 >/dev/null 2>&1 &
	pid=$!
	for ((try = 0; try < 200; try++)); do
		[[ $(rdma resource show qp pid "$pid") != *RTS* ]] || break
		pause 0.1
	done
	read -r own far < <(rdma -j resource show qp pid "$pid" | jq -r '.[] | "\(.lqpn) \(.rqpn)"')
	kill -STOP "$pid"
	drop "$server"
	for ((try = 0; try < 100; try++)); do
		[[ $(rdma -j resource show qp | jq --argjson far "$far" 'any(.lqpn == $far)') != false ]] || break
		pause 0.1
	done
	answer ''
	look --pid "$pid" --peer 192.0.2.1
	drop "$pid"
	line ".*queue pair $own \(RC, RTS\): its peer at 192\.0\.2\.1:7174 is gone: there is no queue pair $far on that host"
}

# The one that listens tells whoever names both numbers of what it has.
told() {
	local listener from to
	hold idle 1
	read -r from to < <(rdma -j resource show qp pid "$pid" | jq -r '.[0] | "\(.lqpn) \(.rqpn)"')
	$doctor --listen >"$scratch/listener" 2>&1 &
	listener=$!
	await_tcp_listener "$listener" 18510
	exec 3<>/dev/tcp/127.0.0.1/18510
	printf 'rdmaez-doctor 1 queues\nask %s %s\nask %s 7\nask x\nask 99999999 1\n\n' "$to" "$from" "$to" >&3
	timeout 60 sed '/^$/q' <&3 >"$scratch/told"
	printf 'rdmaez-doctor 1 queues\nask %s %s\n\n' "$from" "$to" >&3
	timeout 60 sed '/^$/q' <&3 >>"$scratch/told"
	exec 3>&-
	for _ in {1..100}; do
		! grep -q 'was told' "$scratch/listener" || break
		pause 0.1
	done
	drop "$pid" "$listener"
	cat "$scratch/told" "$scratch/listener"
	diff "$scratch/told" - <<END
rdmaez-doctor 1 queues
qp rxe0 $to $from 1f0 2 3 1000 1000 $pid S holds
qp rxe0 $to $from 190 2 3 0 0 0 ?

rdmaez-doctor 1 queues
qp rxe0 $from $to 1f0 2 3 1000 1000 $pid S holds

END
	grep -x 'ok   serve 127\.0\.0\.1: asked for its queue pairs'\'' peers, and was told of 3 here' "$scratch/listener"
}

# Objects of another PID namespace are shown without their process, as are those of a thread that has ended.
other_namespace() {
	local outer
	hold idle 1
	outer=$pid
	# shellcheck disable=SC2016 # the inner shell's
	unshare --pid --fork --mount-proc sh -c 'build/tools/holds idle 2 >"$1" & until grep -q ready "$1"; do sleep 0.1; done
		exec "$2" --pid $!' sh "$scratch/ready" "$doctor" >"$scratch/out" 2>&1
	drop "$outer"
	line 'ok   process rxe0: 4 queue pairs, .* \(RC, RTS\): idle: .*'
	line 'note process rxe0: 2 queue pairs were made by threads that have ended, or by processes of another PID namespace, so the kernel does not tell whose they are'
}

# An older one, or something else, closes the connection.
stranger_listens_there() {
	hold idle 1
	python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 18510))
while True: s.accept()[0].close()' &
	host=$!
	await_tcp_listener "$host" 18510
	look --pid "$pid" --peer 127.0.0.1
	drop "$pid" "$host"
	((code == 1))
	first 'FAIL process 127\.0\.0\.1: does not list its queue pairs: it is not rdmaez-doctor, or an older version of it'
	line "ok   process $pid: holds: nothing visible is wrong: all queue pairs are idle"
}

nobody_listens_there() {
	hold idle 1
	look --pid "$pid" --peer 127.0.0.1
	drop "$pid"
	((code == 1))
	first 'FAIL process: 127\.0\.0\.1 refuses TCP port 18510: nobody listens there'
	line "ok   process $pid: holds: nothing visible is wrong: all queue pairs are idle"
}

without_rdma() {
	look --pid $$
	((code == 0))
	first "note process $$: doctor_process\.: no RDMA objects: no queue pair, no cm_id and no memory region"
	look --pid 4194304
	((code == 1))
	first 'FAIL process 4194304: there is no such process here'
}

ok 'an idle pair alarms nobody' idle
fails 'a first line that is another is seen' 'note process' eval 'look --pid $$; first "ok   nonsense"'
ok 'counts the objects of a device, and whose they are' counts
ok 'and rdmaez-explain counts those of which no more can be made' refused
nightly ok 'and says that writes by two devices have no order' unordered
nightly ok 'prints no name that a terminal obeys' renamed
ok 'as JSON, by the schema' as_json
ok 'INIT' init
ok 'RTR at one end' rtr
ok 'RTR at the end that is written to' one_way
nightly ok 'UD that sends' datagrams
nightly ok 'ERR' err
nightly ok 'UC' uc
ok 'PSNs that differ' psn
ok 'two devices that number alike' twins
ok 'no receive posted' receive
nightly ok 'a region and no queue pair' region
nightly ok 'the thread that made all has ended' ended_thread
nightly ok 'and another process has the device open, too' two_with_it_open
nightly ok '64 queue pairs are summarised' many
nightly ok 'processes without RDMA, and none' without_rdma
nightly ok 'a PID namespace in which not all processes are seen' other_namespace
play_host
alone
ok 'a peer on the host of --peer' peer_there
ok 'what is wrong with it' peer_there_is_wrong
ok 'answers that cannot be' hostile
drop "$pid"
ok 'a peer of rdma_cm that was there' peer_of_cm
drop "$host"
ok 'tells the other doctor of what it has' told
ok 'a host where somebody else listens' stranger_listens_there
ok 'a host where nobody listens' nobody_listens_there
pingpong
disown -a
ok 'two that are at it' moving
ok 'a stopped peer' peer_stopped
ok 'a stopped process, and jobs' stopped
ok 'it goes on' goes_on
ok 'a killed peer' peer_killed
nightly ok 'a user without privilege' unprivileged
drop "$server"
ok 'rdma_cm' connection_manager

done_testing
