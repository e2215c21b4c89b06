/* SPDX-License-Identifier: MIT */
/*
 * Random work requests, each right but for what is spoiled. What is refused must be explained. A cause that is called
 * certain is put to the test: a work request that is right but for that cause must be refused as well.
 *
 * The including test has struct net, struct connection with its sides `near` and `far` and the number of accepted
 * `sends`, and connection_none(), connection_open(), connection_broken() and connection_close(). The near queue pair of
 * the third is in ERR. MOST_OPCODE is the highest that may be tried, and LEFT_OUT one that may not. POST_SEND posts sends,
 * if rdmaez_wr_post_send() is not to.
 */
#ifndef RANDOM_POST_H
#define RANDOM_POST_H

#include "random.h"

#ifndef POST_SEND
#define POST_SEND rdmaez_wr_post_send
#endif

enum where {
	UNCONNECTED,
	CONNECTED,
	BROKEN,
	PLACES
};

static const char *const place_names[PLACES] = {"not connected", "connected", "in ERR"};

/* What the random work requests came to. */
struct tally {
	int made, accepted, certain, unexplained, wrong;
	int by_error[200];
};

/* A work request with the memory of its SGEs, as a send and as a receive. */
struct request {
	struct ibv_sge sge[8];
	struct ibv_send_wr send;
	struct ibv_recv_wr recv;
};

static struct connection reach(struct net *net, enum where where)
{
	struct connection c = where == CONNECTED ? connection_open(net)
			      : where == BROKEN  ? connection_broken(net)
						 : connection_none(net);

	if (where == CONNECTED && side_post_receive(c.far))
		tap_bail("ibv_post_recv: %s", strerror(errno));
	return c;
}

/* One SGE, one SEND: right wherever the queue pair is connected. */
static void make_right(struct request *r, const struct connection *c)
{
	static struct ibv_mw window = {.type = IBV_MW_TYPE_2};
	static union {
		struct ibv_ah ah;
		uint8_t more[512]; /* what a provider has behind it */
	} handle;

	memset(r, 0, sizeof(*r));
	for (int i = 0; i < 8; i++) {
		r->sge[i].addr = (uintptr_t)c->near->memory;
		r->sge[i].length = 8;
		r->sge[i].lkey = c->near->mr->lkey;
	}
	r->send.sg_list = r->recv.sg_list = r->sge;
	r->send.num_sge = r->recv.num_sge = 1;
	r->send.opcode = IBV_WR_SEND;
	r->send.wr.rdma.remote_addr = (uintptr_t)(c->far->memory + RIG_HALF);
	r->send.wr.rdma.rkey = c->far->mr->rkey;
	r->send.bind_mw.mw = &window;
	r->send.bind_mw.bind_info.mr = c->near->mr;
	if (c->near->qp->qp_type == IBV_QPT_UD) {
		handle.ah.context = c->near->qp->context;
		handle.ah.pd = c->near->qp->pd;
		r->send.wr.ud.ah = &handle.ah;
		r->send.wr.ud.remote_qpn = c->far->qp->qp_num;
	}
}

/* Left out is a negative num_sge, of which libsiw copies that many, and an empty SGE before another, over
 * which siw_tx_hdt() of Linux 6.1 stumbles. */
static void spoil(struct request *r)
{
	static const int opcodes[] = {IBV_WR_RDMA_WRITE,
				      IBV_WR_RDMA_WRITE_WITH_IMM,
				      IBV_WR_SEND_WITH_IMM,
				      IBV_WR_RDMA_READ,
				      IBV_WR_ATOMIC_CMP_AND_SWP,
				      IBV_WR_ATOMIC_FETCH_AND_ADD,
				      IBV_WR_LOCAL_INV,
				      IBV_WR_BIND_MW,
				      IBV_WR_SEND_WITH_INV,
				      IBV_WR_TSO,
				      IBV_WR_DRIVER1,
				      14,
				      15,
				      31,
				      32,
				      1000};

	if (one_in(2))
		r->send.opcode = (enum ibv_wr_opcode)opcodes[any(16)];
	if ((int)r->send.opcode > MOST_OPCODE || (int)r->send.opcode == LEFT_OUT)
		r->send.opcode = IBV_WR_SEND_WITH_INV;
	if (one_in(3))
		r->send.num_sge = r->recv.num_sge = (int)any(5);
	if (one_in(3))
		r->send.send_flags = any(32);
	if (one_in(3))
		r->sge[0].length = any(2) ? 1 + any(RIG_HALF - 1) : 0;
	if (r->send.num_sge > 1 && !r->sge[0].length)
		r->sge[0].length = 1;
}

