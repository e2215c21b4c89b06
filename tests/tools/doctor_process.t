#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor --pid and --job say of processes and their queue pairs: of a machine made of files, whose kernel is
# tests/tools/kernel.c. What a real one lists, and --peer, are in tests/device/doctor_process.t.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

p=5000001 # no kernel gives a process such a number
q=5000002
rc='type=2 state=3'
empty="ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0"
well="ok process $p: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
  /proc/$p: 0 % of a processor in 1 s; cgroup 0::/job/4"

# one LINE...: a machine with one device, of which the kernel tells these lines, and one process that is well.
one() {
	fresh
	roce rxe0
	mkdir -p "$tree/proc/self/ns"
	ln -s 'pid:[4026531836]' "$tree/proc/self/ns/pid" # the first namespace, in which all processes are seen
	process "$p" train 'S (sleeping)'
	kernel 'dev 0 rxe0' "$@"
}

states() {
	one "qp 0 lqpn=1 pid=$p type=2 state=6" "qp 0 lqpn=2 pid=$p type=2 state=5" "qp 0 lqpn=3 pid=$p type=2 state=4" \
		"qp 0 lqpn=4 pid=$p type=3 state=0" "qp 0 lqpn=5 pid=$p type=4 state=1" "qp 0 lqpn=6 pid=$p type=2 state=2" \
		"qp 0 lqpn=7 pid=$p type=10 state=2" "qp 0 lqpn=8 pid=$p type=255 state=2" "qp 0 lqpn=9 pid=$p" \
		"qp 0 lqpn=10 pid=$p type=4 state=3 sq_psn=5" "qp 0 lqpn=11 pid=$p type=77 state=40"
	on_it 1 --pid "$p" <<-END
		failed process $p: train: on rxe0, queue pair 1 (RC, ERR): ERR: the queue pair has stopped working; whatever is posted ends in IBV_WC_WR_FLUSH_ERR
		  queue pair 1
		> poll for the first completion with an error, then reconnect
		failed process rxe0: queue pair 2 (RC, SQE): SQE: a send has failed, and the queue pair processes no new sends in this state
		  queue pair 2
		> poll for the completion with an error, then move it to RTS again
		warning process rxe0: queue pair 3 (RC, SQD): SQD: the queue pair processes no new sends in this state
		  queue pair 3
		> move it to RTS
		warning process rxe0: queue pair 4 (UC, RESET): RESET: it neither sends nor receives, because it is not connected
		  queue pair 4
		> find out whether the program waits for its peer's data, or leaves out the moves to RTR and RTS
		warning process rxe0: queue pair 5 (UD, INIT): INIT: it neither sends nor receives, because it is not connected
		  queue pair 5
		> find out whether the program waits for its peer's data, or leaves out the moves to RTR and RTS
		warning process rxe0: queue pair 6 (RC, RTR): RTR: it receives, but sends nothing
		  queue pair 6
		> move it to RTS
		ok process rxe0: queue pair 7 (XRC_RECV, RTR): ready
		  queue pair 7
		ok process rxe0: queue pair 8 (DRIVER, RTR): ready
		  queue pair 8
		ok process rxe0: queue pair 9 (?, ?): ready
		  queue pair 9
		ok process rxe0: queue pair 10 (UD, RTS): ready; queue pairs of this type have no peer
		  queue pair 10: sq_psn 5
		ok process rxe0: queue pair 11 (unknown, unknown): ready
		  queue pair 11
		$empty
		$well
		rxe0 1 RC ERR 5000001 null null false   null 0
		rxe0 2 RC SQE 5000001 null null false   null 0
		rxe0 3 RC SQD 5000001 null null false   null 0
		rxe0 4 UC RESET 5000001 null null false   null 0
		rxe0 5 UD INIT 5000001 null null false   null 0
		rxe0 6 RC RTR 5000001 null null false   null 0
		rxe0 7 XRC_RECV RTR 5000001 null null false   null 0
		rxe0 8 DRIVER RTR 5000001 null null false   null 0
		rxe0 9 ? ? 5000001 null null false   null 0
		rxe0 10 UD RTS 5000001 null null false   null 0
		rxe0 11 unknown unknown 5000001 null null false   null 0
	END
}

# Of PSNs one is enough, UD has only one, and a request that was counted shows without any.
moves() {
	one "qp 0 lqpn=1 pid=$p type=2 state=2 rq_psn=5 sq_psn=7 rqpn=90" "qp 0 lqpn=2 pid=$p type=4 state=3 sq_psn=16777215" \
		"qp 0 lqpn=3 pid=$p $rc sq_psn=1 rq_psn=1 rqpn=92" "qp 0 lqpn=4 pid=$p $rc" "qp 0 lqpn=6 pid=$p $rc" \
		"qp 0 lqpn=7 pid=$p $rc sq_psn=3" "counter 0 40 qp=4 rx_read_requests=7 rx_write_requests=3 other=1 reset=9" \
		'counter 0 41 qp=0 rx_write_requests=3' 'counter 0 42 qp=6 rx_read_bytes=1 tx_read_requests=1' \
		'counter 0 39 qp=3 rx_read_requests=1'
	later 'dev 0 rxe0' "qp 0 lqpn=1 pid=$p type=2 state=2 rq_psn=6 sq_psn=7 rqpn=90" \
		"qp 0 lqpn=2 pid=$p type=4 state=3 sq_psn=0" "qp 0 lqpn=3 pid=$p $rc sq_psn=1 rq_psn=1 rqpn=92" \
		"qp 0 lqpn=4 pid=$p $rc" "qp 0 lqpn=5 pid=$p $rc rqpn=93 sq_psn=1 rq_psn=2" "qp 0 lqpn=6 pid=$p $rc" \
		"qp 0 lqpn=7 pid=$p $rc rq_psn=3" "counter 0 40 qp=4 rx_read_requests=7 rx_write_requests=5 other=0 reset=2" \
		'counter 0 42 qp=6 rx_read_bytes=4 tx_read_requests=2' 'counter 0 43 qp=3 rx_read_requests=4'
	on_it 0 --pid "$p" <<-END
		note process $p: train: it works: 3 of 7 queue pairs moved in 1 s
		note process rxe0: queue pair 3 (RC, RTS): it does not move, and there is no queue pair 92 on this host: its peer is on another one, or is gone
		  queue pair 3: sq_psn 1, rq_psn 1; peer 92
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		note process rxe0: queue pair 5 (RC, RTS): it does not move, and there is no queue pair 93 on this host: its peer is on another one, or is gone
		  queue pair 5: sq_psn 1, rq_psn 2; peer 93
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		ok process rxe0: queue pair 1 (RC, RTR): it moves: its PSNs have advanced
		  queue pair 1: sq_psn 7, rq_psn 6, before 7, 5; peer 90
		ok process rxe0: queue pair 2 (UD, RTS): it moves: its PSNs have advanced
		  queue pair 2: sq_psn 0, before 16777215
		ok process rxe0: queue pair 4 (RC, RTS): it moves: its counters of requests have advanced
		  queue pair 4
		ok process rxe0: 2 queue pairs, 6 to 7 (RC, RTS): ready
		  queue pair 6
		  queue pair 7
		ok process rxe0: counter 43, of queue pair 3: rx_read_requests is 4, and grew by 0
		ok process rxe0: counter 40, of queue pair 4: rx_read_requests is 7, and grew by 0
		note process rxe0: counter 40, of queue pair 4: rx_write_requests is 5, and grew by 2
		ok process rxe0: counter 40, of queue pair 4: reset is 2, and grew by 0
		note process rxe0: counter 42, of queue pair 6: rx_read_bytes is 4, and grew by 3
		note process rxe0: counter 42, of queue pair 6: tx_read_requests is 2, and grew by 1
		$empty
		$well
		rxe0 1 RC RTR 5000001 7 6 true none  90 0
		rxe0 2 UD RTS 5000001 null null true   null 0
		rxe0 3 RC RTS 5000001 1 1 false none  92 0
		rxe0 4 RC RTS 5000001 null null true   null 0
		rxe0 5 RC RTS 5000001 1 2 false none  93 0
		rxe0 6 RC RTS 5000001 null null false   null 0
		rxe0 7 RC RTS 5000001 null null false   null 0
	END
}

