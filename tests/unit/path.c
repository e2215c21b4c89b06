/* SPDX-License-Identifier: MIT */
/* struct rdmaez_path to struct ibv_ah_attr: the GRH where it belongs, and every field's range. */
#include <limits.h>

#include "check.h"

static struct ibv_port_attr port_of(uint8_t link_layer, uint8_t flags)
{
	struct ibv_port_attr port;

	memset(&port, 0, sizeof(port));
	port.link_layer = link_layer;
	port.flags = flags;
	port.gid_tbl_len = 16;
	return port;
}

static struct rdmaez_path path_to(const char *dgid, uint16_t dlid)
{
	struct rdmaez_path path;

	memset(&path, 0, sizeof(path));
	path.dgid = gid_of(dgid);
	path.dlid = dlid;
	return path;
}

/* What a path becomes. The output must be all of `want`, or untouched where `reason` is set. */
static void check(const struct rdmaez_path *path, int port_num, const struct ibv_port_attr *port,
		  const struct ibv_ah_attr *want, enum rdmaez_why reason, const char *field,
		  const char *name)
{
	struct rdmaez_diag diag;
	struct ibv_ah_attr ah, untouched;
	int error;

	memset(&untouched, 0xa5, sizeof(untouched));
	ah = untouched;
	error = rdmaez_path_ah_attr(path, port_num, port, &ah, &diag);
	tap_eq_str(diag.call, "rdmaez_path_ah_attr", "%s: the record names the call", name);
	if (want)
		check_success(&diag, error, "%s", name);
	else
		check_refusal(&diag, error, EINVAL, reason, field, "%s", name);
	tap_eq_str(ah_difference(&ah, want ? want : &untouched), NULL, "%s: the output %s", name,
		   want ? "is right" : "is untouched");
	ah = untouched;
	tap_eq_int(rdmaez_path_ah_attr(path, port_num, port, &ah, NULL), error,
		   "%s: no record changes nothing", name);
	tap_eq_str(ah_difference(&ah, want ? want : &untouched), NULL,
		   "%s: nor does it in the output", name);
}

