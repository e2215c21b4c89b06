/* SPDX-License-Identifier: MIT */
/* Asking ports, against the fake: what is asked, what is answered, what is chosen. */
#include "check.h"
#include "findings.h"

static struct fake_device *dev;
static struct ibv_context *ctx;
static struct fake_port *port;

/* Every check runs with a record to fill, and without. */
static struct rdmaez_diag record, *diag;

/* And where the GID table is answered as a whole, and where each of its entries is asked for. */
static bool one_by_one;

static void forget_calls(void)
{
	fake_reset_log();
	if (one_by_one)
		fake_fail(FAKE_QUERY_GID_TABLE, 0, EOPNOTSUPP);
}

static void start(void)
{
	dev = fake_reset();
	ctx = fake_open(dev);
	port = &dev->port[1];
	memset(&record, 0xa5, sizeof(record));
	forget_calls();
}

static void check_call(const char *call)
{
	check_call_and_verb(diag, call, NULL);
	if (!diag)
		return;
	tap_eq_str(diag->device, "fake0", "and the device");
	tap_eq_int(diag->qp_num, 0, "and no queue pair");
	tap_eq_int(diag->to, -1, "and no transition");
}

static void check_finding(size_t i, enum rdmaez_why reason, int64_t value, int64_t min, int64_t max)
{
	if (!diag)
		return;
	tap_eq_str(rdmaez_why_id(diag->finding[i].reason), rdmaez_why_id(reason),
		   "finding %zu: the reason", i);
	tap_eq_int((int64_t)diag->finding[i].value, value, "finding %zu: the value given", i);
	tap_eq_int((int64_t)diag->finding[i].min, min, "finding %zu: the least accepted", i);
	tap_eq_int((int64_t)diag->finding[i].max, max, "finding %zu: the greatest accepted", i);
}

static void check_query(void)
{
	struct ibv_port_attr attr, untouched;

	start();
	dev->ports = 2;
	dev->port[2].attr.active_mtu = IBV_MTU_2048;
	memset(&attr, 0xa5, sizeof(attr));
	check_success(diag, rdmaez_port_query(ctx, 2, &attr, diag), "a port answers");
	check_call("rdmaez_port_query");
	tap_eq_int(attr.active_mtu, IBV_MTU_2048, "with its own attributes");
	tap_eq_int(attr.gid_tbl_len, 16, "all of them");
	tap_eq_int(attr.port_cap_flags2, 0, "also those that the kernel may not know");
	tap_eq_int(fake_count(FAKE_ANY), 1, "one verbs call was made");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "ibv_query_port");

	memset(&untouched, 0xa5, sizeof(untouched));
	attr = untouched;
	forget_calls();
	check_refusal(diag, rdmaez_port_query(NULL, 1, &attr, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "there must be a device");
	check_refusal(diag, rdmaez_port_query(ctx, 1, NULL, diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "attr", "there must be an output");
	tap_eq_int(fake_count(FAKE_ANY), 0, "neither gets as far as a verb");

	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	check_refusal(diag, rdmaez_port_query(ctx, 1, &attr, diag), EIO, RDMAEZ_WHY_QUERY_REFUSED,
		      "ibv_query_port", "a port that does not answer");
	check_call_and_verb(diag, "rdmaez_port_query", "ibv_query_port");
	tap_eq_int(fake_count(FAKE_ANY), 1, "nobody else is asked");
	fake_fail(FAKE_QUERY_PORT, 1, EINVAL);
	check_refusal(diag, rdmaez_port_query(ctx, 1, &attr, diag), EINVAL,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port",
		      "a port that exists and answers EINVAL");
	tap_eq_int(memcmp(&attr, &untouched, sizeof(attr)), 0, "a failure writes nothing");
}

static void check_query_no_port(void)
{
	static const int ports[] = {-2147483647 - 1, -1, 0, 3, 255, 256, 257, 65537, 2147483647};
	struct ibv_port_attr attr, untouched;

	start();
	dev->ports = 2;
	memset(&untouched, 0xa5, sizeof(untouched));
	attr = untouched;
	for (size_t i = 0; i < COUNT_OF(ports); i++) {
		const bool representable = ports[i] > 0 && ports[i] < 256;

		forget_calls();
		check_refusal(diag, rdmaez_port_query(ctx, ports[i], &attr, diag), EINVAL,
			      RDMAEZ_WHY_PORT, "port_num", "port %d of two", ports[i]);
		check_finding(0, RDMAEZ_WHY_PORT, ports[i], 1, 2);
		check_call_and_verb(diag, "rdmaez_port_query",
				    representable ? "ibv_query_port" : NULL);
		tap_eq_int(fake_count(FAKE_QUERY_PORT), representable, "the provider %s port %d",
			   representable ? "sees" : "does not see", ports[i]);
		/* It is asked for only to be told why. */
		tap_eq_int(fake_count(FAKE_QUERY_DEVICE), diag != NULL,
			   "the device is asked for its ports");
	}
	tap_eq_int(memcmp(&attr, &untouched, sizeof(attr)), 0, "nothing was written");

	forget_calls();
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_VERB_FINDINGS(
		diag, rdmaez_port_query(ctx, 0, &attr, diag), EINVAL, "rdmaez_port_query", NULL,
		"port 0 of a device that does not answer",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PORT, "port_num", RDMAEZ_VALUE_NUMBER, 0, 1, 255});
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_VERB_FINDINGS(
		diag, rdmaez_port_query(ctx, 256, &attr, diag), EINVAL, "rdmaez_port_query", NULL,
		"nor does it have port 256",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_PORT, "port_num", RDMAEZ_VALUE_NUMBER, 256, 1, 255});
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	CHECK_VERB_FINDINGS(
		diag, rdmaez_port_query(ctx, 3, &attr, diag), EINVAL, "rdmaez_port_query",
		"ibv_query_port", "port 3 of a device that does not answer",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", RDMAEZ_VALUE_NONE,
		 0, 0, 0},
		{RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_PORT, "port_num", RDMAEZ_VALUE_NUMBER, 3, 1, 255});
	fake_fail(FAKE_QUERY_PORT, 1, EINVAL);
	CHECK_VERB_FINDINGS(diag, rdmaez_port_query(ctx, 2, &attr, diag), EINVAL,
			    "rdmaez_port_query", "ibv_query_port",
			    "the last port, which exists, with EINVAL",
			    {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port",
			     RDMAEZ_VALUE_NONE, 0, 0, 0});
}

