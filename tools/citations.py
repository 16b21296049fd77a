#!/usr/bin/env python3
"""What the pages link to is there, and what docs/lineage.md and docs/guide/ cite: files, tests, facts.

usage: citations.py [ROOT]

In every page, those of docs/ and those beside README.md: a link to a file of the tree, or to a heading
of a page. In lineage.md and the guide: a path and a test in backquotes, too. In tables with the
columns "Where" and "Shown by", besides:
  Where     paths; any other name occurs in one of the files of its row (of a::b, the b)
  Shown by  tests by the names that ctest has for them; a name without a dot is a fact (TEST...) of
            the test before it
Each row has a path and a test, or says "not here" in the one, or "no test" in the other.

The names of tests are read from the lists that register them, so that they do not depend on how this
build was configured. Lists page:line for each fault, then exits 1.
"""
import pathlib
import re
import sys

TOP = r"(?:include|src|tests|bench|docs|tools|examples|cmake)"
PATH = re.compile(rf"^{TOP}(/[\w.-]+)+/?$")
FAMILIES = (r"(?:base|coro|sched|driver|runtime|sync|io|time|net|fs|process|fiber|interop|issues|model|"
            r"tools|bench|compile_fail|consumer|examples)")
TEST = re.compile(rf"^{FAMILIES}(\.\w+)+$")
FILE_NAME = re.compile(r"\.(hpp|cpp|md|py|txt|cmake)$")
QUOTED = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
CODE = re.compile(r"^```.*?^```$", re.M | re.S)
SKUA_TEST = re.compile(r"^\s*skua_test\(([\w/]+)([^)]*)\)", re.M)
ADD_TEST = re.compile(r"add_test\(NAME ([\w.]+)\s")
WHERE, SHOWN = "where", "shown by"


def tests_of(root: pathlib.Path) -> dict:
    """name -> its source, or None if it has none of its own"""
    found = {}
    lists = root / "tests/CMakeLists.txt"
    for path, rest in SKUA_TEST.findall(lists.read_text() if lists.exists() else ""):
        name, source = path.replace("/", "."), root / f"tests/{path}_test.cpp"
        levels = re.search(r"\bOPTIMISATION((?: \d)+)", rest)
        for test in [f"{name}_O{level}" for level in levels[1].split()] if levels else [name]:
            found[test] = source
    for pattern, prefix in [("bench/*/*.cpp", "bench"), ("tests/compile_fail/*.cpp", "compile_fail"),
                            ("examples/*.cpp", "examples")]:
        for source in root.glob(pattern):
            if source.parent.name == "support":
                continue
            parts = [source.parent.name] if prefix == "bench" else []
            found[".".join([prefix, *parts, source.stem])] = source
    for file in root.glob("**/CMakeLists.txt"):
        if "build" not in file.relative_to(root).parts:
            found |= {name: None for name in ADD_TEST.findall(file.read_text()) if name not in found}
    return found


def cells(line: str) -> list:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def anchors_of(page: pathlib.Path) -> set:
    """Of its headings, as GitHub and mkdocs make them: lower case, hyphens for spaces, no punctuation."""
    headings = HEADING.findall(CODE.sub("", page.read_text()))
    return {re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


class Citations:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.tests = tests_of(root)
        self.faults = []
        self.count = 0

    def fault(self, page: str, line: int, text: str):
        self.faults.append(f"{page}:{line}: {text}")

    def file(self, at: tuple, path: str) -> str:
        """Its text; empty if there is none."""
        self.count += 1
        target = self.root / path
        if not target.exists():
            self.fault(*at, f"there is no file {path}")
            return ""
        return target.read_text() if target.is_file() else ""

    def test(self, at: tuple, name: str):
        self.count += 1
        if name not in self.tests:
            self.fault(*at, f"there is no test {name}")

    def check_where(self, at: tuple, cell: str):
        quoted = QUOTED.findall(cell)
        paths = [one for one in quoted if PATH.match(one)]
        text = "\n".join(self.file(at, path) for path in paths)
        for name in (one for one in quoted if not PATH.match(one)):
            self.count += 1
            last = re.sub(r"\(.*\)$", "", name).split("::")[-1].split(".")[-1]
            if not re.search(rf"\b{re.escape(last)}\b", text):
                self.fault(*at, f"no file of this row has the name {name}")
        if not paths and "not here" not in cell:
            self.fault(*at, "a row without a file, which does not say 'not here'")

    def check_shown(self, at: tuple, cell: str, is_here: bool):
        test = None
        for name in QUOTED.findall(cell):
            if "." in name:
                test = name
                self.test(at, name)
            else:
                self.check_fact(at, test, name)
        if test is None and is_here and "no test" not in cell:
            self.fault(*at, "a row without a test, which does not say 'no test'")

    def check_fact(self, at: tuple, test, fact: str):
        self.count += 1
        source = self.tests.get(test)
        text = source.read_text() if source is not None and source.exists() else ""
        if not re.search(rf"^TEST\w*\(\w+,\s*{re.escape(fact)}\)", text, re.M):
            self.fault(*at, f"test {test} has no fact {fact}")

    def check_text(self, at: tuple, line: str):
        for name in QUOTED.findall(line):
            if PATH.match(name):
                self.file(at, name)
            elif TEST.match(name) and not FILE_NAME.search(name):
                self.test(at, name)

    def check_links(self, at: tuple, line: str, file: pathlib.Path):
        for link, anchor in LINK.findall(line):
            self.count += 1
            if "://" in link:
                continue
            target = file.parent / link if link else file
            if not target.exists():
                self.fault(*at, f"the link leads nowhere: {link}")
            elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
                self.fault(*at, f"no heading of {target.name} is #{anchor}")

    def check_page(self, file: pathlib.Path, only_links: bool):
        page = file.relative_to(self.root).as_posix()
        columns, in_code = [], False
        for number, line in enumerate(file.read_text().splitlines(), 1):
            at = (page, number)
            if line.startswith("```"):
                in_code = not in_code
            if in_code:
                continue
            self.check_links(at, line, file)
            if only_links:
                continue
            if not line.startswith("|"):
                columns = []
                self.check_text(at, line)
                continue
            row = cells(line)
            if not columns:
                columns = [cell.lower() for cell in row]
            elif set("".join(row)) <= set("-: "):
                continue
            elif WHERE not in columns or SHOWN not in columns:
                self.check_text(at, line)
            elif len(row) != len(columns):
                self.fault(*at, f"{len(row)} cells in a table of {len(columns)} columns")
            else:
                where = row[columns.index(WHERE)]
                self.check_where(at, where)
                self.check_shown(at, row[columns.index(SHOWN)], bool(QUOTED.search(where)))

    def run(self) -> int:
        cited = [self.root / "docs/lineage.md", *sorted((self.root / "docs/guide").glob("*.md"))]
        pages = sorted({*cited, *self.root.glob("*.md"), *self.root.glob("docs/**/*.md")})
        for page in pages:
            self.check_page(page, only_links=page not in cited)
        if self.faults:
            print("\n".join(self.faults))
            return 1
        print(f"citations: {len(pages)} pages, {self.count} citations, all there")
        return 0


if __name__ == "__main__":
    sys.exit(Citations(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()).run())
