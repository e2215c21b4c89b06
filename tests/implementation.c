/* SPDX-License-Identifier: MIT */
/* What test programs have in one file: the explanations, and with RDMAEZ_EXTERN all other bodies. */
#include <rdmaez/implementation.h>
#include <rdmaez/devel/dm_emu.h>
