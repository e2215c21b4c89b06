/* SPDX-License-Identifier: MIT */
/* Says what the statuses of completions and the events mean, who reports them, and what to do. */
#ifndef RDMAEZ_EXPLAIN_WC_H
#define RDMAEZ_EXPLAIN_WC_H

#include "diag.h"

RDMAEZ_IMPL_BEGIN

/*
 * Writes what happened, the causes and what to do. Each has a line, which is wrapped if it is too
 * long.
 */
RDMAEZ_IMPL void rdmaez_impl_put_advice(struct rdmaez_impl_text *text,
					const struct rdmaez_advice *advice)
{
	char words[256];
	struct rdmaez_impl_text line = rdmaez_impl_text_in(words, sizeof(words));

	rdmaez_impl_put(&line, "What: %s.", advice->what);
	rdmaez_impl_put_wrapped(text, "  ", "    ", words);
	for (int i = 0; i < RDMAEZ_ADVICE_CAUSES && advice->cause[i]; i++) {
		line = rdmaez_impl_text_in(words, sizeof(words));
		rdmaez_impl_put(&line, "Likely: %s.", advice->cause[i]);
		rdmaez_impl_put_wrapped(text, "  ", "    ", words);
	}
	line = rdmaez_impl_text_in(words, sizeof(words));
	rdmaez_impl_put(&line, "Next: %s.", advice->fix);
	rdmaez_impl_put_wrapped(text, "  ", "    ", words);
}

RDMAEZ_SEAM int rdmaez_impl_tell_wc_format(const struct ibv_wc *wc, char *buf, size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const struct rdmaez_advice *advice = rdmaez_wc_explain(wc);

	if (!wc)
		return 0;
	rdmaez_impl_put(&text, "%s (%d) on QP %u, wr_id 0x%llx", advice->name, (int)wc->status,
			wc->qp_num, (unsigned long long)wc->wr_id);
	if (advice->valid & RDMAEZ_VALID_VENDOR_ERR)
		rdmaez_impl_put(&text, ", vendor_err 0x%x", wc->vendor_err);
	rdmaez_impl_put(&text, ".\n");
	rdmaez_impl_put_advice(&text, advice);
	if (rdmaez_wc_vendor_str(wc)[0])
		rdmaez_impl_put(&text, "  On mlx5 and mlx4 this vendor_err hints at: %s.\n",
				rdmaez_wc_vendor_str(wc));
	return (int)text.length;
}

/* Writes what an event happened to. */
RDMAEZ_IMPL void rdmaez_impl_put_element(struct rdmaez_impl_text *text,
					 const struct ibv_async_event *event, unsigned int valid)
{
	if ((valid & RDMAEZ_VALID_QP) && event->element.qp)
		rdmaez_impl_put(text, " on QP %u", event->element.qp->qp_num);
	else if (valid & RDMAEZ_VALID_PORT_NUM)
		rdmaez_impl_put(text, " on port %d", event->element.port_num);
	else if ((valid & RDMAEZ_VALID_CQ) && event->element.cq)
		rdmaez_impl_put(text, " on a CQ of %d entries", event->element.cq->cqe);
	else if (valid & RDMAEZ_VALID_SRQ)
		rdmaez_impl_put(text, " on an SRQ");
	else if ((valid & RDMAEZ_VALID_WQ) && event->element.wq)
		rdmaez_impl_put(text, " on WQ %u", event->element.wq->wq_num);
}

RDMAEZ_SEAM int rdmaez_impl_tell_event_format(const struct ibv_async_event *event, char *buf,
					      size_t size)
{
	struct rdmaez_impl_text text = rdmaez_impl_text_in(buf, size);
	const struct rdmaez_advice *advice = rdmaez_event_explain(event);
	const unsigned int objects =
		RDMAEZ_VALID_CQ | RDMAEZ_VALID_QP | RDMAEZ_VALID_SRQ | RDMAEZ_VALID_WQ;

	if (!event)
		return 0;
	rdmaez_impl_put(&text, "%s (%d)", advice->name, (int)event->event_type);
	rdmaez_impl_put_element(&text, event, advice->valid);
	rdmaez_impl_put(&text, ".\n");
	rdmaez_impl_put_advice(&text, advice);
	rdmaez_impl_put(&text, "  Then: call ibv_ack_async_event()%s.\n",
			advice->valid & objects ? "; destroying the object waits for it" : "");
	return (int)text.length;
}

/* The rows stand in the order of their numbers, which are the places at which they are found. */

