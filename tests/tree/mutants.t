#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What tests/mutants/run makes of a tree of one function, and of tests that see all, little, or hang.
#
# Nightly: half a minute, for a tool that runs itself.

source tests/tap.bash

tree=$scratch/tree
export RDMAEZ_MUTANTS_ROOT=$scratch/tree
mkdir -p "$tree"/{include/rdmaez/impl,tests/unit,tests/fake,tests/mutants}
cat >"$tree/include/rdmaez/impl/toy.h" <<'EOF'
/* Less is < b; a comment and a "string || !" stay as they are. */
static inline int toy_less(int a, int b)
{
	int found = 0;

	while (a < b && !found) {
		found = 1;
		a++;
	}
	return found;
}
EOF
cat >"$tree/tests/implementation.c" <<'EOF'
#include <rdmaez/impl/toy.h>
int toy(int a, int b);
int toy(int a, int b) { return toy_less(a, b); }
EOF
echo 'extern int fake;' >"$tree/tests/fake/none.c"

# mutants TEST [ARGUMENT...]: what is caught by a test of these C statements; `l` is a function that they may call.
mutants() {
	printf '#include <rdmaez/impl/toy.h>\nint main(void) { int (*l)(int, int) = toy_less; %s }\n' "$1" >"$tree/tests/unit/toy.c"
	if (($# > 1)); then set -- "${@:2}"; else set -- --per 100 --least 100 include/rdmaez/impl/toy.h; fi
	tests/mutants/run --jobs 1 --seconds 1 "$@"
}

all='return l(0, 1) != 1 || l(1, 2) != 1 || l(0, 9) != 1 || l(1, 1) != 0 || l(2, 1) != 0;'
ok 'a test that asks for all catches all but what no caller can see' mutants "$all"
fails 'a test that asks for little misses some' 'missed.*<= *$|toy.h: [0-9]+ of [0-9]+ caught, 0 accepted, of which 100 % must be' \
	mutants 'return l(0, 1) != 1;'
fails 'a test that compares nothing misses nearly all' 'toy.h: [0-3] of [0-9]+ caught' mutants 'return l(0, 1) > 5;'
fails 'while a test fails unchanged nothing is changed' 'fail without a change, .*: toy$' mutants 'return 1;'

# The same, with what is missed accepted.
accepted() {
	{ mutants "$1" || :; } | sed -n 's/^missed\t[0-9]*\t\(.*\)/\1\tno caller asks for it/p' >"$tree/tests/mutants/accepted"
	mutants "$1"
}
ok 'what is missed may be accepted, with a reason' accepted 'return l(0, 1) != 1;'
rm "$tree/tests/mutants/accepted"

# hole LINE TEST: whether a change of toy_less(), which is listed, is caught.
hole() {
	printf 'include/rdmaez/impl/toy.h\ttoy_less\t%s\t%s -> nothing\tnothing is found\n' "$1" "${1%;}" >"$tree/tests/mutants/holes"
	printf '#include <rdmaez/impl/toy.h>\nint main(void) { %s }\n' "$2" >"$tree/tests/unit/toy.c"
	tests/mutants/run --jobs 1 --seconds 1 --holes
}
ok 'a change that was missed once is caught' hole 'found = 1;' 'return toy_less(0, 1) != 1;'
fails 'or is told' '^missed.*found = 1 -> nothing' hole 'found = 1;' 'return toy_less(0, 0) != 0;'
fails 'one whose line is gone is told' '^gone.*found = 2 -> nothing' hole 'found = 2;' 'return toy_less(0, 1) != 1;'
rm "$tree/tests/mutants/holes"

# What was caught is not tried again: in the second run there is a test that catches nothing.
again() {
	mutants "$all" --all --per 5 --least 0
	mutants 'return l(0, 1) > 5;' --all --per 5 --least 0 | tee "$scratch/again"
	grep -c "$(printf 'toy.h\t')" "$tree/build/mutants/seed-1"
	grep -qE '^1 of 1 headers: ([1-5]) of 5 caught' "$scratch/again"
}
ok 'all headers: a second run goes on where the first was stopped' again

# A doctor of two functions. One test asks for both, another for the first; nothing comes to the third.
mkdir -p "$tree"/{tools/doctor,tools/softroce.d,tests/tools,tests/device,tests/mutants,build/tools}
cp tests/mutants/reach.c "$tree/tests/mutants"
cp tests/run "$tree/tests"
printf '#!/bin/sh\nexec "$@"\n' >"$tree/tools/softroce"
touch "$tree/tools/softroce.d/init"
cat >"$tree/tools/doctor/toy.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
int twice(int a);
int never(int a);
int twice(int a)
{
	return a * 2;
}
int never(int a)
{
	return a - 2;
}
int main(int argc, char **argv)
{
	if (argc > 9)
		return never(argc);
	puts("toy");
	return argc > 1 && printf("%d\n", twice(atoi(argv[1]))) < 0;
}
EOF
cat >"$tree/Makefile" <<'EOF'
B := rdmaez-doctor rdmaez-explain rdmaez-explain.so
tools: $(B:%=build/tools/%)
build/tools/%: build/tools/doctor/toy.o
	gcc $< -o $@ $(LDFLAGS)
build/tools/doctor/toy.o: tools/doctor/toy.c
	mkdir -p $(@D); gcc -g -O2 $(TOOLS_CFLAGS) -c $< -o $@
EOF
printf '#!/bin/sh\nbuild/tools/rdmaez-doctor | grep -qx toy && echo ok 1 || echo not ok 1\necho 1..1\n' >"$tree/tests/tools/doctor_toy.t"
printf '#!/bin/sh\nbuild/tools/rdmaez-doctor 4 | grep -qx 8 && echo ok 1 || echo not ok 1\necho 1..1\n' >"$tree/tests/device/doctor_twice.t"
chmod +x "$tree"/tests/*/*.t "$tree/tools/softroce"

# Of all changes those of twice() are caught, and those of main() that show in what it prints.
tool_changes() {
	make --silent -C "$tree" tools
	tests/mutants/run --tools --jobs 2 --per 30 --least 50
}
reached() {
	jq --exit-status --compact-output '.[1]["tools/doctor/toy.c"] | .["7"] == ["tests/device/doctor_twice.t"] and .["11"] == [] and
		(.["15"] | length) == 2' "$tree"/build/mutants/reached-*
}
ok 'a tool is changed, and its tests are run' grep -x '1 of 1 files: 13 of 25 caught, 0 accepted' <(tool_changes)
ok 'a change is tried by the tests that come to it' reached
ok 'that of a function to which none comes is missed' [ "$(grep -c "$(printf '\tnever\t')" <(tool_changes))" = 4 ]
done_testing
