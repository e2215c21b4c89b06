#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain --compare: in what the queue pairs of a job's processes disagree, who waits for whom, and what one chose
# differently, from files that tests/tools/states.py writes; what it says of files that are broken, and how long it takes.

source tests/tap.bash
source tests/tools/explain.bash
run_make explain || exit
tool=$PWD/build/tools/rdmaez-explain

# compared DIRECTORY: all files of a job, in the order of its ranks. The status goes to $code, the page to $scratch/page.
compared() {
	code=0
	(cd "$1" && find . -name '*.json' -printf '%f\n' | sort -n | xargs -d '\n' "$tool" --compare) \
		>"$scratch/page" 2>"$scratch/err" || code=$?
	silent
	# xargs has a status of its own.
	[[ $code != 123 ]] || code=1
}

# page SCRIPT: of the job that the script for states.py makes.
page() {
	rm -rf "$scratch/job"
	tests/tools/states.py "$scratch/job" "$1"
	compared "$scratch/job"
}

# finds SCRIPT <PAGE: there are findings, and this is said of them.
finds() {
	page "$1"
	diff "$scratch/page" -
	[[ $code == 1 ]]
}

# heads SCRIPT <LINES>: the first line of each finding, and the last of the page.
heads() {
	page "$1"
	grep -v '^  ' "$scratch/page" >"$scratch/heads"
	diff "$scratch/heads" -
	[[ $code == 1 ]]
}

# finds_nothing SCRIPT: but for the last line, which counts.
finds_nothing() {
	page "$1"
	cat "$scratch/page"
	[[ $code == 0 && $(wc -l <"$scratch/page") == 1 && $(<"$scratch/page") == *' 0 findings' ]]
}

# --- What disagrees: by the name of its rule in tools/explain/compare.c -------------------------------------------------

ok 'PORT' finds 'mesh(2)
sends(0, 1)
RANKS[1]["ports"][0]["state"] = "DOWN"' <<-'END'
	rank 1 on node0: port state DOWN, nothing passes it
	  A request waits, and this port is not active. Next: bring the link up: see the interface, the
	    cable and the switch; on InfiniBand also the subnet manager.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: port state DOWN
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END
active() {
	page 'mesh(2)
sends(0, 1)
RANKS[1]["ports"][0]["state"] = "ACTIVE"'
	! grep 'port state' "$scratch/page"
}
ok 'one that is active is none' active
ok 'a port that is down and that nobody waits for is none' finds_nothing 'mesh(2)
RANKS[1]["ports"][0]["state"] = "DOWN"'

ok 'TYPE' finds 'star(4)
qp(3, 0)["type"] = "UC"' <<-'END'
	rank 3 on node0 and rank 0 on node0 disagree: type UC against RC
	  Packets of another transport are dropped, and nobody gets an error. Next: create both queue pairs
	    with the same type, or XRC_SEND with XRC_RECV.
	    rank 3, node0, worker[1003], 2026-01-31T12:00:00.003Z: QP 6161 of mlx5_0 port 1: type UC
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 20 of mlx5_0 port 1: type RC
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'DEST' finds 'mesh(2)
qp(0, 1)["dest_qp_num"] = 9999' <<-'END'
	rank 1 on node0 and rank 0 on node0 disagree: qp_num 2065 against dest_qp_num 9999
	  One end sends to a queue pair that answers another. Next: exchange the numbers again: dest_qp_num
	    of each end is the other's qp_num.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: qp_num 2065
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: dest_qp_num 9999
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'MISSING' finds 'star(4)
mine(3).clear()' <<-'END'
	Likely: rank 0 on node0: dest_qp_num 6161, no such queue pair
	  No process with a file here has this queue pair at the peer's GID, so what is sent there is
	    dropped. Next: exchange the numbers again; if a process without a file has this queue pair,
	    start that process with rdmaez-explain as well.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 20 of mlx5_0 port 1: dest_qp_num 6161
	Likely: rank 3 on node0 has no queue pairs, and the other 3 have some
	  The others may wait for it to exchange addresses. Next: find out where it is.
	    rank 3, node0, worker[1003], 2026-01-31T12:00:00.003Z: no queue pairs
	4 processes on 1 host: 5 queue pairs, 2 pairs, 2 findings
END

ok 'GONE' finds 'mesh(2)
sends(0, 1)
qp(1, 0)["gone"] = True' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: state RTS against destroyed
	  One end waits for the other, which has destroyed its queue pair: nobody will answer. Next: have
	    both ends agree to finish before either destroys its queue pair.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: state RTS
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: state destroyed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'NOT_RTR' finds 'mesh(2)
sends(0, 1)
unconnected(1, 0)' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: state RTS against INIT
	  A queue pair drops what arrives before it is in RTR. Next: move it to RTR before the peer sends,
	    and tell the peer when it is there.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: state RTS
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: state INIT
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'OTHER_GID' finds 'mesh(2)
qp(0, 1)["peer_gid"] = "::ffff:10.9.9.9"' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: dgid ::ffff:10.9.9.9 against GID ::ffff:10.0.0.1
	  One end sends to a GID that the other's port does not have, so the packets go elsewhere. Next:
	    send the peer the GID at the index that its own ah_attr.grh.sgid_index names.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: dgid
	      ::ffff:10.9.9.9
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: GID
	      ::ffff:10.0.0.1
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'FORM' finds 'mesh(2)
qp(0, 1)["peer_gid"] = "fe80::1"' <<-'END'
	Likely: rank 0 on node0 and rank 1 on node0 disagree: dgid fe80::1 against GID ::ffff:10.0.0.1
	  One end sends to a GID of the peer's port that is not its queue pair's, and some devices drop
	    that. Next: send the peer the GID at the index that its own ah_attr.grh.sgid_index names.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: dgid fe80::1
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: GID
	      ::ffff:10.0.0.1
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'GID_TYPE' finds 'star(4)
qp(2, 0)["gid_type"] = "RoCE v1"' <<-'END'
	rank 2 on node0 and rank 0 on node0 disagree: GID type RoCE v1 against RoCE v2
	  A queue pair receives no packets of the other RoCE version. Next: choose GID indices of one type
	    at both ends, RoCE v2 unless you need the other.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: GID type RoCE
	      v1
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: GID type RoCE v2
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

# Two ends of one subnet, of which nothing has come over yet.
tagged='mesh(2)
for end in each():
    end.update(sends_posted=1, sends_signaled=1, sends_completed=0, recvs_completed=0, oldest_opcode="IBV_WR_SEND", oldest_ms=42000)
    end["vlan"] = 100'
# other_vlan NUMBER: what is said if the second end is in that VLAN
other_vlan() {
	cat <<-END
		Likely: rank 0 on node0 and rank 1 on node0 disagree: VLAN 100 against $1
		  The ends of one subnet are in different VLANs (0: frames without a tag), which only a switch can
		    join, and nothing has come over. Next: choose at each end the GID of an interface in the same
		    VLAN, or have the switch put the frames without a tag into it.
		    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: VLAN 100
		    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: VLAN $1
		2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
	END
}
ok 'VLAN' finds "$tagged"'
qp(1, 0)["vlan"] = 0' < <(other_vlan 0)
ok 'and where a request was given up' finds "$tagged"'
for end in each():
    end.update(sends_posted=0, sends_signaled=0)
qp(0, 1).update(failed=1, failed_status="IBV_WC_RETRY_EXC_ERR", failed_ms=5)
qp(1, 0)["vlan"] = 200' < <(other_vlan 200)
not_vlan() {
	page "$tagged
$1"
	cat "$scratch/page"
	! grep VLAN "$scratch/page"
}
ok 'nothing of one VLAN' not_vlan ''
ok 'nor of other subnets' not_vlan 'qp(1, 0).update(vlan=0, gid="::ffff:10.0.1.1")
qp(0, 1)["peer_gid"] = "::ffff:10.0.1.1"'
ok 'nor where something has come over' not_vlan 'qp(1, 0).update(vlan=0, recvs_completed=1)'
ok 'nor where the VLAN of one end is not known' not_vlan 'del qp(1, 0)["vlan"]'
ok 'nor where nothing waits' not_vlan 'qp(1, 0)["vlan"] = 0
for end in each():
    end.update(sends_posted=0, sends_signaled=0)'

ok 'PSN' finds 'mesh(2)
qp(0, 1)["rq_psn"] = 999' <<-'END'
	rank 1 on node0 and rank 0 on node0 disagree: sq_psn 2000 against rq_psn 999
	  The receiver drops what does not begin with the PSN that it expects, or takes it for a repetition.
	    Next: set rq_psn of each end to the other's sq_psn.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: sq_psn 2000
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: rq_psn 999
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'PATH_MTU' finds 'star(4)
qp(2, 0)["path_mtu"] = 1024' <<-'END'
	rank 2 on node0 and rank 0 on node0 disagree: path_mtu 1024 against 4096
	  A packet longer than the receiver's path MTU is dropped or fails at one end, depending on the
	    device. Next: give both ends the same path_mtu, at most the smaller active MTU of their ports.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: path_mtu 1024
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: path_mtu 4096
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'PORT_MTU' finds 'mesh(2)
qp(0, 1)["active_mtu"] = 2048' <<-'END'
	rank 1 on node0 and rank 0 on node0 disagree: path_mtu 4096 against active MTU 2048
	  A packet longer than the receiver's port can take is dropped. Next: lower path_mtu at both ends,
	    or raise the MTU of the interface.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: path_mtu 4096
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: active MTU 2048
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'QKEY' finds 'mesh(2)
[found.update(type="UD", qkey=0x11111111, sent_qkey=0x11111111) for found in each()]
qp(0, 1)["sent_qkey"] = 7' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: sends Q_Key 0x7 against Q_Key 0x11111111
	  A datagram with another Q_Key is dropped, and neither end gets an error. Next: send with the
	    receiver's Q_Key, in wr.ud.remote_qkey.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: sends Q_Key 0x7
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: Q_Key
	      0x11111111
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'PKEY' finds 'star(4)
qp(2, 0)["pkey"] = 0x8001' <<-'END'
	rank 2 on node0 and rank 0 on node0 disagree: P_Key 0x8001 against 0xffff
	  Packets of another partition are dropped. Next: choose the P_Key index at each end by the P_Key's
	    value, not by the number of the index.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: P_Key 0x8001
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: P_Key 0xffff
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'LIMITED' finds 'mesh(2)
[found.update(pkey=0x7fff) for found in each()]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: P_Key 0x7fff against 0x7fff
	  Two limited members of a partition do not reach each other. Next: make one of them a full member,
	    in the subnet manager's configuration.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: P_Key 0x7fff
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: P_Key 0x7fff
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'ACCESS' finds 'mesh(2)
sends(0, 1, "IBV_WR_RDMA_READ")
qp(1, 0)["access"] = 3' <<-'END'
	Likely: rank 0 on node0 and rank 1 on node0 disagree: RDMA_READ against qp_access_flags 0x3
	  The receiver's queue pair does not allow the request that waits. Next: have the receiver set the
	    right in qp_access_flags.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: RDMA_READ
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: qp_access_flags
	      0x3
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'REGION_GONE' finds 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(gone=True)]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: rkey 0x1234, region deregistered
	  The request that waits names a region that its owner has deregistered. Next: keep the region until
	    the peer is done with it.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: rkey 0x1234
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: region
	      deregistered
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

