/* SPDX-License-Identifier: MIT */
/* Explains why a completion has failed, by what the queue pair and the device report. */
#ifndef RDMAEZ_EXPLAIN_WC_EXPLAIN_H
#define RDMAEZ_EXPLAIN_WC_EXPLAIN_H

#include "late.h"
#include "path.h"
#include "qp_check.h"
#include "refusal.h"
#include "wr.h"

RDMAEZ_IMPL_BEGIN

/* This is what is known of one failure, and where to write what follows from it. */
struct rdmaez_impl_wc_case {
	struct ibv_qp *qp;
	struct rdmaez_diag *diag;
	uint8_t status;   /* an enum ibv_wc_status or one of the two below */
	uint8_t queues;   /* which of its queues it may be of; bits, as in a row */
	uint8_t types;    /* its type; a bit */
	uint8_t requests; /* which kinds of requests it may have been; bits */
	int opcode;       /* of the request; -1: not known */
	int64_t room;     /* bytes of the receive; -1: not known */
	bool is_v1;       /* it sends from a GID of RoCE v1 */
	bool is_acked;    /* the peer is known to have acknowledged a request before */
	const struct rdmaez_driver *driver;
	struct ibv_device_attr device; /* zero where it did not answer */
	struct rdmaez_impl_qp_now now;
	uint8_t port_num; /* 0: not known, or it did not answer */
	struct ibv_port_attr port;
	int error;           /* of the last question that has failed */
	uint8_t failed;      /* how many have */
	const char *verb[4]; /* which they were */
};

enum {
	/* Verbs have no such statuses. They stand for the two events that a responder gets. */
	RDMAEZ_IMPL_WC_REQ_EVENT = 254,
	RDMAEZ_IMPL_WC_ACCESS_EVENT = 255,
	/* These are the queues. */
	RDMAEZ_IMPL_WC_SQ = 1,
	RDMAEZ_IMPL_WC_RQ = 2,
	RDMAEZ_IMPL_WC_ANY_Q = 3,
	/* These are the types. A driver's own stand with RAW_PACKET. */
	RDMAEZ_IMPL_WC_RC = 1,
	RDMAEZ_IMPL_WC_UC = 2,
	RDMAEZ_IMPL_WC_UD = 4,
	RDMAEZ_IMPL_WC_XRC_SEND = 8,
	RDMAEZ_IMPL_WC_XRC_RECV = 16,
	RDMAEZ_IMPL_WC_OTHER = 32,
	RDMAEZ_IMPL_WC_RETRIES = 9,  /* those that repeat a request which was not acknowledged */
	RDMAEZ_IMPL_WC_ANSWERS = 17, /* those that go to ERR when they refuse one */
	RDMAEZ_IMPL_WC_CONNECTED = 27,
	RDMAEZ_IMPL_WC_NOT_UD = 59,
	RDMAEZ_IMPL_WC_BY_AH = 36, /* that send to an address handle */
	RDMAEZ_IMPL_WC_RNRS = 41,  /* whose peers may have no receive */
	RDMAEZ_IMPL_WC_ANY_TYPE = 63,
	/* These are the requests. */
	RDMAEZ_IMPL_WC_SEND = 1,
	RDMAEZ_IMPL_WC_SEND_INV = 2,
	RDMAEZ_IMPL_WC_WRITE_IMM = 4,
	RDMAEZ_IMPL_WC_WRITE = 8,
	RDMAEZ_IMPL_WC_READ = 16,
	RDMAEZ_IMPL_WC_ATOMIC = 32,
	RDMAEZ_IMPL_WC_LOCAL = 64, /* that send nothing */
	RDMAEZ_IMPL_WC_SENDS = 3,
	RDMAEZ_IMPL_WC_WRITES = 12,
	RDMAEZ_IMPL_WC_RDMA = 28,
	RDMAEZ_IMPL_WC_BYTES = 31,   /* all but atomics, whose length is fixed */
	RDMAEZ_IMPL_WC_PUSH = 15,    /* that carry bytes to the peer */
	RDMAEZ_IMPL_WC_FETCH = 48,   /* whose answer is written here */
	RDMAEZ_IMPL_WC_REMOTE = 60,  /* that name memory of the peer */
	RDMAEZ_IMPL_WC_PACKETS = 63, /* all that send something */
	RDMAEZ_IMPL_WC_ANY = 127
};

/*
 * A row is one likely cause: the failure that it may be the cause of, and what it is. If a driver
 * has rows of its own for a failure, only those count.
 */
struct rdmaez_impl_wc_row {
	uint8_t status, queues, types, requests;
	uint8_t causes; /* an enum rdmaez_driver_causes */
	uint16_t why;   /* an enum rdmaez_why, which says what rdmaez_impl_wc_judge() looks at */
	int need;       /* bits of ibv_query_qp() that this takes; with IBV_QP_PORT, the port too */
	const char *field;
};

/* ---- What a row may check -------------------------------------------------------------------- */

