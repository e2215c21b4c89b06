/* SPDX-License-Identifier: MIT */
/*
 * Random requests to ibv_modify_qp(), of which the driver's own function is the judge, compiled from the kernel's
 * source. The fake goes before it, as libibverbs, the system call and the kernel's core do. Its profile judges as well,
 * and must say the same, and rdmaez_qp_check() must foresee the answer, or at least say nothing false.
 *
 * Arguments: the driver's name, the kernel's release, the number of requests, the seed.
 */
#include "process.h"

#define open test_open

#include "fake_internal.h"
#include "fixture.h"
#include <rdmaez/implementation.h>
#include "random_request.h"
#include "moves.h"

/* ---- The driver in the profile's place ------------------------------------------------------ */

int __real_fake_driver_modify(struct fake_device *dev, struct fake_qp *qp,
			      const struct ibv_qp_attr *attr, int mask);
int __wrap_fake_driver_modify(struct fake_device *dev, struct fake_qp *qp,
			      const struct ibv_qp_attr *attr, int mask);

static struct moves_device device;
static void *judge_qp;       /* the driver's queue pair */
static unsigned int differs; /* answers of the profile that are not the driver's */
static unsigned int reached; /* requests that the layers above have let through */

static struct moves_path path_of(const struct fake_device *dev, const struct ibv_ah_attr *ah)
{
	const struct fake_port *port =
		&dev->port[ah->port_num <= FAKE_MAX_PORTS ? ah->port_num : 0];
	struct moves_path path;

	memset(&path, 0, sizeof(path));
	path.sl = ah->sl;
	path.static_rate = ah->static_rate;
	path.port_num = ah->port_num;
	path.dlid = ah->dlid;
	path.src_path_bits = ah->src_path_bits;
	path.is_global = ah->is_global;
	path.flow_label = ah->grh.flow_label;
	path.sgid_index = ah->grh.sgid_index;
	path.hop_limit = ah->grh.hop_limit;
	path.traffic_class = ah->grh.traffic_class;
	path.gid_type = port->gid[ah->grh.sgid_index].type;
	memcpy(path.dgid, ah->grh.dgid.raw, 16);
	memcpy(path.sgid, port->gid[ah->grh.sgid_index].gid.raw, 16);
	return path;
}

static struct moves_attr attr_of(const struct fake_device *dev, const struct ibv_qp_attr *from)
{
	struct moves_attr attr;

	memset(&attr, 0, sizeof(attr));
#define FIELD(name, bit) attr.name = (unsigned int)from->name;
	MOVES_FIELDS(FIELD)
#undef FIELD
	attr.ah_attr = path_of(dev, &from->ah_attr);
	attr.alt_ah_attr = path_of(dev, &from->alt_ah_attr);
	return attr;
}

/*
 * What drivers refuse and rdmaez says nothing of. The driver is not asked about it, if there is nothing else to refuse.
 * hw/mlx5: ib_rate_to_mlx5() has no rate below 2.5 Gbit/s or beyond its own list. hw/hns: hns_roce_v2_set_path() takes
 * service levels up to 7, and modify_qp_rtr_to_rts() no IBV_QP_PATH_MIG_STATE.
 */
static int leave_out(const struct fake_device *dev, struct moves_attr *attr, int mask)
{
	const char *const driver = rdmaez_driver_of(&dev->attr.orig_attr)->name;

	if (strcmp(driver, "mlx5_ib") == 0)
		attr->ah_attr.static_rate = 0;
	if (strcmp(driver, "hns_roce") != 0)
		return mask;
	attr->ah_attr.sl &= 7;
	return mask & ~IBV_QP_PATH_MIG_STATE;
}

/* Says where they differ, so that somebody can read the source at that place. */
static void tell(const struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask,
		 enum ibv_qp_state from, int profile, int driver)
{
	char names[1024];

