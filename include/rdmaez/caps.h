/* SPDX-License-Identifier: MIT */
/**
 * @file caps.h
 * @brief What a device can do: `ibv_device_attr_ex` decoded, with "yes", "no" and "unknown" told apart.
 *
 * struct rdmaez_caps groups the fields of `ibv_device_attr_ex` under their verbs names and adds decoded
 * values: ns for an exponent, Hz for kHz, bools for common bits. rdmaez_caps_query() fills it.
 *
 * A zero is ambiguous. Either the device lacks the feature, or the kernel, the library or the provider is too old to
 * report it. `source` records where each value comes from. rdmaez_caps_answer() reduces that to yes, no or unknown.
 *
 * rdmaez_caps_fields() presents the struct as a table. The functions of caps_table.h use it to find out whether a
 * device has a capability, whether it meets your program's needs, and how two devices differ.
 *
 * Functions that write text work like snprintf(), as in caps_table.h.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * Only rdmaez_caps_query() makes any; all others are pure.
 * @par Sources
 * verbs.h of rdma-core 33 to 65; ibv_query_device_ex(); what drivers fill in, Linux 6.1 to 7.2.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_CAPS_H
#define RDMAEZ_CAPS_H

#ifndef RDMAEZ_CAPS_TABLE_H
#include "caps_table.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The fields of struct rdmaez_caps, in display order. */
enum rdmaez_caps_id {
	RDMAEZ_CAPS_NAME,                           /**< device.name */
	RDMAEZ_CAPS_DEV_NAME,                       /**< device.dev_name */
	RDMAEZ_CAPS_NODE_TYPE,                      /**< device.node_type */
	RDMAEZ_CAPS_TRANSPORT_TYPE,                 /**< device.transport_type */
	RDMAEZ_CAPS_NUM_COMP_VECTORS,               /**< device.num_comp_vectors */
	RDMAEZ_CAPS_FW_VER,                         /**< device.fw_ver */
	RDMAEZ_CAPS_NODE_GUID,                      /**< device.node_guid */
	RDMAEZ_CAPS_SYS_IMAGE_GUID,                 /**< device.sys_image_guid */
	RDMAEZ_CAPS_VENDOR_ID,                      /**< device.vendor_id */
	RDMAEZ_CAPS_VENDOR_PART_ID,                 /**< device.vendor_part_id */
	RDMAEZ_CAPS_HW_VER,                         /**< device.hw_ver */
	RDMAEZ_CAPS_PHYS_PORT_CNT,                  /**< device.phys_port_cnt */
	RDMAEZ_CAPS_PHYS_PORT_CNT_EX,               /**< device.phys_port_cnt_ex */
	RDMAEZ_CAPS_PORT_COUNT,                     /**< device.port_count */
	RDMAEZ_CAPS_DEVICE_CAP_FLAGS,               /**< features.device_cap_flags */
	RDMAEZ_CAPS_DEVICE_CAP_FLAGS_EX,            /**< features.device_cap_flags_ex */
	RDMAEZ_CAPS_FLAGS,                          /**< features.flags */
	RDMAEZ_CAPS_MAX_QP,                         /**< limits.max_qp */
	RDMAEZ_CAPS_MAX_QP_WR,                      /**< limits.max_qp_wr */
	RDMAEZ_CAPS_MAX_SGE,                        /**< limits.max_sge */
	RDMAEZ_CAPS_MAX_SGE_RD,                     /**< limits.max_sge_rd */
	RDMAEZ_CAPS_MAX_CQ,                         /**< limits.max_cq */
	RDMAEZ_CAPS_MAX_CQE,                        /**< limits.max_cqe */
	RDMAEZ_CAPS_MAX_PD,                         /**< limits.max_pd */
	RDMAEZ_CAPS_MAX_AH,                         /**< limits.max_ah */
	RDMAEZ_CAPS_MAX_PKEYS,                      /**< limits.max_pkeys */
	RDMAEZ_CAPS_MAX_MR,                         /**< limits.max_mr */
	RDMAEZ_CAPS_MAX_MR_SIZE,                    /**< limits.max_mr_size */
	RDMAEZ_CAPS_PAGE_SIZE_CAP,                  /**< limits.page_size_cap */
	RDMAEZ_CAPS_LOCAL_CA_ACK_DELAY,             /**< limits.local_ca_ack_delay */
	RDMAEZ_CAPS_LOCAL_CA_ACK_DELAY_NS,          /**< limits.local_ca_ack_delay_ns */
	RDMAEZ_CAPS_MAX_QP_RD_ATOM,                 /**< depths.max_qp_rd_atom */
	RDMAEZ_CAPS_MAX_QP_INIT_RD_ATOM,            /**< depths.max_qp_init_rd_atom */
	RDMAEZ_CAPS_MAX_RES_RD_ATOM,                /**< depths.max_res_rd_atom */
	RDMAEZ_CAPS_ATOMIC_CAP,                     /**< atomics.atomic_cap */
	RDMAEZ_CAPS_PCI_FETCH_ADD,                  /**< atomics.fetch_add */
	RDMAEZ_CAPS_PCI_SWAP,                       /**< atomics.swap */
	RDMAEZ_CAPS_PCI_COMPARE_SWAP,               /**< atomics.compare_swap */
	RDMAEZ_CAPS_ODP_GENERAL_CAPS,               /**< odp.general_caps */
	RDMAEZ_CAPS_ODP_SUPPORTED,                  /**< odp.supported */
	RDMAEZ_CAPS_ODP_IMPLICIT,                   /**< odp.implicit */
	RDMAEZ_CAPS_RC_ODP_CAPS,                    /**< odp.rc */
	RDMAEZ_CAPS_UC_ODP_CAPS,                    /**< odp.uc */
	RDMAEZ_CAPS_UD_ODP_CAPS,                    /**< odp.ud */
	RDMAEZ_CAPS_XRC_ODP_CAPS,                   /**< odp.xrc */
	RDMAEZ_CAPS_MAX_DM_SIZE,                    /**< device_memory.max_dm_size */
	RDMAEZ_CAPS_COMPLETION_TIMESTAMP_MASK,      /**< timestamps.completion_timestamp_mask */
	RDMAEZ_CAPS_HCA_CORE_CLOCK,                 /**< timestamps.hca_core_clock */
	RDMAEZ_CAPS_HCA_CORE_CLOCK_HZ,              /**< timestamps.hca_core_clock_hz */
	RDMAEZ_CAPS_MAX_TSO,                        /**< tso.max_tso */
	RDMAEZ_CAPS_TSO_SUPPORTED_QPTS,             /**< tso.supported_qpts */
	RDMAEZ_CAPS_RSS_SUPPORTED_QPTS,             /**< rss.supported_qpts */
	RDMAEZ_CAPS_MAX_RWQ_INDIRECTION_TABLES,     /**< rss.max_rwq_indirection_tables */
	RDMAEZ_CAPS_MAX_RWQ_INDIRECTION_TABLE_SIZE, /**< rss.max_rwq_indirection_table_size */
	RDMAEZ_CAPS_RX_HASH_FIELDS_MASK,            /**< rss.rx_hash_fields_mask */
	RDMAEZ_CAPS_RX_HASH_FUNCTION,               /**< rss.rx_hash_function */
	RDMAEZ_CAPS_MAX_WQ_TYPE_RQ,                 /**< rss.max_wq_type_rq */
	RDMAEZ_CAPS_RAW_PACKET_CAPS,                /**< raw_packet.raw_packet_caps */
	RDMAEZ_CAPS_QP_RATE_LIMIT_MIN,              /**< packet_pacing.qp_rate_limit_min */
	RDMAEZ_CAPS_QP_RATE_LIMIT_MAX,              /**< packet_pacing.qp_rate_limit_max */
	RDMAEZ_CAPS_PACING_SUPPORTED_QPTS,          /**< packet_pacing.supported_qpts */
	RDMAEZ_CAPS_TM_MAX_RNDV_HDR_SIZE,           /**< tag_matching.max_rndv_hdr_size */
	RDMAEZ_CAPS_TM_MAX_NUM_TAGS,                /**< tag_matching.max_num_tags */
	RDMAEZ_CAPS_TM_FLAGS,                       /**< tag_matching.flags */
	RDMAEZ_CAPS_TM_MAX_OPS,                     /**< tag_matching.max_ops */
	RDMAEZ_CAPS_TM_MAX_SGE,                     /**< tag_matching.max_sge */
	RDMAEZ_CAPS_MAX_CQ_COUNT,                   /**< cq_moderation.max_cq_count */
	RDMAEZ_CAPS_MAX_CQ_PERIOD,                  /**< cq_moderation.max_cq_period */
	RDMAEZ_CAPS_MAX_MW,                         /**< memory_windows.max_mw */
	RDMAEZ_CAPS_MW_TYPE_1,                      /**< memory_windows.type_1 */
	RDMAEZ_CAPS_MW_TYPE_2A,                     /**< memory_windows.type_2a */
	RDMAEZ_CAPS_MW_TYPE_2B,                     /**< memory_windows.type_2b */
	RDMAEZ_CAPS_MAX_SRQ,                        /**< srq.max_srq */
	RDMAEZ_CAPS_MAX_SRQ_WR,                     /**< srq.max_srq_wr */
	RDMAEZ_CAPS_MAX_SRQ_SGE,                    /**< srq.max_srq_sge */
	RDMAEZ_CAPS_MAX_MCAST_GRP,                  /**< multicast.max_mcast_grp */
	RDMAEZ_CAPS_MAX_MCAST_QP_ATTACH,            /**< multicast.max_mcast_qp_attach */
	RDMAEZ_CAPS_MAX_TOTAL_MCAST_QP_ATTACH,      /**< multicast.max_total_mcast_qp_attach */
	RDMAEZ_CAPS_MAX_RAW_IPV6_QP,                /**< defunct.max_raw_ipv6_qp */
	RDMAEZ_CAPS_MAX_RAW_ETHY_QP,                /**< defunct.max_raw_ethy_qp */
	RDMAEZ_CAPS_MAX_EE,                         /**< defunct.max_ee */
	RDMAEZ_CAPS_MAX_EE_RD_ATOM,                 /**< defunct.max_ee_rd_atom */
	RDMAEZ_CAPS_MAX_EE_INIT_RD_ATOM,            /**< defunct.max_ee_init_rd_atom */
	RDMAEZ_CAPS_MAX_RDD,                        /**< defunct.max_rdd */
	RDMAEZ_CAPS_MAX_FMR,                        /**< defunct.max_fmr */
	RDMAEZ_CAPS_MAX_MAP_PER_FMR,                /**< defunct.max_map_per_fmr */
	RDMAEZ_CAPS_COMP_MASK,                      /**< defunct.comp_mask */
	RDMAEZ_CAPS_ID_COUNT                        /**< how many there are */
};

