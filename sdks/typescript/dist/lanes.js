/** Lanes that the coprocess cannot drive: they are reported as skipped tests that name the command, never dropped. */
/** The lanes of a suite that only the command line can run. */
export const UNSUPPORTED_SDK_LANES = ["agents", "compliance", "security", "evals"];
/** The command that runs a lane of a suite file. */
export function laneCliHint(lane, suite) {
    if (lane === "compliance")
        return `mcptest compliance run --from-suite ${suite}`;
    return lane === "evals" ? `mcptest eval ${suite}` : `mcptest run ${suite}`;
}
/** The native name of a test: `tools::adds`, `mcptest::lanes::agents`, `mcptest::compliance::<rule>`. */
export function nativeName({ lane, name, skip }) {
    if (skip === undefined || !UNSUPPORTED_SDK_LANES.includes(lane))
        return `${lane}::${name}`;
    return name === lane ? `mcptest::lanes::${lane}` : `mcptest::${lane}::${name}`;
}
