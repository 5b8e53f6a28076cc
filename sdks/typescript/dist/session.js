/** A session with a server, or with a suite file, through the binary. */
import { statSync } from "node:fs";
import { closed, isObject } from "./answer.js";
import { find } from "./binary.js";
import { Coprocess } from "./coprocess.js";
import { BinaryNotFound, blamed, Drift } from "./errors.js";
import { readOutcome, readPlan } from "./suite.js";
import { readVerdict } from "./verdict.js";
/** How long a call may take. */
const CALL_MS = 60_000;
/** How long a test of a suite may take: its steps have time limits of their own, in the engine. */
const TEST_MS = 600_000;
/** A running binary; it and the server end with {@link Session.close}, or with this process. */
export class Session {
    #coprocess;
    #timeout;
    #closed = false;
    constructor(coprocess, timeout) {
        this.#coprocess = coprocess;
        this.#timeout = timeout;
    }
    /** Starts the binary and shakes hands; a text or a list is the server's command. */
    static async open(options = {}) {
        const here = new Error();
        return Session.#open(options).catch((error) => {
            throw blamed(error, here);
        });
    }
    static async #open(options) {
        const given = typeof options === "string" || Array.isArray(options) ? { serverCommand: options } : options;
        const { serverCommand, serverUrl, binary, cwd, env, timeout } = given;
        if (timeout !== undefined && !(timeout > 0)) {
            throw new RangeError(`\`timeout\` is a number of milliseconds above 0, and not ${timeout}`);
        }
        if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
            throw new BinaryNotFound(`cannot start the mcptest binary: there is no folder \`${cwd}\``);
        }
        const args = ["exec", "--connection-server"];
        if (serverCommand !== undefined)
            args.push("--server-command", commandLine(serverCommand));
        if (serverUrl !== undefined)
            args.push("--server-url", serverUrl);
        const limitMs = timeout ?? CALL_MS;
        const start = { command: find(binary), args, cwd, env: { ...process.env, ...env }, limitMs };
        return new Session(await Coprocess.start(start), timeout);
    }
    /** The version of the binary. */
    get binaryVersion() {
        return this.#coprocess.binaryVersion;
    }
    /** The process id of the binary. */
    get pid() {
        return this.#coprocess.pid;
    }
    /** The end of what the binary wrote to stderr, such as warnings about a suite; complete after {@link Session.close}. */
    stderr() {
        return this.#coprocess.stderr();
    }
    /** Starts the server, if no other call did, and returns its `initialize` result. */
    initialize() {
        return this.#object("mcp.initialize");
    }
    /** Calls a tool. */
    call(tool, args = {}) {
        return this.#request("mcp.call", { tool, arguments: args }, readVerdict);
    }
    /** Every tool of the server, of every page. */
    async listTools() {
        return (await this.#shape("mcp.listTools", undefined, { tools: "array" }))["tools"];
    }
    /** Every resource and template of the server. */
    listResources() {
        return this.#object("mcp.listResources");
    }
    /** A resource, as the server sends it. */
    readResource(uri) {
        return this.#object("mcp.readResource", { uri });
    }
    /** A prompt, as the server sends it. */
    callPrompt(prompt, args = {}) {
        return this.#object("mcp.callPrompt", { prompt, arguments: args });
    }
    /** Records to a cassette, replays one, or neither. */
    async cassette(mode, path) {
        await this.#shape("mcp.cassette.set_mode", path === undefined ? { mode } : { mode, path }, { mode: "string" });
    }
    /** Caches the results of calls that the server marks read-only. */
    async cache(mode) {
        await this.#shape("mcp.cache.set_mode", { mode }, { mode: "string" });
    }
    /** Where {@link Session.flush} sends this session's events; the token is read from an environment variable. */
    uploadTo(url, tokenEnv) {
        return this.#done("mcp.reporter.setUpload", tokenEnv === undefined ? { url } : { url, token_env: tokenEnv });
    }
    /** Sends this session's events; says how many, and where to. */
    async flush() {
        const flushed = await this.#shape("mcp.reporter.flush", undefined, { events: "integer", to: "string" });
        return flushed;
    }
    /** Any other method of the coprocess protocol: its result as it is. */
    request(method, params) {
        return this.#request(method, params, (result) => result);
    }
    /** The tests of a suite file, lanes that cannot be driven included. */
    plan(suite) {
        return this.#request("mcp.suite.plan", { path: suite }, readPlan);
    }
    /** Runs a planned test. */
    runTest(id) {
        return this.#coprocess.request("mcp.suite.run", { id }, this.#timeout ?? TEST_MS, readOutcome);
    }
    /** Stops the server and the binary, whatever is still being asked; what suites still have to take down has as long as a call. */
    async close() {
        if (this.#closed)
            return;
        this.#closed = true;
        const why = "the session was closed";
        try {
            if (this.#coprocess.isFree) {
                await this.#done("mcp.shutdown");
                await this.#coprocess.endInOrder(why, this.#timeout ?? CALL_MS);
            }
        }
        finally {
            await this.#coprocess.end(why);
        }
    }
    /** `await using session = await Session.open(…)` closes it at the end of the block. */
    [Symbol.asyncDispose]() {
        return this.close();
    }
    #request(method, params, reader) {
        return this.#coprocess.request(method, params, this.#timeout ?? CALL_MS, reader);
    }
    #object(method, params) {
        return this.#request(method, params, (result) => {
            if (!isObject(result))
                throw new Drift("the result is no object");
            return result;
        });
    }
    #shape(method, params, fields) {
        return this.#request(method, params, (result) => closed(result, fields));
    }
    #done(method, params) {
        return this.#request(method, params, (result) => {
            if (closed(result, { ok: "boolean" })["ok"] !== true)
                throw new Drift("`ok` is false");
        });
    }
}
/** Words as a POSIX shell reads them back. */
function commandLine(command) {
    const quoted = (word) => (/^[\w\-./:=@%+,]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
    return typeof command === "string" ? command : command.map(quoted).join(" ");
}
