/* SPDX-License-Identifier: MIT */
/*
 * Completions and events explained: the tables entry by entry, what a batch tells, how long a queue
 * pair tries, and what its attributes tell on the fake. Judged by numbers and ids, not by sentences.
 */
#include <limits.h>

#include "check.h"
#include <rdmaez/implementation.h>

/* ---- The tables --------------------------------------------------------------------------- */

static struct ibv_wc wc_of(int status, uint32_t qp_num)
{
	struct ibv_wc wc;

	memset(&wc, 0, sizeof(wc));
	wc.status = (enum ibv_wc_status)status;
	wc.qp_num = qp_num;
	return wc;
}

static struct ibv_async_event event_of(int type)
{
	struct ibv_async_event event;

	memset(&event, 0, sizeof(event));
	event.event_type = (enum ibv_event_type)type;
	return event;
}

/* A sentence as the tables hold it: not empty, and without the full stop that is put behind it. */
static bool is_sentence(const char *text)
{
	return text && *text && text[strlen(text) - 1] != '.' && text[strlen(text) - 1] != ' ';
}

static void check_advice(const struct rdmaez_advice *advice, int code, const char *name,
			 unsigned int valid, bool has_cause)
{
	bool ended = false;
	int causes = 0, broken = 0;

	tap_eq_int(advice->code, code, "%s has the number %d", name, code);
	tap_eq_str(advice->name, name, "%s is called so", name);
	tap_eq_hex(advice->valid, valid, "%s tells what may be read", name);
	tap_ok(is_sentence(advice->what), "%s says what happened", name);
	tap_ok(is_sentence(advice->fix), "%s says what to do", name);
	tap_eq_int(advice->producers[0] != '\0', code >= 0, "%s says who reports it", name);
	for (int i = 0; i < RDMAEZ_ADVICE_CAUSES; i++) {
		ended |= !advice->cause[i];
		causes += !ended;
		broken += advice->cause[i] && (ended || !is_sentence(advice->cause[i]));
	}
	tap_eq_int(causes > 0, has_cause, "%s has a cause unless it is a success", name);
	tap_eq_int(broken, 0, "%s: its causes stand in front, as sentences", name);
}

#define ON_ERROR \
	(RDMAEZ_VALID_WR_ID | RDMAEZ_VALID_STATUS | RDMAEZ_VALID_VENDOR_ERR | RDMAEZ_VALID_QP_NUM)

static void check_statuses(void)
{
#define STATUS(name) {name, #name}
	static const struct {
		int number;
		const char *name;
	} statuses[] = {
		STATUS(IBV_WC_SUCCESS),
		STATUS(IBV_WC_LOC_LEN_ERR),
		STATUS(IBV_WC_LOC_QP_OP_ERR),
		STATUS(IBV_WC_LOC_EEC_OP_ERR),
		STATUS(IBV_WC_LOC_PROT_ERR),
		STATUS(IBV_WC_WR_FLUSH_ERR),
		STATUS(IBV_WC_MW_BIND_ERR),
		STATUS(IBV_WC_BAD_RESP_ERR),
		STATUS(IBV_WC_LOC_ACCESS_ERR),
		STATUS(IBV_WC_REM_INV_REQ_ERR),
		STATUS(IBV_WC_REM_ACCESS_ERR),
		STATUS(IBV_WC_REM_OP_ERR),
		STATUS(IBV_WC_RETRY_EXC_ERR),
		STATUS(IBV_WC_RNR_RETRY_EXC_ERR),
		STATUS(IBV_WC_LOC_RDD_VIOL_ERR),
		STATUS(IBV_WC_REM_INV_RD_REQ_ERR),
		STATUS(IBV_WC_REM_ABORT_ERR),
		STATUS(IBV_WC_INV_EECN_ERR),
		STATUS(IBV_WC_INV_EEC_STATE_ERR),
		STATUS(IBV_WC_FATAL_ERR),
		STATUS(IBV_WC_RESP_TIMEOUT_ERR),
		STATUS(IBV_WC_GENERAL_ERR),
		STATUS(IBV_WC_TM_ERR),
		STATUS(IBV_WC_TM_RNDV_INCOMPLETE),
	};
	static const int unknown[] = {-1, 24, 25, 255, INT_MAX, INT_MIN};

	tap_eq_int(COUNT_OF(statuses), 24, "verbs has 24 statuses");
	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		const struct ibv_wc wc = wc_of(statuses[i].number, 1);
		unsigned int valid = ON_ERROR;

		if (wc.status == IBV_WC_SUCCESS)
			valid = (ON_ERROR & ~(unsigned int)RDMAEZ_VALID_VENDOR_ERR) |
				RDMAEZ_VALID_OPCODE | RDMAEZ_VALID_REST;
		if (wc.status == IBV_WC_TM_RNDV_INCOMPLETE)
			valid |= RDMAEZ_VALID_OPCODE;
		tap_eq_int(statuses[i].number, i, "%s is number %zu in verbs.h", statuses[i].name,
			   i);
		check_advice(rdmaez_wc_explain(&wc), (int)i, statuses[i].name, valid,
			     wc.status != IBV_WC_SUCCESS);
	}
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		const struct ibv_wc wc = wc_of(unknown[i], 1);

		check_advice(rdmaez_wc_explain(&wc), -1, "unknown", ON_ERROR, true);
	}
	check_advice(rdmaez_wc_explain(NULL), -1, "unknown", ON_ERROR, true);
}

static void check_events(void)
{
	/* By number: DEVICE_SPEED_CHANGE has a name from rdma-core 62 on. */
	static const struct {
		int number;
		const char *name;
		unsigned int valid;
	} events[] = {
		{IBV_EVENT_CQ_ERR, "IBV_EVENT_CQ_ERR", RDMAEZ_VALID_CQ},
		{IBV_EVENT_QP_FATAL, "IBV_EVENT_QP_FATAL", RDMAEZ_VALID_QP},
		{IBV_EVENT_QP_REQ_ERR, "IBV_EVENT_QP_REQ_ERR", RDMAEZ_VALID_QP},
		{IBV_EVENT_QP_ACCESS_ERR, "IBV_EVENT_QP_ACCESS_ERR", RDMAEZ_VALID_QP},
		{IBV_EVENT_COMM_EST, "IBV_EVENT_COMM_EST", RDMAEZ_VALID_QP},
		{IBV_EVENT_SQ_DRAINED, "IBV_EVENT_SQ_DRAINED", RDMAEZ_VALID_QP},
		{IBV_EVENT_PATH_MIG, "IBV_EVENT_PATH_MIG", RDMAEZ_VALID_QP},
		{IBV_EVENT_PATH_MIG_ERR, "IBV_EVENT_PATH_MIG_ERR", RDMAEZ_VALID_QP},
		{IBV_EVENT_DEVICE_FATAL, "IBV_EVENT_DEVICE_FATAL", 0},
		{IBV_EVENT_PORT_ACTIVE, "IBV_EVENT_PORT_ACTIVE", RDMAEZ_VALID_PORT_NUM},
		{IBV_EVENT_PORT_ERR, "IBV_EVENT_PORT_ERR", RDMAEZ_VALID_PORT_NUM},
		{IBV_EVENT_LID_CHANGE, "IBV_EVENT_LID_CHANGE", RDMAEZ_VALID_PORT_NUM},
		{IBV_EVENT_PKEY_CHANGE, "IBV_EVENT_PKEY_CHANGE", RDMAEZ_VALID_PORT_NUM},
		{IBV_EVENT_SM_CHANGE, "IBV_EVENT_SM_CHANGE", RDMAEZ_VALID_PORT_NUM},
		{IBV_EVENT_SRQ_ERR, "IBV_EVENT_SRQ_ERR", RDMAEZ_VALID_SRQ},
		{IBV_EVENT_SRQ_LIMIT_REACHED, "IBV_EVENT_SRQ_LIMIT_REACHED", RDMAEZ_VALID_SRQ},
		{IBV_EVENT_QP_LAST_WQE_REACHED, "IBV_EVENT_QP_LAST_WQE_REACHED", RDMAEZ_VALID_QP},
		{IBV_EVENT_CLIENT_REREGISTER, "IBV_EVENT_CLIENT_REREGISTER", RDMAEZ_VALID_PORT_NUM},
		{IBV_EVENT_GID_CHANGE, "IBV_EVENT_GID_CHANGE", RDMAEZ_VALID_PORT_NUM},
		{IBV_EVENT_WQ_FATAL, "IBV_EVENT_WQ_FATAL", RDMAEZ_VALID_WQ},
		{20, "IBV_EVENT_DEVICE_SPEED_CHANGE", 0},
	};
	static const int unknown[] = {-1, 21, 22, 255, INT_MAX, INT_MIN};

	for (size_t i = 0; i < COUNT_OF(events); i++) {
		const struct ibv_async_event event = event_of(events[i].number);

		tap_eq_int(events[i].number, i, "%s is number %zu in verbs.h", events[i].name, i);
		check_advice(rdmaez_event_explain(&event), (int)i, events[i].name, events[i].valid,
			     true);
	}
	for (size_t i = 0; i < COUNT_OF(unknown); i++) {
		const struct ibv_async_event event = event_of(unknown[i]);

		check_advice(rdmaez_event_explain(&event), -1, "unknown", 0, true);
	}
	check_advice(rdmaez_event_explain(NULL), -1, "unknown", 0, true);
}

