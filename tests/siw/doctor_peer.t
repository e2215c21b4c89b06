#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor --peer over iWARP, whose GIDs are no addresses and whose queue pairs only rdma_cm connects.

cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --host qemu --driver siw --devices 2 ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/siw/doctor_peer.t here
fi
source tests/tap.bash
source tests/tools/doctor_peer.bash

route_apart_first
apart
"$doctor" --listen 2>"$scratch/listening" >/dev/null &
listener=$!
until [[ -s $scratch/listening ]]; do sleep 0.02; done

ok 'all is well, as far as can be tried' says 0 \
	'ok   path veth0: the route to 192.0.2.2 leaves here, from 192.0.2.1' \
	'ok   path siw0/1: the route leaves by its interface veth0' \
	'ok   probe siw0/1: the MTU is 1024 at both ends, that of the interfaces 1500' \
	'note probe siw0/1: iWARP connects by rdma_cm alone: no data was tried' \
	'rdmaez-doctor: 0 failed, 0 warnings, 1 note, 6 ok' -- --peer 192.0.2.2
fails 'another interface would be noticed' 'wanted: ok   path siw0/1: the route leaves by its interface veth1' says 0 \
	'ok   path siw0/1: the route leaves by its interface veth1' -- --peer 192.0.2.2 --only path

# It is no test: what it ends with must not count as one.
kill "$listener"
wait "$listener" 2>/dev/null || :
done_testing
