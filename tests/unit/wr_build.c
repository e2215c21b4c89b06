/* SPDX-License-Identifier: MIT */
/* Work requests: the memory they name, and what each description sets, refuses and leaves alone. */
#include "check.h"
#include "findings.h"

static char buffer[64];

static struct ibv_mr region(void *addr, size_t length)
{
	struct ibv_mr mr = {.addr = addr, .length = length, .lkey = 0x1234, .rkey = 0x56789abc};

	return mr;
}

static void check_region_for_peer(void)
{
	const struct rdmaez_remote untouched = {1, 2, 3};
	struct ibv_mr mr = region(buffer, sizeof(buffer));
	struct rdmaez_remote remote = untouched;

	tap_eq_int(rdmaez_mr_remote(NULL, &remote, NULL), EINVAL, "no region is there");
	tap_eq_int(rdmaez_mr_remote(&mr, NULL, NULL), EINVAL, "nor anything to describe it in");
	tap_ok(!memcmp(&remote, &untouched, sizeof(remote)), "nothing is written");
	tap_eq_int(rdmaez_mr_remote(&mr, &remote, NULL), 0, "a region is described");
	tap_eq_hex(remote.addr, (uintptr_t)buffer, "by its address");
	tap_eq_hex(remote.length, sizeof(buffer), "length");
	tap_eq_hex(remote.rkey, 0x56789abc, "and rkey");
	mr = region(NULL, SIZE_MAX);
	tap_eq_int(rdmaez_mr_remote(&mr, &remote, NULL), 0, "all memory is described");
	tap_eq_hex(remote.addr, 0, "from 0");
	tap_eq_hex(remote.length, SIZE_MAX, "to the end");
}

/* ---- A scatter/gather element --------------------------------------------------------------- */

static struct ibv_sge untouched_sge(void)
{
	struct ibv_sge sge;

	memset(&sge, 0x55, sizeof(sge));
	return sge;
}

static bool sge_is(const struct ibv_sge *sge, uint64_t addr, uint64_t length)
{
	return sge->addr == addr && sge->length == length && sge->lkey == 0x1234;
}

/* Every start and length around a region, against arithmetic that cannot wrap. */
static void check_bounds(void)
{
	const uintptr_t first = (uintptr_t)buffer + 8, end = first + 16;
	const struct ibv_mr mr = region(buffer + 8, 16);
	const struct ibv_sge before = untouched_sge();
	unsigned int wrong = 0, inside = 0;

	for (uintptr_t at = first - 8; at <= end + 8; at++)
		for (size_t length = 0; length <= 32; length++) {
			const bool fits = at >= first && at + length <= end;
			struct ibv_sge sge = before;
			const int error = rdmaez_mr_sge(&mr, (void *)at, length, &sge, NULL);

			inside += fits;
			wrong += error != (fits ? 0 : ERANGE) ||
				 (fits ? !sge_is(&sge, at, length)
				       : memcmp(&sge, &before, sizeof(sge)) != 0);
		}
	tap_eq_int(wrong, 0, "all that is within a region is taken, and nothing else");
	tap_eq_int(inside, 17 * 18 / 2, "of every length from each of its bytes, and 0 at its end");
}

