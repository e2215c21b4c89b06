/* SPDX-License-Identifier: MIT */
/**
 * @file caps_fields.h
 * @brief The fields of struct rdmaez_caps, each written down once.
 *
 * caps.h makes the structs, the decoding and the descriptions from these lists; text, JSON, comparison
 * and documentation follow from the descriptions. Nobody needs this header but caps.h.
 */
#ifndef RDMAEZ_IMPL_CAPS_FIELDS_H
#define RDMAEZ_IMPL_CAPS_FIELDS_H

/*
 * Who tells a field, which decides what a zero means. From TOLD_ODP on the kernel tells it in an
 * answer that grew by these parts in this order, so that whoever knows one knows all before it
 * (struct ib_uverbs_ex_query_device_resp; the last one came with Linux 5.1).
 */
enum rdmaez_impl_told {
	RDMAEZ_IMPL_TOLD_PLAIN,    /* the plain query, which everyone answers */
	RDMAEZ_IMPL_TOLD_CONTEXT,  /* the open device */
	RDMAEZ_IMPL_TOLD_DERIVED,  /* no one: it follows from another field */
	RDMAEZ_IMPL_TOLD_LIBRARY,  /* libibverbs, from 35 on */
	RDMAEZ_IMPL_TOLD_PROVIDER, /* the provider's library, in the extended query */
	RDMAEZ_IMPL_TOLD_ODP,      /* the kernel, in the extended query; so all that follow */
	RDMAEZ_IMPL_TOLD_STAMP,
	RDMAEZ_IMPL_TOLD_CLOCK,
	RDMAEZ_IMPL_TOLD_FLAGS_EX,
	RDMAEZ_IMPL_TOLD_RSS,
	RDMAEZ_IMPL_TOLD_WQ,
	RDMAEZ_IMPL_TOLD_RAW,
	RDMAEZ_IMPL_TOLD_TM,
	RDMAEZ_IMPL_TOLD_CQ,
	RDMAEZ_IMPL_TOLD_DM,
	RDMAEZ_IMPL_TOLD_XRC_ODP
};

/*
 * The fields, once. P(id, group, member, type, kind, merge, what) is a member of the plain query's
 * struct ibv_device_attr. X(id, group, member, type, kind, merge, told, path, what) is one of the
 * extended query's, at that path. D has the same columns and is not simply copied: its path is a name of
 * ours. T is text, of so many bytes. kind and merge are an enum rdmaez_caps_kind and an enum
 * rdmaez_caps_merge without their prefixes, told is an enum rdmaez_impl_told.
 */

/* clang-format off */

#define RDMAEZ_IMPL_CAPS_DEVICE(P, X, D, T) \
	T(NAME, device, name, IBV_SYSFS_NAME_MAX, TEXT, SAME, CONTEXT, name, \
	  "the device's name") \
	T(DEV_NAME, device, dev_name, IBV_SYSFS_NAME_MAX, TEXT, SAME, CONTEXT, dev_name, \
	  "the file below /dev/infiniband that it is opened by") \
	D(NODE_TYPE, device, node_type, int, NODE_TYPE, SAME, CONTEXT, node_type, \
	  "what it is in the fabric, enum ibv_node_type") \
	D(TRANSPORT_TYPE, device, transport_type, int, TRANSPORT, SAME, CONTEXT, transport_type, \
	  "its transport, enum ibv_transport_type; RoCE counts as InfiniBand") \
	D(NUM_COMP_VECTORS, device, num_comp_vectors, int, COUNT, LEAST, CONTEXT, \
	  num_comp_vectors, \
	  "completion vectors, for ibv_create_cq()") \
	T(FW_VER, device, fw_ver, 64, TEXT, SAME, PLAIN, fw_ver, "firmware version") \
	P(NODE_GUID, device, node_guid, uint64_t, GUID, SAME, "the device's GUID, big endian") \
	P(SYS_IMAGE_GUID, device, sys_image_guid, uint64_t, GUID, SAME, \
	  "the GUID that all devices of one adapter share, big endian") \
	P(VENDOR_ID, device, vendor_id, uint32_t, ID, SAME, \
	  "the vendor, usually by its IEEE or PCI number") \
	P(VENDOR_PART_ID, device, vendor_part_id, uint32_t, NUMBER, SAME, \
	  "the vendor's number of the model") \
	P(HW_VER, device, hw_ver, uint32_t, ID, SAME, "hardware revision") \
	P(PHYS_PORT_CNT, device, phys_port_cnt, uint8_t, COUNT, LEAST, "ports, at most 255") \
	D(PHYS_PORT_CNT_EX, device, phys_port_cnt_ex, uint32_t, COUNT, LEAST, LIBRARY, \
	  phys_port_cnt_ex, \
	  "ports without that limit, from rdma-core 35 on") \
	D(PORT_COUNT, device, port_count, uint32_t, COUNT, LEAST, DERIVED, port_count, \
	  "ports: phys_port_cnt_ex where it is told, else phys_port_cnt")

