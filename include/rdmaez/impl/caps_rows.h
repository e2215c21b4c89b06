/* SPDX-License-Identifier: MIT */
/*
 * This list has the fields of struct rdmaez_caps in the order of enum rdmaez_caps_id, with everything that is
 * written down about each. The file that includes it defines what a row becomes:
 *
 * RDMAEZ_P(id, group, member, type, kind, merge, what): copied from struct ibv_device_attr
 * RDMAEZ_X(id, group, member, type, kind, merge, told, path, what): from that path in ibv_device_attr_ex
 * RDMAEZ_A(id, group, member, type, kind, merge, told, place, what): from a place that not every verbs.h names
 * RDMAEZ_O(id, group, member, type, kind, merge, told, name, what): not copied, with a name of ours
 *
 * id, kind, merge and told are an enum rdmaez_caps_id, rdmaez_caps_kind, rdmaez_caps_merge and
 * rdmaez_impl_told without their prefixes. Paste them to those, and never expand them: a program may
 * have macros of these names. That is why caps.h and port_caps.h each define what a row becomes, and share no
 * macro that would get these words as arguments. The sentences are those of the members in caps.h.
 */
/* clang-format off */
RDMAEZ_O(NAME, device, name, char, TEXT, SAME, CONTEXT, name, "the device's name")
RDMAEZ_O(DEV_NAME, device, dev_name, char, TEXT, SAME, CONTEXT, dev_name,
         "its file below /dev/infiniband")
RDMAEZ_O(NODE_TYPE, device, node_type, int, NODE_TYPE, SAME, CONTEXT, node_type,
         "its role in the fabric, enum ibv_node_type")
RDMAEZ_O(TRANSPORT_TYPE, device, transport_type, int, TRANSPORT, SAME, CONTEXT, transport_type,
         "its transport, enum ibv_transport_type; RoCE counts as InfiniBand")
RDMAEZ_O(NUM_COMP_VECTORS, device, num_comp_vectors, int, COUNT, LEAST, CONTEXT, num_comp_vectors,
         "completion vectors, for ibv_create_cq()")
RDMAEZ_P(FW_VER, device, fw_ver, char, TEXT, SAME, "firmware version")
RDMAEZ_P(NODE_GUID, device, node_guid, uint64_t, GUID, SAME, "the device's GUID, big endian")
RDMAEZ_P(SYS_IMAGE_GUID, device, sys_image_guid, uint64_t, GUID, SAME,
         "the GUID that all devices of one adapter share, big endian")
RDMAEZ_P(VENDOR_ID, device, vendor_id, uint32_t, ID, SAME,
         "the vendor, usually by its IEEE or PCI number")
RDMAEZ_P(VENDOR_PART_ID, device, vendor_part_id, uint32_t, NUMBER, SAME,
         "the vendor's number of the model")
RDMAEZ_P(HW_VER, device, hw_ver, uint32_t, ID, SAME, "hardware revision")
RDMAEZ_P(PHYS_PORT_CNT, device, phys_port_cnt, uint8_t, COUNT, LEAST, "ports, at most 255")
RDMAEZ_A(PHYS_PORT_CNT_EX, device, phys_port_cnt_ex, uint32_t, COUNT, LEAST, LIBRARY, RDMAEZ_IMPL_PORTS_AT,
         "ports without that limit; from rdma-core 35 on")
RDMAEZ_O(PORT_COUNT, device, port_count, uint32_t, COUNT, LEAST, DERIVED, port_count,
         "ports: phys_port_cnt_ex where it is reported, else phys_port_cnt")
RDMAEZ_P(DEVICE_CAP_FLAGS, features, device_cap_flags, uint32_t, DEVICE_FLAGS, BITS,
         "capability bits 0 to 31")
RDMAEZ_X(DEVICE_CAP_FLAGS_EX, features, device_cap_flags_ex, uint64_t, DEVICE_FLAGS, BITS, FLAGS_EX, device_cap_flags_ex,
         "capability bits 0 to 63")
RDMAEZ_O(FLAGS, features, flags, uint64_t, DEVICE_FLAGS, BITS, DERIVED, flags,
         "all capability bits that either field has")
RDMAEZ_P(MAX_QP, limits, max_qp, int, COUNT, LEAST, "queue pairs")
RDMAEZ_P(MAX_QP_WR, limits, max_qp_wr, int, COUNT, LEAST, "work requests outstanding in one queue")
RDMAEZ_P(MAX_SGE, limits, max_sge, int, COUNT, LEAST, "scatter/gather elements of a work request")
RDMAEZ_P(MAX_SGE_RD, limits, max_sge_rd, int, COUNT, LEAST,
         "scatter/gather elements of an RDMA READ")
