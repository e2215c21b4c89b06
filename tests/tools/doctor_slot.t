#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of where a device is plugged in, on trees as kernels show them: PCI Express, NUMA, relaxed
# ordering, IOMMU, ACS.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

port=pci0000:00/0000:00:01.0
nic=$port/0000:01:00.0
device=/sys/class/infiniband/mlx5_0/device
well='ok   slot mlx5_0: PCI Express 16 GT/s x16 carries 252 Gbit/s, the ports 100'

plugged() {
	fresh
	roce mlx5_0
	pci $port
	pci $nic mlx5_0
	link $port 16.0 16 16.0 16
	link $nic 16.0 16 16.0 16
}

a_good_slot() {
	plugged
	says slot 0 <<<"$well"
}

slow_link() {
	plugged
	link $nic "$1" "$2" 16.0 16
	says slot 0 <<-END
		WARN slot mlx5_0: PCI Express runs at ${1%.0} GT/s x$2, less than both device and slot support
		       $device: current_link ${1%.0} GT/s x$2, max_link 16 GT/s x16
		       the slot ($device/..): max_link 16 GT/s x16
		     > lspci -vv -s 0000:01:00.0; reseat the card; look for a limit in the firmware's setup
	END
}

slow_slot() {
	plugged
	link $port 8.0 8 8.0 8
	link $nic 8.0 8 16.0 16
	says slot 0 <<-END
		WARN slot mlx5_0: PCI Express carries 63 Gbit/s, but the ports 100: the slot is slower than the device
		       $device: current_link 8 GT/s x8, max_link 16 GT/s x16
		       the slot ($device/..): max_link 8 GT/s x8
		     > put the card into a slot of 16 GT/s x16
	END
}

slow_enough_slot() {
	plugged
	link $port 16.0 8 16.0 8
	link $nic 16.0 8 16.0 16
	says slot 0 <<<'ok   slot mlx5_0: PCI Express 16 GT/s x8 carries 126 Gbit/s, the ports 100'
}

two_ports() {
	plugged
	link $port 8.0 16 8.0 16
	link $nic 8.0 16 8.0 16
	cp -r "$tree/sys/class/infiniband/mlx5_0/ports/1" "$tree/sys/class/infiniband/mlx5_0/ports/2"
	says slot 0 <<-END
		WARN slot mlx5_0: PCI Express carries 126 Gbit/s, but the ports 200: the device cannot do both ports at once
		       $device: current_link 8 GT/s x16, max_link 8 GT/s x16
		       the slot ($device/..): max_link 8 GT/s x16
	END
	put sys/class/infiniband/mlx5_0/ports/2/state '1: DOWN'
	says slot 0 <<<'ok   slot mlx5_0: PCI Express 8 GT/s x16 carries 126 Gbit/s, the ports 100'
}

# carries SPEED WIDTH GBIT: each generation has a code of its own.
carries() {
	plugged
	link $port "$1" "$2" "$1" "$2"
	link $nic "$1" "$2" "$1" "$2"
	put sys/class/infiniband/mlx5_0/ports/1/rate '10 Gb/sec (4X SDR)'
	says slot 0 <<<"ok   slot mlx5_0: PCI Express ${1%.0} GT/s x$2 carries $3 Gbit/s, the ports 10"
}

# A virtual function has no link of its own: that of its physical function counts, and the slot of that.
virtual_function() {
	plugged
	link $port 8.0 16 8.0 16
	link $nic 8.0 16 16.0 16
	pci pci0000:00/0000:01:00.1 mlx5_0
	put sys/devices/pci0000:00/0000:01:00.1/current_link_speed Unknown
	put sys/devices/pci0000:00/0000:01:00.1/current_link_width 0
	ln -s ../0000:00:01.0/0000:01:00.0 "$tree/sys/devices/pci0000:00/0000:01:00.1/physfn"
	says slot 0 <<<'ok   slot mlx5_0: PCI Express 8 GT/s x16 carries 126 Gbit/s, the ports 100'
}

no_pci() {
	fresh
	roce rxe0
	says slot 0 <<<'ok   slot rxe0: not a PCI device'
}

# numa NODE OWN_CPUS: a machine with two nodes, whose second has CPUs 8 to 15 and 24 to 31.
numa() {
	plugged
	mkdir -p "$tree"/sys/devices/system/node/node{0,1}
	put sys/devices/$nic/numa_node "$1"
	put sys/devices/$nic/local_cpulist 8-15,24-31
	put proc/self/status 'Name:	rdmaez-doctor' "Cpus_allowed_list:	$2" 'Mems_allowed:	1'
	says slot 0 < <(echo "$well"; cat)
}

