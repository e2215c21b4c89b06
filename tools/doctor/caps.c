/* SPDX-License-Identifier: MIT */
/* What devices can do of that which programs ask for at start: one line each, for comparison. */
#include "port.h"

#include <rdmaez.h>
#include <rdmaez/caps.h>
#include <rdmaez/port_caps.h>

#include <stdio.h>
#include <string.h>

/* Appends "what: value" of a field, "what: no" or "what: unknown". */
static void add(char *text, size_t size, const struct rdmaez_caps *caps, unsigned int id,
		const char *what)
{
	const struct rdmaez_caps_table table = rdmaez_caps_fields(caps);
	const enum rdmaez_answer answer = rdmaez_caps_answer(table, id);
	const size_t at = strlen(text);
	struct rdmaez_caps_item item;
	char value[128] = "unknown";

	if (answer == RDMAEZ_ANSWER_NO)
		snprintf(value, sizeof(value), "no");
	else if (answer == RDMAEZ_ANSWER_YES && !rdmaez_caps_get(table, id, &item))
		rdmaez_caps_item_format(&item, value, sizeof(value));
	snprintf(text + at, size - at, "%s%s: %s", at ? "; " : "", what, value);
}

static void check_device(const char *device, struct ibv_context *context)
{
	struct rdmaez_caps caps;
	char text[512] = "";

	if (rdmaez_caps_query(context, &caps, NULL))
		return;
	add(text, sizeof(text), &caps, RDMAEZ_CAPS_RC_ODP_CAPS, "on-demand paging (RC)");
	add(text, sizeof(text), &caps, RDMAEZ_CAPS_MAX_DM_SIZE, "device memory");
	add(text, sizeof(text), &caps, RDMAEZ_CAPS_ATOMIC_CAP, "atomics");
	add(text, sizeof(text), &caps, RDMAEZ_CAPS_MW_TYPE_2B, "memory windows of type 2B");
	add(text, sizeof(text), &caps, RDMAEZ_CAPS_MAX_SRQ, "SRQs");
	add(text, sizeof(text), &caps, RDMAEZ_CAPS_MAX_QP_RD_ATOM, "READs at once");
	add(text, sizeof(text), &caps, RDMAEZ_CAPS_HCA_CORE_CLOCK, "timestamps");
	doctor_say(DOCTOR_NOTE, device, "%s", text);
	doctor_evidence("ibv_query_device_ex, firmware %s", caps.device.fw_ver);
}

void doctor_check_caps(void)
{
	struct ibv_context *context;
	unsigned int i;

	for (i = 0; i < doctor_device_count(); i++) {
		context = doctor_open(doctor_device(i));
		if (!context)
			continue;
		doctor_step("asking %s for its capabilities", doctor_device(i));
		check_device(doctor_device(i), context);
		ibv_close_device(context);
	}
}
