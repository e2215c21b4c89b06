#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain says of processes that the kernel really ends for want of memory: tests/device/explained/grows.c in
# a cgroup of version 2 with a memory.max. Needs build/tools and build/device/explained; runs itself again in the guest.
#
# Nightly: half a minute; tests/tools/explain_ended.t has most of it.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [[ ${1-} != here ]]; then
	exec tools/softroce --quiet --timeout 0 --host qemu ${RDMAEZ_KERNEL:+--kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/explain_ended.t here
fi
# shellcheck source=tests/tap.bash
source tests/tap.bash

program=build/device/explained/grows
tool=build/tools/rdmaez-explain
ulimit -l unlimited

mkdir -p /run/cgroup/
mount -t cgroup2 none /run/cgroup
mkdir /run/cgroup/small
echo +memory >/run/cgroup/cgroup.subtree_control
echo 8M >/run/cgroup/small/memory.max

memory='Likely, memory has run out: the kernel has killed a process meanwhile for lack of it\. Next: see dmesg; raise memory\.max of the cgroup, or use less\.'

# kills: how many processes the kernel has ended there
kills() {
	sed -n 's/^oom_kill //p' /run/cgroup/small/memory.events
}

# under STATUS COMMAND...: the command under rdmaez-explain; a shell of it that is called small moves into the cgroup. All
# of what is said is one line in $scratch/line, and of each end is in $scratch/ended
under() {
	code=0
	rm -f "$scratch/json"
	"$tool" --log "$scratch/log" --json "$scratch/json" "${@:2}" >"$scratch/out" 2>&1 || code=$?
	cat "$scratch/log"
	jq --raw-output 'select(.kind == "ended") | "\(.signal) \(.call) \(.inside) \(.object) \(.oom)"' \
		"$scratch/json" >"$scratch/ended"
	sed '/never destroyed/,$d; s/\[[0-9]*\]/[N]/' "$scratch/log" | tr -s '\n ' ' ' >"$scratch/line"
	rm -f "$scratch/log"
	((code == $1))
}
# shellcheck disable=SC2016 # the inner shell's
small=(sh -c 'echo $$ >/run/cgroup/small/cgroup.procs && exec "$@"' sh)

# is TEXT ENDED: what was said is this
is() {
	grep -xE -- "$1" "$scratch/line"
	diff <(echo "$2") "$scratch/ended"
}

# While it computes with memory that has nothing to do with the device.
touches() {
	local before
	before=$(kills)
	under 137 "${small[@]}" "$program" touches
	(($(kills) == before + 1))
	is "rdmaez-explain: grows\\[N\\]: SIGKILL ended it; the last verb but for posts and polls was ibv_reg_mr\\. $memory ?" \
		'SIGKILL ibv_reg_mr false null true'
	jq 'select(.kind == "ended")' "$scratch/json" >"$scratch/one.json"
	python3 -m jsonschema --instance "$scratch/one.json" docs/schema/explain.schema.json
}

# The kernel pins the memory, and so it happens within the verb.
registers() {
	local before
	before=$(kills)
	under 137 "${small[@]}" "$program" registers
	(($(kills) == before + 1))
	is "rdmaez-explain: grows\\[N\\]: SIGKILL ended it, in ibv_reg_mr\\. $memory ?" 'SIGKILL ibv_reg_mr true null true'
}

# A rank whose end nobody else tells of: the command succeeds.
of_another() {
	under 0 sh -c '"$@"; true' sh "${small[@]}" "$program" touches
	is "rdmaez-explain: grows\\[N\\]: SIGKILL ended it; the last verb but for posts and polls was ibv_reg_mr\\. $memory ?" \
		'SIGKILL ibv_reg_mr false null true'
}

# Somebody else has sent it, and there is memory.
killed() {
	under 137 sh -c 'kill -KILL $$'
	[[ ! -s $scratch/ended ]]
	# shellcheck disable=SC2016 # the inner shell's
	under 137 "$program" waits &
	until rdma resource show mr | grep -q grows; do
		sleep 0.1
	done
	pkill -KILL -x grows
	wait $!
	is 'rdmaez-explain: grows\[N\]: SIGKILL ended it; the last verb but for posts and polls was ibv_reg_mr\. ?' \
		'SIGKILL ibv_reg_mr false null false'
}

ok 'names memory that has run out while the program computes' touches
ok 'names memory that has run out within a verb' registers
ok 'names it of a process that another one has waited for' of_another
ok 'does not name it where somebody has sent the signal' killed
fails 'sees other words' '' is 'rdmaez-explain: nothing' ''

done_testing
