// The tests of the suite that SUITE names, collected by node:test or by vitest.

import { collect } from "@mcptest/sdk";

await collect(`${process.env.SUITE ?? "mixed"}.test.mcp.yml`, { cwd: process.env.SUITES });
