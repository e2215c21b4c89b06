/* SPDX-License-Identifier: MIT */
/*
 * Makes the call of librdmacm that its first argument names, from 192.0.2.1 to 192.0.2.2 port 7471, and prints what it
 * returned, its errno value and the status of an event. Each further argument makes it another such call.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>

#include "fake_verbs.h"

/* Newer than some headers. */
int rdma_establish(struct rdma_cm_id *at);
int rdma_init_qp_attr(struct rdma_cm_id *at, struct ibv_qp_attr *attr, int *attr_mask);
int rdma_reject_ece(struct rdma_cm_id *at, const void *private_data, uint8_t private_data_len);
int rdma_set_local_ece(struct rdma_cm_id *at, struct ibv_ece *ece);
int rdma_get_remote_ece(struct rdma_cm_id *at, struct ibv_ece *ece);
int rdma_resolve_addrinfo(struct rdma_cm_id *at, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *at, struct rdma_addrinfo **info);
int rdma_write_cm_event(struct rdma_cm_id *at, enum rdma_cm_event_type event, int status,
			uint64_t arg);
int rdma_create_srq(struct rdma_cm_id *at, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int rdma_create_srq_ex(struct rdma_cm_id *at, struct ibv_srq_init_attr_ex *attr);
void rdma_destroy_srq(struct rdma_cm_id *at);

static struct rdma_event_channel channel;
static struct rdma_cm_id id = {
	.channel = &channel, .ps = RDMA_PS_TCP, .qp_type = IBV_QPT_RC, .port_num = 1};
static struct rdma_conn_param param = {
	.private_data = "", .responder_resources = 1, .initiator_depth = 1};
static struct rdma_conn_param *params = &param;
static struct sockaddr *from, *to;
static struct ibv_pd *domain;
static int times = 1;
static int flushes; /* afterwards */

static struct sockaddr *address(struct sockaddr_in *at, const char *ip, int port)
{
	at->sin_family = AF_INET;
	at->sin_port = htons((uint16_t)port);
	inet_pton(AF_INET, ip, &at->sin_addr);
	return (struct sockaddr *)(void *)at;
}

static struct ibv_qp *make_qp(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(id.verbs);
	struct ibv_cq *cq = ibv_create_cq(id.verbs, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};

	init.cap.max_send_wr = init.cap.max_recv_wr = init.cap.max_send_sge =
		init.cap.max_recv_sge = 1;
	return ibv_create_qp(pd, &init);
}

static sigjmp_buf before;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

/* Leaves a call of librdmacm as programs do that are interrupted at their terminal. */
static void leave_a_call(void)
{
	struct rdma_cm_event *event;

	signal(SIGUSR1, leave);
	if (!sigsetjmp(before, 1))
		rdma_get_cm_event(&channel, &event);
}

static struct sockaddr *address6(const char *ip)
{
	static struct sockaddr_in6 at = {.sin6_family = AF_INET6};

	at.sin6_port = htons(7471);
	inet_pton(AF_INET6, ip, &at.sin6_addr);
	return (struct sockaddr *)(void *)&at;
}

/* Another port space, device, domain or address. */
static void change_more(const char *how)
{
	struct rdma_cm_id *other;

	if (!strcmp(how, "iwarp"))
		id.verbs->device->transport_type = IBV_TRANSPORT_IWARP;
	else if (!strcmp(how, "no_param"))
		params = NULL;
	else if (!strcmp(how, "long"))
		param.private_data_len = 57;
	else if (!strcmp(how, "most"))
		param.private_data_len = 56;
	else if (!strcmp(how, "no_limits"))
		param.responder_resources = param.initiator_depth = 0xff;
	else if (!strcmp(how, "ib"))
		id.ps = RDMA_PS_IB;
	else if (!strcmp(how, "ipoib"))
		id.ps = RDMA_PS_IPOIB;
	else if (!strcmp(how, "odd"))
		id.ps = (enum rdma_port_space)7;
	else if (!strcmp(how, "own_pd"))
		domain = ibv_alloc_pd(id.verbs);
	else if (!strcmp(how, "other_pd"))
		domain = ibv_alloc_pd(ibv_open_device(id.verbs->device));
	else if (!strcmp(how, "ipv6"))
		to = address6("2001:db8::2");
	else if (!strcmp(how, "link_local"))
		from = to = address6("fe80::2");
	else if (!strcmp(how, "loopback"))
		from = to = address6("::1");
	else if (!strcmp(how, "made"))
		rdma_create_id(&channel, &other, NULL, RDMA_PS_TCP);
	else if (!strcmp(how, "flush"))
		flushes = 1;
	else if (!strcmp(how, "twice"))
		times = 2;
	else if (!strcmp(how, "at"))
		rdma_connect(&id, &param);
	else if (!strcmp(how, "rts"))
		fake_qp_force(id.qp, IBV_QPS_RTS);
}

/* Another call of the kind: what the program did wrong. */
static void change(const char *how)
{
	static struct sockaddr_in any = {.sin_family = AF_INET}, wrong = {.sin_family = AF_UNIX};

	if (!strcmp(how, "words"))
		param.private_data_len = 200;
	else if (!strcmp(how, "resources"))
		param.responder_resources = 254;
	else if (!strcmp(how, "depth"))
		param.initiator_depth = 254;
	else if (!strcmp(how, "unbound"))
		id.verbs = NULL;
	else if (!strcmp(how, "qp"))
		id.qp = make_qp();
	else if (!strcmp(how, "synchronous"))
		id.channel = NULL;
	else if (!strcmp(how, "any"))
		from = (struct sockaddr *)(void *)&any;
	else if (!strcmp(how, "family"))
		from = to = (struct sockaddr *)(void *)&wrong;
	else if (!strcmp(how, "left"))
		leave_a_call();
	else if (!strcmp(how, "datagrams"))
		id.qp_type = IBV_QPT_UD, id.ps = RDMA_PS_UDP;
	else
		change_more(how);
}

static int get_event(int *status)
{
	struct rdma_cm_event *event;
	const int result = rdma_get_cm_event(&channel, &event);

	if (!result)
		*status = event->status;
	return result;
}

/* What few programs call; 99: it is none of these. */
static int call_more(const char *name)
{
	struct ibv_qp_init_attr_ex init = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = domain};
	struct rdma_addrinfo info = {.ai_src_addr = from, .ai_dst_addr = to}, *infos;
	struct rdma_cm_id *other;

	if (!strcmp(name, "rdma_destroy_ep"))
		return rdma_destroy_ep(&id), 0;
	if (!strcmp(name, "rdma_destroy_srq"))
		return rdma_destroy_srq(&id), 0;
	if (!strcmp(name, "rdma_get_devices"))
		return rdma_get_devices(NULL) ? 0 : -1;
	return !strcmp(name, "rdma_create_ep")        ? rdma_create_ep(&other, &info, NULL, NULL)
	       : !strcmp(name, "rdma_create_qp_ex")   ? rdma_create_qp_ex(&id, &init)
	       : !strcmp(name, "rdma_create_srq")     ? rdma_create_srq(&id, NULL, NULL)
	       : !strcmp(name, "rdma_create_srq_ex")  ? rdma_create_srq_ex(&id, NULL)
	       : !strcmp(name, "rdma_init_qp_attr")   ? rdma_init_qp_attr(&id, NULL, NULL)
	       : !strcmp(name, "rdma_set_local_ece")  ? rdma_set_local_ece(&id, NULL)
	       : !strcmp(name, "rdma_get_remote_ece") ? rdma_get_remote_ece(&id, NULL)
	       : !strcmp(name, "rdma_reject_ece")     ? rdma_reject_ece(&id, NULL, 0)
	       : !strcmp(name, "rdma_establish")      ? rdma_establish(&id)
	       : !strcmp(name, "rdma_resolve_addrinfo")
		       ? rdma_resolve_addrinfo(&id, NULL, NULL, NULL)
	       : !strcmp(name, "rdma_query_addrinfo") ? rdma_query_addrinfo(&id, &infos)
	       : !strcmp(name, "rdma_write_cm_event")
		       ? rdma_write_cm_event(&id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, 0)
		       : 99;
}

