/* SPDX-License-Identifier: MIT */
/* Explains why nothing happens on a queue pair. */
#ifndef RDMAEZ_EXPLAIN_QP_EXAMINE_H
#define RDMAEZ_EXPLAIN_QP_EXAMINE_H

#include <poll.h>

#include "../examine.h"

#include "path.h"
#include "qp_check.h"
#include "refusal.h"

RDMAEZ_IMPL_BEGIN

/* This is a queue pair and its port as they are. What did not answer stands for nothing. */
struct rdmaez_impl_qp_exam {
	struct ibv_context *context;
	enum ibv_qp_type type;
	struct rdmaez_impl_qp_now now;
	int state;               /* negative: not known */
	enum rdmaez_severity is; /* how sure it is that this state has its usual effect */
	uint8_t port_num;        /* 0: not known, or it does not answer */
	struct ibv_port_attr port;
	bool has_groups;   /* the device has multicast */
	bool knows_groups; /* and it was looked at */
	struct {
		const char *verb;
		int error;
	} refused[4]; /* questions that were not answered */
	unsigned int refusals;
	struct rdmaez_diag *diag;
	/* what the program knows; a number less than 0 is not known */
	struct rdmaez_qp_known known;
	const struct rdmaez_port_counts *before; /* of this port; NULL: none */
	int sends, signaled, recvs;
	int retries; /* retry_cnt, on every driver; less than 0: not known, or without end */
	bool is_one; /* its two queues have completion queues of their own, and one was waited for */
	uint32_t meant; /* a bit for each state that the program has asked for */
};

RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_is(const struct rdmaez_impl_qp_exam *e, uint32_t states)
{
	return e->state >= 0 && (states >> e->state & 1);
}

/* Returns what to ask ibv_query_qp() for: no more than queue pairs of this type have. */
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

/* Notes a question that was not answered. Returns whether it was not. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_refused(struct rdmaez_impl_qp_exam *e, const char *verb,
						  int error)
{
	if (!error)
		return false;
	e->refused[e->refusals].verb = verb;
	e->refused[e->refusals++].error = error;
	return true;
}

/* Returns whether the program waits for completions of one queue alone. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_only(const struct rdmaez_impl_qp_exam *e,
					       enum rdmaez_queues queue)
{
	return e->known.waits == (unsigned int)queue;
}

/* Returns whether nothing can be stuck: nothing is outstanding, and nothing is waited for. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_idle(const struct rdmaez_impl_qp_exam *e)
{
	return !e->known.waits && !e->sends && !e->recvs;
}

/* Says what the state keeps from happening. */
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
		const bool of_sends = rows[i].why == RDMAEZ_WHY_QP_NO_SENDS;
		const bool of_recvs = rows[i].why == RDMAEZ_WHY_QP_NO_RECEIVES;
		enum rdmaez_severity is = e->is;

		if (!rdmaez_impl_qp_exam_is(e, rows[i].in & ~e->meant) || e->type == rows[i].except)
			continue;
		/* A program that waits for the other queue alone may have no use for this one. */
		if (of_sends && rdmaez_impl_qp_exam_only(e, RDMAEZ_QUEUE_RECV))
			is = e->sends ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ADVICE;
		if (of_recvs && rdmaez_impl_qp_exam_only(e, RDMAEZ_QUEUE_SEND))
			is = e->recvs ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ADVICE;
		site.why = rows[i].why;
		if (is < RDMAEZ_DIAG_ADVICE)
			rdmaez_impl_find_within(e->diag, is, &site, (uint64_t)e->state, 0,
						rows[i].needed);
	}
	if (rdmaez_impl_qp_exam_is(e, 1 << IBV_QPS_SQD & ~e->meant) && e->now.attr.sq_draining &&
	    (e->now.known & RDMAEZ_IMPL_QP_SQ_DRAINING))
		rdmaez_impl_find(e->diag, RDMAEZ_DIAG_LIKELY, &draining, 1);
}

