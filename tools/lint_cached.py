#!/usr/bin/env python3
"""Runs clang-tidy on the files named on standard input, but not on those it has found clean before.

What a file comes to after preprocessing, the configuration and clang-tidy's version decide whether it
is the same; that is told in a directory of the user's cache (SKUA_LINT_CACHE, if set), and a file
that is not is checked anew.

usage: lint_cached.py CLANG_TIDY COMPILE_DATABASE_DIRECTORY < FILES
Exits 1 if a file is not clean.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys


def cache_directory() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("SKUA_LINT_CACHE") or pathlib.Path(base) / "skua-lint")


def preprocessed(entry: dict, root: str) -> bytes:
    """Comments stay: NOLINT is one. Where the sources lie does not matter."""
    words = shlex.split(entry["command"])
    while words and not re.search(r"(clang\+\+|g\+\+)[-0-9.]*$", words[0]):
        words.pop(0)  # ccache, and how it is called
    command = []
    skip = False
    for word in words:
        if skip or word in ("-o", "-MF", "-MT"):
            skip = not skip
        elif word not in ("-c", "-MD"):
            command.append(word)
    done = subprocess.run([*command, "-E", "-C", "-P"], cwd=entry["directory"], capture_output=True)
    return done.stdout.replace(root.encode(), b"") if done.returncode == 0 else os.urandom(16)


def is_clean(tidy: str, database: str, entry: dict, seed: bytes, cache: pathlib.Path, root: str) -> bool:
    name = os.path.relpath(entry["file"], root)
    known = cache / hashlib.sha256(seed + name.encode() + preprocessed(entry, root)).hexdigest()
    if known.exists():
        return True
    done = subprocess.run([tidy, "-p", database, "--quiet", entry["file"]], capture_output=True, text=True)
    if done.stdout:
        print(done.stdout, end="", flush=True)
    if done.returncode != 0:
        print("\n".join(l for l in done.stderr.splitlines() if not l.endswith(" generated.")), flush=True)
        return False
    known.touch()
    return True


def main(tidy: str, database: str) -> int:
    root = os.getcwd()
    entries = {e["file"]: e for e in json.loads(pathlib.Path(database, "compile_commands.json").read_text())}
    version = subprocess.run([tidy, "--version"], capture_output=True, check=True).stdout
    configurations = sorted(pathlib.Path(root).glob("**/.clang-tidy"))
    seed = version + b"".join(p.read_bytes() for p in configurations if "build" not in p.parts)
    cache = cache_directory()
    cache.mkdir(parents=True, exist_ok=True)
    files = [line.strip() for line in sys.stdin if line.strip()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(lambda f: is_clean(tidy, database, entries[f], seed, cache, root), files))
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
