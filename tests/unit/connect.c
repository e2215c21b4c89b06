/* SPDX-License-Identifier: MIT */
/*
 * Connecting by endpoints, against the fake: which verbs are called with which attributes, what is refused without any,
 * and what a failure leaves.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "check.h"
#include "findings.h"
#include "fixture.h"

/* Two ends, each on a device of its own. */
struct end {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_qp *qp;
	struct rdmaez_endpoint local;
};

static struct end a, b;
static struct rdmaez_qp_opts opts;

/* Every check runs twice: with a record to fill, and without. */
static struct rdmaez_diag record, *diag;

/* The first rest heals the way to the peer, if that is wanted. */
static struct {
	bool heals;
	unsigned int rests;
} at;

int nanosleep(const struct timespec *rest, struct timespec *left)
{
	(void)rest;
	(void)left;
	at.rests++;
	if (at.heals)
		a.dev->neighbour_errno = 0;
	return 0;
}

/* ---- The ends -------------------------------------------------------------------------------- */

struct kind {
	enum ibv_qp_type type, peer; /* of verbs */
	bool infiniband;
	const char *name;
};

static const struct kind kinds[] = {
	{IBV_QPT_RC, IBV_QPT_RC, false, "RC"},
	{IBV_QPT_UC, IBV_QPT_UC, false, "UC"},
	{IBV_QPT_UD, IBV_QPT_UD, false, "UD"},
	{IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, false, "XRC_SEND"},
	{IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND, false, "XRC_RECV"},
	{IBV_QPT_RC, IBV_QPT_RC, true, "RC on InfiniBand"},
	{IBV_QPT_UC, IBV_QPT_UC, true, "UC on InfiniBand"},
	{IBV_QPT_UD, IBV_QPT_UD, true, "UD on InfiniBand"},
	{IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, true, "XRC_SEND on InfiniBand"},
	{IBV_QPT_XRC_RECV, IBV_QPT_XRC_SEND, true, "XRC_RECV on InfiniBand"},
};

static void fill(struct end *end)
{
	if (rdmaez_endpoint_local(end->qp, &opts, &end->local, &record))
		tap_bail("there is no endpoint: %s", rdmaez_why_str(record.finding[0].reason));
}

static void make_end(struct end *end, enum ibv_qp_type type, bool infiniband, uint8_t address)
{
	if (infiniband) {
		fake_port_infiniband(&end->dev->port[1]);
		end->dev->port[1].attr.lid = (uint16_t)(0x100 + address);
	}
	for (int i = 0; i < 16; i++)
		if (!rdmaez_gid_is_zero(&end->dev->port[1].gid[i].gid))
			end->dev->port[1].gid[i].gid.raw[15] = address;
	end->ctx = fake_open(end->dev);
	end->qp = fake_qp(end->ctx, type);
	fill(end);
}

static void start(const struct kind *kind)
{
	memset(&opts, 0, sizeof(opts));
	memset(&at, 0, sizeof(at));
	a.dev = fake_reset();
	b.dev = fake_device_add("fake1");
	b.dev->port[1].attr.active_mtu = IBV_MTU_512;
	b.dev->attr.orig_attr.max_qp_init_rd_atom = 3;
	b.dev->attr.orig_attr.max_qp_rd_atom = 5;
	make_end(&a, kind->type, kind->infiniband, 1);
	make_end(&b, kind->peer, kind->infiniband, 2);
	memset(&record, 0xa5, sizeof(record));
	fake_reset_log();
}

static int connect_a(void)
{
	return rdmaez_qp_connect(a.qp, &a.local, &b.local, &opts, diag);
}

/* ---- What is asked of the kernel ------------------------------------------------------------- */

/* The attributes that a move must have, by the kernel's table; the rest is zero. */
static struct ibv_qp_attr wanted(const struct kind *kind, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = to;
#define WANT(bit, field, value) \
	if (mask & (bit))       \
		attr.field = (value);
	WANT(IBV_QP_PORT, port_num, 1)
	WANT(IBV_QP_ACCESS_FLAGS, qp_access_flags, IBV_ACCESS_REMOTE_WRITE)
	WANT(IBV_QP_QKEY, qkey, 0x1234)
	WANT(IBV_QP_PATH_MTU, path_mtu, IBV_MTU_512)
	WANT(IBV_QP_DEST_QPN, dest_qp_num, b.qp->qp_num)
	WANT(IBV_QP_RQ_PSN, rq_psn, b.local.psn)
	WANT(IBV_QP_SQ_PSN, sq_psn, a.local.psn)
	WANT(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, 3)
	WANT(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic, 5)
	WANT(IBV_QP_MIN_RNR_TIMER, min_rnr_timer, 12)
	WANT(IBV_QP_TIMEOUT, timeout, 18)
	WANT(IBV_QP_RETRY_CNT, retry_cnt, 7)
	WANT(IBV_QP_RNR_RETRY, rnr_retry, 7)
	WANT(IBV_QP_AV, ah_attr.port_num, 1)
#undef WANT
	if (!(mask & IBV_QP_AV))
		return attr;
	if (kind->infiniband) {
		attr.ah_attr.dlid = 0x102;
		return attr;
	}
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.dgid = b.dev->port[1].gid[3].gid;
	attr.ah_attr.grh.sgid_index = 3;
	attr.ah_attr.grh.hop_limit = 64;
	attr.ah_attr.grh.traffic_class = 104;
	return attr;
}

static void choose_opts(void)
{
	opts.access = IBV_ACCESS_REMOTE_WRITE;
	opts.qkey = 0x1234;
	opts.timeout = 18;
	opts.path.traffic_class = 104;
	fill(&a);
	fill(&b);
	fake_reset_log();
}

