/* SPDX-License-Identifier: MIT */
/* Which driver a device has, all that is claimed of each, and the release of the running kernel. */
#include <rdmaez.h>
#include <rdmaez/implementation.h>

#include "fake_verbs.h"
#include "tap.h"

/* What the doctor knows of drivers. */
#include "../../tools/doctor/driver.c"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define T(trait)        RDMAEZ_DRIVER_##trait

#define MLX4  (T(TRUSTS_CUR) | T(MTU_ENUM) | T(DEPTH_OUT) | T(DEPTH_IN) | T(PKEY))
#define MLX5  (MLX4 | T(NO_SQD) | T(RATE_LIMIT) | T(DC))
#define MTHCA (MLX4 | T(MTU_2048))
#define RDMAVT \
	(T(TRUSTS_CUR) | T(STRICT) | T(RNR_TIMER_31) | T(DEPTH_IN) | T(PKEY) | T(NO_RECV_BEACON))

static const struct {
	uint32_t vendor_id, part_id;
	const char *name;
	unsigned int traits;
} devices[] = {
	{0xffffff, 0, "rdma_rxe",
	 T(TRUSTS_CUR) | T(MTU_MAX) | T(ROCE_V2) | T(TIMEOUT_31) | T(DEPTH_RXE) | T(DEPTH_OUT) |
		 T(DRAINS)},
	{0xffffff, UINT32_MAX, "rdma_rxe",
	 T(TRUSTS_CUR) | T(MTU_MAX) | T(ROCE_V2) | T(TIMEOUT_31) | T(DEPTH_RXE) | T(DEPTH_OUT) |
		 T(DRAINS)},
	{0x2c9, 0xfff, "unknown", T(NO_TABLE)},
	{0x2c9, 0x1000, "mlx4_ib", MLX4},
	{0x2c9, 0x1010, "mlx4_ib", MLX4},
	{0x2c9, 0x1011, "mlx5_ib", MLX5},
	{0x2c9, 0x1fff, "mlx5_ib", MLX5},
	{0x2c9, 0x2000, "unknown", T(NO_TABLE)},
	{0x2c9, 0x5a43, "unknown", T(NO_TABLE)},
	{0x2c9, 0x5a44, "ib_mthca", MTHCA},
	{0x2c9, 0x6282, "ib_mthca", MTHCA},
	{0x2c9, 0x6283, "unknown", T(NO_TABLE)},
	{0x2c9, 0x633f, "unknown", T(NO_TABLE)},
	{0x2c9, 0x6340, "mlx4_ib", MLX4},
	{0x2c9, 0x6778, "mlx4_ib", MLX4},
	{0x2c9, 0x6779, "unknown", T(NO_TABLE)},
	{0x2c9, 0xa2cf, "unknown", T(NO_TABLE)},
	{0x2c9, 0xa2d0, "mlx5_ib", MLX5},
	{0x2c9, 0xa2ff, "mlx5_ib", MLX5},
	{0x2c9, 0xa300, "unknown", T(NO_TABLE)},
	/* Sold by others, under their own ids. */
	{0x5ad, 25218, "ib_mthca", MTHCA},
	{0x66a, 25208, "ib_mthca", MTHCA},
	{0x8f1, 26428, "mlx4_ib", MLX4},
	{0x3ba, 26428, "mlx4_ib", MLX4},
	{0x119f, 4099, "mlx4_ib", MLX4},
	{0x1708, 4115, "mlx5_ib", MLX5},
	{0x15b3, 4119, "mlx5_ib", MLX5},
	{0x1708, 0xfff, "unknown", T(NO_TABLE)},
	{0x19e5, 0xa222, "hns_roce",
	 T(CUR_EQUAL) | T(NO_SQD) | T(MTU_ENUM) | T(MTU_ACTIVE) | T(DEPTH_OUT) | T(DEPTH_IN) |
		 T(PKEY)},
	{0x8086, 0x1592, "irdma",
	 T(LENIENT) | T(RESET_FINAL) | T(DEPTH_OUT) | T(DEPTH_IN) | T(PKEY)},
	{0x14e4, 0x1750, "bnxt_re",
	 T(LENIENT) | T(MTU_ACTIVE) | T(SWAPS) | T(DEPTH_IN) | T(RATE_LIMIT_RC)},
	{0x1d0f, 0xefa0, "efa", T(TRUSTS_CUR) | T(EFA) | T(SIGNALED) | T(NO_BEACON)},
	{0x1175, 0xf, "unknown", T(NO_TABLE)},
	{0x1175, 0x10, "ib_qib", RDMAVT},
	{0x1175, 0x11, "unknown", T(NO_TABLE)},
	{0x1175, 0x24ef, "unknown", T(NO_TABLE)},
	{0x1175, 0x24f0, "hfi1", RDMAVT},
	{0x1175, 0x24f1, "hfi1", RDMAVT},
	{0x1175, 0x24f2, "unknown", T(NO_TABLE)},
	{0x1175, 0x7220, "ib_qib", RDMAVT},
	{0x1175, 0x7322, "ib_qib", RDMAVT},
	{0x1175, 0x17322, "unknown", T(NO_TABLE)},
	{0x1077, 0x1656, "qedr", T(MTU_ENUM) | T(PKEY)},
	{0x10df, 0xe220, "ocrdma", T(MTU_ENUM) | T(MTU_512) | T(DEPTH_OUT) | T(NO_BEACON)},
	{0x15ad, 0x820, "vmw_pvrdma", T(TRUSTS_CUR) | T(RNR_TIMER_31) | T(PKEY)},
	{0x1dd8, 0x1003, "ionic_rdma", T(TRUSTS_CUR) | T(CUR_IONIC) | T(QKEY) | T(RATE_LIMIT_RC)},
	{0x1414, 3, "mana_ib", T(NO_TABLE) | T(RC_ONLY) | T(NO_BEACON)},
	{0x1137, 0xcf, "usnic_verbs", T(NO_TABLE)},
	{0x1425, 0x5410, "iw_cxgb4", T(NO_TABLE) | T(NO_BEACON)},
	{0x1ded, 0x107f, "erdma", T(TRUSTS_CUR) | T(ROCE_V2) | T(PKEY) | T(SWAPS) | T(NO_BEACON)},
	{0x626d74, 1, "siw", T(NO_TABLE) | T(NO_BEACON)},
	{0, 0, "unknown", T(NO_TABLE)}, /* mana_ib before Linux 7 */
	{1, 1, "unknown", T(NO_TABLE)},
};

