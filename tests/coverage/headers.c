/* SPDX-License-Identifier: MIT */
/* All functions of all headers, once: what tests/coverage/run lays the counts of all unit programs on. */
#define RDMAEZ_WITH_CM
#include <rdmaez/implementation.h>
#include <rdmaez/devel/dm_emu.h>
