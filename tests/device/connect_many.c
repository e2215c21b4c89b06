/* SPDX-License-Identifier: MIT */
/*
 * What it takes to connect 1 to 512 queue pairs by endpoints, against plain verbs in the same program. Compiled without
 * sanitizers, as programs are; and since it names rdmaez_impl_qp_move() here, with bodies of its own.
 */
#define _GNU_SOURCE
#include "rig.h"

enum {
	MANY = 512,
};

static struct rig one;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static struct ibv_qp *many[MANY];
static struct ibv_cq *many_cq;

static void open_many(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	many_cq = ibv_create_cq(one.context, 16, NULL, NULL, 0);
	rig_need(many_cq, "ibv_create_cq");
	init.send_cq = init.recv_cq = many_cq;
	for (int i = 0; i < MANY; i++) {
		many[i] = ibv_create_qp(one.pd, &init);
		rig_need(many[i], "ibv_create_qp");
	}
}

static void reset(int count)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	for (int i = 0; i < count; i++)
		if (ibv_modify_qp(many[i], &attr, IBV_QP_STATE))
			tap_bail("a queue pair does not go to RESET");
}

static void close_many(void)
{
	for (int i = 0; i < MANY; i++)
		if (ibv_destroy_qp(many[i]))
			tap_bail("ibv_destroy_qp: %s", strerror(errno));
	if (ibv_destroy_cq(many_cq))
		tap_bail("ibv_destroy_cq: %s", strerror(errno));
}

/* As a person writes it who trusts all values; each queue pair is its own peer. */
static int connect_plain(struct ibv_qp *qp, const struct ibv_port_attr *port,
			 const struct ibv_gid_entry *self, uint32_t psn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return EINVAL;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = port->active_mtu,
				    .dest_qp_num = qp->qp_num,
				    .rq_psn = psn,
				    .max_dest_rd_atomic = 16,
				    .min_rnr_timer = 12};
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = self->gid;
	attr.ah_attr.grh.sgid_index = (uint8_t)self->gid_index;
	attr.ah_attr.grh.hop_limit = 64;
	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return EINVAL;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .sq_psn = psn,
				    .max_rd_atomic = 16,
				    .timeout = 20,
				    .retry_cnt = 7,
				    .rnr_retry = 7};
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* What a program asks once, for however many. */
static struct {
	struct ibv_port_attr port;
	struct ibv_device_attr device;
	struct ibv_gid_entry self;
	struct rdmaez_endpoint endpoint;
	struct rdmaez_qp_opts opts;
} asked;

static void ask_plain(void)
{
	if (ibv_query_port(one.context, 1, &asked.port) ||
	    ibv_query_device(one.context, &asked.device) ||
	    ibv_query_gid_ex(one.context, 1, one.self.gid_index, &asked.self, 0))
		tap_bail("a query fails");
}

static void ask_rdmaez(void)
{
	asked.opts.timeout = 20;
	asked.opts.path.sgid_index = rdmaez_exactly((int)one.self.gid_index);
	if (rdmaez_endpoint_port(one.context, &asked.opts, &asked.endpoint, NULL))
		tap_bail("there is no endpoint");
}

static int connect_rdmaez(struct ibv_qp *qp)
{
	struct rdmaez_endpoint local = asked.endpoint;
	const int error = rdmaez_endpoint_set_qp(&local, qp, NULL);

	return error ? error : rdmaez_qp_connect(qp, &local, &local, &asked.opts, NULL);
}

static uint64_t time_one(struct ibv_qp *qp, bool plain)
{
	const uint64_t begun = now();
	const int error = plain ? connect_plain(qp, &asked.port, &asked.self, rdmaez_psn_random())
				: connect_rdmaez(qp);

	if (error)
		tap_bail("a queue pair does not come to RTS: %s", strerror(errno));
	return now() - begun;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

enum {
	SAMPLES = 2048
};

static double median(uint64_t *samples, int count)
{
	qsort(samples, (size_t)count, sizeof(samples[0]), by_size);
	return (double)samples[count / 2];
}

/*
 * Connects so many, one by plain verbs and the next by rdmaez, so that whatever else the machine does happens to both;
 * then the other way round. What one takes is a median, and its share of what is asked once.
 */
static double compare(int count)
{
	static uint64_t took[2][SAMPLES], ask[2][SAMPLES];
	int samples = 0, rounds = 0;
	double each[2];

	while (samples + count <= SAMPLES && rounds < 64) {
		const uint64_t begun = now();
		uint64_t then;

		ask_plain();
		then = now();
		ask_rdmaez();
		ask[0][rounds] = then - begun;
		ask[1][rounds++] = now() - then;
		for (int i = 0; i < 2 * count; i++) {
			const int way = (i % count + i / count) % 2;

			if (i == count)
				reset(count);
			took[way][samples + i / 2] = time_one(many[i % count], !way);
		}
		reset(count);
		samples += count;
	}
	for (int way = 0; way < 2; way++)
		each[way] = (median(took[way], samples) + median(ask[way], rounds) / count) / 1e3;
	tap_diag("%d queue pairs: %.1f us each by plain verbs, %.1f us by rdmaez, ratio %.3f",
		 count, each[0], each[1], each[1] / each[0]);
	return each[1] / each[0];
}

/* About 1.1 with rxe, where a move is a function call away; here anything may happen. */
static void test_ratio(int count)
{
	double ratio = compare(count);

	for (int more = 0; ratio > 1.25 && more < 4; more++)
		ratio = compare(count); /* something else ran meanwhile */
	tap_ok(ratio <= 1.25, "%d queue pairs take at most a quarter longer", count);
}

int main(void)
{
	one = rig_open();
	open_many();
	test_ratio(1);
	test_ratio(8);
	test_ratio(64);
	test_ratio(MANY);
	close_many();
	rig_close(&one);
	return tap_done();
}
