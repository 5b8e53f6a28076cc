"""The verdict of ``mcp.call``.

::

    {"success": true, "data": null, "text": "sunny", "error": null, "duration_ms": 3}

A result that this shape would lose something of comes verbatim instead: ``{"content": […], "isError": false}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._answer import NUMBER, closed, of_type


@dataclass(frozen=True)
class Verdict:
    """What a tool call came to."""

    success: bool
    """Whether the tool did not report an error."""
    data: Any
    """The structured content, or None."""
    text: str
    """The text blocks, joined by newlines."""
    error: str | None
    """The text of a call that failed."""
    duration_ms: float | None
    """How long the call took; the binary does not tell it for a result that it forwards verbatim."""
    raw: dict[str, Any] | None = None
    """The server's whole result, when it holds more than text and structured content: images, audio, resources, links."""


def read(result: Any) -> Verdict:
    """Reads either shape."""
    if isinstance(result, dict) and "content" in result:
        return _verbatim(result)
    fields = {"success": bool, "data": None, "text": None, "error": None, "duration_ms": NUMBER}
    verdict = closed(result, fields)
    for name in ("text", "error"):
        if verdict[name] is not None:
            of_type(name, verdict[name], str)
    return Verdict(verdict["success"], verdict["data"], verdict["text"] or "", verdict["error"], verdict["duration_ms"])


def _verbatim(result: dict[str, Any]) -> Verdict:
    closed(result, {"content": list}, optional=("structuredContent", "isError", "_meta"))
    failed = result.get("isError", False)
    of_type("isError", failed, bool)
    blocks = [block for block in result["content"] if isinstance(block, dict) and block.get("type") == "text"]
    text = "\n".join(str(block.get("text", "")) for block in blocks)
    return Verdict(not failed, result.get("structuredContent"), text, text if failed else None, None, result)
