/* SPDX-License-Identifier: MIT */
/**
 * @file endpoint.h
 * @brief What one end of a connection sends to the other, and what both derive from it.
 *
 * An endpoint holds what a peer must know to connect: the queue pair, its first PSN, up to four GIDs, and what this end
 * can do. Each end fills one and sends it as bytes or as a line of text. From the two endpoints, both ends compute the
 * same GIDs, MTU and depths. You choose how the bytes travel; exchange.h sends them over a socket.
 *
 * @code
 * int agree(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts, struct rdmaez_qp_opts *agreed)
 * {
 *         struct rdmaez_endpoint local, remote;
 *         uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
 *         int error = rdmaez_endpoint_local(qp, opts, &local, NULL);
 *
 *         if (!error)
 *                 error = rdmaez_endpoint_pack(&local, bytes);
 *         // Here the bytes are sent, and the peer's are received in their place.
 *         if (!error)
 *                 error = rdmaez_endpoint_unpack(bytes, &remote, NULL);
 *         return error ? error : rdmaez_endpoint_negotiate(&local, &remote, opts, agreed, NULL);
 * }
 * @endcode
 *
 * Pass `agreed` to rdmaez_qp_to_init(), rdmaez_qp_to_rtr() and rdmaez_qp_to_rts(). rdmaez_qp_connect() does all of that
 * in one call.
 *
 * @par The bytes
 * A packed endpoint has #RDMAEZ_ENDPOINT_BYTES in every version. It is big endian, and the same on every machine:
 * | at | bytes | |
 * |---|---|---|
 * | 0 | 4 | "RZEP" |
 * | 4 | 2, 2 | version, 1; the least version that can read it, 1 |
 * | 8 | 2, 1, 1 | `qp_type` (SRD 0xf1, DCI 0xf2, DCT 0xf3), `link_layer`, `mtu` |
 * | 12 | 4 each | `qp_num`, `psn`, `qkey`, `srq_num`, `nonce` |
 * | 32 | 2 each | `pkey`, `lid` |
 * | 36 | 1 each | `max_rd_atomic`, `max_dest_rd_atomic`, `port_flags`, `gid_count` |
 * | 40 | 4 each | `user_length`, `ece.vendor_id`, `ece.options`, `memory.rkey` |
 * | 56 | 8 each | `memory.addr`, `memory.length` |
 * | 72 | 4 times 18 | `gid_type` (1), bit 0: `by_route` (1), `gid` (16) |
 * | 144 | 160 | `user` |
 * | 304 | 64 | zeros, for later versions; not read |
 * | 368 | 8 | the sum of the 92 words of 4 bytes before |
 * | 376 | 8 | the sum of 92 sums: of the first word, of the first two, and so on |
 *
 * A later version may fill the zeros. It still states 1 as the least version, as long as version 1 can do without them.
 * So an older rdmaez can read a newer one's endpoint, and a newer one takes the zeros of an older one as "not told".
 *
 * The two sums protect from accidents. They notice every change that touches only one or two of the words, so also
 * every single and double bit error and every burst of up to 33 bits. If more words have changed, they notice it unless
 * the change happens to leave both sums as they are. Anyone can make well-formed bytes, so connect only to peers that
 * you trust for other reasons.
 *
 * @par Stale endpoints
 * A queue pair's number, and even its PSN, may return after a restart or a recovery, but the `nonce` is new each time.
 * If you store endpoints, compare the `nonce` to see whether the peer is still the one that you connected to.
 *
 * @par What the peer does not get
 * `port`, `pkey_index` and the `gid_index` of each GID stay at this end. They are this end's own, and 0 in an endpoint
 * that was unpacked.
 *
 * @par Threads
 * All functions may be called from any thread. Outputs are written only on success.
 *
 * @par Verbs calls
 * Only rdmaez_endpoint_port() and rdmaez_endpoint_local() make any. The latter also makes one ibv_query_ece() for ECE.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_ENDPOINT_H
#define RDMAEZ_ENDPOINT_H

#ifndef RDMAEZ_MR_H
#include "mr.h"
#endif
#ifndef RDMAEZ_QP_H
#include "qp.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The size of a packed endpoint, in bytes, of every version. */
#define RDMAEZ_ENDPOINT_BYTES 384

/** @brief A buffer of this size holds an endpoint as text: two digits for each byte, and the final zero. */
#define RDMAEZ_ENDPOINT_TEXT 769

/** @brief How many GIDs an endpoint has room for. */
#define RDMAEZ_ENDPOINT_GIDS 4

/** @brief How many bytes of your own an endpoint has room for: a token of device memory and 16 more. */
#define RDMAEZ_ENDPOINT_USER 160

