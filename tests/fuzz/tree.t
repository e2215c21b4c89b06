#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The checks of rdmaez-doctor on trees whose files hold anything, fuzzed under ASan and UBSan with a fixed seed. To compile
# them all takes half a minute, so that is left to make check-nightly; make check replays the inputs that are kept, without
# a sanitizer.

header=tree longest=1500
source tests/fuzz/lib.bash

# The doctor's objects are those of make tools.
replayed() {
	local objects=()
	make -s build/tools/rdmaez-doctor
	mapfile -t objects < <(printf '%s\n' build/tools/headers.o build/tools/doctor/*.o | grep -vE '/(main|run|say|report|read)\.o$')
	fuzz_target tree
	"${CLANG:-clang}" "${flags[@]}" -D_GNU_SOURCE -DRDMAEZ_EXTERN -Iinclude -Itools/doctor -fsanitize=fuzzer tests/fuzz/tree.c \
		"${objects[@]}" "${fuzz_libraries[@]}" -o "$build/tree_replay"
	"$build/tree_replay" -runs=0 "-artifact_prefix=$scratch/" "$(kept tree)" 2>&1
}

# fuzz_tree DEFECT RUNS
fuzz_tree() {
	fuzz_build tree address,undefined "$build/tree.$1"
	"$build/tree.$1" -seed=1 "-runs=$2" "-max_len=$longest" -len_control=0 "-artifact_prefix=$scratch/" "$(kept tree)"
}

# seeded_tree FILE SCRIPT: a defect in one file, of what is built already.
seeded_tree() {
	local object=$build/tree.seeded objects
	mkdir -p "$scratch/tools"
	cp -r tools/doctor "$scratch/tools"
	sed -i "$2" "$scratch/tools/doctor/$1"
	! diff -r tools/doctor "$scratch/tools/doctor" >/dev/null || echo "nothing was seeded by $2" >&2
	fuzz_target tree
	"${CLANG:-clang}" "${flags[@]}" -Wno-gnu-statement-expression -D_GNU_SOURCE -DRDMAEZ_EXTERN -Iinclude \
		-fsanitize=fuzzer-no-link,address,undefined -c "$scratch/tools/doctor/$1" -o "$object.o"
	mapfile -t objects < <(printf '%s\n' "$build"/tree.plain.objects/*.o | grep -v "/tools.doctor.$1.o")
	"${CLANG:-clang}" -fsanitize=fuzzer,address,undefined "$object.o" "${objects[@]}" "${fuzz_libraries[@]}" -o "$object"
	"$object" -seed=1 -runs=200000 "-max_len=$longest" -len_control=0 "-artifact_prefix=$scratch/" "$(kept tree)"
}

ok 'each input that is kept is looked at by its check' replayed
nightly ok "$(nightly_runs 0) trees are looked at without a misstep" fuzz_tree plain "$(nightly_runs 0)"
nightly fails 'a row of the table of ports beyond it is noticed' 'AddressSanitizer|runtime error' \
	seeded_tree port.c 's/(count + 1) \* sizeof/(count ? count : 1) * sizeof/'
done_testing
