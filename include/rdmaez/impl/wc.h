/* SPDX-License-Identifier: MIT */
/* Bodies of wc.h, and all statuses and events. */
#ifndef RDMAEZ_IMPL_WC_H
#define RDMAEZ_IMPL_WC_H

#ifndef RDMAEZ_WC_H
#include "../wc.h"
#endif

#if RDMAEZ_IMPL_BODIES

#include "explain.h"
#include "port.h"
#ifndef RDMAEZ_UNITS_H
#include "../units.h"
#endif

RDMAEZ_IMPL_BEGIN

/* The rows stand in the order of their numbers, which are the places at which they are found. */

RDMAEZ_COLD const struct rdmaez_advice *rdmaez_wc_explain(const struct ibv_wc *wc)
{
	static const struct rdmaez_advice advice[] = {
		{0,
		 RDMAEZ_VALID_ON_SUCCESS,
		 "IBV_WC_SUCCESS",
		 "the work request completed successfully",
		 "nothing to do",
		 "all drivers",
		 {NULL}},
		{1,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_LEN_ERR",
		 "a message is longer than this end can receive or send",
		 "post receives for the longest message, plus 40 bytes on UD, and split longer "
		 "messages",
		 "most drivers, not erdma and rxe",
		 {"the receive is shorter than the message that arrived",
		  "a UD receive has no room for the 40 bytes before the message",
		  "a UD message is longer than the MTU",
		  "the message is longer than the port's max_msg_sz",
		  "the buffer of an atomic is not 8 bytes long"}},
		{2,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_QP_OP_ERR",
		 "the device could not process the work request",
		 "check the work request against the queue pair's type, state and ibv_qp_cap",
		 "most drivers, not cxgb4",
		 {"queue pairs of this type do not have the opcode",
		  "there are more SGEs or inline bytes than the queue pair was created for",
		  "the address handle belongs to another protection domain",
		  "the queue pair was not ready to send",
		  "more READs or atomics were outstanding than max_rd_atomic, on some devices"}},
		{3,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_EEC_OP_ERR",
		 "an end-to-end context failed; only the RD transport has those",
		 "report it to the device's vendor with vendor_err",
		 "none in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs has no RD transport"}},
		{4,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_PROT_ERR",
		 "a local buffer is not memory that this work request may use",
		 "check lkey, bounds and protection domain; keep the region registered until the "
		 "completion",
		 "most drivers, not erdma",
		 {"the lkey is wrong, or its memory region was deregistered too early",
		  "an SGE reaches beyond its region",
		  "the region belongs to another protection domain than the queue pair",
		  "the region lacks IBV_ACCESS_LOCAL_WRITE for a receive, READ or atomic",
		  "the buffer is GPU memory that the device cannot reach"}},
		{5,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_WR_FLUSH_ERR",
		 "the work request was flushed because its queue pair had stopped working",
		 "find the first error that is not a flush; flushes are normal when a connection "
		 "ends",
		 "all drivers",
		 {"an earlier work request of the queue pair failed, and its completion tells the "
		  "cause",
		  "the program itself moved the queue pair to ERR, or is destroying it",
		  "the peer closed the connection, with rdma_cm or iWARP"}},
		{6,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_MW_BIND_ERR",
		 "a memory window could not be bound, or a key not invalidated",
		 "register the region with IBV_ACCESS_MW_BIND, and bind within its range and "
		 "access "
		 "rights",
		 "bnxt_re cxgb4 hns ionic irdma mlx4 mlx5 mthca qedr rxe",
		 {"the region was registered without IBV_ACCESS_MW_BIND",
		  "the window reaches beyond the region, or has access rights that the region "
		  "lacks",
		  "window, region and queue pair do not share a protection domain",
		  "the window's type does not suit the request, or it is bound already"}},
		{7,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_BAD_RESP_ERR",
		 "a response arrived that does not match the request",
		 "compare the two ends' queue pair numbers and PSNs, and update their firmware",
		 "bnxt_re efa hns ionic mlx4 mlx5 mthca ocrdma qedr siw",
		 {"the two ends are not each other's peers, so the response belongs to another "
		  "connection",
		  "the peer's device or firmware is at fault",
		  "the response to a READ was damaged on its way"}},
		{8,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_ACCESS_ERR",
		 "a request of the peer violated the access rights of local memory",
		 "grant the right at the region and at the queue pair, and check the peer's "
		 "addresses",
		 "bnxt_re cxgb4 erdma hns ionic mana mlx4 mlx5 mthca ocrdma qedr siw",
		 {"the region that the peer addressed lacks the remote access right",
		  "the queue pair's access flags lack it",
		  "the peer's address and length reach beyond the region"}},
		{9,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_INV_REQ_ERR",
		 "the peer refused the request as invalid",
		 "check the peer's receives, access flags and max_dest_rd_atomic",
		 "most drivers, not cxgb4 and erdma",
		 {"the message is longer than the receive that the peer has posted",
		  "more READs or atomics were outstanding than the peer's max_dest_rd_atomic",
		  "the access flags of the peer's queue pair do not allow the operation",
		  "the address of an atomic is not a multiple of 8",
		  "the peer's device does not support the operation"}},
		{10,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_ACCESS_ERR",
		 "the peer refused access to its memory",
		 "exchange rkey and address again; grant the right at the peer's region and queue "
		 "pair",
		 "most drivers, not cxgb4",
		 {"the rkey or address is wrong or stale: the region was deregistered or "
		  "registered "
		  "again",
		  "the request reaches beyond the peer's region",
		  "the region lacks IBV_ACCESS_REMOTE_READ, REMOTE_WRITE or REMOTE_ATOMIC",
		  "the peer's queue pair lacks that right, or does not share the region's "
		  "protection "
		  "domain",
		  "a window was invalidated, or a zero-based region was given an absolute "
		  "address"}},
		{11,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_OP_ERR",
		 "the peer could not complete the request, for a reason of its own",
		 "look at the peer: its completions and asynchronous events tell the reason",
		 "most drivers, not cxgb4, erdma and siw",
		 {"the peer's receive failed: its lkey or its bounds are wrong",
		  "a completion queue of the peer overran",
		  "the peer's queue pair had gone to ERR"}},
		{12,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_RETRY_EXC_ERR",
		 "the peer acknowledged neither the packet nor any of its retries",
		 "check the address, then the MTU, then the network; use timeout 14 or more and "
		 "retry_cnt 7",
		 "bnxt_re erdma hfi1 hns ionic irdma mana mlx4 mlx5 mthca ocrdma qedr rxe",
		 {"the address is wrong: GID index or type, LID, queue pair number, PSN",
		  "the peer is not in RTR or RTS yet, or it is gone",
		  "the path MTU is larger than the network's, or the P_Keys do not match",
		  "the network loses packets: link, firewall on UDP port 4791, flow control",
		  "timeout or retry_cnt is too small for a busy network or peer"}},
		{13,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_RNR_RETRY_EXC_ERR",
		 "the peer had no receive posted, and the retries are used up",
		 "have the peer post receives before it enters RTR, and set rnr_retry to 7, which "
		 "never "
		 "gives up",
		 "bnxt_re efa hfi1 hns ionic irdma mana mlx4 mlx5 mthca ocrdma qedr rxe",
		 {"the peer posts its receives too late, or too few",
		  "the peer's shared receive queue ran empty",
		  "rnr_retry is finite, so a busy peer is given up",
		  "the peer's min_rnr_timer is short"}},
		{14,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_RDD_VIOL_ERR",
		 "a reliable datagram domain did not match; only the RD transport has those",
		 "report it to the device's vendor with vendor_err",
		 "none in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs has no RD transport"}},
		{15,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_INV_RD_REQ_ERR",
		 "the peer refused the message: on efa, it has no such queue pair",
		 "on efa, ask the peer for its queue pair number again",
		 "efa hfi1 hns mthca ocrdma qedr",
		 {"efa: the queue pair number is wrong, or the peer has restarted",
		  "elsewhere the device or its driver is at fault: verbs has no RD transport"}},
		{16,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_ABORT_ERR",
		 "the peer aborted the operation",
		 "reconnect when the peer is back",
		 "efa hns mlx4 mlx5 mthca ocrdma",
		 {"the peer's program ended or reset its queue pair",
		  "mlx5: a page fault in memory with on-demand paging"}},
		{17,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_INV_EECN_ERR",
		 "an end-to-end context number is invalid; only the RD transport has those",
		 "report it to the device's vendor with vendor_err",
		 "none in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs has no RD transport"}},
		{18,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_INV_EEC_STATE_ERR",
		 "an end-to-end context is in a wrong state; only the RD transport has those",
		 "report it to the device's vendor with vendor_err",
		 "none in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs has no RD transport"}},
		{19,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_FATAL_ERR",
		 "the queue pair or the device has failed",
		 "see the events and the kernel log; destroy the queue pair and create a new one",
		 "bnxt_re cxgb4 irdma mana ocrdma rxe",
		 {"the device has failed internally; the kernel log says more",
		  "irdma: an error that has no status of its own"}},
		{20,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_RESP_TIMEOUT_ERR",
		 "the peer did not answer in time",
		 "check that the peer is alive and that the network lets its packets through",
		 "efa hfi1 ocrdma",
		 {"the peer cannot be reached: address, route, security group, firewall",
		  "the peer is gone or hangs"}},
		{21,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_GENERAL_ERR",
		 "something failed that has no status of its own",
		 "read the kernel log, and ask the device's vendor about vendor_err",
		 "most drivers",
		 {"the device met an error that only vendor_err describes"}},
		{22,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_TM_ERR",
		 "an operation on the tag matching list failed",
		 "expect the message of that tag; synchronise if IBV_WC_TM_SYNC_REQ was set",
		 "mlx5",
		 {"the tag to be removed has matched a message in the meantime",
		  "the list was not synchronised after IBV_WC_TM_SYNC_REQ"}},
		{23,
		 RDMAEZ_VALID_ON_ERROR | RDMAEZ_VALID_OPCODE,
		 "IBV_WC_TM_RNDV_INCOMPLETE",
		 "a tag matched, and its rendezvous is left to the program; this is not an error",
		 "fetch the message in software, as the rendezvous header describes",
		 "mlx5",
		 {"the device does not perform this rendezvous itself"}},
		/* The last one is for all others. */
		{-1,
		 RDMAEZ_VALID_ON_ERROR,
		 "unknown",
		 "the request failed with a status that rdmaez does not know",
		 "see ibv_wc_status_str(), vendor_err and the kernel log",
		 "",
		 {"rdma-core or the driver is newer than rdmaez"}}};
	const unsigned int unknown = sizeof(advice) / sizeof(advice[0]) - 1;
	const unsigned int status = wc ? (unsigned int)wc->status : unknown;

	return &advice[status < unknown ? status : unknown];
}

