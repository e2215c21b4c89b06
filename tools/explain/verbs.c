/* SPDX-License-Identifier: MIT */
/* What the wrapped verbs of the control path have in common, and those of devices: list, open, ask, events. */
#include "verbs.h"
#include "watch.h"

const char explain_verb_open_device[] = "ibv_open_device";
const char explain_verb_reg_mr[] = "ibv_reg_mr";
const char explain_verb_create_ah[] = "ibv_create_ah";
const char explain_verb_create_qp[] = "ibv_create_qp";
const char explain_verb_create_qp_ex[] = "ibv_create_qp_ex";
const char explain_verb_create_cq_ex[] = "ibv_create_cq_ex";

/* ---- Within an explanation ----------------------------------------------------------------------- */

bool explain_answered(const struct explain_call *call, int *result)
{
	if (!EXPLAIN_RARE(explain_thread.explaining))
		return false;
	if (explain_replayed(call, result))
		return true;
	*result = EOPNOTSUPP;
	return call->kind == EXPLAIN_REFUSAL;
}

bool explain_answered_null(const struct explain_call *call)
{
	int result;

	if (!explain_answered(call, &result))
		return false;
	/* What was replayed has set errno. */
	if (result)
		errno = result;
	return true;
}

void explain_replay_as(const char *verb)
{
	explain_thread.replay = verb;
}

/* ---- Devices --------------------------------------------------------------------------------------- */

#undef ibv_get_device_list
EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
	struct explain_call call = EXPLAIN_CALL(ibv_get_device_list, EXPLAIN_REFUSAL);
	struct ibv_context *context;
	struct ibv_device **list;
	int saved_errno;

	if (explain_replayed_null(&call))
		return NULL;
	explain_enter();
	list = REAL(ibv_get_device_list)(count);
	saved_errno = errno;
	/* An empty list is no refusal, but leaves the program without a device. */
	if (list && !*list)
		errno = ENODEV;
	if (explain_leave_null(&call, list && *list ? list : NULL)) {
		rdmaez_device_open(NULL, &context, call.diag);
		explain_refused(&call, NULL);
	}
	errno = saved_errno;
	return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	REAL(ibv_free_device_list)(list);
}

EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	return REAL(ibv_get_device_guid)(device);
}

static void explain_open(struct explain_call *call, const struct ibv_device *device)
{
	struct ibv_context *context;

	explain_replay_as(explain_verb_open_device);
	rdmaez_device_open(device->name, &context, call->diag);
	explain_refused(call, NULL);
}

EXPORT struct ibv_context *verbs_open_device(struct ibv_device *device, void *private_data)
{
	/* Called by the program, it is mlx5dv_open_device() or an ibv_open_device() that was looked up by handle. */
	struct explain_call call = EXPLAIN_CALL_OF(explain_verb_open_device, EXPLAIN_REFUSAL);
	struct ibv_context *context;

	explain_enter();
	context = REAL(verbs_open_device)(device, private_data);
	if (context)
		explain_wrap_context(context);
	if (explain_leave_null(&call, context))
		explain_open(&call, device);
	else if (context)
		explain_made(EXPLAIN_CONTEXT, context);
	return context;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct explain_call call = EXPLAIN_CALL_OF(explain_verb_open_device, EXPLAIN_REFUSAL);
	struct ibv_context *context;

	if (explain_answered_null(&call))
		return NULL;
	explain_enter();
	context = REAL(ibv_open_device)(device);
	if (context)
		explain_wrap_context(context);
	if (explain_leave_null(&call, context))
		explain_open(&call, device);
	else if (context)
		explain_made(EXPLAIN_CONTEXT, context);
	return context;
}

EXPORT struct ibv_context *ibv_import_device(int fd)
{
	EXPLAIN_POINTER(struct ibv_context, "ibv_import_device", REAL(ibv_import_device)(fd), NULL,
			explain_wrap_context(result);
			explain_made(EXPLAIN_CONTEXT, result), EXPLAIN_NOTHING);
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
	explain_does("ibv_close_device", EXPLAIN_CONTEXT, context);
	explain_unwrap_context(context);
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_close_device", REAL(ibv_close_device)(context), NULL,
		       explain_destroyed(EXPLAIN_CONTEXT, context), EXPLAIN_NOTHING);
}

