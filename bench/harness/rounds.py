"""Asks contestants: a program by itself, or a server under load."""
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess

from harness import disturbance, figures

NO_QUESTION = 2
LOAD_CODES = (0, 1)  # 1: some messages were not answered, which beside a hog is a result
PATIENCE = 300  # seconds
PROCESSORS = len(os.sched_getaffinity(0))
PAGE = os.sysconf("SC_PAGESIZE")


class NoAnswer(Exception):
    pass


def pinned(to: int | None) -> list:
    """In front of a command: on one processor of those we have."""
    if to is None or shutil.which("taskset") is None:
        return []
    return ["taskset", "-c", str(sorted(os.sched_getaffinity(0))[to % PROCESSORS])]


def ask(command: list, good_codes: tuple = (0,)) -> dict:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode == NO_QUESTION:
        raise NoAnswer("has no such thing")
    if done.returncode not in good_codes:
        raise NoAnswer(f"failed with {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


class Server:
    """A contestant that listens, until the end of a with statement."""

    def __init__(self, command: list):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)

    def __enter__(self):
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            raise NoAnswer("has no such thing" if code == NO_QUESTION else f"ended with {code}")
        self.port = json.loads(line)["port"]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def cpu_seconds(self) -> float:
        """Of its threads, which all stay: in nanoseconds, where /proc/PID/stat has but ticks."""
        threads = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(one.read_text().split()[0]) for one in threads) / 1e9

    def resident_bytes(self) -> int:
        return int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE


class Rounds:
    """Runs one round of one contestant; gives metric -> (value, unit)."""

    def __init__(self, programs: dict, scale: float, seconds: float, scratch: pathlib.Path):
        self.programs, self.scale, self.seconds, self.scratch = programs, scale, seconds, scratch
        self.facts = {}  # contestant -> version and flags

    def sample(self, question, contestant, workers: int) -> dict:
        """metric -> Sample, of one round."""
        before = disturbance.Moment.now()
        got = getattr(self, question.kind)(question, contestant, workers)
        disturbed = disturbance.is_disturbed(before, disturbance.Moment.now(), PROCESSORS)
        version, flags = self.facts_of(contestant)
        return {metric: figures.Sample(value, unit, version, flags, disturbed)
                for metric, (value, unit) in got.items()}

    def command(self, contestant, question: str, workers: int, *more) -> list:
        return [self.programs[contestant.program], question, "--workers", str(workers),
                *contestant.flags, *map(str, more)]

    def facts_of(self, contestant) -> tuple:
        """Of a contestant that has only served: asked of one that every program can answer."""
        if contestant.name not in self.facts:
            quick = "fib" if contestant.program == "tbb" else "yield_one"
            said = ask(self.command(contestant, quick, 1, "--scale", 0.0001))
            self.facts[contestant.name] = (said["version"], said["flags"])
        return self.facts[contestant.name]

    def program(self, question, contestant, workers: int) -> dict:
        said = ask(self.command(contestant, question.name, workers, "--scale", self.scale,
                                *(("--path", self.scratch) if question.group == "files" else ())))
        self.facts[contestant.name] = (said["version"], said["flags"])
        return {"": (said["value"], said["unit"])}

    def server(self, question, contestant, workers: int, name: str, *more) -> Server:
        """One worker has a processor to itself, beside the load; several go where they like."""
        place = pinned(0 if workers == 1 else None)
        return Server([*place, *self.command(contestant, name, workers, *more)])

    def echo(self, question, contestant, workers: int) -> dict:
        with self.server(question, contestant, workers, "echo_server", "--buffer", 16_384,
                         "--hog", int(question.hog)) as server:
            self.load(server, question, workers, self.seconds / 4)  # to warm up
            begun = server.cpu_seconds()
            seen = self.load(server, question, workers, self.seconds)
            used = server.cpu_seconds() - begun
        times = seen["latency_ns"]
        got = {"": (seen["messages_per_second"], "msg/s")}
        for quantile in ("p50", "p99", "p99.9"):
            got[f".{quantile}"] = (times[quantile] / 1e3, "us")
        if not question.hog:
            got[".cpu"] = (used * 1e6 / max(1, seen["answered"]), "us/msg")
        return got

    def load(self, server: Server, question, workers: int, seconds: float) -> dict:
        place = pinned(1 if workers == 1 else None)
        said = ask([*place, self.programs["load"], "load", f"127.0.0.1:{server.port}", "--json",
                    "--workers", "1", "--connections", str(question.connections),
                    "--size", str(question.size), "--seconds", str(seconds)], LOAD_CODES)
        if said["load"]["answered"] == 0:
            raise NoAnswer("answered no message at all")
        return said["load"]

    def accept(self, question, contestant, workers: int) -> dict:
        with self.server(question, contestant, workers, "close_server") as server:
            place = pinned(1 if workers == 1 else None)
            said = ask([*place, self.programs["connect"], "connect_and_close", "--workers", "1",
                        "--port", str(server.port), "--scale", str(self.seconds / 2)])
        return {"": (said["value"], said["unit"])}

    def connections(self, question, contestant, workers: int) -> dict:
        count = int(question.connections * min(1, self.scale))
        allow_descriptors(count + 100)
        with self.server(question, contestant, workers, "echo_server", "--buffer",
                         question.size) as server:
            first = [talk_once(server.port, question.size) for _ in range(10)]
            before = server.resident_bytes()
            all_of_them = [talk_once(server.port, question.size) for _ in range(count)]
            after = server.resident_bytes()
            for one in first + all_of_them:
                one.close()
        return {"": ((after - before) / count, "bytes/connection")}


def allow_descriptors(count: int):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))


def talk_once(port: int, size: int) -> socket.socket:
    """A connection that has filled the server's buffer once, and stays."""
    peer = socket.create_connection(("127.0.0.1", port))
    peer.sendall(b"x" * size)
    left = size
    while left > 0:
        came = peer.recv(left)
        if not came:
            raise NoAnswer("closed a connection")
        left -= len(came)
    return peer
