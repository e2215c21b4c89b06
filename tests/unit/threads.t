#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The headers under ThreadSanitizer: eight threads, each with queue pairs of its own, in two files that include the
# headers in the two ways there are. tests/unit/threads has the program.

source tests/tap.bash
: "${CC:=gcc}"
directory=build/unit/threads
run_make $directory/threads || exit

# Some kernels place memory at random where the sanitizer of gcc 12 does not expect it.
fixed=(setarch --addr-no-randomize)
"${fixed[@]}" true 2>/dev/null || fixed=()

raceless() {
	local code=0
	"${fixed[@]}" "$1" >"$scratch/out" 2>&1 || code=$?
	grep -E '^not ok|^SUMMARY' "$scratch/out" || :
	((code == 0)) && grep -q '^1\.\.' "$scratch/out"
}

# seed FILE COMMAND: a defect, by sed, in the copy.
seed() {
	sed -i "$2" "$scratch/include/rdmaez/$1"
	! cmp -s "include/rdmaez/$1" "$scratch/include/rdmaez/$1"
}

compile() {
	"$CC" -std=c11 -O0 -g1 -fsanitize=thread -I"$scratch/include" -Itests -Itests/fake "${@:3}" -c "$1" -o "$scratch/$2.o"
}

# What no function may do: keep a variable for all threads, in the core and in an explanation, or write into an object that
# threads share.
racing() {
	cp -r include "$scratch"
	seed impl/wr.h '/^RDMAEZ_FOLD void rdmaez_impl_wr_set(/,/^{/s/^{/{ static unsigned int sets; sets++;/'
	seed explain/diag.h '/^RDMAEZ_SEAM int rdmaez_impl_tell_diag_format(/,/^{/s/^{/{ static unsigned int formatted; formatted++;/'
	seed impl/objects.h '/^RDMAEZ_COLD int rdmaez_cq_create(/,/^{/s/^{/{ context->num_comp_vectors++;/'
	compile tests/unit/threads/work.c inline
	compile tests/unit/threads/work.c extern -DRDMAEZ_EXTERN
	compile tests/implementation.c implementation -DRDMAEZ_EXTERN
	"$CC" -fsanitize=thread -pthread $directory/{main,turns}.o "$scratch"/*.o $directory/fake/*.o -o "$scratch/threads"
}

ok 'eight threads do not race' raceless $directory/threads
ok 'with three defects they do' racing
fails 'sees a variable of all threads in the core' 'race .*impl/wr\.h:[0-9]+ in rdmaez_impl_wr_set' raceless "$scratch/threads"
fails 'sees one in the explanations' 'race .*explain/diag\.h:[0-9]+ in rdmaez_impl_tell_diag_format' raceless "$scratch/threads"
fails 'sees what is written into a shared object' 'race .*impl/objects\.h:[0-9]+ in rdmaez_cq_create' raceless "$scratch/threads"

done_testing
