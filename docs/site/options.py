# SPDX-License-Identifier: MIT
"""The tables of options: what the headers' comments say of each member of a struct, as Markdown.

A comment says the default as "0: what it means" (or NULL, or zero), and what asks for a real zero as
"#RDMAEZ_ZERO: what it means". Which transitions use a member of struct rdmaez_qp_opts is known to
build/docs/data. Of other members "only F()" or "not F()" tells which functions do not use them.
"""

import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = re.compile(r'/\*\*(<?)(.*?)\*/|([^;/]+);', re.DOTALL)
KEYS = '0|NULL|Zero|Less than 1|#RDMAEZ_ZERO'
CLAUSE = re.compile(rf'(?:^|(?<=[.;,]) )({KEYS}): (.*?)(?=\.(?: |$)|; #RDMAEZ_ZERO|$)[.;]?')
CONSTANT = re.compile(r'`[^`]*`|#?(\b(?:IBV|RDMAEZ)_[A-Z0-9_]+\b|\b(?:enum|struct) \w+)')


def headers():
    """The text of all public headers: in the order of rdmaez.h, then those that it leaves out."""
    order = re.findall(r'^#include "(.*)"', (ROOT / 'include/rdmaez.h').read_text(encoding='utf-8'), re.MULTILINE)
    files = [ROOT / 'include' / name for name in order]
    for pattern in ('*.h', 'devel/*.h'):
        files += [file for file in sorted((ROOT / 'include/rdmaez').glob(pattern)) if file not in files]
    return '\n'.join(file.read_text(encoding='utf-8') for file in files)


def comment(text):
    """A comment's words on one line."""
    return re.sub(r'\s+', ' ', re.sub(r'\n\s*\* ?', ' ', text)).strip()


def members(text, struct):
    """The members of a struct: name, declaration and comment."""
    body = re.search(rf'^struct {struct} {{\n(.*?)^}};', text, re.DOTALL | re.MULTILINE)
    if not body:
        raise KeyError(f'no header has struct {struct}')
    found, before = [], ''
    for behind, about, declaration in TOKEN.findall(body[1]):
        if behind:
            found[-1][2] = comment(about)
        elif about:
            before = comment(about)
        else:
            declaration = comment(declaration)
            name = re.search(r'\(\*(\w+)\)', declaration) or re.search(r'(\w+)(?:\[\w*\])?$', declaration)
            found.append([name[1], declaration, before])
            before = ''
    return found


def takers(text, struct):
    """The functions that read a struct, and the structs that have one."""
    code = re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)
    functions = [re.findall(rf'\b(rdmaez_\w+)\([^;{{]*\b{const}struct {struct} \*', code) for const in ('const ', '')]
    holders = [name for name, body in re.findall(r'^struct (\w+) {\n(.*?)^};', code, re.DOTALL | re.MULTILINE)
               if re.search(rf'^\s*(?:const )?struct {struct}\s+\*?\w+;', body, re.MULTILINE)]
    return functions[0] or functions[1], holders


def markdown(text):
    """Words of a comment as a cell of a table: constants as code."""
    text = CONSTANT.sub(lambda found: f'`{found[1]}`' if found[1] else found[0], text)
    return text.replace('|', '\\|')


def split(text, declaration):
    """What a comment says of the default, of a real zero, and of all else."""
    told = dict(CLAUSE.findall(text))
    zero = told.pop('#RDMAEZ_ZERO', None)
    rest = re.sub(r'\s+', ' ', CLAUSE.sub('', text)).strip(' ;,.')
    if told:
        key, default = next(iter(told.items()))
        default = default if key in ('0', 'NULL', 'Zero') else f'{key.lower()}: {default}'
    elif '*' in declaration:
        default = '`NULL`'
    else:
        default = 'all zero' if declaration.startswith('struct ') else '0'
    rest = re.sub(r'; (?=[A-Z])', '. ', rest)
    return default, zero, rest if rest.startswith('enum ') else rest[:1].upper() + rest[1:]


def transitions():
    """Which transitions use an option of struct rdmaez_qp_opts, by its name: required ones, then others."""
    result = subprocess.run(['build/docs/data', 'attributes'], cwd=ROOT, capture_output=True, text=True, check=True)
    return {row['option']: (row['required'], row['optional']) for row in json.loads(result.stdout)['attributes']}


def targets(moves):
    """The functions of some transitions, each once."""
    return ', '.join(dict.fromkeys(f'rdmaez_qp_to_{move.split()[-1].lower()}()' for move in moves))


def users(name, text, struct, functions, rows):
    """Who uses a member."""
    if struct == 'rdmaez_qp_opts':
        required, optional = rows.get(name) or rows.get(f'{name}.sl') or rows.get(f'{name}_port') or ([], [])
        named = f'named in `optional`: {targets(optional)}' if optional else ''
        return '; '.join(filter(None, [targets(required), named])) or 'all'
    only, without = re.findall(r'\bonly (\w+)\(\)', text), re.findall(r'\bnot (\w+)\(\)', text)
    using = [one for one in functions if (not only or one in only) and one not in without]
    return 'all' if using == functions and len(using) != 1 else ', '.join(f'{one}()' for one in using)


def table(struct):
    """The table of a struct, below its name and what it is given to."""
    text = headers()
    functions, holders = takers(text, struct)
    rows = transitions() if struct == 'rdmaez_qp_opts' else {}
    given_to = ', '.join([f'{one}()' for one in functions] + [f'`struct {one}`' for one in holders])
    out = [f'`struct {struct}`, for {given_to}.', '',
           '| field | default | used by | meaning |', '|---|---|---|---|']
    for name, declaration, about in members(text, struct):
        default, zero, meaning = split(about, declaration)
        if zero:
            default += f'; #RDMAEZ_ZERO: {zero}'
        out.append(f'| `{name}` | {markdown(default)} | {users(name, about, struct, functions, rows)} '
                   f'| {markdown(meaning)} |')
    return '\n'.join(out)
