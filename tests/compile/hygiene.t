#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What including rdmaez leaves in a program: nothing but names of its own, and not one byte. What a program
# may do to it: define macros of its own before. How the headers may include each other: only those that
# the umbrella lists before them, and those that it leaves out come after all. That the core neither includes nor names
# anything of the explanations but the functions that impl/seam.h and impl/why.h declare, and asks for each before it
# calls it. And that each function is declared as it is defined. Each check is shown a seeded defect, too.

source tests/compile/lib.bash

# reached INCLUDE HEADER: the public headers that this one includes, itself or through impl/.
reached() {
	echo "#include <rdmaez/$2>" | "$CC" -std=c11 "-I$1" -MM -x c - | tr ' ' '\n' |
		sed -nE 's|.*/rdmaez(\.h)$|\1|p; s|.*/rdmaez/(.*)|\1|p' | sed -E ':a; s|[a-z]+/\.\./||; ta' | grep -v impl/ | sort -u
}

# Whatever a header or its bodies include, they reach no header that stands behind it in the umbrella. The
# optional headers stand behind all of these, and the equipment for development behind those.
order() {
	local header other before='' bad=0
	for header in $(public_headers "$1") $(optional_headers "$1") $(devel_headers "$1"); do
		before+=" $header "
		for other in $(reached "$1" "$header"); do
			[[ $before == *" $other "* ]] || { echo "$header reaches $other"; bad=1; }
		done
	done
	return "$bad"
}

# The umbrella includes every header, but for those that say that it does not, and implementation.h; which includes all
# explanations.
umbrella_is_complete() {
	diff <({ echo implementation.h; public_headers "$1"; optional_headers "$1"; } | sort) \
		<(cd "$1/rdmaez" && printf '%s\n' *.h | sort)
	diff <(sed -n 's|^#include "\(explain/.*\)"$|\1|p' "$1/rdmaez/implementation.h" | sort) \
		<(cd "$1/rdmaez" && printf '%s\n' explain/*.h | sort)
}

# The seam: "NAME PLACE" of each function through which the core calls the explanations: as it is declared below the
# name of its place, and as it is defined there. What is there twice differs, too.
seam_declared() {
	perl -0777 -ne 'while (m{/\* (explain/\w+\.h) \*/|\bRDMAEZ_SEAM\b[^;]*?\b(rdmaez_impl_\w+)\(}g)
		{ $1 ? ($place = $1) : print "$2 $place\n" }' \
		"$1"/rdmaez/impl/{seam,why,diag}.h | sort
}

seam_defined() {
	local file
	for file in "$1"/rdmaez/explain/*.h; do
		perl -0ne 's{/\*.*?\*/}{}gs; print "$1\n" while /\bRDMAEZ_SEAM\b[^;{}()=]*?\b(rdmaez_impl_\w+)\s*\([^{};]*\)\s*\{/g' "$file" |
			sed "s|\$| explain/${file##*/}|"
	done | sort
}

seam_is_whole() {
	(($(seam_declared "$1" | wc -l) > 40)) || { echo 'too few functions were found'; return 1; }
	diff <(seam_declared "$1") <(seam_defined "$1")
}

# core INCLUDE: its files, which all but implementation.h and the explanations are.
core() {
	find "$1" -name '*.h' ! -path '*/explain/*' ! -name implementation.h | sort
}

# What the explanations define, functions of the seam aside, is no word of the core; nor does the core include them.
core_stands_alone() {
	local own=$scratch/own.$BASHPID
	perl -0ne 's{/\*.*?\*/}{}gs; print "$1\n" while /\bRDMAEZ_\w+\b[^;{}()=#]*?\b(rdmaez_impl_\w+)\s*\([^{};]*\)\s*\{/g;
		print "$1\n" while /^(?:#define (RDMAEZ_IMPL_\w+))/gm; print "$1\n" while /^(?:struct|enum) (rdmaez_impl_\w+) \{/gm' \
		"$1"/rdmaez/explain/*.h | sort -u | comm -23 - <(seam_defined "$1" | cut -d' ' -f1 | sort) >"$own"
	(($(wc -l <"$own") > 100)) || { echo 'too few names were found'; return 1; }
	core "$1" | xargs grep -nwFf "$own" /dev/null && return 1
	core "$1" | xargs grep -nE '^[[:space:]]*#[[:space:]]*include.*(explain/|implementation\.h)' /dev/null && return 1
	return 0
}

# A function of the seam may be missing, so each call stands behind a question for it: in the same statement or in the
# few lines above, by hand or by RDMAEZ_IMPL_EXPLAIN().
seam_is_asked() {
	local names
	names=$(seam_declared "$1" | cut -d' ' -f1 | paste -sd'|')
	# shellcheck disable=SC2016 # it is Perl
	core "$1" | grep -vE 'impl/seam\.h$' | names=$names xargs perl -0ne '
		s{/\*.*?\*/}{}gs; s/^RDMAEZ_SEAM\b.*?;//gms;
		while (/\b($ENV{names})\b\s*\(/g) {
			my ($name, $before) = ($1, substr($_, $-[0] > 400 ? $-[0] - 400 : 0, $-[0] > 400 ? 400 : $-[0]));
			next if $before =~ /\b$name\b\s*(?:\?|\)|&&|,)/;
			print "$ARGV calls $name without asking for it\n";
			$bad = 1;
		}
		END { exit $bad }'
}

