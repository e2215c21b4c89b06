/* SPDX-License-Identifier: MIT */
/*
 * Counters: what grew while we watched, and what it means.
 *
 * A total says little: it may be of last year, and most counters also count what is normal when connections end. So
 * each is read twice. Only counters of the lists below are judged. None is ever reset.
 */
#include "port.h"

#include <errno.h>
#include <fnmatch.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum when {
	TRAFFIC,   /* tells only that something passes */
	NORMAL,    /* known, and no reason to worry */
	BUSY,      /* growth: congestion, and what is done against it, at work */
	GROWTH,    /* growth is bad; a total may be history */
	ANY_AT_ALL /* a total is worth knowing, too */
};

/*
 * X(NAMES, DRIVERS, WHEN, MEANING, NEXT): NAMES as they stand in hw_counters and counters, with | between them;
 * DRIVERS is where they were read in the kernel's source, 6.1 to 7.x; "pma": the counters of every InfiniBand port.
 */
#define COUNTERS(X)                                                                                \
	X("out_of_buffer|rx_out_of_buffer|send_rnr_err|RNR sent|responder_rnr_nak|rx_drops",       \
	  "mlx5 bnxt_re rxe irdma mana efa", GROWTH, "messages came while no receive was posted",  \
	  "post receives earlier and more of them: larger max_recv_wr, or an SRQ")                 \
	X("rnr_nak_retry_err|rnr_naks_rcvd|rcvd_rnr_err|RNR received|requester_rnr_nak",           \
	  "mlx5 bnxt_re rxe irdma mana", GROWTH,                                                   \
	  "the peer had no receive posted, and this side waited and sent again",                   \
	  "look at the peer: receives posted later than the messages come")                        \
	X("req_rnr_retries_exceeded|retry_rnr_exceeded_err|requester_rnr_nak_retries_exceeded",    \
	  "mlx5 rxe mana", ANY_AT_ALL,                                                             \
	  "gave up, as the peer had no receive posted: IBV_WC_RNR_RETRY_EXC_ERR",                  \
	  "rnr_retry 7 waits forever; and post receives in time")                                  \
	X("out_of_sequence|out_of_seq_request|oos_drop_count|responder_oos"                        \
	  "|Rcvd Out of order packets",                                                            \
	  "mlx5 rxe bnxt_re mana irdma", GROWTH,                                                   \
	  "packets were lost or overtaken on the way to this port",                                \
	  "look for drops in the switches and at the peer; PFC or ECN at both ends")               \
	X("packet_seq_err|rcvd_seq_err|seq_err_naks_rcvd|Nak Sequence Error|requester_oos_nak",    \
	  "mlx5 rxe bnxt_re irdma mana", GROWTH,                                                   \
	  "the peer missed packets from this port, and they were sent again",                      \
	  "look for drops in the switches and at the peer; PFC or ECN at both ends")               \
	X("implied_nak_seq_err|missing_resp|Nak Sequence Error Implied|requester_implicit_nak",    \
	  "mlx5 bnxt_re irdma mana", GROWTH, "answers to READ or atomic operations were lost",     \
	  "look for drops in the switches and at the peer")                                        \
	X("local_ack_timeout_err|to_retransmits|completer_retry_err|RTO|requester_timeout"         \
	  "|retrans_timeout_events",                                                               \
	  "mlx5 bnxt_re rxe irdma mana efa", GROWTH,                                               \
	  "no acknowledgement came in time, and packets were sent again",                          \
	  "loss, a peer that is gone, or a timeout of the queue pair that is too short (14: "      \
	  "67 ms)")                                                                                \
	X("req_transport_retries_exceeded|retry_exceeded_err|max_retry_exceeded"                   \
	  "|requester_retries_exceeded",                                                           \
	  "mlx5 rxe bnxt_re mana", ANY_AT_ALL,                                                     \
	  "gave up, as the peer did not answer: IBV_WC_RETRY_EXC_ERR",                             \
	  "rdmaez-doctor --peer HOST: is the way there open, both ways?")                          \
	X("duplicate_request|dup_req|responder_dup_request", "mlx5 rxe bnxt_re mana", GROWTH,      \
	  "the peer sent again what had arrived: acknowledgements were lost, or its timeout is "   \
	  "too short",                                                                             \
	  "look for drops on the way to the peer; a larger timeout there")                         \
	X("roce_adp_retrans|roce_adp_retrans_to|roce_slow_restart|roce_slow_restart_cnps"          \
	  "|roce_slow_restart_trans|retrans_pkts",                                                 \
	  "mlx5 efa", GROWTH, "the adapter sent again, and slowed down, after a loss",             \
	  "look for drops in the switches")                                                        \
	X("np_ecn_marked_roce_packets|rx_ecn_marked_pkts|RxECNMrkd|cc_rx_ce_pkts|received_ecns",   \
	  "mlx5 bnxt_re irdma mana", BUSY,                                                         \
	  "packets came with the mark of a congested switch: many send to this port at once", "")  \
	X("np_cnp_sent|np_cnp_pkts|tx_cnp_pkts|cnpSent|cc_tx_cnp_pkts|tx_cnp_pkt|sent_cnps",       \
	  "mlx5 bnxt_re irdma hns mana", BUSY, "senders were told to slow down", "")               \
	X("rp_cnp_handled|rx_cnp_pkts|cnpHandled|cc_rx_cnp_pkts|rx_cnp_pkt|received_cnps",         \
	  "mlx5 bnxt_re irdma hns mana", BUSY,                                                     \
	  "this port was told of congestion on the way, and slowed down", "")                      \
	X("rp_cnp_ignored|cnpIgnored", "mlx5 irdma", GROWTH,                                       \
	  "this port was told of congestion, and did not slow down",                               \
	  "switch congestion control (DCQCN) on for the priority of the traffic")                  \
	X("req_cqe_error|resp_cqe_error|req_remote_access_errors|resp_remote_access_errors"        \
	  "|req_remote_invalid_request|resp_local_length_error|local_protection_err"               \
	  "|remote_access_err|remote_invalid_req_err|remote_op_err|local_qp_op_err|bad_resp_err"   \
	  "|mem_mgmt_op_err|res_length_mismatch|res_exceed_max|res_exceeds_wqe|res_opcode_err"     \
	  "|res_rx_invalid_rkey|res_rx_domain_err|res_rx_no_perm|res_rx_range_err"                 \
	  "|res_tx_invalid_rkey|res_tx_domain_err|res_tx_no_perm|res_tx_range_err"                 \
	  "|res_unsup_opcode|res_unaligned_atomic|res_rem_inv_err|nak_inv_req|nak_access_error"    \
	  "|nak_opp_error|nak_inv_read|responder_local_len_error|requestor_local_prot_error"       \
	  "|responder_rem_access_error|responder_local_qp_error|responder_malformed_wqe",          \
	  "mlx5 bnxt_re mana", ANY_AT_ALL,                                                         \
	  "a program asked for what its keys, bounds or lengths do not allow; not the network",    \
	  "rdmaez-explain COMMAND names the field")                                                \
	X("req_cqe_flush_error|resp_cqe_flush_error", "mlx5", NORMAL,                              \
	  "work requests that were flushed when their queue pairs ended", "")                      \
	X("rx_icrc_encapsulated|CRC errors", "mlx5 irdma", ANY_AT_ALL,                             \
	  "packets came with a wrong checksum of RoCE: something on the way corrupts or rewrites " \
	  "them",                                                                                  \
	  "look for tunnels, NAT or firewalls between the ends, then for bad memory")              \
	X("res_tx_pci_err|res_rx_pci_err|res_mem_err|res_cq_load_err|res_srq_load_err"             \
	  "|unrecoverable_err|general_hw_error|total_fatal_error",                                 \
	  "bnxt_re mana", ANY_AT_ALL, "the adapter failed at PCI Express, or within itself",       \
	  "dmesg; rdmaez-doctor --only slot")                                                      \
	X("tx_roce_errors|tx_roce_discards|rx_roce_errors|rx_roce_discards|rx_err_pkt|tx_err_pkt"  \
	  "|tx_disable_drop_cnt|rx_disable_drop_cnt|tx_bps_limit_drop_cnt|tx_pps_limit_drop_cnt"   \
	  "|rx_bps_limit_drop_cnt|rx_pps_limit_drop_cnt",                                          \
	  "bnxt_re hns erdma", ANY_AT_ALL, "the adapter dropped RDMA packets",                     \
	  "compare with the limits that the operator set, and with pause on the switch")           \
	X("ip4InDiscards|ip6InDiscards|ip4InTruncatedPkts|ip6InTruncatedPkts|rxVlanErrors"         \
	  "|tcpRetransSegs|RetransSegs|ip4RetransSegs|ip6RetransSegs|tcpInOptErrors|InOptErrors"   \
	  "|tcpInProtoErrors|InProtoErrors|ip4OutRsts|ip6OutRsts",                                 \
	  "irdma cxgb4", GROWTH, "the adapter lost packets, or refused them",                      \
	  "compare MTU and VLAN at both ends; look for drops in the switches")                     \
	X("ip4OutNoRoutes|ip6OutNoRoutes", "irdma", GROWTH, "no route leads to a peer",            \
	  "ip route get PEER")                                                                     \
	X("cmds_err|create_qp_err|create_cq_err|reg_mr_err|alloc_pd_err|alloc_ucontext_err"        \
	  "|create_ah_err|mmap_err|no_completion_cmds",                                            \
	  "efa", ANY_AT_ALL, "the device refused to create something",                             \
	  "rdmaez-explain COMMAND says what, and why")                                             \
	X("rdma_read_wr_err|rdma_write_wr_err", "efa", ANY_AT_ALL,                                 \
	  "READ or WRITE work requests failed", "rdmaez-explain COMMAND")                          \
	X("unresponsive_remote_events|impaired_remote_conn_events", "efa", ANY_AT_ALL,             \
	  "peers did not answer", "allow all traffic of the security group to and from itself")    \
	X("send_err", "rxe", ANY_AT_ALL, "packets could not be handed to the interface",           \
	  "ip -s link; the interface is down, or its queue is full")                               \
	X("link_downed", "rxe pma", ANY_AT_ALL, "the link was lost", "cable, transceiver, switch") \
	X("symbol_error|port_rcv_errors|port_rcv_remote_physical_errors|local_link_integrity_"     \
	  "errors"                                                                                 \
	  "|link_error_recovery",                                                                  \
	  "pma", GROWTH, "bits were damaged on the link",                                          \
	  "clean or change cable and transceiver; ibqueryerrors, as root")                         \
	X("port_xmit_discards|VL15_dropped|excessive_buffer_overrun_errors", "pma", GROWTH,        \
	  "the port dropped packets for want of room, or as the link was down", "ibqueryerrors")   \
	X("port_rcv_switch_relay_errors|port_xmit_constraint_errors|port_rcv_constraint_errors",   \
	  "pma", GROWTH, "packets were dropped by a rule of the subnet: P_Key, route",             \
	  "ibqueryerrors; partitions.conf of the subnet manager")                                  \
	X("port_xmit_wait", "pma", BUSY, "packets waited, as the other end had no room for them",  \
	  "")                                                                                      \
	X("sent_pkts|rcvd_pkts|rdma_sends|rdma_recvs|rx_write_requests|rx_read_requests"           \
	  "|rx_atomic_requests|rdma_tx_packets|rdma_rx_packets|tx_pkts|rx_pkts|tx_packets"         \
	  "|rx_packets|tx_packets_cnt|rx_packets_cnt|tx_pkt|rx_pkt|ip4InPkts|ip4OutPkts"           \
	  "|ip6InPkts|ip6OutPkts|RxUDP|TxUDP|ip4InSegs|ip4OutSegs|port_xmit_packets"               \
	  "|port_rcv_packets",                                                                     \
	  "rxe mlx5 efa bnxt_re mana erdma hns irdma cxgb4 pma", TRAFFIC, "packets", "")

