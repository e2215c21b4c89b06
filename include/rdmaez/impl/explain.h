/* SPDX-License-Identifier: MIT */
/* What the functions that explain a refusal have in common. */
#ifndef RDMAEZ_IMPL_EXPLAIN_H
#define RDMAEZ_IMPL_EXPLAIN_H

#ifndef RDMAEZ_DIAG_H
#include "../diag.h"
#endif
#ifndef RDMAEZ_DRIVER_H
#include "../driver.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What an errno value of any verb usually means; `otherwise` where it says nothing. rdmaez-explain calls it, too. */
RDMAEZ_COLD enum rdmaez_why rdmaez_impl_errno_meaning(int error, enum rdmaez_why otherwise);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES

#include <sys/resource.h>

#ifndef RDMAEZ_IMPL_LINUX_H
#include "linux.h"
#endif
#ifndef RDMAEZ_IMPL_SYSTEM_H
#include "system.h"
#endif

RDMAEZ_IMPL_BEGIN

/*
 * Why a verb that returns a pointer has returned NULL, as a positive errno value. The caller sets
 * errno to 0 before the verb, because a provider may forget to set it at all.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_error_of_null(void)
{
	const int error = errno;

	if (!error || error == INT32_MIN)
		return EIO;
	return error > 0 ? error : -error;
}

/*
 * Whether RLIMIT_MEMLOCK binds the process: 1 or 0, -1 where that is not known. A driver that pins by itself asks for no
 * capability in Linux 6.1, and leaves it to ib_umem_get() from 6.12 on, as all others do.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_memlock_binds(const struct rdmaez_driver *driver)
{
	const int linux_version = rdmaez_impl_linux_version();
	const bool pins = (driver->habits & RDMAEZ_DRIVER_PINS) != 0;
	int may;

	if (pins && linux_version && linux_version <= 601)
		return 1;
	may = rdmaez_impl_may_lock();
	if (may < 0 || (may && pins && linux_version < 612))
		return -1;
	return !may;
}

/*
 * ENOMEM, or EPERM where nothing may be locked at all: `ib_umem_get()` compares what the process has pinned, VmPin,
 * and the pages of this with RLIMIT_MEMLOCK. `bytes` were asked for; 0: that is not known. Of a driver that is
 * listed this is certain, by the numbers; and where they are well within the limit it is something else.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_memlock(struct rdmaez_diag *diag, const char *field,
						  uint64_t bytes,
						  const struct rdmaez_driver *driver)
{
	struct rdmaez_impl_site site = {field, RDMAEZ_WHY_MEMLOCK, RDMAEZ_VALUE_LOCKED, 0, 0};
	const uint64_t pages = 2 * (uint64_t)sysconf(_SC_PAGESIZE); /* begun, but not filled */
	struct rlimit limit;
	uint64_t locked, room;
	int64_t pinned;
	int binds;
	bool sure;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    (diag->error == EPERM && limit.rlim_cur))
		return;
	binds = rdmaez_impl_memlock_binds(driver);
	pinned = rdmaez_impl_pinned();
	locked = pinned > 0 ? (uint64_t)pinned : 0;
	room = limit.rlim_cur > locked ? limit.rlim_cur - locked : 0;
	if (!binds || (bytes && pinned >= 0 && room >= pages && bytes <= room - pages))
		return;
	sure = binds > 0 && bytes > room && driver->vendor_id;
	if (pinned < 0)
		site.kind = bytes ? RDMAEZ_VALUE_BYTES : RDMAEZ_VALUE_LIMIT;
	rdmaez_impl_find_within(diag, sure ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY, &site, bytes,
				locked, limit.rlim_cur);
}

