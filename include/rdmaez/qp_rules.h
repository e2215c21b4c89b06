/* SPDX-License-Identifier: MIT */
/**
 * @file qp_rules.h
 * @brief Which queue pair transitions and attribute masks Linux accepts.
 *
 * @par Sources
 * The rules are the kernel's `qp_state_table` and `ib_modify_qp_is_ok()` in
 * `drivers/infiniband/core/verbs.c`, which are the same from Linux 6.1 to 7.2 but for the rate limit. A
 * mask is accepted if it has every required bit, and no bit that is neither required nor optional. Some
 * drivers accept less. Queue pairs of type IBV_QPT_DRIVER follow rules of their driver, the same from Linux
 * 6.1 to 7.2: `srd_qp_state_table` in `hw/efa/efa_verbs.c` for #RDMAEZ_QPT_SRD, `modify_dci_qp_is_ok()` and
 * `mlx5_ib_modify_dct()` in `hw/mlx5/qp.c` for #RDMAEZ_QPT_DCI and #RDMAEZ_QPT_DCT, which require
 * IBV_QP_STATE even where the state stays.
 *
 * Two things that the table does not show:
 * - `IBV_QP_RATE_LIMIT` follows Linux 6: RAW_PACKET only, from RTR to RTS and within RTS. Linux 7 removed
 *   the bit from the table and leaves it to each driver, so a mask that is refused here only because of that
 *   bit may be accepted there: bnxt_re and ionic take it for RC from INIT to RTR, from RTR to RTS and within
 *   RTS. The functions that move a queue pair (qp.h) leave that to the kernel.
 * - For XRC the library's system call silently drops some bits before the kernel sees the mask:
 *   MAX_DEST_RD_ATOMIC and MIN_RNR_TIMER for XRC_SEND; MAX_QP_RD_ATOMIC, RETRY_CNT and RNR_RETRY for
 *   XRC_RECV. The rules describe what the kernel sees, and do not allow these bits.
 *
 * With constant arguments a rule folds to constants.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_QP_RULES_H
#define RDMAEZ_QP_RULES_H

#ifndef RDMAEZ_DIAG_H
#include "diag.h"
#endif

/**
 * @name Driver types
 * These values say what a queue pair of type IBV_QPT_DRIVER is. Only functions of rdmaez take them; no verb does.
 * @{
 */
#define RDMAEZ_QPT_SRD RDMAEZ_IMPL_QP_TYPE(0xf1) /**< efa: scalable reliable datagrams */
#define RDMAEZ_QPT_DCI RDMAEZ_IMPL_QP_TYPE(0xf2) /**< mlx5: dynamically connected initiator */
#define RDMAEZ_QPT_DCT RDMAEZ_IMPL_QP_TYPE(0xf3) /**< mlx5: dynamically connected target */
/** @} */

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The attributes of one transition, as bits of `enum ibv_qp_attr_mask`. */
struct rdmaez_qp_rule {
	bool legal; /**< whether the transition exists; if not, both masks are 0 */
	int required; /**< must all be in the mask; IBV_QP_STATE is one of them if the state changes */
	int optional; /**< may be in the mask */
};

/**
 * @brief Returns the states that a queue pair may be moved to, by the kernel's table. DCI and DCT go to fewer.
 * @param from the state it is in
 * @return bit n is set if state n of `enum ibv_qp_state` may follow; 0 for an unknown @p from
 */
RDMAEZ_FOLD unsigned int rdmaez_qp_next_states(enum ibv_qp_state from);

/**
 * @brief Returns whether the rules cover a queue pair type.
 * @param type any value
 * @return true for RC, UC, UD, RAW_PACKET, XRC_SEND and XRC_RECV, and for the driver types; false for
 *         IBV_QPT_DRIVER, which may be any of these
 */
RDMAEZ_FOLD bool rdmaez_qp_type_has_rules(enum ibv_qp_type type);

/* Function and struct share a name, which g++ -Wshadow takes for a hidden constructor. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/**
 * @brief Returns the attributes that a transition requires and allows.
 *
 * @param type a queue pair type; only those of rdmaez_qp_type_has_rules() have legal transitions
 * @param from the state the queue pair is in
 * @param to the state it is to enter; equal to @p from to change attributes only
 * @return the rule; all zero for a transition that does not exist
 */
