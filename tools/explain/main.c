/* SPDX-License-Identifier: MIT */
/* rdmaez-explain: runs a command with the shared object in front of libibverbs and librdmacm. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "share.h"

static struct explain_share *share_new(char path[])
{
	const int file = mkostemp(path, O_CLOEXEC);
	struct explain_share *share = MAP_FAILED;

	if (file >= 0 && !ftruncate(file, sizeof(*share)))
		share = mmap(NULL, sizeof(*share), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (share == MAP_FAILED) {
		perror("rdmaez-explain");
		exit(125);
	}
	close(file);
	share->magic = EXPLAIN_MAGIC;
	share->size = sizeof(*share);
	share->options.kinds = ~(1u << EXPLAIN_QUERY | 1u << EXPLAIN_ADVICE);
	return share;
}

int main(int argc, char *argv[])
{
	char path[] = "/tmp/rdmaez-explain-XXXXXX", object[4096];
	int status;
	ssize_t length = readlink("/proc/self/exe", object, sizeof(object) - 4);

	if (argc < 2 || length < 0)
		return 2;
	memcpy(object + length, ".so", 4);
	share_new(path);
	const pid_t child = fork();

	if (!child) {
		setenv(EXPLAIN_ENVIRONMENT, path, 1);
		setenv("LD_PRELOAD", object, 1);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(errno == ENOENT ? 127 : 126);
	}
	waitpid(child, &status, 0);
	unlink(path);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