/** @brief What a device can do. See the head of this file. */
struct rdmaez_caps {
	/** which device it is */
	struct {
		char name[IBV_SYSFS_NAME_MAX];     /**< the device's name */
		char dev_name[IBV_SYSFS_NAME_MAX]; /**< its file below /dev/infiniband */
		int node_type; /**< its role in the fabric, enum ibv_node_type */
		/** its transport, enum ibv_transport_type; RoCE counts as InfiniBand */
		int transport_type;
		int num_comp_vectors; /**< completion vectors, for ibv_create_cq() */
		char fw_ver[64];      /**< firmware version */
		uint64_t node_guid;   /**< the device's GUID, big endian */
		/** the GUID that all devices of one adapter share, big endian */
		uint64_t sys_image_guid;
		uint32_t vendor_id;        /**< the vendor, usually by its IEEE or PCI number */
		uint32_t vendor_part_id;   /**< the vendor's number of the model */
		uint32_t hw_ver;           /**< hardware revision */
		uint8_t phys_port_cnt;     /**< ports, at most 255 */
		uint32_t phys_port_cnt_ex; /**< ports without that limit; from rdma-core 35 on */
		/** ports: phys_port_cnt_ex where it is reported, else phys_port_cnt */
		uint32_t port_count;
	} device;
	/** the capability bits */
	struct {
		uint32_t device_cap_flags;    /**< capability bits 0 to 31 */
		uint64_t device_cap_flags_ex; /**< capability bits 0 to 63 */
		uint64_t flags;               /**< all capability bits that either field has */
	} features;
	/** how many of each object, and how large */
	struct {
		int max_qp;           /**< queue pairs */
		int max_qp_wr;        /**< work requests outstanding in one queue */
		int max_sge;          /**< scatter/gather elements of a work request */
		int max_sge_rd;       /**< scatter/gather elements of an RDMA READ */
		int max_cq;           /**< completion queues */
		int max_cqe;          /**< entries of one completion queue */
		int max_pd;           /**< protection domains */
		int max_ah;           /**< address handles */
		uint16_t max_pkeys;   /**< entries of a port's P_Key table */
		int max_mr;           /**< memory regions */
		uint64_t max_mr_size; /**< bytes of one memory region; all bits set: no limit */
		/** page sizes: bit n stands for 2 to the power of n bytes */
		uint64_t page_size_cap;
		/** how long the device may take to answer, as an exponent */
		uint8_t local_ca_ack_delay;
		uint64_t local_ca_ack_delay_ns; /**< the same in ns; unknown beyond 31 */
	} limits;
	/** RDMA READs and atomics in flight */
	struct {
		/** READs and atomics a queue pair serves at once: limits max_dest_rd_atomic */
		int max_qp_rd_atom;
		/** READs and atomics a queue pair may have outstanding: limits max_rd_atomic */
		int max_qp_init_rd_atom;
		int max_res_rd_atom; /**< READs and atomics the device serves at once */
	} depths;
	/** atomic operations, in the fabric and across PCI */
	struct {
		/** atomic among this device's queue pairs (HCA), or also against the CPU (GLOB) */
		int atomic_cap;
		uint16_t fetch_add;    /**< sizes of fetch-and-add that cross PCI as atomics */
		uint16_t swap;         /**< sizes of swap that cross PCI as atomics */
		uint16_t compare_swap; /**< sizes of compare-and-swap that cross PCI as atomics */
	} atomics;
	/** on-demand paging */
	struct {
		uint64_t general_caps; /**< on-demand paging in general */
		bool supported;        /**< whether there is on-demand paging at all */
		bool implicit; /**< whether one memory region may span the whole address space */
		uint32_t rc;   /**< operations on paged memory, RC */
		uint32_t uc;   /**< operations on paged memory, UC */
		uint32_t ud;   /**< operations on paged memory, UD */
		uint32_t xrc;  /**< operations on paged memory, XRC */
	} odp;
	/** memory on the device, ibv_alloc_dm() */
	struct {
		uint64_t max_dm_size; /**< bytes of the largest device memory; less may be free */
	} device_memory;
	/** hardware timestamps */
	struct {
		uint64_t completion_timestamp_mask; /**< valid bits of a completion's timestamp */
		uint64_t hca_core_clock;            /**< the clock they count, in kHz */
		uint64_t hca_core_clock_hz;         /**< the same in Hz */
	} timestamps;
	/** TCP segmentation offload */
	struct {
		/** bytes of the longest message the device cuts into TCP segments */
		uint32_t max_tso;
		uint32_t supported_qpts; /**< queue pair types that can do so */
	} tso;
	/** receive side scaling */
	struct {
		/** queue pair types that distribute incoming packets by a hash */
		uint32_t supported_qpts;
		uint32_t max_rwq_indirection_tables;     /**< indirection tables */
		uint32_t max_rwq_indirection_table_size; /**< entries of one indirection table */
		uint64_t rx_hash_fields_mask;            /**< header fields that can be hashed */
		uint8_t rx_hash_function;                /**< hash functions */
		uint32_t max_wq_type_rq; /**< receive work queues, ibv_create_wq() */
	} rss;
	/** offloads of raw packet queue pairs */
	struct {
		uint32_t raw_packet_caps; /**< what the device does to raw packets */
	} raw_packet;
	/** rate limits of a queue pair */
	struct {
		uint32_t qp_rate_limit_min; /**< the lowest rate limit of a queue pair, in kbit/s */
		uint32_t qp_rate_limit_max; /**< the highest, in kbit/s */
		uint32_t supported_qpts;    /**< queue pair types that accept one */
	} packet_pacing;
	/** tag matching in shared receive queues */
	struct {
		uint32_t max_rndv_hdr_size; /**< bytes of a rendezvous request's header */
		uint32_t max_num_tags;      /**< tagged buffers in one list */
		uint32_t flags;             /**< transports that match tags */
		uint32_t max_ops;           /**< operations outstanding on one list */
		uint32_t max_sge;           /**< scatter/gather elements of a tagged buffer */
	} tag_matching;
	/** fewer events for many completions */
	struct {
		uint16_t max_cq_count;  /**< completions gathered into one event, at most */
		uint16_t max_cq_period; /**< how long an event may be held back, in us */
	} cq_moderation;
	/** memory windows */
	struct {
		int max_mw;   /**< memory windows */
		bool type_1;  /**< whether there are windows of type 1, bound by ibv_bind_mw() */
		bool type_2a; /**< whether there are windows of type 2A, tied to a queue pair */
		/** whether there are windows of type 2B, tied to a queue pair and its domain */
		bool type_2b;
	} memory_windows;
	/** shared receive queues */
	struct {
		int max_srq;     /**< shared receive queues */
		int max_srq_wr;  /**< work requests outstanding in one */
		int max_srq_sge; /**< scatter/gather elements of one of them */
	} srq;
	/** multicast */
	struct {
		int max_mcast_grp;             /**< multicast groups */
		int max_mcast_qp_attach;       /**< queue pairs in one group */
		int max_total_mcast_qp_attach; /**< queue pairs in all groups together */
	} multicast;
	/** what verbs still have and no device of today uses: always zero, or without a meaning */
	struct {
		int max_raw_ipv6_qp; /**< raw IPv6 queue pairs, which verbs do not have */
		int max_raw_ethy_qp; /**< raw Ethertype queue pairs, which verbs do not have */
		/** end-to-end contexts of the RD transport, which no device implements */
		int max_ee;
		int max_ee_rd_atom;      /**< READs and atomics served by one of them */
		int max_ee_init_rd_atom; /**< READs and atomics outstanding at one of them */
		int max_rdd;             /**< RD domains */
		int max_fmr;             /**< fast memory regions, which Linux 5.8 removed */
		int max_map_per_fmr;     /**< how often one of them could be mapped */
		uint32_t comp_mask; /**< nothing: neither the library nor a provider writes it */
	} defunct;
	uint8_t source[RDMAEZ_CAPS_ID_COUNT]; /**< of each field, its enum rdmaez_caps_source */
};

