/* SPDX-License-Identifier: MIT */
/**
 * @file cm.h
 * @brief Connect by rdma_cm (librdmacm): every wait has a deadline, timers and depths are good, and failures say why.
 *
 * librdmacm connects two programs by an IP address and a port. The functions here take its own objects, struct
 * rdma_cm_id and struct rdma_event_channel. You may use these with any other call of librdmacm as well.
 *
 * `<rdmaez.h>` does not include this header. If your program includes it, link with `-lrdmacm`, and define
 * `RDMAEZ_WITH_CM` where you include implementation.h. Without that definition, each failure is explained in a single
 * sentence.
 *
 * @code
 * #include <rdmaez/cm.h>
 *
 * // The client, from nothing to a connection; the channel comes from rdmaez_cm_channel_create().
 * int reach(struct rdma_event_channel *channel, const char *host, struct ibv_qp_init_attr *init,
 *           struct rdma_cm_id **id, struct rdmaez_diag *diag)
 * {
 *         int error = rdmaez_cm_resolve(channel, host, "7471", NULL, id, diag);
 *
 *         if (!error)
 *                 error = rdmaez_cm_qp_create(*id, NULL, init, diag); // in INIT: post receives now
 *         return error ? error : rdmaez_cm_connect(*id, NULL, NULL, diag);
 * }
 *
 * // The server: the next client of a listener of rdmaez_cm_listen(), on a channel of its own.
 * int serve(struct rdma_cm_id *listener, struct rdma_event_channel *channel,
 *           struct ibv_qp_init_attr *init, struct rdma_cm_id **id, struct rdmaez_diag *diag)
 * {
 *         struct rdmaez_cm_peer peer;
 *         int error = rdmaez_cm_request(listener, channel, RDMAEZ_NS_FOREVER, id, &peer, diag);
 *
 *         if (!error)
 *                 error = rdmaez_cm_qp_create(*id, NULL, init, diag);
 *         return error ? error : rdmaez_cm_accept(*id, &peer, NULL, diag);
 * }
 * @endcode
 *
 * At the end, either side calls rdmaez_cm_disconnect(), or it calls rdmaez_cm_disconnected() to wait for the peer to do
 * so. Then call rdma_destroy_qp() and rdma_destroy_id(). Call rdma_destroy_event_channel() when no id uses the channel
 * any longer.
 *
 * @par Channels
 * Functions that wait take events from the id's channel and acknowledge them. Each connection and each listener
 * therefore needs its own channel. If your program has many connections on one channel, wait for `channel->fd` in a
 * loop of your own, or call rdmaez_cm_event_next(). Use rdmaez_cm_prepare(), rdmaez_cm_tune() and
 * rdmaez_cm_event_explain() around librdmacm's own calls.
 *
 * @par What librdmacm sets, and what is better
 * librdmacm sets min_rnr_timer to 0. That is 655 ms, the longest delay there is. If a sender finds no receive posted, it
 * pauses for that time. librdmacm derives the ACK timeout from the path: half a second or more on RoCE.
 * rdmaez_cm_connect() and rdmaez_cm_accept() use the options and defaults of struct rdmaez_qp_opts instead. They set
 * the timeout before they connect (RDMA_OPTION_ID_ACK_TIMEOUT), because it cannot be changed afterwards. They set
 * min_rnr_timer once the queue pair is in RTS.
 *
 * @par After a failure
 * Do not use an id again that has failed to connect or to accept: destroy its queue pair and the id. Each function says
 * what state it leaves.
 *
 * @par Threads
 * May be called from any thread. Only one thread at a time may wait on a channel. While it waits, the channel's
 * descriptor does not block.
 * @par Verbs calls
 * Those of librdmacm, as listed with each function.
 * @par Sources
 * librdmacm/cma.c of rdma-core 44 to 65; drivers/infiniband/core/{cma,cm,ucma}.c of Linux 6.1 to 7.2; rdma_cm(7).
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_CM_H
#define RDMAEZ_CM_H

#include <rdma/rdma_cma.h>

#ifndef RDMAEZ_QP_H
#include "qp.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief Options of a connection. Start from all zero: 0 asks for the default. Each function names those it uses. */
struct rdmaez_cm_opts {
	/** How long the whole call may take, in ns. 0: 10 s. #RDMAEZ_NS_NOW: it does not wait. #RDMAEZ_NS_FOREVER: no
	 *  deadline; librdmacm then gives up after a minute or more. */
	uint64_t timeout_ns;

