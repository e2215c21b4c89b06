#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of counters: names of several drivers that grow while it watches, totals, and those that it
# does not know. That its names are the drivers' was read in the kernel's source; tests/device/doctor_port.t makes real
# ones grow.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

mlx5=/sys/class/infiniband/mlx5_0/ports/1
bnxt=/sys/class/infiniband/bnxt_re0/ports/1
irdma=/sys/class/infiniband/irdma0
quiet='no error was counted in 1 s; no packets passed either: watch longer, while a program runs'

# counter PATH=NUMBER...
counters() {
	local item
	for item; do
		put "${item%%=*}" "${item#*=}"
	done
}

quiet_port() {
	fresh
	roce mlx5_0
	counters $mlx5/hw_counters/{out_of_buffer,out_of_sequence,packet_seq_err}=7 $mlx5/hw_counters/lifespan=10 \
		$mlx5/hw_counters/{req_cqe_flush_error,np_cnp_sent,rx_write_requests}=7 $mlx5/counters/port_xmit_wait=5
	says counters 0 <<<"ok   counters mlx5_0/1: $quiet"
}

no_counters() {
	fresh
	roce mlx5_0
	counters sys/class/net/eth0/carrier_changes=2 # says nothing of RDMA
	says counters 0 <<-END
		note counters mlx5_0/1: rdmaez-doctor knows no counters of its driver
		       $mlx5/hw_counters
	END
}

totals() {
	fresh
	roce mlx5_0
	counters $mlx5/hw_counters/{req_transport_retries_exceeded,req_cqe_error}=3 $mlx5/counters/link_downed=1 \
		sys/class/net/eth0/carrier_changes=10
	says counters 0 <<-END
		note counters mlx5_0/1: req_cqe_error is 3: a program asked for something that its keys, bounds or lengths do not allow; the network is not the cause
		       $mlx5/hw_counters/req_cqe_error: 3, then 3
		     > run the program as rdmaez-explain COMMAND, which names the field
		note counters mlx5_0/1: req_transport_retries_exceeded is 3: this side gave up because the peer did not answer: IBV_WC_RETRY_EXC_ERR
		       $mlx5/hw_counters/req_transport_retries_exceeded: 3, then 3
		     > check that the way is open in both directions: rdmaez-doctor --peer HOST
		note counters mlx5_0/1: link_downed is 1: the link was lost
		       $mlx5/counters/link_downed: 1, then 1
		     > cable, transceiver, switch
		note counters mlx5_0/1: carrier_changes is 10: the link goes up and down
		       /sys/class/net/eth0/carrier_changes: 10, then 10
		     > check the cable, the transceiver and the switch's log; GID indices may change each time
		ok   counters mlx5_0/1: $quiet
	END
}

# Some counters of InfiniBand stay at their end.
ended() {
	fresh
	infiniband mlx5_0
	counters $mlx5/counters/{symbol_error=65535,port_rcv_errors=65534,port_xmit_wait=4294967295}
	says counters 0 <<-END
		note counters mlx5_0/1: port_xmit_wait is 4294967295, the most that it can hold, so it no longer counts
		       $mlx5/counters/port_xmit_wait: 4294967295, then 4294967295
		     > perfquery -R # as root: resets it
		note counters mlx5_0/1: symbol_error is 65535, the most that it can hold, so it no longer counts
		       $mlx5/counters/symbol_error: 65535, then 65535
		     > perfquery -R # as root: resets it
		ok   counters mlx5_0/1: $quiet
	END
}

