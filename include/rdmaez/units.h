/* SPDX-License-Identifier: MIT */
/**
 * @file units.h
 * @brief Arithmetic for the numbers that verbs encode: MTUs, ACK and RNR timers, PSNs.
 *
 * All functions are pure, except for rdmaez_psn_random().
 *
 * @par Threads
 * May be called from any thread.
 * @par Verbs calls
 * None.
 * @par Sources
 * verbs.h, and the parts of IBTA volume 1 that each function names.
 * @since rdmaez 0.1; rdma-core 33
 */
#ifndef RDMAEZ_UNITS_H
#define RDMAEZ_UNITS_H

#ifndef RDMAEZ_BASE_H
#include "base.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The largest packet sequence number: 24 bits. */
#define RDMAEZ_PSN_MAX 0xffffffu

/** @brief The largest queue pair number: 24 bits. */
#define RDMAEZ_QP_NUM_MAX 0xffffffu

/** @brief An infinite time in ns; as a timeout: no deadline. */
#define RDMAEZ_NS_FOREVER UINT64_MAX

/**
 * @brief As a timeout: look once and do not wait. A timeout of 0 is the default, which is 10 s everywhere.
 *
 * A call that takes the next event or request returns EAGAIN then if there is none, which is no failure. ETIMEDOUT means
 * that it has waited in vain.
 */
#define RDMAEZ_NS_NOW ((uint64_t)1)

/**
 * @brief Converts an MTU to bytes of payload per packet.
 * @param mtu an `enum ibv_mtu`
 * @return 256 to 4096, or 0 if @p mtu is none of the five values
 */
RDMAEZ_INLINE int rdmaez_mtu_bytes(enum ibv_mtu mtu);

/**
 * @brief Finds the largest MTU that fits into @p bytes, such as a network interface's MTU less the RoCE
 *        headers.
 * @param bytes room for the payload
 * @param mtu receives the MTU; written on success only
 * @return 0; EINVAL if @p bytes is less than 256, the smallest MTU, or @p mtu is NULL
 */
RDMAEZ_INLINE int rdmaez_mtu_from_bytes(int bytes, enum ibv_mtu *mtu);

/**
 * @brief Converts an ACK timeout code to the time a requester waits for an ACK before it retries.
 *
 * Source: IBTA volume 1, Local ACK Timeout: 4.096 us times 2 to the power of the code. Devices may wait
 * up to four times as long, and may round small codes up to their minimum.
 *
 * @param timeout the five-bit code of `ibv_qp_attr.timeout`
 * @return nanoseconds; 0 for codes above 31 and for code 0 (no timer, so a lost peer is never noticed)
 */
RDMAEZ_INLINE uint64_t rdmaez_timeout_ns(unsigned int timeout);

/**
 * @brief Finds the smallest ACK timeout code that waits at least @p ns.
 * @param ns nanoseconds
 * @return 1 to 31; 31 (2.4 hours) even if @p ns is longer than that; 0 (no timer) for #RDMAEZ_NS_FOREVER
 */
RDMAEZ_INLINE unsigned int rdmaez_timeout_from_ns(uint64_t ns);

/**
 * @brief Converts an RNR timer code to the time a responder without a posted receive asks its peer to wait.
 *
 * Source: IBTA volume 1, table of RNR NAK timer codes. Higher codes wait longer, except that code 0 is
 * the longest: 655.36 ms.
 *
 * @param min_rnr_timer the five-bit code of `ibv_qp_attr.min_rnr_timer`
 * @return nanoseconds; 0 above 31
 */
RDMAEZ_INLINE uint64_t rdmaez_rnr_timer_ns(unsigned int min_rnr_timer);

/**
 * @brief Finds the shortest RNR timer code that waits at least @p ns.
 * @param ns nanoseconds
 * @return 1 to 31, or 0 (655.36 ms) if @p ns is longer than the 491.52 ms of code 31
 */
RDMAEZ_INLINE unsigned int rdmaez_rnr_timer_from_ns(uint64_t ns);

/** @brief Bounds of a time. */
struct rdmaez_span_ns {
	uint64_t min; /**< at least this many ns; #RDMAEZ_NS_FOREVER: infinite */
	uint64_t max; /**< at most this many ns; #RDMAEZ_NS_FOREVER: may be infinite */
};

/**
 * @brief Computes how long a requester retries before it gives up on a silent peer with IBV_WC_RETRY_EXC_ERR.
 *
 * Source: IBTA volume 1, transport timer. A packet is sent once and retried @p retry_cnt times, and each time the
 * requester waits one to four times rdmaez_timeout_ns() for an ACK. Devices that round small codes up take longer.
 *
 * @param timeout `ibv_qp_attr.timeout`, 0 to 31
 * @param retry_cnt `ibv_qp_attr.retry_cnt`, 0 to 7; more counts as 7
 * @return the bounds. If @p timeout is 0 or above 31, no timer runs, and both are #RDMAEZ_NS_FOREVER
 */
RDMAEZ_INLINE struct rdmaez_span_ns rdmaez_give_up_ns(unsigned int timeout, unsigned int retry_cnt);

/**
 * @brief Computes how long a requester waits for a peer without a posted receive before it gives up with
 * IBV_WC_RNR_RETRY_EXC_ERR.
 *
 * Source: IBTA volume 1, RNR NAK. The requester waits at least as long as the peer's NAK says, up to @p rnr_retry
 * times.
 *
 * @param min_rnr_timer the peer's `ibv_qp_attr.min_rnr_timer`, 0 to 31
 * @param rnr_retry the requester's `ibv_qp_attr.rnr_retry`, 0 to 7; 7 and above retry forever
 * @return the minimum time in ns; 0 if it does not wait; #RDMAEZ_NS_FOREVER if it never gives up
 */
RDMAEZ_INLINE uint64_t rdmaez_rnr_give_up_ns(unsigned int min_rnr_timer, unsigned int rnr_retry);

/**
 * @brief Adds to a packet sequence number, modulo 2^24.
 * @param psn a packet sequence number; bits above 24 are ignored
 * @param packets how many packets later
 * @return 0 to #RDMAEZ_PSN_MAX
 */
RDMAEZ_INLINE uint32_t rdmaez_psn_add(uint32_t psn, uint32_t packets);

/**
 * @brief Subtracts packet sequence numbers, modulo 2^24.
 * @param psn a packet sequence number; bits above 24 are ignored
 * @param base the number to measure from
 * @return -0x800000 to 0x7fffff: negative if @p psn comes before @p base
 */
RDMAEZ_INLINE int32_t rdmaez_psn_diff(uint32_t psn, uint32_t base);

/**
 * @brief Draws a first packet sequence number at random, for `sq_psn`, and for the peer's `rq_psn`.
 *
 * Draw one for each connection. Late or repeated packets of a former queue pair with the same number then almost never
 * match. With equal PSNs, the new queue pair would accept them as its own. Send the number to the peer, because each
 * end must expect the PSN that the other sends.
 *
 * The number comes from getrandom(), without waiting. Early in the boot of a system, before getrandom() is ready, it
 * comes from the clock and an address. Do not use it as a secret.
 *
 * @return 0 to #RDMAEZ_PSN_MAX
 */
RDMAEZ_API uint32_t rdmaez_psn_random(void);

#ifdef __cplusplus
}
#endif

#include "impl/units.h"

#endif
