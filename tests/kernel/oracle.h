/* SPDX-License-Identifier: MIT */
/*
 * The masks of a transition, in the order in which the module rdmaez_oracle asks about them and the program oracle
 * compares. The lower 21 bits of a mask's number are the attributes that follow each other, those above are the others.
 */
#ifndef ORACLE_H
#define ORACLE_H

#define ORACLE_BITS 22

/* The mask of a number; `prefix` is IBV_QP, or IB_QP in the kernel. */
#define ORACLE_MASK(prefix, number) \
	(((number) & ((1 << 21) - 1)) | ((number) >> 21 & 1 ? prefix##_RATE_LIMIT : 0))

#endif
