#!/usr/bin/env python3
"""The smallest useful plugin: two methods, `echo` and `ping`, over the subprocess protocol."""

import json
import sys


def answer(request):
    """The result of a method, or an error."""
    method = request.get("method")
    if method == "ping":
        return {"result": "pong"}
    if method == "echo":
        # As a matcher, `$echo: X` passes where the value is X, and shows both where it is not.
        params = request.get("params")
        if not isinstance(params, dict) or "expected" not in params or "actual" not in params:
            return {"error": {"code": -32602, "message": "`expected` and `actual` are needed"}}
        if params["expected"] == params["actual"]:
            return {"result": True}
        return {"result": {"pass": False, "message": f"got {json.dumps(params['actual'])}"}}
    return {"error": {"code": -32601, "message": f"no method {method}"}}


def main():
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except json.JSONDecodeError as error:
            reply = {"id": None, "error": {"code": -32700, "message": str(error)}}
        else:
            reply = {"id": request.get("id"), **answer(request)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
