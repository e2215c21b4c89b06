/* SPDX-License-Identifier: MIT */
/*
 * What of the fake libibverbs no other test would notice. That it judges transitions and paths as the
 * kernel does is seen where rdmaez's rules are compared with it: by the random requests of qp_check.c.
 *
 * Run from the repository's root, or name the tests folder: fake_verbs [tests]
 */
#define _POSIX_C_SOURCE 200809L /* popen */
#include <arpa/inet.h>
#include <errno.h>

#include "fake_verbs.h"
#include "fixture.h"
#include "tap.h"

static const char *tests_dir = "tests";

/* ---- The kernel's table ------------------------------------------------------------------- */

static FILE *open_file(const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", tests_dir, name);
	file = fopen(path, "r");
	if (!file)
		tap_bail("cannot read %s: %s", path, strerror(errno));
	return file;
}

static void test_table_is_generated(void)
{
	FILE *checked_in = open_file("fake/qp_table.h");
	FILE *generated;
	char command[2048];
	int bytes = 0, a, b;

	snprintf(command, sizeof(command), "awk -f '%s/fake/qp_table.awk' '%s/%s'", tests_dir,
		 tests_dir, "data/qp-state-table.tsv");
	generated = popen(command, "r");
	if (!generated)
		tap_bail("cannot run awk: %s", strerror(errno));
	do {
		a = getc(checked_in);
		b = getc(generated);
		bytes += a != EOF;
	} while (a == b && a != EOF);
	fclose(checked_in);
	tap_eq_int(pclose(generated), 0, "the table's generator runs");
	tap_ok(a == b && bytes > 1000, "the table's generator writes what is checked in");
}

/* ---- Moves -------------------------------------------------------------------------------- */

static void test_families(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp_attr attr = {.ah_attr = {.port_num = 1, .is_global = 1}};
	struct ibv_qp *qp = fake_qp(fake_open(dev), IBV_QPT_RC);

	fake_qp_force(qp, IBV_QPS_SQD);
	attr.ah_attr.grh.dgid = dev->port[1].gid[3].gid;
	attr.ah_attr.grh.sgid_index = 5;
	dev->neighbour_errno = ETIMEDOUT;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_AV), EINVAL,
		   "an IPv6 GID cannot reach an IPv4 one, which needs no neighbour to find out");
	attr.ah_attr.port_num = 2;
	tap_ok(!ibv_create_ah(qp->pd, &attr.ah_attr) && errno == EINVAL,
	       "a handle for a port that is not there is EINVAL");
	fake_close_all();
}

/* What the mask does not name may hold anything. */
static void test_garbage_is_not_read(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = fixture_qp(fake_open(dev), IBV_QPT_RC, IBV_QPS_INIT);
	struct ibv_qp_attr attr;

	dev->quirks = FAKE_STRICT_RANGES | FAKE_NO_ROCE_V1 | FAKE_MTU_UP_TO_ACTIVE |
		      FAKE_MTU_UP_TO_MAX | FAKE_CUR_STATE_EQUAL;
	memset(&attr, 0xee, sizeof(attr));
	attr.pkey_index = 1;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_PKEY_INDEX), 0, "only pkey_index is read");
	tap_eq_int(fake_qp_true(qp)->pkey_index, 1, "and set");
	tap_eq_int(fake_qp_true(qp)->port_num, 1, "nothing else is");
	tap_eq_int(fake_qp_true(qp)->qp_access_flags, 0, "really nothing");
	attr.cur_qp_state = IBV_QPS_UNKNOWN;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_CUR_STATE), EINVAL, "a named state is");
	fake_close_all();
}

static void test_srd(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};

	tap_eq_int(ibv_modify_qp(fixture_qp(fake_open(dev), IBV_QPT_DRIVER, IBV_QPS_RTR), &attr,
				 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT),
		   EOPNOTSUPP, "an attribute that SRD never has is EOPNOTSUPP");
	fake_close_all();
}

/* ---- State that goes stale ---------------------------------------------------------------- */

enum {
	INIT_MASK = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
};