/* From this state on there is one ibv_modify_qp() for each transition, with this and nothing else. */
static void check_moves(const struct kind *kind, enum ibv_qp_state from)
{
	tap_eq_int(fake_count(FAKE_ANY), 3 - (unsigned int)from, "%s: one call for each step",
		   kind->name);
	for (unsigned int i = 0; from + i < IBV_QPS_RTS; i++) {
		const enum ibv_qp_state to = (enum ibv_qp_state)(from + i + 1);
		const int mask =
			fake_qp_rule(kind->type, (enum ibv_qp_state)(from + i), to).required |
			IBV_QP_STATE;
		const struct ibv_qp_attr attr = wanted(kind, to, mask);
		const struct fake_call *call = fake_nth(i + 1);

		tap_eq_str(call ? fake_verb_str(call->verb) : NULL, "ibv_modify_qp",
			   "%s: step %u is a move", kind->name, i + 1);
		if (!call)
			continue;
		tap_ok(call->object == a.qp, "of this queue pair");
		tap_eq_hex(call->attr_mask, mask, "with what the kernel requires");
		tap_eq_str(attr_difference(&call->arg.qp_attr, &attr), NULL,
			   "and with these attributes");
	}
	tap_eq_int(a.qp->state, IBV_QPS_RTS, "%s: it is in RTS", kind->name);
	tap_eq_int(fake_qp_true(a.qp)->qp_state, IBV_QPS_RTS, "%s: truly", kind->name);
}

static void test_connect(void)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		for (int from = IBV_QPS_RESET; from <= IBV_QPS_RTR; from++) {
			struct rdmaez_qp_opts agreed;

			start(&kinds[i]);
			choose_opts();
			if (rdmaez_endpoint_negotiate(&a.local, &b.local, &opts, &agreed, NULL) ||
			    (from >= IBV_QPS_INIT && rdmaez_qp_to_init(a.qp, &agreed, NULL)) ||
			    (from >= IBV_QPS_RTR && rdmaez_qp_to_rtr(a.qp, &agreed, NULL)))
				tap_bail("%s does not come to state %d", kinds[i].name, from);
			fake_reset_log();
			check_success(diag, connect_a(), "%s from state %d", kinds[i].name, from);
			if (diag)
				tap_eq_str(diag->call, "rdmaez_qp_connect", "the record's call");
			check_moves(&kinds[i], (enum ibv_qp_state)from);
		}
}

/* The peer's side is the mirror image. */
static void test_both(void)
{
	const struct ibv_qp_attr *x, *y;

	start(&kinds[0]);
	check_success(diag, connect_a(), "one end");
	check_success(diag, rdmaez_qp_connect(b.qp, &b.local, &a.local, NULL, diag), "the other");
	x = fake_qp_true(a.qp);
	y = fake_qp_true(b.qp);
	tap_eq_int(x->path_mtu, y->path_mtu, "one MTU");
	tap_ok(x->rq_psn == y->sq_psn && x->sq_psn == y->rq_psn, "each expects the other's PSN");
	tap_ok(x->max_rd_atomic == y->max_dest_rd_atomic &&
		       x->max_dest_rd_atomic == y->max_rd_atomic,
	       "as many READs as the other takes");
	tap_ok(x->dest_qp_num == b.qp->qp_num && y->dest_qp_num == a.qp->qp_num, "numbers");
	tap_eq_int(memcmp(&x->ah_attr.grh.dgid, &b.dev->port[1].gid[3].gid, 16), 0, "GIDs");
	tap_eq_int(memcmp(&y->ah_attr.grh.dgid, &a.dev->port[1].gid[3].gid, 16), 0, "and back");
}

static void start_srd(void)
{
	memset(&opts, 0, sizeof(opts));
	opts.driver_type = RDMAEZ_QPT_SRD;
	a.dev = fake_reset();
	fake_profile(a.dev, FAKE_PROFILE_EFA);
	a.ctx = fake_open(a.dev);
	a.qp = fake_qp_driver(a.ctx, FAKE_SRD);
	fill(&a);
	b = a;
	memset(&record, 0xa5, sizeof(record));
	fake_reset_log();
}

