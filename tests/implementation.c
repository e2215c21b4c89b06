/* SPDX-License-Identifier: MIT */
/* All bodies, once, for the test programs that are compiled with RDMAEZ_EXTERN. */
#define RDMAEZ_IMPLEMENTATION
#include <rdmaez.h>
#include <rdmaez/dm_share.h>
#include <rdmaez/devel/dm_emu.h>
