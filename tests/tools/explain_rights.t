#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain as a boundary: a process of the command that gave up root, or another user, gets no more out of the
# launcher and of the other processes than it has.

source tests/tap.bash
source tests/tools/explain.bash
programs forge wrong_mask

chmod 711 "$scratch"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
forge=$PWD/build/tests/explain/forge
object=$PWD/build/tools/rdmaez-explain.so

# --- What the command writes into the shared memory ------------------------------------------------

# forged CASE [ARGUMENT...]: the launcher ends in time with the command's status, and writes little.
forged() {
	code=0
	timeout 10 build/tools/rdmaez-explain --summary --log "$scratch/log" --json "$scratch/json" "$forge" "$@" \
		>"$scratch/out" 2>"$scratch/err" || code=$?
	cat "$scratch/err"
	((code == 7)) || { echo "ended with $code"; return 1; }
	[[ $(stat -c %s "$scratch/log") -lt 1000000 ]] || { echo "wrote much"; return 1; }
}

writes_where_it_was_told_to() {
	echo mine >"$scratch/victim"
	chmod 600 "$scratch/victim"
	forged path "$scratch/log" "$scratch/victim"
	[[ $(<"$scratch/victim") == mine ]]
	grep -q forged "$scratch/log"
}

writes_nothing_raw() {
	forged "$1"
	[[ $(stat -c %s "$scratch/log") == 0 ]]
}

writes_plain_text() {
	forged escape
	cat -v "$scratch/log"
	grep -q 'owned' "$scratch/log"
	[[ $(LC_ALL=C grep -c '[^ -~]' "$scratch/log" || :) == 0 ]]
	jq -es 'length == 1' "$scratch/json"
}

cannot_change_options() {
	forged options
	[[ $(<"$scratch/out") == '-1 0' ]]
}

# soon_there FILE: waits until something is in it.
soon_there() {
	local i
	for ((i = 0; i < 200; i++)); do
		[[ ! -s $1 ]] || return 0
		sleep 0.05
	done
	echo "nothing came into $1"
	return 1
}

# --- What the files are, later -----------------------------------------------------------------------

# What stands where the log was is another file.
writes_no_other_file() {
	echo mine >"$scratch/victim"
	rm -f "$scratch/log"
	# shellcheck disable=SC2016 # for the shell under rdmaez-explain
	ends 0 --log "$scratch/log" sh -c 'mv "$0" "$0.old"; ln -s "$1" "$0"; wrong_mask' "$scratch/log" "$scratch/victim"
	[[ $(<"$scratch/victim") == mine ]]
	grep -q 'refused at' "$scratch/log.old"
}

# leftovers: what lies where files for all are put
leftovers() {
	find "$scratch/shared" /dev/shm /tmp -maxdepth 1 -name '*rdmaez-explain*' 2>"$scratch/find" || :
}

leaves_nothing() {
	local pid before
	mkdir "$scratch/shared"
	before=$(leftovers)
	XDG_RUNTIME_DIR=$scratch/shared build/tools/rdmaez-explain sh -c "echo >$scratch/up; sleep 1" &
	pid=$!
	soon_there "$scratch/up"
	[[ $(leftovers) == "$before" ]]
	kill -KILL "$pid"
	wait "$pid" || :
	[[ $(leftovers) == "$before" ]]
}

