/* SPDX-License-Identifier: MIT */
/**
 * @file qp.h
 * @brief Move a queue pair: build attributes and mask, make the transition, explain a refusal.
 *
 * One options struct serves all transitions. Each transition sends the attributes that it requires, from your options
 * or their defaults. It also sends those that you name in `optional`. Three calls bring up an RC queue pair:
 *
 * @code
 * // What each end tells the other.
 * struct end { union ibv_gid gid; uint32_t gid_index, qp_num, psn; };
 *
 * int bring_up(struct ibv_qp *qp, const struct end *own, const struct end *peer,
 *              struct rdmaez_diag *diag)
 * {
 *         struct rdmaez_qp_opts opts = {0};
 *
 *         opts.access = IBV_ACCESS_REMOTE_WRITE;
 *         opts.dest_qp_num = peer->qp_num;
 *         opts.rq_psn = peer->psn;
 *         opts.sq_psn = own->psn;
 *         opts.path.dgid = peer->gid;
 *         opts.path.sgid_index = rdmaez_exactly((int)own->gid_index);
 *         int error = rdmaez_qp_to_init(qp, &opts, diag);
 *         if (!error)
 *                 error = rdmaez_qp_to_rtr(qp, &opts, diag);
 *         return error ? error : rdmaez_qp_to_rts(qp, &opts, diag);
 * }
 * @endcode
 *
 * A transition starts from `qp->state`, which libibverbs maintains. After an error the device may be in another state.
 * rdmaez_qp_state() queries the device and refreshes `qp->state`.
 *
 * @par Before the bring-up
 * Each end tells the other the GID that it chose with rdmaez_port_choose_gid(), its `qp_num`, and a PSN from
 * rdmaez_psn_random(). It then uses the index of that very GID. If an end announces one GID and sends from another, it
 * reaches RTS, but its packets are dropped.
 *
 * @par Driver types
 * You move queue pairs of type IBV_QPT_DRIVER like others, but set `opts.driver_type` to the actual type. The address
 * vector of a DCT or a DCI needs no destination. From the path they use the port, the GID index, the hop limit, the
 * traffic class and the like. A DCT stays in RTR until it is destroyed. Only in RTR does it get the `qp_num` that
 * initiators need.
 *
 * @par Verbs calls
 * rdmaez_qp_attr() makes none, and rdmaez_qp_state() makes one ibv_query_qp(). The functions that move a queue pair
 * call ibv_modify_qp() once. If a function makes queries before it, they are listed with the function. If
 * ibv_modify_qp() fails and @p diag is not NULL, the function explains as rdmaez_qp_modify() does. The queue pair then
 * keeps its state, as far as the provider guarantees it. On success the record has no findings, whatever was accepted.
 * For advice about values that cause trouble later, call rdmaez_qp_check() before or rdmaez_qp_examine() afterwards.
 *
 * @par Errors of all of them
 * A function returns EINVAL for a NULL queue pair (#RDMAEZ_WHY_NULL_ARGUMENT) and for what rdmaez_qp_attr() refuses,
 * without calling the kernel. Otherwise it returns any errno value of the verbs that it calls. IBV_QP_RATE_LIMIT for
 * RC, from INIT to RTR, from RTR to RTS and within RTS, is left to the kernel, because from Linux 7 on some drivers
 * accept it.
 *
 * @par Threads
 * One thread at a time may use a queue pair. rdmaez_qp_attr() may be called from any thread.
 *
 * @par Sources
 * `modify_qp()` in `drivers/infiniband/core/uverbs_cmd.c`, `_ib_modify_qp()` in `core/verbs.c`, and the drivers,
 * Linux 6.1, 6.12 and 7.2.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_QP_H
#define RDMAEZ_QP_H

#ifndef RDMAEZ_PATH_H
#include "path.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Bits of rdmaez_qp_opts::flags. */
enum rdmaez_qp_flags {
	RDMAEZ_QP_MTU_EXACT = 0x1, /**< use `mtu` as given, even above the port's active MTU */
	RDMAEZ_QP_ECE =
		0x2 /**< offer the peer enhanced connection establishment (ECE); see rdmaez_endpoint_local() */
};

