/* SPDX-License-Identifier: MIT */
/* GID classes at their boundaries, and the whole table of ranks. */
#include "check.h"

enum {
	CLASSES = 5,
	IFINDEX = 7,
};

/* In the order of enum rdmaez_gid_class. */
static const char *const class_name[CLASSES] = {"zero", "link-local", "IPv4", "multicast",
						"global"};
static const char *const example[CLASSES] = {"::", "fe80::1", "::ffff:192.0.2.1", "ff0e::1",
					     "2001:db8::1"};

static void check_classes(void)
{
	static const struct {
		const char *gid;
		enum rdmaez_gid_class class_;
	} gids[] = {
		{"::", RDMAEZ_GID_CLASS_ZERO},
		{"::1", RDMAEZ_GID_CLASS_GLOBAL},
		{"100::", RDMAEZ_GID_CLASS_GLOBAL},
		{"fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", RDMAEZ_GID_CLASS_GLOBAL},
		{"fe80::", RDMAEZ_GID_CLASS_LINK_LOCAL},
		{"fe80::1", RDMAEZ_GID_CLASS_LINK_LOCAL},
		{"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", RDMAEZ_GID_CLASS_LINK_LOCAL},
		{"fec0::", RDMAEZ_GID_CLASS_GLOBAL},
		{"7e80::", RDMAEZ_GID_CLASS_GLOBAL},
		{"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", RDMAEZ_GID_CLASS_GLOBAL},
		{"ff00::", RDMAEZ_GID_CLASS_MULTICAST},
		{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", RDMAEZ_GID_CLASS_MULTICAST},
		{"::fffe:ffff:ffff", RDMAEZ_GID_CLASS_GLOBAL},
		{"::ffff:0:0", RDMAEZ_GID_CLASS_IPV4},
		{"::ffff:255.255.255.255", RDMAEZ_GID_CLASS_IPV4},
		{"::1:0:0:0", RDMAEZ_GID_CLASS_GLOBAL},
		{"::1:ffff:0:1", RDMAEZ_GID_CLASS_GLOBAL},
		{"8000::ffff:192.0.2.1", RDMAEZ_GID_CLASS_GLOBAL},
		{"::192.0.2.1", RDMAEZ_GID_CLASS_GLOBAL},
		{"2001:db8::1", RDMAEZ_GID_CLASS_GLOBAL},
	};
	union ibv_gid gid;

	for (size_t i = 0; i < COUNT_OF(gids); i++) {
		gid = gid_of(gids[i].gid);
		tap_eq_str(class_name[rdmaez_gid_class(&gid)], class_name[gids[i].class_],
			   "%s is %s", gids[i].gid, class_name[gids[i].class_]);
	}
	memset(&gid, 0, sizeof(gid));
	tap_ok(rdmaez_gid_is_zero(&gid), "a GID of zeros is zero");
	for (int byte = 0; byte < 16; byte++) {
		memset(&gid, 0, sizeof(gid));
		gid.raw[byte] = 1;
		tap_ok(!rdmaez_gid_is_zero(&gid), "a GID with byte %d set is not zero", byte);
		tap_ok(rdmaez_gid_class(&gid) != RDMAEZ_GID_CLASS_ZERO, "nor is its class");
	}
	gid = gid_of("2001:db8::2001:db8:0:0");
	tap_ok(!rdmaez_gid_is_zero(&gid), "nor is a GID of two equal halves");
}

/*
 * What a RoCE v2 row with an interface is worth, by its own class and the peer's, for a want that
 * names neither a type nor an interface. RoCE v1 is worth three less.
 */
static const int rank_v2[CLASSES][CLASSES] = {
	/* peer:	zero, link-local, IPv4, multicast, global */
	/* zero */ {0, 0, 0, 0, 0},
	/* link-local */ {4, 6, 0, 4, 4},
	/* IPv4 */ {6, 0, 6, 6, 0},
	/* multicast */ {4, 4, 0, 4, 4},
	/* global */ {5, 5, 0, 5, 5},
};

struct expected {
	int rank;
	enum rdmaez_why why;
};

static struct expected expect(uint32_t type, int own, int peer, uint32_t ifindex, int want_type,
			      uint32_t want_ifindex)
{
	struct expected expected = {0, RDMAEZ_WHY_NONE};

	if (own == RDMAEZ_GID_CLASS_ZERO) {
		expected.why = RDMAEZ_WHY_GID_EMPTY;
		return expected;
	}
	if (want_type != 0 && want_type != (int)type) {
		expected.why = RDMAEZ_WHY_GID_TYPE;
		return expected;
	}
	if (want_ifindex != 0 && want_ifindex != ifindex) {
		expected.why = RDMAEZ_WHY_GID_OTHER_NETDEV;
		return expected;
	}
	if (type == IBV_GID_TYPE_IB) {
		expected.rank = 6;
		return expected;
	}
	if (ifindex == 0) {
		expected.why = RDMAEZ_WHY_GID_NO_NETDEV;
		return expected;
	}
	if (rank_v2[own][peer] == 0) {
		expected.why = RDMAEZ_WHY_GID_FAMILY;
		return expected;
	}
	expected.rank = rank_v2[own][peer] - (type == IBV_GID_TYPE_ROCE_V1 ? 3 : 0);
	if (own == RDMAEZ_GID_CLASS_LINK_LOCAL && peer != RDMAEZ_GID_CLASS_LINK_LOCAL)
		expected.why = RDMAEZ_WHY_GID_LINK_LOCAL;
	if (type == IBV_GID_TYPE_ROCE_V1)
		expected.why = RDMAEZ_WHY_GID_ROCE_V1;
	return expected;
}

/* One row and peer under every want. */
static void check_row(uint32_t type, int own, int peer, uint32_t ifindex)
{
	static const int types[] = {0, IBV_GID_TYPE_ROCE_V1, IBV_GID_TYPE_ROCE_V2, 99, -1};
	static const uint32_t interfaces[] = {0, IFINDEX, IFINDEX + 1};
	struct rdmaez_gid_want want;
	struct ibv_gid_entry row;
	int wrong = 0;

	memset(&want, 0, sizeof(want));
	memset(&row, 0, sizeof(row));
	row.gid = gid_of(example[own]);
	row.gid_type = type;
	row.ndev_ifindex = ifindex;
	want.peer = gid_of(example[peer]);
	for (size_t t = 0; t < COUNT_OF(types); t++)
		for (size_t n = 0; n < COUNT_OF(interfaces); n++) {
			const struct expected expected =
				expect(type, own, peer, ifindex, types[t], interfaces[n]);
			enum rdmaez_why why = RDMAEZ_WHY_COUNT;
			int rank;

			want.type = types[t];
			want.ndev_ifindex = interfaces[n];
			rank = rdmaez_gid_rank(&row, &want, &why);
			if (rank == expected.rank && why == expected.why &&
			    rdmaez_gid_rank(&row, &want, NULL) == rank)
				continue;
			wrong++;
			tap_diag("wanted type %d of interface %u: rank %d for %s, not %d for %s",
				 want.type, want.ndev_ifindex, rank, rdmaez_why_id(why),
				 expected.rank, rdmaez_why_id(expected.why));
		}
	tap_eq_int(wrong, 0, "a row of type %s, %s, interface %u, for a %s peer ranks right",
		   rdmaez_gid_type_str(type), class_name[own], ifindex, class_name[peer]);
}

static void check_ranks(void)
{
	static const uint32_t types[] = {IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1,
					 IBV_GID_TYPE_ROCE_V2};
	struct ibv_gid_entry row;
	enum rdmaez_why why = RDMAEZ_WHY_COUNT;

	for (size_t t = 0; t < COUNT_OF(types); t++)
		for (int own = 0; own < CLASSES; own++)
			for (int peer = 0; peer < CLASSES; peer++) {
				check_row(types[t], own, peer, 0);
				check_row(types[t], own, peer, IFINDEX);
			}
	memset(&row, 0, sizeof(row));
	tap_eq_int(rdmaez_gid_rank(&row, NULL, &why), 0, "an empty row is of no use to anybody");
	tap_eq_int(why, RDMAEZ_WHY_GID_EMPTY, "because it is empty");
	for (size_t t = 0; t < COUNT_OF(types); t++)
		for (int own = 1; own < CLASSES; own++) {
			const struct expected expected = expect(types[t], own, 0, IFINDEX, 0, 0);

			row.gid = gid_of(example[own]);
			row.gid_type = types[t];
			row.ndev_ifindex = IFINDEX;
			tap_eq_int(rdmaez_gid_rank(&row, NULL, &why), expected.rank,
				   "for nobody in particular %s %s ranks as for an unknown peer",
				   rdmaez_gid_type_str(types[t]), class_name[own]);
			tap_eq_int(why, expected.why, "and for the same reason");
		}
	tap_eq_int(RDMAEZ_GID_RANK_BEST, 6, "6 is the best rank, and is reached");
}

/* Against the C library's own text, at random and with many zero groups. */
static void check_text(void)
{
	uint32_t random = 1;
	int wrong = 0;

	for (int i = 0; i < 20000; i++) {
		char ours[RDMAEZ_GID_TEXT], theirs[INET6_ADDRSTRLEN];
		union ibv_gid gid;

		for (int b = 0; b < 16; b++) {
			random = random * 1664525u + 1013904223u;
			gid.raw[b] = random >> 30 ? 0 : (uint8_t)(random >> 20);
		}
		/* The C library also writes ::a.b.c.d as IPv4, a form long out of use. */
		if (memcmp(gid.raw, "\0\0\0\0\0\0\0\0\0\0\0", 12) == 0)
			continue;
		if (i % 8 == 0)
			gid = gid_of("::ffff:10.0.0.1");
		inet_ntop(AF_INET6, gid.raw, theirs, sizeof(theirs));
		rdmaez_gid_format(&gid, ours, sizeof(ours));
		if (strcmp(ours, theirs) != 0 && wrong++ < 3)
			tap_diag("%s is written as %s", theirs, ours);
	}
	tap_eq_int(wrong, 0, "20000 GIDs are written as inet_ntop() writes them");
}

int main(void)
{
	check_text();
	check_classes();
	check_ranks();
	return tap_done();
}
