/* SPDX-License-Identifier: MIT */
/*
 * What librdmacm's errno values and statuses mean. The kernel's part is from drivers/infiniband/core/{cma,cm,ucma,addr,
 * iwcm}.c of Linux 6.1 to 7.2, the library's from librdmacm/{cma,addrinfo}.c of rdma-core 44 to 65.
 */
#include <netdb.h>

#include "cm.h"

#define ROW(of, status, sure, id, field, what, next)                    \
	{                                                               \
		of, status,                                             \
		{                                                       \
			RDMAEZ_DIAG_##sure, "CM_" id, field, what, next \
		}                                                       \
	}
#define CALL(verb, error, sure, id, field, what, next) \
	ROW("rdma_" verb, error, sure, id, field, what, next)
/* Statuses: negative errno values, or positive reasons of the InfiniBand connection manager, which RoCE uses as well. */
#define EVENT(event, status, sure, id, what, next) \
	ROW("RDMA_CM_EVENT_" event, status, sure, id, "status", what, next)

#define NO_NODE(verb)                                                                              \
	CALL(verb, ENOENT, ERROR, "NO_NODE", "/dev/infiniband/rdma_cm",                            \
	     "the device node does not exist",                                                     \
	     "load the module rdma_ucm; a container must be given the node"),                      \
		CALL(verb, ENXIO, ERROR, "NO_NODE", "/dev/infiniband/rdma_cm",                     \
		     "nothing is behind the device node", "load the module rdma_ucm"),             \
		CALL(verb, EACCES, ERROR, "NODE_DENIED", "/dev/infiniband/rdma_cm",                \
		     "this user may not open the device node",                                     \
		     "give the user's group, or everybody, read and write access by a udev rule"), \
		CALL(verb, EPERM, LIKELY, "NODE_DENIED", "/dev/infiniband/rdma_cm",                \
		     "a container's device rules forbid the device node, or the kernel's "         \
		     "rdma_ucm and this "                                                          \
		     "librdmacm have no ABI version in common",                                    \
		     "allow the node in the container; else install the rdma-core that fits the "  \
		     "kernel"),                                                                    \
		CALL(verb, ENODEV, ERROR, "NO_DEVICE", "device list", "there is no RDMA device",   \
		     "run rdmaez-doctor, which tells why there is none"),                          \
		CALL(verb, EMFILE, ERROR, "NO_FILES", "event channel",                             \
		     "the process has no file descriptor left for an event channel; an id that "   \
		     "was created "                                                                \
		     "without one has its own",                                                    \
		     "raise `ulimit -n`, or let the ids share a channel")

#define NOT_IN_STATE(verb, what, next) CALL(verb, EINVAL, LIKELY, "STATE", "id", what, next)

#define DEPTHS(verb)                                                                              \
	CALL(verb, CM_RESOURCES, ERROR, "RESPONDER_RESOURCES", "conn_param->responder_resources", \
	     "this is more than the device's max_qp_rd_atom", "use at most that"),                \
		CALL(verb, CM_DEPTH, ERROR, "INITIATOR_DEPTH", "conn_param->initiator_depth",     \
		     "this is more than the device's max_qp_init_rd_atom", "use at most that")

#define PRIVATE_DATA(verb, field, message)                        \
	CALL(verb, CM_PRIVATE_DATA, ERROR, "PRIVATE_DATA", field, \
	     "the private data do not fit into the " message,     \
	     "exchange the rest by a first message once the connection stands")