near() {
	numa 1 "$1" <<<'ok   slot mlx5_0: on NUMA node 1, CPUs 8-15,24-31'
}

far() {
	numa 1 "$1" <<-END
		WARN slot mlx5_0: on NUMA node 1 (CPUs 8-15,24-31), but programs started here run on CPUs $1: each transfer crosses the sockets
		       /proc/self/status: Cpus_allowed_list $1
		     > numactl --cpunodebind=1 --membind=1 COMMAND
	END
}

no_node() {
	numa -1 0-31 <<-END
		note slot mlx5_0: its NUMA node is not known, although the machine has several
		       $device/numa_node: -1
		     > measure: numactl --cpunodebind=NODE --membind=NODE ib_write_bw ...
	END
}

# The express capability stands at 0x60, behind one of power management at 0x40; its DevCtl at 0x68.
express() {
	plugged
	config $nic 4096 0x034=40 0x040=0160 0x060=1000 0x068="$1"
	says slot 0 < <(echo "$well"; cat)
}

ordering_off() {
	express 0029 <<-END
		note slot mlx5_0: relaxed ordering is off for the device, which slows it on some processors even if programs ask for IBV_ACCESS_RELAXED_ORDERING
		       $device/config: DevCtl 0x2900
		     > as root: setpci -s 0000:01:00.0 CAP_EXP+8.w=0010:0010, or in the firmware's setup
	END
}

small_reads() {
	express 1009 <<-END
		WARN slot mlx5_0: MaxReadReq is 128 bytes: the device reads memory in pieces that are too small
		       $device/config: DevCtl 0x0910
		     > as root: setpci -s 0000:01:00.0 CAP_EXP+8.w=2000:7000 # 512 bytes
	END
}

hidden_config() {
	plugged
	config $nic 64 0x034=40
	says slot 0 <<-END
		$well
		note slot mlx5_0: only root can read relaxed ordering and the size of read requests
		       $device/config: 64 bytes
	END
}

# A list that leads in a circle, and one that leads nowhere.
broken_config() {
	plugged
	config $nic 4096 0x034=40 0x040=0140
	says slot 0 <<<"$well"
	config $nic 256 0x034=fc
	says slot 0 <<<"$well"
}

iommu() {
	plugged
	put sys/devices/$nic/iommu_group/type "$1"
	says slot 0 < <(echo "$well"; cat)
}

translating() {
	iommu DMA-FQ <<-END
		note slot mlx5_0: the IOMMU translates each of its transfers: registering memory costs more, and so may transfers to GPUs
		       $device/iommu_group/type: DMA-FQ
		     > if you trust the devices, put iommu=pt on the kernel's command line
	END
}

# A switch below the root port has the device at one of its ports and a GPU at another. ACS stands at 0x150, behind
# another extended capability.
switch=$port/0000:01:00.0
behind_switch() {
	fresh
	roce mlx5_0
	pci $port
	pci $switch
	pci $switch/0000:02:01.0
	pci $switch/0000:02:02.0
	pci $switch/0000:02:01.0/0000:03:00.0 mlx5_0
	pci $switch/0000:02:02.0/0000:04:00.0
	put sys/devices/$switch/0000:02:02.0/0000:04:00.0/vendor 0x10de
	put sys/devices/$switch/0000:02:02.0/0000:04:00.0/class 0x030200
	config $switch/0000:02:01.0 4096 0x100=01000115 0x150=0d000100 0x156="$1"
	config $switch/0000:02:02.0 4096 0x100=01000115 0x150=0d000100 0x156="$2"
}

acs_redirects() {
	behind_switch "$1" "$2"
	says slot 0 <<-END
		WARN slot mlx5_0: ACS sends what passes between it and GPU 0000:04:00.0 up to the root complex
		       ACSCtl of $3: P2P request or completion redirect
		     > as root, for each: setpci -s ADDRESS ECAP_ACS+6.w=0000; or for good, in the firmware's setup
	END
}

# Source validation alone (0x01) redirects nothing.
acs_off() {
	behind_switch 0100 0000
	says slot 0 <<<'ok   slot mlx5_0: no ACS redirection between it and GPU 0000:04:00.0'
}

acs_hidden() {
	behind_switch 0000 0000
	config $switch/0000:02:02.0 64
	says slot 0 <<<'note slot mlx5_0: only root can read whether ACS slows what passes between it and GPU 0000:04:00.0'
}

