/* SPDX-License-Identifier: MIT */
/*
 * What it takes to connect 1 to 512 queue pairs by endpoints, against plain verbs in the same program: of two processes
 * with one exchange for all of them, then of one alone. Compiled without sanitizers, as programs are; and since it
 * names rdmaez_impl_qp_move() here, with bodies of its own.
 */
#define _GNU_SOURCE
#include "ends.h"

enum {
	MANY = 512,
};

static struct rig one;

static struct ibv_qp *many[MANY];
static struct ibv_cq *many_cq;

static void open_many(void)
{
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	many_cq = ibv_create_cq(one.context, MANY, NULL, NULL, 0);
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

/* What a program asks once, for however many. */
static struct {
	struct ibv_port_attr port;
	struct ibv_device_attr device;
	struct ibv_gid_entry self;
	struct rdmaez_endpoint endpoint;
	struct rdmaez_qp_opts opts;
} asked;

/* As a person writes it who trusts all values; the peer is on the same device. */
static int connect_plain(struct ibv_qp *qp, uint32_t psn, uint32_t peer, uint32_t peer_psn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	if (ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return EINVAL;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = asked.port.active_mtu,
				    .dest_qp_num = peer,
				    .rq_psn = peer_psn,
				    .max_dest_rd_atomic = 16,
				    .min_rnr_timer = 12};
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = asked.self.gid;
	attr.ah_attr.grh.sgid_index = (uint8_t)asked.self.gid_index;
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

static void ask_plain(void)
{
	if (ibv_query_port(one.context, 1, &asked.port) ||
	    ibv_query_device(one.context, &asked.device) ||
	    ibv_query_gid_ex(one.context, 1, one.self.gid_index, &asked.self, 0))
		tap_bail("a query fails");
}

/* With all GIDs of the port, or with the one that `sgid_index` names. */
static void ask_rdmaez(int sgid_index)
{
	asked.opts.timeout = 20;
	asked.opts.access = IBV_ACCESS_REMOTE_WRITE;
	asked.opts.path.sgid_index = sgid_index;
	if (rdmaez_endpoint_port(one.context, &asked.opts, &asked.endpoint, NULL))
		tap_bail("there is no endpoint");
}

/*
 * The same by a person who asks for each queue pair: the port for its MTU, the device for its depths, and the entry of
 * the GID table that is named, or all of them.
 */
static int connect_asking(struct ibv_qp *qp, uint32_t psn, bool whole_table)
{
	struct ibv_gid_entry table[16];
	ssize_t count = 1;

	if (ibv_query_port(one.context, 1, &asked.port) ||
	    ibv_query_device(one.context, &asked.device))
		return EINVAL;
	if (whole_table)
		count = ibv_query_gid_table(one.context, table, 16, 0);
	else if (ibv_query_gid_ex(one.context, 1, one.self.gid_index, table, 0))
		return EINVAL;
	for (ssize_t i = 0; i < count; i++)
		if (table[i].gid_index == one.self.gid_index)
			asked.self = table[i];
	return connect_plain(qp, psn, qp->qp_num, psn);
}

/* How a queue pair is connected, which is its own peer. */
enum way {
	PLAIN, /* by three ibv_modify_qp() */
	ONCE,  /* by an endpoint of a port that was asked for all of them */
	GIVEN, /* by one of its own, of the attributes and the GID that were asked for all of them */
	INDEX,      /* by one of its own, where an index is given */
	EACH,       /* by one of its own, where nothing is */
	HAND_INDEX, /* by hand, after asking for port, device and the GID of an index */
	HAND_EACH,  /* by hand, after asking for port, device and all GIDs */
	WAYS
};

/* What is told goes through bytes, as between two ends. */
static int connect_itself(struct ibv_qp *qp, enum way way)
{
	const uint32_t psn = way == PLAIN || way >= HAND_INDEX ? rdmaez_psn_random() : 0;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint local, remote;
	struct rdmaez_qp_opts opts = asked.opts;
	int error;

	if (way == PLAIN)
		return connect_plain(qp, psn, qp->qp_num, psn);
	if (way >= HAND_INDEX)
		return connect_asking(qp, psn, way == HAND_EACH);
	local = asked.endpoint;
	if (way == GIVEN) {
		opts.port_attr = &asked.port;
		opts.device_attr = &asked.device;
		opts.gid_entry = &asked.self;
	} else if (way == EACH) {
		opts.path.sgid_index = 0;
	}
	error = way == ONCE ? rdmaez_endpoint_set_qp(&local, qp, NULL)
			    : rdmaez_endpoint_local(qp, &opts, &local, NULL);
	if (!error)
		error = rdmaez_endpoint_pack(&local, bytes);
	if (!error)
		error = rdmaez_endpoint_unpack(bytes, &remote, NULL);
	return error ? error : rdmaez_qp_connect(qp, &local, &remote, &opts, NULL);
}

static uint64_t time_one(struct ibv_qp *qp, enum way way)
{
	const uint64_t begun = ends_now();
	const int error = connect_itself(qp, way);

	if (error)
		tap_bail("a queue pair does not come to RTS: %s", strerror(errno));
	return ends_now() - begun;
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
 * Connects so many, each in another way than the one before, so that whatever else the machine does happens to all; then
 * again, until each has been connected in each. What one takes is a median, and its share of what is asked once.
 */
static void compare(int count, enum way first, enum way last, double each[WAYS])
{
	static uint64_t took[WAYS][SAMPLES], ask[2][SAMPLES];
	const int ways = (int)last - (int)first + 1;
	int samples = 0, rounds = 0;

	while (samples + count <= SAMPLES && rounds < 64) {
		const uint64_t begun = ends_now();
		uint64_t then;

		ask_plain();
		then = ends_now();
		ask_rdmaez(rdmaez_exactly((int)one.self.gid_index));
		ask[0][rounds] = then - begun;
		ask[1][rounds++] = ends_now() - then;
		for (int turn = 0; turn < ways; turn++) {
			for (int i = 0; i < count; i++) {
				const int way = (int)first + (i + turn) % ways;

				took[way][samples + i] = time_one(many[i], (enum way)way);
			}
			reset(count);
		}
		samples += count;
	}
	for (int way = (int)first; way <= (int)last; way++) {
		each[way] = median(took[way], samples) / 1e3;
		if (way < INDEX)
			each[way] += median(ask[way == ONCE], rounds) / count / 1e3;
	}
}

/*
 * What each way takes, as a multiple of three moves by hand, which ask for nothing. Those that ask are then compared
 * with a person's code that asks for the same.
 */
static void compare_all(int count, double ratio[WAYS])
{
	double each[WAYS];

	compare(count, PLAIN, EACH, each);
	for (int way = PLAIN; way <= EACH; way++)
		ratio[way] = each[way] / each[PLAIN];
	tap_diag("%d queue pairs: %.1f us each by three moves by hand; as much by rdmaez, times: "
		 "asked once %.3f, given %.3f, an index given %.3f, each asks %.3f",
		 count, each[PLAIN], ratio[ONCE], ratio[GIVEN], ratio[INDEX], ratio[EACH]);
	compare(count, INDEX, HAND_EACH, each);
	ratio[HAND_INDEX] = each[INDEX] / each[HAND_INDEX];
	ratio[HAND_EACH] = each[EACH] / each[HAND_EACH];
	tap_diag("by hand with the same questions %.1f us, an index given, and %.1f us; by rdmaez "
		 "as much times %.3f and %.3f",
		 each[HAND_INDEX], each[HAND_EACH], ratio[HAND_INDEX], ratio[HAND_EACH]);
}

/*
 * With rxe a move is a function call away, and the machine emulates ours as slowly as those of the kernel. Elsewhere what
 * is added is less; here anything may happen.
 */
static void test_ratio(int count)
{
	/* The last two are of a person's code that asks for the same. */
	static const double most[WAYS] = {1, 1.4, 1.45, 2.3, 2.9, 1.6, 1.8};
	double ratio[WAYS];
	int way = PLAIN;

	/* Again if something else ran meanwhile. */
	for (int more = 0; way < WAYS && more < 5; more++) {
		compare_all(count, ratio);
		for (way = PLAIN; way < WAYS && ratio[way] <= most[way]; way++)
			;
	}
	tap_ok(way == WAYS, "%d queue pairs take as long as they may", count);
}

/* ---- Two processes --------------------------------------------------------------------------- */

static const int sizes[] = {1, 8, 64, MANY};

enum {
	SIZES = sizeof(sizes) / sizeof(sizes[0]),
	ROUNDS = 10 /* every other one by plain verbs */
};

static struct {
	struct rdmaez_endpoint local[MANY], remote[MANY];
	uint8_t buffer[MANY * RDMAEZ_ENDPOINT_BYTES];
	uint64_t in[MANY], out[MANY];
	struct ibv_mr *in_mr, *out_mr;
	/* The least time in ns: of an exchange, and of connecting one by rdmaez and by plain verbs, a round's median. */
	double exchanged[SIZES], connected[SIZES][2];
} two;

static void least(double *time, double took)
{
	if (*time <= 0 || took < *time)
		*time = took;
}

static void wait_for_peer(int socket)
{
	if (rdmaez_exchange_barrier(socket, NULL, ENDS_LONG, NULL))
		tap_bail("the peer does not come to the barrier");
}

static void exchange_all(int socket, int count)
{
	const struct rdmaez_exchange_list list = {(size_t)count, two.local, two.remote, two.buffer};

	for (int i = 0; i < count; i++) {
		two.local[i] = asked.endpoint;
		rdmaez_mr_remote(two.in_mr, &two.local[i].memory, NULL);
		if (rdmaez_endpoint_set_qp(&two.local[i], many[i], NULL))
			tap_bail("a queue pair has no endpoint");
	}
	if (rdmaez_exchange_many(socket, &list, ENDS_LONG, NULL))
		tap_bail("the endpoints are not exchanged");
}

/* The median of what each takes. */
static double connect_all(int count, bool plain)
{
	static uint64_t took[MANY];

	for (int i = 0; i < count; i++) {
		const struct rdmaez_endpoint *const a = &two.local[i], *const b = &two.remote[i];
		const uint64_t begun = ends_now();
		const int error = plain ? connect_plain(many[i], a->psn, b->qp_num, b->psn)
					: rdmaez_qp_connect(many[i], a, b, &asked.opts, NULL);

		if (error)
			tap_bail("queue pair %d does not come to RTS: %s", i, strerror(error));
		took[i] = ends_now() - begun;
	}
	return median(took, count);
}

/* What process `number` writes by its i-th queue pair. */
static uint64_t word_of(int number, int round, int count, int i)
{
	return (uint64_t)(number + 1) << 60 | (uint64_t)round << 40 | (uint64_t)count << 20 |
	       (uint64_t)i;
}

/* An RDMA WRITE by each queue pair, to a place of its own; how many do not complete well. */
static int write_all(int number, int round, int count)
{
	int bad = 0;

	for (int i = 0; i < count; i++) {
		struct ibv_send_wr wr = {.send_flags = IBV_SEND_SIGNALED};
		struct ibv_sge sge;

		two.out[i] = word_of(number, round, count, i);
		if (rdmaez_mr_sge(two.out_mr, &two.out[i], sizeof(two.out[i]), &sge, NULL) ||
		    rdmaez_wr_write(&wr, &sge, &two.remote[i].memory, (uint64_t)i * 8, NULL) ||
		    rdmaez_wr_post_send(many[i], &wr, NULL, NULL))
			tap_bail("queue pair %d does not write", i);
	}
	for (int i = 0; i < count; i++)
		bad += rig_status(many_cq) != IBV_WC_SUCCESS;
	return bad;
}

/* One round with so many; how many words are wrong. */
static int meet_once(int socket, int number, int size, int round)
{
	const int count = sizes[size];
	uint64_t begun;
	int wrong;

	memset(two.in, 0, sizeof(two.in));
	wait_for_peer(socket);
	begun = ends_now();
	exchange_all(socket, count);
	least(&two.exchanged[size], (double)(ends_now() - begun));
	if (number) /* one after the other: what both take of two processors tells little */
		wait_for_peer(socket);
	least(&two.connected[size][round % 2], connect_all(count, round % 2));
	if (!number)
		wait_for_peer(socket);
	wait_for_peer(socket);
	wrong = write_all(number, round, count);
	wait_for_peer(socket);
	for (int i = 0; i < count; i++)
		wrong += two.in[i] != word_of(!number, round, count, i);
	reset(count);
	return wrong;
}

/* What both processes do; all sizes in each round, so that whatever else the machine does happens to all. */
static int meet(int socket, int number)
{
	int wrong = 0;

	one = rig_open();
	open_many();
	two.in_mr = ibv_reg_mr(one.pd, two.in, sizeof(two.in),
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	two.out_mr = ibv_reg_mr(one.pd, two.out, sizeof(two.out), IBV_ACCESS_LOCAL_WRITE);
	rig_need(two.in_mr, "ibv_reg_mr");
	rig_need(two.out_mr, "ibv_reg_mr");
	ask_plain();
	ask_rdmaez(0);
	for (int round = 0; round < ROUNDS; round++)
		for (int size = 0; size < SIZES; size++)
			wrong += meet_once(socket, number, size, round);
	if (ibv_dereg_mr(two.in_mr) || ibv_dereg_mr(two.out_mr))
		tap_bail("ibv_dereg_mr: %s", strerror(errno));
	close_many();
	rig_close(&one);
	return wrong;
}

/* What each queue pair takes, of so many; in us. */
static double tell_each(int size)
{
	const double exchange = two.exchanged[size] / 1e3 / sizes[size],
		     connect = two.connected[size][0] / 1e3, plain = two.connected[size][1] / 1e3;

	tap_diag("%d queue pairs of two processes, us each: exchange %.1f; connect %.1f by rdmaez, "
		 "%.1f by plain verbs, ratio %.3f",
		 sizes[size], exchange, connect, plain, connect / plain);
	return exchange + connect;
}

static void test_two(void)
{
	double each[SIZES];

	for (int more = 0; more < 5; more++) { /* again if something else ran meanwhile */
		struct peer peer = peer_start(meet, 1);

		tap_eq_int(meet(peer.socket, 0), 0, "what the peer has written by each is there");
		tap_eq_int(peer_wait(&peer), 0, "and so it is with the peer");
		for (int size = 0; size < SIZES; size++)
			each[size] = tell_each(size);
		if (each[3] <= 1.5 * each[2])
			break;
	}
	tap_ok(each[3] <= 1.5 * each[2],
	       "with %d queue pairs each takes at most half as much again as with %d", sizes[3],
	       sizes[2]);
}

int main(void)
{
	test_two();
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
