"""Every place that pins a version says the same."""

from __future__ import annotations

import json
import re
import subprocess
import os

from conftest import ROOT

VERSIONS = {
    "Cargo.toml": r'^version = "(.+)"',
    "sdks/rust/mcptest-runner/Cargo.toml": r'^version = "(.+)"',
    "sdks/python/pyproject.toml": r'^version = "(.+)"',
    "sdks/python/mcptest/_coprocess.py": r'^SDK_VERSION = "(.+)"',
    "sdks/typescript/package.json": r'"version": "(.+)"',
    "sdks/typescript/src/coprocess.ts": r'SDK_VERSION = "(.+)"',
    "sdks/typescript/dist/coprocess.js": r'SDK_VERSION = "(.+)"',
}
PROTOCOLS = {
    "engine/src/coprocess.rs": r"PROTOCOL_VERSION: u64 = (\d+);",
    "sdks/rust/mcptest-runner/src/coprocess.rs": r"COPROCESS_PROTOCOL_VERSION: u64 = (\d+);",
    "sdks/python/mcptest/_coprocess.py": r"^COPROCESS_PROTOCOL_VERSION = (\d+)$",
    "sdks/typescript/src/coprocess.ts": r"COPROCESS_PROTOCOL_VERSION = (\d+);",
    "sdks/typescript/dist/coprocess.js": r"COPROCESS_PROTOCOL_VERSION = (\d+);",
}


def pins(places: dict[str, str]) -> dict[str, list[str]]:
    return {file: re.findall(pattern, (ROOT / file).read_text(), re.M) for file, pattern in places.items()}


def test_the_packages_are_of_one_release() -> None:
    said = subprocess.run([os.environ["MCPTEST_BIN"], "--version"], capture_output=True, text=True, check=True)
    version = said.stdout.split()[-1]
    assert pins(VERSIONS) == {file: [version] for file in VERSIONS}


def test_the_protocol_is_of_one_version() -> None:
    assert pins(PROTOCOLS) == {file: ["2"] for file in PROTOCOLS}


def test_the_typescript_package_has_no_dependencies() -> None:
    package = json.loads((ROOT / "sdks/typescript/package.json").read_text())
    assert "dependencies" not in package
