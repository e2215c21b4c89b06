/* SPDX-License-Identifier: MIT */
/*
 * Device memory on a real device that has none: emulated, and reached by a peer's RDMA READ, WRITE and
 * atomics. What the verbs answer must be what mlx5 answers.
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep() */

#include <sys/socket.h>
#include <sys/wait.h>

#include <rdmaez/devel/dm_emu.h>
#include <rdmaez/implementation.h>

#include "rig.h"

enum {
	KIB = 1024,
	PEER = IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
	       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC
};

/* --- Two queue pairs, the second of which reaches into the first one's memory ------------------- */

struct pair {
	struct side *owner;
	struct side *peer;
};

static void bring_up(struct rig *rig, struct side *side, const struct side *other)
{
	struct rdmaez_qp_opts opts = {0};
	struct rdmaez_diag diag;

	opts.port_attr = &rig->port;
	opts.dest_qp_num = other->qp->qp_num;
	opts.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	opts.path.dgid = rig->self.gid;
	opts.path.sgid_index = rdmaez_exactly((int)rig->self.gid_index);
	if (rdmaez_qp_to_init(side->qp, &opts, &diag) || rdmaez_qp_to_rtr(side->qp, &opts, &diag) ||
	    rdmaez_qp_to_rts(side->qp, &opts, &diag))
		tap_bail("cannot bring a queue pair up");
}

static struct pair pair_open(struct rig *rig)
{
	struct pair pair = {side_open(rig, IBV_QPT_RC), side_open(rig, IBV_QPT_RC)};

	bring_up(rig, pair.owner, pair.peer);
	bring_up(rig, pair.peer, pair.owner);
	return pair;
}

static void pair_close(struct pair *pair)
{
	side_close(pair->peer);
	side_close(pair->owner);
}

/* The peer's request, to or from the beginning of its own memory; its completion's status. */
static int request(struct pair *pair, struct ibv_send_wr *wr, uint32_t length)
{
	struct side *peer = pair->peer;
	struct ibv_sge sge = {(uintptr_t)peer->memory, length, peer->mr->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	return ibv_post_send(peer->qp, wr, &bad) ? -1 : rig_status(peer->send_cq);
}

static int rdma(struct pair *pair, enum ibv_wr_opcode opcode, const struct ibv_mr *mr, uint64_t at,
		uint32_t length)
{
	struct ibv_send_wr wr = {.opcode = opcode};

	wr.wr.rdma.remote_addr = at;
	wr.wr.rdma.rkey = mr->rkey;
	return request(pair, &wr, length);
}

/* An atomic; the value that was there before is then in the peer's memory. */
static int atomic(struct pair *pair, enum ibv_wr_opcode opcode, const struct ibv_mr *mr,
		  uint64_t at, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr wr = {.opcode = opcode};

	wr.wr.atomic.remote_addr = at;
	wr.wr.atomic.rkey = mr->rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	return request(pair, &wr, 8);
}

static uint64_t before(const struct pair *pair)
{
	uint64_t value;

	memcpy(&value, pair->peer->memory, sizeof(value));
	return value;
}

static void fill(uint8_t *bytes, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)(seed + 31 * i + (i >> 8));
}

/* --- By the verbs ------------------------------------------------------------------------------- */

static struct ibv_dm *alloc(struct ibv_context *context, size_t length)
{
	struct ibv_alloc_dm_attr attr = {length, 0, 0};

	errno = 0;
	return ibv_alloc_dm(context, &attr);
}

static struct ibv_mr *reg(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			  unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_dm_mr(pd, dm, offset, length, access);

	if (!mr)
		tap_bail("ibv_reg_dm_mr: %s", strerror(errno));
	return mr;
}

static void dereg(struct ibv_mr *mr)
{
	if (ibv_dereg_mr(mr))
		tap_bail("ibv_dereg_mr");
}

