#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `make install-tools` puts rdmaez-explain and rdmaez-doctor in place, where they work, also from a tree that was moved;
# beside the library, before or after it, `make uninstall` takes away exactly what was installed.

source tests/tap.bash
source tests/tools/explain.bash
programs wrong_mask

prefix=$scratch/usr

everything() {
	run_make install-tools PREFIX="$prefix"
	diff <(cd "$prefix" && find . -type f -printf '%m %P\n' | sort -k 2) - <<-'END'
		755 bin/rdmaez-doctor
		755 bin/rdmaez-explain
		644 lib/rdmaez/rdmaez-explain.so
		644 share/doc/rdmaez/installed-tools
		644 share/man/man1/rdmaez-doctor.1
		644 share/man/man1/rdmaez-explain.1
	END
	[[ -z $(find "$prefix" -type d ! -perm 755) ]]
}

# Those below a directory work: one explains, the other checks.
work() {
	"$1/bin/rdmaez-explain" wrong_mask >"$scratch/out" 2>"$scratch/err" || { cat "$scratch/err"; return 1; }
	grep 'ibv_modify_qp failed with EINVAL (22) on fake0' "$scratch/err"
	"$1/bin/rdmaez-doctor" --only memlock --json | jq --exit-status '.checks[0].check == "memlock"'
}

# manual NAME: man shows it, and its options are those that the tool tells itself.
manual() {
	MANWIDTH=100 man --warnings=w --manpath="$prefix/share/man" 1 "$1" >"$scratch/page" 2>"$scratch/warnings"
	[[ ! -s $scratch/warnings ]]
	diff <("$prefix/bin/$1" --help | grep -oE -- '--[a-z]+' | sort --unique) \
		<(sed -n '/^OPTIONS/,/^[A-Z]/{/^OPTIONS/d; p}' "$scratch/page" | grep -oE '^ {7}-.*' | grep -oE -- '--[a-z]+' |
			sort --unique)
}

nothing_left() {
	run_make uninstall PREFIX="$prefix"
	[[ -z $(find "$scratch" -mindepth 1 ! -name out ! -name err ! -name page ! -name warnings) ]]
}

# with COMMAND...: targets, one after the other, and in the end nothing is left.
with() {
	local target
	for target; do
		run_make "$target" PREFIX="$prefix"
	done
	[[ -e $prefix/bin/rdmaez-doctor && -e $prefix/include/rdmaez.h ]]
	nothing_left
}

# What packagers do, and users with a tree that they have moved.
staged() {
	local stage=$scratch/stage
	run_make install-tools prefix=/usr libdir=/usr/lib64 mandir=/opt/man DESTDIR="$stage"
	[[ -e $stage/usr/lib64/rdmaez/rdmaez-explain.so && -e $stage/opt/man/man1/rdmaez-explain.1 ]]
	mv "$stage/usr" "$scratch/moved"
	work "$scratch/moved"
	mv "$scratch/moved" "$stage/usr"
	run_make uninstall prefix=/usr libdir=/usr/lib64 mandir=/opt/man DESTDIR="$stage"
	[[ -z $(find "$stage" -mindepth 1) ]]
	rmdir "$stage"
}

ok 'make install-tools copies programs, shared object and manual pages' everything
ok 'they work there' work "$prefix"
for tool in explain doctor; do
	ok "man shows the page of rdmaez-$tool, with all its options" manual "rdmaez-$tool"
done
sed -i 's/\\-\\-summary/\\-\\-sum/' "$prefix/share/man/man1/rdmaez-explain.1"
fails 'an option that the page lacks is seen' '^< --summary' manual rdmaez-explain
rm "$prefix/lib/rdmaez/rdmaez-explain.so"
fails 'a shared object that was not installed is missed' 'rdmaez-explain.so' work "$prefix"
ok 'make uninstall leaves nothing' nothing_left
ok 'before the library' with install-tools install-headers
ok 'after it' with install-headers install-tools
ok 'and again' with install-headers install-tools install-headers
ok 'DESTDIR stages, with directories as packagers set them' staged
fails 'a directory where rdmaez-explain does not look is refused' 'looks for its object in' \
	run_make install-tools PREFIX="$prefix" libdir="$scratch/elsewhere"

done_testing
