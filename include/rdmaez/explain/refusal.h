/* SPDX-License-Identifier: MIT */
/*
 * Has what explanations of refusals have in common: errno values, limits, locked memory, resources.
 */
#ifndef RDMAEZ_EXPLAIN_REFUSAL_H
#define RDMAEZ_EXPLAIN_REFUSAL_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

RDMAEZ_IMPL_BEGIN

/*
 * Returns how certain it is that a number above a limit is the cause. ENOMEM has other causes, too.
 */
RDMAEZ_IMPL_COLD enum rdmaez_severity rdmaez_impl_limit_sure(const struct rdmaez_diag *diag,
							     const struct ibv_device_attr *device,
							     unsigned int compared)
{
	return diag->error != ENOMEM && (rdmaez_driver_of(device)->compares & compared)
		       ? RDMAEZ_DIAG_ERROR
		       : RDMAEZ_DIAG_LIKELY;
}

/* A row has a number that a verb is given, and the device's limit for it. */
struct rdmaez_impl_limit {
	const char *field;
	uint8_t given; /* where it is in what was asked, a uint32_t */
	uint8_t least;
	uint8_t compared; /* RDMAEZ_DRIVER_COMPARES_ */
	bool is_int;      /* what was asked may be less than 0 */
	uint16_t most;    /* where it is in what ibv_query_device() fills, an int */
};

#define RDMAEZ_IMPL_LIMIT(prefix, attr, field, least, limit, compared)  \
	{                                                               \
		prefix #field, offsetof(struct attr, field),            \
		least,         RDMAEZ_DRIVER_COMPARES_##compared,       \
		false,         offsetof(struct ibv_device_attr, limit), \
	}

/*
 * Returns whether an errno value may mean that a number is too large. cxgb4 returns E2BIG for that.
 * EIO stands for a provider that did not set errno.
 */
RDMAEZ_IMPL bool rdmaez_impl_is_judged(int error)
{
	return error == EINVAL || error == ENOMEM || error == E2BIG || error == EIO;
}

/*
 * Compares numbers with the device's limits. A limit of 0 says nothing. A number that is too great
 * is certainly wrong if the driver compares it. Not every driver minds a zero.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_limits(struct rdmaez_diag *diag,
						 const struct rdmaez_impl_limit *limits,
						 size_t count, const void *asked,
						 const struct ibv_device_attr *device)
{
	struct rdmaez_impl_site site = {NULL, RDMAEZ_WHY_CAP_LIMIT, RDMAEZ_VALUE_NUMBER, 0, 0};
	enum rdmaez_severity sure;
	bool is_negative, is_much;
	uint32_t given;
	int most;

	for (size_t i = 0; i < count && rdmaez_impl_is_judged(diag->error); i++) {
		memcpy(&given, (const char *)asked + limits[i].given, sizeof(given));
		memcpy(&most, (const char *)device + limits[i].most, sizeof(most));
		is_negative = limits[i].is_int && given > INT32_MAX;
		is_much = most > 0 && given > (uint32_t)most;
		if (!is_much && !is_negative && given >= limits[i].least)
			continue;
		sure = is_much ? rdmaez_impl_limit_sure(diag, device, limits[i].compared)
			       : RDMAEZ_DIAG_LIKELY;
		site.field = limits[i].field;
		site.why = is_much && !is_negative ? RDMAEZ_WHY_CAP_LIMIT : RDMAEZ_WHY_RANGE;
		rdmaez_impl_find_within(diag, sure, &site,
					is_negative ? (uint64_t)(int64_t)(int32_t)given : given,
					limits[i].least, (uint64_t)(most > 0 ? most : INT32_MAX));
	}
}

/*
 * Asks what the device reports of itself, and notes its driver in the record. If it does not
 * answer, it sets no limit and lacks nothing.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_create_ask(struct ibv_context *context,
					     struct ibv_device_attr *device,
					     struct rdmaez_diag *diag)
{
	const struct rdmaez_driver *driver;

	if (rdmaez_impl_ask_device(context, device, &driver, diag))
		device->device_cap_flags = IBV_DEVICE_XRC;
}

/* Suspects the number of such objects that the device has, a field of ibv_device_attr. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_count(struct rdmaez_diag *diag, const char *limit,
						int count)
{
	const struct rdmaez_impl_site many = {limit, RDMAEZ_WHY_NO_RESOURCES, RDMAEZ_VALUE_LIMIT, 0,
					      0};

	rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &many, 0, 0, (uint64_t)count);
}

/* Explains EINVAL: perhaps no more such objects are left. Most drivers return ENOMEM for that. */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_count(struct rdmaez_diag *diag,
						const struct ibv_device_attr *device,
						const char *limit, int count)
{
	if (diag->error == EINVAL && count > 0 &&
	    (rdmaez_driver_of(device)->habits & RDMAEZ_DRIVER_HABIT_COUNT_EINVAL))
		rdmaez_impl_suspect_count(diag, limit, count);
}

