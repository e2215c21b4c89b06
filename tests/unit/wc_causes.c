/* SPDX-License-Identifier: MIT */
/*
 * Why one work request failed, by status, queue, request and driver: every finding in full, as
 * rdmaez_diag_line() writes it.
 */
#include <limits.h>

#include "check.h"
#include "fixture.h"

static struct fake_device *dev;
static struct ibv_context *ctx;

/* A device with these ids; 0: of no known driver. */
static void new_device(uint32_t vendor_id)
{
	dev = fake_reset();
	if (vendor_id)
		dev->attr.orig_attr.vendor_id = vendor_id;
	ctx = fake_open(dev);
}

enum {
	RXE = 0xffffff,
	SIW = 0x626d74,
	EFA = 0x1d0f,
	ERDMA = 0x1ded,
	CXGB4 = 0x1425,
	MANA = 0x1414,
	IRDMA = 0x8086,
	MLX5 = 0x2c9
};

/* A queue pair that may do little, brought up and gone to ERR since. */
static struct ibv_qp *broken_qp(enum ibv_qp_type type, const struct rdmaez_qp_opts *given)
{
	struct ibv_qp *qp = fake_qp(ctx, type);
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	if (given)
		opts = *given;
	if (!opts.access)
		opts.access = type == IBV_QPT_UC ? IBV_ACCESS_REMOTE_WRITE
						 : IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	if (!opts.max_rd_atomic)
		opts.max_rd_atomic = 1;
	if (!opts.max_dest_rd_atomic)
		opts.max_dest_rd_atomic = 1;
	opts.dest_qp_num = 99;
	opts.path.dgid = gid_of("::ffff:192.0.2.99");
	opts.path.dlid = 4;
	if (type != IBV_QPT_DRIVER &&
	    (rdmaez_qp_to_init(qp, &opts, NULL) || rdmaez_qp_to_rtr(qp, &opts, NULL) ||
	     rdmaez_qp_to_rts(qp, &opts, NULL)))
		tap_bail("a queue pair did not come up");
	fake_qp_force(qp, IBV_QPS_ERR);
	fake_reset_log();
	return qp;
}

static struct ibv_wc wc_of(int status, const struct ibv_qp *qp)
{
	struct ibv_wc wc;

	memset(&wc, 0, sizeof(wc));
	wc.status = (enum ibv_wc_status)status;
	wc.qp_num = qp->qp_num;
	return wc;
}

/* The findings, each `severity:reason:field:kind...`, with a space between two. */
static void check_line(const struct rdmaez_diag *diag, const char *want, const char *name)
{
	char line[4096], got[4096] = "";
	uint64_t hidden = 0;
	char *finding;

	rdmaez_diag_line(diag, line, sizeof(line));
	for (finding = strstr(line, " finding="); finding;) {
		char *next = strstr(finding + 1, " finding=");

		if (next)
			*next = '\0';
		strcat(got, got[0] ? " " : "");
		/* All are likely. */
		strcat(got, finding + strlen(" finding=") +
				    (strncmp(finding, " finding=likely:", 16) ? 0 : 7));
		finding = next;
		if (next)
			*next = ' ';
	}
	tap_eq_str(got, want, "%s", name);
	/* What a line does not show is zero. */
	for (unsigned int i = 0; i < diag->count; i++) {
		const struct rdmaez_finding *of = &diag->finding[i];

		if (of->kind == RDMAEZ_VALUE_NONE || of->kind == RDMAEZ_VALUE_LIMIT)
			hidden |= of->value;
		if (of->kind == RDMAEZ_VALUE_NONE || of->kind == RDMAEZ_VALUE_OPCODE ||
		    of->kind == RDMAEZ_VALUE_ACCESS || of->kind == RDMAEZ_VALUE_LIMIT)
			hidden |= of->min;
		if (of->kind == RDMAEZ_VALUE_NONE || of->kind == RDMAEZ_VALUE_OPCODE)
			hidden |= of->max;
	}
	tap_eq_int(hidden, 0, "%s: no numbers but those", name);
	tap_ok(record_tells_all(diag), "%s: the texts tell each reason", name);
}

/* ---- Requests ----------------------------------------------------------------------------- */

enum {
	NOT_TOLD = -1
};

#define LKEY             "WC_LKEY:sg_list.lkey:none"
#define BOUNDS           "WC_BOUNDS:sg_list.addr:none"
#define LOCAL            "WC_LOCAL_WRITE:sg_list.lkey:none"
#define RKEY             "WC_RKEY:wr.rdma.rkey:none"
#define BEYOND           "WC_REMOTE_BOUNDS:wr.rdma.remote_addr:none"
#define REGION           "WC_REGION_RIGHT:access:none"
#define REGION_OF(right) "WC_REGION_RIGHT:access:access:IBV_ACCESS_REMOTE_" right
#define ATOMIC           "IBV_ACCESS_REMOTE_ATOMIC"
#define RIGHT            "WC_PEER_RIGHT:qp_access_flags:none"
#define RIGHT_OF(right)  "WC_PEER_RIGHT:qp_access_flags:access:IBV_ACCESS_REMOTE_" right
#define PEERS            "WC_PEER_DEPTH:max_dest_rd_atomic:none"
#define NO_OP            "WR_OPCODE:opcode:none"
#define ROUTE            "NO_ROUTE:ah_attr.grh.dgid:none"
#define RXE_OP           LKEY " " ROUTE " " NO_OP " WC_RECV_SHORT:sg_list:none " BOUNDS " " LOCAL
#define PEER             "WC_AT_PEER:status:none"
#define LITTLE           "WC_NO_MORE:status:none"
#define OWN_MTU          "WC_PEER_MTU:path_mtu:bytes:1024:0.."
#define MTUS             " " OWN_MTU
#define KINDS            " WC_PEER_GONE:status:none"
#define FABRIC           " WC_FABRIC:status:none"
#define SILENT           "WC_PEER_SILENT:wr.ud.ah:none"
#define SGES             "WC_LIMIT:cap.max_send_sge:limit::..4"
#define INLINE           "WC_LIMIT:cap.max_inline_data:limit::..64"
#define DEPTH            "WC_LIMIT:max_rd_atomic:limit::..1"

