#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of GPUs, on trees with the files of their drivers: which way RDMA devices have to their
# memory, and how much of it they see; and what becomes of 4 KiB that a device brings there, which the fake libibverbs and
# tests/tools/gpu.c stand for.

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

# brings LIBRARY VARIABLE=VALUE... : the standard input is what is said after bytes were sent to a GPU of this library.
brings() {
	local library=$1
	env LD_PRELOAD="$scratch/host.so" HOST_TREE="$tree" LD_LIBRARY_PATH="$PWD/build/tests/fake:$scratch/$library" FAKE_CARRIES=1 \
		"${@:2}" "$doctor" --only gpu >"$scratch/out" 2>&1 || :
	sed '/^rdmaez-doctor: /d; /can register dma-bufs$/d; /not used for computing here/,+1d' "$scratch/out" >"$scratch/lines"
	diff - "$scratch/lines"
}

# A GPU that is not of NVIDIA's driver, so that nothing is said of ways; and the libraries of both.
libraries() {
	local library
	card 0x10de 0x030200
	roce fake0
	mkdir "$scratch"/{cuda,hip,hsa}
	"${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -shared -fPIC tests/tools/host.c -o "$scratch/host.so"
	"${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -shared -fPIC tests/tools/gpu.c -o "$scratch/cuda/libcuda.so.1"
	"${CC:-gcc}" -std=gnu11 -Wall -Wextra -Werror -shared -fPIC -DHIP tests/tools/gpu.c -o "$scratch/hip/libamdhip64.so.6"
	for library in libamdhip64.so.5 libhsa-runtime64.so.1; do
		cp "$scratch/hip/libamdhip64.so.6" "$scratch/hsa/$library"
	done
	run_make build/tests/fake/libibverbs.so.1
}

address='ok   gpu fake0: 4 KiB reached the memory of GPU 0000:04:00.0 by its address unchanged'
dmabuf='ok   gpu fake0: 4 KiB reached the memory of GPU 0000:04:00.0 by a dma-buf unchanged'
no_way='WARN gpu fake0: no way to the memory of GPU 0000:04:00.0 has worked'
no_dmabuf='note gpu fake0: CUDA makes no dma-buf of the memory of GPU 0000:04:00.0
       cuMemGetHandleForAddressRange: 801
     > the driver does not support it: dma-bufs need NVIDIA'\''s open kernel module and Linux 5.12'

arrives() {
	brings cuda <<<"$address"$'\n'"$no_dmabuf"
	brings cuda FAKE_GPU=dmabuf FAKE_DMABUF=65536 <<<"$address"$'\n'"$dmabuf"
	brings hip <<<"$address"
	brings hsa FAKE_GPU=dmabuf FAKE_DMABUF=65536 <<<"$address"$'\n'"$dmabuf"
	brings hsa <<-END
		$address
		note gpu fake0: HIP makes no dma-buf of the memory of GPU 0000:04:00.0
		       hsa_amd_portable_export_dmabuf: 801
		     > the driver does not support it
	END
}

# One way is enough: only by a dma-buf, or only by an address.
one_way() {
	brings cuda FAKE_GPU=dmabuf FAKE_DMABUF=65536 FAKE_FAILS=ibv_reg_mr:2:14 <<-END
		note gpu fake0: registering memory of GPU 0000:04:00.0 by its address failed with EFAULT
		       the memory is mapped, but it is read-only or inaccessible, or belongs to a device or a file
		     > use memory that the process may read and write, or register read-only memory without write access
		$dmabuf
	END
	brings cuda FAKE_GPU=dmabuf FAKE_DMABUF=65536 FAKE_FAILS=ibv_reg_dmabuf_mr:2:95 <<-END
		$address
		note gpu fake0: registering memory of GPU 0000:04:00.0 by a dma-buf failed with EOPNOTSUPP
		       the driver can register dma-bufs, so probably the exporter of this one, such as a GPU's driver, does not let the device reach it
		     > read the kernel's log; try a device below the same PCIe switch, and check peer-to-peer and ACS with \`rdmaez-doctor --only gpu\`
	END
}

