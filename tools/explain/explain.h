/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the shared object have in common.
 *
 * A wrapped verb first calls the real one and keeps its result. Only if that was refused does it let the headers
 * explain: it calls the rdmaez function of the same job, and the verb that this function calls in turn is answered
 * with the result that is there already. So nothing is asked of the device twice, and every sentence is the headers'.
 *
 *	EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
 *	{
 *		struct explain_call call = EXPLAIN_CALL(ibv_modify_qp, EXPLAIN_REFUSAL);
 *		int result;
 *
 *		if (explain_replayed(&call, &result))
 *			return result;
 *		explain_enter();
 *		result = REAL(ibv_modify_qp)(qp, attr, attr_mask);
 *		if (explain_leave(&call, result)) {
 *			rdmaez_qp_modify(qp, attr, attr_mask, call.diag);
 *			explain_end(&call);
 *		}
 *		return result;
 *	}
 */
#ifndef RDMAEZ_EXPLAIN_H
#define RDMAEZ_EXPLAIN_H

#include <pthread.h>
#include <signal.h>

#include <rdmaez.h>

#include "share.h"

#define EXPORT                  __attribute__((__visibility__("default")))
#define EXPLAIN_RARE(condition) __builtin_expect(!!(condition), 0)

/* ---- The calling thread (report.c) ----------------------------------------------------------- */

/* A call of the program, or what it has just received. */
struct explain_call {
	/* as the program calls it; the literal of one wrapper, which a replay is recognised by */
	const char *verb;
	const void *caller; /* an address in the program */
	enum explain_kind kind;
	/* for the headers to fill, between explain_begin() and explain_end() */
	struct rdmaez_diag *diag;
	int error;       /* a positive errno value; 0: not known yet */
	bool creates;    /* what it makes may be a probe */
	int opener;      /* the process that opened the device, if that is another one; else 0 */
	int saved_errno; /* the program's */
};