static void check_gids(void)
{
	struct ibv_gid_entry rows[16], untouched;
	size_t count = 99;

	start();
	memset(&untouched, 0xa5, sizeof(untouched));
	memset(rows, 0xa5, sizeof(rows));
	memset(&port->gid[1], 0, sizeof(port->gid[1]));
	port->gid[15] = port->gid[3];
	check_success(diag, rdmaez_port_gids(ctx, 1, rows, COUNT_OF(rows), &count, diag),
		      "a table with holes is listed");
	check_call("rdmaez_port_gids");
	tap_eq_int(count, 6, "without the holes");
	tap_eq_int(rows[0].gid_index, 0, "row 0 comes first");
	tap_eq_int(rows[1].gid_index, 2, "then row 2");
	tap_eq_int(rows[5].gid_index, 15, "and row 15 last");
	tap_eq_int(rows[5].port_num, 1, "of port 1");
	tap_eq_int(rows[5].gid_type, IBV_GID_TYPE_ROCE_V2, "with its type");
	tap_eq_int(rows[5].ndev_ifindex, 2, "and its network interface");
	tap_eq_int(memcmp(&rows[5].gid, &port->gid[3].gid, 16), 0, "and its GID");
	tap_eq_int(memcmp(&rows[6], &untouched, sizeof(untouched)), 0, "nothing follows");
	tap_eq_int(fake_count(FAKE_ANY), one_by_one ? 18 : 2,
		   "the port and its table were asked for");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), one_by_one ? 16 : 0, "all at once if it can be");

	memset(rows, 0xa5, sizeof(rows));
	check_success(diag, rdmaez_port_gids(ctx, 1, rows, 2, &count, diag),
		      "there may be less room than rows");
	tap_eq_int(count, 6, "the count is of all rows");
	tap_eq_int(rows[1].gid_index, 2, "the room is filled");
	tap_eq_int(memcmp(&rows[2], &untouched, sizeof(untouched)), 0, "and no more");
	check_success(diag, rdmaez_port_gids(ctx, 1, NULL, 0, &count, diag),
		      "there may be no room at all");
	tap_eq_int(count, 6, "to count");
	memset(port->gid, 0, sizeof(port->gid));
	check_success(diag, rdmaez_port_gids(ctx, 1, rows, 2, &count, diag),
		      "an empty table is listed");
	tap_eq_int(count, 0, "as nothing");
	port->attr.gid_tbl_len = -1;
	count = 99;
	check_success(diag, rdmaez_port_gids(ctx, 1, rows, 2, &count, diag),
		      "a table of less than nothing is listed");
	tap_eq_int(count, 0, "as nothing");
}

static void check_gids_refused(void)
{
	struct ibv_gid_entry rows[16];
	size_t count = 99;

	start();
	check_refusal(diag, rdmaez_port_gids(NULL, 1, rows, 16, &count, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "there must be a device to list");
	check_refusal(diag, rdmaez_port_gids(ctx, 1, rows, 16, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "count", "there must be a count");
	check_refusal(diag, rdmaez_port_gids(ctx, 1, NULL, 1, &count, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "entries", "there must be the room promised");
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these gets as far as a verb");
	check_refusal(diag, rdmaez_port_gids(ctx, 2, rows, 16, &count, diag), EINVAL,
		      RDMAEZ_WHY_PORT, "port_num", "there must be such a port to list");
	fake_fail(FAKE_QUERY_PORT, 1, ENOMEM);
	check_refusal(diag, rdmaez_port_gids(ctx, 1, rows, 16, &count, diag), ENOMEM,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", "a port that does not answer");
	for (unsigned int nth = 1; nth <= 16; nth += 5) {
		fake_reset_log();
		fake_fail(FAKE_QUERY_GID_TABLE, 0, ENOMEM);
		fake_fail(FAKE_QUERY_GID_EX, nth, EIO);
		check_refusal(diag, rdmaez_port_gids(ctx, 1, rows, 16, &count, diag), EIO,
			      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_gid_ex",
			      "a table whose row %u does not answer", nth - 1);
		check_call_and_verb(diag, "rdmaez_port_gids", "ibv_query_gid_ex");
		tap_eq_int(fake_count(FAKE_QUERY_GID_EX), nth, "no row after it is asked for");
	}
	tap_eq_int(count, 99, "a failure leaves the count");
}

/* The index that the default table's port chooses, and how many entries are asked for one by one. */
static void check_chosen(const char *peer, int type, uint32_t ifindex, int row, unsigned int looked)
{
	struct rdmaez_gid_want want;
	struct ibv_gid_entry chosen;
	char name[100];

	memset(&want, 0, sizeof(want));
	want.type = type;
	want.ndev_ifindex = ifindex;
	want.peer = gid_of(peer);
	snprintf(name, sizeof(name), "for peer %s, type %d, interface %u", peer, type, ifindex);
	memset(&chosen, 0xa5, sizeof(chosen));
	forget_calls();
	check_success(diag, rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag),
		      "%s there is a row", name);
	check_call("rdmaez_port_choose_gid");
	tap_eq_int(chosen.gid_index, row, "%s it is row %d", name, row);
	tap_eq_int(chosen.port_num, 1, "%s it tells its port", name);
	tap_eq_int(chosen.gid_type, port->gid[row].type, "%s it tells its type", name);
	tap_eq_int(chosen.ndev_ifindex, port->gid[row].ifindex, "%s it tells its interface", name);
	tap_eq_int(memcmp(&chosen.gid, &port->gid[row].gid, 16), 0, "%s it tells its GID", name);
	looked = one_by_one ? looked : 0;
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 1, "%s the table was asked for", name);
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), looked, "%s and %u entries", name, looked);
	tap_eq_int(fake_count(FAKE_ANY), looked + 2, "%s the port was, and nothing else", name);
}

