# SPDX-License-Identifier: MIT
"""A page as doxygen wrote it, on its way to the site: what finish.py and members.py work on."""
import html
import pathlib
import re


def plain(fragment):
    """The text of a piece of HTML."""
    return re.sub(r'\s+', ' ', html.unescape(re.sub(r'<[^>]*>', '', fragment))).strip()


def address(header):
    """doxygen's name for the page of a header."""
    return pathlib.PurePath(header).name.replace('_', '__').replace('.h', '_8h.html')


def link_to(anchor):
    """What shows beside a heading when the pointer is over it."""
    return f' <a class="self" href="#{anchor}" aria-label="Address of this section">#</a>'


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
            self.header = plain(re.search(r'from the following file:<ul>\s*<li>(.*?)</li>', self.text, re.S)[1])

    @property
    def is_reference(self):
        """Whether it is about a header or a struct."""
        return bool(self.header or self.name.endswith('_8h.html'))

    def sub(self, pattern, new, flags=re.S):
        """Replaces what a regular expression matches."""
        self.text = re.sub(pattern, new, self.text, flags=flags)
