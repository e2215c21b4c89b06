#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The documentation builds without a warning: everything public is documented, every reference leads
# somewhere.

source tests/compile/lib.bash

builds() {
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory --silent docs
	[[ -s build/docs/html/index.html && -s build/docs/html/qp_8h.html ]]
}

# every_enumerator PAGES: doxygen does not mind one without a sentence, so each is looked up.
every_enumerator() {
	local missing
	identifiers include e | sed -n '/IMPL/d; s/.* //p' | sort -u >"$scratch/enumerators"
	(($(wc -l <"$scratch/enumerators") > 300))
	cat "$1"/*_8h.html | grep -oE 'RDMAEZ_[A-Z0-9_]*</code></td><td class="fielddoc"><p>(<[^/]|[^<])' |
		grep -oE '^RDMAEZ_[A-Z0-9_]*' | sort -u >"$scratch/documented"
	missing=$(comm -23 "$scratch/enumerators" "$scratch/documented")
	[[ -z $missing ]] || { echo "no sentence about $missing"; false; }
}

# with INPUT: the same settings for another directory of headers.
with() {
	{
		cat docs/Doxyfile
		printf '%s\n' "INPUT = $1" "EXCLUDE = $1/rdmaez/impl $1/rdmaez/devel/impl" "STRIP_FROM_PATH = $1" \
			"OUTPUT_DIRECTORY = $scratch" 'EXAMPLE_PATH ='
	} >"$scratch/Doxyfile"
	doxygen "$scratch/Doxyfile"
}

ok 'make docs has nothing to warn of' builds

mkdir "$scratch/silent"
cp build/docs/html/*_8h.html "$scratch/silent"
sed -i '/>RDMAEZ_WHY_RANGE</d' "$scratch/silent/why_8h.html"
cp -r include "$scratch/include"
sed -i '/@param bytes room for the payload/d' "$scratch/include/rdmaez/units.h"
fails 'an undocumented parameter is refused' "parameter 'bytes'|argument.*bytes" with "$scratch/include"

ok 'every enumerator has a sentence' every_enumerator build/docs/html
fails 'one without is seen' 'no sentence about RDMAEZ_WHY_RANGE' every_enumerator "$scratch/silent"

done_testing
