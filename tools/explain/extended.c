/* SPDX-License-Identifier: MIT */
/*
 * The extended interfaces: ibv_start_poll() and ibv_next_poll(), and ibv_wr_start() to ibv_wr_complete().
 *
 * Their functions stand in each object, where there is no room for the originals. But a provider has few sets of them,
 * rxe one, mlx5 a dozen or two; so there are sets of wrappers, and each is bound to one set of originals.
 */
#include "data.h"
#include "watch.h"

#define TEN(X, n)      X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define EACH_CQ_SET(X) TEN(X, ) TEN(X, 1) TEN(X, 2)
#define EACH_QP_SET(X) TEN(X, )

/* ---- Polling --------------------------------------------------------------------------------------- */

enum {
	CQ_SETS = 30,
	QP_SETS = 10
};

struct cq_set {
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
	int (*next_poll)(struct ibv_cq_ex *cq);
};

static struct cq_set cq_original[CQ_SETS];

/* What the queue stands at has failed. Not every queue was created to tell the queue pair's number. */
static void explain_current(struct ibv_cq_ex *cq, const void *caller)
{
	const struct ibv_wc wc = {.status = cq->status,
				  .wr_id = cq->wr_id,
				  .vendor_err = cq->read_vendor_err ? cq->read_vendor_err(cq) : 0,
				  .qp_num = cq->read_qp_num
						    ? cq->read_qp_num(cq)
						    : explain_qp_of_cq(ibv_cq_ex_to_cq(cq))};

	explain_completions(ibv_cq_ex_to_cq(cq), &wc, 1, caller);
}

/* ENOENT: there is no completion. */
__attribute__((__noinline__, __cold__)) static void
explain_poll(struct ibv_cq_ex *cq, int result, const char *verb, const void *caller)
{
	const struct explain_call call = {.verb = verb, .caller = caller, .kind = EXPLAIN_REFUSAL};

	if (result)
		explain_cq_refused(call, ibv_cq_ex_to_cq(cq), result);
	else
		explain_current(cq, caller);
}

#define POLLED(verb)                                                                 \
	do {                                                                         \
		if (EXPLAIN_RARE(result ? result != ENOENT : cq->status))            \
			explain_poll(cq, result, verb, __builtin_return_address(0)); \
		return result;                                                       \
	} while (0)

#define CQ_SET(n)                                                                      \
	static int start_poll_##n(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr) \
	{                                                                              \
		const int result = cq_original[n].start_poll(cq, attr);                \
		POLLED("ibv_start_poll");                                              \
	}                                                                              \
	static int next_poll_##n(struct ibv_cq_ex *cq)                                 \
	{                                                                              \
		const int result = cq_original[n].next_poll(cq);                       \
		POLLED("ibv_next_poll");                                               \
	}
EACH_CQ_SET(CQ_SET)

/* With --waiting these are the wrappers, so that the others need not ask whether it is there. */
#define CQ_KEPT_SET(n)                                                                      \
	static int kept_start_poll_##n(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr) \
	{                                                                                   \
		const int result = cq_original[n].start_poll(cq, attr);                     \
		explain_watch_polled_ex(cq, result);                                        \
		POLLED("ibv_start_poll");                                                   \
	}                                                                                   \
	static int kept_next_poll_##n(struct ibv_cq_ex *cq)                                 \
	{                                                                                   \
		const int result = cq_original[n].next_poll(cq);                            \
		explain_watch_polled_ex(cq, result);                                        \
		POLLED("ibv_next_poll");                                                    \
	}
EACH_CQ_SET(CQ_KEPT_SET)

#define CQ_WRAPPER(n)      {start_poll_##n, next_poll_##n},
#define CQ_KEPT_WRAPPER(n) {kept_start_poll_##n, kept_next_poll_##n},
static const struct cq_set cq_wrappers[2][CQ_SETS] = {{EACH_CQ_SET(CQ_WRAPPER)},
						      {EACH_CQ_SET(CQ_KEPT_WRAPPER)}};

static bool wrap_cq(struct ibv_cq_ex *cq)
{
	const struct cq_set *const cq_wrapper = cq_wrappers[explain_watching];

	for (int i = 0; i < CQ_SETS; i++) {
		struct cq_set *original = &cq_original[i];

		if (cq->start_poll == cq_wrapper[i].start_poll)
			return true;
		if (!original->start_poll) {
			original->start_poll = cq->start_poll;
			original->next_poll = cq->next_poll;
		}
		if (original->start_poll != cq->start_poll || original->next_poll != cq->next_poll)
			continue;
		cq->start_poll = cq_wrapper[i].start_poll;
		cq->next_poll = cq_wrapper[i].next_poll;
		return true;
	}
	return false;
}

