/* SPDX-License-Identifier: MIT */
/**
 * @file str.h
 * @brief Names for the numbers of verbs.
 *
 * Every function takes any value and returns static text, "unknown" where the value has no name.
 * libibverbs names some enums itself (ibv_node_type_str(), ibv_port_state_str(),
 * ibv_wc_status_str(), ibv_event_type_str()); these are the others that messages need. States and
 * types are named as people say them (`RTS`, `RC`), flags as they are typed (`IBV_QP_PORT`).
 * Bits are named by number, so a name is there whatever the age of the installed verbs.h.
 */
#ifndef RDMAEZ_STR_H
#define RDMAEZ_STR_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RDMAEZ_IMPL_NAME(value, name) \
	case value:                   \
		return name;

/**
 * @brief Names a queue pair state.
 * @param state any value
 * @return "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_qp_state_str(enum ibv_qp_state state)
{
	switch ((int)state) {
		RDMAEZ_IMPL_NAME(IBV_QPS_RESET, "RESET")
		RDMAEZ_IMPL_NAME(IBV_QPS_INIT, "INIT")
		RDMAEZ_IMPL_NAME(IBV_QPS_RTR, "RTR")
		RDMAEZ_IMPL_NAME(IBV_QPS_RTS, "RTS")
		RDMAEZ_IMPL_NAME(IBV_QPS_SQD, "SQD")
		RDMAEZ_IMPL_NAME(IBV_QPS_SQE, "SQE")
		RDMAEZ_IMPL_NAME(IBV_QPS_ERR, "ERR")
	default:
		return "unknown";
	}
}

/**
 * @brief Names a queue pair type.
 * @param type any value
 * @return "RC", "UC", "UD", "RAW_PACKET", "XRC_SEND", "XRC_RECV", "DRIVER"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_qp_type_str(enum ibv_qp_type type)
{
	switch ((int)type) {
		RDMAEZ_IMPL_NAME(IBV_QPT_RC, "RC")
		RDMAEZ_IMPL_NAME(IBV_QPT_UC, "UC")
		RDMAEZ_IMPL_NAME(IBV_QPT_UD, "UD")
		RDMAEZ_IMPL_NAME(IBV_QPT_RAW_PACKET, "RAW_PACKET")
		RDMAEZ_IMPL_NAME(IBV_QPT_XRC_SEND, "XRC_SEND")
		RDMAEZ_IMPL_NAME(IBV_QPT_XRC_RECV, "XRC_RECV")
		RDMAEZ_IMPL_NAME(IBV_QPT_DRIVER, "DRIVER")
	default:
		return "unknown";
	}
}

/**
 * @brief Writes an MTU in bytes.
 * @param mtu any value
 * @return "256", "512", "1024", "2048", "4096"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_mtu_str(enum ibv_mtu mtu)
{
	switch ((int)mtu) {
		RDMAEZ_IMPL_NAME(IBV_MTU_256, "256")
		RDMAEZ_IMPL_NAME(IBV_MTU_512, "512")
		RDMAEZ_IMPL_NAME(IBV_MTU_1024, "1024")
		RDMAEZ_IMPL_NAME(IBV_MTU_2048, "2048")
		RDMAEZ_IMPL_NAME(IBV_MTU_4096, "4096")
	default:
		return "unknown";
	}
}

/**
 * @brief Names a path migration state.
 * @param state any value
 * @return "MIGRATED", "REARM", "ARMED"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_mig_state_str(enum ibv_mig_state state)
{
	switch ((int)state) {
		RDMAEZ_IMPL_NAME(IBV_MIG_MIGRATED, "MIGRATED")
		RDMAEZ_IMPL_NAME(IBV_MIG_REARM, "REARM")
		RDMAEZ_IMPL_NAME(IBV_MIG_ARMED, "ARMED")
	default:
		return "unknown";
	}
}

/**
 * @brief Names `ibv_port_attr.link_layer`.
 * @param link_layer any value
 * @return "unspecified", "InfiniBand", "Ethernet"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_link_layer_str(uint8_t link_layer)
{
	switch ((int)link_layer) {
		RDMAEZ_IMPL_NAME(IBV_LINK_LAYER_UNSPECIFIED, "unspecified")
		RDMAEZ_IMPL_NAME(IBV_LINK_LAYER_INFINIBAND, "InfiniBand")
		RDMAEZ_IMPL_NAME(IBV_LINK_LAYER_ETHERNET, "Ethernet")
	default:
		return "unknown";
	}
}

/**
 * @brief Names `ibv_gid_entry.gid_type`.
 * @param type any value
 * @return "IB", "RoCE v1", "RoCE v2"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_gid_type_str(uint32_t type)
{
	switch ((int)type) {
		RDMAEZ_IMPL_NAME(IBV_GID_TYPE_IB, "IB")
		RDMAEZ_IMPL_NAME(IBV_GID_TYPE_ROCE_V1, "RoCE v1")
		RDMAEZ_IMPL_NAME(IBV_GID_TYPE_ROCE_V2, "RoCE v2")
	default:
		return "unknown";
	}
}

/**
 * @brief Names one bit of an attribute mask.
 * @param bit any value
 * @return the constant's name, such as "IBV_QP_PORT"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_qp_attr_str(int bit)
{
	switch (bit) {
		RDMAEZ_IMPL_NAME(IBV_QP_STATE, "IBV_QP_STATE")
		RDMAEZ_IMPL_NAME(IBV_QP_CUR_STATE, "IBV_QP_CUR_STATE")
		RDMAEZ_IMPL_NAME(IBV_QP_EN_SQD_ASYNC_NOTIFY, "IBV_QP_EN_SQD_ASYNC_NOTIFY")
		RDMAEZ_IMPL_NAME(IBV_QP_ACCESS_FLAGS, "IBV_QP_ACCESS_FLAGS")
		RDMAEZ_IMPL_NAME(IBV_QP_PKEY_INDEX, "IBV_QP_PKEY_INDEX")
		RDMAEZ_IMPL_NAME(IBV_QP_PORT, "IBV_QP_PORT")
		RDMAEZ_IMPL_NAME(IBV_QP_QKEY, "IBV_QP_QKEY")
		RDMAEZ_IMPL_NAME(IBV_QP_AV, "IBV_QP_AV")
		RDMAEZ_IMPL_NAME(IBV_QP_PATH_MTU, "IBV_QP_PATH_MTU")
		RDMAEZ_IMPL_NAME(IBV_QP_TIMEOUT, "IBV_QP_TIMEOUT")
		RDMAEZ_IMPL_NAME(IBV_QP_RETRY_CNT, "IBV_QP_RETRY_CNT")
		RDMAEZ_IMPL_NAME(IBV_QP_RNR_RETRY, "IBV_QP_RNR_RETRY")
		RDMAEZ_IMPL_NAME(IBV_QP_RQ_PSN, "IBV_QP_RQ_PSN")
		RDMAEZ_IMPL_NAME(IBV_QP_MAX_QP_RD_ATOMIC, "IBV_QP_MAX_QP_RD_ATOMIC")
		RDMAEZ_IMPL_NAME(IBV_QP_ALT_PATH, "IBV_QP_ALT_PATH")
		RDMAEZ_IMPL_NAME(IBV_QP_MIN_RNR_TIMER, "IBV_QP_MIN_RNR_TIMER")
		RDMAEZ_IMPL_NAME(IBV_QP_SQ_PSN, "IBV_QP_SQ_PSN")
		RDMAEZ_IMPL_NAME(IBV_QP_MAX_DEST_RD_ATOMIC, "IBV_QP_MAX_DEST_RD_ATOMIC")
		RDMAEZ_IMPL_NAME(IBV_QP_PATH_MIG_STATE, "IBV_QP_PATH_MIG_STATE")
		RDMAEZ_IMPL_NAME(IBV_QP_CAP, "IBV_QP_CAP")
		RDMAEZ_IMPL_NAME(IBV_QP_DEST_QPN, "IBV_QP_DEST_QPN")
		RDMAEZ_IMPL_NAME(IBV_QP_RATE_LIMIT, "IBV_QP_RATE_LIMIT")
	default:
		return "unknown";
	}
}

/**
 * @brief Names one access flag.
 * @param bit any value
 * @return the constant's name, such as "IBV_ACCESS_REMOTE_READ"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_access_str(int bit)
{
	switch (bit) {
		RDMAEZ_IMPL_NAME(1 << 0, "IBV_ACCESS_LOCAL_WRITE")
		RDMAEZ_IMPL_NAME(1 << 1, "IBV_ACCESS_REMOTE_WRITE")
		RDMAEZ_IMPL_NAME(1 << 2, "IBV_ACCESS_REMOTE_READ")
		RDMAEZ_IMPL_NAME(1 << 3, "IBV_ACCESS_REMOTE_ATOMIC")
		RDMAEZ_IMPL_NAME(1 << 4, "IBV_ACCESS_MW_BIND")
		RDMAEZ_IMPL_NAME(1 << 5, "IBV_ACCESS_ZERO_BASED")
		RDMAEZ_IMPL_NAME(1 << 6, "IBV_ACCESS_ON_DEMAND")
		RDMAEZ_IMPL_NAME(1 << 7, "IBV_ACCESS_HUGETLB")
		RDMAEZ_IMPL_NAME(1 << 8, "IBV_ACCESS_FLUSH_GLOBAL")
		RDMAEZ_IMPL_NAME(1 << 9, "IBV_ACCESS_FLUSH_PERSISTENT")
		RDMAEZ_IMPL_NAME(1 << 20, "IBV_ACCESS_RELAXED_ORDERING")
	default:
		return "unknown";
	}
}

/**
 * @brief Names the operation of a send work request.
 * @param opcode any value
 * @return the constant's name without its prefix, such as "RDMA_WRITE"; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_wr_opcode_str(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
		RDMAEZ_IMPL_NAME(IBV_WR_RDMA_WRITE, "RDMA_WRITE")
		RDMAEZ_IMPL_NAME(IBV_WR_RDMA_WRITE_WITH_IMM, "RDMA_WRITE_WITH_IMM")
		RDMAEZ_IMPL_NAME(IBV_WR_SEND, "SEND")
		RDMAEZ_IMPL_NAME(IBV_WR_SEND_WITH_IMM, "SEND_WITH_IMM")
		RDMAEZ_IMPL_NAME(IBV_WR_RDMA_READ, "RDMA_READ")
		RDMAEZ_IMPL_NAME(IBV_WR_ATOMIC_CMP_AND_SWP, "ATOMIC_CMP_AND_SWP")
		RDMAEZ_IMPL_NAME(IBV_WR_ATOMIC_FETCH_AND_ADD, "ATOMIC_FETCH_AND_ADD")
		RDMAEZ_IMPL_NAME(IBV_WR_LOCAL_INV, "LOCAL_INV")
		RDMAEZ_IMPL_NAME(IBV_WR_BIND_MW, "BIND_MW")
		RDMAEZ_IMPL_NAME(IBV_WR_SEND_WITH_INV, "SEND_WITH_INV")
		RDMAEZ_IMPL_NAME(IBV_WR_TSO, "TSO")
		RDMAEZ_IMPL_NAME(IBV_WR_DRIVER1, "DRIVER1")
		RDMAEZ_IMPL_NAME(14, "FLUSH")
		RDMAEZ_IMPL_NAME(15, "ATOMIC_WRITE")
	default:
		return "unknown";
	}
}

/**
 * @brief Names an errno value, of those that verbs return.
 * @param error any value
 * @return the symbol, such as "EINVAL"; "0" for success; "unknown" for any other
 */
