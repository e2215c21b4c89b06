/* SPDX-License-Identifier: MIT */
/* What rdmaez-doctor takes from a peer for growth of its counters. doctor_counters.t compiles it. */
#include "tap.h"
#ifndef GROWTH
#define GROWTH "../../tools/doctor/growth.c"
#endif
#include GROWTH

static uint64_t counted;

bool doctor_read_number(uint64_t *n, const char *path_format, ...)
{
	*n = counted;
	return path_format != NULL;
}

/* Of all counters at once: as much as the doctor ever writes is growth, and tells of all signs. */
static void check_own(void)
{
	const struct rdma_port port = {0};
	struct probe_counters before, after;
	char text[1024];

	probe_count(&port, &before);
	counted = UINT64_MAX;
	probe_count(&port, &after);
	tap_ok(probe_growth(&before, &after, text, sizeof(text)) > 400, "all counters grew");
	tap_ok(probe_is_growth(text), "what is written of them is growth");
	tap_eq_int(probe_signs(text), PROBE_LOSS | PROBE_LATE | PROBE_TWICE, "with each sign");
	tap_ok(!probe_growth(&after, &after, text, sizeof(text)) && !probe_is_growth(text),
	       "no growth is none");
}

static void check_one(const char *text, bool is_growth, unsigned int signs)
{
	tap_eq_int(probe_is_growth(text), is_growth, "\"%s\" is%s growth", text,
		   is_growth ? "" : " no");
	tap_eq_int(probe_signs(text), signs, "\"%s\" has these signs", text);
}

int main(void)
{
	check_own();
	check_one("dup_req +3", true, PROBE_TWICE);
	check_one("rx_drops +1, duplicate_request +2", true, PROBE_LOSS | PROBE_TWICE);
	check_one("of_a_newer_release +1, dup_req +3", true, PROBE_TWICE);
	check_one("no_dup_req +3", true, 0);
	check_one("dup_req_no +3", true, 0);
	check_one("?", false, 0);
	check_one("packets arrive twice: duplicate_request", false, 0);
	check_one("dup_req", false, 0);
	check_one("dup_req +", false, 0);
	check_one("dup_req +3 or so", false, 0);
	check_one("dup_req +3,", false, 0);
	check_one("dup_req +3, ", false, PROBE_TWICE);
	check_one(" +3", false, 0);
	check_one("rx_drops -1", false, 0);
	return tap_done();
}
