/* SPDX-License-Identifier: MIT */
/*
 * librdmacm: what it refuses, and the events that say why a connection did not come about.
 *
 * Its functions call each other and verbs, all through the dynamic linker. So the outermost one collects what happens
 * within it, the verb that was refused or the event that a synchronous id waited for, and tells of it once, if it was
 * refused itself.
 */
#include <ifaddrs.h>
#include <netdb.h>
#include <unistd.h>

#include "cm.h"
#include "watch.h"

/* Newer than some headers. */
int rdma_establish(struct rdma_cm_id *id);
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *attr_mask);
int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece);
int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece);
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg);
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);

/* A call of librdmacm, which may be one within another. */
struct cm_call {
	const char *verb;
	const void *caller, *frame;
	bool is_inner;
};

#define CM_CALL(name) \
	{.verb = #name, .caller = __builtin_return_address(0), .frame = __builtin_frame_address(0)}

/* What happened within the outermost call. Not on the stack, which a program may leave by longjmp(). */
static __thread struct {
	struct explain_outer outer;
	const void *frame;
	const char *refused; /* the call within it that was refused last */
	int error;           /* its errno value */
	const char *event;   /* the event that it waited for, and that was none to hope for */
	int status;
} within __attribute__((__tls_model__("initial-exec")));

/* ---- Telling --------------------------------------------------------------------------------------- */

/* As a literal: rdma_event_str() of the program's library may be gone. */
static const char *event_name(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED",     "RDMA_CM_EVENT_ADDR_ERROR",
		"RDMA_CM_EVENT_ROUTE_RESOLVED",    "RDMA_CM_EVENT_ROUTE_ERROR",
		"RDMA_CM_EVENT_CONNECT_REQUEST",   "RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR",     "RDMA_CM_EVENT_UNREACHABLE",
		"RDMA_CM_EVENT_REJECTED",          "RDMA_CM_EVENT_ESTABLISHED",
		"RDMA_CM_EVENT_DISCONNECTED",      "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",    "RDMA_CM_EVENT_MULTICAST_ERROR",
		"RDMA_CM_EVENT_ADDR_CHANGE",       "RDMA_CM_EVENT_TIMEWAIT_EXIT",
		"RDMA_CM_EVENT_ADDRINFO_RESOLVED", "RDMA_CM_EVENT_ADDRINFO_ERROR",
	};

	return (size_t)event < sizeof(names) / sizeof(names[0]) ? names[event] : "unknown event";
}

/* Whether there is something to say: ESTABLISHED and the like have no text, and DISCONNECTED is the end of all. */
static bool is_bad(const struct rdma_cm_event *event)
{
	const char *const name = event_name(event->event);
	const struct rdmaez_impl_cm_row *const row = rdmaez_impl_cm_find(name, event->status);

	return row && row->of;
}

/* Whether the call was refused because one within it was. An id without a channel says ENOMEM if it gets none. */
static bool is_by_inner(int error, const struct cm_about *about)
{
	return !within.event && !about->cause && within.refused &&
	       (within.error == error || strcmp(within.refused, "rdma_create_event_channel") == 0);
}

/* Whether the verb that was refused within the call is why. librdmacm tells of its own failures by -1. */
static bool is_by_verb(void)
{
	return within.outer.has_diag && (!within.event || within.status == -1 ||
					 strcmp(within.event, "RDMA_CM_EVENT_CONNECT_ERROR") == 0);
}

/* What happened: an event that the program asked for, or a call that was refused. */
static void add_what(struct cm_title *title, const struct cm_call *call, int error, bool by_inner)
{
	if (within.event && !error) {
		cm_add(title, "%s", within.event);
	} else {
		cm_add(title, by_inner ? "%s: %s failed" : "%s failed", call->verb, within.refused);
		if (error) {
			const int told = by_inner ? within.error : error;

			cm_add(title, " with %s (%d)", rdmaez_errno_str(told), told);
		}
		if (within.event)
			cm_add(title, ": %s", within.event);
	}
	if (within.status)
		cm_add(title, ", status %d", within.status);
}