/* Bytes in both directions between a peer and a region that begins at `from`. */
static void reach(struct pair *pair, struct ibv_dm *dm, const struct ibv_mr *mr, int from)
{
	uint8_t bytes[RIG_HALF], got[RIG_HALF];

	fill(pair->peer->memory, RIG_HALF, 3);
	memcpy(bytes, pair->peer->memory, RIG_HALF);
	tap_eq_int(rdma(pair, IBV_WR_RDMA_WRITE, mr, 0, RIG_HALF), IBV_WC_SUCCESS,
		   "from %d: a peer's WRITE completes", from);
	tap_eq_int(ibv_memcpy_from_dm(got, dm, (uint64_t)from, RIG_HALF), 0,
		   "from %d: the owner copies out", from);
	tap_ok(memcmp(got, bytes, RIG_HALF) == 0, "from %d: what the peer wrote", from);

	fill(bytes, RIG_HALF, 90);
	tap_eq_int(ibv_memcpy_to_dm(dm, (uint64_t)from, bytes, RIG_HALF), 0,
		   "from %d: the owner copies in", from);
	tap_eq_int(rdma(pair, IBV_WR_RDMA_READ, mr, 16, RIG_HALF - 16), IBV_WC_SUCCESS,
		   "from %d: a peer's READ completes", from);
	tap_ok(memcmp(pair->peer->memory, bytes + 16, RIG_HALF - 16) == 0,
	       "from %d: and gets what the owner wrote", from);
}

static void atomics(struct pair *pair, struct ibv_dm *dm, const struct ibv_mr *mr, int from)
{
	uint64_t value = 5;

	ibv_memcpy_to_dm(dm, (uint64_t)from + 8, &value, 8);
	tap_eq_int(atomic(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, mr, 8, 37, 0), IBV_WC_SUCCESS,
		   "from %d: a peer's fetch-and-add completes", from);
	tap_eq_int(before(pair), 5, "from %d: the peer gets the old value", from);
	tap_eq_int(atomic(pair, IBV_WR_ATOMIC_CMP_AND_SWP, mr, 8, 42, 1000), IBV_WC_SUCCESS,
		   "from %d: a compare-and-swap completes", from);
	tap_eq_int(before(pair), 42, "from %d: the peer gets the sum", from);
	tap_eq_int(atomic(pair, IBV_WR_ATOMIC_CMP_AND_SWP, mr, 8, 42, 7), IBV_WC_SUCCESS,
		   "from %d: one that compares with another value completes", from);
	ibv_memcpy_from_dm(&value, dm, (uint64_t)from + 8, 8);
	tap_eq_int(value, 1000, "from %d: and swaps nothing", from);
}

/* What a peer may not do ends its queue pair, so each takes a new pair. */
static void forbidden(struct rig *rig, struct ibv_dm *dm)
{
	static const struct {
		const char *what;
		unsigned int access;
		enum ibv_wr_opcode opcode;
		uint64_t at;
		uint32_t length;
	} tries[] = {
		{"a WRITE beyond the region", PEER, IBV_WR_RDMA_WRITE, 96, 8},
		{"a READ beyond the region", PEER, IBV_WR_RDMA_READ, 100, 1},
		{"a READ where only WRITE is allowed", PEER & ~(unsigned int)IBV_ACCESS_REMOTE_READ,
		 IBV_WR_RDMA_READ, 0, 8},
		{"a WRITE where only READ is allowed",
		 IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ, IBV_WR_RDMA_WRITE, 0, 8},
	};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct ibv_mr *mr = reg(rig->pd, dm, 0, 100, tries[i].access);
		struct pair pair = pair_open(rig);

		tap_eq_int(rdma(&pair, tries[i].opcode, mr, tries[i].at, tries[i].length),
			   IBV_WC_REM_ACCESS_ERR, "%s is refused on the wire", tries[i].what);
		pair_close(&pair);
		dereg(mr);
	}
}

/* The kernel is asked what is still registered. */
static void busy(struct rig *rig, struct ibv_dm *dm)
{
	struct ibv_mr *first = reg(rig->pd, dm, 0, 64, PEER);
	struct ibv_mr *second = reg(rig->pd, dm, 0, KIB, PEER);

	tap_eq_int(ibv_free_dm(dm), EBUSY, "with two regions the memory stays");
	dereg(first);
	tap_eq_int(ibv_free_dm(dm), EBUSY, "with one it stays");
	dereg(second);
	/* The kernel uses handles again. */
	first = ibv_reg_mr(rig->pd, rig, 64, 0);
	rig_need(first, "ibv_reg_mr");
	tap_eq_int(ibv_free_dm(dm), 0, "then it goes, whatever else is registered");
	dereg(first);
}

