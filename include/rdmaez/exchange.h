/* SPDX-License-Identifier: MIT */
/**
 * @file exchange.h
 * @brief Carry endpoints from one end to the other: over a stream socket, or in any all-gather.
 *
 * Both ends call the same function on their end of a connected stream socket, TCP or Unix, and each gets the other's
 * endpoint. rdmaez_exchange_connect() does everything in one call: it exchanges the endpoints, connects, and waits
 * until the peer is connected as well.
 *
 * @code
 * // host is NULL at the end that waits. The other end passes the name or address of that end's host.
 * int bring_up(struct ibv_qp *qp, const char *host, int *tcp, struct rdmaez_diag *diag)
 * {
 *         const int error = rdmaez_exchange_open(host, "18515", 0, tcp, diag);
 *
 *         return error ? error : rdmaez_exchange_connect(*tcp, qp, NULL, NULL, NULL, diag);
 * }
 * @endcode
 *
 * @par Sockets
 * A socket may be blocking or non-blocking, and its flags stay as they are. These functions read nothing beyond a
 * message, so that the stream can carry bytes of your own before and after. They do not raise SIGPIPE. If you open a
 * TCP socket yourself, TCP_NODELAY saves up to 40 ms.
 *
 * @par Deadlines
 * `timeout_ns` covers the whole call, measured by CLOCK_MONOTONIC. 0 means 10 s, and #RDMAEZ_NS_FOREVER means forever.
 * Signals do not interrupt a call. A call takes bytes that have already arrived, even if the deadline has passed. With
 * #RDMAEZ_NS_NOW it does no more than that.
 *
 * @par Failures
 * After a failure the stream may be in the middle of a message, so close it. There is one exception. If one end reports
 * at the barrier that it failed, the other end gets ECONNABORTED, both ends stay in step, and both may begin again. The
 * same goes for rdmaez_exchange_connect() when it could not connect.
 *
 * @par Trust
 * Anyone who can reach a socket can send well-formed messages. These functions cannot distinguish one peer from
 * another. A peer that echoes everything looks like a queue pair connected to itself. If that matters to you, compare
 * the `nonce`.
 *
 * @par Many peers of one thread
 * Use handshake.h. Its functions do the same and never wait.
 *
 * @par Many ends
 * You need no function for these: an all-gather of MPI, PMIx or a key-value store carries packed endpoints as they are.
 *
 * @code
 * void all_gather(const void *own, void *all, size_t bytes); // MPI_Allgather(), or what there is
 *
 * int swap_with_all(const struct rdmaez_endpoint *local, struct rdmaez_endpoint *remote, size_t ends, uint8_t *all)
 * {
 *         uint8_t own[RDMAEZ_ENDPOINT_BYTES] = {0}; // If this end fails, no peer accepts these zeros.
 *         int error = rdmaez_endpoint_pack(local, own);
 *
 *         all_gather(own, all, sizeof(own));
 *         for (size_t i = 0; i < ends && !error; i++)
 *                 error = rdmaez_endpoint_unpack(&all[i * sizeof(own)], &remote[i], NULL);
 *         return error;
 * }
 * @endcode
 *
 * If there is a queue pair for each peer, rank r packs its endpoint for rank i at `own + i * RDMAEZ_ENDPOINT_BYTES`,
 * and MPI_Alltoall() carries them. Then each rank connects, and all call MPI_Barrier() before the first send.
 *
 * @par The bytes
 * A message begins with six numbers of 32 bits, big endian: "RZEX"; why the sender has failed, as an errno value of its
 * machine, or 0; the kind, 1 for endpoints, 2 for ready; the number of endpoints; the identity; and the number of bytes
 * that follow. These bytes are the endpoints. A later version may put more behind them, which this version skips.
 *
 * @par Threads
 * May be called from any thread. Only one thread at a time may use a socket.
 * @par Verbs calls
 * Only rdmaez_exchange_connect() makes any: those of rdmaez_qp_connect(), and if you pass no endpoint those of
 * rdmaez_endpoint_local().
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_EXCHANGE_H
#define RDMAEZ_EXCHANGE_H

#ifndef RDMAEZ_CONNECT_H
#include "connect.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Over a socket --------------------------------------------------------------------------- */

