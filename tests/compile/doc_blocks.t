#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every piece of code in the documentation works as it can be pasted: the fenced blocks of the pages, and
# the @code blocks of the headers. C compiles as C11, and as C++20 in make check-nightly and in what
# users of C++ read first, below nothing but <rdmaez.h> and the
# headers of standard C; doc_blocks.py says what is looked at, and what is refused. Some warnings come only where the
# optimiser sees our bodies in theirs: README compiles at -O2, and nightly all code at every level.

source tests/compile/lib.bash

# What a reader does not see is the rest of the program: who calls a function, and what a variable is for.
pasted=("$warnings" -Wno-unused "-I$scratch/pasted" -Iinclude)

# What stands above such code is compiled once for each language, not for each block.
mkdir -p "$scratch/pasted/pasted.h.gch"
printf '#include <%s.h>\n' errno inttypes stdio stdlib string rdmaez >"$scratch/pasted/pasted.h"
in_c=("$CC" -std=c11) in_cxx=("$CXX" -std=c++20 -Wno-missing-field-initializers) in_old_cxx=("$CXX" -std=c++11)
for language in in_c in_cxx in_old_cxx; do
	declare -n compiler=$language
	"${compiler[@]}" -x "$([[ $language == in_c ]] && echo c-header || echo c++-header)" "${pasted[@]}" \
		"$scratch/pasted/pasted.h" -o "$scratch/pasted/pasted.h.gch/$language"
done

