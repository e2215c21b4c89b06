#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain finds the real libibverbs of a program that loads it by itself, and says where a device was opened and
# nothing was seen of it; and which GIDs a program has used. Needs build/tools, build/tests/explain and
# build/device/explained; runs itself again in the guest.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_found.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

# loaded ARG...: with the library's own verbs of 2006 beside those of today.
loaded() {
	build/tests/explain/dlopen "$@" >"$scratch/alone"
	build/tools/rdmaez-explain build/tests/explain/dlopen "$@" >"$scratch/out" 2>"$scratch/err"
	cat "$scratch/err"
	[[ $(<"$scratch/out") == '0 22 0 1 1' ]]
	diff "$scratch/alone" "$scratch/out"
	grep -q 'ibv_modify_qp failed with EINVAL (22) on rxe0 (driver rdma_rxe)' "$scratch/err"
	grep -q '1 refusal (ibv_modify_qp EINVAL 1), never destroyed: 1 context, 1 PD, 1 CQ, 1 QP' "$scratch/err"
}

# What keeps a device open without libibverbs stands for a program that is linked statically.
unseen() {
	build/tools/rdmaez-explain sh -c "exec 3<$1; sleep 1.5; :" 2>"$scratch/err"
	cat "$scratch/err"
	grep -qE '^rdmaez-explain: sh\[[0-9]+\]: it has opened a device, but its verbs were not seen' "$scratch/err"
}

# bound ADDRESS...: the words that are said go to $scratch/err.
bound() {
	build/tests/explain/addresses "$@" >"$scratch/alone"
	build/tools/rdmaez-explain build/tests/explain/addresses "$@" >"$scratch/out" 2>"$scratch/err"
	cat "$scratch/err"
	diff "$scratch/alone" "$scratch/out"
	[[ $(<"$scratch/out") == *19* ]]
}

is_silent() {
	bound "$@"
	[[ ! -s $scratch/err ]]
}

is_told() {
	bound "$@"
	grep -q 'rdma_bind_addr failed with ENODEV (19)' "$scratch/err"
}

# --summary names the GIDs that paths start from, and so do --line and --json.
sources() {
	local program=build/device/explained/fails
	build/tools/rdmaez-explain --summary --json "$scratch/json" "$program" none >/dev/null 2>"$scratch/err" || :
	cat "$scratch/err"
	grep -qE '^rdmaez-explain: fails\[[0-9]+\]: 2 paths start from GID index 1 of rxe0, port 1: ::ffff:192\.0\.2\.1, RoCE v2$' \
		"$scratch/err"
	[[ $(tail -n 1 "$scratch/json" | jq --compact-output .sources) == \
		'[{"device":"rxe0","port":1,"sgid_index":1,"gid":"::ffff:192.0.2.1","type":"RoCE v2","times":2}]' ]]
	build/tools/rdmaez-explain --summary --line "$program" ud_no_grh >/dev/null 2>"$scratch/err" || :
	grep -qE '^program=fails .* kind=summary .* source=rxe0/1/1:1$' "$scratch/err"
	build/tools/rdmaez-explain "$program" ud_no_grh >/dev/null 2>"$scratch/err" || :
	grep -q '1 failed completion' "$scratch/err"
	! grep -q 'start' "$scratch/err"
}

ok 'a summary names the GIDs that paths start from' sources

ok 'explains what is found by dlvsym()' loaded libibverbs.so.1
ok 'explains what is found by dlsym()' loaded libibverbs.so.1 plain
ok 'says that a device was opened unseen' unseen /dev/infiniband/uverbs0
fails 'another file' '^$' unseen /dev/zero

ok 'is silent where an address without a device comes first' is_silent 192.0.2.2 192.0.2.1
ok 'is silent where it comes last' is_silent 192.0.2.1 192.0.2.2
ok 'tells of it where there is no other one' is_told 192.0.2.2

done_testing