/* Whose ids resellers replace. */
static bool is_mellanox(const struct rdmaez_driver *driver)
{
	return strncmp(driver->name, "mlx", 3) == 0 || strcmp(driver->name, "ib_mthca") == 0;
}

static void check_drivers(void)
{
	for (size_t i = 0; i < COUNT_OF(devices); i++) {
		const struct rdmaez_driver *driver;
		struct ibv_device_attr device;

		memset(&device, 0, sizeof(device));
		device.vendor_id = devices[i].vendor_id;
		device.vendor_part_id = devices[i].part_id;
		driver = rdmaez_driver_of(&device);
		tap_eq_str(driver->name, devices[i].name, "device %x:%x", devices[i].vendor_id,
			   devices[i].part_id);
		tap_eq_hex(driver->traits, devices[i].traits, "device %x:%x: what its driver does",
			   devices[i].vendor_id, devices[i].part_id);
		tap_eq_int(rdmaez_impl_driver_swaps(&device), (devices[i].traits & T(SWAPS)) != 0,
			   "device %x:%x: which depth is which", devices[i].vendor_id,
			   devices[i].part_id);
		tap_eq_hex(driver->vendor_id,
			   strcmp(driver->name, "unknown") == 0 ? 0
			   : is_mellanox(driver)                ? 0x2c9
								: devices[i].vendor_id,
			   "device %x:%x: whose it is", devices[i].vendor_id, devices[i].part_id);
	}
	tap_eq_str(rdmaez_driver_of(NULL)->name, "unknown", "of no device nothing is known");
}

