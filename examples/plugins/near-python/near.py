#!/usr/bin/env python3
"""`$near: [3.14, 0.01]`: a number, or a text that is one, no further than the tolerance."""

import json
import sys


def judge(params):
    try:
        to, tolerance = (float(number) for number in params["expected"])
    except (KeyError, TypeError, ValueError):
        raise LookupError("the argument is a number and a tolerance") from None
    actual = params["actual"]
    try:
        distance = abs(float(actual) - to)
    except (TypeError, ValueError):
        return {"pass": False, "message": "not a number"}
    if distance <= tolerance:
        return True
    return {"pass": False, "message": f"too far away: {distance:g}, and {tolerance:g} is allowed", "expected": to}


for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request["id"]}
    if request["method"] != "near":
        reply["error"] = {"code": -32601, "message": "no such method"}
    else:
        try:
            reply["result"] = judge(request.get("params"))
        except LookupError as error:
            reply["error"] = {"code": -32602, "message": str(error)}
    print(json.dumps(reply), flush=True)
