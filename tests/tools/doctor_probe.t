#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-doctor says of data between two ends, where both are made up: devices of the fake libibverbs in machines of
# tests/tools/host.c, one of which listens; or one of them and a stranger, who tells anything. What arrives at another process
# comes back as from a peer that sends back what it receives, or is lost (tests/fake/shared/carry.c).
# shellcheck disable=SC2016 # Perl

source tests/tap.bash
source tests/tools/doctor_peer.bash
# shellcheck source=tests/tools/doctor.bash
source tests/tools/doctor.bash

"${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC tests/tools/host.c -o "$scratch/host.so" || exit
run_make build/tests/fake/libibverbs.so.1
roce fake0

# with VARIABLE=VALUE... COMMAND...: on such a machine.
with() {
	env LD_PRELOAD="$scratch/host.so" HOST_TREE="$tree" LD_LIBRARY_PATH="$PWD/build/tests/fake" FAKE_CARRIES=1 FAKE_PROFILE=1 "$@"
}

# asks STATUS FILE VARIABLE=VALUE... PORT: what the one says that asks, but for who both are and for times; and records.
asks() {
	local code=0
	with "${@:3:$#-3}" "$doctor" --only probe --peer "127.0.0.1:${!###*:}" >"$2.out" 2>&1 || code=$?
	sed '/^rdmaez-doctor: /d; /^ok   probe 127.0.0.1: is /d; /^  *call=/d
		s/take [0-9.]* us (median of 100; [0-9.]* to [0-9.]*)/take N us/' "$2.out" >"$2"
	((code == $1)) || { echo "ended with $code, not $1"; cat "$2.out"; return 1; }
}

# begin_listening VARIABLE=VALUE...: one that listens, on a port that nobody else has: $port, $listener, and its $own.served.
begin_listening() {
	for _ in {1..50}; do
		port=$((20000 + RANDOM % 12000))
		rm -f "$own.listening"
		with "$@" "$doctor" --listen "$port" >"$own.served" 2>"$own.listening" &
		listener=$!
		until [[ -s $own.listening ]]; do sleep 0.02; done
		! grep -q ': listening on TCP port' "$own.listening" || return 0
		wait "$listener" || :
	done
	cat "$own.listening"
	return 1
}

# two STATUS HERE THERE: both ends have variables, words each; the standard input is what is said here, and after a line "--"
# there.
two() {
	local own=$scratch/two.$BASHPID variables there listener port code=0
	read -ra variables <<<"${2-}"
	read -ra there <<<"$3 FAKE_NUMBERS=1000"
	begin_listening "${there[@]}"
	asks "$1" "$own" "${variables[@]}" "$port" || code=$?
	for ((try = 0; try < 250; try++)); do
		! grep -q '^rdmaez-doctor: ' "$own.served" || break
		sleep 0.02
	done
	kill "$listener"
	wait "$listener" || :
	sed -e '/^rdmaez-doctor: /d; /^ok   serve 127.0.0.1: is /d; /^  *call=/d' "$own.served" >"$own.there"
	diff - <(cat "$own"; echo --; cat "$own.there")
	return "$code"
}

mtu='ok   probe fake0/1: the MTU is 1024 at both ends, and that of the interfaces is 9000
ok   probe fake0/1: GIDs of both ends fit together'
pair='from GID 3 (192.0.2.1) to 192.0.2.1'
none='connected, but no message came'
v1='EINVAL: this driver sends RoCE v2 only, and the GID is RoCE v1'
trip='ok   probe fake0/1: a message of 8 bytes and its answer take N us'
lossless='ok   probe fake0/1: no counter of losses or retries grew at either end'

passes() {
	two 0 FAKE_PEER=echo '' <<-END
		$mtu
		ok   probe fake0/1: RC $pair: messages of 1, 1024 and 3073 bytes pass, at a path MTU of 1024
		$trip
		ok   probe fake0/1: UD $pair: all of 64 datagrams of 1024 bytes came back
		$lossless
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: UD with 127.0.0.1: $none
	END
}

