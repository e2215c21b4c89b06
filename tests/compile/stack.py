# SPDX-License-Identifier: MIT
"""How much stack a public function of the headers may take: the worst chain of calls, by what gcc says of each frame.

    stack.py CALLS PAGE: the call graph of an object that has all bodies, as -fcallgraph-info=su writes it, and the page
    that states the bounds. Prints what is wrong, and fails then.

What is not seen: the C library, libibverbs and its provider, and functions that are called by a pointer, which are small.
"""

import re
import sys

USUAL, LARGE = 4096, 16384
# Those that print, or bring up a connection, with a path, a record or a paragraph of their own.
IS_LARGE = re.compile(
    r"_(print|format|line|json|need)$|^rdmaez_(exchange|handshake|cm|simple|endpoint)(_|$)|^rdmaez_qp_(connect|recover)")


def read(name):
    """The frames by function, -1 where one has no bound, and whom each calls."""
    frames, calls = {}, {}
    with open(name, encoding="ascii") as lines:
        for line in lines:
            node = re.match(r'node: \{ title: "([^"]+)" label: "([^"]*)"', line)
            edge = re.match(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', line)
            if node:
                size = re.search(r"(\d+) bytes \((static|dynamic,bounded|dynamic)\)", node[2])
                frames[node[1]] = 0 if not size else -1 if size[2] == "dynamic" else int(size[1])
            elif edge:
                calls.setdefault(edge[1], set()).add(edge[2])
    return frames, calls


def worst(function, frames, calls, known, above):
    """The bytes of the worst chain from here, and its functions."""
    if function in above:
        return 0, [function + " calls itself"]
    if function not in known:
        deeper = (0, [])
        for callee in sorted(calls.get(function, ())):
            deeper = max(deeper, worst(callee, frames, calls, known, above | {function}), key=lambda chain: chain[0])
        known[function] = frames[function] + deeper[0], [function] + deeper[1]
    return known[function]


def main():
    frames, calls = read(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        page = file.read().split("## How much stack", 1)[-1].split("\n## ", 1)[0]
    wrong, known, seen = [], {}, 0
    for function in sorted(frames):
        name = function.split(":")[-1]
        if frames[function] < 0:
            wrong.append(f"{name}: a frame without a bound")
        if not name.startswith("rdmaez_") or name.startswith("rdmaez_impl_"):
            continue
        seen += 1
        size, chain = worst(function, frames, calls, known, frozenset())
        most = LARGE if IS_LARGE.search(name) else USUAL
        if size > most:
            names = " > ".join(f"{at.split(':')[-1]} {frames.get(at, 0)}" for at in chain if frames.get(at, 0) > 100)
            wrong.append(f"{name}: {size} bytes of stack, above {most}: {names}")
        if (size > USUAL) != (f"| {name}() |" in page):
            wrong.append(f"{name}: {size} bytes of stack, and the page does not say so")
    if seen < 150:
        wrong.append(f"only {seen} public functions")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
