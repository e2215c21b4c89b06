# SPDX-License-Identifier: MIT
"""The table of devices on which rdmaez was tried: a row for each file that rdmaez-doctor --certify wrote."""

import json
import pathlib

FILES = pathlib.Path(__file__).resolve().parents[1] / 'verified'
RESULTS = ('pass', 'fail', 'not offered', 'not tried')


def row(path):
    """What a file says, as cells."""
    file = json.loads(path.read_text(encoding='utf-8'))
    link = 'iWARP' if file['transport'] == 'iWARP' else file['link_layer']
    counts = [sum(step['result'] == result for step in file['steps']) for result in RESULTS]
    return [f"`{path.name}`", f"`{file['driver']}`", file['firmware'], link, file['kernel'], file['rdma_core'],
            *map(str, counts)]


def table():
    """All files in the order of their names, as Markdown."""
    head = ['file', 'driver', 'firmware', 'link', 'kernel', 'rdma-core', 'passed', 'failed', 'not offered', 'not tried']
    rows = [head, ['---'] * len(head), *(row(path) for path in sorted(FILES.glob('*.json')))]
    return '\n'.join('| ' + ' | '.join(cells) + ' |' for cells in rows)