# Bytes that are lost, and what is not tried because of the device.
does_not_arrive() {
	local lost='FAIL gpu fake0: 4 KiB sent to the memory of GPU 0000:04:00.0 by its address did not arrive there, although the request succeeded
     > check ACS and the IOMMU (rdmaez-doctor --only slot, as root), and the versions of both drivers'
	brings cuda FAKE_GPU=lost <<<"$lost"$'\n'"$no_dmabuf"$'\n'"$no_way"
	brings hip FAKE_SPOILS=bytes <<<"$lost"$'\n'"$no_way"
	brings hip FAKE_SPOILS=lost <<<"$lost"$'\n'"$no_way"
	brings cuda FAKE_GPU=cuMemcpyDtoH_v2:700 <<-END
		note gpu fake0: what reached the memory of GPU 0000:04:00.0 could not be read: CUDA returns 700
		$no_dmabuf
		$no_way
	END
	brings hip FAKE_REFUSES=1 <<-END
		note gpu fake0: sending into memory of GPU 0000:04:00.0 by its address failed with EIO
		       this work request was refused; those before it are posted, those after it are not
		     > correct it, and post the list again from here
		$no_way
	END
	brings hip FAKE_FAILS=ibv_create_qp:1:12 <<-END
		note gpu fake0: GPU 0000:04:00.0 was not tried: ibv_create_qp failed with ENOMEM
		$no_way
	END
	brings hip FAKE_FAILS=ibv_modify_qp:1:22 <<-END
		note gpu fake0: GPU 0000:04:00.0 was not tried: the device cannot send to itself, EINVAL
		$no_way
	END
}

# ways VARIABLE=VALUE...: the same of ways to a GPU, where a device was asked.
ways() {
	env LD_PRELOAD="$scratch/host.so" HOST_TREE="$tree" LD_LIBRARY_PATH="$PWD/build/tests/fake" "$@" "$doctor" --only gpu \
		>"$scratch/out" 2>&1 || :
	sed '/^rdmaez-doctor: /d' "$scratch/out" >"$scratch/lines"
	diff - "$scratch/lines"
}

asked() {
	nvidia "$open"
	roce fake0
	ways <<-'END'
		ok   gpu fake0: can register dma-bufs
		ok   gpu 0000:04:00.0: RDMA devices reach its memory through dma-bufs
	END
	ways FAKE_FAILS=ibv_reg_dmabuf_mr:1:95 <<-'END'
		ok   gpu fake0: cannot register dma-bufs: its driver does not support them
		WARN gpu 0000:04:00.0: RDMA devices have no way to its memory: registering it fails with EFAULT or EINVAL
		       no peer-memory client in /sys/module and /sys/kernel/mm/memory_peers
		       no RDMA device imports dma-bufs: ibv_reg_dmabuf_mr
		     > modprobe nvidia_peermem # needs the ib_core of MLNX_OFED or DOCA; or install NVIDIA's open kernel module
	END
	ways FAKE_FAILS=ibv_reg_dmabuf_mr:1:5 <<-'END'
		note gpu fake0: it is not clear whether it can register dma-bufs
		       ibv_reg_dmabuf_mr with descriptor -1: Input/output error
		WARN gpu 0000:04:00.0: RDMA devices have no way to its memory: registering it fails with EFAULT or EINVAL
		       no peer-memory client in /sys/module and /sys/kernel/mm/memory_peers
		       no RDMA device imports dma-bufs: ibv_reg_dmabuf_mr
		     > modprobe nvidia_peermem # needs the ib_core of MLNX_OFED or DOCA; or install NVIDIA's open kernel module
	END
	for failure in ibv_open_device:0:13 ibv_alloc_pd:1:12; do
		ways FAKE_FAILS=$failure <<-'END'
			note gpu 0000:04:00.0: its driver exports dma-bufs; whether RDMA devices take them was not asked
			       no RDMA device was opened
		END
	done
}