static struct explain_finding finding_of(const struct cm_call *call, int error,
					 const struct cm_about *about, bool by_inner)
{
	const char *const verb = by_inner ? within.refused : call->verb;

	if (within.event)
		return cm_finding(within.event, within.status);
	if (about->cause)
		return cm_finding(verb, about->cause);
	if (by_inner)
		error = within.error;
	if (error == ENOENT && strcmp(verb, "rdma_create_event_channel") == 0)
		error = rdmaez_impl_cm_why_no_node();
	return cm_finding(verb, error);
}

/* A call was refused, by itself, by a call within it, or because of an event; or an event came, and error is 0. */
static void tell(const struct cm_call *call, int error, const struct cm_about *about,
		 const struct rdma_cm_event *event)
{
	struct explain_call report = {
		.verb = call->verb, .caller = call->caller, .kind = EXPLAIN_CM};
	const bool by_inner = is_by_inner(error, about);
	struct explain_text text = {
		.error = error, .event = within.event, .status = within.status, .count = 1};
	struct cm_title title = {.length = 0}, label = {.length = 0};

	if (strcmp(call->verb, "rdma_bind_addr") == 0 && explain_is_probe(&report, error))
		return;
	if (!explain_begin(&report))
		return;
	if (is_by_verb()) {
		*report.diag = within.outer.diag;
		report.diag->event = within.event;
		explain_end(&report);
		return;
	}
	if (within.event)
		cm_add(&label, "%s %d", within.event, within.status);
	else
		cm_add(&label, "%s %s", call->verb, error ? rdmaez_errno_str(error) : "failed");
	add_what(&title, call, error, by_inner);
	cm_add_about(&title, about);
	if (within.event && !event && about->id)
		event = about->id->event;
	if (event && event->event == RDMA_CM_EVENT_REJECTED)
		cm_add_words(&title, event);
	text.title = title.text;
	text.label = label.text;
	text.device = about->id && about->id->verbs ? about->id->verbs->device->name : NULL;
	text.finding[0] = finding_of(call, error, about, by_inner);
	explain_say(&report, &text);
}

static void enter(struct cm_call *call)
{
	/* Calls within another lie deeper in the stack; if this one does not, the program has left the other. */
	call->is_inner = explain_thread.outer && (uintptr_t)call->frame < (uintptr_t)within.frame;
	if (call->is_inner)
		return;
	within.outer.has_diag = false;
	within.outer.refused = 0;
	within.frame = call->frame;
	within.refused = within.event = NULL;
	within.status = 0;
	explain_thread.outer = &within.outer;
}

/* A call that returned: whether it is the program's own. */
static bool is_outermost(const struct cm_call *call, bool refused)
{
	if (!call->is_inner) {
		explain_thread.outer = NULL;
		return true;
	}
	if (refused) {
		within.refused = call->verb;
		within.error = errno;
	}
	return false;
}

static int leave(struct cm_call *call, int result, const struct cm_about *about)
{
	/* Nothing has come yet on a channel that does not wait, or a signal came first. */
	const bool waits = errno == EAGAIN || errno == EINTR || errno == EINPROGRESS;

	if (is_outermost(call, result != 0) && EXPLAIN_RARE(result) && !waits)
		tell(call, errno, about, NULL);
	return result;
}

static void *leave_null(struct cm_call *call, void *result)
{
	const struct cm_about about = {.id = NULL};

	if (is_outermost(call, !result) && EXPLAIN_RARE(!result))
		tell(call, errno, &about, NULL);
	return result;
}

/* ---- What the arguments tell ------------------------------------------------------------------------ */

/* ENOENT is of the whole kernel part: it has no id of this number. */
static int cause_of(int cause)
{
	return errno == ENOENT ? RDMAEZ_IMPL_CM_IS_NOT_OURS : errno == EINVAL ? cause : 0;
}

static int cause_of_address(const struct sockaddr *address)
{
	if (address->sa_family != AF_INET && address->sa_family != AF_INET6 &&
	    address->sa_family != AF_IB)
		return RDMAEZ_IMPL_CM_IS_FAMILY;
	if (address->sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(
		    &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr) &&
	    !((const struct sockaddr_in6 *)(const void *)address)->sin6_scope_id)
		return RDMAEZ_IMPL_CM_IS_SCOPE;
	return 0;
}

/* Where no argument is wrong, the route may be. */
static int cause_of_peer(const struct sockaddr *peer)
{
	const int error = errno;
	const int cause = rdmaez_impl_cm_route_cause(peer, cause_of_address(peer), error);

	errno = error;
	return cause;
}

