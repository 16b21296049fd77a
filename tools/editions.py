#!/usr/bin/env python3
"""The editions of README.md in other languages have the same parts, the same code and the same links.

usage: editions.py [ROOT]

Compares README.*.md with README.md: levels of headings, rows of tables, items of lists, links, what
stands in blocks of code, and what stands in backquotes. Says what differs, and exits 1.
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```.*?^```$", re.M | re.S)


def parts_of(page: pathlib.Path) -> dict:
    text = page.read_text(encoding="utf-8")
    prose = BLOCK.sub("", text)
    return {
        "headings": re.findall(r"^(#+) ", prose, re.M),
        "blocks of code": BLOCK.findall(text),
        "rows of tables": [line.count("|") for line in prose.splitlines() if line.startswith("|")],
        "items of lists": re.findall(r"^(- )", prose, re.M),
        # Those to another edition lead to and fro.
        "links": sorted(set(re.findall(r"\]\(((?!README)[^)]+)\)", prose))),
        "code in the text": sorted(set(re.findall(r"`([^`\n]+)`", prose))),
    }


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    first = parts_of(root / "README.md")
    editions = sorted(root.glob("README.*.md"))
    faults = []
    for page in editions:
        for kind, parts in parts_of(page).items():
            wanted = first[kind]
            if parts == wanted:
                continue
            missing = [one for one in wanted if one not in parts] or wanted[len(parts):]
            more = [one for one in parts if one not in wanted] or parts[len(wanted):]
            faults.append(f"{page.name}: {kind} differ: missing {missing}, more {more}")
    print("\n".join(faults) or f"editions: {len(editions)}, in step with README.md")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
