/* SPDX-License-Identifier: MIT */
/* How a process of the command finds what the launcher shares with it, and what makes it believe that it is that. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "rows.h"

#include <rdmaez/impl/seam.h>

enum {
	UNCHANGED = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW
};

/*
 * A descriptor of another process, whose process id may be a stranger's by now. So it is looked at before it is opened,
 * which could wait, or do something to a device; and it must be a file in memory of this user's that nobody can shorten.
 * Negative: errno tells why not.
 */
static int open_memory(const struct explain_memory *memory, size_t size, int seals, int how)
{
	char path[64];
	struct stat is;
	int found, file = -1;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", memory->process, memory->descriptor);
	found = open(path, O_PATH | O_CLOEXEC);
	if (found < 0)
		return -1;
	errno = EBADF;
	if (!fstat(found, &is) && S_ISREG(is.st_mode) && is.st_uid == geteuid() &&
	    is.st_ino == memory->inode && is.st_size == (off_t)size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
		file = open(path, how | O_CLOEXEC);
	}
	close(found);
	if (file >= 0 && (fcntl(file, F_GET_SEALS) & seals) != seals) {
		close(file);
		errno = EBADF;
		return -1;
	}
	return file;
}

static bool read_options(const struct explain_memory *memory, struct explain_options *options)
{
	const int file = open_memory(memory, sizeof(*options), UNCHANGED | F_SEAL_WRITE, O_RDONLY);
	ssize_t length;

	if (file < 0)
		return false;
	length = read(file, options, sizeof(*options));
	close(file);
	if (length == (ssize_t)sizeof(*options) && options->magic == EXPLAIN_MAGIC)
		return true;
	errno = EBADF;
	return false;
}

static void *map_memory(const struct explain_memory *memory, size_t size)
{
	const int file = open_memory(memory, size, UNCHANGED, O_RDWR);
	void *map;

	if (file < 0)
		return NULL;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	return map == MAP_FAILED ? NULL : map;
}

/* In one write, whatever stderr is; and a reader that has gone must not end the program. */
static void complain(int error)
{
	const struct timespec now = {0};
	sigset_t pipe_only, was, pending;
	char line[256], name[64];
	int length;

	rdmaez_impl_plain(program_invocation_short_name, SIZE_MAX, name, sizeof(name));
	length = snprintf(
		line, sizeof(line), "rdmaez-explain: %s[%d]: its verbs are not explained: %s\n",
		name, (int)getpid(),
		error == EACCES || error == EPERM ? "it has other rights than rdmaez-explain"
		: error == EBADF                  ? "what " EXPLAIN_ENVIRONMENT
				   " names is not rdmaez-explain's, or another version's"
				 : strerror(error));
	if (length >= (int)sizeof(line))
		length = sizeof(line) - 1;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &was);
	sigpending(&pending);
	if (write(STDERR_FILENO, line, (size_t)length) < 0 && errno == EPIPE &&
	    !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe_only, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

struct explain_share *explain_attach(struct explain_options *options)
{
	const char *const named = secure_getenv(EXPLAIN_ENVIRONMENT);
	struct explain_share *share = NULL;
	struct explain_memory memory;
	const int saved_errno = errno;

	if (!named)
		return NULL;
	errno = EBADF;
	if (sscanf(named, EXPLAIN_MEMORY_SCAN, &memory.process, &memory.descriptor,
		   &memory.inode) == 3 &&
	    read_options(&memory, options))
		share = map_memory(&options->share, sizeof(*share));
	/* Where the launcher has ended, or is not in sight, nobody waits for an explanation. */
	if (!share && errno != ENOENT && errno != ESRCH) {
		complain(errno);
		/* Once: what this program executes has no more rights than it has. */
		unsetenv(EXPLAIN_ENVIRONMENT);
	}
	errno = saved_errno;
	return share;
}

bool explain_attached(const struct explain_options *options)
{
	const int file =
		open_memory(&options->share, sizeof(struct explain_share), UNCHANGED, O_RDONLY);

	if (file >= 0)
		close(file);
	return file >= 0;
}

struct explain_rows *explain_attach_rows(const struct explain_options *options)
{
	const int saved_errno = errno;
	struct explain_rows *rows = NULL;

	if (options->rows.inode)
		rows = map_memory(&options->rows, sizeof(*rows));
	errno = saved_errno;
	return rows;
}