/* Adds a likely finding with the row's field and reason. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_suspect(const struct rdmaez_impl_wc_case *here,
					     const struct rdmaez_impl_wc_row *row,
					     enum rdmaez_value kind, uint64_t value, uint64_t min,
					     uint64_t max)
{
	const struct rdmaez_impl_site site = {row->field, (enum rdmaez_why)row->why, kind, 0, 0};

	rdmaez_impl_find_within(here->diag, RDMAEZ_DIAG_LIKELY, &site, value, min, max);
}

/* Does the same with another field and reason, for a row that may have several findings. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_find(const struct rdmaez_impl_wc_case *here,
					  const struct rdmaez_impl_site *site, uint64_t value)
{
	rdmaez_impl_find(here->diag, RDMAEZ_DIAG_LIKELY, site, value);
}

/*
 * Notes that a question has failed. It says nothing of EOPNOTSUPP and EINVAL, by which drivers
 * refuse what they never answer, such as mlx5_ib_dct_query_qp().
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_failed_to(struct rdmaez_impl_wc_case *here, int error,
					       const char *verb)
{
	if (error == EOPNOTSUPP || error == EINVAL)
		return;
	here->error = error;
	here->verb[here->failed++] = verb;
}

RDMAEZ_IMPL_COLD bool rdmaez_impl_wc_knows(const struct rdmaez_impl_wc_case *here, int bits)
{
	const int asked = bits & ~IBV_QP_PORT;

	return (here->now.known & asked) == asked && (!(bits & IBV_QP_PORT) || here->port_num);
}

/* Returns whether the caller has named an opcode that no queue pair of this type has. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wc_lacks(const struct rdmaez_impl_wc_case *here)
{
	const unsigned int opcode = (unsigned int)here->opcode;
	const uint32_t is = opcode < 32 ? UINT32_C(1) << opcode : 0;

	return here->opcode >= 0 && !(is & rdmaez_impl_wr_opcodes(here->qp->qp_type));
}

/*
 * Suspects the operation, by its name if the caller has given it. A type that lists SEND, WRITE or
 * READ has it.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_opcode(struct rdmaez_impl_wc_case *here,
					     const struct rdmaez_impl_wc_row *row)
{
	if (row->why == RDMAEZ_WHY_WR_OPCODE && here->types != RDMAEZ_IMPL_WC_OTHER &&
	    here->opcode >= 0 && here->opcode <= IBV_WR_RDMA_READ && !rdmaez_impl_wc_lacks(here))
		return;
	rdmaez_impl_wc_suspect(here, row,
			       here->opcode < 0 ? RDMAEZ_VALUE_NONE : RDMAEZ_VALUE_OPCODE,
			       here->opcode < 0 ? 0 : (uint64_t)here->opcode, 0, 0);
}

/*
 * Suspects the room of the receive, if the caller has given it. Nobody knows how much there should
 * have been.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_room(struct rdmaez_impl_wc_case *here,
					   const struct rdmaez_impl_wc_row *row)
{
	if (here->room < 0)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NONE, 0, 0, 0);
	else
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_BYTES, (uint64_t)here->room, 0,
				       UINT64_MAX);
}

/*
 * Suspects that the request was beyond a limit of the queue pair or of its port, whichever the row
 * needs. A limit of 0 is none.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_limit(struct rdmaez_impl_wc_case *here,
					    const struct rdmaez_impl_wc_row *row)
{
	const struct ibv_qp_cap *cap = &here->now.attr.cap;
	const char *field = row->field;
	uint64_t limit;

	if (!rdmaez_impl_wc_knows(here, row->need))
		return;
	if (row->need == IBV_QP_MAX_QP_RD_ATOMIC)
		limit = here->now.attr.max_rd_atomic;
	else if (row->need == IBV_QP_PORT)
		limit = row->types == RDMAEZ_IMPL_WC_UD
				? (uint64_t)rdmaez_mtu_bytes(here->port.active_mtu)
				: here->port.max_msg_sz;
	else
		limit = strcmp(field, "cap.max_send_sge") == 0   ? cap->max_send_sge
			: strcmp(field, "cap.max_recv_sge") == 0 ? cap->max_recv_sge
								 : cap->max_inline_data;
	if (limit)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_LIMIT, 0, 0, limit);
}

RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_mtu(struct rdmaez_impl_wc_case *here,
					  const struct rdmaez_impl_wc_row *row)
{
	if (rdmaez_impl_wc_knows(here, row->need) && rdmaez_mtu_bytes(here->port.active_mtu) &&
	    here->now.attr.path_mtu > here->port.active_mtu)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_MTU,
				       (uint64_t)here->now.attr.path_mtu, IBV_MTU_256,
				       (uint64_t)here->port.active_mtu);
}

/* Suspects that the peer has another path MTU than the one that this end has set. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_own_mtu(struct rdmaez_impl_wc_case *here,
					      const struct rdmaez_impl_wc_row *row)
{
	if (rdmaez_impl_wc_knows(here, row->need) && rdmaez_mtu_bytes(here->now.attr.path_mtu) &&
	    !rdmaez_diag_find(here->diag, RDMAEZ_WHY_WC_PEER_MTU))
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_BYTES,
				       (uint64_t)rdmaez_mtu_bytes(here->now.attr.path_mtu), 0,
				       UINT64_MAX);
}

/*
 * Suspects the P_Key with which the queue pair sends. A full member may talk to every member of its
 * partition.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_pkey(struct rdmaez_impl_wc_case *here,
					   const struct rdmaez_impl_wc_row *row)
{
	int pkey;

	if (!rdmaez_impl_wc_knows(here, row->need))
		return;
	pkey = rdmaez_impl_port_pkey(here->qp->context, here->port_num, here->now.attr.pkey_index);
	if (pkey < 0)
		rdmaez_impl_wc_failed_to(here, -pkey, "ibv_query_pkey");
	rdmaez_impl_reach_pkey(pkey, RDMAEZ_DIAG_LIKELY, RDMAEZ_DIAG_LIKELY, here->diag);
}

/*
 * Examines the address vector: the GID of this end as it is now, the way from there, and how far
 * packets go.
 */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_path(struct rdmaez_impl_wc_case *here,
					  const struct rdmaez_impl_wc_row *row)
{
	static const struct rdmaez_impl_site hops = {"ah_attr.grh.hop_limit", RDMAEZ_WHY_HOP_LIMIT,
						     RDMAEZ_VALUE_NUMBER, 2, 255};
	struct ibv_ah_attr *ah = &here->now.attr.ah_attr;
	struct ibv_gid_entry own;
	const struct rdmaez_impl_reach r = {here->qp->context, &here->port, ah, &own,
					    here->diag,        false};
	enum rdmaez_why why;
	int error;

	if (!rdmaez_impl_wc_knows(here, row->need))
		return;
	if (!ah->is_global) {
		if (!ah->dlid)
			rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NONE, 0, 0, 0);
		return;
	}
	ah->port_num = here->port_num;
	error = rdmaez_impl_port_gid(r.context, ah->port_num, ah->grh.sgid_index, &own, NULL);
	if (error) {
		rdmaez_impl_wc_failed_to(here, error, "ibv_query_gid_ex");
	} else {
		rdmaez_impl_reach_note(&r);
		here->is_v1 = own.gid_type == IBV_GID_TYPE_ROCE_V1;
		why = rdmaez_impl_reach_objection(&own, &ah->grh.dgid);
		if (why == RDMAEZ_WHY_GID_ROCE_V1) /* the index that would do stands first */
			rdmaez_impl_reach_newer(&r, RDMAEZ_DIAG_LIKELY);
		if (why != RDMAEZ_WHY_NONE)
			rdmaez_impl_reach_find(&r, RDMAEZ_DIAG_LIKELY, why, ah->grh.sgid_index);
		if (why != RDMAEZ_WHY_NONE && why != RDMAEZ_WHY_GID_ROCE_V1)
			rdmaez_impl_reach_instead(&r);
		else if (here->port.link_layer == IBV_LINK_LAYER_ETHERNET &&
			 rdmaez_impl_gid_is_resolved(&own, &ah->grh.dgid))
			rdmaez_impl_reach_way(&r, RDMAEZ_DIAG_LIKELY, 0);
	}
	if (ah->grh.hop_limit <= 1 &&
	    rdmaez_gid_class(&ah->grh.dgid) != RDMAEZ_GID_CLASS_LINK_LOCAL)
		rdmaez_impl_wc_find(here, &hops, ah->grh.hop_limit);
}

