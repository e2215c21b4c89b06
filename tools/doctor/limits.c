/* SPDX-License-Identifier: MIT */
/* Limits of the process: memory that may be locked, and RDMA objects of its cgroup. */
#include "doctor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- memlock -------------------------------------------------------------------------------------------- */

/* The number after this word of a file of /proc/self, as in "VmPin:      12 kB"; `base` 16 for masks. */
static bool find_number(uint64_t *n, const char *text, const char *word, int base)
{
	const char *at = strstr(text, word);
	char *end;

	if (!at)
		return false;
	at += strlen(word);
	*n = strtoull(at, &end, base);
	return end != at;
}

/* A capability counts where the process is in the first user namespace: ib_umem_get() asks capable(). */
static bool may_lock_all(const char *status)
{
	uint64_t capabilities = 0, inside = 0, outside = 0, length = 0;
	char map[128];

	if (!find_number(&capabilities, status, "CapEff:", 16) || !(capabilities >> 14 & 1))
		return false;
	if (doctor_read(map, sizeof(map), "/proc/self/uid_map"))
		return true;
	if (sscanf(map, "%ju %ju %ju", &inside, &outside, &length) != 3)
		return true;
	return inside == 0 && outside == 0 && length == UINT32_MAX;
}

/* "unlimited" is UINT64_MAX. */
static uint64_t read_limit(const char **at)
{
	uint64_t limit;
	char *end;

	*at += strspn(*at, " ");
	if (strncmp(*at, "unlimited", 9) == 0) {
		*at += 9;
		return UINT64_MAX;
	}
	limit = strtoull(*at, &end, 10);
	*at = end;
	return limit;
}

static void put_size(char *text, size_t size, uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		snprintf(text, size, "unlimited");
	else if (bytes >= 1 << 30)
		snprintf(text, size, "%.4g GiB", (double)bytes / (1 << 30));
	else if (bytes >= 1 << 20)
		snprintf(text, size, "%.4g MiB", (double)bytes / (1 << 20));
	else
		snprintf(text, size, "%ju KiB", bytes / 1024);
}

/* Where the limit of this process comes from decides where it is raised. */
static void tell_where_to_raise(bool soft_below_hard)
{
	char groups[4096], *unit, *end;

	doctor_read_all(groups, sizeof(groups), "/proc/self/cgroup");
	end = strstr(groups, ".service");
	for (unit = end; unit && unit > groups && unit[-1] != '/'; unit--)
		;
	if (soft_below_hard)
		doctor_next("here and now: ulimit -l $(ulimit -H -l)");
	if (doctor_in_container()) {
		doctor_next("docker run --ulimit memlock=-1 (podman the same)");
		doctor_next("Kubernetes: LimitMEMLOCK=infinity in the unit of containerd or CRI-O; "
			    "for root alone also securityContext: capabilities: add: [IPC_LOCK]");
	} else if (strstr(groups, "slurm")) {
		doctor_next("Slurm: LimitMEMLOCK=infinity in slurmd.service, and "
			    "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf");
	} else if (end && !strstr(groups, "user@") && strncmp(unit, "ssh", 3) != 0) {
		doctor_next("systemctl edit %.*s, with LimitMEMLOCK=infinity below [Service]",
			    (int)(end - unit) + 8, unit);
	} else {
		doctor_next(
			"echo '* - memlock unlimited' >/etc/security/limits.d/rdma.conf, as root, "
			"then log in again; for a service of systemd LimitMEMLOCK=infinity");
	}
}

/*
 * Page blocks of CMA that belong to no area of CMA, such as those of kexec handover: memory there must not be pinned, and
 * has to be moved first. That fails if somebody else holds it, such as a GPU's driver. CmaFree counts them, CmaTotal does
 * not (pull request 591 of NVIDIA/NV-Kernels).
 */
static void check_unpinnable(void)
{
	static char memory[8192];
	uint64_t total = 0, unused = 0;
	char text[32];

	doctor_read_all(memory, sizeof(memory), "/proc/meminfo");
	if (!find_number(&total, memory, "CmaTotal:", 10) ||
	    !find_number(&unused, memory, "CmaFree:", 10) || unused <= total)
		return;
	put_size(text, sizeof(text), (unused - total) << 10);
	doctor_say(DOCTOR_WARNING, "",
		   "%s of memory must not be pinned: registering may fail with ENOMEM while a GPU "
		   "has taken most of the rest",
		   text);
	doctor_evidence("/proc/meminfo: CmaTotal %ju kB, CmaFree %ju kB", total, unused);
	doctor_next("boot with kho=off on the kernel's command line, which gives it back");
}

