"""Sessions with the demo server, and with a real one."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import threading
import time
import warnings
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from mcptest import RpcError, Session, SessionClosed

ROOT = Path(__file__).parents[3]
FILESYSTEM = ROOT / "target/tools/node/node_modules/.bin/mcp-server-filesystem"


def test_every_method() -> None:
    with Session("mcptest demo-server") as mcp:
        assert mcp.initialize()["serverInfo"]["name"] == "mcptest-demo"
        assert mcp.call("add", {"a": 2, "b": 40}).data == {"sum": 42}
        failed = mcp.call("fail")
        assert (failed.success, failed.error) == (False, "this tool always fails")
        picture = mcp.call("picture")
        assert picture.raw is not None and "image" in [block["type"] for block in picture.raw["content"]]
        assert "echo" in [tool["name"] for tool in mcp.list_tools()]
        listed = mcp.list_resources()
        assert (len(listed["resources"]), len(listed["resourceTemplates"])) == (2, 1)
        assert mcp.read_resource("demo://motd")["contents"][0]["text"].startswith("hello")
        assert "Ada" in mcp.call_prompt("greet", {"name": "Ada"})["messages"][0]["content"]["text"]
        with pytest.raises(RpcError, match="unknown tool `nope`") as caught:
            mcp.call("nope")
        assert (caught.value.code, caught.value.data["code"]) == (-32000, -32602)
    with pytest.raises(SessionClosed, match="the session was closed"):
        mcp.call("echo")


def test_a_server_that_cannot_be_started() -> None:
    with Session(["/nowhere/server", "--an argument"]) as mcp:
        with pytest.raises(RpcError) as caught:
            mcp.call("echo")
        assert caught.value.code == -32001 and "/nowhere/server" in caught.value.message


def test_a_cassette_replays_without_the_server(tmp_path: Path) -> None:
    tape = tmp_path / "tape.json"
    with Session("mcptest demo-server") as mcp:
        mcp.cassette("record", tape)
        assert mcp.call("add", {"a": 2, "b": 40}).data == {"sum": 42}
    with Session("/nowhere/server") as mcp:
        mcp.cassette("replay", tape)
        assert mcp.call("add", {"a": 2, "b": 40}).data == {"sum": 42}
        with pytest.raises(RpcError):
            mcp.call("add", {"a": 1, "b": 1})
        mcp.cassette("off")


def test_a_server_by_its_address_and_its_cassette(tmp_path: Path) -> None:
    tape = tmp_path / "tape.json"
    demo = subprocess.Popen(["mcptest", "demo-server", "--http"], stdout=subprocess.PIPE, text=True)
    try:
        assert demo.stdout is not None
        url = demo.stdout.readline().strip()
        with Session(server_url=url) as mcp:
            mcp.cassette("record", tape)
            assert mcp.initialize()["serverInfo"]["name"] == "mcptest-demo"
            assert mcp.call("add", {"a": 2, "b": 40}).data == {"sum": 42}
    finally:
        demo.kill()
        demo.communicate()
    with Session(server_url=url) as mcp:
        with pytest.raises(RpcError) as caught:
            mcp.call("add", {"a": 2, "b": 40})
        assert caught.value.code == -32001 and "cannot connect" in caught.value.message
        mcp.cassette("replay", tape)
        assert mcp.call("add", {"a": 2, "b": 40}).data == {"sum": 42}


def test_cache_and_events(tmp_path: Path) -> None:
    with Session("mcptest demo-server", cwd=tmp_path) as mcp:
        mcp.cache("readwrite")
        assert mcp.call("echo", {"message": "hi"}).text == "hi"
        # A call that the cache answers is no event of the server's.
        mcp.cache("off")
        assert mcp.call("echo", {"message": "hi"}).text == "hi"
        events, to = mcp.flush()
        assert events > 0 and to
        with pytest.raises(RpcError, match="`NO_SUCH_TOKEN` is not set"):
            mcp.upload_to("http://127.0.0.1:9/events", token_env="NO_SUCH_TOKEN")


def test_events_are_uploaded(tmp_path: Path) -> None:
    received: list[tuple[str | None, bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append((self.headers["authorization"], body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/events"
        with Session("mcptest demo-server", cwd=tmp_path, env={"UPLOAD_TOKEN": "s3cret-token"}) as mcp:
            mcp.upload_to(url, token_env="UPLOAD_TOKEN")
            mcp.call("echo", {"message": "hi"})
            events, to = mcp.flush()
        server.shutdown()
    assert events > 0 and to == url
    assert len(received) == 1 and "s3cret-token" in (received[0][0] or "") and b"s3cret-token" not in received[0][1]


class Interrupted(BaseException):
    """As Ctrl-C, or the time limit of a test, ends a call from outside."""


def test_an_interrupted_call_is_not_waited_for(tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    began = time.monotonic()
    try:
        mcp = Session("mcptest demo-server")
        mcp.cassette("record", tmp_path / "tape.json")
        mcp.initialize()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Interrupted):
            mcp.call("slow", {"steps": 20, "ms": 1000})
        with pytest.raises(SessionClosed, match="an earlier call was interrupted"):
            mcp.call("echo", {"message": "hi"})
        mcp.close()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 10
    # The binary ended by itself, with everything that belongs to an end.
    assert "slow" in (tmp_path / "tape.json").read_text()


def test_a_session_that_nobody_holds_ends() -> None:
    mcp = Session("mcptest demo-server")
    mcp.initialize()
    pid = mcp._coprocess.process.pid
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del mcp
        gc.collect()
    until = time.monotonic() + 20
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_close_ends_a_call_of_another_thread() -> None:
    mcp = Session("mcptest demo-server")
    mcp.initialize()
    found: list[BaseException] = []

    def call() -> None:
        try:
            mcp.call("slow", {"steps": 20, "ms": 1000})
        except SessionClosed as error:
            found.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    while mcp._coprocess.is_free():
        time.sleep(0.01)
    mcp.close()
    caller.join(10)
    assert [str(error) for error in found] == ["cannot call `mcp.call`: the session was closed"]


def test_what_is_no_json_is_not_sent() -> None:
    with Session("mcptest demo-server") as mcp:
        with pytest.raises(ValueError, match="not JSON compliant"):
            mcp.call("echo", {"message": float("nan")})
        assert mcp.call("echo", {"message": "hi"}).text == "hi"


def test_a_real_server(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hi")
    with Session([str(FILESYSTEM), str(tmp_path)]) as mcp:
        assert mcp.call("read_text_file", {"path": str(tmp_path / "a.txt")}).text == "hi"
        assert not mcp.call("read_text_file", {"path": "/etc/hostname"}).success


def test_the_fixture(mcp_server: Session) -> None:
    assert mcp_server.call("echo", {"message": "hi"}).text == "hi"
