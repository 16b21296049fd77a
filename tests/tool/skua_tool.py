"""What the tests of the command `skua` share: running it, servers to run it against, and schemas.

Nothing here measures: a run that had no time to do anything is done again, and longer.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SKUA = sys.argv.pop(1) if len(sys.argv) > 1 else "skua"
PATIENCE = 100  # seconds, for what takes less than one on a machine that has time for it
LENGTHS = ("0.3", "3", "30")  # of runs, until something has happened in one


def environment(**changes) -> dict:
    """Without what would change the output; with what the test asks for."""
    taken_out = ("LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in taken_out}
    return kept | {"TERM": "xterm"} | changes


def run(*arguments, **options) -> subprocess.CompletedProcess:
    options.setdefault("env", environment())
    return subprocess.run([SKUA, *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          **options)


def faults(value, schema: dict, where: str = "$") -> list:
    """Breaches of a schema: `type`, `enum`, `minimum`, `properties` and `items` as in JSON Schema. All
    properties are there but those in `optional`, and no others; unless `additional` says what those
    with other names are."""
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
             "number": (int, float), "null": type(None)}
    wanted = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    is_kind = any(isinstance(value, kinds[kind])
                  and (kind == "boolean" or not isinstance(value, bool)) for kind in wanted)
    if not is_kind:
        return [f"{where}: {value!r} is no {'/'.join(wanted)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        found.append(f"{where}: {value!r} is below {schema['minimum']}")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name in known:
            if name not in value and name not in schema.get("optional", []):
                found.append(f"{where}: no '{name}'")
        for name, part in value.items():
            rule = known.get(name, schema.get("additional"))
            found += faults(part, rule, f"{where}.{name}") if rule else [f"{where}: '{name}'?"]
    if isinstance(value, list):
        for number, part in enumerate(value):
            found += faults(part, schema["items"], f"{where}[{number}]")
    return found


class ToolTest(unittest.TestCase):
    maxDiff = None

    def fits(self, text: str, name: str) -> dict:
        """One line of JSON, as schema/name.json says."""
        self.assertEqual(text.count("\n"), 1, text)
        value = json.loads(text)
        schema = json.loads((HERE / "schema" / f"{name}.json").read_text())
        self.assertEqual(faults(value, schema), [])
        return value

    def succeeds(self, *arguments, **options) -> str:
        ended = run(*arguments, **options)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""), ended)
        return ended.stdout

    def refuses(self, words: str, *arguments, **options):
        """One line on standard error that has these words, and exit code 2."""
        ended = run(*arguments, **options)
        self.assertEqual(ended.returncode, 2, ended)
        self.assertRegex(ended.stderr, r"\Askua: [^\n]+\n\Z")
        self.assertIn(words, ended.stderr)

    def answers(self, *arguments, code: int = 0, **options) -> dict:
        """What `skua ... --json` says of a run in which something was answered."""
        for seconds in LENGTHS:
            ended = run(*arguments, "--seconds", seconds, "--json", **options)
            self.assertEqual((ended.returncode, ended.stderr), (code, ""), ended)
            seen = self.fits(ended.stdout, arguments[0])
            load = seen["load"]
            self.assertEqual(load["sent"], load["answered"] + load["unanswered"])
            if load["answered"] > 0:
                return seen
        return self.fail("nothing was answered in any run")


class Program:
    """A program that runs beside the test. `.lines` gives what it prints."""

    def __init__(self, *command, stream="stdout", **options):
        options.setdefault("env", environment())
        self.process = subprocess.Popen(command, text=True, start_new_session=True,
                                        stdin=subprocess.DEVNULL,
                                        **{stream: subprocess.PIPE}, **options)
        self.lines = getattr(self.process, stream)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)  # with its children: a session of its own
        self.process.wait()
        self.lines.close()

    def tell(self, number: signal.Signals):
        self.process.send_signal(number)

    def rest(self) -> str:
        """What it still prints, until it has ended."""
        return self.process.communicate(timeout=PATIENCE)[0]


class Echo(Program):
    """`skua echo`; `.address` is where."""

    def __init__(self, *arguments):
        super().__init__(SKUA, "echo", "--listen", "127.0.0.1:0", "--json", *arguments)
        self.first_line = self.lines.readline()
        self.address = json.loads(self.first_line)["address"]
        host, port = self.address.rsplit(":", 1)
        self.place = (host, int(port))


class Socat(Program):
    """socat as an echo server."""

    def __init__(self):
        super().__init__("socat", "-d", "-d", "TCP-LISTEN:0,bind=127.0.0.1,fork", "PIPE",
                         stream="stderr")
        for line in self.lines:
            if found := re.search(r"listening on AF=2 (\S+)", line):
                self.address = found[1]
                return
        raise RuntimeError("socat does not listen")
