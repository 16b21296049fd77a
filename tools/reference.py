#!/usr/bin/env python3
"""Every public symbol of the headers says what it is: doxygen finds nothing to complain about.

usage: reference.py ROOT SCRATCH

Runs doxygen as docs/Doxyfile says, with all warnings on and without pages, into the directory
SCRATCH. Lists file:line for each symbol without a comment, and for all else that doxygen warns of,
then exits 1. Exits 77, which is "skipped" to ctest, if doxygen is not installed.
"""
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

SKIPPED = 77
SETTINGS = """
OUTPUT_DIRECTORY     = "{scratch}"
GENERATE_HTML        = NO
GENERATE_XML         = YES
XML_PROGRAMLISTING   = NO
WARN_IF_UNDOCUMENTED = YES
WARN_FORMAT          = "$file:$line: $text"
"""


def warnings_of(root: pathlib.Path, scratch: pathlib.Path) -> set:
    """What doxygen says itself. The XML is in `scratch` then."""
    settings = (root / "docs/Doxyfile").read_text() + SETTINGS.format(scratch=scratch)
    done = subprocess.run(["doxygen", "-"], input=settings, cwd=root, capture_output=True,
                          text=True)
    said = set(done.stderr.splitlines())
    if done.returncode != 0 and not said:
        said.add(f"doxygen failed with {done.returncode}")
    said = {line.replace(" warning: ", " ", 1) for line in said if line.strip()}
    return {line.removeprefix(f"{root}/") for line in said}


def is_documented(symbol: tree.Element) -> bool:
    parts = (symbol.find("briefdescription"), symbol.find("detaileddescription"))
    return any("".join(part.itertext()).strip() for part in parts if part is not None)


def place_of(symbol: tree.Element) -> str:
    at = symbol.find("location")
    return "?:?" if at is None else f"include/{at.get('file')}:{at.get('line')}"


def gaps_in(xml: pathlib.Path) -> set:
    """What doxygen does not warn of: enumerators, concepts, and namespaces. If one of these has no
    comment it does not look at what is in it."""
    found = set()
    for file in xml.glob("*.xml"):
        whole = tree.parse(file).getroot()
        for one in whole.iter("compounddef"):
            name = one.findtext("compoundname")
            if one.get("kind") in ("namespace", "concept") and name.startswith("skua"):
                if not is_documented(one):
                    found.add(f"{place_of(one)}: {one.get('kind')} {name} is not documented.")
        for one in whole.iter("memberdef"):
            if one.get("kind") != "enum" or one.get("prot") == "private":
                continue
            for value in one.findall("enumvalue"):
                if not is_documented(value):
                    name = f"{one.findtext('qualifiedname')}::{value.findtext('name')}"
                    found.add(f"{place_of(one)}: {name} is not documented.")
    return found


def main() -> int:
    root, scratch = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
    if shutil.which("doxygen") is None:
        print("reference: skipped, since doxygen is not installed (./dev test installs it)")
        return SKIPPED
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    faults = warnings_of(root, scratch) | gaps_in(scratch / "xml")
    if faults:
        print("\n".join(sorted(faults)))
        return 1
    print("reference: no gaps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
