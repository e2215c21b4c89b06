/* SPDX-License-Identifier: MIT */
/* All bodies, once; of librdmacm the explanations alone, since rdmaez-doctor does without it. */
#include <rdmaez/implementation.h>

#include <rdmaez/explain/cm.h>
