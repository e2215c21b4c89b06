/* SPDX-License-Identifier: MIT */
/* What the functions that create an object have in common: why the verb may have refused. */
#ifndef RDMAEZ_IMPL_CREATE_H
#define RDMAEZ_IMPL_CREATE_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif
#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

#if RDMAEZ_IMPL_BODIES

#ifndef RDMAEZ_IMPL_EXPLAIN_H
#include "explain.h"
#endif

RDMAEZ_IMPL_BEGIN

/* How sure a number above a limit is to be the cause: of ENOMEM there are others, too. */
RDMAEZ_IMPL_COLD enum rdmaez_severity rdmaez_impl_limit_sure(const struct rdmaez_diag *diag,
							     const struct ibv_device_attr *device,
							     unsigned int compared)
{
	return diag->error != ENOMEM && (rdmaez_driver_of(device)->compares & compared)
		       ? RDMAEZ_DIAG_ERROR
		       : RDMAEZ_DIAG_LIKELY;
}

/* A number that a verb is given, and the device's limit of it. */
struct rdmaez_impl_limit {
	const char *field;
	uint8_t given; /* where it is in what was asked, a uint32_t */
	uint8_t least;
	uint8_t compared; /* RDMAEZ_DRIVER_COMPARES_ */
	bool is_int;      /* what was asked may be less than 0 */
	uint16_t most;    /* where it is in what ibv_query_device() fills, an int */
};

#define RDMAEZ_IMPL_LIMIT(prefix, attr, field, least, limit, compared)  \
	{                                                               \
		prefix #field, offsetof(struct attr, field),            \
		least,         RDMAEZ_DRIVER_COMPARES_##compared,       \
		false,         offsetof(struct ibv_device_attr, limit), \
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
 * Numbers against the device's limits. A limit of 0 says nothing. Too much is certain where the driver compares;
 * not every driver minds a zero.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_limits(struct rdmaez_diag *diag,
						 const struct rdmaez_impl_limit *limits,
						 size_t count, const void *asked,
						 const struct ibv_device_attr *device)
{
	struct rdmaez_impl_site site = {NULL, RDMAEZ_WHY_CAP_LIMIT, RDMAEZ_VALUE_NUMBER, 0, 0};
	enum rdmaez_severity sure;
	bool is_negative, is_much;
	uint32_t given;
	int most;

	for (size_t i = 0; i < count && rdmaez_impl_is_judged(diag->error); i++) {
		memcpy(&given, (const char *)asked + limits[i].given, sizeof(given));
		memcpy(&most, (const char *)device + limits[i].most, sizeof(most));
		is_negative = limits[i].is_int && given > INT32_MAX;
		is_much = most > 0 && given > (uint32_t)most;
		if (!is_much && !is_negative && given >= limits[i].least)
			continue;
		sure = is_much ? rdmaez_impl_limit_sure(diag, device, limits[i].compared)
			       : RDMAEZ_DIAG_LIKELY;
		site.field = limits[i].field;
		site.why = is_much && !is_negative ? RDMAEZ_WHY_CAP_LIMIT : RDMAEZ_WHY_RANGE;
		rdmaez_impl_find_within(diag, sure, &site,
					is_negative ? (uint64_t)(int64_t)(int32_t)given : given,
					limits[i].least, (uint64_t)(most > 0 ? most : INT32_MAX));
	}
}

/* What the device says of itself. Where it does not answer it sets no limit and lacks nothing. */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_ask(struct ibv_context *context,
					     struct ibv_device_attr *device)
{
	if (!ibv_query_device(context, device))
		return;
	memset(device, 0, sizeof(*device));
	device->device_cap_flags = IBV_DEVICE_XRC;
}

/* EINVAL: perhaps there are no more such objects, for which most drivers say ENOMEM. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_count(struct rdmaez_diag *diag,
						const struct ibv_device_attr *device,
						const char *limit, int count)
{
	if (diag->error == EINVAL && count > 0 &&
	    (rdmaez_driver_of(device)->habits & RDMAEZ_DRIVER_COUNT_EINVAL))
		rdmaez_impl_suspect_count(diag, limit, count);
}

/* A part of another context: rarely meant, though the kernel only sees a number it may not know. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_context(struct rdmaez_diag *diag, const char *field,
						  const struct ibv_context *part,
						  const struct ibv_context *context)
{
	if (part != context)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, field);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
