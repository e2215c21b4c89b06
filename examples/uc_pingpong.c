/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong over UC, with the stock ibv_uc_pingpong at the other end, or with itself.
 *
 * Build:  cc -std=c11 -Iinclude examples/uc_pingpong.c -libverbs -o uc_pingpong
 * Run:    ./uc_pingpong on one machine and ./uc_pingpong HOST on the other; without RDMA:
 *         tools/softroce sh -c './uc_pingpong & sleep 1; ./uc_pingpong localhost'
 *
 * The program itself is in pingpong.h.
 */
#define QPT IBV_QPT_UC
#include <rdmaez/implementation.h>

#include "pingpong.h"
