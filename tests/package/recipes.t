#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The recipes for other systems' packages in tools/package/recipes install what they should. rpmbuild and makepkg are the
# real ones. The others are run with stand-ins for what abuild, spack, conan and vcpkg give them, which Debian does not
# have: that shows what they do, not that those programs take them.

source tests/tap.bash
source tests/package/lib.bash

recipes=$top/tools/package/recipes
name=rdmaez-$version
mkdir "$scratch"/{sources,tmp}
if [[ -e .git ]]; then git ls-files -z; else find . -path ./build -prune -o ! -type d -printf '%P\0'; fi |
	tar --create --null --files-from=- --transform="s,^,$name/,S" | xz -1 >"$scratch/sources/$name.tar.xz"
tree=$scratch/rpm/BUILD/$name # where rpmbuild unpacks and builds

same_version() {
	[[ $(grep -rhoE "(^Version: +|^pkgver=|version\(\"|version = \"|\"version\": \")[0-9.]+" "$recipes" | grep -oE '[0-9.]+$' |
		sort | uniq -c | tr -s ' ') == " 6 $version" ]]
}

headers() {
	(cd include && find . -type f | sed 's/^\.//')
}

# holds DIRECTORY FILE...: below the directory are the headers in include, these files, and nothing else.
holds() {
	diff <(cd "$1" && find . -type f -o -type l | sed 's/^\.//' | sort) \
		<({ headers | sed "s,^,$include,"; printf '%s\n' "${@:2}"; } | sort)
}

for_cmake_and_pkg_config=(/usr/share/cmake/rdmaez/rdmaez-config{,-version}.cmake /usr/share/pkgconfig/rdmaez.pc)
tools=(/usr/bin/rdmaez-{doctor,explain} /usr/lib/rdmaez/rdmaez-explain.so /usr/share/man/man1/rdmaez-{doctor,explain}.1)
include=/usr/include

