/* SPDX-License-Identifier: MIT */
/* Why nothing happens on a queue pair. */
#ifndef RDMAEZ_EXPLAIN_QP_EXAMINE_H
#define RDMAEZ_EXPLAIN_QP_EXAMINE_H

#include "path.h"
#include "qp_check.h"
#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* A queue pair and its port as they are; what did not answer stands for nothing. */
struct rdmaez_impl_qp_exam {
	struct ibv_context *context;
	enum ibv_qp_type type;
	struct rdmaez_impl_qp_now now;
	int state;               /* negative: not known */
	enum rdmaez_severity is; /* how sure it is that this state has its usual effect */
	uint8_t port_num;        /* 0: not known, or it does not answer */
	struct ibv_port_attr port;
	bool has_groups; /* the device has multicast */
	struct {
		const char *verb;
		int error;
	} refused[4]; /* questions that were not answered */
	unsigned int refusals;
	struct rdmaez_diag *diag;
};

RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_is(const struct rdmaez_impl_qp_exam *e, uint32_t states)
{
	return e->state >= 0 && (states >> e->state & 1);
}

/* What ibv_query_qp() is asked for: no more than queue pairs of this type have. */
RDMAEZ_IMPL_COLD int rdmaez_impl_qp_exam_wanted(enum ibv_qp_type type)
{
	const int path = IBV_QP_DEST_QPN | IBV_QP_PATH_MTU | IBV_QP_AV;
	const int waits = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
			  IBV_QP_ACCESS_FLAGS;
	const int all = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | RDMAEZ_IMPL_QP_SQ_DRAINING;

	switch ((int)type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return all | waits | path;
	case IBV_QPT_UC:
		return all | path;
	case IBV_QPT_DRIVER:
		return all | waits;
	default:
		return all;
	}
}

/* Notes a question that was not answered; whether it is one. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_refused(struct rdmaez_impl_qp_exam *e, const char *verb,
						  int error)
{
	if (!error)
		return false;
	e->refused[e->refusals].verb = verb;
	e->refused[e->refusals++].error = error;
	return true;
}

/* What the state keeps from happening. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_state(const struct rdmaez_impl_qp_exam *e)
{
	static const struct {
		uint32_t in, needed;     /* a bit for each state */
		enum ibv_qp_type except; /* an end that does no such thing anyway */
		enum rdmaez_why why;
	} rows[] = {
		{1 << IBV_QPS_ERR, 1 << IBV_QPS_RTS, (enum ibv_qp_type)0, RDMAEZ_WHY_WR_QP_ERROR},
		{1 << IBV_QPS_RESET | 1 << IBV_QPS_INIT | 1 << IBV_QPS_RTR | 1 << IBV_QPS_SQD |
			 1 << IBV_QPS_SQE,
		 1 << IBV_QPS_RTS, IBV_QPT_XRC_RECV, RDMAEZ_WHY_QP_NO_SENDS},
		{1 << IBV_QPS_RESET | 1 << IBV_QPS_INIT,
		 1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD | 1 << IBV_QPS_SQE,
		 IBV_QPT_XRC_SEND, RDMAEZ_WHY_QP_NO_RECEIVES},
	};
	static const struct rdmaez_impl_site draining = {"sq_draining", RDMAEZ_WHY_SQ_DRAINING,
							 RDMAEZ_VALUE_NUMBER, 0, 0};
	struct rdmaez_impl_site site = {"qp_state", RDMAEZ_WHY_NONE, RDMAEZ_VALUE_STATE_NOW, 0, 0};

	/* A DCT of mlx5 needs no other state, and verbs cannot tell it from a DCI. */
	if (e->type == IBV_QPT_DRIVER && rdmaez_impl_qp_exam_is(e, 1 << IBV_QPS_RTR))
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		site.why = rows[i].why;
		if (rdmaez_impl_qp_exam_is(e, rows[i].in) && e->type != rows[i].except)
			rdmaez_impl_find_within(e->diag, e->is, &site, (uint64_t)e->state, 0,
						rows[i].needed);
	}
	if (rdmaez_impl_qp_exam_is(e, 1 << IBV_QPS_SQD) && e->now.attr.sq_draining &&
	    (e->now.known & RDMAEZ_IMPL_QP_SQ_DRAINING))
		rdmaez_impl_find(e->diag, RDMAEZ_DIAG_LIKELY, &draining, 1);
}

