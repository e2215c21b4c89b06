#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The tree is tidy: C is laid out by .clang-format, scripts are clean under shellcheck, every file names
# its licence, no line ends in blanks, the workflow of a forge runs what continuous integration runs, and what is
# generated is what its generator writes today.

source tests/tap.bash

# Releases of clang-format do not agree in everything: one has to judge.
readonly judge=19
: "${CLANG_FORMAT:=$(command -v clang-format-$judge || echo clang-format)}"

# files NAME...: those of the tree, without build output, whose names match one of the patterns.
files() {
	local name
	for name; do
		find . \( -path ./build -o -path ./.git -o -name __pycache__ \) -prune -o -type f -path "./$name" -printf '%P\n'
	done | sort -u
}

# What a shell runs.
scripts() {
	files '*' | while IFS= read -r file; do
		[[ $file != *.bash && $(head -c 100 "$file" | head -n 1) != '#!/bin/'*sh ]] || echo "$file"
	done
}

# short DIRECTORY: the programs that people know from other libraries keep to three quarters of the lines, blank ones
# aside, that each took when it was first written with rdmaez: 242, 117, 142, 199 and 163.
short() {
	local name most lines bad=0
	while read -r name most; do
		lines=$(grep -c '[^[:space:]]' "$1/$name") || { echo "no $name"; return 1; }
		((lines <= most)) || { echo "$name has $lines lines, above $most"; bad=1; }
	done <<-'END'
		06_server.c 181
		multicast.c 87
		alltoall.c 106
		replicate.c 149
		loop.c 225
		raii.cc 122
	END
	return "$bad"
}

# formatted FILE...: each is what clang-format would make of it. One process looks at all, and more only if it finds one.
formatted() {
	local file bad=0
	! "$CLANG_FORMAT" --style=file:.clang-format --dry-run -Werror "$@" 2>/dev/null || return 0
	for file; do
		"$CLANG_FORMAT" --style=file:.clang-format --dry-run -Werror "$file" 2>/dev/null && continue
		echo "$file is not laid out by .clang-format"
		bad=1
	done
	return "$bad"
}

