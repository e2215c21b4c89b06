/* SPDX-License-Identifier: MIT */
/* What a process keeps of its queue pairs, completion queues and calls for the launcher, which judges. */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

/* As the library exports it, not as an inline function that calls another one. */
#undef ibv_query_port
struct _compat_ibv_port_attr;

bool explain_watching;

static struct explain_rows *rows;

/* ---- Which row is whose ------------------------------------------------------------------------------ */

/*
 * Private, since who could write it could choose where this process writes. Chains are changed with the tables locked,
 * and read without: one that was changed meanwhile is read again. A link is 1 + the index, 0 the end.
 */
enum {
	BUCKETS = 4096
};

typedef _Atomic(const void *) any_pointer;
typedef _Atomic uint16_t chain_link;

static struct {
	any_pointer qp, context;
	_Atomic uint32_t qp_num;
	_Atomic bool sig_all;
	chain_link by_qp, by_number;
} qps[EXPLAIN_QP_ROWS];

static struct {
	any_pointer cq;
	chain_link by_cq;
	/* its queue pairs, and one of them */
	_Atomic uint16_t qps, one;
} cqs[EXPLAIN_CQ_ROWS];

static struct {
	any_pointer srq;
	chain_link by_srq;
} srqs[EXPLAIN_SRQ_ROWS];

/* Of these the data path asks nothing, and so they are looked for with the tables locked. */
struct kept {
	const void *object;
	uint16_t next;
};
static struct kept mrs[EXPLAIN_MR_ROWS], ahs[EXPLAIN_AH_ROWS];

static chain_link qp_chain[BUCKETS], number_chain[BUCKETS], cq_chain[BUCKETS], srq_chain[BUCKETS];
static uint16_t mr_chain[BUCKETS], ah_chain[BUCKETS];
static _Atomic uint32_t change = 1; /* which the chains have seen */

/* What the thread used last. */
static __thread struct {
	uint32_t change;
	unsigned int qp_at, number_at, cq_at, srq_at;
	const void *qp, *context, *cq, *srq;
	uint32_t qp_num;
} last __attribute__((__tls_model__("initial-exec")));

static unsigned int bucket_of(const void *pointer, uint32_t number)
{
	const uint64_t key = (uint64_t)(uintptr_t)pointer + number;

	return (unsigned int)(key * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

#define GET(place) atomic_load_explicit(&(place), memory_order_relaxed)
#define PUT(place, value) \
	atomic_store_explicit(&(place), (__typeof__(GET(place)))(value), memory_order_relaxed)
#define ADD(place, more) \
	((void)atomic_fetch_add_explicit(&(place), (uint64_t)(more), memory_order_relaxed))

/* gcc's ThreadSanitizer knows no fences; what stands for one there is an operation on a variable of its own. */
#ifdef __SANITIZE_THREAD__
static _Atomic int fence;
#define FENCE(order) ((void)atomic_fetch_add(&fence, 0))
#else
#define FENCE(order) atomic_thread_fence(order)
#endif

/* Follows a chain until `is` holds, no further than there can be rows; again, if it was changed meanwhile. */
#define FIND(found, first, rows_of, next, is)                                             \
	do {                                                                              \
		uint32_t before;                                                          \
		unsigned int steps;                                                       \
                                                                                          \
		do {                                                                      \
			before = atomic_load_explicit(&change, memory_order_acquire);     \
			steps = 0;                                                        \
			for (found = GET(first); found && steps++ < EXPLAIN_QP_ROWS;      \
			     found = GET(rows_of[found - 1].next))                        \
				if (is)                                                   \
					break;                                            \
			FENCE(memory_order_acquire);                                      \
		} while (EXPLAIN_RARE(steps > EXPLAIN_QP_ROWS || before != GET(change))); \
	} while (0)

/* What is asked for again and again is found without a call. */
#define ALWAYS_INLINE __attribute__((__always_inline__)) static inline
#define SELDOM        __attribute__((__noinline__)) static

ALWAYS_INLINE bool is_fresh(void)
{
	return last.change == atomic_load_explicit(&change, memory_order_acquire);
}

static void refresh(void)
{
	const uint32_t now = atomic_load_explicit(&change, memory_order_acquire);

	if (last.change == now)
		return;
	memset(&last, 0, sizeof(last));
	last.change = now;
}

SELDOM unsigned int look_for_qp(const struct ibv_qp *qp)
{
	unsigned int at;

	refresh();
	FIND(at, qp_chain[bucket_of(qp, 0)], qps, by_qp, GET(qps[at - 1].qp) == qp);
	last.qp = qp;
	last.qp_at = at;
	return at;
}

ALWAYS_INLINE unsigned int find_qp(const struct ibv_qp *qp)
{
	return !EXPLAIN_RARE(!is_fresh() || last.qp != qp) ? last.qp_at : look_for_qp(qp);
}

SELDOM unsigned int look_for_number(const struct ibv_context *context, uint32_t qp_num)
{
	unsigned int at;

	refresh();
	FIND(at, number_chain[bucket_of(context, qp_num)], qps, by_number,
	     GET(qps[at - 1].context) == context && GET(qps[at - 1].qp_num) == qp_num);
	last.context = context;
	last.qp_num = qp_num;
	last.number_at = at;
	return at;
}

ALWAYS_INLINE unsigned int find_number(const struct ibv_context *context, uint32_t qp_num)
{
	return !EXPLAIN_RARE(!is_fresh() || last.context != context || last.qp_num != qp_num)
		       ? last.number_at
		       : look_for_number(context, qp_num);
}

SELDOM unsigned int look_for_cq(const struct ibv_cq *cq)
{
	unsigned int at;

	refresh();
	FIND(at, cq_chain[bucket_of(cq, 0)], cqs, by_cq, GET(cqs[at - 1].cq) == cq);
	last.cq = cq;
	last.cq_at = at;
	return at;
}

ALWAYS_INLINE unsigned int find_cq(const struct ibv_cq *cq)
{
	return !EXPLAIN_RARE(!is_fresh() || last.cq != cq) ? last.cq_at : look_for_cq(cq);
}

static unsigned int find_srq(const struct ibv_srq *srq)
{
	unsigned int at;

	refresh();
	if (last.srq == srq)
		return last.srq_at;
	FIND(at, srq_chain[bucket_of(srq, 0)], srqs, by_srq, GET(srqs[at - 1].srq) == srq);
	last.srq = srq;
	last.srq_at = at;
	return at;
}

/* With the tables locked, as all that follows. */
static void begin_change(void)
{
	explain_lock();
}

static void end_change(void)
{
	atomic_fetch_add_explicit(&change, 1, memory_order_release);
	explain_unlock();
}

#define CHAIN(first, rows_of, next, at)                  \
	do {                                             \
		PUT(rows_of[(at) - 1].next, GET(first)); \
		PUT(first, at);                          \
	} while (0)

#define UNCHAIN(first, rows_of, next, at)                        \
	do {                                                     \
		chain_link *from = &(first);                     \
                                                                 \
		while (GET(*from) && GET(*from) != (at))         \
			from = &rows_of[GET(*from) - 1].next;    \
		if (GET(*from))                                  \
			PUT(*from, GET(rows_of[(at) - 1].next)); \
	} while (0)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- Rows -------------------------------------------------------------------------------------------- */

/* For who is the first to see it so. */
static bool take_over(struct explain_row *row, int pid)
{
	uint32_t gone = 1;

	return atomic_compare_exchange_strong(&row->gone, &gone, 0) ||
	       (pid != getpid() && kill(pid, 0) && errno == ESRCH);
}

/*
 * A row that is free; or else one of what is gone. What this process has destroyed is not in its chains any more, and
 * what is of an ended process nobody uses. 1 + the index; 0: there is none.
 */
static unsigned int claim(void *first, size_t size, unsigned int count)
{
	static _Atomic unsigned int from;
	const unsigned int start = from;
	const int error = errno;

	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < count; i++) {
			const unsigned int at = (start + i) % count;
			struct explain_row *const row =
				(struct explain_row *)(void *)((char *)first + at * size);
			int pid = row->pid;

			if (pid && (!round || !take_over(row, pid)))
				continue;
			if (!atomic_compare_exchange_strong(&row->pid, &pid, getpid()))
				continue;
			from = at + 1;
			errno = error;
			return at + 1;
		}
	}
	errno = error;
	return 0;
}

