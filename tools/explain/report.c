/* SPDX-License-Identifier: MIT */
/* Begins an explanation, and writes it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "explain.h"

__thread struct explain_thread explain_thread;
struct explain_process *explain_process;
const struct explain_options *explain_options;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rdmaez_diag diag;
static char text[8192];

__attribute__((__constructor__)) static void attach(void)
{
	const char *path = getenv(EXPLAIN_ENVIRONMENT);
	const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	struct explain_share *share;

	if (file < 0)
		return;
	share = mmap(NULL, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (share == MAP_FAILED)
		return;
	if (share->magic != EXPLAIN_MAGIC || share->size != sizeof(*share)) {
		munmap(share, sizeof(*share));
		return;
	}
	explain_options = &share->options;
	for (int i = 0; i < EXPLAIN_PROCESSES; i++) {
		int none = 0;

		if (atomic_compare_exchange_strong(&share->process[i].pid, &none, getpid())) {
			explain_process = &share->process[i];
			break;
		}
	}
}

void explain_enter(void)
{
	explain_thread.depth++;
}

bool explain_replayed(const struct explain_call *call, int *result)
{
	if (explain_thread.replay != call->verb)
		return false;
	explain_thread.replay = NULL;
	errno = explain_thread.error;
	*result = (int)explain_thread.result;
	return true;
}

bool explain_replayed_null(const struct explain_call *call)
{
	int result;

	return explain_replayed(call, &result);
}

bool explain_begin(struct explain_call *call)
{
	if (explain_thread.depth || explain_thread.explaining || !explain_options)
		return false;
	call->saved_errno = errno;
	if (!(explain_options->kinds & 1u << call->kind))
		return false;
	pthread_mutex_lock(&lock);
	explain_thread.explaining = true;
	memset(&diag, 0, sizeof(diag));
	call->diag = &diag;
	return true;
}

static bool left(struct explain_call *call, intptr_t result)
{
	const int error = errno;

	if (!explain_begin(call))
		return false;
	explain_thread.replay = call->verb;
	explain_thread.result = result;
	explain_thread.error = error;
	return true;
}

bool explain_leave(struct explain_call *call, int result)
{
	explain_thread.depth--;
	return EXPLAIN_RARE(result) && left(call, result);
}

bool explain_leave_null(struct explain_call *call, const void *result)
{
	explain_thread.depth--;
	return EXPLAIN_RARE(!result) && left(call, 0);
}

static void write_all(const char *from, size_t size)
{
	while (size) {
		const ssize_t written = write(STDERR_FILENO, from, size);

		if (written <= 0)
			return;
		from += written;
		size -= (size_t)written;
	}
}

void explain_end(struct explain_call *call)
{
	int length =
		snprintf(text, sizeof(text), "rdmaez-explain: %s[%d]: %s at %p\n",
			 program_invocation_short_name, (int)getpid(), call->verb, call->caller);

	rdmaez_diag_format(call->diag, text + length, sizeof(text) - (size_t)length);
	write_all(text, strlen(text));
	if (explain_process)
		atomic_fetch_add(&explain_process->findings[call->kind], 1);
	explain_drop(call);
}

void explain_say(struct explain_call *call, const struct explain_text *said)
{
	int length = snprintf(text, sizeof(text), "rdmaez-explain: %s[%d]: %s at %p\n%s.\n",
			      program_invocation_short_name, (int)getpid(), call->verb,
			      call->caller, said->title);

	for (unsigned int i = 0; i < said->count && length < (int)sizeof(text); i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   "  %s: %s. Next: %s.\n", said->finding[i].field,
				   said->finding[i].what, said->finding[i].next);
	write_all(text, strlen(text));
	explain_drop(call);
}

void explain_drop(struct explain_call *call)
{
	explain_thread.replay = NULL;
	explain_thread.explaining = false;
	pthread_mutex_unlock(&lock);
	errno = call->saved_errno;
}

void explain_probe_gone(const void *object)
{
	(void)object;
}
