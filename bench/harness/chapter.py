"""The chapters "Results" and "Targets" of bench/README.md, each made of a results.json."""
import collections.abc
import dataclasses
import json
import pathlib

from harness import figures, pictures, questions, targets

TIE = 1.15  # see "How to read"
FLOOR = "floor"
# Heading -> who stands there; of several, the first that was asked.
COLUMNS = {"skua": ("skua",), "Tokio": ("tokio",), "Tokio + mimalloc": ("tokio-mimalloc",), "Go": ("go",),
           "Asio": ("asio",), FLOOR: ("floor", "floor-uring")}
TBB = {"TBB": ("tbb",)}  # only for trees
LIFO = "skua-lifo"
NOBODY = "–"


class NotThere(Exception):
    pass


def verdict(ours: figures.Row, theirs: figures.Row) -> str:
    """`**0.25** win`, `**1.30** loss` or `1.02 tie`: losses as plainly as wins."""
    ratio = figures.ratio_to(ours, theirs)
    apart = ours.max < theirs.min or theirs.max < ours.min
    if 1 / TIE <= ratio <= TIE and not apart:
        return f"{ratio:.2f} tie"
    return f"**{ratio:.2f}** " + ("win" if (ratio > 1) == ours.more_is_better else "loss")


def line(cells: list) -> str:
    return "| " + " | ".join(cells) + " |\n"


def table(headings: list, lines: list, left: int) -> str:
    """Markdown; numbers stand to the right of the first `left` columns."""
    rule = ["---"] * left + ["--:"] * (len(headings) - left)
    return line(headings) + "|" + "|".join(rule) + "|\n" + "".join(map(line, lines)) + "\n"


def first_of(rows: list, names: tuple) -> figures.Row | None:
    return next((row for name in names for row in rows if row.runtime == name), None)


def values(shown: dict) -> list:
    """Medians by column; the best runtime's is bold, and a floor is none."""
    there = [row.median for heading, row in shown.items() if row and heading != FLOOR]
    more_is_better = any(row.more_is_better for row in shown.values() if row)
    best = max(there) if more_is_better else min(there)
    return [NOBODY if row is None else
            f"**{figures.number(row.median)}**" if row.median == best and heading != FLOOR else
            figures.number(row.median) for heading, row in shown.items()]


def contest_lines(rows: list, columns: dict) -> list:
    """Of one question, metric and number of workers: a line, and one more for the other order."""
    found = {heading: first_of(rows, names) for heading, names in columns.items()}
    lines = []
    for name, more in ((questions.OURS, ""), (LIFO, ", `order::lifo`")):
        ours = first_of(rows, (name,))
        if ours is None:
            continue
        shown = found | {"skua": ours}
        ratio = verdict(ours, shown["Tokio"]) if shown["Tokio"] else NOBODY
        lines.append([f"`{ours.bench}`{more}, {ours.unit}", str(ours.workers),
                      *values(shown), ratio])
    return lines


def group_table(group: str, rows: list) -> str:
    names = [one.name for one in questions.QUESTIONS if one.group == group]
    mine = [row for row in rows if row.bench.partition(".")[0] in names]
    columns = COLUMNS | (TBB if any(row.runtime == "tbb" for row in mine) else {})
    lines = []
    for bench, workers in dict.fromkeys((row.bench, row.workers) for row in mine):
        lines += contest_lines([row for row in mine if (row.bench, row.workers) == (bench, workers)], columns)
    if not lines:
        return ""
    better = "more is better" if any(row.more_is_better for row in mine) else "less is better"
    note = f"### {group.capitalize()}\n\n{better.capitalize()}" + \
        ("; of `.p50`, `.p99`, `.p99.9` and `.cpu`, less.\n\n" if any("." in row.bench for row in mine) else ".\n\n")
    note += f"![{group}](pictures/{group}.svg)\n\n"
    return note + table(["Question", "Workers", *columns, "skua / Tokio"], lines, 1)


