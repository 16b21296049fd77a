#!/usr/bin/env python3
"""Compares the instructions per operation of hot paths with those kept in bench/instructions.txt.

usage: instruction_counts.py [--update] [--only TEXT] [--file FILE] DIRECTORY
       instruction_counts.py --programs

DIRECTORY has the benchmarks, such as build/release/bench. Counts come from callgrind, as in
instructions.py: exact, whatever else the machine does. More than a tenth above the file is a loss, and more
than a tenth below is a gain that nobody has kept: both fail with 1. --update writes today's counts into
the file instead; --only takes the paths whose benchmark, comparison or operation contains TEXT.
--programs prints which benchmarks are needed. Counts are those of one compiler: for another build, or
without valgrind, the code is 77.
"""
import argparse
import dataclasses
import pathlib
import re
import shutil
import sys

import instructions

FILE = pathlib.Path(__file__).resolve().parents[1] / "bench" / "instructions.txt"
TOLERANCE = 0.10
COMPILER, VERSION = "Clang", "19."
OPTIMISED = ("Release", "RelWithDebInfo")
SKIPPED = 77


class Wrong(Exception):
    pass


class OtherBuild(Exception):
    """Its counts say nothing about those in the file."""


@dataclasses.dataclass(frozen=True)
class Path:
    count: float
    benchmark: str
    comparison: str  # "-" if the benchmark has but one
    operation: str

    def name(self) -> str:
        return self.benchmark + ("" if self.comparison == "-" else f" {self.comparison}")

    def line(self) -> str:
        return f"{self.count:9.1f}  {self.benchmark:26} {self.comparison:28} {self.operation}\n"


def path_of(line: str) -> Path | None:
    """None for a comment, or nothing."""
    if not line.strip() or line.startswith("#"):
        return None
    words = line.split(None, 3)
    if len(words) != 4 or not re.fullmatch(r"\d+(\.\d+)?", words[0]):
        raise Wrong(f"not 'count benchmark comparison operation': {line.strip()}")
    return Path(float(words[0]), words[1], words[2], words[3].strip())


def paths_of(text: str) -> list:
    return [path for path in map(path_of, text.splitlines()) if path]


def count_now(path: Path, directory: pathlib.Path) -> float:
    program = directory / path.benchmark
    if not program.exists():
        raise Wrong(f"{program} was not built")
    only = [] if path.comparison == "-" else ["only", path.comparison]
    return instructions.per_round([str(program), *only], "ours")


def verdict(kept: float, now: float) -> str:
    """Empty if it is what it was."""
    if kept == 0:
        return "not counted before: keep it with --update"
    change = now / kept - 1
    if change > TOLERANCE:
        return f"{100 * change:.0f} % more"
    if change < -TOLERANCE:
        return f"{-100 * change:.0f} % less: keep the gain with --update"
    return ""


def fact(text: str, pattern: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""


def require_build(directory: pathlib.Path):
    """Raises if this is not the build whose counts are kept."""
    root = next((one for one in (directory, *directory.parents) if (one / "CMakeCache.txt").exists()), None)
    if root is None:
        raise Wrong(f"{directory} is in no build")
    cache = (root / "CMakeCache.txt").read_text(encoding="utf-8")
    compilers = list(root.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    about = compilers[0].read_text(encoding="utf-8") if compilers else ""
    compiler = fact(about, r'set\(CMAKE_CXX_COMPILER_ID "(.*)"\)')
    version = fact(about, r'set\(CMAKE_CXX_COMPILER_VERSION "(.*)"\)')
    if compiler != COMPILER or not version.startswith(VERSION):
        raise OtherBuild(f"built with {compiler} {version}, not {COMPILER} {VERSION[:-1]}")
    kind = fact(cache, r"^CMAKE_BUILD_TYPE:\w+=(.*)$")
    sanitizer = fact(cache, r"^SKUA_SANITIZE:\w+=(.*)$")
    linked = fact(cache, r"^CMAKE_INTERPROCEDURAL_OPTIMIZATION:\w+=(.*)$")
    if kind not in OPTIMISED or sanitizer or linked in ("ON", "TRUE", "1"):
        raise OtherBuild("not an optimised build as users have it: the preset is 'release'")


def compare(paths: list, directory: pathlib.Path) -> int:
    differ = 0
    for path in paths:
        now = count_now(path, directory)
        said = verdict(path.count, now)
        differ += bool(said)
        print(f"{path.name():54} {path.count:9.1f} -> {now:9.1f}" + (f"  {said}" if said else ""), flush=True)
    print(f"{differ} of {len(paths)} paths differ by more than {TOLERANCE:.0%}" if differ
          else f"all {len(paths)} paths cost what they did")
    return 1 if differ else 0


def update(file: pathlib.Path, chosen: set, directory: pathlib.Path):
    """Comments, order and the paths that are not chosen stay."""
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
        path = path_of(line)
        if path in chosen:
            now = count_now(path, directory)
            print(f"{path.name():54} {path.count:9.1f} -> {now:9.1f}", flush=True)
            line = dataclasses.replace(path, count=now).line()
        lines.append(line)
    file.write_text("".join(lines), encoding="utf-8")


def run(given: argparse.Namespace) -> int:
    paths = paths_of(given.file.read_text(encoding="utf-8"))
    if given.programs:
        print("\n".join(dict.fromkeys(path.benchmark for path in paths)))
        return 0
    chosen = [path for path in paths if given.only in path.line()]
    if not chosen:
        raise Wrong(f"no path contains '{given.only}'")
    directory = given.directory.resolve()
    require_build(directory)
    if shutil.which("valgrind") is None:
        raise OtherBuild("valgrind is missing")
    if given.update:
        update(given.file, set(chosen), directory)
        return 0
    return compare(chosen, directory)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true", help="write today's counts into the file")
    parser.add_argument("--only", default="", metavar="TEXT", help="paths that contain this")
    parser.add_argument("--file", type=pathlib.Path, default=FILE)
    parser.add_argument("--programs", action="store_true", help="print the benchmarks, and end")
    parser.add_argument("directory", type=pathlib.Path, nargs="?")
    given = parser.parse_args()
    if given.directory is None and not given.programs:
        parser.error("where are the benchmarks? Such as build/release/bench")
    try:
        return run(given)
    except OtherBuild as why:
        print(f"skipped: {why}")
        return SKIPPED
    except (Wrong, OSError) as why:
        print(f"instruction_counts.py: {why}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
