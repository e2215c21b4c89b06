#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: flags.py HEADER...

Fails if two enums of flags have a value in common and constants of one prefix: whoever takes one for the other is not
told. A flag of a prefix is what stands behind `RDMAEZ_X_`, or behind more words that all constants of its enum share.
"""

import re
import sys
from pathlib import Path


def enums(text):
    """Yields each enum's name and its constants, as pairs of name and value."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    for name, body in re.findall(r'enum (rdmaez_\w+) \{(.*?)\}', text, re.S):
        pairs = [pair.split('=') for pair in body.split(',') if pair.strip()]
        yield name, [(pair[0].strip(), pair[1].strip() if len(pair) > 1 else '') for pair in pairs]


def prefix(names):
    """Returns the words that all names share, and of a single name two."""
    words = [name.split('_') for name in names]
    same = 0
    while all(len(w) > same + 1 and w[same] == words[0][same] for w in words):
        same += 1
    return '_'.join(words[0][:same if len(names) > 1 else 2])


def main():
    seen, count, bad = {}, 0, False
    for header in sys.argv[1:]:
        for enum, constants in enums(Path(header).read_text()):
            bits = [(name, value) for name, value in constants if re.match(r'1 << \d+$|0x[0-9a-f]+$', value)]
            if not bits:
                continue
            count += 1
            for name, value in bits:
                key = prefix([name for name, _ in constants]), eval(value)
                other = seen.setdefault(key, (enum, name))
                if other[0] != enum:
                    print(f'{name} is {value}, and so is {other[1]}')
                    bad = True
    if bad or count < 15:
        sys.exit(f'{count} enums of flags')


main()
