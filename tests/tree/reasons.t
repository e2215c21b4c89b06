#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every reason is given by some header and expected by some test.

source tests/tap.bash

reasons() {
	sed -n 's/^\tX(\([A-Z0-9_]*\),.*/\1/p' "$1/rdmaez/why.h"
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
	missing "$1" 'no header gives' "$1"/rdmaez/{,impl/,devel/,devel/impl/}*.h
}

all_expected() {
	missing "$1" 'no test expects' tests/unit/*.c tests/device/*.c
}

# grouped DIR: "GROUP REASON" of each reason beyond the core, GROUP in lower case.
grouped() {
	sed -n -e '/^#define RDMAEZ_IMPL_WHY_[A-Z]*(X)/{s/.*WHY_\([A-Z]*\)(.*/\L\1/;h}' \
		-e '/^\tX(/{s/^\tX(\([A-Z0-9_]*\),.*/\1/;G;s/\(.*\)\n\(.*\)/\2 \1/p}' "$1/rdmaez/why.h" | grep -v '^core '
}

# enters GROUP FILE: the file, or else each that includes it, has the group's texts entered into its records.
enters() {
	local file
	! grep -q "rdmaez_impl_why_$1\b" "$2" || return 0
	grep -rl "#include \"\(.*/\)\?${2##*/}\"" "${2%%/rdmaez/*}" >"$scratch/includers" || return 1
	while read -r file; do
		grep -q "rdmaez_impl_why_$1\b" "$file" || return 1
	done <"$scratch/includers"
}

# A reason beyond the core is given only where its group's texts are entered, by every function of the file.
all_told() {
	local group reason file key
	local -A group_of=() entered=()
	while read -r group reason; do
		group_of[$reason]=$group
	done < <(grouped "$1")
	((${#group_of[@]} > 100))
	while read -r file reason; do
		group=${group_of[$reason]-}
		[[ -n $group && $file != */why.h && $file != */diag_fmt.h ]] || continue
		key=$group:$file
		[[ -n ${entered[$key]-} ]] || entered[$key]=$(enters "$group" "$file" && echo yes || echo no)
		[[ ${entered[$key]} == yes ]] || echo "${file##*/} gives $reason without the texts of $group"
	done < <(words "$1"/rdmaez/{,devel/}impl/*.h) >"$scratch/untold"
	for file in "$1"/rdmaez/{,devel/}impl/*.h; do
		! grep -q 'rdmaez_impl_why_[a-z]*[),]' "$file" ||
			! grep -q -e 'diag_reset(diag' -e 'begin(diag, [^,]*, NULL,' "$file" ||
			[[ $file == */diag.h ]] || echo "${file##*/} has a function that enters no texts"
	done >>"$scratch/untold"
	[[ ! -s $scratch/untold ]] || { cat "$scratch/untold"; false; }
}

ok 'every reason is told by the record of the function that gives it' all_told include
ok 'every reason is given by a header' all_given include
ok 'every reason is expected by a test' all_expected include

cp -r include "$scratch/include"
sed -i 's/^\tX(NONE,/\tX(SEEDED_REASON, "nobody gives this", "nothing")\\\n&/' "$scratch/include/rdmaez/why.h"
fails 'a reason that nobody gives is noticed' 'no header gives SEEDED_REASON' all_given "$scratch/include"
fails 'a reason that nobody expects is noticed' 'no test expects SEEDED_REASON' all_expected "$scratch/include"

# seeded FILE SCRIPT: a copy of the headers with this change to one of them.
seeded() {
	rm -rf "$scratch/include"
	cp -r include "$scratch/include"
	sed -i "$2" "$scratch/include/rdmaez/impl/$1"
	! cmp -s "$scratch/include/rdmaez/impl/$1" "include/rdmaez/impl/$1"
}

ok 'a copy has a reason of another group' seeded ah.h 's/RDMAEZ_WHY_AH_UNKNOWN/RDMAEZ_WHY_MR_UNMAPPED/'
fails 'a reason without its texts is noticed' 'ah.h gives MR_UNMAPPED without' all_told "$scratch/include"
ok 'a copy has a function without texts' seeded mr.h '0,/, rdmaez_impl_why_objects,/s//, NULL,/'
fails 'a function without texts is noticed' 'mr.h has a function that enters no texts' all_told "$scratch/include"
done_testing