/* Those of the network interface; * stands for a number. carrier_changes is a file, the others are of ethtool -S. */
#define NETDEV_COUNTERS(X)                                                                        \
	X("carrier_changes", "", GROWTH, "the link goes up and down",                             \
	  "cable, transceiver, the switch's log; GID indices may change each time")               \
	X("rx_discards_phy|rx_prio*_discards|rx_prio*_buf_discard", "mlx5", ANY_AT_ALL,           \
	  "the adapter had no room for packets, and dropped them",                                \
	  "PFC for the priority of RDMA, or ECN; is the slot too slow? --only slot")              \
	X("tx_discards_phy", "mlx5", ANY_AT_ALL, "packets to send were dropped", "ethtool -S")    \
	X("rx_crc_errors_phy|rx_symbol_err_phy|rx_pcs_symbol_err_phy", "mlx5", GROWTH,            \
	  "bits were damaged on the link", "clean or change cable and transceiver")               \
	X("rx_prio*_pause|rx_pause_ctrl_phy", "mlx5", BUSY,                                       \
	  "the switch asked this port to pause: congestion beyond it; on a priority that is not " \
	  "lossless, PFC is set up wrongly",                                                      \
	  "")                                                                                     \
	X("tx_prio*_pause|tx_pause_ctrl_phy", "mlx5", BUSY,                                       \
	  "this port asked the switch to pause: it takes packets more slowly than they come", "") \
	X("tx_pause_storm_warning_events|tx_pause_storm_error_events", "mlx5", ANY_AT_ALL,        \
	  "this port paused the switch for very long: the host did not take packets", "dmesg")    \
	X("outbound_pci_stalled_rd|outbound_pci_stalled_wr", "mlx5", GROWTH,                      \
	  "the adapter waited for PCI Express", "rdmaez-doctor --only slot")

