#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor --peer and --listen as programs that talk over TCP: with nobody, with each other, and with all that does
# not speak as they do. No device is needed; what data does between two devices is in tests/device/doctor_peer.t.
# shellcheck disable=SC2016 # Perl

cd "$(dirname "$(realpath "$0")")/../.." || exit
source tests/tap.bash
source tests/tools/doctor_peer.bash

# hears LINE...: what the doctor says of a stranger; the last argument is the stranger's address.
hears() {
	says 1 "${@:1:$#-1}" -- --only probe none --peer "${!#}"
}

# The same of one of whom nothing is known, since it may be busy.
hears_nothing() {
	says 0 "${@:1:$#-1}" -- --only probe none --peer "${!#}"
}

# with_listener COMMAND...: while a doctor listens; COMMAND gets its port, and $scratch/served.PORT is what it prints.
next_port=$((20000 + $$ % 10000))
with_listener() {
	local code=0 port=$next_port listener
	"$doctor" --listen "$port" none >"$scratch/served.$port" 2>"$scratch/listening.$port" &
	listener=$!
	until [[ -s $scratch/listening.$port ]]; do sleep 0.02; done
	"$@" "$port" || code=$?
	kill "$listener"
	return "$code"
}

served() {
	local try
	for ((try = 0; try < 100; try++)); do
		! grep -qF -- "$2" "$scratch/served.$1" || return 0
		sleep 0.1
	done
	cat "$scratch/served.$1"
	echo "wanted: $2"
	return 1
}

two_doctors() {
	says 1 'ok   probe 127.0.0.1: is ' 'FAIL probe: this end cannot probe: there is no RDMA device' \
		'FAIL probe 127.0.0.1: cannot probe: there is no RDMA device' -- --only probe none --peer "127.0.0.1:$1"
	says 1 'ok   probe ::1: is ' -- --only probe none --peer "[::1]:$1"
	served "$1" 'ok   serve 127.0.0.1: is '
}

# noise NUMBER MOST: fewer than MOST bytes; they and how many there are depend on $seed and NUMBER alone.
seed=${RDMAEZ_SEED:-1}
noise() {
	perl -e 'srand($ARGV[0]); print map { chr int rand 256 } 1 .. rand $ARGV[1]' "$((1000 * seed + $1))" "$2"
}

# Strangers to the one that listens, one after the other: it says who it was, and serves the next.
strangers_served() {
	local i
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	printf 'GET / HTTP/1.1\r\n\033[2J\r\n\r\n' >&3
	served "$1" 'note serve 127.0.0.1: connected, but is not rdmaez-doctor'
	served "$1" 'it sent "GET / HTTP/1.1'
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	printf 'rdmaez-doctor 7 hello\n\n' >&3
	served "$1" 'speaks version 7 of the protocol, and this end speaks version 1'
	grep -q '^rdmaez-doctor 1 hello$' <&3
	exec 3>&-
	: >"/dev/tcp/127.0.0.1/$1"
	served "$1" 'note serve 127.0.0.1: connected, and left'
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	served "$1" 'note serve 127.0.0.1: connected, and said nothing'
	exec 3>&-
	for i in {1..40}; do
		noise $((2 * i)) 3000 >"/dev/tcp/127.0.0.1/$1" || :
		{ printf 'rdmaez-doctor 1 hello\n'; noise $((2 * i + 1)) 30000; } 2>/dev/null >"/dev/tcp/127.0.0.1/$1" || :
		sleep 0.05 # as many as one address may have
	done
	sleep 0.5
	two_doctors "$1"
}

# Who says nothing does not delay the next one.
behind_a_silent_one() {
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	says 1 'ok   probe 127.0.0.1: is ' -- --only probe none --peer "127.0.0.1:$1"
	served "$1" 'note serve 127.0.0.1: connected, and said nothing'
	exec 3>&-
}

# Nor does who says hello, and nothing after that, which it may for 15 s.
behind_a_hello() {
	local -r begun=$SECONDS
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	printf 'rdmaez-doctor 1 hello\nhost x\nkernel x\nrdma-core 1\nrdmaez 1\nport x 1 Ethernet ACTIVE IB 1024\nnetdev x 1500\n\n' >&3
	read -r -u 3 _
	says 1 'ok   probe 127.0.0.1: is ' -- --only probe none --peer "127.0.0.1:$1"
	((SECONDS - begun < 10))
	exec 3>&-
}

