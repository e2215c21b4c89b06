/* SPDX-License-Identifier: MIT */
/* The program's objects: which queue pair a completion is of, what has become of it, and what was never destroyed. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "explain.h"

/* ---- Counts ---------------------------------------------------------------------------------- */

/* librdmacm keeps its devices open forever; all else that it makes goes with the program's ids. */
static bool is_counted(enum explain_object kind)
{
	return explain_process && !explain_thread.depth && !explain_thread.explaining &&
	       !(kind == EXPLAIN_CONTEXT && explain_thread.outer);
}

void explain_made(enum explain_object kind, const void *object)
{
	explain_is_made(object);
	if (is_counted(kind))
		atomic_fetch_add(&explain_process->objects[kind], 1);
}

void explain_destroyed(enum explain_object kind, const void *object)
{
	explain_probe_gone(object);
	explain_is_gone(object);
	if (is_counted(kind))
		atomic_fetch_sub(&explain_process->objects[kind], 1);
}

void explain_has_path(const struct ibv_context *context, const struct ibv_ah_attr *path)
{
	const char *const device = context->device->name;
	struct explain_source *source;

	if (!path->is_global || !is_counted(EXPLAIN_AH))
		return;
	explain_lock();
	source = explain_process->source;
	for (int i = 0; i < EXPLAIN_SOURCES; i++, source++) {
		if (!source->times) {
			source->port = path->port_num;
			source->index = path->grh.sgid_index;
			snprintf(source->device, sizeof(source->device), "%s", device);
		} else if (source->port != path->port_num ||
			   source->index != path->grh.sgid_index ||
			   strcmp(source->device, device) != 0) {
			continue;
		}
		source->times++;
		break;
	}
	explain_unlock();
}

/* ---- Queue pairs ----------------------------------------------------------------------------- */

/* A row of the table: by open addressing, found from the context and the number on. */
struct row {
	const struct ibv_context *context; /* NULL: free */
	struct ibv_qp *qp;                 /* NULL: there was one, so that a search goes on */
	uint32_t qp_num;
	uint16_t held; /* explanations that look at it */
	bool has_failed;
	uint8_t marks; /* enum explain_qp_marks */
};

/* The program's own memory is left alone: the table is mapped. */
static struct {
	struct row *row;
	size_t size, used; /* `used` includes the rows of those that are gone */
} table;

static bool is_changing; /* somebody has the lock */
static sigset_t signals; /* of who has it */

enum {
	FIRST_SIZE = 1024 /* rows, a power of two */
};

/* No thread is left that would release anything, or wait for that. */
static void forget_holders(void)
{
	for (size_t i = 0; i < table.size; i++)
		table.row[i].held = 0;
}

void explain_lock(void)
{
	sigset_t was;

	explain_block_signals(&was);
	pthread_mutex_lock(&explain_locks()->tables);
	signals = was;
	if (EXPLAIN_RARE(explain_locks_notice())) {
		/* What a thread of the parent's was about to change is nothing that can be relied on. */
		if (is_changing)
			memset(&table, 0, sizeof(table));
		forget_holders();
		explain_forget_threads();
	}
	is_changing = true;
}

void explain_unlock(void)
{
	const sigset_t was = signals;

	is_changing = false;
	pthread_mutex_unlock(&explain_locks()->tables);
	explain_restore_signals(&was);
}

/* Until a queue pair is released. */
static void wait_for_release(void)
{
	const sigset_t was = signals;

	is_changing = false;
	pthread_cond_wait(&explain_locks()->released, &explain_locks()->tables);
	is_changing = true;
	signals = was;
}

static void unlock_in_child(void)
{
	const sigset_t was = signals;

	forget_holders();
	is_changing = false;
	explain_locks_renew();
	explain_restore_signals(&was);
}

/* Before report.c registers its own, which therefore locks first: an explanation takes this lock within that one. */
__attribute__((__constructor__(101))) static void survive_fork(void)
{
	pthread_atfork(explain_lock, explain_unlock, unlock_in_child);
}

static size_t start_of(const struct ibv_context *context, uint32_t qp_num)
{
	const uint64_t key = (uint64_t)(uintptr_t)context + qp_num;

	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The row of a queue pair, `qp` NULL: of the first with this number; NULL: there is none. */
static struct row *find(const struct ibv_context *context, uint32_t qp_num, const struct ibv_qp *qp)
{
	size_t at = start_of(context, qp_num);

	for (size_t i = 0; i < table.size; i++, at++) {
		struct row *const row = &table.row[at & (table.size - 1)];

		if (!row->context)
			break;
		if (row->qp && row->context == context && row->qp_num == qp_num &&
		    (!qp || row->qp == qp))
			return row;
	}
	return NULL;
}

static void insert(const struct row *entry)
{
	size_t at = start_of(entry->context, entry->qp_num);

	while (table.row[at & (table.size - 1)].qp)
		at++;
	table.used += !table.row[at & (table.size - 1)].context;
	table.row[at & (table.size - 1)] = *entry;
}

/* Room for one more: at most half of the rows are in use. False where memory has run out. */
static bool has_room(void)
{
	struct row *const old = table.row;
	const size_t old_size = table.size;
	size_t live = 0, size = FIRST_SIZE;
	void *more;

	if (table.used < table.size / 2)
		return true;
	for (size_t i = 0; i < old_size; i++)
		live += old[i].qp != NULL;
	while (size / 4 <= live)
		size *= 2;
	more = mmap(NULL, size * sizeof(*old), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (more == MAP_FAILED)
		return table.used + 1 < table.size;
	table.row = more;
	table.size = size;
	table.used = 0;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].qp)
			insert(&old[i]);
	if (old)
		munmap(old, old_size * sizeof(*old));
	return true;
}