/* What an endpoint and a connection ask for, by what the options tell; once that is asked, three moves are all. */
static void test_asked(void)
{
	static const struct {
		bool attrs, index, entry;
		unsigned int port, device, table, gid;
		const char *name;
	} row[] = {{false, false, false, 1, 1, 1, 0, "nothing is given"},
		   {false, true, false, 1, 1, 0, 1, "an index is given"},
		   {false, false, true, 1, 1, 0, 0, "a GID is given"},
		   {true, false, false, 0, 0, 1, 0, "the attributes are given"},
		   {true, true, false, 0, 0, 0, 1, "the attributes and an index are given"},
		   {true, true, true, 0, 0, 0, 0, "all is given"},
		   {true, false, true, 0, 0, 0, 0, "all but an index is given"}};
	struct rdmaez_endpoint port;
	struct ibv_device_attr device;
	struct ibv_gid_entry entry;

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		start(&kinds[0]);
		ibv_query_device(a.ctx, &device);
		opts.port_attr = row[i].attrs ? &a.dev->port[1].attr : NULL;
		opts.device_attr = row[i].attrs ? &device : NULL;
		opts.path.sgid_index = row[i].index ? (int)a.local.gid[0].gid_index : 0;
		if (row[i].index)
			opts.path.sgid_index = rdmaez_exactly(opts.path.sgid_index);
		ibv_query_gid_ex(a.ctx, 1, a.local.gid[0].gid_index, &entry, 0);
		opts.gid_entry = row[i].entry ? &entry : NULL;
		fake_reset_log();
		check_success(diag, rdmaez_endpoint_local(a.qp, &opts, &a.local, diag), "%s",
			      row[i].name);
		tap_eq_int(memcmp(&a.local.gid[0].gid, &entry.gid, sizeof(entry.gid)), 0,
			   "it has the GID");
		tap_eq_int(a.local.gid[0].gid_index, entry.gid_index, "and its index");
		tap_eq_int(a.local.gid[0].gid_type, entry.gid_type, "and its type");
		if (row[i].entry || row[i].index)
			tap_eq_int(a.local.gid_count, 1, "and no other");
		tap_eq_int(fake_count(FAKE_QUERY_PORT), row[i].port, "the port");
		tap_eq_int(fake_count(FAKE_QUERY_DEVICE), row[i].device, "the device");
		tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), row[i].table, "the GID table");
		tap_eq_int(fake_count(FAKE_QUERY_GID_EX), row[i].gid, "one GID");
		tap_eq_int(fake_count(FAKE_ANY),
			   row[i].port + row[i].device + row[i].table + row[i].gid,
			   "and nothing else");
		check_success(diag, rdmaez_endpoint_port(a.ctx, &opts, &port, diag), "the port's");
		fake_reset_log();
		check_success(diag, rdmaez_endpoint_set_qp(&port, a.qp, diag), "a queue pair");
		tap_eq_int(fake_count(FAKE_ANY), 0, "asks for nothing");
		a.local = port;
		check_success(diag, connect_a(), "connects");
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 3, "by three moves");
		tap_eq_int(fake_count(FAKE_ANY), 3, "and nothing else");
	}
}

/* Of so many queue pairs each takes its three moves, and no question more than one queue pair takes. */
static void check_many(unsigned int count, bool given)
{
	struct ibv_device_attr device;
	struct ibv_gid_entry entry;
	struct rdmaez_endpoint port, local, remote;
	struct rdmaez_qp_opts agreed;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	struct ibv_qp *qp[512];
	unsigned int calls = 0;
	int error = 0;

	start(&kinds[0]);
	for (unsigned int i = 0; i < count; i++)
		qp[i] = fake_qp(a.ctx, IBV_QPT_RC);
	ibv_query_device(a.ctx, &device);
	ibv_query_gid_ex(a.ctx, 1, a.local.gid[0].gid_index, &entry, 0);
	if (given) {
		opts.port_attr = &a.dev->port[1].attr;
		opts.device_attr = &device;
		opts.gid_entry = &entry;
		opts.path.sgid_index = rdmaez_exactly((int)entry.gid_index);
	}
	fake_reset_log();
	check_success(diag, rdmaez_endpoint_port(a.ctx, &opts, &port, diag), "%u queue pairs",
		      count);
	tap_eq_int(fake_count(FAKE_ANY), given ? 0 : 3, "the port is asked once, or not at all");
	for (unsigned int i = 0; i < count; i++) {
		fake_reset_log();
		local = port;
		error |= given && i % 2 ? rdmaez_endpoint_local(qp[i], &opts, &local, diag)
					: rdmaez_endpoint_set_qp(&local, qp[i], diag);
		error |= rdmaez_endpoint_pack(&local, bytes);
		error |= rdmaez_endpoint_unpack(bytes, &remote, diag);
		if (i % 4 < 2) {
			error |= rdmaez_qp_connect(qp[i], &local, &remote, &opts, diag);
		} else {
			error |= rdmaez_endpoint_negotiate(&local, &remote, &opts, &agreed, diag);
			agreed.port_attr = &a.dev->port[1].attr;
			error |= rdmaez_qp_to_init(qp[i], &agreed, diag);
			error |= rdmaez_qp_to_rtr(qp[i], &agreed, diag);
			error |= rdmaez_qp_to_rts(qp[i], &agreed, diag);
		}
		calls += fake_count(FAKE_ANY);
		error |= fake_count(FAKE_MODIFY_QP) != 3;
	}
	tap_eq_int(error, 0, "all of them are connected by three moves");
	tap_eq_int(calls, 3 * count, "and nothing else is asked of any");
}

static void test_many(void)
{
	for (unsigned int count = 1; count <= 512; count *= 8) {
		check_many(count, false);
		check_many(count, true);
	}
}

/* An entry that cannot be the one is passed over: it is empty, another port's, or not that of the index. */
static void test_entries(void)
{
	struct ibv_gid_entry entry;

	for (int i = 0; i < 3; i++) {
		start(&kinds[0]);
		ibv_query_gid_ex(a.ctx, 1, a.local.gid[0].gid_index, &entry, 0);
		opts.gid_entry = &entry;
		opts.path.sgid_index = rdmaez_exactly((int)entry.gid_index);
		if (i == 0)
			memset(&entry.gid, 0, sizeof(entry.gid));
		else if (i == 1)
			entry.port_num++;
		else
			entry.gid_index++;
		fake_reset_log();
		check_success(diag, rdmaez_endpoint_local(a.qp, &opts, &a.local, diag),
			      "with entry %d", i);
		tap_eq_int(fake_count(FAKE_QUERY_GID_EX), 1, "it asks");
		check_success(diag, connect_a(), "and connects");
	}
}

static void test_srd(void)
{
	start_srd();
	opts.driver_type = (enum ibv_qp_type)0;
	check_success(diag, connect_a(), "SRD, of which the endpoint tells that it is");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 3, "takes three moves");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and nothing else");
	tap_eq_int(fake_qp_true(a.qp)->qp_state, IBV_QPS_RTS, "to RTS");
	fake_reset_log();
	check_success(diag, connect_a(), "once more");
	tap_eq_int(fake_count(FAKE_ANY), 0, "there is nothing to do");
}

