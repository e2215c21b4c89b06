/* SPDX-License-Identifier: MIT */
/* With --waiting or --json: keeps what is made, posted, polled and waited for. Without, nothing here does anything. */
#ifndef RDMAEZ_EXPLAIN_WATCH_H
#define RDMAEZ_EXPLAIN_WATCH_H

#include "explain.h"
#include "rows.h"

/* Never changes once the process has begun. */
extern bool explain_watching;

void explain_watch_begin(struct explain_rows *rows);
/* In a new process: what its parent kept is the parent's. */
void explain_watch_forget(void);

/* ---- Objects ------------------------------------------------------------------------------------- */

void explain_watch_qp(struct ibv_qp *qp, bool sig_all, const struct ibv_qp_cap *cap);
void explain_watch_cq(const struct ibv_cq *cq, bool is_extended);
void explain_watch_srq(const struct ibv_srq *srq);
/* `iova`: what requests name its first byte by. */
void explain_watch_mr(const struct ibv_mr *mr, unsigned int access, uint64_t iova);
/* After ibv_rereg_mr(), which was called at `since`: what it returned, and the errno value. */
uint64_t explain_watch_now(void);
void explain_watch_rereg(const struct ibv_mr *mr, int flags, unsigned int access, uint64_t since,
			 int result, int error);
void explain_watch_ah(const struct ibv_ah *ah, const struct ibv_ah_attr *attr);
void explain_watch_ah_from_wc(const struct ibv_ah *ah, struct ibv_wc *wc, struct ibv_grh *grh,
			      uint8_t port);
/* It was accepted by ibv_modify_qp(). */
void explain_watch_moved(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask);
/* From now on somebody writes or reads the queue without verbs; any may be NULL. */
void explain_watch_direct(const struct ibv_qp *qp, const struct ibv_cq *cq);

/* Before it is destroyed: the number is for the call that follows, and for the end. 0: it is not watched. */
unsigned int explain_watch_leave_qp(const struct ibv_qp *qp);
unsigned int explain_watch_leave_cq(const struct ibv_cq *cq);
unsigned int explain_watch_leave_srq(const struct ibv_srq *srq);
unsigned int explain_watch_leave_mr(const struct ibv_mr *mr);
unsigned int explain_watch_leave_ah(const struct ibv_ah *ah);
void explain_watch_left_qp(unsigned int at, struct ibv_qp *qp, int result);
void explain_watch_left_cq(unsigned int at, const struct ibv_cq *cq, int result);
void explain_watch_left_srq(unsigned int at, const struct ibv_srq *srq, int result);
void explain_watch_left_mr(unsigned int at, int result);
void explain_watch_left_ah(unsigned int at, int result);

/* ---- The data path --------------------------------------------------------------------------------- */

/* Around a post: what the launcher tells if a signal ends the process in it. The second takes what the first returns. */
static inline struct explain_process *explain_watch_posts(uint32_t posts)
{
	struct explain_process *const process =
		atomic_load_explicit(&explain_process, memory_order_relaxed);

	if (process)
		atomic_store_explicit(&process->posts, posts, memory_order_relaxed);
	return process;
}

static inline void explain_watch_posted(struct explain_process *process)
{
	if (process)
		atomic_store_explicit(&process->posts, 0, memory_order_relaxed);
}

void explain_watch_sent(const struct ibv_qp *qp, const struct ibv_send_wr *wr,
			const struct ibv_send_wr *bad);
void explain_watch_received(const struct ibv_qp *qp, const struct ibv_recv_wr *wr,
			    const struct ibv_recv_wr *bad);
void explain_watch_shared(const struct ibv_srq *srq, const struct ibv_recv_wr *wr,
			  const struct ibv_recv_wr *bad);
/* What was posted to the send queue with this number, and is not completed: its opcode; -1: not known, or several. */
int explain_watch_opcode(const struct ibv_qp *qp, uint64_t wr_id);
/* Whether it is known that this queue pair has never had a receive. */
bool explain_watch_no_recv(const struct ibv_qp *qp);
void explain_watch_polled(const struct ibv_cq *cq, const struct ibv_wc *wc, int asked, int got);
void explain_watch_armed(const struct ibv_cq *cq);
void explain_watch_event(const struct ibv_cq *cq);
void explain_watch_acked(const struct ibv_cq *cq, unsigned int count);

/* The extended interfaces. A request is kept when it is begun, and its data when that is known. */
void explain_watch_polled_ex(struct ibv_cq_ex *cq, int result);
void explain_watch_request(const struct ibv_qp_ex *qp, int opcode, uint32_t rkey,
			   uint64_t remote_addr);
void explain_watch_data(const struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint64_t length);
void explain_watch_datagram(const struct ibv_qp_ex *qp, const struct ibv_ah *ah, uint32_t qp_num,
			    uint32_t qkey);
void explain_watch_start(const struct ibv_qp_ex *qp);
/* What was begun since was refused, or given up. */
void explain_watch_undo(const struct ibv_qp_ex *qp);

/* ---- Calls that may wait ------------------------------------------------------------------------------ */

/* Around one, which has this frame: one within another lies deeper. A handler may leave it by longjmp(). */
struct explain_watch_call {
	uint32_t verb, of; /* of the call around it, which goes on behind this one */
	bool is_kept;
};
struct explain_watch_call explain_watch_enter(enum explain_verb verb, unsigned int of,
					      const void *frame);
void explain_watch_exit(const struct explain_watch_call *call);

#endif
