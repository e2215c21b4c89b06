/* SPDX-License-Identifier: MIT */
/* UD receives: the header before a message, and the way back to its sender. */
#include "check.h"
#include "findings.h"

static struct {
	struct fake_device *dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	uint8_t buffer[40 + 16];
	struct rdmaez_grh grh;
	struct rdmaez_path path;
	struct rdmaez_diag diag;
} t;

/* fake0's GIDs of RoCE v2 and of v1, by index. */
enum {
	V1_LOCAL,
	V2_LOCAL,
	V1_IPV4,
	V2_IPV4,
	V1_IPV6,
	V2_IPV6,
};

static const union ibv_gid *own(int index)
{
	return &t.dev->port[1].gid[index].gid;
}

static void start(void)
{
	t.dev = fake_reset();
	t.ctx = fake_open(t.dev);
	t.pd = ibv_alloc_pd(t.ctx);
	memset(&t.wc, 0, sizeof(t.wc));
	t.wc.opcode = IBV_WC_RECV;
	t.wc.byte_len = sizeof(t.buffer);
	t.wc.wc_flags = IBV_WC_GRH;
	t.wc.slid = 5;
	t.wc.sl = 3;
	t.wc.dlid_path_bits = 1;
	memset(t.buffer, 0xa5, sizeof(t.buffer));
	memset(&t.grh, 0x55, sizeof(t.grh));
	memset(&t.path, 0x55, sizeof(t.path));
	memset(&t.diag, 0x55, sizeof(t.diag));
	t.ah = NULL;
	fake_reset_log();
}

/* A header of IPv6's form, with traffic class 0x6d, flow label 0x12345 and hop limit 9. */
static void header6(const char *from, const union ibv_gid *to, uint8_t next_header)
{
	static const uint8_t head[] = {0x66, 0xd1, 0x23, 0x45, 0, 16};
	const union ibv_gid sgid = gid_of(from);

	memcpy(t.buffer, head, sizeof(head));
	t.buffer[6] = next_header;
	t.buffer[7] = 9;
	memcpy(t.buffer + 8, sgid.raw, 16);
	memcpy(t.buffer + 24, to->raw, 16);
}

static void checksum(void)
{
	uint32_t sum = 0;

	t.buffer[30] = t.buffer[31] = 0;
	for (int i = 20; i < 40; i += 2)
		sum += (uint32_t)t.buffer[i] << 8 | t.buffer[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	t.buffer[30] = (uint8_t)(~sum >> 8);
	t.buffer[31] = (uint8_t)~sum;
}

/* An IPv4 header with TOS 0x6d and TTL 9, from 192.0.2.9 to the end of an own GID. */
static void header4(const union ibv_gid *to)
{
	static const uint8_t head[] = {0x45, 0x6d, 0, 76, 0x12, 0x34, 0x40, 0,
				       9,    17,   0, 0,  192,  0,    2,    9};

	memcpy(t.buffer + 20, head, sizeof(head));
	memcpy(t.buffer + 36, to->raw + 12, 4);
	checksum();
}

/* ---- The header ----------------------------------------------------------------------------- */

static void check_message(void)
{
	tap_eq_ptr(t.grh.payload, t.buffer + 40, "the message is behind the 40 bytes");
	tap_eq_int(t.grh.length, 16, "all of it");
}

static void check_ipv4(void)
{
	union ibv_gid from = gid_of("::ffff:192.0.2.9");

	start();
	header4(own(V2_IPV4));
	tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL), 0, "IPv4, and anything before it");
	check_message();
	tap_eq_int(t.grh.version, 4, "is IPv4");
	tap_ok(!memcmp(&t.grh.sgid, &from, 16), "from the sender");
	tap_ok(!memcmp(&t.grh.dgid, own(V2_IPV4), 16), "to the own address");
	tap_eq_hex(t.grh.traffic_class, 0x6d, "the TOS");
	tap_eq_int(t.grh.hop_limit, 9, "the TTL");
	tap_eq_int(t.grh.next_header, 17, "over UDP");
	tap_eq_hex(t.grh.flow_label, 0, "without a flow label");
}

