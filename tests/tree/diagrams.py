#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diagrams.py TRANSITIONS.json DIR: says where a drawn state diagram, DIR/TYPE.svg, and the rules differ.

Reads the drawing as a reader does: which transitions are there, and which bits stand on the way."""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

SVG = '{http://www.w3.org/2000/svg}'


def drawn(path):
    """The transitions of a diagram, with required and optional bits."""
    found = {}
    for group in xml.etree.ElementTree.parse(path).iter(f'{SVG}g'):
        if move := re.search(r'\b([A-Z]+-[A-Z]+)\b', group.get('class', '')):
            texts = [text.text.replace('\xa0', ' ').strip() for text in group.iter(f'{SVG}text')]
            need, may = found.setdefault(move[1], (set(), set()))
            need |= {text for text in texts if not text.startswith('+')}
            may |= {text.removeprefix('+ ') for text in texts if text.startswith('+')}
    return found


def ruled(rules):
    """The same by the rules. To RESET and ERR everything takes the state alone, which is not drawn."""
    found = {}
    for rule in rules:
        need, may = ({bit.removeprefix('IBV_QP_') for bit in rule[kind]} - {'STATE'}
                     for kind in ('required', 'optional'))
        away = rule['to'] in ('RESET', 'ERR') or rule['from'] == rule['to']
        if rule['legal'] and (need or may or not away):
            found[f'{rule["from"]}-{rule["to"]}'] = (need, may)
    return found


def main():
    table = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))['transitions']
    kinds = {rule['type'] for rule in table}
    differ = len(kinds) < 6
    for kind in sorted(kinds):
        here, there = drawn(f'{sys.argv[2]}/{kind}.svg'), ruled(rule for rule in table if rule['type'] == kind)
        for move in sorted(here.keys() | there.keys()):
            if here.get(move) != there.get(move):
                print(f'{kind} {move}: drawn {here.get(move)}, by the rules {there.get(move)}')
                differ = True
    sys.exit(differ)


if __name__ == '__main__':
    main()
