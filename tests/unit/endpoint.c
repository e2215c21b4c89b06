/* SPDX-License-Identifier: MIT */
/* What one end tells the other: what is asked for it, its bytes and its text, and what both ends make of it. */
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
	memset(bytes + 300, 0xff, 80);
	seal(bytes);
	check_success(&diag, rdmaez_endpoint_unpack(bytes, &found, &diag), "a later version");
	tap_eq_int(memcmp(&found, &e, sizeof(e)), 0, "without what it has more");
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
	check_text();
	check_misfits();
	check_gid_misfits();
	fake_close_all();
	return tap_done();
}
