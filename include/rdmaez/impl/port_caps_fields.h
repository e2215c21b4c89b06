/* SPDX-License-Identifier: MIT */
/* All fields of struct rdmaez_port_caps, each written down once. */
#ifndef RDMAEZ_IMPL_PORT_CAPS_FIELDS_H
#define RDMAEZ_IMPL_PORT_CAPS_FIELDS_H

#include "caps_fields.h"

/*
 * Who tells a field of a port, beside those that tell one of a device. The kernel's answer grew by
 * these in this order, so whoever knows one knows all before it (struct ib_uverbs_query_port_resp_ex).
 */
enum rdmaez_impl_port_told {
	/* The flags, from Linux 4.19 on. */
	RDMAEZ_IMPL_TOLD_PORT_FLAGS = RDMAEZ_IMPL_TOLD_XRC_ODP + 1,
	RDMAEZ_IMPL_TOLD_PORT_FLAGS2, /* the second set, from 5.0 on */
	RDMAEZ_IMPL_TOLD_SPEED_EX     /* speeds beyond eight bits, from 6.7 and rdma-core 49 on */
};

/*
 * The fields, once, in the columns of caps_fields.h. The group is the heading that they are shown
 * under; the struct is flat.
 */

/* clang-format off */

#define RDMAEZ_IMPL_PORT_CAPS_FIELDS(P, X, D, T) \
	D(PORT_NUM, port, port_num, uint32_t, NUMBER, SAME, CONTEXT, port_num, \
	  "the port's number, the first being 1") \
	P(STATE, port, state, int, PORT_STATE, SAME, "its logical state, enum ibv_port_state") \
	P(PHYS_STATE, port, phys_state, uint8_t, PHYS_STATE, SAME, \
	  "its physical state, by the codes of IBTA") \
	P(LINK_LAYER, port, link_layer, uint8_t, LINK_LAYER, SAME, \
	  "what it is plugged into, IBV_LINK_LAYER_; 0 counts as InfiniBand") \
	X(FLAGS, port, flags, uint8_t, PORT_QPF, BITS, PORT_FLAGS, flags, \
	  "what it asks of those who use it, IBV_QPF_ bits") \
	D(NEEDS_GRH, port, needs_grh, bool, BOOL, SAME, DERIVED, needs_grh, \
	  "whether it sends and receives with a global route header only") \
	P(MAX_MTU, mtu, max_mtu, int, MTU, LEAST, "the greatest MTU, enum ibv_mtu") \
	D(MAX_MTU_BYTES, mtu, max_mtu_bytes, uint32_t, BYTES, LEAST, DERIVED, max_mtu_bytes, \
	  "the same in bytes") \
	P(ACTIVE_MTU, mtu, active_mtu, int, MTU, LEAST, "the MTU in use, enum ibv_mtu") \
	D(ACTIVE_MTU_BYTES, mtu, active_mtu_bytes, uint32_t, BYTES, LEAST, DERIVED, \
	  active_mtu_bytes, \
	  "the same in bytes") \
	P(MAX_MSG_SZ, mtu, max_msg_sz, uint32_t, BYTES, LEAST, "bytes of the longest message") \
	P(ACTIVE_WIDTH, rate, active_width, uint8_t, WIDTH, SAME, \
	  "the link's width, by the codes of IBTA") \
	D(LANES, rate, lanes, uint32_t, COUNT, LEAST, DERIVED, lanes, \
	  "the same as a number of lanes") \
	P(ACTIVE_SPEED, rate, active_speed, uint8_t, SPEED, SAME, \
	  "a lane's speed, by the codes of IBTA; NDR also stands for all that is faster") \
	D(ACTIVE_SPEED_EX, rate, active_speed_ex, uint32_t, SPEED, SAME, SPEED_EX, active_speed_ex, \
	  "the same, the faster ones as well; from rdma-core 49 and Linux 6.7 on") \
	D(RATE_KBPS, rate, rate_kbps, uint64_t, KBPS, LEAST, DERIVED, rate_kbps, \
	  "lanes times speed, in kbit/s; unknown where NDR may stand for more") \
	D(EFFECTIVE_RATE_KBPS, rate, effective_rate_kbps, uint64_t, KBPS, LEAST, CONTEXT, \
	  effective_rate_kbps, \
	  "what ibv_query_port_speed() says, in kbit/s: all links of a bond together") \
	P(LID, subnet, lid, uint16_t, NUMBER, SAME, "its LID; 0 where there are none, as on Ethernet") \
	P(LMC, subnet, lmc, uint8_t, NUMBER, SAME, "how many low bits of the LID it ignores") \
	P(SM_LID, subnet, sm_lid, uint16_t, NUMBER, SAME, "the subnet manager's LID") \
	P(SM_SL, subnet, sm_sl, uint8_t, NUMBER, SAME, "the service level towards it") \
	P(SUBNET_TIMEOUT, subnet, subnet_timeout, uint8_t, TIMER, MOST, \
	  "how long a packet may take through the subnet, as an exponent") \
	D(SUBNET_TIMEOUT_NS, subnet, subnet_timeout_ns, uint64_t, NS, MOST, DERIVED, \
	  subnet_timeout_ns, \
	  "the same in ns; 0 beyond 31") \
	P(INIT_TYPE_REPLY, subnet, init_type_reply, uint8_t, NUMBER, SAME, \
	  "how the subnet manager has initialised it") \
	P(MAX_VL_NUM, subnet, max_vl_num, uint8_t, VL, LEAST, \
	  "the virtual lanes for data, by the codes of IBTA") \
	P(GID_TBL_LEN, tables, gid_tbl_len, int, COUNT, LEAST, "rows of the GID table") \
	P(PKEY_TBL_LEN, tables, pkey_tbl_len, uint16_t, COUNT, LEAST, "rows of the P_Key table") \
	P(BAD_PKEY_CNTR, counters, bad_pkey_cntr, uint32_t, NUMBER, SAME, \
	  "packets with a P_Key that it does not have") \
	P(QKEY_VIOL_CNTR, counters, qkey_viol_cntr, uint32_t, NUMBER, SAME, \
	  "packets with a wrong Q_Key") \
	P(PORT_CAP_FLAGS, features, port_cap_flags, uint32_t, PORT_FLAGS, BITS, \
	  "capability bits, enum ibv_port_cap_flags") \
	X(PORT_CAP_FLAGS2, features, port_cap_flags2, uint16_t, PORT_FLAGS2, BITS, PORT_FLAGS2, \
	  port_cap_flags2, \
	  "more of them, enum ibv_port_cap_flags2")

/* clang-format on */

#define RDMAEZ_IMPL_PORT_CAPS_ENUM(id, ...) RDMAEZ_PORT_CAPS_##id,

#endif