static void check_grh(void)
{
	const struct ibv_port_attr ethernet = port_of(IBV_LINK_LAYER_ETHERNET, 0);
	const struct ibv_port_attr roce = port_of(IBV_LINK_LAYER_ETHERNET, IBV_QPF_GRH_REQUIRED);
	const struct ibv_port_attr ib = port_of(IBV_LINK_LAYER_INFINIBAND, 0);
	const struct ibv_port_attr virtual_ib =
		port_of(IBV_LINK_LAYER_INFINIBAND, IBV_QPF_GRH_REQUIRED);
	const struct ibv_port_attr other_flags =
		port_of(IBV_LINK_LAYER_INFINIBAND, (uint8_t)~IBV_QPF_GRH_REQUIRED);
	const struct ibv_port_attr unspecified = port_of(IBV_LINK_LAYER_UNSPECIFIED, 0);
	const struct rdmaez_path both = path_to("2001:db8::2", 0x1234);
	const struct rdmaez_path lid = path_to("::", 0x1234);
	const struct rdmaez_path gid = path_to("2001:db8::2", 0);
	const struct rdmaez_path nowhere = path_to("::", 0);
	struct rdmaez_path forced = both;
	struct ibv_ah_attr local, global, routed;

	memset(&local, 0, sizeof(local));
	local.dlid = 0x1234;
	local.port_num = 1;
	global = local;
	global.is_global = 1;
	global.grh.dgid = both.dgid;
	global.grh.hop_limit = 64;
	routed = global;
	routed.dlid = 0;

	tap_ok(rdmaez_path_needs_grh(&ethernet), "an Ethernet port needs a GRH");
	tap_ok(rdmaez_path_needs_grh(&roce), "and if it says so itself");
	tap_ok(rdmaez_path_needs_grh(&virtual_ib), "an InfiniBand port that says so needs one");
	tap_ok(!rdmaez_path_needs_grh(&ib), "another InfiniBand port does not");
	tap_ok(!rdmaez_path_needs_grh(&other_flags), "whatever its other flags");
	tap_ok(!rdmaez_path_needs_grh(&unspecified), "nor does a port of no link layer");

	check(&both, 1, &ib, &local, RDMAEZ_WHY_NONE, NULL,
	      "InfiniBand gets no GRH even where a dgid is known");
	check(&lid, 1, &ib, &local, RDMAEZ_WHY_NONE, NULL, "InfiniBand with a dlid alone");
	check(&gid, 1, &ib, NULL, RDMAEZ_WHY_PATH_EMPTY, "ah_attr.dlid",
	      "InfiniBand without a GRH needs a dlid");
	check(&both, 1, &virtual_ib, &global, RDMAEZ_WHY_NONE, NULL,
	      "InfiniBand that demands a GRH gets one");
	check(&lid, 1, &virtual_ib, NULL, RDMAEZ_WHY_GRH_MISSING, "ah_attr.grh.dgid",
	      "InfiniBand that demands a GRH, without a dgid");
	check(&both, 1, &other_flags, &local, RDMAEZ_WHY_NONE, NULL,
	      "other port flags demand no GRH");
	check(&gid, 1, &ethernet, &routed, RDMAEZ_WHY_NONE, NULL,
	      "Ethernet gets a GRH without the port's flag");
	check(&gid, 1, &roce, &routed, RDMAEZ_WHY_NONE, NULL,
	      "Ethernet gets a GRH with the port's flag");
	check(&lid, 1, &ethernet, NULL, RDMAEZ_WHY_GRH_MISSING, "ah_attr.grh.dgid",
	      "Ethernet without a dgid");
	check(&gid, 1, NULL, &routed, RDMAEZ_WHY_NONE, NULL,
	      "an unknown port gets a GRH where there is a dgid");
	check(&both, 1, NULL, &global, RDMAEZ_WHY_NONE, NULL, "an unknown port gets both");
	check(&lid, 1, NULL, &local, RDMAEZ_WHY_NONE, NULL,
	      "an unknown port gets no GRH without a dgid");

	forced.flags = RDMAEZ_PATH_GRH;
	check(&forced, 1, &ib, &global, RDMAEZ_WHY_NONE, NULL,
	      "RDMAEZ_PATH_GRH adds one on InfiniBand");
	forced = gid;
	forced.flags = RDMAEZ_PATH_GRH;
	check(&forced, 1, &ib, &routed, RDMAEZ_WHY_NONE, NULL,
	      "with RDMAEZ_PATH_GRH the dlid may be 0");
	forced = lid;
	forced.flags = RDMAEZ_PATH_GRH;
	check(&forced, 1, &ib, NULL, RDMAEZ_WHY_GRH_MISSING, "ah_attr.grh.dgid",
	      "RDMAEZ_PATH_GRH without a dgid");
	check(&forced, 1, NULL, NULL, RDMAEZ_WHY_GRH_MISSING, "ah_attr.grh.dgid",
	      "RDMAEZ_PATH_GRH without a dgid or a port");

	check(&nowhere, 1, NULL, NULL, RDMAEZ_WHY_PATH_EMPTY, "ah_attr.grh.dgid",
	      "no destination, no port");
	check(&nowhere, 1, &ethernet, NULL, RDMAEZ_WHY_PATH_EMPTY, "ah_attr.grh.dgid",
	      "no destination on Ethernet");
	check(&nowhere, 1, &ib, NULL, RDMAEZ_WHY_PATH_EMPTY, "ah_attr.grh.dgid",
	      "no destination on InfiniBand");
}

/* One option of a path: where it is, in struct rdmaez_path and in struct ibv_ah_attr. */
enum option {
	SL,
	SRC_PATH_BITS,
	STATIC_RATE,
	SGID_INDEX,
	HOP_LIMIT,
	FLOW_LABEL,
	TRAFFIC_CLASS
};

static void set(struct rdmaez_path *path, enum option option, int64_t value)
{
	switch (option) {
	case SL:
		path->sl = (uint8_t)value;
		break;
	case SRC_PATH_BITS:
		path->src_path_bits = (uint8_t)value;
		break;
	case STATIC_RATE:
		path->static_rate = (uint8_t)value;
		break;
	case SGID_INDEX:
		path->sgid_index = (int)value;
		break;
	case HOP_LIMIT:
		path->hop_limit = (int)value;
		break;
	case FLOW_LABEL:
		path->flow_label = (uint32_t)value;
		break;
	case TRAFFIC_CLASS:
		path->traffic_class = (int)value;
		break;
	}
}