# Only the root complex is common: ACS changes nothing.
far_gpu() {
	behind_switch 1d00 1d00
	mkdir -p "$tree/sys/devices/pci0000:00/0000:00:02.0"
	mv "$tree/sys/devices/$switch/0000:02:02.0/0000:04:00.0" "$tree/sys/devices/pci0000:00/0000:00:02.0"
	ln -sfn ../../../devices/pci0000:00/0000:00:02.0/0000:04:00.0 "$tree/sys/bus/pci/devices/0000:04:00.0"
	says slot 0 </dev/null
}

# Only where nothing is common, and nobody knows what the bridges stand for.
passed_through() {
	behind_switch 0000 0000
	put proc/cpuinfo 'flags : fpu sse hypervisor lahf_lm'
	says slot 0 <<<'ok   slot mlx5_0: no ACS redirection between it and GPU 0000:04:00.0'
	mkdir -p "$tree/sys/devices/pci0000:00/0000:00:02.0"
	mv "$tree/sys/devices/$switch/0000:02:02.0/0000:04:00.0" "$tree/sys/devices/pci0000:00/0000:00:02.0"
	ln -sfn ../../../devices/pci0000:00/0000:00:02.0/0000:04:00.0 "$tree/sys/bus/pci/devices/0000:04:00.0"
	says slot 0 <<-END
		note slot mlx5_0: this virtual machine shows no PCIe switch between it and a GPU: the host decides how they reach each other
		       /proc/cpuinfo: hypervisor
		     > compare the speed of GPU memory with that of host memory; on the host check ACS and ATS; NCCL_TOPO_FILE can tell NCCL what is there
	END
}

# atomics REQUESTER COMPLETER ROUTING: DevCtl2 of the device, DevCap2 of the GPU and of the bridge above it.
atomics() {
	behind_switch 0000 0000
	config $switch/0000:02:01.0/0000:03:00.0 4096 0x034=40 0x040=1000 0x048=1029 0x068="$1"
	config $switch/0000:02:02.0/0000:04:00.0 4096 0x034=40 0x040=1000 0x064="$2"
	config $switch/0000:02:01.0 4096 0x034=40 0x040=1000 0x064=4000
	config $switch/0000:02:02.0 4096 0x034=40 0x040=1000 0x064="$3"
	{
		echo 'ok   slot mlx5_0: relaxed ordering is on, MaxReadReq is 512 bytes'
		cat
		echo 'ok   slot mlx5_0: no ACS redirection between it and GPU 0000:04:00.0'
	} >"$scratch/atomics"
	says slot 0 <"$scratch/atomics"
}

# lost REQUESTER COMPLETER ROUTING EVIDENCE...
lost() {
	atomics "$1" "$2" "$3" < <(
		echo "note slot mlx5_0: peers' atomics on the memory of GPU 0000:04:00.0 may fail: it may send PCIe AtomicOps, which the GPU or a bridge does not accept"
		printf '       %s\n' "${@:4}"
		echo '     > have peers signal with RDMA WRITE with immediate, or keep what atomics change in host memory'
	)
}

# blocked EVIDENCE PATH...: the bridges at these paths below the switch block AtomicOps that are to leave by them. There
# is another switch between the device and the first: its upstream port, 0000:02:01.0/0000:05:00.0, and a downstream one.
blocked() {
	local evidence=$1 bridge
	behind_switch 0000 0000
	rm -r "$tree/sys/devices/$switch/0000:02:01.0/0000:03:00.0"
	pci $switch/0000:02:01.0/0000:05:00.0
	pci $switch/0000:02:01.0/0000:05:00.0/0000:06:00.0
	pci $switch/0000:02:01.0/0000:05:00.0/0000:06:00.0/0000:03:00.0 mlx5_0
	config $switch/0000:02:01.0/0000:05:00.0/0000:06:00.0/0000:03:00.0 4096 0x034=40 0x040=1000 0x048=1029 0x068=4000
	config $switch/0000:02:02.0/0000:04:00.0 4096 0x034=40 0x040=1000 0x064=0001
	for bridge in 02:01.0 02:02.0 02:01.0/0000:05:00.0 02:01.0/0000:05:00.0/0000:06:00.0; do
		local kind=6200 control=0000
		[[ $bridge == *05:00.0 ]] && kind=5200
		[[ " ${*:2} " == *" $bridge "* ]] && control=8000
		config $switch/0000:$bridge 4096 0x034=40 0x040=1000 0x042=$kind 0x064=4000 0x068=$control
	done
	{
		echo 'ok   slot mlx5_0: relaxed ordering is on, MaxReadReq is 512 bytes'
		if [[ $evidence ]]; then
			echo "note slot mlx5_0: peers' atomics on the memory of GPU 0000:04:00.0 may fail: it may send PCIe AtomicOps, which the GPU or a bridge does not accept"
			echo "       DevCtl2 of $evidence: AtomicOpsCtl with EgressBlck"
			echo "     > as root, for each: setpci -s ADDRESS CAP_EXP+28.w=0000:0080; or for good, in the firmware's setup"
		fi
		echo 'ok   slot mlx5_0: no ACS redirection between it and GPU 0000:04:00.0'
	} >"$scratch/blocked"
	says slot 0 <"$scratch/blocked"
}