static int post(struct connection *c, struct request *r, bool send, struct rdmaez_diag *diag)
{
	const int error = send ? POST_SEND(c->near->qp, &r->send, NULL, diag)
			       : rdmaez_wr_post_recv(c->near->qp, &r->recv, NULL, diag);

	c->sends += send && !error;
	return error;
}

/* Takes over from a refused work request what the finding names; false where that is nothing. */
static bool take_over(struct request *r, const struct request *from, const char *field)
{
	if (strcmp(field, "num_sge") != 0)
		r->send.opcode = from->send.opcode;
	if (strcmp(field, "opcode") == 0) {
		return true;
	} else if (strcmp(field, "num_sge") == 0) {
		r->send.num_sge = from->send.num_sge;
		r->recv.num_sge = from->recv.num_sge;
	} else if (strcmp(field, "sg_list") == 0 || strcmp(field, "send_flags") == 0) {
		r->send.num_sge = from->send.num_sge;
		r->send.send_flags = from->send.send_flags;
		for (int i = 0; i < 8; i++)
			r->sge[i].length = from->sge[i].length;
	} else {
		return false;
	}
	return true;
}

/* Whether a work request is refused that is right but for what the finding is about. */
static bool is_refused_alone(struct net *net, enum where where, const struct request *refused,
			     bool send, const char *field)
{
	struct connection c = reach(net, where);
	struct request r;
	int error;

	make_right(&r, &c);
	if (!take_over(&r, refused, field) && strcmp(field, "qp_state") != 0)
		tap_bail("no work request was ever refused for its %s", field);
	error = post(&c, &r, send, NULL);
	connection_close(net, &c);
	return error != 0;
}

static void one_request(struct net *net, enum where where, bool send, struct tally *tally)
{
	struct connection c = reach(net, where);
	struct request r;
	struct rdmaez_diag diag;
	unsigned int causes = 0;
	int error;

	make_right(&r, &c);
	spoil(&r);
	error = post(&c, &r, send, &diag);
	connection_close(net, &c);
	tally->made++;
	tally->accepted += error == 0;
	tally->by_error[error < 199 ? error : 199]++;
	for (unsigned int i = 0; error && i < diag.count; i++) {
		const struct rdmaez_finding *finding = &diag.finding[i];

		if (strcmp(finding->field, "bad_wr") == 0)
			continue;
		causes++;
		if (finding->severity != RDMAEZ_DIAG_ERROR)
			continue;
		tally->certain++;
		if (!is_refused_alone(net, where, &r, send, finding->field) && tally->wrong++ < 5) {
			char text[2048];

			rdmaez_diag_format(&diag, text, sizeof(text));
			tap_diag("%s is no cause: %s", rdmaez_why_id(finding->reason), text);
		}
	}
	tally->unexplained += error && (!causes || diag.error != error);
}

static void many_requests(struct net *net, enum where where, bool send, int requests)
{
	struct tally tally = {0};
	char what[64], refused[256] = "";

	for (int i = 0; i < requests; i++)
		one_request(net, where, send, &tally);
	snprintf(what, sizeof(what), "%s, %s", place_names[where], send ? "sends" : "receives");
	for (int e = 1; e < 200; e++)
		if (tally.by_error[e])
			snprintf(refused + strlen(refused), sizeof(refused) - strlen(refused),
				 ", %d %s", tally.by_error[e], rdmaez_errno_str(e));
	tap_diag("%s: %d accepted%s", what, tally.accepted, refused);
	tap_eq_int(tally.unexplained, 0, "%s: each refusal is explained", what);
	tap_eq_int(tally.wrong, 0, "%s: each of %d certain causes is one", what, tally.certain);
}

static void random_post(struct net *net, int requests)
{
	for (int where = 0; where < PLACES; where++) {
		many_requests(net, (enum where)where, true, requests);
		many_requests(net, (enum where)where, false, requests);
	}
}

#endif
