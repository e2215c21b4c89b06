/* SPDX-License-Identifier: MIT */
/*
 * Multicast groups: ib_uverbs_attach_mcast() and ib_attach_mcast() of the kernel with rxe_attach_mcast(). A device without
 * max_mcast_grp has a driver without multicast.
 */
#include "fake_internal.h"

enum {
	ATTACHED = 64
};

static struct {
	const struct ibv_qp *qp; /* NULL: free */
	const struct fake_device *dev;
	struct fake_group group;
} attached[ATTACHED];

static bool gid_is_group(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	return gid->raw[0] == 0xff ||
	       (!memcmp(gid->raw, mapped, sizeof(mapped)) && (gid->raw[12] & 0xf0) == 0xe0);
}

/* is_valid_mcast_lid(): by the queue pair's port, or in RESET by all of the device. */
static bool is_lid_good(const struct ibv_qp *qp, struct fake_device *dev, uint16_t lid)
{
	const struct ibv_qp_attr *const is = fake_qp_true(qp);

	if (is->qp_state != IBV_QPS_RESET && fake_port_is_roce(dev, is->port_num))
		return true;
	for (uint32_t port = 1; is->qp_state == IBV_QPS_RESET && port <= dev->ports; port++)
		if (fake_port_is_roce(dev, port))
			return true;
	return lid >= 0xc000 && lid != 0xffff;
}

static bool is_same(const struct fake_group *a, const union ibv_gid *gid, uint16_t lid)
{
	return a->lid == lid && !memcmp(&a->gid, gid, sizeof(*gid));
}

/* Where a queue pair is attached to a group; -1: it is not. */
static int find(const struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	for (int i = 0; i < ATTACHED; i++)
		if (attached[i].qp == qp && is_same(&attached[i].group, gid, lid))
			return i;
	return -1;
}

/* rxe_get_mcg(), rxe_attach_mcg(): one more, against the device's limits. */
static int count(const struct fake_device *dev, const union ibv_gid *gid)
{
	int groups = 0, here = 0, all = 0;

	for (int i = 0; i < ATTACHED; i++) {
		bool is_first = true;

		if (!attached[i].qp || attached[i].dev != dev)
			continue;
		all++;
		here += !memcmp(&attached[i].group.gid, gid, sizeof(*gid));
		for (int j = 0; j < i; j++)
			if (attached[j].qp && attached[j].dev == dev &&
			    !memcmp(&attached[j].group.gid, &attached[i].group.gid, sizeof(*gid)))
				is_first = false;
		groups += is_first;
	}
	return (!here && groups >= dev->attr.orig_attr.max_mcast_grp) ||
			       here >= dev->attr.orig_attr.max_mcast_qp_attach ||
			       all >= dev->attr.orig_attr.max_total_mcast_qp_attach
		       ? ENOMEM
		       : 0;
}

static struct fake_call *begin(enum fake_verb verb, const struct ibv_qp *qp,
			       const union ibv_gid *gid, uint16_t lid)
{
	struct fake_call *call = fake_enter(verb, qp);

	call->arg.group.gid = *gid;
	call->arg.group.lid = lid;
	if (!call->error && !fake_dev(qp->context)->attr.orig_attr.max_mcast_grp)
		call->error = EOPNOTSUPP;
	return call;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct fake_call *call = begin(FAKE_ATTACH_MCAST, qp, gid, lid);
	struct fake_device *dev = fake_dev(qp->context);
	int err = call->error, at = 0;

	if (err || find(qp, gid, lid) >= 0)
		return fake_return(call, err);
	if (!gid_is_group(gid) || qp->qp_type != IBV_QPT_UD || !is_lid_good(qp, dev, lid))
		err = EINVAL;
	if (!err)
		err = count(dev, gid);
	while (attached[at].qp)
		if (++at == ATTACHED)
			abort();
	if (!err) {
		attached[at].qp = qp;
		attached[at].dev = dev;
		attached[at].group = call->arg.group;
	}
	return fake_return(call, err);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	struct fake_call *call = begin(FAKE_DETACH_MCAST, qp, gid, lid);
	const int at = call->error ? -1 : find(qp, gid, lid);

	if (at >= 0)
		attached[at].qp = NULL;
	return fake_return(call, call->error ? call->error : at < 0 ? EINVAL : 0);
}

bool fake_mcast_has(const struct ibv_qp *qp)
{
	for (int i = 0; i < ATTACHED; i++)
		if (attached[i].qp == qp)
			return true;
	return false;
}

void fake_mcast_forget(const struct ibv_qp *qp)
{
	for (int i = 0; i < ATTACHED; i++)
		if (attached[i].qp == qp)
			attached[i].qp = NULL;
}
