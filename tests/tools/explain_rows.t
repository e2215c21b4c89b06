#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain --waiting keeps of a program's objects, requests and waits, row for row: tests/tools/explain/rows.c
# does one thing after the other, and prints what is then in the memory that the launcher reads. Numbers of rows count
# from 1; of memory, times and domains only what they are is printed.

source tests/tap.bash
source tests/tools/explain.bash
programs rows

# has CASE: the program prints what comes on stdin
has() {
	local wanted
	wanted=$(cat)
	ends 0 --waiting 1000 rows "$1"
	diff <(printf '%s\n' "$wanted") "$scratch/out"
}

ok 'keeps what an object is, from its creation on, and then that it is gone' has objects <<'END'
- made
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
srq 3: fake0
mr 4: fake0 lkey=1280 rkey=1280 access=1 pd=1 addr=buffer+64 length=1000 made_at=1
ah 5: of its own ah=it dlid=9 sgid_index=3 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2
qp 6: fake0 qp_num=7 type=2 send_cq=1 recv_cq=2 has_srq=1 srq=3 pd=1 max_send_wr=6 max_recv_wr=5
- INIT
qp 6: fake0 qp_num=7 type=2 state=1 send_cq=1 recv_cq=2 has_srq=1 srq=3 pd=1 max_send_wr=6
    max_recv_wr=5 mask=57 access=2 port=1
- RTR
qp 6: fake0 qp_num=7 type=2 state=2 send_cq=1 recv_cq=2 has_srq=1 srq=3 pd=1 max_send_wr=6
    max_recv_wr=5 mask=1216953 dest_qp_num=4711 rq_psn=7 access=2 port=1 path_mtu=2 min_rnr_timer=11
    max_dest_rd_atomic=3 sgid_index=3 dlid=9 sl=5 traffic_class=106 active_mtu=3 gid=::ffff:192.0.2.1
    peer_gid=::ffff:10.0.0.2
- RTS
qp 6: fake0 qp_num=7 type=2 state=3 send_cq=1 recv_cq=2 has_srq=1 srq=3 pd=1 max_send_wr=6
    max_recv_wr=5 mask=1294265 dest_qp_num=4711 sq_psn=9 rq_psn=7 access=2 port=1 path_mtu=2
    timeout=14 retry_cnt=6 rnr_retry=4 min_rnr_timer=11 max_rd_atomic=2 max_dest_rd_atomic=3
    sgid_index=3 dlid=9 sl=5 traffic_class=106 active_mtu=3 gid=::ffff:192.0.2.1
    peer_gid=::ffff:10.0.0.2
- destroyed
cq 1: fake0 gone=1 cqe=64 channel=1
cq 2: fake0 cqe=32
srq 3: fake0 gone=1
mr 4: fake0 gone=1 lkey=1280 rkey=1280 access=1 pd=1 addr=buffer+64 length=1000 made_at=1 gone_at=1
ah 5: of its own gone=1 ah=it dlid=9 sgid_index=3 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2
qp 6: fake0 gone=1 qp_num=7 type=2 state=3 send_cq=1 recv_cq=2 has_srq=1 srq=3 pd=1 max_send_wr=6
    max_recv_wr=5 mask=1294265 dest_qp_num=4711 sq_psn=9 rq_psn=7 access=2 port=1 path_mtu=2
    timeout=14 retry_cnt=6 rnr_retry=4 min_rnr_timer=11 max_rd_atomic=2 max_dest_rd_atomic=3
    sgid_index=3 dlid=9 sl=5 traffic_class=106 active_mtu=3 gid=::ffff:192.0.2.1
    peer_gid=::ffff:10.0.0.2
END
ok 'keeps what could not be destroyed, until it is' has refused <<'END'
- refused
cq 1: fake0 cqe=64 channel=1 polls=1 emptied=1
cq 2: fake0 cqe=32
srq 3: fake0 posted=1
mr 4: fake0 lkey=1280 rkey=1280 pd=1 addr=buffer+0 length=64 made_at=1
ah 5: of its own ah=it dlid=9 sgid_index=3 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2
qp 6: fake0 qp_num=7 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 recvs=1 recv_id=6
    recv_addr=buffer+8 recv_length=8 recv_lkey=21