/* Optional attributes go with each transition that takes them, as in the three steps. */
static void test_optional(void)
{
	start(&kinds[5]);
	opts.optional = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_CUR_STATE;
	opts.path.dlid = 0x77; /* the alternate path's, which the endpoints do not tell */
	opts.alt = opts.path;
	check_success(diag, connect_a(), "an alternate path");
	tap_eq_int(fake_count(FAKE_ANY), 3, "takes no call more");
	tap_eq_hex(fake_nth(1)->attr_mask & opts.optional, 0, "INIT takes nothing of it");
	tap_eq_hex(fake_nth(2)->attr_mask & opts.optional, IBV_QP_ALT_PATH, "RTR the path");
	tap_eq_hex(fake_nth(3)->attr_mask & opts.optional,
		   IBV_QP_CUR_STATE | IBV_QP_PATH_MIG_STATE | IBV_QP_ALT_PATH,
		   "RTS the states and the path");

	start(&kinds[0]);
	a.dev->quirks |= FAKE_EXTENDED_MODIFY;
	a.dev->habits.rate = FAKE_RATE_RC;
	opts.optional = IBV_QP_RATE_LIMIT;
	opts.rate_limit = 1000;
	check_success(diag, connect_a(), "a rate limit");
	tap_eq_int(fake_qp_true(a.qp)->rate_limit, 1000, "is set");
	tap_eq_hex(fake_nth(2)->attr_mask & fake_nth(3)->attr_mask & IBV_QP_RATE_LIMIT,
		   IBV_QP_RATE_LIMIT, "by RTR and RTS");
	tap_eq_hex(fake_nth(1)->attr_mask & IBV_QP_RATE_LIMIT, 0, "and not by INIT");

	start(&kinds[0]);
	opts.optional = 0;
	opts.extra = 1 << 26;
	tap_eq_int(connect_a(), EOPNOTSUPP, "a bit that the kernel does not know");
	tap_eq_hex(fake_nth(1)->attr_mask & opts.extra, 0, "is not sent to INIT");
	tap_eq_hex(fake_nth(2)->attr_mask & opts.extra, opts.extra, "but to RTR");
	tap_eq_int(a.qp->state, IBV_QPS_INIT, "where the queue pair does not come");

	start(&kinds[0]);
	opts.optional = IBV_QP_MIN_RNR_TIMER | IBV_QP_QKEY;
	CHECK_VERB_FINDINGS(diag, connect_a(), EINVAL, "rdmaez_qp_connect", NULL,
			    "what no transition takes",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_MASK_NOT_ALLOWED, "attr_mask",
			     RDMAEZ_VALUE_ATTR_MASK, IBV_QP_QKEY, 0,
			     IBV_QP_QKEY | IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_ACCESS_FLAGS});
	tap_eq_int(fake_count(FAKE_ANY), 0, "is refused without a verb");
	tap_eq_int(a.qp->state, IBV_QPS_RESET, "in RESET");
}

/* A DCT has a number, and so an endpoint, once it is in RTR. */
static void test_dc(void)
{
	start(&kinds[0]);
	fake_profile(a.dev, FAKE_PROFILE_MLX5);
	fake_profile(b.dev, FAKE_PROFILE_MLX5);
	a.qp = fake_qp_driver(a.ctx, FAKE_DCI);
	b.qp = fake_qp_driver(b.ctx, FAKE_DCT);
	opts.driver_type = RDMAEZ_QPT_DCT;
	if (rdmaez_qp_to_init(b.qp, &opts, NULL) || rdmaez_qp_to_rtr(b.qp, &opts, NULL))
		tap_bail("a DCT does not come to RTR");
	fill(&b);
	opts.driver_type = RDMAEZ_QPT_DCI;
	fill(&a);
	fake_reset_log();
	check_success(diag, connect_a(), "DCI");
	tap_eq_int(fake_count(FAKE_ANY), 3, "takes three moves");
	tap_eq_int(fake_qp_true(a.qp)->qp_state, IBV_QPS_RTS, "to RTS");
	fake_reset_log();
	opts.driver_type = RDMAEZ_QPT_DCT;
	check_success(diag, rdmaez_qp_connect(b.qp, &b.local, &a.local, &opts, diag), "DCT");
	tap_eq_int(fake_count(FAKE_ANY), 0, "is where it is to be");
	tap_eq_int(fake_qp_true(b.qp)->qp_state, IBV_QPS_RTR, "in RTR");
}

/* ---- What is refused without asking anybody -------------------------------------------------- */

/* The queue pair is as it was created, and no verb was called. */
static void check_untouched(const char *name)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.cap = fake_qp_true(a.qp)->cap;
	tap_eq_int(fake_count(FAKE_ANY), 0, "%s: no verb is called", name);
	tap_eq_int(a.qp->state, IBV_QPS_RESET, "%s: the state", name);
	tap_eq_str(attr_difference(fake_qp_true(a.qp), &attr), NULL, "%s: the attributes", name);
}

