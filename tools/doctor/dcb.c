/* SPDX-License-Identifier: MIT */
/* Data center bridging by netlink: dcbnl_ieee_fill() of the kernel's net/dcb/dcbnl.c writes what is read here. */
#include "dcb.h"
#include "nldev.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	DSCP_SELECTOR = 5,     /* IEEE_8021QAZ_APP_SEL_DSCP, Linux 4.8 */
	TRUST_TABLE = 11,      /* DCB_ATTR_DCB_APP_TRUST_TABLE, Linux 6.3 */
	TRUST_ENTRY = 1,       /* DCB_ATTR_DCB_APP_TRUST */
	ANSWER_BYTES = 1 << 16 /* 64 DSCPs, and the peer's part */
};

void doctor_dcb_clear(struct doctor_dcb *dcb)
{
	memset(dcb, 0, sizeof(*dcb));
	memset(dcb->priority, DCB_NOT_KNOWN, sizeof(dcb->priority));
}

/* Of two rows for one DSCP the kernel's functions take the greater priority. */
static void take_app(struct nldev_span row, void *data)
{
	struct doctor_dcb *const dcb = (struct doctor_dcb *)data;
	struct dcb_app app;
	uint8_t *priority;

	if (row.length < sizeof(app))
		return;
	memcpy(&app, row.at, sizeof(app));
	if (app.selector != DSCP_SELECTOR || app.protocol >= DCB_DSCPS || app.priority > 7)
		return;
	priority = &dcb->priority[app.protocol];
	if (*priority == DCB_NOT_KNOWN)
		dcb->mapped++;
	else if (*priority > app.priority)
		return;
	*priority = app.priority;
}

static void take_trust(struct nldev_span selector, void *data)
{
	if (selector.length && selector.at[0] == DSCP_SELECTOR)
		((struct doctor_dcb *)data)->trusts_dscp = true;
}

static void take_ieee(struct nldev_span ieee, struct doctor_dcb *dcb)
{
	struct nldev_span found;
	struct ieee_pfc pfc;

	if (nldev_find(ieee, DCB_ATTR_IEEE_PFC, &found) && found.length >= sizeof(pfc)) {
		memcpy(&pfc, found.at, sizeof(pfc));
		dcb->has_pfc = true;
		dcb->pfc = pfc.pfc_en;
	}
	nldev_each(ieee, DCB_ATTR_IEEE_APP_TABLE, DCB_ATTR_IEEE_APP, take_app, dcb);
	dcb->has_trust = nldev_find(ieee, TRUST_TABLE, &found);
	nldev_each(ieee, TRUST_TABLE, TRUST_ENTRY, take_trust, dcb);
}

int doctor_dcb_parse(const void *answer, size_t size, struct doctor_dcb *dcb)
{
	const size_t body = sizeof(struct nlmsghdr) + sizeof(struct dcbmsg);
	struct nldev_span all, ieee;
	struct nlmsghdr head;
	int error;

	doctor_dcb_clear(dcb);
	if (size < sizeof(head))
		return EPROTO;
	memcpy(&head, answer, sizeof(head));
	if (head.nlmsg_len > size)
		return EPROTO;
	if (head.nlmsg_type == NLMSG_ERROR && head.nlmsg_len >= sizeof(head) + sizeof(error)) {
		memcpy(&error, (const char *)answer + sizeof(head), sizeof(error));
		return error ? -error : EPROTO;
	}
	if (head.nlmsg_type != RTM_GETDCB || head.nlmsg_len < body)
		return EPROTO;
	all.at = (const unsigned char *)answer + body;
	all.length = head.nlmsg_len - body;
	if (nldev_find(all, DCB_ATTR_IEEE, &ieee))
		take_ieee(ieee, dcb);
	return 0;
}

int doctor_dcb_ask(const char *netdev, struct doctor_dcb *dcb)
{
	static char answer[ANSWER_BYTES];
	const struct timeval patience = {.tv_sec = 1, .tv_usec = 0};
	struct {
		struct nlmsghdr head;
		struct dcbmsg body;
		struct nlattr attribute;
		char name[IF_NAMESIZE];
	} question;
	ssize_t n = -1;
	int fd, error;

	doctor_dcb_clear(dcb);
	memset(&question, 0, sizeof(question));
	question.head.nlmsg_len = sizeof(question);
	question.head.nlmsg_type = RTM_GETDCB;
	question.head.nlmsg_flags = NLM_F_REQUEST;
	question.body.cmd = DCB_CMD_IEEE_GET;
	question.attribute.nla_type = DCB_ATTR_IFNAME;
	question.attribute.nla_len = (__u16)(sizeof(question.attribute) + sizeof(question.name));
	snprintf(question.name, sizeof(question.name), "%s", netdev);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, &question, sizeof(question), 0) == (ssize_t)sizeof(question))
		n = recv(fd, answer, sizeof(answer), 0);
	error = n < 0 ? errno : doctor_dcb_parse(answer, (size_t)n, dcb);
	close(fd);
	return error;
}
