/* SPDX-License-Identifier: MIT */
/*
 * Makes the call of librdmacm that its first argument names, from 192.0.2.1 to 192.0.2.2 port 7471, and prints what it
 * returned, its errno value and the status of an event. Each further argument makes it another such call.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <rdma/rdma_cma.h>

static struct rdma_event_channel channel;
static struct rdma_cm_id id = {
	.channel = &channel, .ps = RDMA_PS_TCP, .qp_type = IBV_QPT_RC, .port_num = 1};
static struct rdma_conn_param param = {
	.private_data = "", .responder_resources = 1, .initiator_depth = 1};
static struct sockaddr *from, *to;

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
}

static int get_event(int *status)
{
	struct rdma_cm_event *event;
	const int result = rdma_get_cm_event(&channel, &event);

	if (!result)
		*status = event->status;
	return result;
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
	       : !strcmp(name, "rdma_connect")        ? rdma_connect(&id, &param)
	       : !strcmp(name, "rdma_accept")         ? rdma_accept(&id, &param)
	       : !strcmp(name, "rdma_reject")         ? rdma_reject(&id, "", param.private_data_len)
	       : !strcmp(name, "rdma_disconnect")     ? rdma_disconnect(&id)
	       : !strcmp(name, "rdma_notify")         ? rdma_notify(&id, IBV_EVENT_COMM_EST)
	       : !strcmp(name, "rdma_create_qp")      ? rdma_create_qp(&id, NULL, &init)
	       : !strcmp(name, "rdma_join_multicast") ? rdma_join_multicast(&id, to, NULL)
	       : !strcmp(name, "rdma_leave_multicast") ? rdma_leave_multicast(&id, to)
	       : !strcmp(name, "rdma_migrate_id")      ? rdma_migrate_id(&id, &channel)
	       : !strcmp(name, "rdma_set_option")      ? rdma_set_option(&id, 0, 0, NULL, 0)
	       : !strcmp(name, "rdma_destroy_id")      ? rdma_destroy_id(&id)
	       : !strcmp(name, "rdma_get_request")     ? rdma_get_request(&id, &other)
	       : !strcmp(name, "rdma_getaddrinfo")     ? rdma_getaddrinfo("name", "1", NULL, &info)
						       : 99;
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
	errno = 0;
	result = call(argv[1], &status);
	error = errno;
	printf("%d %d %d\n", result, error, status);
	return result == 99;
}