RDMAEZ_FOLD struct rdmaez_qp_rule rdmaez_qp_rule(enum ibv_qp_type type, enum ibv_qp_state from,
						 enum ibv_qp_state to);

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/**
 * @brief Checks whether the kernel accepts an attribute mask for a transition, and if not, explains why.
 *
 * Returns 0 exactly if the kernel's `ib_modify_qp_is_ok()` accepts the mask, with one addition: a change of
 * state requires IBV_QP_STATE. Without that bit the kernel would check a different transition, the one from
 * @p from to @p from. For a driver type, the driver's own rules decide. If efa does not know an attribute at
 * all, it returns EOPNOTSUPP. Here that is EINVAL.
 *
 * @param type the queue pair's type; for IBV_QPT_DRIVER one of the driver types
 * @param from the state it is in
 * @param to the state it is to enter
 * @param attr_mask bits of `enum ibv_qp_attr_mask`
 * @param diag receives all findings; may be NULL
 * @retval 0 the mask is right
 * @retval EINVAL @p type has no rules (#RDMAEZ_WHY_QP_TYPE); @p from or @p to is not a state
 *         (#RDMAEZ_WHY_QP_STATE); the transition does not exist (#RDMAEZ_WHY_TRANSITION, with the states
 *         that may follow; #RDMAEZ_WHY_DCT_FINAL where there are none); bits are missing
 *         (#RDMAEZ_WHY_MASK_MISSING) or not allowed (#RDMAEZ_WHY_MASK_NOT_ALLOWED, #RDMAEZ_WHY_MASK_CAP,
 *         #RDMAEZ_WHY_MASK_RATE_LIMIT)
 */
RDMAEZ_FOLD int rdmaez_qp_mask_check(enum ibv_qp_type type, enum ibv_qp_state from,
				     enum ibv_qp_state to, int attr_mask, struct rdmaez_diag *diag);

/**
 * @name Right at compile time
 * The rules as constant expressions, for masks that are written by hand: in `_Static_assert`, `static_assert`,
 * case labels, array sizes and initialisers. The arguments are constants.
 *
 * @code
 * enum { RTR_MASK = IBV_QP_STATE | IBV_QP_PKEY_INDEX };
 * RDMAEZ_QP_MASK_ASSERT(IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, RTR_MASK);
 * @endcode
 * @{
 */

/** @brief `rdmaez_qp_rule(type, from, to).required`; 0 for a transition that does not exist. */
#define RDMAEZ_QP_REQUIRED(type, from, to) \
	RDMAEZ_IMPL_QP_REQUIRED(RDMAEZ_IMPL_QP_SET(type), RDMAEZ_IMPL_QP_STEP(from, to))

/** @brief `rdmaez_qp_rule(type, from, to).optional`; 0 for a transition that does not exist. */
#define RDMAEZ_QP_OPTIONAL(type, from, to) \
	RDMAEZ_IMPL_QP_OPTIONAL(RDMAEZ_IMPL_QP_SET(type), RDMAEZ_IMPL_QP_STEP(from, to))

/**
 * @brief Declares that rdmaez_qp_mask_check() accepts a mask. If it does not, the program does not compile,
 *        and the message names the transition and says whether bits are missing or left over. You can put it
 *        wherever a declaration may be.
 */
#define RDMAEZ_QP_MASK_ASSERT(type, from, to, mask)                                                \
	RDMAEZ_IMPL_ASSERT(                                                                        \
		RDMAEZ_IMPL_QP_LEGAL(RDMAEZ_IMPL_QP_SET(type), RDMAEZ_IMPL_QP_STEP(from, to)),     \
		"rdmaez: " #type " has no transition from " #from " to " #to);                     \
	RDMAEZ_IMPL_ASSERT((RDMAEZ_QP_REQUIRED(type, from, to) & (mask)) ==                        \
				   RDMAEZ_QP_REQUIRED(type, from, to),                             \
			   "rdmaez: attributes are missing that " #type " requires from " #from    \
			   " to " #to ": " #mask);                                                 \
	RDMAEZ_IMPL_ASSERT(                                                                        \
		(RDMAEZ_QP_REQUIRED(type, from, to) | RDMAEZ_QP_OPTIONAL(type, from, to) |         \
		 (mask)) ==                                                                        \
			(RDMAEZ_QP_REQUIRED(type, from, to) | RDMAEZ_QP_OPTIONAL(type, from, to)), \
		"rdmaez: attributes are there that " #type " does not take from " #from " to " #to \
		": " #mask)

/** @} */

#ifdef __cplusplus
}
#endif

#include "impl/qp_rules.h"

#endif
