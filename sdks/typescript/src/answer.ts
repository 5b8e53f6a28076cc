/**
 * Reading what the binary answers, strictly: every shape is closed, so a field that is not declared, or one that is
 * missing, is contract drift and never a default.
 */

import { Drift } from "./errors.js";

const SHOWN = 200;

/** An object of JSON. */
export type Json = Record<string, unknown>;
/** The types that a field can be declared to have. */
export type Kind = "string" | "number" | "integer" | "boolean" | "array" | "text or null" | "any";

/** An answer that carries either a result or an error. */
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

/** One line as the answer to the request `id`. */
export function read(line: string, id: number): Answer {
  const answer = parse(line);
  if (answer["jsonrpc"] !== "2.0") throw new Drift('`jsonrpc` is not "2.0"');
  if (!("id" in answer)) throw new Drift("`id` is missing");
  unknown(answer, ["jsonrpc", "id", "result", "error"]);
  const [result, error] = ["result" in answer, "error" in answer];
  // A line that the binary could not read has no id that it could repeat.
  if (answer["id"] !== id && !(answer["id"] === null && error)) {
    throw new Drift(`\`id\` is ${JSON.stringify(answer["id"])}, and ${id} was asked`);
  }
  if (result && error) throw new Drift("both `result` and `error`");
  if (!result && !error) throw new Drift("neither `result` nor `error`");
  if (error) closed(answer["error"], { code: "integer", message: "string" }, ["data"]);
  return answer as Answer;
}

/** `value` as an object with exactly `fields`, of their types, and perhaps `optional` ones. */
export function closed(value: unknown, fields: Record<string, Kind>, optional: string[] = []): Json {
  if (!isObject(value)) throw new Drift(`${show(value)} is no object`);
  unknown(value, [...Object.keys(fields), ...optional]);
  for (const [name, kind] of Object.entries(fields)) {
    if (!(name in value)) throw new Drift(`missing field \`${name}\``);
    ofKind(name, value[name], kind);
  }
  return value;
}

/** Refuses a value of another type. */
export function ofKind(name: string, value: unknown, kind: Kind): void {
  const fits = {
    string: typeof value === "string",
    number: typeof value === "number",
    integer: Number.isInteger(value),
    boolean: typeof value === "boolean",
    array: Array.isArray(value),
    "text or null": value === null || typeof value === "string",
    any: true,
  };
  if (!fits[kind]) throw new Drift(`\`${name}\` is ${show(value)}, and not of type ${kind}`);
}

/** Whether a value is an object, and no list. */
export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(line: string): Json {
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    answer = undefined;
  }
  if (!isObject(answer)) {
    throw new Drift(`no JSON object: \`${line.slice(0, SHOWN).trimEnd()}${line.length > SHOWN ? "…" : ""}\``);
  }
  return answer;
}

function unknown(value: Json, known: string[]): void {
  const name = Object.keys(value).find((name) => !known.includes(name));
  if (name !== undefined) throw new Drift(`unknown field \`${name}\``);
}

function show(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, SHOWN);
}