static void check_long(void)
{
	const size_t most = INT32_MAX;
	const struct ibv_mr all = region(NULL, SIZE_MAX);
	const struct ibv_mr large = region((void *)0x10000, most + 10);
	const struct ibv_mr high = region((void *)(UINTPTR_MAX - 15), 15);
	struct ibv_sge sge = untouched_sge();

	tap_eq_int(rdmaez_mr_sge(&large, (void *)0x10000, most, &sge, NULL), 0,
		   "2^31 - 1 bytes are taken");
	tap_ok(sge_is(&sge, 0x10000, most), "all of them");
	tap_eq_int(rdmaez_mr_sge(&large, (void *)0x10000, most + 1, &sge, NULL), ERANGE,
		   "not one more");
	if (sizeof(size_t) == 8) {
		tap_eq_int(rdmaez_mr_sge(&large, (void *)0x10000, most * 2 + 2, &sge, NULL), ERANGE,
			   "nor 2^32, of which an element would hold 0");
		tap_eq_int(rdmaez_mr_sge(&all, buffer, most * 2 + 10, &sge, NULL), ERANGE,
			   "nor 2^32 and some from all memory");
	}
	tap_eq_int(rdmaez_mr_sge(&all, buffer, 8, &sge, NULL), 0, "all memory has the buffer");
	tap_ok(sge_is(&sge, (uintptr_t)buffer, 8), "by its address");
	tap_eq_int(rdmaez_mr_sge(&all, NULL, 8, &sge, NULL), 0, "and begins at NULL");
	tap_eq_int(rdmaez_mr_sge(&all, (void *)(UINTPTR_MAX - 8), 8, &sge, NULL), 0, "to its end");
	tap_eq_int(rdmaez_mr_sge(&all, (void *)(UINTPTR_MAX - 8), 9, &sge, NULL), ERANGE,
		   "not beyond");
	tap_eq_int(rdmaez_mr_sge(&high, (void *)(UINTPTR_MAX - 15), 15, &sge, NULL), 0,
		   "a region may end at the last address");
	tap_eq_int(rdmaez_mr_sge(&high, (void *)(UINTPTR_MAX - 7), 16, &sge, NULL), ERANGE,
		   "which a length does not get past");
	tap_eq_int(rdmaez_mr_sge(&high, (void *)(UINTPTR_MAX - 15), SIZE_MAX, &sge, NULL), ERANGE,
		   "not even the longest");
	tap_eq_int(rdmaez_mr_sge(&high, NULL, 0, &sge, NULL), ERANGE, "nor does an address");
}

/* ---- Descriptions --------------------------------------------------------------------------- */

/* What a work request has before it is described, and keeps: the flags and the caller's own. */
static struct ibv_send_wr blank(void)
{
	struct ibv_send_wr wr = {.wr_id = 77, .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE};

	wr.next = &wr;
	return wr;
}

static struct ibv_sge data(uint32_t length)
{
	struct ibv_sge sge = {.addr = (uintptr_t)buffer, .length = length, .lkey = 0x1234};

	return sge;
}

/* It has this opcode and list, and all else that is not the operation's is as it was. */
static TAP_PRINTF(4) void check_head(const struct ibv_send_wr *wr, enum ibv_wr_opcode opcode,
				     const struct ibv_sge *sge, const char *fmt, ...)
{
	char name[100];
	va_list args;

	va_start(args, fmt);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	tap_eq_int(wr->opcode, opcode, "%s: the opcode", name);
	tap_eq_ptr(wr->sg_list, sge, "%s: the data", name);
	tap_eq_int(wr->num_sge, 1, "%s: in one SGE", name);
	tap_eq_int(wr->wr_id, 77, "%s: wr_id stays", name);
	tap_ok(wr->next != NULL, "%s: next stays", name);
	tap_eq_hex(wr->send_flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE, "%s: the flags stay", name);
}

static void check_send(void)
{
	struct ibv_sge sge = data(8), list[2] = {data(8), data(8)};
	struct ibv_send_wr wr = blank(), before;
	struct ibv_ah *ah = (struct ibv_ah *)buffer;

	rdmaez_wr_send(&wr, &sge);
	check_head(&wr, IBV_WR_SEND, &sge, "a send");
	wr = blank();
	rdmaez_wr_send(&wr, NULL);
	tap_eq_int(wr.num_sge, 0, "a send may have no data");
	tap_eq_ptr(wr.sg_list, NULL, "and no list");
	wr.sg_list = list;
	wr.num_sge = 2;
	rdmaez_wr_send(&wr, NULL);
	tap_eq_ptr(wr.sg_list, list, "or a list of several");
	tap_eq_int(wr.num_sge, 2, "which stays");

	wr = before = blank();
	tap_eq_int(rdmaez_wr_send_to(&wr, &sge, NULL, 5, 6, NULL), EINVAL, "UD needs a handle");
	tap_eq_int(rdmaez_wr_send_to(&wr, &sge, ah, 0x1000000, 6, NULL), EINVAL, "and 24 bits");
	tap_ok(!memcmp(&wr, &before, sizeof(wr)), "nothing is set");
	tap_eq_int(rdmaez_wr_send_to(&wr, &sge, ah, 0xffffff, 0x80010000, NULL), 0, "to a group");
	check_head(&wr, IBV_WR_SEND, &sge, "a send over UD");
	tap_eq_ptr(wr.wr.ud.ah, ah, "it has the handle");
	tap_eq_hex(wr.wr.ud.remote_qpn, 0xffffff, "the number");
	tap_eq_hex(wr.wr.ud.remote_qkey, 0x80010000, "and the Q_Key");
}

