/* SPDX-License-Identifier: MIT */
/* What rdmaez knows of drivers, for one who has only names and PCI ids to go by: those of sysfs. */
#ifndef DOCTOR_DRIVER_H
#define DOCTOR_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The columns of RDMAEZ_IMPL_DRIVERS that are for the doctor. Lists are of words; "": there is none. */
struct doctor_driver {
	const char *name;
	const char *module;
	const char *provider;
	const char *parents;
	const char *announced;
	const char *functions;
};

/* All drivers. */
const struct doctor_driver *doctor_drivers(size_t *count);

/* The driver of this name; NULL: it is not known. */
const struct doctor_driver *doctor_driver_by_name(const char *name);

/* The driver whose devices may have a PCI function that this driver has; NULL: none is known. */
const struct doctor_driver *doctor_driver_by_parent(const char *parent);

/* The driver for what has this name on the auxiliary bus; NULL: none is known. */
const struct doctor_driver *doctor_driver_by_announced(const char *name);

/* The driver of a PCI function that is an RDMA adapter whatever its driver, by its ids and class; NULL: it is none. */
const struct doctor_driver *doctor_driver_by_function(uint64_t vendor, uint64_t device,
						      uint64_t class_code);

/* Whether a network interface with this driver has another driver for RDMA. */
bool doctor_driver_is_companion(const struct doctor_driver *driver, const char *parent);

/* The module that makes an adapter of a driver's PCI function; the next call overwrites it. */
const char *doctor_driver_parent(const struct doctor_driver *driver);

#endif