#define REFUSED(name, field, why, ...)                                                             \
	do {                                                                                       \
		CHECK_VERB_FINDINGS(                                                               \
			diag, connect_a(), EINVAL, "rdmaez_qp_connect", NULL, name,                \
			{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##why, field, RDMAEZ_VALUE_##__VA_ARGS__}); \
		check_untouched(name);                                                             \
		start(&kinds[0]);                                                                  \
	} while (0)

static void test_incompatible(void)
{
	start(&kinds[0]);
	b.local.qp_type = IBV_QPT_UC;
	REFUSED("another type", "remote.qp_type", ENDPOINT_QP_TYPES, TYPES, IBV_QPT_RC, 0,
		IBV_QPT_UC);
	b.local.link_layer = IBV_LINK_LAYER_INFINIBAND;
	REFUSED("InfiniBand and Ethernet", "remote.link_layer", ENDPOINT_LINK_LAYERS, NUMBER,
		IBV_LINK_LAYER_INFINIBAND, IBV_LINK_LAYER_ETHERNET, IBV_LINK_LAYER_ETHERNET);
	b.local.pkey = 0x8001;
	REFUSED("another partition", "remote.pkey", ENDPOINT_PKEYS, PKEYS, 0xffff, 0, 0x8001);
	a.local.pkey = b.local.pkey = 0x7fff;
	REFUSED("two limited members", "remote.pkey", PKEY_LIMITED, PKEYS, 0x7fff, 0, 0x7fff);
	b.local.gid_count = 0;
	REFUSED("no GID", "remote.gid_count", ENDPOINT_NO_GID, NONE, 0, 0, 0);
	b.local.gid_count = 5;
	REFUSED("too many GIDs", "remote.gid_count", ENDPOINT_FIELD, NUMBER, 5, 0, 4);
	b.local.qp_num = 0;
	REFUSED("no queue pair", "remote.qp_num", ENDPOINT_NO_QP, NONE, 0, 0, 0);
	for (unsigned int i = 0; i < b.local.gid_count; i++)
		b.local.gid[i].gid_type = IBV_GID_TYPE_ROCE_V1;
	for (unsigned int i = 0; i < a.local.gid_count; i++)
		a.local.gid[i].gid_type = IBV_GID_TYPE_ROCE_V2;
	REFUSED("RoCE v1 and v2", "remote.gid", ENDPOINT_GID_TYPES, NONE, 0, 0, 0);
	a.local.port = 0;
	REFUSED("what was received", "local.port", ENDPOINT_NOT_OWN, NONE, 0, 0, 0);
	a.local.qp_num = a.qp->qp_num + 1;
	REFUSED("another queue pair's", "local.qp_num", CONNECT_OTHER_QP, NUMBER, a.qp->qp_num + 1,
		a.qp->qp_num, a.qp->qp_num);
	opts.flags = 1u << 31;
	REFUSED("an unknown option", "opts.flags", OPTION_UNKNOWN, FLAGS, 1u << 31, 0,
		RDMAEZ_QP_MTU_EXACT | RDMAEZ_QP_ECE);
	b.local.pkey = 0x8001;
	a.local.qp_num = 1;
	CHECK_FINDINGS(diag, connect_a(), EINVAL, "rdmaez_qp_connect", "all that is wrong",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_PKEYS, "remote.pkey",
			RDMAEZ_VALUE_PKEYS, 0xffff, 0, 0x8001},
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CONNECT_OTHER_QP, "local.qp_num",
			RDMAEZ_VALUE_NUMBER, 1, a.qp->qp_num, a.qp->qp_num});
	check_untouched("all that is wrong");
}

