#!/usr/bin/env python3
"""What bench/run.py makes of rounds: medians, ratios, disturbance, tables, JSON and pictures.

Builds and runs no contestant. usage: bench_test.py
"""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import run  # noqa: E402
from harness import (builds, chapter, disturbance, figures, pictures, questions, rounds,  # noqa: E402
                     targets)


def samples(*values, disturbed=()):
    return [figures.Sample(value, "ns/op", "1.0", "-O3", at in disturbed)
            for at, value in enumerate(values)]


def row(runtime="skua", bench="spawn_join", values=(1, 2, 3), more_is_better=False, workers=2):
    return figures.summarise(bench, runtime, workers, more_is_better, samples(*values))


class Rows(unittest.TestCase):
    def test_median_and_spread(self):
        got = row(values=(30, 10, 20, 50, 40))
        self.assertEqual((got.median, got.min, got.max, got.rounds), (30, 10, 50, 5))

    def test_disturbed_rounds_do_not_count_if_enough_are_left(self):
        got = figures.summarise("b", "skua", 2, False, samples(1, 2, 3, 90, 99, disturbed=(3, 4)))
        self.assertEqual((got.median, got.max, got.rounds, got.disturbed), (2, 3, 5, 2))

    def test_disturbed_rounds_count_if_few_are_left(self):
        got = figures.summarise("b", "skua", 2, False, samples(1, 2, 90, 99, disturbed=(2, 3)))
        self.assertEqual((got.median, got.max, got.disturbed), (46, 99, 2))

    def test_ratio_is_ours_by_theirs(self):
        self.assertEqual(figures.ratio_to(row(values=(10,)), row("tokio", values=(40,))), 0.25)

    def test_json_has_the_promised_fields(self):
        text = json.dumps(figures.as_json([row()], {"kernel": "6"}))
        got = json.loads(text)["rows"][0]
        for name in ("bench", "runtime", "version", "flags", "workers", "unit", "median", "min",
                     "max", "rounds"):
            self.assertIn(name, got)


class Tables(unittest.TestCase):
    def test_names_the_question_and_the_ratio_to_each_peer(self):
        text = figures.table([row(values=(10,)), row("tokio", values=(40,)), row("go", values=(5,))])
        self.assertIn("spawn_join, 2 workers: ns/op, less is better", text)
        self.assertRegex(text, r"tokio +40 .* 0\.25\n")
        self.assertRegex(text, r"go +5 .* 2\.00\n")

    def test_says_how_many_rounds_were_disturbed(self):
        got = figures.summarise("b", "skua", 1, False, samples(1, 2, 3, 4, disturbed=(0,)))
        self.assertIn("4, 1 disturbed", figures.table([got]))

    def test_numbers_have_three_digits(self):
        self.assertEqual([figures.number(one) for one in (0.01234, 12.345, 99.96, 123456.7)],
                         ["0.0123", "12.3", "100", "123,457"])


class Disturbance(unittest.TestCase):
    def test_reads_busy_time_without_interrupts_and_idleness(self):
        stat = "cpu  100 20 30 4000 5 600 700 8 0 0\ncpu0 1 2 3\n"
        self.assertEqual(disturbance.busy_seconds(stat) * disturbance.TICK, 158)

    def test_what_we_use_ourselves_is_no_disturbance(self):
        before, after = disturbance.Moment(0, 10, 1), disturbance.Moment(10, 25, 16)
        self.assertFalse(disturbance.is_disturbed(before, after, 2))

    def test_others_on_one_of_two_processors_are(self):
        before, after = disturbance.Moment(0, 10, 1), disturbance.Moment(10, 25, 6)
        self.assertEqual(disturbance.others_share(before, after, 2), 0.5)
        self.assertTrue(disturbance.is_disturbed(before, after, 2))