/* Numbers that let a queue pair wait without end, or long; rxe_completer() takes retry_cnt 7 for no limit. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_numbers(const struct rdmaez_impl_qp_exam *e)
{
	static const struct {
		int bit;
		enum ibv_qp_type except; /* the end that has no use for it */
		enum rdmaez_severity severity;
		uint8_t offset, value; /* in struct ibv_qp_attr */
		struct rdmaez_impl_site site;
	} rows[] = {
		{IBV_QP_MAX_QP_RD_ATOMIC,
		 IBV_QPT_XRC_RECV,
		 RDMAEZ_DIAG_LIKELY,
		 offsetof(struct ibv_qp_attr, max_rd_atomic),
		 0,
		 {"max_rd_atomic", RDMAEZ_WHY_DEPTH_ZERO_HANG, RDMAEZ_VALUE_NUMBER, 1, 255}},
		{IBV_QP_TIMEOUT,
		 IBV_QPT_XRC_RECV,
		 RDMAEZ_DIAG_LIKELY,
		 offsetof(struct ibv_qp_attr, timeout),
		 0,
		 {"timeout", RDMAEZ_WHY_TIMEOUT_ZERO, RDMAEZ_VALUE_NUMBER, 1, 31}},
		{IBV_QP_RETRY_CNT,
		 IBV_QPT_XRC_RECV,
		 RDMAEZ_DIAG_ADVICE,
		 offsetof(struct ibv_qp_attr, retry_cnt),
		 7,
		 {"retry_cnt", RDMAEZ_WHY_RETRY_ENDLESS, RDMAEZ_VALUE_NUMBER, 0, 6}},
		{IBV_QP_RNR_RETRY,
		 IBV_QPT_XRC_RECV,
		 RDMAEZ_DIAG_ADVICE,
		 offsetof(struct ibv_qp_attr, rnr_retry),
		 7,
		 {"rnr_retry", RDMAEZ_WHY_RNR_ENDLESS, RDMAEZ_VALUE_NUMBER, 0, 6}},
		{IBV_QP_MAX_DEST_RD_ATOMIC,
		 IBV_QPT_XRC_SEND,
		 RDMAEZ_DIAG_ADVICE,
		 offsetof(struct ibv_qp_attr, max_dest_rd_atomic),
		 0,
		 {"max_dest_rd_atomic", RDMAEZ_WHY_DEPTH_ZERO, RDMAEZ_VALUE_NUMBER, 1, 255}},
		{IBV_QP_MIN_RNR_TIMER,
		 IBV_QPT_XRC_SEND,
		 RDMAEZ_DIAG_ADVICE,
		 offsetof(struct ibv_qp_attr, min_rnr_timer),
		 0,
		 {"min_rnr_timer", RDMAEZ_WHY_RNR_TIMER_ZERO, RDMAEZ_VALUE_NUMBER, 1, 31}},
	};

	const uint32_t sends = 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD;
	const unsigned int reads =
		e->now.attr.qp_access_flags & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint8_t value = ((const uint8_t *)&e->now.attr)[rows[i].offset];
		const uint32_t in =
			rows[i].except == IBV_QPT_XRC_RECV ? sends : sends | 1 << IBV_QPS_RTR;

		if ((e->now.known & rows[i].bit) && e->type != rows[i].except &&
		    rdmaez_impl_qp_exam_is(e, in) && value == rows[i].value &&
		    (reads || rows[i].bit != IBV_QP_MAX_DEST_RD_ATOMIC))
			rdmaez_impl_find(e->diag, rows[i].severity, &rows[i].site, value);
	}
}

