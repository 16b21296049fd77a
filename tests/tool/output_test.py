#!/usr/bin/env python3
"""What people see: 80 plain columns in a file or pipe; bars, colour and progress on a terminal.

usage: output_test.py SKUA
"""
import os
import pathlib
import pty
import re
import shlex
import signal
import subprocess
import unittest

from skua_tool import LENGTHS, PATIENCE, SKUA, Echo, Program, ToolTest, environment, run

ESCAPE = "\x1b"
COLUMNS = 80


def on_a_terminal(*arguments, **changes) -> str:
    """Everything that skua writes to a terminal."""
    try:
        ours, its = pty.openpty()
    except OSError as why:
        raise unittest.SkipTest(f"no terminal to be had: {why}") from why
    with open(ours, "rb", buffering=0) as screen:
        with subprocess.Popen([SKUA, *arguments], stdin=subprocess.DEVNULL, stdout=its,
                              env=environment(**changes)) as skua:
            os.close(its)
            seen = b""
            try:
                while some := screen.read(65536):
                    seen += some
            except OSError:  # how a terminal says that nobody is left
                pass
            if skua.wait(PATIENCE) != 0:
                raise AssertionError(f"skua ended with {skua.returncode}")
    return seen.decode()


class Plain(ToolTest):
    def is_plain(self, text: str):
        self.assertTrue(text.isascii() and "\r" not in text and ESCAPE not in text, text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), COLUMNS, line)
            self.assertEqual(line, line.rstrip())

    def test_help_and_version(self):
        self.assertRegex(self.succeeds("--version"), r"\Askua \d+\.\d+\.\d+\n\Z")
        overview = self.succeeds("--help")
        self.is_plain(overview)
        for command in ("demo", "doctor", "echo", "load", "bench"):
            self.assertIn(f"  {command} ", overview)
            self.is_plain(self.succeeds(command, "--help"))

    def test_demo(self):
        for flavour in ("multi_thread", "thread_per_core"):
            seen = self.succeeds("demo", "--seconds", "0.6", "--flavour", flavour,
                                 env=environment(LANG="C.UTF-8"))
            self.is_plain(seen)
            self.assertIn("throughput", seen)
            self.assertIn(", 0 left", seen)

    def test_doctor(self):
        for options in ((), ("--workers", "16")):
            seen = run("doctor", *options)
            self.is_plain(seen.stdout)
            self.assertEqual(seen.stderr, "")

    def test_echo_and_load(self):
        with Echo() as server:
            for shape in (("--depth", "2"), ("--rate", "300")):
                ended = run("load", server.address, *shape, "--seconds", "0.3",
                            env=environment(LANG="C.UTF-8"))
                self.is_plain(ended.stdout)
                self.assertIn("latency", ended.stdout)
        with Program(SKUA, "echo", "--listen", "[::1]:0") as own:
            first = own.lines.readline()
            if not first:
                self.skipTest("no IPv6 here")
            self.assertRegex(first, r"^echo at \[::1\]:\d+ ")
            own.tell(signal.SIGTERM)
            self.is_plain(first + own.rest())

    def test_bench(self):
        self.is_plain(self.succeeds("bench", "--list"))
        seen = self.succeeds("bench", "--rounds", "1", "--round-seconds", "0")
        self.is_plain(seen)
        self.assertIn("spawn_blocking", seen)

    def test_a_signal_ends_the_demo_with_its_summary(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with Program(SKUA, "demo", "--seconds", "100000") as demo:
                self.assertIn("skua demo", demo.lines.readline())  # it listens to signals by now
                demo.tell(number)
                rest = demo.rest()
                self.assertEqual(demo.process.returncode, 0, rest)
                self.assertIn("throughput", rest)
                self.assertIn(", 0 left", rest)


class OnATerminal(ToolTest):
    def shows(self, words: str, *arguments, **changes) -> str:
        """The output of a run, long enough for these words."""
        for seconds in LENGTHS:
            seen = on_a_terminal(*arguments, "--seconds", seconds, **changes)
            if words in seen:
                return seen
        return self.fail(f"no '{words}' in {seen}")

    def test_demo_shows_how_far_it_is(self):
        seen = self.shows("\r  ", "demo")
        line = next(part for part in seen.split("\r") if " steals, " in part)
        self.assertRegex(line, r"^  [\d,.]+/s  p50 .* p99 .* tasks, [\d,]+ steals, (uring|epoll)")
        for part in re.split(r"[\r\n]+", seen):
            self.assertLessEqual(len(part), COLUMNS)

    def test_json_has_no_progress(self):
        self.assertNotIn("\r ", on_a_terminal("demo", "--seconds", "0.6", "--json"))

    def test_load_draws_with_what_the_terminal_has(self):
        with Echo() as server:
            load = ("load", server.address, "--connections", "2")
            self.shows("\x1b[36m█", *load, LANG="C.UTF-8")
            self.assertNotIn(ESCAPE, self.shows("█", *load, LANG="C.UTF-8", NO_COLOR="1"))
            self.assertNotIn("█", self.shows("#", *load, LANG="C"))
            self.assertNotIn(ESCAPE, self.shows("#", *load, LANG="C.UTF-8", TERM="dumb"))


class Documentation(ToolTest):
    def test_every_flag_in_the_guide_exists(self):
        guide = pathlib.Path(__file__).resolve().parents[2] / "docs" / "tool.md"
        lines = re.findall(r"^skua .*$", guide.read_text(), re.MULTILINE)
        self.assertGreater(len(lines), 5)
        for line in lines:
            words = shlex.split(line, comments=True)[1:]
            if words[0].startswith("-"):
                continue
            known = self.succeeds(words[0], "--help")
            for flag in (word for word in words if word.startswith("--")):
                self.assertRegex(known, rf"(?m)^\s+{flag}\b", line)


if __name__ == "__main__":
    unittest.main(verbosity=2)
