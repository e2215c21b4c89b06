/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez tells of a real port, against what libibverbs and the kernel's files below
 * /sys/class/infiniband tell of it.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>

#include "rig.h"

enum {
	ROWS = 64
};

/* A line of a file of the port; "" where there is none, as for the type of an empty row. */
static const char *from_sysfs(struct rig *rig, const char *directory, int index)
{
	static char line[128];
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "/sys/class/infiniband/%s/ports/1/%s/%d",
		 ibv_get_device_name(rig->context->device), directory, index);
	line[0] = '\0';
	file = fopen(name, "r");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* A GID as the kernel writes it: eight groups of four digits. */
static const char *in_full(const union ibv_gid *gid)
{
	static char text[40];

	for (int i = 0; i < 8; i++)
		snprintf(text + 5 * i, sizeof(text) - 5 * (size_t)i,
			 i < 7 ? "%02x%02x:" : "%02x%02x", gid->raw[2 * i], gid->raw[2 * i + 1]);
	return text;
}

static union ibv_gid gid_of(const char *text)
{
	union ibv_gid gid;

	if (inet_pton(AF_INET6, text, gid.raw) != 1)
		tap_bail("%s is no GID", text);
	return gid;
}

/* The call failed with this errno, reason and field. */
static void refused(int got, int want, const struct rdmaez_diag *diag, enum rdmaez_why reason,
		    const char *field, const char *name)
{
	const struct rdmaez_finding *finding = rdmaez_diag_find(diag, reason);

	tap_eq_int(got, want, "%s: errno", name);
	tap_eq_int(diag->error, want, "%s: the record holds it", name);
	tap_eq_count(diag, 1, "%s: there is one finding", name);
	if (tap_ok(finding, "%s: it is %s", name, rdmaez_why_id(reason)))
		tap_eq_str(finding->field, field, "%s: and its field", name);
}

static void test_query(struct rig *rig)
{
	struct ibv_port_attr attr, unchanged;
	struct rdmaez_diag diag;
	static const int none[] = {-1, 0, 2, 255, 256, 257, 65537};

	memset(&attr, 0xa5, sizeof(attr));
	tap_eq_int(rdmaez_port_query(rig->context, 1, &attr, &diag), 0, "port 1 is there");
	tap_ok(memcmp(&attr, &rig->port, sizeof(attr)) == 0, "and is as ibv_query_port() says");
	tap_eq_int(attr.state, IBV_PORT_ACTIVE, "it is active");
	tap_eq_int(attr.link_layer, IBV_LINK_LAYER_ETHERNET, "it is Ethernet");
	tap_ok(rdmaez_path_needs_grh(&attr), "so it needs a GRH");
	tap_eq_str(diag.device, ibv_get_device_name(rig->context->device),
		   "the record names the device");

	unchanged = attr;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "port %d", none[i]);
		refused(rdmaez_port_query(rig->context, none[i], &attr, &diag), EINVAL, &diag,
			RDMAEZ_WHY_PORT, "port_num", name);
		tap_eq_int((int64_t)diag.finding[0].value, none[i], "%s: the value given", name);
		tap_eq_int(diag.finding[0].min, 1, "%s: the least accepted", name);
		tap_eq_int(diag.finding[0].max, 1, "%s: the greatest accepted", name);
	}
	tap_ok(memcmp(&attr, &unchanged, sizeof(attr)) == 0, "a failure writes nothing");
	refused(rdmaez_port_query(NULL, 1, &attr, &diag), EINVAL, &diag, RDMAEZ_WHY_NULL_ARGUMENT,
		"context", "no device");
	tap_eq_int(rdmaez_port_query(rig->context, 1, NULL, NULL), EINVAL, "nowhere to write to");
}

