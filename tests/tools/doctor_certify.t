#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor --certify on the fake libibverbs, for what no software device has: XRC, device memory, SQD that is never
# entered. Data come only where FAKE_CARRIES asks for it, and then each step is seen to fail as well. And devices that do not
# keep to what is known of their driver.

source tests/tap.bash
source tests/certify.bash

doctor=$PWD/build/tools/rdmaez-doctor
run_make build/tools/rdmaez-doctor build/tests/fake/libibverbs.so.1
file=$scratch/file.json
mlx5=(FAKE_PROFILE=2 FAKE_DM=4096)

# certify STATUS [VARIABLE=VALUE...]: on a fake device. Only waits take time here, each a sixtieth of $timeout.
timeout=300
certify() {
	local code=0
	rm -f "$file"
	env LD_LIBRARY_PATH="$PWD/build/tests/fake" "${@:2}" "$doctor" --timeout "$timeout" --certify="$file" >"$scratch/report" || code=$?
	cat "$scratch/report"
	((code == $1))
	follows_schema "$file"
}

# says LINE...: the report has these lines.
says() {
	local line
	for line; do grep -qxF -- "$line" "$scratch/report" || { echo "not printed: $line"; return 1; }; done
}

# has STEP...: these are steps as the file has them.
has() {
	local step
	for step; do
		jq -e --argjson step "$step" 'any(.steps[]; . == $step)' "$file" >/dev/null || { echo "not there: $step"; return 1; }
	done
}

# wrong_moves TYPE...: how many each type has, each of which was refused with EINVAL for a reason about moves or masks.
wrong_moves() {
	local type
	for type; do
		printf '%s %s\n' "$type" "$(jq --arg type "$type" '[.steps[] | select(.group == $type and (.step | startswith("wrong: ")) and
			.result == "pass" and .errno == "EINVAL" and (.reason | IN("TRANSITION", "MASK_MISSING", "MASK_NOT_ALLOWED")))] |
			length' "$file")"
	done | paste -sd , | sed 's/,/, /g'
}

# An mlx5 that carries no data: it has everything else.
of_mlx5() {
	local timeout=60
	certify 1 "${mlx5[@]}"
	says 'FAIL certify fake0/1: RC: SEND' 'ok   certify fake0/1: XRC_RECV: 53 passed, 6 not offered, 1 not tried' \
		"rdmaez-doctor: $file has the results, without names and addresses"
	[[ $(jq -r '.format, .driver' "$file") == $'rdmaez-certify 1\nmlx5_ib' ]]
	[[ $(results "$file") == 'pass 329, fail 4, not offered 36, not tried 10' ]]
	diff <(steps "$file" fail) <(printf '%s: SEND\n' RC UC UD XRC_SEND)
	[[ $(jq -r '.steps[] | select(.result == "fail") | "\(.errno) \(.reason)"' "$file" | uniq -c | xargs) == '4 ETIMEDOUT WC_LATE' ]]
	[[ $(jq -r '.steps[] | select(.result == "not offered") | .reason' "$file" | sort | uniq -c | xargs) == '36 NO_SQD' ]]
	[[ $(wrong_moves RC UC UD XRC_SEND XRC_RECV RAW_PACKET) == 'RC 40, UC 34, UD 30, XRC_SEND 38, XRC_RECV 37, RAW_PACKET 27' ]]
	[[ $(jq -r '[.steps[] | select(.group == "device memory") | .result] | join(", ")' "$file") == \
		'pass, pass, pass, not tried, pass, pass' ]]
	has '{"result": "pass", "group": "objects", "step": "open an XRC domain"}' \
		'{"result": "not offered", "group": "RC", "step": "RTS to SQD", "errno": "EINVAL", "reason": "NO_SQD", "detail": "as predicted"}' \
		'{"result": "pass", "group": "XRC_RECV", "step": "wrong: INIT to RTS", "errno": "EINVAL", "reason": "TRANSITION", "detail": "refused, as predicted"}' \
		'{"result": "pass", "group": "XRC_RECV", "step": "wrong: INIT to RTR without IBV_QP_AV", "errno": "EINVAL", "reason": "MASK_MISSING", "detail": "refused, as predicted"}' \
		'{"result": "pass", "group": "UD", "step": "wrong: RTR to RTS with IBV_QP_EN_SQD_ASYNC_NOTIFY", "errno": "EINVAL", "reason": "MASK_NOT_ALLOWED", "detail": "refused, as predicted"}' \
		'{"result": "not tried", "group": "device memory", "step": "WRITE to the device memory and READ from it", "detail": "no data passed over RC before"}'
	is_private "$file"
}

