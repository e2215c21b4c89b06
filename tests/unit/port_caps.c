/* SPDX-License-Identifier: MIT */
/* What a port reports: decoded, asked for, written as text and as JSON. */
/* The kernel's release and the names of network interfaces, as the headers below see them. */
#define uname          test_uname
#define if_indextoname test_if_indextoname
#include <net/if.h>

#include "check.h"
#include <rdmaez/implementation.h>
#include "findings.h"

static const char *release = "6.1.0";

int test_uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	snprintf(name->sysname, sizeof(name->sysname), "Linux");
	snprintf(name->release, sizeof(name->release), "%s", release);
	return 0;
}

/* Interface 7 has a name that needs care in JSON; interface 9 is gone. */
char *test_if_indextoname(unsigned int ifindex, char name[IF_NAMESIZE])
{
	if (ifindex == 9)
		return NULL;
	snprintf(name, IF_NAMESIZE, ifindex == 7 ? "e\"%u" : "eth%u", ifindex);
	return name;
}

#ifdef IBV_DEVICE_CC_DMA_BOUNCE /* the landmark by which the headers know the verb */
static struct {
	int error;
	uint64_t speed;
	uint32_t port_num;
} speed_verb;

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_num, uint64_t *port_speed)
{
	(void)context;
	speed_verb.port_num = port_num;
	*port_speed = speed_verb.speed;
	return speed_verb.error;
}
#endif

/* ibv_port_attr with room behind it, as rdma-core 49 and newer have it, and older ones have not. */
enum {
	OLD_SIZE = 52,
	NEW_SIZE = 56
};

static union {
	struct ibv_port_attr attr;
	uint32_t words[NEW_SIZE / 4];
} port;

static struct rdmaez_port_caps caps;

/* What is written down about a field. */
static const struct rdmaez_caps_field *port_field(unsigned int id)
{
	return &rdmaez_port_caps_fields(NULL).fields[id];
}

static void decode(size_t size, int last)
{
	memset(&caps, 0xa5, sizeof(caps));
	rdmaez_impl_port_caps_decode(&port.attr, size, last, &caps);
}

/* A different value in every field, each with a meaning where it is a code. */
static void fill(void)
{
	memset(&port, 0, sizeof(port));
	port.attr.state = IBV_PORT_ARMED;
	port.attr.max_mtu = IBV_MTU_4096;
	port.attr.active_mtu = IBV_MTU_512;
	port.attr.gid_tbl_len = 101;
	port.attr.port_cap_flags = 0x84010002;
	port.attr.max_msg_sz = 103 * 1024;
	port.attr.bad_pkey_cntr = 104;
	port.attr.qkey_viol_cntr = 105;
	port.attr.pkey_tbl_len = 1106;
	port.attr.lid = 1107;
	port.attr.sm_lid = 1108;
	port.attr.lmc = 109;
	port.attr.max_vl_num = 4;
	port.attr.sm_sl = 111;
	port.attr.subnet_timeout = 19;
	port.attr.init_type_reply = 113;
	port.attr.active_width = 8;
	port.attr.active_speed = 128;
	port.attr.phys_state = 6;
	port.attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	port.attr.flags = IBV_QPF_GRH_REQUIRED;
	port.attr.port_cap_flags2 = 0x8401;
	port.words[OLD_SIZE / 4] = 256;
}

/* ---- The fields --------------------------------------------------------------------------- */

struct expected_field {
	enum rdmaez_port_caps_id id;
	const char *name;
	const char *group;
	enum rdmaez_caps_merge merge;
	uint64_t value;
};

