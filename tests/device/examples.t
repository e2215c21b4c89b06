#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every example says what it does when asked, refuses what it does not take, and without an RDMA device says why there is
# none and points to tools/softroce. Needs build/examples; runs itself again on the Soft-RoCE machine, whose device it removes.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
# shellcheck source=tests/tap.bash
source tests/tap.bash

examples=()
for source in examples/*.c examples/*.cc; do
	source=${source##*/}
	examples+=("${source%.*}")
done
((${#examples[@]} > 10)) || exit
before=() # what starts an example

# run EXAMPLE ARG...: what it prints goes to $scratch/out and $scratch/said, its exit status to $code.
run() {
	code=0
	timeout 60 "${before[@]}" "build/examples/$1" "${@:2}" </dev/null >"$scratch/out" 2>"$scratch/said" || code=$?
	head -v "$scratch/out" "$scratch/said"
	echo "exit status $code"
}

# one_screen FILE EXAMPLE: a usage of at most 24 lines of 100 columns, that of the example and no more.
one_screen() {
	grep -qE "^usage: (mpirun -n RANKS )?${2/[uc][cd]_/rc_}( |$)" "$1"
	(($(wc -l <"$1") <= 24))
	! grep -E '^.{101}' "$1"
}

helps() {
	run "$1" "$2"
	((code == 0))
	[[ ! -s $scratch/said ]]
	one_screen "$scratch/out" "$1"
}

refuses() {
	run "$@"
	((code == 2))
	[[ ! -s $scratch/out ]]
	sed -i '/^build/d' "$scratch/said" # getopt's own line
	one_screen "$scratch/said" "$1"
}

lacks_a_device() {
	[[ $1 != mesh ]] || before=(mpirun --allow-run-as-root --oversubscribe --mca pml ob1 --mca btl "self,tcp" \
		--mca btl_tcp_if_include lo -n 2)
	[[ $1 != replicate ]] || set -- "$1" "$scratch/copy"
	run "$@"
	((code == 1 || code == 2))
	tr -s '\n ' ' ' <"$scratch/said" >"$scratch/words"
	if [[ $1 == cm || $1 == loop ]]; then # librdmacm looks for devices itself
		grep -q 'there is no RDMA device. Next: run rdmaez-doctor' "$scratch/words"
		return
	fi
	grep -q 'the kernel shows this process no RDMA device' "$scratch/words"
	grep -q "run the program with rdmaez's tools/softroce" "$scratch/words"
}

all_lack_a_device() {
	local example
	for example in "${examples[@]}"; do
		ok "$1: $example says why it does not run" lacks_a_device "$example"
	done
}

if [[ ${1-} == here ]]; then
	fails 'on the Soft-RoCE machine the first example runs' 'exit status 0' lacks_a_device 01_first
	ok 'its device can be removed' rdma link delete rxe0
	all_lack_a_device 'without it'
	done_testing
	exit
fi

for example in "${examples[@]}"; do
	ok "$example --help" helps "$example" --help
	ok "$example -h" helps "$example" -h
	ok "$example refuses an unknown option" refuses "$example" --nonsense
	ok "$example refuses too much" refuses "$example" a b c d
done
fails 'an example that does not know -h is seen' 'exit status 127' helps ../../tests/device/no_such_example -h

compgen -G '/sys/class/infiniband/*' >/dev/null || all_lack_a_device 'on this host'

ok 'on the Soft-RoCE machine' tools/softroce --quiet --timeout 0 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
	tests/device/examples.t here
done_testing