/* The way to the peer: its number, the path MTU, and the GID that packets leave from. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_path(struct rdmaez_impl_qp_exam *e)
{
	static const struct rdmaez_impl_site peer = {"dest_qp_num", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_NUMBER, 1, 0xffffff};
	static const struct rdmaez_impl_site mtu = {"path_mtu", RDMAEZ_WHY_MTU_ABOVE_ACTIVE,
						    RDMAEZ_VALUE_MTU, 0, 0};
	struct ibv_qp_attr *const attr = &e->now.attr;
	const struct ibv_global_route *const grh = &attr->ah_attr.grh;
	struct ibv_gid_entry own;
	const struct rdmaez_impl_reach r = {e->context, &e->port, &attr->ah_attr,
					    &own,       e->diag,  true};
	enum rdmaez_why why;

	if (!rdmaez_impl_qp_exam_is(e, 1 << IBV_QPS_RTR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD))
		return;
	if ((e->now.known & IBV_QP_DEST_QPN) && !attr->dest_qp_num)
		rdmaez_impl_find(e->diag, RDMAEZ_DIAG_LIKELY, &peer, 0);
	if (!e->port_num)
		return;
	if ((e->now.known & IBV_QP_PATH_MTU) && attr->path_mtu > e->port.active_mtu)
		rdmaez_impl_find_within(e->diag, RDMAEZ_DIAG_LIKELY, &mtu, attr->path_mtu,
					IBV_MTU_256, e->port.active_mtu);
	if (!(e->now.known & IBV_QP_AV) || !attr->ah_attr.is_global)
		return;
	attr->ah_attr.port_num = e->port_num;
	if (rdmaez_impl_qp_exam_refused(
		    e, "ibv_query_gid_ex",
		    rdmaez_impl_port_gid(e->context, e->port_num, grh->sgid_index, &own, NULL))) {
		memset(&own, 0, sizeof(own));
		rdmaez_impl_reach_note(&r);
		return;
	}
	rdmaez_impl_reach_note(&r);
	why = rdmaez_impl_reach_objection(&own, &grh->dgid);
	if (why == RDMAEZ_WHY_GID_EMPTY || why == RDMAEZ_WHY_GID_NO_NETDEV ||
	    why == RDMAEZ_WHY_GID_FAMILY) {
		rdmaez_impl_reach_find(&r, RDMAEZ_DIAG_LIKELY, why, grh->sgid_index);
		rdmaez_impl_reach_instead(&r);
	} else if (e->port.link_layer == IBV_LINK_LAYER_ETHERNET &&
		   rdmaez_impl_gid_is_resolved(&own, &grh->dgid)) {
		rdmaez_impl_reach_way(&r, RDMAEZ_DIAG_LIKELY, 0);
	}
}

/* The P_Key at the index. On Ethernet every queue pair has the default one, whatever the index. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_pkey(const struct rdmaez_impl_qp_exam *e)
{
	static const struct rdmaez_impl_site beyond = {"pkey_index", RDMAEZ_WHY_PKEY_INDEX,
						       RDMAEZ_VALUE_NUMBER, 0, 0};
	const int index = e->now.attr.pkey_index;

	if (!(e->now.known & IBV_QP_PKEY_INDEX) || e->state == IBV_QPS_RESET ||
	    e->port.link_layer != IBV_LINK_LAYER_INFINIBAND)
		return;
	if (index >= e->port.pkey_tbl_len) {
		rdmaez_impl_find_within(e->diag, RDMAEZ_DIAG_LIKELY, &beyond, (uint64_t)index, 0,
					(uint64_t)e->port.pkey_tbl_len - 1);
		return;
	}
	rdmaez_impl_reach_pkey(rdmaez_impl_port_pkey(e->context, e->port_num, index),
			       RDMAEZ_DIAG_LIKELY, RDMAEZ_DIAG_ADVICE, e->diag);
}

/*
 * What has been counted. Names as of Linux 6.1 to 7.2: rxe_hw_counters.c, mlx5/counters.c, bnxt_re/hw_counters.c
 * (which took mlx5's names after 6.12), mlx4/main.c (diag_basic), mana/counters.c, efa/efa_verbs.c, and core/sysfs.c
 * for InfiniBand's own. One of each reason is enough.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_counters(const struct rdmaez_impl_qp_exam *e)
{
	static const struct {
		const char *name;
		enum rdmaez_why why;
	} rows[] = {
		{"hw_counters/rcvd_rnr_err", RDMAEZ_WHY_COUNTED_RNR},      /* rxe */
		{"hw_counters/rnr_nak_retry_err", RDMAEZ_WHY_COUNTED_RNR}, /* mlx5 */
		{"hw_counters/rnr_naks_rcvd", RDMAEZ_WHY_COUNTED_RNR},     /* bnxt_re */
		{"hw_counters/sq_num_rnr", RDMAEZ_WHY_COUNTED_RNR},        /* mlx4 */
		{"hw_counters/requester_rnr_nak", RDMAEZ_WHY_COUNTED_RNR}, /* mana */
		{"hw_counters/send_rnr_err", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/out_of_buffer", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/rx_out_of_buffer", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/rq_num_rnr", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/responder_rnr_nak", RDMAEZ_WHY_COUNTED_NO_RECEIVE},
		{"hw_counters/completer_retry_err", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/local_ack_timeout_err", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/to_retransmits", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/requester_timeout", RDMAEZ_WHY_COUNTED_NO_ACK},
		{"hw_counters/retrans_timeout_events", RDMAEZ_WHY_COUNTED_NO_ACK}, /* efa */
	};
	const bool reliable = (rdmaez_impl_qp_exam_wanted(e->type) & IBV_QP_TIMEOUT) != 0;
	struct rdmaez_impl_site site = {"", RDMAEZ_WHY_NONE, RDMAEZ_VALUE_COUNTED, 0, 0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t counted;

		if (rdmaez_diag_find(e->diag, rows[i].why) ||
		    (!reliable && (rows[i].why == RDMAEZ_WHY_COUNTED_RNR ||
				   rows[i].why == RDMAEZ_WHY_COUNTED_NO_ACK)))
			continue;
		counted = rdmaez_impl_reach_counter(e->context, e->port_num, rows[i].name);
		site.field = rows[i].name;
		site.why = rows[i].why;
		if (counted)
			rdmaez_impl_find(e->diag, RDMAEZ_DIAG_LIKELY, &site, counted);
	}
	rdmaez_impl_reach_loss(e->context, e->port_num, e->diag);
}

