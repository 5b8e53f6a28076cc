// The golden transcripts, played by this SDK against the binary.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { RpcError, Session } from "@mcptest/sdk";

const transcripts = join(import.meta.dirname, "..", "..", "transcripts");

/** Whether an answer is the expected one, with its placeholders. */
function fits(expected, actual) {
  if (expected === "<any>") return true;
  if (expected === "<number>") return typeof actual === "number";
  if (expected === "<text>") return typeof actual === "string";
  if (typeof expected === "string" && expected.endsWith("…")) return String(actual).startsWith(expected.slice(0, -1));
  if (typeof expected !== "object" || expected === null) return expected === actual;
  if (typeof actual !== "object" || actual === null || Array.isArray(expected) !== Array.isArray(actual)) return false;
  const keys = Object.keys(expected);
  return keys.length === Object.keys(actual).length && keys.every((key) => key in actual && fits(expected[key], actual[key]));
}

/** An SDK only writes requests: the lines that are none are for the engine's own tests. */
function canSend(send) {
  const known = ["jsonrpc", "id", "method", "params"];
  if (typeof send !== "object" || !Object.keys(send).every((key) => known.includes(key))) return false;
  return send.jsonrpc === "2.0" && typeof send.method === "string" && ["number", "string"].includes(typeof send.id);
}

async function ask(session, { method, params }) {
  try {
    return { result: await session.request(method, params) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, reason: message, data } = error;
    return { error: data === null ? { code, message } : { code, message, data } };
  }
}

for (const name of readdirSync(transcripts).filter((name) => name.endsWith(".json"))) {
  const { about, binary, server, exchanges } = JSON.parse(readFileSync(join(transcripts, name), "utf8"));
  const skip = binary === 1 && "a recording of an old binary: see misbehaviour.test.js";
  test(`${name}: ${about}`, { skip }, async () => {
    const cwd = mkdtempSync(join(tmpdir(), "mcptest-"));
    cpSync(join(transcripts, "files"), cwd, { recursive: true });
    const session = await Session.open(server === undefined ? { cwd } : { serverCommand: server, cwd });
    let over = false;
    for (const { send, receive } of exchanges.filter(({ send }) => canSend(send))) {
      const answer = await ask(session, send);
      const { jsonrpc, id, ...expected } = receive;
      assert.ok(fits(expected, answer), `${JSON.stringify(send)}\n${JSON.stringify(expected)}\n${JSON.stringify(answer)}`);
      over ||= send.method === "mcp.shutdown";
    }
    if (!over) await session.close();
  });
}
