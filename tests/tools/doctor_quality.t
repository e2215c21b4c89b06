#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of priorities: by files of MLNX_OFED on machines made of files, and what it reads of the
# kernel's own answer, by tests/tools/dcb.c under the sanitizers.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

# port PFC TRUST [TCLASS]: of mlx5_0 on eth0, with the files of MLNX_OFED
port() {
	fresh
	roce mlx5_0
	put sys/class/net/eth0/qos/pfc "$1"
	put sys/class/net/eth0/qos/trust "$2"
	[[ -z ${3-} ]] || put sys/class/infiniband/mlx5_0/tc/1/traffic_class "$3"
}

nothing_known() {
	fresh
	roce mlx5_0
	says quality 0 </dev/null
	port 8 dscp
	says quality 0 </dev/null
}

no_pfc() {
	port 00000000 dscp
	says quality 0 <<-END
		note quality mlx5_0/1: no priority is lossless (PFC is off): if a switch or this port is full, packets are dropped and sent again
		       /sys/class/net/eth0/qos/pfc: 00000000
		       /sys/class/net/eth0/qos/trust: dscp
		     > if the network is meant to be lossless, set PFC here and in every switch: dcb pfc set dev eth0 prio-pfc 3:on, or mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0
	END
}

tags() {
	port 00010000 pcp 'Global tclass=106'
	says quality 0 <<-END
		WARN quality mlx5_0/1: packets without a VLAN tag have priority 0, but only priority 3 is protected from loss (PFC)
		       /sys/class/net/eth0/qos/pfc: 00010000
		       /sys/class/net/eth0/qos/trust: pcp
		       /sys/class/infiniband/mlx5_0/tc/1/traffic_class: 106
		     > as root: mlnx_qos -i eth0 --trust dscp, or: dcb app add dev eth0 dscp-prio 26:3; then set the traffic class of DSCP 26, 104
	END
	port 11000000 pcp
	says quality 0 <<-END
		ok   quality mlx5_0/1: packets without a VLAN tag have priority 0, which is protected from loss (PFC)
	END
}

# map [NOISE]: all DSCPs of eth0, eight to a priority
map() {
	local dscp
	put sys/class/net/eth0/qos/dscp2prio 'dscp   prio' "$@" "$(for dscp in {0..63}; do echo "$dscp $((dscp / 8))"; done)"
}

# Where the trust is a file, so is the map.
mapped() {
	port 00010000 dscp
	map 'x 1' '64 3' '26 8' '-1 3'
	says quality 0 <<-END
		note quality mlx5_0/1: packets of programs that set no traffic class have priority 0, but only priority 3 is protected from loss (PFC)
		       /sys/class/net/eth0/qos/pfc: 00010000
		       /sys/class/net/eth0/qos/trust: dscp
		       /sys/class/net/eth0/qos/dscp2prio: 64 DSCPs have a priority
		     > set traffic class 96, DSCP 24: path.traffic_class, UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC
	END
	put sys/class/infiniband/mlx5_0/tc/1/traffic_class 'Global tclass=106'
	says quality 0 <<-END
		ok   quality mlx5_0/1: packets of traffic class 106, DSCP 26, which the device uses for all queue pairs, have priority 3, which is protected from loss (PFC)
	END
	put sys/class/net/eth0/qos/trust pcp
	line 'WARN quality mlx5_0/1: packets without a VLAN tag have priority 0, .*' --only quality
}

# What leads to which priority no file says.
no_map() {
	port 00011000 dscp 'Global tclass=106'
	says quality 0 <<<'ok   quality mlx5_0/1: priorities 3, 4 are protected from loss (PFC)'
}

ecn() {
	port 00010000 dscp
	put sys/class/net/eth0/ecn/roce_np/enable/3 1
	put sys/class/net/eth0/ecn/roce_rp/enable/3 0
	put sys/class/net/eth0/ecn/roce_rp/enable/4 0
	says quality 0 <<-END
		ok   quality mlx5_0/1: priority 3 is protected from loss (PFC)
		note quality mlx5_0/1: priority 3 does not slow down by ECN: only pauses hold back a sender that is too fast
		       /sys/class/net/eth0/ecn/roce_rp/enable/3: 0
		     > as root: echo 1 >/sys/class/net/eth0/ecn/roce_rp/enable/3
	END
}

ok 'nothing where nothing is known' nothing_known
ok 'a port without PFC' no_pfc
ok 'one that looks at VLAN tags' tags
ok 'a map of DSCPs in a file' mapped
ok 'no conclusion without the map of DSCPs' no_map
ok 'a priority without ECN' ecn

ok "reads the kernel's answer" runs dcb "$PWD/tools/doctor/dcb.c"
sed 's/row.length < sizeof(app)/0/' tools/doctor/dcb.c >"$scratch/beyond.c"
fails 'sees one that reads beyond it' 'AddressSanitizer' runs dcb "$scratch/beyond.c"
done_testing
