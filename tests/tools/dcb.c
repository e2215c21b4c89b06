/* SPDX-License-Identifier: MIT */
/*
 * What rdmaez-doctor reads from the kernel's answer to DCB_CMD_IEEE_GET, and what it says of it. doctor_quality.t compiles
 * it.
 */
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>

#include "tap.h"
#ifndef DCB
#define DCB "../../tools/doctor/dcb.c"
#endif
#include "../../tools/doctor/nldev.c"
#define doctor_dcb_ask ask_kernel
#include DCB
#undef doctor_dcb_ask
int doctor_dcb_ask(const char *netdev, struct doctor_dcb *dcb);
#ifndef QUALITY
#define QUALITY "../../tools/doctor/quality.c"
#endif
#include QUALITY
#include "said.h"

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

/* ---- A port, and what is said of it ------------------------------------------------------------------ */

struct doctor_options doctor_options;
static const struct doctor_port port = {.device = "mlx5_0",
					.num = 1,
					.subject = "mlx5_0/1",
					.netdev = "eth0",
					.netdev_here = true,
					.roce = true};
static struct doctor_dcb answered;
static int refused;
static const char *driver, *fixed, *trust, *map; /* of files; NULL: there is none */
static int roce_tos; /* of rdma_cm; less than 0: nobody has made its folder */

int doctor_dcb_ask(const char *netdev, struct doctor_dcb *dcb)
{
	(void)netdev;
	*dcb = answered;
	return refused;
}

unsigned int doctor_ports(const struct doctor_port **ports)
{
	*ports = &port;
	return 1;
}

void doctor_step(const char *format, ...)
{
	(void)format;
}

int doctor_read(char *buf, size_t size_of, const char *path_format, ...)
{
	const char *const text = strstr(path_format, "traffic_class") ? fixed
				 : strstr(path_format, "qos/trust")   ? trust
								      : NULL;

	snprintf(buf, size_of, "%s", text ? text : "");
	return text ? 0 : -ENOENT;
}

int doctor_read_all(char *buf, size_t size_of, const char *path_format, ...)
{
	(void)path_format;
	return map ? snprintf(buf, size_of, "%s", map) : -ENOENT;
}

int doctor_read_link(char *buf, size_t size_of, const char *path_format, ...)
{
	(void)path_format;
	snprintf(buf, size_of, "%s", driver);
	return 0;
}

static const struct doctor_driver known[] = {{.name = "mlx5_ib"}, {.name = "bnxt_re"}};

const struct doctor_driver *doctor_driver_by_name(const char *name)
{
	return strcmp(name, "mlx5_ib") == 0 ? &known[0] : &known[1];
}

const struct doctor_driver *doctor_driver_by_parent(const char *parent)
{
	return strcmp(parent, "mlx5_core") == 0 ? &known[0] : &known[1];
}

bool doctor_read_number(uint64_t *n, const char *path_format, ...)
{
	*n = (uint64_t)roce_tos;
	return strstr(path_format, "default_roce_tos") && roce_tos >= 0;
}

static void says(const char *wanted, const char *what)
{
	check_says(doctor_check_quality, wanted, what);
}

/* Priorities by DSCP as adapters have them at first: eight each; and PFC for these. */
static void answer(const char *of, unsigned int pfc)
{
	doctor_dcb_clear(&answered);
	answered.has_pfc = true;
	answered.pfc = (uint8_t)pfc;
	answered.mapped = DCB_DSCPS;
	for (unsigned int i = 0; i < DCB_DSCPS; i++)
		answered.priority[i] = (uint8_t)(i / 8);
	driver = of;
	fixed = trust = map = NULL;
	roce_tos = -1;
	refused = 0;
}