static void expect(struct ibv_ah_attr *ah, enum option option, int64_t value)
{
	switch (option) {
	case SL:
		ah->sl = (uint8_t)value;
		break;
	case SRC_PATH_BITS:
		ah->src_path_bits = (uint8_t)value;
		break;
	case STATIC_RATE:
		ah->static_rate = (uint8_t)value;
		break;
	case SGID_INDEX:
		ah->grh.sgid_index = (uint8_t)value;
		break;
	case HOP_LIMIT:
		ah->grh.hop_limit = (uint8_t)value;
		break;
	case FLOW_LABEL:
		ah->grh.flow_label = (uint32_t)value;
		break;
	case TRAFFIC_CLASS:
		ah->grh.traffic_class = (uint8_t)value;
		break;
	}
}

static void check_ranges(void)
{
	static const struct {
		const char *field;
		enum option option;
		int64_t given, becomes; /* -1: it is refused */
		int64_t min, max;
	} values[] = {
		{"ah_attr.sl", SL, 0, 0, 0, 15},
		{"ah_attr.sl", SL, 15, 15, 0, 15},
		{"ah_attr.sl", SL, 16, -1, 0, 15},
		{"ah_attr.sl", SL, 255, -1, 0, 15},
		{"ah_attr.src_path_bits", SRC_PATH_BITS, 127, 127, 0, 127},
		{"ah_attr.src_path_bits", SRC_PATH_BITS, 128, -1, 0, 127},
		{"ah_attr.src_path_bits", SRC_PATH_BITS, 255, -1, 0, 127},
		{"ah_attr.static_rate", STATIC_RATE, 255, 255, 0, 255},
		{"ah_attr.grh.sgid_index", SGID_INDEX, 0, 0, 0, 15},
		{"ah_attr.grh.sgid_index", SGID_INDEX, RDMAEZ_ZERO, 0, 0, 15},
		{"ah_attr.grh.sgid_index", SGID_INDEX, 1, 1, 0, 15},
		{"ah_attr.grh.sgid_index", SGID_INDEX, 15, 15, 0, 15},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, 0, 64, 1, 255},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, RDMAEZ_ZERO, -1, 1, 255},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, 1, 1, 1, 255},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, 255, 255, 1, 255},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, 256, -1, 1, 255},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, -1, -1, 1, 255},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, INT_MIN, -1, 1, 255},
		{"ah_attr.grh.hop_limit", HOP_LIMIT, INT_MAX, -1, 1, 255},
		{"ah_attr.grh.flow_label", FLOW_LABEL, 0, 0, 0, 0xfffff},
		{"ah_attr.grh.flow_label", FLOW_LABEL, 0xfffff, 0xfffff, 0, 0xfffff},
		{"ah_attr.grh.flow_label", FLOW_LABEL, 0x100000, -1, 0, 0xfffff},
		{"ah_attr.grh.flow_label", FLOW_LABEL, UINT32_MAX, -1, 0, 0xfffff},
		{"ah_attr.grh.traffic_class", TRAFFIC_CLASS, 0, 0, 0, 255},
		{"ah_attr.grh.traffic_class", TRAFFIC_CLASS, 255, 255, 0, 255},
		{"ah_attr.grh.traffic_class", TRAFFIC_CLASS, 256, -1, 0, 255},
		{"ah_attr.grh.traffic_class", TRAFFIC_CLASS, -1, -1, 0, 255},
		{"ah_attr.grh.traffic_class", TRAFFIC_CLASS, INT_MIN, -1, 0, 255},
	};
	const struct ibv_port_attr port = port_of(IBV_LINK_LAYER_ETHERNET, IBV_QPF_GRH_REQUIRED);

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct rdmaez_path path = path_to("::ffff:192.0.2.9", 0);
		struct ibv_ah_attr want;
		struct rdmaez_diag diag;
		char name[80];

		memset(&want, 0, sizeof(want));
		want.is_global = 1;
		want.grh.dgid = path.dgid;
		want.grh.hop_limit = 64;
		want.port_num = 255;
		set(&path, values[i].option, values[i].given);
		expect(&want, values[i].option, values[i].becomes);
		snprintf(name, sizeof(name), "%s of %lld", values[i].field,
			 (long long)values[i].given);
		check(&path, 255, &port, values[i].becomes < 0 ? NULL : &want, RDMAEZ_WHY_RANGE,
		      values[i].field, name);
		if (values[i].becomes >= 0)
			continue;
		rdmaez_path_ah_attr(&path, 255, &port, &want, &diag);
		tap_eq_int((int64_t)diag.finding[0].value,
			   values[i].given == RDMAEZ_ZERO ? 0 : values[i].given,
			   "%s: the value given", name);
		tap_eq_int(diag.finding[0].kind,
			   values[i].option == FLOW_LABEL ? RDMAEZ_VALUE_HEX : RDMAEZ_VALUE_NUMBER,
			   "%s: is a number, a flow label in hexadecimal", name);
		tap_eq_int(diag.finding[0].min, values[i].min, "%s: the least accepted", name);
		tap_eq_int(diag.finding[0].max, values[i].max, "%s: the greatest accepted", name);
	}
}