	/** The queue pair's `timeout`, `retry_cnt`, `rnr_retry`, `min_rnr_timer`, `max_rd_atomic`,
	 *  `max_dest_rd_atomic`, and `path.traffic_class` of rdmaez_cm_resolve(); the rest does not matter. The peer's
	 *  sends are retried `rnr_retry` times, and the client's `retry_cnt` is that of both ends. NULL: their
	 *  defaults. */
	const struct rdmaez_qp_opts *qp;

	/** Private data for the peer, sent with the request or the answer. NULL: nothing. */
	const void *data;
	/** Its length, at most #RDMAEZ_CM_REQUEST_BYTES or #RDMAEZ_CM_ANSWER_BYTES. 0: none. */
	size_t data_length;

	/** The address of this host to connect from, with port 0. NULL: the one that the route starts at. */
	const struct sockaddr *source;
	/** How many requests may wait to be taken. 0: the most that the kernel allows (1024, or
	 *  `/proc/sys/net/rdma_ucm/max_backlog`). */
	int backlog;
};

/** @brief How much private data a request may have, with an IP address. Over iWARP it depends on the device. */
#define RDMAEZ_CM_REQUEST_BYTES 56u
/** @brief How much private data an answer that accepts may have. */
#define RDMAEZ_CM_ANSWER_BYTES 196u
/** @brief How much private data a rejection may have. */
#define RDMAEZ_CM_REJECT_BYTES 148u

/** @brief What the peer has told you. */
struct rdmaez_cm_peer {
	/** How many of the peer's READs and atomics this end may be asked to answer at once. rdmaez_cm_accept() limits
	 *  `max_dest_rd_atomic` to it. */
	unsigned int responder_resources;
	/** How many of this end's READs and atomics the peer answers at once. rdmaez_cm_accept() limits `max_rd_atomic`
	 *  to it. */
	unsigned int initiator_depth;
	/** How many bytes of private data came. InfiniBand and RoCE always deliver the most that fit, and fill up with
	 *  zeros what the peer gave. iWARP delivers what the peer gave. */
	size_t length;
	/** The private data, followed by a NUL. */
	uint8_t data[256];
};

/* ---- Channels and addresses ---------------------------------------------------------------------- */

/**
 * @brief Opens an event channel, as rdma_create_event_channel() does, and explains a failure.
 * @param channel receives it; written on success only. Destroy it with rdma_destroy_event_channel() after all its ids
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p channel is open
 * @retval EINVAL @p channel is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval ENODEV there is no RDMA device (#RDMAEZ_WHY_CM_NO_NODE)
 * @retval ENOENT the device node could not be opened: it is missing, or the process may not (#RDMAEZ_WHY_CM_NO_NODE)
 * @return any other errno value of rdma_create_event_channel()
 */
RDMAEZ_COLD int rdmaez_cm_channel_create(struct rdma_event_channel **channel,
					 struct rdmaez_diag *diag);

/**
 * @brief Finds the way to a host. Creates an id, resolves the address and the route, and waits for both.
 *
 * After success `id->verbs` is the open device. Create the protection domain and the completion queues from it. The
 * function tries all addresses of the name in turn. It uses `timeout_ns`, `source` and `qp->path.traffic_class` of the
 * options. A failure leaves nothing behind.
 *
 * @param channel the channel of the new id, and of no other
 * @param host the server's name or its address on the RDMA network
 * @param service its port, a number or a name. It is a port of rdma_cm, not a port of TCP
 * @param opts the options; NULL: all defaults
 * @param id receives the id, of RDMA_PS_TCP; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p id is bound to a device, and its route is resolved
 * @retval EINVAL a pointer but @p opts is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); no such service (#RDMAEZ_WHY_OPEN_SERVICE,
 *         #RDMAEZ_WHY_RANGE); a link-local address without an interface, or @p source of another family
 *         (#RDMAEZ_WHY_CM_ADDRESS); an event of another id came (#RDMAEZ_WHY_CM_CHANNEL_SHARED)
 * @retval ENOENT no such host (#RDMAEZ_WHY_OPEN_NAME)
 * @retval EAGAIN the name server does not answer (#RDMAEZ_WHY_OPEN_LOOKUP)
 * @retval ENETUNREACH no route (#RDMAEZ_WHY_CM_NO_ROUTE)
 * @retval ENODEV the route starts at an interface without an RDMA device (#RDMAEZ_WHY_CM_NO_ROUTE,
 *         #RDMAEZ_WHY_CM_ADDRESS), or the device has gone (#RDMAEZ_WHY_CM_REMOVAL)
 * @retval ETIMEDOUT nobody has the address (#RDMAEZ_WHY_CM_NO_NEIGHBOUR), or the time was over
 *         (#RDMAEZ_WHY_CM_DEADLINE)
 * @return any other errno value of rdma_create_id(), rdma_resolve_addr(), rdma_resolve_route() and their events
 */
