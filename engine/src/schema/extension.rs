//! The keys of `extensions` in a config and of `imports` in a suite.

use super::table::{Key, Table, Takes};
use Takes::{Choice, Count, Duration, Filled, List, Map, OneOf, Size, Text};

/// `imports: {…}`.
pub static IMPORTS: Table = Table {
    name: "imports",
    title: "`imports`",
    doc: "Extensions for this file: files, or ids from the config's `extensions`.",
    example: "{matchers: [./near.wasm]}",
    groups: &[&[
        Key::new("matchers", List(&Text), "[./near.wasm]", "Extensions whose matchers this file calls."),
        Key::new("transforms", List(&Text), "[./matrix.wasm]", "Extensions that rewrite this file, in this order."),
        Key::new(
            "subprocess_matchers",
            OneOf(&[List(&Text), Map(&OneOf(&[Text, Takes::Table(&SUBPROCESS_MATCHER)]))]),
            "[./near.py]",
            "Programs that are matchers: files, called as their stems; or names, each with its file or its command.",
        ),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};

/// An entry of `imports.subprocess_matchers`.
pub static SUBPROCESS_MATCHER: Table = Table {
    name: "subprocess-matcher",
    title: "a subprocess matcher",
    doc: "A program that judges values, spoken to over its stdin and stdout.",
    example: "{command: [python3, near.py]}",
    groups: &[&[
        Key::new(
            "command",
            OneOf(&[Text, Filled(&Text)]),
            "[python3, near.py]",
            "The program, or the whole command line as a list; it runs in this file's folder.",
        ),
        Key::new("method", Text, "judge", "The method it answers, when that is not the matcher's name."),
        Key::new("timeout", Duration, "10s", "How long a call may take (5 s)."),
    ]],
    one_of: &[],
    required: &["command"],
    later: &[],
    elsewhere: &[],
};

/// An entry of `plugins`.
pub static PLUGIN: Table = Table {
    name: "plugin",
    title: "a plugin",
    doc: "A program that judges values, writes reports or rewrites suites, and says first who it is.",
    example: "{command: [python3, near.py], tools: [near]}",
    groups: &[&[
        Key::new("id", Text, "near", "How reports and grants call it; in a mapping, its key."),
        Key::new(
            "command",
            OneOf(&[Text, Filled(&Text)]),
            "[python3, near.py]",
            "The program, or the whole command line as a list; it runs in this file's folder.",
        ),
        Key::new(
            "manifest",
            Text,
            "./near/plugin.toml",
            "A `plugin.toml`, or its folder, instead of `command` and `tools`.",
        ),
        Key::new("protocol_version", Count(1), "1", "The version of the protocol that it speaks (1)."),
        Key::new(
            "tools",
            Filled(&Text),
            "[near]",
            "What is wanted of it: matchers by name, `report.observe`, `report.finish`, `transform.suite`.",
        ),
        Key::new(
            "capabilities",
            List(&Text),
            "[\"env:TOKEN\"]",
            "What it may ask for: `fs.read:DIR`, `fs.write:DIR`, `env:NAME`, `clock`, `random`, `net:HOST:PORT`.",
        ),
        Key::new("timeout", Duration, "10s", "How long a call may take (5 s)."),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};

/// An entry of `extensions`.
pub static EXTENSION: Table = Table {
    name: "extension",
    title: "an extension",
    doc: "A WebAssembly component that judges values, writes reports or rewrites suites.",
    example: "{path: ./near.wasm}",
    groups: &[&[
        Key::new("path", Text, "./near.wasm", "The component's file."),
        Key::new(
            "sha256",
            Text,
            "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
            "The digest that the file must have; another one stops the run.",
        ),
        Key::new(
            "allow",
            List(&Text),
            "[\"fs.read:./fixtures\"]",
            "What it is granted: `fs.read:DIR`, `fs.write:DIR`, `env:NAME`, `clock`, `random`, `net:HOST:PORT`.",
        ),
        Key::new("timeout", Duration, "5s", "How long a call may take (1 s)."),
        Key::new(
            "isolation",
            Choice(&["run", "call"]),
            "call",
            "Whether calls share an instance, or each gets a fresh one.",
        ),
        Key::new("limits", Takes::Table(&EXTENSION_LIMITS), "{memory: 128MiB}", "What it may use."),
    ]],
    one_of: &[],
    required: &["path"],
    later: &[],
    elsewhere: &[],
};

/// `limits` of an extension.
pub static EXTENSION_LIMITS: Table = Table {
    name: "limits",
    title: "`limits`",
    doc: "What an extension may use.",
    example: "{memory: 128MiB}",
    groups: &[&[
        Key::new("memory", Size, "128MiB", "Linear memory (64 MiB)."),
        Key::new("stack", Size, "1MiB", "The stack, from 64 KiB to 64 MiB (512 KiB)."),
        Key::new("result", Size, "4MiB", "One verdict (1 MiB)."),
        Key::new("output", Size, "64MiB", "One returned suite, or what a reporter returns at once (16 MiB)."),
        Key::new("logLines", Count(0), "1000", "Messages logged during one call (100)."),
        Key::new("tableElements", Count(1), "500000", "Elements of all tables (200,000)."),
        Key::new("instances", Count(1), "500", "Core instances inside the component (200)."),
        Key::new("handles", Count(1), "1000", "Files, streams, sockets and timers that are open at once (256)."),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};
