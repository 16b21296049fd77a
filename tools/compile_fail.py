#!/usr/bin/env python3
"""Passes if a source does NOT compile, for the reasons it states in '// expect: ...' lines.

usage: compile_fail.py [--must-compile] SOURCE -- COMPILER [FLAG...]

Each expectation is a text or a regular expression; the compiler's output must have all of them.
--must-compile turns it round: without that control a wrong include path would pass every case.
"""
import os
import re
import subprocess
import sys

EXPECT = re.compile(r"^// expect: (.+)$", re.M)


def appears(expected: str, output: str) -> bool:
    return expected in output or re.search(expected, output) is not None


def main(arguments: list) -> int:
    split = arguments.index("--")
    options, command = arguments[:split], arguments[split + 1:]
    must_compile = "--must-compile" in options
    source = options[-1]
    with open(source, encoding="utf-8") as file:
        expectations = EXPECT.findall(file.read())
    if must_compile == bool(expectations):
        print(f"{source}: a case needs '// expect: ...' lines, a control none")
        return 1

    done = subprocess.run([*command, "-fsyntax-only", source], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"})  # plain quotes, English
    output = done.stdout + done.stderr
    compiled = done.returncode == 0
    if must_compile and not compiled:
        print(f"{source}: must compile, but:\n{output}")
        return 1
    if not must_compile and compiled:
        print(f"{source}: compiles, but must not")
        return 1
    missing = [e for e in expectations if not appears(e, output)]
    for expected in missing:
        print(f"{source}: does not compile, but never says '{expected}':")
    if missing:
        print(output)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
