/* SPDX-License-Identifier: MIT */
/* Address handles: what they are made of, and what a refusal is put down to. */
#include <net/if.h>
#include <infiniband/verbs.h>

/* A provider that returns NULL and forgets errno, for rdmaez_impl_error_of_null(). */
static int forgets;

static struct ibv_ah *test_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	return forgets ? NULL : ibv_create_ah(pd, attr);
}
#define ibv_create_ah test_create_ah

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

static struct {
	struct fake_device *dev;
	struct ibv_pd *pd;
	struct ibv_ah *ah;
	struct rdmaez_path path;
	struct rdmaez_diag diag;
} t;

/* A path to a peer whose GID is this text. */
static void start(const char *dgid)
{
	t.dev = fake_reset();
	t.pd = ibv_alloc_pd(fake_open(t.dev));
	t.ah = NULL;
	memset(&t.path, 0, sizeof(t.path));
	t.path.dgid = gid_of(dgid);
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

static int create(int port_num)
{
	return rdmaez_ah_create(t.pd, &t.path, port_num, &t.ah, &t.diag);
}

static void check_creation(void)
{
	const struct ibv_ah_attr *attr;
	struct ibv_ah_attr bare;

	start("::ffff:192.0.2.9");
	check_success(&t.diag, create(1), "a handle for an IPv4 peer");
	attr = &fake_last(FAKE_CREATE_AH)->arg.ah_attr;
	tap_eq_int(attr->is_global, 1, "has a GRH");
	tap_eq_int(attr->grh.sgid_index, 3, "from the RoCE v2 row of that family");
	tap_eq_int(attr->grh.hop_limit, 64, "with a hop limit that passes routers");
	tap_eq_int(attr->port_num, 1, "by the port");
	tap_ok(t.ah && t.ah->pd == t.pd, "and is handed over");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "the port was asked once");
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 1, "and its GID table");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and nothing else");
	tap_eq_str(t.diag.device, "fake0", "the record names the device");

	start("::ffff:192.0.2.9");
	t.path.sgid_index = 2;
	check_success(&t.diag, create(1), "a handle from a row that is named");
	tap_eq_int(fake_last(FAKE_CREATE_AH)->arg.ah_attr.grh.sgid_index, 2, "uses that row");
	tap_eq_int(fake_count(FAKE_ANY), 2, "and takes two verbs calls");

	start("::");
	fake_port_infiniband(&t.dev->port[1]);
	t.path.dlid = 7;
	check_success(&t.diag, create(1), "a handle for a LID");
	memset(&bare, 0, sizeof(bare));
	bare.dlid = 7;
	bare.port_num = 1;
	tap_eq_str(ah_difference(&fake_last(FAKE_CREATE_AH)->arg.ah_attr, &bare), NULL,
		   "holds the LID and no GRH");
	tap_eq_int(fake_count(FAKE_ANY), 2, "and takes two verbs calls");

	start("fe80::9");
	fake_port_infiniband(&t.dev->port[1]);
	memset(t.dev->port[1].gid, 0, sizeof(t.dev->port[1].gid));
	t.path.dlid = 7;
	check_success(&t.diag, create(1), "a handle for a LID whose GID is known as well");
	tap_eq_int(fake_count(FAKE_ANY), 2, "needs no row of the GID table");
	fake_fail(FAKE_CREATE_AH, 1, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "so none is to blame",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});

	start("fe80::9");
	fake_port_infiniband(&t.dev->port[1]);
	t.path.dlid = 7;
	t.path.flags = RDMAEZ_PATH_GRH;
	check_success(&t.diag, create(1), "a handle for a LID with a GRH");
	tap_eq_int(fake_last(FAKE_CREATE_AH)->arg.ah_attr.is_global, 1, "has the GRH");
}

/* The record's GIDs: this row, NULL: an empty one, of this interface, and the peer's. */
static void check_source(uint32_t index, const struct fake_gid *row, uint32_t type,
			 const char *netdev)
{
	const union ibv_gid zero = {{0}};

	tap_eq_int(t.diag.source.gid_index, index, "the record tells the GID index");
	tap_ok(!memcmp(&t.diag.source.gid, row ? &row->gid : &zero, sizeof(zero)), "its GID");
	tap_eq_int(t.diag.source.gid_type, type, "the type of that");
	tap_eq_str(t.diag.netdev, netdev, "its interface");
	tap_ok(!memcmp(&t.diag.destination, &t.path.dgid, sizeof(zero)), "and the peer's GID");
}