/* An odd version stays odd, whatever a stranger has written there. */
static void begin_row(struct explain_row *row)
{
	atomic_store(&row->version, row->version | 1);
	FENCE(memory_order_release);
}

static void end_row(struct explain_row *row)
{
	atomic_store(&row->version, (row->version | 1) + 1);
}

static void name_device(char *to, const struct ibv_context *context)
{
	snprintf(to, EXPLAIN_DEVICE, "%s", context->device ? context->device->name : "");
}

/* A number for a protection domain: the kernel numbers those of each open device from 0. */
static uint32_t pd_of(const struct ibv_pd *pd)
{
	return pd ? pd->handle * UINT32_C(2654435761) + (uint32_t)((uintptr_t)pd->context >> 4) : 0;
}

static void leave_rows_of(int pid)
{
	for (unsigned int i = 0; i < EXPLAIN_QP_ROWS; i++)
		if (rows->qp[i].row.pid == pid)
			rows->qp[i].row.gone = 1;
	for (unsigned int i = 0; i < EXPLAIN_CQ_ROWS; i++)
		if (rows->cq[i].row.pid == pid)
			rows->cq[i].row.gone = 1;
	for (unsigned int i = 0; i < EXPLAIN_MR_ROWS; i++)
		if (rows->mr[i].row.pid == pid)
			rows->mr[i].row.gone = 1;
	for (unsigned int i = 0; i < EXPLAIN_SRQ_ROWS; i++)
		if (rows->srq[i].row.pid == pid)
			rows->srq[i].row.gone = 1;
	for (unsigned int i = 0; i < EXPLAIN_AH_ROWS; i++)
		if (rows->ah[i].row.pid == pid)
			rows->ah[i].row.gone = 1;
	for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++)
		if (rows->call[i].pid == pid)
			rows->call[i].verb = EXPLAIN_NO_CALL;
}

void explain_watch_begin(struct explain_rows *mapped)
{
	rows = mapped;
	explain_watching = true;
	/* It may have executed this program in place of another one. */
	leave_rows_of(getpid());
}

/* ---- Objects ------------------------------------------------------------------------------------------- */

static void fill_qp(struct explain_qp_row *row, const struct ibv_qp *qp,
		    const struct ibv_qp_cap *cap)
{
	const struct explain_row of = {.pid = 0};

	begin_row(&row->row);
	memset((char *)row + sizeof(of), 0, sizeof(*row) - sizeof(of));
	row->row.gone = 0;
	name_device(row->device, qp->context);
	row->qp_num = qp->qp_num;
	row->type = qp->qp_type;
	row->send_cq = qp->send_cq ? find_cq(qp->send_cq) : 0;
	row->recv_cq = qp->recv_cq ? find_cq(qp->recv_cq) : 0;
	row->has_srq = qp->srq != NULL;
	row->srq = qp->srq ? find_srq(qp->srq) : 0;
	row->pd = pd_of(qp->pd);
	if (cap) {
		row->max_send_wr = cap->max_send_wr;
		row->max_recv_wr = cap->max_recv_wr;
	}
	end_row(&row->row);
}

