"""Skips every test whose name starts with `slow`."""

import json

from wit_world import exports
from wit_world.imports.types import Manifest


class Describing(exports.Describing):
    def describe(self) -> Manifest:
        return Manifest("{{name}}", "0.1.0", [], [])


class Transforming(exports.Transforming):
    def transform(self, suite: str) -> str:
        whole = json.loads(suite)
        for lane in (value for value in whole.values() if isinstance(value, list)):
            for test in lane:
                if test.get("it", "").startswith("slow"):
                    test["skip"] = "it is slow"
        return json.dumps(whole)