#define RDMAEZ_IMPL_CAPS_FEATURES(P, X, D, T) \
	P(DEVICE_CAP_FLAGS, features, device_cap_flags, uint32_t, DEVICE_FLAGS, BITS, \
	  "capability bits 0 to 31") \
	X(DEVICE_CAP_FLAGS_EX, features, device_cap_flags_ex, uint64_t, DEVICE_FLAGS, BITS, \
	  FLAGS_EX, device_cap_flags_ex, \
	  "capability bits 0 to 63") \
	D(FLAGS, features, flags, uint64_t, DEVICE_FLAGS, BITS, DERIVED, flags, \
	  "all capability bits that either field has")

#define RDMAEZ_IMPL_CAPS_LIMITS(P, X, D, T) \
	P(MAX_QP, limits, max_qp, int, COUNT, LEAST, "queue pairs") \
	P(MAX_QP_WR, limits, max_qp_wr, int, COUNT, LEAST, \
	  "work requests outstanding in one queue") \
	P(MAX_SGE, limits, max_sge, int, COUNT, LEAST, \
	  "scatter/gather elements of a work request") \
	P(MAX_SGE_RD, limits, max_sge_rd, int, COUNT, LEAST, \
	  "scatter/gather elements of an RDMA READ") \
	P(MAX_CQ, limits, max_cq, int, COUNT, LEAST, "completion queues") \
	P(MAX_CQE, limits, max_cqe, int, COUNT, LEAST, "entries of one completion queue") \
	P(MAX_PD, limits, max_pd, int, COUNT, LEAST, "protection domains") \
	P(MAX_AH, limits, max_ah, int, COUNT, LEAST, "address handles") \
	P(MAX_PKEYS, limits, max_pkeys, uint16_t, COUNT, LEAST, "rows of a port's P_Key table") \
	P(MAX_MR, limits, max_mr, int, COUNT, LEAST, "memory regions") \
	P(MAX_MR_SIZE, limits, max_mr_size, uint64_t, BYTES, LEAST, \
	  "bytes of one memory region; all bits set: no limit") \
	P(PAGE_SIZE_CAP, limits, page_size_cap, uint64_t, SIZES, BITS, \
	  "page sizes: bit n stands for 2 to the power of n bytes") \
	P(LOCAL_CA_ACK_DELAY, limits, local_ca_ack_delay, uint8_t, TIMER, MOST, \
	  "how long the device may take to answer, as an exponent") \
	D(LOCAL_CA_ACK_DELAY_NS, limits, local_ca_ack_delay_ns, uint64_t, NS, MOST, DERIVED, \
	  local_ca_ack_delay_ns, \
	  "the same in ns; unknown beyond 31")

#define RDMAEZ_IMPL_CAPS_DEPTHS(P, X, D, T) \
	P(MAX_QP_RD_ATOM, depths, max_qp_rd_atom, int, COUNT, LEAST, \
	  "READs and atomics that a queue pair serves at once: the limit of max_dest_rd_atomic") \
	P(MAX_QP_INIT_RD_ATOM, depths, max_qp_init_rd_atom, int, COUNT, LEAST, \
	  "READs and atomics that a queue pair has outstanding: the limit of max_rd_atomic") \
	P(MAX_RES_RD_ATOM, depths, max_res_rd_atom, int, COUNT, LEAST, \
	  "READs and atomics that the device serves at once")

#define RDMAEZ_IMPL_CAPS_ATOMICS(P, X, D, T) \
	P(ATOMIC_CAP, atomics, atomic_cap, int, ATOMIC_CAP, LEAST, \
	  "atomic among this device's queue pairs (HCA), or against the CPU as well (GLOB)") \
	X(PCI_FETCH_ADD, atomics, fetch_add, uint16_t, PCI_ATOMIC, BITS, PROVIDER, \
	  pci_atomic_caps.fetch_add, \
	  "sizes of fetch-and-add that cross PCI as atomics") \
	X(PCI_SWAP, atomics, swap, uint16_t, PCI_ATOMIC, BITS, PROVIDER, pci_atomic_caps.swap, \
	  "sizes of swap that cross PCI as atomics") \
	X(PCI_COMPARE_SWAP, atomics, compare_swap, uint16_t, PCI_ATOMIC, BITS, PROVIDER, \
	  pci_atomic_caps.compare_swap, \
	  "sizes of compare-and-swap that cross PCI as atomics")