# One of each kind, of three drivers; what nobody knows grows most.
growing() {
	local loss='look for drops in the switches and at the peer; check PFC or ECN at both ends'
	fresh
	roce mlx5_0
	roce bnxt_re0 eth1
	roce irdma0 eth2
	counters $mlx5/hw_counters/{out_of_buffer,rnr_nak_retry_err,np_ecn_marked_roce_packets,unheard_of}=1 \
		$mlx5/hw_counters/{vport_out_of_sequence,req_cqe_flush_error,rx_read_requests}=1 \
		$bnxt/hw_counters/{oos_drop_count,to_retransmits,rx_pkts}=1 $irdma/hw_counters/{cnpIgnored,RxUDP}=1 \
		sys/class/net/eth2/carrier_changes=2
	changes counters counters $mlx5/hw_counters/{out_of_buffer,rnr_nak_retry_err,np_ecn_marked_roce_packets}=11 \
		$mlx5/hw_counters/{vport_out_of_sequence,req_cqe_flush_error,rx_read_requests}=11 \
		$mlx5/hw_counters/unheard_of=99 \
		$bnxt/hw_counters/rx_pkts=5 $irdma/hw_counters/cnpIgnored=18446744073709551615 \
		sys/class/net/eth2/carrier_changes=4 <<-END
			ok   counters bnxt_re0/1: no error was counted in 1 s; packets passed
			WARN counters irdma0/1: cnpIgnored grew by 18446744073709551614 in 1 s: this port was told of congestion, and did not slow down
			       $irdma/hw_counters/cnpIgnored: 1, then 18446744073709551615
			     > turn on congestion control (DCQCN) for the priority of the traffic
			WARN counters irdma0/1: carrier_changes grew by 2 in 1 s: the link goes up and down
			       /sys/class/net/eth2/carrier_changes: 2, then 4
			     > check the cable, the transceiver and the switch's log; GID indices may change each time
			note counters mlx5_0/1: np_ecn_marked_roce_packets grew by 10 in 1 s: packets arrived with the mark of a congested switch: many senders use this port at once
			       $mlx5/hw_counters/np_ecn_marked_roce_packets: 1, then 11
			WARN counters mlx5_0/1: out_of_buffer grew by 10 in 1 s: messages arrived while no receive was posted
			       $mlx5/hw_counters/out_of_buffer: 1, then 11
			     > post receives earlier, and more of them: use a larger max_recv_wr, or an SRQ
			WARN counters mlx5_0/1: rnr_nak_retry_err grew by 10 in 1 s: the peer had no receive posted, so this side waited and sent again
			       $mlx5/hw_counters/rnr_nak_retry_err: 1, then 11
			     > look at the peer: it posts its receives later than the messages arrive
			WARN counters mlx5_0/1: vport_out_of_sequence grew by 10 in 1 s: packets were lost or overtaken on the way to this port
			       $mlx5/hw_counters/vport_out_of_sequence: 1, then 11
			     > $loss
		END
}

# Without a process for each: the doctor waits five seconds for a file.
all_are() {
	local name
	mkdir -p "$tree$mlx5/hw_counters"
	while read -r name; do
		echo "$1" >"$tree$mlx5/hw_counters/$name"
	done <"$scratch/names"
}

# Every name of the lists is found: all grow at once, and each has a line, but for traffic and what is normal.
every_name() {
	sed -n '/^#define RDMA_COUNTERS/,/TRAFFIC/p' tools/doctor/counters.h | tr -d '\\\n\t' |
		grep -oE 'X\("[^,]*"[^"]*"[^"]*", *COUNTER_(GROWTH|ANY_AT_ALL|BUSY)' |
		sed -E 's/" *"//g; s/^X\("([^"]*)".*/\1/' | tr '|' '\n' | sort -u >"$scratch/names"
	(($(wc -l <"$scratch/names") > 120))
	fresh
	roce mlx5_0
	all_are 0
	changes counters all_are 1 </dev/null >/dev/null || :
	sed -nE 's/^(WARN|note) counters mlx5_0\/1: (.*) grew by 1 in 1 s: .*/\2/p' "$scratch/out" | sort |
		diff "$scratch/names" -
}

# ethtool [LATER/]NETDEV LINE...: the counters of an interface
ethtool() {
	mkdir -p "$tree/${1%/*}"
	printf '%s\n' "${@:2}" >"$tree/$1"
}