# gone_last SCRIPT: a queue pair that was destroyed is told after SCRIPT's finding, whose sequel it may be.
gone_last() {
	page "mesh(2)
$1
qp(1, 0)[\"gone\"] = True"
	grep disagree "$scratch/page" | tee "$scratch/order"
	[[ $(wc -l <"$scratch/order") == 2 && $(tail -n 1 "$scratch/order") == *' state RTS against destroyed' ]]
}
ok 'what a destroyed queue pair is the sequel of comes first: region' gone_last 'reads()
RANKS[1]["mrs"] = [region(gone=True)]'
ok 'what a destroyed queue pair is the sequel of comes first: PSN' gone_last 'sends(0, 1)
qp(0, 1)["sq_psn"] = 7'

ok 'REGION_BOUNDS' finds 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(length=4095)]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: rkey 0x1234, region too short
	  The request that waits reaches beyond the region that its rkey names. Next: compare its address
	    and length with those of the region.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: rkey 0x1234
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: region too
	      short
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'REGION_ACCESS' finds 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(access=3)]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: rkey 0x1234, region without the right
	  The region does not allow the request that waits. Next: register the region with the remote access
	    right that it needs.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: rkey 0x1234
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: region without
	      the right
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'RD_ATOMIC' finds 'mesh(2)
qp(1, 0)["max_dest_rd_atomic"] = 4' <<-'END'
	Likely: rank 0 on node0 and rank 1 on node0 disagree: max_rd_atomic 16 against max_dest_rd_atomic 4
	  One end may have more READs and atomics under way than the other answers, and one too many fails.
	    Next: set max_rd_atomic of each end to at most the other's max_dest_rd_atomic.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: max_rd_atomic 16
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1:
	      max_dest_rd_atomic 4
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'TIMEOUT' finds 'star(4)
qp(2, 0)["timeout"] = 0' <<-'END'
	Advice: rank 2 on node0 and rank 0 on node0 disagree: timeout 0 against 14
	  The ends wait for different times before they send again. Next: give both ends the same value,
	    unless you mean the difference.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: timeout 0
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: timeout 14
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'RETRY' finds 'star(4)
qp(2, 0)["retry_cnt"] = 1' <<-'END'
	Advice: rank 2 on node0 and rank 0 on node0 disagree: retry_cnt 1 against 7
	  The ends give up after different numbers of retries. Next: give both ends the same value, unless
	    you mean the difference.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: retry_cnt 1
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: retry_cnt 7
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'RNR_RETRY' finds 'star(4)
qp(2, 0)["rnr_retry"] = 0' <<-'END'
	Advice: rank 2 on node0 and rank 0 on node0 disagree: rnr_retry 0 against 7
	  The ends retry a different number of times if the other has no receive. Next: give both ends the
	    same value, unless you mean the difference.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: rnr_retry 0
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: rnr_retry 7
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'RNR_TIMER' finds 'star(4)
qp(2, 0)["min_rnr_timer"] = 0' <<-'END'
	Advice: rank 2 on node0 and rank 0 on node0 disagree: min_rnr_timer 0 against 12
	  If a receive is missing, the ends make each other wait for different times. Next: give both ends
	    the same value, unless you mean the difference.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: min_rnr_timer 0
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: min_rnr_timer 12
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'TRAFFIC_CLASS' finds 'star(4)
qp(2, 0).update(traffic_class=0, lossless=0)' <<-'END'
	Advice: rank 2 on node0 and rank 0 on node0 disagree: traffic_class 0 against 106
	  The two directions have different priorities; one may be in a lossy queue. Next: give both ends
	    the traffic class that the network has a lossless queue for.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: traffic_class 0
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: traffic_class 106
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'LOSSY' finds 'star(4)
qp(2, 0)["lossless"] = 16' <<-'END'
	Advice: rank 2 on node0: traffic_class 106, which may be lost
	  That end's port protects other priorities from loss (PFC) than that of this traffic class. Next:
	    set traffic_class to one of a protected priority: `rdmaez-doctor --only quality` shows them.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: traffic_class
	      106
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END
ok 'nothing of a port that protects no priority' finds_nothing 'star(4)
qp(2, 0)["lossless"] = 0'

ok 'SL' finds 'star(4)
qp(2, 0)["sl"] = 0' <<-'END'
	Advice: rank 2 on node0 and rank 0 on node0 disagree: sl 0 against 3
	  The two directions have different service levels. Next: give both ends the same, unless the subnet
	    manager gave it in a path record.
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: sl 0
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: sl 3
	4 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'RAIL' finds 'rails()
qp(0, 8)["device"] = "mlx5_1"' <<-'END'
	Advice: rank 0 on node0 and rank 8 on node1 disagree: device mlx5_1 against mlx5_0
	  Most connections join devices of one name; these cross over, which may cost a hop. Next: connect
	    each device to the peer's device on the same rail.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 25 of mlx5_1 port 1: device mlx5_1
	    rank 8, node1, worker[1008], 2026-01-31T12:00:00.008Z: QP 17 of mlx5_0 port 1: device mlx5_0
	16 processes on 2 hosts: 16 queue pairs, 8 pairs, 1 finding
END

ok 'UD: MISSING' finds 'mesh(2)
[found.update(type="UD", qkey=1, sent_qkey=1) for found in each()]
qp(0, 1)["dest_qp_num"] = 77' <<-'END'
	Likely: rank 0 on node0: dest_qp_num 77, no such queue pair
	  No process with a file here has this queue pair at the peer's GID, so what is sent there is
	    dropped. Next: exchange the numbers again; if a process without a file has this queue pair,
	    start that process with rdmaez-explain as well.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: dest_qp_num 77
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

# each_rule FILE: each has a test here.
each_rule() {
	local rule missing=0
	sed -n '/^#define RULES(X)/,/^$/s/^\tX(\([A-Z_]*\),.*/\1/p' "$1" >"$scratch/rules"
	(($(wc -l <"$scratch/rules") > 20))
	while read -r rule; do
		grep -q "^ok '.*\<$rule' finds" tests/tools/explain_compare.t || { echo "no test of $rule"; missing=1; }
	done <"$scratch/rules"
	return "$missing"
}

ok 'each rule has a test' each_rule tools/explain/compare.c
fails 'a rule without a test is noticed' 'no test of NEW' \
	each_rule <(sed 's/^#define RULES(X).*/&\n\tX(NEW, WRONG())/' tools/explain/compare.c)

# --- What is well ------------------------------------------------------------------------------------------------------

ok 'nothing is said of a job that is well' finds_nothing 'mesh(9)'
ok 'nothing is said of what is missing at one end' finds_nothing '
members = [member for member in sample() if member != "qp_num"]
job(2 * len(members), lambda rank: [rank ^ 1])
for n, member in enumerate(members): del mine(2 * n)[0][member]'
ok 'nothing is said of what is missing at both ends' finds_nothing '
members = [member for member in sample() if member not in ("qp_num", "dest_qp_num")]
job(2 * len(members), lambda rank: [rank ^ 1])
for n, member in enumerate(members): del mine(2 * n)[0][member], mine(2 * n + 1)[0][member]'
ok 'nothing is said of work that moves' finds_nothing 'mesh(3)
sends(0, 1)
hungry(1, 0)'
ok 'nothing is said of what a process leaves when it has ended' finds_nothing 'mesh(3)
still()
sends(0, 1)
hungry(1, 0)
for state in RANKS: state["reason"] = "end"'
ok 'a process that a signal ended has waited' finds 'mesh(2)
still()
sends(0, 1)
hungry(1, 0)
for state in RANKS: state.update(reason="end", signal=15)' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END
# One is ended by a signal, and the other stands still from then on: the state of the other is $1.
left_by() {
	finds "mesh(2)
still()
sends(0, 1)
RANKS[1].update(reason='end', signal=9, time='2026-01-31T11:59:18.500Z')
RANKS[0].update($1)" <<-END
	rank 0 on node0 waits for rank 1 on node0, which has ended
	  Next: find out why it ended; look at it first.
	    rank 1, node0, worker[1001], 2026-01-31T11:59:18.500Z: QP 2065 of mlx5_0 port 1: RTS, 116
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
	END
}
ok 'a process that a signal ended is no more' left_by 'reason="request"'
ok 'nor for one that was ended later' left_by 'reason="end", signal=15'
ok 'who waits for messages of it, and it for messages, do not wait for each other' finds 'mesh(2)
still()
RANKS[1].update(reason="end", signal=9)
RANKS[0]["time"] = "2026-01-31T12:00:10.000Z"' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has ended
	  Next: find out why it ended; look at it first.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 116
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:10.000Z: QP 18 of mlx5_0 port 1: 16 receives
	      posted, and no message comes
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END
ok 'nor where it is stopped' finds 'mesh(2)
still()
RANKS[1]["stopped"] = True' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which is stopped
	  Next: let it continue: a debugger has stopped it, or SIGSTOP has, which `kill -CONT` undoes.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 116
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: 16 receives
	      posted, and no message comes
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END
ok 'what a peer looked like before a request was posted says nothing' finds_nothing 'mesh(2)
sends(0, 1)
unconnected(1, 0)
RANKS[1]["time"] = "2026-01-31T11:59:00.000Z"'
ok 'a GID of another RoCE version and the same address is one of the port' finds_nothing 'mesh(2)
for found in each(): del found["gid_type"]
for state in RANKS: state["gids"].append({"device": "mlx5_0", "port": 1, "gid_index": 2, "gid": gid(0), "gid_type": "RoCE v1"})'
ok 'an IPv4 address is the GID that it is mapped to' finds_nothing 'mesh(9)
for found in each(): found["peer_gid"] = found["peer_gid"].rpartition(":")[2]'
ok 'the newest state of a process counts' finds_nothing 'mesh(2)
old = json.loads(json.dumps(RANKS[0]))
old["time"] = "2026-01-31T11:00:00.000Z"
old["qps"][0]["path_mtu"] = 256
LINES[0] = [json.dumps(old)]'
ok 'findings and summaries are no states' finds_nothing 'mesh(2)
LINES[0] = [json.dumps({"program": "worker", "pid": 1000, "kind": "refusal", "caller": "0x1", "record": {"findings": [1.5e3, None]}})]'

