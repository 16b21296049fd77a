#!/usr/bin/env python3
"""Every piece of C++ in docs/guide/ stands in a program that the tests compile and run.

usage: snippets.py [--check] [ROOT]

A program marks the piece:                    A page shows it:
  // [snippet: name]                            <!-- examples/guide/tasks.cpp: name -->
  ...                                           ```cpp
  // [end]                                      ...
                                                ```
Without --check the pages are rewritten from the programs. With it, page:line is listed for each block
that differs, has no mark, or whose mark leads nowhere, and for each piece of examples/guide/ that no
page shows; then it exits 1.
"""
import pathlib
import re
import sys
import textwrap

BEGIN = re.compile(r"^\s*// \[snippet: ([\w-]+)\]$")
END = re.compile(r"^\s*// \[end\]$")
MARK = re.compile(r"^<!-- ([\w./-]+): ([\w-]+) -->$")


def snippets_of(file: pathlib.Path) -> dict:
    """name -> text"""
    found, name, lines = {}, None, []
    for line in file.read_text(encoding="utf-8").splitlines():
        if begin := BEGIN.match(line):
            if name is not None or begin[1] in found:
                sys.exit(f"{file}: the snippet {begin[1]} begins within another, or twice")
            name, lines = begin[1], []
        elif END.match(line):
            if name is None:
                sys.exit(f"{file}: an [end] of nothing")
            found[name] = textwrap.dedent("\n".join(lines))
            name = None
        elif name is not None:
            lines.append(line)
    if name is not None:
        sys.exit(f"{file}: the snippet {name} has no [end]")
    return found


class Pages:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.programs = {}
        self.shown = set()
        self.faults = []

    def snippet(self, path: str, name: str):
        """None if there is none."""
        file = self.root / path
        if not file.is_file():
            return None
        if path not in self.programs:
            self.programs[path] = snippets_of(file)
        self.shown.add((path, name))
        return self.programs[path].get(name)

    def renew(self, page: pathlib.Path) -> str:
        """The page as it should be; notes what is wrong with it."""
        where = page.relative_to(self.root).as_posix()
        lines, out, at = page.read_text(encoding="utf-8").split("\n"), [], 0
        while at < len(lines):
            line = lines[at]
            at += 1
            out.append(line)
            if not line.startswith("```"):
                continue
            begin = at
            while at < len(lines) and lines[at] != "```":
                at += 1
            body = lines[begin:at]
            if line == "```cpp":
                body = self.block(f"{where}:{begin}", out, body)
            out += [*body, "```"]
            at += 1
        return "\n".join(out)

    def block(self, at: str, before: list, body: list) -> list:
        mark = MARK.match(before[-2]) if len(before) > 1 else None
        if mark is None:
            self.faults.append(f"{at}: a block of C++ without a mark")
            return body
        text = self.snippet(mark[1], mark[2])
        if text is None:
            self.faults.append(f"{at}: there is no snippet {mark[2]} in {mark[1]}")
            return body
        if text != "\n".join(body):
            self.faults.append(f"{at}: differs from {mark[1]}: {mark[2]}; run tools/snippets.py")
        return text.split("\n")

    def note_unused(self):
        for file in sorted((self.root / "examples/guide").glob("*.cpp")):
            path = file.relative_to(self.root).as_posix()
            for name in snippets_of(file):
                if (path, name) not in self.shown:
                    self.faults.append(f"{path}: no page shows {name}")


def main() -> int:
    arguments = [one for one in sys.argv[1:] if one != "--check"]
    only_check = len(arguments) != len(sys.argv) - 1
    root = pathlib.Path(arguments[0] if arguments else ".").resolve()
    pages = Pages(root)
    files = sorted((root / "docs/guide").glob("*.md"))
    for file in files:
        text = pages.renew(file)
        if not only_check:
            file.write_text(text, encoding="utf-8")
    pages.note_unused()
    if not only_check:
        pages.faults = [one for one in pages.faults if ": differs from " not in one]
    print("\n".join(pages.faults) or f"snippets: {len(files)} pages, {len(pages.shown)} snippets, all alike")
    return 1 if pages.faults else 0


if __name__ == "__main__":
    sys.exit(main())