/* An object whose functions are none that a set is left for stays as it is. */
static void count_unseen(void)
{
	if (explain_process)
		atomic_fetch_add(&explain_process->unseen, 1);
}

void explain_wrap_cq(struct ibv_cq_ex *cq)
{
	bool done;

	explain_lock();
	done = !cq->start_poll || wrap_cq(cq);
	explain_unlock();
	if (!done)
		count_unseen();
}

/* ---- Posting ----------------------------------------------------------------------------------------- */

/*
 * ibv_wr_complete() does not say what it refuses, so the thread keeps of its last requests what the headers look at. A
 * thread may have begun with several queue pairs at a time.
 */
enum {
	REQUESTS = 32,
	BEGIN = -1, /* in place of an opcode: ibv_wr_start() */
	SGES = 256
};

struct request {
	const struct ibv_qp_ex *qp;
	union {
		uint64_t remote_addr;
		struct ibv_ah *ah;
	} peer;
	uint32_t length, num_sge;
	unsigned int flags;
	int opcode;
};

static __thread struct {
	struct request request[REQUESTS];
	unsigned int count;
	bool replaying; /* rdmaez_wr_post_ex() builds again what was built: it is answered with `result` */
	int result;
} session __attribute__((__tls_model__("initial-exec")));

static inline void note(const struct ibv_qp_ex *qp, int opcode, uint64_t remote_addr)
{
	struct request *next = &session.request[session.count++ % REQUESTS];

	next->qp = qp;
	next->opcode = opcode;
	if (opcode == BEGIN)
		return;
	next->peer.remote_addr = remote_addr;
	next->length = next->num_sge = 0;
	next->flags = qp->wr_flags;
}

static inline struct request *last_request(void)
{
	return &session.request[(session.count - 1) % REQUESTS];
}

static inline void note_data(const struct ibv_qp_ex *qp, size_t num_sge, uint64_t length,
			     unsigned int flag)
{
	struct request *last = last_request();

	if (last->qp != qp)
		return;
	last->num_sge = (uint32_t)num_sge;
	last->length = (uint32_t)length;
	if (flag)
		last->flags |= flag;
}

static inline void note_ah(const struct ibv_qp_ex *qp, struct ibv_ah *ah)
{
	if (last_request()->qp == qp)
		last_request()->peer.ah = ah;
}

static inline uint64_t length_of(size_t count, const struct ibv_sge *sge)
{
	uint64_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += sge[i].length;
	return length;
}

static inline uint64_t length_of_buffers(size_t count, const struct ibv_data_buf *buffer)
{
	uint64_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += buffer[i].length;
	return length;
}

__attribute__((__noinline__, __cold__)) static void
explain_session(struct explain_call call, struct ibv_qp_ex *qp, int result);