RDMAEZ_SEAM const struct rdmaez_advice *rdmaez_impl_tell_wc_explain(const struct ibv_wc *wc)
{
	/*
	 * Who reports a status was read in rdma-core 65, where each provider maps its device's
	 * numbers. For rxe, siw and hfi1 it was read in the kernel, which writes their completions.
	 * siw's map knows more statuses than siw_rdmap_complete() and siw_qp_sq_process() ever set, and
	 * bnxt_re's has IBV_WC_FATAL_ERR for completions that bnxt_re_poll_err_rcqe() leaves out.
	 * vmw_pvrdma passes on its host's.
	 */
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
		  "the address handle was destroyed or belongs to another protection domain",
		  "rxe: a receive is too short, or names memory that it may not use; rxe and siw: "
		  "a request names such memory",
		  "more READs or atomics were outstanding than max_rd_atomic, on some devices"}},
		{3,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_EEC_OP_ERR",
		 "an end-to-end context failed; only the RD transport has those",
		 "report it to the device's vendor with vendor_err",
		 "no driver in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs have no RD transport"}},
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
		 "the queue pair had stopped working: a flushed request was not acknowledged but "
		 "may have been carried out, a flushed receive does not hold a complete message",
		 "find the first error that is not a flush; flushes are normal when a connection "
		 "ends",
		 "all drivers",
		 {"an earlier work request of the queue pair failed, and its completion tells the "
		  "cause",
		  "the program itself moved the queue pair to ERR, or is destroying it",
		  "the peer closed the connection, with rdma_cm or iWARP",
		  "this end refused a request from its peer (rights, rkey, a receive too short): "
		  "see "
		  "the peer's completion and the events of this queue pair",
		  "iWARP: the peer refused a request"}},
		{6,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_MW_BIND_ERR",
		 "the device could not bind a memory window, or invalidate a key",
		 "register the region with IBV_ACCESS_MW_BIND, and bind within its range and "
		 "access rights",
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
		 "bnxt_re efa hns ionic mlx4 mlx5 mthca ocrdma qedr",
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
		 "bnxt_re cxgb4 erdma hns ionic mana mlx4 mlx5 mthca ocrdma qedr",
		 {"the peer's rkey, address and length do not match a region of this end",
		  "the region that the peer addressed lacks the remote access right",
		  "the queue pair's access flags lack it",
		  "cxgb4 and erdma: the lkey, bounds or rights of the request's own memory"}},
		{9,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_INV_REQ_ERR",
		 "the peer refused the request as invalid",
		 "check the peer's receives, access flags and max_dest_rd_atomic",
		 "most drivers, not cxgb4 and erdma; siw of a receive only",
		 {"the access flags of the peer's queue pair do not allow the operation",
		  "the message is longer than the receive that the peer has posted",
		  "more READs or atomics were outstanding than the peer's max_dest_rd_atomic",
		  "the address of an atomic is not a multiple of 8",
		  "the peer's device does not support the operation"}},
		{10,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_ACCESS_ERR",
		 "the peer refused access to its memory",
		 "exchange rkey and address again; grant the right at the peer's region and queue "
		 "pair",
		 "most drivers, not cxgb4 and siw",
		 {"the rkey or address is wrong or stale: the region was deregistered or "
		  "registered again",
		  "the request reaches beyond the peer's region",
		  "the region or the peer's queue pair lacks IBV_ACCESS_REMOTE_READ, REMOTE_WRITE "
		  "or REMOTE_ATOMIC",
		  "region and queue pair of the peer do not share a protection domain, a window "
		  "was invalidated, or a zero-based region was given an absolute address",
		  "erdma: the lkey, bounds or rights of a receive's own memory"}},
		{11,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_OP_ERR",
		 "the peer could not complete the request, for a reason of its own",
		 "look at the peer: its completions and asynchronous events tell the reason",
		 "most drivers, not cxgb4, erdma and siw",
		 {"the peer's receive failed: its lkey or its bounds are wrong, or with rxe it is "
		  "too short",
		  "efa: the peer has no address handle for this end",
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
		 "never gives up",
		 "bnxt_re efa hfi1 hns ionic irdma mana mlx4 mlx5 mthca ocrdma qedr rxe",
		 {"the peer posts its receives too late, or too few",
		  "the peer's shared receive queue ran empty",
		  "rnr_retry is finite, so this end gives up on a busy peer",
		  "the peer's min_rnr_timer is short"}},
		{14,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_LOC_RDD_VIOL_ERR",
		 "a reliable datagram domain did not match; only the RD transport has those",
		 "report it to the device's vendor with vendor_err",
		 "no driver in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs have no RD transport"}},
		{15,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_REM_INV_RD_REQ_ERR",
		 "a request was refused; which one depends on the driver",
		 "on efa, ask the peer for its queue pair number again; elsewhere compare the two "
		 "ends' setup",
		 "efa hfi1 hns mthca ocrdma qedr",
		 {"efa: the queue pair number is wrong, or the peer has restarted",
		  "hns: an XRC request does not suit the peer's XRC domain or shared receive queue",
		  "qedr: this end refused a request from its peer as invalid",
		  "elsewhere the device or its driver is at fault: verbs have no RD transport"}},
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
		 "no driver in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs have no RD transport"}},
		{18,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_INV_EEC_STATE_ERR",
		 "an end-to-end context is in a wrong state; only the RD transport has those",
		 "report it to the device's vendor with vendor_err",
		 "no driver in use; mthca and ocrdma list it in their tables",
		 {"the device or its driver is at fault: verbs have no RD transport"}},
		{19,
		 RDMAEZ_VALID_ON_ERROR,
		 "IBV_WC_FATAL_ERR",
		 "the queue pair or the device has failed",
		 "see the events and the kernel log; destroy the queue pair and create a new one",
		 "cxgb4 irdma mana ocrdma rxe",
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
		 {"the device met an error that only vendor_err describes",
		  "siw: a receive names memory that it may not use"}},
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

