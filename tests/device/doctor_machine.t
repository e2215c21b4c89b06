#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor on a machine with real faults, one at a time, each with the errno that a program gets there: module
# missing, node missing, forbidden or another's, no provider library, little memory to lock, a full cgroup, a device of
# another network namespace. Without them it finds nothing wrong.
#
# Nightly: a minute; tests/tools/doctor_machine.t has the same judgements.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	mkdir -p build/tests/gpu/{cuda,hip}
	"${CC:-gcc}" -shared -fPIC tests/tools/gpu.c -o build/tests/gpu/cuda/libcuda.so.1 || exit
	"${CC:-gcc}" -shared -fPIC -DHIP tests/tools/gpu.c -o build/tests/gpu/hip/libamdhip64.so.6 || exit
	exec tools/softroce --quiet --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/doctor_machine.t here
fi

source tests/tap.bash
source tests/certify.bash

doctor=$PWD/build/tools/rdmaez-doctor
node=/dev/infiniband/uverbs0
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
mine=(--only modules --only device --only node --only cm --only provider --only memlock --only cgroup --only namespace
	--only fork)

# finds STATUS PATTERN COMMAND...: COMMAND is run with the doctor and its checks of the machine; its report ends with
# STATUS, and a whole line of it matches PATTERN.
finds() {
	local code=0
	"${@:3}" "$doctor" --quiet "${mine[@]}" >"$scratch/report" 2>&1 || code=$?
	cat "$scratch/report"
	((code == $1))
	grep -qxE -- "$2" "$scratch/report"
}

# Nothing but OK lines, for root and, but for memory to lock, for anybody.
healthy() {
	"$doctor" --quiet "${mine[@]}" >"$scratch/report"
	cat "$scratch/report"
	[[ ! -s $scratch/report ]]
	finds 0 'WARN memlock: a process may lock 8 MiB: .*' "${nobody[@]}"
	[[ $(grep -cE '^(note|WARN|FAIL)' "$scratch/report") == 1 ]]
}

as_json() {
	"$doctor" --json rxe0 >"$scratch/report"
	jq --exit-status '.summary.failed == 0 and any(.checks[]; .check == "provider" and .subject == "rxe0")' \
		"$scratch/report"
}

# into_gpu LIBRARY CASE LINE...: memory of a GPU that tests/tools/gpu.c stands for, whose bytes a real device carries.
into_gpu() {
	FAKE_GPU=$2 LD_LIBRARY_PATH=$PWD/build/tests/gpu/$1 "$doctor" --only gpu rxe0 >"$scratch/report" || :
	cat "$scratch/report"
	printf '%s\n' "${@:3}" >"$scratch/wanted"
	diff <(grep -E 'GPU [0-9]' "$scratch/report") "$scratch/wanted"
}

# without_gpu LIBRARY CASE LINE...: a library that does not start, of which alone something is said.
without_gpu() {
	FAKE_GPU=$2 LD_LIBRARY_PATH=$PWD/build/tests/gpu/$1 "$doctor" --only gpu rxe0 >"$scratch/report" || :
	cat "$scratch/report"
	printf '%s\n' "${@:3}" >"$scratch/wanted"
	diff <(sed -n '/ gpu CUDA: /,/ > /p' "$scratch/report") <(sed '/^$/d' "$scratch/wanted")
}

no_permission() {
	chmod 600 "$node"
	finds 1 "FAIL node rxe0: this process may not open $node: Permission denied" "${nobody[@]}"
	grep -qx "       $node: owner root, group root, mode 0600; this is user 65534, group 65534" "$scratch/report"
	[[ $(grep -A3 '^FAIL node' "$scratch/report" | grep -c '^     >') == 1 ]]
	chgrp 44 "$node"
	chmod 660 "$node"
	finds 1 "FAIL node rxe0: this process may not open $node: Permission denied" "${nobody[@]}"
	grep -qx "     > as root: usermod -aG $(getent group 44 | cut -d : -f 1) USER, who then logs in again" "$scratch/report"
	chgrp 0 "$node"
	chmod 666 "$node"
}

