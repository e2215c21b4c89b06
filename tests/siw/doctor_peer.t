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
source tests/certify.bash

route_apart_first
apart
"$doctor" --listen 2>"$scratch/listening" >/dev/null &
listener=$!
until [[ -s $scratch/listening ]]; do sleep 0.02; done

ok 'all is well, as far as can be tried' says 0 \
	'ok   path veth0: the route to 192.0.2.2 leaves here, from 192.0.2.1' \
	'ok   path siw0/1: the route leaves by its interface veth0' \
	'ok   probe siw0/1: the MTU is 1024 at both ends, and that of the interfaces is 1500' \
	'note probe siw0/1: iWARP connects only by rdma_cm, so no data was tried' \
	'rdmaez-doctor: 0 failed, 0 warnings, 1 note, 6 ok' -- --peer 192.0.2.2
fails 'another interface would be noticed' 'wanted: ok   path siw0/1: the route leaves by its interface veth1' says 0 \
	'ok   path siw0/1: the route leaves by its interface veth1' -- --peer 192.0.2.2 --only path

# Without rdma_cm there is little to try, and no data.
certifies() {
	install -d -m 777 /tmp/certify
	setpriv --reuid 65534 --regid 65534 --clear-groups "$doctor" --certify=/tmp/certify/siw.json siw0
	[[ $(results /tmp/certify/siw.json) == *', fail 0, '* ]]
	is_private /tmp/certify/siw.json
	follows_schema /tmp/certify/siw.json
	is_recorded_kernel || return 0
	[[ $(results /tmp/certify/siw.json) == 'pass 20, fail 0, not offered 7, not tried 8' ]]
	diff <(steps /tmp/certify/siw.json 'not offered') - <<-END
		device: read the P_Keys
		objects: open an XRC domain
		UC: create a queue pair
		UD: create a queue pair
		XRC_SEND: create a queue pair
		XRC_RECV: create a queue pair
		device memory: allocate 64 bytes
	END
	same_steps docs/verified/siw.json /tmp/certify/siw.json
}

# The file has how the way to the peer was, and not where it is.
certifies_peer() {
	"$doctor" --certify=/tmp/certify/peer.json --peer 192.0.2.2 siw0
	[[ $(jq -c '.steps[-2:][]' /tmp/certify/peer.json) == '{"result":"pass","group":"second host","step":"path","detail":"0 failed, 0 warnings, 0 notes, 4 ok"}
{"result":"pass","group":"second host","step":"probe","detail":"0 failed, 0 warnings, 1 notes, 2 ok"}' ]]
	is_private /tmp/certify/peer.json
	follows_schema /tmp/certify/peer.json
}

ok 'what siw does, by --certify' certifies
ok 'the same with a peer' certifies_peer

# It is no test: what it ends with must not count as one.
kill "$listener"
wait "$listener" 2>/dev/null || :
done_testing
