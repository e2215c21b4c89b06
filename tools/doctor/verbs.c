/* SPDX-License-Identifier: MIT */
/*
 * libibverbs, loaded when the first of its functions is called: an image without it is one of the faults that the doctor
 * looks for, and it must start there. Each function that the doctor and the headers call by its name is here under this
 * name, and asks the library for its own. Their types are those of verbs.h as the calling convention sees them; without
 * that header, whose macros have the same names.
 */
#include "load.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

static char why[256];

static void *library(void)
{
	static bool is_tried;
	static void *handle;
	const char *error;

	if (!is_tried) {
		is_tried = true;
		handle = dlopen("libibverbs.so.1", RTLD_NOW);
		error = handle ? NULL : dlerror();
		snprintf(why, sizeof(why), "%s", error ? error : "");
	}
	return handle;
}

const char *load_error(void)
{
	return library() ? NULL : why;
}

void *load_verb(const char *name)
{
	void *const handle = library();
	void *const verb = handle ? dlsym(handle, name) : NULL;

	if (!verb)
		errno = ENOSYS;
	return verb;
}

/* X(what it returns, name, parameters, arguments, what stands for a function that is missing) */
#define VERBS(X)                                                                                   \
	X(int, _ibv_query_gid_ex,                                                                  \
	  (void *a, uint32_t b, uint32_t c, void *d, uint32_t e, size_t f), (a, b, c, d, e, f),    \
	  ENOSYS)                                                                                  \
	X(ssize_t, _ibv_query_gid_table, (void *a, void *b, size_t c, uint32_t d, size_t e),       \
	  (a, b, c, d, e), -ENOSYS)                                                                \
	X(void *, ibv_alloc_pd, (void *a), (a), NULL)                                              \
	X(int, ibv_attach_mcast, (void *a, const void *b, uint16_t c), (a, b, c), ENOSYS)          \
	X(int, ibv_close_device, (void *a), (a), ENOSYS)                                           \
	X(void *, ibv_create_ah, (void *a, void *b), (a, b), NULL)                                 \
	X(void *, ibv_create_comp_channel, (void *a), (a), NULL)                                   \
	X(void *, ibv_create_cq, (void *a, int b, void *c, void *d, int e), (a, b, c, d, e), NULL) \
	X(void *, ibv_create_qp, (void *a, void *b), (a, b), NULL)                                 \
	X(void *, ibv_create_srq, (void *a, void *b), (a, b), NULL)                                \
	X(int, ibv_dealloc_pd, (void *a), (a), ENOSYS)                                             \
	X(int, ibv_dereg_mr, (void *a), (a), ENOSYS)                                               \
	X(int, ibv_destroy_ah, (void *a), (a), ENOSYS)                                             \
	X(int, ibv_destroy_comp_channel, (void *a), (a), ENOSYS)                                   \
	X(int, ibv_destroy_cq, (void *a), (a), ENOSYS)                                             \
	X(int, ibv_destroy_qp, (void *a), (a), ENOSYS)                                             \
	X(int, ibv_destroy_srq, (void *a), (a), ENOSYS)                                            \
	X(int, ibv_detach_mcast, (void *a, const void *b, uint16_t c), (a, b, c), ENOSYS)          \
	X(int, ibv_get_async_event, (void *a, void *b), (a, b), -1)                                \
	X(int, ibv_get_cq_event, (void *a, void *b, void *c), (a, b, c), -1)                       \
	X(uint64_t, ibv_get_device_guid, (void *a), (a), 0)                                        \
	X(void *, ibv_get_device_list, (int *a), (a), NULL)                                        \
	X(const char *, ibv_get_device_name, (void *a), (a), NULL)                                 \
	X(void *, ibv_import_device, (int a), (a), NULL)                                           \
	X(void *, ibv_import_mr, (void *a, uint32_t b), (a, b), NULL)                              \
	X(void *, ibv_import_pd, (void *a, uint32_t b), (a, b), NULL)                              \
	X(int, ibv_modify_qp, (void *a, void *b, int c), (a, b, c), ENOSYS)                        \
	X(int, ibv_modify_srq, (void *a, void *b, int c), (a, b, c), ENOSYS)                       \
	X(void *, ibv_open_device, (void *a), (a), NULL)                                           \
	X(void *, ibv_qp_to_qp_ex, (void *a), (a), NULL)                                           \
	X(int, ibv_query_device, (void *a, void *b), (a, b), ENOSYS)                               \
	X(int, ibv_query_ece, (void *a, void *b), (a, b), ENOSYS)                                  \
	X(int, ibv_query_gid, (void *a, uint8_t b, int c, void *d), (a, b, c, d), -1)              \
	X(int, ibv_query_pkey, (void *a, uint8_t b, int c, void *d), (a, b, c, d), -1)             \
	X(int, ibv_query_port, (void *a, uint8_t b, void *c), (a, b, c), ENOSYS)                   \
	X(int, ibv_query_qp, (void *a, void *b, int c, void *d), (a, b, c, d), ENOSYS)             \
	X(int, ibv_query_srq, (void *a, void *b), (a, b), ENOSYS)                                  \
	X(void *, ibv_reg_dmabuf_mr, (void *a, uint64_t b, size_t c, uint64_t d, int e, int f),    \
	  (a, b, c, d, e, f), NULL)                                                                \
	X(void *, ibv_reg_mr, (void *a, void *b, size_t c, int d), (a, b, c, d), NULL)             \
	X(void *, ibv_reg_mr_iova2, (void *a, void *b, size_t c, uint64_t d, unsigned int e),      \
	  (a, b, c, d, e), NULL)                                                                   \
	X(int, ibv_resize_cq, (void *a, int b), (a, b), ENOSYS)                                    \
	X(int, ibv_set_ece, (void *a, void *b), (a, b), ENOSYS)

/* The same of those that return nothing. */
#define VERBS_VOID(X)                                           \
	X(ibv_ack_async_event, (void *a), (a))                  \
	X(ibv_ack_cq_events, (void *a, unsigned int b), (a, b)) \
	X(ibv_free_device_list, (void *a), (a))                 \
	X(ibv_unimport_mr, (void *a), (a))                      \
	X(ibv_unimport_pd, (void *a), (a))

#define VERB(type, name, parameters, arguments, missing)             \
	type name parameters;                                        \
	type name parameters                                         \
	{                                                            \
		union {                                              \
			void *address;                               \
			type(*call) parameters;                      \
		} verb = {load_verb(#name)};                         \
                                                                     \
		return verb.address ? verb.call arguments : missing; \
	}
VERBS(VERB)

#define VERB_VOID(name, parameters, arguments)  \
	void name parameters;                   \
	void name parameters                    \
	{                                       \
		union {                         \
			void *address;          \
			void(*call) parameters; \
		} verb = {load_verb(#name)};    \
                                                \
		if (verb.address)               \
			verb.call arguments;    \
	}
VERBS_VOID(VERB_VOID)