/*
 * Finds numbers that let a queue pair wait without end, or for long. rxe_completer() takes
 * retry_cnt 7 for no limit.
 */
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
	const struct ibv_send_wr *const wr = e->known.wr;
	const bool is_read = !wr || wr->opcode == IBV_WR_RDMA_READ ||
			     wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			     wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const bool takes_recv =
		!wr || wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM ||
		wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint8_t value = ((const uint8_t *)&e->now.attr)[rows[i].offset];
		const bool of_sends = rows[i].except == IBV_QPT_XRC_RECV;
		const uint32_t in = of_sends ? sends : sends | 1 << IBV_QPS_RTR;

		if (of_sends ? !e->sends : rdmaez_impl_qp_exam_idle(e))
			continue;
		if ((rows[i].bit == IBV_QP_MAX_QP_RD_ATOMIC && !is_read) ||
		    (rows[i].bit == IBV_QP_RNR_RETRY && !takes_recv))
			continue;
		if ((e->now.known & rows[i].bit) && e->type != rows[i].except &&
		    rdmaez_impl_qp_exam_is(e, in) && value == rows[i].value &&
		    (reads || rows[i].bit != IBV_QP_MAX_DEST_RD_ATOMIC))
			rdmaez_impl_find(e->diag, rows[i].severity, &rows[i].site, value);
	}
}

/*
 * Finds the interface that has a GID's packets on the wire: for a VLAN the one below it, which has
 * the files of priorities. Returns whether the packets have a tag.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_qp_exam_below(char *name)
{
	char path[96], text[16];
	struct rdmaez_impl_lines lines;
	const char *is, *at = text;

	snprintf(path, sizeof(path), "/sys/class/net/%s/uevent", name);
	is = rdmaez_impl_lines_find(&lines, path, "DEVTYPE=");
	if (!is || strcmp(is, "vlan") != 0)
		return false;
	snprintf(path, sizeof(path), "/sys/class/net/%s/iflink", name);
	rdmaez_impl_file_text(path, text, sizeof(text));
	return if_indextoname((unsigned int)rdmaez_impl_number(&at, 10), name) != NULL;
}

/*
 * Compares the traffic class with the priorities that PFC protects. MLNX_OFED and DOCA have these
 * files, the last of which is of a traffic class for all of the port's queue pairs. The kernel
 * itself tells it by netlink, which rdmaez-doctor asks. That DSCPs have a priority by eights is the
 * firmware's default, and may have been changed, as may be that packets without a tag have priority
 * 0. mlx5_set_path() puts the service level into a VLAN's tag.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_class(const struct rdmaez_impl_qp_exam *e,
						const struct ibv_gid_entry *own)
{
	static const struct rdmaez_impl_site site = {
		"ah_attr.grh.traffic_class", RDMAEZ_WHY_QP_LOSSY, RDMAEZ_VALUE_NUMBER, 0, 0};
	static const struct rdmaez_impl_site untagged = {
		"ah_attr.grh.sgid_index", RDMAEZ_WHY_QP_UNTAGGED, RDMAEZ_VALUE_INDEX, 0, 0};
	static const struct rdmaez_impl_site tag = {"ah_attr.sl", RDMAEZ_WHY_QP_VLAN_PRIORITY,
						    RDMAEZ_VALUE_NUMBER, 0, 0};
	static const char all[] = "Global tclass=";
	char text[IBV_SYSFS_PATH_MAX + 64], pfc[10], name[IF_NAMESIZE];
	const uint8_t sl = e->now.attr.ah_attr.sl;
	uint64_t value = e->now.attr.ah_attr.grh.traffic_class;
	const char *lossless, *at;
	bool is_tagged;

	if (!if_indextoname(own->ndev_ifindex, name))
		return;
	is_tagged = rdmaez_impl_qp_exam_below(name);
	snprintf(text, sizeof(text), "/sys/class/net/%s/qos/pfc", name);
	rdmaez_impl_file_text(text, pfc, sizeof(pfc));
	snprintf(text, sizeof(text), "/sys/class/net/%s/qos/trust", name);
	rdmaez_impl_file_text(text, text, sizeof(text));
	lossless = strchr(pfc, '1');
	if (!lossless || strspn(pfc, "01") != 8)
		return;
	if (strncmp(text, "pcp", 3) == 0 && is_tagged && pfc[sl & 7] == '0')
		rdmaez_impl_find_within(e->diag, RDMAEZ_DIAG_ADVICE, &tag, sl,
					(uint64_t)(lossless - pfc), (uint64_t)(lossless - pfc));
	if (strncmp(text, "pcp", 3) == 0 && !is_tagged && lossless != pfc)
		rdmaez_impl_find(e->diag, RDMAEZ_DIAG_ADVICE, &untagged,
				 e->now.attr.ah_attr.grh.sgid_index);
	if (strncmp(text, "dscp", 4) != 0 || own->gid_type != IBV_GID_TYPE_ROCE_V2)
		return;
	snprintf(text, sizeof(text), "%s/tc/%u/traffic_class", e->context->device->ibdev_path,
		 e->port_num);
	rdmaez_impl_file_text(text, text, sizeof(text));
	at = text + sizeof(all) - 1;
	if (strncmp(text, all, sizeof(all) - 1) == 0 && *at >= '0' && *at <= '9')
		value = rdmaez_impl_number(&at, 10);
	if (value < 256 && pfc[value >> 5] == '0')
		rdmaez_impl_find_within(e->diag, RDMAEZ_DIAG_ADVICE, &site, value,
					(uint64_t)(lossless - pfc) << 5,
					((uint64_t)(lossless - pfc) << 5) + 31);
}

/* Examines the way to the peer: its number, the path MTU, and the GID that packets leave from. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_path(struct rdmaez_impl_qp_exam *e)
{
	static const struct rdmaez_impl_site peer = {"dest_qp_num", RDMAEZ_WHY_RANGE,
						     RDMAEZ_VALUE_HEX, 1, 0xffffff};
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
		return;
	}
	if (why == RDMAEZ_WHY_GID_ROCE_V1)
		rdmaez_impl_reach_newer(&r,
					rdmaez_gid_class(&own.gid) == RDMAEZ_GID_CLASS_LINK_LOCAL
						? RDMAEZ_DIAG_LIKELY
						: RDMAEZ_DIAG_ADVICE);
	if (e->port.link_layer == IBV_LINK_LAYER_ETHERNET &&
	    rdmaez_impl_gid_is_resolved(&own, &grh->dgid))
		rdmaez_impl_reach_way(&r, RDMAEZ_DIAG_LIKELY, 0);
	rdmaez_impl_qp_exam_class(e, &own);
}

/*
 * Examines the P_Key at the index. On Ethernet every queue pair has the default one, whatever the
 * index.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_exam_pkey(const struct rdmaez_impl_qp_exam *e)
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

/* In a snapshot, what verbs tell of a port's counters comes behind those of sysfs. */
#define RDMAEZ_IMPL_COUNTED_QKEY RDMAEZ_IMPL_COUNTERS
#define RDMAEZ_IMPL_COUNTED_PKEY (RDMAEZ_IMPL_COUNTERS + 1)

