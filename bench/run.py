#!/usr/bin/env python3
"""Asks skua, and with --peers other runtimes too, the questions of bench/README.md.

All contestants of a question take turns, round by round, so that what changes on the machine meets
all of them. For each question and number of workers a table is printed; rows of all of them go to
results.json, and bars to pictures.

usage: run.py [--peers] [--quick] [--filter TEXT] [--targets] [--workers 1,2] [--rounds N]
              [--json FILE] [--output DIRECTORY] [--jobs N] [--list]
       run.py --readme RESULTS [--targets]
"""
import argparse
import json
import os
import pathlib
import platform
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from harness import builds, chapter, figures, pictures, questions, rounds, targets  # noqa: E402

README = builds.ROOT / "bench" / "README.md"
ROUNDS, QUICK_ROUNDS = 5, 3
SECONDS, QUICK_SECONDS = 2.0, 0.5
QUICK_SCALE = 0.1


def read_command_line(words: list | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--peers", action="store_true", help="other runtimes, too")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and less of everything")
    parser.add_argument("--filter", default="", help="only questions whose name contains this")
    parser.add_argument("--targets", action="store_true",
                        help="only what targets are about, and of others only whom they name")
    parser.add_argument("--workers", type=counts, help="only with so many workers, such as 1,2")
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS} or more, unless --quick; else {ROUNDS}")
    parser.add_argument("--json", type=pathlib.Path, help="where rows go; else to the output")
    parser.add_argument("--output", type=pathlib.Path, help="for results.json and pictures",
                        default=builds.ROOT / "build" / "peers" / "results")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the builds")
    parser.add_argument("--readme", type=pathlib.Path, metavar="RESULTS",
                        help="write the chapter Results of bench/README.md, which a results.json tells, or "
                             "with --targets the chapter Targets, and end")
    parser.add_argument("--list", action="store_true", help="print the questions, and end")
    asked = parser.parse_args(words)
    refuse_nonsense(parser, asked)
    return asked


def counts(text: str) -> set:
    """Of workers, such as 1,2."""
    found = {int(word) for word in text.split(",")}
    if min(found) < 1:
        raise ValueError
    return found


def refuse_nonsense(parser: argparse.ArgumentParser, asked: argparse.Namespace):
    """Ends with 2 and a line that says what is wrong."""
    if asked.rounds is not None and asked.rounds < (1 if asked.quick else ROUNDS):
        parser.error(f"--rounds {asked.rounds}: at least {ROUNDS}, or 1 with --quick")
    if asked.jobs < 1:
        parser.error(f"--jobs {asked.jobs}: at least 1")
    found = chosen(asked.filter)
    if not found:
        parser.error(f"--filter {asked.filter}: no question has that in its name; --list prints them")
    known = {workers for one in found for workers in one.workers
             if not asked.targets or targets.named(one.name, workers)}
    if not known:
        parser.error(f"--filter {asked.filter}: no target is about that")
    if asked.workers and not asked.workers & known:
        parser.error(f"--workers: these questions are asked with {', '.join(map(str, sorted(known)))}")


def asked_there(question: questions.Question, workers: int, asked: argparse.Namespace) -> bool:
    return not (asked.workers and workers not in asked.workers) and \
        not (asked.targets and not targets.named(question.name, workers))


def entered(question: questions.Question, workers: int, programs: dict, only_targets: bool) -> list:
    """Who is asked it."""
    named = targets.named(question.name, workers)
    return [one for one in questions.CONTESTANTS
            if one.program in programs and one.is_asked(question, workers)
            and (not only_targets or one.name in named)]


def chosen(text: str) -> list:
    return [one for one in questions.QUESTIONS if text in one.name]


def machine() -> dict:
    facts = {"kernel": platform.release(), "processors": rounds.PROCESSORS, "model": "unknown"}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            facts["model"] = line.partition(":")[2].strip()
            break
    return facts


def lacks(question: questions.Question, programs: dict) -> str:
    """Why nobody can be asked it; nothing if all is there."""
    if question.kind == "echo" and not programs["load"].exists():
        return "the command skua, which makes the load, was not built (CLI11 is missing)"
    return ""


