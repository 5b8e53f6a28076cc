/**
 * Reading what the binary answers, strictly: every shape is closed, so a field that is not declared, or one that is
 * missing, is contract drift and never a default.
 */
import { Drift } from "./errors.js";
const SHOWN = 200;
/** One line as the answer to the request `id`. */
export function read(line, id) {
    const answer = parse(line);
    if (answer["jsonrpc"] !== "2.0")
        throw new Drift('`jsonrpc` is not "2.0"');
    if (!("id" in answer))
        throw new Drift("`id` is missing");
    unknown(answer, ["jsonrpc", "id", "result", "error"]);
    const [result, error] = ["result" in answer, "error" in answer];
    // A line that the binary could not read has no id that it could repeat.
    if (answer["id"] !== id && !(answer["id"] === null && error)) {
        throw new Drift(`\`id\` is ${JSON.stringify(answer["id"])}, and ${id} was asked`);
    }
    if (result && error)
        throw new Drift("both `result` and `error`");
    if (!result && !error)
        throw new Drift("neither `result` nor `error`");
    if (error)
        closed(answer["error"], { code: "integer", message: "string" }, ["data"]);
    return answer;
}
/** `value` as an object with exactly `fields`, of their types, and perhaps `optional` ones. */
export function closed(value, fields, optional = []) {
    if (!isObject(value))
        throw new Drift(`${show(value)} is no object`);
    unknown(value, [...Object.keys(fields), ...optional]);
    for (const [name, kind] of Object.entries(fields)) {
        if (!(name in value))
            throw new Drift(`missing field \`${name}\``);
        ofKind(name, value[name], kind);
    }
    return value;
}
/** Refuses a value of another type. */
export function ofKind(name, value, kind) {
    const fits = {
        string: typeof value === "string",
        number: typeof value === "number",
        integer: Number.isInteger(value),
        boolean: typeof value === "boolean",
        array: Array.isArray(value),
        "text or null": value === null || typeof value === "string",
        any: true,
    };
    if (!fits[kind])
        throw new Drift(`\`${name}\` is ${show(value)}, and not of type ${kind}`);
}
/** Whether a value is an object, and no list. */
export function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
function parse(line) {
    let answer;
    try {
        answer = JSON.parse(line);
    }
    catch {
        answer = undefined;
    }
    if (!isObject(answer)) {
        throw new Drift(`no JSON object: \`${line.slice(0, SHOWN).trimEnd()}${line.length > SHOWN ? "…" : ""}\``);
    }
    return answer;
}
function unknown(value, known) {
    const name = Object.keys(value).find((name) => !known.includes(name));
    if (name !== undefined)
        throw new Drift(`unknown field \`${name}\``);
}
function show(value) {
    return String(JSON.stringify(value)).slice(0, SHOWN);
}