static void check_sends(void)
{
	static const struct {
		uint32_t vendor_id;
		int type, status, opcode;
		const char *want;
	} sends[] = {
		/* A length. */
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, IBV_WR_SEND,
		 "WC_LIMIT:port_attr.max_msg_sz:limit::..1073741824"},
		{0, IBV_QPT_UC, IBV_WC_LOC_LEN_ERR, IBV_WR_RDMA_WRITE,
		 "WC_LIMIT:port_attr.max_msg_sz:limit::..1073741824"},
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, IBV_WR_RDMA_READ,
		 OWN_MTU " WC_LIMIT:port_attr.max_msg_sz:limit::..1073741824"},
		{0, IBV_QPT_UD, IBV_WC_LOC_LEN_ERR, IBV_WR_SEND_WITH_IMM,
		 "WC_LIMIT:port_attr.active_mtu:limit::..1024"},
		{0, IBV_QPT_UD, IBV_WC_LOC_LEN_ERR, IBV_WR_BIND_MW, LITTLE},
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, IBV_WR_BIND_MW, LITTLE},
		{0, IBV_QPT_UD, IBV_WC_LOC_LEN_ERR, IBV_WR_ATOMIC_FETCH_AND_ADD, LITTLE},
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, IBV_WR_ATOMIC_FETCH_AND_ADD,
		 "WR_ATOMIC:sg_list:none"},
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, NOT_TOLD,
		 OWN_MTU
		 " WC_LIMIT:port_attr.max_msg_sz:limit::..1073741824 WR_ATOMIC:sg_list:none"},
		{CXGB4, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, IBV_WR_SEND, BOUNDS},

		/* A bad request. */
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_SEND, SGES " " INLINE},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_WRITE, SGES " " INLINE},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_WRITE_WITH_IMM, SGES " " INLINE},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_READ, SGES " " DEPTH},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_ATOMIC_CMP_AND_SWP,
		 "WR_OPCODE:opcode:opcode:ATOMIC_CMP_AND_SWP " SGES " " DEPTH},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_LOCAL_INV,
		 "WR_OPCODE:opcode:opcode:LOCAL_INV"},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, NOT_TOLD,
		 NO_OP " " SGES " " INLINE " " DEPTH},
		{0, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, IBV_WR_SEND,
		 "WC_AH:wr.ud.ah:none " SGES " " INLINE},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_SEND, LKEY " " ROUTE},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_WRITE, LKEY " " ROUTE},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_SEND_WITH_INV, LKEY " " ROUTE},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_READ, ROUTE},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_BIND_MW,
		 "WR_OPCODE:opcode:opcode:BIND_MW"},
		{RXE, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, IBV_WR_SEND,
		 LKEY " WC_AH:wr.ud.ah:none " ROUTE},
		{SIW, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_SEND,
		 LKEY " " BOUNDS " WC_CONNECTION:status:none"},
		{SIW, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_READ,
		 "WC_CONNECTION:status:none"},
		{SIW, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_BIND_MW,
		 "WR_OPCODE:opcode:opcode:BIND_MW"},
		{SIW, IBV_QPT_RC, IBV_WC_GENERAL_ERR, IBV_WR_SEND, LITTLE},
		{0, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_READ,
		 "WR_OPCODE:opcode:opcode:RDMA_READ"},
		{RXE, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_READ,
		 "WR_OPCODE:opcode:opcode:RDMA_READ"},
		{RXE, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_WRITE,
		 "WR_OPCODE:opcode:opcode:RDMA_WRITE"},
		{RXE, IBV_QPT_UC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_READ,
		 "WR_OPCODE:opcode:opcode:RDMA_READ"},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, IBV_WR_TSO, "WR_OPCODE:opcode:opcode:TSO"},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, 40, "WR_OPCODE:opcode:opcode:unknown"},
		{RXE, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, NOT_TOLD,
		 LKEY " WC_AH:wr.ud.ah:none " ROUTE " " NO_OP},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, 15,
		 "WR_OPCODE:opcode:opcode:ATOMIC_WRITE " SGES " " INLINE},
		{EFA, IBV_QPT_DRIVER, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_READ,
		 "WR_OPCODE:opcode:opcode:RDMA_READ WC_AH:wr.ud.ah:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_LOC_QP_OP_ERR, IBV_WR_RDMA_WRITE,
		 "WR_OPCODE:opcode:opcode:RDMA_WRITE WC_AH:wr.ud.ah:none"},

		/* Local memory. */
		{0, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, IBV_WR_SEND, LKEY " " BOUNDS},
		{0, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, IBV_WR_RDMA_READ, LKEY " " BOUNDS " " LOCAL},
		{0, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, NOT_TOLD, LKEY " " BOUNDS " " LOCAL},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, IBV_WR_RDMA_WRITE, BOUNDS},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, IBV_WR_RDMA_READ, BOUNDS " " LKEY " " LOCAL},
		{ERDMA, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, IBV_WR_SEND, LKEY " " BOUNDS},
		{ERDMA, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, IBV_WR_RDMA_READ,
		 LKEY " " BOUNDS " " LOCAL},
		{CXGB4, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, IBV_WR_SEND, LKEY},
		{CXGB4, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, IBV_WR_RDMA_READ, LKEY " " LOCAL},
		{0, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, IBV_WR_SEND, LITTLE},
		{0, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, IBV_WR_ATOMIC_CMP_AND_SWP, LITTLE},

		/* Refused by the peer as invalid. */
		{0, IBV_QPT_RC, IBV_WC_REM_INV_REQ_ERR, IBV_WR_SEND,
		 "WC_PEER_RECV:sg_list:none" MTUS},
		{0, IBV_QPT_RC, IBV_WC_REM_INV_REQ_ERR, IBV_WR_SEND_WITH_INV,
		 "WC_PEER_RECV:sg_list:none" MTUS},
		{0, IBV_QPT_RC, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_WRITE, RIGHT_OF("WRITE") MTUS},
		{0, IBV_QPT_UC, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_WRITE, RIGHT_OF("WRITE")},
		{0, IBV_QPT_RC, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_READ,
		 RIGHT_OF("READ") " " PEERS},
		{0, IBV_QPT_RC, IBV_WC_REM_INV_REQ_ERR, IBV_WR_ATOMIC_FETCH_AND_ADD,
		 RIGHT_OF("ATOMIC") " " PEERS " WR_ATOMIC:wr.atomic.remote_addr:none"
				    " WC_PEER_OPCODE:opcode:opcode:ATOMIC_FETCH_AND_ADD"},
		{0, IBV_QPT_RC, IBV_WC_REM_INV_REQ_ERR, NOT_TOLD,
		 RIGHT " WC_ACCESS:qp_access_flags:access:" ATOMIC " WC_PEER_RECV:sg_list:none" MTUS
		       " " PEERS
		       " WR_ATOMIC:wr.atomic.remote_addr:none WC_PEER_OPCODE:opcode:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_INV_REQ_ERR, IBV_WR_SEND,
		 "WC_PEER_RECV:sg_list:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_READ,
		 "WC_PEER_OPCODE:opcode:opcode:RDMA_READ"},

		/* Refused by the peer for its memory: bounds and keys come before rights. */
		{0, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_WRITE,
		 RKEY " " BEYOND " " REGION_OF("WRITE")},
		{0, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_READ,
		 RKEY " " BEYOND " " REGION_OF("READ")},
		{0, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, IBV_WR_ATOMIC_CMP_AND_SWP,
		 REGION_OF("ATOMIC") " WC_RKEY:wr.atomic.rkey:none "
				     "WC_REMOTE_BOUNDS:wr.atomic.remote_addr:none"},
		{0, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, IBV_WR_SEND_WITH_INV,
		 "WC_RKEY:invalidate_rkey:none"},
		{0, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, IBV_WR_SEND, PEER},
		{0, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, NOT_TOLD,
		 RKEY " " BEYOND " " REGION " WC_ACCESS:qp_access_flags:access:" ATOMIC},
		{0, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, 15, RKEY " " BEYOND " " REGION_OF("WRITE")},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_READ,
		 RKEY " " BEYOND " " REGION_OF("READ")},

		/* The peer's own fault. */
		{0, IBV_QPT_RC, IBV_WC_REM_OP_ERR, IBV_WR_SEND, "WC_PEER_BUFFER:sg_list:none"},
		{0, IBV_QPT_RC, IBV_WC_REM_OP_ERR, IBV_WR_RDMA_WRITE, PEER},
		{RXE, IBV_QPT_RC, IBV_WC_REM_OP_ERR, IBV_WR_SEND,
		 "WC_PEER_RECV:sg_list:none WC_PEER_BUFFER:sg_list:none"},
		{RXE, IBV_QPT_RC, IBV_WC_REM_OP_ERR, IBV_WR_RDMA_READ, PEER},
		{MANA, IBV_QPT_RC, IBV_WC_REM_OP_ERR, IBV_WR_SEND,
		 "WC_PEER_RECV:sg_list:none WC_PEER_BUFFER:sg_list:none"},
		{MANA, IBV_QPT_RC, IBV_WC_REM_OP_ERR, IBV_WR_RDMA_WRITE, PEER},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_OP_ERR, IBV_WR_RDMA_READ,
		 "WC_PEER_AH:wr.ud.ah:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_RESP_TIMEOUT_ERR, IBV_WR_RDMA_READ, SILENT},
		{EFA, IBV_QPT_DRIVER, IBV_WC_RESP_TIMEOUT_ERR, NOT_TOLD, SILENT},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_INV_RD_REQ_ERR, IBV_WR_SEND,
		 "WC_REMOTE_QPN:wr.ud.remote_qpn:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_INV_RD_REQ_ERR, NOT_TOLD,
		 "WC_REMOTE_QPN:wr.ud.remote_qpn:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_BAD_RESP_ERR, IBV_WR_SEND, PEER},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_ABORT_ERR, IBV_WR_SEND, PEER},
		{EFA, IBV_QPT_DRIVER, IBV_WC_GENERAL_ERR, IBV_WR_SEND, LITTLE},
		{0, IBV_QPT_RC, IBV_WC_RESP_TIMEOUT_ERR, IBV_WR_SEND,
		 "WC_PEER_SILENT:ah_attr:none"},
		{0, IBV_QPT_RC, IBV_WC_REM_INV_RD_REQ_ERR, IBV_WR_RDMA_READ, PEER},
		{0, IBV_QPT_RC, IBV_WC_FATAL_ERR, IBV_WR_SEND, LITTLE},
		{0, IBV_QPT_RC, 77, IBV_WR_SEND, LITTLE},
		{0, IBV_QPT_RC, 254, IBV_WR_SEND, LITTLE},
		{0, IBV_QPT_RC, IBV_WC_SUCCESS, IBV_WR_SEND, ""},

		/* A flush. */
		{0, IBV_QPT_RC, IBV_WC_WR_FLUSH_ERR, IBV_WR_SEND,
		 "WC_FLUSHED:status:none WC_RESPONDER:status:none"},
		{0, IBV_QPT_UD, IBV_WC_WR_FLUSH_ERR, IBV_WR_SEND, "WC_FLUSHED:status:none"},
		{RXE, IBV_QPT_RC, IBV_WC_WR_FLUSH_ERR, IBV_WR_SEND,
		 "WC_FLUSHED:status:none WC_FLUSHED_OWN:sg_list:none WC_RESPONDER:status:none"},
		{RXE, IBV_QPT_UD, IBV_WC_WR_FLUSH_ERR, IBV_WR_SEND,
		 "WC_FLUSHED:status:none WC_FLUSHED_OWN:sg_list:none"},
		{RXE, IBV_QPT_UC, IBV_WC_WR_FLUSH_ERR, IBV_WR_BIND_MW, "WC_FLUSHED:status:none"},
	};

	for (size_t i = 0; i < COUNT_OF(sends); i++) {
		struct rdmaez_diag diag;
		struct ibv_send_wr wr;
		struct ibv_qp *qp;
		struct ibv_wc wc;
		char name[100];

		new_device(sends[i].vendor_id);
		qp = broken_qp((enum ibv_qp_type)sends[i].type, NULL);
		wc = wc_of(sends[i].status, qp);
		memset(&wr, 0, sizeof(wr));
		wr.opcode = (enum ibv_wr_opcode)sends[i].opcode;
		snprintf(name, sizeof(name), "send %d: %s of vendor 0x%x", (int)i,
			 rdmaez_wc_explain(&wc)->name, sends[i].vendor_id);
		tap_eq_int(rdmaez_wc_explain_send(&wc, qp, sends[i].opcode == NOT_TOLD ? NULL : &wr,
						  &diag),
			   0, "%s: the device answers", name);
		check_call_and_verb(&diag, "rdmaez_wc_explain_send", NULL);
		check_line(&diag, sends[i].want, name);
	}
}

