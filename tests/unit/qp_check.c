/* SPDX-License-Identifier: MIT */
/*
 * rdmaez_qp_check() on the fake, which has the types and drivers that no software device has: the
 * answer to random requests is foreseen, or at least nothing false is said, and every mistake is told to
 * the last number. (tests/device/random_check.c does the first on a real kernel.)
 */
#include "process.h"

#include <sys/socket.h>

#define open   test_open
#define socket test_socket

static int test_socket(int family, int type, int protocol);

#include <arpa/inet.h>

#include "fake_verbs.h"
#include "findings.h"
#include "fixture.h"
#include <rdmaez/implementation.h>
#include "random_request.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static struct fake_device *dev;
static struct ibv_context *context;

/* ---- Random requests ---------------------------------------------------------------------- */

static const enum ibv_qp_type types[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
};

/* What nobody outside the driver or the kernel can know of it. */
enum keeps {
	NOTHING,
	PORT,    /* whether the kernel has a port for a queue pair that never was in INIT */
	REASONS, /* some of its reasons to refuse, or the queue pair's state */
	UD_TYPE  /* of UD on InfiniBand, whether it is an underlay queue pair, and the port */
};

static const struct driver {
	enum fake_profile profile;
	const char *name;
	enum keeps keeps;
} drivers[] = {
	{FAKE_PROFILE_PLAIN, "unknown", REASONS},  {FAKE_PROFILE_RXE, "rdma_rxe", NOTHING},
	{FAKE_PROFILE_MLX5, "mlx5_ib", PORT},      {FAKE_PROFILE_MLX5_UNDERLAY, "mlx5_ib", UD_TYPE},
	{FAKE_PROFILE_MLX4, "mlx4_ib", PORT},      {FAKE_PROFILE_MLX4_BONDED, "mlx4_ib", PORT},
	{FAKE_PROFILE_EFA, "efa", PORT},           {FAKE_PROFILE_SIW, "siw", REASONS},
	{FAKE_PROFILE_BNXT_RE, "bnxt_re", PORT},   {FAKE_PROFILE_ERDMA, "erdma", REASONS},
	{FAKE_PROFILE_ERDMA_ROCE, "erdma", PORT},  {FAKE_PROFILE_MANA, "mana_ib", REASONS},
	{FAKE_PROFILE_IONIC, "ionic_rdma", PORT},  {FAKE_PROFILE_HNS, "hns_roce", PORT},
	{FAKE_PROFILE_IRDMA, "irdma", REASONS},    {FAKE_PROFILE_MTHCA, "ib_mthca", PORT},
	{FAKE_PROFILE_OCRDMA, "ocrdma", PORT},     {FAKE_PROFILE_QEDR, "qedr", REASONS},
	{FAKE_PROFILE_PVRDMA, "vmw_pvrdma", PORT}, {FAKE_PROFILE_RDMAVT, "hfi1", REASONS},
	{FAKE_PROFILE_QIB, "ib_qib", REASONS},     {FAKE_PROFILE_USNIC, "usnic_verbs", REASONS},
	{FAKE_PROFILE_CXGB4, "iw_cxgb4", REASONS}, {FAKE_PROFILE_IRDMA_IWARP, "irdma", REASONS},
};

static void begin(enum fake_profile profile, const char *release)
{
	dev = fixture_device(profile, release);
	dev->habits.stale = 0xa5;
	dev->quirks |= FAKE_PRIVILEGED_QKEY;
	process_reset(PROCESS_CAP_NET_RAW);
	context = fake_open(dev);
}

/* A walk of many requests on queue pairs of one type; of a driver type if `kind` is one. */
static void walk(const struct driver *driver, const char *release, enum ibv_qp_type type,
		 enum fake_driver_type kind)
{
	const bool is_ud = type == IBV_QPT_UD;
	const int steps = kind == FAKE_DCT ? 4 : 100; /* RTR is the end of it */
	struct tally tally;
	char name[96];

	memset(&tally, 0, sizeof(tally));
	tally.keeps_port = driver->keeps != NOTHING;
	/* Since Linux 7 these ask the device who may have a rate limit, and when. */
	tally.own_reasons = driver->keeps == REASONS || (driver->keeps == UD_TYPE && is_ud) ||
			    (release[0] == '7' && (strcmp(driver->name, "mlx5_ib") == 0 ||
						   strcmp(driver->name, "bnxt_re") == 0 ||
						   strcmp(driver->name, "ionic_rdma") == 0));
	tally.type = kind ? type : (enum ibv_qp_type)0;
	for (int i = 0; i < 800; i += steps) {
		struct ibv_qp *qp;

		begin(driver->profile, release);
		if (rdmaez_port_gids(context, 1, gids, 64, &gid_count, NULL) || !gid_count)
			tap_bail("no GIDs");
		qp = kind ? fake_qp_driver(context, kind) : fake_qp(context, type);
		for (int j = 0; j < steps; j++)
			one_request(qp, &tally);
	}
	snprintf(name, sizeof(name), "%s (%d) on Linux %s, %s", driver->name, (int)driver->profile,
		 release, rdmaez_qp_type_str(type));
	judge(&tally, name);
}

static void foresee(void)
{
	static const struct driver dc = {FAKE_PROFILE_MLX5, "mlx5_ib", REASONS};
	static const char *const releases[] = {"6.1.0", "6.4.0", "6.12.0", "7.2.0"};
	unsigned int walked = 0;

	for (size_t d = 0; d < COUNT_OF(drivers); walked |= 1u << drivers[d++].profile)
		for (size_t r = 0; r < COUNT_OF(releases); r++) {
			begin(drivers[d].profile, releases[r]);
			tap_eq_str(rdmaez_driver_of(&dev->attr.orig_attr)->name,
				   drivers[d].profile == FAKE_PROFILE_MANA && r < 3
					   ? "unknown"
					   : drivers[d].name,
				   "%s of Linux %s is recognised by its ids", drivers[d].name,
				   releases[r]);
			for (size_t t = 0; t < COUNT_OF(types); t++)
				if (dev->qp_types & FAKE_QPT(types[t]) &&
				    (!dev->habits.modify_types ||
				     dev->habits.modify_types & FAKE_QPT(types[t])))
					walk(&drivers[d], releases[r], types[t],
					     FAKE_NO_DRIVER_TYPE);
		}
	tap_eq_hex(walked, FIXTURE_DRIVERS | 1u << FAKE_PROFILE_PLAIN, "each driver of the fake");
	walk(&drivers[6], "6.1.0", RDMAEZ_QPT_SRD, FAKE_SRD);
	/* Their depths have limits that no query tells, and no query tells a DCT's state before RTR. */
	walk(&dc, "6.1.0", RDMAEZ_QPT_DCI, FAKE_DCI);
	walk(&dc, "6.1.0", RDMAEZ_QPT_DCT, FAKE_DCT);
}

/* ---- Requests, one by one ----------------------------------------------------------------- */

/* A device to make mistakes on. */
struct model {
	enum fake_profile profile;
	const char *release;
	uint32_t vendor_id; /* 0: the profile's */
	bool infiniband;
};

static const struct model plain = {FAKE_PROFILE_PLAIN, "6.1.0", 0, false},
			  usnic = {FAKE_PROFILE_PLAIN, "6.1.0", 0x1137, false},
			  cxgb4 = {FAKE_PROFILE_SIW, "6.12.0", 0x1425, false},
			  rxe = {FAKE_PROFILE_RXE, "6.1.0", 0, false},
			  mlx5 = {FAKE_PROFILE_MLX5, "6.1.0", 0, false},
			  mlx5ib = {FAKE_PROFILE_MLX5_UNDERLAY, "6.1.0", 0, true},
			  mlx4 = {FAKE_PROFILE_MLX4, "6.1.0", 0, false},
			  mlx4ib = {FAKE_PROFILE_MLX4, "6.1.0", 0, true},
			  old = {FAKE_PROFILE_MLX4, "5.4.0", 0, false},
			  bonded = {FAKE_PROFILE_MLX4_BONDED, "6.1.0", 0, false},
			  efa = {FAKE_PROFILE_EFA, "6.1.0", 0, true},
			  siw = {FAKE_PROFILE_SIW, "6.1.0", 0, true},
			  bnxt = {FAKE_PROFILE_BNXT_RE, "6.1.0", 0, false},
			  erdma = {FAKE_PROFILE_ERDMA, "6.1.0", 0, true},
			  erdma_roce = {FAKE_PROFILE_ERDMA_ROCE, "7.2.0", 0, false},
			  mana = {FAKE_PROFILE_MANA, "7.2.0", 0, false},
			  ionic = {FAKE_PROFILE_IONIC, "7.2.0", 0, false},
			  hns = {FAKE_PROFILE_HNS, "6.1.0", 0, false},
			  irdma = {FAKE_PROFILE_IRDMA, "6.1.0", 0, false},
			  mthca = {FAKE_PROFILE_MTHCA, "6.1.0", 0, true},
			  ocrdma = {FAKE_PROFILE_OCRDMA, "6.1.0", 0, false},
			  qedr = {FAKE_PROFILE_QEDR, "6.1.0", 0, false},
			  pvrdma = {FAKE_PROFILE_PVRDMA, "6.1.0", 0, false},
			  rdmavt = {FAKE_PROFILE_RDMAVT, "6.1.0", 0, true};

static const struct model *at; /* the device that there is now */

static void start(const struct model *model)
{
	at = model;
	begin(model->profile, model->release);
	dev->quirks &= ~(uint32_t)FAKE_PRIVILEGED_QKEY;
	process_reset(PROCESS_CAP_OTHERS);
	if (model->vendor_id)
		dev->attr.orig_attr.vendor_id = model->vendor_id;
	if (model->infiniband && dev->verbs.transport_type == IBV_TRANSPORT_IB)
		fake_port_infiniband(&dev->port[1]);
	dev->port[2] = dev->port[1];
	dev->attr.orig_attr.max_qp_init_rd_atom = 16;
	dev->attr.orig_attr.max_qp_rd_atom = 16;
}

/* A path to a peer: on Ethernet by GID index 3, which is IPv4 and RoCE v2. */
static struct rdmaez_path path(void)
{
	struct rdmaez_path way;

	memset(&way, 0, sizeof(way));
	if (at->infiniband) {
		way.dlid = 5;
		return way;
	}
	way.dgid.raw[10] = way.dgid.raw[11] = 0xff;
	way.dgid.raw[12] = 192;
	way.dgid.raw[15] = 9;
	way.sgid_index = 3;
	return way;
}

/* A right request for the transition, to be spoilt. */
static struct rdmaez_qp_move right(enum ibv_qp_type type, enum ibv_qp_state from,
				   enum ibv_qp_state to)
{
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;

	memset(&opts, 0, sizeof(opts));
	opts.path = path();
	opts.dest_qp_num = 17;
	memset(&move, 0, sizeof(move));
	if (rdmaez_qp_attr(type, from, to, &opts, &move, NULL))
		tap_bail("no right request for %s to %s", rdmaez_qp_state_str(from),
			 rdmaez_qp_state_str(to));
	return move;
}

/* A queue pair in a state, which library and driver know, and where peers may read and write. */
static struct ibv_qp *qp_in(enum ibv_qp_type type, enum ibv_qp_state state)
{
	struct ibv_qp *qp = fake_qp(context, type);

	fixture_state(qp, state);
	fixture_truth(qp)->qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
	return qp;
}

/* A vector with a GID index of this port, towards the GID of another. */
static struct ibv_ah_attr vector(uint8_t own, int peer)
{
	struct ibv_ah_attr ah;

	memset(&ah, 0, sizeof(ah));
	ah.is_global = 1;
	ah.port_num = 1;
	ah.grh.sgid_index = own;
	ah.grh.hop_limit = 64;
	ah.grh.dgid = dev->port[1].gid[peer].gid;
	return ah;
}

/* An alternate path like the primary one. */
static void alternate(struct rdmaez_qp_move *move)
{
	move->attr_mask |= IBV_QP_ALT_PATH;
	move->attr.alt_ah_attr = move->attr.ah_attr;
	move->attr.alt_port_num = 1;
	move->attr.alt_timeout = 14;
}

static void cur_state(struct rdmaez_qp_move *move, int state)
{
	move->attr_mask |= IBV_QP_CUR_STATE;
	move->attr.cur_qp_state = (enum ibv_qp_state)state;
}

static void depths(int out, int in)
{
	dev->attr.orig_attr.max_qp_init_rd_atom = out;
	dev->attr.orig_attr.max_qp_rd_atom = in;
}

static void pkeys(uint16_t of_port, uint16_t of_device)
{
	dev->port[1].attr.pkey_tbl_len = of_port;
	dev->attr.orig_attr.max_pkeys = of_device;
}

static void expect(struct ibv_qp *qp, const struct rdmaez_qp_move *move, int error,
		   const struct expected *want, size_t count, const char *name)
{
	const unsigned int calls = fake_count(FAKE_MODIFY_QP);
	struct rdmaez_diag diag;
	const int got = rdmaez_qp_check(qp, &move->attr, move->attr_mask, &diag);

	check_findings(&diag, got, error, "rdmaez_qp_check", want, count, name);
	tap_eq_int(rdmaez_qp_check(qp, &move->attr, move->attr_mask, NULL), error,
		   "%s: also without a record", name);
	tap_eq_int(fake_count(FAKE_MODIFY_QP), calls, "%s: nothing was modified", name);
}

#define RESET IBV_QPS_RESET
#define INIT  IBV_QPS_INIT
#define RTR   IBV_QPS_RTR
#define RTS   IBV_QPS_RTS
#define SQD   IBV_QPS_SQD
#define SQE   IBV_QPS_SQE
#define ERR   IBV_QPS_ERR