# Four connections from one address, and not five; another address is served meanwhile, and so is this one afterwards.
limit_of_an_address() {
	local fd open=()
	for _ in {1..4}; do
		exec {fd}<>"/dev/tcp/127.0.0.1/$1"
		open+=("$fd")
	done
	says 1 'FAIL probe 127.0.0.1: accepts the TCP connection and closes it' -- --only probe none --peer "127.0.0.1:$1"
	grep -q '^rdmaez-doctor: 127.0.0.1: turned away: 4 connections at once$' "$scratch/listening.$1"
	says 1 'ok   probe ::1: is ' -- --only probe none --peer "[::1]:$1"
	for fd in "${open[@]}"; do exec {fd}>&-; done
	sleep 0.5
	says 1 'ok   probe 127.0.0.1: is ' -- --only probe none --peer "127.0.0.1:$1"
}

# Questions for queue pairs come without a hello; noise behind them ends the conversation.
asked_of_queues() {
	exec 3<>"/dev/tcp/127.0.0.1/$1"
	printf 'rdmaez-doctor 1 queues\nask 17 18\nask -1 99999999999999999999\nask\n\n' >&3
	diff <(printf 'rdmaez-doctor 1 queues\nwhy the kernel lists no RDMA device\n\n') <(sed '/^$/q' <&3)
	noise 91 3000 >&3
	served "$1" 'ok   serve 127.0.0.1: asked for its queue pairs'\'' peers, and was told of 0 here'
	exec 3>&-
	two_doctors "$1"
}

# Only the address of --bind answers.
bound() {
	local port=$((next_port + 1)) code=0
	"$doctor" --listen "$port" --bind 127.0.0.2 none >"$scratch/served.$port" 2>"$scratch/listening.$port" &
	until [[ -s $scratch/listening.$port ]]; do sleep 0.02; done
	says 1 'ok   probe 127.0.0.2: is ' -- --only probe none --peer "127.0.0.2:$port" &&
		says 1 'FAIL probe: 127.0.0.1 refuses TCP port' -- --only probe none --peer "127.0.0.1:$port" || code=$?
	kill "$!"
	return "$code"
}

