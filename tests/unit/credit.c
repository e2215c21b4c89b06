/* SPDX-License-Identifier: MIT */
/* Send credit: that the queue is never overrun, and that a signaled send always comes in time. */
#include "check.h"

static void check_init(void)
{
	static const struct {
		uint32_t capacity, every, mask;
	} cases[] = {
		{1, 0, 0},
		{2, 0, 0},
		{3, 0, 0},
		{4, 0, 1},
		{15, 0, 3},
		{16, 0, 7},
		{17, 0, 7},
		{100, 0, 31},
		{UINT32_MAX, 0, 0x3fffffff},
		{16, 1, 0},
		{16, 2, 1},
		{16, 3, 1},
		{16, 15, 7},
		{16, 16, 15},
		{UINT32_MAX, UINT32_MAX, 0x7fffffff},
		{0x80000000, 0x80000000, 0x7fffffff},
	};
	struct rdmaez_credit credit, before;
	struct rdmaez_diag diag;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		memset(&credit, 0x55, sizeof(credit));
		tap_eq_int(rdmaez_credit_init(&credit, cases[i].capacity, cases[i].every, NULL), 0,
			   "%u, one of %u", cases[i].capacity, cases[i].every);
		tap_eq_hex(credit.mask, cases[i].mask, "a power of two");
		tap_eq_int(credit.capacity, cases[i].capacity, "the capacity");
		tap_ok(!credit.taken && !credit.given, "an empty queue");
	}
	before = credit;
	tap_eq_int(rdmaez_credit_init(&credit, 0, 0, NULL), EINVAL, "no queue");
	tap_eq_int(rdmaez_credit_init(&credit, 0, 1, NULL), EINVAL, "no queue, all signaled");
	tap_eq_int(rdmaez_credit_init(&credit, 16, 17, NULL), EINVAL, "full before a signal");
	tap_ok(!memcmp(&credit, &before, sizeof(credit)), "nothing is written");
	check_refusal(&diag, rdmaez_credit_init(&credit, 0, 0, &diag), EINVAL, RDMAEZ_WHY_RANGE,
		      "capacity", "no queue");
	check_refusal(&diag, rdmaez_credit_init(&credit, 16, 17, &diag), EINVAL,
		      RDMAEZ_WHY_CREDIT_EVERY, "every", "full before a signal");
	tap_eq_int(diag.finding[0].value, 17, "with the number");
	tap_eq_int(diag.finding[0].max, 16, "and the most");
	check_success(&diag, rdmaez_credit_init(&credit, 16, 16, &diag), "that");
}

/* Fills every queue and empties it by its signaled sends; whatever `every` is, it never stays full. */
static void check_never_stuck(void)
{
	unsigned int wrong = 0;

	for (uint32_t capacity = 1; capacity <= 40; capacity++)
		for (uint32_t every = 0; every <= capacity; every++) {
			struct rdmaez_credit credit;
			uint64_t posted = 0, outstanding = 0, signaled[40], last;
			uint32_t ends = 0, released;

			wrong += rdmaez_credit_init(&credit, capacity, every, NULL) != 0;
			for (unsigned int round = 0; round < 200; round++) {
				struct ibv_send_wr wr = {.send_flags = IBV_SEND_FENCE};

				if (!rdmaez_credit_take(&credit, &wr)) {
					wrong += wr.wr_id != posted++;
					wrong += ++outstanding > capacity;
					wrong += !(wr.send_flags & IBV_SEND_FENCE);
					if (wr.send_flags & IBV_SEND_SIGNALED)
						signaled[ends++] = wr.wr_id;
					continue;
				}
				wrong += wr.send_flags != IBV_SEND_FENCE || wr.wr_id;
				wrong += outstanding != capacity || !ends;
				if (!ends)
					break;
				last = signaled[ends - 1];
				released = (uint32_t)(last + 1 - (posted - outstanding));
				wrong += rdmaez_credit_give(&credit, last) != released;
				outstanding -= released;
				ends = 0;
			}
		}
	tap_eq_int(wrong, 0, "every queue is filled, never overrun and never stuck");
}

static void check_give(void)
{
	struct rdmaez_credit credit;
	struct ibv_send_wr wr = {.wr_id = 0};
	unsigned int taken = 0;

	rdmaez_credit_init(&credit, 8, 0, NULL);
	tap_eq_int(rdmaez_credit_give(&credit, 0), 0, "nothing is outstanding yet");
	while (!rdmaez_credit_take(&credit, &wr))
		taken++;
	tap_eq_int(taken, 8, "eight fit");
	tap_eq_int(rdmaez_credit_take(&credit, &wr), EAGAIN, "no more");
	tap_eq_int(rdmaez_credit_give(&credit, 8), 0, "none of that number is outstanding");
	tap_eq_int(rdmaez_credit_give(&credit, UINT64_MAX), 0, "nor of the greatest");
	tap_eq_int(rdmaez_credit_give(&credit, UINT64_C(1) << 63), 0, "nor of a receive");
	tap_eq_int(rdmaez_credit_give(&credit, UINT64_C(1) << 32), 0, "nor of one as wide");
	tap_eq_int(rdmaez_credit_take(&credit, &wr), EAGAIN, "the queue stays full");
	tap_eq_int(rdmaez_credit_give(&credit, 3), 4, "a completion gives all before it back");
	tap_eq_int(rdmaez_credit_give(&credit, 3), 0, "once");
	tap_eq_int(rdmaez_credit_give(&credit, 1), 0, "nor one before it");
	tap_eq_int(rdmaez_credit_give(&credit, 4), 1, "and the next one more");
	tap_eq_int(rdmaez_credit_give(&credit, 7), 3, "to the last");
	tap_eq_int(rdmaez_credit_give(&credit, 7), 0, "which then is nobody's");
	credit.taken = credit.given = UINT64_MAX - 3;
	for (taken = 0; !rdmaez_credit_take(&credit, &wr);)
		taken++;
	tap_eq_int(taken, 8, "positions may pass the greatest");
	tap_eq_int(rdmaez_credit_give(&credit, 2), 7, "and are given back beyond it");
}

/* What a post has refused is taken again, and signaled where it would have been. */
static void check_taking_back(void)
{
	struct rdmaez_credit credit;
	struct ibv_send_wr wr[4];

	rdmaez_credit_init(&credit, 8, 4, NULL);
	for (unsigned int again = 0; again < 3; again++) {
		memset(wr, 0, sizeof(wr));
		for (unsigned int i = 0; i < 4; i++)
			tap_eq_int(rdmaez_credit_take(&credit, &wr[i]), 0, "a send");
		tap_eq_hex(wr[3].send_flags, IBV_SEND_SIGNALED, "the fourth is signaled");
		tap_ok(!(wr[0].send_flags | wr[1].send_flags | wr[2].send_flags), "no other is");
		tap_eq_int(wr[0].wr_id, 0, "they begin anew");
		credit.taken = wr[0].wr_id;
	}
	memset(wr, 0, sizeof(wr));
	wr[0].send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	tap_eq_int(rdmaez_credit_take(&credit, &wr[0]), 0, "one before a pause");
	tap_eq_hex(wr[0].send_flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE, "keeps its flags");
	tap_eq_int(rdmaez_credit_give(&credit, wr[0].wr_id), 1, "and is given back");
}

int main(void)
{
	check_init();
	check_never_stuck();
	check_give();
	check_taking_back();
	return tap_done();
}
