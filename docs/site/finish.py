#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""finish.py HTML_DIR: makes the site of what doxygen wrote, in place.

Adds what doxygen 1.9.4 has no words for: the list of pages, the contents of each, anchors that are names instead of
hashes, fields and enumerators as tables, prototypes as C, links from `names` in the text. Takes out what the site does
not use. Whatever doxygen changes in its output is to be met here; tests/site looks at the result."""
import html
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The pages in the order of reading. A page that is not named here comes last in its part.
GUIDE = ('start connecting queue_pairs why explanations completions roce device_memory capabilities options programs '
         'testing including cplusplus migrating verified data').split()
PROJECT = ['design', 'CONTRIBUTING', 'SECURITY', 'CHANGELOG']
EXAMPLES = r'<dl class="section examples">.*?</dl>\n'
LEVEL_OF_DEVEL = 'For development'

# Lists that the site's own navigation and search replace, and what only doxygen's own look needs.
UNUSED = ('functions*.html globals*.html annotated.html classes.html files.html pages.html graph_legend.* dir_*.html '
          '*_8dox.html *.png doxygen.* tabs.css jquery.js dynsections.js nav_*.css menu*.js clipboard.js cookie.js '
          '*.map *.md5 *_8h__*.svg').split()


def plain(fragment):
    """The text of a piece of HTML."""
    return re.sub(r'\s+', ' ', html.unescape(re.sub(r'<[^>]*>', '', fragment))).strip()


def levels():
    """The public headers by the levels of rdmaez.h: a comment opens one."""
    found, current = {}, None
    for line in (ROOT / 'include/rdmaez.h').read_text(encoding='utf-8').splitlines():
        if title := re.match(r'/\* (.*) \*/$', line):
            current = title[1]
        elif header := re.match(r'#include "(rdmaez/.*)"$', line):
            found.setdefault(current, []).append(header[1])
    devel = sorted((ROOT / 'include/rdmaez/devel').glob('*.h'))
    return found | {LEVEL_OF_DEVEL: [f'rdmaez/devel/{path.name}' for path in devel]}


def address(header):
    """doxygen's name for the page of a header."""
    return pathlib.PurePath(header).name.replace('_', '__').replace('.h', '_8h.html')


class Page:
    """One HTML file, and what the others need to know about it."""

    def __init__(self, path):
        self.path, self.name, self.text = path, path.name, path.read_text(encoding='utf-8')
        self.anchors = {}       # doxygen's hash: the name that takes its place
        title = plain(re.search(r'<div class="title">(.*?)</div>', self.text, re.S)[1])
        self.title = re.sub(r'(.*) (Struct|Union) Reference$', lambda m: f'{m[2].lower()} {m[1]}', title)
        self.title = re.sub(r' File Reference$', '', self.title)
        self.header = None      # of a struct: the header that declares it
        if self.name.startswith(('struct', 'union')):
            self.header = plain(re.search(r'generated from the following file:<ul>\s*<li>(.*?)</li>', self.text, re.S)[1])

    @property
    def is_reference(self):
        return bool(self.header or self.name.endswith('_8h.html'))

    def sub(self, pattern, new, flags=re.S):
        self.text = re.sub(pattern, new, self.text, flags=flags)


# --- Frame ----------------------------------------------------------------------------------------


def frame(page):
    """Leaves of doxygen's frame only the title, as a heading; no paths of the machine that built it."""
    page.sub(r'<div id="top">.*?</div><!-- top -->\n', '')
    page.sub(r'<div class="ttc".*?</div></div>\n', '')
    page.sub(r'<hr/>The documentation for this (struct|union) was generated.*?</ul>\n', '')
    page.sub(r'<a class="anchor" id="md_[^"]*"></a> ?', '')
    page.sub(r'<a name="details" id="details"></a><h2 class="groupheader">Detailed Description</h2>\n', '')
    page.sub(r'<p >', '<p>')
    page.sub(r'<div class="header">.*?<div class="title">.*?</div></div>\n</div>',
             f'<h1>{html.escape(page.title)}</h1>')
    page.sub(r'<!--(?! navigation).*?-->', '')
    page.sub(r'<title>.*?</title>', f'<title>{html.escape(page.title)}{"" if page.title == "rdmaez" else " - rdmaez"}</title>')