RDMAEZ_COLD const struct rdmaez_advice *rdmaez_event_explain(const struct ibv_async_event *event)
{
	static const struct rdmaez_advice advice[] = {
		{0,
		 RDMAEZ_VALID_CQ,
		 "IBV_EVENT_CQ_ERR",
		 "the completion queue is broken: it reports no more completions",
		 "destroy its queue pairs and it; create it with an entry for every work request "
		 "posted",
		 "most drivers",
		 {"more completions came than it has entries, because it was polled too rarely",
		  "the device lost access to the queue's memory"}},
		{1,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_QP_FATAL",
		 "the queue pair is in ERR, and there may be no completion that tells why",
		 "poll its completions, destroy it and reconnect",
		 "most drivers",
		 {"the device met an error while processing the queue pair",
		  "a completion queue of the queue pair overran",
		  "iWARP: the connection was terminated"}},
		{2,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_QP_REQ_ERR",
		 "the peer sent a request that this queue pair had to refuse",
		 "the peer sees IBV_WC_REM_INV_REQ_ERR; match depths and access rights, then "
		 "reconnect",
		 "most drivers",
		 {"more READs or atomics arrived at once than max_dest_rd_atomic",
		  "the access flags do not allow the operation",
		  "the message was longer than the receive",
		  "the device does not support the operation"}},
		{3,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_QP_ACCESS_ERR",
		 "a request of the peer violated the access rights of local memory",
		 "the peer sees IBV_WC_REM_ACCESS_ERR; correct key, address and rights, then "
		 "reconnect",
		 "most drivers",
		 {"the peer's rkey or address is wrong or stale",
		  "the request reached beyond the region",
		  "the region or the queue pair lacks the remote access right"}},
		{4,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_COMM_EST",
		 "the first packet arrived while the queue pair was in RTR; this is not an error",
		 "go on to RTS as planned, or tell rdma_cm with rdma_notify()",
		 "most drivers",
		 {"the peer was in RTS first and has sent a packet"}},
		{5,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_SQ_DRAINED",
		 "the send queue has drained; this is not an error",
		 "change the attributes in SQD, and move back to RTS",
		 "most drivers, not mlx5 and hns, which have no SQD",
		 {"the queue pair went to SQD with IBV_QP_EN_SQD_ASYNC_NOTIFY"}},
		{6,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_PATH_MIG",
		 "the connection now uses its alternate path",
		 "repair the first path, and load an alternate path again",
		 "InfiniBand drivers",
		 {"the first path failed, or the peer migrated"}},
		{7,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_PATH_MIG_ERR",
		 "the connection could not migrate to its alternate path",
		 "load an alternate path that matches the peer's, or reconnect",
		 "InfiniBand drivers",
		 {"no alternate path is loaded, or it is not the one that the peer uses"}},
		{8,
		 0,
		 "IBV_EVENT_DEVICE_FATAL",
		 "the device has failed or is being removed",
		 "destroy everything and close the device: verbs fail with EIO from now on",
		 "most drivers",
		 {"the firmware failed, or the kernel is resetting the device",
		  "the device was unplugged or its driver unloaded"}},
		{9,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_PORT_ACTIVE",
		 "the port is up",
		 "query the port's attributes and GIDs again, then connect",
		 "all drivers",
		 {"the link came up, and on InfiniBand the subnet manager has set up the port"}},
		{10,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_PORT_ERR",
		 "the port is down",
		 "wait for IBV_EVENT_PORT_ACTIVE; meanwhile work requests fail with "
		 "IBV_WC_RETRY_EXC_ERR",
		 "all drivers",
		 {"the cable, the switch or the other end of the link has failed",
		  "the network interface or the port was disabled"}},
		{11,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_LID_CHANGE",
		 "the port's LID has changed",
		 "tell the peers, and reconnect",
		 "InfiniBand drivers",
		 {"the subnet manager has reassigned the LIDs"}},
		{12,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_PKEY_CHANGE",
		 "the port's P_Key table has changed",
		 "find the P_Key index again, and reconnect if it has changed",
		 "InfiniBand drivers",
		 {"the subnet manager has changed the partitions"}},
		{13,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_SM_CHANGE",
		 "another subnet manager has taken over",
		 "join multicast groups again",
		 "InfiniBand drivers",
		 {"the former one failed or has stepped down"}},
		{14,
		 RDMAEZ_VALID_SRQ,
		 "IBV_EVENT_SRQ_ERR",
		 "the shared receive queue is broken",
		 "destroy its queue pairs and it, and create them again",
		 "most drivers",
		 {"the device met an error while taking a receive from the queue"}},
		{15,
		 RDMAEZ_VALID_SRQ,
		 "IBV_EVENT_SRQ_LIMIT_REACHED",
		 "the shared receive queue holds fewer receives than its limit; this is not an "
		 "error",
		 "post receives, then arm the limit again with ibv_modify_srq(): it reports only "
		 "once",
		 "most drivers",
		 {"receives are used up faster than they are posted"}},
		{16,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_QP_LAST_WQE_REACHED",
		 "the queue pair takes no more receives from its shared receive queue",
		 "poll its completions; then it can be destroyed without losing a receive",
		 "most drivers",
		 {"the queue pair is in ERR, and its last receive has completed"}},
		{17,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_CLIENT_REREGISTER",
		 "the subnet manager asks clients to register again",
		 "join multicast groups and register services again",
		 "InfiniBand drivers",
		 {"the subnet manager has restarted and lost the registrations"}},
		{18,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_GID_CHANGE",
		 "the port's GID table has changed",
		 "choose the GID index again; reconnect queue pairs whose GID is gone",
		 "all drivers",
		 {"the network interface gained or lost an address",
		  "InfiniBand: the subnet prefix has changed"}},
		{19,
		 RDMAEZ_VALID_WQ,
		 "IBV_EVENT_WQ_FATAL",
		 "the work queue is in ERR",
		 "destroy the work queue and create a new one",
		 "mlx5",
		 {"the device met an error while processing the queue"}},
		{20,
		 0,
		 "IBV_EVENT_DEVICE_SPEED_CHANGE",
		 "a port's speed has changed; this is not an error",
		 "query all ports for their speed: the event does not name the port",
		 "mlx5 from Linux 7.2 on",
		 {"a link came up at another speed, or a port of a bond came or went"}},
		/* The last one is for all others. */
		{-1,
		 0,
		 "unknown",
		 "something happened that rdmaez does not know",
		 "see ibv_event_type_str(), and acknowledge the event like any other",
		 "",
		 {"rdma-core or the kernel is newer than rdmaez"}}};
	const unsigned int unknown = sizeof(advice) / sizeof(advice[0]) - 1;
	const unsigned int type = event ? (unsigned int)event->event_type : unknown;

	return &advice[type < unknown ? type : unknown];
}

