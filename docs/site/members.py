# SPDX-License-Identifier: MIT
"""Reference pages: from doxygen's boxes to headings with names for anchors, prototypes as C has them, and tables."""
import html
import re
import sys

from page import link_to, plain

# What doxygen 1.9.4 and 1.9.8 write: a member with its anchor, title, prototype and text; a row of a list of
# declarations; such a list with its title; what stands in it, with a sentence, or a group's heading or text.
MEMBER = (r'<a id="(\w+)" name="\1"></a>\n<h2 class="memtitle"><span class="permalink">.*?</span>(.*?)</h2>\n\s*'
          r'<div class="memitem">\n<div class="memproto">(.*?)</div><div class="memdoc">(.*?)\n</div>\n</div>\n')
DECLARED = (r'<tr class="memitem:(\w+)"[^>]*><td class="memItemLeft"[^>]*>(.*?)</td>'
            r'(?:<td class="memItemRight"[^>]*>(.*?)</td>)?')
LIST = r'<table class="memberdecls">\n<tr class="heading">.*?</a>\n(.*?)</h2></td></tr>(.*?)</table>'
LISTED = (r'<tr class="memitem:(\w*)"[^>]*>.*?<td class="memItemRight"[^>]*>(.*?)</td></tr>\n'
          r'(?:<tr class="memdesc:\1"[^>]*>.*?<td class="mdescRight">(.*?)</td></tr>\n)?'
          r'|<div class="groupHeader">(.*?)</div>|<div class="groupText">(.*?)</div></td></tr>')
EXAMPLES = r'<dl class="section examples">.*?</dl>\n'

# What members() makes of a member.
SECTION = r'<section class="member" id="([\w.]+)">.*?<pre class="declaration">(.*?)</pre>(.*?)</section>'


def convert(page):
    """All of it."""
    members(page)
    fields(page)
    enumerators(page)
    overview(page)


def prototype(table):
    """A declaration as C has it: in one line, or a parameter a line."""
    cells = [re.sub(r'\s+', ' ', re.sub(r'</?em>', '', cell).replace('&#160;', ' ')).strip()
             for cell in re.findall(r'<td[^>]*>(.*?)</td>', table, re.S)]
    text = re.sub(r'\* (?=\w)', '*', ' '.join(cell for cell in cells if cell))
    text = re.sub(r' (?=[^ ]*RDMAEZ_IMPL_).*', '', text) if text.startswith('#define') else text   # not for readers
    text = re.sub(r' ?\( ?', '(', text, count=1)
    text = re.sub(r' ?\) ?$', ')', text).replace(' ,', ',')
    if len(plain(text)) > 90 and '(' in text:
        head, _, arguments = text.partition('(')
        text = f'{head}(\n    ' + re.sub(r', (?![^<]*>)', ',\n    ', arguments)
    return text


def members(page):
    """Functions, macros and types: a heading with the name as its anchor, the declaration, the text."""
    functions = set(re.findall(r'</span>(\w+)\(\)</h2>', page.text))
    inner = inner_names(page)

    def member(match):
        anchor, name = match[1], re.sub(r'\s?\[\d+/\d+\]$', '', plain(match[2]))
        known = inner.get(anchor) or name.removesuffix('()')
        known = f'enum-{known}' if known == name and name in functions else known
        page.anchors[anchor] = known
        return (f'<section class="member" id="{known}">\n<h3>{name}{link_to(known)}</h3>\n'
                f'<pre class="declaration">{prototype(match[3])}</pre>\n{match[4].strip()}\n</section>\n')
    page.sub(MEMBER, member)
    page.sub(r'<h2 class="groupheader">(\w+)[^<]* Documentation</h2>', r'<h2 id="\1s">\1s</h2>')


