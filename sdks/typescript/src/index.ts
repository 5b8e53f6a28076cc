/**
 * MCP tests in TypeScript and JavaScript.
 *
 * The package starts the `mcptest` binary as a coprocess and speaks its protocol; parsing, matching and judging stay in
 * the engine.
 *
 * @module
 */

export { collect } from "./collect.js";
export { COPROCESS_PROTOCOL_VERSION, SDK_VERSION } from "./coprocess.js";
export {
  BinaryNotFound,
  ContractDrift,
  Deadline,
  Ended,
  McptestError,
  ProtocolMismatch,
  RpcError,
  SessionClosed,
  Unended,
} from "./errors.js";
export { laneCliHint, nativeName, UNSUPPORTED_SDK_LANES } from "./lanes.js";
export { Session, type SessionOptions } from "./session.js";
export type { Outcome, Planned, Status } from "./suite.js";
export type { Verdict } from "./verdict.js";
