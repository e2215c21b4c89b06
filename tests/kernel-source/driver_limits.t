#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a driver's record says of the limits that it compares, when objects are created: rdma-core's own providers stand
# above a kernel without an adapter, in which the driver's own functions judge. They are compiled as driver_moves.t does
# it, and end where they ask for something that is not here: by then they have compared what they compare.
# `limits.c` says what must agree, and tests/provider/limits.h how the two halves talk.
#
# With RDMAEZ_NIGHTLY=1 there are twenty times as many numbers, and others each day.

source tests/tap.bash

numbers=200
seed=1
if [[ ${RDMAEZ_NIGHTLY:-0} == 1 ]]; then
	numbers=4000
	seed=$(date +%Y%m%d)
fi
seed=${RDMAEZ_SEED:-$seed}

source tests/kernel-source/lib.bash

# user INCLUDE DIRECTORY: the half that asks, with the headers in INCLUDE.
user() {
	local file
	mkdir -p "$2"
	for file in tests/kernel-source/limits.c tests/provider/{kernel,drivers}.c; do
		gcc -std=gnu11 -O1 -g @tests/compile/warnings "-I$1" -Itests -Itests/device -Itests/provider \
			-c "$file" -o "$2/$(basename "$file" .c).o"
	done
}

shared() {
	user include "$scratch/user"
	gcc -O1 -Wall -Werror -fno-builtin -fno-pie -c "$moves/stubs.c" -o "$scratch/stubs.o"
}

# compare TREE DRIVER DIRECTORY USER: the program of a driver in DIRECTORY, of TREE's source, and its answers.
compare() {
	local dir=$3
	mkdir -p "$dir"
	of_kernel "$1" "hw/$2" "tests/kernel-source/limits/$2.c" "$dir/driver.o" -Itests
	lacks "$dir/driver.o" >"$dir/lacks.S"
	gcc -c "$dir/lacks.S" -o "$dir/lacks.o"
	gcc -no-pie "$4"/*.o "$dir/driver.o" "$scratch/stubs.o" "$dir/lacks.o" -rdynamic -libverbs -o "$dir/limits"
	rm -rf "$dir/sys"
	"$dir/limits" "$2" "$dir/sys" "$seed" "$numbers" >"$dir/tap" 2>&1 ||
		{ grep -A12 -E '^not ok|^#|^Bail' "$dir/tap" || tail -5 "$dir/tap"; return 1; }
	grep -q '^1\.\.' "$dir/tap"
}

echo "# Linux $release, seed $seed, libibverbs $(pkg-config --modversion libibverbs)"
ok 'the half that asks compiles' shared
for driver in bnxt_re efa erdma hns irdma mlx4 mlx5; do
	soon ok "$driver compares what its record says" compare "$tree" "$driver" "$scratch/$driver" "$scratch/user"
done

# of_record DRIVER SCRIPT: with SCRIPT, of sed, done to the records.
of_record() {
	rm -rf "$scratch/include"
	cp -r include "$scratch"
	sed -i "$2" "$scratch/include/rdmaez/impl/driver.h"
	! cmp -s include/rdmaez/impl/driver.h "$scratch/include/rdmaez/impl/driver.h" || echo 'nothing was changed'
	user "$scratch/include" "$scratch/claims"
	compare "$tree" "$1" "$scratch/claims/built" "$scratch/claims"
}

# of_driver DRIVER FILE SCRIPT: with SCRIPT done to a FILE of the driver.
of_driver() {
	local dir=$scratch/changed-$1
	changed_driver "$dir" "$1" "$2" "$3" || return 0
	compare "$dir" "$1" "$dir/built" "$scratch/user"
}

# A comparison that cannot fail proves nothing.
fails 'mlx5: a limit that it does not compare is noticed' 'not ok .* mlx5_ib, cap.max_send_wr: the device refuses' \
	of_record mlx5 '/X("mlx5_ib/,/FILLS/s/RDMAEZ_DRIVER_COMPARES_SRQ_WR/& | RDMAEZ_DRIVER_COMPARES_SEND_WR/'
fails 'efa: a queue that is too long and taken is noticed' 'not ok .* efa, cqe: the device refuses' \
	of_driver efa efa_verbs.c 's/entries > dev->dev_attr.max_cq_depth/0/'
fails 'irdma: too many SGEs that are taken are noticed' 'not ok .* irdma, cap.max_recv_sge: the device refuses' \
	of_driver irdma verbs.c 's/max_recv_sge > uk_attrs->max_hw_wq_frags/max_recv_sge > 1000000/'
done_testing
