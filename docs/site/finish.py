#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""finish.py HTML_DIR: makes the site of what doxygen wrote, in place.

Adds what doxygen 1.9.4 has no words for: the list of pages, the contents of each, anchors that are names instead of
hashes, fields and enumerators as tables, prototypes as C, links from `names` in the text. Takes out what the site does
not use. Whatever doxygen changes in its output has to be handled here; tests/site looks at the result."""
import html
import pathlib
import re
import shutil
import sys

import members
from page import Page, address, link_to, plain

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The pages in the order of reading. A page that is not named here comes last in its part.
GUIDE = ('start connecting cm queue_pairs why explanations completions events roce device_memory capabilities options '
         'programs explain doctor gpu clusters testing including cplusplus migrating verified data').split()
PROJECT = ['design', 'style', 'CONTRIBUTING', 'SECURITY', 'CHANGELOG']
# The levels of headers that rdmaez.h leaves out, and where they are.
OUTSIDE = {'Included by name': 'rdmaez', 'For development': 'rdmaez/devel'}

# The first column of tables whose rows are looked for one by one.
ROWS = {'message', 'what is wrong', 'finding', 'errno', 'option', 'it cannot see', 'it says', 'what it names',
        'in the summary', 'event', 'value'}

# Lists that the site's own navigation and search replace, and what only doxygen's own look needs.
UNUSED = ('functions*.html globals*.html annotated.html classes.html files.html pages.html graph_legend.* dir_*.html '
          '*_8dox.html *.png doxygen.* tabs.css jquery.js dynsections.js nav_*.css menu*.js clipboard.js cookie.js '
          'doc*.svg folder*.svg minus*.svg plus*.svg *.map *.md5 *_8h__*.svg').split()


def levels():
    """The public headers by the levels of rdmaez.h, where a comment opens one; then those that it leaves out."""
    found, current = {}, None
    for line in (ROOT / 'include/rdmaez.h').read_text(encoding='utf-8').splitlines():
        if title := re.match(r'/\* (.*) \*/$', line):
            current = title[1]
        elif header := re.match(r'#include "(rdmaez/.*)"$', line):
            found.setdefault(current, []).append(header[1])
    included = [name for names in found.values() for name in names]
    for level, directory in OUTSIDE.items():
        names = [f'{directory}/{path.name}' for path in sorted((ROOT / 'include' / directory).glob('*.h'))]
        found[level] = [name for name in names if name not in included]
    return found


# --- Frame ----------------------------------------------------------------------------------------


def frame(page):
    """Leaves of doxygen's frame only the title, as a heading; no paths of the machine that built it."""
    page.sub(r'<div id="top">.*?</div><!-- top -->\n', '')
    page.sub(r'<div class="ttc".*?</div></div>\n', '')
    page.sub(r'<hr/>The documentation for this (struct|union) was generated.*?</ul>\n', '')
    page.sub(r'<a class="anchor" id="md_[^"]*"></a> ?', '')
    page.sub(r'<a name="details" id="details"></a><h2 class="groupheader">Detailed Description</h2>\n', '')
    page.sub(r'<tr class="markdownTableHead">(\s*<th[^>]*>\s*</th>)+\s*</tr>\n', '')      # a table without a head
    page.sub(r'<td class="markdownTable.*?</td>', lambda m: m[0].replace('\\|', '|'))    # as a forge has it in `code`
    page.sub(r'<p >', '<p>')
    page.sub(r'<div class="header">.*?<div class="title">.*?</div></div>\n</div>',
             f'<h1>{html.escape(page.title)}</h1>')
    page.sub(r'<!--(?! navigation).*?-->', '')
    title = page.title if page.title == 'rdmaez' else f'{page.title} - rdmaez'
    page.sub(r'<title>.*?</title>', f'<title>{html.escape(title)}</title>')


def headings(page):
    """A heading carries its own id, the forge's; the highest below the title is an h2."""
    found = re.findall(r'<h([1-6])><a class="anchor"', page.text)
    up = 2 - min(map(int, found)) if found else 0
    prefix = page.name.removesuffix('.html') + '-'

    def heading(match):
        level, anchor = int(match[1]) + up, match[2]
        words = re.sub(r'&lt;(/?)tt&gt;', r'<\1code>', match[3].strip())       # 1.9.4 has `code` so
        page.anchors[anchor] = anchor.removeprefix(prefix)
        return f'<h{level} id="{page.anchors[anchor]}">{words}{link_to(page.anchors[anchor])}</h{level}>'
    page.sub(r'<h([1-6])><a class="anchor" id="([^"]*)"></a>\s*(.*?)</h\1>', heading)


