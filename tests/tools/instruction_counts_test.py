#!/usr/bin/env python3
"""tools/instruction_counts.py sees losses and gains, keeps counts, and knows for which build they are.

Runs no valgrind: a script stands in for it. usage: instruction_counts_test.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "instruction_counts.py"

# Each round of "quick" takes 50 instructions, of anything else 200; the start takes some, too.
VALGRIND = """#!/bin/sh
for last; do :; done
case "$*" in *quick*) each=50 ;; *) each=200 ;; esac
echo "==1== Collected : $((12345 + each * last))" >&2
"""
HEAD = "# what it is about\n"
KEPT = HEAD + "50.0 bench.a quick.1_worker the quick one\n\n200.0 bench.b - the other one\n"
CACHE = "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo\nSKUA_SANITIZE:STRING=\n"
COMPILER = 'set(CMAKE_CXX_COMPILER_ID "{}")\nset(CMAKE_CXX_COMPILER_VERSION "{}")\n'


class InstructionCounts(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.file = self.root / "instructions.txt"
        self.benches = self.root / "build" / "bench"
        self.write("bin/valgrind", VALGRIND).chmod(0o755)
        self.write("build/CMakeCache.txt", CACHE)
        self.is_built_by("Clang", "19.1.7")
        for name in ("bench.a", "bench.b"):
            self.write(f"build/bench/{name}", "")

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def is_built_by(self, compiler: str, version: str):
        self.write("build/CMakeFiles/3.25.1/CMakeCXXCompiler.cmake", COMPILER.format(compiler, version))

    def run_tool(self, *flags: str, path: str = "", kept: str = ""):
        if kept:
            self.file.write_text(kept)
        return subprocess.run([sys.executable, TOOL, "--file", self.file, *flags, self.benches],
                              capture_output=True, text=True,
                              env=os.environ | {"PATH": path or f"{self.root}/bin:{os.environ['PATH']}"})

    def test_counts_that_are_the_same_pass(self):
        for kept in (KEPT, KEPT.replace("200.0", "185.0"), KEPT.replace("200.0", "220.0")):
            done = self.run_tool(kept=kept)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("all 2 paths cost what they did", done.stdout)

    def test_a_loss_fails_and_says_which_and_by_how_much(self):
        done = self.run_tool(kept=KEPT.replace("200.0", "160.0"))
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stdout, r"bench\.b +160\.0 -> +200\.0  25 % more")
        self.assertRegex(done.stdout, r"bench\.a quick\.1_worker +50\.0 -> +50\.0\n")
        self.assertIn("1 of 2 paths differ", done.stdout)

    def test_a_gain_fails_until_it_is_kept(self):
        done = self.run_tool(kept=KEPT.replace("50.0", "100.0"))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("50 % less: keep the gain with --update", done.stdout)
        self.assertEqual(self.run_tool("--update").returncode, 0)
        self.assertEqual(self.run_tool().returncode, 0)

    def test_update_changes_numbers_only(self):
        done = self.run_tool("--update", kept=KEPT.replace("50.0", "0").replace("200.0", "7"))
        self.assertEqual(done.returncode, 0, done)
        text = self.file.read_text()
        self.assertTrue(text.startswith(HEAD))
        self.assertEqual([line.split(None, 3) for line in text.splitlines()[1:]],
                         [line.split(None, 3) for line in KEPT.splitlines()[1:]])

    def test_update_of_one_leaves_the_others(self):
        done = self.run_tool("--update", "--only", "quick", kept=KEPT.replace("50.0", "0").replace("200.0", "7"))
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(self.file.read_text(), r"(?m)^ +50\.0 .*quick")
        self.assertIn("\n7 bench.b", self.file.read_text())

    def test_other_builds_are_skipped(self):
        for compiler, version in (("GNU", "12.2.0"), ("Clang", "20.1.0")):
            self.is_built_by(compiler, version)
            done = self.run_tool(kept=KEPT)
            self.assertEqual(done.returncode, 77, done)
            self.assertIn(f"built with {compiler} {version}", done.stdout)

    def test_builds_that_do_not_optimise_as_users_do_are_skipped(self):
        for cache in (CACHE.replace("RelWithDebInfo", "Debug"), CACHE.replace("STRING=\n", "STRING=thread\n"),
                      CACHE + "CMAKE_INTERPROCEDURAL_OPTIMIZATION:UNINITIALIZED=ON\n"):
            self.write("build/CMakeCache.txt", cache)
            self.assertEqual(self.run_tool(kept=KEPT).returncode, 77)

    def test_without_valgrind_it_is_skipped(self):
        done = self.run_tool(kept=KEPT, path="/nowhere")
        self.assertEqual((done.returncode, done.stdout), (77, "skipped: valgrind is missing\n"))

    def test_says_what_is_wrong(self):
        for kept, flags, said in ((KEPT + "a b c d\n", (), "not 'count benchmark"),
                                  (KEPT, ("--only", "slow"), "no path contains 'slow'"),
                                  (KEPT + "1 bench.c - gone\n", (), "bench.c was not built")):
            done = self.run_tool(*flags, kept=kept)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(said, done.stderr)

    def test_names_the_programs_it_needs(self):
        self.assertEqual(self.run_tool("--programs", kept=KEPT).stdout, "bench.a\nbench.b\n")


if __name__ == "__main__":
    unittest.main()
