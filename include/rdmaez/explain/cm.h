/* SPDX-License-Identifier: MIT */
/*
 * Says what librdmacm's errno values and statuses mean. The kernel's part is from
 * drivers/infiniband/core/{cma,cm,ucma,addr,iwcm}.c of Linux 6.1 to 7.2, and the library's from
 * librdmacm/{cma,addrinfo}.c of rdma-core 44 to 65. rdmaez-explain uses the same rows. Nothing here
 * needs a header of librdmacm.
 */
#ifndef RDMAEZ_EXPLAIN_CM_H
#define RDMAEZ_EXPLAIN_CM_H

#include <sys/socket.h>
#include <unistd.h>

#ifndef RDMAEZ_IMPL_CM_ROW_H
#include "../impl/cm_row.h"
#endif

RDMAEZ_IMPL_BEGIN

#define RDMAEZ_IMPL_CM_ROW(of, status, sure, why, id, field, what, next) \
	{of, status, sure, why, id, field, what "\0" next}
#define RDMAEZ_IMPL_CM_CALL(verb, error, sure, why, id, field, what, next) \
	RDMAEZ_IMPL_CM_ROW("rdma_" verb, error, sure, why, id, field, what, next)
/*
 * Statuses are negative errno values, or positive reasons of the InfiniBand connection manager,
 * which RoCE uses as well.
 */
#define RDMAEZ_IMPL_CM_EVENT(event, status, sure, why, id, what, next) \
	RDMAEZ_IMPL_CM_ROW("RDMA_CM_EVENT_" event, status, sure, why, id, "status", what, next)

#define RDMAEZ_IMPL_CM_NO_NODE(verb)                                                              \
	RDMAEZ_IMPL_CM_CALL(verb, ENOENT, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_NODE, "CM_NO_NODE", \
			    "/dev/infiniband/rdma_cm", "the device node does not exist",          \
			    "load the module rdma_ucm; give a container the node"),               \
		RDMAEZ_IMPL_CM_CALL(verb, ENXIO, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_NODE,        \
				    "CM_NO_NODE", "/dev/infiniband/rdma_cm",                      \
				    "the device node leads to no device",                         \
				    "load the module rdma_ucm"),                                  \
		RDMAEZ_IMPL_CM_CALL(verb, EACCES, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_NODE,       \
				    "CM_NODE_DENIED", "/dev/infiniband/rdma_cm",                  \
				    "this user may not open the device node",                     \
				    "give the user's group, or everybody, read and write access " \
				    "with a udev rule"),                                          \
		RDMAEZ_IMPL_CM_CALL(                                                              \
			verb, EPERM, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_NODE, "CM_NODE_DENIED", \
			"/dev/infiniband/rdma_cm",                                                \
			"a container's device rules forbid the device node, or the kernel's "     \
			"rdma_ucm and this "                                                      \
			"librdmacm have no ABI version in common",                                \
			"allow the node in the container; else install the rdma-core that fits "  \
			"the "                                                                    \
			"kernel"),                                                                \
		RDMAEZ_IMPL_CM_CALL(verb, ENODEV, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_NODE,       \
				    "CM_NO_DEVICE", "device list", "there is no RDMA device",     \
				    "run rdmaez-doctor, which tells why there is none"),          \
		RDMAEZ_IMPL_CM_CALL(verb, EMFILE, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_NODE,       \
				    "CM_NO_FILES", "event channel",                               \
				    "the process has no file descriptor left for an event "       \
				    "channel; an id created without a channel opens its own",     \
				    "raise `ulimit -n`, or let the ids share a channel")

#define RDMAEZ_IMPL_CM_NOT_IN_STATE(verb, what, next)                                          \
	RDMAEZ_IMPL_CM_CALL(verb, EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_STATE, "CM_STATE", \
			    "id", what, next)

#define RDMAEZ_IMPL_CM_DEPTHS(verb)                                                               \
	RDMAEZ_IMPL_CM_CALL(verb, RDMAEZ_IMPL_CM_IS_RESOURCES, RDMAEZ_DIAG_ERROR,                 \
			    RDMAEZ_WHY_CM_DEPTH, "CM_RESPONDER_RESOURCES",                        \
			    "conn_param->responder_resources",                                    \
			    "this is more than the device's max_qp_rd_atom", "use at most that"), \
		RDMAEZ_IMPL_CM_CALL(                                                              \
			verb, RDMAEZ_IMPL_CM_IS_DEPTH, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_DEPTH,    \
			"CM_INITIATOR_DEPTH", "conn_param->initiator_depth",                      \
			"this is more than the device's max_qp_init_rd_atom", "use at most that")

#define RDMAEZ_IMPL_CM_PRIVATE_DATA(verb, field, message)                            \
	RDMAEZ_IMPL_CM_CALL(verb, RDMAEZ_IMPL_CM_IS_PRIVATE_DATA, RDMAEZ_DIAG_ERROR, \
			    RDMAEZ_WHY_CM_PRIVATE_DATA, "CM_PRIVATE_DATA", field,    \
			    "the private data do not fit into the " message,         \
			    "send the rest in a first message once the connection is up")

