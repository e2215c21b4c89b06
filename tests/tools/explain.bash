# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # $scratch is tap.bash's
#
# For tests of rdmaez-explain without a device, after `source tests/tap.bash`:
#
#     programs NAME...                      builds tests/tools/explain/NAME.c into build/tests/explain/NAME
#     explain [OPTION...] COMMAND [ARG...]  runs it under rdmaez-explain on the fake libibverbs. Its status goes to
#                                           $code, what it prints to $scratch/out and $scratch/err.
#     ends CODE [OPTION...] COMMAND...      the same, and fails unless it ends with this status
#     says PATTERN...                       each of these extended regular expressions is found in $scratch/err
#     silent                                nothing is in $scratch/err
#
# COMMAND may be the bare name of one of the programs.

export LD_LIBRARY_PATH=$PWD/build/tests/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$PWD/build/tests/explain:$PATH

programs() {
	run_make explain build/tests/fake/libibverbs.so.1 "${@/#/build/tests/explain/}" || exit
}

explain() {
	code=0
	build/tools/rdmaez-explain "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
}

ends() {
	explain "${@:2}"
	[[ $code == "$1" ]] || { cat "$scratch/err"; echo "ended with $code, not $1"; return 1; }
}

says() {
	local pattern
	for pattern; do
		grep -qE -- "$pattern" "$scratch/err" || { echo "no '$pattern' in:"; cat "$scratch/err"; return 1; }
	done
}

silent() {
	cat "$scratch/err"
	[[ ! -s $scratch/err ]]
}
