/* SPDX-License-Identifier: MIT */
/**
 * @file wr.h
 * @brief Describe work requests, post them through either interface, and explain why that failed.
 *
 * @code
 * int write_to_peer(struct ibv_qp *qp, struct ibv_mr *mr, const struct rdmaez_endpoint *remote,
 *                   struct rdmaez_diag *diag)
 * {
 *         struct ibv_send_wr wr = {0};
 *         struct ibv_sge sge;
 *         int error = rdmaez_mr_sge(mr, mr->addr, 64, &sge, diag);
 *
 *         if (!error)
 *                 error = rdmaez_wr_write(&wr, &sge, &remote->memory, 4096, diag);
 *         wr.send_flags |= IBV_SEND_SIGNALED;
 *         return error ? error : rdmaez_wr_post_send(qp, &wr, NULL, diag);
 * }
 * @endcode
 *
 * The functions that describe start from a zeroed work request, or from one that you use again. They set the opcode,
 * the list of SGEs and the peer's end. `wr_id`, `next` and the other flags stay yours. So does everything that they
 * have no check for: `wr.qp_type.xrc.remote_srqn`, and the flags SIGNALED, SOLICITED and FENCE. The functions are pure.
 * They accept NULL only where it has a meaning. If they refuse, they leave the work request as it was. Only then do
 * they write the record, which may be NULL: it names the field, its value and what would be accepted.
 *
 * They take one SGE. For several, or for no data, set `wr.sg_list` and `wr.num_sge` first, and pass NULL instead.
 *
 * @par Posting
 * ibv_post_send() returns ENOMEM or EINVAL for a full queue, too many SGEs, too much inline data, a queue pair that
 * cannot send yet and a dozen other causes, and drivers disagree on which. Posting with these functions costs what the
 * verb costs. It checks no argument; everything else happens after a failure.
 *
 * On failure, the first finding is the work request: #RDMAEZ_WHY_WR_BAD with its place in the list, or
 * #RDMAEZ_WHY_WR_BAD_UNKNOWN if the provider does not say which of several it is. The causes follow.
 * #RDMAEZ_WHY_NULL_ARGUMENT and #RDMAEZ_WHY_WR_NO_QUEUE are certain. #RDMAEZ_WHY_WR_STATE, #RDMAEZ_WHY_WR_SGE,
 * #RDMAEZ_WHY_WR_INLINE, #RDMAEZ_WHY_WR_OPCODE, #RDMAEZ_WHY_WR_DEVICE_OPCODE and #RDMAEZ_WHY_WR_ATOMIC are certain
 * with the providers that check for it before they take a work request, as of rdma-core 65. With other providers they are likely, because these may
 * accept the mistake and complete it with an error. #RDMAEZ_WHY_WR_QUEUE_FULL and #RDMAEZ_WHY_WR_QP_ERROR are likely.
 * If no cause is found, the finding is what the errno usually means: #RDMAEZ_WHY_NOT_SUPPORTED, #RDMAEZ_WHY_BUSY,
 * #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NO_RESOURCES, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_UNEXPLAINED.
 * #RDMAEZ_WHY_QUERY_REFUSED says that the limits and the state are not known.
 *
 * @par Verbs calls
 * The one that posts. If it fails and @p diag is not NULL, also ibv_query_device() and ibv_query_qp(), which refreshes
 * `qp->state`, or ibv_query_srq(). If ibv_query_qp() is refused, it is called again for less. For a UD send, also
 * ibv_query_port().
 * @par Threads
 * As for the verb.
 *
 * @par Sources
 * ibv_post_send(), ibv_wr_start(), and the providers of rdma-core 65.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_WR_H
#define RDMAEZ_WR_H

#ifndef RDMAEZ_MR_H
#include "mr.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Descriptions ------------------------------------------------------------------------- */

/**
 * @brief Fills a scatter/gather element for a part of a region, after checking that it lies within the region.
 *
 * A region of all memory, registered for on-demand paging from NULL with a length of SIZE_MAX, takes any address but
 * the last. If requests name bytes by other addresses, as described at rdmaez_mr_remote(), add the difference to
 * `sge->addr`. For a zero-based region, subtract `mr->addr`. A region of device memory takes offsets, as
 * `(void *)(uintptr_t)offset`; rdmaez_dm_sge() checks more.
 *
 * @param mr the region, not NULL
 * @param addr the first byte
 * @param length how many bytes, less than 2^31: in mlx5 and mlx4 bit 31 has another meaning (`MLX5_INLINE_SEG`;
 *         mlx4_post_send() uses it for no bytes), and no message is longer (IBTA volume 1)
 * @param sge receives the element, not NULL; written on success only
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p sge is filled
 * @retval ERANGE the bytes are not all within the region (#RDMAEZ_WHY_WR_REGION), or are 2^31 and more
 *         (#RDMAEZ_WHY_RANGE)
 * @par Verbs calls
 * None.
 */
