#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two ends on two devices, connected by endpoints: data in both directions, an address of this end that goes before it
# connects, and one of the peer that comes while it does. The guest gets the addresses, and build/device/connect is told
# which they are.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- tests/device/connect.t here
fi
set -e

read -r mine </sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0
read -r other </sys/class/infiniband/rxe1/ports/1/gid_attrs/ndevs/0
ip address add 198.51.100.1/24 dev "$mine"
ip address add 198.51.100.2/24 dev "$other"
exec build/device/connect two 203.0.113.1 198.51.100.2 "$mine" "$other"
