#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The documentation builds without a warning: everything public is documented, every reference leads
# somewhere, and the diagrams show the rules. What a browser makes of it is tests/site's.

source tests/compile/lib.bash
source tests/site/lib.bash

builds() {
	run_make docs | tee "$scratch/told"
	[[ $(tail -n 1 "$scratch/told") == "Open $PWD/$site/index.html in a browser." ]]
	[[ -s $site/index.html && -s $site/qp_8h.html && -s build/docs/man/man3/rdmaez_qp_to_rtr.3 ]]
}

# Each **Before** and **After** of the page is a pair on the site.
paired() {
	diff <(grep -cFx '**After**' docs/migrating.md) <(grep -c '<div class="pair">' "$1/migrating.html")
}

# page_with TEXT: the settings for one page, without headers.
page_with() {
	mkdir -p "$scratch/page"
	printf '# A page\n\n%s\n' "$1" >"$scratch/page/a_page.md"
	{
		cat docs/Doxyfile
		printf '%s\n' "INPUT = $scratch/page" "OUTPUT_DIRECTORY = $scratch" 'USE_MDFILE_AS_MAINPAGE ='
	} >"$scratch/Doxyfile"
	doxygen "$scratch/Doxyfile"
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
		printf '%s\n' "INPUT = $1" "EXCLUDE = $1/rdmaez/impl $1/rdmaez/explain $1/rdmaez/devel/impl" "STRIP_FROM_PATH = $1" \
			"OUTPUT_DIRECTORY = $scratch" 'EXAMPLE_PATH ='
	} >"$scratch/Doxyfile"
	doxygen "$scratch/Doxyfile"
}

# names_exist PAGE...: those of rdmaez that pages mention. A list of changes also names what there is no more.
names_exist() {
	local name='\b(rdmaez_[a-z0-9_]+|RDMAEZ_[A-Z0-9_]+)\b' unknown
	unknown=$(comm -23 <(grep -ohE "$name" "$@" | sort -u) \
		<(grep -rohE "$name" include tools tests examples Makefile docs/*.c | sort -u))
	[[ -z $unknown ]] || { echo "nothing is called $unknown"; false; }
}

# unread PAGE...: none shows what doxygen has not understood, such as its own words for a line's end.
unread() {
	! grep -nE -m3 '\\ilinebr|markdownTableBody[A-Za-z]*"?&gt;|@(sub)*section |@ref |&lt;/?(b|tt)&gt;' "$@"
}

# plain PAGE...: outside of code there is no doxygen markup, and no HTML but comments: a forge would show it.
plain() {
	local file bad=0
	for file; do
		# shellcheck disable=SC2016 # marks of code
		sed -E -e '/^```/,/^```/d; s/`[^`]*`//g; s/<!--.*-->//' "$file" |
			grep -nE '\{#|@[a-z]+ |\\[a-z]+ |(^|[ (])#RDMAEZ_|</?[a-z][^>]*>' | sed "s|^|$file: |" && bad=1
	done
	return "$bad"
}

# redrawn FILTER: the diagrams against a table that jq's FILTER has changed.
redrawn() {
	jq "$1" "$site/data/transitions.json" >"$scratch/transitions.json"
	python3 tests/tree/diagrams.py "$scratch/transitions.json" build/docs/diagrams
}

ok 'make docs has nothing to warn of, and names the page to open' builds

mkdir "$scratch/silent"
cp "$site"/*_8h.html "$scratch/silent"
sed -i '/>RDMAEZ_WHY_RANGE</d' "$scratch/silent/why_8h.html"
cp -r include "$scratch/include"
sed -i '/@param bytes room for the payload/d' "$scratch/include/rdmaez/units.h"
fails 'an undocumented parameter is refused' "parameter 'bytes'|argument.*bytes" with "$scratch/include"
fails 'a link to a page that does not exist is refused' "unable to resolve.*nothing.md" page_with '[there](nothing.md)'
fails 'so is one to a heading that does not exist' "unable to resolve.*no-heading" page_with '[there](#no-heading)'
# shellcheck disable=SC2016 # a block of Markdown
fails 'and a graph that cannot be drawn' 'unable to resolve.*filter' page_with $'```dot\ndigraph { a -> }\n```'

ok 'no page shows mark-up' unread "$site"/*.html
broken why.html 's|</code>|\\ilinebr &lt;/td&gt;&|'
fails 'mark-up that shows is seen' 'why.html:.*ilinebr' unread "$scratch/site/why.html" "$scratch/site/index.html"

ok 'a link may go over two lines' page_with $'There is [a\nlink](#a-page-1), `code` and\n\n## A page'
ok 'and it is one' grep -E '<a [^>]*>a link</a>' "$scratch/html/a_page.html"

ok 'every enumerator has a sentence' every_enumerator "$site"
fails 'one without is seen' 'no sentence about RDMAEZ_WHY_RANGE' every_enumerator "$scratch/silent"

ok 'every link and anchor of the site leads somewhere' python3 tests/site/links.py "$site"
broken index.html 's/href="queue_pairs.html/href="queue_pears.html/'
fails 'a wrong link is seen' 'index.html: there is no queue_pears.html' python3 tests/site/links.py "$scratch/site"
broken qp_8h.html 's/id="rdmaez_qp_to_rtr"/id="rdmaez_qp_to_init"/'
fails 'a wrong anchor is seen' 'there is no anchor.*rdmaez_qp_to_rtr' python3 tests/site/links.py "$scratch/site"
fails 'an id that repeats is seen' 'the id rdmaez_qp_to_init repeats' python3 tests/site/links.py "$scratch/site"

ok 'pages are plain Markdown, as a forge shows it' plain ./*.md docs/*.md
printf '%s\n' '# A page {#page}' >"$scratch/page.md"
fails 'markup that only doxygen knows is seen' 'page.md: 1:# A page' plain "$scratch/page.md"

# People read a first page if it is short. This is half of what it had on 22 November 2026; the rest has pages of its own.
is_short() {
	local words
	words=$(wc -w <"$1")
	echo "$1 has $words words"
	((words <= 719))
}
ok 'README is short' is_short README.md
for _ in {1..72}; do printf 'This sentence has no fewer than ten words in it.\n'; done >"$scratch/long.md"
fails 'a long one is seen' 'has 720 words' is_short "$scratch/long.md"

ok 'every name of rdmaez that pages mention exists' names_exist README.md CONTRIBUTING.md docs/*.md
# This file must not have the name itself.
printf 'Call rdmaez_qp_to_%s().\n' mars >"$scratch/page.md"
fails 'one that does not is seen' 'nothing is called rdmaez_qp_to_[m]ars' names_exist "$scratch/page.md"

ok 'code before and after stands side by side' paired "$site"
broken migrating.html '0,/class="pair"/s///'
fails 'code that does not is seen' '^< 8' paired "$scratch/site"

ok 'the state diagrams show the rules' redrawn .
rtr='.type == "RC" and .from == "INIT" and .to == "RTR"'
fails 'a bit that is missing in a diagram is seen' 'RC INIT-RTR' \
	redrawn "(.transitions[] | select($rtr) | .required) += [\"IBV_QP_RATE_LIMIT\"]"
fails 'an optional bit drawn as required is seen' 'RC INIT-RTR' \
	redrawn "(.transitions[] | select($rtr)) |= (.optional += [\"IBV_QP_AV\"] | .required -= [\"IBV_QP_AV\"])"
fails 'a transition that does not exist is seen' 'RC SQE-RTS' \
	redrawn '(.transitions[] | select(.type == "RC" and .from == "SQE" and .to == "RTS") | .legal) = false'

done_testing