RDMAEZ_COLD int rdmaez_cm_resolve(struct rdma_event_channel *channel, const char *host,
				  const char *service, const struct rdmaez_cm_opts *opts,
				  struct rdma_cm_id **id, struct rdmaez_diag *diag);

/**
 * @brief Creates an id's queue pair, as rdma_create_qp() does, and explains a failure.
 *
 * librdmacm moves the queue pair to INIT, so you may post receives, and moves it on as it connects. A queue pair of
 * rdmaez_qp_create() does not belong to the id: librdmacm does not move it. Destroy the id's queue pair with
 * rdma_destroy_qp(). If `send_cq` and `recv_cq` are NULL, librdmacm creates completion queues.
 *
 * @param id an id with a device, after rdmaez_cm_resolve() or rdmaez_cm_request()
 * @param pd a protection domain of `id->verbs`; NULL: one that librdmacm keeps
 * @param init_attr as for rdma_create_qp(), which writes what it granted into `cap`
 * @param diag receives the explanation; may be NULL
 * @retval 0 `id->qp` is the queue pair
 * @retval EINVAL @p id or @p init_attr is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the id has a queue pair or no device
 *         (#RDMAEZ_WHY_CM_STATE); the domain is another device's (#RDMAEZ_WHY_CM_ARGUMENT); or as rdmaez_qp_create()
 * @return any other errno value of rdma_create_qp(), which is explained as for rdmaez_qp_create()
 */
RDMAEZ_COLD int rdmaez_cm_qp_create(struct rdma_cm_id *id, struct ibv_pd *pd,
				    struct ibv_qp_init_attr *init_attr, struct rdmaez_diag *diag);

/* ---- The client -------------------------------------------------------------------------------------- */

/**
 * @brief Connects an id's queue pair, and waits for the peer's answer.
 *
 * It does what rdmaez_cm_prepare(), rdma_connect() and, after RDMA_CM_EVENT_ESTABLISHED, rdmaez_cm_tune() do. It uses
 * `timeout_ns`, `qp` and `data` of the options. After success the queue pair is in RTS. After a failure destroy the
 * queue pair and the id. A request that is still under way ends with the id.
 *
 * @param id after rdmaez_cm_resolve() and rdmaez_cm_qp_create()
 * @param opts the options; NULL: all defaults
 * @param peer receives what the peer has answered. Unlike other outputs it is also written if the peer has refused; its
 *         `data` is then what the program there passed to rdma_reject(). NULL: not wanted
 * @param diag receives the explanation; may be NULL
 * @retval 0 the connection is established
 * @retval EINVAL @p id is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); it has no queue pair, or its route is not resolved
 * (#RDMAEZ_WHY_CM_STATE); it was created without a channel (#RDMAEZ_WHY_CM_SYNC); the private data is too long
 * (#RDMAEZ_WHY_CM_PRIVATE_DATA); an option as for rdmaez_qp_attr(); an event of another id came
 *         (#RDMAEZ_WHY_CM_CHANNEL_SHARED)
 * @retval ECONNREFUSED nobody listens there (#RDMAEZ_WHY_CM_NO_LISTENER); the program refused (#RDMAEZ_WHY_CM_REFUSED);
 *         or the peer's kernel refused, for example because it still has such a connection (#RDMAEZ_WHY_CM_STALE,
 *         #RDMAEZ_WHY_CM_REJECTED)
 * @retval ETIMEDOUT there was no answer within the time (#RDMAEZ_WHY_CM_DEADLINE), or the kernel gave up
 *         (#RDMAEZ_WHY_CM_NO_ANSWER)
 * @retval ENODEV the device has gone (#RDMAEZ_WHY_CM_REMOVAL)
 * @retval ECONNRESET the peer has ended the connection (#RDMAEZ_WHY_CM_DISCONNECTED)
 * @return any other errno value of ibv_query_device(), rdma_connect() and its events (#RDMAEZ_WHY_CM_CONNECT)
 */