static void limits(struct rig *rig)
{
	struct ibv_device_attr_ex device;
	struct ibv_dm *dm[65];
	int count = 0;

	tap_eq_int(ibv_query_device_ex(rig->context, NULL, &device), 0, "the device answers");
	tap_eq_int(device.max_dm_size, 256 * KIB, "with the emulated max_dm_size");
	tap_eq_int(device.orig_attr.max_qp, rig->device.max_qp, "and its own numbers");
	tap_ok(!alloc(rig->context, 0) && errno == EINVAL, "no byte: EINVAL");
	tap_ok(!alloc(rig->context, 256 * KIB + 1) && errno == EINVAL, "too many: EINVAL");
	while (count < 65 && (dm[count] = alloc(rig->context, 100)))
		count++;
	tap_eq_int(count, 64, "there is room for 64");
	tap_eq_int(errno, ENOMEM, "then ENOMEM");
	while (count)
		if (ibv_free_dm(dm[--count]))
			tap_bail("ibv_free_dm");
}

/* --- By dm.h ------------------------------------------------------------------------------------ */

static void need_no(int error, const struct rdmaez_diag *diag)
{
	char text[2048];

	if (!error)
		return;
	rdmaez_diag_format(diag, text, sizeof(text));
	tap_bail("%s", text);
}

/* A peer's requests; their addresses are offsets. */
static void reach_dm(struct pair *pair, const struct rdmaez_dm *dm,
		     const struct rdmaez_dm_region *region)
{
	uint64_t value = 100, at = 0, counter = 0;
	uint8_t got[1000];

	fill(pair->peer->memory, 1000, 77);
	tap_ok(!rdmaez_dm_remote(region, 0, 1000, &at, NULL) &&
		       !rdmaez_dm_remote_atomic(region, 992, &counter, NULL),
	       "a peer is told two addresses");
	tap_eq_int(rdma(pair, IBV_WR_RDMA_WRITE, region->mr, at, 1000), IBV_WC_SUCCESS,
		   "a peer writes all of it");
	tap_eq_int(rdmaez_dm_copy_from(dm, 0, got, 1000), 0, "it is copied out");
	tap_ok(memcmp(got, pair->peer->memory, 1000) == 0, "and is the same to the last byte");
	tap_eq_int(rdmaez_dm_copy_to(dm, 992, &value, 8), 0, "a counter is set at its end");
	tap_eq_int(atomic(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, region->mr, counter, 11, 0),
		   IBV_WC_SUCCESS, "a peer adds to it");
	tap_eq_int(before(pair), 100, "and gets what it was");
	tap_eq_int(rdmaez_dm_copy_from(dm, 992, &value, 8), 0, "the owner reads it");
	tap_eq_int(value, 111, "and gets the sum");
}

/* Device memory as the local end of a request: its address is an offset. */
static void send_from(struct pair *pair, const struct rdmaez_dm *dm,
		      const struct rdmaez_dm_region *region)
{
	struct side *owner = pair->owner, *peer = pair->peer;
	struct ibv_send_wr wr = {.num_sge = 1, .opcode = IBV_WR_RDMA_WRITE}, *bad;
	struct ibv_sge sge;
	uint8_t got[400];

	tap_eq_int(rdmaez_dm_fill(dm, 400, 0x3c, 200), 0, "a part is filled");
	tap_eq_int(rdmaez_dm_sge(region, 300, 400, &sge, NULL), 0, "an element around it");
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = (uintptr_t)peer->memory;
	wr.wr.rdma.rkey = peer->mr->rkey;
	tap_eq_int(ibv_post_send(owner->qp, &wr, &bad) ? -1 : rig_status(owner->send_cq),
		   IBV_WC_SUCCESS, "the owner writes from device memory to a peer");
	tap_ok(!rdmaez_dm_copy_from(dm, 300, got, 400) && memcmp(got, peer->memory, 400) == 0,
	       "and it arrives");
	tap_ok(peer->memory[99] != 0x3c && peer->memory[100] == 0x3c && peer->memory[299] == 0x3c &&
		       peer->memory[300] != 0x3c,
	       "every byte in its place");
}