RDMAEZ_COLD const char *rdmaez_wc_vendor_str(const struct ibv_wc *wc)
{
	static const struct {
		int status;
		uint32_t vendor_err;
		const char *hint;
	} known[] = {
		{IBV_WC_LOC_PROT_ERR, 0x51,
		 "often GPU memory: peer memory driver, PCIe ACS, IOMMU"},
		{IBV_WC_LOC_PROT_ERR, 0x52, "seen where a program builds its work requests itself"},
		{IBV_WC_WR_FLUSH_ERR, 0xf5, "flushed; it does not tell why"},
		{IBV_WC_WR_FLUSH_ERR, 0xf9, "flushed; it does not tell why"},
		{IBV_WC_REM_INV_REQ_ERR, 0x8a, "the peer answered: invalid request"},
		{IBV_WC_REM_ACCESS_ERR, 0x88, "the peer answered: no such access"},
		{IBV_WC_REM_OP_ERR, 0x89, "the peer answered: operation failed"},
		{IBV_WC_RETRY_EXC_ERR, 0x81, "timeouts have used up retry_cnt"},
		{IBV_WC_RNR_RETRY_EXC_ERR, 0x87, "the peer's RNR NAKs have used up rnr_retry"},
		{IBV_WC_REM_ABORT_ERR, 0x93, "a page fault in memory with on-demand paging"},
	};

	for (size_t i = 0; wc && i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].status == (int)wc->status && known[i].vendor_err == wc->vendor_err)
			return known[i].hint;
	return "";
}