RDMAEZ_API int rdmaez_mr_sge(const struct ibv_mr *mr, const void *addr, size_t length,
			     struct ibv_sge *sge, struct rdmaez_diag *diag);

/**
 * @brief Describes a send.
 * @param wr the work request
 * @param sge its data; NULL: what @p wr has
 */
RDMAEZ_API void rdmaez_wr_send(struct ibv_send_wr *wr, struct ibv_sge *sge);

/**
 * @brief Describes a send over UD.
 * @param wr the work request
 * @param sge its data, which must fit into one packet; NULL: what @p wr has
 * @param ah the address handle of the peer
 * @param qp_num the peer's queue pair number; 0xffffff: a multicast group's
 * @param qkey the peer's Q_Key
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p wr is set
 * @retval EINVAL @p ah is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or @p qp_num is wider than 24 bits (#RDMAEZ_WHY_RANGE)
 */
RDMAEZ_API int rdmaez_wr_send_to(struct ibv_send_wr *wr, struct ibv_sge *sge, struct ibv_ah *ah,
				 uint32_t qp_num, uint32_t qkey, struct rdmaez_diag *diag);

/**
 * @brief Describes an RDMA WRITE.
 * @param wr the work request
 * @param sge where the data is; NULL: what @p wr has
 * @param remote the peer's memory, as received from it
 * @param offset the first byte in it
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p wr is set
 * @retval ERANGE the data would reach beyond @p remote (#RDMAEZ_WHY_WR_REMOTE)
 */
RDMAEZ_API int rdmaez_wr_write(struct ibv_send_wr *wr, struct ibv_sge *sge,
			       const struct rdmaez_remote *remote, uint64_t offset,
			       struct rdmaez_diag *diag);

/**
 * @brief Describes an RDMA READ.
 * @param wr the work request
 * @param sge where the data goes; NULL: what @p wr has
 * @param remote the peer's memory, as received from it
 * @param offset the first byte in it
 * @param diag receives, on failure only, the explanation; may be NULL
 * @return as rdmaez_wr_write()
 */
RDMAEZ_API int rdmaez_wr_read(struct ibv_send_wr *wr, struct ibv_sge *sge,
			      const struct rdmaez_remote *remote, uint64_t offset,
			      struct rdmaez_diag *diag);

/**
 * @brief Describes an atomic fetch and add of 8 bytes.
 * @param wr the work request
 * @param sge where the former value goes, 8 bytes; NULL: what @p wr has
 * @param remote the peer's memory, as received from it
 * @param offset where the number is in it
 * @param add the number to add
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p wr is set
 * @retval ERANGE the number would reach beyond @p remote (#RDMAEZ_WHY_WR_REMOTE)
 * @retval EINVAL there is room for more or less than 8 bytes, or the number's address is not a multiple of 8
 *         (#RDMAEZ_WHY_WR_ATOMIC)
 */
RDMAEZ_API int rdmaez_wr_fetch_add(struct ibv_send_wr *wr, struct ibv_sge *sge,
				   const struct rdmaez_remote *remote, uint64_t offset,
				   uint64_t add, struct rdmaez_diag *diag);

/** @brief The numbers of a compare and swap. */
struct rdmaez_wr_swap {
	uint64_t compare; /**< the number that must be there */
	uint64_t swap;    /**< the number that then takes its place */
};

/**
 * @brief Describes an atomic compare and swap of 8 bytes.
 * @param wr the work request
 * @param sge where the former value goes, 8 bytes; NULL: what @p wr has
 * @param remote the peer's memory, as received from it
 * @param offset where the number is in it
 * @param values the numbers, not NULL
 * @param diag receives, on failure only, the explanation; may be NULL
 * @return as rdmaez_wr_fetch_add()
 */
RDMAEZ_API int rdmaez_wr_compare_swap(struct ibv_send_wr *wr, struct ibv_sge *sge,
				      const struct rdmaez_remote *remote, uint64_t offset,
				      const struct rdmaez_wr_swap *values,
				      struct rdmaez_diag *diag);

/**
 * @brief Adds immediate data to a send or an RDMA WRITE.
 * @param wr the work request, described already
 * @param imm the number, in host byte order; on the wire it is big endian
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 @p wr is set
 * @retval EINVAL it is neither a send nor a write (#RDMAEZ_WHY_WR_IMM_OPCODE)
 */
RDMAEZ_API int rdmaez_wr_imm(struct ibv_send_wr *wr, uint32_t imm, struct rdmaez_diag *diag);

