/* SPDX-License-Identifier: MIT */
/**
 * @file str.h
 * @brief Names for verbs constants.
 *
 * Every function takes any value and returns static text: the name, or "unknown" if the value has none. libibverbs
 * names some enums itself (ibv_node_type_str(), ibv_port_state_str(), ibv_wc_status_str(), ibv_event_type_str()). These
 * functions name the others that messages need. States and types have their spoken names (`RTS`, `RC`), and flags have
 * those of their constants (`IBV_QP_PORT`). The names do not depend on the version of the installed verbs.h.
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @par Sources
 * verbs.h of rdma-core 33 to 65.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_STR_H
#define RDMAEZ_STR_H

#ifndef RDMAEZ_BASE_H
#include "base.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Names a queue pair state.
 * @param state any value
 * @return "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"
 */
RDMAEZ_COLD const char *rdmaez_qp_state_str(enum ibv_qp_state state);

/**
 * @brief Names a queue pair type.
 * @param type any value
 * @return "RC", "UC", "UD", "RAW_PACKET", "XRC_SEND", "XRC_RECV", "DRIVER", and for the driver types of qp_rules.h
 *         "SRD", "DCI", "DCT"
 */
RDMAEZ_COLD const char *rdmaez_qp_type_str(enum ibv_qp_type type);

/**
 * @brief Names an MTU by its size in bytes.
 * @param mtu any value
 * @return "256", "512", "1024", "2048", "4096"
 */
RDMAEZ_COLD const char *rdmaez_mtu_str(enum ibv_mtu mtu);

/**
 * @brief Names a path migration state.
 * @param state any value
 * @return "MIGRATED", "REARM", "ARMED"
 */
RDMAEZ_COLD const char *rdmaez_mig_state_str(enum ibv_mig_state state);

/**
 * @brief Names `ibv_port_attr.link_layer`.
 * @param link_layer any value
 * @return "unspecified", "InfiniBand", "Ethernet"
 */
RDMAEZ_COLD const char *rdmaez_link_layer_str(uint8_t link_layer);

/**
 * @brief Names `ibv_gid_entry.gid_type`.
 * @param type any value
 * @return "IB", "RoCE v1", "RoCE v2"
 */
RDMAEZ_COLD const char *rdmaez_gid_type_str(uint32_t type);

/**
 * @brief Names one bit of an attribute mask.
 * @param bit any value
 * @return the constant's name, such as "IBV_QP_PORT"
 */
RDMAEZ_COLD const char *rdmaez_qp_attr_str(int bit);

/**
 * @brief Names one access flag.
 * @param bit any value
 * @return the constant's name, such as "IBV_ACCESS_REMOTE_READ"
 */
RDMAEZ_COLD const char *rdmaez_access_str(int bit);

/**
 * @brief Names the operation of a send work request.
 * @param opcode any value
 * @return the constant's name without its prefix, such as "RDMA_WRITE"
 */
RDMAEZ_COLD const char *rdmaez_wr_opcode_str(enum ibv_wr_opcode opcode);

/**
 * @brief Names an errno value that verbs return, including those that Linux should keep to itself.
 * @param error any value
 * @return the symbol, such as "EINVAL"; "0" for success
 */
RDMAEZ_COLD const char *rdmaez_errno_str(int error);

#ifdef __cplusplus
}
#endif

#if RDMAEZ_IMPL_BODIES
#include "impl/str.h"
#endif

#endif
