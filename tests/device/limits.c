/* SPDX-License-Identifier: MIT */
/*
 * A device is opened, a queue pair is connected to itself and sends, where the kernel grants less and less: address
 * space, locked memory, or descriptors. Each attempt either works, or is refused with an errno value and a reason; and
 * whatever was refused, nothing of it stays.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"

#define LONG_NS ((uint64_t)RIG_SECONDS * 1000000000u)

enum {
	BUFFER = 1 << 16
};

static uint8_t buffer[BUFFER] __attribute__((aligned(4096)));

/* All of it; 0, or the errno value. */
static int attempt(struct rdmaez_diag *diag)
{
	const struct rdmaez_simple_opts opts = {.flags = RDMAEZ_SIMPLE_CHANNEL,
						.buffer = buffer,
						.length = sizeof(buffer),
						.access = IBV_ACCESS_LOCAL_WRITE |
							  IBV_ACCESS_REMOTE_WRITE,
						.recvs = 4,
						.sends = 4};
	const struct rdmaez_qp_opts how = {.access = IBV_ACCESS_REMOTE_WRITE};
	struct rdmaez_simple it;
	struct rdmaez_remote remote = {.addr = (uintptr_t)buffer, .length = sizeof(buffer)};
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc;
	struct rdmaez_wc_batch batch = {.wc = &wc, .capacity = 1, .want = 1};
	int error = rdmaez_simple_open(NULL, &opts, &it, diag), closed;

	if (error)
		return error;
	remote.rkey = it.mr->rkey;
	error = rdmaez_qp_connect_loopback(it.qp, it.qp, &how, diag);
	if (!error)
		error = rdmaez_mr_sge(it.mr, buffer, 8, &sge, diag);
	if (!error)
		error = rdmaez_wr_write(&wr, &sge, &remote, 8, diag);
	if (!error)
		error = rdmaez_wr_post_send(it.qp, &wr, NULL, diag);
	if (!error)
		error = rdmaez_cq_wait(it.send_cq, it.qp, &batch, LONG_NS, diag);
	closed = rdmaez_simple_close(&it, error ? NULL : diag);
	return error ? error : closed;
}

static int descriptors(void)
{
	DIR *const all = opendir("/proc/self/fd");
	int count = -1; /* without the one that counts */

	if (!all)
		tap_bail("/proc/self/fd: %s", strerror(errno));
	for (const struct dirent *each = readdir(all); each; each = readdir(all))
		count += each->d_name[0] != '.';
	closedir(all);
	return count;
}

/* The kernel's objects of RDMA devices that belong to this process. */
static int objects(void)
{
	char command[256];
	FILE *said;
	int count = -1;

	snprintf(command, sizeof(command),
		 "for kind in pd cq qp mr; do rdma resource show $kind; done | grep -c 'pid %d '",
		 (int)getpid());
	said = popen(command, "r");
	if (!said || fscanf(said, "%d", &count) != 1)
		tap_bail("rdma resource: %s", strerror(errno));
	pclose(said);
	return count;
}

static rlim_t pages(void)
{
	FILE *const from = fopen("/proc/self/statm", "r");
	unsigned long all = 0;

	if (!from || fscanf(from, "%lu", &all) != 1)
		tap_bail("/proc/self/statm");
	fclose(from);
	return all * 4096;
}

/* Attempts with more and more of a resource, until it works three times. */
static void with_more(const char *name, enum __rlimit_resource which, rlim_t from, rlim_t step)
{
	struct rlimit all;
	struct rdmaez_diag diag;
	const int open_before = descriptors();
	int refused = 0, unexplained = 0, left = 0, worked = 0;

	getrlimit(which, &all);
	for (rlim_t most = from; worked < 3; most += step) {
		const struct rlimit limit = {most, all.rlim_max};
		int error;

		if (setrlimit(which, &limit))
			tap_bail("setrlimit: %s", strerror(errno));
		memset(&diag, 0, sizeof(diag));
		error = attempt(&diag);
		setrlimit(which, &all);
		worked = error ? 0 : worked + 1;
		refused += error != 0;
		if (error && (!diag.count || diag.error != error || !diag.verb[0])) {
			char text[2048];

			rdmaez_diag_format(&diag, text, sizeof(text));
			tap_diag("%s of %llu: %d: %s", name, (unsigned long long)most, error, text);
			unexplained++;
		}
		left += objects() != 0 || descriptors() != open_before;
		if (refused > 2000)
			tap_bail("%s: it never works", name);
	}
	tap_ok(refused > 0, "%s: %d attempts have too little", name, refused);
	tap_eq_int(unexplained, 0, "%s: each has a reason", name);
	tap_eq_int(left, 0, "%s: no object and no descriptor stays", name);
}

/* CAP_IPC_LOCK, which has no limit, is not for everybody. */
static void lock_no_memory(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		tap_bail("capget: %s", strerror(errno));
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &header, data))
		tap_bail("capset: %s", strerror(errno));
}

int main(void)
{
	struct rdmaez_diag diag;

	/* What is loaded and allocated once is there afterwards. */
	rdmaez_diag_need(attempt(&diag), &diag);
	with_more("descriptors", RLIMIT_NOFILE, (rlim_t)descriptors() + 1, 1);
	with_more("address space", RLIMIT_AS, pages(), 4096);
	lock_no_memory();
	with_more("locked memory", RLIMIT_MEMLOCK, 0, 4096);
	return tap_done();
}
