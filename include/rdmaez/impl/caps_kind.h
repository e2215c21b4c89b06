/* SPDX-License-Identifier: MIT */
/* Names of the bits and values of capabilities. */
#ifndef RDMAEZ_IMPL_CAPS_KIND_H
#define RDMAEZ_IMPL_CAPS_KIND_H

#ifndef RDMAEZ_CAPS_TABLE_H
#include "../caps_table.h"
#endif

#if RDMAEZ_IMPL_BODIES

RDMAEZ_IMPL_BEGIN

RDMAEZ_COLD bool rdmaez_caps_kind_is_set(enum rdmaez_caps_kind kind)
{
	return (int)kind >= (int)RDMAEZ_KIND_DEVICE_FLAGS && (int)kind < (int)RDMAEZ_KIND_TOTAL;
}

RDMAEZ_COLD bool rdmaez_caps_kind_is_enum(enum rdmaez_caps_kind kind)
{
	return (int)kind >= (int)RDMAEZ_KIND_NODE_TYPE && (int)kind <= (int)RDMAEZ_KIND_VL;
}

/* clang-format off */

/*
 * All names of a kind, one after the other, each behind its number: a bit's place in a set, a value of an
 * enum. Names are those of verbs.h; IB_UVERBS_ ones are of bits that only the kernel's headers name
 * (ib_user_verbs.h, ib_user_ioctl_verbs.h), and verbs.h leaves some codes to IBTA. The last is empty.
 */
