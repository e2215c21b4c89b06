# SPDX-License-Identifier: MIT
"""The public interface as doxygen's XML tells it: headers with their functions, macros, structs and enums.

A header's head says once what holds for all of its functions; Function.sections() gives what holds for one of them.
"""
import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ET

# A head's sections that are part of each function's contract; what else a head has stays in the header's own page.
CONTRACT = re.compile(r'thread|verbs calls|source|error|return|fail|refused|deadline', re.IGNORECASE)

# What the head of a header says that a program has to include by its name.
APART = '<rdmaez.h> does not include this header'


def text_of(node):
    """All text below a node, on one line."""
    return re.sub(r'\s+', ' ', ''.join(node.itertext())).strip() if node is not None else ''


class Documented:
    """What has a name, a brief and a description."""

    def __init__(self, node, header):
        self.node = node
        self.header = header
        self.name = node.findtext('name') or node.findtext('compoundname')
        self.brief = text_of(node.find('briefdescription'))
        self.detail = node.find('detaileddescription')

    def own_sections(self):
        """The titled sections of the description: title to node."""
        return {section.findtext('title'): section for section in self.detail.iter('simplesect')
                if section.get('kind') == 'par'}

    def simple(self, kind):
        """The sections of a kind without a title: return, since, note, see."""
        return [section for section in self.detail.iter('simplesect') if section.get('kind') == kind]

    def lists(self, kind):
        """The entries of a list of parameters (param) or of return values (retval): names and description."""
        return [(text_of(item.find('parameternamelist')), item.find('parameterdescription'))
                for entries in self.detail.iter('parameterlist') if entries.get('kind') == kind
                for item in entries.findall('parameteritem')]


class Function(Documented):
    """A function or a macro."""

    def __init__(self, node, header, group=None):
        super().__init__(node, header)
        self.group = group
        self.result = text_of(node.find('type'))
        self.parameters = [(text_of(one.find('type')), one.findtext('declname') or one.findtext('defname') or '',
                            one.findtext('array') or '') for one in node.findall('param')]
        if self.parameters == [('void', '', '')]:
            self.parameters = []

    def has_page(self):
        """Whether there is more to say than fits into a list of constants."""
        return bool(self.result or self.parameters or self.brief and text_of(self.detail))

    def sections(self):
        """Its own sections and, of a function, under other titles those of its header that hold for it too."""
        if not self.result:
            return self.own_sections()
        inherited = {title: node for title, node in self.header.own_sections().items() if CONTRACT.search(title)}
        return {**inherited, **self.own_sections()}

    def since(self):
        """Of which rdmaez and rdma-core it needs."""
        return self.simple('since') or self.header.simple('since')


@dataclasses.dataclass
class Field:
    """A member of a struct, or a value of an enum; the type is C's."""
    name: str
    type: str
    array: str
    about: list
    group: str = None
    is_group: bool = False

    def path(self):
        """How a program names it."""
        return f'{self.group}.{self.name}' if self.group and not self.is_group else self.name


class Record(Documented):
    """A struct or an enum."""

    def __init__(self, node, header):
        super().__init__(node, header)
        self.is_enum = node.get('kind') == 'enum'
        members = node.findall('enumvalue') if self.is_enum else node.findall('sectiondef/memberdef')
        self.fields = [Field(one.findtext('name'), text_of(one.find('type')), one.findtext('argsstring') or '',
                             [one.find('briefdescription'), one.find('detaileddescription')]) for one in members]
        self.group_fields()

    def group_fields(self):
        """Doxygen lists the members of an unnamed struct before the member whose type it is."""
        start = 0
        for number, field in enumerate(self.fields):
            if '::@' in field.type:
                field.is_group = True
                for one in self.fields[start:number + 1]:
                    one.group = field.name
                start = number + 1


class Header(Documented):
    """A public header; functions, macros and enums are in the order of the file."""

    def __init__(self, node, structs):
        super().__init__(node, None)
        self.name = node.find('location').get('file')
        members = [(one, part.find('description')) for part in node.findall('sectiondef')
                   for one in part.findall('memberdef') if one.findtext('name') not in ('RDMAEZ_H', None)]
        self.functions = [Function(one, self, group) for one, group in members if one.get('kind') == 'function']
        self.macros = [Function(one, self, group) for one, group in members if one.get('kind') == 'define']
        self.enums = [Record(one, self) for one, _ in members if one.get('kind') == 'enum']
        self.structs = [Record(one, self) for one in structs if one.find('location').get('file') == self.name]

    def include(self):
        """What a program includes to have it: rdmaez.h, unless that leaves the header out."""
        apart = self.name == 'rdmaez/implementation.h' or APART in text_of(self.detail)
        return self.name if apart else 'rdmaez.h'


def load(directory):
    """The headers, in the order of their names."""
    compounds = [ET.parse(file).getroot().find('compounddef')
                 for pattern in ('*_8h.xml', 'struct*.xml') for file in sorted(pathlib.Path(directory).glob(pattern))]
    structs = sorted((one for one in compounds if one.get('kind') == 'struct'),
                     key=lambda one: int(one.find('location').get('line')))
    headers = [Header(one, structs) for one in compounds if one.get('kind') == 'file']
    return sorted(headers, key=lambda header: header.name)
