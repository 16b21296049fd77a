"""What skua is to reach: ratios of medians, ours by theirs. Data, and whether a run met it."""
import dataclasses

from harness import figures, questions

TOKIO, GO, FLOOR, LIFO = "tokio", "go", "floor-uring", "skua-lifo"


@dataclasses.dataclass(frozen=True)
class Target:
    question: str
    workers: int
    limit: float
    peer: str = TOKIO
    metric: str = ""  # "": the question's own value; else p50, p99 or cpu
    at_least: bool = False
    ours: str = questions.OURS

    def bench(self) -> str:
        return self.question + (f".{self.metric}" if self.metric else "")

    def goal(self) -> str:
        return f"{'at least' if self.at_least else 'at most'} {self.limit:.3g} of {self.peer}"


TARGETS = [
    Target("spawn_join", 2, 0.20),
    Target("spawn_await", 2, 0.25),
    Target("yield_many", 2, 0.60),
    Target("yield_one", 2, 0.05),
    Target("ping_pong_channel", 2, 0.30),
    Target("ping_pong_notify", 2, 0.30),
    Target("ping_pong_oneshot", 2, 0.40),
    Target("mpsc_bounded_1", 2, 0.9, GO),
    Target("mpsc_bounded_8", 2, 0.9, GO),
    Target("mpsc_unbounded_1", 2, 0.45),
    Target("mpsc_unbounded_8", 2, 0.20),
    Target("mutex_100", 2, 0.5, GO),
    Target("sleeps", 2, 0.50),
    Target("timeouts", 2, 0.25),
    Target("timeouts", 2, 0.6, GO),
    Target("skynet", 2, 0.05, ours=LIFO),
    Target("skynet", 2, 0.15),
    Target("fib", 2, 0.06, ours=LIFO),
    Target("fib", 2, 0.15),
    Target("spawn_blocking", 2, 0.8),
    Target("foreign_spawn_4", 2, 0.4),
    Target("memory_parked_channel", 2, 0.8),
    Target("echo_64_64", 1, 1.0, at_least=True),
    Target("echo_64_64", 1, 0.95, FLOOR, at_least=True),
    Target("echo_64_64", 1, 0.95, metric="cpu"),
    Target("echo_64_1000", 1, 1.0, at_least=True),
    Target("echo_64_1000", 1, 0.95, FLOOR, at_least=True),
    Target("echo_64_1000", 1, 0.95, metric="cpu"),
    Target("echo_64_1000", 1, 1.3, FLOOR, metric="p99"),
    Target("echo_64_1", 2, 0.5, metric="p50"),
    Target("file_reads_64", 2, 1 / 3),
    Target("spawn_join", 1, 0.11),
    Target("spawn_await", 1, 0.10),
    Target("yield_many", 1, 0.24),
    Target("ping_pong_channel", 1, 0.33),
    Target("mpsc_bounded_1", 1, 0.43),
    Target("mutex_100", 1, 1.2, GO),
    Target("memory_connections", 1, 0.9),
]


@dataclasses.dataclass(frozen=True)
class Outcome:
    target: Target
    ratio: float | None  # None: this run did not ask both

    def missed_by(self) -> float:
        """As a share of the limit; 0 if it is met."""
        beyond = self.ratio / self.target.limit - 1
        return max(0.0, -beyond if self.target.at_least else beyond)

    def text(self) -> str:
        if self.ratio is None:
            return "not asked"
        missed = self.missed_by()
        if missed == 0:
            return "met"
        return f"missed by {100 * missed:.0f} %" if missed >= 0.005 else "missed by less than 1 %"


def outcome(target: Target, rows: list) -> Outcome:
    asked = [row for row in rows if row.bench == target.bench()]
    ours, theirs = (figures.of(asked, name, target.workers) for name in (target.ours, target.peer))
    if ours is None or theirs is None or not theirs.median:
        return Outcome(target, None)
    return Outcome(target, figures.ratio_to(ours, theirs))


def named(question: str, workers: int) -> set:
    """Who is in the targets of that question with so many workers."""
    return {name for one in TARGETS if (one.question, one.workers) == (question, workers)
            for name in (one.ours, one.peer)}


def outcomes(rows: list) -> list:
    return [outcome(one, rows) for one in TARGETS]
