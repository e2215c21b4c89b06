# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What the compile tests share. Every function takes the include directory to look at, so that a
# seeded defect can be put into a copy of it.

source tests/tap.bash

: "${CC:=gcc}" "${CXX:=g++}" "${CLANG:=clang-14}" "${CLANGXX:=clang++-14}"

warnings=@tests/compile/warnings
c_warnings=("$warnings" -Wc++-compat -Wmissing-prototypes -Wstrict-prototypes)
cxx_warnings=("$warnings")
# Beyond what the rest of the project is held to: users have these on, and headers meet them all.
header_warnings=(-Wcast-align -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough -Wnull-dereference
	-Wredundant-decls -Wswitch-enum -Wvla -Wwrite-strings)

# compile COMPILER STD INCLUDE ARG...: with all warnings, of the language that STD names.
compile() {
	local compiler=$1 std=$2 include=$3
	shift 3
	case $std in
	c++*) "$compiler" -x c++ "-std=$std" "-I$include" "${cxx_warnings[@]}" "${header_warnings[@]}" "$@" ;;
	c*) "$compiler" -x c "-std=$std" "-I$include" "${c_warnings[@]}" "${header_warnings[@]}" "$@" ;;
	esac
}

# The one header that the umbrella leaves out: equipment for development, to be included by its name.
by_name=dm_emu.h

# The public headers in the order in which the umbrella includes them, which is the order of the
# levels: version.h base.h ... and then the one that it leaves out.
header_order() {
	sed -n 's|^#include "rdmaez/\(.*\)"$|\1|p' "$1/rdmaez.h"
	[[ ! -e $1/rdmaez/$by_name ]] || echo "$by_name"
}

# A source that includes all of them.
all_headers() {
	echo '#include <rdmaez.h>'
	[[ ! -e $1/rdmaez/$by_name ]] || echo "#include <rdmaez/$by_name>"
}

# The system headers that ours include, as the lines that do it.
system_includes() {
	grep -h '^#include <' "$1"/rdmaez/*.h | sort -u
}

# ours INCLUDE: what the preprocessor makes of our headers, without what they include.
ours() {
	all_headers "$1" | "$CC" -E -std=c11 "-I$1" -x c - | awk -v dir="$1/" '
		/^# [0-9]+ "/ { mine = index($3, "\"" dir) == 1; next }
		mine'
}

# identifiers INCLUDE KINDS: what our headers declare, by the letters of ctags; parameters and locals
# are none of them. Every line holds a kind and a name, which is __anon... for what has none.
identifiers() {
	ours "$1" >"$scratch/ours.$BASHPID.c"
	ctags -x --kinds-C="$2" --_xformat='%K %N' "$scratch/ours.$BASHPID.c"
}

# all_functions INCLUDE: a source that takes the address of every function of ours, public or not, so
# that a compiler makes code for it and tells all it has to tell.
all_functions() {
	all_headers "$1"
	echo 'typedef void (*rdmaez_any)(void);'
	echo 'extern const rdmaez_any rdmaez_all[];'
	echo 'const rdmaez_any rdmaez_all[] = {'
	identifiers "$1" f | sed 's/^function \(.*\)/\t(rdmaez_any)\1,/'
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
	rm "$1/rdmaez/$by_name"
	sed -i '/^#include/{/version.h\|base.h\|units.h/!d}' "$1/rdmaez.h"
}
