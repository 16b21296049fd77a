#!/usr/bin/env python3
"""Each rule of tidy.py, header_weight.py and compile_fail.py refuses what it is there to refuse.

usage: guards_test.py COMPILER
"""
import pathlib
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


if __name__ == "__main__":
    unittest.main()
