"""The coprocess protocol: one request line, one answer line, strictly in turn, after a handshake.

::

    {"jsonrpc":"2.0","id":1,"method":"coprocess/handshake","params":{"protocol_version":2,"sdk":"python","sdk_version":"0.1.0"}}
    {"jsonrpc":"2.0","id":1,"result":{"protocol_version":2,"binary_version":"0.1.0"}}
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._answer import closed, read
from ._errors import BinaryNotFound, ContractDrift, Deadline, Ended, McptestError, ProtocolMismatch, RpcError
from ._errors import SessionClosed, Unended, _Drift
from ._process import LINE_LIMIT, Process, TooLong

__tracebackhide__ = True  # pytest shows the line of the test, and not ours.

COPROCESS_PROTOCOL_VERSION = 2
"""The version of the coprocess protocol that this SDK speaks."""
SDK_VERSION = "0.1.0"
"""The version of this package."""

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HANDSHAKE = "coprocess/handshake"

T = TypeVar("T")


class Coprocess:
    """A binary that serves this process."""

    def __init__(
        self,
        argv: list[str],
        limit: float,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        if cwd is not None and not os.path.isdir(cwd):
            raise BinaryNotFound(f"cannot start the mcptest binary: there is no folder `{os.fspath(cwd)}`")
        try:
            self.process = Process(argv, cwd, env or {})
        except OSError as error:
            raise BinaryNotFound(f"cannot start the mcptest binary `{argv[0]}`: {error.strerror}") from None
        # One call at a time: the protocol is one line in, one line out.
        self._turn = threading.Lock()
        self._next = 1
        self._over: str | None = None
        self._asking = False
        self.binary_version = ""
        try:
            self._handshake(limit)
        except McptestError:
            self.end("the handshake failed")
            raise

    def request(self, method: str, params: Any, limit: float, reader: Callable[[Any], T]) -> T:
        """The result of one request as ``reader`` reads it, within ``limit`` seconds."""
        with self._turn:
            answer = self._exchange(method, params, limit)
            if "error" in answer:
                error = answer["error"]
                raise RpcError(method, error["code"], error["message"], error.get("data"))
            try:
                return reader(answer["result"])
            except _Drift as drift:
                raise self._drift(method, drift) from None

    def is_free(self) -> bool:
        """Whether a request would be answered: the session goes on, and no call is under way."""
        return self._over is None and not self._turn.locked()

    def end(self, why: str) -> str:
        """Ends the session and the binary."""
        self._over = self._over or why
        return self.process.stop(asking=self._asking)[0]

    def end_in_order(self, why: str, limit: float) -> None:
        """Ends a session that was asked to end; what its suites still have to take down has as long as a call.

        :raises Unended: when it takes longer, and the binary was stopped
        """
        self._over = self._over or why
        if self.process.stop(asking=False, patience=limit)[1]:
            raise Unended(limit, self.process.stderr())

    def _drift(self, method: str, drift: _Drift) -> ContractDrift:
        self.end("the answer to an earlier call broke the coprocess contract")
        return ContractDrift(method, str(drift), self.process.stderr())

    def _handshake(self, limit: float) -> None:
        params = {"protocol_version": COPROCESS_PROTOCOL_VERSION, "sdk": "python", "sdk_version": SDK_VERSION}
        try:
            greeting = self.request(
                HANDSHAKE, params, limit, lambda it: closed(it, {"protocol_version": int, "binary_version": str})
            )
        except RpcError as error:
            if error.code == METHOD_NOT_FOUND:
                # The first version had no handshake.
                raise ProtocolMismatch(_mismatch(1)) from None
            if error.code == INVALID_PARAMS:
                raise ProtocolMismatch(error.message) from None
            raise
        self.binary_version = greeting["binary_version"]
        if greeting["protocol_version"] != COPROCESS_PROTOCOL_VERSION:
            raise ProtocolMismatch(_mismatch(greeting["protocol_version"]))

    def _exchange(self, method: str, params: Any, limit: float) -> dict[str, Any]:
        if self._over is not None:
            raise SessionClosed(method, self._over)
        id = self._next
        self._next += 1
        request = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            request["params"] = params
        text = json.dumps(request, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        try:
            self._asking = True
            self.process.send(text)
            line = self.process.receive(limit)
            self._asking = False
        except TimeoutError:
            self.end("the mcptest binary was stopped: an earlier call took too long")
            raise Deadline(method, limit, self.process.stderr()) from None
        except BaseException:
            # Ctrl-C, or the time limit of a test: the answer would be taken for that of the next call.
            self._over = self._over or "an earlier call was interrupted"
            self.process.hang_up(asking=True)
            raise
        if line is None and self._over is not None:
            raise SessionClosed(method, self._over)
        if line is None:
            how = self.end("the mcptest binary ended in an earlier call")
            raise Ended(method, how, self.process.stderr())
        try:
            if isinstance(line, type):
                assert line is TooLong
                raise _Drift(f"a line of more than {LINE_LIMIT >> 20} MiB")
            return read(line, id)
        except _Drift as drift:
            raise self._drift(method, drift) from None


def _mismatch(theirs: int) -> str:
    """Both versions, and which side to upgrade."""
    if theirs < COPROCESS_PROTOCOL_VERSION:
        advice = "Upgrade the mcptest binary (or pin the SDK to the matching release)."
    else:
        advice = "Upgrade the SDK (or pin the mcptest binary to the matching release)."
    return f"mcptest binary speaks coprocess v{theirs}; this SDK needs v{COPROCESS_PROTOCOL_VERSION}. {advice}"