static int describe(enum ibv_wr_opcode opcode, struct ibv_send_wr *wr, struct ibv_sge *sge,
		    const struct rdmaez_remote *remote, uint64_t offset)
{
	static const struct rdmaez_wr_swap swap = {3, 4};

	switch ((int)opcode) {
	case IBV_WR_RDMA_WRITE:
		return rdmaez_wr_write(wr, sge, remote, offset, NULL);
	case IBV_WR_RDMA_READ:
		return rdmaez_wr_read(wr, sge, remote, offset, NULL);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return rdmaez_wr_fetch_add(wr, sge, remote, offset, 3, NULL);
	default:
		return rdmaez_wr_compare_swap(wr, sge, remote, offset, &swap, NULL);
	}
}

static const enum ibv_wr_opcode operations[] = {
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
	IBV_WR_ATOMIC_CMP_AND_SWP,
};

/* Every offset and length around the peer's memory, in one SGE and in two. */
static void check_remote_bounds(void)
{
	const struct rdmaez_remote remote = {0x1000, 24, 9};
	const struct ibv_send_wr before = blank();
	unsigned int wrong = 0, right = 0;

	for (uint64_t offset = 0; offset <= 32; offset++)
		for (uint32_t length = 0; length <= 32; length++)
			for (int opcode = 0; opcode < 2; opcode++)
				for (uint32_t split = 0; split < 2; split++) {
					const bool fits = offset + length <= 24;
					struct ibv_sge sge[2] = {data(length), data(0)};
					struct ibv_send_wr wr = before;
					int error;

					sge[0].length = length / (1 + split);
					sge[1].length = length - sge[0].length;
					wr.sg_list = split ? sge : NULL;
					wr.num_sge = split ? 2 : 0;
					error = describe(operations[opcode], &wr,
							 split ? NULL : sge, &remote, offset);
					right += !error;
					wrong += error != (fits ? 0 : ERANGE) ||
						 (fits &&
						  wr.wr.rdma.remote_addr != 0x1000 + offset) ||
						 (!fits && wr.wr.rdma.remote_addr);
				}
	tap_eq_int(wrong, 0, "WRITE and READ take all that is within the peer's memory");
	tap_eq_int(right, 4 * 25 * 26 / 2, "of every length, in one SGE or two");
}

static void check_atomic_bounds(void)
{
	const struct ibv_send_wr before = blank();
	unsigned int wrong = 0, right = 0;

	for (uint64_t start = 0x1000; start < 0x1010; start++)
		for (uint64_t offset = 0; offset <= 32; offset++)
			for (uint32_t length = 0; length <= 16; length++)
				for (int opcode = 2; opcode < 4; opcode++) {
					const struct rdmaez_remote remote = {start, 24, 9};
					const bool room = offset + 8 <= 24;
					const bool fits = length == 8 && !((start + offset) % 8);
					struct ibv_send_wr wr = before;
					struct ibv_sge sge = data(length);
					const int error = describe(operations[opcode], &wr, &sge,
								   &remote, offset);

					right += !error;
					wrong += error != (!room  ? ERANGE
							   : fits ? 0
								  : EINVAL) ||
						 (error && memcmp(&wr, &before, sizeof(wr)) != 0);
				}
	tap_eq_int(wrong, 0, "atomics take 8 bytes at multiples of 8 within the peer's memory");
	tap_eq_int(right, 2 * (2 * 3 + 14 * 2), "and all of those");
}