/**
 * @brief Sends the data inline, if that is possible, so that the buffer is free again once the work request is posted.
 * @param wr the work request, described already
 * @param max_inline the queue pair's `cap.max_inline_data`, as granted when it was created
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 IBV_SEND_INLINE is set
 * @retval EMSGSIZE there is more data than @p max_inline (#RDMAEZ_WHY_WR_INLINE)
 * @retval EINVAL it is neither a send nor a write (#RDMAEZ_WHY_WR_INLINE_OPCODE)
 */
RDMAEZ_API int rdmaez_wr_inline(struct ibv_send_wr *wr, uint32_t max_inline,
				struct rdmaez_diag *diag);

/* ---- Posting ------------------------------------------------------------------------------ */

/**
 * @brief Posts sends, as ibv_post_send() does, and explains a failure.
 *
 * @param qp the queue pair, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr receives, on failure only, the first work request that was not posted; those before it were. It is NULL
 *         if the provider does not say which. May be NULL
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @return any errno of ibv_post_send(), mostly ENOMEM and EINVAL, made positive; explained as at the head
 *         of this file, and with the likely causes #RDMAEZ_WHY_WR_UNSIGNALED, #RDMAEZ_WHY_WR_INLINE_OPCODE,
 *         #RDMAEZ_WHY_WR_UD_LENGTH, #RDMAEZ_WHY_WR_AH_PD
 */
RDMAEZ_FOLD int rdmaez_wr_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
				    struct ibv_send_wr **bad_wr, struct rdmaez_diag *diag);

/**
 * @brief Posts the same descriptions through the extended interface, ibv_wr_start() to ibv_wr_complete(), and explains
 * a failure.
 *
 * It takes all opcodes that ibv_post_send() has, also as a list, with inline data and over UD and XRC. It refuses the
 * drivers' own types of queue pairs, because those have their own setters. It passes the flags as they are: rxe looks
 * for IBV_SEND_INLINE among them. If one work request is refused, none is posted, but rxe keeps them if the queue pair
 * is not in RTS yet. Before rdma-core 65, rxe takes all of several SGEs to be as long as the first, and drops inline
 * data of several.
 *
 * @param qp what ibv_qp_to_qp_ex() returns for a queue pair that ibv_create_qp_ex() made with `send_ops_flags`
 * @param wr the first work request of a list that ends with `next` NULL, not NULL
 * @param bad_wr receives, on failure only, NULL, because this interface does not say which was refused. May be NULL
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @retval EINVAL @p qp is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the queue pair lacks the operation, so that calling it
 *         would crash (#RDMAEZ_WHY_WR_EX_OPCODE); more than 32 SGEs of inline data (#RDMAEZ_WHY_WR_SGE). Nothing was
 *         started. Some drivers fill in more operations than a queue pair was created for, and then accept them
 * @return any errno of ibv_wr_complete(), mostly ENOMEM, ENOSPC and EINVAL, made positive; explained as by
 *         rdmaez_wr_post_send()
 *
 * Source: the functions that rxe, mlx5, hns, efa, bnxt_re and ionic of rdma-core 65 assign to `ibv_qp_ex`.
 */
RDMAEZ_API int rdmaez_wr_post_ex(struct ibv_qp_ex *qp, struct ibv_send_wr *wr,
				 struct ibv_send_wr **bad_wr, struct rdmaez_diag *diag);

/**
 * @brief Posts receives, as ibv_post_recv() does, and explains a failure.
 *
 * @param qp the queue pair, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr as for rdmaez_wr_post_send()
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @return any errno of ibv_post_recv(), mostly ENOMEM and EINVAL, made positive; explained as at the head of this file,
 *         and with the certain causes #RDMAEZ_WHY_WR_SRQ, and #RDMAEZ_WHY_RANGE of `num_sge` if siw is given a receive
 *         without SGEs
 */
RDMAEZ_FOLD int rdmaez_wr_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag);

/**
 * @brief Posts receives to a shared receive queue, as ibv_post_srq_recv() does, and explains a failure.
 *
 * @param srq the shared receive queue, not NULL
 * @param wr the first work request of a list that ends with `next` NULL
 * @param bad_wr as for rdmaez_wr_post_send()
 * @param diag receives, on failure only, the explanation; may be NULL
 * @retval 0 all are posted
 * @retval ENOMEM mostly the queue is full (#RDMAEZ_WHY_WR_QUEUE_FULL); with mlx4 and mthca, which return -1, any
 *         failure
 * @return any other errno of ibv_post_srq_recv(), made positive; explained as at the head of this file
 */
RDMAEZ_FOLD int rdmaez_wr_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
					struct ibv_recv_wr **bad_wr, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/wr.h"

#endif
