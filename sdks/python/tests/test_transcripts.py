"""The golden transcripts, played by this SDK against the binary."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mcptest import RpcError, Session, _collect, _verdict

TRANSCRIPTS = Path(__file__).parents[2] / "transcripts"
FILES = sorted(TRANSCRIPTS.glob("*.json"))
READERS = {
    "mcp.call": _verdict.read,
    "mcp.suite.plan": _collect.read_plan,
    "mcp.suite.run": _collect.read_outcome,
}


def fits(expected: Any, actual: Any) -> bool:
    """Whether an answer is the expected one, with its placeholders."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and expected.keys() == actual.keys() and all(
            fits(value, actual[key]) for key, value in expected.items()
        )  # fmt: skip
    if isinstance(expected, list):
        return isinstance(actual, list) and len(expected) == len(actual) and all(map(fits, expected, actual))
    if isinstance(expected, str) and expected.endswith("…"):
        return isinstance(actual, str) and actual.startswith(expected[:-1])
    kinds = {"<any>": object, "<number>": (int, float), "<text>": str}
    return isinstance(actual, kinds[expected]) if expected in list(kinds) else expected == actual


def can_send(send: Any) -> bool:
    """An SDK only writes requests: the lines that are none are for the engine's own tests."""
    if not isinstance(send, dict) or not send.keys() <= {"jsonrpc", "id", "method", "params"}:
        return False
    return send.get("jsonrpc") == "2.0" and isinstance(send.get("method"), str) and isinstance(send.get("id"), (int, str))


def ask(session: Session, send: dict) -> dict:
    try:
        result = session.request(send["method"], send.get("params"))
    except RpcError as error:
        data = {} if error.data is None else {"data": error.data}
        return {"error": {"code": error.code, "message": error.message, **data}}
    if send["method"] in READERS:
        READERS[send["method"]](result)
    return {"result": result}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_transcript(file: Path, tmp_path: Path) -> None:
    transcript = json.loads(file.read_text())
    if transcript.get("binary") == 1:
        pytest.skip("a recording of an old binary: see test_misbehaviour")
    shutil.copytree(TRANSCRIPTS / "files", tmp_path, dirs_exist_ok=True)
    session = Session(transcript.get("server"), cwd=tmp_path)
    over = False
    for exchange in transcript["exchanges"]:
        send, receive = exchange["send"], exchange["receive"]
        if not can_send(send):
            continue
        answer = ask(session, send)
        expected = {key: value for key, value in receive.items() if key in ("result", "error")}
        assert fits(expected, answer), f"{send}\nexpected {expected}\nactual   {answer}"
        over = over or send["method"] == "mcp.shutdown"
    if over:
        session._coprocess.end("the transcript ends here")
    else:
        session.close()
