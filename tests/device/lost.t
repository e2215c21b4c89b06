#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A peer that is not found, in six ways that all end in ETIMEDOUT: nobody answers; no route leads there, or one that
# prohibits it, or one into a black hole; the route starts from another GID of the port; it starts from an interface of
# another device. The guest gets the addresses and routes for that, and build/device/explain is told what to find.
#
# Nightly: a minute; tests/unit/ah.c has the same answers of the fake.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/lost.t here
fi
set -e

read -r mine </sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0
read -r other </sys/class/infiniband/rxe1/ports/1/gid_attrs/ndevs/0
ip address add 198.51.100.1/24 dev "$mine"
ip address add 203.0.113.1/24 dev "$other"
ip route add prohibit 10.98.0.0/24
ip route add blackhole 10.97.0.0/24

# The kernel fills its GID table some time after the address is there: 198.51.100.1.
for ((try = 0; try < 100; try++)); do
	! cat /sys/class/infiniband/rxe0/ports/1/gids/* | grep -q 'ffff:c633:6401' || break
	sleep 0.1
done
exec build/device/explain ::ffff:192.0.2.77 NEIGHBOUR - ::ffff:10.99.0.1 NO_ROUTE - \
	::ffff:10.98.0.1 NO_ROUTE - ::ffff:10.97.0.1 NO_ROUTE - \
	::ffff:198.51.100.9 GID_BY_ROUTE ::ffff:198.51.100.1 ::ffff:203.0.113.9 ROUTE_ELSEWHERE -
