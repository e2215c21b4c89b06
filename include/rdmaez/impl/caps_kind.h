/* SPDX-License-Identifier: MIT */
/* Names of the bits and values of capabilities. */
#ifndef RDMAEZ_IMPL_CAPS_KIND_H
#define RDMAEZ_IMPL_CAPS_KIND_H

#if RDMAEZ_IMPL_BODIES

#include "../caps.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All names, once: kind, number, name. The number is a bit's place in a set, and a value of an enum.
 * Names are those of verbs.h; IB_UVERBS_ ones are of bits that only the kernel's headers name
 * (ib_user_verbs.h, ib_user_ioctl_verbs.h), and verbs.h leaves some codes to IBTA.
 */
#define RDMAEZ_IMPL_CAPS_NAMES(X)                                          \
	X(NODE_TYPE, 1, "IBV_NODE_CA")                                     \
	X(NODE_TYPE, 2, "IBV_NODE_SWITCH")                                 \
	X(NODE_TYPE, 3, "IBV_NODE_ROUTER")                                 \
	X(NODE_TYPE, 4, "IBV_NODE_RNIC")                                   \
	X(NODE_TYPE, 5, "IBV_NODE_USNIC")                                  \
	X(NODE_TYPE, 6, "IBV_NODE_USNIC_UDP")                              \
	X(NODE_TYPE, 7, "IBV_NODE_UNSPECIFIED")                            \
	X(TRANSPORT, 0, "IBV_TRANSPORT_IB")                                \
	X(TRANSPORT, 1, "IBV_TRANSPORT_IWARP")                             \
	X(TRANSPORT, 2, "IBV_TRANSPORT_USNIC")                             \
	X(TRANSPORT, 3, "IBV_TRANSPORT_USNIC_UDP")                         \
	X(TRANSPORT, 4, "IBV_TRANSPORT_UNSPECIFIED")                       \
	X(ATOMIC_CAP, 0, "IBV_ATOMIC_NONE")                                \
	X(ATOMIC_CAP, 1, "IBV_ATOMIC_HCA")                                 \
	X(ATOMIC_CAP, 2, "IBV_ATOMIC_GLOB")                                \
	X(PORT_STATE, 0, "IBV_PORT_NOP")                                   \
	X(PORT_STATE, 1, "IBV_PORT_DOWN")                                  \
	X(PORT_STATE, 2, "IBV_PORT_INIT")                                  \
	X(PORT_STATE, 3, "IBV_PORT_ARMED")                                 \
	X(PORT_STATE, 4, "IBV_PORT_ACTIVE")                                \
	X(PORT_STATE, 5, "IBV_PORT_ACTIVE_DEFER")                          \
	X(MTU, 1, "IBV_MTU_256")                                           \
	X(MTU, 2, "IBV_MTU_512")                                           \
	X(MTU, 3, "IBV_MTU_1024")                                          \
	X(MTU, 4, "IBV_MTU_2048")                                          \
	X(MTU, 5, "IBV_MTU_4096")                                          \
	X(LINK_LAYER, 0, "IBV_LINK_LAYER_UNSPECIFIED")                     \
	X(LINK_LAYER, 1, "IBV_LINK_LAYER_INFINIBAND")                      \
	X(LINK_LAYER, 2, "IBV_LINK_LAYER_ETHERNET")                        \
	X(PHYS_STATE, 1, "SLEEP")                                          \
	X(PHYS_STATE, 2, "POLLING")                                        \
	X(PHYS_STATE, 3, "DISABLED")                                       \
	X(PHYS_STATE, 4, "TRAINING")                                       \
	X(PHYS_STATE, 5, "LINK_UP")                                        \
	X(PHYS_STATE, 6, "LINK_ERROR_RECOVERY")                            \
	X(PHYS_STATE, 7, "PHY_TEST")                                       \
	X(WIDTH, 1, "1X")                                                  \
	X(WIDTH, 2, "4X")                                                  \
	X(WIDTH, 4, "8X")                                                  \
	X(WIDTH, 8, "12X")                                                 \
	X(WIDTH, 16, "2X")                                                 \
	X(SPEED, 1, "SDR")                                                 \
	X(SPEED, 2, "DDR")                                                 \
	X(SPEED, 4, "QDR")                                                 \
	X(SPEED, 8, "FDR10")                                               \
	X(SPEED, 16, "FDR")                                                \
	X(SPEED, 32, "EDR")                                                \
	X(SPEED, 64, "HDR")                                                \
	X(SPEED, 128, "NDR")                                               \
	X(SPEED, 256, "XDR")                                               \
	X(VL, 1, "VL0")                                                    \
	X(VL, 2, "VL0 to VL1")                                             \
	X(VL, 3, "VL0 to VL3")                                             \
	X(VL, 4, "VL0 to VL7")                                             \
	X(VL, 5, "VL0 to VL14")                                            \
	X(DEVICE_FLAGS, 0, "IBV_DEVICE_RESIZE_MAX_WR")                     \
	X(DEVICE_FLAGS, 1, "IBV_DEVICE_BAD_PKEY_CNTR")                     \
	X(DEVICE_FLAGS, 2, "IBV_DEVICE_BAD_QKEY_CNTR")                     \
	X(DEVICE_FLAGS, 3, "IBV_DEVICE_RAW_MULTI")                         \
	X(DEVICE_FLAGS, 4, "IBV_DEVICE_AUTO_PATH_MIG")                     \
	X(DEVICE_FLAGS, 5, "IBV_DEVICE_CHANGE_PHY_PORT")                   \
	X(DEVICE_FLAGS, 6, "IBV_DEVICE_UD_AV_PORT_ENFORCE")                \
	X(DEVICE_FLAGS, 7, "IBV_DEVICE_CURR_QP_STATE_MOD")                 \
	X(DEVICE_FLAGS, 8, "IBV_DEVICE_SHUTDOWN_PORT")                     \
	X(DEVICE_FLAGS, 9, "IBV_DEVICE_INIT_TYPE")                         \
	X(DEVICE_FLAGS, 10, "IBV_DEVICE_PORT_ACTIVE_EVENT")                \
	X(DEVICE_FLAGS, 11, "IBV_DEVICE_SYS_IMAGE_GUID")                   \
	X(DEVICE_FLAGS, 12, "IBV_DEVICE_RC_RNR_NAK_GEN")                   \
	X(DEVICE_FLAGS, 13, "IBV_DEVICE_SRQ_RESIZE")                       \
	X(DEVICE_FLAGS, 14, "IBV_DEVICE_N_NOTIFY_CQ")                      \
	X(DEVICE_FLAGS, 17, "IBV_DEVICE_MEM_WINDOW")                       \
	X(DEVICE_FLAGS, 18, "IBV_DEVICE_UD_IP_CSUM")                       \
	X(DEVICE_FLAGS, 20, "IBV_DEVICE_XRC")                              \
	X(DEVICE_FLAGS, 21, "IBV_DEVICE_MEM_MGT_EXTENSIONS")               \
	X(DEVICE_FLAGS, 23, "IBV_DEVICE_MEM_WINDOW_TYPE_2A")               \
	X(DEVICE_FLAGS, 24, "IBV_DEVICE_MEM_WINDOW_TYPE_2B")               \
	X(DEVICE_FLAGS, 25, "IBV_DEVICE_RC_IP_CSUM")                       \
	X(DEVICE_FLAGS, 26, "IBV_DEVICE_RAW_IP_CSUM")                      \
	X(DEVICE_FLAGS, 29, "IBV_DEVICE_MANAGED_FLOW_STEERING")            \
	X(DEVICE_FLAGS, 34, "IBV_DEVICE_RAW_SCATTER_FCS")                  \
	X(DEVICE_FLAGS, 36, "IBV_DEVICE_PCI_WRITE_END_PADDING")            \
	X(DEVICE_FLAGS, 38, "IB_UVERBS_DEVICE_FLUSH_GLOBAL")               \
	X(DEVICE_FLAGS, 39, "IB_UVERBS_DEVICE_FLUSH_PERSISTENT")           \
	X(DEVICE_FLAGS, 40, "IB_UVERBS_DEVICE_ATOMIC_WRITE")               \
	X(DEVICE_FLAGS, 41, "IBV_DEVICE_CC_DMA_BOUNCE")                    \
	X(ODP_GENERAL, 0, "IBV_ODP_SUPPORT")                               \
	X(ODP_GENERAL, 1, "IBV_ODP_SUPPORT_IMPLICIT")                      \
	X(ODP_TRANSPORT, 0, "IBV_ODP_SUPPORT_SEND")                        \
	X(ODP_TRANSPORT, 1, "IBV_ODP_SUPPORT_RECV")                        \
	X(ODP_TRANSPORT, 2, "IBV_ODP_SUPPORT_WRITE")                       \
	X(ODP_TRANSPORT, 3, "IBV_ODP_SUPPORT_READ")                        \
	X(ODP_TRANSPORT, 4, "IBV_ODP_SUPPORT_ATOMIC")                      \
	X(ODP_TRANSPORT, 5, "IBV_ODP_SUPPORT_SRQ_RECV")                    \
	X(ODP_TRANSPORT, 6, "IBV_ODP_SUPPORT_FLUSH")                       \
	X(ODP_TRANSPORT, 7, "IBV_ODP_SUPPORT_ATOMIC_WRITE")                \
	X(RAW_PACKET, 0, "IBV_RAW_PACKET_CAP_CVLAN_STRIPPING")             \
	X(RAW_PACKET, 1, "IBV_RAW_PACKET_CAP_SCATTER_FCS")                 \
	X(RAW_PACKET, 2, "IBV_RAW_PACKET_CAP_IP_CSUM")                     \
	X(RAW_PACKET, 3, "IBV_RAW_PACKET_CAP_DELAY_DROP")                  \
	X(RX_HASH_FUNCTION, 0, "IBV_RX_HASH_FUNC_TOEPLITZ")                \
	X(RX_HASH_FIELDS, 0, "IBV_RX_HASH_SRC_IPV4")                       \
	X(RX_HASH_FIELDS, 1, "IBV_RX_HASH_DST_IPV4")                       \
	X(RX_HASH_FIELDS, 2, "IBV_RX_HASH_SRC_IPV6")                       \
	X(RX_HASH_FIELDS, 3, "IBV_RX_HASH_DST_IPV6")                       \
	X(RX_HASH_FIELDS, 4, "IBV_RX_HASH_SRC_PORT_TCP")                   \
	X(RX_HASH_FIELDS, 5, "IBV_RX_HASH_DST_PORT_TCP")                   \
	X(RX_HASH_FIELDS, 6, "IBV_RX_HASH_SRC_PORT_UDP")                   \
	X(RX_HASH_FIELDS, 7, "IBV_RX_HASH_DST_PORT_UDP")                   \
	X(RX_HASH_FIELDS, 8, "IBV_RX_HASH_IPSEC_SPI")                      \
	X(RX_HASH_FIELDS, 31, "IBV_RX_HASH_INNER")                         \
	X(TM_FLAGS, 0, "IBV_TM_CAP_RC")                                    \
	X(PCI_ATOMIC, 0, "IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP")       \
	X(PCI_ATOMIC, 1, "IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP")       \
	X(PCI_ATOMIC, 2, "IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP")      \
	X(QP_TYPES, 2, "IBV_QPT_RC")                                       \
	X(QP_TYPES, 3, "IBV_QPT_UC")                                       \
	X(QP_TYPES, 4, "IBV_QPT_UD")                                       \
	X(QP_TYPES, 8, "IBV_QPT_RAW_PACKET")                               \
	X(QP_TYPES, 9, "IBV_QPT_XRC_SEND")                                 \
	X(QP_TYPES, 10, "IBV_QPT_XRC_RECV")                                \
	X(PORT_FLAGS, 1, "IBV_PORT_SM")                                    \
	X(PORT_FLAGS, 2, "IBV_PORT_NOTICE_SUP")                            \
	X(PORT_FLAGS, 3, "IBV_PORT_TRAP_SUP")                              \
	X(PORT_FLAGS, 4, "IBV_PORT_OPT_IPD_SUP")                           \
	X(PORT_FLAGS, 5, "IBV_PORT_AUTO_MIGR_SUP")                         \
	X(PORT_FLAGS, 6, "IBV_PORT_SL_MAP_SUP")                            \
	X(PORT_FLAGS, 7, "IBV_PORT_MKEY_NVRAM")                            \
	X(PORT_FLAGS, 8, "IBV_PORT_PKEY_NVRAM")                            \
	X(PORT_FLAGS, 9, "IBV_PORT_LED_INFO_SUP")                          \
	X(PORT_FLAGS, 10, "IB_UVERBS_PCF_SM_DISABLED")                     \
	X(PORT_FLAGS, 11, "IBV_PORT_SYS_IMAGE_GUID_SUP")                   \
	X(PORT_FLAGS, 12, "IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP")            \
	X(PORT_FLAGS, 14, "IBV_PORT_EXTENDED_SPEEDS_SUP")                  \
	X(PORT_FLAGS, 15, "IBV_PORT_CAP_MASK2_SUP")                        \
	X(PORT_FLAGS, 16, "IBV_PORT_CM_SUP")                               \
	X(PORT_FLAGS, 17, "IBV_PORT_SNMP_TUNNEL_SUP")                      \
	X(PORT_FLAGS, 18, "IBV_PORT_REINIT_SUP")                           \
	X(PORT_FLAGS, 19, "IBV_PORT_DEVICE_MGMT_SUP")                      \
	X(PORT_FLAGS, 20, "IBV_PORT_VENDOR_CLASS_SUP")                     \
	X(PORT_FLAGS, 21, "IBV_PORT_DR_NOTICE_SUP")                        \
	X(PORT_FLAGS, 22, "IBV_PORT_CAP_MASK_NOTICE_SUP")                  \
	X(PORT_FLAGS, 23, "IBV_PORT_BOOT_MGMT_SUP")                        \
	X(PORT_FLAGS, 24, "IBV_PORT_LINK_LATENCY_SUP")                     \
	X(PORT_FLAGS, 25, "IBV_PORT_CLIENT_REG_SUP")                       \
	X(PORT_FLAGS, 26, "IBV_PORT_IP_BASED_GIDS")                        \
	X(PORT_FLAGS, 27, "IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP")      \
	X(PORT_FLAGS, 28, "IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP")  \
	X(PORT_FLAGS, 29, "IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP") \
	X(PORT_FLAGS, 30, "IB_UVERBS_PCF_MCAST_FDB_TOP_SUP")               \
	X(PORT_FLAGS, 31, "IB_UVERBS_PCF_HIERARCHY_INFO_SUP")              \
	X(PORT_FLAGS2, 0, "IBV_PORT_SET_NODE_DESC_SUP")                    \
	X(PORT_FLAGS2, 1, "IBV_PORT_INFO_EXT_SUP")                         \
	X(PORT_FLAGS2, 2, "IBV_PORT_VIRT_SUP")                             \
	X(PORT_FLAGS2, 3, "IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP")          \
	X(PORT_FLAGS2, 4, "IBV_PORT_LINK_WIDTH_2X_SUP")                    \
	X(PORT_FLAGS2, 5, "IBV_PORT_LINK_SPEED_HDR_SUP")                   \
	X(PORT_FLAGS2, 10, "IBV_PORT_LINK_SPEED_NDR_SUP")                  \
	X(PORT_FLAGS2, 12, "IBV_PORT_LINK_SPEED_XDR_SUP")                  \
	X(PORT_QPF, 0, "IBV_QPF_GRH_REQUIRED")