def headings(page):
    """A heading carries its own id, the forge's; the highest below the title is an h2."""
    found = re.findall(r'<h([1-6])><a class="anchor"', page.text)
    up = 2 - min(map(int, found)) if found else 0
    prefix = page.name.removesuffix('.html') + '-'

    def heading(match):
        level, anchor, words = int(match[1]) + up, match[2], match[3].strip()
        page.anchors[anchor] = anchor.removeprefix(prefix)
        return f'<h{level} id="{page.anchors[anchor]}">{words}{link_to(page.anchors[anchor])}</h{level}>'
    page.sub(r'<h([1-6])><a class="anchor" id="([^"]*)"></a>\s*(.*?)</h\1>', heading)


def link_to(anchor):
    """What shows beside a heading when the pointer is over it."""
    return f' <a class="self" href="#{anchor}" aria-label="Address of this section">#</a>'


# --- Reference ------------------------------------------------------------------------------------


def prototype(table):
    """A declaration as C has it: in one line, or a parameter a line."""
    cells = [re.sub(r'\s+', ' ', re.sub(r'</?em>', '', cell).replace('&#160;', ' ')).strip()
             for cell in re.findall(r'<td[^>]*>(.*?)</td>', table, re.S)]
    text = re.sub(r'\* (?=\w)', '*', ' '.join(cell for cell in cells if cell))
    text = re.sub(r' (?=[^ ]*RDMAEZ_IMPL_).*', '', text) if text.startswith('#define') else text   # not for readers
    text = re.sub(r' ?\( ?', '(', text, count=1)
    text = re.sub(r' ?\) ?$', ')', text).replace(' ,', ',')
    if len(plain(text)) > 90 and '(' in text:
        head, _, arguments = text.partition('(')
        text = f'{head}(\n    ' + re.sub(r', (?![^<]*>)', ',\n    ', arguments)
    return text


def members(page):
    """Functions, macros and types: a heading with the name as its anchor, the declaration, the text."""
    functions = set(re.findall(r'</span>(\w+)\(\)</h2>', page.text))
    inner = inner_names(page)

    def member(match):
        anchor, name = match[1], re.sub(r'\s?\[\d+/\d+\]$', '', plain(match[2]))
        known = inner.get(anchor) or name.removesuffix('()')
        known = f'enum-{known}' if known == name and name in functions else known
        page.anchors[anchor] = known
        return (f'<section class="member" id="{known}">\n<h3>{name}{link_to(known)}</h3>\n'
                f'<pre class="declaration">{prototype(match[3])}</pre>\n{match[4].strip()}\n</section>\n')
    page.sub(r'<a id="(\w+)" name="\1"></a>\n<h2 class="memtitle"><span class="permalink">.*?</span>(.*?)</h2>\n\s*'
             r'<div class="memitem">\n<div class="memproto">(.*?)</div><div class="memdoc">(.*?)\n</div>\n</div>\n', member)
    page.sub(r'<h2 class="groupheader">(\w+)[^<]* Documentation</h2>', lambda m: f'<h2 id="{m[1].lower()}">{plural(m[1])}</h2>')


def plural(kind):
    """The heading of a part of a reference page."""
    return {'Macro': 'Macros', 'Function': 'Functions', 'Enumeration': 'Enumerations', 'Field': 'Fields',
            'Typedef': 'Types', 'Variable': 'Variables'}[kind]