RDMAEZ_P(MAX_CQ, limits, max_cq, int, COUNT, LEAST, "completion queues")
RDMAEZ_P(MAX_CQE, limits, max_cqe, int, COUNT, LEAST, "entries of one completion queue")
RDMAEZ_P(MAX_PD, limits, max_pd, int, COUNT, LEAST, "protection domains")
RDMAEZ_P(MAX_AH, limits, max_ah, int, COUNT, LEAST, "address handles")
RDMAEZ_P(MAX_PKEYS, limits, max_pkeys, uint16_t, COUNT, LEAST, "entries of a port's P_Key table")
RDMAEZ_P(MAX_MR, limits, max_mr, int, COUNT, LEAST, "memory regions")
RDMAEZ_P(MAX_MR_SIZE, limits, max_mr_size, uint64_t, BYTES, LEAST,
         "bytes of one memory region; all bits set: no limit")
RDMAEZ_P(PAGE_SIZE_CAP, limits, page_size_cap, uint64_t, SIZES, BITS,
         "page sizes: bit n stands for 2 to the power of n bytes")
RDMAEZ_P(LOCAL_CA_ACK_DELAY, limits, local_ca_ack_delay, uint8_t, TIMER, MOST,
         "how long the device may take to answer, as an exponent")
RDMAEZ_O(LOCAL_CA_ACK_DELAY_NS, limits, local_ca_ack_delay_ns, uint64_t, NS, MOST, CODE, local_ca_ack_delay_ns,
         "the same in ns; unknown beyond 31")
RDMAEZ_P(MAX_QP_RD_ATOM, depths, max_qp_rd_atom, int, COUNT, LEAST,
         "READs and atomics a queue pair serves at once: limits max_dest_rd_atomic")
RDMAEZ_P(MAX_QP_INIT_RD_ATOM, depths, max_qp_init_rd_atom, int, COUNT, LEAST,
         "READs and atomics a queue pair may have outstanding: limits max_rd_atomic")
RDMAEZ_P(MAX_RES_RD_ATOM, depths, max_res_rd_atom, int, COUNT, LEAST,
         "READs and atomics the device serves at once")
RDMAEZ_P(ATOMIC_CAP, atomics, atomic_cap, int, ATOMIC_CAP, LEAST,
         "atomic among this device's queue pairs (HCA), or also against the CPU (GLOB)")
RDMAEZ_X(PCI_FETCH_ADD, atomics, fetch_add, uint16_t, PCI_ATOMIC, BITS, PROVIDER, pci_atomic_caps.fetch_add,
         "sizes of fetch-and-add that cross PCI as atomics")
RDMAEZ_X(PCI_SWAP, atomics, swap, uint16_t, PCI_ATOMIC, BITS, PROVIDER, pci_atomic_caps.swap,
         "sizes of swap that cross PCI as atomics")
RDMAEZ_X(PCI_COMPARE_SWAP, atomics, compare_swap, uint16_t, PCI_ATOMIC, BITS, PROVIDER, pci_atomic_caps.compare_swap,
         "sizes of compare-and-swap that cross PCI as atomics")
RDMAEZ_X(ODP_GENERAL_CAPS, odp, general_caps, uint64_t, ODP_GENERAL, BITS, ODP, odp_caps.general_caps,
         "on-demand paging in general")
RDMAEZ_O(ODP_SUPPORTED, odp, supported, bool, BOOL, BITS, DERIVED, odp_caps.supported,
         "whether there is on-demand paging at all")
RDMAEZ_O(ODP_IMPLICIT, odp, implicit, bool, BOOL, BITS, DERIVED, odp_caps.implicit,
         "whether one memory region may span the whole address space")
RDMAEZ_X(RC_ODP_CAPS, odp, rc, uint32_t, ODP_TRANSPORT, BITS, ODP, odp_caps.per_transport_caps.rc_odp_caps,
         "operations on paged memory, RC")
RDMAEZ_X(UC_ODP_CAPS, odp, uc, uint32_t, ODP_TRANSPORT, BITS, ODP, odp_caps.per_transport_caps.uc_odp_caps,
         "operations on paged memory, UC")
