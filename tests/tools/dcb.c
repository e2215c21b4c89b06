/* SPDX-License-Identifier: MIT */
/* What rdmaez-doctor reads from the kernel's answer to DCB_CMD_IEEE_GET. doctor_quality.t compiles it. */
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "tap.h"
#ifndef DCB
#define DCB "../../tools/doctor/dcb.c"
#endif
#include "../../tools/doctor/nldev.c"
#include DCB

/* An answer as dcbnl_ieee_fill() writes it. */
static char bytes[4096] __attribute__((aligned(4)));
static size_t size;

static size_t begin(unsigned int type, const void *data, size_t length)
{
	const struct nlattr head = {.nla_len = (__u16)(sizeof(struct nlattr) + length),
				    .nla_type = (__u16)type};
	const size_t at = size;

	memcpy(bytes + size, &head, sizeof(head));
	if (length)
		memcpy(bytes + size + sizeof(struct nlattr), data, length);
	size += (sizeof(struct nlattr) + length + 3) & ~(size_t)3;
	return at;
}

static void end(size_t at)
{
	((struct nlattr *)(void *)(bytes + at))->nla_len = (__u16)(size - at);
}

static void head(unsigned int type)
{
	memset(bytes, 0, sizeof(bytes));
	((struct nlmsghdr *)(void *)bytes)->nlmsg_type = (__u16)type;
	size = NLMSG_HDRLEN + sizeof(struct dcbmsg);
}

static int parse(struct doctor_dcb *dcb)
{
	((struct nlmsghdr *)(void *)bytes)->nlmsg_len = (__u32)size;
	return doctor_dcb_parse(bytes, size, dcb);
}

static void app(uint8_t selector, uint16_t protocol, uint8_t priority)
{
	const struct dcb_app row = {selector, priority, protocol};

	begin(1, &row, sizeof(row));
}

static void well(struct doctor_dcb *dcb, bool has_trust)
{
	const struct ieee_pfc pfc = {.pfc_cap = 8, .pfc_en = 0x18};
	const uint8_t pcp = 6, dscp = 5;
	size_t ieee, table;

	head(RTM_GETDCB);
	begin(DCB_ATTR_IFNAME, "eth0", 5);
	ieee = begin(DCB_ATTR_IEEE | NLA_F_NESTED, NULL, 0);
	begin(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	table = begin(DCB_ATTR_IEEE_APP_TABLE, NULL, 0);
	app(5, 26, 3);
	app(5, 26, 2);
	app(5, 0, 0);
	app(1, 40, 4);
	app(5, 64, 1);
	app(5, 63, 8);
	end(table);
	if (has_trust) {
		table = begin(11, NULL, 0);
		begin(1, &pcp, 1);
		begin(1, &dscp, 1);
		end(table);
	}
	end(ieee);
	tap_eq_int(parse(dcb), 0, "an answer is read");
}

static void test_cut(size_t length)
{
	char *const cut = (char *)malloc(length ? length : 1);
	struct doctor_dcb dcb;

	((struct nlmsghdr *)(void *)bytes)->nlmsg_len = (__u32)length;
	memcpy(cut, bytes, length);
	doctor_dcb_parse(cut, length, &dcb);
	free(cut);
}

int main(void)
{
	struct doctor_dcb dcb;
	size_t ieee, table;
	int error = -EOPNOTSUPP;

	well(&dcb, true);
	tap_ok(dcb.has_pfc && dcb.pfc == 0x18, "its priorities with PFC");
	tap_ok(dcb.has_trust && dcb.trusts_dscp, "what it trusts");
	tap_eq_int(dcb.mapped, 2, "DSCPs that have a priority");
	tap_eq_int(dcb.priority[26], 3, "of two rows the greater");
	tap_eq_int(dcb.priority[0], 0, "of one row");
	tap_eq_int(dcb.priority[63], DCB_NOT_KNOWN, "no priority that there is not");
	tap_eq_int(dcb.priority[40], DCB_NOT_KNOWN, "no row of something else than DSCPs");
	well(&dcb, false);
	tap_ok(!dcb.has_trust, "what it trusts stays open");

	head(NLMSG_ERROR);
	size = NLMSG_HDRLEN;
	memcpy(bytes + size, &error, sizeof(error));
	size += sizeof(struct nlmsgerr);
	tap_eq_int(parse(&dcb), EOPNOTSUPP, "an error is one");
	tap_ok(!dcb.has_pfc && !dcb.mapped && dcb.priority[26] == DCB_NOT_KNOWN,
	       "and nothing is known");
	head(RTM_NEWROUTE);
	tap_eq_int(parse(&dcb), EPROTO, "an answer to something else");

	/* The last row is cut, with no byte behind; and then cut anywhere. */
	head(RTM_GETDCB);
	ieee = begin(DCB_ATTR_IEEE, NULL, 0);
	table = begin(DCB_ATTR_IEEE_APP_TABLE, NULL, 0);
	begin(1, "\5", 1);
	size -= 3;
	end(table);
	end(ieee);
	test_cut(size);
	well(&dcb, true);
	for (size_t length = 0; length < size; length++)
		test_cut(length);
	tap_ok(true, "no answer that is cut is read beyond its end");
	return tap_done();
}
