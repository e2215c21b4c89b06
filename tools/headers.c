/* SPDX-License-Identifier: MIT */
/* All bodies, once. */
#include <rdmaez/implementation.h>