/* What is believed of an answer, and that no driver that the fake stands for leaves any of that alone. */
static void check_reports(void)
{
	static const struct {
		uint32_t vendor_id, part_id;
		int reports;
	} rows[] = {
		{0, 0, ~0},
		{0xffffff, 0, ~0},
		{0x2c9, 0x1017, ~0},
		{0x2c9, 0xa2d2, ~0},
		{0x2c9, 0x1003, ~IBV_QP_AV},
		{0x2c9, 0x6340, ~IBV_QP_AV},
		{0x2c9, 0x6282, ~0},
		{0x19e5, 0xa222, ~IBV_QP_PKEY_INDEX},
		{0x8086, 0x1592,
		 ~(IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER | IBV_QP_PKEY_INDEX |
		   IBV_QP_EN_SQD_ASYNC_NOTIFY)},
		{0x14e4, 0x1750, ~(IBV_QP_PORT | IBV_QP_EN_SQD_ASYNC_NOTIFY)},
		{0x1d0f, 0xefa0,
		 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_SQ_PSN |
			 IBV_QP_CAP | IBV_QP_RNR_RETRY},
		{0x1175, 0x24f0, ~0},
		{0x1175, 0x7322, ~0},
		{0x1077, 0x1656, ~IBV_QP_EN_SQD_ASYNC_NOTIFY},
		{0x10df, 0xe220, ~IBV_QP_MIN_RNR_TIMER},
		{0x15ad, 0x820, ~(IBV_QP_PORT | IBV_QP_CAP)},
		{0x1dd8, 0x1003, ~(IBV_QP_PORT | IBV_QP_PKEY_INDEX)},
		{0x1414, 3, ~0}, /* it has no query at all */
		{0x1137, 0xcf, IBV_QP_STATE},
		{0x1425, 0x5410, IBV_QP_STATE | IBV_QP_CAP},
		{0x1ded, 0x107f, IBV_QP_STATE | IBV_QP_CAP},
		{0x626d74, 1, IBV_QP_CAP},
	};
	static const char *const releases[] = {"6.1.0", "6.12.0", "7.2.0"};
	/* What rdmaez never asks for, and 0 of efa, whose only P_Key index that is. */
	const int never = IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE |
			  IBV_QP_RATE_LIMIT | IBV_QP_QKEY | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN;
	struct ibv_device_attr device;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		memset(&device, 0, sizeof(device));
		device.vendor_id = rows[i].vendor_id;
		device.vendor_part_id = rows[i].part_id;
		tap_eq_hex(rdmaez_driver_of(&device)->reports, rows[i].reports,
			   "device %x:%x: what its driver reports", device.vendor_id,
			   device.vendor_part_id);
	}
	for (int i = FAKE_PROFILE_PLAIN; i < FAKE_PROFILE_COUNT; i++)
		for (size_t n = 0; n < COUNT_OF(releases); n++) {
			struct fake_device *dev = fake_reset();
			const struct rdmaez_driver *driver;
			int believed;

			fake_uname(releases[n]);
			fake_profile(dev, (enum fake_profile)i);
			driver = rdmaez_driver_of(&dev->attr.orig_attr);
			believed = driver->reports & ~never & ((1 << 21) - 1);
			if (dev->verbs.transport_type == IBV_TRANSPORT_IWARP)
				believed &= IBV_QP_STATE | IBV_QP_CAP;
			if (driver->traits & RDMAEZ_DRIVER_EFA)
				believed &= ~IBV_QP_PKEY_INDEX;
			tap_eq_hex(believed & (int)dev->habits.query_unfilled, 0,
				   "%s (%d) on Linux %s: nothing is believed that it leaves alone",
				   driver->name, i, releases[n]);
		}
}

/* ---- Whole records ------------------------------------------------------------------------ */