#define RDMAEZ_IMPL_CAPS_ODP(P, X, D, T) \
	X(ODP_GENERAL_CAPS, odp, general_caps, uint64_t, ODP_GENERAL, BITS, ODP, \
	  odp_caps.general_caps, \
	  "on-demand paging in general") \
	D(ODP_SUPPORTED, odp, supported, bool, BOOL, BITS, DERIVED, odp_caps.supported, \
	  "whether there is on-demand paging at all") \
	D(ODP_IMPLICIT, odp, implicit, bool, BOOL, BITS, DERIVED, odp_caps.implicit, \
	  "whether one memory region may span the whole address space") \
	X(RC_ODP_CAPS, odp, rc, uint32_t, ODP_TRANSPORT, BITS, ODP, \
	  odp_caps.per_transport_caps.rc_odp_caps, \
	  "operations on paged memory, RC") \
	X(UC_ODP_CAPS, odp, uc, uint32_t, ODP_TRANSPORT, BITS, ODP, \
	  odp_caps.per_transport_caps.uc_odp_caps, \
	  "operations on paged memory, UC") \
	X(UD_ODP_CAPS, odp, ud, uint32_t, ODP_TRANSPORT, BITS, ODP, \
	  odp_caps.per_transport_caps.ud_odp_caps, \
	  "operations on paged memory, UD") \
	X(XRC_ODP_CAPS, odp, xrc, uint32_t, ODP_TRANSPORT, BITS, XRC_ODP, xrc_odp_caps, \
	  "operations on paged memory, XRC")

#define RDMAEZ_IMPL_CAPS_DEVICE_MEMORY(P, X, D, T) \
	X(MAX_DM_SIZE, device_memory, max_dm_size, uint64_t, BYTES, LEAST, DM, max_dm_size, \
	  "bytes of the largest device memory; what is free may be less")

#define RDMAEZ_IMPL_CAPS_TIMESTAMPS(P, X, D, T) \
	X(COMPLETION_TIMESTAMP_MASK, timestamps, completion_timestamp_mask, uint64_t, MASK, \
	  BITS, STAMP, completion_timestamp_mask, \
	  "valid bits of a completion's timestamp") \
	X(HCA_CORE_CLOCK, timestamps, hca_core_clock, uint64_t, KHZ, SAME, CLOCK, hca_core_clock, \
	  "the clock that they count, in kHz") \
	D(HCA_CORE_CLOCK_HZ, timestamps, hca_core_clock_hz, uint64_t, HZ, SAME, DERIVED, \
	  hca_core_clock_hz, \
	  "the same in Hz")

#define RDMAEZ_IMPL_CAPS_TSO(P, X, D, T) \
	X(MAX_TSO, tso, max_tso, uint32_t, BYTES, LEAST, PROVIDER, tso_caps.max_tso, \
	  "bytes of the longest message that the device cuts into TCP segments") \
	X(TSO_SUPPORTED_QPTS, tso, supported_qpts, uint32_t, QP_TYPES, BITS, PROVIDER, \
	  tso_caps.supported_qpts, \
	  "queue pair types that can")

#define RDMAEZ_IMPL_CAPS_RSS(P, X, D, T) \
	X(RSS_SUPPORTED_QPTS, rss, supported_qpts, uint32_t, QP_TYPES, BITS, RSS, \
	  rss_caps.supported_qpts, \
	  "queue pair types that spread what they receive by a hash") \
	X(MAX_RWQ_INDIRECTION_TABLES, rss, max_rwq_indirection_tables, uint32_t, COUNT, LEAST, \
	  RSS, rss_caps.max_rwq_indirection_tables, \
	  "indirection tables") \
	X(MAX_RWQ_INDIRECTION_TABLE_SIZE, rss, max_rwq_indirection_table_size, uint32_t, \
	  COUNT, LEAST, RSS, rss_caps.max_rwq_indirection_table_size, \
	  "entries of one indirection table") \
	X(RX_HASH_FIELDS_MASK, rss, rx_hash_fields_mask, uint64_t, RX_HASH_FIELDS, BITS, \
	  PROVIDER, rss_caps.rx_hash_fields_mask, \
	  "header fields that may go into the hash") \
	X(RX_HASH_FUNCTION, rss, rx_hash_function, uint8_t, RX_HASH_FUNCTION, BITS, PROVIDER, \
	  rss_caps.rx_hash_function, \
	  "hash functions") \
	X(MAX_WQ_TYPE_RQ, rss, max_wq_type_rq, uint32_t, COUNT, LEAST, WQ, max_wq_type_rq, \
	  "receive work queues, ibv_create_wq()")