/* Who sends an event, where drivers differ from what one would expect; impl/wc.h tells where it was read. */
static void check_producers(void)
{
	static const struct {
		int event;
		const char *producers;
	} sent[] = {
		{IBV_EVENT_QP_ACCESS_ERR,
		 "bnxt_re cxgb4 hns ionic irdma mlx4 mlx5 mthca ocrdma qedr siw "
		 "vmw_pvrdma, rxe from Linux 7.2 on"},
		{IBV_EVENT_COMM_EST, "hfi1 hns ionic mlx4 mlx5 mthca ocrdma vmw_pvrdma"},
		{IBV_EVENT_SQ_DRAINED,
		 "ionic mlx4 mthca ocrdma qedr rxe siw vmw_pvrdma; mlx5 and hns "
		 "have no SQD"},
		{IBV_EVENT_PORT_ACTIVE,
		 "most drivers; cxgb4, hns, ionic and mana with newer kernels "
		 "than Linux 6.12 only, efa never"},
		{IBV_EVENT_PORT_ERR,
		 "most drivers; cxgb4, hns, ionic and mana with newer kernels than "
		 "Linux 6.12 only, efa never"},
		{IBV_EVENT_LID_CHANGE, "hfi1 mlx4 mlx5 mthca siw vmw_pvrdma"},
		{IBV_EVENT_GID_CHANGE,
		 "all RoCE drivers, by the kernel's GID table; hfi1 irdma mlx4 "
		 "mlx5 qedr usnic_verbs vmw_pvrdma"},
	};
	static const int mapped[] = {IBV_WC_BAD_RESP_ERR, IBV_WC_LOC_ACCESS_ERR};

	for (size_t i = 0; i < COUNT_OF(sent); i++) {
		const struct ibv_async_event event = event_of(sent[i].event);

		tap_eq_str(rdmaez_event_explain(&event)->producers, sent[i].producers,
			   "%s: who sends it", rdmaez_event_explain(&event)->name);
	}
	for (size_t i = 0; i < COUNT_OF(mapped); i++) {
		const struct ibv_wc wc = wc_of(mapped[i], 1);

		tap_ok(!strstr(rdmaez_wc_explain(&wc)->producers, "siw"),
		       "%s: siw has it in its map only", rdmaez_wc_explain(&wc)->name);
	}
}

static void check_vendor_hints(void)
{
	static const struct {
		int status;
		uint32_t vendor_err;
	} known[] = {
		{IBV_WC_LOC_PROT_ERR, 0x51},      {IBV_WC_LOC_PROT_ERR, 0x52},
		{IBV_WC_WR_FLUSH_ERR, 0xf5},      {IBV_WC_WR_FLUSH_ERR, 0xf9},
		{IBV_WC_REM_INV_REQ_ERR, 0x8a},   {IBV_WC_REM_ACCESS_ERR, 0x88},
		{IBV_WC_REM_OP_ERR, 0x89},        {IBV_WC_RETRY_EXC_ERR, 0x81},
		{IBV_WC_RNR_RETRY_EXC_ERR, 0x87}, {IBV_WC_REM_ABORT_ERR, 0x93},
	};
	int wrong = 0;

	for (int status = -1; status < 26; status++)
		for (uint32_t vendor_err = 0; vendor_err < 0x300; vendor_err++) {
			struct ibv_wc wc = wc_of(status, 1);
			bool is_known = false;

			wc.vendor_err = vendor_err;
			for (size_t i = 0; i < COUNT_OF(known); i++)
				is_known |= known[i].status == status &&
					    known[i].vendor_err == vendor_err;
			wrong += is_known ? !is_sentence(rdmaez_wc_vendor_str(&wc))
					  : strcmp(rdmaez_wc_vendor_str(&wc), "") != 0;
		}
	tap_eq_int(wrong, 0, "a vendor_err means something with its own status only");
	tap_eq_str(rdmaez_wc_vendor_str(NULL), "", "no completion, no hint");
}

/* ---- Batches ------------------------------------------------------------------------------ */

static void check_position(void)
{
	struct ibv_qp a, b, *qp[] = {&a, NULL, &b, &a};
	struct ibv_wc of;

	a.qp_num = 7;
	b.qp_num = 8;
	memset(&of, 0, sizeof(of));
	of.qp_num = 8;
	tap_eq_int(rdmaez_wc_position(&of, qp, 4), 2, "the queue pair of a completion");
	tap_eq_int(rdmaez_wc_position(&of, qp, 2), 2, "beyond those that are looked at");
	of.qp_num = 7;
	tap_eq_int(rdmaez_wc_position(&of, qp, 4), 0, "the first of two");
	tap_eq_int(rdmaez_wc_position(&of, qp + 1, 3), 2, "an empty place is skipped");
	of.qp_num = 9;
	tap_eq_int(rdmaez_wc_position(&of, qp, 4), 4, "another's completion");
	tap_eq_int(rdmaez_wc_position(&of, NULL, 0), 0, "among none");
}

static void check_first_error(void)
{
	const struct ibv_wc batch[8] = {
		wc_of(IBV_WC_SUCCESS, 7),
		wc_of(IBV_WC_WR_FLUSH_ERR, 8),
		wc_of(IBV_WC_TM_RNDV_INCOMPLETE, 7),
		wc_of(IBV_WC_WR_FLUSH_ERR, 7),
		wc_of(IBV_WC_RETRY_EXC_ERR, 7),
		wc_of(IBV_WC_REM_OP_ERR, 7),
		wc_of(IBV_WC_LOC_PROT_ERR, 9),
		wc_of(IBV_WC_WR_FLUSH_ERR, 8),
	};
	const int count = (int)COUNT_OF(batch);

	tap_eq_ptr(rdmaez_wc_first_error(batch, count, 7), &batch[4],
		   "the first error that is no flush is the diagnosis, also behind a flush");
	tap_eq_ptr(rdmaez_wc_first_error(batch, 4, 7), &batch[3],
		   "where there are only flushes it is the first of them");
	tap_eq_ptr(rdmaez_wc_first_error(batch, count, 8), &batch[1],
		   "each queue pair has its own: one has only flushes");
	tap_eq_ptr(rdmaez_wc_first_error(batch, count, 9), &batch[6], "another has one error");
	tap_eq_ptr(rdmaez_wc_first_error(batch, 3, 7), NULL,
		   "successes and a rendezvous left to the program are no errors");
	tap_eq_ptr(rdmaez_wc_first_error(batch, count, 10), NULL, "a queue pair without any");
	tap_eq_ptr(rdmaez_wc_first_error(batch, 0, 7), NULL, "nothing polled");
	tap_eq_ptr(rdmaez_wc_first_error(batch, -1, 7), NULL, "ibv_poll_cq() failed");
	tap_eq_ptr(rdmaez_wc_first_error(NULL, 3, 7), NULL, "no array");
}

static void check_errors_over_polls(void)
{
	struct ibv_wc flushes[3] = {wc_of(IBV_WC_WR_FLUSH_ERR, 7), wc_of(IBV_WC_WR_FLUSH_ERR, 7),
				    wc_of(IBV_WC_WR_FLUSH_ERR, 8)};
	struct ibv_wc errors[3] = {wc_of(IBV_WC_SUCCESS, 7), wc_of(IBV_WC_WR_FLUSH_ERR, 7),
				   wc_of(IBV_WC_RNR_RETRY_EXC_ERR, 7)};
	struct ibv_wc later = wc_of(IBV_WC_FATAL_ERR, 7);
	struct rdmaez_wc_errors seen;

	memset(&seen, 0, sizeof(seen));
	seen.qp_num = 7;
	errors[2].wr_id = 22;
	flushes[0].wr_id = 1;
	flushes[1].wr_id = 2;

	rdmaez_wc_errors_add(&seen, errors, 1);
	tap_eq_int(seen.first.status, IBV_WC_SUCCESS, "a success changes nothing");
	tap_eq_int(seen.failed + seen.flushed, 0, "nor the counts");
	rdmaez_wc_errors_add(&seen, errors, -1);
	rdmaez_wc_errors_add(&seen, NULL, 2);
	tap_eq_int(seen.failed + seen.flushed, 0, "nor does a poll that failed, or no array");

	rdmaez_wc_errors_add(&seen, flushes, 3);
	tap_eq_int(seen.first.status, IBV_WC_WR_FLUSH_ERR, "only flushes came, and it says so");
	tap_eq_int(seen.first.wr_id, 1, "with the first of them");
	tap_eq_int(seen.flushed, 2, "those of the queue pair are counted");
	tap_eq_int(seen.failed, 0, "and no failure");
	rdmaez_wc_errors_add(&seen, &flushes[1], 1);
	tap_eq_int(seen.first.wr_id, 1, "a flush in a later poll does not take its place");
	tap_eq_int(seen.flushed, 3, "but is counted");

	rdmaez_wc_errors_add(&seen, errors, 3);
	tap_eq_int(seen.first.status, IBV_WC_RNR_RETRY_EXC_ERR,
		   "an error that comes after flushes is the diagnosis all the same");
	tap_eq_int(seen.first.wr_id, 22, "and is kept whole");
	tap_eq_int(seen.flushed, 4, "the flush in its batch is counted");
	tap_eq_int(seen.failed, 1, "and so is it");
	rdmaez_wc_errors_add(&seen, &later, 1);
	rdmaez_wc_errors_add(&seen, flushes, 3);
	tap_eq_int(seen.first.status, IBV_WC_RNR_RETRY_EXC_ERR, "later ones do not replace it");
	tap_eq_int(seen.failed, 2, "a second failure is counted");
	tap_eq_int(seen.flushed, 6, "and the flushes");
	tap_eq_int(seen.qp_num, 7, "the queue pair's number stays");
}

