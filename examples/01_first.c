/* SPDX-License-Identifier: MIT */
/*
 * The smallest use there is: one RC queue pair, connected to itself, from RESET to RTS.
 *
 * Build:  cc -std=c11 -Iinclude examples/01_first.c -libverbs -o 01_first
 * Run:    ./01_first, or on a machine without RDMA: tools/softroce ./01_first
 */
#include <rdmaez.h>

int main(void)
{
	struct rdmaez_simple it;
	struct rdmaez_diag diag;

	rdmaez_diag_need(rdmaez_simple_open(NULL, NULL, &it, &diag), &diag);
	rdmaez_diag_need(rdmaez_qp_connect_loopback(it.qp, it.qp, NULL, &diag), &diag);
	printf("QP %u is ready to send to itself\n", it.qp->qp_num);
	rdmaez_diag_need(rdmaez_simple_close(&it, &diag), &diag);
	return 0;
}
