#!/usr/bin/env python3
"""Counts the instructions per round of both sides of a comparing benchmark, and their ratio.

usage: instructions.py [--at-most RATIO] BENCHMARK

Runs `BENCHMARK ours N` and `BENCHMARK theirs N` under callgrind for two N; the difference leaves out
start and end. The counts are exact and repeatable. Exits 1 if ours / theirs is more than RATIO.
"""
import argparse
import re
import subprocess
import sys
import tempfile

FEW, MANY = 1_000, 11_000


def instructions(benchmark: str, side: str, rounds: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", benchmark, side,
             str(rounds)], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"instructions.py: valgrind cannot run '{benchmark} {side}':\n{done.stderr}")
    return int(found[1])


def per_round(benchmark: str, side: str) -> float:
    both = [instructions(benchmark, side, rounds) for rounds in (FEW, MANY)]
    return (both[1] - both[0]) / (MANY - FEW)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--at-most", type=float, metavar="RATIO")
    parser.add_argument("benchmark")
    given = parser.parse_args()
    ours, theirs = (per_round(given.benchmark, side) for side in ("ours", "theirs"))
    ratio = ours / theirs
    print(f"instructions per round: ours {ours:.1f}, theirs {theirs:.1f}, ratio {ratio:.2f}")
    if given.at_most is not None and ratio > given.at_most:
        print(f"more than {given.at_most}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
