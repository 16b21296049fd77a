#!/usr/bin/env python3
"""What bench/run.py makes of rounds: medians, ratios, disturbance, tables, JSON and pictures.

Builds and runs no contestant. usage: bench_test.py
"""
import json
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import run  # noqa: E402
from harness import builds, disturbance, figures, pictures, questions, rounds  # noqa: E402


def samples(*values, disturbed=()):
    return [figures.Sample(value, "ns/op", "1.0", "-O3", at in disturbed)
            for at, value in enumerate(values)]


def row(runtime="skua", bench="spawn_join", values=(1, 2, 3), more_is_better=False):
    return figures.summarise(bench, runtime, 2, more_is_better, samples(*values))


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
        bars = root.findall("{http://www.w3.org/2000/svg}rect")
        self.assertEqual(len(bars), 2)
        self.assertLess(float(bars[0].get("width")), float(bars[1].get("width")))

    def test_writes_one_for_each_group(self):
        with tempfile.TemporaryDirectory() as directory:
            written = pictures.draw([row(), row(bench="fib")], pathlib.Path(directory))
            names = {path.name for path in written if path.suffix == ".svg"}
        self.assertEqual(names, {"tasks_2.svg", "trees_2.svg"})


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


class Builds(unittest.TestCase):
    def test_a_peer_without_its_toolchain_is_left_out_with_its_reason(self):
        said = "-- peer tbb is left out: no TBB (Debian: libtbb-dev)\n-- Configuring done\n"
        self.assertEqual(builds.LEFT_OUT.findall(said), [("tbb", "no TBB (Debian: libtbb-dev)")])
        lists = (BENCH / "peers" / "CMakeLists.txt").read_text()
        found = {name for name, _ in builds.LEFT_OUT.findall(lists)}
        self.assertEqual(found, set(builds.CPP_PEERS))


if __name__ == "__main__":
    unittest.main()