static void test_nulls(void)
{
	start(&kinds[0]);
	check_refusal(diag, rdmaez_qp_connect(NULL, &a.local, &b.local, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	check_refusal(diag, rdmaez_qp_connect(a.qp, NULL, &b.local, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "local", "no endpoint");
	check_refusal(diag, rdmaez_qp_connect(a.qp, &a.local, NULL, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "remote", "no peer");
	check_untouched("nothing");
	check_success(diag, rdmaez_qp_connect(a.qp, &a.local, &b.local, NULL, diag), "no options");
}

static void test_states(void)
{
	static const enum ibv_qp_state states[] = {IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE,
						   IBV_QPS_ERR};
	const uint64_t fit = 1 << IBV_QPS_RESET | 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR;

	for (size_t i = 0; i < 2 * COUNT_OF(states); i++) {
		const enum ibv_qp_state state = states[i % COUNT_OF(states)];
		const bool ud = i >= COUNT_OF(states);

		start(&kinds[ud ? 2 : 0]);
		fixture_state(a.qp, state);
		if (ud && state == IBV_QPS_RTS)
			check_success(diag, connect_a(), "UD in RTS");
		else
			CHECK_VERB_FINDINGS(diag, connect_a(), EINVAL, "rdmaez_qp_connect", NULL,
					    rdmaez_qp_state_str(state),
					    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CONNECT_STATE,
					     "qp->state", RDMAEZ_VALUE_STATE_NOW, (uint64_t)state,
					     0, fit});
		tap_eq_int(fake_count(FAKE_ANY), 0, "no verb is called");
		tap_eq_int(a.qp->state, state, "and it stays there");
	}
}

/* ---- What the kernel refuses ----------------------------------------------------------------- */

static void test_failing_verbs(void)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		for (unsigned int nth = 1; nth <= 3; nth++) {
			start(&kinds[i]);
			choose_opts();
			fake_fail(FAKE_MODIFY_QP, nth, EIO);
			CHECK_VERB_FINDINGS(diag, connect_a(), EIO, "rdmaez_qp_connect",
					    "ibv_modify_qp", kinds[i].name,
					    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE,
					     "ibv_modify_qp", RDMAEZ_VALUE_NONE, 0, 0, 0});
			tap_eq_int((int)a.qp->state, (int)nth - 1, "%s: the state it has reached",
				   kinds[i].name);
			tap_eq_int((int)fake_qp_true(a.qp)->qp_state, (int)nth - 1, "truly");
			if (diag) {
				tap_eq_int(diag->from, (int)nth - 1, "the record tells from where");
				tap_eq_int(diag->to, (int)nth, "and where to");
				tap_eq_int((int)diag->qp_num, (int)a.qp->qp_num, "and which");
				tap_eq_str(diag->device, "fake0", "of which device");
			}
			fake_reset_log();
			check_success(diag, connect_a(), "%s: it goes on", kinds[i].name);
			check_moves(&kinds[i], (enum ibv_qp_state)(nth - 1));
		}
}

static void spoil_gid(void)
{
	memset(&a.dev->port[1].gid[3], 0, sizeof(a.dev->port[1].gid[3]));
}

static void spoil_neighbour(void)
{
	a.dev->neighbour_errno = ETIMEDOUT;
}

static void spoil_route(void)
{
	a.dev->neighbour_errno = ENETUNREACH;
}

/* A refused RTR is explained by the findings that rdmaez_qp_to_rtr() has. */
static void test_explanation(void)
{
	static void (*const spoils[])(void) = {spoil_gid, spoil_neighbour, spoil_route};
	struct rdmaez_diag connecting, step;
	struct rdmaez_qp_opts agreed;

	for (size_t i = 0; i < COUNT_OF(spoils); i++) {
		start(&kinds[0]);
		spoils[i]();
		tap_eq_int(rdmaez_endpoint_negotiate(&a.local, &b.local, NULL, &agreed, NULL), 0,
			   "the ends fit");
		tap_ok(rdmaez_qp_connect(a.qp, &a.local, &b.local, NULL, &connecting) != 0,
		       "RTR is refused");
		tap_eq_int(a.qp->state, IBV_QPS_INIT, "in INIT");
		tap_eq_int(rdmaez_qp_to_rtr(a.qp, &agreed, &step), connecting.error,
			   "by itself with the same errno");
		tap_ok(connecting.count, "there are findings");
		tap_eq_int((int)connecting.count, (int)step.count, "as many");
		tap_eq_int(memcmp(connecting.finding, step.finding, sizeof(step.finding)), 0,
			   "the same");
		tap_eq_str(connecting.verb, step.verb, "verb");
		tap_ok(connecting.from == step.from && connecting.to == step.to &&
			       connecting.to == IBV_QPS_RTR,
		       "and transition");
	}
}

static void test_retry(void)
{
	start(&kinds[0]);
	a.dev->neighbour_errno = ETIMEDOUT;
	at.heals = true;
	opts.retry_ns = UINT64_C(3600000000000);
	check_success(diag, connect_a(), "a peer that appears");
	tap_eq_int(at.rests, 1, "after a rest");
	tap_eq_int(fake_count(FAKE_ANY), 4, "which takes one move more");

	start(&kinds[0]);
	a.dev->neighbour_errno = ETIMEDOUT;
	opts.retry_ns = 1;
	CHECK_VERB_FINDINGS(diag, connect_a(), ETIMEDOUT, "rdmaez_qp_connect", "ibv_modify_qp",
			    "one that does not",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid",
			     RDMAEZ_VALUE_INDEX, 3, 0, 0},
			    {RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_RETRIED, "opts.retry_ns",
			     RDMAEZ_VALUE_COUNTED, 2, 0, 0});
	tap_eq_int(a.qp->state, IBV_QPS_INIT, "it is in INIT");
}

/* ---- ECE ------------------------------------------------------------------------------------- */

static void start_ece(uint32_t there)
{
	start(&kinds[0]);
	fake_profile(a.dev, FAKE_PROFILE_MLX5);
	fake_profile(b.dev, FAKE_PROFILE_MLX5);
	a.dev->ece_options = 0x30000003;
	b.dev->ece_options = there;
	a.qp = fake_qp(a.ctx, IBV_QPT_RC);
	b.qp = fake_qp(b.ctx, IBV_QPT_RC);
	opts.flags = RDMAEZ_QP_ECE;
	fill(&a);
	fill(&b);
	fake_reset_log();
}

static void check_no_ece(const char *name)
{
	check_success(diag, connect_a(), "%s", name);
	tap_eq_int(fake_count(FAKE_SET_ECE), 0, "%s: none is set", name);
	tap_eq_int(fake_count(FAKE_ANY), 3, "%s: and nothing else is asked", name);
}

