#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: outputs.py INCLUDE

Writes a C program to stdout: for each public function that returns an errno value and writes an output, a function that
calls it by rdmaez_diag_need() and uses the output, which nothing else has written.
"""

import re
import sys
from pathlib import Path

PROTOTYPE = re.compile(r'/\*\*((?:(?!\*/).)*)\*/\s*'
                       r'RDMAEZ_(?:API|COLD|FOLD|INLINE) int (rdmaez_\w+)\(([^;]*?)\);', re.S)


def parameters(text):
    """Splits a list of parameters at the commas between them."""
    parts, depth, part = [], 0, ''
    for letter in ' '.join(text.split()):
        depth += {'(': 1, ')': -1}.get(letter, 0)
        if letter == ',' and not depth:
            parts.append(part)
            part = ''
        else:
            part += letter
    return [part.strip() for part in parts + [part]]


def output(parameter, written):
    """Returns type and name of a parameter that receives one object; None for any other."""
    match = re.match(r'((?!const )[^\[]*) ?\*(\w+)$', parameter)
    # A batch says what is wanted, so the caller has written it; nor does anybody read bytes by their address.
    if (not match or match[2] not in written or match[1].endswith('const') or
            match[1].strip() in ('char', 'void', 'uint8_t', 'struct rdmaez_diag', 'struct rdmaez_wc_batch')):
        return None
    return match[1].strip(), match[2]


def tried(name, comment, text):
    """Returns the function that tries another; '' if that has no output."""
    written = set(re.findall(r'@param (\w+) receives(?!, on failure only)', comment))
    taken, outputs, arguments = [], [], []
    for parameter in parameters(text):
        found = output(parameter, written)
        if found:
            outputs.append(found)
            arguments.append('&' + found[1])
        else:
            taken.append(parameter)
            arguments.append(re.search(r'(\w+)(\[\w*\])?$', parameter)[1])
    if not outputs:
        return ''
    if 'diag' not in arguments:
        taken.append('struct rdmaez_diag *diag')
    head = f'int try_{name}({", ".join(taken)})'
    lines = [f'\n{head};\n{head}\n{{']
    lines += [f'\t{kind} {of};' for kind, of in outputs]
    lines += [f'\tstatic volatile unsigned char kept;\n',
              f'\trdmaez_diag_need({name}({", ".join(arguments)}), diag);']
    for kind, of in outputs:
        if re.match(r'(struct|union) \w+$', kind):
            lines += [f'\tstatic {kind} kept_{of};', f'\tkept_{of} = {of};',
                      f'\tkept = *(unsigned char *)&kept_{of};']
        else:
            lines.append(f'\tkept = (unsigned char)(uintptr_t){of};')
    return '\n'.join(lines + ['\treturn kept;\n}\n'])


def main():
    headers = sorted(Path(sys.argv[1], 'rdmaez').glob('*.h'))
    count = 0
    print('#include <rdmaez.h>')
    for header in headers:
        if header.name == 'cm.h': # needs librdmacm's own
            print('#if __has_include(<rdma/rdma_cma.h>)')
        if header.name != 'implementation.h':
            print(f'#include <rdmaez/{header.name}>')
            for comment, name, text in PROTOTYPE.findall(header.read_text()):
                program = tried(name, comment, text)
                count += bool(program)
                print(program, end='')
        if header.name == 'cm.h':
            print('#endif')
    if count < 70:
        sys.exit(f'only {count} functions with an output')


main()
