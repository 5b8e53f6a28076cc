"""Where things are, and the packages as users install them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NODE = ROOT / "target/tools/node-sdks"
CARGO = os.environ.get("CARGO", "cargo")
CARGO_TEST = [CARGO, "test", "--locked", "--package", "mcptest-runner", "--test", "suite"]


def output(argv: list[object], cwd: Path = HERE, **env: str) -> str:
    """What a command writes to stdout and stderr, whatever its exit code."""
    plain = {"NO_COLOR": "1", "CI": "", "PYTHONDONTWRITEBYTECODE": "1", "SUITES": str(HERE)}
    environment = {**os.environ, **plain, **env}
    environment.pop("FORCE_COLOR", None)
    # node:test tells its children that they are children.
    environment.pop("NODE_TEST_CONTEXT", None)
    words = [str(word) for word in argv]
    done = subprocess.run(words, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


@pytest.fixture(scope="session", params=["copied", "linked"])
def project(request: pytest.FixtureRequest) -> Path:
    """A Node.js project with the SDK, once as a copy, once as a link into this repository; vitest is in a folder above."""
    folder = NODE / f"project-{request.param}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
    how = ["--install-links"] if request.param == "copied" else ["--no-install-links"]
    done = subprocess.run(
        ["npm", "install", *how, "--offline", "--no-audit", "--no-fund", str(ROOT / "sdks/typescript")],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (folder / "node_modules/@mcptest/sdk").is_symlink() == (request.param == "linked")
    for file in HERE.glob("*.js"):
        shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="session")
def cargo_test() -> object:
    """Runs the tests of a suite with `cargo test`."""

    def run(*args: str, **env: str) -> str:
        argv = [*CARGO_TEST, "--quiet", "--", *args]
        return output(argv, ROOT, **env)

    return run


def python(*args: object, cwd: Path = HERE, **env: str) -> str:
    """Runs the Python of the environment that has the SDK."""
    return output([sys.executable, *args], cwd, **env)
