"""`${{name}}: [3, 0.5]`: a number is at most 0.5 away from 3."""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports.types import (
    Failure_InvalidArgument,
    Failure_UnknownMatcher,
    Manifest,
    MatcherInfo,
    MatchRequest,
    Mismatch,
    Verdict,
    Verdict_Fail,
    Verdict_Pass,
)


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def prepare(matcher: str, expected: str) -> tuple[float, float]:
    if matcher != "{{name}}":
        raise Err(Failure_UnknownMatcher(matcher))
    match json.loads(expected):
        case [to, tolerance] if is_number(to) and is_number(tolerance) and tolerance >= 0:
            return to, tolerance
    raise Err(Failure_InvalidArgument("expected `[number, tolerance]`"))


def fail(message: str) -> Verdict:
    return Verdict_Fail(Mismatch(message, None, None, None))


class Describing(exports.Describing):
    def describe(self) -> Manifest:
        return Manifest("{{name}}", "0.1.0", [MatcherInfo("{{name}}", "a number is near another", None)], [])


class Matching(exports.Matching):
    def check(self, matcher: str, expected: str) -> None:
        prepare(matcher, expected)

    def evaluate(self, request: MatchRequest) -> Verdict:
        to, tolerance = prepare(request.matcher, request.expected)
        actual = json.loads(request.actual)
        if not is_number(actual):
            return fail("expected a number")
        return Verdict_Pass() if abs(actual - to) <= tolerance else fail("the number is too far away")
