/* SPDX-License-Identifier: MIT */
/* Posting work: that it costs one call, and what a refusal is put down to. */
#include "check.h"
#include "findings.h"
#include "fixture.h"

enum {
	LIST = 3,
	BAD = 1, /* the one of the list that tests make wrong */
};

static struct {
	struct fake_device *dev;
	struct ibv_qp *qp;
	struct ibv_send_wr send[LIST], *bad_send;
	struct ibv_recv_wr recv[LIST], *bad_recv;
	struct ibv_sge sge[2];
	struct ibv_srq *srq;
	struct rdmaez_diag diag;
} t;

/* Drivers by the ids that they are known by. */
enum {
	PLAIN = 0, /* none that is known */
	RXE = 0xffffff,
	MELLANOX = 0x2c9,
	EFA = 0x1d0f,
};

static void vendor(uint32_t vendor_id, uint32_t part_id)
{
	t.dev->attr.orig_attr.vendor_id = vendor_id;
	t.dev->attr.orig_attr.vendor_part_id = part_id;
}

static const uint64_t send_states =
	1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR;
static const uint64_t recv_states = 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS |
				    1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE | 1 << IBV_QPS_ERR;

/* A queue pair of rxe in this state, and two lists of work requests that it accepts in RTS. */
static void start(enum ibv_qp_type type, enum ibv_qp_state state)
{
	t.dev = fake_reset();
	vendor(RXE, 0);
	t.qp = fixture_qp(fake_open(t.dev), type, state);
	memset(t.send, 0, sizeof(t.send));
	memset(t.recv, 0, sizeof(t.recv));
	memset(t.sge, 0, sizeof(t.sge));
	for (int i = 0; i < LIST; i++) {
		t.send[i].opcode = IBV_WR_SEND;
		t.send[i].sg_list = t.recv[i].sg_list = t.sge;
		t.send[i].num_sge = t.recv[i].num_sge = 1;
		t.send[i].next = i + 1 < LIST ? &t.send[i + 1] : NULL;
		t.recv[i].next = i + 1 < LIST ? &t.recv[i + 1] : NULL;
	}
	t.sge[0].length = t.sge[1].length = 8;
	t.bad_send = (struct ibv_send_wr *)&t;
	t.bad_recv = (struct ibv_recv_wr *)&t;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static int post_send(void)
{
	return rdmaez_wr_post_send(t.qp, t.send, &t.bad_send, &t.diag);
}

static int post_recv(void)
{
	return rdmaez_wr_post_recv(t.qp, t.recv, &t.bad_recv, &t.diag);
}

/* The finding that places the wrong work request in the list. */
#define AT(position) \
	{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WR_BAD, "bad_wr", RDMAEZ_VALUE_POSITION, position, 0, 0}

/* Another one of a certain cause, and of a likely one. */
#define WRONG(reason, field, ...)  {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define LIKELY(reason, field, ...) {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NOTHING                    RDMAEZ_VALUE_NONE, 0, 0, 0

#define CHECK_SEND(got, error, name, ...)                                                      \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_wr_post_send", "ibv_post_send", name, \
			    __VA_ARGS__)
#define CHECK_RECV(got, error, name, ...)                                                      \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_wr_post_recv", "ibv_post_recv", name, \
			    __VA_ARGS__)

static void check_success_touches_nothing(void)
{
	struct rdmaez_diag before;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	before = t.diag;
	tap_eq_int(post_send(), 0, "a list of sends is posted");
	tap_eq_int(post_recv(), 0, "a list of receives is posted");
	tap_eq_int(fake_count(FAKE_ANY), 2, "each by one verbs call");
	tap_eq_int(fake_last(FAKE_POST_SEND)->index, LIST, "which took all the sends");
	tap_eq_int(fake_last(FAKE_POST_RECV)->index, LIST, "or all the receives");
	tap_ok(memcmp(&t.diag, &before, sizeof(before)) == 0, "the record is left alone");
	tap_eq_ptr(t.bad_send, &t, "so is bad_wr of the sends");
	tap_eq_ptr(t.bad_recv, &t, "and of the receives");
	tap_eq_int(rdmaez_wr_post_send(t.qp, t.send, NULL, NULL), 0, "neither need be there");
	tap_eq_int(rdmaez_wr_post_recv(t.qp, t.recv, NULL, NULL), 0, "for receives as well");
}

static void check_unexplained_failures(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.send[BAD].num_sge = t.recv[BAD].num_sge = 5;
	tap_eq_int(rdmaez_wr_post_send(t.qp, t.send, &t.bad_send, NULL), EINVAL, "no record");
	tap_eq_ptr(t.bad_send, &t.send[BAD], "the send that is wrong is still told");
	tap_eq_int(rdmaez_wr_post_recv(t.qp, t.recv, &t.bad_recv, NULL), EINVAL, "no record");
	tap_eq_ptr(t.bad_recv, &t.recv[BAD], "and the receive");
	tap_eq_int(rdmaez_wr_post_send(t.qp, t.send, NULL, NULL), EINVAL, "no bad_wr either");
	tap_eq_int(rdmaez_wr_post_recv(t.qp, t.recv, NULL, NULL), EINVAL, "no bad_wr either");
	tap_eq_int(fake_count(FAKE_ANY), 4, "and nothing is asked");

	t.dev->quirks = FAKE_NEGATIVE_ERRNO;
	tap_eq_int(rdmaez_wr_post_send(t.qp, t.send, NULL, NULL), EINVAL,
		   "a negative errno value comes out positive");
	CHECK_RECV(post_recv(), EINVAL, "a negative errno value", AT(BAD),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
}

static void check_states(void)
{
	for (int state = IBV_QPS_RESET; state < IBV_QPS_RTS; state++) {
		start(IBV_QPT_RC, (enum ibv_qp_state)state);
		CHECK_SEND(post_send(), EINVAL, "sending too early", AT(0),
			   WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, (uint64_t)state, 0,
				 send_states));
		tap_eq_ptr(t.bad_send, t.send, "the first is refused");
		t.dev->quirks = FAKE_POST_SEND_ENOMEM;
		CHECK_SEND(post_send(), ENOMEM, "with a misleading errno", AT(0),
			   WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, (uint64_t)state, 0,
				 send_states));
		tap_eq_int(fake_count(FAKE_ANY), 6, "the explanation takes two calls each");
		tap_eq_int(fake_count(FAKE_QUERY_QP), 2, "which ask the queue pair");
		tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask,
			   IBV_QP_STATE | IBV_QP_CAP | IBV_QP_PORT, "for no more than is needed");
		tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 2, "and the device");
		tap_eq_str(t.diag.driver, "rdma_rxe", "the driver is told");
		tap_eq_int(t.diag.qp_num, t.qp->qp_num, "the record names it");
		tap_eq_str(t.diag.device, "fake0", "and its device");
	}
	start(IBV_QPT_RC, IBV_QPS_RESET);
	CHECK_RECV(
		post_recv(), EINVAL, "receiving too early", AT(0),
		WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_RESET, 0, recv_states));
	tap_eq_ptr(t.bad_recv, t.recv, "the first is refused");
	t.recv[0].num_sge = 5;
	CHECK_RECV(
		post_recv(), EINVAL, "receiving too early and too much", AT(0),
		WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_RESET, 0, recv_states),
		WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));

	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_qp_force(t.qp, IBV_QPS_ERR); /* qp->state still says RTS */
	fake_fail(FAKE_POST_SEND, 0, EINVAL);
	fake_fail(FAKE_POST_RECV, 0, EINVAL);
	CHECK_SEND(post_send(), EINVAL, "a driver that takes nothing in ERR", AT(0),
		   LIKELY(WR_QP_ERROR, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_ERR, 0,
			  1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD));
	tap_eq_int(t.qp->state, IBV_QPS_ERR, "the state was refreshed");
	CHECK_RECV(post_recv(), EINVAL, "nor receives", AT(0),
		   LIKELY(WR_QP_ERROR, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_ERR, 0,
			  recv_states & ~(3u << IBV_QPS_SQE)));
	fake_qp_force(t.qp, IBV_QPS_SQE);
	CHECK_SEND(post_send(), EINVAL, "or in SQE", AT(0),
		   LIKELY(WR_QP_ERROR, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_SQE, 0,
			  1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD));
}

