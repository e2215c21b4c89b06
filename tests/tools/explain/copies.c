/* SPDX-License-Identifier: MIT */
/*
 * Loads two libibverbs, its arguments, makes a wrong move with each, and prints for each what came of it, then how many
 * moves and how many openings have reached each.
 */
#include <dlfcn.h>
#include <stdio.h>
#include "fake_verbs.h"
#undef ibv_get_device_list

#define OF(handle, name) ((__typeof__(&(name)))dlsym(handle, #name))

static int move(void *handle)
{
	struct ibv_device **list = OF(handle, ibv_get_device_list)(NULL);
	struct ibv_context *context = OF(handle, ibv_open_device)(list[0]);
	struct ibv_qp *qp = OF(handle, fake_qp)(context, IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	return OF(handle, ibv_modify_qp)(qp, &attr, IBV_QP_STATE);
}

int main(int argc, char *argv[])
{
	void *handle[2];

	for (int i = 0; i < 2; i++)
		if (argc < 3 || !(handle[i] = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL)))
			return 1;
	for (int i = 0; i < 2; i++)
		printf("%d ", move(handle[i]));
	for (int i = 0; i < 2; i++)
		printf("%u ", OF(handle[i], fake_count)(FAKE_MODIFY_QP));
	for (int i = 0; i < 2; i++)
		printf("%u ", OF(handle[i], fake_count)(FAKE_OPEN_DEVICE));
	return 0;
}