static void check_ipv6(void)
{
	const union ibv_gid from = gid_of("2001:db8::9");

	start();
	header6("2001:db8::9", own(V2_IPV6), 17);
	tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL), 0, "IPv6");
	check_message();
	tap_eq_int(t.grh.version, 6, "is IPv6");
	tap_ok(!memcmp(&t.grh.sgid, &from, 16), "from the sender");
	tap_ok(!memcmp(&t.grh.dgid, own(V2_IPV6), 16), "to the own address");
	tap_eq_hex(t.grh.traffic_class, 0x6d, "the traffic class");
	tap_eq_int(t.grh.hop_limit, 9, "the hop limit");
	tap_eq_int(t.grh.next_header, 17, "over UDP");
	tap_eq_hex(t.grh.flow_label, 0x12345, "the flow label");
}

/* The first four bits may be anything with IPv4, and the rest of an IPv6 header may look like IPv4. */
static void check_versions(void)
{
	static const struct {
		uint8_t first, fifth_word, broken;
		int version; /* -1: neither */
	} cases[] = {
		{0x00, 0x45, 0, 4},  {0x45, 0x45, 0, 4}, {0x00, 0x45, 1, 4},  {0x00, 0x46, 1, 4},
		{0x60, 0x45, 0, 4},  {0x6f, 0x45, 0, 4}, {0x60, 0x45, 1, 6},  {0x60, 0x46, 0, 6},
		{0x60, 0x55, 0, 6},  {0x60, 0x05, 0, 6}, {0x00, 0x65, 0, -1}, {0x50, 0x00, 0, -1},
		{0x70, 0xff, 0, -1},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct rdmaez_grh *const untouched = &t.grh;
		struct rdmaez_grh before;

		start();
		before = *untouched;
		header4(own(V2_IPV4));
		t.buffer[0] = cases[i].first;
		t.buffer[20] = cases[i].fifth_word;
		checksum();
		t.buffer[31] = (uint8_t)(t.buffer[31] ^ cases[i].broken);
		tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL),
			   cases[i].version < 0 ? EPROTONOSUPPORT : 0, "0x%02x and 0x%02x, %s",
			   cases[i].first, cases[i].fifth_word,
			   cases[i].broken ? "wrong" : "right");
		if (cases[i].version < 0)
			check_refusal(&t.diag, rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, &t.diag),
				      EPROTONOSUPPORT, RDMAEZ_WHY_WC_NO_HEADER, "buffer",
				      "no header");
		if (cases[i].version < 0)
			tap_ok(!memcmp(&t.grh, &before, sizeof(before)), "nothing is written");
		else
			tap_eq_int(t.grh.version, cases[i].version, "is %d", cases[i].version);
	}
}

/* One wrong bit anywhere in the IPv4 header, where the first four bits say 6: it is an IPv6 header then. */
static void check_checksum(void)
{
	unsigned int wrong = 0;

	start();
	header4(own(V2_IPV4));
	t.buffer[0] = 0x60;
	for (int bit = 0; bit < 160; bit++) {
		t.buffer[20 + bit / 8] = (uint8_t)(t.buffer[20 + bit / 8] ^ 1 << bit % 8);
		wrong += rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL) != 0 || t.grh.version != 6;
		t.buffer[20 + bit / 8] = (uint8_t)(t.buffer[20 + bit / 8] ^ 1 << bit % 8);
	}
	tap_eq_int(wrong, 0, "no wrong header is taken for one");
	for (unsigned int word = 0; word < 0x10000; word++) {
		t.buffer[24] = (uint8_t)(word >> 8);
		t.buffer[25] = (uint8_t)word;
		checksum();
		wrong += rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL) != 0 || t.grh.version != 4;
	}
	tap_eq_int(wrong, 0, "and every right one is, whatever the sum carries");
}

static void check_no_header(void)
{
	struct rdmaez_grh before;

	start();
	t.wc.wc_flags = IBV_WC_WITH_IMM;
	header6("2001:db8::9", own(V2_IPV6), 17);
	tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL), 0, "no GRH came");
	check_message();
	tap_eq_int(t.grh.version, 0, "which is told");
	tap_ok(rdmaez_gid_is_zero(&t.grh.sgid) && rdmaez_gid_is_zero(&t.grh.dgid),
	       "what lies in the buffer is not taken for one");
	t.wc.wc_flags = IBV_WC_GRH;
	t.wc.byte_len = 40;
	tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL), 0, "an empty message");
	tap_eq_int(t.grh.length, 0, "is empty");
	before = t.grh;
	t.wc.byte_len = 39;
	tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL), EINVAL, "less is no UD receive");
	t.wc.byte_len = 56;
	t.wc.status = IBV_WC_WR_FLUSH_ERR;
	tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL), EINVAL, "nor is one that failed");
	t.wc.status = IBV_WC_SUCCESS;
	t.wc.opcode = IBV_WC_SEND;
	tap_eq_int(rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, NULL), EINVAL, "nor is a send");
	check_refusal(&t.diag, rdmaez_wc_grh(&t.wc, t.buffer, &t.grh, &t.diag), EINVAL,
		      RDMAEZ_WHY_WC_NO_SENDER, "wc", "a send is refused");
	tap_eq_str(t.diag.call, "rdmaez_wc_grh", "by name");
	tap_ok(!memcmp(&t.grh, &before, sizeof(before)), "nothing is written");
}

