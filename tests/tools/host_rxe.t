#!/bin/bash
# SPDX-License-Identifier: MIT
#
# softroce --host rxe makes links on the host itself and removes them, and nothing else: what was there before
# it stays, whatever fails. ip, rdma and modprobe are stand-ins here that keep their links as files.

# shellcheck source=tests/tap.bash
source tests/tap.bash

# The stand-ins need a /run and a /proc/sys/net of their own.
isolate=(unshare --mount)
((EUID == 0)) || isolate+=(--map-root-user)
"${isolate[@]}" true 2>/dev/null || { echo "1..0 # SKIP no mount namespace for this user"; exit 0; }

export SOFTROCE_LINKS=$scratch/links SOFTROCE_LOG=$scratch/log
mkdir "$scratch/bin"
for name in ip rdma modprobe flock; do
	ln -s stand_in "$scratch/bin/$name"
done
cat >"$scratch/bin/stand_in" <<'END'
#!/bin/bash
# PROGRAM link show|add|delete NAME..., and `rdma dev show NAME`; what else it is told it takes.
program=${0##*/}
[[ $program != modprobe ]] || exit 0
[[ $program != flock ]] || { [[ ! -e $SOFTROCE_LINKS/../fails.flock$1 ]]; exit; }
[[ $1 =~ ^(link|dev)$ && $2 != set ]] || { [[ ! -e $SOFTROCE_LINKS/../fails.$1 ]]; exit; }
link=$SOFTROCE_LINKS/$3
[[ $program/$1/$2 != rdma/link/show ]] || exit 1 # as the real one without a port
echo "$program $1 $2 $3" >>"$SOFTROCE_LOG"
case $2 in
show) [[ -e $link ]] ;;
add)
	[[ ! -e $link && ! -e $SOFTROCE_LINKS/../fails.$3 ]] || { echo "$program: not $3" >&2; exit 2; }
	echo made >"$link"
	[[ ! -e $SOFTROCE_LINKS/../signals.$3 ]] || kill -TERM "$PPID"
	;;
delete) rm "$link" ;;
esac
END
chmod +x "$scratch/bin/stand_in"

# run LINK... -- ARG...: softroce on a host with these links of the user's; its status goes to $code, its words
# to $scratch/err.
run() {
	local n
	rm -rf "$SOFTROCE_LINKS" "$SOFTROCE_LOG" "$scratch/net"
	mkdir "$SOFTROCE_LINKS"
	for n in 0 1; do
		mkdir -p "$scratch/net/ipv4/conf/softroce$n" "$scratch/net/ipv6/conf/softroce$n"
	done
	while [[ $1 != -- ]]; do
		echo "the user's" >"$SOFTROCE_LINKS/$1"
		shift
	done
	shift
	code=0
	# shellcheck disable=SC2016 # expanded by the inner shell
	PATH=$scratch/bin:$PATH "${isolate[@]}" sh -c '
		mount -t tmpfs none /run && mount --bind "$0/net" /proc/sys/net && exec tools/softroce --host rxe "$@"' \
		"$scratch" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
	cat "$scratch/err"
	rm -f "$scratch"/fails.* "$scratch"/signals.*
}

# left NAME...: these links, all the user's, and no others are there in the end.
left() {
	[[ $(ls "$SOFTROCE_LINKS") == "$(printf '%s\n' "$@" | sort)" ]]
	! grep -L "the user's" "$SOFTROCE_LINKS"/* 2>/dev/null | grep .
}

works() {
	# shellcheck disable=SC2016 # expanded by the command
	run mine -- --devices "$1" sh -c 'ls "$SOFTROCE_LINKS"; exit 7'
	((code == 7))
	[[ $(cat "$scratch/out") == "$2" ]]
	left mine
	[[ $(grep delete "$SOFTROCE_LOG") == "$3" ]]
}

keeps_the_users() {
	run "$1" mine -- --devices 2 echo unheard
	((code == 125))
	[[ ! -s $scratch/out ]]
	grep -qF "this host has a $1 already: remove it with \`$2 link delete $1\`" "$scratch/err"
	left mine "$1"
}

undoes_what_it_made() {
	touch "$scratch/fails.$1"
	run mine -- --devices 2 echo unheard
	((code == 125))
	[[ ! -s $scratch/out ]]
	grep -qx "softroce: cannot make $1; the reason is above" "$scratch/err"
	left mine
}

undoes_when_an_address_fails() {
	touch "$scratch/fails.address"
	run mine -- echo unheard
	((code == 125))
	[[ ! -s $scratch/out ]]
	left mine
}

undoes_when_ended_while_making() {
	touch "$scratch/signals.$1"
	run mine -- --devices 2 echo unheard
	((code == 143))
	[[ ! -s $scratch/out ]]
	left mine
}

waits_for_another_run() {
	touch "$scratch/fails.flock-n"
	run mine -- echo heard
	((code == 0))
	[[ $(cat "$scratch/out" "$scratch/err") == $'heard\nsoftroce: waiting for another run' ]]
}

not_for_ever() {
	touch "$scratch"/fails.flock-{n,w}
	run mine -- echo unheard
	((code == 125))
	[[ ! -s $scratch/out ]]
	grep -q 'another run has not ended for half an hour' "$scratch/err"
	left mine
}

ok "another run is waited for" waits_for_another_run
ok "but not for ever" not_for_ever
ok "one device is made and removed" works 1 $'mine\nrxe0\nsoftroce0' $'rdma link delete rxe0\nip link delete softroce0'
ok "two devices are made and removed, the last one first" works 2 $'mine\nrxe0\nrxe1\nsoftroce0' \
	$'rdma link delete rxe1\nrdma link delete rxe0\nip link delete softroce0'
ok "the user's rxe0 stays" keeps_the_users rxe0 rdma
ok "the user's rxe1 stays" keeps_the_users rxe1 rdma
ok "the user's softroce0 stays" keeps_the_users softroce0 ip
for name in softroce0 rxe0 rxe1; do
	ok "where $name cannot be made, what was made goes" undoes_what_it_made "$name"
	ok "where a signal comes with $name, it goes" undoes_when_ended_while_making "$name"
done
ok "where an address cannot be set, what was made goes" undoes_when_an_address_fails
done_testing
