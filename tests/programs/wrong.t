#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The wrong uses of wrong.rows, made in the guest: each program fails as it should and prints what it is known for, and
# rdmaez-explain gives these reasons and no others. Writes the table of docs/explain.md into build/programs, and compares
# it with the page. Needs build/tools and build/programs; runs itself again in the guest.
#
#     tests/programs/wrong.t              test
#     tests/programs/wrong.t PATTERN      only rows whose paragraph has a match, an extended regular expression; the
#                                         page is left alone, and these rows go to build/programs/some.md

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
# shellcheck source=tests/programs/lib.bash
[[ ${1-} == here ]] || { source tests/programs/lib.bash && in_guest tests/programs/wrong.t here "$@"; }
# shellcheck source=tests/tap.bash
source tests/tap.bash
# shellcheck source=tests/programs/lib.bash
source tests/programs/lib.bash

# --- What rows use --------------------------------------------------------------------------------

# hide DIRECTORY: nothing is in it.
hide() {
	mkdir -p "$scratch/nothing"
	mount --bind "$scratch/nothing" "$1"
}

# remake: gives the devices back as they were, with their addresses and GIDs in their order.
remake() {
	local number try
	for number in 0 1; do
		rdma link delete "rxe$number" 2>/dev/null || :
		ip link set "veth$number" up
		ip address replace "192.0.2.$((number + 1))/24" dev "veth$number"
		ip address replace "2001:db8::$((number + 1))/64" dev "veth$number" nodad
	done
	for ((try = 0; try < 100; try++)); do
		(($(ip -6 address show scope link -tentative | grep -c fe80) < 2)) || break
		sleep 0.1
	done
	for number in 0 1; do
		rdma link add "rxe$number" type rxe netdev "veth$number"
	done
	for ((try = 0; try < 100; try++)); do
		(($(cat /sys/class/infiniband/rxe[01]/ports/1/gids/[012] | grep -cv '^0000:0000:0000:0000:0000:0000') < 6)) || break
		sleep 0.1
	done
}

# plain: an interface without an RDMA device, 198.51.100.1, and a neighbour behind it.
plain() {
	ip link add plain0 type veth peer plain1
	ip address add 198.51.100.1/24 dev plain0
	ip link set plain0 up
	ip link set plain1 up
	ip neighbour replace 198.51.100.2 lladdr 02:00:00:00:00:02 dev plain0
}

# rdma_limit LIMIT: what a program after $limited may have of rxe0.
rdma_limit() {
	local group=$scratch/cgroup/limited
	if [[ ! -d $group ]]; then
		mkdir --parents "$scratch/cgroup"
		mount -t cgroup2 none "$scratch/cgroup"
		echo +rdma >"$scratch/cgroup/cgroup.subtree_control"
		mkdir "$group"
	fi
	echo "rxe0 $1" >"$group/rdma.max"
}

# Words for `as`. The last two take away what root may do; the programs remain root's, who can read everything here.
# shellcheck disable=SC2034 # for rows
{
	limited="bash -c 'echo \$\$ >\$0/cgroup.procs && exec \"\$@\"' $scratch/cgroup/limited"
	barred='setpriv --bounding-set=-dac_override,-dac_read_search'
	unlocked='setpriv --bounding-set=-ipc_lock prlimit --memlock=0'
	locked_16k='setpriv --bounding-set=-ipc_lock prlimit --memlock=16384'
}

# await: until a program has said what it should, for a minute at most.
await() {
	local try
	for ((try = 0; try < 300; try++)); do
		[[ -z $(said) ]] || return 0
		sleep 0.2
	done
}

# connected: until two queue pairs are in RTS, and have had time to send.
connected() {
	local try
	for ((try = 0; try < 300; try++)); do
		(($(rdma resource show qp | grep -c 'state RTS') < 2)) || break
		sleep 0.2
	done
	sleep 3
}

# --- One row ----------------------------------------------------------------------------------------

readonly keys=(wrong before as option together first second during after limit says reasons nothing)

# wrapped COMMAND: with rdmaez-explain in front.
wrapped() {
	[[ -z $1 ]] || echo "${as:+${!as}} $scratch/rdmaez-explain $option --json $scratch/json --log $scratch/text $1"
}

# both: one command for the two ends, as a job that one rdmaez-explain starts.
both() {
	cat >"$scratch/both" <<-END
		$first &
		for ((try = 0; try < 400; try++)); do
			[[ -z \$(ss --no-header --tcp --listening) ]] || break
			sleep 0.05
		done
		$second
		wait
	END
	echo "bash $scratch/both"
}

# said: the first line that shows the failure, at either end, without what changes from run to run.
said() {
	[[ -n $says ]] || return 0
	grep --no-filename --max-count=1 --extended-regexp --regexp="$says" "$scratch/second" "$scratch/first" | sed -E '
		2d; s/^\[[0-9.]+\] \[[^]]*\] +[a-z_0-9]+\.c:[0-9]+ +//; s/^\[softroce:[0-9: ]+\] +([a-z_0-9]+\.c:[0-9]+ +)?//
		s/0x[0-9a-f]{5,}/0x.../g; s/(QP|QPN) [0-9]+/\1 N/g; s/^ +| +$//g; s/ +/ /g'
}

# given: the reasons that rdmaez-explain gave, each once. What a port has counted depends on the rows before.
given() {
	jq --raw-output 'select(.kind != "state") | .. | objects | .reason? // empty | select(startswith("COUNTED_") | not)' "$scratch/json" |
		sort --unique | paste --serial --delimiters=' '
}

