#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What of the headers the unit tests reach, by clang's source-based coverage: all functions and lines but those in
# tests/coverage/exceptions, and most branches and conditions. Each rule is shown to fail as well: by a function that no
# test calls, by a test that is missing, by exceptions that are none, and by percentages that nobody reaches.
# `make check-coverage` builds what it needs.

source tests/tap.bash

mapfile -t programs < <(basename -s .c tests/unit/*.c | sed 's|^|build/coverage/unit/|')
object=build/coverage/objects/coverage/headers.o

judge() {
	tests/coverage/run judge "$@"
}

# shown COMMAND...: the same, with what it prints for whoever reads the output of the test.
shown() {
	"$@" | tee "$scratch/shown"
}

# The tree with one more function in a header. It is compiled as the others are.
uncalled() {
	mkdir -p "$scratch/tree/tests/coverage"
	cp -r include "$scratch/tree/"
	cp tests/coverage/headers.c "$scratch/tree/tests/coverage/"
	sed -i 's|^#endif /. RDMAEZ_IMPL_BODIES ./|RDMAEZ_IMPL int rdmaez_impl_seeded(int x)\n{\n\treturn x;\n}\n&|' \
		"$scratch/tree/include/rdmaez/impl/units.h"
	mapfile -t flags < <(sed -n 's/^COVER := //p' Makefile | xargs -n 1)
	mapfile -t compiler < <(sed -n 's|^build/coverage/%: CC := ||p' Makefile)
	run=$PWD/tests/coverage/run
	cd "$scratch/tree"
	"${compiler[@]}" -std=c11 -w -O0 -g0 -Iinclude "${flags[@]}" -femit-all-decls -c tests/coverage/headers.c \
		-o headers.o 2>/dev/null
	"$run" judge "$scratch/counts" headers.o
}

# One program's counts are missing: those of the exchange, of which no other test has much.
without_exchange() {
	mapfile -t rest < <(printf '%s\n' "${programs[@]}" | grep -v '/exchange$')
	tests/coverage/run count "$scratch/rest" "${rest[@]}" && judge "$scratch/rest" "$object"
}

# with LINE: judged with one more exception.
with() {
	{ cat tests/coverage/exceptions; printf '%b\n' "$1"; } >"$scratch/exceptions"
	judge --exceptions "$scratch/exceptions" "$scratch/counts" "$object"
}

ok 'each unit test passes, and its counts are there' tests/coverage/run count "$scratch/counts" "${programs[@]}"
ok 'all functions and lines have run but the exceptions, and enough branches and conditions' \
	shown judge "$scratch/counts" "$object"
sed 's/^/# /' "$scratch/shown"
fails 'a function that no test calls is found' 'impl/units.h:[0-9]+: rdmaez_impl_seeded\(\) was never called' uncalled
fails 'so is a test that is missing' 'impl/exchange.h:[0-9]+: never ran: ' without_exchange
fails 'an exception that has run is none' 'rdmaez_psn_random, return .*: it has run, or is gone' \
	with 'rdmaez/impl/units.h\trdmaez_psn_random\treturn (uint32_t)(rdmaez_impl_random() >> 40);\tit runs'
fails 'nor is one whose line is gone' 'no_such_function, \*: it has run, or is gone' \
	with 'rdmaez/impl/units.h\tno_such_function\t*\tit is gone'
fails 'without its exception a line is found' 'never ran: ' judge --exceptions /dev/null "$scratch/counts" "$object"
fails 'branches are counted' 'of the branches, 100 % must' judge --branches 100 "$scratch/counts" "$object"
fails 'so are conditions' 'of the conditions, 100 % must' judge --decisions 100 "$scratch/counts" "$object"
done_testing
