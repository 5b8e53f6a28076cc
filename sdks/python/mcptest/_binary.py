"""Finding the ``mcptest`` binary: ``MCPTEST_BIN``, then PATH."""

from __future__ import annotations

import os
import shutil

from ._errors import BinaryNotFound

VARIABLE = "MCPTEST_BIN"


def find(given: str | os.PathLike[str] | None = None) -> str:
    """The binary to start, or an error that names both places.

    A relative path is taken against this process's folder, wherever the binary is started.
    """
    found = _named(given)
    return os.path.abspath(found) if os.path.dirname(found) else found


def _named(given: str | os.PathLike[str] | None) -> str:
    if given is not None:
        return os.fspath(given)
    named = os.environ.get(VARIABLE)
    if named:
        if os.path.isfile(named) and os.access(named, os.X_OK):
            return named
        raise BinaryNotFound(
            f"cannot find the mcptest binary: `{VARIABLE}` is `{named}`, which is no program\n"
            f"hint: set {VARIABLE} to the binary, or unset it to take the `mcptest` on PATH"
        )
    found = shutil.which("mcptest")
    if found is None:
        raise BinaryNotFound(
            f"cannot find the mcptest binary: `{VARIABLE}` is not set, and PATH has no `mcptest`\n"
            f"hint: install mcptest, or set {VARIABLE} to the binary"
        )
    return found
