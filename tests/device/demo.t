#!/bin/bash
# SPDX-License-Identifier: MIT
#
# examples/demo, as `make demo` runs it: it ends well, shows traffic while it happens, three mistakes, and no line that a
# narrow terminal would break. Needs build/examples; runs itself again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --env RDMAEZ_NIGHTLY ${RDMAEZ_KERNEL:+--host qemu --kernel "$RDMAEZ_KERNEL"} -- tests/device/demo.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

# stamped COMMAND...: what it prints, each line with the second at which it came, goes to $scratch/shown; its
# end is shown where that fails.
stamped() {
	"$@" </dev/null 2>&1 | while IFS= read -r line; do
		printf '%s %s\n' "$EPOCHREALTIME" "$line"
	done >"$scratch/shown" || { tail "$scratch/shown"; return 1; }
}

runs() {
	stamped examples/demo
	grep -q ' --- Done in [0-9]* s\. ' "$scratch/shown"
}

narrow() {
	cut -d ' ' -f 2- "$1" >"$scratch/lines"
	(($(wc -l <"$scratch/lines") > 60))
	! grep -E '^.{101}' "$scratch/lines"
}

shows() {
	local text
	tr -s '\n ' ' ' <"$scratch/lines" >"$scratch/words"
	for text; do
		grep -qF -- "$text" "$scratch/words" || { echo "it does not say: $text"; return 1; }
	done
}

# follows DEMO: the address of a client that takes T seconds comes well before its result: nothing holds it back.
follows() {
	stamped "$1"
	awk '$2 == "client:" && $3 == "own" { began = $1 }
		$2 == "client:" && /each way in/ { seen = 1; took = $10; late += $1 - began < took * 0.3 }
		END { print seen ? "T: " took ", held back: " late : "no result"; exit !seen || late }' "$scratch/shown"
}

# tells_how_far: a long run says so once a second.
tells_how_far() {
	local server
	build/examples/rc_pingpong -n 100000000 >/dev/null 2>&1 &
	server=$!
	timeout 600 stdbuf -oL build/examples/rc_pingpong -n 100000000 127.0.0.1 2>&1 |
		grep -m 1 ' of 100000000 messages each way' >"$scratch/far" || : # grep has gone when the next line comes
	kill "$server" || :
	cat "$scratch/far"
	[[ -s $scratch/far ]]
}

ok 'the demo runs to its end' runs
ok 'no line is longer than 100 columns' narrow "$scratch/shown"
ok 'it shows connections, traffic and device memory' shows 'written by an RDMA WRITE' 'bytes sent in' \
	'2000 x 4096 bytes each way' 'iters in' 'the counter is at 1900' 'all 12 letters came' 'max_qp_rd_atom' 'RoCE v2'
ok 'it says that the device is software, and slow' shows 'It is a software device, rdma_rxe'
ok 'a mistake that verbs call invalid: rdmaez names the field' shows \
	'Leaving out the GRH Verbs say: ibv_modify_qp() returns 22, Invalid argument. rdmaez says:' \
	'ah_attr.is_global: this port requires a global route header.'
ok 'another of the same errno value: rdmaez tells them apart, and what to do' shows \
	'Mixing IPv4 and IPv6 Verbs say: ibv_modify_qp() returns 22, Invalid argument. rdmaez says:' \
	'the GID and the peer'\''s GID are of different families, IPv4 and IPv6' 'Suggestion, ah_attr.grh.sgid_index: use GID index 2 (2001:db8::1)'
# Of several causes, the one that it is comes first.
first_cause() {
	sed -n '/the completion has status 11, remote operation error\. rdmaez says:/,$p' "$1" | grep -m 1 '^  [A-Z]' >"$scratch/cause"
	cat "$scratch/cause"
	grep -q "^  Likely, sg_list: the peer's receive is shorter than the message\." "$scratch/cause"
}

ok 'a completion: rdmaez names the real cause first' first_cause "$scratch/lines"
sed 's/receive is shorter than the message/receive names memory that the peer may not use/' "$scratch/lines" >"$scratch/other"
fails 'another cause in its place is seen' 'names memory that' first_cause "$scratch/other"
ok 'what comes is shown at once' follows examples/demo
ok 'a long ping-pong tells how far it is' tells_how_far

mkdir "$scratch/examples"
ln -s "$PWD/build" "$scratch/build"
sed 's/stdbuf -oL //' examples/demo >"$scratch/examples/demo"
chmod +x "$scratch/examples/demo"
nightly fails 'output that is held back is seen' 'held back: [1-9]' follows "$scratch/examples/demo"
fails 'a mistake that is not shown is seen' 'it does not say: Forgetting' shows 'Forgetting'
printf '1 %0101d\n' {1..61} >"$scratch/wide"
fails 'a wide line is seen' '^0{90}' narrow "$scratch/wide"
done_testing
