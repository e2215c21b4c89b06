#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tell what the reference leaves out: tests/tree/reference.py XML_DIR

Of each public function it must say, by itself or by its header's head: its effect, every parameter, what it returns
and every error, from which threads it may be called, which verbs it calls, what it needs, and where its facts are from.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'docs/site'))
import reference  # noqa: E402, the path comes first
from reference import text_of  # noqa: E402

# These headers state no fact of verbs, of a driver or of a standard: what they do is rdmaez's own.
OWN = ('rdmaez/base.h', 'rdmaez/caps_table.h', 'rdmaez/diag.h', 'rdmaez/endpoint.h', 'rdmaez/exchange.h',
       'rdmaez/fmt.h', 'rdmaez/simple.h', 'rdmaez/why.h')
SUCCESS = re.compile(r'\b0\b|^as |^the |\bsame as\b|number|length|count', re.IGNORECASE)
FAILURE = re.compile(r'errno|^as |\bE[A-Z]{3,}|-1|truncated|see the head', re.IGNORECASE)


def parameters(function):
    """Parameters without a word, and words about none."""
    told = {name for names, about in function.lists('param') if text_of(about) for name in names.split(',')}
    declared = {name for _, name, _ in function.parameters}
    return [f'nothing of parameter {name}' for name in sorted(declared - told)] \
        + [f'there is no parameter {name}' for name in sorted(told - declared)]


def returned(function):
    """What it may return: success and failure, where there is any."""
    values = {name: text_of(about) for name, about in function.lists('retval')}
    rest = ' '.join(text_of(node) for node in function.simple('return'))
    if function.result == 'void':
        return ['it returns nothing'] if values or rest else []
    if not values and not rest:
        return ['nothing of what it returns']
    missing = [f'no reason for {name}' for name, about in values.items() if not about]
    if function.result != 'int' or not any(type_ == 'struct rdmaez_diag *' for type_, _, _ in function.parameters):
        return missing
    if not any(name == '0' for name in values) and not SUCCESS.search(rest):
        missing.append('nothing of success')
    if not any(re.match(r'E[A-Z]', name) for name in values) and not FAILURE.search(rest):
        missing.append('no error')
    if 'see the head' in rest and not any(re.match(r'Errors|What may be returned', title) for title in function.sections()):
        missing.append('the head has no list of errors')
    return missing


def contract(function):
    """What may be said once in the header's head."""
    titles = function.sections()
    missing = [f'no {title}' for title in ('Threads', 'Verbs calls') if not text_of(titles.get(title))]
    if not any(re.search(r'rdma-core \d+', text_of(node)) for node in function.since()):
        missing.append('no rdma-core that it needs')
    if function.header.name not in OWN and not ('Source' in titles or 'Sources' in titles):
        missing.append('no Source')
    return missing


def main():
    """Print a line for each thing that is missing."""
    functions = [one for header in reference.load(sys.argv[1]) for one in header.functions]
    lines = [f'{one.header.name}: {one.name}: {what}' for one in functions
             for what in ([] if one.brief else ['no brief']) + parameters(one) + returned(one) + contract(one)]
    print('\n'.join(lines + [f'{len(functions)} functions']))
    return 1 if lines or len(functions) < 150 else 0


if __name__ == '__main__':
    sys.exit(main())
