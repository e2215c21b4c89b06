#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of GPUs, on trees with the files of their drivers: which way RDMA devices have to their
# memory, and how much of it they see. No device is open here, so dma-bufs are left to tests/device/doctor_port.t.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

gpu=/sys/bus/pci/devices/0000:04:00.0
open='NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build'
closed='NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08'

# card VENDOR CLASS [DRIVER]
card() {
	fresh
	pci pci0000:00/0000:04:00.0
	pci pci0000:00/0000:00:1f.0 # something else
	put "$gpu/vendor" "$1"
	put "$gpu/class" "$2"
	[[ -z ${3-} ]] || ln -s "../../../bus/pci/drivers/$3" "$tree$gpu/driver"
}

nvidia() {
	card 0x10de 0x030200 nvidia
	put proc/driver/nvidia/version "$1"
}

none() {
	fresh
	pci pci0000:00/0000:00:1f.0
	says gpu 0 <<<'ok   gpu: no GPU of NVIDIA or AMD'
}

unseen() {
	fresh
	says gpu 0 <<<'note gpu: there is no /sys/bus/pci/devices to see GPUs in'
}

# A network adapter of NVIDIA's is none, and neither is a display of another vendor.
others() {
	card "$1" "$2"
	says gpu 0 <<<'ok   gpu: no GPU of NVIDIA or AMD'
}

by_client() {
	nvidia "$closed"
	put "$1"
	says gpu 0 <<<"ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/${2-$1})"
}

amd_by_client() {
	card 0x1002 0x120000 amdgpu
	put sys/kernel/mm/memory_peers/amdkfd/version 1.0
	says gpu 0 <<<'ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/sys/kernel/mm/memory_peers/amdkfd/version)'
}

no_way() {
	nvidia "$closed"
	says gpu 0 <<-END
		WARN gpu 0000:04:00.0: RDMA devices have no way to its memory: registering it fails with EFAULT or EINVAL
		       no peer-memory client in /sys/module and /sys/kernel/mm/memory_peers
		       its driver exports no dma-bufs: /proc/driver/nvidia/version does not name the open kernel module
		     > modprobe nvidia_peermem # needs the ib_core of MLNX_OFED or DOCA; or install NVIDIA's open kernel module
	END
}

# The kernel's own ib_core, which nvidia_peermem cannot be used with, and one of a vendor's.
no_interface() {
	nvidia "$closed"
	printf '%s\n' '0000000000000000 T schedule' $'0000000000000000 T ib_register_device\t[ib_core]' \
		>"$tree/proc/kallsyms"
	says gpu 0 <<-END
		WARN gpu 0000:04:00.0: RDMA devices have no way to its memory: registering it fails with EFAULT or EINVAL
		       no peer-memory client in /sys/module and /sys/kernel/mm/memory_peers
		       its driver exports no dma-bufs: /proc/driver/nvidia/version does not name the open kernel module
		       /proc/kallsyms has no ib_register_peer_memory_client: this kernel's ib_core has no peer memory
		     > install NVIDIA's open kernel module, and use dma-bufs: modprobe nvidia_peermem fails here with "Invalid argument"
	END
	printf '%s\n' $'0000000000000000 T ib_register_peer_memory_client\t[ib_core]' >>"$tree/proc/kallsyms"
	line '     > modprobe nvidia_peermem # .*' --only gpu
}

# A link to this machine's names, or to any other file, is nothing that the tree says.
names_elsewhere() {
	nvidia "$closed"
	printf '%s\n' $'0000000000000000 T ib_register_device\t[ib_core]' >"$scratch/kallsyms"
	ln -s "$scratch/kallsyms" "$tree/proc/kallsyms"
	report --only gpu >/dev/null
	line '     > modprobe nvidia_peermem # .*' --only gpu
	no_line '.*ib_register_peer_memory_client.*' --only gpu
}

# Names without an end: here a file of 1 TB that has none.
endless_names() {
	nvidia "$closed"
	truncate --size=1T "$tree/proc/kallsyms"
	line '     > modprobe nvidia_peermem # .*' --only gpu
}

old_client() {
	nvidia "$closed"
	put sys/module/nv_peer_mem/version 1.3
	says gpu 0 <<-END
		ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/sys/module/nv_peer_mem)
		WARN gpu 0000:04:00.0: the old nv_peer_mem is loaded instead of nvidia_peermem of NVIDIA's driver
		       /sys/module/nv_peer_mem, and no /sys/module/nvidia_peermem
		     > rmmod nv_peer_mem && modprobe nvidia_peermem
	END
}

