#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The examples that bring up queue pairs by themselves, on iWARP, where the connection manager does that: they end at once,
# and say so. examples/cm works there: cm.t. Needs build/examples; runs itself again on the machine, with siw.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu --driver siw ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/siw/examples.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/device/listener.bash
source tests/device/listener.bash

iwarp='Likely, qp_state: on iWARP the connection manager makes the transitions. Next: connect with librdmacm.'

# says TEXT COMMAND...: it fails, and says this, on however many lines.
says() {
	local code=0
	timeout 300 "${@:2}" >"$scratch/out" 2>&1 || code=$?
	cat "$scratch/out"
	((code == 1))
	tr -s ' \n' ' ' <"$scratch/out" | grep -F -- "$1"
}

# client SERVER PORT COMMAND...: with a server that says the same, and goes on.
client() {
	local pid
	timeout 300 "$1" >"$scratch/server" 2>&1 &
	pid=$!
	await_tcp_listener "$pid" "$2"
	says "$iwarp" "${@:3}"
	while kill -0 "$pid" && ! tr -s ' \n' ' ' <"$scratch/server" | grep -F "$iwarp"; do pause 0.1; done
	kill "$pid"
}

port=$(sed -n 's/.* service\[\] = "\(.*\)";/\1/p' examples/06_server.c)
ok 'an all-to-all' says "$iwarp" build/examples/alltoall
ok 'a wrapper in C++' says "$iwarp" build/examples/raii
ok 'a server and its client' client build/examples/06_server "$port" build/examples/06_server localhost key
# siw takes no receive without a buffer, which a log that goes by immediates posts first.
ok 'a log' says 'num_sge: the value is out of range. Given: 0; accepted: 1.' build/examples/replicate "$scratch/copy"
ok 'a group, of which iWARP has none' \
	says 'qp_type: the device has no queue pairs of this type. Given: UD (4).' build/examples/multicast 239.1.2.3
done_testing