static void check_rows(void)
{
	start("::ffff:192.0.2.9");
	t.path.sgid_index = 9;
	CHECK_VERB_FINDINGS(&t.diag, create(1), ENODATA, "rdmaez_ah_create", "ibv_create_ah",
			    "an empty row",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_GID_EMPTY, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_INDEX, 9, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_SUITS, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_GID_INDEX, 3, 0, 0});
	tap_eq_ptr(t.ah, NULL, "the output is not written");
	check_source(9, NULL, 0, "");
	t.path.sgid_index = 5;
	t.dev->port[1].gid[5].ifindex = 0x7fffffff;
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "a row of the other family",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_GID_FAMILY, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_INDEX, 5, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_SUITS, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_GID_INDEX, 3, 0, 0});
	check_source(5, &t.dev->port[1].gid[5], IBV_GID_TYPE_ROCE_V2, "");
	t.dev->port[1].gid[5].ifindex = if_nametoindex("lo");
	tap_eq_int(create(1), EINVAL, "and once more, on an interface that exists");
	check_source(5, &t.dev->port[1].gid[5], IBV_GID_TYPE_ROCE_V2, "lo");
	fake_fail(FAKE_CREATE_AH, 1, ETIMEDOUT);
	CHECK_VERB_FINDINGS(&t.diag, create(1), ETIMEDOUT, "rdmaez_ah_create", "ibv_create_ah",
			    "a row of the other family, and an errno that is not about it",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_NEARER, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_GID_INDEX, 3, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid",
			     RDMAEZ_VALUE_INDEX, 5, 0, 0});
	check_source(5, &t.dev->port[1].gid[5], IBV_GID_TYPE_ROCE_V2, "lo");
	forgets = 1;
	errno = EBUSY;
	tap_eq_int(create(1), EIO, "an errno that is not set");
	forgets = 0;
	t.path.sgid_index = 2;
	t.dev->attr.orig_attr.vendor_id = 0xffffff; /* rxe */
	fake_fail(FAKE_CREATE_AH, 0, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "a RoCE v1 row of a driver that has none",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_GID_TYPE_REFUSED,
			     "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, 2, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_SUITS, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_GID_INDEX, 3, 0, 0});
	t.path.sgid_index = 3;
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "a RoCE v2 row of that driver",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	t.path.sgid_index = 2;
	t.dev->attr.orig_attr.vendor_id = 0x2c9; /* mlx5 */
	t.dev->attr.orig_attr.vendor_part_id = 0x1017;
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "and of one that has",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	t.path.sgid_index = 3;
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "a row that is right",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	fake_fail(FAKE_QUERY_GID_EX, 0, EIO);
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "a row that cannot be read",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(rdmaez_ah_create(t.pd, &t.path, 1, &t.ah, NULL), EINVAL, "without a record");

	/* No address is looked up for a multicast group, so the families may differ. */
	start("ff0e::1");
	t.path.sgid_index = 3;
	fake_fail(FAKE_CREATE_AH, 1, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			    "an IPv4 row towards an IPv6 multicast group",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_UNEXPLAINED, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});

	start("::ffff:192.0.2.9");
	t.path.sgid_index = 16;
	check_refusal(&t.diag, create(1), EINVAL, RDMAEZ_WHY_GID_INDEX, "ah_attr.grh.sgid_index",
		      "a row beyond the table");
	tap_eq_int(fake_count(FAKE_CREATE_AH), 0, "is not tried");

	start("fe80::9");
	fake_port_infiniband(&t.dev->port[1]);
	t.path.flags = RDMAEZ_PATH_GRH;
	fake_fail(FAKE_CREATE_AH, 1, ETIMEDOUT);
	CHECK_VERB_FINDINGS(&t.diag, create(1), ETIMEDOUT, "rdmaez_ah_create", "ibv_create_ah",
			    "InfiniBand has no neighbours",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_TIMED_OUT, "ibv_create_ah",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
}

