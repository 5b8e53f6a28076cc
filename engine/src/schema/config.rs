//! The keys of a config file and of a server definition.

use super::extension::{EXTENSION, PLUGIN};
use super::suite::ANSWERS;
use super::table::{Key, Table, Takes};
use Takes::{Anything, Boolean, Choice, Duration, Filled, List, Map, OneOf, Regex, Scalar, Size, Text};

const CAPABILITY: Takes = OneOf(&[Boolean, Map(&Anything)]);

static SERVER_KEYS: &[Key] = &[
    Key::new("name", Text, "Filesystem server", "Stands in report headers."),
    Key::new("command", OneOf(&[Text, Filled(&Text)]), "node", "The program, or the whole command line as a list."),
    Key::new("args", List(&Scalar), "[server.js, --stdio]", "The program's arguments."),
    Key::new("cwd", Text, "./server", "Where it runs; this file's folder by default."),
    Key::new(
        "env",
        Map(&Scalar),
        "{TOKEN: \"${TOKEN}\"}",
        "Added to the inherited environment; `${VAR}` and `${VAR:-default}` read ours.",
    ),
    Key::new("startupTimeout", Duration, "30s", "For the `readyPattern` wait, and again for `initialize` (5 s)."),
    Key::new("readyPattern", Regex, "listening on", "A regular expression awaited on stderr before `initialize`."),
    Key::new("timeout", Duration, "10s", "How long a step may take (30 s)."),
    Key::new(
        "shutdownTimeout",
        OneOf(&[Duration, Takes::Table(&SHUTDOWN)]),
        "{stdin: 0s, term: 5s}",
        "How long each stage of the shutdown waits (2 s).",
    ),
    Key::new(
        "restart",
        Choice(&["run", "file", "test"]),
        "file",
        "How long a process is kept: the run, a suite file, or a test.",
    ),
    Key::new(
        "protocol",
        Choice(&["legacy", "modern", "auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]),
        "auto",
        "The era of the protocol, or a revision; `auto` asks the server, and prefers the modern era (`legacy`).",
    ),
    Key::new("client", Takes::Table(&CLIENT), "{roots: true}", "Capabilities the client declares."),
    Key::new(
        "respond",
        ANSWERS,
        "{elicitation: accept, roots: [\"file:///project\"]}",
        "Scripted answers to the server's requests; also declares the capabilities.",
    ),
    Key::new("fixture", Text, "./fixture", "A folder copied into `${tmp}` before the server starts."),
    Key::new("barrier", Boolean, "false", "Whether start-up ends with an awaited ping (true)."),
    Key::new("cassette", Text, "./demo.cassette.json", "A recorded conversation to play instead of starting a server."),
    Key::new("maxLine", Size, "64MiB", "The longest line the server may send (64 MiB)."),
    Key::new(
        "url",
        Text,
        "http://127.0.0.1:8080/mcp",
        "Where the server is reached over HTTP; with a `command` it is started first, and `${port}` is a free port.",
    ),
    Key::new("headers", Map(&Scalar), "{X-Api-Key: \"${API_KEY}\"}", "Sent with every request; `${VAR}` reads ours."),
    Key::new("auth", Takes::Table(&AUTH), "{bearerEnv: TOKEN}", "How the client shows who it is."),
    Key::new("tls", Takes::Table(&TLS), "{caBundle: ./ca.pem}", "Whom the client trusts."),
    Key::new(
        "waitForReady",
        Duration,
        "30s",
        "How long it is tried to connect before the handshake; `startupTimeout` when a command is started.",
    ),
    Key::new(
        "transport",
        Choice(&["http", "sse"]),
        "sse",
        "`http` is Streamable HTTP, `sse` the older HTTP+SSE of 2024-11-05 (http).",
    ),
    Key::new(
        "reinitialize",
        Boolean,
        "true",
        "Whether a session that the server answers with 404 is opened anew, and the step sent again (false).",
    ),
];

/// What a config has beside a server.
pub static CONFIG_ONLY: &[Key] = &[
    Key::new(
        "servers",
        Map(&Takes::Table(&SERVER)),
        "{fs: {command: node, args: [fs.js]}}",
        "Servers by name; a suite or a test picks one with `server:`.",
    ),
    Key::new(
        "secrets",
        List(&Text),
        "[API_KEY]",
        "Names of environment variables whose values are redacted in reports.",
    ),
    Key::new(
        "extensions",
        Map(&OneOf(&[Text, Takes::Table(&EXTENSION)])),
        "{near: {path: ./near.wasm}}",
        "WebAssembly extensions by id: their matchers can be called in every suite.",
    ),
    Key::new(
        "plugins",
        OneOf(&[Map(&OneOf(&[Text, Takes::Table(&PLUGIN)])), List(&OneOf(&[Text, Takes::Table(&PLUGIN)]))]),
        "{near: {command: [python3, near.py], tools: [near]}}",
        "Plugins by id: their matchers can be called in every suite. Text is the path of a `plugin.toml`.",
    ),
    Key::new("reporters", List(&Text), "[human, junit=report.xml]", "Reports to write, as `--reporter` takes them."),
];

/// A server definition.
pub static SERVER: Table = Table {
    name: "server",
    title: "a server",
    doc: "How a server is started and spoken to.",
    example: "{command: node, args: [server.js]}",
    groups: &[SERVER_KEYS],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[(&[CONFIG_ONLY], "belongs to the top level of the config")],
};

/// A config file.
pub static CONFIG: Table = Table {
    name: "config",
    title: "a config",
    doc: "The server under test, or several by name, and how to report.",
    example: "{command: node, args: [server.js]}",
    groups: &[SERVER_KEYS, CONFIG_ONLY],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[(&[super::suite::LANES], "belongs in a suite file (`*.test.mcp.yml`)")],
};

/// `auth: {…}`.
pub static AUTH: Table = Table {
    name: "auth",
    title: "`auth`",
    doc: "How the client shows who it is: a bearer token, or OAuth 2 client credentials that fetch one.",
    example: "{bearerEnv: TOKEN}",
    groups: &[&[
        Key::new("bearerEnv", Text, "TOKEN", "The environment variable that holds the bearer token."),
        Key::new("tokenUrl", Text, "https://auth.example/token", "Where a token is fetched with client credentials."),
        Key::new("clientIdEnv", Text, "CLIENT_ID", "The environment variable that holds the client's id."),
        Key::new("clientSecretEnv", Text, "CLIENT_SECRET", "The environment variable that holds the client's secret."),
        Key::new("scope", Text, "mcp:read", "The scope that is asked for."),
        Key::new("resource", Text, "https://api.example/mcp", "The resource that the token is for (RFC 8707)."),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};

/// `tls: {…}`.
pub static TLS: Table = Table {
    name: "tls",
    title: "`tls`",
    doc: "Whom the client trusts, beside the certificates of the system.",
    example: "{caBundle: ./ca.pem}",
    groups: &[&[
        Key::new("caBundle", Text, "./ca.pem", "A PEM file of certificates that are trusted too."),
        Key::new("verify", Boolean, "false", "Whether certificates are judged at all (true); refused when `CI=true`."),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};

/// `shutdownTimeout: {…}`.
pub static SHUTDOWN: Table = Table {
    name: "shutdown",
    title: "`shutdownTimeout`",
    doc: "How long each stage of the shutdown waits for the server to end.",
    example: "{stdin: 0s, term: 5s}",
    groups: &[&[
        Key::new("stdin", Duration, "0s", "After the end of its input, before SIGTERM (2 s)."),
        Key::new("term", Duration, "5s", "After SIGTERM, before SIGKILL (2 s)."),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};

/// `client: {…}`.
pub static CLIENT: Table = Table {
    name: "client",
    title: "`client`",
    doc: "Capabilities the client declares: `true`, or an object that is sent as it is.",
    example: "{roots: true}",
    groups: &[&[
        Key::new("roots", CAPABILITY, "{listChanged: true}", "The client has roots."),
        Key::new("sampling", CAPABILITY, "true", "The client can sample a model."),
        Key::new(
            "elicitation",
            CAPABILITY,
            "{form: {}, url: {}}",
            "The client can ask its user; without `url`, only by forms.",
        ),
        Key::new("tasks", CAPABILITY, "{list: {}, cancel: {}}", "The client can run what it is asked as tasks."),
        Key::new("experimental", CAPABILITY, "{\"com.example/feature\": {}}", "Whatever is not standard."),
        Key::new(
            "extensions",
            CAPABILITY,
            "{\"com.example/feature\": {}}",
            "Extensions of the protocol, by their identifiers.",
        ),
    ]],
    one_of: &[],
    required: &[],
    later: &[],
    elsewhere: &[],
};
