/* SPDX-License-Identifier: MIT */
/*
 * The fields of struct rdmaez_caps written down a second time, in the order of verbs.h, for the tests: what
 * caps_rows.h forgets or mistakes shows against this.
 */
#ifndef CAPS_LIST_H
#define CAPS_LIST_H

#include <rdmaez.h>
#include <rdmaez/caps.h>
#include <rdmaez/port_caps.h>

/* clang-format off */

/* ORIG(id, member of struct ibv_device_attr, member of struct rdmaez_caps, kind, merge) */
#define CAPS_ORIG(ORIG) \
	ORIG(NODE_GUID, node_guid, device.node_guid, GUID, SAME) \
	ORIG(SYS_IMAGE_GUID, sys_image_guid, device.sys_image_guid, GUID, SAME) \
	ORIG(MAX_MR_SIZE, max_mr_size, limits.max_mr_size, BYTES, LEAST) \
	ORIG(PAGE_SIZE_CAP, page_size_cap, limits.page_size_cap, SIZES, BITS) \
	ORIG(VENDOR_ID, vendor_id, device.vendor_id, ID, SAME) \
	ORIG(VENDOR_PART_ID, vendor_part_id, device.vendor_part_id, NUMBER, SAME) \
	ORIG(HW_VER, hw_ver, device.hw_ver, ID, SAME) \
	ORIG(MAX_QP, max_qp, limits.max_qp, COUNT, LEAST) \
	ORIG(MAX_QP_WR, max_qp_wr, limits.max_qp_wr, COUNT, LEAST) \
	ORIG(DEVICE_CAP_FLAGS, device_cap_flags, features.device_cap_flags, DEVICE_FLAGS, BITS) \
	ORIG(MAX_SGE, max_sge, limits.max_sge, COUNT, LEAST) \
	ORIG(MAX_SGE_RD, max_sge_rd, limits.max_sge_rd, COUNT, LEAST) \
	ORIG(MAX_CQ, max_cq, limits.max_cq, COUNT, LEAST) \
	ORIG(MAX_CQE, max_cqe, limits.max_cqe, COUNT, LEAST) \
	ORIG(MAX_MR, max_mr, limits.max_mr, COUNT, LEAST) \
	ORIG(MAX_PD, max_pd, limits.max_pd, COUNT, LEAST) \
	ORIG(MAX_QP_RD_ATOM, max_qp_rd_atom, depths.max_qp_rd_atom, COUNT, LEAST) \
	ORIG(MAX_EE_RD_ATOM, max_ee_rd_atom, defunct.max_ee_rd_atom, COUNT, LEAST) \
	ORIG(MAX_RES_RD_ATOM, max_res_rd_atom, depths.max_res_rd_atom, COUNT, LEAST) \
	ORIG(MAX_QP_INIT_RD_ATOM, max_qp_init_rd_atom, depths.max_qp_init_rd_atom, COUNT, LEAST) \
	ORIG(MAX_EE_INIT_RD_ATOM, max_ee_init_rd_atom, defunct.max_ee_init_rd_atom, COUNT, LEAST) \
	ORIG(ATOMIC_CAP, atomic_cap, atomics.atomic_cap, ATOMIC_CAP, LEAST) \
	ORIG(MAX_EE, max_ee, defunct.max_ee, COUNT, LEAST) \
	ORIG(MAX_RDD, max_rdd, defunct.max_rdd, COUNT, LEAST) \
	ORIG(MAX_MW, max_mw, memory_windows.max_mw, COUNT, LEAST) \
	ORIG(MAX_RAW_IPV6_QP, max_raw_ipv6_qp, defunct.max_raw_ipv6_qp, COUNT, LEAST) \
	ORIG(MAX_RAW_ETHY_QP, max_raw_ethy_qp, defunct.max_raw_ethy_qp, COUNT, LEAST) \
	ORIG(MAX_MCAST_GRP, max_mcast_grp, multicast.max_mcast_grp, COUNT, LEAST) \
	ORIG(MAX_MCAST_QP_ATTACH, max_mcast_qp_attach, multicast.max_mcast_qp_attach, COUNT, LEAST) \
	ORIG(MAX_TOTAL_MCAST_QP_ATTACH, max_total_mcast_qp_attach, \
	     multicast.max_total_mcast_qp_attach, COUNT, LEAST) \
	ORIG(MAX_AH, max_ah, limits.max_ah, COUNT, LEAST) \
	ORIG(MAX_FMR, max_fmr, defunct.max_fmr, COUNT, LEAST) \
	ORIG(MAX_MAP_PER_FMR, max_map_per_fmr, defunct.max_map_per_fmr, COUNT, LEAST) \
	ORIG(MAX_SRQ, max_srq, srq.max_srq, COUNT, LEAST) \
	ORIG(MAX_SRQ_WR, max_srq_wr, srq.max_srq_wr, COUNT, LEAST) \
	ORIG(MAX_SRQ_SGE, max_srq_sge, srq.max_srq_sge, COUNT, LEAST) \
	ORIG(MAX_PKEYS, max_pkeys, limits.max_pkeys, COUNT, LEAST) \
	ORIG(LOCAL_CA_ACK_DELAY, local_ca_ack_delay, limits.local_ca_ack_delay, TIMER, MOST) \
	ORIG(PHYS_PORT_CNT, phys_port_cnt, device.phys_port_cnt, COUNT, LEAST)