/* Makes a right request on a fresh device, spoils it by a statement, and expects just these findings. */
#define REQUEST(model, type, from, to, spoilt, error, ...)                                      \
	do {                                                                                    \
		start(model);                                                                   \
		struct ibv_qp *qp = qp_in(IBV_QPT_##type, from);                                \
		struct rdmaez_qp_move move = right(IBV_QPT_##type, from, to);                   \
		struct ibv_qp_attr *attr = &move.attr;                                          \
		const struct expected want[] = {__VA_ARGS__{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NONE, \
							    "", RDMAEZ_VALUE_NONE, 0, 0, 0}};   \
		(void)attr;                                                                     \
		spoilt;                                                                         \
		expect(qp, &move, error, want, COUNT_OF(want) - 1,                              \
		       #model ", " #type ", " #from " to " #to ": " #spoilt);                   \
	} while (0)

/* One finding of each kind; the comma is part of it. */
#define ERROR(reason, field, kind, value, min, max)                                   \
	{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field,          RDMAEZ_VALUE_##kind, \
	 (uint64_t)(value), (uint64_t)(min),     (uint64_t)(max)},
#define LIKELY(reason, field, kind, value, min, max)                                   \
	{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field,          RDMAEZ_VALUE_##kind, \
	 (uint64_t)(value),  (uint64_t)(min),     (uint64_t)(max)},
/* After the objection to the GID index. */
#define SUITS(row) LIKELY(GID_SUITS, "ah_attr.grh.sgid_index", GID_INDEX, row, 0, 0)

#define ADVICE(reason, field, kind, value, min, max)                                   \
	{RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_##reason, field,          RDMAEZ_VALUE_##kind, \
	 (uint64_t)(value),  (uint64_t)(min),     (uint64_t)(max)},

static void bits(void)
{
	REQUEST(&mlx4, RC, RTR, RTS, move.attr_mask |= 1 << 21, EOPNOTSUPP,
		ERROR(MASK_UNKNOWN, "attr_mask", ATTR_MASK, 0x200000, 0x0, 0x212e01));
	REQUEST(&mlx4, RC, RTR, RTS, move.attr_mask |= 1 << 24, EOPNOTSUPP,
		ERROR(MASK_UNKNOWN, "attr_mask", ATTR_MASK, 0x1000000, 0x0, 0x1012e01));
	REQUEST(&mlx4, RC, RTR, RTS, move.attr_mask |= (int)(1u << 31), EOPNOTSUPP,
		ERROR(MASK_UNKNOWN, "attr_mask", ATTR_MASK, 0x80000000, 0x0, 0x80012e01));
	REQUEST(&mlx5, RC, RTR, RTS, move.attr_mask |= 1 << 26, 0,
		LIKELY(MASK_UNKNOWN, "attr_mask", ATTR_MASK, 0x4000000, 0x0, 0x4012e01));
	REQUEST(&mlx5, RC, RTR, RTS, move.attr_mask |= 1 << 24 | 1 << 27, EOPNOTSUPP,
		ERROR(MASK_UNKNOWN, "attr_mask", ATTR_MASK, 0x9000000, 0x0, 0x9012e01));
	REQUEST(&mlx4, RC, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, EOPNOTSUPP,
		ERROR(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&mlx4, RC, RTR, RTS, (fake_uname("7.2.0"), move.attr_mask |= IBV_QP_RATE_LIMIT),
		EOPNOTSUPP,
		ERROR(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&plain, RC, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, 0,
		LIKELY(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&bnxt, RC, RTR, RTS, (fake_uname("6.99.1"), move.attr_mask |= IBV_QP_RATE_LIMIT),
		EOPNOTSUPP,
		ERROR(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&bnxt, RC, INIT, RTR, (fake_uname("7.0.0"), move.attr_mask |= IBV_QP_RATE_LIMIT),
		0, );
	REQUEST(&bnxt, RC, RTR, RTS, (fake_uname("7.0.0"), move.attr_mask |= IBV_QP_RATE_LIMIT),
		0, );
	REQUEST(&bnxt, RC, RTS, RTS, (fake_uname("7.0.0"), move.attr_mask |= IBV_QP_RATE_LIMIT),
		0, );
	REQUEST(&bnxt, RC, RTS, SQD, (fake_uname("7.0.0"), move.attr_mask |= IBV_QP_RATE_LIMIT), 0,
		LIKELY(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2000001));
	REQUEST(&bnxt, UD, RTR, RTS, (fake_uname("7.0.0"), move.attr_mask |= IBV_QP_RATE_LIMIT), 0,
		LIKELY(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2010001));
	REQUEST(&bnxt, RC, RTR, RTS, (fake_uname(NULL), move.attr_mask |= IBV_QP_RATE_LIMIT), 0, );
	REQUEST(&bnxt, UD, RTR, RTS, (fake_uname(NULL), move.attr_mask |= IBV_QP_RATE_LIMIT), 0,
		LIKELY(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2010001));
	REQUEST(&ionic, RC, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, 0, );
	REQUEST(&ionic, UD, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, 0,
		LIKELY(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2010001));
	REQUEST(&mlx5, RC, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, EINVAL,
		ERROR(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&mlx5, RAW_PACKET, RTR, RTS, move.attr_mask |= IBV_QP_RATE_LIMIT, 0, );
	REQUEST(&mlx5, RAW_PACKET, RESET, INIT, move.attr_mask |= IBV_QP_RATE_LIMIT, EINVAL,
		ERROR(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2000021));
	REQUEST(&mlx5, RC, RTR, RTS, (fake_uname("6.99.0"), move.attr_mask |= IBV_QP_RATE_LIMIT),
		EINVAL, ERROR(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&mlx5, RC, RTR, RTS, (fake_uname("7.0.0"), move.attr_mask |= IBV_QP_RATE_LIMIT), 0,
		LIKELY(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&mlx5, RAW_PACKET, RTR, RTS,
		(fake_uname("7.0.0"), move.attr_mask |= IBV_QP_RATE_LIMIT), 0, );
	REQUEST(&mlx5, RAW_PACKET, RTR, RTS,
		(fake_uname("7.0.0"), move.attr_mask = IBV_QP_RATE_LIMIT), 0, );
	REQUEST(&mlx5, RAW_PACKET, RTR, RTS,
		(fake_uname("6.12.0"), move.attr_mask = IBV_QP_RATE_LIMIT), EINVAL,
		ERROR(TRANSITION, "qp_state", STATE, 0x2, 0x0, 0x49));
	REQUEST(&mlx5, RC, RTR, RTS, (fake_uname(NULL), move.attr_mask |= IBV_QP_RATE_LIMIT), 0,
		LIKELY(MASK_RATE_LIMIT, "attr_mask", ATTR_MASK, 0x2000000, 0x0, 0x2012e01));
	REQUEST(&mana, UD, RESET, INIT, (void)0, 0,
		LIKELY(NOT_SUPPORTED, "qp_type", TYPE, 4, 0, 0));
	REQUEST(&mana, RC, RESET, INIT, (void)0, 0, );
	REQUEST(&mana, RC, RESET, INIT, move.attr_mask &= ~IBV_QP_PORT, 0,
		LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x20, 0x0, 0x19));
}

static void ports(void)
{
	REQUEST(&mlx4, RC, RESET, INIT, attr->port_num = 2, EINVAL,
		ERROR(PORT, "port_num", NUMBER, 2, 1, 1));
	REQUEST(&mlx4, RC, RESET, INIT, attr->port_num = 0, EINVAL,
		ERROR(PORT, "port_num", NUMBER, 0, 1, 1));
	REQUEST(&mlx4, RC, RESET, INIT, (dev->ports = 2, attr->port_num = 2), 0, );
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.port_num = 9, EINVAL,
		ERROR(PORT, "ah_attr.port_num", NUMBER, 9, 1, 1));
	REQUEST(&mlx4, RC, INIT, RTR, (dev->ports = 2, attr->ah_attr.port_num = 2), EINVAL,
		ERROR(PORT_MISMATCH, "ah_attr.port_num", NUMBER, 2, 1, 1));
	REQUEST(&hns, RC, INIT, RTR, (dev->ports = 2, attr->ah_attr.port_num = 2), EINVAL,
		ERROR(PORT_MISMATCH, "ah_attr.port_num", NUMBER, 2, 1, 1));
	REQUEST(&mlx4, RC, INIT, RTR, (dev->ports = 2, fixture_truth(qp)->port_num = 2), EINVAL,
		ERROR(PORT_MISMATCH, "ah_attr.port_num", NUMBER, 1, 2, 2));
	REQUEST(&mlx4, RC, INIT, RTR, fixture_truth(qp)->port_num = 2, 0, );
	REQUEST(&plain, RC, INIT, RTR, (dev->ports = 2, attr->ah_attr.port_num = 2), 0,
		LIKELY(PORT_MISMATCH, "ah_attr.port_num", NUMBER, 2, 1, 1));
	REQUEST(&plain, RC, INIT, RTR, (dev->ports = 2, fixture_truth(qp)->port_num = 3), 0, );
	REQUEST(&plain, RC, INIT, RTR, (dev->ports = 2, fixture_truth(qp)->port_num = 0), 0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(dev->ports = 2, dev->habits.query_refused = IBV_QP_PORT,
		 attr->ah_attr.port_num = 2),
		0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(dev->ports = 2, fixture_truth(qp)->port_num = 2, fake_qp_force(qp, RTR)), EINVAL,
		ERROR(TRANSITION, "qp_state", STATE, 0x2, 0x0, 0x49));
	REQUEST(&rxe, RC, INIT, RTR,
		(qp = fake_qp(context, IBV_QPT_RC), attr->ah_attr.grh.sgid_index = 9), EINVAL,
		ERROR(PORT_MISMATCH, "ah_attr.port_num", NUMBER, 1, 0, 0)
			ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 9, 0, 0)
				ERROR(TRANSITION, "qp_state", STATE, 0x2, 0x0, 0x3) SUITS(3));
	REQUEST(&mlx4, RC, INIT, RTR,
		(qp = fake_qp(context, IBV_QPT_RC), attr->ah_attr.grh.sgid_index = 9), ENODATA,
		ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 9, 0, 0)
			ERROR(TRANSITION, "qp_state", STATE, 0x2, 0x0, 0x3) SUITS(3));
	REQUEST(&rxe, RC, INIT, RTR,
		(qp = fake_qp(context, IBV_QPT_RC), dev->habits.query_refused = IBV_QP_PORT),
		EINVAL, ERROR(TRANSITION, "qp_state", STATE, 0x2, 0x0, 0x3));
	REQUEST(&mlx4ib, RC, SQD, SQD,
		(dev->ports = 2, move.attr_mask |= IBV_QP_AV | IBV_QP_PORT, attr->port_num = 1,
		 attr->ah_attr.port_num = 2),
		EINVAL, ERROR(PORT_MISMATCH, "ah_attr.port_num", NUMBER, 2, 1, 1));
	REQUEST(&mlx4ib, RC, SQD, SQD,
		(dev->ports = 2, move.attr_mask |= IBV_QP_AV, attr->ah_attr.port_num = 2), 0, );
	REQUEST(&mlx4ib, UC, SQD, SQD, (move.attr_mask |= IBV_QP_AV, attr->ah_attr.port_num = 1),
		EINVAL, ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x20, 0x0, 0xa1));
	REQUEST(&mlx4ib, RC, INIT, RTR, (alternate(&move), attr->alt_port_num = 0), EINVAL,
		ERROR(PORT, "alt_port_num", NUMBER, 0, 1, 1));
	REQUEST(&mlx4ib, RC, INIT, RTR, (alternate(&move), attr->alt_ah_attr.port_num = 7), EINVAL,
		ERROR(PORT, "alt_ah_attr.port_num", NUMBER, 7, 1, 1));
	REQUEST(&mlx4ib, RC, INIT, RTR, (dev->ports = 2, alternate(&move), attr->alt_port_num = 2),
		EINVAL, ERROR(PORT_MISMATCH, "alt_ah_attr.port_num", NUMBER, 1, 2, 2));
	REQUEST(&mlx4ib, RC, INIT, RTR, alternate(&move), 0, );
	REQUEST(&plain, RC, INIT, RTR,
		(dev->ports = 2, fixture_truth(qp)->qp_state = (enum ibv_qp_state)7,
		 fixture_truth(qp)->port_num = 2),
		0, );
	REQUEST(&plain, RC, INIT, RTR,
		(dev->ports = 2, fixture_truth(qp)->port_num = 2, attr->ah_attr.port_num = 2,
		 dev->port[2].attr.state = IBV_PORT_DOWN),
		0, ADVICE(PORT_DOWN, "port_attr.state", PORT_STATE, 1, 4, 4));
	REQUEST(&plain, RC, RTR, RTS,
		(dev->ports = 2, alternate(&move), attr->alt_ah_attr = vector(3, 3)), EINVAL,
		ERROR(APM, "alt_ah_attr", NONE, 0, 0, 0));
	REQUEST(&plain, RC, RESET, INIT,
		(dev->ports = 2, attr->port_num = 2, attr->pkey_index = 200), 0,
		LIKELY(PKEY_INDEX, "pkey_index", NUMBER, 200, 0, 15));
}

static void states(void)
{
	REQUEST(&mlx4, RC, INIT, RTR, attr->qp_state = (enum ibv_qp_state)7, EINVAL,
		ERROR(QP_STATE, "qp_state", NUMBER, 7, 0, 6));
	REQUEST(&mlx4, RC, RTR, RTS, cur_state(&move, 7), EINVAL,
		ERROR(QP_STATE, "cur_qp_state", NUMBER, 7, 0, 6)
			ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 7, 2, 2));
	REQUEST(&mlx4, RC, RTR, RTS, cur_state(&move, 258), 0, );
	REQUEST(&mlx4, RC, RTR, RTS, attr->qp_state = (enum ibv_qp_state)259, 0, );
	REQUEST(&mlx4, UD, RESET, INIT, attr->qkey = 0x80000000u, 0,
		LIKELY(QKEY_PRIVILEGED, "qkey", HEX, 0x80000000, 0x0, 0x7fffffff));
	REQUEST(&mlx4, UD, RESET, INIT, attr->qkey = 0x7fffffff, 0, );
	REQUEST(&ionic, UD, RESET, INIT, attr->qkey = 0x80010000u, EPERM,
		ERROR(QKEY_NEVER, "qkey", HEX, 0x80010000, 0x0, 0x7fffffff));
	REQUEST(&ionic, UD, RESET, INIT, attr->qkey = 0x7fffffff, 0, );
	REQUEST(&ionic, UD, RESET, INIT, (attr->qkey = 0x80010000u, move.attr_mask &= ~IBV_QP_PORT),
		EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x20, 0x0, 0x51)
			ERROR(QKEY_NEVER, "qkey", HEX, 0x80010000, 0x0, 0x7fffffff));
	REQUEST(&mlx4, RC, RESET, INIT, attr->qkey = 0x80000000u, 0, );
	REQUEST(&ionic, RC, RESET, INIT, attr->qkey = 0x80000000u, 0, );
}

static void addresses(void)
{
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.is_global = 0, EINVAL,
		ERROR(GRH_MISSING, "ah_attr.is_global", NUMBER, 0, 1, 1));
	REQUEST(&mlx4ib, RC, INIT, RTR, attr->ah_attr.is_global = 0, 0, );
	REQUEST(&mlx4ib, RC, INIT, RTR,
		(attr->ah_attr.is_global = 0, dev->port[1].attr.flags = IBV_QPF_GRH_REQUIRED),
		EINVAL, ERROR(GRH_MISSING, "ah_attr.is_global", NUMBER, 0, 1, 1));
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 16, EINVAL,
		ERROR(GID_INDEX, "ah_attr.grh.sgid_index", NUMBER, 16, 0, 15));
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 15, ENODATA,
		ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 15, 0, 0) SUITS(3));
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->ah_attr.grh.sgid_index = 15, attr->ah_attr.grh.hop_limit = 1), ENODATA,
		ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 15, 0, 0) SUITS(3));
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 5, EINVAL,
		ERROR(GID_FAMILY, "ah_attr.grh.sgid_index", INDEX, 5, 0, 0) SUITS(3));
	REQUEST(&mlx4, RC, INIT, RTR, dev->port[1].gid[3].ifindex = 0, ENODEV,
		ERROR(GID_NO_NETDEV, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0) SUITS(2));
	REQUEST(&mlx4, RC, INIT, RTR, fake_fail(FAKE_QUERY_GID_EX, 0, EIO), 0, );
	REQUEST(&rxe, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 2, EINVAL,
		ERROR(GID_TYPE_REFUSED, "ah_attr.grh.sgid_index", INDEX, 2, 0, 0) SUITS(3));
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 2, 0,
		ADVICE(GID_SUITS, "ah_attr.grh.sgid_index", GID_INDEX, 3, 0, 0)
			ADVICE(GID_ROCE_V1, "ah_attr.grh.sgid_index", INDEX, 2, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->ah_attr.grh.sgid_index = 1,
		 attr->ah_attr.grh.dgid = dev->port[1].gid[5].gid),
		0, ADVICE(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 5, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->ah_attr.grh.sgid_index = 0, attr->ah_attr.grh.dgid = dev->port[1].gid[5].gid,
		 dev->port[1].gid[1].type = dev->port[1].gid[3].type = dev->port[1].gid[5].type =
			 IBV_GID_TYPE_ROCE_V1),
		0,
		ADVICE(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 4, 0, 0)
			ADVICE(GID_ROCE_V1, "ah_attr.grh.sgid_index", INDEX, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->ah_attr.grh.sgid_index = 1, attr->ah_attr.grh.dgid = dev->port[1].gid[1].gid,
		 attr->ah_attr.grh.hop_limit = 1),
		0, ADVICE(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 3, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->ah_attr.grh.sgid_index = 5, attr->ah_attr.grh.dgid.raw[10] = 0,
		 attr->ah_attr.grh.dgid.raw[0] = 0xff),
		0, );
	REQUEST(&mlx4, XRC_SEND, INIT, RTR, attr->ah_attr.grh.sgid_index = 5, EINVAL,
		ERROR(GID_FAMILY, "ah_attr.grh.sgid_index", INDEX, 5, 0, 0) SUITS(3));
	REQUEST(&mlx4, XRC_RECV, INIT, RTR, attr->ah_attr.grh.sgid_index = 5, EINVAL,
		ERROR(GID_FAMILY, "ah_attr.grh.sgid_index", INDEX, 5, 0, 0) SUITS(3));
	REQUEST(&mlx4, UC, INIT, RTR, attr->ah_attr.grh.sgid_index = 5, EINVAL,
		ERROR(GID_FAMILY, "ah_attr.grh.sgid_index", INDEX, 5, 0, 0) SUITS(3));
	REQUEST(&mlx4, UD, INIT, RTR, (move.attr_mask |= IBV_QP_AV, attr->ah_attr = vector(5, 3)),
		EINVAL, ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x80, 0x0, 0x81));
	REQUEST(&mlx4ib, RC, INIT, RTR,
		(attr->ah_attr = vector(0, 0), attr->ah_attr.grh.dgid.raw[0] = 0x20,
		 attr->ah_attr.grh.hop_limit = 1),
		0, ADVICE(HOP_LIMIT, "ah_attr.grh.hop_limit", NUMBER, 1, 2, 255));
	REQUEST(&mlx4ib, RC, INIT, RTR, attr->ah_attr = vector(1, 0), ENODATA,
		ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 1, 0, 0) SUITS(0));
	REQUEST(&mlx4ib, XRC_SEND, INIT, RTR, attr->ah_attr = vector(200, 0), EINVAL,
		ERROR(GID_INDEX, "ah_attr.grh.sgid_index", NUMBER, 200, 0, 15));
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.hop_limit = 1, 0,
		ADVICE(HOP_LIMIT, "ah_attr.grh.hop_limit", NUMBER, 1, 2, 255));
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.hop_limit = 0, 0,
		ADVICE(HOP_LIMIT, "ah_attr.grh.hop_limit", NUMBER, 0, 2, 255));
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.hop_limit = 2, 0, );
	REQUEST(&old, RC, INIT, RTR, dev->port[1].gid[3].ifindex = 0, 0,
		LIKELY(GID_NO_NETDEV, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR, memset(dev->port[1].gid, 0, sizeof(dev->port[1].gid)),
		ENODATA,
		ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0)
			LIKELY(GID_TABLE_EMPTY, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(memset(dev->port[1].gid, 0, sizeof(dev->port[1].gid)),
		 dev->port[1].gid[6].gid.raw[0] = 0x20,
		 dev->port[1].gid[6].type = IBV_GID_TYPE_ROCE_V2, dev->port[1].gid[6].ifindex = 7),
		ENODATA, ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		memset(&attr->ah_attr.grh.dgid, 0, sizeof(attr->ah_attr.grh.dgid)), EINVAL,
		ERROR(PATH_EMPTY, "ah_attr.grh.dgid", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(memset(&attr->ah_attr.grh.dgid, 0, sizeof(attr->ah_attr.grh.dgid)),
		 attr->ah_attr.grh.sgid_index = 5),
		0, LIKELY(PATH_EMPTY, "ah_attr.grh.dgid", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->dest_qp_num = qp->qp_num, attr->ah_attr.grh.dgid = dev->port[1].gid[3].gid),
		0, ADVICE(QP_SELF, "dest_qp_num", NUMBER, qp->qp_num, 1, 0xffffff));
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = qp->qp_num, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, attr->ah_attr.grh.dgid = dev->port[1].gid[3].gid, 0, );
	REQUEST(&mlx4ib, RC, INIT, RTR,
		(attr->dest_qp_num = qp->qp_num, attr->ah_attr.is_global = 0,
		 attr->ah_attr.dlid = dev->port[1].attr.lid),
		0, ADVICE(QP_SELF, "dest_qp_num", NUMBER, qp->qp_num, 1, 0xffffff));
	REQUEST(&mlx4ib, RC, INIT, RTR,
		(attr->dest_qp_num = qp->qp_num, attr->ah_attr.is_global = 0,
		 attr->ah_attr.dlid = 77),
		0, );
	for (int bit = IBV_QP_AV; bit; bit = bit == IBV_QP_AV ? IBV_QP_DEST_QPN : 0)
		REQUEST(&mlx4ib, RC, INIT, RTR,
			(attr->dest_qp_num = qp->qp_num, attr->ah_attr.is_global = 0,
			 attr->ah_attr.dlid = dev->port[1].attr.lid, move.attr_mask &= ~bit),
			EINVAL,
			ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, bit, 0x0, 0x129181 & ~bit));
	REQUEST(&mlx4, RC, INIT, RTR, alternate(&move), EINVAL,
		ERROR(APM, "alt_ah_attr", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR, (alternate(&move), attr->alt_ah_attr.is_global = 0), EINVAL,
		ERROR(GRH_MISSING, "alt_ah_attr.is_global", NUMBER, 0, 1, 1)
			ERROR(APM, "alt_ah_attr", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR, (alternate(&move), attr->alt_ah_attr.grh.sgid_index = 16),
		EINVAL,
		ERROR(GID_INDEX, "alt_ah_attr.grh.sgid_index", NUMBER, 16, 0, 15)
			ERROR(APM, "alt_ah_attr", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR, (alternate(&move), attr->alt_ah_attr.grh.sgid_index = 15),
		ENODATA,
		ERROR(GID_EMPTY, "alt_ah_attr.grh.sgid_index", INDEX, 15, 0, 0)
			ERROR(APM, "alt_ah_attr", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR, fake_fail(FAKE_QUERY_PORT, 0, EIO), 0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(fake_fail(FAKE_QUERY_PORT, 0, EIO), attr->ah_attr.is_global = 0), 0, );
}

static void masks(void)
{
	REQUEST(&mlx4, RC, INIT, RTR, attr->qp_state = RTS, EINVAL,
		ERROR(TRANSITION, "qp_state", STATE, 0x3, 0x0, 0x47));
	REQUEST(&mlx4, RC, INIT, RTR, move.attr_mask &= ~IBV_QP_DEST_QPN, EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&mlx4, RC, RTR, RTS, move.attr_mask |= IBV_QP_PATH_MTU, EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x100, 0x0, 0x12f01)
			ERROR(ENUM, "path_mtu", MTU, 0, 1, 5));
	REQUEST(&mlx4, RC, RTR, RTS, move.attr_mask |= IBV_QP_CAP, EINVAL,
		ERROR(MASK_CAP, "attr_mask", ATTR_MASK, 0x80000, 0x0, 0x92e01));
	REQUEST(&mlx4, XRC_SEND, RTR, RTS, move.attr_mask |= IBV_QP_MIN_RNR_TIMER, 0,
		ADVICE(MASK_DROPPED, "attr_mask", ATTR_MASK, 0x8000, 0x0, 0x1ae01));
	REQUEST(&mlx4, XRC_SEND, INIT, RTR, move.attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC, 0,
		ADVICE(MASK_DROPPED, "attr_mask", ATTR_MASK, 0x20000, 0x0, 0x121181));
	REQUEST(&mlx4, XRC_RECV, RTR, RTS,
		move.attr_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC, 0,
		ADVICE(MASK_DROPPED, "attr_mask", ATTR_MASK, 0x2c00, 0x0, 0x12e01));
	REQUEST(&plain, RC, INIT, RTR, move.attr_mask &= ~IBV_QP_DEST_QPN, 0,
		LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&usnic, UD, RESET, INIT, move.attr_mask &= ~IBV_QP_QKEY, 0,
		LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x40, 0x0, 0x31));
	REQUEST(&irdma, RC, INIT, RTR, move.attr_mask &= ~IBV_QP_DEST_QPN, EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&irdma, RC, INIT, INIT, move.attr_mask = IBV_QP_TIMEOUT, 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&bnxt, RC, INIT, INIT, move.attr_mask = IBV_QP_TIMEOUT, 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, INIT, INIT, move.attr_mask = IBV_QP_TIMEOUT, EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, INIT, INIT, (fake_uname("6.3.9"), move.attr_mask = IBV_QP_TIMEOUT),
		EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, INIT, INIT, (fake_uname("6.4.0"), move.attr_mask = IBV_QP_TIMEOUT), 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, INIT, INIT, (fake_uname("7.2.0"), move.attr_mask = IBV_QP_TIMEOUT), 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	/* A vendor's kernel: an old number, and newer drivers. */
	REQUEST(&rxe, RC, INIT, INIT, (fake_uname("6.0.19"), move.attr_mask = IBV_QP_TIMEOUT), 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, INIT, INIT,
		(fake_uname("5.14.0-570.12.1.el9_6"), move.attr_mask = IBV_QP_TIMEOUT), 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, INIT, INIT, (fake_uname(NULL), move.attr_mask = IBV_QP_TIMEOUT), 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x200)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, INIT, RTR, (fake_uname("7.2.0"), move.attr_mask &= ~IBV_QP_DEST_QPN),
		EINVAL, ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&rxe, RC, INIT, RTR, (fake_uname(NULL), move.attr_mask &= ~IBV_QP_DEST_QPN), EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&mlx5ib, UD, INIT, INIT, move.attr_mask = IBV_QP_STATE | IBV_QP_CUR_STATE, 0,
		LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x70, 0x0, 0x3)
			LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x2, 0x0, 0x3)
				ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 0, 1, 1));
	REQUEST(&mlx5ib, UD, RESET, INIT, move.attr_mask = IBV_QP_STATE, 0,
		LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x70, 0x0, 0x1));
	REQUEST(&mlx5ib, UD, RESET, INIT, move.attr_mask &= ~IBV_QP_QKEY, EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x40, 0x0, 0x31));
	REQUEST(&mlx5, UD, RESET, INIT, move.attr_mask = IBV_QP_STATE, EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x70, 0x0, 0x1));
	REQUEST(&mlx5ib, RC, RESET, INIT, move.attr_mask = IBV_QP_STATE, EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x38, 0x0, 0x1));
	REQUEST(&mlx4ib, UD, RESET, INIT, move.attr_mask = IBV_QP_STATE, EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x70, 0x0, 0x1));
	REQUEST(&mlx4, RC, INIT, RTR,
		(dev->habits.query_errno = EINVAL, move.attr_mask &= ~IBV_QP_DEST_QPN), 0,
		LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&mlx4, RC, RTS, RTS,
		(dev->habits.query_errno = EINVAL,
		 move.attr_mask = IBV_QP_CUR_STATE | IBV_QP_TIMEOUT, attr->cur_qp_state = RTS),
		EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x202)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&hns, RC, RTS, RTS,
		(dev->habits.query_errno = EINVAL,
		 move.attr_mask = IBV_QP_CUR_STATE | IBV_QP_TIMEOUT, attr->cur_qp_state = RTS),
		0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x202)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
}

