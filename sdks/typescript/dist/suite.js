/**
 * What `mcp.suite.plan` and `mcp.suite.run` say: the tests of a suite file, and how one of them went.
 *
 * ```json
 * {"tests":[{"id":"demo.test.mcp.yml#tools/adds","lane":"tools","name":"adds","line":4}]}
 * ```
 */
import { closed, isObject, ofKind } from "./answer.js";
import { Drift } from "./errors.js";
const STATUSES = ["passed", "failed", "faulted", "skipped"];
/** The answer of `mcp.suite.plan`. */
export function readPlan(result) {
    const tests = closed(result, { tests: "array" })["tests"];
    const fields = { id: "string", lane: "string", name: "string", line: "integer" };
    return tests.map((test) => closed(test, fields, ["skip"]));
}
/** The answer of `mcp.suite.run`: the object of the `json` report, which may gain fields. */
export function readOutcome(result) {
    if (!isObject(result))
        throw new Drift("no object");
    if (!STATUSES.includes(String(result["status"])))
        throw new Drift(`unknown status \`${String(result["status"])}\``);
    ofKind("failures", result["failures"], "array");
    const { status, text, failures, reason } = result;
    return { status, text: text ?? "", failures, ...(reason === undefined ? {} : { reason }) };
}
