/* SPDX-License-Identifier: MIT */
/* Multicast groups: their addresses, joining and leaving, sending, and what is missing where nothing arrives. */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include "check.h"
#include <rdmaez/multicast.h>
#include "findings.h"
#include "fixture.h"

enum {
	ROW_V1 = 2, /* of the GID table, IPv4-mapped */
	ROW_V2 = 3,
	ROW_IPV6 = 5,
	MLID = 0xc005,
	UNTOUCHED = -77
};

static struct {
	struct fake_device *dev;
	struct ibv_qp *qp;
	struct rdmaez_path group;
	int fd;
	struct rdmaez_diag diag;
} t;

/* A UD queue pair in INIT, and a group whose GID is this text. */
static void start(const char *dgid)
{
	t.dev = fake_reset();
	t.dev->attr.orig_attr.vendor_id = 0xffffff;
	t.dev->attr.orig_attr.max_mcast_grp = 4;
	t.dev->attr.orig_attr.max_mcast_qp_attach = 4;
	t.dev->attr.orig_attr.max_total_mcast_qp_attach = 8;
	for (int i = 0; i < 6; i++)
		t.dev->port[1].gid[i].ifindex = 7;
	fake_netdev(7, "eth7");
	fake_tree_new();
	t.qp = fixture_qp(fake_open(t.dev), IBV_QPT_UD, IBV_QPS_INIT);
	memset(&t.group, 0, sizeof(t.group));
	t.group.dgid = gid_of(dgid);
	t.fd = UNTOUCHED;
	memset(&t.diag, 0x55, sizeof(t.diag));
	fake_reset_log();
}

#define CERTAIN(reason, field, ...) {RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define LIKELY(reason, field, ...)  {RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define ADVICE(reason, field, ...)  {RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_##reason, field, __VA_ARGS__}
#define NUMBERLESS                  RDMAEZ_VALUE_NONE, 0, 0, 0
#define SILENT                      LIKELY(MULTICAST_MISSING, "gid", NUMBERLESS)
#define FOUND_NOTHING               ADVICE(QP_NOTHING_FOUND, "qp", NUMBERLESS)

/* ---- Addresses ---------------------------------------------------------------------------- */

