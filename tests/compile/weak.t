#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Whether libibverbs can import device memory is found out when the program is linked: the same source
# is linked with one that can, with one that cannot, and with halves of it. The fake stands in for all.
#
# Nightly: half a minute; tests/unit has a libibverbs that lacks verbs.

source tests/compile/lib.bash

cat >"$scratch/weak.c" <<'END'
#include <stdio.h>
#include <rdmaez.h>
#include <rdmaez/dm_share.h>
#include "fake_verbs.h"

/* What export, import, wrapping, the dma-buf and closing return, and registering a dma-buf. */
int main(void)
{
	struct fake_device *dev = fake_reset();
	struct rdmaez_dm_shared shared;
	struct rdmaez_dm_token token;
	struct rdmaez_mr_dmabuf dmabuf = {0};
	struct rdmaez_dm dm, wrapped;
	struct ibv_context *context = fake_open(dev);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_mr *mr = NULL;
	int error[6], fd = -1;

	dev->attr.max_dm_size = 4096;
	if (rdmaez_dm_alloc(context, 64, NULL, &dm, NULL))
		return 1;
	error[0] = rdmaez_dm_export(&dm, NULL, NULL, &token, NULL);
	error[1] = rdmaez_dm_import(dm.context->cmd_fd, &token, NULL, &shared, NULL);
	error[2] = rdmaez_dm_wrap_imported(dm.dm, 64, &wrapped, NULL);
	error[3] = rdmaez_dm_dmabuf(&dm, &fd, NULL);
	if (!error[1] && rdmaez_dm_shared_close(&shared, NULL))
		return 1;
	error[4] = rdmaez_dm_close(&dm, NULL);
	fake_dmabuf(4096);
	dmabuf.length = 4096;
	error[5] = rdmaez_mr_reg_dmabuf(pd, &dmabuf, 0, &mr, NULL);
	if ((mr && rdmaez_mr_dereg(mr, NULL)) || ibv_dealloc_pd(pd))
		return 1;
	for (int i = 0; i < 6; i++)
		printf(" %s", rdmaez_errno_str(error[i]));
	return fake_close_all() == 1 ? 0 : 1;
}
END

for source in tests/fake/*.c; do
	"$CC" -std=c11 -Iinclude -c "$source" -o "$scratch/$(basename "$source" .c).o"
done

# library NAME SYMBOL...: the fake without these functions, which have another name there.
library() {
	local dir=$scratch/$1 object symbol
	mkdir "$dir"
	for object in "$scratch"/fake_*.o; do
		cp "$object" "$dir/"
		for symbol in "${@:2}"; do
			objcopy "--redefine-sym=$symbol=not_$symbol" "$dir/$(basename "$object")"
		done
	done
}

library whole
library none ibv_import_dm ibv_unimport_dm ibv_dm_export_dmabuf_fd ibv_reg_dmabuf_mr ibv_is_fork_initialized
library no_import ibv_import_dm
library no_unimport ibv_unimport_dm
library no_dmabuf ibv_dm_export_dmabuf_fd

# says LIBRARY WANTED COMPILER STD ARG...: what the program prints once it is linked with that. Warnings are
# for headers.t; here the optimiser must not take the functions for granted.
says() {
	local program=$scratch/program.$BASHPID language=c
	[[ $4 != c++* ]] || language=c++
	"$3" -x "$language" "-std=$4" "${@:5}" -Iinclude -Itests/fake -c "$scratch/weak.c" -o "$program.o"
	"$3" "${@:5}" "$program.o" "$scratch/$1"/*.o -o "$program"
	[[ $("$program") == "$2" ]] || { "$program"; false; }
}

for compiler in "$CC c11" "$CC c11 -O2 -no-pie" "$CLANG c11" "$CLANG c11 -O2" "$CXX c++11 -O2" "$CLANGXX c++20"; do
	# shellcheck disable=SC2086 # some words
	{
		soon ok "a libibverbs that can import: $compiler" says whole ' 0 0 0 0 0 0' $compiler
		soon ok "one that cannot: $compiler" says none ' 0 EOPNOTSUPP EOPNOTSUPP EOPNOTSUPP 0 EOPNOTSUPP' $compiler
		soon ok "one that can only unimport: $compiler" \
			says no_import ' 0 EOPNOTSUPP EOPNOTSUPP 0 0 0' $compiler
		soon ok "one that could not unimport: $compiler" \
			says no_unimport ' 0 EOPNOTSUPP EOPNOTSUPP 0 0 0' $compiler
		soon ok "one without dma-bufs: $compiler" says no_dmabuf ' 0 0 0 EOPNOTSUPP 0 0' $compiler
	}
done

done_testing
