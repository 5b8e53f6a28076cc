#!/usr/bin/env node
// `$near: [3.14, 0.01]` in JavaScript: a number, or a text that is one, no further than the tolerance.
import { createInterface } from "node:readline";

function judge(params) {
  const [to, tolerance] = Array.isArray(params?.expected) ? params.expected : [];
  if (typeof to !== "number" || typeof tolerance !== "number") {
    return { error: { code: -32602, message: "the argument is a number and a tolerance" } };
  }
  const actual = typeof params.actual === "string" && params.actual.trim() !== "" ? Number(params.actual) : params.actual;
  if (typeof actual !== "number" || Number.isNaN(actual)) return { result: { pass: false, message: "not a number" } };
  const distance = Math.abs(actual - to);
  return { result: distance <= tolerance || { pass: false, message: `too far away: ${distance}` } };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const reply = method === "near" ? judge(params) : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(JSON.stringify({ id, ...reply }) + "\n");
}
