# SPDX-License-Identifier: MIT
"""The changes of a C file: one token or statement each."""

import collections
import os
import pathlib
import random
import re

ROOT = pathlib.Path(os.environ.get("RDMAEZ_MUTANTS_ROOT") or pathlib.Path(__file__).resolve().parents[2])

Change = collections.namedtuple("Change", "file line function start end new text")

# What stands in a function's body: the replacements of each token.
SWAPS = {
    "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"],
    ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["|"], "++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="],
    "|=": ["=", "&="], "&=": ["=", "|="], "true": ["false"], "false": ["true"], "continue": [""], "break": [""],
}
TOKEN = re.compile(r"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+\w*|\d+\w*|<<=|>>=|->|\+\+|--|<<|>>|[-<>=!+*/%&|^]=|&&|\|\||\S")
BINARY = {"+", "-", "*", "&"}


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """The text, as long, with blanks for comments, strings and directives."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", blank, text, flags=re.M | re.S)


def closing(tokens, at):
    """Where the bracket that opens there is closed."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(tokens[i][1], 0)
        if depth == 0:
            return i
    return len(tokens) - 1


def bodies(tokens):
    """First and last token and the name of each function."""
    at = 0
    while at < len(tokens):
        if tokens[at][1] == "{" and at and tokens[at - 1][1] == ")":
            begin, depth = at - 1, 0
            while True:
                depth += {")": 1, "(": -1}.get(tokens[begin][1], 0)
                if depth == 0:
                    break
                begin -= 1
            end = closing(tokens, at)
            yield at, end, tokens[begin - 1][1]
            at = end
        at += 1


def changes_of(name):
    """All changes to a header, by line."""
    text = (ROOT / name).read_text()
    tokens = [(m.start(), m.group()) for m in TOKEN.finditer(code_of(text))]
    lines = collections.defaultdict(list)

    def add(function, start, end, new):
        if text[start:end] != new:
            line = text.count("\n", 0, start) + 1
            lines[line].append(Change(name, line, function, start, end, new, text.split("\n")[line - 1].strip()))

    for first, last, function in bodies(tokens):
        for i in range(first + 1, last):
            start, token = tokens[i]
            before, after = tokens[i - 1][1], tokens[i + 1][1]
            end = start + len(token)
            unary = token in BINARY and not re.match(r"[\w)\]]", before[-1])
            declares = token == "*" and (after in "*),;" or re.match(r"[a-z_]\w*_t$|void|char|int|bool|const", before)
                                         or tokens[i - 2][1] in ("struct", "union", "enum"))
            if token in SWAPS and not unary and not declares and before not in ("case", "return"):
                for new in SWAPS[token]:
                    add(function, start, end, new)
            elif token == "!":
                add(function, start, end, "")
            elif re.match(r"\d", token) and before not in ("[", "case"):
                add(function, start, end, f"({token} + 1)")
                if not re.fullmatch(r"0\w*", token):
                    add(function, start, end, f"({token} - 1)")
            elif re.fullmatch(r"E[A-Z]{3,}", token):
                add(function, start, end, "EXDEV")
            elif token in ("if", "while") and after == "(":
                close = closing(tokens, i + 1)
                inner = tokens[i + 1][0] + 1, tokens[close][0]
                add(function, *inner, f"!({text[slice(*inner)]})")
                add(function, *inner, f"({text[slice(*inner)]}) && 0")
            elif token == "return" and after != ";":
                stop = next(j for j in range(i, last) if tokens[j][1] == ";")
                value = tokens[i + 1][0], tokens[stop][0]
                add(function, *value, "1" if text[slice(*value)].strip() == "0" else "0")
            elif before in ("{", "}", ";", ")", "else") and re.match(r"[a-z_*]", token):
                # A statement that calls or assigns, and no declaration.
                stop = next((j for j in range(i, last) if tokens[j][1] in ";{}"), last)
                statement = text[start:tokens[stop][0]]
                if tokens[stop][1] == ";" and re.match(r"\*?[\w.>\[\]*-]+\s*([-+|&^*/%]?=[^=]|\(|\+\+|--)", statement):
                    add(function, start, tokens[stop][0], "")
    return lines


def drawn(name, seed):
    """Changes by chance: over the lines, then over those of a line."""
    lines = changes_of(name)
    chance = random.Random(f"{seed} {name}")
    left = {line: chance.sample(found, len(found)) for line, found in lines.items()}
    while left:
        line = chance.choice(sorted(left))
        yield left[line].pop()
        if not left[line]:
            del left[line]


def told(change):
    new = " ".join(change.new.split()) or "nothing"
    old = " ".join((ROOT / change.file).read_text()[change.start:change.end].split())
    return f"{change.file}\t{change.function}\t{change.text}\t{old} -> {new}"