static void check_remote_extremes(void)
{
	const struct rdmaez_remote all = {0, UINT64_MAX, 9}, none = {0x1000, 0, 9};
	struct ibv_sge sge = data(8), two[2] = {data(UINT32_MAX), data(UINT32_MAX)};
	struct ibv_send_wr wr = blank();
	const struct rdmaez_remote large = {0x1000, UINT32_MAX, 9};

	for (size_t i = 0; i < COUNT_OF(operations); i++) {
		const enum ibv_wr_opcode opcode = operations[i];

		tap_eq_int(describe(opcode, &wr, &sge, &all, UINT64_MAX), ERANGE,
			   "operation %zu: the end does not wrap around", i);
		tap_eq_int(describe(opcode, &wr, &sge, &all, UINT64_MAX - 7), ERANGE,
			   "operation %zu: it comes in time", i);
		tap_eq_int(describe(opcode, &wr, &sge, &none, 0), ERANGE,
			   "operation %zu: no memory was told", i);
		tap_eq_int(describe(opcode, &wr, &sge, &all, UINT64_MAX - 15), 0,
			   "operation %zu: the last one that fits", i);
	}
	wr.sg_list = two;
	wr.num_sge = 2;
	tap_eq_int(rdmaez_wr_write(&wr, NULL, &large, 0, NULL), ERANGE,
		   "a sum of lengths does not wrap");
	sge.length = 0;
	tap_eq_int(rdmaez_wr_write(&wr, &sge, &none, 0, NULL), 0, "no bytes fit into no memory");
}

static void check_operations(void)
{
	const struct rdmaez_remote remote = {0x7000000000001000, 64, 0x9abcdef0};
	const struct rdmaez_wr_swap swap = {5, 6};
	struct ibv_sge sge = data(8);
	struct ibv_send_wr wr = blank();

	tap_eq_int(rdmaez_wr_write(&wr, &sge, &remote, 5, NULL), 0, "a WRITE");
	check_head(&wr, IBV_WR_RDMA_WRITE, &sge, "a WRITE");
	tap_eq_hex(wr.wr.rdma.remote_addr, 0x7000000000001005, "goes to the address");
	tap_eq_hex(wr.wr.rdma.rkey, 0x9abcdef0, "with the rkey");
	wr = blank();
	tap_eq_int(rdmaez_wr_read(&wr, &sge, &remote, 56, NULL), 0, "a READ");
	check_head(&wr, IBV_WR_RDMA_READ, &sge, "a READ");
	tap_eq_hex(wr.wr.rdma.remote_addr, 0x7000000000001038, "is of the address");
	tap_eq_hex(wr.wr.rdma.rkey, 0x9abcdef0, "with the rkey");
	wr = blank();
	tap_eq_int(rdmaez_wr_fetch_add(&wr, &sge, &remote, 8, UINT64_MAX, NULL), 0,
		   "a fetch and add");
	check_head(&wr, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, "a fetch and add");
	tap_eq_hex(wr.wr.atomic.remote_addr, 0x7000000000001008, "is at the address");
	tap_eq_hex(wr.wr.atomic.compare_add, UINT64_MAX, "adds the number");
	tap_eq_hex(wr.wr.atomic.rkey, 0x9abcdef0, "with the rkey");
	wr = blank();
	tap_eq_int(rdmaez_wr_compare_swap(&wr, &sge, &remote, 16, &swap, NULL), 0,
		   "a compare and swap");
	check_head(&wr, IBV_WR_ATOMIC_CMP_AND_SWP, &sge, "a compare and swap");
	tap_eq_hex(wr.wr.atomic.remote_addr, 0x7000000000001010, "is at the address");
	tap_eq_hex(wr.wr.atomic.compare_add, 5, "compares with the one");
	tap_eq_hex(wr.wr.atomic.swap, 6, "and swaps for the other");
	tap_eq_hex(wr.wr.atomic.rkey, 0x9abcdef0, "with the rkey");
}

static void check_immediate(void)
{
	static const enum ibv_wr_opcode with[][2] = {
		{IBV_WR_SEND, IBV_WR_SEND_WITH_IMM},
		{IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM},
		{IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM},
		{IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM},
	};
	struct ibv_send_wr wr = blank(), before;

	for (size_t i = 0; i < COUNT_OF(with); i++) {
		wr = blank();
		wr.opcode = with[i][0];
		tap_eq_int(rdmaez_wr_imm(&wr, 0x12345678, NULL), 0, "opcode %d takes it",
			   with[i][0]);
		tap_eq_int(wr.opcode, with[i][1], "and becomes %d", with[i][1]);
		tap_eq_hex(wr.imm_data, htonl(0x12345678), "in network byte order");
		tap_eq_hex(wr.send_flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE, "the flags stay");
	}
	for (int opcode = IBV_WR_RDMA_READ; opcode <= IBV_WR_TSO; opcode++) {
		wr.opcode = (enum ibv_wr_opcode)opcode;
		before = wr;
		tap_eq_int(rdmaez_wr_imm(&wr, 1, NULL), EINVAL, "opcode %d does not", opcode);
		tap_ok(!memcmp(&wr, &before, sizeof(wr)), "and is as it was");
	}
}