/** @brief The default Q_Key. */
#define RDMAEZ_QP_QKEY 0x11111111u

/**
 * @brief Options for a queue pair. Start from all zero: 0 asks for the default.
 *
 * If 0 itself is meaningful, #RDMAEZ_ZERO asks for it. A transition uses only the fields whose attributes it sends, so
 * one struct serves a whole bring-up.
 */
struct rdmaez_qp_opts {
	/** Optional attributes to send as well as the required ones: IBV_QP_ bits such as
	 *  `IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE`. On the way from RESET to RTS each transition sends those that it
	 *  accepts, and leaves the rest to the others. If none of them takes a bit for this type, the first one refuses
	 *  it. Elsewhere, and by rdmaez_qp_attr(), a bit that the transition does not take is refused. IBV_QP_CUR_STATE
	 *  sends the state that the transition starts from, and IBV_QP_EN_SQD_ASYNC_NOTIFY asks for the event; neither
	 *  has a field here. */
	int optional;
	/** Attributes to send that the rules do not allow: bits of a vendor's or a newer verbs.h, or an address vector
	 *  for a raw packet queue pair. The kernel checks them, and returns EOPNOTSUPP for bits that it does not know.
	 *  If a bit has a field here, rdmaez fills it from there; others need none. The bits go from INIT to RTR, and
	 *  with every transition of rdmaez_qp_attr(). 0: none. */
	int extra;
	unsigned int flags; /**< bits of enum rdmaez_qp_flags */

	/** What ibv_query_port() returned, to save that call on the way to RTR. NULL: the port is
	 *  queried, except by rdmaez_qp_attr(). */
	const struct ibv_port_attr *port_attr;
	/** What ibv_query_device() returned, to save that call if you leave a depth open or, without `port_attr`, if
	 *  the port is not 1. NULL: the device is queried in these cases, except by rdmaez_qp_attr(). */
	const struct ibv_device_attr *device_attr;
	/** What rdmaez_port_choose_gid() or ibv_query_gid_ex() returned, to save rdmaez_endpoint_port() and
	 *  rdmaez_endpoint_local() that call. No other function looks at it. Those two query the GID if this is NULL,
	 *  or if the entry is empty, another port's, or another one than `path.sgid_index` names. */
	const struct ibv_gid_entry *gid_entry;

	int port;       /**< 1 to 255. 0: 1 */
	int pkey_index; /**< P_Key index, 0 to 65535. 0: 0, by convention the default partition */

	/** What the peer may do to memory that is registered for it: IBV_ACCESS_ bits. 0, as in verbs: nothing but
	 *  send. No default opens memory, so nobody gets a right because you forgot to remove it. A missing right shows
	 *  at the first request (#RDMAEZ_WHY_WC_PEER_RIGHT); one too many never shows. bnxt_re grants READ and WRITE
	 *  regardless before Linux 7 (`bnxt_re_modify_qp()`). */
	unsigned int access;
	uint32_t
		qkey; /**< UD and SRD. 0: #RDMAEZ_QP_QKEY. Bit 31 is for the privileged. #RDMAEZ_ZERO: 0 */

	/** The peer's MTU, or the largest wanted; limited to the port's active MTU unless
	 *  #RDMAEZ_QP_MTU_EXACT is set. 0: the port's active MTU; 1024 if the port is not known. */
	enum ibv_mtu mtu;
	uint32_t dest_qp_num; /**< the peer's queue pair number, 24 bits */
	uint32_t rq_psn; /**< first PSN expected: the peer's `sq_psn`, as it was told. 24 bits */
	/** First PSN sent: draw a new rdmaez_psn_random(), and tell the peer. 24 bits. Queue pair numbers are reused.
	 *  If the PSNs are too, late packets of a former queue pair are accepted. */
	uint32_t sq_psn;