# Where all moves, and where an error is counted beside it.
works() {
	one "qp 0 lqpn=1 pid=$p $rc rq_psn=5 sq_psn=7 rqpn=90"
	put sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_rnr_err 2
	later 'dev 0 rxe0' "qp 0 lqpn=1 pid=$p $rc rq_psn=5 sq_psn=9 rqpn=90"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: it works: 1 of 1 queue pair moved in 1 s
		ok process rxe0: queue pair 1 (RC, RTS): it moves: its PSNs have advanced
		  queue pair 1: sq_psn 9, rq_psn 5, before 7, 5; peer 90
		$empty
		$well
		rxe0 1 RC RTS 5000001 9 5 true none  90 0
	END
	put later/sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_rnr_err 5
	on_it 0 --pid "$p" <<-END
		note process $p: train: it works: 1 of 1 queue pair moved in 1 s; meanwhile rcvd_rnr_err of rxe0/1 grew by 3: the peer had no receive posted, so this side waited and sent again
		ok process rxe0: queue pair 1 (RC, RTS): it moves: its PSNs have advanced
		  queue pair 1: sq_psn 9, rq_psn 5, before 7, 5; peer 90
		warning process rxe0/1: rcvd_rnr_err grew by 3 in 1 s: the peer had no receive posted, so this side waited and sent again
		  /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_rnr_err: 2, then 5
		> look at the peer: it posts its receives later than the messages arrive
		$empty
		$well
		rxe0 1 RC RTS 5000001 9 5 true none  90 0
	END
	rm "$tree/later/netlink"
	on_it 0 --pid "$p" <<-END
		warning process $p: train: rcvd_rnr_err of rxe0/1 grew by 3: the peer had no receive posted, so this side waited and sent again; the port counts for all of its queue pairs
		note process rxe0: queue pair 1 (RC, RTS): it does not move, and there is no queue pair 90 on this host: its peer is on another one, or is gone
		  queue pair 1: sq_psn 7, rq_psn 5; peer 90
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		warning process rxe0/1: rcvd_rnr_err grew by 3 in 1 s: the peer had no receive posted, so this side waited and sent again
		  /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_rnr_err: 2, then 5
		> look at the peer: it posts its receives later than the messages arrive
		$empty
		$well
		rxe0 1 RC RTS 5000001 7 5 false none  90 0
	END
}

# Which queue pair of this host is the peer: by numbers that point at each other, and of several by PSNs that are near.
peers() {
	one "qp 0 lqpn=1 pid=$p $rc rqpn=11 sq_psn=100 rq_psn=200" "qp 0 lqpn=11 pid=$q $rc rqpn=1 sq_psn=200 rq_psn=100" \
		"qp 1 lqpn=11 pid=$q $rc rqpn=1 sq_psn=9000000 rq_psn=100" "qp 0 lqpn=2 pid=$p $rc rqpn=12" \
		"qp 0 lqpn=12 pid=$q $rc rqpn=2" "qp 1 lqpn=12 pid=$q $rc rqpn=2" "qp 0 lqpn=3 pid=$p $rc rqpn=13" \
		"qp 1 lqpn=13 pid=$q $rc rqpn=77" "qp 0 lqpn=4 pid=$p $rc rqpn=4 sq_psn=5 rq_psn=6" \
		"qp 0 lqpn=5 pid=$p $rc rqpn=15" "qp 1 lqpn=15 $rc rqpn=5" "qp 0 lqpn=6 pid=$p $rc rqpn=16" \
		"qp 1 lqpn=16 kernel=nvme-rdma $rc rqpn=6" "qp 0 lqpn=7 pid=$p $rc rqpn=17" "qp 1 lqpn=17 pid=$q $rc" \
		"qp 0 lqpn=8 pid=$p type=9 state=3 rqpn=18" "qp 1 lqpn=18 pid=$q type=10 state=3 rqpn=8" \
		"qp 0 lqpn=20 pid=$p type=10 state=3 rqpn=30" "qp 1 lqpn=30 pid=$q type=9 state=3 rqpn=20" \
		"qp 0 lqpn=21 pid=$p $rc rqpn=31" "qp 1 lqpn=31 pid=$q type=3 state=3 rqpn=21" \
		"qp 0 lqpn=22 pid=$p $rc rqpn=32" "qp 1 lqpn=32 pid=$q type=2 state=5 rqpn=22" \
		"qp 0 lqpn=23 pid=$p $rc rqpn=33" "qp 1 lqpn=33 pid=$q type=2 state=2 rqpn=23" \
		"qp 0 lqpn=24 pid=$p $rc rqpn=0" "qp 0 lqpn=25 pid=$p $rc rqpn=35" "qp 1 lqpn=35 pid=$q $rc rqpn=77" \
		"qp 0 lqpn=35 pid=$q $rc rqpn=78"
	sed -i '1a dev 1 rxe1' "$tree/netlink"
	process "$q" other 'S (sleeping)'
	on_it 0 --pid "$p" <<-END
		warning process $p: train: on rxe0, queue pair 3 (RC, RTS): the queue pair of this host that has its peer's number, of process $q (other), is connected to another one: the numbers were mixed up, or the peer is on another host
		  queue pair 3; peer 13 of rxe1 (RC, RTS), its peer is 77
		> compare the queue pair numbers that the ends have exchanged
		warning process rxe0: queue pair 4 (RC, RTS): it does not move, and its peer, of process $p (train), expects a PSN beyond what was sent, so what arrives counts as a duplicate
		  queue pair 4: sq_psn 5, rq_psn 6; peer 4 of rxe0 (RC, RTS): sq_psn 5, rq_psn 6; the difference is -1
		> set rq_psn of each end to the other's sq_psn
		warning process rxe0: queue pair 21 (RC, RTS): its type is RC, but its peer, of process $q (other), has the type UC, so packets are dropped
		  queue pair 21; peer 31 of rxe1 (UC, RTS)
		> create both queue pairs with one type
		warning process rxe0: queue pair 22 (RC, RTS): RTS here, but SQE at its peer, of process $q (other): that end does not accept what is sent to it
		  queue pair 22; peer 32 of rxe1 (RC, SQE)
		> look at that process
		warning process rxe0: queue pair 23 (RC, RTS): RTS here, but RTR at its peer, of process $q (other): that end receives, but sends nothing
		  queue pair 23; peer 33 of rxe1 (RC, RTR)
		> look at that process
		note process rxe0: 2 queue pairs, 2, 25 (RC, RTS): it does not move; several queue pairs have its peer's number, and only the process knows the GIDs that tell them apart
		  queue pair 2; peer 12
		  queue pair 25; peer 35
		note process rxe0: queue pair 7 (RC, RTS): it does not move, and there is no queue pair 17 on this host: its peer is on another one, or is gone
		  queue pair 7; peer 17
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		ok process rxe0: queue pair 1 (RC, RTS): idle: neither it nor its peer, of process $q (other), moves, and their PSNs agree
		  queue pair 1: sq_psn 100, rq_psn 200; peer 11 of rxe0 (RC, RTS): sq_psn 200, rq_psn 100
		ok process rxe0: 2 queue pairs, 5 to 6 (RC, RTS): ready; its peer belongs to a process that cannot be seen here
		  queue pair 5; peer 15 of rxe1 (RC, RTS)
		  queue pair 6; peer 16 of rxe1, the kernel's nvme-rdma (RC, RTS)
		ok process rxe0: queue pair 8 (XRC_SEND, RTS): ready; its peer belongs to process $q (other)
		  queue pair 8; peer 18 of rxe1 (XRC_RECV, RTS)
		ok process rxe0: queue pair 20 (XRC_RECV, RTS): ready; its peer belongs to process $q (other)
		  queue pair 20; peer 30 of rxe1 (XRC_SEND, RTS)
		ok process rxe0: queue pair 24 (RC, RTS): ready
		  queue pair 24
		$empty
		note process rxe1: 1 queue pair was made by threads that have ended, so the kernel does not tell whose they are
		$well
		rxe0 1 RC RTS 5000001 100 200 false here rxe0 11 5000002
		rxe0 2 RC RTS 5000001 null null false   12 0
		rxe0 3 RC RTS 5000001 null null false here rxe1 13 5000002
		rxe0 4 RC RTS 5000001 5 6 false here rxe0 4 5000001
		rxe0 5 RC RTS 5000001 null null false here rxe1 15 0
		rxe0 6 RC RTS 5000001 null null false here rxe1 16 0
		rxe0 7 RC RTS 5000001 null null false none  17 0
		rxe0 8 XRC_SEND RTS 5000001 null null false here rxe1 18 5000002
		rxe0 20 XRC_RECV RTS 5000001 null null false here rxe1 30 5000002
		rxe0 21 RC RTS 5000001 null null false here rxe1 31 5000002
		rxe0 22 RC RTS 5000001 null null false here rxe1 32 5000002
		rxe0 23 RC RTS 5000001 null null false here rxe1 33 5000002
		rxe0 24 RC RTS 5000001 null null false   null 0
		rxe0 25 RC RTS 5000001 null null false   35 0
	END
}