static void check_choice(void)
{
	struct ibv_gid_entry chosen;

	start();
	check_chosen("::", 0, 0, 3, 4);
	check_chosen("::ffff:192.0.2.9", 0, 0, 3, 16);
	check_chosen("2001:db8::9", 0, 0, 5, 16);
	check_chosen("fe80::9", 0, 0, 1, 2);
	check_chosen("ff0e::9", 0, 0, 5, 16);
	check_chosen("::", IBV_GID_TYPE_ROCE_V1, 0, 2, 16);
	check_chosen("::", IBV_GID_TYPE_ROCE_V2, 0, 3, 4);
	check_chosen("2001:db8::9", IBV_GID_TYPE_ROCE_V1, 0, 4, 16);
	check_chosen("fe80::9", IBV_GID_TYPE_ROCE_V1, 0, 0, 16);
	check_chosen("::", 0, 2, 3, 4);

	port->gid[9] = port->gid[3];
	port->gid[9].ifindex = 8;
	check_chosen("::", 0, 8, 9, 10);
	check_chosen("::", 0, 0, 3, 4);
	port->gid[3].ifindex = 0;
	check_chosen("::", 0, 0, 9, 10);

	memset(&port->gid[6], 0, sizeof(port->gid[6]));
	port->gid[7] = port->gid[5];
	check_chosen("2001:db8::9", 0, 0, 5, 16);

	forget_calls();
	check_success(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag),
		      "nothing need be wanted");
	tap_eq_int(chosen.gid_index, 9, "then it is the best row for any peer");

	fake_port_infiniband(port);
	port->gid[1] = port->gid[0];
	check_chosen("2001:db8::9", 0, 0, 0, 1);
	check_chosen("::ffff:192.0.2.9", 0, 0, 0, 1);
}

/* One entry of a port's table, from index 0 on; all of them have interfaces. */
struct entry {
	const char *gid;
	enum ibv_gid_type type;
	uint32_t ifindex;
};
#define V1 IBV_GID_TYPE_ROCE_V1
#define V2 IBV_GID_TYPE_ROCE_V2

/* A host with a VLAN, as the kernel fills its table: 10.5.4.0/24 untagged, 10.5.5.0/24 on VLAN 5. */
static const struct entry vlan[] = {
	{"fe80::1", V1, 2},
	{"fe80::1", V2, 2},
	{"::ffff:10.5.4.1", V1, 2},
	{"::ffff:10.5.4.1", V2, 2},
	{"::ffff:10.5.5.1", V1, 5},
	{"::ffff:10.5.5.1", V2, 5},
	{"2001:db8:4::1", V1, 2},
	{"2001:db8:4::1", V2, 2},
	{"2001:db8:5::1", V1, 5},
	{"2001:db8:5::1", V2, 5},
	{"fd00:5::1", V1, 5},
	{"fd00:5::1", V2, 5},
	{"::ffff:169.254.1.1", V2, 2},
};

/* Addresses that are not routed, before those that are. */
static const struct entry local_first[] = {
	{"fe80::1", V2, 2},
	{"::ffff:169.254.1.1", V2, 2},
	{"::ffff:10.0.0.1", V1, 2},
	{"2001:db8::1", V1, 2},
};

/* Two interfaces of one device, on two subnets. */
static const struct entry two[] = {
	{"fe80::1", V2, 2},         {"fe80::2", V2, 3},         {"::ffff:10.1.0.1", V2, 2},
	{"::ffff:10.2.0.1", V2, 3}, {"::ffff:10.1.0.9", V1, 3},
};

static const struct entry one_address[] = {{"::ffff:10.0.0.1", V1, 2}, {"::ffff:10.0.0.1", V2, 2}};
static const struct entry two_scopes[] = {{"fe80::1", V2, 2}, {"2001:db8::1", V2, 2}};
static const struct entry new_first[] = {{"::ffff:10.0.0.1", V2, 2}, {"::ffff:10.0.0.1", V1, 2}};
static const struct entry neighbours[] = {{"::ffff:10.0.0.4", V2, 2}, {"::ffff:10.0.0.7", V2, 2}};
static const struct entry apart[] = {
	{"::ffff:10.1.0.1", V1, 2}, {"::ffff:10.2.0.1", V2, 3}, {"::ffff:10.1.0.1", V2, 2}};
static const struct entry worse_first[] = {{"::ffff:10.0.0.1", V1, 2}, {"fe80::1", V2, 2}};
static const struct entry old_only[] = {
	{"2001:db8::1", V1, 2}, {"fe80::1", V1, 2}, {"::ffff:10.0.0.1", V1, 2}};

static void fill(const struct entry *entries, size_t count)
{
	memset(port->gid, 0, sizeof(port->gid));
	for (size_t i = 0; i < count; i++) {
		port->gid[i].gid = gid_of(entries[i].gid);
		port->gid[i].type = entries[i].type;
		port->gid[i].ifindex = entries[i].ifindex;
	}
}

#define TABLE(entries) entries, COUNT_OF(entries)

struct choice {
	const char *name;
	const struct entry *entries;
	size_t count;
	const char *peer;
	int type;         /* wanted */
	uint32_t ifindex; /* likewise */
	int route;        /* the errno of asking for one */
	const char *from; /* the kernel's own address for the peer; NULL: it does not tell */
	int index;
	enum rdmaez_why why;
	bool asks; /* for the route */
};

