"""What rounds come to: medians, ratios, rows, tables."""
import dataclasses
import statistics

from harness import questions

QUIET_LEAST = 3  # with fewer quiet rounds than that, all count


@dataclasses.dataclass(frozen=True)
class Sample:
    """One round of one contestant: what it said, and whether others disturbed it."""
    value: float
    unit: str
    version: str
    flags: str
    disturbed: bool = False


@dataclasses.dataclass(frozen=True)
class Row:
    bench: str
    runtime: str
    version: str
    flags: str
    workers: int
    unit: str
    median: float
    min: float
    max: float
    rounds: int
    disturbed: int
    more_is_better: bool


def quiet(samples: list) -> list:
    calm = [one for one in samples if not one.disturbed]
    return calm if len(calm) >= QUIET_LEAST else samples


def summarise(bench: str, runtime: str, workers: int, more_is_better: bool, samples: list) -> Row:
    values = [one.value for one in quiet(samples)]
    first = samples[0]
    return Row(bench, runtime, first.version, first.flags, workers, first.unit,
               statistics.median(values), min(values), max(values), len(samples),
               sum(one.disturbed for one in samples), more_is_better)


def ratio_to(ours: Row, theirs: Row) -> float:
    """Ours by theirs: below 1 is good for us if less is better."""
    return ours.median / theirs.median if theirs.median else float("nan")


def of(rows: list, runtime: str, workers: int) -> Row | None:
    return next((row for row in rows if row.runtime == runtime and row.workers == workers), None)


def workers_text(workers: int) -> str:
    return f"{workers} worker{'s'[:workers > 1]}"


def number(value: float) -> str:
    """Three digits that matter, or all before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def rounds_text(row: Row) -> str:
    return f"{row.rounds}" + (f", {row.disturbed} disturbed" if row.disturbed else "")


def cells(row: Row, ours: Row | None) -> list:
    ratio = "" if ours is None or ours is row else f"{ratio_to(ours, row):.2f}"
    return [row.runtime, number(row.median), number(row.min), number(row.max), rounds_text(row), ratio]


def table(rows: list) -> str:
    """Of one question and one number of workers."""
    first = rows[0]
    ours = of(rows, questions.OURS, first.workers)
    better = "more is better" if first.more_is_better else "less is better"
    title = f"{first.bench}, {workers_text(first.workers)}: {first.unit}, {better}"
    lines = [["", "median", "min", "max", "rounds", f"{questions.OURS} / it"]]
    lines += [cells(row, ours) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = ["  " + "  ".join([line[0].ljust(widths[0])] +
                             [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])])
            for line in lines]
    return "\n".join([title] + [line.rstrip() for line in text]) + "\n"


def as_json(rows: list, machine: dict) -> dict:
    return {"machine": machine, "rows": [dataclasses.asdict(row) for row in rows]}
