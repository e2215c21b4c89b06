/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor: priorities of an Ethernet port, as the kernel's data center bridging (DCB) has them. */
#ifndef RDMAEZ_DOCTOR_DCB_H
#define RDMAEZ_DOCTOR_DCB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DCB_DSCPS = 64,
	DCB_NOT_KNOWN = 0xff
};

struct doctor_dcb {
	bool has_pfc;
	uint8_t pfc; /* bit n: priority n is paused, and so loses nothing */
	/* What decides which priority a packet has: its DSCP, or else the tag of its VLAN. */
	bool has_trust, trusts_dscp;
	unsigned int mapped; /* how many DSCPs have a priority */
	uint8_t priority[DCB_DSCPS];
};

/* Nothing is known. */
void doctor_dcb_clear(struct doctor_dcb *dcb);
/* What RTM_GETDCB answers to DCB_CMD_IEEE_GET. Returns 0 or an errno value; what is missing stays open. */
int doctor_dcb_parse(const void *answer, size_t size, struct doctor_dcb *dcb);
/* Asks the kernel, which tells everybody. EOPNOTSUPP: the driver has no DCB. */
int doctor_dcb_ask(const char *netdev, struct doctor_dcb *dcb);

#endif
