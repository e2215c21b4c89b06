/* SPDX-License-Identifier: MIT */
/* What the functions that create an object have in common: why the verb may have refused. */
#ifndef RDMAEZ_IMPL_CREATE_H
#define RDMAEZ_IMPL_CREATE_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include "explain.h"

RDMAEZ_IMPL_BEGIN

/* A number that a verb is given, and the device's limit of it. */
struct rdmaez_impl_limit {
	const char *field;
	uint8_t given; /* where it is in what was asked, a uint32_t */
	uint8_t least;
	uint16_t most; /* where it is in what ibv_query_device() fills, an int */
};

#define RDMAEZ_IMPL_LIMIT(prefix, attr, field, least, limit)        \
	{                                                           \
		prefix #field, offsetof(struct attr, field), least, \
			offsetof(struct ibv_device_attr, limit)     \
	}

/*
 * Whether an errno may stand for a number that is too large. cxgb4 says E2BIG; EIO stands for what a provider
 * did not put into errno.
 */
RDMAEZ_IMPL bool rdmaez_impl_is_judged(int error)
{
	return error == EINVAL || error == ENOMEM || error == E2BIG || error == EIO;
}

/*
 * Numbers against the device's limits. A limit of 0 says nothing. Too much is certain, since the device has
 * said so itself; not every driver minds a zero.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_limits(struct rdmaez_diag *diag,
						 const struct rdmaez_impl_limit *limits,
						 size_t count, const void *asked,
						 const struct ibv_device_attr *device)
{
	struct rdmaez_impl_site site = {NULL, RDMAEZ_WHY_CAP_LIMIT, RDMAEZ_VALUE_NUMBER, 0, 0};
	enum rdmaez_severity sure;
	uint32_t given;
	int most;

	for (size_t i = 0; i < count && rdmaez_impl_is_judged(diag->error); i++) {
		memcpy(&given, (const char *)asked + limits[i].given, sizeof(given));
		memcpy(&most, (const char *)device + limits[i].most, sizeof(most));
		sure = most > 0 && given > (uint32_t)most ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;
		if (sure != RDMAEZ_DIAG_ERROR && given >= limits[i].least)
			continue;
		site.field = limits[i].field;
		site.why = sure == RDMAEZ_DIAG_ERROR ? RDMAEZ_WHY_CAP_LIMIT : RDMAEZ_WHY_RANGE;
		rdmaez_impl_find_within(diag, sure, &site, given, limits[i].least,
					(uint64_t)(most > 0 ? most : INT32_MAX));
	}
}

/* What the device says of itself. Where it does not answer it sets no limit and lacks nothing. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_ask(struct ibv_context *context,
					     struct ibv_device_attr *device)
{
	memset(device, 0, sizeof(*device));
	if (!ibv_query_device(context, device))
		return;
	memset(device, 0, sizeof(*device));
	device->device_cap_flags = IBV_DEVICE_XRC;
}

/* A part of another context: rarely meant, though the kernel only sees a number it may not know. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_context(struct rdmaez_diag *diag, const char *field,
						  const struct ibv_context *part,
						  const struct ibv_context *context)
{
	if (part != context)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, field);
}

/*
 * What no limit and no rule shows, unless something certain was found: what the errno means, and of ENOMEM
 * what may be exhausted, `count` being how many such objects the device has.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_rest(struct rdmaez_diag *diag, const char *field,
					       const char *limit, int count)
{
	const enum rdmaez_why meaning = rdmaez_impl_errno_meaning(diag->error, RDMAEZ_WHY_NONE);
	const struct rdmaez_impl_site many = {limit, RDMAEZ_WHY_NO_RESOURCES, RDMAEZ_VALUE_LIMIT, 0,
					      0};

	if (diag->count && diag->finding[0].severity == RDMAEZ_DIAG_ERROR)
		return;
	if (diag->error == EAGAIN)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CGROUP, diag->verb);
	if (diag->error == ENOMEM)
		rdmaez_impl_suspect_memory(diag, field, 0, true);
	if (diag->error == ENOMEM && count > 0)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &many, 0, 0, (uint64_t)count);
	else if (!diag->count ||
		 (meaning != RDMAEZ_WHY_NONE && meaning != RDMAEZ_WHY_NOT_SUPPORTED))
		rdmaez_impl_explain_errno(diag, diag->verb, diag->error);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
