#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every reason is given by some header and expected by some test.

source tests/tap.bash
shopt -s extglob

reasons() {
	sed -n 's/^\tX(\([A-Z0-9_]*\),.*/\1/p' "$1/rdmaez/explain/why.h"
}

# words FILE...: "FILE WORD" of each word in these files, once, without the prefix. A reason's own line in the list
# does not count for that reason.
words() {
	LC_ALL=C awk '{
		own = match($0, /^\tX\([A-Z0-9_]+,/) ? substr($0, 4, RLENGTH - 4) : ""
		count = split($0, word, /[^A-Za-z0-9_]+/)
		for (i = 1; i <= count; i++) {
			sub(/^RDMAEZ_WHY_/, "", word[i])
			if (word[i] != "" && word[i] != own && !seen[FILENAME, word[i]]++)
				print FILENAME, word[i]
		}
	}' "$@"
}

# missing DIR TEXT FILE...: TEXT and the reason, of each reason of DIR that none of the files names.
missing() {
	reasons "$1" | sort -u >"$scratch/reasons"
	(($(wc -l <"$scratch/reasons") > 300))
	words "${@:3}" | cut -d' ' -f2 | sort -u | comm -23 "$scratch/reasons" - | sed "s/^/$2 /" >"$scratch/missing"
	[[ ! -s $scratch/missing ]] || { cat "$scratch/missing"; false; }
}

all_given() {
	missing "$1" 'no header gives' "$1"/rdmaez/!(why).h "$1"/rdmaez/{impl,explain,devel,devel/impl}/*.h
}

all_expected() {
	missing "$1" 'no test expects' tests/unit/*.c tests/device/*.c
}

ok 'every reason is given by a header' all_given include
ok 'every reason is expected by a test' all_expected include

cp -r include "$scratch/include"
sed -i 's/^\tX(NONE,/\tX(SEEDED_REASON, "nobody gives this", "nothing")\\\n&/' "$scratch/include/rdmaez/explain/why.h"
fails 'a reason that nobody gives is noticed' 'no header gives SEEDED_REASON' all_given "$scratch/include"
fails 'a reason that nobody expects is noticed' 'no test expects SEEDED_REASON' all_expected "$scratch/include"

done_testing