static void current_states(void)
{
	REQUEST(&hns, RC, RTR, RTS, cur_state(&move, RTS), EINVAL,
		ERROR(CUR_STATE, "cur_qp_state", NUMBER, 3, 2, 2));
	REQUEST(&hns, RC, RTR, RTS, cur_state(&move, RTR), 0, );
	REQUEST(&hns, RC, RTR, RTS, (dev->habits.query_errno = EOPNOTSUPP, cur_state(&move, RTS)),
		0, LIKELY(CUR_STATE, "cur_qp_state", NUMBER, 3, 2, 2));
	REQUEST(&mlx4, RC, RTR, RTS, (fake_qp_force(qp, RTS), cur_state(&move, RTR)), 0,
		ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 2, 3, 3));
	REQUEST(&ionic, RC, RTR, RTS, cur_state(&move, RTS), EINVAL,
		ERROR(CUR_STATE, "cur_qp_state", NUMBER, 3, 2, 2)
			ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x12e00, 0x0, 0x12e03));
	REQUEST(&ionic, RC, RTR, RTS, cur_state(&move, ERR), EINVAL,
		ERROR(TRANSITION, "qp_state", STATE, 0x3, 0x0, 0x41)
			ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 6, 2, 2));
	REQUEST(&ionic, UC, RTR, RTS, cur_state(&move, SQE), EINVAL,
		ERROR(CUR_STATE, "cur_qp_state", NUMBER, 5, 2, 2)
			ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x10000, 0x0, 0x10003));
	REQUEST(&ionic, UC, SQE, RTS, (fake_qp_force(qp, RTS), cur_state(&move, SQE)), 0,
		ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 5, 3, 3));
	REQUEST(&ionic, UC, SQE, RTS, (fake_qp_force(qp, SQD), cur_state(&move, SQE)), 0,
		ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 5, 4, 4));
	REQUEST(&ionic, RC, RTR, RTS, (dev->habits.query_errno = EOPNOTSUPP, cur_state(&move, RTS)),
		EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x12e00, 0x0, 0x12e03)
			LIKELY(CUR_STATE, "cur_qp_state", NUMBER, 3, 2, 2));
}

static void iwarp(void)
{
	REQUEST(&siw, RC, RESET, INIT, (void)0, 0, ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&cxgb4, RC, RTS, RTS, move.attr_mask = IBV_QP_STATE, 0,
		ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&cxgb4, RC, RTR, RTS, move.attr_mask = IBV_QP_STATE, 0,
		LIKELY(IWARP, "qp_state", NONE, 0, 0, 0));
	REQUEST(&siw, RC, INIT, RTR, move.attr_mask = IBV_QP_STATE, 0,
		ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&siw, RC, RTR, RTS, (void)0, 0, LIKELY(IWARP, "qp_state", NONE, 0, 0, 0));
	REQUEST(&siw, RC, RTS, RTS, (void)0, 0, ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&siw, RC, RTR, RTS, qp->state = RTS, 0, ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&siw, RC, RTR, RTS, (attr->timeout = 200, attr->max_rd_atomic = 200), 0,
		LIKELY(IWARP, "qp_state", NONE, 0, 0, 0));
	REQUEST(&irdma, RC, INIT, RTR,
		(dev->verbs.transport_type = IBV_TRANSPORT_IWARP, attr->pkey_index = 9,
		 move.attr_mask |= IBV_QP_PKEY_INDEX),
		0, ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&irdma, RC, RTS, RESET, (dev->verbs.transport_type = IBV_TRANSPORT_IWARP), 0,
		ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0)
			ADVICE(RESET_FINAL, "qp_state", NONE, 0, 0, 0));
	REQUEST(&cxgb4, RC, RTS, RESET, (void)0, 0, ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&erdma, RC, INIT, RTR, (attr->max_dest_rd_atomic = 200), 0,
		ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&cxgb4, RC, RTR, RTS, (fake_qp_force(qp, RTS), move.attr_mask = IBV_QP_STATE), 0,
		ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
}

static void of_drivers(void)
{
	REQUEST(&mlx5, RC, RTS, SQD, (void)0, EINVAL, ERROR(NO_SQD, "qp_state", NONE, 0, 0, 0));
	REQUEST(&hns, RC, RTS, SQD, (void)0, EINVAL, ERROR(NO_SQD, "qp_state", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, RTS, SQD, (void)0, 0, );
	REQUEST(&mlx5, RC, RTR, RTS,
		(move.attr_mask = IBV_QP_CUR_STATE | IBV_QP_TIMEOUT, attr->cur_qp_state = SQD),
		EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x2, 0x0, 0x202)
			ERROR(NO_SQD, "qp_state", NONE, 0, 0, 0)
				ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 4, 2, 2));
	REQUEST(&hns, RC, RTS, RTS, (fake_qp_force(qp, SQD), move.attr_mask = IBV_QP_TIMEOUT),
		EINVAL,
		ERROR(NO_SQD, "qp_state", NONE, 0, 0, 0)
			ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&hns, RC, RTS, RTS,
		(dev->habits.query_errno = EINVAL, qp->state = SQD,
		 move.attr_mask = IBV_QP_TIMEOUT),
		0, ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&hns, RC, RTS, SQD, dev->habits.query_errno = EINVAL, EINVAL,
		ERROR(NO_SQD, "qp_state", NONE, 0, 0, 0));
	REQUEST(&irdma, RC, RTS, RESET, (void)0, 0, ADVICE(RESET_FINAL, "qp_state", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, RTS, RESET, (void)0, 0, );
	REQUEST(&irdma, RC, RTS, ERR, (void)0, 0, );
	REQUEST(&rxe, RC, SQD, RTS, fixture_truth(qp)->sq_draining = 1, EINVAL,
		ERROR(SQ_DRAINING, "sq_draining", NUMBER, 1, 0, 0));
	REQUEST(&rxe, RC, SQD, RTS, (void)0, 0, );
	REQUEST(&rxe, RC, SQD, ERR, fixture_truth(qp)->sq_draining = 1, 0, );
	REQUEST(&rxe, RC, SQD, SQD, fixture_truth(qp)->sq_draining = 1, EINVAL,
		ERROR(SQ_DRAINING, "sq_draining", NUMBER, 1, 0, 0));
	REQUEST(&rxe, RC, SQD, SQD,
		(fixture_truth(qp)->sq_draining = 1, move.attr_mask = IBV_QP_TIMEOUT), 0,
		ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&rxe, RC, RTS, SQD, fixture_truth(qp)->sq_draining = 1, 0, );
	REQUEST(&mlx4, RC, SQD, RTS, fixture_truth(qp)->sq_draining = 1, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, dev->port[1].attr.state = IBV_PORT_DOWN, 0,
		ADVICE(PORT_DOWN, "port_attr.state", PORT_STATE, 1, 4, 4));
	REQUEST(&mlx4, RC, INIT, RTR, dev->port[1].attr.state = IBV_PORT_ACTIVE_DEFER, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, dev->port[1].attr.state = IBV_PORT_NOP, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, dev->port[1].attr.state = IBV_PORT_INIT, 0,
		ADVICE(PORT_DOWN, "port_attr.state", PORT_STATE, 2, 4, 4));
	REQUEST(&mlx4ib, RC, INIT, RTR, dev->port[1].attr.state = IBV_PORT_INIT, 0,
		ADVICE(PORT_NO_SM, "port_attr.state", PORT_STATE, 2, 4, 4));
	REQUEST(&mlx4ib, RC, INIT, RTR, dev->port[1].attr.state = IBV_PORT_ARMED, 0,
		ADVICE(PORT_DOWN, "port_attr.state", PORT_STATE, 3, 4, 4));
	REQUEST(&mlx4, RC, RTR, RTS, dev->port[1].attr.state = IBV_PORT_DOWN, 0, );
	REQUEST(&mlx4, UD, INIT, RTR, dev->port[1].attr.state = IBV_PORT_DOWN, 0,
		ADVICE(PORT_DOWN, "port_attr.state", PORT_STATE, 1, 4, 4));
	REQUEST(&mlx4, UD, INIT, RTR, (dev->ports = 2, dev->port[1].attr.state = IBV_PORT_DOWN), 0,
		ADVICE(PORT_DOWN, "port_attr.state", PORT_STATE, 1, 4, 4));
	REQUEST(&plain, UD, INIT, RTR, (dev->ports = 2, dev->port[1].attr.state = IBV_PORT_DOWN),
		0, );
	REQUEST(&mlx4, UD, INIT, RTR,
		(dev->ports = 2, dev->port[1].attr.state = IBV_PORT_DOWN,
		 dev->habits.query_refused = IBV_QP_PORT),
		0, );
	REQUEST(&mlx4, UD, INIT, INIT, (dev->port[1].attr.state = IBV_PORT_DOWN), 0, );
}

