/** Finding the `mcptest` binary: `MCPTEST_BIN`, then PATH. */
/**
 * The binary to start, or an error that names both places. A relative path is taken against this process's folder,
 * wherever the binary is started.
 */
export declare function find(given?: string): string;
