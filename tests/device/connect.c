/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs connected by endpoints on a real device, and data through them. Without arguments: loopback, and hundreds
 * one after the other; `connects N` does only that, with so many. `two ADDRESS ADDRESS NETDEV NETDEV` is for connect.t:
 * both ends on devices of their own, where an address of the first goes, and one of the second goes and comes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>

#include "rig.h"

enum {
	SECOND = 1000000000,
};

static struct rig one, two;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static void worked(int error, const struct rdmaez_diag *diag, const char *name)
{
	char text[4096];

	if (tap_eq_int(error, 0, "%s", name))
		return;
	rdmaez_diag_format(diag, text, sizeof(text));
	tap_diag("%s", text);
}

static struct rdmaez_qp_opts generous(enum ibv_qp_type type)
{
	struct rdmaez_qp_opts opts = {.timeout = 20}; /* a slow machine loses nothing */

	if (type != IBV_QPT_UD)
		opts.access = IBV_ACCESS_REMOTE_WRITE;
	return opts;
}

/* ---- Loopback --------------------------------------------------------------------------------- */

static void test_loopback(enum ibv_qp_type type, bool itself)
{
	const char *const name = rdmaez_qp_type_str(type);
	const struct rdmaez_qp_opts opts = generous(type);
	struct side *a = side_open(&one, type), *b = itself ? a : side_open(&one, type);
	struct rdmaez_diag diag;

	worked(rdmaez_qp_connect_loopback(a->qp, b->qp, &opts, &diag), &diag, name);
	tap_ok(rig_send(a, b, NULL), "%s: bytes arrive", name);
	tap_ok(rig_send(b, a, NULL), "%s: and those sent back", name);
	side_close(a);
	if (!itself)
		side_close(b);
}

/* ---- Two ends by their endpoints -------------------------------------------------------------- */

/* Both ends tell each other what they are, as bytes. */
static void tell(const struct rdmaez_endpoint *local, struct rdmaez_endpoint *remote)
{
	uint8_t bytes[RDMAEZ_ENDPOINT_BYTES];

	if (rdmaez_endpoint_pack(local, bytes) || rdmaez_endpoint_unpack(bytes, remote, NULL))
		tap_bail("an endpoint does not survive its bytes");
}

struct pair {
	struct side *a, *b;
	struct rdmaez_endpoint at_a, at_b; /* their own */
	struct rdmaez_endpoint to_a, to_b; /* what the other one knows */
	struct rdmaez_qp_opts opts;
};

static void exchange(struct pair *p)
{
	if (rdmaez_endpoint_local(p->a->qp, &p->opts, &p->at_a, NULL) ||
	    rdmaez_endpoint_local(p->b->qp, &p->opts, &p->at_b, NULL))
		tap_bail("there are no endpoints");
	tell(&p->at_a, &p->to_a);
	tell(&p->at_b, &p->to_b);
}

static struct pair pair_open(struct rig *other, enum ibv_qp_type type)
{
	struct pair p = {.a = side_open(&one, type), .b = side_open(other, type)};

	p.opts = generous(type);
	exchange(&p);
	return p;
}

static void pair_close(struct pair *p)
{
	side_close(p->a);
	side_close(p->b);
}

static void connect_both(struct pair *p, const char *name)
{
	struct rdmaez_diag diag;

	worked(rdmaez_qp_connect(p->a->qp, &p->at_a, &p->to_b, &p->opts, &diag), &diag, name);
	worked(rdmaez_qp_connect(p->b->qp, &p->at_b, &p->to_a, &p->opts, &diag), &diag, name);
}