# PSNs that do not agree, from one end to the other across zero; and with a peer that moves, or was made meanwhile.
psns() {
	one "qp 0 lqpn=1 pid=$p $rc rqpn=11 sq_psn=5 rq_psn=7" "qp 0 lqpn=11 pid=$q $rc rqpn=1 sq_psn=7 rq_psn=16777214" \
		"qp 0 lqpn=2 pid=$p $rc rqpn=12 sq_psn=16777215 rq_psn=7" "qp 0 lqpn=12 pid=$q $rc rqpn=2 sq_psn=7 rq_psn=8388606" \
		"qp 0 lqpn=3 pid=$p $rc rqpn=13 sq_psn=16777215 rq_psn=7" "qp 0 lqpn=13 pid=$q $rc rqpn=3 sq_psn=7 rq_psn=8388608" \
		"qp 0 lqpn=4 pid=$p $rc rqpn=14 sq_psn=9 rq_psn=7" "qp 0 lqpn=14 pid=$q $rc rqpn=4 sq_psn=7 rq_psn=5" \
		"qp 0 lqpn=5 pid=$p $rc rqpn=15 sq_psn=9 rq_psn=7"
	process "$q" other 'S (sleeping)'
	cp -r "$tree/netlink" "$scratch/netlink"
	later "$(sed 's/rqpn=4 sq_psn=7 rq_psn=5/rqpn=4 sq_psn=7 rq_psn=6/' "$scratch/netlink")" \
		"qp 0 lqpn=15 pid=$q $rc rqpn=5 sq_psn=7 rq_psn=3"
	on_it 0 --pid "$p" <<-END
		warning process $p: train: on rxe0, queue pair 2 (RC, RTS): it does not move, and its peer, of process $q (other), expects a PSN beyond what was sent, so what arrives counts as a duplicate
		  queue pair 2: sq_psn 16777215, rq_psn 7; peer 12 of rxe0 (RC, RTS): sq_psn 7, rq_psn 8388606; the difference is -8388607
		> set rq_psn of each end to the other's sq_psn
		warning process rxe0: 2 queue pairs, 1, 3 (RC, RTS): it does not move, and its peer, of process $q (other), has not accepted what was sent
		  queue pair 1: sq_psn 5, rq_psn 7; peer 11 of rxe0 (RC, RTS): sq_psn 7, rq_psn 16777214; the difference is 7
		  queue pair 3: sq_psn 16777215, rq_psn 7; peer 13 of rxe0 (RC, RTS): sq_psn 7, rq_psn 8388608; the difference is 8388607
		> if the difference is that of the two ends' first PSNs, set rq_psn of each end to the other's sq_psn; otherwise look for missing receives at the peer, and for loss
		ok process rxe0: 2 queue pairs, 4 to 5 (RC, RTS): ready; its peer belongs to process $q (other)
		  queue pair 4: sq_psn 9, rq_psn 7; peer 14 of rxe0 (RC, RTS): sq_psn 7, rq_psn 6
		  queue pair 5: sq_psn 9, rq_psn 7; peer 15 of rxe0 (RC, RTS): sq_psn 7, rq_psn 3
		$empty
		$well
		rxe0 1 RC RTS 5000001 5 7 false here rxe0 11 5000002
		rxe0 2 RC RTS 5000001 16777215 7 false here rxe0 12 5000002
		rxe0 3 RC RTS 5000001 16777215 7 false here rxe0 13 5000002
		rxe0 4 RC RTS 5000001 9 7 false here rxe0 14 5000002
		rxe0 5 RC RTS 5000001 9 7 false here rxe0 15 5000002
	END
}

peer_is_held() {
	one "qp 0 lqpn=1 pid=$p $rc rqpn=11" "qp 0 lqpn=11 pid=$q $rc rqpn=1"
	process "$q" other 'Z (zombie)'
	on_it 0 --pid "$p" <<-END
		warning process $p: train: on rxe0, queue pair 1 (RC, RTS): its peer, process $q (other), has ended, and its parent has not waited for it: State Z (zombie)
		  queue pair 1; peer 11 of rxe0 (RC, RTS)
		$empty
		$well
		rxe0 1 RC RTS 5000001 null null false here rxe0 11 5000002
	END
	process "$q" other 't (tracing stop)'
	on_it 1 --job command=other <<-END
		failed process command=other: 1 process: process $q is stopped by a debugger: State t (tracing stop)
		  /proc/5000002/status
		ok process rxe0: queue pair 11 (RC, RTS): ready; its peer belongs to process $p (train)
		  queue pair 11; peer 1 of rxe0 (RC, RTS)
		ok process command=other: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process command=other: t (tracing stop), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000002: 0 % of a processor in 1 s; cgroup 0::/job/4
		rxe0 11 RC RTS 5000002 null null false here rxe0 1 5000001
	END
	one "qp 0 lqpn=1 pid=$p $rc rqpn=11 sq_psn=1 rq_psn=1" "qp 0 lqpn=11 pid=$q $rc rqpn=12 sq_psn=1 rq_psn=1"
	process "$q" other 'T (stopped)'
	on_it 0 --pid "$p" <<-END
		warning process $p: train: on rxe0, queue pair 1 (RC, RTS): the queue pair of this host that has its peer's number, of process $q (other), is connected to another one: the numbers were mixed up, or the peer is on another host
		  queue pair 1: sq_psn 1, rq_psn 1; peer 11 of rxe0 (RC, RTS): sq_psn 1, rq_psn 1, its peer is 12
		> compare the queue pair numbers that the ends have exchanged
		$empty
		$well
		rxe0 1 RC RTS 5000001 1 1 false here rxe0 11 5000002
	END
}