# The link-local GID of RoCE v2 as well is tried in vain.
blocked() {
	two 1 '' '' <<-END
		$mtu
		FAIL probe fake0/1: RC $pair: connected, but no packet of RoCE v2 (UDP port 4791) gets through from here to the peer, while TCP does
		       IBV_WC_RETRY_EXC_ERR: the retries are used up without an acknowledgement; devices may take longer for them than the InfiniBand specification computes; the peer received 0 messages
		     > open UDP port 4791 in the firewall of the peer: nft list ruleset, iptables --list-rules; in security groups, and in switch ACLs on the way
		note probe fake0/1: data does not pass by GID 0 (fe80::200:5eff:fe00:5301) either
		       $v1
		note probe fake0/1: data does not pass by GID 1 (fe80::200:5eff:fe00:5301) either
		       IBV_WC_RETRY_EXC_ERR: this GID is routable, and a link-local one reaches only its own Ethernet segment
		note probe fake0/1: data does not pass by GID 2 (192.0.2.1) either
		       $v1
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: not connected: $v1
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: not connected: $v1
	END
}

blocked_infiniband() {
	two 1 FAKE_PORT=infiniband FAKE_PORT=infiniband <<-'END'
		ok   probe fake0/1: the MTU is 1024 here and 1024 at the peer
		FAIL probe fake0/1: RC: connected, but no packet of InfiniBand gets through from here to the peer, while TCP does
		       IBV_WC_RETRY_EXC_ERR: the retries are used up without an acknowledgement; devices may take longer for them than the InfiniBand specification computes; the peer received 0 messages
		     > ibtracert, and the partition and service level of both ports
		--
		WARN serve fake0/1: RC with 127.0.0.1: connected, but no message came
	END
}

damaged() {
	two 1 'FAKE_PEER=echo FAKE_SPOILS=bytes' '' <<-END
		$mtu
		FAIL probe fake0/1: RC $pair: a message of 1 bytes came back damaged
		     > compare the counters of both ports: rdmaez-doctor --only counters
		note probe fake0/1: data does not pass by GID 0 (fe80::200:5eff:fe00:5301) either
		       $v1
		note probe fake0/1: data does not pass by GID 1 (fe80::200:5eff:fe00:5301) either
		       a message of 1 bytes came back damaged
		note probe fake0/1: data does not pass by GID 2 (192.0.2.1) either
		       $v1
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: not connected: $v1
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: not connected: $v1
	END
}

# less BYTES MTU: packets of 1024 bytes are lost, and those of fewer pass; of one MTU more is known of Ethernet.
smaller() {
	two 1 FAKE_PEER=echo:512 '' <<-END
		$mtu
		FAIL probe fake0/1: RC $pair: both ports have a path MTU of 1024, but the network loses packets of that size; packets of 512 pass
		     > raise the MTU of every switch port on the way to that of the interfaces, 9000
		     > or lower that of the interfaces at both ends: ip link set dev eth0 mtu 664
		ok   probe fake0/1: UD $pair: all of 64 datagrams of 512 bytes came back
		$lossless
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: UD with 127.0.0.1: $none
	END
	two 1 'FAKE_MTU=4096 FAKE_PEER=echo:1024' FAKE_MTU=4096 <<-END
		${mtu/1024/4096}
		FAIL probe fake0/1: RC $pair: both ports have a path MTU of 4096, but the network loses packets of that size; packets of 1024 pass
		     > raise the MTU of every switch port on the way to that of the interfaces, 9000
		     > or lower that of the interfaces at both ends: ip link set dev eth0 mtu 1500
		ok   probe fake0/1: UD $pair: all of 64 datagrams of 1024 bytes came back
		$lossless
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: UD with 127.0.0.1: $none
	END
}