def inner_names(page):
    """Structs within a struct, and their fields: the full name for the anchor of each."""
    rows = re.findall(r'<tr class="memitem:(\w+)"><td class="memItemLeft"[^>]*>(.*?)</td>'
                      r'(?:<td class="memItemRight"[^>]*>(.*?)</td>)?</tr>', page.text)
    found = {anchor: plain(right) for anchor, left, right in rows if left.startswith('}')}
    inside = []
    for anchor, left, right in rows:
        if left.endswith('{'):
            inside.append(found[anchor])
        elif left.startswith('}'):
            inside.pop()
        elif inside:
            link = re.search(r'#(\w+)">(\w+)<', left + right)
            found[link[1]] = '.'.join(inside + [link[2]])
    return found


def fields(page):
    """The fields of a struct as one table, instead of a box for each."""
    if not page.header:
        return
    rows = {}
    for name, declaration, text in re.findall(r'<section class="member" id="([\w.]+)">.*?<pre class="declaration">(.*?)</pre>'
                                              r'(.*?)</section>', page.text, re.S):
        kind = c_type(html.escape(plain(declaration)), page.title.split(' ')[-1], name.rpartition('.')[2])
        text = re.sub(EXAMPLES, '', text.strip(), flags=re.S)
        row = f'<tr id="{name}"><td><code>{name}</code></td><td><code>{kind}</code></td><td>{text}</td></tr>\n'
        inner = {path: rows.pop(path) for path in list(rows) if path.startswith(f'{name}.')}
        rows |= {name: row.replace('struct { ... }', 'struct')} | inner
    if len(rows) != page.text.count('<section class="member"'):
        sys.exit(f'{page.path}: two fields have one name')
    shown_by = re.search(EXAMPLES, page.text.partition('<h2 id="field">')[0], re.S)
    page.sub(r'<table class="memberdecls">.*?</table>\n?', '')
    page.sub(r'<h2 id="field">Fields</h2>.*</section>\n',
             lambda _: '<table class="fields"><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead>\n'
             f'<tbody>{"".join(rows.values())}</tbody></table>\n' + (shown_by[0] if shown_by else ''))
    if shown_by:
        page.text = page.text.replace(shown_by[0], '', 1)


def c_type(declaration, owner, name):
    """`int rdmaez_path::x[2]`: the type without the name."""
    return re.sub(r'\*$', ' *', re.sub(rf'\s*{owner}::{name}', '', declaration)).strip()


def enumerators(page):
    """Enumerators with names for anchors."""
    def enumerator(match):
        page.anchors[match[1]] = match[2]
        return f'<tr id="{match[2]}"><td class="fieldname"><code>{match[2]}</code></td>'
    page.sub(r'<tr><td class="fieldname"><a id="(\w+)" name="\1"></a>(\w+)&#160;</td>', enumerator)
    page.sub(r'<tr><th colspan="2">Enumerator</th></tr>', '')


def overview(page):
    """What a header has, by name with a sentence each, in place of doxygen's lists of declarations."""
    lists = list(re.finditer(r'<table class="memberdecls">\n<tr class="heading">.*?</a>\n(.*?)</h2></td></tr>(.*?)</table>',
                             page.text, re.S))
    if not lists:
        return
    rows = ''
    for title, declarations in (match.groups() for match in lists):
        found = re.findall(r'<tr class="memitem:(\w*)">.*?<td class="memItemRight"[^>]*>(.*?)</td></tr>\n'
                           r'(?:<tr class="memdesc:\1">.*?<td class="mdescRight">(.*?)</td></tr>\n)?'
                           r'|<div class="groupHeader">(.*?)</div>|<div class="groupText">(.*?)</div></td></tr>',
                           declarations, re.S)
        rows += f'<tr><th colspan="2">{title.strip().replace("Data Structures", "Structs")}</th></tr>\n'
        rows += ''.join(overview_row(page, row) for row in found)
    page.text = (page.text[:lists[0].start()] + '<h2 id="overview">Overview</h2>\n<table class="overview"><tbody>\n' + rows +
                 '</tbody></table>' + page.text[lists[-1].end():])


