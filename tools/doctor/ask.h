/* SPDX-License-Identifier: MIT */
/* rdmaez-doctor --peer: the probes, at the end that asks for them. */
#ifndef RDMAEZ_DOCTOR_ASK_H
#define RDMAEZ_DOCTOR_ASK_H

#include "session.h"

/* Makes all probes, and says what came of them. */
void ask_for_probes(struct session *s);

#endif
