#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What tools/deps installs, asks and says on systems of several kinds. dpkg-query, apt-cache, apt-get, sudo and id are
# stand-ins here, which find in files below $scratch what there is and write to $scratch/asked what they are told.

source tests/tap.bash

bin=$scratch/bin
mkdir "$bin"
for program in awk bash cat env fold grep mkdir sed sh sort tail tr; do
	ln -s "$(command -v "$program")" "$bin/"
done

# stand_in NAME: a program that does what stands on standard input.
stand_in() {
	{ echo '#!/bin/bash'; echo "cd '$scratch'"; cat; } >"$bin/$1"
	chmod +x "$bin/$1"
}

stand_in id <<<'cat uid'
stand_in dpkg-query <<'END_OF_PROGRAM'
for package; do
	! grep -qx "$package" there || echo "installed:$package"
done
END_OF_PROGRAM
stand_in apt-cache <<'END_OF_PROGRAM'
for package; do
	! grep -qx "$package" offered || printf '%s:\n  Installed: (none)\n  Candidate: 1.0\n' "$package"
	! grep -qx "$package" gone || printf '%s:\n  Installed: (none)\n  Candidate: (none)\n' "$package"
done
END_OF_PROGRAM
stand_in apt-get <<'END_OF_PROGRAM'
packages() {
	for word; do
		[[ $word == -* || $word == *=* || $word == install ]] || echo "$word"
	done
}
case " $* " in
*' --print-uris '*) [[ -e cached ]] || packages "$@" | sed "s/.*/'http:&' & 1500000 MD5Sum:0/" ;;
*' --simulate '*) [[ -e silent ]] || packages "$@" | sed 's/.*/Inst & (1.0 Debian)/' ;;
*' update '*)
	echo "update as $(id)" >>asked
	cat update >>offered
	exit "$(<update_code)"
	;;
*' install '*)
	echo "install as $(id):" $(packages "$@") >>asked
	printf '%s\n' 'dlstatus:1:50.0:Retrieving' 'pmstatus:gcc:amd64:50.0:Installing gcc (amd64)' >&9 || exit
	echo 'E: the disk is full'
	[[ $(<install_code) != 0 ]] || packages "$@" >>there
	exit "$(<install_code)"
	;;
esac
END_OF_PROGRAM
sudo_works() {
	stand_in sudo <<-'END_OF_PROGRAM'
		echo 0 >uid
		"$@"
		code=$?
		echo 1000 >uid
		exit "$code"
	END_OF_PROGRAM
}

bash -c 'source <(sed -n "/^declare -rA groups/,/^)/p" tools/deps); printf "%s\n" "${groups[@]}"' |
	tr -s ' \t' '\n' | sed '/^$/d; s/=.*//' | tr '|' '\n' >"$scratch/all"

# system UID PACKAGE...: one on which the packages are installed, and apt offers what Debian 12 does.
system() {
	echo "$1" >"$scratch/uid"
	printf '%s\n' "${@:2}" >"$scratch/there"
	cp "$scratch/all" "$scratch/offered"
	: >"$scratch/update"
	echo 0 >"$scratch/update_code"
	echo 0 >"$scratch/install_code"
	: >"$scratch/gone"
	: >"$scratch/asked"
	rm -rf "$bin/sudo" "$scratch/cache"
}

# withdraw PACKAGE...: apt does not offer them.
withdraw() {
	printf '%s\n' "$@" >"$scratch/gone"
	grep -vxFf "$scratch/gone" "$scratch/offered" >"$scratch/rest"
	mv "$scratch/rest" "$scratch/offered"
}

deps() {
	env -i PATH="$bin" RDMAEZ_CACHE="$scratch/cache" bash tools/deps "$@"
}

# says TEXT ARG...: deps ends well and prints this and nothing else.
says() {
	local said
	said=$(deps "${@:2}" 2>&1)
	diff <(printf '%s' "$1") <(printf '%s' "$said")
}

asked() {
	diff <(printf '%s' "$1") "$scratch/asked"
}

bench=(binutils clang valgrind)

all_there() {
	system 1000 "${bench[@]}"
	rm "$bin/apt-cache" # it is not even asked
	says '' bench
	asked ''
	says '' --installed
}