class Pictures(unittest.TestCase):
    def test_is_xml_with_a_bar_for_each_row(self):
        text = pictures.picture("a < b", [("Spawn & join", [row(), row("tokio", values=(9,))])])
        root = xml.etree.ElementTree.fromstring(text)
        bars = root.findall("{http://www.w3.org/2000/svg}rect[@class='bar']")
        self.assertEqual(len(bars), 2)
        self.assertLess(float(bars[0].get("width")), float(bars[1].get("width")))

    def test_has_a_light_background_unit_and_ratio(self):
        text = pictures.picture("T", [("Q", [row(values=(10,)), row("tokio", values=(40,))])])
        for part in ("fill='#ffffff'", ">Q: ns/op, less is better<", ">10 ns/op<", ">40 ns/op (0.25)<",
                     ">2 workers<"):
            self.assertIn(part, text)

    def test_writes_one_for_each_group(self):
        rows = [row(), row(workers=1), row(workers=8), row(bench="fib")]
        with tempfile.TemporaryDirectory() as directory:
            written = pictures.draw(rows, pathlib.Path(directory), 2)
            names = {path.name for path in written if path.suffix == ".svg"}
            text = (pathlib.Path(directory) / "tasks.svg").read_text()
        self.assertEqual(names, {"tasks.svg", "trees.svg"})
        self.assertIn(">1 worker<", text)
        self.assertNotIn("8 workers", text)

    def test_of_nothing_is_none(self):
        self.assertEqual(pictures.draw([], pathlib.Path("/nowhere"), 2), [])

    def test_shows_workers_that_fit_if_some_do(self):
        for asked, shown in (((1, 2, 4, 8), [1, 2]), ((2,), [2]), ((4, 8), [4])):
            rows = [row(workers=one) for one in asked]
            self.assertEqual(pictures.shown_workers(rows, 2), shown)


class Questions(unittest.TestCase):
    def test_names_differ(self):
        names = [one.name for one in questions.QUESTIONS]
        self.assertEqual(len(names), len(set(names)))

    def test_are_explained_in_the_readme(self):
        text = (BENCH / "README.md").read_text()
        for one in questions.QUESTIONS:
            self.assertIn(f"`{one.name}`", text)

    def test_ours_answers_each(self):
        text = "".join(path.read_text() for path in (BENCH / "peers" / "skua").glob("*.cpp"))
        for one in questions.QUESTIONS:
            if one.kind == "program":
                self.assertIn(f'"{one.name}"', text)

    def test_a_filter_chooses_by_name(self):
        self.assertEqual([one.name for one in run.chosen("foreign_spawn_2")], ["foreign_spawn_2"])

    def test_for_targets_only_who_is_named_in_one_is_asked(self):
        programs = dict.fromkeys(("skua", "tokio", "tokio-mimalloc", "go", "asio", "tbb", "floors"))
        for name, workers, asked in (("fib", 2, ["skua", "skua-lifo", "tokio"]), ("fib", 1, []),
                                     ("timeouts", 2, ["skua", "tokio", "go"]),
                                     ("echo_64_64", 1, ["skua", "tokio", "floor-uring"])):
            question = next(one for one in questions.QUESTIONS if one.name == name)
            self.assertEqual([one.name for one in run.entered(question, workers, programs, True)], asked)
            self.assertLess(set(asked), {one.name for one in run.entered(question, workers, programs, False)})

    def test_tbb_is_asked_for_trees_only(self):
        tbb = next(one for one in questions.CONTESTANTS if one.name == "tbb")
        asked = {one.group for one in questions.QUESTIONS if tbb.is_asked(one, 2)}
        self.assertEqual(asked, {"trees"})


class Contests(unittest.TestCase):
    class Answers:
        """Stands in for programs, of which one has no answer."""

        def __init__(self):
            self.order = []

        def sample(self, _question, contestant, _workers):
            self.order.append(contestant.name)
            if contestant.name == "go":
                raise rounds.NoAnswer("has no such thing")
            return {"": samples(float(len(self.order)))[0]}

    def test_contestants_take_turns_and_who_has_no_answer_leaves(self):
        entered = [one for one in questions.CONTESTANTS if one.name in ("skua", "tokio", "go")]
        contest, answers = run.Contest(questions.QUESTIONS[0], 2, entered), self.Answers()
        contest.hold(answers, 2)
        self.assertEqual(answers.order, ["skua", "tokio", "go", "skua", "tokio"])
        self.assertEqual([(one.runtime, one.rounds) for one in contest.rows()],
                         [("skua", 2), ("tokio", 2)])