static void check_inline(void)
{
	struct ibv_sge sge[2] = {data(20), data(12)};
	struct ibv_send_wr wr;

	for (int opcode = IBV_WR_RDMA_WRITE; opcode <= IBV_WR_TSO; opcode++) {
		const bool takes = opcode < IBV_WR_RDMA_READ || opcode == IBV_WR_SEND_WITH_INV;

		wr = blank();
		wr.opcode = (enum ibv_wr_opcode)opcode;
		wr.sg_list = sge;
		wr.num_sge = 2;
		tap_eq_int(rdmaez_wr_inline(&wr, 31, NULL), takes ? EMSGSIZE : EINVAL,
			   "opcode %d: one byte too many", opcode);
		tap_eq_hex(wr.send_flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE, "the flags stay");
		tap_eq_int(rdmaez_wr_inline(&wr, 32, NULL), takes ? 0 : EINVAL, "opcode %d",
			   opcode);
		tap_eq_hex(wr.send_flags,
			   IBV_SEND_SIGNALED | IBV_SEND_FENCE | (takes ? IBV_SEND_INLINE : 0u),
			   "%s", takes ? "one more" : "the flags stay");
	}
	wr = blank();
	wr.opcode = IBV_WR_SEND;
	tap_eq_int(rdmaez_wr_inline(&wr, 0, NULL), 0, "no data is never too much");
}

/* ---- What is said of a refusal -------------------------------------------------------------- */

static struct rdmaez_diag diag;

