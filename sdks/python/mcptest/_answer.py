"""Reading what the binary answers, strictly: every shape is closed, so a field that is not declared, or one that is
missing, is contract drift and never a default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._errors import _Drift

SHOWN = 200
NUMBER = (int, float)
_NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", int: "an integer", NUMBER: "a number"}


def read(line: bytes, id: int) -> dict[str, Any]:
    """One line as the answer to the request ``id``: an object with either ``result`` or ``error``."""
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    except RecursionError:
        raise _Drift("JSON that goes deeper than Python reads") from None
    if not isinstance(answer, dict):
        text = line[:SHOWN].decode(errors="replace").rstrip() + ("…" if len(line) > SHOWN else "")
        raise _Drift(f"no JSON object: `{text}`")
    if answer.get("jsonrpc") != "2.0":
        raise _Drift('`jsonrpc` is not "2.0"')
    if "id" not in answer:
        raise _Drift("`id` is missing")
    unknown(answer, ("jsonrpc", "id", "result", "error"))
    # A line that the binary could not read has no id that it could repeat.
    theirs = answer["id"]
    if theirs != id and not (theirs is None and "error" in answer):
        raise _Drift(f"`id` is {json.dumps(theirs)}, and {id} was asked")
    if ("result" in answer) == ("error" in answer):
        raise _Drift("both `result` and `error`" if "result" in answer else "neither `result` nor `error`")
    if "error" in answer:
        closed(answer["error"], {"code": int, "message": str}, optional=("data",))
    return answer


def closed(value: Any, fields: Mapping[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """``value`` as an object with exactly ``fields``, of their types (None: any), and perhaps ``optional`` ones."""
    if not isinstance(value, dict):
        raise _Drift(f"{json.dumps(value)[:SHOWN]} is no object")
    unknown(value, (*fields, *optional))
    for name, kind in fields.items():
        if name not in value:
            raise _Drift(f"missing field `{name}`")
        if kind is not None:
            of_type(name, value[name], kind)
    return value


def of_type(name: str, value: Any, kind: Any) -> None:
    """Refuses a value of another type; a boolean is no number."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _Drift(f"`{name}` is {json.dumps(value)[:SHOWN]}, and not {_NAMES[kind]}")


def unknown(value: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuses a field that is not declared."""
    for name in value:
        if name not in known:
            raise _Drift(f"unknown field `{name}`")