#define C(what)        RDMAEZ_DRIVER_COMPARES_##what
#define CHECKS(what)   RDMAEZ_DRIVER_CHECKS_##what
#define FILLS(what)    RDMAEZ_DRIVER_FILLS_##what
#define HABIT(what)    RDMAEZ_DRIVER_HABIT_##what
#define OWN_CAUSES(of) RDMAEZ_DRIVER_CAUSES_##of

/* What is known beyond traits and reports, written down a second time. */
static const struct record {
	const char *name;
	unsigned int compares, checks, fills, habits, causes;
	const char *module, *provider, *parents, *announced, *functions;
} records[] = {
	{"rdma_rxe", C(ALL), CHECKS(SIZES) | CHECKS(STATES) | CHECKS(ATOMICS) | CHECKS(EX),
	 FILLS(ALL), HABIT(COUNT_EINVAL) | HABIT(RETRIES_7) | HABIT(RESET_KEEPS), OWN_CAUSES(RXE),
	 "rdma_rxe", "rxe", "", "", ""},
	{"mlx5_ib", C(CQE) | C(SRQ_WR) | C(TAGS), CHECKS(SIZES) | CHECKS(STATES) | CHECKS(EX),
	 FILLS(OFFLOADS) | FILLS(PACING), HABIT(USUAL), OWN_CAUSES(ALL), "mlx5_ib", "mlx5",
	 "mlx5_core", "mlx5_core.rdma.", "15b3"},
	{"mlx4_ib", C(ALL), CHECKS(SIZES), FILLS(OFFLOADS), HABIT(USUAL), OWN_CAUSES(ALL),
	 "mlx4_ib", "mlx4", "mlx4_core mlx4_en", "mlx4_core.ib.", "15b3:1000-1010 15b3:6340-6778"},
	{"ib_mthca", C(ALL), CHECKS(UNCLAIMED), FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(ALL),
	 "ib_mthca", "mthca", "ib_mthca", "", "15b3:5a44 15b3:5e8c 15b3:6274 15b3:6278 15b3:6282"},
	{"hns_roce", C(ALL), CHECKS(SIZES) | CHECKS(STATES) | CHECKS(OPCODES) | CHECKS(EX),
	 FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(ALL), "hns_roce_hw_v2", "hns", "hns3", "", ""},
	{"irdma", C(SGE) | C(SRQ_SGE), CHECKS(SIZES), FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(ALL),
	 "irdma", "irdma", "ice i40e", "ice.roce. ice.iwarp. i40e.iwarp. idpf.8086.rdma.", ""},
	{"bnxt_re", C(CQE) | C(SGE) | C(SRQ_WR), CHECKS(INLINE), FILLS(NOTHING), HABIT(COMMANDS_63),
	 OWN_CAUSES(ALL), "bnxt_re", "bnxt_re", "bnxt_en", "bnxt_en.rdma.", ""},
	{"efa", C(CQE),
	 CHECKS(SGES) | CHECKS(INLINE) | CHECKS(STATES) | CHECKS(OPCODES) | CHECKS(EX),
	 FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(EFA), "efa", "efa", "efa", "", "1d0f:efa0-efa3"},
	{"hfi1", C(ALL), CHECKS(UNCLAIMED), FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(ALL), "hfi1",
	 "hfi1verbs", "hfi1", "", "8086:24f0-24f1"},
	{"ib_qib", C(ALL), CHECKS(UNCLAIMED), FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(ALL),
	 "ib_qib", "ipathverbs", "ib_qib", "", "1fc1:0010 1077:7220 1077:7322"},
	{"qedr", C(SEND_WR) | C(SGE) | C(SRQ_WR), CHECKS(UNCLAIMED), FILLS(NOTHING), HABIT(USUAL),
	 OWN_CAUSES(ALL), "qedr", "qedr", "qede", "", ""},
	{"ocrdma", C(CQE) | C(SEND_WR) | C(SRQ_WR), CHECKS(UNCLAIMED), FILLS(NOTHING), HABIT(USUAL),
	 OWN_CAUSES(ALL), "ocrdma", "ocrdma", "be2net", "", ""},
	{"vmw_pvrdma", C(CQE) | C(SRQ_WR) | C(SRQ_SGE), CHECKS(UNCLAIMED), FILLS(NOTHING),
	 HABIT(USUAL), OWN_CAUSES(ALL), "vmw_pvrdma", "vmw_pvrdma", "vmw_pvrdma", "", "15ad:0820"},
	{"ionic_rdma", C(CQE), CHECKS(UNCLAIMED), FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(ALL),
	 "ionic_rdma", "ionic", "ionic", "ionic.rdma.", ""},
	{"mana_ib", C(NOTHING), CHECKS(STATES) | CHECKS(OPCODES), FILLS(NOTHING), HABIT(NO_DM_SIZE),
	 OWN_CAUSES(MANA), "mana_ib", "mana", "mana", "mana.rdma.", ""},
	{"usnic_verbs", C(NOTHING), CHECKS(UNCLAIMED), FILLS(NOTHING), HABIT(USUAL),
	 OWN_CAUSES(ALL), "usnic_verbs", "", "enic", "", "1137:00cf"},
	{"iw_cxgb4", C(CQE) | C(RECV_WR) | C(SRQ_WR) | C(SRQ_SGE), CHECKS(UNCLAIMED),
	 FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(CXGB4), "iw_cxgb4", "cxgb4", "cxgb4", "", ""},
	{"erdma", C(NOTHING), CHECKS(INLINE), FILLS(NOTHING), HABIT(USUAL), OWN_CAUSES(ERDMA),
	 "erdma", "erdma", "erdma", "", "1ded:107f"},
	{"siw", C(ALL), CHECKS(INLINE) | CHECKS(RECV_SGE) | CHECKS(FEW), FILLS(ALL), HABIT(PINS),
	 OWN_CAUSES(SIW), "siw", "siw", "", "", ""},
};