/* The sizes are those of enum ib_cm_data_size in the kernel's ib_cm.h; over iWARP each driver has its own. */
static int cause_of_param(const struct rdma_cm_id *id, const struct rdma_conn_param *param,
			  bool accepts)
{
	const bool is_ip = id->route.addr.src_addr.sa_family != AF_IB;
	const bool is_ud = id->qp_type == IBV_QPT_UD;
	const bool is_iwarp = id->verbs && id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	const int room = accepts ? (is_ud ? 136 : 196) : (is_ud ? 216 : 92) - (is_ip ? 36 : 0);
	struct ibv_device_attr device;

	if (errno != EINVAL)
		return 0;
	if (!id->qp && !param)
		return RDMAEZ_IMPL_CM_IS_NO_PARAM;
	if (accepts && !id->verbs)
		return RDMAEZ_IMPL_CM_IS_LISTENER;
	if (!param)
		return 0;
	if (!is_iwarp && param->private_data && param->private_data_len > room)
		return RDMAEZ_IMPL_CM_IS_PRIVATE_DATA;
	if (!id->verbs || id->ps != RDMA_PS_TCP || ibv_query_device(id->verbs, &device))
		return 0;
	errno = EINVAL;
	if (param->responder_resources != RDMA_MAX_RESP_RES &&
	    param->responder_resources > device.max_qp_rd_atom)
		return RDMAEZ_IMPL_CM_IS_RESOURCES;
	if (param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
	    param->initiator_depth > device.max_qp_init_rd_atom)
		return RDMAEZ_IMPL_CM_IS_DEPTH;
	return 0;
}

static int cause_of_join(const struct rdma_cm_id *id, const struct sockaddr *addr)
{
	return !id->verbs                  ? RDMAEZ_IMPL_CM_IS_NO_DEVICE
	       : id->qp_type != IBV_QPT_UD ? RDMAEZ_IMPL_CM_IS_NOT_UD
					   : cause_of_address(addr);
}

/* ---- Calls --------------------------------------------------------------------------------------------- */

/* A wrapper. What it was about is looked at after a refusal alone, with errno still the call's. */
#define WRAP(name, parameters, arguments, ...)                                      \
	EXPORT int name parameters                                                  \
	{                                                                           \
		struct cm_call call = CM_CALL(name);                                \
		int result;                                                         \
                                                                                    \
		enter(&call);                                                       \
		result = REAL(name) arguments;                                      \
		if (!EXPLAIN_RARE(result))                                          \
			return leave(&call, 0, NULL);                               \
		return leave(&call, result, &(const struct cm_about){__VA_ARGS__}); \
	}

/* libfabric asks so which addresses are those of an RDMA device. */
static bool is_same_ip(const struct sockaddr *one, const struct sockaddr *other)
{
	if (!one || one->sa_family != other->sa_family)
		return false;
	if (one->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)one)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)other)->sin_addr.s_addr;
	return one->sa_family == AF_INET6 &&
	       IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)(const void *)one)->sin6_addr,
				  &((const struct sockaddr_in6 *)(const void *)other)->sin6_addr);
}

/* The kernel says EADDRNOTAVAIL, too, where another id holds the port: on all addresses, if this is one of the host's. */
static bool is_port_taken(const struct sockaddr *address)
{
	const int error = errno;
	bool is = error == EADDRNOTAVAIL && cm_is_any(address);
	struct ifaddrs *list;

	if (error == EADDRNOTAVAIL && !is && !getifaddrs(&list)) {
		for (const struct ifaddrs *at = list; at && !is; at = at->ifa_next)
			is = is_same_ip(at->ifa_addr, address);
		freeifaddrs(list);
	}
	errno = error;
	return is;
}

EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cm_call call = CM_CALL(rdma_bind_addr);
	const struct explain_call tried = {.verb = call.verb, .caller = call.caller};
	int result;

	enter(&call);
	result = REAL(rdma_bind_addr)(id, addr);
	if (!EXPLAIN_RARE(result)) {
		leave(&call, 0, NULL);
		explain_tried(&tried, id);
		return 0;
	}
	return leave(&call, result,
		     &(const struct cm_about){.id = id,
					      .from = addr,
					      .cause = is_port_taken(addr)
							       ? RDMAEZ_IMPL_CM_IS_PORT_TAKEN
							       : cause_of(cause_of_address(addr))});
}

