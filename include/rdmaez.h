/* SPDX-License-Identifier: MIT */
/**
 * @file rdmaez.h
 * @brief All of rdmaez in one include.
 *
 * @mainpage rdmaez
 *
 * C11 helpers that make libibverbs pleasant to use without hiding it. Include `<rdmaez.h>`, or only the
 * header you need, and link with `-libverbs`. There is nothing else to link, nothing to initialise, and no
 * object that replaces a verbs object.
 *
 * rdmaez allocates nothing, keeps no state, starts no threads, and stays out of the data path except to
 * explain why it failed.
 *
 * @par Every function
 * that can fail returns 0 or a positive errno value and writes its outputs only on success. Options left
 * at zero mean good defaults, and the explanation record may be NULL.
 *
 * @par An RC queue pair, connected over a socket
 * @code
 * struct rdmaez_simple simple;
 * int error = rdmaez_simple_open(NULL, NULL, &simple, &diag);
 * if (!error)
 *         error = rdmaez_exchange_connect(tcp, simple.qp, NULL, NULL, NULL, &diag);
 * @endcode
 *
 * @par Where to go
 * - [Connecting](@ref connecting): two ends, or many, from the device to the end; simple.h, endpoint.h, connect.h,
 *   exchange.h, drain.h.
 * - [Queue pairs](@ref queue_pairs): options, defaults and attributes; qp.h moves queue pairs, or checks first
 *   whether they would move; qp_rules.h knows what Linux accepts.
 * - port.h queries a port and chooses a GID index.
 * - [Capabilities](@ref capabilities): what a device and its ports can do; caps.h, port_caps.h.
 * - [Device memory](@ref device_memory): dm.h, sharing it, and emulating it where there is none.
 * - [Explanations](@ref explanations): why a call failed, and how certain that is;
 *   [all reasons](@ref rdmaez_why).
 * - [Completions and events](@ref completions).
 * - [Two ways to include](@ref including): the bodies in every file, or in one.
 * - [JSON for other languages](@ref data): what the headers know, for Python, Rust or Go.
 * - [The Soft-RoCE machine](@ref softroce), if you have no RDMA hardware.
 * - [How it is built](@ref design), if you want to change the code.
 */
#if defined(RDMAEZ_IMPLEMENTATION) && defined(RDMAEZ_IMPL_BODIES)
#if !RDMAEZ_IMPL_BODIES
#error "define RDMAEZ_IMPLEMENTATION before the first include of rdmaez"
#endif
#endif

#ifndef RDMAEZ_H
#define RDMAEZ_H

#include "rdmaez/version.h"
#include "rdmaez/base.h"
#include "rdmaez/why.h"
#include "rdmaez/diag.h"
#include "rdmaez/units.h"
#include "rdmaez/str.h"
#include "rdmaez/gid.h"
#include "rdmaez/driver.h"
#include "rdmaez/device.h"
#include "rdmaez/path.h"
#include "rdmaez/port.h"
#include "rdmaez/qp_rules.h"
#include "rdmaez/qp.h"
#include "rdmaez/objects.h"
#include "rdmaez/qp_create.h"
#include "rdmaez/mr.h"
#include "rdmaez/ah.h"
#include "rdmaez/wr.h"
#include "rdmaez/wc.h"
#include "rdmaez/endpoint.h"
#include "rdmaez/connect.h"
#include "rdmaez/exchange.h"
#include "rdmaez/drain.h"
#include "rdmaez/simple.h"
#include "rdmaez/caps_table.h"
#include "rdmaez/caps.h"
#include "rdmaez/port_caps.h"
#include "rdmaez/dm.h"
#include "rdmaez/dm_token.h"
#include "rdmaez/dm_share.h"
#include "rdmaez/fmt.h"

#endif