# --- Jobs --------------------------------------------------------------------------------------------------------------

ok 'one rank of 64 that chose another path MTU is named by the first line' finds 'mesh(64)
for found in mine(17): found.update(path_mtu=1024)' <<-'END'
	rank 17 on node2 disagrees with 63 ranks (0-16, 18-63): path_mtu 1024 against 4096
	  A packet longer than the receiver's path MTU is dropped or fails at one end, depending on the
	    device. Next: give both ends the same path_mtu, at most the smaller active MTU of their ports.
	    rank 17, node2, worker[1017], 2026-01-31T12:00:00.017Z: QP 2065 of mlx5_0 port 1: path_mtu 1024
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 34 of mlx5_0 port 1: path_mtu 4096
	    and 62 more
	64 processes on 8 hosts: 4032 queue pairs, 2016 pairs, 1 finding
END

ok 'two such ranks are told one after the other' finds 'mesh(64)
for found in mine(17) + mine(40): found.update(path_mtu=1024)' <<-'END'
	rank 17 on node2 disagrees with 62 ranks (0-16, 18-39, 41-63): path_mtu 1024 against 4096
	  A packet longer than the receiver's path MTU is dropped or fails at one end, depending on the
	    device. Next: give both ends the same path_mtu, at most the smaller active MTU of their ports.
	    rank 17, node2, worker[1017], 2026-01-31T12:00:00.017Z: QP 2065 of mlx5_0 port 1: path_mtu 1024
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 34 of mlx5_0 port 1: path_mtu 4096
	    and 61 more
	rank 40 on node5 disagrees with 62 ranks (0-16, 18-39, 41-63): path_mtu 1024 against 4096
	  A packet longer than the receiver's path MTU is dropped or fails at one end, depending on the
	    device. Next: give both ends the same path_mtu, at most the smaller active MTU of their ports.
	    rank 40, node5, worker[1040], 2026-01-31T12:00:00.040Z: QP 17 of mlx5_0 port 1: path_mtu 1024
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 57 of mlx5_0 port 1: path_mtu 4096
	    and 61 more
	64 processes on 8 hosts: 4032 queue pairs, 2016 pairs, 2 findings
END

ok 'the same disagreement of many pairs is told once' finds 'job(16, lambda rank: [(rank + 8) % 16])
for rank in range(8): qp(rank, rank + 8)["sq_psn"] += 1' <<-'END'
	8 pairs of 16 ranks (0-15) disagree: sq_psn against rq_psn
	  The receiver drops what does not begin with the PSN that it expects, or takes it for a repetition.
	    Next: set rq_psn of each end to the other's sq_psn.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 25 of mlx5_0 port 1: sq_psn 9
	    rank 8, node1, worker[1008], 2026-01-31T12:00:00.008Z: QP 17 of mlx5_0 port 1: rq_psn 8
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2074 of mlx5_0 port 1: sq_psn 2010
	    rank 9, node1, worker[1009], 2026-01-31T12:00:00.009Z: QP 2066 of mlx5_0 port 1: rq_psn 2009
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4123 of mlx5_0 port 1: sq_psn 4011
	    rank 10, node1, worker[1010], 2026-01-31T12:00:00.010Z: QP 4115 of mlx5_0 port 1: rq_psn 4010
	    and 5 more
	16 processes on 2 hosts: 16 queue pairs, 8 pairs, 1 finding
END

ok 'several queue pairs of two ranks are told at once' finds 'mesh(2)
for state in RANKS:
    more = [{**found, "qp_num": found["qp_num"] + n, "dest_qp_num": found["dest_qp_num"] + n} for found in state["qps"] for n in (100, 200)]
    state["qps"] += more
for found in mine(0): found["path_mtu"] = 1024' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree on 3 pairs: path_mtu 1024 against 4096
	  A packet longer than the receiver's path MTU is dropped or fails at one end, depending on the
	    device. Next: give both ends the same path_mtu, at most the smaller active MTU of their ports.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: path_mtu 1024
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: path_mtu 4096
	    and 2 more
	2 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'one rank that has no receive for 63 others is the end that they wait for' finds 'mesh(64)
still()
for rank in range(64):
    if rank != 17: sends(rank, 17); hungry(17, rank)' <<-'END'
	63 ranks (0-16, 18-63) wait for rank 17 on node2, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 17, node2, worker[1017], 2026-01-31T12:00:00.017Z: QP 2065 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 34 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    and 62 more that wait for it directly
	64 processes on 8 hosts: 4032 queue pairs, 2016 pairs, 1 finding
END

ok 'what is certain of the end comes before what most wait for' finds 'mesh(4)
still()
sends(1, 3)
hungry(3, 1)' <<-'END'
	3 ranks (0-2) wait for rank 3 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 3, node0, worker[1003], 2026-01-31T12:00:00.003Z: QP 6162 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2068 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    and 2 more that wait for it directly
	4 processes on 1 host: 12 queue pairs, 6 pairs, 1 finding
END
ok 'a chain of waiting has an end, which does not poll' finds 'ring(8)
still()
for rank in range(8):
    if rank != 5: sends(rank, (rank + 1) % 8); hungry((rank + 1) % 8, rank)
RANKS[5]["cqs"] = [{"device": "mlx5_0", "cq_num": 1, "polled_ms": 42000, "armed": False}]' <<-'END'
	7 ranks (0-4, 6-7) wait for rank 5 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 5, node0, worker[1005], 2026-01-31T12:00:00.005Z: QP 10261 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 5, node0, worker[1005], 2026-01-31T12:00:00.005Z: CQ 1 of mlx5_0 was last polled 42.0 s
	      before, and is not armed
	    rank 4, node0, worker[1004], 2026-01-31T12:00:00.004Z: QP 8214 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    The longest chain: rank 6 on node0 waits for rank 7 on node0, which waits for rank 0 on node0,
	      which waits for rank 1 on node0, which waits for rank 2 on node0, which waits for rank 3 on
	      node0, which waits for rank 4 on node0, which waits for rank 5 on node0
	8 processes on 1 host: 16 queue pairs, 8 pairs, 1 finding
END
ok 'a queue that was never polled is said to be that, and one for sends of which there are none is not told' finds 'mesh(2)
still()
sends(0, 1)
hungry(1, 0)
qp(1, 0)["send_cq"] = 2
RANKS[1]["cqs"] = [{"device": "mlx5_0", "cq_num": n + 1, "polls": n, "polled_ms": 42000, "armed": False} for n in range(2)]' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: CQ 1 of mlx5_0 was made 42.0 s before,
	      was never polled, and is not armed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a circle is broken where a receive is owed' finds 'ring(8)
still()
for rank in range(8):
    if rank != 5: sends(rank, (rank + 1) % 8); hungry((rank + 1) % 8, rank)' <<-'END'
	7 ranks (0-4, 6-7) wait for rank 5 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 5, node0, worker[1005], 2026-01-31T12:00:00.005Z: QP 10261 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 4, node0, worker[1004], 2026-01-31T12:00:00.004Z: QP 8214 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    The longest chain: rank 6 on node0 waits for rank 7 on node0, which waits for rank 0 on node0,
	      which waits for rank 1 on node0, which waits for rank 2 on node0, which waits for rank 3 on
	      node0, which waits for rank 4 on node0, which waits for rank 5 on node0
	8 processes on 1 host: 16 queue pairs, 8 pairs, 1 finding
END

ok 'a circle of requests is told as one' finds 'ring(4)
still()
for rank in range(4): sends(rank, (rank + 1) % 4); hungry((rank + 1) % 4, rank)' <<-'END'
	4 ranks (0-3) wait for each other
	  Next: post receives before sends at one of them, or more receives.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2067 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4116 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    and 1 more
	4 processes on 1 host: 8 queue pairs, 4 pairs, 1 finding
END

ok 'circles without a request are told at once, as likely' finds 'job(8, lambda rank: [(rank + 4) % 8])
still()' <<-'END'
	Likely: 8 ranks (0-7) wait for each other, in 4 groups
	  Next: find out whose turn it is to send: each has receives posted, and no message is under way.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 21 of mlx5_0 port 1: 16 receives
	      posted, and no message comes
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2070 of mlx5_0 port 1: 16 receives
	      posted, and no message comes
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4119 of mlx5_0 port 1: 16 receives
	      posted, and no message comes
	    and 5 more
	8 processes on 1 host: 8 queue pairs, 4 pairs, 1 finding
END