macros() {
	"$1" -x "$2" -dM -E - "-I$3" "${@:4}" | sed -n 's/^#define \([A-Za-z_0-9]*\).*/\1/p' | sort -u
}

# Macros that are there with our headers and not with the system's that they include.
macros_leaked() {
	local leaked
	leaked=$(comm -13 <(system_includes "$3" | macros "$@") <(all_headers "$3" | macros "$@") |
		grep -v '^RDMAEZ_') || return 0
	echo "leaked: $leaked"
	return 1
}

names_without_prefix() {
	local names foreign
	names=$(identifiers "$1" defgpstuvx "${@:2}")
	(($(wc -l <<<"$names") > 50)) || { echo "too few names were found: $names"; return 1; }
	foreign=$(grep -vE '^[a-z]+ (rdmaez_|RDMAEZ_|__anon)' <<<"$names") || return 0
	echo "without prefix: $foreign"
	return 1
}

# A constant says what it is of: reasons are RDMAEZ_WHY_*, others name an object. RDMAEZ_ and one word
# more is for what concerns all of the headers.
names_too_short() {
	local short
	short=$({
		identifiers "$1" e | cut -d' ' -f2
		all_headers "$1" | macros "$CC" c "$1" | grep '^RDMAEZ_'
	} | grep -xE 'RDMAEZ_[A-Z0-9]+' | grep -vxE 'RDMAEZ_(H|ZERO|API|COLD|INLINE|FOLD|IMPL|SEAM)') || return 0
	echo "too short: $short"
	return 1
}

# functions END FILE...: "MACRO NAME" of every public function whose parameters end so: ; or {.
functions() {
	perl -0ne 's{/\*.*?\*/}{}gs; s/^#.*?(?<!\\)\n//gms;
		print "$1 $2\n" while /\b(RDMAEZ_(?:API|COLD|INLINE|FOLD))\b[^;{}()=]*?\b(rdmaez_(?!impl_)\w+)\s*\([^{};]*\)\s*\Q'"$1"'\E/g' \
		"${@:2}" | sort
}