RDMAEZ_X(UD_ODP_CAPS, odp, ud, uint32_t, ODP_TRANSPORT, BITS, ODP, odp_caps.per_transport_caps.ud_odp_caps,
         "operations on paged memory, UD")
RDMAEZ_X(XRC_ODP_CAPS, odp, xrc, uint32_t, ODP_TRANSPORT, BITS, XRC_ODP, xrc_odp_caps,
         "operations on paged memory, XRC")
RDMAEZ_X(MAX_DM_SIZE, device_memory, max_dm_size, uint64_t, BYTES, LEAST, DM, max_dm_size,
         "bytes of the largest device memory; less may be free")
RDMAEZ_X(COMPLETION_TIMESTAMP_MASK, timestamps, completion_timestamp_mask, uint64_t, MASK, BITS, STAMP, completion_timestamp_mask,
         "valid bits of a completion's timestamp")
RDMAEZ_X(HCA_CORE_CLOCK, timestamps, hca_core_clock, uint64_t, KHZ, SAME, CLOCK, hca_core_clock,
         "the clock they count, in kHz")
RDMAEZ_O(HCA_CORE_CLOCK_HZ, timestamps, hca_core_clock_hz, uint64_t, HZ, SAME, DERIVED, hca_core_clock_hz,
         "the same in Hz")
RDMAEZ_X(MAX_TSO, tso, max_tso, uint32_t, BYTES, LEAST, PROVIDER, tso_caps.max_tso,
         "bytes of the longest message the device cuts into TCP segments")
RDMAEZ_X(TSO_SUPPORTED_QPTS, tso, supported_qpts, uint32_t, QP_TYPES, BITS, PROVIDER, tso_caps.supported_qpts,
         "queue pair types that can do so")
RDMAEZ_X(RSS_SUPPORTED_QPTS, rss, supported_qpts, uint32_t, QP_TYPES, BITS, RSS, rss_caps.supported_qpts,
         "queue pair types that distribute incoming packets by a hash")
RDMAEZ_X(MAX_RWQ_INDIRECTION_TABLES, rss, max_rwq_indirection_tables, uint32_t, COUNT, LEAST, RSS, rss_caps.max_rwq_indirection_tables,
         "indirection tables")
RDMAEZ_X(MAX_RWQ_INDIRECTION_TABLE_SIZE, rss, max_rwq_indirection_table_size, uint32_t, COUNT, LEAST, RSS, rss_caps.max_rwq_indirection_table_size,
         "entries of one indirection table")
RDMAEZ_X(RX_HASH_FIELDS_MASK, rss, rx_hash_fields_mask, uint64_t, RX_HASH_FIELDS, BITS, PROVIDER, rss_caps.rx_hash_fields_mask,
         "header fields that can be hashed")
RDMAEZ_X(RX_HASH_FUNCTION, rss, rx_hash_function, uint8_t, RX_HASH_FUNCTION, BITS, PROVIDER, rss_caps.rx_hash_function,
         "hash functions")
RDMAEZ_X(MAX_WQ_TYPE_RQ, rss, max_wq_type_rq, uint32_t, COUNT, LEAST, WQ, max_wq_type_rq,
         "receive work queues, ibv_create_wq()")
RDMAEZ_X(RAW_PACKET_CAPS, raw_packet, raw_packet_caps, uint32_t, RAW_PACKET, BITS, RAW, raw_packet_caps,
         "what the device does to raw packets")
RDMAEZ_X(QP_RATE_LIMIT_MIN, packet_pacing, qp_rate_limit_min, uint32_t, KBPS, MOST, PROVIDER, packet_pacing_caps.qp_rate_limit_min,
         "the lowest rate limit of a queue pair, in kbit/s")
RDMAEZ_X(QP_RATE_LIMIT_MAX, packet_pacing, qp_rate_limit_max, uint32_t, KBPS, LEAST, PROVIDER, packet_pacing_caps.qp_rate_limit_max,
         "the highest, in kbit/s")
RDMAEZ_X(PACING_SUPPORTED_QPTS, packet_pacing, supported_qpts, uint32_t, QP_TYPES, BITS, PROVIDER, packet_pacing_caps.supported_qpts,
         "queue pair types that accept one")
RDMAEZ_X(TM_MAX_RNDV_HDR_SIZE, tag_matching, max_rndv_hdr_size, uint32_t, BYTES, LEAST, TM, tm_caps.max_rndv_hdr_size,
         "bytes of a rendezvous request's header")
