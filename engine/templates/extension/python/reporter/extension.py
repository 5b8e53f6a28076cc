"""One line per test, and the count at the end."""

import json

from wit_world import exports
from wit_world.imports.types import Manifest, Output

tests = 0


class Describing(exports.Describing):
    def describe(self) -> Manifest:
        return Manifest("{{name}}", "0.1.0", [], [])


class Reporting(exports.Reporting):
    def observe(self, event: str) -> list[Output]:
        global tests
        match json.loads(event):
            case {"type": "test-finished", "data": {"test": {"name": name}, "status": status}}:
                tests += 1
                return [Output(None, f"{name}: {status}\n")]
        return []

    def finish(self) -> list[Output]:
        return [Output(None, f"{tests} tests\n")]