/*
 * Finds an object that belongs to another context. Hardly anybody means that, though the kernel
 * only sees a number that it may not know.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_explain_context(struct rdmaez_diag *diag, const char *field,
						  const struct ibv_context *part,
						  const struct ibv_context *context)
{
	if (part != context)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CREATE_CONTEXT, field);
}

/*
 * These are the numbers of the capabilities that the kernel asks for here: CAP_NET_RAW and
 * CAP_IPC_LOCK.
 */
#define RDMAEZ_IMPL_CAP_NET_RAW  13
#define RDMAEZ_IMPL_CAP_IPC_LOCK 14

/*
 * Reads a file of the kernel's line by line. If a line is longer than the buffer, it returns only
 * the beginning.
 */
struct rdmaez_impl_lines {
	int fd;            /* -1: it could not be opened */
	unsigned int left; /* how many lines are still read, so that it ends some time */
	size_t next, end;  /* of text[]: where what was read but not returned begins and ends */
	bool is_cut;       /* the rest of a line that was cut comes next */
	char text[1024];
};

/* Returns the next line without its end, or NULL if there are no more. */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_line(struct rdmaez_impl_lines *lines)
{
	while (lines->fd >= 0 && lines->left) {
		char *const line = lines->text + lines->next;
		char *stop = (char *)memchr(line, '\n', lines->end - lines->next);
		const bool is_rest = lines->is_cut;
		ssize_t length = 1;

		if (!stop && lines->next) {
			lines->end -= lines->next;
			memmove(lines->text, line, lines->end);
			lines->next = 0;
			continue;
		}
		lines->is_cut = !stop && lines->end == sizeof(lines->text) - 1;
		if (!stop && !lines->is_cut) {
			length = read(lines->fd, lines->text + lines->end,
				      sizeof(lines->text) - 1 - lines->end);
			lines->end += length > 0 ? (size_t)length : 0;
			lines->is_cut = is_rest;
			if (length > 0)
				continue;
			if (!lines->end)
				break;
		}
		lines->next = stop ? (size_t)(stop - lines->text) + 1 : lines->end;
		*(stop ? stop : lines->text + lines->end) = '\0';
		lines->left--;
		if (!is_rest)
			return line;
	}
	return NULL;
}

RDMAEZ_IMPL_COLD void rdmaez_impl_lines_close(struct rdmaez_impl_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
}

/* glibc hides O_CLOEXEC from strict C. */
#ifdef O_CLOEXEC
#define RDMAEZ_IMPL_CLOEXEC O_CLOEXEC
#else
#define RDMAEZ_IMPL_CLOEXEC __O_CLOEXEC
#endif

RDMAEZ_IMPL_COLD void rdmaez_impl_lines_open(struct rdmaez_impl_lines *lines, const char *path)
{
	lines->fd = open(path, O_RDONLY | RDMAEZ_IMPL_CLOEXEC);
	lines->left = 1u << 22; /* smaps has 26 lines for each of 65530 mappings */
	lines->next = lines->end = 0;
	lines->is_cut = false;
}