# What outlives the launcher starts another program, when somebody else has made a file of every name it was given.
survives() {
	local name
	chmod 1777 "$scratch"
	# shellcheck disable=SC2016 # for the shell under rdmaez-explain
	XDG_RUNTIME_DIR=$scratch ends 0 sh -c '{ for i in $(seq 100); do [ -e "$0" ] || sleep 0.1; done; /bin/true; echo "$?" >"$0.status"; } \
		>/dev/null 2>"$0.err" & echo "$RDMAEZ_EXPLAIN"' "$scratch/go"
	name=$(<"$scratch/out")
	[[ $name != /* ]] || "${nobody[@]}" touch "$name"
	touch "$scratch/go"
	soon_there "$scratch/go.status"
	[[ $(<"$scratch/go.status") == 0 && ! -s $scratch/go.err ]]
}

# --- What a process takes for the launcher's -----------------------------------------------------------

# A launcher's options, as a file.
# shellcheck disable=SC2016 # for the shell under rdmaez-explain
build/tools/rdmaez-explain sh -c 'set -- $RDMAEZ_EXPLAIN; cat "/proc/$1/fd/$2"' >"$scratch/options"

# holds USER SEALS [other]: a process of this user that has a copy of them in memory, or of other bytes as many, and what the
# environment would name it. Its descriptor is a FIFO's with "fifo" for seals.
holds() {
	local user=("${nobody[@]}")
	[[ $1 == nobody ]] || user=()
	rm -f "$scratch/named"
	"${user[@]}" /usr/bin/python3 - "${@:2}" <"$scratch/hold.py" >"$scratch/named" 2>"$scratch/held" &
	holder=$!
	soon_there "$scratch/named"
}

cat >"$scratch/hold.py" <<END
import fcntl, os, sys, time
if sys.argv[1] == 'fifo':
    name = '/tmp/fifo.%d' % os.getpid()
    os.mkfifo(name)
    memory = os.open(name, os.O_RDWR)
    os.unlink(name)
else:
    memory = os.memfd_create('rdmaez-explain', os.MFD_ALLOW_SEALING)
    options = open('$scratch/options', 'rb').read()
    os.write(memory, options if len(sys.argv) == 2 else bytes(len(options)))
    os.fchmod(memory, 0o666)
    fcntl.fcntl(memory, 1033, int(sys.argv[1]))
print(os.getpid(), memory, os.fstat(memory).st_ino, flush=True)
time.sleep(20)
END

# does_not_attach WORDS NAMED: the program runs, says once that it is not explained, and so do not those that it starts.
does_not_attach() {
	code=0
	timeout 5 env RDMAEZ_EXPLAIN="$2" LD_PRELOAD="$object" sh -c '/bin/true; wrong_mask' >"$scratch/out" 2>"$scratch/err" || code=$?
	[[ -z ${holder:-} ]] || kill "$holder"
	cat "$scratch/err"
	[[ $code == 0 && $(<"$scratch/out") == 22 && $(wc -l <"$scratch/err") == 1 ]]
	says "^rdmaez-explain: sh\[[0-9]+\]: its verbs are not explained: $1"
}

does_not_trust() {
	holds "$@"
	does_not_attach 'what RDMAEZ_EXPLAIN names is not' "$(<"$scratch/named")"
}

# What does not differ from a launcher's is taken for one, which has ended.
would_trust() {
	holds root 15
	RDMAEZ_EXPLAIN=$(<"$scratch/named") LD_PRELOAD=$object timeout 5 wrong_mask >"$scratch/out" 2>"$scratch/err"
	kill "$holder"
	[[ $(<"$scratch/out") == 22 ]]
	silent
}

# Whoever reads what a program that is not explained says may go before.
complains_to_nobody() {
	: >"$scratch/empty"
	{ sleep 0.3; RDMAEZ_EXPLAIN=$scratch/empty LD_PRELOAD=$object wrong_mask >"$scratch/out" || echo "$?" >"$scratch/out"; } 2> >(true)
	[[ $(<"$scratch/out") == 22 ]]
}

does_not_trust_a_file() {
	: >"$scratch/empty"
	does_not_attach 'what RDMAEZ_EXPLAIN names is not' "$scratch/empty"
}

says_that_rights_differ() {
	ends 0 "${nobody[@]}" sh -c '/bin/true; wrong_mask; wrong_mask'
	[[ $(<"$scratch/out") == $'22\n22' && $(grep -c . "$scratch/err") -le 3 ]]
	[[ $(grep -c 'its verbs are not explained' "$scratch/err") == 1 ]]
	says '^rdmaez-explain: sh\[[0-9]+\]: its verbs are not explained: it has other rights than rdmaez-explain$'
}

is_silent_without_a_launcher() {
	code=0
	RDMAEZ_EXPLAIN='4194304 3 5' LD_PRELOAD=$object wrong_mask >"$scratch/out" 2>"$scratch/err" || code=$?
	[[ $code == 0 && $(<"$scratch/out") == 22 ]]
	silent
}

explains_without_descriptors() {
	ends 0 /usr/bin/python3 -c 'import os, sys; os.closerange(0, 1024)
for number, name in enumerate(["/dev/null", sys.argv[1], sys.argv[2]]):
    os.set_inheritable(os.open(name, os.O_RDWR | os.O_CREAT), True)
os.execvp("wrong_mask", ["wrong_mask"])' "$scratch/out2" "$scratch/err2"
	[[ $(<"$scratch/out2") == 22 ]]
	grep -q 'ibv_modify_qp failed with EINVAL' "$scratch/err2"
}

leaves_setuid_alone() {
	install -o 65534 -m 4755 "$(type -P id)" "$scratch/set"
	ends 0 "$scratch/set" -u
	[[ $(<"$scratch/out") == 65534 ]]
	says 'nothing was seen of it'
}

ok 'writes where its options say, whatever the command does' writes_where_it_was_told_to
ok 'takes no text that is too long' writes_nothing_raw text
ok 'takes no text and JSON that are too long together' writes_nothing_raw sum
ok 'survives a process that it has no room for' forged process
ok 'survives a finding that it has no room for' forged count
ok 'survives a kind of finding that there is not' forged kind
ok 'survives what is no text and no number anywhere' forged all
ok 'survives that the shared memory is to be shortened' forged shorten
ok 'writes no escape sequences' writes_plain_text
ok 'lets nobody change the options' cannot_change_options
ok 'keeps a process from what another one writes' forged peer

ok 'writes to no other file of the same name' writes_no_other_file
ok 'leaves no file, even if it is killed' leaves_nothing
ok 'leaves no name that another user could take' survives

ok 'trusts no file that the environment names' does_not_trust_a_file
ok 'trusts no memory of another user' does_not_trust nobody 15
ok 'trusts no memory that can be shortened' does_not_trust root 0
ok 'trusts no memory that can be written' does_not_trust root 7
ok 'trusts no memory that is not a launcher'\''s' does_not_trust root 15 other
ok 'ends no program that tells nobody' complains_to_nobody
ok 'but what is as it should be' would_trust
ok 'opens nothing that would wait' does_not_trust root fifo
ok 'says once that a program has other rights' says_that_rights_differ
ok 'is silent in what outlives the launcher' is_silent_without_a_launcher
ok 'finds the launcher without an open descriptor' explains_without_descriptors
ok 'leaves setuid programs alone' leaves_setuid_alone

done_testing
