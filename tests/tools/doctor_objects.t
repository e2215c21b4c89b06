#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of how many objects a device has, and of what it can, on the fake libibverbs, of which
# tests/tools/kernel.c lists them. What a real kernel lists is in tests/device/doctor_process.t.

source tests/tap.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash
run_make build/tests/fake/libibverbs.so.1

# pairs PID COUNT...: so many queue pairs of the device
pairs() {
	local i
	while (($#)); do
		for ((i = 0; i < $2; i++)); do
			echo "qp 0 pid=$1"
		done
		shift 2
	done
}

# holds PID COUNT...: the device is open, and there are these queue pairs and what else there may be.
holds() {
	local pid
	fresh
	roce fake0
	for pid in 5000001 5000002 5000003 5000004; do
		process "$pid" "p${pid#500000}" 'S (sleeping)'
	done
	mkdir "$tree/proc/5000012"
	put proc/5000012/status 'Name:	p2' 'Tgid:	5000002'
	kernel 'dev 0 fake0' 'dev 1 other' 'qp 1 pid=5000001' "$(pairs "$@")" 'refuse srq 22'
}

# objects STATUS: what is said is the standard input.
objects() {
	LD_LIBRARY_PATH=$PWD/build/tests/fake on_it "$1" --only objects
}

few() {
	holds 5000001 921
	kernel 'dev 0 fake0' "$(pairs 5000001 921)" 'pd 0 pid=5000002' 'cm_id 0 pid=1' 'ctx 0 pid=5000002' 'ctx 0 kernel=smc'
	objects 0 <<-END
		ok objects fake0: queue pairs: 921 of 1024; completion queues: 0 of 1024; memory regions: 0 of 1024; protection domains: 1 of 1024; contexts: 2; shared receive queues: 0 of 1024
		  process 5000001 (p1): 921
	END
}

# Two threads of one process, and what the kernel itself has.
many() {
	holds 5000001 900 5000002 1 5000012 3 5000002 1 5000009 2 5000003 2 0 5 5000004 8
	objects 0 <<-END
		warning objects fake0: it holds 922 of the 1024 queue pairs that it can have; creating more than that fails, mostly with ENOMEM
		  ibv_query_device, and what the kernel lists by netlink
		  process 5000001 (p1): 900
		  process 5000004 (p4): 8
		  the kernel, or processes that cannot be seen here: 7
		  2 more processes
		> end the processes that hold them, or use fewer: rdma resource show
		ok objects fake0: queue pairs: 922 of 1024; completion queues: 0 of 1024; memory regions: 0 of 1024; protection domains: 0 of 1024; contexts: 0
		  process 5000001 (p1): 900
		  process 5000004 (p4): 8
		  the kernel, or processes that cannot be seen here: 7
		  2 more processes
	END
	holds 5000001 1 5000002 3 5000003 2
	objects 0 <<-END
		ok objects fake0: queue pairs: 6 of 1024; completion queues: 0 of 1024; memory regions: 0 of 1024; protection domains: 0 of 1024; contexts: 0
		  process 5000002 (p2): 3
		  process 5000003 (p3): 2
		  process 5000001 (p1): 1
	END
	holds 5000002 3 5000003 2 5000004 4 0 5
	objects 0 <<-END
		ok objects fake0: queue pairs: 14 of 1024; completion queues: 0 of 1024; memory regions: 0 of 1024; protection domains: 0 of 1024; contexts: 0
		  the kernel, or processes that cannot be seen here: 5
		  process 5000004 (p4): 4
		  process 5000002 (p2): 3
		  1 more process
	END
}

# A device that does not open, and a kernel that lists nothing, or no device.
nothing() {
	holds 5000001 2
	on_it 0 --only objects <<-END
		ok objects fake0: queue pairs: 2; completion queues: 0; memory regions: 0; protection domains: 0; contexts: 0
		  process 5000001 (p1): 2
	END
	kernel 'dev 0 fake0' 'qp 0 pid=5000001' 'refuse qp 1' 'refuse cq 1' 'refuse mr 1' 'refuse pd 1' 'refuse ctx 1' 'refuse srq 1'
	objects 0 </dev/null
	kernel 'refuse dev 1'
	objects 0 </dev/null
	rm "$tree/netlink"
	objects 0 </dev/null
	holds 5000001 2
	rm -r "$tree/sys/class/infiniband/fake0"
	objects 0 </dev/null
}

# What programs ask for, of a device that opens.
capabilities() {
	holds 5000001 1
	LD_LIBRARY_PATH=$PWD/build/tests/fake on_it 0 --only caps <<-END
		note caps fake0: on-demand paging (RC): no; device memory: no; atomics: IBV_ATOMIC_HCA (1); memory windows of type 2B: no; SRQs: 1024; READs at once: 16; timestamps: no
		  ibv_query_device_ex, firmware 1.0.0
	END
	on_it 0 --only caps </dev/null
}

of_a_tree() {
	fresh
	roce mlx5_0
	says objects 0 </dev/null
}

ok 'how many there are, and whose' few
ok 'nine tenths of what there can be' many
ok 'what cannot be counted' nothing
ok 'capabilities' capabilities
ok 'nothing of a saved tree' of_a_tree
done_testing