/* ---- Times -------------------------------------------------------------------------------- */

static void check_times(void)
{
	struct rdmaez_span_ns span = rdmaez_give_up_ns(14, 7);
	int wrong = 0;

	tap_eq_int(span.min, 8 * 67108864LL, "timeout 14 and 7 retries: 8 times 67 ms at least");
	tap_eq_int(span.max, 32 * 67108864LL, "and 32 times at most");
	span = rdmaez_give_up_ns(1, 0);
	tap_eq_int(span.min, 8192, "timeout 1 without retries: 8.192 us");
	tap_eq_int(span.max, 32768, "and four times that");
	span = rdmaez_give_up_ns(31, 7);
	tap_eq_int(span.max, 281474976710656, "the longest is 78 hours");
	for (unsigned int retry_cnt = 0; retry_cnt < 20; retry_cnt++)
		for (unsigned int timeout = 0; timeout < 300; timeout++) {
			const uint64_t tries = retry_cnt < 7 ? retry_cnt + 1 : 8;
			const bool runs = timeout >= 1 && timeout <= 31;
			const uint64_t once = runs ? UINT64_C(4096) << timeout : 0;

			span = rdmaez_give_up_ns(timeout, retry_cnt);
			wrong += span.min != (runs ? tries * once : UINT64_MAX);
			wrong += span.max != (runs ? tries * once * 4 : UINT64_MAX);
		}
	tap_eq_int(wrong, 0, "every timeout and count, and forever where no timer runs");

	tap_eq_int(rdmaez_rnr_give_up_ns(12, 3), 3 * 640000, "RNR timer 12, three times: 1.92 ms");
	tap_eq_int(rdmaez_rnr_give_up_ns(0, 1), 655360000, "RNR timer 0 is the longest: 655 ms");
	tap_eq_int(rdmaez_rnr_give_up_ns(31, 6), 6 * 491520000LL, "RNR timer 31, six times");
	tap_eq_int(rdmaez_rnr_give_up_ns(12, 0), 0, "rnr_retry 0 does not wait");
	tap_ok(rdmaez_rnr_give_up_ns(12, 7) == RDMAEZ_NS_FOREVER, "rnr_retry 7 waits forever");
	tap_ok(rdmaez_rnr_give_up_ns(12, UINT_MAX) == RDMAEZ_NS_FOREVER, "and so does more");
}

/* ---- What the queue pair tells ------------------------------------------------------------ */

static struct fake_device *dev;
static struct ibv_context *ctx;

/* A device whose queue pairs have nothing wrong with their path. */
static void new_device(void)
{
	dev = fake_reset();
	ctx = fake_open(dev);
}

static struct rdmaez_qp_opts good_opts(void)
{
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.dest_qp_num = 99;
	opts.path.dgid = gid_of("::ffff:192.0.2.99");
	opts.path.dlid = 4;
	return opts;
}

/* A queue pair as the options make it, which has gone to ERR since; the library does not know. */
static struct ibv_qp *broken_qp(enum ibv_qp_type type, const struct rdmaez_qp_opts *opts)
{
	struct ibv_qp *qp = fake_qp(ctx, type);
	struct rdmaez_diag diag;

	if (rdmaez_qp_to_init(qp, opts, &diag) || rdmaez_qp_to_rtr(qp, opts, &diag) ||
	    rdmaez_qp_to_rts(qp, opts, &diag))
		tap_bail("a queue pair did not come up: %s, %s", diag.call,
			 rdmaez_why_id(diag.finding[0].reason));
	fake_qp_force(qp, IBV_QPS_ERR);
	fake_reset_log();
	return qp;
}

#define LIKELY(reason, field, kind, value, min, max) \
	{RDMAEZ_WHY_##reason, RDMAEZ_DIAG_LIKELY, RDMAEZ_VALUE_##kind, field, value, min, max, NULL}
#define ADVICE(reason, field, kind, value, min, max) \
	{RDMAEZ_WHY_##reason, RDMAEZ_DIAG_ADVICE, RDMAEZ_VALUE_##kind, field, value, min, max, NULL}
#define FINDINGS(array) array, (unsigned int)COUNT_OF(array)

static void check_findings(const struct rdmaez_diag *diag, const struct rdmaez_finding *want,
			   unsigned int count, const char *name)
{
	tap_eq_count(diag, count, "%s: %u findings", name, count);
	tap_ok(record_tells_all(diag), "%s: the texts tell each reason", name);
	for (unsigned int i = 0; i < count && i < diag->count; i++) {
		const struct rdmaez_finding *got = &diag->finding[i];

		tap_eq_str(rdmaez_why_id(got->reason), rdmaez_why_id(want[i].reason),
			   "%s: reason %u", name, i);
		tap_eq_int(got->severity, want[i].severity, "%s: severity %u", name, i);
		tap_eq_int(got->kind, want[i].kind, "%s: kind %u", name, i);
		tap_eq_str(got->field, want[i].field, "%s: field %u", name, i);
		tap_eq_int(got->value, want[i].value, "%s: value %u", name, i);
		tap_eq_int(got->min, want[i].min, "%s: least %u", name, i);
		tap_eq_int(got->max, want[i].max, "%s: greatest %u", name, i);
	}
}

/* What stands last: of no answer that there is none, and where nothing else is found, at which end to look. */
static struct rdmaez_finding last_finding(const struct ibv_qp *qp, int status)
{
	struct rdmaez_finding silent = LIKELY(WC_PEER_SILENT, "ah_attr", NONE, 0, 0, 0);
	const struct rdmaez_finding peer = LIKELY(WC_AT_PEER, "status", NONE, 0, 0, 0);
	const struct rdmaez_finding no_more = LIKELY(WC_NO_MORE, "status", NONE, 0, 0, 0);

	if (qp->qp_type == IBV_QPT_UD)
		silent.field = "wr.ud.ah";
	return status == IBV_WC_RESP_TIMEOUT_ERR ? silent
	       : status == IBV_WC_BAD_RESP_ERR || status == IBV_WC_REM_INV_RD_REQ_ERR ||
			       status == IBV_WC_REM_ABORT_ERR || status == IBV_WC_RNR_RETRY_EXC_ERR
		       ? peer
		       : no_more;
}

/* Explains a status on the queue pair, whose record must hold these findings, the last one, and no error. */
static void check_narrowed(struct ibv_qp *qp, int status, const struct rdmaez_finding *want,
			   unsigned int count, const char *name)
{
	const struct rdmaez_finding peer_gid =
		LIKELY(WC_PEER_GID, "ah_attr.grh.sgid_index", NONE, 0, 0, 0);
	const struct rdmaez_finding fabric = LIKELY(WC_FABRIC, "status", NONE, 0, 0, 0);
	const struct rdmaez_finding gone = LIKELY(WC_PEER_GONE, "status", NONE, 0, 0, 0);
	struct rdmaez_finding all[RDMAEZ_DIAG_FINDINGS + 3];
	unsigned int told = 0;
	bool is_v1 = false;
	struct ibv_wc wc = wc_of(status, qp->qp_num);
	struct rdmaez_diag diag;

	wc.wr_id = UINT64_C(0xfedcba9876543210);
	wc.vendor_err = 0x81;
	memset(&diag, 0xee, sizeof(diag));
	tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), 0, "%s: the device answers", name);
	tap_eq_str(diag.status, rdmaez_wc_explain(&wc)->name, "%s: the status is noted", name);
	tap_eq_int(diag.status_code, status, "%s: and its number", name);
	tap_eq_hex(diag.wr_id, wc.wr_id, "%s: and the wr_id", name);
	tap_eq_int(diag.vendor_err, 0x81, "%s: and vendor_err", name);
	tap_eq_str(diag.event, NULL, "%s: and no event", name);
	tap_eq_str(diag.driver, NULL, "%s: the driver is not known", name);
	tap_eq_int(diag.error, 0, "%s: no error", name);
	check_call_and_verb(&diag, "rdmaez_wc_explain_qp", NULL);
	tap_eq_str(diag.device, "fake0", "%s: the device", name);
	tap_eq_int(diag.qp_num, qp->qp_num, "%s: the queue pair", name);
	tap_eq_int(diag.qp_type, qp->qp_type, "%s: its type", name);
	tap_eq_int(diag.from, fake_qp_true(qp)->qp_state, "%s: the state it is in", name);
	tap_eq_int(diag.to, -1, "%s: no transition", name);
	for (unsigned int i = 0; i < count; i++) {
		is_v1 |= want[i].reason == RDMAEZ_WHY_GID_ROCE_V1;
		if (want[i].severity != RDMAEZ_DIAG_ADVICE)
			all[told++] = want[i];
	}
	if (status == IBV_WC_RETRY_EXC_ERR &&
	    (qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND)) {
		if (is_v1)
			all[told++] = peer_gid;
		all[told++] = gone;
		all[told++] = fabric;
	}
	if ((!told && status != IBV_WC_SUCCESS) || status == IBV_WC_RESP_TIMEOUT_ERR)
		all[told++] = last_finding(qp, status);
	for (unsigned int i = 0; i < count; i++)
		if (want[i].severity == RDMAEZ_DIAG_ADVICE)
			all[told++] = want[i];
	check_findings(&diag, all, told, name);
}