# A BAR that its file does not have, or not as it should.
no_bar() {
	local lines='ok   gpu 0000:04:00.0: RDMA devices reach its memory through a peer-memory client (/sys/module/nvidia_peermem)'
	nvidia "$closed"
	put sys/module/nvidia_peermem/version 535
	for resource in '0x1 0x2 0x3' $'first\nsecond' $'first\n0x1000 0x1000 0x0' $'first\n0x1000 0x0fff 0x0'; do
		printf %s "$resource" >"$tree$gpu/resource"
		says gpu 0 <<<"$lines"
	done
	printf 'first\n0x1000 0x1001 0x0\n' >"$tree$gpu/resource"
	says gpu 0 <<-END
		$lines
		WARN gpu 0000:04:00.0: BAR 1 shows 0 MiB of its memory at a time, and no more than that can be registered by a peer-memory client
		       $gpu/resource, line 2
		     > see the firmware's setup (Above 4G Decoding, Resizable BAR) and nvidia-smi -q -d MEMORY
	END
}

# lends LIBRARY FUNCTION NUMBER [MEANING]: no memory, as a function of the library says.
lends() {
	brings "${1,,}" "FAKE_GPU=$2:$3" <<-END
		note gpu fake0: no memory of GPU 0 could be allocated to try it: $1 returns $3${4:+
		     > $4}
	END
}

# begins LIBRARY FUNCTION NUMBER [MEANING]: the library does not start.
begins() {
	brings "${1,,}" "FAKE_GPU=$2:$3" <<-END
		note gpu $1: memory of GPUs was not tried: it does not start, and returns $3${4:+
		     > $4}
	END
}

# What the numbers of both libraries mean, and of some nothing is known.
numbers() {
	local none='the GPU has no memory left: see which processes use it' function
	for function in cuDeviceGet cuDeviceGetPCIBusId cuDevicePrimaryCtxRetain cuCtxSetCurrent cuMemAlloc_v2; do
		lends CUDA "$function" 2 "$none"
	done
	for function in hipSetDevice hipDeviceGetPCIBusId hipMalloc; do
		lends HIP "$function" 2 "$none"
	done
	lends HIP hipMalloc 35 "the library needs a newer amdgpu driver: see ROCm's table of them"
	lends HIP hipMalloc 801 'the driver does not support it'
	lends HIP hipMalloc 999 "the driver is not set up: see the kernel's log, and \`rocminfo\`"
	lends HIP hipMalloc 34
	lends CUDA cuMemAlloc_v2 46 'another process has the GPU for itself, or it needs a reset'
	lends CUDA cuMemAlloc_v2 35
	begins CUDA cuDeviceGetCount 34 "the library is a stub: give the container the driver's own"
	begins CUDA cuInit 802 "the GPU's system is not ready: on NVSwitch machines nvidia-fabricmanager must run"
	begins CUDA cuInit 803 "the driver and its library are of different releases, or the container has an older library than the host's driver"
	begins CUDA cuInit 804 'the compatibility library does not support this GPU'
	begins CUDA cuInit 999 "the driver is not set up: see the kernel's log, and \`nvidia-smi\`"
	begins HIP hipGetDeviceCount 999 "the driver is not set up: see the kernel's log, and \`rocminfo\`"
	brings cuda FAKE_GPU=cuInit:100 </dev/null
	brings hip FAKE_GPU=hipGetDeviceCount:100 </dev/null
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

ok 'libraries of GPUs' libraries
ok 'data to a GPU' arrives
ok 'by one way' one_way
ok 'data that do not arrive' does_not_arrive
ok 'what the libraries return' numbers
ok 'dma-bufs, where a device was asked' asked
ok 'no BAR' no_bar
done_testing