struct counter {
	const char *names;
	enum when when;
	const char *meaning;
	const char *next;
};

#define COUNTER_ROW(names, drivers, when, meaning, next) {names, when, meaning, next},
static const struct counter counters[] = {COUNTERS(COUNTER_ROW)};
static const struct counter netdev_counters[] = {NETDEV_COUNTERS(COUNTER_ROW)};

/* The bits of the counters that end instead of beginning anew, where a driver has them as IBTA defines them. */
static const struct {
	const char *name;
	unsigned int bits;
} limited[] = {
	{"symbol_error", 16},       {"link_error_recovery", 8},
	{"link_downed", 8},         {"port_rcv_errors", 16},
	{"port_xmit_discards", 16}, {"port_rcv_remote_physical_errors", 16},
	{"VL15_dropped", 16},       {"local_link_integrity_errors", 4},
	{"port_xmit_wait", 32},     {"excessive_buffer_overrun_errors", 4},
};

/* --- Samples ----------------------------------------------------------------------------------- */

struct sample {
	const struct counter *counter;
	const struct doctor_port *port;
	char path[160]; /* the file; or of ethtool: "" */
	char name[64];
	unsigned int index; /* of ethtool */
	uint64_t first, second;
};

static struct sample *samples;
static unsigned int sample_count;