static void test_gids(struct rig *rig)
{
	struct ibv_gid_entry rows[ROWS], few[1];
	union ibv_gid gid;
	size_t count = 0, again = 0, filled = 0;

	tap_eq_int(rdmaez_port_gids(rig->context, 1, rows, ROWS, &count, NULL), 0, "the GID table");
	tap_ok(count >= 3 && count <= ROWS, "has %zu rows", count);
	for (int i = 0; i < rig->port.gid_tbl_len; i++) {
		const char *line = from_sysfs(rig, "gids", i);

		if (*line && strcmp(line, "0000:0000:0000:0000:0000:0000:0000:0000") != 0)
			filled++;
	}
	tap_eq_int(count, filled, "as many as the kernel's files show");
	for (size_t i = 0; i < count && i < ROWS; i++) {
		const int index = (int)rows[i].gid_index;

		tap_eq_str(in_full(&rows[i].gid), from_sysfs(rig, "gids", index),
			   "row %d is the kernel's", index);
		tap_eq_str(rows[i].gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1",
			   from_sysfs(rig, "gid_attrs/types", index), "row %d: its type", index);
		tap_ok(ibv_query_gid(rig->context, 1, index, &gid) == 0 &&
			       memcmp(&gid, &rows[i].gid, sizeof(gid)) == 0,
		       "row %d is that of ibv_query_gid()", index);
		tap_eq_int(rows[i].port_num, 1, "row %d: its port", index);
		tap_ok(rows[i].ndev_ifindex > 0, "row %d has a network interface", index);
		tap_ok(i == 0 || rows[i].gid_index > rows[i - 1].gid_index, "row %d is in order",
		       index);
	}
	memset(few, 0, sizeof(few));
	tap_eq_int(rdmaez_port_gids(rig->context, 1, few, 1, &again, NULL), 0, "room for one row");
	tap_eq_int(again, count, "all rows are counted");
	tap_ok(memcmp(few, rows, sizeof(few)) == 0, "and the first is given");
	tap_eq_int(rdmaez_port_gids(rig->context, 1, NULL, 0, &again, NULL), 0, "room for none");
	tap_eq_int(again, count, "all rows are counted again");
	tap_eq_int(rdmaez_port_gids(rig->context, 1, NULL, 1, &again, NULL), EINVAL,
		   "room at NULL");
	tap_eq_int(rdmaez_port_gids(rig->context, 2, rows, ROWS, &again, NULL), EINVAL, "port 2");
	tap_eq_int(rdmaez_port_gids(rig->context, 1, rows, ROWS, NULL, NULL), EINVAL, "no count");
}

/* The class of the row chosen; -1 where none is. */
static int class_chosen(struct rig *rig, const char *peer, int *index)
{
	struct rdmaez_gid_want want = {0};
	struct ibv_gid_entry row;

	if (peer)
		want.peer = gid_of(peer);
	if (rdmaez_port_choose_gid(rig->context, 1, peer ? &want : NULL, &row, NULL))
		return -1;
	*index = (int)row.gid_index;
	return row.gid_type == IBV_GID_TYPE_ROCE_V2 ? (int)rdmaez_gid_class(&row.gid) : -2;
}

static void test_choose(struct rig *rig)
{
	static const struct {
		const char *peer;
		enum rdmaez_gid_class want;
		const char *beginning; /* of the line that the kernel shows for the row chosen */
	} cases[] = {
		{NULL, RDMAEZ_GID_CLASS_IPV4, "0000:0000:0000:0000:0000:ffff:"},
		{"::", RDMAEZ_GID_CLASS_IPV4, "0000:0000:0000:0000:0000:ffff:"},
		{"::ffff:192.0.2.77", RDMAEZ_GID_CLASS_IPV4, "0000:0000:0000:0000:0000:ffff:"},
		{"2001:db8::77", RDMAEZ_GID_CLASS_GLOBAL, "2001:0db8:"},
		{"fe80::77", RDMAEZ_GID_CLASS_LINK_LOCAL, "fe80:"},
	};
	struct rdmaez_gid_want want = {0};
	struct ibv_gid_entry row, unchanged;
	struct rdmaez_diag diag;
	int index = -1;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *peer = cases[i].peer ? cases[i].peer : "nobody";

		tap_eq_int(class_chosen(rig, cases[i].peer, &index), cases[i].want,
			   "towards %s a RoCE v2 row of its kind is chosen", peer);
		tap_ok(strncmp(from_sysfs(rig, "gids", index), cases[i].beginning,
			       strlen(cases[i].beginning)) == 0,
		       "towards %s: the kernel shows that row likewise", peer);
	}
	tap_eq_int(rdmaez_port_choose_gid(rig->context, 1, NULL, &row, &diag), 0, "with a record");
	tap_eq_count(&diag, 0, "a choice leaves no finding");

	want.ndev_ifindex = row.ndev_ifindex;
	tap_eq_int(rdmaez_port_choose_gid(rig->context, 1, &want, &row, NULL), 0,
		   "of its interface");
	memset(&row, 0xa5, sizeof(row));
	unchanged = row;
	want.ndev_ifindex = 4711;
	tap_eq_int(rdmaez_port_choose_gid(rig->context, 1, &want, &row, &diag), EADDRNOTAVAIL,
		   "no row is of interface 4711");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_GID_OTHER_NETDEV), "the rows' fault is told");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_GID_NONE), "and that no row is left");
	tap_ok(memcmp(&row, &unchanged, sizeof(row)) == 0, "and nothing is written");
	memset(&want, 0, sizeof(want));
	want.type = IBV_GID_TYPE_ROCE_V1;
	tap_eq_int(rdmaez_port_choose_gid(rig->context, 1, &want, &row, &diag), EADDRNOTAVAIL,
		   "rxe has no RoCE v1 row");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_GID_TYPE), "the rows' fault is told again");
	refused(rdmaez_port_choose_gid(rig->context, 255, NULL, &row, &diag), EINVAL, &diag,
		RDMAEZ_WHY_PORT, "port_num", "port 255");
	tap_eq_int(rdmaez_port_choose_gid(NULL, 1, NULL, &row, NULL), EINVAL, "no device to ask");
	tap_eq_int(rdmaez_port_choose_gid(rig->context, 1, NULL, NULL, NULL), EINVAL, "no row");
}