static const struct choice choices[] = {
	/* By the kernel's route. */
	{"a peer on a VLAN", TABLE(vlan), "::ffff:10.5.5.2", 0, 0, 0, "10.5.5.1", 5,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"a peer on no VLAN", TABLE(vlan), "::ffff:10.5.4.2", 0, 0, 0, "10.5.4.1", 3,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"a peer behind a router on the VLAN", TABLE(vlan), "::ffff:10.5.4.77", 0, 0, 0, "10.5.5.1",
	 5, RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"an IPv6 peer on a VLAN", TABLE(vlan), "2001:db8:5::2", 0, 0, 0, "2001:db8:5::1", 9,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"a ULA peer", TABLE(vlan), "fd00:5::2", 0, 0, 0, "fd00:5::1", 11, RDMAEZ_WHY_GID_BY_ROUTE,
	 true},
	{"a global peer that is reached from a ULA", TABLE(vlan), "2001:db8:4::2", 0, 0, 0,
	 "fd00:5::1", 11, RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"RoCE v1 on a VLAN", TABLE(vlan), "::ffff:10.5.5.2", V1, 0, 0, "10.5.5.1", 4,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"a link-local IPv4 peer", TABLE(vlan), "::ffff:169.254.9.9", 0, 0, 0, "169.254.1.1", 12,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"a link-local IPv4 peer that is routed", TABLE(vlan), "::ffff:169.254.9.9", 0, 0, 0,
	 "10.5.4.1", 3, RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"the second of two interfaces", TABLE(two), "::ffff:10.1.0.2", 0, 0, 0, "10.2.0.1", 3,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"RoCE v1 alone on the route", TABLE(two), "::ffff:10.1.0.2", 0, 0, 0, "10.1.0.9", 4,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"RoCE v2 after another's on the route", TABLE(apart), "::ffff:10.9.9.9", 0, 0, 0,
	 "10.1.0.1", 2, RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"an IPv4 group that leaves by the VLAN", TABLE(vlan), "::ffff:239.1.2.3", 0, 0, 0,
	 "10.5.5.1", 5, RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"an IPv6 group that leaves by the VLAN", TABLE(vlan), "ff0e::9", 0, 0, 0, "2001:db8:5::1",
	 9, RDMAEZ_WHY_GID_BY_ROUTE, true},
	{"an IPv6 group of the site", TABLE(vlan), "ff05::9", 0, 0, 0, "fd00:5::1", 11,
	 RDMAEZ_WHY_GID_BY_ROUTE, true},
	/* By scope, where the route is of no use. */
	{"a routed peer and 169.254", TABLE(local_first), "::ffff:10.0.0.2", 0, 0, 0, "192.0.2.1",
	 2, RDMAEZ_WHY_GID_BY_SCOPE, true},
	{"a global peer, link-local v2 and global v1", TABLE(local_first), "2001:db8::2", 0, 0,
	 ENETUNREACH, NULL, 3, RDMAEZ_WHY_GID_BY_SCOPE, true},
	{"a link-local IPv4 peer without a route", TABLE(local_first), "::ffff:169.254.9.9", 0, 0,
	 EHOSTUNREACH, NULL, 1, RDMAEZ_WHY_GID_BY_SCOPE, true},
	{"a group of all IPv6", TABLE(two_scopes), "ff0e::9", 0, 0, 0, NULL, 1,
	 RDMAEZ_WHY_GID_BY_SCOPE, true},
	{"a group for which RoCE v1 has more scope", TABLE(local_first), "ff0e::9", 0, 0, 0, NULL,
	 2, RDMAEZ_WHY_GID_BY_RANK, true},
	{"a link-local peer of RoCE v1", TABLE(old_only), "fe80::9", 0, 0, 0, "2001:db8::1", 1,
	 RDMAEZ_WHY_GID_BY_SCOPE, false},
	{"a group of the link", TABLE(old_only), "ff02::9", 0, 0, 0, "2001:db8::1", 1,
	 RDMAEZ_WHY_GID_BY_SCOPE, false},
	/* By the longest prefix. */
	{"no route, and a VLAN", TABLE(vlan), "::ffff:10.5.5.2", 0, 0, ENETUNREACH, NULL, 5,
	 RDMAEZ_WHY_GID_BY_PREFIX, true},
	{"a socket that does not tell", TABLE(vlan), "::ffff:10.5.5.2", 0, 0, 0, NULL, 5,
	 RDMAEZ_WHY_GID_BY_PREFIX, true},
	{"a question that is forbidden", TABLE(vlan), "::ffff:10.5.5.2", 0, 0, EPERM, NULL, 5,
	 RDMAEZ_WHY_GID_BY_PREFIX, true},
	{"a route from an address that is none of the port's", TABLE(vlan), "2001:db8:5::2", 0, 0,
	 0, "2001:db8:77::1", 9, RDMAEZ_WHY_GID_BY_PREFIX, true},
	{"a ULA and no route", TABLE(vlan), "fd00:9::2", 0, 0, ENETUNREACH, NULL, 11,
	 RDMAEZ_WHY_GID_BY_PREFIX, true},
	{"RoCE v1 nearer to the peer than v2", TABLE(two), "::ffff:10.1.0.8", 0, 0, ENETUNREACH,
	 NULL, 4, RDMAEZ_WHY_GID_BY_PREFIX, true},
	{"one bit more", TABLE(neighbours), "::ffff:10.0.0.6", 0, 0, ENETUNREACH, NULL, 1,
	 RDMAEZ_WHY_GID_BY_PREFIX, true},
	/* By rank: only their kinds differ, or nothing does. */
	{"a link-local peer", TABLE(two), "fe80::9", 0, 0, 0, "fe80::2", 0, RDMAEZ_WHY_GID_BY_RANK,
	 false},
	{"a link-local peer, v2 after v1", TABLE(vlan), "fe80::9", 0, 0, 0, NULL, 1,
	 RDMAEZ_WHY_GID_BY_RANK, false},
	{"a link-local peer on an interface", TABLE(two), "fe80::9", 0, 3, 0, NULL, 1,
	 RDMAEZ_WHY_GID_BY_RANK, false},
	{"a group without a route", TABLE(two), "::ffff:239.1.2.3", 0, 0, ENETUNREACH, NULL, 2,
	 RDMAEZ_WHY_GID_BY_RANK, true},
	{"an IPv4 group of RoCE v1", TABLE(old_only), "::ffff:239.1.2.3", V1, 0, ENETUNREACH, NULL,
	 0, RDMAEZ_WHY_GID_BY_RANK, true},
	{"an unknown peer", TABLE(vlan), "::", 0, 0, 0, "10.5.5.1", 3, RDMAEZ_WHY_GID_BY_RANK,
	 false},
	{"an unknown peer, and 169.254", TABLE(local_first), "::", 0, 0, 0, NULL, 0,
	 RDMAEZ_WHY_GID_BY_RANK, false},
	{"an unknown peer, link-local v2 and routed v1", TABLE(worse_first), "::", 0, 0, 0, NULL, 1,
	 RDMAEZ_WHY_GID_BY_RANK, false},
	{"an unknown peer of RoCE v1", TABLE(local_first), "::", V1, 0, 0, NULL, 2,
	 RDMAEZ_WHY_GID_BY_RANK, false},
	/* The one that there is; its types do not make it two. */
	{"one address", TABLE(one_address), "::ffff:10.9.9.9", 0, 0, 0, "192.0.2.1", 1,
	 RDMAEZ_WHY_GID_ONLY, false},
	{"one address, v2 first", TABLE(new_first), "::ffff:10.9.9.9", 0, 0, 0, "192.0.2.1", 0,
	 RDMAEZ_WHY_GID_ONLY, false},
	{"an interface's only one", TABLE(two), "::ffff:10.1.0.2", V2, 3, 0, "10.1.0.1", 3,
	 RDMAEZ_WHY_GID_ONLY, false},
	{"one for an unknown peer", TABLE(one_address), "::", V1, 0, 0, NULL, 0,
	 RDMAEZ_WHY_GID_ONLY, false},
};

