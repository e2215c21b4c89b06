#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the generated regions of Markdown pages.

A region begins and ends with a comment on a line of its own:

    <!-- table of NAME -->                   what `build/docs/data --table NAME` prints
    <!-- table of options of STRUCT -->      what the headers say of the members of a struct; see options.py
    <!-- table of certified -->              the files of docs/verified, a row for each; see certified.py
    <!-- output of NAME -->                  what `build/docs/outputs NAME` prints
    <!-- code of FILE -->                    a source file, without its licence line and head comment
    <!-- output on softroce of COMMAND -->   what `tools/softroce COMMAND` prints; left alone without --device
    <!-- record of FILE -->                  what a test wrote to build/programs; left alone without --programs
    <!-- end -->

Comments within a fenced block are not regions. `make pages` runs this over all pages; a test runs it with --check.
"""

import argparse
import difflib
import itertools
import pathlib
import re
import shlex
import subprocess
import sys

import certified
import options

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN = re.compile(r'<!-- (table|output|code|output on softroce|record) of (.*\S) -->')
ALMOST = re.compile(r'\s*<!--\s*(table|output|code|record)\b|\s+<!-- end')
END = '<!-- end -->'
SHOWN = 30  # lines of a page's difference
HEAD = re.compile(r'\s*/\*.*?\*/\n*', re.DOTALL)


class Mistake(Exception):
    """What is wrong with a page, for the person who wrote it."""


def printed(*command):
    """What a command prints; it must succeed, and say something."""
    try:
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Mistake(f'{command[0]}: {error.strerror}') from error
    if result.returncode or not result.stdout:
        raise Mistake(f'{shlex.join(command)} ended with {result.returncode}: {result.stderr.strip()}')
    return result.stdout.rstrip('\n')


def fenced(language, text):
    """A fenced block."""
    return f'```{language}\n{text}\n```'


def source(name):
    """A source file of the tree as a block, without the comments at its head."""
    path = ROOT / name
    try:
        text = path.read_text(encoding='utf-8')
    except OSError as error:
        raise Mistake(f'{name}: {error.strerror}') from error
    while comment := HEAD.match(text):
        text = text[comment.end():]
    return fenced(path.suffix[1:], text.rstrip('\n'))


def table(name):
    """A table of the headers' lists, of a struct's members, or of the files of docs/verified."""
    if name == 'certified':
        return certified.table()
    words = name.split()
    if words[:-1] != ['options', 'of']:
        return printed('build/docs/data', '--table', name)
    try:
        return options.table(words[-1])
    except KeyError as error:
        raise Mistake(error.args[0]) from error


def record(name):
    """A file that a test wrote: Markdown as it is, or text as a block."""
    path = ROOT / 'build/programs' / name
    if not path.exists():
        raise Mistake(f'{path} is not there; run make check-programs')
    text = path.read_text(encoding='utf-8').rstrip('\n')
    return text if name.endswith('.md') else fenced('text', text)


CONTENT = {
    'table': table,
    'output': lambda name: fenced('text', printed('build/docs/outputs', name)),
    'code': source,
    'output on softroce': lambda command: fenced('text', printed('tools/softroce', '--quiet', *shlex.split(command))),
    'record': record,
}

# The kinds that `make` with this target writes; `make pages` all others.
TARGETS = {'output on softroce': 'pages-device', 'record': 'pages-programs'}


def end_of(lines, first):
    """The number of the line that ends the region beginning at `first`."""
    for number in range(first + 1, len(lines)):
        if lines[number] == END:
            return number
        if BEGIN.fullmatch(lines[number]):
            break
    raise Mistake(f'line {first + 1}: {lines[first]} has no {END}')


def rewritten(text, target):
    """The page with those regions as they should be that this target of `make` writes."""
    lines, result, fence, number = text.split('\n'), [], False, 0
    while number < len(lines):
        line = lines[number]
        region = None if fence else BEGIN.fullmatch(line)
        result.append(line)
        if region:
            last, (kind, name) = end_of(lines, number), region.groups()
            if TARGETS.get(kind, 'pages') == target:
                result += ['', CONTENT[kind](name), '', END]
            else:
                result += lines[number + 1:last + 1]
            number = last
        elif line == END and not fence:
            raise Mistake(f'line {number + 1}: {END} ends nothing')
        elif ALMOST.match(line) and not fence:
            raise Mistake(f'line {number + 1}: {line} begins no region')
        elif line.lstrip().startswith('```'):
            fence = not fence
        number += 1
    return '\n'.join(result)


def visit(path, check, target):
    """Rewrite one page, or with `check` tell whether it is up to date."""
    text = path.read_text(encoding='utf-8')
    new = rewritten(text, target)
    if new == text:
        return True
    if not check:
        path.write_text(new, encoding='utf-8')
        print(f'{path} is rewritten')
        return True
    difference = difflib.unified_diff(text.split('\n'), new.split('\n'), f'{path} as it is',
                                      f'{path} as generated; run `make {target}`', lineterm='')
    print('\n'.join(itertools.islice(difference, SHOWN)))
    return False


def main():
    """Visit all pages; the exit status tells whether any is wrong or stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true', help='change nothing; fail if a region is stale')
    parser.add_argument('--device', dest='target', action='store_const', const='pages-device', default='pages',
                        help='only the regions that tools/softroce prints')
    parser.add_argument('--programs', dest='target', action='store_const', const='pages-programs',
                        help='only the regions that tests/programs/wrong.t has recorded')
    parser.add_argument('pages', nargs='+', type=pathlib.Path, metavar='FILE')
    arguments = parser.parse_args()
    good = True
    for path in arguments.pages:
        try:
            good &= visit(path, arguments.check, arguments.target)
        except (Mistake, OSError) as mistake:
            print(f'{path}: {mistake}', file=sys.stderr)
            good = False
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
