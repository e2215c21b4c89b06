#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What `make dist` packs is complete: unpacked elsewhere it installs the same as the tree, with nothing but make
# and the common tools, builds the examples, passes three of the unit tests, and packs the same bytes again. The
# other tests are left to the tree, of which it is a copy.

source tests/tap.bash
source tests/package/lib.bash

release=rdmaez-$version
unpacked="$scratch/un packed/$release"

# packed TREE: packs it and prints where.
packed() {
	(cd "$1" && VERSION=$version tools/package/dist >&2)
	echo "$1/build/$release.tar.xz"
}

tree_files() {
	if [[ -e .git ]]; then
		git ls-files
	else
		find . -path ./build -prune -o ! -type d -printf '%P\n'
	fi
}

# What was unpacked is the tree, file by file.
same_tree() {
	diff <(tree_files | sort) <(cd "$unpacked" && find . -path ./build -prune -o ! -type d -printf '%P\n' | sort)
	tree_files | xargs sha256sum >"$scratch/sums"
	(cd "$unpacked" && sha256sum --check --quiet "$scratch/sums")
}

# The tarball has the tree, and of what was built the documentation and the single header.
complete() {
	mkdir "$scratch/un packed"
	tar --extract --file="$(packed "$top")" --directory="$scratch/un packed"
	[[ $(ls "$scratch/un packed") == "$release" ]]
	same_tree
	[[ $(cd "$unpacked/build" && echo * docs/*) == 'docs single docs/html docs/man' ]]
	[[ -e $unpacked/build/docs/html/index.html && -e $unpacked/build/docs/man/man3/rdmaez_qp_to_rtr.3 ]]
	cmp build/single/rdmaez.h "$unpacked/build/single/rdmaez.h"
}

# Whoever packs, whenever and where.
reproducible() {
	cp "$(packed "$top")" "$scratch/first.tar.xz"
	(umask 077 && TZ=Asia/Tokyo LC_ALL=C packed "$top")
	cmp "$scratch/first.tar.xz" "build/$release.tar.xz"
	cmp "$scratch/first.tar.xz" "$(packed "$unpacked")"
	rm "$unpacked/build/$release.tar.xz"
}

at_another_time() {
	SOURCE_DATE_EPOCH=1 packed "$top"
	cmp "$scratch/first.tar.xz" "build/$release.tar.xz"
}

# Programs that are there only to be seen if they are used.
stubs() {
	mkdir "$scratch/stubs"
	for program in apt-get cc clang cmake dot doxygen dpkg-query g++ gcc git ninja pkg-config python3 sudo; do
		printf '#!/bin/sh\necho "used %s"\nexit 1\n' $program >"$scratch/stubs/$program"
		chmod +x "$scratch/stubs/$program"
	done
}

installs_like_the_tree() {
	PATH=$scratch/stubs:$PATH run_make -C "$unpacked" install PREFIX=/usr DESTDIR="$scratch/one"
	run_make install PREFIX=/usr DESTDIR="$scratch/other"
	diff -r "$scratch/other" "$scratch/one"
}

# From what the tarball has installed.
program_builds() {
	export PKG_CONFIG_PATH=$scratch/one/usr/share/pkgconfig
	echo "$explanations" >"$scratch/explanations.c"
	eval "${CC:-gcc} tests/package/program.c $scratch/explanations.c -o $scratch/program \
		$(pkg-config --define-prefix --cflags --libs rdmaez)"
	says told "$scratch/program"
}

examples() {
	run_make -C "$unpacked" -j"$(nproc)" examples
	diff <(find examples -name '*.c' ! -name mesh.c -printf '%f\n' | sed 's/\.c$//' | sort) \
		<(find "$unpacked/build/examples" -type f -executable -printf '%f\n' | sort)
}

unit() {
	local tests=(build/unit/gcc/qp_rules build/unit/gcc/qp build/unit/gcc/connect) one
	run_make -C "$unpacked" -j"$(nproc)" "${tests[@]}"
	cd "$unpacked"
	for one in "${tests[@]}"; do
		tests/run "$one" >"$scratch/answer" || { cat "$scratch/answer" && return 1; }
		[[ -z $(sed -n '/^not ok/p' "$scratch/answer") ]]
	done
}

nothing_left() {
	run_make -C "$unpacked" uninstall PREFIX=/usr DESTDIR="$scratch/one"
	[[ -z $(find "$scratch/one" -mindepth 1) ]]
}

ok 'the tarball has the tree, the documentation and the single header' complete
ok 'the same tree makes the same bytes, and so does what was unpacked' reproducible
fails 'other bytes are seen' 'differ' at_another_time
stubs
ok 'it installs what the tree does, and no compiler, doxygen or network is used' installs_like_the_tree
ok 'a program builds from that' program_builds
ok 'uninstall leaves nothing' nothing_left
ok 'the examples build' examples
ok 'tests of rules, queue pairs and connecting pass' unit

# What the checks above see.
touch "$unpacked/include/rdmaez/qp.h"
fails 'documentation that is out of date is not installed' 'used (apt-get|doxygen|gcc|sudo)' \
	env PATH="$scratch/stubs:$PATH" make -C "$unpacked" install PREFIX="$scratch/one"
rm "$unpacked/include/rdmaez/impl/fmt.h"
fails 'a file that is missing is seen' 'impl/fmt\.h' same_tree
fails 'examples do not build where a header is missing' 'fmt\.h' run_make -C "$unpacked" examples

done_testing