RDMAEZ_X(TM_MAX_NUM_TAGS, tag_matching, max_num_tags, uint32_t, COUNT, LEAST, TM, tm_caps.max_num_tags,
         "tagged buffers in one list")
RDMAEZ_X(TM_FLAGS, tag_matching, flags, uint32_t, TM_FLAGS, BITS, TM, tm_caps.flags,
         "transports that match tags")
RDMAEZ_X(TM_MAX_OPS, tag_matching, max_ops, uint32_t, COUNT, LEAST, TM, tm_caps.max_ops,
         "operations outstanding on one list")
RDMAEZ_X(TM_MAX_SGE, tag_matching, max_sge, uint32_t, COUNT, LEAST, TM, tm_caps.max_sge,
         "scatter/gather elements of a tagged buffer")
RDMAEZ_X(MAX_CQ_COUNT, cq_moderation, max_cq_count, uint16_t, COUNT, LEAST, CQ, cq_mod_caps.max_cq_count,
         "completions gathered into one event, at most")
RDMAEZ_X(MAX_CQ_PERIOD, cq_moderation, max_cq_period, uint16_t, US, LEAST, CQ, cq_mod_caps.max_cq_period,
         "how long an event may be held back, in us")
RDMAEZ_P(MAX_MW, memory_windows, max_mw, int, COUNT, LEAST, "memory windows")
RDMAEZ_O(MW_TYPE_1, memory_windows, type_1, bool, BOOL, BITS, DERIVED, memory_window_type_1,
         "whether there are windows of type 1, bound by ibv_bind_mw()")
RDMAEZ_O(MW_TYPE_2A, memory_windows, type_2a, bool, BOOL, BITS, DERIVED, memory_window_type_2a,
         "whether there are windows of type 2A, tied to a queue pair")
RDMAEZ_O(MW_TYPE_2B, memory_windows, type_2b, bool, BOOL, BITS, DERIVED, memory_window_type_2b,
         "whether there are windows of type 2B, tied to a queue pair and its domain")
RDMAEZ_P(MAX_SRQ, srq, max_srq, int, COUNT, LEAST, "shared receive queues")
RDMAEZ_P(MAX_SRQ_WR, srq, max_srq_wr, int, COUNT, LEAST, "work requests outstanding in one")
RDMAEZ_P(MAX_SRQ_SGE, srq, max_srq_sge, int, COUNT, LEAST, "scatter/gather elements of one of them")
RDMAEZ_P(MAX_MCAST_GRP, multicast, max_mcast_grp, int, COUNT, LEAST, "multicast groups")
RDMAEZ_P(MAX_MCAST_QP_ATTACH, multicast, max_mcast_qp_attach, int, COUNT, LEAST,
         "queue pairs in one group")
RDMAEZ_P(MAX_TOTAL_MCAST_QP_ATTACH, multicast, max_total_mcast_qp_attach, int, COUNT, LEAST,
         "queue pairs in all groups together")
RDMAEZ_P(MAX_RAW_IPV6_QP, defunct, max_raw_ipv6_qp, int, COUNT, LEAST,
         "raw IPv6 queue pairs, which verbs do not have")
RDMAEZ_P(MAX_RAW_ETHY_QP, defunct, max_raw_ethy_qp, int, COUNT, LEAST,
         "raw Ethertype queue pairs, which verbs do not have")
RDMAEZ_P(MAX_EE, defunct, max_ee, int, COUNT, LEAST,
         "end-to-end contexts of the RD transport, which no device implements")
RDMAEZ_P(MAX_EE_RD_ATOM, defunct, max_ee_rd_atom, int, COUNT, LEAST,
         "READs and atomics served by one of them")
RDMAEZ_P(MAX_EE_INIT_RD_ATOM, defunct, max_ee_init_rd_atom, int, COUNT, LEAST,
         "READs and atomics outstanding at one of them")
RDMAEZ_P(MAX_RDD, defunct, max_rdd, int, COUNT, LEAST, "RD domains")
RDMAEZ_P(MAX_FMR, defunct, max_fmr, int, COUNT, LEAST,
         "fast memory regions, which Linux 5.8 removed")
RDMAEZ_P(MAX_MAP_PER_FMR, defunct, max_map_per_fmr, int, COUNT, LEAST,
         "how often one of them could be mapped")
RDMAEZ_X(COMP_MASK, defunct, comp_mask, uint32_t, ID, SAME, PROVIDER, comp_mask,
         "nothing: neither the library nor a provider writes it")