static void check_chosen_by(const struct choice *choice)
{
	struct rdmaez_gid_want want;
	struct ibv_gid_entry chosen;
	bool asks = choice->asks;

	start();
	fill(choice->entries, choice->count);
	fake_netdev(2, "eth0");
	fake_netdev(5, "eth0.5");
	fake_route(choice->route);
	fake_route_from(choice->from);
	memset(&want, 0, sizeof(want));
	want.peer = gid_of(choice->peer);
	want.type = choice->type;
	want.ndev_ifindex = choice->ifindex;
	memset(&chosen, 0xa5, sizeof(chosen));
	check_success(diag, rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag), "%s",
		      choice->name);
	tap_eq_int(chosen.gid_index, choice->index, "%s: the index", choice->name);
	tap_eq_int(memcmp(&chosen.gid, &port->gid[choice->index].gid, 16), 0, "its GID");
	if (one_by_one) /* asks at once, so that it need not go through all of the table */
		asks = asks || strncmp(choice->peer, "::ffff:", 7) == 0;
	tap_eq_int(fake_route_count(), asks, "%s: routes asked for", choice->name);
	if (asks)
		tap_eq_int(fake_route_asked()->bound.ss_family, 0, "from wherever it be");
	if (!diag)
		return;
	tap_eq_str(rdmaez_why_id(diag->chosen), rdmaez_why_id(choice->why), "%s: why",
		   choice->name);
	tap_eq_int(memcmp(&diag->source, &chosen, sizeof(chosen)), 0, "the record has the entry");
	tap_eq_int(memcmp(&diag->destination, &want.peer, 16), 0, "the peer");
	tap_eq_str(diag->netdev,
		   chosen.ndev_ifindex == 2   ? "eth0"
		   : chosen.ndev_ifindex == 5 ? "eth0.5"
					      : "",
		   "and the interface's name, if it has one");
}

static void check_choices(void)
{
	struct ibv_gid_entry chosen;

	for (size_t i = 0; i < COUNT_OF(choices); i++)
		check_chosen_by(&choices[i]);

	/* One by one it ends at the GID of the route, unless that is RoCE v1. */
	start();
	fill(TABLE(vlan));
	fake_route_from("10.5.4.1");
	check_chosen("::ffff:10.5.4.2", 0, 0, 3, 4);
	check_chosen("::ffff:10.5.4.2", V1, 0, 2, 16);
	fake_route_from("fd00:5::1");
	check_chosen("fd00:5::2", 0, 0, 11, 12);

	/* On InfiniBand the first GID will do, and nothing else is asked. */
	start();
	fake_port_infiniband(port);
	port->gid[1] = port->gid[0];
	port->gid[1].gid = gid_of("2001:db8::1");
	fake_route_from("2001:db8::1");
	check_chosen("2001:db8::9", 0, 0, 0, 1);
	tap_eq_int(fake_route_count(), 0, "no socket is opened on InfiniBand");
	if (diag)
		tap_eq_str(rdmaez_why_id(diag->chosen), "GID_BY_RANK", "the first there is");

	/* After a failure there is no choice to tell. */
	start();
	fill(TABLE(one_address));
	port->gid[0].ifindex = port->gid[1].ifindex = 0;
	tap_eq_int(rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag), EADDRNOTAVAIL,
		   "no GID has an interface");
	if (diag) {
		tap_eq_int(diag->chosen, RDMAEZ_WHY_NONE, "so none is chosen");
		tap_eq_int(diag->source.ndev_ifindex + diag->source.port_num, 0, "nor told");
	}
}

