/**
 * The coprocess protocol: one request line, one answer line, strictly in turn, after a handshake.
 *
 * ```json
 * {"jsonrpc":"2.0","id":1,"method":"coprocess/handshake","params":{"protocol_version":2,"sdk":"typescript","sdk_version":"0.1.0"}}
 * {"jsonrpc":"2.0","id":1,"result":{"protocol_version":2,"binary_version":"0.1.0"}}
 * ```
 */
import { type Json } from "./answer.js";
/** The version of the coprocess protocol that this SDK speaks. */
export declare const COPROCESS_PROTOCOL_VERSION = 2;
/** The version of this package. */
export declare const SDK_VERSION = "0.1.0";
/** How the binary is started. */
export interface Start {
    command: string;
    args: string[];
    cwd: string | undefined;
    env: NodeJS.ProcessEnv;
    limitMs: number;
}
/** A binary that serves this process. */
export declare class Coprocess {
    #private;
    binaryVersion: string;
    private constructor();
    /** Starts the binary and shakes hands. */
    static start({ command, args, cwd, env, limitMs }: Start): Promise<Coprocess>;
    /** The process's id. */
    get pid(): number | undefined;
    /** The result of one request as `reader` reads it. One call at a time: the protocol is one line in, one line out. */
    request<T>(method: string, params: Json | undefined, limitMs: number, reader: (result: unknown) => T): Promise<T>;
    /** Whether a request would be answered: the session goes on, and no call is under way. */
    get isFree(): boolean;
    /** Ends the session and the binary. */
    end(why: string): Promise<string>;
    /** Ends a session that was asked to end; what its suites still have to take down has as long as a call. */
    endInOrder(why: string, limitMs: number): Promise<void>;
    /** The end of the binary's stderr; complete once it has ended. */
    stderr(): Promise<string>;
}