static void test_ece(void)
{
	const struct fake_call *set;
	struct ibv_ece ece;

	start_ece(0x10000002);
	check_success(diag, connect_a(), "both ends offer ECE");
	tap_eq_int(fake_count(FAKE_ANY), 4, "one call more");
	set = fake_nth(1);
	tap_eq_str(set ? fake_verb_str(set->verb) : NULL, "ibv_set_ece", "which comes first");
	tap_eq_hex(set->arg.ece.vendor_id, 0x15b3, "with their vendor");
	tap_eq_hex(set->arg.ece.options, 0x10000002, "and what both can do");
	tap_eq_hex(set->arg.ece.comp_mask, 0, "and no mask");
	tap_eq_int(ibv_query_ece(a.qp, &ece), 0, "asked afterwards,");
	tap_eq_hex(ece.options, 0x10000002, "the hardware does it");

	start_ece(0);
	check_no_ece("the peer offers nothing");
	start_ece(0x10000002);
	b.local.ece.vendor_id = 0x15b4;
	check_no_ece("another vendor's");
	start_ece(0x00000004);
	check_no_ece("nothing in common");
	start_ece(0x10000002);
	memset(&a.local.ece, 0, sizeof(a.local.ece));
	check_no_ece("this end offers nothing");

	start_ece(0x10000002);
	a.dev->ece_options = 0;
	check_success(diag, connect_a(), "EOPNOTSUPP is no error");
	tap_eq_int(fake_count(FAKE_SET_ECE), 1, "where it is tried");
	start_ece(0x10000002);
	fake_fail(FAKE_SET_ECE, 1, EIO);
	CHECK_VERB_FINDINGS(diag, connect_a(), EIO, "rdmaez_qp_connect", "ibv_set_ece",
			    "ibv_set_ece() fails",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_set_ece",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(a.qp->state, IBV_QPS_RESET, "it is in RESET");
	start_ece(0x10000002);
	fake_fail(FAKE_MODIFY_QP, 3, EIO);
	tap_eq_int(connect_a(), EIO, "RTS fails");
	fake_reset_log();
	check_success(diag, connect_a(), "going on from RTR");
	tap_eq_int(fake_count(FAKE_ANY), 1, "sets no ECE, which comes too late");
}

/* ---- UD, and its address handles ------------------------------------------------------------- */

static struct ibv_ah *handle;

static int connect_ud(void)
{
	return rdmaez_qp_connect_ud(a.qp, &a.local, &b.local, &opts, &handle, diag);
}

static void check_handle(const struct kind *kind, const char *name)
{
	const struct fake_call *call = fake_nth(fake_count(FAKE_ANY));
	const struct ibv_qp_attr attr = wanted(kind, IBV_QPS_RTR, IBV_QP_AV);

	tap_ok(handle && handle->pd == a.qp->pd, "%s: there is a handle", name);
	tap_eq_int(call->verb, FAKE_CREATE_AH, "%s: created last", name);
	tap_eq_str(ah_difference(&call->arg.ah_attr, &attr.ah_attr), NULL, "%s: of this path",
		   name);
}

static void test_ud(void)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (kinds[i].type != IBV_QPT_UD)
			continue;
		start(&kinds[i]);
		choose_opts();
		handle = NULL;
		check_success(diag, connect_ud(), "%s and a peer", kinds[i].name);
		if (diag)
			tap_eq_str(diag->call, "rdmaez_qp_connect_ud", "the record's call");
		tap_eq_int(fake_count(FAKE_ANY), 4, "three moves and a handle");
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 3, "three moves");
		tap_eq_int(fake_qp_true(a.qp)->qp_state, IBV_QPS_RTS, "to RTS");
		tap_eq_hex(fake_qp_true(a.qp)->qkey, 0x1234, "with the Q_Key");
		check_handle(&kinds[i], "the first peer");
		fake_reset_log();
		handle = NULL;
		check_success(diag, connect_ud(), "a further peer");
		tap_eq_int(fake_count(FAKE_ANY), 1, "is a handle more");
		check_handle(&kinds[i], "a further peer");
	}
	start_srd();
	handle = NULL;
	check_success(diag, connect_ud(), "SRD");
	tap_eq_int(fake_count(FAKE_ANY), 4, "three moves and a handle");
	tap_eq_int(memcmp(&fake_last(FAKE_CREATE_AH)->arg.ah_attr.grh.dgid,
			  &a.dev->port[1].gid[0].gid, 16),
		   0, "to the peer's GID");
}