- destroyed
cq 1: fake0 gone=1 cqe=64 channel=1 polls=1 emptied=1
cq 2: fake0 cqe=32
srq 3: fake0 gone=1 posted=1
mr 4: fake0 gone=1 lkey=1280 rkey=1280 pd=1 addr=buffer+0 length=64 made_at=1 gone_at=1
ah 5: of its own gone=1 ah=it dlid=9 sgid_index=3 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2
qp 6: fake0 gone=1 qp_num=7 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 recvs=1
    recv_id=6 recv_addr=buffer+8 recv_length=8 recv_lkey=21
END
ok 'keeps by which address and with which rights requests name memory' has regions <<'END'
- registered
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
mr 3: fake0 lkey=1024 rkey=1024 pd=1 addr=buffer+0 length=10 made_at=1
mr 4: fake0 lkey=1280 rkey=1280 access=4 pd=1 addr=12345 length=11 made_at=1
mr 5: fake0 lkey=1536 rkey=1536 access=1 pd=1 addr=67890 length=12 made_at=1
mr 6: fake0 lkey=1792 rkey=1792 access=4 pd=1 addr=64 length=13 made_at=1
END
ok 'keeps what ibv_rereg_mr() has made of a region, or may have, and what it was' has anew <<'END'
mr 3: fake0 lkey=1024 rkey=1024 access=1 pd=1 rereg=1 addr=12345 length=64 made_at=1
  since then
mr 3: fake0 lkey=1025 rkey=1025 access=1 pd=1 rereg=1 addr=buffer+64 length=99 made_at=1
  since then
mr 3: fake0 lkey=1026 rkey=1026 access=32 pd=1 rereg=1 length=99 made_at=1
  since then
mr 3: fake0 lkey=1026 rkey=1026 access=32 pd=2 rereg=1 length=99 made_at=1
  since then
mr 3: fake0 lkey=1026 rkey=1026 access=32 pd=2 rereg=4 length=99 made_at=1
  since then
mr 3: fake0 lkey=1026 rkey=1026 access=32 pd=2 rereg=4 length=99 made_at=1
mr 3: fake0 lkey=1026 rkey=1026 access=32 pd=2 rereg=4 length=99 made_at=1
- destroyed
mr 3: fake0 gone=1 lkey=1026 rkey=1026 access=32 pd=2 rereg=4 length=99 made_at=1 gone_at=1
mr 4: fake0 gone=1 lkey=1024 rkey=1024 pd=1 rereg=2 next[0]=1024 next[1]=1024 addr=12345 length=64
    made_at=1 gone_at=1
mr 5: fake0 gone=1 lkey=1024 rkey=1024 access=1 pd=1 rereg=3 next[0]=1025 next[1]=1025 addr=12345
    length=64 made_at=1 gone_at=1
mr 6: fake0 gone=1 lkey=1025 rkey=1025 access=1 pd=1 rereg=3 next[0]=1026 next[1]=1026 addr=buffer+64
    length=99 made_at=1 gone_at=1
mr 7: fake0 gone=1 lkey=1026 rkey=1026 access=32 pd=1 rereg=3 next[0]=1026 next[1]=1026 length=99
    made_at=1 gone_at=1
mr 8: fake0 gone=1 lkey=1026 rkey=1026 access=32 pd=2 rereg=3 next[0]=1026 next[1]=1026 length=99
    made_at=1 gone_at=1
END
ok 'keeps where datagrams go' has addresses <<'END'
- global
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
ah 3: of its own ah=it dlid=9 sgid_index=3
ah 4: of its own ah=another dlid=12 sgid_index=2 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2
- local
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
ah 3: of its own ah=it dlid=9 sgid_index=3
ah 4: of its own ah=another dlid=12 sgid_index=2 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2
ah 5: of its own ah=another dlid=9 sgid_index=3
END
ok 'keeps the last eight requests, of those that were taken' has sends <<'END'
- three of four
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 sends=3 signaled=2
  1: wr_id=1 opcode=2 flags=2 addr=buffer+1 length=300 lkey=31
  2: signaled=1 wr_id=2 addr=buffer+2 length=200 lkey=32 remote_addr=1001 rkey=1002
  3: signaled=1 wr_id=3 opcode=5 flags=3 addr=buffer+0 length=8 lkey=33 remote_addr=2008 rkey=2002