class Targets(unittest.TestCase):
    def outcome(self, rows: list, limit: float, **more):
        return targets.outcome(targets.Target("spawn_join", 2, limit, **more), rows)

    def test_are_met_or_missed_by_so_much(self):
        rows = [row(values=(30,)), row("tokio", values=(100,)), row("go", values=(20,))]
        for limit, more, said in ((0.30, {}, "met"), (0.31, {}, "met"), (0.20, {}, "missed by 50 %"),
                                  (0.299, {}, "missed by less than 1 %"), (2.0, {"peer": "go"}, "met"),
                                  (0.3, {"at_least": True}, "met"), (0.6, {"at_least": True}, "missed by 50 %"),
                                  (0.3, {"peer": "asio"}, "not asked"), (0.3, {"metric": "cpu"}, "not asked"),
                                  (0.3, {"ours": "skua-lifo"}, "not asked")):
            self.assertEqual(self.outcome(rows, limit, **more).text(), said)

    def test_of_another_number_of_workers_is_another(self):
        rows = [row(values=(30,), workers=1), row("tokio", values=(100,))]
        self.assertEqual(self.outcome(rows, 0.5).text(), "not asked")

    def test_are_about_questions_and_contestants_there_are(self):
        known = {one.name: one for one in questions.QUESTIONS}
        contestants = {one.name: one for one in questions.CONTESTANTS}
        for one in targets.TARGETS:
            question = known[one.question]
            self.assertIn(one.workers, question.workers)
            for name in (one.ours, one.peer):
                self.assertTrue(contestants[name].is_asked(question, one.workers), one)
            self.assertIn(one.metric, ("", "p50", "p99", "cpu") if question.kind == "echo" else ("",))
            self.assertEqual(one.at_least, question.more_is_better and not one.metric, one)


