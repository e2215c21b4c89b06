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

/* Those with the classes' own numbers come first. */
enum {
	OWNS = CLASSES + 1,
	PEERS = CLASSES + 3
};
static const char *const peer_of[PEERS] = {"::",
					   "fe80::2",
					   "::ffff:192.0.2.2",
					   "ff0e::2",
					   "2001:db8::2",
					   "::ffff:169.254.0.2",
					   "::ffff:239.1.2.3",
					   "ff02::2"};
static const char *const own_of[OWNS] = {"::",      "fe80::1",     "::ffff:192.0.2.1",
					 "ff0e::1", "2001:db8::1", "::ffff:169.254.0.1"};

/*
 * What a row with an interface is worth, for a want that names neither a type nor an interface. RoCE v1 holds a
 * link-local peer's and a group's Ethernet address in the GID, so the families may differ.
 */
static const int rank_v2[OWNS][PEERS] = {
	/* peer:     ::, fe80, 192, ff0e, 2001, 169.254, 239, ff02 */
	/* :: */ {0, 0, 0, 0, 0, 0, 0, 0},
	/* fe80 */ {4, 6, 0, 3, 3, 0, 0, 6},
	/* 192 */ {6, 0, 6, 0, 0, 3, 6, 0},
	/* ff0e */ {5, 3, 0, 6, 6, 0, 0, 3},
	/* 2001 */ {5, 3, 0, 6, 6, 0, 0, 3},
	/* 169.254 */ {4, 0, 3, 0, 0, 6, 3, 0},
};
static const int rank_v1[OWNS][PEERS] = {
	/* :: */ {0, 0, 0, 0, 0, 0, 0, 0},
	/* fe80 */ {1, 4, 0, 1, 1, 0, 1, 4},
	/* 192 */ {3, 1, 4, 4, 0, 1, 4, 1},
	/* ff0e */ {2, 1, 0, 4, 4, 0, 4, 1},
	/* 2001 */ {2, 1, 0, 4, 4, 0, 4, 1},
	/* 169.254 */ {1, 4, 1, 1, 0, 4, 1, 4},
};

static bool is_local(const char *gid)
{
	return strcmp(gid, "fe80::1") == 0 || strcmp(gid, "fe80::2") == 0 ||
	       strncmp(gid, "::ffff:169.254.", 15) == 0 || strcmp(gid, "ff02::2") == 0;
}

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
	expected.rank = (type == IBV_GID_TYPE_ROCE_V1 ? rank_v1 : rank_v2)[own][peer];
	if (expected.rank == 0)
		expected.why = RDMAEZ_WHY_GID_FAMILY;
	else if (type == IBV_GID_TYPE_ROCE_V1)
		expected.why = RDMAEZ_WHY_GID_ROCE_V1;
	else if (is_local(own_of[own]) && !is_local(peer_of[peer]))
		expected.why = RDMAEZ_WHY_GID_LINK_LOCAL;
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
	row.gid = gid_of(own_of[own]);
	row.gid_type = type;
	row.ndev_ifindex = ifindex;
	want.peer = gid_of(peer_of[peer]);
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
	tap_eq_int(wrong, 0, "a row of type %s, %s, interface %u, for peer %s ranks right",
		   rdmaez_gid_type_str(type), own_of[own], ifindex, peer_of[peer]);
}

static void check_ranks(void)
{
	static const uint32_t types[] = {IBV_GID_TYPE_IB, IBV_GID_TYPE_ROCE_V1,
					 IBV_GID_TYPE_ROCE_V2};
	struct ibv_gid_entry row;
	enum rdmaez_why why = RDMAEZ_WHY_COUNT;

	for (size_t t = 0; t < COUNT_OF(types); t++)
		for (int own = 0; own < OWNS; own++)
			for (int peer = 0; peer < PEERS; peer++) {
				check_row(types[t], own, peer, 0);
				check_row(types[t], own, peer, IFINDEX);
			}
	memset(&row, 0, sizeof(row));
	tap_eq_int(rdmaez_gid_rank(&row, NULL, &why), 0, "an empty row is of no use to anybody");
	tap_eq_int(why, RDMAEZ_WHY_GID_EMPTY, "because it is empty");
	for (size_t t = 0; t < COUNT_OF(types); t++)
		for (int own = 1; own < OWNS; own++) {
			const struct expected expected = expect(types[t], own, 0, IFINDEX, 0, 0);

			row.gid = gid_of(own_of[own]);
			row.gid_type = types[t];
			row.ndev_ifindex = IFINDEX;
			tap_eq_int(rdmaez_gid_rank(&row, NULL, &why), expected.rank,
				   "for nobody in particular %s %s ranks as for an unknown peer",
				   rdmaez_gid_type_str(types[t]), own_of[own]);
			tap_eq_int(why, expected.why, "and for the same reason");
		}
	tap_eq_int(RDMAEZ_GID_RANK_BEST, 6, "6 is the best rank, and is reached");
}