/*
 * Returns what stands behind a name, such as "VmPin:", in the first line that begins with it, or
 * NULL if no line does.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_lines_find(struct rdmaez_impl_lines *lines,
						    const char *path, const char *name)
{
	const size_t length = strlen(name);
	const char *line;

	rdmaez_impl_lines_open(lines, path);
	do
		line = rdmaez_impl_line(lines);
	while (line && strncmp(line, name, length) != 0);
	rdmaez_impl_lines_close(lines);
	return line ? line + length : NULL;
}

/*
 * Returns 1 if the thread has a capability, 0 if not, and -1 without /proc. CapEff has 16
 * hexadecimal digits, the least significant last.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_capability(int capability)
{
	struct rdmaez_impl_lines lines;
	const char *const digits =
		rdmaez_impl_lines_find(&lines, "/proc/thread-self/status", "CapEff:\t");
	int digit;

	if (!digits || strlen(digits) < 16)
		return -1;
	digit = digits[15 - capability / 4];
	digit = digit > '9' ? digit + 9 : digit;
	return digit >> capability % 4 & 1;
}

/*
 * Reads the beginning of a small file of the kernel's as text, or "" if it cannot be read. `path`
 * may be `text`.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_file_text(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | RDMAEZ_IMPL_CLOEXEC);
	ssize_t length = 0;

	if (fd >= 0) {
		length = read(fd, text, size - 1);
		close(fd);
	}
	text[length > 0 ? length : 0] = '\0';
}

/* Returns whether there is a file that may be read. */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_is_file(const char *path)
{
	const int fd = open(path, O_RDONLY | RDMAEZ_IMPL_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * Returns 1 if the process has a capability for the kernel's `capable()`, 0 if not, and -1 without
 * /proc. `capable()` asks for it in the initial user namespace, where every 32-bit number in
 * uid_map stands for itself.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_capable(int capability)
{
	char text[64];

	rdmaez_impl_file_text("/proc/self/uid_map", text, sizeof(text));
	if (*text && strcmp(text, "         0          0 4294967295\n") != 0)
		return 0;
	return *text ? rdmaez_impl_capability(capability) : -1;
}

/* Returns 1 if RLIMIT_MEMLOCK does not bind the process, 0 if it does, and -1 without /proc. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_may_lock(void)
{
	return rdmaez_impl_capable(RDMAEZ_IMPL_CAP_IPC_LOCK);
}

/*
 * Returns a setting of the whole RDMA subsystem, an attribute of 8 bits in the kernel's answer to
 * RDMA_NLDEV_CMD_SYS_GET. Returns -1 if this kernel does not have it, or does not answer. The
 * kernel has answered before send() returns.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_rdma_setting(unsigned int attribute)
{
	/*
	 * This is a struct nlmsghdr: length, type and flags, sequence, port. RDMA_NL_NLDEV is 5,
	 * and NLM_F_REQUEST is 1.
	 */
	uint16_t request[8] = {0, 0, 5 << 10 | 6, 1, 0, 0, 0, 0}, reply[512], length;
	const uint32_t size = sizeof(request);
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 20); /* NETLINK_RDMA */
	ssize_t got = 0;
	int value = -1;

	if (fd < 0)
		return -1;
	memcpy(request, &size, sizeof(size));
	if (send(fd, request, sizeof(request), MSG_DONTWAIT) == (ssize_t)size)
		got = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);
	close(fd);
	/* An attribute is its length, its type, and what it holds, padded to four bytes. */
	for (size_t at = 8; got > 0 && reply[2] == request[2] && 2 * at + 5 <= (size_t)got;
	     at += (size_t)(length + 3) / 4 * 2) {
		length = reply[at];
		if (length < 5)
			break;
		if (reply[at + 1] == attribute)
			value = (int)*(const uint8_t *)&reply[at + 2];
	}
	return value;
}

