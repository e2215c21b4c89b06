/* SPDX-License-Identifier: MIT */
/*
 * Connects to itself at the address that is its second argument, and does wrong what the first one names: "words" and
 * "resources" in rdma_connect(), "accept" in a queue pair that rdma_accept() is to move. With "nothing" it works.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <rdma/rdma_cma.h>

static struct sockaddr_in address = {.sin_family = AF_INET};
static const char *wrong;

static int make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};

	init.cap.max_send_wr = init.cap.max_recv_wr = init.cap.max_send_sge =
		init.cap.max_recv_sge = 1;
	return rdma_create_qp(id, NULL, &init);
}

static void *serve(void *listener)
{
	struct rdma_cm_id *id;

	if (rdma_get_request((struct rdma_cm_id *)listener, &id) || make_qp(id))
		return NULL;
	if (!strcmp(wrong, "accept")) {
		struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

		ibv_modify_qp(id->qp, &attr, IBV_QP_STATE);
	}
	if (rdma_accept(id, NULL))
		rdma_reject(id, "no room", 7);
	else
		rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	return NULL;
}

static void connect_to_it(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	char words[200] = "";

	param.private_data = words;
	param.private_data_len = !strcmp(wrong, "words") ? sizeof(words) : 1;
	if (!strcmp(wrong, "resources"))
		param.responder_resources = 254;
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000) ||
	    rdma_resolve_route(id, 2000) || make_qp(id))
		return;
	if (!rdma_connect(id, &param))
		rdma_disconnect(id);
	rdma_destroy_qp(id);
}

int main(int argc, char *argv[])
{
	struct rdma_cm_id *listener, *id;
	pthread_t server;

	if (argc < 3 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
		return 2;
	wrong = argv[1];
	address.sin_port = htons(7480);
	if (rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) || rdma_listen(listener, 1))
		return 1;
	if (!strcmp(wrong, "nothing") || !strcmp(wrong, "accept")) {
		pthread_create(&server, NULL, serve, listener);
		connect_to_it(id);
		pthread_join(server, NULL);
	} else {
		connect_to_it(id);
	}
	return rdma_destroy_id(id) || rdma_destroy_id(listener);
}