/* One completion queue more, or less, that has the queue pair's completions. */
static void count_qp(unsigned int cq, unsigned int at, int more)
{
	if (!cq)
		return;
	PUT(cqs[cq - 1].qps, GET(cqs[cq - 1].qps) + more);
	if (more > 0)
		PUT(cqs[cq - 1].one, at);
}

static void chain_qp(unsigned int at, const struct ibv_qp *qp)
{
	PUT(qps[at - 1].qp, qp);
	PUT(qps[at - 1].context, qp->context);
	PUT(qps[at - 1].qp_num, qp->qp_num);
	CHAIN(qp_chain[bucket_of(qp, 0)], qps, by_qp, at);
	CHAIN(number_chain[bucket_of(qp->context, qp->qp_num)], qps, by_number, at);
}

static void unchain_qp(unsigned int at)
{
	const void *const qp = GET(qps[at - 1].qp), *const context = GET(qps[at - 1].context);

	UNCHAIN(qp_chain[bucket_of(qp, 0)], qps, by_qp, at);
	UNCHAIN(number_chain[bucket_of(context, GET(qps[at - 1].qp_num))], qps, by_number, at);
	PUT(qps[at - 1].qp, NULL);
	PUT(qps[at - 1].context, NULL);
}

void explain_watch_qp(struct ibv_qp *qp, bool sig_all, const struct ibv_qp_cap *cap)
{
	unsigned int at;

	if (!explain_watching || find_qp(qp))
		return;
	at = claim(rows->qp, sizeof(rows->qp[0]), EXPLAIN_QP_ROWS);
	if (!at)
		return;
	fill_qp(&rows->qp[at - 1], qp, cap);
	PUT(qps[at - 1].sig_all, sig_all);
	begin_change();
	chain_qp(at, qp);
	count_qp(find_cq(qp->send_cq), at, 1);
	if (qp->recv_cq != qp->send_cq)
		count_qp(find_cq(qp->recv_cq), at, 1);
	end_change();
}

void explain_watch_cq(const struct ibv_cq *cq, bool is_extended)
{
	struct explain_cq_row *row;
	unsigned int at;

	if (!explain_watching || find_cq(cq))
		return;
	at = claim(rows->cq, sizeof(rows->cq[0]), EXPLAIN_CQ_ROWS);
	if (!at)
		return;
	row = &rows->cq[at - 1];
	begin_row(&row->row);
	memset((char *)row + sizeof(row->row), 0, sizeof(*row) - sizeof(row->row));
	row->row.gone = 0;
	name_device(row->device, cq->context);
	row->cqe = (uint32_t)cq->cqe;
	row->channel = cq->channel ? cq->channel->fd : -1;
	row->extended = is_extended;
	end_row(&row->row);
	begin_change();
	PUT(cqs[at - 1].cq, cq);
	PUT(cqs[at - 1].qps, 0);
	CHAIN(cq_chain[bucket_of(cq, 0)], cqs, by_cq, at);
	end_change();
}

void explain_watch_srq(const struct ibv_srq *srq)
{
	struct explain_srq_row *row;
	unsigned int at;

	if (!explain_watching || find_srq(srq))
		return;
	at = claim(rows->srq, sizeof(rows->srq[0]), EXPLAIN_SRQ_ROWS);
	if (!at)
		return;
	row = &rows->srq[at - 1];
	begin_row(&row->row);
	row->row.gone = 0;
	name_device(row->device, srq->context);
	PUT(row->posted, 0);
	end_row(&row->row);
	begin_change();
	PUT(srqs[at - 1].srq, srq);
	CHAIN(srq_chain[bucket_of(srq, 0)], srqs, by_srq, at);
	end_change();
}

/* With the tables locked: the link to its row, or the end of the chain. */
static uint16_t *find_kept(struct kept *table, uint16_t *chain, const void *object)
{
	uint16_t *from = &chain[bucket_of(object, 0)];

	while (*from && table[*from - 1].object != object)
		from = &table[*from - 1].next;
	return from;
}

static bool has_kept(struct kept *table, uint16_t *chain, const void *object)
{
	bool has;

	explain_lock();
	has = *find_kept(table, chain, object) != 0;
	explain_unlock();
	return has;
}

static void keep(struct kept *table, uint16_t *chain, const void *object, unsigned int at)
{
	uint16_t *const first = &chain[bucket_of(object, 0)];

	explain_lock();
	table[at - 1].object = object;
	table[at - 1].next = *first;
	*first = (uint16_t)at;
	explain_unlock();
}

static unsigned int leave_kept(struct kept *table, uint16_t *chain, const void *object)
{
	uint16_t *from, at;

	explain_lock();
	from = find_kept(table, chain, object);
	at = *from;
	if (at)
		*from = table[at - 1].next;
	explain_unlock();
	return at;
}

void explain_watch_mr(const struct ibv_mr *mr, unsigned int access, uint64_t iova)
{
	struct explain_mr_row *row;
	unsigned int at;

	/* One verb may be reached through another that is wrapped. */
	if (!explain_watching || has_kept(mrs, mr_chain, mr))
		return;
	at = claim(rows->mr, sizeof(rows->mr[0]), EXPLAIN_MR_ROWS);
	if (!at)
		return;
	row = &rows->mr[at - 1];
	begin_row(&row->row);
	row->row.gone = 0;
	name_device(row->device, mr->context);
	PUT(row->gone_at, 0);
	row->rereg = 0;
	row->lkey = mr->lkey;
	row->rkey = mr->rkey;
	row->access = access;
	row->pd = pd_of(mr->pd);
	row->addr = iova;
	row->length = mr->length;
	row->made_at = now_ns();
	end_row(&row->row);
	keep(mrs, mr_chain, mr, at);
}

