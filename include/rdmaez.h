/* SPDX-License-Identifier: MIT */
/**
 * @file rdmaez.h
 * @brief All of rdmaez in one include.
 *
 * Each header below is usable alone; the levels are those of docs/design.md.
 */
#ifndef RDMAEZ_H
#define RDMAEZ_H

/* Level 0: which rdmaez, which verbs. */
#include "rdmaez/version.h"
#include "rdmaez/base.h"
/* Level 1: explanations and arithmetic. */
#include "rdmaez/diag.h"
#include "rdmaez/units.h"
/* Level 2: pure knowledge. */
#include "rdmaez/str.h"
#include "rdmaez/gid.h"
#include "rdmaez/qp_rules.h"
#include "rdmaez/path.h"
/* Level 3: ask. */
#include "rdmaez/port.h"
/* Level 4: act. */
#include "rdmaez/qp.h"
/* Level 6: write text. */
#include "rdmaez/fmt.h"

#endif