	/** READs and atomics outstanding as requester, limited to what the device supports, if that is
	 *  known. 0: 16, or less where the device supports less or all its queue pairs together have less
	 *  than 256 (`max_res_rd_atom`: a sixteenth); 1 if the device does not answer. #RDMAEZ_ZERO: none. */
	int max_rd_atomic;
	/** The same as responder; not less than the peer's `max_rd_atomic`. 0: as for that. #RDMAEZ_ZERO: none;
	 *  some drivers then silently drop REMOTE_READ and REMOTE_ATOMIC. */
	int max_dest_rd_atomic;

	/** How long the peer waits when no receive is posted: a code of rdmaez_rnr_timer_ns(), 0
	 *  to 31. 0: 12 (0.64 ms). #RDMAEZ_ZERO: code 0, the longest (655 ms). */
	int min_rnr_timer;
	/** How long to wait for an ACK: a code of rdmaez_timeout_ns(), 0 to 31. 0: 14 (67 ms).
	 *  #RDMAEZ_ZERO: forever, so a lost peer is never noticed. */
	int timeout;
	int retry_cnt; /**< retries after a timeout, 0 to 7. 0: 7, which rxe treats as no limit
			    (rxe_completer()). #RDMAEZ_ZERO: none */
	int rnr_retry; /**< retries when the peer has no receive posted, 0 to 7; 7 retries forever.
			    0: 7. #RDMAEZ_ZERO: none */

	struct rdmaez_path
		path; /**< the path to the peer; connected types need a destination in it */

	struct rdmaez_path alt; /**< IBV_QP_ALT_PATH: the alternate path, on native InfiniBand */
	int alt_port;           /**< its port, 1 to 255. 0: same as `port` */
	int alt_pkey_index;     /**< its P_Key index, 0 to 65535 */
	int alt_timeout;        /**< its ACK timeout. 0: 14. #RDMAEZ_ZERO: forever */
	enum ibv_mig_state path_mig_state; /**< IBV_QP_PATH_MIG_STATE. 0: MIGRATED */
	uint32_t rate_limit;               /**< IBV_QP_RATE_LIMIT, kbit/s. 0: no limit */

	/** For queue pairs of type IBV_QPT_DRIVER, and only for those, which of the types of their
	 *  drivers it is: #RDMAEZ_QPT_SRD, #RDMAEZ_QPT_DCI or #RDMAEZ_QPT_DCT. */
	enum ibv_qp_type driver_type;

	/** For how long a move that sends `path` is tried again after it has ended in ETIMEDOUT or EHOSTUNREACH, in ns;
	 *  see rdmaez_qp_to_rtr(). 0: it is tried once. */
	uint64_t retry_ns;

	/** `timeout` as a time in ns: the shortest code that waits as long, by rdmaez_timeout_from_ns().
	 *  #RDMAEZ_NS_FOREVER: forever. 0: by `timeout`, which must then be 0 if this is not. */
	uint64_t timeout_ns;
	/** `alt_timeout` likewise. 0: by `alt_timeout` */
	uint64_t alt_timeout_ns;
	/** `min_rnr_timer` as a time in ns, by rdmaez_rnr_timer_from_ns(): at most 655 ms. 0: by `min_rnr_timer` */
	uint64_t min_rnr_timer_ns;
};

/** @brief A transition, as arguments for ibv_modify_qp(). */
struct rdmaez_qp_move {
	struct ibv_qp_attr attr; /**< zero except where `attr_mask` has a bit */
	int attr_mask;           /**< bits of `enum ibv_qp_attr_mask` */
};