/* A provider that leaves the state unset, so that the kernel returns what was there. */
static void check_no_state(void)
{
	static const int states[] = {IBV_QPS_ERR + 1, 64, 255, INT32_MAX};

	for (size_t i = 0; i < COUNT_OF(states); i++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		fake_qp_force(t.qp, (enum ibv_qp_state)states[i]);
		fake_fail(FAKE_POST_SEND, 0, EINVAL);
		fake_fail(FAKE_POST_RECV, 0, EINVAL);
		CHECK_SEND(post_send(), EINVAL, "a state that is none, and a send", AT(0),
			   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
		CHECK_RECV(post_recv(), EINVAL, "a state that is none, and a receive", AT(0),
			   LIKELY(UNEXPLAINED, "ibv_post_recv", NOTHING));
	}
}

/* The provider keeps the work and complains afterwards. */
static void check_unnamed(void)
{
	start(IBV_QPT_RC, IBV_QPS_INIT);
	t.dev->quirks = FAKE_QUEUE_THEN_CHECK;
	CHECK_SEND(
		post_send(), EINVAL, "nobody says which",
		WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_INIT, 0, send_states),
		LIKELY(WR_BAD_UNKNOWN, "bad_wr", NOTHING));
	tap_eq_ptr(t.bad_send, NULL, "bad_wr says so too");
	t.send[0].next = NULL;
	CHECK_SEND(
		post_send(), EINVAL, "nobody says, and there is only one",
		WRONG(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_INIT, 0, send_states));
	fake_qp_force(t.qp, IBV_QPS_RESET);
	tap_eq_int(rdmaez_wr_post_send(t.qp, NULL, &t.bad_send, NULL), EINVAL, "no list at all");
	CHECK_SEND(rdmaez_wr_post_send(t.qp, NULL, &t.bad_send, &t.diag), EINVAL, "no list at all",
		   WRONG(NULL_ARGUMENT, "wr", NOTHING));
	CHECK_RECV(rdmaez_wr_post_recv(t.qp, NULL, &t.bad_recv, &t.diag), EINVAL, "no list at all",
		   WRONG(NULL_ARGUMENT, "wr", NOTHING));
}

/* A provider that names a work request nobody has posted. */
static struct ibv_send_wr stray_send;
static struct ibv_recv_wr stray_recv;
static int stray_error;

static int post_send_astray(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	(void)qp;
	(void)wr;
	*bad_wr = &stray_send;
	return stray_error;
}

static int post_recv_astray(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp;
	(void)wr;
	*bad_wr = &stray_recv;
	return stray_error;
}

static void check_stray(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.qp->context->ops.post_send = post_send_astray;
	t.qp->context->ops.post_recv = post_recv_astray;
	stray_error = EINVAL;
	stray_send.num_sge = t.send[0].num_sge = 7;
	stray_recv.num_sge = t.recv[0].num_sge = 8;
	CHECK_SEND(post_send(), EINVAL, "a stranger among sends",
		   LIKELY(WR_BAD_UNKNOWN, "bad_wr", NOTHING),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
	tap_eq_ptr(t.bad_send, &stray_send, "is handed on as it is");
	CHECK_RECV(post_recv(), EINVAL, "a stranger among receives",
		   LIKELY(WR_BAD_UNKNOWN, "bad_wr", NOTHING),
		   LIKELY(UNEXPLAINED, "ibv_post_recv", NOTHING));
	tap_eq_ptr(t.bad_recv, &stray_recv, "is handed on as it is");
	t.send[0].next = NULL;
	t.recv[0].next = NULL;
	CHECK_SEND(post_send(), EINVAL, "the only send",
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 7, 0, 4));
	CHECK_RECV(post_recv(), EINVAL, "the only receive",
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 8, 0, 4));
	stray_error = ENOMEM;
	CHECK_RECV(post_recv(), ENOMEM, "the only receive, and no word of a full queue",
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 8, 0, 4));
}