/* ---- Receives ----------------------------------------------------------------------------- */

static void check_recvs(void)
{
	static const struct {
		uint32_t vendor_id;
		int type, status;
		int room; /* bytes of the receive, in two pieces; NOT_TOLD: none is given */
		const char *want;
	} recvs[] = {
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, NOT_TOLD, "WC_RECV_SHORT:sg_list:none" MTUS},
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, 100,
		 "WC_RECV_SHORT:sg_list:bytes:100:0.." MTUS},
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR, 0, "WC_RECV_SHORT:sg_list:bytes:0:0.." MTUS},
		{0, IBV_QPT_UD, IBV_WC_LOC_LEN_ERR, 39,
		 "WC_GRH_ROOM:sg_list:bytes:39:0.. WC_RECV_SHORT:sg_list:bytes:39:0.."},
		{0, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, NOT_TOLD,
		 "WC_LIMIT:cap.max_recv_sge:limit::..4"},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, 64,
		 "WC_RECV_SHORT:sg_list:bytes:64:0.. " LKEY " " BOUNDS " " LOCAL},
		{RXE, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, NOT_TOLD,
		 "WC_GRH_ROOM:sg_list:none WC_RECV_SHORT:sg_list:none " LKEY " " BOUNDS " " LOCAL},
		{EFA, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR, NOT_TOLD, NO_OP " WC_AH:wr.ud.ah:none"},
		{SIW, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, NOT_TOLD,
		 "WC_LIMIT:cap.max_recv_sge:limit::..4"},
		{0, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, NOT_TOLD, LKEY " " BOUNDS " " LOCAL},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, NOT_TOLD, LKEY " " BOUNDS " " LOCAL},
		{SIW, IBV_QPT_RC, IBV_WC_GENERAL_ERR, NOT_TOLD, LKEY " " BOUNDS " " LOCAL},
		{0, IBV_QPT_RC, IBV_WC_GENERAL_ERR, NOT_TOLD, LITTLE},
		{0, IBV_QPT_RC, IBV_WC_REM_INV_REQ_ERR, NOT_TOLD, "WC_RESPONDER:status:none"},
		{RXE, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, NOT_TOLD, "WC_RESPONDER:status:none"},
		{ERDMA, IBV_QPT_RC, IBV_WC_REM_ACCESS_ERR, NOT_TOLD, LKEY " " BOUNDS " " LOCAL},
		{MANA, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, NOT_TOLD, LOCAL},
		{0, IBV_QPT_RC, IBV_WC_LOC_ACCESS_ERR, NOT_TOLD,
		 "WC_PEER_REQUEST:wr.rdma.rkey:none WC_ACCESS:qp_access_flags:access:" ATOMIC},
		{0, IBV_QPT_UC, IBV_WC_LOC_ACCESS_ERR, NOT_TOLD,
		 "WC_PEER_REQUEST:wr.rdma.rkey:none"},
		{0, IBV_QPT_RC, IBV_WC_REM_OP_ERR, NOT_TOLD, LITTLE},
		{0, IBV_QPT_RC, IBV_WC_WR_FLUSH_ERR, NOT_TOLD,
		 "WC_FLUSHED_RECV:status:none WC_RESPONDER:status:none"},
		{0, IBV_QPT_UD, IBV_WC_WR_FLUSH_ERR, NOT_TOLD, "WC_FLUSHED_RECV:status:none"},
		{RXE, IBV_QPT_RC, IBV_WC_WR_FLUSH_ERR, NOT_TOLD,
		 "WC_FLUSHED_RECV:status:none WC_RESPONDER:status:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_RESP_TIMEOUT_ERR, NOT_TOLD, SILENT},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_INV_RD_REQ_ERR, NOT_TOLD,
		 "WC_REMOTE_QPN:wr.ud.remote_qpn:none"},
		{EFA, IBV_QPT_DRIVER, IBV_WC_REM_ABORT_ERR, NOT_TOLD, LITTLE},
	};

	for (size_t i = 0; i < COUNT_OF(recvs); i++) {
		const uint32_t room = recvs[i].room > 0 ? (uint32_t)recvs[i].room : 0;
		struct ibv_sge sge[2];
		struct ibv_recv_wr wr;
		struct rdmaez_diag diag;
		struct ibv_qp *qp;
		struct ibv_wc wc;
		char name[100];

		new_device(recvs[i].vendor_id);
		qp = broken_qp((enum ibv_qp_type)recvs[i].type, NULL);
		wc = wc_of(recvs[i].status, qp);
		memset(&wr, 0, sizeof(wr));
		memset(sge, 0, sizeof(sge));
		sge[0].length = room / 3;
		sge[1].length = room - room / 3;
		wr.sg_list = room ? sge : NULL;
		wr.num_sge = 2;
		snprintf(name, sizeof(name), "receive %d: %s of vendor 0x%x", (int)i,
			 rdmaez_wc_explain(&wc)->name, recvs[i].vendor_id);
		tap_eq_int(rdmaez_wc_explain_recv(&wc, qp, recvs[i].room == NOT_TOLD ? NULL : &wr,
						  &diag),
			   0, "%s: the device answers", name);
		check_call_and_verb(&diag, "rdmaez_wc_explain_recv", NULL);
		check_line(&diag, recvs[i].want, name);
	}
}

/* ---- Either queue, and what the queue pair's own rights and depths tell -------------------- */