/* The drivers that the headers know: each as rdmaez_driver_of() finds it by the first of its parts. */
#define LISTED(name, vendor, first, last, first_2, last_2, traits, reports, compares, checks, \
	       fills, habits, causes, module, provider, parents, announced, functions)        \
	{name, vendor, {first, last, first_2, last_2}},
static const struct {
	const char *name;
	uint32_t vendor_id;
	uint16_t parts[4];
} listed[] = {RDMAEZ_IMPL_DRIVERS(LISTED)};

static const struct rdmaez_driver *driver_of(uint32_t vendor_id, uint32_t part_id)
{
	struct ibv_device_attr device;

	memset(&device, 0, sizeof(device));
	device.vendor_id = vendor_id;
	device.vendor_part_id = part_id;
	return rdmaez_driver_of(&device);
}

static const struct record *record_of(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(records); i++)
		if (strcmp(records[i].name, name) == 0)
			return &records[i];
	return NULL;
}

/* Whether there is a profile of the fake, of any kernel, whose device has this driver. */
static bool has_profile(const struct rdmaez_driver *driver)
{
	static const char *const releases[] = {"6.1.0", "7.2.0"};

	for (int i = FAKE_PROFILE_PLAIN; i < FAKE_PROFILE_COUNT; i++)
		for (size_t n = 0; n < COUNT_OF(releases); n++) {
			struct fake_device *dev = fake_reset();

			fake_uname(releases[n]);
			fake_profile(dev, (enum fake_profile)i);
			if (rdmaez_driver_of(&dev->attr.orig_attr) == driver)
				return true;
		}
	return false;
}

/* Every range is the driver's, to both of its ends, and no other driver stands in the way. */
static void check_ranges(size_t i)
{
	size_t ranges = 0;

	for (size_t n = 0; n < COUNT_OF(listed[i].parts); n += 2) {
		const uint16_t first = listed[i].parts[n], last = listed[i].parts[n + 1];

		if (first > last)
			continue;
		ranges++;
		tap_eq_str(driver_of(listed[i].vendor_id, first)->name, listed[i].name,
			   "part %x of %x", first, listed[i].vendor_id);
		tap_eq_str(driver_of(listed[i].vendor_id, last)->name, listed[i].name,
			   "part %x of %x", last, listed[i].vendor_id);
	}
	tap_ok(ranges > 0, "%s has devices", listed[i].name);
}