static void path_mtus(void)
{
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)1024, EINVAL,
		ERROR(MTU_IN_BYTES, "path_mtu", MTU, 1024, 1, 5));
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)6, EINVAL,
		ERROR(ENUM, "path_mtu", MTU, 6, 1, 5));
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)0, EINVAL,
		ERROR(ENUM, "path_mtu", MTU, 0, 1, 5));
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)257, 0,
		LIKELY(MTU_IN_BYTES, "path_mtu", MTU, 257, 1, 5));
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)255, EINVAL,
		ERROR(ENUM, "path_mtu", MTU, 255, 1, 5));
	REQUEST(&plain, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)6, 0,
		LIKELY(ENUM, "path_mtu", MTU, 6, 1, 5));
	REQUEST(&rxe, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)6, EINVAL,
		ERROR(ENUM, "path_mtu", MTU, 6, 1, 5));
	REQUEST(&rxe, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)0, 0,
		LIKELY(ENUM, "path_mtu", MTU, 0, 1, 5));
	REQUEST(&rxe, RC, INIT, RTR,
		(fake_fail(FAKE_QUERY_PORT, 0, EIO), attr->path_mtu = (enum ibv_mtu)6), 0,
		LIKELY(ENUM, "path_mtu", MTU, 6, 1, 5));
	REQUEST(&mlx4, RC, INIT, INIT,
		(move.attr_mask |= IBV_QP_PATH_MTU, attr->path_mtu = (enum ibv_mtu)6), EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x100, 0x0, 0x101)
			ERROR(ENUM, "path_mtu", MTU, 6, 1, 5));
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = IBV_MTU_4096, 0,
		ADVICE(MTU_ABOVE_ACTIVE, "path_mtu", MTU, 5, 1, 3));
	REQUEST(&mlx4, RC, INIT, RTR,
		(dev->port[1].attr.max_mtu = IBV_MTU_2048, attr->path_mtu = IBV_MTU_4096), 0,
		ADVICE(MTU_ABOVE_MAX, "path_mtu", MTU, 5, 1, 4));
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = IBV_MTU_256, 0, );
	REQUEST(&rxe, RC, INIT, RTR,
		(dev->port[1].attr.max_mtu = IBV_MTU_1024, attr->path_mtu = IBV_MTU_2048), EINVAL,
		ERROR(MTU_ABOVE_MAX, "path_mtu", MTU, 4, 1, 3));
	REQUEST(&rxe, RC, INIT, RTR,
		(dev->port[1].attr.max_mtu = IBV_MTU_2048, attr->path_mtu = IBV_MTU_2048), 0,
		ADVICE(MTU_ABOVE_ACTIVE, "path_mtu", MTU, 4, 1, 3));
	REQUEST(&hns, RC, INIT, RTR, attr->path_mtu = IBV_MTU_2048, EINVAL,
		ERROR(MTU_ABOVE_ACTIVE, "path_mtu", MTU, 4, 1, 3));
	REQUEST(&hns, RC, INIT, RTR, attr->path_mtu = IBV_MTU_1024, 0, );
	REQUEST(&hns, RC, INIT, RTR,
		(dev->port[1].attr.max_mtu = IBV_MTU_1024, attr->path_mtu = IBV_MTU_2048), EINVAL,
		ERROR(MTU_ABOVE_MAX, "path_mtu", MTU, 4, 1, 3));
	REQUEST(&bnxt, RC, INIT, RTR, attr->path_mtu = IBV_MTU_2048, EINVAL,
		ERROR(MTU_ABOVE_ACTIVE, "path_mtu", MTU, 4, 1, 3));
	REQUEST(&bnxt, RC, INIT, INIT,
		(move.attr_mask = IBV_QP_PATH_MTU, attr->path_mtu = IBV_MTU_2048), 0,
		LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x100, 0x0, 0x100)
			ADVICE(MTU_ABOVE_ACTIVE, "path_mtu", MTU, 4, 1, 3));
	REQUEST(&mthca, RC, INIT, RTR, attr->path_mtu = IBV_MTU_4096, EINVAL,
		ERROR(MTU_DRIVER, "path_mtu", MTU, 5, 1, 4));
	REQUEST(&mthca, RC, INIT, RTR,
		(dev->port[1].attr.active_mtu = IBV_MTU_2048, attr->path_mtu = IBV_MTU_2048), 0, );
	REQUEST(&mthca, RC, INIT, INIT,
		(move.attr_mask |= IBV_QP_PATH_MTU, attr->path_mtu = IBV_MTU_4096), EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x100, 0x0, 0x101)
			ERROR(MTU_DRIVER, "path_mtu", MTU, 5, 1, 4));
	REQUEST(&qedr, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)6, EINVAL,
		ERROR(ENUM, "path_mtu", MTU, 6, 1, 5));
	REQUEST(&ocrdma, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)6, EINVAL,
		ERROR(ENUM, "path_mtu", MTU, 6, 1, 5));
	REQUEST(&mthca, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)260, 0,
		LIKELY(MTU_IN_BYTES, "path_mtu", MTU, 260, 1, 5));
	REQUEST(&ocrdma, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)258, 0,
		LIKELY(MTU_IN_BYTES, "path_mtu", MTU, 258, 1, 5));
}

static void access_flags(void)
{
	REQUEST(&mlx4, RC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_ZERO_BASED, 0,
		LIKELY(ACCESS_BITS, "qp_access_flags", ACCESS, 0x20, 0x0, 0x20));
	REQUEST(&mlx4, RC, RESET, INIT, attr->qp_access_flags = 0x31f, 0, );
	REQUEST(&rxe, RC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_ZERO_BASED, 0,
		LIKELY(ACCESS_BITS, "qp_access_flags", ACCESS, 0x20, 0x0, 0x20));
	REQUEST(&rxe, RC, RESET, INIT,
		(fake_uname("6.11.0"), attr->qp_access_flags = IBV_ACCESS_ZERO_BASED), 0,
		LIKELY(ACCESS_BITS, "qp_access_flags", ACCESS, 0x20, 0x0, 0x20));
	REQUEST(&rxe, RC, RESET, INIT,
		(fake_uname("6.12.0"),
		 attr->qp_access_flags = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ),
		EINVAL, ERROR(ACCESS_BITS, "qp_access_flags", ACCESS, 0x20, 0x0, 0x24));
	REQUEST(&rxe, RC, RESET, INIT,
		(fake_uname("6.12.0"), attr->qp_access_flags = IBV_ACCESS_ON_DEMAND), 0,
		LIKELY(ACCESS_BITS, "qp_access_flags", ACCESS, 0x40, 0x0, 0x40));
	REQUEST(&rxe, RC, RESET, INIT,
		(fake_uname("6.12.0"), attr->qp_access_flags = IBV_ACCESS_RELAXED_ORDERING), 0,
		LIKELY(ACCESS_BITS, "qp_access_flags", ACCESS, 0x100000, 0x0, 0x100000));
	REQUEST(&rxe, RC, RESET, INIT,
		(fake_uname("6.12.0"), attr->qp_access_flags = IBV_ACCESS_REMOTE_READ), 0, );
	REQUEST(&rxe, UC, RESET, INIT,
		(fake_uname("6.12.0"), attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE), 0, );
	REQUEST(&rxe, UD, RESET, INIT,
		(fake_uname("6.12.0"), move.attr_mask |= IBV_QP_ACCESS_FLAGS,
		 attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE),
		EINVAL,
		ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x8, 0x0, 0x79)
			ERROR(ACCESS_TYPE, "qp_access_flags", ACCESS, 0x2, 0x0, 0x2));
	REQUEST(&rxe, UD, RESET, INIT,
		(move.attr_mask |= IBV_QP_ACCESS_FLAGS,
		 attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE),
		EINVAL, ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x8, 0x0, 0x79));
	REQUEST(&mlx4, UC, RESET, INIT,
		attr->qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE, 0,
		ADVICE(ACCESS_TYPE, "qp_access_flags", ACCESS, 0x4, 0x0, 0x6));
	REQUEST(&mlx4, UC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC, 0,
		ADVICE(ACCESS_TYPE, "qp_access_flags", ACCESS, 0x8, 0x0, 0x8));
	REQUEST(&mlx4, RC, RESET, INIT,
		(dev->attr.orig_attr.atomic_cap = IBV_ATOMIC_NONE,
		 attr->qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ),
		0, ADVICE(ACCESS_ATOMIC, "qp_access_flags", ACCESS, 0x8, 0x0, 0xc));
	REQUEST(&mlx4, RC, RESET, INIT, attr->qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC, 0, );
	REQUEST(&mlx4, RC, RESET, INIT,
		(fake_fail(FAKE_QUERY_DEVICE, 0, EIO),
		 attr->qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC),
		0, );
}

static void read_depths(void)
{
	REQUEST(&mlx4, RC, RTR, RTS, attr->max_rd_atomic = 17, EINVAL,
		ERROR(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&mlx4, RC, RTR, RTS, attr->max_rd_atomic = 16, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, attr->max_dest_rd_atomic = 17, EINVAL,
		ERROR(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&mlx4, RC, INIT, RTR, attr->max_dest_rd_atomic = 16, 0, );
	REQUEST(&irdma, RC, RTR, RTS, (depths(8, 4), attr->max_rd_atomic = 9), EINVAL,
		ERROR(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 9, 0, 8));
	REQUEST(&irdma, RC, RTR, RTS, (depths(8, 4), attr->max_rd_atomic = 8), 0, );
	REQUEST(&irdma, RC, INIT, RTR, (depths(8, 4), attr->max_dest_rd_atomic = 5), EINVAL,
		ERROR(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 5, 0, 4));
	REQUEST(&mthca, RC, RTR, RTS, attr->max_rd_atomic = 17, EINVAL,
		ERROR(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&mthca, RC, INIT, RTR, attr->max_dest_rd_atomic = 17, EINVAL,
		ERROR(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&ocrdma, RC, RTR, RTS, attr->max_rd_atomic = 17, EINVAL,
		ERROR(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&ocrdma, RC, INIT, RTR, attr->max_dest_rd_atomic = 17, 0,
		ADVICE(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&qedr, RC, RTR, RTS, attr->max_rd_atomic = 17, 0,
		LIKELY(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&qedr, RC, INIT, RTR, attr->max_dest_rd_atomic = 17, 0,
		LIKELY(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 17, 0, 16));
	REQUEST(&bnxt, RC, RTR, RTS, (depths(8, 4), attr->max_rd_atomic = 5), 0,
		ADVICE(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 5, 0, 4));
	REQUEST(&bnxt, RC, INIT, RTR, (depths(8, 4), attr->max_dest_rd_atomic = 9), EINVAL,
		ERROR(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 9, 0, 8));
	REQUEST(&bnxt, RC, INIT, RTR, (depths(8, 4), attr->max_dest_rd_atomic = 8), 0, );
	REQUEST(&rxe, RC, RTR, RTS, (depths(8, 4), attr->max_rd_atomic = 5), EINVAL,
		ERROR(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 5, 0, 4));
	REQUEST(&rxe, RC, INIT, RTR, (depths(8, 4), attr->max_dest_rd_atomic = 5), 0,
		ADVICE(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 5, 0, 4));
	REQUEST(&rdmavt, RC, RTR, RTS, (depths(8, 4), attr->max_rd_atomic = 9), 0,
		ADVICE(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 9, 0, 8));
	REQUEST(&rdmavt, RC, INIT, RTR, (depths(8, 4), attr->max_dest_rd_atomic = 5), EINVAL,
		ERROR(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 5, 0, 4));
	REQUEST(&hns, RC, RTR, RTS, (depths(8, 4), attr->max_rd_atomic = 9), EINVAL,
		ERROR(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 9, 0, 8));
	REQUEST(&hns, RC, INIT, RTR, (depths(8, 4), attr->max_dest_rd_atomic = 5), EINVAL,
		ERROR(DEPTH_LIMIT, "max_dest_rd_atomic", NUMBER, 5, 0, 4));
	REQUEST(&mlx4, RC, RTR, RTS,
		(fake_fail(FAKE_QUERY_DEVICE, 0, EIO), attr->max_rd_atomic = 255), 0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(fake_fail(FAKE_QUERY_DEVICE, 0, EIO), attr->max_dest_rd_atomic = 255), 0, );
	REQUEST(&rxe, RC, RTR, RTS, attr->max_rd_atomic = 0, 0,
		ADVICE(DEPTH_ZERO_HANG, "max_rd_atomic", NUMBER, 0, 1, 16));
	REQUEST(&mlx4, RC, RTR, RTS, attr->max_rd_atomic = 0, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, attr->max_dest_rd_atomic = 0, 0,
		ADVICE(DEPTH_ZERO, "max_dest_rd_atomic", NUMBER, 0, 1, 16));
	REQUEST(&mlx4, RC, INIT, RTR,
		(dev->habits.query_refused = IBV_QP_ACCESS_FLAGS, attr->max_dest_rd_atomic = 0),
		0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->max_dest_rd_atomic = 0,
		 fixture_truth(qp)->qp_access_flags = IBV_ACCESS_REMOTE_WRITE),
		0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->max_dest_rd_atomic = 0,
		 fixture_truth(qp)->qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC),
		0, ADVICE(DEPTH_ZERO, "max_dest_rd_atomic", NUMBER, 0, 1, 16));
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->max_dest_rd_atomic = 0, move.attr_mask |= IBV_QP_ACCESS_FLAGS,
		 attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE),
		0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(attr->max_dest_rd_atomic = 0, move.attr_mask |= IBV_QP_ACCESS_FLAGS,
		 fixture_truth(qp)->qp_access_flags = 0,
		 attr->qp_access_flags = IBV_ACCESS_REMOTE_READ),
		0, ADVICE(DEPTH_ZERO, "max_dest_rd_atomic", NUMBER, 0, 1, 16));
}

static void widths(void)
{
	REQUEST(&mlx4, RC, RTR, RTS, attr->timeout = 0, 0,
		ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&mlx4, RC, RTR, RTS, attr->timeout = 32, 0,
		ADVICE(WIDTH, "timeout", NUMBER, 32, 0, 31));
	REQUEST(&rxe, RC, RTR, RTS, attr->timeout = 32, EINVAL,
		ERROR(WIDTH, "timeout", NUMBER, 32, 0, 31));
	REQUEST(&rxe, RC, RTR, RTS, attr->timeout = 31, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, attr->min_rnr_timer = 0, 0,
		ADVICE(RNR_TIMER_ZERO, "min_rnr_timer", NUMBER, 0, 1, 31));
	REQUEST(&mlx4, RC, INIT, RTR, attr->min_rnr_timer = 32, 0,
		ADVICE(WIDTH, "min_rnr_timer", NUMBER, 32, 0, 31));
	REQUEST(&rdmavt, RC, INIT, RTR, attr->min_rnr_timer = 32, EINVAL,
		ERROR(WIDTH, "min_rnr_timer", NUMBER, 32, 0, 31));
	REQUEST(&rdmavt, RC, INIT, RTR, attr->min_rnr_timer = 31, 0, );
	REQUEST(&pvrdma, RC, INIT, RTR, attr->min_rnr_timer = 32, EINVAL,
		ERROR(WIDTH, "min_rnr_timer", NUMBER, 32, 0, 31));
	REQUEST(&mlx4, RC, RTR, RTS, attr->retry_cnt = 0, 0,
		ADVICE(RETRY_ZERO, "retry_cnt", NUMBER, 0, 1, 7));
	REQUEST(&mlx4, RC, RTR, RTS, attr->retry_cnt = 8, 0,
		ADVICE(WIDTH, "retry_cnt", NUMBER, 8, 0, 7));
	REQUEST(&rdmavt, RC, RTR, RTS, attr->retry_cnt = 8, EINVAL,
		ERROR(WIDTH, "retry_cnt", NUMBER, 8, 0, 7));
	REQUEST(&pvrdma, RC, RTR, RTS, attr->retry_cnt = 8, 0,
		ADVICE(WIDTH, "retry_cnt", NUMBER, 8, 0, 7));
	REQUEST(&mlx4, RC, RTR, RTS, attr->rnr_retry = 0, 0,
		ADVICE(RNR_RETRY_ZERO, "rnr_retry", NUMBER, 0, 1, 7));
	REQUEST(&mlx4, RC, RTR, RTS, attr->rnr_retry = 8, 0,
		ADVICE(WIDTH, "rnr_retry", NUMBER, 8, 0, 7));
	REQUEST(&rdmavt, RC, RTR, RTS, attr->rnr_retry = 8, EINVAL,
		ERROR(WIDTH, "rnr_retry", NUMBER, 8, 0, 7));
	REQUEST(&mlx4, RC, INIT, RTR, attr->rq_psn = 1u << 24, 0,
		ADVICE(PSN_WIDTH, "rq_psn", HEX, 0x1000000, 0x0, 0xffffff));
	REQUEST(&mlx4, RC, INIT, RTR, attr->rq_psn = 0, 0, );
	REQUEST(&mlx4, RC, RTR, RTS, attr->sq_psn = 1u << 24, 0,
		ADVICE(PSN_WIDTH, "sq_psn", HEX, 0x1000000, 0x0, 0xffffff));
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = 0x1000000, 0,
		ADVICE(WIDTH, "dest_qp_num", HEX, 0x1000000, 0x0, 0xffffff));
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = 0xffffff, 0, );
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = 0x6b000000, 0,
		LIKELY(QPN_SWAPPED, "dest_qp_num", HEX, 0x6b000000, 0x6b, 0x6b)
			ADVICE(WIDTH, "dest_qp_num", HEX, 0x6b000000, 0x0, 0xffffff));
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = 0x6b000001, 0,
		ADVICE(WIDTH, "dest_qp_num", HEX, 0x6b000001, 0x0, 0xffffff));
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = 0xffffff00, 0,
		LIKELY(QPN_SWAPPED, "dest_qp_num", HEX, 0xffffff00, 0xffffff, 0xffffff)
			ADVICE(WIDTH, "dest_qp_num", HEX, 0xffffff00, 0x0, 0xffffff));
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = 0x2000000, 0,
		LIKELY(QPN_SWAPPED, "dest_qp_num", HEX, 0x2000000, 0x2, 0x2)
			ADVICE(WIDTH, "dest_qp_num", HEX, 0x2000000, 0x0, 0xffffff));
	REQUEST(&rdmavt, RC, INIT, RTR, attr->dest_qp_num = 0x6b000000, EINVAL,
		ERROR(WIDTH, "dest_qp_num", HEX, 0x6b000000, 0x0, 0xffffff)
			LIKELY(QPN_SWAPPED, "dest_qp_num", HEX, 0x6b000000, 0x6b, 0x6b));
	REQUEST(&mlx4, RC, INIT, RTR, attr->dest_qp_num = 0, 0,
		ADVICE(RANGE, "dest_qp_num", HEX, 0, 1, 0xffffff));
}

