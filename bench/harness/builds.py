"""Builds the contestants. What cannot be built is left out, and a line says why."""
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench" / "peers"
CPP_PEERS = ("asio", "tbb", "floors")
LEFT_OUT = re.compile(r"peer (\w+) is left out: (.*)")
LOG_LINES = 15


class CannotBuild(Exception):
    pass


def run(command: list, log: pathlib.Path, **how) -> str:
    """Gives what it printed, and raises with the end of it if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    except OSError as why:
        raise CannotBuild(f"'{command[0]}' cannot be run: {why.strerror}") from why
    log.write_text(done.stdout, encoding="utf-8")
    if done.returncode != 0:
        end = "\n".join(done.stdout.splitlines()[-LOG_LINES:])
        raise CannotBuild(f"'{command[0]}' failed, {log} has it all:\n{end}")
    return done.stdout


class Builds:
    """Everything goes below one directory. `programs`: name -> executable."""

    def __init__(self, directory: pathlib.Path, jobs: int):
        self.directory, self.jobs = directory, jobs
        self.programs = {}
        directory.mkdir(parents=True, exist_ok=True)

    def left_out(self, name: str, why: str):
        print(f"{name}: left out: {why}", flush=True)

    def log(self, name: str) -> pathlib.Path:
        return self.directory / f"{name}.log"

    def cmake(self, source: pathlib.Path, name: str, *flags: str) -> str:
        return run(["cmake", "-S", source, "-B", self.directory / name, "-G", "Ninja",
                    "-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_BUILD_TYPE=Release", *flags],
                   self.log(f"{name}.configure"))

    def make(self, name: str, *targets: str):
        run(["cmake", "--build", self.directory / name, "-j", str(self.jobs), "--target", *targets],
            self.log(f"{name}.build"))

    def skua(self):
        """The library as users install it, what makes the load on servers, and the contestant."""
        print("skua: build and install", flush=True)
        prefix = self.directory / "prefix"
        self.cmake(ROOT, "library", "-DSKUA_BUILD_TESTS=OFF", "-DSKUA_BUILD_EXAMPLES=OFF",
                   "-DSKUA_WITH_FIBERS=OFF", f"-DCMAKE_INSTALL_PREFIX={prefix}")
        self.make("library", "skua", "skua_tool")
        run(["cmake", "--install", self.directory / "library"], self.log("library.install"))
        self.programs["load"] = prefix / "bin" / "skua"
        said = self.cmake(PEERS, "cpp", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.missing = dict(LEFT_OUT.findall(said))
        self.programs["skua"] = self.cpp_peer("skua")
        self.programs["connect"] = self.cpp_peer("floors")

    def peers(self):
        for name in CPP_PEERS:
            self.attempt(name, self.cpp_peer)
        self.attempt("go", self.go)
        self.attempt("tokio", self.tokio)
        self.attempt("tokio-mimalloc", self.tokio)

    def attempt(self, name: str, how):
        print(f"{name}: build", flush=True)
        try:
            self.programs[name] = how(name)
        except CannotBuild as why:
            self.left_out(name, str(why))

    def cpp_peer(self, name: str) -> pathlib.Path:
        if name in self.missing:
            raise CannotBuild(self.missing[name])
        self.make("cpp", f"peer_{name}")
        return self.directory / "cpp" / f"peer_{name}"

    def go(self, name: str) -> pathlib.Path:
        if shutil.which("go") is None:
            raise CannotBuild("go is not on the PATH")
        program = self.directory / "peer_go"
        run(["go", "build", "-p", str(self.jobs), "-o", program, "."], self.log(name), cwd=PEERS / "go",
            env=os.environ | {"CGO_ENABLED": "0"})
        return program

    def tokio(self, name: str) -> pathlib.Path:
        if shutil.which("cargo") is None:
            raise CannotBuild("cargo is not on the PATH")
        target = self.directory / name
        features = ["--features", "mimalloc"] if name.endswith("mimalloc") else []
        run(["cargo", "build", "--release", "--locked", "-j", str(self.jobs), "--target-dir", target,
             *features], self.log(name), cwd=PEERS / "tokio")
        return target / "release" / "peer_tokio"