/* ---- The way back --------------------------------------------------------------------------- */

static int way_back(void)
{
	return rdmaez_path_from_wc(t.ctx, &t.wc, t.buffer, 1, &t.path, &t.diag);
}

static void check_path(const char *peer, int sgid_index, bool lids, uint32_t flow_label)
{
	const union ibv_gid dgid = gid_of(peer);

	check_success(&t.diag, way_back(), "the way back to %s", peer);
	tap_ok(!memcmp(&t.path.dgid, &dgid, 16), "leads to the sender");
	tap_eq_int(t.path.sgid_index, sgid_index, "from the GID that it was sent to");
	tap_eq_hex(t.path.flags, RDMAEZ_PATH_GRH, "with a GRH");
	tap_eq_int(t.path.hop_limit, 0, "with a hop limit of our own");
	tap_eq_hex(t.path.traffic_class, 0x6c, "with its DSCP, without ECN");
	tap_eq_hex(t.path.flow_label, flow_label, "with its flow label");
	tap_eq_int(t.path.sl, 3, "and service level");
	tap_eq_int(t.path.dlid, lids ? 5 : 0, "%s", lids ? "its LID" : "no LID");
	tap_eq_int(t.path.src_path_bits, lids ? 1 : 0, "and bits of ours");
	tap_eq_int(t.path.static_rate, 0, "as fast as the port");
	tap_eq_str(t.diag.call, "rdmaez_path_from_wc", "the record names our call");
	tap_eq_str(t.diag.device, "fake0", "and the device");
}

static void check_paths(void)
{
	start();
	header4(own(V2_IPV4));
	check_path("::ffff:192.0.2.9", V2_IPV4, false, 0);
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 1, "the table is asked once");
	tap_eq_int(fake_count(FAKE_ANY), 1, "and nothing else");
	start();
	header6("2001:db8::9", own(V2_IPV6), 17);
	check_path("2001:db8::9", V2_IPV6, false, 0x12345);
	start();
	header6("fe80::9", own(V2_LOCAL), 17);
	check_path("fe80::9", V2_LOCAL, false, 0x12345);
	start();
	header6("fe80::9", own(V1_LOCAL), 0x1b);
	check_path("fe80::9", RDMAEZ_ZERO, true, 0x12345);
	start();
	header6("2001:db8::9", own(V1_IPV6), 0x1b);
	check_path("2001:db8::9", V1_IPV6, true, 0x12345);
	start();
	fake_port_infiniband(&t.dev->port[1]);
	header6("fe80::9", own(0), 0x1b);
	check_path("fe80::9", RDMAEZ_ZERO, true, 0x12345);
	start();
	fake_fail(FAKE_QUERY_GID_TABLE, 1, EOPNOTSUPP);
	header4(own(V2_IPV4));
	check_path("::ffff:192.0.2.9", V2_IPV4, false, 0);
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), V2_IPV4 + 1, "or index by index");
}

static void check_groups(void)
{
	const union ibv_gid group = gid_of("ff02::1"), group4 = gid_of("::ffff:239.1.2.3");

	start();
	header6("fe80::9", &group, 17);
	check_path("fe80::9", 0, false, 0x12345);
	tap_eq_int(fake_count(FAKE_ANY), 0, "a group's GID is looked for nowhere");
	start();
	header4(&group4);
	check_path("::ffff:192.0.2.9", 0, false, 0);
	check_success(&t.diag, rdmaez_ah_create_from_wc(t.pd, &t.wc, t.buffer, 1, &t.ah, &t.diag),
		      "a handle to answer what went to a group");
	tap_eq_int(fake_last(FAKE_CREATE_AH)->arg.ah_attr.grh.sgid_index, V2_IPV4, "has our own");
}

