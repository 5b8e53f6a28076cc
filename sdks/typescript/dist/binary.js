/** Finding the `mcptest` binary: `MCPTEST_BIN`, then PATH. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { BinaryNotFound } from "./errors.js";
const VARIABLE = "MCPTEST_BIN";
/**
 * The binary to start, or an error that names both places. A relative path is taken against this process's folder,
 * wherever the binary is started.
 */
export function find(given) {
    const found = named(given);
    return found.includes("/") ? resolve(found) : found;
}
function named(given) {
    if (given !== undefined)
        return given;
    const named = process.env[VARIABLE];
    if (named) {
        if (isProgram(named))
            return named;
        throw new BinaryNotFound(`cannot find the mcptest binary: \`${VARIABLE}\` is \`${named}\`, which is no program\n` +
            `hint: set ${VARIABLE} to the binary, or unset it to take the \`mcptest\` on PATH`);
    }
    const name = process.platform === "win32" ? "mcptest.exe" : "mcptest";
    const folders = (process.env["PATH"] ?? "").split(delimiter);
    const found = folders.map((folder) => join(folder || ".", name)).find(isProgram);
    if (found === undefined) {
        throw new BinaryNotFound(`cannot find the mcptest binary: \`${VARIABLE}\` is not set, and PATH has no \`mcptest\`\n` +
            `hint: install mcptest, or set ${VARIABLE} to the binary`);
    }
    return found;
}
function isProgram(path) {
    try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
    }
    catch {
        return false;
    }
}