uint64_t explain_watch_now(void)
{
	return explain_watching ? now_ns() : 0;
}

/* What a region was until then: requests may have failed by it. */
static void keep_as_it_was(const struct explain_mr_row *was, const struct ibv_mr *mr,
			   uint64_t since)
{
	const unsigned int at = claim(rows->mr, sizeof(rows->mr[0]), EXPLAIN_MR_ROWS);
	struct explain_mr_row *row;

	if (!at)
		return;
	row = &rows->mr[at - 1];
	begin_row(&row->row);
	memcpy(row->device, was->device, sizeof(row->device));
	row->lkey = was->lkey;
	row->rkey = was->rkey;
	row->access = was->access;
	row->pd = was->pd;
	row->rereg = was->rereg | EXPLAIN_MR_ENDED;
	row->next[0] = mr->lkey;
	row->next[1] = mr->rkey;
	row->addr = was->addr;
	row->length = was->length;
	row->made_at = was->made_at;
	PUT(row->gone_at, since);
	row->row.gone = 1;
	end_row(&row->row);
}

void explain_watch_rereg(const struct ibv_mr *mr, int flags, unsigned int access, uint64_t since,
			 int result, int error)
{
	const bool is_new = !result || result == IBV_REREG_MR_ERR_DO_FORK_OLD;
	struct explain_mr_row *row;
	unsigned int at;

	/* Of the others, the old region is valid; and a driver without the verb has not touched it. */
	if (!explain_watching || (!is_new && ((result != IBV_REREG_MR_ERR_CMD &&
					       result != IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW) ||
					      error == EOPNOTSUPP)))
		return;
	explain_lock();
	at = *find_kept(mrs, mr_chain, mr);
	explain_unlock();
	if (!at)
		return;
	row = &rows->mr[at - 1];
	keep_as_it_was(row, mr, since);
	begin_row(&row->row);
	row->rereg = is_new ? EXPLAIN_MR_ANEW : EXPLAIN_MR_BROKEN;
	row->lkey = mr->lkey;
	row->rkey = mr->rkey;
	if (is_new && flags & IBV_REREG_MR_CHANGE_ACCESS)
		row->access = access;
	if (is_new && flags & IBV_REREG_MR_CHANGE_PD)
		row->pd = pd_of(mr->pd);
	if (is_new && flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		row->addr = row->access & IBV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)mr->addr;
		row->length = mr->length;
	}
	row->made_at = now_ns();
	end_row(&row->row);
}

/* Its own GID, and the peer's. False: they are not known. */
static bool get_gids(struct ibv_context *context, const struct ibv_ah_attr *ah, uint8_t *own,
		     uint8_t *peer)
{
	union ibv_gid gid;
	bool has;

	if (!ah->is_global)
		return false;
	explain_enter();
	has = !REAL(ibv_query_gid)(context, ah->port_num, ah->grh.sgid_index, &gid);
	explain_exit();
	if (!has)
		return false;
	memcpy(own, gid.raw, sizeof(gid.raw));
	memcpy(peer, ah->grh.dgid.raw, sizeof(ah->grh.dgid.raw));
	return true;
}

void explain_watch_ah(const struct ibv_ah *ah, const struct ibv_ah_attr *attr)
{
	const int error = errno;
	struct explain_ah_row *row;
	unsigned int at;

	if (!explain_watching || has_kept(ahs, ah_chain, ah))
		return;
	at = claim(rows->ah, sizeof(rows->ah[0]), EXPLAIN_AH_ROWS);
	if (!at)
		return;
	row = &rows->ah[at - 1];
	begin_row(&row->row);
	row->row.gone = 0;
	row->ah = (uintptr_t)ah;
	row->dlid = attr->dlid;
	row->sgid_index = attr->grh.sgid_index;
	row->has_gids = get_gids(ah->context, attr, row->gid, row->peer_gid);
	end_row(&row->row);
	keep(ahs, ah_chain, ah, at);
	errno = error;
}

void explain_watch_ah_from_wc(const struct ibv_ah *ah, struct ibv_wc *wc, struct ibv_grh *grh,
			      uint8_t port)
{
	const int error = errno;
	struct ibv_ah_attr attr;
	int result;

	if (!explain_watching || has_kept(ahs, ah_chain, ah))
		return;
	memset(&attr, 0, sizeof(attr));
	explain_enter();
	result = REAL(ibv_init_ah_from_wc)(ah->context, port, wc, grh, &attr);
	explain_exit();
	if (!result)
		explain_watch_ah(ah, &attr);
	errno = error;
}

/* Asked for by the control path. */
static uint32_t active_mtu_of(struct ibv_context *context, uint8_t number)
{
	struct ibv_port_attr port;
	int error;

	memset(&port, 0, sizeof(port));
	explain_enter();
	error = REAL(ibv_query_port)(context, number, (struct _compat_ibv_port_attr *)&port);
	explain_exit();
	return error ? 0 : port.active_mtu;
}

/* The GID that the peer sends to. Asked for where the queue pair gets its address, by the control path. */
static void fill_path(struct explain_qp_row *row, const struct ibv_qp *qp,
		      const struct ibv_ah_attr *ah)
{
	row->dlid = ah->dlid;
	row->sl = ah->sl;
	row->traffic_class = ah->is_global ? ah->grh.traffic_class : 0;
	row->sgid_index = ah->is_global ? ah->grh.sgid_index : 0;
	row->has_gids = get_gids(qp->context, ah, row->gid, row->peer_gid);
	row->active_mtu = active_mtu_of(qp->context, ah->port_num);
}