static void check_subnet(void)
{
	start();
	fake_port_infiniband(&t.dev->port[1]);
	t.wc.wc_flags = 0;
	check_success(&t.diag, rdmaez_path_from_wc(t.ctx, &t.wc, NULL, 1, &t.path, &t.diag),
		      "within a subnet no header is needed");
	tap_eq_int(t.path.dlid, 5, "only the LID");
	tap_eq_int(t.path.sl, 3, "service level");
	tap_eq_int(t.path.src_path_bits, 1, "and bits");
	tap_ok(rdmaez_gid_is_zero(&t.path.dgid) && !t.path.flags, "there is no GID");
	tap_eq_int(fake_count(FAKE_ANY), 0, "and nothing is asked");
	check_success(&t.diag, rdmaez_ah_create_from_wc(t.pd, &t.wc, NULL, 1, &t.ah, &t.diag),
		      "which makes a handle");
	tap_eq_int(fake_last(FAKE_CREATE_AH)->arg.ah_attr.dlid, 5, "with the LID");
	tap_eq_int(fake_last(FAKE_CREATE_AH)->arg.ah_attr.is_global, 0, "and no GRH");
	t.wc.slid = 0;
	check_refusal(&t.diag, way_back(), EINVAL, RDMAEZ_WHY_PATH_EMPTY, "wc.slid",
		      "neither header nor LID");
	start();
	fake_profile(t.dev, FAKE_PROFILE_EFA);
	t.wc.wc_flags = 0;
	check_refusal(&t.diag, way_back(), EINVAL, RDMAEZ_WHY_PATH_EMPTY, "wc.slid",
		      "what efa has in place of a LID");
}

static void check_handle(void)
{
	const struct ibv_ah_attr *attr;

	start();
	header4(own(V2_IPV4));
	check_success(&t.diag, rdmaez_ah_create_from_wc(t.pd, &t.wc, t.buffer, 1, &t.ah, &t.diag),
		      "a handle back to the sender");
	attr = &fake_last(FAKE_CREATE_AH)->arg.ah_attr;
	tap_eq_int(attr->grh.sgid_index, V2_IPV4, "from the GID that it was sent to");
	tap_eq_int(attr->grh.hop_limit, 64, "with hops for the whole way");
	tap_eq_hex(attr->grh.traffic_class, 0x6c, "with its DSCP");
	tap_eq_int(attr->sl, 3, "and service level");
	tap_eq_str(t.diag.call, "rdmaez_ah_create_from_wc", "the record names our call");
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 1, "by one query of the table");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "one of the port");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and the handle's own call");
	tap_eq_int(rdmaez_ah_create_from_wc(t.pd, &t.wc, t.buffer, 1, &t.ah, NULL), 0, "no record");

	start();
	header4(own(V2_IPV4));
	t.dev->neighbour_errno = ETIMEDOUT;
	tap_eq_int(rdmaez_ah_create_from_wc(t.pd, &t.wc, t.buffer, 1, &t.ah, &t.diag), ETIMEDOUT,
		   "a sender that is gone");
	tap_eq_str(t.diag.call, "rdmaez_ah_create_from_wc", "the record names our call");
	tap_eq_str(t.diag.verb, "ibv_create_ah", "and the verb");
	tap_ok(rdmaez_diag_find(&t.diag, RDMAEZ_WHY_NEIGHBOUR) != NULL, "with the reason");
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void check_gone(void)
{
	const struct rdmaez_path before = t.path;

	start();
	header4(own(V2_IPV4));
	t.path = before;
	memset(&t.dev->port[1].gid[V2_IPV4], 0, sizeof(t.dev->port[1].gid[0]));
	check_refusal(&t.diag, way_back(), EADDRNOTAVAIL, RDMAEZ_WHY_WC_GID_GONE, "grh.dgid",
		      "the GID was removed, its v1 row was not");
	tap_ok(!memcmp(&t.path, &before, sizeof(before)), "nothing is written");
	tap_ok(!memcmp(&t.diag.source.gid, own(V1_IPV4), 16), "the record has it");
	tap_ok(!memcmp(t.diag.destination.raw + 12, t.buffer + 32, 4), "and the sender's");
	tap_eq_int(rdmaez_path_from_wc(t.ctx, &t.wc, t.buffer, 1, &t.path, NULL), EADDRNOTAVAIL,
		   "without a record");
	fake_fail(FAKE_QUERY_GID_TABLE, 0, EOPNOTSUPP);
	check_refusal(&t.diag, way_back(), EADDRNOTAVAIL, RDMAEZ_WHY_WC_GID_GONE, "grh.dgid",
		      "looked for one by one");
	fake_fail(FAKE_QUERY_GID_EX, 2, EIO);
	check_refusal(&t.diag, way_back(), EIO, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_gid_ex",
		      "a device that is gone");
	start();
	header6("2001:db8::9", own(V2_IPV6), 0x1b);
	memset(&t.dev->port[1].gid[V1_IPV6], 0, sizeof(t.dev->port[1].gid[0]));
	check_refusal(&t.diag, way_back(), EADDRNOTAVAIL, RDMAEZ_WHY_WC_GID_GONE, "grh.dgid",
		      "v2 does not answer v1");
	start();
	header4(own(V2_IPV4));
	t.dev->port[1].gid[300] = t.dev->port[1].gid[V2_IPV4];
	t.dev->port[1].attr.gid_tbl_len = 400;
	memset(&t.dev->port[1].gid[V2_IPV4], 0, sizeof(t.dev->port[1].gid[0]));
	tap_eq_int(way_back(), EADDRNOTAVAIL, "nor does an index that no address vector holds");
	start();
	header4(own(V2_IPV4));
	tap_eq_int(rdmaez_path_from_wc(t.ctx, &t.wc, t.buffer, 2, &t.path, &t.diag), EADDRNOTAVAIL,
		   "nor does another port");
}

