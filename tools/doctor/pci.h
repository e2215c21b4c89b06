/* SPDX-License-Identifier: MIT */
/*
 * rdmaez-doctor: PCI devices, RDMA devices and GPUs, below --root.
 */
#ifndef RDMAEZ_DOCTOR_PCI_H
#define RDMAEZ_DOCTOR_PCI_H

#include "doctor.h"

enum {
	PCI_VENDOR_AMD = 0x1002,
	PCI_VENDOR_NVIDIA = 0x10de
};

struct doctor_gpu {
	char address[16]; /* "0000:3b:00.0" */
	unsigned int vendor;
};

/* The GPUs of NVIDIA and AMD. *gpus lives as long as the check. */
unsigned int doctor_gpus(const struct doctor_gpu **gpus);

/* Whether this is a virtual machine, which has the PCI devices that it is given. */
bool doctor_is_virtual(void);

#endif
