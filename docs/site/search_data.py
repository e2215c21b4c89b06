#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""search_data.py HTML_DIR: prints search-data.js, every section of every page as a text with its address.

Reads what finish.py wrote. A section starts at a heading, a member, or a table's row with an id; text before the first
one belongs to the page itself. Members of a section: u address, t title, p page, k kind, x text."""
import html.parser
import json
import pathlib
import re
import sys

HEADINGS = {'h1', 'h2', 'h3', 'h4'}
VOID = {'area', 'base', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'wbr'}
INLINE = {'a', 'b', 'code', 'em', 'i', 'span', 'strong', 'tt'}
SILENT = {'nav', 'script', 'style', 'svg'}
SILENT_CLASSES = {'self', 'include', 'overview'}


class Section:
    """What one address has."""

    def __init__(self, anchor='', around=()):
        self.anchor, self.title, self.text, self.around = anchor, [], [], around    # around: the heading above a row


class Sections(html.parser.HTMLParser):
    """The sections within <main>."""

    def __init__(self, silent_classes):
        super().__init__()
        self.silent_classes = silent_classes
        self.open, self.silent = [], 0              # tags that are open; how many of them say nothing
        self.inside, self.heading, self.title_cell = False, False, False
        self.outer, self.anchor = None, ''          # the section around a row; the id of a member
        self.current = Section()
        self.found = [self.current]

    def begin(self, anchor, around=()):
        self.current = Section(anchor, around)
        self.found.append(self.current)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        silent = tag in SILENT or given.get('class') in self.silent_classes
        if tag not in INLINE:
            self.handle_data(' ')
        if tag in VOID:
            return
        self.open.append((tag, silent))
        self.silent += silent
        if tag == 'main':
            self.inside = True
        if tag == 'section':
            self.anchor = given.get('id', '')
        elif tag in HEADINGS and self.inside:
            self.heading = True
            if tag != 'h1':
                self.begin(given.get('id') or self.anchor)
                self.anchor = ''
        elif tag == 'tr' and given.get('id'):
            self.outer = self.current
            self.begin(given['id'], self.outer.title)
            self.title_cell = True

    def handle_endtag(self, tag):
        if tag in VOID or tag not in [name for name, _ in self.open]:
            return
        while self.open:
            name, silent = self.open.pop()
            self.silent -= silent
            if name == tag:
                break
        if tag in HEADINGS:
            self.heading = False
        elif tag == 'td':
            self.title_cell = False
        elif tag == 'tr' and self.outer:
            self.current, self.outer = self.outer, None
        elif tag == 'main':
            self.inside = False

    def handle_data(self, data):
        if self.inside and not self.silent:
            (self.current.title if self.heading or self.title_cell else self.current.text).append(data)


def clean(parts):
    return re.sub(r'\s+', ' ', ''.join(parts)).strip()


def sections(path):
    """The sections of one page, as the search has them."""
    example = path.stem.endswith(('_8c-example', '_8cc-example')) # found by what it shows, not by each of its lines
    parser = Sections(SILENT_CLASSES | {'fragment'} if example else SILENT_CLASSES)
    parser.feed(path.read_text(encoding='utf-8'))
    page = clean(parser.found[0].title)
    kind = 'reference' if re.search(r'_8h$|_8cc?-example$|^(struct|union)', path.stem) else 'page'
    for section in parser.found:
        title, text = clean(section.title), clean(section.text)
        if title or text:
            around = clean(section.around)
            place = f'{page}: {around}' if around and around != page else page
            yield {'u': path.name + ('#' + section.anchor if section.anchor else ''), 't': title or page, 'p': place,
                   'k': {'page': 'row', 'reference': 'member'}[kind] if around else kind, 'x': text}


def main():
    found = [section for path in sorted(pathlib.Path(sys.argv[1]).glob('*.html')) for section in sections(path)]
    print('window.searchData = [')
    for section in found:
        print(json.dumps(section, ensure_ascii=False, separators=(',', ':')) + ',')
    print('];')


if __name__ == '__main__':
    main()