# Whose an object is that names no thread: by its protection domain, and that one's context, on the same device.
owners() {
	one "qp 0 lqpn=1 $rc pdn=3" 'pd 1 pdn=3' "pd 0 pdn=2 pid=$q" "pd 0 pdn=3 pid=$p" "qp 0 lqpn=2 $rc pdn=4" \
		'pd 0 pdn=4 ctxn=7' "ctx 0 ctxn=8 pid=$q" "ctx 0 ctxn=7 pid=$p" "qp 0 lqpn=3 $rc ctxn=7" "qp 0 lqpn=4 $rc" \
		"qp 0 lqpn=5 $rc pdn=2" "qp 0 lqpn=6 $rc pdn=9" "qp 0 lqpn=7 $rc kernel=smc pid=0" 'mr 0 pdn=3 bytes=1024 rkey=5' \
		"cq 0 ctxn=7 cqe=10" "cq 0 pid=$p cqe=5" "cq 0 pid=$q cqe=100" "srq 0 pdn=3" "srq 0 pdn=5" 'pd 0 pdn=5'
	process "$q" other 'S (sleeping)'
	sed -i '1a dev 1 rxe1' "$tree/netlink"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: all queue pairs are ready, and the driver does not show whether they move
		ok process rxe0: 3 queue pairs, 1 to 3 (RC, RTS): ready
		  queue pair 1
		  queue pair 2
		  queue pair 3
		ok process $p: contexts: 1; protection domains: 2; completion queues: 2, of 15 entries; memory regions: 1, of 1 KiB; shared receive queues: 1; cm_ids: 0
		  memory region of rxe0: 1 KiB, rkey 0x5
		note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are
		$well
		rxe0 1 RC RTS 5000001 null null false   null 0
		rxe0 2 RC RTS 5000001 null null false   null 0
		rxe0 3 RC RTS 5000001 null null false   null 0
	END
	on_it 0 --pid "$p" rxe1 <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 1; protection domains: 2; completion queues: 2, of 15 entries; memory regions: 1, of 1 KiB; shared receive queues: 1; cm_ids: 0
		  memory region of rxe0: 1 KiB, rkey 0x5
		note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are
		$well
	END
}

# opens PID NODE...: what it has open.
opens() {
	local file=3 node
	for node in "${@:2}"; do
		ln -s "/dev/infiniband/$node" "$tree/proc/$1/fd/$((file++))"
	done
	ln -s /dev/null "$tree/proc/$1/fd/0"
}

orphans() {
	one "qp 0 lqpn=1 $rc pdn=3" "qp 0 lqpn=2 type=4 state=3 ctxn=3" 'pd 0 pdn=3' "qp 1 lqpn=3 $rc" "qp 0 lqpn=4 kernel=smc $rc"
	sed -i '1a dev 1 rxe1' "$tree/netlink"
	put sys/class/infiniband_verbs/uverbs0/ibdev rxe0
	put sys/class/infiniband_verbs/uverbs1/ibdev rxe1
	opens "$p" rdma_cm uverbs1 uverbs0 uverbs0
	process "$q" other 'S (sleeping)'
	opens "$q" uverbs1 uverbs7
	process 5000003 third 'S (sleeping)'
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: all queue pairs are ready, and the driver does not show whether they move
		ok process rxe0: queue pair 1 (RC, RTS): ready
		  queue pair 1
		ok process rxe0: queue pair 2 (UD, RTS): ready
		  queue pair 2
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are; no other process has the device open, so they are counted here
		note process rxe1: 1 queue pair was made by threads that have ended, so the kernel does not tell whose they are
		ok process $p: S (sleeping), 1 thread, mostly asleep; 5 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		rxe0 1 RC RTS 5000001 null null false   null 0
		rxe0 2 UD RTS 5000001 null null false   null 0
	END
	opens "$q" uverbs0 2>/dev/null || ln -sf /dev/infiniband/uverbs0 "$tree/proc/$q/fd/9"
	on_it 0 --pid "$p" <<-END
		note process $p: train: no RDMA objects: no queue pair, no cm_id and no memory region
		  it has rdma_cm, uverbs1, uverbs0 open
		> look for a child that has them, or look in its network namespace, which alone shows its objects: rdma resource show
		note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are
		note process rxe1: 1 queue pair was made by threads that have ended, so the kernel does not tell whose they are
	END
	rm -r "$tree/proc/$q/fd"
	on_it 0 --pid "$p" <<-END
		note process $p: train: no RDMA objects: no queue pair, no cm_id and no memory region
		  it has rdma_cm, uverbs1, uverbs0 open
		> look for a child that has them, or look in its network namespace, which alone shows its objects: rdma resource show
		note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are
		note process rxe1: 1 queue pair was made by threads that have ended, so the kernel does not tell whose they are
	END
	rm -r "$tree/proc/$q"
	ln -sfn 'pid:[4026532000]' "$tree/proc/self/ns/pid"
	on_it 0 --pid "$p" <<-END
		note process $p: train: no RDMA objects: no queue pair, no cm_id and no memory region
		  it has rdma_cm, uverbs1, uverbs0 open
		> look for a child that has them, or look in its network namespace, which alone shows its objects: rdma resource show
		note process rxe0: 2 queue pairs were made by threads that have ended, or by processes of another PID namespace, so the kernel does not tell whose they are
		note process rxe1: 1 queue pair was made by threads that have ended, or by processes of another PID namespace, so the kernel does not tell whose they are
	END
	ln -sfn 'pid:[4026531836]' "$tree/proc/self/ns/pid"
	on_it 0 --job command=train <<-END
		note process command=train: 1 process: no RDMA objects: no queue pair, no cm_id and no memory region
		  it has rdma_cm, uverbs1, uverbs0 open
		> look for a child that has them, or look in its network namespace, which alone shows its objects: rdma resource show
		note process rxe0: 2 queue pairs were made by threads that have ended, so the kernel does not tell whose they are
		note process rxe1: 1 queue pair was made by threads that have ended, so the kernel does not tell whose they are
	END
}

nothing_found() {
	one
	opens "$p" uverbs0 rdma_cm
	on_it 0 --pid "$p" <<-END
		note process $p: train: no RDMA objects: no queue pair, no cm_id and no memory region
		  it has uverbs0, rdma_cm open
		> look for a child that has them, or look in its network namespace, which alone shows its objects: rdma resource show
	END
	put "proc/$p/status" 'Name:	train' 'State:	S (sleeping)' "NSpid:	$p	7"
	rm -r "$tree/proc/$p/fd"
	on_it 0 --pid "$p" <<-END
		note process $p: train: no RDMA objects: no queue pair, no cm_id and no memory region
		  /proc/5000001/fd: ENOENT: it may belong to another user
		  it is in a PID namespace of its own, whose objects some kernels do not show here
		> as root: nsenter --target 5000001 --pid --net --mount rdmaez-doctor --pid N, with N of that namespace
	END
	rm "$tree/netlink"
	on_it 1 --pid "$p" <<-END
		failed process $p: train: the kernel shows no RDMA device here
		  RDMA netlink: EPROTONOSUPPORT
	END
	kernel 'refuse dev 1'
	on_it 1 --pid "$p" <<-END
		failed process $p: train: the kernel shows no RDMA device here
		  RDMA netlink: EPERM
	END
	kernel ''
	on_it 1 --pid "$p" <<-END
		failed process $p: train: the kernel shows no RDMA device here
		  RDMA netlink: no device
	END
	rm -r "$tree/sys/class/infiniband"
	on_it 1 --pid "$p" <<-END
		failed process $p: train: the kernel shows no RDMA device here
		  RDMA netlink: ENODEV
	END
	on_it 1 --pid "$q" <<-END
		failed process $q: there is no such process here
		  /proc; this is the PID namespace of process N
	END
}