RDMAEZ_COLD int rdmaez_cm_connect(struct rdma_cm_id *id, const struct rdmaez_cm_opts *opts,
				  struct rdmaez_cm_peer *peer, struct rdmaez_diag *diag);

/* ---- The server -------------------------------------------------------------------------------------- */

/**
 * @brief Listens at an address and a port: creates an id, binds it and listens.
 *
 * It uses `backlog` of the options. It does not wait. A failure leaves nothing behind.
 *
 * @param channel the channel of the listener
 * @param host an address of this host. NULL: all, of IPv6 and IPv4. It is IPv4 alone if the host has no IPv6, or has an
 *         iWARP device, with which "::" takes no IPv4
 * @param service the port, as for rdmaez_cm_resolve()
 * @param opts the options; NULL: all defaults
 * @param listener receives the id; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 requests come to @p channel: take them with rdmaez_cm_request()
 * @retval EINVAL @p channel, @p service or @p listener is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); no such service
 *         (#RDMAEZ_WHY_OPEN_SERVICE, #RDMAEZ_WHY_RANGE)
 * @retval EADDRINUSE the port is taken (#RDMAEZ_WHY_CM_PORT_TAKEN)
 * @retval EADDRNOTAVAIL no such address here (#RDMAEZ_WHY_CM_ADDRESS), or the port is taken
 *         (#RDMAEZ_WHY_CM_PORT_TAKEN)
 * @retval ENODEV the address is of an interface without an RDMA device (#RDMAEZ_WHY_CM_ADDRESS)
 * @retval EACCES the port is below 1024 (#RDMAEZ_WHY_CM_ADDRESS)
 * @return any other as rdmaez_cm_resolve(), of names; any other errno value of rdma_bind_addr() and rdma_listen()
 */
RDMAEZ_COLD int rdmaez_cm_listen(struct rdma_event_channel *channel, const char *host,
				 const char *service, const struct rdmaez_cm_opts *opts,
				 struct rdma_cm_id **listener, struct rdmaez_diag *diag);

/**
 * @brief Waits for the next request of a client, and takes it.
 *
 * The new id gets its own channel, so that its events do not mix with later requests. It has a device, `id->verbs`, and
 * waits for your answer: rdmaez_cm_accept() or rdmaez_cm_reject(). rdma_destroy_id() refuses the request as well. A
 * client's kernel waits a minute for the answer, and its program perhaps less. A failure leaves the listener as it was.
 *
 * @param listener an id from rdmaez_cm_listen()
 * @param channel the channel of the new id: not the listener's
 * @param timeout_ns how long to wait, in ns. 0: 10 s; #RDMAEZ_NS_NOW: not at all; #RDMAEZ_NS_FOREVER: forever
 * @param id receives the id; written on success only
 * @param peer receives what the client asks for; written on success only. May be NULL
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p id has a request
 * @retval EINVAL @p listener, @p channel or @p id is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); both channels are the same, or
 *         an event of another id came (#RDMAEZ_WHY_CM_CHANNEL_SHARED); the listener was created without a channel
 *         (#RDMAEZ_WHY_CM_SYNC)
 * @retval EAGAIN with #RDMAEZ_NS_NOW: there is none now. That is no failure, and the record has no finding
 * @retval ETIMEDOUT no request came in the time that it waited (#RDMAEZ_WHY_CM_DEADLINE)
 * @retval ENODEV the device has gone (#RDMAEZ_WHY_CM_REMOVAL)
 * @return any other errno value of rdma_get_cm_event() and rdma_migrate_id()
 */
RDMAEZ_COLD int rdmaez_cm_request(struct rdma_cm_id *listener, struct rdma_event_channel *channel,
				  uint64_t timeout_ns, struct rdma_cm_id **id,
				  struct rdmaez_cm_peer *peer, struct rdmaez_diag *diag);

