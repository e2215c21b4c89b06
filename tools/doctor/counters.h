/* SPDX-License-Identifier: MIT */
/*
 * Counters that rdmaez-doctor judges, and what they mean. Drivers name one event in many ways; what is not listed is not
 * judged. docs/doctor.md shows these lists.
 */
#ifndef RDMAEZ_DOCTOR_COUNTERS_H
#define RDMAEZ_DOCTOR_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

enum counter_when {
	COUNTER_TRAFFIC,   /* tells only that something passes */
	COUNTER_NORMAL,    /* known, and no reason to worry */
	COUNTER_BUSY,      /* growth: congestion, and what is done against it, at work */
	COUNTER_GROWTH,    /* growth is bad; a total may be history */
	COUNTER_ANY_AT_ALL /* a total is worth knowing, too */
};

/*
 * X(NAMES, DRIVERS, WHEN, MEANING, NEXT): NAMES as they stand in hw_counters and counters, with | between them;
 * DRIVERS is where they were read in the kernel's source, 6.1 to 7.x; "pma": the counters of every InfiniBand port.
 */
#define RDMA_COUNTERS(X)                                                                           \
	X("out_of_buffer|rx_out_of_buffer|send_rnr_err|RNR sent|responder_rnr_nak|rx_drops",       \
	  "mlx5 bnxt_re rxe irdma mana efa", COUNTER_GROWTH,                                       \
	  "messages arrived while no receive was posted",                                          \
	  "post receives earlier, and more of them: use a larger max_recv_wr, or an SRQ")          \
	X("rnr_nak_retry_err|rnr_naks_rcvd|rcvd_rnr_err|RNR received|requester_rnr_nak",           \
	  "mlx5 bnxt_re rxe irdma mana", COUNTER_GROWTH,                                           \
	  "the peer had no receive posted, so this side waited and sent again",                    \
	  "look at the peer: it posts its receives later than the messages arrive")                \
	X("req_rnr_retries_exceeded|retry_rnr_exceeded_err|requester_rnr_nak_retries_exceeded",    \
	  "mlx5 rxe mana", COUNTER_ANY_AT_ALL,                                                     \
	  "this side gave up because the peer had no receive posted: IBV_WC_RNR_RETRY_EXC_ERR",    \
	  "have the peer post receives in time; rnr_retry 7 waits forever")                        \
	X("out_of_sequence|out_of_seq_request|oos_drop_count|responder_oos"                        \
	  "|Rcvd Out of order packets",                                                            \
	  "mlx5 rxe bnxt_re mana irdma", COUNTER_GROWTH,                                           \
	  "packets were lost or overtaken on the way to this port",                                \
	  "look for drops in the switches and at the peer; check PFC or ECN at both ends")         \
	X("packet_seq_err|rcvd_seq_err|seq_err_naks_rcvd|Nak Sequence Error|requester_oos_nak",    \
	  "mlx5 rxe bnxt_re irdma mana", COUNTER_GROWTH,                                           \
	  "the peer missed packets from this port, so this port sent them again",                  \
	  "look for drops in the switches and at the peer; check PFC or ECN at both ends")         \
	X("implied_nak_seq_err|missing_resp|Nak Sequence Error Implied|requester_implicit_nak",    \
	  "mlx5 bnxt_re irdma mana", COUNTER_GROWTH,                                               \
	  "answers to READ or atomic operations were lost",                                        \
	  "look for drops in the switches and at the peer")                                        \
	X("local_ack_timeout_err|to_retransmits|completer_retry_err|RTO|requester_timeout"         \
	  "|retrans_timeout_events",                                                               \
	  "mlx5 bnxt_re rxe irdma mana efa", COUNTER_GROWTH,                                       \
	  "no acknowledgement came in time, so this side sent packets again",                      \
	  "look for loss, for a peer that is gone, or for a queue pair's timeout that is too "     \
	  "short (14 is 67 ms)")                                                                   \
	X("req_transport_retries_exceeded|retry_exceeded_err|max_retry_exceeded"                   \
	  "|requester_retries_exceeded",                                                           \
	  "mlx5 rxe bnxt_re mana", COUNTER_ANY_AT_ALL,                                             \
	  "this side gave up because the peer did not answer: IBV_WC_RETRY_EXC_ERR",               \
	  "check that the way is open in both directions: rdmaez-doctor --peer HOST")              \
	X("duplicate_request|dup_req|responder_dup_request", "mlx5 rxe bnxt_re mana",              \
	  COUNTER_GROWTH,                                                                          \
	  "the peer repeated packets that had arrived: acknowledgements were lost, or its "        \
	  "timeout is too short",                                                                  \
	  "look for drops on the way to the peer, or set a larger timeout there")                  \
	X("roce_adp_retrans|roce_adp_retrans_to|roce_slow_restart|roce_slow_restart_cnps"          \
	  "|roce_slow_restart_trans|retrans_pkts",                                                 \
	  "mlx5 efa", COUNTER_GROWTH,                                                              \
	  "after a loss the adapter sent packets again, and slowed down",                          \
	  "look for drops in the switches")                                                        \
	X("np_ecn_marked_roce_packets|rx_ecn_marked_pkts|RxECNMrkd|cc_rx_ce_pkts|received_ecns",   \
	  "mlx5 bnxt_re irdma mana", COUNTER_BUSY,                                                 \
	  "packets arrived with the mark of a congested switch: many senders use this port at "    \
	  "once",                                                                                  \
	  "")                                                                                      \
	X("np_cnp_sent|np_cnp_pkts|tx_cnp_pkts|cnpSent|cc_tx_cnp_pkts|tx_cnp_pkt|sent_cnps",       \
	  "mlx5 bnxt_re irdma hns mana", COUNTER_BUSY, "this port told senders to slow down", "")  \
	X("rp_cnp_handled|rx_cnp_pkts|cnpHandled|cc_rx_cnp_pkts|rx_cnp_pkt|received_cnps",         \
	  "mlx5 bnxt_re irdma hns mana", COUNTER_BUSY,                                             \
	  "this port was told of congestion on the way, and slowed down", "")                      \
	X("rp_cnp_ignored|cnpIgnored", "mlx5 irdma", COUNTER_GROWTH,                               \
	  "this port was told of congestion, and did not slow down",                               \
	  "turn on congestion control (DCQCN) for the priority of the traffic")                    \
	X("req_cqe_error|resp_cqe_error|req_remote_access_errors|resp_remote_access_errors"        \
	  "|req_remote_invalid_request|resp_local_length_error|local_protection_err"               \
	  "|remote_access_err|remote_invalid_req_err|remote_op_err|local_qp_op_err|bad_resp_err"   \
	  "|mem_mgmt_op_err|res_length_mismatch|res_exceed_max|res_exceeds_wqe|res_opcode_err"     \
	  "|res_rx_invalid_rkey|res_rx_domain_err|res_rx_no_perm|res_rx_range_err"                 \
	  "|res_tx_invalid_rkey|res_tx_domain_err|res_tx_no_perm|res_tx_range_err"                 \
	  "|res_unsup_opcode|res_unaligned_atomic|res_rem_inv_err|nak_inv_req|nak_access_error"    \
	  "|nak_opp_error|nak_inv_read|responder_local_len_error|requestor_local_prot_error"       \
	  "|responder_rem_access_error|responder_local_qp_error|responder_malformed_wqe",          \
	  "mlx5 bnxt_re mana", COUNTER_ANY_AT_ALL,                                                 \
	  "a program asked for something that its keys, bounds or lengths do not allow; the "      \
	  "network is not the cause",                                                              \
	  "run the program as rdmaez-explain COMMAND, which names the field")                      \
	X("req_cqe_flush_error|resp_cqe_flush_error", "mlx5", COUNTER_NORMAL,                      \
	  "work requests that were flushed when their queue pairs ended", "")                      \
	X("rx_icrc_encapsulated|CRC errors", "mlx5 irdma", COUNTER_ANY_AT_ALL,                     \
	  "packets arrived with a wrong RoCE checksum: something on the way corrupts or rewrites " \
	  "them",                                                                                  \
	  "look for tunnels, NAT or firewalls between the ends, then for bad memory")              \
	X("res_tx_pci_err|res_rx_pci_err|res_mem_err|res_cq_load_err|res_srq_load_err"             \
	  "|unrecoverable_err|general_hw_error|total_fatal_error",                                 \
	  "bnxt_re mana", COUNTER_ANY_AT_ALL, "the adapter failed on PCI Express, or internally",  \
	  "dmesg; rdmaez-doctor --only slot")                                                      \
	X("tx_roce_errors|tx_roce_discards|rx_roce_errors|rx_roce_discards|rx_err_pkt|tx_err_pkt"  \
	  "|tx_disable_drop_cnt|rx_disable_drop_cnt|tx_bps_limit_drop_cnt|tx_pps_limit_drop_cnt"   \
	  "|rx_bps_limit_drop_cnt|rx_pps_limit_drop_cnt",                                          \
	  "bnxt_re hns erdma", COUNTER_ANY_AT_ALL, "the adapter dropped RDMA packets",             \
	  "compare this with the limits that the operator has set, and with pauses on the switch") \
	X("ip4InDiscards|ip6InDiscards|ip4InTruncatedPkts|ip6InTruncatedPkts|rxVlanErrors"         \
	  "|tcpRetransSegs|RetransSegs|ip4RetransSegs|ip6RetransSegs|tcpInOptErrors|InOptErrors"   \
	  "|tcpInProtoErrors|InProtoErrors|ip4OutRsts|ip6OutRsts",                                 \
	  "irdma cxgb4", COUNTER_GROWTH, "the adapter lost or refused packets",                    \
	  "compare MTU and VLAN at both ends; look for drops in the switches")                     \
	X("ip4OutNoRoutes|ip6OutNoRoutes", "irdma", COUNTER_GROWTH, "no route leads to a peer",    \
	  "ip route get PEER")                                                                     \
	X("cmds_err|create_qp_err|create_cq_err|reg_mr_err|alloc_pd_err|alloc_ucontext_err"        \
	  "|create_ah_err|mmap_err|no_completion_cmds",                                            \
	  "efa", COUNTER_ANY_AT_ALL, "the device refused to create something",                     \
	  "run the program as rdmaez-explain COMMAND, which says what was refused, and why")       \
	X("rdma_read_wr_err|rdma_write_wr_err", "efa", COUNTER_ANY_AT_ALL,                         \
	  "READ or WRITE work requests failed", "rdmaez-explain COMMAND")                          \
	X("unresponsive_remote_events|impaired_remote_conn_events", "efa", COUNTER_ANY_AT_ALL,     \
	  "peers did not answer", "allow all traffic of the security group to and from itself")    \
	X("send_err", "rxe", COUNTER_ANY_AT_ALL,                                                   \
	  "the driver could not hand packets to the interface",                                    \
	  "see whether the interface is down, or its queue is full: ip -s link")                   \
	X("link_downed", "rxe pma", COUNTER_ANY_AT_ALL, "the link was lost",                       \
	  "cable, transceiver, switch")                                                            \
	X("symbol_error|port_rcv_errors|port_rcv_remote_physical_errors|local_link_integrity_"     \
	  "errors"                                                                                 \
	  "|link_error_recovery",                                                                  \
	  "pma", COUNTER_GROWTH, "bits were damaged on the link",                                  \
	  "clean or change the cable and the transceiver; run ibqueryerrors, as root")             \
	X("port_xmit_discards|VL15_dropped|excessive_buffer_overrun_errors", "pma",                \
	  COUNTER_GROWTH,                                                                          \
	  "the port dropped packets because it had no room, or because the link was down",         \
	  "ibqueryerrors")                                                                         \
	X("port_rcv_switch_relay_errors|port_xmit_constraint_errors|port_rcv_constraint_errors",   \
	  "pma", COUNTER_GROWTH, "a rule of the subnet made the port drop packets: P_Key, route",  \
	  "run ibqueryerrors, and see partitions.conf of the subnet manager")                      \
	X("port_xmit_wait", "pma", COUNTER_BUSY,                                                   \
	  "packets waited because the other end had no room for them", "")                         \
	X("sent_pkts|rcvd_pkts|rdma_sends|rdma_recvs|rx_write_requests|rx_read_requests"           \
	  "|rx_atomic_requests|rdma_tx_packets|rdma_rx_packets|tx_pkts|rx_pkts|tx_packets"         \
	  "|rx_packets|tx_packets_cnt|rx_packets_cnt|tx_pkt|rx_pkt|ip4InPkts|ip4OutPkts"           \
	  "|ip6InPkts|ip6OutPkts|RxUDP|TxUDP|ip4InSegs|ip4OutSegs|port_xmit_packets"               \
	  "|port_rcv_packets",                                                                     \
	  "rxe mlx5 efa bnxt_re mana erdma hns irdma cxgb4 pma", COUNTER_TRAFFIC, "packets", "")

