/* SPDX-License-Identifier: MIT */
/* How the cold verbs are wrapped: those of the control path, by name and through a context's tables. */
#ifndef RDMAEZ_EXPLAIN_VERBS_H
#define RDMAEZ_EXPLAIN_VERBS_H

#include "explain.h"

/* ---- Both forms of a verb ------------------------------------------------------------------------ */

/*
 * Within an explanation: whether the verb gets its answer here, the one that there is already. A verb that would change
 * something never reaches the device then, whatever the headers do about a refusal.
 */
bool explain_answered(const struct explain_call *call, int *result);
bool explain_answered_null(const struct explain_call *call);

/*
 * Ends an explanation, as explain_end() does, with the verb and the errno value that the program got, whatever the
 * headers made of it; and where they found nothing, or have no function, with what that value usually means.
 */
void explain_refused(struct explain_call *call, const struct ibv_context *context);

/* With --advice, of a region that was registered with these flags: in which order writes come (order.c). */
void explain_order(const struct explain_call *call, const struct ibv_mr *mr, unsigned int access);
void explain_order_gone(const struct ibv_mr *mr);

/*
 * The body of a wrapper. `real` calls the real verb, `done` follows its success, and `why` lets the headers explain its
 * refusal, for which `call` is there; `context` is looked at only then.
 */
#define EXPLAIN_STATUS(kind, name, real, context, done, why)            \
	do {                                                            \
		struct explain_call call = EXPLAIN_CALL_OF(name, kind); \
		int result;                                             \
                                                                        \
		if (explain_answered(&call, &result))                   \
			return result;                                  \
		explain_does_new(call.verb);                            \
		explain_enter();                                        \
		result = (real);                                        \
		if (explain_leave(&call, result)) {                     \
			why;                                            \
			explain_refused(&call, context);                \
		} else if (!result) {                                   \
			done;                                           \
		}                                                       \
		return result;                                          \
	} while (0)

#define EXPLAIN_POINTER(type, name, real, context, done, why)                      \
	do {                                                                       \
		struct explain_call call = EXPLAIN_CALL_OF(name, EXPLAIN_REFUSAL); \
		type *result;                                                      \
                                                                                   \
		if (explain_answered_null(&call))                                  \
			return NULL;                                               \
		explain_does_new(call.verb);                                       \
		explain_enter();                                                   \
		result = (real);                                                   \
		if (explain_leave_null(&call, result)) {                           \
			why;                                                       \
			explain_refused(&call, context);                           \
		} else if (result) {                                               \
			done;                                                      \
		}                                                                  \
		return result;                                                     \
	} while (0)

/* Where nothing is to be done. */
#define EXPLAIN_NOTHING ((void)0)

/* `name` is one of the arrays below, or a literal where no function of the headers calls the verb. */
#define EXPLAIN_CALL_OF(name, of_kind) \
	{.verb = (name), .caller = __builtin_return_address(0), .kind = (of_kind)}

/* The verbs that explanations of several others call, in the end: each must be told by one address. */
extern const char explain_verb_open_device[], explain_verb_reg_mr[], explain_verb_create_ah[],
	explain_verb_create_qp[], explain_verb_create_qp_ex[], explain_verb_create_cq_ex[],
	explain_verb_reg_dmabuf_mr[];

/* Lets the headers call another verb than the program did. */
void explain_replay_as(const char *verb);

/* What a program asks for, as far as its comp_mask reaches: those of older headers have a shorter struct. */
struct ibv_cq_init_attr_ex explain_cq_asked(const struct ibv_cq_init_attr_ex *init_attr);
struct ibv_qp_init_attr_ex explain_qp_asked(const struct ibv_qp_init_attr_ex *init_attr);

/* The program has them from now on, whichever function made them. */
void explain_has_cq(struct ibv_cq_ex *cq);
void explain_has_qp(struct ibv_qp *qp, int sig_all, const struct ibv_qp_cap *cap);

/* ---- The tables of a context (context.c) ----------------------------------------------------------- */

/*
 * The entries of struct verbs_context that are replaced; explain_NAME() takes their place. A test compares these lists,
 * and that of data.h, with the structs of the installed verbs.h: each entry stands in one of them.
 */
/* clang-format off */
#define EXPLAIN_TABLE(X) \
	X(create_cq_ex) X(modify_cq) X(create_srq_ex) X(create_qp_ex) X(open_qp) X(modify_qp_rate_limit) \
	X(open_xrcd) X(close_xrcd) X(alloc_dm) X(free_dm) X(reg_dm_mr) X(alloc_null_mr) X(advise_mr) \
	X(alloc_td) X(dealloc_td) X(alloc_parent_domain) X(create_wq) X(modify_wq) X(destroy_wq) \
	X(create_rwq_ind_table) X(destroy_rwq_ind_table) X(ibv_create_flow) X(ibv_destroy_flow) \
	X(create_counters) X(destroy_counters) X(read_counters) X(attach_counters_point_flow) \
	X(create_flow_action_esp) X(modify_flow_action_esp) X(destroy_flow_action) X(get_srq_num) \
	X(query_device_ex) X(query_port)
/* clang-format on */

/* Those of struct ibv_context_ops, but for the data path's. */
#define EXPLAIN_OPS(X) X(alloc_mw) X(dealloc_mw)

/* Those of both that nobody explains, each with the reason. */
#define EXPLAIN_LEFT_ALONE(X)                                                               \
	X(query_rt_values, "reads a clock, as often as a program timestamps its data")      \
	X(post_srq_ops, "posts tag matching of verbs, which the headers have no words for") \
	X(priv, "is libibverbs' own")                                                       \
	X(sz, "is the table's size")                                                        \
	X(context, "is the context itself")                                                 \
	X(ABI_placeholder1, "is unused")                                                    \
	X(ABI_placeholder2, "is unused")                                                    \
	X(_ABI_placeholder3, "is unused")

#define EXPLAIN_TABLE_TYPE(entry) __typeof__(((struct verbs_context *)NULL)->entry)
#define EXPLAIN_OPS_TYPE(entry)   __typeof__(((struct ibv_context_ops *)NULL)->entry)

/* What the tables of one context held. */
struct explain_originals {
	int pid; /* whose the context is */
#define EXPLAIN_ORIGINAL_ENTRY(entry) EXPLAIN_TABLE_TYPE(entry) entry;
	EXPLAIN_TABLE(EXPLAIN_ORIGINAL_ENTRY)
#undef EXPLAIN_ORIGINAL_ENTRY
#define EXPLAIN_ORIGINAL_OP(entry) EXPLAIN_OPS_TYPE(entry) entry;
	EXPLAIN_OPS(EXPLAIN_ORIGINAL_OP)
#undef EXPLAIN_ORIGINAL_OP
};

/* Private to rdma-core, but what every way of opening a device comes to; its form has not changed since 2018. */
struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data);

/* Of a context that is wrapped. */
const struct explain_originals *explain_originals(const struct ibv_context *context);

#define EXPLAIN_DECLARE(entry) __typeof__(*(EXPLAIN_TABLE_TYPE(entry))NULL) explain_##entry;
EXPLAIN_TABLE(EXPLAIN_DECLARE)
#undef EXPLAIN_DECLARE
#define EXPLAIN_DECLARE(entry) __typeof__(*(EXPLAIN_OPS_TYPE(entry))NULL) explain_##entry;
EXPLAIN_OPS(EXPLAIN_DECLARE)
#undef EXPLAIN_DECLARE

#endif