/*
 * Returns 1 if the kernel refuses this process a Q_Key with bit 31 set, 0 if not, and -1 if that is
 * not known. modify_qp() of core/uverbs_cmd.c refuses it since Linux 6.5, and in some later
 * releases of older kernels, unless `capable(CAP_NET_RAW)` holds. Since 6.7 the administrator may
 * lift that for all by RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE. Since 6.17 a capability in the
 * device's own namespace may be enough.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_qkey_refused(void)
{
	const int version = rdmaez_impl_linux_version(), setting = rdmaez_impl_rdma_setting(96);
	const int has = rdmaez_impl_capability(RDMAEZ_IMPL_CAP_NET_RAW);

	if (setting > 0 || rdmaez_impl_capable(RDMAEZ_IMPL_CAP_NET_RAW) > 0)
		return 0;
	return !has && (setting == 0 || version == 605 || version == 606) ? 1 : -1;
}

/*
 * Returns 1 if RLIMIT_MEMLOCK binds the process, 0 if not, and -1 if that is not known. In Linux
 * 6.1 a driver that pins by itself asks for no capability. From 6.12 on it leaves that to
 * ib_umem_get(), as all others do.
 */
RDMAEZ_IMPL_SMALL int rdmaez_impl_memlock_binds(const struct rdmaez_driver *driver)
{
	const int linux_version = rdmaez_impl_linux_version();
	const bool pins = (driver->habits & RDMAEZ_DRIVER_HABIT_PINS) != 0;
	int may;

	if (pins && linux_version && linux_version <= 601)
		return 1;
	may = rdmaez_impl_may_lock();
	if (may < 0 || (may && pins && linux_version < 612))
		return -1;
	return !may;
}

/* Returns how many bytes the process has pinned for devices, or -1 if that is not known. */
RDMAEZ_IMPL_SMALL int64_t rdmaez_impl_pinned(void)
{
	struct rdmaez_impl_lines lines;
	const char *text = rdmaez_impl_lines_find(&lines, "/proc/thread-self/status", "VmPin:");

	/* A line that was cut has no unit, and perhaps not all of its digits. */
	return text && strstr(text, " kB") ? (int64_t)(rdmaez_impl_number(&text, 10) << 10) : -1;
}

/* Returns the thread's effective user, or -1 if it is not known. */
RDMAEZ_IMPL_SMALL int64_t rdmaez_impl_user(void)
{
	struct rdmaez_impl_lines lines;
	const char *text = rdmaez_impl_lines_find(&lines, "/proc/thread-self/status", "Uid:");

	if (!text)
		return -1;
	(void)rdmaez_impl_number(
		&text, 10); /* the real one comes first: task_state() of fs/proc/array.c */
	return *text == '\t' ? (int64_t)rdmaez_impl_number(&text, 10) : -1;
}