#define FIELD(id, name, group, merge, value) \
	{RDMAEZ_PORT_CAPS_##id, name, group, RDMAEZ_MERGE_##merge, value}

/* What fill() gives, in the order in which it is shown. */
static const struct expected_field filled[] = {
	FIELD(PORT, "port", "port", SAME, 0),
	FIELD(STATE, "state", "port", SAME, 3),
	FIELD(PHYS_STATE, "phys_state", "port", SAME, 6),
	FIELD(LINK_LAYER, "link_layer", "port", SAME, 1),
	FIELD(FLAGS, "flags", "port", BITS, 1),
	FIELD(NEEDS_GRH, "needs_grh", "port", SAME, 1),
	FIELD(MAX_MTU, "max_mtu", "mtu", LEAST, 5),
	FIELD(MAX_MTU_BYTES, "max_mtu_bytes", "mtu", LEAST, 4096),
	FIELD(ACTIVE_MTU, "active_mtu", "mtu", LEAST, 2),
	FIELD(ACTIVE_MTU_BYTES, "active_mtu_bytes", "mtu", LEAST, 512),
	FIELD(MAX_MSG_SZ, "max_msg_sz", "mtu", LEAST, 103 * 1024),
	FIELD(ACTIVE_WIDTH, "active_width", "rate", SAME, 8),
	FIELD(LANES, "lanes", "rate", LEAST, 12),
	FIELD(ACTIVE_SPEED, "active_speed", "rate", SAME, 128),
	FIELD(ACTIVE_SPEED_EX, "active_speed_ex", "rate", SAME, 256),
	FIELD(RATE_KBPS, "rate_kbps", "rate", LEAST, 2400000000),
	FIELD(EFFECTIVE_RATE_KBPS, "effective_rate_kbps", "rate", LEAST, 0),
	FIELD(LID, "lid", "subnet", SAME, 1107),
	FIELD(LMC, "lmc", "subnet", SAME, 109),
	FIELD(SM_LID, "sm_lid", "subnet", SAME, 1108),
	FIELD(SM_SL, "sm_sl", "subnet", SAME, 111),
	FIELD(SUBNET_TIMEOUT, "subnet_timeout", "subnet", MOST, 19),
	FIELD(SUBNET_TIMEOUT_NS, "subnet_timeout_ns", "subnet", MOST, 2147483648),
	FIELD(INIT_TYPE_REPLY, "init_type_reply", "subnet", SAME, 113),
	FIELD(MAX_VL_NUM, "max_vl_num", "subnet", LEAST, 4),
	FIELD(GID_TBL_LEN, "gid_tbl_len", "tables", LEAST, 101),
	FIELD(PKEY_TBL_LEN, "pkey_tbl_len", "tables", LEAST, 1106),
	FIELD(BAD_PKEY_CNTR, "bad_pkey_cntr", "counters", SAME, 104),
	FIELD(QKEY_VIOL_CNTR, "qkey_viol_cntr", "counters", SAME, 105),
	FIELD(PORT_CAP_FLAGS, "port_cap_flags", "features", BITS, 0x84010002),
	FIELD(PORT_CAP_FLAGS2, "port_cap_flags2", "features", BITS, 0x8401),
};

/* Whether the JSON has this key with this value, and the next thing after it. */
static bool json_has(const char *json, const char *key, uint64_t value)
{
	char pair[96];
	const char *found;

	snprintf(pair, sizeof(pair), ",\"%s\":%llu", key, (unsigned long long)value);
	found = strstr(json, pair);
	return found && strchr(",}", found[strlen(pair)]);
}

static void check_fields(void)
{
	static char json[8192];
	struct rdmaez_caps_item item;

	fill();
	decode(NEW_SIZE, 0);
	rdmaez_port_caps_json(&caps, NULL, json, sizeof(json));
	tap_eq_int(COUNT_OF(filled), RDMAEZ_PORT_CAPS_ID_COUNT, "every field is looked at");
	for (size_t i = 0; i < COUNT_OF(filled); i++) {
		const struct expected_field *want = &filled[i];

		tap_eq_int(want->id, i, "%s has its place", want->name);
		tap_eq_int(rdmaez_caps_get(rdmaez_port_caps_fields(&caps), want->id, &item), 0,
			   "%s is a field", want->name);
		tap_eq_str(item.field->name, want->name, "%s is its name", want->name);
		tap_eq_str(item.field->group, want->group, "%s has its heading", want->name);
		tap_eq_int(item.field->merge, want->merge, "%s: how two compare", want->name);
		tap_ok(item.field == port_field(want->id), "%s is described", want->name);
		tap_ok(*item.field->what && item.field->what[strlen(item.field->what) - 1] != '.',
		       "%s: a sentence without its full stop", want->name);
		tap_eq_int(item.value, want->value, "%s has its value", want->name);
		tap_eq_str(item.text, "", "%s is no text", want->name);
		tap_eq_int(item.source, caps.source[i], "%s has its source", want->name);
		if (want->id != RDMAEZ_PORT_CAPS_NEEDS_GRH && want->value)
			tap_ok(json_has(json, want->name, want->value), "%s is in the JSON",
			       want->name);
	}
	tap_eq_int(caps.state, IBV_PORT_ARMED, "the members have the verbs names: state");
	tap_eq_int(caps.gid_tbl_len, 101, "gid_tbl_len");
	tap_eq_hex(caps.port_cap_flags, 0x84010002, "port_cap_flags");
	tap_eq_int(caps.rate_kbps, 2400000000, "rate_kbps");
}

static void check_access(void)
{
	static const int none[] = {-1, RDMAEZ_PORT_CAPS_ID_COUNT, 1000};
	struct rdmaez_caps_item item, untouched;

	fill();
	decode(NEW_SIZE, 0);
	tap_eq_int(rdmaez_port_caps_fields(&caps).count, RDMAEZ_PORT_CAPS_ID_COUNT,
		   "a row for each field");
	tap_eq_ptr(rdmaez_port_caps_fields(&caps).base, &caps, "and the port's values");
	tap_eq_ptr(rdmaez_port_caps_fields(NULL).base, NULL, "or none without a port");
	tap_eq_int(rdmaez_port_caps_fields(&caps).partial, RDMAEZ_PORT_CAPS_ID_COUNT,
		   "no set is told in part");
	tap_eq_hex(rdmaez_port_caps_fields(&caps).unreported, 0, "and no bit left out");
	memset(&untouched, 0xa5, sizeof(untouched));
	for (size_t i = 0; i < COUNT_OF(none); i++) {
		const unsigned int id = (unsigned int)none[i];

		item = untouched;
		tap_eq_int(rdmaez_caps_get(rdmaez_port_caps_fields(&caps), id, &item), EINVAL,
			   "%d is no field, and has no value", none[i]);
		tap_eq_int(memcmp(&item, &untouched, sizeof(item)), 0, "nothing was written");
		tap_eq_int(rdmaez_caps_answer(rdmaez_port_caps_fields(&caps), id),
			   RDMAEZ_ANSWER_UNKNOWN, "whether it is there is unknown");
	}
}

/* ---- What follows from a code ------------------------------------------------------------- */

static const struct {
	unsigned int code;
	unsigned int lanes;
} widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};

static const struct {
	uint32_t code;
	uint64_t kbps;
} speeds[] = {{1, 2500000},   {2, 5000000},   {4, 10000000},    {8, 10000000},   {16, 14062500},
	      {32, 25000000}, {64, 50000000}, {128, 100000000}, {256, 200000000}};

static unsigned int lanes_of(unsigned int width)
{
	for (size_t i = 0; i < COUNT_OF(widths); i++)
		if (widths[i].code == width)
			return widths[i].lanes;
	return 0;
}

static uint64_t kbps_of(uint32_t speed)
{
	for (size_t i = 0; i < COUNT_OF(speeds); i++)
		if (speeds[i].code == speed)
			return speeds[i].kbps;
	return 0;
}

/* Every pair of codes that the struct can hold, in the field of eight bits and in the wider one. */
static void check_rates(void)
{
	unsigned int wrong = 0;

	for (unsigned int width = 0; width < 512; width++)
		wrong += rdmaez_width_lanes(width) != lanes_of(width);
	tap_eq_int(wrong, 0, "every width has its lanes, and what is no width has none");
	for (uint32_t speed = 0; speed < 70000; speed++)
		wrong += rdmaez_speed_kbps(speed) != kbps_of(speed);
	tap_eq_int(wrong + (rdmaez_speed_kbps(UINT32_MAX) != 0), 0,
		   "every speed has its kbit/s, and what is no speed has none");
	fill();
	for (unsigned int width = 0; width < 256; width++)
		for (uint32_t speed = 0; speed < 256; speed++) {
			const uint64_t rate = lanes_of(width) * kbps_of(speed);

			port.attr.active_width = (uint8_t)width;
			port.attr.active_speed = (uint8_t)speed;
			port.words[OLD_SIZE / 4] = 0;
			decode(NEW_SIZE, 0);
			wrong += caps.rate_kbps != rate || caps.lanes != lanes_of(width);
			/* The wider field wins where it is told. */
			port.attr.active_speed = 1;
			port.words[OLD_SIZE / 4] = speed ? speed : 512;
			decode(NEW_SIZE, 0);
			wrong += caps.rate_kbps != rate;
		}
	tap_eq_int(wrong, 0, "every pair of width and speed has its rate");
	port.attr.active_width = 2;
	port.attr.active_speed = 128;
	port.words[OLD_SIZE / 4] = 256;
	decode(NEW_SIZE, 0);
	tap_eq_int(caps.rate_kbps, 800000000, "4X XDR is 800 Gbit/s");
	decode(OLD_SIZE, 0);
	tap_eq_int(caps.rate_kbps, 0, "which an old struct calls NDR, so it has no rate");
	tap_eq_int(caps.source[RDMAEZ_PORT_CAPS_RATE_KBPS], RDMAEZ_SOURCE_OLD_HEADER,
		   "and that is why");
	port.words[OLD_SIZE / 4] = 0;
	decode(NEW_SIZE, 0);
	tap_eq_int(caps.rate_kbps, 400000000, "4X NDR is 400 Gbit/s where there is room for more");
	port.attr.active_speed = 16;
	decode(OLD_SIZE, 0);
	tap_eq_int(caps.rate_kbps, 56250000, "4X FDR is 56.25 Gbit/s");
}