by_root() {
	system 0 clang
	# shellcheck disable=SC2016 # for the reader's shell
	says 'deps: apt-get will install binutils valgrind
deps: downloading 3 MB and installing 2 packages
deps: done. To undo it, as root: apt-get purge --auto-remove $(tools/deps --installed)' bench
	asked 'update as 0
install as 0: binutils valgrind
'
	says '' bench
	says $'binutils\nvalgrind' --installed
	printf '%s\n' binutils >"$scratch/there"
	says 'binutils' --installed
}

# apt has them already, of an installation that was undone.
from_the_cache() {
	system 0 clang
	: >"$scratch/cached"
	deps bench | grep -x 'deps: downloading 0 MB and installing 2 packages'
	rm "$scratch/cached"
}

# Some apt-get does not tell what it would install.
told_nothing() {
	system 0 clang
	: >"$scratch/silent"
	deps bench | grep -x 'deps: downloading 3 MB and installing at least 2 packages'
	rm "$scratch/silent"
}

by_sudo() {
	system 1000 clang
	sudo_works
	deps bench
	asked 'update as 0
install as 0: binutils valgrind
'
	diff <(printf '%s\n' clang binutils valgrind) "$scratch/there"
}

several_at_once() {
	system 0
	deps siw bench siw
	asked 'update as 0
install as 0: binutils clang gcc libc6-dev make valgrind
'
}

many_packages() {
	system 0
	deps build test docs guest >"$scratch/said"
	cat "$scratch/said"
	(($(wc -L <"$scratch/said") <= 100))
}

without_sudo() {
	system 1000 clang
	deps bench
}

sudo_refuses() {
	system 1000 clang
	stand_in sudo <<<'echo "sudo: a password is required" >&2; exit 1'
	deps bench
}

# A source of somebody else's is broken; what is needed is offered all the same.
broken_source() {
	system 0 clang
	echo 100 >"$scratch/update_code"
	deps bench
	asked 'update as 0
install as 0: binutils valgrind
'
}

apt_fails() {
	system 0 clang
	echo 100 >"$scratch/install_code"
	deps bench
}

second_choice() {
	system 0
	withdraw clang-format-19 libclang-rt-dev
	deps test
	grep ' clang clang-format g++ ' "$scratch/asked"
	grep -v 'clang-format-19' "$scratch/asked"
	withdraw clang-format-19 libclang-rt-dev clang-format
	deps test
	[[ $(grep -c install "$scratch/asked") == 1 ]]
}

# An index that was never fetched names nothing.
no_index() {
	system 0
	mv "$scratch/offered" "$scratch/update"
	: >"$scratch/offered"
	deps test
	grep ' clang clang-format-19 g++ ' "$scratch/asked"
}

not_offered() {
	system 0 clang
	withdraw valgrind
	deps bench
}

elsewhere() {
	rm -f "$bin/apt-get"
	deps bench
}

# on TEXT: deps of a system that says this of itself.
on() {
	rm -f "$bin/apt-get"
	echo "$1" >"$scratch/os-release"
	env -i PATH="$bin" RDMAEZ_OS_RELEASE="$scratch/os-release" bash tools/deps bench test
}

# Every system has a name for, or does without, each package that any group names.
names_all() {
	local system
	# shellcheck source=/dev/null
	source <(sed -n "/^declare -rA groups/,/^)/p; /^readonly elsewhere/,/^'/p; /^called()/,/^}/p" tools/deps)
	# shellcheck disable=SC2154 # of tools/deps
	awk 'NF && NF != 5 { print "not five names: " $0; bad = 1 } END { exit bad }' <<<"$elsewhere"
	for system in fedora suse arch alpine; do
		[[ $(called "$system" libibverbs-dev librdmacm-dev gcc) == *rdma-core*' gcc' ]]
		[[ $(called "$system" lintian) == '' ]]
	done
	[[ $(called fedora rpm) == ' rpm-build' && $(called arch rpm) == ' rpm-tools' ]] # what has rpmbuild
	[[ $(called rhel qemu-system-x86) == ' qemu-kvm' && $(called fedora qemu-system-x86) == ' qemu-system-x86' ]]
}