/* Whether a completion of this status failed. A rendezvous left to the program did not. */
RDMAEZ_IMPL bool rdmaez_impl_wc_failed(const struct ibv_wc *wc)
{
	return wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_TM_RNDV_INCOMPLETE;
}

RDMAEZ_API const struct ibv_wc *rdmaez_wc_first_error(const struct ibv_wc *wc, int count,
						      uint32_t qp_num)
{
	const struct ibv_wc *flush = NULL;

	for (int i = 0; wc && i < count; i++) {
		if (wc[i].qp_num != qp_num || !rdmaez_impl_wc_failed(&wc[i]))
			continue;
		if (wc[i].status != IBV_WC_WR_FLUSH_ERR)
			return &wc[i];
		if (!flush)
			flush = &wc[i];
	}
	return flush;
}

RDMAEZ_API void rdmaez_wc_errors_add(struct rdmaez_wc_errors *errors, const struct ibv_wc *wc,
				     int count)
{
	const struct ibv_wc *first = rdmaez_wc_first_error(wc, count, errors->qp_num);

	if (!first)
		return;
	if (!errors->failed && (!errors->flushed || first->status != IBV_WC_WR_FLUSH_ERR))
		errors->first = *first;
	for (int i = 0; i < count; i++) {
		if (wc[i].qp_num != errors->qp_num || !rdmaez_impl_wc_failed(&wc[i]))
			continue;
		if (wc[i].status == IBV_WC_WR_FLUSH_ERR)
			errors->flushed++;
		else
			errors->failed++;
	}
}