ok 'waiting of many for one each is told at once' finds 'job(8, lambda rank: [(rank + 4) % 8])
still()
for rank in range(4): sends(rank, rank + 4); hungry(rank + 4, rank)' <<-'END'
	4 ranks (0-3) wait for another each, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 4, node0, worker[1004], 2026-01-31T12:00:00.004Z: QP 8209 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 21 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    and 3 more
	8 processes on 1 host: 8 queue pairs, 4 pairs, 1 finding
END

ok 'a wait for what disagrees points at that' finds 'job(2, lambda rank: [1 - rank])
still()
sends(0, 1)
qp(0, 1)["sq_psn"] = 77' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: sq_psn 77 against rq_psn 1
	  The receiver drops what does not begin with the PSN that it expects, or takes it for a repetition.
	    Next: set rq_psn of each end to the other's sq_psn.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: sq_psn 77
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: rq_psn 1
	rank 0 on node0 waits for rank 1 on node0, whose queue pair disagrees with its own, as said above
	  Next: mend what disagrees first.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 116
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 2 findings
END

ok 'a wait for one that has ended' finds 'job(2, lambda rank: [1 - rank])
still()
sends(0, 1)
RANKS[1]["reason"] = "end"' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has ended
	  Next: find out why it ended; look at it first.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 116
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a wait for one whose queue pair is in ERR' finds 'job(2, lambda rank: [1 - rank])
still()
sends(0, 1)
qp(1, 0)["state"] = "ERR"' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, whose queue pair is in ERR
	  Next: see its first failed completion or event, which rdmaez-explain has reported.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: ERR, 116
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a wait for one of which there is no file' finds 'mesh(3)
still()
sends(0, 2)
sends(1, 2)
for state in RANKS: del state["ranks"]
for rank in (0, 1): qp(rank, 2)["peer_gid"] = "::ffff:10.7.7.7"
RANKS[2] = None' <<-'END'
	2 ranks (0-1) wait for another process, of which there is no file here
	  Next: start all processes of the job with rdmaez-explain --json.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	    and 1 more that wait for it directly
	2 processes on 1 host: 4 queue pairs, 1 pair, 1 finding
	2 queue pairs have a peer of which there is no file
END

ok 'a WRITE needs no receive, and nothing is seen that holds it up' finds 'job(2, lambda rank: [1 - rank])
still()
sends(0, 1, "IBV_WR_RDMA_WRITE")
hungry(1, 0)' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, where nothing visible holds it up
	  Next: compare the counters of both ports before and after a minute (rdmaez-doctor): what was sent
	    may be lost on the way.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: RDMA_WRITE under
	      way for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a shared receive queue that is empty' finds 'job(2, lambda rank: [1 - rank])
still()
sends(0, 1)
qp(1, 0)["srq"] = 5
RANKS[1]["srqs"] = [{"device": "mlx5_0", "srq_num": 5, "posted": 64, "completed": 64}]' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a GID index that one rank chose' finds 'mesh(9)
for found in mine(3): found["gid_index"] = 1' <<-'END'
	Advice: rank 3 on node0 has GID index 1, and 8 others have 3
	  This may be intended. Next: compare the environment and the configuration of the two processes
	    below.
	    rank 3, node0, worker[1003], 2026-01-31T12:00:00.003Z: QP 6161 of mlx5_0 port 1: GID index 1
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: GID index 3
	9 processes on 2 hosts: 72 queue pairs, 36 pairs, 1 finding
END

ok 'devices of which each has a GID index of its own are compared by themselves' finds 'rails(16)
for found in each(): found["gid_index"] = 5 if found["device"] == "mlx5_1" else 3
qp(1, 9)["gid_index"] = 3' <<-'END'
	Advice: rank 1 on node0 has GID index 3 on mlx5_1, and 7 others have 5
	  This may be intended. Next: compare the environment and the configuration of the two processes
	    below.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2074 of mlx5_1 port 1: GID index 3
	    rank 3, node0, worker[1003], 2026-01-31T12:00:00.003Z: QP 6172 of mlx5_1 port 1: GID index 5
	16 processes on 2 hosts: 16 queue pairs, 8 pairs, 1 finding
END

ok 'a device that one rank chose' finds 'mesh(9)
for found in mine(3): found["device"] = "mlx5_7"' <<-'END'
	Advice: rank 3 on node0 has device mlx5_7, and 8 others have mlx5_0
	  This may be intended. Next: compare the environment and the configuration of the two processes
	    below.
	    rank 3, node0, worker[1003], 2026-01-31T12:00:00.003Z: QP 6161 of mlx5_7 port 1: device mlx5_7
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: device mlx5_0
	9 processes on 2 hosts: 72 queue pairs, 36 pairs, 1 finding
END

ok 'ranks without a file, and ranks without queue pairs' finds 'near(16, 1)
RANKS[4] = RANKS[9] = None
RANKS[12]["qps"] = []' <<-'END'
	Likely: 6 ranks (3, 5, 8, 10-11, 13): dest_qp_num, no such queue pair
	  No process with a file here has this queue pair at the peer's GID, so what is sent there is
	    dropped. Next: exchange the numbers again; if a process without a file has this queue pair,
	    start that process with rdmaez-explain as well.
	    rank 3, node0, worker[1003], 2026-01-31T12:00:00.003Z: QP 6165 of mlx5_0 port 1: dest_qp_num
	      8212
	    rank 5, node0, worker[1005], 2026-01-31T12:00:00.005Z: QP 10261 of mlx5_0 port 1: dest_qp_num
	      8214
	    rank 8, node1, worker[1008], 2026-01-31T12:00:00.008Z: QP 26 of mlx5_0 port 1: dest_qp_num 2073
	    and 3 more
	Likely: ranks 4, 9 of 16 have no state here
	  It never used verbs, ran without rdmaez-explain, or its file is missing. Next: check whether it
	    was started, and where it is.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: counts 16 ranks
	Likely: rank 12 on node1 has no queue pairs, and the other 13 have some
	  The others may wait for it to exchange addresses. Next: find out where it is.
	    rank 12, node1, worker[1012], 2026-01-31T12:00:00.012Z: no queue pairs
	14 processes on 2 hosts: 26 queue pairs, 10 pairs, 3 findings
END

ok 'one address on two hosts' finds 'near(16, 1)
for found in mine(8): found["gid"] = "::ffff:10.0.0.1"' <<-'END'
	Likely: rank 8 on node1 disagrees with 2 ranks (7, 9): GID ::ffff:10.0.0.1 against dgid
	    ::ffff:10.0.0.2
	  One end sends to a GID of the peer's port that is not its queue pair's, and some devices drop
	    that. Next: send the peer the GID at the index that its own ah_attr.grh.sgid_index names.
	    rank 8, node1, worker[1008], 2026-01-31T12:00:00.008Z: QP 24 of mlx5_0 port 1: GID
	      ::ffff:10.0.0.1
	    rank 7, node0, worker[1007], 2026-01-31T12:00:00.007Z: QP 14361 of mlx5_0 port 1: dgid
	      ::ffff:10.0.0.2
	    and 1 more
	Likely: rank 0 on node0 and rank 8 on node1 have the same address: GID ::ffff:10.0.0.1
	  What is sent to one may reach the other. Next: give the interface of one host another address; if
	    the two are containers on one machine, nothing is wrong.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: GID
	      ::ffff:10.0.0.1
	    rank 8, node1, worker[1008], 2026-01-31T12:00:00.008Z: QP 24 of mlx5_0 port 1: GID
	      ::ffff:10.0.0.1
	16 processes on 2 hosts: 32 queue pairs, 16 pairs, 2 findings
END

ok 'processes without ranks have names' finds 'mesh(3)
for state in RANKS: del state["rank"], state["ranks"]
for found in mine(1): found["pkey"] = 5' <<-'END'
	worker[1001] on node0 disagrees with 2 processes (worker[1000] on node0, worker[1002] on node0):
	    P_Key 0x5 against 0xffff
	  Packets of another partition are dropped. Next: choose the P_Key index at each end by the P_Key's
	    value, not by the number of the index.
	    node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: P_Key 0x5
	    node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: P_Key 0xffff
	    and 1 more
	3 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'on InfiniBand without GRH, LIDs tell the ends' finds 'mesh(2)
for rank in (0, 1):
    for found in mine(rank):
        del found["gid"], found["peer_gid"], found["gid_index"], found["gid_type"]
        found.update(lid=rank + 1, peer_lid=2 - rank)
qp(0, 1)["path_mtu"] = 2048' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: path_mtu 2048 against 4096
	  A packet longer than the receiver's path MTU is dropped or fails at one end, depending on the
	    device. Next: give both ends the same path_mtu, at most the smaller active MTU of their ports.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: path_mtu 2048
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: path_mtu 4096
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'XRC_SEND fits XRC_RECV, and nothing else' finds 'mesh(3)
qp(0, 1)["type"] = "XRC_SEND"
qp(1, 0)["type"] = "XRC_RECV"
qp(0, 2)["type"] = "XRC_SEND"' <<-'END'
	rank 0 on node0 and rank 2 on node0 disagree: type XRC_SEND against RC
	  Packets of another transport are dropped, and nobody gets an error. Next: create both queue pairs
	    with the same type, or XRC_SEND with XRC_RECV.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 19 of mlx5_0 port 1: type XRC_SEND
	    rank 2, node0, worker[1002], 2026-01-31T12:00:00.002Z: QP 4113 of mlx5_0 port 1: type RC
	3 processes on 1 host: 6 queue pairs, 3 pairs, 1 finding
END

ok 'files of two runs are told from those of one' finds 'job(2, lambda rank: [1 - rank])
old = json.loads(json.dumps(RANKS[1]))
old.update(pid=999, time="2026-01-31T11:00:00.000Z")
old["qps"][0]["rq_psn"] = 5
LINES[1] = [json.dumps(old)]' <<-'END'
	Likely: these are files of two runs: rank 1 on node0 is there twice
	  What is said here may mix the two runs. Next: compare only the files of one run.
	    rank 1, node0, worker[999], 2026-01-31T11:00:00.000Z: queue pairs: 1
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: queue pairs: 1
	3 processes on 1 host: 3 queue pairs, 1 pair, 1 finding