/**
 * @brief Accepts a request, and waits until the connection is established.
 *
 * It does what rdmaez_cm_prepare(), rdma_accept() and rdmaez_cm_tune() do, and waits for RDMA_CM_EVENT_ESTABLISHED. It
 * uses `timeout_ns`, `qp` and `data` of the options. The depths are never more than the client has asked for. After a
 * failure destroy the queue pair and the id.
 *
 * @param id an id from rdmaez_cm_request(), with a queue pair from rdmaez_cm_qp_create()
 * @param request what rdmaez_cm_request() wrote to its `peer`
 * @param opts the options; NULL: all defaults
 * @param diag receives the explanation; may be NULL
 * @retval 0 the connection is established
 * @retval EINVAL @p id or @p request is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the id has no queue pair, or its request is
 *         no longer open, for example because the client has given up (#RDMAEZ_WHY_CM_STATE); else as
 *         rdmaez_cm_connect()
 * @retval ECONNREFUSED the client has given up (#RDMAEZ_WHY_CM_GAVE_UP)
 * @return any other as rdmaez_cm_connect()
 */
RDMAEZ_COLD int rdmaez_cm_accept(struct rdma_cm_id *id, const struct rdmaez_cm_peer *request,
				 const struct rdmaez_cm_opts *opts, struct rdmaez_diag *diag);

/**
 * @brief Refuses a request, and tells the client why.
 *
 * It does not wait. Destroy the id afterwards, even after a failure.
 *
 * @param id an id from rdmaez_cm_request()
 * @param data private data for the client: a text, if a person is to read it. NULL: nothing
 * @param length its length, 0 to #RDMAEZ_CM_REJECT_BYTES
 * @param diag receives the explanation; may be NULL
 * @retval 0 the client gets RDMA_CM_EVENT_REJECTED
 * @retval EINVAL @p id is NULL, or @p data with a length (#RDMAEZ_WHY_NULL_ARGUMENT); too long
 *         (#RDMAEZ_WHY_CM_PRIVATE_DATA); the request is no longer open (#RDMAEZ_WHY_CM_STATE)
 * @return any other errno value of rdma_reject()
 */
RDMAEZ_COLD int rdmaez_cm_reject(struct rdma_cm_id *id, const void *data, size_t length,
				 struct rdmaez_diag *diag);

/* ---- The end ------------------------------------------------------------------------------------------- */

/**
 * @brief Disconnects, and waits until the peer knows.
 *
 * The queue pair is in ERR then, even after a failure, and its outstanding work requests flush. rdmaez_qp_drain() waits
 * for that.
 *
 * @param id a connected id whose RDMA_CM_EVENT_DISCONNECTED you have not taken yet
 * @param timeout_ns how long to wait, in ns. 0: 10 s; #RDMAEZ_NS_NOW: not at all; #RDMAEZ_NS_FOREVER: forever
 * @param diag receives the explanation; may be NULL
 * @retval 0 the connection has ended
 * @retval EINVAL @p id is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); it was never connected (#RDMAEZ_WHY_CM_STATE); its channel,
 *         as for rdmaez_cm_connect()
 * @retval ETIMEDOUT the peer has not answered yet (#RDMAEZ_WHY_CM_DEADLINE)
 * @return any other errno value of rdma_disconnect()
 */
RDMAEZ_COLD int rdmaez_cm_disconnect(struct rdma_cm_id *id, uint64_t timeout_ns,
				     struct rdmaez_diag *diag);

/**
 * @brief Waits until the peer disconnects, and then disconnects this end.
 *
 * If the peer's program ends or dies, its kernel disconnects. If the peer's host vanishes, no event tells you: the call
 * returns ETIMEDOUT, or a completion fails.
 *
 * @param id a connected id
 * @param timeout_ns as for rdmaez_cm_disconnect()
 * @param diag receives the explanation; may be NULL
 * @retval 0 the connection has ended, and the queue pair is in ERR
 * @retval ETIMEDOUT the connection still exists, and nothing has changed (#RDMAEZ_WHY_CM_DEADLINE)
 * @return any other as rdmaez_cm_disconnect()
 */
RDMAEZ_COLD int rdmaez_cm_disconnected(struct rdma_cm_id *id, uint64_t timeout_ns,
				       struct rdmaez_diag *diag);

/* ---- In a loop of your own --------------------------------------------------------------------------------- */

/**
 * @brief Takes the next event of a channel, of any id.
 *
 * Acknowledge it with rdma_ack_cm_event() before you destroy its id, or rdma_destroy_id() waits forever.
 *
 * @param channel the channel; `channel->fd` is readable while it has events, and may be non-blocking
 * @param timeout_ns how long to wait, in ns. 0: 10 s; #RDMAEZ_NS_NOW: not at all; #RDMAEZ_NS_FOREVER: forever
 * @param event receives the event, good or bad; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p event is the event
 * @retval EINVAL @p channel or @p event is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval EAGAIN with #RDMAEZ_NS_NOW: there is none now. That is no failure, and the record has no finding
 * @retval ETIMEDOUT none came in the time that it waited (#RDMAEZ_WHY_CM_DEADLINE)
 * @return any other errno value of rdma_get_cm_event()
 */