/* Returns whether a counter can matter to this queue pair, and to what is outstanding. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_qp_exam_counts(const struct rdmaez_impl_qp_exam *e,
						 enum rdmaez_why why)
{
	const bool reliable = (rdmaez_impl_qp_exam_wanted(e->type) & IBV_QP_TIMEOUT) != 0;

	if (rdmaez_impl_qp_exam_idle(e))
		return false;
	if (why == RDMAEZ_WHY_COUNTED_RNR || why == RDMAEZ_WHY_COUNTED_NO_ACK)
		return reliable && e->sends;
	return why != RDMAEZ_WHY_COUNTED_QKEY || e->type == IBV_QPT_UD;
}

/* Adds one counter: how much it has grown since the snapshot or, without one, its total. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_count(const struct rdmaez_impl_qp_exam *e, int i,
						const struct rdmaez_impl_counter *row,
						uint64_t counted)
{
	const struct rdmaez_impl_site site = {row->name, row->why, RDMAEZ_VALUE_COUNTED, 0, 0};

	if (e->before)
		counted = counted > e->before->own[i] ? counted - e->before->own[i] : 0;
	if (counted)
		rdmaez_impl_find(e->diag, e->before ? RDMAEZ_DIAG_LIKELY : RDMAEZ_DIAG_ADVICE,
				 &site, counted);
}

/*
 * Adds what has been counted, once for each reason. Drivers that do not count packets with wrong
 * keys report 0. Totals may come from any other program, so they are advice.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_counters(const struct rdmaez_impl_qp_exam *e)
{
	static const struct rdmaez_impl_counter qkey = {"qkey_viol_cntr", RDMAEZ_WHY_COUNTED_QKEY};
	static const struct rdmaez_impl_counter pkey = {"bad_pkey_cntr", RDMAEZ_WHY_COUNTED_PKEY};

	if (rdmaez_impl_qp_exam_counts(e, qkey.why))
		rdmaez_impl_qp_exam_count(e, RDMAEZ_IMPL_COUNTED_QKEY, &qkey,
					  e->port.qkey_viol_cntr);
	if (rdmaez_impl_qp_exam_counts(e, pkey.why))
		rdmaez_impl_qp_exam_count(e, RDMAEZ_IMPL_COUNTED_PKEY, &pkey,
					  e->port.bad_pkey_cntr);
	for (int i = 0; i < RDMAEZ_IMPL_COUNTERS; i++) {
		const struct rdmaez_impl_counter *const row = rdmaez_impl_counter_at(i);

		if (!rdmaez_diag_find(e->diag, row->why) && rdmaez_impl_qp_exam_counts(e, row->why))
			rdmaez_impl_qp_exam_count(
				e, i, row,
				rdmaez_impl_reach_counter(e->context, e->port_num, row->name));
	}
}

/* Returns whether something can be read from a descriptor now, without reading it. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_exam_readable(int fd)
{
	struct pollfd ready;

	ready.fd = fd;
	ready.events = POLLIN;
	ready.revents = 0;
	return fd >= 0 && poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN);
}

/* Finds an asynchronous event that nobody has read. */
RDMAEZ_IMPL_COLD void rdmaez_impl_exam_event(const struct ibv_context *context,
					     struct rdmaez_diag *diag)
{
	if (rdmaez_impl_exam_readable(context->async_fd))
		rdmaez_impl_find_plain(diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_EVENT_UNREAD,
				       "async_fd");
}

