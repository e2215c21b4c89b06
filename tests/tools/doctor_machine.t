#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of a machine without its ports: modules, devices and what could become one, nodes, provider
# libraries, limits, namespaces, fork. Each line in its forms, on machines made of files.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

# --- modules

modules_are_there() {
	machine
	says modules 0 <<-'END'
		ok   modules: the kernel has ib_core, ib_uverbs, rdma_cm, rdma_ucm
	END
}

modules_are_built_in() {
	machine
	rm -r "$tree/sys/module"
	says modules 0 <<-'END'
		ok   modules: the kernel has ib_core, ib_uverbs, rdma_cm, rdma_ucm
	END
}

no_rdma_at_all() {
	machine
	rm -r "$tree/sys/module" "$tree"/sys/class/infiniband* "$tree/sys/class/misc"
	says modules 1 <<-'END'
		FAIL modules ib_core: not loaded: there can be no RDMA device
		       neither /sys/module/ib_core nor /sys/class/infiniband exists
		     > load the driver of the RDMA device, which brings ib_core
	END
}

no_uverbs() {
	machine
	rm -r "$tree/sys/module/ib_uverbs" "$tree/sys/class/infiniband_verbs"
	says modules 0 <<-'END'
		ok   modules: the kernel has ib_core, rdma_cm, rdma_ucm
		WARN modules ib_uverbs: not loaded: without it programs reach no device; libibverbs asks the kernel to load it
		       neither /sys/module/ib_uverbs nor /sys/class/infiniband_verbs exists
		     > modprobe ib_uverbs (on the host, if this is a container)
	END
	says node 0 <<-'END'
		WARN node mlx5_0: ib_uverbs has no device for it yet
		       no /sys/class/infiniband_verbs/*/ibdev names it
		     > modprobe ib_uverbs (on the host, if this is a container)
	END
}

no_ucm() {
	machine
	rm -r "$tree/sys/module/rdma_ucm" "$tree/sys/class/misc"
	line 'WARN modules rdma_ucm: not loaded: .*' --only modules
	says cm 0 </dev/null
}

no_sysfs() {
	machine
	rm -r "$tree/sys"
	line 'WARN modules: /sys is not mounted, .*' --only modules
	says device 0 <<-'END'
		note device: without /sys nobody can see which RDMA devices there are
	END
}

# --- device

# bare: the same machine without mlx5_ib, which has no RDMA device then.
bare() {
	machine
	rm -r "$tree"/sys/class/infiniband/* "$tree"/sys/class/infiniband_verbs/uverbs0 \
		"$tree/sys/bus/pci/devices/0000:3b:00.0/infiniband" "$tree/sys/module/mlx5_ib"
}

device_is_there() {
	machine
	says device 0 <<-'END'
		ok   device mlx5_0: driver mlx5_core, firmware 16.35.2000 (CA)
	END
	rm "$tree/sys/class/infiniband/mlx5_0/device"
	says device 0 <<-'END'
		ok   device mlx5_0: software device (CA)
	END
}

by_interface() {
	bare
	line 'FAIL device: the kernel shows no RDMA device here' --only device
	grep -qx 'note device eth0: some adapters of its driver can do RDMA, and mlx5_ib is not loaded' "$scratch/report"
	grep -qx '     > modprobe mlx5_ib (on the host, if this is a container)' "$scratch/report"
	((code == 1))
	mkdir "$tree/sys/module/mlx5_ib"
	line 'note device eth0: its RDMA module mlx5_ib is loaded, but has made no RDMA device from it' --only device
}

on_amazon() {
	local pci=sys/bus/pci/devices/0000:3b:00.0
	bare
	mkdir "$tree/sys/bus/pci/drivers/ena"
	ln -sfn ../../drivers/ena "$tree/$pci/driver"
	line 'note device eth0: this is an interface of Amazon EC2, where RDMA needs an EFA interface' --only device
}

# auxiliary NAME MODULE
by_auxiliary_bus() {
	bare
	mkdir -p "$tree/sys/bus/auxiliary/devices/$1" "$tree/sys/bus/auxiliary/drivers/driver"
	line "WARN device $1: its driver offers RDMA, and $2 is not loaded" --only device
	ln -s ../../drivers/driver "$tree/sys/bus/auxiliary/devices/$1/driver"
	no_line "WARN device $1: .*" --only device
}

# by_function VENDOR DEVICE CLASS MODULE
by_function() {
	local pci=sys/bus/pci/devices/0000:3b:00.0
	bare
	rm "$tree/$pci/driver" "$tree/sys/class/net/eth0/device"
	put "$pci/vendor" "$1"
	put "$pci/device" "$2"
	put "$pci/class" "$3"
	line 'WARN device 0000:3b:00.0: this RDMA adapter has no driver' --only device
	grep -qx "     > modprobe $4 (on the host, if this is a container)" "$scratch/report"
	mkdir "$tree/sys/bus/pci/drivers/vfio-pci"
	ln -s ../../drivers/vfio-pci "$tree/$pci/driver"
	line 'note device 0000:3b:00.0: vfio-pci keeps this RDMA adapter for a virtual machine' --only device
}

nothing_known() {
	bare
	rm -r "$tree/sys/bus/pci/devices" "$tree/sys/class/net/eth0/device"
	says device 1 <<-'END'
		FAIL device: the kernel shows no RDMA device here
		       /sys/class/infiniband is empty
		     > to try RDMA without an adapter, as root: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0
		note device: rdmaez-doctor knows of no PCI function or network interface here that offers RDMA
		       /sys/bus/auxiliary/devices, /sys/class/net/*/device/driver, /sys/bus/pci/devices/*/{vendor,device,class}
	END
}

virtual_machine() {
	nothing_known
	put proc/cpuinfo 'flags : fpu hypervisor lahf_lm'
	put sys/class/dmi/id/sys_vendor QEMU
	put sys/class/dmi/id/product_name 'Standard PC'
	line '       this is a virtual machine: QEMU Standard PC' --only device
	grep -q 'SR-IOV' "$scratch/report"
	put lib/modules/6.1.0/modules.dep kernel/drivers/infiniband/core/ib_core.ko:
	line '.* this kernel comes without rdma_rxe; .*' --only device
	put lib/modules/6.1.0/modules.dep kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko:
	line '.* modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0' --only device
	put lib/modules/6.1.0/modules.dep kernel/drivers/infiniband/core/ib_core.ko:
	rm "$tree/proc/sys/kernel/osrelease"
	line '.* modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0' --only device
}

# Of the running kernel uname() tells the release as well.
running_kernel() {
	nothing_known
	ln -sf osrelease "$tree/proc/sys/kernel/osrelease"
	put "lib/modules/$(uname -r)/modules.dep" kernel/drivers/infiniband/core/ib_core.ko:
	put proc/cpuinfo 'flags : fpu'
	on_it 1 --only device <<-'END'
		failed device : the kernel shows no RDMA device here
		  /sys/class/infiniband is empty
		> this kernel comes without rdma_rxe; to try RDMA without an adapter, run your command with rdmaez's tools/softroce, which has a kernel with it
		note device : rdmaez-doctor knows of no PCI function or network interface here that offers RDMA
		  /sys/bus/auxiliary/devices, /sys/class/net/*/device/driver, /sys/bus/pci/devices/*/{vendor,device,class}
	END
	put "lib/modules/$(uname -r)/modules.dep" kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko:
	on_it 1 --only device <<-'END'
		failed device : the kernel shows no RDMA device here
		  /sys/class/infiniband is empty
		> to try RDMA without an adapter, as root: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0
		note device : rdmaez-doctor knows of no PCI function or network interface here that offers RDMA
		  /sys/bus/auxiliary/devices, /sys/class/net/*/device/driver, /sys/bus/pci/devices/*/{vendor,device,class}
	END
}

# --- node, cm

nodes_are_there() {
	machine
	says node 0 <<-'END'
		ok   node mlx5_0: /dev/infiniband/uverbs0 is there
	END
	says cm 0 <<-'END'
		ok   cm: /dev/infiniband/rdma_cm is there
	END
}

no_nodes() {
	machine
	rm -r "${tree:?}/dev"
	line 'FAIL node mlx5_0: its node /dev/infiniband/uverbs0 is missing' --only node
	((code == 1))
	grep -qx '       stat("/dev/infiniband/uverbs0"): ENOENT' "$scratch/report"
	line 'WARN cm: its node /dev/infiniband/rdma_cm is missing' --only cm
	((code == 0))
	touch "$tree/.dockerenv"
	line '       stat\("/dev/infiniband/uverbs0"\): ENOENT; this is a container' --only node
}

# --- versions

versions() {
	machine
	says versions 0 <<-END
		ok   versions: kernel 6.1.0, libibverbs.so.1
		ok   versions mlx5_0: driver mlx5_core, firmware 16.35.2000, provider libmlx5-rdmav34.so
	END
	mv "$tree/usr/lib64/libibverbs.so.1" "$tree/usr/lib64/libibverbs.so.1.14.44.0"
	ln -s libibverbs.so.1.14.44.0 "$tree/usr/lib64/libibverbs.so.1"
	ln -sf ../libmlx5.so.1.24.44.0 "$tree/usr/lib64/libibverbs/libmlx5-rdmav34.so"
	put usr/lib64/libmlx5.so.1.24.44.0
	mkdir -p "$tree/sys/module/mlx5_core"
	ln -s ../../../../module/mlx5_core "$tree/sys/bus/pci/drivers/mlx5_core/module"
	put sys/module/mlx5_core/version 24.10-1.1.4
	says versions 0 <<-END
		ok   versions: kernel 6.1.0, libibverbs.so.1.14.44.0
		ok   versions mlx5_0: driver mlx5_core 24.10-1.1.4, firmware 16.35.2000, provider libmlx5.so.1.24.44.0
	END
	fresh
	says versions 0 <<<'ok   versions: kernel not known, no libibverbs'
}
ok "versions, as far as files have them" versions

# --- provider

providers_fit() {
	machine
	says provider 0 <<-END
		ok   provider: libibverbs and its provider libraries are of one release
	END
	mkdir -p "$tree/usr/lib/x86_64-linux-gnu"
	mv "$tree"/usr/lib64/* "$tree/usr/lib/x86_64-linux-gnu"
	report --only provider --json
	jq --exit-status '.checks[0].evidence[0] | test("/usr/lib/x86_64-linux-gnu/libibverbs/.*-rdmav34.so: 1; .*: 1$")' \
		"$scratch/report"
}

no_provider() {
	machine
	rm "$tree"/usr/lib64/libibverbs/*
	line 'FAIL provider: there are no provider libraries, without which libibverbs finds no device' --only provider
	((code == 1))
	put usr/lib64/libibverbs/libmlx5-rdmav33.so
	line 'FAIL provider: the provider libraries are of another release of rdma-core than libibverbs' --only provider
	grep -q 'loads lib\*-rdmav34.so, and .* has libmlx5-rdmav33.so$' "$scratch/report"
	machine
	put usr/lib64/libibverbs/libmlx5-rdmav34.so 'GLIBC_2.2.5 IBVERBS_PRIVATE_22 and what follows'
	line 'FAIL provider: the provider libraries are of another release of rdma-core than libibverbs' --only provider
	grep -q 'loads lib\*-rdmav34.so, and .* has libmlx5-rdmav34.so, which wants IBVERBS_PRIVATE_22$' "$scratch/report"
}

# A file in the place of libibverbs that is none, or is too long for one, tells nothing of the provider libraries.
no_library() {
	machine
	put usr/lib64/libibverbs.so.1 'no library'
	line 'note provider: it is not known which provider libraries libibverbs loads' --only provider
	put usr/lib64/libibverbs.so.1 'IBVERBS_PRIVATE_34 and what follows'
	truncate --size=1T "$tree/usr/lib64/libibverbs.so.1"
	line 'note provider: it is not known which provider libraries libibverbs loads' --only provider
	((code == 0))
}

no_driver_files() {
	machine
	rm -r "$tree/etc/libibverbs.d"
	line 'FAIL provider: no file of /etc/libibverbs.d names a provider library' --only provider
}

no_libibverbs() {
	machine
	rm -r "${tree:?}/usr"
	line 'WARN provider: there is no libibverbs in the usual places' --only provider
}

# --- memlock

# memlock SOFT HARD STATUS LINE
memlock() {
	machine
	limit "$1" "$2"
	line "$4" --only memlock
	((code == $3))
}

memlock_by_capability() {
	machine
	limit 65536 65536
	put proc/self/status 'CapEff: 0000000000004000'
	says memlock 0 <<-'END'
		ok   memlock: CAP_IPC_LOCK lifts the limit of 64 KiB for programs that also have it
	END
	put proc/self/uid_map 'nobody'
	line 'ok   memlock: CAP_IPC_LOCK lifts .*' --only memlock
	rm "$tree/proc/self/uid_map"
	line 'ok   memlock: CAP_IPC_LOCK lifts .*' --only memlock
	put proc/self/status 'CapEff: 0000000000008000'
	line 'FAIL memlock: a process may lock 64 KiB: .*' --only memlock
	put proc/self/status 'CapEff: 0000000000004000'
	# One of another user namespace is not asked for.
	put proc/self/uid_map '         0     100000      65536'
	line 'FAIL memlock: a process may lock 64 KiB: .*' --only memlock
}

# raise NEXT GROUP: what to do is this for a process of such a cgroup.
raise() {
	machine
	limit 65536 1048576
	put proc/self/cgroup "0::$2"
	line "     > $1" --only memlock
	grep -qxF "     > here and now: ulimit -l \$(ulimit -H -l)" "$scratch/report"
}

# unpinnable TOTAL FREE LINE...: what /proc/meminfo says of CMA, in kB
unpinnable() {
	machine
	limit unlimited unlimited
	put proc/meminfo 'MemTotal: 16384 kB' "CmaTotal:       $1 kB" "CmaFree:        $2 kB"
	says memlock 0 < <(
		echo 'ok   memlock: any amount of memory may be locked (RLIMIT_MEMLOCK)'
		[[ -z ${*:3} ]] || printf '%s\n' "${@:3}"
	)
}

memlock_unknown() {
	machine
	put proc/self/limits 'Max cpu time unlimited unlimited seconds'
	line 'note memlock: the limit of locked memory cannot be read' --only memlock
}

# --- cgroup

group=sys/fs/cgroup/system.slice/program.service

no_limit() {
	machine
	says cgroup 0 <<-'END'
		ok   cgroup: no cgroup limits RDMA objects
	END
	put "$group/rdma.max" 'mlx5_0 hca_handle=max hca_object=max'
	put "$group/rdma.current" 'mlx5_0 hca_handle=1 hca_object=20'
	says cgroup 0 <<-'END'
		ok   cgroup: no cgroup limits RDMA objects
	END
}

limited() {
	machine
	put "$group/rdma.max" 'mlx5_1 hca_handle=1 hca_object=1' 'mlx5_0 hca_handle=max hca_object=21'
	put "$group/rdma.current" 'mlx5_1 hca_handle=1 hca_object=1' 'mlx5_0 hca_handle=1 hca_object=20'
	says cgroup 0 <<-'END'
		note cgroup mlx5_0: the cgroup limits hca_object to 21, of which 20 are in use
		       /sys/fs/cgroup/system.slice/program.service/rdma.max and rdma.current
	END
}

# Which line of a file is the device's, and which word in it the resource's.
other_lines() {
	machine
	put "$group/rdma.max" 'mlx5_00 hca_handle=1 hca_object=1' 'mlx5_0 hca_object=21 hca_handles=7' 'mlx5_1 hca_handle=1'
	put "$group/rdma.current" 'mlx5_1 hca_handle=1 hca_object=1' 'mlx5_00 hca_object=3'
	says cgroup 0 <<-'END'
		note cgroup mlx5_0: the cgroup limits hca_object to 21, of which 0 are in use
		       /sys/fs/cgroup/system.slice/program.service/rdma.max and rdma.current
	END
}

# A process outside of the part that is mounted: the limit of that part is all that is seen, and its neighbour is another.
outside() {
	full sys/fs/cgroup
	put proc/self/mountinfo '30 25 0:26 /docker/12 /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw'
	put proc/self/cgroup '0::/docker/123'
	put sys/fs/cgroup3/rdma.max 'mlx5_0 hca_handle=1 hca_object=max'
	put sys/fs/cgroup/system.slice/rdma.max 'mlx5_0 hca_handle=1 hca_object=max'
	line 'FAIL cgroup mlx5_0: .*' --only cgroup
	grep -q '^       /sys/fs/cgroup/rdma.max: mlx5_0 hca_handle=2' "$scratch/report"
	put proc/self/cgroup '0::/system.slice'
	line 'FAIL cgroup mlx5_0: .*' --only cgroup
	[[ $(grep -c '/rdma.max: ' "$scratch/report") == 1 ]]
	grep -q '^       /sys/fs/cgroup/rdma.max: mlx5_0 hca_handle=2' "$scratch/report"
}

# full FOLDER: the limit of this cgroup, or one above it, is reached.
full() {
	machine
	put "$1/rdma.max" 'mlx5_0 hca_handle=2 hca_object=max'
	put "$1/rdma.current" 'mlx5_0 hca_handle=2 hca_object=20'
	says cgroup 1 <<-END
		FAIL cgroup mlx5_0: the cgroup's limit of hca_handle is reached (2): opening the device fails with EAGAIN
		       /$1/rdma.max: mlx5_0 hca_handle=2; rdma.current: 2
		     > as root: echo 'mlx5_0 hca_handle=max' >/$1/rdma.max
		     > rdma resource show (who uses how many); trying again helps only once there are fewer
	END
}

full_of_objects() {
	machine
	put "$group/rdma.max" 'mlx5_0 hca_handle=max hca_object=0'
	line "FAIL cgroup mlx5_0: the cgroup's limit of hca_object is reached \(0\): creating an object fails with EAGAIN" \
		--only cgroup
}

# Version 1 has a hierarchy for rdma; a container sees a part of it.
version_1() {
	machine
	put proc/self/cgroup '5:cpu:/x' '4:rdma:/docker/12/a' '0::/'
	put proc/self/mountinfo '31 25 0:27 /docker/12 /sys/fs/cgroup/rdma rw shared:4 - cgroup cgroup rw,rdma'
	put sys/fs/cgroup/rdma/a/rdma.max 'mlx5_0 hca_handle=1 hca_object=max'
	put sys/fs/cgroup/rdma/a/rdma.current 'mlx5_0 hca_handle=1 hca_object=1'
	line 'FAIL cgroup mlx5_0: .*' --only cgroup
	grep -q '/sys/fs/cgroup/rdma/a/rdma.max: mlx5_0 hca_handle=1' "$scratch/report"
	# Other hierarchies say nothing of it; where none is listed, the usual place is looked at.
	put proc/self/cgroup '4:rdma:/a'
	put proc/self/mountinfo 'garbled' '31 25 0:27 / /sys/fs/other rw - cgroup2 cgroup2 rw,rdma' \
		'32 25 0:27 / /sys/fs/other rw - cgroup cgroup rw,cpu'
	line 'FAIL cgroup mlx5_0: .*' --only cgroup
	rm -r "$tree/sys/fs/cgroup/rdma"
	line 'ok   cgroup: no cgroup that could limit RDMA objects is visible' --only cgroup
	put proc/self/cgroup '4:cpu:/a' '0::/b'
	put proc/self/mountinfo '31 25 0:27 / /sys/fs/other rw - cgroup cgroup rw,rdma'
	put sys/fs/cgroup/b/rdma.max 'mlx5_0 hca_handle=0 hca_object=max'
	line 'FAIL cgroup mlx5_0: .*' --only cgroup
	put proc/self/cgroup '4:cpu:/a'
	line 'ok   cgroup: no cgroup that could limit RDMA objects is visible' --only cgroup
}

no_cgroup() {
	machine
	rm "$tree"/proc/self/{cgroup,mountinfo}
	says cgroup 0 <<-'END'
		ok   cgroup: no cgroup that could limit RDMA objects is visible
	END
}

# --- namespace

shared() {
	machine
	says namespace 0 <<-'END'
		ok   namespace: RDMA devices are shared by all network namespaces
	END
}

strange_interface() {
	machine
	rm -r "$tree/sys/class/net/eth0"
	line 'WARN namespace mlx5_0: 2 of 2 GIDs of port 1 belong to interfaces in other network namespaces' --only namespace
	grep -qx '       gid_attrs/ndevs names eth0, but there is no interface eth0 here' "$scratch/report"
}

exclusive() {
	machine
	put sys/module/ib_core/parameters/netns_mode N
	says namespace 0 <<-'END'
		ok   namespace: each RDMA device belongs to one network namespace (exclusive mode)
	END
	# A second one elsewhere keeps nobody from using the first.
	put sys/class/infiniband_verbs/uverbs1/ibdev mlx5_1
	line 'note namespace mlx5_1: the device is in another network namespace' --only namespace
	line 'FAIL namespace mlx5_1: the device is in another network namespace' --only namespace mlx5_1
	rm -r "$tree/sys/class/infiniband/mlx5_0"
	line 'FAIL namespace mlx5_0: the device is in another network namespace' --only namespace
	line '       /sys/class/infiniband_verbs has devices of other network namespaces' --only device
}

no_mode() {
	machine
	rm -r "$tree/sys/module"
	says namespace 0 </dev/null
}

# What netlink says of the mode comes before the module's parameter, and of its devices before sysfs.
asked() {
	machine
	kernel 'sys 1 0' 'dev 0 mlx5_0'
	put sys/module/ib_core/parameters/netns_mode N
	on_it 0 --only namespace <<<'ok namespace : RDMA devices are shared by all network namespaces'
	kernel 'sys 0 1' 'dev 0 mlx5_0'
	on_it 0 --only namespace <<<'ok namespace : each RDMA device belongs to one network namespace (exclusive mode)'
	kernel 'sys 0 1' 'dev 0 mlx5_1'
	on_it 0 --only namespace <<-'END'
		ok namespace : each RDMA device belongs to one network namespace (exclusive mode)
		note namespace mlx5_0: the device is in another network namespace
		  /sys/class/infiniband_verbs/uverbs0/ibdev names it, and the list of RDMA devices does not
		> on the host: rdma dev set mlx5_0 netns NAME (for pods, the CNI plugin rdma)
		> or share all devices: rdma system set netns shared, while there is no other namespace
	END
	kernel 'sys 0 1'
	on_it 1 --only namespace <<-'END'
		ok namespace : each RDMA device belongs to one network namespace (exclusive mode)
		failed namespace mlx5_0: the device is in another network namespace
		  /sys/class/infiniband_verbs/uverbs0/ibdev names it, and the list of RDMA devices does not
		> on the host: rdma dev set mlx5_0 netns NAME (for pods, the CNI plugin rdma)
		> or share all devices: rdma system set netns shared, while there is no other namespace
	END
	kernel 'refuse sys 22' 'refuse dev 22'
	on_it 0 --only namespace <<<'ok namespace : each RDMA device belongs to one network namespace (exclusive mode)'
}

# --- fork

# The kernel tells whether it copies, and libibverbs is told by the environment to make it safe itself.
fork_asked() {
	machine
	kernel 'sys 1 1'
	put proc/sys/kernel/osrelease 5.10.0
	on_it 0 --only fork <<-'END'
		ok fork : fork() is safe: the kernel copies registered memory for the child
		ok fork hugepages: 8 of 8 huge pages are free
	END
	kernel 'sys 1 0'
	put proc/sys/kernel/osrelease 6.1.0
	on_it 0 --only fork <<-'END'
		warning fork : a program that forks may lose what its device writes
		  Linux 6.1.0 does not copy registered memory at fork()
		> export RDMAV_FORK_SAFE=1, or ibv_fork_init() in the program; with huge pages also RDMAV_HUGEPAGES_SAFE=1
		ok fork hugepages: 8 of 8 huge pages are free
	END
	RDMAV_FORK_SAFE=1 on_it 0 --only fork <<-'END'
		ok fork : libibverbs is asked to make fork() safe (RDMAV_FORK_SAFE)
		warning fork hugepages: with RDMAV_FORK_SAFE, registering huge pages fails with EINVAL
		  RDMAV_HUGEPAGES_SAFE is not set, and 8 huge pages are reserved
		> export RDMAV_HUGEPAGES_SAFE=1
	END
	IBV_FORK_SAFE=1 RDMAV_HUGEPAGES_SAFE=1 on_it 0 --only fork <<-'END'
		ok fork : libibverbs is asked to make fork() safe (RDMAV_FORK_SAFE)
		ok fork hugepages: 8 of 8 huge pages are free
	END
	put proc/sys/kernel/osrelease none
	kernel 'refuse sys 22'
	on_it 0 --only fork <<-'END'
		note fork : rdmaez-doctor cannot tell here whether fork() is safe
		ok fork hugepages: 8 of 8 huge pages are free
	END
	put proc/sys/kernel/osrelease 4.18
	RDMAV_FORK_SAFE=1 line 'WARN fork: a program that forks may lose what its device writes' --only fork
	put proc/sys/kernel/osrelease 5.11
	line 'WARN fork: a program that forks may lose what its device writes' --only fork
}

# forks RELEASE STATUS LINE
forks() {
	machine
	put proc/sys/kernel/osrelease "$1"
	line "$2" --only fork
}

# huge TOTAL FREE LINE
no_meminfo() {
	machine
	rm "$tree/proc/meminfo"
	no_line '.* fork hugepages: .*' --only fork
}

huge() {
	machine
	put proc/meminfo "HugePages_Total:       $1" "HugePages_Free:        $2"
	line "$3" --only fork
}

# efa HUGE KIB PATTERN: an EFA device, so many huge pages, and pages of this size
efa() {
	machine
	mkdir -p "$tree/sys/bus/pci/drivers/efa"
	ln -sfn ../../drivers/efa "$tree/sys/bus/pci/devices/0000:3b:00.0/driver"
	put proc/meminfo "HugePages_Total:       $1" "HugePages_Free:        $1" 'Hugepagesize:     524288 kB'
	[[ -z $2 ]] || put proc/self/smaps '00400000-00401000 r--p 00000000 00:00 0' 'Size:                  4 kB' \
		"KernelPageSize:        $2 kB"
	line "$3" --only fork
}

ok "EFA without huge pages" efa 0 4 'note fork mlx5_0: EFA limits how many pages can be registered, and they have only 4 KiB: large regions fail with ENOMEM long before memory is short'
ok "what to do" line '     > as root: sysctl vm.nr_hugepages=COUNT, of 524288 KiB each, and memory from them: .*' --only fork
ok "with huge pages" efa 8 64 'ok   fork hugepages: 8 of 8 huge pages are free'
ok "where the size is not known" efa 0 '' 'ok   fork hugepages: no huge pages are reserved; .*'
ok "modules that are there" modules_are_there
ok "built in, a module has no directory" modules_are_built_in
ok "no module at all" no_rdma_at_all
ok "ib_uverbs alone is missing" no_uverbs
ok "rdma_ucm alone is missing" no_ucm
ok "/sys is not mounted" no_sysfs
ok "a device, with hardware and without" device_is_there
ok "an interface whose driver has an RDMA module" by_interface
ok "an interface of ENA" on_amazon
while read -r name module; do
	ok "$name on the auxiliary bus" by_auxiliary_bus "$name" "$module"
done <<-'END'
	mlx5_core.rdma.0 mlx5_ib
	mlx4_core.ib.0 mlx4_ib
	bnxt_en.rdma.1 bnxt_re
	ice.roce.0 irdma
	mana.rdma.0 mana_ib
END
ok "ConnectX-5 without a driver" by_function 0x15b3 0x1017 0x020000 mlx5_core
ok "ConnectX-3 without a driver" by_function 0x15b3 0x1003 0x028000 mlx4_core
ok "EFA without a driver" by_function 0x1d0f 0xefa2 0x020000 efa
ok "Omni-Path without a driver" by_function 0x8086 0x24f0 0x020800 hfi1
ok "nothing that is known for RDMA" nothing_known
ok "a virtual machine, with Soft-RoCE and without" virtual_machine
ok "whether the running kernel has Soft-RoCE" running_kernel
ok "nodes that are there" nodes_are_there
ok "nodes that are missing" no_nodes
ok "provider libraries that fit" providers_fit
ok "none, and those of another release" no_provider
ok "a libibverbs that is none" no_library
ok "no file that names one" no_driver_files
ok "no libibverbs" no_libibverbs
ok "no limit of locked memory" memlock unlimited unlimited 0 'ok   memlock: any amount of memory may be locked .*'
ok "one of 1 GiB" memlock 1073741824 unlimited 0 'ok   memlock: a process may lock 1 GiB: .*'
ok "one of 64 MiB" memlock 67108864 67108864 0 'ok   memlock: a process may lock 64 MiB: .*'
ok "one of 8 MiB" memlock 8388608 8388608 0 'WARN memlock: a process may lock 8 MiB: .*'
ok "one of 64 KiB" memlock 65536 65536 1 'FAIL memlock: a process may lock 64 KiB: .*'
ok "one of 0" memlock 0 0 1 'FAIL memlock: a process may lock no memory: registering any fails with EPERM'
ok "a process that is excepted" memlock_by_capability
ok "a limit that cannot be read" memlock_unknown
ok "areas of CMA" unpinnable 32768 32768
ok "none" unpinnable 0 0
ok "memory that must not be pinned" unpinnable 0 10171392 \
	'WARN memlock: 9.7 GiB of memory must not be pinned: registering may fail with ENOMEM while a GPU has taken most of the rest' \
	'       /proc/meminfo: CmaTotal 0 kB, CmaFree 10171392 kB' \
	"     > boot with kho=off on the kernel's command line, which gives it back"
ok "to raise it at a login" raise "echo '\* - memlock unlimited' >/etc/security/limits.d/rdma.conf, .*" \
	/user.slice/user-1000.slice/session-2.scope
ok "to raise it for a service" raise 'systemctl edit mpi.service, with LimitMEMLOCK=infinity below \[Service\]' \
	/system.slice/mpi.service
ok "to raise it for a container" raise 'docker run --ulimit memlock=-1 .*' /system.slice/docker-12.scope/docker/12
ok "to raise it for a pod" raise 'Kubernetes: LimitMEMLOCK=infinity .*' /kubepods.slice/kubepods-pod1.slice/cri-2.scope
ok "to raise it for a batch job" raise 'Slurm: LimitMEMLOCK=infinity .*' /system.slice/slurmstepd.scope/job_1
ok "no limit of objects" no_limit
ok "a limit of objects" limited
ok "lines of other devices" other_lines
ok "a process outside of what is mounted" outside
ok "no device may be opened any more" full "$group"
ok "the same by a cgroup above" full sys/fs/cgroup/system.slice
ok "no object may be created" full_of_objects
ok "cgroups of version 1, in a container" version_1
ok "no cgroup" no_cgroup
ok "devices that are shared" shared
ok "GIDs of an interface that is not here" strange_interface
ok "devices that are not shared" exclusive
ok "no namespaces without ib_core" no_mode
ok "what the kernel tells of namespaces" asked
ok "fork(), as the kernel tells" fork_asked
ok "fork() on Linux 6.1" forks 6.1.0 'ok   fork: fork\(\) is safe: .*'
ok "fork() on Linux 5.12" forks 5.12.0-1 'ok   fork: fork\(\) is safe: .*'
ok "fork() on Linux 5.10" forks 5.10.0 'WARN fork: a program that forks may lose what its device writes'
ok "huge pages" huge 8 3 'ok   fork hugepages: 3 of 8 huge pages are free'
ok "no free huge page" huge 8 0 'note fork hugepages: all 8 huge pages are in use'
ok "huge pages that cannot be seen" no_meminfo
ok "no huge pages" huge 0 0 'ok   fork hugepages: no huge pages are reserved; .*'
fails "a line that is not there is missed" '^ok   memlock' memlock unlimited unlimited 0 'FAIL memlock: .*'
done_testing