static void check_data(struct pair *p, const char *name)
{
	tap_ok(rig_send(p->a, p->b, NULL), "%s: bytes arrive", name);
	tap_ok(rig_send(p->b, p->a, NULL), "%s: and those sent back", name);
	if (p->a->qp->qp_type == IBV_QPT_RC)
		tap_eq_int(rig_rdma_status(p->a, p->b, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS,
			   "%s: an RDMA WRITE", name);
}

static void test_pair(struct rig *other, enum ibv_qp_type type)
{
	struct pair p = pair_open(other, type);

	connect_both(&p, rdmaez_qp_type_str(type));
	check_data(&p, rdmaez_qp_type_str(type));
	pair_close(&p);
}

static void test_ud(struct rig *other)
{
	struct pair p = pair_open(other, IBV_QPT_UD);
	struct ibv_ah *there = NULL, *back = NULL, *more = NULL;
	struct rdmaez_diag diag;

	worked(rdmaez_qp_connect_ud(p.a->qp, &p.at_a, &p.to_b, &p.opts, &there, &diag), &diag,
	       "UD");
	worked(rdmaez_qp_connect_ud(p.b->qp, &p.at_b, &p.to_a, &p.opts, &back, &diag), &diag,
	       "UD, the other end");
	worked(rdmaez_qp_connect_ud(p.a->qp, &p.at_a, &p.to_a, &p.opts, &more, &diag), &diag,
	       "UD, a further peer");
	if (!there || !back || !more)
		tap_bail("there are no handles");
	tap_ok(rig_send(p.a, p.b, there), "UD: a datagram arrives");
	tap_ok(rig_send(p.b, p.a, back), "UD: and one that is sent back");
	tap_ok(rig_send(p.a, p.a, more), "UD: and one to the further peer");
	if (ibv_destroy_ah(there) || ibv_destroy_ah(back) || ibv_destroy_ah(more))
		tap_bail("ibv_destroy_ah: %s", strerror(errno));
	pair_close(&p);
}

/* ---- One after the other ---------------------------------------------------------------------- */

/* What `rdma resource show` tells of the machine. */
static void resources(char *text, size_t size)
{
	FILE *pipe = popen("rdma resource show", "r");
	size_t length;

	rig_need(pipe, "popen");
	length = fread(text, 1, size - 1, pipe);
	text[length] = '\0';
	if (pclose(pipe) || !strstr(text, "qp "))
		tap_bail("rdma resource show does not tell");
}

/* Creates, connects, sends a message, and destroys, so often; nothing is left in the kernel. */
static void test_leaks(int count)
{
	const struct rdmaez_qp_opts opts = generous(IBV_QPT_RC);
	char before[1024], after[1024];
	uint64_t begun, connecting = 0;
	int connected = 0, sent = 0;

	resources(before, sizeof(before));
	begun = now();
	for (int i = 0; i < count; i++) {
		struct side *side = side_open(&one, i % 4 == 3 ? IBV_QPT_UC : IBV_QPT_RC);
		const uint64_t start = now();

		connected += !rdmaez_qp_connect_loopback(side->qp, side->qp, &opts, NULL);
		connecting += now() - start;
		sent += rig_send(side, side, NULL);
		side_close(side);
	}
	tap_eq_int(connected, count, "all are connected");
	tap_eq_int(sent, count, "and each has sent and received a message");
	resources(after, sizeof(after));
	tap_eq_str(after, before, "the kernel holds what it held before");
	tap_diag("%d times create, connect, send, destroy: %.2f ms each, of which connecting %.2f "
		 "ms",
		 count, (double)(now() - begun) / count / 1e6, (double)connecting / count / 1e6);
}

/* ---- An address that goes and comes: connect.t ------------------------------------------------- */

static void run(const char *format, const char *address, const char *netdev)
{
	char command[200];

	snprintf(command, sizeof(command), format, address, netdev);
	if (system(command))
		tap_bail("%s: failed", command);
}

#define ADD "ip address add %s/24 dev %s"
#define DEL "ip address del %s/24 dev %s"

/* The row of a GID, -1 where there is none; the kernel fills the table some time after an address comes or goes. */
static int row_of(struct rig *rig, const char *address)
{
	struct ibv_gid_entry row;
	char mapped[64];
	union ibv_gid gid;

	snprintf(mapped, sizeof(mapped), "::ffff:%s", address);
	if (inet_pton(AF_INET6, mapped, gid.raw) != 1)
		tap_bail("%s is no address", address);
	for (uint32_t i = 0; i < (uint32_t)rig->port.gid_tbl_len; i++)
		if (!ibv_query_gid_ex(rig->context, 1, i, &row, 0) &&
		    row.gid_type == IBV_GID_TYPE_ROCE_V2 && !memcmp(&row.gid, &gid, sizeof(gid)))
			return (int)i;
	return -1;
}

static int wait_for_row(struct rig *rig, const char *address, bool wanted)
{
	RIG_UNTIL((row_of(rig, address) >= 0) == wanted);
	return row_of(rig, address);
}

struct late {
	const char *address, *netdev;
	unsigned int ms;
};

static void *come_late(void *arg)
{
	const struct late *late = (const struct late *)arg;
	const struct timespec time = {.tv_sec = late->ms / 1000,
				      .tv_nsec = (long)(late->ms % 1000) * 1000000};

	nanosleep(&time, NULL);
	run(ADD, late->address, late->netdev);
	return NULL;
}

/* A peer whose address is gone is looked for, and found when it is back. */
static void test_retry(const char *address, const char *netdev)
{
	struct late late = {address, netdev, 1500};
	struct pair p = pair_open(&two, IBV_QPT_RC);
	struct rdmaez_endpoint again;
	struct rdmaez_diag diag;
	pthread_t thread;
	uint64_t begun;

	p.opts.path.sgid_index = rdmaez_exactly(wait_for_row(&two, address, true));
	tap_eq_int(rdmaez_endpoint_local(p.b->qp, &p.opts, &p.at_b, &diag), 0, "an endpoint");
	tell(&p.at_b, &p.to_b);
	p.opts.path.sgid_index = 0;
	run(DEL, address, netdev);
	tap_eq_int(wait_for_row(&two, address, false), -1, "the peer's address is gone");
	tap_eq_int(rdmaez_qp_connect(p.a->qp, &p.at_a, &p.to_b, &p.opts, &diag), ETIMEDOUT,
		   "once it is tried in vain");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_NEIGHBOUR), "nobody answers");
	tap_eq_int(diag.to, IBV_QPS_RTR, "on the way to RTR");
	tap_eq_int(p.a->qp->state, IBV_QPS_INIT, "in INIT");

	p.opts.retry_ns = 300u * 1000000;
	begun = now();
	tap_eq_int(rdmaez_qp_connect(p.a->qp, &p.at_a, &p.to_b, &p.opts, &diag), ETIMEDOUT,
		   "and for a while");
	tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_RETRIED), "which is told");
	tap_diag("%u tries in %u ms",
		 (unsigned int)(rdmaez_diag_find(&diag, RDMAEZ_WHY_RETRIED)
					? rdmaez_diag_find(&diag, RDMAEZ_WHY_RETRIED)->value
					: 0),
		 (unsigned int)((now() - begun) / 1000000));

	p.opts.retry_ns = (uint64_t)RIG_SECONDS * SECOND;
	if (pthread_create(&thread, NULL, come_late, &late))
		tap_bail("there is no thread");
	begun = now();
	worked(rdmaez_qp_connect(p.a->qp, &p.at_a, &p.to_b, &p.opts, &diag), &diag,
	       "until the peer is there");
	tap_diag("found after %u ms", (unsigned int)((now() - begun) / 1000000));
	pthread_join(thread, NULL);

	p.opts.path.sgid_index = rdmaez_exactly(wait_for_row(&two, address, true));
	tap_eq_int(rdmaez_endpoint_local(p.b->qp, &p.opts, &again, &diag), 0, "its GID is back");
	again.psn = p.at_b.psn;
	p.at_b = again;
	worked(rdmaez_qp_connect(p.b->qp, &p.at_b, &p.to_a, &p.opts, &diag), &diag,
	       "so it connects");
	check_data(&p, "after that");
	pair_close(&p);
}