/**
 * @brief Builds the attributes and the mask of a transition, without a device.
 *
 * Use it if you call ibv_modify_qp() yourself. The mask has what the transition requires, IBV_QP_STATE,
 * `opts->optional` and `opts->extra`. The function queries no device. Set `opts->port_attr` for the right MTU and GRH.
 * Set `opts->device_attr` for the right depths, which are 1 without it. Or complete `move->attr` before you use it.
 *
 * @param type the queue pair's type. For IBV_QPT_DRIVER, pass one of the driver types, or pass IBV_QPT_DRIVER and set
 *         `opts->driver_type`
 * @param from the state that it is in
 * @param to the state that it is to enter; equal to @p from to change attributes only
 * @param opts the options; NULL: all defaults
 * @param move receives attributes and mask; written only on success
 * @param diag receives all findings; may be NULL
 * @retval 0 @p move is filled
 * @retval EINVAL the transition does not exist, or does not take what `opts->optional` names (reasons as for
 *         rdmaez_qp_mask_check()); `opts->driver_type` is missing (#RDMAEZ_WHY_DRIVER_TYPE_UNTOLD) or
 *         does not fit (#RDMAEZ_WHY_DRIVER_TYPE_UNFIT); unknown flags (#RDMAEZ_WHY_OPTION_UNKNOWN); a value out
 *         of range (#RDMAEZ_WHY_RANGE, #RDMAEZ_WHY_PORT, #RDMAEZ_WHY_GID_INDEX) or not in its enum
 *         (#RDMAEZ_WHY_ENUM, #RDMAEZ_WHY_MTU_IN_BYTES); access flags that queue pairs do not have
 *         (#RDMAEZ_WHY_ACCESS_BITS); no `dgid` although the port requires a GRH
 *         (#RDMAEZ_WHY_GRH_MISSING); no destination (#RDMAEZ_WHY_PATH_EMPTY); a timer given both as a code and in
 *         ns (#RDMAEZ_WHY_OPTION_TWICE); @p move is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 */
RDMAEZ_API int rdmaez_qp_attr(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
			      const struct rdmaez_qp_opts *opts, struct rdmaez_qp_move *move,
			      struct rdmaez_diag *diag);

/**
 * @brief Queries the state of a queue pair, and refreshes `qp->state`.
 *
 * After an asynchronous error `qp->state` is stale: it shows RTS while the queue pair is in ERR or SQE.
 *
 * @param qp the queue pair
 * @param state receives the state; written only on success
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p state is written
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno value of ibv_query_qp() (#RDMAEZ_WHY_QUERY_REFUSED)
 */
RDMAEZ_COLD int rdmaez_qp_state(struct ibv_qp *qp, enum ibv_qp_state *state,
				struct rdmaez_diag *diag);

