#!/usr/bin/env python3
"""Rules of the project that a machine can check. Lists file:line for each breach, then exits 1.

usage: tidy.py [ROOT]
"""
import pathlib
import re
import sys

# A layer may include itself and every layer of the rows above its own.
ROWS = [
    ["base"],
    ["coro", "sched", "driver"],
    ["runtime"],
    ["sync"],
    ["io"],
    ["time"],
    ["net", "fs"],
    ["process"],
    ["fiber", "interop", "tools"],
]
ROW = {layer: number for number, row in enumerate(ROWS) for layer in row}

LINES_MAX, COLUMNS_MAX = 500, 100
NOWHERE = r"^$"

# token, where it is allowed, what to use instead
BANNED = [
    (r"#\s*define\b", r"^include/skua/base/abi\.hpp$", "a constexpr, a function or an enum"),
    (r"#\s*if(def|ndef)?\b", r"^include/skua/base/(abi|sanitizer)\.hpp$",
     "two .cpp files chosen by CMake, or base/sanitizer.hpp"),
    (r"\bstd::j?thread\b|\bpthread_create\b", r"^src/runtime/|^tests/|^bench/",
     "the runtime's own threads"),
    (r"\bthread_local\b", r"^src/runtime/current\.[ch]pp$|^src/fiber/running\.cpp$|recycler|^bench/",
     "skua::current()"),
    (r"\bsyscall\s*\(", r"^src/driver/|^bench/support/call_counter\.cpp$", "a wrapper in src/driver/"),
    (r"\berrno\b", r"^src/(base|driver|io|process|fiber)/|^tests/|^bench/",
     "the negative result of the wrapper"),
    (r"\bstd::function\b", r"^tests/|^bench/", "work, or a template parameter"),
    (r"\bstd::shared_ptr\b", r"^tests/", "one owner"),
    (r"(?<!asm )\bvolatile\b|\breinterpret_cast\b.*atomic", r"^bench/",
     "std::atomic or std::atomic_ref"),
    (r"\bnamespace detail\b", NOWHERE, "a named type, or the .cpp"),
]
BANNED_IN_PUBLIC_HEADERS = [
    (r"using namespace", NOWHERE, "qualified names"),
    (r"#include <(iostream|thread|functional|memory|regex|liburing\.h)>", NOWHERE, "the .cpp"),
    (r"#include <string>", r"^include/skua/(net|fs|process)/", "the .cpp"),
    (r"\bNDEBUG\b", NOWHERE, "check(), which is always on"),
]
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX)\b")
CHRONO_ONLY_IN = "include/skua/time/"
NAMESPACE = re.compile(r"\s*(inline )?namespace skua\b(?!::inline SKUA_ABI\b)")
ORDER = re.compile(r"memory_order(_|::)\w+|atomic_thread_fence")
ORDER_REACH = 8  # lines above a memory order in which its reason stands
EDGE = re.compile(r"\[([a-z0-9_]+\.[a-z0-9_]+)\]\s+(release|acquire|acq_rel|seq_cst)")
STRING = re.compile(r'"(\\.|[^"\\])*"')


