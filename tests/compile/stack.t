#!/bin/bash
# SPDX-License-Identifier: MIT
#
# No public function takes more stack than docs/including.md says: threads with small stacks, coroutines and signal stacks
# rely on that. Each frame is gcc's word, the chain is the worst of the call graph.

source tests/compile/lib.bash

# stack INCLUDE PAGE
stack() {
	local from object=$scratch/${1//\//_}
	from=$(realpath "$1")
	mkdir -p "$object"
	echo '#include <rdmaez/implementation.h>' >"$object/all.c"
	(cd "$object" && gcc -std=c11 -O2 -DRDMAEZ_EXTERN -DRDMAEZ_WITH_CM "-I$from" \
		-fcallgraph-info=su -c all.c) || return
	python3 -B tests/compile/stack.py "$object/all.ci" "$2"
}

# spoilt FILE SED: a copy of the headers with a defect.
spoilt() {
	mkdir -p "$scratch/spoilt-$1"
	cp -r include/. "$scratch/spoilt-$1"
	sed -i "$3" "$scratch/spoilt-$1/rdmaez/$2"
	! cmp -s "include/rdmaez/$2" "$scratch/spoilt-$1/rdmaez/$2"
}

ok 'every public function, as the page has it' stack include docs/including.md
# only_there DIRECTORY: the page alone has sizes; one in a header's comment would not be held to.
only_there() {
	local header found
	found=$(for header in "$1"/rdmaez/*.h; do
		tr -s '\n\t *' ' ' <"$header" | grep -oE '[^.]*[0-9] ?([kK]i?B|bytes)[^.]* stack[^.]*|[^.]* stack[^.]*[0-9] ?([kK]i?B|bytes)[^.]*' || :
	done)
	echo "$found"
	[[ -z $found ]]
}

ok 'no header has sizes of its own' only_there include
mkdir -p "$scratch/named/rdmaez"
printf ' * No function is fast. It takes as much\n * stack as another, about 9 kB.\n' >"$scratch/named/rdmaez/x.h"
fails 'one that has is seen' 'about 9 kB' only_there "$scratch/named"
ok 'a table of GIDs on the stack' spoilt table impl/port.h 's/RDMAEZ_IMPL_GIDS = 16/RDMAEZ_IMPL_GIDS = 256/'
fails 'it is seen' '^rdmaez_qp_check: [0-9]+ bytes of stack, above 4096: .*rdmaez_impl_port_choose' \
	stack "$scratch/spoilt-table" docs/including.md
nightly ok 'an array of any length' spoilt array impl/port.h 's/^	struct ibv_gid_entry entry;/	volatile char array[(size_t)errno + 1]; array[0] = 0; struct ibv_gid_entry entry;/'
nightly fails 'it is seen as well' 'a frame without a bound' stack "$scratch/spoilt-array" docs/including.md
sed '/| rdmaez_qp_recover() |/d' docs/including.md >"$scratch/page.md"
nightly fails 'a page that leaves one out is seen' '^rdmaez_qp_recover: .* the page does not say so' stack include "$scratch/page.md"
done_testing
