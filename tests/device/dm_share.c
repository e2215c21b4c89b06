/* SPDX-License-Identifier: MIT */
/*
 * Two processes and one emulated device memory on Soft-RoCE: what one writes
 * the other reads, a queue pair's RDMA READ and WRITE reach the same bytes, and
 * a region of either keeps the memory.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep, fork */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"
#include <rdmaez/devel/dm_emu.h>

enum {
	LENGTH = 4096,
	PART = 512, /* the owner writes the first, the other the second, a queue pair
                 the third */
	ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE
};

static void pattern(uint8_t *bytes, unsigned int seed)
{
	for (unsigned int i = 0; i < PART; i++)
		bytes[i] = (uint8_t)(seed + 13 * i + (i >> 6));
}

/* Whether a part of the memory holds what it should. */
static bool holds(const struct rdmaez_dm *dm, unsigned int part)
{
	uint8_t bytes[PART], want[PART];

	pattern(want, part);
	return rdmaez_dm_copy_from(dm, part * PART, bytes, PART) == 0 &&
	       memcmp(bytes, want, PART) == 0;
}

static bool put(const struct rdmaez_dm *dm, unsigned int part)
{
	uint8_t bytes[PART];

	pattern(bytes, part);
	return rdmaez_dm_copy_to(dm, part * PART, bytes, PART) == 0;
}

/* One letter to the other process, and one from it: who comes first waits. */
static bool tell(int socket, char letter)
{
	return write(socket, &letter, 1) == 1;
}

static bool hear(int socket, char letter)
{
	char heard = 0;

	return read(socket, &heard, 1) == 1 && heard == letter;
}

/* The process that has only the socket; what fails first is its exit status. */
static int other(int socket)
{
	struct rdmaez_dm_emu emu = {0};
	struct rdmaez_dm_share_opts opts = {.ops = rdmaez_dm_emu_ops(),
					    .arg = &emu,
					    .timeout_ns = RIG_SECONDS * INT64_C(1000000000)};
	struct rdmaez_dm_region region;
	struct rdmaez_dm_shared shared;
	struct ibv_pd *pd;

	if (rdmaez_dm_receive(socket, &opts, &shared, NULL))
		return 2;
	if (shared.dm.length != LENGTH || !holds(&shared.dm, 0))
		return 3;
	if (!put(&shared.dm, 1) || !tell(socket, 'w') || !hear(socket, 'r'))
		return 4;
	if (!holds(&shared.dm, 2))
		return 5;
	pd = ibv_alloc_pd(shared.context);
	if (!pd || rdmaez_dm_reg(&shared.dm, pd, NULL, ACCESS, &region, NULL))
		return 6;
	if (!tell(socket, 'm') || !hear(socket, 'b'))
		return 7;
	if (ibv_dereg_mr(region.mr) || ibv_dealloc_pd(pd) || rdmaez_dm_shared_close(&shared, NULL))
		return 8;
	return tell(socket, 'c') ? 0 : 9;
}

static int rdma(struct side *own, enum ibv_wr_opcode opcode, const struct ibv_mr *mr,
		unsigned int part)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)own->memory, .length = PART, .lkey = own->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;

	wr.wr.rdma.remote_addr = part * PART;
	wr.wr.rdma.rkey = mr->rkey;
	return ibv_post_send(own->qp, &wr, &bad) ? -1 : rig_status(own->send_cq);
}

static void connect_sides(struct rig *rig, struct side *side[2])
{
	struct rdmaez_qp_opts opts = {.path = {.dgid = rig->self.gid}};
	struct rdmaez_diag diag;

	opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	for (int i = 0; i < 2; i++) {
		side[i] = side_open(rig, IBV_QPT_RC);
		opts.access = ACCESS;
	}
	for (int i = 0; i < 2; i++) {
		opts.dest_qp_num = side[1 - i]->qp->qp_num;
		if (rdmaez_qp_to_init(side[i]->qp, &opts, &diag) ||
		    rdmaez_qp_to_rtr(side[i]->qp, &opts, &diag) ||
		    rdmaez_qp_to_rts(side[i]->qp, &opts, &diag))
			tap_bail("cannot connect: %s", diag.call);
	}
}

