# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What rdmaez-doctor says of a peer, for tests that source tests/tap.bash as well.
#
#     says STATUS LINE... -- ARG...  rdmaez-doctor ARG... ends with STATUS and prints each LINE, or one that has it in it
#     apart, route_apart_first       in the guest with two devices: what goes between them takes their interfaces

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

# Routes from one to the other by the interfaces; they go with an address or an interface.
apart() {
	ip route replace 192.0.2.2 dev veth0 src 192.0.2.1 table 102
	ip route replace 192.0.2.1 dev veth1 src 192.0.2.2 table 101
}

# Before the table of what is local.
route_apart_first() {
	ip rule add pref 10 iif lo to 192.0.2.2 lookup 102
	ip rule add pref 11 iif lo to 192.0.2.1 lookup 101
	ip rule add pref 100 lookup local
	ip rule del pref 0
}
