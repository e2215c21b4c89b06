#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The tree is tidy: C is laid out by .clang-format, scripts are clean under shellcheck, every file names
# its licence, and what is generated is what its generator writes today.

source tests/tap.bash

# Releases of clang-format do not agree in everything: one has to judge.
readonly judge=19
: "${CLANG_FORMAT:=$(command -v clang-format-$judge || echo clang-format)}"

# files NAME...: those of the tree, without build output, whose names match one of the patterns.
files() {
	local name
	for name; do
		find . \( -path ./build -o -path ./.git \) -prune -o -type f -path "./$name" -printf '%P\n'
	done | sort -u
}

# What a shell runs.
scripts() {
	files '*' | while IFS= read -r file; do
		[[ $file != *.bash && $(head -c 100 "$file" | head -n 1) != '#!/bin/'*sh ]] || echo "$file"
	done
}

# formatted FILE...: each is what clang-format would make of it.
formatted() {
	local file bad=0
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

linted() {
	local sources
	mapfile -t sources < <(scripts)
	((${#sources[@]} > 10))
	shellcheck -x "${sources[@]}"
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

ok "the fake's transition table is the kernel's" generated tests/data/qp-state-table.tsv
sed '0,/^INIT.*RTR/{/^INIT.*RTR/d}' tests/data/qp-state-table.tsv >"$scratch/cut.tsv"
fails 'a transition table that lacks a row is seen' '^<' generated "$scratch/cut.tsv"

done_testing