# explanation REASON: what its first finding says, without what changes from run to run. A name keeps its letters.
explanation() {
	jq --raw-output --slurp --arg reason "$1" '
		[.[] | select(.kind != "state") | .. | objects | select(.reason? == $reason)][0] |
		(.what | if test("^[a-z]+_") then . else "\(.[:1] | ascii_upcase)\(.[1:])" end) as $what |
		"\($what). Next: \(.next)."' "$scratch/json" | sed -E 's/QP [0-9]+/QP N/g; s/\[[0-9]+\]/[N]/g'
}

# cell TEXT: as a table can hold it.
cell() {
	echo "${1//|/\\|}"
}

# record: the row of the page's table.
record() {
	local command=${second:-$first} printed adds
	printed=$(said)
	printed=${printed:+\`$(cell "$printed")\`}
	[[ $first_status != 124 && $second_status != 124 ]] || printed="${printed:+$printed, and }hangs"
	adds="Nothing: $nothing."
	[[ -z $reasons ]] || adds="$(explanation "${reasons%% *}") (\`${reasons// /\`, \`}\`)"
	# shellcheck disable=SC2016 # Markdown's backticks
	printf '| %s | `%s` | %s | %s |\n' "$wrong" "$(cell "${command#env }")" "$printed" "$(cell "$adds")"
}

# explained: the row is as it says.
explained() {
	eval "$before"
	if [[ -n $together ]]; then
		settled "$limit" "$(wrapped "$(both)")" '' "$during"
	else
		settled "$limit" "$(wrapped "$first")" "$(wrapped "$second")" "$during"
	fi
	eval "$after"
	echo "statuses $first_status, $second_status"
	tail --lines=8 "$scratch/first" "$scratch/second" "$scratch/text"
	echo "reasons: $(given)"
	[[ $(given) == "$(tr ' ' '\n' <<<"$reasons" | sort --unique | paste --serial --delimiters=' ')" ]]
	said
	record >>"$table"
}

# --- All rows -----------------------------------------------------------------------------------------

# rows FUNCTION FILE: calls the function for each paragraph, with its keys as variables.
rows() {
	local line key paragraph=
	while IFS= read -r line || [[ -n $paragraph ]]; do
		if [[ -n $line ]]; then
			[[ $line == \#* ]] || paragraph+=$line$'\n'
			continue
		fi
		[[ -n $paragraph ]] || continue
		local wrong='' before='' as='' option='' together='' first='' second='' during='' after='' limit=60 says='' reasons='' nothing=''
		while IFS= read -r line; do
			key=${line%% *}
			[[ " ${keys[*]} " == *" $key "* ]] || {
				echo "Bail out! $2: $key is no key"
				exit 1
			}
			[[ -z $line ]] || printf -v "$key" %s "${line#"$key" }"
		done <<<"${paragraph%$'\n'}"
		[[ ! $paragraph =~ $pattern ]] || "$1" </dev/null
		paragraph=
	done <"$2"
}

count() {
	ok "$wrong: ${second:-$first}" explained
}

# example: what one program prints with rdmaez-explain, for the head of the page.
example() {
	local command='ibv_rc_pingpong -d rxe0'
	ends 60 "$scratch/rdmaez-explain stdbuf --output=L $command" "$command 127.0.0.1"
	{
		echo "\$ rdmaez-explain $command"
		sed -E 's/(QPN 0x)[0-9a-f]+/\1000011/; s/(PSN 0x)[0-9a-f]+/\114aad8/; s/\[[0-9]+\]/[1234]/; s/QP [0-9]+/QP 17/
			s/at 0x[0-9a-f]+/at 0x3f11/; s/(: Linux [0-9]+\.[0-9]+)[^,]*/\1/' "$scratch/first"
	} >"$scratch/example"
	cat "$scratch/example"
	grep -q '^ibv_modify_qp failed with EINVAL' "$scratch/example"
	cp "$scratch/example" build/programs/example.txt
}

pattern=${2-}
table=$scratch/table
cp build/tools/rdmaez-explain build/tools/rdmaez-explain.so "$scratch"
printf '%s\n' '| what is wrong | command | the program says | rdmaez-explain adds |' '|---|---|---|---|' >"$table"
rows count tests/programs/wrong.rows
if [[ -n $pattern ]]; then
	cp "$table" build/programs/some.md
else
	cp "$table" build/programs/wrong.md
	ok 'there are at least 30' test "$(grep -c '^|' "$table")" -ge 32
	ok 'the example is recorded' example
	ok 'the page shows this table; make pages-programs writes it' docs/site/regions.py --programs --check docs/explain.md
fi

# row LINE...: a paragraph of its own.
row() {
	local pattern=
	printf '%s\n' 'wrong a row' 'first ibv_rc_pingpong -d rxe0 -r 50000' "$@" '' >"$scratch/rows"
	rows explained "$scratch/rows"
}
fails 'a reason that is not given is seen' '^reasons: CAP_LIMIT$' row 'says create CQ' 'reasons CAP_LIMIT MEMLOCK'
fails 'a reason that is not expected is seen' '^reasons: CAP_LIMIT$' row 'says create CQ' 'nothing is wrong'
fails 'a program that says something else is seen' '^reasons: CAP_LIMIT$' row 'says create QP' 'reasons CAP_LIMIT'
fails 'a key that does not exist is seen' 'reason is no key' row 'reason CAP_LIMIT'
! mountpoint --quiet "$scratch/cgroup" || umount "$scratch/cgroup"
done_testing
