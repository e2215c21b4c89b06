/* SPDX-License-Identifier: MIT */
/**
 * @file rdmaez.h
 * @brief All of rdmaez in one include.
 *
 * @mainpage rdmaez
 *
 * Helpers in C11 that make libibverbs pleasant to use without hiding it. Include `<rdmaez.h>`, or the one
 * header that is needed, and link with `-libverbs`: there is nothing else to link, nothing to initialise,
 * and no object that replaces a verbs object.
 *
 * rdmaez owns, allocates and remembers nothing, starts no threads, and stays out of the data path
 * except to explain why it failed.
 *
 * @par Every function
 * returns 0 or a positive errno value, writes its outputs completely and only on success, and takes
 * options whose zero is a good default and a record that may be NULL.
 *
 * @par An RC queue pair, from RESET to RTS
 * @code
 * opts.dest_qp_num = peer.qp_num;
 * opts.path.dgid = peer.gid;
 * error = rdmaez_qp_to_init(qp, &opts, &diag);
 * if (!error)
 *         error = rdmaez_qp_to_rtr(qp, &opts, &diag);
 * if (!error)
 *         error = rdmaez_qp_to_rts(qp, &opts, &diag);
 * @endcode
 *
 * @par Where to go
 * - qp.h moves queue pairs, or asks first whether they would move; qp_rules.h knows what Linux accepts.
 * - port.h queries a port and chooses a GID index.
 * - [Capabilities](@ref capabilities): what a device and its ports can do; caps.h, port_caps.h.
 * - [Device memory](@ref device_memory): dm.h, sharing it, and emulating it where there is none.
 * - [Explanations](@ref explanations): what is said about a refusal, and how certain it is;
 *   [all reasons](@ref rdmaez_why).
 * - [Completions and events](@ref completions).
 * - [Two ways to include](@ref including): in every file, or once for a program of many files.
 * - [JSON for other languages](@ref data): what the headers know, for Python, Rust or Go.
 * - [The Soft-RoCE machine](@ref softroce), if you have no RDMA hardware.
 * - [How it is built](@ref design), if you want to change the code.
 */
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
#include "rdmaez/path.h"
#include "rdmaez/port.h"
#include "rdmaez/qp_rules.h"
#include "rdmaez/qp.h"
#include "rdmaez/qp_create.h"
#include "rdmaez/mr.h"
#include "rdmaez/ah.h"
#include "rdmaez/wr.h"
#include "rdmaez/wc.h"
#include "rdmaez/caps_table.h"
#include "rdmaez/caps.h"
#include "rdmaez/port_caps.h"
#include "rdmaez/dm.h"
#include "rdmaez/dm_token.h"
#include "rdmaez/dm_share.h"
#include "rdmaez/fmt.h"

#endif
