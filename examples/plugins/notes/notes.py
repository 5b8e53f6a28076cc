#!/usr/bin/env python3
"""A reporter with a handshake: one line for each test, and how many there were."""

import json
import sys

MANIFEST = {
    "plugin_id": "notes",
    "plugin_version": "1.0.0",
    "protocol_version": 1,
    "exposed_tools": ["report.observe", "report.finish"],
}
seen = 0


def execute(tool, arguments):
    global seen
    if tool == "report.observe":
        event = arguments["event"]
        if event["type"] != "test-finished":
            return None
        seen += 1
        return [{"text": f"{event['data']['test']['name']}: {event['data']['status']}\n"}]
    if tool == "report.finish":
        return [{"text": f"{seen} tests\n"}]
    raise NotImplementedError(f"no tool {tool}")


for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request["id"]}
    params = request.get("params")
    if request["method"] == "handshake":
        reply["result"] = {"manifest": MANIFEST}
    elif request["method"] != "execute":
        reply["error"] = {"code": -32601, "message": "no such method"}
    else:
        try:
            reply["result"] = execute(params["tool"], params["arguments"])
        except NotImplementedError as error:
            reply["error"] = {"code": -32601, "message": str(error)}
        except (KeyError, TypeError) as error:
            reply["error"] = {"code": -32602, "message": f"it lacks {error}"}
    print(json.dumps(reply), flush=True)
