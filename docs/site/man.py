#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write man pages from doxygen's XML: man.py XML_DIR OUT_DIR VERSION

OUT_DIR/man3 gets a page for each public function, macro with a contract, struct and header, and OUT_DIR/man7 gets
rdmaez(7), whose text is rdmaez.7.in beside this file. What a header's head says of all its functions is in the
page of each.
"""

import pathlib
import re
import sys
import textwrap

import reference
from reference import text_of

OVERVIEW = pathlib.Path(__file__).with_name('rdmaez.7.in')
WIDTH = 78
BLOCKS = ('itemizedlist', 'orderedlist', 'programlisting', 'verbatim', 'table')
APART = ('simplesect', 'parameterlist')
# Functions of libibverbs without a page of their own, as of rdma-core 65.
NO_PAGE = ('ibv_cmd_open_xrcd', 'ibv_cmd_reg_dm_mr', 'ibv_cq_ex_to_cq', 'ibv_end_poll', 'ibv_next_poll',
           'ibv_qp_to_qp_ex', 'ibv_reg_dmabuf_mr', 'ibv_reg_mr_iova', 'ibv_reg_mr_iova2', 'ibv_start_poll',
           'ibv_wc_read_completion_ts', 'ibv_wc_status_str')
VERB = re.compile(r'\b(ibv_\w+)\(\)')
# What a person calls the head of a header, which the page has in its section NOTES.
HEAD = re.compile(r'the head of (this|the) file')


def escape(text):
    """Text as roff takes it, but for what a line must not begin with."""
    return text.replace('\\', '\\e').replace('\u00a0', ' ').replace('^', '\\(ha').replace('~', '\\(ti')


def bold(text):
    """Code: in bold, with a minus that can be copied; breaks only behind punctuation, where it is long."""
    text = text.replace('-', '\\-')
    return '\\fB' + (re.sub(r'(?<=[|:=])(?=\S)', r'\\:', text) if len(text) > 40 else text) + '\\fR'


def reference_to(name):
    """A function, with its section where it has a page."""
    return bold(name) + ('()' if name in NO_PAGE else '(3)')


def lines(text):
    """A paragraph's lines, one for each sentence, none of which roff takes for a request."""
    sentences = re.sub(r'([.?!]\)?) (?=\S)', r'\1\n', text.strip()).split('\n')
    return '\n'.join('\\&' + line if line[:1] in ('.', "'") else line for line in sentences)


def prose(text):
    """Text outside of markup; verbs are named with their section."""
    text = HEAD.sub('NOTES below', re.sub(r'\s+', ' ', escape(text)))
    return VERB.sub(lambda verb: reference_to(verb[1]), text)


def inline(node):
    """What a paragraph says, without the blocks in it."""
    parts = [prose(node.text or '')]
    for child in node:
        if child.tag in ('computeroutput', 'bold'):
            parts.append(bold(escape(text_of(child))))
        elif child.tag == 'emphasis':
            parts.append(f'\\fI{escape(text_of(child))}\\fR')
        elif child.tag == 'ref':
            name = escape(text_of(child))
            parts.append(reference_to(name[:-2]) if name.endswith('()') else bold(name) if '_' in name else name)
        elif child.tag in ('ndash', 'mdash'):
            parts.append('\\(en')
        elif child.tag == 'sp':
            parts.append(' ')
        elif child.tag not in BLOCKS + APART:
            parts.append(inline(child))
        parts.append(prose(child.tail or ''))
    return ''.join(parts)


def code(node):
    """A block of code."""
    if node.tag == 'verbatim':
        text = textwrap.dedent(node.text or '')
    else:
        text = '\n'.join(code_line(line) for line in node.findall('codeline'))
    body = '\n'.join('\\&' + line if line[:1] in ('.', "'") else line
                     for line in escape(text.strip('\n')).replace('-', '\\-').split('\n'))
    return f'.PP\n.in +4n\n.EX\n{body}\n.EE\n.in'