static void p_keys(void)
{
	REQUEST(&mlx4, RC, RESET, INIT, attr->pkey_index = 128, EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 128, 0, 0));
	REQUEST(&mlx4, RC, RESET, INIT, (pkeys(1, 128), attr->pkey_index = 5), 0,
		ADVICE(PKEY_INDEX, "pkey_index", NUMBER, 5, 0, 0));
	REQUEST(&mlx4, RC, RESET, INIT, (pkeys(1, 5), attr->pkey_index = 5), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 5, 0, 0));
	REQUEST(&mlx4, RC, RESET, INIT, (dev->port[1].attr.pkey_tbl_len = 1, attr->pkey_index = 0),
		0, );
	REQUEST(&plain, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), 0,
		LIKELY(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&qedr, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&irdma, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&pvrdma, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&rdmavt, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&mthca, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&erdma_roce, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&hns, RC, RESET, INIT, (pkeys(1, 1), attr->pkey_index = 1), EINVAL,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&mlx4, RC, RESET, INIT,
		(dev->port[1].attr.pkey_tbl_len = 2, dev->port[1].pkey[1] = 0,
		 attr->pkey_index = 1),
		0, ADVICE(PKEY_EMPTY, "pkey_index", PKEY, 0x0, 0x0, 0x0));
	REQUEST(&mlx4, RC, RESET, INIT,
		(dev->port[1].attr.pkey_tbl_len = 2, dev->port[1].pkey[1] = 0x8000,
		 attr->pkey_index = 1),
		0, ADVICE(PKEY_EMPTY, "pkey_index", PKEY, 0x8000, 0x0, 0x0));
	REQUEST(&mlx4, RC, RESET, INIT, dev->port[1].pkey[0] = 0x7fff, 0,
		ADVICE(PKEY_LIMITED, "pkey_index", PKEY, 0x7fff, 0x0, 0x0));
	REQUEST(&mlx4, RC, RESET, INIT, dev->port[1].pkey[0] = 0x8001, 0, );
	REQUEST(&mlx4, RC, RESET, INIT,
		(fake_fail(FAKE_QUERY_PKEY, 0, EIO), dev->port[1].pkey[0] = 0), 0, );
	REQUEST(&mlx4, RC, RESET, INIT,
		(fake_fail(FAKE_QUERY_PORT, 0, EIO), attr->pkey_index = 200), 0, );
}

static void partly_known(void)
{
	REQUEST(&bonded, RC, INIT, RTR, (void)0, 0, );
	REQUEST(&bnxt, RC, INIT, RTR, (void)0, 0, );
	REQUEST(&siw, RC, INIT, RTR, (void)0, 0, ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&erdma_roce, RC, INIT, RTR, (void)0, 0, );
	REQUEST(&bnxt, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)260, EINVAL,
		ERROR(MTU_IN_BYTES, "path_mtu", MTU, 260, 1, 5));
	REQUEST(&ocrdma, RC, INIT, RTR, attr->path_mtu = IBV_MTU_256, EINVAL,
		ERROR(MTU_DRIVER, "path_mtu", MTU, 1, 2, 5));
	REQUEST(&ocrdma, RC, INIT, RTR, attr->path_mtu = IBV_MTU_512, 0, );
	REQUEST(&ocrdma, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)257, EINVAL,
		ERROR(MTU_IN_BYTES, "path_mtu", MTU, 257, 1, 5));
	REQUEST(&mthca, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)261, EINVAL,
		ERROR(MTU_IN_BYTES, "path_mtu", MTU, 261, 1, 5));
	REQUEST(&rxe, RC, INIT, RTR,
		(dev->port[1].attr.max_mtu = IBV_MTU_2048, attr->path_mtu = (enum ibv_mtu)259), 0,
		LIKELY(MTU_IN_BYTES, "path_mtu", MTU, 259, 1, 5));
	REQUEST(&rxe, RC, INIT, RTR,
		(dev->port[1].attr.max_mtu = IBV_MTU_2048, attr->path_mtu = (enum ibv_mtu)260), 0,
		LIKELY(MTU_IN_BYTES, "path_mtu", MTU, 260, 1, 5));
	REQUEST(&hns, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)260, EINVAL,
		ERROR(MTU_IN_BYTES, "path_mtu", MTU, 260, 1, 5));
	REQUEST(&mlx4, RC, INIT, RTR, attr->path_mtu = (enum ibv_mtu)256, EINVAL,
		ERROR(MTU_IN_BYTES, "path_mtu", MTU, 256, 1, 5));
	REQUEST(&mlx4, RC, INIT, RTR, fake_fail(FAKE_QUERY_QP, 0, EIO), 0,
		LIKELY(QUERY_REFUSED, "ibv_query_qp", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR,
		(fake_fail(FAKE_QUERY_QP, 0, EIO), attr->ah_attr.grh.sgid_index = 9), ENODATA,
		ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 9, 0, 0) SUITS(3)
			LIKELY(QUERY_REFUSED, "ibv_query_qp", NONE, 0, 0, 0));
	REQUEST(&mlx4, RC, INIT, RTR, (fake_fail(FAKE_QUERY_QP, 1, EINVAL)), 0, );
	REQUEST(&siw, RC, INIT, RTR, (fake_fail(FAKE_QUERY_QP, 0, EIO)), 0,
		ADVICE(IWARP, "attr_mask", NONE, 0, 0, 0));
	REQUEST(&plain, RC, INIT, RTR,
		(fixture_truth(qp)->qp_state = (enum ibv_qp_state)7,
		 move.attr_mask &= ~IBV_QP_DEST_QPN),
		0, LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&plain, RC, INIT, RTR,
		(fixture_truth(qp)->qp_state = (enum ibv_qp_state)7,
		 qp->state = (enum ibv_qp_state)8),
		0, );
	REQUEST(&mlx4, RC, INIT, RTR,
		(fixture_truth(qp)->qp_state = (enum ibv_qp_state) - 1,
		 move.attr_mask &= ~IBV_QP_DEST_QPN),
		0, LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, 0x100000, 0x0, 0x29181));
	REQUEST(&efa, UD, RESET, INIT, (void)0, 0, );
	REQUEST(&efa, UD, RESET, INIT, move.attr_mask |= IBV_QP_TIMEOUT, EOPNOTSUPP,
		ERROR(MASK_DRIVER, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x271)
			ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x200, 0x0, 0x271)
				ADVICE(TIMEOUT_ZERO, "timeout", NUMBER, 0, 1, 31));
	REQUEST(&efa, UD, RESET, INIT, move.attr_mask |= 1 << 21, EOPNOTSUPP,
		ERROR(MASK_UNKNOWN, "attr_mask", ATTR_MASK, 0x200000, 0x0, 0x200071));
	REQUEST(&efa, UD, RESET, INIT, move.attr_mask &= ~IBV_QP_QKEY, EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x40, 0x0, 0x31));
	REQUEST(&efa, UD, RESET, INIT, attr->pkey_index = 1, EOPNOTSUPP,
		ERROR(PKEY_INDEX, "pkey_index", NUMBER, 1, 0, 0));
	REQUEST(&efa, UD, RESET, INIT, attr->port_num = 2, EINVAL,
		ERROR(PORT, "port_num", NUMBER, 2, 1, 1));
	REQUEST(&efa, UD, INIT, RTR,
		(move.attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC, attr->max_dest_rd_atomic = 0),
		EOPNOTSUPP,
		ERROR(MASK_DRIVER, "attr_mask", ATTR_MASK, 0x20000, 0x0, 0x20001)
			ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, 0x20000, 0x0, 0x20001));
	REQUEST(&erdma_roce, RC, INIT, RTR, attr->ah_attr.grh.sgid_index = 2, EINVAL,
		ERROR(GID_TYPE_REFUSED, "ah_attr.grh.sgid_index", INDEX, 2, 0, 0) SUITS(3));
	REQUEST(&erdma_roce, RC, RTS, RTS, cur_state(&move, RTR), EINVAL,
		ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, 0x12e00, 0x0, 0x3)
			ADVICE(CUR_STATE, "cur_qp_state", NUMBER, 2, 3, 3));
}

/* ---- Driver types ------------------------------------------------------------------------- */

static void driver_type(const struct model *model, enum ibv_qp_type type, enum ibv_qp_state from,
			const struct ibv_qp_attr *attr, int attr_mask, int error,
			const struct expected *want, size_t count, const char *name)
{
	struct rdmaez_diag diag;
	struct ibv_qp *qp;

	start(model);
	qp = qp_in(IBV_QPT_DRIVER, from);
	check_findings(&diag,
		       type ? rdmaez_qp_check_as(qp, type, attr, attr_mask, &diag)
			    : rdmaez_qp_check(qp, attr, attr_mask, &diag),
		       error, type ? "rdmaez_qp_check_as" : "rdmaez_qp_check", want, count, name);
	tap_eq_int(rdmaez_qp_check_as(qp, type ? type : qp->qp_type, attr, attr_mask, NULL), error,
		   "%s: without a record", name);
}

/* As above, of a queue pair that is IBV_QPT_DRIVER; type 0: the caller does not say which. */
#define DRIVER(model, type, from, to, mask, error, ...)                                         \
	do {                                                                                    \
		const struct expected want[] = {__VA_ARGS__{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NONE, \
							    "", RDMAEZ_VALUE_NONE, 0, 0, 0}};   \
		struct ibv_qp_attr attr = {.qp_state = to,                                      \
					   .port_num = 1,                                       \
					   .timeout = 14,                                       \
					   .path_mtu = IBV_MTU_1024,                            \
					   .retry_cnt = 7,                                      \
					   .rnr_retry = 7,                                      \
					   .max_rd_atomic = 1,                                  \
					   .min_rnr_timer = 12};                                \
                                                                                                \
		driver_type(model, type, from, &attr, mask, error, want, COUNT_OF(want) - 1,    \
			    #model ", " #type ", " #from " to " #to ": " #mask);                \
	} while (0)

#define UNTOLD ((enum ibv_qp_type)0)

static void driver_types(void)
{
	enum {
		S = IBV_QP_STATE,
		PORT_BIT = IBV_QP_PORT,
		PKEY = IBV_QP_PKEY_INDEX,
		ACCESS = IBV_QP_ACCESS_FLAGS,
		QKEY = IBV_QP_QKEY,
		PATH_MTU = IBV_QP_PATH_MTU,
		READY = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_SQ_PSN,
	};

	/* Of efa there is one such type. */
	DRIVER(&efa, UNTOLD, RESET, INIT, S | PKEY | PORT_BIT | QKEY, 0, );
	DRIVER(&efa, UNTOLD, RESET, INIT, S | PKEY | PORT_BIT, EINVAL,
	       ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, QKEY, 0, S | PKEY | PORT_BIT));
	DRIVER(&efa, RDMAEZ_QPT_SRD, RTR, RTS, S | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY, 0, );
	/* What is said to be a verbs type is not believed, nor what this driver does not have. */
	DRIVER(&efa, IBV_QPT_RC, RTR, RTS, S | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY, 0, );
	DRIVER(&efa, RDMAEZ_QPT_DCI, RTS, RTS, S | QKEY, 0,
	       LIKELY(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, QKEY, 0, S | QKEY));
	DRIVER(&mlx5, RDMAEZ_QPT_SRD, RESET, INIT, S | PKEY | PORT_BIT, 0,
	       LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, QKEY, 0, S | PKEY | PORT_BIT));

	/* mlx5 has two. */
	DRIVER(&mlx5, UNTOLD, RESET, INIT, S | PKEY | PORT_BIT, 0, );
	DRIVER(&mlx5, UNTOLD, RESET, INIT, S | PKEY | PORT_BIT | ACCESS, 0, );
	DRIVER(&mlx5, UNTOLD, RESET, INIT, S | PKEY, EINVAL,
	       ERROR(DRIVER_TYPE, "attr_mask", ATTR_MASK, S | PKEY, 0, S | PKEY));
	DRIVER(&mlx5, RDMAEZ_QPT_DCI, RESET, INIT, S | PKEY | PORT_BIT, 0, );
	DRIVER(&mlx5, RDMAEZ_QPT_DCI, RESET, INIT, S | PKEY | PORT_BIT | ACCESS, EINVAL,
	       ERROR(MASK_NOT_ALLOWED, "attr_mask", ATTR_MASK, ACCESS, 0,
		     S | PKEY | PORT_BIT | ACCESS));
	DRIVER(&mlx5, RDMAEZ_QPT_DCT, RESET, INIT, S | PKEY | PORT_BIT | ACCESS, 0, );
	DRIVER(&mlx5, RDMAEZ_QPT_DCT, RESET, INIT, S | PKEY | PORT_BIT, EINVAL,
	       ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, ACCESS, 0, S | PKEY | PORT_BIT));
	DRIVER(&mlx5, RDMAEZ_QPT_DCI, RTR, RTS, S | READY, 0, );
	DRIVER(&mlx5, RDMAEZ_QPT_DCT, RTR, RTS, S | READY, EINVAL,
	       ERROR(DCT_FINAL, "qp_state", NONE, 0, 0, 0));
	DRIVER(&mlx5, RDMAEZ_QPT_DCI, INIT, RTR, S | PATH_MTU, 0, );
	/* Where they differ from the others: limits of depth that nobody tells, and a DCT that looks at little. */
	start(&mlx5);
	DRIVER(&plain, UNTOLD, RESET, INIT, S | PKEY, 0,
	       ADVICE(QP_TYPE, "qp_type", TYPE, IBV_QPT_DRIVER, 0, 0));
	DRIVER(&plain, RDMAEZ_QPT_DCI, RESET, INIT, S | PKEY, 0,
	       LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, PORT_BIT, 0, S | PKEY));
	DRIVER(&mlx4, UNTOLD, RESET, INIT, S | PKEY, 0,
	       ADVICE(QP_TYPE, "qp_type", TYPE, IBV_QPT_DRIVER, 0, 0));
	DRIVER(&mlx4, RDMAEZ_QPT_DCT, RESET, INIT, S | PKEY | PORT_BIT, 0,
	       LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, ACCESS, 0, S | PKEY | PORT_BIT));
}

/* What a driver type's values are held against. */
static void driver_values(void)
{
	static const struct {
		enum ibv_qp_type type;
		int bit;
		enum ibv_qp_state from, to;
		int error;
	} values[] = {
		{RDMAEZ_QPT_DCI, IBV_QP_PKEY_INDEX, RESET, INIT, EINVAL},
		{RDMAEZ_QPT_DCT, IBV_QP_PKEY_INDEX, RESET, INIT, 0},
		{IBV_QPT_DRIVER, IBV_QP_PKEY_INDEX, RESET, INIT, 0},
		{RDMAEZ_QPT_DCI, IBV_QP_PATH_MTU, INIT, RTR, EINVAL},
		{RDMAEZ_QPT_DCT, IBV_QP_PATH_MTU, INIT, RTR, 0},
		{IBV_QPT_DRIVER, IBV_QP_PATH_MTU, INIT, RTR, 0},
		{RDMAEZ_QPT_DCI, IBV_QP_MAX_QP_RD_ATOMIC, RTR, RTS, 0},
	};

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		const enum ibv_qp_type type =
			values[i].type == IBV_QPT_DRIVER ? RDMAEZ_QPT_DCT : values[i].type;
		struct rdmaez_qp_move move;
		struct ibv_qp *qp;

		start(&mlx5);
		pkeys(1, 9);
		qp = qp_in(IBV_QPT_DRIVER, values[i].from);
		move = right(type, values[i].from, values[i].to);
		move.attr.pkey_index = 9;
		move.attr.path_mtu = (enum ibv_mtu)6;
		move.attr.max_rd_atomic = 17;
		if (values[i].bit != IBV_QP_PKEY_INDEX)
			move.attr.pkey_index = 0;
		tap_eq_int(rdmaez_qp_check_as(qp, values[i].type, &move.attr, move.attr_mask, NULL),
			   values[i].error, "%s: a bad value of bit 0x%x", rdmaez_qp_type_str(type),
			   (unsigned int)values[i].bit);
	}
}