def rows(page):
    """Each row of a table of what a reader may look for is a place of its own, named after its first words."""
    taken = set(re.findall(r' id="([^"]*)"', page.text))

    def row(match):
        words = plain(re.search(r'<td.*?</td>', match[0], re.S)[0])
        slug = stem = re.sub(r'[^a-z0-9]+', '-', words.lower())[:60].strip('-')
        if not slug:
            raise SystemExit(f'{page.name}: a row without a first word has no address: {plain(match[0])[:60]}')
        for number in range(2, 100):
            if slug not in taken:
                break
            slug = f'{stem}-{number}'
        taken.add(slug)
        named = match[0].replace('<tr ', f'<tr id="{slug}" ', 1)
        return re.sub(r'\s*</td>', f'{link_to(slug)}</td>', named, count=1)

    def table(match):
        first = plain(re.search(r'<th.*?</th>', match[0], re.S)[0]) if '<th' in match[0] else ''
        return re.sub(r'<tr class="markdownTableRow.*?</tr>', row, match[0], flags=re.S) if first in ROWS else match[0]
    page.sub(r'<table class="markdownTable">.*?</table>', table)


def include_line(page, includes):
    """What to include, below the title of a header or a struct."""
    header = page.header or includes.get(page.name)
    if header and header != 'rdmaez.h':
        short = pathlib.PurePath(header).name
        link = f' &ndash; declared in <a href="{address(header)}">{short}</a>' if page.header else ''
        page.sub(r'(<h1>.*?</h1>)', rf'\1\n<p class="include"><code>#include &lt;{header}&gt;</code>{link}</p>')


# --- All pages ------------------------------------------------------------------------------------


def readable_anchors(pages):
    """Links to doxygen's hashes lead to the names that have taken their place."""
    known = {page.name: page.anchors for page in pages}

    def link(page):
        def new(match):
            name, anchor = match[1] or page.name, match[2]
            return f'href="{match[1]}#{known.get(name, {}).get(anchor, anchor)}"'
        return new
    for page in pages:
        page.sub(r'href="([^"#:]*)#([^"]*)"', link(page))


def code_in_links(page):
    """[`words`](page.md): in a reference, doxygen leaves the marks as they are."""
    page.sub(r'(<a class="el" href="[^"]*">)([^<]*`[^<]*)(?=</a>)',
             lambda m: m[1] + re.sub(r'`([^`]*)`', r'<code>\1</code>', m[2]))


def short_code(page):
    """`qp->state` is not to be broken after its hyphen, as a browser would at the end of a line."""
    def code(match):
        return match[0] if len(plain(match[1])) > 32 else f'<code class="short">{match[1]}</code>'
    page.sub(r'<code>([^<]*(?:<a [^>]*>[^<]*</a>[^<]*)*)</code>', code)


def code_links(pages):
    """`RDMAEZ_ZERO` in the text leads to what it names."""
    names = {page.title: page.name for page in pages if page.header}
    names |= {page.title.split(' ')[1]: page.name for page in pages if page.header}
    for page in pages:
        if not page.header and page.is_reference:
            names |= {name: f'{page.name}#{name}' for name in page.anchors.values()}

    def link(match):
        place = names.get(match[1]) or names.get(re.sub(r'^(enum|union) |\(\)$', '', match[1]))
        return f'<code><a href="{place}">{match[1]}</a></code>' if place else match[0]
    for page in pages:
        parts = re.split(r'(<pre.*?</pre>|<a .*?</a>|<h[1-6].*?</h[1-6]>|<div class="fragment">.*?</div>\n?</div>'
                         r'|<tr id="[\w.]+"><td.*?</td>)', page.text, flags=re.S)
        for i in range(0, len(parts), 2):
            parts[i] = re.sub(r'<code>((?:(?:struct|enum|union) )?(?:rdmaez|RDMAEZ)_\w+(?:\(\))?)</code>', link,
                              parts[i])
        page.text = ''.join(parts)


def side_by_side(page):
    """Code before and after: two blocks that the style sheet sets beside each other on a wide screen."""
    half = r'(<p><b>{}</b></p>\n<div class="fragment">.*?</div>\n</div>)'
    page.sub(half.format('Before') + half.format('After'), r'<div class="pair"><div>\1</div><div>\2</div></div>')


def navigation(pages):
    """The list of pages: the guide, the project, and the reference by level."""
    titles = {page.name: page.title for page in pages}
    stems = [page.name.removesuffix('.html') for page in pages if not page.is_reference]
    rest = [stem for stem in stems if stem not in GUIDE + PROJECT + ['index', 'examples']
            and not stem.endswith('-example')]

    def entries(names):
        return [(name, titles[name]) for name in names if name in titles]
    yield 'Guide', [('index.html', 'Overview')] + entries(f'{stem}.html' for stem in GUIDE + rest + ['examples'])
    yield 'Project', entries(f'{stem}.html' for stem in PROJECT)
    yield 'Reference', entries(['rdmaez_8h.html'])
    for level, headers in levels().items():
        yield level, entries(address(header) for header in headers)