/* Never returns NULL for a call. For an event it does if there is nothing to say. */
RDMAEZ_SEAM const struct rdmaez_impl_cm_row *rdmaez_impl_cm_find(const char *of, int status)
{
	static const struct rdmaez_impl_cm_row rows[] = {
		/* ---- Calls: the errno value, or a number of ours where the arguments tell more ---------------- */

		RDMAEZ_IMPL_CM_NO_NODE("create_event_channel"),
		RDMAEZ_IMPL_CM_NO_NODE("create_id"),
		RDMAEZ_IMPL_CM_CALL("create_id", ENOMEM, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_NODE,
				    "CM_NO_NODE", "/dev/infiniband/rdma_cm",
				    "an id without a channel opens one of its own, and that failed",
				    "check that the node exists, that this user may open it, and "
				    "that `ulimit -n` is not "
				    "reached"),
		RDMAEZ_IMPL_CM_CALL("create_id", EINVAL, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_ADDRESS,
				    "CM_PORT_SPACE", "ps", "the kernel has no such port space",
				    "use RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB or RDMA_PS_IPOIB"),
		RDMAEZ_IMPL_CM_NO_NODE("create_ep"),
		RDMAEZ_IMPL_CM_CALL("create_ep", ENOMEM, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_NODE,
				    "CM_NO_NODE", "/dev/infiniband/rdma_cm",
				    "the new id opens an event channel of its own, and that failed",
				    "check that the node exists, that this user may open it, and "
				    "that `ulimit -n` is not "
				    "reached"),
		RDMAEZ_IMPL_CM_NO_NODE("get_devices"),
		RDMAEZ_IMPL_CM_NO_NODE("getaddrinfo"),

		RDMAEZ_IMPL_CM_CALL("bind_addr", EADDRNOTAVAIL, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_NO_ADDRESS", "addr",
				    "no interface of this host has this address",
				    "bind to an address of an RDMA interface: `rdmaez-doctor "
				    "--gids` lists them"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", RDMAEZ_IMPL_CM_IS_PORT_TAKEN, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_PORT_TAKEN, "CM_PORT_TAKEN", "addr",
				    "another id holds this port, on all addresses or on one",
				    "use another port, end the other program (`rdma resource show "
				    "cm_id` names it), or "
				    "set RDMA_OPTION_ID_REUSEADDR on both"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", EADDRINUSE, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_PORT_TAKEN, "CM_PORT_TAKEN", "addr",
				    "another id is bound to this address and port",
				    "use another port, end the other program (`rdma resource show "
				    "cm_id` names it), or "
				    "set RDMA_OPTION_ID_REUSEADDR on both"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", ENODEV, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_ADDRESS,
				    "CM_ADDRESS_NOT_RDMA", "addr",
				    "the interface with this address has no RDMA device, or the "
				    "device has no GID for the address",
				    "bind to an address of an RDMA interface: `rdmaez-doctor "
				    "--gids` lists them"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", EACCES, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_ADDRESS,
				    "CM_PORT_PRIVILEGED", "addr",
				    "ports below 1024 need CAP_NET_BIND_SERVICE",
				    "use port 1024 or above"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", EPROTONOSUPPORT, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_PORT_SPACE", "addr",
				    "the AF_IB address names a service outside the id's port space",
				    "set sib_sid to the service of the id's port space"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", EAFNOSUPPORT, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_FAMILY", "addr",
				    "rdma_cm does not accept addresses of this family",
				    "use AF_INET, AF_INET6 or AF_IB"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", RDMAEZ_IMPL_CM_IS_FAMILY, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_FAMILY", "addr",
				    "rdma_cm does not accept addresses of this family",
				    "use AF_INET, AF_INET6 or, with a device for it, AF_IB"),
		RDMAEZ_IMPL_CM_CALL("bind_addr", RDMAEZ_IMPL_CM_IS_SCOPE, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_SCOPE", "addr",
				    "a link-local address does not tell which interface it is on",
				    "set sin6_scope_id to the interface's index"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"bind_addr", "an id can be bound only once, and this one is bound already",
			"create another id"),

		RDMAEZ_IMPL_CM_CALL("resolve_addr", ENETUNREACH, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_NO_ROUTE, "CM_NO_ROUTE", "dst_addr",
				    "this host has no route to that address",
				    "see `ip route get ADDRESS`; add a route, or use the peer's "
				    "address on the RDMA "
				    "network"),
		RDMAEZ_IMPL_CM_CALL("resolve_addr", EHOSTUNREACH, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_NO_ROUTE, "CM_NO_ROUTE", "dst_addr",
				    "the route to that address forbids reaching it",
				    "see `ip route get ADDRESS`"),
		RDMAEZ_IMPL_CM_CALL(
			"resolve_addr", EACCES, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_ROUTE,
			"CM_NO_ROUTE", "dst_addr",
			"this is a broadcast address, or a route prohibits sending to it",
			"see `ip route get ADDRESS`"),
		RDMAEZ_IMPL_CM_CALL("resolve_addr", EAFNOSUPPORT, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_NO_ROUTE, "CM_NO_IPV6", "dst_addr",
				    "IPv6 is off in this kernel: ipv6.disable=1, or its module is "
				    "not loaded",
				    "use the peer's IPv4 address, or turn IPv6 on"),
		RDMAEZ_IMPL_CM_CALL("resolve_addr", EADDRNOTAVAIL, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_NO_ADDRESS", "src_addr",
				    "no interface of this host has the source address",
				    "leave src_addr NULL, or name an address of an RDMA interface: "
				    "`rdmaez-doctor --gids` "
				    "lists them"),
		RDMAEZ_IMPL_CM_CALL(
			"resolve_addr", ENODEV, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_ROUTE,
			"CM_ROUTE_NOT_RDMA", "dst_addr",
			"the route to that address starts at an interface that has no RDMA device, "
			"or whose device has no GID for the source address",
			"use the peer's address on the RDMA network; `ip route get ADDRESS` shows "
			"the interface, and `rdmaez-doctor --gids` those that would do"),
		RDMAEZ_IMPL_CM_CALL("resolve_addr", RDMAEZ_IMPL_CM_IS_FAMILIES, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_FAMILY", "src_addr",
				    "source and destination are of different families",
				    "use two IPv4 or two IPv6 addresses"),
		RDMAEZ_IMPL_CM_CALL("resolve_addr", RDMAEZ_IMPL_CM_IS_FAMILY, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_FAMILY", "dst_addr",
				    "rdma_cm does not accept addresses of this family",
				    "use AF_INET, AF_INET6 or, with a device for it, AF_IB"),
		RDMAEZ_IMPL_CM_CALL("resolve_addr", RDMAEZ_IMPL_CM_IS_SCOPE, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_SCOPE", "dst_addr",
				    "a link-local address does not tell which interface it is on",
				    "set sin6_scope_id to the interface's index"),
		RDMAEZ_IMPL_CM_CALL("resolve_addr", RDMAEZ_IMPL_CM_IS_BLACKHOLE, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_NO_ROUTE, "CM_NO_ROUTE", "dst_addr",
				    "the route to that address is of type blackhole",
				    "see `ip route show type blackhole`, for IPv6 with -6; remove "
				    "the route, or use the peer's address on the RDMA network"),
		/* cma_resolve_loopback() takes the first active port, and asks for its P_Key. */
		RDMAEZ_IMPL_CM_CALL("resolve_addr", RDMAEZ_IMPL_CM_IS_LOOPBACK, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_LOOPBACK", "dst_addr",
				    "rdma_cm passes a loopback address to the first device of this "
				    "host, and a device of iWARP takes none",
				    "use the address of an RDMA interface, for a peer on this host "
				    "too: `rdmaez-doctor --only port` names the interfaces"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"resolve_addr",
			"the id is resolved or connected already, or is bound to an address of "
			"another family",
			"resolve each id once, and call nothing but rdma_bind_addr() before"),

		RDMAEZ_IMPL_CM_CALL("resolve_route", RDMAEZ_IMPL_CM_IS_TIMEOUT_ZERO,
				    RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_ARGUMENT, "CM_TIMEOUT_ZERO",
				    "timeout_ms", "the timeout is 0", "use 2000 ms"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"resolve_route",
			"the id's address is not resolved yet, or its route already is",
			"wait for RDMA_CM_EVENT_ADDR_RESOLVED, then call it once"),
		RDMAEZ_IMPL_CM_CALL("resolve_route", ENODEV, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_ADDRESS_NOT_RDMA", "id",
				    "the id's own address is on an interface without an RDMA "
				    "device, such as 127.0.0.1 on "
				    "lo, or the interface is down",
				    "use the address of an RDMA interface, for a peer on this host "
				    "too: `rdmaez-doctor "
				    "--gids` lists them"),

		RDMAEZ_IMPL_CM_CALL("listen", EADDRINUSE, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_PORT_TAKEN, "CM_PORT_TAKEN", "id",
				    "another id listens on this address and port",
				    "use another port, or end the other program: `rdma resource "
				    "show cm_id` names it"),
		RDMAEZ_IMPL_CM_CALL("listen", EADDRNOTAVAIL, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_PORT_TAKEN, "CM_PORT_TAKEN", "id",
				    "another id holds this port, on all addresses or on one",
				    "use another port, or end the other program: `rdma resource "
				    "show cm_id` names it"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE("listen",
					    "the id is listening already, or is used to connect",
					    "listen once, with an id of its own"),
		RDMAEZ_IMPL_CM_CALL("listen", ENOSYS, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_UNSUPPORTED,
				    "CM_NO_MANAGER", "id",
				    "the device's transport has no connection manager",
				    "connect the queue pair without librdmacm"),

		RDMAEZ_IMPL_CM_PRIVATE_DATA(
			"connect", "conn_param->private_data_len",
			"request: it holds 92 bytes, of which rdma_cm uses 36 except with AF_IB, "
			"and 216 for the lookup of a datagram service"),
		RDMAEZ_IMPL_CM_DEPTHS("connect"),
		RDMAEZ_IMPL_CM_CALL(
			"connect", RDMAEZ_IMPL_CM_IS_NO_PARAM, RDMAEZ_DIAG_ERROR,
			RDMAEZ_WHY_CM_ARGUMENT, "CM_NO_QP_NUMBER", "conn_param",
			"the id has no queue pair, so conn_param must give the number of one",
			"create one with rdma_create_qp(), or pass conn_param with qp_num"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"connect",
			"the id's route is not resolved yet, or it is connecting already",
			"wait for RDMA_CM_EVENT_ROUTE_RESOLVED, then connect once; do not use a "
			"refused id again"),
		RDMAEZ_IMPL_CM_CALL("connect", ENOSYS, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_UNSUPPORTED,
				    "CM_NO_MANAGER", "id",
				    "the device's transport has no connection manager",
				    "connect the queue pair without librdmacm"),
		RDMAEZ_IMPL_CM_CALL(
			"connect", ECONNREFUSED, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_LISTENER,
			"CM_NO_LISTENER", "id", "nobody listens on the port at that address",
			"start the server first, and compare address, port and port space"),
		RDMAEZ_IMPL_CM_CALL("connect", EHOSTUNREACH, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_NO_ROUTE, "CM_NO_ROUTE", "id",
				    "this host has no route to that address",
				    "see `ip route get ADDRESS`"),

		RDMAEZ_IMPL_CM_PRIVATE_DATA("accept", "conn_param->private_data_len",
					    "reply: it holds 196 bytes, 136 for a datagram "
					    "service, and with iWARP as many as an MPA frame"),
		RDMAEZ_IMPL_CM_DEPTHS("accept"),
		RDMAEZ_IMPL_CM_CALL("accept", RDMAEZ_IMPL_CM_IS_LISTENER, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_LISTENER", "id",
				    "this id listens, and has no request of its own",
				    "accept on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST"),
		RDMAEZ_IMPL_CM_CALL(
			"accept", RDMAEZ_IMPL_CM_IS_NO_PARAM, RDMAEZ_DIAG_ERROR,
			RDMAEZ_WHY_CM_ARGUMENT, "CM_NO_QP_NUMBER", "conn_param",
			"the id has no queue pair, so conn_param must give the number of one",
			"create one with rdma_create_qp(), or pass conn_param with qp_num"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"accept",
			"the request is no longer open: it was accepted or rejected, or the peer "
			"has given up",
			"accept once, on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST, within "
			"seconds"),

		RDMAEZ_IMPL_CM_PRIVATE_DATA(
			"reject", "private_data_len",
			"rejection: it holds 148 bytes, and 136 for a datagram service"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"reject",
			"the id has no open request: it was answered, or the peer has given up",
			"reject once, on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"reject_ece",
			"the id has no open request: it was answered, or the peer has given up",
			"reject once, on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST"),
		RDMAEZ_IMPL_CM_CALL(
			"establish", RDMAEZ_IMPL_CM_IS_HAS_QP, RDMAEZ_DIAG_ERROR,
			RDMAEZ_WHY_CM_STATE, "CM_HAS_QP", "id->qp",
			"librdmacm moves the queue pair of this id itself",
			"use rdma_establish() only if you did not use rdma_create_qp()"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE("establish", "no reply from the peer is waiting",
					    "call it after RDMA_CM_EVENT_CONNECT_RESPONSE"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"disconnect", "the id never began to connect",
			"disconnect what rdma_connect() or rdma_accept() connected"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE("notify",
					    "the id has no connection, or is not waiting for one",
					    "pass on only IBV_EVENT_COMM_EST, between "
					    "rdma_accept() and RDMA_CM_EVENT_ESTABLISHED"),
		RDMAEZ_IMPL_CM_CALL("notify", EISCONN, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_STATE,
				    "CM_CONNECTED", "id", "the connection is established already",
				    "ignore this"),

		RDMAEZ_IMPL_CM_CALL("create_qp", RDMAEZ_IMPL_CM_IS_HAS_QP, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_HAS_QP", "id->qp",
				    "the id has a queue pair already",
				    "destroy that one first, with rdma_destroy_qp()"),
		RDMAEZ_IMPL_CM_CALL("create_qp", RDMAEZ_IMPL_CM_IS_NO_DEVICE, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_UNBOUND", "id->verbs",
				    "the id is not bound to a device yet",
				    "wait for RDMA_CM_EVENT_ADDR_RESOLVED, or bind to an address "
				    "of an RDMA interface"),
		RDMAEZ_IMPL_CM_CALL("create_qp", RDMAEZ_IMPL_CM_IS_OTHER_PD, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ARGUMENT, "CM_OTHER_DEVICE", "pd",
				    "the protection domain belongs to another device than the "
				    "id's, or to another context of that device",
				    "allocate it with id->verbs, or pass NULL"),
		RDMAEZ_IMPL_CM_CALL("create_qp", EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_ARGUMENT,
				    "CM_OTHER_CQ", "qp_init_attr",
				    "the id has completion queues of its own, and you named others",
				    "leave send_cq and recv_cq NULL, or name the id's"),
		RDMAEZ_IMPL_CM_CALL("create_qp_ex", RDMAEZ_IMPL_CM_IS_HAS_QP, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_HAS_QP", "id->qp",
				    "the id has a queue pair already",
				    "destroy that one first, with rdma_destroy_qp()"),
		RDMAEZ_IMPL_CM_CALL("create_qp_ex", RDMAEZ_IMPL_CM_IS_OTHER_PD, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ARGUMENT, "CM_OTHER_DEVICE", "pd",
				    "the protection domain belongs to another device than the "
				    "id's, or to another context of that device",
				    "allocate it with id->verbs, or leave it out"),

		RDMAEZ_IMPL_CM_CALL("join_multicast", RDMAEZ_IMPL_CM_IS_NOT_UD, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ARGUMENT, "CM_NOT_UD", "id",
				    "only an id of RDMA_PS_UDP or RDMA_PS_IPOIB joins groups",
				    "create the id in RDMA_PS_UDP"),
		RDMAEZ_IMPL_CM_CALL("join_multicast", RDMAEZ_IMPL_CM_IS_NO_DEVICE,
				    RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_STATE, "CM_UNBOUND",
				    "id->verbs", "the id is not bound to a device yet",
				    "bind it to the address of an RDMA interface, or resolve the "
				    "group's address first"),
		RDMAEZ_IMPL_CM_CALL("join_multicast", RDMAEZ_IMPL_CM_IS_FAMILY, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_FAMILY", "addr",
				    "rdma_cm does not accept addresses of this family",
				    "use AF_INET, AF_INET6 or, with a device for it, AF_IB"),
		RDMAEZ_IMPL_CM_CALL("join_multicast", 524, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_MULTICAST, "CM_GROUP_IPV6", "addr",
				    "Linux does not join IPv6 groups over RoCE v2",
				    "use an IPv4 group"),
		RDMAEZ_IMPL_CM_CALL("join_multicast", ENOSYS, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_UNSUPPORTED, "CM_NO_MULTICAST", "id",
				    "the device's transport, iWARP, has no multicast",
				    "send to each peer"),
		RDMAEZ_IMPL_CM_CALL(
			"join_multicast", EADDRNOTAVAIL, RDMAEZ_DIAG_LIKELY,
			RDMAEZ_WHY_CM_MULTICAST, "CM_GROUP_UNKNOWN", "id",
			"the subnet manager does not know the interface's broadcast group",
			"check that the IPoIB interface is up and that a subnet manager runs"),
		RDMAEZ_IMPL_CM_CALL("join_multicast", ENODEV, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_NO_INTERFACE", "id",
				    "the network interface of the id's address is gone",
				    "bind to an address of an interface that is up"),
		RDMAEZ_IMPL_CM_NOT_IN_STATE(
			"join_multicast",
			"the id is neither just bound nor just resolved, or the address is zero",
			"join before rdma_connect(), with the group's address"),
		RDMAEZ_IMPL_CM_CALL("leave_multicast", EADDRNOTAVAIL, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_MULTICAST, "CM_NOT_JOINED", "addr",
				    "the id has not joined this group",
				    "pass the address that it has joined"),

		RDMAEZ_IMPL_CM_CALL("get_request", RDMAEZ_IMPL_CM_IS_HAS_CHANNEL, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_HAS_CHANNEL", "listen",
				    "this id was created with an event channel",
				    "wait for RDMA_CM_EVENT_CONNECT_REQUEST on the channel, or "
				    "create the id without one"),
		RDMAEZ_IMPL_CM_CALL("get_request", EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_STATE,
				    "CM_OTHER_EVENT", "listen->event",
				    "the next event was not a connection request",
				    "look at listen->event, and ask again"),
		RDMAEZ_IMPL_CM_CALL("migrate_id", EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_STATE,
				    "CM_OTHER_CHANNEL", "channel",
				    "the id has an event channel of its own already, or librdmacm "
				    "did not create this channel",
				    "migrate to a channel from rdma_create_event_channel()"),
		RDMAEZ_IMPL_CM_CALL("set_option", ENOSYS, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_ARGUMENT,
				    "CM_OPTION", "optname", "this kernel does not know the option",
				    "leave it out, or use a newer kernel"),
		RDMAEZ_IMPL_CM_CALL(
			"set_option", EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_ARGUMENT,
			"CM_OPTION", "optval",
			"the option's length is wrong, or it comes too late: most must be set "
			"before rdma_bind_addr() and rdma_listen()",
			"set it right after rdma_create_id(), with the length of its type"),
		RDMAEZ_IMPL_CM_CALL("init_qp_attr", EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_STATE,
				    "CM_STATE", "qp_attr->qp_state",
				    "the id knows the attributes for INIT once it has a device, "
				    "and those for RTR and RTS once the peer has answered",
				    "set qp_state to INIT, RTR or RTS, in the order of the "
				    "connection's events"),
		RDMAEZ_IMPL_CM_CALL("set_local_ece", EINVAL, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_STATE, "CM_HAS_QP", "id->qp",
				    "librdmacm handles the ECE of its own queue pairs; for others "
				    "vendor_id must be set, and comp_mask must be 0",
				    "use it only if you did not use rdma_create_qp()"),
		RDMAEZ_IMPL_CM_CALL("get_remote_ece", EINVAL, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_STATE, "CM_HAS_QP", "id->qp",
				    "librdmacm handles the ECE of its own queue pairs",
				    "use it only if you did not use rdma_create_qp()"),
		RDMAEZ_IMPL_CM_CALL("create_srq", EINVAL, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_ARGUMENT, "CM_OTHER_DEVICE", "pd",
				    "the protection domain may be another device's",
				    "allocate it with id->verbs, or pass NULL"),
		RDMAEZ_IMPL_CM_CALL("create_srq_ex", EINVAL, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_CM_ARGUMENT, "CM_SRQ_TYPE", "attr->comp_mask",
				    "IBV_SRQ_INIT_ATTR_TYPE must be set",
				    "set srq_type and its bit"),
		RDMAEZ_IMPL_CM_CALL("destroy_id", RDMAEZ_IMPL_CM_IS_NOT_OURS, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_OTHER_CHANNEL", "id",
				    "the kernel does not know this id: it was destroyed already, "
				    "or created by a parent "
				    "process",
				    "destroy each id once, in the process that created it"),

		RDMAEZ_IMPL_CM_CALL(
			"getaddrinfo", RDMAEZ_IMPL_CM_IS_EAI - 2, RDMAEZ_DIAG_ERROR,
			RDMAEZ_WHY_OPEN_NAME, "CM_NAME", "node",
			"the name or the service is not known (EAI_NONAME)",
			"see `getent hosts NAME`; with RAI_NUMERICHOST, pass an address"),
		RDMAEZ_IMPL_CM_CALL("getaddrinfo", RDMAEZ_IMPL_CM_IS_EAI - 3, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_OPEN_NAME, "CM_NAME", "node",
				    "the name server does not answer at the moment (EAI_AGAIN)",
				    "try again later, or pass an address"),
		RDMAEZ_IMPL_CM_CALL("getaddrinfo", RDMAEZ_IMPL_CM_IS_EAI - 4, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_OPEN_NAME, "CM_NAME", "node",
				    "the name server failed (EAI_FAIL)", "pass an address"),
		RDMAEZ_IMPL_CM_CALL("getaddrinfo", RDMAEZ_IMPL_CM_IS_EAI - 6, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ADDRESS, "CM_FAMILY", "hints->ai_family",
				    "rdma_cm does not accept addresses of this family (EAI_FAMILY)",
				    "use AF_INET, AF_INET6 or 0"),
		RDMAEZ_IMPL_CM_CALL(
			"getaddrinfo", RDMAEZ_IMPL_CM_IS_EAI - 8, RDMAEZ_DIAG_ERROR,
			RDMAEZ_WHY_OPEN_SERVICE, "CM_SERVICE", "service",
			"this service is not known for the hints' kind of socket (EAI_SERVICE)",
			"pass a port number"),
		RDMAEZ_IMPL_CM_CALL("getaddrinfo", RDMAEZ_IMPL_CM_IS_EAI, RDMAEZ_DIAG_LIKELY,
				    RDMAEZ_WHY_OPEN_NAME, "CM_NAME", "node",
				    "getaddrinfo() did not find the address",
				    "see `getent ahosts NAME`"),
		RDMAEZ_IMPL_CM_CALL("getaddrinfo", EINVAL, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_OPEN_NAME,
				    "CM_NAME", "node", "node, service and hints are all NULL",
				    "pass one of them"),
		RDMAEZ_IMPL_CM_CALL(
			"getaddrinfo", ENOENT, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_OPEN_SERVICE,
			"CM_SERVICE", "service", "the subnet manager knows no such service",
			"check that the service is registered, or pass a node without RAI_SA"),

		RDMAEZ_IMPL_CM_CALL("resolve_addrinfo", EBUSY, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_BUSY", "id",
				    "the id is looking for a name already",
				    "wait for RDMA_CM_EVENT_ADDRINFO_RESOLVED"),
		RDMAEZ_IMPL_CM_CALL("resolve_addrinfo", EOPNOTSUPP, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ARGUMENT, "CM_FLAGS", "hints->ai_flags",
				    "RAI_SA and RAI_DNS exclude each other, and RAI_SA takes a "
				    "service but no node",
				    "choose one of them"),
		RDMAEZ_IMPL_CM_CALL("query_addrinfo", ENOENT, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_STATE, "CM_STATE", "id",
				    "no name has been found for the id yet",
				    "wait for RDMA_CM_EVENT_ADDRINFO_RESOLVED"),
		RDMAEZ_IMPL_CM_CALL("write_cm_event", EINVAL, RDMAEZ_DIAG_ERROR,
				    RDMAEZ_WHY_CM_ARGUMENT, "CM_EVENT", "event",
				    "a program can write only RDMA_CM_EVENT_USER",
				    "write that one, and pass the rest in arg"),

		/* ---- Any call ---------------------------------------------------------------------------------- */

		RDMAEZ_IMPL_CM_ROW(NULL, RDMAEZ_IMPL_CM_IS_NOT_OURS, RDMAEZ_DIAG_LIKELY,
				   RDMAEZ_WHY_CM_STATE, "CM_OTHER_CHANNEL", "id",
				   "the kernel does not know this id: it was destroyed already, or "
				   "belongs to another "
				   "channel or process",
				   "use an id only until rdma_destroy_id(), and in the process "
				   "that created it"),
		RDMAEZ_IMPL_CM_ROW(NULL, EACCES, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_NODE,
				   "CM_CREDENTIALS", "id->channel",
				   "the process has changed its user or its rights since it opened "
				   "the event channel",
				   "open the channel after the change"),
		RDMAEZ_IMPL_CM_ROW(NULL, EMFILE, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_NODE,
				   "CM_NO_FILES", "event channel",
				   "the process has no file descriptor left for an event channel; "
				   "an id created without a channel opens its own",
				   "raise `ulimit -n`, or let the ids share a channel"),
		RDMAEZ_IMPL_CM_ROW(NULL, EBADF, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_NODE,
				   "CM_CHANNEL", "id->channel", "the event channel is closed",
				   "keep the channel open until all its ids are destroyed"),
		RDMAEZ_IMPL_CM_ROW(
			NULL, ENOMEM, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_UNEXPLAINED, "CM_MEMORY",
			"memory",
			"there is not enough memory, or the rdma cgroup's limit is reached",
			"free some; see rdma.max of the cgroup"),
		RDMAEZ_IMPL_CM_ROW(NULL, ENOSYS, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_UNSUPPORTED,
				   "CM_KERNEL", "kernel",
				   "this kernel, or the device's transport, cannot do this",
				   "see whether a newer kernel can"),
		RDMAEZ_IMPL_CM_ROW(
			NULL, EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_STATE, "CM_STATE", "id",
			"the id is not in a state for this call, or an argument is wrong",
			"compare the order of the calls with that in rdma_cm(7)"),
		RDMAEZ_IMPL_CM_ROW(NULL, RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
				   RDMAEZ_WHY_CM_UNEXPLAINED, "CM_UNEXPLAINED", "errno",
				   "librdmacm refused without giving a reason",
				   "see rdma_cm(7) and the kernel log"),

		/* ---- Events before the connection --------------------------------------------------------------- */

		RDMAEZ_IMPL_CM_EVENT("ADDR_ERROR", -ETIMEDOUT, RDMAEZ_DIAG_ERROR,
				     RDMAEZ_WHY_CM_NO_NEIGHBOUR, "CM_NO_NEIGHBOUR",
				     "nobody answered for that address, or its gateway, by ARP or "
				     "neighbour discovery "
				     "within the time given",
				     "ping the address from this interface; see `ip neighbour`, "
				     "and that the host is up "
				     "and on this network or VLAN"),
		RDMAEZ_IMPL_CM_EVENT(
			"ADDR_ERROR", -ENODEV, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_ROUTE,
			"CM_ROUTE_NOT_RDMA",
			"the route to that address starts at an interface that has no RDMA device, "
			"or whose device has no GID for the source address",
			"use the peer's address on the RDMA network; `ip route get ADDRESS` shows "
			"the interface, and `rdmaez-doctor --gids` those that would do"),
		RDMAEZ_IMPL_CM_EVENT("ADDR_ERROR", -ENETUNREACH, RDMAEZ_DIAG_ERROR,
				     RDMAEZ_WHY_CM_NO_ROUTE, "CM_NO_ROUTE",
				     "this host has no route to that address",
				     "see `ip route get ADDRESS`; add a route, or use the peer's "
				     "address on the RDMA "
				     "network"),
		RDMAEZ_IMPL_CM_EVENT("ADDR_ERROR", -EHOSTUNREACH, RDMAEZ_DIAG_ERROR,
				     RDMAEZ_WHY_CM_NO_ROUTE, "CM_NO_ROUTE",
				     "the host of that address cannot be reached",
				     "see `ip route get ADDRESS` and `ip neighbour`"),
		RDMAEZ_IMPL_CM_EVENT(
			"ADDR_ERROR", -1, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_NODE, "CM_OPEN",
			"librdmacm could not open the device that the kernel chose, or could not "
			"query its addresses",
			"check that /dev/infiniband/uverbsN exists, that this user may "
			"open it, and that the "
			"device's provider library is installed"),
		RDMAEZ_IMPL_CM_EVENT(
			"ADDR_ERROR", -EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_ADDRESS, "CM_QKEY",
			"you cannot connect to this address; or, for datagrams, the peer's Q_Key "
			"is 0 or differs from the id's",
			"compare the addresses, and the Q_Keys that both programs set"),
		RDMAEZ_IMPL_CM_EVENT("ADDR_ERROR", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
				     RDMAEZ_WHY_CM_ADDRESS, "CM_ADDRESS",
				     "the address could not be resolved",
				     "see `ip route get ADDRESS`"),

		RDMAEZ_IMPL_CM_EVENT("ROUTE_ERROR", -ETIMEDOUT, RDMAEZ_DIAG_ERROR,
				     RDMAEZ_WHY_CM_NO_ROUTE, "CM_SA_SILENT",
				     "the subnet manager did not answer the query for a path",
				     "check that one runs (`sminfo`), and that the port is ACTIVE"),
		RDMAEZ_IMPL_CM_EVENT(
			"ROUTE_ERROR", -EINVAL, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_ROUTE,
			"CM_SA_NO_PATH",
			"the subnet manager knows no path to that port; or, on Ethernet, the "
			"interface's MTU "
			"is below 256",
			"compare the partitions and subnets of both ports (`saquery PathRecord`)"),
		RDMAEZ_IMPL_CM_EVENT("ROUTE_ERROR", -ENODEV, RDMAEZ_DIAG_ERROR,
				     RDMAEZ_WHY_CM_ADDRESS, "CM_NO_INTERFACE",
				     "the network interface of the id's address is gone or down",
				     "bring it up, and resolve with a new id"),
		RDMAEZ_IMPL_CM_EVENT("ROUTE_ERROR", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
				     RDMAEZ_WHY_CM_NO_ROUTE, "CM_ROUTE",
				     "no path to the peer was found",
				     "check that the port is ACTIVE and, on InfiniBand, that a "
				     "subnet manager runs"),
		RDMAEZ_IMPL_CM_EVENT("ADDRINFO_ERROR", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
				     RDMAEZ_WHY_OPEN_SERVICE, "CM_SERVICE",
				     "the name or the service was not found",
				     "check that the subnet manager has the service, or that the "
				     "name has an address"),

		/* ---- Nobody answers ----------------------------------------------------------------------------- */

		RDMAEZ_IMPL_CM_EVENT(
			"UNREACHABLE", -ETIMEDOUT, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_ANSWER,
			"CM_NO_ANSWER",
			"the peer's connection manager did not answer; InfiniBand and RoCE repeat "
			"a request "
			"15 times, for a minute or more",
			"check that the host has an RDMA device at that address and rdma_cm "
			"loaded, "
			"that no "
			"firewall stops UDP port 4791, and that the GID types of both ends are the "
			"same "
			"(RoCE v1 or v2); a server with a full backlog is silent, too"),
		RDMAEZ_IMPL_CM_EVENT(
			"UNREACHABLE", 1, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_LISTENER,
			"CM_NO_LISTENER",
			"no program listens on this port at that address in the port space "
			"RDMA_PS_UDP (SIDR "
			"status 1, sent by the peer's kernel)",
			"start the server first, and compare address, port and port space"),
		RDMAEZ_IMPL_CM_EVENT("UNREACHABLE", 2, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REFUSED,
				     "CM_REFUSED",
				     "the program there refused the request with rdma_reject(), or "
				     "ended before it answered (SIDR "
				     "status 2)",
				     "see its log"),
		RDMAEZ_IMPL_CM_EVENT(
			"UNREACHABLE", 3, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
			"CM_SIDR_NO_QP",
			"the service has no queue pair (SIDR status 3, which Linux never sends)",
			"see the peer's documentation"),
		RDMAEZ_IMPL_CM_EVENT("UNREACHABLE", 4, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_REDIRECT",
				     "the service is elsewhere (SIDR status 4, a redirection, "
				     "which Linux never sends and "
				     "does not follow)",
				     "connect to the address that the service was moved to"),
		RDMAEZ_IMPL_CM_EVENT("UNREACHABLE", 5, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_SIDR_VERSION",
				     "the peer does not accept this version of the request (SIDR "
				     "status 5, which Linux "
				     "never sends)",
				     "see the peer's documentation"),
		RDMAEZ_IMPL_CM_EVENT(
			"UNREACHABLE", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
			RDMAEZ_WHY_CM_NO_ANSWER, "CM_NO_ANSWER", "the peer cannot be reached",
			"ping it, and check that it has an RDMA device at that address"),

		/* ---- The peer refuses: enum ib_cm_rej_reason ------------------------------------------------------- */

		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 1, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_NO_QP",
			"the peer has no queue pair left (reason 1; in Linux only IPoIB sends it)",
			"look for a limit there: rdma.max of the cgroup, or the device's max_qp"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 2, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_NO_EEC",
				     "the peer has no end-to-end context left (reason 2, which "
				     "Linux never sends)",
				     "use RC: verbs have no reliable datagrams"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 3, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_NO_RESOURCES",
			"the peer lacks memory or queue pairs (reason 3, which Linux never sends)",
			"see the peer's limits and its log"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 4, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_GAVE_UP, "CM_GAVE_UP",
			"the peer gave up before it had this end's answer: its program "
			"ended, destroyed the id or "
			"timed out (reason 4, sent by the connecting end)",
			"accept sooner: take requests from the event channel in a "
			"thread of their own"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 5, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_UNSUPPORTED",
				     "the peer does not know this kind of request (reason 5, which "
				     "Linux never sends)",
				     "see the peer's documentation"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 6, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_COMM_ID",
				     "the peer does not know the connection that this end's "
				     "message was about (reason 6, which "
				     "Linux never sends)",
				     "connect again"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 7, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_COMM_ID",
				     "the message was about an earlier connection of these ends "
				     "(reason 7, which Linux "
				     "never sends)",
				     "connect again"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 8, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_NO_LISTENER,
			"CM_NO_LISTENER",
			"no program listens on this port at that host (reason 8, "
			"invalid service ID, sent by "
			"the peer's kernel)",
			"start the server first, and compare port and port space: "
			"RDMA_PS_TCP, RDMA_PS_UDP "
			"and RDMA_PS_IB each have ports of their own, and so do TCP sockets"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 9, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_TRANSPORT_TYPE",
				     "the peer's queue pair is of another type (reason 9, which "
				     "Linux never sends)",
				     "create the same type at both ends: RC, UC or XRC"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 10, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_STALE, "CM_STALE",
			"the peer still has a connection with a queue pair of this number, which "
			"has now "
			"been closed (reason 10, sent by the peer's kernel): this end, or a "
			"process before it, vanished without telling the peer",
			"wait a second, then connect again with a new id and a new queue pair"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 11, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_RDC",
				     "the peer has no such reliable datagram channel (reason 11, "
				     "which Linux never sends)",
				     "use RC: verbs have no reliable datagrams"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 12, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_REJECTED, "CM_PEER_GID",
			"the peer has no GID for the requested path (reason 12, sent by the peer's "
			"kernel): its subnet, VLAN or GID type differs, or its interface is down",
			"compare both ends with `rdmaez-doctor --gids`: the same type (RoCE v1 or "
			"v2) and "
			"VLAN"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 13, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_PEER_LID",
			"the request's path names a LID that is not the peer's (reason 13)",
			"the subnet has changed: resolve the route again"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 14, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_PEER_SL",
			"the peer does not accept the path's service level (reason 14)",
			"use a service level that the subnet manager offers to both ends"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 15, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_PEER_TCLASS",
			"the peer does not accept the path's traffic class (reason 15)",
			"use the same at both ends, with RDMA_OPTION_ID_TOS, or default_roce_tos "
			"of rdma_cm in configfs"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 16, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_PEER_HOPS",
				     "the peer does not accept the path's hop limit (reason 16)",
				     "see the routers between the subnets"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 17, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_PEER_RATE",
				     "the peer's port does not accept the path's rate (reason 17)",
				     "resolve the route again, or limit the rate"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 18, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_ALTERNATE",
				     "the peer has no GID for the alternate path (reason 18, sent "
				     "by the peer's kernel)",
				     "connect without an alternate path, or correct it"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 19, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_ALTERNATE",
				     "the alternate path's LID is not the peer's (reason 19)",
				     "connect without an alternate path, or correct it"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 20, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_ALTERNATE",
			"the peer does not accept the alternate path's service level (reason 20)",
			"connect without an alternate path, or correct it"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 21, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_ALTERNATE",
			"the peer does not accept the alternate path's traffic class (reason 21)",
			"connect without an alternate path, or correct it"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 22, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_ALTERNATE",
			"the peer does not accept the alternate path's hop limit (reason 22)",
			"connect without an alternate path, or correct it"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 23, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_ALTERNATE",
			"the peer does not accept the alternate path's rate (reason 23)",
			"connect without an alternate path, or correct it"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 24, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_REDIRECT",
				     "another port answers for the peer (reason 24, which Linux "
				     "never sends and librdmacm "
				     "does not follow)",
				     "connect to that port"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 25, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_REDIRECT",
				     "the service is at another port (reason 25, which Linux never "
				     "sends and librdmacm "
				     "does not follow)",
				     "connect to that port"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 26, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_PEER_MTU",
			"the path's MTU is greater than the peer's port supports (reason 26)",
			"set the same MTU on both interfaces and on the switches between them"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 27, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_DEPTH,
			"CM_RESPONDER_RESOURCES",
			"the peer does not accept so many outstanding RDMA Reads (reason 27)",
			"lower conn_param.initiator_depth and responder_resources"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 28, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_REFUSED,
				     "CM_REFUSED",
				     "the program there refused the request: with rdma_reject(), "
				     "by a failed rdma_accept(), or because it ended; or it "
				     "listens on this port, but at another address "
				     "(reason 28, consumer "
				     "defined)",
				     "see its log, and to which address it is bound"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 29, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_PEER_RNR_RETRY",
				     "the peer does not accept this rnr_retry_count (reason 29)",
				     "use a value from 0 to 7"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 30, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_COMM_ID",
				     "the peer has a connection of this ID already (reason 30, "
				     "which Linux never sends)",
				     "connect again"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 31, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_CLASS_VERSION",
				     "the peer's connection manager is of another version (reason "
				     "31, which Linux never "
				     "sends)",
				     "see the peer's documentation"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", 32, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED,
				     "CM_PEER_FLOW_LABEL",
				     "the peer does not accept the path's flow label (reason 32)",
				     "see the routers between the subnets"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 33, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_ALTERNATE",
			"the peer does not accept the alternate path's flow label (reason 33)",
			"connect without an alternate path, or correct it"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", 35, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CM_REJECTED, "CM_ECE",
			"the program there refused the vendor's options of this "
			"connection with rdma_reject_ece() (reason 35)",
			"connect without ECE: call rdma_set_local_ece() with options 0"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", -ECONNREFUSED, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_NO_LISTENER,
			"CM_NO_LISTENER",
			"iWARP: nobody listens on the TCP port at that address, or the program "
			"there refused the request",
			"start the server first, compare address and port, and see its log"),
		RDMAEZ_IMPL_CM_EVENT(
			"REJECTED", -ECONNRESET, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CM_REFUSED,
			"CM_REFUSED",
			"iWARP: the program there refused the request with rdma_reject(), or "
			"closed the connection before it was established",
			"see its log"),
		RDMAEZ_IMPL_CM_EVENT("REJECTED", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
				     RDMAEZ_WHY_CM_REFUSED, "CM_REFUSED",
				     "the peer refused for a reason that no standard names",
				     "see the peer's log and documentation"),

		/* ---- Later ----------------------------------------------------------------------------------------- */

		RDMAEZ_IMPL_CM_EVENT("CONNECT_ERROR", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
				     RDMAEZ_WHY_CM_CONNECT, "CM_CONNECT",
				     "the peer accepted, but this end could not move its queue "
				     "pair to RTR and RTS, and "
				     "has told the peer so",
				     "look at the queue pair's attributes, and at the kernel log"),
		RDMAEZ_IMPL_CM_EVENT("MULTICAST_ERROR", -ETIMEDOUT, RDMAEZ_DIAG_ERROR,
				     RDMAEZ_WHY_CM_NO_ROUTE, "CM_SA_SILENT",
				     "the subnet manager did not answer the request to join",
				     "check that one runs (`sminfo`), and that the port is ACTIVE"),
		RDMAEZ_IMPL_CM_EVENT("MULTICAST_ERROR", -EINVAL, RDMAEZ_DIAG_LIKELY,
				     RDMAEZ_WHY_CM_MULTICAST, "CM_GROUP",
				     "the subnet manager refused: the group has another P_Key, "
				     "Q_Key, MTU or rate, or "
				     "does not exist",
				     "compare with `saquery MCMemberRecord`"),
		RDMAEZ_IMPL_CM_EVENT("MULTICAST_ERROR", -ENETRESET, RDMAEZ_DIAG_ERROR,
				     RDMAEZ_WHY_CM_MULTICAST, "CM_GROUP_LOST",
				     "the membership ended: the port went down or the subnet "
				     "manager was restarted",
				     "leave the group, and join again"),
		RDMAEZ_IMPL_CM_EVENT(
			"MULTICAST_ERROR", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
			RDMAEZ_WHY_CM_MULTICAST, "CM_GROUP",
			"the host could not join the group, or attach the queue pair to it",
			"check that the id's queue pair is UD and that max_mcast_grp is not "
			"reached"),
		RDMAEZ_IMPL_CM_EVENT(
			"DEVICE_REMOVAL", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_ERROR,
			RDMAEZ_WHY_CM_REMOVAL, "CM_REMOVAL",
			"the device is being removed, or its driver unloaded",
			"destroy the id and all that is on the device: the removal waits for it"),
		RDMAEZ_IMPL_CM_EVENT("ADDR_CHANGE", RDMAEZ_IMPL_CM_IS_ANY, RDMAEZ_DIAG_LIKELY,
				     RDMAEZ_WHY_CM_REMOVAL, "CM_ADDRESS_CHANGE",
				     "the hardware address behind the id's address has changed, as "
				     "when a bond fails over",
				     "connect again: this connection stays on the old port"),
	};
	const struct rdmaez_impl_cm_row *general = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct rdmaez_impl_cm_row *const row = &rows[i];
		const bool fits = row->status == status || row->status == RDMAEZ_IMPL_CM_IS_ANY;

		if (fits && row->of && strcmp(row->of, of) == 0)
			return row;
		if (fits && !general && !row->of)
			general = row;
	}
	return strncmp(of, "RDMA_CM_EVENT_", 14) == 0 ? NULL : general;
}

/* Says why the node could not be opened: librdmacm returns ENOENT for that, whatever the reason. */
RDMAEZ_SEAM int rdmaez_impl_cm_why_no_node(void)
{
	static const char node[] = "/dev/infiniband/rdma_cm";

	if (access(node, F_OK))
		return ENOENT;
	return access(node, R_OK | W_OK) ? EACCES : EPERM;
}

RDMAEZ_SEAM void rdmaez_impl_cm_explain(struct rdmaez_diag *diag, const char *of, int status,
					bool is_event)
{
	const struct rdmaez_impl_cm_row *row;
	struct rdmaez_impl_site site;

	if (status == ENOENT && strcmp(of, "rdma_create_event_channel") == 0)
		status = rdmaez_impl_cm_why_no_node();
	row = rdmaez_impl_cm_find(of, status);
	if (!row)
		return;
	memset(&site, 0, sizeof(site));
	site.field = row->field;
	site.why = row->why;
	site.kind = is_event ? RDMAEZ_VALUE_CM_EVENT : RDMAEZ_VALUE_CM_CALL;
	rdmaez_impl_find(diag, row->severity, &site, (uint64_t)(int64_t)status);
}

/*
 * Returns whether the kernel has a route of type blackhole to this address: then it returns EINVAL
 * for a socket, too (fib_props[], ip6_rt_type_to_error()). An IPv6 multicast address may lack its
 * interface.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_cm_is_blackhole(const struct sockaddr *to)
{
	const bool ipv4 = to->sa_family == AF_INET;
	const bool ipv6 = to->sa_family == AF_INET6 && ((const uint8_t *)to)[8] != 0xff;
	const int fd = ipv4 || ipv6 ? socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
	const bool is = fd >= 0 && connect(fd, to, ipv4 ? 16 : 28) && errno == EINVAL;

	if (fd >= 0)
		close(fd);
	return is;
}

/* Returns whether the kernel takes this for an address of the host alone: cma_any_addr(). */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_cm_is_loopback(const struct sockaddr *to)
{
	static const uint8_t zero[16] = {0};
	const uint8_t *const ipv4 = (const uint8_t *)to + 4, *const ipv6 = (const uint8_t *)to + 8;

	return to->sa_family == AF_INET    ? ipv4[0] == 127 || !memcmp(ipv4, zero, 4)
	       : to->sa_family == AF_INET6 ? ipv6[15] <= 1 && !memcmp(ipv6, zero, 15)
					   : false;
}

/* Returns the cause for which rdma_resolve_addr() has refused an address: the arguments', or the route. */
RDMAEZ_SEAM int rdmaez_impl_cm_route_cause(const struct sockaddr *to, int cause, int error)
{
	if (cause || error != EINVAL)
		return cause;
	return rdmaez_impl_cm_is_loopback(to)    ? RDMAEZ_IMPL_CM_IS_LOOPBACK
	       : rdmaez_impl_cm_is_blackhole(to) ? RDMAEZ_IMPL_CM_IS_BLACKHOLE
						 : 0;
}

/* Explains why rdma_resolve_addr() has refused an address. `cause`: what its arguments tell, or 0. */
RDMAEZ_SEAM void rdmaez_impl_cm_explain_address(struct rdmaez_diag *diag, const struct sockaddr *to,
						int cause)
{
	cause = rdmaez_impl_cm_route_cause(to, cause, diag->error);
	rdmaez_impl_cm_explain(diag, "rdma_resolve_addr", cause ? cause : diag->error, false);
}

/* Returns the words of a finding of librdmacm. */
RDMAEZ_SEAM const char *rdmaez_impl_cm_words(const struct rdmaez_diag *diag,
					     const struct rdmaez_finding *finding)
{
	const char *const of = finding->kind == RDMAEZ_VALUE_CM_EVENT ? diag->event : diag->verb;
	const struct rdmaez_impl_cm_row *const row =
		of ? rdmaez_impl_cm_find(of, (int)(int64_t)finding->value) : NULL;

	return row && row->why == finding->reason ? row->words : NULL;
}

RDMAEZ_IMPL_END

#endif