/*
 * FULL(id, path in struct ibv_device_attr_ex, member, kind, merge, part): part is the place of what the
 * kernel tells in its answer to the extended query; 0 where the provider's library tells.
 */
#define CAPS_FULL(FULL) \
	FULL(COMP_MASK, comp_mask, defunct.comp_mask, ID, SAME, 0) \
	FULL(ODP_GENERAL_CAPS, odp_caps.general_caps, odp.general_caps, ODP_GENERAL, BITS, 1) \
	FULL(RC_ODP_CAPS, odp_caps.per_transport_caps.rc_odp_caps, odp.rc, ODP_TRANSPORT, BITS, 1) \
	FULL(UC_ODP_CAPS, odp_caps.per_transport_caps.uc_odp_caps, odp.uc, ODP_TRANSPORT, BITS, 1) \
	FULL(UD_ODP_CAPS, odp_caps.per_transport_caps.ud_odp_caps, odp.ud, ODP_TRANSPORT, BITS, 1) \
	FULL(COMPLETION_TIMESTAMP_MASK, completion_timestamp_mask, \
	     timestamps.completion_timestamp_mask, MASK, BITS, 2) \
	FULL(HCA_CORE_CLOCK, hca_core_clock, timestamps.hca_core_clock, KHZ, SAME, 3) \
	FULL(DEVICE_CAP_FLAGS_EX, device_cap_flags_ex, features.device_cap_flags_ex, DEVICE_FLAGS, \
	     BITS, 4) \
	FULL(MAX_TSO, tso_caps.max_tso, tso.max_tso, BYTES, LEAST, 0) \
	FULL(TSO_SUPPORTED_QPTS, tso_caps.supported_qpts, tso.supported_qpts, QP_TYPES, BITS, 0) \
	FULL(RSS_SUPPORTED_QPTS, rss_caps.supported_qpts, rss.supported_qpts, QP_TYPES, BITS, 5) \
	FULL(MAX_RWQ_INDIRECTION_TABLES, rss_caps.max_rwq_indirection_tables, \
	     rss.max_rwq_indirection_tables, COUNT, LEAST, 5) \
	FULL(MAX_RWQ_INDIRECTION_TABLE_SIZE, rss_caps.max_rwq_indirection_table_size, \
	     rss.max_rwq_indirection_table_size, COUNT, LEAST, 5) \
	FULL(RX_HASH_FIELDS_MASK, rss_caps.rx_hash_fields_mask, rss.rx_hash_fields_mask, \
	     RX_HASH_FIELDS, BITS, 0) \
	FULL(RX_HASH_FUNCTION, rss_caps.rx_hash_function, rss.rx_hash_function, \
	     RX_HASH_FUNCTION, BITS, 0) \
	FULL(MAX_WQ_TYPE_RQ, max_wq_type_rq, rss.max_wq_type_rq, COUNT, LEAST, 6) \
	FULL(QP_RATE_LIMIT_MIN, packet_pacing_caps.qp_rate_limit_min, \
	     packet_pacing.qp_rate_limit_min, KBPS, MOST, 0) \
	FULL(QP_RATE_LIMIT_MAX, packet_pacing_caps.qp_rate_limit_max, \
	     packet_pacing.qp_rate_limit_max, KBPS, LEAST, 0) \
	FULL(PACING_SUPPORTED_QPTS, packet_pacing_caps.supported_qpts, \
	     packet_pacing.supported_qpts, QP_TYPES, BITS, 0) \
	FULL(RAW_PACKET_CAPS, raw_packet_caps, raw_packet.raw_packet_caps, RAW_PACKET, BITS, 7) \
	FULL(TM_MAX_RNDV_HDR_SIZE, tm_caps.max_rndv_hdr_size, tag_matching.max_rndv_hdr_size, \
	     BYTES, LEAST, 8) \
	FULL(TM_MAX_NUM_TAGS, tm_caps.max_num_tags, tag_matching.max_num_tags, COUNT, LEAST, 8) \
	FULL(TM_FLAGS, tm_caps.flags, tag_matching.flags, TM_FLAGS, BITS, 8) \
	FULL(TM_MAX_OPS, tm_caps.max_ops, tag_matching.max_ops, COUNT, LEAST, 8) \
	FULL(TM_MAX_SGE, tm_caps.max_sge, tag_matching.max_sge, COUNT, LEAST, 8) \
	FULL(MAX_CQ_COUNT, cq_mod_caps.max_cq_count, cq_moderation.max_cq_count, COUNT, LEAST, 9) \
	FULL(MAX_CQ_PERIOD, cq_mod_caps.max_cq_period, cq_moderation.max_cq_period, US, LEAST, 9) \
	FULL(MAX_DM_SIZE, max_dm_size, device_memory.max_dm_size, BYTES, LEAST, 10) \
	FULL(PCI_FETCH_ADD, pci_atomic_caps.fetch_add, atomics.fetch_add, PCI_ATOMIC, BITS, 0) \
	FULL(PCI_SWAP, pci_atomic_caps.swap, atomics.swap, PCI_ATOMIC, BITS, 0) \
	FULL(PCI_COMPARE_SWAP, pci_atomic_caps.compare_swap, atomics.compare_swap, PCI_ATOMIC, BITS, 0) \
	FULL(XRC_ODP_CAPS, xrc_odp_caps, odp.xrc, ODP_TRANSPORT, BITS, 11)