/* This end's GID goes between exchange and connection: why is told, and a new endpoint goes on. */
static void test_gid_gone(const char *address, const char *netdev)
{
	struct pair p = pair_open(&two, IBV_QPT_RC);
	const struct rdmaez_finding *finding;
	struct rdmaez_diag diag;
	int row;

	run(ADD, address, netdev);
	row = wait_for_row(&one, address, true);
	p.opts.path.sgid_index = rdmaez_exactly(row);
	tap_eq_int(rdmaez_endpoint_local(p.a->qp, &p.opts, &p.at_a, &diag), 0, "an endpoint");
	p.opts.path.sgid_index = 0;
	run(DEL, address, netdev);
	tap_eq_int(wait_for_row(&one, address, false), -1, "its GID is gone");
	tap_ok(rdmaez_qp_connect(p.a->qp, &p.at_a, &p.to_b, &p.opts, &diag) != 0, "it is refused");
	tap_eq_str(diag.call, "rdmaez_qp_connect", "by this function");
	tap_eq_int(diag.to, IBV_QPS_RTR, "on the way to RTR");
	finding = &diag.finding[0];
	tap_eq_str(rdmaez_why_id(finding->reason), "GID_EMPTY", "the reason");
	tap_eq_int(finding->severity, RDMAEZ_DIAG_ERROR, "which is certain");
	tap_eq_str(finding->field, "ah_attr.grh.sgid_index", "the field");
	tap_eq_int((int)finding->value, row, "the index");
	tap_eq_int(p.a->qp->state, IBV_QPS_INIT, "it is in INIT");
	exchange(&p);
	connect_both(&p, "new endpoints");
	check_data(&p, "then");
	pair_close(&p);
}

static void test_two(char **args)
{
	two = rig_open_device("rxe1");
	test_pair(&two, IBV_QPT_RC);
	test_pair(&two, IBV_QPT_UC);
	test_ud(&two);
	test_gid_gone(args[0], args[2]);
	test_retry(args[1], args[3]);
	rig_close(&two);
}

int main(int argc, char **argv)
{
	one = rig_open();
	if (argc == 6 && !strcmp(argv[1], "two")) {
		test_two(argv + 2);
	} else if (argc == 3 && !strcmp(argv[1], "connects")) {
		test_leaks(atoi(argv[2]));
	} else {
		test_loopback(IBV_QPT_RC, false);
		test_loopback(IBV_QPT_UC, false);
		test_loopback(IBV_QPT_RC, true);
		test_pair(&one, IBV_QPT_RC);
		test_pair(&one, IBV_QPT_UC);
		test_ud(&one);
		test_leaks(500);
	}
	rig_close(&one);
	return tap_done();
}
