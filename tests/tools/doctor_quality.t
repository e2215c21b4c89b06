#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of priorities: by files of MLNX_OFED and by DCB, on machines made of files, and what it reads of
# DCB's answer, by tests/tools/dcb.c under the sanitizers.

# shellcheck disable=SC2046 # words of DCB

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

# dcb DRIVER WORD...: of mlx5_0 on eth0, what DCB tells, and whose interface it is.
dcb() {
	fresh
	roce mlx5_0
	mkdir -p "$tree/sys/class/net/eth0/device"
	ln -s "../../../../bus/pci/drivers/$1" "$tree/sys/class/net/eth0/device/driver"
	kernel "dcb eth0 ${*:2}"
}

# all [FROM]: all DSCPs from this one on, eight to a priority, as adapters have them at first
all() {
	local dscp
	for ((dscp = ${1-0}; dscp < 64; dscp++)); do
		echo "app=5/$dscp/$((dscp / 8))"
	done
}

# tos VALUE: what rdma_cm gives connections
tos() {
	put sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos "$1"
}

fixed() {
	put sys/class/infiniband/mlx5_0/tc/1/traffic_class "Global tclass=$1"
}

# What is said of programs where all() are mapped and priority 3 has PFC.
unset='note quality mlx5_0/1: packets of programs that set no traffic class have priority 0, but only priority 3 is protected from loss (PFC)
  DCB of eth0: pfc_en 0x08
  DCB: trust dscp, 64 DSCPs have a priority
> set traffic class 96, DSCP 24: path.traffic_class, UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC'

# mlx5 trusts DSCPs where it lists them.
asks_dcb() {
	dcb mlx5_core pfc=0x08 $(all)
	on_it 0 --only quality <<-END
		$unset
	END
	dcb mlx5_core pfc=0x84 app=5/0/1 app=5/3/7 app=5/1/2 app=5/1/1 app=5/2/2 app=5/2/3 app=1/4/7 app=5/64/7 app=5/5/8
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets of programs that set no traffic class have priority 1, but only priorities 2, 7 are protected from loss (PFC)
		  DCB of eth0: pfc_en 0x84
		  DCB: trust dscp, 4 DSCPs have a priority
		> set traffic class 4, DSCP 1: path.traffic_class, UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC
	END
	dcb mlx5_core pfc=0x80 app=5/0/1
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets of programs that set no traffic class have priority 1, but only priority 7 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x80
		  DCB: trust dscp, 1 DSCPs have a priority
	END
	dcb mlx5_core pfc=0x01
	on_it 0 --only quality <<-END
		ok quality mlx5_0/1: packets without a VLAN tag have priority 0, which is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x01
		  DCB: trust pcp, 0 DSCPs have a priority
	END
	dcb mlx5_core pfc=0x10 app=1/0/4
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets without a VLAN tag have priority 0, but only priority 4 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x10
		  DCB: trust pcp, 0 DSCPs have a priority
		> as root: mlnx_qos -i eth0 --trust dscp, or: dcb app add dev eth0 dscp-prio 26:3; then set the traffic class of DSCP 26, 104
	END
	dcb mlx5_core pfc=0 app=5/0/1
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: no priority is lossless (PFC is off): if a switch or this port is full, packets are dropped and sent again
		  DCB of eth0: pfc_en 0x00
		  DCB: trust dscp, 1 DSCPs have a priority
		> if the network is meant to be lossless, set PFC here and in every switch: dcb pfc set dev eth0 prio-pfc 3:on, or mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0
	END
}

# Others tell what they trust, since Linux 6.3.
trusts() {
	dcb bnxt_en pfc=0x08 $(all)
	on_it 0 --only quality <<-END
		ok quality mlx5_0/1: priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  rdmaez-doctor does not know which packets have it
	END
	sed -i 's/$/ trust=6 trust=5/' "$tree/netlink"
	on_it 0 --only quality <<-END
		$unset
	END
	sed -i 's/ trust=5//' "$tree/netlink"
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets without a VLAN tag have priority 0, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust pcp, 64 DSCPs have a priority
		> as root: mlnx_qos -i eth0 --trust dscp, or: dcb app add dev eth0 dscp-prio 26:3; then set the traffic class of DSCP 26, 104
	END
	dcb mlx5_core pfc=0x18 trust=5 $(all 1)
	on_it 0 --only quality <<-END
		ok quality mlx5_0/1: priorities 3, 4 are protected from loss (PFC)
		  DCB of eth0: pfc_en 0x18
		  DCB: trust dscp, 63 DSCPs have a priority
		  rdmaez-doctor does not know which packets have it
	END
}

rdma_cm() {
	dcb mlx5_core pfc=0x08 $(all)
	tos 64
	on_it 0 --only quality <<-END
		$unset
		note quality mlx5_0/1: connections of rdma_cm have priority 2, which is not protected from loss (PFC)
		  /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos: 64, DSCP 16
		> as root: echo 96 >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos, or in the program RDMA_OPTION_ID_TOS
	END
	tos 106
	on_it 0 --only quality <<-END
		$unset
		ok quality mlx5_0/1: connections of rdma_cm have priority 3, which is protected from loss (PFC)
	END
	tos 255
	on_it 0 --only quality <<-END
		$unset
		note quality mlx5_0/1: connections of rdma_cm have priority 7, which is not protected from loss (PFC)
		  /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos: 255, DSCP 63
		> as root: echo 96 >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos, or in the program RDMA_OPTION_ID_TOS
	END
	tos 256
	on_it 0 --only quality <<-END
		$unset
	END
	dcb mlx5_core pfc=0x08 app=5/0/1
	tos 0
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets of programs that set no traffic class have priority 1, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust dscp, 1 DSCPs have a priority
		note quality mlx5_0/1: connections of rdma_cm have priority 1, which is not protected from loss (PFC)
		  /sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos: 0, DSCP 0
	END
	tos 4
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets of programs that set no traffic class have priority 1, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust dscp, 1 DSCPs have a priority
	END
}