/* The device itself cannot be imported here: that leaves nothing open. */
static void not_imported(struct rig *rig, const struct rdmaez_dm *dm)
{
	const int before = dup(0);
	struct rdmaez_dm_shared shared;
	struct rdmaez_dm_token token;
	struct rdmaez_diag diag;
	int after;

	close(before);
	if (rdmaez_dm_export(dm, NULL, NULL, &token, &diag))
		tap_bail("cannot export");
	tap_eq_int(rdmaez_dm_import(rig->context->cmd_fd, &token, NULL, &shared, &diag), EOPNOTSUPP,
		   "the device file cannot be imported");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_NOT_SUPPORTED, "and the record says that");
	tap_eq_str(diag.verb, "ibv_import_device", "of the verb");
	tap_ok(fcntl(512, F_GETFD) < 0, "the duplicate of it is closed");
	after = dup(0);
	close(after);
	tap_eq_int(after, before, "and nothing else is open");
}

static void share(struct rig *rig, struct side *own, struct rdmaez_dm_emu *emu, int socket)
{
	const struct rdmaez_dm_share_opts opts = {.ops = rdmaez_dm_emu_ops(), .arg = emu};
	const struct rdmaez_dm_range off_page = {64, 64};
	struct rdmaez_diag diag;
	struct rdmaez_dm dm;
	struct rdmaez_dm_region region, off;
	uint8_t want[PART];

	if (rdmaez_dm_alloc(rig->context, LENGTH, NULL, &dm, NULL) ||
	    rdmaez_dm_reg(&dm, rig->pd, NULL, ACCESS, &region, NULL))
		tap_bail("no emulated device memory");
	tap_eq_int(rdmaez_dm_reg(&dm, rig->pd, &off_page, ACCESS, &off, &diag), EOPNOTSUPP,
		   "a region does not begin within a page");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_DM_EMU_PAGE, "and the record says that");
	not_imported(rig, &dm);
	tap_ok(put(&dm, 0), "the owner writes");
	tap_eq_int(rdmaez_dm_send(socket, &dm, NULL, &opts, NULL), 0, "the memory is sent");
	tap_ok(hear(socket, 'w'), "the other process reads that, and writes");
	tap_ok(holds(&dm, 1), "the owner reads what the other has written");
	pattern(want, 1);
	tap_eq_int(rdma(own, IBV_WR_RDMA_READ, region.mr, 1), IBV_WC_SUCCESS,
		   "so does an RDMA READ");
	tap_ok(memcmp(own->memory, want, PART) == 0, "which brings the same bytes");
	pattern(own->memory, 2);
	tap_eq_int(rdma(own, IBV_WR_RDMA_WRITE, region.mr, 2), IBV_WC_SUCCESS,
		   "an RDMA WRITE completes");
	tap_ok(tell(socket, 'r') && hear(socket, 'm'), "the other process sees it, and registers");
	tap_eq_int(ibv_dereg_mr(region.mr), 0, "the owner's region is gone");
	tap_eq_int(rdmaez_dm_close(&dm, &diag), EBUSY, "but the other's keeps the memory");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_DM_IN_USE, "and the record says so");
	tap_ok(dm.dm && holds(&dm, 2), "which is as it was");
	tap_ok(tell(socket, 'b') && hear(socket, 'c'), "the other process gives up");
	tap_eq_int(rdmaez_dm_close(&dm, NULL), 0, "then the owner can free");
}

int main(void)
{
	struct rdmaez_dm_emu emu = {0};
	struct side *side[2];
	struct rig rig;
	int end[2], status = -1;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, end))
		tap_bail("no socket");
	/* Before the device is open, so that it has nothing but the socket. */
	child = fork();
	if (!child)
		_exit(other(end[1]));
	close(end[1]);
	rig = rig_open();
	if (rdmaez_dm_emu_attach(rig.context, NULL, &emu, NULL))
		tap_bail("cannot emulate");
	connect_sides(&rig, side);
	share(&rig, side[0], &emu, end[0]);
	tap_eq_int(waitpid(child, &status, 0), child, "the other process has ended");
	tap_eq_int(status, 0, "and found no fault");
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "nothing of the memory is left");
	side_close(side[0]);
	side_close(side[1]);
	rig_close(&rig);
	return tap_done();
}
