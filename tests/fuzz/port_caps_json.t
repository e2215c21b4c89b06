#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The JSON of a port, judged by jq: structs that are all zero, all ones or random, with random tables, give
# valid JSON with every value, its names, and nothing else.
#
# Nightly: tests/fuzz/caps_json.t has the same code with more keys.

source tests/tap.bash

flags=(-std=c11 -g1 @tests/compile/warnings -fno-sanitize-recover=all)

# written INCLUDE NUMBER: two special structs and so many random ones: what is expected, what there is.
written() {
	local program=$scratch/program.${1##*/}
	[[ -e $program ]] || "${CC:-gcc}" "${flags[@]}" -fsanitize=address,undefined "-I$1" tests/fuzz/port_caps_json.c -o "$program" -libverbs
	"$program" "$2" >"$scratch/lines"
	[[ $(wc -l <"$scratch/lines") == $((2 * ($2 + 2))) ]] || { echo "not a line for each object"; return 1; }
}

valid() {
	written "$1" "$2"
	jq -es 'all(type == "object")' "$scratch/lines"
	# In ASCII, whatever the names of interfaces are.
	! LC_ALL=C grep -n '[^ -~]' "$scratch/lines"
}

# jq keeps no more than 53 bits of a number, so whatever is a number and no string becomes a string first.
equal() {
	written "$1" "$2"
	perl -pe 's/("(?:[^"\\]|\\.)*")|(-?\d+)/$1 \/\/ "\"$2\""/ge' "$scratch/lines" >"$scratch/strings"
	jq -nr 'inputs as $want | input as $got | ($want + $got | keys[])
		| select($want[.] != $got[.]) | "\(.): want \($want[.]), got \($got[.])"' \
		"$scratch/strings" >"$scratch/differences"
	head -n 20 "$scratch/differences"
	[[ ! -s $scratch/differences ]]
}

# jq takes the last of two equal keys; as a stream it shows both.
no_key_twice() {
	written "$1" 20
	while read -r line; do
		jq -en --stream '[inputs | select(length == 2)[0]] | length == (unique | length)' <<<"$line"
	done <"$scratch/lines"
}

# seeded NAME SCRIPT: a copy of the headers with SCRIPT, of sed, done to explain/port_caps.h.
seeded() {
	cp -r include "$scratch/$1"
	sed -i "$2" "$scratch/$1/rdmaez/explain/port_caps.h"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}

ok "the JSON of 1000 random ports is valid" valid include 1000
ok "every value, name and row in it is the struct's, and there is nothing else" equal include 1000
ok "no key is there twice" no_key_twice include

fails "a row's number that is another's is noticed" "gids: want" \
	equal "$(seeded row 's/",\\"ndev_ifindex\\":%u", row->ndev_ifindex/",\\"ndev_ifindex\\":%u", row->gid_index/')" 20
fails "a membership that is wrong is noticed" "pkeys: want" \
	equal "$(seeded member 's/return row->pkey >> 15/return row->pkey >> 14/')" 20
fails "a comma too few is noticed" "parse error" \
	valid "$(seeded comma 's/i ? "," : ""/i ? " " : ""/')" 20
fails "a name of an interface that is not escaped is noticed" "not a line for each|parse error" \
	valid "$(seeded name 's/rdmaez_impl_put_json_pair(text, ",", "ndev_name", ndev)/rdmaez_impl_put(text, ",\\"ndev_name\\":\\"%s\\"", ndev)/')" 20
done_testing