/**
 * @brief Sends this end's endpoint and receives the peer's.
 *
 * @param socket a connected stream socket
 * @param local what to send
 * @param remote receives the peer's; written on success only
 * @param timeout_ns the deadline in ns; 0: 10 s
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p remote is filled. The peer may still fail to connect: see rdmaez_exchange_barrier()
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT); @p local cannot be packed (#RDMAEZ_WHY_EXCHANGE_LOCAL);
 *         rdmaez_endpoint_unpack() refuses what arrived
 * @retval ETIMEDOUT nothing came (#RDMAEZ_WHY_EXCHANGE_SILENT), or not all (#RDMAEZ_WHY_EXCHANGE_PART), or the peer
 *         does not read (#RDMAEZ_WHY_EXCHANGE_UNREAD). Over TCP a finding also says whether the peer's host has
 *         acknowledged what was sent. If it has, the peer's program has not come this far (#RDMAEZ_WHY_EXCHANGE_ACKED);
 *         else #RDMAEZ_WHY_EXCHANGE_UNACKED
 * @retval ECONNRESET the peer has closed the socket (#RDMAEZ_WHY_EXCHANGE_CLOSED); also EPIPE
 * @retval ECONNABORTED the peer reports that it failed, with its errno value (#RDMAEZ_WHY_PEER_FAILED)
 * @retval EBADMSG what arrived is not a message of these functions (#RDMAEZ_WHY_EXCHANGE_FOREIGN)
 * @retval EPROTO the peer waits at the barrier (#RDMAEZ_WHY_EXCHANGE_STEP), or tells another number of endpoints
 *         (#RDMAEZ_WHY_EXCHANGE_COUNT)
 * @return any other errno value of send(), recv() or poll(), such as EBADF (#RDMAEZ_WHY_EXCHANGE_SOCKET)
 */
RDMAEZ_API int rdmaez_exchange(int socket, const struct rdmaez_endpoint *local,
			       struct rdmaez_endpoint *remote, uint64_t timeout_ns,
			       struct rdmaez_diag *diag);

/** @brief Endpoints for many queue pairs. The peer's n-th belongs to this end's n-th. */
struct rdmaez_exchange_list {
	size_t count;                        /**< how many, the same at both ends; at least 1 */
	const struct rdmaez_endpoint *local; /**< those to send */
	struct rdmaez_endpoint *remote;      /**< receives the peer's; written on success only */
	/** Room to pack them: `count` times #RDMAEZ_ENDPOINT_BYTES. */
	uint8_t *buffer;
};

/**
 * @brief Sends and receives the endpoints of many queue pairs in one message.
 *
 * @param socket a connected stream socket
 * @param list what to send, and where to put what comes
 * @param timeout_ns the deadline in ns for all of it; 0: 10 s
 * @param diag receives the explanation; may be NULL
 * @retval 0 `list->remote` is filled
 * @retval EINVAL as rdmaez_exchange(), and the position of the endpoint (#RDMAEZ_WHY_EXCHANGE_LOCAL,
 *         #RDMAEZ_WHY_EXCHANGE_REMOTE); or `count` is out of range (#RDMAEZ_WHY_RANGE)
 * @return any other errno value of rdmaez_exchange()
 */
RDMAEZ_API int rdmaez_exchange_many(int socket, const struct rdmaez_exchange_list *list,
				    uint64_t timeout_ns, struct rdmaez_diag *diag);

/** @brief What an end reports at the barrier. All zero: it is ready. */
struct rdmaez_exchange_ready {
	int error; /**< why it is not ready, an errno value; 0: it is ready */
	/** A number that is the same at both ends, such as the sum of both nonces. It distinguishes this barrier from
	 *  others. * */
	uint32_t identity;
};

/**
 * @brief Waits until the peer has reached the same point. Neither end continues before the other is there.
 *
 * Call it in RTS to make sure that the peer accepts what you send. Failures travel the same way. If this end could not
 * connect, pass its `error`: the peer's call returns at once. You may do so even if you have no endpoint to exchange.
 * The peer's rdmaez_exchange() then returns ECONNABORTED.
 *
 * @param socket a connected stream socket
 * @param ready what to tell the peer; NULL: that this end is ready
 * @param timeout_ns the deadline in ns; 0: 10 s
 * @param diag receives the explanation; may be NULL
 * @retval 0 both ends are there, and the peer is ready, whatever this end has reported
 * @retval ECONNABORTED the peer is there, and reports that it failed (#RDMAEZ_WHY_PEER_FAILED)
 * @retval EINVAL `ready->error` is negative (#RDMAEZ_WHY_RANGE)
 * @retval EPROTO the peer still exchanges endpoints (#RDMAEZ_WHY_EXCHANGE_STEP), or names another identity
 *         (#RDMAEZ_WHY_EXCHANGE_IDENTITY)
 * @return ETIMEDOUT, ECONNRESET, EPIPE, EBADMSG or another errno value as rdmaez_exchange()
 */
RDMAEZ_API int rdmaez_exchange_barrier(int socket, const struct rdmaez_exchange_ready *ready,
				       uint64_t timeout_ns, struct rdmaez_diag *diag);

/** @brief How to connect. All zero means within 10 s, and with all defaults. */
struct rdmaez_exchange_opts {
	uint64_t timeout_ns;             /**< the deadline in ns for all of it; 0: 10 s */
	const struct rdmaez_qp_opts *qp; /**< for the queue pair; NULL: all defaults */
	const struct ibv_mr *mr; /**< memory that the peer may reach; NULL: that of `local` */
};