static void check_refused(void)
{
	start();
	header4(own(V2_IPV4));
	t.wc.status = IBV_WC_GENERAL_ERR;
	check_refusal(&t.diag, way_back(), EINVAL, RDMAEZ_WHY_WC_NO_SENDER, "wc", "it has failed");
	t.wc.status = IBV_WC_SUCCESS;
	t.wc.opcode = IBV_WC_RDMA_READ;
	check_refusal(&t.diag, way_back(), EINVAL, RDMAEZ_WHY_WC_NO_SENDER, "wc", "no receive");
	t.wc.opcode = IBV_WC_RECV;
	t.wc.byte_len = 39;
	check_refusal(&t.diag, way_back(), EINVAL, RDMAEZ_WHY_WC_NO_SENDER, "wc", "too short");
	t.wc.byte_len = 56;
	t.buffer[20] = 0;
	check_refusal(&t.diag, way_back(), EPROTONOSUPPORT, RDMAEZ_WHY_WC_NO_HEADER, "buffer",
		      "no header");
	check_refusal(&t.diag, rdmaez_path_from_wc(t.ctx, &t.wc, NULL, 1, &t.path, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "buffer", "no buffer");
	check_refusal(&t.diag, rdmaez_path_from_wc(NULL, &t.wc, t.buffer, 1, &t.path, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "context", "no device");
	check_refusal(&t.diag, rdmaez_path_from_wc(t.ctx, NULL, t.buffer, 1, &t.path, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "wc", "no completion");
	check_refusal(&t.diag, rdmaez_path_from_wc(t.ctx, &t.wc, t.buffer, 1, NULL, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "path", "nowhere to put it");
	check_refusal(&t.diag, rdmaez_ah_create_from_wc(NULL, &t.wc, t.buffer, 1, &t.ah, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain");
	check_call_and_verb(&t.diag, "rdmaez_ah_create_from_wc", NULL);
	check_refusal(&t.diag, rdmaez_ah_create_from_wc(t.pd, NULL, t.buffer, 1, &t.ah, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "wc", "no completion");
	check_call_and_verb(&t.diag, "rdmaez_ah_create_from_wc", NULL);
	tap_eq_int(fake_count(FAKE_ANY), 0, "none of these asks anything");
	header4(own(V2_IPV4));
	check_refusal(&t.diag, rdmaez_ah_create_from_wc(t.pd, &t.wc, t.buffer, 1, NULL, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "ah", "nowhere to put a handle");
	tap_eq_int(rdmaez_path_from_wc(NULL, NULL, NULL, 1, NULL, NULL), EINVAL, "nothing at all");
	tap_eq_int(rdmaez_ah_create_from_wc(NULL, NULL, NULL, 1, NULL, NULL), EINVAL, "nor there");
}

int main(void)
{
	check_ipv4();
	check_ipv6();
	check_versions();
	check_checksum();
	check_no_header();
	check_paths();
	check_groups();
	check_subnet();
	check_handle();
	check_gone();
	check_refused();
	fake_close_all();
	return tap_done();
}
