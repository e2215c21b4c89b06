/* SPDX-License-Identifier: MIT */
/* Asking a device: each way in which the extended query is answered, or is not. */
/* The kernel's release, as the headers below see it. */
#define uname test_uname
#include "caps_list.h"

#include "check.h"
#include <rdmaez/implementation.h>
#undef uname

static struct {
	const char *sysname, *release;
	int error;
	int calls;
} kernel;

int test_uname(struct utsname *name)
{
	kernel.calls++;
	if (kernel.error) {
		errno = kernel.error;
		return -1;
	}
	memset(name, 0x55, sizeof(*name));
	snprintf(name->sysname, sizeof(name->sysname), "%s", kernel.sysname);
	snprintf(name->release, sizeof(name->release), "%s", kernel.release);
	return 0;
}

static struct {
	struct fake_device *dev;
	struct ibv_context *context;
	struct rdmaez_caps caps;
	struct rdmaez_diag diag;
} t;

static void start(const char *release)
{
	kernel.sysname = "Linux";
	kernel.release = release;
	kernel.error = 0;
	kernel.calls = 0;
	t.dev = fake_reset();
	t.context = fake_open(t.dev);
	memset(&t.caps, 0x55, sizeof(t.caps));
	fake_reset_log();
}

static const char *source_of(enum rdmaez_caps_id id)
{
	return rdmaez_caps_source_id((enum rdmaez_caps_source)t.caps.source[id]);
}

static void query(const char *name)
{
	tap_eq_int(rdmaez_caps_query(t.context, &t.caps, &t.diag), 0, "%s: the query", name);
}

/* All fields of the extended query that are zero have this source. */
static void check_zeros(const char *source, const char *name)
{
	struct rdmaez_caps_item item;

	for (size_t i = 0; i < CAPS_EXPECTED; i++) {
		if (caps_expected[i].part < 0)
			continue;
		rdmaez_caps_get(rdmaez_caps_fields(&t.caps), caps_expected[i].id, &item);
		tap_eq_str(source_of(caps_expected[i].id), item.value ? "DEVICE" : source,
			   "%s: where %s comes from", name, caps_expected[i].name);
	}
}

/* ---- An answer ---------------------------------------------------------------------------- */

static void check_full(void)
{
	struct rdmaez_caps decoded;

	start("6.1.0-18-amd64");
	caps_distinct(&t.dev->attr);
	t.dev->ports = 3;
	t.context->num_comp_vectors = 63;
	t.dev->verbs.node_type = IBV_NODE_RNIC;
	t.dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	query("all is answered");
	tap_eq_int(fake_count(FAKE_ANY), 1, "by one call");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE_EX), 1, "of the extended query");
	tap_eq_int(kernel.calls, 1, "and one look at the kernel's release");
	tap_eq_str(t.caps.device.name, "fake0", "the device's name");
	tap_eq_str(t.caps.device.dev_name, "uverbs0", "the file's name");
	tap_eq_int(t.caps.device.node_type, 4, "what it is");
	tap_eq_int(t.caps.device.transport_type, 1, "its transport");
	tap_eq_int(t.caps.device.num_comp_vectors, 63, "its completion vectors");
	for (int id = RDMAEZ_CAPS_NAME; id <= RDMAEZ_CAPS_NUM_COMP_VECTORS; id++)
		tap_eq_str(source_of((enum rdmaez_caps_id)id), "DEVICE", "%s comes from the device",
			   caps_field((unsigned int)id)->name);
	t.dev->attr.comp_mask = 0; /* as the fake answers */
	t.dev->attr.orig_attr.phys_port_cnt = 3;
	caps_put_ports(&t.dev->attr, 3);
	rdmaez_caps_decode(&t.dev->attr, &decoded);
	decoded.device = t.caps.device;
	memcpy(decoded.source, t.caps.source, RDMAEZ_CAPS_FW_VER);
	tap_ok(memcmp(&decoded, &t.caps, sizeof(decoded)) == 0, "all else as it is decoded");
}