/** @brief A GID at which an end can be reached. */
struct rdmaez_endpoint_gid {
	union ibv_gid gid;  /**< the GID */
	uint32_t gid_type;  /**< IBV_GID_TYPE_IB, _ROCE_V1 or _ROCE_V2 */
	uint32_t gid_index; /**< its index in this end's own table; not told */
	bool by_route;      /**< the kernel sends from it to the peer address that you gave */
};

/** @brief What one end sends to the other, in host byte order. Filled by rdmaez_endpoint_local(). */
struct rdmaez_endpoint {
	uint32_t qp_num;          /**< the queue pair's number, 24 bits; 0: there is none yet */
	enum ibv_qp_type qp_type; /**< its type, or which of the driver types it is */
	uint32_t psn;             /**< the first PSN that this end sends, its `sq_psn`; 24 bits */
	uint32_t qkey;            /**< UD, SRD: the Q_Key that it receives with */
	/** XRC_RECV: the SRQ that the peer's sends are for, from ibv_get_srq_num(). You set it. 0: none */
	uint32_t srq_num;
	uint32_t nonce;        /**< random, new with each queue pair: tells a stale endpoint */
	uint16_t pkey;         /**< the P_Key */
	uint16_t lid;          /**< the port's LID; on Ethernet it means nothing */
	int port;              /**< the port; not told */
	int pkey_index;        /**< the P_Key's index; not told */
	uint8_t link_layer;    /**< IBV_LINK_LAYER_ of the port */
	uint8_t port_flags;    /**< of the port's `flags`, IBV_QPF_GRH_REQUIRED */
	enum ibv_mtu mtu;      /**< the greatest that this end uses */
	uint8_t max_rd_atomic; /**< READs and atomics that it may have in flight as requester */
	uint8_t max_dest_rd_atomic; /**< the same, accepted as responder */
	struct ibv_ece ece;         /**< what #RDMAEZ_QP_ECE offers; `vendor_id` 0: nothing */
	unsigned int gid_count;     /**< how many GIDs there are; they come best first */
	struct rdmaez_endpoint_gid gid[RDMAEZ_ENDPOINT_GIDS]; /**< where it can be reached */
	struct rdmaez_remote
		memory; /**< memory for the peer to reach, from rdmaez_mr_remote(), if any */
	unsigned int user_length;           /**< bytes in use of `user` */
	uint8_t user[RDMAEZ_ENDPOINT_USER]; /**< bytes of your own: sent, and not looked at */
};

/**
 * @brief Fills all of an endpoint that does not depend on the queue pair.
 *
 * Use it if you connect many queue pairs by one port. Query once, copy the struct, and complete each copy with
 * rdmaez_endpoint_set_qp(). Query again after the port was down, or after its addresses have changed.
 *
 * On RoCE, the GIDs come in this order. The first is the one that rdmaez_port_choose_gid() chooses for the address
 * `opts->path.dgid`. This is the peer address that you already know, such as that of a TCP connection. Zero means that
 * you know none. Then comes the best of each other kind (RoCE version, IPv4 or IPv6, link-local or not), then the rest
 * by rank. GIDs of another family than the address's come last, but they are not left out, because the TCP connection
 * may use another network. If you name a `path.sgid_index`, or set `gid_entry`, that GID is the only one. On other link
 * layers the endpoint has the first entry of the GID table.
 *
 * The MTU is the port's active one, limited by `opts->mtu`. The depths are those that rdmaez_qp_to_rtr() and
 * rdmaez_qp_to_rts() would use. All options mean what they mean there.
 *
 * @param context the open device
 * @param opts port, P_Key index, Q_Key, MTU, depths and path are used; NULL: all defaults
 * @param endpoint receives what is known; the rest is zero
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p endpoint is written
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), no such port (#RDMAEZ_WHY_PORT), an index beyond the
 *         GID table (#RDMAEZ_WHY_GID_INDEX), an option that rdmaez_qp_attr() refuses
 * @retval ENODATA `path.sgid_index` names an empty entry (#RDMAEZ_WHY_GID_EMPTY)
 * @retval EADDRNOTAVAIL the port has no GID that can be used (#RDMAEZ_WHY_GID_NONE)
 * @return any other errno value of a query (#RDMAEZ_WHY_QUERY_REFUSED)
 * @par Verbs calls
 * It calls ibv_query_port() unless `opts->port_attr` is set, and ibv_query_device() unless `opts->device_attr` is set.
 * If ibv_query_device() fails, the depths are 1. For the GIDs it makes no call if `opts->gid_entry` is the one to use.
 * On RoCE it calls ibv_query_gid_table(), or ibv_query_gid_ex() for each entry if the former is not supported. On other
 * link layers, and for an index that you name, it makes one ibv_query_gid_ex(). It calls ibv_query_pkey() except on
 * Ethernet, where all P_Keys are 0xffff.
 */