/*
 * Computes how long the queue pair tried, by the formula of IBTA 9.7.6.1.3. With timeout 1, rxe
 * took 68 ms instead of 0.1 ms.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_retries(struct rdmaez_impl_wc_case *here,
					      const struct rdmaez_impl_wc_row *row)
{
	static const struct rdmaez_impl_site no_timer = {"timeout", RDMAEZ_WHY_WC_NO_TIMER,
							 RDMAEZ_VALUE_NUMBER, 1, 31};
	static const struct rdmaez_impl_site too_short = {"timeout", RDMAEZ_WHY_WC_TIMEOUT_SHORT,
							  RDMAEZ_VALUE_NONE, 0, 0};
	static const struct rdmaez_impl_site no_retry = {"retry_cnt", RDMAEZ_WHY_RETRY_ZERO,
							 RDMAEZ_VALUE_NUMBER, 1, 7};
	const struct ibv_qp_attr *attr = &here->now.attr;
	const struct rdmaez_span_ns tried = rdmaez_give_up_ns(attr->timeout, attr->retry_cnt);
	const uint64_t once = rdmaez_timeout_ns(attr->timeout);

	if (!rdmaez_impl_wc_knows(here, row->need)) {
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NONE, 0, 0, 0);
		return;
	}
	if (!once)
		rdmaez_impl_wc_find(here, &no_timer, attr->timeout);
	else
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NS, once, tried.min, tried.max);
	if (once && attr->timeout < 14)
		rdmaez_impl_find(here->diag, RDMAEZ_DIAG_ADVICE, &too_short, 0);
	if (!attr->retry_cnt)
		rdmaez_impl_wc_find(here, &no_retry, 0);
}

/*
 * Says how often the queue pair tried. If its number means forever, it has changed since the
 * request.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_rnr(struct rdmaez_impl_wc_case *here,
					  const struct rdmaez_impl_wc_row *row)
{
	if (rdmaez_impl_wc_knows(here, row->need) && here->now.attr.rnr_retry < 7)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NUMBER, here->now.attr.rnr_retry, 7,
				       7);
	else
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NONE, 0, 0, 0);
}

/*
 * Says how long the peer was given to post a receive. The peer's own timer counts, and ours may be
 * the same.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_rnr_timer(struct rdmaez_impl_wc_case *here,
						const struct rdmaez_impl_wc_row *row)
{
	const struct ibv_qp_attr *attr = &here->now.attr;
	const uint64_t all = rdmaez_rnr_give_up_ns(attr->min_rnr_timer, attr->rnr_retry);

	if (rdmaez_impl_wc_knows(here, row->need) && attr->rnr_retry < 7)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NS,
				       rdmaez_rnr_timer_ns(attr->min_rnr_timer), all, all);
}

RDMAEZ_IMPL_COLD bool rdmaez_impl_wc_iwarp(const struct rdmaez_impl_wc_case *here)
{
	const struct ibv_device *device = here->qp->context->device;

	return device && device->transport_type == IBV_TRANSPORT_IWARP;
}

/*
 * Returns whether the memory that a READ writes to needs a remote right, because the answer is a
 * write by the peer (RFC 5040). siw_proc_rresp() does not ask for it.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_wc_sink(const struct rdmaez_impl_wc_case *here)
{
	return rdmaez_impl_wc_iwarp(here) && here->driver->causes != RDMAEZ_DRIVER_CAUSES_SIW;
}

/*
 * Returns whether the process has a GPU, and an IOMMU stands between the machine's devices, or
 * nothing tells of one.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_wc_gpu(bool has_iommu)
{
	char type[16];
	int is;

	rdmaez_impl_file_text("/sys/kernel/iommu_groups/0/type", type, sizeof(type));
	return (has_iommu ? strncmp(type, "DMA", 3) == 0 : !type[0]) &&
	       rdmaez_impl_maps(0, 0, &is) && (is & RDMAEZ_IMPL_MAPS_GPUS);
}

/*
 * Suspects that the peer does not grant the right that the request needs. The right is known if the
 * opcode is. Otherwise a row of atomics alone adds nothing, because its place is first, and few
 * regions have that right.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_peer_right(const struct rdmaez_impl_wc_case *here,
						 const struct rdmaez_impl_wc_row *row)
{
	const unsigned int right = here->requests & RDMAEZ_IMPL_WC_WRITES ? IBV_ACCESS_REMOTE_WRITE
				   : here->requests & RDMAEZ_IMPL_WC_READ
					   ? IBV_ACCESS_REMOTE_READ
					   : IBV_ACCESS_REMOTE_ATOMIC;

	if (here->opcode >= 0)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_ACCESS, right, 0, right);
	else if (row->requests != RDMAEZ_IMPL_WC_ATOMIC)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NONE, 0, 0, 0);
}

/* Returns the rights that such requests need of an end of this type. */
RDMAEZ_IMPL_SMALL unsigned int rdmaez_impl_wc_rights_of(const struct rdmaez_impl_wc_case *here)
{
	unsigned int rights = 0;

	if (here->types & (RDMAEZ_IMPL_WC_ANSWERS | RDMAEZ_IMPL_WC_UC) &&
	    here->requests & RDMAEZ_IMPL_WC_WRITES)
		rights |= IBV_ACCESS_REMOTE_WRITE;
	if (here->types & RDMAEZ_IMPL_WC_ANSWERS && here->requests & RDMAEZ_IMPL_WC_READ)
		rights |= IBV_ACCESS_REMOTE_READ;
	if (here->types & RDMAEZ_IMPL_WC_ANSWERS && here->requests & RDMAEZ_IMPL_WC_ATOMIC)
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	return rights;
}

/*
 * Suspects the access flags of this end, which may refuse requests. If the failure is of a request,
 * the peer has refused it, and the peer's flags may be others: those have a row of their own. On
 * iWARP there are no flags to read: siw_query_qp() and erdma_query_qp() report constants, and
 * c4iw_ib_query_qp() reports zero.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_rights(struct rdmaez_impl_wc_case *here,
					     const struct rdmaez_impl_wc_row *row)
{
	const unsigned int rights = rdmaez_impl_wc_rights_of(here);
	const unsigned int lacking = rights & ~here->now.attr.qp_access_flags;

	if (lacking && here->opcode < 0 && rdmaez_impl_wc_knows(here, row->need) &&
	    !rdmaez_impl_wc_iwarp(here))
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_ACCESS, lacking, 0, rights);
}

/* Suspects the depths of this end, which may refuse requests. On iWARP they mean something else. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_depth(struct rdmaez_impl_wc_case *here,
					    const struct rdmaez_impl_wc_row *row)
{
	static const struct rdmaez_impl_site no_depth = {
		"max_dest_rd_atomic", RDMAEZ_WHY_DEPTH_ZERO, RDMAEZ_VALUE_NUMBER, 1, 255};
	const struct ibv_qp_attr *attr = &here->now.attr;

	if (!rdmaez_impl_wc_knows(here, row->need) || rdmaez_impl_wc_iwarp(here))
		return;
	if (!attr->max_dest_rd_atomic)
		rdmaez_impl_wc_find(here, &no_depth, 0);
	else if (here->types == RDMAEZ_IMPL_WC_RC && attr->max_rd_atomic > attr->max_dest_rd_atomic)
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NUMBER, attr->max_rd_atomic, 0,
				       attr->max_dest_rd_atomic);
}

/* ---- The causes ------------------------------------------------------------------------------ */

/* clang-format off */