/* What the device reports of a queue pair, and where to write what follows from it. */
struct rdmaez_impl_wc_case {
	struct ibv_qp *qp;
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;
	struct rdmaez_diag *diag;
};

/* Something likely, with the bounds of its site. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_suspect(const struct rdmaez_impl_wc_case *here,
					     const struct rdmaez_impl_site *site, uint64_t value)
{
	rdmaez_impl_find(here->diag, RDMAEZ_DIAG_LIKELY, site, value);
}

/* Something likely, with a bound that only the device knows. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_above(const struct rdmaez_impl_wc_case *here,
					   const struct rdmaez_impl_site *site, uint64_t value,
					   uint64_t max)
{
	rdmaez_impl_find_within(here->diag, RDMAEZ_DIAG_LIKELY, site, value, (uint64_t)site->min,
				max);
}

/* Asks for the queue pair's attributes, and notes in the record which state it is in. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_ask(struct rdmaez_impl_wc_case *here, struct ibv_qp *qp,
					struct rdmaez_diag *diag)
{
	const int mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			 IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |
			 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_CAP;
	int error;

	memset(here, 0, sizeof(*here));
	here->qp = qp;
	here->diag = diag;
	rdmaez_impl_diag_qp(diag, qp);
	error = rdmaez_impl_error(ibv_query_qp(qp, &here->attr, mask, &here->init));
	if (error)
		return rdmaez_impl_refuse_verb(diag, error, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_qp");
	if (diag)
		diag->from = (int)here->attr.qp_state;
	return 0;
}

/* Whether the queue pair talks to one peer by a path of its own. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_wc_connected(const struct rdmaez_impl_wc_case *here)
{
	switch ((int)here->qp->qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return true;
	default:
		return false;
	}
}

/* The P_Key with which the queue pair sends. A full member may talk to all of its partition. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_pkey(const struct rdmaez_impl_wc_case *here)
{
	static const struct rdmaez_impl_site limited = {"pkey_index", RDMAEZ_WHY_PKEY_LIMITED,
							RDMAEZ_VALUE_PKEY, 0, 0};
	static const struct rdmaez_impl_site empty = {"pkey_index", RDMAEZ_WHY_PKEY_EMPTY,
						      RDMAEZ_VALUE_PKEY, 0, 0};
	const int pkey = rdmaez_impl_port_pkey(here->qp->context, here->attr.port_num,
					       here->attr.pkey_index);

	if (pkey < 0)
		return rdmaez_impl_refuse_verb(here->diag, -pkey, RDMAEZ_WHY_QUERY_REFUSED,
					       "ibv_query_pkey");
	if (!(pkey & 0x7fff))
		rdmaez_impl_wc_suspect(here, &empty, (uint64_t)pkey);
	else if (!(pkey & 0x8000))
		rdmaez_impl_wc_suspect(here, &limited, (uint64_t)pkey);
	return 0;
}

/* The address vector: the GID of this end as it is now, and how far packets go. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_path(const struct rdmaez_impl_wc_case *here,
					 const struct ibv_port_attr *port)
{
	static const struct rdmaez_impl_site hops = {"ah_attr.grh.hop_limit", RDMAEZ_WHY_HOP_LIMIT,
						     RDMAEZ_VALUE_NUMBER, 2, 255};
	struct rdmaez_impl_site gid = {"ah_attr.grh.sgid_index", RDMAEZ_WHY_NONE,
				       RDMAEZ_VALUE_NUMBER, 0, RDMAEZ_PATH_GIDS - 1};
	const struct ibv_ah_attr *ah = &here->attr.ah_attr;
	struct rdmaez_gid_want want;
	struct ibv_gid_entry entry;
	int error;

	if (!ah->is_global) {
		if (!ah->dlid)
			rdmaez_impl_find_plain(here->diag, RDMAEZ_DIAG_LIKELY,
					       RDMAEZ_WHY_PATH_EMPTY, "ah_attr.dlid");
		return 0;
	}
	error = rdmaez_impl_port_gid(here->qp->context, here->attr.port_num, ah->grh.sgid_index,
				     &entry, here->diag);
	if (!error) {
		memset(&want, 0, sizeof(want));
		want.peer = ah->grh.dgid;
		rdmaez_gid_rank(&entry, &want, &gid.why);
	}
	if (port->gid_tbl_len < RDMAEZ_PATH_GIDS)
		gid.max = port->gid_tbl_len - 1;
	if (gid.why != RDMAEZ_WHY_NONE)
		rdmaez_impl_wc_suspect(here, &gid, ah->grh.sgid_index);
	if (ah->grh.hop_limit <= 1 &&
	    rdmaez_gid_class(&ah->grh.dgid) != RDMAEZ_GID_CLASS_LINK_LOCAL)
		rdmaez_impl_wc_suspect(here, &hops, ah->grh.hop_limit);
	return error;
}

/* Why packets may not arrive: port, path, MTU, P_Key. After a reset there is no port to look at. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_way(const struct rdmaez_impl_wc_case *here)
{
	static const struct rdmaez_impl_site down = {"port_attr.state", RDMAEZ_WHY_PORT_DOWN,
						     RDMAEZ_VALUE_NUMBER, IBV_PORT_ACTIVE,
						     IBV_PORT_ACTIVE};
	static const struct rdmaez_impl_site mtu = {"path_mtu", RDMAEZ_WHY_MTU_ABOVE_ACTIVE,
						    RDMAEZ_VALUE_MTU, IBV_MTU_256, 0};
	const struct ibv_qp_attr *attr = &here->attr;
	struct ibv_port_attr port;
	int error;

	if (!attr->port_num)
		return 0;
	error = rdmaez_impl_port_query(here->qp->context, attr->port_num, &port, here->diag);
	if (error)
		return error;
	if (port.state != IBV_PORT_ACTIVE && port.state != IBV_PORT_ACTIVE_DEFER)
		rdmaez_impl_wc_suspect(here, &down, (uint64_t)port.state);
	if (rdmaez_impl_wc_connected(here)) {
		error = rdmaez_impl_wc_path(here, &port);
		if (rdmaez_mtu_bytes(port.active_mtu) && attr->path_mtu > port.active_mtu)
			rdmaez_impl_wc_above(here, &mtu, (uint64_t)attr->path_mtu,
					     (uint64_t)port.active_mtu);
	}
	return error ? error : rdmaez_impl_wc_pkey(here);
}

/* How long it tried. The one thing certain is that the retries are used up. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_retries(const struct rdmaez_impl_wc_case *here)
{
	static const struct rdmaez_impl_site used_up = {"timeout", RDMAEZ_WHY_WC_RETRIES,
							RDMAEZ_VALUE_NS, 0, 0};
	static const struct rdmaez_impl_site no_timer = {"timeout", RDMAEZ_WHY_WC_NO_TIMER,
							 RDMAEZ_VALUE_NUMBER, 1, 31};
	static const struct rdmaez_impl_site too_short = {"timeout", RDMAEZ_WHY_WC_TIMEOUT_SHORT,
							  RDMAEZ_VALUE_NUMBER, 14, 31};
	static const struct rdmaez_impl_site no_retry = {"retry_cnt", RDMAEZ_WHY_RETRY_ZERO,
							 RDMAEZ_VALUE_NUMBER, 1, 7};
	const struct ibv_qp_attr *attr = &here->attr;
	const struct rdmaez_span_ns tried = rdmaez_give_up_ns(attr->timeout, attr->retry_cnt);
	const uint64_t once = rdmaez_timeout_ns(attr->timeout);

	if (!once)
		rdmaez_impl_wc_suspect(here, &no_timer, attr->timeout);
	else
		rdmaez_impl_find_within(here->diag, RDMAEZ_DIAG_ERROR, &used_up, once, tried.min,
					tried.max);
	if (once && attr->timeout < 14)
		rdmaez_impl_wc_suspect(here, &too_short, attr->timeout);
	if (!attr->retry_cnt)
		rdmaez_impl_wc_suspect(here, &no_retry, 0);
}

/* How long the peer was given to post a receive. Its own timer counts; ours may be the same. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_rnr(const struct rdmaez_impl_wc_case *here)
{
	static const struct rdmaez_impl_site used_up = {"rnr_retry", RDMAEZ_WHY_WC_RNR,
							RDMAEZ_VALUE_NUMBER, 7, 7};
	static const struct rdmaez_impl_site timer = {"min_rnr_timer", RDMAEZ_WHY_WC_RNR_TIMER,
						      RDMAEZ_VALUE_NS, 0, 0};
	const struct ibv_qp_attr *attr = &here->attr;
	const uint64_t all = rdmaez_rnr_give_up_ns(attr->min_rnr_timer, attr->rnr_retry);

	if (attr->rnr_retry >= 7)
		return;
	rdmaez_impl_find(here->diag, RDMAEZ_DIAG_ERROR, &used_up, attr->rnr_retry);
	if (here->qp->qp_type == IBV_QPT_RC)
		rdmaez_impl_find_within(here->diag, RDMAEZ_DIAG_LIKELY, &timer,
					rdmaez_rnr_timer_ns(attr->min_rnr_timer), all, all);
}

/* What an end with these access flags and depths refuses. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_rights(const struct rdmaez_impl_wc_case *here)
{
	static const struct rdmaez_impl_site lacking = {"qp_access_flags", RDMAEZ_WHY_WC_ACCESS,
							RDMAEZ_VALUE_ACCESS, 0, 0};
	static const struct rdmaez_impl_site no_depth = {
		"max_dest_rd_atomic", RDMAEZ_WHY_DEPTH_ZERO, RDMAEZ_VALUE_NUMBER, 1, 255};
	static const struct rdmaez_impl_site deeper = {"max_rd_atomic", RDMAEZ_WHY_WC_DEPTH_ABOVE,
						       RDMAEZ_VALUE_NUMBER, 0, 0};
	const struct ibv_qp_attr *attr = &here->attr;
	const bool rc = here->qp->qp_type == IBV_QPT_RC;
	unsigned int rights = IBV_ACCESS_REMOTE_WRITE;

	if (rc || here->qp->qp_type == IBV_QPT_XRC_RECV)
		rights |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	else if (here->qp->qp_type != IBV_QPT_UC)
		return;
	if (rights & ~attr->qp_access_flags)
		rdmaez_impl_wc_above(here, &lacking, rights & ~attr->qp_access_flags, rights);
	if (!(rights & IBV_ACCESS_REMOTE_READ))
		return;
	if (!attr->max_dest_rd_atomic)
		rdmaez_impl_wc_suspect(here, &no_depth, 0);
	else if (rc && attr->max_rd_atomic > attr->max_dest_rd_atomic)
		rdmaez_impl_wc_above(here, &deeper, attr->max_rd_atomic, attr->max_dest_rd_atomic);
}

/* A limit that the request may have been beyond. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_limit(const struct rdmaez_impl_wc_case *here,
					   const char *field, uint64_t limit)
{
	const struct rdmaez_impl_site site = {field, RDMAEZ_WHY_WC_LIMIT, RDMAEZ_VALUE_LIMIT, 0,
					      (int64_t)limit};

	rdmaez_impl_wc_suspect(here, &site, 0);
}

/* How long a message may be. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_length(const struct rdmaez_impl_wc_case *here)
{
	const bool ud = here->qp->qp_type == IBV_QPT_UD;
	struct ibv_port_attr port;
	int error;

	if (ud)
		rdmaez_impl_find_plain(here->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_WC_GRH_ROOM,
				       "sg_list");
	if (!here->attr.port_num)
		return 0;
	error = rdmaez_impl_port_query(here->qp->context, here->attr.port_num, &port, here->diag);
	if (!error && ud)
		rdmaez_impl_wc_limit(here, "port_attr.active_mtu",
				     (uint64_t)rdmaez_mtu_bytes(port.active_mtu));
	else if (!error)
		rdmaez_impl_wc_limit(here, "port_attr.max_msg_sz", port.max_msg_sz);
	return error;
}

/* What a send request may hold. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_request(const struct rdmaez_impl_wc_case *here)
{
	if (here->qp->qp_type == IBV_QPT_XRC_RECV)
		return;
	rdmaez_impl_wc_limit(here, "cap.max_send_sge", here->init.cap.max_send_sge);
	rdmaez_impl_wc_limit(here, "cap.max_inline_data", here->init.cap.max_inline_data);
	if (here->qp->qp_type == IBV_QPT_RC || here->qp->qp_type == IBV_QPT_XRC_SEND)
		rdmaez_impl_wc_limit(here, "max_rd_atomic", here->attr.max_rd_atomic);
}

/* A flush is certain about one thing: it is not the cause. */
RDMAEZ_IMPL_COLD void rdmaez_impl_wc_flush(const struct rdmaez_impl_wc_case *here)
{
	const struct ibv_device *device = here->qp->context->device;

	rdmaez_impl_find_plain(here->diag, RDMAEZ_DIAG_ERROR, RDMAEZ_WHY_WC_FLUSHED, "status");
	if (device && device->transport_type == IBV_TRANSPORT_IWARP)
		rdmaez_impl_find_plain(here->diag, RDMAEZ_DIAG_LIKELY, RDMAEZ_WHY_WC_IWARP,
				       "status");
}