/* OURS(id, key, member, kind, merge): what does not lie in those structs, or not in every verbs.h. */
#define CAPS_OURS(OURS) \
	OURS(NODE_TYPE, node_type, device.node_type, NODE_TYPE, SAME) \
	OURS(TRANSPORT_TYPE, transport_type, device.transport_type, TRANSPORT, SAME) \
	OURS(NUM_COMP_VECTORS, num_comp_vectors, device.num_comp_vectors, COUNT, LEAST) \
	OURS(PHYS_PORT_CNT_EX, phys_port_cnt_ex, device.phys_port_cnt_ex, COUNT, LEAST) \
	OURS(PORT_COUNT, port_count, device.port_count, COUNT, LEAST) \
	OURS(FLAGS, flags, features.flags, DEVICE_FLAGS, BITS) \
	OURS(LOCAL_CA_ACK_DELAY_NS, local_ca_ack_delay_ns, limits.local_ca_ack_delay_ns, NS, MOST) \
	OURS(ODP_SUPPORTED, odp_caps.supported, odp.supported, BOOL, BITS) \
	OURS(ODP_IMPLICIT, odp_caps.implicit, odp.implicit, BOOL, BITS) \
	OURS(HCA_CORE_CLOCK_HZ, hca_core_clock_hz, timestamps.hca_core_clock_hz, HZ, SAME) \
	OURS(MW_TYPE_1, memory_window_type_1, memory_windows.type_1, BOOL, BITS) \
	OURS(MW_TYPE_2A, memory_window_type_2a, memory_windows.type_2a, BOOL, BITS) \
	OURS(MW_TYPE_2B, memory_window_type_2b, memory_windows.type_2b, BOOL, BITS)

