/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez tells of a real device that is missing or does not open: without its node, with a node that may not
 * be opened or is another's, without provider libraries, and in a network namespace that does not have it.
 * Each is made for one process, which has a view of the files of its own.
 */
#define _GNU_SOURCE /* unshare() */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

enum {
	NOBODY = 65534
};

static char name[IBV_SYSFS_NAME_MAX], node[64]; /* of the device, and its device node */
static dev_t number;

/* What a process found that has been through make(): the errno, and its record, which holds only literals. */
static int found(void (*make)(void), const char *asked, struct rdmaez_diag *diag)
{
	struct ibv_context *context;
	int ends[2], status;
	pid_t child;

	if (pipe(ends))
		tap_bail("pipe: %s", strerror(errno));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(1);
		make();
		rdmaez_device_open(asked, &context, diag);
		_exit(write(ends[1], diag, sizeof(*diag)) != sizeof(*diag));
	}
	close(ends[1]);
	memset(diag, 0x55, sizeof(*diag));
	if (child < 0 || read(ends[0], diag, sizeof(*diag)) != sizeof(*diag) ||
	    waitpid(child, &status, 0) != child || status)
		tap_bail("no answer of a process of its own");
	close(ends[0]);
	return diag->error;
}

static void must(int failed, const char *what)
{
	if (failed)
		tap_bail("%s: %s", what, strerror(errno));
}

/* An empty /dev/infiniband, and no /dev/char, where libibverbs looks next. */
static void without_nodes(void)
{
	(void)mount("none", "/dev/char", "tmpfs", 0, NULL);
	must(mount("none", "/dev/infiniband", "tmpfs", 0, NULL), "mount of /dev/infiniband");
}

static void with_nothing(void)
{
}

static void with_node_of_null(void)
{
	without_nodes();
	must(mknod(node, S_IFCHR | 0666, makedev(1, 3)), "mknod");
}

static void as_nobody(void)
{
	without_nodes();
	must(mknod(node, S_IFCHR | 0600, number), "mknod");
	must(setgid(NOBODY) || setuid(NOBODY), "setuid");
}

/* libibverbs loads provider libraries when it first needs one. */
static void without_providers(void)
{
	must(mount("none", "/etc/libibverbs.d", "tmpfs", 0, NULL), "mount of /etc/libibverbs.d");
}

static void without_configuration(void)
{
	must(mount("none", "/etc", "tmpfs", 0, NULL), "mount of /etc");
}

/* What a container has: a network namespace, with a sysfs that was mounted there. */
static void in_namespace(void)
{
	must(unshare(CLONE_NEWNET), "unshare");
	must(mount("none", "/sys", "sysfs", 0, NULL), "mount of /sys");
}

/* Whether `rdma system` answers to this with a word, NULL: succeeds. */
static bool rdma_system(const char *arguments, const char *word)
{
	char command[80], answer[200] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "rdma system %s 2>&1", arguments);
	pipe = popen(command, "r");
	must(!pipe, "popen");
	if (!fgets(answer, sizeof(answer), pipe))
		answer[0] = '\0';
	return pclose(pipe) == 0 && (!word || strstr(answer, word));
}

/* The call failed with one error, and one likely finding, RDMAEZ_WHY_NONE: none. */
static void check(const char *what, void (*make)(void), int error, enum rdmaez_why reason,
		  enum rdmaez_why likely)
{
	struct rdmaez_diag diag;
	char text[4096];

	tap_eq_int(found(make, name, &diag), error, "%s: the errno", what);
	tap_eq_str(rdmaez_why_id(diag.finding[0].reason), rdmaez_why_id(reason), "%s: the reason",
		   what);
	tap_eq_int(diag.finding[0].severity, RDMAEZ_DIAG_ERROR, "%s: is certain", what);
	if (likely != RDMAEZ_WHY_NONE)
		tap_eq_str(rdmaez_why_id(diag.finding[1].reason), rdmaez_why_id(likely),
			   "%s: and one is likely", what);
	if (!tap_eq_int(diag.count, likely == RDMAEZ_WHY_NONE ? 1 : 2, "%s: that is all", what)) {
		rdmaez_diag_line(&diag, text, sizeof(text));
		tap_diag("%s", text);
	}
}

int main(void)
{
	struct rdmaez_diag diag;
	struct stat status;

	/* In a process of its own, so that this one loads no provider library before the others are born. */
	if (found(with_nothing, NULL, &diag))
		rig_skip("needs a device of the Soft-RoCE machine: run it by tools/softroce");
	if (getuid() != 0)
		rig_skip("needs root, to make device nodes");
	snprintf(name, sizeof(name), "%s", diag.device);
	tap_ok(strncmp(name, "rxe", 3) == 0, "any device is %s", name);
	snprintf(node, sizeof(node), "/dev/infiniband/uverbs%d", name[strlen(name) - 1] - '0');
	must(stat(node, &status), node);
	number = status.st_rdev;
	tap_eq_int(found(with_nothing, name, &diag), 0, "it opens by its name");

	tap_eq_int(found(with_nothing, "rxe77", &diag), ENODEV, "no device of this name");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_DEVICE_NAME, "which the record says");
	tap_eq_int(diag.finding[1].reason, RDMAEZ_WHY_DEVICE_THERE, "with a name that there is");
	tap_ok(memcmp(&diag.finding[1].value, name, strlen(name) + 1) == 0, "%s", name);

	check("without its node", without_nodes, ENODEV, RDMAEZ_WHY_DEVICE_NO_NODE,
	      RDMAEZ_WHY_NONE);
	check("a node of its owner's", as_nobody, ENOENT, RDMAEZ_WHY_DEVICE_RIGHTS,
	      RDMAEZ_WHY_NONE);
	check("another device's node", with_node_of_null, ENOENT, RDMAEZ_WHY_DEVICE_OTHER_NODE,
	      RDMAEZ_WHY_NONE);
	check("without provider libraries", without_providers, ENODEV, RDMAEZ_WHY_DEVICE_PROVIDER,
	      RDMAEZ_WHY_PROVIDER_RELEASE);
	check("without their directory", without_configuration, ENODEV, RDMAEZ_WHY_DEVICE_PROVIDER,
	      RDMAEZ_WHY_PROVIDER_MISSING);

	/* Then the kernel keeps a device to its network namespace, which it refuses while there are others. */
	if (!rdma_system("show", "netns shared") || !rdma_system("set netns exclusive", NULL)) {
		tap_skip("the kernel's network namespaces share devices");
		return tap_done();
	}
	check("in another network namespace", in_namespace, ENODEV, RDMAEZ_WHY_DEVICE_NETNS,
	      RDMAEZ_WHY_NONE);
	must(!rdma_system("set netns shared", NULL), "rdma system set netns shared");
	return tap_done();
}