static void check_limit(void)
{
	static char limits[4096], status[8192];
	static const char word[] = "Max locked memory";
	char soft_text[32], hard_text[32];
	uint64_t soft, hard, pinned = 0;
	enum doctor_verdict verdict;
	const char *at;

	doctor_read_all(limits, sizeof(limits), "/proc/self/limits");
	doctor_read_all(status, sizeof(status), "/proc/self/status");
	at = strstr(limits, word);
	if (!at) {
		doctor_say(DOCTOR_NOTE, "", "the limit of locked memory cannot be read");
		doctor_evidence("/proc/self/limits has no line \"%s\"", word);
		return;
	}
	at += strlen(word);
	soft = read_limit(&at);
	hard = read_limit(&at);
	find_number(&pinned, status, "VmPin:", 10);
	put_size(soft_text, sizeof(soft_text), soft);
	put_size(hard_text, sizeof(hard_text), hard);
	if (soft == UINT64_MAX) {
		doctor_say(DOCTOR_OK, "", "any amount of memory may be locked (RLIMIT_MEMLOCK)");
		return;
	}
	if (may_lock_all(status)) {
		doctor_say(DOCTOR_OK, "",
			   "CAP_IPC_LOCK lifts the limit of %s for programs that also have it",
			   soft_text);
		return;
	}
	verdict = soft <= 65536 ? DOCTOR_FAILED : soft < 64 << 20 ? DOCTOR_WARNING : DOCTOR_OK;
	if (soft == 0)
		doctor_say(verdict, "",
			   "a process may lock no memory: registering any fails with EPERM");
	else
		doctor_say(verdict, "",
			   "a process may lock %s: registering more fails with ENOMEM, and the "
			   "same memory counts again for each device",
			   soft_text);
	doctor_evidence("RLIMIT_MEMLOCK: %s, at most %s; no CAP_IPC_LOCK that counts; VmPin %ju kB",
			soft_text, hard_text, pinned);
	if (verdict != DOCTOR_OK)
		tell_where_to_raise(soft < hard);
}

void doctor_check_memlock(void)
{
	check_limit();
	check_unpinnable();
}

/* --- files ----------------------------------------------------------------------------------------------- */

void doctor_check_files(void)
{
	static const char word[] = "Max open files";
	static char limits[4096];
	uint64_t soft, hard;
	const char *at;

	doctor_read_all(limits, sizeof(limits), "/proc/self/limits");
	at = strstr(limits, word);
	if (!at)
		return;
	at += strlen(word);
	soft = read_limit(&at);
	hard = read_limit(&at);
	if (soft == UINT64_MAX) {
		doctor_say(DOCTOR_OK, "", "a process may open any number of files");
		return;
	}
	doctor_say(soft < 1024 ? DOCTOR_WARNING : DOCTOR_OK, "",
		   "a process may open %ju files: each open device, completion channel, event "
		   "channel of rdma_cm and socket needs one, and opening more fails with EMFILE",
		   soft);
	doctor_evidence("RLIMIT_NOFILE: %ju, at most %ju", soft, hard);
	if (soft >= 1024)
		return;
	if (soft < hard)
		doctor_next("here and now: ulimit -n $(ulimit -H -n)");
	doctor_next(
		"echo '* - nofile 65536' >/etc/security/limits.d/files.conf, as root, then log in "
		"again; for a service of systemd LimitNOFILE=65536");
}

/* --- cgroup ---------------------------------------------------------------------------------------------- */

/* The path of the process in the hierarchy that has rdma: of version 1 with that controller, else of version 2. */
static bool find_group(const char *groups, char *path, size_t size, bool *is_v2)
{
	const char *v1 = strstr(groups, ":rdma:"), *at = v1;
	const char *v2 = strncmp(groups, "0::", 3) == 0 ? groups : strstr(groups, "\n0::");

	*is_v2 = !v1;
	if (v1)
		at = v1 + strlen(":rdma:");
	else if (v2)
		at = strstr(v2, "::") + 2;
	else
		return false;
	snprintf(path, size, "%.*s", (int)strcspn(at, "\n"), at);
	return true;
}

/*
 * Where that hierarchy is mounted, and which part of it: a line of mountinfo is "id parent major:minor ROOT MOUNTPOINT
 * options ... - TYPE source OPTIONS".
 */
