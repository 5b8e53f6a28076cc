/**
 * Suite files as tests of the framework that runs this file, node:test or vitest:
 *
 * ```js
 * import { collect } from "@mcptest/sdk";
 * await collect("demo.test.mcp.yml");
 * ```
 */
import { relative, resolve } from "node:path";
import { nativeName } from "./lanes.js";
import { Session } from "./session.js";
import { blamed, McptestError, RpcError } from "./errors.js";
/** What a framework would do after its own time limit, this SDK does after one that it can explain. */
const NO_LIMIT = 2 ** 31 - 1;
/**
 * Registers the tests of a suite file, one by one; await it at the top of a test file.
 *
 * A file that cannot be planned is an error here, before any test.
 */
export async function collect(file, options = {}) {
    const folder = options.cwd ?? process.cwd();
    const path = resolve(folder, file);
    const session = await Session.open(options);
    const framework = await running();
    try {
        for (const test of await session.plan(relative(folder, path))) {
            framework.test(nativeName(test), (context) => run(session, test, path, context));
        }
    }
    catch (error) {
        await session.close().catch(() => { });
        // What the engine says of a suite speaks for itself.
        throw error instanceof RpcError ? blamed(new McptestError(error.reason), error) : error;
    }
    framework.after(async () => {
        await session.close();
        const said = (await session.stderr()).trim();
        if (said !== "")
            process.stderr.write(`mcptest says of ${file}:\n${said}\n`);
    });
}
async function run(session, test, path, context) {
    if (test.skip !== undefined)
        return context.skip(test.skip);
    const outcome = await session.runTest(test.id);
    if (outcome.status === "skipped")
        return context.skip(outcome.reason ?? "");
    if (outcome.status !== "passed")
        throw failure(test, outcome, path);
}
/** The engine's message, with the place in the suite as the only frame, so that frameworks and editors lead there. */
function failure(test, outcome, path) {
    const at = outcome.failures[0]?.["at"];
    const error = new Error(outcome.text);
    error.name = "SuiteFailed";
    const { line, column } = at ?? { line: test.line, column: 1 };
    error.stack = `SuiteFailed: ${outcome.text}\n    at ${nativeName(test)} (${path}:${line}:${column})`;
    return error;
}
/** The framework that runs this file. */
async function running() {
    if (process.env["VITEST"] === undefined) {
        const { test, after } = await import("node:test");
        return { test: (name, body) => void test(name, (context) => body(context)), after };
    }
    // No dependency: vitest is there when it runs this.
    const name = "vitest";
    const { test, afterAll } = await import(/* @vite-ignore */ name);
    return { test: (name, body) => test(name, body, NO_LIMIT), after: (body) => afterAll(body, NO_LIMIT) };
}
