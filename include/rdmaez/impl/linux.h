/* SPDX-License-Identifier: MIT */
/* The release of the running kernel. */
#ifndef RDMAEZ_IMPL_LINUX_H
#define RDMAEZ_IMPL_LINUX_H

#ifndef RDMAEZ_BASE_H
#include "../base.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include <sys/utsname.h>

RDMAEZ_IMPL_BEGIN

/* 601 for Linux 6.1, 699 for 6.99 and beyond; 0 where it is unknown or another system. */
RDMAEZ_IMPL_COLD int rdmaez_impl_linux_version(void)
{
	struct utsname name;
	int part[2] = {0, 0};
	const char *text = name.release;

	if (uname(&name) || strcmp(name.sysname, "Linux") != 0)
		return 0;
	for (int i = 0; i < 2; i++) {
		while (*text >= '0' && *text <= '9' && part[i] < 1000)
			part[i] = part[i] * 10 + (*text++ - '0');
		if (*text == '.')
			text++;
	}
	return part[0] * 100 + (part[1] < 99 ? part[1] : 99);
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