def code_line(node):
    """A line of code: blanks are elements."""
    parts = [' ' if node.tag == 'sp' else node.text or '']
    for child in node:
        parts += [code_line(child), child.tail or '']
    return ''.join(parts)


def table(node):
    """A table for tbl."""
    rows = [['\n'.join(lines(inline(para)) for para in entry.findall('para')) for entry in row.findall('entry')]
            for row in node.findall('row')]
    columns = len(rows[0])
    out = ['.PP', '.TS', 'tab(@);', 'lb ' * columns, 'l ' * (columns - 1) + 'lx.']
    out += ['@'.join(f'T{{\n{cell}\nT}}' for cell in row) for row in rows]
    return '\n'.join(out + ['.TE'])


def block(node):
    """A list, a table or code."""
    if node.tag == 'table':
        return table(node)
    if node.tag in ('programlisting', 'verbatim'):
        return code(node)
    items = []
    for number, item in enumerate(node.findall('listitem'), 1):
        mark = '\\(bu 3' if node.tag == 'itemizedlist' else f'{number}. 4'
        items.append(f'.IP {mark}\n' + '\n.IP\n'.join(lines(inline(para)) for para in item.findall('para')))
    return '\n'.join(items)


def flow(nodes, titled=False):
    """Paragraphs and blocks in order; the titled sections too where asked for, else they are the caller's."""
    out = []
    for node in nodes:
        start = node.text or ''
        text = [prose(start)]

        def flush(text=text):
            if ''.join(text).strip():
                out.append('.PP\n' + lines(''.join(text)))
            text.clear()

        for child in node:
            if child.tag in BLOCKS:
                flush()
                out.append(block(child))
            elif child.tag in APART:
                flush()
                if titled and child.tag == 'simplesect' and child.get('kind') == 'par':
                    out += [f'.SS "{escape(child.findtext("title"))}"'] + flow(child.findall('para'))
            else:
                holder = type(node)('para')
                tail, child.tail = child.tail, None
                holder.append(child)
                text.append(inline(holder))
                child.tail = tail
            text.append(prose(child.tail or ''))
        flush()
    return out


def said(node):
    """A description as a run of text and blocks, for an entry of a list."""
    parts = flow(node.findall('para'))
    return '\n'.join(parts).removeprefix('.PP\n').replace('\n.PP\n', '\n.IP\n')


def section(title, parts):
    """A section, if there is anything in it; the first paragraph needs no request."""
    body = '\n'.join(part for part in parts if part).removeprefix('.PP\n')
    return [f'.SH {title}\n{body}'] if body else []


def entries(pairs):
    """A list of terms and what is said of them."""
    return [f'.TP\n{term}\n{about}' for term, about in pairs]


def summary(brief):
    """The first sentence of a brief as it stands behind a name."""
    first = re.split(r'(?<=[a-z0-9)])\. ', brief)[0].rstrip('.')
    return first[0].lower() + first[1:] if re.match(r'[A-Z]([a-z]| )', first) else first


def declared(type_, name, array=''):
    """A declaration in C, its name in italics."""
    type_ = type_.replace('(*', ' (*')
    gap = '' if type_.endswith('*') or not type_ or not name else ' '
    return escape(type_) + gap + (f'\\fI{name}\\fB' if name else '') + escape(array)


def visible(text):
    """How many columns a text with fonts takes."""
    return len(re.sub(r'\\f.|\\&', '', text))


def prototype(function):
    """The declaration's lines, wrapped below the first parameter; of a constant its name."""
    if not function.result and not function.parameters:
        return bold(function.name)
    gap = '' if function.result.endswith('*') or not function.result else ' '
    line = f'\\fB{function.result}{gap}{function.name}('
    indent = ' ' * min(visible(line), 24)
    out = []
    pieces = [declared(*one) for one in function.parameters] or (['void'] if function.result else [])
    for number, piece in enumerate(pieces, 1):
        piece += ', ' if number < len(pieces) else ')' + (';' if function.result else '')
        if visible(line + piece) > WIDTH and line.strip() != indent.strip():
            out.append(line.rstrip())
            line = '\\fB' + indent
        line += piece
    return '\n'.join(out + [line + ('' if pieces else ';') + '\\fR'])