static void check_network(void)
{
	static const struct {
		int error;
		enum rdmaez_why reason;
		const char *field;
		uint64_t row;
	} ways[] = {
		{ETIMEDOUT, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid", 5},
		{ENETUNREACH, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid", 5},
		{EHOSTUNREACH, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid", 5},
		{ENETDOWN, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid", 5},
		{EADDRNOTAVAIL, RDMAEZ_WHY_NO_IPV6, "ah_attr.grh.dgid", 5},
		{EAFNOSUPPORT, RDMAEZ_WHY_NO_IPV6, "ah_attr.grh.dgid", 5},
		{ENODEV, RDMAEZ_WHY_GID_NO_NETDEV, "ah_attr.grh.sgid_index", 5},
		{ENOMEM, RDMAEZ_WHY_NO_RESOURCES, "ibv_create_ah", 0},
		{ENOSPC, RDMAEZ_WHY_NO_RESOURCES, "ibv_create_ah", 0},
		{EAGAIN, RDMAEZ_WHY_BUSY, "ibv_create_ah", 0},
		{ENXIO, RDMAEZ_WHY_DEVICE_GONE, "ibv_create_ah", 0},
		{ENOSYS, RDMAEZ_WHY_NOT_SUPPORTED, "ibv_create_ah", 0},
	};

	for (size_t i = 0; i < COUNT_OF(ways); i++) {
		start("2001:db8::9");
		t.dev->neighbour_errno = ways[i].error;
		CHECK_VERB_FINDINGS(&t.diag, create(1), ways[i].error, "rdmaez_ah_create",
				    "ibv_create_ah", rdmaez_errno_str(ways[i].error),
				    {RDMAEZ_DIAG_LIKELY, ways[i].reason, ways[i].field,
				     ways[i].row ? RDMAEZ_VALUE_INDEX : RDMAEZ_VALUE_NONE,
				     ways[i].row, 0, 0});
	}
	for (int i = 0; i < 2; i++) {
		start("2001:db8::9");
		t.dev->neighbour_errno = i ? EINVAL : ETIMEDOUT;
		fake_route(i ? EINVAL : ENETUNREACH);
		CHECK_VERB_FINDINGS(&t.diag, create(1), i ? EINVAL : ETIMEDOUT, "rdmaez_ah_create",
				    "ibv_create_ah",
				    i ? "a route into a black hole"
				      : "no neighbour, because there is no route",
				    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_ROUTE, "ah_attr.grh.dgid",
				     RDMAEZ_VALUE_INDEX, 5, 0, 0});
	}
}

/* The way is told as of a queue pair; the rest is tested there. */
static void check_way(void)
{
	start("::ffff:10.5.5.2");
	t.dev->port[1].gid[7] = t.dev->port[1].gid[3];
	t.dev->port[1].gid[7].gid = gid_of("::ffff:10.5.5.1");
	t.path.sgid_index = 3;
	t.dev->neighbour_errno = ETIMEDOUT;
	fake_tree_new();
	fake_route_from("10.5.5.1");
	CHECK_VERB_FINDINGS(&t.diag, create(1), ETIMEDOUT, "rdmaez_ah_create", "ibv_create_ah",
			    "another index",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_BY_ROUTE, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_GID_INDEX, 7, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid",
			     RDMAEZ_VALUE_INDEX, 3, 0, 0});
	fake_route_from("10.7.7.7");
	CHECK_VERB_FINDINGS(&t.diag, create(1), ETIMEDOUT, "rdmaez_ah_create", "ibv_create_ah",
			    "another interface",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_ROUTE_ELSEWHERE, "ah_attr.grh.dgid",
			     RDMAEZ_VALUE_INDEX, 3, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid",
			     RDMAEZ_VALUE_INDEX, 3, 0, 0});
	start("::ffff:192.0.2.9");
	t.path.sgid_index = 3;
	memset(t.dev->port[1].gid, 0, sizeof(t.dev->port[1].gid));
	CHECK_VERB_FINDINGS(&t.diag, create(1), ENODATA, "rdmaez_ah_create", "ibv_create_ah",
			    "nothing in the whole table",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_GID_EMPTY, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_INDEX, 3, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_TABLE_EMPTY,
			     "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, 3, 0, 0});
	/* A link-local GID, of which the kernel knows no route. */
	start("fe80::9");
	t.path.sgid_index = 1;
	t.dev->neighbour_errno = ETIMEDOUT;
	CHECK_VERB_FINDINGS(&t.diag, create(1), ETIMEDOUT, "rdmaez_ah_create", "ibv_create_ah",
			    "a link-local GID",
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_GID_ROUTABLE, "ah_attr.grh.sgid_index",
			     RDMAEZ_VALUE_GID_INDEX, 3, 0, 0},
			    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NEIGHBOUR, "ah_attr.grh.dgid",
			     RDMAEZ_VALUE_INDEX, 1, 0, 0});
	tap_eq_int(fake_route_count(), 0, "is not asked for a route");
}

/* What efa's device says of a peer that its network does not know; any other device means something else. */
static void check_efa(void)
{
	for (int efa = 1; efa >= 0; efa--) {
		start("fe80::9");
		fake_profile(t.dev, efa ? FAKE_PROFILE_EFA : FAKE_PROFILE_MLX4);
		fake_port_infiniband(&t.dev->port[1]);
		t.path.flags = RDMAEZ_PATH_GRH;
		fake_fail(FAKE_CREATE_AH, 1, EINVAL);
		CHECK_VERB_FINDINGS(
			&t.diag, create(1), EINVAL, "rdmaez_ah_create", "ibv_create_ah",
			efa ? "EINVAL of efa" : "EINVAL of mlx4",
			{RDMAEZ_DIAG_LIKELY, efa ? RDMAEZ_WHY_AH_UNKNOWN : RDMAEZ_WHY_UNEXPLAINED,
			 efa ? "ah_attr.grh.dgid" : "ibv_create_ah", RDMAEZ_VALUE_NONE, 0, 0, 0});
		tap_eq_str(t.diag.driver, efa ? "efa" : "mlx4_ib", "the driver is told");
		fake_fail(FAKE_CREATE_AH, 1, ENOMEM);
		CHECK_VERB_FINDINGS(&t.diag, create(1), ENOMEM, "rdmaez_ah_create", "ibv_create_ah",
				    "ENOMEM",
				    {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_NO_RESOURCES, "ibv_create_ah",
				     RDMAEZ_VALUE_NONE, 0, 0, 0});
	}
}

