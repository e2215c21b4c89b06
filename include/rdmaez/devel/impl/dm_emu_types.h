/* SPDX-License-Identifier: MIT */
/* What the emulation keeps in its file, which processes share, and in its state. */
#ifndef RDMAEZ_DEVEL_IMPL_DM_EMU_TYPES_H
#define RDMAEZ_DEVEL_IMPL_DM_EMU_TYPES_H

#include <pthread.h>

#include "../../dm.h"

#define RDMAEZ_IMPL_EMU_CALLS 7

/* The most bytes of memory, which bounds how long the list of pieces in a file of another process can be. */
#define RDMAEZ_IMPL_EMU_MOST (64u * 1024 * 1024)

/* The version of state and file, raised whenever the layout or the meaning of either changes. */
#define RDMAEZ_IMPL_EMU_VERSION 3
#define RDMAEZ_IMPL_EMU_MAGIC   0x525a444d454d554cull /* "RZDMEMUL" */

/* One piece of device memory. The list has an entry for each page; that of its first page describes a piece. */
struct rdmaez_impl_emu_piece {
	uint64_t length; /* as requested; 0: no piece begins here */
	uint32_t handle; /* 0: freed, but someone still has it mapped */
	uint32_t reserved;
};

/* The beginning of the file. The list of pieces follows, and at `start`, on a page of its own, the memory. */
struct rdmaez_impl_emu_file {
	uint64_t magic;
	uint64_t version;
	uint64_t start;
	uint64_t size; /* of the memory */
	uint32_t last_handle;
	uint32_t reserved;
};

/* A region. ibv_dereg_mr() is not replaced, so the kernel is asked whether the region still exists. */
struct rdmaez_impl_emu_region {
	struct rdmaez_impl_emu_region *next;
	uint64_t page; /* the first of its piece */
	uint32_t handle, lkey;
};

/* A failure that rdmaez_dm_emu_fail() has ordered. */
struct rdmaez_impl_emu_fault {
	int error; /* 0: none */
	bool each;
	unsigned int left; /* calls until the one that fails, with it; 0: it has failed already */
};

/* The state. `magic` is set while it is attached; `version` tells whether the other members mean this. */
struct rdmaez_impl_emu {
	uint64_t magic;
	uint32_t version;
	int fd; /* our opening of the file */
	struct ibv_context *context;
	struct verbs_context *verbs; /* the same */
	pthread_mutex_t mutex;       /* since the file's locks do not tell threads apart */
	struct rdmaez_impl_emu_file *file;
	size_t mapped; /* bytes */
	/* The file's numbers, checked on attaching; in the file other processes could change them. */
	uint64_t start, size;
	uint64_t page, pages; /* the size of a page, and how many there are */
	uint64_t timeout_ns;  /* how long a call waits for the lock, as in the options */
	int driver; /* the driver's number in the kernel; -1: the kernel cannot be asked for regions */
	struct rdmaez_impl_emu_dm *objects;
	struct rdmaez_impl_emu_region *regions;
	struct rdmaez_impl_emu_fault fault[RDMAEZ_IMPL_EMU_CALLS];
	/* The copy functions of whoever attached, also for memory that another shared object imports. */
	int (*copy_to)(struct ibv_dm *, uint64_t, const void *, size_t);
	int (*copy_from)(void *, struct ibv_dm *, uint64_t, size_t);
	/* The verbs that were replaced. */
	struct ibv_dm *(*alloc_dm)(struct ibv_context *, struct ibv_alloc_dm_attr *);
	int (*free_dm)(struct ibv_dm *);
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *, struct ibv_dm *, uint64_t, size_t,
				    unsigned int);
	int (*query_device_ex)(struct ibv_context *, const struct ibv_query_device_ex_input *,
			       struct ibv_device_attr_ex *, size_t);
};

#endif
