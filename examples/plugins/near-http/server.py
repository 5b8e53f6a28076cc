"""`$near: [3.14, 0.01]` as a tool of an MCP service over HTTP, on the official Python SDK (`pip install mcp`, 2.0 or newer): `python3 server.py PORT`."""

import sys
from typing import Any

from mcp.server import MCPServer

port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
server = MCPServer("near", log_level="WARNING")


@server.tool()
def near(expected: list[float], actual: Any, path: str = "$", step: str = "") -> dict[str, Any]:
    """Judges whether a number is no further than the tolerance."""
    to, tolerance = expected
    try:
        distance = abs(float(actual) - to)
    except (TypeError, ValueError):
        return {"pass": False, "message": "not a number"}
    return {"pass": True} if distance <= tolerance else {"pass": False, "message": f"too far away: {distance:g}"}


if __name__ == "__main__":
    server.run(transport="streamable-http", port=port, json_response=True, stateless_http=True)
