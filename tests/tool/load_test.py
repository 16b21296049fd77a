#!/usr/bin/env python3
"""skua load measures what servers do, its own kind and others; skua echo keeps its limits.

usage: load_test.py SKUA
SKUA_BACKEND=epoll in the environment makes all of it use epoll.
"""
import contextlib
import itertools
import select
import shutil
import signal
import socket
import threading
import time
import unittest

from skua_tool import LENGTHS, PATIENCE, SKUA, Echo, Program, Socat, ToolTest, run

BACKENDS = ("auto", "epoll")
DEPTHS = ("1", "2")  # in turn, and a sender beside a receiver


@contextlib.contextmanager
def server(handle):
    """handle(connection) in a thread for each connection; gives the address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()

    def serve(connection):
        with connection, contextlib.suppress(OSError):
            handle(connection)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield "127.0.0.1:%d" % listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def echo(connection):
    while some := connection.recv(65536):
        connection.sendall(some)


class Counter:
    """Bytes that a server has got."""

    def __init__(self):
        self.total = 0
        self.changed = threading.Condition()

    def add(self, amount: int):
        with self.changed:
            self.total += amount
            self.changed.notify_all()

    def wait_for_messages(self, count: int):
        goal = self.total + 64 * count
        with self.changed:
            if not self.changed.wait_for(lambda: self.total >= goal, PATIENCE):
                raise AssertionError(f"{self.total} bytes came, and not {goal}")


class Load(ToolTest):
    def test_an_echo_of_skua(self):
        with Echo("--backend", "epoll") as own:
            for backend in BACKENDS:
                seen = self.answers("load", own.address, "--backend", backend)
                self.assertEqual(seen["load"]["broken_connections"], 0)

    def test_an_echo_of_socat(self):
        if shutil.which("socat") is None:
            self.skipTest("socat is not installed")
        with Socat() as other:
            for backend in BACKENDS:
                seen = self.answers("load", other.address, "--backend", backend, "--depth", "4",
                                    "--connections", "3", "--size", "1000")
                self.assertEqual(seen["load"]["broken_connections"], 0)
                self.answers("load", other.address, "--backend", backend, "--rate", "100")

    def test_a_host_by_its_name(self):
        with server(echo) as address:
            self.answers("load", address.replace("127.0.0.1", "localhost"))

    def test_messages_larger_than_the_buffers_of_the_kernel(self):
        with Echo() as own:
            self.answers("load", own.address, "--size", "8000000", "--connections", "1")

    def run_at_100_per_second(self, answer, do) -> dict:
        """Until do(program, counter of what the server got) has returned."""
        counter = Counter()

        def handle(connection):
            while some := connection.recv(65536):
                counter.add(len(some))
                answer(connection, some)

        with server(handle) as address:
            with Program(SKUA, "load", address, "--connections", "1", "--rate", "100", "--seconds",
                         "100000", "--json") as load:
                do(load, counter)
                load.tell(signal.SIGINT)
                return self.fits(load.rest(), "load")["load"]

    def test_latency_counts_from_the_moment_a_message_was_due(self):
        pauses = [1]

        def stall_once(connection, some):
            time.sleep(pauses.pop() if pauses else 0)
            connection.sendall(some)

        seen = self.run_at_100_per_second(
            stall_once, lambda load, counter: counter.wait_for_messages(100))
        # Those that were due in that second waited for its end: 80 of 100 for more than 0.2 s. If
        # each were only sent when the last was answered, one would have waited.
        self.assertGreaterEqual(seen["latency_ns"]["max"], 1_000_000_000)
        self.assertGreaterEqual(seen["latency_ns"]["p90"], 200_000_000)

    def test_latency_counts_from_there_also_if_it_could_not_be_sent_then(self):
        def stand_still(load, counter):
            counter.wait_for_messages(1)
            load.tell(signal.SIGSTOP)
            time.sleep(1)
            load.tell(signal.SIGCONT)
            counter.wait_for_messages(100)  # that were due meanwhile

        seen = self.run_at_100_per_second(socket.socket.sendall, stand_still)
        self.assertGreaterEqual(seen["latency_ns"]["p90"], 200_000_000)

    def test_a_server_that_hangs_up(self):
        def hang_up(connection):
            connection.recv(1)

        for depth in DEPTHS:
            with server(hang_up) as address:
                ended = run("load", address, "--connections", "2", "--seconds", str(PATIENCE), "--json",
                            "--depth", depth)
            self.assertEqual(ended.returncode, 1, ended)
            seen = self.fits(ended.stdout, "load")["load"]  # long before the time was over
            self.assertEqual((seen["broken_connections"], seen["answered"]), (2, 0))
            self.assertNotEqual(seen["first_error"], "")

    def test_a_server_that_says_something_else(self):
        def contradict(connection):
            connection.recv(1)
            connection.sendall(b"NO" * 32)
            echo(connection)

        def speak_first(connection):
            connection.sendall(b"220 welcome\r\n")
            echo(connection)

        for handle, depth in itertools.product((contradict, speak_first), DEPTHS):
            with server(handle) as address:
                ended = run("load", address, "--connections", "1", "--seconds", str(PATIENCE), "--depth",
                            depth)
            self.assertEqual((ended.returncode, ended.stderr), (1, ""), ended)
            self.assertIn("something else than an echo", ended.stdout)

    def test_a_server_that_never_answers(self):
        with server(lambda connection: connection.recv(1) and time.sleep(PATIENCE)) as address:
            for seconds in LENGTHS:
                ended = run("load", address, "--connections", "1", "--rate", "1000", "--seconds",
                            seconds, "--json")
                seen = self.fits(ended.stdout, "load")["load"]
                self.assertEqual((seen["answered"], seen["unanswered"]), (0, seen["sent"]))
                if seen["sent"] > 0:
                    break
        self.assertEqual(ended.returncode, 1, ended)

    def test_a_server_that_never_answers_is_asked_no_more_than_depth(self):
        with server(lambda connection: connection.recv(1) and time.sleep(PATIENCE)) as address:
            for depth in DEPTHS:
                ended = run("load", address, "--connections", "3", "--seconds", "0.3", "--json", "--depth",
                            depth)
                self.assertEqual(ended.returncode, 1, ended)
                seen = self.fits(ended.stdout, "load")["load"]
                asked = 3 * int(depth)
                self.assertEqual((seen["sent"], seen["answered"], seen["unanswered"]), (asked, 0, asked))
                self.assertEqual(seen["broken_connections"], 0)
                self.assertGreaterEqual(seen["seconds"], 0.3)
                self.assertLess(seen["seconds"], 2)  # patience does not count

    def test_what_is_on_its_way_at_the_end_is_answered(self):
        def late(connection):
            while some := connection.recv(65536):
                time.sleep(0.2)
                connection.sendall(some)

        with server(late) as address:
            for depth in DEPTHS:
                ended = run("load", address, "--connections", "2", "--seconds", "0.3", "--json", "--depth",
                            depth)
                seen = self.fits(ended.stdout, "load")["load"]
                self.assertEqual((ended.returncode, seen["unanswered"]), (0, 0), ended)
                self.assertEqual(seen["answered"], seen["sent"])

    def test_ctrl_c_ends_it_with_its_summary(self):
        with Echo() as own, Program(SKUA, "load", own.address, "--seconds", "100000") as load:
            self.assertIn(own.address, load.lines.readline())  # it listens to signals by now
            load.tell(signal.SIGINT)
            self.assertIn("throughput", load.rest())
            self.assertIn(load.process.returncode, (0, 1))  # 1: it had no time for one answer


class EchoServer(ToolTest):
    def connect(self, to: Echo) -> socket.socket:
        return self.enterContext(socket.create_connection(to.place, PATIENCE))

    def enterContext(self, what):  # unittest has it from 3.11 on
        entered = what.__enter__()
        self.addCleanup(what.__exit__, None, None, None)
        return entered

    def echoes(self, connection: socket.socket, text: bytes):
        connection.sendall(text)
        self.assertEqual(connection.recv(len(text), socket.MSG_WAITALL), text)

    def ends(self, own: Echo) -> dict:
        last = own.rest()
        self.assertEqual(own.process.returncode, 0)
        return self.fits(last, "echo_ended")["connections"]

    def test_a_signal_lets_connections_end_and_takes_no_more(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with Echo("--drain", "1000") as own:
                guest = self.connect(own)
                self.echoes(guest, b"before")
                own.tell(number)
                with self.assertRaises(ConnectionError):  # soon
                    give_up = time.monotonic() + PATIENCE
                    while time.monotonic() < give_up:
                        socket.create_connection(own.place, PATIENCE).close()
                self.echoes(guest, b"after")
                guest.close()
                self.assertEqual(self.ends(own)["failed"], 0)

    def test_who_stays_after_the_drain_is_cut_off(self):
        with Echo("--drain", "0.05") as own:
            guest = self.connect(own)
            self.echoes(guest, b"hello")
            own.tell(signal.SIGTERM)
            self.assertEqual(guest.recv(1), b"")
            self.assertEqual(self.ends(own)["stopped"], 1)

    def test_one_at_a_time(self):
        with Echo("--max-connections", "1") as own:
            first, second = self.connect(own), self.connect(own)
            second.sendall(b"me too")
            self.echoes(first, b"me")
            self.assertEqual(select.select([second], [], [], 0.2)[0], [])
            first.close()
            self.assertEqual(second.recv(6, socket.MSG_WAITALL), b"me too")

    def test_who_is_quiet_for_too_long_is_cut_off(self):
        with Echo("--idle", "0.05") as own:
            guest = self.connect(own)
            self.assertEqual(guest.recv(1), b"")
            own.tell(signal.SIGTERM)
            self.assertEqual(self.ends(own)["timed_out"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
