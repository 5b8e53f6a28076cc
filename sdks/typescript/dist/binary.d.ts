/** Finding the `mcptest` binary: `MCPTEST_BIN`, then PATH. */
/** The binary to start, or an error that names both places. */
export declare function find(given?: string): string;