/* The address space, which binds everybody. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_space(struct rdmaez_diag *diag, const char *field)
{
	const struct rdmaez_impl_site space = {field, RDMAEZ_WHY_ADDRESS_SPACE, RDMAEZ_VALUE_LIMIT,
					       0, 0};
	struct rlimit limit;

	if (diag->error == ENOMEM && !getrlimit(RLIMIT_AS, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &space, 0, 0, limit.rlim_cur);
}

/* The number of such objects that the device has, a field of ibv_device_attr. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_count(struct rdmaez_diag *diag, const char *limit,
						int count)
{
	const struct rdmaez_impl_site many = {limit, RDMAEZ_WHY_NO_RESOURCES, RDMAEZ_VALUE_LIMIT, 0,
					      0};

	rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &many, 0, 0, (uint64_t)count);
}

RDMAEZ_COLD enum rdmaez_why rdmaez_impl_errno_meaning(int error, enum rdmaez_why otherwise)
{
	/* ENOTSUPP of include/linux/errno.h, which no header for programs has; some drivers of Linux return it. */
	const int kernel_enotsupp = 524;

	if (error == kernel_enotsupp)
		return RDMAEZ_WHY_NOT_SUPPORTED;
	switch (error) {
	case ENOMEM:
	case ENOSPC:
		return RDMAEZ_WHY_NO_RESOURCES;
	case EAGAIN:
	case EBUSY:
		return RDMAEZ_WHY_BUSY;
	case EIO:
	case ENXIO:
	case ENODEV:
		return RDMAEZ_WHY_DEVICE_GONE;
	case ETIMEDOUT:
		return RDMAEZ_WHY_TIMED_OUT;
	case EOPNOTSUPP:
	case ENOSYS:
	/* The running kernel does not have the method: ib_uverbs_cmd_verbs(). */
	case EPROTONOSUPPORT:
		return RDMAEZ_WHY_NOT_SUPPORTED;
	default:
		return otherwise;
	}
}

/* Where nothing better was found: what the errno of this verb, which is the field, usually means. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_errno(struct rdmaez_diag *diag, const char *verb,
						int error)
{
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY,
			       rdmaez_impl_errno_meaning(error, RDMAEZ_WHY_UNEXPLAINED), verb);
}

/* Whether a mistake was found, not only suspected: the worst stands first. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_is_certain(const struct rdmaez_diag *diag)
{
	return diag->count && diag->finding[0].severity == RDMAEZ_DIAG_ERROR;
}

/*
 * What no limit and no rule shows, unless something certain was found: what the errno means, and of ENOMEM
 * what may be exhausted, `count` being how many such objects the device has.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_rest(struct rdmaez_diag *diag, const char *field,
					       const char *limit, int count)
{
	const enum rdmaez_why meaning = rdmaez_impl_errno_meaning(diag->error, RDMAEZ_WHY_NONE);

	if (rdmaez_impl_is_certain(diag))
		return;
	if (diag->error == EAGAIN)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CGROUP, diag->verb);
	if (diag->error == ENOMEM) {
		rdmaez_impl_suspect_memlock(diag, field, 0, rdmaez_driver_of(NULL));
		rdmaez_impl_suspect_space(diag, field);
	}
	if (diag->error == ENOMEM && count > 0)
		rdmaez_impl_suspect_count(diag, limit, count);
	else if (!diag->count ||
		 (meaning != RDMAEZ_WHY_NONE && meaning != RDMAEZ_WHY_NOT_SUPPORTED))
		rdmaez_impl_explain_errno(diag, diag->verb, diag->error);
}

/* What a verb that destroys an object has returned: EBUSY likely means that it is in use. */
RDMAEZ_IMPL_COLD int rdmaez_impl_end(struct rdmaez_diag *diag, int returned, const char *verb,
				     const char *field, enum rdmaez_why in_use)
{
	const int error = rdmaez_impl_error(returned);

	if (!error || !diag)
		return error;
	diag->error = error;
	diag->verb = verb;
	if (error == EBUSY)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, in_use, field);
	else
		rdmaez_impl_explain_errno(diag, verb, error);
	return error;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
