# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2016 # $scratch is tap.bash's; marks of code
#
# For tests/tree/recipes.t: how a recipe of CONTRIBUTING.md is followed in a copy of the tree, and what is noticed where a
# step of it is left out. After tests/tap.bash.
#
#     recipe NAME TITLE            begins one: TITLE is how it is called in CONTRIBUTING.md
#     given COMMAND                what is there before it is followed
#     spared WORD...               files that its text names, and that this sample of it needs not touch
#     leading_to TITLE...          the recipes that it goes on with
#     passing "TEST"...            what else passes when it has been followed
#     step COMMAND PATTERN TEST... a step; without it TEST fails, and prints what PATTERN matches
#     follow                       makes the assertions; $only has the names of those recipes that are meant, or nothing
#
# A COMMAND is a function that changes the tree it is called in, by these:
#
#     after FILE PATTERN LINES     inserts LINES after the first line that has PATTERN, a regular expression of Perl
#     before FILE PATTERN LINES    the same before it
#     change FILE PATTERN TEXT     replaces the first match of PATTERN
#     double FILE PATTERN SUBSTITUTION  puts before each match a copy that is changed by s/// of Perl
#     create FILE <TEXT            writes a file
#     strip FILE PATTERN           for what is given: the first match is taken away
#     restore FILE                 the file as it is in the tree
#
# Patterns name what stands there, and no line numbers. One that is not found, so that nothing is changed, is a mistake of
# this test. A TEST is a function that is called in the tree, too.

edit() {
	printf '%s\n' "$2" >>.touched
	how=$1 pattern=$3 text=$4 perl -0777 -i -pe '
		my ($how, $pattern, $text) = @ENV{qw(how pattern text)};
		my $done = $how eq "after" ? s/^(.*(?:$pattern).*\n)/$1$text\n/m
			: $how eq "before" ? s/^(?=.*(?:$pattern))/$text\n/m
			: s/$pattern/$text/m;
		$done or die "$ARGV has nothing like $pattern\n"' "$2" || exit
}

after() {
	edit after "$@"
}

before() {
	edit before "$@"
}

change() {
	edit change "$@"
}

# double FILE PATTERN SUBSTITUTION: before each match stands a copy of it, changed by s/// of Perl.
double() {
	printf '%s\n' "$1" >>.touched
	pattern=$2 substitution=$3 perl -0777 -i -pe '
		my ($pattern, $substitution, $done) = @ENV{qw(pattern substitution)};
		s{($pattern)}{ my ($old, $new) = ($1, $1); for ($new) { eval $substitution; die $@ if $@ } $done++; $new . $old }gme;
		$done or die "$ARGV has nothing like $pattern\n"' "$1" || exit
}

# strip FILE PATTERN: without its first match.
strip() {
	change "$1" "$2" ''
}

# restore FILE: as it was before strip.
restore() {
	printf '%s\n' "$1" >>.touched
	cp "$scratch/pristine/$1" "$1"
}

create() {
	printf '%s\n' "$1" >>.touched
	cat >"$1"
}

# --- Tests --------------------------------------------------------------------------------------------------

# A unit test, in the least time: it is compiled once and run once. What passes is not shown.
unit() {
	run_make SANITIZE='-O0 -g0' "build/unit/gcc/$1" || return
	"build/unit/gcc/$1" | { grep -v '^ok' || :; }
}

# A file compiles.
compiles() {
	"${CC:-gcc}" -std=c11 @tests/compile/warnings -Iinclude -Itests -fsyntax-only "$1"
}

# A script of tests; its programs are compiled in the least time, too.
script() {
	export TOOLS_CFLAGS=-O0
	bash "$@" | { grep -v '^ok' || :; }
}

printed_pages() {
	run_make SANITIZE='-O0 -g0' build/docs/data build/docs/outputs CFLAGS="-std=c11 -O0 -Iinclude -MMD -MP"
}