EXPORT int ibv_fork_init(void)
{
	EXPLAIN_STATUS(EXPLAIN_REFUSAL, "ibv_fork_init", REAL(ibv_fork_init)(), NULL,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

/* ---- Queries ----------------------------------------------------------------------------------------- */

#define QUERY(name, parameters, arguments, context)                                 \
	EXPORT int name parameters                                                  \
	{                                                                           \
		EXPLAIN_STATUS(EXPLAIN_QUERY, #name, REAL(name) arguments, context, \
			       EXPLAIN_NOTHING, EXPLAIN_NOTHING);                   \
	}

#undef ibv_query_port
struct _compat_ibv_port_attr;
QUERY(ibv_query_device, (struct ibv_context * context, struct ibv_device_attr *attr),
      (context, attr), context)
QUERY(ibv_query_port,
      (struct ibv_context * context, uint8_t port, struct _compat_ibv_port_attr *attr),
      (context, port, attr), context)
QUERY(ibv_query_srq, (struct ibv_srq * srq, struct ibv_srq_attr *attr), (srq, attr), srq->context)
QUERY(ibv_query_qp,
      (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr),
      (qp, attr, mask, init_attr), qp->context)
QUERY(ibv_query_ece, (struct ibv_qp * qp, struct ibv_ece *ece), (qp, ece), qp->context)

int explain_query_device_ex(struct ibv_context *context,
			    const struct ibv_query_device_ex_input *input,
			    struct ibv_device_attr_ex *attr, size_t size)
{
	EXPLAIN_STATUS(EXPLAIN_QUERY, "ibv_query_device_ex",
		       explain_originals(context)->query_device_ex(context, input, attr, size),
		       context, EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

int explain_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		       size_t size)
{
	EXPLAIN_STATUS(EXPLAIN_QUERY, "ibv_query_port",
		       explain_originals(context)->query_port(context, port, attr, size), context,
		       EXPLAIN_NOTHING, EXPLAIN_NOTHING);
}

/* Whether a table of a port has such a row: to read on until there is none is how some programs learn its length. */
static bool has_row(struct ibv_context *context, unsigned int port, unsigned int index,
		    bool of_gids)
{
	struct ibv_port_attr attr;
	bool has;

	explain_enter();
	memset(&attr, 0, sizeof(attr));
	has = REAL(ibv_query_port)(context, (uint8_t)port, (struct _compat_ibv_port_attr *)&attr) ||
	      index < (unsigned int)(of_gids ? attr.gid_tbl_len : attr.pkey_tbl_len);
	explain_exit();
	return has;
}

/* A row that is empty, or beyond the table, is no finding. */
#define QUERY_ROW(name, parameters, arguments, port, index, of_gids)                     \
	EXPORT int name parameters                                                       \
	{                                                                                \
		struct explain_call call = EXPLAIN_CALL(name, EXPLAIN_QUERY);            \
		int result, saved_errno;                                                 \
                                                                                         \
		explain_enter();                                                         \
		result = REAL(name) arguments;                                           \
		saved_errno = errno;                                                     \
		if (result && !explain_thread.explaining && explain_thread.depth == 1 && \
		    !explain_thread.outer &&                                             \
		    (result == ENODATA ||                                                \
		     !has_row(context, (port), (unsigned int)(index), of_gids))) {       \
			explain_exit();                                                  \
			errno = saved_errno;                                             \
			return result;                                                   \
		}                                                                        \
		errno = saved_errno;                                                     \
		if (explain_leave(&call, result))                                        \
			explain_refused(&call, context);                                 \
		return result;                                                           \
	}

QUERY_ROW(ibv_query_gid,
	  (struct ibv_context * context, uint8_t port, int index, union ibv_gid *gid),
	  (context, port, index, gid), port, index, true)
QUERY_ROW(ibv_query_pkey, (struct ibv_context * context, uint8_t port, int index, __be16 *pkey),
	  (context, port, index, pkey), port, index, false)
QUERY_ROW(_ibv_query_gid_ex,
	  (struct ibv_context * context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
	   uint32_t flags, size_t size),
	  (context, port, index, entry, flags, size), port, index, true)

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
				    size_t count, uint32_t flags, size_t size)
{
	struct explain_call call = EXPLAIN_CALL(ibv_query_gid_table, EXPLAIN_QUERY);
	ssize_t result;

	explain_enter();
	result = REAL(_ibv_query_gid_table)(context, entries, count, flags, size);
	if (explain_leave(&call, result < 0 ? (int)result : 0))
		explain_refused(&call, context);
	return result;
}

/* ---- Events ------------------------------------------------------------------------------------------ */

static bool is_error_of_qp(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR;
}

/* What tells of an error that is not of a queue pair. */
static bool is_error_of_other(enum ibv_event_type type)
{
	return type == IBV_EVENT_CQ_ERR || type == IBV_EVENT_SRQ_ERR ||
	       type == IBV_EVENT_WQ_FATAL || type == IBV_EVENT_PORT_ERR ||
	       type == IBV_EVENT_DEVICE_FATAL;
}

/* The queue pair cannot be destroyed before the program has acknowledged the event. */
static void explain_event_of_qp(struct explain_call *call, const struct ibv_async_event *event)
{
	struct ibv_qp *const qp = event->element.qp;
	const enum ibv_qp_state state = qp->state;

	if (is_error_of_qp(event->event_type))
		explain_qp_failed(qp->context, qp->qp_num);
	if (!explain_begin(call))
		return;
	rdmaez_event_explain_qp(event, call->diag);
	explain_keep_state(qp, state);
	explain_end(call);
}

static void explain_event(struct explain_call *call, const struct ibv_context *context,
			  const struct ibv_async_event *event)
{
	const struct rdmaez_advice *const advice = rdmaez_event_explain(event);
	char title[256], port[16] = "";
	struct explain_text text = {.title = title,
				    .label = advice->name,
				    .event = advice->name,
				    .device = context->device ? context->device->name : ""};

	if (!explain_begin(call))
		return;
	if (event->event_type == IBV_EVENT_PORT_ERR)
		snprintf(port, sizeof(port), " of port %d", event->element.port_num);
	snprintf(title, sizeof(title), "%s%s (%s)", advice->name, port, advice->what);
	for (int i = 0; i < RDMAEZ_ADVICE_CAUSES && advice->cause[i] && text.count < 4; i++)
		text.finding[text.count++] =
			(struct explain_finding){.severity = RDMAEZ_DIAG_LIKELY,
						 .reason = advice->name + strlen("IBV_"),
						 .field = "event_type",
						 .what = advice->cause[i],
						 .next = advice->fix};
	explain_say(call, &text);
}

/* That there is nothing at the moment is no refusal. */
static bool is_nothing_yet(int result)
{
	return result && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/*
 * A thread that waits for an event may be cancelled there, or leave by longjmp(): it enters only once there is one. The
 * library calls no other verb meanwhile.
 */
EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct explain_call call = EXPLAIN_CALL(ibv_get_async_event, EXPLAIN_REFUSAL);
	const int result = REAL(ibv_get_async_event)(context, event);

	explain_enter();
	if (explain_leave(&call, is_nothing_yet(result) ? 0 : result)) {
		explain_refused(&call, context);
	} else if (!result) {
		call.kind = EXPLAIN_EVENT;
		if (is_error_of_qp(event->event_type) ||
		    event->event_type == IBV_EVENT_PATH_MIG_ERR)
			explain_event_of_qp(&call, event);
		else if (is_error_of_other(event->event_type))
			explain_event(&call, context, event);
	}
	return result;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	REAL(ibv_ack_async_event)(event);
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct explain_call call = EXPLAIN_CALL(ibv_get_cq_event, EXPLAIN_REFUSAL);
	const struct explain_watch_call waits = explain_watch_enter(
		EXPLAIN_GET_CQ_EVENT, (unsigned int)channel->fd + 1, __builtin_frame_address(0));
	const int result = REAL(ibv_get_cq_event)(channel, cq, cq_context);

	explain_watch_exit(&waits);
	if (!result)
		explain_watch_event(*cq);
	explain_enter();
	if (explain_leave(&call, is_nothing_yet(result) ? 0 : result))
		explain_refused(&call, channel->context);
	return result;
}

/* The headers' bodies, which the object has as well, call it, too. */
EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
	explain_watch_acked(cq, count);
	REAL(ibv_ack_cq_events)(cq, count);
}