def machine_text(machine: dict, rows: list) -> str:
    contestants = dict.fromkeys((row.runtime, row.version, row.flags) for row in rows)
    disturbed, all_rounds = sum(row.disturbed for row in rows), sum(row.rounds for row in rows)
    rounds = sorted({row.rounds for row in rows})
    return (f"{machine['model']}, {machine['processors']} processors, Linux {machine['kernel']}; medians of "
            f"{' or '.join(map(str, rounds))} rounds, of which {disturbed} of all {all_rounds} were disturbed.\n\n"
            + table(["Contestant", "Version", "Built with"], [[f"`{name}`", version, flags or NOBODY]
                                                              for name, version, flags in contestants], 3))


def spread(row: figures.Row | None) -> str:
    if row is None:
        return NOBODY
    return f"{figures.number(row.median)} ({figures.number(row.min)} to {figures.number(row.max)})"


def target_line(one: targets.Outcome, rows: list) -> list:
    of_it = [row for row in rows if row.bench == one.target.bench()]
    ours, theirs = (figures.of(of_it, name, one.target.workers) for name in (one.target.ours, one.target.peer))
    unit = f", {ours.unit}" if ours else ""
    return [f"`{one.target.bench()}`" + (", `order::lifo`" if one.target.ours == LIFO else "") + unit,
            str(one.target.workers), spread(ours), spread(theirs), one.target.goal(),
            NOBODY if one.ratio is None else f"{one.ratio:.3f}",
            one.text() if one.ratio is None or one.missed_by() == 0 else f"**{one.text()}**"]


def targets_text(rows: list) -> str:
    found = targets.outcomes(rows)
    asked = [one for one in found if one.ratio is not None]
    met = sum(one.missed_by() == 0 for one in asked)
    return (f"{met} met, {len(asked) - met} missed, {len(found) - len(asked)} not asked. A ratio is "
            f"skua's median by the other's; in brackets stand the least and the most.\n\n"
            + table(["Question", "Workers", "skua", "The other", "Target", "Ratio", "Outcome"],
                    [target_line(one, rows) for one in found], 2))


def results_text(rows: list) -> str:
    groups = dict.fromkeys(one.group for one in questions.QUESTIONS)
    return "".join(group_table(one, rows) for one in groups)


def rows_of(results: dict) -> list:
    return [figures.Row(**row) for row in results["rows"]]


@dataclasses.dataclass(frozen=True)
class Chapter:
    """Stands between two marks of its name."""
    name: str
    text: collections.abc.Callable

    def mark(self, which: str) -> str:
        return f"<!-- {self.name}: {which} -->\n"

    def made_of(self, results: dict) -> str:
        rows = rows_of(results)
        if not rows:
            raise NotThere("no rows in these results")
        return machine_text(results["machine"], rows) + self.text(rows)

    def put_into(self, text: str, what: str) -> str:
        """The text with all between the marks replaced."""
        before, begin, rest = text.partition(self.mark("begin"))
        _, end, after = rest.partition(self.mark("end"))
        if not begin or not end:
            raise NotThere(f"no '{self.mark('begin').strip()}' and '{self.mark('end').strip()}' in it")
        return before + begin + "\n" + what.rstrip("\n") + "\n\n" + end + after


RESULTS, TARGETS = Chapter("results", results_text), Chapter("targets", targets_text)


def write(results: pathlib.Path, readme: pathlib.Path, which: Chapter):
    """And, beside the page, the pictures of all results."""
    try:
        what = json.loads(results.read_text(encoding="utf-8"))
        made = which.made_of(what)
    except (ValueError, KeyError, TypeError) as why:
        raise NotThere(f"{results} is no results.json: {why!r}") from why
    readme.write_text(which.put_into(readme.read_text(encoding="utf-8"), made), encoding="utf-8")
    if which is RESULTS:
        directory = readme.parent / "pictures"
        directory.mkdir(exist_ok=True)
        pictures.draw_svg(rows_of(what), directory, what["machine"]["processors"])
