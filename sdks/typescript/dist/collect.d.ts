/**
 * Suite files as tests of the framework that runs this file, node:test or vitest:
 *
 * ```js
 * import { collect } from "@mcptest/sdk";
 * await collect("demo.test.mcp.yml");
 * ```
 */
import { type SessionOptions } from "./session.js";
/**
 * Registers the tests of a suite file, one by one; await it at the top of a test file.
 *
 * A file that cannot be planned is an error here, before any test.
 */
export declare function collect(file: string, options?: SessionOptions): Promise<void>;