class Tidy:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.faults = []
        self.edges = {}  # name -> {side: path}
        self.sources = sorted(
            p for top in ("include", "src", "tests", "bench", "examples", "tools", "packaging")
            for p in (root / top).rglob("*") if p.suffix in (".hpp", ".cpp"))

    def fault(self, path: str, line: int, text: str):
        self.faults.append(f"{path}:{line}: {text}")

    def check_file(self, path: str, lines: list):
        own = path.removeprefix("include/")
        if not re.match(rf"// {re.escape(own)}: .+\.$", lines[0]):
            self.fault(path, 1, f"first line must be '// {own}: one-line purpose.'")
        if path.endswith(".hpp") and "#pragma once" not in lines:
            self.fault(path, 1, "a header without '#pragma once'")
        if len(lines) - 1 > LINES_MAX:
            self.fault(path, len(lines), f"{len(lines) - 1} lines; at most {LINES_MAX}")
        for number, line in enumerate(lines, 1):
            self.check_line(path, number, line)

    def check_line(self, path: str, number: int, line: str):
        if len(line) > COLUMNS_MAX:
            self.fault(path, number, f"line exceeds {COLUMNS_MAX} columns")
        if found := LEFT_OVER.search(line):
            self.fault(path, number, f"'{found[0]}' left over; do it, or file it")
        code = STRING.sub('""', line).split("//")[0]
        for token, allowed, instead in BANNED:
            if (found := re.search(token, code)) and not re.search(allowed, path):
                self.fault(path, number, f"'{found[0]}' here; use {instead}")
        if path.startswith("include/"):
            for token, allowed, instead in BANNED_IN_PUBLIC_HEADERS:
                if (found := re.search(token, code)) and not re.search(allowed, path):
                    self.fault(path, number, f"'{found[0]}' in a public header; use {instead}")
            if "<chrono>" in code and not path.startswith(CHRONO_ONLY_IN):
                self.fault(path, number, "<chrono> outside time/; take integer nanoseconds")

    def check_library_file(self, path: str, lines: list):
        layer = path.split("/")[2 if path.startswith("include/") else 1]
        if "/" in path.removeprefix("include/skua/").removeprefix("src/") and layer not in ROW:
            self.fault(path, 1, f"'{layer}' is not a layer")
        for number, line in enumerate(lines, 1):
            code = line.split("//")[0]
            if NAMESPACE.match(code):
                self.fault(path, number, "write 'namespace skua::inline SKUA_ABI {'")
            used = re.match(r'\s*#include "(?:skua/)?(\w+)/', line)
            if used and layer in ROW and used[1] != layer:
                if ROW.get(used[1], len(ROWS)) >= ROW[layer]:
                    self.fault(path, number, f"layer '{layer}' may not include '{used[1]}'")
            if ORDER.search(code):
                near = lines[max(0, number - 1 - ORDER_REACH):number]
                if not any("// order:" in text for text in near):
                    self.fault(path, number, "a memory order without '// order: ...'")
        for name, side in EDGE.findall("\n".join(lines)):
            self.edges.setdefault(name, {}).setdefault(side, path)

    def check_edges(self):
        for name, sides in sorted(self.edges.items()):
            both = {"acquire", "release"} <= sides.keys() or sides.keys() & {"seq_cst", "acq_rel"}
            if not both:
                path = next(iter(sides.values()))
                self.fault(path, 1, f"edge [{name}] has only a {'/'.join(sides)} side")

    def check_tests(self):
        """Every source has a test or an excuse, every test is registered, no excuse is stale."""
        tests = self.root / "tests"
        excuses = tests / "untested.txt"
        excused = [line.split()[0] for line in excuses.read_text().splitlines()
                   if line.strip() and not line.startswith("#")] if excuses.exists() else []
        lists = tests / "CMakeLists.txt"
        registered = lists.read_text() if lists.exists() else ""
        paths = [p.relative_to(self.root).as_posix() for p in self.sources]
        for path in paths:
            if path.startswith("src/") and path.endswith(".cpp"):
                test = "tests/" + path.removeprefix("src/").removesuffix(".cpp") + "_test.cpp"
                if test not in paths and path not in excused:
                    self.fault(path, 1, f"no {test} and no line in tests/untested.txt")
                if test in paths and path in excused:
                    self.fault("tests/untested.txt", 1, f"{path} has a test now")
            if path.startswith("tests/") and path.endswith("_test.cpp"):
                name = path.removeprefix("tests/").removesuffix("_test.cpp")
                if not re.search(rf"^\s*skua_test\({re.escape(name)}\s", registered, re.M):
                    self.fault(path, 1, f"no skua_test({name} ...) in tests/CMakeLists.txt")
        for path in excused:
            if path not in paths:
                self.fault("tests/untested.txt", 1, f"{path} does not exist")

    def run(self) -> int:
        for file in self.sources:
            path = file.relative_to(self.root).as_posix()
            lines = file.read_text().split("\n")
            self.check_file(path, lines)
            if path.startswith(("include/", "src/")):
                self.check_library_file(path, lines)
        self.check_edges()
        self.check_tests()
        clean = f"tidy: {len(self.sources)} files, {len(self.edges)} named edges, clean"
        print("\n".join(self.faults) or clean)
        return 1 if self.faults else 0


if __name__ == "__main__":
    sys.exit(Tidy(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")).run())