/* A row has sets of bits and the reason, without the beginning that their names have in common. */
#define RDMAEZ_IMPL_WC_ROW(status, queues, types, requests, driver, need, why, field)        \
	{status, RDMAEZ_IMPL_WC_##queues, RDMAEZ_IMPL_WC_##types, RDMAEZ_IMPL_WC_##requests, \
	 RDMAEZ_DRIVER_CAUSES_##driver, RDMAEZ_WHY_##why, need, field}

/* The rows of a status stand in the order in which a person would look. */
RDMAEZ_IMPL_COLD const struct rdmaez_impl_wc_row *rdmaez_impl_wc_rows(size_t *count)
{
	static const struct rdmaez_impl_wc_row rows[] = {
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, RQ, UD, ANY, ALL, 0,
				   WC_GRH_ROOM, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_RECV_SHORT, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, RQ, CONNECTED, ANY, ALL, IBV_QP_PATH_MTU,
				   WC_PEER_MTU, "path_mtu"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, SQ, UD, SENDS, ALL, IBV_QP_PORT,
				   WC_LIMIT, "port_attr.active_mtu"),
		/*
		 * A peer answers a READ in packets of its own path MTU, which are too long or too
		 * short for this end's.
		 */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, SQ, RETRIES, READ, ALL, IBV_QP_PATH_MTU,
				   WC_PEER_MTU, "path_mtu"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, SQ, NOT_UD, BYTES, ALL, IBV_QP_PORT,
				   WC_LIMIT, "port_attr.max_msg_sz"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, SQ, RETRIES, ATOMIC, ALL, 0,
				   WR_ATOMIC, "sg_list"),
		/*
		 * In rdma-core's providers/cxgb4/cq.c, T4_ERR_BOUND is a violation of a region's
		 * bounds.
		 */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_LEN_ERR, ANY_Q, ANY_TYPE, ANY, CXGB4, 0,
				   WC_BOUNDS, "sg_list.addr"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, ANY, ALL, 0,
				   WR_OPCODE, "opcode"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, BY_AH, SENDS, ALL, 0,
				   WC_AH, "wr.ud.ah"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PACKETS, ALL, IBV_QP_CAP,
				   WC_LIMIT, "cap.max_send_sge"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PUSH, ALL, IBV_QP_CAP,
				   WC_LIMIT, "cap.max_inline_data"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, RETRIES, FETCH, ALL, IBV_QP_MAX_QP_RD_ATOMIC,
				   WC_LIMIT, "max_rd_atomic"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, RQ, ANY_TYPE, ANY, ALL, IBV_QP_CAP,
				   WC_LIMIT, "cap.max_recv_sge"),
		/*
		 * finish_packet() gets EHOSTUNREACH from prepare4() and prepare6() if the kernel
		 * has no route. So it does if the interface is down, or the GID's address is gone.
		 */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PACKETS, RXE, IBV_QP_PORT,
				   PORT_DOWN, "port_attr.state"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, CONNECTED, PACKETS, RXE, IBV_QP_PORT | IBV_QP_AV,
				   PATH_EMPTY, "ah_attr.dlid"),
		/*
		 * In rxe_requester(), finish_packet() gets EINVAL from copy_data() if lookup_mr()
		 * finds no region of this lkey and PD. rxe_get_av() may find no address handle. For
		 * a receive, send_data_in() turns everything that copy_data() refuses into
		 * RESPST_ERR_MALFORMED_WQE, even a receive that is too short.
		 */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PUSH, RXE, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, UD, SENDS, RXE, 0,
				   WC_AH, "wr.ud.ah"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PACKETS, RXE, 0,
				   NO_ROUTE, "ah_attr.grh.dgid"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, LOCAL, RXE, 0,
				   WR_OPCODE, "opcode"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, RQ, UD, ANY, RXE, 0,
				   WC_GRH_ROOM, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, RQ, ANY_TYPE, ANY, RXE, 0,
				   WC_RECV_SHORT, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, RQ, ANY_TYPE, ANY, RXE, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, RQ, ANY_TYPE, ANY, RXE, 0,
				   WC_BOUNDS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, RQ, ANY_TYPE, ANY, RXE, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),
		/*
		 * siw_qp_sq_process() reports whatever goes wrong in siw_check_sgl_tx() or on the
		 * socket.
		 */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PUSH, SIW, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PUSH, SIW, 0,
				   WC_BOUNDS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, SQ, ANY_TYPE, PACKETS, SIW, 0,
				   WC_CONNECTION, "status"),
		/* rdma-core's providers/efa/verbs.c, to_ibv_status(): LOCAL_ERROR_UNSUPPORTED_OP and _INVALID_AH. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, ANY_Q, ANY_TYPE, ANY, EFA, 0,
				   WR_OPCODE, "opcode"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_QP_OP_ERR, ANY_Q, ANY_TYPE, ANY, EFA, 0,
				   WC_AH, "wr.ud.ah"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, ANY_Q, ANY_TYPE, ANY, ALL, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, SQ, ANY_TYPE, READ, ALL, 0,
				   WC_IWARP_READ, "access"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, ANY_Q, ANY_TYPE, ANY, ALL, 0,
				   WC_GPU_PATH, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, ANY_Q, ANY_TYPE, ANY, ALL, 0,
				   WC_BOUNDS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, ANY_Q, ANY_TYPE, ANY, ALL, 0,
				   WC_GPU_ACS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, SQ, ANY_TYPE, FETCH, ALL, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),
		/*
		 * rxe_requester() gets EFAULT from mr_check_range(). do_read() and do_atomic()
		 * report all that they refuse in this way.
		 */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, SQ, ANY_TYPE, ANY, RXE, 0,
				   WC_BOUNDS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, SQ, ANY_TYPE, FETCH, RXE, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_PROT_ERR, SQ, ANY_TYPE, FETCH, RXE, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, SQ, ANY_TYPE, ANY, ALL, 0,
				   WC_FLUSHED, "status"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_FLUSHED_RECV, "status"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, ANY_Q, ANSWERS, ANY, ALL, 0,
				   WC_RESPONDER, "status"),
		/* rxe_completer() of Linux 6.12 flushes what rxe_requester() has marked as failed. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, SQ, ANY_TYPE, PACKETS, RXE, IBV_QP_PORT,
				   PORT_DOWN, "port_attr.state"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, SQ, CONNECTED, PACKETS, RXE, IBV_QP_PORT | IBV_QP_AV,
				   PATH_EMPTY, "ah_attr.dlid"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, SQ, ANY_TYPE, ANY, RXE, 0,
				   WC_FLUSHED, "status"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, SQ, ANY_TYPE, PACKETS, RXE, 0,
				   WC_FLUSHED_OWN, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, RQ, ANY_TYPE, ANY, RXE, 0,
				   WC_FLUSHED_RECV, "status"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, ANY_Q, ANSWERS, ANY, RXE, 0,
				   WC_RESPONDER, "status"),
		/* siw_qp_cm_drop() and siw_sq_flush() after a TERMINATE of the peer. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_WR_FLUSH_ERR, ANY_Q, ANY_TYPE, ANY, ALL, 0,
				   WC_IWARP, "status"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_PEER_REQUEST, "wr.rdma.rkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, RQ, ANY_TYPE, ANY, ALL, IBV_QP_ACCESS_FLAGS,
				   WC_ACCESS, "qp_access_flags"),
		/* rdma-core's providers/erdma/erdma_verbs.c, map_cqe_status[]: ERDMA_WC_SEND_*, of the request's SGEs. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, ANY_Q, ANY_TYPE, ANY, ERDMA, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, SQ, ANY_TYPE, READ, ERDMA, 0,
				   WC_IWARP_READ, "access"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, ANY_Q, ANY_TYPE, ANY, ERDMA, 0,
				   WC_BOUNDS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, ANY_Q, ANY_TYPE, FETCH, ERDMA, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),
		/* providers/cxgb4/cq.c: T4_ERR_STAG, T4_ERR_QPID and T4_ERR_ACCESS, of requests and receives. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, ANY_Q, ANY_TYPE, ANY, CXGB4, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, SQ, ANY_TYPE, READ, CXGB4, 0,
				   WC_IWARP_READ, "access"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, ANY_Q, ANY_TYPE, FETCH, CXGB4, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),
		/* providers/mana/cq.c: VENDOR_ERR_RX_ATB_SGE_ADDR_RIGHT. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_LOC_ACCESS_ERR, ANY_Q, ANY_TYPE, ANY, MANA, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),

		/*
		 * Of WRITE, READ and atomics the missing right is what people report most: pull
		 * request 11174 of ROCm/rocm-systems. Path MTUs follow: issue 3868 of
		 * kvcache-ai/Mooncake.
		 */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, CONNECTED, REMOTE, ALL, 0,
				   WC_PEER_RIGHT, "qp_access_flags"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, ANY_TYPE, REMOTE, ALL, IBV_QP_ACCESS_FLAGS,
				   WC_ACCESS, "qp_access_flags"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, ANY_TYPE, SENDS, ALL, 0,
				   WC_PEER_RECV, "sg_list"),
		/* A packet of another size than the responder's path MTU makes it: check_rkey() of rxe_resp.c. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, RETRIES, PUSH, ALL, IBV_QP_PATH_MTU,
				   WC_PEER_MTU, "path_mtu"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, RETRIES, FETCH, ALL, 0,
				   WC_PEER_DEPTH, "max_dest_rd_atomic"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, ANSWERS, FETCH, ALL,
				   IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, WC_DEPTH_ABOVE, "max_rd_atomic"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, RETRIES, ATOMIC, ALL, 0,
				   WR_ATOMIC, "wr.atomic.remote_addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, SQ, RETRIES, ATOMIC, ALL, 0,
				   WC_PEER_OPCODE, "opcode"),
		/* rxe: rxe_responder() and do_complete(); siw: siw_rdmap_complete(); bnxt_re: BNXT_RE_RSP_ST_REM_INVAL. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_RESPONDER, "status"),
		/* to_ibv_status(): REMOTE_ERROR_BAD_LENGTH and REMOTE_ERROR_FEATURE_MISMATCH. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, ANY_Q, ANY_TYPE, SENDS, EFA, 0,
				   WC_PEER_RECV, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_REQ_ERR, ANY_Q, ANY_TYPE, REMOTE, EFA, 0,
				   WC_PEER_OPCODE, "opcode"),
		/* to_ibv_status(): REMOTE_ERROR_BAD_DEST_QPN. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_INV_RD_REQ_ERR, ANY_Q, ANY_TYPE, ANY, EFA, 0,
				   WC_REMOTE_QPN, "wr.ud.remote_qpn"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, ATOMIC, ALL, 0,
				   WC_REGION_RIGHT, "access"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, RDMA, ALL, 0,
				   WC_RKEY, "wr.rdma.rkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, ATOMIC, ALL, 0,
				   WC_RKEY, "wr.atomic.rkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, SEND_INV, ALL, 0,
				   WC_RKEY, "invalidate_rkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, RDMA, ALL, 0,
				   WC_REMOTE_BOUNDS, "wr.rdma.remote_addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, ATOMIC, ALL, 0,
				   WC_REMOTE_BOUNDS, "wr.atomic.remote_addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, RDMA, ALL, 0,
				   WC_REGION_RIGHT, "access"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, SQ, ANY_TYPE, REMOTE, ALL, IBV_QP_ACCESS_FLAGS,
				   WC_ACCESS, "qp_access_flags"),
		/* rxe_responder(): the receive that a WRITE with immediate had taken. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_RESPONDER, "status"),
		/* map_cqe_status[]: ERDMA_WC_RECV_*, of the receive's SGEs. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, ANY_Q, ANY_TYPE, ANY, ERDMA, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, ANY_Q, ANY_TYPE, ANY, ERDMA, 0,
				   WC_BOUNDS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_ACCESS_ERR, ANY_Q, ANY_TYPE, ANY, ERDMA, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_OP_ERR, SQ, ANY_TYPE, SENDS, ALL, 0,
				   WC_PEER_BUFFER, "sg_list"),
		/* send_data_in() of the peer, as above; providers/mana/cq.c: VENDOR_ERR_RX_INVALID_REQ_NAK. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_OP_ERR, ANY_Q, ANY_TYPE, SENDS, RXE, 0,
				   WC_PEER_RECV, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_OP_ERR, ANY_Q, ANY_TYPE, SENDS, RXE, 0,
				   WC_PEER_BUFFER, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_OP_ERR, ANY_Q, ANY_TYPE, SENDS, MANA, 0,
				   WC_PEER_RECV, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_OP_ERR, ANY_Q, ANY_TYPE, SENDS, MANA, 0,
				   WC_PEER_BUFFER, "sg_list"),
		/* to_ibv_status(): REMOTE_ERROR_UNKNOWN_PEER. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_REM_OP_ERR, ANY_Q, ANY_TYPE, ANY, EFA, 0,
				   WC_PEER_AH, "wr.ud.ah"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, ANY_TYPE, ANY, ALL, IBV_QP_PORT,
				   PORT_DOWN, "port_attr.state"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, CONNECTED, ANY, ALL, IBV_QP_PORT | IBV_QP_AV,
				   PATH_EMPTY, "ah_attr.dlid"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, CONNECTED, ANY, ALL, IBV_QP_PORT | IBV_QP_PATH_MTU,
				   MTU_ABOVE_ACTIVE, "path_mtu"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, ANY_TYPE, ANY, ALL, IBV_QP_PORT | IBV_QP_PKEY_INDEX,
				   PKEY_LIMITED, "pkey_index"),
		/* What was measured stands before what is only usual. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, RETRIES, ANY, ALL, IBV_QP_PORT,
				   COUNTED_LOSS, "counters"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, RETRIES, ANY, ALL, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT,
				   WC_RETRIES, "timeout"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, RETRIES, ANY, ALL, IBV_QP_PORT,
				   WC_PEER_GID, "ah_attr.grh.sgid_index"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, RETRIES, ANY, ALL, 0,
				   WC_PEER_GONE, "status"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RETRY_EXC_ERR, ANY_Q, RETRIES, ANY, ALL, IBV_QP_PORT,
				   WC_FABRIC, "status"),
		/* to_ibv_status(): LOCAL_ERROR_UNRESP_REMOTE and LOCAL_ERROR_UNREACH_REMOTE. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RESP_TIMEOUT_ERR, ANY_Q, BY_AH, ANY, ALL, 0,
				   WC_PEER_SILENT, "wr.ud.ah"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RESP_TIMEOUT_ERR, ANY_Q, CONNECTED, ANY, ALL, 0,
				   WC_PEER_SILENT, "ah_attr"),

		RDMAEZ_IMPL_WC_ROW(IBV_WC_RNR_RETRY_EXC_ERR, ANY_Q, RNRS, ANY, ALL, IBV_QP_RNR_RETRY,
				   WC_RNR, "rnr_retry"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_RNR_RETRY_EXC_ERR, ANY_Q, RC, ANY, ALL, IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER,
				   WC_RNR_TIMER, "min_rnr_timer"),


		/* siw_proc_send(): siw_check_sge() refuses the receive, and siw_rdmap_complete() has no status for it. */
		RDMAEZ_IMPL_WC_ROW(IBV_WC_GENERAL_ERR, RQ, ANY_TYPE, ANY, SIW, 0,
				   WC_LKEY, "sg_list.lkey"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_GENERAL_ERR, RQ, ANY_TYPE, ANY, SIW, 0,
				   WC_BOUNDS, "sg_list.addr"),
		RDMAEZ_IMPL_WC_ROW(IBV_WC_GENERAL_ERR, RQ, ANY_TYPE, ANY, SIW, 0,
				   WC_LOCAL_WRITE, "sg_list.lkey"),

		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_REQ_EVENT, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_RECV_SHORT, "sg_list"),
		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_REQ_EVENT, RQ, ANSWERS, ANY, ALL,
				   IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC, WC_DEPTH_ABOVE, "max_rd_atomic"),
		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_REQ_EVENT, RQ, ANY_TYPE, ANY, ALL, IBV_QP_ACCESS_FLAGS,
				   WC_ACCESS, "qp_access_flags"),
		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_REQ_EVENT, RQ, CONNECTED, ANY, ALL, IBV_QP_PATH_MTU,
				   WC_PEER_MTU, "path_mtu"),
		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_ACCESS_EVENT, RQ, ANY_TYPE, ANY, ALL, 0,
				   WC_PEER_REQUEST, "wr.rdma.rkey"),
		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_ACCESS_EVENT, RQ, ANY_TYPE, ANY, ALL, IBV_QP_ACCESS_FLAGS,
				   WC_ACCESS, "qp_access_flags"),
		/* siw_proc_send() sends this event for a receive of its own, too. */
		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_ACCESS_EVENT, RQ, ANY_TYPE, ANY, SIW, 0,
				   WC_PEER_REQUEST, "wr.rdma.rkey"),
		RDMAEZ_IMPL_WC_ROW(RDMAEZ_IMPL_WC_ACCESS_EVENT, RQ, ANY_TYPE, ANY, SIW, 0,
				   WC_LKEY, "sg_list.lkey"),
	};

	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