/**
 * @brief Predicts whether ibv_modify_qp() would accept a request, and changes nothing.
 *
 * It queries the queue pair's state, the device's limits, the port, and the GID and P_Key that the request names. It
 * checks in the order of the kernel and the driver: the ports, the states, the address, then the mask and the values.
 * Unlike them it does not stop at the first mistake. It reports errors, then likely problems, then advice about values
 * that are accepted but cause trouble later. A request that would be accepted may still have advice.
 *
 * The functions that move a queue pair check only after a refusal. Only rdmaez_qp_check() also reports what the kernel
 * would accept but an expert would not choose. Pass it what rdmaez_qp_attr() has built.
 *
 * An error is certain on this device. If the driver does not report the queue pair's state, rdmaez uses the library's
 * copy, and calls what it concludes from it only likely. The rule of a driver that is not known is likely, too.
 *
 * It cannot predict whether the peer's Ethernet address resolves, nor what the firmware returns. Before Linux 6.5 the
 * kernel does not tell its setting for privileged Q_Keys, and then it cannot predict whether a process without
 * CAP_NET_RAW may set one. rdmaez_qp_modify() explains those afterwards.
 *
 * @param qp the queue pair
 * @param attr the attributes, as for ibv_modify_qp()
 * @param attr_mask the mask, as for ibv_modify_qp()
 * @param diag receives all findings; may be NULL
 * @retval 0 the kernel would accept it, as far as can be predicted
 * @retval EINVAL the kernel would refuse it with EINVAL; or an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval ENODATA the GID at the index is empty (#RDMAEZ_WHY_GID_EMPTY)
 * @retval ENODEV the GID's network interface is gone (#RDMAEZ_WHY_GID_NO_NETDEV)
 * @retval EOPNOTSUPP bits that are not attributes (#RDMAEZ_WHY_MASK_UNKNOWN; they are only likely with unknown drivers,
 *         and with mlx5, whose vendor's library and kernel may know those from 26 on), or that the driver does not take
 *         (#RDMAEZ_WHY_MASK_RATE_LIMIT, #RDMAEZ_WHY_MASK_DRIVER); or efa's P_Key index is not 0
 *         (#RDMAEZ_WHY_PKEY_INDEX)
 * @retval EPERM the kernel refuses a privileged Q_Key to this process (#RDMAEZ_WHY_QKEY_PRIVILEGED), or the driver
 *         refuses it to everybody (#RDMAEZ_WHY_QKEY_NEVER)
 * @note If a query fails, the function leaves out what depends on it. Drivers return EOPNOTSUPP or EINVAL if they
 * cannot answer. If ibv_query_qp() fails for any other reason, that is a likely finding (#RDMAEZ_WHY_QUERY_REFUSED)
 * @par Verbs calls
 * ibv_query_device(), and ibv_query_qp(), which refreshes `qp->state`. If the driver does not report all attributes,
 * ibv_query_qp() is called a second time. Also ibv_query_port(), ibv_query_gid_ex() and ibv_query_pkey(). If the kernel
 * would look up the peer's Ethernet address, the function also asks the kernel for the route, and sends nothing. If
 * there is no route, a likely finding says so (#RDMAEZ_WHY_NO_ROUTE). If the route leads elsewhere than the GID, that
 * is advice (#RDMAEZ_WHY_GID_BY_ROUTE, #RDMAEZ_WHY_ROUTE_ELSEWHERE, #RDMAEZ_WHY_GID_ROUTABLE). If the GID index is
 * wrong, the function looks for the right one with ibv_query_gid_table() (#RDMAEZ_WHY_GID_SUITS).
 */
RDMAEZ_COLD int rdmaez_qp_check(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag);

/**
 * @brief Predicts the same as rdmaez_qp_check(), for a queue pair of a driver type.
 *
 * Verbs call all of them IBV_QPT_DRIVER. On efa that is SRD. On mlx5 it is DCI or DCT, and rdmaez_qp_check() refuses
 * only what neither takes (#RDMAEZ_WHY_DRIVER_TYPE).
 *
 * @param qp the queue pair
 * @param type RDMAEZ_QPT_SRD, RDMAEZ_QPT_DCI or RDMAEZ_QPT_DCT; it matters only if the queue pair's type is
 *         IBV_QPT_DRIVER
 * @param attr as for rdmaez_qp_check()
 * @param attr_mask as for rdmaez_qp_check()
 * @param diag receives all findings; may be NULL
 * @return as rdmaez_qp_check()
 * @par Verbs calls
 * As rdmaez_qp_check().
 */
RDMAEZ_COLD int rdmaez_qp_check_as(struct ibv_qp *qp, enum ibv_qp_type type,
				   const struct ibv_qp_attr *attr, int attr_mask,
				   struct rdmaez_diag *diag);

