/* SPDX-License-Identifier: MIT */
/* What the emulation keeps, in its file and in its object. */
#ifndef RDMAEZ_DEVEL_IMPL_DM_EMU_TYPES_H
#define RDMAEZ_DEVEL_IMPL_DM_EMU_TYPES_H

#include <pthread.h>

#include "../../dm.h"
#include "../../impl/dm_hook.h"

/* How many there can be at once, of all processes that share the memory. */
#define RDMAEZ_IMPL_DM_EMU_SLOTS   128
#define RDMAEZ_IMPL_DM_EMU_REFS    1024
#define RDMAEZ_IMPL_DM_EMU_MEMBERS 64
#define RDMAEZ_IMPL_DM_EMU_CALLS   7

/* mlx5 aligns to 64 bytes at least; verbs do not tell how far a device goes. Here: to its page. */
#define RDMAEZ_IMPL_DM_EMU_MAX_LOG_ALIGN 12

/* "RZDMFILE" */
#define RDMAEZ_IMPL_DM_EMU_FILE_MAGIC 0x525a444d46494c45ull

/* fcntl() commands that need _GNU_SOURCE: locks of an open file, since Linux 3.15; and of memfds. */
#define RDMAEZ_IMPL_DM_EMU_OFD_GETLK  36
#define RDMAEZ_IMPL_DM_EMU_OFD_SETLK  37
#define RDMAEZ_IMPL_DM_EMU_OFD_SETLKW 38
#define RDMAEZ_IMPL_DM_EMU_ADD_SEALS  1033
#define RDMAEZ_IMPL_DM_EMU_GET_SEALS  1034
#define RDMAEZ_IMPL_DM_EMU_SHRINK     0x2 /* F_SEAL_SHRINK */
#define RDMAEZ_IMPL_DM_EMU_SEALS      0x6 /* F_SEAL_SHRINK, F_SEAL_GROW */
#define RDMAEZ_IMPL_DM_EMU_MEMFD      0x3 /* MFD_CLOEXEC, MFD_ALLOW_SEALING */

/* One piece of device memory. It outlives its handle while anyone has it mapped. */
struct rdmaez_impl_dm_emu_slot {
	uint64_t offset; /* from the first byte of the device */
	uint64_t taken;  /* bytes, in whole pages; 0: this slot is free */
	uint64_t length; /* as asked for */
	uint32_t handle; /* 0: freed */
	uint32_t owner;  /* the member that allocated it, plus 1; 0: gone */
};

/* A use of one: it is mapped, or it is registered. */
struct rdmaez_impl_dm_emu_ref {
	uint32_t slot;   /* plus 1; 0: this entry is free */
	uint32_t member; /* whose */
	uint32_t is_mr;
	uint32_t mr; /* the region's handle in its process */
	uint32_t lkey;
};

/* The beginning of the file. The bytes of the device follow at the next page. */
struct rdmaez_impl_dm_emu_file {
	uint64_t magic;
	uint64_t layout; /* sizeof this struct: another version of rdmaez may have another */
	uint64_t start;  /* of the bytes, in the file */
	uint64_t size;
	uint64_t max_alloc;
	uint32_t last_handle;
	uint32_t joined[RDMAEZ_IMPL_DM_EMU_MEMBERS];
	struct rdmaez_impl_dm_emu_slot slot[RDMAEZ_IMPL_DM_EMU_SLOTS];
	struct rdmaez_impl_dm_emu_ref ref[RDMAEZ_IMPL_DM_EMU_REFS];
};

/* What the verbs below find through the context. The hook comes first: it is how they find it. */
struct rdmaez_impl_dm_emu_state {
	struct rdmaez_impl_dm_hook hook;
	struct ibv_context *context;
	pthread_mutex_t mutex; /* the file's lock is of the process, not of a thread */
	struct rdmaez_impl_dm_emu_file *file;
	size_t mapped; /* bytes */
	/* The file's, checked when we came: who shares it could change them there. */
	uint64_t start, size, max_alloc;
	uint64_t page;   /* bytes */
	uint32_t member; /* our number */
	int driver;      /* what the kernel calls it; -1: it cannot be asked for regions */
	/* What was there before. */
	struct ibv_dm *(*alloc_dm)(struct ibv_context *, struct ibv_alloc_dm_attr *);
	int (*free_dm)(struct ibv_dm *);
	struct ibv_mr *(*reg_dm_mr)(struct ibv_pd *, struct ibv_dm *, uint64_t, size_t,
				    unsigned int);
	int (*query_device_ex)(struct ibv_context *, const struct ibv_query_device_ex_input *,
			       struct ibv_device_attr_ex *, size_t);
	/* Failures still to come. */
	struct {
		int error; /* 0: none */
		bool each;
		unsigned int left; /* calls up to the one that fails; 0: that has been */
	} fault[RDMAEZ_IMPL_DM_EMU_CALLS];
};

#endif