# What rdma_cm knows: of which state, from where, to where.
cm_ids() {
	local i
	one "cm_id 0 pid=$q state=0" "cm_id 0 pid=$p state=8 src=192.0.2.1:7174" "cm_id 0 pid=$p state=8"
	process "$q" other 'S (sleeping)'
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair yet, and a cm_id that listens
		ok process rxe0: cm_id: LISTEN, at 192.0.2.1:7174
		ok process rxe0: cm_id: LISTEN, at no address
		ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 2
		$well
	END
	kernel 'dev 0 rxe0' "cm_id 0 pid=$p state=7 src=[2001:db8::1]:18" "cm_id 0 pid=$p state=0 src=27"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process rxe0: cm_id: ADDR_BOUND, at [2001:db8::1]:18
		ok process rxe0: cm_id: IDLE, at an address of family 27
		ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 2
		$well
	END
	one "cm_id 0 pid=$p state=5 lqpn=1 src=192.0.2.1:4001 dst=192.0.2.2:7174" \
		"cm_id 0 pid=$p state=6 lqpn=2 src=[2001:db8::1]:4001 dst=[2001:db8::2]:7174" "cm_id 0 pid=$p state=20 lqpn=3 dst=27" \
		"cm_id 0 pid=$p state=5 lqpn=4 src=192.0.2.1:4001 dst=192.0.2.1:9" \
		"cm_id 1 pid=$p state=5 lqpn=4 src=192.0.2.1:4001 dst=192.0.2.7:9" \
		"cm_id 0 pid=$p state=5 lqpn=5 dst=[2001:db8::1]:9" "cm_id 0 pid=$p state=5 lqpn=6 dst=17" \
		"cm_id 0 pid=$p state=5 lqpn=7" "$(for i in {1..7}; do echo "qp 0 lqpn=$i pid=$p $rc rqpn=9$i"; done)" \
		"qp 0 lqpn=8 pid=$p $rc"
	sed -i '1a dev 1 rxe1' "$tree/netlink"
	printf '%s\n' 'eth9' 'lo 127.0.0.1:0' 'eth0 17' 'eth0 192.0.2.1:0' 'eth0 [2001:db8::1]:0' >"$tree/ifaddrs"
	on_it 0 --pid "$p" rxe0 <<-END
		warning process $p: train: on rxe0, queue pair 4 (RC, RTS): its peer at 192.0.2.1:9 is gone: there is no queue pair 94 on this host
		  queue pair 4; peer 94
		> reconnect it
		warning process rxe0: queue pair 5 (RC, RTS): its peer at [2001:db8::1]:9 is gone: there is no queue pair 95 on this host
		  queue pair 5; peer 95
		> reconnect it
		note process rxe0: queue pair 1 (RC, RTS): it does not move; its peer is at 192.0.2.2:7174, on another host
		  queue pair 1; peer 91
		> look at that host as well: run rdmaez-doctor --listen there, and --peer here
		note process rxe0: queue pair 2 (RC, RTS): it does not move; its peer is at [2001:db8::2]:7174, on another host
		  queue pair 2; peer 92
		> look at that host as well: run rdmaez-doctor --listen there, and --peer here
		note process rxe0: queue pair 3 (RC, RTS): it does not move; its peer is at an address of family 27, on another host
		  queue pair 3; peer 93
		> look at that host as well: run rdmaez-doctor --listen there, and --peer here
		note process rxe0: queue pair 6 (RC, RTS): it does not move; its peer is at an address of family 17, on another host
		  queue pair 6; peer 96
		> look at that host as well: run rdmaez-doctor --listen there, and --peer here
		note process rxe0: queue pair 7 (RC, RTS): it does not move, and there is no queue pair 97 on this host: its peer is on another one, or is gone
		  queue pair 7; peer 97
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		ok process rxe0: queue pair 8 (RC, RTS): ready
		  queue pair 8
		ok process rxe0: cm_id: CONNECT, from 192.0.2.1:4001 to 192.0.2.2:7174, queue pair 1
		note process rxe0: cm_id: DISCONNECT, from [2001:db8::1]:4001 to [2001:db8::2]:7174, queue pair 2
		ok process rxe0: cm_id: in a newer state, from no address to an address of family 27, queue pair 3
		ok process rxe0: cm_id: CONNECT, from 192.0.2.1:4001 to 192.0.2.1:9, queue pair 4
		ok process rxe0: cm_id: CONNECT, from no address to [2001:db8::1]:9, queue pair 5
		ok process rxe0: cm_id: CONNECT, from no address to an address of family 17, queue pair 6
		ok process rxe0: cm_id: CONNECT, from no address to an address of family 0, queue pair 7
		ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 8
		$well
		rxe0 1 RC RTS 5000001 null null false elsewhere  91 0
		rxe0 2 RC RTS 5000001 null null false elsewhere  92 0
		rxe0 3 RC RTS 5000001 null null false elsewhere  93 0
		rxe0 4 RC RTS 5000001 null null false none  94 0
		rxe0 5 RC RTS 5000001 null null false none  95 0
		rxe0 6 RC RTS 5000001 null null false elsewhere  96 0
		rxe0 7 RC RTS 5000001 null null false none  97 0
		rxe0 8 RC RTS 5000001 null null false   null 0
	END
	kernel 'dev 0 rxe0' "$(for i in {1..18}; do echo "cm_id 0 pid=$p state=4 src=192.0.2.1:$i"; done)"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:1
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:2
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:3
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:4
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:5
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:6
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:7
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:8
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:9
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:10
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:11
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:12
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:13
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:14
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:15
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:16
		ok process $p: 2 more cm_ids
		ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 18
		$well
	END
	sed -i '$d' "$tree/netlink"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:1
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:2
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:3
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:4
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:5
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:6
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:7
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:8
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:9
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:10
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:11
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:12
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:13
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:14
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:15
		ok process rxe0: cm_id: ROUTE_RESOLVED, at 192.0.2.1:16
		ok process $p: 1 more cm_id
		ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 17
		$well
	END
}

# Queue pairs of which the same is said are counted, those of other numbers listed while there is room.
many() {
	local i
	one "$(for i in 5 6 7 9 11 12; do echo "qp 0 lqpn=$i pid=$p $rc"; done)" "qp 0 lqpn=8 pid=$p type=3 state=3"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: all queue pairs are ready, and the driver does not show whether they move
		ok process rxe0: 6 queue pairs, 5 to 7, 9, 11 to 12 (RC, RTS): ready
		  queue pair 5
		  queue pair 6
		  queue pair 7
		  and 3 more
		ok process rxe0: queue pair 8 (UC, RTS): ready
		  queue pair 8
		$empty
		$well
		rxe0 5 RC RTS 5000001 null null false   null 0
		rxe0 6 RC RTS 5000001 null null false   null 0
		rxe0 7 RC RTS 5000001 null null false   null 0
		rxe0 9 RC RTS 5000001 null null false   null 0
		rxe0 11 RC RTS 5000001 null null false   null 0
		rxe0 12 RC RTS 5000001 null null false   null 0
		rxe0 8 UC RTS 5000001 null null false   null 0
	END
	kernel 'dev 0 rxe0' "$(for i in {10000..10120..2}; do echo "qp 0 lqpn=$i pid=$p $rc"; done)"
	on_it 0 --pid "$p" >"$scratch/differs" <<<'' || :
	grep -x "> ok process rxe0: 61 queue pairs, $(seq -s ', ' 10000 2 10046), ... (RC, RTS): ready" "$scratch/differs"
	[[ $(grep -A4 -F ', ... (RC, RTS): ready' "$scratch/differs" | tail -1) == '>   and 58 more' ]]
}

# How much memory, in its unit, and which keys the kernel shows.
regions() {
	local i
	one "mr 0 pid=$p bytes=1023" "mr 0 pid=$p bytes=1024 rkey=0" "mr 0 pid=$p bytes=1048575" "mr 0 pid=$p bytes=1048576 rkey=16" \
		"mr 0 pid=$p bytes=1073741823" "mr 0 pid=$p bytes=1073741824" "mr 0 pid=$p bytes=1610612736" "mr 0 pid=$q bytes=7 rkey=1" \
		"pd 0 pid=$p" "ctx 0 pid=$p" "ctx 0 pid=$p" "srq 0 pid=$p" "mr 0 pid=$p bytes=0"
	process "$q" other 'S (sleeping)'
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 2; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 8, of 3.502 GiB; shared receive queues: 1; cm_ids: 0
		  memory region of rxe0: 1023 bytes
		  memory region of rxe0: 1 KiB
		  memory region of rxe0: 1024 KiB
		  memory region of rxe0: 1 MiB, rkey 0x10
		  memory region of rxe0: 1024 MiB
		  memory region of rxe0: 1 GiB
		  memory region of rxe0: 1.5 GiB
		  memory region of rxe0: 0 bytes
		$well
	END
	kernel 'dev 0 rxe0' "$(for i in {1..9}; do echo "mr 0 pid=$p bytes=4096"; done)"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 9, of 36 KiB; shared receive queues: 0; cm_ids: 0
		  the keys of the memory regions are shown with CAP_NET_ADMIN
		$well
	END
}

