/** A session with a server, or with a suite file, through the binary. */
import { type Json } from "./answer.js";
import { type Outcome, type Planned } from "./suite.js";
import { type Verdict } from "./verdict.js";
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
export declare class Session {
    #private;
    private constructor();
    /** Starts the binary and shakes hands; a text or a list is the server's command. */
    static open(options?: string | string[] | SessionOptions): Promise<Session>;
    /** The version of the binary. */
    get binaryVersion(): string;
    /** The process id of the binary. */
    get pid(): number | undefined;
    /** The end of what the binary wrote to stderr, such as warnings about a suite; complete after {@link Session.close}. */
    stderr(): Promise<string>;
    /** Starts the server, if no other call did, and returns its `initialize` result. */
    initialize(): Promise<any>;
    /** Calls a tool. */
    call(tool: string, args?: Record<string, any>): Promise<Verdict>;
    /** Every tool of the server, of every page. */
    listTools(): Promise<any[]>;
    /** Every resource and template of the server. */
    listResources(): Promise<{
        resources: any[];
        resourceTemplates: any[];
    }>;
    /** A resource, as the server sends it. */
    readResource(uri: string): Promise<any>;
    /** A prompt, as the server sends it. */
    callPrompt(prompt: string, args?: Record<string, string>): Promise<any>;
    /** Records to a cassette, replays one, or neither. */
    cassette(mode: "record" | "replay" | "off", path?: string): Promise<void>;
    /** Caches the results of calls that the server marks read-only. */
    cache(mode: "read" | "write" | "readwrite" | "off"): Promise<void>;
    /** Where {@link Session.flush} sends this session's events; the token is read from an environment variable. */
    uploadTo(url: string, tokenEnv?: string): Promise<void>;
    /** Sends this session's events; says how many, and where to. */
    flush(): Promise<{
        events: number;
        to: string;
    }>;
    /** Any other method of the coprocess protocol: its result as it is. */
    request(method: string, params?: Json): Promise<any>;
    /** The tests of a suite file, lanes that cannot be driven included. */
    plan(suite: string): Promise<Planned[]>;
    /** Runs a planned test. */
    runTest(id: string): Promise<Outcome>;
    /** Stops the server and the binary, whatever is still being asked; what suites still have to take down has as long as a call. */
    close(): Promise<void>;
    /** `await using session = await Session.open(…)` closes it at the end of the block. */
    [Symbol.asyncDispose](): Promise<void>;
}
