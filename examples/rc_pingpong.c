/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong over RC, with the stock ibv_rc_pingpong at the other end, or with itself.
 *
 * Build:  cc -std=c11 -Iinclude examples/rc_pingpong.c -libverbs -o rc_pingpong
 * Run:    ./rc_pingpong on one machine and ./rc_pingpong HOST on the other; without RDMA:
 *         tools/softroce sh -c './rc_pingpong & sleep 1; ./rc_pingpong localhost'
 *
 * The program itself is in pingpong.h.
 */
#define QPT IBV_QPT_RC
#include <rdmaez/implementation.h>

#include "pingpong.h"