static void check_codes(void)
{
	static const unsigned int bytes[] = {0, 256, 512, 1024, 2048, 4096, 0, 0};
	int state = 0;

	for (int mtu = 0; mtu < 8; mtu++) {
		fill();
		memcpy(&port.attr.max_mtu, &mtu, sizeof(mtu));
		decode(OLD_SIZE, 0);
		tap_eq_int(caps.max_mtu, mtu, "max_mtu %d", mtu);
		tap_eq_int(caps.max_mtu_bytes, bytes[mtu], "max_mtu %d in bytes", mtu);
		tap_eq_int(caps.active_mtu_bytes, 512, "the other one is not touched");
		memcpy(&port.attr.active_mtu, &mtu, sizeof(mtu));
		decode(OLD_SIZE, 0);
		tap_eq_int(caps.active_mtu_bytes, bytes[mtu], "active_mtu %d in bytes", mtu);
		tap_eq_int(caps.source[RDMAEZ_PORT_CAPS_ACTIVE_MTU_BYTES],
			   bytes[mtu] ? RDMAEZ_SOURCE_DEVICE : RDMAEZ_SOURCE_DRIVER,
			   "active_mtu %d: where the bytes come from", mtu);
	}
	for (unsigned int timeout = 0; timeout < 256; timeout++) {
		port.attr.subnet_timeout = (uint8_t)timeout;
		decode(OLD_SIZE, 0);
		state += caps.subnet_timeout_ns != (timeout <= 31 ? 4096ull << timeout : 0);
	}
	tap_eq_int(state, 0, "every subnet timeout has its ns, none beyond 31");
	memset(&port, 0xff, sizeof(port));
	decode(NEW_SIZE, 0);
	tap_eq_int(caps.gid_tbl_len, -1, "a length below nothing stays what it is");
	tap_eq_int(caps.lanes + caps.rate_kbps + caps.max_mtu_bytes + caps.subnet_timeout_ns, 0,
		   "codes without a meaning have none");
	tap_eq_hex(caps.active_speed_ex, 0xffffffff, "but are there");
}

static void check_grh(void)
{
	static const struct {
		uint8_t link_layer, flags;
		bool needed;
	} cases[] = {{0, 0, false},    {0, 1, true}, {1, 0, false}, {1, 1, true},
		     {1, 0xfe, false}, {2, 0, true}, {2, 1, true},  {3, 0, false}};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		fill();
		port.attr.link_layer = cases[i].link_layer;
		port.attr.flags = cases[i].flags;
		decode(OLD_SIZE, 0);
		tap_eq_int(caps.needs_grh, cases[i].needed, "link layer %u with flags %#x",
			   cases[i].link_layer, cases[i].flags);
		tap_eq_int(caps.needs_grh, rdmaez_path_needs_grh(&port.attr),
			   "is judged as paths judge it");
	}
}

/* ---- Yes, no, and unknown --------------------------------------------------------------- */

static void check_source(enum rdmaez_port_caps_id id, enum rdmaez_caps_source source,
			 enum rdmaez_answer answer, const char *name)
{
	tap_eq_str(rdmaez_caps_source_id((enum rdmaez_caps_source)caps.source[id]),
		   rdmaez_caps_source_id(source), "%s: %s", name, port_field(id)->name);
	tap_eq_int(rdmaez_caps_answer(rdmaez_port_caps_fields(&caps), id), answer,
		   "%s: %s is answered so", name, port_field(id)->name);
}