/* The port: its link, and what it has dropped. Drivers that do not count such packets report 0. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_port(const struct rdmaez_impl_qp_exam *e)
{
	static const struct rdmaez_impl_site qkey = {"qkey_viol_cntr", RDMAEZ_WHY_COUNTED_QKEY,
						     RDMAEZ_VALUE_COUNTED, 0, 0};
	static const struct rdmaez_impl_site pkey = {"bad_pkey_cntr", RDMAEZ_WHY_COUNTED_PKEY,
						     RDMAEZ_VALUE_COUNTED, 0, 0};

	rdmaez_impl_reach_port(&e->port, RDMAEZ_DIAG_LIKELY, e->diag);
	if (e->port.qkey_viol_cntr && e->type == IBV_QPT_UD)
		rdmaez_impl_find(e->diag, RDMAEZ_DIAG_LIKELY, &qkey, e->port.qkey_viol_cntr);
	if (e->port.bad_pkey_cntr)
		rdmaez_impl_find(e->diag, RDMAEZ_DIAG_LIKELY, &pkey, e->port.bad_pkey_cntr);
}

/* Asks the device, the queue pair and its port. What libibverbs knows of the state may be out of date. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_ask(struct rdmaez_impl_qp_exam *e, struct ibv_qp *qp)
{
	static const struct rdmaez_impl_site stale = {"state", RDMAEZ_WHY_QP_STALE,
						      RDMAEZ_VALUE_NONE, 0, 0};
	const bool iwarp = e->context->device->transport_type == IBV_TRANSPORT_IWARP;
	const enum ibv_qp_state before = qp->state;
	const struct rdmaez_driver *driver;
	struct ibv_device_attr device;
	bool usual;

	rdmaez_impl_qp_exam_refused(e, "ibv_query_device",
				    rdmaez_impl_ask_device(e->context, &device, &driver, e->diag));
	e->has_groups = device.max_mcast_grp > 0;
	rdmaez_impl_qp_ask_now(qp, driver, rdmaez_impl_qp_exam_wanted(e->type), &e->now);
	usual = driver->vendor_id && e->type != IBV_QPT_RAW_PACKET &&
		(e->type != IBV_QPT_DRIVER || (driver->traits & RDMAEZ_DRIVER_EFA));
	if (!e->now.known)
		rdmaez_impl_qp_exam_refused(e, "ibv_query_qp", e->now.error);
	if (!(driver->habits & RDMAEZ_DRIVER_RETRIES_7))
		e->now.known &= ~IBV_QP_RETRY_CNT; /* elsewhere 7 retries are seven */
	if (e->now.known & IBV_QP_STATE) {
		e->state = (int)e->now.attr.qp_state;
		if (e->state == IBV_QPS_RESET)
			e->now.known = IBV_QP_STATE; /* nothing else has been set */
		e->is = usual ? RDMAEZ_DIAG_ERROR : RDMAEZ_DIAG_LIKELY;
		if (!iwarp && before != e->now.attr.qp_state)
			rdmaez_impl_find(e->diag, RDMAEZ_DIAG_ADVICE, &stale, 0);
	} else if (e->now.error && !iwarp && (unsigned int)before <= IBV_QPS_ERR) {
		e->state = (int)before;
		e->is = RDMAEZ_DIAG_LIKELY;
	}
	e->diag->from = e->state;
	e->port_num = rdmaez_impl_qp_now_port(&e->now, &device);
	if (e->port_num && rdmaez_impl_qp_exam_refused(e, "ibv_query_port",
						       rdmaez_impl_error(ibv_query_port(
							       e->context, e->port_num, &e->port))))
		e->port_num = 0;
}