static void fill_moved(struct explain_qp_row *row, const struct ibv_qp *qp,
		       const struct ibv_qp_attr *attr, int mask)
{
#define TAKE(bit, member, value) \
	if (mask & (bit))        \
		row->member = (uint32_t)(value);
	TAKE(IBV_QP_STATE, state, attr->qp_state)
	TAKE(IBV_QP_ACCESS_FLAGS, access, attr->qp_access_flags)
	TAKE(IBV_QP_PKEY_INDEX, pkey_index, attr->pkey_index)
	TAKE(IBV_QP_PORT, port, attr->port_num)
	TAKE(IBV_QP_QKEY, qkey, attr->qkey)
	TAKE(IBV_QP_PATH_MTU, path_mtu, attr->path_mtu)
	TAKE(IBV_QP_TIMEOUT, timeout, attr->timeout)
	TAKE(IBV_QP_RETRY_CNT, retry_cnt, attr->retry_cnt)
	TAKE(IBV_QP_RNR_RETRY, rnr_retry, attr->rnr_retry)
	TAKE(IBV_QP_RQ_PSN, rq_psn, attr->rq_psn & 0xffffff)
	TAKE(IBV_QP_SQ_PSN, sq_psn, attr->sq_psn & 0xffffff)
	TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, attr->min_rnr_timer)
	TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, attr->max_rd_atomic)
	TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, attr->max_dest_rd_atomic)
	TAKE(IBV_QP_DEST_QPN, dest_qp_num, attr->dest_qp_num)
#undef TAKE
	if (mask & IBV_QP_AV)
		fill_path(row, qp, &attr->ah_attr);
	/* It has no path, and its datagrams are no longer than that. */
	else if (qp->qp_type == IBV_QPT_UD && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)
		row->active_mtu = active_mtu_of(qp->context, (uint8_t)row->port);
	row->mask |= (uint32_t)mask;
}

/* Nothing is under way any more; what there was is no failure. */
static void reset_row(struct explain_qp_row *row)
{
	PUT(row->sends, 0);
	PUT(row->signaled, 0);
	PUT(row->sends_done, 0);
	PUT(row->messages, 0);
	PUT(row->recvs, 0);
	PUT(row->recvs_done, 0);
	PUT(row->errors, 0);
	PUT(row->failed_at, 0);
	for (unsigned int i = 0; i < EXPLAIN_REQUESTS; i++)
		PUT(row->request[i].number, 0);
	row->mask = 0;
}

void explain_watch_moved(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct explain_qp_row *row;
	unsigned int at;
	int error;

	if (!explain_watching || !(at = find_qp(qp)))
		return;
	error = errno;
	row = &rows->qp[at - 1];
	begin_row(&row->row);
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		reset_row(row);
	fill_moved(row, qp, attr, mask);
	row->qp_num = qp->qp_num;
	end_row(&row->row);
	if (GET(qps[at - 1].qp_num) != qp->qp_num) {
		begin_change();
		unchain_qp(at);
		chain_qp(at, qp);
		end_change();
	}
	errno = error;
}

void explain_watch_direct(const struct ibv_qp *qp, const struct ibv_cq *cq)
{
	unsigned int at;

	if (!explain_watching)
		return;
	if (qp && (at = find_qp(qp)))
		rows->qp[at - 1].direct = 1;
	if (cq && (at = find_cq(cq)))
		rows->cq[at - 1].direct = 1;
}

unsigned int explain_watch_leave_qp(const struct ibv_qp *qp)
{
	unsigned int at;

	if (!explain_watching || !(at = find_qp(qp)))
		return 0;
	begin_change();
	unchain_qp(at);
	count_qp(find_cq(qp->send_cq), at, -1);
	if (qp->recv_cq != qp->send_cq)
		count_qp(find_cq(qp->recv_cq), at, -1);
	end_change();
	return at;
}

void explain_watch_left_qp(unsigned int at, struct ibv_qp *qp, int result)
{
	if (!at)
		return;
	if (!result) {
		rows->qp[at - 1].row.gone = 1;
		return;
	}
	begin_change();
	chain_qp(at, qp);
	count_qp(find_cq(qp->send_cq), at, 1);
	if (qp->recv_cq != qp->send_cq)
		count_qp(find_cq(qp->recv_cq), at, 1);
	end_change();
}

unsigned int explain_watch_leave_cq(const struct ibv_cq *cq)
{
	unsigned int at;

	if (!explain_watching || !(at = find_cq(cq)))
		return 0;
	begin_change();
	UNCHAIN(cq_chain[bucket_of(cq, 0)], cqs, by_cq, at);
	PUT(cqs[at - 1].cq, NULL);
	end_change();
	return at;
}

void explain_watch_left_cq(unsigned int at, const struct ibv_cq *cq, int result)
{
	if (!at)
		return;
	if (!result) {
		rows->cq[at - 1].row.gone = 1;
		return;
	}
	begin_change();
	PUT(cqs[at - 1].cq, cq);
	CHAIN(cq_chain[bucket_of(cq, 0)], cqs, by_cq, at);
	end_change();
}

unsigned int explain_watch_leave_srq(const struct ibv_srq *srq)
{
	unsigned int at;

	if (!explain_watching || !(at = find_srq(srq)))
		return 0;
	begin_change();
	UNCHAIN(srq_chain[bucket_of(srq, 0)], srqs, by_srq, at);
	PUT(srqs[at - 1].srq, NULL);
	end_change();
	return at;
}