static void check_ports(void)
{
	static const int ports[] = {INT_MIN, -1, 0, 256, 65537, INT_MAX};
	const struct rdmaez_path path = path_to("::", 9);
	struct ibv_ah_attr want;

	memset(&want, 0, sizeof(want));
	want.dlid = 9;
	want.port_num = 1;
	check(&path, 1, NULL, &want, RDMAEZ_WHY_NONE, NULL, "port 1");
	want.port_num = 255;
	check(&path, 255, NULL, &want, RDMAEZ_WHY_NONE, NULL, "port 255");
	for (size_t i = 0; i < COUNT_OF(ports); i++) {
		char name[40];

		snprintf(name, sizeof(name), "port %d", ports[i]);
		check(&path, ports[i], NULL, NULL, RDMAEZ_WHY_RANGE, "ah_attr.port_num", name);
	}
}

/* The row must lie in the port's table, and in the eight bits of the field. */
static void check_gid_rows(void)
{
	static const struct {
		int rows; /* -1: the port is unknown */
		int row;
		int last; /* the greatest row accepted */
	} cases[] = {{16, 15, 15},      {16, 16, 15},     {16, 255, 15},     {16, 256, 15},
		     {16, -1, 15},      {1, 1, 0},        {255, 254, 254},   {255, 255, 254},
		     {256, 255, 255},   {256, 256, 255},  {257, 255, 255},   {257, 256, 255},
		     {1024, 255, 255},  {1024, 256, 255}, {1024, 1023, 255}, {0, 1, -1},
		     {-1, 255, 255},    {-1, 256, 255},   {-1, -1, 255},     {-1, INT_MIN, 255},
		     {-1, INT_MAX, 255}};
	struct rdmaez_path path = path_to("::ffff:192.0.2.9", 0);
	struct rdmaez_diag diag;
	struct ibv_ah_attr want, ah;

	memset(&want, 0, sizeof(want));
	want.is_global = 1;
	want.grh.dgid = path.dgid;
	want.grh.hop_limit = 64;
	want.port_num = 1;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const bool fits = cases[i].row >= 0 && cases[i].row <= cases[i].last;
		struct ibv_port_attr port = port_of(IBV_LINK_LAYER_ETHERNET, 0);
		char name[80];

		port.gid_tbl_len = cases[i].rows;
		path.sgid_index = cases[i].row;
		want.grh.sgid_index = (uint8_t)cases[i].row;
		snprintf(name, sizeof(name), "row %d of a table of %d", cases[i].row,
			 cases[i].rows);
		check(&path, 1, cases[i].rows < 0 ? NULL : &port, fits ? &want : NULL,
		      RDMAEZ_WHY_GID_INDEX, "ah_attr.grh.sgid_index", name);
		if (fits)
			continue;
		rdmaez_path_ah_attr(&path, 1, cases[i].rows < 0 ? NULL : &port, &ah, &diag);
		tap_eq_int((int64_t)diag.finding[0].value, cases[i].row, "%s: the row given", name);
		tap_eq_int((int64_t)diag.finding[0].min, 0, "%s: the first accepted", name);
		tap_eq_int((int64_t)diag.finding[0].max, cases[i].last, "%s: the last accepted",
			   name);
	}
}

