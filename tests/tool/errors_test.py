#!/usr/bin/env python3
"""What cannot be done is refused with one line on standard error and exit code 2.

usage: errors_test.py SKUA
"""
import ctypes
import os
import socket
import struct
import subprocess
import unittest

from skua_tool import PATIENCE, SKUA, Echo, ToolTest, environment, run

IO_URING_SETUP, EPERM = 425, 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2


def forbid_io_uring():
    """In the child, before it becomes skua: io_uring_setup(2) fails, as in many containers."""
    load_number, equal, give = 0x20, 0x15, 0x06
    rules = b"".join(struct.pack("HBBI", *rule) for rule in (
        (load_number, 0, 0, 0), (equal, 0, 1, IO_URING_SETUP),
        (give, 0, 0, 0x00050000 | EPERM), (give, 0, 0, 0x7FFF0000)))
    kept = ctypes.create_string_buffer(rules, len(rules))
    program = struct.pack("HP", len(rules) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
            PR_SET_SECCOMP, FILTER, ctypes.c_char_p(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


class Errors(ToolTest):
    def test_no_command(self):
        self.refuses("which command")

    def test_unknown_command_and_flag(self):
        self.refuses("there is no command 'fly'", "fly")
        self.refuses("there is no flag '--fly'", "--fly")
        for command in ("demo", "doctor", "echo", "bench"):
            self.refuses("--fly", command, "--fly")
        self.refuses("--fly", "load", "127.0.0.1:1", "--fly")
        self.refuses("demo: ", "demo", "stray")

    def test_numbers(self):
        for flag in ("--workers", "--connections"):
            for value in ("0", "-1", "1.5", "two", "", "99999999999999999999", "9" * 18):
                self.refuses(flag, "demo", flag + "=" + value)
        for value in ("-1", "nan", "inf", "soon", "1e300"):
            self.refuses("--seconds", "demo", "--seconds=" + value)
        self.refuses("--rate", "load", "127.0.0.1:1", "--rate", "0")
        self.refuses("--size", "load", "127.0.0.1:1", "--size", "0")
        self.refuses("--rounds", "bench", "--rounds", "0")

    def test_a_flag_without_its_value(self):
        self.refuses("--seconds", "demo", "--seconds")

    def test_names(self):
        self.refuses("--flavour", "demo", "--flavour", "vanilla")
        self.refuses("--backend", "demo", "--backend", "kqueue")
        self.refuses("no benchmark has 'warp'", "bench", "warp", "mutex")

    def test_what_does_not_go_together(self):
        self.refuses("current_thread", "demo", "--flavour", "current_thread", "--workers", "2")
        self.refuses("--depth", "load", "127.0.0.1:1", "--depth", "1", "--rate", "1")

    def test_the_environment(self):
        self.refuses("SKUA_BACKEND", "demo", env=environment(SKUA_BACKEND="pigeon"))
        doctor = run("doctor", "--json", env=environment(SKUA_BACKEND="pigeon"))
        self.assertIsNone(self.fits(doctor.stdout, "doctor")["driver"]["used"])

    def test_addresses(self):
        for text in ("", "7000", "localhost", "127.0.0.1", "127.0.0.1:port", "1.2.3.4:99999",
                     "[::1:7000", "unix:/tmp/x"):
            self.refuses(f"'{text}' is no address", "echo", "--listen", text)
        self.refuses("is no target", "load", "rubbish")
        self.refuses("is no target", "load", "127.0.0.1:70000")
        self.refuses("target", "load")

    def test_a_busy_port(self):
        with Echo() as server:
            self.refuses(f"cannot listen at {server.address}", "echo", "--listen", server.address)

    def test_an_address_of_somebody_else(self):
        self.refuses("cannot listen at 192.0.2.1:7000", "echo", "--listen", "192.0.2.1:7000")

    def test_an_unreachable_target(self):
        with socket.socket() as reserved:  # bound, so that nobody else gets it, and deaf
            reserved.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % reserved.getsockname()[1]
            for backend in ("auto", "epoll"):
                self.refuses(f"cannot connect to {address}", "load", address, "--backend", backend)

    def test_an_unknown_host(self):
        self.refuses("cannot connect to a..b:7000", "load", "a..b:7000")

    def test_nobody_takes_the_output(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="ascii") as full:
            ended = subprocess.run([SKUA, "bench", "--list"], stdout=full, stderr=subprocess.PIPE,
                                   text=True, timeout=PATIENCE, env=environment(), check=False)
        self.assertEqual((ended.returncode, ended.stderr),
                         (2, "skua: cannot write to standard output\n"))


class WithoutIoUring(ToolTest):
    def setUp(self):
        self.options = {"preexec_fn": forbid_io_uring}
        try:
            self.doctor = run("doctor", "--json", **self.options)
        except subprocess.SubprocessError as why:  # of preexec_fn
            self.skipTest(f"system calls cannot be forbidden here: {why}")

    def test_doctor_ends_with_1_and_says_why(self):
        self.assertEqual((self.doctor.returncode, self.doctor.stderr), (1, ""))
        seen = self.fits(self.doctor.stdout, "doctor")
        self.assertFalse(seen["io_uring"]["works"])
        self.assertRegex(seen["io_uring"]["reason"], "^Operation not permitted: ")
        self.assertEqual((seen["driver"]["used"], seen["driver"]["fell_back"]),
                         ("epoll", "SKUA_BACKEND" not in os.environ))
        self.assertFalse(any(seen["io_uring"]["operations"].values()))
        as_text = run("doctor", **self.options)
        self.assertEqual((as_text.returncode, as_text.stderr), (1, ""))
        self.assertIn("does not work: Operation not permitted", as_text.stdout)

    def test_demo_falls_back_or_refuses(self):
        seen = self.answers("demo", "--connections", "2", **self.options)
        self.assertEqual(seen["runtime"]["driver"], "epoll")
        self.refuses("no runtime: ", "demo", "--backend", "uring", **self.options)


if __name__ == "__main__":
    unittest.main(verbosity=2)
