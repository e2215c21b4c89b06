/* SPDX-License-Identifier: MIT */
/**
 * @file handshake.h
 * @brief Exchange, connect and synchronise without waiting, so that one thread can serve many peers.
 *
 * Each function of exchange.h has a counterpart here. The counterpart begins the same exchange, and returns at once.
 * You hold a `struct rdmaez_handshake` for each peer, and call rdmaez_handshake_step() whenever poll() or epoll says
 * that its socket is ready. The messages are the same, so the peer may use either header.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * @code
 * #include <poll.h>
 * #include <rdmaez.h>
 * #include <rdmaez/handshake.h>
 *
 * struct client {
 *         struct rdmaez_handshake shake;
 *         struct ibv_qp *qp;
 * };
 *
 * // When the listener is readable.
 * int admit(int listener, struct client *client, const struct rdmaez_endpoint *port, struct pollfd *at,
 *           struct rdmaez_diag *diag)
 * {
 *         int error = rdmaez_handshake_accept(listener, &at->fd, diag);
 *
 *         if (!error && at->fd >= 0)
 *                 error = rdmaez_handshake_connect(&client->shake, at->fd, client->qp, port, NULL, diag);
 *         at->events = (short)client->shake.wants;
 *         return error;
 * }
 *
 * // When the client's socket is ready. Once `events` is 0, it is connected.
 * int go_on(struct client *client, struct pollfd *at, struct rdmaez_diag *diag)
 * {
 *         const int error = rdmaez_handshake_step(&client->shake, diag);
 *
 *         at->events = (short)client->shake.wants;
 *         return error;
 * }
 * @endcode
 *
 * @par Without a socket
 * The bytes may travel over any stream that you have. Begin with a socket of -1, send the bytes that
 * rdmaez_handshake_take() gives you, and pass the bytes that arrive to rdmaez_handshake_give().
 *
 * @par Deadlines
 * A handshake never times out, so keep the deadline yourself. When you have waited long enough, call
 * rdmaez_handshake_late(), which says what was missing.
 *
 * @par What may block
 * Only the three ibv_modify_qp() that connect, between the exchange and the barrier, may block. On RoCE the kernel
 * looks up the Ethernet address of a peer that it does not know yet, which takes up to a second. It tries once:
 * `opts->qp->retry_ns` counts as 0.
 *
 * @par Failures
 * A function returns the errno value, and `wants` says whether anything is left to do. If `wants` is not 0, the peer
 * does not know yet that this end has failed. You can go on stepping until it is 0, and both ends are then in step. Or
 * you can close the socket: what could be sent at once has been sent. After a failure every call returns the same errno
 * value, and leaves its record as it is.
 *
 * @par Memory
 * Nothing is allocated. A handshake has at most 2048 bytes. It points into itself, so do not move it until it is over.
 *
 * @par Cost
 * A step makes one send() and one recv(). As long as bytes move, it repeats the pair, at most 64 times, so that no peer
 * keeps the others waiting. It needs a level-triggered poll() or epoll, without EPOLLET. A handshake that meets no
 * delay takes three steps.
 *
 * @par Threads
 * May be called from any thread. Only one thread at a time may use a handshake or a socket.
 * @par Verbs calls
 * Those of rdmaez_exchange_connect(), by rdmaez_handshake_connect() and by the step that connects. The others make
 * none.
 * @par Sources
 * send(2), recv(2) and accept(2) of Linux; for what may block ib_resolve_eth_dmac() in its
 * drivers/infiniband/core/verbs.c.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_HANDSHAKE_H
#define RDMAEZ_HANDSHAKE_H

#ifndef RDMAEZ_EXCHANGE_H
#include "exchange.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief What a handshake waits for; bits of rdmaez_handshake.wants, with the values of POLLIN and POLLOUT. */
enum rdmaez_handshake_wants {
	RDMAEZ_HANDSHAKE_READ = 1, /**< bytes of the peer: POLLIN, EPOLLIN */
	RDMAEZ_HANDSHAKE_WRITE = 4 /**< that bytes can be sent: POLLOUT, EPOLLOUT */
};

