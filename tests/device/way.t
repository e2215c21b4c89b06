#!/bin/bash
# SPDX-License-Identifier: MIT
#
# On a host with a VLAN a queue pair leaves by the interface that leads to its peer. The guest gets a VLAN on rxe's
# interface, and on it a neighbour that is the router to a peer whose prefix is nearer to the other address; then
# build/device/port is told which way leads where.
#
# Nightly: a minute; tests/unit has the choice with routes of the fake.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} --module 8021q -- tests/device/way.t here
fi
set -e

read -r netdev </sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0
vlan=$netdev.5
ip link add link "$netdev" name "$vlan" type vlan id 5
ip link set "$vlan" up
ip address add 10.5.5.1/24 dev "$vlan"
ip address add fd00:5::1/64 dev "$vlan" nodad
for peer in 10.5.5.2 fd00:5::2; do
	ip neighbour add "$peer" lladdr 02:00:5e:00:53:02 dev "$vlan"
done
ip route add 198.51.100.0/24 via 10.5.5.2
ip neighbour replace 192.0.2.9 lladdr 02:00:5e:00:53:09 dev "$netdev"

# The kernel fills its GID table some time after the address is there.
for ((try = 0; try < 100; try++)); do
	! cat /sys/class/infiniband/rxe0/ports/1/gids/* | grep -q '^fd00:0005' || break
	sleep 0.1
done
exec build/device/port ::ffff:192.0.2.9 "$netdev" ::ffff:10.5.5.2 "$vlan" ::ffff:198.51.100.9 "$vlan" \
	fd00:5::2 "$vlan" ::ffff:10.5.5.1 "$vlan"
