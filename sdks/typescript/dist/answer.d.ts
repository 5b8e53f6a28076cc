/**
 * Reading what the binary answers, strictly: every shape is closed, so a field that is not declared, or one that is
 * missing, is contract drift and never a default.
 */
/** An object of JSON. */
export type Json = Record<string, unknown>;
/** The types that a field can be declared to have. */
export type Kind = "string" | "number" | "integer" | "boolean" | "array" | "text or null" | "any";
/** An answer that carries either a result or an error. */
export type Answer = {
    result: unknown;
} | {
    error: {
        code: number;
        message: string;
        data?: unknown;
    };
};
/** One line as the answer to the request `id`. */
export declare function read(line: string, id: number): Answer;
/** `value` as an object with exactly `fields`, of their types, and perhaps `optional` ones. */
export declare function closed(value: unknown, fields: Record<string, Kind>, optional?: string[]): Json;
/** Refuses a value of another type. */
export declare function ofKind(name: string, value: unknown, kind: Kind): void;
/** Whether a value is an object, and no list. */
export declare function isObject(value: unknown): value is Json;