static void check_either(void)
{
	static const struct {
		uint32_t vendor_id;
		int type, status;
		const char *want;
	} either[] = {
		{0, IBV_QPT_RC, IBV_WC_LOC_LEN_ERR,
		 "WC_RECV_SHORT:sg_list:none" MTUS
		 " WC_LIMIT:port_attr.max_msg_sz:limit::..1073741824 "
		 "WR_ATOMIC:sg_list:none"},
		{0, IBV_QPT_UD, IBV_WC_LOC_LEN_ERR,
		 "WC_GRH_ROOM:sg_list:none WC_RECV_SHORT:sg_list:none "
		 "WC_LIMIT:port_attr.active_mtu:limit::..1024"},
		{0, IBV_QPT_XRC_SEND, IBV_WC_LOC_QP_OP_ERR, NO_OP " " SGES " " INLINE " " DEPTH},
		{0, IBV_QPT_XRC_RECV, IBV_WC_LOC_QP_OP_ERR, LITTLE},
		{0, IBV_QPT_UD, IBV_WC_LOC_QP_OP_ERR,
		 NO_OP " WC_AH:wr.ud.ah:none " SGES " " INLINE
		       " WC_LIMIT:cap.max_recv_sge:limit::..4"},
		{RXE, IBV_QPT_RC, IBV_WC_LOC_QP_OP_ERR, RXE_OP},
		{0, IBV_QPT_RC, IBV_WC_LOC_PROT_ERR, LKEY " " BOUNDS " " LOCAL},
		{0, IBV_QPT_XRC_RECV, IBV_WC_REM_ACCESS_ERR, "WC_RESPONDER:status:none"},
		{0, IBV_QPT_XRC_SEND, IBV_WC_REM_ACCESS_ERR, RKEY " " BEYOND " " REGION},
		{0, IBV_QPT_XRC_SEND, IBV_WC_REM_INV_REQ_ERR,
		 RIGHT " WC_PEER_RECV:sg_list:none" MTUS " " PEERS
		       " WR_ATOMIC:wr.atomic.remote_addr:none WC_PEER_OPCODE:opcode:none"},
		{0, IBV_QPT_UD, IBV_WC_REM_INV_REQ_ERR,
		 "WC_PEER_RECV:sg_list:none WC_RESPONDER:status:none"},
	};

	for (size_t i = 0; i < COUNT_OF(either); i++) {
		struct rdmaez_diag diag;
		struct ibv_qp *qp;
		struct ibv_wc wc;
		char name[100];

		new_device(either[i].vendor_id);
		qp = broken_qp((enum ibv_qp_type)either[i].type, NULL);
		wc = wc_of(either[i].status, qp);
		snprintf(name, sizeof(name), "either %d: %s of vendor 0x%x", (int)i,
			 rdmaez_wc_explain(&wc)->name, either[i].vendor_id);
		tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), 0, "%s: the device answers", name);
		check_line(&diag, either[i].want, name);
	}
}

/* What does not depend on the queue is told of each, and of either, in the same words. */
static void check_any_queue(void)
{
	static const struct {
		uint32_t vendor_id;
		int status;
	} any[] = {
		{CXGB4, IBV_WC_LOC_LEN_ERR},    {EFA, IBV_WC_LOC_QP_OP_ERR},
		{ERDMA, IBV_WC_LOC_ACCESS_ERR}, {CXGB4, IBV_WC_LOC_ACCESS_ERR},
		{MANA, IBV_WC_LOC_ACCESS_ERR},  {EFA, IBV_WC_REM_INV_REQ_ERR},
		{ERDMA, IBV_WC_REM_ACCESS_ERR}, {RXE, IBV_WC_REM_OP_ERR},
		{MANA, IBV_WC_REM_OP_ERR},      {EFA, IBV_WC_REM_OP_ERR},
		{0, IBV_WC_RETRY_EXC_ERR},      {0, IBV_WC_RNR_RETRY_EXC_ERR},
		{0, IBV_WC_RESP_TIMEOUT_ERR},
	};
	struct rdmaez_qp_opts opts;

	memset(&opts, 0, sizeof(opts));
	opts.rnr_retry = 3;
	for (size_t i = 0; i < COUNT_OF(any); i++) {
		struct rdmaez_diag either, one;
		const char *findings;
		char want[4096], got[4096];
		struct ibv_qp *qp;
		struct ibv_wc wc;

		new_device(any[i].vendor_id);
		qp = broken_qp(IBV_QPT_RC, &opts);
		wc = wc_of(any[i].status, qp);
		dev->port[1].attr.state = IBV_PORT_DOWN;
		dev->port[1].attr.active_mtu = IBV_MTU_256;
		dev->port[1].pkey[0] = 1;
		dev->port[1].gid[fake_qp_true(qp)->ah_attr.grh.sgid_index].ifindex = 0;
		rdmaez_wc_explain_qp(&wc, qp, &either);
		rdmaez_diag_line(&either, want, sizeof(want));
		findings = strstr(want, " finding=");
		tap_ok(findings, "any queue %d: there are findings", (int)i);
		rdmaez_wc_explain_send(&wc, qp, NULL, &one);
		rdmaez_diag_line(&one, got, sizeof(got));
		tap_eq_str(strstr(got, " finding="), findings,
			   "any queue %d: a request has the same", (int)i);
		rdmaez_wc_explain_recv(&wc, qp, NULL, &one);
		rdmaez_diag_line(&one, got, sizeof(got));
		tap_eq_str(strstr(got, " finding="), findings,
			   "any queue %d: a receive has the same", (int)i);
	}
}

/* The findings of a request, a receive and two events on this queue pair. */
static void check_own(struct ibv_qp *qp, int status, int opcode, const char *want, const char *name)
{
	struct rdmaez_diag diag;
	struct ibv_send_wr wr;
	const struct ibv_wc wc = wc_of(status, qp);

	memset(&wr, 0, sizeof(wr));
	wr.opcode = (enum ibv_wr_opcode)opcode;
	tap_eq_int(rdmaez_wc_explain_send(&wc, qp, &wr, &diag), 0, "%s: the device answers", name);
	check_line(&diag, want, name);
}

static void check_event(struct ibv_qp *qp, int type, const char *want, const char *name)
{
	struct ibv_async_event event;
	struct rdmaez_diag diag;

	memset(&event, 0, sizeof(event));
	event.event_type = (enum ibv_event_type)type;
	event.element.qp = qp;
	tap_eq_int(rdmaez_event_explain_qp(&event, &diag), 0, "%s: the device answers", name);
	check_call_and_verb(&diag, "rdmaez_event_explain_qp", NULL);
	check_line(&diag, want, name);
}

static void check_rights(void)
{
	struct rdmaez_qp_opts opts;
	struct ibv_qp *qp;

	new_device(0);
	memset(&opts, 0, sizeof(opts));
	opts.access = RDMAEZ_ZERO;
	opts.max_dest_rd_atomic = RDMAEZ_ZERO;
	qp = broken_qp(IBV_QPT_RC, &opts);
	check_own(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_WRITE, RIGHT_OF("WRITE") MTUS,
		  "a WRITE, no rights");
	check_own(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_WRITE_WITH_IMM, RIGHT_OF("WRITE") MTUS,
		  "a WRITE with immediate, no rights");
	check_own(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_READ,
		  RIGHT_OF("READ") " " PEERS " DEPTH_ZERO:max_dest_rd_atomic:number:0:1..255",
		  "a READ, no rights and no depth");
	check_own(qp, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_READ,
		  RKEY " " BEYOND " " REGION_OF("READ"), "a READ of memory, no rights");
	check_event(qp, IBV_EVENT_QP_REQ_ERR,
		    "WC_RECV_SHORT:sg_list:none DEPTH_ZERO:max_dest_rd_atomic:number:0:1..255 "
		    "WC_ACCESS:qp_access_flags:access:IBV_ACCESS_REMOTE_WRITE|"
		    "IBV_ACCESS_REMOTE_READ|" ATOMIC MTUS,
		    "REQ_ERR, no rights and no depth");
	check_event(qp, IBV_EVENT_QP_ACCESS_ERR,
		    "WC_PEER_REQUEST:wr.rdma.rkey:none "
		    "WC_ACCESS:qp_access_flags:access:IBV_ACCESS_REMOTE_WRITE|"
		    "IBV_ACCESS_REMOTE_READ|" ATOMIC,
		    "ACCESS_ERR, no rights");
	qp = broken_qp(IBV_QPT_XRC_RECV, &opts);
	check_event(qp, IBV_EVENT_QP_REQ_ERR,
		    "WC_RECV_SHORT:sg_list:none DEPTH_ZERO:max_dest_rd_atomic:number:0:1..255 "
		    "WC_ACCESS:qp_access_flags:access:IBV_ACCESS_REMOTE_WRITE|"
		    "IBV_ACCESS_REMOTE_READ|" ATOMIC MTUS,
		    "REQ_ERR on XRC_RECV, no rights and no depth");
	/* A driver may fill in a depth also for a queue pair that sends nothing. */
	fixture_truth(qp)->max_dest_rd_atomic = 8;
	fixture_truth(qp)->max_rd_atomic = 9;
	fixture_truth(qp)->qp_access_flags = 0xf;
	check_event(qp, IBV_EVENT_QP_REQ_ERR, "WC_RECV_SHORT:sg_list:none" MTUS,
		    "REQ_ERR on XRC_RECV, which sends nothing");
	qp = broken_qp(IBV_QPT_UC, &opts);
	check_own(qp, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_WRITE,
		  RKEY " " BEYOND " " REGION_OF("WRITE"), "a WRITE on UC, no rights");
	check_event(qp, IBV_EVENT_QP_ACCESS_ERR,
		    "WC_PEER_REQUEST:wr.rdma.rkey:none "
		    "WC_ACCESS:qp_access_flags:access:IBV_ACCESS_REMOTE_WRITE",
		    "ACCESS_ERR on UC, no rights");
	check_event(qp, IBV_EVENT_QP_REQ_ERR,
		    "WC_RECV_SHORT:sg_list:none "
		    "WC_ACCESS:qp_access_flags:access:IBV_ACCESS_REMOTE_WRITE" MTUS,
		    "REQ_ERR on UC, which has no depth");

	opts.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	opts.max_rd_atomic = 9;
	opts.max_dest_rd_atomic = 8;
	qp = broken_qp(IBV_QPT_RC, &opts);
	check_own(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_READ,
		  RIGHT_OF("READ") " " PEERS " WC_DEPTH_ABOVE:max_rd_atomic:number:9:0..8",
		  "a READ, more than it takes itself");
	check_own(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_WRITE, RIGHT_OF("WRITE") MTUS,
		  "a WRITE has no depth");
	check_event(qp, IBV_EVENT_QP_REQ_ERR,
		    "WC_RECV_SHORT:sg_list:none WC_DEPTH_ABOVE:max_rd_atomic:number:9:0..8" MTUS,
		    "REQ_ERR, more than it takes itself");
	opts.max_dest_rd_atomic = 9;
	qp = broken_qp(IBV_QPT_RC, &opts);
	check_own(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_READ, RIGHT_OF("READ") " " PEERS,
		  "a READ, as much as it takes");
}

