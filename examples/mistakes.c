/* SPDX-License-Identifier: MIT */
/*
 * A dozen mistakes that ibv_modify_qp() answers with the same errno, or accepts, and what rdmaez says
 * about each.
 *
 * Build:  cc -std=c11 -Iinclude examples/mistakes.c -libverbs -o mistakes
 * Run:    ./mistakes, or on a machine without RDMA: tools/softroce ./mistakes
 *
 * Only the state of one queue pair changes: rdmaez_qp_check() queries, and modifies nothing.
 */
#include <stdlib.h>

#include <rdmaez.h>

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

static void send_from_another_port(void)
{
	A.ah_attr.port_num = 3;
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

static const struct {
	const char *title;
	void (*make)(void);
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
	{"Sending from a port that does not exist", send_from_another_port},
	{"Asking for an alternate path on RoCE", ask_for_an_alternate_path},
	{"Copying what everybody copies, which is accepted", copy_what_everybody_copies},
};

int main(void)
{
	struct rdmaez_simple simple;
	struct rdmaez_qp_opts opts = {0};
	struct ibv_gid_entry self;
	struct rdmaez_diag diag;
	int found = 0;

	opts.access = IBV_ACCESS_REMOTE_READ;
	if (rdmaez_simple_open(NULL, NULL, &simple, &diag) ||
	    rdmaez_port_choose_gid(simple.context, 1, NULL, &self, &diag) ||
	    rdmaez_qp_to_init(simple.qp, &opts, &diag)) {
		rdmaez_diag_print(&diag, stdout);
		return EXIT_FAILURE;
	}
	opts.dest_qp_num = simple.qp->qp_num;
	opts.path.dgid = self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)self.gid_index);
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, NULL);
		mistakes[i].make();
		rdmaez_qp_check(simple.qp, &move.attr, move.attr_mask, &diag);
		printf("%s%zu. %s\n", i ? "\n" : "", i + 1, mistakes[i].title);
		rdmaez_diag_print(&diag, stdout);
		found += diag.count != 0;
	}
	rdmaez_simple_close(&simple, NULL);
	return found == sizeof(mistakes) / sizeof(*mistakes) ? EXIT_SUCCESS : EXIT_FAILURE;
}