void explain_watch_left_srq(unsigned int at, const struct ibv_srq *srq, int result)
{
	if (!at)
		return;
	if (!result) {
		rows->srq[at - 1].row.gone = 1;
		return;
	}
	begin_change();
	PUT(srqs[at - 1].srq, srq);
	CHAIN(srq_chain[bucket_of(srq, 0)], srqs, by_srq, at);
	end_change();
}

unsigned int explain_watch_leave_mr(const struct ibv_mr *mr)
{
	return explain_watching ? leave_kept(mrs, mr_chain, mr) : 0;
}

unsigned int explain_watch_leave_ah(const struct ibv_ah *ah)
{
	return explain_watching ? leave_kept(ahs, ah_chain, ah) : 0;
}

void explain_watch_left_ah(unsigned int at, int result)
{
	if (!at)
		return;
	if (result)
		keep(ahs, ah_chain, ahs[at - 1].object, at);
	else
		rows->ah[at - 1].row.gone = 1;
}

void explain_watch_left_mr(unsigned int at, int result)
{
	if (!at)
		return;
	if (result) {
		keep(mrs, mr_chain, mrs[at - 1].object, at);
		return;
	}
	PUT(rows->mr[at - 1].gone_at, now_ns());
	rows->mr[at - 1].row.gone = 1;
}

/* ---- The data path ------------------------------------------------------------------------------------- */

static __thread struct {
	const struct explain_call_row *row; /* of the call that waits */
	uintptr_t frame;
	uint32_t owner; /* the process, as `change` counts them */
	unsigned int at;
} waiting __attribute__((__tls_model__("initial-exec")));

/* A thread that posts or polls waits in no call: a handler has left that by longjmp(), or runs in it. */
static inline void leave_call(void)
{
	if (EXPLAIN_RARE(waiting.frame != 0)) {
		waiting.frame = 0;
		PUT(rows->call[waiting.at - 1].verb, EXPLAIN_NO_CALL);
	}
}

ALWAYS_INLINE struct explain_request *begin_request(struct explain_qp_row *row, bool is_signaled,
						    uint64_t *number)
{
	const uint64_t before = atomic_fetch_add_explicit(&row->sends, 1, memory_order_relaxed);
	struct explain_request *const request = &row->request[before % EXPLAIN_REQUESTS];

	*number = before + 1;
	PUT(request->number, 0);
	PUT(request->signaled, GET(row->signaled));
	if (is_signaled)
		ADD(row->signaled, 1);
	return request;
}

static void note_request(struct explain_qp_row *row, const struct ibv_send_wr *wr, uint32_t type,
			 bool is_signaled)
{
	uint64_t number, length = 0, addr = 0;
	uint32_t lkey = 0;
	struct explain_request *const request = begin_request(row, is_signaled, &number);

	if (wr->num_sge > 0) {
		addr = wr->sg_list[0].addr;
		lkey = wr->sg_list[0].lkey;
		for (int i = 0; i < wr->num_sge; i++)
			length += wr->sg_list[i].length;
	}
	PUT(request->wr_id, wr->wr_id);
	PUT(request->opcode, wr->opcode);
	PUT(request->flags, wr->send_flags);
	PUT(request->length, length);
	PUT(request->addr, addr);
	PUT(request->lkey, lkey);
	if (type == IBV_QPT_UD) {
		PUT(request->qp_num, wr->wr.ud.remote_qpn);
		PUT(request->qkey, wr->wr.ud.remote_qkey);
		PUT(request->ah, (uintptr_t)wr->wr.ud.ah);
	} else {
		const bool is_atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
				       wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;

		PUT(request->remote_addr,
		    is_atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr);
		PUT(request->rkey, is_atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey);
	}
	atomic_store_explicit(&request->number, number, memory_order_release);
}

void explain_watch_sent(const struct ibv_qp *qp, const struct ibv_send_wr *wr,
			const struct ibv_send_wr *bad)
{
	const unsigned int at = find_qp(qp);

	leave_call();
	for (; at && wr && wr != bad; wr = wr->next)
		note_request(&rows->qp[at - 1], wr, qp->qp_type,
			     wr->send_flags & IBV_SEND_SIGNALED || GET(qps[at - 1].sig_all));
}

void explain_watch_received(const struct ibv_qp *qp, const struct ibv_recv_wr *wr,
			    const struct ibv_recv_wr *bad)
{
	static const struct ibv_sge none;
	const unsigned int at = find_qp(qp);
	struct explain_qp_row *row;
	const struct ibv_sge *sge;
	uint64_t count = 1, length;

	leave_call();
	if (!at || !wr || wr == bad)
		return;
	for (; wr->next && wr->next != bad; wr = wr->next)
		count++;
	row = &rows->qp[at - 1];
	sge = wr->num_sge > 0 ? wr->sg_list : &none;
	PUT(row->recv_id, wr->wr_id);
	PUT(row->recv_addr, sge->addr);
	PUT(row->recv_lkey, sge->lkey);
	length = sge->length;
	for (int i = 1; i < wr->num_sge; i++)
		length += sge[i].length;
	PUT(row->recv_length, length);
	ADD(row->recvs, count);
}

void explain_watch_shared(const struct ibv_srq *srq, const struct ibv_recv_wr *wr,
			  const struct ibv_recv_wr *bad)
{
	const unsigned int at = find_srq(srq);
	uint64_t count = 0;

	leave_call();
	for (; wr && wr != bad; wr = wr->next)
		count++;
	if (at)
		ADD(rows->srq[at - 1].posted, count);
}

