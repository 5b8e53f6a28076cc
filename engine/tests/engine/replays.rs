//! What a replay has to see through: another version of the engine, ids that belong to a session, HTTP.

use crate::kit::{Place, messages, verdicts};

const STDIO: &str = "name: demo\ncommand: mcptest\nargs: [demo-server]\n";
const HTTP: &str =
    "name: demo\ncommand: mcptest\nargs: [demo-server, --http, \"${port}\"]\nurl: \"http://127.0.0.1:${port}/mcp\"\n";
/// The same server, gone.
const GONE: &str = "name: demo\ncommand: ./no-such-server\n";

/// A place in which a suite was recorded as `c.json`, and where there is no server any more.
fn recorded(config: &str, protocol: &str, suite: &str) -> Place {
    let place = Place::new();
    place.write("mcptest.yml", &format!("{config}protocol: {protocol}\n"));
    place.write("suite.test.mcp.yml", suite);
    let (code, report) = place.report(&["--record", "c.json"]);
    assert_eq!(code, 0, "{protocol}: {:#?} {:#?}", verdicts(&report), messages(&report));
    place.write("mcptest.yml", &format!("{GONE}protocol: {protocol}\n"));
    place
}

/// Plays `c.json` with these arguments more: everything passes.
fn plays(place: &Place, args: &[&str]) -> Vec<String> {
    let (code, report) = place.report(&[&["--replay", "c.json"], args].concat());
    assert_eq!(code, 0, "{args:?}: {:#?} {report:#}", verdicts(&report));
    verdicts(&report)
}

const ECHO: &str = "tools:\n  - { it: echoes, tool: echo, args: { message: hi }, expect: { text: hi } }\n";

#[test]
fn the_version_of_the_engine_is_not_compared() {
    for (config, protocol) in [(STDIO, "legacy"), (STDIO, "modern"), (HTTP, "modern"), (HTTP, "auto")] {
        let place = recorded(config, protocol, ECHO);
        let cassette = place.read("c.json");
        let version = concat!("\"version\": \"", env!("CARGO_PKG_VERSION"), "\"");
        assert!(cassette.contains(version), "{cassette}");
        place.write("c.json", &cassette.replace(version, "\"version\": \"0.0.9\""));
        assert_eq!(plays(&place, &[]), ["echoes: passed"], "{protocol}");
    }
}

/// Tokens and subscriptions are counted, so that every test gets other ones when the tests before it do not run.
#[test]
fn progress_and_subscriptions_are_played_whichever_tests_run() {
    let suite = format!(
        r#"{ECHO}
  - {{ it: tells its progress, tool: slow, args: {{ steps: 2, ms: 1 }}, expect: {{ progress: 2 }} }}
  - it: keeps calls apart
    parallel:
      - {{ tool: slow, args: {{ steps: 2, ms: 20 }}, expect: {{ progress: {{ $length: 2 }} }} }}
      - {{ tool: slow, args: {{ steps: 4, ms: 10 }}, expect: {{ progress: {{ $length: 4 }} }} }}
resources:
  - it: hears of changes
    steps:
      - {{ subscribe: "demo://motd" }}
      - {{ tool: set_motd, args: {{ text: new }}, expect: {{ notifications: {{ notifications/resources/updated: {{ $length: 1 }} }} }} }}
      - {{ unsubscribe: "demo://motd" }}
"#
    );
    for (config, protocol) in [(STDIO, "legacy"), (STDIO, "modern"), (HTTP, "legacy"), (HTTP, "modern")] {
        let place = recorded(config, protocol, &suite);
        assert_eq!(plays(&place, &[]).len(), 4);
        for it in ["tells its progress", "keeps calls apart", "hears of changes"] {
            assert_eq!(plays(&place, &["--filter", it]), [format!("{it}: passed")], "{protocol}");
        }
    }
}

#[test]
fn what_the_cassette_ignores_may_differ() {
    let place = recorded(STDIO, "legacy", ECHO);
    place.write("suite.test.mcp.yml", &ECHO.replace("message: hi", "message: other"));
    let (code, report) = place.report(&["--replay", "c.json"]);
    assert_eq!((code, verdicts(&report)), (1, vec!["echoes: faulted (cassette_miss)".to_owned()]), "{report:#}");
    let ignoring = "\"ignore\": [\"$.params.arguments.message\"], \"exchanges\"";
    place.write("c.json", &place.read("c.json").replace("\"exchanges\"", ignoring));
    assert_eq!(plays(&place, &[]), ["echoes: passed"]);
}
