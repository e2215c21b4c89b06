/* SPDX-License-Identifier: MIT */
/*
 * What makes a libibverbs.so.1 of the fake: a device is there from the start, so that programs which know nothing of
 * the fake run on it. Threads may call it at the same time where none of them makes or destroys an object.
 */
#include "../fake_internal.h"

struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);
/* The fake's ibv_open_device(). */
struct ibv_context *fake_shared_open_device(struct ibv_device *device);
struct ibv_cq_ex *fake_shared_create_cq_ex(struct ibv_context *context,
					   struct ibv_cq_init_attr_ex *init);

__attribute__((__constructor__)) static void begin(void)
{
	fake_reset();
}

/* As in the library, where every way of opening a device comes to this function, by the dynamic linker. */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data)
{
	struct ibv_context *context = fake_shared_open_device(device);

	(void)private_data;
	if (context)
		verbs_get_ctx(context)->create_cq_ex = fake_shared_create_cq_ex;
	return context;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return verbs_open_device(device, NULL);
}
