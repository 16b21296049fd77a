#!/usr/bin/env python3
"""The server of examples/redis, with bare sockets and with the clients that come with Redis.

usage: server_test.py PROGRAM
"""
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None
PATIENCE = 90  # seconds: for what is certain to come, on a machine that is busy
NEEDS_TOOLS = unittest.skipIf(shutil.which("redis-benchmark") is None or shutil.which("redis-cli") is None,
                              "SKIP: redis-cli and redis-benchmark are not installed (redis-tools)")


class Client:
    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data: bytes):
        self.socket.sendall(data)

    def hear(self, length: int) -> bytes:
        got = bytearray()
        while len(got) < length:
            piece = self.socket.recv(length - len(got))
            if not piece:
                break
            got += piece
        return bytes(got)

    def hear_all(self) -> bytes:
        got = bytearray()
        while piece := self.socket.recv(65536):
            got += piece
        return bytes(got)


def command(*words) -> bytes:
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)


def bulk(data: bytes) -> bytes:
    return b"$%d\r\n%s\r\n" % (len(data), data)


class Server(unittest.TestCase):
    def setUp(self):
        self.server = subprocess.Popen([PROGRAM, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        line = self.server.stdout.readline()
        self.assertIn("redis at 127.0.0.1:", line)
        self.port = int(line.rsplit(":", 1)[1])

    def end(self):
        """It ends by itself when it is asked to: whatever happened to it, and whoever is connected."""
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
        code = self.server.wait(timeout=PATIENCE)
        self.server.stdout.close()
        self.assertEqual(code, 0)

    def client(self) -> Client:
        one = Client(self.port)
        self.addCleanup(one.socket.close)
        return one

    def expect(self, one: Client, question: bytes, answer: bytes):
        one.send(question)
        self.assertEqual(one.hear(len(answer)), answer)

    def poll(self, one: Client, question: bytes, answer: bytes):
        """Asks until the answer is this one. Those before it are as long."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            one.send(question)
            if one.hear(len(answer)) == answer:
                return
        self.fail(f"never {answer!r}")

    # --- bytes

    def test_answers_of_a_pipeline_come_in_order(self):
        one = self.client()
        count = 5000
        one.send(b"".join(command("INCR", "n") + command("ECHO", i) for i in range(count)))
        expected = b"".join(b":%d\r\n" % (i + 1) + bulk(b"%d" % i) for i in range(count))
        self.assertEqual(one.hear(len(expected)), expected)

    def test_a_command_in_single_bytes(self):
        one = self.client()
        for byte in command("SET", "k", "v") + b"GET k\r\n":
            one.send(bytes([byte]))
        self.assertEqual(one.hear(12), b"+OK\r\n$1\r\nv\r\n")

    def test_half_a_command_waits_while_others_are_served(self):
        one, other = self.client(), self.client()
        whole = command("SET", "k", "value")
        for cut in range(1, len(whole)):
            self.expect(one, command("PING") + whole[:cut], b"+PONG\r\n")
            self.expect(other, command("PING"), b"+PONG\r\n")
            self.expect(one, whole[cut:] + command("DEL", "k"), b"+OK\r\n:1\r\n")

    def test_half_a_command_at_the_end_is_none(self):
        one, other = self.client(), self.client()
        one.send(command("SET", "k", "1") + command("INCR", "k")[:-1])
        one.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(one.hear_all(), b"+OK\r\n")
        self.expect(other, command("GET", "k"), b"$1\r\n1\r\n")

    def test_large_values_and_more_answers_than_fit_anywhere(self):
        one = self.client()
        value = bytes(range(256)) * 2000
        self.expect(one, command("SET", "k", value), b"+OK\r\n")
        one.send(command("GET", "k") * 20)
        expected = bulk(value) * 20
        self.assertTrue(one.hear(len(expected)) == expected)

    def test_errors_of_commands_end_nothing(self):
        one = self.client()
        self.expect(one, b"FLY\r\n", b"-ERR unknown command 'FLY'\r\n")
        self.expect(one, b"\r\nPING\r\n", b"+PONG\r\n")

    def test_errors_of_the_protocol_are_told_and_end_the_connection(self):
        for broken in [b"*1\r\nPING\r\n", b"*x\r\n", b"*1\r\n$-5\r\n", b"*2000\r\n",
                       b"*1\r\n$2000000\r\n", b"x" * 70_000]:
            with self.subTest(broken=broken[:20]):
                one = self.client()
                one.send(command("PING") + broken)
                heard = one.hear_all()
                self.assertTrue(heard.startswith(b"+PONG\r\n-ERR Protocol error: "), heard)
                self.assertEqual(heard.count(b"\r\n"), 2)
        self.expect(self.client(), command("PING"), b"+PONG\r\n")

    def test_quit(self):
        one = self.client()
        one.send(command("QUIT") + command("PING"))
        self.assertEqual(one.hear_all(), b"+OK\r\n")

    def test_an_end_that_is_asked_for_ends_who_waits(self):
        one, other = self.client(), self.client()
        self.expect(one, command("PING") + command("PING")[:5], b"+PONG\r\n")
        self.expect(other, command("SUBSCRIBE", "a"), b"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n")
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual((one.hear_all(), other.hear_all()), (b"", b""))
        one.socket.close()
        other.socket.close()
        self.assertEqual(self.server.wait(timeout=PATIENCE), 0)

    # --- time

    def test_keys_end_by_themselves(self):
        one = self.client()
        self.expect(one, command("SET", "k", "", "PX", 20), b"+OK\r\n")
        self.poll(one, command("EXISTS", "k"), b":0\r\n")

    def test_keys_that_nobody_asks_for_go_too(self):
        one = self.client()
        self.expect(one, b"".join(command("SET", i, "", "PX", 20) for i in range(9)), b"+OK\r\n" * 9)
        self.poll(one, command("DBSIZE"), b":0\r\n")

    # --- subscriptions

    def test_subscribers_get_all_messages_in_order(self):
        one, other, third = self.client(), self.client(), self.client()
        subscribed = command("subscribe", "news").replace(b"*2", b"*3") + b":1\r\n"
        self.expect(one, command("SUBSCRIBE", "news"), subscribed)
        self.expect(other, command("SUBSCRIBE", "news"), subscribed)
        third.send(b"".join(command("PUBLISH", "news", i) for i in range(500)))
        self.assertEqual(third.hear(4 * 500), b":2\r\n" * 500)
        expected = b"".join(command("message", "news", i) for i in range(500))
        self.assertEqual(one.hear(len(expected)), expected)
        self.assertEqual(other.hear(len(expected)), expected)

    def test_who_unsubscribes_or_leaves_gets_no_more(self):
        one, other, third = self.client(), self.client(), self.client()
        for client in (one, other):
            client.send(command("SUBSCRIBE", "a"))
            client.hear(len(command("subscribe", "a")) + 4)
        ended = command("unsubscribe", "a").replace(b"*2", b"*3") + b":0\r\n"
        self.expect(one, command("UNSUBSCRIBE"), ended)
        self.expect(one, command("GET", "k"), b"$-1\r\n")
        self.expect(third, command("PUBLISH", "a", "x"), b":1\r\n")
        other.hear(len(command("message", "a", "x")))
        other.socket.shutdown(socket.SHUT_WR)
        self.assertEqual(other.hear_all(), b"")
        self.poll(third, command("PUBLISH", "a", "x"), b":0\r\n")

    def test_half_a_command_survives_a_message(self):
        one, other = self.client(), self.client()
        one.send(command("SUBSCRIBE", "a"))
        one.hear(len(command("subscribe", "a")) + 4)
        whole = command("PING", "still here")
        one.send(whole[:20])
        self.expect(other, command("PUBLISH", "a", "x"), b":1\r\n")
        message = command("message", "a", "x")
        self.assertEqual(one.hear(len(message)), message)
        one.send(whole[20:])
        answer = command("pong", "still here")
        self.assertEqual(one.hear(len(answer)), answer)

    # --- clients that are not ours

    def cli(self, *words, **how) -> str:
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], check=True, text=True,
                              capture_output=True, timeout=PATIENCE, **how).stdout

    @NEEDS_TOOLS
    def test_redis_cli(self):
        self.assertEqual(self.cli("PING"), "PONG\n")
        self.assertEqual(self.cli("SET", "k", "two words", "EX", "1000", "NX"), "OK\n")
        self.assertEqual(self.cli("GET", "k"), "two words\n")
        self.assertEqual(self.cli("SET", "k", "other", "NX"), "\n")
        self.assertEqual(self.cli("TTL", "absent"), "-2\n")
        self.assertEqual(self.cli("-r", "3", "INCR", "n"), "1\n2\n3\n")
        self.assertEqual(self.cli("DEL", "k", "n"), "2\n")
        self.assertIn("ERR unknown command", self.cli("FLY"))
        self.assertEqual(self.cli("--raw", input="SET a 1\nINCR a\nGET a\n"), "OK\n2\n2\n")
        loaded = self.cli("--pipe", input="".join(f"SET key{i} {i}\r\n" for i in range(1000)))
        self.assertIn("errors: 0, replies: 1000", loaded)

    @NEEDS_TOOLS
    def test_redis_cli_subscribes(self):
        with subprocess.Popen(["redis-cli", "-p", str(self.port), "SUBSCRIBE", "news"], text=True,
                              stdout=subprocess.PIPE) as listener:
            try:
                self.assertEqual([listener.stdout.readline() for _ in range(3)],
                                 ["subscribe\n", "news\n", "1\n"])
                self.assertEqual(self.cli("PUBLISH", "news", "landed"), "1\n")
                self.assertEqual([listener.stdout.readline() for _ in range(3)],
                                 ["message\n", "news\n", "landed\n"])
            finally:
                listener.kill()

    @NEEDS_TOOLS
    def test_redis_benchmark(self):
        for pipeline in ("1", "16"):
            done = subprocess.run(["redis-benchmark", "-p", str(self.port), "-t", "ping,set,get,incr",
                                   "-c", "10", "-P", pipeline, "-n", "2000", "--csv"],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.count("\n"), 6, done.stdout)
            self.assertNotIn("rror", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
