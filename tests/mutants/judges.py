# SPDX-License-Identifier: MIT
"""What judges a change: the unit tests, or the tests of the tools."""

import collections
import contextlib
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import threading
import time

from changes import ROOT

KEPT = ROOT / "build/mutants"
HEADERS = "include/rdmaez"
TOOLS = ("explain", "doctor")
FLAGS = ["-std=c11", "-w", "-Itests", "-Itests/fake"]
# tcc is ten times as fast; what it cannot compile, or what fails by it unchanged, is left to gcc. It has no variables of
# threads; the tests of threads are others.
COMPILERS = {"tcc": ["tcc", "-D_Thread_local="], "gcc": ["gcc", "-O0", "-g0"]}


def ends_with(command, seconds, directory=ROOT):
    """The exit status of a command; 124 if it takes longer. What it has begun ends with it."""
    def limits():
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 27, 1 << 27))

    process = subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=limits)
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        status = 124
    end(process)
    return status


def end(process):
    """Ends what a process has begun, and itself."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def compiled(kind, include, source, to, *more):
    return ends_with([*COMPILERS[kind], *FLAGS, f"-I{include}", *more, "-c", source, "-o", to], 300) == 0


def symbols(path):
    listed = subprocess.run(["nm", path], capture_output=True, text=True, check=False).stdout
    return {line.split()[-1] for line in listed.splitlines() if line.split()[-2:-1] not in (["U"], ["w"])}


@contextlib.contextmanager
def made(change, path):
    """The file has the change for as long."""
    text = path.read_text()
    path.write_text(text[:change.start] + change.new + text[change.end:])
    try:
        yield
    finally:
        path.write_text(text)


class Tests:
    """The unit tests as they are, and what each has of the headers."""

    def __init__(self, work, seconds):
        self.work, self.seconds = work, seconds
        self.kind, self.has, self.cost, self.fake = {}, {}, {}, {}
        include = ROOT / "include"
        for kind in COMPILERS:
            (work / kind).mkdir()
            self.fake[kind] = []
            for source in sorted((ROOT / "tests/fake").glob("*.c")):
                to = work / kind / f"fake_{source.stem}.o"
                if compiled(kind, include, source, to):
                    self.fake[kind].append(to)
            compiled(kind, include, ROOT / "tests/implementation.c", work / kind / "implementation.o")
        self.explanations = symbols(work / "gcc/implementation.o")
        self.original = self.code(include, work)

    def begin(self, test):
        """How to compile a test so that it passes unchanged."""
        include = ROOT / "include"
        for kind in COMPILERS:
            objects, to = self.work / kind, self.work / kind / test
            if not self.built(kind, include, test, objects, to):
                continue
            begun = time.monotonic()
            if ends_with([to], 6 * self.seconds) == 0:
                self.kind[test], self.has[test] = kind, symbols(self.work / kind / f"{test}.o")
                self.cost[test] = time.monotonic() - begun
                return None
        return test

    def built(self, kind, include, test, objects, to):
        """`objects` has what of the headers was compiled, the explanations among it."""
        own = objects / f"{test}.o"
        return (compiled(kind, include, ROOT / f"tests/unit/{test}.c", own) and
                ends_with([*COMPILERS[kind], own, objects / "implementation.o", *self.fake[kind], "-o", to], 300) == 0)

    def near(self, change):
        """The tests that the change may reach: first those of its header, then the short ones."""
        stem = pathlib.Path(change.file).stem
        own = {test: change.function in has for test, has in self.has.items()}
        reached = [test for test in self.kind if own[test] or change.function in self.explanations]
        # A function that is always inlined is nowhere by its name.
        return sorted(reached or self.kind, key=lambda test: (not test.startswith(stem), not own[test], self.cost[test]))

    def code(self, include, work):
        """What gcc makes of all bodies."""
        to = work / "all.o"
        ends_with(["gcc", *FLAGS, f"-I{include}", "-O2", "-g0", "-DRDMAEZ_EXTERN", "-c",
                   ROOT / "tests/implementation.c", "-o", to], 600)
        ends_with(["objcopy", "--strip-all", "--remove-section=.comment", to], 60)
        return hashlib.sha256(to.read_bytes()).digest() if to.exists() else None

    def judge(self, change, work):
        """By what the change is caught: None if by nothing, "" if it is no change."""
        include = work / "include"
        with made(change, work / change.file):
            done = set()
            for test in self.near(change):
                kind = self.kind[test]
                objects = work / kind
                objects.mkdir(exist_ok=True)
                if kind not in done and not compiled(kind, include, ROOT / "tests/implementation.c",
                                                     objects / "implementation.o"):
                    return ""
                done.add(kind)
                if not self.built(kind, include, test, objects, work / "test"):
                    return ""
                status = ends_with([work / "test"], self.seconds)
                if status:
                    return f"{test}, which hangs" if status == 124 else test
            return "" if self.code(include, work) == self.original else None


class ToolTests:
    """The tests of both tools, each with the blocks of code that it comes to. They run in copies of the tree."""

    # Where root runs them, a changed tool ends with its children, and signals nobody outside.
    APART = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] if os.geteuid() == 0 else []
    BINARIES = ("rdmaez-explain", "rdmaez-explain.so", "rdmaez-doctor")

    def __init__(self, pool, places):
        """`places` are directories: each becomes a copy."""
        self.original = {}
        names = [str(name.relative_to(ROOT)) for tool in TOOLS for place in ("device", "tools")
                 for name in sorted(ROOT.glob(f"tests/{place}/{tool}*.t"))]
        digest = hashlib.sha256()
        for path in sorted(path for place in (HEADERS, "tools", "tests") for path in (ROOT / place).rglob("*")):
            digest.update(path.read_bytes() if path.is_file() else b"")
        known = KEPT / f"reached-{digest.hexdigest()[:20]}"
        if known.exists():
            # The seconds of each test; and of each file and line at which a block begins, the tests that come to it.
            self.cost, self.reached = json.loads(known.read_text())
            places = [self.copy(place) for place in places]
        else:
            self.cost, self.reached = {}, collections.defaultdict(lambda: collections.defaultdict(list))
            self.ask(pool, places, names)
            known.parent.mkdir(parents=True, exist_ok=True)
            known.write_text(json.dumps([self.cost, self.reached]))
        blocks = [tests for lines in self.reached.values() for tests in lines.values()]
        print(f"# the tests come to {sum(map(bool, blocks))} of {len(blocks)} blocks of the tools", flush=True)
        for path in sorted(places[0].glob("tools/*/*.c")):
            self.original[path.relative_to(places[0])] = self.code(places[0], path.relative_to(places[0]))

    def ask(self, pool, places, names):
        """What each test comes to, and how long it takes."""
        free = [self.marking(place) for place in places]
        blocks = [block for binary in self.BINARIES for block in self.blocks(free[0], binary)]

        def mark(test):
            tree = free.pop()
            try:
                marks = self.mark(tree, test)
                for file, line, binary, at in blocks:
                    if marks[binary][at // 8] >> at % 8 & 1 and test not in self.reached[file][line]:
                        self.reached[file][line].append(test)
            finally:
                free.append(tree)
        for file, line, *_ in blocks:
            self.reached[file][line] = []
        list(pool.map(mark, names))
        for place in places:
            shutil.rmtree(place)
            self.copy(place)
        for test in [test for test in names if test not in self.cost]:
            if not self.passes(places[0], test):
                print(f"# {test} fails without a change, and catches nothing here", flush=True)

    def copy(self, to):
        shutil.copytree(ROOT, to, symlinks=True, ignore=lambda path, names: [
            name for name in names if name == ".git" or (path == str(ROOT / "build") and name not in (
                "tools", "tests", "threads", "device", "examples", "objects"))])
        return to

    def marking(self, place):
        """A copy whose tools mark what they come to, and whose guests bring the marks home."""
        tree = self.copy(place)
        (tree / "marks").mkdir(mode=0o777)
        for binary in self.BINARIES:
            subprocess.run(["gcc", "-O2", "-fPIC", f'-DFILE_NAME="{tree}/marks/{binary}"', "-c",
                            ROOT / "tests/mutants/reach.c", "-o", tree / f"{binary}.o"], check=True)
        shutil.rmtree(tree / "build/tools")
        subprocess.run(["make", "--silent", "tools", "TOOLS_CFLAGS=-w -O0 -fsanitize-coverage=trace-pc",
                        f"LDFLAGS={tree}/$(@F).o"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
        guests = tree / "guests"
        (tree / "tools/softroce").rename(tree / "tools/softroce-unmarked")
        (tree / "tools/softroce").write_text(
            f'#!/bin/sh\nexec "${{0%/*}}/softroce-unmarked" --write {guests} "$@"\n')
        (tree / "tools/softroce").chmod(0o755)
        init = tree / "tools/softroce.d/init"
        init.write_text(init.read_text().replace(
            '\tend_with "$code"', f'\tcp -r {tree}/marks {guests}/$(cat /proc/sys/kernel/random/uuid)\n\tend_with "$code"'))
        return tree

    def blocks(self, tree, binary):
        """File, line and address of each block: where gcc has put a call that marks."""
        path = tree / "build/tools" / binary
        code = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", path], capture_output=True, text=True,
                              check=True).stdout
        after = [int(at, 16) for at in re.findall(r"call +[0-9a-f]+ <__sanitizer_cov_trace_pc.*\n *([0-9a-f]+):", code)]
        lines = subprocess.run(["addr2line", "-e", path], input="".join(f"{at - 1:x}\n" for at in after),
                               capture_output=True, text=True, check=True).stdout.splitlines()
        for at, line in zip(after, lines):
            place = re.search(r"(tools/\w+/\w+\.c):(\d+)", line)
            if place:
                yield place[1], int(place[2]), binary, at

    def mark(self, tree, test):
        """What a test marks of each binary, a bit for each byte of its code."""
        for binary in self.BINARIES:
            path = tree / "marks" / binary
            path.write_bytes(bytes(1 << 20))
            path.chmod(0o666)
        shutil.rmtree(tree / "guests", ignore_errors=True)
        self.passes(tree, test, whole=True)
        marks = {}
        for binary in self.BINARIES:
            both = 0
            for path in [tree / "marks" / binary, *tree.glob(f"guests/*/{binary}")]:
                both |= int.from_bytes(path.read_bytes(), "little")
            marks[binary] = both.to_bytes(1 << 20, "little")
        return marks

    def passes(self, tree, test, whole=False):
        """Whether a test passes unchanged, and how long it takes."""
        begun = time.monotonic()
        failed = self.fails(tree, test, whole)
        if not failed:
            self.cost[test] = time.monotonic() - begun
        return not failed

    def fails(self, tree, test, whole=False):
        """Whether a test fails, or takes much longer than unchanged; ends it as soon as that is known, if not `whole`."""
        limit = 4 * self.cost[test] + 60 if test in self.cost else 1800
        files = tree / "tmp"
        files.mkdir()
        files.chmod(0o1777)
        process = subprocess.Popen([*self.APART, "tests/run", test], cwd=tree, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, "TMPDIR": str(files)})
        late = threading.Timer(limit, end, [process])
        late.start()
        planned, told = None, 0
        for line in process.stdout:
            told += line.startswith(b"ok")
            if line.startswith(b"1.."):
                planned = int(line.split()[0][3:])
            if line.startswith(b"not ok") and not whole:
                planned = None
                break
        if planned is not None:
            process.wait()
        late.cancel()
        end(process)
        shutil.rmtree(files, ignore_errors=True)
        return planned is None or planned != told or process.returncode != 0

    def code(self, tree, path):
        """What gcc makes of a file, without what a debugger wants to know."""
        plain = tree / "plain.o"
        ends_with(["objcopy", "--strip-debug", tree / "build" / path.with_suffix(".o"), plain], 60, tree)
        return hashlib.sha256(plain.read_bytes()).digest() if plain.exists() else None

    def near(self, change):
        """The tests that come to the block in which the change is: first those of its file, then the short ones. A test
        that names the file, such as to compile it by itself, leaves no marks."""
        stem, lines = pathlib.Path(change.file).stem, self.reached.get(change.file, {})
        line = max((line for line in lines if int(line) <= change.line), key=int, default=None)
        tests = [test for test in self.cost
                 if test in lines.get(line, []) or change.file in (ROOT / test).read_text()]
        return sorted(tests, key=lambda test: (stem not in test, self.cost[test]))

    def judge(self, change, work):
        path = pathlib.Path(change.file)
        with made(change, work / path):
            if ends_with(["make", "--silent", "tools"], 600, work) or self.code(work, path) == self.original[path]:
                return ""
            return next((test for test in self.near(change) if self.fails(work, test)), None)