#undef RDMAEZ_IMPL_WC_ROW

/* clang-format on */

/*
 * Returns whether a row is of this status and queue. A peer that did not answer in time was perhaps
 * not reached.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_wc_of(const struct rdmaez_impl_wc_case *here,
					 const struct rdmaez_impl_wc_row *row)
{
	if (!(row->queues & here->queues))
		return false;
	if (here->status == IBV_WC_RESP_TIMEOUT_ERR && row->status == IBV_WC_RETRY_EXC_ERR)
		return row->types != RDMAEZ_IMPL_WC_RETRIES; /* those are about the retries */
	return row->status == here->status;
}

/*
 * Returns the next row before `end`, from `row` on, that fits the failure and this driver, or NULL.
 */
RDMAEZ_IMPL_COLD const struct rdmaez_impl_wc_row *
rdmaez_impl_wc_next(const struct rdmaez_impl_wc_case *here, const struct rdmaez_impl_wc_row *row,
		    const struct rdmaez_impl_wc_row *end, int causes)
{
	for (; row < end; row++)
		if (rdmaez_impl_wc_of(here, row) && row->types & here->types &&
		    row->requests & here->requests && row->causes == causes)
			return row;
	return NULL;
}

/* ---- What is asked --------------------------------------------------------------------------- */