/*
 * Adds where to raise the limit. A capability that a container is given only counts for root in the
 * initial user namespace: execve(2) takes it from everybody else, and leaves it in CapBnd
 * (cap_bprm_creds_from_file()). Kubernetes sets its variable in each pod, Slurm in each step, and
 * podman and systemd-nspawn set `container`. Docker only makes an empty file.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_suggest_memlock(struct rdmaez_diag *diag, const char *field)
{
	struct rdmaez_impl_site site = {field, RDMAEZ_WHY_NONE, RDMAEZ_VALUE_NONE, 0, 0};
	char ids[64];

	rdmaez_impl_file_text("/proc/self/uid_map", ids, sizeof(ids));
	if (rdmaez_impl_user() == 0 && strcmp(ids, "         0          0 4294967295\n") == 0)
		site.why = RDMAEZ_WHY_MEMLOCK_ROOT;
	else if (getenv("KUBERNETES_SERVICE_HOST"))
		site.why = RDMAEZ_WHY_MEMLOCK_POD;
	else if (getenv("container") || rdmaez_impl_is_file("/.dockerenv"))
		site.why = RDMAEZ_WHY_MEMLOCK_CONTAINER;
	else if (getenv("SLURM_JOB_ID"))
		site.why = RDMAEZ_WHY_MEMLOCK_JOB;
	if (site.why != RDMAEZ_WHY_NONE)
		rdmaez_impl_find(diag, RDMAEZ_DIAG_LIKELY, &site, 0);
}

/*
 * Suspects the limit of locked memory, for ENOMEM, or for EPERM if nothing at all may be locked.
 * `ib_umem_get()` compares RLIMIT_MEMLOCK with what the process has pinned, VmPin, and these pages
 * together. `bytes` is how many were asked for, or 0 if that is not known. For a driver that is
 * listed, the numbers make it certain. If they are well within the limit, the cause is something
 * else.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_memlock(struct rdmaez_diag *diag, const char *field,
						  uint64_t bytes,
						  const struct rdmaez_driver *driver)
{
	struct rdmaez_impl_site site = {field, RDMAEZ_WHY_MEMLOCK, RDMAEZ_VALUE_LOCKED, 0, 0};
	const uint64_t pages = 2 * (uint64_t)sysconf(_SC_PAGESIZE); /* begun, but not filled */
	struct rlimit limit;
	uint64_t locked, room;
	int64_t pinned;
	int binds;
	bool sure;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    (diag->error == EPERM && limit.rlim_cur))
		return;
	binds = rdmaez_impl_memlock_binds(driver);
	pinned = rdmaez_impl_pinned();
	locked = pinned > 0 ? (uint64_t)pinned : 0;
	room = limit.rlim_cur > locked ? limit.rlim_cur - locked : 0;
	if (!binds || (bytes && pinned >= 0 && room >= pages && bytes <= room - pages))
		return;
	sure = binds > 0 && bytes > room && driver->vendor_id;
	if (pinned < 0)
		site.kind = bytes ? RDMAEZ_VALUE_BYTES : RDMAEZ_VALUE_LIMIT;
	rdmaez_impl_find_within(diag, sure ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY, &site, bytes,
				locked, limit.rlim_cur);
	rdmaez_impl_suggest_memlock(diag, field);
}

/* Suspects the limit of the address space, which binds everybody. */
RDMAEZ_IMPL_COLD void rdmaez_impl_suspect_space(struct rdmaez_diag *diag, const char *field)
{
	const struct rdmaez_impl_site space = {field, RDMAEZ_WHY_ADDRESS_SPACE, RDMAEZ_VALUE_LIMIT,
					       0, 0};
	struct rlimit limit;

	if (diag->error == ENOMEM && !getrlimit(RLIMIT_AS, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &space, 0, 0, limit.rlim_cur);
}

/*
 * Returns what an errno value of any verb usually means, or `otherwise` if it says nothing.
 * rdmaez-explain calls it, too.
 */
RDMAEZ_SEAM enum rdmaez_why rdmaez_impl_errno_meaning(int error, enum rdmaez_why otherwise)
{
	/*
	 * This is ENOTSUPP of include/linux/errno.h. No header for programs has it, and some
	 * drivers of Linux return it.
	 */
	const int kernel_enotsupp = 524;

	if (error == kernel_enotsupp)
		return RDMAEZ_WHY_NOT_SUPPORTED;
	switch (error) {
	case ENOMEM:
	case ENOSPC:
		return RDMAEZ_WHY_NO_RESOURCES;
	case EAGAIN:
	case EBUSY:
		return RDMAEZ_WHY_BUSY;
	case EIO:
	case ENXIO:
	case ENODEV:
		return RDMAEZ_WHY_DEVICE_GONE;
	case ETIMEDOUT:
		return RDMAEZ_WHY_TIMED_OUT;
	/* It is only better than that nothing was found: rdma_lookup_get_uobject(). */
	case ENOENT:
		return otherwise == RDMAEZ_WHY_UNEXPLAINED || otherwise == RDMAEZ_WHY_REFUSED
			       ? RDMAEZ_WHY_NO_OBJECT
			       : otherwise;
	case EOPNOTSUPP:
	case ENOSYS:
	/* The running kernel does not have the method: ib_uverbs_cmd_verbs(). */
	case EPROTONOSUPPORT:
		return RDMAEZ_WHY_NOT_SUPPORTED;
	default:
		return otherwise;
	}
}

/* Says what the errno value of the failed verb usually means, if nothing better was found. */
RDMAEZ_SEAM void rdmaez_impl_explain_errno(struct rdmaez_diag *diag)
{
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY,
			       rdmaez_impl_errno_meaning(diag->error, RDMAEZ_WHY_UNEXPLAINED),
			       diag->verb);
}

