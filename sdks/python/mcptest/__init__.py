"""MCP tests in Python.

The package starts the ``mcptest`` binary as a coprocess and speaks its protocol; parsing, matching and judging stay in the
engine::

    from mcptest import Session

    with Session("mcptest demo-server") as mcp:
        assert mcp.call("add", {"a": 2, "b": 40}).data == {"sum": 42}

With pytest, ``*.test.mcp.yml`` files are collected as tests, and the ``mcp_server`` fixture is such a session.
"""

from ._collect import UNSUPPORTED_LANES, Outcome, Planned, lane_cli_hint
from ._coprocess import COPROCESS_PROTOCOL_VERSION, SDK_VERSION
from ._errors import (
    BinaryNotFound,
    ContractDrift,
    Deadline,
    Ended,
    McptestError,
    ProtocolMismatch,
    RpcError,
    SessionClosed,
    Unended,
)
from ._session import Session
from ._verdict import Verdict

__version__ = SDK_VERSION

__all__ = [
    "COPROCESS_PROTOCOL_VERSION",
    "UNSUPPORTED_LANES",
    "BinaryNotFound",
    "ContractDrift",
    "Deadline",
    "Ended",
    "McptestError",
    "Outcome",
    "Planned",
    "ProtocolMismatch",
    "RpcError",
    "Session",
    "SessionClosed",
    "Unended",
    "Verdict",
    "lane_cli_hint",
]