/* X(n, name, parameters, arguments, what is noted of it, and with --waiting kept) of each that has no result. */
#define OPERATIONS(X, n)                                                                           \
	X(n, wr_start, (struct ibv_qp_ex * qp), (qp), note(qp, BEGIN, 0), explain_watch_start(qp)) \
	X(n, wr_abort, (struct ibv_qp_ex * qp), (qp), (void)0, explain_watch_undo(qp))             \
	X(n, wr_atomic_cmp_swp,                                                                    \
	  (struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap),  \
	  (qp, rkey, addr, compare, swap), note(qp, IBV_WR_ATOMIC_CMP_AND_SWP, addr),              \
	  explain_watch_request(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, addr))                        \
	X(n, wr_atomic_fetch_add,                                                                  \
	  (struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr, uint64_t add),                     \
	  (qp, rkey, addr, add), note(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, addr),                      \
	  explain_watch_request(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, addr))                      \
	X(n, wr_bind_mw,                                                                           \
	  (struct ibv_qp_ex * qp, struct ibv_mw * mw, uint32_t rkey,                               \
	   const struct ibv_mw_bind_info *info),                                                   \
	  (qp, mw, rkey, info), note(qp, IBV_WR_BIND_MW, 0),                                       \
	  explain_watch_request(qp, IBV_WR_BIND_MW, rkey, 0))                                      \
	X(n, wr_local_inv, (struct ibv_qp_ex * qp, uint32_t rkey), (qp, rkey),                     \
	  note(qp, IBV_WR_LOCAL_INV, 0), explain_watch_request(qp, IBV_WR_LOCAL_INV, rkey, 0))     \
	X(n, wr_rdma_read, (struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr),                  \
	  (qp, rkey, addr), note(qp, IBV_WR_RDMA_READ, 0),                                         \
	  explain_watch_request(qp, IBV_WR_RDMA_READ, rkey, addr))                                 \
	X(n, wr_rdma_write, (struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr),                 \
	  (qp, rkey, addr), note(qp, IBV_WR_RDMA_WRITE, 0),                                        \
	  explain_watch_request(qp, IBV_WR_RDMA_WRITE, rkey, addr))                                \
	X(n, wr_rdma_write_imm, (struct ibv_qp_ex * qp, uint32_t rkey, uint64_t addr, __be32 imm), \
	  (qp, rkey, addr, imm), note(qp, IBV_WR_RDMA_WRITE_WITH_IMM, 0),                          \
	  explain_watch_request(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, addr))                       \
	X(n, wr_send, (struct ibv_qp_ex * qp), (qp), note(qp, IBV_WR_SEND, 0),                     \
	  explain_watch_request(qp, IBV_WR_SEND, 0, 0))                                            \
	X(n, wr_send_imm, (struct ibv_qp_ex * qp, __be32 imm), (qp, imm),                          \
	  note(qp, IBV_WR_SEND_WITH_IMM, 0),                                                       \
	  explain_watch_request(qp, IBV_WR_SEND_WITH_IMM, 0, 0))                                   \
	X(n, wr_send_inv, (struct ibv_qp_ex * qp, uint32_t rkey), (qp, rkey),                      \
	  note(qp, IBV_WR_SEND_WITH_INV, 0),                                                       \
	  explain_watch_request(qp, IBV_WR_SEND_WITH_INV, rkey, 0))                                \
	X(n, wr_send_tso, (struct ibv_qp_ex * qp, void *header, uint16_t length, uint16_t mss),    \
	  (qp, header, length, mss), note(qp, IBV_WR_TSO, 0),                                      \
	  explain_watch_request(qp, IBV_WR_TSO, 0, 0))                                             \
	X(n, wr_set_ud_addr,                                                                       \
	  (struct ibv_qp_ex * qp, struct ibv_ah * ah, uint32_t qpn, uint32_t qkey),                \
	  (qp, ah, qpn, qkey), note_ah(qp, ah), explain_watch_datagram(qp, ah, qpn, qkey))         \
	X(n, wr_set_inline_data, (struct ibv_qp_ex * qp, void *addr, size_t length),               \
	  (qp, addr, length), note_data(qp, 1, length, IBV_SEND_INLINE),                           \
	  explain_watch_data(qp, 0, 0, length))                                                    \
	X(n, wr_set_inline_data_list,                                                              \
	  (struct ibv_qp_ex * qp, size_t count, const struct ibv_data_buf *buffer),                \
	  (qp, count, buffer),                                                                     \
	  note_data(qp, 1, length_of_buffers(count, buffer), IBV_SEND_INLINE),                     \
	  explain_watch_data(qp, 0, 0, length_of_buffers(count, buffer)))                          \
	X(n, wr_set_sge, (struct ibv_qp_ex * qp, uint32_t lkey, uint64_t addr, uint32_t length),   \
	  (qp, lkey, addr, length), note_data(qp, 1, length, 0),                                   \
	  explain_watch_data(qp, lkey, addr, length))                                              \
	X(n, wr_set_sge_list, (struct ibv_qp_ex * qp, size_t count, const struct ibv_sge *sge),    \
	  (qp, count, sge), note_data(qp, count, length_of(count, sge), 0),                        \
	  explain_watch_data(qp, count ? sge->lkey : 0, count ? sge->addr : 0,                     \
			     length_of(count, sge)))

static struct ibv_qp_ex qp_original[QP_SETS];

#define OPERATION(n, name, parameters, arguments, noted, kept) \
	static void name##_##n parameters                      \
	{                                                      \
		if (EXPLAIN_RARE(session.replaying))           \
			return;                                \
		noted;                                         \
		qp_original[n].name arguments;                 \
	}
