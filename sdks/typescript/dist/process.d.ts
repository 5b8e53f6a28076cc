/**
 * The binary as a process: lines in, lines out, the end of its stderr, and an end that is bounded in time.
 *
 * Nothing here keeps Node alive by itself: a test file that forgets to close its session still ends, and the binary with it.
 */
/** The longest line that is read: a message of a server has 64 MiB at most, and an answer may hold it more than once. */
export declare const LINE_LIMIT: number;
/** What came within the deadline. */
export type Came = {
    line: string;
} | "end" | "nothing" | "too long";
/** A running binary. */
export declare class Process {
    #private;
    private constructor();
    /** Starts a command with its three streams piped. */
    static start(command: string, args: string[], cwd: string | undefined, env: NodeJS.ProcessEnv): Promise<Process>;
    /** The process's id. */
    get pid(): number | undefined;
    /** Writes a line; a binary that does not read is noticed by the deadline of the answer. */
    send(line: string): void;
    /** The next line. */
    receive(limitMs: number): Promise<Came>;
    /**
     * Closes stdin, which tells the binary to stop the server and to end; kills it when it does not. What it was asked before
     * that, it answers first; one whose answer nobody awaits any more is told by a signal. One that was asked to end has
     * `patienceMs` for what suites still have to take down, and is told by a signal after that: then it was `late`.
     */
    stop(asking: boolean, patienceMs?: number): Promise<{
        how: string;
        late: boolean;
    }>;
    /** The end of its stderr; complete once the process has ended. */
    stderr(): Promise<string>;
}
