#!/usr/bin/env python3
"""Counts the instructions per round of both sides of a comparing benchmark, and their ratio.

usage: instructions.py [--at-most RATIO] [--only NAME] BENCHMARK

Runs `BENCHMARK ours N` and `BENCHMARK theirs N` under callgrind for two N; the difference leaves out
start and end. The counts are exact and repeatable. Exits 1 if ours / theirs is more than RATIO.
Of a benchmark with several comparisons, --only takes one.

Runtimes in it talk to no kernel (SKUA_BACKEND=none): valgrind 3.19 does not know that a thread may sleep
in a ring, keeps its one lock for that thread, and lets no other run. With io_uring a benchmark that has a
worker beside the main thread therefore hangs, always; it is no fault of the benchmark.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

FEW, MANY = 1_000, 11_000
LONGEST = 300  # seconds


def instructions(benchmark: list, side: str, rounds: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={scratch}/out", *benchmark,
                   side, str(rounds)]
        what = " ".join([*benchmark, side])
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST,
                                  env=os.environ | {"SKUA_BACKEND": "none"})
        except subprocess.TimeoutExpired:
            sys.exit(f"instructions.py: '{what}' hangs")
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"instructions.py: valgrind cannot run '{what}':\n{done.stderr}")
    return int(found[1])


def per_round(benchmark: list, side: str) -> float:
    both = [instructions(benchmark, side, rounds) for rounds in (FEW, MANY)]
    return (both[1] - both[0]) / (MANY - FEW)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--at-most", type=float, metavar="RATIO")
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("benchmark")
    given = parser.parse_args()
    command = [given.benchmark, *(["only", given.only] if given.only else [])]
    ours, theirs = (per_round(command, side) for side in ("ours", "theirs"))
    ratio = ours / theirs
    print(f"instructions per round: ours {ours:.1f}, theirs {theirs:.1f}, ratio {ratio:.2f}")
    if given.at_most is not None and ratio > given.at_most:
        print(f"more than {given.at_most}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
