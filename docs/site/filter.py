#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""filter.py PAGE.md: prints a page, which is plain Markdown, the way doxygen 1.9.4 has to read it.

doxygen calls this for each page (FILTER_PATTERNS). A heading gets an id made of its words, as a forge makes it. A link
to a page or its heading becomes a reference, so that doxygen warns of one that leads nowhere. Graphs, and diagrams that
diagrams.py made, are drawn into the page. Other comments, such as the marks of generated regions, vanish."""
import html
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / 'build/docs/html'

FENCE = re.compile(r'\s*(```|~~~)')
HEADING = re.compile(r'(#+) +(.*?) *$')
IMAGE = re.compile(r'!\[([^][]*)\]\(([^()\s]+)\)$')
LINK = re.compile(r'\]\(([^()\s]+)\)')
BROKEN_LINK = re.compile(r'\[([^][\n]*)\n *([^][\n]*\]\([^()\s]+\))')
DATA = re.compile(r'(?<!\[)`([\w.]+\.json)`')


def slug(heading, seen):
    """The id that a forge gives a heading; the second of two alike ends in -1."""
    text = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading).lower()
    text = re.sub(r'[^\w\- ]', '', text).replace(' ', '-')
    seen[text] = seen.get(text, -1) + 1
    return f'{text}-{seen[text]}' if seen[text] else text


def page_id(path):
    """What doxygen calls a page: its file's name. The README is the front page."""
    return 'index' if path == ROOT / 'README.md' else path.stem


def target(address, page):
    """Where a link leads on the site. What is no page of it gets a reference that doxygen will not find."""
    if re.match(r'[a-z]+:', address):
        return address
    name, _, heading = address.partition('#')
    path = pathlib.Path(os.path.normpath(page.parent / name)) if name else page
    inside = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    if path.suffix == '.md' and path.is_file():
        return f'@ref {page_id(path)}' + (f'-{heading}' if heading else '')
    if path == ROOT / 'examples':
        return 'examples.html'
    if path.parent == ROOT / 'examples' and path.suffix in ('.c', '.cc') and path.is_file():
        return path.name.replace('.', '_8') + '-example.html'
    if path.is_relative_to(ROOT / 'include') and path.is_file() and 'impl' not in inside.parts:
        return f'@ref {path.relative_to(ROOT / "include")}'
    if (BUILT / name).is_file():
        return address
    if path.is_file():
        return f'files/{inside}.txt'
    return f'@ref {address}'


def bold(line):
    """`**` as HTML, for doxygen does not see it beside `code`."""
    parts = re.split(r'(`[^`]*`)|\*\*', line)
    if parts[1::2].count(None) % 2:
        return line
    tags, out = ['<b>', '</b>'], parts[0]
    for code, text in zip(parts[1::2], parts[2::2]):
        out += code or tags[0]
        tags = tags if code else tags[::-1]
        out += text
    return out


def links(line, page):
    """A line with its links turned to the site. A table of data is named by its file, which only the site has."""
    line = LINK.sub(lambda m: f']({target(m[1], page)})', line)
    return DATA.sub(lambda m: f'[{m[1]}](data/{m[1]})' if (BUILT / 'data' / m[1]).is_file() else m[0], line)


def code(line):
    """Code that doxygen would not take for code: it ends at a quote, hides a comment, and looks for names after `::`."""
    def span(match):
        text = match[1]
        if text.startswith('::') or '<!--' in text:
            text = re.sub(r'(::|--)', r'\\\1', html.escape(text, quote=False))
            return f'<code>{text}</code>'
        return f'``{text}``' if "'" in text else match[0]
    return re.sub(r'`([^`]+)`', span, line)


def drawing(source):
    """A graph drawn into the page itself: it takes the page's colours, and scrolls in its own figure."""
    svg = subprocess.run(['dot', '-Tsvg', '-Gbgcolor=transparent', '-Nfontname=Courier', '-Efontname=Courier'],
                         input=source, text=True, check=True, capture_output=True).stdout
    return figure(svg, 'A drawing; the text around it says the same in words')


def figure(svg, label):
    """dot's SVG for setting inline: without what would repeat within a page, or bar the style sheet's fonts."""
    svg = re.sub(r'<!--.*?-->\n?|<title>.*?</title>\n?', '', svg[svg.index('<svg'):], flags=re.S)
    svg = re.sub(r' (id|xmlns:xlink|font-family)="[^"]*"', '', svg)
    svg = re.sub(r'width="(\d+)pt" height="(\d+)pt"',
                 lambda m: f'width="{int(m[1]) * 4 // 3}" height="{int(m[2]) * 4 // 3}" '
                           f'role="img" aria-label="{label}"', svg, count=1)
    return f'<figure class="diagram">{svg}</figure>\n'


def picture(label, path):
    """A picture on a line of its own. Doxyfile's HTML_EXTRA_FILES puts it beside the pages; one that is not there ends
    in a reference that doxygen does not find."""
    if not path.is_file():
        return f'@ref {path.name}'
    return (f'@htmlonly[block]\n<figure class="picture"><img src="{path.name}" alt="{html.escape(label)}"></figure>\n'
            '@endhtmlonly')


def convert(text, page):
    """The lines of a page, as doxygen is to read them."""
    fence, graph, comment, seen = None, None, False, {}
    # doxygen's references end with their line.
    for line in BROKEN_LINK.sub(r'[\1 \2', text).splitlines():
        mark = FENCE.match(line)
        if comment:
            comment = '-->' not in line
        elif graph is not None:
            if line == '```':
                yield f'@htmlonly[block]\n{drawing(graph)}@endhtmlonly'
                graph = None
            else:
                graph += line + '\n'
        elif fence:
            fence = None if mark and mark[1] == fence else fence
            yield line
        elif line == '```dot':
            graph = ''
        elif mark:
            fence = mark[1]
            yield line
        elif re.match(r'<!-- diagram of \w+ -->$', line):
            yield f'@htmlinclude[block] {line.split()[3]}.svg'
        elif image := IMAGE.match(line):
            yield picture(image[1], page.parent / image[2])
        elif line.startswith('<!--'):
            comment = '-->' not in line
        elif line.startswith('    '):
            yield line
        elif heading := HEADING.match(line):
            ident = f'{page_id(page)}-{slug(heading[2], seen)}'
            if heading[1] == '#':
                ident = 'mainpage' if page_id(page) == 'index' else page_id(page)
            yield f'{heading[1]} {heading[2]} {{#{ident}}}'
        else:
            yield links(bold(code(line)), page)


def main():
    page = pathlib.Path(os.path.abspath(sys.argv[1]))
    try:
        print('\n'.join(convert(page.read_text(encoding='utf-8'), page)))
    except (OSError, UnicodeError, subprocess.CalledProcessError) as error:
        print('@ref what-the-filter-failed-at')     # doxygen does not look at how a filter ends, but minds this
        sys.exit(f'{page}: {error}')


if __name__ == '__main__':
    main()
