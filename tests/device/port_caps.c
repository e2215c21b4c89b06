/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez says of a real port and its tables, against ibv_query_port() and the kernel's files below
 * /sys/class/infiniband.
 */
#define _POSIX_C_SOURCE 200809L
#include <rdmaez/port_caps.h>

#include "rig.h"

enum {
	ROWS = 64
};

/* A line of a file of the port; "" where there is none. */
static const char *from_sysfs(struct rig *rig, const char *name)
{
	static char line[128];
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s",
		 ibv_get_device_name(rig->context->device), name);
	line[0] = '\0';
	file = fopen(path, "r");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* The number that such a line begins with; a base of 0 takes what has 0x for hexadecimal. */
static long long number_from_sysfs(struct rig *rig, const char *name, int base)
{
	return strtoll(from_sysfs(rig, name), NULL, base);
}

static struct rdmaez_port_caps ask(struct rig *rig)
{
	struct rdmaez_port_caps caps;
	struct rdmaez_diag diag;

	memset(&caps, 0xa5, sizeof(caps));
	if (!tap_eq_int(rdmaez_port_caps_query(rig->context, 1, &caps, &diag), 0,
			"port 1 is asked"))
		tap_bail("there is nothing to look at");
	tap_eq_count(&diag, 0, "the record has nothing to tell");
	tap_eq_str(diag.device, ibv_get_device_name(rig->context->device), "but the device");
	return caps;
}

