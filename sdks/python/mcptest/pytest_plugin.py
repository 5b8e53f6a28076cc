"""The pytest plugin: ``*.test.mcp.yml`` files are collected, one item per test, and ``mcp_server`` is a session.

Options, each also in the ini file::

    --mcptest-server="node server.js"   mcptest_server    the server under test; default: what the suite's config says
    --mcptest-timeout=60                mcptest_timeout   seconds that the binary has for each answer
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ._collect import Planned
from ._errors import McptestError, RpcError
from ._session import Session

Named = list[tuple[list[str], Planned]]
SUFFIXES = (".test.mcp.yml", ".test.mcp.yaml")


class SuiteFailed(Exception):
    """A test of a suite failed; the message is the engine's."""


class SuiteWarning(pytest.PytestWarning):
    """What the engine says beside the verdicts: warnings about a suite, and what failed in taking down."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mcptest", "MCP suites")
    for name, about in (
        ("server", "command of the MCP server under test; default: what the suite's config says"),
        ("timeout", "seconds that the mcptest binary has for each answer"),
    ):
        group.addoption(f"--mcptest-{name}", default=None, help=about)
        parser.addini(f"mcptest_{name}", about)


def pytest_configure(config: pytest.Config) -> None:
    _timeout(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name.endswith(SUFFIXES):
        return SuiteFile.from_parent(parent, path=file_path)
    return None


@pytest.fixture(scope="session")
def mcp_server(pytestconfig: pytest.Config) -> Iterator[Session]:
    """A session with the server of ``--mcptest-server``, one for the whole run."""
    command = _setting(pytestconfig, "server")
    if not command:
        raise pytest.UsageError("`mcp_server` needs a server: set `mcptest_server` in the ini file, or --mcptest-server")
    with _open(pytestconfig) as session:
        yield session


class SuiteFile(pytest.File):
    """A suite file. The binary plans it for the collection, and again for the run, when the first test of it starts."""

    session_of_run: Session | None = None

    @property
    def suite(self) -> str:
        """The file as the user would write it: messages and hints repeat it."""
        return os.path.relpath(self.path, self.config.invocation_params.dir)

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        try:
            with _open(self.config) as session:
                tests = session.plan(self.suite)
        except McptestError as error:
            # What the engine says of a suite speaks for itself.
            raise self.CollectError(error.message if isinstance(error, RpcError) else str(error)) from None
        _pass_on(session)
        yield from _nodes(self, [(_parts(test.native_name), test) for test in tests])

    def run_test(self, id: str) -> Any:
        if self.session_of_run is None:
            self.session_of_run = _open(self.config)
            self.session_of_run.plan(self.suite)
        return self.session_of_run.run_test(id)

    def teardown(self) -> None:
        session, self.session_of_run = self.session_of_run, None
        if session is not None:
            session.close()
            _pass_on(session)


class Lane(pytest.Collector):
    """A part of the names below a file, so that `pytest "demo.test.mcp.yml::tools::adds"` finds the test."""

    def __init__(self, *, tests: Named, **rest: Any) -> None:
        super().__init__(**rest)
        self.tests = tests

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        return _nodes(self, self.tests)


class SuiteTest(pytest.Item):
    """One test of a suite."""

    def __init__(self, *, test: Planned, **rest: Any) -> None:
        super().__init__(**rest)
        self.test = test

    def runtest(self) -> None:
        if self.test.skip is not None:
            raise pytest.skip.Exception(self.test.skip, _use_item_location=True)
        file = self.getparent(SuiteFile)
        assert file is not None
        outcome = file.run_test(self.test.id)
        if outcome.status == "skipped":
            raise pytest.skip.Exception(outcome.reason or "", _use_item_location=True)
        if outcome.status != "passed":
            raise SuiteFailed(outcome.text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The engine's message alone: a traceback of this plugin helps nobody."""
        if isinstance(excinfo.value, (SuiteFailed, McptestError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.test.line - 1, self.test.native_name


def _parts(name: str) -> list[str]:
    """The parts of a node id, as pytest splits it: from the first bracket on there are no more."""
    before, bracket, rest = name.partition("[")
    *parts, last = before.split("::")
    return [*parts, last + bracket + rest]


def _pass_on(session: Session) -> None:
    """Shows what the binary wrote to stderr, which nobody else would."""
    if text := session.stderr.strip():
        warnings.warn(SuiteWarning(f"mcptest says:\n{text}"), stacklevel=1)


def _nodes(parent: pytest.Collector, tests: Named) -> Iterator[pytest.Item | pytest.Collector]:
    """A node for each test, below one for each first part of their names."""
    for lane, group in itertools.groupby(tests, lambda named: named[0][0] if len(named[0]) > 1 else None):
        rest = [(parts if lane is None else parts[1:], test) for parts, test in group]
        if lane is None:
            yield from (SuiteTest.from_parent(parent, name=parts[0], test=test) for parts, test in rest)
        else:
            yield Lane.from_parent(parent, name=lane, tests=rest)


def _open(config: pytest.Config) -> Session:
    return Session(_setting(config, "server") or None, cwd=config.invocation_params.dir, timeout=_timeout(config))


def _timeout(config: pytest.Config) -> float | None:
    given = _setting(config, "timeout")
    try:
        timeout = float(given) if given else None
    except ValueError:
        timeout = 0
    if timeout is not None and not timeout > 0:
        raise pytest.UsageError(f"`mcptest_timeout` is a number of seconds above 0, and not `{given}`")
    return timeout


def _setting(config: pytest.Config, name: str) -> str:
    given = config.getoption(f"--mcptest-{name}")
    return str(given if given is not None else config.getini(f"mcptest_{name}") or "")