pages() {
	printed_pages
	docs/site/regions.py --check README.md docs/*.md
}

# The step that several have. It is seen to be in the recipe even where nothing is built.
write_pages() {
	printf '%s\n' README.md docs/*.md >>.touched
	((${#when[@]})) || { printed_pages && docs/site/regions.py README.md docs/*.md; }
}

# --- Recipes ------------------------------------------------------------------------------------------------

recipe() {
	recipe_name=$1 recipe_title=$2 steps=() patterns=() tests=() before_all=: passed_over=() leads_to=() also=()
}

given() {
	before_all=$1
}

spared() {
	passed_over=("$@")
}

leading_to() {
	leads_to=("$@")
}

passing() {
	also=("$@")
}

step() {
	steps+=("$1") patterns+=("$2") tests+=("${*:3}")
}

# The text of the recipe, and of those that it leads to.
told() {
	local each
	for each in "$recipe_title" "${leads_to[@]}"; do
		awk -v begin="- **$each**" 'index($0, "- **") == 1 || index($0, "## ") == 1 { inside = index($0, begin) == 1 }
			inside' CONTRIBUTING.md
	done
}

# followed DIR [STEP]: the recipe is followed in DIR, but for a step.
followed() {
	local each
	cd "$1" || exit
	: >.touched
	"$before_all"
	mv .touched .given
	: >.touched
	for each in "${steps[@]}"; do
		[[ $each == "${2-}" ]] || "$each"
	done
}

# What is touched has its name in the text, or that of its directory; the files that the text names are touched.
says_which() {
	local file short word
	told >"$scratch/told"
	grep -q . "$scratch/told"
	sort -u "$scratch/$recipe_name/.touched" | while read -r file; do
		short=${file#include/rdmaez/}
		case $file in
		README.md | docs/*.md) grep -q -e 'make pages' -e "\`$file\`" "$scratch/told" ;;
		*) grep -qF -e "\`$short\`" -e "\`$file\`" -e "\`${short%/*}/\`" -e "\`${short%/*}/X.h\`" \
			-e "\`${file/_*./_*.}\`" -e "\`${file%/*}\`" "$scratch/told" ||
			{ [[ $short != */* ]] && grep -q 'the public header' "$scratch/told"; } ;;
		esac || echo "the recipe does not name $file"
	done
	tr '\n' ' ' <"$scratch/told" | grep -oE '`[a-z0-9_./-]+\.(c|h|t|tsv|awk|map|md)`' | tr -d '`' | sort -u |
		while read -r word; do
			[[ " ${passed_over[*]} " == *" $word "* ]] ||
				grep -qE "(^|^include/rdmaez/|/)${word//./\\.}$" "$scratch/$recipe_name/.touched" ||
				echo "nothing is to be done in $word"
		done
}

says_all() {
	says_which >"$scratch/said"
	cat "$scratch/said"
	[[ ! -s $scratch/said ]]
}

passes() {
	cd "$scratch/$recipe_name" || exit
	"$@"
}

# prepared STEP: a copy of the whole, built, without the step. What is the same as there keeps its time, for make.
prepared() {
	local tree=$scratch/$recipe_name-$1 file
	cp -a "$scratch/$recipe_name" "$tree"
	while read -r file; do
		if [[ -e $scratch/pristine/$file ]]; then
			cp "$scratch/pristine/$file" "$tree/$file"
		else
			rm "$tree/$file"
		fi
	done < <(sort -u "$tree/.touched" "$tree/.given")
	(followed "$tree" "$1")
	while read -r file; do
		! cmp -s "$scratch/$recipe_name/$file" "$tree/$file" || touch -r "$scratch/$recipe_name/$file" "$tree/$file"
	done < <(sort -u "$scratch/$recipe_name"/.{touched,given})
}

lacks() {
	prepared "$1" >"$scratch/$recipe_name-$1.log" 2>&1 ||
		{ echo 'the other steps fail'; cat "$scratch/$recipe_name-$1.log"; return 1; }
	cd "$scratch/$recipe_name-$1" || exit
	local code=0
	("${@:2}") || code=$?
	rm -rf "$scratch/$recipe_name-$1"
	return "$code"
}

# Those of all steps, each once.
follow() {
	local i each when=(nightly)
	[[ -z $only || " $only " == *" $recipe_name "* ]] || return 0
	[[ -z $only && $recipe_name != reason ]] || when=()
	cp -a "$scratch/pristine" "$scratch/$recipe_name"
	ok "$recipe_title: each step can be made" followed "$scratch/$recipe_name"
	ok "$recipe_title: the recipe says in which files" says_all
	while read -r each; do
		# shellcheck disable=SC2086 # words
		"${when[@]}" ok "$recipe_title: $each passes" passes $each
	done < <(printf '%s\n' "${tests[@]}" "${also[@]}" | sort -u)
	for i in "${!steps[@]}"; do
		# shellcheck disable=SC2086 # words
		"${when[@]}" soon fails "$recipe_title: without ${steps[i]}, ${tests[i]} fails" "${patterns[i]}" \
			lacks "${steps[i]}" ${tests[i]}
	done
	while tap_wait; do :; done
	rm -rf "${scratch:?}/$recipe_name"
}

mkdir "$scratch/pristine"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$scratch/pristine"