WRAP(rdma_resolve_addr,
     (struct rdma_cm_id * id, struct sockaddr *from, struct sockaddr *to, int timeout_ms),
     (id, from, to, timeout_ms), .id = id, .from = from, .to = to,
     .cause = cause_of(from && from->sa_family && from->sa_family != to->sa_family
			       ? RDMAEZ_IMPL_CM_IS_FAMILIES
			       : cause_of_peer(to)))
WRAP(rdma_resolve_route, (struct rdma_cm_id * id, int timeout_ms), (id, timeout_ms), .id = id,
     .cause = cause_of(timeout_ms ? 0 : RDMAEZ_IMPL_CM_IS_TIMEOUT_ZERO))
WRAP(rdma_listen, (struct rdma_cm_id * id, int backlog), (id, backlog), .id = id,
     .cause = cause_of(0))
WRAP(rdma_connect, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param), .id = id,
     .cause = cause_of(cause_of_param(id, param, false)))
WRAP(rdma_accept, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param), .id = id,
     .cause = cause_of(cause_of_param(id, param, true)))
WRAP(rdma_reject, (struct rdma_cm_id * id, const void *private_data, uint8_t length),
     (id, private_data, length), .id = id,
     .cause = cause_of(length > (id->qp_type == IBV_QPT_UD ? 136 : 148)
			       ? RDMAEZ_IMPL_CM_IS_PRIVATE_DATA
			       : 0))
WRAP(rdma_reject_ece, (struct rdma_cm_id * id, const void *private_data, uint8_t length),
     (id, private_data, length), .id = id, .cause = cause_of(0))
WRAP(rdma_establish, (struct rdma_cm_id * id), (id), .id = id,
     .cause = cause_of(id->qp ? RDMAEZ_IMPL_CM_IS_HAS_QP : 0))
WRAP(rdma_notify, (struct rdma_cm_id * id, enum ibv_event_type event), (id, event), .id = id,
     .cause = cause_of(0))
WRAP(rdma_create_qp, (struct rdma_cm_id * id, struct ibv_pd *pd, struct ibv_qp_init_attr *init),
     (id, pd, init), .id = id,
     .cause = cause_of(id->qp                           ? RDMAEZ_IMPL_CM_IS_HAS_QP
		       : !id->verbs                     ? RDMAEZ_IMPL_CM_IS_NO_DEVICE
		       : pd && pd->context != id->verbs ? RDMAEZ_IMPL_CM_IS_OTHER_PD
							: 0))
WRAP(rdma_create_qp_ex, (struct rdma_cm_id * id, struct ibv_qp_init_attr_ex *init), (id, init),
     .id = id,
     .cause = cause_of(id->qp ? RDMAEZ_IMPL_CM_IS_HAS_QP
		       : init->comp_mask & IBV_QP_INIT_ATTR_PD && init->pd &&
				       init->pd->context != id->verbs
			       ? RDMAEZ_IMPL_CM_IS_OTHER_PD
			       : 0))
WRAP(rdma_create_srq, (struct rdma_cm_id * id, struct ibv_pd *pd, struct ibv_srq_init_attr *init),
     (id, pd, init), .id = id)
WRAP(rdma_create_srq_ex, (struct rdma_cm_id * id, struct ibv_srq_init_attr_ex *init), (id, init),
     .id = id)
WRAP(rdma_join_multicast, (struct rdma_cm_id * id, struct sockaddr *addr, void *context),
     (id, addr, context), .id = id, .to = addr, .cause = cause_of(cause_of_join(id, addr)))
WRAP(rdma_leave_multicast, (struct rdma_cm_id * id, struct sockaddr *addr), (id, addr), .id = id,
     .to = addr, .cause = cause_of(0))
WRAP(rdma_migrate_id, (struct rdma_cm_id * id, struct rdma_event_channel *channel), (id, channel),
     .id = id, .cause = cause_of(0))
WRAP(rdma_set_option, (struct rdma_cm_id * id, int level, int name, void *value, size_t length),
     (id, level, name, value, length), .id = id, .cause = cause_of(0))
WRAP(rdma_init_qp_attr, (struct rdma_cm_id * id, struct ibv_qp_attr *attr, int *attr_mask),
     (id, attr, attr_mask), .id = id, .cause = cause_of(0))