def list_of_pages(page, parts):
    """The navigation as it stands on one page, whose place in it is marked. Levels of the reference fold."""
    here = address(page.header) if page.header else page.name
    here = 'examples.html' if here.endswith('-example.html') else here
    for title, entries in parts:
        links = ''.join(f'<a href="{name}"{" aria-current=page" if name == here else ""}>{html.escape(words)}</a>\n'
                        for name, words in entries)
        if title in ('Guide', 'Project', 'Reference'):
            yield f'<b>{title}</b>\n{links}'
        else:
            opened = ' open' if any(name == here for name, _ in entries) else ''
            yield f'<details{opened}><summary>{html.escape(title)}</summary>\n{links}</details>\n'


def neighbours(page, guide):
    """The pages before and after one of the guide, below its text."""
    names = [name for name, _ in guide]
    if page.name not in names:
        return
    at = names.index(page.name)
    before = ''.join(f'<a rel="prev" href="{name}">&larr; {html.escape(title)}</a>'
                     for name, title in guide[max(0, at - 1):at])
    after = ''.join(f'<a rel="next" href="{name}">{html.escape(title)} &rarr;</a>'
                    for name, title in guide[at + 1:at + 2])
    page.text = page.text.replace('</main>', f'<nav class="neighbours">{before}{after}</nav>\n</main>', 1)


def list_of_examples(pages):
    """The examples, each with what it says of itself."""
    about = {page.name: re.search(r'<p>(.*?)</p>', page.text, re.S)[1] for page in pages
             if page.name.endswith('-example.html')}
    for page in pages:
        if page.name == 'examples.html':
            page.sub(r'<div class="textblock">Here is.*?</div><ul>(.*?)</ul>', r'<table class="overview">\1</table>')
            page.sub(r'<li>(<a class="el" href="([^"]*)">.*?</a>)</li>',
                     lambda m: f'<tr><td>{m[1]}</td><td>{about[m[2]]}</td></tr>')


def contents(page):
    """What is on the page, beside it on a wide screen."""
    found = re.findall(r'<h([23]) id="([^"]*)">([^\n]*?) <a class="self"|<section class="member" id="(\w+)">',
                       page.text)
    if page.is_reference:
        items = [(3, name, name) for *_, name in found if name]
    else:
        items = [(int(level), anchor, plain(words)) for level, anchor, words, _ in found if anchor]
    if len(items) < 3:
        return
    links = ''.join(f'<li class="h{level}"><a href="#{anchor}">{html.escape(words)}</a></li>\n'
                    for level, anchor, words in items)
    kind = 'toc names' if page.is_reference else 'toc'
    aside = f'<aside class="{kind}" aria-label="On this page"><b>On this page</b>\n<ul>{links}</ul></aside>\n'
    page.text = page.text.replace('<main id="main">', f'{aside}<main id="main">', 1)


def options(pages):
    """A struct of options says where its defaults are: a table of the page about options."""
    heading, places = '', {}
    for page in pages:
        if page.name == 'options.html':
            found = re.findall(r'<h2 id="([^"]*)">(.*?) <a class="self"', page.text)
            slugs = {plain(words): slug for slug, words in found}
            for line in (ROOT / 'docs/options.md').read_text(encoding='utf-8').splitlines():
                heading = slugs.get(line.removeprefix('## '), heading)
                if table := re.match(r'<!-- table of options of (\w+) -->', line):
                    places[f'struct {table[1]}'] = f'options.html#{heading}'
    for page in pages:
        if page.title in places:
            page.sub(r'(?=<table class="fields">)', '<p>Defaults, and which calls use what: '
                     f'<a href="{places[page.title]}">Options</a>.</p>\n')


def files(pages, directory):
    """Copies the files of the repository to which pages link, as text."""
    for page in pages:
        for name in re.findall(r'href="files/([^"]*)\.txt"', page.text):
            copy = directory / 'files' / f'{name}.txt'
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy)


def main():
    directory = pathlib.Path(sys.argv[1])
    for pattern in UNUSED:
        for path in directory.glob(pattern):
            path.unlink()
    pages = [Page(path) for path in sorted(directory.glob('*.html'))]
    includes = {address(header): header for headers in levels().values() for header in headers}
    for page in pages:
        frame(page)
        headings(page)
        if page.is_reference:
            members.convert(page)
            include_line(page, includes)
        else:
            rows(page)
    list_of_examples(pages)
    options(pages)
    readable_anchors(pages)
    code_links(pages)
    parts = list(navigation(pages))
    for page in pages:
        code_in_links(page)
        short_code(page)
        side_by_side(page)
        contents(page)
        neighbours(page, parts[0][1])
        page.text = page.text.replace('<!-- navigation -->', ''.join(list_of_pages(page, parts)))
        page.path.write_text(page.text, encoding='utf-8')
    files(pages, directory)


if __name__ == '__main__':
    main()