/* What a record tells of the ends, after a success; `index` of the VLAN's entry. */
static void check_ends(enum rdmaez_why why, int index, const char *name)
{
	const union ibv_gid peer = gid_of("::ffff:10.5.5.2");
	union ibv_gid own;

	if (!diag)
		return;
	memset(&own, 0, sizeof(own));
	if (why != RDMAEZ_WHY_NONE)
		own = gid_of("::ffff:10.5.5.1");
	tap_eq_int(diag->source.gid_index, index, "%s: the index", name);
	tap_eq_int(memcmp(&diag->source.gid, &own, sizeof(own)), 0, "the GID, if it was read");
	tap_eq_int(memcmp(&diag->destination, &peer, sizeof(peer)), 0, "the peer");
	tap_eq_str(diag->netdev, why != RDMAEZ_WHY_NONE ? "eth0.5" : "", "the interface");
	tap_eq_str(rdmaez_why_id(diag->chosen), rdmaez_why_id(why), "%s: why", name);
}

/* Those that choose on the way tell what they have chosen, and ask nothing where the index is named. */
static void check_users(void)
{
	struct rdmaez_qp_opts opts;
	struct rdmaez_qp_move move;
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	struct ibv_pd *pd;

	for (int named = 0; named < 2; named++) {
		const enum rdmaez_why why = named ? RDMAEZ_WHY_NONE : RDMAEZ_WHY_GID_BY_ROUTE;

		start();
		fill(TABLE(vlan));
		fake_netdev(5, "eth0.5");
		fake_route_from("10.5.5.1");
		memset(&opts, 0, sizeof(opts));
		opts.path.dgid = gid_of("::ffff:10.5.5.2");
		opts.path.sgid_index = named ? 4 : 0;
		opts.dest_qp_num = 1;
		qp = fake_qp(ctx, IBV_QPT_RC);
		check_success(diag, rdmaez_qp_to_init(qp, &opts, diag), "to INIT");
		if (diag)
			tap_eq_int(diag->source.gid_index, 0, "which takes no GID");
		forget_calls();
		check_success(diag, rdmaez_qp_to_rtr(qp, &opts, diag), "to RTR");
		check_ends(why, named ? 4 : 5, "to RTR");
		tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), !named, "the table is asked for");
		tap_eq_int(fake_route_count(), !named, "and the route");
		check_success(diag, rdmaez_qp_to_rts(qp, &opts, diag), "to RTS");
		if (diag)
			tap_eq_int(diag->chosen + diag->source.gid_index, 0, "which takes none");
		check_success(diag, rdmaez_qp_to_sqd(qp, &opts, diag), "to SQD");
		opts.optional = IBV_QP_AV;
		check_success(diag, rdmaez_qp_to_sqd(qp, &opts, diag), "another path");
		check_ends(why, named ? 4 : 5, "another path");
		opts.optional = 0;

		pd = ibv_alloc_pd(ctx);
		forget_calls();
		check_success(diag, rdmaez_ah_create(pd, &opts.path, 1, &ah, diag), "a handle");
		check_ends(why, named ? 4 : 5, "a handle");
		tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), !named, "the table is asked for");
		tap_eq_int(fake_route_count(), named ? 0 : 3, "and the route, again");

		check_success(diag, rdmaez_path_ah_attr(&opts.path, 1, NULL, &attr, diag),
			      "a path");
		check_ends(RDMAEZ_WHY_NONE, named ? 4 : 0, "a path");
		check_success(
			diag,
			rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, diag),
			"attributes alone");
		check_ends(RDMAEZ_WHY_NONE, named ? 4 : 0, "attributes alone");
		opts.optional = IBV_QP_ALT_PATH;
		opts.alt.dgid = gid_of("2001:db8::2");
		opts.alt.sgid_index = 7;
		check_success(
			diag,
			rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, diag),
			"an alternate path");
		check_ends(RDMAEZ_WHY_NONE, named ? 4 : 0, "beside the primary one");
	}
	start();
	fake_port_infiniband(port);
	opts.path.dlid = 1;
	check_success(diag, rdmaez_path_ah_attr(&opts.path, 1, &port->attr, &attr, diag),
		      "a path without a GRH");
	if (diag)
		tap_ok(rdmaez_gid_is_zero(&diag->destination), "has no GIDs");
}

static void check_long_table(void)
{
	struct ibv_gid_entry chosen;
	struct fake_gid best;

	start();
	best = port->gid[3];
	memset(port->gid, 0, sizeof(port->gid));
	port->attr.gid_tbl_len = FAKE_MAX_GIDS;
	port->gid[255] = best;
	port->gid[256] = best;
	check_chosen("::", 0, 0, 255, 256);
	memset(&port->gid[255], 0, sizeof(best));
	memset(&chosen, 0xa5, sizeof(chosen));
	forget_calls();
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag), EADDRNOTAVAIL,
		      RDMAEZ_WHY_GID_NONE, "ah_attr.grh.sgid_index",
		      "a row that no address vector can name");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), one_by_one ? 256 : 0, "is not looked at");
	tap_eq_hex(chosen.gid_index, 0xa5a5a5a5, "nothing was written");
}