RDMAEZ_API bool rdmaez_caps_kind_is_set(enum rdmaez_caps_kind kind)
{
	return (int)kind >= (int)RDMAEZ_KIND_DEVICE_FLAGS && (int)kind < (int)RDMAEZ_KIND_TOTAL;
}

RDMAEZ_API bool rdmaez_caps_kind_is_enum(enum rdmaez_caps_kind kind)
{
	return (int)kind >= (int)RDMAEZ_KIND_NODE_TYPE && (int)kind <= (int)RDMAEZ_KIND_VL;
}

RDMAEZ_API const char *rdmaez_caps_kind_str(enum rdmaez_caps_kind kind, uint64_t number)
{
#define RDMAEZ_IMPL_CAPS_NAME(kind, number, name) {RDMAEZ_KIND_##kind, number, name},
	static const struct {
		enum rdmaez_caps_kind kind;
		unsigned int number;
		const char *name;
	} names[] = {RDMAEZ_IMPL_CAPS_NAMES(RDMAEZ_IMPL_CAPS_NAME)};
#undef RDMAEZ_IMPL_CAPS_NAME

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].kind == kind && names[i].number == number)
			return names[i].name;
	return "unknown";
}

#ifdef __cplusplus
}
#endif

#endif /* RDMAEZ_IMPL_BODIES */

#endif
