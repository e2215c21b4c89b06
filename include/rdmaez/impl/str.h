/* SPDX-License-Identifier: MIT */
/* Implements str.h. */
#ifndef RDMAEZ_IMPL_STR_H
#define RDMAEZ_IMPL_STR_H

#ifndef RDMAEZ_STR_H
#include "../str.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

/*
 * Returns one of the names in a row. Each ends with a zero byte, and the last one with two. "?"
 * stands for one that has no name.
 */
RDMAEZ_IMPL_SMALL const char *rdmaez_impl_str_nth(const char *names, unsigned int n)
{
	for (; n && *names; n--)
		names += strlen(names) + 1;
	return *names && *names != '?' ? names : "unknown";
}

/* Does the same for a single bit, by its place. */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_str_bit(const char *names, int bit)
{
	unsigned int n = 0;

	while (n < 31 && (unsigned int)bit != 1u << n)
		n++;
	return n < 31 ? rdmaez_impl_str_nth(names, n) : "unknown";
}

RDMAEZ_COLD const char *rdmaez_qp_state_str(enum ibv_qp_state state)
{
	return rdmaez_impl_str_nth("RESET\0INIT\0RTR\0RTS\0SQD\0SQE\0ERR\0", (unsigned int)state);
}

RDMAEZ_COLD const char *rdmaez_qp_type_str(enum ibv_qp_type type)
{
	if ((unsigned int)type >= 0xf0)
		return (int)type == IBV_QPT_DRIVER ? "DRIVER"
						   : rdmaez_impl_str_nth("?\0SRD\0DCI\0DCT\0",
									 (unsigned int)type - 0xf0);
	return rdmaez_impl_str_nth("?\0?\0RC\0UC\0UD\0?\0?\0?\0RAW_PACKET\0XRC_SEND\0XRC_RECV\0",
				   (unsigned int)type);
}

RDMAEZ_COLD const char *rdmaez_mtu_str(enum ibv_mtu mtu)
{
	return rdmaez_impl_str_nth("?\0"
				   "256\0"
				   "512\0"
				   "1024\0"
				   "2048\0"
				   "4096\0",
				   (unsigned int)mtu);
}

RDMAEZ_COLD const char *rdmaez_mig_state_str(enum ibv_mig_state state)
{
	return rdmaez_impl_str_nth("MIGRATED\0REARM\0ARMED\0", (unsigned int)state);
}

RDMAEZ_COLD const char *rdmaez_link_layer_str(uint8_t link_layer)
{
	return rdmaez_impl_str_nth("unspecified\0InfiniBand\0Ethernet\0", link_layer);
}

RDMAEZ_COLD const char *rdmaez_gid_type_str(uint32_t type)
{
	return rdmaez_impl_str_nth("IB\0RoCE v1\0RoCE v2\0", type);
}

RDMAEZ_COLD const char *rdmaez_qp_attr_str(int bit)
{
	return rdmaez_impl_str_bit("IBV_QP_STATE\0IBV_QP_CUR_STATE\0IBV_QP_EN_SQD_ASYNC_NOTIFY\0"
				   "IBV_QP_ACCESS_FLAGS\0IBV_QP_PKEY_INDEX\0IBV_QP_PORT\0"
				   "IBV_QP_QKEY\0IBV_QP_AV\0IBV_QP_PATH_MTU\0IBV_QP_TIMEOUT\0"
				   "IBV_QP_RETRY_CNT\0IBV_QP_RNR_RETRY\0IBV_QP_RQ_PSN\0"
				   "IBV_QP_MAX_QP_RD_ATOMIC\0IBV_QP_ALT_PATH\0"
				   "IBV_QP_MIN_RNR_TIMER\0IBV_QP_SQ_PSN\0"
				   "IBV_QP_MAX_DEST_RD_ATOMIC\0IBV_QP_PATH_MIG_STATE\0"
				   "IBV_QP_CAP\0IBV_QP_DEST_QPN\0?\0?\0?\0?\0IBV_QP_RATE_LIMIT\0",
				   bit);
}

