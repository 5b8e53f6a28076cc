/** What can go wrong between a test and the `mcptest` binary. A failed check is none of these: it is a verdict. */

import { fileURLToPath } from "node:url";

/** Why a call has no answer. */
export class McptestError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** There is no binary to start. */
export class BinaryNotFound extends McptestError {}

/** The binary speaks another version of the coprocess protocol. */
export class ProtocolMismatch extends McptestError {}

/** The session was closed, or broke in an earlier call. */
export class SessionClosed extends McptestError {
  constructor(method: string, why: string) {
    super(`cannot call \`${method}\`: ${why}`);
  }
}

/** The binary's answer is not what the protocol says. */
export class ContractDrift extends McptestError {
  constructor(method: string, problem: string, stderr: string) {
    super(
      `the answer to \`${method}\` breaks the coprocess contract: ${problem}` +
        "\nhint: install releases of the mcptest binary and of this SDK that belong together" +
        tail(stderr),
    );
  }
}

/** The binary is gone. */
export class Ended extends McptestError {
  constructor(method: string, how: string, stderr: string) {
    super(`the mcptest binary ended with ${how} before it answered \`${method}\`${tail(stderr)}`);
  }
}

/** The binary did not answer in time, and was stopped. */
export class Deadline extends McptestError {
  constructor(method: string, limitMs: number, stderr: string) {
    super(`the mcptest binary did not answer \`${method}\` within ${limitMs / 1000} s, and was stopped${tail(stderr)}`);
  }
}

/** The binary did not end in time when the session was closed, and was stopped: `after` may lack a step. */
export class Unended extends McptestError {
  constructor(limitMs: number, stderr: string) {
    super(`the mcptest binary did not end within ${limitMs / 1000} s of the end of its session, and was stopped${tail(stderr)}`);
  }
}

/** The binary answered with an error, for example -32000 for an error of the server under test. */
export class RpcError extends McptestError {
  readonly method: string;
  readonly code: number;
  /** What the binary said. */
  readonly reason: string;
  readonly data: unknown;

  constructor(method: string, code: number, reason: string, data: unknown) {
    super(`\`${method}\` failed with ${code}: ${reason}`);
    this.method = method;
    this.code = code;
    this.reason = reason;
    this.data = data;
  }
}

/** What is wrong with an answer; the coprocess makes a {@link ContractDrift} of it. */
export class Drift extends Error {}

/** Where this package lies, as frames of a stack name it. */
const FOLDER = new URL(".", import.meta.url);
const OURS = [FOLDER.href, fileURLToPath(FOLDER)];

/** An error with the caller's frames as its stack: frameworks show the line of the test, and not ours. */
export function blamed(error: unknown, here: Error): unknown {
  if (!(error instanceof Error)) return error;
  const isTheirs = (line: string) => line.startsWith("    at ") && !OURS.some((ours) => line.includes(ours));
  const frames = (here.stack ?? "").split("\n").filter(isTheirs);
  if (frames.length > 0) error.stack = [`${error.name}: ${error.message}`, ...frames].join("\n");
  return error;
}

function tail(stderr: string): string {
  const text = stderr.trimEnd();
  return text === "" ? "" : `\nstderr of mcptest:\n  ${text.replaceAll("\n", "\n  ")}`;
}
