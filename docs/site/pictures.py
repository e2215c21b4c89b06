#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pictures.py [--device] [--check]: write docs/pictures, as far as they are made and not drawn by hand.

    recording.svg   a terminal: what the commands in RECORDED print on the Soft-RoCE machine; only with --device
    cost.svg        bars of docs/pictures/cost.tsv, which has what `make bench` has counted

They are read on light and on dark pages, so that each has a background of its own. `make pages` and `make pages-device`
run this; tests run it with --check, which writes nothing and fails where a picture would change."""
import argparse
import difflib
import html
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / 'docs/pictures'
RECORDED = ['build/examples/01_first', 'build/examples/mistakes 6 7']
LINE, LETTER = 17, 7.83     # px of a line and of a letter of 13 px


def svg(width, height, label, style, body):
    """A whole picture."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{html.escape(label)}">\n<style>\n{style}\n</style>\n{body}\n</svg>\n')


def recording():
    """What is typed and what is printed, as on a terminal."""
    lines = []
    for command in RECORDED:
        typed = f'tools/softroce {command}'
        done = subprocess.run(['tools/softroce', '--quiet', *command.split()], cwd=ROOT, capture_output=True, text=True,
                              check=True)
        # The first queue pair of a new device; another number where others have come and gone.
        shown = re.sub(r'\bQP \d+', 'QP 17', done.stdout.strip('\n'))
        lines += ['$ ' + typed, *shown.split('\n'), '']
    lines.pop()
    body = ['<rect width="100%" height="100%" rx="8" fill="#12151a"/>']
    for number, line in enumerate(lines):
        kind = ' class="typed"' if line.startswith('$ ') else ''
        if line:
            body.append(f'<text x="14" y="{14 + LINE * (number + 1) - 4}"{kind}>{html.escape(line, quote=False)}</text>')
    width = round(28 + LETTER * max(map(len, lines)))
    return svg(width, 28 + LINE * len(lines), 'A terminal: ' + ', '.join(RECORDED),
               'text { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; fill: #e1e5eb; white-space: pre; }\n'
               '.typed { fill: #86bdff; }', '\n'.join(body))


def cost():
    """Two bars for each row: by hand, and with rdmaez."""
    rows = [line.split('\t') for line in (PICTURES / 'cost.tsv').read_text(encoding='utf-8').splitlines()
            if line and not line.startswith('#')]
    most = max(int(number) for _, *numbers in rows for number in numbers)
    body = ['<rect width="100%" height="100%" rx="8" fill="#f6f7f9"/>',
            '<rect x="16" y="14" width="12" height="12" class="hand"/><text x="34" y="25">by hand</text>',
            '<rect x="110" y="14" width="12" height="12" class="ours"/><text x="128" y="25">with rdmaez</text>',
            '<text x="744" y="25" text-anchor="end">instructions for each call</text>']
    for number, (name, *counts) in enumerate(rows):
        y = 42 + 44 * number
        body.append(f'<text x="16" y="{y + 19}">{html.escape(name)}</text>')
        for bar, (kind, count) in enumerate(zip(('hand', 'ours'), counts)):
            width = max(1, round(340 * int(count) / most))
            body.append(f'<rect x="340" y="{y + 15 * bar}" width="{width}" height="13" class="{kind}"/>'
                        f'<text x="{346 + width}" y="{y + 15 * bar + 11}" class="small">{count}</text>')
    label = 'What calls cost: ' + '; '.join(f'{name} {hand} by hand and {ours} with rdmaez' for name, hand, ours in rows)
    return svg(760, 50 + 44 * len(rows), label,
               'text { font: 14px system-ui, sans-serif; fill: #1a1f26; }\n.small { font-size: 12px; }\n'
               '.hand { fill: #9aa5b1; }\n.ours { fill: #1d4ed8; }', '\n'.join(body))


def main():
    """Each picture that is asked for, once."""
    parser = argparse.ArgumentParser(usage='%(prog)s [--device] [--check]')
    parser.add_argument('--device', action='store_true')
    parser.add_argument('--check', action='store_true')
    arguments = parser.parse_args()
    name, make = ('recording.svg', recording) if arguments.device else ('cost.svg', cost)
    path, made = PICTURES / name, make()
    there = path.read_text(encoding='utf-8') if path.exists() else ''
    if there == made:
        return 0
    if arguments.check:
        print('\n'.join(difflib.unified_diff(there.split('\n'), made.split('\n'), 'there', 'made', n=0, lineterm='')))
        print(f'docs/pictures/{name} is stale: run make pages{"-device" * arguments.device}')
        return 1
    path.write_text(made, encoding='utf-8')
    print(f'docs/pictures/{name} is rewritten')
    return 0


if __name__ == '__main__':
    sys.exit(main())
