/* SPDX-License-Identifier: MIT */
/* What one end tells the other: what is asked for it, its bytes and its text, and what both ends make of it. */
#include <ctype.h>

#include "check.h"
#include <rdmaez/implementation.h>
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
	const size_t tail = RDMAEZ_ENDPOINT_BYTES - sizeof(head) - 16;
	struct rdmaez_endpoint e = full(), found;
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	uint64_t sum = 0, sums = 0;

	memset(bytes, 0xa5, sizeof(bytes));
	tap_eq_int(rdmaez_endpoint_pack(&e, bytes), 0, "an endpoint is packed");
	for (size_t i = 0; i < sizeof(head); i++)
		tap_eq_int(bytes[i], head[i], "byte %zu", i);
	tap_eq_int(memcmp(bytes + sizeof(head), zeros, tail), 0, "zeros up to the sums");
	/* Each byte by its own weight, as another program may do it. */
	for (size_t i = 0; i < sizeof(head); i++) {
		sum += (uint64_t)head[i] << 8 * (3 - i % 4);
		sums += ((uint64_t)head[i] << 8 * (3 - i % 4)) * (92 - i / 4);
	}
	for (size_t i = 0; i < 8; i++) {
		tap_eq_int(bytes[368 + i], (uint8_t)(sum >> 8 * (7 - i)), "byte %zu of the sum", i);
		tap_eq_int(bytes[376 + i], (uint8_t)(sums >> 8 * (7 - i)), "and of that of sums");
	}
	memset(&found, 0xa5, sizeof(found));
	check_success(&diag, rdmaez_endpoint_unpack(bytes, &found, &diag), "it is unpacked");
	tap_eq_str(diag.call, "rdmaez_endpoint_unpack", "by this function");
	tap_eq_int(memcmp(&found, &e, sizeof(e)), 0, "as it was");
}

/* Whether bytes are refused of which those `bits` behind the first are changed: all, or the outer two alone. */
static bool notices(const uint8_t *good, size_t first, size_t bits, bool all)
{
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint found;

	memcpy(bytes, good, sizeof(bytes));
	for (size_t i = 0; i < bits; i++)
		if (all || !i || i == bits - 1)
			bytes[(first + i) / 8] ^= (uint8_t)(0x80 >> (first + i) % 8);
	return rdmaez_endpoint_unpack(bytes, &found, NULL) == EINVAL;
}

/* Each burst that fits into two words, and each pair of words that is exchanged. */
static void check_changes(void)
{
	static const size_t lengths[] = {1, 2, 8, 31, 32, 33};
	const struct rdmaez_endpoint e = full();
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES], other[RDMAEZ_ENDPOINT_BYTES];
	struct rdmaez_endpoint found;
	int missed = 0;

	rdmaez_endpoint_pack(&e, bytes);
	for (size_t i = 0; i < COUNT_OF(lengths); i++)
		for (size_t at = 0; at + lengths[i] <= 8 * sizeof(bytes); at++)
			missed += !notices(bytes, at, lengths[i], true) +
				  !notices(bytes, at, lengths[i], false);
	tap_eq_int(missed, 0, "no burst of up to 33 bits goes unnoticed");
	for (size_t i = 0; i < sizeof(bytes); i += 4)
		for (size_t j = i + 4; j < sizeof(bytes); j += 4) {
			memcpy(other, bytes, sizeof(other));
			memcpy(other + i, bytes + j, 4);
			memcpy(other + j, bytes + i, 4);
			missed += memcmp(other, bytes, sizeof(bytes)) != 0 &&
				  !rdmaez_endpoint_unpack(other, &found, NULL);
		}
	tap_eq_int(missed, 0, "nor do two words in each other's place");
}

/* Of each GID for itself, whether it is reached by a route is told. */
static void check_routes(void)
{
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];

	for (int i = 0; i < 3; i++) {
		struct rdmaez_endpoint e = full(), found;

		for (int j = 0; j < 3; j++)
			e.gid[j].by_route = j == i;
		tap_eq_int(rdmaez_endpoint_pack(&e, bytes), 0, "GID %d is reached by a route", i);
		tap_eq_int(rdmaez_endpoint_unpack(bytes, &found, NULL), 0, "which is told");
		for (int j = 0; j < 3; j++)
			tap_eq_int(found.gid[j].by_route, j == i, "of GID %d", j);
	}
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
	rdmaez_impl_endpoint_sums(bytes, bytes + RDMAEZ_IMPL_ENDPOINT_SUMS);
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
	memset(bytes + 304, 0xff, 64);
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
	check_findings(&diag, rdmaez_endpoint_check(&e, &diag), EINVAL, "rdmaez_endpoint_check",
		       want, 1, want->field);
	tap_eq_int(rdmaez_endpoint_check(&e, NULL), EINVAL, "nor without a record");
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
	BAD(qp_num, 0x1000000, 12, 4, RDMAEZ_VALUE_HEX, 0x1000000, 0, 0xffffff);
	BAD(psn, 0xffffffff, 16, 4, RDMAEZ_VALUE_HEX, 0xffffffff, 0, 0xffffff);
	BAD(gid_count, 5, 39, 1, RDMAEZ_VALUE_NUMBER, 5, 0, 4);
	BAD(user_length, 161, 40, 4, RDMAEZ_VALUE_NUMBER, 161, 0, 160);
	BAD(ece.comp_mask, 1, 0, 0, NOTHING);
	BAD(memory.length, UINT64_MAX - 0x0102030405060708 + 1, 64, 8, NOTHING);
	e.gid[1].gid_type = 3;
	refuses_field(e, 0, 0, 0,
		      &(const struct expected){RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_FIELD,
					       "endpoint.gid.gid_type", RDMAEZ_VALUE_POSITION, 1, 0,
					       0});
	e = full();
	for (size_t i = 0; i < COUNT_OF(no_end); i++) {
		e.gid[2].gid = gid_of(no_end[i]);
		refuses_field(e, 0, 0, 0,
			      &(const struct expected){RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_FIELD,
						       "endpoint.gid.gid", RDMAEZ_VALUE_POSITION, 2,
						       0, 0});
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
		check_success(&diag, rdmaez_endpoint_check(&e, &diag), "a good one");
		tap_eq_int(rdmaez_endpoint_pack(&e, bytes), 0, "type %d is packed", (int)good[i]);
		tap_eq_int(rdmaez_endpoint_unpack(bytes, &found, NULL), 0, "and unpacked");
		tap_eq_int(found.qp_type, good[i], "as that type");
		tap_eq_int(found.gid_count, e.gid_count, "with as many GIDs");
		tap_eq_int(found.user_length, e.user_length, "and bytes");
	}
	tap_eq_int(rdmaez_endpoint_pack(NULL, bytes), EINVAL, "no endpoint");
	check_refusal(&diag, rdmaez_endpoint_check(NULL, &diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "endpoint", "nor any to check");
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

	e.port = 2;
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

/* ---- This end -------------------------------------------------------------------------------- */

static struct rdmaez_qp_opts opts;
static struct rdmaez_endpoint own;

static void again(void)
{
	start();
	memset(&opts, 0, sizeof(opts));
	memset(&own, 0xa5, sizeof(own));
}

static void set_row(int row, const char *gid, uint32_t type, uint32_t ifindex)
{
	port->gid[row].gid = gid_of(gid);
	port->gid[row].type = type;
	port->gid[row].ifindex = ifindex;
}

static void check_gid(unsigned int i, uint32_t index, const char *gid, uint32_t type, bool by_route)
{
	char text[RDMAEZ_GID_TEXT];

	rdmaez_gid_format(&own.gid[i].gid, text, sizeof(text));
	tap_eq_str(text, gid, "GID %u", i);
	tap_eq_int(own.gid[i].gid_index, index, "its index");
	tap_eq_int(own.gid[i].gid_type, type, "its type");
	tap_eq_int(own.gid[i].by_route, by_route, "%s the route", by_route ? "on" : "not on");
}

static void check_calls(unsigned int devices, unsigned int ports, unsigned int tables,
			unsigned int gids, unsigned int pkeys)
{
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), devices, "the device is asked");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), ports, "the port");
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), tables, "the GID table");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), gids, "its entries");
	tap_eq_int(fake_count(FAKE_QUERY_PKEY), pkeys, "the P_Key");
	tap_eq_int(fake_count(FAKE_ANY), devices + ports + tables + gids + pkeys, "nothing else");
}