# Another maker's module, and what is said of it, are nothing to a GPU of AMD's.
amd_beside_old_client() {
	amd_by_client
	put sys/module/nv_peer_mem/version 1.3
	says gpu 0 <<<'ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/sys/kernel/mm/memory_peers/amdkfd/version)'
}

amd_no_way() {
	card 0x1002 0x120000 amdgpu
	says gpu 0 <<-END
		WARN gpu 0000:04:00.0: RDMA devices have no way to its memory: registering it fails with EFAULT or EINVAL
		       no peer-memory client in /sys/module and /sys/kernel/mm/memory_peers
		       its driver exports no dma-bufs: /sys/module/amdgpu is missing
		     > use amdgpu of Linux 5.12 or newer with an RDMA driver that imports dma-bufs
	END
}

not_asked() {
	says gpu 0 <<-END
		note gpu 0000:04:00.0: its driver exports dma-bufs; whether RDMA devices take them was not asked
		       no RDMA device was opened
	END
}

open_module() {
	nvidia "$open"
	not_asked
}

amdgpu_module() {
	card 0x1002 0x038000 amdgpu
	mkdir -p "$tree/sys/module/amdgpu"
	not_asked
}

other_driver() {
	card "$1" 0x030000 "$3"
	says gpu 0 <<-END
		note gpu 0000:04:00.0: GPU of $2, not used for computing here: driver ${3:-none}
		       $gpu/driver
	END
}

# bar SIZE...: the BARs of a GPU that is well otherwise.
bars() {
	local size start=$((0x1000000000))
	for size; do
		printf '0x%016x 0x%016x 0x000000000014220c\n' "$start" "$((size ? start + size - 1 : 0))"
		start=$((start + size))
	done >"$tree$gpu/resource"
}

small_bar() {
	nvidia "$closed"
	put sys/module/nvidia_peermem/version 535
	bars $((16 << 20)) $((256 << 20)) 0
	says gpu 0 <<-END
		ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/sys/module/nvidia_peermem)
		WARN gpu 0000:04:00.0: BAR 1 shows 256 MiB of its memory at a time, and no more than that can be registered by a peer-memory client
		       $gpu/resource, line 2
		     > see the firmware's setup (Above 4G Decoding, Resizable BAR) and nvidia-smi -q -d MEMORY
	END
	bars $((16 << 20)) $((128 << 30)) 0
	says gpu 0 <<-END
		ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/sys/module/nvidia_peermem)
		ok   gpu 0000:04:00.0: BAR 1 is 131072 MiB
	END
}

amd_small_bar() {
	amd_by_client
	bars $((8 << 30))
	put "$gpu/mem_info_vram_total" $((64 << 30))
	says gpu 0 <<-END
		ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/sys/kernel/mm/memory_peers/amdkfd/version)
		WARN gpu 0000:04:00.0: BAR 0 shows 8192 MiB of its memory at a time, and no more than that can be registered by a peer-memory client
		       $gpu/resource, line 1
		       $gpu/mem_info_vram_total: 65536 MiB
		     > see the firmware's setup (Above 4G Decoding, Resizable BAR)
	END
}

another_line() {
	nvidia "$closed"
	says gpu 0 <<<'ok   gpu: no GPU of NVIDIA or AMD'
}

ok 'no GPU' none
ok 'no GPU to be seen' unseen
ok 'an adapter of NVIDIA' others 0x10de 0x020700
ok 'a display of Intel' others 0x8086 0x030000
fails 'another line is seen' '^> WARN gpu 0000:04:00.0: RDMA devices have no way' another_line
ok 'nvidia_peermem' by_client sys/module/nvidia_peermem/version sys/module/nvidia_peermem
ok 'nv_peer_mem' by_client sys/kernel/mm/memory_peers/nv_mem/version
ok 'nv_peer_mem without cooperation' by_client sys/kernel/mm/memory_peers/nv_mem_nc/version
ok 'amdkfd' amd_by_client
ok 'NVIDIA, neither way' no_way
ok "NVIDIA, and the kernel's own ib_core" no_interface
ok 'names of functions behind a link' names_elsewhere
ok 'names of functions without an end' endless_names
ok 'the older module in place of the newer' old_client
ok 'AMD, and a module of NVIDIA' amd_beside_old_client
ok 'AMD, neither way' amd_no_way
ok "NVIDIA's open kernel module" open_module
ok 'amdgpu' amdgpu_module
ok 'nouveau' other_driver 0x10de NVIDIA nouveau
ok 'no driver' other_driver 0x1002 AMD ''
ok 'BAR 1' small_bar
ok 'BAR 0' amd_small_bar

done_testing