/* Without a GRH nothing in it counts, so nothing in it can be wrong. */
static void check_unused(void)
{
	const struct ibv_port_attr ib = port_of(IBV_LINK_LAYER_INFINIBAND, 0);
	struct rdmaez_path path = path_to("2001:db8::2", 3);
	struct ibv_ah_attr want;

	path.sgid_index = 999;
	path.hop_limit = 999;
	path.flow_label = UINT32_MAX;
	path.traffic_class = -1;
	memset(&want, 0, sizeof(want));
	want.dlid = 3;
	want.port_num = 2;
	check(&path, 2, &ib, &want, RDMAEZ_WHY_NONE, NULL, "what is in an unused GRH");
}

static void check_explanations(void)
{
	struct rdmaez_path path = path_to("::ffff:192.0.2.9", 0);
	struct rdmaez_diag diag;
	struct ibv_ah_attr ah;

	check_refusal(&diag, rdmaez_path_ah_attr(NULL, 1, NULL, &ah, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "path", "there must be a path");
	check_refusal(&diag, rdmaez_path_ah_attr(&path, 1, NULL, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "ah", "there must be an output");
	tap_eq_int(rdmaez_path_ah_attr(NULL, 1, NULL, NULL, NULL), EINVAL,
		   "nothing at all is refused as well");

	for (int bit = 1; bit < 32; bit++) {
		path.flags = 1u << bit | RDMAEZ_PATH_GRH;
		check_refusal(&diag, rdmaez_path_ah_attr(&path, 1, NULL, &ah, &diag), EINVAL,
			      RDMAEZ_WHY_OPTION_UNKNOWN, "path.flags", "path flag bit %d", bit);
		tap_eq_hex(diag.finding[0].value, 1u << bit, "that bit is named");
		tap_eq_hex(diag.finding[0].min, 0, "none need be there");
		tap_eq_hex(diag.finding[0].max, RDMAEZ_PATH_GRH, "and the one there is");
	}

	memset(&path, 0, sizeof(path));
	path.dgid = gid_of("::1");
	path.flags = 0x80;
	path.sl = 16;
	path.src_path_bits = 128;
	path.sgid_index = 300;
	path.hop_limit = 256;
	path.flow_label = 0x100000;
	path.traffic_class = 256;
	tap_eq_int(rdmaez_path_ah_attr(&path, 0, NULL, &ah, &diag), EINVAL, "all is wrong");
	tap_eq_count(&diag, 8, "and all is told");
	tap_eq_str(diag.device, "", "no device is involved");
	tap_eq_int(diag.qp_num, 0, "nor a queue pair");
	tap_eq_int(diag.qp_type, 0, "nor a type");
	tap_eq_int(diag.from, -1, "nor a state to come from");
	tap_eq_int(diag.to, -1, "nor one to go to");
}

/* The DSCP stands above the two ECN bits; one that is too great is refused, not cut. */
static void check_dscp(void)
{
	static const struct {
		int dscp, traffic_class;
	} cases[] = {{0, 0}, {1, 4}, {26, 104}, {63, 252}, {64, -1}};
	const struct ibv_port_attr roce = port_of(IBV_LINK_LAYER_ETHERNET, IBV_QPF_GRH_REQUIRED);
	struct rdmaez_path path = path_to("2001:db8::2", 0);
	struct ibv_ah_attr ah;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const bool fits = cases[i].traffic_class >= 0;

		path.traffic_class = RDMAEZ_PATH_DSCP(cases[i].dscp);
		memset(&ah, 0, sizeof(ah));
		tap_eq_int(rdmaez_path_ah_attr(&path, 1, &roce, &ah, NULL), fits ? 0 : EINVAL,
			   "DSCP %d is %s", cases[i].dscp, fits ? "taken" : "refused");
		tap_eq_int(ah.grh.traffic_class, fits ? cases[i].traffic_class : 0,
			   "as a traffic class");
	}
	tap_eq_int(RDMAEZ_PATH_DSCP(1 | 2), 12, "an expression is one operand");
}

int main(void)
{
	check_grh();
	check_ranges();
	check_ports();
	check_gid_rows();
	check_unused();
	check_explanations();
	check_dscp();
	return tap_done();
}