/* With --waiting, as for completion queues. */
#define KEPT_OPERATION(n, name, parameters, arguments, noted, kept) \
	static void kept_##name##_##n parameters                    \
	{                                                           \
		if (EXPLAIN_RARE(session.replaying))                \
			return;                                     \
		noted;                                              \
		kept;                                               \
		qp_original[n].name arguments;                      \
	}
#define COMPLETE(n, name, undo)                                                 \
	static int name(struct ibv_qp_ex *qp)                                   \
	{                                                                       \
		if (EXPLAIN_RARE(session.replaying))                            \
			return session.result;                                  \
		const int result = qp_original[n].wr_complete(qp);              \
		if (EXPLAIN_RARE(result)) {                                     \
			const struct explain_call call =                        \
				EXPLAIN_CALL(ibv_wr_complete, EXPLAIN_REFUSAL); \
			undo;                                                   \
			explain_session(call, qp, result);                      \
		}                                                               \
		return result;                                                  \
	}
#define QP_SET(n)                             \
	OPERATIONS(OPERATION, n)              \
	COMPLETE(n, wr_complete_##n, (void)0) \
	OPERATIONS(KEPT_OPERATION, n)         \
	COMPLETE(n, kept_wr_complete_##n, explain_watch_undo(qp))
EACH_QP_SET(QP_SET)

#define WRAPPER(n, name, parameters, arguments, noted, kept)      .name = name##_##n,
#define KEPT_WRAPPER(n, name, parameters, arguments, noted, kept) .name = kept_##name##_##n,
#define QP_WRAPPER(n)                                             {OPERATIONS(WRAPPER, n).wr_complete = wr_complete_##n},
#define QP_KEPT_WRAPPER(n)                                        {OPERATIONS(KEPT_WRAPPER, n).wr_complete = kept_wr_complete_##n},
static const struct ibv_qp_ex qp_wrappers[2][QP_SETS] = {{EACH_QP_SET(QP_WRAPPER)},
							 {EACH_QP_SET(QP_KEPT_WRAPPER)}};

/* A queue pair has those operations that it was created for; a set may come to have more than any of them. */
#define FITS(n, name, parameters, arguments, noted, kept) \
	&&(!set->name || !qp->name || set->name == qp->name)
static bool fits(const struct ibv_qp_ex *set, const struct ibv_qp_ex *qp)
{
	return (!set->wr_complete || set->wr_complete == qp->wr_complete) OPERATIONS(FITS, 0);
}

/* What a set has already is not written again, since others read it without a lock. */
#define TAKE(name)                            \
	do {                                  \
		if (set->name != qp->name)    \
			set->name = qp->name; \
		qp->name = wrapper->name;     \
	} while (0)
#define WRAP(n, name, parameters, arguments, noted, kept) \
	if (qp->name)                                     \
		TAKE(name);
static void wrap_qp(struct ibv_qp_ex *qp, struct ibv_qp_ex *set, const struct ibv_qp_ex *wrapper)
{
	OPERATIONS(WRAP, 0)
	TAKE(wr_complete);
}

static void wrap_qp_ex(struct ibv_qp_ex *qp)
{
	const struct ibv_qp_ex *const qp_wrapper = qp_wrappers[explain_watching];
	bool done = !qp->wr_complete;

	explain_lock();
	for (int i = 0; i < QP_SETS && !done; i++)
		done = qp->wr_complete == qp_wrapper[i].wr_complete;
	for (int i = 0; i < QP_SETS && !done; i++) {
		done = fits(&qp_original[i], qp);
		if (done)
			wrap_qp(qp, &qp_original[i], &qp_wrapper[i]);
	}
	explain_unlock();
	if (!done)
		count_unseen();
}

/* The only way in which a program gets the extended interface of its queue pair. */
EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	struct ibv_qp_ex *extended = REAL(ibv_qp_to_qp_ex)(qp);

	if (extended)
		wrap_qp_ex(extended);
	return extended;
}

/* ---- A session that was refused ------------------------------------------------------------------------ */

/* What the headers are asked about, one thread at a time: between explain_begin() and explain_end(). */
static struct {
	unsigned int count;
	bool are_all; /* those of the session */
	const struct request *request[REQUESTS];
	struct ibv_send_wr wr[REQUESTS];
	struct ibv_sge sge[SGES];
	char field[64];
} refused;

/* As ibv_post_send() would take it. */
static void describe(const struct request *request, struct ibv_send_wr *wr)
{
	memset(wr, 0, sizeof(*wr));
	wr->opcode = (enum ibv_wr_opcode)request->opcode;
	wr->send_flags = request->flags;
	wr->num_sge = request->num_sge < SGES ? (int)request->num_sge : SGES;
	wr->sg_list = refused.sge;
	if (request->qp->qp_base.qp_type == IBV_QPT_UD)
		wr->wr.ud.ah = request->peer.ah;
	else
		wr->wr.atomic.remote_addr = request->peer.remote_addr;
}

/* The requests of the session, in order; of too many the last ones. */
static void collect(const struct ibv_qp_ex *qp)
{
	unsigned int back = 1;

	refused.count = 0;
	refused.are_all = false;
	for (; back <= REQUESTS && back <= session.count; back++) {
		const struct request *request = &session.request[(session.count - back) % REQUESTS];

		refused.are_all = request->qp == qp && request->opcode == BEGIN;
		if (refused.are_all)
			break;
	}
	while (--back > 0) {
		const struct request *request = &session.request[(session.count - back) % REQUESTS];

		if (request->qp != qp)
			continue;
		describe(request, &refused.wr[refused.count]);
		refused.request[refused.count++] = request;
	}
}

/* Asks about so many of them, from the nth on. All data is taken to be in the first SGE. */
static void ask(struct ibv_qp_ex *qp, unsigned int first, unsigned int count,
		struct rdmaez_diag *diag)
{
	refused.sge[0].length = refused.request[first]->length;
	for (unsigned int i = first; i < first + count; i++)
		refused.wr[i].next = i + 1 < first + count ? &refused.wr[i + 1] : NULL;
	session.replaying = true;
	rdmaez_wr_post_ex(qp, &refused.wr[first], NULL, diag);
	session.replaying = false;
}

/* Whether it is about one request, whatever the queue and the state are like. */
static bool of_request(const struct rdmaez_finding *finding)
{
	switch (finding->reason) {
	case RDMAEZ_WHY_WR_SGE:
	case RDMAEZ_WHY_WR_INLINE:
	case RDMAEZ_WHY_WR_INLINE_OPCODE:
	case RDMAEZ_WHY_WR_OPCODE:
	case RDMAEZ_WHY_WR_EX_OPCODE:
	case RDMAEZ_WHY_WR_ATOMIC:
	case RDMAEZ_WHY_WR_UD_LENGTH:
	case RDMAEZ_WHY_WR_UNSIGNALED:
	case RDMAEZ_WHY_NULL_ARGUMENT:
		return true;
	default:
		return false;
	}
}

/* Of several, the first that has something wrong with it by itself. */
static void ask_each(struct ibv_qp_ex *qp, struct rdmaez_diag *diag)
{
	static struct rdmaez_diag alone;

	for (unsigned int i = 0; i < refused.count; i++) {
		ask(qp, i, 1, &alone);
		for (unsigned int j = 0; j < alone.count; j++) {
			if (!of_request(&alone.finding[j]))
				continue;
			if (refused.are_all)
				snprintf(refused.field, sizeof(refused.field),
					 "request %u of %u, %s", i + 1, refused.count,
					 alone.finding[j].field);
			else
				snprintf(refused.field, sizeof(refused.field), "a request's %s",
					 alone.finding[j].field);
			alone.finding[0] = alone.finding[j];
			alone.finding[0].field = refused.field;
			alone.count = 1;
			*diag = alone;
			return;
		}
	}
}

static void explain_session(struct explain_call call, struct ibv_qp_ex *qp, int result)
{
	const enum ibv_qp_state state = qp->qp_base.state;
	const uint64_t wr_id = qp->wr_id;
	const unsigned int flags = qp->wr_flags;

	if (!explain_begin(&call))
		return;
	collect(qp);
	session.result = result;
	if (refused.count) {
		ask(qp, 0, refused.count, call.diag);
		if (refused.count > 1)
			ask_each(qp, call.diag);
	} else {
		struct ibv_send_wr last = {.send_flags = IBV_SEND_SIGNALED};
		const struct ibv_send_wr unknown = {.next = &last};

		rdmaez_impl_wr_send_failed(&qp->qp_base, &unknown, NULL, result, call.diag);
		explain_rename(call.diag, call.verb);
	}
	qp->qp_base.state = state;
	qp->wr_id = wr_id;
	qp->wr_flags = flags;
	explain_end(&call);
}
