/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor --certify: completions with errors that are made on purpose, each on two new queue pairs, and how queue
 * pairs are drained, stopped and used again.
 */
#include "certify.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
	SHORT = 16, /* bytes of a receive that is too small */
	QUICK_NS =
		50000000, /* how long a queue pair waits for an acknowledgement that never comes */
	RECEIVES = 2,     /* that are drained */
	SILENCE_MS = 200  /* after which a datagram does not come any more */
};

/* --- Errors on purpose -------------------------------------------------------------------------------- */

/* What is wrong. */
enum wrong {
	WRONG_RKEY,
	WRONG_RIGHT,
	WRONG_LKEY,
	WRONG_LENGTH,
	WRONG_NO_RECEIVE,
	WRONG_NO_PEER,
	WRONG_STATE
};

struct mistake {
	const char *step;
	enum wrong wrong;
	/* What rdmaez must name, whatever the status is: of the send, and of the receive. RDMAEZ_WHY_NONE: there is none. */
	enum rdmaez_why send, receive;
};

/* Prepares both ends; the receive, if there is to be one, is posted. */
static int prepare(struct certify *c, const struct mistake *m, struct certify_pair *pair,
		   struct rdmaez_diag *diag)
{
	struct certify_end_opts opts = {0};
	struct rdmaez_qp_opts qp = c->opts;
	int error;

	opts.type = IBV_QPT_RC;
	if (m->wrong == WRONG_RIGHT)
		qp.access = 0;
	if (m->wrong == WRONG_NO_RECEIVE)
		qp.rnr_retry = RDMAEZ_ZERO;
	if (m->wrong == WRONG_NO_PEER) {
		qp.timeout = 0;
		qp.timeout_ns = QUICK_NS;
		qp.retry_cnt = 1;
	}
	error = certify_pair_open(c, pair, &opts, &qp, diag);
	if (!error && m->wrong == WRONG_LENGTH)
		error = certify_post_receive(c, &pair->b, SHORT, diag);
	if (!error && m->wrong == WRONG_NO_PEER)
		error = rdmaez_qp_to_reset(pair->b.qp, diag);
	if (!error && m->wrong == WRONG_STATE)
		error = certify_post_receive(c, &pair->b, SHORT, diag);
	if (!error && m->wrong == WRONG_STATE)
		error = rdmaez_qp_to_err(pair->b.qp, diag);
	return error;
}

static int post_wrong(struct certify *c, const struct mistake *m, struct certify_pair *pair,
		      struct rdmaez_diag *diag)
{
	const bool is_rdma = m->wrong == WRONG_RKEY || m->wrong == WRONG_RIGHT;
	struct rdmaez_remote remote = {(uintptr_t)pair->b.slot, CERTIFY_BYTES, c->mr->rkey};
	struct ibv_sge sge = {(uintptr_t)pair->a.slot, CERTIFY_BYTES, c->mr->lkey};
	struct ibv_send_wr wr;
	int error = 0;

	memset(&wr, 0, sizeof(wr));
	/* The low byte counts how often a key was used: with another one, it is no key of this process. */
	if (m->wrong == WRONG_RKEY)
		remote.rkey ^= 0x55;
	if (m->wrong == WRONG_LKEY)
		sge.lkey ^= 0x55;
	if (is_rdma)
		error = rdmaez_wr_write(&wr, &sge, &remote, 0, diag);
	else
		rdmaez_wr_send(&wr, &sge);
	return error ? error : rdmaez_wr_post_send(pair->a.qp, &wr, NULL, diag);
}

/* What rdmaez says in place of a cause that the device does not tell: newer rxe flushes what it refuses itself. */
static enum rdmaez_why otherwise(enum rdmaez_why cause)
{
	return cause == RDMAEZ_WHY_WC_LKEY         ? RDMAEZ_WHY_WC_FLUSHED_OWN
	       : cause == RDMAEZ_WHY_WC_RECV_SHORT ? RDMAEZ_WHY_WC_FLUSHED_RECV
						   : RDMAEZ_WHY_NONE;
}

/*
 * Waits for a completion, which must have an error, and looks for its cause among those that rdmaez names: `diag` has
 * it then, alone. Drivers differ in the status. Says so if there is no such completion, or no such cause.
 */
static bool is_explained(struct certify *c, const struct mistake *m, struct certify_end *end,
			 enum rdmaez_why cause, const char *whose, struct rdmaez_diag *diag)
{
	const struct rdmaez_finding *found;
	struct ibv_wc wc;
	int error;