END

# --- Which is the peer, and what is known of it --------------------------------------------------------------------------

ok 'the other end sends to another queue pair' heads 'mesh(2)
qp(1, 0)["dest_qp_num"] = 9999' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: qp_num 18 against dest_qp_num 9999
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a queue pair without a number is none that another one names' finds 'mesh(2)
del qp(0, 1)["qp_num"]
mine(0)[0]["path_mtu"] = 256' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: path_mtu 256 against 4096
	  A packet longer than the receiver's path MTU is dropped or fails at one end, depending on the
	    device. Next: give both ends the same path_mtu, at most the smaller active MTU of their ports.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: a queue pair of mlx5_0 port 1: path_mtu
	      256
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: path_mtu 4096
	Likely: rank 1 on node0: dest_qp_num 18, no such queue pair
	  No process with a file here has this queue pair at the peer's GID, so what is sent there is
	    dropped. Next: exchange the numbers again; if a process without a file has this queue pair,
	    start that process with rdmaez-explain as well.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: dest_qp_num 18
	2 processes on 1 host: 2 queue pairs, 1 pair, 2 findings
END

ok 'nor is a number made up for the peer' heads 'mesh(2)
del qp(1, 0)["qp_num"]' <<-'END'
	Likely: rank 0 on node0: dest_qp_num 2065, no such queue pair
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'six processes without ranks' heads 'mesh(7)
for state in RANKS: del state["rank"], state["ranks"]
for found in mine(1): found["pkey"] = 5' <<-'END'
	worker[1001] on node0 disagrees with 6 processes (worker[1000] on node0, worker[1002] on node0,
	7 processes on 1 host: 42 queue pairs, 21 pairs, 1 finding
END

ok 'more ranges of ranks than a line has' heads 'star(29)
for rank in range(1, 29, 2): qp(rank, 0)["path_mtu"] = 1024' <<-'END'
	rank 0 on node0 disagrees with 14 ranks (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, ...): path_mtu
	29 processes on 4 hosts: 56 queue pairs, 28 pairs, 1 finding
END

ok 'ranks come before processes without, which are in the order of their hosts' heads 'mesh(4)
for state in RANKS[:3]: del state["rank"], state["ranks"]
RANKS[0]["host"] = "z"
for found in mine(3): found["pkey"] = 5' <<-'END'
	rank 3 on node0 disagrees with 3 processes (worker[1001] on node0, worker[1002] on node0,
	4 processes on 2 hosts: 12 queue pairs, 6 pairs, 1 finding
END

ok 'of two queue pairs with one number, the one that is connected is meant, if it is not the first one' finds_nothing 'mesh(2)
other = dict(qp(1, 0), path_mtu=256, state="INIT")
RANKS[1]["qps"].insert(0, other)'

ok 'nor if the first one is connected to another one' heads 'mesh(2)
other = dict(qp(1, 0), path_mtu=256, dest_qp_num=99)
RANKS[1]["qps"].insert(0, other)' <<-'END'
	Likely: rank 1 on node0: dest_qp_num 99, no such queue pair
	2 processes on 1 host: 3 queue pairs, 1 pair, 1 finding
END

ok 'nor if the first one is destroyed' finds_nothing 'mesh(2)
other = dict(qp(1, 0), path_mtu=256, dest_qp_num=99, gone=True)
qp(1, 0)["dest_qp_num"] = 98
del qp(1, 0)["peer_gid"], qp(1, 0)["dest_qp_num"], other["dest_qp_num"]
RANKS[1]["qps"].insert(0, other)'

ok 'of two queue pairs with one number, the one that is connected is meant, if it is not the last one' finds_nothing 'mesh(2)
other = dict(qp(1, 0), path_mtu=256, state="INIT")
RANKS[1]["qps"].append(other)'

ok 'nor if the last one is connected to another one' heads 'mesh(2)
other = dict(qp(1, 0), path_mtu=256, dest_qp_num=99)
RANKS[1]["qps"].append(other)' <<-'END'
	Likely: rank 1 on node0: dest_qp_num 99, no such queue pair
	2 processes on 1 host: 3 queue pairs, 1 pair, 1 finding
END

ok 'nor if the last one is destroyed' finds_nothing 'mesh(2)
other = dict(qp(1, 0), path_mtu=256, dest_qp_num=99, gone=True)
qp(1, 0)["dest_qp_num"] = 98
del qp(1, 0)["peer_gid"], qp(1, 0)["dest_qp_num"], other["dest_qp_num"]
RANKS[1]["qps"].append(other)'

ok 'of two processes with one queue pair, the newer one is meant' heads 'mesh(2)
RANKS.append(json.loads(json.dumps(RANKS[1])))
RANKS[2].update(pid=999, time="2026-01-31T12:10:00.000Z")
del RANKS[2]["rank"]
mine(2)[0]["path_mtu"] = 256' <<-'END'
	worker[999] on node0 and rank 0 on node0 disagree: path_mtu 256 against 4096
	3 processes on 1 host: 3 queue pairs, 1 pair, 1 finding
END

ok 'and not the older one' heads 'mesh(2)
RANKS.append(json.loads(json.dumps(RANKS[1])))
RANKS[2].update(pid=999, time="2026-01-31T11:00:00.000Z")
del RANKS[2]["rank"]
mine(2)[0]["path_mtu"] = 256' <<-'END'
	Advice: worker[999] on node0 has path_mtu 256, and 2 others have 4096
	3 processes on 1 host: 3 queue pairs, 1 pair, 1 finding
END

ok 'a queue pair whose peer is of its own process' heads 'job(1, lambda rank: [])
for n in range(2): RANKS[0]["qps"].append({**sample(0, 0), "qp_num": 17 + n, "dest_qp_num": 18 - n, "path_mtu": 256 << n, "sq_psn": n, "rq_psn": 1 - n})' <<-'END'
	rank 0 on node0 and rank 0 on node0 disagree: path_mtu 256 against 512
	1 process on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'two such pairs' heads 'job(1, lambda rank: [])
for n in range(4): RANKS[0]["qps"].append({**sample(0, 0), "qp_num": 17 + n, "dest_qp_num": 17 + (n ^ 1), "path_mtu": 256 << n % 2, "sq_psn": n, "rq_psn": n ^ 1})' <<-'END'
	2 pairs of rank 0 on node0 disagree: path_mtu 256 against 512
	1 process on 1 host: 4 queue pairs, 2 pairs, 1 finding
END

ok 'a GID that the port may have, as far as is known of it' heads 'mesh(2)
qp(0, 1)["peer_gid"] = "::ffff:10.9.9.9"
for row in RANKS[1]["gids"]: row["port"] = 2' <<-'END'
	Likely: rank 0 on node0 and rank 1 on node0 disagree: dgid ::ffff:10.9.9.9 against GID
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'nor is it known by another device and a GID that is missing' heads 'mesh(2)
qp(0, 1)["peer_gid"] = "::ffff:10.9.9.9"
RANKS[1]["gids"][0]["device"] = "mlx5_1"
del RANKS[1]["gids"][1]["gid"]' <<-'END'
	Likely: rank 0 on node0 and rank 1 on node0 disagree: dgid ::ffff:10.9.9.9 against GID
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'an address of two hosts that the second queue pair has' heads 'near(16, 1)
mine(8)[1]["gid"] = "::ffff:10.0.0.1"' <<-'END'
	Likely: rank 9 on node1 and rank 8 on node1 disagree: dgid ::ffff:10.0.0.2 against GID
	Likely: rank 0 on node0 and rank 8 on node1 have the same address: GID ::ffff:10.0.0.1
	16 processes on 2 hosts: 32 queue pairs, 16 pairs, 2 findings
END

ok 'another key' finds_nothing 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(rkey=9, gone=True)]'

ok 'a region of another device' finds_nothing 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(device="mlx5_1", gone=True)]'

ok 'a key that was used again' finds_nothing 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(gone=True), region()]'

ok 'a key that had been used before' finds_nothing 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(), region(gone=True)]'

ok 'a region that begins before the request' finds_nothing 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(addr=0x7f0000000fff, length=4097)]'

ok 'a region that begins a byte too late' heads 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(addr=0x7f0000001001)]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: rkey 0x1234, region too short
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'one that begins and ends a byte too early' heads 'mesh(2)
reads()
RANKS[1]["mrs"] = [region(addr=0x7f0000000fff)]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: rkey 0x1234, region too short
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a region that was there when the request failed' heads 'mesh(2)
reads()
qp(0, 1).update(state="ERR", failed=1, failed_status="IBV_WC_REM_ACCESS_ERR", failed_ms=5000)
RANKS[1]["mrs"] = [region(access=3, since_ms=5001)]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: rkey 0x1234, region without the right
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'and one that came later' finds_nothing 'mesh(2)
reads()
qp(0, 1).update(state="ERR", failed=1, failed_status="IBV_WC_REM_ACCESS_ERR", failed_ms=5000)
RANKS[1]["mrs"] = [region(access=3, since_ms=5000)]'

ok 'a request that was not answered says nothing of rights' finds_nothing 'mesh(2)
reads()
qp(0, 1).update(state="ERR", failed=1, failed_status="IBV_WC_RETRY_EXC_ERR", failed_ms=5000)
qp(1, 0)["access"] = 0'

ok 'one that was refused as invalid says it of the queue pair' heads 'mesh(2)
reads()
qp(0, 1).update(state="ERR", failed=1, failed_status="IBV_WC_REM_INV_REQ_ERR", failed_ms=5000)
qp(1, 0)["access"] = 0' <<-'END'
	Likely: rank 0 on node0 and rank 1 on node0 disagree: RDMA_READ against qp_access_flags 0x0
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'and nothing of the region' finds_nothing 'mesh(2)
reads()
qp(0, 1).update(state="ERR", failed=1, failed_status="IBV_WC_REM_INV_REQ_ERR", failed_ms=5000)
RANKS[1]["mrs"] = [region(gone=True)]'

