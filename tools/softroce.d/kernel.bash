# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2164 # variables of softroce, which sources this under errexit
#
# What softroce's guest boots: a Debian kernel with its modules, and on demand its headers and source, kept in the
# cache as $kernel.

find_cache() {
	local base=${RDMAEZ_CACHE:-}
	if [[ -z $base ]]; then
		[[ -n ${XDG_CACHE_HOME:-${HOME:-}} ]] || die "HOME is not set: set RDMAEZ_CACHE to a writable directory"
		base=${XDG_CACHE_HOME:-$HOME/.cache}/rdmaez
	fi
	mkdir -p "$base/softroce" 2>/dev/null || die_unwritable "$base"
	cache=$(realpath "$base/softroce")
	kernel=$cache/$suite
	[[ -z $kernel_file ]] || kernel=$cache/of-$(cksum <<<"$kernel_file" | cut -d ' ' -f 1)
}

die_unwritable() {
	die "cannot write to $1: set RDMAEZ_CACHE to a writable directory"
}

# To be raised whenever a cache entry gets other contents, so that older ones are replaced.
readonly cache_format=3

kernel_is_ready() {
	[[ $(cat "$kernel/format" 2>/dev/null) == "$cache_format" ]]
}

# About what a kernel's packages come to, in megabytes, with the index that names them.
declare -rA kernel_size=([bookworm]=100 [trixie]=140 [sid]=150)

# Fill the cache for this kernel once.
prepare_kernel() {
	find_cache
	if [[ -n $kernel_file ]]; then
		prepare_kernel_file
		return
	fi
	! kernel_is_ready || return 0
	need apt-get apt
	need dpkg-deb dpkg
	make_once "$kernel" kernel_is_ready fetch_kernel \
		"fetching Debian $suite's kernel: about ${kernel_size[$suite]} MB (20 to 60 s)"
}

# A kernel's file and the modules of its version, which lie beside it or where the host's own do.
prepare_kernel_file() {
	local dir
	[[ -r $kernel_file ]] || die "--kernel: cannot read $kernel_file"
	version=$(version_of "$kernel_file") || :
	[[ -n $version ]] || die "--kernel: $kernel_file is not a kernel for x86-64"
	for dir in "$(dirname "$kernel_file")"{,/../lib/modules/"$version",/../usr/lib/modules/"$version"} \
		/lib/modules/"$version"; do
		[[ ! -d $dir/kernel ]] || break
	done
	module_files=$dir
	[[ -d $dir/kernel ]] || die "--kernel: there are no modules of Linux $version: neither in /lib/modules/$version nor beside $kernel_file"
	file_is_ready || make_once "$kernel" file_is_ready take_kernel "unpacking Linux $version (5 to 20 s)"
}

# Whether the cache has it, and as it is now.
file_is_ready() {
	kernel_is_ready && [[ $(cat "$kernel/origin") == "$(origin_of_file)" ]]
}

origin_of_file() {
	stat -L -c '%n %s %Y' "$kernel_file"
}

# version_of FILE: by the header of the boot protocol, or by what an unpacked kernel says of itself.
version_of() {
	local at
	if [[ $(od -An -c -j 514 -N 4 "$1" | tr -d ' ') == HdrS ]]; then
		at=$(od -An -tu2 -j 526 -N 2 "$1")
		tail -c "+$((at + 513))" "$1" | head -c 100 | tr '\0' ' ' | cut -d ' ' -f 1
	else
		grep -aom 1 'Linux version [^ ]*' "$1" | cut -d ' ' -f 3
	fi
} 2>/dev/null

# find_busybox: set box to one that is linked statically, by each name that distributions have for it.
find_busybox() {
	local found=no
	while read -r box; do
		found=$box
		ldd "$box" >/dev/null 2>&1 || return 0
	done < <(type -aP busybox busybox.static busybox-static; find "$cache" -maxdepth 2 -name busybox)
	[[ $found == no ]] && echo "busybox is missing: install it, linked statically" ||
		echo "$found is not linked statically: install a busybox that is"
	return 1
}