def include(header):
    """The line that a program needs."""
    return f'\\fB#include <{header.include()}>\\fR'


def page(name, brief, parts, version, number=3):
    """A whole page."""
    body = '\n'.join(parts)
    head = ["'\\\" t"] if '\n.TS' in body else []
    head += ['.nr HY 0', '.ds AD l', f'.TH {name} {number} "" "rdmaez {version}" "rdmaez"', '.ad l',
             f'.SH NAME\n{name} \\- {escape(summary(brief))}']
    return re.sub(r'\n\n+', '\n', '\n'.join(head) + '\n' + body) + '\n'


def see_also(names):
    """References, each in its section."""
    listed = [f'.BR {name} ({number})' for name, number in names]
    return section('SEE ALSO', [',\n'.join(listed)])


def mentioned(documented):
    """The functions and verbs that a description names, but for itself."""
    ours = {text_of(one)[:-2] for one in documented.detail.iter('ref') if text_of(one).endswith('()')}
    sections = documented.sections() if isinstance(documented, reference.Function) else {}
    told = text_of(documented.detail) + ''.join(map(text_of, sections.values()))
    verbs = {verb for verb in VERB.findall(told) if verb not in NO_PAGE}
    return [(name, 3) for name in sorted(ours - {documented.name}) + sorted(verbs)]


def header_page_name(header):
    """rdmaez/qp.h has the page rdmaez_qp.h(3)."""
    return header.name.replace('/', '_')


def function_page(function, structs):
    """The sections of a function's page, or of a macro's."""
    own, all_ = function.own_sections(), function.sections()
    shown = {title: node for title, node in all_.items() if re.match(r'Threads|Verbs calls|Sources?$', title)}
    shown.update(own)
    notes = [part for title, node in all_.items() if title not in shown
             for part in [f'.SS "{escape(title)}"'] + flow(node.findall('para'))]
    group = flow(function.group.findall('para')) if function.group is not None else []
    used = [(name, 3) for name in structs
            if any(re.search(rf'\b{name}\b', type_) for type_, _, _ in function.parameters)]
    parts = section('SYNOPSIS', ['.nf', include(function.header), '.PP', prototype(function), '.fi'])
    parts += section('DESCRIPTION', [lines(prose(function.brief))] + flow(function.detail.findall('para')) + group)
    parts += section('PARAMETERS', entries((f'\\fI{name}\\fR', said(about)) for name, about in function.lists('param')))
    parts += section('RETURN VALUE', entries((bold(name), said(about)) for name, about in function.lists('retval'))
                     + [part for node in function.simple('return') for part in flow(node.findall('para'))])
    for title, node in shown.items():
        parts += section(f'"{escape(title.upper())}"', flow(node.findall('para')))
    parts += section('NOTES', notes)
    parts += section('SINCE', [part for node in function.since() for part in flow(node.findall('para'))])
    return parts + see_also(used + mentioned(function) + [(header_page_name(function.header), 3), ('rdmaez', 7)])


def about_field(field):
    """What is said of a member."""
    return '\n.IP\n'.join(filter(None, (said(node) for node in field.about if node is not None)))


def members(struct):
    """The lines between the braces of a struct."""
    out, group = [], None
    for one in struct.fields:
        if one.group not in (None, group):
            out.append('    \\fBstruct {\\fR')
        group = one.group
        if one.is_group:
            out.append(f'    \\fB}} \\fI{one.name}\\fB;\\fR')
        else:
            out.append(f"    {'    ' if group else ''}\\fB{declared(one.type, one.name, one.array)};\\fR")
    return out