for_all() {
	dcb mlx5_core pfc=0x08 $(all)
	tos 64
	fixed 106
	on_it 0 --only quality <<-END
		ok quality mlx5_0/1: packets of traffic class 106, DSCP 26, which the device uses for all queue pairs, have priority 3, which is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust dscp, 64 DSCPs have a priority
		  /sys/class/infiniband/mlx5_0/tc/1/traffic_class: 106
	END
	fixed 128
	on_it 0 --only quality <<-END
		warning quality mlx5_0/1: packets of traffic class 128, DSCP 32, which the device uses for all queue pairs, have priority 4, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust dscp, 64 DSCPs have a priority
		  /sys/class/infiniband/mlx5_0/tc/1/traffic_class: 128
		> as root: echo 96 >/sys/class/infiniband/mlx5_0/tc/1/traffic_class # DSCP 24; a class that a program sets does not count
	END
	fixed 0
	on_it 0 --only quality <<-END
		warning quality mlx5_0/1: packets of traffic class 0, DSCP 0, which the device uses for all queue pairs, have priority 0, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust dscp, 64 DSCPs have a priority
		  /sys/class/infiniband/mlx5_0/tc/1/traffic_class: 0
		> as root: echo 96 >/sys/class/infiniband/mlx5_0/tc/1/traffic_class # DSCP 24; a class that a program sets does not count
	END
	fixed 255
	on_it 0 --only quality <<-END
		warning quality mlx5_0/1: packets of traffic class 255, DSCP 63, which the device uses for all queue pairs, have priority 7, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust dscp, 64 DSCPs have a priority
		  /sys/class/infiniband/mlx5_0/tc/1/traffic_class: 255
		> as root: echo 96 >/sys/class/infiniband/mlx5_0/tc/1/traffic_class # DSCP 24; a class that a program sets does not count
	END
	rm -r "$tree/sys/kernel"
	fixed 256
	on_it 0 --only quality <<-END
		$unset
	END
	fixed -1
	on_it 0 --only quality <<-END
		$unset
	END
}

# MLNX_OFED on old kernels: PFC by DCB, but trust and map in files; then no row of DCB says nothing.
files_beside_dcb() {
	dcb mlx5_core pfc=0x08
	put sys/class/net/eth0/qos/trust dscp
	put sys/class/net/eth0/qos/dscp2prio 'dscp prio' '0 1' '26 3' '25 3'
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets of programs that set no traffic class have priority 1, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  /sys/class/net/eth0/qos/trust: dscp
		  /sys/class/net/eth0/qos/dscp2prio: 3 DSCPs have a priority
		> set traffic class 100, DSCP 25: path.traffic_class, UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC
	END
	rm "$tree/netlink"
	on_it 0 --only quality </dev/null
	put sys/class/net/eth0/qos/pfc 00010000
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets of programs that set no traffic class have priority 1, but only priority 3 is protected from loss (PFC)
		  /sys/class/net/eth0/qos/pfc: 00010000
		  /sys/class/net/eth0/qos/trust: dscp
		  /sys/class/net/eth0/qos/dscp2prio: 3 DSCPs have a priority
		> set traffic class 100, DSCP 25: path.traffic_class, UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC
	END
}

# An answer that is none, or one with less than it should have.
other_answers() {
	dcb mlx5_core pfc=0x08
	kernel 'refuse dcb 95'
	on_it 0 --only quality </dev/null
	answer a4 4e
	on_it 0 --only quality <<-END
		note quality mlx5_0/1: packets without a VLAN tag have priority 0, but only priority 3 is protected from loss (PFC)
		  DCB of eth0: pfc_en 0x08
		  DCB: trust pcp, 0 DSCPs have a priority
		> as root: mlnx_qos -i eth0 --trust dscp, or: dcb app add dev eth0 dscp-prio 26:3; then set the traffic class of DSCP 26, 104
	END
	answer a5 4e # longer than it is
	on_it 0 --only quality </dev/null
	answer 10 4e # without its own head
	on_it 0 --only quality </dev/null
	answer a4 12 # to another question
	on_it 0 --only quality </dev/null
	answer a4 02 # an error that is none
	on_it 0 --only quality </dev/null
	kernel 'bytes dcb 14000000'
	on_it 0 --only quality </dev/null
}

# answer LENGTH TYPE: one that says that priority 3 has PFC, as bytes
answer() {
	kernel "bytes dcb ${1}000000 ${2}000000 00000000 00000000 00000000 90000d00 8c000200 0808$(printf '00%.0s' {1..134})"
}

ok 'nothing where nothing is known' nothing_known
ok 'a port without PFC' no_pfc
ok 'one that looks at VLAN tags' tags
ok 'a map of DSCPs in a file' mapped
ok 'no conclusion without the map of DSCPs' no_map
ok 'a priority without ECN' ecn

ok 'what the kernel tells by DCB' asks_dcb
ok 'what is trusted' trusts
ok "rdma_cm's traffic class" rdma_cm
ok 'one for all of a device' for_all
ok "MLNX_OFED's files beside DCB" files_beside_dcb
ok 'other answers' other_answers

ok "reads the kernel's answer" runs dcb "$PWD/tools/doctor/dcb.c"
sed 's/row.length < sizeof(app)/0/' tools/doctor/dcb.c >"$scratch/beyond.c"
fails 'sees one that reads beyond it' 'AddressSanitizer' runs dcb "$scratch/beyond.c"
done_testing