#define SOURCE(id, source, answer, name) \
	check_source(RDMAEZ_PORT_CAPS_##id, RDMAEZ_SOURCE_##source, RDMAEZ_ANSWER_##answer, name)

static void check_silence(void)
{
	memset(&port, 0, sizeof(port));
	decode(OLD_SIZE, 0);
	SOURCE(PORT, NOT_ASKED, UNKNOWN, "zeros");
	SOURCE(EFFECTIVE_RATE_KBPS, NOT_ASKED, UNKNOWN, "zeros");
	SOURCE(STATE, DEVICE, NO, "zeros");
	SOURCE(LID, DEVICE, NO, "zeros");
	SOURCE(PORT_CAP_FLAGS, DEVICE, NO, "zeros");
	SOURCE(ACTIVE_WIDTH, DEVICE, NO, "zeros");
	SOURCE(LANES, DRIVER, UNKNOWN, "zeros");
	SOURCE(RATE_KBPS, DRIVER, UNKNOWN, "zeros");
	SOURCE(MAX_MTU_BYTES, DRIVER, UNKNOWN, "zeros");
	SOURCE(SUBNET_TIMEOUT_NS, DEVICE, YES, "zeros");
	SOURCE(FLAGS, OLD_KERNEL, UNKNOWN, "zeros");
	SOURCE(NEEDS_GRH, OLD_KERNEL, UNKNOWN, "zeros");
	SOURCE(PORT_CAP_FLAGS2, OLD_KERNEL, UNKNOWN, "zeros");
	SOURCE(ACTIVE_SPEED_EX, OLD_HEADER, UNKNOWN, "zeros in an old struct");
	decode(NEW_SIZE, 0);
	SOURCE(ACTIVE_SPEED_EX, OLD_KERNEL, UNKNOWN, "zeros in a new struct");

	decode(NEW_SIZE, RDMAEZ_IMPL_TOLD_PORT_FLAGS2);
	SOURCE(FLAGS, DEVICE, NO, "a kernel that tells both sets of flags");
	SOURCE(NEEDS_GRH, DEVICE, NO, "a kernel that tells both sets of flags");
	SOURCE(PORT_CAP_FLAGS2, DEVICE, NO, "a kernel that tells both sets of flags");
	SOURCE(ACTIVE_SPEED_EX, OLD_KERNEL, UNKNOWN, "a kernel that tells both sets of flags");

	/* An answer in a part shows that the kernel knows all parts before it. */
	port.attr.flags = IBV_QPF_GRH_REQUIRED;
	decode(NEW_SIZE, 0);
	SOURCE(FLAGS, DEVICE, YES, "flags are told");
	SOURCE(NEEDS_GRH, DEVICE, YES, "flags are told");
	SOURCE(PORT_CAP_FLAGS2, OLD_KERNEL, UNKNOWN, "flags are told");
	port.attr.flags = 0;
	port.attr.port_cap_flags2 = 1;
	decode(NEW_SIZE, 0);
	SOURCE(FLAGS, DEVICE, NO, "the second set is told");
	SOURCE(NEEDS_GRH, DEVICE, NO, "the second set is told");
	SOURCE(PORT_CAP_FLAGS2, DEVICE, YES, "the second set is told");
	SOURCE(ACTIVE_SPEED_EX, OLD_KERNEL, UNKNOWN, "the second set is told");
	port.attr.port_cap_flags2 = 0;
	port.words[OLD_SIZE / 4] = 32;
	decode(NEW_SIZE, 0);
	SOURCE(FLAGS, DEVICE, NO, "the wide speed is told");
	SOURCE(PORT_CAP_FLAGS2, DEVICE, NO, "the wide speed is told");
	SOURCE(ACTIVE_SPEED_EX, DEVICE, YES, "the wide speed is told");
	decode(OLD_SIZE, 0);
	tap_eq_int(caps.active_speed_ex, 0, "what lies behind an old struct is not read");
	SOURCE(FLAGS, OLD_KERNEL, UNKNOWN, "behind an old struct");

	/* Ethernet needs a GRH whatever the flags say. */
	port.words[OLD_SIZE / 4] = 0;
	port.attr.link_layer = IBV_LINK_LAYER_ETHERNET;
	decode(OLD_SIZE, 0);
	SOURCE(NEEDS_GRH, DEVICE, YES, "Ethernet with an old kernel");
	SOURCE(FLAGS, OLD_KERNEL, UNKNOWN, "Ethernet with an old kernel");
}

/* The public function knows the size of its own struct. */
static void check_own_size(void)
{
	const bool is_new = sizeof(port.attr) >= NEW_SIZE;

	tap_ok(sizeof(port.attr) == OLD_SIZE || sizeof(port.attr) == NEW_SIZE,
	       "the struct has one of the sizes that are known");
	fill();
	memset(&caps, 0xa5, sizeof(caps));
	rdmaez_port_caps_decode(&port.attr, &caps);
	tap_eq_int(caps.active_speed_ex, is_new ? 256 : 0, "the wide speed is read where it is");
	tap_eq_int(caps.source[RDMAEZ_PORT_CAPS_ACTIVE_SPEED_EX],
		   is_new ? RDMAEZ_SOURCE_DEVICE : RDMAEZ_SOURCE_OLD_HEADER, "and is missed else");
	tap_eq_int(caps.rate_kbps, is_new ? 2400000000 : 0, "the rate follows from it");
	tap_eq_int(caps.lid, 1107, "the rest is as ever");
}

/* ---- Two ports ---------------------------------------------------------------------------- */

static void check_relations(void)
{
	struct rdmaez_port_caps a, b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	tap_eq_int(rdmaez_caps_relate(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b),
				      RDMAEZ_PORT_CAPS_STATE),
		   RDMAEZ_RELATION_EQUAL, "two ports in one state");
	a.state = IBV_PORT_ACTIVE;
	b.state = IBV_PORT_DOWN;
	a.rate_kbps = 200;
	b.rate_kbps = 100;
	a.port_cap_flags = 1;
	b.port_cap_flags = 3;
	b.source[RDMAEZ_PORT_CAPS_FLAGS] = RDMAEZ_SOURCE_OLD_KERNEL;
	tap_eq_int(rdmaez_caps_relate(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b),
				      RDMAEZ_PORT_CAPS_STATE),
		   RDMAEZ_RELATION_DIFFERS, "active, then down");
	tap_eq_int(rdmaez_caps_relate(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b),
				      RDMAEZ_PORT_CAPS_RATE_KBPS),
		   RDMAEZ_RELATION_LACKS, "a slower link");
	tap_eq_int(rdmaez_caps_relate(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b),
				      RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS),
		   RDMAEZ_RELATION_EXCEEDS, "one more flag");
	tap_eq_int(rdmaez_caps_relate(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b),
				      RDMAEZ_PORT_CAPS_FLAGS),
		   RDMAEZ_RELATION_UNCLEAR, "unknown for the second");
	tap_eq_int(rdmaez_caps_relate(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b),
				      RDMAEZ_PORT_CAPS_ID_COUNT),
		   RDMAEZ_RELATION_UNCLEAR, "what is no field");
}

static void check_require(void)
{
	const struct rdmaez_caps_table have = rdmaez_port_caps_fields(&caps);
	struct rdmaez_port_caps need;
	struct rdmaez_caps device;
	struct rdmaez_diag why;
	char text[2048];

	memset(&caps, 0, sizeof(caps));
	memset(&need, 0, sizeof(need));
	memset(&device, 0, sizeof(device));
	caps.state = need.state = IBV_PORT_ACTIVE;
	caps.rate_kbps = 100000000;
	caps.active_mtu_bytes = 1024;
	caps.subnet_timeout_ns = 5;
	caps.port_cap_flags = 1 << 16 | 1 << 26;
	need.rate_kbps = 100000000;
	need.subnet_timeout_ns = 6;
	need.port_cap_flags = 1 << 16;
	check_success(&why, rdmaez_caps_require(have, rdmaez_port_caps_fields(&need), &why),
		      "a port has what is needed");
	tap_eq_str(why.device, "", "no device is named");
	need.rate_kbps++;
	need.subnet_timeout_ns = 4;
	need.port_cap_flags |= 1 << 17;
	need.port_cap_flags2 = 1 << 4;
	caps.source[RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS2] = RDMAEZ_SOURCE_OLD_KERNEL;
	CHECK_FINDINGS(&why, rdmaez_caps_require(have, rdmaez_port_caps_fields(&need), &why),
		       EOPNOTSUPP, "rdmaez_caps_require", "or has not",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNMET, "rate_kbps", RDMAEZ_VALUE_CAPS,
			100000001, RDMAEZ_KIND_KBPS, 100000000},
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNMET, "subnet_timeout_ns",
			RDMAEZ_VALUE_CAPS, 4, RDMAEZ_KIND_NS, 5},
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNMET, "port_cap_flags",
			RDMAEZ_VALUE_CAPS, 1 << 16 | 1 << 17, RDMAEZ_KIND_PORT_FLAGS,
			1 << 16 | 1 << 26},
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NEED_UNKNOWN, "port_cap_flags2",
			RDMAEZ_VALUE_CAPS, 1 << 4, RDMAEZ_KIND_PORT_FLAGS2, 0});
	rdmaez_diag_json(&why, text, sizeof(text));
	tap_ok(strstr(text, "\"missing\":[\"IBV_PORT_SNMP_TUNNEL_SUP\"]"),
	       "the missing bit is named");

	CHECK_FINDINGS(
		&why, rdmaez_caps_require(have, rdmaez_caps_fields(&device), &why), EINVAL,
		"rdmaez_caps_require", "a port is no device",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CAPS_TABLE, "need", RDMAEZ_VALUE_NONE, 0, 0, 0});
	tap_eq_int(rdmaez_caps_relate(have, rdmaez_caps_fields(&device), 1),
		   RDMAEZ_RELATION_UNCLEAR, "nor compares with one");
	tap_eq_int(rdmaez_caps_diff_format(have, rdmaez_caps_fields(&device), text, sizeof(text)),
		   0, "nor differs from one");
}