# helps SYSTEM GROUP NAME: --help lists each group once, and has this name in this group.
helps() {
	local group
	echo "ID=$1" >"$scratch/os-release"
	env -i PATH="$bin" RDMAEZ_OS_RELEASE="$scratch/os-release" bash tools/deps --help >"$scratch/help"
	cat "$scratch/help"
	# shellcheck source=/dev/null
	source <(sed -n '/^declare -rA groups/,/^)/p' tools/deps)
	# shellcheck disable=SC2154 # of tools/deps
	for group in "${!groups[@]}"; do
		[[ $(grep -cE "^  $group +[a-z-]" "$scratch/help") == 1 ]]
	done
	[[ $(grep -cE '^  [a-z]' "$scratch/help") == "${#groups[@]}" ]]
	grep -qE "^  $2 .* $3( |\$)" "$scratch/help"
	(($(wc -L <"$scratch/help") <= 120))
}

elsewhere_complete() {
	rm -f "$bin/apt-get"
	for program in objdump clang valgrind; do
		stand_in "$program" </dev/null
	done
	says '' bench
}

elsewhere_headers() {
	rm -f "$bin/apt-get"
	stand_in make </dev/null
	stand_in gcc </dev/null
	stand_in cc <<<'[[ "$*" == *"-include stdio.h"* ]]'
	deps siw
	stand_in cc <<<false
	deps siw
}

refused='apt-get update && apt-get install --no-install-recommends binutils valgrind'
keep() {
	cp -r "$bin" "$scratch/kept"
	"$@"
	local code=$?
	rm -r "$bin"
	mv "$scratch/kept" "$bin"
	return "$code"
}

ok 'where all is there it is silent, and asks neither apt nor the network' keep all_there
ok 'root: installs what is missing with a fresh index, tells the size, and remembers it' by_root
ok "what apt has in its cache is installed, too, and told" from_the_cache
ok "where apt does not tell how many, at least those that were asked for are" told_nothing
ok 'a user with sudo: the same' by_sudo
ok 'several groups are one question' several_at_once
ok 'a long list of packages is wrapped' many_packages
fails 'no sudo: says what an administrator can type' "neither root nor sudo.*" without_sudo
fails 'no sudo: names the packages' "$refused" without_sudo
fails 'sudo refuses: shows what it says' 'a password is required' sudo_refuses
fails 'sudo refuses: says what an administrator can type' "$refused" sudo_refuses
ok "somebody else's broken source is no hindrance" broken_source
fails 'apt fails: shows its last words' 'the disk is full' apt_fails
ok 'a release without the first of several packages gets the next' second_choice
ok 'the first of several packages is chosen after the index was fetched' no_index
fails 'a package that no source has is named, and so is universe' 'no package valgrind. Is universe' not_offered
fails 'elsewhere: names the programs that are missing' 'objdump +\(Debian: binutils\)' keep elsewhere
fails 'Fedora: the command' 'dnf install.* gcc-c\+\+ .*valgrind' keep on ID=fedora
fails 'Rocky: the command, by what it is like' 'dnf install .*binutils' keep on $'ID="rocky"\nID_LIKE="rhel centos fedora"'
fails 'openSUSE: the command' 'zypper install .*binutils' keep on $'ID="opensuse-leap"\nID_LIKE="suse opensuse"'
fails 'Arch: the command' 'pacman -S .*binutils' keep on ID=arch
fails 'Alpine: the command' 'apk add .*binutils' keep on ID=alpine
fails 'elsewhere: also all that any target needs' 'for all that make can do:' keep on ID=arch
ok 'each system has its names' names_all
for line in 'debian build libibverbs-dev' 'ubuntu build libibverbs-dev' 'fedora build json-c-devel' 'rocky guest qemu-kvm' \
	'opensuse-leap docs graphviz' 'arch build rdma-core' 'alpine cxx g\+\+'; do
	# shellcheck disable=SC2086 # three words
	ok "--help lists the groups on ${line%% *}" helps $line
done
ok 'elsewhere: silent where the programs are there' keep elsewhere_complete
fails 'elsewhere: asks the compiler for headers' 'stdio.h +\(Debian: libc6-dev\)' keep elsewhere_headers
fails 'an unknown group is named' "no group 'teste'; there are architectures bench build " deps teste
fails 'so is an unknown option, and where to look' "unknown option '--remove'; see tools/deps --help" deps --remove build
fails 'without a group it says which there are' 'name one or more groups' deps
done_testing