/* On iWARP drivers report rights and depths that are none. */
static void check_iwarp(void)
{
	struct rdmaez_qp_opts opts;
	struct rdmaez_diag diag;
	struct ibv_wc wc;
	struct ibv_qp *qp;

	new_device(0);
	memset(&opts, 0, sizeof(opts));
	opts.access = RDMAEZ_ZERO;
	opts.max_dest_rd_atomic = RDMAEZ_ZERO;
	qp = broken_qp(IBV_QPT_RC, &opts);
	dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	check_own(qp, IBV_WC_REM_INV_REQ_ERR, IBV_WR_RDMA_READ, RIGHT_OF("READ") " " PEERS,
		  "iWARP: a READ");
	check_own(qp, IBV_WC_REM_ACCESS_ERR, IBV_WR_RDMA_READ,
		  RKEY " " BEYOND " " REGION_OF("READ"), "iWARP: a READ of memory");
	check_own(qp, IBV_WC_WR_FLUSH_ERR, IBV_WR_SEND,
		  "WC_FLUSHED:status:none WC_RESPONDER:status:none WC_IWARP:status:none",
		  "iWARP: a flush");
	wc = wc_of(IBV_WC_WR_FLUSH_ERR, qp);
	rdmaez_wc_explain_recv(&wc, qp, NULL, &diag);
	check_line(&diag,
		   "WC_FLUSHED_RECV:status:none WC_RESPONDER:status:none WC_IWARP:status:none",
		   "iWARP: a flushed receive");
	new_device(SIW);
	qp = broken_qp(IBV_QPT_RC, &opts);
	dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	check_event(qp, IBV_EVENT_QP_ACCESS_ERR, "WC_PEER_REQUEST:wr.rdma.rkey:none " LKEY,
		    "siw: ACCESS_ERR");
	check_event(qp, IBV_EVENT_QP_REQ_ERR, "WC_RECV_SHORT:sg_list:none", "siw: REQ_ERR");
}

/* ---- Devices that answer partly ------------------------------------------------------------ */

/* A queue pair of a device that has become one of this driver after it was made. */
static struct ibv_qp *qp_of(enum fake_profile profile, enum ibv_qp_type type)
{
	struct ibv_qp *qp;

	dev = fake_reset();
	ctx = fake_open(dev);
	qp = broken_qp(type == IBV_QPT_DRIVER ? IBV_QPT_RC : type, NULL);
	qp->qp_type = type;
	fake_profile(dev, profile);
	dev->habits.stale = 0xa5;
	return qp;
}

static void check_partial(struct ibv_qp *qp, int status, int error, int from, const char *want,
			  const char *name)
{
	const enum ibv_qp_state before = qp->state;
	const struct ibv_wc wc = wc_of(status, qp);
	struct rdmaez_diag diag;

	fake_reset_log();
	tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), error, "%s: %s", name,
		   rdmaez_errno_str(error));
	tap_eq_int(diag.error, error, "%s: the record holds the errno", name);
	tap_eq_int(diag.from, from, "%s: the state, if the driver tells it", name);
	tap_eq_int(qp->state, from < 0 ? (int)before : from,
		   "%s: the library's state is changed only where it is told", name);
	check_line(&diag, want, name);
}

static void check_efa(void)
{
	struct ibv_qp *qp = qp_of(FAKE_PROFILE_EFA, IBV_QPT_DRIVER);
	struct rdmaez_diag diag;
	struct ibv_wc wc;

	fake_port_infiniband(&dev->port[1]);
	check_partial(qp, IBV_WC_RESP_TIMEOUT_ERR, 0, IBV_QPS_ERR, SILENT, "efa: no answer");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1,
		   "efa: of a type without a path only what it answers is asked");
	dev->port[1].attr.state = IBV_PORT_DOWN;
	check_partial(qp, IBV_WC_RESP_TIMEOUT_ERR, 0, IBV_QPS_ERR,
		      "PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE " SILENT,
		      "efa: no answer, the port is down");
	check_partial(qp, IBV_WC_RNR_RETRY_EXC_ERR, 0, IBV_QPS_ERR, "WC_RNR:rnr_retry:none",
		      "efa: no receive");
	fixture_truth(qp)->rnr_retry = 3;
	check_partial(qp, IBV_WC_RNR_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "WC_RNR:rnr_retry:number:3:7..7", "efa: no receive after three times");
	check_partial(qp, IBV_WC_REM_ACCESS_ERR, 0, IBV_QPS_ERR,
		      RKEY " " BEYOND " " REGION " WC_RESPONDER:status:none",
		      "efa: refused access");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "efa: it is not asked for rights");
	wc = wc_of(IBV_WC_WR_FLUSH_ERR, qp);
	fake_reset_log();
	rdmaez_wc_explain_qp(&wc, qp, &diag);
	tap_eq_str(diag.driver, "efa", "efa: the driver is named");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "efa: of a flush one question");
}

/* Where the kernel has no way for a packet, rxe fails the request, or since Linux 6.12 flushes it. */
static void check_rxe(void)
{
	struct ibv_qp *qp = qp_of(FAKE_PROFILE_RXE, IBV_QPT_RC);

	check_partial(qp, IBV_WC_LOC_QP_OP_ERR, 0, IBV_QPS_ERR, RXE_OP, "rxe: a request");
	dev->port[1].attr.state = IBV_PORT_DOWN;
	check_partial(qp, IBV_WC_LOC_QP_OP_ERR, 0, IBV_QPS_ERR,
		      "PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE " RXE_OP,
		      "rxe: a request, while the interface is down");
	check_partial(
		qp, IBV_WC_WR_FLUSH_ERR, 0, IBV_QPS_ERR,
		"PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE WC_FLUSHED:status:none "
		"WC_FLUSHED_OWN:sg_list:none WC_FLUSHED_RECV:status:none "
		"WC_RESPONDER:status:none",
		"rxe: a flush, while the interface is down");
	dev->port[1].attr.state = IBV_PORT_ACTIVE;
	memset(&dev->port[1].gid[3], 0, sizeof(dev->port[1].gid[3]));
	check_partial(qp, IBV_WC_LOC_QP_OP_ERR, 0, IBV_QPS_ERR,
		      "GID_EMPTY:ah_attr.grh.sgid_index:index:3 "
		      "GID_SUITS:ah_attr.grh.sgid_index:gid_index:2 " RXE_OP,
		      "rxe: a request, and the address is gone");
}