- nine in all
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 sends=9 signaled=8
  9: signaled=7 wr_id=1 opcode=2 flags=2 remote_addr=3008
  2: signaled=1 wr_id=2 addr=buffer+2 length=200 lkey=32 remote_addr=1001 rkey=1002
  3: signaled=1 wr_id=3 opcode=5 flags=3 addr=buffer+0 length=8 lkey=33 remote_addr=2008 rkey=2002
  4: signaled=2 wr_id=5 opcode=8 flags=2
  5: signaled=3 wr_id=1 opcode=6 flags=2 addr=buffer+0 length=8 lkey=33 remote_addr=3008 rkey=3002
  6: signaled=4 wr_id=1 opcode=6 flags=2 addr=buffer+0 length=8 lkey=33 remote_addr=3008 rkey=3002
  7: signaled=5 wr_id=1 opcode=6 flags=2 addr=buffer+0 length=8 lkey=33 remote_addr=3008 rkey=3002
  8: signaled=6 wr_id=1 opcode=6 flags=2 addr=buffer+0 length=8 lkey=33 remote_addr=3008 rkey=3002
END
ok 'keeps whose request a datagram is for' has datagrams <<'END'
- sent
qp 4: fake0 qp_num=5 type=4 state=3 send_cq=1 recv_cq=1 pd=1 max_send_wr=1 mask=65649 qkey=4660
    port=1 active_mtu=3 sends=1 signaled=1
  1: wr_id=1 opcode=2 addr=buffer+0 length=100 lkey=31 ah=it qp_num=41 qkey=42
END
ok 'counts receives, and keeps the last one' has receives <<'END'
- two of four
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 recvs=2 recv_id=2
    recv_addr=buffer+8 recv_length=24 recv_lkey=21
- none of two
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 recvs=2 recv_id=2
    recv_addr=buffer+8 recv_length=24 recv_lkey=21
- an empty one
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 recvs=3 recv_id=5
- three of the shared queue
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
srq 3: fake0 posted=3
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 recvs=3 recv_id=5
END
ok 'counts completions, and keeps the first that failed' has completions <<'END'
- succeeded
cq 1: fake0 cqe=64 channel=1 polls=3 emptied=2 got=6
cq 2: fake0 cqe=32
qp 3: fake0 qp_num=4 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 sends_done=3
    messages=2 recvs_done=1
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=1 pd=1 max_send_wr=6 max_recv_wr=5 sends_done=1
    recvs_done=1
- failed
cq 1: fake0 cqe=64 channel=1 polls=5 emptied=4 got=11
cq 2: fake0 cqe=32
qp 3: fake0 qp_num=4 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 sends_done=3
    messages=2 recvs_done=1 errors=3 failed_at=1 failed_id=8 failed_status=12 failed_queue=1
qp 4: fake0 qp_num=5 type=2 send_cq=1 recv_cq=1 pd=1 max_send_wr=6 max_recv_wr=5 sends_done=1
    recvs_done=1 errors=2 failed_at=1 failed_id=10 failed_status=1
END
ok 'keeps which queue has failed, until a reset' has failed_receive <<'END'
- failed
qp 3: fake0 qp_num=4 type=2 state=1 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 mask=57
    port=1 sends=1 signaled=1 sends_done=1 messages=1 recvs=1 errors=1 recv_id=5 recv_addr=buffer+8
    recv_length=8 recv_lkey=21 failed_at=1 failed_id=5 failed_status=1 failed_queue=2
  1: wr_id=7 opcode=2 flags=2 addr=buffer+0 length=100 lkey=31
- RESET
qp 3: fake0 qp_num=4 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 mask=1 port=1
    recv_id=5 recv_addr=buffer+8 recv_length=8 recv_lkey=21 failed_id=5 failed_status=1
    failed_queue=2
