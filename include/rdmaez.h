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
#include "rdmaez/explain.h"
#include "rdmaez/units.h"
/* Level 2: pure knowledge. */
#include "rdmaez/str.h"
#include "rdmaez/gid.h"
#include "rdmaez/driver.h"
#include "rdmaez/qp_rules.h"
#include "rdmaez/path.h"
/* Level 3: ask. */
#include "rdmaez/port.h"
#include "rdmaez/qp_check.h"
/* Level 4: act. */
#include "rdmaez/qp.h"
#include "rdmaez/qp_create.h"
#include "rdmaez/mr.h"
#include "rdmaez/ah.h"
#include "rdmaez/wr.h"
#include "rdmaez/wc.h"
/* Level 6: write text. */
#include "rdmaez/fmt.h"

#endif
