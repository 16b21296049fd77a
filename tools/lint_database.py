#!/usr/bin/env python3
"""Writes a compilation database with each of our sources once, and prints those sources.

The build's own database names a source once per optimisation level, and clang-tidy would check it
as often; it also holds sources that CMake generated. Precompiled headers are left out of the
commands: none is built for a lint, and so an include that is missing shows.

usage: lint_database.py BUILD_DIRECTORY LINT_DIRECTORY
"""
import json
import pathlib
import re
import sys


PRECOMPILED = r"-Winvalid-pch|-Xclang -include(-pch)? -Xclang \S*cmake_pch\S*"


def main(build: pathlib.Path, lint: pathlib.Path) -> int:
    entries = json.loads((build / "compile_commands.json").read_text())
    generated = str(build.resolve())
    once = {e["file"]: e for e in entries if not e["file"].startswith(generated)}
    for entry in once.values():
        entry["command"] = re.sub(PRECOMPILED, "", entry["command"])
    if not once:
        print(f"lint_database: no sources in {build}", file=sys.stderr)
        return 1
    lint.mkdir(parents=True, exist_ok=True)
    (lint / "compile_commands.json").write_text(json.dumps(list(once.values()), indent=1))
    print("\n".join(sorted(once)))
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