class Chapters(unittest.TestCase):
    ROWS = [row(values=(10,)), row("tokio", values=(40,)), row("tokio-mimalloc", values=(5,)),
            row(bench="echo_64_64", values=(80,), more_is_better=True, workers=1),
            row("tokio", "echo_64_64", (100,), True, 1), row("floor-uring", "echo_64_64", (120,), True, 1),
            row(bench="fib", values=(9,)), row("skua-lifo", "fib", (3,)), row("tokio", "fib", (9.5,)),
            row("tbb", "fib", (7,))]
    MACHINE = {"kernel": "6.1", "processors": 2, "model": "Abacus"}

    def made(self, which: chapter.Chapter = chapter.RESULTS) -> str:
        return which.made_of(figures.as_json(self.ROWS, self.MACHINE))

    def test_has_a_line_for_each_question_with_losses_as_plain_as_wins(self):
        for part in ("| `spawn_join`, ns/op | 2 | 10 | 40 | **5** | – | – | – | **0.25** win |",
                     "| `echo_64_64`, ns/op | 1 | 80 | **100** | – | – | – | 120 | **0.80** loss |",
                     "| `fib`, `order::lifo`, ns/op | 2 | **3** | 9.5 | – | – | – | – | 7 | **0.32** win |"):
            self.assertIn(part, self.made())

    def test_ties_are_ties_unless_spreads_lie_apart(self):
        self.assertEqual(chapter.verdict(row(values=(9, 10, 12)), row("tokio", values=(10, 11, 12))), "0.91 tie")
        self.assertEqual(chapter.verdict(row(values=(9, 10, 10)), row("tokio", values=(11, 11, 12))),
                         "**0.91** win")
        self.assertEqual(chapter.verdict(row(values=(13,), more_is_better=True),
                                         row("tokio", values=(10,), more_is_better=True)), "**1.30** win")

    def test_names_machine_and_versions(self):
        for which in (chapter.RESULTS, chapter.TARGETS):
            for part in ("Abacus, 2 processors, Linux 6.1", "| `skua` | 1.0 | -O3 |"):
                self.assertIn(part, self.made(which))

    def test_says_which_targets_are_missed_and_by_how_much(self):
        for part in ("| `spawn_join`, ns/op | 2 | 10 (10 to 10) | 40 (40 to 40) | at most 0.2 of tokio | 0.250 | "
                     "**missed by 25 %** |",
                     "| `echo_64_64`, ns/op | 1 | 80 (80 to 80) | 100 (100 to 100) | at least 1 of tokio | 0.800 | "
                     "**missed by 20 %** |",
                     "| `skynet` | 2 | – | – | at most 0.15 of tokio | – | not asked |"):
            self.assertIn(part, self.made(chapter.TARGETS))

    def test_replaces_what_stood_between_the_marks(self):
        text = (BENCH / "README.md").read_text()
        for which in (chapter.RESULTS, chapter.TARGETS):
            once = which.put_into(text, self.made(which))
            self.assertEqual(which.put_into(once, self.made(which)), once)
            self.assertEqual(once.partition(which.mark("begin"))[0], text.partition(which.mark("begin"))[0])
            self.assertEqual(once.partition(which.mark("end"))[2], text.partition(which.mark("end"))[2])
            with self.assertRaises(chapter.NotThere):
                which.put_into("# no marks\n", self.made(which))

    def test_has_its_pictures_beside_it(self):
        with tempfile.TemporaryDirectory() as directory:
            here = pathlib.Path(directory)
            (here / "README.md").write_text((BENCH / "README.md").read_text())
            (here / "rows.json").write_text(json.dumps(figures.as_json(self.ROWS, self.MACHINE)))
            chapter.write(here / "rows.json", here / "README.md", chapter.RESULTS)
            text = (here / "README.md").read_text()
            for name in ("tasks", "echo", "trees"):
                self.assertIn(f"](pictures/{name}.svg)", text)
                self.assertTrue((here / "pictures" / f"{name}.svg").is_file())

    def test_of_something_else_is_refused(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "results.json"
            for text in ("", "[]", "{}", '{"machine": {}, "rows": []}', '{"machine": {}, "rows": [{}]}'):
                path.write_text(text)
                with self.assertRaises(chapter.NotThere):
                    chapter.write(path, BENCH / "README.md", chapter.RESULTS)


class CommandLine(unittest.TestCase):
    def refused(self, *words) -> str:
        done = subprocess.run([sys.executable, BENCH / "run.py", *words], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr.splitlines()[-1]

    def test_refuses_nonsense_with_a_line(self):
        for words, said in ((("--workers", "x"), "--workers: invalid"), (("--workers", "0"), "--workers: invalid"),
                            (("--workers", "3"), "asked with 1, 2, 4, 8"), (("--rounds", "0"), "at least 5"),
                            (("--rounds", "4"), "at least 5"), (("--rounds", "0", "--quick"), "1 with --quick"),
                            (("--rounds", "few"), "invalid int"), (("--jobs", "0"), "at least 1"),
                            (("--filter", "nothing_of_it"), "no question has that in its name"),
                            (("--filter", "chained_spawn", "--targets"), "no target is about that"),
                            (("--workers", "8", "--targets"), "asked with 1, 2"),
                            (("--fast",), "unrecognized")):
            self.assertIn(said, self.refused(*words))

    def test_takes_what_makes_sense(self):
        asked = run.read_command_line(["--workers", "1,2", "--rounds", "5", "--filter", "fib"])
        self.assertEqual((asked.workers, asked.rounds), ({1, 2}, 5))
        self.assertEqual(run.read_command_line(["--quick", "--rounds", "1"]).rounds, 1)

    def test_rounds_are_five_unless_it_has_to_be_quick(self):
        self.assertGreaterEqual(run.ROUNDS, 5)
        self.assertIsNone(run.read_command_line([]).rounds)

    def test_lists_the_questions(self):
        done = subprocess.run([sys.executable, BENCH / "run.py", "--list"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stdout.splitlines()), len(questions.QUESTIONS))


class Builds(unittest.TestCase):
    def attempt_without_path(self, name: str, how: str) -> tuple:
        """What is printed, and the programs that are there."""
        said = io.StringIO()
        with (tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(said),
              unittest.mock.patch.dict(os.environ, {"PATH": "/nowhere"})):
            made = builds.Builds(pathlib.Path(directory), 1)
            made.missing = {}
            made.attempt(name, getattr(made, how))
        return said.getvalue(), made.programs

    def test_without_a_toolchain_on_the_path_a_line_says_so(self):
        for name, how, tool in (("go", "go", "go"), ("tokio", "tokio", "cargo"),
                                ("tokio-mimalloc", "tokio", "cargo")):
            said, programs = self.attempt_without_path(name, how)
            self.assertIn(f"{name}: left out: {tool} is not on the PATH\n", said)
            self.assertEqual(programs, {})
        said, programs = self.attempt_without_path("asio", "cpp_peer")
        self.assertIn("asio: left out: 'cmake' cannot be run", said)

    def test_a_peer_without_its_toolchain_is_left_out_with_its_reason(self):
        said = "-- peer tbb is left out: no TBB (Debian: libtbb-dev)\n-- Configuring done\n"
        self.assertEqual(builds.LEFT_OUT.findall(said), [("tbb", "no TBB (Debian: libtbb-dev)")])
        lists = (BENCH / "peers" / "CMakeLists.txt").read_text()
        found = {name for name, _ in builds.LEFT_OUT.findall(lists)}
        self.assertEqual(found, set(builds.CPP_PEERS))


if __name__ == "__main__":
    unittest.main()
