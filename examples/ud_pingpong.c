/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong over UD, with the stock ibv_ud_pingpong at the other end, or with itself.
 *
 * Build:  cc -std=c11 -Iinclude examples/ud_pingpong.c -libverbs -o ud_pingpong
 * Run:    ./ud_pingpong on one machine and ./ud_pingpong HOST on the other; without RDMA:
 *         tools/softroce sh -c './ud_pingpong & sleep 1; ./ud_pingpong localhost'
 *
 * The program itself is in pingpong.h.
 */
#define QPT IBV_QPT_UD
#include <rdmaez/implementation.h>

#include "pingpong.h"