/* ---- What the program knows ------------------------------------------------------------------ */

/* Says which queue's completions go elsewhere than to the queue that is polled. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_exam_polled(const struct rdmaez_impl_qp_exam *e,
						  const struct ibv_qp *qp)
{
	const struct ibv_cq *const cq = e->known.cq;
	const struct ibv_cq *const own[] = {qp->send_cq, qp->recv_cq};

	if (!cq)
		return;
	for (unsigned int i = 0; i < 2; i++)
		if (own[i] && own[i] != cq &&
		    (e->known.waits ? e->known.waits >> i & 1 : own[!i] != cq))
			rdmaez_impl_find_plain(e->diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_CQ_NOT_POLLED,
					       i ? "recv_cq" : "send_cq");
}

/* Finds what is waited for, and cannot come. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_exam_awaited(const struct rdmaez_impl_qp_exam *e)
{
	const bool sends = e->known.waits & RDMAEZ_QUEUE_SEND;

	if (sends && !e->sends)
		rdmaez_impl_find_plain(e->diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NOTHING_POSTED,
				       "sends");
	else if (sends && !e->signaled)
		rdmaez_impl_find_plain(e->diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_UNSIGNALED,
				       "send_flags");
	if ((e->known.waits & RDMAEZ_QUEUE_RECV) && !e->recvs)
		rdmaez_impl_find_plain(e->diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_NOTHING_POSTED,
				       "recvs");
}

/* Checks that a completion queue has room for all that is outstanding. */
RDMAEZ_IMPL_COLD void rdmaez_impl_exam_room(const struct ibv_cq *cq, int outstanding,
					    const char *field, struct rdmaez_diag *diag)
{
	const struct rdmaez_impl_site site = {field, RDMAEZ_WHY_DRAIN_CQ, RDMAEZ_VALUE_NUMBER, 0,
					      INT32_MAX};

	if (cq && outstanding > cq->cqe)
		rdmaez_impl_find_within(diag, RDMAEZ_DIAG_LIKELY, &site, (uint64_t)(int64_t)cq->cqe,
					(uint64_t)outstanding, INT32_MAX);
}