# What accept() says of the network, or of what is lacking for the moment, ends nothing: by a library that says all of it.
accept_fails() {
	local code=0 port=$((next_port + 2))
	cat >"$scratch/accept.c" <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <errno.h>
		#include <sys/socket.h>
		int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
		{
			static const int errors[] = {ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH,
				EOPNOTSUPP, ENETUNREACH, ECONNABORTED, EINTR, EPERM, EMFILE, ENOBUFS};
			static unsigned int said;
			if (said < sizeof(errors) / sizeof(errors[0])) {
				errno = errors[said++];
				return -1;
			}
			return ((int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4"))(fd, from, size, flags);
		}
	END
	gcc -shared -fPIC "$scratch/accept.c" -o "$scratch/accept.so"
	LD_PRELOAD=$scratch/accept.so "$doctor" --listen "$port" none >"$scratch/served.$port" 2>"$scratch/listening.$port" &
	until [[ -s $scratch/listening.$port ]]; do sleep 0.02; done
	says 1 'ok   probe 127.0.0.1: is ' -- --only probe none --peer "127.0.0.1:$port" || code=$?
	kill "$!" || code=$?
	return "$code"
}

twice_on_one_port() {
	says 1 'rdmaez-doctor: cannot listen on TCP port' -- --listen "$1"
}

# Whatever a stranger sends, the doctor ends by itself and has failed.
hears_noise() {
	local seed
	for seed in {1..20}; do
		with_stranger 'srand('"$seed"'); print $peer join "", ("rdmaez-doctor 1 hello\n") x ($_ = int rand 2),
			map { chr int rand 256 } 1 .. rand 20000;' hears 'FAIL probe' || return
	done
}

echo "# RDMAEZ_SEED=$seed"
soon ok 'nobody listens' says 1 'FAIL probe: 127.0.0.1 refuses TCP port 1: nobody listens there' \
	'> on 127.0.0.1: rdmaez-doctor --listen 1' -- --only probe --peer 127.0.0.1:1
soon ok 'a server that says nothing' with_stranger 'sleep 60;' hears_nothing \
	'WARN probe 127.0.0.1: accepts the TCP connection, and says nothing within 15 s: not known'
soon ok 'one that says it slowly' with_stranger 'for (split //, "rdmaez-doctor 1 hello\n" x 20) { print $peer $_; select undef, undef, undef, 0.1; }' \
	hears_nothing 'WARN probe 127.0.0.1: accepts the TCP connection, and says nothing within 15 s: not known'
ok 'one that closes' with_stranger 'close $peer; sleep 60;' hears 'FAIL probe 127.0.0.1: accepts the TCP connection and closes it'
ok 'one of another kind' with_stranger 'print $peer "SSH-2.0-\e[2Jssh\r\n"; sleep 60;' hears \
	'FAIL probe 127.0.0.1: is no rdmaez-doctor' 'it sent "SSH-2.0-?[2Jssh?"'
ok 'one of another version' with_stranger 'print $peer "rdmaez-doctor 2 hello\nnew\n\n"; sleep 60;' hears \
	'FAIL probe 127.0.0.1: speaks version 2 of the protocol, and this end speaks version 1'
ok 'one whose version is no number' with_stranger 'print $peer "rdmaez-doctor x hello\n\n"; sleep 60;' hears \
	'FAIL probe 127.0.0.1: is no rdmaez-doctor' 'it sent "rdmaez-doctor x hello"'
ok 'one that tells of no port' with_stranger 'print $peer "rdmaez-doctor 1 hello\nhost x\n\n"; sleep 60;' hears \
	'FAIL probe 127.0.0.1: is no rdmaez-doctor'
ok 'one whose MTU there is not' with_stranger \
	'print $peer "rdmaez-doctor 1 hello\nport x 1 Ethernet ACTIVE IB 1000\nnetdev x 1500\n\n"; sleep 60;' hears \
	'FAIL probe 127.0.0.1: is no rdmaez-doctor'
ok 'one with a line without end' with_stranger 'print $peer "rdmaez-doctor 1 hello\n", "x" x 100000; sleep 60;' hears \
	'FAIL probe 127.0.0.1: is no rdmaez-doctor'
ok 'one with lines without end' with_stranger 'print $peer "rdmaez-doctor 1 hello\n", "host x\n" x 100000; sleep 60;' hears \
	'FAIL probe 127.0.0.1: is no rdmaez-doctor'
ok 'one that sends noise' hears_noise
fails 'what a stranger is not is noticed' 'wanted: FAIL probe 127.0.0.1: closes' with_stranger 'sleep 60;' hears 'FAIL probe 127.0.0.1: closes'
ok 'two doctors without a device' with_listener two_doctors
next_port=$((next_port + 1))
ok 'one that listens to strangers' with_listener strangers_served
next_port=$((next_port + 1))
ok 'one that is asked for queue pairs' with_listener asked_of_queues
next_port=$((next_port + 1))
ok 'one behind another that says nothing' with_listener behind_a_silent_one
next_port=$((next_port + 1))
ok 'one behind another that says nothing more' with_listener behind_a_hello
next_port=$((next_port + 1))
ok 'as many as one address may have' with_listener limit_of_an_address
next_port=$((next_port + 1))
ok '--bind' bound
ok 'errors that accept() hands out of the network' accept_fails
next_port=$((next_port + 3))
ok 'two cannot listen on one port' with_listener twice_on_one_port

for wrong in '--listen 0' '--listen 65536' '--listen=x' '--peer x:0' '--peer x:65536' '--peer [::1' '--peer x: ' \
	'--listen --peer x' '--bind 127.0.0.1' '--root /tmp --peer x' '--root /tmp --listen' '--only path' '--only probe'; do
	# shellcheck disable=SC2086 # words
	ok "wrong: $wrong" says 2 'rdmaez-doctor: ' -- $wrong
done
ok 'a name of nobody' says 2 '--peer takes HOST' -- --peer ''
done_testing