END
ok 'keeps when a queue was armed, and how many events came' has events <<'END'
- an event
cq 1: fake0 cqe=64 channel=1 polls=1 emptied=1 armed=1 events=1 emptied_at=1
cq 2: fake0 cqe=32
- another one
cq 1: fake0 cqe=64 channel=1 polls=2 emptied=1 got=1 armed=2 events=2 emptied_at=1 events_at=1
cq 2: fake0 cqe=32
- both are acknowledged
cq 1: fake0 cqe=64 channel=1 polls=2 emptied=1 got=1 armed=2 events=2 acked=2 emptied_at=1
    events_at=1
cq 2: fake0 cqe=32
call 1: tid=1 since=1
END
ok 'keeps requests of the extended interface as others, but for those that are given up' has operations <<'END'
- seven
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
cq 4: fake0 cqe=16 extended=1
mr 3: fake0 lkey=1024 rkey=1024 access=1 pd=1 addr=buffer+0 length=64 made_at=1
qp 5: fake0 qp_num=7 type=2 send_cq=4 recv_cq=4 pd=1 max_send_wr=12 max_recv_wr=12 sends=7 signaled=3
  1: wr_id=1 flags=2 addr=buffer+3 length=30 lkey=31 remote_addr=201 rkey=101
  2: signaled=1 wr_id=2 opcode=1 addr=buffer+4 length=42 lkey=33 remote_addr=202 rkey=102
  3: signaled=1 wr_id=3 opcode=4 flags=3 remote_addr=203 rkey=103
  4: signaled=2 wr_id=4 opcode=3 flags=8 length=7
  5: signaled=2 wr_id=5 opcode=9 flags=2 length=11 rkey=105
  6: signaled=3 wr_id=6 opcode=5 addr=buffer+0 length=8 lkey=36 remote_addr=206 rkey=106
  7: signaled=3 wr_id=7 opcode=6 addr=buffer+0 length=8 lkey=37 remote_addr=207 rkey=107
- ten
qp 5: fake0 qp_num=7 type=2 send_cq=4 recv_cq=4 pd=1 max_send_wr=12 max_recv_wr=12 sends=10
    signaled=4
  9: signaled=4 wr_id=9 opcode=8 rkey=109
  10: signaled=4 wr_id=10 opcode=2 addr=buffer+0 length=9 lkey=40
  3: signaled=1 wr_id=3 opcode=4 flags=3 remote_addr=203 rkey=103
  4: signaled=2 wr_id=4 opcode=3 flags=8 length=7
  5: signaled=2 wr_id=5 opcode=9 flags=2 length=11 rkey=105
  6: signaled=3 wr_id=6 opcode=5 addr=buffer+0 length=8 lkey=36 remote_addr=206 rkey=106
  7: signaled=3 wr_id=7 opcode=6 addr=buffer+0 length=8 lkey=37 remote_addr=207 rkey=107
  8: signaled=3 wr_id=8 opcode=7 flags=2 rkey=108
- one is given up
qp 5: fake0 qp_num=7 type=2 send_cq=4 recv_cq=4 pd=1 max_send_wr=12 max_recv_wr=12 sends=10
    signaled=4
  9: signaled=4 wr_id=9 opcode=8 rkey=109
  10: signaled=4 wr_id=10 opcode=2 addr=buffer+0 length=9 lkey=40
  11: signaled=4 wr_id=11 opcode=2 flags=2
  4: signaled=2 wr_id=4 opcode=3 flags=8 length=7
  5: signaled=2 wr_id=5 opcode=9 flags=2 length=11 rkey=105
  6: signaled=3 wr_id=6 opcode=5 addr=buffer+0 length=8 lkey=36 remote_addr=206 rkey=106
  7: signaled=3 wr_id=7 opcode=6 addr=buffer+0 length=8 lkey=37 remote_addr=207 rkey=107
  8: signaled=3 wr_id=8 opcode=7 flags=2 rkey=108