/** @brief A handshake with one peer, between two steps. One of the three functions below begins it. */
struct rdmaez_handshake {
	int wants; /**< what it waits for, bits of #rdmaez_handshake_wants; 0: it is over */
	int error; /**< why it has failed, an errno value; 0: it has not */
	struct rdmaez_endpoint
		remote; /**< of rdmaez_handshake_connect(): the peer's endpoint, once it is over */
	struct rdmaez_endpoint local;            /**< and this end's own */
	struct rdmaez_qp_opts opts;              /**< its own */
	uint8_t bytes[2][RDMAEZ_ENDPOINT_BYTES]; /**< its own */
	uint64_t own[24];                        /**< its own */
};

/* ---- Beginning ------------------------------------------------------------------------------- */

/**
 * @brief Begins rdmaez_exchange_many(): to send and receive endpoints, without connecting.
 *
 * @param shake the handshake; what was in it is lost
 * @param socket a connected stream socket, blocking or not; -1: you give and take the bytes
 * @param list what to send, and where to put what comes; keep its arrays where they are until the handshake is over
 * @param diag receives the explanation; may be NULL
 * @retval 0 it has begun; nothing was sent yet
 * @retval EINVAL as rdmaez_exchange_many()
 */
RDMAEZ_API int rdmaez_handshake_exchange(struct rdmaez_handshake *shake, int socket,
					 const struct rdmaez_exchange_list *list,
					 struct rdmaez_diag *diag);

/**
 * @brief Begins rdmaez_exchange_barrier(): neither end goes on before the other is there.
 *
 * @param shake the handshake; what was in it is lost
 * @param socket a connected stream socket, blocking or not; -1: you give and take the bytes
 * @param ready what to tell the peer; NULL: that this end is ready
 * @param diag receives the explanation; may be NULL
 * @retval 0 it has begun; nothing was sent yet
 * @retval EINVAL as rdmaez_exchange_barrier(), or @p shake is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 */
RDMAEZ_API int rdmaez_handshake_barrier(struct rdmaez_handshake *shake, int socket,
					const struct rdmaez_exchange_ready *ready,
					struct rdmaez_diag *diag);

/**
 * @brief Begins rdmaez_exchange_connect(): exchange, connect and barrier.
 *
 * It fills this end's endpoint now. If that fails, `wants` is not 0, because the peer has not been told yet; see
 * "Failures" above.
 *
 * @param shake the handshake; what was in it is lost
 * @param socket a connected stream socket, blocking or not; -1: you give and take the bytes, and `opts->qp->path.dgid`
 *         is the only known address of the peer
 * @param qp the queue pair; keep it until the handshake is over
 * @param local as for rdmaez_exchange_connect(); NULL: this call fills one. It is copied
 * @param opts as for rdmaez_exchange_connect(); `timeout_ns` is not used; NULL: all defaults. They are copied, together
 *         with the options that `opts->qp` points to, but not what those point to
 * @param diag receives the explanation; may be NULL
 * @retval 0 it has begun; nothing was sent yet
 * @return an errno value of rdmaez_exchange_peer(), rdmaez_endpoint_local() or rdmaez_endpoint_set_qp(); EINVAL also for
 *         a NULL argument, and for an endpoint that cannot be packed (#RDMAEZ_WHY_EXCHANGE_LOCAL)
 */
RDMAEZ_API int rdmaez_handshake_connect(struct rdmaez_handshake *shake, int socket,
					struct ibv_qp *qp, const struct rdmaez_endpoint *local,
					const struct rdmaez_exchange_opts *opts,
					struct rdmaez_diag *diag);

/* ---- Going on -------------------------------------------------------------------------------- */

/**
 * @brief Sends and receives what the socket allows now, and takes the next step. Call it when the socket is ready.
 *
 * It never waits for the peer, whether the socket is blocking or not. It does not raise SIGPIPE. A signal costs at most
 * another step. When the handshake is over it does nothing.
 *
 * @param shake the handshake, begun with a socket
 * @param diag receives the explanation; may be NULL
 * @retval 0 all is well: `shake->wants` says what to wait for; 0: the handshake is done
 * @return what the blocking function returns, except for ETIMEDOUT of a deadline; EBADF for a socket of -1
 */
