#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The programs of this directory, one after the other on one Soft-RoCE machine, which saves each a boot. Their assertions
# are passed on with the program's name; then one says whether it has ended as it should, with all of them. `tests/run
# build/device/NAME` gives a program a machine of its own. Needs build/device.

set -uo pipefail
cd "$(dirname "$(realpath "$0")")/../.." || exit
readonly seconds=300
if [[ ${1-} != here ]]; then
	programs=(tests/device/*.c)
	programs=("${programs[@]%.c}")
	exec tools/softroce --quiet --timeout 0 ${RDMAEZ_KERNEL:+--host qemu --kernel "$RDMAEZ_KERNEL"} -- \
		tests/device/programs.t here "${programs[@]/#tests/build}"
fi
shift

# told NAME: what a program prints, without numbers. Its status tells whether there were as many assertions as planned,
# and is 2 where it has none because it cannot run here.
told() {
	awk -v name="$1" '
		/^(not )?ok/ { count++; sub(/ok [0-9]*( - )?/, "ok - " name ": "); print; fflush(); next }
		/^1\.\.[0-9]+/ { planned = substr($1, 4) + 0; plan = 1; next }
		{ print (/^#/ ? "" : "# ") $0 }
		END { exit !plan || count != planned ? 1 : !planned ? 2 : 0 }'
}

told=$(mktemp)
trap 'rm "$told"' EXIT
run=0 failed=0
for program in "$@"; do
	name=${program##*/}
	timeout --kill-after=5 "$seconds" "$program" </dev/null | told "$name" | tee "$told"
	status=("${PIPESTATUS[@]}")
	run=$((run + $(grep -cE '^(not )?ok' "$told") + 1))
	if ((status[0] == 77 || status[1] == 2)); then
		echo "ok - $name # SKIP it cannot run here"
	elif ((status[0] == 0 && status[1] == 0)); then
		echo "ok - $name ends as it should"
	else
		echo "not ok - $name ends with ${status[0]}, or not with its plan; 124: it ran longer than $seconds s"
		failed=1
	fi
done
echo "1..$run"
exit "$failed"