WRAP(rdma_set_local_ece, (struct rdma_cm_id * id, struct ibv_ece *ece), (id, ece), .id = id)
WRAP(rdma_get_remote_ece, (struct rdma_cm_id * id, struct ibv_ece *ece), (id, ece), .id = id)
WRAP(rdma_resolve_addrinfo,
     (struct rdma_cm_id * id, const char *node, const char *service,
      const struct rdma_addrinfo *hints),
     (id, node, service, hints), .id = id)

WRAP(rdma_query_addrinfo, (struct rdma_cm_id * id, struct rdma_addrinfo **info), (id, info),
     .id = id)
WRAP(rdma_write_cm_event,
     (struct rdma_cm_id * id, enum rdma_cm_event_type event, int status, uint64_t arg),
     (id, event, status, arg), .id = id, .cause = cause_of(0))

/* ---- Ids ------------------------------------------------------------------------------------------------ */

/* Counts what the program made: ids that librdmacm makes for itself live within one call. */
static int made(struct cm_call *call, int result, struct rdma_cm_id **id,
		const struct cm_about *about)
{
	if (!result && !call->is_inner)
		explain_made(EXPLAIN_CM_ID, *id);
	return leave(call, result, about);
}

EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
			  enum rdma_port_space ps)
{
	struct cm_call call = CM_CALL(rdma_create_id);

	enter(&call);
	return made(&call, REAL(rdma_create_id)(channel, id, context, ps), id,
		    &(const struct cm_about){.id = NULL});
}

EXPORT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
			  struct ibv_qp_init_attr *init)
{
	struct cm_call call = CM_CALL(rdma_create_ep);
	const struct cm_about about = {.from = res->ai_src_addr, .to = res->ai_dst_addr};

	enter(&call);
	return made(&call, REAL(rdma_create_ep)(id, res, pd, init), id, &about);
}

EXPORT int rdma_get_request(struct rdma_cm_id *listener, struct rdma_cm_id **id)
{
	struct cm_call call = CM_CALL(rdma_get_request);
	int result;

	enter(&call);
	result = REAL(rdma_get_request)(listener, id);
	return made(&call, result, id, &(const struct cm_about){.id = listener});
}

/* Of what is refused on the way down, within a call that has succeeded or has no result, nobody can act: it is counted. */
static void leave_silently(struct cm_call *call)
{
	if (is_outermost(call, false) && within.outer.refused && explain_process)
		atomic_fetch_add(&explain_process->inner, within.outer.refused);
}

EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct cm_call call = CM_CALL(rdma_destroy_qp);

	enter(&call);
	REAL(rdma_destroy_qp)(id);
	leave_silently(&call);
}

EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	struct cm_call call = CM_CALL(rdma_destroy_srq);

	enter(&call);
	REAL(rdma_destroy_srq)(id);
	leave_silently(&call);
}

EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct cm_call call = CM_CALL(rdma_destroy_id);
	struct explain_watch_call waits;
	int result;

	enter(&call);
	waits = explain_watch_enter(EXPLAIN_DESTROY_ID, 0, call.frame);
	/* Before, since what is freed may be made again at once by another thread. */
	if (!call.is_inner)
		explain_destroyed(EXPLAIN_CM_ID, id);
	result = REAL(rdma_destroy_id)(id);
	explain_watch_exit(&waits);
	if (!EXPLAIN_RARE(result)) {
		leave_silently(&call);
		return 0;
	}
	if (!call.is_inner)
		explain_made(EXPLAIN_CM_ID, id);
	return leave(
		&call, result,
		&(const struct cm_about){.id = id, .cause = cause_of(RDMAEZ_IMPL_CM_IS_NOT_OURS)});
}

EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	struct cm_call call = CM_CALL(rdma_destroy_ep);
	struct explain_watch_call waits;

	enter(&call);
	if (!call.is_inner)
		explain_destroyed(EXPLAIN_CM_ID, id);
	waits = explain_watch_enter(EXPLAIN_DESTROY_ID, 0, call.frame);
	REAL(rdma_destroy_ep)(id);
	explain_watch_exit(&waits);
	leave_silently(&call);
}

/*
 * Timers and counters that librdmacm has set for the program. Whether it has changed them is known at the end of the
 * connection, before the queue pair goes to ERR.
 */
