/* SPDX-License-Identifier: MIT */
/* The machine without its ports: kernel modules, device nodes, the provider library, limits, namespaces. */
#include "doctor.h"

void doctor_check_modules(void)
{
	static const struct {
		const char *name;
		enum doctor_verdict missing;
		const char *use;
	} module[] = {
		{"ib_core", DOCTOR_FAILED, "the RDMA subsystem itself"},
		{"ib_uverbs", DOCTOR_FAILED, "programs reach RDMA devices through it"},
		{"rdma_cm", DOCTOR_WARNING, "connections by address, as rdma_connect() makes them"},
		{"rdma_ucm", DOCTOR_WARNING, "librdmacm reaches rdma_cm through it"},
	};
	size_t i;

	for (i = 0; i < sizeof(module) / sizeof(module[0]); i++) {
		if (doctor_exists("/sys/module/%s", module[i].name)) {
			doctor_say(DOCTOR_OK, module[i].name, "loaded");
			continue;
		}
		doctor_say(module[i].missing, module[i].name, "not loaded: %s", module[i].use);
		doctor_evidence("/sys/module/%s: no such directory", module[i].name);
		doctor_next("modprobe %s", module[i].name);
	}
}