RDMAEZ_API const char *rdmaez_errno_str(int error)
{
	switch (error) {
		RDMAEZ_IMPL_NAME(0, "0")
		RDMAEZ_IMPL_NAME(EPERM, "EPERM")
		RDMAEZ_IMPL_NAME(ENOENT, "ENOENT")
		RDMAEZ_IMPL_NAME(EINTR, "EINTR")
		RDMAEZ_IMPL_NAME(EIO, "EIO")
		RDMAEZ_IMPL_NAME(ENXIO, "ENXIO")
		RDMAEZ_IMPL_NAME(E2BIG, "E2BIG")
		RDMAEZ_IMPL_NAME(EBADF, "EBADF")
		RDMAEZ_IMPL_NAME(EAGAIN, "EAGAIN")
		RDMAEZ_IMPL_NAME(ENOMEM, "ENOMEM")
		RDMAEZ_IMPL_NAME(EACCES, "EACCES")
		RDMAEZ_IMPL_NAME(EFAULT, "EFAULT")
		RDMAEZ_IMPL_NAME(EBUSY, "EBUSY")
		RDMAEZ_IMPL_NAME(EEXIST, "EEXIST")
		RDMAEZ_IMPL_NAME(ENODEV, "ENODEV")
		RDMAEZ_IMPL_NAME(EINVAL, "EINVAL")
		RDMAEZ_IMPL_NAME(EMFILE, "EMFILE")
		RDMAEZ_IMPL_NAME(ENOSPC, "ENOSPC")
		RDMAEZ_IMPL_NAME(ERANGE, "ERANGE")
		RDMAEZ_IMPL_NAME(ENOSYS, "ENOSYS")
		RDMAEZ_IMPL_NAME(ENODATA, "ENODATA")
		RDMAEZ_IMPL_NAME(EPROTO, "EPROTO")
		RDMAEZ_IMPL_NAME(EOVERFLOW, "EOVERFLOW")
		RDMAEZ_IMPL_NAME(EMSGSIZE, "EMSGSIZE")
		RDMAEZ_IMPL_NAME(EPROTONOSUPPORT, "EPROTONOSUPPORT")
		RDMAEZ_IMPL_NAME(EOPNOTSUPP, "EOPNOTSUPP")
		RDMAEZ_IMPL_NAME(EADDRINUSE, "EADDRINUSE")
		RDMAEZ_IMPL_NAME(EADDRNOTAVAIL, "EADDRNOTAVAIL")
		RDMAEZ_IMPL_NAME(ENETDOWN, "ENETDOWN")
		RDMAEZ_IMPL_NAME(ENETUNREACH, "ENETUNREACH")
		RDMAEZ_IMPL_NAME(ECONNRESET, "ECONNRESET")
		RDMAEZ_IMPL_NAME(ENOTCONN, "ENOTCONN")
		RDMAEZ_IMPL_NAME(ETIMEDOUT, "ETIMEDOUT")
		RDMAEZ_IMPL_NAME(ECONNREFUSED, "ECONNREFUSED")
		RDMAEZ_IMPL_NAME(EHOSTUNREACH, "EHOSTUNREACH")
	default:
		return "unknown";
	}
}

#undef RDMAEZ_IMPL_NAME

#ifdef __cplusplus
}
#endif

#endif
