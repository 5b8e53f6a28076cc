"""One mixed suite in four frameworks: the same names, verdicts and skip reasons; and what each shows of a failure."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from conftest import HERE, NODE, ROOT, output, python

SUITE = "mixed.test.mcp.yml"
Verdicts = dict[str, tuple[str, str]]
JAVASCRIPT = {"node": ["node", "--test"], "vitest": [NODE / "node_modules/.bin/vitest", "run"]}

EXPECTED: Verdicts = {
    "tools::adds two numbers": ("passed", ""),
    "tools::expects another sum": ("failed", ""),
    "tools::uses a sum that never came": (
        "skipped",
        "it uses what `expects another sum` captures, which did not pass",
    ),
    "tools::waits for a slow tool": ("failed", ""),
    "tools::is not ready": ("skipped", "the tool is not written yet"),
    "resources::reads the message of the day": ("passed", ""),
    "prompts::greets by name": ("passed", ""),
    **{
        f"mcptest::{name}": (
            "skipped",
            f"the `{lane}` lane cannot be driven over the coprocess; run it with `mcptest {command}`",
        )
        for name, lane, command in [
            ("lanes::agents", "agents", f"run {SUITE}"),
            ("lanes::compliance", "compliance", f"compliance run --from-suite {SUITE}"),
            ("compliance::core", "compliance", f"compliance run --from-suite {SUITE}"),
            ("lanes::security", "security", f"run {SUITE}"),
            ("lanes::evals", "evals", f"eval {SUITE}"),
        ]
    },
}


def pytest_shows(tmp_path: Path) -> tuple[str, Verdicts]:
    report = tmp_path / "report.xml"
    text = python("-m", "pytest", "-p", "no:cacheprovider", "-v", "-rs", SUITE, f"--junit-xml={report}")
    # pytest's own report splits names at their `::`.
    return text, from_junit(report, lambda case: [*case["classname"].split(".")[4:], case["name"]])


def node_shows(tmp_path: Path, project: Path) -> tuple[str, Verdicts]:
    report = tmp_path / "report.xml"
    to = ["--test-reporter=spec", "--test-reporter-destination=stdout", "--test-reporter=junit"]
    argv = ["node", "--test", *to, f"--test-reporter-destination={report}", "suite.test.js"]
    return output(argv, project), from_junit(report)


def vitest_shows(project: Path) -> tuple[str, Verdicts]:
    text = output([*JAVASCRIPT["vitest"], "--reporter=verbose", "suite.test.js"], project)
    found = re.findall(r"^ ([✓×↓]) suite\.test\.js > (.+?)(?: \d+ms)?(?: \[(.*)\])?$", text, re.M)
    kinds = {"✓": "passed", "×": "failed", "↓": "skipped"}
    return text, {name: (kinds[sign], reason) for sign, name, reason in found}


def cargo_shows(cargo_test) -> tuple[str, Verdicts]:
    text = cargo_test()
    found = re.findall(r"^test (.+?) +\.\.\. (ok|FAILED|ignored)(?: \((.*)\))?$", text, re.M)
    kinds = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}
    # `cargo test` runs in the package's folder, from where the suite is further away.
    return text, {name: (kinds[sign], reason.replace("../../tests/", "")) for name, sign, reason in found}


def from_junit(report: Path, parts=lambda case: [case["name"]]) -> Verdicts:
    verdicts: Verdicts = {}
    for case in xml.parse(report).iter("testcase"):
        skipped = case.find("skipped")
        failed = case.find("failure") is not None or case.find("error") is not None
        kind = "failed" if failed else "passed" if skipped is None else "skipped"
        verdicts["::".join(parts(case.attrib))] = (kind, "" if skipped is None else skipped.attrib["message"])
    return verdicts


def same(verdicts: Verdicts) -> None:
    assert list(verdicts) == list(EXPECTED)
    assert verdicts == EXPECTED


# Where each framework shows the failures.
SHOWN = {
    "pytest": r"^=+ FAILURES =+\n.*?(?=^(--|=))",
    "node": r"^✖ tools::expects another sum.*?\n +at .*?$",
    "vitest": r"^ FAIL .*?\n ❯ .*?$",
    "cargo": r"^---- .*?(?=^failures:)",
}


def golden(name: str, text: str) -> None:
    """How a framework shows the failures, but for what differs from run to run; MCPTEST_BLESS=1 writes it anew."""
    shown = re.search(SHOWN[name], text, re.M | re.S)
    assert shown is not None, text
    text = shown[0].rstrip() + "\n"
    for pattern, instead in [
        (re.escape(str(ROOT)), "ROOT"),
        (r"(\.\./)+(?=sdks/)", "ROOT/"),
        (r"\(\d+(\.\d+)?ms\)", "(TIME)"),
        (r'"mcptest-\d+"', '"ID"'),
    ]:
        text = re.sub(pattern, instead, text)
    file = HERE / "goldens" / f"{name}.txt"
    if os.environ.get("MCPTEST_BLESS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()


def test_pytest(tmp_path: Path) -> None:
    text, verdicts = pytest_shows(tmp_path)
    same(verdicts)
    golden("pytest", text)


def test_node(tmp_path: Path, project: Path) -> None:
    text, verdicts = node_shows(tmp_path, project)
    same(verdicts)
    golden("node", text)


def test_vitest(project: Path) -> None:
    text, verdicts = vitest_shows(project)
    same(verdicts)
    golden("vitest", text)


def test_cargo(cargo_test) -> None:
    text, verdicts = cargo_shows(cargo_test)
    same(verdicts)
    golden("cargo", text)


def test_cargo_keeps_the_order_of_the_file(cargo_test) -> None:
    for threads in ("1", "8"):
        text = cargo_test(f"--test-threads={threads}", SUITE="ordered")
        assert "11 passed; 0 failed" in text, text


def test_cargo_prints_the_commands_of_ignored_lanes(cargo_test) -> None:
    text = cargo_test("--ignored", "--nocapture")
    for lane in ("agents", "compliance", "security", "evals"):
        assert f"test mcptest::lanes::{lane}" in text
        assert EXPECTED[f"mcptest::lanes::{lane}"][1].replace(SUITE, f"../../tests/{SUITE}") in text
    assert "adds two numbers" not in text


def test_pytest_finds_a_test_by_its_id() -> None:
    text = python("-m", "pytest", "-p", "no:cacheprovider", "-q", f"{SUITE}::prompts::greets by name")
    assert "1 passed" in text, text


def test_the_hints_are_the_engines() -> None:
    from mcptest import UNSUPPORTED_LANES, Session, lane_cli_hint

    with Session(cwd=HERE) as session:
        skips = {test.lane: test.skip for test in session.plan(SUITE) if test.lane in UNSUPPORTED_LANES}
    assert list(skips) == list(UNSUPPORTED_LANES)
    for lane, skip in skips.items():
        assert f"run it with `{lane_cli_hint(lane, SUITE)}`" in (skip or "")


@pytest.mark.parametrize("way", ["pytest", "node", "vitest", "cargo"])
def test_a_real_server(way: str, cargo_test) -> None:
    counted = {"pytest": "2 passed", "node": "pass 2", "vitest": "2 passed (2)", "cargo": "2 passed; 0 failed"}
    if way == "pytest":
        text = python("-m", "pytest", "-p", "no:cacheprovider", "-q", "filesystem.test.mcp.yml")
    elif way == "cargo":
        text = cargo_test(SUITE="filesystem")
    else:
        text = output([*JAVASCRIPT[way], "suite.test.js"], NODE / "project-copied", SUITE="filesystem")
    assert counted[way] in text, text


@pytest.mark.parametrize("way", ["pytest", "node", "vitest", "cargo"])
def test_a_suite_that_cannot_be_planned_says_why_whatever_is_selected(way: str, tmp_path: Path, cargo_test) -> None:
    (tmp_path / "bad.test.mcp.yml").write_text("tools: [{ it: asks, tol: add }]\n")
    if way == "pytest":
        text = python("-m", "pytest", "-p", "no:cacheprovider", "-q", "-k", "x", "bad.test.mcp.yml", cwd=tmp_path)
    elif way == "cargo":
        # As cargo shows it: the exit code is not 0.
        text = cargo_test("x", SUITE=os.path.relpath(tmp_path / "bad", HERE))
        assert "error: test failed" in text and "test result" not in text, text
    else:
        select = ["--test-name-pattern", "x"] if way == "node" else ["-t", "x"]
        env = {"SUITE": "bad", "SUITES": str(tmp_path)}
        text = output([*JAVASCRIPT[way], *select, "suite.test.js"], NODE / "project-copied", **env)
        assert re.search(r"# fail 1|ℹ fail 1|1 failed", text), text
    assert "bad.test.mcp.yml:1:" in text and "`tol`" in text, text
    assert "mcp.suite.plan" not in text, text


@pytest.mark.parametrize("way", ["pytest", "node", "vitest", "cargo"])
def test_what_fails_in_taking_down_is_shown(way: str, tmp_path: Path, cargo_test) -> None:
    (tmp_path / "mcptest.yml").write_text("command: mcptest\nargs: [demo-server]\n")
    suite = "after: [{ it: takes down, tool: fail }]\ntools: [{ it: asks, tool: add, args: { a: 1, b: 1 } }]\n"
    (tmp_path / "a.test.mcp.yml").write_text(suite)
    if way == "pytest":
        text = python("-m", "pytest", "-p", "no:cacheprovider", "-q", "a.test.mcp.yml::tools::asks", cwd=tmp_path)
    elif way == "cargo":
        text = cargo_test("tools::asks", SUITE=os.path.relpath(tmp_path / "a", HERE))
    else:
        select = ["--test-name-pattern", "asks"] if way == "node" else ["-t", "asks"]
        text = output([*JAVASCRIPT[way], *select, "suite.test.js"], NODE / "project-copied", SUITE="a", SUITES=str(tmp_path))
    assert re.search(r"1 passed|pass 1", text) and "mcptest says" in text and "takes down` did not pass" in text, text


def test_pytest_finds_a_test_with_an_odd_name(tmp_path: Path) -> None:
    (tmp_path / "mcptest.yml").write_text("command: mcptest\nargs: [demo-server]\n")
    name = "größer [a] :: b"
    (tmp_path / "a.test.mcp.yml").write_text(f"tools: [{{ it: '{name}', tool: add, args: {{ a: 1, b: 1 }} }}]\n")
    text = python("-m", "pytest", "-p", "no:cacheprovider", "-q", f"a.test.mcp.yml::tools::{name}", cwd=tmp_path)
    assert "1 passed" in text, text


@pytest.mark.parametrize("seconds", ["abc", "0", "-1"])
def test_pytest_refuses_a_time_limit_that_is_none(seconds: str) -> None:
    text = python("-m", "pytest", "-p", "no:cacheprovider", "-q", f"--mcptest-timeout={seconds}", SUITE)
    assert text == f"ERROR: `mcptest_timeout` is a number of seconds above 0, and not `{seconds}`\n\n", text


@pytest.mark.parametrize("way", ["pytest", "node", "vitest", "cargo"])
def test_a_mismatch_is_told_before_any_test(way: str, cargo_test) -> None:
    env = {"MCPTEST_BIN": str(HERE / "fake-coprocess"), "FAKE": "v1"}
    if way == "pytest":
        text = python("-m", "pytest", "-p", "no:cacheprovider", "-q", SUITE, **env)
    elif way == "cargo":
        text = cargo_test(**env)
    else:
        text = output([*JAVASCRIPT[way], "suite.test.js"], NODE / "project-copied", **env)
    assert "mcptest binary speaks coprocess v1; this SDK needs v2. Upgrade the mcptest binary" in text, text
    assert "tools::" not in text
