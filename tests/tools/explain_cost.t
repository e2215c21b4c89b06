#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain costs while all is well, in instructions that valgrind saw executed, which come out the same every
# time. tests/tools/explain/cost.c runs with and without; what is more is the wrappers'. gcc -O2.
#
# 60 instructions are 20 ns at 3 GHz where each takes a cycle, and 2 % of the 1 us that a small message takes between
# good adapters: a send, a receive and the poll that finds a completion together must not add more.

source tests/tap.bash
source tests/tools/explain.bash
programs cost

declare -A stock explained kept written

# counts NAME COMMAND...: what each part of the program executed, into the array NAME. An own process for each run, as
# callgrind names its files.
counts() {
	local file
	local -n into=$1
	mkdir "$scratch/$1"
	"${@:2}" valgrind --quiet --tool=callgrind --callgrind-out-file="$scratch/$1/out" build/tests/explain/cost || exit
	for file in "$scratch/$1"/out.*; do
		# shellcheck disable=SC2034 # it is a reference
		into[$(sed -n 's/^desc: Trigger: Client Request: //p' "$file")]=$(sed -n 's/^totals: //p' "$file")
	done
}

# added PART...: instructions for one time of all of them, rounded up
added() {
	local part sum=0
	for part; do
		sum=$((sum + explained[$part] - stock[$part]))
	done
	echo "$(((sum + 999) / 1000))"
}

# costs BOUND PART...
costs() {
	local more
	more=$(added "${@:2}")
	echo "# ${*:2}: $more instructions more, at most $1"
	((more > 0 && more <= $1))
}

# each MORE FEW MANY BOUND: what MORE completions in one poll cost, each
each() {
	local more
	more=$((($(added "$3") - $(added "$2") + $1 - 1) / $1))
	echo "# $3: $more instructions more for a completion, at most $4"
	((more > 0 && more <= $4))
}

# keeps BOUND PART...: the same with --waiting, which keeps what is posted and polled
keeps() {
	local explained_before
	explained_before=$(declare -p explained)
	for part in "${!kept[@]}"; do
		explained[$part]=${kept[$part]}
	done
	costs "$@"
	eval "${explained_before/declare -A/declare -gA}"
}

# alike PART...: --json and --waiting cost the same, but for what a first call costs
alike() {
	local part
	for part; do
		echo "# $part: ${kept[$part]} instructions with --waiting, ${written[$part]} with --json"
		((${kept[$part]} - ${written[$part]} < 1000 && ${written[$part]} - ${kept[$part]} < 1000))
	done
}

counts stock env
counts explained build/tools/rdmaez-explain
counts kept build/tools/rdmaez-explain --waiting 100
counts written build/tools/rdmaez-explain --json "$scratch/json"

ok 'adds little to an empty poll' costs 20 poll_empty
ok 'adds a comparison for each completion' each 15 poll_one poll_sixteen 8
ok 'adds little to a send' costs 20 post_send
ok 'adds little to a receive' costs 20 post_recv
ok 'adds little to a round of a ping-pong' costs 60 post_send post_recv poll_one
ok 'adds little to an empty poll of the extended interface' costs 12 ex_poll_empty
ok 'adds little for each completion there' each 15 ex_poll_one ex_poll_sixteen 14
ok 'adds little to a request of the extended interface, which is kept' costs 60 ex_send
ok 'with --waiting adds little to an empty poll' keeps 80 poll_empty
ok 'with --waiting adds little to a round of a ping-pong' keeps 360 post_send post_recv poll_one
ok 'with --waiting adds little to a poll of the extended interface' keeps 150 ex_poll_one
ok 'with --waiting adds little to a request of the extended interface' keeps 200 ex_send
ok '--json costs the same as --waiting' alike post_send post_recv poll_one
fails 'sees what costs more with it' 'post_send: [0-9]+ instructions more, at most 20' keeps 20 post_send
fails 'sees what costs more' 'post_send: [0-9]+ instructions more, at most 5' costs 5 post_send

done_testing
