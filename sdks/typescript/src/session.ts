/** A session with a server, or with a suite file, through the binary. */

import { statSync } from "node:fs";
import { closed, isObject, type Json, type Kind } from "./answer.js";
import { find } from "./binary.js";
import { Coprocess } from "./coprocess.js";
import { BinaryNotFound, blamed, Drift } from "./errors.js";
import { type Outcome, type Planned, readOutcome, readPlan } from "./suite.js";
import { readVerdict, type Verdict } from "./verdict.js";

/** How long a call may take. */
const CALL_MS = 60_000;
/** How long a test of a suite may take: its steps have time limits of their own, in the engine. */
const TEST_MS = 600_000;

/** How to start a session. */
export interface SessionOptions {
  /** The server under test: a command, split as a POSIX shell would, or a list of words. */
  serverCommand?: string | string[];
  /** Or its address. */
  serverUrl?: string;
  /** The binary, instead of `MCPTEST_BIN` or the one on PATH. */
  binary?: string;
  /** The folder to run in, where the config is looked up; default: the working directory. */
  cwd?: string;
  /** Variables for the binary and the server, beside this process's. */
  env?: NodeJS.ProcessEnv;
  /** Milliseconds that each call may take; default: 60 s, and 10 minutes for a test of a suite. */
  timeout?: number;
}

/** A running binary; it and the server end with {@link Session.close}, or with this process. */
export class Session {
  readonly #coprocess: Coprocess;
  readonly #timeout: number | undefined;
  #closed = false;

  private constructor(coprocess: Coprocess, timeout: number | undefined) {
    this.#coprocess = coprocess;
    this.#timeout = timeout;
  }

  /** Starts the binary and shakes hands; a text or a list is the server's command. */
  static async open(options: string | string[] | SessionOptions = {}): Promise<Session> {
    const here = new Error();
    return Session.#open(options).catch((error) => {
      throw blamed(error, here);
    });
  }

  static async #open(options: string | string[] | SessionOptions): Promise<Session> {
    const given = typeof options === "string" || Array.isArray(options) ? { serverCommand: options } : options;
    const { serverCommand, serverUrl, binary, cwd, env, timeout }: SessionOptions = given;
    if (timeout !== undefined && !(timeout > 0)) {
      throw new RangeError(`\`timeout\` is a number of milliseconds above 0, and not ${timeout}`);
    }
    if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
      throw new BinaryNotFound(`cannot start the mcptest binary: there is no folder \`${cwd}\``);
    }
    const args = ["exec", "--connection-server"];
    if (serverCommand !== undefined) args.push("--server-command", commandLine(serverCommand));
    if (serverUrl !== undefined) args.push("--server-url", serverUrl);
    const limitMs = timeout ?? CALL_MS;
    const start = { command: find(binary), args, cwd, env: { ...process.env, ...env }, limitMs };
    return new Session(await Coprocess.start(start), timeout);
  }

  /** The version of the binary. */
  get binaryVersion(): string {
    return this.#coprocess.binaryVersion;
  }

  /** The process id of the binary. */
  get pid(): number | undefined {
    return this.#coprocess.pid;
  }

  /** The end of what the binary wrote to stderr, such as warnings about a suite; complete after {@link Session.close}. */
  stderr(): Promise<string> {
    return this.#coprocess.stderr();
  }

  /** Starts the server, if no other call did, and returns its `initialize` result. */
  initialize(): Promise<any> {
    return this.#object("mcp.initialize");
  }

  /** Calls a tool. */
  call(tool: string, args: Record<string, any> = {}): Promise<Verdict> {
    return this.#request("mcp.call", { tool, arguments: args }, readVerdict);
  }

  /** Every tool of the server, of every page. */
  async listTools(): Promise<any[]> {
    return (await this.#shape("mcp.listTools", undefined, { tools: "array" }))["tools"] as any[];
  }

  /** Every resource and template of the server. */
  listResources(): Promise<{ resources: any[]; resourceTemplates: any[] }> {
    return this.#object("mcp.listResources");
  }

  /** A resource, as the server sends it. */
  readResource(uri: string): Promise<any> {
    return this.#object("mcp.readResource", { uri });
  }

  /** A prompt, as the server sends it. */
  callPrompt(prompt: string, args: Record<string, string> = {}): Promise<any> {
    return this.#object("mcp.callPrompt", { prompt, arguments: args });
  }

  /** Records to a cassette, replays one, or neither. */
  async cassette(mode: "record" | "replay" | "off", path?: string): Promise<void> {
    await this.#shape("mcp.cassette.set_mode", path === undefined ? { mode } : { mode, path }, { mode: "string" });
  }

  /** Caches the results of calls that the server marks read-only. */
  async cache(mode: "read" | "write" | "readwrite" | "off"): Promise<void> {
    await this.#shape("mcp.cache.set_mode", { mode }, { mode: "string" });
  }

  /** Where {@link Session.flush} sends this session's events; the token is read from an environment variable. */
  uploadTo(url: string, tokenEnv?: string): Promise<void> {
    return this.#done("mcp.reporter.setUpload", tokenEnv === undefined ? { url } : { url, token_env: tokenEnv });
  }

  /** Sends this session's events; says how many, and where to. */
  async flush(): Promise<{ events: number; to: string }> {
    const flushed = await this.#shape("mcp.reporter.flush", undefined, { events: "integer", to: "string" });
    return flushed as { events: number; to: string };
  }

  /** Any other method of the coprocess protocol: its result as it is. */
  request(method: string, params?: Json): Promise<any> {
    return this.#request(method, params, (result) => result);
  }

  /** The tests of a suite file, lanes that cannot be driven included. */
  plan(suite: string): Promise<Planned[]> {
    return this.#request("mcp.suite.plan", { path: suite }, readPlan);
  }

  /** Runs a planned test. */
  runTest(id: string): Promise<Outcome> {
    return this.#coprocess.request("mcp.suite.run", { id }, this.#timeout ?? TEST_MS, readOutcome);
  }

  /** Stops the server and the binary, whatever is still being asked; what suites still have to take down has as long as a call. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const why = "the session was closed";
    try {
      if (this.#coprocess.isFree) {
        await this.#done("mcp.shutdown");
        await this.#coprocess.endInOrder(why, this.#timeout ?? CALL_MS);
      }
    } finally {
      await this.#coprocess.end(why);
    }
  }

  /** `await using session = await Session.open(…)` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #request<T>(method: string, params: Json | undefined, reader: (result: unknown) => T): Promise<T> {
    return this.#coprocess.request(method, params, this.#timeout ?? CALL_MS, reader);
  }

  #object(method: string, params?: Json): Promise<any> {
    return this.#request(method, params, (result) => {
      if (!isObject(result)) throw new Drift("the result is no object");
      return result;
    });
  }

  #shape(method: string, params: Json | undefined, fields: Record<string, Kind>): Promise<Json> {
    return this.#request(method, params, (result) => closed(result, fields));
  }

  #done(method: string, params?: Json): Promise<void> {
    return this.#request(method, params, (result) => {
      if (closed(result, { ok: "boolean" })["ok"] !== true) throw new Drift("`ok` is false");
    });
  }
}

/** Words as a POSIX shell reads them back. */
function commandLine(command: string | string[]): string {
  const quoted = (word: string) => (/^[\w\-./:=@%+,]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
  return typeof command === "string" ? command : command.map(quoted).join(" ");
}