static void check_diff(void)
{
	struct rdmaez_port_caps a, b;
	char text[1024];

	memset(&a, 0, sizeof(a));
	b = a;
	tap_eq_int(rdmaez_caps_diff_format(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b),
					   text, sizeof(text)),
		   0, "equal ports do not differ");
	a.state = IBV_PORT_ACTIVE;
	b.state = IBV_PORT_DOWN;
	a.active_mtu = IBV_MTU_4096;
	b.active_mtu = IBV_MTU_1024;
	a.active_mtu_bytes = 4096; /* follows from another, so it is not a line of its own */
	b.active_mtu_bytes = 1024;
	b.source[RDMAEZ_PORT_CAPS_FLAGS] = RDMAEZ_SOURCE_OLD_KERNEL;
	rdmaez_caps_diff_format(rdmaez_port_caps_fields(&a), rdmaez_port_caps_fields(&b), text,
				sizeof(text));
	tap_eq_str(
		text,
		"state                                     differs   IBV_PORT_ACTIVE (4) -> "
		"IBV_PORT_DOWN (1)\n"
		"flags                                     unclear   none -> unknown: the kernel "
		"may be too old to\n"
		"        report it\n"
		"active_mtu                                lacks     IBV_MTU_4096 (5) -> "
		"IBV_MTU_1024 (3)\n",
		"a line for each field that differs");
}

/* ---- Asking ------------------------------------------------------------------------------- */

static struct fake_device *dev;
static struct ibv_context *ctx;
static struct rdmaez_diag diag;

static void start(void)
{
	dev = fake_reset();
	ctx = fake_open(dev);
	memset(&diag, 0xa5, sizeof(diag));
	memset(&caps, 0xa5, sizeof(caps));
	release = "6.1.0";
}

