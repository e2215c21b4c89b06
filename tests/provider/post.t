#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What providers for hardware say to work requests: rdma-core's own libraries, as they are installed, above a kernel
# without an adapter. Random requests go to RC and UD queue pairs, by both interfaces, before they are connected, in RTS
# and in ERR. What the driver's record calls checked must be refused, and each refusal explained.
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

# build INCLUDE: the program, with the headers in INCLUDE.
build() {
	gcc -std=c11 -O1 -g @tests/compile/warnings "-I$1" -Itests -Itests/device -Itests/provider \
		tests/provider/*.c -rdynamic -libverbs -o "$scratch/post"
}

# asked DRIVER: random requests to it; where they disagree, the lines that say so.
asked() {
	rm -rf "$scratch/sys"
	"$scratch/post" "$1" "$scratch/sys" "$seed" "$requests" >"$scratch/tap" ||
		{ grep -A6 -E '^not ok|^Bail' "$scratch/tap" || cat "$scratch/tap"; return 1; }
	grep -q '^1\.\.' "$scratch/tap"
}

echo "# seed $seed, libibverbs $(pkg-config --modversion libibverbs)"
ok 'it compiles' build include
for driver in bnxt_re efa erdma hns irdma mlx4 mlx5; do
	ok "$driver refuses what rdmaez says, and what it refuses is explained" asked "$driver"
done

# claimed DRIVER FROM TO: its record with one word more is not true of it.
claimed() {
	rm -rf "$scratch/include"
	cp -r include "$scratch"
	sed -i "/X(\"$1/,/FILLS/s/$2/$3/" "$scratch/include/rdmaez/impl/driver.h"
	! cmp -s include/rdmaez/impl/driver.h "$scratch/include/rdmaez/impl/driver.h" || echo 'nothing was changed'
	build "$scratch/include"
	asked "${1%_ib}"
}
fails 'erdma: SGEs that it does not count are noticed' 'not ok .* certain causes' \
	claimed erdma RDMAEZ_DRIVER_CHECKS_INLINE RDMAEZ_DRIVER_CHECKS_SIZES
fails 'mlx4: a state that it does not look at is noticed' 'not ok .* certain causes' \
	claimed mlx4_ib RDMAEZ_DRIVER_CHECKS_SIZES 'RDMAEZ_DRIVER_CHECKS_SIZES | RDMAEZ_DRIVER_CHECKS_STATES'
fails 'mlx5: an opcode that UD queue pairs take is noticed' 'not ok .* certain causes' \
	claimed mlx5_ib RDMAEZ_DRIVER_CHECKS_EX 'RDMAEZ_DRIVER_CHECKS_EX | RDMAEZ_DRIVER_CHECKS_OPCODES'
done_testing