int explain_watch_opcode(const struct ibv_qp *qp, uint64_t wr_id)
{
	const unsigned int at = explain_watching ? find_qp(qp) : 0;
	const struct explain_qp_row *row;
	int opcode = -1;

	if (!at)
		return -1;
	row = &rows->qp[at - 1];
	for (int i = 0; i < EXPLAIN_REQUESTS; i++) {
		const struct explain_request *const request = &row->request[i];
		const int its = (int)GET(request->opcode);

		if (!GET(request->number) || GET(request->wr_id) != wr_id ||
		    GET(request->signaled) < GET(row->sends_done))
			continue;
		if (opcode >= 0 && opcode != its)
			return -1;
		opcode = its;
	}
	return opcode;
}

bool explain_watch_no_recv(const struct ibv_qp *qp)
{
	const unsigned int at = explain_watching ? find_qp(qp) : 0;

	return at && !rows->qp[at - 1].has_srq && !rows->qp[at - 1].direct &&
	       !GET(rows->qp[at - 1].recvs);
}

/* Of the two queues of a queue pair, the one that this completion queue serves. */
__attribute__((__cold__)) static uint32_t queue_of(const struct explain_qp_row *row,
						   unsigned int cq)
{
	if (row->send_cq == row->recv_cq || !cq)
		return EXPLAIN_EITHER_QUEUE;
	return cq == row->send_cq   ? EXPLAIN_SEND_QUEUE
	       : cq == row->recv_cq ? EXPLAIN_RECV_QUEUE
				    : EXPLAIN_EITHER_QUEUE;
}

/* Apart from count_done(), which is the cheaper for it. */
__attribute__((__cold__, __noinline__)) static void count_failed(struct explain_qp_row *row,
								 const struct ibv_cq *cq,
								 enum ibv_wc_status status,
								 uint64_t count, uint64_t wr_id)
{
	if (status != IBV_WC_WR_FLUSH_ERR && !GET(row->failed_at)) {
		PUT(row->failed_id, wr_id);
		PUT(row->failed_status, status);
		PUT(row->failed_queue, queue_of(row, find_cq(cq)));
		atomic_store_explicit(&row->failed_at, now_ns(), memory_order_release);
	}
	ADD(row->errors, count);
}

/* A completion of one of the queue pair's requests, or several that are alike. */
ALWAYS_INLINE void count_done(struct explain_qp_row *row, enum ibv_wc_opcode opcode, uint64_t count)
{
	if (opcode & IBV_WC_RECV) {
		ADD(row->recvs_done, count);
	} else {
		ADD(row->sends_done, count);
		if (opcode == IBV_WC_SEND)
			ADD(row->messages, count);
	}
}

void explain_watch_polled(const struct ibv_cq *cq, const struct ibv_wc *wc, int asked, int got)
{
	const unsigned int at = find_cq(cq);

	leave_call();
	if (at) {
		struct explain_cq_row *const row = &rows->cq[at - 1];

		ADD(row->polls, 1);
		if (got < asked)
			ADD(row->emptied, 1);
		if (got > 0)
			ADD(row->got, got);
	}
	for (int i = 0, next; i < got; i = next) {
		const unsigned int of = find_number(cq->context, wc[i].qp_num);

		for (next = i + 1;
		     next < got && wc[next].qp_num == wc[i].qp_num &&
		     wc[next].opcode == wc[i].opcode && wc[next].status == wc[i].status;
		     next++)
			;
		if (!of)
			continue;
		if (EXPLAIN_RARE(wc[i].status != IBV_WC_SUCCESS))
			count_failed(&rows->qp[of - 1], cq, wc[i].status, (uint64_t)(next - i),
				     wc[i].wr_id);
		else
			count_done(&rows->qp[of - 1], wc[i].opcode, (uint64_t)(next - i));
	}
}

/* What ibv_start_poll() or ibv_next_poll() has come to; `at` is the completion queue's. */
SELDOM void count_current(struct ibv_cq_ex *cq, unsigned int at)
{
	unsigned int of = 0;

	ADD(rows->cq[at - 1].got, 1);
	if (cq->read_qp_num)
		of = find_number(cq->context, cq->read_qp_num(cq));
	else if (GET(cqs[at - 1].qps) == 1)
		of = GET(cqs[at - 1].one);
	if (!of)
		/* Nobody knows whose it was. */
		rows->cq[at - 1].direct = 1;
	else if (EXPLAIN_RARE(cq->status != IBV_WC_SUCCESS))
		count_failed(&rows->qp[of - 1], ibv_cq_ex_to_cq(cq), cq->status, 1, cq->wr_id);
	else
		count_done(&rows->qp[of - 1], cq->read_opcode(cq), 1);
}

void explain_watch_polled_ex(struct ibv_cq_ex *cq, int result)
{
	const unsigned int at = find_cq(ibv_cq_ex_to_cq(cq));

	leave_call();
	if (at && result) {
		ADD(rows->cq[at - 1].polls, 1);
		ADD(rows->cq[at - 1].emptied, 1);
	} else if (at) {
		count_current(cq, at);
	}
}

void explain_watch_armed(const struct ibv_cq *cq)
{
	const unsigned int at = find_cq(cq);
	struct explain_cq_row *row;

	leave_call();
	if (!at)
		return;
	row = &rows->cq[at - 1];
	PUT(row->emptied_at, GET(row->emptied));
	PUT(row->events_at, GET(row->events));
	ADD(row->armed, 1);
}

void explain_watch_event(const struct ibv_cq *cq)
{
	const unsigned int at = explain_watching ? find_cq(cq) : 0;

	if (at)
		ADD(rows->cq[at - 1].events, 1);
}