RDMAEZ_COLD const char *rdmaez_access_str(int bit)
{
	if (bit == 1 << 20)
		return "IBV_ACCESS_RELAXED_ORDERING";
	return rdmaez_impl_str_bit("IBV_ACCESS_LOCAL_WRITE\0IBV_ACCESS_REMOTE_WRITE\0"
				   "IBV_ACCESS_REMOTE_READ\0IBV_ACCESS_REMOTE_ATOMIC\0"
				   "IBV_ACCESS_MW_BIND\0IBV_ACCESS_ZERO_BASED\0"
				   "IBV_ACCESS_ON_DEMAND\0IBV_ACCESS_HUGETLB\0"
				   "IBV_ACCESS_FLUSH_GLOBAL\0IBV_ACCESS_FLUSH_PERSISTENT\0",
				   bit);
}

RDMAEZ_COLD const char *rdmaez_wr_opcode_str(enum ibv_wr_opcode opcode)
{
	return rdmaez_impl_str_nth("RDMA_WRITE\0RDMA_WRITE_WITH_IMM\0SEND\0SEND_WITH_IMM\0"
				   "RDMA_READ\0ATOMIC_CMP_AND_SWP\0ATOMIC_FETCH_AND_ADD\0"
				   "LOCAL_INV\0BIND_MW\0SEND_WITH_INV\0TSO\0DRIVER1\0?\0?\0"
				   "FLUSH\0ATOMIC_WRITE\0",
				   (unsigned int)opcode);
}

/* clang-format off */
#define RDMAEZ_IMPL_ERRNOS(X) \
	X(EPERM) X(ENOENT) X(EINTR) X(EIO) X(ENXIO) X(E2BIG) X(EBADF) X(EAGAIN) X(ENOMEM) X(EACCES) \
	X(EFAULT) X(EBUSY) X(EEXIST) X(ENODEV) X(EINVAL) X(EMFILE) X(ENOSPC) X(ERANGE) X(ENOSYS) \
	X(ENODATA) X(EPROTO) X(EOVERFLOW) X(EMSGSIZE) X(EPROTONOSUPPORT) X(EOPNOTSUPP) \
	X(EADDRINUSE) X(EADDRNOTAVAIL) X(ENETDOWN) X(ENETUNREACH) X(ECONNRESET) X(ENOTCONN) \
	X(ETIMEDOUT) X(ECONNREFUSED) X(EHOSTUNREACH) X(EPIPE) X(EBADMSG) X(ENOTSOCK)      \
	X(EAFNOSUPPORT) X(ECONNABORTED) X(EREMOTEIO)
/* clang-format on */
#define RDMAEZ_IMPL_ERRNO_VALUE(name) name,
#define RDMAEZ_IMPL_ERRNO_NAME(name)  #name "\0"

RDMAEZ_COLD const char *rdmaez_errno_str(int error)
{
	static const short known[] = {RDMAEZ_IMPL_ERRNOS(RDMAEZ_IMPL_ERRNO_VALUE) 0};
	unsigned int n = 0;

	while (known[n] && known[n] != error)
		n++;
	if (!error)
		return "0";
	/*
	 * From 512 on these are the values that the kernel keeps to itself, in
	 * include/linux/errno.h of Linux 6.12. Programs "should never" see them, but some drivers
	 * of Linux return them. 520 has no name.
	 */
	if (!known[n] && error >= 512)
		return rdmaez_impl_str_nth(
			"ERESTARTSYS\0ERESTARTNOINTR\0ERESTARTNOHAND\0ENOIOCTLCMD\0"
			"ERESTART_RESTARTBLOCK\0EPROBE_DEFER\0EOPENSTALE\0ENOPARAM\0?\0"
			"EBADHANDLE\0ENOTSYNC\0EBADCOOKIE\0ENOTSUPP\0ETOOSMALL\0"
			"ESERVERFAULT\0EBADTYPE\0EJUKEBOX\0EIOCBQUEUED\0ERECALLCONFLICT\0"
			"ENOGRACE\0",
			(unsigned int)error - 512);
	return rdmaez_impl_str_nth(RDMAEZ_IMPL_ERRNOS(RDMAEZ_IMPL_ERRNO_NAME), n);
}

#undef RDMAEZ_IMPL_ERRNOS
#undef RDMAEZ_IMPL_ERRNO_VALUE
#undef RDMAEZ_IMPL_ERRNO_NAME

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
