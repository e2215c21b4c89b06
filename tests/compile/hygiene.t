#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What including rdmaez leaves in a program: nothing but names of its own, and not one byte. And how the
# headers may include each other: only those that the umbrella lists before them. Each check is shown
# a seeded defect, too.

source tests/compile/lib.bash

# A header includes only headers that come before it in the umbrella's list, by plain name.
levels() {
	local header included before='' bad=0
	for header in $(header_order "$1"); do
		while read -r included; do
			if [[ " $before " != *" $included "* ]]; then
				echo "$header includes $included, which does not come before it"
				bad=1
			fi
		done < <(sed -nE 's/^ *# *include *("|<(rdmaez))([^">]*).*/\2\3/p' "$1/rdmaez/$header")
		before+=" $header"
	done
	return "$bad"
}

umbrella_is_complete() {
	diff <(header_order "$1" | sort) <(cd "$1/rdmaez" && printf '%s\n' *.h | sort)
}

macros() {
	"$1" -x "$2" -dM -E - "-I$3" | sed -n 's/^#define \([A-Za-z_0-9]*\).*/\1/p' | sort -u
}

# Macros that are there with our headers and not with the system's that they include.
macros_leaked() {
	local leaked
	leaked=$(comm -13 <(system_includes "$3" | macros "$1" "$2" "$3") \
		<(all_headers "$3" | macros "$1" "$2" "$3") | grep -v '^RDMAEZ_') || return 0
	echo "leaked: $leaked"
	return 1
}

names_without_prefix() {
	local names foreign
	names=$(identifiers "$1" defgpstuvx)
	(($(wc -l <<<"$names") > 50)) || { echo "too few names were found: $names"; return 1; }
	foreign=$(grep -vE '^[a-z]+ (rdmaez_|RDMAEZ_|__anon)' <<<"$names") || return 0
	echo "without prefix: $foreign"
	return 1
}

# no_bytes COMPILER STD INCLUDE: a program that only includes us has the sections of an empty one.
no_bytes() {
	local object=$scratch/$BASHPID
	all_headers "$3" | compile "$1" "$2" "$3" -O2 -c -o "$object.with.o" -
	system_includes "$3" | compile "$1" "$2" "$3" -O2 -c -o "$object.without.o" -
	diff <(size -A "$object.with.o" | tail -n +2) <(size -A "$object.without.o" | tail -n +2)
	diff <(nm "$object.with.o") /dev/null
}

ok 'every header includes only headers that the umbrella lists before it' levels include
fails 'an include of a later header is seen' 'units.h includes qp.h' \
	levels "$(seeded upward rdmaez/units.h 's/#include "base.h"/&\n#include "qp.h"/')"
fails 'an include of the umbrella is seen' 'gid.h includes rdmaez.h' \
	levels "$(seeded umbrella rdmaez/gid.h 's/#include "diag.h"/&\n#include <rdmaez.h>/')"
ok 'the umbrella includes every header' umbrella_is_complete include
fails 'a header that the umbrella forgot is seen' 'units.h' \
	umbrella_is_complete "$(seeded forgotten rdmaez.h '/units.h/d')"

leaky=$(seeded leaky rdmaez/str.h 's/^#undef RDMAEZ_IMPL_NAME/&\n#define NAME_MAX_BITS 3/')
for language in "$CC c" "$CXX c++" "$CLANG c" "$CLANGXX c++"; do
	# shellcheck disable=SC2086 # two words
	ok "every macro that is new begins with RDMAEZ_: $language" macros_leaked $language include
done
fails 'a macro without the prefix is seen' 'leaked: NAME_MAX_BITS' macros_leaked "$CC" c "$leaky"

ok 'every function, type, enumerator and variable has the prefix' names_without_prefix include
fails 'a function without the prefix is seen' 'function mtu_bytes' names_without_prefix \
	"$(seeded unprefixed rdmaez/units.h 's/rdmaez_mtu_bytes/mtu_bytes/')"
fails 'an enumerator of the list of reasons without the prefix is seen' 'enumerator BAD_RANGE' \
	names_without_prefix "$(seeded reason rdmaez/diag.h 's/\(REASON_ID(id, what, fix) \)RDMAEZ_##id/\1BAD_##id/')"

for compiler in "$CC c11" "$CLANG c11" "$CXX c++11" "$CLANGXX c++11" "$CXX c++20" "$CLANGXX c++20"; do
	# shellcheck disable=SC2086 # two words
	ok "including everything adds no byte and no symbol: $compiler" no_bytes $compiler include
done
fails 'a variable in a header is seen' '[.]bss' no_bytes "$CC" c11 \
	"$(seeded variable rdmaez/base.h 's/^extern "C" {/&\n#else\nextern int rdmaez_counter;\nint rdmaez_counter;/')"

done_testing