/* TEXT(id, key, member) */
#define CAPS_TEXT(TEXT) \
	TEXT(NAME, name, device.name) \
	TEXT(DEV_NAME, dev_name, device.dev_name) \
	TEXT(FW_VER, fw_ver, device.fw_ver)

/* clang-format on */

/* A field, as it should be described. */
struct caps_expected {
	enum rdmaez_caps_id id;
	const char *name;
	const char *member; /* "group.member" */
	enum rdmaez_caps_kind kind;
	enum rdmaez_caps_merge merge;
	int part; /* -1: the extended query has nothing to do with it */
};

#define CAPS_ROW(id, path, member, kind, merge) \
	{RDMAEZ_CAPS_##id, #path, #member, RDMAEZ_KIND_##kind, RDMAEZ_MERGE_##merge, -1},
#define CAPS_PART_ROW(id, path, member, kind, merge, part) \
	{RDMAEZ_CAPS_##id, #path, #member, RDMAEZ_KIND_##kind, RDMAEZ_MERGE_##merge, part},
#define CAPS_TEXT_ROW(id, path, member) \
	{RDMAEZ_CAPS_##id, #path, #member, RDMAEZ_KIND_TEXT, RDMAEZ_MERGE_SAME, -1},

static const struct caps_expected caps_expected[] = {
	CAPS_ORIG(CAPS_ROW) CAPS_FULL(CAPS_PART_ROW) CAPS_OURS(CAPS_ROW) CAPS_TEXT(CAPS_TEXT_ROW)};

#define CAPS_EXPECTED (sizeof(caps_expected) / sizeof(caps_expected[0]))

/* What is written down about a field. */
static inline const struct rdmaez_caps_field *caps_field(unsigned int id)
{
	return &rdmaez_caps_fields(NULL).fields[id];
}

/* Stores a number in a member of any size; what does not fit is cut. */
static inline void caps_put(void *member, size_t size, uint64_t value)
{
	const uint8_t byte = (uint8_t)value;
	const uint16_t half = (uint16_t)value;
	const uint32_t word = (uint32_t)value;

	memcpy(member,
	       size == 1   ? (const void *)&byte
	       : size == 2 ? (const void *)&half
	       : size == 4 ? (const void *)&word
			   : (const void *)&value,
	       size);
}

/* phys_port_cnt_ex, which an old verbs.h has as padding. */
static inline void caps_put_ports(struct ibv_device_attr_ex *attr, uint32_t ports)
{
	memcpy((char *)&attr->xrc_odp_caps + sizeof(attr->xrc_odp_caps), &ports, sizeof(ports));
}

/* Another number for each field, in each of its bytes: n of them, from 1. Returns n. */
static inline unsigned int caps_distinct(struct ibv_device_attr_ex *attr)
{
	unsigned int n = 0;

	memset(attr, 0, sizeof(*attr));
#define CAPS_SET_ORIG(id, path, ...)                                  \
	caps_put(&attr->orig_attr.path, sizeof(attr->orig_attr.path), \
		 ++n *UINT64_C(0x0101010101010101));
#define CAPS_SET_FULL(id, path, ...) \
	caps_put(&attr->path, sizeof(attr->path), ++n *UINT64_C(0x0101010101010101));
	CAPS_ORIG(CAPS_SET_ORIG)
	CAPS_FULL(CAPS_SET_FULL)
#undef CAPS_SET_ORIG
#undef CAPS_SET_FULL
	caps_put_ports(attr, ++n * 0x01010101u);
	memcpy(attr->orig_attr.fw_ver, "12.34.5678", 11);
	return n;
}

#endif
