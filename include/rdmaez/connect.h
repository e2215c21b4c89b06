/* SPDX-License-Identifier: MIT */
/**
 * @file connect.h
 * @brief Connect a queue pair by two endpoints: its own, and the peer's.
 *
 * Both ends fill an endpoint, send it to each other, and connect:
 *
 * @code
 * int swap(const struct rdmaez_endpoint *local, struct rdmaez_endpoint *remote); // as the program likes
 *
 * int connect_to_peer(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag)
 * {
 *         struct rdmaez_endpoint local, remote;
 *         int error = rdmaez_endpoint_local(qp, opts, &local, diag);
 *
 *         if (!error)
 *                 error = swap(&local, &remote);
 *         return error ? error : rdmaez_qp_connect(qp, &local, &remote, opts, diag);
 * }
 * @endcode
 *
 * The same in steps, for a program that changes what both ends agreed on, or that does something in between:
 *
 * @code
 * int connect_in_steps(struct ibv_qp *qp, const struct rdmaez_endpoint *local,
 *                      const struct rdmaez_endpoint *remote, struct rdmaez_diag *diag)
 * {
 *         struct rdmaez_qp_opts agreed;
 *         int error = rdmaez_endpoint_negotiate(local, remote, NULL, &agreed, diag);
 *
 *         if (!error)
 *                 error = rdmaez_qp_to_init(qp, &agreed, diag);
 *         // Receives may be posted here.
 *         if (!error)
 *                 error = rdmaez_qp_to_rtr(qp, &agreed, diag);
 *         return error ? error : rdmaez_qp_to_rts(qp, &agreed, diag);
 * }
 * @endcode
 *
 * A queue pair in RTS may send. But the peer may not be in RTR yet, or have no receive posted, and then the first send
 * has to be retried. Let both ends wait for each other first, as rdmaez_exchange_barrier() does.
 *
 * @par What a failure leaves
 * All these functions start from `qp->state`: RESET, INIT (after you have posted receives) or RTR. Endpoints that do
 * not fit are refused before the kernel is asked, and the queue pair is untouched. After any other failure the queue
 * pair is in the last state that it reached. `qp->state` has that state. If you call again with the same endpoints, the
 * call goes on from there.
 *
 * @par Errors of all of them
 * A function returns EINVAL for a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), for a local endpoint of another queue pair
 * (#RDMAEZ_WHY_CONNECT_OTHER_QP), for a queue pair in another state (#RDMAEZ_WHY_CONNECT_STATE), and for what
 * rdmaez_endpoint_negotiate() refuses. Otherwise it returns what rdmaez_qp_to_init(), rdmaez_qp_to_rtr() and
 * rdmaez_qp_to_rts() return. The record then names the transition that failed, and explains why.
 *
 * @par ECE
 * If both endpoints offer enhanced connection establishment of the same vendor (#RDMAEZ_QP_ECE), ibv_set_ece() sets
 * what both can do before the first transition. If the device turns out to have none (EOPNOTSUPP), the queue pair is
 * connected without it. Any other errno value is returned, with the queue pair untouched.
 *
 * @par Threads
 * Only one thread at a time may use one queue pair.
 *
 * @par Verbs calls
 * Those of rdmaez_qp_to_init(), rdmaez_qp_to_rtr() and rdmaez_qp_to_rts(), and ibv_set_ece() for ECE.
 * rdmaez_qp_connect_ud() also makes those of rdmaez_ah_create(), and rdmaez_qp_connect_loopback() makes those of
 * rdmaez_endpoint_local() for each end.
 * @par Sources
 * Those of qp.h and ah.h, and ibv_set_ece().
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_CONNECT_H
#define RDMAEZ_CONNECT_H

#ifndef RDMAEZ_AH_H
#include "ah.h"
#endif
#ifndef RDMAEZ_ENDPOINT_H
#include "endpoint.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Brings a queue pair to RTS and connects it to a peer.
 *
 * It connects RC, UC, XRC_SEND and XRC_RECV queue pairs. UD and SRD queue pairs have no connection; for these it checks
 * that the peer can be reached. It makes one ibv_modify_qp() for each transition, three from RESET. It queries nothing,
 * because the local endpoint has everything that is needed. With `opts->retry_ns` it tries RTR again if the peer is not
 * found yet, as rdmaez_qp_to_rtr() does. If a UD or SRD queue pair is already in RTS, the call changes nothing and
 * succeeds. The same goes for a DCT in RTR, the state in which it has its number. A DCI goes to RTS.
 *
 * Attributes in `opts->optional` and `opts->extra` go with the same transitions as in the three steps: see struct
 * rdmaez_qp_opts.
 *
 * @param qp the queue pair
 * @param local its own endpoint, as it was sent to the peer
 * @param remote the peer's
 * @param opts your own options, as for rdmaez_endpoint_negotiate(): access, timers, limits; NULL: all defaults. The
 *         port, P_Key index, PSNs, peer and path destination come from the endpoints instead, and depths and MTU are
 *         what both ends have agreed to; `port_attr` and `device_attr` are not needed
 * @param diag receives the explanation; may be NULL
 * @return 0, or an errno value; see the head of this file
 */
RDMAEZ_API int rdmaez_qp_connect(struct ibv_qp *qp, const struct rdmaez_endpoint *local,
				 const struct rdmaez_endpoint *remote,
				 const struct rdmaez_qp_opts *opts, struct rdmaez_diag *diag);

/**
 * @brief Brings a UD or SRD queue pair to RTS if it is not there yet, and creates an address handle for a peer.
 *
 * Call it again for each further peer. A send needs the handle, `remote->qp_num` and `remote->qkey`. Destroy the handle
 * with rdmaez_ah_destroy(). `opts->retry_ns` is for the handle, because the kernel looks for the peer when the handle
 * is created.
 *
 * @param qp the queue pair
 * @param local its own endpoint
 * @param remote the peer's
 * @param opts as for rdmaez_qp_connect()
 * @param ah receives the handle; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval EINVAL also for another type of queue pair (#RDMAEZ_WHY_CONNECT_NO_AH)
 * @return 0, or an errno value: see the head of this file; or of ibv_create_ah(), explained as by rdmaez_ah_create(),
 *         with the queue pair in RTS
 */
RDMAEZ_API int rdmaez_qp_connect_ud(struct ibv_qp *qp, const struct rdmaez_endpoint *local,
				    const struct rdmaez_endpoint *remote,
				    const struct rdmaez_qp_opts *opts, struct ibv_ah **ah,
				    struct rdmaez_diag *diag);

/**
 * @brief Connects two queue pairs of this process to each other, or one to itself.
 *
 * The two may be of one device or of two. Use it for tests, to flush, or to measure a device. The options are for both
 * ends: they use the same port number, and the same GID index if you name one. The port of each context is queried
 * once, as by rdmaez_endpoint_local(). @p qp is connected first.
 *
 * @param qp a queue pair
 * @param other the queue pair to connect it with; may be @p qp itself
 * @param opts the options; NULL: all defaults. `port_attr` and `device_attr` are those of @p qp
 * @param diag receives the explanation, about the queue pair that it names; may be NULL
 * @return 0, or an errno value; see the head of this file and rdmaez_endpoint_local()
 */
RDMAEZ_COLD int rdmaez_qp_connect_loopback(struct ibv_qp *qp, struct ibv_qp *other,
					   const struct rdmaez_qp_opts *opts,
					   struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/connect.h"
#endif

#endif
