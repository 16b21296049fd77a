#!/usr/bin/env python3
"""Runs clang-tidy over all our sources, many at a time, and not over what it has found clean before.

Most of what clang-tidy does for one file it does for the standard library's headers. So sources are
checked in groups: a file is written that includes them all, those with names of their own (tests,
examples, benchmarks) each within a namespace, after the headers that any of them wants. A group that
does not compile in this form is checked file by file.

What a group comes to after preprocessing, the configuration and clang-tidy's version decide whether
it is the same as before; that is told in a directory of the user's cache (SKUA_LINT_CACHE, if set).

usage: lint.py CLANG_TIDY BUILD_DIRECTORY LINT_DIRECTORY
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

LARGEST_GROUP = 20
PRECOMPILED = r"-Winvalid-pch|-Xclang -include(-pch)? -Xclang \S*cmake_pch\S*"
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
UNIT = re.compile(r'^#include "(.*\.cpp)"$', re.MULTILINE)  # of several sources, as CMake writes it
GLOBAL = re.compile(r"^namespace [\w:]+ \{|^\S.*\boperator (new|delete)\(", re.MULTILINE)


class Group:
    """Sources that are compiled alike; in the library, and among what tests share, of one directory."""

    def __init__(self, name: str, command: list[str], sources: list[pathlib.Path]):
        self.name, self.command, self.sources = name, command, sources

    def text(self, root: pathlib.Path) -> str:
        share_names = len(self.sources) == 1 or has_names_to_share(self.sources[0], root)
        lines = ["// NOLINTBEGIN(bugprone-suspicious-include)"]
        if not share_names:
            wanted = {line for source in self.sources for line in INCLUDE.findall(source.read_text())}
            lines += sorted(wanted, key=lambda line: ("<" in line, line))
        for number, source in enumerate(self.sources):
            include = f'#include "{source}"'
            lines.append(include if share_names else f"namespace file_{number} {{\n{include}\n}}")
        lines.append("// NOLINTEND(bugprone-suspicious-include)")
        return "\n".join(lines) + "\n"


def has_names_to_share(source: pathlib.Path, root: pathlib.Path) -> bool:
    return not {"src", "support", "tools"}.isdisjoint(source.relative_to(root).parts)


def command_of(entry: dict) -> list[str]:
    """Without how ccache is called, the optimisation, where the object goes, the source, and
    precompiled headers, of which none is built for a lint."""
    words = shlex.split(re.sub(PRECOMPILED, "", entry["command"]))
    while not re.search(r"(clang\+\+|g\+\+)[-0-9.]*$", words[0]):
        words.pop(0)
    return [word for word in words[: words.index("-o")] if not word.startswith("-O")]


def sources_of(entry: dict, build: pathlib.Path) -> list[pathlib.Path]:
    """One, or those of a unit; what else is generated is not ours to check."""
    file = pathlib.Path(entry["file"])
    if build.resolve() not in file.parents:
        return [file]
    return [pathlib.Path(name) for name in UNIT.findall(file.read_text())] if file.exists() else []


def groups(build: pathlib.Path, root: pathlib.Path) -> list[Group]:
    entries = json.loads((build / "compile_commands.json").read_text())
    alike: dict[tuple, list[pathlib.Path]] = {}
    seen = set()
    compiled = [(source, entry) for entry in entries for source in sources_of(entry, build)]
    for source, entry in sorted(compiled, key=lambda one: one[0]):
        if source in seen:
            continue  # another optimisation level of the same
        seen.add(source)
        parts = source.parent.relative_to(root).parts
        place = "_".join(parts if has_names_to_share(source, root) else parts[:1])
        if not has_names_to_share(source, root) and GLOBAL.search(source.read_text()):
            place = f"{source.stem}_alone"  # has to be outside of any namespace
        alike.setdefault((place, tuple(command_of(entry))), []).append(source)
    made = []
    for (place, command), sources in alike.items():
        for first in range(0, len(sources), LARGEST_GROUP):
            part = sources[first : first + LARGEST_GROUP]
            made.append(Group(f"{place}_{len(made)}", list(command), part))
    return made


class Linter:
    def __init__(self, tidy: str, lint: pathlib.Path, root: pathlib.Path):
        self.tidy, self.lint, self.root = tidy, lint, root
        base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        self.cache = pathlib.Path(os.environ.get("SKUA_LINT_CACHE") or pathlib.Path(base) / "skua-lint")
        self.cache.mkdir(parents=True, exist_ok=True)
        self.version = subprocess.run([tidy, "--version"], capture_output=True, check=True).stdout

    def configuration(self, group: Group) -> pathlib.Path:
        """The one nearest to the sources; where the group is written, there is none."""
        return next(up / ".clang-tidy" for up in group.sources[0].parents if (up / ".clang-tidy").exists())

    def fingerprint(self, group: Group, file: pathlib.Path) -> pathlib.Path | None:
        """None if it does not compile. Comments count: NOLINT is one. Where the sources lie does not."""
        done = subprocess.run([*group.command, "-fsyntax-only", "-w", str(file)], capture_output=True)
        if done.returncode != 0:
            return None
        done = subprocess.run([*group.command, "-E", "-C", "-P", str(file)], capture_output=True, check=True)
        text = done.stdout.replace(str(self.root).encode(), b"")
        return self.cache / hashlib.sha256(self.version + self.configuration(group).read_bytes() + text).hexdigest()

    def is_clean(self, group: Group) -> bool:
        together = self.lint / f"{group.name}.cpp"
        together.write_text(group.text(self.root))
        known = self.fingerprint(group, together)
        files = [together] if known else group.sources
        if known and known.exists():
            return True
        clean = all([self.passes(group, file) for file in files])
        if clean and known:
            known.touch()
        return clean

    def passes(self, group: Group, file: pathlib.Path) -> bool:
        command = [self.tidy, "--quiet", f"--config-file={self.configuration(group)}", str(file), "--"]
        done = subprocess.run([*command, *group.command[1:]], capture_output=True, text=True)
        if done.stdout:
            print(done.stdout, end="", flush=True)
        if done.returncode != 0:
            print("\n".join(l for l in done.stderr.splitlines() if not l.endswith(" generated.")), flush=True)
        return done.returncode == 0


def main(tidy: str, build: str, lint: str) -> int:
    root = pathlib.Path.cwd()
    directory = pathlib.Path(lint)
    directory.mkdir(parents=True, exist_ok=True)
    linter = Linter(tidy, directory, root)
    all_groups = groups(pathlib.Path(build), root)
    if not all_groups:
        print(f"lint: no sources in {build}", file=sys.stderr)
        return 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(linter.is_clean, all_groups))
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
