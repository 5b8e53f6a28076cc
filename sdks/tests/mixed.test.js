// A suite with every lane and every outcome, collected by node:test or by vitest.

import { collect } from "@mcptest/sdk";

await collect("mixed.test.mcp.yml", { cwd: process.env.SUITES });