static void check_text(void)
{
	static const struct {
		const char *text, *gid; /* NULL: it is refused */
	} rows[] = {
		{"239.1.2.3", "::ffff:239.1.2.3"},
		{"224.0.0.0", "::ffff:224.0.0.0"},
		{"239.255.255.255", "::ffff:239.255.255.255"},
		{"::ffff:232.0.0.1", "::ffff:232.0.0.1"},
		{"ff0e::9", "ff0e::9"},
		{"ff0e::ffff:239.1.2.3", "ff0e::ffff:239.1.2.3"},
		{"ff12:401b:ffff::1", "ff12:401b:ffff::1"},
		{"223.255.255.255", NULL},
		{"240.0.0.0", NULL},
		{"255.255.255.255", NULL},
		{"fe80::1", NULL},
		{"::", NULL},
		{"::239.1.2.3", NULL},
		{"239.1.2", NULL},
		{"239.1.2.3 ", NULL},
		{"all-hosts.mcast.net", NULL},
		{"", NULL},
	};
	union ibv_gid gid, expected;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		memset(&gid, 0x77, sizeof(gid));
		if (rows[i].gid) {
			expected = gid_of(rows[i].gid);
			check_success(&t.diag, rdmaez_multicast_gid(rows[i].text, &gid, &t.diag),
				      "'%s' is a group", rows[i].text);
		} else {
			memset(&expected, 0x77, sizeof(expected));
			check_refusal(&t.diag, rdmaez_multicast_gid(rows[i].text, &gid, &t.diag),
				      EINVAL, RDMAEZ_WHY_MULTICAST_ADDRESS, "text", "'%s'",
				      rows[i].text);
		}
		tap_eq_str(t.diag.call, "rdmaez_multicast_gid", "the record names the call");
		tap_ok(!memcmp(&gid, &expected, sizeof(gid)), "the GID of '%s' is %s", rows[i].text,
		       rows[i].gid ? rows[i].gid : "not written");
	}
	tap_eq_int(rdmaez_multicast_gid("239.1.2.3", &gid, NULL), 0, "without a record");
	tap_eq_int(rdmaez_multicast_gid("1.2.3.4", &gid, NULL), EINVAL, "also to refuse");
	check_refusal(&t.diag, rdmaez_multicast_gid(NULL, &gid, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "text", "no text");
	check_refusal(&t.diag, rdmaez_multicast_gid("ff02::1", NULL, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "gid", "no GID");
}

static void check_address(void)
{
	union ibv_gid gid, four = gid_of("::ffff:239.1.2.3"), six = gid_of("ff0e::9");
	struct sockaddr_storage address;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;

	memset(&ipv4, 0xff, sizeof(ipv4));
	ipv4.sin_family = AF_INET;
	memcpy(&ipv4.sin_addr, &four.raw[12], 4);
	memset(&address, 0, sizeof(address));
	memcpy(&address, &ipv4, sizeof(ipv4));
	check_success(&t.diag, rdmaez_multicast_gid_of((struct sockaddr *)&address, &gid, &t.diag),
		      "a sockaddr_in");
	tap_ok(!memcmp(&gid, &four, sizeof(gid)), "is mapped");
	memset(&ipv6, 0xff, sizeof(ipv6));
	ipv6.sin6_family = AF_INET6;
	memcpy(&ipv6.sin6_addr, six.raw, 16);
	memcpy(&address, &ipv6, sizeof(ipv6));
	check_success(&t.diag, rdmaez_multicast_gid_of((struct sockaddr *)&address, &gid, &t.diag),
		      "a sockaddr_in6");
	tap_ok(!memcmp(&gid, &six, sizeof(gid)), "is the GID");
	address.ss_family = 27;
	memset(&gid, 0, sizeof(gid));
	check_success(&t.diag, rdmaez_multicast_gid_of((struct sockaddr *)&address, &gid, &t.diag),
		      "a sockaddr_ib has its address at the same place");
	tap_ok(!memcmp(&gid, &six, sizeof(gid)), "and it is the GID");
	address.ss_family = AF_UNIX;
	check_refusal(&t.diag, rdmaez_multicast_gid_of((struct sockaddr *)&address, &gid, &t.diag),
		      EINVAL, RDMAEZ_WHY_MULTICAST_ADDRESS, "address", "another family");
	ipv4.sin_addr.s_addr = htonl(0x7f000001);
	memcpy(&address, &ipv4, sizeof(ipv4));
	check_refusal(&t.diag, rdmaez_multicast_gid_of((struct sockaddr *)&address, &gid, &t.diag),
		      EINVAL, RDMAEZ_WHY_MULTICAST_ADDRESS, "address", "one host");
	tap_ok(!memcmp(&gid, &six, sizeof(gid)), "nothing is written");
	check_refusal(&t.diag, rdmaez_multicast_gid_of(NULL, &gid, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "address", "no address");
	check_refusal(&t.diag, rdmaez_multicast_gid_of((struct sockaddr *)&address, NULL, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "gid", "no GID");
}

/* ---- Joining and leaving ------------------------------------------------------------------ */

static int join(void)
{
	return rdmaez_multicast_join(t.qp, &t.group, 1, &t.fd, &t.diag);
}

static int leave(void)
{
	return rdmaez_multicast_leave(t.qp, &t.group, t.fd, &t.diag);
}

/* Nothing is left behind: no socket, nothing attached, and the output as it was. */
static void check_untouched(const char *name)
{
	tap_eq_int(t.fd, UNTOUCHED, "%s: the output is not written", name);
	tap_eq_int(fake_member_count(), 0, "%s: no membership is left", name);
	tap_eq_int(ibv_detach_mcast(t.qp, &t.group.dgid, 0), EINVAL, "%s: nothing is attached",
		   name);
}

#define REFUSED(error, name, ...)                                                                \
	do {                                                                                     \
		CHECK_VERB_FINDINGS(&t.diag, join(), error, "rdmaez_multicast_join", NULL, name, \
				    __VA_ARGS__);                                                \
		tap_eq_int(fake_count(FAKE_ATTACH_MCAST), 0, "%s: and no verb is asked", name);  \
		check_untouched(name);                                                           \
	} while (0)
#define ATTACH_REFUSED(error, name, ...)                                             \
	do {                                                                         \
		CHECK_VERB_FINDINGS(&t.diag, join(), error, "rdmaez_multicast_join", \
				    "ibv_attach_mcast", name, __VA_ARGS__);          \
		check_untouched(name);                                               \
	} while (0)

static void check_join(void)
{
	static const struct {
		const char *gid, *member;
		int row;
	} rows[] = {
		{"::ffff:239.1.2.3", "239.1.2.3", ROW_V2},
		{"ff0e::9", "ff0e::9", ROW_IPV6},
		{"ff02::9", "ff02::9", 1}, /* a link-local GID for a group of the link */
	};
	const struct fake_call *call;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		start(rows[i].gid);
		check_success(&t.diag, join(), "%s is joined", rows[i].gid);
		call = fake_last(FAKE_ATTACH_MCAST);
		tap_eq_ptr((void *)(uintptr_t)call->object, t.qp, "the queue pair is attached");
		tap_ok(!memcmp(&call->arg.group.gid, &t.group.dgid, 16), "to the group");
		tap_eq_int(call->arg.group.lid, 0, "without a LID");
		tap_eq_int(fake_member(rows[i].member), 7, "the GID's interface is a member");
		tap_eq_int(fcntl(t.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC,
			   "by a socket that no program inherits");
		tap_eq_int(t.diag.source.gid_index, rows[i].row, "the record has the GID index");
		tap_eq_int(t.diag.qp_num, t.qp->qp_num, "the queue pair");
		tap_ok(!memcmp(&t.diag.destination, &t.group.dgid, 16), "and the group");
		tap_eq_int(fake_count(FAKE_ANY), 3, "port, GIDs and group are three calls");
		tap_eq_int(ibv_destroy_qp(t.qp), EBUSY, "what is attached is not destroyed");
		check_success(&t.diag, leave(), "it is left");
		tap_eq_int(fcntl(t.fd, F_GETFD), -1, "the socket is closed");
		tap_eq_int(fake_member_count(), 0, "so the host is no member");
		tap_eq_int(ibv_destroy_qp(t.qp), 0, "and nothing holds the queue pair");
	}

	start("::ffff:239.1.2.3");
	t.dev->port[1].gid[ROW_IPV6].ifindex = 1;
	t.group.sgid_index = ROW_IPV6;
	check_success(&t.diag, join(), "a GID index that is named");
	tap_eq_int(fake_member("239.1.2.3"), 1, "decides the interface");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), 1, "its GID is asked for");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and no other");
	check_success(&t.diag, leave(), "it is left");
	t.group.sgid_index = RDMAEZ_ZERO;
	t.dev->port[1].gid[0].type = IBV_GID_TYPE_ROCE_V2;
	check_success(&t.diag, join(), "index 0");
	tap_eq_int(t.diag.source.gid_index, 0, "is one as well");
	check_success(&t.diag, leave(), "it is left");

	start("ff0e::ffff:239.1.2.3");
	t.group.sgid_index = ROW_V1;
	check_success(&t.diag, join(), "RoCE v1");
	tap_eq_int(t.fd, -1, "has no IP group");
	tap_eq_int(fake_member_count(), 0, "nor a member of one");
	tap_eq_int(fake_count(FAKE_ATTACH_MCAST), 1, "the queue pair is attached");
	check_success(&t.diag, leave(), "it is left without a socket");

	start("::ffff:239.1.2.3");
	check_success(&t.diag, rdmaez_multicast_join(t.qp, &t.group, 1, NULL, &t.diag),
		      "somebody else holds the membership");
	tap_eq_int(fake_member_count(), 0, "none is made");
	tap_eq_int(fake_count(FAKE_ANY), 2, "no GID is asked for");
	check_success(&t.diag, join(), "what is attached can be joined");
	tap_eq_int(fake_member("239.1.2.3"), 7, "for the membership");
	check_success(&t.diag, leave(), "it is left");

	start("::ffff:239.1.2.3");
	tap_eq_int(rdmaez_multicast_join(t.qp, &t.group, 1, &t.fd, NULL), 0, "without a record");
	tap_eq_int(rdmaez_multicast_leave(t.qp, &t.group, t.fd, NULL), 0, "also to leave");
	tap_eq_int(rdmaez_multicast_leave(t.qp, &t.group, -1, NULL), EINVAL, "or to be refused");
}

static void check_refused(void)
{
	int fd;

	start("::ffff:192.0.2.1");
	REFUSED(EINVAL, "one host", CERTAIN(MULTICAST_ADDRESS, "gid", NUMBERLESS));
	start("::");
	REFUSED(EINVAL, "no group", CERTAIN(MULTICAST_ADDRESS, "gid", NUMBERLESS));
	start("::ffff:239.1.2.3");
	t.group.dlid = 0x10000;
	REFUSED(EINVAL, "a LID of 17 bits",
		CERTAIN(RANGE, "lid", RDMAEZ_VALUE_HEX, 0x10000, 0, 0xffff));
	start("::ffff:239.1.2.3");
	t.qp = fixture_qp(t.qp->context, IBV_QPT_RC, IBV_QPS_INIT);
	REFUSED(EINVAL, "a connected queue pair",
		CERTAIN(MULTICAST_TYPE, "qp_type", RDMAEZ_VALUE_TYPE, IBV_QPT_RC, 0, 0));
	start("::ffff:239.1.2.3");
	t.group.sgid_index = 256;
	REFUSED(EINVAL, "an index beyond the table",
		CERTAIN(GID_INDEX, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_NUMBER, 256, 0, 15));
	t.group.sgid_index = -1;
	REFUSED(EINVAL, "a negative index",
		CERTAIN(GID_INDEX, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_NUMBER, (uint64_t)-1, 0,
			15));
	t.group.sgid_index = 9;
	REFUSED(ENODATA, "an empty one",
		CERTAIN(GID_EMPTY, "ah_attr.grh.sgid_index", RDMAEZ_VALUE_INDEX, 9, 0, 0));
	t.group.sgid_index = ROW_V2;
	t.dev->port[1].gid[ROW_V2].ifindex = 0;
	REFUSED(ENODEV, "one without an interface",
		CERTAIN(GID_NO_NETDEV, "ah_attr.grh.sgid_index", NUMBERLESS));
	t.dev->port[1].gid[ROW_V2].ifindex = 99;
	REFUSED(ENODEV, "one whose interface is in another namespace",
		CERTAIN(MULTICAST_MEMBER, "MCAST_JOIN_GROUP", NUMBERLESS));
	tap_eq_int(t.diag.source.gid_index, ROW_V2, "the record has the GID index");
	start("::ffff:239.1.2.3");
	fd = fixture_next_fd();
	fake_member_fail(ENOMEM);
	REFUSED(ENOMEM, "a host without memory",
		CERTAIN(MULTICAST_MEMBER, "MCAST_JOIN_GROUP", NUMBERLESS));
	tap_eq_int(fixture_next_fd(), fd, "no socket is left");

	start("::ffff:239.1.2.3");
	check_refusal(&t.diag, rdmaez_multicast_join(t.qp, &t.group, 2, &t.fd, &t.diag), EINVAL,
		      RDMAEZ_WHY_PORT, "port_num", "no such port");
	check_refusal(&t.diag, rdmaez_multicast_join(NULL, &t.group, 1, &t.fd, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	check_refusal(&t.diag, rdmaez_multicast_join(t.qp, NULL, 1, &t.fd, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "group", "no group");
	check_refusal(&t.diag, rdmaez_multicast_leave(NULL, &t.group, -1, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair to leave");
	check_refusal(&t.diag, rdmaez_multicast_leave(t.qp, NULL, -1, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "group", "no group to leave");
	tap_eq_int(t.fd, UNTOUCHED, "nothing is written");
}

static void check_attach_refused(void)
{
	const uint64_t not_reset = 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS |
				   1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE;

	start("::ffff:239.1.2.3");
	t.dev->attr.orig_attr.max_mcast_grp = 0;
	CHECK_VERB_FINDINGS(&t.diag, join(), EOPNOTSUPP, "rdmaez_multicast_join",
			    "ibv_attach_mcast", "a driver without multicast",
			    LIKELY(NOT_SUPPORTED, "ibv_attach_mcast", NUMBERLESS));
	tap_eq_int(fake_member_count(), 0, "leaves no membership");
	tap_eq_str(t.diag.driver, "rdma_rxe", "the record names the driver");
	start("::ffff:239.1.2.3");
	t.dev->attr.orig_attr.max_mcast_qp_attach = 1;
	tap_eq_int(ibv_attach_mcast(fake_qp(t.qp->context, IBV_QPT_UD), &t.group.dgid, 0), 0,
		   "another queue pair is attached");
	ATTACH_REFUSED(
		ENOMEM, "more than one in a group",
		LIKELY(NO_RESOURCES, "max_mcast_grp", RDMAEZ_VALUE_LIMIT, 0, 0, 4),
		LIKELY(NO_RESOURCES, "max_mcast_qp_attach", RDMAEZ_VALUE_LIMIT, 0, 0, 1),
		LIKELY(NO_RESOURCES, "max_total_mcast_qp_attach", RDMAEZ_VALUE_LIMIT, 0, 0, 8));
	t.dev->attr.orig_attr.max_total_mcast_qp_attach = 0;
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	ATTACH_REFUSED(ENOMEM, "limits that are not told",
		       LIKELY(NO_RESOURCES, "ibv_attach_mcast", NUMBERLESS));
	start("::ffff:239.1.2.3");
	t.qp->state = IBV_QPS_RESET;
	fake_fail(FAKE_ATTACH_MCAST, 1, EINVAL);
	ATTACH_REFUSED(EINVAL, "a driver that wants INIT",
		       LIKELY(MULTICAST_RESET, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_RESET, 0,
			      not_reset));
	t.qp->state = IBV_QPS_INIT;
	fake_fail(FAKE_ATTACH_MCAST, 1, EINVAL);
	ATTACH_REFUSED(EINVAL, "a driver that does not say why",
		       LIKELY(UNEXPLAINED, "ibv_attach_mcast", NUMBERLESS));
	t.dev->attr.orig_attr.max_mcast_grp = 0;
	fake_fail(FAKE_ATTACH_MCAST, 1, EINVAL);
	CHECK_VERB_FINDINGS(&t.diag, join(), EINVAL, "rdmaez_multicast_join", "ibv_attach_mcast",
			    "a device that has no groups",
			    LIKELY(NOT_SUPPORTED, "max_mcast_grp", NUMBERLESS));
	fake_fail(FAKE_ATTACH_MCAST, 1, EINVAL);
	tap_eq_int(rdmaez_multicast_join(t.qp, &t.group, 1, &t.fd, NULL), EINVAL,
		   "the same without a record");
	tap_eq_int(fake_member_count(), 0, "and without a membership");

	start("::ffff:239.1.2.3");
	tap_eq_int(join(), 0, "what is joined");
	t.group.dgid.raw[15]++;
	CHECK_VERB_FINDINGS(&t.diag, leave(), EINVAL, "rdmaez_multicast_leave", "ibv_detach_mcast",
			    "another group is left", LIKELY(MULTICAST_LEFT, "gid", NUMBERLESS));
	tap_eq_int(fcntl(t.fd, F_GETFD), -1, "and the socket is closed");
	fake_fail(FAKE_DETACH_MCAST, 1, EIO);
	CHECK_VERB_FINDINGS(&t.diag, rdmaez_multicast_leave(t.qp, &t.group, -1, &t.diag), EIO,
			    "rdmaez_multicast_leave", "ibv_detach_mcast", "a device that is gone",
			    LIKELY(DEVICE_GONE, "ibv_detach_mcast", NUMBERLESS));
}

static void check_infiniband(void)
{
	static const int bad[] = {0, 1, 0xbfff, 0xffff, 0x10000};

	start("ff12:401b:ffff::1");
	fake_port_infiniband(&t.dev->port[1]);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		t.group.dlid = bad[i];
		REFUSED(EINVAL, "a LID that is no MLID",
			CERTAIN(MULTICAST_LID, "lid", RDMAEZ_VALUE_HEX, (uint64_t)bad[i], 0xc000,
				0xfffe));
	}
	t.group.dlid = MLID;
	check_success(&t.diag, join(), "an MGID with its MLID");
	tap_eq_int(fake_last(FAKE_ATTACH_MCAST)->arg.group.lid, MLID, "is attached with both");
	tap_eq_int(t.fd, -1, "by no socket");
	check_success(&t.diag, leave(), "and left");
	tap_eq_int(fake_last(FAKE_DETACH_MCAST)->arg.group.lid, MLID, "with both");
	t.group.dlid = 0xc000;
	check_success(&t.diag, join(), "the first MLID");
	check_success(&t.diag, leave(), "is left");
	t.group.dlid = 0xfffe;
	check_success(&t.diag, join(), "the last one");
	check_success(&t.diag, leave(), "is left");
}

/* ---- Sending ------------------------------------------------------------------------------ */

static void check_ah(void)
{
	const struct ibv_ah_attr *attr;
	struct ibv_ah *ah = NULL;

	start("::ffff:239.1.2.3");
	t.group.hop_limit = 3;
	check_success(&t.diag, rdmaez_multicast_ah_create(t.qp->pd, &t.group, 1, &ah, &t.diag),
		      "a handle for a group");
	attr = &fake_last(FAKE_CREATE_AH)->arg.ah_attr;
	tap_eq_int(attr->is_global, 1, "has a GRH");
	tap_eq_int(attr->grh.sgid_index, ROW_V2, "from the GID of its family");
	tap_eq_int(attr->grh.hop_limit, 3, "with the path's hop limit");
	tap_eq_int(fake_count(FAKE_ANY), 3, "and takes three verbs calls");
	tap_eq_int(ibv_destroy_ah(ah), 0, "it is destroyed");

	start("ff12:401b:ffff::1");
	fake_port_infiniband(&t.dev->port[1]);
	CHECK_FINDINGS(&t.diag, rdmaez_multicast_ah_create(t.qp->pd, &t.group, 1, &ah, &t.diag),
		       EINVAL, "rdmaez_multicast_ah_create", "InfiniBand without an MLID",
		       CERTAIN(MULTICAST_LID, "lid", RDMAEZ_VALUE_HEX, 0, 0xc000, 0xfffe));
	tap_eq_int(fake_count(FAKE_CREATE_AH), 0, "has no handle");
	t.group.dlid = MLID;
	check_success(&t.diag, rdmaez_multicast_ah_create(t.qp->pd, &t.group, 1, &ah, &t.diag),
		      "and with it");
	attr = &fake_last(FAKE_CREATE_AH)->arg.ah_attr;
	tap_eq_int(attr->is_global, 1, "there is a GRH, which groups need");
	tap_eq_int(attr->dlid, MLID, "and the MLID");
	tap_eq_hex(t.group.flags, 0, "the path stays as it was");

	start("::ffff:192.0.2.1");
	CHECK_FINDINGS(&t.diag, rdmaez_multicast_ah_create(t.qp->pd, &t.group, 1, &ah, &t.diag),
		       EINVAL, "rdmaez_multicast_ah_create", "one host",
		       CERTAIN(MULTICAST_ADDRESS, "gid", NUMBERLESS));
	check_refusal(&t.diag, rdmaez_multicast_ah_create(NULL, &t.group, 1, &ah, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "pd", "no domain");
	check_refusal(&t.diag, rdmaez_multicast_ah_create(t.qp->pd, NULL, 1, &ah, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "group", "no group");
	check_refusal(&t.diag, rdmaez_multicast_ah_create(t.qp->pd, &t.group, 1, NULL, &t.diag),
		      EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "ah", "no place for the handle");
	check_refusal(&t.diag, rdmaez_multicast_ah_create(t.qp->pd, &t.group, 0, &ah, &t.diag),
		      EINVAL, RDMAEZ_WHY_PORT, "port_num", "no port");
}

/* ---- Silence ------------------------------------------------------------------------------ */

/* A UD queue pair of rxe in RTS, of which nothing is wrong. */
static void start_silent(const char *dgid)
{
	start(dgid);
	t.qp = fixture_qp(t.qp->context, IBV_QPT_UD, IBV_QPS_RTS);
	fake_reset_log();
}

#define EXAMINED(name, ...)                                                              \
	CHECK_FINDINGS(&t.diag, rdmaez_multicast_examine(t.qp, &t.group, 1, &t.diag), 0, \
		       "rdmaez_multicast_examine", name, __VA_ARGS__)

#define IGMP      "/proc/net/igmp"
#define IGMP_HEAD "Idx\tDevice    : Count Querier\tGroup    Users Timer\tReporter\n"
#define IGMP_LO   "1\tlo        :     1      V3\n\t\t\t\t%s     1 0:00000000\t\t0\n"
#define IGMP_ETH  "7\teth7      :     2      V3\n\t\t\t\t%s     1 0:00000000\t\t0\n"
#define IGMP_VLAN "77\teth7.5    :     1      V3\n\t\t\t\t%s     1 0:00000000\t\t0\n"
#define IGMP6     "/proc/net/igmp6"

/* A file of /proc/net/igmp: the groups of the three interfaces, each a number of this machine's byte order. */
static void igmp(const char *format, const char *lo, const char *eth, const char *vlan)
{
	static const char *const addresses[] = {"224.0.0.1", "239.1.2.3"};
	const char *given[3] = {lo, eth, vlan};
	char group[3][9], text[512];

	for (int i = 0; i < 3; i++) {
		in_addr_t address = inet_addr(given[i] ? given[i] : addresses[0]);

		snprintf(group[i], sizeof(group[i]), "%08X", (unsigned int)address);
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, group[0], group[1], group[2]);
#pragma GCC diagnostic pop
	fake_tree_file(IGMP, text);
}

static void check_member(void)
{
	static const char all[] = IGMP_HEAD IGMP_LO IGMP_ETH IGMP_VLAN;

	start_silent("::ffff:239.1.2.3");
	igmp(all, NULL, NULL, NULL);
	EXAMINED("no interface is a member", SILENT);
	tap_eq_str(t.diag.netdev, "eth7", "the record names the interface");
	tap_eq_int(t.diag.source.gid_index, ROW_V2, "the GID index");
	tap_ok(!memcmp(&t.diag.destination, &t.group.dgid, 16), "and the group");
	tap_eq_int(t.diag.from, IBV_QPS_RTS, "and the state");
	tap_eq_str(t.diag.driver, "rdma_rxe", "and the driver");
	tap_eq_int(fake_count(FAKE_ATTACH_MCAST), 0, "nothing is attached");
	tap_eq_int(fake_member_count(), 0, "nothing is joined");
	igmp(all, "239.1.2.3", NULL, "239.1.2.3");
	EXAMINED("others are members", SILENT);
	igmp(all, NULL, "3.2.1.239", NULL);
	EXAMINED("the bytes in another order", SILENT);
	igmp(all, NULL, "239.1.2.3", NULL);
	EXAMINED("the GID's interface is a member", FOUND_NOTHING);
	igmp(IGMP_HEAD IGMP_LO IGMP_VLAN, NULL, NULL, NULL);
	EXAMINED("the interface is in another namespace", FOUND_NOTHING);
	fake_tree_file(IGMP, "");
	EXAMINED("an empty file tells nothing", FOUND_NOTHING);
	fake_tree_file(IGMP, NULL);
	EXAMINED("nor does none", FOUND_NOTHING);
	igmp(all, NULL, NULL, NULL);
	t.group.sgid_index = ROW_V1;
	EXAMINED("RoCE v1 needs no membership", FOUND_NOTHING);

	start_silent("ff0e::9");
	fake_tree_file(IGMP6,
		       "1    lo              ff0e0000000000000000000000000009     1 0000000C 0\n"
		       "7    eth7            ff020000000000000000000000000001     1 0000000C 0\n");
	EXAMINED("an IPv6 group of another interface", SILENT);
	fake_tree_file(IGMP6,
		       "7    eth7            ff0e0000000000000000000000000009     1 0000000C 0\n"
		       "7    eth7            ff020000000000000000000000000001     1 0000000C 0\n");
	EXAMINED("one of this interface", FOUND_NOTHING);
	fake_tree_file(IGMP6,
		       "1    lo              ff020000000000000000000000000001     1 0000000C 0\n");
	EXAMINED("an interface that is not listed", FOUND_NOTHING);
	fake_tree_file(IGMP6,
		       "7    eth7            ff020000000000000000000000000001     1 0000000C 0\n"
		       "8    eth8            ff0e0000000000000000000000000009     1 0000000C 0\n");
	EXAMINED("an interface that is not the last", SILENT);
	fake_tree_file(IGMP6, "7\n7 \n7 eth7\n7    eth7            ff0e\n");
	EXAMINED("lines that are cut", SILENT);
}

static void check_examine(void)
{
	const uint64_t receives =
		1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE;

	start("::ffff:239.1.2.3");
	igmp(IGMP_HEAD IGMP_ETH, NULL, NULL, NULL);
	EXAMINED("in INIT",
		 CERTAIN(QP_NO_SENDS, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_INIT, 0,
			 1 << IBV_QPS_RTS),
		 CERTAIN(QP_NO_RECEIVES, "qp_state", RDMAEZ_VALUE_STATE_NOW, IBV_QPS_INIT, 0,
			 receives),
		 SILENT);
	start_silent("::ffff:192.0.2.1");
	EXAMINED("one host", CERTAIN(MULTICAST_ADDRESS, "gid", NUMBERLESS));
	tap_eq_str(t.diag.verb, NULL, "no verb has refused");
	start_silent("::ffff:239.1.2.3");
	t.dev->attr.orig_attr.max_mcast_grp = 0;
	EXAMINED("a device without multicast", LIKELY(NOT_SUPPORTED, "max_mcast_grp", NUMBERLESS));
	start_silent("::ffff:239.1.2.3");
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	EXAMINED("a port that does not answer at first",
		 CERTAIN(QUERY_REFUSED, "ibv_query_port", NUMBERLESS));
	tap_eq_str(t.diag.verb, NULL, "is only a finding");
	start_silent("::ffff:239.1.2.3");
	t.qp = fixture_qp(t.qp->context, IBV_QPT_RAW_PACKET, IBV_QPS_RTS);
	EXAMINED("another type",
		 CERTAIN(MULTICAST_TYPE, "qp_type", RDMAEZ_VALUE_TYPE, IBV_QPT_RAW_PACKET, 0, 0));
	start_silent("ff12:401b:ffff::1");
	fake_port_infiniband(&t.dev->port[1]);
	EXAMINED("InfiniBand without an MLID",
		 CERTAIN(MULTICAST_LID, "lid", RDMAEZ_VALUE_HEX, 0, 0xc000, 0xfffe));
	t.group.dlid = MLID;
	EXAMINED("and with one", ADVICE(MULTICAST_SUBNET, "lid", NUMBERLESS));

	start_silent("::ffff:239.1.2.3");
	tap_eq_int(rdmaez_multicast_examine(t.qp, &t.group, 1, NULL), 0,
		   "without a record there is nothing to do");
	tap_eq_int(fake_count(FAKE_ANY), 0, "and nothing is asked");
	tap_eq_int(rdmaez_multicast_examine(NULL, &t.group, 1, NULL), EINVAL, "but of arguments");
	check_refusal(&t.diag, rdmaez_multicast_examine(NULL, &t.group, 1, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	check_refusal(&t.diag, rdmaez_multicast_examine(t.qp, NULL, 1, &t.diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "group", "no group");
	EXAMINED("there is nothing to be read", FOUND_NOTHING);
	CHECK_FINDINGS(&t.diag, rdmaez_qp_examine(t.qp, &t.diag), 0, "rdmaez_qp_examine",
		       "without the group nobody knows", FOUND_NOTHING,
		       ADVICE(MULTICAST_ASK, "qp", NUMBERLESS));
	t.dev->attr.orig_attr.max_mcast_grp = 0;
	CHECK_FINDINGS(&t.diag, rdmaez_qp_examine(t.qp, &t.diag), 0, "rdmaez_qp_examine",
		       "without multicast nobody asks", FOUND_NOTHING);
}

int main(void)
{
	check_text();
	check_address();
	check_join();
	check_refused();
	check_attach_refused();
	check_infiniband();
	check_ah();
	check_member();
	check_examine();
	fake_reset();
	return tap_done();
}
