"""The first test of each README runs as it stands, and is short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import NODE, ROOT, output, python


def first(page: str, language: str) -> str:
    """The first code block of a language."""
    text = (ROOT / "sdks" / page / "README.md").read_text()
    found = re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    assert found is not None
    assert len([line for line in found[1].splitlines() if line]) < 10
    return found[1]


def test_python(tmp_path: Path) -> None:
    (tmp_path / "test_weather.py").write_text(first("python", "python"))
    assert "1 passed" in (text := python("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)), text


def test_typescript(project: Path) -> None:
    (project / "weather.test.js").write_text(first("typescript", "js"))
    assert "pass 1" in (text := output(["node", "--test", "weather.test.js"], project)), text


def test_rust() -> None:
    """It is compiled with the documentation's examples; here only its length counts."""
    assert "Session::open" in first("rust/mcptest-runner", "rust,no_run")


@pytest.mark.parametrize("good", [True, False])
def test_the_types_of_the_typescript_sdk(good: bool, project: Path) -> None:
    tool = '"add"' if good else "7"
    source = f'import {{ Session }} from "@mcptest/sdk";\nconst mcp = await Session.open("x");\nawait mcp.call({tool});\n'
    (project / "types.ts").write_text(source)
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--ignoreConfig"]
    types = ["--typeRoots", NODE / "node_modules/@types", "--types", "node"]
    text = output([NODE / "node_modules/.bin/tsc", *options, *types, "types.ts"], project)
    (project / "types.ts").unlink()
    assert (text == "") == good, text
