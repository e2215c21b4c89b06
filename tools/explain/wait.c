/* SPDX-License-Identifier: MIT */
/*
 * How a process ends only its parent is told, and the launcher is the parent of one of them alone. So this stands in
 * front of the functions by which parents ask, and notes what they are answered. They are called in handlers of
 * signals and between vfork() and execve(), too, so nothing here takes a lock or allocates memory.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "explain.h"

#define WAITS(X) X(wait) X(waitpid) X(wait3) X(wait4) X(waitid)

static struct {
#define MEMBER(name) _Atomic(void *) name;
	WAITS(MEMBER)
#undef MEMBER
} real;

__attribute__((__constructor__(102))) static void begin(void)
{
#define FIND(name) real.name = explain_next(#name);
	WAITS(FIND)
#undef FIND
}

/* Other objects' constructors may come first. */
#define REAL_WAIT(name)                                    \
	(__extension__({                                   \
		if (EXPLAIN_RARE(!real.name))              \
			begin();                           \
		(__typeof__(&(name)))(uintptr_t)real.name; \
	}))

static pid_t noted(pid_t pid, int status)
{
	if (pid > 0 && (WIFEXITED(status) || WIFSIGNALED(status)))
		explain_note_end(pid, status);
	return pid;
}

EXPORT pid_t wait(int *status)
{
	int its;
	const pid_t pid = REAL_WAIT(wait)(status ? status : &its);

	return noted(pid, pid <= 0 ? 0 : status ? *status : its);
}

EXPORT pid_t waitpid(pid_t which, int *status, int options)
{
	int its;
	const pid_t pid = REAL_WAIT(waitpid)(which, status ? status : &its, options);

	return noted(pid, pid <= 0 ? 0 : status ? *status : its);
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	int its;
	const pid_t pid = REAL_WAIT(wait3)(status ? status : &its, options, usage);

	return noted(pid, pid <= 0 ? 0 : status ? *status : its);
}

EXPORT pid_t wait4(pid_t which, int *status, int options, struct rusage *usage)
{
	int its;
	const pid_t pid = REAL_WAIT(wait4)(which, status ? status : &its, options, usage);

	return noted(pid, pid <= 0 ? 0 : status ? *status : its);
}

EXPORT int waitid(idtype_t type, id_t which, siginfo_t *info, int options)
{
	siginfo_t its = {0}, *const to = info ? info : &its;
	const int result = REAL_WAIT(waitid)(type, which, to, options);

	/* As the others have it. */
	if (!result && to->si_signo == SIGCHLD && to->si_code == CLD_EXITED)
		noted(to->si_pid, (to->si_status & 0xff) << 8);
	if (!result && to->si_signo == SIGCHLD &&
	    (to->si_code == CLD_KILLED || to->si_code == CLD_DUMPED))
		noted(to->si_pid, to->si_status & 0x7f);
	return result;
}
