/* SPDX-License-Identifier: MIT */
/* What one end tells the other: what is asked for it, its bytes and its text, and what both ends make of it. */
#include <ctype.h>

#include "check.h"
#include "findings.h"

static struct fake_device *dev;
static struct ibv_context *ctx;
static struct fake_port *port;
static struct rdmaez_diag diag;

static void start(void)
{
	dev = fake_reset();
	ctx = fake_open(dev);
	port = &dev->port[1];
	memset(&diag, 0xa5, sizeof(diag));
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

/* One with another value in each field. */
static struct rdmaez_endpoint full(void)
{
	struct rdmaez_endpoint e;

	memset(&e, 0, sizeof(e));
	e.qp_type = IBV_QPT_XRC_RECV;
	e.qp_num = 0x123456;
	e.psn = 0xabcdef;
	e.qkey = 0x11223344;
	e.srq_num = 0x55667788;
	e.nonce = 0x99aabbcc;
	e.pkey = 0x8001;
	e.lid = 0x0203;
	e.link_layer = IBV_LINK_LAYER_ETHERNET;
	e.port_flags = IBV_QPF_GRH_REQUIRED;
	e.mtu = IBV_MTU_4096;
	e.max_rd_atomic = 16;
	e.max_dest_rd_atomic = 255;
	e.ece.vendor_id = 0x15b3;
	e.ece.options = 0x30000001;
	e.gid_count = 3;
	e.gid[0].gid = gid_of("::ffff:192.0.2.1");
	e.gid[0].gid_type = IBV_GID_TYPE_ROCE_V2;
	e.gid[0].by_route = true;
	e.gid[1].gid = gid_of("fe80::1");
	e.gid[1].gid_type = IBV_GID_TYPE_ROCE_V1;
	e.gid[2].gid = gid_of("2001:db8::1");
	e.gid[2].gid_type = IBV_GID_TYPE_IB;
	e.memory.addr = 0x0102030405060708;
	e.memory.length = 0x1000;
	e.memory.rkey = 0xdeadbeef;
	e.user_length = 3;
	memcpy(e.user, "abc", 3);
	return e;
}

static void check_bytes(void)
{
	/* Written down once, and never changed. */
	static const uint8_t head[] = {
		'R',  'Z',  'E',  'P',                             /* magic */
		0,    1,    0,    1,                               /* version, least version */
		0,    10,   2,    5,                               /* type, link layer, MTU */
		0,    0x12, 0x34, 0x56,                            /* queue pair */
		0,    0xab, 0xcd, 0xef,                            /* PSN */
		0x11, 0x22, 0x33, 0x44,                            /* Q_Key */
		0x55, 0x66, 0x77, 0x88,                            /* SRQ */
		0x99, 0xaa, 0xbb, 0xcc,                            /* nonce */
		0x80, 0x01, 0x02, 0x03,                            /* P_Key, LID */
		16,   255,  1,    3,                               /* depths, flags, GIDs */
		0,    0,    0,    3,                               /* user's bytes */
		0,    0,    0x15, 0xb3, 0x30, 0,    0,    1,       /* ECE */
		0xde, 0xad, 0xbe, 0xef,                            /* key */
		1,    2,    3,    4,    5,    6,    7,    8,       /* address */
		0,    0,    0,    0,    0,    0,    0x10, 0,       /* length */
		2,    1,    0,    0,    0,    0,    0,    0,       /* GIDs: type, by route */
		0,    0,    0,    0,    0xff, 0xff, 192,  0, 2, 1, /* */
		1,    0,    0xfe, 0x80, 0,    0,    0,    0,       /* */
		0,    0,    0,    0,    0,    0,    0,    0, 0, 1, /* */
		0,    0,    0x20, 0x01, 0x0d, 0xb8, 0,    0,       /* */
		0,    0,    0,    0,    0,    0,    0,    0, 0, 1, /* */
		0,    0,    0,    0,    0,    0,    0,    0,       /* */
		0,    0,    0,    0,    0,    0,    0,    0, 0, 0, /* */
		'a',  'b',  'c'};
	static const uint8_t zeros[RDMAEZ_ENDPOINT_BYTES] = {0};
	const size_t tail = RDMAEZ_ENDPOINT_BYTES - sizeof(head) - 4;
	struct rdmaez_endpoint e = full(), found;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];

	memset(bytes, 0xa5, sizeof(bytes));
	tap_eq_int(rdmaez_endpoint_pack(&e, bytes), 0, "an endpoint is packed");
	for (size_t i = 0; i < sizeof(head); i++)
		tap_eq_int(bytes[i], head[i], "byte %zu", i);
	tap_eq_int(memcmp(bytes + sizeof(head), zeros, tail), 0, "zeros up to the sum");
	memset(&found, 0xa5, sizeof(found));
	check_success(&diag, rdmaez_endpoint_unpack(bytes, &found, &diag), "it is unpacked");
	tap_eq_str(diag.call, "rdmaez_endpoint_unpack", "by this function");
	tap_eq_int(memcmp(&found, &e, sizeof(e)), 0, "as it was");
}

