/* SPDX-License-Identifier: MIT */
/* Which driver a device has, all that is claimed of each, and the release of the running kernel. */
#include <rdmaez.h>

#include "fake_verbs.h"
#include "tap.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define T(trait)        RDMAEZ_DRIVER_##trait

#define MLX4  (T(TRUSTS_CUR) | T(MTU_ENUM) | T(DEPTH_OUT) | T(DEPTH_IN) | T(PKEY))
#define MLX5  (MLX4 | T(NO_SQD) | T(RATE_LIMIT) | T(DC))
#define MTHCA (MLX4 | T(MTU_2048))

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
	{0x19e5, 0xa222, "hns_roce",
	 T(CUR_EQUAL) | T(NO_SQD) | T(MTU_ENUM) | T(MTU_ACTIVE) | T(DEPTH_OUT) | T(DEPTH_IN) |
		 T(PKEY)},
	{0x8086, 0x1592, "irdma",
	 T(LENIENT) | T(RESET_FINAL) | T(DEPTH_OUT) | T(DEPTH_IN) | T(PKEY)},
	{0x14e4, 0x1750, "bnxt_re",
	 T(LENIENT) | T(MTU_ACTIVE) | T(SWAPS) | T(DEPTH_IN) | T(RATE_LIMIT_RC)},
	{0x1d0f, 0xefa0, "efa", T(TRUSTS_CUR) | T(EFA) | T(SIGNALED) | T(NO_BEACON)},
	{0x1175, 0x24f0, "hfi1 or ib_qib",
	 T(TRUSTS_CUR) | T(STRICT) | T(RNR_TIMER_31) | T(DEPTH_IN) | T(PKEY) | T(NO_RECV_BEACON)},
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

/* Which parts are the driver's: all of its vendor's, or a range whose ends stand in the list of devices. */
static void check_parts(const struct rdmaez_driver *driver, bool is_all, uint32_t part)
{
	static const uint32_t ranges[][2] = {{0x1000, 0x1010},
					     {0x1011, 0x1fff},
					     {0x5a44, 0x6282},
					     {0x6340, 0x6778},
					     {0xa2d0, 0xa2ff}};
	uint32_t first = 0, last = is_all ? UINT32_MAX : 0;

	for (size_t i = 0; !is_all && driver->vendor_id && i < COUNT_OF(ranges); i++)
		if (part >= ranges[i][0] && part <= ranges[i][1]) {
			first = ranges[i][0];
			last = ranges[i][1];
		}
	tap_eq_hex(driver->first_part, first, "part %x: the first of %s", part, driver->name);
	tap_eq_hex(driver->last_part, last, "part %x: the last of %s", part, driver->name);
}

static void check_drivers(void)
{
	for (size_t i = 0; i < COUNT_OF(devices); i++) {
		const bool is_all = devices[i].vendor_id > 1 && devices[i].vendor_id != 0x2c9;
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
		check_parts(driver, is_all, devices[i].part_id);
		tap_eq_hex(driver->vendor_id,
			   strcmp(driver->name, "unknown") == 0 ? 0 : devices[i].vendor_id,
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
		 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_CAP | IBV_QP_RNR_RETRY},
		{0x1175, 0x24f0, ~0},
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
	check_releases();
	return tap_done();
}