# A line is a result, and the rest is a fact each.
is_readable() {
	[[ $(grep -c '^    {"result": ' "$file") == $(jq '.steps | length' "$file") ]]
	jq -r '.steps[] | tojson' "$file" >"$scratch/steps"
	diff <(sed -n 's/^    \({"result".*}\),\?$/\1/p' "$file" | jq -c .) "$scratch/steps"
	! awk 'length > 300' "$file" | grep .
}

# It enters SQD, which rdmaez knows not to happen on this driver.
other_than_known() {
	certify 1 "${mlx5[@]}" FAKE_REFUSES=1 FAKE_QUIRKS=0
	says 'FAIL certify fake0/1: RC: RTS to SQD: rdmaez predicted EINVAL, and the kernel returned 0'
	has '{"result": "fail", "group": "RC", "step": "RTS to SQD", "errno": "EINVAL", "reason": "NO_SQD", "detail": "rdmaez predicted EINVAL, and the kernel returned 0"}'
}

# And the other way round.
other_than_usual() {
	certify 1 FAKE_REFUSES=1 FAKE_PROFILE=1 FAKE_QUIRKS=2
	says 'FAIL certify fake0/1: RC: RTS to SQD: rdmaez predicted 0, and the kernel returned EINVAL'
}

# Of a driver that nobody knows, no wrong move reaches the adapter.
unknown() {
	certify 1 FAKE_REFUSES=1
	[[ $(jq -r .driver "$file") == unknown ]]
	grep -qx 'RC: wrong moves' <(steps "$file" 'not tried')
	! grep -q '"wrong: ' "$file"
}

