#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Two source files that both include everything and use it make one program: of C, of C++, of both.

source tests/compile/lib.bash

# part NAME INCLUDE: a source that takes the address of all we have, and a function that C can call.
part() {
	all_functions "$2" | sed "s/rdmaez_all/rdmaez_all_$1/"
	cat <<-END
		#ifdef __cplusplus
		extern "C" int use_one(void);
		extern "C" int use_two(void);
		#else
		int use_one(void);
		int use_two(void);
		#endif
		int use_$1(void)
		{
			return rdmaez_all_$1[0] ? rdmaez_mtu_bytes(IBV_MTU_1024) : 0;
		}
	END
}

# linked INCLUDE COMPILER STD COMPILER STD: two parts, and a main() with the second one.
linked() {
	local dir=$scratch/link.$BASHPID
	mkdir "$dir"
	part one "$1" | compile "$2" "$3" "$1" -c -o "$dir/one.o" -
	{
		part two "$1"
		echo 'int main(void) { return use_one() == 1024 && use_two() == 1024 ? 0 : 1; }'
	} | compile "$4" "$5" "$1" -c -o "$dir/two.o" -
	"$4" "$dir/one.o" "$dir/two.o" -libverbs -o "$dir/program"
	"$dir/program"
}

for pair in "$CC c11 $CC c17" "$CXX c++11 $CXX c++17" "$CLANGXX c++20 $CXX c++2b" "$CLANG c11 $CXX c++20"; do
	# shellcheck disable=SC2086 # four words
	soon ok "one program of two files: $pair" linked include $pair
done

global=$(seeded global rdmaez/units.h \
	's/^RDMAEZ_API \(int rdmaez_mtu_bytes(enum ibv_mtu mtu)\)$/extern \1;\n\1/')
only_units "$global"
for pair in "$CC c11 $CC c11" "$CXX c++20 $CXX c++20"; do
	# shellcheck disable=SC2086 # four words
	soon fails "a function that is not inline is refused: $pair" 'multiple definition of .rdmaez_mtu_bytes' \
		linked "$global" $pair
done

done_testing