static void check_port(void)
{
	struct ibv_port_attr port_attr;
	struct ibv_device_attr device_attr;

	again();
	check_success(&diag, rdmaez_endpoint_port(ctx, NULL, &own, &diag), "a port is told");
	tap_eq_str(diag.call, "rdmaez_endpoint_port", "by this function");
	tap_eq_str(diag.device, "fake0", "of this device");
	check_calls(1, 1, 1, 0, 0);
	tap_eq_int(fake_route_count(), 0, "and no route: nobody is known");
	tap_eq_int(own.qp_type, 0, "no queue pair's type");
	tap_eq_int(own.qp_num, 0, "nor number");
	tap_eq_int(own.qkey, RDMAEZ_QP_QKEY, "the Q_Key");
	tap_eq_int(own.pkey, 0xffff, "the P_Key");
	tap_eq_int(own.port, 1, "the port");
	tap_eq_int(own.link_layer, IBV_LINK_LAYER_ETHERNET, "the link layer");
	tap_eq_int(own.port_flags, IBV_QPF_GRH_REQUIRED, "the flag");
	tap_eq_int(own.mtu, IBV_MTU_1024, "the MTU");
	tap_eq_int(own.max_rd_atomic, 16, "the depth");
	tap_eq_int(own.max_dest_rd_atomic, 16, "the other one");
	tap_eq_int(own.ece.vendor_id, 0, "no ECE");
	tap_eq_int(own.user_length, 0, "nothing of the user's");
	tap_eq_int((int64_t)own.memory.length, 0, "no memory");
	tap_eq_int(own.gid_count, 4, "as many GIDs as there is room for");
	check_gid(0, 3, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2, false);
	check_gid(1, 5, "2001:db8::1", IBV_GID_TYPE_ROCE_V2, false);
	check_gid(2, 1, "fe80::200:5eff:fe00:5301", IBV_GID_TYPE_ROCE_V2, false);
	check_gid(3, 2, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V1, false);

	ibv_query_port(ctx, 1, &port_attr);
	ibv_query_device(ctx, &device_attr);
	port_attr.active_mtu = IBV_MTU_4096;
	device_attr.max_qp_rd_atom = 3;
	opts.port_attr = &port_attr;
	opts.device_attr = &device_attr;
	fake_reset_log();
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "what is known");
	check_calls(0, 0, 1, 0, 0);
	tap_eq_int(own.mtu, IBV_MTU_4096, "is not asked for");
	tap_eq_int(own.max_dest_rd_atomic, 3, "nor this");
}

