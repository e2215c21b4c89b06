# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# TAP for test scripts, which start with `source tests/tap.bash` at the top of the repository.
#
#     ok NAME COMMAND...             passes where COMMAND succeeds; else shows what it printed
#     fails NAME PATTERN COMMAND...  passes where COMMAND fails and prints what PATTERN, an extended
#                                    regular expression, matches: for seeded defects, to see that a
#                                    check sees them, and for the right reason
#     soon ok|fails ...              the same in the background, a processor's worth at a time
#     nightly ok|fails|soon ...      the same where RDMAEZ_NIGHTLY=1, by make check-nightly; elsewhere it is no assertion
#     run_make ARGUMENT...           a user's make, which knows nothing of the one that runs the tests
#     pause SECONDS                  sleep(1) without a process, which costs the emulated machine 40 ms
#     done_testing                   waits, prints the plan; its status is the script's
#
# $scratch is an empty directory, removed at the end. A script that dies on the way prints no plan,
# which prove counts as failed.

set -uo pipefail
export PYTHONDONTWRITEBYTECODE=1 # or Python puts what it compiles beside the sources

tap_run=0
tap_failed=0
tap_left=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
exec {tap_silence}<> <(:) # from which nothing is ever read

run_make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory --silent "$@"
}

pause() {
	read -rt "$1" -u "$tap_silence" || :
}

tap_count() {
	tap_run=$((tap_run + 1))
}

# tap_report CODE NAME OUTPUT: in one write, so that lines of the background do not mix.
tap_report() {
	if (($1 == 0)); then
		printf 'ok - %s\n' "$2"
	else
		printf 'not ok - %s\n#   %s\n' "$2" "${3//$'\n'/$'\n#   '}"
	fi
	return "$1"
}

# The command gets a shell of its own with `set -e`. That holds only where nothing up the calls is a
# condition, so no `if`, `&&` or `||` calls these two.
tap_ok() {
	local output code name=$1
	shift
	output=$(set -eE; trap 'echo "failed: $BASH_COMMAND"' ERR; "$@" 2>&1)
	code=$?
	tap_report "$((code != 0))" "$name" "$output"
}

tap_fails() {
	local output code name=$1 pattern=$2
	shift 2
	output=$(set -e; "$@" 2>&1)
	code=$?
	((code != 0)) && grep -qE -- "$pattern" <<<"$output"
	tap_report "$?" "$name" "ended with $code, wanted to fail with '$pattern': $output"
}

ok() {
	tap_count
	tap_ok "$@"
	tap_failed=$((tap_failed + $?))
}

fails() {
	tap_count
	tap_fails "$@"
	tap_failed=$((tap_failed + $?))
}

soon() {
	tap_count
	while (($(jobs -rp | wc -l) >= $(nproc))); do
		tap_wait
	done
	"tap_$1" "${@:2}" &
}

# What is left out is counted, and neither passes nor is skipped.
nightly() {
	if [[ ${RDMAEZ_NIGHTLY:-0} == 1 ]]; then
		"$@"
	else
		tap_left=$((tap_left + 1))
	fi
}

# Takes in the result of one background test; 127 says that there was none.
tap_wait() {
	local code=0
	wait -n || code=$?
	((code == 0 || code == 127)) || tap_failed=$((tap_failed + 1))
	return "$((code == 127))"
}

done_testing() {
	while tap_wait; do :; done
	((tap_left == 0)) || echo "# $tap_left more in make check-nightly"
	echo "1..$tap_run"
	((tap_failed == 0))
}
