/* SPDX-License-Identifier: MIT */
/* Every name of str.h, and "unknown" for every other number. */
#include <limits.h>

#include "check.h"

struct named {
	long long value;
	const char *name;
};

/* The names of a function: all of `named`, and none for any other value from -300 to 70000. */
static void check(const char *what, const char *(*str)(long long), const struct named *named,
		  size_t count)
{
	static const long long far[] = {INT_MIN, INT_MIN + 1, -70000,      1 << 17,
					1 << 26, 1 << 30,     INT_MAX - 1, INT_MAX};
	int wrong = 0;

	for (size_t i = 0; i < count; i++)
		tap_eq_str(str(named[i].value), named[i].name, "%s %lld is called %s", what,
			   named[i].value, named[i].name);
	for (long long value = -300; value <= 70000; value++) {
		size_t i = 0;

		while (i < count && named[i].value != value)
			i++;
		if (i == count && strcmp(str(value), "unknown") != 0) {
			tap_diag("%lld is called %s", value, str(value));
			wrong++;
		}
	}
	tap_eq_int(wrong, 0, "%s: no other number up to 70000 has a name", what);
	for (size_t i = 0; i < COUNT_OF(far); i++) {
		size_t n = 0;

		while (n < count && named[n].value != far[i])
			n++;
		if (n == count)
			tap_eq_str(str(far[i]), "unknown", "%s %lld is unknown", what, far[i]);
	}
}

#define CHECK(what, str, named) check(what, str, named, COUNT_OF(named))

static const char *state(long long value)
{
	return rdmaez_qp_state_str((enum ibv_qp_state)value);
}

static const char *type(long long value)
{
	return rdmaez_qp_type_str((enum ibv_qp_type)value);
}

static const char *mtu(long long value)
{
	return rdmaez_mtu_str((enum ibv_mtu)value);
}

static const char *mig_state(long long value)
{
	return rdmaez_mig_state_str((enum ibv_mig_state)value);
}

/* Its argument has eight bits, so the numbers beyond stand for an unknown one. */
static const char *link_layer(long long value)
{
	return rdmaez_link_layer_str(value >= 0 && value <= 255 ? (uint8_t)value : 255);
}

static const char *gid_type(long long value)
{
	return rdmaez_gid_type_str((uint32_t)value);
}

static const char *qp_attr(long long value)
{
	return rdmaez_qp_attr_str((int)value);
}

static const char *access_flag(long long value)
{
	return rdmaez_access_str((int)value);
}

static const char *opcode(long long value)
{
	return rdmaez_wr_opcode_str((enum ibv_wr_opcode)value);
}

static const char *error(long long value)
{
	return rdmaez_errno_str((int)value);
}

