#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The documentation builds without a warning: everything public is documented, every reference leads
# somewhere.

source tests/tap.bash

builds() {
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory --silent docs
	[[ -s build/docs/html/index.html && -s build/docs/html/qp_8h.html ]]
}

# with INPUT: the same settings for another directory of headers.
with() {
	{
		cat docs/Doxyfile
		printf '%s\n' "INPUT = $1" "STRIP_FROM_PATH = $1" "OUTPUT_DIRECTORY = $scratch" 'HAVE_DOT = NO'
	} >"$scratch/Doxyfile"
	doxygen "$scratch/Doxyfile"
}

ok 'make docs has nothing to warn of' builds

cp -r include "$scratch/include"
sed -i '/@param bytes room for the payload/d' "$scratch/include/rdmaez/units.h"
fails 'an undocumented parameter is refused' "parameter 'bytes'|argument.*bytes" with "$scratch/include"

done_testing