RDMAEZ_SEAM const struct rdmaez_advice *
rdmaez_impl_tell_event_explain(const struct ibv_async_event *event)
{
	/*
	 * Who reports an event was read in Linux 7.2: each driver's calls of ib_dispatch_event()
	 * and of the objects' event_handler. hfi1's are rdmavt's as well. vmw_pvrdma passes on the
	 * numbers that its host sends, pvrdma_intrx_handler(). The core's own are in
	 * ib_dispatch_port_state_event(), which Linux 6.12 lacks, in dispatch_gid_change_event(),
	 * and DEVICE_FATAL in uverbs_async_event_destroy_uobj(). LID_CHANGE is in
	 * siw_netdev_event(), SQ_DRAINED in siw_sq_flush(). rxe_cq_post() drops a completion that
	 * finds the queue full, and goes on.
	 */
	static const struct rdmaez_advice advice[] = {
		{0,
		 RDMAEZ_VALID_CQ,
		 "IBV_EVENT_CQ_ERR",
		 "completions of the queue were lost; it may report others",
		 "treat requests without a completion as unfinished, destroy the queue pairs and "
		 "the queue, and create it again with an entry for every work request posted",
		 "most drivers, not efa, mana and usnic_verbs",
		 {"more completions came than it has entries, because it was polled too rarely",
		  "the device lost access to the queue's memory"}},
		{1,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_QP_FATAL",
		 "the queue pair is in ERR, and there may be no completion that tells why",
		 "poll its completions, destroy it and reconnect",
		 "most drivers, not efa and rxe",
		 {"the device met an error while processing the queue pair",
		  "a completion queue of the queue pair overran",
		  "iWARP: the connection was terminated"}},
		{2,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_QP_REQ_ERR",
		 "the peer sent a request that this queue pair had to refuse",
		 "the peer sees IBV_WC_REM_INV_REQ_ERR; match depths and access rights, then "
		 "reconnect",
		 "bnxt_re cxgb4 hns ionic irdma mlx4 mlx5 mthca qedr siw vmw_pvrdma",
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
		 "bnxt_re cxgb4 hns ionic irdma mlx4 mlx5 mthca ocrdma qedr siw vmw_pvrdma, rxe "
		 "from Linux 7.2 on",
		 {"the peer's rkey or address is wrong or stale",
		  "the request reached beyond the region",
		  "the region or the queue pair lacks the remote access right",
		  "cxgb4 and siw: the lkey, bounds or rights of this end's own memory"}},
		{4,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_COMM_EST",
		 "the first packet arrived while the queue pair was in RTR; this is not an error",
		 "go on to RTS as planned, or tell rdma_cm with rdma_notify()",
		 "hfi1 hns ionic mlx4 mlx5 mthca ocrdma vmw_pvrdma",
		 {"the peer was in RTS first and has sent a packet"}},
		{5,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_SQ_DRAINED",
		 "the send queue has drained, or on siw was flushed",
		 "in SQD, change the attributes and move back to RTS; on siw, see the completions",
		 "ionic mlx4 mthca ocrdma qedr rxe siw vmw_pvrdma; mlx5 and hns have no SQD",
		 {"the queue pair went to SQD, with IBV_QP_EN_SQD_ASYNC_NOTIFY where the driver "
		  "heeds it",
		  "siw: the connection ended while requests were waiting"}},
		{6,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_PATH_MIG",
		 "the connection now uses its alternate path",
		 "repair the first path, and load an alternate path again",
		 "hfi1 hns mlx4 mlx5 mthca vmw_pvrdma",
		 {"the first path failed, or the peer migrated"}},
		{7,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_PATH_MIG_ERR",
		 "the connection could not migrate to its alternate path",
		 "load an alternate path that matches the peer's, or reconnect",
		 "hns mlx4 mlx5 mthca vmw_pvrdma",
		 {"no alternate path is loaded, or it is not the one that the peer uses"}},
		{8,
		 0,
		 "IBV_EVENT_DEVICE_FATAL",
		 "the device has failed or is being removed",
		 "destroy everything and close the device: verbs fail with EIO from now on",
		 "bnxt_re cxgb4 ionic mlx4 mlx5 mthca ocrdma vmw_pvrdma if the device fails; every "
		 "driver that lets an open device be removed, if that happens",
		 {"the firmware failed, or the kernel is resetting the device",
		  "the device was unplugged or its driver unloaded"}},
		{9,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_PORT_ACTIVE",
		 "the port is up",
		 "query the port's attributes and GIDs again, then connect",
		 "most drivers; cxgb4, hns, ionic and mana with newer kernels than Linux 6.12 "
		 "only, efa never",
		 {"the link came up, and on InfiniBand the subnet manager has set up the port"}},
		{10,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_PORT_ERR",
		 "the port is down",
		 "wait for IBV_EVENT_PORT_ACTIVE; meanwhile work requests fail with "
		 "IBV_WC_RETRY_EXC_ERR",
		 "most drivers; cxgb4, hns, ionic and mana with newer kernels than Linux 6.12 "
		 "only, efa never",
		 {"the cable, the switch or the other end of the link has failed",
		  "the network interface or the port was disabled"}},
		{11,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_LID_CHANGE",
		 "the port's LID has changed, or on siw its MAC address",
		 "tell the peers, and reconnect",
		 "hfi1 mlx4 mlx5 mthca siw vmw_pvrdma",
		 {"the subnet manager has reassigned the LIDs",
		  "siw: the network interface was given another MAC address"}},
		{12,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_PKEY_CHANGE",
		 "the port's P_Key table has changed",
		 "find the P_Key index again, and reconnect if it has changed",
		 "hfi1 mlx4 mlx5 mthca vmw_pvrdma",
		 {"the subnet manager has changed the partitions"}},
		{13,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_SM_CHANGE",
		 "another subnet manager has taken over",
		 "join multicast groups again",
		 "hfi1 vmw_pvrdma",
		 {"the former one failed or stepped down"}},
		{14,
		 RDMAEZ_VALID_SRQ,
		 "IBV_EVENT_SRQ_ERR",
		 "the shared receive queue is broken",
		 "destroy it and its queue pairs, and create them again",
		 "bnxt_re hns mlx4 mlx5 ocrdma qedr vmw_pvrdma",
		 {"the device met an error while taking a receive from the queue"}},
		{15,
		 RDMAEZ_VALID_SRQ,
		 "IBV_EVENT_SRQ_LIMIT_REACHED",
		 "the shared receive queue holds fewer receives than its limit; this is not an "
		 "error",
		 "post receives, then arm the limit again with ibv_modify_srq(): it reports only "
		 "once",
		 "bnxt_re cxgb4 hfi1 hns irdma mlx4 mlx5 mthca ocrdma qedr rxe siw vmw_pvrdma",
		 {"receives are used up faster than they are posted"}},
		{16,
		 RDMAEZ_VALID_QP,
		 "IBV_EVENT_QP_LAST_WQE_REACHED",
		 "the queue pair takes no more receives from its shared receive queue",
		 "poll its completions; then it can be destroyed without losing a receive",
		 "bnxt_re cxgb4 hfi1 hns ionic mlx4 mlx5 mthca ocrdma vmw_pvrdma, rxe from Linux "
		 "6.12 on",
		 {"the queue pair is in ERR, and its last receive has completed"}},
		{17,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_CLIENT_REREGISTER",
		 "the subnet manager asks clients to register again",
		 "join multicast groups and register services again",
		 "hfi1 mlx4 mlx5 mthca vmw_pvrdma",
		 {"the subnet manager has restarted and lost the registrations"}},
		{18,
		 RDMAEZ_VALID_PORT_NUM,
		 "IBV_EVENT_GID_CHANGE",
		 "the port's GID table has changed",
		 "choose the GID index again; reconnect queue pairs whose GID is gone",
		 "all RoCE drivers, by the kernel's GID table; hfi1 irdma mlx4 mlx5 qedr "
		 "usnic_verbs vmw_pvrdma",
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

RDMAEZ_SEAM const char *rdmaez_impl_tell_wc_vendor_str(const struct ibv_wc *wc)
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

RDMAEZ_IMPL_END

#endif
