#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The JSON of capabilities, judged by jq: structs that are all zero, all ones or random give valid JSON,
# with every value that is in the struct, its names, and nothing else.

source tests/tap.bash

flags=(-std=c11 -g1 @tests/compile/warnings -Itests -fno-sanitize-recover=all)

# written INCLUDE NUMBER: four special structs and so many random ones: what is expected, what there is.
written() {
	local program=$scratch/program.${1##*/}
	[[ -e $program ]] || "${CC:-gcc}" "${flags[@]}" -fsanitize=address,undefined "-I$1" tests/fuzz/caps_json.c -o "$program" -libverbs
	"$program" "$2" >"$scratch/lines"
	[[ $(wc -l <"$scratch/lines") == $((2 * ($2 + 4))) ]] || { echo "not a line for each object"; return 1; }
	sed -n 'n;p' "$scratch/lines" >"$scratch/json"
}

valid() {
	written "$1" "$2"
	jq -es 'all(type == "object")' "$scratch/json"
	# In ASCII, whatever the texts are.
	! LC_ALL=C grep -n '[^ -~]' "$scratch/json"
}

# jq keeps no more than 53 bits of a number, so whatever is a number and no string becomes a string first.
equal() {
	written "$1" "$2"
	perl -pe 's/("(?:[^"\\]|\\.)*")|(-?\d+)/$1 \/\/ "\"$2\""/ge' "$scratch/lines" >"$scratch/strings"
	jq -nr 'def differ($a; $b; $path): if $a == $b then empty
			elif ($a | type) == "object" and ($b | type) == "object"
			then ($a + $b | keys[]) as $key | differ($a[$key]; $b[$key]; $path + [$key])
			else "\($path | join(".")): want \($a), got \($b)" end;
		inputs as $want | input as $got
		| differ(reduce $want[] as [$path, $value] (null; setpath($path; $value)); $got; [])' \
		"$scratch/strings" >"$scratch/differences"
	head -n 20 "$scratch/differences"
	[[ ! -s $scratch/differences ]]
}

# jq takes the last of two equal keys; as a stream it shows both.
no_key_twice() {
	written "$1" 20
	while read -r line; do
		jq -en --stream '[inputs | select(length == 2)[0]] | length == (unique | length)' <<<"$line"
	done <"$scratch/json"
}

# seeded NAME FILE SCRIPT: a copy of the headers with SCRIPT, of sed, done to FILE.
seeded() {
	cp -r include "$scratch/$1"
	sed -i "$3" "$scratch/$1/rdmaez/$2"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $3" >&2
	echo "$scratch/$1"
}

runs=$((${RDMAEZ_NIGHTLY:-0} == 1 ? 2000 : 100))
ok "the JSON of $runs random structs is valid" valid include "$runs"
ok "every value and every name in it is the struct's, and there is nothing else" equal include "$runs"
ok "no key is there twice" no_key_twice include

fails "a value of another field is noticed" "max_qp_wr: want" \
	equal "$(seeded value impl/caps_table.h 's/field = &table.fields\[id\];/field = \&table.fields[id == 18 ? 17 : id];/')" 20
nightly fails "a number that lost its high bits is noticed" "page_size_cap: want" \
	equal "$(seeded bits explain/caps.h 's/"%llu", (unsigned long long)item->value/"%u", (unsigned int)item->value/')" 20
nightly fails "a bit without its name is noticed" "_names: want" \
	equal "$(seeded name explain/caps.h 's/"bit_%llu", (unsigned long long)number/"bit_%u", (unsigned int)number \& 31/')" 20
nightly fails "a comma too many is noticed" "parse error" \
	valid "$(seeded comma explain/caps.h 's/		comma = ",";/		comma = ",,";/')" 20
nightly fails "a byte that is not ASCII is noticed" "Binary file|sources" \
	valid "$(seeded ascii explain/diag.h 's/ && character < 0x7f)/ \&\& character < 0x100)/')" 20
nightly fails "a key that is there twice is noticed" "^false$" \
	no_key_twice "$(seeded key impl/caps_rows.h 's/LEAST, DERIVED, port_count,/LEAST, DERIVED, phys_port_cnt,/')"
nightly fails "a text that runs on beyond its array is noticed" "want|AddressSanitizer" \
	equal "$(seeded text explain/caps.h 's/item->text, item->field->size - 1)/item->text, 4096)/')" 20
done_testing
