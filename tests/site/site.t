#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The documentation in a browser, as a reader meets it: on a phone and on a wide screen, light and dark, from a file
# and from a web server; what people type into the search finds the right page first.

source tests/tap.bash
source tests/site/lib.bash

look() {
	python3 -B tests/site/look.py "$@"
}

ok 'no page scrolls sideways, complains, or asks for anything from elsewhere' look pages "$site"
broken qp_8h.html 's|<h1>|<p style="width: 1500px">wide</p>&|'
fails 'an element that is too wide is seen' 'qp_8h.html at 1400 px: .* too wide' look pages "$scratch/site" qp_8h.html
broken site.css 's/overflow-x: auto;//'
fails 'tables that do not scroll in themselves are seen' 'completions.html at 400 px: .* too wide' \
	look pages "$scratch/site" completions.html
broken site.js '1s/^/nobody.knows();/'
fails 'an error in a script is seen' 'exception: .*ReferenceError: nobody' look pages "$scratch/site" index.html
broken index.html 's|<h1>|<script>console.log("hello")</script>&|'
fails 'a message on the console is seen' 'console: hello' look pages "$scratch/site" index.html
broken index.html 's|<h1>|<img src="missing.png" alt="">&|'
fails 'a file that is missing is seen' 'ERR_FILE_NOT_FOUND' look pages "$scratch/site" index.html
broken index.html 's|<h1>|<img src="https://localhost:9/x.png" alt="">&|'
fails 'a request that leaves the machine is seen' 'leaves the machine: https://localhost' \
	look pages "$scratch/site" index.html

ok 'light and dark: the background, and contrast of all that is written' look themes "$site"
broken site.css 's/--paper: light-dark(#ffffff, [^)]*)/--paper: #ffffff/'
fails 'a page that stays light is seen' 'the background is not dark' look themes "$scratch/site" index.html
broken site.css 's/--soft: [^;]*;/--soft: #999999;/'
fails 'text that is hard to read is seen' 'poor contrast' look themes "$scratch/site" qp_8h.html

ok 'the list of pages folds and opens, the contents stand beside the text' look frame "$site"
broken site.css 's/^\.pages { display: none;/.pages {/'
fails 'a list that does not fold is seen' 'not folded' look frame "$scratch/site"
broken site.js "s/join('.n')/join(' ')/"
fails 'code that is not copied as it stands is seen' 'not the code' look frame "$scratch/site"
broken qp_8h.html 's/ aria-current=page//'
fails 'a page that is not marked is seen' 'not marked' look frame "$scratch/site"

ok 'each diagram is visible, and within its figure' look diagrams "$site"
broken design.html 's/<svg width="[0-9]*" height="[0-9]*"/<svg width="20" height="10"/'
fails 'a diagram too small to see is seen' 'too small' look diagrams "$scratch/site" design.html
broken site.css 's/^figure.diagram {/& overflow: hidden !important; height: 50px;/'
fails 'a diagram that leaves its figure is seen' 'leaves its figure' look diagrams "$scratch/site" design.html

ok 'the search finds the right page first, and the keyboard leads there' look search "$site"
broken search-data.js '/rdmaez_qp_to_rtr()","p"/d'
fails 'a section that is not found is seen' 'http: qp_to_rtr finds .* not qp_8h.html#rdmaez_qp_to_rtr first' \
	look search "$scratch/site"
broken site.js "s/'search-data.js'/'https:\/\/localhost:9\/search-data.js'/"
fails 'a search that needs a network is seen' 'leaves the machine' look search "$scratch/site"

done_testing
