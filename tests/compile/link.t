#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Source files that include everything and use it make one program: of C, of C++, of both, each with its
# own bodies or with those of one file; with the explanations in no file, in one or in two. Every compiler, linker,
# optimisation and kind of program gives the same errno values, and explains where it has the explanations. And shared
# objects export nothing of ours, so that two with different versions work in one process.
#
# make check has of all what mixes most compilers and ways; make check-nightly has more.

source tests/compile/lib.bash

# What a file finds out: 1, no file of the program has explanations; 2, one has; 0, anything else.
use() {
	cat <<-END
		#ifdef __cplusplus
		extern "C"
		#endif
		int use_$1(void);
		int use_$1(void)
		{
			static const char untold[] = RDMAEZ_IMPL_UNTOLD "\n";
			struct rdmaez_diag diag;
			char text[512];
			size_t length;

			if (rdmaez_qp_to_rtr(NULL, NULL, &diag) != EINVAL || diag.error != EINVAL ||
			    strcmp(rdmaez_errno_str(EINVAL), "EINVAL") != 0 || rdmaez_mtu_bytes(IBV_MTU_1024) != 1024)
				return 0;
			rdmaez_diag_format(&diag, text, sizeof(text));
			length = strlen(text);
			if (length >= sizeof(untold) && strcmp(text + length - (sizeof(untold) - 1), untold) == 0)
				return 1;
			return strstr(text, "qp: a required pointer is NULL") ? 2 : 0;
		}
	END
}

# main_of WANTED NAME...: a main() that wants the same of each file.
main_of() {
	echo '#include <stdio.h>'
	printf 'int use_%s(void);\n' "${@:2}"
	echo 'int main(void) { int bad = 0, got;'
	printf 'got = use_%s(); if (got != '"$1"') bad = printf("%%d instead of '"$1"'\\n", got);\n' "${@:2}"
	echo 'return bad != 0; }'
}

# part NAME INCLUDE [-D...]: a source that takes the address of all we have, and a function that C can call.
part() {
	all_functions "${@:2}" | sed "s/rdmaez_all/rdmaez_all_$1/"
	use "$1" | sed "s/if (rdmaez_qp_to_rtr/if (!rdmaez_all_$1[0] || rdmaez_qp_to_rtr/"
}

# object INCLUDE DIR NAME WAY COMPILER STD: a part; WAY is plain, explains, declares or holds.
object() {
	local -A defines=([plain]='' [explains]=$explains [declares]=$declares [holds]=$holds)
	# shellcheck disable=SC2086 # words
	part "$3" "$1" ${defines[$4]} | compile "$5" "$6" "$1" ${defines[$4]} -c -o "$2/$3.o" -
}