#define RDMAEZ_IMPL_CAPS_RAW_PACKET(P, X, D, T) \
	X(RAW_PACKET_CAPS, raw_packet, raw_packet_caps, uint32_t, RAW_PACKET, BITS, RAW, \
	  raw_packet_caps, \
	  "what the device does for raw packets")

#define RDMAEZ_IMPL_CAPS_PACKET_PACING(P, X, D, T) \
	X(QP_RATE_LIMIT_MIN, packet_pacing, qp_rate_limit_min, uint32_t, KBPS, MOST, PROVIDER, \
	  packet_pacing_caps.qp_rate_limit_min, \
	  "the least rate limit of a queue pair, in kbit/s") \
	X(QP_RATE_LIMIT_MAX, packet_pacing, qp_rate_limit_max, uint32_t, KBPS, LEAST, \
	  PROVIDER, packet_pacing_caps.qp_rate_limit_max, \
	  "the greatest, in kbit/s") \
	X(PACING_SUPPORTED_QPTS, packet_pacing, supported_qpts, uint32_t, QP_TYPES, BITS, \
	  PROVIDER, packet_pacing_caps.supported_qpts, \
	  "queue pair types that take one")

#define RDMAEZ_IMPL_CAPS_TAG_MATCHING(P, X, D, T) \
	X(TM_MAX_RNDV_HDR_SIZE, tag_matching, max_rndv_hdr_size, uint32_t, BYTES, LEAST, TM, \
	  tm_caps.max_rndv_hdr_size, \
	  "bytes of a rendezvous request's header") \
	X(TM_MAX_NUM_TAGS, tag_matching, max_num_tags, uint32_t, COUNT, LEAST, TM, \
	  tm_caps.max_num_tags, \
	  "tagged buffers in one list") \
	X(TM_FLAGS, tag_matching, flags, uint32_t, TM_FLAGS, BITS, TM, tm_caps.flags, \
	  "transports that match tags") \
	X(TM_MAX_OPS, tag_matching, max_ops, uint32_t, COUNT, LEAST, TM, tm_caps.max_ops, \
	  "operations outstanding on one list") \
	X(TM_MAX_SGE, tag_matching, max_sge, uint32_t, COUNT, LEAST, TM, tm_caps.max_sge, \
	  "scatter/gather elements of a tagged buffer")

#define RDMAEZ_IMPL_CAPS_CQ_MODERATION(P, X, D, T) \
	X(MAX_CQ_COUNT, cq_moderation, max_cq_count, uint16_t, COUNT, LEAST, CQ, \
	  cq_mod_caps.max_cq_count, \
	  "completions that one event may wait for") \
	X(MAX_CQ_PERIOD, cq_moderation, max_cq_period, uint16_t, US, LEAST, CQ, \
	  cq_mod_caps.max_cq_period, \
	  "how long one event may wait, in us")

#define RDMAEZ_IMPL_CAPS_MEMORY_WINDOWS(P, X, D, T) \
	P(MAX_MW, memory_windows, max_mw, int, COUNT, LEAST, "memory windows") \
	D(MW_TYPE_1, memory_windows, type_1, bool, BOOL, BITS, DERIVED, memory_window_type_1, \
	  "whether there are windows of type 1, bound by ibv_bind_mw()") \
	D(MW_TYPE_2A, memory_windows, type_2a, bool, BOOL, BITS, DERIVED, memory_window_type_2a, \
	  "whether there are windows of type 2A, which belong to a queue pair") \
	D(MW_TYPE_2B, memory_windows, type_2b, bool, BOOL, BITS, DERIVED, memory_window_type_2b, \
	  "whether there are windows of type 2B, which belong to a queue pair and its domain")

#define RDMAEZ_IMPL_CAPS_SRQ(P, X, D, T) \
	P(MAX_SRQ, srq, max_srq, int, COUNT, LEAST, "shared receive queues") \
	P(MAX_SRQ_WR, srq, max_srq_wr, int, COUNT, LEAST, "work requests outstanding in one") \
	P(MAX_SRQ_SGE, srq, max_srq_sge, int, COUNT, LEAST, \
	  "scatter/gather elements of one of them")