RDMAEZ_API int rdmaez_handshake_step(struct rdmaez_handshake *shake, struct rdmaez_diag *diag);

/**
 * @brief Takes bytes that have arrived from the peer, and takes the next step.
 *
 * It takes bytes only while `wants` has #RDMAEZ_HANDSHAKE_READ. Keep the bytes that it did not take, and give them
 * again after rdmaez_handshake_take(). Bytes that are left when the handshake is over belong to you.
 *
 * @param shake the handshake
 * @param bytes the bytes that arrived; may be NULL if @p count is 0
 * @param count how many bytes
 * @param taken receives how many of them it has taken, even after a failure
 * @param diag receives the explanation; may be NULL
 * @return as rdmaez_handshake_step(); EINVAL also for a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 */
RDMAEZ_COLD int rdmaez_handshake_give(struct rdmaez_handshake *shake, const void *bytes,
				      size_t count, size_t *taken, struct rdmaez_diag *diag);

/**
 * @brief Gives you bytes to send to the peer, and takes the next step.
 *
 * @param shake the handshake
 * @param buf receives the bytes; may be NULL if @p size is 0
 * @param size room in @p buf
 * @param count receives how many bytes there are, even after a failure; 0: none now
 * @param diag receives the explanation; may be NULL
 * @return as rdmaez_handshake_step(); EINVAL also for a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 */
RDMAEZ_COLD int rdmaez_handshake_take(struct rdmaez_handshake *shake, void *buf, size_t size,
				      size_t *count, struct rdmaez_diag *diag);

/**
 * @brief Ends a handshake that has taken too long, or whose stream has ended, and says what was missing.
 *
 * @param shake the handshake
 * @param diag receives the explanation; may be NULL
 * @retval ETIMEDOUT nothing arrived (#RDMAEZ_WHY_EXCHANGE_SILENT), or not everything (#RDMAEZ_WHY_EXCHANGE_PART), or
 *         the peer does not read (#RDMAEZ_WHY_EXCHANGE_UNREAD). Over TCP also what rdmaez_exchange() says about its
 *         host
 * @retval 0 it was done already
 * @return the errno value with which it had failed already
 */
RDMAEZ_API int rdmaez_handshake_late(struct rdmaez_handshake *shake, struct rdmaez_diag *diag);

/* ---- Peers that come ------------------------------------------------------------------------- */

/**
 * @brief Listens for peers, over IPv6 and IPv4, as rdmaez_exchange_open() does for one.
 *
 * The socket does not block and is closed by exec(). As many peers may wait as the system allows (SOMAXCONN).
 *
 * @param service a TCP port, 1 to 65535, or the name of a service
 * @param listener receives the socket, which you close; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p listener listens: wait until it is readable
 * @retval EINVAL a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT), no such TCP port (#RDMAEZ_WHY_RANGE) or service
 *         (#RDMAEZ_WHY_OPEN_SERVICE)
 * @retval EADDRINUSE another socket listens there (#RDMAEZ_WHY_OPEN_IN_USE)
 * @return any other errno value of getaddrinfo(), socket(), bind() or listen()
 */
RDMAEZ_COLD int rdmaez_handshake_listen(const char *service, int *listener,
					struct rdmaez_diag *diag);

/**
 * @brief Accepts one peer, if there is one, and never waits.
 *
 * The peer's socket does not block either, has TCP_NODELAY, and is closed by exec(). If the process or the system is
 * out of descriptors (EMFILE, ENFILE), the peer keeps waiting, and the listener stays readable.
 *
 * @param listener from rdmaez_handshake_listen(), or another listening stream socket that does not block
 * @param socket receives the peer's, which you close, or -1: there is none; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p socket is written
 * @retval EINVAL @p socket is NULL (#RDMAEZ_WHY_NULL_ARGUMENT), or the listener does not listen
 * @return any other errno value of accept4(), such as EMFILE (#RDMAEZ_WHY_EXCHANGE_SOCKET)
 */
RDMAEZ_COLD int rdmaez_handshake_accept(int listener, int *socket, struct rdmaez_diag *diag);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/handshake.h"
#endif

#endif