static void check_candidates(void)
{
	again();
	set_row(6, "::ffff:10.1.0.1", IBV_GID_TYPE_ROCE_V2, 2);
	set_row(7, "::ffff:10.1.0.1", IBV_GID_TYPE_ROCE_V2, 3); /* the same to a peer */
	set_row(8, "::ffff:10.2.0.1", IBV_GID_TYPE_ROCE_V2, 2);
	set_row(9, "::ffff:10.3.0.1", IBV_GID_TYPE_ROCE_V2, 0); /* no interface */
	opts.path.dgid = gid_of("::ffff:10.2.0.9");
	fake_route_from("10.1.0.1");
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "a peer is known");
	check_calls(1, 1, 1, 0, 0);
	tap_eq_int(fake_route_count(), 1, "and the route to it asked for");
	check_gid(0, 6, "::ffff:10.1.0.1", IBV_GID_TYPE_ROCE_V2, true);
	check_gid(1, 2, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V1, false);
	check_gid(2, 5, "2001:db8::1", IBV_GID_TYPE_ROCE_V2, false);
	check_gid(3, 1, "fe80::200:5eff:fe00:5301", IBV_GID_TYPE_ROCE_V2, false);

	again();
	memset(&port->gid[0], 0, 2 * sizeof(port->gid[0]));
	memset(&port->gid[4], 0, 2 * sizeof(port->gid[0]));
	memset(&port->gid[2], 0, sizeof(port->gid[0]));
	set_row(6, "::ffff:10.1.0.1", IBV_GID_TYPE_ROCE_V2, 2);
	set_row(8, "::ffff:10.2.0.1", IBV_GID_TYPE_ROCE_V2, 2);
	opts.path.dgid = gid_of("::ffff:10.2.0.9");
	fake_route(ENETUNREACH);
	fake_fail(FAKE_QUERY_GID_TABLE, 0, EOPNOTSUPP);
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "no table, no route");
	check_calls(1, 1, 1, 16, 0);
	tap_eq_int(own.gid_count, 3, "GIDs of one kind");
	check_gid(0, 8, "::ffff:10.2.0.1", IBV_GID_TYPE_ROCE_V2, false);
	check_gid(1, 6, "::ffff:10.1.0.1", IBV_GID_TYPE_ROCE_V2, false);
	check_gid(2, 3, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2, false);

	fake_reset_log();
	opts.path.dgid = gid_of("2001:db8::77");
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "another family");
	tap_eq_int(own.gid_count, 3, "is told all the same");
	check_gid(0, 3, "::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2, false);

	fake_reset_log();
	opts.path.sgid_index = 6;
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "an index is named");
	check_calls(1, 1, 0, 1, 0);
	tap_eq_int(own.gid_count, 1, "it is the only one");
	check_gid(0, 6, "::ffff:10.1.0.1", IBV_GID_TYPE_ROCE_V2, false);
}

/* The first is the one that rdmaez_port_choose_gid() chooses, whatever the table and the peer are. */
static void check_first(void)
{
	static const char *const addresses[] = {
		"fe80::1",     "fe80::2",       "::ffff:10.1.0.1",    "::ffff:10.2.0.1",
		"2001:db8::1", "2001:db8:1::1", "::ffff:169.254.1.1", "::"};
	int differ = 0, failed = 0, doubled = 0;

	again();
	srand(1);
	for (int run = 0; run < 3000; run++) {
		struct rdmaez_gid_want want;
		struct ibv_gid_entry chosen;

		memset(port->gid, 0, sizeof(port->gid));
		for (int row = 0; row < 8; row++)
			set_row(row, addresses[rand() % 8], 1 + (uint32_t)rand() % 2,
				(uint32_t)(rand() % 5 ? 2 : 0));
		memset(&want, 0, sizeof(want));
		want.peer = gid_of(addresses[rand() % 8]);
		opts.path.dgid = want.peer;
		fake_route_from(rand() % 2 ? "10.1.0.1" : "2001:db8:1::1");
		fake_reset_log();
		if (rdmaez_port_choose_gid(ctx, 1, &want, &chosen, NULL))
			continue;
		failed += rdmaez_endpoint_port(ctx, &opts, &own, NULL) != 0;
		differ += own.gid[0].gid_index != chosen.gid_index;
		for (unsigned int i = 0; i < own.gid_count; i++)
			for (unsigned int j = 0; j < i; j++)
				doubled += own.gid[i].gid_type == own.gid[j].gid_type &&
					   !memcmp(&own.gid[i].gid, &own.gid[j].gid, 16);
	}
	tap_eq_int(failed, 0, "where one can be chosen, it is told");
	tap_eq_int(differ, 0, "as the first");
	tap_eq_int(doubled, 0, "and none twice");
}

static void not_told(struct ibv_context *context, int error, const char *verb,
		     const struct expected *want, const char *name)
{
	struct rdmaez_endpoint untouched;

	memset(&own, 0xa5, sizeof(own));
	untouched = own;
	check_findings(&diag, rdmaez_endpoint_port(context, &opts, &own, &diag), error,
		       "rdmaez_endpoint_port", want, 1, name);
	tap_eq_str(diag.verb, verb, "%s: the verb", name);
	tap_eq_int(memcmp(&own, &untouched, sizeof(own)), 0, "%s: nothing is written", name);
}

#define NOT_TOLD(context, error, verb, name, why, field, ...)                             \
	do {                                                                              \
		const struct expected want = {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##why, field, \
					      __VA_ARGS__};                               \
                                                                                          \
		not_told(context, error, verb, &want, name);                              \
	} while (0)

static void check_port_refusals(void)
{
	again();
	NOT_TOLD(NULL, EINVAL, NULL, "no device", NULL_ARGUMENT, "context", NOTHING);
	check_refusal(&diag, rdmaez_endpoint_port(ctx, &opts, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "endpoint", "no room");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody is asked");
	opts.port = 2;
	NOT_TOLD(ctx, EINVAL, "ibv_query_port", "no such port", PORT, "port_num",
		 RDMAEZ_VALUE_NUMBER, 2, 1, 1);
	opts.port = 0;
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	NOT_TOLD(ctx, EIO, "ibv_query_port", "a silent port", QUERY_REFUSED, "ibv_query_port",
		 NOTHING);
	opts.path.sgid_index = 9;
	NOT_TOLD(ctx, ENODATA, NULL, "an empty entry", GID_EMPTY, "ah_attr.grh.sgid_index",
		 RDMAEZ_VALUE_INDEX, 9, 0, 0);
	opts.path.sgid_index = 16;
	NOT_TOLD(ctx, EINVAL, NULL, "an index too great", GID_INDEX, "ah_attr.grh.sgid_index",
		 RDMAEZ_VALUE_NUMBER, 16, 0, 15);
	opts.path.sgid_index = -1;
	NOT_TOLD(ctx, EINVAL, NULL, "an index below 0", GID_INDEX, "ah_attr.grh.sgid_index",
		 RDMAEZ_VALUE_NUMBER, (uint64_t)-1, 0, 15);
	opts.path.sgid_index = 3;
	fake_fail(FAKE_QUERY_GID_EX, 1, EIO);
	NOT_TOLD(ctx, EIO, "ibv_query_gid_ex", "a silent entry", QUERY_REFUSED, "ibv_query_gid_ex",
		 NOTHING);
	opts.path.sgid_index = 0;
	opts.mtu = (enum ibv_mtu)1024;
	NOT_TOLD(ctx, EINVAL, NULL, "an MTU in bytes", MTU_IN_BYTES, "path_mtu", RDMAEZ_VALUE_MTU,
		 1024, 1, 5);
	opts.mtu = (enum ibv_mtu)0;
	memset(port->gid, 0, sizeof(port->gid));
	NOT_TOLD(ctx, EADDRNOTAVAIL, NULL, "no GID", GID_NONE, "ah_attr.grh.sgid_index", NOTHING);
	fake_reset_log();
	fake_port_infiniband(port);
	fake_fail(FAKE_QUERY_PKEY, 1, EIO);
	NOT_TOLD(ctx, EIO, "ibv_query_pkey", "a silent P_Key", QUERY_REFUSED, "ibv_query_pkey",
		 NOTHING);
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "a silent device");
	tap_eq_int(own.max_rd_atomic, 1, "means little depth");
	tap_eq_int(own.max_dest_rd_atomic, 1, "both ways");
}

