#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that has its objects from functions which end it where they fail, by rdmaez_diag_need(), compiles without a
# warning by every optimisation: no compiler takes a variable for uninitialised that such a function has written. So does
# the example in C++, by every standard.

source tests/compile/lib.bash

cat >"$scratch/program.c" <<'END'
#include <rdmaez.h>

#define NEED(call) rdmaez_diag_need(call, &diag)

int run(char *memory, struct ibv_wc *wc);
int one(struct ibv_cq *cq, struct ibv_qp *qp, struct rdmaez_diag *diag);

/* No compiler sees an access behind the only completion that there is room for. */
int one(struct ibv_cq *cq, struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1};

	return rdmaez_wc_poll(cq, qp, &batch, diag) ? -1 : batch.count;
}

int run(char *memory, struct ibv_wc *wc)
{
	struct ibv_comp_channel *channel;
	struct ibv_context *context;
	struct rdmaez_endpoint port;
	struct rdmaez_diag diag;
	struct rdmaez_simple it;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct rdmaez_path path = {0};
	struct ibv_srq_init_attr shared = {0};
	struct ibv_qp_init_attr init = {0};
	struct rdmaez_wc_batch batch = {0};
	int got = 0;

	NEED(rdmaez_device_open(NULL, &context, &diag));
	NEED(rdmaez_pd_alloc(context, &pd, &diag));
	NEED(rdmaez_channel_create(context, &channel, &diag));
	NEED(rdmaez_cq_create(context, 16, channel, 0, &cq, &diag));
	NEED(rdmaez_mr_reg(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE, &mr, &diag));
	NEED(rdmaez_srq_create(pd, &shared, &srq, &diag));
	init.send_cq = init.recv_cq = cq;
	NEED(rdmaez_qp_create(pd, &init, &qp, &diag));
	NEED(rdmaez_ah_create(pd, &path, 1, &ah, &diag));
	NEED(rdmaez_simple_open(NULL, NULL, &it, &diag));
	NEED(rdmaez_endpoint_port(context, NULL, &port, &diag));
	batch.wc = wc;
	batch.capacity = 16;
	for (int i = 0; i < 10; i++) {
		struct ibv_send_wr wr = {0};

		wr.sg_list = NULL;
		if (mr->length < (size_t)i || mr->lkey == 5)
			return 1;
		NEED(rdmaez_wr_post_send(qp, &wr, NULL, &diag));
		NEED(rdmaez_wc_poll(cq, qp, &batch, &diag));
		NEED(rdmaez_cq_wait(cq, qp, &batch, 0, &diag));
		got += batch.count + (int)port.qp_num;
	}
	NEED(rdmaez_simple_close(&it, &diag));
	NEED(rdmaez_ah_destroy(ah, &diag));
	NEED(rdmaez_srq_destroy(srq, &diag));
	NEED(rdmaez_mr_dereg(mr, &diag));
	NEED(rdmaez_cq_destroy(cq, &diag));
	NEED(rdmaez_channel_destroy(channel, &diag));
	NEED(rdmaez_pd_dealloc(pd, &diag));
	return ibv_close_device(context) || got;
}
END

quiet() {
	"$1" -std=c11 "$2" -Wall -Wextra -Werror -Iinclude -c "$3" -o /dev/null
}

for level in -O0 -O1 -O2 -O3 -Os; do
	sample "$level" -O1 -Os # at which gcc has had most to say
	$often ok "gcc $level: a program of every function that creates" quiet "$CC" "$level" "$scratch/program.c"
	$often ok "gcc $level: examples/alltoall.c" quiet "$CC" "$level" examples/alltoall.c
done
ok 'clang -O2: the same' quiet "$CLANG" -O2 "$scratch/program.c"

# each INCLUDE LEVEL: so does a program of every function that has an output, whoever inlines it.
each() {
	python3 -B tests/compile/outputs.py "$1" >"$scratch/each.c" &&
		"$CC" -std=c11 "$2" -Wall -Wextra -Werror "-I$1" -c "$scratch/each.c" -o /dev/null
}
for level in -O0 -O1 -O2 -O3 -Os; do
	sample "$level" -O1 -Os
	$often ok "gcc $level: every function with an output" each include "$level"
done
cp -r include "$scratch/inlined"
sed -i 's/^RDMAEZ_COLD int rdmaez_exchange_open(/RDMAEZ_API int rdmaez_exchange_open(/' \
	"$scratch"/inlined/rdmaez/{,impl/}exchange.h
fails 'one that is inlined, and whose failures gcc does not know, is seen' "'?.socket.'? may be used uninitialized" \
	each "$scratch/inlined" -O1

# The example in C++, which users take for their own; each compiler takes one standard here.
for std in c++11 c++14 c++17 c++20 c++2b; do
	for compiler in "$CXX" "$CLANGXX"; do
		sample "$compiler $std" "$CXX c++11" "$CLANGXX c++20"
		$often ok "$compiler $std: examples/raii.cc" \
			compile "$compiler" "$std" include -O2 -c examples/raii.cc -o /dev/null
	done
done

done_testing