/* Asks the queue pair for what the rows need, as far as its driver tells it, and for its port. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_ask(struct rdmaez_impl_wc_case *here, int need)
{
	rdmaez_impl_qp_ask_now(here->qp, here->driver, need | IBV_QP_STATE, &here->now);
	if (!here->now.known && here->now.error)
		rdmaez_impl_wc_failed_to(here, here->now.error, "ibv_query_qp");
	if (here->diag && here->now.known & IBV_QP_STATE)
		here->diag->from = (int)here->now.attr.qp_state;
}

RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_ask_port(struct rdmaez_impl_wc_case *here, int need)
{
	int error;

	here->port_num =
		need & IBV_QP_PORT ? rdmaez_impl_qp_now_port(&here->now, &here->device) : 0;
	if (!here->port_num)
		return;
	error = rdmaez_impl_port_query(here->qp->context, here->port_num, &here->port, NULL);
	if (error) {
		rdmaez_impl_wc_failed_to(here, error, "ibv_query_port");
		here->port_num = 0;
	}
}

/*
 * Forgets the attributes after a reset, because they are then none, or those of a later connection.
 */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_after_reset(struct rdmaez_impl_wc_case *here)
{
	static const struct rdmaez_impl_site reset = {"qp_state", RDMAEZ_WHY_WC_RESET,
						      RDMAEZ_VALUE_STATE_NOW, 0, 1 << IBV_QPS_ERR};

	if (!(here->now.known & IBV_QP_STATE) || here->now.attr.qp_state > IBV_QPS_INIT)
		return;
	rdmaez_impl_wc_find(here, &reset, (uint64_t)here->now.attr.qp_state);
	here->now.known = 0;
}

/* Adds the finding of a row, if it has one. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_judge(struct rdmaez_impl_wc_case *here,
					   const struct rdmaez_impl_wc_row *row)
{
	switch ((int)row->why) {
	case RDMAEZ_WHY_WR_OPCODE:
	case RDMAEZ_WHY_WC_PEER_OPCODE:
		rdmaez_impl_wc_opcode(here, row);
		return;
	case RDMAEZ_WHY_WC_GRH_ROOM:
	case RDMAEZ_WHY_WC_RECV_SHORT:
		rdmaez_impl_wc_room(here, row);
		return;
	case RDMAEZ_WHY_WC_LIMIT:
		rdmaez_impl_wc_limit(here, row);
		return;
	case RDMAEZ_WHY_PORT_DOWN:
		if (here->port_num)
			rdmaez_impl_reach_port(&here->port, RDMAEZ_DIAG_LIKELY, here->diag);
		return;
	case RDMAEZ_WHY_WC_PEER_MTU:
		rdmaez_impl_wc_own_mtu(here, row);
		return;
	case RDMAEZ_WHY_PATH_EMPTY:
		rdmaez_impl_wc_path(here, row);
		return;
	case RDMAEZ_WHY_MTU_ABOVE_ACTIVE:
		rdmaez_impl_wc_mtu(here, row);
		return;
	case RDMAEZ_WHY_PKEY_LIMITED:
		rdmaez_impl_wc_pkey(here, row);
		return;
	case RDMAEZ_WHY_WC_RETRIES:
		rdmaez_impl_wc_retries(here, row);
		return;
	case RDMAEZ_WHY_WC_RNR:
		rdmaez_impl_wc_rnr(here, row);
		return;
	case RDMAEZ_WHY_WC_RNR_TIMER:
		rdmaez_impl_wc_rnr_timer(here, row);
		return;
	case RDMAEZ_WHY_WC_ACCESS:
		rdmaez_impl_wc_rights(here, row);
		return;
	case RDMAEZ_WHY_WC_DEPTH_ABOVE:
		rdmaez_impl_wc_depth(here, row);
		return;
	case RDMAEZ_WHY_WC_IWARP:
		if (!rdmaez_impl_wc_iwarp(here))
			return;
		break;
	case RDMAEZ_WHY_WC_PEER_GONE:
		if (here->is_acked)
			return;
		break;
	case RDMAEZ_WHY_WC_PEER_GID:
		if (here->is_acked || !here->is_v1)
			return;
		break;
	case RDMAEZ_WHY_COUNTED_LOSS:
		if (here->port_num)
			rdmaez_impl_reach_loss(here->qp->context, here->port_num, here->diag);
		return;
	case RDMAEZ_WHY_WC_REGION_RIGHT:
	case RDMAEZ_WHY_WC_PEER_RIGHT:
		rdmaez_impl_wc_peer_right(here, row);
		return;
	case RDMAEZ_WHY_WC_IWARP_READ:
		if (!rdmaez_impl_wc_sink(here))
			return;
		break;
	case RDMAEZ_WHY_WC_GPU_PATH:
	case RDMAEZ_WHY_WC_GPU_ACS:
		if (!rdmaez_impl_wc_gpu(row->why == RDMAEZ_WHY_WC_GPU_PATH))
			return;
		break;
	default:
		break;
	}
	if (!rdmaez_diag_find(here->diag, (enum rdmaez_why)row->why))
		rdmaez_impl_wc_suspect(here, row, RDMAEZ_VALUE_NONE, 0, 0, 0);
}

/* ---- One failure ----------------------------------------------------------------------------- */

/* Says at which end to look, if no row has a finding. If an event has none, it says nothing. */
RDMAEZ_IMPL_SMALL void rdmaez_impl_wc_look_at(const struct rdmaez_impl_wc_case *here)
{
	const uint32_t remote =
		UINT32_C(1) << IBV_WC_BAD_RESP_ERR | UINT32_C(1) << IBV_WC_REM_INV_REQ_ERR |
		UINT32_C(1) << IBV_WC_REM_ACCESS_ERR | UINT32_C(1) << IBV_WC_REM_OP_ERR |
		UINT32_C(1) << IBV_WC_RNR_RETRY_EXC_ERR | UINT32_C(1) << IBV_WC_REM_INV_RD_REQ_ERR |
		UINT32_C(1) << IBV_WC_REM_ABORT_ERR;
	const bool peer = here->queues & RDMAEZ_IMPL_WC_SQ && here->status < 32 &&
			  (remote >> here->status & 1);

	if (here->status != IBV_WC_SUCCESS)
		rdmaez_impl_find_plain(here->diag, RDMAEZ_DIAG_LIKELY,
				       peer ? RDMAEZ_WHY_WC_AT_PEER : RDMAEZ_WHY_WC_NO_MORE,
				       "status");
}