/* What every RETRY_EXC_ERR of a queue pair with timeout 14 and 7 retries tells. */
#define RETRIES_14_7 \
	LIKELY(WC_RETRIES, "timeout", NS, 67108864, 8 * UINT64_C(67108864), 32 * UINT64_C(67108864))

static void check_retries(void)
{
	static const struct rdmaez_finding plain[] = {RETRIES_14_7};
	static const struct rdmaez_finding hasty[] = {
		LIKELY(WC_RETRIES, "timeout", NS, 4096 << 13, 4096 << 13, 4096 << 15),
		ADVICE(WC_TIMEOUT_SHORT, "timeout", NONE, 0, 0, 0),
		LIKELY(RETRY_ZERO, "retry_cnt", NUMBER, 0, 1, 7),
	};
	static const struct rdmaez_finding once[] = {
		LIKELY(WC_RETRIES, "timeout", NS, 67108864, 134217728, 536870912)};
	static const struct rdmaez_finding timeless[] = {
		LIKELY(WC_NO_TIMER, "timeout", NUMBER, 0, 1, 31),
	};
	struct rdmaez_qp_opts opts = good_opts();
	struct ibv_qp *qp;

	new_device();
	qp = broken_qp(IBV_QPT_RC, &opts);
	tap_eq_int(qp->state, IBV_QPS_RTS, "the library thinks that the queue pair works");
	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, FINDINGS(plain), "RC with nothing wrong");
	tap_eq_int(qp->state, IBV_QPS_ERR, "now it knows better");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "the queue pair was asked once");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "the port once");
	tap_eq_int(fake_count(FAKE_QUERY_GID_EX), 1, "its GID table once");
	tap_eq_int(fake_count(FAKE_QUERY_PKEY), 1, "its P_Key table once");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 1, "the device once, for its driver");
	tap_eq_int(fake_count(FAKE_QUERY_GID_TABLE), 1, "the other GIDs once: for a better one");
	tap_eq_int(fake_count(FAKE_ANY), 6, "and nothing else was called");
	check_narrowed(broken_qp(IBV_QPT_XRC_SEND, &opts), IBV_WC_RETRY_EXC_ERR, FINDINGS(plain),
		       "XRC_SEND with nothing wrong");
	check_narrowed(broken_qp(IBV_QPT_UC, &opts), IBV_WC_RETRY_EXC_ERR, NULL, 0,
		       "UC, which retries nothing");
	check_narrowed(broken_qp(IBV_QPT_UD, &opts), IBV_WC_RETRY_EXC_ERR, NULL, 0,
		       "UD, which retries nothing");
	check_narrowed(
		fake_qp(ctx, IBV_QPT_RC), IBV_WC_RETRY_EXC_ERR,
		(const struct rdmaez_finding[]){
			LIKELY(WC_RESET, "qp_state", STATE_NOW, IBV_QPS_RESET, 0, 1 << IBV_QPS_ERR),
			LIKELY(WC_RETRIES, "timeout", NONE, 0, 0, 0)},
		2, "RC that was reset since");

	opts.retry_cnt = 1;
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RETRY_EXC_ERR, FINDINGS(once),
		       "one retry");
	opts.timeout = 13;
	opts.retry_cnt = RDMAEZ_ZERO;
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RETRY_EXC_ERR, FINDINGS(hasty),
		       "a short timeout and no retry");
	opts.timeout = RDMAEZ_ZERO;
	opts.retry_cnt = 0;
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RETRY_EXC_ERR, FINDINGS(timeless),
		       "no timer");
}

/* The same where it is the GID index that does not serve, and another one would. */
static void check_index_findings(struct ibv_qp *qp, enum rdmaez_why why, const char *name)
{
	const uint64_t index = fake_qp_true(qp)->ah_attr.grh.sgid_index;
	const struct rdmaez_finding want[] = {
		{why, RDMAEZ_DIAG_LIKELY, RDMAEZ_VALUE_INDEX, "ah_attr.grh.sgid_index", index, 0, 0,
		 NULL},
		LIKELY(GID_SUITS, "ah_attr.grh.sgid_index", GID_INDEX, 2, 0, 0),
		RETRIES_14_7};

	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, FINDINGS(want), name);
	check_narrowed(qp, IBV_WC_RESP_TIMEOUT_ERR, want, 2, name);
}

static void check_path_findings(struct ibv_qp *qp, const struct rdmaez_finding finding,
				const char *name)
{
	struct rdmaez_finding want[] = {RETRIES_14_7, RETRIES_14_7};

	want[0] = finding;
	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, FINDINGS(want), name);
	check_narrowed(qp, IBV_WC_RESP_TIMEOUT_ERR, &finding, 1, name);
}

#define ONE(...) ((struct rdmaez_finding)__VA_ARGS__)

static void check_path(void)
{
	struct rdmaez_qp_opts opts = good_opts();
	const struct fake_gid empty = {0};
	struct fake_gid *row;
	struct ibv_qp *qp;
	int index;

	new_device();
	qp = broken_qp(IBV_QPT_RC, &opts);
	index = fake_qp_true(qp)->ah_attr.grh.sgid_index;
	row = &dev->port[1].gid[index];

	dev->port[1].attr.state = IBV_PORT_DOWN;
	check_path_findings(qp,
			    ONE(LIKELY(PORT_DOWN, "port_attr.state", PORT_STATE, IBV_PORT_DOWN,
				       IBV_PORT_ACTIVE, IBV_PORT_ACTIVE)),
			    "the port is down");
	dev->port[1].attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
	dev->port[1].attr.state = IBV_PORT_INIT;
	check_narrowed(qp, IBV_WC_RESP_TIMEOUT_ERR,
		       &ONE(LIKELY(PORT_NO_SM, "port_attr.state", PORT_STATE, IBV_PORT_INIT,
				   IBV_PORT_ACTIVE, IBV_PORT_ACTIVE)),
		       1, "the port waits for a subnet manager");
	dev->port[1].attr.link_layer = IBV_LINK_LAYER_ETHERNET;
	dev->port[1].attr.state = IBV_PORT_ACTIVE_DEFER;
	check_narrowed(qp, IBV_WC_RESP_TIMEOUT_ERR, NULL, 0, "a port may be active and deferred");
	dev->port[1].attr.state = IBV_PORT_ACTIVE;

	dev->port[1].attr.active_mtu = IBV_MTU_512;
	check_path_findings(qp,
			    ONE(LIKELY(MTU_ABOVE_ACTIVE, "path_mtu", MTU, IBV_MTU_1024, IBV_MTU_256,
				       IBV_MTU_512)),
			    "the active MTU has sunk");
	dev->port[1].attr.active_mtu = IBV_MTU_2048;
	check_narrowed(qp, IBV_WC_RESP_TIMEOUT_ERR, NULL, 0, "it has risen");

	row->ifindex = 0;
	check_index_findings(qp, RDMAEZ_WHY_GID_NO_NETDEV, "the row has no interface any more");
	row->ifindex = 2;
	row->type = IBV_GID_TYPE_ROCE_V1;
	check_path_findings(
		qp,
		ONE(LIKELY(GID_ROCE_V1, "ah_attr.grh.sgid_index", INDEX, (uint64_t)index, 0, 0)),
		"the row is RoCE v1");
	row->type = IBV_GID_TYPE_ROCE_V2;
	row->gid = gid_of("2001:db8::1");
	check_index_findings(qp, RDMAEZ_WHY_GID_FAMILY, "the row is of another family now");
	*row = empty;
	check_index_findings(qp, RDMAEZ_WHY_GID_EMPTY, "the row is empty now");

	new_device();
	qp = broken_qp(IBV_QPT_RC, &opts);
	dev->port[1].pkey[0] = 0x7fff;
	check_path_findings(qp, ONE(LIKELY(PKEY_LIMITED, "pkey_index", PKEY, 0x7fff, 0, 0)),
			    "the P_Key is a limited member");
	check_narrowed(broken_qp(IBV_QPT_UD, &opts), IBV_WC_RESP_TIMEOUT_ERR,
		       &ONE(LIKELY(PKEY_LIMITED, "pkey_index", PKEY, 0x7fff, 0, 0)), 1,
		       "UD has a P_Key as well");
	dev->port[1].pkey[0] = 0x8000;
	check_path_findings(qp, ONE(LIKELY(PKEY_EMPTY, "pkey_index", PKEY, 0x8000, 0, 0)),
			    "the P_Key's row is empty");
	dev->port[1].pkey[0] = 0;
	check_path_findings(qp, ONE(LIKELY(PKEY_EMPTY, "pkey_index", PKEY, 0, 0, 0)),
			    "the P_Key's row is zero");
	dev->port[1].pkey[0] = 0x8001;
	check_path_findings(qp, ONE(LIKELY(PKEY_PARTITION, "pkey_index", PKEY, 0x8001, 0, 0)),
			    "a full member of another partition than the default");
	dev->port[1].pkey[0] = 0xffff;
	check_narrowed(qp, IBV_WC_RESP_TIMEOUT_ERR, NULL, 0, "of the default one it is fine");

	new_device();
	dev->route_hop_limit = 1;
	check_path_findings(broken_qp(IBV_QPT_RC, &opts),
			    ONE(LIKELY(HOP_LIMIT, "ah_attr.grh.hop_limit", NUMBER, 1, 2, 255)),
			    "the hop limit is 1");
	dev->route_hop_limit = 2;
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RESP_TIMEOUT_ERR, NULL, 0,
		       "a hop limit of 2 passes a router");
	dev->route_hop_limit = 1;
	opts.path.dgid = gid_of("fe80::99");
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RESP_TIMEOUT_ERR,
		       &ONE(LIKELY(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 3, 0, 0)), 1,
		       "on the same link no router counts");
}

