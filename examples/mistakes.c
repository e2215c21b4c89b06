/* SPDX-License-Identifier: MIT */
/*
 * A dozen mistakes: what verbs say about each, which is an errno value or a status, and what rdmaez says.
 *
 * Build:  cc -std=c11 -Iinclude examples/mistakes.c -libverbs -o mistakes
 * Run:    ./mistakes, or on a machine without RDMA: tools/softroce ./mistakes
 */
#include <getopt.h>
#include <stdlib.h>

#include <rdmaez.h>
#include <rdmaez/implementation.h>

static const char usage[] =
	"usage: mistakes [NUMBER...]\n"
	"\n"
	"Makes a dozen mistakes, or only those with these numbers, on the first "
	"device that has an active\n"
	"port, and prints what verbs and rdmaez say about each.\n";
static const struct option help[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

/* Ends the program with the reason unless a call works. */
#define NEED(call) rdmaez_diag_need(call, &diag)

static struct rdmaez_diag diag;
static struct rdmaez_simple it, peer; /* both on one device */
static struct rdmaez_qp_opts opts;
static struct rdmaez_qp_move move; /* a correct request, which each mistake spoils */
#define A move.attr

static void skip_a_state(void)
{
	A.qp_state = IBV_QPS_RTS;
}

static void forget_the_psn(void)
{
	move.attr_mask &= ~IBV_QP_RQ_PSN;
}

static void set_the_port_again(void)
{
	move.attr_mask |= IBV_QP_PORT;
	A.port_num = 1;
}

static void resize(void)
{
	move.attr_mask |= IBV_QP_CAP;
}

static void limit_the_rate(void)
{
	move.attr_mask |= IBV_QP_RATE_LIMIT;
}

static void give_the_mtu_in_bytes(void)
{
	A.path_mtu = (enum ibv_mtu)1024;
}

static void leave_out_the_grh(void)
{
	A.ah_attr.is_global = 0;
}

static void use_an_empty_gid_index(void)
{
	A.ah_attr.grh.sgid_index = 15;
}

static void mix_the_families(void)
{
	memset(&A.ah_attr.grh.dgid, 0, sizeof(A.ah_attr.grh.dgid));
	A.ah_attr.grh.dgid.raw[0] = 0x20;
	A.ah_attr.grh.dgid.raw[1] = 0x01;
	A.ah_attr.grh.dgid.raw[15] = 1;
}

static void ask_for_an_alternate_path(void)
{
	move.attr_mask |= IBV_QP_ALT_PATH;
	A.alt_ah_attr = A.ah_attr;
	A.alt_port_num = A.ah_attr.port_num;
}

static void copy_what_everybody_copies(void)
{
	A.ah_attr.grh.hop_limit = 1;
	A.min_rnr_timer = 0;
	A.max_dest_rd_atomic = 0;
	A.path_mtu = IBV_MTU_4096;
}

/*
 * What the kernel says about the request, and what rdmaez says about the same one. What the kernel would accept is only
 * checked: drivers have been seen to crash when such a queue pair is used.
 */
static void modify(void (*spoil)(void))
{
	int error;

	NEED(rdmaez_qp_to_reset(it.qp, &diag));
	NEED(rdmaez_qp_to_init(it.qp, &opts, &diag));
	NEED(rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, &diag));
	spoil();
	if (!rdmaez_qp_check(it.qp, &A, move.attr_mask, &diag)) {
		puts("Verbs would accept it. rdmaez says:");
		return;
	}
	error = ibv_modify_qp(it.qp, &A, move.attr_mask);
	printf("Verbs say: ibv_modify_qp() returns %d, %s. rdmaez says:\n", error, strerror(error));
	rdmaez_qp_modify(it.qp, &A, move.attr_mask, &diag);
}

/*
 * The peer's receive has room for half of the message. The explanation is given the request, so that it can leave out
 * what only a READ or WRITE can do wrong.
 */
