/* SPDX-License-Identifier: MIT */
/**
 * @file port_caps.h
 * @brief What a port reports: `ibv_port_attr` decoded, with "yes", "no" and "unknown" told apart.
 *
 * It does for a port what caps.h does for a device. It has every field of `ibv_port_attr` under its verbs name, with
 * decoded values beside it: bytes for an MTU, lanes for a width, kbit/s for width and speed together, ns for an
 * exponent. rdmaez_port_caps_fields() presents it as a table, so the functions of caps_table.h work on ports too.
 * port.h lists a port's GIDs and P_Keys.
 *
 * Functions that write text work like snprintf(), as in caps_table.h.
 *
 * `<rdmaez.h>` does not include this header.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * Only rdmaez_port_caps_query() makes any; all others are pure.
 * @par Sources
 * verbs.h of rdma-core 33 to 65; ibv_query_port(); IBTA volume 1 (PortInfo) for codes of widths and speeds.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_PORT_CAPS_H
#define RDMAEZ_PORT_CAPS_H

#ifndef RDMAEZ_PORT_H
#include "port.h"
#endif
#ifndef RDMAEZ_CAPS_TABLE_H
#include "caps_table.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The fields of struct rdmaez_port_caps, in display order. */
enum rdmaez_port_caps_id {
	RDMAEZ_PORT_CAPS_PORT,                /**< port */
	RDMAEZ_PORT_CAPS_STATE,               /**< state */
	RDMAEZ_PORT_CAPS_PHYS_STATE,          /**< phys_state */
	RDMAEZ_PORT_CAPS_LINK_LAYER,          /**< link_layer */
	RDMAEZ_PORT_CAPS_FLAGS,               /**< flags */
	RDMAEZ_PORT_CAPS_NEEDS_GRH,           /**< needs_grh */
	RDMAEZ_PORT_CAPS_MAX_MTU,             /**< max_mtu */
	RDMAEZ_PORT_CAPS_MAX_MTU_BYTES,       /**< max_mtu_bytes */
	RDMAEZ_PORT_CAPS_ACTIVE_MTU,          /**< active_mtu */
	RDMAEZ_PORT_CAPS_ACTIVE_MTU_BYTES,    /**< active_mtu_bytes */
	RDMAEZ_PORT_CAPS_MAX_MSG_SZ,          /**< max_msg_sz */
	RDMAEZ_PORT_CAPS_ACTIVE_WIDTH,        /**< active_width */
	RDMAEZ_PORT_CAPS_LANES,               /**< lanes */
	RDMAEZ_PORT_CAPS_ACTIVE_SPEED,        /**< active_speed */
	RDMAEZ_PORT_CAPS_ACTIVE_SPEED_EX,     /**< active_speed_ex */
	RDMAEZ_PORT_CAPS_RATE_KBPS,           /**< rate_kbps */
	RDMAEZ_PORT_CAPS_EFFECTIVE_RATE_KBPS, /**< effective_rate_kbps */
	RDMAEZ_PORT_CAPS_LID,                 /**< lid */
	RDMAEZ_PORT_CAPS_LMC,                 /**< lmc */
	RDMAEZ_PORT_CAPS_SM_LID,              /**< sm_lid */
	RDMAEZ_PORT_CAPS_SM_SL,               /**< sm_sl */
	RDMAEZ_PORT_CAPS_SUBNET_TIMEOUT,      /**< subnet_timeout */
	RDMAEZ_PORT_CAPS_SUBNET_TIMEOUT_NS,   /**< subnet_timeout_ns */
	RDMAEZ_PORT_CAPS_INIT_TYPE_REPLY,     /**< init_type_reply */
	RDMAEZ_PORT_CAPS_MAX_VL_NUM,          /**< max_vl_num */
	RDMAEZ_PORT_CAPS_GID_TBL_LEN,         /**< gid_tbl_len */
	RDMAEZ_PORT_CAPS_PKEY_TBL_LEN,        /**< pkey_tbl_len */
	RDMAEZ_PORT_CAPS_BAD_PKEY_CNTR,       /**< bad_pkey_cntr */
	RDMAEZ_PORT_CAPS_QKEY_VIOL_CNTR,      /**< qkey_viol_cntr */
	RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS,      /**< port_cap_flags */
	RDMAEZ_PORT_CAPS_PORT_CAP_FLAGS2,     /**< port_cap_flags2 */
	RDMAEZ_PORT_CAPS_ID_COUNT             /**< how many there are */
};