ok 'nor does what a process has left under way that has ended' finds_nothing 'mesh(2)
reads()
RANKS[0]["reason"] = "end"
qp(1, 0)["access"] = 0'

ok 'a region that was deregistered in the millisecond of the failure' heads 'mesh(2)
reads()
qp(0, 1).update(state="ERR", failed=1, failed_status="IBV_WC_REM_ACCESS_ERR", failed_ms=5000)
RANKS[1]["mrs"] = [region(gone=True, gone_ms=5001)]' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: rkey 0x1234, region deregistered
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'and one that was there still' finds_nothing 'mesh(2)
reads()
qp(0, 1).update(state="ERR", failed=1, failed_status="IBV_WC_REM_ACCESS_ERR", failed_ms=5000)
RANKS[1]["mrs"] = [region(gone=True, gone_ms=5000)]'

ok 'without its GID and the number of its peer, a queue pair is found by who names it' heads 'mesh(2)
del qp(0, 1)["gid"]
qp(0, 1)["dest_qp_num"] = 9999' <<-'END'
	rank 1 on node0 and rank 0 on node0 disagree: qp_num 2065 against dest_qp_num 9999
	Likely: rank 0 on node0: dest_qp_num 9999, no such queue pair
	2 processes on 1 host: 2 queue pairs, 1 pair, 2 findings
END

ok 'eight pairs within one process' heads 'job(1, lambda rank: [])
for n in range(16): RANKS[0]["qps"].append({**sample(0, 0), "qp_num": 17 + n, "dest_qp_num": 17 + (n ^ 1), "path_mtu": 256 << n % 2, "sq_psn": n, "rq_psn": n ^ 1})' <<-'END'
	8 pairs of rank 0 on node0 disagree: path_mtu 256 against 512
	1 process on 1 host: 16 queue pairs, 8 pairs, 1 finding
END

# --- Who waits -----------------------------------------------------------------------------------------------------------

ok 'a queue pair that was destroyed is said to be that' finds 'mesh(2)
still()
sends(0, 1)
qp(1, 0)["gone"] = True' <<-'END'
	rank 0 on node0 and rank 1 on node0 disagree: state RTS against destroyed
	  One end waits for the other, which has destroyed its queue pair: nobody will answer. Next: have
	    both ends agree to finish before either destroys its queue pair.
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: state RTS
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: state destroyed
	rank 0 on node0 waits for rank 1 on node0, whose queue pair disagrees with its own, as said above
	  Next: mend what disagrees first.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: destroyed, 116
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 2 findings
END

ok 'without a count of signaled requests all count' heads 'mesh(2)
still()
sends(0, 1)
hungry(1, 0)
del qp(0, 1)["sends_signaled"]' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has not posted a receive for what was sent
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'without any count nothing is under way' heads 'mesh(2)
still()
sends(0, 1)
hungry(1, 0)
del qp(0, 1)["sends_signaled"], qp(0, 1)["sends_posted"]' <<-'END'
	Likely: rank 0 on node0 waits for rank 1 on node0, which has no message for it under way
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'what a peer looked like before says nothing of its receives' heads 'mesh(2)
still()
sends(0, 1)
hungry(1, 0)
RANKS[1]["time"] = "2026-01-31T11:59:00.000Z"' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, where nothing visible holds it up
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'of two requests that wait, the one is told that says more' finds 'mesh(2)
for state in RANKS:
    state["qps"] += [{**found, "qp_num": found["qp_num"] + 100, "dest_qp_num": found["dest_qp_num"] + 100} for found in state["qps"]]
still()
for n, opcode in enumerate(("IBV_WR_RDMA_WRITE", "IBV_WR_SEND")):
    mine(0)[n].update(sends_posted=101, sends_signaled=101, oldest_opcode=opcode, oldest_ms=42000)
    mine(1)[n].update(recvs_posted=100)' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2165 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 118 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 4 queue pairs, 2 pairs, 1 finding
END

ok 'be it the first one' finds 'mesh(2)
for state in RANKS:
    state["qps"] += [{**found, "qp_num": found["qp_num"] + 100, "dest_qp_num": found["dest_qp_num"] + 100} for found in state["qps"]]
still()
for n, opcode in enumerate(("IBV_WR_SEND", "IBV_WR_RDMA_WRITE")):
    mine(0)[n].update(sends_posted=101, sends_signaled=101, oldest_opcode=opcode, oldest_ms=42000)
    mine(1)[n].update(recvs_posted=100)' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, which has not posted a receive for what was sent
	  Next: find out where it is, and whether it reposts each receive that it has used; with rnr_retry 7
	    its peers wait forever.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 100
	      receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 4 queue pairs, 2 pairs, 1 finding
END

ok 'a peer whose state is not known' finds 'mesh(2)
still()
sends(0, 1)
del qp(1, 0)["state"]' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, where nothing visible holds it up
	  Next: compare the counters of both ports before and after a minute (rdmaez-doctor): what was sent
	    may be lost on the way.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: state unknown,
	      116 receives posted, 100 completed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a peer whose state and receives are not known' finds 'mesh(2)
still()
sends(0, 1)
del qp(1, 0)["recvs_posted"], qp(1, 0)["state"]' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, where nothing visible holds it up
	  Next: compare the counters of both ports before and after a minute (rdmaez-doctor): what was sent
	    may be lost on the way.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: state unknown
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: SEND under way
	      for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'a send queue that the peer does not poll' finds 'mesh(2)
