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
		tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "the device is asked for its ports");
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
	check_chosen("::ffff:192.0.2.9", 0, 0, 3, 4);
	check_chosen("2001:db8::9", 0, 0, 5, 16);
	check_chosen("fe80::9", 0, 0, 1, 2);
	check_chosen("ff0e::9", 0, 0, 3, 4);
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
		tap_eq_int(diag->count, 5, "four rows are spoken against, empty ones are not");
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
		tap_eq_int(diag->count, RDMAEZ_DIAG_FINDINGS, "it is full");
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
		check_long_table();
		check_many_entries();
		check_no_choice();
		check_choice_refused();
		check_pkeys();
	}
	fake_close_all();
	return tap_done();
}