/* The row whose names have this one. mlx5 begins those of a virtual function's port with vport_. */
static const struct counter *find(const struct counter *list, size_t count, const char *name)
{
	const char *at;
	char one[64];
	size_t i, length;

	if (!strncmp(name, "vport_", 6))
		name += 6;
	for (i = 0; i < count; i++) {
		for (at = list[i].names; *at; at += length + (at[length] == '|')) {
			length = strcspn(at, "|");
			snprintf(one, sizeof(one), "%.*s", (int)length, at);
			if (!fnmatch(one, name, 0))
				return &list[i];
		}
	}
	return NULL;
}

static struct sample *add_sample(const struct doctor_port *port, const struct counter *counter,
				 const char *name)
{
	struct sample *more =
		(struct sample *)realloc(samples, (sample_count + 1) * sizeof(*samples));

	if (!more)
		return NULL;
	samples = more;
	more = &samples[sample_count++];
	memset(more, 0, sizeof(*more));
	more->port = port;
	more->counter = counter;
	snprintf(more->name, sizeof(more->name), "%s", name);
	return more;
}

static void add_directory(const struct doctor_port *port, const char *directory)
{
	const struct counter *counter;
	struct dirent **names;
	struct sample *sample;
	int i, count = doctor_list(&names, "%s", directory);

	for (i = 0; i < count; i++) {
		counter = find(counters, sizeof(counters) / sizeof(counters[0]), names[i]->d_name);
		sample = counter ? add_sample(port, counter, names[i]->d_name) : NULL;
		if (sample)
			snprintf(sample->path, sizeof(sample->path), "%s/%.63s", directory,
				 names[i]->d_name);
	}
}