/* Where link-local begins and ends, at either end; and what is a group. */
static void check_scopes(void)
{
	static const struct {
		const char *own, *peer;
		uint32_t type;
		int rank;
	} cases[] = {
		{"::ffff:169.253.255.255", "::", IBV_GID_TYPE_ROCE_V2, 6},
		{"::ffff:169.254.0.0", "::", IBV_GID_TYPE_ROCE_V2, 4},
		{"::ffff:169.254.255.255", "::", IBV_GID_TYPE_ROCE_V2, 4},
		{"::ffff:169.255.0.0", "::", IBV_GID_TYPE_ROCE_V2, 6},
		{"::ffff:168.254.0.1", "::", IBV_GID_TYPE_ROCE_V2, 6},
		{"2001:db8::169.254.0.1", "::", IBV_GID_TYPE_ROCE_V2, 5},
		{"febf::1", "::", IBV_GID_TYPE_ROCE_V2, 4},
		{"fec0::1", "::", IBV_GID_TYPE_ROCE_V2, 5},
		{"fd00::1", "::", IBV_GID_TYPE_ROCE_V2, 5},
		/* Groups of an interface and of a link, and one with flags; all others are routed. */
		{"fe80::1", "ff01::1", IBV_GID_TYPE_ROCE_V2, 6},
		{"fe80::1", "ff02::1", IBV_GID_TYPE_ROCE_V2, 6},
		{"fe80::1", "ff12::1", IBV_GID_TYPE_ROCE_V2, 6},
		{"fe80::1", "ff03::1", IBV_GID_TYPE_ROCE_V2, 3},
		{"fe80::1", "ff15::1", IBV_GID_TYPE_ROCE_V2, 3},
		{"2001:db8::1", "ff02::1", IBV_GID_TYPE_ROCE_V2, 3},
		{"2001:db8::1", "ff03::1", IBV_GID_TYPE_ROCE_V2, 6},
		/* RoCE v1 carries an IPv4 group whatever its own GID; an address that is no group it resolves. */
		{"2001:db8::1", "::ffff:223.255.255.255", IBV_GID_TYPE_ROCE_V1, 0},
		{"2001:db8::1", "::ffff:224.0.0.0", IBV_GID_TYPE_ROCE_V1, 4},
		{"2001:db8::1", "::ffff:239.255.255.255", IBV_GID_TYPE_ROCE_V1, 4},
		{"2001:db8::1", "::ffff:240.0.0.0", IBV_GID_TYPE_ROCE_V1, 0},
		{"2001:db8::1", "::ffff:224.0.0.0", IBV_GID_TYPE_ROCE_V2, 0},
		{"::ffff:10.0.0.1", "ff0e::1", IBV_GID_TYPE_ROCE_V2, 0},
		{"::ffff:10.0.0.1", "ff0e::ffff:239.1.2.3", IBV_GID_TYPE_ROCE_V1, 4},
	};
	struct rdmaez_gid_want want;
	struct ibv_gid_entry row;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		memset(&want, 0, sizeof(want));
		memset(&row, 0, sizeof(row));
		row.gid = gid_of(cases[i].own);
		row.gid_type = cases[i].type;
		row.ndev_ifindex = IFINDEX;
		want.peer = gid_of(cases[i].peer);
		tap_eq_int(rdmaez_gid_rank(&row, &want, NULL), cases[i].rank, "%s of %s towards %s",
			   cases[i].own, rdmaez_gid_type_str(cases[i].type), cases[i].peer);
	}
}

#ifdef __GLIBC__
#define IS_GLIBC true
#else
#define IS_GLIBC false
#endif

/* Against the C library's own text, at random and with many zero groups. */
static void check_text(void)
{
	uint32_t random = 1;
	int wrong = 0;

	for (int i = 0; i < 20000; i++) {
		char ours[RDMAEZ_GID_TEXT], theirs[INET6_ADDRSTRLEN];
		union ibv_gid gid, same;

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
		if (!IS_GLIBC) { /* musl writes some in another way, but they are the same */
			inet_pton(AF_INET6, ours, same.raw);
			inet_ntop(AF_INET6, same.raw, ours, sizeof(ours));
		}
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
	check_scopes();
	return tap_done();
}