#define WRONG(reason, field, kind, ...) \
	{RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_##reason, field, RDMAEZ_VALUE_##kind, __VA_ARGS__}
#define CHECK_WRONG(call, error, name, what, ...)                            \
	do {                                                                 \
		memset(&diag, 0x55, sizeof(diag));                           \
		CHECK_FINDINGS(&diag, call, error, name, what, __VA_ARGS__); \
	} while (0)

static void check_told_memory(void)
{
	const struct ibv_mr mr = region(buffer + 8, 16);
	const struct ibv_mr large = region((void *)0x10000, (size_t)UINT32_MAX);
	struct rdmaez_remote remote;
	struct ibv_sge sge;

	CHECK_WRONG(rdmaez_mr_sge(&mr, buffer, 1, &sge, &diag), ERANGE, "rdmaez_mr_sge",
		    "before a region", WRONG(WR_REGION, "addr", ADDRESS, (uintptr_t)buffer, 0, 0));
	CHECK_WRONG(rdmaez_mr_sge(&mr, buffer + 10, 15, &sge, &diag), ERANGE, "rdmaez_mr_sge",
		    "beyond its end", WRONG(WR_REGION, "length", BYTES, 15, 0, 14));
	CHECK_WRONG(rdmaez_mr_sge(&large, (void *)0x10000, 0x80000000, &sge, &diag), ERANGE,
		    "rdmaez_mr_sge", "too much at once",
		    WRONG(RANGE, "length", BYTES, 0x80000000, 0, INT32_MAX));
	CHECK_WRONG(rdmaez_mr_remote(NULL, &remote, &diag), EINVAL, "rdmaez_mr_remote", "no region",
		    WRONG(NULL_ARGUMENT, "mr", NONE, 0, 0, 0));
	CHECK_WRONG(rdmaez_mr_remote(&mr, NULL, &diag), EINVAL, "rdmaez_mr_remote", "nor a place",
		    WRONG(NULL_ARGUMENT, "remote", NONE, 0, 0, 0));
	tap_eq_int(rdmaez_mr_remote(&mr, &remote, &diag), 0, "a region");
}

static void check_told_requests(void)
{
	const struct rdmaez_remote remote = {0x1000, 24, 9}, odd = {0x1001, 24, 9},
				   none = {0, 0, 0};
	const struct rdmaez_wr_swap swap = {1, 2};
	struct ibv_sge sge = data(8);
	struct ibv_send_wr wr = blank();

	CHECK_WRONG(rdmaez_wr_write(&wr, &sge, &remote, 25, &diag), ERANGE, "rdmaez_wr_write",
		    "a WRITE from beyond", WRONG(WR_REMOTE, "offset", NUMBER, 25, 0, 24));
	CHECK_WRONG(rdmaez_wr_write(&wr, &sge, &none, 0, &diag), ERANGE, "rdmaez_wr_write",
		    "to a peer without memory", WRONG(WR_REMOTE, "sge.length", BYTES, 8, 0, 0));
	CHECK_WRONG(rdmaez_wr_read(&wr, &sge, &remote, 20, &diag), ERANGE, "rdmaez_wr_read",
		    "a READ beyond the end", WRONG(WR_REMOTE, "sge.length", BYTES, 8, 0, 4));
	CHECK_WRONG(rdmaez_wr_fetch_add(&wr, &sge, &remote, 17, 1, &diag), ERANGE,
		    "rdmaez_wr_fetch_add", "an atomic beyond the end",
		    WRONG(WR_REMOTE, "sge.length", BYTES, 8, 0, 7));
	tap_eq_int(rdmaez_wr_fetch_add(&wr, &sge, &remote, 17, 1, NULL), ERANGE, "unasked, too");
	CHECK_WRONG(rdmaez_wr_compare_swap(&wr, &sge, &odd, 8, &swap, &diag), EINVAL,
		    "rdmaez_wr_compare_swap", "an atomic at an odd address",
		    WRONG(WR_ATOMIC, "remote.addr", ADDRESS, 0x1009, 0, 0));
	sge.length = 4;
	CHECK_WRONG(rdmaez_wr_fetch_add(&wr, &sge, &odd, 8, 1, &diag), EINVAL,
		    "rdmaez_wr_fetch_add", "and of four bytes",
		    WRONG(WR_ATOMIC, "sge.length", BYTES, 4, 8, 8),
		    WRONG(WR_ATOMIC, "remote.addr", ADDRESS, 0x1009, 0, 0));
	CHECK_WRONG(rdmaez_wr_send_to(&wr, &sge, NULL, 0x1000000, 6, &diag), EINVAL,
		    "rdmaez_wr_send_to", "UD to nobody", WRONG(NULL_ARGUMENT, "ah", NONE, 0, 0, 0),
		    WRONG(RANGE, "qp_num", HEX, 0x1000000, 0, 0xffffff));
	memset(&diag, 0x55, sizeof(diag));
	tap_eq_int(rdmaez_wr_write(&wr, &sge, &remote, 0, &diag), 0, "a WRITE");
	tap_eq_int(diag.count, 0x55555555, "leaves the record alone");
}

static void check_told_flags(void)
{
	struct ibv_sge sge = data(20);
	struct ibv_send_wr wr = blank();

	wr.opcode = IBV_WR_RDMA_READ;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	CHECK_WRONG(rdmaez_wr_imm(&wr, 1, &diag), EINVAL, "rdmaez_wr_imm", "a READ with a number",
		    WRONG(WR_IMM_OPCODE, "opcode", OPCODE, IBV_WR_RDMA_READ, 0, 0));
	CHECK_WRONG(rdmaez_wr_inline(&wr, 64, &diag), EINVAL, "rdmaez_wr_inline", "a READ inline",
		    WRONG(WR_INLINE_OPCODE, "opcode", OPCODE, IBV_WR_RDMA_READ, 0, 0));
	wr.opcode = IBV_WR_SEND;
	CHECK_WRONG(rdmaez_wr_inline(&wr, 19, &diag), EMSGSIZE, "rdmaez_wr_inline",
		    "too much inline", WRONG(WR_INLINE, "max_inline", BYTES, 20, 0, 19));
}

int main(void)
{
	check_region_for_peer();
	check_bounds();
	check_long();
	check_send();
	check_remote_bounds();
	check_atomic_bounds();
	check_remote_extremes();
	check_operations();
	check_immediate();
	check_inline();
	check_told_memory();
	check_told_requests();
	check_told_flags();
	return tap_done();
}