static void test_sentences(void)
{
	answer("mlx5_core", 0x08);
	says("note packets of programs that set no traffic class have priority 0, but only "
	     "priority "
	     "3 is protected from loss (PFC)|DCB of eth0: pfc_en 0x08|DCB: trust dscp, 64 DSCPs "
	     "have a "
	     "priority>set traffic class 96, DSCP 24: path.traffic_class, UCX_IB_TRAFFIC_CLASS, "
	     "NCCL_IB_TC",
	     "programs that set none");
#define UNSET                                                                                      \
	"note packets of programs that set no traffic class have priority 0, but only priority 3 " \
	"is protected from loss (PFC)|DCB of eth0: pfc_en 0x08|DCB: trust dscp, 64 DSCPs have a "  \
	"priority>set traffic class 96, DSCP 24: path.traffic_class, UCX_IB_TRAFFIC_CLASS, "       \
	"NCCL_IB_TC"
	roce_tos = 64;
	says(UNSET "note connections of rdma_cm have priority 2, which is not protected from loss "
		   "(PFC)|/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos: 64, DSCP 16"
		   ">as root: echo 96 >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos, "
		   "or in the program RDMA_OPTION_ID_TOS",
	     "a traffic class of rdma_cm that does not fit");
	roce_tos = 106;
	says(UNSET "ok connections of rdma_cm have priority 3, which is protected from loss (PFC)",
	     "one that does");
	roce_tos = 256;
	says(UNSET, "and a number that is none");
	roce_tos = 64;
	fixed = "Global tclass=106";
	says("ok packets of traffic class 106, DSCP 26, which the device uses for all queue pairs, "
	     "have "
	     "priority 3, which is protected from loss (PFC)|DCB of eth0: pfc_en 0x08|DCB: trust "
	     "dscp, 64 "
	     "DSCPs have a priority|/sys/class/infiniband/mlx5_0/tc/1/traffic_class: 106",
	     "a traffic class for all that fits");
	fixed = "Global tclass=128";
	says("WARN packets of traffic class 128, DSCP 32, which the device uses for all queue "
	     "pairs, have "
	     "priority 4, but only priority 3 is protected from loss (PFC)|DCB of eth0: pfc_en "
	     "0x08|DCB: "
	     "trust dscp, 64 DSCPs have a "
	     "priority|/sys/class/infiniband/mlx5_0/tc/1/traffic_class: "
	     "128>as root: echo 96 >/sys/class/infiniband/mlx5_0/tc/1/traffic_class # DSCP 24; a "
	     "class that a program sets does not count",
	     "one that does not");
	answer("bnxt_en", 0x08);
	says("ok priority 3 is protected from loss (PFC)|DCB of eth0: pfc_en 0x08|rdmaez-doctor "
	     "does not know which packets have it",
	     "a driver of which the trust is not known");
	answered.has_trust = answered.trusts_dscp = true;
	answered.priority[0] = DCB_NOT_KNOWN;
	says("ok priority 3 is protected from loss (PFC)|DCB of eth0: pfc_en 0x08|DCB: trust dscp, "
	     "64 DSCPs "
	     "have a priority|rdmaez-doctor does not know which packets have it",
	     "a DSCP that no row names");
	answer("mlx5_core", 0x01);
	answered.mapped = 0;
	says("ok packets without a VLAN tag have priority 0, which is protected from loss "
	     "(PFC)|DCB of "
	     "eth0: "
	     "pfc_en 0x01|DCB: trust pcp, 0 DSCPs have a priority",
	     "tags that decide");
	/* MLNX_OFED on old kernels: PFC by DCB, but trust and map in files; then no row of DCB says nothing. */
	answer("mlx5_core", 0x08);
	doctor_dcb_clear(&answered);
	answered.has_pfc = true;
	answered.pfc = 0x08;
	trust = "dscp";
	map = "dscp prio\n0 1\n26 3\n";
	says("note packets of programs that set no traffic class have priority 1, but only "
	     "priority 3 is protected from loss (PFC)|DCB of eth0: pfc_en "
	     "0x08|/sys/class/net/eth0/qos/trust: dscp|/sys/class/net/eth0/qos/dscp2prio: 2 DSCPs "
	     "have a priority>set traffic class 104, DSCP 26: path.traffic_class, "
	     "UCX_IB_TRAFFIC_CLASS, NCCL_IB_TC",
	     "a file that says what is trusted, beside DCB");
	trust = map = NULL;
	doctor_dcb_clear(&answered);
	refused = EOPNOTSUPP;
	says("", "a driver without DCB");
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
	test_sentences();
	tap_ok(true, "no answer that is cut is read beyond its end");
	return tap_done();
}
