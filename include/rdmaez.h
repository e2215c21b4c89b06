/* SPDX-License-Identifier: MIT */
/**
 * @file rdmaez.h
 * @brief All of rdmaez in one include, in the order in which to learn it.
 *
 * One file of a program also includes implementation.h, which has the explanations: the texts, and why a call failed.
 * Without it everything works, and is explained in one sentence.
 *
 * Link with `-libverbs`. There is nothing else to link and nothing to initialise, and no object replaces a verbs
 * object. A function that can fail returns 0 or a positive errno value and writes its outputs only on success. An
 * option left at zero means a good default, and the record that takes the explanation may be NULL.
 *
 * simple.h and exchange.h are the short way to two connected queue pairs, qp.h moves one step by step, why.h
 * lists the reasons that an explanation may give. Including only the headers that a file needs compiles faster.
 *
 * One file of a program includes implementation.h as well, which has the explanations.
 *
 * Some headers are for what few files of a program do, and are included by name after this one: caps.h and port_caps.h
 * for what a device can do, dm.h and dm_share.h for device memory, handshake.h to serve many peers in one thread,
 * multicast.h, examine.h and cm.h.
 */
#ifndef RDMAEZ_H
#define RDMAEZ_H

/* Foundations */
#include "rdmaez/version.h"
#include "rdmaez/base.h"
#include "rdmaez/str.h"
#include "rdmaez/why.h"
#include "rdmaez/diag.h"
#include "rdmaez/units.h"

/* Devices, ports and paths */
#include "rdmaez/gid.h"
#include "rdmaez/driver.h"
#include "rdmaez/device.h"
#include "rdmaez/path.h"
#include "rdmaez/port.h"

/* Moving queue pairs */
#include "rdmaez/qp_rules.h"
#include "rdmaez/qp.h"

/* Creating and posting */
#include "rdmaez/objects.h"
#include "rdmaez/qp_create.h"
#include "rdmaez/mr.h"
#include "rdmaez/wr.h"
#include "rdmaez/credit.h"
#include "rdmaez/wc.h"
#include "rdmaez/event.h"
#include "rdmaez/cq.h"
#include "rdmaez/ah.h"

/* Connecting two ends */
#include "rdmaez/endpoint.h"
#include "rdmaez/connect.h"
#include "rdmaez/exchange.h"
#include "rdmaez/drain.h"
#include "rdmaez/simple.h"

/* Text and JSON */
#include "rdmaez/fmt.h"

#endif
