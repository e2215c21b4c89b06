#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples.py FILE.c...: prints a doxygen comment for each example, so that the site has a page with its source.

The page says what the comment at the head of the file says."""
import pathlib
import re
import sys


def head(source):
    """The first comment after the licence: its paragraphs in prose, and what is laid out as it stands."""
    comment = re.search(r'\n/\*\n(.*?)\n \*/', source, re.S)
    lines = comment[1].split('\n') if comment else []
    text, _, rest = '\n'.join(re.sub(r'^ \* ?', '', line).expandtabs() for line in lines).partition('\n\n')
    return text, rest


def main():
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        text, rest = head(path.read_text(encoding='utf-8'))
        print(f'/**\n@example {path.name}\n{text}\n')
        if rest:
            print(f'@verbatim\n{rest}\n@endverbatim')
        print('*/')


if __name__ == '__main__':
    main()
