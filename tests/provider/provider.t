#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What providers for hardware say: rdma-core's own libraries, as they are installed, above a kernel without an adapter.
# Random work requests go to RC and UD queue pairs, by both interfaces, before they are connected, in RTS and in ERR. What
# the driver's record calls checked must be refused, and each refusal explained. And all that an adapter may report of a
# work request is written into completion queues: struct rdmaez_advice must name the drivers of each status that comes.
#
# With RDMAEZ_NIGHTLY=1 there are ten times as many requests, and others each day.

source tests/tap.bash

requests=300
seed=1
if [[ ${RDMAEZ_NIGHTLY:-0} == 1 ]]; then
	requests=3000
	seed=$(date +%Y%m%d)
fi
seed=${RDMAEZ_SEED:-$seed}

# build PROGRAM INCLUDE: one of the programs, with the headers in INCLUDE.
build() {
	gcc -std=c11 -O1 -g @tests/compile/warnings "-I$2" -Itests -Itests/device -Itests/provider \
		"tests/provider/$1.c" tests/provider/{kernel,drivers}.c -rdynamic -libverbs -o "$scratch/$1"
}

# asked PROGRAM DRIVER: what it finds; where they disagree, the lines that say so.
asked() {
	rm -rf "$scratch/sys"
	"$scratch/$1" "$2" "$scratch/sys" "$seed" "$requests" >"$scratch/tap" 2>"$scratch/errors" ||
		{ grep -A6 -E '^not ok|^Bail' "$scratch/tap" || cat "$scratch/tap" "$scratch/errors"; return 1; }
	grep -q '^1\.\.' "$scratch/tap"
}

echo "# seed $seed, libibverbs $(pkg-config --modversion libibverbs)"
ok 'post.c compiles' build post include
ok 'status.c compiles' build status include
for driver in bnxt_re efa erdma hns irdma mlx4 mlx5; do
	ok "$driver refuses what rdmaez says, and what it refuses is explained" asked post "$driver"
	ok "$driver reports the statuses that rdmaez says, and no others" asked status "$driver"
done

# changed PROGRAM DRIVER HEADER SCRIPT: with a header changed by SCRIPT, of sed, something is said that is not so.
changed() {
	rm -rf "$scratch/include"
	cp -r include "$scratch"
	sed -i "$4" "$scratch/include/rdmaez/$3"
	! cmp -s "include/rdmaez/$3" "$scratch/include/rdmaez/$3" || echo 'nothing was changed'
	build "$1" "$scratch/include"
	asked "$1" "$2"
}
fails 'erdma: SGEs that it does not count are noticed' 'not ok .* certain causes' changed post erdma impl/driver.h \
	'/X("erdma/,/FILLS/s/RDMAEZ_DRIVER_CHECKS_INLINE/RDMAEZ_DRIVER_CHECKS_SIZES/'
fails 'mlx4: a state that it does not look at is noticed' 'not ok .* certain causes' changed post mlx4 impl/driver.h \
	'/X("mlx4/,/FILLS/s/RDMAEZ_DRIVER_CHECKS_SIZES/& | RDMAEZ_DRIVER_CHECKS_STATES/'
fails 'mlx5: an opcode that UD queue pairs take is noticed' 'not ok .* certain causes' changed post mlx5 impl/driver.h \
	'/X("mlx5/,/FILLS/s/RDMAEZ_DRIVER_CHECKS_EX/& | RDMAEZ_DRIVER_CHECKS_OPCODES/'
fails 'efa: a status that is not said of it is noticed' 'not ok .* efa reports IBV_WC_RESP_TIMEOUT_ERR' \
	changed status efa explain/wc.h 's/"efa hfi1 ocrdma"/"hfi1 ocrdma"/'
fails 'irdma: a status that it does not report is noticed' 'not ok .* irdma does not report IBV_WC_REM_ABORT_ERR' \
	changed status irdma explain/wc.h 's/"efa hns mlx4 mlx5 mthca ocrdma"/"efa hns irdma mlx4 mlx5 mthca ocrdma"/'
done_testing