/* Bytes are refused for this, with a record and without, and nothing is written. */
static void not_unpacked(const uint8_t *bytes, const struct expected *want, const char *name)
{
	struct rdmaez_endpoint found, untouched;

	memset(&found, 0xa5, sizeof(found));
	untouched = found;
	check_findings(&diag, rdmaez_endpoint_unpack(bytes, &found, &diag), EINVAL,
		       "rdmaez_endpoint_unpack", want, 1, name);
	tap_eq_int(memcmp(&found, &untouched, sizeof(found)), 0, "%s: nothing is written", name);
	tap_eq_int(rdmaez_endpoint_unpack(bytes, &found, NULL), EINVAL, "%s: without a record",
		   name);
}

#define NOT_UNPACKED(bytes, name, why, field, ...)                                        \
	do {                                                                              \
		const struct expected want = {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##why, field, \
					      __VA_ARGS__};                               \
                                                                                          \
		not_unpacked(bytes, &want, name);                                         \
	} while (0)
#define NOTHING RDMAEZ_VALUE_NONE, 0, 0, 0

/* Gives bytes the check value that they should have. */
static void seal(uint8_t *bytes)
{
	rdmaez_impl_bytes_put(bytes + RDMAEZ_ENDPOINT_BYTES - 4,
			      rdmaez_impl_bytes_sum(bytes, RDMAEZ_ENDPOINT_BYTES - 4), 4);
}

static void check_head(void)
{
	struct rdmaez_endpoint e = full(), found;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];

	rdmaez_endpoint_pack(&e, bytes);
	bytes[0] = 'r';
	bytes[7] = 2;
	NOT_UNPACKED(bytes, "another magic first", ENDPOINT_MAGIC, "endpoint.magic", NOTHING);
	bytes[0] = 'R';
	NOT_UNPACKED(bytes, "then the version", ENDPOINT_VERSION, "endpoint.least_version",
		     RDMAEZ_VALUE_NUMBER, 2, 1, 1);
	bytes[7] = 0;
	NOT_UNPACKED(bytes, "no version", ENDPOINT_VERSION, "endpoint.least_version",
		     RDMAEZ_VALUE_NUMBER, 0, 1, 1);
	bytes[7] = 1;
	bytes[9] = 99;
	NOT_UNPACKED(bytes, "then the sum", ENDPOINT_SUM, "endpoint.checksum", NOTHING);
	seal(bytes);
	NOT_UNPACKED(bytes, "then the fields", ENDPOINT_FIELD, "endpoint.qp_type", NOTHING);
	bytes[9] = 10;
	bytes[5] = 0;
	seal(bytes);
	NOT_UNPACKED(bytes, "a version before the least", ENDPOINT_FIELD, "endpoint.version",
		     NOTHING);
	/* A later version that uses what is zero here, and can be read without that. */
	bytes[5] = 9;
	memset(bytes + 304, 0xff, 76);
	seal(bytes);
	check_success(&diag, rdmaez_endpoint_unpack(bytes, &found, &diag), "a later version");
	tap_eq_int(memcmp(&found, &e, sizeof(e)), 0, "without what it has more");
}