/* Every field of the struct, under its own name. */
static void test_verbs(struct rig *rig, const struct rdmaez_port_caps *caps)
{
#define SAME(member) \
	tap_eq_int(caps->member, rig->port.member, "%s is that of ibv_query_port()", #member)
	SAME(state);
	SAME(max_mtu);
	SAME(active_mtu);
	SAME(gid_tbl_len);
	SAME(port_cap_flags);
	SAME(max_msg_sz);
	SAME(bad_pkey_cntr);
	SAME(qkey_viol_cntr);
	SAME(pkey_tbl_len);
	SAME(lid);
	SAME(sm_lid);
	SAME(lmc);
	SAME(max_vl_num);
	SAME(sm_sl);
	SAME(subnet_timeout);
	SAME(init_type_reply);
	SAME(active_width);
	SAME(active_speed);
	SAME(phys_state);
	SAME(link_layer);
	SAME(flags);
	SAME(port_cap_flags2);
#undef SAME
	tap_eq_int(caps->port, 1, "it is port 1");
	tap_ok(caps->needs_grh, "which is RoCE");
	tap_eq_hex(caps->flags, IBV_QPF_GRH_REQUIRED, "and says itself that it needs a GRH");
}

/* What rxe does not have is a no: this kernel is new enough to be believed. */
static void test_answers(const struct rdmaez_port_caps *caps)
{
	static const enum rdmaez_port_caps_id yes[] = {
		RDMAEZ_PORT_CAPS_STATE, RDMAEZ_PORT_CAPS_FLAGS, RDMAEZ_PORT_CAPS_RATE_KBPS,
		RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS, RDMAEZ_PORT_CAPS_GID_TBL_LEN};
	static const enum rdmaez_port_caps_id no[] = {RDMAEZ_PORT_CAPS_LID, RDMAEZ_PORT_CAPS_SM_LID,
						      RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS2};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		tap_eq_int(rdmaez_caps_answer(rdmaez_port_caps_fields(caps), yes[i]),
			   RDMAEZ_ANSWER_YES, "%s: yes",
			   rdmaez_port_caps_fields(NULL).fields[yes[i]].name);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		tap_eq_int(rdmaez_caps_answer(rdmaez_port_caps_fields(caps), no[i]),
			   RDMAEZ_ANSWER_NO, "%s: no",
			   rdmaez_port_caps_fields(NULL).fields[no[i]].name);
}

/* The kernel's files: "4: ACTIVE", "10 Gb/sec (4X SDR)", "0x0". */
static void test_sysfs(struct rig *rig, const struct rdmaez_port_caps *caps)
{
	const char *rate = from_sysfs(rig, "rate");
	const char *shape = strchr(rate, '(');
	char ours[64];

	tap_diag("the kernel's rate: %s", rate);
	tap_eq_int(caps->rate_kbps, strtod(rate, NULL) * 1000000, "the rate is the kernel's");
	snprintf(ours, sizeof(ours), "(%uX ", caps->lanes);
	tap_ok(shape && strncmp(shape, ours, strlen(ours)) == 0, "on as many lanes: %s", ours);
	tap_eq_int(caps->state, number_from_sysfs(rig, "state", 10), "the state is");
	tap_eq_int(caps->phys_state, number_from_sysfs(rig, "phys_state", 10),
		   "the physical state is");
	tap_eq_hex(caps->port_cap_flags, number_from_sysfs(rig, "cap_mask", 16),
		   "the capabilities are");
	tap_eq_int(caps->lid, number_from_sysfs(rig, "lid", 16), "the LID is");
	tap_eq_int(caps->sm_lid, number_from_sysfs(rig, "sm_lid", 16), "the SM's LID is");
	tap_eq_int(caps->lmc, number_from_sysfs(rig, "lid_mask_count", 10), "the LMC is");
	tap_eq_int(caps->sm_sl, number_from_sysfs(rig, "sm_sl", 10), "the SM's SL is");
	tap_eq_str(rdmaez_link_layer_str(caps->link_layer), from_sysfs(rig, "link_layer"),
		   "the link layer is");
}

static void test_pkeys(struct rig *rig)
{
	struct rdmaez_pkey_entry rows[ROWS];
	struct rdmaez_diag diag;
	size_t count = 0, filled = 0;
	char name[32];

	tap_eq_int(rdmaez_port_pkeys(rig->context, 1, rows, ROWS, &count, &diag), 0,
		   "the P_Key table");
	for (int i = 0; i < rig->port.pkey_tbl_len; i++) {
		snprintf(name, sizeof(name), "pkeys/%d", i);
		filled += (number_from_sysfs(rig, name, 16) & 0x7fff) != 0;
	}
	tap_eq_int(count, filled, "has the rows that the kernel's files show");
	tap_ok(count >= 1 && count <= ROWS, "one at least");
	for (size_t i = 0; i < count && i < ROWS; i++) {
		snprintf(name, sizeof(name), "pkeys/%u", rows[i].pkey_index);
		tap_eq_hex(rows[i].pkey, number_from_sysfs(rig, name, 16), "row %u is the kernel's",
			   rows[i].pkey_index);
	}
	tap_eq_hex(rows[0].pkey, 0xffff, "the first is the default partition");
	tap_eq_int(rdmaez_port_pkeys(rig->context, 2, rows, ROWS, &count, &diag), EINVAL,
		   "there is no port 2");
	tap_eq_str(rdmaez_why_id(diag.finding[0].reason), rdmaez_why_id(RDMAEZ_WHY_PORT),
		   "which is told");
}

/* Each GID with its interface, in text and JSON; the interface's name is that of the kernel's file. */
static void test_tables(struct rig *rig, const struct rdmaez_port_caps *caps)
{
	static char text[16384], json[16384];
	struct rdmaez_pkey_entry pkeys[ROWS];
	struct ibv_gid_entry gids[ROWS];
	struct rdmaez_port_tables tables = {0};
	char line[160], gid[RDMAEZ_GID_TEXT], name[40];

	if (rdmaez_port_gids(rig->context, 1, gids, ROWS, &tables.gid_count, NULL) ||
	    rdmaez_port_pkeys(rig->context, 1, pkeys, ROWS, &tables.pkey_count, NULL))
		tap_bail("cannot list the tables");
	tables.gids = gids;
	tables.pkeys = pkeys;
	tap_ok(rdmaez_port_caps_format(caps, &tables, text, sizeof(text)) < (int)sizeof(text),
	       "the text is whole");
	tap_ok(rdmaez_port_caps_json(caps, &tables, json, sizeof(json)) < (int)sizeof(json),
	       "so is the JSON");
	for (size_t i = 0; i < tables.gid_count; i++) {
		const unsigned int index = gids[i].gid_index;
		const char *ndev;

		snprintf(name, sizeof(name), "gid_attrs/ndevs/%u", index);
		ndev = from_sysfs(rig, name);
		rdmaez_gid_format(&gids[i].gid, gid, sizeof(gid));
		snprintf(name, sizeof(name), "gid[%u]", index);
		snprintf(line, sizeof(line), "\n  %-30s  %s, RoCE v2, %s\n", name, gid, ndev);
		tap_ok(*ndev && strstr(text, line), "row %u in the text, of %s", index, ndev);
		snprintf(line, sizeof(line), "\"gid\":\"%s\",\"gid_type\":2,", gid);
		tap_ok(strstr(json, line), "row %u in the JSON", index);
		snprintf(line, sizeof(line), "\"ndev_ifindex\":%u,\"ndev_name\":\"%s\"}",
			 gids[i].ndev_ifindex, ndev);
		tap_ok(strstr(json, line), "row %u with its interface", index);
	}
	tap_ok(strstr(text, "  0xffff, full member\n"), "the P_Key is in the text");
	tap_ok(strstr(json, "\"pkeys\":[{\"pkey_index\":0,\"pkey\":65535,\"full\":true}"),
	       "and in the JSON");
}

static void test_refused(struct rig *rig)
{
	struct rdmaez_port_caps caps, unchanged;
	struct rdmaez_diag diag;

	memset(&caps, 0xa5, sizeof(caps));
	unchanged = caps;
	tap_eq_int(rdmaez_port_caps_query(rig->context, 2, &caps, &diag), EINVAL, "no port 2");
	tap_eq_str(rdmaez_why_id(diag.finding[0].reason), rdmaez_why_id(RDMAEZ_WHY_PORT),
		   "which is the reason");
	tap_eq_int(diag.finding[0].max, 1, "the last port is named");
	tap_ok(memcmp(&caps, &unchanged, sizeof(caps)) == 0, "and nothing is written");
}

int main(void)
{
	struct rig rig = rig_open();
	const struct rdmaez_port_caps caps = ask(&rig);

	test_verbs(&rig, &caps);
	test_answers(&caps);
	test_sysfs(&rig, &caps);
	test_pkeys(&rig);
	test_tables(&rig, &caps);
	test_refused(&rig);
	rig_close(&rig);
	return tap_done();
}
