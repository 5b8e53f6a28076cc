/**
 * The verdict of `mcp.call`.
 *
 * ```json
 * {"success":true,"data":null,"text":"sunny","error":null,"duration_ms":3}
 * ```
 *
 * A result that this shape would lose something of comes verbatim instead: `{"content":[…],"isError":false}`.
 */
import { closed, isObject, ofKind } from "./answer.js";
/** Reads either shape. */
export function readVerdict(result) {
    if (isObject(result) && "content" in result)
        return verbatim(result);
    const verdict = closed(result, {
        success: "boolean",
        data: "any",
        text: "text or null",
        error: "text or null",
        duration_ms: "number",
    });
    const { success, data, text, error, duration_ms } = verdict;
    return { success, data, text: text ?? "", error, durationMs: duration_ms, raw: null };
}
function verbatim(result) {
    closed(result, { content: "array" }, ["structuredContent", "isError", "_meta"]);
    const failed = result["isError"] ?? false;
    ofKind("isError", failed, "boolean");
    const blocks = result["content"].filter(isObject).filter((block) => block["type"] === "text");
    const text = blocks.map((block) => String(block["text"] ?? "")).join("\n");
    const data = result["structuredContent"] ?? null;
    return { success: !failed, data, text, error: failed ? text : null, durationMs: null, raw: result };
}
