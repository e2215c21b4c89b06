/* SPDX-License-Identifier: MIT */
/*
 * A librdmacm.so.1 that refuses: each call returns -1 with the errno value that $FAKE_CM_ERRNO has, and each event is
 * number $FAKE_CM_EVENT with status $FAKE_CM_STATUS. As in the library, a call without a channel waits for an event
 * itself, and calls go to each other and to verbs by the dynamic linker.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>

static int number(const char *name)
{
	const char *value = getenv(name);

	return value ? atoi(value) : 0;
}

static int refuse(void)
{
	errno = number("FAKE_CM_ERRNO");
	return errno ? -1 : 0;
}

#define REFUSE(name, parameters) \
	int name parameters      \
	{                        \
		return refuse(); \
	}

REFUSE(rdma_bind_addr, (struct rdma_cm_id * id, struct sockaddr *addr))
REFUSE(rdma_resolve_addr,
       (struct rdma_cm_id * id, struct sockaddr *src, struct sockaddr *dst, int timeout_ms))
REFUSE(rdma_resolve_route, (struct rdma_cm_id * id, int timeout_ms))
REFUSE(rdma_listen, (struct rdma_cm_id * id, int backlog))
REFUSE(rdma_reject, (struct rdma_cm_id * id, const void *private_data, uint8_t private_data_len))
REFUSE(rdma_disconnect, (struct rdma_cm_id * id))
REFUSE(rdma_notify, (struct rdma_cm_id * id, enum ibv_event_type event))
REFUSE(rdma_create_qp, (struct rdma_cm_id * id, struct ibv_pd *pd, struct ibv_qp_init_attr *init))
REFUSE(rdma_join_multicast, (struct rdma_cm_id * id, struct sockaddr *addr, void *context))
REFUSE(rdma_leave_multicast, (struct rdma_cm_id * id, struct sockaddr *addr))
REFUSE(rdma_migrate_id, (struct rdma_cm_id * id, struct rdma_event_channel *channel))
REFUSE(rdma_set_option,
       (struct rdma_cm_id * id, int level, int optname, void *optval, size_t optlen))
REFUSE(rdma_get_request, (struct rdma_cm_id * listen, struct rdma_cm_id **id))

REFUSE(rdma_create_srq, (struct rdma_cm_id * id, struct ibv_pd *pd, struct ibv_srq_init_attr *init))
REFUSE(rdma_create_srq_ex, (struct rdma_cm_id * id, struct ibv_srq_init_attr_ex *init))
REFUSE(rdma_set_local_ece, (struct rdma_cm_id * id, struct ibv_ece *ece))
REFUSE(rdma_get_remote_ece, (struct rdma_cm_id * id, struct ibv_ece *ece))
REFUSE(rdma_reject_ece,
       (struct rdma_cm_id * id, const void *private_data, uint8_t private_data_len))
REFUSE(rdma_establish, (struct rdma_cm_id * id))
REFUSE(rdma_query_addrinfo, (struct rdma_cm_id * id, struct rdma_addrinfo **info))
REFUSE(rdma_write_cm_event,
       (struct rdma_cm_id * id, enum rdma_cm_event_type type, int status, uint64_t arg))

struct ibv_context **rdma_get_devices(int *count)
{
	static struct ibv_context *none;

	(void)count;
	/* It may be that the library has to see to that first. */
	if (getenv("FAKE_FORK") && ibv_fork_init())
		return NULL;
	return refuse() ? NULL : &none;
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *init)
{
	static struct rdma_cm_id made;

	(void)res;
	(void)pd;
	(void)init;
	*id = &made;
	return refuse();
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	static struct rdma_event_channel channel;

	return refuse() ? NULL : &channel;
}

/* It says ENOMEM if it gets no channel, whatever the channel said. */
int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	static struct rdma_cm_id made;

	(void)context;
	(void)ps;
	if (!channel && !rdma_create_event_channel()) {
		errno = ENOMEM;
		return -1;
	}
	*id = &made;
	return refuse();
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	(void)node;
	(void)service;
	(void)hints;
	(void)res;
	refuse(); /* for an errno value beside its result */
	return number("FAKE_CM_RESULT");
}

/* It may ask for what is not there. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *attr_mask)
{
	struct ibv_port_attr port;

	(void)attr;
	(void)attr_mask;
	if (number("FAKE_CM_QUERY"))
		ibv_query_port(id->verbs, 9, &port);
	return refuse();
}

/* A route of its own, which may not be found. */
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *res;

	(void)id;
	rdma_getaddrinfo(node, service, hints, &res);
	return refuse();
}

/* It makes a completion queue of FAKE_CM_CQE entries first. */
int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *init)
{
	(void)init;
	if (number("FAKE_CM_CQE") &&
	    !ibv_create_cq(id->verbs, number("FAKE_CM_CQE"), NULL, NULL, 0))
		return -1;
	return refuse();
}

/* As the device refuses it. */
static int move(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static struct rdma_cm_event event;
static struct rdma_cm_id none, *at = &none; /* whose event it will be */

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **got)
{
	const char *words = getenv("FAKE_CM_WORDS");

	(void)channel;
	if (number("FAKE_CM_SIGNAL"))
		raise(number("FAKE_CM_SIGNAL"));
	event.event = (enum rdma_cm_event_type)number("FAKE_CM_EVENT");
	event.status = number("FAKE_CM_STATUS");
	event.id = at;
	event.param.conn.private_data = words;
	event.param.conn.private_data_len = words ? (uint8_t)strlen(words) : 0;
	/* The library moves the queue pair before it hands out the peer's answer. */
	if (at->qp && event.event == RDMA_CM_EVENT_CONNECT_ERROR)
		move(at->qp);
	*got = &event;
	return refuse();
}

/* Without a channel it waits for the event, and makes an errno value of its status. */
int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	(void)param;
	at = id;
	if (id->channel)
		return refuse();
	rdma_get_cm_event(NULL, &id->event);
	if (!id->event->status)
		return 0;
	errno = id->event->event == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED : abs(id->event->status);
	return -1;
}

/* Moves the queue pair. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	const int error = id->qp ? move(id->qp) : 0;

	(void)param;
	if (error) {
		errno = error;
		return number("FAKE_CM_HEALTHY") ? 0 : -1;
	}
	return refuse();
}

/* They may find the completion queues that the library made in use. */
static void find_busy(struct rdma_cm_id *id)
{
	if (id->qp && number("FAKE_CM_BUSY"))
		ibv_destroy_cq(id->qp->send_cq);
	id->qp = NULL;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	find_busy(id);
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	find_busy(id);
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	find_busy(id);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	find_busy(id);
	return refuse();
}