static void check_enums(void)
{
	static const struct named states[] = {{IBV_QPS_RESET, "RESET"}, {IBV_QPS_INIT, "INIT"},
					      {IBV_QPS_RTR, "RTR"},     {IBV_QPS_RTS, "RTS"},
					      {IBV_QPS_SQD, "SQD"},     {IBV_QPS_SQE, "SQE"},
					      {IBV_QPS_ERR, "ERR"}};
	static const struct named types[] = {{IBV_QPT_RC, "RC"},
					     {IBV_QPT_UC, "UC"},
					     {IBV_QPT_UD, "UD"},
					     {IBV_QPT_RAW_PACKET, "RAW_PACKET"},
					     {IBV_QPT_XRC_SEND, "XRC_SEND"},
					     {IBV_QPT_XRC_RECV, "XRC_RECV"},
					     {IBV_QPT_DRIVER, "DRIVER"},
					     {0xf1, "SRD"},
					     {0xf2, "DCI"},
					     {0xf3, "DCT"}};
	static const struct named mtus[] = {{IBV_MTU_256, "256"},
					    {IBV_MTU_512, "512"},
					    {IBV_MTU_1024, "1024"},
					    {IBV_MTU_2048, "2048"},
					    {IBV_MTU_4096, "4096"}};
	static const struct named mig_states[] = {
		{IBV_MIG_MIGRATED, "MIGRATED"}, {IBV_MIG_REARM, "REARM"}, {IBV_MIG_ARMED, "ARMED"}};
	static const struct named link_layers[] = {{IBV_LINK_LAYER_UNSPECIFIED, "unspecified"},
						   {IBV_LINK_LAYER_INFINIBAND, "InfiniBand"},
						   {IBV_LINK_LAYER_ETHERNET, "Ethernet"}};
	static const struct named gid_types[] = {{IBV_GID_TYPE_IB, "IB"},
						 {IBV_GID_TYPE_ROCE_V1, "RoCE v1"},
						 {IBV_GID_TYPE_ROCE_V2, "RoCE v2"}};

	/* By number, for the last two have no name in old headers. */
	static const struct named opcodes[] = {{0, "RDMA_WRITE"},
					       {1, "RDMA_WRITE_WITH_IMM"},
					       {2, "SEND"},
					       {3, "SEND_WITH_IMM"},
					       {4, "RDMA_READ"},
					       {5, "ATOMIC_CMP_AND_SWP"},
					       {6, "ATOMIC_FETCH_AND_ADD"},
					       {7, "LOCAL_INV"},
					       {8, "BIND_MW"},
					       {9, "SEND_WITH_INV"},
					       {10, "TSO"},
					       {11, "DRIVER1"},
					       {14, "FLUSH"},
					       {15, "ATOMIC_WRITE"}};

	CHECK("opcode", opcode, opcodes);
	CHECK("state", state, states);
	CHECK("type", type, types);
	CHECK("MTU", mtu, mtus);
	CHECK("migration state", mig_state, mig_states);
	CHECK("link layer", link_layer, link_layers);
	CHECK("GID type", gid_type, gid_types);
}

static void check_flags(void)
{
	/* By number, for these are names of an interface that does not change. */
	static const struct named attrs[] = {{0x1, "IBV_QP_STATE"},
					     {0x2, "IBV_QP_CUR_STATE"},
					     {0x4, "IBV_QP_EN_SQD_ASYNC_NOTIFY"},
					     {0x8, "IBV_QP_ACCESS_FLAGS"},
					     {0x10, "IBV_QP_PKEY_INDEX"},
					     {0x20, "IBV_QP_PORT"},
					     {0x40, "IBV_QP_QKEY"},
					     {0x80, "IBV_QP_AV"},
					     {0x100, "IBV_QP_PATH_MTU"},
					     {0x200, "IBV_QP_TIMEOUT"},
					     {0x400, "IBV_QP_RETRY_CNT"},
					     {0x800, "IBV_QP_RNR_RETRY"},
					     {0x1000, "IBV_QP_RQ_PSN"},
					     {0x2000, "IBV_QP_MAX_QP_RD_ATOMIC"},
					     {0x4000, "IBV_QP_ALT_PATH"},
					     {0x8000, "IBV_QP_MIN_RNR_TIMER"},
					     {0x10000, "IBV_QP_SQ_PSN"},
					     {0x20000, "IBV_QP_MAX_DEST_RD_ATOMIC"},
					     {0x40000, "IBV_QP_PATH_MIG_STATE"},
					     {0x80000, "IBV_QP_CAP"},
					     {0x100000, "IBV_QP_DEST_QPN"},
					     {0x2000000, "IBV_QP_RATE_LIMIT"}};
	static const struct named accesses[] = {{0x1, "IBV_ACCESS_LOCAL_WRITE"},
						{0x2, "IBV_ACCESS_REMOTE_WRITE"},
						{0x4, "IBV_ACCESS_REMOTE_READ"},
						{0x8, "IBV_ACCESS_REMOTE_ATOMIC"},
						{0x10, "IBV_ACCESS_MW_BIND"},
						{0x20, "IBV_ACCESS_ZERO_BASED"},
						{0x40, "IBV_ACCESS_ON_DEMAND"},
						{0x80, "IBV_ACCESS_HUGETLB"},
						{0x100, "IBV_ACCESS_FLUSH_GLOBAL"},
						{0x200, "IBV_ACCESS_FLUSH_PERSISTENT"},
						{0x100000, "IBV_ACCESS_RELAXED_ORDERING"}};

	CHECK("attribute", qp_attr, attrs);
	CHECK("access flag", access_flag, accesses);
	for (int bit = 0; bit < 32; bit++) {
		const int flag = (int)(1u << bit);
		const bool has_name = bit <= 20 || bit == 25;

		tap_eq_int(strcmp(rdmaez_qp_attr_str(flag), "unknown") != 0, has_name,
			   "attribute bit %d %s a name", bit, has_name ? "has" : "has not");
		tap_eq_int(strcmp(rdmaez_access_str(flag), "unknown") != 0, bit <= 9 || bit == 20,
			   "access bit %d %s a name", bit,
			   bit <= 9 || bit == 20 ? "has" : "has not");
	}
}

