"""What is asked, and who is asked it."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Question:
    """One row of the tables. `kind` says how it is asked: a program by itself, or a server under load."""
    name: str
    group: str
    title: str
    kind: str = "program"
    more_is_better: bool = False
    workers: tuple = (1, 2)
    # Of servers under load.
    connections: int = 0
    size: int = 64
    hog: bool = False


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    program: str
    flags: tuple = ()
    only: tuple = ()           # groups and names of questions; empty: all of them
    workers_most: int = 1_024  # a floor has one thread

    def is_asked(self, question: Question, workers: int) -> bool:
        known = not self.only or question.group in self.only or question.name in self.only
        return known and workers <= self.workers_most


SCALING = (1, 2, 4, 8)  # more workers than processors must not hurt


def echo(size: int, connections: int, text: str) -> Question:
    return Question(f"echo_{size}_{connections}", "echo",
                    f"Echo of {text}, {connections:,} connection{'s'[:connections > 1]}",
                    kind="echo", more_is_better=True, connections=connections, size=size)


QUESTIONS = [
    Question("spawn_join", "tasks", "Spawn 1,000,000 tasks, join all", workers=SCALING),
    Question("spawn_await", "tasks", "Spawn a task and await it, in sequence"),
    Question("chained_spawn", "tasks", "A task that spawns the next"),
    Question("foreign_spawn_1", "tasks", "Spawn from 1 thread outside"),
    Question("foreign_spawn_2", "tasks", "Spawn from 2 threads outside"),
    Question("foreign_spawn_4", "tasks", "Spawn from 4 threads outside"),
    Question("spawn_blocking", "tasks", "A blocking call, there and back"),
    Question("yield_one", "switches", "Give way, one task"),
    Question("yield_many", "switches", "Give way, 1,000 tasks", workers=SCALING),
    Question("ping_pong_channel", "switches", "Ping-pong over bounded channels"),
    Question("ping_pong_notify", "switches", "Ping-pong over notifies"),
    Question("ping_pong_oneshot", "switches", "Ping-pong over oneshots"),
    Question("mpsc_bounded_1", "messages", "Bounded channel, 1 to 1"),
    Question("mpsc_bounded_8", "messages", "Bounded channel, 8 to 1", workers=SCALING),
    Question("mpsc_unbounded_1", "messages", "Unbounded channel, 1 to 1"),
    Question("mpsc_unbounded_8", "messages", "Unbounded channel, 8 to 1"),
    Question("mpmc_8", "messages", "Bounded channel, 8 to 8"),
    Question("mutex_100", "locks", "A lock, 100 tasks"),
    Question("semaphore", "locks", "10 permits, 100 tasks, held across a turn"),
    Question("sleeps", "time", "1,000,000 sleeps of 1 to 100 ms"),
    Question("timeouts", "time", "Make and call off a timeout"),
    Question("skynet", "trees", "Skynet, 1,000,000 leaves", workers=SCALING),
    Question("fib", "trees", "fib(30), a task for each call"),
    Question("nqueens", "trees", "11 queens, a task for each board"),
    Question("memory_parked", "memory", "Memory of a task that waits"),
    Question("memory_parked_channel", "memory", "The same, each at a channel of its own"),
    Question("memory_connections", "memory", "Memory of an idle connection", kind="connections",
             connections=10_000, size=1_024),
    echo(64, 1, "64 B"), echo(64, 64, "64 B"), echo(64, 1_000, "64 B"),
    echo(16_384, 1, "16 KiB"), echo(16_384, 64, "16 KiB"), echo(16_384, 1_000, "16 KiB"),
    Question("hog", "echo", "Echo of 64 B, 64 connections, beside a task that computes", kind="echo",
             more_is_better=True, workers=(2,), connections=64, hog=True),
    Question("accept_close", "accept", "Accept and close", kind="accept", more_is_better=True),
    Question("file_reads_1", "files", "Random reads of 4 KiB, one at a time"),
    Question("file_reads_64", "files", "Random reads of 4 KiB, 64 at a time"),
]

OURS = "skua"
CONTESTANTS = [
    Contestant(OURS, "skua"),
    Contestant("skua-lifo", "skua", ("--order", "lifo"), only=("trees",)),
    Contestant("tokio", "tokio"),
    Contestant("tokio-mimalloc", "tokio-mimalloc"),
    Contestant("go", "go"),
    Contestant("asio", "asio"),
    Contestant("tbb", "tbb", only=("trees",)),
    Contestant("floor", "floors", workers_most=1,
               only=("spawn_join", "spawn_await", "yield_one", "yield_many", "accept_close")),
    Contestant("floor-uring", "floors", ("--order", "uring"), workers_most=1,
               only=("echo", "memory_connections")),
    Contestant("floor-epoll", "floors", ("--order", "epoll"), workers_most=1,
               only=("echo", "memory_connections")),
]
