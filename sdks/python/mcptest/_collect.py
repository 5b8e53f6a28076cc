"""The tests of a suite file as ``mcp.suite.plan`` and ``mcp.suite.run`` tell them, and the lanes that the coprocess cannot
drive: those are skipped tests that name the command, never dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._answer import closed, of_type, unknown
from ._errors import _Drift

UNSUPPORTED_LANES = ("agents", "compliance", "security", "evals")
"""The lanes of a suite that only the command line can run."""

STATUSES = ("passed", "failed", "faulted", "skipped")


def lane_cli_hint(lane: str, suite: str) -> str:
    """The command that runs a lane of a suite file."""
    if lane == "compliance":
        return f"mcptest compliance run --from-suite {suite}"
    return f"mcptest eval {suite}" if lane == "evals" else f"mcptest run {suite}"


@dataclass(frozen=True)
class Planned:
    """A test of a suite file."""

    id: str
    """What :meth:`Session.run_test` takes."""
    lane: str
    name: str
    """Its ``it``."""
    line: int
    """Where it stands in the file, from 1."""
    skip: str | None = None
    """Why it will not run."""

    @property
    def native_name(self) -> str:
        """``tools::adds``, ``mcptest::lanes::agents``, ``mcptest::compliance::<rule>``."""
        if self.skip is None or self.lane not in UNSUPPORTED_LANES:
            return f"{self.lane}::{self.name}"
        return f"mcptest::lanes::{self.lane}" if self.name == self.lane else f"mcptest::{self.lane}::{self.name}"


@dataclass(frozen=True)
class Outcome:
    """How a test went."""

    status: str
    """``passed``, ``failed``, ``faulted`` or ``skipped``."""
    text: str
    """What was wrong, as ``mcptest run`` prints it."""
    failures: list[dict[str, Any]]
    """What was wrong, as in the ``json`` report."""
    reason: str | None
    """Why it was skipped."""


def read_plan(result: Any) -> list[Planned]:
    """The answer of ``mcp.suite.plan``."""
    tests = closed(result, {"tests": list})["tests"]
    fields = {"id": str, "lane": str, "name": str, "line": int}
    return [Planned(**closed(test, fields, optional=("skip",))) for test in tests]


def read_outcome(result: Any) -> Outcome:
    """The answer of ``mcp.suite.run``: the object of the ``json`` report, which may gain fields."""
    if not isinstance(result, dict):
        raise _Drift("no object")
    unknown({str(result.get("status")): None}, STATUSES)
    of_type("failures", result.get("failures"), list)
    return Outcome(result["status"], result.get("text") or "", result["failures"], result.get("reason"))
