"""What can go wrong between a test and the ``mcptest`` binary. A failed check is none of these: it is a verdict."""

from __future__ import annotations

from typing import Any


class McptestError(Exception):
    """Why a call has no answer."""


class BinaryNotFound(McptestError):
    """There is no binary to start."""


class ProtocolMismatch(McptestError):
    """The binary speaks another version of the coprocess protocol."""


class SessionClosed(McptestError):
    """The session was closed, or broke in an earlier call."""

    def __init__(self, method: str, why: str) -> None:
        super().__init__(f"cannot call `{method}`: {why}")


class ContractDrift(McptestError):
    """The binary's answer is not what the protocol says."""

    def __init__(self, method: str, problem: str, stderr: str) -> None:
        super().__init__(
            f"the answer to `{method}` breaks the coprocess contract: {problem}"
            "\nhint: install releases of the mcptest binary and of this SDK that belong together" + _tail(stderr)
        )


class Ended(McptestError):
    """The binary is gone."""

    def __init__(self, method: str, how: str, stderr: str) -> None:
        super().__init__(f"the mcptest binary ended with {how} before it answered `{method}`" + _tail(stderr))


class Deadline(McptestError):
    """The binary did not answer in time, and was stopped."""

    def __init__(self, method: str, limit: float, stderr: str) -> None:
        super().__init__(
            f"the mcptest binary did not answer `{method}` within {limit:g} s, and was stopped" + _tail(stderr)
        )


class Unended(McptestError):
    """The binary did not end in time when the session was closed, and was stopped: `after` may lack a step."""

    def __init__(self, limit: float, stderr: str) -> None:
        super().__init__(
            f"the mcptest binary did not end within {limit:g} s of the end of its session, and was stopped" + _tail(stderr)
        )


class RpcError(McptestError):
    """The binary answered with an error, for example -32000 for an error of the server under test."""

    def __init__(self, method: str, code: int, message: str, data: Any) -> None:
        super().__init__(f"`{method}` failed with {code}: {message}")
        self.method = method
        self.code = code
        self.message = message
        self.data = data


class _Drift(Exception):
    """What is wrong with an answer; the session makes a :class:`ContractDrift` of it."""


def _tail(stderr: str) -> str:
    lines = stderr.rstrip().splitlines()
    return "".join(["\nstderr of mcptest:", *(f"\n  {line}" for line in lines)]) if lines else ""
