#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The explanation path, fuzzed: random requests on a device that answers at random, under ASan and
# UBSan, with a fixed seed; and the JSON of random records, judged by jq. make check has 2000 requests, and
# make check-nightly a million.

header=explain longest=1200
source tests/fuzz/lib.bash

fake=(tests/fake/*.c)
flags=(-std=c11 -g1 "-O$level" @tests/compile/warnings -Iinclude -Itests/fake -fno-sanitize-recover=all)

# The fake is compiled once: it is the same for all that is fuzzed.
fuzzed=("${CLANG:-clang}" "${flags[@]}" "-fsanitize=address,undefined")
(cd tests/fake && printf '%s\n' *.c) >"$scratch/sources"
objects() {
	xargs -P "$(nproc)" -I NAME "${fuzzed[@]}" -fsanitize=fuzzer-no-link -c tests/fake/NAME -o "$scratch/NAME.o" \
		<"$scratch/sources"
}

fuzz() {
	"${fuzzed[@]}" -fsanitize=fuzzer "$1" "$scratch"/*.c.o -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" -max_len=1200 -len_control=0 -artifact_prefix="$scratch/" \
		"$(kept explain)"
}

json_is_valid() {
	"${CC:-gcc}" "${flags[@]}" -DPRINT_JSON tests/fuzz/explain.c "${fake[@]}" -o "$build/json"
	"$build/json" 2000 >"$scratch/json"
	[[ $(wc -l <"$scratch/json") == 2000 ]]
	# Every line is an object with the keys that are always there, and findings of the right form.
	jq -es 'length == 2000 and all(
		(.call | type == "string") and (.error > 0) and (.findings | length > 0) and
		all(.findings[]; (.severity | IN("error", "likely", "advice")) and
			(.reason | test("^[A-Z0-9_]+$")) and
			(.kind == "none" or (.value | type == "number")) and
			(.what | length > 0) and (.next | length > 0)))' "$scratch/json" >"$scratch/verdict"
}

ok 'the fake is compiled for it' objects
runs=$(nightly_runs 2000)
ok "$runs random requests are explained without a misstep" fuzz tests/fuzz/explain.c explain "$runs"
ok "the JSON of 2000 random records is valid" json_is_valid

# A byte beyond the buffer must be seen.
sed 's|rdmaez_impl_put(text, "%s", rest);|&|; s|malloc(size + 1)|malloc(size ? size - 1 : 1)|' \
	tests/fuzz/explain.c >"$scratch/short.c"
fails "a buffer one byte too small is noticed" "AddressSanitizer: heap-buffer-overflow" \
	fuzz "$scratch/short.c" short 5000
done_testing