	memset(&wc, 0, sizeof(wc));
	memset(diag, 0, sizeof(*diag));
	error = certify_wait(c, end, &wc, diag);
	found = rdmaez_diag_find(diag, cause);
	if (!found && otherwise(cause) != RDMAEZ_WHY_NONE)
		found = rdmaez_diag_find(diag, otherwise(cause));
	if (error == EIO && diag->status && found) {
		diag->finding[0] = *found;
		diag->count = 1;
		diag->error = 0;
		return true;
	}
	if (!error)
		certify_step(c, CERTIFY_FAIL, m->step, "%s succeeded", whose);
	else if (!diag->status)
		certify_step_of(c, CERTIFY_FAIL, m->step, diag, "%s did not complete", whose);
	else
		certify_step_of(c, CERTIFY_FAIL, m->step, diag,
				"the explanation of %s does not name %s", whose,
				rdmaez_why_id(cause));
	return false;
}

static void explain(struct certify *c, const struct mistake *m, struct certify_pair *pair)
{
	struct rdmaez_diag diag, other;

	if (m->send == RDMAEZ_WHY_NONE) {
		if (is_explained(c, m, &pair->b, m->receive, "the receive", &diag))
			certify_step_of(c, CERTIFY_PASS, m->step, &diag, "%s", "");
		return;
	}
	if (!is_explained(c, m, &pair->a, m->send, "the send", &diag))
		return;
	if (m->receive == RDMAEZ_WHY_NONE)
		certify_step_of(c, CERTIFY_PASS, m->step, &diag, "%s", "");
	else if (is_explained(c, m, &pair->b, m->receive, "the receive", &other))
		certify_step_of(c, CERTIFY_PASS, m->step, &diag, "the receive: %s, %s",
				other.status, rdmaez_why_id(other.finding[0].reason));
}

static void make(struct certify *c, const struct mistake *m)
{
	struct certify_pair pair;
	struct rdmaez_diag diag;
	int error;

	doctor_step("%s: %s", c->group, m->step);
	error = prepare(c, m, &pair, &diag);
	if (error) {
		certify_is(c, m->step, error, &diag);
		return;
	}
	if (m->send != RDMAEZ_WHY_NONE)
		error = post_wrong(c, m, &pair, &diag);
	if (error)
		certify_is(c, m->step, error, &diag);
	else
		explain(c, m, &pair);
	certify_pair_close(&pair, &diag);
}

/* Sends with this Q_Key to the other end. */
static int send_with(struct certify *c, struct certify_pair *pair, uint32_t qkey,
		     struct rdmaez_diag *diag)
{
	struct ibv_sge sge = {(uintptr_t)pair->a.slot, SHORT, c->mr->lkey};
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	int error;

	memset(&wr, 0, sizeof(wr));
	error = rdmaez_wr_send_to(&wr, &sge, pair->a.ah, pair->b.qp->qp_num, qkey, diag);
	if (!error)
		error = rdmaez_wr_post_send(pair->a.qp, &wr, NULL, diag);
	return error ? error : certify_wait(c, &pair->a, &wc, diag);
}

/* A datagram with a wrong Q_Key is dropped, and the next one with the right one comes. */
static void drop(struct certify *c, const char *step, struct certify_pair *pair)
{
	const struct timespec silence = {0, SILENCE_MS * 1000000L};
	struct rdmaez_wc_batch batch;
	struct rdmaez_diag diag;
	struct ibv_wc wc[2];
	int error = certify_post_receive(c, &pair->b, CERTIFY_BYTES, &diag);

	memset(&batch, 0, sizeof(batch));
	batch.wc = wc;
	batch.capacity = 2;
	if (!error)
		error = send_with(c, pair, RDMAEZ_QP_QKEY + 1, &diag);
	nanosleep(&silence, NULL);
	if (!error)
		error = rdmaez_wc_poll(pair->b.cq, pair->b.qp, &batch, &diag);
	if (!error && batch.count) {
		certify_step(c, CERTIFY_FAIL, step, "the datagram arrived");
		return;
	}
	if (!error)
		error = send_with(c, pair, RDMAEZ_QP_QKEY, &diag);
	if (!error)
		error = certify_wait(c, &pair->b, wc, &diag);
	certify_is(c, step, error, &diag);
}

static void certify_wrong_qkey(struct certify *c)
{
	static const char step[] = "SEND with a wrong Q_Key";
	struct rdmaez_diag ignored;
	struct certify_pair pair;

	doctor_step("%s: %s", c->group, step);
	if (!c->is_ethernet) {
		certify_step(c, CERTIFY_NOT_TRIED, step,
			     "the port might report it to the subnet manager");
		return;
	}
	if (!certify_pair(c, &pair, IBV_QPT_UD, step))
		return;
	drop(c, step, &pair);
	certify_pair_close(&pair, &ignored);
}