/*
 * Does the same for both of a queue pair's. A send that is not signaled takes room only if it
 * fails.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_exam_rooms(const struct rdmaez_impl_qp_exam *e,
						 const struct ibv_qp *qp)
{
	const int sends = e->signaled, recvs = e->recvs;

	if (qp->send_cq != qp->recv_cq) {
		rdmaez_impl_exam_room(qp->send_cq, sends, "send_cq", e->diag);
		rdmaez_impl_exam_room(qp->recv_cq, recvs, "recv_cq", e->diag);
	} else if (!qp->srq && recvs < INT32_MAX / 2 && sends < INT32_MAX / 2) {
		rdmaez_impl_exam_room(qp->send_cq,
				      (sends > 0 ? sends : 0) + (recvs > 0 ? recvs : 0), "send_cq",
				      e->diag);
	}
}

/*
 * Finds retries that may still go on, because the program has waited for less than what they take
 * at most by the InfiniBand specification.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_exam_retries(const struct rdmaez_impl_qp_exam *e)
{
	static const struct rdmaez_impl_site site = {"timeout", RDMAEZ_WHY_RETRIES_LAST,
						     RDMAEZ_VALUE_NS, 0, 0};
	const uint64_t each = rdmaez_timeout_ns(e->now.attr.timeout);
	const uint64_t least = each * (uint64_t)(e->retries + 1);

	if (!(e->now.known & IBV_QP_TIMEOUT) || !e->now.attr.timeout || e->retries < 0 ||
	    !e->sends || !e->known.quiet_ns || e->type == IBV_QPT_XRC_RECV ||
	    !rdmaez_impl_qp_exam_is(e, 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD) ||
	    e->known.quiet_ns >= 4 * least)
		return;
	rdmaez_impl_find_within(e->diag, RDMAEZ_DIAG_ADVICE, &site, each, least, 4 * least);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/*
 * Asks the device, the queue pair and its port. What libibverbs knows of the state may be out of
 * date.
 */
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
	e->retries = -1;
	if ((e->now.known & IBV_QP_RETRY_CNT) &&
	    (e->now.attr.retry_cnt < 7 || !(driver->habits & RDMAEZ_DRIVER_HABIT_RETRIES_7)))
		e->retries = e->now.attr.retry_cnt;
	if (!(driver->habits & RDMAEZ_DRIVER_HABIT_RETRIES_7))
		e->now.known &= ~IBV_QP_RETRY_CNT; /* other drivers count 7 retries */
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

/* Begins to examine a queue pair, in a record that is there. */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_begin(struct rdmaez_impl_qp_exam *e, struct ibv_qp *qp,
						const struct rdmaez_qp_known *known,
						struct rdmaez_diag *diag)
{
	memset(e, 0, sizeof(*e));
	e->context = qp->context;
	e->type = qp->qp_type;
	e->state = -1;
	e->diag = diag;
	if (known)
		e->known = *known;
	e->sends = (int)rdmaez_impl_option(e->known.sends, -1);
	e->signaled = (int)rdmaez_impl_option(e->known.signaled, -1);
	e->recvs = (int)rdmaez_impl_option(e->known.recvs, -1);
}

/* Reads the snapshot, if there is one of this port. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_qp_exam_before(struct rdmaez_impl_qp_exam *e)
{
	const struct rdmaez_port_counts *const before = e->known.before;

	if (before && before->ns && before->port == e->port_num &&
	    !strncmp(before->device, e->context->device->name, sizeof(before->device)))
		e->before = before;
}

/*
 * Says all that there is to say of a queue pair. `found` is how many findings there were before.
 * What is only possible, and may come from another program, follows the advice that nothing else
 * was found.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_qp_exam_run(struct rdmaez_impl_qp_exam *e, struct ibv_qp *qp,
					      unsigned int found)
{
	rdmaez_impl_diag_qp(e->diag, qp);
	rdmaez_impl_qp_exam_ask(e, qp);
	rdmaez_impl_qp_exam_before(e);
	rdmaez_impl_qp_exam_state(e);
	rdmaez_impl_qp_exam_polled(e, qp);
	rdmaez_impl_qp_exam_awaited(e);
	if (e->port_num)
		rdmaez_impl_reach_port(&e->port, RDMAEZ_DIAG_LIKELY, e->diag);
	rdmaez_impl_qp_exam_rooms(e, qp);
	rdmaez_impl_qp_exam_numbers(e);
	rdmaez_impl_qp_exam_path(e);
	if (e->port_num)
		rdmaez_impl_qp_exam_pkey(e);
	if (e->port_num && e->before)
		rdmaez_impl_qp_exam_counters(e);
	rdmaez_impl_qp_exam_retries(e);
	for (unsigned int i = 0; i < e->refusals; i++)
		rdmaez_impl_find_plain(
			e->diag, RDMAEZ_DIAG_LIKELY,
			rdmaez_impl_errno_meaning(e->refused[i].error, RDMAEZ_WHY_QUERY_REFUSED),
			e->refused[i].verb);
	if (e->diag->count == found) {
		rdmaez_impl_find_plain(e->diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_QP_NOTHING_FOUND,
				       "qp");
		if (e->has_groups && !e->knows_groups && e->type == IBV_QPT_UD)
			rdmaez_impl_find_plain(e->diag, RDMAEZ_DIAG_ADVICE,
					       RDMAEZ_WHY_MULTICAST_ASK, "qp");
	}
	if (e->is_one)
		rdmaez_impl_find_plain(e->diag, RDMAEZ_DIAG_ADVICE, RDMAEZ_WHY_CQ_OTHER_SIDE,
				       e->known.waits & RDMAEZ_QUEUE_SEND ? "send_cq" : "recv_cq");
	rdmaez_impl_exam_event(e->context, e->diag);
	if (e->port_num && !e->before)
		rdmaez_impl_qp_exam_counters(e);
}

RDMAEZ_SEAM int rdmaez_impl_tell_qp_examine(struct ibv_qp *qp, struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_tell_qp_examine_with(qp, NULL, diag);

	if (diag)
		diag->call = "rdmaez_qp_examine";
	return error;
}

/* Refuses a number of outstanding requests that cannot be one. */
RDMAEZ_IMPL_COLD int rdmaez_impl_exam_number(int number, const char *field,
					     struct rdmaez_diag *diag)
{
	const struct rdmaez_impl_site site = {field, RDMAEZ_WHY_RANGE, RDMAEZ_VALUE_NUMBER, 0,
					      INT32_MAX};

