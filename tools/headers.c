/* SPDX-License-Identifier: MIT */
/* All bodies, once. */
#define RDMAEZ_IMPLEMENTATION
#include <rdmaez.h>
