"""Whatever is killed, nothing stays behind: the process with the SDK, the binary, or the server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from conftest import CARGO_TEST, HERE, NODE, ROOT

from mcptest import Ended, RpcError, Session

MARK = "MCPTEST_SDK_TEST"


def marked(mark: str) -> dict[int, str]:
    """The processes with the mark in their environment, which children inherit."""
    found = {}
    if sys.platform == "linux":
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue  # It has just ended.
    else:
        listing = subprocess.run(["ps", "-A", "-E", "-o", "pid,command"], capture_output=True, text=True, check=True)
        lines = [line.split(None, 1) for line in listing.stdout.splitlines() if f"{MARK}={mark}" in line]
        found = {int(pid): command for pid, command in lines}
    return found


def wait_until(holds, mark: str) -> None:
    """Waits for something about the marked processes, and for no longer than a binary may take to stop a server."""
    until = time.monotonic() + 20
    while not holds(found := marked(mark)):
        assert time.monotonic() < until, found
        time.sleep(0.01)


def runs(part: str):
    return lambda found: any(part in command for command in found.values())


def built_target() -> list[str]:
    argv = [*CARGO_TEST, "--no-run", "--message-format=json"]
    built = subprocess.run(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    artifacts = [json.loads(line) for line in built.stdout.splitlines()]
    return [artifact["executable"] for artifact in artifacts if artifact.get("target", {}).get("name") == "suite"]




@pytest.mark.parametrize("way", ["pytest", "node", "node --test", "vitest", "cargo"])
def test_killing_the_sdk(way: str, project: Path) -> None:
    mark = uuid.uuid4().hex
    argv, cwd = {
        "pytest": lambda: ([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "waiting.test.mcp.yml"], HERE),
        "node": lambda: (["node", "suite.test.js"], project),
        # Here the process that is killed is the runner, and the SDK is in a worker of it.
        "node --test": lambda: (["node", "--test", "suite.test.js"], project),
        "vitest": lambda: ([NODE / "node_modules/.bin/vitest", "run", "suite.test.js"], project),
        "cargo": lambda: (built_target(), ROOT / "sdks/rust/mcptest-runner"),
    }[way]()
    env = {**os.environ, MARK: mark, "SUITE": "waiting", "SUITES": str(HERE)}
    env.pop("NODE_TEST_CONTEXT", None)
    child = subprocess.Popen(argv, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(runs("demo-server"), mark)
    child.kill()
    child.wait()
    wait_until(lambda found: not found, mark)


def test_killing_the_binary() -> None:
    mark = uuid.uuid4().hex
    session = Session("mcptest demo-server", env={MARK: mark})
    session.initialize()
    os.kill(session._coprocess.process.pid, signal.SIGKILL)
    with pytest.raises(Ended, match="the mcptest binary ended with signal 9 before it answered `mcp.call`"):
        session.call("echo", {"message": "hi"})
    wait_until(lambda found: not found, mark)


def test_killing_the_server() -> None:
    mark = uuid.uuid4().hex
    with Session("mcptest demo-server", env={MARK: mark}) as session:
        session.initialize()
        server = [pid for pid, command in marked(mark).items() if "demo-server" in command.split("--server-command")[0]]
        os.kill(server[0], signal.SIGKILL)
        with pytest.raises(RpcError) as caught:
            session.call("echo", {"message": "hi"})
        assert caught.value.code == -32001
    wait_until(lambda found: not found, mark)