# TCP loses packets as well.
lossy() {
	two 1 HOST_RESENT=9 '' <<-END
		$mtu
		FAIL probe fake0/1: RC $pair: connected, but a message of 1 bytes did not come back; TCP lost 9 packets, and sent them again
		       IBV_WC_RETRY_EXC_ERR: the retries are used up without an acknowledgement; devices may take longer for them than the InfiniBand specification computes; the peer received 0 messages
		     > look for loss: ip -s link show dev eth0, ethtool -S eth0, at both ends and in the switches; on RoCE check flow control (PFC) and congestion control (ECN)
		note probe fake0/1: data does not pass by GID 0 (fe80::200:5eff:fe00:5301) either
		       $v1
		note probe fake0/1: data does not pass by GID 1 (fe80::200:5eff:fe00:5301) either
		       IBV_WC_RETRY_EXC_ERR: this GID is routable, and a link-local one reaches only its own Ethernet segment
		note probe fake0/1: data does not pass by GID 2 (192.0.2.1) either
		       $v1
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: not connected: $v1
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: RC with 127.0.0.1: not connected: $v1
	END
	two 1 'HOST_RESENT=9 FAKE_PORT=infiniband' FAKE_PORT=infiniband <<-END
		ok   probe fake0/1: the MTU is 1024 here and 1024 at the peer
		FAIL probe fake0/1: RC: connected, but a message of 1 bytes did not come back; TCP lost 9 packets, and sent them again
		       IBV_WC_RETRY_EXC_ERR: the retries are used up without an acknowledgement; devices may take longer for them than the InfiniBand specification computes; the peer received 0 messages
		     > look for loss in the subnet: ibqueryerrors # as root
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
	END
}