/* The entries of all ports come in one answer, and there may be more of them than fit. */
static void check_many_entries(void)
{
	struct ibv_gid_entry rows[FAKE_MAX_GIDS], chosen;
	size_t count = 0;

	start();
	port->attr.gid_tbl_len = 1;
	check_success(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag), "one entry");
	tap_eq_int(chosen.gid_index, 0, "is chosen");
	start();
	dev->ports = 2;
	dev->port[2] = *port;
	dev->port[2].gid[3].ifindex = 9;
	check_success(diag, rdmaez_port_choose_gid(ctx, 2, NULL, &chosen, diag), "a second port");
	tap_eq_int(chosen.port_num, 2, "has its own entries");
	tap_eq_int(chosen.ndev_ifindex, 9, "as they are");
	check_success(diag, rdmaez_port_gids(ctx, 2, rows, COUNT_OF(rows), &count, diag),
		      "it is listed");
	tap_eq_int(count, 6, "without those of the first");
	tap_eq_int(rows[0].port_num, 2, "from its own first one");

	port->attr.gid_tbl_len = FAKE_MAX_GIDS;
	for (int i = 0; i < FAKE_MAX_GIDS; i++)
		port->gid[i] = dev->port[2].gid[i == 200 ? 3 : 0];
	forget_calls();
	check_success(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag),
		      "where there are too many for one answer");
	tap_eq_int(chosen.gid_index, 200, "the best is found one by one");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), 201, "and no entry after it is asked for");
	check_success(diag, rdmaez_port_gids(ctx, 1, rows, COUNT_OF(rows), &count, diag),
		      "all are listed as well");
	tap_eq_int(count, FAKE_MAX_GIDS, "every one of them");
	tap_eq_int(rows[FAKE_MAX_GIDS - 1].gid_index, FAKE_MAX_GIDS - 1, "to the last");
}

/* More GIDs than are read at once: those to tell a peer are the same, whichever way the table is read. */
static void check_best_of_many(void)
{
	struct rdmaez_impl_port_best few, many;
	struct ibv_port_attr attr;

	start();
	port->attr.gid_tbl_len = 60;
	attr = port->attr;
	tap_eq_int(rdmaez_impl_port_best_gids(ctx, 1, &attr, NULL, &few, diag), 0,
		   "the best of a few");
	for (int i = 20; i < 50; i++)
		port->gid[i] = port->gid[i % 4];
	forget_calls();
	tap_eq_int(rdmaez_impl_port_best_gids(ctx, 1, &attr, NULL, &many, diag), 0,
		   "the best of many");
	tap_ok(fake_count(FAKE_QUERY_GID_EX) >= 60, "which are asked for one by one");
	tap_eq_int(many.count, few.count, "as many");
	for (int i = 0; i < few.count; i++)
		tap_eq_int(many.entry[i].gid_index, few.entry[i].gid_index, "number %d is the same",
			   i);
}

static void check_no_choice(void)
{
	struct rdmaez_gid_want want;
	struct ibv_gid_entry chosen;
	const struct rdmaez_finding *none;

	start();
	memset(&want, 0, sizeof(want));
	memset(&chosen, 0xa5, sizeof(chosen));

	memset(&port->gid[2], 0, 2 * sizeof(port->gid[2]));
	want.peer = gid_of("::ffff:192.0.2.9");
	tap_eq_int(rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag), EADDRNOTAVAIL,
		   "no row is of the peer's family");
	if (diag) {
		tap_eq_int(diag->error, EADDRNOTAVAIL, "the record holds the errno");
		tap_eq_count(diag, 5, "four rows are spoken against, empty ones are not");
		tap_eq_str(diag->finding[4].field, "ah_attr.grh.sgid_index", "it is about a row");
	}
	check_finding(0, RDMAEZ_WHY_GID_FAMILY, 0, 0, 15);
	check_finding(1, RDMAEZ_WHY_GID_FAMILY, 1, 0, 15);
	check_finding(2, RDMAEZ_WHY_GID_FAMILY, 4, 0, 15);
	check_finding(3, RDMAEZ_WHY_GID_FAMILY, 5, 0, 15);
	check_finding(4, RDMAEZ_WHY_GID_NONE, 0, 0, 0);

	want.ndev_ifindex = 77;
	tap_eq_int(rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag), EADDRNOTAVAIL,
		   "no row is of that interface");
	check_finding(0, RDMAEZ_WHY_GID_OTHER_NETDEV, 0, 0, 15);
	want.ndev_ifindex = 0;
	want.type = 77;
	tap_eq_int(rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag), EADDRNOTAVAIL,
		   "no row is of that type");
	check_finding(0, RDMAEZ_WHY_GID_TYPE, 0, 0, 15);
	memset(&want, 0, sizeof(want));
	for (int i = 0; i < 6; i++)
		port->gid[i].ifindex = 0;
	tap_eq_int(rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag), EADDRNOTAVAIL,
		   "no row has an interface");
	check_finding(0, RDMAEZ_WHY_GID_NO_NETDEV, 0, 0, 15);

	/* More rows speak against themselves than a record holds: the verdict must be there still. */
	for (int i = 0; i < 16; i++)
		port->gid[i] = port->gid[0];
	tap_eq_int(rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag), EADDRNOTAVAIL,
		   "sixteen rows will not do");
	none = rdmaez_diag_find(diag, RDMAEZ_WHY_GID_NONE);
	if (diag) {
		tap_ok(none, "the record says that no row will do");
		tap_eq_count(diag, RDMAEZ_DIAG_FINDINGS, "it is full");
		tap_eq_int(diag->dropped, 16 + 1 - RDMAEZ_DIAG_FINDINGS, "and counts the rest");
	}
	fake_fail(FAKE_QUERY_GID_TABLE, 1, EIO);
	fake_fail(FAKE_QUERY_GID_EX, 16, EIO);
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag), EIO,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_gid_ex",
		      "the last of sixteen rows does not answer");
	tap_eq_hex(chosen.gid_index, 0xa5a5a5a5, "nothing was written");

	/* Bad rows before a good one are no findings, however many they are. */
	port->gid[15].ifindex = 2;
	check_success(diag, rdmaez_port_choose_gid(ctx, 1, &want, &chosen, diag),
		      "the last of sixteen rows will do");
	tap_eq_int(chosen.gid_index, 15, "and is chosen");
	start();
	port->gid[0].ifindex = 0;
	check_chosen("::", 0, 0, 3, 4);
}

