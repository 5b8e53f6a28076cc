/**
 * The verdict of `mcp.call`.
 *
 * ```json
 * {"success":true,"data":null,"text":"sunny","error":null,"duration_ms":3}
 * ```
 *
 * A result that this shape would lose something of comes verbatim instead: `{"content":[…],"isError":false}`.
 */
import { type Json } from "./answer.js";
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
export declare function readVerdict(result: unknown): Verdict;