/**
 * @brief Calls ibv_modify_qp(), and explains a failure.
 *
 * After a failure, if @p diag is not NULL, it calls rdmaez_qp_check(). If that predicts this errno value, its findings
 * are certain. If not, the function adds what the errno value usually means here, as likely. If a peer's Ethernet
 * address was not found, the findings tell whether there is no route (#RDMAEZ_WHY_NO_ROUTE), whether the route starts
 * from another GID (#RDMAEZ_WHY_GID_BY_ROUTE, #RDMAEZ_WHY_GID_NEARER, #RDMAEZ_WHY_GID_ROUTABLE) or from another
 * device's address (#RDMAEZ_WHY_ROUTE_ELSEWHERE), and whether nobody answers (#RDMAEZ_WHY_NEIGHBOUR) or the answer came
 * too late (#RDMAEZ_WHY_NEIGHBOUR_LATE).
 *
 * @param qp the queue pair
 * @param attr as for ibv_modify_qp()
 * @param attr_mask as for ibv_modify_qp()
 * @param diag receives the explanation; may be NULL
 * @retval 0 the queue pair is modified
 * @retval EINVAL as ibv_modify_qp(); or an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any errno value of ibv_modify_qp(), positive even if the provider returned it negative; with the
 *         reasons of rdmaez_qp_check(), those of the way to the peer, or one for the errno value:
 *         #RDMAEZ_WHY_NO_IPV6, #RDMAEZ_WHY_DEPTH_BUDGET, #RDMAEZ_WHY_SECURITY, #RDMAEZ_WHY_NO_RESOURCES,
 *         #RDMAEZ_WHY_BUSY, #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_TIMED_OUT, #RDMAEZ_WHY_NOT_SUPPORTED; or
 *         #RDMAEZ_WHY_REFUSED if nothing was found wrong
 */
RDMAEZ_API int rdmaez_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
				struct rdmaez_diag *diag);

