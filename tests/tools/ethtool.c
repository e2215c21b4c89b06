/* SPDX-License-Identifier: MIT */
/*
 * A network interface of an adapter, for programs that ask by SIOCETHTOOL: preloaded, it answers in the kernel's place.
 * ETHTOOL_BIT in the environment is the link mode that it supports. Its counters grow each time they are read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	WORDS = 4
};

static const char *const names[] = {"rx_bytes", "rx_prio3_pause", "rx_discards_phy"};

/* The kernel tells first how many words each set has, as a negative number, and wants to hear it again. */
static void link_settings(struct ethtool_link_settings *link)
{
	const int bit = atoi(getenv("ETHTOOL_BIT"));
	__u32 *supported = (__u32 *)(link + 1);

	if (link->link_mode_masks_nwords != WORDS) {
		memset(link, 0, sizeof(*link));
		link->cmd = ETHTOOL_GLINKSETTINGS;
		link->link_mode_masks_nwords = -WORDS;
		return;
	}
	memset(supported, 0, 3 * WORDS * sizeof(*supported));
	supported[bit / 32] = 1U << bit % 32;
	supported[WORDS] = ~0U; /* what is advertised is not asked for */
}

static void statistics(struct ethtool_stats *stats)
{
	static __u64 calls;
	__u32 i;

	calls++;
	for (i = 0; i < stats->n_stats; i++)
		stats->data[i] = 7 * i * calls;
}

static int answer(void *request)
{
	struct ethtool_gstrings *strings = request;
	struct ethtool_sset_info *info = request;
	__u32 i;

	switch (*(__u32 *)request) {
	case ETHTOOL_GLINKSETTINGS:
		link_settings(request);
		return 0;
	case ETHTOOL_GSSET_INFO:
		info->sset_mask = 1ULL << ETH_SS_STATS;
		*(__u32 *)(info + 1) = 3;
		return 0;
	case ETHTOOL_GSTRINGS:
		for (i = 0; i < strings->len; i++)
			snprintf((char *)strings->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "%s",
				 names[i]);
		return 0;
	case ETHTOOL_GSTATS:
		statistics(request);
		return 0;
	default:
		errno = EOPNOTSUPP;
		return -1;
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (request == SIOCETHTOOL)
		return answer((void *)((struct ifreq *)argument)->ifr_data);
	return (int)syscall(SYS_ioctl, fd, request, argument);
}
