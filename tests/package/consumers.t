#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs of C and of C++ get rdmaez in each way that the documentation tells: installed, by pkg-config, CMake
# and Meson; in their own tree; as a single file. Each compiles, links, runs, and has read no other headers than
# it should; and it explains if one of its files includes the explanations. What CMake and Meson are given are the
# blocks of the pages themselves.

source tests/tap.bash
source tests/package/lib.bash

: "${CC:=gcc}" "${CXX:=g++}"
export CC CXX

prefix="$scratch/in stalled"
run_make install-headers PREFIX="$prefix" >/dev/null
export PKG_CONFIG_PATH=$prefix/share/pkgconfig CMAKE_PREFIX_PATH=$prefix

# Which file has the explanations: the program, below or above its other include; another one; or none.
way=below

# sources NAME SUFFIX: the program by this name, in one file or two.
sources() {
	local -A script=([below]="s|^#include <rdmaez.h>|&\n$explanations|" [above]="s|^#include <rdmaez.h>|$explanations\n&|")
	sed "${script[$way]-}" "$top/tests/package/program.c" >"$1.$2"
	[[ $way != apart ]] || echo "$explanations" >"explanations.$2"
}

# project NAME LANGUAGE: an empty directory with the program, in which to stay.
project() {
	local dir="$scratch/$1 in $2, $way"
	rm -rf "$dir"
	mkdir "$dir"
	cd "$dir"
	suffix=${2/c++/cc}
	sources program "$suffix"
}

# compiler LANGUAGE
compiler() {
	case $1 in
	c) echo "$CC -std=c11" ;;
	c++) echo "$CXX -std=c++11" ;;
	esac
}

# works DIRECTORY [PROGRAM]: the program runs, explains as it should, and has read rdmaez.h there and nowhere else.
works() {
	local used what=told
	[[ $way != without ]] || what=untold
	says $what "${2:-./program}"
	used=$(find . -name '*.d' -exec cat {} + | sed 's/\\ /?/g; s/\\$//' | tr -s ' ' '\n' | grep '/rdmaez[./]')
	if ! grep -qxF "${1// /?}/rdmaez.h" <<<"$used" || grep -vF "${1// /?}/" <<<"$used"; then
		echo "it has to read $1/rdmaez.h and has read $used"
		return 1
	fi
}

by_pkg_config() {
	project pkg-config "$1"
	eval "$(compiler "$1") -MD *.$suffix -o program $(pkg-config --cflags --libs rdmaez)"
	works "$prefix/include"
}

only_libibverbs() {
	diff <(pkg-config --libs rdmaez) <(pkg-config --libs libibverbs)
	[[ $(pkg-config --modversion rdmaez) == "$version" ]]
}

# The tree may be moved, which pkg-config has to be told and CMake sees.
moved() {
	cp -r "$prefix" "$scratch/moved"
	export PKG_CONFIG_PATH=$scratch/moved/share/pkgconfig CMAKE_PREFIX_PATH=$scratch/moved
	project moved c
	eval "$CC -MD program.c -o program $(pkg-config --define-prefix --cflags --libs rdmaez)"
	works "$scratch/moved/include"
	rm -- *.d program
	takes "$(block cmake find_package)" c CMakeLists.txt
	cmake_builds
	works "$scratch/moved/include" "build/$name"
}