static void check_choice_refused(void)
{
	struct ibv_gid_entry chosen;

	start();
	memset(&chosen, 0xa5, sizeof(chosen));
	port->attr.gid_tbl_len = -1;
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag), EADDRNOTAVAIL,
		      RDMAEZ_WHY_GID_NONE, "ah_attr.grh.sgid_index",
		      "a table of less than nothing");
	port->attr.gid_tbl_len = 16;
	memset(port->gid, 0, sizeof(port->gid));
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag), EADDRNOTAVAIL,
		      RDMAEZ_WHY_GID_NONE, "ah_attr.grh.sgid_index", "an empty table");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), one_by_one ? 16 : 0, "is read once");
	dev->ports = 2;
	dev->port[2] = *port;
	dev->port[2].gid[3].gid = gid_of("::ffff:192.0.2.1");
	dev->port[2].gid[3].type = IBV_GID_TYPE_ROCE_V2;
	tap_eq_int(rdmaez_port_choose_gid(ctx, 2, NULL, &chosen, diag), EADDRNOTAVAIL,
		   "a GID that does not serve");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 0,
		   "the first port is there for certain, and one that has GIDs");
	forget_calls();
	check_refusal(diag, rdmaez_port_choose_gid(NULL, 1, NULL, &chosen, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "there must be a device to choose from");
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, NULL, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "chosen", "there must be room for the choice");
	tap_eq_int(fake_count(FAKE_ANY), 0, "neither gets as far as a verb");
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 0, NULL, &chosen, diag), EINVAL,
		      RDMAEZ_WHY_PORT, "port_num", "port 0 has no rows");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag), EIO,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", "a port that does not answer");
	fake_fail(FAKE_QUERY_GID_TABLE, 1, EPERM);
	fake_fail(FAKE_QUERY_GID_EX, 3, EPERM);
	check_refusal(diag, rdmaez_port_choose_gid(ctx, 1, NULL, &chosen, diag), EPERM,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_gid_ex", "a row that does not answer");
	check_call_and_verb(diag, "rdmaez_port_choose_gid", "ibv_query_gid_ex");
	tap_eq_hex(chosen.gid_index, 0xa5a5a5a5, "nothing was written");
}

/* The row found, or -1, and how many rows were asked for. */
static void check_pkey(uint16_t pkey, int row, unsigned int looked)
{
	int index = -1;
	int error;

	forget_calls();
	error = rdmaez_port_find_pkey(ctx, 1, pkey, &index, diag);
	if (row >= 0) {
		check_success(diag, error, "P_Key 0x%04x is in the table", pkey);
	} else {
		check_refusal(diag, error, ENOENT, RDMAEZ_WHY_PKEY_NOT_FOUND, "pkey",
			      "P_Key 0x%04x is not in the table", pkey);
		check_finding(0, RDMAEZ_WHY_PKEY_NOT_FOUND, pkey, 0, 0);
	}
	check_call("rdmaez_port_find_pkey");
	tap_eq_int(index, row, "P_Key 0x%04x: in row %d", pkey, row);
	tap_eq_int(fake_count(FAKE_QUERY_PKEY), looked, "P_Key 0x%04x: %u rows were asked for",
		   pkey, looked);
	tap_eq_int(fake_count(FAKE_ANY), looked + 1, "P_Key 0x%04x: and the port", pkey);
}

static void check_pkeys(void)
{
	int index = -1;

	start();
	check_pkey(0xffff, 0, 1);
	check_pkey(0x7fff, 0, 1);
	check_pkey(0x8001, -1, 16);

	port->pkey[0] = 0x7fff; /* limited, twice */
	port->pkey[1] = 0x7fff;
	port->pkey[2] = 0x1234; /* limited */
	port->pkey[3] = 0x3412;
	port->pkey[5] = 0x9234; /* the same partition, full */
	port->pkey[6] = 0x9234;
	port->pkey[8] = 0x0042; /* limited, twice */
	port->pkey[15] = 0x0042;
	check_pkey(0xffff, 0, 16);
	check_pkey(0x1234, 5, 6);
	check_pkey(0x9234, 5, 6);
	check_pkey(0x3412, 3, 16);
	check_pkey(0x0042, 8, 16);
	check_pkey(0x8042, 8, 16);
	check_pkey(0x0043, -1, 16);
	/* A row of zeros, or of nothing but the membership bit, is unused. */
	port->pkey[9] = 0x8000;
	check_pkey(0x0000, -1, 0);
	check_pkey(0x8000, -1, 0);

	check_refusal(diag, rdmaez_port_find_pkey(NULL, 1, 0xffff, &index, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "there must be a device with a P_Key");
	check_refusal(diag, rdmaez_port_find_pkey(ctx, 1, 0xffff, NULL, diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "index", "there must be room for the row");
	check_refusal(diag, rdmaez_port_find_pkey(ctx, 2, 0xffff, &index, diag), EINVAL,
		      RDMAEZ_WHY_PORT, "port_num", "there must be such a port with a P_Key");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	check_refusal(diag, rdmaez_port_find_pkey(ctx, 1, 0xffff, &index, diag), EIO,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", "a port that does not answer");
	/* Row 0 has the key already, if only as a limited member. */
	fake_fail(FAKE_QUERY_PKEY, 2, EPERM);
	errno = 0;
	check_refusal(diag, rdmaez_port_find_pkey(ctx, 1, 0xffff, &index, diag), EPERM,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_pkey", "a row that does not answer");
	check_call_and_verb(diag, "rdmaez_port_find_pkey", "ibv_query_pkey");
	tap_eq_int(index, -1, "nothing was written");
}

int main(void)
{
	for (int way = 0; way < 4; way++) {
		diag = way & 1 ? &record : NULL;
		one_by_one = way & 2;
		tap_diag("%s a record, %s", diag ? "with" : "without",
			 one_by_one ? "entry by entry" : "the table as a whole");
		check_query();
		check_query_no_port();
		check_gids();
		check_gids_refused();
		check_choice();
		check_choices();
		check_users();
		check_long_table();
		check_many_entries();
		check_best_of_many();
		check_no_choice();
		check_choice_refused();
		check_pkeys();
	}
	fake_close_all();
	return tap_done();
}