void certify_errors(struct certify *c)
{
	static const struct mistake mistakes[] = {
		{"WRITE with a wrong rkey", WRONG_RKEY, RDMAEZ_WHY_WC_RKEY, RDMAEZ_WHY_NONE},
		{"WRITE without the remote write right", WRONG_RIGHT, RDMAEZ_WHY_WC_PEER_RIGHT,
		 RDMAEZ_WHY_NONE},
		{"WRITE from a wrong lkey", WRONG_LKEY, RDMAEZ_WHY_WC_LKEY, RDMAEZ_WHY_NONE},
		{"a receive that is too short", WRONG_LENGTH, RDMAEZ_WHY_WC_PEER_RECV,
		 RDMAEZ_WHY_WC_RECV_SHORT},
		{"a SEND for which no receive is posted", WRONG_NO_RECEIVE, RDMAEZ_WHY_WC_RNR,
		 RDMAEZ_WHY_NONE},
		{"a peer that does not answer", WRONG_NO_PEER, RDMAEZ_WHY_WC_RETRIES,
		 RDMAEZ_WHY_NONE},
		{"flush by a move to ERR", WRONG_STATE, RDMAEZ_WHY_NONE, RDMAEZ_WHY_WC_FLUSHED}};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		make(c, &mistakes[i]);
	certify_wrong_qkey(c);
}

/* --- Draining and recovering -------------------------------------------------------------------------- */

static void stop_and_go(struct certify *c, struct certify_pair *pair)
{
	struct rdmaez_diag diag;

	if (certify_is(c, "stop the send queue", rdmaez_qp_quiesce(pair->a.qp, c->wait_ns, &diag),
		       &diag) &&
	    certify_is(c, "resume the send queue", rdmaez_qp_resume(pair->a.qp, &diag), &diag))
		certify_is(c, "SEND after the stop", certify_send(c, &pair->a, &pair->b, &diag),
			   &diag);
}

/* Drains an end that has this many receives. */
static bool drain(struct certify *c, const char *step, struct certify_end *end, int recvs)
{
	struct rdmaez_drain_opts opts = {0};
	struct rdmaez_drained drained;
	struct rdmaez_diag diag;
	int error;

	opts.flags = RDMAEZ_DRAIN_DISCARD;
	opts.timeout_ns = c->wait_ns;
	opts.sends = RDMAEZ_ZERO;
	opts.recvs = recvs;
	error = rdmaez_qp_drain(end->qp, &opts, &drained, &diag);
	if (!error &&
	    (drained.flushed != (unsigned int)recvs || drained.completed || drained.open)) {
		certify_step(c, CERTIFY_FAIL, step, "%u of %d flushed, %u completed",
			     drained.flushed, recvs, drained.completed);
		return false;
	}
	return certify_is(c, step, error, &diag);
}

static int recover(struct certify *c, struct certify_end *end, struct rdmaez_diag *diag)
{
	struct rdmaez_recover_opts opts = {0};
	struct ibv_qp_init_attr init = {0};
	struct rdmaez_endpoint local;

	init.qp_type = IBV_QPT_RC;
	init.sq_sig_all = 1;
	init.cap.max_send_wr = init.cap.max_recv_wr = CERTIFY_DEPTH;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	opts.init_attr = &init;
	opts.qp = &c->opts;
	opts.drain.flags = RDMAEZ_DRAIN_DISCARD;
	opts.drain.timeout_ns = c->wait_ns;
	opts.drain.sends = opts.drain.recvs = RDMAEZ_ZERO;
	return rdmaez_qp_recover(&end->qp, &opts, &local, NULL, diag);
}

static void use_again(struct certify *c, struct certify_pair *pair)
{
	struct rdmaez_diag diag;
	int error = recover(c, &pair->a, &diag);

	if (!error)
		error = recover(c, &pair->b, &diag);
	if (!certify_is(c, "recover both queue pairs", error, &diag))
		return;
	if (certify_is(c, "connect them again",
		       rdmaez_qp_connect_loopback(pair->a.qp, pair->b.qp, &c->opts, &diag), &diag))
		certify_is(c, "SEND on the new connection",
			   certify_send(c, &pair->a, &pair->b, &diag), &diag);
}

void certify_drain(struct certify *c)
{
	struct certify_pair pair;
	struct rdmaez_diag diag;
	int error = 0;

	doctor_step("%s", c->group);
	if (!certify_pair(c, &pair, IBV_QPT_RC, "drain"))
		return;
	stop_and_go(c, &pair);
	for (int i = 0; i < RECEIVES && !error; i++)
		error = certify_post_receive(c, &pair.b, CERTIFY_BYTES, &diag);
	if (error)
		certify_is(c, "drain receives", error, &diag);
	else if (drain(c, "drain receives", &pair.b, RECEIVES))
		use_again(c, &pair);
	certify_is(c, "destroy both queue pairs", certify_pair_close(&pair, &diag), &diag);
}