void explain_qp_made(struct ibv_qp *qp)
{
	const struct row entry = {.context = qp->context, .qp = qp, .qp_num = qp->qp_num};

	explain_lock();
	/* One verb may be reached through another that is wrapped. */
	if (!find(qp->context, qp->qp_num, qp) && has_room())
		insert(&entry);
	explain_unlock();
}

void explain_qp_renumbered(struct ibv_qp *qp, uint32_t old_qp_num)
{
	struct row entry, *row;

	explain_lock();
	row = find(qp->context, old_qp_num, qp);
	if (row && has_room()) {
		row = find(qp->context, old_qp_num, qp); /* the table may have grown */
		entry = *row;
		entry.qp_num = qp->qp_num;
		row->qp = NULL;
		insert(&entry);
	}
	explain_unlock();
}

/* One that ended in ERR is counted when it fails, since the program may end without destroying it. */
static void count_error(int more)
{
	if (explain_process)
		atomic_fetch_add(&explain_process->qp_errors, (unsigned int)more);
}

/* Whether the device says that a queue pair is in ERR; where it does not answer, it is what was seen of it. */
static bool is_in_error(struct ibv_qp *qp)
{
	const enum ibv_qp_state state = qp->state;
	const int saved_errno = errno;
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;
	bool is;

	memset(&attr, 0, sizeof(attr));
	is = REAL(ibv_query_qp)(qp, &attr, IBV_QP_STATE, &init_attr) ||
	     attr.qp_state == IBV_QPS_ERR;
	explain_keep_state(qp, state);
	errno = saved_errno;
	return is;
}

void explain_qp_gone(struct ibv_qp *qp)
{
	bool has_failed = false;
	struct row *row;
	int cancel;

	/* A thread that was cancelled in the wait would keep the lock. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	explain_lock();
	/* The table may grow while this waits. */
	while ((row = find(qp->context, qp->qp_num, qp)) && row->held)
		wait_for_release();
	if (row) {
		has_failed = row->has_failed;
		row->qp = NULL;
	}
	explain_unlock();
	pthread_setcancelstate(cancel, NULL);
	if (has_failed && !is_in_error(qp))
		count_error(-1);
}

void explain_qps_gone(const struct ibv_context *context)
{
	explain_lock();
	for (size_t i = 0; i < table.size; i++)
		if (table.row[i].context == context)
			table.row[i].qp = NULL;
	explain_unlock();
}

void explain_qp_failed(const struct ibv_context *context, uint32_t qp_num)
{
	struct row *row;

	explain_lock();
	row = find(context, qp_num, NULL);
	if (row && !row->has_failed) {
		row->has_failed = true;
		count_error(1);
	}
	explain_unlock();
}

void explain_qp_reset(const struct ibv_qp *qp)
{
	struct row *row;

	explain_lock();
	row = find(qp->context, qp->qp_num, qp);
	if (row && row->has_failed) {
		row->has_failed = false;
		count_error(-1);
	}
	explain_unlock();
}

unsigned int explain_qp_mark(const struct ibv_context *context, uint32_t qp_num, unsigned int marks)
{
	unsigned int before = EXPLAIN_QP_GONE;
	struct row *row;

	explain_lock();
	row = find(context, qp_num, NULL);
	if (row) {
		before = row->marks;
		row->marks |= (uint8_t)marks;
	}
	explain_unlock();
	return before;
}

void explain_qp_excuse(const struct ibv_qp *qp)
{
	if (qp)
		explain_qp_mark(qp->context, qp->qp_num, EXPLAIN_QP_EXCUSED);
}

void explain_qp_renew(const struct ibv_qp *qp)
{
	struct row *row;

	explain_lock();
	row = find(qp->context, qp->qp_num, qp);
	if (row)
		row->marks = 0;
	explain_unlock();
}

struct ibv_qp *explain_qp_hold(const struct ibv_context *context, uint32_t qp_num)
{
	struct ibv_qp *qp = NULL;
	struct row *row;

	explain_lock();
	row = find(context, qp_num, NULL);
	if (row) {
		row->held++;
		qp = row->qp;
	}
	explain_unlock();
	return qp;
}

uint32_t explain_qp_of_cq(const struct ibv_cq *cq)
{
	uint32_t qp_num = 0;
	unsigned int count = 0;

	explain_lock();
	for (size_t i = 0; i < table.size; i++) {
		const struct ibv_qp *const qp = table.row[i].qp;

		if (qp && (qp->send_cq == cq || qp->recv_cq == cq)) {
			qp_num = qp->qp_num;
			count++;
		}
	}
	explain_unlock();
	return count == 1 ? qp_num : 0;
}

void explain_qp_release(struct ibv_qp *qp)
{
	struct row *row;

	explain_lock();
	row = find(qp->context, qp->qp_num, qp);
	if (row && row->held)
		row->held--;
	pthread_cond_broadcast(&explain_locks()->released);
	explain_unlock();
}
