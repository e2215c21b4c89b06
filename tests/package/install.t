#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `make install` puts everything in place, also where a path has blanks and other characters that shells,
# make and sed do not like; `make uninstall` takes away exactly that.

source tests/tap.bash
source tests/package/lib.bash

prefix="$scratch/a user's & other|things/usr"

# What the tree has and what is installed, as `name size` below two directories.
same_files() {
	diff <(cd "$1" && find . -type f "${@:3}" -printf '%p %s\n' | sort) \
		<(cd "$2" && find . -type f "${@:3}" -printf '%p %s\n' | sort)
}

# lacks PATTERN DIRECTORY...
lacks() {
	! grep -rq -- "$@"
}

everything() {
	local doc=$prefix/share/doc/rdmaez name
	run_make install PREFIX="$prefix"
	diff -r "$top/include" "$prefix/include"
	same_files build/docs/html "$doc/html"
	same_files build/docs/man "$prefix/share/man"
	man --manpath="$prefix/share/man" 3 rdmaez_qp_to_rtr | grep "struct ibv_qp \*"
	same_files examples "$doc/examples" -name '*.[ch]'
	for name in README.md CHANGELOG.md LICENSE; do
		cmp "$top/$name" "$doc/$name"
	done
	[[ -e $prefix/share/pkgconfig/rdmaez.pc ]]
	[[ -e $prefix/share/cmake/rdmaez/rdmaez-config.cmake ]]
	[[ -e $prefix/share/cmake/rdmaez/rdmaez-config-version.cmake ]]
	[[ -z $(find "$prefix" -type f ! -perm 644) ]]
	[[ -z $(find "$prefix" -type d ! -perm 755) ]]
	lacks '@[A-Z_]*@' "$prefix/share/pkgconfig" "$prefix/share/cmake"
}

# The examples need no more than was installed. That of Open MPI needs Open MPI.
examples() {
	cd "$prefix/share/doc/rdmaez/examples"
	rm -f mesh.c
	"${CC:-gcc}" -std=c11 -I"$prefix/include" -fsyntax-only ./*.c
}

# The list that `make uninstall` goes by, and Debian's packages are made from.
noted() {
	diff <(cd "$prefix" && find . -type f -printf '%P\n' | sort) \
		<(grep -v '/$' "$prefix/share/doc/rdmaez/installed" | sort)
}

# Not even the directory in which it was.
nothing_left() {
	run_make uninstall PREFIX="$prefix"
	[[ -z $(find "$scratch" -mindepth 1) ]]
}

headers_alone() {
	run_make install-headers PREFIX="$scratch/headers"
	diff -r "$top/include" "$scratch/headers/include"
	diff <(cd "$scratch/headers/share" && find . -type f | sort) - <<-'END'
		./cmake/rdmaez/rdmaez-config-version.cmake
		./cmake/rdmaez/rdmaez-config.cmake
		./doc/rdmaez/LICENSE
		./doc/rdmaez/installed
		./pkgconfig/rdmaez.pc
	END
}

# An older version had a header that this one does not have, and someone put a file beside ours.
replaced() {
	local old=$scratch/headers/include/rdmaez/old.h others=$scratch/headers/include/rdmaez/impl/of_another.h
	touch "$old" "$others"
	echo include/rdmaez/old.h >>"$scratch/headers/share/doc/rdmaez/installed"
	run_make install-headers PREFIX="$scratch/headers"
	[[ ! -e $old && -e $others ]]
	run_make uninstall PREFIX="$scratch/headers"
	[[ $(find "$scratch/headers" ! -type d) == "$others" ]]
	[[ ! -e $scratch/headers/share && ! -e $scratch/headers/include/rdmaez/devel ]]
	rm -r "$scratch/headers"
}

# What packagers do: other directories, all below DESTDIR.
staged() {
	local stage="$scratch/to stage"
	run_make install-headers prefix=/usr includedir=/usr/include/here docdir=/opt/doc DESTDIR="$stage"
	[[ -e $stage/usr/include/here/rdmaez/qp.h && -e $stage/opt/doc/LICENSE ]]
	grep -qx 'prefix=/usr' "$stage/usr/share/pkgconfig/rdmaez.pc"
	grep -qxF "includedir=\${prefix}/include/here" "$stage/usr/share/pkgconfig/rdmaez.pc"
	lacks "$scratch" "$stage"
	run_make uninstall prefix=/usr includedir=/usr/include/here docdir=/opt/doc DESTDIR="$stage"
	[[ -z $(find "$stage" -mindepth 1) ]]
	rmdir "$stage"
}

fails 'uninstall says where nothing is installed' 'there is no .*/share/doc/rdmaez/installed' \
	run_make uninstall PREFIX="$prefix"
ok 'make install copies headers, package files, documentation and examples' everything
ok 'and notes each file' noted
ok 'the installed examples compile' examples
rm "$prefix/share/doc/rdmaez/examples/pingpong.h"
fails 'an example that lacks a file is seen' 'pingpong\.h' examples
rm "$prefix/include/rdmaez/qp.h"
fails 'a header that was not installed is missed' 'rdmaez: qp.h' diff -r "$top/include" "$prefix/include"
fails 'and in the notes' 'include/rdmaez/qp.h' noted
ok 'make uninstall leaves nothing' nothing_left
ok 'make install-headers copies what compiling needs' headers_alone
ok 'a new version takes the place of the old, and the files of others stay' replaced
ok 'DESTDIR stages, with directories as packagers set them' staged
fails 'a prefix that depends on the directory is refused' 'has to begin with a slash: here/include' \
	run_make install-headers PREFIX=here

done_testing
