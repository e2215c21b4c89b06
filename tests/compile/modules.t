#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The module of docs/cplusplus.md, which another file imports, by gcc and by clang.

source tests/compile/lib.bash

# module FILE: the page's module, as a file.
module() {
	awk '$0 == "```" { inside = 0 } /^module;$/ { inside = 1 } inside' docs/cplusplus.md >"$1"
	grep -q '^export module verbs;$' "$1"
}

cat >"$scratch/program.cc" <<'END_OF_CC'
import verbs;
struct ibv_qp;
int main()
{
	return ready(nullptr) == 22 ? 0 : 1;
}
END_OF_CC

# by_gcc MODULE [OPTION...]: gcc keeps what it has compiled of a module in the working directory.
by_gcc() {
	local include=$PWD/include file=$1
	shift
	rm -rf "$scratch/gcm.cache"
	cd "$scratch"
	"$CXX" -std=c++20 -fmodules-ts "-I$include" "$@" -x c++ "$file" program.cc -libverbs -o program
	./program
}

# by_clang MODULE [OBJECT...]
by_clang() {
	local include=$PWD/include file=$1
	shift
	cd "$scratch"
	"$CLANGXX" -std=c++20 "-I$include" --precompile -x c++-module "$file" -o verbs.pcm
	"$CLANGXX" -std=c++20 -c verbs.pcm -o verbs.o
	"$CLANGXX" -std=c++20 -fprebuilt-module-path=. program.cc verbs.o "$@" -libverbs -o program
	./program
}

# bodies OBJECT [OPTION...]: the one file of a program that has the explanations, and with RDMAEZ_EXTERN all bodies.
bodies() {
	echo '#include <rdmaez/implementation.h>' | "$CXX" -std=c++20 -Iinclude "${@:2}" -x c++ -c -o "$scratch/$1" -
}

ok 'the page has a module' module "$scratch/verbs.cc"
sed 's/^export int/export inline int/' "$scratch/verbs.cc" >"$scratch/inline.cc"
ok 'gcc: another file imports it' by_gcc verbs.cc
ok 'clang: another file imports it' by_clang verbs.cc
ok 'clang: its function is inline' by_clang inline.cc
ok 'the explanations in one object' bodies told.o
ok 'gcc: with them' by_gcc verbs.cc told.o
ok 'clang: with them' by_clang verbs.cc told.o
ok 'the bodies in one object' bodies bodies.o -DRDMAEZ_EXTERN
ok 'gcc: its function is inline, with RDMAEZ_EXTERN' by_gcc inline.cc -DRDMAEZ_EXTERN bodies.o
sed 's/rdmaez_qp_to_rts/rdmaez_qp_to_nowhere/' "$scratch/verbs.cc" >"$scratch/bad.cc"
fails 'a module with an error is refused' 'rdmaez_qp_to_nowhere' by_gcc bad.cc

done_testing