static void test_ud_failures(void)
{
	start(&kinds[2]);
	handle = NULL;
	check_refusal(diag, rdmaez_qp_connect_ud(a.qp, &a.local, &b.local, NULL, NULL, diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "ah", "nowhere for a handle");
	check_refusal(diag, rdmaez_qp_connect_ud(a.qp, NULL, &b.local, NULL, &handle, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "local", "no endpoint");
	check_untouched("nothing");
	b.local.pkey = 1;
	tap_eq_int(connect_ud(), EINVAL, "another partition");
	check_untouched("another partition");
	start(&kinds[0]);
	CHECK_VERB_FINDINGS(diag, connect_ud(), EINVAL, "rdmaez_qp_connect_ud", NULL, "RC",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CONNECT_NO_AH, "qp->qp_type",
			     RDMAEZ_VALUE_TYPE, IBV_QPT_RC, 0, 0});
	check_untouched("RC");

	start(&kinds[2]);
	fake_fail(FAKE_CREATE_AH, 1, ENOMEM);
	CHECK_VERB_FINDINGS(diag, connect_ud(), ENOMEM, "rdmaez_qp_connect_ud", "ibv_create_ah",
			    "no memory",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(a.qp->state, IBV_QPS_RTS, "it is in RTS");
	a.dev->neighbour_errno = ETIMEDOUT;
	CHECK_VERB_FINDINGS(diag, connect_ud(), ETIMEDOUT, "rdmaez_qp_connect_ud", "ibv_create_ah",
			    "nobody answers",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid",
			     RDMAEZ_VALUE_INDEX, 3, 0, 0});
	tap_eq_int(at.rests, 0, "and it was tried once");
	opts.retry_ns = UINT64_C(3600000000000);
	at.heals = true;
	fake_reset_log();
	check_success(diag, connect_ud(), "then somebody does");
	if (diag)
		tap_eq_str(diag->verb, NULL, "no verb has refused");
	tap_eq_int(fake_count(FAKE_CREATE_AH), 2, "at the second try");
	tap_eq_int(at.rests, 1, "after a rest");
	tap_ok(handle, "and there is a handle");

	handle = NULL;
	at.heals = false;
	a.dev->neighbour_errno = EHOSTUNREACH;
	opts.retry_ns = 1;
	fake_reset_log();
	CHECK_FINDINGS(diag, connect_ud(), EHOSTUNREACH, "rdmaez_qp_connect_ud", "never",
		       {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid",
			RDMAEZ_VALUE_INDEX, 3, 0, 0},
		       {RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_RETRIED, "opts.retry_ns",
			RDMAEZ_VALUE_COUNTED, 2, 0, 0});
	tap_ok(!handle, "no handle is handed over");
}

/* ---- Two queue pairs of this process --------------------------------------------------------- */

static void check_loop(const struct ibv_qp *one, const struct ibv_qp *other)
{
	const struct ibv_qp_attr *x = fake_qp_true(one), *y = fake_qp_true(other);

	tap_ok(x->qp_state == IBV_QPS_RTS && y->qp_state == IBV_QPS_RTS, "both are in RTS");
	tap_ok(x->dest_qp_num == other->qp_num && y->dest_qp_num == one->qp_num, "of each other");
	tap_ok(x->rq_psn == y->sq_psn && y->rq_psn == x->sq_psn, "and expect each other's PSN");
}

static void test_loopback(void)
{
	struct ibv_device_attr device;
	struct ibv_qp *second;

	start(&kinds[0]);
	second = fake_qp(a.ctx, IBV_QPT_RC);
	fake_reset_log();
	check_success(diag, rdmaez_qp_connect_loopback(a.qp, second, NULL, diag), "one device");
	if (diag)
		tap_eq_str(diag->call, "rdmaez_qp_connect_loopback", "the record's call");
	check_loop(a.qp, second);
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "its port is asked once");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "and it");
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 1, "and the GID table");
	tap_eq_int(fake_count(FAKE_ANY), 9, "and there are six moves");

	start(&kinds[0]);
	check_success(diag, rdmaez_qp_connect_loopback(a.qp, a.qp, NULL, diag), "with itself");
	check_loop(a.qp, a.qp);
	tap_eq_int(fake_count(FAKE_ANY), 6, "three queries and three moves");

	start(&kinds[0]);
	tap_eq_int(ibv_query_device(a.ctx, &device), 0, "one device is known");
	fake_reset_log();
	opts.port_attr = &a.dev->port[1].attr;
	opts.device_attr = &device;
	check_success(diag, rdmaez_qp_connect_loopback(a.qp, b.qp, &opts, diag), "two devices");
	check_loop(a.qp, b.qp);
	tap_eq_int(fake_qp_true(a.qp)->path_mtu, IBV_MTU_512, "the other's MTU");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "the other's port is asked");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "and the other device");
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 2, "and both GID tables");
	tap_eq_int(fake_count(FAKE_ANY), 10, "and there are six moves");

	start(&kinds[0]);
	for (int i = 0; i < 2; i++) {
		struct fake_device *const dev = i ? b.dev : a.dev;

		dev->ports = 2;
		for (int row = 0; row < 6; row++)
			dev->port[2].gid[row].gid.raw[15] = (uint8_t)(0x21 + i);
	}
	opts.port = 2;
	check_success(diag, rdmaez_qp_connect_loopback(a.qp, b.qp, &opts, diag), "second ports");
	check_loop(a.qp, b.qp);
	tap_eq_int(fake_qp_true(a.qp)->ah_attr.grh.dgid.raw[15], 0x22, "the other's second port");
	tap_eq_int(fake_qp_true(b.qp)->ah_attr.grh.dgid.raw[15], 0x21, "reaches that of the first");

	start(&kinds[3]);
	second = fake_qp(a.ctx, IBV_QPT_XRC_RECV);
	check_success(diag, rdmaez_qp_connect_loopback(a.qp, second, NULL, diag), "an XRC pair");
	check_loop(a.qp, second);
}

static void test_loopback_failures(void)
{
	start(&kinds[0]);
	check_refusal(diag, rdmaez_qp_connect_loopback(NULL, a.qp, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	check_refusal(diag, rdmaez_qp_connect_loopback(a.qp, NULL, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "other", "no other");
	check_untouched("nothing");
	for (unsigned int i = 0; i < 2; i++) {
		start(&kinds[0]);
		fake_fail(FAKE_QUERY_PORT, i + 1, EIO);
		check_refusal(diag, rdmaez_qp_connect_loopback(a.qp, b.qp, NULL, diag), EIO,
			      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", "port %u is not told", i);
		check_call_and_verb(diag, "rdmaez_qp_connect_loopback", "ibv_query_port");
		tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nothing is moved");
	}
	start(&kinds[0]);
	fake_fail(FAKE_MODIFY_QP, 5, EIO);
	CHECK_VERB_FINDINGS(diag, rdmaez_qp_connect_loopback(a.qp, b.qp, NULL, diag), EIO,
			    "rdmaez_qp_connect_loopback", "ibv_modify_qp", "the second end fails",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_DEVICE_GONE, "ibv_modify_qp",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	if (diag)
		tap_eq_int((int)diag->qp_num, (int)b.qp->qp_num, "which the record names");
	tap_eq_int(a.qp->state, IBV_QPS_RTS, "the first one is in RTS");
	tap_eq_int(b.qp->state, IBV_QPS_INIT, "the second one where it came to");
	start(&kinds[0]);
	b.qp = fake_qp(b.ctx, IBV_QPT_UC);
	fake_reset_log();
	tap_eq_int(rdmaez_qp_connect_loopback(a.qp, b.qp, NULL, diag), EINVAL, "RC and UC");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 0, "nothing is moved");
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		diag = i ? NULL : &record;
		test_connect();
		test_both();
		test_asked();
		test_many();
		test_entries();
		test_srd();
		test_dc();
		test_optional();
		test_incompatible();
		test_nulls();
		test_states();
		test_failing_verbs();
		test_explanation();
		test_retry();
		test_ece();
		test_ud();
		test_ud_failures();
		test_loopback();
		test_loopback_failures();
	}
	fake_close_all();
	return tap_done();
}
