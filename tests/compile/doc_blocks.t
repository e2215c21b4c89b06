#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every piece of C in the documentation compiles: the blocks marked ```c in README.md and docs/*.md, and
# the @code blocks of the headers. A block that has an #include is a source file of its own. Any
# other is taken for lines of a function, with the names of fragment.h around it.

source tests/compile/lib.bash

# blocks FILE DIR: put FILE's blocks into DIR, each as LINE.c, with a #line that names FILE.
blocks() {
	mkdir -p "$2"
	awk -v dir="$2" -v file="$1" '
		function begin(in_comment) {
			comment = in_comment
			start = NR + 1
			text = ""
			whole = 0
			inside = 1
		}
		function finish(name) {
			name = dir "/" start ".c"
			text = "#line " start " \"" file "\"\n" text
			if (!whole)
				text = "#include \"fragment.h\"\nint fragment(void);\nint fragment(void)\n{\n" \
					text "\treturn 0;\n}\n"
			printf "%s", text >name
			close(name)
			inside = 0
		}
		inside && (comment ? /^ *\* @endcode/ : /^ *```/) { finish(); next }
		!inside && /^ *```c *$/ { begin(0); next }
		!inside && /^ *\* @code(\{\.c\})? *$/ { begin(1); next }
		inside {
			if (comment)
				sub(/^ *\* ?/, "")
			if (/^#include/)
				whole = 1
			text = text $0 "\n"
		}
		END {
			if (inside) {
				print file ":" start ": a block without an end" >"/dev/stderr"
				exit 1
			}
		}' "$1"
}

# compiles FILE: all of its blocks do.
compiles() {
	local dir=$scratch/blocks.$BASHPID
	blocks "$1" "$dir"
	compile "$CC" c11 include -Itests/compile -Wno-shadow -Wno-unused -Wno-missing-prototypes -fsyntax-only "$dir"/*.c
}

for file in README.md docs/*.md include/rdmaez.h include/rdmaez/*.h include/rdmaez/devel/*.h; do
	if grep -qE '^ *```c *$|@code' "$file"; then
		ok "the code in $file compiles" compiles "$file"
	fi
done
ok 'README.md has code to try' grep -q '^```c$' README.md

# page NAME LINE...: a file of documentation.
page() {
	printf '%s\n' "${@:2}" >"$scratch/$1"
	echo "$scratch/$1"
}

ok 'a fragment and a whole file compile' compiles "$(page good.md 'Text.' '```c' 'error = rdmaez_qp_to_init(qp, &opts, &diag);' \
	'```' '' '```sh' 'no C' '```' '```c' '#include <rdmaez.h>' 'int main(void)' '{' '	return 0;' '}' '```')"
fails 'a fragment that calls what there is not is refused, by its line' 'bad.md:5:.*rdmaez_qp_fly' \
	compiles "$(page bad.md 'Text.' '' '```c' 'error = 0;' 'error = rdmaez_qp_fly(qp);' '```')"
fails 'a whole file with an error is refused' 'whole.md:3:.*nothing' \
	compiles "$(page whole.md '```c' '#include <rdmaez.h>' 'int x = nothing;' '```')"
fails 'a comment with an error is refused' 'bad.h:3:.*nothing' \
	compiles "$(page bad.h '/**' ' * @code' ' * error = nothing;' ' * @endcode' ' */')"
fails 'a block without an end is refused' 'open.md:2: a block without an end' \
	compiles "$(page open.md '```c' 'error = 0;')"

done_testing
