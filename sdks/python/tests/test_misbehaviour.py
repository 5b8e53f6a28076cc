"""What the SDK makes of a binary that misbehaves; the table is shared by every SDK."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import mcptest
from mcptest import Session

SHARED = Path(__file__).parents[2] / "tests"
CASES = json.loads((SHARED / "misbehaviour.json").read_text())


def opened(fake: str, tmp_path: Path, seconds: float = 30) -> Session:
    env = {"FAKE": fake, "FAKE_PID": str(tmp_path / "pid")}
    return Session("any", binary=SHARED / "fake-coprocess", timeout=seconds, env=env)


def is_gone(tmp_path: Path) -> bool:
    try:
        os.kill(int((tmp_path / "pid").read_text()), 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["fake"])
def test_misbehaviour(case: dict, tmp_path: Path) -> None:
    # A megabyte that nobody reads fills the pipe.
    arguments = {"city": "x" * (1 << 20 if case["fake"] == "deaf" else 1)}
    with pytest.raises(mcptest.McptestError) as caught:
        session = opened(case["fake"], tmp_path, case["seconds"])
        assert case["when"] == "call"
        session.call("weather", arguments)
    assert type(caught.value).__name__ == case["error"]
    for part in case["contains"]:
        assert part in str(caught.value)
    if case["error"] == "RpcError":
        session._coprocess.end("an answer is no reason to end by itself")
    else:
        assert is_gone(tmp_path)
        if case["when"] == "call":
            with pytest.raises(mcptest.SessionClosed, match="cannot call `mcp.call`: "):
                session.call("weather")
    assert is_gone(tmp_path)


def test_good_answers(tmp_path: Path) -> None:
    fine = opened("fine", tmp_path).call("weather")
    assert fine == mcptest.Verdict(True, None, "sunny", None, 3)
    assert opened("null-text", tmp_path).call("weather").text == ""
    assert len(opened("large", tmp_path).call("weather").text) == 17_000_000
    verbatim = opened("verbatim", tmp_path).call("weather")
    assert (verbatim.success, verbatim.data, verbatim.text, verbatim.error) == (False, {"a": 1}, "a\nb", "a\nb")
    assert verbatim.raw is not None and len(verbatim.raw["content"]) == 3


def test_an_answer_that_goes_too_deep_is_no_garbage(tmp_path: Path) -> None:
    with pytest.raises(mcptest.ContractDrift, match="JSON that goes deeper than Python reads"):
        opened("deep", tmp_path).call("weather")
    assert is_gone(tmp_path)


def test_what_takes_long_to_take_down_is_waited_for_as_long_as_a_call(tmp_path: Path) -> None:
    session = opened("takes-down", tmp_path)
    session.close()
    assert session.stderr == "took down\n"
    session = opened("stays", tmp_path, 1)
    with pytest.raises(mcptest.Unended) as caught:
        session.close()
    said = "did not end within 1 s of the end of its session, and was stopped\nstderr of mcptest:\n  taking down"
    assert said in str(caught.value)
    assert is_gone(tmp_path)
    session.close()


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_that_is_none_starts_nothing(seconds: float, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`timeout` is a number of seconds above 0"):
        opened("fine", tmp_path, seconds)
    assert not (tmp_path / "pid").exists()


def test_the_longest_time_limit(tmp_path: Path) -> None:
    assert opened("fine", tmp_path, float("inf")).call("weather").text == "sunny"


def test_a_relative_binary_is_taken_against_our_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SHARED)
    monkeypatch.setenv("MCPTEST_BIN", "./fake-coprocess")
    assert Session("any", cwd=tmp_path, env={"FAKE": "fine"}).call("weather").text == "sunny"
    with pytest.raises(mcptest.BinaryNotFound, match="there is no folder `/nowhere/at/all`"):
        Session("any", cwd="/nowhere/at/all")


def test_an_error_carries_its_data(tmp_path: Path) -> None:
    with pytest.raises(mcptest.RpcError) as caught:
        opened("error", tmp_path).call("weather")
    assert (caught.value.code, caught.value.data) == (-32000, {"tool": "weather"})


def test_a_missing_binary_names_both_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MCPTEST_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(mcptest.BinaryNotFound, match="`MCPTEST_BIN` is not set, and PATH has no `mcptest`"):
        Session("any")
    monkeypatch.setenv("MCPTEST_BIN", str(tmp_path / "nope"))
    with pytest.raises(mcptest.BinaryNotFound, match="`MCPTEST_BIN` is `.*nope`, which is no program"):
        Session("any")