all_formatted() {
	local sources
	mapfile -t sources < <(files '*.[ch]')
	((${#sources[@]} > 20))
	formatted "${sources[@]}"
}

licensed() {
	local bare
	bare=$(grep -L 'SPDX-License-Identifier: MIT' "$@" || :)
	[[ -z $bare ]] || { echo "without a licence: $bare"; return 1; }
}

all_licensed() {
	local sources
	mapfile -t sources < <(files '*.[ch]' '*.t' '*.awk' '*.bash' '*.py' 'docs/site/*' Makefile 'tools/*' '*/run' docs/Doxyfile)
	licensed "${sources[@]}"
}

# merged FILE...: none has the marks of a merge that somebody forgot.
merged() {
	! grep -nE '^(<<<<<<<|>>>>>>>)( |$)' "$@"
}

all_merged() {
	local sources
	mapfile -t sources < <(files '*')
	merged "${sources[@]}"
}

linted() {
	local sources
	mapfile -t sources < <(scripts)
	((${#sources[@]} > 10))
	shellcheck -x "${sources[@]}"
}

# tidy FILE...: text as .editorconfig has it for all files.
tidy() {
	local bad=0
	! grep -InP '[ \t\r]$' "$@" /dev/null || bad=1
	perl -0777 -ne '/\n\z/ or $bad = print "$ARGV does not end with a newline\n"; END { exit $bad }' "$@" || bad=1
	return "$bad"
}

all_tidy() {
	local texts
	mapfile -t texts < <(files '*' | xargs -d '\n' grep -lI .)
	((${#texts[@]} > 200))
	tidy "${texts[@]}"
}

# agrees SETTINGS: an editor breaks lines of C where clang-format does.
agrees() {
	diff <(sed -n '/^\[\*\.{c,h,/,/^$/s/^max_line_length = //p' "$1") <(sed -n 's/^ColumnLimit: //p' .clang-format)
}

# works WORKFLOW: it is YAML, and runs .ci/run on both releases of Debian.
works() {
	# shellcheck disable=SC2016 # the workflow's own expression
	python3 -c '
import sys, yaml
with open(sys.argv[1], encoding="utf-8") as file:
    job = yaml.safe_load(file)["jobs"]["check"]
assert job["container"] == "debian:${{ matrix.debian }}", job
assert job["strategy"]["matrix"]["debian"] == [12, 13], job
assert [step.get("run") for step in job["steps"]][-1] == ".ci/run", job
' "$1"
	[[ -x .ci/run ]]
}

# unnamed FILE...: none has the name of a driver as a string of its own: what is known of a driver stands in its record
# alone, and is not found by its name. The doctor's counters name drivers for people.
unnamed() {
	local names
	names=$(sed -n 's/^\tX("\([a-z0-9_]*\)", 0x.*/\1/p' include/rdmaez/impl/driver.h | paste -sd '|')
	[[ $names == rdma_rxe*'|mlx5_ib|'*'|siw' ]]
	! grep -nE "\"($names)\"" "$@" /dev/null | grep -v 'doctor_driver_by_name('
}

all_unnamed() {
	local sources
	mapfile -t sources < <(files 'include/*.h' 'tools/*.[ch]' | grep -vxE 'include/rdmaez/impl/driver.h|tools/doctor/counters.h')
	((${#sources[@]} > 50))
	unnamed "${sources[@]}"
}

generated() {
	diff tests/fake/qp_table.h <(awk -f tests/fake/qp_table.awk "$1")
}

printf 'int  x;\n' >"$scratch/bad.c"
if [[ $("$CLANG_FORMAT" --version) == *"version $judge."* ]]; then
	ok 'C is laid out by .clang-format; make format does it' all_formatted
	fails 'C laid out otherwise is seen' 'bad.c is not laid out' formatted "$scratch/bad.c"
else
	ok "C is laid out by .clang-format # SKIP clang-format $judge judges, and it is not here" true
fi

ok 'scripts are clean under shellcheck' linted
# shellcheck disable=SC2016 # not to be expanded here
printf '#!/bin/sh\ncd $1\n' >"$scratch/bad.sh"
fails 'a careless script is seen' SC2086 shellcheck "$scratch/bad.sh"

ok 'every source file names its licence' all_licensed
fails 'a file without a licence is seen' 'without a licence: .*bad.c' licensed "$scratch/bad.c"

ok 'no line ends in blanks' all_tidy
printf 'x \n' >"$scratch/blank"
fails 'a line that does is seen' 'blank:1:x ' tidy "$scratch/blank"
printf 'x' >"$scratch/open"
fails 'so is a last line without an end' 'open does not end with a newline' tidy "$scratch/open"

ok '.editorconfig agrees with .clang-format' agrees .editorconfig
sed 's/= 100/= 80/' .editorconfig >"$scratch/editorconfig"
fails 'another length of lines is seen' '< 80' agrees "$scratch/editorconfig"

ok "a forge's workflow runs .ci/run" works .github/workflows/check.yml
sed 's|run: .ci/run|run: make check|' .github/workflows/check.yml >"$scratch/check.yml"
fails 'one that runs something else is seen' AssertionError works "$scratch/check.yml"
sed 's/^jobs:/jobs: {/' .github/workflows/check.yml >"$scratch/broken.yml"
fails 'one that is no YAML is seen' 'yaml.*Error' works "$scratch/broken.yml"

ok 'nothing but its record knows a driver by its name' all_unnamed
echo '	{"mlx4_ib", 1},' >"$scratch/named.h"
fails 'a table of names is seen' 'named.h:1:.*mlx4_ib' unnamed "$scratch/named.h"

ok 'the examples are as short as they were meant to be' short examples
cp -r examples "$scratch"
sed -i p "$scratch/examples/raii.cc"
fails 'one that has grown is seen' 'raii.cc has 244 lines, above 122' short "$scratch/examples"

ok 'no merge has left its marks' all_merged
printf '<%.0s' {1..7} >"$scratch/bad.md"
fails 'a mark of a merge is seen' '1:<<<<' merged "$scratch/bad.md"

ok "the fake's transition table is the kernel's" generated tests/data/qp-state-table.tsv
sed '0,/^INIT.*RTR/{/^INIT.*RTR/d}' tests/data/qp-state-table.tsv >"$scratch/cut.tsv"
fails 'a transition table that lacks a row is seen' '^<' generated "$scratch/cut.tsv"

done_testing