# What SIOCETHTOOL counts is found by its name, and read by its place among all.
of_an_interface() {
	fresh
	roce mlx5_0
	roce mlx5_1 eth1
	ethtool ethtool/eth0 rx_bytes=5 carrier_changes=1 rx_prio3_pause=2 rx_prio4_pause=7 rx_discards_phy=0
	ethtool ethtool/eth1 rx_discards_phy=3 rx_bytes=4
	ethtool later/ethtool/eth0 rx_bytes=9 carrier_changes=2 rx_prio3_pause=13 rx_prio4_pause=7 rx_discards_phy=1
	ethtool later/ethtool/eth1 rx_discards_phy=3 rx_bytes=9
	on_it 0 --only counters <<-'END'
		note counters mlx5_0/1: rx_prio3_pause grew by 11 in 1 s: the switch asked this port to pause because of congestion beyond it; if the priority is not lossless, PFC is set up wrongly
		  ethtool -S eth0, rx_prio3_pause: 2, then 13
		warning counters mlx5_0/1: rx_discards_phy grew by 1 in 1 s: the adapter dropped packets because it had no room for them
		  ethtool -S eth0, rx_discards_phy: 0, then 1
		> set up PFC for the priority of RDMA, or ECN; check whether the slot is too slow: --only slot
		note counters mlx5_0/1: rdmaez-doctor knows no counters of its driver
		  /sys/class/infiniband/mlx5_0/ports/1/hw_counters
		note counters mlx5_1/1: rx_discards_phy is 3: the adapter dropped packets because it had no room for them
		  ethtool -S eth1, rx_discards_phy: 3, then 3
		> set up PFC for the priority of RDMA, or ECN; check whether the slot is too slow: --only slot
		note counters mlx5_1/1: rdmaez-doctor knows no counters of its driver
		  /sys/class/infiniband/mlx5_1/ports/1/hw_counters
	END
	# Meanwhile they are others, and cannot be read.
	ethtool later/ethtool/eth0 rx_bytes=9 carrier_changes=99
	ethtool later/ethtool/eth1 'refuse stats' rx_discards_phy=9 rx_bytes=9
	on_it 0 --only counters <<-'END'
		note counters mlx5_0/1: rdmaez-doctor knows no counters of its driver
		  /sys/class/infiniband/mlx5_0/ports/1/hw_counters
		note counters mlx5_1/1: rx_discards_phy is 3: the adapter dropped packets because it had no room for them
		  ethtool -S eth1, rx_discards_phy: 3, then 3
		> set up PFC for the priority of RDMA, or ECN; check whether the slot is too slow: --only slot
		note counters mlx5_1/1: rdmaez-doctor knows no counters of its driver
		  /sys/class/infiniband/mlx5_1/ports/1/hw_counters
	END
	ethtool ethtool/eth0 'refuse strings' rx_prio3_pause=2
	ethtool ethtool/eth1 'refuse stats' rx_discards_phy=1 rx_bytes=1
	ethtool later/ethtool/eth0 rx_prio3_pause=4
	ethtool later/ethtool/eth1 rx_discards_phy=9 rx_bytes=9
	on_it 0 --only counters <<-'END'
		note counters mlx5_0/1: rdmaez-doctor knows no counters of its driver
		  /sys/class/infiniband/mlx5_0/ports/1/hw_counters
		note counters mlx5_1/1: rdmaez-doctor knows no counters of its driver
		  /sys/class/infiniband/mlx5_1/ports/1/hw_counters
	END
}

ok 'counters that do not grow' quiet_port
ok 'a driver without counters' no_counters
ok 'totals that matter' totals
ok 'counters that have ended' ended
ok 'counters that grow' growing
ok 'every name' every_name
ok 'counters of an interface' of_an_interface
ok 'what a peer says of its counters' runs growth "$PWD/tools/doctor/growth.c"
sed 's/strlen(name) == length .*/strstr(growth, name))/' tools/doctor/growth.c >"$scratch/any.c"
fails 'sees a counter in any words' 'no_dup_req' runs growth "$scratch/any.c"

done_testing