static void test_stale_state(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = fake_qp(fake_open(dev), IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_init_attr init;

	qp->state = IBV_QPS_RTS;
	fixture_truth(qp)->dest_qp_num = 77;
	fake_qp_force(qp, IBV_QPS_ERR);
	tap_eq_int(qp->state, IBV_QPS_RTS, "an error on the wire leaves qp->state as it was");

	memset(&attr, 0xee, sizeof(attr));
	tap_eq_int(ibv_query_qp(qp, &attr, IBV_QP_CAP, &init), 0, "a query for something else");
	tap_eq_int(qp->state, IBV_QPS_RTS, "leaves it too");
	tap_eq_int(attr.qp_state, IBV_QPS_ERR, "though all attributes are filled in");
	tap_eq_hex(attr.rate_limit, 0xeeeeeeee, "but the rate limit, which no query returns");
	tap_eq_int(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0, "a query for the state");
	tap_eq_int(qp->state, IBV_QPS_ERR, "refreshes it");
	tap_eq_int(ibv_query_qp(qp, &attr, IBV_QP_RATE_LIMIT, &init), EOPNOTSUPP,
		   "a query for the rate limit is refused");

	attr.qp_state = IBV_QPS_RESET;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "ERR to RESET");
	tap_eq_int(fake_qp_true(qp)->dest_qp_num, 0, "forgets the peer");
	tap_eq_int(fake_qp_true(qp)->cap.max_send_wr, 16, "but not the capacity");

	fake_qp_force(qp, IBV_QPS_RTS);
	attr.qp_state = IBV_QPS_SQD;
	attr.en_sqd_async_notify = 1;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0, "SQD");
	tap_eq_int(fake_qp_true(qp)->en_sqd_async_notify, 1, "takes en_sqd_async_notify");
	fake_close_all();
}

/* ---- The log ------------------------------------------------------------------------------ */

static void test_log(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_qp *qp = fake_qp(ctx, IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_port_attr port_attr;
	union ibv_gid gid;
	int i;

	tap_eq_int(fake_count(FAKE_ANY), 0, "the shortcuts are not recorded");
	tap_ok(!fake_last(FAKE_ANY) && !fake_nth(1) && !fake_nth(0), "so there is no call yet");
	ibv_query_gid(ctx, 1, 3, &gid);
	ibv_modify_qp(qp, &attr, INIT_MASK);
	ibv_query_port(ctx, 7, &port_attr);
	tap_eq_int(fake_count(FAKE_ANY), 3, "three calls were made");
	tap_eq_int(fake_count(FAKE_QUERY_GID), 1, "one of them for a GID");
	tap_eq_int(fake_last(FAKE_QUERY_GID)->port, 1, "of port 1");
	tap_eq_int(fake_last(FAKE_QUERY_GID)->index, 3, "in row 3");
	tap_eq_int(fake_nth(2)->verb, FAKE_MODIFY_QP, "the second was ibv_modify_qp");
	tap_eq_str(fake_verb_str(fake_nth(2)->verb), "ibv_modify_qp", "which has a name");
	tap_eq_ptr(fake_nth(2)->object, qp, "of this queue pair");
	tap_eq_hex(fake_nth(2)->attr_mask, INIT_MASK, "with this mask");
	tap_ok(!memcmp(&fake_nth(2)->arg.qp_attr, &attr, sizeof(attr)), "and these attributes");
	tap_eq_int(fake_nth(2)->result, 0, "it returned 0");
	tap_eq_int(fake_last(FAKE_ANY)->error, EINVAL, "and the last one failed");
	tap_eq_int(fake_last(FAKE_ANY)->result, EINVAL, "saying so");
	tap_eq_int(fake_last(FAKE_ANY)->port, 7, "because of its port");
	tap_ok(!fake_last(FAKE_POLL_CQ) && !fake_nth(4), "there are no others");

	for (i = 0; i < FAKE_LOG_SIZE - 2; i++)
		ibv_query_port(ctx, 1, &port_attr);
	tap_eq_int(fake_count(FAKE_ANY), FAKE_LOG_SIZE + 1, "calls beyond the log are counted");
	tap_ok(!fake_last(FAKE_QUERY_GID), "the oldest call is forgotten");
	tap_ok(fake_last(FAKE_MODIFY_QP), "the next is not");
	ibv_query_gid(ctx, 1, 3, &gid);
	ibv_modify_qp(qp, &attr, INIT_MASK);
	for (i = 0; i < FAKE_LOG_SIZE - 2; i++)
		ibv_query_port(ctx, 1, &port_attr);
	ibv_poll_cq(qp->send_cq, 0, NULL);
	tap_eq_int(fake_last(FAKE_POLL_CQ)->port, 0, "a recycled entry has nothing of the old");
	ibv_destroy_qp(qp);
	tap_eq_hex(fake_last(FAKE_DESTROY_QP)->attr_mask, 0, "neither a port nor a mask");
	fake_reset_log();
	tap_ok(!fake_count(FAKE_ANY) && !fake_last(FAKE_MODIFY_QP), "a reset forgets them all");
	fake_close_all();
}

/* ---- Queries ------------------------------------------------------------------------------ */

static void test_device(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_query_device_ex_input input = {1};
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_device **list;
	struct ibv_context *ctx;
	uint32_t ports;
	int n = -1;

	fake_device_add("fake1");
	list = ibv_get_device_list(&n);
	tap_eq_int(n, 2, "there are two devices");
	tap_eq_str(ibv_get_device_name(list[0]), "fake0", "fake0");
	tap_eq_str(ibv_get_device_name(list[1]), "fake1", "and fake1");
	tap_eq_ptr(list[2], NULL, "the list ends in NULL");
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	tap_eq_ptr(ctx->device, &dev->verbs, "the first opens");

	dev->attr.max_dm_size = 4096;
	dev->ports = 2;
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "an extended query works");
	tap_eq_int(ex.max_dm_size, 4096, "with the extended members");
	tap_eq_int(ex.orig_attr.phys_port_cnt, 2, "and the number of ports");
	tap_eq_int(ibv_query_device_ex(ctx, &input, &ex), EINVAL, "an input mask is refused");
	tap_eq_int(ibv_query_device(ctx, &attr), 0, "the plain query works");
	tap_eq_int(attr.max_qp_rd_atom, 16, "with the limits");
	tap_eq_int(attr.max_qp_init_rd_atom, 16, "of both sides");
	dev->ports = 300;
	tap_eq_int(ibv_query_device(ctx, &attr), 0, "with more ports than the member can count");
	tap_eq_int(attr.phys_port_cnt, 255, "it says 255");
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "the extended query");
	memcpy(&ports, (char *)&ex.xrc_odp_caps + sizeof(ex.xrc_odp_caps), sizeof(ports));
	tap_eq_int(ports, 300, "has room for them, in phys_port_cnt_ex if verbs.h knows it");

	fake_fail(FAKE_QUERY_DEVICE_EX, 1, EOPNOTSUPP);
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "EOPNOTSUPP makes verbs.h fall back");
	tap_eq_int(ex.max_dm_size, 0, "to a query without the extended members");
	verbs_get_ctx(ctx)->query_device_ex = NULL;
	fake_reset_log();
	tap_eq_int(ibv_query_device_ex(ctx, NULL, &ex), 0, "so does a provider that lacks the op");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE_EX), 0, "which is then not called");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "but the plain one");
	tap_eq_int(ibv_close_device(ctx), 0, "the device closes");
	tap_eq_int(fake_close_all(), 0, "and nothing was left open");
}