# Each function is declared in a public header, with the linkage with which its body is defined.
declared_as_defined() {
	local public=("$1"/rdmaez/*.h "$1"/rdmaez/devel/*.h)
	local bodies=("$1"/rdmaez/impl/*.h "$1"/rdmaez/devel/impl/*.h)
	(($(functions ';' "${public[@]}" | wc -l) > 80))
	diff <(functions ';' "${public[@]}") <(functions '{' "${bodies[@]}")
	diff /dev/null <(functions '{' "${public[@]}")
}

# no_bytes COMPILER STD INCLUDE ARG...: a program that only includes us has the sections of an empty one.
no_bytes() {
	local object=$scratch/$BASHPID
	all_headers "$3" | compile "$1" "$2" "$3" "${@:4}" -c -o "$object.with.o" -
	system_includes "$3" | compile "$1" "$2" "$3" "${@:4}" -c -o "$object.without.o" -
	diff <(size -A "$object.with.o" | tail -n +2) <(size -A "$object.without.o" | tail -n +2)
	diff <(nm "$object.with.o") /dev/null
}

# no_harm COMPILER STD INCLUDE ARG...: the headers compile, and every body, though the program has defined some
# 400 macros of its own. Those that the system's headers do not stand are no fault of ours.
no_harm() {
	local source=$scratch/harm.$BASHPID.c
	sed -E 's/([A-Za-z0-9_]+) ?/#define \1 (+16)\n/g' tests/compile/macros >"$source"
	(($(wc -l <"$source") >= 400))
	cp "$source" "$source.system.c"
	system_includes "$3" >>"$source.system.c"
	compile "$1" "$2" "$3" -fsyntax-only "$source.system.c" || { echo 'even without our headers'; return 1; }
	all_headers "$3" >>"$source"
	compile "$1" "$2" "$3" -O2 -fsyntax-only "${@:4}" "$source"
}

ok 'no header reaches one that the umbrella lists behind it' order include
fails 'an include of a later header is seen' 'units.h reaches qp.h' \
	order "$(seeded upward rdmaez/units.h 's/#include "base.h"/&\n#include "qp.h"/')"
fails 'an include of a later header in the bodies is seen' 'units.h reaches fmt.h' \
	order "$(seeded through rdmaez/impl/units.h 's/^#define RDMAEZ_IMPL_UNITS_H/&\n#include "..\/fmt.h"/')"
nightly fails 'an include of the umbrella is seen' 'gid.h reaches .h' \
	order "$(seeded umbrella rdmaez/gid.h 's/#include "diag.h"/&\n#include <rdmaez.h>/')"
nightly fails 'an include of an optional header is seen' 'fmt.h reaches dm_share.h' \
	order "$(seeded optional rdmaez/impl/fmt.h 's/^#define RDMAEZ_IMPL_FMT_H/&\n#include "..\/dm_share.h"/')"
nightly fails 'an include of equipment for development is seen' 'fmt.h reaches devel/dm_emu.h' \
	order "$(seeded equipment rdmaez/impl/fmt.h 's/^#define RDMAEZ_IMPL_FMT_H/&\n#include "..\/devel\/dm_emu.h"/')"
nightly fails 'and so it is in an optional header' 'dm_share.h reaches devel/dm_emu.h' \
	order "$(seeded both rdmaez/impl/dm_share.h 's/^#define RDMAEZ_IMPL_DM_SHARE_H/&\n#include "..\/devel\/dm_emu.h"/')"
ok 'the umbrella includes every header that is not optional' umbrella_is_complete include
fails 'a header that the umbrella forgot is seen' 'units.h' \
	umbrella_is_complete "$(seeded forgotten rdmaez.h '/units.h/d')"
fails 'one that is in it and says that it is not is seen' 'dm_share.h' \
	umbrella_is_complete "$(seeded included rdmaez.h 's|^#include "rdmaez/fmt.h"|&\n#include "rdmaez/dm_share.h"|')"

fails 'a part of the explanations that implementation.h forgot is seen' 'explain/ah.h' \
	umbrella_is_complete "$(seeded forgotten_part rdmaez/implementation.h '/explain\/ah.h/d')"

soon ok 'every function of the seam has one body, where it says' seam_is_whole include
soon fails 'one without a body is seen' '^< rdmaez_impl_ah_explain explain/ah.h' \
	seam_is_whole "$(seeded bodyless rdmaez/explain/ah.h 's/^RDMAEZ_SEAM void rdmaez_impl_ah_explain/RDMAEZ_IMPL void rdmaez_impl_ah_explain/')"
soon fails 'one that is declared nowhere is seen' '^> rdmaez_impl_tell_why_id explain/diag.h' \
	seam_is_whole "$(seeded unknown rdmaez/impl/why.h '/^RDMAEZ_SEAM.*tell_why_id/d')"
soon fails 'one that is declared twice is seen' '^< rdmaez_impl_tell_why_id explain/diag.h' \
	seam_is_whole "$(seeded twice rdmaez/impl/why.h 's/^RDMAEZ_SEAM.*tell_why_id.*/&\n&/')"
soon fails 'one with two bodies is seen' '^> rdmaez_impl_tell_why_id explain/diag.h' seam_is_whole \
	"$(seeded bodies rdmaez/explain/diag.h 's/^RDMAEZ_SEAM.*tell_why_id.*/RDMAEZ_SEAM const char *rdmaez_impl_tell_why_id(enum rdmaez_why why)\n{\n}\n&/')"
soon fails 'one that is elsewhere is seen' '^> rdmaez_impl_tell_why_id explain/diag.h' \
	seam_is_whole "$(seeded elsewhere rdmaez/impl/why.h 's|explain/diag.h|explain/wc.h|')"
soon ok 'the core names nothing else of the explanations' core_stands_alone include
soon fails 'a call of their own functions is seen' 'impl/ah.h.*rdmaez_impl_put_advice' \
	core_stands_alone "$(seeded inward rdmaez/impl/ah.h 's/^RDMAEZ_IMPL_BEGIN/&\nvoid rdmaez_impl_put_advice(void);/')"
soon fails 'an include of them is seen' 'impl/ah.h:.*explain/refusal.h' \
	core_stands_alone "$(seeded included_part rdmaez/impl/ah.h 's|^#include "base.h"|&\n#include "../explain/refusal.h"|')"
soon ok 'the core asks for each function of the seam before it calls it' seam_is_asked include
soon fails 'a call without the question is seen' 'why.h calls rdmaez_impl_tell_why_id without' seam_is_asked \
	"$(seeded unasked rdmaez/impl/why.h 's/return rdmaez_impl_tell_why_id ? \(.*\) : "?";/return \1;/')"

leaky=$(seeded leaky rdmaez/impl/str.h 's/^#define RDMAEZ_IMPL_STR_H/&\n#define NAME_MAX_BITS 3/')
for language in "$CC c" "$CXX c++" "$CLANG c" "$CLANGXX c++"; do
	sample "$language" "$CC c" "$CLANGXX c++"
	# shellcheck disable=SC2086 # two words
	{
		$often soon ok "every macro that is new begins with RDMAEZ_: $language" macros_leaked $language include
		$often soon ok "and where bodies are elsewhere: $language" macros_leaked $language include -DRDMAEZ_EXTERN
		$often soon ok "and with the explanations: $language" macros_leaked $language include "$explains"
	}
done
soon fails 'a macro without the prefix is seen' 'leaked: NAME_MAX_BITS' macros_leaked "$CC" c "$leaky"
soon fails 'and one of the explanations' 'leaked: NAME_MAX_BITS' macros_leaked "$CC" c \
	"$(seeded leaky_too rdmaez/explain/diag.h 's/^#define RDMAEZ_EXPLAIN_DIAG_H/&\n#define NAME_MAX_BITS 3/')" "$explains"

soon ok 'every function, type, enumerator and variable has the prefix' names_without_prefix include
soon ok 'and where bodies are elsewhere' names_without_prefix include -DRDMAEZ_EXTERN
soon ok 'and with the explanations' names_without_prefix include "$explains"
soon fails 'a function of the explanations without the prefix is seen' ' put_advice' names_without_prefix \
	"$(seeded unprefixed_too rdmaez/explain/wc.h 's/rdmaez_impl_put_advice/put_advice/')" "$explains"
soon fails 'a function without the prefix is seen' 'mtu_bytes' names_without_prefix \
	"$(seeded unprefixed rdmaez/impl/units.h 's/rdmaez_mtu_bytes/mtu_bytes/')"
soon fails 'an enumerator of the list of reasons without the prefix is seen' 'enumerator BAD_RANGE' \
	names_without_prefix "$(seeded reason rdmaez/why.h 's/^\tRDMAEZ_WHY_RANGE,/\tBAD_RANGE,/')"
soon ok 'every constant says what it is of' names_too_short include
soon fails 'one that does not is seen' 'too short: RDMAEZ_PORT' \
	names_too_short "$(seeded short rdmaez/base.h 's/^#define RDMAEZ_ZERO .*/&\n#define RDMAEZ_PORT 1/')"

soon ok 'every function is declared as it is defined' declared_as_defined include
soon fails 'another linkage is seen' '> RDMAEZ_INLINE rdmaez_mtu_bytes' declared_as_defined \
	"$(seeded linkage rdmaez/units.h 's/^RDMAEZ_INLINE \(int rdmaez_mtu_bytes\)/RDMAEZ_API \1/')"
soon fails 'a function that is declared nowhere is seen' '> RDMAEZ_[A-Z]+ rdmaez_errno_str' declared_as_defined \
	"$(seeded undeclared rdmaez/str.h '/rdmaez_errno_str/d')"

for compiler in "$CC c11" "$CLANG c11" "$CXX c++11" "$CLANGXX c++11" "$CXX c++20" "$CLANGXX c++20"; do
	sample "$compiler" "$CC c11" "$CLANGXX c++20"
	# shellcheck disable=SC2086 # two words
	{
		$often soon ok "including everything adds no byte and no symbol: $compiler" no_bytes $compiler include -O0
		$often soon ok "nor with the optimiser: $compiler" no_bytes $compiler include -O1
		$often soon ok "nor where bodies are elsewhere: $compiler" no_bytes $compiler include -DRDMAEZ_EXTERN
		$often soon ok "a program's own macros do no harm: $compiler" no_harm $compiler include
	}
done
soon fails 'a variable in a header is seen' '[.]bss' no_bytes "$CC" c11 \
	"$(seeded variable rdmaez/base.h 's/^extern "C" {/&\n#else\nextern int rdmaez_counter;\nint rdmaez_counter;/')"
soon fails "a word of ours that a program's macro replaces is seen" 'SEED_COUNT|COUNT' no_harm "$CC" c11 \
	"$(seeded word rdmaez/base.h 's/^#define RDMAEZ_ZERO .*/&\nenum rdmaez_seed { COUNT };/')"

done_testing
