#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The headers that `make single` makes are all of rdmaez: they compile wherever those of the tree do, and pass the
# unit tests in both ways of including, by gcc with the core in each and the explanations in one object, by clang with
# all bodies in one. No header of the tree is read; what a test includes by another name leads to the one file.

source tests/compile/lib.bash
source tests/package/lib.bash

single=$PWD/build/single

# The names of all other headers, in a directory of their own. Those that rdmaez.h leaves out are beside the one file,
# the explanations in one of them.
forwards() {
	local header to
	while read -r header; do
		[[ ! -e $single/$header ]] || continue
		to=rdmaez.h
		[[ $header != */explain/* ]] || to=rdmaez/implementation.h
		mkdir -p "$scratch/forwards/${header%/*}"
		echo "#include <$to>" >"$scratch/forwards/$header"
	done < <(cd include && find rdmaez -name '*.h')
}

# object COMPILER DIRECTORY SOURCE [-D...]: without optimisation and sanitizers, which the tests of the tree
# have. The include directory is $include.
object() {
	local made
	made=$2/$(basename "$3" .c)
	"$1" -std=c11 -O0 "-I$include" "-I$scratch/forwards" -Itests -Itests/fake -MD -MF "$made.d" "${@:4}" \
		-c "$3" -o "$made.o"
	if grep -F " $PWD/include/" "$made.d" || grep -w 'include/rdmaez' "$made.d"; then
		echo "$3 read a header of the tree"
		return 1
	fi
}

# What a test links with: the fake libibverbs, and the explanations, with clang all bodies.
common_objects() {
	local source
	mkdir "$scratch/fake" "$scratch/gcc" "$scratch/clang"
	for source in tests/fake/*.c; do
		object "$CC" "$scratch/fake" "$source"
	done
	object "$CC" "$scratch/gcc" tests/implementation.c
	object "$CLANG" "$scratch/clang" tests/implementation.c -DRDMAEZ_EXTERN
}

# passes WAY TEST: a unit test. One that names internals, or puts a function of its own in the place of the C
# library's, has its own bodies.
passes() {
	local source=tests/unit/$2.c program=$scratch/$1/$2 extern=() output code=0
	if [[ $1 == gcc ]]; then
		object "$CC" "$scratch/gcc" "$source"
	else
		grep -qE 'rdmaez_impl_|define [a-z]+ test_' "$source" || extern=(-DRDMAEZ_EXTERN)
		object "$CLANG" "$scratch/clang" "$source" ${extern[@]+"${extern[@]}"}
	fi
	"$CC" "$program.o" "$scratch/$1/implementation.o" "$scratch"/fake/*.o -o "$program"
	output=$(tests/run "$program") || code=$?
	if ((code != 0)) || ! grep -q '^1\.\.[1-9]' <<<"$output" || grep -q '^not ok' <<<"$output"; then
		echo "ended with $code: $(grep -v '^ok' <<<"$output")"
		return 1
	fi
}

# clean COMPILER STD [-D...]: with the address of each function taken, under all warnings.
clean() {
	all_functions "$include" "${@:3}" | compile "$1" "$2" "$include" "${@:3}" -fsyntax-only -
}

# explaining COMPILER STD [-D...]: the same of the file that has the explanations, with all of its functions compiled.
explaining() {
	compile "$1" "$2" "$include" "${@:3}" -O1 -c -o "$scratch/explaining.$BASHPID.o" - <<<"$explanations"
}

# It stands alone: no quoted include is left, and the licence and the version are in it.
alone() {
	mkdir "$scratch/alone"
	cp "$single/rdmaez.h" "$scratch/alone"
	echo '#include "rdmaez.h"' | "$CC" -std=c11 "-I$scratch/alone" -fsyntax-only -x c -
	[[ -z $(sed -n '/#include "/p' "$single/rdmaez.h") ]]
	grep -q "rdmaez $version" "$single/rdmaez.h"
	diff <(grep -v '^$' LICENSE) <(head -n 40 "$single/rdmaez.h" | sed 's/^ \* \?//' | grep -xFf <(grep -v '^$' LICENSE))
}

# beside DIRECTORY: each header that rdmaez.h leaves out needs nothing but the files of this directory.
beside() {
	local header
	for header in implementation.h $(optional_headers include) $(devel_headers include); do
		echo "#include <rdmaez/$header>" | "$CC" -std=c11 "-I$1" -fsyntax-only -x c -
	done
}

# includes COMPILER ORDER...: the one file and the tree in one source file do no harm.
together() {
	printf '#include "%s"\n' "${@:2}" | "$1" -std=c11 -Iinclude -fsyntax-only -x c -
}

# made TREE: by the script of that tree, in its build/single.
made() {
	(cd "$1" && tools/package/single build/single)
}

# tree NAME FILE SCRIPT: a tree with as much as the script needs, and a header that sed has changed.
tree() {
	mkdir -p "$scratch/$1/tools/package"
	cp -r include LICENSE "$scratch/$1"
	cp tools/package/single "$scratch/$1/tools/package"
	sed -i "$3" "$scratch/$1/include/$2"
	! diff -r include "$scratch/$1/include" >/dev/null || echo "nothing was seeded by $3" >&2
}

include=$single
forwards
ok 'the file stands alone, with licence and version' alone
ok 'and so do the files beside it' beside "$single"
cp -r "$single" "$scratch/astray"
sed -i '/^#include "..\/rdmaez.h"$/d' "$scratch/astray/rdmaez/dm.h"
fails 'one that does not include it is seen' 'dm.h.*error' beside "$scratch/astray"
for compiler in "$CC c11" "$CXX c++11" "$CLANGXX c++20"; do
	# shellcheck disable=SC2086 # two words
	{
		soon ok "without a warning: $compiler" clean $compiler
		soon ok "declaring: $compiler" clean $compiler -DRDMAEZ_EXTERN
	}
done
for compiler in "$CC c11" "$CXX c++20" "$CLANG c11"; do
	# shellcheck disable=SC2086 # two words
	{
		soon ok "explaining: $compiler" explaining $compiler
		soon ok "holding all bodies: $compiler" explaining $compiler -DRDMAEZ_EXTERN
	}
done
soon ok 'it may be included before the tree' \
	together "$CC" "$single/rdmaez.h" rdmaez.h rdmaez/qp.h rdmaez/implementation.h rdmaez/dm_share.h rdmaez/devel/dm_emu.h
soon ok 'or after it' together "$CC" rdmaez/qp.h "$single/rdmaez.h" "$single/rdmaez/implementation.h" \
	"$single/rdmaez/dm_share.h" "$single/rdmaez/devel/dm_emu.h"

ok 'the fake libibverbs, the explanations and all bodies compile' common_objects
for source in tests/unit/*.c; do
	soon ok "$(basename "$source" .c): gcc, the core in each" passes gcc "$(basename "$source" .c)"
	soon ok "$(basename "$source" .c): clang, all bodies in one object" passes clang "$(basename "$source" .c)"
done

# Seeded defects.
tree wrong rdmaez/impl/units.h 's/128 << code/127 << code/'
made "$scratch/wrong"
include=$scratch/wrong/build/single
soon fails 'a wrong number in the file is seen by the tests' 'not ok' passes gcc units
tree warns rdmaez/impl/units.h 's/128 << code/128u << code/'
made "$scratch/warns"
include=$scratch/warns/build/single
soon fails 'a warning in the file is seen' 'sign-compare' clean "$CC" c11
tree tree rdmaez/impl/units.h '1s/^/\n/'
made "$scratch/tree"
include=$scratch/tree/build/single
echo "#include \"$PWD/include/rdmaez/version.h\"" >>"$include/rdmaez.h"
soon fails 'a header of the tree is seen' 'read a header of the tree' passes gcc str
include=$single
tree late rdmaez.h 's|^#include "rdmaez/version.h"|#if RDMAEZ_LATE\n&\n#endif|'
soon fails 'a header that is needed where it may not be is refused' 'version.h is there if' made "$scratch/late"
tree outside rdmaez/base.h 's|^#include "version.h"|#include "../../LICENSE"|'
soon fails 'a header from elsewhere is refused' 'LICENSE is not below' made "$scratch/outside"

done_testing