static void check_infiniband(void)
{
	again();
	fake_port_infiniband(port);
	port->pkey[2] = 0x8001;
	opts.pkey_index = 2;
	opts.qkey = 7;
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "InfiniBand");
	check_calls(1, 1, 0, 1, 1);
	tap_eq_int(own.lid, 1, "its LID");
	tap_eq_int(own.pkey, 0x8001, "its P_Key");
	tap_eq_int(own.pkey_index, 2, "and where that is");
	tap_eq_int(own.qkey, 7, "the Q_Key");
	tap_eq_int(own.port_flags, 0, "no header is required");
	tap_eq_int(own.gid_count, 1, "one GID");
	check_gid(0, 0, "fe80::200:5e00:0:5301", IBV_GID_TYPE_IB, false);
	port->attr.flags = IBV_QPF_GRH_REQUIRED;
	memset(port->gid, 0, sizeof(port->gid));
	check_success(&diag, rdmaez_endpoint_port(ctx, &opts, &own, &diag), "without a GID");
	tap_eq_int(own.gid_count, 0, "it has none to tell");
	tap_eq_int(own.port_flags, IBV_QPF_GRH_REQUIRED, "a header is required");
}

/* MTU and depths are those that the transitions would use. */
static void check_limits(void)
{
	static const int depths[] = {0, 1, 16, 17, 255, RDMAEZ_ZERO};
	static const int shared[] = {0, 16, 100, 16384};

	for (size_t i = 0; i < 2 * COUNT_OF(depths) * COUNT_OF(shared); i++) {
		struct ibv_device_attr device;
		struct rdmaez_qp_opts with;
		struct ibv_qp *qp;

		again();
		if (i % 2)
			fake_profile(dev, FAKE_PROFILE_MLX5);
		dev->attr.orig_attr.max_qp_rd_atom = 8;
		dev->attr.orig_attr.max_res_rd_atom = shared[i / 2 % COUNT_OF(shared)];
		port->attr.active_mtu = IBV_MTU_2048;
		opts.mtu = (enum ibv_mtu)(i % 6);
		opts.flags = i % 4 ? 0 : RDMAEZ_QP_MTU_EXACT;
		opts.max_rd_atomic = opts.max_dest_rd_atomic = depths[i / 2 / COUNT_OF(shared)];
		opts.path.dgid = gid_of("::ffff:192.0.2.9");
		opts.dest_qp_num = 5;
		qp = fake_qp(ctx, IBV_QPT_RC);
		tap_eq_int(rdmaez_endpoint_port(ctx, &opts, &own, NULL), 0, "the end is told");
		with = opts;
		ibv_query_device(ctx, &device);
		with.device_attr = &device; /* so that a depth that is named is limited */
		rdmaez_qp_to_init(qp, &with, NULL);
		tap_eq_int(rdmaez_qp_to_rtr(qp, &with, NULL), 0, "RTR");
		tap_eq_int(fake_qp_true(qp)->path_mtu, own.mtu, "with this MTU");
		tap_eq_int(fake_qp_true(qp)->max_dest_rd_atomic, own.max_dest_rd_atomic,
			   "with this depth");
		tap_eq_int(rdmaez_qp_to_rts(qp, &with, NULL), 0, "RTS");
		tap_eq_int(fake_qp_true(qp)->max_rd_atomic, own.max_rd_atomic, "with this depth");
	}
}

