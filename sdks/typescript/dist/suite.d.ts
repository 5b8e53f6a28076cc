/**
 * What `mcp.suite.plan` and `mcp.suite.run` say: the tests of a suite file, and how one of them went.
 *
 * ```json
 * {"tests":[{"id":"demo.test.mcp.yml#tools/adds","lane":"tools","name":"adds","line":4}]}
 * ```
 */
import { type Json } from "./answer.js";
/** A test of a suite file. */
export interface Planned {
    /** What `Session.runTest` takes. */
    id: string;
    lane: string;
    /** Its `it`. */
    name: string;
    /** Where it stands in the file, from 1. */
    line: number;
    /** Why it will not run. */
    skip?: string;
}
/** How a test ended. */
export type Status = "passed" | "failed" | "faulted" | "skipped";
/** How a test went. */
export interface Outcome {
    status: Status;
    /** What was wrong, as `mcptest run` prints it. */
    text: string;
    /** What was wrong, as in the `json` report. */
    failures: Json[];
    /** Why it was skipped. */
    reason?: string;
}
/** The answer of `mcp.suite.plan`. */
export declare function readPlan(result: unknown): Planned[];
/** The answer of `mcp.suite.run`: the object of the `json` report, which may gain fields. */
export declare function readOutcome(result: unknown): Outcome;