# What this kernel does not list, and what this user may not see.
hidden() {
	one "pd 0 pid=$p" 'refuse ctx 22' 'refuse srq 95'
	rm -r "$tree/proc/$p/fd"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process $p: S (sleeping), 1 thread, mostly asleep; it may open 1024 files; 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		note process $p: this kernel does not list contexts: EINVAL
		  RDMA netlink; contexts and shared receive queues are listed since Linux 5.13, the others since 4.17
		note process $p: this kernel does not list shared receive queues: EOPNOTSUPP
		  RDMA netlink; contexts and shared receive queues are listed since Linux 5.13, the others since 4.17
		note process $p: open files and the function in which it waits are hidden from this user
		  /proc/PID/fd and wchan need the right to debug a process: its own user, or CAP_SYS_PTRACE
	END
}

# limits PINNED LOCKED CAPEFF LIMIT FILES MAY_OPEN
process_limits() {
	one "pd 0 pid=$p"
	put "proc/$p/status" 'Name:	train' 'State:	R (running)' "VmPin:	$1 kB" "VmLck:	$2 kB" "CapEff:	$3"
	put "proc/$p/limits" "Max open files            $6 $6 files" "Max locked memory         $4 $4 bytes"
	touch "$tree/proc/$p/fd"/{1..12}
}