/* What the kernel's routing, its neighbours and the port's counters tell of a peer that is lost. */
static void check_way(void)
{
	const struct rdmaez_finding retries = RETRIES_14_7;
	struct rdmaez_qp_opts opts = good_opts();
	struct rdmaez_finding want[3];
	struct fake_gid *row;
	struct ibv_qp *qp;

	new_device();
	fake_tree_new();
	row = dev->port[1].gid;
	row[7] = row[3];
	row[7].gid = gid_of("::ffff:10.5.5.1");
	opts.path.sgid_index = 3;
	qp = broken_qp(IBV_QPT_RC, &opts);
	fake_route_from("10.5.5.1");
	check_path_findings(qp,
			    ONE(LIKELY(GID_BY_ROUTE, "ah_attr.grh.sgid_index", GID_INDEX, 7, 0, 0)),
			    "another index is the route's");
	fake_route_from("10.6.6.6");
	check_path_findings(qp, ONE(LIKELY(ROUTE_ELSEWHERE, "ah_attr.grh.dgid", INDEX, 3, 0, 0)),
			    "another interface is");
	fake_route(EHOSTUNREACH);
	check_path_findings(qp, ONE(LIKELY(NO_ROUTE, "ah_attr.grh.dgid", INDEX, 3, 0, 0)),
			    "there is no route");
	fake_route(0);
	fake_route_from("192.0.2.1");
	fake_tree_file("/proc/net/arp", "IP address\n192.0.2.99 0x1 0x0 0 * veth0\n");
	check_path_findings(qp, ONE(LIKELY(NEIGHBOUR, "ah_attr.grh.dgid", INDEX, 3, 0, 0)),
			    "nobody answers for the peer's address");
	fake_tree_file("/proc/net/arp", "IP address\n192.0.2.99 0x1 0x2 0 * veth0\n");
	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, &retries, 1, "somebody does");
	fake_route_from("10.6.6.6");
	row[3].type = IBV_GID_TYPE_ROCE_V1;
	want[0] = ONE(LIKELY(GID_ROCE_V1, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	want[1] = ONE(LIKELY(ROUTE_ELSEWHERE, "ah_attr.grh.dgid", INDEX, 3, 0, 0));
	want[2] = retries;
	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, want, 3, "RoCE v1, and another interface");

	/* The address has moved within the table, or the whole table has gone with its interface. */
	row[7].gid = row[3].gid;
	memset(&row[3], 0, sizeof(row[3]));
	want[0] = ONE(LIKELY(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	want[1] = ONE(LIKELY(GID_SUITS, "ah_attr.grh.sgid_index", GID_INDEX, 7, 0, 0));
	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, want, 3, "the address is at another index now");
	memset(row, 0, 16 * sizeof(*row));
	want[1] = ONE(LIKELY(GID_TABLE_EMPTY, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0));
	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, want, 3, "the table is empty");

	new_device();
	opts.path.sgid_index = 1;
	opts.path.dgid = gid_of("fe80::99");
	check_path_findings(broken_qp(IBV_QPT_RC, &opts),
			    ONE(LIKELY(GID_ROUTABLE, "ah_attr.grh.sgid_index", GID_INDEX, 3, 0, 0)),
			    "link-local at both ends");
}

/*
 * A send that has succeeded in the same look at the queue proves that the peer was there: it is gone, and neither its
 * version of RoCE nor an address can be wrong. A receive proves nothing, nor does UC's send.
 */
static void check_acked(void)
{
	static const struct {
		enum ibv_wc_status status;
		enum ibv_wc_opcode opcode;
		uint32_t other;
		enum rdmaez_why first;
		const char *name;
	} before[] = {
		{IBV_WC_SUCCESS, IBV_WC_SEND, 0, RDMAEZ_WHY_WC_PEER_WAS, "a send"},
		{IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE, 0, RDMAEZ_WHY_WC_PEER_WAS, "a write"},
		{IBV_WC_SUCCESS, IBV_WC_RDMA_READ, 0, RDMAEZ_WHY_WC_PEER_WAS, "a read"},
		{IBV_WC_SUCCESS, IBV_WC_FETCH_ADD, 0, RDMAEZ_WHY_WC_PEER_WAS, "an atomic"},
		{IBV_WC_SUCCESS, IBV_WC_LOCAL_INV, 0, RDMAEZ_WHY_WC_RETRIES, "a local request"},
		{IBV_WC_SUCCESS, IBV_WC_RECV, 0, RDMAEZ_WHY_WC_RETRIES, "a receive"},
		{IBV_WC_SUCCESS, IBV_WC_SEND, 1, RDMAEZ_WHY_WC_RETRIES, "another's send"},
	};
	struct rdmaez_qp_opts opts = good_opts();
	struct rdmaez_wc_batch batch = {0};
	struct rdmaez_diag diag;
	struct ibv_wc wc[2];
	struct ibv_qp *qp;

	new_device();
	qp = broken_qp(IBV_QPT_RC, &opts);
	batch.wc = wc;
	batch.capacity = batch.count = 2;
	for (size_t i = 0; i < COUNT_OF(before); i++) {
		const bool gone = before[i].first == RDMAEZ_WHY_WC_PEER_WAS;

		wc[0] = wc_of((int)before[i].status, qp->qp_num + before[i].other);
		wc[0].opcode = before[i].opcode;
		wc[1] = wc_of(IBV_WC_RETRY_EXC_ERR, qp->qp_num);
		rdmaez_impl_diag_reset(&diag, "rdmaez_wc_poll");
		rdmaez_impl_wc_poll_explain(qp->send_cq, qp, &batch, 0, &diag);
		tap_eq_str(rdmaez_why_id(diag.finding[0].reason), rdmaez_why_id(before[i].first),
			   "after %s", before[i].name);
		tap_ok(!rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_PEER_GID),
		       "nothing supports another version of RoCE");
		tap_eq_int(!rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_PEER_GONE), gone, "said once");
		tap_ok(record_tells_all(&diag), "in words");
	}
	/* The program knows of one that was polled long ago. */
	for (int answered = 0; answered < 2; answered++) {
		const enum rdmaez_why first =
			answered ? RDMAEZ_WHY_WC_PEER_WAS : RDMAEZ_WHY_WC_RETRIES;

		batch.count = 1;
		batch.answered = answered;
		wc[0] = wc_of(IBV_WC_RETRY_EXC_ERR, qp->qp_num);
		rdmaez_impl_wc_poll_explain(qp->send_cq, qp, &batch, 0, &diag);
		tap_eq_str(rdmaez_why_id(diag.finding[0].reason), rdmaez_why_id(first),
			   "alone, and %d", answered);
	}
	/* This end's is v1, which a peer need not have: unless it has answered. */
	dev->port[1].gid[fake_qp_true(qp)->ah_attr.grh.sgid_index].type = IBV_GID_TYPE_ROCE_V1;
	for (int answered = 0; answered < 2; answered++) {
		batch.answered = answered;
		rdmaez_impl_wc_poll_explain(qp->send_cq, qp, &batch, 0, &diag);
		tap_eq_int(!rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_PEER_GID), answered,
			   "the peer's may be another version, %d", answered);
	}
}