static bool is_tested(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(devices); i++)
		if (strcmp(devices[i].name, name) == 0)
			return true;
	return false;
}

/* That a record is whole: no column is left at 0, which would mean that nobody has looked. */
static void check_whole(const struct rdmaez_driver *driver, const struct record *record)
{
	const char *name = driver->name;

	tap_ok(driver->traits && driver->reports && driver->compares && driver->checks &&
		       driver->fills && driver->habits && driver->causes,
	       "%s: every column says something", name);
	tap_ok(record && is_tested(name), "%s is written down a second time", name);
	if (!record)
		return;
	tap_eq_hex(driver->compares, record->compares, "%s: what it compares", name);
	tap_eq_hex(driver->checks, record->checks, "%s: what its provider looks at", name);
	tap_eq_hex(driver->fills, record->fills, "%s: which capabilities it fills", name);
	tap_eq_hex(driver->habits, record->habits, "%s: its habits", name);
	tap_eq_int(driver->causes, (int)record->causes, "%s: whose causes count", name);
}

static void check_records(void)
{
	const struct rdmaez_driver *unknown = rdmaez_driver_of(NULL);
	struct ibv_device_attr device;

	tap_eq_int((int)COUNT_OF(listed), (int)COUNT_OF(records), "as many drivers as listed here");
	for (size_t i = 0; i < COUNT_OF(listed); i++) {
		const struct rdmaez_driver *driver =
			driver_of(listed[i].vendor_id, listed[i].parts[0]);

		memset(&device, 0, sizeof(device));
		device.vendor_id = listed[i].vendor_id;
		tap_eq_int(rdmaez_impl_driver_swaps(&device), (driver->traits & T(SWAPS)) != 0,
			   "%s: which depth is which, by the vendor alone", listed[i].name);
		check_ranges(i);
		check_whole(driver, record_of(listed[i].name));
		tap_ok(has_profile(driver), "%s: the fake has a profile", listed[i].name);
	}
	tap_eq_hex(unknown->compares, C(NOTHING), "of an unknown driver nothing is certain");
	tap_eq_hex(unknown->checks, CHECKS(UNCLAIMED), "nor of its provider");
	tap_eq_hex(unknown->fills, FILLS(NOTHING), "nor what a zero means");
	tap_eq_hex(unknown->habits, HABIT(USUAL), "and nothing is special");
	tap_eq_int(unknown->causes, OWN_CAUSES(ALL), "nor a cause of its own");
}

/* ---- What the doctor knows ---------------------------------------------------------------- */

/* It knows the same drivers as the headers, and one that makes no devices yet. */
static void check_doctor(void)
{
	size_t count;
	const struct doctor_driver *known = doctor_drivers(&count);

	tap_eq_int((int)count, (int)COUNT_OF(listed) + 1, "the doctor knows as many, and bng_re");
	for (size_t i = 0; i < COUNT_OF(listed); i++)
		tap_ok(doctor_driver_by_name(listed[i].name), "the doctor knows %s",
		       listed[i].name);
	for (size_t i = 0; i < count; i++) {
		const struct record *record = record_of(known[i].name);

		if (!record) {
			tap_eq_str(known[i].name, "bng_re", "only this is not in the headers");
			continue;
		}
		tap_eq_str(known[i].module, record->module, "%s: its module", record->name);
		tap_eq_str(known[i].provider, record->provider, "%s: its provider", record->name);
		tap_eq_str(known[i].parents, record->parents, "%s: its parents", record->name);
		tap_eq_str(known[i].announced, record->announced, "%s: how it is announced",
			   record->name);
		tap_eq_str(known[i].functions, record->functions, "%s: its functions",
			   record->name);
	}
}

static const char *name_of(const struct doctor_driver *driver)
{
	return driver ? driver->name : "none";
}

