/* SPDX-License-Identifier: MIT */
/*
 * This list has the fields of struct rdmaez_port_caps in the order of enum rdmaez_port_caps_id, as caps_rows.h has
 * those of a device. The struct is flat. The group is a heading, and every name is that of the member:
 *
 * RDMAEZ_P(id, group, member, type, kind, merge, what): copied, always reported
 * RDMAEZ_X(id, group, member, type, kind, merge, told, what): copied
 * RDMAEZ_A(id, group, member, type, kind, merge, told, place, what): from a place that not every verbs.h names
 * RDMAEZ_O(id, group, member, type, kind, merge, told, what): not copied
 */
/* clang-format off */
RDMAEZ_O(PORT, port, port, uint32_t, NUMBER, SAME, CONTEXT,
         "the port's number, the first being 1")
RDMAEZ_P(STATE, port, state, int, PORT_STATE, SAME, "its logical state, enum ibv_port_state")
RDMAEZ_P(PHYS_STATE, port, phys_state, uint8_t, PHYS_STATE, SAME,
         "its physical state, by the codes of IBTA")
RDMAEZ_P(LINK_LAYER, port, link_layer, uint8_t, LINK_LAYER, SAME,
         "what it is plugged into, IBV_LINK_LAYER_; 0 counts as InfiniBand")
RDMAEZ_X(FLAGS, port, flags, uint8_t, PORT_QPF, BITS, PORT_FLAGS,
         "what it demands of its users, IBV_QPF_ bits")
RDMAEZ_O(NEEDS_GRH, port, needs_grh, bool, BOOL, SAME, CODE,
         "whether it sends and receives only with a global route header")
RDMAEZ_P(MAX_MTU, mtu, max_mtu, int, MTU, LEAST, "the greatest MTU, enum ibv_mtu")
RDMAEZ_O(MAX_MTU_BYTES, mtu, max_mtu_bytes, uint32_t, BYTES, LEAST, CODE, "the same in bytes")
RDMAEZ_P(ACTIVE_MTU, mtu, active_mtu, int, MTU, LEAST, "the MTU in use, enum ibv_mtu")
RDMAEZ_O(ACTIVE_MTU_BYTES, mtu, active_mtu_bytes, uint32_t, BYTES, LEAST, CODE, "the same in bytes")
RDMAEZ_P(MAX_MSG_SZ, mtu, max_msg_sz, uint32_t, BYTES, LEAST, "bytes of the longest message")
RDMAEZ_P(ACTIVE_WIDTH, rate, active_width, uint8_t, WIDTH, SAME,
         "the link's width, by the codes of IBTA")
RDMAEZ_O(LANES, rate, lanes, uint32_t, COUNT, LEAST, CODE, "the same as a number of lanes")
RDMAEZ_P(ACTIVE_SPEED, rate, active_speed, uint8_t, SPEED, SAME,
         "a lane's speed, by the codes of IBTA; NDR also stands for anything faster")
RDMAEZ_A(ACTIVE_SPEED_EX, rate, active_speed_ex, uint32_t, SPEED, SAME, SPEED_EX, RDMAEZ_IMPL_SPEED_EX_AT,
         "the same with the faster ones; from rdma-core 49 and Linux 6.7 on")
RDMAEZ_O(RATE_KBPS, rate, rate_kbps, uint64_t, KBPS, LEAST, CODE,
         "lanes times speed, in kbit/s; unknown where NDR may stand for more")
RDMAEZ_O(EFFECTIVE_RATE_KBPS, rate, effective_rate_kbps, uint64_t, KBPS, LEAST, CONTEXT,
         "what ibv_query_port_speed() reports, in kbit/s: all links of a bond; UINT64_MAX: more")
RDMAEZ_P(LID, subnet, lid, uint16_t, NUMBER, SAME, "its LID; 0 where there is none, as on Ethernet")
RDMAEZ_P(LMC, subnet, lmc, uint8_t, NUMBER, SAME, "how many low bits of the LID it ignores")
RDMAEZ_P(SM_LID, subnet, sm_lid, uint16_t, NUMBER, SAME, "the subnet manager's LID")
RDMAEZ_P(SM_SL, subnet, sm_sl, uint8_t, NUMBER, SAME, "the service level towards it")
RDMAEZ_P(SUBNET_TIMEOUT, subnet, subnet_timeout, uint8_t, TIMER, MOST,
         "how long a packet may take through the subnet, as an exponent")
RDMAEZ_O(SUBNET_TIMEOUT_NS, subnet, subnet_timeout_ns, uint64_t, NS, MOST, CODE,
         "the same in ns; 0 beyond 31")
RDMAEZ_P(INIT_TYPE_REPLY, subnet, init_type_reply, uint8_t, NUMBER, SAME,
         "how the subnet manager initialised it")
RDMAEZ_P(MAX_VL_NUM, subnet, max_vl_num, uint8_t, VL, LEAST,
         "the virtual lanes for data, by the codes of IBTA")
RDMAEZ_P(GID_TBL_LEN, tables, gid_tbl_len, int, COUNT, LEAST, "entries of the GID table")
RDMAEZ_P(PKEY_TBL_LEN, tables, pkey_tbl_len, uint16_t, COUNT, LEAST, "entries of the P_Key table")
RDMAEZ_P(BAD_PKEY_CNTR, counters, bad_pkey_cntr, uint32_t, NUMBER, SAME,
         "packets with a P_Key that is not in its table")
RDMAEZ_P(QKEY_VIOL_CNTR, counters, qkey_viol_cntr, uint32_t, NUMBER, SAME,
         "packets with a wrong Q_Key")
RDMAEZ_P(PORT_CAP_FLAGS, features, port_cap_flags, uint32_t, PORT_FLAGS, BITS,
         "capability bits, enum ibv_port_cap_flags")
RDMAEZ_X(PORT_CAP_FLAGS2, features, port_cap_flags2, uint16_t, PORT_FLAGS2, BITS, PORT_FLAGS2,
         "more of them, enum ibv_port_cap_flags2")