/** @brief What a port reports. See the head of this file. */
struct rdmaez_port_caps {
	uint32_t port;      /**< the port's number, the first being 1 */
	int state;          /**< its logical state, enum ibv_port_state */
	uint8_t phys_state; /**< its physical state, by the codes of IBTA */
	uint8_t link_layer; /**< what it is plugged into, IBV_LINK_LAYER_; 0 counts as InfiniBand */
	uint8_t flags;      /**< what it demands of its users, IBV_QPF_ bits */
	bool needs_grh;     /**< whether it sends and receives only with a global route header */
	int max_mtu;        /**< the greatest MTU, enum ibv_mtu */
	uint32_t max_mtu_bytes;    /**< the same in bytes */
	int active_mtu;            /**< the MTU in use, enum ibv_mtu */
	uint32_t active_mtu_bytes; /**< the same in bytes */
	uint32_t max_msg_sz;       /**< bytes of the longest message */
	uint8_t active_width;      /**< the link's width, by the codes of IBTA */
	uint32_t lanes;            /**< the same as a number of lanes */
	/** a lane's speed, by the codes of IBTA; NDR also stands for anything faster */
	uint8_t active_speed;
	/** the same with the faster ones; from rdma-core 49 and Linux 6.7 on */
	uint32_t active_speed_ex;
	/** lanes times speed, in kbit/s; unknown where NDR may stand for more */
	uint64_t rate_kbps;
	/** what ibv_query_port_speed() reports, in kbit/s: all links of a bond; UINT64_MAX: more */
	uint64_t effective_rate_kbps;
	uint16_t lid;    /**< its LID; 0 where there is none, as on Ethernet */
	uint8_t lmc;     /**< how many low bits of the LID it ignores */
	uint16_t sm_lid; /**< the subnet manager's LID */
	uint8_t sm_sl;   /**< the service level towards it */
	/** how long a packet may take through the subnet, as an exponent */
	uint8_t subnet_timeout;
	uint64_t subnet_timeout_ns; /**< the same in ns; 0 beyond 31 */
	uint8_t init_type_reply;    /**< how the subnet manager initialised it */
	uint8_t max_vl_num;         /**< the virtual lanes for data, by the codes of IBTA */
	int gid_tbl_len;            /**< entries of the GID table */
	uint16_t pkey_tbl_len;      /**< entries of the P_Key table */
	uint32_t bad_pkey_cntr;     /**< packets with a P_Key that is not in its table */
	uint32_t qkey_viol_cntr;    /**< packets with a wrong Q_Key */
	uint32_t port_cap_flags;    /**< capability bits, enum ibv_port_cap_flags */
	uint16_t port_cap_flags2;   /**< more of them, enum ibv_port_cap_flags2 */
	uint8_t source[RDMAEZ_PORT_CAPS_ID_COUNT]; /**< of each, its enum rdmaez_caps_source */
};

/** @brief Table entries to write with a port's attributes. All zero: none. */
struct rdmaez_port_tables {
	const struct ibv_gid_entry *gids;      /**< as rdmaez_port_gids() lists them. NULL: none */
	const struct rdmaez_pkey_entry *pkeys; /**< as rdmaez_port_pkeys() lists them. NULL: none */
	size_t gid_count;                      /**< entries in @p gids */
	size_t pkey_count;                     /**< entries in @p pkeys */
};

/**
 * @brief Queries everything a port reports.
 *
 * It checks the port number as rdmaez_port_query() does. It calls ibv_query_port(), uname() and, if you compile with
 * rdma-core 64 or newer, ibv_query_port_speed(). If that fails, the effective rate is unknown.
 *
 * @param context the open device
 * @param port 1 to the device's number of ports
 * @param caps receives the attributes; written on success only
 * @param diag receives the explanation; may be NULL
 * @retval 0 @p caps is filled
 * @retval EINVAL no such port (#RDMAEZ_WHY_PORT), or a NULL argument (#RDMAEZ_WHY_NULL_ARGUMENT)
 * @return any other errno of ibv_query_port() (#RDMAEZ_WHY_QUERY_REFUSED)
 */
