#!/usr/bin/env python3
"""Fails when a public header, after preprocessing, is longer than header_weight.txt allows.

usage: header_weight.py COMPILER [ROOT]
The budgets are counted with g++ 12 and its standard library. A header that needs a newer library
has `newer` in place of a number.
"""
import concurrent.futures
import pathlib
import subprocess
import sys

# Every user of coroutines pays for these, so no budget may exceed this.
HARD_LIMITS = {"skua/coro/task.hpp": 9000}

NEWER = -1  # cannot be counted with this library


def weight(compiler: str, include: pathlib.Path, name: str):
    """Lines after preprocessing, or the compiler's first complaint."""
    done = subprocess.run(
        [compiler, "-E", "-P", "-std=c++23", f"-I{include}", "-x", "c++", str(include / name)],
        capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip().split("\n")[0]
    return done.stdout.count("\n")


def main(compiler: str, root: pathlib.Path) -> int:
    budgets = {}
    for line in (root / "header_weight.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, limit = line.split()
            budgets[name] = NEWER if limit == "newer" else int(limit)
    include = root / "include"
    names = sorted(p.relative_to(include).as_posix() for p in include.rglob("*.hpp"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        weights = dict(zip(names, pool.map(lambda n: weight(compiler, include, n), names)))

    faults = []
    for name, lines in weights.items():
        limit = budgets.get(name)
        if limit == NEWER:
            continue
        if isinstance(lines, str):
            faults.append(f"{name}: does not preprocess: {lines}")
        elif limit is None:
            faults.append(f"{name}: {lines} lines and no budget in header_weight.txt")
        elif lines > limit:
            faults.append(f"{name}: {lines} lines, {lines - limit} over its budget of {limit}")
    for name, limit in budgets.items():
        if name not in weights:
            faults.append(f"{name}: has a budget but does not exist")
        if limit > HARD_LIMITS.get(name, limit):
            faults.append(f"{name}: budget {limit} is above the hard limit {HARD_LIMITS[name]}")
    print("\n".join(faults) or f"header weight: {len(names)} headers within their budgets")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")))
