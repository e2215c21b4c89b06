#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The ping-pong examples against themselves and against rdma-core's own, in both roles, and what they
# say when something is wrong. Needs build/examples; runs itself again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 ${RDMAEZ_KERNEL:+--host qemu --kernel "$RDMAEZ_KERNEL"} -- tests/device/pingpong.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/device/listener.bash
source tests/device/listener.bash

# --- What the tests are made of -----------------------------------------------------------------

# The row that rdmaez chooses, for the stock programs, which choose none; and one of IPv6.
row=$(build/examples/gids | sed -n 's/^\* *\([0-9]*\) .*/\1/p')
row6=$(build/examples/gids | sed -n 's/^  *\([0-9]*\) .* global .*/\1/p' | head -n 1)
device=$(build/examples/gids | sed -n 's/^\([^ ]*\) port .*/\1/p')
port=20000

# ours TYPE, stock TYPE: the program.
ours() {
	echo "build/examples/$1_pingpong"
}

stock() {
	echo "ibv_$1_pingpong -g $row"
}

# Every run has a TCP port of its own, counted here because `ok` runs its command in a subshell.
next_port() {
	port=$((port + 1))
}

# run SERVER CLIENT: run both; their output goes to $scratch/server and $scratch/client, their exit
# statuses to $server and $client. A client whose server has failed may wait for ever: it is stopped.
run() {
	local pids=()
	server=0
	client=0
	# shellcheck disable=SC2086 # commands with options
	{
		timeout 600 $1 -p "$port" >"$scratch/server" 2>&1 &
		pids+=("$!")
		await_tcp_listener "$!" "$port"
		timeout 600 $2 -p "$port" 127.0.0.1 >"$scratch/client" 2>&1 &
		pids+=("$!")
	}
	wait "${pids[0]}" || server=$?
	((server == 0)) || kill "${pids[1]}" || :
	wait "${pids[1]}" || client=$?
	head -v "$scratch/server" "$scratch/client"
	echo "exit statuses: server $server, client $client"
}

# Both ends end well, and both tell of all the bytes.
play() {
	local size=$1 count=$2 end
	run "$3 -s $size -n $count" "$4 -s $size -n $count"
	((server == 0 && client == 0))
	for end in server client; do
		grep -qE "^($((2 * size * count)) bytes in|$count x $size bytes each way in) " "$scratch/$end"
	done
}

# says FILE TEXT: the end's last words.
says() {
	grep -qF -- "$2" "$scratch/$1"
}

# A client tries for 30 seconds: let it, until the other tests are done.
{
	"$(ours rc)" -p 1 127.0.0.1 || echo "exit code $?"
} >"$scratch/nobody" 2>&1 &

# --- Ours and the stock programs ----------------------------------------------------------------

for type in rc uc ud; do
	size=4096
	[[ $type != ud ]] || size=1024
	ours=$(ours $type)
	stock=$(stock $type)
	all="-d $device -i 1 -g $row"
	next_port
	ok "$type: ours with ours" play $size 100 "$ours" "$ours"
	next_port
	ok "$type: ours serves the stock client" play $size 30 "$ours" "$stock"
	next_port
	ok "$type: ours is served by the stock server" play $size 30 "$stock" "$ours"
	next_port
	ok "$type: ours serves the stock client, with all options" play 256 20 "$ours $all" "$stock $all"
	next_port
	ok "$type: ours is served by the stock server, with all options" play 256 20 "$stock $all" "$ours $all"
	next_port
	ok "$type: one message of one byte" play 1 1 "$ours" "$stock"
	next_port
	ok "$type: over IPv6" play 100 20 "$ours -g $row6" "ibv_${type}_pingpong -g $row6"
	next_port
	ok "$type: ours serves a stock client that marks pages" play $size 10 "$ours -c" "$stock -c"
done
next_port
ok "rc: messages of many packets" play 100000 10 "$(ours rc)" "$(stock rc)"
next_port
ok "rc: another path MTU" play 10000 10 "$(ours rc) -m 256" "$(stock rc) -m 256"
next_port
ok "rc: a path MTU above the port's is cut" play 10000 10 "$(ours rc) -m 4096" "$(stock rc)"

# --- What is wrong is seen, and said ------------------------------------------------------------

# A stock client with -c sends 0 at the start of each page, where a server without -c wants 0x7b.
wrong_data() {
	run "$(ours "$1")" "$2"
	((server == 1))
	says server 'byte 0: got 0x00, want 0x7b'
}

wrong_size() {
	run "$(ours "$1") -s 1000" "$(stock "$1") -s $2"
	((server == 1))
	says server "$3"
}

# refused TEXT COMMAND...: the command fails at once and says TEXT.
refused() {
	local text=$1 code=0
	shift
	timeout 600 "$@" >"$scratch/client" 2>&1 || code=$?
	cat "$scratch/client"
	((code == 1))
	says client "$text"
}

# Something that is no ping-pong connects, and says what is given.
stranger() {
	local pid code=0
	timeout 600 "$(ours rc)" -p "$port" >"$scratch/server" 2>&1 &
	pid=$!
	await_tcp_listener "$pid" "$port"
	printf '%s' "$1" >"/dev/tcp/127.0.0.1/$port"
	wait "$pid" || code=$?
	cat "$scratch/server"
	((code == 1))
	says server "$2"
}

for type in rc uc ud; do
	next_port
	ok "$type: wrong data from the stock client is seen" wrong_data $type "$(stock $type) -c"
	next_port
	ok "$type: wrong data from our client is seen" wrong_data $type "$(ours $type) -c"
	next_port
	ok "$type: a message too short is seen" wrong_size $type 999 'byte 999: got 0xff, want 0x7b'
done
next_port
# rxe's way to say it; IBTA would have it a local length error.
ok 'rc: a message too long is seen' wrong_size rc 1001 'IBV_WC_LOC_QP_OP_ERR'
rc=$(ours rc)
ok 'no such host' refused 'host: ' "$rc" no.such.host.invalid
ok 'no such device' refused 'there is no RDMA device of this name' "$rc" -d nosuchdevice 127.0.0.1
ok 'no such port' refused 'port_num: the device has no such port' "$rc" -i 2 127.0.0.1
ok 'port 0' refused 'port_num: the device has no such port' "$rc" -i 0 127.0.0.1
ok 'no such row' refused "the port's GID table has no such index" "$rc" -g 100000 127.0.0.1
ok 'no such MTU' refused '-m takes 256 to 4096' "$rc" -m 255 127.0.0.1
ok 'UD: a message that no packet holds' refused 'a UD message' "$(ours ud)" -s 4096 127.0.0.1
next_port
ok 'a stranger says too little' stranger 'hello' 'the peer sent no address'
next_port
ok 'a stranger says what makes no sense' stranger "$(printf 'hello%.0s' {1..11})" "the peer's address is garbled"

nobody_listens() {
	local try
	for ((try = 0; try < 1000; try++)); do
		! grep -q 'exit code' "$scratch/nobody" || break
		sleep 0.2
	done
	cat "$scratch/nobody"
	says nobody 'nothing listened on this port'
	says nobody 'exit code 1'
}
ok 'nobody listens' nobody_listens

done_testing
