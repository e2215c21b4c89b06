#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What drivers for hardware say to ibv_modify_qp(), by their own functions: the driver's file is compiled as it stands,
# with the headers of a Debian kernel, into a program, in which nothing but the adapter is missing. Random requests go
# through the fake to it. What rdmaez_qp_check() calls an error must be refused, with that errno value, and the fake's
# profile of the driver must say the same as the driver.
#
# With RDMAEZ_NIGHTLY=1 there are twenty times as many requests, and others each day. `moves.h` says how the two halves
# talk, and `moves/glue.h` what a driver is given.

source tests/tap.bash

requests=8000
seed=5
if [[ ${RDMAEZ_NIGHTLY:-0} == 1 ]]; then
	requests=160000
	seed=$(date +%Y%m%d)
fi
seed=${RDMAEZ_SEED:-$seed}

source tests/kernel-source/lib.bash

# What all programs share: the fake with the half that asks, the kernel's table of transitions, and what is in the
# kernel's place.
shared() {
	mkdir -p "$scratch/user"
	# shellcheck disable=SC2016 # sh's argument
	printf '%s\n' tests/fake/*.c tests/kernel-source/moves.c | xargs -P "$(nproc)" -I FILE sh -c '
		gcc -std=gnu11 -Wall -Werror -Iinclude -Itests -Itests/fake -Itests/unit \
			-c FILE -o "$1/user/$(basename FILE .c).o"' sh "$scratch"
	of_kernel "$tree" core "$tree/drivers/infiniband/core/verbs.c" "$scratch/verbs.o"
	gcc -O1 -Wall -Werror -fno-builtin -fno-pie -c "$moves/stubs.c" -o "$scratch/stubs.o"
}

# compare TREE DRIVER DIRECTORY: the program of a driver in DIRECTORY, of TREE's source, and its answers.
compare() {
	local dir=$3
	mkdir -p "$dir"
	of_kernel "$1" "hw/$2" "$moves/$2.c" "$dir/driver.o"
	ld -r "$dir/driver.o" "$scratch/verbs.o" -o "$dir/kernel.o"
	lacks "$dir/kernel.o" >"$dir/lacks.S"
	gcc -c "$dir/lacks.S" -o "$dir/lacks.o"
	gcc -no-pie -pthread -Wl,--wrap=fake_driver_modify "$scratch"/user/*.o "$dir/kernel.o" "$scratch/stubs.o" "$dir/lacks.o" \
		-o "$dir/moves"
	"$dir/moves" "$2" "$release" "$requests" "$seed" >"$dir/tap" || { grep -A12 -E '^not ok|^#|^Bail' "$dir/tap"; return 1; }
	grep -q '^1\.\.' "$dir/tap"
}

# of_changed DRIVER NAME FILE SCRIPT: the same with SCRIPT, of sed, done to a FILE of the driver.
of_changed() {
	local dir=$scratch/$2 seed=1 # with which each of them was seen to be noticed
	changed_driver "$dir" "$1" "$3" "$4" || return 0
	compare "$dir" "$1" "$dir/built"
}

echo "# Linux $release, seed $seed"
ok 'the halves compile' shared
for driver in efa mlx4 mlx5 hns irdma bnxt_re erdma; do
	soon ok "rdmaez and the fake foresee what $driver says" compare "$tree" "$driver" "$scratch/$driver"
done

# A comparison that cannot fail proves nothing: a defect in each driver.
soon fails 'efa: a P_Key index that is taken is noticed' 'not ok .* efa, UD' \
	of_changed efa efa-pkey efa_verbs.c 's/if ((qp_attr_mask & IB_QP_PKEY_INDEX) && qp_attr->pkey_index)/if (0)/'
soon fails 'mlx4: a P_Key index that is taken is noticed' 'not ok .* mlx4, RC' \
	of_changed mlx4 mlx4-pkey qp.c 's/if (attr->pkey_index >= dev->dev->caps.pkey_table_len\[p\])/if (0)/'
soon fails 'mlx5: SQD that is entered is noticed' 'not ok .* mlx5, UC' \
	of_changed mlx5 mlx5-sqd qp.c '/^static int __mlx5_ib_modify_qp(/,/^}/s/MLX5_CMD_OP_RTS2RTS_QP,/&\n[MLX5_QP_STATE_SQD] = MLX5_CMD_OP_RTS2RTS_QP,/'
soon fails 'hns: a P_Key index that is taken is noticed' 'not ok .* hns, RC' \
	of_changed hns hns-pkey hns_roce_qp.c 's/if (attr->pkey_index >= hr_dev->caps.pkey_table_len\[p\])/if (0)/'
soon fails 'irdma: a P_Key index that is taken is noticed' 'not ok .* irdma, RC' \
	of_changed irdma irdma-pkey verbs.c 's/if (index >= IRDMA_PKEY_TBL_SZ)/if (0)/'
soon fails 'bnxt_re: a transition that is taken is noticed' 'not ok .* bnxt_re, RC' \
	of_changed bnxt_re bnxt_re-table ib_verbs.c 's/if (!ib_modify_qp_is_ok(curr_qp_state, new_qp_state,/if (0 \&\& !ib_modify_qp_is_ok(curr_qp_state, new_qp_state,/'
soon fails 'erdma: a move to RTS that is taken is noticed' 'not ok .* erdma \(iWARP\), RC' \
	of_changed erdma erdma-rts erdma_qp.c '/_modify_qp_state_to_rts(struct erdma_qp/,/^}/s/return -EINVAL;/return 0;/'
soon fails 'a driver that calls what its file does not tell is noticed' 'Bail out! the driver calls efa_somebody' \
	of_changed efa efa-asks efa_verbs.c 's/^int efa_modify_qp(/int efa_somebody(void);\n&/; s/\tparams.qp_handle = qp->qp_handle;/if (efa_somebody()) return -1;/'
done_testing
