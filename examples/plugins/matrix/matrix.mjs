// A transform with a handshake: a test with `x-matrix: {name: [a, b]}` becomes one test for each value.
import { createInterface } from "node:readline";

const manifest = {
  plugin_id: "matrix",
  plugin_version: "1.0.0",
  protocol_version: 1,
  exposed_tools: ["transform.suite"],
};

const fill = (value, name, by) => JSON.parse(JSON.stringify(value).replaceAll(`<${name}>`, by));

function transform(suite) {
  for (const lane of ["tests", "tools", "resources", "prompts"]) {
    if (!Array.isArray(suite[lane])) continue;
    suite[lane] = suite[lane].flatMap(({ "x-matrix": matrix, ...test }) => {
      const [name, values] = Object.entries(matrix ?? {})[0] ?? [];
      return name ? values.map((value) => fill(test, name, value)) : [test];
    });
  }
  return suite;
}

function answer(method, params) {
  if (method === "handshake") return { result: { manifest } };
  if (method !== "execute") return { error: { code: -32601, message: "no such method" } };
  if (params?.tool && params.tool !== "transform.suite") return { error: { code: -32601, message: "no such tool" } };
  const suite = params?.arguments?.suite;
  return suite ? { result: transform(suite) } : { error: { code: -32602, message: "a suite is needed" } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id, ...answer(method, params) }) + "\n");
}