/* verbs.h has arrays for the names, and nothing says that they end within. */
static void check_long_names(void)
{
	start("6.1.0");
	memset(t.dev->verbs.name, 'n', sizeof(t.dev->verbs.name));
	memset(t.dev->verbs.dev_name, 'd', sizeof(t.dev->verbs.dev_name));
	query("a device whose names fill their arrays");
	tap_eq_int(strlen(t.caps.device.name), IBV_SYSFS_NAME_MAX - 1, "one byte is cut: name");
	tap_eq_int(strlen(t.caps.device.dev_name), IBV_SYSFS_NAME_MAX - 1, "dev_name");
	tap_eq_int(strspn(t.caps.device.name, "n"), IBV_SYSFS_NAME_MAX - 1, "the rest is there");
}

static void check_no_device(void)
{
	start("6.1.0");
	t.context->device = NULL;
	/* The fake finds its device through the context's container. */
	query("a context that names no device");
	tap_eq_str(t.caps.device.name, "", "has no name");
	tap_eq_str(source_of(RDMAEZ_CAPS_NAME), "NOT_ASKED", "because nobody was asked");
	tap_eq_str(source_of(RDMAEZ_CAPS_TRANSPORT_TYPE), "NOT_ASKED", "nor for its transport");
	tap_eq_str(source_of(RDMAEZ_CAPS_NUM_COMP_VECTORS), "DEVICE", "but for its vectors");
	t.context->device = &t.dev->verbs;
}

/* Which libraries fill what only they can tell: a zero of theirs means no. */
static void check_fillers(void)
{
	static const struct {
		const char *driver;
		uint32_t vendor, part;
		const char *tso, *hash, *pacing, *atomics;
	} fillers[] = {
		{"mlx5_ib", 0x2c9, 0x1017, "DEVICE", "DEVICE", "DEVICE", "DRIVER"},
		{"mlx4_ib", 0x2c9, 0x1003, "DEVICE", "DEVICE", "DRIVER", "DRIVER"},
		{"bnxt_re", 0x14e4, 1, "DRIVER", "DRIVER", "DRIVER", "DRIVER"},
		{"irdma", 0x8086, 1, "DRIVER", "DRIVER", "DRIVER", "DRIVER"},
		{"rdma_rxe", 0xffffff, 0, "DEVICE", "DEVICE", "DEVICE", "DEVICE"},
		{"siw", 0x626d74, 0, "DEVICE", "DEVICE", "DEVICE", "DEVICE"},
		{"one not listed", 1, 1, "DRIVER", "DRIVER", "DRIVER", "DRIVER"},
	};

	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
		const char *driver = fillers[i].driver;

		start("6.1.0");
		t.dev->attr.orig_attr.vendor_id = fillers[i].vendor;
		t.dev->attr.orig_attr.vendor_part_id = fillers[i].part;
		query(driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_MAX_TSO), fillers[i].tso, "%s: TSO", driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_TSO_SUPPORTED_QPTS), fillers[i].tso,
			   "%s: its types", driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_RX_HASH_FUNCTION), fillers[i].hash,
			   "%s: hash functions", driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_QP_RATE_LIMIT_MAX), fillers[i].pacing,
			   "%s: rate limits", driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_QP_RATE_LIMIT_MIN), fillers[i].pacing,
			   "%s: the least", driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_PCI_SWAP), fillers[i].atomics, "%s: PCI atomics",
			   driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_COMP_MASK), "DEVICE", "%s: comp_mask", driver);
		tap_eq_str(source_of(RDMAEZ_CAPS_RAW_PACKET_CAPS), "DEVICE",
			   "%s: what the kernel tells", driver);
	}
	start("6.1.0");
	t.dev->attr.orig_attr.vendor_id = 0x14e4;
	t.dev->attr.packet_pacing_caps.qp_rate_limit_max = 1000;
	query("bnxt_re of rdma-core 62");
	tap_eq_str(source_of(RDMAEZ_CAPS_QP_RATE_LIMIT_MIN), "DEVICE", "tells the least as well");
}

/* ---- The kernel's age --------------------------------------------------------------------- */

static void check_release(const char *release, const char *source)
{
	start(release);
	t.dev->attr.device_cap_flags_ex = 1;
	query(release);
	tap_eq_str(source_of(RDMAEZ_CAPS_XRC_ODP_CAPS), source, "Linux %s: XRC paging", release);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), source, "Linux %s: device memory", release);
	tap_eq_str(source_of(RDMAEZ_CAPS_RSS_SUPPORTED_QPTS), source, "Linux %s: hashes", release);
	tap_eq_str(source_of(RDMAEZ_CAPS_HCA_CORE_CLOCK), "DEVICE",
		   "Linux %s: what comes before an answer", release);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_TSO), "DRIVER",
		   "Linux %s: what the provider's library tells", release);
}