	rdmaez_qp_attr_mask_format(mask, names, sizeof(names));
	tap_diag("profile says %s, the driver %s: in %s, to %s, cur %d, mask %s, depths %d %d, mtu "
		 "%d, "
		 "pkey %d, port %d, type %s; now in %s and %s",
		 rdmaez_errno_str(profile), rdmaez_errno_str(driver), rdmaez_qp_state_str(from),
		 rdmaez_qp_state_str(attr->qp_state), (int)attr->cur_qp_state, names,
		 attr->max_rd_atomic, attr->max_dest_rd_atomic, (int)attr->path_mtu,
		 attr->pkey_index, attr->port_num, rdmaez_qp_type_str(qp->verbs.qp_type),
		 rdmaez_qp_state_str(qp->attr.qp_state),
		 rdmaez_qp_state_str((enum ibv_qp_state)moves_state(judge_qp)));
}

int __wrap_fake_driver_modify(struct fake_device *dev, struct fake_qp *qp,
			      const struct ibv_qp_attr *attr, int mask)
{
	const enum ibv_qp_state from = qp->attr.qp_state;
	struct moves_attr asked = attr_of(dev, attr);
	const int profile = __real_fake_driver_modify(dev, qp, attr, mask);
	const int driver =
		moves_modify(judge_qp, &asked, profile ? mask : leave_out(dev, &asked, mask));

	reached++;
	if ((profile != driver ||
	     (moves_state(judge_qp) >= 0 && (int)qp->attr.qp_state != moves_state(judge_qp))) &&
	    differs++ < 5)
		tell(qp, attr, mask, from, profile, driver);
	return driver;
}

/* ---- The drivers ------------------------------------------------------------------------------ */

/* What nobody outside the driver or the kernel can know of it, as in tests/unit/qp_check.c. */
enum keeps {
	NOTHING,
	PORT,   /* whether the kernel has a port for a queue pair that never was in INIT */
	REASONS /* some of its reasons to refuse, or the queue pair's state */
};

static const struct walk {
	const char *name; /* the file's, moves/NAME.c */
	enum fake_profile profile;
	int since; /* the first release in which it can do this */
	enum keeps keeps;
} walks[] = {
	{"efa", FAKE_PROFILE_EFA, 0, PORT},
	{"mlx4", FAKE_PROFILE_MLX4, 0, PORT},
	{"mlx5", FAKE_PROFILE_MLX5, 0, PORT},
	{"hns", FAKE_PROFILE_HNS, 0, PORT},
	{"irdma", FAKE_PROFILE_IRDMA, 0, REASONS},
	{"irdma", FAKE_PROFILE_IRDMA_IWARP, 0, REASONS},
	{"bnxt_re", FAKE_PROFILE_BNXT_RE, 0, PORT},
	{"erdma", FAKE_PROFILE_ERDMA, 0, REASONS},
	{"erdma", FAKE_PROFILE_ERDMA_ROCE, 612, PORT},
};

static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
					 IBV_QPT_XRC_RECV};

static struct fake_device *begin(enum fake_profile profile, const char *release)
{
	struct fake_device *dev = fixture_device(profile, release);
	const struct fake_port *port = &dev->port[1];

	process_reset(PROCESS_CAP_NET_RAW);
	dev->quirks |= FAKE_PRIVILEGED_QKEY;
	dev->habits.stale = 0xa5;
	/* None of the limits is another one's. */
	dev->attr.orig_attr.max_qp_rd_atom = 16;
	dev->attr.orig_attr.max_qp_init_rd_atom = 8;
	for (unsigned int i = 1; i <= FAKE_MAX_PORTS; i++)
		dev->port[i].attr.active_mtu = IBV_MTU_2048;
	memset(&device, 0, sizeof(device));
	device.is_ethernet = port->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	device.is_iwarp = dev->verbs.transport_type == IBV_TRANSPORT_IWARP;
	device.ports = (int)dev->ports;
	device.gids = port->attr.gid_tbl_len;
	device.pkeys = port->attr.pkey_tbl_len;
	device.max_pkeys = dev->attr.orig_attr.max_pkeys;
	device.max_qp_rd_atom = dev->attr.orig_attr.max_qp_rd_atom;
	device.max_qp_init_rd_atom = dev->attr.orig_attr.max_qp_init_rd_atom;
	device.active_mtu = port->attr.active_mtu;
	device.mtu_bytes =
		2048 + 200; /* of the network interface, of which the headers take a part */
	return dev;
}