def overview_row(page, row):
    """One member, or the heading or text of a group of them."""
    _, right, brief, group, text = row
    if group:
        return f'<tr><td colspan="2"><b>{group}</b></td></tr>\n'
    if text:
        return f'<tr><td colspan="2">{text}</td></tr>\n'
    name = re.search(r'<a class="el" href="[^"]*">(.*?)</a>', right)
    brief = re.sub(r'\s*<a href="[^"]*">More...</a>|<br />', '', brief)
    if name and not brief and (first := re.search(rf'id="{name[1]}">.*?<p>(.*?)</p>', page.text, re.S)):
        brief = first[1]
    return f'<tr><td>{name[0] if name else right}</td><td>{brief.strip()}</td></tr>\n'


def include_line(page, includes):
    """What to include, below the title of a header or a struct."""
    header = page.header or includes.get(page.name)
    if header and header != 'rdmaez.h':
        link = f' &ndash; declared in <a href="{address(header)}">{pathlib.PurePath(header).name}</a>' if page.header else ''
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


def short_code(page):
    """`qp->state` is not to be broken after its hyphen, as a browser would at the end of a line."""
    def code(match):
        return match[0] if len(plain(match[1])) > 32 else f'<code class="short">{match[1]}</code>'
    page.sub(r'<code>([^<]*(?:<a [^>]*>[^<]*</a>[^<]*)*)</code>', code)


def code_links(pages):
    """`RDMAEZ_ZERO` in the text leads to what it names."""
    names = {name: f'{page.name}#{name}' for page in pages if page.name.endswith('_8h.html')
             for name in page.anchors.values()}
    names |= {page.title.split(' ')[1]: page.name for page in pages if page.header}
    for page in pages:
        def link(match):
            name = re.sub(r'^(?:struct|enum|union) |\(\)$', '', match[1])
            place = names.get(name)
            if not place or place.partition('#')[0] == page.name and not place.partition('#')[2]:
                return match[0]
            return f'<code><a href="{place}">{match[1]}</a></code>'
        parts = re.split(r'(<pre.*?</pre>|<a .*?</a>|<h[1-6].*?</h[1-6]>|<div class="fragment">.*?</div>\n?</div>'
                         r'|<tr id="\w+"><td.*?</td>)', page.text, flags=re.S)
        for i in range(0, len(parts), 2):
            parts[i] = re.sub(r'<code>((?:(?:struct|enum|union) )?(?:rdmaez|RDMAEZ)_\w+(?:\(\))?)</code>', link, parts[i])
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
    for level, headers in levels().items():
        yield level, entries(address(header) for header in headers)


def list_of_pages(page, parts):
    """The navigation as it stands on one page, whose place in it is marked. Levels of the reference fold."""
    here = address(page.header) if page.header else page.name
    here = 'examples.html' if here.endswith('-example.html') else here
    levelled = False
    for title, entries in parts:
        links = ''.join(f'<a href="{name}"{" aria-current=page" if name == here else ""}>{html.escape(words)}</a>\n'
                        for name, words in entries)
        if title in ('Guide', 'Project'):
            yield f'<b>{title}</b>\n{links}'
            continue
        yield '' if levelled else '<b>Reference</b>\n'
        levelled = True
        opened = ' open' if any(name == here for name, _ in entries) else ''
        yield f'<details{opened}><summary>{html.escape(title)}</summary>\n{links}</details>\n'


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
    page.text = page.text.replace('<main id="main">', f'<aside class="{kind}" aria-label="On this page"><b>On this page</b>\n'
                                  f'<ul>{links}</ul></aside>\n<main id="main">', 1)


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
            members(page)
            fields(page)
            enumerators(page)
            overview(page)
            include_line(page, includes)
    list_of_examples(pages)
    readable_anchors(pages)
    code_links(pages)
    parts = list(navigation(pages))
    for page in pages:
        short_code(page)
        side_by_side(page)
        contents(page)
        page.text = page.text.replace('<!-- navigation -->', ''.join(list_of_pages(page, parts)))
        page.path.write_text(page.text, encoding='utf-8')
    files(pages, directory)


if __name__ == '__main__':
    main()
