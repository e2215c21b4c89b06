/* SPDX-License-Identifier: MIT */
/* Counters by which losses on the way to a peer show: their growth at both ends, of which the peer's comes as text. */
#include "probe.h"

#include "doctor.h"

#include <stdio.h>
#include <string.h>

/* Each tells of packets that were lost, damaged or sent again; from whose driver, see docs/doctor.md. */
static const struct {
	const char *name;
	enum probe_sign sign;
} counters[] = {
	{"hw_counters/out_of_sequence", PROBE_LOSS},
	{"hw_counters/out_of_seq_request", PROBE_LOSS},
	{"hw_counters/oos_drop_count", PROBE_LOSS},
	{"hw_counters/packet_seq_err", PROBE_LOSS},
	{"hw_counters/rcvd_seq_err", PROBE_LOSS},
	{"hw_counters/seq_err_naks_rcvd", PROBE_LOSS},
	{"hw_counters/implied_nak_seq_err", PROBE_LOSS},
	{"hw_counters/local_ack_timeout_err", PROBE_LATE},
	{"hw_counters/completer_retry_err", PROBE_LATE},
	{"hw_counters/to_retransmits", PROBE_LATE},
	{"hw_counters/roce_adp_retrans", PROBE_LATE},
	{"hw_counters/duplicate_request", PROBE_TWICE},
	{"hw_counters/dup_req", PROBE_TWICE},
	{"hw_counters/rx_icrc_encapsulated", PROBE_LOSS},
	{"hw_counters/retry_exceeded_err", PROBE_LATE},
	{"hw_counters/req_transport_retries_exceeded", PROBE_LATE},
	{"hw_counters/max_retry_exceeded", PROBE_LATE},
	{"hw_counters/rx_drops", PROBE_LOSS},
	{"hw_counters/retrans_pkts", PROBE_LATE},
	{"counters/port_rcv_errors", PROBE_LOSS},
	{"counters/port_xmit_discards", PROBE_LOSS},
	{"counters/symbol_error", PROBE_LOSS},
};

_Static_assert(sizeof(counters) / sizeof(counters[0]) <= PROBE_COUNTERS, "there is room");
#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

void probe_count(const struct rdma_port *port, struct probe_counters *found)
{
	for (size_t i = 0; i < COUNTERS; i++)
		if (!doctor_read_number(&found->value[i], "/sys/class/infiniband/%s/ports/%u/%s",
					port->device, port->port, counters[i].name))
			found->value[i] = 0;
}

size_t probe_growth(const struct probe_counters *before, const struct probe_counters *after,
		    char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < COUNTERS; i++) {
		const char *const name = strchr(counters[i].name, '/') + 1;

		if (after->value[i] > before->value[i] && at + strlen(name) + 32 < size)
			at += (size_t)snprintf(
				text + at, size - at, "%s%s +%llu", at ? ", " : "", name,
				(unsigned long long)(after->value[i] - before->value[i]));
	}
	return at;
}

/*
 * The length of a counter's name where `text` begins with what probe_growth() writes of one, "dup_req +3"; 0: it does
 * not. `whole` is how much of the text that is.
 */
static size_t counter_at(const char *text, size_t *whole)
{
	static const char digits[] = "0123456789", name[] = "0123456789_abcdefghijklmnopqrstuvwxyz";
	const size_t length = strspn(text, name);
	const size_t count =
		strncmp(text + length, " +", 2) == 0 ? strspn(text + length + 2, digits) : 0;

	*whole = length + 2 + count;
	return count && (!text[*whole] || strncmp(text + *whole, ", ", 2) == 0) ? length : 0;
}

bool probe_is_growth(const char *growth)
{
	size_t whole;

	for (; counter_at(growth, &whole); growth += whole + 2)
		if (!growth[whole])
			return true;
	return false;
}

unsigned int probe_signs(const char *growth)
{
	unsigned int signs = 0;
	size_t length, whole;

	while ((length = counter_at(growth, &whole)) != 0) {
		for (size_t i = 0; i < COUNTERS; i++) {
			const char *const name = strchr(counters[i].name, '/') + 1;

			if (strlen(name) == length && !strncmp(growth, name, length))
				signs |= counters[i].sign;
		}
		growth += whole + (growth[whole] ? 2 : 0);
	}
	return signs;
}
