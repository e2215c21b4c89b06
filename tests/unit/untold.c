/* SPDX-License-Identifier: MIT */
/*
 * A program without the explanations. What the core calls if it has them has other names here, which nobody defines. So
 * every text is the one sentence that names implementation.h, and what only explains returns EOPNOTSUPP.
 */
#define rdmaez_impl_finding                untold_finding
#define rdmaez_impl_tell_caps_diff_format  untold_caps_diff_format
#define rdmaez_impl_tell_caps_format       untold_caps_format
#define rdmaez_impl_tell_caps_item_format  untold_caps_item_format
#define rdmaez_impl_tell_caps_json         untold_caps_json
#define rdmaez_impl_tell_caps_kind_str     untold_caps_kind_str
#define rdmaez_impl_tell_cq_examine        untold_cq_examine
#define rdmaez_impl_tell_diag_format       untold_diag_format
#define rdmaez_impl_tell_diag_json         untold_diag_json
#define rdmaez_impl_tell_diag_line         untold_diag_line
#define rdmaez_impl_tell_diag_print        untold_diag_print
#define rdmaez_impl_tell_event_explain     untold_event_explain
#define rdmaez_impl_tell_event_explain_qp  untold_event_explain_qp
#define rdmaez_impl_tell_event_format      untold_event_format
#define rdmaez_impl_tell_multicast_examine untold_multicast_examine
#define rdmaez_impl_tell_port_caps_format  untold_port_caps_format
#define rdmaez_impl_tell_port_caps_json    untold_port_caps_json
#define rdmaez_impl_tell_port_count        untold_port_count
#define rdmaez_impl_tell_qp_check          untold_qp_check
#define rdmaez_impl_tell_qp_check_as       untold_qp_check_as
#define rdmaez_impl_tell_qp_examine        untold_qp_examine
#define rdmaez_impl_tell_qp_examine_with   untold_qp_examine_with
#define rdmaez_impl_tell_wc_explain        untold_wc_explain
#define rdmaez_impl_tell_wc_explain_qp     untold_wc_explain_qp
#define rdmaez_impl_tell_wc_explain_recv   untold_wc_explain_recv
#define rdmaez_impl_tell_wc_explain_send   untold_wc_explain_send
#define rdmaez_impl_tell_wc_format         untold_wc_format
#define rdmaez_impl_tell_wc_vendor_str     untold_wc_vendor_str
#define rdmaez_impl_tell_why_fix           untold_why_fix
#define rdmaez_impl_tell_why_id            untold_why_id
#define rdmaez_impl_tell_why_str           untold_why_str
#include "check.h"
#include <rdmaez/caps.h>
#include <rdmaez/examine.h>
#include <rdmaez/multicast.h>
#include <rdmaez/port_caps.h>

#define SENTENCE "include <rdmaez/implementation.h> in one file of the program to be told more"

static struct rdmaez_diag diag;
static char text[256];

/* A text of the explanations is this sentence, as a line or with the line's end, and never longer than its room. */
static void says(int length, const char *want, const char *name)
{
	tap_eq_str(text, want, "%s", name);
	tap_eq_int(length, (int)strlen(want), "%s: its length", name);
	memset(text, 0x55, sizeof(text));
}

/* A function that only explains has nothing to say but this. */
static void untold(int got, const char *call)
{
	tap_eq_int(got, EOPNOTSUPP, "%s returns EOPNOTSUPP", call);
	tap_eq_int(diag.error, EOPNOTSUPP, "%s: so does the record", call);
	tap_eq_str(diag.call, call, "%s: which names it", call);
	tap_eq_int(diag.count, 1, "%s: with one finding", call);
	tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_NOT_SUPPORTED, "%s: its reason", call);
	tap_eq_str(diag.finding[0].field, "rdmaez/implementation.h", "%s: what to include", call);
	memset(&diag, 0x55, sizeof(diag));
}

static void check_records(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	FILE *const full = fopen("/dev/full", "w");
	FILE *const page = tmpfile();
	struct ibv_pd *pd;

	says(rdmaez_diag_format(NULL, text, sizeof(text)), SENTENCE "\n", "no record");
	memset(&diag, 0, sizeof(diag));
	says(rdmaez_diag_format(&diag, text, sizeof(text)), SENTENCE "\n", "an empty record");
	fake_fail(FAKE_ALLOC_PD, 1, ENOMEM);
	tap_eq_int(rdmaez_pd_alloc(ctx, &pd, &diag), ENOMEM,
		   "a verb fails as with the explanations");
	says(rdmaez_diag_format(&diag, text, sizeof(text)),
	     "rdmaez_pd_alloc: errno 12 of ibv_alloc_pd; " SENTENCE "\n", "a record of a verb");
	says(rdmaez_diag_line(&diag, text, sizeof(text)),
	     "rdmaez_pd_alloc: errno 12 of ibv_alloc_pd; " SENTENCE, "and its line");
	says(rdmaez_diag_json(&diag, text, sizeof(text)), "{\"missing\":\"" SENTENCE "\"}",
	     "and its JSON");
	tap_eq_int(rdmaez_pd_alloc(NULL, &pd, &diag), EINVAL, "an argument is refused");
	says(rdmaez_diag_line(&diag, text, sizeof(text)), "rdmaez_pd_alloc: errno 22; " SENTENCE,
	     "in which no verb had a part");
	tap_eq_int(rdmaez_diag_print(&diag, page), 0, "a record is printed");
	rewind(page);
	tap_ok(fgets(text, sizeof(text), page) != NULL, "to the stream");
	says((int)strlen(text), "rdmaez_pd_alloc: errno 22; " SENTENCE "\n", "as it is formatted");
	setvbuf(full, NULL, _IONBF, 0);
	tap_eq_int(rdmaez_diag_print(&diag, full), ENOSPC, "or why it was not");
	fclose(full);
	fclose(page);
	tap_eq_int(rdmaez_diag_format(&diag, text, 8), 104,
		   "a text that does not fit tells its length");
	tap_eq_str(text, "rdmaez_", "and ends where its room does");
	tap_eq_str(rdmaez_why_id(RDMAEZ_WHY_NULL_ARGUMENT), "?", "a reason has no id");
	tap_eq_str(rdmaez_why_str(RDMAEZ_WHY_NULL_ARGUMENT), SENTENCE, "nor words");
	tap_eq_str(rdmaez_why_fix(RDMAEZ_WHY_NULL_ARGUMENT), SENTENCE, "nor a remedy");
	fake_close_all();
}

