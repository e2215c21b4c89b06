#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The rules of SRD, DCI and DCT against the drivers' own functions, compiled from the source of a Debian kernel:
# every mask of every transition. RDMAEZ_KERNEL chooses the kernel (bookworm, trixie or sid); its source is
# downloaded once. RDMAEZ_SOURCE is another tree to read instead.

source tests/tap.bash

kernel=${RDMAEZ_KERNEL:-bookworm}
tree=${RDMAEZ_SOURCE:-$(tools/softroce --kernel "$kernel" --source)} || exit 1

# extract TREE DIR: what the drivers of a source tree do, as DIR/drivers.h.
extract() {
	mkdir -p "$2"
	awk -f tests/kernel-source/driver_types.awk "$1/include/rdma/ib_verbs.h" \
		"$1/drivers/infiniband/hw/efa/efa_verbs.c" "$1/drivers/infiniband/hw/mlx5/qp.c" >"$2/drivers.h"
}

# compare DIR: build the comparison with DIR/drivers.h, and run it.
compare() {
	"${CC:-gcc}" -std=gnu11 -O2 -Wall -Werror -Iinclude -Itests "-I$1" tests/kernel-source/driver_types.c -o "$1/compare"
	"$1/compare" >"$1/tap" || { grep -A4 -E '^not ok|^#' "$1/tap"; return 1; }
	grep -c '^ok .* SRD .*, of which [1-9]' "$1/tap" | grep -qx 22
	grep -c '^ok .* DCI .*, of which [1-9]' "$1/tap" | grep -qx 18
	grep -c '^ok .* DCT .*, of which [1-9]' "$1/tap" | grep -qx 2
}

# changed NAME FILE SCRIPT: a tree of the three files, with SCRIPT, of sed, done to FILE; prints where it is.
changed() {
	local file
	for file in include/rdma/ib_verbs.h drivers/infiniband/hw/{efa/efa_verbs.c,mlx5/qp.c}; do
		mkdir -p "$scratch/$1/$(dirname "$file")"
		cp "$tree/$file" "$scratch/$1/$file"
	done
	sed -i "$3" "$scratch/$1/drivers/infiniband/hw/$2"
	! cmp -s "$tree/drivers/infiniband/hw/$2" "$scratch/$1/drivers/infiniband/hw/$2" || echo "nothing was changed" >&2
	echo "$scratch/$1"
}

# of_changed NAME FILE SCRIPT: the same, extracted and compared.
of_changed() {
	extract "$(changed "$@")" "$scratch/$1.built"
	compare "$scratch/$1.built"
}

ok 'the drivers judge masks where they did' extract "$tree" "$scratch/own"
ok 'SRD, DCI and DCT take the masks that rdmaez says, of all 2097152 in 147 transitions' compare "$scratch/own"

# A comparison that cannot fail proves nothing.
soon fails 'another bit of SRD is noticed' 'not ok .* SRD RTR to RTS' \
	of_changed srd efa/efa_verbs.c '/^} srd_qp_state_table/,/^};/s/IB_QP_RNR_RETRY/IB_QP_TIMEOUT/'
soon fails 'another bit of DCI is noticed' 'not ok .* DCI INIT to RTR' \
	of_changed dci mlx5/qp.c '/^static bool modify_dci_qp_is_ok/,/^}/s/IB_QP_PATH_MTU/IB_QP_AV/'
soon fails 'another bit of DCT is noticed' 'not ok .* DCT RESET to INIT' \
	of_changed dct mlx5/qp.c '/^static int mlx5_ib_modify_dct/,/^}/s/ | IB_QP_PORT;/;/'
for where in "efa/efa_verbs.c s/efa_modify_srd_qp_is_ok/efa_modify_srd/" \
	"mlx5/qp.c s/required |= IB_QP_MIN_RNR_TIMER/needed |= IB_QP_MIN_RNR_TIMER/" \
	"mlx5/qp.c s/bool modify_dci_qp_is_ok/bool dci_is_ok/" \
	"mlx5/qp.c s/^static inline bool is_valid_mask/static bool is_valid_mask/"; do
	fails "a source of another shape is noticed: ${where#* }" 'driver_types.awk: .* instead of .*: read the source' \
		of_changed "shape$tap_run" "${where%% *}" "${where#* }"
done
done_testing