# has_modules TREE: it has all that the guest's init inserts, or they are built into the kernel.
has_modules() {
	local lacking=() name
	for name in "${base_modules[@]}" rdma_rxe; do
		[[ -e $1/modules/$name.ko ]] || grep -qx "$name" "$1/modules.builtin" || lacking+=("$name")
	done
	((${#lacking[@]} == 0)) || {
		echo "Linux $version comes without ${lacking[*]}: $module_files has no such modules. Distributions have some in a"
		echo "package of more modules, and some leave out 9p: then use --kernel bookworm, or a kernel that has them"
		return 1
	}
}

# take_kernel WORK: make the cache entry as WORK/tree, of the file and the modules that were found.
take_kernel() {
	local work=$1 tree=$1/tree box
	find_busybox
	mkdir -p "$tree/modules"
	cp "$box" "$tree/busybox"
	keep_kernel "$kernel_file" "$tree"
	keep_modules "$module_files" "$tree"
	has_modules "$tree"
	echo "$version" >"$tree/version"
	origin_of_file >"$tree/origin"
	echo "$cache_format" >"$tree/format"
}

# The kernel's make takes no path with a blank or a colon.
prepare_headers() {
	[[ -z $kernel_file ]] || die "a kernel given as a file comes without headers and source; use --kernel NAME"
	prepare_kernel
	[[ $kernel != *[[:space:]:]* ]] ||
		die "to build modules, set RDMAEZ_CACHE to a path that has neither blank nor colon; this one has: $cache"
}

# The kernel's source and what is built from it lie inside its entry, so that all are replaced together.
prepare_source() {
	[[ -z $kernel_file ]] || die "a kernel given as a file comes without headers and source; use --kernel NAME"
	prepare_kernel
	make_once "$kernel/source" source_is_ready fetch_source \
		"fetching the source of Linux $(cat "$kernel/version"): about 140 MB (10 to 60 s)"
}

# A source from before there were headers of Ethernet drivers in it is replaced.
source_is_ready() {
	[[ -d $kernel/source/drivers/net ]]
}

prepare_siw() {
	! siw_is_ready || return 0
	need make make
	need gcc gcc
	need strip binutils
	prepare_headers
	prepare_source
	make_once "$kernel/siw" siw_is_ready build_siw \
		"building the driver siw for Linux $(cat "$kernel/version") (10 to 40 s)"
}

siw_is_ready() {
	[[ -d $kernel/siw ]]
}

# make_once ENTRY READY MAKE WHAT: unless READY, have `MAKE WORK` make WORK/tree, and move that to ENTRY. A
# half-filled one never gets the final name, and of several runs one works.
make_once() {
	local job lock
	! "$2" || return 0
	[[ -w $cache ]] || die_unwritable "$cache"
	exec {lock}>"$cache/lock"
	take_lock "$lock"
	rm -rf "$cache"/.*.?????? # what is left of a run that was killed
	if ! "$2"; then
		say "$4, once, into"
		say "    $1 ..."
		work=$(mktemp -d "$cache/.$suite.XXXXXX")
		chmod 711 "$work" # for apt's own user, if root fetches
		at_end=stop_making
		exec {tell}>&2
		# In the background, because `set -e` does not reach into a function called as a condition.
		"$3" "$work" >"$work/log" 2>&1 &
		job=$!
		children+=("$job")
		if ! wait "$job"; then
			unshow
			tail -n 20 "$work/log" >&2
			die "failed at $4; the reason is above"
		fi
		exec {tell}>&-
		tell=2
		rm -rf "$1"
		mv "$work/tree" "$1"
		rm -rf "$work"
		at_end=:
		children=()
		say "done: $(du -sm "$1" | cut -f 1) MB on disk"
	fi
	exec {lock}>&-
}

stop_making() {
	end_children
	rm -rf "$work"
}

# download WORK PACKAGE...: download packages into WORK/apt/download.
download() {
	local all job work=$1
	cd "$work/apt/download"
	all=$(apt-get -c ../conf download -qq --print-uris "${@:2}" | awk '{ bytes += $3 } END { print int(bytes / 1000000) }')
	apt-get -c ../conf download -qq "${@:2}" &
	job=$!
	while kill -0 "$job" 2>/dev/null; do
		show "$(du -sm . | cut -f 1) of $all MB downloaded"
		sleep 0.5
	done
	unshow
	wait "$job"
	cd "$OLDPWD"
}

# depends_on WORK PACKAGE REGEX: what PACKAGE depends on, by name.
depends_on() {
	apt-cache -c "$1/apt/conf" show --no-all-versions "$2" | sed -n 's/^Depends: //p' |
		tr -s ',|' '\n' | sed 's/^ *//; s/[ (].*//' | grep -E "^($3)\$"
}

# The image, or since Linux 7 the packages it is split into; the headers of exactly this version;
# busybox for the initramfs; and libraries for the build tools of a kernel newer than this host.
kernel_packages() {
	local image headers kbuild
	image=$(depends_on "$1" linux-image-amd64 'linux-image-[0-9].*')
	headers=${image/image/headers}
	kbuild=$(depends_on "$1" "$headers" 'linux-kbuild-.*')
	echo busybox-static "$image" "$headers" "$kbuild" libc6 libzstd1 zlib1g
	depends_on "$1" "$image" 'linux-(binary|modules)-.*' || :
	depends_on "$1" "$headers" 'linux-headers-.*-common'
	depends_on "$1" "$kbuild" 'libelf1.*'
}

# fetch_kernel WORK: make the cache entry as WORK/tree.
fetch_kernel() {
	local work=$1 tree=$1/tree deb release
	show "reading the package index"
	"$share/private-apt" "$suite" "$work/apt"
	kernel_packages "$work" >"$work/packages"
	# shellcheck disable=SC2046 # a list of words
	download "$work" $(cat "$work/packages")
	show "unpacking"
	mkdir -p "$tree/modules" "$tree/lib"
	for deb in "$work"/apt/download/*.deb; do
		dpkg-deb -x "$deb" "$work/root"
	done
	cp "$(find "$work/root" -path '*/bin/busybox')" "$tree/busybox"
	keep_kernel "$(find "$work/root" -name 'vmlinuz*' -type f)" "$tree"
	release=$(cd "$work/root/usr/src" && echo linux-headers-*-amd64)
	echo "${release#linux-headers-}" >"$tree/version"
	keep_modules "$work/root" "$tree"
	keep_headers "$work/root" "$tree"
	unshow
	echo "$cache_format" >"$tree/format"
}

# fetch_source WORK: make WORK/tree, the part of the kernel's source that concerns RDMA, with the headers of the Ethernet
# drivers that RDMA drivers include from where they lie. The package is named
# by the first two numbers of the version; Debian keeps that of the newest kernel only.
fetch_source() {
	local work=$1 name
	name=$(sed -E 's/^([0-9]+\.[0-9]+).*/linux-source-\1/' "$kernel/version")
	"$share/private-apt" "$suite" "$work/apt"
	apt-cache -c "$work/apt/conf" show "$name" >"$work/found" || {
		echo "Debian may have a newer kernel by now: remove $kernel to have it, and its source"
		return 1
	}
	download "$work" "$name"
	show "unpacking"
	dpkg-deb --fsys-tarfile "$work/apt/download/$name"_*.deb | tar -xO "./usr/src/$name.tar.xz" >"$work/source.tar.xz"
	mkdir "$work/tree"
	unpack "$work/source.tar.xz" | tar -x -C "$work/tree" --strip-components=1 --wildcards \
		"$name/drivers/infiniband" "$name/include/rdma" \
		"$name/drivers/net/ethernet/broadcom/bnxt/*.h" "$name/drivers/net/ethernet/hisilicon/hns3/*.h"
	unshow
}

# build_siw WORK: make WORK/tree/siw.ko. The kernel's Makefile of the driver needs no more than its switch.
build_siw() {
	local work=$1
	cp -r "$kernel/source/drivers/infiniband/sw/siw" "$work/siw"
	make -C "$(build_tree)" M="$work/siw" CONFIG_RDMA_SIW=m modules
	strip --strip-debug "$work/siw/siw.ko"
	mkdir "$work/tree"
	mv "$work/siw/siw.ko" "$work/tree/"
}

build_tree() {
	echo "$kernel/usr/src/linux-headers-$(cat "$kernel/version")"
}

# Unpack what xz, zstd or gzip packed. Debian's apt has a helper for that, so no further package is needed there.
unpack() {
	if [[ -x /usr/lib/apt/apt-helper ]]; then
		/usr/lib/apt/apt-helper cat-file "$(realpath "$1")"
		return
	fi
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -dcq "$1" ;;
	*.gz) gzip -dc "$1" ;;
	*) cat "$1" ;;
	esac
}

