/* SPDX-License-Identifier: MIT */
/**
 * @file implementation.h
 * @brief The explanations. Include this header in one file of a program, after rdmaez.h or instead of it.
 *
 * All other files include rdmaez.h, or only those of its headers that they need. Without this header a program links,
 * and every call acts the same and returns the same errno value. It only loses words. One sentence that names this
 * header takes the place of every text, a record may lack findings, and functions that only explain, such as
 * rdmaez_qp_check() and rdmaez_qp_examine(), return EOPNOTSUPP.
 *
 * With `RDMAEZ_EXTERN` defined for all files, the file that includes this header has the bodies of all functions. There
 * it has to come before every other header of rdmaez.
 *
 * If your program uses cm.h, include cm.h before this header, or define `RDMAEZ_WITH_CM`. This header then also has the
 * explanations of librdmacm's calls and events. With `RDMAEZ_EXTERN` it has the bodies of cm.h, too.
 *
 * [One or many translation units](@ref including) has the figures.
 *
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_IMPLEMENTATION_H
#define RDMAEZ_IMPLEMENTATION_H

#if defined(RDMAEZ_EXTERN) && defined(RDMAEZ_BASE_H)
#error "with RDMAEZ_EXTERN, include rdmaez/implementation.h before the other headers of rdmaez"
#endif

#define RDMAEZ_IMPL_HERE
#include "../rdmaez.h"

#include "caps_table.h"
#include "caps.h"
#include "dm.h"
#include "dm_share.h"
#include "examine.h"
#include "handshake.h"
#include "multicast.h"
#include "port_caps.h"
/* cm.h needs librdmacm, which not every program has. */
#if defined(RDMAEZ_WITH_CM) || defined(RDMAEZ_CM_H)
#include "cm.h"
#define RDMAEZ_IMPL_CM
#endif

/* The bodies are hidden in the object, and weak, so that a second file that has them does no harm. */
#undef RDMAEZ_SEAM
#define RDMAEZ_SEAM __attribute__((__visibility__("hidden"), __cold__))

#include "explain/ah.h"
#include "explain/caps.h"
#ifdef RDMAEZ_IMPL_CM
#include "explain/cm.h"
#endif
#include "explain/cq_examine.h"
#include "explain/device.h"
#include "explain/diag.h"
#include "explain/dm.h"
#include "explain/endpoint.h"
#include "explain/exchange.h"
#include "explain/late.h"
#include "explain/mr.h"
#include "explain/multicast.h"
#include "explain/objects.h"
#include "explain/path.h"
#include "explain/port.h"
#include "explain/port_caps.h"
#include "explain/qp_check.h"
#include "explain/qp_create.h"
#include "explain/qp_examine.h"
#include "explain/refusal.h"
#include "explain/wc.h"
#include "explain/wc_explain.h"
#include "explain/why.h"
#include "explain/wr.h"

#endif
