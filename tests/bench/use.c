/* SPDX-License-Identifier: MIT */
/*
 * A bring-up of an RC queue pair as a program writes it step by step, with its explanation: what the figures "use
 * bring-up" and "object bring-up" are measured on. It stays as it is, so that they can be compared over time.
 */
#include <stdio.h>
#include <rdmaez.h>

/* What each end tells the other, over a socket for instance. The GID index is for its own use. */
struct end {
	union ibv_gid gid;
	uint32_t gid_index, qp_num, psn;
};

/* Chooses what to tell the peer: of the GIDs the one that reaches want->peer; want may be NULL.
   Returns 0, or a positive errno value with the reason on stderr. */
int introduce(struct ibv_qp *qp, const struct rdmaez_gid_want *want, struct end *own)
{
	struct ibv_gid_entry self;
	struct rdmaez_diag diag;
	int error = rdmaez_port_choose_gid(qp->context, 1, want, &self, &diag);

	if (!error)
		*own = (struct end){self.gid, self.gid_index, qp->qp_num, rdmaez_psn_random()};
	if (error)
		rdmaez_diag_print(&diag, stderr);
	return error;
}

/* Connects an RC queue pair to a peer, which may then write into memory registered for that. */
int bring_up(struct ibv_qp *qp, const struct end *own, const struct end *peer)
{
	struct rdmaez_qp_opts opts = {
		.access = IBV_ACCESS_REMOTE_WRITE,
		.dest_qp_num = peer->qp_num,
		.sq_psn = own->psn,
		.rq_psn = peer->psn,
		.path = {.dgid = peer->gid, .sgid_index = rdmaez_exactly((int)own->gid_index)},
	};
	struct rdmaez_diag diag;
	int error = rdmaez_qp_to_init(qp, &opts, &diag);

	if (!error)
		error = rdmaez_qp_to_rtr(qp, &opts, &diag);
	if (!error)
		error = rdmaez_qp_to_rts(qp, &opts, &diag);
	if (error)
		rdmaez_diag_print(&diag, stderr);
	return error;
}
