#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Reading capabilities from JSON, fuzzed under ASan and UBSan with a fixed seed; and what is read
# although it was damaged, judged by jq.

source tests/tap.bash

build=build/fuzz
mkdir -p "$build"
flags=(-std=c11 -g -O1 @tests/compile/warnings -fno-sanitize-recover=all)

# The words of JSON and of the format, which a fuzzer would take long to find.
printf '"%s"\n' '{' '}' '[' ']' ',' ':' '{\"rdmaez_caps\":1' '\"sources\":{' '\"tso_caps\":{\"max_tso\":' \
	'\"max_qp\":' '\"max_mr_size\":' '\"fw_ver\":\"' '\"node_guid\":\"' '\"memory_window_type_1\":' \
	'\"max_qp\":\"DRIVER\"' '0011:2233:4455:6677' null true false -1 e+18 18446744073709551615 1.5 \
	'\\u00e9' '\xc3\xa9' >"$scratch/words"

# fuzz INCLUDE NAME RUNS
fuzz() {
	"${CLANG:-clang-14}" "${flags[@]}" -I"$1" -fsanitize=fuzzer,address,undefined \
		tests/fuzz/caps_parse.c -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" -max_len=300 -len_control=0 -dict="$scratch/words" \
		-artifact_prefix="$scratch/"
}

# damaged_is_valid INCLUDE: what is read is JSON to others too. The damage must leave enough of both
# kinds.
damaged_is_valid() {
	"${CC:-gcc}" "${flags[@]}" -I"$1" -DPRINT_JSON tests/fuzz/caps_parse.c -o "$build/caps_json"
	"$build/caps_json" 3000 >"$scratch/json"
	wc -l <"$scratch/json"
	(($(wc -l <"$scratch/json") > 300 && $(wc -l <"$scratch/json") < 2700))
	jq -es 'all(.rdmaez_caps == 1)' "$scratch/json" >"$scratch/verdict"
	[[ $(jq -s length "$scratch/json") == "$(wc -l <"$scratch/json")" ]]
}

# seeded NAME SCRIPT: a copy of the headers with SCRIPT, of sed, done to caps_parse.h.
seeded() {
	cp -r include "$scratch/$1"
	sed -i "$2" "$scratch/$1/rdmaez/caps_parse.h"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}

ok "5000 texts are read or refused without a misstep" fuzz include caps_parse 5000
ok "what is read of 3000 damaged texts is JSON" damaged_is_valid include

fails "a byte read beyond the text is noticed" "AddressSanitizer: heap-buffer-overflow" \
	fuzz "$(seeded byte 's/json->length - json->at < length || //')" caps_byte 5000
fails "a source that is lost is noticed" "deadly signal" \
	fuzz "$(seeded source '/caps.source\[id\] = (uint8_t)i;/d')" caps_source 5000
fails "what is read without a comma is noticed" "parse error" \
	damaged_is_valid "$(seeded comma '/take(json, ","))/{n; s/.*/json->depth += 0;/}')"
done_testing