/* Ends with the questions that were not answered. */
RDMAEZ_IMPL_SMALL int rdmaez_impl_wc_end(const struct rdmaez_impl_wc_case *here)
{
	for (int i = 0; i < here->failed; i++)
		rdmaez_impl_find_plain(here->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_QUERY_REFUSED,
				       here->verb[i]);
	if (here->diag && here->failed) {
		here->diag->error = here->error;
		here->diag->verb = here->verb[here->failed - 1];
	}
	return here->error;
}

/* Adds what the rows find. Returns the errno value of a question that has failed. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_narrow(struct rdmaez_impl_wc_case *here)
{
	static const struct rdmaez_impl_site lacks = {"opcode", RDMAEZ_WHY_WR_OPCODE,
						      RDMAEZ_VALUE_OPCODE, 0, 0};
	/*
	 * rxe's next_opcode() refuses it, and other drivers do the like, before anything else is
	 * looked at.
	 */
	const bool alone = here->status == IBV_WC_LOC_QP_OP_ERR &&
			   here->queues & RDMAEZ_IMPL_WC_SQ && rdmaez_impl_wc_lacks(here);
	size_t count;
	const struct rdmaez_impl_wc_row *const rows = rdmaez_impl_wc_rows(&count);
	const struct rdmaez_impl_wc_row *const end = rows + (alone ? 0 : count);
	const struct rdmaez_impl_wc_row *row;
	int need = 0, causes = RDMAEZ_DRIVER_CAUSES_ALL;

	if (rdmaez_impl_wc_next(here, rows, end, here->driver->causes))
		causes = here->driver->causes;
	for (row = rows; (row = rdmaez_impl_wc_next(here, row, end, causes)); row++)
		need |= row->need;
	rdmaez_impl_wc_ask(here, need);
	if (!here->diag)
		return here->error;
	if (need)
		rdmaez_impl_wc_after_reset(here);
	rdmaez_impl_wc_ask_port(here, need);
	if (here->is_acked && here->status == IBV_WC_RETRY_EXC_ERR)
		rdmaez_impl_find_plain(here->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_WC_PEER_WAS,
				       "status");
	for (row = rows; (row = rdmaez_impl_wc_next(here, row, end, causes)); row++)
		rdmaez_impl_wc_judge(here, row);
	if (alone)
		rdmaez_impl_wc_find(here, &lacks, (uint64_t)here->opcode);
	else if (!here->diag->count)
		rdmaez_impl_wc_look_at(here);
	return rdmaez_impl_wc_end(here);
}

/*
 * Returns the name of a status, a literal. rdmaez_wc_explain() has it too, but brings all its texts
 * along.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_wc_name(int status)
{
	static const char names[][26] = {"IBV_WC_SUCCESS",
					 "IBV_WC_LOC_LEN_ERR",
					 "IBV_WC_LOC_QP_OP_ERR",
					 "IBV_WC_LOC_EEC_OP_ERR",
					 "IBV_WC_LOC_PROT_ERR",
					 "IBV_WC_WR_FLUSH_ERR",
					 "IBV_WC_MW_BIND_ERR",
					 "IBV_WC_BAD_RESP_ERR",
					 "IBV_WC_LOC_ACCESS_ERR",
					 "IBV_WC_REM_INV_REQ_ERR",
					 "IBV_WC_REM_ACCESS_ERR",
					 "IBV_WC_REM_OP_ERR",
					 "IBV_WC_RETRY_EXC_ERR",
					 "IBV_WC_RNR_RETRY_EXC_ERR",
					 "IBV_WC_LOC_RDD_VIOL_ERR",
					 "IBV_WC_REM_INV_RD_REQ_ERR",
					 "IBV_WC_REM_ABORT_ERR",
					 "IBV_WC_INV_EECN_ERR",
					 "IBV_WC_INV_EEC_STATE_ERR",
					 "IBV_WC_FATAL_ERR",
					 "IBV_WC_RESP_TIMEOUT_ERR",
					 "IBV_WC_GENERAL_ERR",
					 "IBV_WC_TM_ERR",
					 "IBV_WC_TM_RNDV_INCOMPLETE"};

	return (unsigned int)status < sizeof(names) / sizeof(names[0]) ? names[status] : "unknown";
}

/* Returns the bit of a queue pair type. */
RDMAEZ_IMPL_COLD uint8_t rdmaez_impl_wc_type(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_RC:
		return RDMAEZ_IMPL_WC_RC;
	case IBV_QPT_UC:
		return RDMAEZ_IMPL_WC_UC;
	case IBV_QPT_UD:
		return RDMAEZ_IMPL_WC_UD;
	case IBV_QPT_XRC_SEND:
		return RDMAEZ_IMPL_WC_XRC_SEND;
	case IBV_QPT_XRC_RECV:
		return RDMAEZ_IMPL_WC_XRC_RECV;
	default:
		return RDMAEZ_IMPL_WC_OTHER;
	}
}

/*
 * Returns the bit of a kind of request. IBV_WR_ATOMIC_WRITE, which an older verbs.h lacks, is a
 * WRITE.
 */
RDMAEZ_IMPL_SMALL uint8_t rdmaez_impl_wc_request(int opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_TSO:
		return RDMAEZ_IMPL_WC_SEND;
	case IBV_WR_SEND_WITH_INV:
		return RDMAEZ_IMPL_WC_SEND_INV;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return RDMAEZ_IMPL_WC_WRITE_IMM;
	case IBV_WR_RDMA_WRITE:
	case 15:
		return RDMAEZ_IMPL_WC_WRITE;
	case IBV_WR_RDMA_READ:
		return RDMAEZ_IMPL_WC_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return RDMAEZ_IMPL_WC_ATOMIC;
	default:
		return RDMAEZ_IMPL_WC_LOCAL;
	}
}

/* Begins a case, of which nothing is known but the queue pair, its device and its driver. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_begin(struct rdmaez_impl_wc_case *here, struct ibv_qp *qp,
					   struct rdmaez_diag *diag)
{
	memset(here, 0, sizeof(*here));
	here->qp = qp;
	here->diag = diag;
	here->types = rdmaez_impl_wc_type(qp->qp_type);
	here->requests = RDMAEZ_IMPL_WC_ANY;
	here->opcode = -1;
	here->room = -1;
	rdmaez_impl_diag_qp(diag, qp);
	(void)rdmaez_impl_ask_device(qp->context, &here->device, &here->driver, diag);
}

/*
 * Explains a completion of a send queue, a receive queue or either, as the `queues` of the case
 * say.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_explain(struct rdmaez_impl_wc_case *here,
					    const struct ibv_wc *wc)
{
	const unsigned int status = (unsigned int)wc->status, beyond = RDMAEZ_IMPL_WC_REQ_EVENT;

	here->status = (uint8_t)(status < beyond ? status : beyond - 1);
	if (here->types == RDMAEZ_IMPL_WC_XRC_SEND)
		here->queues &= RDMAEZ_IMPL_WC_SQ;
	else if (here->types == RDMAEZ_IMPL_WC_XRC_RECV)
		here->queues &= RDMAEZ_IMPL_WC_RQ;
	return rdmaez_impl_wc_narrow(here);
}

/* Notes which completion a record is about. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_note(const struct ibv_wc *wc, struct rdmaez_diag *diag)
{
	if (!diag)
		return;
	diag->status = rdmaez_impl_wc_name((int)wc->status);
	diag->status_code = (int)wc->status;
	diag->wr_id = wc->wr_id;
	diag->vendor_err = wc->vendor_err;
}

/*
 * Starts the record of a completion. Returns EINVAL if the completion or its queue pair is missing,
 * or if they do not belong together.
 */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_start(struct rdmaez_impl_wc_case *here, const char *call,
					  const struct ibv_wc *wc, struct ibv_qp *qp,
					  struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site other = {"qp_num", RDMAEZ_WHY_WC_OTHER_QP,
						      RDMAEZ_VALUE_NUMBER, 0, 0};

	rdmaez_impl_diag_reset(diag, call);
	if (!wc || !qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, wc ? "qp" : "wc");
	rdmaez_impl_wc_note(wc, diag);
	if (wc->qp_num != qp->qp_num)
		return rdmaez_impl_refuse_within(diag, EINVAL, &other, wc->qp_num, qp->qp_num,
						 qp->qp_num);
	rdmaez_impl_wc_begin(here, qp, diag);
	here->queues = RDMAEZ_IMPL_WC_ANY_Q;
	return 0;
}

