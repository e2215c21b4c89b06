/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor: libibverbs, which this machine or image may lack. */
#ifndef RDMAEZ_DOCTOR_LOAD_H
#define RDMAEZ_DOCTOR_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Why it was not loaded, as the dynamic linker says; NULL: it is loaded. */
const char *load_error(void);
/* One of its functions, as an address; NULL with errno ENOSYS: it has none of this name, or is not there. */
void *load_verb(const char *name);

#endif