RDMAEZ_COLD int rdmaez_endpoint_port(struct ibv_context *context, const struct rdmaez_qp_opts *opts,
				     struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag);

/**
 * @brief Completes an endpoint with a queue pair: its type and number, a new random PSN and a new nonce.
 *
 * Everything else stays, including `srq_num` and `ece`. A queue pair that was connected before needs this as well: a
 * PSN must not come back together with the queue pair's number, or late packets would be accepted. A DCT has its number
 * once it is in RTR.
 *
 * @param endpoint what rdmaez_endpoint_port() has filled
 * @param qp the queue pair; if it is IBV_QPT_DRIVER, `opts->driver_type` has told the type to rdmaez_endpoint_port()
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p endpoint is complete
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); queue pairs of this type, such as RAW_PACKET, have no
 *         peer, or the driver type is not known (#RDMAEZ_WHY_ENDPOINT_QP_TYPES)
 */
RDMAEZ_API int rdmaez_endpoint_set_qp(struct rdmaez_endpoint *endpoint, const struct ibv_qp *qp,
				      struct rdmaez_diag *diag);

/**
 * @brief Fills an endpoint for a queue pair: rdmaez_endpoint_port(), then rdmaez_endpoint_set_qp().
 *
 * With #RDMAEZ_QP_ECE in `opts->flags` it also asks for the queue pair's ECE options, by ibv_query_ece(). Only mlx5 has
 * any; other devices offer none. rdmaez_qp_connect() sets those that both ends offer. The two endpoints may cross on
 * the way. This differs from rdma_cm, where the second message answers the first with what that end's hardware made of
 * the options. ECE has not been tried on hardware.
 *
 * @param qp the queue pair
 * @param opts as for rdmaez_endpoint_port()
 * @param endpoint receives everything except what you add: `memory`, `user`, `srq_num`
 * @param diag receives the explanation; may be NULL
 * @return 0, or an errno value as those two; or any errno value of ibv_query_ece() but EOPNOTSUPP
 *         (#RDMAEZ_WHY_QUERY_REFUSED)
 */
RDMAEZ_COLD int rdmaez_endpoint_local(struct ibv_qp *qp, const struct rdmaez_qp_opts *opts,
				      struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag);

/**
 * @brief Says whether an endpoint can be packed, and if not, which field stands in the way.
 *
 * rdmaez_endpoint_pack() takes no record. If you have changed an endpoint yourself, call this first:
 * `NEED(rdmaez_endpoint_check(&local, &diag))`.
 *
 * @param endpoint the endpoint
 * @param diag receives the explanation; may be NULL
 * @retval 0 rdmaez_endpoint_pack() packs it
 * @retval EINVAL it is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or a field holds what rdmaez_endpoint_unpack() would refuse
 *         (#RDMAEZ_WHY_ENDPOINT_FIELD)
 */
RDMAEZ_COLD int rdmaez_endpoint_check(const struct rdmaez_endpoint *endpoint,
				      struct rdmaez_diag *diag);

/**
 * @brief Packs an endpoint into bytes that are the same on every machine.
 * @param endpoint the endpoint
 * @param buf receives the bytes; written on success only
 * @retval 0 @p buf is filled
 * @retval EINVAL an argument is NULL, or rdmaez_endpoint_check() refuses the endpoint, and says why
 */
RDMAEZ_API int rdmaez_endpoint_pack(const struct rdmaez_endpoint *endpoint,
				    uint8_t buf[RDMAEZ_ENDPOINT_BYTES]);

/**
 * @brief Unpacks an endpoint. The call fails if the bytes are not an endpoint, or if somebody changed them.
 * @param buf #RDMAEZ_ENDPOINT_BYTES bytes from anywhere
 * @param endpoint receives the endpoint; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p endpoint is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), not an endpoint (#RDMAEZ_WHY_ENDPOINT_MAGIC), one that
 *         only a later version can read (#RDMAEZ_WHY_ENDPOINT_VERSION), one that was changed
 *         (#RDMAEZ_WHY_ENDPOINT_SUM), or an invalid field, which is named (#RDMAEZ_WHY_ENDPOINT_FIELD)
 */
RDMAEZ_API int rdmaez_endpoint_unpack(const uint8_t buf[RDMAEZ_ENDPOINT_BYTES],
				      struct rdmaez_endpoint *endpoint, struct rdmaez_diag *diag);

