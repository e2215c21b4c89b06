#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""diagrams.py TRANSITIONS.json DIR: a state diagram for each queue pair type, DIR/TYPE.svg, to be set inline.

Everything drawn comes from the table, so picture and rules cannot drift. States stand below each other, and the bits
of a transition between its two states, not beside a line: dot then never draws a line through text. Required bits are
bold, optional ones follow a plus sign; the prefix IBV_QP_ and IBV_QP_STATE itself are left out. What may change within
a state hangs at its side. Moves to RESET and ERR take the state alone from everywhere, which the text says instead."""
import json
import pathlib
import subprocess
import sys

import filter as pages


def bits(names, form):
    """Table rows of dot's, one for each bit but the state's."""
    short = [name.removeprefix('IBV_QP_') for name in names]
    return [f'<tr><td align="left">{form % name}</td></tr>' for name in short if name != 'STATE']


def label(rule):
    """A transition's bits, or nothing where it takes none."""
    rows = bits(rule['required'], '<b>%s</b>') + bits(rule['optional'], '<i>+ %s</i>')
    table = f'<table border="0" cellborder="0" cellspacing="0" cellpadding="1">{"".join(rows)}</table>'
    return f'<{table}>' if rows else None


def transition(rule):
    """One transition: an edge, with its bits as a node on the way."""
    start, end, text = rule['from'], rule['to'], label(rule)
    name, middle = f'"{start}-{end}"', f'"{start} {end}"'
    if start == end:
        if text:
            yield f'{{rank=same; {start}; {middle} [shape=plain, class={name}, fontsize=10, label={text}];}}'
            yield f'{start} -> {middle} [style=dashed, arrowhead=none];'
        return
    up = (start, end) == ('SQD', 'RTS')     # against the direction in which the states are laid out
    spine = '' if up or 'SQE' in (start, end) else ', group=spine'
    if not text:
        yield f'{end} -> {start} [dir=back, class={name}];' if up else f'{start} -> {end} [class={name}];'
        return
    yield f'{middle} [shape=plain, class={name}, fontsize=10, label={text}{spine}];'
    if up:
        yield f'{end} -> {middle} [dir=back, class={name}]; {middle} -> {start} [arrowhead=none];'
    else:
        yield f'{start} -> {middle} [arrowhead=none]; {middle} -> {end} [class={name}];'


def graph(kind, rules):
    """dot's source for one type."""
    legal = [rule for rule in rules if rule['legal']]
    for rule in legal:
        if rule['to'] in ('RESET', 'ERR') and rule['from'] != rule['to']:
            assert rule['required'] == ['IBV_QP_STATE'] and not rule['optional'], rule
    drawn = [rule for rule in legal if rule['to'] not in ('RESET', 'ERR')]
    states = dict.fromkeys(state for rule in drawn for state in (rule['from'], rule['to']))
    yield f'digraph "{kind}" {{'
    yield 'rankdir=TB; splines=true; bgcolor="transparent"; nodesep=0.25; ranksep=0.25;'
    yield 'node [fontname="Courier", fontsize=11, shape=box, style=rounded, height=0.35];'
    yield 'edge [fontname="Courier", fontsize=10, arrowsize=0.7];'
    for state in states:
        yield f'{state} [label=<<b>{state}</b>>, fontsize=13, class=state{"" if state == "SQE" else ", group=spine"}];'
    for rule in drawn:
        yield from transition(rule)
    if 'SQE' in states:     # where the device moves a queue pair by itself, when a send fails
        yield 'RTS -> SQE [style=dotted, constraint=false];'
    yield '}'


def main():
    table, directory = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')), pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for kind in dict.fromkeys(rule['type'] for rule in table['transitions']):
        source = '\n'.join(graph(kind, [rule for rule in table['transitions'] if rule['type'] == kind]))
        svg = subprocess.run(['dot', '-Tsvg'], input=source, text=True, check=True, capture_output=True).stdout
        figure = pages.figure(svg, f'The states of a queue pair of type {kind}, and what each transition takes')
        (directory / f'{kind}.svg').write_text(figure, encoding='utf-8')


if __name__ == '__main__':
    main()