static int call(const char *name, int *status)
{
	struct rdma_addrinfo *info = NULL;
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct rdma_cm_id *other = NULL;

	if (!strcmp(name, "rdma_get_cm_event"))
		return get_event(status);
	if (!strcmp(name, "rdma_destroy_qp")) {
		rdma_destroy_qp(&id);
		return 0;
	}
	if (!strcmp(name, "rdma_create_event_channel"))
		return rdma_create_event_channel() ? 0 : -1;
	return !strcmp(name, "rdma_create_id")   ? rdma_create_id(NULL, &other, NULL, RDMA_PS_TCP)
	       : !strcmp(name, "rdma_bind_addr") ? rdma_bind_addr(&id, from)
	       : !strcmp(name, "rdma_resolve_addr")   ? rdma_resolve_addr(&id, from, to, 1000)
	       : !strcmp(name, "rdma_resolve_route")  ? rdma_resolve_route(&id, id.verbs ? 1000 : 0)
	       : !strcmp(name, "rdma_listen")         ? rdma_listen(&id, 1)
	       : !strcmp(name, "rdma_connect")        ? rdma_connect(&id, params)
	       : !strcmp(name, "rdma_accept")         ? rdma_accept(&id, params)
	       : !strcmp(name, "rdma_reject")         ? rdma_reject(&id, "", param.private_data_len)
	       : !strcmp(name, "rdma_disconnect")     ? rdma_disconnect(&id)
	       : !strcmp(name, "rdma_notify")         ? rdma_notify(&id, IBV_EVENT_COMM_EST)
	       : !strcmp(name, "rdma_create_qp")      ? rdma_create_qp(&id, domain, &init)
	       : !strcmp(name, "rdma_join_multicast") ? rdma_join_multicast(&id, to, NULL)
	       : !strcmp(name, "rdma_leave_multicast") ? rdma_leave_multicast(&id, to)
	       : !strcmp(name, "rdma_migrate_id")      ? rdma_migrate_id(&id, &channel)
	       : !strcmp(name, "rdma_set_option")      ? rdma_set_option(&id, 0, 0, NULL, 0)
	       : !strcmp(name, "rdma_destroy_id")      ? rdma_destroy_id(&id)
	       : !strcmp(name, "rdma_get_request")     ? rdma_get_request(&id, &other)
	       : !strcmp(name, "rdma_getaddrinfo")     ? rdma_getaddrinfo("name", "1", NULL, &info)
						       : call_more(name);
}

/* As the hardware ends what is outstanding. */
static void flush(void)
{
	struct ibv_wc wc = {.qp_num = id.qp->qp_num, .status = IBV_WC_WR_FLUSH_ERR};

	fake_cq_push(id.qp->send_cq, &wc);
	fake_qp_force(id.qp, IBV_QPS_ERR);
	ibv_poll_cq(id.qp->send_cq, 1, &wc);
}

int main(int argc, char *argv[])
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int result, error, status = 0;

	if (argc < 2 || !list)
		return 2;
	id.verbs = ibv_open_device(list[0]);
	from = address(&id.route.addr.src_sin, "192.0.2.1", 0);
	to = address(&id.route.addr.dst_sin, "192.0.2.2", 7471);
	for (int i = 2; i < argc; i++)
		change(argv[i]);
	/* A second time with an end of its own, and none of what the first one made. */
	do {
		errno = 0;
		result = call(argv[1], &status);
		error = errno;
		if (--times) {
			rdma_destroy_id(&id);
			setenv("FAKE_CM_ERRNO", getenv("FAKE_CM_LATE"), 1);
		}
	} while (times);
	if (flushes)
		flush();
	printf("%d %d %d\n", result, error, status);
	return result == 99;
}