static void advise(const struct cm_call *call, struct rdma_cm_id *id)
{
	struct explain_call counsel = {
		.verb = call->verb, .caller = call->caller, .kind = EXPLAIN_ADVICE};
	struct explain_outer *const outer = explain_thread.outer;
	struct explain_text text = {.count = 0};
	struct cm_title title = {.length = 0};

	if (!explain_options || !explain_options->advice || !id->qp || call->is_inner)
		return;
	explain_thread.outer = NULL;
	if (explain_begin(&counsel)) {
		text.count = cm_advice(id->qp, text.finding);
		cm_add(&title, "%s", call->verb);
		cm_add_about(&title, &(const struct cm_about){.id = id});
		text.title = title.text;
		text.label = text.finding[0].reason;
		text.device = id->verbs->device->name;
		if (text.count)
			explain_say(&counsel, &text);
		else
			explain_drop(&counsel);
	}
	explain_thread.outer = outer;
}

EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
	struct cm_call call = CM_CALL(rdma_disconnect);
	int result;

	enter(&call);
	advise(&call, id);
	if (id->qp)
		explain_qp_excuse(id->qp);
	result = REAL(rdma_disconnect)(id);
	if (!EXPLAIN_RARE(result))
		return leave(&call, 0, NULL);
	return leave(&call, result, &(const struct cm_about){.id = id, .cause = cause_of(0)});
}

/* ---- The rest ---------------------------------------------------------------------------------------------- */

EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cm_call call = CM_CALL(rdma_create_event_channel);

	enter(&call);
	return leave_null(&call, REAL(rdma_create_event_channel)());
}

EXPORT struct ibv_context **rdma_get_devices(int *count)
{
	struct cm_call call = CM_CALL(rdma_get_devices);

	enter(&call);
	return leave_null(&call, REAL(rdma_get_devices)(count));
}

EXPORT int rdma_getaddrinfo(const char *node, const char *service,
			    const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	struct cm_call call = CM_CALL(rdma_getaddrinfo);
	struct cm_about about = {.id = NULL};
	int result;

	enter(&call);
	result = REAL(rdma_getaddrinfo)(node, service, hints, res);
	/* Where librdmacm itself looks for a route, it goes on without. */
	if (!is_outermost(&call, false) || !EXPLAIN_RARE(result))
		return result;
	/* -1 leaves an errno value, all others are getaddrinfo()'s. */
	if (result != -1 && result != EAI_SYSTEM)
		about.cause =
			RDMAEZ_IMPL_CM_IS_EAI +
			(rdmaez_impl_cm_find(call.verb, RDMAEZ_IMPL_CM_IS_EAI + result)->of ? result
											    : 0);
	tell(&call, about.cause ? 0 : errno, &about, NULL);
	return result;
}

/* What an event is worth: to the program, or to the call of an id that waits for it. */
static void take(struct cm_call *call, const struct rdma_cm_event *event)
{
	const bool bad = is_bad(event);

	if (call->is_inner) {
		within.event = bad ? event_name(event->event) : NULL;
		within.status = bad ? event->status : 0;
		return;
	}
	explain_thread.outer = NULL;
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		explain_made(EXPLAIN_CM_ID, event->id);
	if (event->event == RDMA_CM_EVENT_DISCONNECTED)
		advise(call, event->id);
	/* The program will take the connection down, and the flushes that follow are its own. */
	if ((event->event == RDMA_CM_EVENT_DISCONNECTED ||
	     event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) &&
	    event->id->qp)
		explain_qp_excuse(event->id->qp);
	if (!EXPLAIN_RARE(bad))
		return;
	within.event = event_name(event->event);
	within.status = event->status;
	tell(call, 0, &(const struct cm_about){.id = event->id}, event);
}

EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct cm_call call = CM_CALL(rdma_get_cm_event);
	struct explain_watch_call waits;
	int result;

	enter(&call);
	waits = explain_watch_enter(EXPLAIN_GET_CM_EVENT, 0, call.frame);
	result = REAL(rdma_get_cm_event)(channel, event);
	explain_watch_exit(&waits);
	if (result) {
		/* A program that ends closes the channel under the thread that waits on it. */
		if (errno == EBADF && is_outermost(&call, true))
			return result;
		return leave(&call, result, &(const struct cm_about){.id = NULL});
	}
	take(&call, *event);
	return 0;
}
