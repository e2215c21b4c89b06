# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What rdmaez-doctor says of a peer, for tests that source tests/tap.bash as well.
#
#     says STATUS LINE... -- ARG...  rdmaez-doctor ARG... ends with STATUS and prints each LINE, or one that has it in it

doctor=build/tools/rdmaez-doctor

says() {
	local output code=0 status=$1 line
	local -a lines=()
	shift
	while [[ $1 != -- ]]; do
		lines+=("$1")
		shift
	done
	shift
	output=$("$doctor" "$@" 2>&1) || code=$?
	echo "$output"
	for line in "${lines[@]}"; do
		grep -qF -- "$line" <<<"$output" || { echo "wanted: $line"; return 1; }
	done
	((code == status)) || { echo "ended with $code, not $status"; return 1; }
}