static void check_qp(void)
{
	struct rdmaez_endpoint before;
	struct ibv_qp *qp;

	again();
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_success(&diag, rdmaez_endpoint_local(qp, NULL, &own, &diag), "a queue pair");
	tap_eq_str(diag.call, "rdmaez_endpoint_local", "by this function");
	tap_eq_int(diag.qp_num, qp->qp_num, "the record has it");
	check_calls(1, 1, 1, 0, 0);
	tap_eq_int(own.qp_type, IBV_QPT_RC, "its type");
	tap_eq_int(own.qp_num, qp->qp_num, "its number");
	tap_eq_int(own.gid_count, 4, "and the port's GIDs");
	before = own;
	own.srq_num = 77;
	fake_reset_log();
	check_success(&diag, rdmaez_endpoint_set_qp(&own, qp, &diag), "again");
	tap_eq_str(diag.call, "rdmaez_endpoint_set_qp", "by this function");
	tap_eq_int(fake_count(FAKE_ANY), 0, "no verb is called");
	tap_ok(own.psn != before.psn && own.psn <= 0xffffff, "another PSN");
	tap_ok(own.nonce != before.nonce, "another nonce");
	before.psn = own.psn;
	before.nonce = own.nonce;
	before.srq_num = 77;
	tap_eq_int(memcmp(&own, &before, sizeof(own)), 0, "nothing else");

	check_refusal(&diag, rdmaez_endpoint_set_qp(NULL, qp, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "endpoint", "no endpoint");
	check_refusal(&diag, rdmaez_endpoint_set_qp(&own, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	check_refusal(&diag, rdmaez_endpoint_local(NULL, NULL, &own, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "nor here");
	tap_eq_str(diag.call, "rdmaez_endpoint_local", "which the record tells");
	check_refusal(&diag, rdmaez_endpoint_local(qp, NULL, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "endpoint", "no room");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody is asked");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	CHECK_VERB_FINDINGS(
		&diag, rdmaez_endpoint_local(qp, NULL, &own, &diag), EIO, "rdmaez_endpoint_local",
		"ibv_query_port", "a silent port",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_port", NOTHING});
	tap_eq_int(memcmp(&own, &before, sizeof(own)), 0, "nothing is written");
	qp = fake_qp(ctx, IBV_QPT_RAW_PACKET);
	CHECK_FINDINGS(&diag, rdmaez_endpoint_local(qp, NULL, &own, &diag), EINVAL,
		       "rdmaez_endpoint_local", "a queue pair without a peer",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_QP_TYPES, "qp.qp_type",
			RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0});
}

static void check_driver_types(void)
{
	struct ibv_qp *qp;

	again();
	fake_profile(dev, FAKE_PROFILE_EFA);
	qp = fake_qp_driver(ctx, FAKE_SRD);
	CHECK_FINDINGS(&diag, rdmaez_endpoint_local(qp, &opts, &own, &diag), EINVAL,
		       "rdmaez_endpoint_local", "a driver's type untold",
		       {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_ENDPOINT_QP_TYPES, "qp.qp_type",
			RDMAEZ_VALUE_TYPE, IBV_QPT_DRIVER, 0, 0});
	opts.driver_type = RDMAEZ_QPT_SRD;
	check_success(&diag, rdmaez_endpoint_local(qp, &opts, &own, &diag), "SRD");
	tap_eq_int(own.qp_type, RDMAEZ_QPT_SRD, "is told as such");
	tap_eq_int(own.link_layer, IBV_LINK_LAYER_UNSPECIFIED, "efa has no link layer of a name");
	tap_eq_int(own.gid_count, 1, "but a GID");
}

static void check_ece(void)
{
	struct ibv_qp *qp;

	again();
	qp = fake_qp(ctx, IBV_QPT_RC);
	opts.flags = RDMAEZ_QP_ECE;
	check_success(&diag, rdmaez_endpoint_local(qp, &opts, &own, &diag), "a device without ECE");
	tap_eq_int(fake_count(FAKE_QUERY_ECE), 1, "is asked");
	tap_eq_int(own.ece.vendor_id, 0, "and offers none");
	fake_fail(FAKE_QUERY_ECE, 1, EIO);
	CHECK_VERB_FINDINGS(
		&diag, rdmaez_endpoint_local(qp, &opts, &own, &diag), EIO, "rdmaez_endpoint_local",
		"ibv_query_ece", "a device that fails",
		{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_QUERY_REFUSED, "ibv_query_ece", NOTHING});

	fake_profile(dev, FAKE_PROFILE_MLX5);
	fake_reset_log();
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_success(&diag, rdmaez_endpoint_local(qp, &opts, &own, &diag), "firmware without");
	tap_eq_int(own.ece.vendor_id, 0, "offers none");
	dev->ece_options = 0x30000001;
	qp = fake_qp(ctx, IBV_QPT_RC);
	check_success(&diag, rdmaez_endpoint_local(qp, &opts, &own, &diag), "firmware with ECE");
	tap_eq_int(own.ece.vendor_id, 0x15b3, "offers it");
	tap_eq_int(own.ece.options, 0x30000001, "with its options");
	fake_reset_log();
	opts.flags = 0;
	rdmaez_endpoint_local(qp, &opts, &own, &diag);
	tap_eq_int(fake_count(FAKE_QUERY_ECE), 0, "nobody asks unless told to");
	tap_eq_int(own.ece.vendor_id, 0, "or offers");
}

static void check_ece_both(void)
{
	struct rdmaez_endpoint a, b;
	struct ibv_ece ece;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	a.ece.vendor_id = b.ece.vendor_id = 0x15b3;
	a.ece.options = 0xf0;
	b.ece.options = 0x3c;
	memset(&ece, 0xa5, sizeof(ece));
	rdmaez_impl_endpoint_ece(&a, &b, &ece);
	tap_eq_int(ece.vendor_id, 0x15b3, "ECE of one vendor");
	tap_eq_int(ece.options, 0x30, "what both can do");
	tap_eq_int(ece.comp_mask, 0, "and nothing else");
	b.ece.options = 0x0f;
	rdmaez_impl_endpoint_ece(&a, &b, &ece);
	tap_eq_int(ece.vendor_id, 0, "nothing in common");
	b.ece.options = 0xff;
	b.ece.vendor_id = 1;
	rdmaez_impl_endpoint_ece(&a, &b, &ece);
	tap_eq_int(ece.vendor_id + ece.options, 0, "another vendor");
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
	e.port = (int)host;
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

	a.port = 0;
	REFUSES(&a, &b, "an end that was received", ENDPOINT_NOT_OWN, "local.port", NOTHING);
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

static struct rdmaez_qp_opts agreed_a, agreed_b;

static void check_gid_misfits(void)
{
	static const char headline[] =
		"rdmaez_endpoint_negotiate failed with EINVAL (22), QP 257, RC, from GID index 0 "
		"(fe80::1, RoCE v2)\n    to 2001:db8::2.\n";
	char text[2048];
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
	rdmaez_endpoint_negotiate(&a, &b, NULL, &agreed_a, &diag);
	rdmaez_diag_format(&diag, text, sizeof(text));
	tap_ok(strncmp(text, headline, strlen(headline)) == 0, "which tells both: %s", text);
	a.link_layer = b.link_layer = IBV_LINK_LAYER_INFINIBAND;
	memcpy(&b.gid[0].gid, &a.gid[0].gid, 8);
	b.lid = 7;
	REFUSES(&a, &b, "no LID here", ENDPOINT_NO_LID, "local.lid", NOTHING);
	REFUSES(&b, &a, "no LID there", ENDPOINT_NO_LID, "remote.lid", NOTHING);
	a.lid = 0xc000;
	REFUSES(&b, &a, "a group's LID there", ENDPOINT_NO_LID, "remote.lid", NOTHING);
	a.lid = 0xbfff;
	b.lid = 0xffff;
	REFUSES(&b, &a, "the LID of a port that has none yet", ENDPOINT_NO_LID, "local.lid",
		NOTHING);
	b.lid = 1;
	tap_eq_int(rdmaez_endpoint_negotiate(&b, &a, NULL, &agreed_a, &diag), 0,
		   "the least LID and the greatest");
}

/* Both ends come to terms. */
static void agree(const struct rdmaez_endpoint *a, const struct rdmaez_endpoint *b,
		  const char *name)
{
	memset(&agreed_a, 0xa5, sizeof(agreed_a));
	memset(&agreed_b, 0xa5, sizeof(agreed_b));
	check_success(&diag, rdmaez_endpoint_negotiate(b, a, NULL, &agreed_b, &diag), "%s: b",
		      name);
	check_success(&diag, rdmaez_endpoint_negotiate(a, b, NULL, &agreed_a, &diag), "%s: a",
		      name);
}

static void check_agreed(void)
{
	struct rdmaez_endpoint a = end_of(1), b = end_of(2);
	struct rdmaez_qp_opts mine;

	a.mtu = IBV_MTU_4096;
	b.mtu = IBV_MTU_2048;
	a.max_rd_atomic = 3;
	b.max_dest_rd_atomic = 0;
	b.max_rd_atomic = 9;
	a.max_dest_rd_atomic = 8;
	a.qkey = 0;
	a.pkey_index = 4;
	a.lid = b.lid = 1; /* as some RoCE ports have */
	agree(&a, &b, "two ends");
	tap_eq_str(diag.call, "rdmaez_endpoint_negotiate", "by this function");
	tap_eq_int(diag.qp_num, a.qp_num, "for this queue pair");
	tap_eq_int(diag.qp_type, IBV_QPT_RC, "of this type");
	tap_eq_int(diag.source.gid_index, 3, "from this index");
	tap_eq_int(memcmp(&diag.destination, &b.gid[0].gid, 16), 0, "to that GID");
	tap_eq_int(agreed_a.port, 1, "its port");
	tap_eq_int(agreed_b.port, 2, "and the other's");
	tap_eq_int(agreed_a.pkey_index, 4, "its P_Key index");
	tap_eq_int(agreed_a.qkey, RDMAEZ_ZERO, "its Q_Key, which is really zero");
	tap_eq_int(agreed_b.qkey, RDMAEZ_QP_QKEY, "the other's");
	tap_eq_int(agreed_a.mtu, IBV_MTU_2048, "the smaller MTU");
	tap_eq_int(agreed_b.mtu, IBV_MTU_2048, "for both");
	tap_eq_int(agreed_a.flags, RDMAEZ_QP_MTU_EXACT, "just that one");
	tap_eq_int(agreed_a.dest_qp_num, b.qp_num, "the peer's number");
	tap_eq_int(agreed_b.dest_qp_num, a.qp_num, "and the other's");
	tap_eq_int(agreed_a.sq_psn, a.psn, "its PSN");
	tap_eq_int(agreed_a.rq_psn, b.psn, "the peer's");
	tap_eq_int(agreed_b.rq_psn, a.psn, "and the reverse");
	tap_eq_int(agreed_a.max_rd_atomic, RDMAEZ_ZERO, "no READs where none are taken");
	tap_eq_int(agreed_b.max_dest_rd_atomic, RDMAEZ_ZERO, "and none taken");
	tap_eq_int(agreed_b.max_rd_atomic, 8, "as many as the peer takes");
	tap_eq_int(agreed_a.max_dest_rd_atomic, 8, "which takes them");
	tap_eq_int(agreed_a.path.sgid_index, 3, "the GID index");
	tap_eq_int(agreed_a.path.dlid, 0, "no LID");
	tap_eq_int(agreed_a.access, 0, "nothing else is granted");

	memset(&mine, 0, sizeof(mine));
	mine.access = IBV_ACCESS_REMOTE_WRITE;
	mine.timeout = 18;
	mine.path.traffic_class = 106;
	mine.path.sgid_index = 7;
	mine.path.dgid = gid_of("::ffff:10.9.9.9");
	mine.path.dlid = 8;
	mine.mtu = IBV_MTU_256;
	b.gid[0].gid_index = 0;
	tap_eq_int(rdmaez_endpoint_negotiate(&b, &a, &mine, &mine, &diag), 0, "in place");
	tap_eq_int(mine.access, IBV_ACCESS_REMOTE_WRITE, "what the caller grants stays");
	tap_eq_int(mine.timeout, 18, "its timers too");
	tap_eq_int(mine.path.traffic_class, 106, "its traffic class");
	tap_eq_int(mine.path.sgid_index, RDMAEZ_ZERO, "not its index");
	tap_eq_int(memcmp(&mine.path.dgid, &a.gid[0].gid, 16), 0, "nor the address");
	tap_eq_int(mine.path.dlid, 0, "nor the LID");
	tap_eq_int(mine.mtu, IBV_MTU_2048, "nor the MTU, which is told already");

	check_refusal(&diag, rdmaez_endpoint_negotiate(NULL, &b, NULL, &mine, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "local", "no own end");
	check_refusal(&diag, rdmaez_endpoint_negotiate(&a, NULL, NULL, &mine, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "remote", "no peer");
	check_refusal(&diag, rdmaez_endpoint_negotiate(&a, &b, NULL, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "agreed", "no room");
}

/* Which types go together. */
static void check_types(void)
{
	static const enum ibv_qp_type type[] = {
		(enum ibv_qp_type)0, IBV_QPT_RC,       IBV_QPT_UC,       IBV_QPT_UD,
		IBV_QPT_RAW_PACKET,  IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_DRIVER,
		RDMAEZ_QPT_SRD,      RDMAEZ_QPT_DCI,   RDMAEZ_QPT_DCT};
	static const int pair[COUNT_OF(type)] = {-1, 1, 2, 3, -1, 6, 5, -1, 8, 10, 9};
	struct rdmaez_endpoint a = end_of(1), b = end_of(2);

	for (size_t i = 0; i < COUNT_OF(type); i++)
		for (size_t j = 0; j < COUNT_OF(type); j++) {
			const bool fits = pair[i] == (int)j;

			a.qp_type = type[i];
			b.qp_type = type[j];
			tap_eq_int(rdmaez_endpoint_negotiate(&a, &b, NULL, &agreed_a, NULL),
				   fits ? 0 : EINVAL, "type 0x%x with 0x%x", (int)type[i],
				   (int)type[j]);
			if (fits)
				tap_eq_int(agreed_a.driver_type, i < 8 ? 0 : (int)type[i],
					   "and its driver's type");
		}
}

static void check_lids(void)
{
	struct rdmaez_endpoint a = end_of(1), b = end_of(2);
	struct rdmaez_qp_opts mine;

	a.link_layer = b.link_layer = IBV_LINK_LAYER_INFINIBAND;
	a.gid_count = b.gid_count = 1;
	a.gid[0] = a.gid[1];
	b.gid[0] = b.gid[1];
	a.gid[0].gid_type = b.gid[0].gid_type = IBV_GID_TYPE_IB;
	a.lid = 0x11;
	b.lid = 0x22;
	memset(&mine, 0, sizeof(mine));
	mine.path.sgid_index = 5;
	mine.path.dgid = gid_of("::ffff:10.9.9.9");
	tap_eq_int(rdmaez_endpoint_negotiate(&a, &b, &mine, &mine, NULL), 0, "a known address");
	tap_eq_int(mine.path.sgid_index, 0, "is not the peer's GID");
	tap_ok(rdmaez_gid_is_zero(&mine.path.dgid), "nor is any other needed");
	agree(&a, &b, "one subnet");
	tap_eq_int(agreed_a.path.dlid, 0x22, "by LID");
	tap_eq_int(agreed_b.path.dlid, 0x11, "both ways");
	tap_eq_int(agreed_a.path.flags, 0, "without a header");
	tap_ok(rdmaez_gid_is_zero(&agreed_a.path.dgid), "or a GID");
	b.gid_count = 0;
	agree(&a, &b, "no GID");
	b.gid_count = 1;
	b.port_flags = IBV_QPF_GRH_REQUIRED;
	agree(&a, &b, "one port requires a header");
	tap_eq_int(agreed_a.path.flags, RDMAEZ_PATH_GRH, "both send it");
	tap_eq_int(agreed_b.path.flags, RDMAEZ_PATH_GRH, "both ways");
	tap_eq_int(agreed_a.path.dlid, 0x22, "with the LID");
	tap_eq_int(memcmp(&agreed_a.path.dgid, &b.gid[0].gid, 16), 0, "and the GID");
	b.port_flags = 0;
	b.gid[0].gid.raw[1] = 0xc0;
	agree(&a, &b, "two subnets");
	tap_eq_int(agreed_a.path.flags, RDMAEZ_PATH_GRH, "need it too");
	tap_eq_int(memcmp(&agreed_b.path.dgid, &a.gid[0].gid, 16), 0, "with the GIDs");
	b.lid = 0;
	agree(&a, &b, "and not the LID");
	a.port_flags = IBV_QPF_GRH_REQUIRED;
	a.gid_count = 0;
	REFUSES(&b, &a, "a header without a GID", ENDPOINT_NO_GID, "remote.gid_count", NOTHING);
	a = end_of(1);
	b = end_of(2);
	a.link_layer = b.link_layer = IBV_LINK_LAYER_UNSPECIFIED;
	agree(&a, &b, "efa");
	tap_eq_int(agreed_a.path.flags, RDMAEZ_PATH_GRH, "goes by GID");
}

static void set_gid(struct rdmaez_endpoint *e, unsigned int i, const char *gid, uint32_t type,
		    bool by_route)
{
	e->gid[i].gid = gid_of(gid);
	e->gid[i].gid_type = type;
	e->gid[i].gid_index = 10 + i;
	e->gid[i].by_route = by_route;
	e->gid_count = i + 1;
}

static void check_pair(const char *from, const char *to, const char *name)
{
	struct rdmaez_endpoint a = end_of(1), b = end_of(2);
	static const uint32_t v1 = IBV_GID_TYPE_ROCE_V1, v2 = IBV_GID_TYPE_ROCE_V2;
	const union ibv_gid source = gid_of(from), target = gid_of(to);

	switch (name[0]) {
	case '1':
		set_gid(&a, 0, "::ffff:10.1.0.1", v2, false);
		set_gid(&a, 1, "::ffff:10.2.0.1", v2, false);
		set_gid(&b, 0, "::ffff:10.3.0.2", v2, false);
		set_gid(&b, 1, "::ffff:10.2.0.2", v2, false);
		break;
	case '2':
		set_gid(&a, 0, "::ffff:10.1.0.1", v2, false);
		set_gid(&a, 1, "::ffff:10.2.0.1", v2, false);
		set_gid(&b, 0, "::ffff:10.1.0.2", v2, false);
		set_gid(&b, 1, "::ffff:10.9.0.2", v2, true);
		break;
	case '3':
		set_gid(&a, 0, "::ffff:10.1.0.1", v1, true);
		set_gid(&a, 1, "2001:db8::1", v2, false);
		set_gid(&b, 0, "::ffff:10.1.0.2", v1, true);
		set_gid(&b, 1, "2001:db9::2", v2, true);
		break;
	case '4':
		set_gid(&a, 0, "::ffff:10.1.0.1", v1, false);
		set_gid(&a, 1, "fe80::1", v2, false);
		set_gid(&b, 0, "::ffff:10.1.0.1", v1, false);
		set_gid(&b, 1, "fe80::2", v2, false);
		break;
	case '5':
		set_gid(&a, 0, "fe80::1", v2, false);
		set_gid(&a, 1, "2001:db8::1", v2, false);
		set_gid(&b, 0, "fe80::1", v2, false);
		set_gid(&b, 1, "4001:db8::1", v2, false);
		break;
	case '6':
		set_gid(&a, 0, "::ffff:169.254.0.1", v2, false);
		set_gid(&a, 1, "fe80::1", v2, false);
		set_gid(&b, 0, "::ffff:169.254.0.2", v2, false);
		set_gid(&b, 1, "2001:db8::1", v2, true);
		break;
	default:
		set_gid(&a, 0, "2001:db8::1", v2, false);
		set_gid(&a, 1, "2001:db8::5", v2, false);
		set_gid(&b, 0, "2001:db8::8", v2, false);
		set_gid(&b, 1, "2001:db8::10", v2, false);
		break;
	}
	agree(&a, &b, name);
	tap_eq_int(memcmp(&a.gid[agreed_a.path.sgid_index - 10].gid, &source, 16), 0, "from %s",
		   from);
	tap_eq_int(memcmp(&agreed_a.path.dgid, &target, 16), 0, "to %s", to);
	tap_eq_int(memcmp(&agreed_b.path.dgid, &source, 16), 0, "and back");
	tap_eq_int(memcmp(&b.gid[agreed_b.path.sgid_index - 10].gid, &target, 16), 0, "from there");
}

static void check_pairs(void)
{
	check_pair("::ffff:10.2.0.1", "::ffff:10.2.0.2", "1: the longest prefix");
	check_pair("::ffff:10.1.0.1", "::ffff:10.9.0.2", "2: before that a route");
	check_pair("::ffff:10.1.0.1", "::ffff:10.1.0.2", "3: two routes before RoCE v2");
	check_pair("fe80::1", "fe80::2", "4: RoCE v2 before what is routable");
	check_pair("2001:db8::1", "4001:db8::1", "5: routable before a prefix");
	check_pair("::ffff:169.254.0.1", "::ffff:169.254.0.2", "6: link-local IPv4 with its own");
	check_pair("2001:db8::1", "2001:db8::8", "7: the first of each");
}

/* What one end sends from is what the other sends to, whatever they tell. */
static void check_mirrored(void)
{
	static const char *const addresses[] = {
		"fe80::1",         "fe80::2",         "::ffff:10.1.0.1",    "::ffff:10.1.0.2",
		"::ffff:10.2.0.1", "2001:db8::1",     "2001:db8::2",        "2001:db8:1::1",
		"4001::1",         "::ffff:10.2.0.9", "::ffff:169.254.1.1", "::ffff:169.254.1.2"};
	union ibv_gid gids[COUNT_OF(addresses)];
	int refused = 0, lone = 0, astray = 0;

	for (size_t i = 0; i < COUNT_OF(addresses); i++)
		gids[i] = gid_of(addresses[i]);
	srand(2);
	for (int run = 0; run < 400000; run++) {
		struct rdmaez_endpoint end[2] = {end_of(1), end_of(2)};
		struct rdmaez_qp_opts agreed[2];
		int error[2];

		for (int e = 0; e < 2; e++) {
			end[e].gid_count = 1 + (unsigned int)rand() % 4;
			for (unsigned int i = 0; i < end[e].gid_count; i++) {
				end[e].gid[i].gid = gids[(size_t)rand() % COUNT_OF(gids)];
				end[e].gid[i].gid_type = rand() % 8 ? 2 : (uint32_t)rand() % 3;
				end[e].gid[i].gid_index = i;
				end[e].gid[i].by_route = rand() % 4 == 0;
			}
		}
		for (int e = 0; e < 2; e++)
			error[e] = rdmaez_endpoint_negotiate(&end[e], &end[!e], NULL, &agreed[e],
							     NULL);
		refused += error[0] && error[1];
		lone += !error[0] != !error[1];
		for (int e = 0; !error[0] && !error[1] && e < 2; e++) {
			const int index = agreed[e].path.sgid_index;

			astray +=
				memcmp(&agreed[!e].path.dgid,
				       &end[e].gid[index == RDMAEZ_ZERO ? 0 : index].gid, 16) != 0;
		}
	}
	tap_eq_int(lone, 0, "no end agrees alone");
	tap_eq_int(astray, 0, "nor to another GID than the peer's own");
	tap_ok(refused > 1000 && refused < 200000, "some have none: %d", refused);
}

/* What was agreed needs no questions but those that attributes of the port would save. */
static void check_moves(void)
{
	struct rdmaez_endpoint a, b = end_of(2);
	struct ibv_port_attr port_attr;
	struct ibv_qp *qp;

	again();
	qp = fake_qp(ctx, IBV_QPT_RC);
	ibv_query_port(ctx, 1, &port_attr);
	rdmaez_endpoint_local(qp, NULL, &a, NULL);
	b.max_dest_rd_atomic = 0;
	agree(&a, &b, "a queue pair and a peer");
	agreed_a.port_attr = &port_attr;
	fake_reset_log();
	check_success(&diag, rdmaez_qp_to_init(qp, &agreed_a, &diag), "INIT");
	check_success(&diag, rdmaez_qp_to_rtr(qp, &agreed_a, &diag), "RTR");
	check_success(&diag, rdmaez_qp_to_rts(qp, &agreed_a, &diag), "RTS");
	tap_eq_int(fake_count(FAKE_MODIFY_QP), 3, "three moves");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and nothing else");
	tap_eq_int(fake_qp_true(qp)->max_rd_atomic, 0, "with the depth that was agreed");
	tap_eq_int(fake_qp_true(qp)->dest_qp_num, b.qp_num, "to the peer");
	tap_eq_int(fake_qp_true(qp)->ah_attr.grh.sgid_index, 3, "from the GID that was told");
}

int main(void)
{
	start();
	check_bytes();
	check_changes();
	check_routes();
	check_head();
	check_fields();
	check_untold();
	check_bits();
	check_text();
	check_port();
	check_candidates();
	check_first();
	check_port_refusals();
	check_infiniband();
	check_limits();
	check_qp();
	check_driver_types();
	check_ece();
	check_ece_both();
	check_misfits();
	check_gid_misfits();
	check_agreed();
	check_types();
	check_lids();
	check_pairs();
	check_mirrored();
	check_moves();
	fake_close_all();
	return tap_done();
}