static void check_kernels(void)
{
	static const char *const old[] = {"5.0.21", "5.0",    "4.20.17", "4.18.0-513.el8.x86_64",
					  "3.10.0", "5",      "5.",      "5x9",
					  "",       "v6.1",   "0.0",     "4.999",
					  "-6.1.0", " 6.1.0", "5.-1"};
	static const char *const young[] = {"5.1.0",
					    "5.1",
					    "5.1-rc1",
					    "5.10.0-28-amd64",
					    "6.0.0",
					    "6",
					    "6.",
					    "10.0",
					    "6.12.107+deb13-amd64",
					    "99999999999999999999.0",
					    "5.99999999999999999999"};

	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		check_release(old[i], "OLD_KERNEL");
	for (size_t i = 0; i < sizeof(young) / sizeof(young[0]); i++)
		check_release(young[i], "DEVICE");

	start("6.1.0");
	kernel.sysname = "FreeBSD";
	query("another kernel");
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "OLD_KERNEL", "says nothing by its release");
	start("6.1.0");
	kernel.error = EFAULT;
	query("without a release");
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "OLD_KERNEL", "nothing is known");
}

/* ---- Who does not answer ------------------------------------------------------------------ */

/* What a provider or a library of one's own answers. */
static struct {
	int result;
	int error;  /* what it sets errno to; 0: it does not */
	bool dirty; /* the answer is written although it is none */
	struct ibv_device_attr_ex attr;
} own;

static int answer(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	if (input)
		return EINVAL;
	if (own.dirty)
		memset(attr, 0x77, attr_size);
	else
		memcpy(attr, &own.attr, attr_size);
	errno = own.error ? own.error : errno;
	return own.result;
}

static void start_own(const char *release, int result, bool dirty)
{
	start(release);
	own.result = result;
	own.error = 0;
	own.dirty = dirty;
	memset(&own.attr, 0, sizeof(own.attr));
	own.attr.orig_attr = t.dev->attr.orig_attr;
	own.attr.orig_attr.phys_port_cnt = 1;
	verbs_get_ctx(t.context)->query_device_ex = answer;
}

/* The plain query answers, whatever the extended one has done to the struct. */
static void check_plain(const char *name)
{
	query(name);
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "%s: the plain query is asked", name);
	tap_eq_int(t.caps.limits.max_qp, 1024, "%s: what it tells", name);
	tap_eq_int(t.caps.device.port_count, 2, "%s: the number of ports is right", name);
	tap_eq_int(t.caps.device.phys_port_cnt_ex, 0, "%s: though not by the extended one", name);
	tap_eq_str(source_of(RDMAEZ_CAPS_PHYS_PORT_CNT_EX), "PLAIN", "%s: and why", name);
	check_zeros("PLAIN", name);
	tap_eq_hex(t.caps.features.flags, t.dev->attr.orig_attr.device_cap_flags,
		   "%s: the flags are those of the plain query", name);
}

static void check_fallback(void)
{
	start("6.1.0");
	t.dev->ports = 2;
	verbs_get_ctx(t.context)->query_device_ex = NULL;
	check_plain("no extended query");
	start("6.1.0");
	t.dev->ports = 2;
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, ENOSYS);
	check_plain("ENOSYS");
	start("6.1.0");
	t.dev->ports = 2;
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EOPNOTSUPP);
	check_plain("EOPNOTSUPP");
	start_own("6.1.0", EOPNOTSUPP, true);
	t.dev->ports = 2;
	check_plain("EOPNOTSUPP and half an answer");
	start_own("6.1.0", -EOPNOTSUPP, true);
	t.dev->ports = 2;
	check_plain("EOPNOTSUPP with a minus");
	start_own("6.1.0", -ENOSYS, true);
	t.dev->ports = 2;
	check_plain("ENOSYS with a minus");
	start_own("6.1.0", -1, true);
	t.dev->ports = 2;
	own.error = EOPNOTSUPP;
	check_plain("-1 and EOPNOTSUPP in errno");
}

