/* SPDX-License-Identifier: MIT */
/* The drivers that the fake can stand for, each a row of one table, and the kernel they run in. */
#include <stdio.h>
#include <sys/utsname.h>
#include "fake_internal.h"

/* ---- The running kernel ------------------------------------------------------------------- */

static char running[64] = "6.1.0-fake"; /* empty: uname() fails */

void fake_uname(const char *release)
{
	snprintf(running, sizeof(running), "%s", release ? release : "");
}

/* In place of the C library's, so that nothing depends on the host. */
int uname(struct utsname *name)
{
	if (!running[0]) {
		errno = EFAULT;
		return -1;
	}
	memset(name, 0, sizeof(*name));
	strcpy(name->sysname, "Linux");
	strcpy(name->nodename, "fake");
	strcpy(name->release, running);
	strcpy(name->version, "#1 SMP");
	strcpy(name->machine, "x86_64");
	return 0;
}

int fake_linux(void)
{
	int major = 0, minor = 0;

	sscanf(running, "%d.%d", &major, &minor);
	return major * 100 + (minor < 99 ? minor : 99);
}

/* ---- The drivers -------------------------------------------------------------------------- */

struct row {
	enum fake_profile profile;
	int until; /* the first release that has the next row of this profile; 0: all that follow */
	enum ibv_node_type node;
	enum ibv_transport_type transport;
	uint8_t link_layer;
	uint32_t vendor_id, part_id;
	uint32_t qp_types;
	uint32_t quirks;
	struct fake_habits habits;
};

#define RC  FAKE_QPT(IBV_QPT_RC)
#define UC  FAKE_QPT(IBV_QPT_UC)
#define UD  FAKE_QPT(IBV_QPT_UD)
#define RAW FAKE_QPT(IBV_QPT_RAW_PACKET)
#define XRC (FAKE_QPT(IBV_QPT_XRC_SEND) | FAKE_QPT(IBV_QPT_XRC_RECV))
#define DRV FAKE_QPT(IBV_QPT_DRIVER)

/* All that an answer of ibv_query_qp() holds. */
#define ALL_FIELDS (((1 << 21) - 1) | FAKE_FIELD_SQ_DRAINING | FAKE_FIELD_AH_PORT)

static const struct row rows[] = {
	/* hw/efa/efa_verbs.c: efa_query_qp(), which clears the answer, and efa_modify_qp_validate(). */
	{
		.profile = FAKE_PROFILE_EFA,
		.node = IBV_NODE_UNSPECIFIED,
		.transport = IBV_TRANSPORT_UNSPECIFIED,
		.link_layer = IBV_LINK_LAYER_UNSPECIFIED,
		.vendor_id = 0x1d0f,
		.part_id = 0xefa0,
		.qp_types = UD | DRV,
		.quirks = FAKE_SIGNALED_ONLY,
		.habits = {.query_refused =
				   ALL_FIELDS &
				   ~(IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY |
				     IBV_QP_SQ_PSN | IBV_QP_CAP | IBV_QP_RNR_RETRY)},
	},
	/* sw/siw/siw_verbs.c: siw_query_qp() of Linux 6.1; the state is there in Linux 6.12. */
	{
		.profile = FAKE_PROFILE_SIW,
		.until = 612,
		.node = IBV_NODE_RNIC,
		.transport = IBV_TRANSPORT_IWARP,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.vendor_id = 0x626d74,
		.part_id = 1,
		.qp_types = RC,
		.quirks = FAKE_NEGATIVE_POST,
		.habits = {.query_unfilled =
				   ALL_FIELDS &
				   ~(IBV_QP_CAP | IBV_QP_PATH_MTU | IBV_QP_MAX_QP_RD_ATOMIC |
				     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS)},
	},
	{
		.profile = FAKE_PROFILE_SIW,
		.node = IBV_NODE_RNIC,
		.transport = IBV_TRANSPORT_IWARP,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.vendor_id = 0x626d74,
		.part_id = 1,
		.qp_types = RC,
		.quirks = FAKE_NEGATIVE_POST,
		.habits = {.query_unfilled =
				   ALL_FIELDS & ~(IBV_QP_STATE | IBV_QP_CAP | IBV_QP_PATH_MTU |
						  IBV_QP_MAX_QP_RD_ATOMIC |
						  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS)},
	},
	/* hw/bnxt_re/ib_verbs.c: bnxt_re_query_qp() of Linux 6.1; the port is there in Linux 6.12. */
	{
		.profile = FAKE_PROFILE_BNXT_RE,
		.until = 612,
		.node = IBV_NODE_CA,
		.transport = IBV_TRANSPORT_IB,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.vendor_id = 0x14e4,
		.part_id = 0x1750,
		.qp_types = RC | UD,
		.quirks = FAKE_MTU_UP_TO_ACTIVE | FAKE_CUR_STATE_IGNORED,
		.habits = {.query_unfilled = IBV_QP_PORT | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE |
					     FAKE_FIELD_SQ_DRAINING | FAKE_FIELD_AH_PORT},
	},
	{
		.profile = FAKE_PROFILE_BNXT_RE,
		.node = IBV_NODE_CA,
		.transport = IBV_TRANSPORT_IB,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
		.vendor_id = 0x14e4,
		.part_id = 0x1750,
		.qp_types = RC | UD,
		.quirks = FAKE_MTU_UP_TO_ACTIVE | FAKE_CUR_STATE_IGNORED,
		.habits = {.query_unfilled = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE |
					     FAKE_FIELD_SQ_DRAINING | FAKE_FIELD_AH_PORT},
	},
};

void fake_profile(struct fake_device *dev, enum fake_profile profile)
{
	const struct row *row = rows;

	while (row->profile != profile || (row->until && fake_linux() >= row->until))
		if (++row == rows + sizeof(rows) / sizeof(rows[0]))
			abort();
	dev->verbs.node_type = row->node;
	dev->verbs.transport_type = row->transport;
	dev->attr.orig_attr.vendor_id = row->vendor_id;
	dev->attr.orig_attr.vendor_part_id = row->part_id;
	for (unsigned int i = 1; i <= FAKE_MAX_PORTS; i++)
		dev->port[i].attr.link_layer = row->link_layer;
	dev->qp_types = row->qp_types;
	dev->quirks = row->quirks;
	dev->habits = row->habits;
}