/* The findings for one status. Queries that fail end in an errno, after all other findings. */
RDMAEZ_IMPL_COLD int rdmaez_impl_wc_narrow(const struct rdmaez_impl_wc_case *here, int status)
{
	const bool retries =
		here->qp->qp_type == IBV_QPT_RC || here->qp->qp_type == IBV_QPT_XRC_SEND;
	int error = 0;

	switch (status) {
	case IBV_WC_LOC_LEN_ERR:
		return rdmaez_impl_wc_length(here);
	case IBV_WC_LOC_QP_OP_ERR:
		rdmaez_impl_wc_request(here);
		return 0;
	case IBV_WC_WR_FLUSH_ERR:
		rdmaez_impl_wc_flush(here);
		return 0;
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		rdmaez_impl_wc_rights(here);
		return 0;
	case IBV_WC_RETRY_EXC_ERR:
		error = rdmaez_impl_wc_way(here);
		if (retries)
			rdmaez_impl_wc_retries(here);
		return error;
	case IBV_WC_RNR_RETRY_EXC_ERR:
		if (retries)
			rdmaez_impl_wc_rnr(here);
		return 0;
	case IBV_WC_RESP_TIMEOUT_ERR:
		return rdmaez_impl_wc_way(here);
	default:
		return 0;
	}
}

