# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The root of a container that lacks what it should have, for tests of the tools.

# image FILE...: $scratch/image becomes the root of a container with these programs and the libraries that they need, in
# which the kernel shows a device.
image() {
	local file
	rm -rf "${scratch:?}/image"
	for file in "$@" $(ldd "$@" | grep -o '/[^ )]*' | grep -v ':$' | sort -u); do
		mkdir -p "$scratch/image/${file%/*}"
		cp -L "$file" "$scratch/image/$file"
	done
	mkdir -p "$scratch/image"/{proc,dev/infiniband} "$scratch/image/sys/class/infiniband/mlx5_0/ports/1"
}

# shellcheck disable=SC2016 # expanded by the inner shell
within() {
	unshare --user --map-root-user --mount sh -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"' "$scratch/image" "$@"
}