# Neither end gets a queue pair, or comes to a connection; who failed says so, and the other one that it did.
unconnected() {
	two 1 FAKE_FAILS=ibv_create_qp:1:12 '' <<-END
		$mtu
		FAIL probe fake0/1: RC: this end cannot connect: ENOMEM: memory or a device resource is exhausted
		     > free objects, which \`rdma resource show\` counts, raise the limits, or try again later
		--
	END
	two 1 '' FAKE_FAILS=ibv_create_qp:1:12 <<-END
		$mtu
		FAIL probe fake0/1: RC: the peer cannot connect: ENOMEM: memory or a device resource is exhausted
		     > on the peer 127.0.0.1: free objects, which 'rdma resource show' counts, raise the limits, or try again later
		--
		WARN serve fake0/1: RC with 127.0.0.1: not connected: ENOMEM: memory or a device resource is exhausted
	END
	two 1 'FAKE_PEER=echo FAKE_FAILS=ibv_modify_qp:2:22' '' <<-END
		$mtu
		FAIL probe fake0/1: RC: this end cannot connect: EINVAL: the device refused without giving a reason, and the mask is correct
		     > compare the values with the port's and the device's limits
		note probe fake0/1: data does not pass by GID 0 (fe80::200:5eff:fe00:5301) either
		       $v1
		ok   probe fake0/1: RC from GID 1 (fe80::200:5eff:fe00:5301) to fe80::200:5eff:fe00:5301: messages of 1, 1024 and 3073 bytes pass, at a path MTU of 1024
		$trip
		WARN probe fake0/1: data passes by GID 1, but not by the GID that the route leads to
		     > name it in programs: NCCL_IB_GID_INDEX=1, UCX_IB_GID_INDEX=1, ib_write_bw -x 1
		ok   probe fake0/1: UD from GID 1 (fe80::200:5eff:fe00:5301) to fe80::200:5eff:fe00:5301: all of 64 datagrams of 1024 bytes came back
		$lossless
		--
		WARN serve fake0/1: RC with 127.0.0.1: not connected: ECONNABORTED: the peer reports that it failed
		WARN serve fake0/1: RC with 127.0.0.1: not connected: $v1
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: UD with 127.0.0.1: $none
	END
}

# hears STATUS VARIABLES PORT LINES PERL: a stranger says that it has this port and these lines, "gid 0 2 ADDRESS", and does then
# this. The standard input is what is said of it.
hears() {
	local own=$scratch/hears.$BASHPID variables
	read -ra variables <<<"${2-}"
	with_stranger 'sub hear { while (<$peer>) { last if $_ eq "\n" } }
		print $peer "rdmaez-doctor 1 hello\nhost there\nkernel 6.1\nrdma-core 64.0\nrdmaez 0.1\nport rdma0 1 '"$3"'\n'"$4"'\n";
		hear(); '"$5"'; sleep 60;' asks "$1" "$own" "${variables[@]}" || return
	diff - "$own"
}

fit='gid 0 2 ::ffff:192.0.2.9\n'
same='ok   probe fake0/1: the MTU is 1024 at both ends, and that of the interfaces is 9000'

# A port that is not ACTIVE, here or there.
down() {
	hears 1 '' 'Ethernet DOWN IB 1024' 'netdev eth9 9000\n' '' <<-'END'
		FAIL probe fake0/1: port 1 of rdma0, at the peer, is DOWN
		     > on the peer: ip link set dev eth9 up
	END
	hears 1 FAKE_PORT=infiniband 'InfiniBand INIT IB 1024' 'netdev - 0\n' '' <<-'END'
		FAIL probe fake0/1: port 1 of rdma0, at the peer, is INIT
		     > on the peer: rdmaez-doctor --only port
	END
	hears 1 FAKE_PORT=down 'Ethernet ACTIVE IB 1024' 'netdev eth9 9000\n' '' <<-'END'
		FAIL probe fake0/1: port 1 of fake0, at this end, is DOWN
		     > ip link set dev eth0 up
	END
}

# What cannot go together, or needs another way.
other_kind() {
	hears 1 '' 'InfiniBand ACTIVE IB 1024' 'netdev - 0\n' '' <<-'END'
		FAIL probe fake0/1: Ethernet here, InfiniBand at the peer: they cannot connect
		     > name a device of the other kind at one end: ibv_devinfo lists them
	END
	hears 1 FAKE_PROFILE=7 'Ethernet ACTIVE IB 1024' 'netdev eth9 9000\n' '' <<-'END'
		FAIL probe fake0/1: Ethernet with iWARP here, Ethernet at the peer: they cannot connect
		     > name a device of the other kind at one end: ibv_devinfo lists them
	END
	hears 0 FAKE_PROFILE=7 'Ethernet ACTIVE iWARP 1024' 'netdev eth9 9000\n' '' <<-END
		$same
		note probe fake0/1: iWARP connects only by rdma_cm, so no data was tried
		     > run rping -s at one end, and rping -c -a ADDRESS at the other
	END
}

# MTUs, of which the interface's is raised where that is what makes RDMA's less.
mtus() {
	local kinds='RoCE v1 link-local, RoCE v2 link-local, RoCE v1 IPv4, RoCE v2 IPv4, RoCE v1 IPv6, RoCE v2 IPv6'
	local no_gid="FAIL probe fake0/1: no GID here fits one of the peer's rdma0/1
       here $kinds; at the peer none
     > on the peer: ip address add ADDRESS/PREFIX dev eth9"
	hears 1 '' 'Ethernet ACTIVE IB 1024' 'netdev eth9 1500\n' '' <<-END
		note probe fake0/1: the MTU is 1024 here and 1024 at the peer, and that of the interfaces is 9000 and 1500
		       active_mtu of fake0/1 here and of rdma0/1 there
		     > on the peer: ip link set dev eth9 mtu 9000
		$no_gid
	END
	hears 1 '' 'Ethernet ACTIVE IB 1024' 'netdev eth9 9216\n' '' <<-END
		note probe fake0/1: the MTU is 1024 here and 1024 at the peer, and that of the interfaces is 9000 and 9216
		       active_mtu of fake0/1 here and of rdma0/1 there
		     > ip link set dev eth0 mtu 9216
		$no_gid
	END
	hears 1 '' 'Ethernet ACTIVE IB 4096' 'netdev eth9 9216\n' '' <<-END
		WARN probe fake0/1: the MTU is 1024 here and 4096 at the peer, and that of the interfaces is 9000 and 9216
		       active_mtu of fake0/1 here and of rdma0/1 there
		     > ip link set dev eth0 mtu 9216
		$no_gid
	END
	hears 1 '' 'Ethernet ACTIVE IB 512' 'netdev eth9 9216\n' '' <<-END
		WARN probe fake0/1: the MTU is 1024 here and 512 at the peer, and that of the interfaces is 9000 and 9216
		       active_mtu of fake0/1 here and of rdma0/1 there
		     > set path_mtu to 512 at both ends
		$no_gid
	END
	hears 1 '' 'Ethernet ACTIVE IB 4096' 'netdev eth9 9000\n' '' <<-END
		WARN probe fake0/1: the MTU is 1024 here and 4096 at the peer, and that of the interfaces is 9000 and 9000
		       active_mtu of fake0/1 here and of rdma0/1 there
		     > set path_mtu to 1024 at both ends
		$no_gid
	END
}

# ends STATUS LINES PERL [NEXT] [VARIABLES]: how the conversation ends once a probe was asked for.
ends() {
	hears "$1" "${5-}" 'Ethernet ACTIVE IB 1024' "netdev eth9 9000\n$fit" "hear(); $3" <<-END
		$mtu
		$2
		     > read what rdmaez-doctor --listen says on the peer, and begin again${4:+
		     > $4}
	END
}

broken() {
	local here='FAIL probe fake0/1: the peer' again='       TCP has sent 0 packets again'
	ends 1 "$here is at another step: the probe ends here"$'\n'"$again" 'print $peer "rdmaez-doctor 1 report\n\n"'
	ends 1 "$here speaks another version: the probe ends here"$'\n'"$again" 'print $peer "rdmaez-doctor 2 ready\n\n"'
	ends 1 "$here sends something that rdmaez-doctor never sends: the probe ends here"$'\n'"$again" 'print $peer "Hello\n"'
	ends 1 "$here has closed the connection: the probe ends here"$'\n'"$again" 'close $peer'
}

# The peer says no more: this or that may keep it.
silent() {
	ends 0 "WARN probe fake0/1: the peer says no more: the probe ends here
       TCP has sent 0 packets again" '' 'see what keeps this machine and the peer busy: uptime; top'
}

# Or the network, where TCP as well has lost something.
silent_and_lossy() {
	ends 0 "WARN probe fake0/1: the peer says no more: the probe ends here
       TCP has sent 1 packets again" '' \
		'look for loss: ip -s link show dev eth0, ethtool -S eth0, at both ends and in the switches; on RoCE check flow control (PFC) and congestion control (ECN)' \
		HOST_RESENT=1
}

# What the peer says of its own end.
refuses() {
	hears 1 '' 'Ethernet ACTIVE IB 1024' "netdev eth9 9000\n$fit" 'hear(); print $peer "rdmaez-doctor 1 ready\nwhy none is left\nfix wait\n\n"' <<-END
		$mtu
		FAIL probe fake0/1: RC: the peer cannot connect: none is left
		     > on the peer 127.0.0.1: wait
	END
}

# own_problem VARIABLE=VALUE TEXT: this end has no port.
own_problem() {
	hears 1 "$1" 'Ethernet ACTIVE IB 1024' 'netdev eth9 9000\n' '' <<-END
		FAIL probe: this end cannot probe: $2
		     > rdmaez-doctor
	END
}

own_problems() {
	mkdir "$scratch/broken"
	echo none >"$scratch/broken/libibverbs.so.1"
	own_problem FAKE_FAILS=ibv_open_device:0:13 'fake0: the device refused without giving a reason, and rdmaez found nothing wrong (EACCES)'
	own_problem FAKE_FAILS=ibv_query_port:0:5 'fake0: the query failed (EIO)'
	own_problem "LD_LIBRARY_PATH=$scratch/broken" "libibverbs cannot be loaded: $scratch/broken/libibverbs.so.1: file too short"
}

# served PERL VARIABLES: a stranger to one that listens, who does this to $peer after it was served a hello. The standard input
# is what is said there.
served() {
	local own=$scratch/served.$BASHPID variables listener port
	read -ra variables <<<"${2-}"
	begin_listening "${variables[@]}"
	perl -MIO::Socket -e '
		my $peer = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]") or die;
		$peer->autoflush;
		sub hear { while (<$peer>) { last if $_ eq "\n" } }
		sub send_to { print $peer map { "rdmaez-doctor 1 $_\n\n" } @_ }
		sub hello { send_to("hello\nhost there\nport rdma0 1 Ethernet ACTIVE IB 1024\nnetdev eth9 9000\ngid 0 2 ::ffff:192.0.2.9"); hear() }
		'"$1" "$port"
	for ((try = 0; try < 250; try++)); do
		! grep -q '^rdmaez-doctor: ' "$own.served" || break
		sleep 0.02
	done
	kill "$listener"
	wait "$listener" || :
	diff - <(sed '/^rdmaez-doctor: /d; /^ok   serve 127.0.0.1: is there:/d; /^  *call=/d' "$own.served")
}

# Strangers who begin with something else than a hello, or with one that lacks something.
no_hello() {
	served 'send_to("probe\ntype RC\ngid 0")' <<-'END'
		note serve 127.0.0.1: connected, but is not rdmaez-doctor
		       it sent "type RC"
	END
	served 'send_to("hello\nhost there")' <<-'END'
		note serve 127.0.0.1: connected, but is not rdmaez-doctor
		       it sent "host there"
	END
	served 'print $peer "rdmaez-doctor 3 hello\n"' <<-'END'
		WARN serve 127.0.0.1: speaks version 3 of the protocol, and this end speaks version 1
		     > install the same version of rdmaez at both ends
	END
}

# A probe that cannot be: nothing is opened for it, and the conversation is over. Limits are those that one may ask for.
wrong_probe() {
	local probe
	for probe in 'type RC' 'gid 1' 'type XX\ngid 1' 'type RC\ngid x' 'type RC\ngid -2' 'type RC\ngid 256' 'type UD\ngid 1\ntimeout x' \
		'type UD\ngid 1\ntimeout 32'; do
		served "hello(); send_to(\"probe\\n$probe\"); print qq(answered\\n) if <\$peer>" </dev/null
	done
	for probe in 'type RC\ngid -1' 'type UD\ngid 3\ntimeout 31' 'type UD\ngid 3\ntimeout 0'; do
		served "hello(); send_to(\"probe\\n$probe\"); my \$line = <\$peer>; die unless \$line eq qq(rdmaez-doctor 1 ready\\n)" <<-END
			WARN serve fake0/1: ${probe:5:2} with 127.0.0.1: not connected: ECONNRESET: the peer closed the socket before the messages were complete
		END
	done
}

# A GID that the port has not: the one that asks is told why.
no_gid() {
	served 'hello(); send_to("probe\ntype RC\ngid 255"); shutdown $peer, 1;
		(join "", <$peer>) eq "rdmaez-doctor 1 ready\nwhy EINVAL: the port'\''s GID table has no such index\n" .
		"fix use a GID index within the range\n\n" or die' <<-'END'
		WARN serve fake0/1: RC with 127.0.0.1: not connected: EINVAL: the port's GID table has no such index
	END
}

# tcp ERRNO NAME TEXT NEXT: connecting ends so.
tcp() {
	local code=0 own=$scratch/tcp.$BASHPID
	with HOST_TCP="$1" "$doctor" --only probe --peer 127.0.0.1:99 >"$own" 2>&1 || code=$?
	diff - <(sed '/^rdmaez-doctor: /d' "$own") <<-END
		FAIL probe: 127.0.0.1 $3
		       connect(): $2
		     > $4
	END
	((code == 1))
}

unreached() {
	tcp 111 ECONNREFUSED 'refuses TCP port 99: nobody listens there' 'on 127.0.0.1: rdmaez-doctor --listen 99'
	tcp 110 ETIMEDOUT 'does not answer on TCP port 99 within 4 s' 'check that it is up: ping 127.0.0.1; and that no firewall drops TCP port 99'
	tcp 113 EHOSTUNREACH 'cannot be reached by TCP: nobody has its address' 'check that it is up, in the same subnet and VLAN: ip neighbour show'
	tcp 101 ENETUNREACH 'cannot be reached by TCP: no route leads there' 'ip route get 127.0.0.1'
	tcp 13 EACCES 'cannot be reached by TCP: Permission denied' 'ip route get 127.0.0.1'
}

# listens TEXT VARIABLE=VALUE... [-- ARG...]: one that cannot listen, or take in who connects, says so, and ends.
listens() {
	local code=0 own=$scratch/listens.$BASHPID variables=() port
	port=$((20000 + RANDOM % 12000))
	while [[ ${2---} != -- ]]; do
		variables+=("$2")
		set -- "$1" "${@:3}"
	done
	for ((try = 0; try < 100; try++)); do
		! : >"/dev/tcp/127.0.0.1/$port" || break
		sleep 0.05
	done 2>/dev/null &
	with "${variables[@]}" timeout 20 "$doctor" --listen "$port" "${@:3}" >"$own" 2>&1 || code=$?
	((code == 1)) || { echo "ended with $code, not 1"; cat "$own"; return 1; }
	kill "$!" 2>/dev/null || :
	diff <(printf '%s\n' "${1//PORT/$port}") "$own"
}

cannot_listen() {
	listens 'rdmaez-doctor: cannot listen on TCP port PORT of host.example: no such address' HOST_NAMES=none -- --bind host.example
	listens 'rdmaez-doctor: cannot listen on TCP port PORT of 192.0.2.77: Cannot assign requested address' -- --bind 192.0.2.77
	listens 'rdmaez-doctor: cannot listen on TCP port PORT of ::1: Address family not supported by protocol' HOST_FAILS=ipv6 -- --bind ::1
	listens $'rdmaez-doctor: listening on TCP port PORT\nrdmaez-doctor: accept(): Bad file descriptor' HOST_FAILS=accept
}

# Without IPv6 it listens on IPv4 alone.
without_ipv6() {
	two 0 FAKE_PEER=echo HOST_FAILS=ipv6 <<-END
		$mtu
		ok   probe fake0/1: RC $pair: messages of 1, 1024 and 3073 bytes pass, at a path MTU of 1024
		$trip
		ok   probe fake0/1: UD $pair: all of 64 datagrams of 1024 bytes came back
		$lossless
		--
		WARN serve fake0/1: RC with 127.0.0.1: $none
		WARN serve fake0/1: UD with 127.0.0.1: $none
	END
}

# missing TEXT NEXT VARIABLE=VALUE...: libibverbs cannot be loaded, which no program lives with; the way it says so is $error.
missing() {
	local code=0 own=$scratch/missing.$BASHPID
	with "${@:3}" "$doctor" --only provider >"$own" 2>&1 || code=$?
	diff <(sed '/^rdmaez-doctor: /d' "$own") - <<-END
		FAIL provider: $1
		       dlopen("libibverbs.so.1"): $error
		     > $2
	END
	((code == 1))
	with "${@:3}" "$doctor" --only versions >"$own" 2>&1 || :
	head -n 1 "$own"
	[[ $(head -n 1 "$own") == "ok   versions: kernel $(uname -r), no libibverbs" ]]
}

no_library() {
	local error='/nowhere/libibverbs.so.1: cannot open shared object file: No such file or directory'
	missing 'there is no libibverbs here, so no program finds a device' \
		'install libibverbs1 and ibverbs-providers (Debian, Ubuntu), libibverbs (Fedora, RHEL), rdma-core (Arch, Alpine); for a container, install them in its image' \
		HOST_LACKS=libibverbs.so.1
	mkdir -p "$scratch/short"
	echo none >"$scratch/short/libibverbs.so.1"
	error="$scratch/short/libibverbs.so.1: file too short"
	missing 'libibverbs cannot be loaded, so no program finds a device' \
		'install what it lacks, or all of one release: libibverbs1 and ibverbs-providers (Debian, Ubuntu), libibverbs (Fedora, RHEL)' \
		LD_LIBRARY_PATH="$scratch/short"
}

soon ok 'TCP that does not connect' unreached
soon ok 'one that cannot listen' cannot_listen
soon ok 'one that listens without IPv6' without_ipv6
soon ok 'a machine without libibverbs' no_library
soon ok 'strangers to one that listens' no_hello
soon ok 'probes that cannot be' wrong_probe
soon ok 'a GID that is not there' no_gid
soon ok 'a port that is down' down
soon ok 'ports of another kind' other_kind
soon ok 'MTUs of both ends' mtus
soon ok 'a conversation that ends' broken
soon ok 'one that does not go on' silent
soon ok 'nor does TCP' silent_and_lossy
soon ok 'a peer that has no more' refuses
soon ok 'an end without a port' own_problems
soon ok 'data that come back' passes
soon ok 'packets that do not get through' blocked
soon ok 'nor those of InfiniBand' blocked_infiniband
soon ok 'data that come back damaged' damaged
soon ok 'packets that are too large' smaller
soon ok 'a network that loses packets' lossy
soon ok 'ends that cannot connect' unconnected
done_testing