static void check_texts(void)
{
	struct ibv_wc wc = {.status = IBV_WC_RETRY_EXC_ERR};
	struct ibv_async_event event = {.event_type = IBV_EVENT_PORT_ERR};
	const struct rdmaez_advice *advice = rdmaez_wc_explain(&wc);
	const struct rdmaez_caps_table none = {0};
	struct rdmaez_port_caps port;
	struct rdmaez_caps caps;

	memset(&caps, 0, sizeof(caps));
	memset(&port, 0, sizeof(port));
	says(rdmaez_wc_format(&wc, text, sizeof(text)), SENTENCE "\n", "a completion");
	says(rdmaez_event_format(&event, text, sizeof(text)), SENTENCE "\n", "an event");
	says(rdmaez_caps_format(&caps, text, sizeof(text)), SENTENCE "\n", "capabilities");
	says(rdmaez_caps_json(&caps, text, sizeof(text)), "{\"missing\":\"" SENTENCE "\"}",
	     "as JSON");
	says(rdmaez_caps_item_format(&(struct rdmaez_caps_item){0}, text, sizeof(text)), SENTENCE,
	     "one of them");
	says(rdmaez_caps_diff_format(none, none, text, sizeof(text)), SENTENCE "\n",
	     "what differs");
	says(rdmaez_port_caps_format(&port, NULL, text, sizeof(text)), SENTENCE "\n", "a port's");
	says(rdmaez_port_caps_json(&port, NULL, text, sizeof(text)),
	     "{\"missing\":\"" SENTENCE "\"}", "as JSON");
	tap_eq_str(rdmaez_caps_kind_str(RDMAEZ_KIND_MASK, 1), "unknown", "a bit has no name");
	tap_eq_str(rdmaez_wc_vendor_str(&wc), "", "a vendor's error has no words");
	tap_eq_str(advice->what, "the program has no explanations", "advice is missing");
	tap_eq_str(advice->name, "unknown", "and has no name");
	tap_eq_ptr(rdmaez_event_explain(&event), advice, "of events, too");
}

/* What a device lacks is refused as with the explanations, and the record has no finding to describe it in. */
static void check_needs(void)
{
	struct rdmaez_caps have, need;
	struct rdmaez_diag met;

	memset(&have, 0, sizeof(have));
	memset(&need, 0, sizeof(need));
	memset(&met, 0x55, sizeof(met));
	memset(&diag, 0x55, sizeof(diag));
	tap_eq_int(rdmaez_caps_require(rdmaez_caps_fields(&have), rdmaez_caps_fields(&need), &met),
		   0, "nothing is needed");
	need.limits.max_qp = 1;
	tap_eq_int(rdmaez_caps_require(rdmaez_caps_fields(&have), rdmaez_caps_fields(&need), &diag),
		   EOPNOTSUPP, "what the device lacks");
	tap_eq_int(diag.count, 0, "is no finding");
	met.error = EOPNOTSUPP;
	tap_ok(memcmp(&diag, &met, sizeof(met)) == 0, "and the record holds nothing but its errno");
}

static void check_calls(void)
{
	struct ibv_context *const ctx = fake_open(fake_reset());
	struct ibv_async_event event = {.event_type = IBV_EVENT_QP_FATAL};
	struct ibv_wc wc = {.status = IBV_WC_RETRY_EXC_ERR};
	struct ibv_qp *const qp = fake_qp(ctx, IBV_QPT_RC);
	struct rdmaez_port_counts counts;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	struct rdmaez_path group = {0};

	untold(rdmaez_wc_explain_qp(&wc, qp, &diag), "rdmaez_wc_explain_qp");
	untold(rdmaez_wc_explain_send(&wc, qp, NULL, &diag), "rdmaez_wc_explain_send");
	untold(rdmaez_wc_explain_recv(&wc, qp, NULL, &diag), "rdmaez_wc_explain_recv");
	untold(rdmaez_event_explain_qp(&event, &diag), "rdmaez_event_explain_qp");
	untold(rdmaez_qp_check(qp, &attr, 0, &diag), "rdmaez_qp_check");
	untold(rdmaez_qp_check_as(qp, IBV_QPT_UC, &attr, 0, &diag), "rdmaez_qp_check_as");
	untold(rdmaez_qp_examine(qp, &diag), "rdmaez_qp_examine");
	untold(rdmaez_qp_examine_with(qp, NULL, &diag), "rdmaez_qp_examine_with");
	untold(rdmaez_cq_examine(qp->send_cq, NULL, &diag), "rdmaez_cq_examine");
	untold(rdmaez_port_count(ctx, 1, &counts, &diag), "rdmaez_port_count");
	untold(rdmaez_multicast_examine(qp, &group, 1, &diag), "rdmaez_multicast_examine");
	tap_eq_int(rdmaez_qp_examine(qp, NULL), EOPNOTSUPP, "without a record as well");
	fake_close_all();
}

int main(void)
{
	check_records();
	check_texts();
	check_needs();
	check_calls();
	return tap_done();
}