limits() {
	process_limits 900 0 0000000000000000 1048576 12 20
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process $p: R (running), 1 thread, mostly asleep; 12 files are open (limit: 20); 900 KiB of memory are pinned (limit: 1 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
	END
	process_limits 900 22 0000000000000000 1048576 12 20
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		warning process $p: R (running), 1 thread, mostly asleep; 12 files are open (limit: 20); 900 KiB of memory are pinned (limit: 1 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		> raise the limit that it is about to reach: /proc/5000001/limits
	END
	process_limits 900 22 0000000000004000 1048576 12 19
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		warning process $p: R (running), 1 thread, mostly asleep; 12 files are open (limit: 19); 900 KiB of memory are pinned (limit: 1 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		> raise the limit that it is about to reach: /proc/5000001/limits
	END
	process_limits 900 22 ffffffffffffbfff unlimited 12 21
	put "proc/$p/wchan" ep_poll
	mkdir -p "$tree/later/proc/$p" "$tree/proc/$p/task/5000009"
	echo "$p (tr) a)in) S 1 1 1 0 -1 4194304 0 0 0 0 60 31 0 0 20 0 1 0 100" >"$tree/later/proc/$p/stat"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process $p: R (running), 2 threads, mostly asleep, in ep_poll; 12 files are open (limit: 21); 900 KiB of memory are pinned (limit: unlimited)
		  /proc/5000001: 49 % of a processor in 1 s; cgroup 0::/job/4
	END
	echo "$p (train) S 1 1 1 0 -1 4194304 0 0 0 0 60 32 0 0 20 0 1 0 100" >"$tree/later/proc/$p/stat"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process $p: R (running), 2 threads, busy: it computes, or polls; 12 files are open (limit: 21); 900 KiB of memory are pinned (limit: unlimited)
		  /proc/5000001: 50 % of a processor in 1 s; cgroup 0::/job/4
	END
}

# jobs by each of their kinds; those that have no objects are left out.
jobs_of() {
	local i
	one "pd 0 pid=$p" "pd 0 pid=$q"
	process "$q" other 'S (sleeping)'
	process 5000003 other 'S (sleeping)'
	put "proc/$q/cgroup" '4:memory:/job/4/step' '0::/jobs'
	put "proc/5000003/cgroup" '0::/job/40'
	sed -i 's/1000	1000	1000	1000/1001	1000	1000	1000/' "$tree/proc/$q/status"
	on_it 0 --job command=other <<-END
		ok process command=other: 1 process: nothing visible is wrong: no queue pair
		ok process command=other: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process command=other: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000002: 0 % of a processor in 1 s; cgroup 4:memory:/job/4/step
	END
	on_it 0 --job cgroup=/job/4/ <<-END
		ok process cgroup=/job/4/: 2 processes: nothing visible is wrong: no queue pair
		ok process cgroup=/job/4/: contexts: 0; protection domains: 2; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process cgroup=/job/4/: process $p: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process cgroup=/job/4/: process $q: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000002: 0 % of a processor in 1 s; cgroup 4:memory:/job/4/step
	END
	on_it 0 --job user=1000 <<-END
		ok process user=1000: 1 process: nothing visible is wrong: no queue pair
		ok process user=1000: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process user=1000: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
	END
	on_it 1 --job command=others <<-END
		failed process command=others: there is no such process here
		  /proc; this is the PID namespace of process N
	END
	printf 'node\0train' >"$tree/proc/$p/cmdline"
	put "proc/$p/comm" MainThread
	on_it 0 --job command=node <<-END
		ok process command=node: 1 process: nothing visible is wrong: no queue pair
		ok process command=node: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process command=node: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
	END
	one "$(for i in {11..19}; do echo "pd 0 pid=50000$i"; done)"
	for i in {11..19}; do
		process "50000$i" train 'S (sleeping)'
	done
	on_it 0 --job command=train <<-END
		ok process command=train: 9 processes: nothing visible is wrong: no queue pair
		ok process command=train: contexts: 0; protection domains: 9; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process command=train: process 5000011: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000011: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process 5000012: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000012: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process 5000013: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000013: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process 5000014: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000014: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process 5000015: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000015: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process 5000016: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000016: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process 5000017: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000017: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process 5000018: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000018: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: and 1 more process
	END
}

# Of several processes each queue pair is told with its own.
two_of_a_job() {
	one "qp 0 lqpn=1 pid=$p $rc rqpn=90" "qp 0 lqpn=2 pid=$q $rc rqpn=91" "qp 0 lqpn=3 pid=$q type=2 state=1"
	process "$q" train 'S (sleeping)'
	on_it 0 --job command=train <<-END
		warning process command=train: 2 processes: on rxe0, queue pair 3 (RC, INIT): INIT: it neither sends nor receives, because it is not connected
		  queue pair 3 of process $q
		> find out whether the program waits for its peer's data, or leaves out the moves to RTR and RTS
		note process rxe0: queue pair 1 (RC, RTS): it does not move, and there is no queue pair 90 on this host: its peer is on another one, or is gone
		  queue pair 1 of process $p; peer 90
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		note process rxe0: queue pair 2 (RC, RTS): it does not move, and there is no queue pair 91 on this host: its peer is on another one, or is gone
		  queue pair 2 of process $q; peer 91
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		ok process command=train: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		ok process command=train: process $p: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		ok process command=train: process $q: S (sleeping), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000002: 0 % of a processor in 1 s; cgroup 0::/job/4
		rxe0 1 RC RTS 5000001 null null false none  90 0
		rxe0 2 RC RTS 5000002 null null false none  91 0
		rxe0 3 RC INIT 5000002 null null false   null 0
	END
	kernel 'dev 0 rxe0' "qp 0 lqpn=1 pid=$p $rc rqpn=90"
	on_it 0 --pid "$p" <<-END
		note process $p: train: on rxe0, queue pair 1 (RC, RTS): it does not move, and there is no queue pair 90 on this host: its peer is on another one, or is gone
		  queue pair 1; peer 90
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		$empty
		$well
		rxe0 1 RC RTS 5000001 null null false none  90 0
	END
}

# One process ends while the doctor sleeps.
ends_meanwhile() {
	one "qp 0 lqpn=1 pid=$p $rc"
	mkdir -p "$tree/later/proc/$p"
	ln -s loop "$tree/later/proc/$p/comm"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: all queue pairs are ready, and the driver does not show whether they move
		ok process rxe0: queue pair 1 (RC, RTS): ready
		  queue pair 1
		$empty
		$well
		rxe0 1 RC RTS 5000001 null null false   null 0
	END
	rm "$tree/later/proc/$p/comm"
	put "later/proc/$p/stat" "$p (train) Z"
	kernel 'dev 0 rxe0' "pd 0 pid=$p"
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: no queue pair
		ok process $p: contexts: 0; protection domains: 1; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 0
		$well
	END
}

# As bytes: the head of a message, of this length and type; a device's index, and its name; and what ends the answer.
message() {
	echo "${1}000000 ${2}0000 00000000 00000000"
}

is_7='08000100 07000000'
is_rxe0='09000200 7278653000'
end="$(message 14 0300) 00000000"

# devices BYTES...: what the kernel answers when it is asked for devices.
devices() {
	local line lines=()
	for line in "$@"; do
		lines+=("bytes dev $line")
	done
	kernel "qp 7 lqpn=1 pid=$p $rc" "${lines[@]}"
}

# taken: the device is.
taken() {
	on_it 0 --pid "$p" <<-END
		ok process $p: train: nothing visible is wrong: all queue pairs are ready, and the driver does not show whether they move
		ok process rxe0: queue pair 1 (RC, RTS): ready
		  queue pair 1
		$empty
		$well
		rxe0 1 RC RTS 5000001 null null false   null 0
	END
}

# no_device WHY: it is not.
no_device() {
	on_it 1 --pid "$p" <<-END
		failed process $p: train: the kernel shows no RDMA device here
		  RDMA netlink: $1
	END
}

# Answers of netlink, whole and cut.
answers() {
	one
	devices "$(message 24 0114) $is_7 $is_rxe0 000000" "$end"
	taken
	devices "$(message 21 0114) $is_7 $is_rxe0" "$end" # not padded
	taken
	devices "$(message 24 0114) $is_7 $is_rxe0 000000" "$(message 10 0300)"
	taken
	devices "$(message 10 0100) $(message 24 0114) $is_7 $is_rxe0 000000" "$end" # the second has another number
	no_device 'no device'
	devices "$(message 24 0f00) $is_7 $is_rxe0 000000" "$end" # no message of RDMA
	no_device 'no device'
	devices "$(message 18 0114) $is_7" "$end"
	no_device 'no device'
	devices "$(message 1c 0114) $is_rxe0 000000" "$end"
	no_device 'no device'
	devices "$(message 28 0114) 03000000 $is_7 $is_rxe0 000000" "$end" # an attribute shorter than its head
	no_device 'no device'
	devices "$(message 24 0114) $is_7 ff000200 7278653000 000000" "$end" # and one beyond the end
	no_device 'no device'
	devices "$(message 1a 0114) $is_7 0900" "$end" # half a head
	no_device 'no device'
	devices "$(message 24 0114) 07000100 070000 00 $is_rxe0 000000" "$end" # three bytes of a number
	no_device 'no device'
	devices "$(message 25 0114) $is_7 $is_rxe0 000000" "$end"
	no_device 'no device'
	devices "$(message 0f 0114) $is_7 $is_rxe0 000000" "$end"
	no_device 'no device'
	devices "$(message 24 0114) $is_7 $is_rxe0 000000"
	taken
	devices "$(message 10 0100)"
	no_device ETIMEDOUT
	devices ''
	no_device EPIPE
	devices "$(message 14 0200) ffffffff"
	no_device EPERM
	devices "$(message 14 0200) 01f0ffff"
	no_device 'unknown'
	devices "$(message 14 0200) 00f0ffff"
	no_device 'no device'
	devices "$(message 14 0200) 01000000"
	no_device 'no device'
	devices "$(message 10 0200) ffffffff" # what is behind it is none of it
	no_device 'no device'
	put sys/class/infiniband/"$(printf 'r%.0s' {1..63})"/node_type '1: CA'
	kernel "dev 7 $(printf 'r%.0s' {1..70})" "qp 7 lqpn=1 pid=$p $rc"
	on_it 0 --pid "$p" >"$scratch/differs" <<<'' || :
	grep -x "> $(printf 'r%.0s' {1..63}) 1 RC RTS 5000001 .*" "$scratch/differs"
}

# play_host: the other host, at the port $port, tells what $scratch/answer says, below what $scratch/head says; without a
# head it tells nothing.
play_host() {
	echo 'rdmaez-doctor 1 queues' >"$scratch/head"
	python3 -c 'import socket, sys
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
	stream = server.accept()[0].makefile("rwb")
	try:
		for line in stream:
			head = open(sys.argv[2], "rb").read()
			if line == b"\n" and head:
				stream.write(head + open(sys.argv[1], "rb").read() + b"\n")
				stream.flush()
	except OSError:
		pass' "$scratch/answer" "$scratch/head" >"$scratch/port" &
	host=$!
	until [[ -s $scratch/port ]]; do
		pause 0.05
	done
	port=$(<"$scratch/port")
}

# there LINE...: what the host of --peer tells.
there() {
	printf '%s\n' "$@" >"$scratch/answer"
}

# What is there counts where nothing here fits as well.
peers_there() {
	one "qp 0 lqpn=1 pid=$p $rc rqpn=11 sq_psn=100 rq_psn=200" "qp 0 lqpn=2 pid=$p $rc rqpn=12 sq_psn=100 rq_psn=200" \
		"qp 0 lqpn=12 pid=$q $rc rqpn=2 sq_psn=200 rq_psn=100" "qp 0 lqpn=3 pid=$p $rc rqpn=13 sq_psn=100 rq_psn=200" \
		"qp 0 lqpn=13 pid=$q $rc rqpn=3 sq_psn=70000 rq_psn=70000" "qp 0 lqpn=4 pid=$p $rc rqpn=14 sq_psn=100 rq_psn=200" \
		"qp 0 lqpn=14 pid=$q $rc rqpn=4 sq_psn=200 rq_psn=70000" "qp 0 lqpn=5 pid=$p $rc rqpn=15" \
		"cm_id 0 pid=$p state=5 lqpn=6 dst=192.0.2.2:7174" "qp 0 lqpn=6 pid=$p $rc rqpn=16" \
		"cm_id 0 pid=$p state=5 lqpn=7 dst=127.0.0.1:7174" "qp 0 lqpn=7 pid=$p $rc rqpn=17" "qp 0 lqpn=8 pid=$p $rc rqpn=18" \
		"qp 0 lqpn=9 pid=$p $rc rqpn=19" "qp 0 lqpn=19 pid=$q $rc rqpn=9" "qp 0 lqpn=20 pid=$p type=9 state=3 rqpn=30" \
		"qp 0 lqpn=21 pid=$p $rc rqpn=31"
	printf '%s\n' 'lo 127.0.0.1:0' >"$tree/ifaddrs"
	process "$q" other 'S (sleeping)'
	there 'qp mlx5_3 11 1 1f0 2 3 205 104 4711 R far' 'qp mlx5_3 12 2 1f0 2 3 205 104 4711 R far' \
		'qp mlx5_3 13 3 1f0 2 3 200 100 4712 D far' 'qp mlx5_3 14 4 1f0 2 3 70000 100 4711 R far' \
		'qp mlx5_3 15 5 190 2 3 0 0 4711 R far' 'qp mlx5_4 15 5 190 2 3 0 0 0 ?' 'qp mlx5_3 16 6 190 2 3 0 0 4711 R far' \
		'qp mlx5_3 18 77 190 2 2 0 0 4711 R far' 'qp mlx5_3 19 9 190 2 3 0 0 4711 R far' 'qp mlx5_3 30 20 190 10 3 0 0 4711 I far'
	on_it 0 --pid "$p" --peer "127.0.0.1:$port" <<-END
		warning process $p: train: on rxe0, queue pair 1 (RC, RTS): it does not move, and its peer, of process 4711 (far) on 127.0.0.1, expects a PSN beyond what was sent, so what arrives counts as a duplicate
		  queue pair 1: sq_psn 100, rq_psn 200; peer 11 of mlx5_3 on 127.0.0.1 (RC, RTS): sq_psn 205, rq_psn 104; the difference is -4
		> set rq_psn of each end to the other's sq_psn
		warning process rxe0: queue pair 4 (RC, RTS): it does not move, and its peer, of process $q (other), expects a PSN beyond what was sent, so what arrives counts as a duplicate
		  queue pair 4: sq_psn 100, rq_psn 200; peer 14 of rxe0 (RC, RTS): sq_psn 200, rq_psn 70000; the difference is -69900
		> set rq_psn of each end to the other's sq_psn
		warning process rxe0: queue pair 8 (RC, RTS): RTS here, but RTR at its peer, of process 4711 (far) on 127.0.0.1: that end receives, but sends nothing
		  queue pair 8; peer 18 of mlx5_3 on 127.0.0.1 (RC, RTR), its peer is 77
		> look at that process
		warning process rxe0: queue pair 7 (RC, RTS): its peer at 127.0.0.1:7174 is gone: there is no queue pair 17 on that host
		  queue pair 7; peer 17
		> reconnect it
		note process rxe0: queue pair 5 (RC, RTS): it does not move; several queue pairs have its peer's number, and only the process knows the GIDs that tell them apart
		  queue pair 5; peer 15
		note process rxe0: queue pair 6 (RC, RTS): it does not move; its peer is at 192.0.2.2:7174, on another host
		  queue pair 6; peer 16
		> look at that host as well: run rdmaez-doctor --listen there, and --peer here
		note process rxe0: queue pair 21 (RC, RTS): it does not move, and there is no queue pair 31 on this host nor on 127.0.0.1: its peer is gone, or on a third host
		  queue pair 21; peer 31
		> reconnect it; if its peer is on a third host, name that one
		ok process rxe0: queue pair 2 (RC, RTS): idle: neither it nor its peer, of process $q (other), moves, and their PSNs agree
		  queue pair 2: sq_psn 100, rq_psn 200; peer 12 of rxe0 (RC, RTS): sq_psn 200, rq_psn 100
		ok process rxe0: queue pair 3 (RC, RTS): idle: neither it nor its peer, of process 4712 (far) on 127.0.0.1, moves, and their PSNs agree
		  queue pair 3: sq_psn 100, rq_psn 200; peer 13 of mlx5_3 on 127.0.0.1 (RC, RTS): sq_psn 200, rq_psn 100
		ok process rxe0: queue pair 9 (RC, RTS): ready; its peer belongs to process $q (other)
		  queue pair 9; peer 19 of rxe0 (RC, RTS)
		ok process rxe0: queue pair 20 (XRC_SEND, RTS): ready; its peer belongs to process 4711 (far) on 127.0.0.1
		  queue pair 20; peer 30 of mlx5_3 on 127.0.0.1 (XRC_RECV, RTS)
		ok process rxe0: cm_id: CONNECT, from no address to 192.0.2.2:7174, queue pair 6
		ok process rxe0: cm_id: CONNECT, from no address to 127.0.0.1:7174, queue pair 7
		ok process $p: contexts: 0; protection domains: 0; completion queues: 0, of 0 entries; memory regions: 0, of 0 bytes; shared receive queues: 0; cm_ids: 2
		$well
		rxe0 1 RC RTS 5000001 100 200 false there mlx5_3 11 4711
		rxe0 2 RC RTS 5000001 100 200 false here rxe0 12 5000002
		rxe0 3 RC RTS 5000001 100 200 false there mlx5_3 13 4712
		rxe0 4 RC RTS 5000001 100 200 false here rxe0 14 5000002
		rxe0 5 RC RTS 5000001 null null false   15 0
		rxe0 6 RC RTS 5000001 null null false elsewhere  16 0
		rxe0 7 RC RTS 5000001 null null false none  17 0
		rxe0 8 RC RTS 5000001 null null false there mlx5_3 18 4711
		rxe0 9 RC RTS 5000001 null null false here rxe0 19 5000002
		rxe0 20 XRC_SEND RTS 5000001 null null false there mlx5_3 30 4711
		rxe0 21 RC RTS 5000001 null null false none  31 0
	END
}

peer_there_is_held() {
	one "qp 0 lqpn=1 pid=$p $rc rqpn=11"
	there 'qp mlx5_3 11 1 190 2 3 0 0 4711 T far'
	on_it 0 --pid "$p" --peer "127.0.0.1:$port" <<-END
		warning process $p: train: on rxe0, queue pair 1 (RC, RTS): its peer, process 4711 (far) on 127.0.0.1, is stopped: State T (stopped)
		  queue pair 1; peer 11 of mlx5_3 on 127.0.0.1 (RC, RTS)
		> on 127.0.0.1: kill -CONT 4711
		$empty
		$well
		rxe0 1 RC RTS 5000001 null null false there mlx5_3 11 4711
	END
	process "$p" train 'T (stopped)'
	on_it 1 --pid "$p" <<-END
		failed process $p: train: process $p is stopped: State T (stopped)
		  /proc/5000001/status
		> kill -CONT 5000001
		note process rxe0: queue pair 1 (RC, RTS): it does not move, and there is no queue pair 11 on this host: its peer is on another one, or is gone
		  queue pair 1; peer 11
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		$empty
		ok process $p: T (stopped), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		rxe0 1 RC RTS 5000001 null null false none  11 0
	END
	there 'why nobody may ask'
	on_it 1 --pid "$p" --peer "127.0.0.1:$port" <<-END
		failed process $p: train: process $p is stopped: State T (stopped)
		  /proc/5000001/status
		> kill -CONT 5000001
		note process rxe0: queue pair 1 (RC, RTS): it does not move, and there is no queue pair 11 on this host: its peer is on another one, or is gone
		  queue pair 1; peer 11
		> look at the peer's host: run rdmaez-doctor --listen there, and --peer here; if the peer is on this host, reconnect
		$empty
		ok process $p: T (stopped), 1 thread, mostly asleep; 0 files are open (limit: 1024); 2 MiB of memory are pinned (limit: 8 MiB)
		  /proc/5000001: 0 % of a processor in 1 s; cgroup 0::/job/4
		note process $p: 127.0.0.1 lists no queue pair: nobody may ask
		> on 127.0.0.1: rdmaez-doctor
		rxe0 1 RC RTS 5000001 null null false none  11 0
	END
}

# untold HEAD FINDING: what is said of a host that tells nothing of use.
untold() {
	printf '%s' "$1" >"$scratch/head"
	on_it 1 --pid "$p" --peer "127.0.0.1:$port" >"$scratch/differs" <<<'' || :
	grep -xF -- "> failed process 127.0.0.1: $2" "$scratch/differs" || { cat "$scratch/differs"; return 1; }
}

untold_there() {
	one "qp 0 lqpn=1 pid=$p $rc rqpn=11"
	there 'why nobody may ask'
	untold '' 'does not list its queue pairs in time'
	untold $'rdmaez-doctor 9 queues\n' 'speaks version 9 of the protocol, and this end speaks version 1'
	untold $'rdmaez-doctor 1 hello\n' 'does not list its queue pairs: it is not rdmaez-doctor, or an older version of it'
}

ok 'states' states
ok 'what moves' moves
ok 'a process that works, and errors beside it' works
ok 'peers' peers
ok 'PSNs' psns
ok 'a peer whose process is held' peer_is_held
ok 'whose an object is' owners
ok 'objects of threads that have ended' orphans
ok 'a process without objects, and a machine without' nothing_found
ok 'what rdma_cm knows' cm_ids
ok 'many queue pairs' many
ok 'memory' regions
ok 'what is hidden' hidden
ok 'limits that are near' limits
ok 'jobs' jobs_of
ok 'two of a job' two_of_a_job
ok 'a process that ends' ends_meanwhile
ok 'answers of netlink' answers
play_host
disown
ok 'peers on the host of --peer' peers_there
ok 'one that is stopped' peer_there_is_held
ok 'a host that does not tell' untold_there
kill "$host"
done_testing
