#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""links.py HTML_DIR: says which links, anchors and sources of a site's pages lead nowhere, and which ids
repeat or are left to doxygen."""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The ids of a page, and what it points to."""

    def __init__(self, path):
        super().__init__()
        self.name, self.ids, self.links = path.name, [], []
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if given.get('id'):
            self.ids.append(given['id'])
        elif tag == 'a' and given.get('name'):
            self.ids.append(given['name'])
        self.links += [given[name] or '' for name in ('href', 'src') if name in given]


def wrong(page, pages, directory):
    """What is wrong with the links of one page."""
    for link in sorted(set(page.links)):
        if link.startswith(('https://', 'data:')):
            continue
        if ':' in link.partition('#')[0] or link.startswith('/'):
            yield f'leads out of the site: {link}'
            continue
        name, _, anchor = map(urllib.parse.unquote, link.partition('#'))
        if not (directory / name if name else directory / page.name).is_file():
            yield f'there is no {link}'
        elif anchor and (target := pages.get(name or page.name)) and anchor not in target.ids:
            yield f'there is no anchor {link}'
    for repeated in sorted({name for name in page.ids if page.ids.count(name) > 1}):
        yield f'the id {repeated} repeats'
    if any(name.startswith('autotoc') for name in page.ids):
        yield 'a heading has no id of its own, or is none'


def main():
    directory = pathlib.Path(sys.argv[1])
    pages = {path.name: Page(path) for path in sorted(directory.glob('*.html'))}
    found = [f'{page.name}: {what}' for page in pages.values() for what in wrong(page, pages, directory)]
    print('\n'.join(found[:30]) or f'{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links')
    sys.exit(bool(found) or len(pages) < 30)


if __name__ == '__main__':
    main()