static void check_query(void)
{
	struct rdmaez_port_caps untouched;

	start();
	dev->ports = 2;
	dev->port[2].attr.active_mtu = IBV_MTU_2048;
	check_success(&diag, rdmaez_port_caps_query(ctx, 2, &caps, &diag), "a port is asked");
	tap_eq_str(diag.call, "rdmaez_port_caps_query", "the record names the call");
	tap_eq_str(diag.device, "fake0", "and the device");
	tap_eq_int(fake_count(FAKE_ANY), 1, "the fake saw one call");
	tap_eq_int(fake_last(FAKE_QUERY_PORT)->port, 2, "of the port");
	tap_eq_int(caps.port, 2, "it has its number");
	SOURCE(PORT, DEVICE, YES, "a port that was asked");
	tap_eq_int(caps.active_mtu_bytes, 2048, "its own MTU");
	tap_eq_int(caps.rate_kbps, 100000000, "and its rate");
	tap_eq_int(caps.needs_grh, true, "it is RoCE");
	SOURCE(PORT_CAP_FLAGS2, DEVICE, NO, "Linux 6.1");
	check_success(NULL, rdmaez_port_caps_query(ctx, 1, &caps, NULL), "no record is needed");
	tap_eq_int(caps.port, 1, "for another port");

	memset(&untouched, 0xa5, sizeof(untouched));
	caps = untouched;
	fake_reset_log();
	check_refusal(&diag, rdmaez_port_caps_query(NULL, 1, &caps, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "there must be a device");
	check_refusal(&diag, rdmaez_port_caps_query(ctx, 1, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "caps", "there must be an output");
	tap_eq_int(fake_count(FAKE_ANY), 0, "neither gets as far as a verb");
	check_refusal(&diag, rdmaez_port_caps_query(ctx, 3, &caps, &diag), EINVAL, RDMAEZ_WHY_PORT,
		      "port_num", "there must be such a port");
	check_refusal(&diag, rdmaez_port_caps_query(ctx, 257, &caps, &diag), EINVAL,
		      RDMAEZ_WHY_PORT, "port_num", "a port beyond what verbs can name");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	check_refusal(&diag, rdmaez_port_caps_query(ctx, 1, &caps, &diag), EIO,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", "a port that does not answer");
	tap_eq_int(memcmp(&caps, &untouched, sizeof(caps)), 0, "a failure writes nothing");
}

static void check_kernels(void)
{
	static const struct {
		const char *release;
		enum rdmaez_caps_source source;
	} kernels[] = {{"4.18.0-553.el8", RDMAEZ_SOURCE_OLD_KERNEL},
		       {"5.0.21", RDMAEZ_SOURCE_OLD_KERNEL},
		       {"5.1.0", RDMAEZ_SOURCE_DEVICE},
		       {"6.12.107", RDMAEZ_SOURCE_DEVICE}};

	for (size_t i = 0; i < COUNT_OF(kernels); i++) {
		start();
		fake_port_infiniband(&dev->port[1]);
		release = kernels[i].release;
		tap_eq_int(rdmaez_port_caps_query(ctx, 1, &caps, NULL), 0, "Linux %s", release);
		tap_eq_int(caps.source[RDMAEZ_PORT_CAPS_FLAGS], kernels[i].source,
			   "Linux %s: whether no flags mean none", release);
		tap_eq_int(caps.source[RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS2], kernels[i].source,
			   "Linux %s: and no second set", release);
		tap_eq_int(caps.source[RDMAEZ_PORT_CAPS_NEEDS_GRH], kernels[i].source,
			   "Linux %s: and no need of a GRH", release);
	}
}

static void check_effective_rate(void)
{
	const uint64_t most = UINT64_MAX / 100000;

	start();
	tap_ok(rdmaez_impl_port_speed_kbps(0) == 0 &&
		       rdmaez_impl_port_speed_kbps(8000) == 800000000 &&
		       rdmaez_impl_port_speed_kbps(most) == most * 100000,
	       "a speed is in units of 100 Mbit/s");
	tap_ok(rdmaez_impl_port_speed_kbps(most + 1) == UINT64_MAX &&
		       rdmaez_impl_port_speed_kbps(UINT64_MAX) == UINT64_MAX,
	       "and the greatest number, rather than a small one, if it is beyond 64 bits");
#ifdef IBV_DEVICE_CC_DMA_BOUNCE
	static const struct {
		int error;
		enum rdmaez_caps_source source;
		uint64_t speed, kbps;
	} answers[] = {{EOPNOTSUPP, RDMAEZ_SOURCE_DRIVER, 2001, 0},
		       {-EOPNOTSUPP, RDMAEZ_SOURCE_DRIVER, 2001, 0},
		       {EINVAL, RDMAEZ_SOURCE_DRIVER, 2001, 0},
		       {EPROTONOSUPPORT, RDMAEZ_SOURCE_OLD_KERNEL, 2001, 0},
		       {0, RDMAEZ_SOURCE_DEVICE, 2001, 200100000},
		       {0, RDMAEZ_SOURCE_DEVICE, UINT64_MAX, UINT64_MAX}};

	dev->ports = 2;
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		speed_verb.error = answers[i].error;
		speed_verb.speed = answers[i].speed;
		check_success(&diag, rdmaez_port_caps_query(ctx, 2, &caps, &diag),
			      "whatever ibv_query_port_speed() says: %d", answers[i].error);
		tap_eq_int(caps.source[RDMAEZ_PORT_CAPS_EFFECTIVE_RATE_KBPS], answers[i].source,
			   "%d: it is put down to that", answers[i].error);
		tap_ok(caps.effective_rate_kbps == answers[i].kbps, "%d: the rate in kbit/s",
		       answers[i].error);
		tap_eq_int(speed_verb.port_num, 2, "%d: of the port asked", answers[i].error);
	}
#else
	rdmaez_port_caps_query(ctx, 1, &caps, NULL);
	SOURCE(EFFECTIVE_RATE_KBPS, OLD_HEADER, UNKNOWN, "a verbs.h without the verb");
	tap_eq_int(caps.effective_rate_kbps, 0, "there is no effective rate");
#endif
}

/* ---- The P_Key table ---------------------------------------------------------------------- */

static void check_pkeys(void)
{
	struct rdmaez_pkey_entry rows[16], untouched;
	size_t count = 99;

	start();
	dev->port[1].pkey[0] = 0x7fff;
	dev->port[1].pkey[1] = 0x8000; /* membership of no partition: empty */
	dev->port[1].pkey[3] = 0x8001;
	dev->port[1].pkey[15] = 0x1234;
	memset(&untouched, 0xa5, sizeof(untouched));
	memset(rows, 0xa5, sizeof(rows));
	check_success(&diag, rdmaez_port_pkeys(ctx, 1, rows, COUNT_OF(rows), &count, &diag),
		      "a table with holes is listed");
	tap_eq_str(diag.call, "rdmaez_port_pkeys", "the record names the call");
	tap_eq_int(count, 3, "without the holes");
	tap_eq_int(rows[0].pkey_index, 0, "row 0 comes first");
	tap_eq_hex(rows[0].pkey, 0x7fff, "with its key");
	tap_eq_int(rows[1].pkey_index, 3, "then row 3");
	tap_eq_hex(rows[1].pkey, 0x8001, "with its key, in host byte order");
	tap_eq_int(rows[2].pkey_index, 15, "and row 15 last");
	tap_eq_hex(rows[2].pkey, 0x1234, "with its key, too");
	tap_eq_int(memcmp(&rows[3], &untouched, sizeof(untouched)), 0, "nothing follows");
	tap_eq_int(fake_count(FAKE_ANY), 17, "the port and each row were asked for");
	tap_eq_int(fake_count(FAKE_QUERY_PKEY), 16, "the 16 rows");

	memset(rows, 0xa5, sizeof(rows));
	check_success(&diag, rdmaez_port_pkeys(ctx, 1, rows, 2, &count, &diag),
		      "there may be less room than rows");
	tap_eq_int(count, 3, "the count is of all rows");
	tap_eq_int(rows[1].pkey_index, 3, "the room is filled");
	tap_eq_int(memcmp(&rows[2], &untouched, sizeof(untouched)), 0, "and no more");
	check_success(NULL, rdmaez_port_pkeys(ctx, 1, NULL, 0, &count, NULL),
		      "there may be no room at all, nor a record");
	tap_eq_int(count, 3, "to count");
	memset(dev->port[1].pkey, 0, sizeof(dev->port[1].pkey));
	check_success(&diag, rdmaez_port_pkeys(ctx, 1, rows, 2, &count, &diag),
		      "an empty table is listed");
	tap_eq_int(count, 0, "as nothing");
}

static void check_pkeys_refused(void)
{
	struct rdmaez_pkey_entry rows[16];
	size_t count = 99;

	start();
	check_refusal(&diag, rdmaez_port_pkeys(NULL, 1, rows, 16, &count, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "context", "there must be a device to list");
	check_refusal(&diag, rdmaez_port_pkeys(ctx, 1, rows, 16, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "count", "there must be a count");
	check_refusal(&diag, rdmaez_port_pkeys(ctx, 1, NULL, 1, &count, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "entries", "there must be the room promised");
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these gets as far as a verb");
	check_refusal(&diag, rdmaez_port_pkeys(ctx, 2, rows, 16, &count, &diag), EINVAL,
		      RDMAEZ_WHY_PORT, "port_num", "there must be such a port to list");
	fake_fail(FAKE_QUERY_PORT, 1, ENOMEM);
	check_refusal(&diag, rdmaez_port_pkeys(ctx, 1, rows, 16, &count, &diag), ENOMEM,
		      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", "a port that does not answer");
	for (unsigned int nth = 1; nth <= 16; nth += 5) {
		fake_reset_log();
		fake_fail(FAKE_QUERY_PKEY, nth, EIO);
		check_refusal(&diag, rdmaez_port_pkeys(ctx, 1, rows, 16, &count, &diag), EIO,
			      RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_pkey",
			      "a table whose row %u does not answer", nth - 1);
		tap_eq_int(fake_count(FAKE_QUERY_PKEY), nth, "no row after it is asked for");
	}
	tap_eq_int(count, 99, "a failure leaves the count");
}

/* ---- Text and JSON ------------------------------------------------------------------------ */

static struct ibv_gid_entry gids[4];
static const struct rdmaez_pkey_entry pkeys[] = {{0, 0xffff}, {12, 0x7fff}};
static char text[16384];

/* Rows of an interface, of none, of one with an odd name, and of one that is gone. */
static struct rdmaez_port_tables tables_of_all_kinds(void)
{
	struct rdmaez_port_tables tables;

	memset(gids, 0, sizeof(gids));
	gids[0].gid = gid_of("fe80::1");
	gids[1].gid = gid_of("::ffff:192.0.2.1");
	gids[2].gid = gid_of("2001:db8::1");
	gids[0].ndev_ifindex = 2;
	gids[1].ndev_ifindex = 7;
	gids[2].ndev_ifindex = 9;
	for (unsigned int i = 0; i < 4; i++) {
		gids[i].gid_index = 5 * i;
		gids[i].gid_type = 3 - i; /* unknown, v2, v1, IB */
	}
	memset(&tables, 0, sizeof(tables));
	tables.gids = gids;
	tables.gid_count = COUNT_OF(gids);
	tables.pkeys = pkeys;
	tables.pkey_count = COUNT_OF(pkeys);
	return tables;
}

static void check_text(void)
{
	static const char want[] =
		"port\n"
		"  port                            unknown: no open device was asked\n"
		"  state                           IBV_PORT_ARMED (3)\n"
		"  phys_state                      LINK_ERROR_RECOVERY (6)\n"
		"  link_layer                      IBV_LINK_LAYER_INFINIBAND (1)\n"
		"  flags                           0x1: IBV_QPF_GRH_REQUIRED\n"
		"  needs_grh                       yes\n"
		"\n"
		"mtu\n"
		"  max_mtu                         IBV_MTU_4096 (5)\n"
		"  max_mtu_bytes                   4 KiB\n"
		"  active_mtu                      IBV_MTU_512 (2)\n"
		"  active_mtu_bytes                512 bytes\n"
		"  max_msg_sz                      103 KiB\n"
		"\n"
		"rate\n"
		"  active_width                    12X (8)\n"
		"  lanes                           12\n"
		"  active_speed                    NDR (128)\n"
		"  active_speed_ex                 XDR (256)\n"
		"  rate_kbps                       2400 Gbit/s\n"
		"  effective_rate_kbps             unknown: no open device was asked\n"
		"\n"
		"subnet\n"
		"  lid                             1107\n"
		"  lmc                             109\n"
		"  sm_lid                          1108\n"
		"  sm_sl                           111\n"
		"  subnet_timeout                  19\n"
		"  subnet_timeout_ns               2.1 s\n"
		"  init_type_reply                 113\n"
		"  max_vl_num                      VL0 to VL7 (4)\n"
		"\n"
		"tables\n"
		"  gid_tbl_len                     101\n"
		"  pkey_tbl_len                    1106\n"
		"\n"
		"counters\n"
		"  bad_pkey_cntr                   104\n"
		"  qkey_viol_cntr                  105\n"
		"\n"
		"features\n"
		"  port_cap_flags                  0x84010002: IBV_PORT_SM IBV_PORT_CM_SUP "
		"IBV_PORT_IP_BASED_GIDS\n"
		"                                  IB_UVERBS_PCF_HIERARCHY_INFO_SUP\n"
		"  port_cap_flags2                 0x8401: IBV_PORT_SET_NODE_DESC_SUP "
		"IBV_PORT_LINK_SPEED_NDR_SUP\n"
		"                                  bit_15\n";
	static const char rows[] =
		"\n"
		"gids\n"
		"  gid[0]                          fe80::1, unknown, eth2\n"
		"  gid[5]                          ::ffff:192.0.2.1, RoCE v2, e\"7\n"
		"  gid[10]                         2001:db8::1, RoCE v1\n"
		"  gid[15]                         ::, IB\n"
		"\n"
		"pkeys\n"
		"  pkey[0]                         0xffff, full member\n"
		"  pkey[12]                        0x7fff, limited member\n";
	const struct rdmaez_port_tables tables = tables_of_all_kinds();
	int length;

	fill();
	decode(NEW_SIZE, 0);
	length = rdmaez_port_caps_format(&caps, NULL, text, sizeof(text));
	tap_eq_str(text, want, "a port is written down field by field");
	tap_eq_int(length, strlen(want), "the length is that of the text");
	length = rdmaez_port_caps_format(&caps, &tables, text, sizeof(text));
	tap_ok(strncmp(text, want, strlen(want)) == 0, "with its tables it begins in the same way");
	tap_eq_str(text + strlen(want), rows, "and their rows follow");
	tap_eq_int(length, strlen(text), "the length is that of all of it");
}

static void check_json(void)
{
	static const char want[] =
		"{\"rdmaez_port_caps\":1,\"port\":null,\"state\":3,\"state_name\":\"IBV_PORT_"
		"ARMED\","
		"\"phys_state\":6,\"phys_state_name\":\"LINK_ERROR_RECOVERY\",\"link_layer\":1,"
		"\"link_layer_name\":\"IBV_LINK_LAYER_INFINIBAND\",\"flags\":1,"
		"\"flags_names\":[\"IBV_QPF_GRH_REQUIRED\"],\"needs_grh\":true,\"max_mtu\":5,"
		"\"max_mtu_name\":\"IBV_MTU_4096\",\"max_mtu_bytes\":4096,\"active_mtu\":2,"
		"\"active_mtu_name\":\"IBV_MTU_512\",\"active_mtu_bytes\":512,\"max_msg_sz\":"
		"105472,"
		"\"active_width\":8,\"active_width_name\":\"12X\",\"lanes\":12,\"active_speed\":"
		"128,"
		"\"active_speed_name\":\"NDR\",\"active_speed_ex\":256,\"active_speed_ex_name\":"
		"\"XDR\","
		"\"rate_kbps\":2400000000,\"effective_rate_kbps\":null,\"lid\":1107,\"lmc\":109,"
		"\"sm_lid\":1108,\"sm_sl\":111,\"subnet_timeout\":19,\"subnet_timeout_ns\":"
		"2147483648,"
		"\"init_type_reply\":113,\"max_vl_num\":4,\"max_vl_num_name\":\"VL0 to VL7\","
		"\"gid_tbl_len\":101,\"pkey_tbl_len\":1106,\"bad_pkey_cntr\":104,\"qkey_viol_"
		"cntr\":105,"
		"\"port_cap_flags\":2214658050,\"port_cap_flags_names\":[\"IBV_PORT_SM\","
		"\"IBV_PORT_CM_SUP\",\"IBV_PORT_IP_BASED_GIDS\",\"IB_UVERBS_PCF_HIERARCHY_INFO_"
		"SUP\"],\"port_cap_flags2\":"
		"33793,"
		"\"port_cap_flags2_names\":[\"IBV_PORT_SET_NODE_DESC_SUP\","
		"\"IBV_PORT_LINK_SPEED_NDR_SUP\",\"bit_15\"]";
	static const char rows[] =
		",\"gids\":[{\"gid_index\":0,\"gid\":\"fe80::1\",\"gid_type\":3,"
		"\"gid_type_name\":\"unknown\",\"ndev_ifindex\":2,\"ndev_name\":\"eth2\"},"
		"{\"gid_index\":5,\"gid\":\"::ffff:192.0.2.1\",\"gid_type\":2,"
		"\"gid_type_name\":\"RoCE v2\",\"ndev_ifindex\":7,\"ndev_name\":\"e\\\"7\"},"
		"{\"gid_index\":10,\"gid\":\"2001:db8::1\",\"gid_type\":1,"
		"\"gid_type_name\":\"RoCE v1\",\"ndev_ifindex\":9,\"ndev_name\":null},"
		"{\"gid_index\":15,\"gid\":\"::\",\"gid_type\":0,\"gid_type_name\":\"IB\","
		"\"ndev_ifindex\":0,\"ndev_name\":null}],"
		"\"pkeys\":[{\"pkey_index\":0,\"pkey\":65535,\"full\":true},"
		"{\"pkey_index\":12,\"pkey\":32767,\"full\":false}]";
	static const char sources[] = ",\"sources\":{\"port\":\"NOT_ASKED\","
				      "\"effective_rate_kbps\":\"NOT_ASKED\"}}";
	const struct rdmaez_port_tables tables = tables_of_all_kinds();
	static char whole[sizeof(want) + sizeof(rows) + sizeof(sources)];
	int length;

	fill();
	decode(NEW_SIZE, 0);
	length = rdmaez_port_caps_json(&caps, NULL, text, sizeof(text));
	snprintf(whole, sizeof(whole), "%s%s", want, sources);
	tap_eq_str(text, whole, "a port is one object");
	tap_eq_int(length, strlen(whole), "the length is that of the object");
	length = rdmaez_port_caps_json(&caps, &tables, text, sizeof(text));
	snprintf(whole, sizeof(whole), "%s%s%s", want, rows, sources);
	tap_eq_str(text, whole, "its tables are arrays in it");
	tap_eq_int(length, strlen(whole), "the length is that of all of it");
	memset(&caps, 0, sizeof(caps));
	rdmaez_port_caps_json(&caps, NULL, text, sizeof(text));
	tap_ok(strstr(text, ",\"needs_grh\":false,"), "what is not so is false");
	tap_ok(strstr(text, ",\"port_cap_flags\":0,\"port_cap_flags_names\":[],"),
	       "an empty set has no names");
	tap_ok(strstr(text, ",\"sources\":{}}"), "where the port says all, nothing need be said");
}

static void check_no_tables(void)
{
	struct rdmaez_port_tables tables;
	static char without[16384];

	fill();
	decode(NEW_SIZE, 0);
	memset(&tables, 0, sizeof(tables));
	rdmaez_port_caps_json(&caps, NULL, without, sizeof(without));
	rdmaez_port_caps_json(&caps, &tables, text, sizeof(text));
	tap_eq_str(text, without, "tables that are not there are not in the JSON");
	tables.gid_count = 3;
	tables.pkey_count = 3;
	rdmaez_port_caps_json(&caps, &tables, text, sizeof(text));
	tap_eq_str(text, without, "whatever their counts are");
	rdmaez_port_caps_format(&caps, NULL, without, sizeof(without));
	rdmaez_port_caps_format(&caps, &tables, text, sizeof(text));
	tap_eq_str(text, without, "nor in the text");
	tables = tables_of_all_kinds();
	tables.gid_count = 0;
	tables.pkey_count = 0;
	rdmaez_port_caps_format(&caps, &tables, text, sizeof(text));
	tap_eq_str(text, without, "empty ones are not in the text either");
	rdmaez_port_caps_json(&caps, &tables, text, sizeof(text));
	tap_ok(strstr(text, ",\"gids\":[],\"pkeys\":[],\"sources\":{"), "but in the JSON, empty");
	tap_eq_int(rdmaez_port_caps_format(NULL, NULL, text, sizeof(text)), 0, "no port, no text");
	tap_eq_str(text, "", "none at all");
	tap_eq_int(rdmaez_port_caps_json(NULL, &tables, text, sizeof(text)), 2, "and an object");
	tap_eq_str(text, "{}", "that is empty");
}

/* Each bit alone: by its name, or by its number where nobody has named it. */
static void check_bits(void)
{
	static const struct {
		enum rdmaez_port_caps_id id;
		enum rdmaez_caps_kind kind;
		unsigned int bits;
	} sets[] = {{RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS, RDMAEZ_KIND_PORT_FLAGS, 32},
		    {RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS2, RDMAEZ_KIND_PORT_FLAGS2, 16},
		    {RDMAEZ_PORT_CAPS_FLAGS, RDMAEZ_KIND_PORT_QPF, 8}};
	char line[128], pair[128];

	for (size_t i = 0; i < COUNT_OF(sets); i++)
		for (unsigned int bit = 0; bit < sets[i].bits; bit++) {
			const struct rdmaez_caps_field *field = port_field(sets[i].id);
			const char *name = rdmaez_caps_kind_str(sets[i].kind, bit);
			char number[16];

			tap_eq_int(field->kind, sets[i].kind, "%s is such a set", field->name);
			memset(&port, 0, sizeof(port));
			if (i == 0)
				port.attr.port_cap_flags = 1u << bit;
			else if (i == 1)
				port.attr.port_cap_flags2 = (uint16_t)(1u << bit);
			else
				port.attr.flags = (uint8_t)(1u << bit);
			decode(OLD_SIZE, 0);
			snprintf(number, sizeof(number), "bit_%u", bit);
			if (strcmp(name, "unknown") == 0)
				name = number;
			snprintf(line, sizeof(line), "  %-30s  0x%x: %s\n", field->name, 1u << bit,
				 name);
			snprintf(pair, sizeof(pair), ",\"%s\":%u,\"%s_names\":[\"%s\"]",
				 field->name, 1u << bit, field->name, name);
			rdmaez_port_caps_format(&caps, NULL, text, sizeof(text));
			tap_ok(strstr(text, line), "bit %u of %s in the text: %s", bit, field->name,
			       name);
			rdmaez_port_caps_json(&caps, NULL, text, sizeof(text));
			tap_ok(strstr(text, pair), "bit %u of %s in the JSON", bit, field->name);
		}
}

/* snprintf's rule, at every size: what fits is written, with a NUL, and the length is the same. */
static void check_cut(int (*write)(const struct rdmaez_port_caps *,
				   const struct rdmaez_port_tables *, char *, size_t),
		      const char *name)
{
	const struct rdmaez_port_tables tables = tables_of_all_kinds();
	static char cut[16384];
	const int length = write(&caps, &tables, text, sizeof(text));
	int wrong = write(&caps, &tables, NULL, 0) != length;

	for (size_t size = 1; size <= (size_t)length + 1; size++) {
		memset(cut, 0x5a, sizeof(cut));
		wrong += write(&caps, &tables, cut, size) != length;
		wrong += strlen(cut) != size - 1 || strncmp(cut, text, size - 1) != 0;
		wrong += cut[size] != 0x5a;
	}
	tap_eq_int(wrong, 0, "%s is cut at every size as snprintf() cuts", name);
}

int main(void)
{
	check_fields();
	check_access();
	check_rates();
	check_codes();
	check_grh();
	check_silence();
	check_own_size();
	check_relations();
	check_require();
	check_diff();
	check_query();
	check_kernels();
	check_effective_rate();
	check_pkeys();
	check_pkeys_refused();
	check_text();
	check_json();
	check_no_tables();
	check_bits();
	fill();
	decode(NEW_SIZE, 0);
	check_cut(rdmaez_port_caps_format, "the text");
	check_cut(rdmaez_port_caps_json, "the JSON");
	fake_close_all();
	return tap_done();
}