	return number < 0 ? rdmaez_impl_refuse_at(diag, EINVAL, &site, number) : 0;
}

RDMAEZ_SEAM int rdmaez_impl_tell_qp_examine_with(struct ibv_qp *qp,
						 const struct rdmaez_qp_known *known,
						 struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site waits = {"known.waits", RDMAEZ_WHY_OPTION_UNKNOWN,
						      RDMAEZ_VALUE_FLAGS, 0,
						      RDMAEZ_QUEUE_SEND | RDMAEZ_QUEUE_RECV};
	const unsigned int unknown = known ? known->waits & ~(unsigned int)waits.max : 0;
	struct rdmaez_impl_qp_exam e;
	int error = 0;

	rdmaez_impl_diag_reset(diag, "rdmaez_qp_examine_with");
	if (!qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "qp");
	rdmaez_impl_diag_qp(diag, qp);
	if (unknown)
		return rdmaez_impl_refuse_at(diag, EINVAL, &waits, unknown);
	if (known)
		error = rdmaez_impl_exam_number(known->sends, "known.sends", diag);
	if (known && !error)
		error = rdmaez_impl_exam_number(known->signaled, "known.signaled", diag);
	if (known && !error)
		error = rdmaez_impl_exam_number(known->recvs, "known.recvs", diag);
	if (error || !diag)
		return error;
	rdmaez_impl_qp_exam_begin(&e, qp, known, diag);
	rdmaez_impl_qp_exam_run(&e, qp, 0);
	return 0;
}

RDMAEZ_SEAM int rdmaez_impl_tell_port_count(struct ibv_context *context, int port,
					    struct rdmaez_port_counts *counts,
					    struct rdmaez_diag *diag)
{
	const int error = rdmaez_impl_begin(diag, "rdmaez_port_count", context,
					    !context ? "context"
					    : counts ? NULL
						     : "counts");
	struct rdmaez_port_counts taken;
	struct ibv_port_attr attr;
	int refused;

	if (error)
		return error;
	refused = rdmaez_impl_port_query(context, port, &attr, diag);
	if (diag)
		diag->call = "rdmaez_port_count";
	if (refused)
		return refused;
	memset(&taken, 0, sizeof(taken));
	taken.ns = rdmaez_impl_now();
	taken.port = port;
	memcpy(taken.device, context->device->name, sizeof(taken.device));
	for (int i = 0; i < RDMAEZ_IMPL_COUNTERS; i++)
		taken.own[i] = rdmaez_impl_reach_counter(context, (uint8_t)port,
							 rdmaez_impl_counter_at(i)->name);
	taken.own[RDMAEZ_IMPL_COUNTED_QKEY] = attr.qkey_viol_cntr;
	taken.own[RDMAEZ_IMPL_COUNTED_PKEY] = attr.bad_pkey_cntr;
	*counts = taken;
	return 0;
}

RDMAEZ_IMPL_END

#endif
