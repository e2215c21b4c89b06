#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Random requests to rxe and to siw, each in a machine of its own, in make check-nightly: 20000 of each kind by a fixed
# seed. Nothing that is called certain may be false, no errno value another than the verb's, and no refusal without a
# finding. make check has some hundreds on rxe (tests/device/programs.t), and make check-siw on siw.

source tests/tap.bash

readonly seed=20261124

# A program, and its number of requests: post makes six kinds of them, and random_check on rxe three.
programs() {
	cat <<-END
		build/device/random_check 6700
		build/device/random_objects 20000
		build/device/random_post 3400
		build/siw/random_check 20000
		build/siw/random_objects 20000
		build/siw/post 3400
	END
}

# all_there: whoever includes what makes requests at random is in the list.
all_there() {
	diff <(programs | cut -d ' ' -f 1 | sort) \
		<(grep -lE '^#include "random_[a-z]+\.h"' tests/device/*.c tests/siw/*.c | sed -E 's,^tests(.*)\.c$,build\1,' | sort)
}

# runs PROGRAM REQUESTS
runs() {
	run_make "$1" || return 1
	tests/run "$1" "$seed" "$2" </dev/null >"$scratch/said" || :
	grep -v '^ok' "$scratch/said"
	grep -q "^# seed $seed" "$scratch/said"
	grep -qE '^1\.\.[1-9]' "$scratch/said"
	! grep -q '^not ok' "$scratch/said"
}

ok 'all programs with random requests are known' all_there
while read -r program requests; do
	nightly ok "seed $seed, $requests requests: $program" runs "$program" "$requests"
done < <(programs)
done_testing