static void test_port(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_port_attr attr;
	__be16 pkey = 0;

	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "port 1 answers");
	tap_eq_int(attr.state, IBV_PORT_ACTIVE, "it is active");
	tap_eq_int(attr.active_mtu, IBV_MTU_1024, "its MTU is 1024");
	tap_eq_int(attr.max_mtu, IBV_MTU_4096, "of 4096");
	tap_eq_int(attr.link_layer, IBV_LINK_LAYER_ETHERNET, "it is Ethernet");
	tap_eq_int(attr.flags, IBV_QPF_GRH_REQUIRED, "and says so");
	tap_eq_int(ibv_query_port(ctx, 0, &attr), EINVAL, "there is no port 0");
	tap_eq_int(ibv_query_port(ctx, 2, &attr), EINVAL, "nor a port 2");
	dev->port[1].attr.state = IBV_PORT_DOWN;
	verbs_get_ctx(ctx)->query_port = NULL;
	memset(&attr, 0xee, sizeof(attr));
	tap_eq_int(ibv_query_port(ctx, 1, &attr), 0, "the symbol for old programs answers too");
	tap_eq_int(attr.state, IBV_PORT_DOWN, "with what the test changed");
	tap_eq_int(attr.flags, IBV_QPF_GRH_REQUIRED, "up to the flags");
	tap_eq_int(attr.port_cap_flags2, 0, "and no further");

	tap_eq_int(ibv_query_pkey(ctx, 1, 0, &pkey), 0, "P_Key 0 is there");
	tap_eq_hex(ntohs(pkey), 0xffff, "the default one");
	tap_eq_int(ibv_query_pkey(ctx, 1, 16, &pkey), -1, "P_Key 16 is not");
	tap_eq_int(ibv_query_pkey(ctx, 1, -1, &pkey), -1, "nor is P_Key -1");
	dev->port[1].pkey[5] = 0x8001;
	tap_eq_int(ibv_get_pkey_index(ctx, 1, htons(0x8001)), 5, "a P_Key is found");
	tap_eq_int(fake_last(FAKE_GET_PKEY_INDEX)->error, 0, "which is a success");
	tap_eq_int(ibv_get_pkey_index(ctx, 1, htons(0xffff)), 0, "the default one is the first");
	tap_eq_int(ibv_get_pkey_index(ctx, 1, htons(0x8002)), -1, "or not");
	tap_eq_int(ibv_get_pkey_index(ctx, 2, htons(0xffff)), -1, "a port it has not, either");
	fake_close_all();
}