/**
 * @brief Writes an endpoint as one line of text, for a mail, a terminal or a key-value store.
 * @param endpoint the endpoint
 * @param buf receives the text, without a newline; may be NULL if @p size is 0
 * @param size bytes in @p buf; #RDMAEZ_ENDPOINT_TEXT is always enough
 * @return the length of the whole text, as snprintf(): `RDMAEZ_ENDPOINT_TEXT - 1`; or 0, with an empty text, if
 *         rdmaez_endpoint_pack() fails
 */
RDMAEZ_COLD int rdmaez_endpoint_format(const struct rdmaez_endpoint *endpoint, char *buf,
				       size_t size);

/**
 * @brief Reads the text that rdmaez_endpoint_format() wrote. Spaces and newlines around it are ignored.
 * @param text the text, which ends with a zero
 * @param endpoint receives the endpoint; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p endpoint is filled
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); the text is too short, too long or has other letters
 *         (#RDMAEZ_WHY_ENDPOINT_TEXT with the first wrong position); or what rdmaez_endpoint_unpack() refuses
 */
RDMAEZ_COLD int rdmaez_endpoint_parse(const char *text, struct rdmaez_endpoint *endpoint,
				      struct rdmaez_diag *diag);

/**
 * @brief Computes what both ends agree on, and adds it to this end's options.
 *
 * The results mirror each other: the GID that one end sends from is the GID that the other sends to.
 *
 * - Two GIDs can be used together if they have the same type, family (IPv4 or IPv6) and scope (link-local or not). Of
 *   those pairs rdmaez prefers one that both routes use, then one that one route uses. After that it prefers RoCE v2,
 *   then routable addresses, then the longest common prefix, and finally the pair that comes first in the lists. On
 *   InfiniBand, GIDs are used if a port requires the global route header, if the subnet prefixes differ, or with
 *   #RDMAEZ_PATH_GRH. The LID is the peer's even if it is in another subnet, because rdmaez does not ask the subnet
 *   manager. If the router has another LID, set `agreed->path.dlid`.
 * - The MTU is the smaller one.
 * - `max_rd_atomic` is this end's, at most the peer's `max_dest_rd_atomic`, and vice versa. Some devices also limit
 *   what all queue pairs have together, and do not report it. The default leaves room for sixteen queue pairs (see
 *   rdmaez_qp_opts.max_rd_atomic). For more queue pairs on such a device, set the depths.
 *
 * For UD and SRD, `agreed->qkey` is this end's own, for INIT. Your work requests carry the peer's Q_Key,
 * `remote->qkey`, and the peer's number. For XRC, `agreed->dest_qp_num` is the peer's queue pair, and `remote->srq_num`
 * goes into work requests. ECE does not appear here: see rdmaez_qp_connect().
 *
 * @param local this end's endpoint
 * @param remote the peer's
 * @param opts your own options: access, timers, limits, traffic class; NULL: all defaults
 * @param agreed receives a copy of @p opts with what was agreed in it; may be the same struct as @p opts
 * @param diag receives the GID index and the peer's GID, or everything that does not fit; may be NULL
 * @retval 0 @p agreed is written
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); more GIDs than there is room for
 *         (#RDMAEZ_WHY_ENDPOINT_FIELD); @p local was unpacked, not filled here (#RDMAEZ_WHY_ENDPOINT_NOT_OWN); an end
 *         lacks the queue pair (#RDMAEZ_WHY_ENDPOINT_NO_QP), GIDs (#RDMAEZ_WHY_ENDPOINT_NO_GID) or LID
 *         (#RDMAEZ_WHY_ENDPOINT_NO_LID) that it needs; or the ends do not match: queue pair types
 *         (#RDMAEZ_WHY_ENDPOINT_QP_TYPES), InfiniBand and Ethernet (#RDMAEZ_WHY_ENDPOINT_LINK_LAYERS), partitions
 *         (#RDMAEZ_WHY_ENDPOINT_PKEYS), two limited members (#RDMAEZ_WHY_PKEY_LIMITED), RoCE v1 and v2
 *         (#RDMAEZ_WHY_ENDPOINT_GID_TYPES), IPv4 and IPv6 (#RDMAEZ_WHY_ENDPOINT_FAMILIES), link-local and routable
 *         (#RDMAEZ_WHY_ENDPOINT_SCOPES)
 */
RDMAEZ_API int rdmaez_endpoint_negotiate(const struct rdmaez_endpoint *local,
					 const struct rdmaez_endpoint *remote,
					 const struct rdmaez_qp_opts *opts,
					 struct rdmaez_qp_opts *agreed, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/endpoint.h"
#endif

#endif
