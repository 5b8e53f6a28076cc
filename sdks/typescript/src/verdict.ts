/**
 * The verdict of `mcp.call`.
 *
 * ```json
 * {"success":true,"data":null,"text":"sunny","error":null,"duration_ms":3}
 * ```
 *
 * A result that this shape would lose something of comes verbatim instead: `{"content":[…],"isError":false}`.
 */

import { closed, isObject, type Json, ofKind } from "./answer.js";

/** What a tool call came to. */
export interface Verdict {
  /** Whether the tool did not report an error. */
  success: boolean;
  /** The structured content, or null. */
  data: any;
  /** The text blocks, joined by newlines. */
  text: string;
  /** The text of a call that failed. */
  error: string | null;
  /** How long the call took; the binary does not tell it for a result that it forwards verbatim. */
  durationMs: number | null;
  /** The server's whole result, when it holds more than text and structured content: images, audio, resources, links. */
  raw: Json | null;
}

/** Reads either shape. */
export function readVerdict(result: unknown): Verdict {
  if (isObject(result) && "content" in result) return verbatim(result);
  const verdict = closed(result, {
    success: "boolean",
    data: "any",
    text: "text or null",
    error: "text or null",
    duration_ms: "number",
  }) as { success: boolean; data: unknown; text: string | null; error: string | null; duration_ms: number };
  const { success, data, text, error, duration_ms } = verdict;
  return { success, data, text: text ?? "", error, durationMs: duration_ms, raw: null };
}

function verbatim(result: Json): Verdict {
  closed(result, { content: "array" }, ["structuredContent", "isError", "_meta"]);
  const failed = result["isError"] ?? false;
  ofKind("isError", failed, "boolean");
  const blocks = (result["content"] as unknown[]).filter(isObject).filter((block) => block["type"] === "text");
  const text = blocks.map((block) => String(block["text"] ?? "")).join("\n");
  const data = result["structuredContent"] ?? null;
  return { success: !failed, data, text, error: failed ? text : null, durationMs: null, raw: result };
}
