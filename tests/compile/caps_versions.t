#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is decoded and shown of a device is the same with the verbs.h of rdma-core 33 to 65, and phys_port_cnt_ex
# is found behind the end of a struct that does not have it yet: the unit tests of capabilities, run with each.
#
# Nightly: a minute and a half; make check compiles the same with each verbs.h.

source tests/compile/lib.bash

versions=$(tools/rdma-core-headers) || exit 1

# The fake needs struct ibv_dm with a handle, of rdma-core 35; without it this stands in for fake_dm.c.
cat >"$scratch/no_dm.c" <<-'END'
	#include "fake_internal.h"
	void fake_dm_ops(struct verbs_context *verbs)
	{
		(void)verbs;
	}
	struct ibv_dm *fake_new_dm(struct ibv_context *ctx, const struct fake_kernel_object *dm)
	{
		(void)ctx;
		(void)dm;
		return NULL;
	}
END

# fake_sources VERBS: the fake as this verbs.h takes it.
fake_sources() {
	local file
	for file in tests/fake/*.c; do
		if [[ $file == */fake_dm.c ]] &&
			! "$CC" -std=c11 -isystem "$1" -Itests/fake -fsyntax-only "$file" 2>/dev/null; then
			file=$scratch/no_dm.c
		fi
		echo "$file"
	done
}

# told VERBS OBJECT: the explanations, for all tests with this verbs.h.
told() {
	"$CC" -std=c11 -O1 -fsanitize=undefined -fno-sanitize-recover=all -Iinclude -isystem "$1" \
		-include rdmaez/implementation.h -x c -c /dev/null -o "$2"
}

# runs INCLUDE VERBS OBJECT TEST: the verbs of the explanations are libibverbs' where the test has no need of the fake.
runs() {
	local program=$scratch/$BASHPID sources=(-libverbs)
	[[ $4 != caps_query ]] || mapfile -t sources < <(fake_sources "$2")
	"$CC" -std=c11 -O1 -fsanitize=undefined -fno-sanitize-recover=all "-I$1" -isystem "$2" \
		-Itests -Itests/fake "tests/unit/$4.c" "$3" "${sources[@]}" -o "$program"
	"$program" >"$program.tap" || { grep -A3 '^not ok' "$program.tap"; return 1; }
}

while read -r version verbs; do
	soon ok "rdma-core $version: the explanations compile" told "$verbs" "$scratch/told.$version.o"
done <<<"$versions"
while tap_wait; do :; done

while read -r version verbs; do
	for unit in tests/unit/caps.c tests/unit/caps_*.c; do
		unit=$(basename "$unit" .c)
		soon ok "rdma-core $version: $unit" runs include "$verbs" "$scratch/told.$version.o" "$unit"
	done
done <<<"$versions"

# The field is read where the old struct has padding; a look at the struct's names would miss it there.
read -r version oldest <<<"$versions"
by_name=$(seeded ports rdmaez/impl/caps.h 's/^#define RDMAEZ_IMPL_PORTS_AT .*/#define RDMAEZ_IMPL_PORTS_AT RDMAEZ_IMPL_NOT_COPIED/')
soon fails "rdma-core $version: ports that are not read behind the struct are noticed" 'phys_port_cnt_ex is decoded' \
	runs "$by_name" "$oldest" "$scratch/told.$version.o" caps
shifted=$(seeded shifted rdmaez/impl/caps.h 's/xrc_odp_caps) + sizeof(uint32_t))/xrc_odp_caps))/')
soon fails "rdma-core $version: ports that are read elsewhere are noticed" 'phys_port_cnt_ex is decoded' \
	runs "$shifted" "$oldest" "$scratch/told.$version.o" caps

done_testing
