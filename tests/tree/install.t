#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `make install` puts a tree in place that C and C++ programs can be built from through pkg-config, and
# `make uninstall` takes away exactly what it put there.

source tests/tap.bash

top=$PWD
prefix=$scratch/usr
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

run_make() {
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory --silent "$@"
}

installed() {
	run_make install PREFIX="$prefix"
	diff -r "$top/include" "$prefix/include"
	[[ $(find "$prefix" -type f ! -path '*/include/*') == "$prefix/lib/pkgconfig/rdmaez.pc" ]]
	[[ -z $(find "$prefix" -type f ! -perm 644) ]]
}

# builds COMPILER STD SOURCE: SOURCE compiles against the installed tree alone, links and runs.
builds() {
	local flags
	cd "$scratch"
	flags=$(pkg-config --cflags --libs rdmaez)
	# shellcheck disable=SC2086 # a list of words
	"$1" "-std=$2" -Wall -Wextra -Werror "$3" -MD -MF used.d -o program $flags
	if ! grep -q "$prefix/include/rdmaez/qp.h" used.d || grep -q "$top/include" used.d; then
		echo "the program did not use the installed tree: $(cat used.d)"
		return 1
	fi
	./program
}

same_version() {
	[[ $(pkg-config --modversion rdmaez) == "$("$scratch/program")" ]]
}

only_libibverbs() {
	diff <(pkg-config --libs rdmaez) <(pkg-config --libs libibverbs)
}

nothing_left() {
	run_make uninstall PREFIX="$prefix"
	diff <(find "$prefix" ! -type d) /dev/null
	[[ ! -e $prefix/include/rdmaez ]]
}

staged() {
	run_make install PREFIX=/usr DESTDIR="$scratch/stage"
	[[ -e $scratch/stage/usr/include/rdmaez/qp.h ]]
	grep -qx 'prefix=/usr' "$scratch/stage/usr/lib/pkgconfig/rdmaez.pc"
	: >"$scratch/stage/usr/include/rdmaez/impl/of_another.h"
	run_make uninstall PREFIX=/usr DESTDIR="$scratch/stage"
	[[ $(find "$scratch/stage/usr/include/rdmaez" ! -type d) == "$scratch/stage/usr/include/rdmaez/impl/of_another.h" ]]
	[[ ! -e $scratch/stage/usr/include/rdmaez/devel ]]
}

# Calls a verb through rdmaez, so that libibverbs has to be linked.
cat >"$scratch/program.c" <<'END_OF_C'
#include <stdio.h>
#include <rdmaez.h>

int main(int argc, char **argv)
{
	struct ibv_port_attr port;
	struct rdmaez_diag diag;

	(void)argv;
	if (rdmaez_port_query(NULL, argc, &port, &diag) != EINVAL)
		return 1;
	puts(RDMAEZ_VERSION_STRING);
	return rdmaez_diag_find(&diag, RDMAEZ_WHY_NULL_ARGUMENT) ? 0 : 1;
}
END_OF_C
cp "$scratch/program.c" "$scratch/program.cc"

ok 'make install copies every header and rdmaez.pc' installed
ok 'a C11 program builds from what was installed' builds "${CC:-gcc}" c11 program.c
ok 'a C++11 program builds from what was installed' builds "${CXX:-g++}" c++11 program.cc
ok 'pkg-config and the headers tell one version' same_version
ok 'pkg-config links nothing but libibverbs' only_libibverbs
mv "$prefix/include/rdmaez/fmt.h" "$scratch"
fails 'a header that was not installed is missed' 'fmt.h' builds "${CC:-gcc}" c11 program.c
mv "$scratch/fmt.h" "$prefix/include/rdmaez"
mv "$prefix/include/rdmaez/impl/fmt.h" "$scratch"
fails 'and a file of bodies' 'impl/fmt.h' builds "${CC:-gcc}" c11 program.c
ok 'make uninstall leaves nothing' nothing_left
ok 'DESTDIR stages, and uninstall leaves the files of others' staged

done_testing