# The run dies on the way, and the file says after which step.
dies() {
	certify 1 "${mlx5[@]}" FAKE_REFUSES=1 FAKE_DIES=1
	says 'FAIL certify: the check ended by signal 6 (Aborted)'
	[[ $(jq -c '.steps[-2:][]' "$file") == '{"result":"fail","group":"end","step":"end the run","detail":"the run ended after the step above"}
{"result":"not tried","group":"second host","step":"probe","detail":"--peer was not given"}' ]]
	grep -qx 'objects: open an XRC domain' <(steps "$file" pass)
	! grep -q '"device memory"' "$file"
}

# All that there is, of two devices which carry data: one has XRC, the other enters SQD.
all_pass() {
	local timeout=60
	certify 0 FAKE_CARRIES=1 "${mlx5[@]}"
	[[ $(results "$file") == 'pass 370, fail 0, not offered 37, not tried 6' ]]
	says 'ok   certify fake0/1: RC: 66 passed, 6 not offered' 'ok   certify fake0/1: XRC_SEND: 63 passed, 6 not offered, 1 not tried' \
		'ok   certify fake0/1: errors on purpose: 8 passed'
	certify 0 FAKE_CARRIES=1 FAKE_PROFILE=1 FAKE_DM=4096
	[[ $(results "$file") == 'pass 242, fail 0, not offered 4, not tried 3' ]]
	diff <(jq -r '.steps[] | select((.group | IN("more data", "errors on purpose", "drain and recover", "device memory", "end")) or
		(.group == "UD" and (.step | contains(" to ") or startswith("wrong") | not))) |
		[.group, .step, .status, .reason, .detail] | map(values) | join(" | ")' "$file") - <<-'END'
		UD | create a queue pair
		UD | destroy the queue pair
		UD | moves from SQE | only a send that fails on some devices leads there
		UD | connect two queue pairs
		UD | SEND
		UD | SEND with immediate data
		UD | destroy both queue pairs
		more data | SEND to a shared receive queue
		more data | SEND of inline data
		more data | SEND by the extended interface
		more data | SEND with a completion channel
		errors on purpose | WRITE with a wrong rkey | IBV_WC_REM_ACCESS_ERR | WC_RKEY
		errors on purpose | WRITE without the remote write right | IBV_WC_REM_INV_REQ_ERR | WC_PEER_RIGHT
		errors on purpose | WRITE from a wrong lkey | IBV_WC_LOC_PROT_ERR | WC_LKEY
		errors on purpose | a receive that is too short | IBV_WC_REM_INV_REQ_ERR | WC_PEER_RECV | the receive: IBV_WC_LOC_LEN_ERR, WC_RECV_SHORT
		errors on purpose | a SEND for which no receive is posted | IBV_WC_RNR_RETRY_EXC_ERR | WC_RNR
		errors on purpose | a peer that does not answer | IBV_WC_RETRY_EXC_ERR | WC_RETRIES
		errors on purpose | flush by a move to ERR | IBV_WC_WR_FLUSH_ERR | WC_FLUSHED
		errors on purpose | SEND with a wrong Q_Key
		drain and recover | stop the send queue
		drain and recover | resume the send queue
		drain and recover | SEND after the stop
		drain and recover | drain receives
		drain and recover | recover both queue pairs
		drain and recover | connect them again
		drain and recover | SEND on the new connection
		drain and recover | destroy both queue pairs
		device memory | allocate 64 bytes
		device memory | copy into the device memory and out of it
		device memory | register the device memory
		device memory | WRITE to the device memory and READ from it
		device memory | deregister the device memory
		device memory | free the device memory
		end | deregister the memory
		end | deallocate the protection domain
		end | close the device
	END
}

# fail_if VARIABLES [STEP...]: on a device that does all else, exactly these fail. What it has written is $own and $own.json.
fail_if() {
	local code=0 variables
	read -ra variables <<<"$1"
	own=$scratch/${1//[^a-zA-Z0-9]/_}
	env LD_LIBRARY_PATH="$PWD/build/tests/fake" FAKE_CARRIES=1 FAKE_PROFILE=1 FAKE_DM=4096 "${variables[@]}" \
		"$doctor" --timeout 30 --certify="$own.json" >"$own" || code=$?
	diff <(sed -n 's|^FAIL certify[^:]*: ||p' "$own") <(printf '%s\n' "${@:2}" | sed '/^$/d')
	((code == ($# > 1)))
}

# without VARIABLES STEP...: nothing fails, and these are not offered, or not tried.
without() {
	fail_if "$1"
	diff <(jq -r '.steps[] | select(.result | startswith("not ")) | "\(.result): \(.group): \(.step): \(.reason // .detail)"' \
		"$own.json" | grep -v 'XRC\|RAW_PACKET\|SQE\|second host') <(printf '%s\n' "${@:2}")
}

# What rdma_cm alone may do is left out; what fails is no failure of a driver whose rules are not all known.
iwarp() {
	local skipped=('not offered: device: read the P_Keys: iWARP has none')
	[[ -z ${1-} ]] || skipped+=("not offered: RC: $1: DEVICE_GONE")
	skipped+=('not tried: RC: wrong moves: the driver may leave it to the adapter to refuse them'
		'not tried: RC: moves to and from RTR, RTS and SQD: on iWARP, rdma_cm moves a queue pair'
		'not tried: RC: connect two queue pairs: on iWARP, rdma_cm connects them'
		'not offered: '{UC,UD}': create a queue pair: CREATE_TYPE'
		'not tried: '{'more data','errors on purpose','drain and recover'}': all: no data passed over RC before'
		'not tried: device memory: WRITE to the device memory and READ from it: no data passed over RC before')
	without "FAKE_PROFILE=7 ${2-}" "${skipped[@]}"
	diff <(jq -r '.steps[] | select(.group == "RC" and (.step | contains(" to ")) and .result != "not tried").step' "$own.json") \
		<(printf '%s\n' RE{SET\ to\ RESET,SET\ to\ INIT} INIT\ to\ {RESET,INIT,ERR} ERR\ to\ {RESET,ERR})
	[[ -z ${1-} || $(jq -r '.steps[] | select(.reason == "DEVICE_GONE").detail' "$own.json") == 'rdmaez does not know all rules of this driver' ]]
}

# Of a process without CAP_NET_RAW.
no_right() {
	fail_if 'FAKE_PROFILE=2 FAKE_QUIRKS=0x4002'
	[[ $(jq -c '.steps[] | select(.group == "RAW_PACKET")' "$own.json") == \
		'{"result":"not tried","group":"RAW_PACKET","step":"create a queue pair","errno":"EPERM","reason":"CREATE_PRIVILEGE"}' ]]
}

# Newer rxe does not tell what is wrong with a gather entry, or with a receive: that they are flushed is enough.
flushed() {
	fail_if FAKE_SPOILS=flushed "errors on purpose: WRITE with a wrong rkey: $names WC_RKEY" \
		"errors on purpose: WRITE without the remote write right: $names WC_PEER_RIGHT" \
		"errors on purpose: a receive that is too short: $names WC_PEER_RECV" \
		"errors on purpose: a SEND for which no receive is posted: $names WC_RNR" \
		"errors on purpose: a peer that does not answer: $names WC_RETRIES"
	[[ $(jq -r '.steps[] | select(.step == "WRITE from a wrong lkey") | .result + " " + .reason' "$own.json") == 'pass WC_FLUSHED_OWN' ]]
	fail_if FAKE_SPOILS=dropped
	[[ $(jq -r '.steps[] | select(.step == "a receive that is too short").detail' "$own.json") == \
		'the receive: IBV_WC_WR_FLUSH_ERR, WC_FLUSHED_RECV' ]]
}

# A state that is not the one asked for: of erdma, RESET is INIT, and ERR is left for no other.
other_state() {
	fail_if FAKE_PROFILE=9 'RC: RESET to RESET: the queue pair is in INIT' 'RC: INIT to RESET: the queue pair is in INIT' \
		'RC: ERR to RESET: the queue pair is in ERR'
}

# refusals_differ ERRNO WORD FAILED NOT_TRIED: wrong moves are refused with this one, or taken, and those that there are go on.
refusals_differ() {
	local own=$scratch/refusals_$1 code=0
	env LD_LIBRARY_PATH="$PWD/build/tests/fake" FAKE_CARRIES=1 FAKE_PROFILE=1 FAKE_REFUSAL="$1" \
		"$doctor" --timeout 30 --certify="$own.json" >"$own" || code=$?
	((code == 1))
	diff <(steps "$own.json" fail | sed 's/: wrong: .*//' | sort | uniq -c | xargs) - <<<"$3"
	[[ $(jq -r '.steps[] | select(.result == "fail").detail' "$own.json" | sort -u) == "rdmaez predicted EINVAL, and the kernel returned $2" ]]
	diff <(jq -r '.steps[] | select(.result == "not tried" and (.step | startswith("wrong"))) | [.step, .detail] | join(": ")' "$own.json" |
		sort | uniq -c | sed 's/^ *//') <(printf '%s' "${4:+$4$'\n'}")
}

no_device() {
	local code=0
	rm -f "$file"
	"$doctor" --certify="$file" no_such_device >"$scratch/report" || code=$?
	cat "$scratch/report"
	grep -qxE 'FAIL certify no_such_device: there is no device to try|FAIL certify: libibverbs cannot be loaded: .*' "$scratch/report"
	[[ $code == 1 && ! -e $file ]]
}

# A library that is none.
no_library() {
	local code=0
	mkdir "$scratch/broken"
	echo none >"$scratch/broken/libibverbs.so.1"
	LD_LIBRARY_PATH=$scratch/broken "$doctor" --certify="$scratch/broken/file" >"$scratch/report" || code=$?
	diff "$scratch/report" - <<-END
		FAIL certify: libibverbs cannot be loaded: $scratch/broken/libibverbs.so.1: file too short
		     > rdmaez-doctor --only provider
		rdmaez-doctor: 1 failed, 0 warnings, 0 notes, 0 ok
	END
	[[ $code == 1 && ! -e $scratch/broken/file ]]
}

# What is said of the way to a peer is counted: here there is none that answers.
peer() {
	local code=0
	FAKE_REFUSES=1 LD_LIBRARY_PATH=$PWD/build/tests/fake "$doctor" --peer 127.0.0.1:9 --certify="$file" >"$scratch/report" || code=$?
	((code == 1))
	diff <(jq -c '.steps[] | select(.group == "second host")' "$file") - <<-'END'
		{"result":"fail","group":"second host","step":"path","detail":"0 failed, 0 warnings, 1 notes, 0 ok"}
		{"result":"fail","group":"second host","step":"probe","detail":"1 failed, 0 warnings, 0 notes, 0 ok"}
	END
}

# refuses CODE TEXT FILE [COMMAND...]: the file cannot be written; what is printed is in $scratch/out and $scratch/errors.
refuses() {
	local code=0
	FAKE_REFUSES=1 LD_LIBRARY_PATH=$PWD/build/tests/fake "${@:4}" "$doctor" --certify="$3" 2>"$scratch/errors" | cat >"$scratch/out" || code=${PIPESTATUS[0]}
	cat "$scratch/errors"
	[[ $code == "$1" && $(<"$scratch/errors") == "rdmaez-doctor: cannot write $3: $2" ]]
}

# What is known before is told before: a run takes minutes.
not_written() {
	refuses 1 'No such file or directory' "$scratch/no/such/directory"
	refuses 1 'Is a directory' "$scratch"
	[[ ! -s $scratch/out ]]
}

# as_user COMMAND...: as somebody whom permissions stop.
as_user() {
	if ((EUID == 0)); then setpriv --reuid 65534 --clear-groups "$@"; else "$@"; fi
}

# Nobody may write the directory, or the file in it.
read_only() {
	mkdir "$scratch/closed" "$scratch/open"
	echo older >"$scratch/open/file"
	chmod 555 "$scratch/closed"
	chmod 777 "$scratch/open"
	chmod 444 "$scratch/open/file"
	chmod 711 "$scratch"
	refuses 1 'Permission denied' "$scratch/closed/file" as_user
	refuses 1 'Permission denied' "$scratch/open/file" as_user
	[[ ! -s $scratch/out && -z $(ls "$scratch/closed") && $(ls "$scratch/open") == file ]]
}

# prints_all: the results are on standard output instead.
prints_all() {
	grep -qx 'rdmaez-doctor: the results that it would have:' "$scratch/out"
	sed '1,/^rdmaez-doctor: the results/d' "$scratch/out" >"$scratch/instead"
	follows_schema "$scratch/instead"
	jq -e '.summary.pass > 100' "$scratch/instead" >/dev/null
}

# A limit of the file's size stands for a disk that is full by half of it.
full() {
	mkdir "$scratch/full"
	echo older >"$scratch/full/file"
	refuses 1 'No space left on device' /dev/full
	prints_all
	refuses 1 'File too large' "$scratch/full/file" bash -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' bash
	prints_all
	[[ $(ls "$scratch/full") == file && $(<"$scratch/full/file") == older ]]
}

# What the file can be written to is gone, or somebody else's, when there are results.
gone() {
	mkdir "$scratch/gone"
	FAKE_MEANWHILE="rmdir $scratch/gone" refuses 1 'No such file or directory' "$scratch/gone/file"
	prints_all
	mkdir "$scratch/taken"
	chmod 777 "$scratch/taken"
	as_user touch "$scratch/taken/file"
	FAKE_MEANWHILE="chmod 444 $scratch/taken/file" refuses 1 'Permission denied' "$scratch/taken/file" as_user
	prints_all
	[[ $(ls "$scratch/taken") == file && ! -s $scratch/taken/file ]]
}

# A link stays one, what is no file is written as it is, and a file of which only the directory is closed is, too.
other_places() {
	local code=0
	echo older >"$scratch/target"
	chmod 640 "$scratch/target"
	ln -s target "$scratch/link"
	FAKE_REFUSES=1 LD_LIBRARY_PATH=$PWD/build/tests/fake "$doctor" --certify="$scratch/link" >/dev/null || code=$?
	[[ $code == 1 && -L $scratch/link && $(stat -c %a "$scratch/target") == 640 ]]
	follows_schema "$scratch/target"
	FAKE_REFUSES=1 LD_LIBRARY_PATH=$PWD/build/tests/fake "$doctor" --certify=/dev/stdout >"$scratch/out" || :
	[[ -L /dev/stdout && $(grep -c '"rdmaez-certify 1"' "$scratch/out") == 1 ]]
	chmod 777 "$scratch/closed"
	install -m 666 /dev/null "$scratch/closed/there"
	chmod 555 "$scratch/closed"
	FAKE_REFUSES=1 LD_LIBRARY_PATH=$PWD/build/tests/fake as_user "$doctor" --certify="$scratch/closed/there" >/dev/null || :
	follows_schema "$scratch/closed/there"
}

# usage TEXT ARG...: it is refused, with this text.
usage() {
	local code=0
	"$doctor" "${@:2}" >"$scratch/out" 2>&1 || code=$?
	cat "$scratch/out"
	((code == 2))
	grep -qF -- "$1" "$scratch/out"
}

# make check-hardware where there is no device.
no_hardware() {
	local code=0
	tests/hardware/run "$scratch/hardware" >"$scratch/out" 2>&1 || code=$?
	cat "$scratch/out"
	[[ -n $(ls /sys/class/infiniband 2>/dev/null) ]] ||
		[[ $code == 1 && $(<"$scratch/out") == 'There is no RDMA device on this machine; rdmaez-doctor says why.' ]]
	[[ ! -e $scratch/hardware ]]
}

# What it says of the files of two devices.
hardware() {
	local code=0
	export LD_LIBRARY_PATH=$PWD/build/tests/fake FAKE_PROFILE=2 FAKE_REFUSES=1
	tests/hardware/run "$scratch/hardware" fake0 fake0 >"$scratch/out" 2>&1 || code=$?
	tail -n 1 "$scratch/out"
	[[ $code == 1 && $(ls "$scratch/hardware") == $'mlx5_ib-1.json\nmlx5_ib-2.json' ]]
	[[ $(tail -n 1 "$scratch/out") == "Please send $scratch/hardware/mlx5_ib-1.json $scratch/hardware/mlx5_ib-2.json: "* ]]
}

# A directory that nobody may write: nothing is tried, and no file is asked for.
closed_hardware() {
	local code=0
	export LD_LIBRARY_PATH=$PWD/build/tests/fake FAKE_REFUSES=1
	rm -f "$scratch/closed/there"
	as_user tests/hardware/run "$scratch/closed" fake0 >"$scratch/out" 2>&1 || code=$?
	cat "$scratch/out"
	[[ $code == 1 && $(<"$scratch/out") == "rdmaez-doctor: cannot write $scratch/closed/new.json: Permission denied" ]]
}

ok "XRC and device memory, on a device that carries no data" of_mlx5
ok "a line is a result" is_readable
sed 's/"mlx5_ib"/"fake0"/' "$file" >"$scratch/named.json"
fails "a device's name is seen" '"driver": "fake0"' is_private "$scratch/named.json"
sed 's/"mlx5_ib"/"0200:00ff:fe00:0001"/' "$file" >"$scratch/named.json"
fails "a GUID is seen" '0200:00ff' is_private "$scratch/named.json"
jq '.steps[0].device = "fake0"' "$file" >"$scratch/more.json"
fails "a member that the schema lacks is seen" "'device' was unexpected" follows_schema "$scratch/more.json"
jq '.steps[1] = .steps[0]' "$file" >"$scratch/twice.json"
fails "a step that is there twice is seen" 'steps that are there twice: 1$' follows_schema "$scratch/twice.json"
ok "a device that takes what rdmaez knows to be refused" other_than_known
ok "one that refuses what rdmaez knows to be taken" other_than_usual
ok "an unknown driver" unknown
ok "a run that dies" dies
ok "devices that carry data" all_pass
other='the bytes that arrived are not those that were sent'
for opcode in '2 SEND' '3 SEND with immediate data'; do
	soon ok "${opcode:2} brings other bytes" fail_if "FAKE_SPOILS=bytes:${opcode%% *}" {RC,UC,UD}": ${opcode:2}: $other"
done
for opcode in '0 WRITE' '1 WRITE with immediate data'; do
	soon ok "${opcode:2} brings other bytes" fail_if "FAKE_SPOILS=bytes:${opcode%% *}" {RC,UC}": ${opcode:2}: $other"
done
soon ok "READ brings other bytes" fail_if FAKE_SPOILS=bytes:4 "RC: READ: $other"
soon ok "READ brings other bytes from device memory" fail_if FAKE_SPOILS=device \
	"device memory: WRITE to the device memory and READ from it: $other"
soon ok "a sum is another" fail_if FAKE_SPOILS=bytes:6 "RC: FETCH_AND_ADD: $other"
soon ok "what is swapped in is another" fail_if FAKE_SPOILS=bytes:5 "RC: CMP_AND_SWP: $other"
soon ok "what was there before a sum is another" fail_if FAKE_SPOILS=old:6 "RC: FETCH_AND_ADD: $other"
soon ok "what was there before a swap is another" fail_if FAKE_SPOILS=old:5 "RC: CMP_AND_SWP: $other"
soon ok "other immediate data" fail_if FAKE_SPOILS=imm {RC,UC,UD}": SEND with immediate data: $other"
soon ok "other immediate data of WRITE" fail_if FAKE_SPOILS=imm:1 {RC,UC}": WRITE with immediate data: $other"
soon ok "no immediate data" fail_if FAKE_SPOILS=plain {RC,UC,UD}": SEND with immediate data: $other"
soon ok "a message of another length" fail_if FAKE_SPOILS=length {RC,UC,UD}": SEND: $other"
soon ok "the length of a WRITE, which a receive need not know" fail_if FAKE_SPOILS=length:1
soon ok "SEND is lost" fail_if FAKE_SPOILS=lost {RC,UC,UD}': SEND'
soon ok "WRITE is lost" fail_if FAKE_SPOILS=lost:0 {RC,UC}": WRITE: $other"
soon ok "mistakes that the device takes" fail_if FAKE_SPOILS=takes \
	'errors on purpose: '{'WRITE with a wrong rkey','WRITE without the remote write right','WRITE from a wrong lkey','a receive that is too short','a SEND for which no receive is posted','a peer that does not answer'}': the send succeeded' \
	'errors on purpose: SEND with a wrong Q_Key: the datagram arrived'
names='the explanation of the send does not name'
soon ok "statuses without a reason" fail_if FAKE_SPOILS=status "errors on purpose: WRITE with a wrong rkey: $names WC_RKEY" \
	"errors on purpose: WRITE without the remote write right: $names WC_PEER_RIGHT" \
	"errors on purpose: WRITE from a wrong lkey: $names WC_LKEY" \
	"errors on purpose: a receive that is too short: $names WC_PEER_RECV" \
	"errors on purpose: a SEND for which no receive is posted: $names WC_RNR" \
	"errors on purpose: a peer that does not answer: $names WC_RETRIES"
soon ok "mistakes that the device flushes itself" flushed
soon ok "a receive that does not complete" fail_if FAKE_SPOILS=mute \
	'errors on purpose: a receive that is too short: the receive did not complete'
soon ok "a receive that is not flushed" fail_if FAKE_SPOILS=few 'drain and recover: drain receives: 1 of 2 flushed, 0 completed'
soon ok "refusals with another errno value" refusals_differ 5 EIO '45 RC 39 UC 35 UD' ''
soon ok "wrong moves that are taken" refusals_differ 0 0 '6 RC 6 UC 6 UD' \
	"$(printf '3 wrong moves from %s: one wrong move was not refused, so the others were not tried\n' ERR INIT RESET RTR RTS SQD)"
soon ok "an InfiniBand port" without FAKE_PORT=infiniband \
	'not tried: errors on purpose: SEND with a wrong Q_Key: the port might report it to the subnet manager'
soon ok "no atomics" without FAKE_ATOMICS=0 'not offered: RC: '{FETCH_AND_ADD,CMP_AND_SWP}': the device reports no atomics'
soon ok "no inline data" without FAKE_INLINE=0 'not offered: more data: SEND of inline data: CAP_INLINE'
soon ok "no right to raw packets" no_right
soon ok "an address handle of the first end that stays" fail_if FAKE_FAILS=ibv_destroy_ah:2:5 'UD: destroy both queue pairs' \
	'end: deallocate the protection domain'
soon ok "one of the second end" fail_if FAKE_FAILS=ibv_destroy_ah:3:5 'UD: destroy both queue pairs' \
	'end: deallocate the protection domain'
soon ok "iWARP" iwarp
soon ok "a move that fails over iWARP" iwarp 'RESET to INIT' FAKE_FAILS=ibv_modify_qp:4:5
soon ok "a state that is not the one asked for" other_state
soon ok "no P_Key" fail_if FAKE_PORT=bare 'device: read the P_Keys: the P_Key table is empty'
soon ok "a port that is down" fail_if FAKE_PORT=down \
	'device: a port is active: none of its ports is active, and nothing else was tried'
while IFS='|' read -r verb step; do
	soon ok "${verb%%:*} fails: $step" fail_if "FAKE_FAILS=$verb" "$step"
done <<-'END'
	ibv_query_port:0:5|device: query the port
	ibv_query_device:0:5|device: query the device
	ibv_query_pkey:0:5|device: read the P_Keys
	ibv_alloc_pd:1:12|objects: allocate a protection domain
	ibv_reg_mr:1:12|objects: register memory
	ibv_dealloc_pd:1:5|objects: deallocate a protection domain in use
	ibv_modify_qp:2:5|RC: RESET to INIT: rdmaez predicted 0, and the kernel returned EIO
	ibv_create_qp:1:12|RC: create a queue pair
	ibv_create_qp:25:12|RC: ERR to ERR: ERR is not reached
	ibv_create_ah:1:12|UD: connect two queue pairs
	ibv_create_ah:2:12|UD: connect two queue pairs
	ibv_create_ah:3:12|UD: SEND back to where a datagram came from
	ibv_post_recv:12:5|UD: SEND back to where a datagram came from
	ibv_post_send:16:5|UD: SEND back to where a datagram came from
	ibv_create_srq:1:12|more data: SEND to a shared receive queue
	ibv_create_comp_channel:1:24|more data: SEND with a completion channel
	ibv_create_cq:92:12|more data: SEND with a completion channel
	ibv_create_qp:95:12|errors on purpose: WRITE with a wrong rkey
	ibv_post_send:24:5|errors on purpose: a receive that is too short
	ibv_create_qp:109:12|errors on purpose: SEND with a wrong Q_Key
	ibv_post_recv:18:5|errors on purpose: SEND with a wrong Q_Key
	ibv_post_send:28:5|errors on purpose: SEND with a wrong Q_Key
	ibv_create_qp:110:12|drain and recover: drain
	ibv_post_recv:21:5|drain and recover: drain receives
	ibv_create_qp:112:12|drain and recover: recover both queue pairs
	ibv_create_qp:113:12|drain and recover: recover both queue pairs
	ibv_create_qp:114:12|device memory: WRITE to the device memory and READ from it
	ibv_reg_dm_mr:1:12|device memory: register the device memory
	ibv_memcpy_to_dm:1:5|device memory: copy into the device memory and out of it: EIO
	ibv_memcpy_from_dm:1:5|device memory: copy into the device memory and out of it: EIO
	ibv_free_dm:1:5|device memory: free the device memory
END
ok "no device" no_device
ok "no library" no_library
ok "a peer that does not answer" peer
ok "a file that cannot be written is told before anything is tried" not_written
ok "so is one that this user may not write" read_only
ok "on a full disk an older file stays, and the results are printed" full
ok "a place that is gone when there are results" gone
ok "a link, a pipe, a file in a closed directory" other_places
ok "two devices" usage '--certify takes one DEVICE' --certify mlx5_0 mlx5_1
ok "a check by name" usage '--certify can be combined only with' --certify --only caps
ok "the check without the option" usage 'the check certify needs --certify' --only certify
ok "make check-hardware without a device" no_hardware
ok "make check-hardware with two" hardware
ok "make check-hardware in a closed directory" closed_hardware
done_testing