- one is refused
qp 5: fake0 qp_num=7 type=2 send_cq=4 recv_cq=4 pd=1 max_send_wr=12 max_recv_wr=12 sends=10
    signaled=4
  9: signaled=4 wr_id=9 opcode=8 rkey=109
  10: signaled=4 wr_id=10 opcode=2 addr=buffer+0 length=9 lkey=40
  11: signaled=4 wr_id=11 opcode=2 flags=2 addr=buffer+4 length=47 lkey=33
  4: signaled=2 wr_id=4 opcode=3 flags=8 length=7
  5: signaled=2 wr_id=5 opcode=9 flags=2 length=11 rkey=105
  6: signaled=3 wr_id=6 opcode=5 addr=buffer+0 length=8 lkey=36 remote_addr=206 rkey=106
  7: signaled=3 wr_id=7 opcode=6 addr=buffer+0 length=8 lkey=37 remote_addr=207 rkey=107
  8: signaled=3 wr_id=8 opcode=7 flags=2 rkey=108
END
ok 'keeps whose request a datagram of it is for' has datagrams_ex <<'END'
- sent
qp 5: fake0 qp_num=6 type=4 send_cq=4 recv_cq=4 pd=1 max_send_wr=12 max_recv_wr=12 sends=2
  1: wr_id=1 opcode=2 addr=buffer+0 length=30 lkey=31 ah=it qp_num=51 qkey=52
  2: wr_id=1 opcode=10 addr=buffer+0 length=40 lkey=32 ah=it qp_num=53 qkey=54
END
ok 'takes what is set for one queue pair for no other' has crossed <<'END'
- both
qp 5: fake0 qp_num=6 type=4 send_cq=4 recv_cq=4 pd=1 max_send_wr=12 max_recv_wr=12 sends=1 signaled=1
  1: wr_id=1 opcode=2 flags=2
qp 6: fake0 qp_num=7 type=4 send_cq=4 recv_cq=4 pd=1 max_send_wr=12 max_recv_wr=12 sends=1
  1: wr_id=2 opcode=2 addr=buffer+0 length=40 lkey=32 ah=it qp_num=53 qkey=54
END
ok 'counts completions of an extended queue, where it is known whose they are' has polled_ex <<'END'
- with one
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
cq 3: fake0 cqe=16 extended=1 polls=1 emptied=1 got=3
cq 6: fake0 cqe=16 extended=1 polls=1 emptied=1 got=2
- with two
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
cq 3: fake0 cqe=16 extended=1 polls=1 emptied=1 got=3
cq 6: fake0 cqe=16 direct=1 extended=1 polls=2 emptied=2 got=3
qp 4: fake0 qp_num=5 type=2 send_cq=3 recv_cq=3 pd=1 max_send_wr=6 max_recv_wr=5 sends_done=1
    messages=1 recvs_done=1 errors=1 failed_at=1 failed_id=3 failed_status=1
qp 5: fake0 qp_num=6 type=2 send_cq=3 recv_cq=3 pd=1 max_send_wr=6 max_recv_wr=5
qp 7: fake0 qp_num=8 type=2 send_cq=6 recv_cq=6 pd=1 max_send_wr=6 max_recv_wr=5 sends_done=1
    messages=1 errors=1 failed_at=1 failed_id=2 failed_status=12
qp 8: fake0 qp_num=9 type=2 send_cq=6 recv_cq=6 pd=1 max_send_wr=6 max_recv_wr=5
END
ok 'keeps that a queue is used without verbs' has direct <<'END'
- neither
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
qp 3: fake0 qp_num=4 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5
- a completion queue
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32 direct=1
qp 3: fake0 qp_num=4 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5
- a queue pair
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32 direct=1
qp 3: fake0 qp_num=4 type=2 send_cq=1 recv_cq=2 direct=1 pd=1 max_send_wr=6 max_recv_wr=5
END
ok 'follows a queue pair that gets another number' has renumbered <<'END'
- INIT
qp 3: fake0 type=255 state=1 pd=another mask=57 port=1
- RTR
qp 3: fake0 qp_num=6 type=255 state=2 pd=another mask=33209 port=1 path_mtu=3 sgid_index=3 dlid=9
    sl=5 traffic_class=106 active_mtu=3 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2 recvs_done=1