# Emulation takes up to 5 s to unpack a kernel, and QEMU also boots an unpacked one, so take it out here,
# from where the boot protocol's header says it is; its last four bytes are no part of the data.
keep_kernel() {
	local setup offset length packed=$work/packed
	if [[ $(od -An -c -j 514 -N 4 "$1" | tr -d ' ') != HdrS ]]; then
		cp "$1" "$2/vmlinuz" # unpacked already
		return
	fi
	setup=$(od -An -tu1 -j 497 -N 1 "$1")
	offset=$(od -An -tu4 -j 584 -N 4 "$1")
	length=$(od -An -tu4 -j 588 -N 4 "$1")
	tail -c "+$(((setup + 1) * 512 + offset + 1))" "$1" >"$packed"
	truncate -s "$((length - 4))" "$packed"
	case $(od -An -tx1 -N 2 "$packed") in
	' fd 37') mv "$packed" "$packed.xz" && unpack "$packed.xz" >"$2/vmlinuz" ;;
	' 28 b5') mv "$packed" "$packed.zst" && unpack "$packed.zst" >"$2/vmlinuz" ;;
	*) cp "$1" "$2/vmlinuz" ;;
	esac
}

# What a software RDMA machine can use, decompressed, in one flat directory, with an index.
keep_modules() {
	local file name
	find "$1/" -name '*.ko*' |
		grep -E '/kernel/(net|crypto|lib|arch|fs/(9p|netfs|fscache|configfs|overlayfs)|drivers/(virtio|char|infiniband/(core|sw|ulp)))/|/drivers/net/[^/]*$' |
		while read -r file; do
			name=${file##*/}
			name=${name%%.ko*}
			unpack "$file" >"$2/modules/${name//-/_}.ko"
		done
	(cd "$2/modules" && index_modules ./*.ko) >"$2/modules.index"
	find "$1" -name modules.builtin -exec sed 's|.*/||; s|\.ko$||; y/-/_/' {} + >"$2/modules.builtin"
}

# index_modules FILE...: what depmod would note of these modules, as lines NAME WHAT MORE...: what one needs, its soft
# dependencies (pre: ... post: ...), and its other names, but for the patterns that name hardware.
index_modules() {
	LC_ALL=C grep -zaoHE '^(depends|softdep|alias)=.*' "$@" | tr '\0' '\n' | sed -nE '
		s|^(.*/)?([^/:]*)\.ko:|\2 |
		y/-,/_ /
		s/ (depends|softdep)=(.+)/ \1 \2/p
		s/ alias=([^*:]*)$/ alias \1/p'
}

# The build tree, with its absolute paths turned to where it will be. The kernel's own compiler is
# used if this host has it, else gcc, so what an older gcc lacks must go from the configuration. Without
# vmlinux the build leaves out debugging data, for which it would need pahole. Build tools that this
# host's C library cannot run get the library of their own suite.
keep_headers() {
	local file
	mkdir -p "$2/usr/lib"
	cp -r "$1/usr/src" "$2/usr/"
	cp -r "$1"/usr/lib/linux-kbuild-* "$2/usr/lib/"
	rm -f "$2"/usr/src/*/vmlinux
	sed -i "s#/usr/src/#$kernel/usr/src/#" "$2"/usr/src/linux-headers-*-amd64/Makefile
	sed -i -E '/CONFIG_CC_HAS_(MIN_FUNCTION_ALIGNMENT|COUNTED_BY|COUNTED_BY_PTR)\>/d' \
		"$2"/usr/src/linux-headers-*-amd64/include/{config/auto.conf,generated/autoconf.h}
	# shellcheck disable=SC2016 # make's variables
	sed -i -E 's#^(CC = .*\(CROSS_COMPILE\))(gcc-[0-9]+)$#\1$(shell command -v \2 >/dev/null \&\& echo \2 || echo gcc)#' \
		"$2"/usr/src/linux-headers-*-amd64/.kernelvariables
	find "$1" \( -name 'lib*.so.*' -o -name 'ld-linux-x86-64.so.2' \) -path '*x86_64-linux-gnu*' -exec cp {} "$2/lib/" \;
	find "$2/usr/lib" -type f -perm -u+x | while read -r file; do
		[[ $(head -c 4 "$file" | tr -d '\177') == ELF ]] || continue
		if ldd "$file" 2>&1 | grep -q 'not found'; then
			mv "$file" "$file.elf"
			printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' \
				"$kernel/lib/ld-linux-x86-64.so.2" "$kernel/lib" "$kernel${file#"$2"}.elf" >"$file"
			chmod +x "$file"
		fi
	done
}