rpm_is_built() {
	local file
	rpmbuild -bb --nodeps --quiet --noclean --define "_topdir $scratch/rpm" --define "_sourcedir $scratch/sources" \
		--define '_libdir /usr/lib' --define "_tmppath $scratch/tmp" "$recipes/rdmaez.spec"
	for file in "$scratch"/rpm/RPMS/*/rdmaez-{devel,tools}-*.rpm; do
		mkdir -p "${file%.rpm}"
		rpm2archive "$file" 2>/dev/null
		tar -xzf "$file.tgz" -C "${file%.rpm}"
		rm -rf "${file%.rpm}/usr/lib/.build-id"
		gunzip -r "${file%.rpm}/usr/share/man" 2>/dev/null || :
	done
	holds "$scratch"/rpm/RPMS/noarch/rdmaez-devel-*.noarch "${for_cmake_and_pkg_config[@]}" \
		/usr/share/doc/rdmaez-devel-"$version"/{CHANGELOG,README}.md \
		/usr/share/licenses/rdmaez-devel-"$version"/LICENSE
	diff <(cd "$scratch"/rpm/RPMS/x86_64/rdmaez-tools-*.x86_64 && find . -type f | sed 's/^\.//' | sort) \
		<(printf '%s\n' "${tools[@]}" /usr/share/licenses/rdmaez-tools-"$version"/LICENSE | sort)
}

# makepkg gets the tree that rpmbuild has built, so that it has little to compile, and no pacman, whose packages are not
# here. It refuses to run as root.
arch_is_packed() {
	local work=$scratch/arch as=()
	mkdir -p "$work"/{build/rdmaez/src,tree}
	cp "$recipes/PKGBUILD" "$work"
	cp -a "$tree" "$work/build/rdmaez/src"
	if ((EUID == 0)); then
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		chmod a+x "$scratch"
		chown -R 65534:65534 "$work"
	fi
	(cd "$work" && env -u MAKEFLAGS -u MAKELEVEL HOME="$work" PACMAN=true PKGDEST="$work" BUILDDIR="$work/build" \
		PKGEXT=.pkg.tar.xz "${as[@]}" makepkg --nodeps --noextract)
	tar -xJf "$work/rdmaez-$version-1-x86_64.pkg.tar.xz" -C "$work/tree" --exclude='.[A-Z]*'
	gunzip -r "$work/tree/usr/share/man"
	holds "$work/tree" "${for_cmake_and_pkg_config[@]}" "${tools[@]}" /usr/share/licenses/rdmaez/LICENSE
}

alpine_is_packed() {
	export pkgdir=$scratch/alpine
	mkdir "$pkgdir"
	(cd "$tree" && sh -ec '. "$0" && package' "$recipes/APKBUILD")
	holds "$pkgdir" "${for_cmake_and_pkg_config[@]}"
}

# What a Python recipe imports, for as far as it goes.
python_recipe() {
	(cd "$tree" && PYTHONPATH=$scratch/python python3 -B - "$@")
}

spack_is_installed() {
	mkdir -p "$scratch/python/spack"
	: >"$scratch/python/spack/__init__.py"
	cat >"$scratch/python/spack/package.py" <<-'END'
		import subprocess
		class MakefilePackage: pass
		def license(*_): pass
		version = variant = depends_on = lambda *_, **__: None
		def make(*arguments): subprocess.run(['make', *arguments], check=True)
	END
	python_recipe "$recipes/spack/package.py" "$scratch/spack/usr" <<-'END'
		import runpy, sys
		Rdmaez = runpy.run_path(sys.argv[1])['Rdmaez']
		package = Rdmaez()
		package.build(['+tools'], sys.argv[2])
		package.install(['+tools'], sys.argv[2])
	END
	rm -r "$scratch/spack/usr/share/doc"
	holds "$scratch/spack" "${for_cmake_and_pkg_config[@]}" "${tools[@]}"
}

conan_is_packed() {
	local include=/include
	mkdir -p "$scratch/python/conan/tools"
	: >"$scratch/python/conan/tools/__init__.py"
	echo 'class ConanFile: pass' >"$scratch/python/conan/__init__.py"
	cat >"$scratch/python/conan/tools/files.py" <<-'END'
		import pathlib, shutil
		def copy(_, pattern, source, target):
		    for path in pathlib.Path(source).rglob(pattern):
		        into = pathlib.Path(target) / path.relative_to(source)
		        into.parent.mkdir(parents=True, exist_ok=True)
		        shutil.copy(path, into)
	END
	mkdir "$scratch/export"
	cp -r include LICENSE "$scratch/export/"
	python_recipe "$recipes/conan/conanfile.py" "$scratch/export" "$scratch/conan" <<-'END'
		import runpy, sys
		recipe = runpy.run_path(sys.argv[1])['Rdmaez']()
		assert set(recipe.exports_sources) == {'include/*', 'LICENSE'}
		recipe.source_folder, recipe.package_folder = sys.argv[2:]
		recipe.package()
	END
	holds "$scratch/conan" /licenses/LICENSE
}

vcpkg_is_installed() {
	local include=/include
	cat >"$scratch/port.cmake" <<-'END'
		function(vcpkg_execute_required_process)
		    cmake_parse_arguments(PARSE_ARGV 0 given "" "WORKING_DIRECTORY;LOGNAME" "COMMAND")
		    execute_process(COMMAND ${given_COMMAND} WORKING_DIRECTORY ${given_WORKING_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
		endfunction()
		function(vcpkg_install_copyright)
		    configure_file("${ARGV1}" "${CURRENT_PACKAGES_DIR}/share/rdmaez/copyright" COPYONLY)
		endfunction()
		set(CMAKE_CURRENT_LIST_DIR "${PORT}")
		include("${PORT}/portfile.cmake")
	END
	cmake -D CURRENT_PACKAGES_DIR="$scratch/vcpkg" -D PORT="$tree/tools/package/recipes/vcpkg" -P "$scratch/port.cmake"
	jq --exit-status '.name == "rdmaez"' "$recipes/vcpkg/vcpkg.json"
	holds "$scratch/vcpkg" /share/rdmaez/copyright /share/rdmaez/rdmaez-config{,-version}.cmake /share/pkgconfig/rdmaez.pc
}

ok 'all recipes have the version of the headers' same_version
ok 'RPM packages are built' rpm_is_built
ok "Arch's package is built, and has the headers and the tools" arch_is_packed
ok "Alpine's package has the headers" alpine_is_packed
ok "Spack's package has the headers and the tools" spack_is_installed
ok "Conan's package has the headers" conan_is_packed
ok "vcpkg's port has the headers" vcpkg_is_installed
done_testing
