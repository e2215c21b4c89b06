#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every reason is given by some header and expected by some test.

source tests/tap.bash

reasons() {
	sed -n 's/^\tX(\([A-Z0-9_]*\),.*/\1/p' "$1/rdmaez/why.h"
}

# named REASON FILES...: somewhere as a whole word, with or without the prefix.
named() {
	grep -qwE -- "(RDMAEZ_WHY_)?$1" "${@:2}"
}

all_given() {
	local reason
	for reason in $(reasons "$1"); do
		# Its own line in the list does not count.
		named "$reason" <(grep -rhv "^	X($reason," "$1/rdmaez") || echo "no header gives $reason"
	done >"$scratch/missing"
	[[ ! -s $scratch/missing ]] || { cat "$scratch/missing"; false; }
}

all_expected() {
	local reason
	for reason in $(reasons "$1"); do
		named "$reason" tests/unit/*.c tests/device/*.c || echo "no test expects $reason"
	done >"$scratch/missing"
	[[ ! -s $scratch/missing ]] || { cat "$scratch/missing"; false; }
}

ok 'every reason is given by a header' all_given include
ok 'every reason is expected by a test' all_expected include

cp -r include "$scratch/include"
sed -i 's/^\tX(NONE,/\tX(SEEDED_REASON, "nobody gives this", "nothing")\\\n&/' "$scratch/include/rdmaez/why.h"
fails 'a reason that nobody gives is noticed' 'no header gives SEEDED_REASON' all_given "$scratch/include"
fails 'a reason that nobody expects is noticed' 'no test expects SEEDED_REASON' all_expected "$scratch/include"
done_testing