/**
 * @brief Looks for reasons why a queue pair makes no progress, and changes nothing.
 *
 * Call it if you wait for completions which do not come. It looks at the queue pair, its port and their counters. The
 * queue pair's state is certain, if a known driver reports it (#RDMAEZ_WHY_QP_NO_SENDS, #RDMAEZ_WHY_QP_NO_RECEIVES,
 * #RDMAEZ_WHY_WR_QP_ERROR). These are likely:
 *
 * - a send queue that drains (#RDMAEZ_WHY_SQ_DRAINING)
 * - a port that is down (#RDMAEZ_WHY_PORT_DOWN, #RDMAEZ_WHY_PORT_NO_SM)
 * - a READ depth of 0 (#RDMAEZ_WHY_DEPTH_ZERO_HANG)
 * - no ACK timer (#RDMAEZ_WHY_TIMEOUT_ZERO)
 * - a path MTU that is too large (#RDMAEZ_WHY_MTU_ABOVE_ACTIVE)
 * - no peer (#RDMAEZ_WHY_RANGE of `dest_qp_num`)
 * - a GID that is gone or has changed (#RDMAEZ_WHY_GID_EMPTY, #RDMAEZ_WHY_GID_NO_NETDEV, #RDMAEZ_WHY_GID_FAMILY).
 *   #RDMAEZ_WHY_GID_SUITS tells which one would do now
 * - the way to the peer, as rdmaez_qp_modify() tells it
 * - a P_Key that is gone (#RDMAEZ_WHY_PKEY_INDEX, #RDMAEZ_WHY_PKEY_EMPTY)
 *
 * The rest is advice: #RDMAEZ_WHY_ROUTE_ELSEWHERE, #RDMAEZ_WHY_RNR_ENDLESS, #RDMAEZ_WHY_RETRY_ENDLESS,
 * #RDMAEZ_WHY_DEPTH_ZERO, #RDMAEZ_WHY_RNR_TIMER_ZERO, #RDMAEZ_WHY_PKEY_LIMITED, #RDMAEZ_WHY_PKEY_PARTITION,
 * #RDMAEZ_WHY_QP_STALE, and packets that the port does not protect from loss: for their traffic class
 * (#RDMAEZ_WHY_QP_LOSSY), because they have no VLAN tag (#RDMAEZ_WHY_QP_UNTAGGED), or for the priority in that tag
 * (#RDMAEZ_WHY_QP_VLAN_PRIORITY), as far as the files `qos/pfc` and `qos/trust` of MLNX_OFED or DOCA tell.
 *
 * Last come an asynchronous event that waits to be read (#RDMAEZ_WHY_EVENT_UNREAD) and what the port has counted
 * (#RDMAEZ_WHY_COUNTED_QKEY, #RDMAEZ_WHY_COUNTED_PKEY, #RDMAEZ_WHY_COUNTED_RNR, #RDMAEZ_WHY_COUNTED_NO_RECEIVE,
 * #RDMAEZ_WHY_COUNTED_NO_ACK, #RDMAEZ_WHY_COUNTED_LOSS, #RDMAEZ_WHY_COUNTED_DOWN). The counts are totals since the port
 * was set up. They may be old, or come from another queue pair, so they are advice as well. rdmaez_qp_examine_with() in
 * examine.h takes what else you know, and a snapshot, after which only growth counts.
 *
 * The function does not judge what a driver does not report. If a query of the device, the queue pair, the port or the
 * GID fails, the likely finding is what its errno usually means: #RDMAEZ_WHY_DEVICE_GONE, #RDMAEZ_WHY_NOT_SUPPORTED,
 * ...; else #RDMAEZ_WHY_QUERY_REFUSED. #RDMAEZ_WHY_QP_NOTHING_FOUND comes first if there is nothing else, or only
 * #RDMAEZ_WHY_MULTICAST_ASK, unread events and totals. The function cannot see the peer, posted work requests,
 * completions that wait to be polled, and multicast groups (rdmaez_multicast_examine()).
 *
 * @param qp the queue pair
 * @param diag receives the findings, the most likely first; NULL: nothing is done
 * @retval 0 the findings are in @p diag
 * @retval EINVAL @p qp is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @par Verbs calls
 * ibv_query_device(), and ibv_query_qp(), which refreshes `qp->state`. If ibv_query_qp() is refused, it is called again
 * for less. Also ibv_query_port(), ibv_query_gid_ex(), ibv_query_gid_table() and ibv_query_pkey(). The function reads
 * files below `ports` in the device's `ibdev_path` and `/proc/net/arp`, as far as they can be read, and asks the
 * kernel's routing.
 */