another_line() {
	plugged
	link $nic 8.0 16 16.0 16
	says slot 0 <<<"$well"
}

# Files in the place of the device's link: its address is not told, and nothing is known of the slot.
no_address() {
	fresh
	roce mlx5_0
	put $device/vendor 0x15b3
	put $device/current_link_speed '8.0 GT/s PCIe'
	put $device/current_link_width 8
	put $device/max_link_speed '16.0 GT/s PCIe'
	put $device/max_link_width 16
	says slot 0 <<-END
		WARN slot mlx5_0: PCI Express runs at 8 GT/s x8, less than both device and slot support
		       $device: current_link 8 GT/s x8, max_link 16 GT/s x16
		     > lspci -vv -s ADDRESS; reseat the card; look for a limit in the firmware's setup
	END
	put $device/current_link_speed '16.0 GT/s PCIe'
	put $device/current_link_width 16
	says slot 0 <<<"$well"
	put $device/current_link_width 15
	line "WARN slot mlx5_0: PCI Express runs at 16 GT/s x15, less than both device and slot support" --only slot
}

ok 'a slot that is good' a_good_slot
fails 'another line is seen' '^> WARN slot mlx5_0: PCI Express runs at 8 GT/s x16' another_line
ok 'a link of half the speed' slow_link 8.0 16
ok 'a link of half the lanes' slow_link 16.0 8
ok 'a slot that is too slow' slow_slot
ok 'a slot that is slower, and fast enough' slow_enough_slot
ok 'two ports for one link' two_ports
ok 'first generation' carries 2.5 8 16
ok 'second generation' carries 5.0 8 32
ok 'fifth generation' carries 32.0 16 504
ok 'sixth generation' carries 64.0 16 968
ok 'a virtual function' virtual_function
ok 'no PCI device' no_pci
ok 'the same NUMA node' near 8-15
ok 'all nodes' near 0-31
ok 'one CPU of the node' near 0-7,24
ok 'another NUMA node' far 0-7,16-23
ok 'one CPU elsewhere' far 3
ok 'an unknown node' no_node
ok 'relaxed ordering is on' eval "express 3029 <<<'ok   slot mlx5_0: relaxed ordering is on, MaxReadReq is 512 bytes'"
ok 'relaxed ordering is off' ordering_off
ok 'small read requests' small_reads
ok 'a configuration space that is hidden' hidden_config
ok 'one that is broken' broken_config
ok 'an IOMMU that translates' translating
ok 'one that does not' eval "iommu identity <<<'ok   slot mlx5_0: the IOMMU passes its transfers through (identity)'"
ok 'ACS redirects at one bridge' acs_redirects 1d00 0000 0000:02:01.0
ok 'ACS redirects at both' acs_redirects 0400 0800 '0000:02:01.0 0000:02:02.0'
ok 'ACS does not' acs_off
ok 'ACS is hidden' acs_hidden
ok 'a GPU beyond the root complex' far_gpu
ok 'a GPU of a virtual machine' passed_through
ok 'AtomicOps that all know' atomics 4000 0001 4000 </dev/null
ok 'a device that asks for none' atomics 0000 0000 0000 </dev/null
ok 'a GPU that does not know them' lost 4000 8000 4000 'DevCap2 of 0000:04:00.0: AtomicOpsCap without 64bit'
ok 'a bridge that does not let them through' lost 4000 0001 0000 'DevCap2 of 0000:02:02.0: AtomicOpsCap without Routing'
ok 'neither' lost 4000 0000 0000 'DevCap2 of 0000:04:00.0: AtomicOpsCap without 64bit' \
	'DevCap2 of 0000:02:02.0: AtomicOpsCap without Routing'
ok 'no bridge blocks them' blocked ''
ok 'the port to the GPU blocks them' blocked 0000:02:02.0 02:02.0
ok 'the upstream port above the device blocks them' blocked 0000:05:00.0 02:01.0/0000:05:00.0
ok 'both do' blocked '0000:05:00.0 0000:02:02.0' 02:01.0/0000:05:00.0 02:02.0
ok 'what blocks only what comes back does not matter' blocked '' 02:01.0 02:01.0/0000:05:00.0/0000:06:00.0
ok 'a device without an address' no_address
done_testing
