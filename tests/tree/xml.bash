# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For tests of the reference, which source this after tap.bash.

# xml INCLUDE: doxygen's XML of these headers, in a directory of its own.
xml() {
	local out
	out=$(mktemp -d "${scratch:?}/xml.XXXX")
	{
		cat docs/Doxyfile
		printf '%s\n' "INPUT = $1 build/docs/input" "EXCLUDE = $1/rdmaez/impl $1/rdmaez/explain $1/rdmaez/devel/impl" \
			"STRIP_FROM_PATH = $1" "INCLUDE_PATH = $1" 'USE_MDFILE_AS_MAINPAGE =' 'GENERATE_HTML = NO' \
			'WARN_AS_ERROR = NO' "OUTPUT_DIRECTORY = $out"
	} >"$out/Doxyfile"
	# Without the pages, and without HTML, it complains of what is not so.
	doxygen "$out/Doxyfile" 2>"$out/warnings"
	echo "$out/xml"
}
