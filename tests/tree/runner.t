#!/bin/bash
# SPDX-License-Identifier: MIT
#
# How tests/run judges: what fails, hangs or cannot run does not pass for a success under prove.

source tests/tap.bash

# judged SCRIPT: a test program of these shell lines, under prove.
judged() {
	local program
	program=$(mktemp -p "$scratch")
	printf '#!/bin/sh\n%s\n' "$1" >"$program"
	chmod +x "$program"
	prove --comments --exec tests/run "$program"
}

# Only what must hang is given little time.
hanging() {
	RDMAEZ_TEST_SECONDS=1 judged "$1"
}

silent() {
	RDMAEZ_TEST_SILENCE=1 judged "$1"
}

allowing() {
	RDMAEZ_ALLOW_SKIP=1 judged "$1"
}

unset RDMAEZ_ALLOW_SKIP
ok 'a test that passes, passes' judged 'echo ok 1; echo 1..1'
fails 'a test that fails, fails' 'Failed 1/2' judged 'echo ok 1; echo not ok 2; echo 1..2'
fails 'one that dies after passing all fails' 'Non-zero exit status: 3' judged 'echo 1..1; echo ok 1; exit 3'
fails 'one that ends before its plan fails' 'No plan found' judged 'echo ok 1'
fails 'one that hangs fails' 'it ran for too long' hanging 'echo 1..1; echo ok 1; sleep 60'
fails 'one that is silent for too long fails' 'printed nothing for 1 s' silent 'echo 1..1; echo ok 1; sleep 60'
fails 'however it takes the signal' 'printed nothing for 1 s' silent 'trap "" TERM; echo 1..1; sleep 60; sleep 60; echo ok 1'
ok 'one that speaks in time goes on' silent 'echo 1..3; sleep 0.5; echo ok 1; sleep 0.5; echo ok 2; sleep 0.5; echo ok 3'
fails 'a skipped assertion fails' 'Failed 1/2' judged 'echo ok 1; echo "ok 2 # SKIP no device"; echo 1..2'
fails 'a skipped program fails' 'Failed 1/1' judged 'echo "1..0 # SKIP no device"'
fails 'exit status 77 fails' 'exited 77' judged 'echo "# no device"; exit 77'
fails 'exit status 77 after a plan fails' 'exited 77' judged 'echo "1..0 # SKIP no device"; exit 77'

ok 'a skipped assertion passes where skips are allowed' allowing 'echo ok 1; echo "ok 2 # SKIP no device"; echo 1..2'
ok 'so does a skipped program' allowing 'echo "1..0 # SKIP no device"'
ok 'so does exit status 77' allowing 'echo "# no device"; exit 77'
ok 'so does exit status 77 after a plan' allowing 'echo "1..0 # SKIP no device"; exit 77'
fails 'a failure fails there, too' 'Failed 1/1' allowing 'echo not ok 1; echo 1..1'

# tiers RDMAEZ_NIGHTLY SCRIPT: a test script of these lines.
tiers() {
	RDMAEZ_NIGHTLY=$1 bash -c "source tests/tap.bash; $2; done_testing" | tee "$scratch/tiers"
}

left_out() {
	tiers 0 'ok one true; nightly ok two false; nightly soon ok three true'
	diff - "$scratch/tiers" <<-'END'
		ok - one
		# 2 more in make check-nightly
		1..1
	END
}

ok 'what is nightly is counted elsewhere, and neither passes nor fails' left_out
ok 'it is an assertion in its time' tiers 1 'ok one true; nightly ok two true'
ok 'of the plan' grep -x 1..2 "$scratch/tiers"
fails 'and fails then' 'not ok - two' tiers 1 'ok one true; nightly ok two false'

# together NAME SCRIPT...: programs of these shell lines, as tests/device/programs.t runs them.
together() {
	local programs=()
	while (($# > 0)); do
		printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1"
		chmod +x "$scratch/$1"
		programs+=("$scratch/$1")
		shift 2
	done
	tests/device/programs.t here "${programs[@]}" | tee "$scratch/together"
}

all_told() {
	together one 'echo "ok 1 - a"; echo 1..1' two 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2'
	diff - "$scratch/together" <<-'END'
		ok - one: a
		ok - one ends as it should
		ok - two: a
		ok - two: b
		ok - two ends as it should
		1..5
	END
}

ok 'programs on one machine are all told' all_told
fails 'one of them that fails, fails' 'not ok - one: a' together one 'echo "not ok 1 - a"; echo 1..1; exit 1' two 'echo 1..0'
ok 'and the others go on' grep -F 'ok - two #' "$scratch/together"
fails 'one that ends before its plan fails' 'not ok - one ends with 0' together one 'echo "ok 1 - a"; echo 1..2'
fails 'one without a plan fails' 'not ok - one ends with 0' together one 'echo "ok 1 - a"'
fails 'one that dies fails' 'not ok - one ends with 139' together one 'echo "ok 1 - a"; echo 1..1; kill -SEGV $$'
ok 'one that cannot run is skipped' together one 'echo "1..0 # SKIP no device"; exit 77'
ok 'which counts as failed in its place' grep -x 'ok - one # SKIP it cannot run here' "$scratch/together"

done_testing