#define EXPLAIN_CALL(name, of_kind) \
	{.verb = #name, .caller = __builtin_return_address(0), .kind = (of_kind)}

/* A call of librdmacm, which calls verbs in turn: what explains one of them waits here, and the call tells of it. */
struct explain_outer {
	bool has_diag;
	unsigned int refused; /* verbs within it */
	struct rdmaez_diag diag;
};

struct explain_thread {
	/* wrapped verbs that the thread is in: librdmacm, libibverbs and providers call them, too */
	unsigned int depth;
	uintptr_t frame; /* the stack of the outermost one */
	/* the outermost call of librdmacm that the thread is in, or NULL */
	struct explain_outer *outer;
	bool explaining;    /* the headers are asking: verbs pass straight through */
	const char *replay; /* the verb that is to be answered with `result` and `error`, once */
	intptr_t result;
	int error;
	uint32_t
		doing; /* the version of explain_process->doing that is this thread's call; 0: none */
};
extern __thread struct explain_thread explain_thread __attribute__((__tls_model__("initial-exec")));

/*
 * Before a call looks at its object, which may be gone: the launcher tells of it, if a signal ends the process in it.
 * `object` NULL: it is about to be made.
 */
void explain_does(const char *verb, enum explain_object kind, const void *object);
/* The same, which the thread has not noted yet. */
void explain_does_new(const char *verb);
/* It is this queue pair, or that of a number. */
void explain_does_qp(uint32_t qp_num);

/* Whether this is the verb of an explanation, which gets the result that is there already. */
bool explain_replayed(const struct explain_call *call, int *result);
bool explain_replayed_null(const struct explain_call *call);

/* Around the real verb. The second is true if it was refused and that is to be explained: explain_end() must follow. */
void explain_enter(void);
void explain_exit(void); /* only the opposite of explain_enter() */
bool explain_leave(struct explain_call *call, int result);
bool explain_leave_null(struct explain_call *call, const void *result);

/* The same for what is no verb's result, such as a completion: true if it is to be explained. */
bool explain_begin(struct explain_call *call);

/* Whether the headers can be asked in this thread (room.c). */
bool explain_has_room(void);

/* Writes what call->diag holds, and gives the thread back to the program as it was. */
void explain_end(struct explain_call *call);

/* A finding for which the headers have no record, such as rdma_cm's: its first line, then as rdmaez_diag_format(). */
struct explain_text {
	const char *title; /* a sentence without its full stop: "rdma_connect failed with EINVAL" */
	const char *label; /* what the summary counts it by: "rdma_connect EINVAL" */
	int error;         /* a positive errno value, or 0 */
	const char *event; /* the event's name, a literal; NULL: it is a call that failed */
	int status;        /* the event's */
	const char *device;
	unsigned int count;
	struct explain_finding {
		enum rdmaez_severity severity;
		const char *reason; /* a stable id in capitals: "CM_REJECTED_NO_LISTENER" */
		const char *field;
		const char *what, *next; /* sentences without their full stops */
	} finding[4];
};

/* In place of explain_end(): after explain_begin(), or after explain_leave() was true. Nothing of it is kept. */
void explain_say(struct explain_call *call, const struct explain_text *text);
/* In place of either: there was nothing to say. */
void explain_drop(struct explain_call *call);

/*
 * A program's probe is no finding. What explain_leave_null() sees refused is held back, and forgotten if the same verb
 * succeeds at the same place within a second; or, if it is one to search by, did so before with an object that is gone
 * again. Called for each object that is destroyed (explain_destroyed() does).
 */
void explain_probe_gone(const void *object);
/* The same for what is no verb: it succeeded with this object; it was refused, and only counted if that was a probe. */
void explain_tried(const struct explain_call *call, const void *object);
bool explain_is_probe(struct explain_call *call, int error);

/* ---- The real functions (real.c) --------------------------------------------------------------- */

/* Those of the library that the caller uses, however it was loaded. NULL: it has none of this name. */
void *explain_real(const char *name, const void *caller);
/* The C library's, or what else stands behind this object. */
void *explain_next(const char *name);

/* How many libibverbs the process has; counted when a function is looked up. */
extern _Atomic unsigned int explain_copies;

/* The function that a wrapper stands for; looked up once, or for each caller where there are two libraries. */
#define REAL(name)                                                                   \
	(__extension__({                                                             \
		static _Atomic(void *) real_;                                        \
		void *found_ = atomic_load_explicit(&real_, memory_order_relaxed);   \
		if (EXPLAIN_RARE(!found_ || explain_copies > 1)) {                   \
			found_ = explain_real(#name, __builtin_return_address(0));   \
			atomic_store_explicit(&real_, found_, memory_order_relaxed); \
		}                                                                    \
		(__typeof__(&(name)))found_;                                         \
	}))

/* ---- The program's objects (objects.c) ----------------------------------------------------------- */

/*
 * Counts them. Those of a library that the program uses are not its own: with explain_thread.depth, what librdmacm
 * makes and destroys is left out.
 */
void explain_made(enum explain_object kind, const void *object);
/* A path that the program has chosen, and the kernel has taken. */
void explain_has_path(const struct ibv_context *context, const struct ibv_ah_attr *path);
void explain_destroyed(enum explain_object kind, const void *object);

/* An object is there from now on, or has been destroyed: see explain_does(). */
void explain_is_made(const void *object);
void explain_is_gone(const void *object);

/* Every queue pair, whoever made it, is known from its creation to the call that destroys it. */
void explain_qp_made(struct ibv_qp *qp);
void explain_qp_gone(struct ibv_qp *qp);
/* It had this number until now. */
void explain_qp_renumbered(struct ibv_qp *qp, uint32_t old_qp_num);
void explain_qps_gone(const struct ibv_context *context);
/* A completion or an event has told of an error: unless it is reset it has ended in ERR. */
void explain_qp_failed(const struct ibv_context *context, uint32_t qp_num);
void explain_qp_reset(const struct ibv_qp *qp);

/* A queue pair stays what it is until explain_qp_release(): its destruction waits. NULL: not known. */
struct ibv_qp *explain_qp_hold(const struct ibv_context *context, uint32_t qp_num);
void explain_qp_release(struct ibv_qp *qp);
/* The number of the only queue pair that completes into this queue; 0: there are several, or none. */
uint32_t explain_qp_of_cq(const struct ibv_cq *cq);

/*
 * What guards the tables of queue pairs, of contexts and of extended queues, over fork() too; for a few instructions,
 * and nothing else is locked meanwhile. No handler of the program's runs between the two: it could leave by longjmp().
 */
void explain_lock(void);
void explain_unlock(void);

/* ---- Locks and processes (locks.c) --------------------------------------------------------------- */

/* What a new process finds as it was at first, however it was made: other threads may have had the locks. */
struct explain_locks {
	pthread_mutex_t findings; /* report.c */
	pthread_mutex_t tables;   /* objects.c */
	pthread_cond_t released;
	bool is_known; /* the process: it was told by fork(), or has noticed */
};
struct explain_locks *explain_locks(void);

/*
 * This process was made by clone() while its parent had threads, as far as anybody knows. One of them may have been in
 * the dynamic linker, whose lock nobody would release here.
 */
extern bool explain_is_clone;
/* Whether that has just been found out. With the tables locked. */
bool explain_locks_notice(void);
/* The same from outside: what is kept here of the parent's is put right. */
void explain_notice_clone(void);
/* In report.c: what was of the parent's threads. */
void explain_forget_threads(void);
/* In the child of a fork(). */
void explain_locks_renew(void);

/*
 * What the headers ask refreshes the state in struct ibv_qp, which then is as the program had it. Another thread may read
 * it, or move the queue pair, so it is written only if it must be.
 */
static inline void explain_keep_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	if (EXPLAIN_RARE(qp->state != state))
		qp->state = state;
}

/* Between the two no handler of the program's runs in this thread. Faults are the program's all the same. */
void explain_block_signals(sigset_t *was);
void explain_restore_signals(const sigset_t *was);

/* What is known of a queue pair whose completions fail. */
enum explain_qp_marks {
	EXPLAIN_QP_FAILED = 1 << 0,  /* one of them was explained that is no flush */
	EXPLAIN_QP_FLUSHED = 1 << 1, /* a flush has been seen */
	EXPLAIN_QP_EXCUSED = 1 << 2, /* flushes are to be expected */
	EXPLAIN_QP_GONE = 1 << 3     /* it is not known, or not any more */
};

/* Adds marks, and returns those there were. */
unsigned int explain_qp_mark(const struct ibv_context *context, uint32_t qp_num,
			     unsigned int marks);
/*
 * From now on its flushes are only counted. Before the program's own ibv_modify_qp() to ERR or RESET and before
 * ibv_destroy_qp(), since another thread may poll meanwhile; and when librdmacm tells that the peer has disconnected.
 */
void explain_qp_excuse(const struct ibv_qp *qp);
/* It was moved to RTR: what went wrong before is forgotten. */
void explain_qp_renew(const struct ibv_qp *qp);

/* ---- Inline verbs (context.c, data.c) -------------------------------------------------------------- */

/* Puts the functions of data.c and verbs.c into the context's tables; whatever way the program got the context. */
void explain_wrap_context(struct ibv_context *context);
/* The process that opened it, if that is not this one: it is a child. 0: this one, or nobody knows. */
int explain_opener(const struct ibv_context *context);
void explain_unwrap_context(struct ibv_context *context);
/* Completions that ibv_poll_cq() has just given to the program, of which the first failed. */
void explain_completions(struct ibv_cq *cq, const struct ibv_wc *wc, int count, const void *caller);

/* What this process shares with the launcher (report.c); NULL outside of it. */
extern struct explain_process *_Atomic explain_process;
/* After a device was opened: its name, its provider, which has this function, and other libraries of RDMA, for the launcher. */
void explain_note_libraries(const char *device, uintptr_t function);
extern const struct explain_options *explain_options;
extern char explain_name[16]; /* without what a line or JSON could not hold */
/* From the first verb on, the process has its place there. */
void explain_join(void);
/* A process, which this one waited for, has ended: the launcher tells of it. `status` as waitpid() has it. */
void explain_note_end(int pid, int status);

#endif
