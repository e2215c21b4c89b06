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

allowing() {
	RDMAEZ_ALLOW_SKIP=1 judged "$1"
}

unset RDMAEZ_ALLOW_SKIP
ok 'a test that passes, passes' judged 'echo ok 1; echo 1..1'
fails 'a test that fails, fails' 'Failed 1/2' judged 'echo ok 1; echo not ok 2; echo 1..2'
fails 'one that dies after passing all fails' 'Non-zero exit status: 3' judged 'echo 1..1; echo ok 1; exit 3'
fails 'one that ends before its plan fails' 'No plan found' judged 'echo ok 1'
fails 'one that hangs fails' 'ran longer than 1 s' hanging 'echo 1..1; echo ok 1; sleep 60'
fails 'a skipped assertion fails' 'Failed 1/2' judged 'echo ok 1; echo "ok 2 # SKIP no device"; echo 1..2'
fails 'a skipped program fails' 'Failed 1/1' judged 'echo "1..0 # SKIP no device"'
fails 'exit status 77 fails' 'exited 77' judged 'echo "# no device"; exit 77'
fails 'exit status 77 after a plan fails' 'exited 77' judged 'echo "1..0 # SKIP no device"; exit 77'

ok 'a skipped assertion passes where skips are allowed' allowing 'echo ok 1; echo "ok 2 # SKIP no device"; echo 1..2'
ok 'so does a skipped program' allowing 'echo "1..0 # SKIP no device"'
ok 'so does exit status 77' allowing 'echo "# no device"; exit 77'
ok 'so does exit status 77 after a plan' allowing 'echo "1..0 # SKIP no device"; exit 77'
fails 'a failure fails there, too' 'Failed 1/1' allowing 'echo not ok 1; echo 1..1'

done_testing