class Contest:
    """One question with one number of workers: everybody in turn, some rounds long."""

    def __init__(self, question, workers: int, contestants: list):
        self.question, self.workers, self.contestants = question, workers, list(contestants)
        self.samples = {}  # metric -> contestant -> samples

    def hold(self, how: rounds.Rounds, count: int):
        for _ in range(count):
            for contestant in list(self.contestants):
                self.take_turn(how, contestant)

    def take_turn(self, how: rounds.Rounds, contestant):
        try:
            seen = how.sample(self.question, contestant, self.workers)
        except (rounds.NoAnswer, OSError, rounds.subprocess.TimeoutExpired) as why:
            print(f"  {contestant.name}: no answer to {self.question.name}: {why}", flush=True)
            self.contestants.remove(contestant)
            return
        for metric, sample in seen.items():
            self.samples.setdefault(metric, {}).setdefault(contestant.name, []).append(sample)

    def rows(self) -> list:
        return [figures.summarise(self.question.name + metric, name, self.workers,
                                  self.question.more_is_better and metric == "", samples)
                for metric, by_name in self.samples.items() for name, samples in by_name.items()]


def build_all(asked: argparse.Namespace) -> dict:
    made = builds.Builds(builds.ROOT / "build" / "peers", asked.jobs)
    made.skua()
    if asked.peers:
        made.peers()
    return made.programs


def print_tables(rows: list):
    for bench in dict.fromkeys(row.bench for row in rows):
        print(figures.table([row for row in rows if row.bench == bench]), flush=True)


def ask_all(asked: argparse.Namespace, programs: dict) -> list:
    count = asked.rounds or (QUICK_ROUNDS if asked.quick else ROUNDS)
    how = rounds.Rounds(programs, QUICK_SCALE if asked.quick else 1.0,
                        QUICK_SECONDS if asked.quick else SECONDS, builds.ROOT / "build")
    rows = []
    for question in chosen(asked.filter):
        if why := lacks(question, programs):
            print(f"{question.name}: left out: {why}", flush=True)
            continue
        for workers in question.workers:
            if not asked_there(question, workers, asked):
                continue
            contestants = entered(question, workers, programs, asked.targets)
            contest = Contest(question, workers, contestants)
            contest.hold(how, count)
            print_tables(contest.rows())
            rows += contest.rows()
    return rows


def write_results(asked: argparse.Namespace, rows: list):
    asked.output.mkdir(parents=True, exist_ok=True)
    path = asked.json or asked.output / ("targets.json" if asked.targets else "results.json")
    path.write_text(json.dumps(figures.as_json(rows, machine()), indent=1) + "\n", encoding="utf-8")
    drawn = pictures.draw(rows, asked.output, rounds.PROCESSORS)
    if drawn and not any(one.suffix == ".png" for one in drawn):
        print("pictures: no PNG: rsvg-convert is missing (Debian: librsvg2-bin)")
    print(f"written: {path}" + (f", and {len(drawn)} pictures in {asked.output}" if drawn else ""))


def print_targets(rows: list):
    for one in targets.outcomes(rows):
        if one.ratio is not None:
            whose = "" if one.target.ours == questions.OURS else f" ({one.target.ours})"
            print(f"target: {one.target.bench()}{whose}, {figures.workers_text(one.target.workers)}: "
                  f"{one.ratio:.2f}, {one.target.goal()}: {one.text()}")


def write_readme(results: pathlib.Path, which: chapter.Chapter) -> int:
    try:
        chapter.write(results, README, which)
    except (chapter.NotThere, OSError) as why:
        print(f"bench: --readme: {why}", file=sys.stderr)
        return 2
    print(f"written: {README}")
    return 0


def main() -> int:
    asked = read_command_line()
    if asked.list:
        print("\n".join(f"{one.name:24}{one.title}" for one in chosen(asked.filter)))
        return 0
    if asked.readme:
        return write_readme(asked.readme, chapter.TARGETS if asked.targets else chapter.RESULTS)
    try:
        programs = build_all(asked)
    except builds.CannotBuild as why:
        print(f"bench: {why}", file=sys.stderr)
        return 1
    rows = ask_all(asked, programs)
    write_results(asked, rows)
    print_targets(rows)
    disturbed = sum(row.disturbed for row in rows)
    if disturbed:
        print(f"{disturbed} of {sum(row.rounds for row in rows)} rounds were disturbed by other load")
    return 0


if __name__ == "__main__":
    sys.exit(main())
