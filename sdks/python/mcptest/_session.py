"""A session with a server, or with a suite file, through the binary."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

from . import _binary, _verdict
from ._answer import closed
from ._collect import Outcome, Planned, read_outcome, read_plan
from ._coprocess import Coprocess
from ._errors import McptestError, _Drift
from ._verdict import Verdict

__tracebackhide__ = True  # pytest shows the line of the test, and not ours.

CALL = 60.0
"""How many seconds a call may take."""
TEST = 600.0
"""How many seconds a test of a suite may take: its steps have time limits of their own, in the engine."""


class Session:
    """A running binary; it and the server end with :meth:`close`, with the ``with`` block, or with this process."""

    def __init__(
        self,
        server_command: str | Sequence[str] | None = None,
        *,
        server_url: str | None = None,
        binary: str | os.PathLike[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Starts the binary and shakes hands.

        :param server_command: the server under test: a command, split as a POSIX shell would, or a list of words
        :param server_url: or its address
        :param binary: the binary, instead of ``MCPTEST_BIN`` or the one on PATH
        :param cwd: the folder to run in, where the config is looked up
        :param env: variables for the binary and the server, beside this process's
        :param timeout: seconds that each call may take; default: 60, and 600 for a test of a suite
        """
        if timeout is not None and not timeout > 0:
            raise ValueError(f"`timeout` is a number of seconds above 0, and not {timeout}")
        argv = [_binary.find(binary), "exec", "--connection-server"]
        if server_command is not None:
            words = server_command if isinstance(server_command, str) else shlex.join(server_command)
            argv += ["--server-command", words]
        if server_url is not None:
            argv += ["--server-url", server_url]
        self._timeout = timeout
        self._closed = False
        self._coprocess = Coprocess(argv, timeout or CALL, cwd, env)

    @property
    def binary_version(self) -> str:
        """The version of the binary."""
        return self._coprocess.binary_version

    @property
    def stderr(self) -> str:
        """The end of what the binary wrote to stderr, such as warnings about a suite; complete after :meth:`close`."""
        return self._coprocess.process.stderr()

    def initialize(self) -> dict[str, Any]:
        """Starts the server, if no other call did, and returns its ``initialize`` result."""
        return self._object("mcp.initialize")

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Verdict:
        """Calls a tool."""
        params = {"tool": tool, "arguments": arguments or {}}
        return self._coprocess.request("mcp.call", params, self._timeout or CALL, _verdict.read)

    def list_tools(self) -> list[dict[str, Any]]:
        """Every tool of the server, of every page."""
        return self._closed_shape("mcp.listTools", None, {"tools": list})["tools"]  # type: ignore[no-any-return]

    def list_resources(self) -> dict[str, Any]:
        """Every resource and template of the server: ``{"resources": […], "resourceTemplates": […]}``."""
        return self._object("mcp.listResources")

    def read_resource(self, uri: str) -> dict[str, Any]:
        """A resource, as the server sends it."""
        return self._object("mcp.readResource", {"uri": uri})

    def call_prompt(self, prompt: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        """A prompt, as the server sends it."""
        return self._object("mcp.callPrompt", {"prompt": prompt, "arguments": arguments or {}})

    def cassette(self, mode: Literal["record", "replay", "off"], path: str | os.PathLike[str] | None = None) -> None:
        """Records to a cassette, replays one, or neither."""
        params = {"mode": mode} if path is None else {"mode": mode, "path": os.fspath(path)}
        self._closed_shape("mcp.cassette.set_mode", params, {"mode": str})

    def cache(self, mode: Literal["read", "write", "readwrite", "off"]) -> None:
        """Caches the results of calls that the server marks read-only."""
        self._closed_shape("mcp.cache.set_mode", {"mode": mode}, {"mode": str})

    def upload_to(self, url: str, token_env: str | None = None) -> None:
        """Where :meth:`flush` sends this session's events; the token is read from an environment variable."""
        params = {"url": url} if token_env is None else {"url": url, "token_env": token_env}
        self._done("mcp.reporter.setUpload", params)

    def flush(self) -> tuple[int, str]:
        """Sends this session's events; says how many, and where to."""
        flushed = self._closed_shape("mcp.reporter.flush", None, {"events": int, "to": str})
        return flushed["events"], flushed["to"]

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Any other method of the coprocess protocol: its result as it is."""
        return self._coprocess.request(method, params, self._timeout or CALL, lambda result: result)

    def plan(self, suite: str | os.PathLike[str]) -> list[Planned]:
        """The tests of a suite file, lanes that cannot be driven included."""
        params = {"path": os.fspath(suite)}
        return self._coprocess.request("mcp.suite.plan", params, self._timeout or CALL, read_plan)

    def run_test(self, id: str) -> Outcome:
        """Runs a planned test."""
        return self._coprocess.request("mcp.suite.run", {"id": id}, self._timeout or TEST, read_outcome)

    def close(self) -> None:
        """Stops the server and the binary; a call that is under way in another thread, too.

        What suites still have to take down has as long as a call.
        """
        if self._closed:
            return
        self._closed = True
        why = "the session was closed"
        try:
            if self._coprocess.is_free():
                self._done("mcp.shutdown", None)
                self._coprocess.end_in_order(why, self._timeout or CALL)
        finally:
            self._coprocess.end(why)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except McptestError:
            # The error that is on its way says more than that the binary is gone.
            if error is None:
                raise

    def _object(self, method: str, params: Any = None) -> dict[str, Any]:
        return self._coprocess.request(method, params, self._timeout or CALL, _object)

    def _closed_shape(self, method: str, params: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
        return self._coprocess.request(method, params, self._timeout or CALL, lambda result: closed(result, fields))

    def _done(self, method: str, params: Any) -> None:
        self._coprocess.request(method, params, self._timeout or CALL, _ok)


def _object(result: Any) -> dict[str, Any]:
    if not isinstance(result, dict):
        raise _Drift("the result is no object")
    return result


def _ok(result: Any) -> None:
    if not closed(result, {"ok": bool})["ok"]:
        raise _Drift("`ok` is false")