/* All that is to be said of a queue pair by itself, in a record that is there. Whether it receives groups' messages. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_all(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	struct rdmaez_impl_qp_exam e;

	rdmaez_impl_diag_qp(diag, qp);
	memset(&e, 0, sizeof(e));
	e.context = qp->context;
	e.type = qp->qp_type;
	e.state = -1;
	e.diag = diag;
	rdmaez_impl_qp_exam_ask(&e, qp);
	rdmaez_impl_qp_exam_state(&e);
	if (e.port_num)
		rdmaez_impl_qp_exam_port(&e);
	rdmaez_impl_qp_exam_numbers(&e);
	rdmaez_impl_qp_exam_path(&e);
	if (e.port_num) {
		rdmaez_impl_qp_exam_pkey(&e);
		rdmaez_impl_qp_exam_counters(&e);
	}
	for (unsigned int i = 0; i < e.refusals; i++)
		rdmaez_impl_find_plain(
			diag, RDMAEZ_DIAG_LIKELY,
			rdmaez_impl_errno_meaning(e.refused[i].error, RDMAEZ_WHY_QUERY_REFUSED),
			e.refused[i].verb);
	return e.has_groups && e.type == IBV_QPT_UD;
}

RDMAEZ_SEAM int rdmaez_impl_tell_qp_examine(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	bool has_groups;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_examine");
	if (!qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
	if (!diag)
		return 0;
	has_groups = rdmaez_impl_qp_exam_all(qp, diag);
	if (diag->count)
		return 0;
	rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_QP_NOTHING_FOUND, "qp");
	if (has_groups)
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_MULTICAST_ASK, "qp");
	return 0;
}

RDMAEZ_IMPL_END

#endif