static void test_pkey(struct rig *rig)
{
	struct rdmaez_diag diag;
	__be16 wire = 0;
	int index = -1;

	tap_eq_str(from_sysfs(rig, "pkeys", 0), "0xffff", "the kernel shows the default partition");
	tap_ok(ibv_query_pkey(rig->context, 1, 0, &wire) == 0 && ntohs(wire) == 0xffff,
	       "and so does ibv_query_pkey()");
	tap_eq_int(rdmaez_port_find_pkey(rig->context, 1, 0xffff, &index, &diag), 0, "it is found");
	tap_eq_int(index, 0, "in row 0");
	index = -1;
	tap_eq_int(rdmaez_port_find_pkey(rig->context, 1, 0x7fff, &index, NULL), 0,
		   "asked for as a limited member it is found");
	tap_eq_int(index, 0, "in the same row");
	index = -1;
	refused(rdmaez_port_find_pkey(rig->context, 1, 0x8001, &index, &diag), ENOENT, &diag,
		RDMAEZ_WHY_PKEY_NOT_FOUND, "pkey", "another partition");
	tap_eq_hex(diag.finding[0].value, 0x8001, "the record tells which");
	refused(rdmaez_port_find_pkey(rig->context, 1, 0x8000, &index, &diag), ENOENT, &diag,
		RDMAEZ_WHY_PKEY_NOT_FOUND, "pkey", "the partition of unused rows");
	refused(rdmaez_port_find_pkey(rig->context, 0, 0xffff, &index, &diag), EINVAL, &diag,
		RDMAEZ_WHY_PORT, "port_num", "port 0");
	tap_eq_int(index, -1, "a failure writes nothing");
	tap_eq_int(rdmaez_port_find_pkey(rig->context, 1, 0xffff, NULL, NULL), EINVAL, "no index");
}

/* The queue pair reaches RTS towards a peer; whether by this interface, as the kernel's files show it. */
static void reach(struct rig *rig, struct side *side, const char *peer, const char *netdev)
{
	struct rdmaez_qp_opts opts = {0};
	struct ibv_qp_init_attr init;
	struct rdmaez_diag diag;
	struct ibv_qp_attr attr;

	opts.path.dgid = gid_of(peer);
	opts.dest_qp_num = side->qp->qp_num;
	tap_eq_int(rdmaez_qp_to_init(side->qp, &opts, NULL), 0, "%s: INIT", peer);
	tap_eq_int(rdmaez_qp_to_rtr(side->qp, &opts, &diag), 0, "%s: RTR", peer);
	tap_eq_str(diag.netdev, netdev, "%s: from the interface", peer);
	tap_eq_str(from_sysfs(rig, "gid_attrs/ndevs", (int)diag.source.gid_index), netdev,
		   "which is the kernel's for the index");
	tap_eq_str(in_full(&diag.source.gid), from_sysfs(rig, "gids", (int)diag.source.gid_index),
		   "as is the GID");
	tap_eq_str(rdmaez_why_id(diag.chosen), "GID_BY_ROUTE", "because of the route");
	if (ibv_query_qp(side->qp, &attr, IBV_QP_AV, &init))
		tap_bail("ibv_query_qp");
	tap_eq_int(attr.ah_attr.grh.sgid_index, diag.source.gid_index, "it is the one in use");
	tap_eq_int(rdmaez_qp_to_rts(side->qp, &opts, NULL), 0, "%s: RTS", peer);
}

/* Each peer is reached by the interface that is named with it; the last one is this host itself. */
static void test_ways(struct rig *rig, int count, char **ways)
{
	struct side *side = NULL;

	for (int i = 0; i + 1 < count; i += 2) {
		if (side)
			side_close(side);
		side = side_open(rig, IBV_QPT_RC);
		reach(rig, side, ways[i], ways[i + 1]);
	}
	tap_ok(rig_send(side, side, NULL), "bytes go that way");
	side_close(side);
}

/* Without arguments the port itself; with arguments the ways to peers, which way.t has made. */
int main(int argc, char **argv)
{
	struct rig rig = rig_open();

	if (argc > 2) {
		test_ways(&rig, argc - 1, argv + 1);
	} else {
		test_query(&rig);
		test_gids(&rig);
		test_choose(&rig);
		test_pkey(&rig);
	}
	rig_close(&rig);
	return tap_done();
}
