#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The Debian packages: `make deb` builds them from a clean export, the same bytes each time; lintian has nothing to say;
# and what they install works: headers, manual, documentation and tools.

source tests/tap.bash
source tests/package/lib.bash

root=$scratch/root
packages=(librdmaez-dev librdmaez-doc rdmaez-tools)
export LC_ALL=C.UTF-8

built() {
	local package
	run_make deb
	for package in "${packages[@]}"; do
		[[ -e $(echo "build/deb/${package}_$version-1_"*.deb) ]]
	done
}

# same_version CHANGELOG: the packages' version is that of the headers.
same_version() {
	diff <(dpkg-parsechangelog --file "$1" --show-field Version) <(echo "$version-1")
}

# clean FILE...: lintian has no error and no warning, but for those that are overridden with their reason.
clean() {
	lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$@"
}

# The same again, elsewhere, in another time zone and with another umask.
same_again() {
	umask 077
	TZ=Asia/Kathmandu tools/package/deb "$scratch/again"
	diff <(cd build/deb && sha256sum -- *.deb *.orig.tar.gz) <(cd "$scratch/again" && sha256sum -- *.deb *.orig.tar.gz)
}

unpacked() {
	local package
	for package in "${packages[@]}"; do
		dpkg-deb --extract "build/deb/${package}_$version-1_"*.deb "$root"
	done
	diff -r include "$root/usr/include"
	[[ -s $root/usr/share/cmake/rdmaez/rdmaez-config.cmake ]]
	cmp examples/connect.c "$root/usr/share/doc/librdmaez-dev/examples/connect.c"
}

# The package's own test, with the packages in $root.
compiles() {
	sed "s|^prefix=.*|prefix=$1/usr|" "$1/usr/share/pkgconfig/rdmaez.pc" >"$scratch/rdmaez.pc"
	PKG_CONFIG_PATH=$scratch AUTOPKGTEST_TMP=$scratch debian/tests/compile
	gcc -MM "-I$(pkg-config --variable=includedir "$scratch/rdmaez.pc")" "$scratch/program.c" >"$scratch/used"
	grep -q "$1/usr/include/rdmaez/qp.h" "$scratch/used"
}

tools_run() {
	PATH=$root/usr/bin:$PATH AUTOPKGTEST_TMP=$scratch debian/tests/tools
}

# page FILE: man shows it without a complaint.
page() {
	MANWIDTH=100 man --warnings=w --local-file "$root/usr/share/man/$1" >"$scratch/page" 2>"$scratch/warnings"
	[[ ! -s $scratch/warnings ]]
	sed -n '/^NAME/{n; s/^ *//p; q}' "$scratch/page"
}

manual() {
	[[ $(page man3/rdmaez_qp_to_rtr.3.gz) == 'rdmaez_qp_to_rtr - moves a queue pair from INIT to RTR, ready to receive' ]]
	[[ $(page man7/rdmaez.7.gz) == 'rdmaez - '* ]]
	local tool
	for tool in caps doctor explain gids softroce; do
		[[ $(page "man1/rdmaez-$tool.1.gz") == "rdmaez-$tool - "* ]]
		grep -q '^SYNOPSIS' "$scratch/page"
		grep -q "^ *rdmaez-$tool \[" "$scratch/page"
	done
}

site() {
	local doc=$root/usr/share/doc/librdmaez-doc/html
	python3 tests/site/links.py "$doc"
	diff <(sed -n 's|^Index: ||p' debian/librdmaez-doc.doc-base) <(echo "${doc#"$root"}/index.html")
}

ok 'make deb builds three packages' built
ok 'they have the version of the headers' same_version debian/changelog
ok 'lintian has nothing to say' clean build/deb/*.changes
ok 'a second build gives the same packages, bit by bit' same_again
ok 'they have the headers, the files for CMake and the examples' unpacked
ok "C and C++ programs compile against them, by the package's own test" compiles "$root"
ok 'the tools run' tools_run
ok 'man shows the manual' manual
ok 'the site is whole' site

sed '1s/(.*)/(9.9.9-1)/' debian/changelog >"$scratch/changelog"
fails 'another version is seen' '< 9.9.9-1' same_version "$scratch/changelog"
mkdir "$scratch/broken"
dpkg-deb --raw-extract "$(echo build/deb/librdmaez-doc_*.deb)" "$scratch/broken/tree"
rm "$scratch/broken/tree/usr/share/doc/librdmaez-doc/copyright"
dpkg-deb --root-owner-group --build "$scratch/broken/tree" "$scratch/broken" >"$scratch/log"
fails 'lintian sees a package without its licence' 'E: .*no-copyright-file' clean "$scratch"/broken/*.deb
mv "$root/usr/include/rdmaez/qp.h" "$scratch"
fails 'a header that is missing is seen' 'qp\.h' compiles "$root"

done_testing
