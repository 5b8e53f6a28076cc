/**
 * The binary as a process: lines in, lines out, the end of its stderr, and an end that is bounded in time.
 *
 * Nothing here keeps Node alive by itself: a test file that forgets to close its session still ends, and the binary with it.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
/** The longest line that is read: a message of a server has 64 MiB at most, and an answer may hold it more than once. */
export const LINE_LIMIT = 256 << 20;
/** How long a binary that was told to end by a signal has for it: it stops the server first, which takes up to two stages of 2 s. */
const GRACE_MS = 6000;
/** How much of stderr is kept. */
const KEPT = 8 << 10;
/** The longest time that a timer can be set to. */
const MOST_MS = 2 ** 31 - 1;
/** How often a test runner above this process is looked for. */
const LOOK_MS = 500;
const NEWLINE = 10;
/** A running binary. */
export class Process {
    #child;
    #ended;
    #chunks = [];
    #size = 0;
    #lines = [];
    #waiting;
    #stderr = Buffer.alloc(0);
    constructor(child) {
        this.#child = child;
        this.#ended = new Promise((resolve) => {
            child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${constants.signals[signal]}`));
        });
        child.stdout.on("data", (chunk) => this.#read(chunk));
        child.stdout.once("close", () => this.#came("end"));
        child.stderr.on("data", (chunk) => {
            this.#stderr = Buffer.concat([this.#stderr, chunk]).subarray(-KEPT);
        });
        // A binary that is gone shows by the end of its stdout.
        child.stdin.on("error", () => { });
        child.unref();
        for (const pipe of [child.stdin, child.stdout, child.stderr])
            pipe.unref();
    }
    /** Starts a command with its three streams piped. */
    static start(command, args, cwd, env) {
        return new Promise((resolve, reject) => {
            const child = spawn(command, args, { cwd, env, stdio: "pipe" });
            child.once("error", reject);
            child.once("spawn", () => {
                child.off("error", reject);
                child.on("error", () => { });
                resolve(new Process(child));
            });
        });
    }
    /** The process's id. */
    get pid() {
        return this.#child.pid;
    }
    /** Writes a line; a binary that does not read is noticed by the deadline of the answer. */
    send(line) {
        this.#child.stdin.write(line);
    }
    /** The next line. */
    receive(limitMs) {
        const came = this.#lines.shift();
        if (came !== undefined)
            return Promise.resolve(came);
        return new Promise((resolve) => {
            const timer = setTimeout(() => this.#came("nothing"), Math.min(limitMs, MOST_MS));
            const unwatch = watchRunner(() => this.#child.kill());
            this.#waiting = (came) => {
                clearTimeout(timer);
                unwatch();
                resolve(came);
            };
        });
    }
    /**
     * Closes stdin, which tells the binary to stop the server and to end; kills it when it does not. What it was asked before
     * that, it answers first; one whose answer nobody awaits any more is told by a signal. One that was asked to end has
     * `patienceMs` for what suites still have to take down, and is told by a signal after that: then it was `late`.
     */
    async stop(asking, patienceMs = 0) {
        this.#child.ref();
        this.#child.stdin.end();
        if (asking)
            this.#child.kill();
        const late = patienceMs > 0 && !(await this.#endsWithin(patienceMs));
        if (late)
            this.#child.kill();
        const timer = setTimeout(() => this.#child.kill("SIGKILL"), GRACE_MS);
        const how = await this.#ended;
        clearTimeout(timer);
        this.#child.stdin.destroy();
        return { how, late };
    }
    async #endsWithin(limitMs) {
        const unwatch = watchRunner(() => this.#child.kill());
        let timer;
        const late = new Promise((resolve) => {
            timer = setTimeout(() => resolve(false), Math.min(limitMs, MOST_MS));
        });
        try {
            return await Promise.race([this.#ended.then(() => true), late]);
        }
        finally {
            clearTimeout(timer);
            unwatch();
        }
    }
    /** The end of its stderr; complete once the process has ended. */
    async stderr() {
        const pipe = this.#child.stderr;
        if (!pipe.closed) {
            // A server that inherited the pipe may hold it open.
            await new Promise((resolve) => {
                const timer = setTimeout(resolve, 200);
                pipe.once("close", () => {
                    clearTimeout(timer);
                    resolve();
                });
            });
        }
        return this.#stderr.toString();
    }
    #read(chunk) {
        let rest = chunk;
        for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
            this.#came({ line: Buffer.concat([...this.#chunks, rest.subarray(0, at)]).toString() });
            [this.#chunks, this.#size, rest] = [[], 0, rest.subarray(at + 1)];
        }
        this.#chunks.push(rest);
        this.#size += rest.length;
        if (this.#size > LINE_LIMIT) {
            this.#chunks = [];
            this.#size = 0;
            this.#child.stdout.removeAllListeners("data").resume();
            this.#came("too long");
        }
    }
    #came(came) {
        const waiting = this.#waiting;
        this.#waiting = undefined;
        if (waiting)
            waiting(came);
        else
            this.#lines.push(came);
    }
}
/**
 * Calls back when the runner that started this process is gone: node:test and vitest leave their workers behind when they are
 * killed, and nobody would see what a long call comes to.
 */
function watchRunner(gone) {
    const runner = process.ppid;
    const look = () => process.ppid !== runner && gone();
    const timer = process.env["NODE_TEST_CONTEXT"] === undefined ? undefined : setInterval(look, LOOK_MS).unref();
    if (process.channel)
        process.once("disconnect", gone);
    return () => {
        clearInterval(timer);
        process.off("disconnect", gone);
    };
}