/* The library took the old command inside its extended query: success, and nothing but the plain part. */
static void check_inner_fallback(void)
{
	start_own("6.1.0", 0, false);
	query("a library that fell back by itself");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 0, "is not asked again");
	check_zeros("PLAIN", "a library that fell back by itself");
	tap_eq_int(t.caps.device.port_count, 1, "the number of ports is right");
	start_own("6.1.0", 0, false);
	own.attr.orig_attr.phys_port_cnt = 255;
	query("300 ports and a library that does not count them");
	tap_eq_int(t.caps.device.port_count, 255, "as many as the plain query can tell");
}

static void check_failures(void)
{
	static const int errors[] = {EIO, EINVAL, ENODEV, EPERM, ENOMEM};
	const struct rdmaez_caps before = t.caps;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		start_own("6.1.0", errors[i], true);
		t.caps = before;
		check_refusal(&t.diag, rdmaez_caps_query(t.context, &t.caps, &t.diag), errors[i],
			      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_device_ex", "%d is returned",
			      errors[i]);
		tap_eq_str(t.diag.call, "rdmaez_caps_query", "the record names the call");
		tap_eq_str(t.diag.verb, "ibv_query_device_ex", "and the verb that failed");
		tap_eq_str(t.diag.device, "fake0", "and the device");
		tap_eq_int(rdmaez_caps_query(t.context, &t.caps, NULL), errors[i],
			   "%d: no record is needed", errors[i]);
		own.result = -errors[i];
		if (errors[i] == EPERM)
			own.error = EPERM; /* -EPERM is the -1 that stands for errno */
		tap_eq_int(rdmaez_caps_query(t.context, &t.caps, &t.diag), errors[i],
			   "%d with a minus is returned without it", errors[i]);
		tap_ok(memcmp(&t.caps, &before, sizeof(before)) == 0, "and nothing is written");
		tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 0, "nor is anyone else asked");
	}
	start("6.1.0");
	t.caps = before;
	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EOPNOTSUPP);
	fake_fail(FAKE_QUERY_DEVICE, 0, EIO);
	tap_eq_int(rdmaez_caps_query(t.context, &t.caps, &t.diag), EIO,
		   "the plain query that the library asks by itself fails too");
	start_own("6.1.0", -EOPNOTSUPP, true);
	t.caps = before;
	fake_fail(FAKE_QUERY_DEVICE, 0, EIO);
	check_refusal(&t.diag, rdmaez_caps_query(t.context, &t.caps, &t.diag), EIO,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_device", "or the one asked instead");
	tap_eq_str(t.diag.verb, "ibv_query_device", "the record names it");
	start("6.1.0");
	t.caps = before;
	verbs_get_ctx(t.context)->query_device_ex = NULL;
	fake_fail(FAKE_QUERY_DEVICE, 0, EOPNOTSUPP);
	tap_eq_int(rdmaez_caps_query(t.context, &t.caps, &t.diag), EOPNOTSUPP,
		   "neither is supported");
	tap_ok(memcmp(&t.caps, &before, sizeof(before)) == 0, "nothing is written then either");
	fake_reset_log();
	check_refusal(&t.diag, rdmaez_caps_query(NULL, &t.caps, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "no device");
	tap_eq_str(t.diag.verb, NULL, "which no verb was asked");
	check_refusal(&t.diag, rdmaez_caps_query(t.context, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "caps", "nowhere to put it");
	tap_eq_int(rdmaez_caps_query(NULL, NULL, NULL), EINVAL, "nothing at all");
	tap_eq_int(fake_count(FAKE_ANY), 0, "none gets as far as a verb");
}

/* ---- Short answers ------------------------------------------------------------------------ */

/* An old kernel's answer ends with this part; its library is old, too, and counts no ports. */
static void check_short(int last)
{
	char name[64];

	snprintf(name, sizeof(name), "an old kernel's answer with %d parts", last);
	start_own("4.9.0", 0, false);
#define TELL_PART(id, path, member, kind, merge, part) \
	if (part >= 1 && part <= last)                 \
		caps_put(&own.attr.path, sizeof(own.attr.path), 1);
	CAPS_FULL(TELL_PART)
#undef TELL_PART
	own.attr.orig_attr.vendor_id = 0xffffff; /* rdma_rxe, whose zeros mean no */
	query(name);
	for (size_t i = 0; i < CAPS_EXPECTED; i++) {
		const struct caps_expected *want = &caps_expected[i];

		if (want->part < 0)
			continue;
		tap_eq_str(source_of(want->id), want->part <= last ? "DEVICE" : "OLD_KERNEL",
			   "%s: where %s comes from", name, want->name);
		tap_eq_int(rdmaez_caps_answer(rdmaez_caps_fields(&t.caps), want->id),
			   want->part > last ? RDMAEZ_ANSWER_UNKNOWN
			   : want->part      ? RDMAEZ_ANSWER_YES
					     : RDMAEZ_ANSWER_NO,
			   "%s: the answer to %s", name, want->name);
	}
	tap_eq_str(source_of(RDMAEZ_CAPS_PHYS_PORT_CNT_EX), "OLD_LIBRARY", "%s: the ports", name);
	tap_eq_int(t.caps.device.port_count, 1, "%s: are counted all the same", name);
}

/* ---- What is known of drivers ------------------------------------------------------------- */

static void check_depths(uint32_t vendor, bool swapped, const char *name)
{
	start("6.1.0");
	t.dev->attr.orig_attr.vendor_id = vendor;
	t.dev->attr.orig_attr.max_qp_rd_atom = 3;
	t.dev->attr.orig_attr.max_qp_init_rd_atom = 5;
	query(name);
	tap_eq_int(t.caps.depths.max_qp_rd_atom, swapped ? 5 : 3, "%s: what it serves", name);
	tap_eq_int(t.caps.depths.max_qp_init_rd_atom, swapped ? 3 : 5, "%s: what it asks", name);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_QP_RD_ATOM), swapped ? "CORRECTED" : "DEVICE",
		   "%s: and says so", name);
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_QP_INIT_RD_ATOM), swapped ? "CORRECTED" : "DEVICE",
		   "%s: of both", name);
	t.dev->attr.orig_attr.max_qp_rd_atom = 0;
	t.dev->attr.orig_attr.max_qp_init_rd_atom = 0;
	query(name);
	tap_eq_int(rdmaez_caps_answer(rdmaez_caps_fields(&t.caps), RDMAEZ_CAPS_MAX_QP_RD_ATOM),
		   RDMAEZ_ANSWER_NO, "%s: none is an answer", name);
}

