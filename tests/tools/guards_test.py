#!/usr/bin/env python3
"""Each rule of tidy.py, header_weight.py, compile_fail.py, citations.py, snippets.py, editions.py,
reference.py and packaging.py refuses what it should.

usage: guards_test.py COMPILER
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "g++-12"

OPEN, CLOSE = "namespace skua::inline SKUA_ABI {\n", "}  // namespace skua::inline SKUA_ABI\n"
HEADER = "include/skua/coro/a.hpp"
SOURCE = "src/coro/a.cpp"
TEST = "tests/coro/a_test.cpp"

# A tree without a fault; each case below spoils one file of it.
CLEAN = {
    "include/skua/base/abi.hpp":
        "// skua/base/abi.hpp: the namespace.\n#pragma once\n#if 1\n#define SKUA_ABI v0\n#endif\n",
    HEADER: "// skua/coro/a.hpp: a thing.\n#pragma once\n" + OPEN + CLOSE,
    SOURCE: "// src/coro/a.cpp: a thing.\n" + OPEN + CLOSE,
    TEST: "// tests/coro/a_test.cpp: the thing works.\n",
    "tests/CMakeLists.txt": "skua_test(coro/a KIND unit)\n",
    "tests/untested.txt": "# none\n",
    "header_weight.txt": "skua/base/abi.hpp 10\nskua/coro/a.hpp 10\n",
}

# file, text added to it, what tidy.py says
ADDED = [
    (SOURCE, "#define N 1\n", "'#define' here"),
    (SOURCE, "#ifdef N\n", "'#ifdef' here"),
    (SOURCE, "std::thread t;\n", "'std::thread' here"),
    (SOURCE, "thread_local int n;\n", "'thread_local' here"),
    (SOURCE, "syscall(1);\n", "'syscall(' here"),
    (SOURCE, "int e = errno;\n", "'errno' here"),
    (SOURCE, "std::function<void()> f;\n", "'std::function' here"),
    (SOURCE, "std::shared_ptr<int> p;\n", "'std::shared_ptr' here"),
    (SOURCE, "volatile int n;\n", "'volatile' here"),
    (SOURCE, "namespace detail {}\n", "'namespace detail' here"),
    (SOURCE, "// TO" + "DO: later\n", "left over"),
    (SOURCE, "namespace skua {}\n", "write 'namespace skua::inline SKUA_ABI {'"),
    (SOURCE, '#include "sched/inbox.hpp"\n', "layer 'coro' may not include 'sched'"),
    (SOURCE, '#include "skua/runtime/spawn.hpp"\n', "layer 'coro' may not include 'runtime'"),
    (SOURCE, "a.load(std::memory_order_acquire);\n", "a memory order without"),
    (SOURCE, "// order: none; too far away\n" + "\n" * 8 + "a.load(std::memory_order_relaxed);\n",
     "a memory order without"),
    (SOURCE, "// order: [a.b] release: x\n", "edge [a.b] has only a release side"),
    (SOURCE, "// " + "x" * 98 + "\n", "line exceeds 100 columns"),
    (SOURCE, "\n" * 500, "at most 500"),
    (HEADER, "using namespace std;\n", "'using namespace' in a public header"),
    (HEADER, "#include <thread>\n", "'#include <thread>' in a public header"),
    (HEADER, "#include <chrono>\n", "<chrono> outside time/"),
    (HEADER, "bool b = NDEBUG;\n", "'NDEBUG' in a public header"),
    ("src/coro/b.cpp", "// src/coro/b.cpp: a thing.\n", "no tests/coro/b_test.cpp"),
    ("src/odd/b.hpp", "// src/odd/b.hpp: a thing.\n#pragma once\n", "'odd' is not a layer"),
    ("tests/coro/b_test.cpp", "// tests/coro/b_test.cpp: x.\n", "no skua_test(coro/b ...)"),
    ("tests/untested.txt", "src/coro/a.cpp  no reason\n", "src/coro/a.cpp has a test now"),
    ("tests/untested.txt", "src/coro/gone.cpp  no reason\n", "src/coro/gone.cpp does not exist"),
]
REPLACED = [
    (HEADER, "#pragma once\n", "first line must be '// skua/coro/a.hpp: "),
    (HEADER, "// skua/coro/a.hpp: a thing.\n", "a header without '#pragma once'"),
    (TEST, "// a_test.cpp: x.\n", "first line must be '// tests/coro/a_test.cpp: "),
]
# Looks like a breach, is none.
ALLOWED = [
    (SOURCE, "// errno, std::thread and #define in a comment\n"),
    (SOURCE, 'const char* text = "errno";\n'),
    (SOURCE, '#include "skua/base/work.hpp"\n#include "coro/b.hpp"\n'),
    (SOURCE, "// order: [a.b] release, [a.b] acquire\n" + "\n" * 7 + "memory_order_release\n"),
    (TEST, "std::thread t; int e = errno;\n"),
    ("src/coro/recycler.cpp", "// src/coro/recycler.cpp: x.\nthread_local int n;\n"),
]

# A page whose citations hold, and rows and lines that cite what is not there.
PAGE = """# Where from
[here](lineage.md#where-from) `src/coro/a.cpp` `coro.a` `coro.b_O2` `bench.coro.c` `std::vector` `a.hpp`

| What | Where | Shown by |
|---|---|---|
| one | `src/coro/a.cpp`, `thing::part` | `coro.a` `holds`, and `coro.b_O2` `holds_too` |
| two | not here | |
| three | `include/skua/coro/a.hpp` | no test |
```
`src/gone.cpp` in code is none
```
"""
CITED = {
    "docs/lineage.md": PAGE,
    SOURCE: CLEAN[SOURCE] + "struct part {};\n",
    "tests/CMakeLists.txt": "skua_test(coro/a KIND unit)\n  skua_test(coro/b KIND unit OPTIMISATION 0 2)\n",
    TEST: CLEAN[TEST] + "TEST(a, holds) {}\n",
    "tests/coro/b_test.cpp": "// tests/coro/b_test.cpp: x.\nTEST_P(b, holds_too) {}\n",
    "bench/coro/c.cpp": "",
    "bench/support/d.cpp": "",
}
MISCITED = [
    ("[there](gone.md)", "the link leads nowhere: gone.md"),
    ("[there](lineage.md#gone)", "no heading of lineage.md is #gone"),
    ("[there](#gone)", "no heading of lineage.md is #gone"),
    ("in `src/gone.cpp`", "there is no file src/gone.cpp"),
    ("by `coro.gone`", "there is no test coro.gone"),
    ("by `coro.b`", "there is no test coro.b"),
    ("by `bench.coro.gone`", "there is no test bench.coro.gone"),
    ("by `bench.support.d`", "there is no test bench.support.d"),
    ("| a | `src/gone.cpp` | `coro.a` |", "there is no file src/gone.cpp"),
    ("| a | `src/coro/a.cpp`, `other` | `coro.a` |", "no file of this row has the name other"),
    ("| a | `src/coro/a.cpp` | `coro.gone` |", "there is no test coro.gone"),
    ("| a | `src/coro/a.cpp` | `coro.a` `holds_too` |", "test coro.a has no fact holds_too"),
    ("| a | `src/coro/a.cpp` | of course |", "a row without a test"),
    ("| a | somewhere | |", "a row without a file"),
    ("| a | `src/coro/a.cpp` | `coro.a` | more |", "4 cells in a table of 3 columns"),
]

# A page whose code is that of its program.
GUIDE_PAGE, GUIDE_PROGRAM = "docs/guide/page.md", "examples/guide/page.cpp"
SHOWN = {
    GUIDE_PAGE: """# Page

<!-- examples/guide/page.cpp: one -->
```cpp
int a = 1;
if (a) {
  a = 2;
}
```
<!-- examples/guide/page.cpp: two -->
```cpp
int b;
```
""",
    GUIDE_PROGRAM: """// examples/guide/page.cpp: x.
  // [snippet: one]
  int a = 1;
  if (a) {
    a = 2;
  }
  // [end]
// [snippet: two]
int b;
// [end]
""",
}

# A header of which each symbol says what it is, and what else the reference needs.
DOCUMENTED = """// skua/coro/a.hpp: a thing.
#pragma once
namespace skua::inline SKUA_ABI::part {
/// A thing.
class thing {
public:
  /// Does it.
  void run();
  bool await_ready();
private:
  int n_;
};
/// Which.
enum class kind {
  one  ///< this one
};
/// Any.
template <typename T>
concept any = true;
// --- how
void help();
}  // namespace skua::inline SKUA_ABI::part
"""
REFERRED = {
    HEADER: DOCUMENTED,
    "docs/reference.dox": "/**\n@mainpage x\n@namespace skua\nAll.\n@namespace skua::part\nPart.\n*/\n",
    **{path: (TOOLS.parent / path).read_text() for path in ("docs/Doxyfile", "tools/reference.awk")},
}
# what is spoiled, and what reference.py says
UNDOCUMENTED = [
    ("  /// Does it.\n", "a.hpp:7: Member run() (function) of class skua::part::thing is not documented."),
    ("/// A thing.\n", "Compound skua::part::thing is not documented."),
    ("/// Which.\n", "Member kind (enumeration) of namespace skua::part is not documented."),
    ("  ///< this one", "skua::part::kind::one is not documented."),
    ("/// Any.\n", "concept skua::part::any is not documented."),
    ("// --- how\n", "Member help() (function) of namespace skua::part is not documented."),
]

# The real packaging files: file, text, what comes in its place, what packaging.py says.
RECIPE, PORT = "packaging/conan/conanfile.py", "packaging/vcpkg/ports/skua"
CONSUMER = "packaging/vcpkg/consumer"
PACKAGED = ["CMakeLists.txt", "LICENSE", "cmake/fiber.cmake", RECIPE, f"{PORT}/vcpkg.json",
            f"{PORT}/portfile.cmake", f"{PORT}/usage", f"{CONSUMER}/vcpkg.json",
            f"{CONSUMER}/vcpkg-configuration.json"]
MISPACKAGED = [
    (RECIPE, '    version = "', '    version = "1', f"{RECIPE}: version is ['1"),
    (f"{PORT}/vcpkg.json", '"version": "', '"version": "1', "vcpkg.json: version is 1"),
    (f"{PORT}/vcpkg.json", '"name": "skua"', '"name": "skuas"', "its name is not skua"),
    (f"{PORT}/vcpkg.json", '"liburing",', '"liburing"', "vcpkg.json: does not parse: "),
    (f"{PORT}/vcpkg.json", '["cares"]', '["dares"]', "has no feature dares"),
    (f"{PORT}/portfile.cmake", "  FEATURES\n", "  FEATURES\n    ropes SKUA_WITH_FIBERS\n",
     "has no feature ropes"),
    (f"{PORT}/portfile.cmake", "    fibers SKUA_WITH_FIBERS\n", "", "feature fibers switches nothing"),
    (f"{PORT}/portfile.cmake", '"tools" IN', '"tool" IN', "has no feature tool\n"),
    (f"{PORT}/portfile.cmake", "-DSKUA_BUILD_TESTS", "-DSKUA_TESTS", "no option SKUA_TESTS"),
    (f"{PORT}/portfile.cmake", "-DSKUA_BUILD_TESTS", "-DSKAU_TESTS", "no option SKAU_TESTS"),
    (f"{PORT}/portfile.cmake", "cares SKUA_WITH_CARES", "cares SKUA_CARES", "no option SKUA_CARES"),
    (f"{PORT}/portfile.cmake", "/LICENSE", "/LICENCE", "there is no file LICENCE"),
    (f"{PORT}/portfile.cmake", "/usage", "/uses", "there is no file uses"),
    (f"{PORT}/portfile.cmake", "/../../../..", "/../../..", "SOURCE_PATH is not the root"),
    (RECIPE, '"SKUA_WITH_CARES"', '"SKUA_CARES"', f"{RECIPE}: CMakeLists.txt has no option SKUA_CARES"),
    (RECIPE, '"src/*"', '"source/*"', "exports source/*: nothing is there"),
    (f"{CONSUMER}/vcpkg.json", '["fibers"]', '["ropes"]', "has no feature ropes"),
    (f"{CONSUMER}/vcpkg.json", '"name": "skua"', '"name": "gull"', "does not ask for skua"),
    (f"{CONSUMER}/vcpkg-configuration.json", "../ports", "../port", "does not lead to the port"),
]


def run(tool: str, *arguments: str):
    done = subprocess.run([sys.executable, str(TOOLS / tool), *arguments],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Guards(unittest.TestCase):
    def tree(self, **spoiled):
        """A new tree: the clean one with `spoiled` laid over it."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        for path, text in {**CLEAN, **spoiled}.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def test_tidy_accepts_the_clean_tree(self):
        self.tree()
        self.assertEqual(run("tidy.py", str(self.root)),
                         (0, "tidy: 4 files, 0 named edges, clean\n"))

    def test_tidy_refuses(self):
        cases = [(path, CLEAN.get(path, "") + text, say) for path, text, say in ADDED] + REPLACED
        for path, text, say in cases:
            with self.subTest(say=say):
                self.tree(**{path: text})
                code, output = run("tidy.py", str(self.root))
                self.assertEqual(code, 1, output)
                self.assertIn(say, output)
                self.assertEqual(output.count("\n"), 1, f"one fault, one line:\n{output}")

    def test_tidy_allows(self):
        for path, text in ALLOWED:
            with self.subTest(text=text):
                self.tree(**{path: CLEAN.get(path, "") + text})
                excuses = "src/coro/recycler.cpp  x\n" if "recycler" in path else ""
                (self.root / "tests/untested.txt").write_text(excuses)
                self.assertEqual(run("tidy.py", str(self.root))[0], 0)

    def test_header_weight(self):
        def weigh(budgets: str):
            self.tree(**{"header_weight.txt": budgets})
            return run("header_weight.py", COMPILER, str(self.root))

        self.assertEqual(weigh(CLEAN["header_weight.txt"])[0], 0)
        for budgets, say in [
            ("skua/base/abi.hpp 10\n", "skua/coro/a.hpp: 3 lines and no budget"),
            ("skua/base/abi.hpp 10\nskua/coro/a.hpp 1\n", "skua/coro/a.hpp: 3 lines, 2 over its budget of 1"),
            ("skua/gone.hpp 1\n", "skua/gone.hpp: has a budget but does not exist"),
            ("skua/coro/task.hpp 9001\n", "above the hard limit 9000"),
        ]:
            with self.subTest(say=say):
                code, output = weigh(budgets)
                self.assertEqual(code, 1)
                self.assertIn(say, output)
        self.tree(**{HEADER: "#include <no_such_header>\n"})
        code, output = run("header_weight.py", COMPILER, str(self.root))
        self.assertEqual(code, 1)
        self.assertIn("does not preprocess", output)

    def test_compile_fail(self):
        self.tree()

        def compiles(text: str, *options: str):
            source = self.root / "case.cpp"
            source.write_text(text)
            return run("compile_fail.py", *options, str(source), "--", COMPILER)

        broken = "int n = nothing;\n"
        self.assertEqual(compiles("// expect: nothing.*declared\n" + broken)[0], 0)
        self.assertEqual(compiles("int n;\n", "--must-compile")[0], 0)
        for text, options, say in [
            ("// expect: a cat\n" + broken, [], "never says 'a cat'"),
            ("// expect: nothing\nint n;\n", [], "compiles, but must not"),
            (broken, [], "needs '// expect: ...' lines"),
            (broken, ["--must-compile"], "must compile, but"),
        ]:
            with self.subTest(say=say):
                code, output = compiles(text, *options)
                self.assertEqual(code, 1)
                self.assertIn(say, output)

    def test_citations(self):
        self.tree(**CITED)
        code, output = run("citations.py", str(self.root))
        self.assertEqual((code, output), (0, "citations: 1 pages, 12 citations, all there\n"))
        for text, say in MISCITED:
            with self.subTest(say=say, text=text):
                # Behind the last row, where rows belong to the table; other text ends it.
                page = PAGE.replace("no test |\n", f"no test |\n{text}\n")
                self.tree(**{**CITED, "docs/lineage.md": page})
                code, output = run("citations.py", str(self.root))
                self.assertEqual(code, 1, output)
                self.assertIn(f"docs/lineage.md:9: {say}", output)
                self.assertEqual(output.count("\n"), 1, f"one fault, one line:\n{output}")
        self.tree(**{**CITED, "docs/guide/page.md": "`coro.gone`\n"})
        self.assertIn("docs/guide/page.md:1: there is no test", run("citations.py", str(self.root))[1])
        for page in ("README.md", "docs/deep/page.md"):
            self.tree(**{**CITED, page: "`coro.gone` is no citation here\n[but](gone.md) this is a link\n"})
            code, output = run("citations.py", str(self.root))
            self.assertEqual((code, output), (1, f"{page}:2: the link leads nowhere: gone.md\n"))

    def test_snippets(self):
        self.tree(**SHOWN)
        self.assertEqual(run("snippets.py", "--check", str(self.root)),
                         (0, "snippets: 1 pages, 2 snippets, all alike\n"))
        page, program = SHOWN[GUIDE_PAGE], SHOWN[GUIDE_PROGRAM]
        for path, text, say in [
            (GUIDE_PAGE, page.replace("int a", "int b"), "page.md:4: differs from examples/guide/page.cpp: one"),
            (GUIDE_PROGRAM, program.replace("int a", "int b"), "page.md:4: differs from"),
            (GUIDE_PAGE, page.replace("page.cpp: one", "page.cpp: three"), "there is no snippet three in"),
            (GUIDE_PAGE, page.replace("page.cpp: one", "gone.cpp: one"), "there is no snippet one in"),
            (GUIDE_PAGE, page + "\n```cpp\nint c;\n```\n", "a block of C++ without a mark"),
            (GUIDE_PAGE, page.split("<!-- examples/guide/page.cpp: two")[0], "page.cpp: no page shows two"),
            (GUIDE_PROGRAM, program.replace("// [end]", "", 1), "begins within another"),
            (GUIDE_PROGRAM, program.rsplit("// [end]", 1)[0], "has no [end]"),
        ]:
            with self.subTest(say=say):
                self.tree(**{**SHOWN, path: text})
                code, output = run("snippets.py", "--check", str(self.root))
                self.assertEqual(code, 1, output)
                self.assertIn(say, output)
        self.tree(**{**SHOWN, GUIDE_PAGE: page.replace("int a", "int b")})
        self.assertEqual(run("snippets.py", str(self.root))[0], 0)
        self.assertEqual((self.root / GUIDE_PAGE).read_text(), page)

    def test_editions(self):
        first = "# A\n`x` [l](a.md)\n\n```\ncode\n```\n| a |\n|---|\n- one\n"
        self.tree(**{"README.md": first, "README.xx.md": first.replace("# A", "# B")})
        self.assertEqual(run("editions.py", str(self.root)), (0, "editions: 1, in step with README.md\n"))
        for old, new, kind in [("# A", "## A", "headings"), ("code", "coda", "blocks of code"),
                               ("| a |\n", "", "rows of tables"), ("- one\n", "", "items of lists"),
                               ("a.md", "b.md", "links"), ("`x`", "`y`", "code in the text")]:
            with self.subTest(kind=kind):
                self.tree(**{"README.md": first, "README.xx.md": first.replace(old, new)})
                code, output = run("editions.py", str(self.root))
                self.assertEqual(code, 1, output)
                self.assertIn(f"README.xx.md: {kind} differ", output)

    @unittest.skipIf(shutil.which("doxygen") is None, "doxygen is not installed")
    def test_reference(self):
        def look(**spoiled):
            self.tree(**{**REFERRED, **spoiled})
            return run("reference.py", str(self.root), str(self.root / "build"))

        self.assertEqual(look(), (0, "reference: no gaps\n"))
        for text, say in UNDOCUMENTED:
            with self.subTest(say=say):
                code, output = look(**{HEADER: DOCUMENTED.replace(text, "")})
                self.assertEqual(code, 1, output)
                self.assertIn(say, output)
        code, output = look(**{"docs/reference.dox": "/**\n@mainpage x\n@namespace skua\nAll.\n*/\n"})
        self.assertEqual(code, 1, output)
        self.assertIn("namespace skua::part is not documented.", output)
        code, output = look(**{HEADER: DOCUMENTED.replace("Does it.", "Does @ref nothing.")})
        self.assertEqual(code, 1, output)
        self.assertIn("unable to resolve reference to 'nothing'", output)

    def test_packaging(self):
        real = {path: (TOOLS.parent / path).read_text() for path in PACKAGED}
        self.tree(**real)
        code, output = run("packaging.py", str(self.root))
        self.assertEqual(code, 0, output)
        for path, old, new, say in MISPACKAGED:
            with self.subTest(say=say):
                self.assertIn(old, real[path])
                self.tree(**{**real, path: real[path].replace(old, new, 1)})
                code, output = run("packaging.py", str(self.root))
                self.assertEqual(code, 1, output)
                self.assertIn(say, output)
                self.assertEqual(output.count("\n"), 1, f"one fault, one line:\n{output}")


if __name__ == "__main__":
    unittest.main()