copied() {
	project copied "$1"
	mkdir -p third_party/rdmaez
	cp -r "$top/include" third_party/rdmaez
	$(compiler "$1") "${@:2}" -MD -Ithird_party/rdmaez/include ./*."$suffix" -libverbs -o program
	works third_party/rdmaez/include
}

# single LANGUAGE [-DRDMAEZ_EXTERN]: without the explanations the one file is enough.
single() {
	project "single$*" "$1"
	mkdir third_party
	cp "$top/build/single/rdmaez.h" third_party
	[[ $way == without ]] || cp -r "$top/build/single/rdmaez" third_party
	$(compiler "$1") "${@:2}" -MD -Ithird_party ./*."$suffix" -libverbs -o program
	works third_party
}

# archived [-DRDMAEZ_EXTERN]: the explanations in a static library, where nothing but them would be looked for.
archived() {
	project "archived$*" c
	eval "$CC $* -MD -c *.c $(pkg-config --cflags rdmaez)"
	ar rc libexplanations.a explanations.o
	eval "$CC program.o libexplanations.a -o program $(pkg-config --libs rdmaez)"
	works "$prefix/include"
}

# block LANGUAGE WORD [PAGE]: that block of a page, docs/including.md, in which there is this word.
block() {
	awk -v language="$1" -v word="$2" '
		$0 == "```" language { inside = 1; text = ""; next }
		/^```/ { if (inside && index(text, word)) { printf "%s", text; found = 1 } inside = 0 }
		inside { text = text $0 "\n" }
		END { exit !found }' "$top/${3:-docs/including.md}"
}

# with_blocks LANGUAGE: the pages that show how.
with_blocks() {
	grep -l "^\`\`\`$1" -- *.md docs/*.md
}

# takes BLOCK LANGUAGE FILE: the project file of a page, with the program under the name that it has there, which
# becomes $name. For C++ a project for C is changed as one would, and where the explanations have a file of their own.
takes() {
	local edits=()
	name=$(sed -n "s/.*executable('\?\([a-z]*\).*/\1/p" <<<"$1")
	sources "$name" "$suffix"
	[[ $2 == c ]] || edits+=(-e "/^project(/s/ C)/ CXX)/; /^project(/s/'c'/'cpp'/"
		-e "s/c_std=c11/cpp_std=c++11/; s/$name\.c\>/$name.cc/")
	[[ $way != apart ]] || edits+=(-e "s/ $name\.$suffix)/ $name.$suffix explanations.$suffix)/"
		-e "s/'$name\.$suffix'/&, 'explanations.$suffix'/")
	sed -e '' "${edits[@]}" <<<"$1" >"$3"
}

cmake_builds() {
	cmake -S . -B build -G Ninja -Wdev -Werror=dev "$@"
	ninja -C build -d keepdepfile
}

meson_builds() {
	meson setup build
	ninja -C build -d keepdepfile
}

# by_cmake PAGE LANGUAGE [ARGUMENT...]: the way with find_package().
by_cmake() {
	project "cmake ${1//\//_} $#" "$2"
	takes "$(block cmake find_package "$1")" "$2" CMakeLists.txt
	cmake_builds "${@:3}"
	works "$prefix/include" "build/$name"
}

by_meson() {
	project "meson ${1//\//_}" "$2"
	takes "$(block meson "dependency('rdmaez')" "$1")" "$2" meson.build
	meson_builds
	works "$prefix/include" "build/$name"
}

# By the pages' blocks for a tree of one's own.
copied_by_cmake() {
	project copied-cmake "$1"
	mkdir -p third_party/rdmaez
	cp -r "$top/include" third_party/rdmaez
	takes "$(block cmake third_party)" "$1" CMakeLists.txt
	cmake_builds
	works "$PWD/third_party/rdmaez/include" "build/$name"
}

copied_by_meson() {
	project copied-meson "$1"
	mkdir -p third_party/rdmaez
	cp -r "$top/include" third_party/rdmaez
	takes "$(block meson third_party)" "$1" meson.build
	meson_builds
	works ../third_party/rdmaez/include "build/$name"
}

fetched() {
	project fetched c
	mkdir elsewhere
	cp -r "$top/include" elsewhere
	cat >fetch.cmake <<-'END'
		include(FetchContent)
		FetchContent_Declare(rdmaez SOURCE_DIR ${CMAKE_SOURCE_DIR}/elsewhere)
		FetchContent_MakeAvailable(rdmaez)
	END
	block cmake third_party | sed "/^project/r fetch.cmake
		s|third_party/rdmaez|\${rdmaez_SOURCE_DIR}|" >CMakeLists.txt
	cmake_builds
	works "$PWD/elsewhere/include" build/program
}

# Two directories that do not know of each other ask for it, and one asks twice.
asked_often() {
	project often c
	mkdir one two
	cp program.c one
	mv program.c two
	cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.16)
		project(often C)
		add_subdirectory(one)
		add_subdirectory(two)
	END
	for name in one two; do
		cat >$name/CMakeLists.txt <<-END
			find_package(rdmaez 0.1 REQUIRED)
			find_package(rdmaez REQUIRED)
			add_executable($name program.c)
			target_link_libraries($name PRIVATE rdmaez::rdmaez)
		END
	done
	cmake_builds
	works "$prefix/include" build/two/two
}

