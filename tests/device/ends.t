#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What happens to a connection between two devices, and what this end gets to know of it: see tests/device/ends.c.
#
# Nightly: a minute; tests/device/connect.t brings up two ends as well.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	(($# > 0)) || set -- rough break gid kill stop stranger late churn=200
	exec tools/softroce --quiet --timeout 0 --host qemu --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} \
		--module sch_netem -- tests/device/ends.t here "$@"
fi
shift

# Between the two, packets to global IPv6 addresses get lost; link-local ones are left for when there is no IPv4.
for netdev in veth0 veth1; do
	ip -6 address flush dev "$netdev" scope global
done
exec build/device/ends "$@"
