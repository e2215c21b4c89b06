/* SPDX-License-Identifier: MIT */
/* What rdmaez knows of drivers, by the names and ids that sysfs has. All of it stands in rdmaez/impl/driver.h. */
#include "driver.h"

#include <rdmaez.h>
#ifndef RDMAEZ_IMPL_DRIVER_H
#include <rdmaez/impl/driver.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER(name, vendor, first, last, first_2, last_2, traits, reports, compares, checks, \
	       fills, habits, causes, module, provider, parents, announced, functions)        \
	{name, module, provider, parents, announced, functions},

static const struct doctor_driver drivers[] = {
	RDMAEZ_IMPL_DRIVERS(DRIVER)
	/* Up to Linux 7.2 it makes no RDMA device that the headers could know. */
	{"bng_re", "bng_re", "", "", "bng_en.rdma.", ""},
};
#define DRIVERS (sizeof(drivers) / sizeof(drivers[0]))

const struct doctor_driver *doctor_drivers(size_t *count)
{
	*count = DRIVERS;
	return drivers;
}

const struct doctor_driver *doctor_driver_by_name(const char *name)
{
	for (size_t i = 0; i < DRIVERS; i++)
		if (strcmp(drivers[i].name, name) == 0)
			return &drivers[i];
	return NULL;
}

/* The next word of a list, and its length; 0 at the end. */
static size_t next_word(const char **at)
{
	*at += strspn(*at, " ");
	return strcspn(*at, " ");
}

static bool has_word(const char *list, const char *word)
{
	for (size_t length; (length = next_word(&list)) != 0; list += length)
		if (length == strlen(word) && strncmp(list, word, length) == 0)
			return true;
	return false;
}

const struct doctor_driver *doctor_driver_by_parent(const char *parent)
{
	for (size_t i = 0; i < DRIVERS; i++)
		if (has_word(drivers[i].parents, parent))
			return &drivers[i];
	return NULL;
}

const struct doctor_driver *doctor_driver_by_announced(const char *name)
{
	const char *at;

	for (size_t i = 0; i < DRIVERS; i++) {
		at = drivers[i].announced;
		for (size_t length; (length = next_word(&at)) != 0; at += length)
			if (strncmp(name, at, length) == 0)
				return &drivers[i];
	}
	return NULL;
}

/* Whether one of the driver's functions is this; `any`: by the vendor alone. */
static bool has_function(const struct doctor_driver *driver, uint64_t vendor, uint64_t device,
			 bool any)
{
	const char *at = driver->functions;
	unsigned long first, last;
	char *end;

	for (size_t length; (length = next_word(&at)) != 0; at += length) {
		if (strtoul(at, &end, 16) != vendor || (*end != ':') != any)
			continue;
		if (any)
			return true;
		first = last = strtoul(end + 1, &end, 16);
		if (*end == '-')
			last = strtoul(end + 1, &end, 16);
		if (device >= first && device <= last)
			return true;
	}
	return false;
}

const struct doctor_driver *doctor_driver_by_function(uint64_t vendor, uint64_t device,
						      uint64_t class_code)
{
	const bool is_network = class_code >> 16 == 2;

	for (int any = 0; any <= is_network; any++)
		for (size_t i = 0; i < DRIVERS; i++)
			if (has_function(&drivers[i], vendor, device, any))
				return &drivers[i];
	return NULL;
}

bool doctor_driver_is_companion(const struct doctor_driver *driver, const char *parent)
{
	return strcmp(driver->module, parent) != 0;
}

const char *doctor_driver_parent(const struct doctor_driver *driver)
{
	static char parent[64];
	const char *at = driver->parents;

	snprintf(parent, sizeof(parent), "%.*s", (int)next_word(&at), at);
	return parent;
}