/**
 * @brief Connects a queue pair to the peer's: exchange, rdmaez_qp_connect() and barrier in one call.
 *
 * If the peer may send at once, post receives before the call, in INIT. If this end fails after it has reached the
 * peer, the call sends its errno value to the peer.
 *
 * For UD the call brings the queue pair to RTS. rdmaez_qp_connect_ud() then creates the address handle from @p remote.
 *
 * @param socket a connected stream socket
 * @param qp the queue pair, in a state that rdmaez_qp_connect() takes
 * @param local this end's endpoint, from rdmaez_endpoint_local(). You may add memory and bytes of your own.
 *         An endpoint from rdmaez_endpoint_port() also works: this call completes it, so you query the device once for
 *         many queue pairs. NULL: this call fills one, with the peer's address from rdmaez_exchange_peer() unless
 *         `opts->qp->path.dgid` is set
 * @param remote receives the peer's endpoint; written on success only; may be NULL
 * @param opts deadline and queue pair options; NULL: all defaults. The deadline limits `retry_ns`. One attempt may
 *         exceed it by up to a second, while the kernel waits for a neighbour
 * @param diag receives the explanation; may be NULL
 * @retval 0 both ends are in RTS
 * @return an errno value of rdmaez_endpoint_local(), rdmaez_exchange(), rdmaez_qp_connect() or
 *         rdmaez_exchange_barrier(), with their reasons. The queue pair stays in the last state that it reached
 */
RDMAEZ_API int rdmaez_exchange_connect(int socket, struct ibv_qp *qp,
				       const struct rdmaez_endpoint *local,
				       struct rdmaez_endpoint *remote,
				       const struct rdmaez_exchange_opts *opts,
				       struct rdmaez_diag *diag);

/* ---- Where there is no socket yet ------------------------------------------------------------ */

/**
 * @brief Opens a TCP connection to the peer: one end waits, the other connects.
 *
 * The end that waits takes the first peer, over IPv6 or IPv4, and then stops listening. The other end tries all
 * addresses of the host repeatedly until the deadline, so you may start either end first.
 *
 * The socket is blocking, has TCP_NODELAY, and is closed by exec(). getaddrinfo() looks up @p host. If it asks name
 * servers, it may exceed the deadline. An address needs no look-up.
 *
 * @param host a name or an address, "192.0.2.1", "fe80::1%eth0"; NULL: wait for the peer
 * @param service a TCP port, 1 to 65535, or the name of a service
 * @param timeout_ns the deadline in ns; 0: 10 s
 * @param socket receives the socket, which you close; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p socket is connected
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), no such TCP port (#RDMAEZ_WHY_RANGE) or service
 *         (#RDMAEZ_WHY_OPEN_SERVICE)
 * @retval ENOENT no such host: EAI_NONAME and the like (#RDMAEZ_WHY_OPEN_NAME)
 * @retval EAGAIN the host could not be looked up: EAI_AGAIN or EAI_FAIL (#RDMAEZ_WHY_OPEN_LOOKUP); ENOMEM for
 *         EAI_MEMORY, the errno value for EAI_SYSTEM
 * @retval EADDRINUSE another socket listens there (#RDMAEZ_WHY_OPEN_IN_USE)
 * @retval ECONNREFUSED nothing listens there (#RDMAEZ_WHY_OPEN_REFUSED)
 * @retval ETIMEDOUT no peer connected (#RDMAEZ_WHY_OPEN_NO_PEER), or the host does not answer
 *         (#RDMAEZ_WHY_OPEN_UNREACHED); also EHOSTUNREACH and ENETUNREACH
 * @return any other errno value of socket(), bind(), listen(), accept4() or connect() (#RDMAEZ_WHY_EXCHANGE_SOCKET)
 */
RDMAEZ_COLD int rdmaez_exchange_open(const char *host, const char *service, uint64_t timeout_ns,
				     int *socket, struct rdmaez_diag *diag);

/**
 * @brief Returns the peer's address as a GID, for `path.dgid` of the options that rdmaez_endpoint_local() takes.
 *
 * With it, rdmaez_endpoint_local() orders this end's GIDs by the route to the peer. The result is zero, "not known",
 * for a Unix socket and for a loopback address (127.0.0.0/8, ::1), because no RDMA device has such an address.
 *
 * @param socket a connected socket
 * @param peer receives the GID, IPv4-mapped for IPv4; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p peer is written
 * @retval EINVAL @p peer is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any errno value of getpeername(), such as ENOTCONN (#RDMAEZ_WHY_EXCHANGE_SOCKET)
 */
RDMAEZ_API int rdmaez_exchange_peer(int socket, union ibv_gid *peer, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/exchange.h"
#endif

#endif
