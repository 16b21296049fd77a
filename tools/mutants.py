#!/usr/bin/env python3
"""Changes shipped code in the ways tests/model/mutants.txt lists, and expects the explorer to notice.

usage: mutants.py SOURCE_ROOT COMPILER [WORD...]

Each mutant is a copy of one header with one text replaced, compiled into its model test, which runs
without its searches beyond the bound. Prints how each died; exits 1 if one survives, does not compile,
or its text is no longer there. With WORDs, only the mutants whose name has one of them.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++23", "-O1"]
LIBRARIES = ["-lgmock", "-lgtest", "-lboost_context", "-lpthread"]
SECONDS = 600  # a limit for hangs: the longest takes a tenth of that on two busy processors


def read_mutants(path: pathlib.Path) -> list:
    blocks = re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n", "", path.read_text()))
    return [dict(re.findall(r"(?m)^(\w+): ?(.*)$", block)) for block in blocks if block.strip()]


def objects(root: pathlib.Path, compiler: str, scratch: pathlib.Path) -> list:
    """What no mutant changes, compiled once."""
    sources = ["tests/model/explorer.cpp", "tests/support/main.cpp", "tests/support/budget.cpp",
               "src/base/check.cpp"]
    built = []
    for source in sources:
        built.append(str(scratch / (pathlib.Path(source).stem + ".o")))
        subprocess.run([compiler, *FLAGS, *includes(root), "-c", str(root / source), "-o", built[-1]],
                       check=True)
    return built


def includes(root: pathlib.Path, *first: pathlib.Path) -> list:
    return [f"-I{folder}" for folder in (*first, root / "include", root / "src", root / "tests")]


def fate(mutant: dict, root: pathlib.Path, compiler: str, built: list,
         scratch: pathlib.Path) -> tuple:
    """(killed, what happened)"""
    text = (root / mutant["file"]).read_text()
    if text.count(mutant["from"]) == 0:
        return False, f"its text is no longer in {mutant['file']}"
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    top, inner = mutant["file"].split("/", 1)
    changed = folder / top / inner
    changed.parent.mkdir(parents=True, exist_ok=True)
    changed.write_text(text.replace(mutant["from"], mutant["to"]))
    program = str(folder / "program")
    test = root / "tests/model" / f"{mutant['test']}_test.cpp"
    compiled = subprocess.run(
        [compiler, *FLAGS, *includes(root, folder / top), str(test), *built, *LIBRARIES, "-o",
         program], capture_output=True, text=True)
    if compiled.returncode != 0:
        return False, "does not compile:\n" + compiled.stderr[:2000]
    try:
        run = subprocess.run([program, "--gtest_brief=1", "--gtest_fail_fast"],
                             capture_output=True, text=True, timeout=SECONDS,
                             env={**os.environ, "SKUA_TEST_MINUTES": "0"})
    except subprocess.TimeoutExpired:
        return False, f"neither found nor through after {SECONDS} s"
    if run.returncode == 0:
        return False, "SURVIVED"
    death = re.search(r"(?m)^execution .*$", run.stdout)
    return True, death[0][:90] if death else "the test failed"


def main() -> int:
    root, compiler, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        built = objects(root, compiler, scratch)
        chosen = [mutant for mutant in read_mutants(root / "tests/model/mutants.txt")
                  if not words or any(word in mutant["mutant"] for word in words)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            fates = pool.map(lambda one: fate(one, root, compiler, built, scratch), chosen)
            for mutant, (killed, how) in zip(chosen, fates):
                survivors += not killed
                print(f"{'killed' if killed else 'NOT KILLED'}: {mutant['mutant']}\n    {how}",
                      flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
