#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/mesh: MPI ranks on one device and on two, one queue pair to each peer and more; and one rank that fails. Needs
# build/examples and Open MPI; runs itself again on the Soft-RoCE machine.
#
# Nightly: eight MPI ranks take a minute.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/mesh.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

mesh=build/examples/mesh

# run MPIRUN'S ARGUMENT...: what it prints goes to $scratch/out and $scratch/said, its exit status to $code. MPI keeps
# to TCP, and leaves the RDMA devices to the mesh.
run() {
	code=0
	timeout 600 mpirun --allow-run-as-root --oversubscribe --mca pml ob1 --mca btl self,tcp \
		--mca btl_tcp_if_include lo "$@" >"$scratch/out" 2>"$scratch/said" || code=$?
	cat "$scratch/out" "$scratch/said"
	echo "exit status $code"
}

# whole RANKS PER_PEER MPIRUN'S ARGUMENT...: all that is printed, but for times.
whole() {
	local each=$((($1 - 1) * $2)) told=$(($1 * $2 * 384)) pairs=$(($1 * ($1 - 1)))
	run "${@:3}"
	((code == 0))
	[[ ! -s $scratch/said ]]
	diff <(sed -E 's/[0-9]+\.[0-9]+/T/g; s/  +/ /g' "$scratch/out") - <<-END
		create T ms T ms per queue pair
		endpoint T ms T ms per queue pair
		all-gather T ms T ms per queue pair
		connect T ms T ms per queue pair
		verify T ms T ms per queue pair
		$1 ranks, $each queue pairs each; $told bytes told by each, $((told * $1)) in all
		$pairs pairs verified, $((pairs * $2 * 4096)) bytes written and compared
	END
}

# broken TEXT MPIRUN'S ARGUMENT...: all ends, with these first lines of one rank's.
broken() {
	local told
	run "${@:2}"
	told=$(grep -a -A $(($(wc -l <<<"$1") - 1)) '^rank ' "$scratch/said")
	((code == 1))
	[[ ! -s $scratch/out ]]
	diff <(echo "$told") <(echo "$1")
}

for ranks in 2 4 8; do
	ok "$ranks ranks" whole $ranks 1 -n $ranks $mesh
done
ok '3 ranks, 5 queue pairs to each peer' whole 3 5 -n 3 $mesh -q 5
# Each rank chooses by itself: mpirun of Open MPI 5.0.7, Debian 13's, dies of `-n 1 A : -n 1 B`.
# shellcheck disable=SC2016 # for the rank's shell
ok '2 ranks on a device each' whole 2 3 -n 2 sh -c 'exec "$0" -q 3 -d "rxe$OMPI_COMM_WORLD_RANK"' $mesh
# shellcheck disable=SC2016
ok 'one of 3 ranks is given a wrong device' broken \
	'rank 2: open: rdmaez_device_open: ibv_get_device_list failed with ENODEV (19) on nosuch.
  device: there is no RDMA device of this name. Next: use the name of a device that exists.
  Advice, device: libibverbs lists this device. It is rxe0. Next: open it by this name.
  Advice, device: libibverbs lists this device. It is rxe1. Next: open it by this name.' \
	-n 3 sh -c 'test $OMPI_COMM_WORLD_RANK = 2 && exec "$0" -d nosuch || exec "$0"' $mesh
ok 'a single rank' broken 'rank 0: start: a mesh takes two ranks: start it with mpirun -n' -n 1 $mesh

done_testing