/* A port's counters of loss were measured: they stand before what is only usual. */
static void check_loss(void)
{
	static const enum rdmaez_why want[] = {RDMAEZ_WHY_COUNTED_LOSS, RDMAEZ_WHY_WC_RETRIES,
					       RDMAEZ_WHY_WC_PEER_GONE, RDMAEZ_WHY_WC_FABRIC};
	struct rdmaez_qp_opts opts = good_opts();
	const struct rdmaez_finding *counted;
	struct rdmaez_diag diag;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	new_device();
	snprintf(dev->verbs.ibdev_path, sizeof(dev->verbs.ibdev_path), "/sys/fake0");
	fake_tree_new();
	fake_tree_file("/sys/fake0/ports/1/hw_counters/out_of_sequence", "12\n");
	fake_tree_file("/sys/fake0/ports/1/hw_counters/out_of_seq_request", "0\n");
	fake_tree_file("/sys/fake0/ports/1/counters/port_rcv_errors", "7\n");
	qp = broken_qp(IBV_QPT_RC, &opts);
	wc = wc_of(IBV_WC_RETRY_EXC_ERR, qp->qp_num);
	tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), 0, "a port that counts");
	tap_eq_int(diag.count, COUNT_OF(want), "has findings");
	for (size_t i = 0; i < COUNT_OF(want) && i < diag.count; i++)
		tap_eq_str(rdmaez_why_id(diag.finding[i].reason), rdmaez_why_id(want[i]),
			   "in this order, %d", (int)i);
	tap_ok(record_tells_all(&diag), "which the texts tell");
	counted = rdmaez_diag_find(&diag, RDMAEZ_WHY_COUNTED_LOSS);
	if (tap_ok(counted, "the loss is one")) {
		tap_eq_str(counted->field, "hw_counters/out_of_sequence", "by the first counter");
		tap_eq_int(counted->value, 12, "that is not 0");
		tap_eq_int(counted->kind, RDMAEZ_VALUE_COUNTED, "as a count");
		tap_eq_int(counted->severity, RDMAEZ_DIAG_LIKELY, "that is likely");
	}
}

/* On InfiniBand the path may be a LID, and must not be nothing. */
static void check_infiniband_path(void)
{
	struct rdmaez_qp_opts opts = good_opts();
	struct rdmaez_qp_move move;
	struct ibv_qp *qp;

	new_device();
	fake_port_infiniband(&dev->port[1]);
	memset(&opts.path.dgid, 0, sizeof(opts.path.dgid));
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RESP_TIMEOUT_ERR, NULL, 0,
		       "a path of a LID alone");
	opts.path.dgid = gid_of("2001:db8::9");
	opts.path.flags = RDMAEZ_PATH_GRH;
	qp = broken_qp(IBV_QPT_RC, &opts);
	fake_route(ENETUNREACH);
	check_narrowed(qp, IBV_WC_RESP_TIMEOUT_ERR, NULL, 0, "a GID of InfiniBand");
	tap_eq_int(fake_route_count(), 0, "has no route");

	qp = fake_qp(ctx, IBV_QPT_RC);
	memset(&opts.path, 0, sizeof(opts.path));
	if (rdmaez_qp_to_init(qp, NULL, NULL) ||
	    rdmaez_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, &opts, &move, NULL) ||
	    ibv_modify_qp(qp, &move.attr, move.attr_mask) || rdmaez_qp_to_rts(qp, &opts, NULL))
		tap_bail("a queue pair without a path did not come up");
	check_path_findings(qp, ONE(LIKELY(PATH_EMPTY, "ah_attr.dlid", NONE, 0, 0, 0)),
			    "a path of nothing");
}

/* All at once, in the order in which one would look. */
static void check_order(void)
{
	static const struct rdmaez_finding want[] = {
		LIKELY(PORT_DOWN, "port_attr.state", PORT_STATE, IBV_PORT_INIT, IBV_PORT_ACTIVE,
		       IBV_PORT_ACTIVE),
		LIKELY(GID_EMPTY, "ah_attr.grh.sgid_index", INDEX, 3, 0, 0),
		LIKELY(GID_SUITS, "ah_attr.grh.sgid_index", GID_INDEX, 2, 0, 0),
		LIKELY(HOP_LIMIT, "ah_attr.grh.hop_limit", NUMBER, 0, 2, 255),
		LIKELY(MTU_ABOVE_ACTIVE, "path_mtu", MTU, IBV_MTU_1024, IBV_MTU_256, IBV_MTU_256),
		LIKELY(PKEY_LIMITED, "pkey_index", PKEY, 1, 0, 0),
		LIKELY(WC_RETRIES, "timeout", NS, 8192, 8192, 32768),
		ADVICE(WC_TIMEOUT_SHORT, "timeout", NONE, 0, 0, 0),
		LIKELY(RETRY_ZERO, "retry_cnt", NUMBER, 0, 1, 7),
	};
	struct rdmaez_qp_opts opts = good_opts();
	const struct fake_gid empty = {0};
	struct ibv_qp *qp;

	new_device();
	dev->route_hop_limit = 0;
	opts.timeout = 1;
	opts.retry_cnt = RDMAEZ_ZERO;
	opts.path.sgid_index = 3;
	qp = broken_qp(IBV_QPT_RC, &opts);
	dev->port[1].attr.state = IBV_PORT_INIT;
	dev->port[1].attr.active_mtu = IBV_MTU_256;
	dev->port[1].gid[3] = empty;
	dev->port[1].pkey[0] = 1;
	check_narrowed(qp, IBV_WC_RETRY_EXC_ERR, FINDINGS(want), "all at once");
}

static void check_rnr(void)
{
	static const struct rdmaez_finding three[] = {
		LIKELY(WC_RNR, "rnr_retry", NUMBER, 3, 7, 7),
		LIKELY(WC_RNR_TIMER, "min_rnr_timer", NS, 640000, 1920000, 1920000),
	};
	static const struct rdmaez_finding longest[] = {
		LIKELY(WC_RNR, "rnr_retry", NUMBER, 6, 7, 7),
		LIKELY(WC_RNR_TIMER, "min_rnr_timer", NS, 655360000, 3932160000, 3932160000),
	};
	static const struct rdmaez_finding none[] = {
		LIKELY(WC_RNR, "rnr_retry", NUMBER, 0, 7, 7),
		LIKELY(WC_RNR_TIMER, "min_rnr_timer", NS, 640000, 0, 0),
	};
	struct rdmaez_qp_opts opts = good_opts();

	new_device();
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RNR_RETRY_EXC_ERR,
		       &ONE(LIKELY(WC_RNR, "rnr_retry", NONE, 0, 0, 0)), 1,
		       "RC that never gives up, so that the number is not the request's");
	opts.rnr_retry = 3;
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RNR_RETRY_EXC_ERR, FINDINGS(three),
		       "RC that asks three times");
	check_narrowed(broken_qp(IBV_QPT_XRC_SEND, &opts), IBV_WC_RNR_RETRY_EXC_ERR, three, 1,
		       "XRC_SEND, which has no RNR timer");
	check_narrowed(broken_qp(IBV_QPT_UC, &opts), IBV_WC_RNR_RETRY_EXC_ERR, NULL, 0,
		       "UC, which does not ask");
	opts.rnr_retry = 6;
	opts.min_rnr_timer = RDMAEZ_ZERO;
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RNR_RETRY_EXC_ERR, FINDINGS(longest),
		       "RNR timer 0 is the longest");
	opts.rnr_retry = RDMAEZ_ZERO;
	opts.min_rnr_timer = 0;
	check_narrowed(broken_qp(IBV_QPT_RC, &opts), IBV_WC_RNR_RETRY_EXC_ERR, FINDINGS(none),
		       "RC that asks once");
}

static void check_flushes(void)
{
	static const struct rdmaez_finding flushed[] = {
		LIKELY(WC_FLUSHED, "status", NONE, 0, 0, 0),
		LIKELY(WC_FLUSHED_RECV, "status", NONE, 0, 0, 0),
		LIKELY(WC_RESPONDER, "status", NONE, 0, 0, 0),
		LIKELY(WC_IWARP, "status", NONE, 0, 0, 0)};
	struct rdmaez_qp_opts opts = good_opts();
	struct ibv_qp *qp;

	new_device();
	qp = broken_qp(IBV_QPT_RC, &opts);
	check_narrowed(qp, IBV_WC_WR_FLUSH_ERR, flushed, 3, "a flush");
	tap_eq_int(fake_count(FAKE_ANY), 2, "a flush: the driver and the state are enough");
	check_narrowed(broken_qp(IBV_QPT_UC, &opts), IBV_WC_WR_FLUSH_ERR, flushed, 2,
		       "a flush on UC, which refuses nothing");
	check_narrowed(broken_qp(IBV_QPT_XRC_SEND, &opts), IBV_WC_WR_FLUSH_ERR, flushed, 1,
		       "a flush on XRC_SEND, which receives nothing");
	check_narrowed(broken_qp(IBV_QPT_XRC_RECV, &opts), IBV_WC_WR_FLUSH_ERR, &flushed[1], 2,
		       "a flush on XRC_RECV, which sends nothing");
	check_narrowed(broken_qp(IBV_QPT_RAW_PACKET, &opts), IBV_WC_WR_FLUSH_ERR, flushed, 2,
		       "a flush on RAW_PACKET, which answers nobody");
	dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	check_narrowed(qp, IBV_WC_WR_FLUSH_ERR, FINDINGS(flushed), "a flush on iWARP");
}