static void test_gids(void)
{
	static const uint8_t zero[16] = {0};
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_gid_entry entry[16];
	union ibv_gid gid;

	tap_eq_int(ibv_query_gid_ex(ctx, 1, 3, entry, 0), 0, "row 3 of the GID table");
	tap_eq_int(entry->gid_type, IBV_GID_TYPE_ROCE_V2, "is RoCE v2");
	tap_eq_int(entry->gid.raw[12], 192, "and an IPv4 address");
	tap_eq_int(entry->ndev_ifindex, 2, "of interface 2");
	tap_eq_int(entry->gid_index, 3, "it knows its row");
	tap_eq_int(entry->port_num, 1, "and its port");
	tap_eq_int(fake_last(FAKE_QUERY_GID_EX)->port, 1, "the call is recorded with its port");
	tap_eq_int(fake_last(FAKE_QUERY_GID_EX)->index, 3, "and its row");
	tap_eq_int(ibv_query_gid_ex(ctx, 1, 6, entry, 0), ENODATA, "row 6 is empty");
	tap_eq_int(ibv_query_gid_ex(ctx, 1, 16, entry, 0), EINVAL, "row 16 is not there");
	tap_eq_int(ibv_query_gid_ex(ctx, 2, 0, entry, 0), EINVAL, "nor is port 2");
	tap_eq_int(ibv_query_gid_ex(ctx, 1, 0, entry, 1), EINVAL, "no flags are known");

	memset(&gid, 0xee, sizeof(gid));
	tap_eq_int(ibv_query_gid(ctx, 1, 6, &gid), 0, "ibv_query_gid has no empty rows");
	tap_ok(!memcmp(gid.raw, zero, 16), "it returns zeros");
	errno = 0;
	tap_eq_int(ibv_query_gid(ctx, 1, 16, &gid), -1, "beyond the table it fails");
	tap_eq_int(errno, EINVAL, "with EINVAL");
	tap_eq_int(ibv_query_gid(ctx, 1, -1, &gid), -1, "row -1 is beyond it");

	tap_eq_int(ibv_query_gid_table(ctx, entry, 16, 0), 6, "the table has six rows");
	tap_eq_int(entry[5].gid_index, 5, "in order");
	tap_eq_int(fake_last(FAKE_QUERY_GID_TABLE)->result, 6, "which is recorded");
	tap_eq_int(fake_last(FAKE_QUERY_GID_TABLE)->error, 0, "as a success");
	tap_eq_int(ibv_query_gid_table(ctx, entry, 16, 1), -EINVAL, "it has no flags either");
	tap_eq_int(ibv_query_gid_table(ctx, entry, 5, 0), -EINVAL, "five are too few to hold it");
	tap_eq_int(ibv_query_gid_table(ctx, entry, 0, 0), -EINVAL, "so is none");
	dev->ports = 2;
	tap_eq_int(ibv_query_gid_table(ctx, entry, 16, 0), 12, "two ports share one table");
	tap_eq_int(entry[6].port_num, 2, "the second following");
	fake_close_all();
}

/* ---- Objects ------------------------------------------------------------------------------ */

