#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rdmaez-explain on aarch64, whose dlsym() and dlvsym() are assembler of its own: with the fake libibverbs, in front of
# programs that link with the library and of one that looks its functions up. A seeded defect shows that it matters.

source tests/tap.bash

if [[ " ${ARCHITECTURES:-aarch64} " != *' aarch64 '* ]]; then
	ok 'aarch64 was not asked for' true
	done_testing
	exit
fi

# Everything is built in a tree of its own, by a Makefile that knows one compiler.
tree=build/architectures/aarch64/tree
mkdir -p "$tree/build/tests/fake"
for part in Makefile docs examples include tests tools; do
	[[ -e $tree/$part ]] || ln -s "$PWD/$part" "$tree/$part"
done
programs=(wrong_mask dlopen)
built=(build/tools/rdmaez-explain{,.so} build/tests/fake/libibverbs.so.1 "${programs[@]/#/build/tests/explain/}")

# builds TREE: with the versions of names of this machine's libibverbs, which are the same everywhere.
builds() {
	run_make build/tests/fake/versions.map
	cp build/tests/fake/versions.map "$1/build/tests/fake/"
	run_make -C "$1" -o build/tests/fake/versions.map CC='aarch64-linux-gnu-gcc -idirafter /usr/include' "${built[@]}"
}

emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)

# explained TREE PROGRAM ARG...: sets out and err. The program that runs the command is emulated, and so is the command.
# This machine's dynamic linker tells that it cannot preload another architecture's object into the emulator.
explained() {
	local dir=$PWD/$1 code=0
	LD_LIBRARY_PATH=$dir/build/tests/fake "${emulator[@]}" "$dir/build/tools/rdmaez-explain" \
		"${emulator[@]}" "$dir/build/tests/explain/$2" "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
	sed -i '/^ERROR: ld.so: object .* cannot be preloaded/d' "$scratch/err"
	cat "$scratch/out" "$scratch/err"
	((code == 0)) || { echo "ended with $code"; return 1; }
}

explains() {
	explained "$tree" wrong_mask 2
	diff - "$scratch/out" <<<$'22\n22'
	grep -qE '^rdmaez-explain: wrong_mask\[[0-9]+\]: refused at 0x[0-9a-f]+ main\+0x[0-9a-f]+ ' "$scratch/err"
	grep -q '^ibv_modify_qp failed with EINVAL (22) on fake0, QP [0-9]*, RC, RESET to RTR\.$' "$scratch/err"
	grep -q ': 2 refusals (ibv_modify_qp EINVAL 2)$' "$scratch/err"
}

# looked_up TREE [plain]: by dlvsym(), or by dlsym(); what is not the library's is left to the dynamic linker.
looked_up() {
	explained "$1" dlopen libibverbs.so.1 "${@:2}"
	diff - "$scratch/out" <<<'0 22 0 0 1'
	grep -q '^ibv_modify_qp failed with EINVAL' "$scratch/err"
}

# The assembler without one line.
seed() {
	local seeded=${tree%/*}/seeded_tree
	rm -rf "$seeded"
	mkdir -p "$seeded"
	cp -rLp "$tree/tools" "$tree/build" "$seeded/"
	for part in Makefile docs examples include tests; do
		ln -s "$PWD/$part" "$seeded/$part"
	done
	sed -i -E "$1" "$seeded/tools/explain/real.c"
	! cmp -s tools/explain/real.c "$seeded/tools/explain/real.c" || return 1
	touch "$seeded/tools/explain/real.c"
	builds "$seeded"
	looked_up "$seeded" "${@:2}"
}

ok 'it is built' builds "$tree"
ok 'it explains a refusal, and tells where the call was' explains
ok 'a function is found by dlvsym()' looked_up "$tree"
ok 'and by dlsym()' looked_up "$tree" plain
fails 'a register that is not put back is seen' '^ended with 139$|^[<>] ' \
	seed '/defined\(__aarch64__\)/,/^#else/s/(ldr x2, \[sp, #)32/\140/'
done_testing