- destroyed
qp 3: fake0 gone=1 qp_num=6 type=255 state=2 pd=another mask=33209 port=1 path_mtu=3 sgid_index=3
    dlid=9 sl=5 traffic_class=106 active_mtu=3 gid=::ffff:192.0.2.1 peer_gid=::ffff:10.0.0.2
    recvs_done=1
END
ok 'knows as many objects as there are rows, and lets a program have more' has full <<'END'
- all rows: qp 2048 cq 1024 srq 256 mr 4096 ah 2048
- one that is not known: mr 0 mr 0
- one that is: mr 1 mr 0
- as many: qp 2048 cq 1024 srq 256 mr 4096 ah 2048
- all are gone: qp 0 cq 2 srq 0 mr 0 ah 0
- all rows again: qp 2048 cq 1024 srq 256 mr 4096 ah 2048
- each was used once: qp 2048 cq 1022 srq 256
END
ok 'keeps nothing of a program that another one took the place of' has executes <<'END'
- before: qp 1 cq 2 srq 1 mr 1 ah 1
- afterwards: qp 0 cq 0 srq 0 mr 0 ah 0
call 1: tid=1 since=1
END
ok 'takes rows of a process that has ended, and of no other' has ended <<'END'
- the child: qp 0 cq 0 srq 256 mr 0 ah 0
- the parent: qp 0 cq 2 srq 0 mr 0 ah 0
- of the child: 1
- the parent: qp 0 cq 2 srq 1 mr 0 ah 0
END
ok "knows a child's objects by themselves" has forked <<'END'
- the child
cq 4: fake0 cqe=8
- the parent
cq 1: fake0 cqe=64 channel=1
cq 2: fake0 cqe=32
qp 3: fake0 qp_num=4 type=2 send_cq=1 recv_cq=2 pd=1 max_send_wr=6 max_recv_wr=5 sends=1 signaled=1
  1: wr_id=2 opcode=2 flags=2 addr=buffer+0 length=100 lkey=31
END
ok 'keeps in which verb a thread waits, until it does something else' has left <<'END'
- waits
call 1: tid=1 verb=1 of=5 since=1
- has called another one
call 1: tid=1 verb=1 of=5 since=1
- left
call 1: tid=1 verb=1 of=5 since=1
- done
call 1: tid=1 of=5 since=1
- left
call 1: tid=1 verb=1 of=5 since=1
- done
call 1: tid=1 of=5 since=1
- left
call 1: tid=1 verb=1 of=5 since=1
- done
call 1: tid=1 of=5 since=1
- left
call 1: tid=1 verb=1 of=5 since=1
- done
call 1: tid=1 of=5 since=1
- left
call 1: tid=1 verb=1 of=5 since=1
- done
call 1: tid=1 of=5 since=1
- left
call 1: tid=1 verb=1 of=5 since=1
- done
call 1: tid=1 of=5 since=1
END
ok 'knows as many threads that wait as there are rows' has crowd <<'END'
threads 130 rows 128
of this thread 1
END
# asks ANSWER WORDS OPTION...: what a debugger gets that asks for what waits, and what the launcher says then
asks() {
	ends 0 "${@:3}" rows asks
	diff <(echo "asked $1 errno 77") "$scratch/out"
	diff <(printf '%s' "${2:+$2$'\n'}") "$scratch/err"
}
ok 'says to a debugger that nothing waits' asks 0 'rdmaez-explain: nothing is outstanding.' --waiting 1000
ok 'has no answer where no signal asks for it' asks 95 '' --waiting 1000 --signal none
ok 'nor where nobody waits for it' asks 95 '' --json "$scratch/json"
outlives() {
	explain --waiting 1000 rows outlives
	((code == 137))
	until [[ -s $scratch/out ]]; do pause 0.05; done
	diff <(echo 'asked 3 errno 77') "$scratch/out"
}
ok 'says to a debugger that the launcher has ended' outlives

fails 'sees what is not there' '^< qp 2' has direct <<<'qp 2'

done_testing
