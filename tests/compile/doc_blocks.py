# SPDX-License-Identifier: MIT
"""doc_blocks.py FILE DIR: the code of a page or a header, as files to be compiled.

Each ``` block of a page, and each @code block of a header, becomes DIR/KIND/LINE.SUFFIX, of one of these kinds:

    c        C that is valid C++ as well
    c-only   C after a line `<!-- C only -->`, which a forge does not show
    cpp      C++
    sh, python

C and C++ without an #include of their own are what a reader pastes below <rdmaez.h> and the headers of standard C:
they include <pasted.h>, which the caller provides.
Compilers and interpreters speak of the lines of FILE. Refused are blocks without a language, or of one that is
tested nowhere; blocks without an end; and indented code, of which nobody can tell the language.
"""
import argparse
import pathlib
import re
import sys

# Those that other tests look at, or that are no code: kept as they are.
ELSEWHERE = {'cmake', 'dot', 'make', 'meson', 'text'}
SUFFIXES = {'c': 'c', 'c-only': 'c', 'cpp': 'cpp', 'sh': 'sh', 'python': 'py'}
PRELUDE = '#include <pasted.h>\n'
INDENTED = '%d: indented code; mark where it begins and ends, and name its language'


class Refused(Exception):
    """What is wrong, after the line's number."""


def language_of(fence, c_only):
    """The kind of a page's block, from what follows the backquotes; None where there is nothing to do."""
    if fence == 'c' and c_only:
        return 'c-only'
    if fence in SUFFIXES and fence != 'c-only':
        return fence
    if fence in ELSEWHERE:
        return None
    raise Refused(f'no test knows the language "{fence}"')


def page_blocks(lines):
    """(number of the first line, kind, text) of each fenced block of a page."""
    start = kind = None
    text, c_only, blank, listed = [], False, True, False
    for number, line in enumerate(lines, 1):
        if start and re.match(r' *```$', line):
            yield start, kind, text
            start = None
        elif start:
            text.append(line)
        elif fence := re.match(r' *```(.*)$', line):
            try:
                start, kind, text = number + 1, language_of(fence[1], c_only), []
            except Refused as refused:
                raise Refused(f'{number}: {refused}') from None
        elif blank and not listed and re.match(r'(\t|    )\s*\S', line):
            raise Refused(INDENTED % number)
        else:
            listed = bool(re.match(r'\s*([-*+]|\d+\.) ', line)) or (listed and (not line or line[0] == ' '))
            c_only = line == '<!-- C only -->'
        blank = not line
    if start:
        raise Refused(f'{start}: a block without an end')


def header_blocks(lines):
    """The same of the @code blocks of a header."""
    start = kind = None
    text, above = [], ''
    for number, line in enumerate(lines, 1):
        indented, above = re.match(r'\s*\* {5,}\S', line) and above.strip() == '*', line
        line = re.sub(r'^\s*\* ?', '', line)
        if code := re.match(r'@code(?:\{\.(\w+)\})?$', line):
            start, kind, text = number + 1, language_of(code[1] or 'c', False), []
        elif start and line == '@endcode':
            yield start, kind, text
            start = None
        elif start:
            text.append(line)
        elif indented:
            raise Refused(INDENTED % number)
    if start:
        raise Refused(f'{start}: a block without an end')


def source(path, start, kind, text):
    """What is compiled of a block: as long a file as the page up to there, or a file that names its lines."""
    body = '\n'.join(text) + '\n'
    if kind not in ('c', 'c-only', 'cpp'):
        return '\n' * (start - 1) + body
    marked = f'#line {start} "{path}"\n{body}'
    return marked if re.search(r'^\s*#\s*include', body, re.M) else PRELUDE + marked


def main():
    """Writes the files, or says what is refused."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('file', type=pathlib.Path)
    parser.add_argument('dir', type=pathlib.Path)
    args = parser.parse_args()
    lines = args.file.read_text(encoding='utf-8').split('\n')
    try:
        for start, kind, text in (header_blocks if args.file.suffix == '.h' else page_blocks)(lines):
            if kind:
                target = args.dir / kind / f'{start}.{SUFFIXES[kind]}'
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(source(args.file, start, kind, text), encoding='utf-8')
    except Refused as refused:
        sys.exit(f'{args.file}:{refused}')


if __name__ == '__main__':
    main()