#define RDMAEZ_IMPL_CAPS_MULTICAST(P, X, D, T) \
	P(MAX_MCAST_GRP, multicast, max_mcast_grp, int, COUNT, LEAST, "multicast groups") \
	P(MAX_MCAST_QP_ATTACH, multicast, max_mcast_qp_attach, int, COUNT, LEAST, \
	  "queue pairs in one group") \
	P(MAX_TOTAL_MCAST_QP_ATTACH, multicast, max_total_mcast_qp_attach, int, COUNT, LEAST, \
	  "queue pairs in all groups together")

#define RDMAEZ_IMPL_CAPS_OBSOLETE(P, X, D, T) \
	P(MAX_RAW_IPV6_QP, obsolete, max_raw_ipv6_qp, int, COUNT, LEAST, \
	  "raw IPv6 queue pairs, which verbs do not have") \
	P(MAX_RAW_ETHY_QP, obsolete, max_raw_ethy_qp, int, COUNT, LEAST, \
	  "raw Ethertype queue pairs, which verbs do not have") \
	P(MAX_EE, obsolete, max_ee, int, COUNT, LEAST, \
	  "end-to-end contexts of the RD transport, which nobody built") \
	P(MAX_EE_RD_ATOM, obsolete, max_ee_rd_atom, int, COUNT, LEAST, \
	  "READs and atomics served by one of them") \
	P(MAX_EE_INIT_RD_ATOM, obsolete, max_ee_init_rd_atom, int, COUNT, LEAST, \
	  "READs and atomics outstanding at one of them") \
	P(MAX_RDD, obsolete, max_rdd, int, COUNT, LEAST, "RD domains") \
	P(MAX_FMR, obsolete, max_fmr, int, COUNT, LEAST, \
	  "fast memory regions, which Linux 5.8 removed") \
	P(MAX_MAP_PER_FMR, obsolete, max_map_per_fmr, int, COUNT, LEAST, \
	  "times that one of them could be mapped") \
	X(COMP_MASK, obsolete, comp_mask, uint32_t, ID, SAME, PROVIDER, comp_mask, \
	  "nothing: neither library nor providers write it")

/* clang-format on */

/* The groups in the order in which they are shown: their struct, what they hold. */
#define RDMAEZ_IMPL_CAPS_FIELDS(P, X, D, T)         \
	RDMAEZ_IMPL_CAPS_DEVICE(P, X, D, T)         \
	RDMAEZ_IMPL_CAPS_FEATURES(P, X, D, T)       \
	RDMAEZ_IMPL_CAPS_LIMITS(P, X, D, T)         \
	RDMAEZ_IMPL_CAPS_DEPTHS(P, X, D, T)         \
	RDMAEZ_IMPL_CAPS_ATOMICS(P, X, D, T)        \
	RDMAEZ_IMPL_CAPS_ODP(P, X, D, T)            \
	RDMAEZ_IMPL_CAPS_DEVICE_MEMORY(P, X, D, T)  \
	RDMAEZ_IMPL_CAPS_TIMESTAMPS(P, X, D, T)     \
	RDMAEZ_IMPL_CAPS_TSO(P, X, D, T)            \
	RDMAEZ_IMPL_CAPS_RSS(P, X, D, T)            \
	RDMAEZ_IMPL_CAPS_RAW_PACKET(P, X, D, T)     \
	RDMAEZ_IMPL_CAPS_PACKET_PACING(P, X, D, T)  \
	RDMAEZ_IMPL_CAPS_TAG_MATCHING(P, X, D, T)   \
	RDMAEZ_IMPL_CAPS_CQ_MODERATION(P, X, D, T)  \
	RDMAEZ_IMPL_CAPS_MEMORY_WINDOWS(P, X, D, T) \
	RDMAEZ_IMPL_CAPS_SRQ(P, X, D, T)            \
	RDMAEZ_IMPL_CAPS_MULTICAST(P, X, D, T)      \
	RDMAEZ_IMPL_CAPS_OBSOLETE(P, X, D, T)

#define RDMAEZ_IMPL_CAPS_ENUM(id, ...) RDMAEZ_CAPS_##id,

#define RDMAEZ_IMPL_CAPS_MEMBER(id, group, member, type, ...) type member;
#define RDMAEZ_IMPL_CAPS_CHARS(id, group, member, size, ...)  char member[size];
#define RDMAEZ_IMPL_CAPS_MEMBERS(list)                                                  \
	list(RDMAEZ_IMPL_CAPS_MEMBER, RDMAEZ_IMPL_CAPS_MEMBER, RDMAEZ_IMPL_CAPS_MEMBER, \
	     RDMAEZ_IMPL_CAPS_CHARS)

#define RDMAEZ_IMPL_SOURCE_ID(id, what) RDMAEZ_SOURCE_##id,

#endif
