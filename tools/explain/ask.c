/* SPDX-License-Identifier: MIT */
/* For a debugger, which has stopped the program: what the program waits for, as the launcher says it. */
#include <signal.h>

#include "attach.h"
#include "explain.h"

/* `call (int)rdmaez_explain_waiting()`. It takes no lock, as the program may have been stopped anywhere. */
EXPORT int rdmaez_explain_waiting(void);

/* 0: rdmaez-explain says it on its stderr, at once. An errno value: EOPNOTSUPP without --waiting; ESRCH: it has ended. */
EXPORT int rdmaez_explain_waiting(void)
{
	const int saved_errno = errno;
	int error = 0;

	if (!explain_options || !explain_options->waiting || !explain_options->asking)
		return EOPNOTSUPP;
	if (!explain_attached(explain_options))
		error = ESRCH;
	else if (kill(explain_options->share.process, explain_options->asking))
		error = errno;
	errno = saved_errno;
	return error;
}
