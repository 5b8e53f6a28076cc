/** What can go wrong between a test and the `mcptest` binary. A failed check is none of these: it is a verdict. */
/** Why a call has no answer. */
export declare class McptestError extends Error {
    get name(): string;
}
/** There is no binary to start. */
export declare class BinaryNotFound extends McptestError {
}
/** The binary speaks another version of the coprocess protocol. */
export declare class ProtocolMismatch extends McptestError {
}
/** The session was closed, or broke in an earlier call. */
export declare class SessionClosed extends McptestError {
    constructor(method: string, why: string);
}
/** The binary's answer is not what the protocol says. */
export declare class ContractDrift extends McptestError {
    constructor(method: string, problem: string, stderr: string);
}
/** The binary is gone. */
export declare class Ended extends McptestError {
    constructor(method: string, how: string, stderr: string);
}
/** The binary did not answer in time, and was stopped. */
export declare class Deadline extends McptestError {
    constructor(method: string, limitMs: number, stderr: string);
}
/** The binary did not end in time when the session was closed, and was stopped: `after` may lack a step. */
export declare class Unended extends McptestError {
    constructor(limitMs: number, stderr: string);
}
/** The binary answered with an error, for example -32000 for an error of the server under test. */
export declare class RpcError extends McptestError {
    readonly method: string;
    readonly code: number;
    /** What the binary said. */
    readonly reason: string;
    readonly data: unknown;
    constructor(method: string, code: number, reason: string, data: unknown);
}
/** What is wrong with an answer; the coprocess makes a {@link ContractDrift} of it. */
export declare class Drift extends Error {
}
/** An error with the caller's frames as its stack: frameworks show the line of the test, and not ours. */
export declare function blamed(error: unknown, here: Error): unknown;