/* Returns whether a mistake was found, and not only suspected. The worst finding stands first. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_is_certain(const struct rdmaez_diag *diag)
{
	return diag->count && diag->finding[0].severity == RDMAEZ_DIAG_ERROR;
}

/*
 * Explains what no limit and no rule shows, unless something certain was found: what the errno
 * value means and, for ENOMEM, what may be exhausted. `count` is how many such objects the device
 * has. EFAULT is about the provider's own buffers, which uverbs and the driver copy. If an object
 * was to be created, EIO is about a command that the firmware has refused, as in bnxt_re's
 * __bnxt_qplib_rcfw_send_message(). The caller has no pointer and no number in either.
 */
RDMAEZ_SEAM void rdmaez_impl_explain_rest(struct rdmaez_diag *diag, const char *field,
					  const char *limit, int count)
{
	const enum rdmaez_why meaning = rdmaez_impl_errno_meaning(diag->error, RDMAEZ_WHY_NONE);

	if (rdmaez_impl_is_certain(diag))
		return;
	if (diag->error == EAGAIN)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_CGROUP, diag->verb);
	if (diag->error == ENOMEM) {
		rdmaez_impl_suspect_memlock(diag, field, 0, rdmaez_driver_of(NULL));
		rdmaez_impl_suspect_space(diag, field);
	}
	if (diag->error == EFAULT || (diag->error == EIO && !diag->count && diag->verb &&
				      strncmp(diag->verb, "ibv_create_", 11) == 0))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_PROVIDER_FAULT,
				       diag->verb);
	if (diag->error == ENOMEM && count > 0)
		rdmaez_impl_suspect_count(diag, limit, count);
	else if (!diag->count ||
		 (meaning != RDMAEZ_WHY_NONE && meaning != RDMAEZ_WHY_NOT_SUPPORTED))
		rdmaez_impl_explain_errno(diag);
}

/*
 * Returns the release of rdma-core that libibverbs is part of, by the name of its file,
 * libibverbs.so.1.14.RELEASE.0, or 0 if it is not known. buildlib/RDMA_LinuxMap.cmake and
 * libibverbs/CMakeLists.txt name it so.
 */
RDMAEZ_IMPL_COLD unsigned int rdmaez_impl_library_release(void)
{
	static const char name[] = "/libibverbs.so.1.";
	struct rdmaez_impl_lines lines;
	const char *line, *at = NULL;
	unsigned int release = 0;

	rdmaez_impl_lines_open(&lines, "/proc/self/maps");
	while (!at && (line = rdmaez_impl_line(&lines)))
		at = strstr(line, name);
	if (at) {
		at += sizeof(name) - 1;
		(void)rdmaez_impl_number(&at, 10);
		if (*at == '.') {
			at++;
			release = (unsigned int)rdmaez_impl_number(&at, 10);
		}
	}
	rdmaez_impl_lines_close(&lines);
	return release;
}