RDMAEZ_COLD int rdmaez_cm_event_next(struct rdma_event_channel *channel, uint64_t timeout_ns,
				     struct rdma_cm_event **event, struct rdmaez_diag *diag);

/**
 * @brief Returns whether an event is a failure, and explains it.
 * @param event the event, not acknowledged yet
 * @param diag receives the explanation; may be NULL
 * @retval 0 the event reports no failure
 * @retval EINVAL @p event is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @retval ECONNREFUSED RDMA_CM_EVENT_REJECTED; RDMA_CM_EVENT_UNREACHABLE with a positive status
 * @retval ECONNRESET RDMA_CM_EVENT_DISCONNECTED (#RDMAEZ_WHY_CM_DISCONNECTED)
 * @retval ENODEV RDMA_CM_EVENT_DEVICE_REMOVAL
 * @retval EIO a failure whose status is not an errno value
 * @return any other: the errno value in the status of RDMA_CM_EVENT_ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE
 *         or MULTICAST_ERROR
 */
RDMAEZ_COLD int rdmaez_cm_event_explain(const struct rdma_cm_event *event,
					struct rdmaez_diag *diag);

/**
 * @brief Copies what the peer sent with an event: RDMA_CM_EVENT_CONNECT_REQUEST, ESTABLISHED or REJECTED.
 * @param event the event, not acknowledged yet, of an id of RDMA_PS_TCP
 * @param peer receives a copy
 */
RDMAEZ_COLD void rdmaez_cm_event_peer(const struct rdma_cm_event *event,
				      struct rdmaez_cm_peer *peer);

/**
 * @brief Fills the parameters of rdma_connect() or rdma_accept(), and sets the id's ACK timeout.
 *
 * It uses `qp` and `data` of the options. The parameters point at the data. It sets the option
 * RDMA_OPTION_ID_ACK_TIMEOUT on the id of an RC queue pair. If the kernel does not know that option, the call fails
 * only if `qp->timeout` asks for a value.
 *
 * @param id an id with a device
 * @param request what the client asked for, before rdma_accept(). NULL: before rdma_connect()
 * @param opts the options; NULL: all defaults
 * @param param receives the parameters; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p param is filled
 * @retval EINVAL @p id or @p param is NULL (#RDMAEZ_WHY_NULL_ARGUMENT); the id has no device (#RDMAEZ_WHY_CM_STATE);
 *         the private data is too long (#RDMAEZ_WHY_CM_PRIVATE_DATA); an option as for rdmaez_qp_attr()
 * @return any other errno value of ibv_query_device() and rdma_set_option()
 */
RDMAEZ_COLD int rdmaez_cm_prepare(struct rdma_cm_id *id, const struct rdmaez_cm_peer *request,
				  const struct rdmaez_cm_opts *opts, struct rdma_conn_param *param,
				  struct rdmaez_diag *diag);

/**
 * @brief Sets the min_rnr_timer of a queue pair that librdmacm has moved to RTS.
 *
 * A client calls it after RDMA_CM_EVENT_ESTABLISHED, a server after rdma_accept(). It makes one ibv_modify_qp() on RC.
 * It makes none for other types, and none over iWARP, which has no such timer. If a driver refuses, the timer stays as
 * it is, and the call fails only if `qp->min_rnr_timer` asks for a value.
 *
 * @param id the id, with its queue pair
 * @param opts the options; NULL: all defaults. `qp->min_rnr_timer` is used, 0: 12 (0.64 ms)
 * @param diag receives the explanation; may be NULL
 * @retval 0 the timer is set, or need not be
 * @retval EINVAL @p id is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or has no queue pair (#RDMAEZ_WHY_CM_STATE); a value out of
 *         range (#RDMAEZ_WHY_RANGE)
 * @return any other as rdmaez_qp_to_rts()
 */
RDMAEZ_COLD int rdmaez_cm_tune(struct rdma_cm_id *id, const struct rdmaez_cm_opts *opts,
			       struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#include "impl/cm.h"

#endif