def inner_names(page):
    """Structs within a struct, and their fields: the full name for the anchor of each."""
    rows = re.findall(DECLARED, page.text)
    found = {anchor: plain(right) for anchor, left, right in rows if left.startswith('}')}
    inside = []
    for anchor, left, right in rows:
        if plain(left).endswith('{'):
            inside.append(found[anchor])
        elif left.startswith('}'):
            inside.pop()
        elif inside:
            link = re.search(r'#(\w+)">(\w+)<', left + right)
            found[link[1]] = '.'.join(inside + [link[2]])
    return found


def fields(page):
    """The fields of a struct as one table, instead of a box for each."""
    if not page.header:
        return
    rows = {}
    for name, declaration, text in re.findall(SECTION, page.text, re.S):
        kind = c_type(html.escape(plain(declaration)), page.title.split(' ')[-1], name.rpartition('.')[2])
        text = re.sub(EXAMPLES, '', text.strip(), flags=re.S)
        row = f'<tr id="{name}"><td><code>{name}</code></td><td><code>{kind}</code></td><td>{text}</td></tr>\n'
        inner = {path: rows.pop(path) for path in list(rows) if path.startswith(f'{name}.')}
        rows |= {name: row.replace('struct { ... }', 'struct')} | inner
    if len(rows) != page.text.count('<section class="member"'):
        sys.exit(f'{page.path}: two fields have one name')
    shown_by = re.search(EXAMPLES, page.text.partition('<h2 id="Fields">')[0], re.S)
    page.sub(r'<table class="memberdecls">.*?</table>\n?', '')
    page.sub(r'<h2 id="Fields">Fields</h2>.*</section>\n',
             lambda _: '<table class="fields"><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead>\n'
             f'<tbody>{"".join(rows.values())}</tbody></table>\n' + (shown_by[0] if shown_by else ''))
    if shown_by:
        page.text = page.text.replace(shown_by[0], '', 1)


def c_type(declaration, owner, name):
    """`int rdmaez_path::x[2]`: the type without the name."""
    return re.sub(r'\*$', ' *', re.sub(rf'\s*{owner}::{name}', '', declaration)).strip()


def enumerators(page):
    """Enumerators with names for anchors."""
    def enumerator(match):
        page.anchors[match[1]] = match[2]
        return f'<tr id="{match[2]}"><td class="fieldname"><code>{match[2]}</code></td>'
    page.sub(r'<tr><td class="fieldname"><a id="(\w+)" name="\1"></a>(\w+)&#160;</td>', enumerator)
    page.sub(r'<tr><th colspan="2">Enumerator</th></tr>', '')


def overview(page):
    """What a header has, by name with a sentence each, in place of doxygen's lists of declarations."""
    lists = list(re.finditer(LIST, page.text, re.S))
    if not lists:
        return
    rows = ''
    for title, declarations in (match.groups() for match in lists):
        rows += f'<tr><th colspan="2">{title.strip().replace("Data Structures", "Structs")}</th></tr>\n'
        rows += ''.join(overview_row(page, row) for row in re.findall(LISTED, declarations, re.S))
    table = f'<h2 id="overview">Overview</h2>\n<table class="overview"><tbody>\n{rows}</tbody></table>'
    page.text = page.text[:lists[0].start()] + table + page.text[lists[-1].end():]


def overview_row(page, row):
    """One member, or the heading or text of a group of them."""
    _, right, brief, group, text = row
    if group:
        return f'<tr><td colspan="2"><b>{group}</b></td></tr>\n'
    if text:
        return f'<tr><td colspan="2">{text}</td></tr>\n'
    name = re.search(r'<a class="el" href="[^"]*">(.*?)</a>', right)
    brief = re.sub(r'\s*<a href="[^"]*">More...</a>|<br />', '', brief)
    if name and not brief and (first := re.search(rf'id="{name[1]}">.*?<p>(.*?)</p>', page.text, re.S)):
        brief = first[1]
    return f'<tr><td>{name[0] if name else right}</td><td>{brief.strip()}</td></tr>\n'
