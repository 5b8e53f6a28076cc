"""Sessions with the demo server, and with a real one."""

from __future__ import annotations

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


def test_a_real_server(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hi")
    with Session([str(FILESYSTEM), str(tmp_path)]) as mcp:
        assert mcp.call("read_text_file", {"path": str(tmp_path / "a.txt")}).text == "hi"
        assert not mcp.call("read_text_file", {"path": "/etc/hostname"}).success


def test_the_fixture(mcp_server: Session) -> None:
    assert mcp_server.call("echo", {"message": "hi"}).text == "hi"