/* ---- Refusals, and what their errno tells ------------------------------------------------- */

static struct rdmaez_diag diag;

/* A right request of RC from INIT to RTR that ends in this errno. */
static int refuse(const struct model *model, int error)
{
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	start(model);
	qp = qp_in(IBV_QPT_RC, INIT);
	move = right(IBV_QPT_RC, INIT, RTR);
	fake_fail(FAKE_MODIFY_QP, 1, error);
	return rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag);
}

static void meanings(void)
{
	static const struct {
		int error;
		enum rdmaez_why reason;
		const char *field;
		bool row;
	} ways[] = {
		{ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid", true},
		{ENETUNREACH, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid", true},
		{EHOSTUNREACH, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid", true},
		{ENETDOWN, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid", true},
		{EADDRNOTAVAIL, RDMAEZ_WHY_NO_IPV6, "ah_attr.grh.dgid", true},
		{EAFNOSUPPORT, RDMAEZ_WHY_NO_IPV6, "ah_attr.grh.dgid", true},
		{ENODEV, RDMAEZ_WHY_GID_NO_NETDEV, "ah_attr.grh.sgid_index", true},
		{EACCES, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid", true},
		{EPERM, RDMAEZ_WHY_REFUSED, "ibv_modify_qp", false},
		{ENOMEM, RDMAEZ_WHY_NO_RESOURCES, "ibv_modify_qp", false},
		{EAGAIN, RDMAEZ_WHY_NO_RESOURCES, "ibv_modify_qp", false},
		{EBUSY, RDMAEZ_WHY_BUSY, "ibv_modify_qp", false},
		{EIO, RDMAEZ_WHY_DEVICE_GONE, "ibv_modify_qp", false},
		{ENOENT, RDMAEZ_WHY_NO_OBJECT, "ibv_modify_qp", false},
		{EOPNOTSUPP, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_modify_qp", false},
		{EINVAL, RDMAEZ_WHY_REFUSED, "ibv_modify_qp", false},
	};

	for (size_t i = 0; i < COUNT_OF(ways); i++) {
		CHECK_VERB_FINDINGS(&diag, refuse(&mlx4, ways[i].error), ways[i].error,
				    "rdmaez_qp_modify", "ibv_modify_qp",
				    rdmaez_errno_str(ways[i].error),
				    {RDMAEZ_DIAG_LIKELY, ways[i].reason, ways[i].field,
				     ways[i].row ? RDMAEZ_VALUE_INDEX : RDMAEZ_VALUE_NONE,
				     ways[i].row ? 3 : 0, 0, 0});
		tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), ways[i].row != false,
			   "the GID table is read if it may help");
	}
	/* On InfiniBand nothing is resolved. */
	CHECK_VERB_FINDINGS(&diag, refuse(&mlx4ib, ETIMEDOUT), ETIMEDOUT, "rdmaez_qp_modify",
			    "ibv_modify_qp", "a timeout on InfiniBand",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_TIMED_OUT, "ibv_modify_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	/* There a policy may forbid the partition, as on a device that also has such a port. */
	CHECK_VERB_FINDINGS(&diag, refuse(&mlx4ib, EACCES), EACCES, "rdmaez_qp_modify",
			    "ibv_modify_qp", "a partition that is forbidden",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_SECURITY, "ibv_modify_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	for (uint32_t ports = 1; ports <= 2; ports++) {
		struct ibv_qp *qp;
		struct rdmaez_qp_move move;

		start(&mlx4);
		dev->ports = ports;
		qp = qp_in(IBV_QPT_RC, RESET);
		move = right(IBV_QPT_RC, RESET, INIT);
		fake_fail(FAKE_MODIFY_QP, 1, EACCES);
		CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag),
			       EACCES, "rdmaez_qp_modify", "forbidden on Ethernet",
			       {RDMAEZ_DIAG_LIKELY,
				ports == 1 ? RDMAEZ_WHY_REFUSED : RDMAEZ_WHY_SECURITY,
				"ibv_modify_qp", RDMAEZ_VALUE_NONE, 0, 0, 0});
	}
	/* irdma says RESET of a queue pair that has been used; any other driver does not mean that. */
	start(&irdma);
	for (int i = 0; i < 2; i++) {
		struct ibv_qp *qp;
		struct rdmaez_qp_move move;

		start(i ? &mlx4 : &irdma);
		qp = qp_in(IBV_QPT_RC, RESET);
		move = right(IBV_QPT_RC, RESET, INIT);
		fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
		CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag),
			       EINVAL, "rdmaez_qp_modify", "out of RESET",
			       {RDMAEZ_DIAG_LIKELY, i ? RDMAEZ_WHY_REFUSED : RDMAEZ_WHY_RESET_FINAL,
				"ibv_modify_qp", RDMAEZ_VALUE_NONE, 0, 0, 0});
	}
	/* RESET of a fresh queue pair uses it up as well: irdma_modify_qp_roce() moves it to its error state. */
	for (int refused = 0; refused < 2; refused++) {
		struct ibv_qp_attr reset = {.qp_state = RESET};
		struct ibv_qp *qp;

		start(&irdma);
		qp = qp_in(IBV_QPT_RC, RESET);
		if (refused) {
			fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
			tap_eq_int(rdmaez_qp_modify(qp, &reset, IBV_QP_STATE, &diag), EINVAL,
				   "irdma may refuse RESET in RESET");
		} else {
			tap_eq_int(rdmaez_qp_check(qp, &reset, IBV_QP_STATE, &diag), 0,
				   "or take it");
		}
		tap_eq_str(rdmaez_why_id(diag.finding[0].reason), "RESET_TWICE",
			   "for the last time");
		tap_eq_count(&diag, 1, "and says so once");
		tap_eq_int(diag.finding[0].severity,
			   refused ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ADVICE, "of which it warns");
	}
	CHECK_FINDINGS(&diag, refuse(&irdma, EINVAL), EINVAL, "rdmaez_qp_modify",
		       "irdma out of INIT",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_REFUSED, "ibv_modify_qp", RDMAEZ_VALUE_NONE,
			0, 0, 0});
}

/* A peer that is not found, from a GID that may not be the right one. */
static int lose_peer(const char *peer, uint8_t row, int error, int route)
{
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	qp = qp_in(IBV_QPT_RC, INIT);
	move = right(IBV_QPT_RC, INIT, RTR);
	move.attr.ah_attr.grh.sgid_index = row;
	if (inet_pton(AF_INET6, peer, move.attr.ah_attr.grh.dgid.raw) != 1)
		tap_bail("%s is no address", peer);
	fake_route(route);
	dev->neighbour_errno = error;
	return rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag);
}

static void set_gid(int row, const char *address, uint32_t type, uint32_t ifindex)
{
	struct fake_gid *gid = &dev->port[1].gid[row];

	if (inet_pton(AF_INET6, address, gid->gid.raw) != 1)
		tap_bail("%s is no address", address);
	gid->type = type;
	gid->ifindex = ifindex;
}

#define WAY(reason, row) LIKELY(reason, "ah_attr.grh.dgid", INDEX, row, 0, 0)
#define NEARER(row)      LIKELY(GID_NEARER, "ah_attr.grh.sgid_index", GID_INDEX, row, 0, 0)

static void routes(void)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	start(&mlx4);
	set_gid(3, "::ffff:10.5.6.1", IBV_GID_TYPE_ROCE_V2, 7);
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, 0), ETIMEDOUT,
		       "rdmaez_qp_modify", "no neighbour", WAY(NEIGHBOUR, 3));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, ENETUNREACH), ETIMEDOUT,
		       "rdmaez_qp_modify", "no neighbour, for want of a route", WAY(NO_ROUTE, 3));
	memcpy(&four, fake_routed(), sizeof(four));
	tap_eq_int(four.sin_family, AF_INET, "an IPv4 route was asked for");
	tap_eq_hex(ntohl(four.sin_addr.s_addr), 0x0a050502, "to the peer");
	tap_ok(four.sin_port, "and to a port");
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, EHOSTUNREACH), ETIMEDOUT,
		       "rdmaez_qp_modify", "nor a host", WAY(NO_ROUTE, 3));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, EACCES), ETIMEDOUT,
		       "rdmaez_qp_modify", "a route that prohibits it", WAY(NO_ROUTE, 3));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, EINVAL), ETIMEDOUT,
		       "rdmaez_qp_modify", "a route into a black hole", WAY(NO_ROUTE, 3));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, EMFILE), ETIMEDOUT,
		       "rdmaez_qp_modify", "a route that is not told", WAY(NEIGHBOUR, 3));
	fake_route_bind(EADDRNOTAVAIL);
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, ENETUNREACH), ETIMEDOUT,
		       "rdmaez_qp_modify", "no route, in a namespace without the GID's address",
		       WAY(NEIGHBOUR, 3));
	fake_route_bind(0);
	CHECK_FINDINGS(&diag, lose_peer("2001:db8::9", 5, EINVAL, EINVAL), EINVAL,
		       "rdmaez_qp_modify", "an IPv6 route into a black hole", WAY(NO_ROUTE, 5));
	CHECK_FINDINGS(&diag, lose_peer("2001:db8::9", 5, EINVAL, EACCES), EINVAL,
		       "rdmaez_qp_modify", "EINVAL is not what a route that prohibits it returns",
		       LIKELY(REFUSED, "ibv_modify_qp", NONE, 0, 0, 0));
	CHECK_FINDINGS(&diag, lose_peer("fe80::9", 1, EINVAL, EINVAL), EINVAL, "rdmaez_qp_modify",
		       "nor has a link-local peer a route",
		       LIKELY(REFUSED, "ibv_modify_qp", NONE, 0, 0, 0)
			       ADVICE(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 3, 0, 0));
	CHECK_FINDINGS(&diag, lose_peer("2001:db8::9", 5, ETIMEDOUT, ENETUNREACH), ETIMEDOUT,
		       "rdmaez_qp_modify", "no IPv6 route", WAY(NO_ROUTE, 5));
	memcpy(&six, fake_routed(), sizeof(six));
	tap_eq_int(six.sin6_family, AF_INET6, "an IPv6 route was asked for");
	tap_eq_hex(six.sin6_addr.s6_addr[15], 9, "to the peer");
	tap_eq_int(six.sin6_scope_id, 0, "wherever it is");
	CHECK_FINDINGS(&diag, lose_peer("fe80::9", 1, ETIMEDOUT, ENETUNREACH), ETIMEDOUT,
		       "rdmaez_qp_modify", "a link-local peer needs no route",
		       LIKELY(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 3, 0, 0)
			       WAY(NEIGHBOUR, 1));

	CHECK_FINDINGS(&diag, lose_peer("fe80::9", 5, ETIMEDOUT, ENETUNREACH), ETIMEDOUT,
		       "rdmaez_qp_modify", "nor is one asked for a GID that is not link-local",
		       NEARER(1) WAY(NEIGHBOUR, 5));

	/* A GID of the same type, with an interface, and with more in common than all before it. */
	set_gid(8, "::ffff:10.5.4.1", IBV_GID_TYPE_ROCE_V2, 7);
	set_gid(9, "::ffff:10.5.5.1", IBV_GID_TYPE_ROCE_V2, 7);
	set_gid(10, "::ffff:10.5.5.2", IBV_GID_TYPE_ROCE_V1, 7);
	set_gid(11, "::ffff:10.5.5.3", IBV_GID_TYPE_ROCE_V2, 0);
	set_gid(12, "::ffff:10.5.5.3", IBV_GID_TYPE_ROCE_V2, 7);
	set_gid(13, "::ffff:10.5.5.9", IBV_GID_TYPE_ROCE_V2, 7);
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, 0), ETIMEDOUT,
		       "rdmaez_qp_modify", "a nearer GID", NEARER(12) WAY(NEIGHBOUR, 3));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ENETUNREACH, 0), ENETUNREACH,
		       "rdmaez_qp_modify", "a nearer GID where there is no route",
		       NEARER(12) WAY(NO_ROUTE, 3));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 12, ETIMEDOUT, 0), ETIMEDOUT,
		       "rdmaez_qp_modify", "the nearest GID", WAY(NEIGHBOUR, 12));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.1", 9, ETIMEDOUT, 0), ETIMEDOUT,
		       "rdmaez_qp_modify", "the peer's own GID", WAY(NEIGHBOUR, 9));
	dev->port[2] = dev->port[1];
	dev->ports = 2;
	set_gid(0, "::ffff:10.5.5.3", IBV_GID_TYPE_ROCE_V2, 7);
	memset(&dev->port[1].gid[8], 0, 6 * sizeof(dev->port[1].gid[8]));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, 0), ETIMEDOUT,
		       "rdmaez_qp_modify", "index 0 is one, too", NEARER(0) WAY(NEIGHBOUR, 3));
	memset(&dev->port[1].gid[0], 0, sizeof(dev->port[1].gid[0]));
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, 0), ETIMEDOUT,
		       "rdmaez_qp_modify", "a nearer GID of another port", WAY(NEIGHBOUR, 3));
	fake_fail(FAKE_QUERY_GID_TABLE, 1, EOPNOTSUPP);
	set_gid(9, "::ffff:10.5.5.1", IBV_GID_TYPE_ROCE_V2, 7);
	CHECK_FINDINGS(&diag, lose_peer("::ffff:10.5.5.2", 3, ETIMEDOUT, 0), ETIMEDOUT,
		       "rdmaez_qp_modify", "a table that cannot be read at once",
		       NEARER(9) WAY(NEIGHBOUR, 3));
}

#define ROUTE(row)     LIKELY(GID_BY_ROUTE, "ah_attr.grh.sgid_index", GID_INDEX, row, 0, 0)
#define ELSEWHERE(row) WAY(ROUTE_ELSEWHERE, row)
#define CHECK_WAY(got, name, ...) \
	CHECK_FINDINGS(&diag, got, ETIMEDOUT, "rdmaez_qp_modify", name, __VA_ARGS__)

/* The kernel itself would send from another address than that of the GID. */
static void sources(void)
{
	static const char peer[] = "::ffff:10.5.5.2";

	start(&mlx4);
	set_gid(3, "::ffff:10.5.6.1", IBV_GID_TYPE_ROCE_V2, 7);
	set_gid(8, "::ffff:10.5.4.1", IBV_GID_TYPE_ROCE_V1, 7);
	set_gid(9, "::ffff:10.5.4.1", IBV_GID_TYPE_ROCE_V2, 7);
	set_gid(12, "::ffff:10.5.5.3", IBV_GID_TYPE_ROCE_V2, 7);
	fake_route_from("10.5.4.1");
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "another GID is the route's, a third is nearer",
		  ROUTE(9) WAY(NEIGHBOUR, 3));
	set_gid(3, "::ffff:10.5.6.1", IBV_GID_TYPE_ROCE_V1, 7);
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "of its type, if there is one",
		  ROUTE(8) WAY(NEIGHBOUR, 3)
			  ADVICE(GID_ROCE_V1, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	memset(&dev->port[1].gid[8], 0, sizeof(dev->port[1].gid[8]));
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "else of another",
		  ROUTE(9) WAY(NEIGHBOUR, 3)
			  ADVICE(GID_ROCE_V1, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	set_gid(3, "::ffff:10.5.6.1", IBV_GID_TYPE_ROCE_V2, 7);
	fake_route_from("10.5.6.1");
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "the GID is the route's, whichever is nearer",
		  WAY(NEIGHBOUR, 3));
	fake_route_from("10.9.9.9");
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "the route's is not of this port",
		  ELSEWHERE(3) WAY(NEIGHBOUR, 3));
	fake_route_bind(EADDRNOTAVAIL);
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "nor the GID of this namespace",
		  NEARER(12) WAY(NEIGHBOUR, 3));
	fake_route_bind(0);
	fake_fail(FAKE_QUERY_GID_TABLE, 0, EOPNOTSUPP);
	fake_fail(FAKE_QUERY_GID_EX, 3, EIO);
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "nor is it known to be of another",
		  WAY(NEIGHBOUR, 3));
	fake_reset_log();
	fake_route_from("10.5.5.2");
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "a peer on this host", WAY(NEIGHBOUR, 3));
	fake_route_from("2001:db8::7");
	CHECK_WAY(lose_peer("2001:db8::9", 5, ETIMEDOUT, 0), "IPv6, elsewhere",
		  ELSEWHERE(5) WAY(NEIGHBOUR, 5));
	fake_route_from("10.5.4.1");
	CHECK_FINDINGS(&diag, lose_peer(peer, 3, ENETUNREACH, 0), ENETUNREACH, "rdmaez_qp_modify",
		       "no route from this interface, but from another GID",
		       ROUTE(9) WAY(NO_ROUTE, 3));
	fake_fail(FAKE_QUERY_GID_EX, 1, EIO);
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "a GID that is not told", WAY(NEIGHBOUR, 3));
	fake_fail(FAKE_QUERY_GID_EX, 1, EIO);
	fake_route_from(NULL);
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "nor is the route", WAY(NEIGHBOUR, 3));
	start(&mlx4);
	CHECK_FINDINGS(&diag, lose_peer("::ffff:192.0.2.9", 3, EADDRNOTAVAIL, 0), EADDRNOTAVAIL,
		       "rdmaez_qp_modify", "no IPv6", WAY(NO_IPV6, 3));
	tap_eq_int(fake_route_count(), 0, "and no question of routes");
	set_gid(9, "::ffff:10.5.4.1", IBV_GID_TYPE_ROCE_V2, 7);
	fake_route_from("10.5.4.1");
	CHECK_FINDINGS(&diag, lose_peer(peer, 3, ENODEV, 0), ENODEV, "rdmaez_qp_modify",
		       "an interface that has gone",
		       LIKELY(GID_NO_NETDEV, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0) SUITS(9));
}