static void check_siw(void)
{
	struct ibv_qp *qp = qp_of(FAKE_PROFILE_SIW, IBV_QPT_RC);

	check_partial(qp, IBV_WC_WR_FLUSH_ERR, 0, -1,
		      "WC_FLUSHED:status:none WC_FLUSHED_RECV:status:none "
		      "WC_RESPONDER:status:none WC_IWARP:status:none",
		      "siw: a flush");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 0, "siw: nothing is asked of the queue pair");
	check_partial(qp, IBV_WC_LOC_LEN_ERR, 0, -1,
		      "WC_RECV_SHORT:sg_list:none "
		      "WC_LIMIT:port_attr.max_msg_sz:limit::..1073741824 WR_ATOMIC:sg_list:none",
		      "siw: a length, of the only port");
	dev->ports = 2;
	dev->habits.stale = 0;
	check_partial(qp, IBV_WC_LOC_LEN_ERR, 0, -1,
		      "WC_RECV_SHORT:sg_list:none WR_ATOMIC:sg_list:none",
		      "siw: a length, of two ports");
}

/* What a driver leaves at 0 is no timeout, no path and no P_Key index. */
static void check_irdma(void)
{
	struct ibv_qp *qp = qp_of(FAKE_PROFILE_IRDMA, IBV_QPT_RC);

	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "WC_RETRIES:timeout:none" KINDS FABRIC, "irdma: no answer");
	dev->port[1].attr.state = IBV_PORT_DOWN;
	dev->port[1].attr.active_mtu = IBV_MTU_256;
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE "
		      "MTU_ABOVE_ACTIVE:path_mtu:mtu:3:1..1 WC_RETRIES:timeout:none" KINDS FABRIC,
		      "irdma: what it tells counts");
	fixture_truth(qp)->rnr_retry = 3;
	check_partial(qp, IBV_WC_RNR_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "WC_RNR:rnr_retry:number:3:7..7", "irdma: no receive");
	check_partial(qp, IBV_WC_LOC_ACCESS_ERR, 0, IBV_QPS_ERR,
		      "WC_PEER_REQUEST:wr.rdma.rkey:none WC_ACCESS:qp_access_flags:access:" ATOMIC,
		      "irdma: it tells rights");
}

static void check_ids(void)
{
	struct ibv_qp *qp = qp_of(FAKE_PROFILE_IONIC, IBV_QPT_RC);

	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "WC_RETRIES:timeout:ns:67108864:536870912..2147483648" KINDS FABRIC,
		      "ionic: no answer, of a port it does not tell");
	qp = qp_of(FAKE_PROFILE_ERDMA_ROCE, IBV_QPT_RC);
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "WC_RETRIES:timeout:none" KINDS FABRIC, "erdma: no answer");
	check_partial(qp, IBV_WC_RNR_RETRY_EXC_ERR, 0, IBV_QPS_ERR, "WC_RNR:rnr_retry:none",
		      "erdma: no receive");
	check_partial(qp, IBV_WC_REM_INV_REQ_ERR, 0, IBV_QPS_ERR,
		      RIGHT " WC_PEER_RECV:sg_list:none " PEERS
			    " WR_ATOMIC:wr.atomic.remote_addr:none"
			    " WC_PEER_OPCODE:opcode:none WC_RESPONDER:status:none",
		      "erdma: rights and depths are not those of the queue pair");
	qp = qp_of(FAKE_PROFILE_CXGB4, IBV_QPT_RC);
	check_partial(qp, IBV_WC_LOC_QP_OP_ERR, 0, IBV_QPS_ERR,
		      NO_OP " " SGES " " INLINE " WC_LIMIT:cap.max_recv_sge:limit::..4",
		      "cxgb4: a request");
	qp = qp_of(FAKE_PROFILE_MLX4_BONDED, IBV_QPT_RC);
	dev->attr.orig_attr.phys_port_cnt = 1;
	dev->port[1].attr.state = IBV_PORT_DOWN;
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE "
		      "WC_RETRIES:timeout:ns:67108864:536870912..2147483648" KINDS FABRIC,
		      "bonded mlx4: its only port is asked, whichever it tells");
	tap_eq_int(fake_last(FAKE_QUERY_PORT)->port, 1, "bonded mlx4: that is port 1");
}

static void check_mana(void)
{
	struct ibv_qp *qp;

	dev = fake_reset();
	fake_uname("7.2.0-fake");
	ctx = fake_open(dev);
	qp = broken_qp(IBV_QPT_RC, NULL);
	fake_profile(dev, FAKE_PROFILE_MANA);
	check_partial(qp, IBV_WC_LOC_ACCESS_ERR, 0, -1, LOCAL, "mana: a receive");
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, -1, "WC_RETRIES:timeout:none" KINDS FABRIC,
		      "mana: no answer of the peer nor of the device");
	qp = qp_of(FAKE_PROFILE_MANA, IBV_QPT_RC);
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, -1, "WC_RETRIES:timeout:none" KINDS FABRIC,
		      "mana without an id: the same");
}

static void check_others(void)
{
	struct ibv_qp *qp = qp_of(FAKE_PROFILE_BNXT_RE, IBV_QPT_RC);

	dev->port[1].attr.state = IBV_PORT_DOWN;
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE "
		      "WC_RETRIES:timeout:ns:67108864:536870912..2147483648" KINDS FABRIC,
		      "bnxt_re: no answer, and the only port's number is not told");
	dev->ports = 2;
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "WC_RETRIES:timeout:ns:67108864:536870912..2147483648 "
		      "WC_PEER_GONE:status:none" FABRIC,
		      "of two, any could be its own");
	dev->ports = 1;
	dev->habits.stale = 1;
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_ERR,
		      "PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE "
		      "WC_RETRIES:timeout:ns:67108864:536870912..2147483648" KINDS FABRIC,
		      "a port's number that may be right");

	/* A state that is none, of a driver that is not known for it. */
	qp = qp_of(FAKE_PROFILE_BNXT_RE, IBV_QPT_RC);
	dev->habits.query_unfilled |= IBV_QP_STATE;
	check_partial(qp, IBV_WC_WR_FLUSH_ERR, 0, -1,
		      "WC_FLUSHED:status:none WC_FLUSHED_RECV:status:none "
		      "WC_RESPONDER:status:none",
		      "a state that is none");
	dev->habits.stale = IBV_QPS_ERR;
	check_partial(qp, IBV_WC_WR_FLUSH_ERR, 0, IBV_QPS_ERR,
		      "WC_FLUSHED:status:none WC_FLUSHED_RECV:status:none "
		      "WC_RESPONDER:status:none",
		      "the greatest state there is");

	/* No answer at all, as of a DCT that is not in RTR. */
	qp = qp_of(FAKE_PROFILE_BNXT_RE, IBV_QPT_RC);
	dev->habits.query_errno = EOPNOTSUPP;
	check_partial(qp, IBV_WC_REM_INV_REQ_ERR, 0, -1,
		      RIGHT " WC_PEER_RECV:sg_list:none " PEERS
			    " WR_ATOMIC:wr.atomic.remote_addr:none WC_PEER_OPCODE:opcode:none "
			    "WC_RESPONDER:status:none",
		      "no query at all");
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, -1, "WC_RETRIES:timeout:none" KINDS FABRIC,
		      "no query at all: retries");
	check_partial(qp, IBV_WC_RNR_RETRY_EXC_ERR, 0, -1, "WC_RNR:rnr_retry:none",
		      "no query at all: RNR");
	check_partial(qp, IBV_WC_LOC_QP_OP_ERR, 0, -1, NO_OP, "no query at all: a request");
	dev->habits.query_errno = EINVAL;
	check_partial(qp, IBV_WC_RNR_RETRY_EXC_ERR, 0, -1, "WC_RNR:rnr_retry:none", "EINVAL: RNR");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 3,
		   "EINVAL is asked again, for less and for the state");
	dev->habits.query_errno = EIO;
	check_partial(qp, IBV_WC_RNR_RETRY_EXC_ERR, EIO, -1,
		      "WC_RNR:rnr_retry:none QUERY_REFUSED:ibv_query_qp:none", "EIO: RNR");
	tap_eq_int(fake_count(FAKE_QUERY_QP), 1, "EIO is not asked again");
	check_partial(qp, IBV_WC_GENERAL_ERR, EIO, -1, LITTLE " QUERY_REFUSED:ibv_query_qp:none",
		      "EIO: nothing known");
	fake_fail(FAKE_QUERY_DEVICE, 1, EIO);
	dev->habits.query_errno = 0;
	dev->habits.stale = 1;
	dev->port[1].attr.state = IBV_PORT_DOWN;
	check_partial(qp, IBV_WC_RESP_TIMEOUT_ERR, 0, IBV_QPS_ERR,
		      "PORT_DOWN:port_attr.state:port_state:DOWN:ACTIVE..ACTIVE "
		      "WC_PEER_SILENT:ah_attr:none",
		      "a device that does not tell its driver, nor how many ports it has");
}

