#!/usr/bin/env python3
"""The recipe of Conan and the port of vcpkg fit CMakeLists.txt, as far as that can be read.

usage: packaging.py [ROOT]

  version    the same in CMakeLists.txt, packaging/conan/conanfile.py and the port's vcpkg.json
  options    each SKUA_... that recipe or port sets is an option of CMakeLists.txt
  features   vcpkg.json and portfile.cmake have the same; the consumer asks for no other
  files      what recipe and port name is there, and they build the tree that they lie in

Says what does not hold, and exits 1. Whether packages come out of it is for the tools themselves to
show: consumer.conan and consumer.vcpkg, where these are installed.
"""
import json
import pathlib
import re
import sys

RECIPE = "packaging/conan/conanfile.py"
PORT = "packaging/vcpkg/ports/skua"
MANIFEST, PORTFILE = f"{PORT}/vcpkg.json", f"{PORT}/portfile.cmake"
CONSUMER = "packaging/vcpkg/consumer"

PROJECT_VERSION = re.compile(r"^project\(skua VERSION ([\d.]+)", re.M)
OPTION = re.compile(r"^\s*(?:option|set)\((SKUA_\w+)\s", re.M)
RECIPE_VERSION = re.compile(r'^\s+version = "([^"]*)"', re.M)
EXPORTED = re.compile(r"for pattern in \(([^)]*)\)")
SET_OPTION = re.compile(r"\bSKUA_\w+|(?<=-D)(?!PKG_CONFIG_)\w+(?==)")
FEATURE_PAIRS = re.compile(r"\bFEATURES\s((?:\s*[\w-]+\s+SKUA_\w+)+)")
FEATURE_TEST = re.compile(r'"([\w-]+)" IN_LIST FEATURES')
TREE = re.compile(r'SOURCE_PATH NORMALIZE "\$\{CMAKE_CURRENT_LIST_DIR\}/([^"]+)"')
NAMED = re.compile(r'"\$\{(SOURCE_PATH|CMAKE_CURRENT_LIST_DIR)\}/([^".][^"]*)"')
COMMENT = re.compile(r"#.*")


class Packaging:
    def __init__(self, root: pathlib.Path):
        self.root = root
        self.faults = []

    def text(self, path: str) -> str:
        """Without comments."""
        return COMMENT.sub("", (self.root / path).read_text(encoding="utf-8"))

    def json(self, path: str) -> dict:
        try:
            return json.loads((self.root / path).read_text(encoding="utf-8"))
        except ValueError as error:
            self.faults.append(f"{path}: does not parse: {error}")
            return {}

    def demand(self, holds: bool, fault: str):
        if not holds:
            self.faults.append(fault)

    def check_versions(self, wanted: str, manifest: dict):
        found = RECIPE_VERSION.findall(self.text(RECIPE))
        self.demand(found == [wanted], f"{RECIPE}: version is {found}, in CMakeLists.txt {wanted}")
        found = manifest.get("version")
        self.demand(found == wanted, f"{MANIFEST}: version is {found}, in CMakeLists.txt {wanted}")

    def check_options(self, options: set):
        for path in (RECIPE, PORTFILE):
            for name in sorted(set(SET_OPTION.findall(self.text(path))) - options):
                self.faults.append(f"{path}: CMakeLists.txt has no option {name}")

    def check_features(self, manifest: dict):
        has = set(manifest.get("features", {}))
        self.demand(manifest.get("name") == "skua", f"{MANIFEST}: its name is not skua")
        portfile = self.text(PORTFILE)
        paired = {word for pairs in FEATURE_PAIRS.findall(portfile) for word in pairs.split()[::2]}
        dependencies = self.json(f"{CONSUMER}/vcpkg.json").get("dependencies", [])
        wanted = [one for one in dependencies if isinstance(one, dict) and one["name"] == "skua"]
        self.demand(bool(wanted), f"{CONSUMER}/vcpkg.json: does not ask for skua")
        for path, names in [(PORTFILE, paired | set(FEATURE_TEST.findall(portfile))),
                            (MANIFEST, set(manifest.get("default-features", []))),
                            *((f"{CONSUMER}/vcpkg.json", set(one["features"])) for one in wanted)]:
            for name in sorted(names - has):
                self.faults.append(f"{path}: {MANIFEST} has no feature {name}")
        for name in sorted(has - paired):
            self.faults.append(f"{PORTFILE}: the feature {name} switches nothing")

    def check_files(self):
        for patterns in EXPORTED.findall(self.text(RECIPE)):
            for pattern in re.findall(r'"([^"]+)"', patterns):
                self.demand(any(self.root.glob(pattern)), f"{RECIPE}: exports {pattern}: nothing is there")
        port, portfile = self.root / PORT, self.text(PORTFILE)
        trees = [(port / path).resolve() for path in TREE.findall(portfile)]
        self.demand(trees == [self.root], f"{PORTFILE}: SOURCE_PATH is not the root of the tree")
        for base, path in NAMED.findall(portfile):
            file = (self.root if base == "SOURCE_PATH" else port) / path
            self.demand(file.is_file(), f"{PORTFILE}: there is no file {path}")
        overlays = self.json(f"{CONSUMER}/vcpkg-configuration.json").get("overlay-ports", [])
        found = [(self.root / CONSUMER / path).resolve() for path in overlays]
        self.demand(found == [port.parent], f"{CONSUMER}: overlay-ports does not lead to the port")

    def run(self) -> int:
        lists = self.text("CMakeLists.txt")
        version, options = PROJECT_VERSION.search(lists)[1], set(OPTION.findall(lists))
        manifest = self.json(MANIFEST)
        if manifest:  # else nothing that is said of it would help
            self.check_versions(version, manifest)
            self.check_features(manifest)
        self.check_options(options)
        self.check_files()
        print("\n".join(self.faults) or f"packaging: Conan and vcpkg have skua {version} as CMake has it")
        return 1 if self.faults else 0


if __name__ == "__main__":
    sys.exit(Packaging(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()).run())
