#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What one machine packs, all others read: endpoints, tokens of device memory and the messages of exchanges have the
# same bytes on every architecture. ARCHITECTURES names some of them. Seeded defects show what the comparison, and the
# unit tests on another byte order and with fewer bits, see that this machine does not.

source tests/tap.bash

read -ra names <<<"host ${ARCHITECTURES:-$(sed -n 's/^ARCHITECTURES := //p' Makefile)}"

# messages NAME WAY DIRECTORY [PLACE]: by the program below build/architectures/NAME/PLACE.
messages() {
	mkdir -p "$3"
	tests/architectures/emulate "build/architectures/$1/${4:-architectures}/messages" "$2" "$3"
}

packs() {
	messages "$1" write "$scratch/$1"
	diff -r "$scratch/host" "$scratch/$1"
}

ok 'this machine packs' messages host write "$scratch/host"
ok 'in five messages' test "$(find "$scratch/host" -size +0 | wc -l)" == 6
for name in "${names[@]:1}"; do
	ok "$name packs the same" packs "$name"
	ok "and reads it" messages "$name" read "$scratch/host"
	ok "and this machine reads what it packed" messages host read "$scratch/$name"
done

# --- Seeded defects -------------------------------------------------------------------------

# seed FILE EXPRESSION: headers with one change.
seed() {
	rm -rf "$scratch/include"
	cp -r include "$scratch/include"
	sed -i -E "$2" "$scratch/include/rdmaez/$1"
	! cmp -s "include/rdmaez/$1" "$scratch/include/rdmaez/$1" || return 1
}

# built NAME SOURCE: build/architectures/NAME/seeded/..., with these headers.
built() {
	local program=build/architectures/$1/seeded/${2##*/}
	mkdir -p "${program%/*}"
	"$(run_make compiler-of NAME="$1")" -std=c11 -O1 -w -DUNDER_QEMU=1 "-I$scratch/include" -Itests -Itests/fake \
		-idirafter /usr/include "tests/$2.c" \
		tests/implementation.c build/architectures/"$1"/objects/fake/*.o -o "$program"
}

# In this machine's order of bytes.
packs_differently() {
	seed impl/system.h '/rdmaez_impl_bytes_put\(uint8_t/,/^}/s|to\[i\] = .*|memcpy(\&to[i], \&value, 1);|'
	built "$1" architectures/messages
	messages "$1" write "$scratch/seeded" seeded
	diff -r "$scratch/host" "$scratch/seeded"
}

# swaps NAME: a unit test whose headers take every machine for little endian.
swaps() {
	seed impl/wr.h 's/__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__/0/'
	built "$1" unit/wr_build
	tests/architectures/emulate "build/architectures/$1/seeded/wr_build"
}

# A number of 64 bits that goes through a size.
cuts() {
	seed impl/system.h '/rdmaez_impl_bytes_get\(const/,/^}/s/uint64_t value = 0/size_t value = 0/'
	built "$1" architectures/messages
	messages "$1" read "$scratch/host" seeded
}

has() {
	[[ " ${names[*]} " == *" $1 "* ]]
}

if has s390x; then
	fails 'a number packed in host order is seen between two orders' 'Binary files' packs_differently s390x
	fails 'a swap where there is none to make fails on big endian' '^not ok.*network byte order' swaps s390x
	ok 'and not here' swaps host
fi
if has i686; then
	fails 'a number cut to 32 bits fails where a size has no more' '^not ok.*device_guid' cuts i686
	ok 'and not here' cuts host
fi
done_testing