# linked INCLUDE (WAY COMPILER STD)...: one program of these parts.
linked() {
	local include=$1 dir=$scratch/link.$BASHPID linker=$CC wanted=1 name names=()
	mkdir "$dir"
	shift
	while (($# > 0)); do
		name=part${#names[@]}
		names+=("$name")
		[[ $3 != c++* ]] || linker=$CXX
		[[ $1 != explains && $1 != holds ]] || wanted=2
		object "$include" "$dir" "$name" "$1" "$2" "$3"
		shift 3
	done
	main_of "$wanted" "${names[@]}" >"$dir/main.c"
	"$CC" -std=c11 -c "$dir/main.c" -o "$dir/main.o"
	"$linker" "$dir"/*.o -lrdmacm -libverbs -o "$dir/program"
	"$dir/program"
}

# programs nightly|"" PARTS...
programs() {
	local parts
	for parts in "${@:2}"; do
		# shellcheck disable=SC2086 # words
		$1 soon ok "one program: $parts" linked include $parts
	done
}

programs '' \
	"explains $CXX c++20 plain $CC c11 explains $CLANG c11" \
	"holds $CC c11 declares $CLANG c11 declares $CXX c++11 declares $CLANGXX c++20"
programs nightly \
	"plain $CLANG c11 plain $CXX c++20" \
	"holds $CXX c++11 declares $CC c11 declares $CLANGXX c++11" \
	"holds $CLANG c2x declares $CC c11 plain $CXX c++20 plain $CLANGXX c++20" \
	"plain $CC c11 plain $CC c17" \
	"plain $CXX c++11 plain $CXX c++17" \
	"plain $CLANGXX c++20 plain $CXX c++2b" \
	"explains $CC c11 plain $CC c11 plain $CXX c++11" \
	"explains $CC c11 explains $CC c11" \
	"explains $CXX c++11 explains $CLANGXX c++20 plain $CXX c++2b" \
	"explains $CLANGXX c++11 plain $CLANG c2x" \
	"holds $CXX c++20 declares $CC c11 declares $CXX c++20" \
	"holds $CXX c++20 explains $CC c11" \
	"holds $CLANGXX c++20 declares $CXX c++11 plain $CC c11"

soon fails 'a program without the bodies is refused' 'undefined reference to .rdmaez_errno_str' \
	linked include declares "$CC" c11 declares "$CXX" c++11
soon fails 'and one that has them twice' 'multiple definition of .rdmaez_errno_str' \
	linked include holds "$CC" c11 holds "$CC" c11

# ---- Compilers and linkers ----------------------------------------------------------------------

# A file that asks; one that has the explanations stands beside it, or two, or none.
{
	echo '#include <rdmaez.h>'
	use asks
} >"$scratch/asks.c"
echo '#include <rdmaez/implementation.h>' >"$scratch/tells.c"
main_of 1 asks >"$scratch/untold.c"
main_of 2 asks >"$scratch/told.c"

# Empty functions in the place of libibverbs, which is not there for every C library and for static programs. These call
# no verb.
"$CC" -std=c11 -Iinclude -c "$scratch/tells.c" -o "$scratch/tells.o"
"$CC" -std=c11 -Iinclude -c "$scratch/asks.c" -o "$scratch/asks.o"
nm -u "$scratch/tells.o" "$scratch/asks.o" |
	sed -n 's/^ *U \(_*ibv_.*\)/void \1(void); void \1(void) { }/p' | sort -u >"$scratch/verbs.c"

# ends WANTED LINKER FILES...: a program of these that is told so much; kinds has made the objects.
ends() {
	local code=0
	"${build[@]}" ${2:+"-fuse-ld=$2"} "$dir/$1.o" "${@:3}" "$dir/verbs.o" -o "$dir/program" &&
		"$dir/program" || code=$?
	((code == 0)) || echo "linker ${2:-default}: $1 ${*:3}: ended with $code"
	return "$code"
}

# kinds INCLUDE LINKERS COMMAND...: programs without the explanations, with one file that has them, with two, and with
# one in an archive, by each linker.
#
# A weak reference does not fetch a member out of an archive. So a program whose one file with implementation.h is in a
# static library gets no explanations, unless something else of that file is used, or it is asked for by -u.
kinds() {
	local dir=$scratch/kinds.$BASHPID linker source build=("${@:3}")
	mkdir "$dir"
	for source in asks tells verbs untold told; do
		"${build[@]}" "-I$1" -c "$scratch/$source.c" -o "$dir/$source.o"
	done
	cp "$dir/tells.o" "$dir/again.o"
	for linker in $2; do
		linker=${linker#default}
		ends untold "$linker" "$dir/asks.o"
		ends told "$linker" "$dir/asks.o" "$dir/tells.o"
		ends told "$linker" "$dir/again.o" "$dir/tells.o" "$dir/asks.o"
		[[ ${build[*]} != *-flto* && ${build[0]} != tcc ]] || continue
		rm -f "$dir/libtells.a"
		ar rc "$dir/libtells.a" "$dir/tells.o"
		ends untold "$linker" "$dir/asks.o" "$dir/libtells.a"
		ends told "$linker" -Wl,-u,rdmaez_impl_tell_diag_format "$dir/asks.o" "$dir/libtells.a"
	done
}

linkers=$(for linker in bfd gold lld mold; do ! command -v "ld.$linker" >/dev/null || echo -n "$linker "; done)
has() { [[ " $linkers" == *" $1 "* ]]; }
multiarch=$("$CC" -print-multiarch)

# built nightly|"" LINKERS COMMAND...
built() {
	$1 soon ok "untold without implementation.h, and told with it: ${*:3}, by $2" kinds include "${@:2}"
}

built '' "$linkers" "$CC" -O0 -fPIE -pie
built '' default "$CC" -O1 -static
built '' default "$CC" -O1 -flto
built nightly "$linkers" "$CC" -O2 -fPIE -pie
built nightly "$linkers" "$CC" -O0 -fno-pie -no-pie
built nightly "$linkers" "$CLANG" -O3 -fPIE -pie
built nightly default "$CC" -O2 -static
built nightly default "$CC" -O2 -flto
built nightly "$linkers" "$CC" -O3 -fno-pie -no-pie
built nightly "$linkers" "$CC" -O2 -fPIE -pie -ffunction-sections -Wl,--gc-sections
built nightly "$linkers" "$CC" -O2 -fPIE -pie -Wl,-z,now -Wl,-z,relro
built nightly "$linkers" "$CLANG" -O0 -fno-pie -no-pie
built nightly "$linkers" "$CXX" -std=c++11 -x c++ -O2 -fPIE -pie
built nightly default "$CC" -O2 -static-pie -fPIE
built nightly default "$CC" -O0 -static
built nightly default "$CC" -O3 -flto -fno-pie -no-pie
! has lld || built nightly lld "$CLANG" -O2 -flto
if command -v tcc >/dev/null; then
	built '' default tcc -std=c11
fi
if command -v musl-gcc >/dev/null; then
	built '' default musl-gcc -O1 -static -idirafter "/usr/include/$multiarch" -idirafter /usr/include
	built nightly default musl-gcc -O0 -idirafter "/usr/include/$multiarch" -idirafter /usr/include
fi

# twice INCLUDE: two files with explanations are joined.
twice() {
	local object=$scratch/twice.$BASHPID.o
	"$CC" -std=c11 -w "-I$1" -c "$scratch/tells.c" -o "$object"
	cp "$object" "$object.again.o"
	ld -r "$object" "$object.again.o" -o "$object.both.o"
}

# Seeded defects: references and bodies that are not weak, a core that does not ask, and references that are hidden.
strong=$(seeded strong rdmaez/base.h 's/^\(#define RDMAEZ_SEAM .*\)__weak__, /\1/')
nightly soon fails 'that the explanations have to be there is seen' 'undefined reference to .rdmaez_impl_tell_' \
	kinds "$strong" bfd "$CC" -w -O2
soon fails 'that they may be there only once is seen' 'multiple definition of .rdmaez_impl_tell_' twice "$strong"
unasked=$(seeded unasked rdmaez/impl/diag.h 's/return rdmaez_impl_tell_diag_format ? \(.*\)$/return \1;/; /: rdmaez_impl_format_untold(diag, buf, size);/d')
soon fails 'a call of what is not there is seen' 'linker bfd: untold .*: ended with 139' \
	kinds "$unasked" bfd "$CC" -O2 -fPIE -pie
hidden=$(seeded hidden rdmaez/base.h 's/^\(#define RDMAEZ_SEAM .*((\)/\1__visibility__("hidden"), /')
if has gold; then
	nightly soon fails 'hidden references, which gold takes for functions, are seen' 'linker gold: untold .*: ended with' \
		kinds "$hidden" gold "$CC" -O2 -fPIE -pie
fi

# ---- Shared objects -----------------------------------------------------------------------------

cat >"$scratch/library.c" <<'END'
#include <stdio.h>
#ifdef TEST_EXPLAINED
#include <rdmaez/implementation.h>
#endif
#include <rdmaez.h>
#include <rdmaez/dm_share.h>
#include <rdmaez/devel/dm_emu.h>

#ifdef __cplusplus
extern "C"
#endif
int NAME(struct ibv_qp *qp, char *buf, size_t size);
int NAME(struct ibv_qp *qp, char *buf, size_t size)
{
	struct rdmaez_diag diag;
	int error = rdmaez_qp_to_rtr(qp, NULL, &diag);
	struct rdmaez_dm_share_opts share;
	struct rdmaez_dm_shared shared;

	memset(&share, 0, sizeof(share));
	share.ops = rdmaez_dm_emu_ops();
	rdmaez_dm_receive(-1, &share, &shared, NULL);
	snprintf(buf, size, "%s %s %s %u", RDMAEZ_VERSION_STRING, rdmaez_errno_str(error),
		 rdmaez_why_str(RDMAEZ_WHY_NONE), (unsigned int)rdmaez_qp_next_states(IBV_QPS_RESET));
	return rdmaez_diag_format(&diag, NULL, 0);
}
END

cat >"$scratch/process.c" <<'END'
#include <stdio.h>
#include <infiniband/verbs.h>

int one(struct ibv_qp *qp, char *buf, size_t size);
int two(struct ibv_qp *qp, char *buf, size_t size);

int main(void)
{
	char of_one[128], of_two[128];

	one(NULL, of_one, sizeof(of_one));
	two(NULL, of_two, sizeof(of_two));
	return printf("%s; %s\n", of_one, of_two) < 0;
}
END

# library INCLUDE DIR NAME COMPILER STD [-D...]: not optimised, so that no call is inlined away.
library() {
	local language=c
	[[ $5 != c++* ]] || language=c++
	"$4" -x "$language" "-std=$5" -fPIC "-I$1" -DNAME="$3" "${@:6}" -shared "$scratch/library.c" -libverbs -o "$2/lib$3.so"
}

exports_nothing() {
	local dir=$scratch/exports.$BASHPID
	mkdir "$dir"
	library "$1" "$dir" one "${@:2}"
	nm -D --defined-only "$dir/libone.so" | tee "$dir/symbols"
	grep -q ' one$' "$dir/symbols"
	! grep -i rdmaez "$dir/symbols" || return 1
}

# side_by_side FIRST SECOND COMPILER STD [-D...]: two shared objects with different headers, in one process.
side_by_side() {
	local dir=$scratch/side.$BASHPID
	mkdir "$dir"
	library "$1" "$dir" one "${@:3}"
	library "$2" "$dir" two "${@:3}"
	"$CC" -std=c11 "$scratch/process.c" "-L$dir" -lone -ltwo "-Wl,-rpath,$dir" -o "$dir/process"
	diff <("$dir/process") <(echo "$version EINVAL nothing is wrong 3; $version.1 EINVAL nothing at all 3")
}

# one_is_told INCLUDE COMPILER STD [FILE]: a shared object without the explanations does not take those of another, nor
# those of the program, whose file of them this is.
one_is_told() {
	local dir=$scratch/told.$BASHPID
	mkdir "$dir"
	library "$1" "$dir" one "${@:2:2}" "$explains"
	library "$1" "$dir" two "${@:2:2}"
	"$CC" -std=c11 "-I$1" -rdynamic "$scratch/process.c" "${@:4}" "-L$dir" -lone -ltwo -libverbs "-Wl,-rpath,$dir" \
		-o "$dir/process"
	diff <("$dir/process") <(echo "$version EINVAL nothing is wrong 3; $version EINVAL $untold 3")
}

untold=$(sed -n '/^#define RDMAEZ_IMPL_UNTOLD/{n;s/.*"\(.*\)"$/\1/p}' include/rdmaez/base.h)
version=$(sed -n 's/^#define RDMAEZ_VERSION_[MP].* //p' include/rdmaez/version.h | paste -sd.)
# other NAME INCLUDE: headers of another version, with other texts.
other() {
	mkdir "$scratch/$1"
	cp -r "$2/." "$scratch/$1"
	sed -i 's/\(RDMAEZ_VERSION_PATCH\))$/\1) ".1"/' "$scratch/$1/rdmaez/version.h"
	sed -i 's/"nothing is wrong"/"nothing at all"/' "$scratch/$1/rdmaez/explain/why.h"
	! diff -q "$2/rdmaez/explain/why.h" "$scratch/$1/rdmaez/explain/why.h" >/dev/null || echo 'the texts are the same' >&2
	echo "$scratch/$1"
}

newer=$(other newer include)
# objects nightly|"" COMPILER STD
objects() {
	local way
	for way in "$explains" "$holds"; do
		# shellcheck disable=SC2086 # some words
		{
			$1 soon ok "a shared object exports nothing of ours: $2 $3 $way" exports_nothing include "$2" "$3" $way
			$1 soon ok "two shared objects use their own: $2 $3 $way" side_by_side include "$newer" "$2" "$3" $way
		}
	done
	$1 soon ok "a shared object exports nothing of ours: $2 $3" exports_nothing include "$2" "$3"
	$1 soon ok "a shared object without explanations takes nobody's: $2 $3" \
		one_is_told include "$2" "$3" "$scratch/tells.c"
}

objects '' "$CC" c11
objects nightly "$CXX" c++20
objects nightly "$CXX" c++11
objects nightly "$CLANGXX" c++20

# Seeded defects.
shown=$(seeded shown rdmaez/base.h 's/__visibility__("hidden")/visibility("default")/')
shown_newer=$(other shown_newer "$shown")
soon fails 'an exported function is seen' ' rdmaez_' exports_nothing "$shown" "$CXX" c++20
soon fails "a call of another object's function is seen" '^[<] .*nothing is wrong.*nothing is wrong' \
	side_by_side "$shown" "$shown_newer" "$CXX" c++20 "$explains"

shown_told=$(seeded shown_told rdmaez/implementation.h 's/__visibility__("hidden")/__visibility__("default")/')
shown_told_newer=$(other shown_told_newer "$shown_told")
nightly soon fails 'exported explanations are seen' ' rdmaez_impl_tell_' exports_nothing "$shown_told" "$CC" c11 "$explains"
nightly soon fails "a call of another object's explanations is seen" '^[<] .*nothing is wrong.*nothing is wrong' \
	side_by_side "$shown_told" "$shown_told_newer" "$CC" c11 "$explains"
soon fails 'and so it is where the object has none' '^[<] .*nothing is wrong.*nothing is wrong' \
	one_is_told "$shown_told" "$CC" c11

global=$(seeded global rdmaez/impl/units.h \
	's/^RDMAEZ_INLINE \(int rdmaez_mtu_bytes(enum ibv_mtu mtu)\)$/\1/')
sed -i 's/^RDMAEZ_INLINE \(int rdmaez_mtu_bytes(enum ibv_mtu mtu);\)$/\1/' "$global/rdmaez/units.h"
for pair in "plain $CC c11 plain $CC c11" "plain $CXX c++20 plain $CXX c++20"; do
	sample "$pair" "plain $CC c11 plain $CC c11"
	# shellcheck disable=SC2086 # words
	$often soon fails "a function that is not inline is refused: $pair" 'multiple definition of .rdmaez_mtu_bytes' \
		linked "$global" $pair
done

done_testing