static void by_dm_h(struct rig *rig, struct pair *pair)
{
	const unsigned int access = rdmaez_dm_access(RDMAEZ_DM_PEER_READS | RDMAEZ_DM_PEER_WRITES |
						     RDMAEZ_DM_PEER_ATOMICS);
	struct rdmaez_diag diag;
	uint8_t odd[7] = {1, 2, 3, 4, 5, 6, 7}, got[7] = {0};
	struct rdmaez_dm_region region;
	struct rdmaez_dm dm = {0};

	need_no(rdmaez_dm_alloc(rig->context, 1000, NULL, &dm, &diag), &diag);
	tap_eq_int(dm.alloc_length, 1024, "the device is asked for whole blocks");
	need_no(rdmaez_dm_reg(&dm, rig->pd, NULL, access, &region, &diag), &diag);
	reach_dm(pair, &dm, &region);
	send_from(pair, &dm, &region);
	tap_eq_int(rdmaez_dm_copy_to_bytes(&dm, 993, odd, 7), 0, "any bytes go in");
	tap_ok(rdmaez_dm_copy_from_bytes(&dm, 993, got, 7) == 0 && memcmp(odd, got, 7) == 0,
	       "and come out");
	tap_eq_int(rdmaez_dm_close(&dm, &diag), EBUSY, "it is not closed while it is registered");
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_DM_IN_USE, "and the record says so");
	dereg(region.mr);
	tap_eq_int(rdmaez_dm_close(&dm, NULL), 0, "and can be closed again then");
	tap_eq_int(rdmaez_dm_close(&dm, NULL), EINVAL, "once");
}

/* --- Two processes ------------------------------------------------------------------------------ */

static void tell(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(1);
}

static void hear(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(2);
}

/* Opens the device for itself, shares the memory, registers it, and ends without cleaning up. */
static void child(int fd, int socket, uint32_t handle)
{
	struct rdmaez_dm_emu_opts opts = {.fd = fd};
	static struct rdmaez_dm_emu emu;
	struct rig rig = rig_open();
	struct ibv_dm *dm;
	uint32_t word = 0;

	if (rdmaez_dm_emu_attach(rig.context, &opts, &emu, NULL))
		_exit(3);
	dm = rdmaez_dm_emu_ops()->import(rig.context, handle, 0, &emu);
	if (!dm)
		_exit(4);
	ibv_memcpy_from_dm(&word, dm, 0, 4);
	word++;
	ibv_memcpy_to_dm(dm, 4, &word, 4);
	reg(rig.pd, dm, 0, 64, PEER);
	tell(socket);
	hear(socket);
	_exit(0);
}

static void two_processes(struct rig *rig, struct rdmaez_dm_emu *emu)
{
	struct ibv_dm *dm = alloc(rig->context, 64);
	uint32_t word = 41, handle = 0;
	int ends[2], status = -1;
	pid_t pid;

	rdmaez_impl_dm_handle(dm, false, &handle);
	ibv_memcpy_to_dm(dm, 0, &word, 4);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		tap_bail("socketpair");
	pid = fork();
	if (pid == 0)
		child(rdmaez_dm_emu_fd(emu), ends[1], handle);
	close(ends[1]);
	hear(ends[0]);
	ibv_memcpy_from_dm(&word, dm, 4, 4);
	tap_eq_int(word, 42, "another process has read and written");
	tap_eq_int(ibv_free_dm(dm), EBUSY, "its region keeps the memory");
	tell(ends[0]);
	tap_ok(waitpid(pid, &status, 0) == pid && status == 0, "it ends");
	tap_eq_int(ibv_free_dm(dm), 0, "and keeps nothing");
}

int main(void)
{
	struct rig rig = rig_open();
	struct pair pair = pair_open(&rig);
	struct rdmaez_dm_emu emu = {0};
	struct rdmaez_diag diag;
	struct ibv_dm *dm;
	struct ibv_mr *mr;

	tap_ok(!alloc(rig.context, 64) && errno == EOPNOTSUPP, "the device has no memory");
	tap_eq_int(rdmaez_dm_emu_attach(rig.context, NULL, &emu, &diag), 0, "until it is emulated");
	limits(&rig);
	dm = alloc(rig.context, 12 * KIB);
	mr = reg(rig.pd, dm, 0, 12 * KIB, PEER);
	reach(&pair, dm, mr, 0);
	atomics(&pair, dm, mr, 0);
	dereg(mr);
	mr = reg(rig.pd, dm, 4 * KIB, 8 * KIB, PEER);
	reach(&pair, dm, mr, 4 * KIB);
	atomics(&pair, dm, mr, 4 * KIB);
	dereg(mr);
	forbidden(&rig, dm);
	busy(&rig, dm);
	by_dm_h(&rig, &pair);
	two_processes(&rig, &emu);
	tap_eq_int(rdmaez_dm_emu_detach(&emu, NULL), 0, "the emulation goes");
	tap_ok(!alloc(rig.context, 64) && errno == EOPNOTSUPP, "and the device has no memory");
	pair_close(&pair);
	rig_close(&rig);
	return tap_done();
}