/* Those of the network interface; * stands for a number. carrier_changes is a file, the others are of ethtool -S. */
#define NETDEV_COUNTERS(X)                                                                         \
	X("carrier_changes", "all", COUNTER_GROWTH, "the link goes up and down",                   \
	  "check the cable, the transceiver and the switch's log; GID indices may change each "    \
	  "time")                                                                                  \
	X("rx_discards_phy|rx_prio*_discards|rx_prio*_buf_discard", "mlx5", COUNTER_ANY_AT_ALL,    \
	  "the adapter dropped packets because it had no room for them",                           \
	  "set up PFC for the priority of RDMA, or ECN; check whether the slot is too slow: "      \
	  "--only slot")                                                                           \
	X("tx_discards_phy", "mlx5", COUNTER_ANY_AT_ALL,                                           \
	  "the interface dropped packets that it should have sent", "ethtool -S")                  \
	X("rx_crc_errors_phy|rx_symbol_err_phy|rx_pcs_symbol_err_phy", "mlx5", COUNTER_GROWTH,     \
	  "bits were damaged on the link", "clean or change the cable and the transceiver")        \
	X("rx_prio*_pause|rx_pause_ctrl_phy", "mlx5", COUNTER_BUSY,                                \
	  "the switch asked this port to pause because of congestion beyond it; if the priority "  \
	  "is not lossless, PFC is set up wrongly",                                                \
	  "")                                                                                      \
	X("tx_prio*_pause|tx_pause_ctrl_phy", "mlx5", COUNTER_BUSY,                                \
	  "this port asked the switch to pause, because packets arrive faster than it can take "   \
	  "them",                                                                                  \
	  "")                                                                                      \
	X("tx_pause_storm_warning_events|tx_pause_storm_error_events", "mlx5", COUNTER_ANY_AT_ALL, \
	  "this port paused the switch for very long, because the host did not take packets",      \
	  "dmesg")                                                                                 \
	X("outbound_pci_stalled_rd|outbound_pci_stalled_wr", "mlx5", COUNTER_GROWTH,               \
	  "the adapter waited for PCI Express", "rdmaez-doctor --only slot")

/* For a check that watches something else meanwhile: reads the counters of these devices the first time. */
void counters_watch(bool (*is_meant)(const char *device));
/* Reads them again. Returns how many grew that count errors; `text` tells of the one that is most telling. */
unsigned int counters_grown(char *text, size_t size);
/* A line for each of those. */
void counters_tell(void);

#endif
