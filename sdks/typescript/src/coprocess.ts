/**
 * The coprocess protocol: one request line, one answer line, strictly in turn, after a handshake.
 *
 * ```json
 * {"jsonrpc":"2.0","id":1,"method":"coprocess/handshake","params":{"protocol_version":2,"sdk":"typescript","sdk_version":"0.1.0"}}
 * {"jsonrpc":"2.0","id":1,"result":{"protocol_version":2,"binary_version":"0.1.0"}}
 * ```
 */

import { type Answer, closed, type Json, read } from "./answer.js";
import {
  BinaryNotFound,
  ContractDrift,
  Deadline,
  blamed,
  Drift,
  Ended,
  ProtocolMismatch,
  RpcError,
  SessionClosed,
  Unended,
} from "./errors.js";
import { LINE_LIMIT, Process } from "./process.js";

/** The version of the coprocess protocol that this SDK speaks. */
export const COPROCESS_PROTOCOL_VERSION = 2;
/** The version of this package. */
export const SDK_VERSION = "0.1.0";

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const HANDSHAKE = "coprocess/handshake";

/** How the binary is started. */
export interface Start {
  command: string;
  args: string[];
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  limitMs: number;
}

/** A binary that serves this process. */
export class Coprocess {
  readonly #process: Process;
  #turn: Promise<unknown> = Promise.resolve();
  #next = 1;
  #over: string | undefined;
  #underWay = 0;
  #asking = false;
  binaryVersion = "";

  private constructor(process: Process) {
    this.#process = process;
  }

  /** Starts the binary and shakes hands. */
  static async start({ command, args, cwd, env, limitMs }: Start): Promise<Coprocess> {
    const process = await Process.start(command, args, cwd, env).catch((error: Error) => {
      throw new BinaryNotFound(`cannot start the mcptest binary \`${command}\`: ${error.message}`);
    });
    const coprocess = new Coprocess(process);
    try {
      await coprocess.#handshake(limitMs);
    } catch (error) {
      await coprocess.end("the handshake failed");
      throw error;
    }
    return coprocess;
  }

  /** The process's id. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The result of one request as `reader` reads it. One call at a time: the protocol is one line in, one line out. */
  request<T>(method: string, params: Json | undefined, limitMs: number, reader: (result: unknown) => T): Promise<T> {
    this.#underWay++;
    const here = new Error();
    const mine = this.#turn.then(() => this.#judge(method, params, limitMs, reader)).catch((error) => {
      throw blamed(error, here);
    });
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /** Whether a request would be answered: the session goes on, and no call is under way. */
  get isFree(): boolean {
    return this.#over === undefined && this.#underWay === 0;
  }

  /** Ends the session and the binary. */
  async end(why: string): Promise<string> {
    this.#over ??= why;
    return (await this.#process.stop(this.#asking)).how;
  }

  /** Ends a session that was asked to end; what its suites still have to take down has as long as a call. */
  async endInOrder(why: string, limitMs: number): Promise<void> {
    this.#over ??= why;
    const { late } = await this.#process.stop(false, limitMs);
    if (late) throw new Unended(limitMs, await this.#process.stderr());
  }

  /** The end of the binary's stderr; complete once it has ended. */
  stderr(): Promise<string> {
    return this.#process.stderr();
  }

  async #judge<T>(method: string, params: Json | undefined, limitMs: number, reader: (it: unknown) => T): Promise<T> {
    try {
      const answer = await this.#exchange(method, params, limitMs);
      if ("error" in answer) {
        const { code, message, data } = answer.error;
        throw new RpcError(method, code, message, data ?? null);
      }
      return reader(answer.result);
    } catch (error) {
      if (!(error instanceof Drift)) throw error;
      await this.end("the answer to an earlier call broke the coprocess contract");
      throw new ContractDrift(method, error.message, await this.#process.stderr());
    } finally {
      this.#underWay--;
    }
  }

  async #exchange(method: string, params: Json | undefined, limitMs: number): Promise<Answer> {
    if (this.#over !== undefined) throw new SessionClosed(method, this.#over);
    const id = this.#next++;
    const line = `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    this.#asking = true;
    this.#process.send(line);
    const came = await this.#process.receive(limitMs);
    this.#asking = came === "nothing";
    switch (came) {
      case "end": {
        if (this.#over !== undefined) throw new SessionClosed(method, this.#over);
        const how = await this.end("the mcptest binary ended in an earlier call");
        throw new Ended(method, how, await this.#process.stderr());
      }
      case "nothing":
        await this.end("the mcptest binary was stopped: an earlier call took too long");
        throw new Deadline(method, limitMs, await this.#process.stderr());
      case "too long":
        throw new Drift(`a line of more than ${LINE_LIMIT >> 20} MiB`);
      default:
        return read(came.line, id);
    }
  }

  async #handshake(limitMs: number): Promise<void> {
    const params = { protocol_version: COPROCESS_PROTOCOL_VERSION, sdk: "typescript", sdk_version: SDK_VERSION };
    const fields = { protocol_version: "integer", binary_version: "string" } as const;
    const greeting = await this.request(HANDSHAKE, params, limitMs, (it) => closed(it, fields)).catch((error) => {
      // The first version had no handshake.
      if (error instanceof RpcError && error.code === METHOD_NOT_FOUND) throw new ProtocolMismatch(mismatch(1));
      if (error instanceof RpcError && error.code === INVALID_PARAMS) throw new ProtocolMismatch(error.reason);
      throw error;
    });
    this.binaryVersion = greeting["binary_version"] as string;
    const theirs = greeting["protocol_version"] as number;
    if (theirs !== COPROCESS_PROTOCOL_VERSION) throw new ProtocolMismatch(mismatch(theirs));
  }
}

/** Both versions, and which side to upgrade. */
function mismatch(theirs: number): string {
  const advice =
    theirs < COPROCESS_PROTOCOL_VERSION
      ? "Upgrade the mcptest binary (or pin the SDK to the matching release)."
      : "Upgrade the SDK (or pin the mcptest binary to the matching release).";
  return `mcptest binary speaks coprocess v${theirs}; this SDK needs v${COPROCESS_PROTOCOL_VERSION}. ${advice}`;
}