RDMAEZ_IMPL_COLD const char *rdmaez_impl_caps_names(enum rdmaez_caps_kind kind)
{
	switch ((int)kind) {
	case RDMAEZ_KIND_NODE_TYPE:
		return "1:IBV_NODE_CA\0"
		       "2:IBV_NODE_SWITCH\0"
		       "3:IBV_NODE_ROUTER\0"
		       "4:IBV_NODE_RNIC\0"
		       "5:IBV_NODE_USNIC\0"
		       "6:IBV_NODE_USNIC_UDP\0"
		       "7:IBV_NODE_UNSPECIFIED\0";
	case RDMAEZ_KIND_TRANSPORT:
		return "0:IBV_TRANSPORT_IB\0"
		       "1:IBV_TRANSPORT_IWARP\0"
		       "2:IBV_TRANSPORT_USNIC\0"
		       "3:IBV_TRANSPORT_USNIC_UDP\0"
		       "4:IBV_TRANSPORT_UNSPECIFIED\0";
	case RDMAEZ_KIND_ATOMIC_CAP:
		return "0:IBV_ATOMIC_NONE\0"
		       "1:IBV_ATOMIC_HCA\0"
		       "2:IBV_ATOMIC_GLOB\0";
	case RDMAEZ_KIND_PORT_STATE:
		return "0:IBV_PORT_NOP\0"
		       "1:IBV_PORT_DOWN\0"
		       "2:IBV_PORT_INIT\0"
		       "3:IBV_PORT_ARMED\0"
		       "4:IBV_PORT_ACTIVE\0"
		       "5:IBV_PORT_ACTIVE_DEFER\0";
	case RDMAEZ_KIND_MTU:
		return "1:IBV_MTU_256\0"
		       "2:IBV_MTU_512\0"
		       "3:IBV_MTU_1024\0"
		       "4:IBV_MTU_2048\0"
		       "5:IBV_MTU_4096\0";
	case RDMAEZ_KIND_LINK_LAYER:
		return "0:IBV_LINK_LAYER_UNSPECIFIED\0"
		       "1:IBV_LINK_LAYER_INFINIBAND\0"
		       "2:IBV_LINK_LAYER_ETHERNET\0";
	case RDMAEZ_KIND_PHYS_STATE:
		return "1:SLEEP\0"
		       "2:POLLING\0"
		       "3:DISABLED\0"
		       "4:TRAINING\0"
		       "5:LINK_UP\0"
		       "6:LINK_ERROR_RECOVERY\0"
		       "7:PHY_TEST\0";
	case RDMAEZ_KIND_WIDTH:
		return "1:1X\0"
		       "2:4X\0"
		       "4:8X\0"
		       "8:12X\0"
		       "16:2X\0";
	case RDMAEZ_KIND_SPEED:
		return "1:SDR\0"
		       "2:DDR\0"
		       "4:QDR\0"
		       "8:FDR10\0"
		       "16:FDR\0"
		       "32:EDR\0"
		       "64:HDR\0"
		       "128:NDR\0"
		       "256:XDR\0";
	case RDMAEZ_KIND_VL:
		return "1:VL0\0"
		       "2:VL0 to VL1\0"
		       "3:VL0 to VL3\0"
		       "4:VL0 to VL7\0"
		       "5:VL0 to VL14\0";
	case RDMAEZ_KIND_DEVICE_FLAGS:
		return "0:IBV_DEVICE_RESIZE_MAX_WR\0"
		       "1:IBV_DEVICE_BAD_PKEY_CNTR\0"
		       "2:IBV_DEVICE_BAD_QKEY_CNTR\0"
		       "3:IBV_DEVICE_RAW_MULTI\0"
		       "4:IBV_DEVICE_AUTO_PATH_MIG\0"
		       "5:IBV_DEVICE_CHANGE_PHY_PORT\0"
		       "6:IBV_DEVICE_UD_AV_PORT_ENFORCE\0"
		       "7:IBV_DEVICE_CURR_QP_STATE_MOD\0"
		       "8:IBV_DEVICE_SHUTDOWN_PORT\0"
		       "9:IBV_DEVICE_INIT_TYPE\0"
		       "10:IBV_DEVICE_PORT_ACTIVE_EVENT\0"
		       "11:IBV_DEVICE_SYS_IMAGE_GUID\0"
		       "12:IBV_DEVICE_RC_RNR_NAK_GEN\0"
		       "13:IBV_DEVICE_SRQ_RESIZE\0"
		       "14:IBV_DEVICE_N_NOTIFY_CQ\0"
		       "17:IBV_DEVICE_MEM_WINDOW\0"
		       "18:IBV_DEVICE_UD_IP_CSUM\0"
		       "20:IBV_DEVICE_XRC\0"
		       "21:IBV_DEVICE_MEM_MGT_EXTENSIONS\0"
		       "23:IBV_DEVICE_MEM_WINDOW_TYPE_2A\0"
		       "24:IBV_DEVICE_MEM_WINDOW_TYPE_2B\0"
		       "25:IBV_DEVICE_RC_IP_CSUM\0"
		       "26:IBV_DEVICE_RAW_IP_CSUM\0"
		       "29:IBV_DEVICE_MANAGED_FLOW_STEERING\0"
		       "34:IBV_DEVICE_RAW_SCATTER_FCS\0"
		       "36:IBV_DEVICE_PCI_WRITE_END_PADDING\0"
		       "38:IB_UVERBS_DEVICE_FLUSH_GLOBAL\0"
		       "39:IB_UVERBS_DEVICE_FLUSH_PERSISTENT\0"
		       "40:IB_UVERBS_DEVICE_ATOMIC_WRITE\0"
		       "41:IBV_DEVICE_CC_DMA_BOUNCE\0";
	case RDMAEZ_KIND_ODP_GENERAL:
		return "0:IBV_ODP_SUPPORT\0"
		       "1:IBV_ODP_SUPPORT_IMPLICIT\0";
	case RDMAEZ_KIND_ODP_TRANSPORT:
		return "0:IBV_ODP_SUPPORT_SEND\0"
		       "1:IBV_ODP_SUPPORT_RECV\0"
		       "2:IBV_ODP_SUPPORT_WRITE\0"
		       "3:IBV_ODP_SUPPORT_READ\0"
		       "4:IBV_ODP_SUPPORT_ATOMIC\0"
		       "5:IBV_ODP_SUPPORT_SRQ_RECV\0"
		       "6:IBV_ODP_SUPPORT_FLUSH\0"
		       "7:IBV_ODP_SUPPORT_ATOMIC_WRITE\0";
	case RDMAEZ_KIND_RAW_PACKET:
		return "0:IBV_RAW_PACKET_CAP_CVLAN_STRIPPING\0"
		       "1:IBV_RAW_PACKET_CAP_SCATTER_FCS\0"
		       "2:IBV_RAW_PACKET_CAP_IP_CSUM\0"
		       "3:IBV_RAW_PACKET_CAP_DELAY_DROP\0";
	case RDMAEZ_KIND_RX_HASH_FUNCTION:
		return "0:IBV_RX_HASH_FUNC_TOEPLITZ\0";
	case RDMAEZ_KIND_RX_HASH_FIELDS:
		return "0:IBV_RX_HASH_SRC_IPV4\0"
		       "1:IBV_RX_HASH_DST_IPV4\0"
		       "2:IBV_RX_HASH_SRC_IPV6\0"
		       "3:IBV_RX_HASH_DST_IPV6\0"
		       "4:IBV_RX_HASH_SRC_PORT_TCP\0"
		       "5:IBV_RX_HASH_DST_PORT_TCP\0"
		       "6:IBV_RX_HASH_SRC_PORT_UDP\0"
		       "7:IBV_RX_HASH_DST_PORT_UDP\0"
		       "8:IBV_RX_HASH_IPSEC_SPI\0"
		       "31:IBV_RX_HASH_INNER\0";
	case RDMAEZ_KIND_TM_FLAGS:
		return "0:IBV_TM_CAP_RC\0";
	case RDMAEZ_KIND_PCI_ATOMIC:
		return "0:IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP\0"
		       "1:IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP\0"
		       "2:IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP\0";
	case RDMAEZ_KIND_QP_TYPES:
		return "2:IBV_QPT_RC\0"
		       "3:IBV_QPT_UC\0"
		       "4:IBV_QPT_UD\0"
		       "8:IBV_QPT_RAW_PACKET\0"
		       "9:IBV_QPT_XRC_SEND\0"
		       "10:IBV_QPT_XRC_RECV\0";
	case RDMAEZ_KIND_PORT_FLAGS:
		return "1:IBV_PORT_SM\0"
		       "2:IBV_PORT_NOTICE_SUP\0"
		       "3:IBV_PORT_TRAP_SUP\0"
		       "4:IBV_PORT_OPT_IPD_SUP\0"
		       "5:IBV_PORT_AUTO_MIGR_SUP\0"
		       "6:IBV_PORT_SL_MAP_SUP\0"
		       "7:IBV_PORT_MKEY_NVRAM\0"
		       "8:IBV_PORT_PKEY_NVRAM\0"
		       "9:IBV_PORT_LED_INFO_SUP\0"
		       "10:IB_UVERBS_PCF_SM_DISABLED\0"
		       "11:IBV_PORT_SYS_IMAGE_GUID_SUP\0"
		       "12:IBV_PORT_PKEY_SW_EXT_PORT_TRAP_SUP\0"
		       "14:IBV_PORT_EXTENDED_SPEEDS_SUP\0"
		       "15:IBV_PORT_CAP_MASK2_SUP\0"
		       "16:IBV_PORT_CM_SUP\0"
		       "17:IBV_PORT_SNMP_TUNNEL_SUP\0"
		       "18:IBV_PORT_REINIT_SUP\0"
		       "19:IBV_PORT_DEVICE_MGMT_SUP\0"
		       "20:IBV_PORT_VENDOR_CLASS_SUP\0"
		       "21:IBV_PORT_DR_NOTICE_SUP\0"
		       "22:IBV_PORT_CAP_MASK_NOTICE_SUP\0"
		       "23:IBV_PORT_BOOT_MGMT_SUP\0"
		       "24:IBV_PORT_LINK_LATENCY_SUP\0"
		       "25:IBV_PORT_CLIENT_REG_SUP\0"
		       "26:IBV_PORT_IP_BASED_GIDS\0"
		       "27:IB_UVERBS_PCF_LINK_SPEED_WIDTH_TABLE_SUP\0"
		       "28:IB_UVERBS_PCF_VENDOR_SPECIFIC_MADS_TABLE_SUP\0"
		       "29:IB_UVERBS_PCF_MCAST_PKEY_TRAP_SUPPRESSION_SUP\0"
		       "30:IB_UVERBS_PCF_MCAST_FDB_TOP_SUP\0"
		       "31:IB_UVERBS_PCF_HIERARCHY_INFO_SUP\0";
	case RDMAEZ_KIND_PORT_FLAGS2:
		return "0:IBV_PORT_SET_NODE_DESC_SUP\0"
		       "1:IBV_PORT_INFO_EXT_SUP\0"
		       "2:IBV_PORT_VIRT_SUP\0"
		       "3:IBV_PORT_SWITCH_PORT_STATE_TABLE_SUP\0"
		       "4:IBV_PORT_LINK_WIDTH_2X_SUP\0"
		       "5:IBV_PORT_LINK_SPEED_HDR_SUP\0"
		       "10:IBV_PORT_LINK_SPEED_NDR_SUP\0"
		       "12:IBV_PORT_LINK_SPEED_XDR_SUP\0";
	case RDMAEZ_KIND_PORT_QPF:
		return "0:IBV_QPF_GRH_REQUIRED\0";
	default:
		return "";
	}
}

/* clang-format on */

RDMAEZ_COLD const char *rdmaez_caps_kind_str(enum rdmaez_caps_kind kind, uint64_t number)
{
	for (const char *name = rdmaez_impl_caps_names(kind); *name; name += strlen(name) + 1) {
		unsigned int place = 0;

		for (; *name != ':'; name++)
			place = place * 10 + (unsigned int)(*name - '0');
		name++;
		if (place == number)
			return name;
	}
	return "unknown";
}

RDMAEZ_IMPL_END

#endif /* RDMAEZ_IMPL_BODIES */

#endif
