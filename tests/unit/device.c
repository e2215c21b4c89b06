/* SPDX-License-Identifier: MIT */
/* Which device is opened, and what is said where there is none or it does not open. */
#include <sys/sysmacros.h>

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

#define OF(severity, reason, field, name)                                                        \
	{                                                                                        \
		RDMAEZ_DIAG_##severity, RDMAEZ_WHY_##reason, field,           RDMAEZ_VALUE_NONE, \
		packed(name, 0),        packed(name, 1),     packed(name, 2),                    \
	}
#define PLAIN(severity, reason, field) \
	{RDMAEZ_DIAG_##severity, RDMAEZ_WHY_##reason, field, RDMAEZ_VALUE_NONE, 0, 0, 0}

static struct fake_device *dev;
static struct rdmaez_diag diag;

/* A third of the 24 characters that a finding holds of a name. */
static uint64_t packed(const char *name, size_t third)
{
	uint64_t number[3] = {0, 0, 0};

	memcpy(number, name, strlen(name) < sizeof(number) ? strlen(name) : sizeof(number));
	return number[third];
}

/* The kernel's side of a device: what sysfs has of it, and its node. */
static void add_kernel_device(int number, const char *name)
{
	char path[200], text[80];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/node_type", name);
	fake_tree_file(path, "1: CA\n");
	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/uverbs%d/ibdev", number);
	snprintf(text, sizeof(text), "%s\n", name);
	fake_tree_file(path, text);
	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/uverbs%d/dev", number);
	fake_tree_file(path, "1:3\n");
	snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", number);
	fake_tree_link(path, "/dev/null");
}

/* A machine without a device, where libibverbs has loaded two provider libraries. */
static void start(void)
{
	dev = fake_reset();
	fake_tree_new();
	fake_tree_file("/sys/class/infiniband_verbs/abi_version", "6\n");
	fake_tree_file("/sys/class/infiniband/none", "");
	fake_tree_file("/sys/class/infiniband/none", NULL);
	fake_tree_file("/etc/libibverbs.d/rxe.driver", "driver rxe\n");
	fake_tree_file("/proc/self/maps",
		       "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 "
		       "/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0\n"
		       "7f0000002000-7f0000003000 r-xp 00000000 08:01 2 "
		       "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so\n");
	memset(&diag, 0x55, sizeof(diag));
}

/* That machine with "fake0" of the kernel's, which libibverbs lists or not. */
static void start_with_kernel(bool is_listed)
{
	start();
	add_kernel_device(0, "fake0");
	dev->is_unlisted = !is_listed;
}

/* Nothing is opened: the errno, the verb, what stays open, the device in the record. */
static void open_none(const char *name, int error, const char *verb, const char *device)
{
	struct ibv_context *context = NULL;
	const int before = fake_open_count();

	tap_eq_int(rdmaez_device_open(name, &context, NULL), error, "without a record");
	memset(&diag, 0x55, sizeof(diag));
	tap_eq_int(rdmaez_device_open(name, &context, &diag), error, "with one");
	tap_eq_ptr(context, NULL, "the output is not written");
	tap_eq_int(fake_open_count(), before, "nothing stays open");
	tap_eq_str(diag.verb, verb, "the record names the verb");
	tap_eq_str(diag.device, device, "and the device");
}

#define CHECK_NONE(asked, code, verb_name, device_name, name, ...)                                \
	do {                                                                                      \
		open_none(asked, code, verb_name, device_name);                                   \
		CHECK_FINDINGS(&diag, diag.error, code, "rdmaez_device_open", name, __VA_ARGS__); \
	} while (0)

/* ---- What opens ----------------------------------------------------------------------------- */

static void check_opens(void)
{
	struct ibv_context *context = NULL;
	struct fake_device *second, *third;

	start();
	second = fake_device_add("fake1");
	third = fake_device_add("fake2");
	check_success(&diag, rdmaez_device_open("fake1", &context, &diag), "a device by its name");
	tap_eq_ptr(context ? context->device : NULL, &second->verbs, "is opened");
	tap_eq_str(diag.device, "fake1", "the record names it");
	tap_eq_int(fake_count(FAKE_ANY), 2, "by two calls, and the list's end");
	ibv_close_device(context);

	fake_reset_log();
	tap_eq_int(rdmaez_device_open(NULL, &context, NULL), 0, "any device, without a record");
	tap_eq_ptr(context->device, &dev->verbs, "is the first whose port is active");
	tap_eq_int(fake_count(FAKE_ANY), 4, "by four calls");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "one asks for a port");
	ibv_close_device(context);

	dev->port[1].attr.state = IBV_PORT_DOWN;
	second->port[1].attr.state = IBV_PORT_INIT;
	third->ports = 2;
	third->port[1].attr.state = IBV_PORT_DOWN;
	tap_eq_int(rdmaez_device_open(NULL, &context, &diag), 0, "of three");
	tap_eq_ptr(context->device, &third->verbs, "the one whose second port is active");
	tap_eq_int(fake_open_count(), 1, "the others are closed again");
	ibv_close_device(context);

	third->port[2].attr.state = IBV_PORT_ARMED;
	tap_eq_int(rdmaez_device_open(NULL, &context, &diag), 0, "without an active port");
	tap_eq_ptr(context->device, &dev->verbs, "the first");
	tap_eq_int(fake_open_count(), 1, "the others are closed again");
	ibv_close_device(context);

	fake_fail(FAKE_OPEN_DEVICE, 1, EACCES);
	check_success(&diag, rdmaez_device_open(NULL, &context, &diag), "if that does not open");
	tap_eq_ptr(context->device, &second->verbs, "the next");
	ibv_close_device(context);
	/* The fifth call of all opens the second one. */
	fake_reset_log();
	fake_fail(FAKE_ANY, 5, EACCES);
	fake_fail(FAKE_OPEN_DEVICE, 3, EACCES);
	check_success(&diag, rdmaez_device_open(NULL, &context, &diag), "if no other opens");
	tap_eq_int(fake_count(FAKE_OPEN_DEVICE), 3, "of three that were tried");
	tap_eq_ptr(context->device, &dev->verbs, "the first");
	tap_eq_int(fake_open_count(), 1, "which stays open");
	ibv_close_device(context);
	fake_fail(FAKE_QUERY_DEVICE, 0, EIO);
	tap_eq_int(rdmaez_device_open(NULL, &context, &diag), 0, "if they do not answer");
	tap_eq_ptr(context->device, &dev->verbs, "the first");
	ibv_close_device(context);
	check_refusal(&diag, rdmaez_device_open("fake0", NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no output");
}

/* ---- No device ------------------------------------------------------------------------------ */

static void check_no_device(void)
{
	start();
	dev->is_unlisted = true;
	CHECK_NONE(NULL, ENODEV, "ibv_get_device_list", "", "a kernel without devices",
		   PLAIN(ERROR, DEVICE_NONE, "device"));
	CHECK_NONE("mlx5_0", ENODEV, "ibv_get_device_list", "mlx5_0", "by a name, too",
		   PLAIN(ERROR, DEVICE_NONE, "device"));
	fake_tree_new();
	fake_tree_file("/sys/class/net", "");
	CHECK_NONE(NULL, ENODEV, "ibv_get_device_list", "", "without ib_core",
		   PLAIN(ERROR, DEVICE_NONE, "device"));
	fake_fail(FAKE_GET_DEVICE_LIST, 0, ENOSYS);
	CHECK_NONE(NULL, ENOSYS, "ibv_get_device_list", "", "where libibverbs says so",
		   PLAIN(ERROR, DEVICE_NONE, "device"));
	fake_fail(FAKE_GET_DEVICE_LIST, 0, 0);
	fake_tree_new();
	CHECK_NONE(NULL, ENODEV, "ibv_get_device_list", "", "without sysfs nothing is certain",
		   PLAIN(LIKELY, DEVICE_NONE, "device"));

	start();
	dev->is_unlisted = true;
	fake_tree_file("/sys/class/infiniband/mlx5_0/node_type", "1: CA\n");
	CHECK_NONE(NULL, ENODEV, "ibv_get_device_list", "", "without ib_uverbs",
		   PLAIN(ERROR, DEVICE_UVERBS, "device"));
	CHECK_NONE("mlx5_0", ENODEV, "ibv_get_device_list", "mlx5_0", "by the device's name",
		   PLAIN(ERROR, DEVICE_UVERBS, "device"));
	CHECK_NONE("mlx5_1", ENODEV, "ibv_get_device_list", "mlx5_1", "by another name",
		   PLAIN(ERROR, DEVICE_NAME, "device"));
}

static void check_names(void)
{
	start_with_kernel(true);
	fake_device_add("a_name_of_25_characters_x");
	add_kernel_device(1, "a_name_of_25_characters_x");
	CHECK_NONE("mlx5_0", ENODEV, "ibv_get_device_list", "mlx5_0", "names that there are",
		   PLAIN(ERROR, DEVICE_NAME, "device"), OF(ADVICE, DEVICE_THERE, "device", "fake0"),
		   OF(ADVICE, DEVICE_THERE, "device", "a_name_of_25_characters_"));
	CHECK_NONE("", ENODEV, "ibv_get_device_list", "", "an empty name",
		   PLAIN(ERROR, DEVICE_NAME, "device"), OF(ADVICE, DEVICE_THERE, "device", "fake0"),
		   OF(ADVICE, DEVICE_THERE, "device", "a_name_of_25_characters_"));
	start_with_kernel(true);
	fake_tree_new();
	CHECK_NONE("mlx5_0", ENODEV, "ibv_get_device_list", "mlx5_0", "sysfs does not answer",
		   PLAIN(LIKELY, DEVICE_NAME, "device"),
		   OF(ADVICE, DEVICE_THERE, "device", "fake0"));
}

/* ---- Nodes and namespaces ------------------------------------------------------------------- */

static void check_nodes(void)
{
	start_with_kernel(false);
	fake_tree_file("/dev/infiniband/uverbs0", NULL);
	CHECK_NONE(NULL, ENODEV, "ibv_get_device_list", "", "a node is missing",
		   OF(ERROR, DEVICE_NO_NODE, "/dev/infiniband", "uverbs0"));
	add_kernel_device(1, "fake1");
	fake_tree_file("/dev/infiniband/uverbs1", NULL);
	CHECK_NONE("fake1", ENODEV, "ibv_get_device_list", "fake1", "of the device asked for",
		   OF(ERROR, DEVICE_NO_NODE, "/dev/infiniband", "uverbs1"));

	start_with_kernel(true);
	fake_fail(FAKE_OPEN_DEVICE, 0, ENOENT); /* what the second path gave */
	fake_tree_refuse("/dev/infiniband/uverbs0", EACCES);
	CHECK_NONE("fake0", ENOENT, "ibv_open_device", "fake0", "a node that others own",
		   OF(ERROR, DEVICE_RIGHTS, "/dev/infiniband", "uverbs0"));
	CHECK_NONE(NULL, ENOENT, "ibv_open_device", "fake0", "so without a name",
		   OF(ERROR, DEVICE_RIGHTS, "/dev/infiniband", "uverbs0"));
	fake_tree_refuse("/dev/infiniband/uverbs0", EPERM);
	CHECK_NONE("fake0", ENOENT, "ibv_open_device", "fake0", "one that the cgroup forbids",
		   OF(ERROR, DEVICE_FORBIDDEN, "/dev/infiniband", "uverbs0"));
	fake_tree_refuse("", 0);
	fake_tree_file("/sys/class/infiniband_verbs/uverbs0/dev", "1:5\n");
	CHECK_NONE("fake0", ENOENT, "ibv_open_device", "fake0", "the node of another device",
		   OF(ERROR, DEVICE_OTHER_NODE, "/dev/infiniband", "uverbs0"));
	fake_tree_file("/sys/class/infiniband_verbs/uverbs0/dev", "2:3\n");
	CHECK_NONE("fake0", ENOENT, "ibv_open_device", "fake0", "by its major number",
		   OF(ERROR, DEVICE_OTHER_NODE, "/dev/infiniband", "uverbs0"));
	fake_tree_file("/sys/class/infiniband_verbs/uverbs0/dev", "1:3\n");
	fake_tree_file("/dev/infiniband/uverbs0", NULL);
	fake_tree_file("/dev/infiniband/uverbs0", "no node");
	CHECK_NONE("fake0", ENOENT, "ibv_open_device", "fake0", "a plain file",
		   OF(ERROR, DEVICE_OTHER_NODE, "/dev/infiniband", "uverbs0"));

	start_with_kernel(true);
	fake_fail(FAKE_OPEN_DEVICE, 0, EPERM);
	fake_tree_refuse("/dev/infiniband/uverbs0", EPERM);
	fake_tree_file("/sys/class/infiniband/fake0/node_type", NULL);
	fake_tree_file("/sys/class/infiniband/fake0", NULL);
	CHECK_NONE("fake0", EPERM, "ibv_open_device", "fake0", "in another network namespace",
		   OF(ERROR, DEVICE_NETNS, "device", "fake0"));
	dev->is_unlisted = true;
	CHECK_NONE(NULL, ENODEV, "ibv_get_device_list", "", "not listed",
		   OF(ERROR, DEVICE_NETNS, "device", "fake0"));
}

/* Device numbers are written as sysfs does, whatever their size. */
static void check_numbers(void)
{
	char text[32];

	rdmaez_impl_put_number(makedev(231, 192), text, sizeof(text));
	tap_eq_str(text, "231:192\n", "the number of a device node");
	rdmaez_impl_put_number(makedev(0xfffff, 0xfffff), text, sizeof(text));
	tap_eq_str(text, "1048575:1048575\n", "a great one");
	rdmaez_impl_put_number(makedev(0x12345, 0x6789ab), text, sizeof(text));
	tap_eq_str(text, "74565:6785451\n", "one of many digits");
}

/* The node is right, and the verb fails: what its errno means. */
static void check_errno(void)
{
	start_with_kernel(true);
	fake_fail(FAKE_OPEN_DEVICE, 0, EAGAIN);
	CHECK_NONE("fake0", EAGAIN, "ibv_open_device", "fake0", "a cgroup's limit",
		   PLAIN(LIKELY, CGROUP, "ibv_open_device"),
		   PLAIN(LIKELY, BUSY, "ibv_open_device"));
	fake_fail(FAKE_OPEN_DEVICE, 0, EIO);
	CHECK_NONE(NULL, EIO, "ibv_open_device", "fake0", "a device that has gone",
		   PLAIN(LIKELY, DEVICE_GONE, "ibv_open_device"));
	fake_fail(FAKE_OPEN_DEVICE, 0, -1);
	errno = EPERM;
	tap_eq_int(rdmaez_device_open(NULL, &(struct ibv_context *){NULL}, &diag), EIO,
		   "an errno that is not set");
	fake_fail(FAKE_OPEN_DEVICE, 0, 0);
	fake_fail(FAKE_GET_DEVICE_LIST, 1, -1);
	errno = EPERM;
	tap_eq_int(rdmaez_device_open(NULL, &(struct ibv_context *){NULL}, &diag), EIO,
		   "nor by the list");
	fake_device_add("fake1");
	fake_tree_file("/sys/class/infiniband_verbs/uverbs7/dev",
		       "1:3\n"); /* it is just being made */
	fake_fail(FAKE_OPEN_DEVICE, 0, EBADF);
	CHECK_NONE(NULL, EBADF, "ibv_open_device", "fake0", "two devices, and no cause in sight",
		   PLAIN(LIKELY, UNEXPLAINED, "ibv_open_device"));
}

/* ---- Providers ------------------------------------------------------------------------------ */

static void check_providers(void)
{
	start_with_kernel(false);
	CHECK_NONE("fake0", ENODEV, "ibv_get_device_list", "fake0", "a device too new",
		   OF(ERROR, DEVICE_PROVIDER, "device", "fake0"),
		   PLAIN(LIKELY, PROVIDER_UNFIT, "/etc/libibverbs.d"));
	fake_tree_file("/proc/self/maps", "7f0000000000-7f0000001000 r-xp 00000000 08:01 1 "
					  "/usr/local/nvidia/cpu_lib/libibverbs.so.1\n");
	CHECK_NONE(NULL, ENODEV, "ibv_get_device_list", "", "none of the release is there",
		   OF(ERROR, DEVICE_PROVIDER, "device", "fake0"),
		   PLAIN(LIKELY, PROVIDER_RELEASE, "/etc/libibverbs.d"));
	fake_tree_file("/etc/libibverbs.d/rxe.driver", NULL);
	fake_tree_file("/etc/libibverbs.d", NULL);
	add_kernel_device(1, "fake1");
	tap_eq_int(rdmaez_device_open(NULL, &(struct ibv_context *){NULL}, &diag), ENODEV,
		   "none is installed, for two devices");
	tap_eq_int(diag.count, 3, "three findings");
	tap_ok(diag.finding[0].reason == RDMAEZ_WHY_DEVICE_PROVIDER &&
		       diag.finding[1].reason == RDMAEZ_WHY_DEVICE_PROVIDER &&
		       diag.finding[2].reason == RDMAEZ_WHY_PROVIDER_MISSING,
	       "one for each device, and the cause once");
	CHECK_NONE("fake1", ENODEV, "ibv_get_device_list", "fake1", "none is installed",
		   OF(ERROR, DEVICE_PROVIDER, "device", "fake1"),
		   PLAIN(LIKELY, PROVIDER_MISSING, "/etc/libibverbs.d"));
	fake_tree_file("/etc", NULL);
	fake_tree_file("/etc", "");
	CHECK_NONE("fake1", ENODEV, "ibv_get_device_list", "fake1", "or it cannot be seen",
		   OF(ERROR, DEVICE_PROVIDER, "device", "fake1"),
		   PLAIN(LIKELY, PROVIDER_RELEASE, "/etc/libibverbs.d"));
	fake_tree_file("/etc", NULL);
	fake_tree_refuse("/dev/infiniband/uverbs1", EPERM);
	CHECK_NONE("fake1", ENODEV, "ibv_get_device_list", "fake1",
		   "nor may the node be opened, which a cgroup or the network namespace forbids",
		   OF(LIKELY, DEVICE_NETNS, "device", "fake1"),
		   OF(LIKELY, DEVICE_FORBIDDEN, "/dev/infiniband", "uverbs1"),
		   OF(LIKELY, DEVICE_PROVIDER, "device", "fake1"),
		   PLAIN(LIKELY, PROVIDER_MISSING, "/etc/libibverbs.d"));
	fake_tree_refuse("", 0);
	fake_tree_file("/proc/self/maps", "400000-401000 r-xp 00000000 08:01 1 /program\n");
	CHECK_NONE("fake1", ENODEV, "ibv_get_device_list", "fake1", "a static program",
		   OF(ERROR, DEVICE_PROVIDER, "device", "fake1"));
	fake_tree_file("/proc/self/maps", NULL);
	CHECK_NONE("fake1", ENODEV, "ibv_get_device_list", "fake1", "without /proc",
		   OF(ERROR, DEVICE_PROVIDER, "device", "fake1"));
}

/* A name is found wherever it lies in what is read at once. */
static void check_maps(void)
{
	char maps[3000];
	int found = 0;

	for (size_t at = 990; at < 1040; at++) {
		start_with_kernel(false);
		memset(maps, 'x', sizeof(maps));
		for (size_t end = 99; end < sizeof(maps); end += 100)
			maps[end] = '\n';
		memcpy(maps + at, "/libibverbs.so", 14);
		maps[sizeof(maps) - 1] = '\0';
		fake_tree_file("/proc/self/maps", maps);
		(void)rdmaez_device_open(NULL, &(struct ibv_context *){NULL}, &diag);
		found += rdmaez_diag_find(&diag, RDMAEZ_WHY_PROVIDER_RELEASE) != NULL;
	}
	tap_eq_int(found, 50, "a name is found on both sides of a border");
}

/* ---- Texts ---------------------------------------------------------------------------------- */

static void check_texts(void)
{
	char text[4096];

	start_with_kernel(false);
	fake_tree_file("/dev/infiniband/uverbs0", NULL);
	open_none(NULL, ENODEV, "ibv_get_device_list", "");
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strstr(text, "is missing. It is uverbs0. Next"), "the text names the node");
	rdmaez_diag_json(&diag, text, sizeof(text));
	tap_ok(strstr(text, "\"name\":\"uverbs0\""), "and so does JSON");
	start();
	fake_device_add("q\"b\\c\nd e");
	open_none("x", ENODEV, "ibv_get_device_list", "x");
	rdmaez_diag_json(&diag, text, sizeof(text));
	tap_ok(strstr(text, "\"name\":\"q?b?c?d e\""), "nothing in a name breaks it");
	rdmaez_diag_line(&diag, text, sizeof(text));
	tap_ok(strstr(text, "advice:DEVICE_THERE:device:none"), "and a line has the reason");
}

/* How many descriptors are open. */
static int open_files(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

int main(void)
{
	const int before = open_files();

	check_opens();
	check_no_device();
	check_names();
	check_nodes();
	check_numbers();
	check_errno();
	check_providers();
	check_maps();
	check_texts();
	fake_close_all();
	tap_eq_int(open_files(), before, "no file stays open");
	return tap_done();
}