RDMAEZ_COLD int rdmaez_port_caps_query(struct ibv_context *context, int port,
				       struct rdmaez_port_caps *caps, struct rdmaez_diag *diag);

/**
 * @brief Decodes a struct that ibv_query_port() has filled.
 *
 * Only an open device can report the port's number and its effective rate, so these are unknown here. Zeros are unknown
 * too if the kernel may have been too old to fill them. rdmaez_port_caps_query() knows more.
 *
 * @param attr filled by ibv_query_port(), not NULL
 * @param caps receives all fields; not NULL
 */
RDMAEZ_COLD void rdmaez_port_caps_decode(const struct ibv_port_attr *attr,
					 struct rdmaez_port_caps *caps);

/**
 * @brief Returns a port as a table, for the functions of caps_table.h.
 * @param caps the port; the table points into it. NULL: the table describes the fields and has no values
 * @return the table, with a row for each enum rdmaez_port_caps_id
 */
RDMAEZ_COLD struct rdmaez_caps_table rdmaez_port_caps_fields(const struct rdmaez_port_caps *caps);

/**
 * @brief Writes everything a port reports, for people.
 *
 * As rdmaez_caps_format() does for a device, it writes one line per field, under headings. The table entries follow,
 * one per line: a GID with its type and network interface, a P_Key with its membership.
 *
 * @param caps what was decoded or queried; NULL counts as empty
 * @param tables the entries to write; NULL: none
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 8192, and 128 for each entry, is enough for any port
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_port_caps_format(const struct rdmaez_port_caps *caps,
					const struct rdmaez_port_tables *tables, char *buf,
					size_t size);

/**
 * @brief Writes everything a port reports as one JSON object, for programs.
 *
 * As in rdmaez_caps_json() for a device, keys and values are those of `ibv_port_attr`, with `_names` for a set and
 * `_name` for an enum, null for what is unknown, and `sources`. rdmaez adds `port`, `needs_grh`, `max_mtu_bytes`,
 * `active_mtu_bytes`, `lanes`, `rate_kbps`, `effective_rate_kbps` and `subnet_timeout_ns`.
 *
 * If @p tables has them, `gids` is an array of objects with the keys of `ibv_gid_entry`, plus `gid_type_name` and
 * `ndev_name`. `gid` is written as an IPv6 address, and `ndev_name` is null if there is no such interface. `pkeys` is
 * an array of objects with `pkey_index`, `pkey` and `full`, which is true for full membership. The JSON is valid
 * whatever the struct holds.
 *
 * @param caps what was decoded or queried; NULL gives `{}`
 * @param tables the entries to write; NULL: none
 * @param buf receives the text; may be NULL where @p size is 0
 * @param size bytes in @p buf; 8192, and 192 for each entry, is enough for any port
 * @return the length of the whole text
 */
RDMAEZ_COLD int rdmaez_port_caps_json(const struct rdmaez_port_caps *caps,
				      const struct rdmaez_port_tables *tables, char *buf,
				      size_t size);

/**
 * @brief Returns the number of lanes of a link of this width.
 * @param active_width `ibv_port_attr.active_width`; any value
 * @return 1, 2, 4, 8 or 12; 0 if @p active_width is not an IBTA code (volume 1, LinkWidthActive)
 */
RDMAEZ_COLD unsigned int rdmaez_width_lanes(unsigned int active_width);

/**
 * @brief Returns the speed of one lane.
 *
 * This is the nominal speed: 2.5, 5, 10 (QDR and FDR10), 14.0625, 25, 50, 100 and 200 Gbit/s.
 *
 * @param active_speed `ibv_port_attr.active_speed` or `active_speed_ex`; any value
 * @return kbit/s, 1000 bits each; 0 if @p active_speed is not an IBTA code (volume 1, LinkSpeedActive and
 *         LinkSpeedExtActive)
 */
RDMAEZ_COLD uint64_t rdmaez_speed_kbps(uint32_t active_speed);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/port_caps.h"
#endif

#endif
