#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The page of options has every member of every struct of options, and says of defaults what the builder of attributes
# does. No flag has another meaning in another field.

source tests/compile/lib.bash

export LC_ALL=C
page=docs/options.md

# rows PAGE STRUCT: the rows of its table.
rows() {
	sed -n "/^<!-- table of options of $2 -->/,/^<!-- end/{/^| \`/p}" "$1"
}

# Structs of options and their members, as ctags sees them.
expected() {
	ours include >"$scratch/ours.c"
	ctags -x --kinds-C=m --_xformat='%s %N' "$scratch/ours.c" |
		sed -nE 's/^(struct:)?(rdmaez_([a-z_]*_opts|path|gid_want)) (.*)/\2 \4/p' | sort -u
}

# complete PAGE
complete() {
	expected >"$scratch/expected"
	(($(wc -l <"$scratch/expected") > 50))
	cut -d ' ' -f 1 "$scratch/expected" | sort -u | while read -r struct; do
		rows "$1" "$struct" | sed -E "s/^\| \`(\w+)\`.*/$struct \1/"
	done | sort -u | comm -23 "$scratch/expected" - | sed 's/^/not in the page: /' | tee "$scratch/missing"
	[[ ! -s $scratch/missing ]]
}

# tested FILE...: each member is named by one of these, as .member or as an argument of a macro.
tested() {
	local struct member
	expected | while read -r struct member; do
		grep -qE "(\.|->|\(|, )$member\b" -- "$@" || echo "no test sets $struct $member"
	done >"$scratch/untested"
	cat "$scratch/untested"
	[[ ! -s $scratch/untested ]]
}

# defaults PAGE: the builder's rows, which come from the headers' lists, against what the comments say: the default
# where it is a number, and whether 0 has to be asked for.
defaults() {
	local field default zero row told
	{ rows "$1" rdmaez_qp_opts; rows "$1" rdmaez_path; } >"$scratch/rows"
	build/docs/data attributes | jq -r '.attributes[] | select(.option | test("^(path\\.)?[a-z_]+$")) |
		"\(.option | sub("^path\\."; "")) \(.default) \(if .default != 0 and .min == 0 then "zero" else "none" end)"' |
		while read -r field default zero; do
			row=$(grep -m 1 "^| \`$field\`" "$scratch/rows")
			told=$(cut -d '|' -f 3 <<<"$row")
			case $field in
			mtu | qkey) continue ;; # in words, and by name
			esac
			[[ ! $told =~ ^\ ([0-9]+)[^0-9] || ${BASH_REMATCH[1]} == "$default" ]] || echo "$field: $told is not $default"
			[[ $zero == none || $told == *RDMAEZ_ZERO* ]] || echo "$field: nothing is said of RDMAEZ_ZERO"
		done >"$scratch/wrong"
	cat "$scratch/wrong"
	[[ ! -s $scratch/wrong ]]
}

ok 'every member of every struct of options is in the page' complete "$page"
ok 'every member is set by a unit test' tested tests/unit/*.c
ok 'defaults are those of the builder' defaults "$page"

# shellcheck disable=SC2016 # not to be expanded here
sed '/^| `completed`/d; /^| `timeout` /s/14/15/; /^| `rnr_retry` /s/RDMAEZ_ZERO//' "$page" >"$scratch/page.md"
fails 'a member that is missing is seen' 'not in the page: rdmaez_drain_opts completed' complete "$scratch/page.md"
fails 'another default is seen' 'timeout: .* is not 14' defaults "$scratch/page.md"
fails 'and a zero that is not mentioned' 'rnr_retry: nothing is said' defaults "$scratch/page.md"
echo 'opts.timeout = 1;' >"$scratch/one.c"
fails 'a member that no test sets is seen' 'no test sets rdmaez_drain_opts completed' tested "$scratch/one.c"

# distinct DIRECTORY: no flag has the value and the prefix of another field's.
distinct() {
	python3 -B tests/tree/flags.py "$1"/rdmaez/*.h
}

ok 'no two kinds of flags share a value under one prefix' distinct include
cp -r include "$scratch/include"
sed -i 's/RDMAEZ_CQ_BY_EVENT = 1 << 1/RDMAEZ_CQ_BY_EVENT = 1 << 0/' "$scratch/include/rdmaez/examine.h"
fails 'one that does is seen' '^RDMAEZ_CQ_BY_EVENT is 1 << 0, and so is RDMAEZ_CQ_SOLICITED$' distinct "$scratch/include"

done_testing