# quiet LEVEL FILE...: whatever a level sees, a user's own code compiles as usual without a warning.
quiet() {
	local file usual=(-Wall -Wextra -Werror -Wno-unused "-I$scratch/pasted" -Iinclude "-O$1" -c -o "$scratch/quiet.$BASHPID.o")
	for file in "${@:2}"; do
		case $file in
		*/cpp/*) "$CXX" -std=c++11 "${usual[@]}" "$file" ;;
		*) "$CC" -std=c11 "${usual[@]}" "$file" ;;
		esac
	done
}

# is_cxx FILE: whether its C is compiled as C++ as well. make check does that where a user of C++ looks first.
is_cxx() {
	[[ ${RDMAEZ_NIGHTLY:-0} == 1 || $1 != include/* && ($1 != docs/* || $1 =~ /(start|cplusplus).md$) ]]
}

# works FILE: all of its blocks do.
works() {
	local dir=$scratch/blocks.$BASHPID c c_only cpp sh python
	mkdir "$dir"
	python3 tests/compile/doc_blocks.py "$1" "$dir"
	shopt -s nullglob
	c=("$dir"/c/*) c_only=("$dir"/c-only/*) cpp=("$dir"/cpp/*) sh=("$dir"/sh/*) python=("$dir"/python/*)
	if ((${#c[@]} + ${#c_only[@]})); then
		"${in_c[@]}" "${pasted[@]}" -fsyntax-only "${c[@]}" "${c_only[@]}"
	fi
	if ((${#c[@]})) && is_cxx "$1"; then
		"${in_cxx[@]}" -x c++ "${pasted[@]}" -fsyntax-only "${c[@]}"
	fi
	if ((${#cpp[@]})); then
		"${in_old_cxx[@]}" "${pasted[@]}" -fsyntax-only "${cpp[@]}"
		"${in_cxx[@]}" "${pasted[@]}" -fsyntax-only "${cpp[@]}"
	fi
	if [[ ${RDMAEZ_NIGHTLY:-0} == 1 ]]; then
		for file in 0 1 2 3 s; do quiet "$file" "${c[@]}" "${c_only[@]}" "${cpp[@]}"; done
	elif [[ $1 != docs/* && $1 == *.md ]]; then
		quiet 2 "${c[@]}" "${c_only[@]}" "${cpp[@]}"
	fi
	for file in "${sh[@]}"; do
		bash -n "$file"
		# Commands that were wrapped like prose are one command to bash.
		if grep -nE '.{101}' "$file"; then return 1; fi
	done
	if ((${#python[@]})); then
		python3 -m py_compile "${python[@]}"
	fi
}

for file in *.md docs/*.md; do
	ok "the code in $file works as it stands" works "$file"
done
for file in include/rdmaez.h include/rdmaez/*.h include/rdmaez/devel/*.h; do
	ok "the code in $file works as it stands" works "$file"
done

# page NAME LINE...: a file of documentation.
page() {
	printf '%s\n' "${@:2}" >"$scratch/$1"
	echo "$scratch/$1"
}

ok 'functions, declarations and whole files are code' works "$(page good.md 'Text.' '```c' \
	'int to_init(struct ibv_qp *qp)' '{' '	return rdmaez_qp_to_init(qp, NULL, NULL);' '}' '```' '' '- A list:' '' \
	'    goes on.' '' '```c' '#include <rdmaez.h>' 'int main(void)' '{' '	return 0;' '}' '```' '```text' 'no C' '```')"
ok 'C that is no C++ says so' works "$(page only.md '<!-- C only -->' '```c' \
	'struct rdmaez_qp_opts opts = {.path.sl = 1};' '```')"
fails 'C that is no C++, and does not say so, is refused' 'cxx.md:2:' \
	works "$(page cxx.md '```c' 'struct rdmaez_qp_opts opts = {.path.sl = 1};' '```')"
fails 'lines of a function are refused' 'lines.md:3:' \
	works "$(page lines.md 'Text.' '```c' 'error = rdmaez_qp_to_init(qp, &opts, &diag);' '```')"
fails 'a call of what there is not is refused, by its line' 'fly.md:4:.*rdmaez_qp_fly' \
	works "$(page fly.md '```c' 'int fly(void)' '{' '	return rdmaez_qp_fly();' '}' '```')"
fails 'a whole file that forgets an include is refused' 'whole.md:5:.*puts' \
	works "$(page whole.md '```c' '#include <stddef.h>' 'int main(void)' '{' '	return puts("x");' '}' '```')"
fails 'a comment of a header is refused' 'bad.h:3:.*nothing' \
	works "$(page bad.h '/**' ' * @code' ' * int x = nothing;' ' * @endcode' ' */')"
fails 'C++ of today is refused as C++11' 'new.md:2:' works "$(page new.md '```cpp' 'auto f = [](auto x) { return x; };' '```')"
fails 'C++ of old is refused as C++20' 'old.md:2:.*requires' works "$(page old.md '```cpp' 'int requires = 1;' '```')"
fails 'commands that were wrapped like prose are seen' '3:make install' works "$(page wrapped.md '```sh' 'make # the targets' \
	'make install PREFIX=/opt/rdmaez # the same, but not below /usr/local make single # or make them one file: x.h' '```')"
fails 'a shell command that is cut off is refused' 'line 4: .*end of file' works "$(page cut.md '```sh' 'for a in b; do' '	echo' '```')"
fails 'Python that is cut off is refused' 'line 2' works "$(page cut_too.md '```python' 'def f(' '```')"
fails 'what only the optimiser sees is refused' 'late.md:4:.*x.* may be used uninitialized' works "$(page late.md '```c' \
	'int late(int a)' '{' '	int x; if (a > 1) x = a; return a > 0 ? x : 0;' '}' '```')"
fails 'a block of an unknown language is refused' 'brain.md:2: no test knows the language "brain"' \
	works "$(page brain.md '' '```brain' '+' '```')"
fails 'a block that names no language is refused' 'bare.md:1: no test knows the language ""' \
	works "$(page bare.md '```' 'int x;' '```')"
fails 'indented code is refused' 'indented.md:3: indented code' works "$(page indented.md 'Text:' '' '    int x;')"
fails 'and so it is in a comment of a header' 'indented.h:4: indented code' \
	works "$(page indented.h '/**' ' * Text:' ' *' ' *     int x;' ' */')"
fails 'a block without an end is refused' 'open.md:2: a block without an end' works "$(page open.md '```c' 'int x;')"

done_testing
