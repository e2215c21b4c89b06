#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The headers compile without a warning wherever they may be used: each alone, and all of every
# function, by gcc and clang, as C11 to C2x and C++11 to C++23, with the verbs.h of rdma-core 33 to 65: the file that
# includes implementation.h meets all of these. The other ways (all other files, without and with RDMAEZ_EXTERN, and
# the file that holds all bodies for those) differ from it by little, so they meet the oldest and the newest verbs.h
# and fewer standards. The first run downloads those headers.
#
# make check has a sample of all this, with each compiler, each rdma-core, the oldest and the newest standards, and each of
# the four ways. make check-nightly has all.

source tests/compile/lib.bash

versions=$(tools/rdma-core-headers) || exit 1

# alone LIST COMPILER STD INCLUDE VERBS ARG...: each header of the list as the only one, included twice.
alone() {
	local header dir=$scratch/alone.$BASHPID
	mkdir "$dir"
	for header in $("$1" "$4"); do
		printf '#include <rdmaez/%s>\n#include <rdmaez/%s>\nextern int rdmaez_alone;\n' "$header" "$header" \
			>"$dir/${header//\//_}.c"
	done
	compile "$2" "$3" "$4" -isystem "$5" -fsyntax-only "${@:6}" "$dir"/*.c
}

# What a program may include.
open_headers() {
	echo ../rdmaez.h
	echo implementation.h
	public_headers "$1"
	optional_headers "$1"
	devel_headers "$1"
}

# everything COMPILER STD INCLUDE VERBS ARG...
everything() {
	all_functions "$3" "${@:5}" | compile "$1" "$2" "$3" -isystem "$4" "${@:5}" -
}

# optimised COMPILER STD INCLUDE VERBS [ARG...]: some warnings come only from the optimiser.
optimised() {
	everything "${@:1:4}" -O2 "${@:5}" -c -o "$scratch/optimised.$BASHPID.o"
}

# A C compiler that knows the standard and little more.
strict() {
	local object=$scratch/strict.$BASHPID
	all_functions "$1" "${@:3}" >"$object.c"
	tcc -std=c11 -Wall -Werror "-I$1" -isystem "$2" "${@:3}" -c "$object.c" -o "$object.o"
}

# Options take numbers and flags of their own type as they are.
cat >"$scratch/exactly.c" <<'END'
#include <rdmaez.h>

int set(struct rdmaez_qp_opts *opts, int index, unsigned int flags, uint32_t qkey);
int set(struct rdmaez_qp_opts *opts, int index, unsigned int flags, uint32_t qkey)
{
	opts->path.sgid_index = rdmaez_exactly(index);
	opts->access = rdmaez_exactly_u32(flags);
	opts->qkey = rdmaez_exactly_u32(qkey);
	opts->access = RDMAEZ_ZERO;
	return 0;
}
END

# The C library's headers for 32 bits may not be installed; they differ by one file, which is empty enough.
on_32_bits() {
	mkdir -p "$scratch/32/gnu"
	: >"$scratch/32/gnu/stubs-32.h"
	everything "$CC" c11 "$1" "$2" "${@:3}" -m32 -idirafter "$scratch/32" \
		-idirafter "/usr/include/$("$CC" -print-multiarch)" -fsyntax-only
}

# Another C library, whose macros convert between signed and unsigned where glibc's do not.
with_musl() {
	local multiarch
	multiarch=$("$CC" -print-multiarch)
	everything "$CC" c11 "$1" "$2" "${@:3}" -nostdinc -isystem "$("$CC" -print-file-name=include)" \
		-isystem "/usr/include/${multiarch/gnu/musl}" -idirafter "/usr/include/$multiarch" -idirafter /usr/include \
		-fsyntax-only
}

# What make check has of them, by KIND, verbs.h, compiler and standard.
sample="
alone oldest $CC c11
alone newest $CLANGXX c++11
bodies newest $CC c11
optimised newest $CC c11 $explains
optimised newest $CXX c++20 $holds
"

# sampled KIND VERBS COMPILER STD [ARG...] -- NAME COMMAND...: always, if the sample has it; else nightly.
sampled() {
	local kind=$1 verbs=$2 words=()
	shift 2
	[[ $verbs != "$oldest" ]] || verbs=oldest
	[[ $verbs != "$newest" ]] || verbs=newest
	while [[ $1 != -- ]]; do
		words+=("$1")
		shift
	done
	shift
	if grep -qxF -- "$kind $verbs ${words[*]}" <<<"$sample"; then
		in_sample=$((in_sample + 1))
		soon ok "$@"
	else
		nightly soon ok "$@"
	fi
}
in_sample=0

read -r oldest_version oldest <<<"$versions"
read -r newest_version newest < <(tail -n 1 <<<"$versions")

while read -r version verbs; do
	for compiler in "$CC c11" "$CLANG c11" "$CXX c++11" "$CLANGXX c++11"; do
		# shellcheck disable=SC2086 # two words
		sampled alone "$verbs" $compiler -- "rdma-core $version: each header alone: $compiler" \
			alone open_headers $compiler include "$verbs"
	done
	for standard in "$CC "{c11,c17,c2x} "$CLANG "{c11,c17,c2x} \
		"$CXX "{c++11,c++14,c++17,c++20,c++2b} "$CLANGXX "{c++11,c++14,c++17,c++20,c++2b}; do
		sample "$verbs $standard" "$verbs $CC c11" "$verbs $CLANG c11" "$oldest $CXX c++11" "$newest $CLANGXX c++2b"
		# shellcheck disable=SC2086 # two words
		$often soon ok "rdma-core $version, with the explanations: $standard" \
			everything $standard include "$verbs" "$explains" -fsyntax-only
	done
	soon ok "rdma-core $version, with the explanations: tcc" strict include "$verbs" "$explains"
done <<<"$versions"

while read -r version verbs; do
	for compiler in "$CC c11" "$CLANG c2x" "$CXX c++11" "$CLANGXX c++20"; do
		# shellcheck disable=SC2086 # some words
		{
			sampled alone "$verbs" $compiler $declares -- "rdma-core $version, declaring: each header alone: $compiler" \
				alone open_headers $compiler include "$verbs" $declares
			soon ok "rdma-core $version: $compiler" everything $compiler include "$verbs" -fsyntax-only
			soon ok "rdma-core $version, declaring: $compiler" \
				everything $compiler include "$verbs" $declares -fsyntax-only
			soon ok "rdma-core $version, holding: $compiler" \
				everything $compiler include "$verbs" $holds -fsyntax-only
		}
	done
done < <(printf '%s\n' "$oldest_version $oldest" "$newest_version $newest")

for compiler in "$CC c11" "$CLANGXX c++11"; do
	# shellcheck disable=SC2086 # some words
	{
		sampled bodies "$newest" $compiler -- "each file of bodies alone: $compiler" \
			alone impl_headers $compiler include "$newest"
		sampled bodies "$newest" $compiler $declares -- "each file of bodies alone, declaring: $compiler" \
			alone impl_headers $compiler include "$newest" $declares
	}
done
# shellcheck disable=SC2086 # some words
{
	soon ok "tcc" strict include "$newest"
	soon ok "tcc, declaring" strict include "$newest" $declares
	soon ok "tcc, holding" strict include "$newest" $holds
}
sampled optimised "$oldest" "$CC" c11 "$explains" -- "rdma-core $oldest_version: optimised: $CC c11 $explains" \
	optimised "$CC" c11 include "$oldest" "$explains"
for compiler in "$CC c11" "$CXX c++20 $holds" {"$CC c11","$CLANG c11","$CXX c++11","$CLANGXX c++20"}" $explains" \
	"$CC c11 $explains "{-O1,-Os,-O3}; do
	read -r compiler standard level <<<"$compiler"
	# shellcheck disable=SC2086 # some words
	sampled optimised "$newest" "$compiler" "$standard" $level -- \
		"rdma-core $newest_version: optimised: $compiler $standard $level" \
		optimised "$compiler" "$standard" include "$newest" $level
done
ok 'the sample is all there' test "$in_sample" = "$(grep -c . <<<"$sample")"
soon ok 'with 32 bits' on_32_bits include "$newest" "$explains"
soon ok 'with musl' with_musl include "$newest" "$explains"
for compiler in "$CC c11" "$CLANG c11" "$CXX c++11" "$CLANGXX c++20"; do
	# shellcheck disable=SC2086 # two words
	soon ok "options take numbers without a conversion: $compiler" \
		compile $compiler include -fsyntax-only "$scratch/exactly.c"
done

# With RDMAEZ_EXTERN, what another header has declared cannot get its body any more; without it the order is free.
printf '#include <rdmaez/%s.h>\n' qp implementation >"$scratch/late.c"
for compiler in "$CC c11" "$CLANGXX c++20"; do
	# shellcheck disable=SC2086 # some words
	{
		soon fails "implementation.h behind another header, with RDMAEZ_EXTERN, is refused: $compiler" \
			'include rdmaez/implementation.h before the other headers' \
			compile $compiler include $declares -fsyntax-only "$scratch/late.c"
		soon ok "and without, accepted: $compiler" compile $compiler include -fsyntax-only "$scratch/late.c"
	}
done

# Seeded defects. A function is put in the place of units.h's first body.
with_function() {
	seeded "$1" rdmaez/impl/units.h "0,/^RDMAEZ_IMPL_BEGIN/s//&\nRDMAEZ_IMPL $2/"
}

conversion=$(with_function conversion 'unsigned int rdmaez_seed(int x) { return x; }')
only_units "$conversion"
soon fails 'gcc refuses a sign conversion in one header' 'units.h:.*sign-conversion' \
	alone open_headers "$CC" c11 "$conversion" "$newest"
soon fails 'clang++ refuses a sign conversion in one header' 'units.h:.*sign-conversion' \
	alone open_headers "$CLANGXX" c++11 "$conversion" "$newest"
dependent=$(seeded dependent rdmaez/units.h '/#include "base.h"/d')
only_units "$dependent"
soon fails 'a header that needs another before it is refused' 'rdmaez_units.h.c|/units.h.c' \
	alone open_headers "$CC" c11 "$dependent" "$newest"
soon fails 'a file of bodies that needs another is refused' 'impl_units.h.c' \
	alone impl_headers "$CC" c11 "$(seeded bodies rdmaez/impl/units.h '/#include "..\/units.h"/d')" "$newest"
soon fails 'what is C and not C++ is refused' 'invalid conversion' \
	everything "$CXX" c++2b "$(with_function void 'int *rdmaez_seed(void *x) { return x; }')" "$newest" -fsyntax-only
soon fails "a cast of C's outside of the bodies is refused" 'base.h:.*old-style-cast' \
	everything "$CLANGXX" c++11 "$(seeded cast rdmaez/base.h 's/^RDMAEZ_INLINE int rdmaez_exactly/static const int rdmaez_seed = (int)1u;\n&/')" \
	"$newest" -fsyntax-only
newer=$(with_function newer 'int rdmaez_seed(void) { return (int)IBV_ACCESS_FLUSH_GLOBAL; }')
soon fails 'a name that rdma-core 33 does not have is refused there' 'IBV_ACCESS_FLUSH_GLOBAL' \
	everything "$CC" c11 "$newer" "$oldest" -fsyntax-only
soon ok 'and accepted where it exists' everything "$CC" c11 "$newer" "$newest" -fsyntax-only
soon fails 'an extension that tcc does not know is refused' '__builtin_popcount' \
	strict "$(with_function strict 'int rdmaez_seed(int x) { return __builtin_popcount((unsigned int)x); }')" "$newest"
soon fails 'a comparison that 32 bits make always true is refused' 'type-limits' on_32_bits \
	"$(with_function limits 'int rdmaez_seed(unsigned long x) { return (unsigned long long)x > UINT32_MAX; }')" "$newest"
# shellcheck disable=SC2086 # some words
soon fails 'a body that is missing where the bodies are is refused' 'rdmaez_mtu_bytes' everything "$CC" c11 \
	"$(seeded missing rdmaez/impl/units.h '/^RDMAEZ_INLINE int rdmaez_mtu_bytes/,/^}/d')" "$newest" $declares -fsyntax-only

missing_part=$(seeded missing_part rdmaez/explain/wc.h '/^#include "diag.h"/d')
sed -i '/explain\/[a-d].*\.h"/d; /explain\/port_caps.h/d' "$missing_part/rdmaez/implementation.h"
soon fails 'a part of the explanations that needs another is refused' 'explain/wc.h:' \
	everything "$CC" c11 "$missing_part" "$newest" "$explains" -fsyntax-only

uninitialised=$(with_function uninitialised 'int rdmaez_seed(int x) { int y; if (x > 3) y = x; return y; }')
only_units "$uninitialised"
soon fails 'what only the optimiser sees is refused' 'maybe-uninitialized' \
	optimised "$CC" c11 "$uninitialised" "$newest"

done_testing