# asks ARGUMENTS: of find_package(), in a project that does no more.
asks() {
	project asks c
	cat >CMakeLists.txt <<-END
		cmake_minimum_required(VERSION 3.16)
		project(asks ${language:-NONE})
		find_package(rdmaez $1 REQUIRED)
		message(STATUS "took \${rdmaez_VERSION}")
	END
	cmake -S . -B build "${@:2}" >answer 2>&1 || { cat answer && return 1; }
	grep "took $version" answer
}

# as VERSION: find_package() answers as if this were the installed version.
as() {
	sed -i "s/^set(PACKAGE_VERSION \".*\")/set(PACKAGE_VERSION \"$1\")/" \
		"$prefix/share/cmake/rdmaez/rdmaez-config-version.cmake"
	version=$1
}

for language in c c++; do
	for way in below apart without; do
		ok "$language by pkg-config, explanations $way" by_pkg_config $language
		ok "$language, a copy, explanations $way" copied $language
		ok "$language, a single file, explanations $way" single $language
	done
	for way in above apart; do
		ok "$language, a copy, one definition $way" copied $language -DRDMAEZ_EXTERN
		ok "$language, a single file, one definition $way" single $language -DRDMAEZ_EXTERN
	done
	for way in apart without; do
		ok "$language by CMake, explanations $way" by_cmake docs/including.md $language
		ok "$language by Meson, explanations $way" by_meson docs/including.md $language
	done
	way=below
	ok "$language, a copy, CMake" copied_by_cmake $language
	ok "$language, a copy, Meson" copied_by_meson $language
	ok "$language by CMake, which finds libibverbs without pkg-config" \
		by_cmake docs/including.md $language -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
	for page in $(with_blocks cmake); do
		ok "$language by CMake, as $page has it" by_cmake "$page" $language
	done
	for page in $(with_blocks meson); do
		ok "$language by Meson, as $page has it" by_meson "$page" $language
	done
done
language=
way=apart
ok 'a static library may hold all bodies' archived -DRDMAEZ_EXTERN
fails 'but explanations alone are not taken out of one' 'to be told more' archived
way=without
fails 'with one definition, a program needs it' 'undefined reference to .rdmaez_port_query' copied c -DRDMAEZ_EXTERN
way=below
fails 'and needs it before all else' 'implementation.h before the other headers' copied c -DRDMAEZ_EXTERN
ok 'pkg-config links nothing but libibverbs' only_libibverbs
ok 'the installed tree can be moved' moved
ok 'CMake may fetch it' fetched
ok 'CMake may be asked in several directories, and twice' asked_often

for wanted in '' 0.1 0.1.0 '0.1.0 EXACT' 0.1...0.2 0.0...\<1 0.1...0.1.0; do
	ok "0.1.0 is what '$wanted' asks for" asks "$wanted"
done
for wanted in 0.0 0 0.1.1 0.2 1 '0.1.1 EXACT' 0.0...\<0.1 0.2...1; do
	fails "and not '$wanted'" 'rdmaez-config.cmake, version: 0\.1\.0' asks "$wanted"
done
as 1.4.2
for wanted in 1 1.4 1.0.7 1.4.2; do
	ok "1.4.2 would be what '$wanted' asks for" asks "$wanted"
done
for wanted in 0.1 0.4 1.5 2; do
	fails "and not '$wanted'" '1\.4\.2' asks "$wanted"
done
as 0.1.0
language=C
fails 'CMake says what to install where there is no libibverbs' 'libibverbs is missing: install' \
	asks 0.1 -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_FIND_ROOT_PATH="$prefix" \
	-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY

# What the checks above see.
mv "$prefix/include/rdmaez/impl/fmt.h" "$scratch"
fails 'a header that was not installed is missed' 'impl/fmt.h' by_pkg_config c
mv "$scratch/fmt.h" "$prefix/include/rdmaez/impl"
PKG_CONFIG_PATH='' CMAKE_PREFIX_PATH=''
fails 'pkg-config does not find it elsewhere' 'rdmaez' by_pkg_config c
fails 'Meson does not' 'Dependency "rdmaez" not found' by_meson docs/including.md c
fails 'CMake does not' 'rdmaez-config.cmake' by_cmake docs/including.md c

done_testing