RDMAEZ_SEAM int rdmaez_impl_tell_wc_explain_qp(const struct ibv_wc *wc, struct ibv_qp *qp,
					       struct rdmaez_diag *diag)
{
	struct rdmaez_impl_wc_case here;
	const int error = rdmaez_impl_wc_start(&here, "rdmaez_wc_explain_qp", wc, qp, diag);

	return error ? error : rdmaez_impl_wc_explain(&here, wc);
}

RDMAEZ_SEAM int rdmaez_impl_tell_wc_explain_send(const struct ibv_wc *wc, struct ibv_qp *qp,
						 const struct ibv_send_wr *wr,
						 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_wc_case here;
	const int error = rdmaez_impl_wc_start(&here, "rdmaez_wc_explain_send", wc, qp, diag);

	if (error)
		return error;
	here.queues = RDMAEZ_IMPL_WC_SQ;
	if (wr) {
		here.opcode = (int)wr->opcode;
		here.requests = rdmaez_impl_wc_request(here.opcode);
	}
	return rdmaez_impl_wc_explain(&here, wc);
}

RDMAEZ_SEAM int rdmaez_impl_tell_wc_explain_recv(const struct ibv_wc *wc, struct ibv_qp *qp,
						 const struct ibv_recv_wr *wr,
						 struct rdmaez_diag *diag)
{
	struct rdmaez_impl_wc_case here;
	const int error = rdmaez_impl_wc_start(&here, "rdmaez_wc_explain_recv", wc, qp, diag);

	if (error)
		return error;
	here.queues = RDMAEZ_IMPL_WC_RQ;
	if (wr) {
		here.room = 0;
		for (int i = 0; wr->sg_list && i < wr->num_sge; i++)
			here.room += wr->sg_list[i].length;
	}
	return rdmaez_impl_wc_explain(&here, wc);
}

/* Returns the name of a queue pair's event, or NULL if the event is of another object. */
RDMAEZ_IMPL_SMALL const char *rdmaez_impl_event_of_qp(int type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
		return "IBV_EVENT_QP_FATAL";
	case IBV_EVENT_QP_REQ_ERR:
		return "IBV_EVENT_QP_REQ_ERR";
	case IBV_EVENT_QP_ACCESS_ERR:
		return "IBV_EVENT_QP_ACCESS_ERR";
	case IBV_EVENT_COMM_EST:
		return "IBV_EVENT_COMM_EST";
	case IBV_EVENT_SQ_DRAINED:
		return "IBV_EVENT_SQ_DRAINED";
	case IBV_EVENT_PATH_MIG:
		return "IBV_EVENT_PATH_MIG";
	case IBV_EVENT_PATH_MIG_ERR:
		return "IBV_EVENT_PATH_MIG_ERR";
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return "IBV_EVENT_QP_LAST_WQE_REACHED";
	default:
		return NULL;
	}
}

RDMAEZ_SEAM int rdmaez_impl_tell_event_explain_qp(const struct ibv_async_event *event,
						  struct rdmaez_diag *diag)
{
	struct rdmaez_impl_wc_case here;
	const char *name;

	rdmaez_impl_diag_reset(diag, "rdmaez_event_explain_qp");
	if (!event)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "event");
	name = rdmaez_impl_event_of_qp((int)event->event_type);
	if (!name)
		return 0;
	if (!event->element.qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "element.qp");
	if (diag)
		diag->event = name;
	rdmaez_impl_wc_begin(&here, event->element.qp, diag);
	here.queues = RDMAEZ_IMPL_WC_RQ;
	if (event->event_type == IBV_EVENT_QP_REQ_ERR)
		here.status = RDMAEZ_IMPL_WC_REQ_EVENT;
	else if (event->event_type == IBV_EVENT_QP_ACCESS_ERR)
		here.status = RDMAEZ_IMPL_WC_ACCESS_EVENT;
	return rdmaez_impl_wc_narrow(&here);
}

/*
 * Returns whether a completion before this one proves that the peer has acknowledged a request. It
 * does so if a send of an acknowledged type has succeeded. The PSN that a device reports is no
 * proof, because it counts what was sent.
 */
RDMAEZ_IMPL_SMALL bool rdmaez_impl_wc_was_acked(const struct ibv_wc *wc, const struct ibv_wc *end,
						const struct ibv_qp *qp)
{
	if (!(rdmaez_impl_wc_type(qp->qp_type) & RDMAEZ_IMPL_WC_RETRIES))
		return false;
	for (; wc < end; wc++)
		if (wc->status == IBV_WC_SUCCESS && wc->qp_num == qp->qp_num &&
		    (wc->opcode == IBV_WC_SEND || wc->opcode == IBV_WC_RDMA_WRITE ||
		     wc->opcode == IBV_WC_RDMA_READ || wc->opcode == IBV_WC_COMP_SWAP ||
		     wc->opcode == IBV_WC_FETCH_ADD))
			return true;
	return false;
}

/*
 * Explains that a completion of this queue pair or of another has failed, or that too few have come
 * for so many ns.
 */
RDMAEZ_SEAM void rdmaez_impl_wc_poll_explain(const struct ibv_cq *cq, struct ibv_qp *qp,
					     const struct rdmaez_wc_batch *batch,
					     uint64_t waited_ns, struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site unasked = {"qp_num", RDMAEZ_WHY_WC_UNASKED,
							RDMAEZ_VALUE_NUMBER, 0, 0};
	const struct ibv_wc *first = batch->wc, *own = NULL, *other;
	const char *const call = diag->call;
	int left = batch->count;

	if (waited_ns) {
		rdmaez_impl_late_wait(cq, qp, waited_ns, diag);
		return;
	}
	for (; first->status == IBV_WC_SUCCESS; left--)
		first++;
	if (qp)
		own = rdmaez_wc_first_error(first, left, qp->qp_num);
	if (own) {
		struct rdmaez_impl_wc_case here;

		if (!rdmaez_impl_wc_start(&here, "", own, qp, diag)) {
			here.is_acked =
				batch->answered || rdmaez_impl_wc_was_acked(batch->wc, own, qp);
			(void)rdmaez_impl_wc_explain(&here, own);
		}
		diag->call = call;
		diag->error = EIO;
		return;
	}
	other = rdmaez_wc_first_error(first, left, first->qp_num);
	diag->qp_num = 0;
	diag->qp_type = 0;
	rdmaez_impl_wc_note(other ? other : first, diag);
	rdmaez_impl_find(diag, RDMAEZ_DIAG_ADVICE, &unasked, first->qp_num);
}

RDMAEZ_IMPL_END

#endif