/* /proc/net/arp with so many lines, of 192.0.2.100 and on, the last one with other flags than the others. */
static void arp_table(int lines, int flags)
{
	char text[16384];
	size_t length =
		(size_t)snprintf(text, sizeof(text), "%-17s%-12s%-12s%-22s%-9s%s\n", "IP address",
				 "HW type", "Flags", "HW address", "Mask", "Device");

	for (int i = 0; i < lines; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "192.0.2.%-9d0x1         0x%x         "
					   "00:00:5e:00:53:%02x     *        veth0\n",
					   100 + i, i == lines - 1 ? flags : 2, i);
	fake_tree_file("/proc/net/arp", text);
}

/* What the kernel's table of neighbours says by now. */
static void neighbours(void)
{
	char peer[32];

	start(&mlx4);
	fake_tree_new();
	CHECK_WAY(lose_peer("::ffff:192.0.2.100", 3, ETIMEDOUT, 0), "no table", WAY(NEIGHBOUR, 3));
	for (int lines = 1; lines <= 151; lines += 25)
		for (int flags = 0; flags <= 6; flags += 2) {
			arp_table(lines, flags);
			snprintf(peer, sizeof(peer), "::ffff:192.0.2.%d", 99 + lines);
			CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, 0), "the last line of some",
				  {RDMAEZ_DIAG_LIKELY,
				   flags ? RDMAEZ_WHY_NEIGHBOUR_LATE : RDMAEZ_WHY_NEIGHBOUR,
				   "ah_attr.grh.dgid", RDMAEZ_VALUE_INDEX, 3, 0, 0});
		}
	arp_table(100, 2);
	CHECK_WAY(lose_peer("::ffff:192.0.2.1", 3, ETIMEDOUT, 0), "the beginning of another",
		  WAY(NEIGHBOUR, 3));
	CHECK_WAY(lose_peer("::ffff:192.0.2.200", 3, ETIMEDOUT, 0), "a peer without a line",
		  WAY(NEIGHBOUR, 3));
	CHECK_WAY(lose_peer("2001:db8::c000:264", 5, ETIMEDOUT, 0), "IPv6 has another table",
		  WAY(NEIGHBOUR, 5));
	/* Two interfaces in one subnet. */
	fake_netdev(dev->port[1].gid[3].ifindex, "veth1");
	CHECK_WAY(lose_peer("::ffff:192.0.2.100", 3, ETIMEDOUT, 0), "another interface's neighbour",
		  WAY(NEIGHBOUR, 3));
	fake_tree_file("/proc/net/arp",
		       "192.0.2.100 0x1 0x2 00 * veth0\n192.0.2.100 0x1 0x0 00 * veth1\n");
	CHECK_WAY(lose_peer("::ffff:192.0.2.100", 3, ETIMEDOUT, 0), "who is not yet this one's",
		  WAY(NEIGHBOUR, 3));
	fake_tree_file("/proc/net/arp",
		       "192.0.2.100 0x1 0x0 00 * veth0\n192.0.2.100 0x1 0x2 00 * veth1\n");
	CHECK_WAY(lose_peer("::ffff:192.0.2.100", 3, ETIMEDOUT, 0), "and who is",
		  WAY(NEIGHBOUR_LATE, 3));
	fake_netdev(dev->port[1].gid[3].ifindex, "veth0");
	arp_table(100, 2);
	fake_route_from("10.9.9.9");
	CHECK_FINDINGS(&diag, lose_peer("::ffff:192.0.2.199", 3, ENETUNREACH, 0), ENETUNREACH,
		       "rdmaez_qp_modify", "which counts where nobody answered",
		       ELSEWHERE(3) WAY(NO_ROUTE, 3));
}

/* A right request towards this peer, which is only considered. */
static int consider(const char *peer, uint8_t row)
{
	struct ibv_qp *const qp = qp_in(IBV_QPT_RC, INIT);
	struct rdmaez_qp_move move = right(IBV_QPT_RC, INIT, RTR);

	move.attr.ah_attr.grh.sgid_index = row;
	if (inet_pton(AF_INET6, peer, move.attr.ah_attr.grh.dgid.raw) != 1)
		tap_bail("%s is no address", peer);
	return rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag);
}

#define CHECK_WAYS(got, name, ...) \
	CHECK_FINDINGS(&diag, got, 0, "rdmaez_qp_check", name, __VA_ARGS__)
#define NONE_FOUND(got, name)                             \
	do {                                              \
		tap_eq_int(got, 0, "%s: accepted", name); \
		tap_eq_int(diag.count, 0, "%s", name);    \
	} while (0)

/* Before anything has failed, only a way that is better for certain is advised. */
static void considered(void)
{
	static const char peer[] = "::ffff:10.5.5.2";

	start(&mlx4);
	set_gid(3, "::ffff:10.5.6.1", IBV_GID_TYPE_ROCE_V2, 7);
	set_gid(9, "::ffff:10.5.5.1", IBV_GID_TYPE_ROCE_V2, 7);
	NONE_FOUND(consider(peer, 3), "the route is not told, and a nearer GID may be right");
	fake_tree_new();
	arp_table(1, 0);
	NONE_FOUND(consider("::ffff:192.0.2.100", 3), "a neighbour may come to answer");
	fake_route_from("10.5.6.1");
	NONE_FOUND(consider(peer, 3), "the route's own");
	fake_route_from("10.5.5.1");
	CHECK_WAYS(consider(peer, 3), "a nearer source, of this port",
		   ADVICE(GID_BY_ROUTE, "ah_attr.grh.sgid_index", GID_INDEX, 9, 0, 0));
	fake_route_from("10.5.5.7");
	CHECK_WAYS(consider(peer, 3), "a nearer source elsewhere",
		   ADVICE(ROUTE_ELSEWHERE, "ah_attr.grh.dgid", INDEX, 3, 0, 0));
	fake_route_from("10.5.7.1");
	NONE_FOUND(consider(peer, 3), "a source that is as near");
	fake_route_from("10.5.5.2");
	NONE_FOUND(consider(peer, 3), "a peer on this host");
	fake_route(ENETUNREACH);
	CHECK_WAYS(consider(peer, 3), "no route", WAY(NO_ROUTE, 3));
	fake_route_rule("10.5.6.1");
	NONE_FOUND(consider(peer, 3), "a route by a rule for the GID's address");
	CHECK_WAY(lose_peer(peer, 3, ETIMEDOUT, ENETUNREACH), "on which nobody answers",
		  WAY(NEIGHBOUR, 3));
	fake_route_rule("10.5.5.1");
	CHECK_WAYS(consider(peer, 3), "a rule for another address", WAY(NO_ROUTE, 3));
	fake_route_rule(NULL);
	fake_route(EHOSTUNREACH);
	CHECK_WAYS(consider("2001:db8::9", 5), "no IPv6 route", WAY(NO_ROUTE, 5));
	fake_route(EACCES);
	NONE_FOUND(consider(peer, 3), "a route that is not for this user");
	fake_route(0);
	tap_eq_int(rdmaez_qp_check(qp_in(IBV_QPT_RC, INIT),
				   &(struct ibv_qp_attr){.qp_state = IBV_QPS_RTR}, IBV_QP_STATE,
				   NULL),
		   EINVAL, "without a record");

	/* A link-local GID, where there is a routable one, and where there is none. */
	start(&mlx4);
	CHECK_WAYS(consider("fe80::9", 1), "link-local at both ends",
		   ADVICE(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 3, 0, 0));
	CHECK_WAYS(consider("2001:db8::9", 1), "link-local at this end",
		   ADVICE(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 5, 0, 0));
	memset(&dev->port[1].gid[2], 0, 4 * sizeof(dev->port[1].gid[2]));
	NONE_FOUND(consider("fe80::9", 1), "there is nothing else");
	CHECK_WAYS(consider("2001:db8::9", 1), "nor for a peer that is far",
		   ADVICE(GID_LINK_LOCAL, "ah_attr.grh.sgid_index", INDEX, 1, 0, 0));
	CHECK_WAY(lose_peer("2001:db8::9", 1, ETIMEDOUT, 0), "who is not found",
		  LIKELY(GID_LINK_LOCAL, "ah_attr.grh.sgid_index", INDEX, 1, 0, 0)
			  WAY(NEIGHBOUR, 1));

	/* Whoever sends no packet. */
	start(&mlx4);
	fake_route(ENETUNREACH);
	NONE_FOUND(consider("::ffff:239.1.1.1", 3), "a group has no neighbour");
	start(&mlx4ib);
	fake_route(ENETUNREACH);
	NONE_FOUND(consider("fe80::9", 0), "nor has InfiniBand");
	tap_eq_int(fake_route_count(), 0, "and no question of routes");
}

/* What an EINVAL or ENOMEM may be about that the request itself does not show. */
static void causes(void)
{
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	/* A path MTU that the driver accepts, and its device does not. */
	start(&mlx4);
	qp = qp_in(IBV_QPT_RC, INIT);
	move = right(IBV_QPT_RC, INIT, RTR);
	move.attr.path_mtu = IBV_MTU_4096;
	fake_fail(FAKE_MODIFY_QP, 1, EINVAL);
	CHECK_FINDINGS(
		&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), EINVAL,
		"rdmaez_qp_modify", "an MTU that is refused",
		LIKELY(MTU_ABOVE_ACTIVE, "path_mtu", MTU, IBV_MTU_4096, IBV_MTU_256, IBV_MTU_1024));
	fake_fail(FAKE_MODIFY_QP, 1, ENOMEM);
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), ENOMEM,
		       "rdmaez_qp_modify", "what is refused is something else",
		       LIKELY(NO_RESOURCES, "ibv_modify_qp", NONE, 0, 0, 0)
			       ADVICE(MTU_ABOVE_ACTIVE, "path_mtu", MTU, IBV_MTU_4096, IBV_MTU_256,
				      IBV_MTU_1024));

	/* What the errno tells comes before what else is likely. */
	start(&plain);
	qp = qp_in(IBV_QPT_RC, INIT);
	move = right(IBV_QPT_RC, INIT, RTR);
	move.attr.path_mtu = (enum ibv_mtu)6;
	fake_fail(FAKE_MODIFY_QP, 1, ETIMEDOUT);
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), ETIMEDOUT,
		       "rdmaez_qp_modify", "a path MTU behind a peer who is not found",
		       WAY(NEIGHBOUR, 3) LIKELY(ENUM, "path_mtu", MTU, 6, 1, 5));

	/* READs in flight that all queue pairs share. */
	for (int to = RTR; to <= RTS; to++) {
		static const struct {
			int budget, depth, error;
			bool said;
		} rows[] = {{16, 16, EINVAL, true}, {16, 1, EINVAL, true},   {16, 16, ENOMEM, true},
			    {255, 1, EINVAL, true}, {256, 1, EINVAL, false}, {511, 2, EINVAL, true},
			    {1, 1, EINVAL, true},   {0, 16, EINVAL, false},  {16, 0, EINVAL, false},
			    {16, 16, EBUSY, false}};
		const char *const field = to == RTR ? "max_dest_rd_atomic" : "max_rd_atomic";

		for (size_t i = 0; i < COUNT_OF(rows); i++) {
			start(&ionic);
			dev->attr.orig_attr.max_res_rd_atom = rows[i].budget;
			qp = qp_in(IBV_QPT_RC, (enum ibv_qp_state)(to - 1));
			move = right(IBV_QPT_RC, (enum ibv_qp_state)(to - 1),
				     (enum ibv_qp_state)to);
			move.attr.max_rd_atomic = move.attr.max_dest_rd_atomic =
				(uint8_t)rows[i].depth;
			fake_fail(FAKE_MODIFY_QP, 1, rows[i].error);
			rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag);
			tap_eq_str(rdmaez_why_id(diag.finding[0].reason),
				   rows[i].said              ? "DEPTH_BUDGET"
				   : rows[i].error == EINVAL ? "REFUSED"
							     : "BUSY",
				   "%d of %d, %s", rows[i].depth, rows[i].budget, field);
			tap_eq_str(diag.finding[0].field, rows[i].said ? field : "ibv_modify_qp",
				   "at its field");
			tap_eq_int(diag.finding[0].severity, RDMAEZ_DIAG_LIKELY, "is likely");
			tap_eq_int(diag.finding[0].max, rows[i].said ? rows[i].budget : 0,
				   "and tells how many there are");
			tap_ok(!diag.finding[0].value && !diag.finding[0].min, "and no more");
			tap_eq_int(diag.finding[0].kind,
				   rows[i].said ? RDMAEZ_VALUE_LIMIT : RDMAEZ_VALUE_NONE,
				   "as a limit");
		}
	}
}

/* What the kernel answers when it is asked for its settings, as 16-bit words; none: it does not know the question. */
static uint16_t settings[32];
static size_t setting_words;

#undef socket
static int test_socket(int family, int type, int protocol)
{
	static int ends[2] = {
		-1, -1}; /* the other one takes the question, and is closed with the next */

	if (family != AF_NETLINK || protocol != 20)
		return socket(family, type, protocol);
	close(ends[1]);
	ends[1] = -1;
	if (!setting_words || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		return -1;
	if (write(ends[1], settings, 2 * setting_words) < 0)
		abort();
	return ends[0];
}
#define socket test_socket

/* Settings of 8 bits: namespaces that share devices, copies on fork, and this. -1: none, -2: no answer. */
static void settle(int qkey)
{
	uint16_t words[] = {28, 0, 5 << 10 | 6, 0, 0, 0, 0, 0, 5, 60, 0, 0, 5, 96, 0, 0};

	*(uint8_t *)&words[10] = 1;
	*(uint8_t *)&words[14] = (uint8_t)qkey;
	memcpy(settings, words, sizeof(words));
	setting_words = qkey == -2 ? 0 : qkey == -1 ? 12 : 16;
}

/* Who may set a privileged Q_Key. */
static void privileged(void)
{
	static const struct {
		unsigned int capabilities;
		const char *uid_map, *release;
		int setting;
		int refused; /* 1: for certain; 0: not; -1: likely */
	} rows[] = {
		{PROCESS_CAP_NET_RAW, "         0          0 4294967295\n", "6.1.0", -1, 0},
		{PROCESS_CAP_NET_RAW, "         0          0 4294967295\n", "6.12.0", 0, 0},
		{PROCESS_CAP_NET_RAW, "         0       1000          1\n", "6.12.0", 0, -1},
		{PROCESS_CAP_NET_RAW, NULL, "6.12.0", 0, -1},
		{PROCESS_CAP_OTHERS, "         0          0 4294967295\n", "6.1.0", -1, -1},
		{PROCESS_CAP_OTHERS, "         0          0 4294967295\n", "6.4.0", -2, -1},
		{PROCESS_CAP_OTHERS, "         0          0 4294967295\n", "6.5.0", -2, 1},
		{PROCESS_CAP_OTHERS, "         0       1000          1\n", "6.6.0", -1, 1},
		{PROCESS_CAP_OTHERS, "         0          0 4294967295\n", "6.7.0", -1, -1},
		{PROCESS_CAP_OTHERS, "         0          0 4294967295\n", "6.12.0", 0, 1},
		{PROCESS_CAP_OTHERS, "         0          0 4294967295\n", "6.12.0", 1, 0},
	};
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct rdmaez_finding *found;

		start(&mlx4);
		fake_uname(rows[i].release);
		process_reset(rows[i].capabilities);
		process.uid_map = rows[i].uid_map;
		settle(rows[i].setting);
		qp = qp_in(IBV_QPT_UD, RESET);
		move = right(IBV_QPT_UD, RESET, INIT);
		move.attr.qkey = 0x80000000u;
		tap_eq_int(rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag),
			   rows[i].refused > 0 ? EPERM : 0, "row %zu: the kernel's errno", i);
		found = rdmaez_diag_find(&diag, RDMAEZ_WHY_QKEY_PRIVILEGED);
		tap_eq_int(!found                                  ? 0
			   : found->severity == RDMAEZ_DIAG_ERROR  ? 1
			   : found->severity == RDMAEZ_DIAG_LIKELY ? -1
								   : 2,
			   rows[i].refused, "row %zu: how certain that is", i);
		/* Before the state, as the kernel has it. */
		move.attr_mask &= ~IBV_QP_PORT;
		tap_eq_int(rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag),
			   rows[i].refused > 0 ? EPERM : EINVAL, "row %zu: with a mask as wrong",
			   i);
	}
	settle(-2);
	/* Of a process that has the privilege, nothing is said unless the kernel refuses even so. */
	start(&mlx4);
	process_reset(PROCESS_CAP_NET_RAW);
	qp = qp_in(IBV_QPT_UD, RESET);
	move = right(IBV_QPT_UD, RESET, INIT);
	move.attr.qkey = 0x80000000u;
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), EPERM,
		       "rdmaez_qp_modify", "a privilege that does not help",
		       LIKELY(QKEY_PRIVILEGED, "qkey", HEX, 1u << 31, 0, INT32_MAX));
}