/* These bits are what /proc/self/maps tells of a range of memory, and of the process. */
enum {
	RDMAEZ_IMPL_MAPS_HOLE = 1,    /* a part of it is not mapped */
	RDMAEZ_IMPL_MAPS_NONE = 2,    /* a part may be neither read nor written */
	RDMAEZ_IMPL_MAPS_FILE = 4,    /* a part is shared with a file */
	RDMAEZ_IMPL_MAPS_WRITE = 8,   /* and may be written */
	RDMAEZ_IMPL_MAPS_GPU = 16,    /* a part is a GPU's device file's */
	RDMAEZ_IMPL_MAPS_GPUS = 32,   /* the process has mapped such a file anywhere */
	RDMAEZ_IMPL_MAPS_NVIDIA = 64, /* the same of NVIDIA's */
	RDMAEZ_IMPL_MAPS_AMD = 128,   /* and of AMD's */
	RDMAEZ_IMPL_MAPS_WINDOW = 256 /* a part is gdrcopy's window onto a GPU's memory */
};

/* Returns the bits of one mapping, by its permissions and the path of its file. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_maps_of(const char *permissions, const char *path)
{
	static const char *const gpus[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/renderD",
					   "/dmabuf:"};
	static const char *const memory[] = {"/dev/", "/memfd:", "/SYSV", "/anon_hugepage"};
	int is = strncmp(permissions, "---", 3) == 0 ? RDMAEZ_IMPL_MAPS_NONE : 0;

	if (!path)
		return is;
	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++)
		if (strncmp(path, gpus[i], strlen(gpus[i])) == 0)
			return is | RDMAEZ_IMPL_MAPS_GPU | (i == 0 ? RDMAEZ_IMPL_MAPS_NVIDIA : 0) |
			       (i == 1 ? RDMAEZ_IMPL_MAPS_AMD : 0);
	if (strncmp(path, "/dev/gdrdrv", strlen("/dev/gdrdrv")) == 0)
		return is | RDMAEZ_IMPL_MAPS_WINDOW;
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		if (strncmp(path, memory[i], strlen(memory[i])) == 0)
			return is;
	/* A program's own data are private mappings of its file. */
	if (strlen(permissions) < 4 || permissions[3] != 's')
		return is;
	return is | RDMAEZ_IMPL_MAPS_FILE | (permissions[1] == 'w' ? RDMAEZ_IMPL_MAPS_WRITE : 0);
}

/*
 * Looks at the bytes from `start` up to `end`. Returns the number of mappings, or 0 if they cannot
 * be read.
 */
RDMAEZ_IMPL_COLD unsigned int rdmaez_impl_maps(uintptr_t start, uintptr_t end, int *is)
{
	struct rdmaez_impl_lines lines;
	uintptr_t reached = start;
	unsigned int count = 0;
	const char *line, *path;

	*is = 0;
	rdmaez_impl_lines_open(&lines, "/proc/self/maps");
	while ((line = rdmaez_impl_line(&lines))) {
		const uint64_t from = rdmaez_impl_number(&line, 16);
		const uint64_t to = *line++ == '-' ? rdmaez_impl_number(&line, 16) : 0;
		int of;

		if (to <= from || *line != ' ' ||
		    strstr(line, "[vsyscall]")) /* that is the kernel's */
			continue;
		/*
		 * This is the path of a file. The name that a program gave to other memory does not
		 * count, such as "[anon_shmem:a/b]".
		 */
		path = strstr(line, " /");
		of = rdmaez_impl_maps_of(line + 1, path ? path + 1 : NULL);
		count++;
		if (of & RDMAEZ_IMPL_MAPS_GPU)
			*is |= RDMAEZ_IMPL_MAPS_GPUS |
			       (of & (RDMAEZ_IMPL_MAPS_NVIDIA | RDMAEZ_IMPL_MAPS_AMD));
		if (from >= end || to <= start)
			continue;
		*is |= of | (from > reached ? RDMAEZ_IMPL_MAPS_HOLE : 0);
		reached = (uintptr_t)to;
	}
	rdmaez_impl_lines_close(&lines);
	if (count && reached < end)
		*is |= RDMAEZ_IMPL_MAPS_HOLE;
	return count;
}

RDMAEZ_IMPL_END

#endif