/* Statuses whose cause no attribute of a queue pair can tell; and a success. */
static void check_silent(void)
{
	static const int silent[] = {0,  3,  6,  7,  14, 15, 16,  17,  18,
				     19, 21, 22, 23, 24, -1, 254, 255, 256 + IBV_WC_WR_FLUSH_ERR};
	struct rdmaez_qp_opts opts = good_opts();
	struct ibv_qp *qp;

	new_device();
	opts.timeout = 1;
	qp = broken_qp(IBV_QPT_RC, &opts);
	for (size_t i = 0; i < COUNT_OF(silent); i++) {
		const struct ibv_wc wc = wc_of(silent[i], 0);

		check_narrowed(qp, silent[i], NULL, 0, rdmaez_wc_explain(&wc)->name);
	}
}

static void check_other_events(void)
{
	struct rdmaez_qp_opts opts = good_opts();
	struct rdmaez_diag diag;
	struct ibv_qp *qp;

	new_device();
	opts.access = RDMAEZ_ZERO;
	qp = broken_qp(IBV_QPT_RC, &opts);
	for (int type = 0; type <= 21; type++) {
		struct ibv_async_event event = event_of(type);
		const bool of_qp = rdmaez_event_explain(&event)->valid & RDMAEZ_VALID_QP;
		const bool tells = type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR;

		fake_reset_log();
		if (of_qp)
			event.element.qp = qp;
		tap_eq_int(rdmaez_event_explain_qp(&event, &diag), 0, "event %d is explained",
			   type);
		tap_eq_count(&diag, tells ? 2 + (type == IBV_EVENT_QP_REQ_ERR) : 0,
			     "event %d has findings only if it refused", type);
		tap_eq_str(diag.event, of_qp ? rdmaez_event_explain(&event)->name : NULL,
			   "event %d is noted in the record", type);
		tap_eq_str(diag.status, NULL, "event %d: no completion is", type);
		tap_eq_int(diag.from, of_qp ? IBV_QPS_ERR : -1,
			   "event %d tells the state of its queue pair, if any", type);
		tap_eq_int(fake_count(FAKE_QUERY_QP), of_qp, "event %d asks its queue pair, if any",
			   type);
		tap_eq_int(fake_count(FAKE_ANY), 2 * of_qp, "event %d asks for the driver, too",
			   type);
	}
}

/* ---- Refusals ----------------------------------------------------------------------------- */

static void check_refusals(void)
{
	static const struct {
		enum fake_verb verb;
		const char *name;
		unsigned int findings; /* of RETRY_EXC_ERR, the failed question included */
	} questions[] = {
		{FAKE_QUERY_QP, "ibv_query_qp", 4},
		{FAKE_QUERY_PORT, "ibv_query_port", 4},
		{FAKE_QUERY_GID_EX, "ibv_query_gid_ex", 4},
		{FAKE_QUERY_PKEY, "ibv_query_pkey", 4},
	};
	struct rdmaez_qp_opts opts = good_opts();
	struct ibv_async_event event = event_of(IBV_EVENT_QP_REQ_ERR);
	struct rdmaez_diag diag;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	new_device();
	qp = broken_qp(IBV_QPT_RC, &opts);
	wc = wc_of(IBV_WC_RETRY_EXC_ERR, qp->qp_num);
	check_refusal(&diag, rdmaez_wc_explain_qp(NULL, qp, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "wc", "no completion");
	check_refusal(&diag, rdmaez_wc_explain_qp(&wc, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	check_refusal(&diag, rdmaez_event_explain_qp(NULL, &diag), EINVAL, RDMAEZ_WHY_NULL_ARGUMENT,
		      "event", "no event");
	check_refusal(&diag, rdmaez_event_explain_qp(&event, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "element.qp", "an event of no queue pair");
	wc.qp_num++;
	check_refusal(&diag, rdmaez_wc_explain_qp(&wc, qp, &diag), EINVAL, RDMAEZ_WHY_WC_OTHER_QP,
		      "qp_num", "a completion of another queue pair");
	tap_eq_int(diag.finding[0].value, wc.qp_num, "its number is given");
	tap_eq_int(diag.finding[0].max, qp->qp_num, "and the queue pair's");
	tap_eq_int(rdmaez_wc_explain_qp(NULL, qp, NULL), EINVAL, "all of it without a record");
	tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, NULL), EINVAL, "another number as well");
	tap_eq_int(rdmaez_event_explain_qp(NULL, NULL), EINVAL, "an event as well");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody was asked");

	wc.qp_num = qp->qp_num;
	event.element.qp = qp;
	tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, NULL), 0, "nothing to explain to");
	tap_eq_int(qp->state, IBV_QPS_ERR, "but the state is fresh");
	tap_eq_int(rdmaez_event_explain_qp(&event, NULL), 0, "the same for an event");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 2, "one question each");
	tap_eq_int(fake_count(FAKE_QUERY_DEVICE), 2, "besides the one for the driver");
	tap_eq_int(fake_count(FAKE_ANY), 4, "and no other");

	for (size_t i = 0; i < COUNT_OF(questions); i++) {
		const struct rdmaez_finding *refused;

		fake_fail(questions[i].verb, 1, EIO);
		tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), EIO, "%s fails: EIO",
			   questions[i].name);
		tap_eq_int(diag.error, EIO, "%s fails: the record has it", questions[i].name);
		tap_eq_count(&diag, questions[i].findings,
			     "%s fails: what needs no answer is found all the same",
			     questions[i].name);
		refused = rdmaez_diag_find(&diag, RDMAEZ_WHY_QUERY_REFUSED);
		if (tap_ok(refused, "%s fails: QUERY_REFUSED", questions[i].name)) {
			tap_eq_str(refused->field, questions[i].name, "%s is named",
				   questions[i].name);
			tap_ok(refused == &diag.finding[diag.count - 1], "%s is named last",
			       questions[i].name);
			tap_eq_int(refused->severity, RDMAEZ_DIAG_LIKELY,
				   "%s has not made the request fail", questions[i].name);
		}
		check_call_and_verb(&diag, "rdmaez_wc_explain_qp", questions[i].name);
		tap_ok(rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_RETRIES),
		       "%s fails: that the retries are used up is told", questions[i].name);
		tap_eq_int(rdmaez_diag_find(&diag, RDMAEZ_WHY_WC_RETRIES)->kind,
			   i ? RDMAEZ_VALUE_NS : RDMAEZ_VALUE_NONE,
			   "%s fails: and how long that takes if it is known", questions[i].name);
		tap_eq_str(diag.status, "IBV_WC_RETRY_EXC_ERR", "%s fails: the status is noted",
			   questions[i].name);
	}
	/* What a driver never answers is no failure, and the rest is told. */
	for (size_t i = 0; i < 2 * COUNT_OF(questions); i++) {
		const char *verb = questions[i / 2].name;

		if (questions[i / 2].verb == FAKE_QUERY_QP)
			dev->habits.query_errno = i % 2 ? EINVAL : EOPNOTSUPP;
		else
			fake_fail(questions[i / 2].verb, 1, i % 2 ? EINVAL : EOPNOTSUPP);
		tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), 0, "%s is not there", verb);
		check_call_and_verb(&diag, "rdmaez_wc_explain_qp", NULL);
		tap_eq_count(&diag, 3, "%s is not there: what is always told", verb);
		tap_eq_int(diag.finding[0].reason, RDMAEZ_WHY_WC_RETRIES,
			   "%s is not there: that the retries are used up", verb);
		tap_eq_int(diag.error, 0, "%s is not there: no error", verb);
		dev->habits.query_errno = 0;
	}
	wc = wc_of(IBV_WC_LOC_LEN_ERR, qp->qp_num);
	fake_fail(FAKE_QUERY_PORT, 1, EIO);
	tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), EIO, "a length, and the port is mute");
	fake_fail(FAKE_QUERY_QP, 1, EIO);
	tap_eq_int(rdmaez_event_explain_qp(&event, &diag), EIO, "an event, and the device is mute");
	tap_eq_count(&diag, 2, "the event's only cause, and what was not answered");
	tap_eq_str(diag.finding[1].field, "ibv_query_qp", "the verb is named last");
	tap_eq_int(diag.finding[1].severity, RDMAEZ_DIAG_LIKELY, "it is no error of the event's");
	tap_eq_int(diag.finding[1].reason, RDMAEZ_WHY_QUERY_REFUSED, "but a query that failed");
	check_call_and_verb(&diag, "rdmaez_event_explain_qp", "ibv_query_qp");
}

/* ---- Texts -------------------------------------------------------------------------------- */

/* Lines of at most 100 columns, the last one ended as well, and snprintf's rule at every size. */
static void check_text(int (*format)(const void *, char *, size_t), const void *what,
		       const char *name)
{
	char whole[2048], part[2048];
	const int length = format(what, whole, sizeof(whole));
	int column = 0, too_long = 0, cut_wrong = 0;

	tap_eq_int(length, strlen(whole), "%s: the length is the text's", name);
	tap_ok(length > 0 && length < 1024 && whole[length - 1] == '\n',
	       "%s: 1024 bytes are enough, and the last line ends", name);
	tap_ok(strstr(whole, name) == whole, "%s: its name comes first", name);
	for (int i = 0; i < length; i++) {
		column = whole[i] == '\n' ? 0 : column + 1;
		too_long += column > 100;
	}
	tap_eq_int(too_long, 0, "%s: no line is longer than 100 columns", name);
	for (int size = 0; size <= length + 1; size++) {
		memset(part, 'x', sizeof(part));
		cut_wrong += format(what, size ? part : NULL, (size_t)size) != length;
		cut_wrong += part[size] != 'x';
		if (size)
			cut_wrong += strlen(part) != (size_t)size - 1 ||
				     memcmp(part, whole, (size_t)size - 1) != 0;
	}
	tap_eq_int(cut_wrong, 0, "%s: cut to any size it is the start of the whole", name);
}

