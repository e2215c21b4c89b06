/* SPDX-License-Identifier: MIT */
/*
 * Sharing device memory where verbs.h declares all that it takes: the same tests, with the direct calls in
 * rdmaez_impl_dm_import() and its neighbours.
 */
#define RDMAEZ_HAVE_IMPORT_DM 1
#define RDMAEZ_HAVE_DM_DMABUF 1
#define _GNU_SOURCE
#include <infiniband/verbs.h>

int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm); /* since rdma-core 62 */

#undef _GNU_SOURCE
#include "dm_share.c"
