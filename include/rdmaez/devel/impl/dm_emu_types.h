/* SPDX-License-Identifier: MIT */
/* What the emulation keeps, in its file and in its object. */
#ifndef RDMAEZ_DEVEL_IMPL_DM_EMU_TYPES_H
#define RDMAEZ_DEVEL_IMPL_DM_EMU_TYPES_H

#include <pthread.h>

#include "../../dm.h"

#define RDMAEZ_IMPL_EMU_CALLS 7

/* The most bytes of memory: who shares a file does not get to choose how long its list of pieces is. */
#define RDMAEZ_IMPL_EMU_MOST (64u * 1024 * 1024)

/* Of the state and of the file: raised whenever either changes its layout or its meaning. */
#define RDMAEZ_IMPL_EMU_VERSION 3
#define RDMAEZ_IMPL_EMU_MAGIC   0x525a444d454d554cull /* "RZDMEMUL" */

/* One piece of device memory, described at its first page. */
struct rdmaez_impl_emu_piece {
	uint64_t length; /* as asked for; 0: no piece begins here */
	uint32_t handle; /* 0: freed, and there as long as someone has it mapped */
	uint32_t reserved;
};

/* The beginning of the file. A piece for each page follows, and at `start`, a page, the memory. */
struct rdmaez_impl_emu_file {
	uint64_t magic;
	uint64_t version;
	uint64_t start;
	uint64_t size; /* of the memory */
	uint32_t last_handle;
	uint32_t reserved;
};

/* A region. ibv_dereg_mr() passes us by, so the kernel is asked whether it is still there. */
struct rdmaez_impl_emu_region {
	struct rdmaez_impl_emu_region *next;
	uint64_t page; /* the first of its piece */
	uint32_t handle, lkey;
};

/* A failure still to come. */
struct rdmaez_impl_emu_fault {
	int error; /* 0: none */
	bool each;
	unsigned int left; /* calls up to the one that fails; 0: that has been */
};

/* The magic is there while it is attached; with the version it tells whether the rest means this. */
struct rdmaez_impl_emu {
	uint64_t magic;
	uint32_t version;
	int fd; /* of the file */
	struct ibv_context *context;
	struct verbs_context *verbs; /* the same */
	pthread_mutex_t mutex;       /* the file's locks are of the opening, not of a thread */
	struct rdmaez_impl_emu_file *file;
	size_t mapped; /* bytes */
	/* The file's, checked when we came: who shares it could change them there. */
	uint64_t start, size;
	uint64_t page, pages; /* bytes of one, and how many */
	uint64_t timeout_ns;  /* how long a call waits for who has the lock */
	int driver;           /* what the kernel calls it; -1: it cannot be asked for regions */
	struct rdmaez_impl_emu_dm *objects;
	struct rdmaez_impl_emu_region *regions;
	struct rdmaez_impl_emu_fault fault[RDMAEZ_IMPL_EMU_CALLS];
	/* The copies of whoever attached, also where another imports. */
	int (*copy_to)(struct ibv_dm *, uint64_t, const void *, size_t);
	int (*copy_from)(void *, struct ibv_dm *, uint64_t, size_t);
	/* What was there before. */
	struct ibv_dm *(*alloc_dm)(struct ibv_context *, struct ibv_alloc_dm_attr *);
	int (*free_dm)(struct ibv_dm *);
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *, struct ibv_dm *, uint64_t, size_t,
				    unsigned int);
	int (*query_device_ex)(struct ibv_context *, const struct ibv_query_device_ex_input *,
			       struct ibv_device_attr_ex *, size_t);
};

#endif