/**
 * @brief Queries everything a device reports about itself.
 *
 * It calls ibv_query_device_ex() and uname(). If the extended query is not supported, it falls back to
 * ibv_query_device(), and the fields that only the extended query reports are unknown. The number of ports is right
 * even if phys_port_cnt_ex is not reported. The READ depths are right even on drivers that report them swapped.
 *
 * @param context the open device
 * @param caps receives the capabilities; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p caps is filled
 * @retval EINVAL an argument is NULL (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of the verbs (#RDMAEZ_WHY_QUERY_REFUSED), such as EIO if the device is gone
 */
RDMAEZ_COLD int rdmaez_caps_query(struct ibv_context *context, struct rdmaez_caps *caps,
				  struct rdmaez_diag *diag);

/**
 * @brief Decodes a struct that ibv_query_device_ex() has filled.
 *
 * Nothing is corrected. Only an open device can report its name, its type and its completion vectors, so these are
 * unknown here. Zeros are unknown too if the kernel may have been too old to fill them. rdmaez_caps_query() knows more,
 * because it also looks at the kernel's version.
 *
 * @param attr filled by ibv_query_device_ex(), not NULL
 * @param caps receives all fields; not NULL
 */
RDMAEZ_COLD void rdmaez_caps_decode(const struct ibv_device_attr_ex *attr,
				    struct rdmaez_caps *caps);

