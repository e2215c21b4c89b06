#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What rdmaez-explain --core reads of a core, fuzzed under ASan and UBSan with a fixed seed.

header=core longest=60
source tests/fuzz/lib.bash

# fuzz_core DIRECTORY NAME RUNS: the reader in a tree like this one.
fuzz_core() {
	"${CLANG:-clang}" "${flags[@]}" -D_GNU_SOURCE -DEXPLAIN_FEW=16 "-I$1/tools/explain" -fsanitize=fuzzer,address,undefined \
		"$1/tests/fuzz/core.c" -o "$build/$2"
	"$build/$2" -seed=1 -runs="$3" "-max_len=$longest" -len_control=0 -close_fd_mask=3 -artifact_prefix="$scratch/" \
		"$(kept core)"
}

# seeded_core NAME SCRIPT: a copy with SCRIPT, of sed, done to the reader.
seeded_core() {
	mkdir -p "$scratch/$1/tools" "$scratch/$1/tests/fuzz"
	cp -r tools/explain "$scratch/$1/tools"
	cp tests/fuzz/{core.c,must.h} "$scratch/$1/tests/fuzz"
	sed -i "$2" "$scratch/$1/tools/explain/core.c"
	! diff tools/explain/core.c "$scratch/$1/tools/explain/core.c" >/dev/null || echo "nothing was seeded by $2" >&2
	echo "$scratch/$1"
}

runs=$(nightly_runs 3000 100000)
ok "$runs cores are read without a misstep" fuzz_core . core "$runs"

fails "a name that goes beyond the notes is noticed" "AddressSanitizer" \
	fuzz_core "$(seeded_core name 's/length >= 21 && //')" core_name 200000
nightly fails "a note longer than what is there is noticed" "AddressSanitizer|deadly signal" \
	fuzz_core "$(seeded_core note 's/if (name > size - at || text > size - at - name)/if (0)/')" core_note 200000
done_testing