static void check_drivers(void)
{
	check_depths(0x1ded, true, "erdma");
	check_depths(0x14e4, true, "bnxt_re");
	check_depths(0x2c9, false, "mlx5_ib");
	check_depths(0xffffff, false, "rdma_rxe");

	start("6.1.0");
	t.dev->attr.orig_attr.vendor_id = 0x1414;
	query("mana_ib");
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "DRIVER", "mana_ib tells no size of memory");
	start("6.1.0");
	t.dev->attr.orig_attr.vendor_id = 0x2c9;
	t.dev->attr.orig_attr.vendor_part_id = 0xa2d6;
	query("mlx5_ib");
	tap_eq_str(source_of(RDMAEZ_CAPS_PCI_FETCH_ADD), "DRIVER", "mlx5_ib was refused");
	tap_eq_str(source_of(RDMAEZ_CAPS_MAX_DM_SIZE), "DEVICE", "and has no device memory");
}

static void check_ports(void)
{
	start("6.1.0");
	t.dev->ports = 300;
	query("300 ports");
	tap_eq_int(t.caps.device.phys_port_cnt, 255, "the plain number ends at 255");
	tap_eq_int(t.caps.device.phys_port_cnt_ex, 300, "the extended one does not");
	tap_eq_int(t.caps.device.port_count, 300, "so there are 300");
	verbs_get_ctx(t.context)->query_device_ex = NULL;
	query("300 ports by the plain query");
	tap_eq_int(t.caps.device.phys_port_cnt_ex, 0, "the extended number is not told");
	tap_eq_int(t.caps.device.port_count, 255, "so there are 255 at least");
}

int main(void)
{
	check_full();
	check_long_names();
	check_no_device();
	check_fillers();
	check_kernels();
	check_fallback();
	check_inner_fallback();
	check_failures();
	for (int last = 1; last <= 11; last++)
		check_short(last);
	check_drivers();
	check_ports();
	fake_close_all();
	return tap_done();
}