static void test_create_qp(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_context *ctx = fake_open(dev);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	struct ibv_xrcd_init_attr xrcd_init = {IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					       -1, 0};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(ctx, &xrcd_init);
	struct ibv_qp_init_attr init;
	struct ibv_qp_init_attr_ex ex;
	struct ibv_qp *qp;
	int n;

	memset(&init, 0, sizeof(init));
	init.qp_context = &init;
	init.send_cq = init.recv_cq = cq;
	init.qp_type = IBV_QPT_RC;
	qp = ibv_create_qp(pd, &init);
	tap_ok(qp && qp->qp_num && qp->state == IBV_QPS_RESET, "a queue pair starts in RESET");
	tap_eq_ptr(qp->qp_context, &init, "with its context");
	tap_eq_ptr(qp->pd, pd, "and its domain");
	tap_eq_int(ibv_destroy_cq(cq), EBUSY, "its completion queue stays");
	tap_eq_int(ibv_dealloc_pd(pd), EBUSY, "so does its domain");
	n = fake_open_count();
	tap_eq_int(ibv_destroy_qp(qp), 0, "it goes");
	tap_eq_int(fake_open_count(), n - 1, "as one object");
	tap_eq_int(ibv_destroy_cq(cq), 0, "its completion queue can go then");
	cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	init.send_cq = init.recv_cq = cq;

	init.recv_cq = NULL;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EINVAL, "RC needs both completion queues");
	init.recv_cq = cq;
	init.cap.max_send_wr = 16385;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EINVAL, "max_qp_wr limits sends");
	init.cap.max_send_wr = init.cap.max_recv_wr = 16384;
	init.cap.max_send_sge = init.cap.max_recv_sge = 30;
	tap_ok(ibv_create_qp(pd, &init), "the limit itself is allowed");
	init.cap.max_recv_wr = 16385;
	tap_ok(!ibv_create_qp(pd, &init), "max_qp_wr limits receives");
	init.cap.max_recv_wr = 1;
	init.cap.max_recv_sge = 31;
	tap_ok(!ibv_create_qp(pd, &init), "max_sge limits their pieces");
	init.cap.max_recv_sge = 1;
	init.cap.max_send_sge = 31;
	tap_ok(!ibv_create_qp(pd, &init), "those of sends too");
	init.cap.max_send_sge = 1;
	init.qp_type = IBV_QPT_DRIVER;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EOPNOTSUPP, "a driver's type is not known");
	init.qp_type = IBV_QPT_XRC_RECV;
	tap_ok(!ibv_create_qp(pd, &init) && errno == EINVAL, "XRC_RECV needs an XRC domain");

	memset(&ex, 0, sizeof(ex));
	ex.qp_type = IBV_QPT_XRC_RECV;
	ex.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	ex.xrcd = xrcd;
	qp = ibv_create_qp_ex(ctx, &ex);
	tap_ok(qp && !qp->pd && !qp->send_cq, "and nothing else");
	tap_eq_int(ibv_close_xrcd(xrcd), EBUSY, "which stays as long");
	ibv_destroy_qp(qp);
	tap_eq_int(ibv_close_xrcd(xrcd), 0, "and then goes");
	ex.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	tap_ok(!ibv_create_qp_ex(ctx, &ex) && errno == EOPNOTSUPP, "flags are not known");
	fake_close_all();
}

static void test_completions(void)
{
	struct fake_device *dev = fake_reset();
	struct ibv_qp *qp = fixture_qp(fake_open(dev), IBV_QPT_RC, IBV_QPS_RTS);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_wc wc[40];
	int i, pushed = 0;

	memset(wc, 0, sizeof(wc));
	for (i = 0; i < 40; i++) {
		wc[i].wr_id = (uint64_t)i;
		wc[i].qp_num = i % 2 ? qp->qp_num : 12345;
		pushed += fake_cq_push(qp->send_cq, &wc[i]);
	}
	tap_eq_int(pushed, 32, "a completion queue holds as many as it was created with");
	tap_eq_int(ibv_poll_cq(qp->send_cq, 3, wc), 3, "three are polled");
	tap_eq_int(wc[2].wr_id, 2, "the oldest three");
	tap_ok(fake_cq_push(qp->send_cq, &wc[0]), "which makes room");
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "RESET drops no completion");
	dev->quirks = FAKE_RESET_PURGES_CQ;
	tap_eq_int(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0, "under FAKE_RESET_PURGES_CQ");
	tap_eq_int(ibv_poll_cq(qp->send_cq, 40, wc), 15, "it drops those of this queue pair");
	tap_eq_int(wc[0].wr_id, 4, "and leaves the others");
	tap_eq_int(wc[14].wr_id, 0, "in order");
	tap_eq_int(ibv_req_notify_cq(qp->send_cq, 0), 0, "a notification may be asked for");
	fake_close_all();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		tests_dir = argv[1];
	test_table_is_generated();
	test_families();
	test_garbage_is_not_read();
	test_srd();
	test_stale_state();
	test_log();
	test_device();
	test_port();
	test_gids();
	test_create_qp();
	test_completions();
	return tap_done();
}
