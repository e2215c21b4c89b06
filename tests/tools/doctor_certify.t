#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-doctor --certify on the fake libibverbs, for what no software device has: XRC, device memory, SQD that is never
# entered. The fake moves no data, so that is what fails. And devices that do not keep to what is known of their driver.

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

no_device() {
	local code=0
	rm -f "$file"
	"$doctor" --certify="$file" no_such_device >"$scratch/report" || code=$?
	cat "$scratch/report"
	grep -qxE 'FAIL certify no_such_device: there is no device to try|FAIL certify: libibverbs cannot be loaded: .*' "$scratch/report"
	[[ $code == 1 && ! -e $file ]]
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
ok "no device" no_device
ok "a file that cannot be written is told before anything is tried" not_written
ok "so is one that this user may not write" read_only
ok "on a full disk an older file stays, and the results are printed" full
ok "a link, a pipe, a file in a closed directory" other_places
ok "two devices" usage '--certify takes one DEVICE' --certify mlx5_0 mlx5_1
ok "a check by name" usage '--certify can be combined only with' --certify --only caps
ok "the check without the option" usage 'the check certify needs --certify' --only certify
ok "make check-hardware without a device" no_hardware
ok "make check-hardware with two" hardware
ok "make check-hardware in a closed directory" closed_hardware
done_testing
