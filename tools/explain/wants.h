/* SPDX-License-Identifier: MIT */
/* In the launcher: versions of symbols that a program or its libraries want, and libraries of RDMA do not have. */
#ifndef RDMAEZ_EXPLAIN_WANTS_H
#define RDMAEZ_EXPLAIN_WANTS_H

/*
 * After the command has ended without a trace of it: the dynamic linker starts no program whose libraries lack a version,
 * and names the version alone. Says which release of rdma-core has it. Returns how many are missing.
 */
unsigned int explain_tell_wants(const char *command);

#endif
