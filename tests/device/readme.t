#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two processes, two ends: the program of README.md as it stands there, and examples/connect, on one device and on two,
# and what they say when the other end is not there, stops, or is none. Needs build/examples and a compiler; runs itself
# again on the Soft-RoCE machine.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit

# block LANGUAGE WORD: the first block of code in this language that has the word.
block() {
	awk -v fence="\`\`\`$1" -v word="$2" '
		inside && /^```$/ { if (index(text, word)) { printf "%s", text; exit } inside = 0 }
		inside { text = text $0 "\n" }
		$0 == fence { inside = 1; text = "" }'
}

if [[ ${1-} != here ]]; then
	mkdir -p build/readme
	block c '<rdmaez.h>' <README.md >build/readme/hello.c
	"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -O2 -Iinclude build/readme/hello.c -libverbs -o build/readme/hello || exit
	# And the commands below it as they are typed; what they print is judged there.
	ln -sfn "$PWD/include" "$PWD/tools" build/readme/
	block sh hello.c <README.md >build/readme/typed
	(cd build/readme && bash -e typed >printed 2>&1)
	exec tools/softroce --quiet --timeout 0 --devices 2 ${RDMAEZ_KERNEL:+--host qemu --kernel "$RDMAEZ_KERNEL"} -- tests/device/readme.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

hello=build/readme/hello
connect=build/examples/connect
port=21000

# both FIRST SECOND: run both, the first to be started first; their output goes to $scratch/first and $scratch/second,
# their exit statuses to $first and $second.
both() {
	local pid
	first=0
	second=0
	# shellcheck disable=SC2086 # commands with options
	{
		timeout 300 $1 >"$scratch/first" 2>&1 &
		pid=$!
		timeout 300 $2 >"$scratch/second" 2>&1 || second=$?
	}
	wait "$pid" || first=$?
	head -v "$scratch/first" "$scratch/second"
	echo "exit statuses: $first, $second"
}

good() {
	both "$1" "$2"
	((first == 0 && second == 0))
}

readme() {
	good "$1" "$2"
	cat "$scratch/first" "$scratch/second" | sed -n 's/^received: //p' >"$scratch/received"
	grep -q '^hello from process [0-9]*$' "$scratch/received"
	cat "$scratch/first" "$scratch/second" | sed -n 's/^written: //p' | cmp - "$scratch/received"
}

typed() {
	cat build/readme/typed build/readme/printed
	grep -q '^tools/softroce ' build/readme/typed
	grep -q '^received: hello from process [0-9]*$' build/readme/printed
	! grep -i warning build/readme/printed
}

ok "README's commands, as they are typed" typed
ok "README's program: who waits comes first" readme "$hello" "$hello 127.0.0.1"
ok "README's program: who connects comes first" readme "$hello localhost" "$hello"

# Every pair has a TCP port of its own, counted here because `ok` runs its command in a subshell.
next_port() {
	port=$((port + 1))
	receiver="$connect -p $port"
	sender="$connect -p $port"
}

# stream BYTES FIRST SECOND
stream() {
	good "$2" "$3"
	grep -q "^$1 bytes received .*, as they were sent$" "$scratch/first" "$scratch/second"
	grep -q "^$1 bytes sent .*, and the peer has them$" "$scratch/first" "$scratch/second"
}

next_port
ok 'a stream' stream 4194304 "$receiver" "$sender 127.0.0.1"
next_port
ok 'a stream whose sender comes first' stream 100 "$sender -s 100 127.0.0.1" "$receiver"
next_port
ok 'a stream of a byte more than a chunk' stream 65537 "$receiver" "$sender -s 65537 127.0.0.1"
next_port
ok 'a stream of nothing' stream 0 "$receiver" "$sender -s 0 127.0.0.1"
next_port
ok 'a stream from one device to another' stream 1000000 "$receiver -d rxe1" "$sender -d rxe0 -s 1000000 127.0.0.1"

file() {
	head -c 777777 /dev/urandom >"$scratch/sent"
	stream 777777 "$receiver -f $scratch/got" "$sender -f $scratch/sent 127.0.0.1"
	cmp "$scratch/sent" "$scratch/got"
}
next_port
ok 'a file' file

# The receiver is stopped while the sender is at it: the sender ends, and says why. What is not acknowledged fails; if all
# was, the sender waits in vain.
killed() {
	local pid code=0
	# shellcheck disable=SC2086 # a command with options
	$receiver >"$scratch/first" 2>&1 &
	pid=$!
	# shellcheck disable=SC2086
	timeout 300 $sender -s 100000000000 127.0.0.1 >"$scratch/second" 2>&1 &
	sleep 3
	kill -KILL "$pid"
	wait "$!" || code=$?
	cat "$scratch/second"
	((code == 1))
	grep -qE 'IBV_WC_|ETIMEDOUT' "$scratch/second"
}
next_port
ok 'a receiver that is stopped' killed

# refused TEXT COMMAND...: the command fails and says TEXT.
refused() {
	local text=$1 code=0
	shift
	timeout 300 "$@" >"$scratch/first" 2>&1 || code=$?
	cat "$scratch/first"
	((code == 1))
	grep -qF -- "$text" "$scratch/first"
}
ok 'no such device' refused 'there is no RDMA device of this name' "$connect" -d none 127.0.0.1
ok 'no such file' refused '/no/such/file' "$connect" -f /no/such/file 127.0.0.1

stranger() {
	local pid code=0 try
	timeout 300 "$hello" >"$scratch/first" 2>&1 &
	pid=$!
	for ((try = 0; try < 500; try++)); do
		! printf 'GET / HTTP/1.0\r\n\r\n%s' "$1" 2>/dev/null >/dev/tcp/127.0.0.1/18515 || break
		sleep 0.02
	done
	wait "$pid" || code=$?
	cat "$scratch/first"
	((code == 1))
	grep -qE 'rdmaez_exchange_connect failed with (EBADMSG|ECONNRESET)' "$scratch/first"
}
ok "README's program meets a stranger" stranger "$(printf 'hello%.0s' {1..11})"

done_testing