still()
sends(0, 1, "IBV_WR_RDMA_WRITE")
sends(1, 0, "IBV_WR_RDMA_WRITE")
qp(1, 0)["send_cq"] = 2
RANKS[1]["cqs"] = [{"device": "mlx5_0", "cq_num": 2, "polls": 5, "polled_ms": 42000, "armed": False}]' <<-'END'
	rank 0 on node0 waits for rank 1 on node0, where nothing visible holds it up
	  Next: compare the counters of both ports before and after a minute (rdmaez-doctor): what was sent
	    may be lost on the way.
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: QP 2065 of mlx5_0 port 1: RTS, 116
	      receives posted, 100 completed
	    rank 1, node0, worker[1001], 2026-01-31T12:00:00.001Z: CQ 2 of mlx5_0 was last polled 42.0 s
	      before, and is not armed
	    rank 0, node0, worker[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5_0 port 1: RDMA_WRITE under
	      way for 42.0 s, 1 not completed
	2 processes on 1 host: 2 queue pairs, 1 pair, 1 finding
END

ok 'for whom more wait comes first' heads 'job(9, lambda rank: {0: [8], 1: [8], 2: [8], 3: [7], 4: [7], 5: [6], 6: [5], 7: [3, 4], 8: [0, 1, 2]}[rank])
still()
for rank, peer in ((0, 8), (1, 8), (2, 8), (3, 7), (4, 7), (5, 6)): sends(rank, peer); hungry(peer, rank)' <<-'END'
	3 ranks (0-2) wait for rank 8 on node1, which has not posted a receive for what was sent
	2 ranks (3-4) wait for rank 7 on node0, which has not posted a receive for what was sent
	rank 5 on node0 waits for rank 6 on node0, which has not posted a receive for what was sent
	9 processes on 2 hosts: 12 queue pairs, 6 pairs, 3 findings
END

ok 'sixteen ends of waiting are told' heads 'job(60, lambda rank: [rank // 3 * 3] if rank % 3 else [rank + 1, rank + 2])
still()
for rank in range(60):
    if rank % 3: sends(rank, rank // 3 * 3); hungry(rank // 3 * 3, rank)' <<-'END'
	2 ranks (1-2) wait for rank 0 on node0, which has not posted a receive for what was sent
	2 ranks (4-5) wait for rank 3 on node0, which has not posted a receive for what was sent
	2 ranks (7-8) wait for rank 6 on node0, which has not posted a receive for what was sent
	2 ranks (10-11) wait for rank 9 on node1, which has not posted a receive for what was sent
	2 ranks (13-14) wait for rank 12 on node1, which has not posted a receive for what was sent
	2 ranks (16-17) wait for rank 15 on node1, which has not posted a receive for what was sent
	2 ranks (19-20) wait for rank 18 on node2, which has not posted a receive for what was sent
	2 ranks (22-23) wait for rank 21 on node2, which has not posted a receive for what was sent
	2 ranks (25-26) wait for rank 24 on node3, which has not posted a receive for what was sent
	2 ranks (28-29) wait for rank 27 on node3, which has not posted a receive for what was sent
	2 ranks (31-32) wait for rank 30 on node3, which has not posted a receive for what was sent
	2 ranks (34-35) wait for rank 33 on node4, which has not posted a receive for what was sent
	2 ranks (37-38) wait for rank 36 on node4, which has not posted a receive for what was sent
	2 ranks (40-41) wait for rank 39 on node4, which has not posted a receive for what was sent
	2 ranks (43-44) wait for rank 42 on node5, which has not posted a receive for what was sent
	2 ranks (46-47) wait for rank 45 on node5, which has not posted a receive for what was sent
	60 processes on 8 hosts: 80 queue pairs, 40 pairs, 16 findings
END

# --- Files -------------------------------------------------------------------------------------------------------------

# One good file among what is none.
broken_files() {
	local good cut
	rm -rf "$scratch/job" "$scratch/files"
	mkdir -p "$scratch/files/directory.json"
	tests/tools/states.py "$scratch/job" 'mesh(2)'
	good=$(<"$scratch/job/0.json")
	cut=$(<"$scratch/job/1.json")
	cp "$scratch/job/1.json" "$scratch/files/00.json"
	printf '%s\n%s' "$good" "${cut%%,\"sends_posted\"*}" >"$scratch/files/01.json"
	: >"$scratch/files/02.json"
	head -c 5000 /dev/zero >"$scratch/files/03.json"
	printf '%s\n' "${good/\"pid\":1000/\"pid\":-1}" "${good/\"rank\":0/\"rank\":5000000000}" >"$scratch/files/04.json"
	echo "{\"a\":$(printf '[%.0s' {1..100})" >"$scratch/files/05.json"
	printf '%s\n' "${good/\"host\":\"node0\",/}" >"$scratch/files/06.json"
	printf '%s\n' "${good/\"ports\":/\"qps\":}" >"$scratch/files/07.json"
	printf '%s\n' "${good/12:00/24:00}" >"$scratch/files/08.json"
	printf '%s\n' "${good%\}} , \"x\": 01}" >"$scratch/files/09.json"
	printf '%s\n' "${good/RoCE v2/RoCE$'\e'[31m}" >"$scratch/files/10.json"
	printf '%s\n' "$good trailing" >"$scratch/files/11.json"
	ln -s /dev/zero "$scratch/files/12.json"
	ln -s nowhere "$scratch/files/13.json"
	mkfifo "$scratch/files/14.json"
	truncate --size=300M "$scratch/files/15.json"
	cp "$scratch/files/03.json" "$scratch/files/$(printf '16\e]0;title\a.json')"
	compared "$scratch/files"
	diff "$scratch/page" -
	[[ $code == 1 ]]
}

ok 'what is wrong with a file is said, and the others are compared' broken_files <<-'END'
	Not read: directory.json: not a regular file
	Not read: 01.json: line 2 is cut off: not JSON: an object has no end
	Not read: 03.json: line 1 is cut off: not JSON: no object
	Not read: 04.json: line 1 and 1 more: a number where only 0, 1, 2 and so on will do
	Not read: 05.json: line 1: it is nested too deeply
	Not read: 06.json: line 1: a state without program, pid, host or time
	Not read: 07.json: line 1: the same array twice
	Not read: 08.json: line 1: an invalid time
	Not read: 09.json: line 1: not JSON: a number begins with 0
	Not read: 10.json: line 1: not JSON: a control character in a string
	Not read: 11.json: line 1: not JSON: something follows the object
	Not read: 12.json: not a regular file
	Not read: 13.json: No such file or directory
	Not read: 14.json: not a regular file
	Not read: 15.json: larger than 256 MiB
	Not read: 16?]0;title?.json: line 1 is cut off: not JSON: no object
	2 processes on 1 host: 2 queue pairs, 1 pair, 0 findings
	1 file has no state
END

# judges_lines <TABLE>: of each line of JSON, after what is said of it and a tab. STATE stands for what each
# state has, and CONTROL for a character.
judges_lines() {
	local said line number=1000
	rm -rf "$scratch/lines"
	mkdir "$scratch/lines"
	while IFS=$'\t' read -r said line; do
		number=$((number + 1))
		line=${line/CONTROL/$'\x1f'}
		printf '%s\n' "${line/STATE/$whole}" >"$scratch/lines/$number"
		[[ $said == good ]] || echo "Not read: $number: line 1: $said"
	done >"$scratch/wanted"
	(cd "$scratch/lines" && printf '%s\n' * | xargs -n 20 "$tool" --compare) >"$scratch/page" || :
	grep '^Not read' "$scratch/page" | diff - "$scratch/wanted"
}
whole='"program":"w","pid":1,"kind":"state","host":"h","time":"2026-01-31T12:00:00.000Z"'
ok 'each line is read as JSON has it' judges_lines <<-'END'
	not JSON: an escape of four digits has other characters	{"program":"\u00g0"}
	not JSON: an escape of four digits has other characters	{"program":"\u12
	not JSON: an unknown escape	{"program":"\q"}
	not JSON: an unknown escape	{"program":"\
	not JSON: it ends within a string	{"program":"w\"
	not JSON: it ends within a string	{"program":"w
	not JSON: a control character in a string	{"program":"wCONTROL"}
	not JSON: a string is missing	{5:1}
	not JSON: a string is missing	{"program":5}
	not JSON: a colon is missing	{"program" 1}
	a number that is too large	{STATE,"rank":18446744073709551616}
	a number that is too large	{STATE,"rank":4294967296}
	good	{STATE,"rank":4294967295}
	good	{STATE,"qps":[{"sends_posted":18446744073709551615}]}
	a number that is too large	{STATE,"qps":[{"sends_posted":18446744073709551616}]}
	a number where only 0, 1, 2 and so on will do	{STATE,"rank":01}
	a number where only 0, 1, 2 and so on will do	{STATE,"rank":1.5}
	a number where only 0, 1, 2 and so on will do	{STATE,"rank":1e3}
	a number where only 0, 1, 2 and so on will do	{STATE,"rank":1E3}
	a number where only 0, 1, 2 and so on will do	{STATE,"rank":-1}
	a number where only 0, 1, 2 and so on will do	{STATE,"rank":"1"}
	a number where only 0, 1, 2 and so on will do	{STATE,"rank":
	good	{STATE,"rank":0}
	not JSON: a number without digits	{STATE,"x":-}
	not JSON: a number without digits	{STATE,"x":1.}
	not JSON: a number without digits	{STATE,"x":1.5e}
	not JSON: a number without digits	{STATE,"x":1e+
	not JSON: a number begins with 0	{STATE,"x":00}
	not JSON: a number begins with 0	{STATE,"x":-09}
	good	{STATE,"x":[0,-0.5,1.25E+10,2e-3,1e5,10,-7,true,false,null,"a",{},[],{"y":[{"z":1}]}]}
	good	 { "x" : [ 1 , { "y" : 2 , "z" : [ ] } ] , STATE , "qps" : [ { } , { } ] , "rank" : 7 }
	not JSON: it ends too early	{STATE,"x":
	not JSON: no value where one should be	{STATE,"x":nil}
	not JSON: no value where one should be	{STATE,"x":tru
	not JSON: a colon is missing	{STATE,"x":{"y" 1}}
	not JSON: an object or array has no end	{STATE,"x":{"y":1 "z":2}}
	not JSON: an object or array has no end	{STATE,"x":[1 2]}
	not JSON: an object or array has no end	{STATE,"x":[1}
	not JSON: a string is missing	{STATE,"x":{1:2}}
	not JSON: an object has no end	{STATE
	not JSON: no object	5
	not JSON: something follows the object	{STATE} 5
	good	{STATE,"x":[[[[[[[[[[[[[[1]]]]]]]]]]]]]]}
	good	{STATE,"x":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]}
	it is nested too deeply	{STATE,"x":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}
	no array where one is expected	{STATE,"qps":5}
	no object where one is expected	{STATE,"qps":[5]}
	no object where one is expected	{STATE,"qps":[{},]}
	not JSON: an array has no end	{STATE,"qps":[{} {}]}
	not JSON: an array has no end	{STATE,"qps":[{}
	not JSON: an object has no end	{STATE,"qps":[{"port":1
	good	{STATE,"qps":[],"cqs":[{}],"srqs":[{}],"mrs":[{}],"ports":[{}],"gids":[{}]}
	good	{STATE,"qps":null,"qps":[{}]}
	the same array twice	{STATE,"qps":[{}],"qps":[{}]}
	good	{STATE,"stopped":false,"qps":[{"gone":true,"x":1},{"gone":false}],"rank":null}
	neither true nor false	{STATE,"qps":[{"gone":5}]}
	neither true nor false	{STATE,"stopped":"true"}
	good	{STATE,"qps":[{"gid":"10.0.0.1"},{"gid":"fe80::1"}]}
	an invalid GID	{STATE,"qps":[{"gid":"fe80::1::"}]}
	an invalid GID	{STATE,"qps":[{"gid":"10.0.0"}]}
	an invalid GID	{STATE,"qps":[{"gid":""}]}
	not JSON: a string is missing	{STATE,"qps":[{"gid":5}]}
	not JSON: a string is missing	{STATE,"time":5}
	an invalid time	{STATE,"time":"2026-01-31 12:00:00.000Z"}
	an invalid time	{STATE,"time":"2026-01-31T12:00:00.000"}
	an invalid time	{STATE,"time":"2026-01-31T12:00:00.000ZZ"}
	an invalid time	{STATE,"time":"1969-12-31T12:00:00.000Z"}
	an invalid time	{STATE,"time":"2026-00-31T12:00:00.000Z"}
	an invalid time	{STATE,"time":"2026-13-31T12:00:00.000Z"}
	an invalid time	{STATE,"time":"2026-01-00T12:00:00.000Z"}
	an invalid time	{STATE,"time":"2026-01-32T12:00:00.000Z"}
	an invalid time	{STATE,"time":"2026-01-31T24:00:00.000Z"}
	an invalid time	{STATE,"time":"2026-01-31T12:60:00.000Z"}
	an invalid time	{STATE,"time":"2026-01-31T12:00:61.000Z"}
	an invalid time	{STATE,"time":"2026-01-31T12:00:00.00:Z"}
	an invalid time	{STATE,"time":"2026-01-31T12:00:00.00/Z"}
	a state without program, pid, host or time	{"kind":"state"}
	a state without program, pid, host or time	{"kind":"state","pid":1,"host":"h","time":"2026-01-31T12:00:00.000Z"}
	a state without program, pid, host or time	{"kind":"state","program":"w","host":"h","time":"2026-01-31T12:00:00.000Z"}
	a state without program, pid, host or time	{"kind":"state","program":"w","pid":1,"time":"2026-01-31T12:00:00.000Z"}
	a state without program, pid, host or time	{"kind":"state","program":"w","pid":1,"host":"h"}
	good	{"kind":"summary","x":5.5}
	good	{}
	good	{"kind":"summary","qps":[{"qp_num":1}]}
END

# Two states of a rank at a time, over months, leap years and centuries.
shows_times() {
	local times=(1970-01-01T00:00:00.000Z 1999-12-31T23:59:59.999Z 2000-02-29T01:02:03.004Z 2024-02-29T12:00:00.010Z
		2024-03-01T00:00:00.100Z 2025-02-28T23:59:59.090Z 2026-07-31T10:20:30.456Z 2026-11-30T09:08:07.065Z
		2100-03-01T00:00:00.000Z 2399-12-31T23:00:00.000Z) i
	for ((i = 0; i < ${#times[@]}; i += 2)); do
		printf '{%s,"rank":0,"qps":[{"qp_num":1}]}\n' "${whole/2026*Z/${times[i]}}" \
			"${whole/1,*/2,\"kind\":\"state\",\"host\":\"h\",\"time\":\"${times[i + 1]}\"}" >"$scratch/times"
		"$tool" --compare "$scratch/times" >"$scratch/page" || :
		diff "$scratch/page" - <<-END
			Likely: these are files of two runs: rank 0 on h is there twice
			  What is said here may mix the two runs. Next: compare only the files of one run.
			    rank 0, h, w[1], ${times[i]}: queue pairs: 1
			    rank 0, h, w[2], ${times[i + 1]}: queue pairs: 1
			2 processes on 1 host: 2 queue pairs, 0 pairs, 1 finding
		END
	done
}
ok 'times are read as they are shown' shows_times

# Twenty files that are not read are named, and 4096 counted.
names_twenty() {
	echo 5 >"$scratch/none"
	cd "$scratch"
	printf 'none\n%.0s' {1..4100} | xargs -n 5000 "$tool" --compare >page || :
	diff page - <<-END
		$(printf 'Not read: none: line 1: not JSON: no object\n%.0s' {1..20})
		Not read: 4076 more
		0 processes on 0 hosts: 0 queue pairs, 0 pairs, 0 findings
		4 files have no state
	END
}
ok 'of many files that are not read, twenty are named' names_twenty

# The end of a long path tells one file from another.
shortens_paths() {
	local long
	long=$scratch/$(printf 'very-long-%.0s' {1..12})
	echo 5 >"$long"
	"$tool" --compare "$long" >"$scratch/page" || :
	[[ $(head -n 1 "$scratch/page") == "Not read: ${long: -89}: line 1: not JSON: no object" ]]
}
ok 'a long path is shown by its end' shortens_paths

# What a terminal would obey is shown as a question mark, by JSON's escapes as by itself.
shows_plainly() {
	page 'mesh(2)
RANKS[0]["host"] = "evil\u001b[2Jhost\u202e"
RANKS[0]["program"] = "caf\u00e9\u007f\u009b31m"
qp(0, 1)["device"] = "mlx5\u0000\n"
qp(0, 1)["path_mtu"] = 256'
	grep -F 'rank 0, evil?[2Jhost?, caf???31m[1000], 2026-01-31T12:00:00.000Z: QP 18 of mlx5?? port 1:' "$scratch/page"
	! LC_ALL=C grep -n '[^ -~]' "$scratch/page"
}

ok 'names are shown without what a terminal obeys' shows_plainly

no_states() {
	rm -rf "$scratch/job"
	mkdir "$scratch/job"
	echo '{"program":"a","pid":1,"kind":"summary"}' >"$scratch/job/0.json"
	: >"$scratch/job/1.json"
	compared "$scratch/job"
	diff "$scratch/page" - <<-'END'
		0 processes on 0 hosts: 0 queue pairs, 0 pairs, 0 findings
		2 files have no state
	END
	[[ $code == 1 ]]
}

ok 'files without a state are no proof that all is well' no_states

# misused WORDS ARG...
misused() {
	ends 2 "${@:2}"
	[[ ! -s $scratch/out && $(<"$scratch/err") == "rdmaez-explain: $1; --help lists the options" ]]
}

ok 'a comparison needs a file' misused 'no file after --compare' --compare
ok 'a comparison takes no other option' misused '--compare cannot be combined with another option: --line' --compare --line
ok 'a comparison takes no option before it' misused '--compare cannot be combined with another option' --line --compare file

full_disk() {
	code=0
	"$tool" --compare "$scratch/job/0.json" >/dev/full || code=$?
	[[ $code == 125 ]]
}

ok 'a page that cannot be written is a failure' full_disk

# valid FILE...: by the schema.
valid() {
	local file
	for file; do
		/usr/bin/python3 -m jsonschema --error-format $'{error.json_path}: {error.message}\n' \
			--instance "$file" docs/schema/explain.schema.json
	done
}

# Every member of the structs, and no other, is in the schema.
members_agree() {
	tr -d '\\\n\t' <tools/explain/state.h | grep -oE 'X\( *(TEXT|U32|U64|TIME|BOOL|GID), *[a-z_]+' |
		sed 's/.* //; s/^time_ms$/time/' | sort -u >"$scratch/members"
	(($(wc -l <"$scratch/members") > 60))
	jq -r '."$defs".state.properties | ., (.[] | .items? // empty | .properties) | keys[]' "$1" |
		grep -vE '^(ports|gids|qps|cqs|srqs|mrs)$' | sort -u | diff "$scratch/members" -
}

tests/tools/states.py "$scratch/sample" 'mesh(2)
reads()
RANKS[0].update(mrs=[region(gone=True)], srqs=[{"device": "mlx5_0", "srq_num": 5, "posted": 64, "completed": 64}],
    cqs=[{"device": "mlx5_0", "cq_num": 1, "polled_ms": 42000, "armed": False}])'
ok 'a state follows the schema' valid "$scratch/sample"/*.json
# A state as a program has it in memory; the ranks of two launchers, of which the inner one counts.
writes_a_state() {
	gcc -std=c11 -D_GNU_SOURCE -Itools/explain -x c - -x none tools/explain/state.c -o "$scratch/write" <<-'END'
		#include <stdio.h>
		#include "state.h"
		int main(void)
		{
			struct explain_state_qp qp = {.device = "mlx5_0"};
			struct explain_state_mr mr[2] = {{.device = "a\"b\\\n"}};
			struct explain_state state = {.program = "worker", .host = "node0", .qps = &qp, .qps_count = 1,
						      .mrs = mr, .mrs_count = 2};
			char line[1024];
			size_t length;

			EXPLAIN_STATE_SET(PROCESS, &state, pid, 7);
			EXPLAIN_STATE_SET(PROCESS, &state, time_ms, UINT64_C(1709210096789));
			explain_state_rank(&state);
			EXPLAIN_STATE_SET(QP, &qp, qp_num, 0);
			EXPLAIN_STATE_SET(QP, &qp, gone, true);
			EXPLAIN_STATE_SET(QP, &qp, sends_posted, UINT64_MAX);
			EXPLAIN_STATE_SET(QP, &qp, gid, ((struct explain_gid){{0xfe, 0x80, [15] = 1}}));
			length = explain_state_write(&state, line, sizeof(line));
			fputs(line, stdout);
			printf("%d\n", explain_state_write(&state, line, 5) == length && line[4] == 0);
			return 0;
		}
	END
	OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=x SLURM_NTASKS=8 SLURM_PROCID=0 "$scratch/write" >"$scratch/line"
	diff "$scratch/line" - <<-'END'
		{"program":"worker","pid":7,"kind":"state","host":"node0","time":"2024-02-29T12:34:56.789Z","rank":3,"ranks":8,"qps":[{"device":"mlx5_0","qp_num":0,"gone":true,"gid":"fe80::1","sends_posted":18446744073709551615}],"mrs":[{"device":"a\"b\\?"},{}]}
		1
	END
	SLURM_PROCID=2 RANK=5 "$scratch/write" | grep -q '"rank":5}\?'
	PMI_RANK=-1 "$scratch/write" >"$scratch/line"
	! grep 'rank' "$scratch/line"
}

ok 'a state is written' writes_a_state
ok 'the schema has all members of a state' members_agree docs/schema/explain.schema.json
fails 'a member that the schema lacks is noticed' 'srq_num' \
	members_agree <(jq 'del(."$defs".state.properties.srqs.items.properties.srq_num)' docs/schema/explain.schema.json)

# --- Time --------------------------------------------------------------------------------------------------------------

# in_time SCRIPT SECONDS: of the processor, which others may keep busy.
in_time() {
	local TIMEFORMAT='%U %S' user system
	rm -rf "$scratch/job"
	tests/tools/states.py "$scratch/job" "$1"
	{ time compared "$scratch/job"; } 2>"$scratch/time"
	read -r user system <"$scratch/time"
	echo "# $user s and $system s of the system for $(find "$scratch/job" -type f | wc -l) files"
	awk "BEGIN { exit !($user + $system < $2) }"
	head -n 1 "$scratch/page"
	[[ $(head -n 1 "$scratch/page") == 'rank 700 on node87 disagrees with 16 ranks (692-699, 701-708): path_mtu 1024 against 4096' ]]
}

ok '1,024 files of 16 queue pairs each take less than 3 s of a processor' in_time 'near(1024, 8)
for found in mine(700): found["path_mtu"] = 1024' 3

# --- That the tests see it ---------------------------------------------------------------------------------------------

# seeded NAME FILE SCRIPT: the launcher, with SCRIPT, of sed, done to FILE.
seeded() {
	cp -r tools/explain "$scratch/$1"
	sed -i "$3" "$scratch/$1/$2"
	! diff -r tools/explain "$scratch/$1" >/dev/null || echo "nothing was seeded by $3" >&2
	gcc -std=c11 -g -D_GNU_SOURCE "$scratch/$1"/{main,core,summary,wants,judge,record,state,compare*}.c -o "$scratch/$1/rdmaez-explain"
	echo "$scratch/$1/rdmaez-explain"
}

# with TOOL COMMAND...
with() {
	tool=$1
	"${@:2}"
}

fails 'a PSN of more than 24 bits is noticed' 'sq_psn' \
	with "$(seeded psn compare.c 's/(qp->sq_psn ^ other->rq_psn) & 0xffffff/qp->sq_psn != other->rq_psn/')" \
	finds_nothing 'mesh(2)
qp(0, 1)["sq_psn"] += 1 << 24'
fails 'a value made up for a missing one is noticed' 'path_mtu 0 against' \
	with "$(seeded missing compare.c 's/if (HAS(end, member) && HAS(peer, member) && qp/if (qp/')" \
	finds_nothing 'mesh(2)
del qp(0, 1)["path_mtu"]'
fails 'a wait that is none is noticed' 'wait' \
	with "$(seeded idle compare_wait.c 's/return end->qp->idle_ms >= IDLE_MS;/return true;/')" \
	finds_nothing 'mesh(3)
sends(0, 1)
hungry(1, 0)'
done_testing