/* Of a queue pair only what the status needs is asked, and of that what its driver tells. */
static void check_questions(void)
{
	const int way = IBV_QP_PORT | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_PKEY_INDEX,
		  depth = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;
	const struct {
		uint32_t vendor_id;
		int status, mask;
	} asked[] = {
		{0, IBV_WC_LOC_LEN_ERR, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PATH_MTU},
		{0, IBV_WC_LOC_QP_OP_ERR, IBV_QP_STATE | IBV_QP_CAP | IBV_QP_MAX_QP_RD_ATOMIC},
		{0, IBV_WC_LOC_PROT_ERR, IBV_QP_STATE},
		{0, IBV_WC_WR_FLUSH_ERR, IBV_QP_STATE},
		{0, IBV_WC_LOC_ACCESS_ERR, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS},
		{0, IBV_WC_REM_INV_REQ_ERR,
		 IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MTU | depth},
		{0, IBV_WC_REM_ACCESS_ERR, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS},
		{0, IBV_WC_RETRY_EXC_ERR, IBV_QP_STATE | way | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT},
		{0, IBV_WC_RESP_TIMEOUT_ERR, IBV_QP_STATE | way},
		{0, IBV_WC_RNR_RETRY_EXC_ERR,
		 IBV_QP_STATE | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER},
		{0, IBV_WC_GENERAL_ERR, IBV_QP_STATE},
		{RXE, IBV_WC_LOC_QP_OP_ERR, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_AV},
		{EFA, IBV_WC_RETRY_EXC_ERR, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX},
		{EFA, IBV_WC_RNR_RETRY_EXC_ERR, IBV_QP_STATE | IBV_QP_RNR_RETRY},
		{ERDMA, IBV_WC_RETRY_EXC_ERR, IBV_QP_STATE},
		{IRDMA, IBV_WC_RETRY_EXC_ERR,
		 IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PATH_MTU | IBV_QP_RETRY_CNT},
		{IRDMA, IBV_WC_RNR_RETRY_EXC_ERR, IBV_QP_STATE | IBV_QP_RNR_RETRY},
		{SIW, IBV_WC_RETRY_EXC_ERR, 0},
	};
	struct ibv_async_event event;
	struct rdmaez_diag diag;
	struct ibv_qp *qp;

	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		const struct fake_call *call;
		struct ibv_wc wc;

		new_device(asked[i].vendor_id);
		qp = broken_qp(IBV_QPT_RC, NULL);
		wc = wc_of(asked[i].status, qp);
		rdmaez_wc_explain_qp(&wc, qp, &diag);
		call = fake_last(FAKE_QUERY_QP);
		tap_eq_hex(call ? call->attr_mask : 0, asked[i].mask,
			   "question %d: %s of vendor 0x%x", (int)i, rdmaez_wc_explain(&wc)->name,
			   asked[i].vendor_id);
	}
	new_device(0);
	qp = broken_qp(IBV_QPT_RC, NULL);
	memset(&event, 0, sizeof(event));
	event.element.qp = qp;
	event.event_type = IBV_EVENT_QP_REQ_ERR;
	rdmaez_event_explain_qp(&event, &diag);
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask,
		   IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MTU | depth,
		   "question of an invalid request");
	event.event_type = IBV_EVENT_QP_ACCESS_ERR;
	rdmaez_event_explain_qp(&event, &diag);
	tap_eq_hex(fake_last(FAKE_QUERY_QP)->attr_mask, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS,
		   "question of a violation");
}

/* After a reset, or on the way up again, the attributes are another connection's. */
static void check_reset(void)
{
	static const char *const want[] = {
		"WC_RESET:qp_state:state_now:RESET:ERR " RKEY " " BEYOND " " REGION
		" WC_RESPONDER:status:none",
		"WC_RESET:qp_state:state_now:INIT:ERR " RKEY " " BEYOND " " REGION
		" WC_RESPONDER:status:none",
		RKEY " " BEYOND " " REGION " WC_ACCESS:qp_access_flags:access:" ATOMIC
		     " WC_RESPONDER:status:none",
	};
	struct ibv_qp *qp;

	new_device(0);
	qp = broken_qp(IBV_QPT_RC, NULL);
	for (int state = IBV_QPS_RESET; state <= IBV_QPS_RTR; state++) {
		fake_qp_force(qp, (enum ibv_qp_state)state);
		check_partial(qp, IBV_WC_REM_ACCESS_ERR, 0, state, want[state],
			      rdmaez_qp_state_str((enum ibv_qp_state)state));
	}
	fake_qp_force(qp, IBV_QPS_RESET);
	check_partial(qp, IBV_WC_RETRY_EXC_ERR, 0, IBV_QPS_RESET,
		      "WC_RESET:qp_state:state_now:RESET:ERR WC_RETRIES:timeout:none" KINDS FABRIC,
		      "retries before a reset");
	tap_eq_int(fake_count(FAKE_QUERY_PORT), 1, "its only port is asked all the same");
	check_partial(qp, IBV_WC_WR_FLUSH_ERR, 0, IBV_QPS_RESET,
		      "WC_FLUSHED:status:none WC_FLUSHED_RECV:status:none "
		      "WC_RESPONDER:status:none",
		      "a flush needs no attributes");
}

static bool is_of_receive(enum rdmaez_why reason)
{
	return reason == RDMAEZ_WHY_WC_RECV_SHORT || reason == RDMAEZ_WHY_WC_FLUSHED_RECV ||
	       reason == RDMAEZ_WHY_WC_GRH_ROOM || reason == RDMAEZ_WHY_WC_PEER_REQUEST;
}

/* What only a request can be to blame for; of a receive nothing is the peer's or goes to the peer. */
static bool is_of_request(const struct rdmaez_finding *finding)
{
	static const enum rdmaez_why reasons[] = {
		RDMAEZ_WHY_WC_FLUSHED,       RDMAEZ_WHY_WR_OPCODE,       RDMAEZ_WHY_WC_AH,
		RDMAEZ_WHY_WR_ATOMIC,        RDMAEZ_WHY_WC_CONNECTION,   RDMAEZ_WHY_WC_RKEY,
		RDMAEZ_WHY_WC_REMOTE_BOUNDS, RDMAEZ_WHY_WC_REGION_RIGHT, RDMAEZ_WHY_WC_PEER_RECV,
		RDMAEZ_WHY_WC_PEER_BUFFER,   RDMAEZ_WHY_WC_PEER_RIGHT,   RDMAEZ_WHY_WC_PEER_DEPTH,
		RDMAEZ_WHY_WC_PEER_OPCODE,   RDMAEZ_WHY_WC_PEER_AH,      RDMAEZ_WHY_WC_DEPTH_ABOVE,
		RDMAEZ_WHY_DEPTH_ZERO,
	};

	for (size_t i = 0; i < COUNT_OF(reasons); i++)
		if (finding->reason == reasons[i])
			return true;
	return finding->reason == RDMAEZ_WHY_WC_LIMIT &&
	       strcmp(finding->field, "cap.max_recv_sge") != 0;
}

/*
 * Whatever a device answers, nothing is certain, nothing comes twice, of no failure is nothing told, and no
 * request is blamed for what only a receive can be.
 */