#define NAMED(symbol) {symbol, #symbol}

static void check_errno(void)
{
	static const struct named errors[] = {
		{0, "0"},
		NAMED(EPERM),
		NAMED(ENOENT),
		NAMED(EINTR),
		NAMED(EIO),
		NAMED(ENXIO),
		NAMED(E2BIG),
		NAMED(EBADF),
		NAMED(EAGAIN),
		NAMED(ENOMEM),
		NAMED(EACCES),
		NAMED(EFAULT),
		NAMED(EBUSY),
		NAMED(EEXIST),
		NAMED(ENODEV),
		NAMED(EINVAL),
		NAMED(EMFILE),
		NAMED(ENOSPC),
		NAMED(ERANGE),
		NAMED(ENOSYS),
		NAMED(ENODATA),
		NAMED(EPROTO),
		NAMED(EOVERFLOW),
		NAMED(EMSGSIZE),
		NAMED(EPROTONOSUPPORT),
		NAMED(EOPNOTSUPP),
		NAMED(EADDRINUSE),
		NAMED(EADDRNOTAVAIL),
		NAMED(ENETDOWN),
		NAMED(ENETUNREACH),
		NAMED(ECONNRESET),
		NAMED(ENOTCONN),
		NAMED(ETIMEDOUT),
		NAMED(ECONNREFUSED),
		NAMED(EHOSTUNREACH),
		NAMED(EPIPE),
		NAMED(EBADMSG),
		NAMED(ENOTSOCK),
		NAMED(EREMOTEIO),
		NAMED(EAFNOSUPPORT),
		NAMED(ECONNABORTED),
		/* By number, for no header for programs has them: include/linux/errno.h of Linux 6.12. */
		{512, "ERESTARTSYS"},
		{513, "ERESTARTNOINTR"},
		{514, "ERESTARTNOHAND"},
		{515, "ENOIOCTLCMD"},
		{516, "ERESTART_RESTARTBLOCK"},
		{517, "EPROBE_DEFER"},
		{518, "EOPENSTALE"},
		{519, "ENOPARAM"},
		{521, "EBADHANDLE"},
		{522, "ENOTSYNC"},
		{523, "EBADCOOKIE"},
		{524, "ENOTSUPP"},
		{525, "ETOOSMALL"},
		{526, "ESERVERFAULT"},
		{527, "EBADTYPE"},
		{528, "EJUKEBOX"},
		{529, "EIOCBQUEUED"},
		{530, "ERECALLCONFLICT"},
		{531, "ENOGRACE"},
	};

	CHECK("errno", error, errors);
}

int main(void)
{
	check_enums();
	check_flags();
	check_errno();
	return tap_done();
}