RDMAEZ_COLD int rdmaez_wc_explain_qp(const struct ibv_wc *wc, struct ibv_qp *qp,
				     struct rdmaez_diag *diag)
{
	static const struct rdmaez_impl_site other = {"qp_num", RDMAEZ_WHY_WC_OTHER_QP,
						      RDMAEZ_VALUE_NUMBER, 0, 0};
	struct rdmaez_impl_wc_case here;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_wc_explain_qp");
	if (!wc || !qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, wc ? "qp" : "wc");
	if (wc->qp_num != qp->qp_num)
		return rdmaez_impl_refuse_within(diag, EINVAL, &other, wc->qp_num, qp->qp_num,
						 qp->qp_num);
	error = rdmaez_impl_wc_ask(&here, qp, diag);
	if (error || !diag)
		return error;
	return rdmaez_impl_wc_narrow(&here, (int)wc->status);
}

/* Whether an event is of a queue pair; rdmaez_event_explain() knows as well, but brings all its texts along. */
RDMAEZ_IMPL_COLD bool rdmaez_impl_event_of_qp(int type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return true;
	default:
		return false;
	}
}

RDMAEZ_COLD int rdmaez_event_explain_qp(const struct ibv_async_event *event,
					struct rdmaez_diag *diag)
{
	struct rdmaez_impl_wc_case here;
	int error;

	rdmaez_impl_diag_reset(diag, "rdmaez_event_explain_qp");
	if (!event)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "event");
	if (!rdmaez_impl_event_of_qp((int)event->event_type))
		return 0;
	if (!event->element.qp)
		return rdmaez_impl_refuse(diag, EINVAL, RDMAEZ_WHY_NULL_ARGUMENT, "element.qp");
	error = rdmaez_impl_wc_ask(&here, event->element.qp, diag);
	if (error || !diag)
		return error;
	if (event->event_type == IBV_EVENT_QP_REQ_ERR ||
	    event->event_type == IBV_EVENT_QP_ACCESS_ERR)
		rdmaez_impl_wc_rights(&here);
	return 0;
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