/* What is likely explains a refusal too; the rest is added where nothing does. */
static void explained(void)
{
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	start(&plain);
	qp = qp_in(IBV_QPT_UD, RESET);
	move = right(IBV_QPT_UD, RESET, INIT);
	move.attr.qkey = 1u << 31;
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), EPERM,
		       "rdmaez_qp_modify", "a privileged Q_Key",
		       LIKELY(QKEY_PRIVILEGED, "qkey", HEX, 1u << 31, 0, INT32_MAX));
	move.attr.qkey = 1;
	fake_fail(FAKE_MODIFY_QP, 1, EPERM);
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), EPERM,
		       "rdmaez_qp_modify", "a Q_Key that is not",
		       LIKELY(QKEY_PRIVILEGED, "ibv_modify_qp", NONE, 0, 0, 0));
	move.attr_mask &= ~IBV_QP_QKEY;
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), EINVAL,
		       "rdmaez_qp_modify", "a mask that an unknown driver refuses",
		       LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, IBV_QP_QKEY, 0,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT));
	fake_fail(FAKE_MODIFY_QP, 1, ENOMEM);
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	CHECK_VERB_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), ENOMEM,
			    "rdmaez_qp_modify", "ibv_modify_qp",
			    "another errno, and a queue pair that does not answer",
			    LIKELY(MASK_MISSING, "attr_mask", ATTR_MASK, IBV_QP_QKEY, 0,
				   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)
				    LIKELY(NO_RESOURCES, "ibv_modify_qp", NONE, 0, 0, 0)
					    LIKELY(QUERY_REFUSED, "ibv_query_qp", NONE, 0, 0, 0));
	start(&mana);
	dev->quirks |= FAKE_PRIVILEGED_QKEY;
	qp = qp_in(IBV_QPT_UD, RESET);
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask | IBV_QP_QKEY, &diag),
		       EOPNOTSUPP, "rdmaez_qp_modify", "a type that the library refuses",
		       LIKELY(NOT_SUPPORTED, "qp_type", TYPE, IBV_QPT_UD, 0, 0));
	start(&mlx4);
	qp = qp_in(IBV_QPT_UD, RESET);
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), EINVAL,
		       "rdmaez_qp_modify", "a mask that the table refuses",
		       ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, IBV_QP_QKEY, 0,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT));
}

/* Of a path that is not meant, or has no GID, the way to the peer is no explanation. */
static void pathless(void)
{
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	start(&mlx4);
	qp = qp_in(IBV_QPT_RC, RTR);
	move = right(IBV_QPT_RC, RTR, RTS);
	move.attr.ah_attr = vector(3, 3);
	fake_fail(FAKE_MODIFY_QP, 1, ETIMEDOUT);
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), ETIMEDOUT,
		       "rdmaez_qp_modify", "a path that is not meant",
		       LIKELY(TIMED_OUT, "ibv_modify_qp", NONE, 0, 0, 0));
	qp = qp_in(IBV_QPT_RC, INIT);
	move = right(IBV_QPT_RC, INIT, RTR);
	move.attr.ah_attr.is_global = 0;
	fake_fail(FAKE_MODIFY_QP, 1, ETIMEDOUT);
	CHECK_FINDINGS(&diag, rdmaez_qp_modify(qp, &move.attr, move.attr_mask, &diag), ETIMEDOUT,
		       "rdmaez_qp_modify", "a path without GID",
		       ERROR(GRH_MISSING, "ah_attr.is_global", NUMBER, 0, 1, 1)
			       LIKELY(TIMED_OUT, "ibv_modify_qp", NONE, 0, 0, 0));

	/* Which driver type it is, the caller says. */
	start(&mlx5);
	qp = qp_in(IBV_QPT_DRIVER, RESET);
	move = right(RDMAEZ_QPT_DCI, RESET, INIT);
	memset(&diag, 0, sizeof(diag));
	diag.error = EINVAL;
	rdmaez_impl_qp_explain(qp, RDMAEZ_QPT_DCT, &move.attr, move.attr_mask, &diag);
	tap_eq_int(diag.qp_type, RDMAEZ_QPT_DCT, "the record has the type");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_MASK_MISSING,
		   "and the mask is held against it");
	qp = qp_in(IBV_QPT_DRIVER, INIT);
	move = right(RDMAEZ_QPT_DCT, INIT, RTR);
	move.attr_mask |= IBV_QP_CUR_STATE;
	move.attr.cur_qp_state = RTS;
	rdmaez_qp_check_as(qp, RDMAEZ_QPT_DCT, &move.attr, move.attr_mask, &diag);
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_MASK_NOT_ALLOWED,
		   "a DCT does not believe cur_qp_state");
	qp = qp_in(IBV_QPT_DRIVER, RTR);
	move = right(RDMAEZ_QPT_DCI, RTR, RTS);
	move.attr.max_rd_atomic = 17;
	CHECK_FINDINGS(&diag,
		       rdmaez_qp_check_as(qp, RDMAEZ_QPT_DCI, &move.attr, move.attr_mask, &diag), 0,
		       "rdmaez_qp_check_as", "a DCI's depth, whose limit nobody tells",
		       LIKELY(DEPTH_LIMIT, "max_rd_atomic", NUMBER, 17, 0, 16));
}

/* ---- What is asked, and what the record holds --------------------------------------------- */

static void questions(void)
{
	static const struct {
		const struct model *model;
		enum ibv_qp_type type;
		enum ibv_qp_state from, to;
		int mask; /* of the question */
	} asked[] = {
		{&mlx4, IBV_QPT_RC, RESET, INIT, IBV_QP_STATE},
		{&mlx4, IBV_QPT_RC, INIT, RTR, IBV_QP_STATE | IBV_QP_PORT},
		{&mlx4, IBV_QPT_RC, RTR, RTS, IBV_QP_STATE | IBV_QP_PORT},
		{&mlx4, IBV_QPT_RC, SQD, SQD, IBV_QP_STATE | IBV_QP_PORT},
		{&efa, IBV_QPT_UD, INIT, RTR, IBV_QP_STATE | IBV_QP_PORT},
		{&siw, IBV_QPT_RC, INIT, RTR, 0},
	};
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		start(asked[i].model);
		qp = qp_in(asked[i].type, asked[i].from);
		move = right(asked[i].type, asked[i].from, asked[i].to);
		rdmaez_qp_check(qp, &move.attr, move.attr_mask, NULL);
		tap_eq_int(fake_count(FAKE_QUERY_QP), asked[i].mask != 0, "case %zu: %d question",
			   i, asked[i].mask != 0);
		if (asked[i].mask)
			tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, asked[i].mask,
				   "case %zu: about what is needed", i);
	}
	for (int bit = IBV_QP_PORT; bit; bit = bit == IBV_QP_PORT ? IBV_QP_AV
					       : bit == IBV_QP_AV ? IBV_QP_ALT_PATH
								  : 0) {
		start(&mlx4);
		qp = qp_in(IBV_QPT_RC, SQD);
		move = right(IBV_QPT_RC, SQD, SQD);
		rdmaez_qp_check(qp, &move.attr, move.attr_mask | bit, NULL);
		tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE,
			   "a port that is named by 0x%x need not be asked for", (unsigned int)bit);
	}
	start(&mlx4);
	qp = qp_in(IBV_QPT_UD, INIT);
	move = right(IBV_QPT_UD, INIT, RTR);
	rdmaez_qp_check(qp, &move.attr, move.attr_mask | IBV_QP_PORT, NULL);
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE, "nor on the way to RTR");
	start(&plain);
	dev->ports = 2;
	qp = qp_in(IBV_QPT_UD, INIT);
	move = right(IBV_QPT_UD, INIT, RTR);
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, NULL);
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 0, "of a port that is not known nothing is asked");
	start(&mlx4);
	qp = qp_in(IBV_QPT_RC, INIT);
	move = right(IBV_QPT_RC, INIT, RTR);
	move.attr.max_dest_rd_atomic = 0;
	dev->habits.query_refused = IBV_QP_ACCESS_FLAGS;
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, NULL);
	tap_eq_int(fake_count(FAKE_QUERY_QP), 2, "what is refused is asked again");
	tap_eq_hex(fake_nth(2)->attr_mask, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		   "after all that is needed");
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE | IBV_QP_PORT,
		   "only for the state and the port, which all but mana tell");
	move.attr_mask |= IBV_QP_ACCESS_FLAGS;
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, NULL);
	tap_eq_int(fake_count(FAKE_QUERY_QP), 3, "flags that are given need not be asked for");
	start(&mlx4);
	qp = qp_in(IBV_QPT_RC, RTS);
	move = right(IBV_QPT_RC, RTS, ERR);
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, NULL);
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "what fails otherwise is not");
	start(&mlx4);
	qp = qp_in(IBV_QPT_RC, RESET);
	move = right(IBV_QPT_RC, RESET, INIT);
	move.attr.ah_attr = vector(3, 3);
	move.attr.alt_ah_attr = vector(3, 3);
	dev->habits.query_errno = EINVAL;
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, NULL);
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "nor the same question");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), 0,
		   "of paths that are not meant nothing is asked");
	tap_eq_int(fake_count(FAKE_QUERY_PKEY), 1, "but of the P_Key");
	move.attr.pkey_index = 1;
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, NULL);
	move.attr.pkey_index = 0;
	rdmaez_qp_check(qp, &move.attr, move.attr_mask & ~IBV_QP_PKEY_INDEX, NULL);
	tap_eq_int(fake_count(FAKE_QUERY_PKEY), 1, "if it is meant, and in the table");

	/* The library's copy of the state is refreshed, unless with nonsense. */
	start(&mlx4);
	qp = qp_in(IBV_QPT_RC, RTR);
	fake_qp_force(qp, ERR);
	rdmaez_qp_check(qp, &move.attr, IBV_QP_STATE, &diag);
	tap_eq_int(qp->state, ERR, "qp->state is refreshed");
	tap_eq_int(diag.from, ERR, "and the record has it");
	fixture_truth(qp)->qp_state = IBV_QPS_UNKNOWN;
	qp->state = RTS;
	rdmaez_qp_check(qp, &move.attr, IBV_QP_STATE, &diag);
	tap_eq_int(qp->state, RTS, "unless by what is no state");
	tap_eq_int(diag.from, RTS, "which the record has not");
	fixture_truth(qp)->qp_state = ERR;
	dev->habits.query_errno = EOPNOTSUPP;
	rdmaez_qp_check(qp, &move.attr, IBV_QP_STATE, &diag);
	tap_eq_int(qp->state, RTS, "nor by no answer");
	tap_eq_int(diag.from, RTS, "where the copy is what there is");
	start(&siw);
	qp = qp_in(IBV_QPT_RC, RTS);
	rdmaez_qp_check(qp, &move.attr, IBV_QP_STATE, &diag);
	tap_eq_int(qp->state, RTS, "nor by a driver that does not fill it");
}

static void record(void)
{
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	start(&mlx4);
	qp = qp_in(IBV_QPT_RC, INIT);
	move = right(IBV_QPT_RC, INIT, RTR);
	move.attr_mask &= ~IBV_QP_RQ_PSN;
	move.attr.ah_attr.grh.sgid_index = 9;
	move.attr.min_rnr_timer = 0;
	CHECK_VERB_FINDINGS(&diag, rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag), ENODATA,
			    "rdmaez_qp_check", NULL,
			    "of two errors the one that the kernel meets first is returned",
			    ERROR(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 9, 0,
				  0) ERROR(MASK_MISSING, "attr_mask", ATTR_MASK, IBV_QP_RQ_PSN, 0,
					   move.attr_mask) SUITS(3)
				    ADVICE(RNR_TIMER_ZERO, "min_rnr_timer", NUMBER, 0, 1, 31));
	tap_eq_str(diag.device, "fake0", "the record names the device");
	tap_eq_str(diag.driver, "mlx4_ib", "and its driver");
	tap_eq_int(diag.qp_num, qp->qp_num, "and the queue pair");
	tap_eq_int(diag.qp_type, IBV_QPT_RC, "its type");
	tap_eq_int(diag.from, INIT, "the state it is in");
	tap_eq_int(diag.to, RTR, "the state asked for");
	tap_eq_int(diag.source.gid_index, 9, "the GID index");
	tap_eq_int(memcmp(&diag.destination, &move.attr.ah_attr.grh.dgid, 16), 0, "the peer's GID");
	tap_eq_str(diag.netdev, "", "and no interface");
	dev->port[1].gid[3].ifindex = 1; /* which Linux gives to the loopback interface */
	move.attr.ah_attr.grh.sgid_index = 3;
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag);
	tap_eq_int(memcmp(&diag.source.gid, &dev->port[1].gid[3].gid, 16), 0, "its own GID");
	tap_eq_str(diag.netdev, "lo", "and the GID's interface");
	move.attr_mask &= ~(IBV_QP_STATE | IBV_QP_AV);
	rdmaez_qp_check(qp, &move.attr, move.attr_mask, &diag);
	tap_eq_int(diag.to, INIT, "without a state in the mask it stays where it is");
	tap_ok(rdmaez_gid_is_zero(&diag.destination), "and without a path there is no peer");
	start(&plain);
	qp = qp_in(IBV_QPT_RC, INIT);
	rdmaez_qp_check(qp, &move.attr, IBV_QP_STATE, &diag);
	tap_eq_str(diag.driver, NULL, "an unknown driver is not named");
	start(&efa);
	qp = qp_in(IBV_QPT_DRIVER, INIT);
	rdmaez_qp_check(qp, &move.attr, IBV_QP_STATE, &diag);
	tap_eq_int(diag.qp_type, RDMAEZ_QPT_SRD, "efa's type is known");
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	CHECK_FINDINGS(&diag, rdmaez_qp_check(qp, &move.attr, IBV_QP_STATE, &diag), 0,
		       "rdmaez_qp_check", "a queue pair that cannot be asked",
		       LIKELY(QUERY_REFUSED, "ibv_query_qp", NONE, 0, 0, 0));

	CHECK_FINDINGS(&diag, rdmaez_qp_check(NULL, &move.attr, 0, &diag), EINVAL,
		       "rdmaez_qp_check", "no queue pair",
		       ERROR(NULL_ARGUMENT, "qp", NONE, 0, 0, 0));
	CHECK_FINDINGS(&diag, rdmaez_qp_check(qp, NULL, 0, &diag), EINVAL, "rdmaez_qp_check",
		       "no attributes", ERROR(NULL_ARGUMENT, "attr", NONE, 0, 0, 0));
	CHECK_FINDINGS(&diag, rdmaez_qp_check_as(NULL, RDMAEZ_QPT_SRD, &move.attr, 0, &diag),
		       EINVAL, "rdmaez_qp_check_as", "no queue pair of a driver type",
		       ERROR(NULL_ARGUMENT, "qp", NONE, 0, 0, 0));
	CHECK_FINDINGS(&diag, rdmaez_qp_check_as(qp, RDMAEZ_QPT_SRD, NULL, 0, &diag), EINVAL,
		       "rdmaez_qp_check_as", "no attributes of one",
		       ERROR(NULL_ARGUMENT, "attr", NONE, 0, 0, 0));
	start(&mlx4);
	rdmaez_qp_check_as(qp_in(IBV_QPT_UD, INIT), RDMAEZ_QPT_SRD, &move.attr, 0, &diag);
	tap_eq_int(diag.qp_type, IBV_QPT_UD, "what is said of a verbs type is not believed");
}

int main(int argc, char **argv)
{
	seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1;
	bits();
	ports();
	states();
	addresses();
	masks();
	current_states();
	iwarp();
	of_drivers();
	path_mtus();
	access_flags();
	read_depths();
	widths();
	p_keys();
	partly_known();
	driver_types();
	driver_values();
	meanings();
	routes();
	sources();
	neighbours();
	considered();
	causes();
	privileged();
	explained();
	pathless();
	questions();
	record();
	foresee();
	fake_close_all();
	return tap_done();
}
