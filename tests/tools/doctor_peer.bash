# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What rdmaez-doctor says of a peer, for tests that source tests/tap.bash as well.
#
#     says STATUS LINE... -- ARG...  rdmaez-doctor ARG... ends with STATUS and prints each LINE, or one that has it in it
#     with_stranger PERL COMMAND...  while something else listens, which does this to $peer; COMMAND gets its address
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

# shellcheck disable=SC2016 # Perl
with_stranger() {
	local perl=$1 code=0 port
	local -r told=${scratch:?}/stranger.$BASHPID
	shift
	rm -f "$told" # of another stranger
	perl -MIO::Socket -e '
		my $listen = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1) or die;
		$SIG{PIPE} = "IGNORE";
		$| = 1;
		print $listen->sockport, "\n";
		my $peer = $listen->accept;
		$peer->autoflush;
		'"$perl" >"$told" &
	until [[ -s $told ]]; do sleep 0.02; done
	read -r port <"$told"
	"$@" "127.0.0.1:$port" || code=$?
	kill "$!" 2>/dev/null || :
	return "$code"
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
