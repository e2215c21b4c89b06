# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the compile tests share. Every function takes the include directory to look at, so that a
# seeded defect can be put into a copy of it.

source tests/tap.bash

: "${CC:=gcc}" "${CXX:=g++}" "${CLANG:=clang}" "${CLANGXX:=clang++}"

warnings=@tests/compile/warnings
c_warnings=("$warnings" -Wc++-compat -Wmissing-prototypes -Wstrict-prototypes)
cxx_warnings=("$warnings" -Wold-style-cast)
# Beyond what the rest of the project is held to: users have these on, and headers meet them all.
header_warnings=(-Wcast-align -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough -Wnull-dereference
	-Wredundant-decls -Wswitch-enum -Wtype-limits -Wvla -Wwrite-strings)

# compile COMPILER STD INCLUDE ARG...: with all warnings, of the language that STD names.
compile() {
	local compiler=$1 std=$2 include=$3
	shift 3
	case $std in
	c++*) "$compiler" -x c++ "-std=$std" "-I$include" "${cxx_warnings[@]}" "${header_warnings[@]}" "$@" ;;
	c*) "$compiler" -x c "-std=$std" "-I$include" "${c_warnings[@]}" "${header_warnings[@]}" "$@" ;;
	esac
}

# sample ONE OF...: $often is empty if ONE is of the sample that make check has, and `nightly` if not.
# shellcheck disable=SC2034 # the tests use it
sample() {
	local of
	often=nightly
	for of in "${@:2}"; do
		[[ $1 != "$of" ]] || often=
	done
}

# public_headers INCLUDE: in the order in which the umbrella includes them, as version.h base.h ...
public_headers() {
	sed -n 's|^#include "rdmaez/\(.*\)"$|\1|p' "$1/rdmaez.h"
}

# A file is compiled in one of four ways: with the bodies of the core, with those of the explanations as well, with
# neither, or as the file of a program that has all for the others. TEST_EXPLAINED is a word of these tests.
# shellcheck disable=SC2034 # the tests that source this use them
explains=-DTEST_EXPLAINED declares=-DRDMAEZ_EXTERN holds='-DRDMAEZ_EXTERN -DTEST_EXPLAINED'

# optional_headers INCLUDE: those that the umbrella leaves out, as they say themselves, in the order of implementation.h.
optional_headers() {
	(cd "$1/rdmaez" && sed -n 's|^#include "\([a-z_]*\.h\)"$|\1|p' implementation.h |
		{ xargs grep -ls '<rdmaez.h>. does not include this header' || true; })
}

# devel_headers INCLUDE: equipment for development, which the umbrella leaves out, too.
devel_headers() {
	[[ ! -d $1/rdmaez/devel ]] || (cd "$1/rdmaez" && printf '%s\n' devel/*.h)
}

# impl_headers INCLUDE: what no program includes. Rows are no use without the macros that read them, nor is a part of
# the explanations without implementation.h.
impl_headers() {
	(cd "$1/rdmaez" && printf '%s\n' impl/*.h devel/impl/*.h) | grep -v '_rows\.h$'
}

# A source that includes everything; the explanations with TEST_EXPLAINED.
all_headers() {
	echo '#ifdef TEST_EXPLAINED'
	echo '#define RDMAEZ_WITH_CM'
	echo '#include <rdmaez/implementation.h>'
	echo '#endif'
	echo '#include <rdmaez.h>'
	{
		optional_headers "$1"
		devel_headers "$1"
	} | sed 's|.*|#include <rdmaez/&>|'
}

# The system headers that ours include, as the lines that do it.
system_includes() {
	grep -rh '^#include <' "$1/rdmaez" | sort -u
}

# ours INCLUDE ARG...: what the preprocessor makes of our headers, without what they include.
ours() {
	all_headers "$1" | "$CC" -E -std=c11 "-I$1" "${@:2}" -x c - | awk -v dir="$1/" '
		/^# [0-9]+ "/ { mine = index($3, "\"" dir) == 1; next }
		mine'
}

# identifiers INCLUDE KINDS ARG...: what our headers declare, by the letters of ctags; parameters and
# locals are none of them. Every line holds a kind and a name, which is __anon... for what has none.
identifiers() {
	ours "$1" "${@:3}" >"$scratch/ours.$BASHPID.c"
	ctags -x --kinds-C="$2" --_xformat='%K %N' "$scratch/ours.$BASHPID.c"
}

# all_functions INCLUDE [-D...]: a source that takes the address of every function of ours, so that a
# compiler makes code for it and tells all it has to tell. With -DRDMAEZ_EXTERN those that are only declared
# are called for as well, and the linker has to find them; but explanations may be missing. rdmaez_impl_verb_* are
# names of libibverbs. The source is kept for the next time.
all_functions() {
	local argument defines=() kept
	for argument; do
		[[ $argument != -D* ]] || defines+=("$argument")
	done
	kept=$scratch/all_functions.${1//\//_}${defines[*]}
	if [[ ! -e $kept ]]; then
		write_all_functions "$1" "${defines[@]}" >"$kept.$BASHPID"
		mv "$kept.$BASHPID" "$kept"
	fi
	cat "$kept"
}

write_all_functions() {
	all_headers "$1"
	cat <<-'END'
		typedef void (*rdmaez_any)(void);
		#ifdef __cplusplus
		#define RDMAEZ_ANY(function) reinterpret_cast<rdmaez_any>(function)
		#else
		#define RDMAEZ_ANY(function) (rdmaez_any)function
		#endif
		extern const rdmaez_any rdmaez_all[];
		const rdmaez_any rdmaez_all[] = {
	END
	identifiers "$1" fp "${@:2}" |
		sed -n '/rdmaez_impl_verb_/d; s/.* \(.*\)/\tRDMAEZ_ANY(\1),/p' | sort -u
	echo '};'
}

# seeded NAME FILE SCRIPT: a copy of the headers with SCRIPT, of sed, done to FILE; prints where it is.
seeded() {
	mkdir "$scratch/$1"
	cp -r include/. "$scratch/$1/"
	sed -i "$3" "$scratch/$1/$2"
	! diff -r include "$scratch/$1" >/dev/null || echo "nothing was seeded by $3" >&2
	echo "$scratch/$1"
}

# only_units INCLUDE: leave the umbrella of a copy no more than units.h needs, which saves time.
only_units() {
	optional_headers "$1" | (cd "$1/rdmaez" && xargs rm -r devel)
	sed -i '/^#include/{/version.h\|base.h\|units.h/!d}' "$1/rdmaez.h"
}