static bool find_mount(char *mounts, bool is_v2, char *root, char *point, size_t size)
{
	char *line, *rest = mounts, type[32], options[512];
	const char *dash;

	while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
		dash = strstr(line, " - ");
		if (!dash || sscanf(dash, " - %31s %*s %511s", type, options) != 2)
			continue;
		if (is_v2 ? strcmp(type, "cgroup2") != 0
			  : strcmp(type, "cgroup") != 0 || !strstr(options, "rdma"))
			continue;
		if (sscanf(line, "%*s %*s %*s %511s %511s", root, point) == 2)
			return true;
	}
	snprintf(root, size, "/");
	snprintf(point, size, "/sys/fs/cgroup%s", is_v2 ? "" : "/rdma");
	return doctor_exists("%s", point);
}

/* The number after "RESOURCE=" in the line of a device; false: no limit, or no such line. */
static bool find_resource(uint64_t *n, const char *text, const char *device, const char *resource)
{
	const char *line, *at;
	size_t length = strlen(device);

	for (line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		if (strncmp(line, device, length) != 0 || line[length] != ' ')
			continue;
		at = strstr(line, resource);
		if (!at || at > line + strcspn(line, "\n") || at[strlen(resource)] != '=')
			return false;
		return sscanf(at + strlen(resource) + 1, "%ju", n) == 1;
	}
	return false;
}

static bool look_at_resource(const char *folder, const char *device, const char *resource,
			     const char *max, const char *current)
{
	uint64_t limit, used = 0;

	if (!find_resource(&limit, max, device, resource))
		return false;
	find_resource(&used, current, device, resource);
	if (used < limit) {
		doctor_say(DOCTOR_NOTE, device,
			   "the cgroup limits %s to %ju, of which %ju are in use", resource, limit,
			   used);
		doctor_evidence("%s/rdma.max and rdma.current", folder);
		return true;
	}
	doctor_say(
		DOCTOR_FAILED, device,
		"the cgroup's limit of %s is reached (%ju): %s fails with EAGAIN", resource, limit,
		strcmp(resource, "hca_handle") == 0 ? "opening the device" : "creating an object");
	doctor_evidence("%s/rdma.max: %s %s=%ju; rdma.current: %ju", folder, device, resource,
			limit, used);
	doctor_next("as root: echo '%s %s=max' >%s/rdma.max", device, resource, folder);
	doctor_next("rdma resource show (who uses how many); trying again helps only once there "
		    "are fewer");
	return true;
}

/* Looks at the limits of one cgroup; true if it has one for a device. */
static bool look_at_group(const char *folder)
{
	static char max[16384], current[16384];
	bool limited = false;
	unsigned int i;

	if (doctor_read_all(max, sizeof(max), "%s/rdma.max", folder) < 0)
		return false;
	doctor_read_all(current, sizeof(current), "%s/rdma.current", folder);
	for (i = 0; i < doctor_device_count(); i++) {
		limited |= look_at_resource(folder, doctor_device(i), "hca_handle", max, current);
		limited |= look_at_resource(folder, doctor_device(i), "hca_object", max, current);
	}
	return limited;
}

void doctor_check_cgroup(void)
{
	static char groups[4096], mounts[65536];
	char path[512], root[512], point[512], folder[1100], *slash;
	bool is_v2, limited = false;
	size_t skip;

	doctor_read_all(groups, sizeof(groups), "/proc/self/cgroup");
	doctor_read_all(mounts, sizeof(mounts), "/proc/self/mountinfo");
	if (!find_group(groups, path, sizeof(path), &is_v2) ||
	    !find_mount(mounts, is_v2, root, point, sizeof(root))) {
		doctor_say(DOCTOR_OK, "", "no cgroup that could limit RDMA objects is visible");
		return;
	}
	/* Where a part of the hierarchy is mounted, as in a container, paths begin above it. */
	skip = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(path, root, skip) != 0 || (skip && path[skip] && path[skip] != '/'))
		path[0] = '\0', skip = 0;
	snprintf(folder, sizeof(folder), "%s%s", point, path + skip);
	while (strlen(folder) > strlen(point) && folder[strlen(folder) - 1] == '/')
		folder[strlen(folder) - 1] = '\0';
	for (;;) {
		limited |= look_at_group(folder);
		slash = strrchr(folder, '/');
		if (strlen(folder) <= strlen(point) || !slash)
			break;
		*slash = '\0';
	}
	if (!limited)
		doctor_say(DOCTOR_OK, "", "no cgroup limits RDMA objects");
}