static void check_sges(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.send[BAD].num_sge = 5;
	t.recv[BAD].num_sge = -1;
	CHECK_SEND(post_send(), EINVAL, "too many SGEs", AT(BAD),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
	tap_eq_ptr(t.bad_send, &t.send[BAD], "bad_wr is the verb's");
	CHECK_RECV(post_recv(), EINVAL, "a negative number of SGEs", AT(BAD),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, UINT64_MAX, 0, 4));
	t.send[BAD].num_sge = t.recv[BAD].num_sge = 1;
	t.send[0].sg_list = NULL;
	t.recv[0].sg_list = NULL;
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CHECK_SEND(post_send(), EINVAL, "SGEs that are nowhere", AT(0),
		   WRONG(NULL_ARGUMENT, "sg_list", NOTHING));
	fake_fail(FAKE_POST_RECV, 1, EINVAL);
	CHECK_RECV(post_recv(), EINVAL, "SGEs that are nowhere", AT(0),
		   WRONG(NULL_ARGUMENT, "sg_list", NOTHING));
	t.send[0].num_sge = 0;
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CHECK_SEND(post_send(), EINVAL, "none need not be anywhere", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
}

static void check_inline(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.send[BAD].send_flags = IBV_SEND_INLINE;
	t.send[BAD].num_sge = 2;
	t.sge[0].length = 60;
	t.sge[1].length = 5;
	CHECK_SEND(post_send(), EINVAL, "too much inline data", AT(BAD),
		   WRONG(WR_INLINE, "sg_list", RDMAEZ_VALUE_BYTES, 65, 0, 64));
	t.send[BAD].num_sge = 5;
	CHECK_SEND(post_send(), EINVAL, "SGEs beyond the limit are not read", AT(BAD),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
	t.send[BAD].num_sge = 2;
	t.sge[0].length = t.sge[1].length = UINT32_MAX;
	t.dev->quirks = FAKE_POST_SEND_ENOMEM;
	CHECK_SEND(
		post_send(), ENOMEM, "far too much of it", AT(BAD),
		WRONG(WR_INLINE, "sg_list", RDMAEZ_VALUE_BYTES, 2 * (uint64_t)UINT32_MAX, 0, 64));
	t.sge[0].length = 59;
	t.sge[1].length = 5;
	tap_eq_int(post_send(), 0, "as much as there is room for");
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	t.send[0].send_flags = IBV_SEND_INLINE;
	t.send[0].num_sge = 2;
	CHECK_SEND(post_send(), EINVAL, "which is not to blame", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
	t.send[0].num_sge = 1;

	fake_fail(FAKE_POST_SEND, 0, EINVAL);
	t.send[0].opcode = IBV_WR_RDMA_READ;
	t.send[0].send_flags = IBV_SEND_INLINE;
	CHECK_SEND(post_send(), EINVAL, "an inline READ", AT(0),
		   LIKELY(WR_INLINE_OPCODE, "send_flags", RDMAEZ_VALUE_OPCODE, IBV_WR_RDMA_READ, 0,
			  0));
	t.send[0].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	t.sge[0].length = 8;
	CHECK_SEND(post_send(), EINVAL, "an inline atomic", AT(0),
		   LIKELY(WR_INLINE_OPCODE, "send_flags", RDMAEZ_VALUE_OPCODE,
			  IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0));
	t.send[0].opcode = IBV_WR_RDMA_WRITE;
	CHECK_SEND(post_send(), EINVAL, "an inline WRITE is right", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
}

static void check_atomics(void)
{
	static const enum ibv_wr_opcode opcodes[] = {IBV_WR_ATOMIC_CMP_AND_SWP,
						     IBV_WR_ATOMIC_FETCH_AND_ADD};

	for (size_t i = 0; i < COUNT_OF(opcodes); i++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		t.send[BAD].opcode = opcodes[i];
		t.send[BAD].wr.atomic.remote_addr = 0x1000;
		tap_eq_int(post_send(), 0, "an atomic that is right");
		t.send[BAD].wr.atomic.remote_addr = 0x1004;
		CHECK_SEND(post_send(), EINVAL, "an atomic at an odd place", AT(BAD),
			   WRONG(WR_ATOMIC, "wr.atomic.remote_addr", RDMAEZ_VALUE_ADDRESS, 0x1004,
				 0, 0));
		t.send[BAD].num_sge = 2;
		CHECK_SEND(post_send(), EINVAL, "of twice the length, which rxe takes", AT(BAD),
			   WRONG(WR_ATOMIC, "wr.atomic.remote_addr", RDMAEZ_VALUE_ADDRESS, 0x1004,
				 0, 0),
			   LIKELY(WR_ATOMIC, "sg_list", RDMAEZ_VALUE_BYTES, 16, 8, 8));
		t.send[BAD].wr.atomic.remote_addr = 0x1000;
		CHECK_SEND(post_send(), EINVAL, "nor is the length why", AT(BAD),
			   LIKELY(WR_ATOMIC, "sg_list", RDMAEZ_VALUE_BYTES, 16, 8, 8));
		t.send[BAD].wr.atomic.remote_addr = 0x1004;
		t.send[BAD].num_sge = 1;
		t.sge[0].length = 7;
		CHECK_SEND(post_send(), EINVAL, "of too little length", AT(BAD),
			   WRONG(WR_ATOMIC, "sg_list", RDMAEZ_VALUE_BYTES, 7, 8, 8),
			   WRONG(WR_ATOMIC, "wr.atomic.remote_addr", RDMAEZ_VALUE_ADDRESS, 0x1004,
				 0, 0));
	}
}

/* Which types take which operations: ibv_post_send(3) row by row, 14 and 15 as verbs.h has them. */
static void check_opcodes(void)
{
	static const struct {
		enum ibv_qp_type type;
		const char *taken; /* by the number of the opcode */
	} rows[] = {
		{IBV_QPT_UD, "..XX......XX...."},         {IBV_QPT_UC, "XXXX...XXX.X...."},
		{IBV_QPT_RC, "XXXXXXXXXX.X..XX"},         {IBV_QPT_XRC_SEND, "XXXXXXXXXX.X..XX"},
		{IBV_QPT_RAW_PACKET, "..X.......XX...."}, {IBV_QPT_XRC_RECV, "................"},
		{IBV_QPT_DRIVER, "XXXXXXXXXXXXXXXX"},
	};
	const struct rdmaez_finding *found;
	int wrong;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		start(rows[i].type, IBV_QPS_RTS);
		fake_fail(FAKE_POST_SEND, 0, EINVAL);
		wrong = 0;
		for (int opcode = 0; opcode < 40; opcode++) {
			const bool taken = opcode < 16 ? rows[i].taken[opcode] == 'X'
						       : rows[i].type == IBV_QPT_DRIVER;

			t.send[0].opcode = (enum ibv_wr_opcode)opcode;
			t.send[0].wr.ud.ah = NULL;
			post_send();
			found = rdmaez_diag_find(&t.diag, RDMAEZ_WHY_WR_OPCODE);
			if (opcode >= 32)
				wrong += !found; /* no type has those, nor has our mask */
			else if (taken == (found != NULL) ||
				 (found && (strcmp(found->field, "opcode") != 0 ||
					    found->kind != RDMAEZ_VALUE_OPCODE ||
					    found->value != (uint64_t)opcode)))
				wrong++;
		}
		tap_eq_int(wrong, 0, "the operations of %s", rdmaez_qp_type_str(rows[i].type));
	}
	start(IBV_QPT_UC, IBV_QPS_RTS);
	t.send[2].opcode = IBV_WR_RDMA_READ;
	CHECK_SEND(post_send(), EINVAL, "a READ over UC", AT(2),
		   LIKELY(WR_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, IBV_WR_RDMA_READ, 0, 0));
	t.dev->quirks = FAKE_POST_SEND_ENOMEM;
	t.send[2].num_sge = 5;
	CHECK_SEND(post_send(), ENOMEM, "a READ over UC of too many SGEs", AT(2),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4),
		   LIKELY(WR_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, IBV_WR_RDMA_READ, 0, 0));
	t.send[2].num_sge = 1;
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	t.send[0].opcode = IBV_WR_RDMA_READ;
	CHECK_SEND(post_send(), ENOMEM, "a READ over UC that comes to a full queue", AT(0),
		   LIKELY(WR_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, IBV_WR_RDMA_READ, 0, 0),
		   LIKELY(WR_QUEUE_FULL, "cap.max_send_wr", RDMAEZ_VALUE_LIMIT, 0, 0, 16));
}

static void check_ud(void)
{
	struct ibv_pd other;
	struct ibv_ah ah;

	memset(&ah, 0, sizeof(ah));
	memset(&other, 0, sizeof(other));
	start(IBV_QPT_UD, IBV_QPS_RTS);
	fake_fail(FAKE_POST_SEND, 0, EINVAL);
	CHECK_SEND(post_send(), EINVAL, "UD to nobody", AT(0),
		   WRONG(NULL_ARGUMENT, "wr.ud.ah", NOTHING));
	ah.pd = &other;
	t.send[0].wr.ud.ah = &ah;
	CHECK_SEND(post_send(), EINVAL, "UD by a handle of another domain", AT(0),
		   LIKELY(WR_AH_PD, "wr.ud.ah", NOTHING));
	ah.pd = t.qp->pd;
	t.sge[0].length = 1025;
	CHECK_SEND(post_send(), EINVAL, "UD of more than a packet", AT(0),
		   LIKELY(WR_UD_LENGTH, "sg_list", RDMAEZ_VALUE_BYTES, 1025, 0, 1024));
	t.send[0].opcode = IBV_WR_TSO;
	CHECK_SEND(post_send(), EINVAL, "the device cuts TSO into packets", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
	t.send[0].opcode = IBV_WR_SEND;
	t.sge[0].length = 1024;
	CHECK_SEND(post_send(), EINVAL, "UD of just a packet", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
	fake_fail(FAKE_QUERY_PORT, 0, EIO);
	t.sge[0].length = 1025;
	CHECK_SEND(post_send(), EINVAL, "UD by a port that does not answer", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
}

static void check_queues(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	for (int i = 0; i < 5; i++) {
		tap_eq_int(post_send(), 0, "the send queue takes three more");
		tap_eq_int(post_recv(), 0, "the receive queue too");
	}
	CHECK_SEND(post_send(), ENOMEM, "the seventeenth send", AT(1),
		   LIKELY(WR_QUEUE_FULL, "cap.max_send_wr", RDMAEZ_VALUE_LIMIT, 0, 0, 16));
	tap_eq_ptr(t.bad_send, &t.send[1], "is the second of the list");
	CHECK_RECV(post_recv(), ENOMEM, "the seventeenth receive", AT(1),
		   LIKELY(WR_QUEUE_FULL, "cap.max_recv_wr", RDMAEZ_VALUE_LIMIT, 0, 0, 16));
	tap_eq_ptr(t.bad_recv, &t.recv[1], "is the second of the list");
	fake_qp_work_done(t.qp);
	tap_eq_int(post_send(), 0, "when the work is done there is room");

	start(IBV_QPT_XRC_SEND, IBV_QPS_RTS);
	CHECK_RECV(post_recv(), EINVAL, "XRC_SEND has no receive queue", AT(0),
		   WRONG(WR_NO_QUEUE, "cap.max_recv_wr", RDMAEZ_VALUE_NUMBER, 0, 1, UINT32_MAX));
	start(IBV_QPT_XRC_RECV, IBV_QPS_RTS);
	CHECK_SEND(post_send(), EINVAL, "XRC_RECV sends nothing", AT(0),
		   LIKELY(WR_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, IBV_WR_SEND, 0, 0));
	start(IBV_QPT_RC, IBV_QPS_RESET);
	t.qp->srq = (struct ibv_srq *)&t;
	CHECK_RECV(post_recv(), EINVAL, "receives come from an SRQ", AT(0),
		   WRONG(WR_SRQ, "srq", NOTHING));

	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_fail(FAKE_POST_SEND, 0, EIO);
	CHECK_SEND(post_send(), EIO, "a device that is gone", AT(0),
		   LIKELY(DEVICE_GONE, "ibv_post_send", NOTHING));
	fake_fail(FAKE_POST_RECV, 0, EINVAL);
	CHECK_RECV(post_recv(), EINVAL, "a receive that nothing is wrong with", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_recv", NOTHING));
}

static void check_signaled(void)
{
	start(IBV_QPT_DRIVER, IBV_QPS_RTS);
	t.dev->quirks = FAKE_SIGNALED_ONLY;
	vendor(EFA, 0);
	t.send[0].send_flags = IBV_SEND_SIGNALED;
	CHECK_SEND(
		post_send(), EINVAL, "efa and an unsignaled send", AT(1),
		LIKELY(WR_UNSIGNALED, "send_flags", RDMAEZ_VALUE_FLAGS, IBV_SEND_SIGNALED, 0, 0));
	t.send[1].send_flags = t.send[2].send_flags = IBV_SEND_SIGNALED;
	tap_eq_int(post_send(), 0, "signaled ones it takes");
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	CHECK_SEND(post_send(), EINVAL, "or refuses for another reason", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
	vendor(PLAIN, 0);
	t.send[0].send_flags = 0;
	CHECK_SEND(post_send(), EINVAL, "an unknown driver is not accused", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
}

static void check_signal_all(void)
{
	struct ibv_qp_init_attr init;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	memset(&init, 0, sizeof(init));
	init.qp_type = IBV_QPT_RC;
	init.send_cq = t.qp->send_cq;
	init.recv_cq = t.qp->recv_cq;
	init.cap.max_send_wr = init.cap.max_send_sge = 1;
	init.sq_sig_all = 1;
	t.dev->quirks = FAKE_SIGNALED_ONLY;
	t.dev->attr.orig_attr.vendor_id = 0x1d0f;
	t.qp = ibv_create_qp(t.qp->pd, &init);
	fake_qp_force(t.qp, IBV_QPS_RTS);
	CHECK_SEND(post_send(), ENOMEM, "sq_sig_all signals every send", AT(1),
		   LIKELY(WR_QUEUE_FULL, "cap.max_send_wr", RDMAEZ_VALUE_LIMIT, 0, 0, 1));

	init.cap.max_send_wr = 0;
	t.qp = ibv_create_qp(t.qp->pd, &init);
	fake_qp_force(t.qp, IBV_QPS_RTS);
	CHECK_SEND(post_send(), ENOMEM, "a queue of no length", AT(0),
		   WRONG(WR_NO_QUEUE, "cap.max_send_wr", RDMAEZ_VALUE_NUMBER, 0, 1, UINT32_MAX));
}

/* Which mistakes are certain with which driver, E, and which are likely, L: as its provider checks them. */
static void check_drivers(void)
{
	static const struct {
		const char *name;
		uint32_t vendor_id, part_id;
		const char *severities; /* of mistakes[] below, in their order */
	} rows[] = {
		{"rdma_rxe", RXE, 0, "EEEEEELLEE"},
		{"mlx5_ib", MELLANOX, 0x1017, "EEEEEELLLL"},
		{"mlx4_ib", MELLANOX, 0x1003, "LLEEEELLLL"},
		{"irdma", 0x8086, 0x1592, "LLEEEELLLL"},
		{"hns_roce", 0x19e5, 0xa222, "EEEEEELELL"},
		{"efa", EFA, 0xefa0, "EEELEELELL"},
		{"siw", 0x626d74, 1, "--LLLELL--"},
		{"erdma", 0x1ded, 0x107f, "LLLLLELLLL"},
		{"bnxt_re", 0x14e4, 0x1750, "LLLLLELLLL"},
		{"mana_ib", 0x1414, 0, "EELLLLLELL"},
		{"unknown", PLAIN, 0, "LLLLLLLLLL"},
	};
	/* A state that is too early, or a work request with one mistake; of RC in RTS. */
	static const struct {
		enum rdmaez_why reason;
		bool receives;
		enum ibv_qp_state state;
		int num_sge;
		unsigned int send_flags;
		enum ibv_wr_opcode opcode;
		uint32_t length;
		uint64_t address;
	} mistakes[] = {
		{RDMAEZ_WHY_WR_STATE, false, IBV_QPS_RTR, 1, 0, IBV_WR_SEND, 8, 0},
		{RDMAEZ_WHY_WR_STATE, true, IBV_QPS_RESET, 1, 0, IBV_WR_SEND, 8, 0},
		{RDMAEZ_WHY_WR_SGE, false, IBV_QPS_RTS, 5, 0, IBV_WR_SEND, 8, 0},
		{RDMAEZ_WHY_WR_SGE, false, IBV_QPS_RTS, 5, IBV_SEND_INLINE, IBV_WR_SEND, 8, 0},
		{RDMAEZ_WHY_WR_SGE, true, IBV_QPS_RTS, 5, 0, IBV_WR_SEND, 8, 0},
		{RDMAEZ_WHY_WR_INLINE, false, IBV_QPS_RTS, 1, IBV_SEND_INLINE, IBV_WR_SEND, 65, 0},
		{RDMAEZ_WHY_WR_INLINE, false, IBV_QPS_RTS, 1, IBV_SEND_INLINE, IBV_WR_RDMA_READ, 65,
		 0},
		{RDMAEZ_WHY_WR_OPCODE, false, IBV_QPS_RTS, 1, 0, IBV_WR_TSO, 8, 0},
		{RDMAEZ_WHY_WR_ATOMIC, false, IBV_QPS_RTS, 1, 0, IBV_WR_ATOMIC_FETCH_AND_ADD, 7, 0},
		{RDMAEZ_WHY_WR_ATOMIC, false, IBV_QPS_RTS, 1, 0, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 4},
	};

	for (size_t i = 0; i < COUNT_OF(rows) * COUNT_OF(mistakes); i++) {
		const size_t row = i / COUNT_OF(mistakes), n = i % COUNT_OF(mistakes);
		const struct rdmaez_finding *found;

		start(IBV_QPT_RC, mistakes[n].state);
		vendor(rows[row].vendor_id, rows[row].part_id);
		if (strcmp(rows[row].name, "siw") == 0)
			t.dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
		t.send[0].opcode = mistakes[n].opcode;
		t.send[0].send_flags = mistakes[n].send_flags;
		t.send[0].num_sge = t.recv[0].num_sge = mistakes[n].num_sge;
		t.send[0].wr.atomic.remote_addr = mistakes[n].address;
		t.sge[0].length = mistakes[n].length;
		fake_fail(FAKE_POST_SEND, 0, EPERM);
		fake_fail(FAKE_POST_RECV, 0, EPERM);
		tap_eq_int(mistakes[n].receives ? post_recv() : post_send(), EPERM,
			   "%s and mistake %d: refused", rows[row].name, (int)n);
		found = rdmaez_diag_find(&t.diag, mistakes[n].reason);
		/* siw of Linux 6.1 does not tell its state, and has no atomics of any length. */
		if (rows[row].severities[n] == '-') {
			tap_ok(!found, "%s and mistake %d: nothing is said", rows[row].name,
			       (int)n);
			continue;
		}
		tap_ok(found && found->severity == (rows[row].severities[n] == 'E'
							    ? RDMAEZ_DIAG_ERROR
							    : RDMAEZ_DIAG_LIKELY),
		       "%s and mistake %d: %s, %c", rows[row].name, (int)n,
		       rdmaez_why_id(mistakes[n].reason), rows[row].severities[n]);
		tap_eq_str(t.diag.driver, row < 10 ? rows[row].name : NULL, "the driver is told");
	}
}

/* siw connects its queue pairs by rdma_cm; siw_query_qp() of Linux 6.1 leaves the state alone. */
static void check_siw(void)
{
	static const uint8_t stale[] = {0, IBV_QPS_RTR, 64, 255};

	for (size_t i = 0; i < COUNT_OF(stale); i++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		fake_profile(t.dev, FAKE_PROFILE_SIW);
		t.dev->habits.stale = stale[i];
		t.qp->state = IBV_QPS_INIT;
		t.send[BAD].num_sge = 5;
		CHECK_SEND(post_send(), EINVAL, "siw and too many SGEs", AT(BAD),
			   LIKELY(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
		tap_eq_int(t.qp->state, IBV_QPS_INIT, "qp->state is left as it is");
		t.recv[BAD].num_sge = 5;
		CHECK_RECV(post_recv(), EINVAL, "siw and a receive with too many SGEs", AT(BAD),
			   LIKELY(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
		t.recv[BAD].num_sge = 0;
		CHECK_RECV(post_recv(), EINVAL, "siw and a receive without SGEs", AT(BAD),
			   WRONG(RANGE, "num_sge", RDMAEZ_VALUE_NUMBER, 0, 1, 4));
	}
}

static void found_lacking(bool is)
{
	const struct rdmaez_finding *const found =
		rdmaez_diag_find(&t.diag, RDMAEZ_WHY_WR_DEVICE_OPCODE);

	tap_ok(is ? found && found->severity == RDMAEZ_DIAG_LIKELY : !found, "%s",
	       is ? "the device has none" : "the device may have it");
}

/* What a device does not have: siw has four operations, and tells so; of others atomic_cap tells of atomics. */
static void check_lacking(void)
{
	static const enum ibv_wr_opcode lacking[] = {
		IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WR_SEND_WITH_IMM, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_LOCAL_INV,     IBV_WR_BIND_MW};
	static const enum ibv_wr_opcode has[] = {IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
						 IBV_WR_SEND_WITH_INV};

	for (size_t i = 0; i < COUNT_OF(lacking); i++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		fake_profile(t.dev, FAKE_PROFILE_SIW);
		t.send[BAD].opcode = lacking[i];
		t.send[BAD].wr.atomic.remote_addr = 1;
		CHECK_SEND(
			post_send(), EINVAL, "siw does not have it", AT(BAD),
			WRONG(WR_DEVICE_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, lacking[i], 0, 0));
	}
	for (size_t i = 0; i < COUNT_OF(has); i++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		fake_profile(t.dev, FAKE_PROFILE_SIW);
		t.send[0].opcode = has[i];
		fake_fail(FAKE_POST_SEND, 0, EIO);
		tap_eq_int(post_send(), EIO, "siw has it, and refuses it nevertheless");
		tap_ok(!rdmaez_diag_find(&t.diag, RDMAEZ_WHY_WR_DEVICE_OPCODE), "that is no cause");
	}
	/* siw_post_send() of the kernel has a word of its own for what it does not tell. */
	start(IBV_QPT_RC, IBV_QPS_INIT);
	fake_profile(t.dev, FAKE_PROFILE_SIW);
	fake_fail(FAKE_POST_SEND, 0, ENOTCONN);
	CHECK_SEND(post_send(), ENOTCONN, "siw is not connected", AT(0),
		   LIKELY(WR_STATE, "qp_state", NOTHING));
	/* Beyond the provider's table anything may happen. */
	start(IBV_QPT_RC, IBV_QPS_RTS);
	fake_profile(t.dev, FAKE_PROFILE_SIW);
	t.send[0].opcode = (enum ibv_wr_opcode)15;
	fake_fail(FAKE_POST_SEND, 0, EIO);
	tap_eq_int(post_send(), EIO, "siw and an atomic write");
	tap_ok(!rdmaez_diag_find(&t.diag, RDMAEZ_WHY_WR_DEVICE_OPCODE), "nothing is known");

	for (int none = 0; none < 2; none++) {
		start(IBV_QPT_RC, IBV_QPS_RTS);
		if (none)
			t.dev->attr.orig_attr.atomic_cap = IBV_ATOMIC_NONE;
		t.send[0].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		t.sge[0].length = 8;
		fake_fail(FAKE_POST_SEND, 0, EIO);
		tap_eq_int(post_send(), EIO, "an atomic is refused");
		found_lacking(none);
	}
	/* A device that does not answer may have them. */
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.send[0].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	fake_fail(FAKE_POST_SEND, 0, EIO);
	fake_fail(FAKE_QUERY_DEVICE, 0, EIO);
	tap_eq_int(post_send(), EIO, "an atomic is refused, and the device does not answer");
	found_lacking(false);
}

/* A driver that answers less, or nothing: what the work request itself shows is still said. */
static void check_partly_answered(void)
{
	start(IBV_QPT_DRIVER, IBV_QPS_RTS);
	fake_profile(t.dev, FAKE_PROFILE_EFA);
	t.send[0].send_flags = IBV_SEND_SIGNALED;
	t.send[0].opcode = IBV_WR_TSO;
	t.send[0].num_sge = 5;
	CHECK_SEND(post_send(), EINVAL, "efa answers what is asked", AT(0),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "at once");
	t.send[0].send_flags = 0;
	CHECK_SEND(post_send(), EINVAL, "efa has another reason than the signal", AT(0),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
	fake_fail(FAKE_POST_RECV, 1, EINVAL);
	CHECK_RECV(post_recv(), EINVAL, "receives have no signal", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_recv", NOTHING));

	start(IBV_QPT_RC, IBV_QPS_RTS);
	vendor(0x1414, 0);
	t.dev->habits.query_errno = EOPNOTSUPP;
	t.send[BAD].opcode = IBV_WR_TSO;
	t.send[BAD].send_flags = IBV_SEND_INLINE;
	CHECK_SEND(post_send(), EINVAL, "mana cannot be queried", AT(BAD),
		   WRONG(WR_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, IBV_WR_TSO, 0, 0),
		   LIKELY(QUERY_REFUSED, "ibv_query_qp", NOTHING));
	tap_eq_int(fake_count(FAKE_QUERY_QP), 3, "though less and less is asked for");
	t.send[BAD].num_sge = 31;
	fake_fail(FAKE_POST_SEND, 1, EINVAL);
	t.send[0] = t.send[BAD];
	CHECK_SEND(post_send(), EINVAL, "more SGEs than any queue of the device takes", AT(0),
		   WRONG(WR_OPCODE, "opcode", RDMAEZ_VALUE_OPCODE, IBV_WR_TSO, 0, 0),
		   LIKELY(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 31, 0, 30),
		   LIKELY(QUERY_REFUSED, "ibv_query_qp", NOTHING));
	fixture_state(t.qp, IBV_QPS_INIT);
	t.send[0].opcode = IBV_WR_SEND;
	t.send[0].num_sge = 1;
	CHECK_SEND(
		post_send(), EINVAL, "what libibverbs knows of the state", AT(0),
		LIKELY(WR_STATE, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_INIT, 0, send_states),
		LIKELY(QUERY_REFUSED, "ibv_query_qp", NOTHING));
	t.qp->state = IBV_QPS_ERR;
	fake_fail(FAKE_POST_SEND, 1, EIO);
	CHECK_SEND(post_send(), EIO, "and what it may know of an error", AT(0),
		   LIKELY(WR_QP_ERROR, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_ERR, 0,
			  1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD),
		   LIKELY(QUERY_REFUSED, "ibv_query_qp", NOTHING));
	t.qp->state = (enum ibv_qp_state)64;
	fake_fail(FAKE_POST_SEND, 1, ENOMEM);
	CHECK_SEND(post_send(), ENOMEM, "a full queue of unknown length", AT(0),
		   LIKELY(WR_QUEUE_FULL, "cap.max_send_wr", NOTHING),
		   LIKELY(QUERY_REFUSED, "ibv_query_qp", NOTHING));
	t.qp->state = IBV_QPS_RTS;
	t.recv[0].num_sge = -1;
	fake_fail(FAKE_POST_RECV, 1, EINVAL);
	CHECK_RECV(post_recv(), EINVAL, "a negative number of SGEs", AT(0),
		   LIKELY(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, UINT64_MAX, 0, 30),
		   LIKELY(QUERY_REFUSED, "ibv_query_qp", NOTHING));
}
/* Capacities that are refused, though the answer holds some, or that are all zero. */
static void check_no_limits(void)
{
	struct ibv_qp_attr *is;

	start(IBV_QPT_RC, IBV_QPS_RTS);
	is = fixture_truth(t.qp);
	t.dev->habits.query_refused = IBV_QP_CAP;
	fake_fail(FAKE_POST_SEND, 0, EINVAL);
	t.send[0].num_sge = 5;
	CHECK_SEND(post_send(), EINVAL, "nobody tells the capacities", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
	t.dev->habits.query_refused = 0;
	memset(&is->cap, 0, sizeof(is->cap));
	CHECK_SEND(post_send(), EINVAL, "all of them are zero", AT(0),
		   LIKELY(UNEXPLAINED, "ibv_post_send", NOTHING));
	is->cap.max_recv_sge = 1;
	CHECK_SEND(post_send(), EINVAL, "not all", AT(0),
		   WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 0));
	t.send[0].num_sge = 0;
	CHECK_SEND(post_send(), EINVAL, "and no send queue", AT(0),
		   WRONG(WR_NO_QUEUE, "cap.max_send_wr", RDMAEZ_VALUE_NUMBER, 0, 1, UINT32_MAX));
}

/* Whatever a driver leaves alone: nothing is certain of a right work request but its place and a true state. */
static void check_profiles(void)
{
	static const char *const releases[] = {"6.1.0", "6.12.0", "7.2.0"};
	static const uint8_t stale[] = {0, IBV_QPS_RTS, 64, 255};
	const int cases = FAKE_PROFILE_COUNT * 3 * 4 * 7;
	int wrong = 0, told = 0, spoilt = 0;

	for (int i = 0; i < 2 * cases; i++) {
		const enum ibv_qp_state state = (enum ibv_qp_state)(i / 2 % 7);
		const bool sends = i % 2;

		start(IBV_QPT_RC, state);
		fake_uname(releases[i / 14 % 3]);
		fake_profile(t.dev, (enum fake_profile)(i / 168));
		t.dev->habits.stale = stale[i / 42 % 4];
		fake_fail(FAKE_POST_SEND, 1, EACCES);
		fake_fail(FAKE_POST_RECV, 1, EACCES);
		if ((sends ? post_send() : post_recv()) != EACCES)
			wrong++;
		spoilt += t.qp->state != state;
		for (unsigned int n = 0; n < t.diag.count; n++) {
			const struct rdmaez_finding *found = &t.diag.finding[n];

			if (found->kind == RDMAEZ_VALUE_STATE_NOW &&
			    found->value == (uint64_t)state)
				told += found->severity == RDMAEZ_DIAG_ERROR;
			else if (found->reason != RDMAEZ_WHY_WR_BAD &&
				 found->reason != RDMAEZ_WHY_UNEXPLAINED &&
				 found->reason != RDMAEZ_WHY_QUERY_REFUSED &&
				 found->reason != RDMAEZ_WHY_WR_UNSIGNALED) {
				wrong++;
				tap_diag("profile %d, state %d, stale %d: %s", i / 168, (int)state,
					 stale[i / 42 % 4], rdmaez_why_id(found->reason));
			}
		}
	}
	tap_eq_int(wrong, 0, "no driver makes it say what is not so");
	tap_eq_int(spoilt, 0, "or spoils qp->state");
	tap_ok(told > 100, "many tell their states: %d", told);
}

static int post_srq(void)
{
	return rdmaez_wr_post_srq_recv(t.srq, t.recv, &t.bad_recv, &t.diag);
}

#define CHECK_SRQ(got, error, name, ...)                                                         \
	CHECK_VERB_FINDINGS(&t.diag, got, error, "rdmaez_wr_post_srq_recv", "ibv_post_srq_recv", \
			    name, __VA_ARGS__)

static void start_srq(void)
{
	start(IBV_QPT_RC, IBV_QPS_RTS);
	t.srq = fake_srq(t.qp->context, IBV_SRQT_BASIC);
	fake_reset_log();
}

static void check_srq(void)
{
	struct rdmaez_diag before;

	start_srq();
	before = t.diag;
	for (int i = 0; i < 5; i++)
		tap_eq_int(post_srq(), 0, "a shared queue takes three more");
	tap_eq_int(fake_count(FAKE_ANY), 5, "each time by one verbs call");
	tap_eq_int(fake_last(FAKE_POST_SRQ_RECV)->index, LIST, "which took all of them");
	tap_ok(memcmp(&t.diag, &before, sizeof(before)) == 0, "the record is left alone");
	tap_eq_ptr(t.bad_recv, &t, "so is bad_wr");
	tap_eq_int(rdmaez_wr_post_srq_recv(t.srq, t.recv, NULL, NULL), ENOMEM, "neither need be");
	tap_eq_int(rdmaez_wr_post_srq_recv(t.srq, t.recv, &t.bad_recv, NULL), ENOMEM, "no record");
	tap_eq_ptr(t.bad_recv, t.recv, "bad_wr is told");
	tap_eq_int(fake_count(FAKE_ANY), 7, "and nothing is asked");
	fake_srq_work_done(t.srq);
	for (int i = 0; i < 5; i++)
		post_srq();
	CHECK_SRQ(post_srq(), ENOMEM, "the seventeenth", AT(1),
		  LIKELY(WR_QUEUE_FULL, "attr.max_wr", RDMAEZ_VALUE_LIMIT, 0, 0, 16));
	tap_eq_str(t.diag.device, "fake0", "the record names the device");
	tap_eq_str(t.diag.driver, "rdma_rxe", "and the driver");
	tap_eq_int(t.diag.qp_num, 0, "no queue pair is involved");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 0, "and none is asked");

	start_srq();
	t.recv[BAD].num_sge = 5;
	CHECK_SRQ(post_srq(), EINVAL, "too many SGEs", AT(BAD),
		  WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
	vendor(0x14e4, 0);
	fake_fail(FAKE_POST_SRQ_RECV, 1, ENOMEM);
	t.recv[0].num_sge = 5;
	CHECK_SRQ(post_srq(), ENOMEM, "which bnxt_re does not look at", AT(0),
		  LIKELY(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4),
		  LIKELY(WR_QUEUE_FULL, "attr.max_wr", RDMAEZ_VALUE_LIMIT, 0, 0, 16));
	t.recv[0].num_sge = 1;
	t.recv[0].sg_list = NULL;
	fake_fail(FAKE_POST_SRQ_RECV, 1, EINVAL);
	CHECK_SRQ(post_srq(), EINVAL, "SGEs that are nowhere", AT(0),
		  WRONG(NULL_ARGUMENT, "sg_list", NOTHING));
	fake_fail(FAKE_POST_SRQ_RECV, 1, EINVAL);
	CHECK_SRQ(rdmaez_wr_post_srq_recv(t.srq, NULL, NULL, &t.diag), EINVAL, "no list",
		  WRONG(NULL_ARGUMENT, "wr", NOTHING));
	t.recv[0].num_sge = 0;
	fake_fail(FAKE_POST_SRQ_RECV, 1, EOPNOTSUPP);
	CHECK_SRQ(post_srq(), EOPNOTSUPP, "a device without shared queues", AT(0),
		  LIKELY(NOT_SUPPORTED, "ibv_post_srq_recv", NOTHING));

	/* mlx4_post_srq_recv() returns -1, and errno is what it was. */
	vendor(MELLANOX, 0x1003);
	t.dev->habits.srq_sge_result = t.dev->habits.srq_full_result = -1;
	errno = EDOM;
	CHECK_SRQ(post_srq(), ENOMEM, "mlx4 and too many SGEs", AT(BAD),
		  WRONG(WR_SGE, "num_sge", RDMAEZ_VALUE_NUMBER, 5, 0, 4));
	t.recv[BAD].num_sge = 1;
	for (int i = 0; i < 5; i++)
		post_srq();
	errno = EDOM;
	CHECK_SRQ(post_srq(), ENOMEM, "mlx4 and a full queue", AT(0),
		  LIKELY(WR_QUEUE_FULL, "attr.max_wr", RDMAEZ_VALUE_LIMIT, 0, 0, 16));

	fake_fail(FAKE_QUERY_SRQ, 0, EIO);
	CHECK_SRQ(post_srq(), ENOMEM, "a queue that does not answer", AT(0),
		  LIKELY(WR_QUEUE_FULL, "attr.max_wr", NOTHING),
		  LIKELY(QUERY_REFUSED, "ibv_query_srq", NOTHING));
}

/* The record's text in one line, whatever its layout. */
static void format(char *text, size_t size)
{
	char *to = text;

	tap_ok(rdmaez_diag_format(&t.diag, text, size) < (int)size, "the text fits");
	for (const char *from = text; *from; from++)
		if (*from != '\n' && (*from != ' ' || (to > text && to[-1] != ' ')))
			*to++ = *from;
		else if (*from == '\n' && to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = '\0';
}

/* How the findings that only this header makes read. */
static void check_text(void)
{
	char text[2048];

	start(IBV_QPT_RC, IBV_QPS_INIT);
	t.send[0].opcode = IBV_WR_TSO;
	t.send[0].send_flags = IBV_SEND_INLINE;
	t.sge[0].length = 100;
	post_send();
	format(text, sizeof(text));
	tap_ok(strstr(text, "Position: 0."), "the place is told");
	tap_ok(strstr(text, "State: INIT; needed: RTS, SQD, SQE, ERR."), "so is the state");
	tap_ok(strstr(text, "Given: TSO (10)."), "the operation");
	tap_ok(strstr(text, "Given: 100 bytes; accepted: 0 to 64."), "and the length");
	t.send[0].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	t.send[0].wr.atomic.remote_addr = 0xdeadbeef12345679;
	post_send();
	format(text, sizeof(text));
	tap_ok(strstr(text, "Address: 0xdeadbeef12345679."), "and an address");
}

int main(void)
{
	check_success_touches_nothing();
	check_unexplained_failures();
	check_states();
	check_no_state();
	check_unnamed();
	check_stray();
	check_sges();
	check_inline();
	check_atomics();
	check_opcodes();
	check_ud();
	check_queues();
	check_signaled();
	check_signal_all();
	check_drivers();
	check_siw();
	check_lacking();
	check_partly_answered();
	check_no_limits();
	check_profiles();
	check_srq();
	check_text();
	fake_close_all();
	return tap_done();
}