/* A good endpoint with one field that no endpoint has so: it is neither packed nor unpacked. */
static void refuses_field(struct rdmaez_endpoint e, size_t at, uint64_t value, int bytes,
			  const struct expected *want)
{
	uint8_t wire[RDMAEZ_ENDPOINT_BYTES], untouched[RDMAEZ_ENDPOINT_BYTES];
	const struct rdmaez_endpoint good = full();

	memset(untouched, 0xa5, sizeof(untouched));
	memcpy(wire, untouched, sizeof(wire));
	tap_eq_int(rdmaez_endpoint_pack(&e, wire), EINVAL, "%s is not packed", want->field);
	tap_eq_int(memcmp(wire, untouched, sizeof(wire)), 0, "nothing is written");
	if (!bytes)
		return;
	rdmaez_endpoint_pack(&good, wire);
	rdmaez_impl_bytes_put(wire + at, value, bytes);
	seal(wire);
	not_unpacked(wire, want, want->field);
}

#define BAD(member, value, at, bytes, ...)                                                 \
	do {                                                                               \
		const struct expected bad = {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_FIELD, \
					     "endpoint." #member, __VA_ARGS__};            \
		struct rdmaez_endpoint bad_one = full();                                   \
                                                                                           \
		bad_one.member = value;                                                    \
		refuses_field(bad_one, at, (uint64_t)value, bytes, &bad);                  \
	} while (0)

static void check_fields(void)
{
	static const enum ibv_qp_type good[] = {
		IBV_QPT_RC,       IBV_QPT_UC,       IBV_QPT_UD,
		IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, RDMAEZ_QPT_SRD,
		RDMAEZ_QPT_DCI,   RDMAEZ_QPT_DCT,   (enum ibv_qp_type)0};
	static const char *const no_end[] = {"::", "ff0e::1", "::ffff:224.0.0.1"};
	struct rdmaez_endpoint e = full(), found;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];

	BAD(qp_type, (enum ibv_qp_type)256, 8, 2, RDMAEZ_VALUE_NUMBER, 256, 0, 255);
	BAD(qp_type, IBV_QPT_RAW_PACKET, 8, 2, NOTHING);
	BAD(qp_type, IBV_QPT_DRIVER, 8, 2, NOTHING);
	BAD(link_layer, 3, 10, 1, RDMAEZ_VALUE_NUMBER, 3, 0, 2);
	BAD(mtu, (enum ibv_mtu)0, 11, 1, RDMAEZ_VALUE_NUMBER, 0, 1, 5);
	BAD(mtu, (enum ibv_mtu)6, 11, 1, RDMAEZ_VALUE_NUMBER, 6, 1, 5);
	BAD(qp_num, 0x1000000, 12, 4, RDMAEZ_VALUE_NUMBER, 0x1000000, 0, 0xffffff);
	BAD(psn, 0xffffffff, 16, 4, RDMAEZ_VALUE_NUMBER, 0xffffffff, 0, 0xffffff);
	BAD(gid_count, 5, 39, 1, RDMAEZ_VALUE_NUMBER, 5, 0, 4);
	BAD(user_length, 161, 40, 4, RDMAEZ_VALUE_NUMBER, 161, 0, 160);
	BAD(ece.comp_mask, 1, 0, 0, NOTHING);
	BAD(memory.length, UINT64_MAX - 0x0102030405060708 + 1, 64, 8, NOTHING);
	BAD(gid[1].gid_type, 3, 0, 0, NOTHING);
	for (size_t i = 0; i < COUNT_OF(no_end); i++) {
		e.gid[2].gid = gid_of(no_end[i]);
		tap_eq_int(rdmaez_endpoint_pack(&e, bytes), EINVAL, "%s is no end", no_end[i]);
	}

	e = full();
	rdmaez_endpoint_pack(&e, bytes);
	bytes[72 + 18] = 3;
	seal(bytes);
	NOT_UNPACKED(bytes, "an unknown type of GID", ENDPOINT_FIELD, "endpoint.gid.gid_type",
		     RDMAEZ_VALUE_POSITION, 1, 0, 0);
	bytes[72 + 18] = 1;
	memset(bytes + 72 + 36 + 2, 0, 16);
	seal(bytes);
	NOT_UNPACKED(bytes, "a GID of zeros", ENDPOINT_FIELD, "endpoint.gid.gid",
		     RDMAEZ_VALUE_POSITION, 2, 0, 0);
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		e.qp_type = good[i];
		e.memory.length = UINT64_MAX - e.memory.addr;
		e.gid_count = i % 5 > 3 ? 3 : (unsigned int)i % 5;
		e.user_length = i ? 160 : 0;
		tap_eq_int(rdmaez_endpoint_pack(&e, bytes), 0, "type %d is packed", (int)good[i]);
		tap_eq_int(rdmaez_endpoint_unpack(bytes, &found, NULL), 0, "and unpacked");
		tap_eq_int(found.qp_type, good[i], "as that type");
		tap_eq_int(found.gid_count, e.gid_count, "with as many GIDs");
		tap_eq_int(found.user_length, e.user_length, "and bytes");
	}
	tap_eq_int(rdmaez_endpoint_pack(NULL, bytes), EINVAL, "no endpoint");
	tap_eq_int(rdmaez_endpoint_pack(&e, NULL), EINVAL, "no room");
	check_refusal(&diag, rdmaez_endpoint_unpack(NULL, &found, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "buf", "no bytes");
	check_refusal(&diag, rdmaez_endpoint_unpack(bytes, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "endpoint", "no endpoint");
}

/* What is not told is not read either: this end's own numbers, and what stands behind the counts. */
static void check_untold(void)
{
	struct rdmaez_endpoint e = full(), same = full(), found;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES], other[RDMAEZ_ENDPOINT_BYTES];

	e.port_num = 2;
	e.pkey_index = 3;
	e.gid[0].gid_index = 4;
	e.gid[3] = e.gid[0];
	memset(e.user + 3, 0xff, sizeof(e.user) - 3);
	rdmaez_endpoint_pack(&e, bytes);
	rdmaez_endpoint_pack(&same, other);
	tap_eq_int(memcmp(bytes, other, sizeof(bytes)), 0, "it is not told");
	memset(bytes + 72 + 54, 0xff, 18);
	memset(bytes + 72 + 72 + 3, 0xff, 157);
	bytes[73] = 0xff;
	seal(bytes);
	tap_eq_int(rdmaez_endpoint_unpack(bytes, &found, NULL), 0, "nor does it matter");
	tap_eq_int(memcmp(&found, &same, sizeof(found)), 0, "if it is there");
}