RDMAEZ_COLD int rdmaez_qp_examine(struct ibv_qp *qp, struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair from RESET to INIT, or changes attributes within INIT.
 *
 * It sends the port, the P_Key index, and the access flags (connected types, DCT) or the Q_Key (UD, SRD). RAW_PACKET
 * takes only the port. You may post receives from INIT on.
 *
 * Some providers read out of bounds for a port that does not exist (#RDMAEZ_WHY_PORT). If the port is not 1, and
 * neither `opts->port_attr` nor `opts->device_attr` shows that it exists, the function calls ibv_query_device() first.
 *
 * @param qp the queue pair
 * @param opts the options; NULL: all defaults
 * @param diag receives the explanation; may be NULL
 * @return 0, or an errno value; see the head of this file
 */
RDMAEZ_API int rdmaez_qp_to_init(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				 struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair from INIT to RTR, ready to receive.
 *
 * Connected types need `opts->dest_qp_num` and a destination in `opts->path`. There is a GRH only if the port requires
 * one. The path MTU is the smaller of the port's active MTU and `opts->mtu`. On RoCE, rdmaez chooses a GID index unless
 * `opts->path.sgid_index` names one, and the kernel resolves the peer's Ethernet address during the call, which may
 * take a second.
 *
 * With `opts->retry_ns`, the function tries again after failures that may heal: ETIMEDOUT, if nobody answers, and
 * EHOSTUNREACH, if a route leads nowhere. If there is no route at all, it returns ENETUNREACH at once. All tries begin
 * within that time after the first failure, and each may take the kernel's second. The function rests 5 to 15 ms before
 * the second try, and then twice as long each time, up to a second. It explains the last failure, with the number of
 * tries (#RDMAEZ_WHY_RETRIED).
 *
 * For connected types, DCI and DCT it calls ibv_query_port() first unless `opts->port_attr` is set, and
 * ibv_query_gid_table() if it has to choose a GID index. For DCT, and for DCI with IBV_QP_AV, it chooses one that
 * serves any peer if `opts->path.dgid` names none. For RC and XRC_RECV it calls ibv_query_device() if neither
 * `opts->max_dest_rd_atomic` nor `opts->device_attr` is set.
 *
 * @param qp the queue pair
 * @param opts the options; NULL is enough for UD and RAW_PACKET
 * @param diag receives the explanation; may be NULL
 * @retval EADDRNOTAVAIL no GID of the port can reach the peer (#RDMAEZ_WHY_GID_NONE)
 * @retval ENODATA the GID at the index is empty (#RDMAEZ_WHY_GID_EMPTY)
 * @return 0, or an errno value; see the head of this file
 */
RDMAEZ_API int rdmaez_qp_to_rtr(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair to RTS, ready to send: from RTR, or back from SQD or SQE; or changes attributes within RTS.
 *
 * From RTR it sends the first PSN and, for connected types, the timeout, the retry counts and the depth of outstanding
 * READs and atomics. For that depth, it calls ibv_query_device() for RC, XRC_SEND and DCI if neither
 * `opts->max_rd_atomic` nor `opts->device_attr` is set. From the other states it sends the state and `opts->optional`.
 *
 * @param qp the queue pair
 * @param opts the options; NULL: all defaults
 * @param diag receives the explanation; may be NULL
 * @return 0, or an errno value; see the head of this file
 */
RDMAEZ_API int rdmaez_qp_to_rts(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair from RTS to SQD, where its send queue drains; or changes attributes within SQD.
 *
 * An RC queue pair may change its path, port, timers and depths only in SQD. Name them in `opts->optional`. To get an
 * IBV_EVENT_SQ_DRAINED when the queue has drained, name IBV_QP_EN_SQD_ASYNC_NOTIFY on the way from RTS. mlx5 and hns
 * have no SQD and refuse it with EINVAL.
 *
 * With IBV_QP_AV, a depth or a port it first makes the queries of the functions above, each at most once.
 *
 * @param qp the queue pair
 * @param opts the options; NULL: all defaults
 * @param diag receives the explanation; may be NULL
 * @return 0, or an errno value; see the head of this file
 */
RDMAEZ_API int rdmaez_qp_to_sqd(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair to ERR, from any state but RESET: outstanding work requests are flushed.
 *
 * mlx5 refuses it for a DCT (#RDMAEZ_WHY_DCT_FINAL), as it does RESET. On iWARP the function starts from any state,
 * because `qp->state` may still be RESET on a connected queue pair.
 *
 * @param qp the queue pair
 * @param diag receives the explanation; may be NULL
 * @retval EINVAL from RESET, but on iWARP (#RDMAEZ_WHY_TRANSITION)
 * @return 0, or an errno value; see the head of this file
 */
RDMAEZ_API int rdmaez_qp_to_err(struct ibv_qp *qp, struct rdmaez_diag *diag);

/**
 * @brief Moves a queue pair to RESET, from any state: outstanding work requests are discarded.
 *
 * Several providers also remove the queue pair's completions from its completion queues, so poll them first. irdma
 * cannot use a queue pair again after RESET.
 *
 * @param qp the queue pair
 * @param diag receives the explanation; may be NULL
 * @return 0, or an errno value; see the head of this file
 */
RDMAEZ_API int rdmaez_qp_to_reset(struct ibv_qp *qp, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/qp.h"
#endif

#endif