/**
 * @brief Returns a device as a table: `rdmaez_caps_answer(rdmaez_caps_fields(&caps), RDMAEZ_CAPS_MAX_DM_SIZE)`.
 * @param caps the device; the table points into it. NULL: the table describes the fields and has no values
 * @return the table, with a row for each enum rdmaez_caps_id
 */
RDMAEZ_COLD struct rdmaez_caps_table rdmaez_caps_fields(const struct rdmaez_caps *caps);

/**
 * @brief Finds what several devices have in common: what a program may rely on wherever it runs.
 *
 * The result has the lowest value of each limit and, in each set, only the bits that all devices have. A field that is
 * unknown for one device is unknown in the result. If a name differs, its source is #RDMAEZ_SOURCE_DIFFERS.
 *
 * @param list the devices
 * @param count how many, at least 1
 * @param common receives what they have in common; may be one of them; written on success only
 * @param diag receives why it was refused; may be NULL
 * @retval 0 @p common is filled
 * @retval EINVAL a pointer is NULL or @p count is 0
 */
RDMAEZ_COLD int rdmaez_caps_common(const struct rdmaez_caps *list, size_t count,
				   struct rdmaez_caps *common, struct rdmaez_diag *diag);

/**
 * @brief Writes everything a device reports about itself, for people.
 *
 * The text has a paragraph for each group and a line for each field: its verbs name, then its value with its unit, or
 * why it is unknown. The bits of a set are named (`bit_37` for one without a name). Lines have at most 100 columns.
 *
 * @param caps what was decoded or queried; NULL counts as empty
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 24576 is enough for any device
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_caps_format(const struct rdmaez_caps *caps, char *buf, size_t size);

/**
 * @brief Writes everything a device reports about itself as one JSON object, for programs.
 *
 * Keys, nesting and values are those of `ibv_device_attr_ex`: `max_qp`, `tso_caps.max_tso`,
 * `device_cap_flags`. The members of `orig_attr` are at the top level. A set also has the names of its bits
 * (`device_cap_flags_names`), an enum the name of its value (`atomic_cap_name`), and `page_size_cap` the
 * sizes (`page_size_cap_bytes`). rdmaez adds `port_count`, `flags`, `local_ca_ack_delay_ns`,
 * `hca_core_clock_hz`, `odp_caps.supported`, `odp_caps.implicit`, `memory_window_type_1`, `_2a`, `_2b`, and
 * what comes from the open device.
 *
 * Unknown values are null. For these and for corrected ones, `sources` has the enum rdmaez_caps_source
 * without its prefix. Integers have up to 64 bits. The schema is `caps.schema.json` in the documentation.
 * The JSON is valid whatever the struct holds.
 *
 * @param caps what was decoded or queried; NULL gives `{}`
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 24576 is enough for any device
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_caps_json(const struct rdmaez_caps *caps, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/caps.h"
#endif

#endif