/* Some drivers count for the device and not for each port; the first port shows these. */
static void add_port(const struct doctor_port *port)
{
	char directory[96];
	struct sample *sample;

	snprintf(directory, sizeof(directory), "/sys/class/infiniband/%s/hw_counters",
		 port->device);
	if (port->num == 1)
		add_directory(port, directory);
	snprintf(directory, sizeof(directory), "/sys/class/infiniband/%s/ports/%u/hw_counters",
		 port->device, port->num);
	add_directory(port, directory);
	snprintf(directory, sizeof(directory), "/sys/class/infiniband/%s/ports/%u/counters",
		 port->device, port->num);
	add_directory(port, directory);
	if (!port->netdev_here || !doctor_exists("/sys/class/net/%s/carrier_changes", port->netdev))
		return;
	sample = add_sample(port, &netdev_counters[0], "carrier_changes");
	if (sample)
		snprintf(sample->path, sizeof(sample->path), "/sys/class/net/%s/carrier_changes",
			 port->netdev);
}

/* --- The counters of ethtool -S ---------------------------------------------------------------- */

static unsigned int ethtool_count(const char *netdev)
{
	uint32_t buf[(sizeof(struct ethtool_sset_info) + sizeof(uint32_t)) / sizeof(uint32_t)];
	struct ethtool_sset_info info;

	memset(&info, 0, sizeof(info));
	memset(buf, 0, sizeof(buf));
	info.cmd = ETHTOOL_GSSET_INFO;
	info.sset_mask = UINT64_C(1) << ETH_SS_STATS;
	memcpy(buf, &info, sizeof(info));
	if (doctor_ethtool(netdev, buf))
		return 0;
	memcpy(&info, buf, sizeof(info));
	return info.sset_mask ? buf[sizeof(info) / sizeof(uint32_t)] : 0;
}

/* Asks for all of them, as they are now. The caller frees them. */
static struct ethtool_stats *ethtool_stats(const char *netdev, unsigned int count)
{
	struct ethtool_stats *stats =
		(struct ethtool_stats *)calloc(1, sizeof(*stats) + count * sizeof(uint64_t));

	if (!stats)
		return NULL;
	stats->cmd = ETHTOOL_GSTATS;
	stats->n_stats = count;
	if (!doctor_ethtool(netdev, stats) && stats->n_stats == count)
		return stats;
	free(stats);
	return NULL;
}