static const struct cm_text texts[] = {
	/* ---- Calls: the errno value, or a number of ours where the arguments tell more ---------------- */

	NO_NODE("create_event_channel"),
	NO_NODE("create_id"),
	CALL("create_id", ENOMEM, LIKELY, "NO_NODE", "/dev/infiniband/rdma_cm",
	     "an id without a channel opens one of its own, and that failed",
	     "see that the node exists, that this user may open it, and that `ulimit -n` is not "
	     "reached"),
	CALL("create_id", EINVAL, ERROR, "PORT_SPACE", "ps", "the kernel has no such port space",
	     "use RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB or RDMA_PS_IPOIB"),
	NO_NODE("create_ep"),
	CALL("create_ep", ENOMEM, LIKELY, "NO_NODE", "/dev/infiniband/rdma_cm",
	     "the new id opens an event channel of its own, and that failed",
	     "see that the node exists, that this user may open it, and that `ulimit -n` is not "
	     "reached"),
	NO_NODE("get_devices"),
	NO_NODE("getaddrinfo"),

	CALL("bind_addr", EADDRNOTAVAIL, ERROR, "NO_ADDRESS", "addr",
	     "no interface of this host has this address",
	     "bind to an address of an RDMA interface: `rdmaez-doctor --gids` lists them"),
	CALL("bind_addr", CM_PORT_TAKEN, ERROR, "PORT_TAKEN", "addr",
	     "another id holds this port, on all addresses or on one",
	     "use another port, end the other program (`rdma resource show cm_id` names it), or "
	     "set RDMA_OPTION_ID_REUSEADDR on both"),
	CALL("bind_addr", EADDRINUSE, ERROR, "PORT_TAKEN", "addr",
	     "another id is bound to this address and port",
	     "use another port, end the other program (`rdma resource show cm_id` names it), or "
	     "set RDMA_OPTION_ID_REUSEADDR on both"),
	CALL("bind_addr", ENODEV, ERROR, "ADDRESS_NOT_RDMA", "addr",
	     "the interface with this address has no RDMA device, or the device no GID for the "
	     "address",
	     "bind to an address of an RDMA interface: `rdmaez-doctor --gids` lists them"),
	CALL("bind_addr", EACCES, ERROR, "PORT_PRIVILEGED", "addr",
	     "ports below 1024 need CAP_NET_BIND_SERVICE", "use a port from 1024 on"),
	CALL("bind_addr", EPROTONOSUPPORT, ERROR, "PORT_SPACE", "addr",
	     "the address, of AF_IB, names a service that is not of the id's port space",
	     "set sib_sid to the service of the id's port space"),
	CALL("bind_addr", EAFNOSUPPORT, ERROR, "FAMILY", "addr",
	     "addresses of this family are not taken", "use AF_INET, AF_INET6 or AF_IB"),
	CALL("bind_addr", CM_FAMILY, ERROR, "FAMILY", "addr",
	     "addresses of this family are not taken",
	     "use AF_INET, AF_INET6 or, with a device for it, AF_IB"),
	CALL("bind_addr", CM_SCOPE, ERROR, "SCOPE", "addr",
	     "a link-local address does not tell which interface it is on",
	     "set sin6_scope_id to the interface's index"),
	NOT_IN_STATE("bind_addr", "an id is bound once, and this one is bound already",
		     "create another id"),

	CALL("resolve_addr", ENETUNREACH, ERROR, "NO_ROUTE", "dst_addr",
	     "this host has no route to that address",
	     "see `ip route get ADDRESS`; add a route, or use the peer's address on the RDMA "
	     "network"),
	CALL("resolve_addr", EHOSTUNREACH, ERROR, "NO_ROUTE", "dst_addr",
	     "the route to that address forbids to reach it", "see `ip route get ADDRESS`"),
	CALL("resolve_addr", EACCES, ERROR, "NO_ROUTE", "dst_addr",
	     "that is a broadcast address, or a route that prohibits it leads there",
	     "see `ip route get ADDRESS`"),
	CALL("resolve_addr", EADDRNOTAVAIL, LIKELY, "NO_ADDRESS", "src_addr",
	     "no interface of this host has the source address",
	     "leave src_addr NULL, or name an address of an RDMA interface: `rdmaez-doctor --gids` "
	     "lists them"),
	CALL("resolve_addr", ENODEV, ERROR, "ROUTE_NOT_RDMA", "dst_addr",
	     "the route to that address starts at an interface without an RDMA device, or whose "
	     "device has no GID for the source address",
	     "use the peer's address on the RDMA network; `ip route get ADDRESS` shows the "
	     "interface, `rdmaez-doctor --gids` those that would do"),
	CALL("resolve_addr", CM_FAMILIES, ERROR, "FAMILY", "src_addr",
	     "source and destination are of different families",
	     "use two IPv4 or two IPv6 addresses"),
	CALL("resolve_addr", CM_FAMILY, ERROR, "FAMILY", "dst_addr",
	     "addresses of this family are not taken",
	     "use AF_INET, AF_INET6 or, with a device for it, AF_IB"),
	CALL("resolve_addr", CM_SCOPE, ERROR, "SCOPE", "dst_addr",
	     "a link-local address does not tell which interface it is on",
	     "set sin6_scope_id to the interface's index"),
	NOT_IN_STATE("resolve_addr",
		     "the id is resolved or connected already, or is bound to an address of "
		     "another family",
		     "resolve each id once, before anything else but rdma_bind_addr()"),

	CALL("resolve_route", CM_TIMEOUT_ZERO, ERROR, "TIMEOUT_ZERO", "timeout_ms",
	     "the time to wait is 0", "give it 2000 ms"),
	NOT_IN_STATE("resolve_route",
		     "the id's address is not resolved yet, or its route is already",
		     "wait for RDMA_CM_EVENT_ADDR_RESOLVED, then call it once"),
	CALL("resolve_route", ENODEV, ERROR, "ADDRESS_NOT_RDMA", "id",
	     "the id's own address is on an interface without an RDMA device, such as 127.0.0.1 on "
	     "lo, or the interface is down",
	     "use the address of an RDMA interface, for a peer on this host too: `rdmaez-doctor "
	     "--gids` lists them"),

	CALL("listen", EADDRINUSE, ERROR, "PORT_TAKEN", "id",
	     "another id listens on this address and port",
	     "use another port, or end the other program: `rdma resource show cm_id` names it"),
	CALL("listen", EADDRNOTAVAIL, ERROR, "PORT_TAKEN", "id",
	     "another id holds this port, on all addresses or on one",
	     "use another port, or end the other program: `rdma resource show cm_id` names it"),
	NOT_IN_STATE("listen", "the id listens already, or is one that connects",
		     "listen once, with an id of its own"),
	CALL("listen", ENOSYS, ERROR, "NO_MANAGER", "id",
	     "the device's transport has no connection manager",
	     "connect the queue pair without librdmacm"),

	PRIVATE_DATA("connect", "conn_param->private_data_len",
		     "request: 92 bytes, of which 36 are taken up except with AF_IB; 216 of a "
		     "datagram service's lookup"),
	DEPTHS("connect"),
	CALL("connect", CM_NO_PARAM, ERROR, "NO_QP_NUMBER", "conn_param",
	     "the id has no queue pair, so conn_param must tell the number of one",
	     "create one with rdma_create_qp(), or pass conn_param with qp_num"),
	NOT_IN_STATE("connect", "the id's route is not resolved yet, or it is connecting already",
		     "wait for RDMA_CM_EVENT_ROUTE_RESOLVED, then connect once; a refused id is "
		     "not used again"),
	CALL("connect", ENOSYS, ERROR, "NO_MANAGER", "id",
	     "the device's transport has no connection manager",
	     "connect the queue pair without librdmacm"),
	CALL("connect", ECONNREFUSED, LIKELY, "NO_LISTENER", "id",
	     "nobody listens on the port at that address",
	     "start the server first, and compare address, port and port space"),
	CALL("connect", EHOSTUNREACH, ERROR, "NO_ROUTE", "id",
	     "this host has no route to that address", "see `ip route get ADDRESS`"),

	PRIVATE_DATA("accept", "conn_param->private_data_len",
		     "reply: 196 bytes, of a datagram service 136, with iWARP as many as its MPA "
		     "frame takes"),
	DEPTHS("accept"),
	CALL("accept", CM_LISTENER, ERROR, "LISTENER", "id",
	     "this is the id that listens, which has no request of its own",
	     "accept on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST"),
	CALL("accept", CM_NO_PARAM, ERROR, "NO_QP_NUMBER", "conn_param",
	     "the id has no queue pair, so conn_param must tell the number of one",
	     "create one with rdma_create_qp(), or pass conn_param with qp_num"),
	NOT_IN_STATE("accept",
		     "the request is not open any more: it was accepted or rejected, or the peer "
		     "has given up",
		     "accept once, on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST, within "
		     "seconds"),

	PRIVATE_DATA("reject", "private_data_len",
		     "rejection: 148 bytes, of a datagram service 136"),
	NOT_IN_STATE("reject",
		     "the id has no open request: it was answered, or the peer has given up",
		     "reject once, on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST"),
	NOT_IN_STATE("reject_ece",
		     "the id has no open request: it was answered, or the peer has given up",
		     "reject once, on the id of the event RDMA_CM_EVENT_CONNECT_REQUEST"),
	CALL("establish", CM_HAS_QP, ERROR, "HAS_QP", "id->qp",
	     "librdmacm moves the queue pair of this id itself",
	     "use rdma_establish() only if rdma_create_qp() was not"),
	NOT_IN_STATE("establish", "no reply of the peer is open",
		     "call it after RDMA_CM_EVENT_CONNECT_RESPONSE"),
	NOT_IN_STATE("disconnect", "the id never began to connect",
		     "disconnect what rdma_connect() or rdma_accept() connected"),
	NOT_IN_STATE("notify", "the id has no connection, or is not waiting for one",
		     "pass on IBV_EVENT_COMM_EST alone, between rdma_accept() and "
		     "RDMA_CM_EVENT_ESTABLISHED"),
	CALL("notify", EISCONN, ERROR, "CONNECTED", "id", "the connection stands already",
	     "ignore this"),

	CALL("create_qp", CM_HAS_QP, ERROR, "HAS_QP", "id->qp", "the id has a queue pair already",
	     "destroy that one first, with rdma_destroy_qp()"),
	CALL("create_qp", CM_NO_DEVICE, ERROR, "UNBOUND", "id->verbs",
	     "the id is bound to no device yet",
	     "wait for RDMA_CM_EVENT_ADDR_RESOLVED, or bind to an address of an RDMA interface"),
	CALL("create_qp", CM_OTHER_PD, ERROR, "OTHER_DEVICE", "pd",
	     "the protection domain belongs to another device, or another opening of it, than the "
	     "id",
	     "allocate it with id->verbs, or pass NULL"),
	CALL("create_qp", EINVAL, LIKELY, "OTHER_CQ", "qp_init_attr",
	     "the id has completion queues of its own, and others are named",
	     "leave send_cq and recv_cq NULL, or name the id's"),
	CALL("create_qp_ex", CM_HAS_QP, ERROR, "HAS_QP", "id->qp",
	     "the id has a queue pair already", "destroy that one first, with rdma_destroy_qp()"),
	CALL("create_qp_ex", CM_OTHER_PD, ERROR, "OTHER_DEVICE", "pd",
	     "the protection domain belongs to another device, or another opening of it, than the "
	     "id",
	     "allocate it with id->verbs, or leave it out"),

	CALL("join_multicast", CM_NOT_UD, ERROR, "NOT_UD", "id",
	     "only an id of RDMA_PS_UDP or RDMA_PS_IPOIB joins groups",
	     "create the id in RDMA_PS_UDP"),
	CALL("join_multicast", CM_NO_DEVICE, ERROR, "UNBOUND", "id->verbs",
	     "the id is bound to no device yet",
	     "bind it to the address of an RDMA interface, or resolve the group's address first"),
	CALL("join_multicast", CM_FAMILY, ERROR, "FAMILY", "addr",
	     "addresses of this family are not taken",
	     "use AF_INET, AF_INET6 or, with a device for it, AF_IB"),
	CALL("join_multicast", 524, ERROR, "GROUP_IPV6", "addr",
	     "Linux does not join IPv6 groups over RoCE v2", "use an IPv4 group"),
	CALL("join_multicast", ENOSYS, ERROR, "NO_MULTICAST", "id",
	     "the device's transport, iWARP, has no multicast", "send to each peer"),
	CALL("join_multicast", EADDRNOTAVAIL, LIKELY, "GROUP_UNKNOWN", "id",
	     "the subnet manager does not know the interface's broadcast group",
	     "see that the IPoIB interface is up and that a subnet manager runs"),
	CALL("join_multicast", ENODEV, ERROR, "NO_INTERFACE", "id",
	     "the network interface of the id's address is gone",
	     "bind to an address of an interface that is up"),
	NOT_IN_STATE("join_multicast",
		     "the id is neither just bound nor just resolved, or the address is zero",
		     "join before rdma_connect(), with the group's address"),
	CALL("leave_multicast", EADDRNOTAVAIL, ERROR, "NOT_JOINED", "addr",
	     "the id has not joined this group", "pass the very address that was joined"),

	CALL("get_request", CM_HAS_CHANNEL, ERROR, "HAS_CHANNEL", "listen",
	     "this id was created with an event channel",
	     "wait for RDMA_CM_EVENT_CONNECT_REQUEST on the channel, or create the id without one"),
	CALL("get_request", EINVAL, LIKELY, "OTHER_EVENT", "listen->event",
	     "the next event was no connection request", "look at listen->event, and ask again"),
	CALL("migrate_id", EINVAL, LIKELY, "OTHER_CHANNEL", "channel",
	     "the id has an event channel of its own already, or the channel is none of "
	     "librdmacm's",
	     "migrate to a channel of rdma_create_event_channel()"),
	CALL("set_option", ENOSYS, ERROR, "OPTION", "optname",
	     "this kernel does not know the option", "leave it out, or use a newer kernel"),
	CALL("set_option", EINVAL, LIKELY, "OPTION", "optval",
	     "the option's length is wrong, or it comes too late: most are set before "
	     "rdma_bind_addr() and rdma_listen()",
	     "set it right after rdma_create_id(), with the length of its type"),
	CALL("init_qp_attr", EINVAL, LIKELY, "STATE", "qp_attr->qp_state",
	     "the id knows the attributes for INIT once it has a device, those for RTR and RTS "
	     "once the peer has answered",
	     "set qp_state to INIT, RTR or RTS, in the order of the connection's events"),
	CALL("set_local_ece", EINVAL, LIKELY, "HAS_QP", "id->qp",
	     "librdmacm handles the ECE of its own queue pairs; else vendor_id must be set and "
	     "comp_mask 0",
	     "use it only if rdma_create_qp() was not"),
	CALL("get_remote_ece", EINVAL, LIKELY, "HAS_QP", "id->qp",
	     "librdmacm handles the ECE of its own queue pairs",
	     "use it only if rdma_create_qp() was not"),
	CALL("create_srq", EINVAL, LIKELY, "OTHER_DEVICE", "pd",
	     "the protection domain may be another device's",
	     "allocate it with id->verbs, or pass NULL"),
	CALL("create_srq_ex", EINVAL, LIKELY, "SRQ_TYPE", "attr->comp_mask",
	     "IBV_SRQ_INIT_ATTR_TYPE must be set", "set srq_type and its bit"),
	CALL("destroy_id", CM_NOT_OURS, ERROR, "OTHER_CHANNEL", "id",
	     "the kernel does not know this id: it was destroyed already, or created by a parent "
	     "process",
	     "destroy each id once, in the process that created it"),

	CALL("getaddrinfo", CM_EAI + EAI_NONAME, ERROR, "NAME", "node",
	     "the name or the service is not known (EAI_NONAME)",
	     "see `getent hosts NAME`; with RAI_NUMERICHOST, pass an address"),
	CALL("getaddrinfo", CM_EAI + EAI_AGAIN, ERROR, "NAME", "node",
	     "the name server does not answer at the moment (EAI_AGAIN)",
	     "try again later, or pass an address"),
	CALL("getaddrinfo", CM_EAI + EAI_FAIL, ERROR, "NAME", "node",
	     "the name server failed (EAI_FAIL)", "pass an address"),
	CALL("getaddrinfo", CM_EAI + EAI_FAMILY, ERROR, "FAMILY", "hints->ai_family",
	     "addresses of this family are not taken (EAI_FAMILY)", "use AF_INET, AF_INET6 or 0"),
	CALL("getaddrinfo", CM_EAI + EAI_SERVICE, ERROR, "SERVICE", "service",
	     "this service is not known for the hints' kind of socket (EAI_SERVICE)",
	     "pass a port number"),
	CALL("getaddrinfo", CM_EAI, LIKELY, "NAME", "node",
	     "getaddrinfo() did not find the address", "see `getent ahosts NAME`"),
	CALL("getaddrinfo", EINVAL, ERROR, "NAME", "node", "node, service and hints are all NULL",
	     "pass one of them"),
	CALL("getaddrinfo", ENOENT, ERROR, "SERVICE", "service",
	     "the subnet manager knows no such service",
	     "see that the service is registered, or pass a node without RAI_SA"),

	CALL("resolve_addrinfo", EBUSY, ERROR, "BUSY", "id", "the id is looking for a name already",
	     "wait for RDMA_CM_EVENT_ADDRINFO_RESOLVED"),
	CALL("resolve_addrinfo", EOPNOTSUPP, ERROR, "FLAGS", "hints->ai_flags",
	     "RAI_SA and RAI_DNS exclude each other, and RAI_SA takes a service but no node",
	     "choose one of them"),
	CALL("query_addrinfo", ENOENT, ERROR, "STATE", "id",
	     "no name has been found for the id yet", "wait for RDMA_CM_EVENT_ADDRINFO_RESOLVED"),
	CALL("write_cm_event", EINVAL, ERROR, "EVENT", "event",
	     "programs write RDMA_CM_EVENT_USER alone", "write that one, and tell the rest by arg"),

	/* ---- Any call ---------------------------------------------------------------------------------- */

	ROW(NULL, CM_NOT_OURS, LIKELY, "OTHER_CHANNEL", "id",
	    "the kernel does not know this id: it was destroyed already, or belongs to another "
	    "channel or process",
	    "use an id only until rdma_destroy_id(), and in the process that created it"),
	ROW(NULL, EACCES, LIKELY, "CREDENTIALS", "id->channel",
	    "the process has changed its user or its rights since it opened the event channel",
	    "open the channel after the change"),
	ROW(NULL, EMFILE, ERROR, "NO_FILES", "event channel",
	    "the process has no file descriptor left for an event channel; an id that was created "
	    "without one has its own",
	    "raise `ulimit -n`, or let the ids share a channel"),
	ROW(NULL, EBADF, ERROR, "CHANNEL", "id->channel", "the event channel is closed",
	    "keep the channel open until all its ids are destroyed"),
	ROW(NULL, ENOMEM, LIKELY, "MEMORY", "memory",
	    "there is not enough memory, or the rdma cgroup's limit is reached",
	    "free some; see rdma.max of the cgroup"),
	ROW(NULL, ENOSYS, LIKELY, "KERNEL", "kernel",
	    "this kernel, or the device's transport, cannot do this",
	    "see whether a newer kernel can"),
	ROW(NULL, EINVAL, LIKELY, "STATE", "id",
	    "the id is not in a state for this call, or an argument is wrong",
	    "compare the order of the calls with that in rdma_cm(7)"),
	ROW(NULL, CM_ANY, LIKELY, "UNEXPLAINED", "errno",
	    "librdmacm refused without giving a reason", "see rdma_cm(7) and the kernel log"),

	/* ---- Events before the connection --------------------------------------------------------------- */

	EVENT("ADDR_ERROR", -ETIMEDOUT, ERROR, "NO_NEIGHBOUR",
	      "nobody answered for that address, or its gateway, by ARP or neighbour discovery "
	      "within the time given",
	      "ping the address from this interface; see `ip neighbour`, and that the host is up "
	      "and on this network or VLAN"),
	EVENT("ADDR_ERROR", -ENODEV, ERROR, "ROUTE_NOT_RDMA",
	      "the route to that address starts at an interface without an RDMA device, or whose "
	      "device has no GID for the source address",
	      "use the peer's address on the RDMA network; `ip route get ADDRESS` shows the "
	      "interface, `rdmaez-doctor --gids` those that would do"),
	EVENT("ADDR_ERROR", -ENETUNREACH, ERROR, "NO_ROUTE",
	      "this host has no route to that address",
	      "see `ip route get ADDRESS`; add a route, or use the peer's address on the RDMA "
	      "network"),
	EVENT("ADDR_ERROR", -EHOSTUNREACH, ERROR, "NO_ROUTE",
	      "the host of that address cannot be reached",
	      "see `ip route get ADDRESS` and `ip neighbour`"),
	EVENT("ADDR_ERROR", -1, LIKELY, "OPEN",
	      "librdmacm could not open the device that the kernel chose, or not ask for its "
	      "addresses",
	      "see that /dev/infiniband/uverbsN exists, that this user may open it, and that the "
	      "device's provider library is installed"),
	EVENT("ADDR_ERROR", -EINVAL, LIKELY, "QKEY",
	      "the address is not one to connect to; or, on a connection of datagrams, the peer's "
	      "Q_Key is 0 or another than the id's",
	      "compare the addresses, and the Q_Keys that both programs set"),
	EVENT("ADDR_ERROR", CM_ANY, LIKELY, "ADDRESS", "the address could not be resolved",
	      "see `ip route get ADDRESS`"),

	EVENT("ROUTE_ERROR", -ETIMEDOUT, ERROR, "SA_SILENT",
	      "the subnet manager did not answer the query for a path",
	      "see that one runs (`sminfo`), and that the port is ACTIVE"),
	EVENT("ROUTE_ERROR", -EINVAL, LIKELY, "SA_NO_PATH",
	      "the subnet manager knows no path to that port; or, on Ethernet, the interface's MTU "
	      "is below 256",
	      "compare the partitions and subnets of both ports (`saquery PathRecord`)"),
	EVENT("ROUTE_ERROR", -ENODEV, ERROR, "NO_INTERFACE",
	      "the network interface of the id's address is gone or down",
	      "bring it up, and resolve with a new id"),
	EVENT("ROUTE_ERROR", CM_ANY, LIKELY, "ROUTE", "no path to the peer was found",
	      "see that the port is ACTIVE and, on InfiniBand, that a subnet manager runs"),
	EVENT("ADDRINFO_ERROR", CM_ANY, LIKELY, "SERVICE", "the name or the service was not found",
	      "see that the subnet manager has the service, or that the name has an address"),

	/* ---- Nobody answers ----------------------------------------------------------------------------- */

	EVENT("UNREACHABLE", -ETIMEDOUT, LIKELY, "NO_ANSWER",
	      "the peer's connection manager did not answer; InfiniBand and RoCE repeat a request "
	      "15 times, for a minute or more",
	      "see that the host has an RDMA device at that address and rdma_cm loaded, that no "
	      "firewall stops UDP port 4791, and that the GID types of both ends are the same "
	      "(RoCE v1 or v2); a server with a full backlog is silent, too"),
	EVENT("UNREACHABLE", 1, LIKELY, "NO_LISTENER",
	      "no program listens on this port at that address in the port space RDMA_PS_UDP (SIDR "
	      "status 1, sent by the peer's kernel)",
	      "start the server first, and compare address, port and port space"),
	EVENT("UNREACHABLE", 2, ERROR, "REFUSED",
	      "the program there refused by rdma_reject(), or ended before it answered (SIDR "
	      "status 2)",
	      "see its log"),
	EVENT("UNREACHABLE", 3, ERROR, "SIDR_NO_QP",
	      "the service has no queue pair (SIDR status 3, which Linux never sends)",
	      "see the peer's documentation"),
	EVENT("UNREACHABLE", 4, ERROR, "REDIRECT",
	      "the service is elsewhere (SIDR status 4, a redirection, which Linux never sends and "
	      "does not follow)",
	      "connect to the address that the service was moved to"),
	EVENT("UNREACHABLE", 5, ERROR, "SIDR_VERSION",
	      "the peer does not take this version of the request (SIDR status 5, which Linux "
	      "never sends)",
	      "see the peer's documentation"),
	EVENT("UNREACHABLE", CM_ANY, LIKELY, "NO_ANSWER", "the peer cannot be reached",
	      "ping it, and see that it has an RDMA device at that address"),

	/* ---- The peer refuses: enum ib_cm_rej_reason ------------------------------------------------------- */

	EVENT("REJECTED", 1, ERROR, "NO_QP",
	      "the peer has no queue pair left (reason 1; of Linux, IPoIB alone sends it)",
	      "look for a limit there: rdma.max of the cgroup, or the device's max_qp"),
	EVENT("REJECTED", 2, ERROR, "NO_EEC",
	      "the peer has no end-to-end context left (reason 2, which Linux never sends)",
	      "use RC: reliable datagrams are history"),
	EVENT("REJECTED", 3, ERROR, "NO_RESOURCES",
	      "the peer lacks memory or queue pairs (reason 3, which Linux never sends)",
	      "see the peer's limits and its log"),
	EVENT("REJECTED", 4, ERROR, "GAVE_UP",
	      "the peer gave up before it had our answer: its program ended, destroyed the id or "
	      "timed out (reason 4, sent by the connecting end)",
	      "accept sooner: take requests from the event channel in a thread of their own"),
	EVENT("REJECTED", 5, ERROR, "UNSUPPORTED",
	      "the peer does not know this kind of request (reason 5, which Linux never sends)",
	      "see the peer's documentation"),
	EVENT("REJECTED", 6, ERROR, "COMM_ID",
	      "the peer does not know the connection that our message was about (reason 6, which "
	      "Linux never sends)",
	      "connect anew"),
	EVENT("REJECTED", 7, ERROR, "COMM_ID",
	      "the message was about an earlier connection of these ends (reason 7, which Linux "
	      "never sends)",
	      "connect anew"),
	EVENT("REJECTED", 8, ERROR, "NO_LISTENER",
	      "no program listens on this port at that host (reason 8, invalid service ID, sent by "
	      "the peer's kernel)",
	      "start the server first, and compare port and port space: RDMA_PS_TCP, RDMA_PS_UDP "
	      "and RDMA_PS_IB each have ports of their own, and those of TCP sockets are others "
	      "again"),
	EVENT("REJECTED", 9, ERROR, "TRANSPORT_TYPE",
	      "the peer's queue pair is of another type (reason 9, which Linux never sends)",
	      "create the same type at both ends: RC, UC or XRC"),
	EVENT("REJECTED", 10, ERROR, "STALE",
	      "the peer still has a connection with a queue pair of this number, which has now "
	      "been closed (reason 10, sent by the peer's kernel): this end, or one before it, "
	      "vanished without a word",
	      "connect again, with a new id and a new queue pair, after a second"),
	EVENT("REJECTED", 11, ERROR, "RDC",
	      "the peer has no such reliable datagram channel (reason 11, which Linux never sends)",
	      "use RC: reliable datagrams are history"),
	EVENT("REJECTED", 12, LIKELY, "PEER_GID",
	      "the peer has no GID for the path that we ask for (reason 12, sent by the peer's "
	      "kernel): another subnet, VLAN or type, or its interface is down",
	      "compare both ends by `rdmaez-doctor --gids`: the same type (RoCE v1 or v2) and "
	      "VLAN"),
	EVENT("REJECTED", 13, ERROR, "PEER_LID",
	      "the request's path names a LID that is not the peer's (reason 13)",
	      "the subnet has changed: resolve the route again"),
	EVENT("REJECTED", 14, ERROR, "PEER_SL",
	      "the peer does not take the path's service level (reason 14)",
	      "use a service level that the subnet manager offers to both ends"),
	EVENT("REJECTED", 15, ERROR, "PEER_TCLASS",
	      "the peer does not take the path's traffic class (reason 15)",
	      "use the same at both ends: RDMA_OPTION_ID_TOS, or default_roce_tos of rdma_cm in "
	      "configfs"),
	EVENT("REJECTED", 16, ERROR, "PEER_HOPS",
	      "the peer does not take the path's hop limit (reason 16)",
	      "see the routers between the subnets"),
	EVENT("REJECTED", 17, ERROR, "PEER_RATE",
	      "the peer's port does not take the path's rate (reason 17)",
	      "resolve the route again, or limit the rate"),
	EVENT("REJECTED", 18, ERROR, "ALTERNATE",
	      "the peer has no GID for the alternate path (reason 18, sent by the peer's kernel)",
	      "connect without an alternate path, or correct it"),
	EVENT("REJECTED", 19, ERROR, "ALTERNATE",
	      "the alternate path's LID is not the peer's (reason 19)",
	      "connect without an alternate path, or correct it"),
	EVENT("REJECTED", 20, ERROR, "ALTERNATE",
	      "the peer does not take the alternate path's service level (reason 20)",
	      "connect without an alternate path, or correct it"),
	EVENT("REJECTED", 21, ERROR, "ALTERNATE",
	      "the peer does not take the alternate path's traffic class (reason 21)",
	      "connect without an alternate path, or correct it"),
	EVENT("REJECTED", 22, ERROR, "ALTERNATE",
	      "the peer does not take the alternate path's hop limit (reason 22)",
	      "connect without an alternate path, or correct it"),
	EVENT("REJECTED", 23, ERROR, "ALTERNATE",
	      "the peer does not take the alternate path's rate (reason 23)",
	      "connect without an alternate path, or correct it"),
	EVENT("REJECTED", 24, ERROR, "REDIRECT",
	      "another port answers for the peer (reason 24, which Linux never sends and librdmacm "
	      "does not follow)",
	      "connect to that port"),
	EVENT("REJECTED", 25, ERROR, "REDIRECT",
	      "the service is at another port (reason 25, which Linux never sends and librdmacm "
	      "does not follow)",
	      "connect to that port"),
	EVENT("REJECTED", 26, ERROR, "PEER_MTU",
	      "the path's MTU is greater than the peer's port takes (reason 26)",
	      "set the same MTU on both interfaces and on the switches between"),
	EVENT("REJECTED", 27, ERROR, "RESPONDER_RESOURCES",
	      "the peer does not take so many outstanding RDMA Reads (reason 27)",
	      "lower conn_param.initiator_depth and responder_resources"),
	EVENT("REJECTED", 28, LIKELY, "REFUSED",
	      "the program there refused: by rdma_reject(), by a failed rdma_accept(), or because "
	      "it ended; or it listens on this port, but at another address (reason 28, consumer "
	      "defined)",
	      "see its log, and to which address it is bound"),
	EVENT("REJECTED", 29, ERROR, "PEER_RNR_RETRY",
	      "the peer does not take this rnr_retry_count (reason 29)", "use a value from 0 to 7"),
	EVENT("REJECTED", 30, ERROR, "COMM_ID",
	      "the peer has a connection of this ID already (reason 30, which Linux never sends)",
	      "connect anew"),
	EVENT("REJECTED", 31, ERROR, "CLASS_VERSION",
	      "the peer's connection manager is of another version (reason 31, which Linux never "
	      "sends)",
	      "see the peer's documentation"),
	EVENT("REJECTED", 32, ERROR, "PEER_FLOW_LABEL",
	      "the peer does not take the path's flow label (reason 32)",
	      "see the routers between the subnets"),
	EVENT("REJECTED", 33, ERROR, "ALTERNATE",
	      "the peer does not take the alternate path's flow label (reason 33)",
	      "connect without an alternate path, or correct it"),
	EVENT("REJECTED", 35, ERROR, "ECE",
	      "the program there does not take the vendor's options of this connection, by "
	      "rdma_reject_ece() (reason 35)",
	      "connect without ECE: rdma_set_local_ece() with options 0"),
	EVENT("REJECTED", -ECONNREFUSED, LIKELY, "NO_LISTENER",
	      "iWARP: nobody listens on the TCP port at that address, or the program there refused",
	      "start the server first, compare address and port, and see its log"),
	EVENT("REJECTED", -ECONNRESET, LIKELY, "REFUSED",
	      "iWARP: the program there refused by rdma_reject(), or closed the connection before "
	      "it stood",
	      "see its log"),
	EVENT("REJECTED", CM_ANY, LIKELY, "REFUSED",
	      "the peer refused for a reason that no standard names",
	      "see the peer's log and documentation"),

	/* ---- Later ----------------------------------------------------------------------------------------- */

	EVENT("CONNECT_ERROR", CM_ANY, LIKELY, "CONNECT",
	      "the peer accepted, but this end could not move its queue pair to RTR and RTS, and "
	      "has told the peer so",
	      "look at the queue pair's attributes, and at the kernel log"),
	EVENT("MULTICAST_ERROR", -ETIMEDOUT, ERROR, "SA_SILENT",
	      "the subnet manager did not answer the request to join",
	      "see that one runs (`sminfo`), and that the port is ACTIVE"),
	EVENT("MULTICAST_ERROR", -EINVAL, LIKELY, "GROUP",
	      "the subnet manager refused: the group has another P_Key, Q_Key, MTU or rate, or "
	      "does not exist",
	      "compare with `saquery MCMemberRecord`"),
	EVENT("MULTICAST_ERROR", -ENETRESET, ERROR, "GROUP_LOST",
	      "the membership ended: the port went down or the subnet manager was restarted",
	      "leave the group, and join again"),
	EVENT("MULTICAST_ERROR", CM_ANY, LIKELY, "GROUP",
	      "the group was not joined, or the queue pair not attached to it",
	      "see that the id's queue pair is UD and that max_mcast_grp is not reached"),
	EVENT("DEVICE_REMOVAL", CM_ANY, ERROR, "REMOVAL",
	      "the device is being removed, or its driver unloaded",
	      "destroy the id and all that is on the device: the removal waits for it"),
	EVENT("ADDR_CHANGE", CM_ANY, LIKELY, "ADDRESS_CHANGE",
	      "the hardware address behind the id's address has changed, as when a bond fails over",
	      "connect anew: this connection stays on the old port"),
};

const struct cm_text *cm_text_find(const char *of, int status)
{
	const struct cm_text *general = NULL;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct cm_text *text = &texts[i];
		const bool fits = text->of && strcmp(text->of, of) == 0;

		if (fits && (text->status == status || text->status == CM_ANY))
			return text;
		if (!general && !text->of && (text->status == status || text->status == CM_ANY))
			general = text;
	}
	return general;
}