static void check_refusals(void)
{
	start("::ffff:192.0.2.9");
	check_refusal(&t.diag, create(2), EINVAL, RDMAEZ_WHY_PORT, "port_num", "no such port");
	check_refusal(&t.diag, create(0), EINVAL, RDMAEZ_WHY_PORT, "port_num", "port 0");
	check_refusal(&t.diag, rdmaez_ah_create(NULL, &t.path, 1, &t.ah, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain");
	check_call_and_verb(&t.diag, "rdmaez_ah_create", NULL);
	check_refusal(&t.diag, rdmaez_ah_create(t.pd, NULL, 1, &t.ah, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "path", "no path");
	check_refusal(&t.diag, rdmaez_ah_create(t.pd, &t.path, 1, NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "ah", "nowhere to put it");
	t.path.sl = 16;
	check_refusal(&t.diag, create(1), EINVAL, RDMAEZ_WHY_RANGE, "ah_attr.sl", "a wide field");
	memset(&t.path, 0, sizeof(t.path));
	check_refusal(&t.diag, create(1), EINVAL, RDMAEZ_WHY_GRH_MISSING, "ah_attr.grh.dgid",
		      "no destination on RoCE");
	fake_port_infiniband(&t.dev->port[1]);
	check_refusal(&t.diag, create(1), EINVAL, RDMAEZ_WHY_PATH_EMPTY, "ah_attr.dlid",
		      "no destination on InfiniBand");
	tap_eq_int(fake_count(FAKE_CREATE_AH), 0, "none of these has been tried");

	start("::ffff:192.0.2.9");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	check_refusal(&t.diag, create(1), EIO, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port",
		      "a port that does not answer");
	check_call_and_verb(&t.diag, "rdmaez_ah_create", "ibv_query_port");
	memset(t.dev->port[1].gid, 0, sizeof(t.dev->port[1].gid));
	check_refusal(&t.diag, create(1), EADDRNOTAVAIL, RDMAEZ_WHY_GID_NONE,
		      "ah_attr.grh.sgid_index", "a port without addresses");
	check_call_and_verb(&t.diag, "rdmaez_ah_create", NULL);
	tap_eq_int(fake_count(FAKE_CREATE_AH), 0, "neither has been tried");
}

/* ---- The other ends of a device and of a handle -------------------------------------------- */

static void check_ends(void)
{
	struct rdmaez_diag diag;
	struct ibv_context *ctx;
	struct rdmaez_path path = {0};
	struct ibv_ah *ah = NULL;
	struct ibv_pd *pd;

	ctx = fake_open(fake_reset());
	pd = ibv_alloc_pd(ctx);
	path.dgid = gid_of("::ffff:192.0.2.9");
	tap_eq_int(rdmaez_ah_create(pd, &path, 1, &ah, NULL), 0, "a handle");
	fake_fail(FAKE_DESTROY_AH, 1, EBUSY);
	check_refusal(&diag, rdmaez_ah_destroy(ah, &diag), EBUSY, RDMAEZ_WHY_BUSY, "ibv_destroy_ah",
		      "which is busy");
	tap_eq_str(diag.verb, "ibv_destroy_ah", "says the verb");
	check_success(&diag, rdmaez_ah_destroy(ah, &diag), "is destroyed");
	check_refusal(&diag, rdmaez_ah_destroy(NULL, &diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "ah",
		      "no handle");
	ibv_dealloc_pd(pd);
	fake_fail(FAKE_CLOSE_DEVICE, 1, EBUSY);
	check_refusal(&diag, rdmaez_device_close(ctx, &diag), EBUSY, RDMAEZ_WHY_BUSY, "context",
		      "a device that is busy");
	tap_eq_int(fake_open_count(), 1, "stays open");
	check_success(&diag, rdmaez_device_close(ctx, &diag), "is closed");
	tap_eq_int(fake_open_count(), 0, "then nothing is left");
	check_refusal(&diag, rdmaez_device_close(NULL, &diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "context", "no device");
}

int main(void)
{
	check_ends();
	check_creation();
	check_rows();
	check_network();
	check_way();
	check_efa();
	check_refusals();
	fake_close_all();
	return tap_done();
}