static void add_ethtool(const struct doctor_port *port)
{
	unsigned int i, count = port->netdev_here ? ethtool_count(port->netdev) : 0;
	struct ethtool_gstrings *strings;
	const struct counter *counter;
	struct sample *sample;
	char name[ETH_GSTRING_LEN + 1] = "";

	if (!count || count > 65536)
		return;
	strings = (struct ethtool_gstrings *)calloc(1, sizeof(*strings) + count * ETH_GSTRING_LEN);
	if (!strings)
		return;
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = count;
	if (doctor_ethtool(port->netdev, strings))
		count = 0;
	for (i = 0; i < count; i++) {
		memcpy(name, strings->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		counter = find(netdev_counters + 1,
			       sizeof(netdev_counters) / sizeof(netdev_counters[0]) - 1, name);
		sample = counter ? add_sample(port, counter, name) : NULL;
		if (sample)
			sample->index = i;
	}
	free(strings);
}

/* --- Reading, twice ---------------------------------------------------------------------------- */

static bool is_ethtool(const struct sample *sample)
{
	return !sample->path[0];
}

/* Reads all; those that cannot be read are 0 both times. */
static void read_samples(bool second)
{
	struct ethtool_stats *stats = NULL;
	const struct doctor_port *of = NULL;
	struct sample *sample;
	unsigned int i;
	uint64_t *to;

	for (i = 0; i < sample_count; i++) {
		sample = &samples[i];
		to = second ? &sample->second : &sample->first;
		if (!is_ethtool(sample)) {
			if (!doctor_read_number(to, "%s", sample->path))
				*to = second ? sample->first : 0;
			continue;
		}
		if (sample->port != of) {
			free(stats);
			of = sample->port;
			stats = ethtool_stats(of->netdev, ethtool_count(of->netdev));
		}
		*to = stats && sample->index < stats->n_stats ? stats->data[sample->index]
		      : second                                ? sample->first
							      : 0;
	}
	free(stats);
}

/* --- Findings ---------------------------------------------------------------------------------- */

static void show_sample(const struct sample *sample)
{
	char source[200];

	if (is_ethtool(sample))
		snprintf(source, sizeof(source), "ethtool -S %s, %s", sample->port->netdev,
			 sample->name);
	else
		snprintf(source, sizeof(source), "%s", sample->path);
	doctor_evidence("%s: %llu, then %llu", source, (unsigned long long)sample->first,
			(unsigned long long)sample->second);
}

static void say_growth(const struct sample *sample)
{
	doctor_say(sample->counter->when == BUSY ? DOCTOR_NOTE : DOCTOR_WARNING,
		   sample->port->subject, "%s grew by %llu in %u s: %s", sample->name,
		   (unsigned long long)(sample->second - sample->first), doctor_options.seconds,
		   sample->counter->meaning);
	show_sample(sample);
	if (sample->counter->next[0])
		doctor_next("%s", sample->counter->next);
}

/* carrier_changes begins with one or two, when an interface is brought up. */
static bool total_matters(const struct sample *sample)
{
	if (sample->counter == &netdev_counters[0])
		return sample->second >= 10;
	return sample->counter->when == ANY_AT_ALL && sample->second > 0;
}

static void say_total(const struct sample *sample)
{
	doctor_say(DOCTOR_NOTE, sample->port->subject, "%s is %llu: %s", sample->name,
		   (unsigned long long)sample->second, sample->counter->meaning);
	show_sample(sample);
	if (sample->counter->next[0])
		doctor_next("%s", sample->counter->next);
}

static bool has_ended(const struct sample *sample)
{
	size_t i;

	for (i = 0; i < sizeof(limited) / sizeof(limited[0]); i++)
		if (!strcmp(sample->name, limited[i].name) && strstr(sample->path, "/counters/") &&
		    sample->second == (UINT64_C(1) << limited[i].bits) - 1)
			return true;
	return false;
}

static void say_ended(const struct sample *sample)
{
	doctor_say(DOCTOR_NOTE, sample->port->subject,
		   "%s is %llu, the most that it can hold, and does not count any more",
		   sample->name, (unsigned long long)sample->second);
	show_sample(sample);
	doctor_next("perfquery -R # as root: begins anew");
}

static void judge_port(const struct doctor_port *port)
{
	unsigned int i, known = 0, grown = 0;
	const struct sample *sample;
	uint64_t traffic = 0;

	for (i = 0; i < sample_count; i++) {
		sample = &samples[i];
		if (sample->port != port)
			continue;
		known++;
		if (sample->counter->when == TRAFFIC)
			traffic += sample->second - sample->first;
		else if (sample->counter->when == NORMAL)
			continue;
		else if (sample->second > sample->first && ++grown)
			say_growth(sample);
		else if (has_ended(sample))
			say_ended(sample);
		else if (total_matters(sample))
			say_total(sample);
	}
	if (!known) {
		doctor_say(DOCTOR_NOTE, port->subject, "its driver has no counters that we know");
		doctor_evidence("/sys/class/infiniband/%s/ports/%u/hw_counters", port->device,
				port->num);
	} else if (!grown) {
		doctor_say(DOCTOR_OK, port->subject, "no error was counted in %u s; %s",
			   doctor_options.seconds,
			   traffic ? "packets passed"
				   : "nothing passed either: watch longer, while a program runs");
		doctor_evidence("counters that we know: %u", known);
	}
}

void doctor_check_counters(void)
{
	const struct doctor_port *ports;
	unsigned int i, count = doctor_ports(&ports);

	for (i = 0; i < count; i++) {
		add_port(&ports[i]);
		add_ethtool(&ports[i]);
	}
	if (!count)
		return;
	read_samples(false);
	doctor_sleep(1000 * doctor_options.seconds);
	read_samples(true);
	for (i = 0; i < count; i++)
		judge_port(&ports[i]);
}