void explain_watch_acked(const struct ibv_cq *cq, unsigned int count)
{
	const unsigned int at = explain_watching ? find_cq(cq) : 0;

	if (at)
		ADD(rows->cq[at - 1].acked, count);
}

/* ---- The extended interface -------------------------------------------------------------------------------- */

/* What the thread has begun since ibv_wr_start(), of the queue pair that it used last. */
static __thread struct {
	const struct ibv_qp_ex *qp;
	struct explain_request *request;
	unsigned int count, signaled;
} begun __attribute__((__tls_model__("initial-exec")));

void explain_watch_start(const struct ibv_qp_ex *qp)
{
	begun.qp = qp;
	begun.request = NULL;
	begun.count = begun.signaled = 0;
}

void explain_watch_request(const struct ibv_qp_ex *qp, int opcode, uint32_t rkey,
			   uint64_t remote_addr)
{
	const unsigned int at = find_qp(&qp->qp_base);
	struct explain_request *request;
	bool is_signaled;
	uint64_t number;

	if (begun.qp != qp)
		explain_watch_start(qp);
	begun.request = NULL;
	if (!at)
		return;
	is_signaled = qp->wr_flags & IBV_SEND_SIGNALED || GET(qps[at - 1].sig_all);
	request = begin_request(&rows->qp[at - 1], is_signaled, &number);
	begun.count++;
	begun.signaled += is_signaled;
	begun.request = request;
	PUT(request->wr_id, qp->wr_id);
	PUT(request->opcode, opcode);
	PUT(request->flags, qp->wr_flags);
	PUT(request->remote_addr, remote_addr);
	PUT(request->rkey, rkey);
	PUT(request->addr, 0);
	PUT(request->lkey, 0);
	PUT(request->length, 0);
	atomic_store_explicit(&request->number, number, memory_order_release);
}

void explain_watch_data(const struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint64_t length)
{
	if (begun.qp != qp || !begun.request)
		return;
	PUT(begun.request->lkey, lkey);
	PUT(begun.request->addr, addr);
	PUT(begun.request->length, length);
}

void explain_watch_datagram(const struct ibv_qp_ex *qp, const struct ibv_ah *ah, uint32_t qp_num,
			    uint32_t qkey)
{
	if (begun.qp != qp || !begun.request)
		return;
	PUT(begun.request->qp_num, qp_num);
	PUT(begun.request->qkey, qkey);
	PUT(begun.request->ah, (uintptr_t)ah);
}

void explain_watch_undo(const struct ibv_qp_ex *qp)
{
	const unsigned int at = find_qp(&qp->qp_base);

	if (!at || begun.qp != qp)
		return;
	ADD(rows->qp[at - 1].signaled, -(uint64_t)begun.signaled);
	ADD(rows->qp[at - 1].sends, -(uint64_t)begun.count);
	explain_watch_start(qp);
}

/* ---- Calls that may wait ------------------------------------------------------------------------------------- */

static _Atomic uint32_t process = 1; /* of a process's children it is another one */

/* A row that the thread keeps; or that of a thread that has ended. */
static unsigned int claim_call(void)
{
	const int pid = getpid(), tid = (int)syscall(SYS_gettid), error = errno;

	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < EXPLAIN_CALL_ROWS; i++) {
			struct explain_call_row *const row = &rows->call[i];
			int its = row->tid;

			if (its &&
			    (!round || !syscall(SYS_tgkill, row->pid, its, 0) || errno != ESRCH))
				continue;
			if (!atomic_compare_exchange_strong(&row->tid, &its, tid))
				continue;
			row->verb = EXPLAIN_NO_CALL;
			row->pid = pid;
			errno = error;
			return i + 1;
		}
	}
	errno = error;
	return 0;
}

struct explain_watch_call explain_watch_enter(enum explain_verb verb, unsigned int of,
					      const void *its_frame)
{
	const uintptr_t frame = (uintptr_t)its_frame;
	struct explain_watch_call call = {.is_kept = false};
	struct explain_call_row *row;

	if (!explain_watching || explain_thread.explaining)
		return call;
	if (waiting.owner != process) {
		waiting.owner = process;
		waiting.frame = 0;
		waiting.at = claim_call();
	}
	if (!waiting.at)
		return call;
	/* One within another lies deeper in the stack. */
	if (frame >= waiting.frame)
		leave_call();
	row = &rows->call[waiting.at - 1];
	call.verb = GET(row->verb);
	call.of = GET(row->of);
	call.is_kept = true;
	if (!waiting.frame) {
		waiting.frame = frame;
		call.verb = EXPLAIN_NO_CALL;
	}
	PUT(row->since, now_ns());
	PUT(row->of, of);
	atomic_store_explicit(&row->verb, verb, memory_order_release);
	return call;
}

void explain_watch_exit(const struct explain_watch_call *call)
{
	struct explain_call_row *row;

	if (!call->is_kept || !waiting.at)
		return;
	row = &rows->call[waiting.at - 1];
	PUT(row->verb, EXPLAIN_NO_CALL);
	PUT(row->of, call->of);
	PUT(row->since, now_ns());
	if (call->verb == EXPLAIN_NO_CALL)
		waiting.frame = 0;
	else
		PUT(row->verb, call->verb);
}

void explain_watch_forget(void)
{
	if (!explain_watching)
		return;
	waiting.frame = 0;
	for (unsigned int i = 0; i < BUCKETS; i++) {
		PUT(qp_chain[i], 0);
		PUT(number_chain[i], 0);
		PUT(cq_chain[i], 0);
		PUT(srq_chain[i], 0);
		mr_chain[i] = ah_chain[i] = 0;
	}
	process++;
	change++;
}
