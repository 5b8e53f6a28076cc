/** Lanes that the coprocess cannot drive: they are reported as skipped tests that name the command, never dropped. */
import type { Planned } from "./suite.js";
/** The lanes of a suite that only the command line can run. */
export declare const UNSUPPORTED_SDK_LANES: readonly string[];
/** The command that runs a lane of a suite file. */
export declare function laneCliHint(lane: string, suite: string): string;
/** The native name of a test: `tools::adds`, `mcptest::lanes::agents`, `mcptest::compliance::<rule>`. */
export declare function nativeName({ lane, name, skip }: Planned): string;