static void walk(const struct walk *driver, const char *release, enum ibv_qp_type type,
		 enum fake_driver_type kind, int requests)
{
	static const int marks[] = {[FAKE_SRD] = MOVES_SRD,
				    [FAKE_DCI] = MOVES_DCI,
				    [FAKE_DCT] = MOVES_DCT,
				    [FAKE_UNDERLAY] = MOVES_UNDERLAY};
	const int steps = kind == FAKE_DCT ? 4 : 100; /* RTR is the end of it */
	struct tally tally;
	char name[96];

	memset(&tally, 0, sizeof(tally));
	differs = reached = 0;
	tally.keeps_port = driver->keeps != NOTHING;
	tally.own_reasons = driver->keeps == REASONS || kind == FAKE_DCI || kind == FAKE_DCT ||
			    (release[0] >= '7' && (driver->profile == FAKE_PROFILE_MLX5 ||
						   driver->profile == FAKE_PROFILE_BNXT_RE));
	tally.type = kind ? type : (enum ibv_qp_type)0;
	for (int i = 0; i < requests; i += steps) {
		struct fake_device *const dev = begin(driver->profile, release);
		struct ibv_context *const context = fake_open(dev);
		struct ibv_qp *qp;

		if (rdmaez_port_gids(context, 1, gids, 64, &gid_count, NULL) || !gid_count)
			tap_bail("no GIDs");
		qp = kind ? fake_qp_driver(context, kind) : fake_qp(context, type);
		judge_qp = moves_qp(&device, kind ? marks[kind] : (int)type);
		for (int j = 0; j < steps; j++)
			one_request(qp, &tally);
		fake_close_all();
	}
	snprintf(name, sizeof(name), "%s%s, %s", driver->name, device.is_iwarp ? " (iWARP)" : "",
		 rdmaez_qp_type_str(type));
	judge(&tally, name);
	tap_eq_int((int)differs, 0,
		   "%s: the fake's profile says what the driver says to each of %u requests", name,
		   reached);
}

int main(int argc, char **argv)
{
	unsigned int walked = 0;
	int requests, major = 0, minor = 0;

	if (argc != 5 || sscanf(argv[2], "%d.%d", &major, &minor) != 2)
		tap_bail("usage: moves DRIVER RELEASE REQUESTS SEED");
	requests = atoi(argv[3]);
	seed = (uint32_t)strtoul(argv[4], NULL, 0);
	tap_diag("seed %u", seed);
	for (size_t i = 0; i < sizeof(walks) / sizeof(*walks); i++) {
		if (strcmp(walks[i].name, argv[1]) != 0 ||
		    major * 100 + (minor < 99 ? minor : 99) < walks[i].since)
			continue;
		for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
			if (begin(walks[i].profile, argv[2])->qp_types & FAKE_QPT(types[t]))
				walk(&walks[i], argv[2], types[t], FAKE_NO_DRIVER_TYPE, requests);
		walked++;
		if (walks[i].profile == FAKE_PROFILE_EFA)
			walk(&walks[i], argv[2], RDMAEZ_QPT_SRD, FAKE_SRD, requests);
		if (walks[i].profile == FAKE_PROFILE_MLX5) {
			walk(&walks[i], argv[2], RDMAEZ_QPT_DCI, FAKE_DCI, requests);
			walk(&walks[i], argv[2], RDMAEZ_QPT_DCT, FAKE_DCT, requests);
		}
	}
	tap_ok(walked > 0, "%s is a driver that this knows", argv[1]);
	return tap_done();
}