static int format_wc(const void *wc, char *buf, size_t size)
{
	return rdmaez_wc_format((const struct ibv_wc *)wc, buf, size);
}

static int format_event(const void *event, char *buf, size_t size)
{
	return rdmaez_event_format((const struct ibv_async_event *)event, buf, size);
}

static void check_texts(void)
{
	struct ibv_qp qp;
	struct ibv_cq cq;
	struct ibv_srq srq;
	struct ibv_wq wq;
	char buf[1024];

	for (int status = -1; status <= 24; status++) {
		struct ibv_wc wc = wc_of(status, 0xffffff);

		wc.wr_id = UINT64_MAX;
		wc.vendor_err = status == IBV_WC_RETRY_EXC_ERR ? 0x81 : UINT32_MAX;
		check_text(format_wc, &wc, rdmaez_wc_explain(&wc)->name);
		rdmaez_wc_format(&wc, buf, sizeof(buf));
		tap_eq_int(strstr(buf, "vendor_err 0x") != NULL, status != IBV_WC_SUCCESS,
			   "%s: vendor_err is told where it is valid",
			   rdmaez_wc_explain(&wc)->name);
		tap_eq_int(strstr(buf, "mlx5 and mlx4") != NULL, status == IBV_WC_RETRY_EXC_ERR,
			   "%s: a hint is told where there is one", rdmaez_wc_explain(&wc)->name);
	}
	memset(&qp, 0, sizeof(qp));
	memset(&cq, 0, sizeof(cq));
	memset(&srq, 0, sizeof(srq));
	memset(&wq, 0, sizeof(wq));
	qp.qp_num = 0xffffff;
	cq.cqe = INT_MAX;
	wq.wq_num = 0xffffff;
	for (int type = -1; type <= 21; type++) {
		struct ibv_async_event event = event_of(type);
		const struct rdmaez_advice *advice = rdmaez_event_explain(&event);
		const char *object = ").";

		if (advice->valid == RDMAEZ_VALID_QP) {
			event.element.qp = &qp;
			object = " on QP 16777215.";
		} else if (advice->valid == RDMAEZ_VALID_CQ) {
			event.element.cq = &cq;
			object = " on a CQ of 2147483647 entries.";
		} else if (advice->valid == RDMAEZ_VALID_SRQ) {
			event.element.srq = &srq;
			object = " on an SRQ.";
		} else if (advice->valid == RDMAEZ_VALID_WQ) {
			event.element.wq = &wq;
			object = " on WQ 16777215.";
		} else if (advice->valid == RDMAEZ_VALID_PORT_NUM) {
			event.element.port_num = 255;
			object = " on port 255.";
		}
		check_text(format_event, &event, advice->name);
		rdmaez_event_format(&event, buf, sizeof(buf));
		tap_ok(strstr(buf, object), "%s: its object is named", advice->name);
		tap_ok(strstr(buf, "ibv_ack_async_event()"), "%s: it is to be acknowledged",
		       advice->name);
		tap_eq_int(strstr(buf, "ibv_ack_async_event(); destroying the object waits for "
				       "it.\n") != NULL,
			   advice->valid && advice->valid != RDMAEZ_VALID_PORT_NUM,
			   "%s: which its object waits for, if it has one", advice->name);
	}
	for (int type = 0; type <= 20; type++) {
		const struct ibv_async_event event = event_of(type);

		tap_ok(rdmaez_event_format(&event, buf, sizeof(buf)) > 0,
		       "event %d without its object is written all the same", type);
	}
	for (int type = 0; type <= 21; type++) {
		struct ibv_async_event event = event_of(type);

		event.element.wq = &wq;
		if (rdmaez_event_explain(&event)->valid)
			continue;
		rdmaez_event_format(&event, buf, sizeof(buf));
		tap_ok(!strstr(buf, " on "), "event %d has no object, whatever the union holds",
		       type);
	}
	tap_eq_int(rdmaez_wc_format(NULL, buf, sizeof(buf)), 0, "no completion, no text");
	tap_eq_str(buf, "", "and the buffer is empty");
	tap_eq_int(rdmaez_event_format(NULL, NULL, 0), 0, "no event, no text");
}

/* Takes the line breaks out that only keep lines short. */
static void unwrap(char *text)
{
	for (char *line = strstr(text, "\n    "); line; line = strstr(line, "\n    ")) {
		memmove(line + 1, line + 5, strlen(line + 5) + 1);
		*line = ' ';
	}
}

static void check_examples(void)
{
	struct rdmaez_qp_opts opts = good_opts();
	struct rdmaez_diag diag;
	struct ibv_qp *qp;
	struct ibv_wc wc = wc_of(IBV_WC_REM_ABORT_ERR, 17);
	struct ibv_async_event event = event_of(IBV_EVENT_LID_CHANGE);
	char buf[2048], want[200];

	wc.wr_id = 0x2a;
	wc.vendor_err = 0x93;
	rdmaez_wc_format(&wc, buf, sizeof(buf));
	tap_eq_str(buf,
		   "IBV_WC_REM_ABORT_ERR (16) on QP 17, wr_id 0x2a, vendor_err 0x93.\n"
		   "  What: the peer aborted the operation.\n"
		   "  Likely: the peer's program ended or reset its queue pair.\n"
		   "  Likely: mlx5: a page fault in memory with on-demand paging.\n"
		   "  Next: reconnect when the peer is back.\n"
		   "  On mlx5 and mlx4 this vendor_err hints at: a page fault in memory with "
		   "on-demand paging.\n",
		   "a completion as text");
	event.element.port_num = 2;
	rdmaez_event_format(&event, buf, sizeof(buf));
	tap_eq_str(buf,
		   "IBV_EVENT_LID_CHANGE (11) on port 2.\n"
		   "  What: the port's LID has changed, or on siw its MAC address.\n"
		   "  Likely: the subnet manager has reassigned the LIDs.\n"
		   "  Likely: siw: the network interface was given another MAC address.\n"
		   "  Next: tell the peers, and reconnect.\n"
		   "  Then: call ibv_ack_async_event().\n",
		   "an event as text");

	new_device();
	opts.timeout = 18;
	qp = broken_qp(IBV_QPT_RC, &opts);
	wc = wc_of(IBV_WC_RETRY_EXC_ERR, qp->qp_num);
	rdmaez_wc_explain_qp(&wc, qp, &diag);
	rdmaez_diag_format(&diag, buf, sizeof(buf));
	unwrap(buf);
	snprintf(want, sizeof(want),
		 "rdmaez_wc_explain_qp: IBV_WC_RETRY_EXC_ERR, wr_id 0x0, vendor_err 0x0 on fake0, "
		 "QP "
		 "%u, RC, in ERR, from GID index 3 (::ffff:192.0.2.1, RoCE v2, interface 2) to "
		 "::ffff:192.0.2.99.\n",
		 qp->qp_num);
	tap_eq_int(strncmp(buf, want, strlen(want)), 0,
		   "the headline tells the completion, and the state that its queue pair is in");
	tap_ok(strstr(buf, "Each time: 1.1 s; in all: 8.6 s to 34.4 s."), "and the times");
	wc = wc_of(IBV_WC_LOC_LEN_ERR, qp->qp_num);
	rdmaez_wc_explain_qp(&wc, qp, &diag);
	rdmaez_diag_format(&diag, buf, sizeof(buf));
	unwrap(buf);
	tap_ok(strstr(buf, "At most: 1073741824."), "and a limit");
}

static void check_time_texts(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{0, "0 us"},
		{49, "49 ns"},
		{99, "99 ns"},
		{100, "0.1 us"},
		{8192, "8.2 us"},
		{10000, "10 us"},
		{999949, "999.9 us"},
		{1000000, "1 ms"},
		{67108864, "67.1 ms"},
		{655360000, "655.4 ms"},
		{1000000000, "1 s"},
		{281474976710656, "281475 s"},
		{UINT64_MAX - 1, "18446744073.7 s"},
		{UINT64_MAX, "forever"},
	};

	for (size_t i = 0; i < COUNT_OF(times); i++) {
		char buf[64];
		struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, sizeof(buf));

		rdmaez_impl_put_ns(&text, times[i].ns);
		tap_eq_str(buf, times[i].text, "%llu ns", (unsigned long long)times[i].ns);
	}
}

int main(void)
{
	check_statuses();
	check_events();
	check_producers();
	check_vendor_hints();
	check_position();
	check_first_error();
	check_errors_over_polls();
	check_times();
	check_retries();
	check_path();
	check_way();
	check_acked();
	check_loss();
	check_infiniband_path();
	check_order();
	check_rnr();
	check_flushes();
	check_silent();
	check_other_events();
	check_refusals();
	check_texts();
	check_examples();
	check_time_texts();
	fake_close_all();
	return tap_done();
}