static void check_everything(void)
{
	static const uint32_t vendors[] = {0, RXE, SIW, EFA, ERDMA, CXGB4, MANA, MLX5};
	static const int types[] = {IBV_QPT_RC,       IBV_QPT_UC,       IBV_QPT_UD,
				    IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_QPT_RAW_PACKET,
				    IBV_QPT_DRIVER};
	static const int errors[] = {0, EOPNOTSUPP, EIO};
	int certain = 0, twice = 0, misplaced = 0, returned = 0, empty = 0;

	for (size_t i = 0; i < COUNT_OF(vendors) * COUNT_OF(types) * COUNT_OF(errors); i++) {
		struct ibv_qp *qp;

		new_device(vendors[i % COUNT_OF(vendors)]);
		qp = broken_qp(IBV_QPT_RC, NULL);
		fixture_truth(qp)->max_dest_rd_atomic = 0;
		qp->qp_type = (enum ibv_qp_type)types[i / COUNT_OF(vendors) % COUNT_OF(types)];
		dev->habits.query_errno = errors[i / COUNT_OF(vendors) / COUNT_OF(types)];
		for (int status = -1; status < 26; status++)
			for (int opcode = -2; opcode < 17; opcode++) {
				const struct ibv_wc wc = wc_of(status, qp);
				struct rdmaez_diag diag;
				struct ibv_send_wr wr;
				int error;

				memset(&wr, 0, sizeof(wr));
				wr.opcode = (enum ibv_wr_opcode)opcode;
				error = opcode == -2
						? rdmaez_wc_explain_recv(&wc, qp, NULL, &diag)
						: rdmaez_wc_explain_send(
							  &wc, qp, opcode < 0 ? NULL : &wr, &diag);
				returned += error != diag.error || error == EOPNOTSUPP;
				empty += status && !diag.count;
				for (unsigned int n = 0; n < diag.count; n++) {
					const struct rdmaez_finding *of = &diag.finding[n];

					certain += of->severity != RDMAEZ_DIAG_LIKELY;
					misplaced += opcode > -2
							     ? is_of_receive(of->reason)
							     : !vendors[i % COUNT_OF(vendors)] &&
								       is_of_request(of);
					for (unsigned int m = 0; m < n; m++)
						twice += of->reason == diag.finding[m].reason &&
							 strcmp(of->field, diag.finding[m].field) ==
								 0;
				}
			}
	}
	tap_eq_int(returned, 0, "the record holds what was returned");
	tap_eq_int(certain, 0, "nothing is certain of why a work request failed");
	tap_eq_int(twice, 0, "nothing is told twice");
	tap_eq_int(empty, 0, "something is told of every failure");
	tap_eq_int(misplaced, 0, "a request is not blamed for a receive");
}

static void check_refusals(void)
{
	struct rdmaez_diag diag;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	new_device(0);
	qp = broken_qp(IBV_QPT_RC, NULL);
	wc = wc_of(IBV_WC_WR_FLUSH_ERR, qp);
	check_refusal(&diag, rdmaez_wc_explain_send(NULL, qp, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "wc", "no completion");
	tap_eq_str(diag.status, NULL, "no status");
	check_refusal(&diag, rdmaez_wc_explain_recv(&wc, NULL, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_NULL_ARGUMENT, "qp", "no queue pair");
	wc.qp_num++;
	check_refusal(&diag, rdmaez_wc_explain_send(&wc, qp, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_WC_OTHER_QP, "qp_num", "a request of another queue pair");
	check_refusal(&diag, rdmaez_wc_explain_recv(&wc, qp, NULL, &diag), EINVAL,
		      RDMAEZ_WHY_WC_OTHER_QP, "qp_num", "a receive of another queue pair");
	tap_eq_int(fake_count(FAKE_ANY), 0, "nobody was asked");
	wc.qp_num--;
	tap_eq_int(rdmaez_wc_explain_send(&wc, qp, NULL, NULL), 0, "without a record");
	tap_eq_int(rdmaez_wc_explain_recv(&wc, qp, NULL, NULL), 0, "a receive as well");
	dev->habits.query_errno = EIO;
	tap_eq_int(rdmaez_wc_explain_recv(&wc, qp, NULL, NULL), EIO, "the errno all the same");
}

/* The cause of a send's completion, where the device is on iWARP. */
static void check_sink(uint32_t vendor_id, int status, int opcode, const char *want)
{
	struct ibv_send_wr wr;
	struct rdmaez_diag diag;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	new_device(vendor_id);
	qp = broken_qp(IBV_QPT_RC, NULL);
	dev->verbs.transport_type = IBV_TRANSPORT_IWARP;
	wc = wc_of(status, qp);
	memset(&wr, 0, sizeof(wr));
	wr.opcode = (enum ibv_wr_opcode)opcode;
	tap_eq_int(rdmaez_wc_explain_send(&wc, qp, &wr, &diag), 0, "a completion on iWARP");
	check_line(&diag, want, "whose READ writes by a remote right");
}

static void check_iwarp_read(void)
{
#define SINK "WC_IWARP_READ:access:none"
	check_sink(IRDMA, IBV_WC_LOC_PROT_ERR, IBV_WR_RDMA_READ,
		   LKEY " " SINK " " BOUNDS " " LOCAL);
	check_sink(IRDMA, IBV_WC_LOC_PROT_ERR, IBV_WR_RDMA_WRITE, LKEY " " BOUNDS);
	check_sink(ERDMA, IBV_WC_LOC_ACCESS_ERR, IBV_WR_RDMA_READ,
		   LKEY " " SINK " " BOUNDS " " LOCAL);
	check_sink(CXGB4, IBV_WC_LOC_ACCESS_ERR, IBV_WR_RDMA_READ, LKEY " " SINK " " LOCAL);
	check_sink(CXGB4, IBV_WC_LOC_ACCESS_ERR, IBV_WR_SEND, LKEY);
	check_sink(SIW, IBV_WC_LOC_PROT_ERR, IBV_WR_RDMA_READ, LKEY " " BOUNDS " " LOCAL);
}

/* A GPU and an IOMMU: then the two devices may be kept apart. Where no IOMMU is to be seen, ACS alone may. */
static void check_gpu(void)
{
	static const char gpu[] = "7f3c00000000-7f3c00200000 rw-s 0 00:05 6 /dev/nvidiactl\n";
	static const struct {
		const char *type, *maps, *want;
	} cases[] = {
		{"DMA-FQ\n", gpu, LKEY " WC_GPU_PATH:sg_list.addr:none " BOUNDS " " LOCAL},
		{"DMA\n", gpu, LKEY " WC_GPU_PATH:sg_list.addr:none " BOUNDS " " LOCAL},
		{"identity\n", gpu, LKEY " " BOUNDS " " LOCAL},
		{"", gpu, LKEY " " BOUNDS " WC_GPU_ACS:sg_list.addr:none " LOCAL},
		{NULL, gpu, LKEY " " BOUNDS " WC_GPU_ACS:sg_list.addr:none " LOCAL},
		{NULL, "7f3c00000000-7f3c00200000 rw-p 0 00:00 0 \n", LKEY " " BOUNDS " " LOCAL},
		{"DMA\n", "7f3c00000000-7f3c00200000 rw-p 0 00:00 0 \n", LKEY " " BOUNDS " " LOCAL},
		{"DMA\n", NULL, LKEY " " BOUNDS " " LOCAL},
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct rdmaez_diag diag;
		struct ibv_qp *qp;
		struct ibv_wc wc;

		new_device(MLX5);
		qp = broken_qp(IBV_QPT_RC, NULL);
		fake_tree_new();
		fake_tree_file("/sys/kernel/iommu_groups/0/type", cases[i].type);
		fake_tree_file("/proc/self/maps", cases[i].maps);
		wc = wc_of(IBV_WC_LOC_PROT_ERR, qp);
		tap_eq_int(rdmaez_wc_explain_qp(&wc, qp, &diag), 0, "a completion");
		check_line(&diag, cases[i].want, "of a process with a GPU or without");
	}
	fake_tree(NULL);
}

int main(void)
{
	check_iwarp_read();
	check_gpu();
	check_sends();
	check_recvs();
	check_either();
	check_any_queue();
	check_rights();
	check_iwarp();
	check_efa();
	check_rxe();
	check_siw();
	check_irdma();
	check_ids();
	check_mana();
	check_others();
	check_questions();
	check_reset();
	check_everything();
	check_refusals();
	fake_close_all();
	return tap_done();
}