def struct_page(struct, functions):
    """The sections of a struct's page."""
    takers = [(one.name, 3) for one in functions
              if any(re.search(rf'\b{struct.name}\b', type_) for type_, _, _ in one.parameters)]
    parts = section('SYNOPSIS', ['.nf', include(struct.header), '.PP', f'\\fBstruct {struct.name} {{\\fR']
                    + members(struct) + ['\\fB};\\fR', '.fi'])
    parts += section('DESCRIPTION', [lines(prose(struct.brief))] + flow(struct.detail.findall('para')))
    parts += section('MEMBERS', entries((bold(one.path()), about_field(one)) for one in struct.fields))
    parts += section('SINCE', [part for node in struct.header.simple('since') for part in flow(node.findall('para'))])
    return parts + see_also(takers + [(header_page_name(struct.header), 3), ('rdmaez', 7)])


def briefs(items):
    """A list of what has pages of its own."""
    return entries((f'.BR {one.name} (3)', lines(prose(one.brief))) for one in items)


def enumeration(enum):
    """An enum and its values."""
    about = [lines(prose(enum.brief))] if enum.brief else []
    return [f'.SS "enum {enum.name}"'] + about + entries((bold(one.name), about_field(one)) for one in enum.fields)


def constant(macro):
    """A macro without a page: its name and what is said of it."""
    return bold(macro.name), '\n.IP\n'.join(filter(None, [lines(prose(macro.brief)), said(macro.detail)]))


def header_page(header):
    """The sections of a header's page."""
    macros = [one for one in header.macros if one.has_page()]
    parts = section('SYNOPSIS', [f'\\fB#include <{header.name}>\\fR'])
    parts += section('DESCRIPTION', [lines(prose(header.brief))] + flow(header.detail.findall('para'), titled=True))
    parts += section('FUNCTIONS', briefs(header.functions))
    parts += section('MACROS', briefs(macros))
    parts += section('CONSTANTS', entries(constant(one) for one in header.macros if not one.has_page()))
    parts += section('STRUCTS', briefs(header.structs))
    parts += section('ENUMERATIONS', [part for enum in header.enums for part in enumeration(enum)])
    parts += section('SINCE', [part for node in header.simple('since') for part in flow(node.findall('para'))])
    return parts + see_also([('rdmaez', 7)])


def pages(headers, version):
    """All pages of section 3: name to text."""
    functions = [function for header in headers for function in header.functions]
    structs = [struct.name for header in headers for struct in header.structs]
    out = {}
    for header in headers:
        if header.name == 'rdmaez.h':
            continue
        name = header_page_name(header)
        out[name] = page(name, header.brief, header_page(header), version)
        for function in header.functions + [one for one in header.macros if one.has_page()]:
            out[function.name] = page(function.name, function.brief, function_page(function, structs), version)
        for struct in header.structs:
            out[struct.name] = page(struct.name, struct.brief, struct_page(struct, functions), version)
    return out


def overview(headers, version):
    """rdmaez(7)."""
    listed = '\n'.join(entries((f'.BR {header_page_name(one)} (3)', lines(prose(one.brief)))
                               for one in headers if one.name != 'rdmaez.h'))
    return OVERVIEW.read_text(encoding='utf-8').replace('@VERSION@', version).replace('@HEADERS@', listed)


def main():
    """Write the pages."""
    if len(sys.argv) != 4:
        sys.exit(__doc__.splitlines()[0])
    headers, out, version = reference.load(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    for number in ('3', '7'):
        (out / f'man{number}').mkdir(parents=True, exist_ok=True)
    for name, text in pages(headers, version).items():
        (out / 'man3' / f'{name}.3').write_text(text, encoding='utf-8')
    (out / 'man7' / 'rdmaez.7').write_text(overview(headers, version), encoding='utf-8')


if __name__ == '__main__':
    main()