static void send_too_much(void)
{
	struct ibv_sge sge = {(uintptr_t)it.mr->addr, 64, it.mr->lkey};
	struct ibv_sge room = {(uintptr_t)peer.mr->addr, 32, peer.mr->lkey};
	struct ibv_recv_wr receive = {.sg_list = &room, .num_sge = 1};
	struct rdmaez_wc_batch batch = {.capacity = 1, .want = 1};
	struct ibv_send_wr wr = {0};
	struct ibv_wc wc = {0};

	NEED(rdmaez_qp_to_reset(it.qp, &diag));
	NEED(rdmaez_qp_connect_loopback(it.qp, peer.qp, &opts, &diag));
	NEED(rdmaez_wr_post_recv(peer.qp, &receive, NULL, &diag));
	rdmaez_wr_send(&wr, &sge);
	NEED(rdmaez_wr_post_send(it.qp, &wr, NULL, &diag));
	batch.wc = &wc;
	rdmaez_wc_wait(it.send_cq, it.qp, &batch, 10000000000, &diag);
	printf("Verbs say: the completion has status %d, %s. rdmaez says:\n", wc.status,
	       ibv_wc_status_str(wc.status));
	rdmaez_wc_explain_send(&wc, it.qp, &wr, &diag);
}

static const struct {
	const char *title;
	void (*spoil)(void); /* NULL: the mistake is no request to ibv_modify_qp() */
} mistakes[] = {
	{"Going from INIT straight to RTS", skip_a_state},
	{"Leaving the first PSN out of the mask", forget_the_psn},
	{"Setting the port a second time", set_the_port_again},
	{"Resizing the queue pair", resize},
	{"Limiting the rate of an RC queue pair", limit_the_rate},
	{"Giving the MTU in bytes", give_the_mtu_in_bytes},
	{"Leaving out the GRH", leave_out_the_grh},
	{"Using an empty GID index", use_an_empty_gid_index},
	{"Mixing IPv4 and IPv6", mix_the_families},
	{"Asking for an alternate path on RoCE", ask_for_an_alternate_path},
	{"Copying what everybody copies", copy_what_everybody_copies},
	{"Sending more than the peer has room for", NULL},
};

enum {
	COUNT = sizeof(mistakes) / sizeof(*mistakes)
};

/* Whether rdmaez found something. */
static bool make(int number)
{
	printf("%d. %s\n", number, mistakes[number - 1].title);
	if (mistakes[number - 1].spoil)
		modify(mistakes[number - 1].spoil);
	else
		send_too_much();
	rdmaez_diag_print(&diag, stdout);
	return diag.count;
}

int main(int argc, char **argv)
{
	static char memory[2][64];
	struct rdmaez_simple_opts objects = {.buffer = memory[0], .length = sizeof(memory[0])};
	const int letter = getopt_long(argc, argv, "h", help, NULL);
	struct ibv_gid_entry self;
	bool bad = letter != -1, found = true;

	for (int i = optind; i < argc; i++)
		bad |= atoi(argv[i]) < 1 || atoi(argv[i]) > COUNT;
	if (bad) {
		fputs(usage, letter == 'h' ? stdout : stderr);
		return letter == 'h' ? EXIT_SUCCESS : 2;
	}
	NEED(rdmaez_simple_open(NULL, &objects, &it, &diag));
	objects.buffer = memory[1];
	NEED(rdmaez_simple_open(ibv_get_device_name(it.context->device), &objects, &peer, &diag));
	NEED(rdmaez_port_choose_gid(it.context, 1, NULL, &self, &diag));
	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	opts.dest_qp_num = peer.qp->qp_num;
	opts.path.dgid = self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)self.gid_index);

	for (int i = 1; i <= (optind < argc ? argc - optind : COUNT); i++) {
		if (i > 1)
			putchar('\n');
		found &= make(optind < argc ? atoi(argv[optind + i - 1]) : i);
	}
	NEED(rdmaez_simple_close(&it, &diag));
	NEED(rdmaez_simple_close(&peer, &diag));
	return found ? EXIT_SUCCESS : EXIT_FAILURE;
}