# rxe has no XRC, no device memory and no types but RC, UC and UD; RAW_PACKET takes a privilege to ask for. All else it has,
# as the file that is committed says.
certifies() {
	install -d -m 777 /tmp/certify
	"${nobody[@]}" "$doctor" --certify=/tmp/certify/rxe.json rxe0 >"$scratch/report"
	cat "$scratch/report"
	grep -qxF 'ok   certify rxe0/1: RC: 76 passed' "$scratch/report"
	[[ $(results /tmp/certify/rxe.json) == *', fail 0, '* ]]
	is_private /tmp/certify/rxe.json
	follows_schema /tmp/certify/rxe.json
	is_recorded_kernel || return 0
	[[ $(results /tmp/certify/rxe.json) == 'pass 236, fail 0, not offered 4, not tried 4' ]]
	diff <(steps /tmp/certify/rxe.json 'not offered') - <<-END
		objects: open an XRC domain
		XRC_SEND: create a queue pair
		XRC_RECV: create a queue pair
		device memory: allocate 64 bytes
	END
	diff <(steps /tmp/certify/rxe.json 'not tried') - <<-END
		UC: moves from SQE
		UD: moves from SQE
		RAW_PACKET: create a queue pair
		second host: probe
	END
	same_steps docs/verified/rdma_rxe.json /tmp/certify/rxe.json
}

seeded_result() {
	sed 's/"pass", "group": "RC", "step": "READ"/"fail", "group": "RC", "step": "READ"/' /tmp/certify/rxe.json >"$scratch/seeded.json"
	same_steps docs/verified/rdma_rxe.json "$scratch/seeded.json"
}

# All devices that there are; as root, who may ask for RAW_PACKET, which rxe has not.
on_hardware() {
	tests/hardware/run "$scratch/hardware" >"$scratch/report"
	tail -n 1 "$scratch/report"
	[[ $(tail -n 1 "$scratch/report") == "Please send $scratch/hardware/rdma_rxe-1.json: "* ]]
	[[ $(steps "$scratch/hardware/rdma_rxe-1.json" 'not offered' | grep RAW) == 'RAW_PACKET: create a queue pair' ]]
}

down() {
	local code=0
	ip link set veth0 down
	"$doctor" --certify=/tmp/certify/down.json rxe0 || code=$?
	ip link set veth0 up
	until grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state; do sleep 0.02; done
	[[ $code == 1 && $(results /tmp/certify/down.json) == 'pass 4, fail 1, not offered 0, not tried 1' ]]
	[[ $(steps /tmp/certify/down.json fail) == 'device: a port is active' ]]
}

# on_the_page FILE: what it shows is printed here, line by line.
# shellcheck disable=SC2016 # the end of a block
on_the_page() {
	sed -n '/^\$ rdmaez-doctor$/,/^```$/{/^[$`]/d; p}' "$1" >"$scratch/shown"
	(($(wc -l <"$scratch/shown") > 6))
	chmod 600 "$node"
	"${nobody[@]}" "$doctor" "${mine[@]}" >"$scratch/report" || :
	chmod 666 "$node"
	diff "$scratch/shown" "$scratch/report" >"$scratch/diff" || :
	! grep '^<' "$scratch/diff"
}

# The mode is not all: no node works on a file system that is mounted with nodev.
nodev() {
	mkdir /run/nodev
	mount -t tmpfs -o nodev none /run/nodev
	mknod --mode=666 /run/nodev/uverbs0 c 231 192
	finds 1 "FAIL node rxe0: this process may not open $node: Permission denied" \
		hidden /dev/infiniband /run/nodev
	grep -q '     > check whether its file system is mounted with nodev' "$scratch/report"
}

no_node() {
	mv "$node" /dev/moved
	finds 1 "FAIL node rxe0: its node $node is missing" env
	mv /dev/moved "$node"
}

other_node() {
	mv "$node" /dev/moved
	mknod "$node" c 231 250
	finds 1 "FAIL node rxe0: $node is not its node" env
	grep -qxF "     > as root: rm $node && mknod --mode=666 $node c 231 192" "$scratch/report"
	# What libibverbs tries after it.
	mkdir -p /dev/char
	ln -s /dev/moved /dev/char/231:192
	finds 0 "WARN node rxe0: $node is not its node" env
	rm /dev/char/231:192
	rm "$node"
	mv /dev/moved "$node"
}

no_cm_node() {
	mv /dev/infiniband/rdma_cm /dev/moved
	finds 0 'WARN cm: its node /dev/infiniband/rdma_cm is missing' env
	mv /dev/moved /dev/infiniband/rdma_cm
}

# shellcheck disable=SC2016 # expanded by the inner shell
# hidden DIRECTORY OTHER COMMAND...: with another directory in its place.
hidden() {
	mkdir -p "$2"
	unshare --mount sh -c 'mount --bind "$1" "$0" && shift && exec "$@"' "$@"
}

no_provider() {
	finds 1 'FAIL provider rxe0: libibverbs does not list it' hidden "$(echo /usr/lib/*/libibverbs)" /run/empty
	grep -qxF 'FAIL provider: there are no provider libraries, without which libibverbs finds no device' "$scratch/report"
	grep -qE 'librxe-rdmav[0-9]+.so: no such file' "$scratch/report"
}

