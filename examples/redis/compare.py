#!/usr/bin/env python3
"""How fast the example is, next to redis-server: the same load for both, in turns.

usage: compare.py PROGRAM [--rounds 7] [--requests 200000] [--clients 50] [--pipeline 16] [--keys 0]

PROGRAM is the example, e.g. build/release/examples/redis. Needs redis-server, redis-benchmark and
taskset. Each server has CPU 0 for itself while it is asked, the load comes from CPU 1. Prints the
medians, and the median of the ratios of each round, in which both were measured one after the other.
The last line is the time that each server spent on the CPU, which counts on a machine with
neighbours.
"""
import argparse
import contextlib
import csv
import io
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

TESTS = ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started(command: list):
    server = subprocess.Popen(["taskset", "-c", "0", *command], stdout=subprocess.PIPE, text=True)
    try:
        yield server
    finally:
        server.terminate()
        server.wait(timeout=20)


def wait_until_listening(port: int):
    subprocess.run(["redis-cli", "-p", str(port), "ping"], check=True, stdout=subprocess.DEVNULL)


def read_until(server, word: str):
    for line in server.stdout:
        if word in line:
            return line
    sys.exit("compare: a server did not start")


def cpu_seconds(server) -> float:
    with open(f"/proc/{server.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(port: int, how) -> dict:
    """test -> requests per second"""
    command = ["taskset", "-c", "1", "redis-benchmark", "-p", str(port), "--csv", "-t",
               "ping,set,get,incr", "-n", str(how.requests), "-c", str(how.clients), "-P",
               str(how.pipeline)]
    if how.keys:
        command += ["-r", str(how.keys)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if said.returncode != 0 or "rror" in said.stderr + said.stdout:
        sys.exit(f"compare: redis-benchmark says: {said.stderr} {said.stdout}")
    return {row["test"]: float(row["rps"]) for row in csv.DictReader(io.StringIO(said.stdout))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    for name, value in [("rounds", 7), ("requests", 200_000), ("clients", 50), ("pipeline", 16),
                        ("keys", 0)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    how = parser.parse_args()
    for tool in ("redis-server", "redis-benchmark", "redis-cli", "taskset"):
        if shutil.which(tool) is None:
            sys.exit(f"compare: needs {tool} (packages redis-server, redis-tools, util-linux)")

    theirs = free_port()
    with contextlib.ExitStack() as both:
        directory = both.enter_context(tempfile.TemporaryDirectory())
        other = both.enter_context(started([
            "redis-server", "--port", str(theirs), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", "--dir", directory]))
        ours = both.enter_context(started([how.program, "127.0.0.1:0"]))
        port = int(read_until(ours, "redis at").rsplit(":", 1)[1])
        read_until(other, "Ready to accept")
        wait_until_listening(port)
        wait_until_listening(theirs)
        rounds = []
        for number in range(how.rounds + 1):
            # Who begins changes, so that a trend of the machine favours nobody.
            order = [port, theirs] if number % 2 == 0 else [theirs, port]
            figures = {at: measure(at, how) for at in order}
            if number > 0:  # the first warms up
                rounds.append((figures[port], figures[theirs]))

        spent = [cpu_seconds(server) for server in (ours, other)]

    print(f"{'':12} {'example':>12} {'redis':>12}  ratio (lowest to highest)")
    for test in TESTS:
        ratios = [mine[test] / other[test] for mine, other in rounds]
        print(f"{test:12} {statistics.median(r[0][test] for r in rounds):12,.0f}"
              f" {statistics.median(r[1][test] for r in rounds):12,.0f}"
              f"  {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    print(f"{'CPU seconds':12} {spent[0]:12.2f} {spent[1]:12.2f}  {spent[0] / spent[1]:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
