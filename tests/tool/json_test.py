#!/usr/bin/env python3
"""What each command says with --json has the form that schema/ tells.

usage: json_test.py SKUA
SKUA_BACKEND=epoll in the environment makes all of it use epoll.
"""
import os
import unittest

from skua_tool import Echo, ToolTest, faults, run


class Json(ToolTest):
    def setUp(self):
        doctor = run("doctor", "--json")
        self.doctor_code = doctor.returncode
        self.doctor = self.fits(doctor.stdout, "doctor")

    def test_doctor_ends_with_0_if_and_only_if_io_uring_works(self):
        works = self.doctor["io_uring"]["works"]
        self.assertEqual(self.doctor_code, 0 if works else 1)
        self.assertEqual(self.doctor["io_uring"]["reason"] is None, works)

    def test_doctor_knows_the_operations_of_a_ring_that_works(self):
        known = self.doctor["io_uring"]["operations"]
        for name in ("read", "recv", "accept", "futex_wait"):
            self.assertIn(name, known)
        if self.doctor["io_uring"]["works"]:  # older than the oldest kernel with which it does
            self.assertTrue(known["nop"] and known["read"] and known["recv"] and known["accept"])

    def test_doctor_tells_the_driver_that_the_environment_asks_for(self):
        wanted = os.environ.get("SKUA_BACKEND")
        if wanted:
            self.assertEqual(self.doctor["driver"]["used"], wanted)

    def test_doctor_looks_at_as_many_workers_as_asked(self):
        more = self.doctor["cpus"]["granted"] + 1
        ended = run("doctor", "--json", "--workers", str(more))
        seen = self.fits(ended.stdout, "doctor")
        self.assertEqual(seen["cpus"]["workers"], more)
        self.assertTrue(any(f"{more} workers share" in text for text in seen["warnings"]), seen)

    def test_demo_of_each_flavour(self):
        for flavour in ("multi_thread", "current_thread", "thread_per_core"):
            with self.subTest(flavour):
                seen = self.answers("demo", "--flavour", flavour, "--connections", "4")
                self.assertEqual(seen["runtime"]["flavour"], flavour)
                self.assertEqual(seen["runtime"]["driver"], self.doctor["driver"]["used"])
                self.assertEqual(len(seen["workers"]), seen["runtime"]["workers"])
                self.assertIn(seen["served_connections"], range(1, 5))  # those that had a turn
                self.assertEqual(seen["load"]["broken_connections"], 0)
                self.assertEqual(seen["tasks"]["live"], 0)

    def test_demo_takes_the_number_of_workers(self):
        seen = self.answers("demo", "--workers", "3", "--connections", "2")
        self.assertEqual(seen["runtime"]["workers"], 3)

    def test_demo_takes_the_backend(self):
        seen = self.answers("demo", "--backend", "epoll", "--connections", "2")
        self.assertEqual(seen["runtime"]["driver"], "epoll")
        if not self.doctor["io_uring"]["works"]:
            self.skipTest("io_uring does not work here: " + self.doctor["io_uring"]["reason"])
        seen = self.answers("demo", "--backend", "uring", "--connections", "2")
        self.assertEqual(seen["runtime"]["driver"], "uring")

    def test_echo_and_load(self):
        with Echo() as server:
            self.assertEqual(self.fits(server.first_line, "echo_listening")["address"],
                             server.address)
            closed = self.answers("load", server.address, "--connections", "2", "--depth", "3",
                                  "--size", "1000")["load"]
            self.assertEqual((closed["loop"], closed["depth"], closed["size"]), ("closed", 3, 1000))
            opened = self.answers("load", server.address, "--rate", "200.5")["load"]
            self.assertEqual((opened["loop"], opened["rate_wanted"]), ("open", 200.5))

    def test_bench(self):
        listed = self.fits(self.succeeds("bench", "--list", "--json"), "bench_list")
        short = ("--rounds", "2", "--round-seconds", "0.001", "--json")
        measured = self.fits(self.succeeds("bench", *short), "bench")
        names = [[one["name"] for one in seen["benchmarks"]] for seen in (listed, measured)]
        self.assertEqual(names[0], names[1])
        self.assertIn("spawn_join", names[0])
        for one in measured["benchmarks"]:
            self.assertEqual(one["rounds"], 2)
            self.assertLessEqual(one["min_ns"], one["median_ns"])
            self.assertLessEqual(one["median_ns"], one["max_ns"])

    def test_bench_measures_what_is_named(self):
        short = ("--rounds", "1", "--round-seconds", "0", "--json")
        seen = self.fits(self.succeeds("bench", "mutex", "spawn", *short), "bench")
        self.assertEqual([one["name"] for one in seen["benchmarks"]],
                         ["spawn_join", "mutex", "spawn_blocking"])


class Schema(unittest.TestCase):
    """The checker itself can fail."""

    def test_refuses(self):
        schema = {"type": "object", "optional": ["c"], "properties": {
            "a": {"type": "integer", "minimum": 0}, "b": {"type": "array", "items": {
                "type": "string", "enum": ["x", "y"]}}, "c": {"type": ["boolean", "null"]}}}
        good = {"a": 1, "b": ["x", "y"], "c": None}
        self.assertEqual(faults(good, schema), [])
        for name, value in (("a", "1"), ("a", -1), ("a", 1.5), ("a", True), ("b", ["z"]),
                            ("b", {}), ("c", 0), ("d", 1)):
            with self.subTest(name=name, value=value):
                self.assertNotEqual(faults(good | {name: value}, schema), [])
        self.assertNotEqual(faults({"b": []}, schema), [])
        self.assertEqual(faults({"a": 0, "b": []}, schema), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