no_driver_files() {
	finds 1 'FAIL provider: no file of /etc/libibverbs.d names a provider library' hidden /etc/libibverbs.d /run/empty
	grep -qx 'FAIL provider rxe0: libibverbs does not list it' "$scratch/report"
	grep -qx '       /etc/libibverbs.d/rxe.driver: no such file' "$scratch/report"
}

# The same library under the name that it would have if it were of another release.
other_release() {
	mkdir /run/other
	cp /usr/lib/*/libibverbs/librxe-rdmav*.so /run/other/librxe-rdmav999.so
	finds 1 'FAIL provider: the provider libraries are of another release of rdma-core than libibverbs' \
		hidden "$(echo /usr/lib/*/libibverbs)" /run/other
	grep -qx 'FAIL provider rxe0: libibverbs does not list it' "$scratch/report"
}

# It is there, and lacks what it needs itself: libibverbs writes only of a name that no directory has.
cannot_be_loaded() {
	local there
	there=$(echo /usr/lib/*/libibverbs)
	mkdir /run/lacking
	echo 'int other(void); int provider(void) { return other(); }' >/run/lacking/provider.c
	gcc -shared -fPIC /run/lacking/provider.c -o "/run/lacking/$(basename "$there"/librxe-rdmav*.so)"
	finds 1 'FAIL provider rxe0: libibverbs does not list it' hidden "$there" /run/lacking
	grep -qE "^       dlopen\(\"$there/librxe-rdmav[0-9]+\.so\"\): .*undefined symbol: other$" "$scratch/report"
	grep -qx '     > install the library that it lacks, or it again: .*' "$scratch/report"
}

named_in_environment() {
	finds 0 'note provider: IBV_DRIVERS adds provider libraries: /opt/other' env IBV_DRIVERS=/opt/other
}

# Devices may be allowed by a cgroup, whatever their mode says.
forbidden() {
	mkdir -p /run/devices
	mount -t cgroup -o devices none /run/devices
	mkdir /run/devices/few
	echo 'c 231:* rwm' >/run/devices/few/devices.deny
	# shellcheck disable=SC2016 # expanded by the inner shell
	finds 1 "FAIL node rxe0: this process may not open $node: Operation not permitted" \
		sh -c 'echo $$ >/run/devices/few/cgroup.procs && exec "$@"' sh
	grep -qx '       open("/dev/infiniband/uverbs0", O_RDWR): EPERM' "$scratch/report"
	grep -q '     > allow the device in the container.s device cgroup: ' "$scratch/report"
}

# memlock KIB LINE
memlock() {
	finds 1 "$2" prlimit --memlock=$(($1 * 1024)) "${nobody[@]}"
	# A program is told the same: 128 KiB are refused.
	fails_to_register prlimit --memlock=$(($1 * 1024)) "${nobody[@]}"
}

fails_to_register() {
	local code=0
	"$@" ibv_rc_pingpong --gid-idx 1 --size 131072 2>"$scratch/err" </dev/null || code=$?
	((code == 1))
	grep -q "Couldn't register MR" "$scratch/err"
}

# full LIMIT PATTERN: of the cgroup in which the doctor is.
full() {
	echo "rxe0 $1" >/run/cgroup/full/rdma.max
	# shellcheck disable=SC2016 # expanded by the inner shell
	finds 1 "$2" sh -c 'echo $$ >/run/cgroup/full/cgroup.procs && exec "$@"' sh
}

shared_elsewhere() {
	finds 0 'WARN namespace rxe0: [0-9]+ of [0-9]+ GIDs of port 1 belong to interfaces in other network namespaces' unshare --net
}

exclusive_elsewhere() {
	rdma system set netns exclusive
	finds 1 'FAIL namespace rxe0: the device is in another network namespace' unshare --net
	# shellcheck disable=SC2016 # expanded by the inner shell
	finds 1 'FAIL device: the kernel shows no RDMA device here' unshare --net --mount sh -c \
		'mount -t sysfs none /sys && exec "$@"' sh
	grep -qx 'FAIL namespace rxe0: the device is in another network namespace' "$scratch/report"
	! grep -E '^(FAIL|WARN) (node|provider)' "$scratch/report"
}

# remove MODULE...: each with those that use it.
remove() {
	local module users
	for module; do
		users=$(sed -n "s/^$module [0-9]* [0-9]* \([^ ]*\) .*/\1/p" /proc/modules)
		[[ -n $users ]] || continue
		# shellcheck disable=SC2086 # a list of words
		[[ $users == - ]] || remove ${users//,/ }
		/run/softroce/busybox rmmod "$module"
	done
}

no_module() {
	remove rdma_rxe
	finds 1 'FAIL device: the kernel shows no RDMA device here' env
	grep -qE '     > to try RDMA without an adapter, as root: .* rdma link add rxe0 type rxe netdev veth0' "$scratch/report"
	grep -q 'this is a virtual machine' "$scratch/report"
}

no_uverbs() {
	remove ib_uverbs
	finds 1 'WARN modules ib_uverbs: not loaded: .*' env
	grep -qx 'WARN modules rdma_ucm: not loaded: .*' "$scratch/report"
}

no_core() {
	remove ib_core
	finds 1 'FAIL modules ib_core: not loaded: there can be no RDMA device' env
	[[ ! -e /sys/class/infiniband ]]
}

ok "a machine that is well" healthy
ok "the same as JSON, of one device" as_json
ok "no permission" no_permission
ok "no permission, for the file system" nodev
ok "the page shows the same" on_the_page docs/doctor.md
sed 's/EACCES/EPERM/' docs/doctor.md >"$scratch/page.md"
fails "what is not printed is seen on the page" '^< .*EPERM' on_the_page "$scratch/page.md"
ok "no node" no_node
ok "another device's node" other_node
ok "no node of rdma_cm" no_cm_node
ok "no provider library" no_provider
ok "one that cannot be loaded" cannot_be_loaded
ok "no file that names one" no_driver_files
ok "4 KiB into a GPU's memory" into_gpu cuda '' \
	'ok   gpu rxe0: 4 KiB reached the memory of GPU 0000:04:00.0 by its address unchanged' \
	'note gpu rxe0: CUDA makes no dma-buf of the memory of GPU 0000:04:00.0'
ok "the same by HIP" into_gpu hip '' \
	'ok   gpu rxe0: 4 KiB reached the memory of GPU 0000:04:00.0 by its address unchanged'
ok "bytes that are lost on the way" into_gpu cuda lost \
	'FAIL gpu rxe0: 4 KiB sent to the memory of GPU 0000:04:00.0 by its address did not arrive there, although the request succeeded' \
	'note gpu rxe0: CUDA makes no dma-buf of the memory of GPU 0000:04:00.0' \
	'WARN gpu rxe0: no way to the memory of GPU 0000:04:00.0 has worked'
ok "memory that cannot be registered" into_gpu hip hole \
	'note gpu rxe0: registering memory of GPU 0000:04:00.0 by its address failed with EFAULT' \
	'WARN gpu rxe0: no way to the memory of GPU 0000:04:00.0 has worked'
ok "a driver that takes no dma-bufs" into_gpu cuda dmabuf \
	'ok   gpu rxe0: 4 KiB reached the memory of GPU 0000:04:00.0 by its address unchanged' \
	'note gpu rxe0: registering memory of GPU 0000:04:00.0 by a dma-buf failed with EOPNOTSUPP'
ok "a GPU without free memory" into_gpu cuda taken \
	'note gpu rxe0: no memory of GPU 0 could be allocated to try it: CUDA returns 2'
ok "a library that is not the driver's" without_gpu cuda skewed \
	'note gpu CUDA: memory of GPUs was not tried: it does not start, and returns 803' \
	"     > the driver and its library are of different releases, or the container has an older library than the host's driver"
ok "a library without a GPU" without_gpu cuda none ''
ok "provider libraries of another release" other_release
ok "a library named in the environment" named_in_environment
ok "a device that a cgroup forbids" forbidden
ok "64 KiB of memory to lock" memlock 64 'FAIL memlock: a process may lock 64 KiB: .*'
ok "none" memlock 0 'FAIL memlock: a process may lock no memory: registering any fails with EPERM'
mkdir /run/cgroup
mount -t cgroup2 none /run/cgroup
mkdir /run/cgroup/full
echo +rdma >/run/cgroup/cgroup.subtree_control
ok "no device may be opened" full hca_handle=0 "FAIL cgroup rxe0: the cgroup's limit of hca_handle is reached \(0\): .*"
ok "and none is" grep -qx 'FAIL provider rxe0: ibv_open_device fails: Resource temporarily unavailable' "$scratch/report"
ok "no object may be created" full 'hca_handle=max hca_object=0' \
	"FAIL cgroup rxe0: the cgroup's limit of hca_object is reached \(0\): .*"
umount /run/cgroup
ok "what the device does, by --certify" certifies
fails "other results would be noticed" '"fail"' seeded_result
ok "make check-hardware" on_hardware
ok "a port that is down is not certified" down
ok "another network namespace, devices shared" shared_elsewhere
ok "the same, devices not shared" exclusive_elsewhere
ok "no module of a device" no_module
ok "no ib_uverbs" no_uverbs
ok "no module at all" no_core
fails "a fault that is not there is not found" '^rdmaez-doctor: ' finds 0 'FAIL node rxe0: .*' env
done_testing
