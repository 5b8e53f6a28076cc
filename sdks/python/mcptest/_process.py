"""The binary as a process: lines in, lines out, the end of its stderr, and an end that is bounded in time.

Three threads move the bytes, so that a binary that neither reads nor writes blocks a call no longer than its deadline.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import weakref
from collections.abc import Mapping
from typing import IO

LINE_LIMIT = 256 << 20
"""The longest line that is read: a message of a server has 64 MiB at most, and an answer may hold it more than once."""
GRACE = 6.0
"""How long a binary that was told to end by a signal has for it: it stops the server first, which takes up to two stages of 2 s."""
KEPT = 8 << 10
"""How much of stderr is kept."""


class TooLong:
    """More than ``LINE_LIMIT`` bytes without an end."""


class Process:
    """A running binary."""

    def __init__(self, argv: list[str], cwd: str | os.PathLike[str] | None, env: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self._child = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env={**os.environ, **env})
        self._input: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._output: queue.SimpleQueue[bytes | type[TooLong] | None] = queue.SimpleQueue()
        self._stderr = bytearray()
        assert self._child.stdin and self._child.stdout and self._child.stderr
        _thread(_write_lines, self._child.stdin, self._input)
        _thread(_read_lines, self._child.stdout, self._output)
        self._stderr_thread = _thread(_keep_end, self._child.stderr, self._stderr)
        # A session that nobody holds any more is over.
        weakref.finalize(self, self._input.put, None)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._child.pid

    def send(self, line: bytes) -> None:
        """Hands a line to the thread that writes; a binary that does not read is noticed by the answer's deadline."""
        self._input.put(line)

    def receive(self, limit: float) -> bytes | type[TooLong] | None:
        """The next line, or None at the end of stdout.

        :raises TimeoutError: when nothing comes in time
        """
        try:
            return self._output.get(timeout=min(limit, threading.TIMEOUT_MAX))
        except queue.Empty:
            raise TimeoutError from None

    def hang_up(self, *, asking: bool) -> None:
        """Closes stdin, which tells the binary to stop the server and to end.

        What it was asked before that, it answers first; one whose answer nobody awaits any more is told by a signal.
        """
        self._input.put(None)
        if asking:
            self._child.terminate()

    def stop(self, *, asking: bool, patience: float = 0.0) -> tuple[str, bool]:
        """Hangs up and awaits the end of the binary; says how it ended, and whether it had to be told twice.

        One that was asked to end has ``patience`` seconds for what suites still have to take down. After that, or without, it
        is told by a signal, and killed when that does not help either.
        """
        self.hang_up(asking=asking)
        late = False
        if patience:
            status = self._wait(patience)
            late = status is None
            if late:
                self._child.terminate()
        status = self._wait(GRACE)
        if status is None:
            self._child.kill()
            status = self._child.wait()
        return f"signal {-status}" if status < 0 else f"exit code {status}", late

    def _wait(self, limit: float) -> int | None:
        try:
            return self._child.wait(min(limit, threading.TIMEOUT_MAX))
        except subprocess.TimeoutExpired:
            return None

    def stderr(self) -> str:
        """The end of its stderr; complete once the process has ended."""
        # A server that inherited the pipe may hold it open.
        self._stderr_thread.join(0.2)
        return self._stderr.decode(errors="replace")


def _thread(target: object, *args: object) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, daemon=True, name="mcptest")  # type: ignore[arg-type]
    thread.start()
    return thread


def _write_lines(pipe: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    try:
        with pipe:
            while (line := lines.get()) is not None:
                pipe.write(line)
                pipe.flush()
    except OSError:
        pass  # The binary is gone; its stdout ends, too.


def _read_lines(pipe: IO[bytes], lines: queue.SimpleQueue[bytes | type[TooLong] | None]) -> None:
    with pipe:
        while line := pipe.readline(LINE_LIMIT + 1):
            if line.endswith(b"\n"):
                lines.put(line)
                continue
            # What has no end when the binary ends is no line.
            if len(line) > LINE_LIMIT:
                lines.put(TooLong)
            break
    lines.put(None)


def _keep_end(pipe: IO[bytes], kept: bytearray) -> None:
    with pipe:
        while chunk := os.read(pipe.fileno(), 4096):
            kept += chunk
            del kept[:-KEPT]
