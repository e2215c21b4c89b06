#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the pages show of tables, outputs and examples is what the build prints today; docs/site/regions.py writes it.

source tests/tap.bash

regions=docs/site/regions.py

# page NAME LINE...: a page of these lines; its path is printed.
page() {
	printf '%s\n' "${@:2}" >"$scratch/$1"
	echo "$scratch/$1"
}

# block LANGUAGE FILE: the lines of its fenced block.
block() {
	awk -v begin="\`\`\`$1" '$0 == "```" { inside = 0 } inside; $0 == begin { inside = 1 }' "$2"
}

# Every output that can be printed stands on one of the pages.
all_shown() {
	local names name
	names=$({ build/docs/outputs || :; } 2>&1 | sed 's/.*one of: *//')
	(($(wc -w <<<"$names") > 50))
	for name in $names; do
		grep -qFx -e "<!-- output of $name -->" -- "$@" || echo "no page shows $name"
	done >"$scratch/unseen"
	[[ ! -s $scratch/unseen ]] || { cat "$scratch/unseen"; false; }
}

# The page is written; then it is up to date, and says what its sources say.
written() {
	local file
	file=$(page new.md '# Title' '' '<!-- output of mask_missing -->' '<!-- end -->' 'Text.' \
		'<!-- table of options -->' 'old' '<!-- end -->' '<!-- code of examples/01_first.c -->' '<!-- end -->' \
		'<!-- output on softroce of no/such/command -->' 'left alone' '<!-- end -->' \
		'<!-- record of no_such_record.md -->' 'left alone, too' '<!-- end -->')
	"$regions" "$file"
	"$regions" --check "$file"
	grep -qFx 'left alone' "$file"
	grep -qFx 'left alone, too' "$file"
	diff <(block text "$file") <(build/docs/outputs mask_missing)
	diff <(grep -e '^|' -e old "$file") <(build/docs/data --table options)
	diff <(block c "$file") <(sed -n '/^#include/,$p' examples/01_first.c)
}

ok 'the programs that print them are built' run_make build/docs/data build/docs/outputs
ok 'a region is filled' written
ok 'no region of the documentation is stale' "$regions" --check README.md docs/*.md
ok 'and the picture of costs shows the table of costs' docs/site/pictures.py --check
sed -i 's/the mask lacks/the mask has/' "$scratch/new.md"
fails 'a region that is stale is seen' 'make pages' "$regions" --check "$scratch/new.md"
fails 'a table that does not exist is an error' 'there is no table of nothing' \
	"$regions" "$(page table.md '<!-- table of nothing -->' '<!-- end -->')"
fails 'an output that does not exist is an error' 'usage: outputs NAME' \
	"$regions" "$(page output.md '<!-- output of nothing -->' '<!-- end -->')"
fails 'an example that does not exist is an error' 'nothing.c: No such file' \
	"$regions" "$(page code.md '<!-- code of examples/nothing.c -->' '<!-- end -->')"
fails 'a region without an end is an error' 'line 2: .*options.* has no' \
	"$regions" "$(page open.md '' '<!-- table of options -->' 'text' '<!-- table of causes -->' '<!-- end -->')"
fails 'an end without a region is an error' 'line 1: .* ends nothing' "$regions" "$(page end.md '<!-- end -->')"
fails 'a comment that is meant for a region is an error' 'line 1: .* begins no region' \
	"$regions" "$(page almost.md '  <!-- table of options -->' '  <!-- end -->')"
fails 'what no test has recorded is an error' 'no_such_record.md.*run make check-programs' \
	"$regions" --programs "$(page record.md '<!-- record of no_such_record.md -->' '<!-- end -->')"
ok 'every output is shown' all_shown docs/*.md
fails 'one that is not is seen' 'no page shows mask_missing' all_shown "$(page fence.md 'Text.')"
ok 'a region in a fenced block is left alone' \
	"$regions" --check "$(page fence.md '```' '<!-- table of nothing -->' '```')"

done_testing