/* Any single bit that changes is noticed. */
static void check_bits(void)
{
	struct rdmaez_endpoint e = full(), found;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	int taken = 0;

	rdmaez_endpoint_pack(&e, bytes);
	for (size_t i = 0; i < 8 * sizeof(bytes); i++) {
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		taken += !rdmaez_endpoint_unpack(bytes, &found, NULL);
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	tap_eq_int(taken, 0, "no endpoint with another bit is taken");
	tap_eq_int(rdmaez_endpoint_unpack(bytes, &found, NULL), 0, "but the one without");
}

static void check_text(void)
{
	struct rdmaez_endpoint e = full(), found;
	char text[RDMAEZ_ENDPOINT_TEXT + 8] = "";

	tap_eq_int(rdmaez_endpoint_format(&e, text + 2, RDMAEZ_ENDPOINT_TEXT), 768, "its length");
	tap_eq_int((int64_t)strlen(text + 2), 768, "is the text's");
	tap_eq_int(strncmp(text + 2,
			   "525a45500001000100"
			   "0a0205",
			   24),
		   0, "which is hex");
	memcpy(text, "\t ", 2);
	strcat(text, " \r\n");
	check_success(&diag, rdmaez_endpoint_parse(text, &found, &diag), "with blanks around it");
	tap_eq_int(memcmp(&found, &e, sizeof(e)), 0, "it is read as it was");
	strcat(text, "x");
	CHECK_FINDINGS(&diag, rdmaez_endpoint_parse(text, &found, &diag), EINVAL,
		       "rdmaez_endpoint_parse", "something behind it",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_TEXT, "text", RDMAEZ_VALUE_POSITION,
			773, 0, 0});
	for (size_t cut = 0; cut <= 768; cut += 96) {
		const char was = text[2 + cut];

		text[2 + cut] = cut == 768 ? 'f' : "\0gG/:`@ \x80"[cut / 96 % 9];
		CHECK_FINDINGS(&diag, rdmaez_endpoint_parse(text, &found, &diag), EINVAL,
			       "rdmaez_endpoint_parse", "a wrong letter",
			       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_TEXT, "text",
				RDMAEZ_VALUE_POSITION, 2 + cut, 0, 0});
		text[2 + cut] = was;
	}
	for (char *at = text; *at; at++)
		*at = (char)toupper((unsigned char)*at);
	text[770] = '\0';
	check_success(&diag, rdmaez_endpoint_parse(text, &found, &diag), "capitals will do");
	tap_eq_str(diag.call, "rdmaez_endpoint_parse", "by this function");
	text[20] = text[20] == '0' ? '1' : '0';
	CHECK_FINDINGS(&diag, rdmaez_endpoint_parse(text, &found, &diag), EINVAL,
		       "rdmaez_endpoint_parse", "a digit that was changed",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_SUM, "endpoint.checksum", NOTHING});
	check_refusal(&diag, rdmaez_endpoint_parse(NULL, &found, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "text", "no text");
	check_refusal(&diag, rdmaez_endpoint_parse(text, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "endpoint", "no endpoint");
	memset(text, 'x', sizeof(text));
	tap_eq_int(rdmaez_endpoint_format(&e, text, 6), 768, "a text that is cut has its length");
	tap_eq_str(text, "525a4", "and ends");
	tap_eq_int(text[6], 'x', "where it should");
	tap_eq_int(rdmaez_endpoint_format(&e, NULL, 0), 768, "without a buffer too");
	e.mtu = (enum ibv_mtu)7;
	tap_eq_int(rdmaez_endpoint_format(&e, text, 6), 0, "one that cannot be told");
	tap_eq_str(text, "", "has no text");
}

/* ---- Negotiation ----------------------------------------------------------------------------- */

/* An end on RoCE as it comes out of rdmaez_endpoint_local(): `host` tells its addresses. */
static struct rdmaez_endpoint end_of(unsigned int host)
{
	struct rdmaez_endpoint e;

	memset(&e, 0, sizeof(e));
	e.qp_type = IBV_QPT_RC;
	e.qp_num = 0x100 + host;
	e.psn = 0x1000 + host;
	e.nonce = host;
	e.qkey = RDMAEZ_QP_QKEY;
	e.pkey = 0xffff;
	e.port_num = (int)host;
	e.link_layer = IBV_LINK_LAYER_ETHERNET;
	e.mtu = IBV_MTU_1024;
	e.max_rd_atomic = e.max_dest_rd_atomic = 16;
	e.gid_count = 2;
	e.gid[0].gid = gid_of("::ffff:192.0.2.0");
	e.gid[0].gid.raw[15] = (uint8_t)host;
	e.gid[0].gid_type = e.gid[1].gid_type = IBV_GID_TYPE_ROCE_V2;
	e.gid[0].gid_index = 3;
	e.gid[1].gid = gid_of("fe80::");
	e.gid[1].gid.raw[15] = (uint8_t)host;
	return e;
}

static void refuses(const struct rdmaez_endpoint *a, const struct rdmaez_endpoint *b,
		    const struct expected *want, const char *name)
{
	struct rdmaez_qp_opts agreed, untouched;

	memset(&agreed, 0xa5, sizeof(agreed));
	untouched = agreed;
	check_findings(&diag, rdmaez_endpoint_negotiate(a, b, NULL, &agreed, &diag), EINVAL,
		       "rdmaez_endpoint_negotiate", want, 1, name);
	tap_eq_int(memcmp(&agreed, &untouched, sizeof(agreed)), 0, "%s: nothing is written", name);
	tap_eq_int(rdmaez_endpoint_negotiate(a, b, NULL, &agreed, NULL), EINVAL,
		   "%s: without a record", name);
}

#define REFUSES(a, b, name, why, field, ...)                                              \
	do {                                                                              \
		const struct expected want = {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##why, field, \
					      __VA_ARGS__};                               \
                                                                                          \
		refuses(a, b, &want, name);                                               \
	} while (0)

static void check_misfits(void)
{
	struct rdmaez_endpoint a = end_of(1), b = end_of(2);

	a.port_num = 0;
	REFUSES(&a, &b, "an end that was received", ENDPOINT_NOT_OWN, "local.port_num", NOTHING);
	a = end_of(1);
	a.qp_num = 0;
	REFUSES(&a, &b, "no queue pair here", ENDPOINT_NO_QP, "local.qp_num", NOTHING);
	REFUSES(&b, &a, "no queue pair there", ENDPOINT_NO_QP, "remote.qp_num", NOTHING);
	a = end_of(1);
	a.gid_count = 5;
	REFUSES(&a, &b, "too many GIDs here", ENDPOINT_FIELD, "local.gid_count",
		RDMAEZ_VALUE_NUMBER, 5, 0, 4);
	REFUSES(&b, &a, "too many GIDs there", ENDPOINT_FIELD, "remote.gid_count",
		RDMAEZ_VALUE_NUMBER, 5, 0, 4);
	a = end_of(1);
	a.qp_type = IBV_QPT_UC;
	REFUSES(&a, &b, "UC and RC", ENDPOINT_QP_TYPES, "remote.qp_type", RDMAEZ_VALUE_TYPES,
		IBV_QPT_UC, 0, IBV_QPT_RC);
	a = end_of(1);
	a.link_layer = IBV_LINK_LAYER_INFINIBAND;
	REFUSES(&a, &b, "InfiniBand and Ethernet", ENDPOINT_LINK_LAYERS, "remote.link_layer",
		RDMAEZ_VALUE_NUMBER, 2, 1, 1);
	a = end_of(1);
	a.pkey = 0x8002;
	REFUSES(&a, &b, "two partitions", ENDPOINT_PKEYS, "remote.pkey", RDMAEZ_VALUE_PKEYS, 0x8002,
		0, 0xffff);
	a.pkey = b.pkey = 0x7fff;
	REFUSES(&a, &b, "two limited members", PKEY_LIMITED, "remote.pkey", RDMAEZ_VALUE_PKEYS,
		0x7fff, 0, 0x7fff);
	b.pkey = 0xffff;
	tap_eq_int(rdmaez_endpoint_negotiate(&a, &b, NULL, &(struct rdmaez_qp_opts){0}, NULL), 0,
		   "a limited and a full member");
}

static void check_gid_misfits(void)
{
	struct rdmaez_endpoint a = end_of(1), b = end_of(2);

	a.gid_count = 0;
	REFUSES(&a, &b, "no GID here", ENDPOINT_NO_GID, "local.gid_count", NOTHING);
	REFUSES(&b, &a, "no GID there", ENDPOINT_NO_GID, "remote.gid_count", NOTHING);
	a = end_of(1);
	a.gid[0].gid_type = a.gid[1].gid_type = IBV_GID_TYPE_ROCE_V1;
	REFUSES(&a, &b, "RoCE v1 and v2", ENDPOINT_GID_TYPES, "remote.gid", NOTHING);
	a = end_of(1);
	a.gid_count = b.gid_count = 1;
	b.gid[0].gid = gid_of("2001:db8::2");
	REFUSES(&a, &b, "IPv4 and IPv6", ENDPOINT_FAMILIES, "remote.gid", NOTHING);
	a.gid[0] = a.gid[1];
	REFUSES(&a, &b, "link-local and routable", ENDPOINT_SCOPES, "remote.gid", NOTHING);
	a.link_layer = b.link_layer = IBV_LINK_LAYER_INFINIBAND;
	memcpy(&b.gid[0].gid, &a.gid[0].gid, 8);
	b.lid = 7;
	REFUSES(&a, &b, "no LID here", ENDPOINT_NO_LID, "local.lid", NOTHING);
	REFUSES(&b, &a, "no LID there", ENDPOINT_NO_LID, "remote.lid", NOTHING);
}

int main(void)
{
	start();
	check_bytes();
	check_head();
	check_fields();
	check_untold();
	check_bits();
	check_text();
	check_misfits();
	check_gid_misfits();
	fake_close_all();
	return tap_done();
}
