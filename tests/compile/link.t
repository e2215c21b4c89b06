#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Source files that include everything and use it make one program: of C, of C++, of both, each with its
# own bodies or with those of one file. And shared objects export nothing of ours, so that two with
# different versions work in one process.
#
# make check has of both what mixes most compilers and ways; make check-nightly has more pairs.

source tests/compile/lib.bash

# part NAME INCLUDE [-D...]: a source that takes the address of all we have, and a function that C can call.
part() {
	all_functions "${@:2}" | sed "s/rdmaez_all/rdmaez_all_$1/"
	cat <<-END
		#ifdef __cplusplus
		extern "C"
		#endif
		int use_$1(void);
		int use_$1(void)
		{
			return rdmaez_all_$1[0] && *rdmaez_errno_str(EPERM) == 'E' ? rdmaez_mtu_bytes(IBV_MTU_1024) : 0;
		}
	END
}

# object INCLUDE DIR NAME WAY COMPILER STD: a part; WAY is plain, declares, or holds the bodies.
object() {
	local -A defines=([plain]='' [declares]=-DRDMAEZ_EXTERN [holds]='-DRDMAEZ_EXTERN -DRDMAEZ_IMPLEMENTATION')
	# shellcheck disable=SC2086 # words
	part "$3" "$1" ${defines[$4]} | compile "$5" "$6" "$1" ${defines[$4]} -c -o "$2/$3.o" -
}

# linked INCLUDE (WAY COMPILER STD)...: one program of these parts.
linked() {
	local include=$1 dir=$scratch/link.$BASHPID linker=$CC name names=()
	mkdir "$dir"
	shift
	while (($# > 0)); do
		name=part${#names[@]}
		names+=("$name")
		[[ $3 != c++* ]] || linker=$CXX
		object "$include" "$dir" "$name" "$1" "$2" "$3"
		shift 3
	done
	{
		printf 'int use_%s(void);\n' "${names[@]}"
		printf 'int main(void) { return 0'
		printf ' || use_%s() != 1024' "${names[@]}"
		echo '; }'
	} >"$dir/main.c"
	"$CC" -std=c11 -c "$dir/main.c" -o "$dir/main.o"
	"$linker" "$dir"/*.o -libverbs -o "$dir/program"
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
	"plain $CLANG c11 plain $CXX c++20" \
	"holds $CC c11 declares $CLANG c11 declares $CXX c++11 declares $CLANGXX c++20" \
	"holds $CXX c++11 declares $CC c11 declares $CLANGXX c++11" \
	"holds $CLANG c2x declares $CC c11 plain $CXX c++20 plain $CLANGXX c++20"
programs nightly \
	"plain $CC c11 plain $CC c17" \
	"plain $CXX c++11 plain $CXX c++17" \
	"plain $CLANGXX c++20 plain $CXX c++2b" \
	"holds $CXX c++20 declares $CC c11 declares $CXX c++20" \
	"holds $CLANGXX c++20 declares $CXX c++11 plain $CC c11"

soon fails 'a program without the bodies is refused' 'undefined reference to .rdmaez_errno_str' \
	linked include declares "$CC" c11 declares "$CXX" c++11
soon fails 'and one that has them twice' 'multiple definition of .rdmaez_errno_str' \
	linked include holds "$CC" c11 holds "$CC" c11
soon fails 'RDMAEZ_IMPLEMENTATION alone is refused' 'goes with RDMAEZ_EXTERN' \
	compile "$CC" c11 include -DRDMAEZ_IMPLEMENTATION -include rdmaez.h -fsyntax-only /dev/null
printf '%s\n' '#define RDMAEZ_EXTERN' '#include <rdmaez/qp.h>' '#define RDMAEZ_IMPLEMENTATION' '#include <rdmaez.h>' \
	>"$scratch/late.c"
soon fails 'and so is it behind an include' 'before the first include' compile "$CC" c11 include -fsyntax-only "$scratch/late.c"

# ---- Shared objects -----------------------------------------------------------------------------

cat >"$scratch/library.c" <<'END'
#include <stdio.h>
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

version=$(sed -n 's/^#define RDMAEZ_VERSION_[MP].* //p' include/rdmaez/version.h | paste -sd.)
# other NAME INCLUDE: headers of another version, with other texts.
other() {
	mkdir "$scratch/$1"
	cp -r "$2/." "$scratch/$1"
	sed -i 's/\(RDMAEZ_VERSION_PATCH\))$/\1) ".1"/' "$scratch/$1/rdmaez/version.h"
	sed -i 's/"nothing is wrong"/"nothing at all"/' "$scratch/$1/rdmaez/why.h"
	echo "$scratch/$1"
}

newer=$(other newer include)
# objects nightly|"" COMPILER STD
objects() {
	local way
	for way in '' '-DRDMAEZ_EXTERN -DRDMAEZ_IMPLEMENTATION'; do
		# shellcheck disable=SC2086 # some words
		{
			$1 soon ok "a shared object exports nothing of ours: $2 $3 $way" exports_nothing include "$2" "$3" $way
			$1 soon ok "two shared objects use their own: $2 $3 $way" side_by_side include "$newer" "$2" "$3" $way
		}
	done
}

objects '' "$CC" c11
objects '' "$CXX" c++20
objects nightly "$CXX" c++11
objects nightly "$CLANGXX" c++20

# Seeded defects.
shown=$(seeded shown rdmaez/base.h 's/__visibility__("hidden")/visibility("default")/')
shown_newer=$(other shown_newer "$shown")
soon fails 'an exported function is seen' ' rdmaez_' exports_nothing "$shown" "$CXX" c++20
soon fails "a call of another object's function is seen" '^[<] .*nothing is wrong.*nothing is wrong' \
	side_by_side "$shown" "$shown_newer" "$CXX" c++20

global=$(seeded global rdmaez/impl/units.h \
	's/^RDMAEZ_INLINE \(int rdmaez_mtu_bytes(enum ibv_mtu mtu)\)$/\1/')
sed -i 's/^RDMAEZ_INLINE \(int rdmaez_mtu_bytes(enum ibv_mtu mtu);\)$/\1/' "$global/rdmaez/units.h"
for pair in "plain $CC c11 plain $CC c11" "plain $CXX c++20 plain $CXX c++20"; do
	# shellcheck disable=SC2086 # words
	soon fails "a function that is not inline is refused: $pair" 'multiple definition of .rdmaez_mtu_bytes' \
		linked "$global" $pair
done

done_testing