static void check_doctor_finds(void)
{
	static const struct {
		uint64_t vendor, device, class_code;
		const char *name, *parent;
	} functions[] = {
		{0x15b3, 0x1017, 0x020000, "mlx5_ib", "mlx5_core"},
		{0x15b3, 0xa2d2, 0x020000, "mlx5_ib", "mlx5_core"},
		{0x15b3, 0x1010, 0x028000, "mlx4_ib", "mlx4_core"},
		{0x15b3, 0x1011, 0x020000, "mlx5_ib", "mlx5_core"},
		{0x15b3, 0x673c, 0x0c0600, "mlx4_ib", "mlx4_core"},
		{0x15b3, 0x6274, 0x0c0600, "ib_mthca", "ib_mthca"},
		{0x15b3, 0xc2d1, 0x080100, "none", NULL}, /* BlueField's, which is no network */
		{0x1d0f, 0xefa3, 0x020000, "efa", "efa"},
		{0x1d0f, 0xefa4, 0x020000, "none", NULL},
		{0x1d0f, 0xec20, 0x020000, "none", NULL}, /* ENA */
		{0x8086, 0x24f1, 0x020800, "hfi1", "hfi1"},
		{0x8086, 0x1592, 0x020000, "none", NULL},
		{0x1077, 0x7322, 0x0c0600, "ib_qib", "ib_qib"},
		{0x1077, 0x1656, 0x020000, "none", NULL},
	};

	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		const struct doctor_driver *driver = doctor_driver_by_function(
			functions[i].vendor, functions[i].device, functions[i].class_code);

		tap_eq_str(name_of(driver), functions[i].name, "function %x:%x",
			   (unsigned int)functions[i].vendor, (unsigned int)functions[i].device);
		if (driver)
			tap_eq_str(doctor_driver_parent(driver), functions[i].parent,
				   "what makes an adapter of it");
	}
	tap_eq_str(name_of(doctor_driver_by_parent("i40e")), "irdma", "the second of two words");
	tap_eq_str(name_of(doctor_driver_by_parent("mlx")), "none", "half a word");
	tap_eq_str(name_of(doctor_driver_by_parent("efa2")), "none", "more than a word");
	tap_eq_str(name_of(doctor_driver_by_parent("")), "none", "no word");
	tap_eq_str(name_of(doctor_driver_by_announced("i40e.iwarp.0")), "irdma", "a third name");
	tap_eq_str(name_of(doctor_driver_by_announced("bng_en.rdma.0")), "bng_re", "bng_re's");
	tap_eq_str(name_of(doctor_driver_by_announced("mlx5_core.eth.0")), "none", "no RDMA");
	tap_ok(doctor_driver_is_companion(doctor_driver_by_parent("ice"), "ice"), "ice is no RDMA");
	tap_ok(!doctor_driver_is_companion(doctor_driver_by_parent("efa"), "efa"), "efa is");
}

static void check_releases(void)
{
	static const struct {
		const char *release;
		int version;
	} releases[] = {
		{"6.1.0-52-amd64", 601},
		{"6.12.107", 612},
		{"7.2-rc1", 702},
		{"5.10", 510},
		{"4.18.0-553", 418},
		{"6.99.1", 699},
		{"6.100.1", 699},
		{"6.98", 698},
		{"10.0.0", 1000},
		{"6", 600},
		{"6-custom", 600},
		{"custom", 0},
		{"", 0},
		{"6.12345.1", 699},
		{".5", 5},
		{"6.1:2", 601},
		{"6.1/2", 601},
		{"999.5.1", 99905},
		{"9995.1", 999501},
		{"10000.5", 100000}, /* no number is too long to be read */
		{NULL, 0},
	};

	for (size_t i = 0; i < COUNT_OF(releases); i++) {
		fake_uname(releases[i].release);
		tap_eq_int(rdmaez_impl_linux_version(), releases[i].version, "Linux %s",
			   releases[i].release ? releases[i].release : "without a name");
	}
}

int main(void)
{
	fake_reset();
	check_drivers();
	check_reports();
	check_records();
	check_doctor();
	check_doctor_finds();
	check_releases();
	return tap_done();
}
