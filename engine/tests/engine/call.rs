//! `mcptest call`: one request from the shell.

use crate::kit::{Place, Said, fixture_server};
use serde_json::{Value, json};

fn call(args: &[&str], flags: &[&str]) -> Said {
    let place = Place::new();
    let server = fixture_server();
    let pids = place.path("pids");
    let after = [&["--", &server, "--pid-file", pids.to_str().expect("text")][..], flags].concat();
    let said = place.mcptest(&[&["call"][..], args, &after].concat());
    place.assert_nothing_left();
    said
}

fn json_of(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

#[test]
fn the_result_is_json_on_stdout() {
    let said = call(&["tools/call", "echo", "message=hi"], &[]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    assert_eq!(json_of(&said), json!({"content": [{"type": "text", "text": "hi"}]}));
    let said = call(&["echo_json", "value:={\"a\": [1, true]}"], &["--noisy-stderr", "--garbage"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    assert_eq!(json_of(&said)["structuredContent"], json!({"a": [1, true]}));
    let said = call(&["echo", "--args", "{\"message\": \"no\", \"x\": 1}", "message=over it"], &[]);
    assert_eq!(json_of(&said)["content"][0]["text"], "over it");
    let said = call(&["resources/read", "fixture://motd"], &[]);
    assert_eq!(json_of(&said)["contents"][0]["text"], "hello from the fixture");
    let said = call(&["prompts/get", "greet", "name=Ada", "--raw"], &[]);
    assert_eq!(json_of(&said)["result"]["messages"][0]["content"]["text"], "Say hello to Ada.");
    assert_eq!(json_of(&call(&["ping"], &[])), json!({}));
    assert!(call(&["tools/list"], &["--page-size", "2"]).stdout.contains("nextCursor"));
}

#[test]
fn the_exit_code_says_what_went_wrong() {
    let said = call(&["fail", "text=out of paper"], &[]);
    assert_eq!((said.code, json_of(&said)["isError"].clone()), (1, json!(true)));
    let said = call(&["error", "code:=-32000", "message=nothing there"], &[]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert_eq!(said.stderr, "error: the server answered: -32000 nothing there\n");
    let said = call(&["crash", "code:=4"], &[]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(said.stderr.contains("exit code 4") && said.stderr.contains("\n  crashing as asked\n"), "{}", said.stderr);
    let said = call(&["echo", "message=x"], &["--exit-at-start", "5"]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("  cannot start"), "{}", said.stderr);
    let said = call(&["echo", "message=x", "--timeout", "50ms"], &["--hang-on", "tools/call"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("no answer to `tools/call` within 50ms"), "{}", said.stderr);
    for (args, word) in [
        (&["echo", "hi"][..], "KEY=TEXT"),
        (&["echo", "n:=x"], "`n=x`"),
        (&["tools/call"], "needs a name"),
        (&["echo", "--args", "[1]"], "JSON object"),
        (&["notifications/cancelled", "requestId=1"], "nothing answers it"),
        (&["echo", "--protocol", "moderm"], "auto, legacy, modern"),
    ] {
        let said = call(args, &[]);
        assert!(said.code == 2 && said.stderr.contains(word), "{args:?}: {}", said.stderr);
    }
    let said = Place::new().mcptest(&["call", "ping"]);
    assert!(said.code == 2 && said.stderr.contains("there is no server to speak to"), "{}", said.stderr);
}

#[test]
fn what_the_server_asks_is_refused_unless_answers_are_wanted() {
    let form = r#"{"requestedSchema": {"type": "object", "properties": {"n": {"type": "integer", "default": 7}}}}"#;
    let ask = ["ask", "method=elicitation/create", &format!("params:={form}")].map(str::to_owned);
    let ask: Vec<&str> = ask.iter().map(String::as_str).collect();
    assert!(json_of(&call(&ask, &[]))["content"][0]["text"].as_str().expect("text").contains("-32601"));
    let said = call(&[&ask[..], &["--answer"]].concat(), &[]);
    let told: Value = serde_json::from_str(json_of(&said)["content"][0]["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(told["result"], json!({"action": "accept", "content": {"n": 7}}));
    let said = call(&["echo", "message=hi", "--verbose"], &["--noisy-stderr"]);
    assert!(said.stderr.contains("→ {") && said.stderr.contains("← {") && said.stderr.contains("| log:"), "{said:?}");
    assert_eq!((said.stderr.matches("serverInfo").count(), said.stderr.matches("← {").count()), (1, 3), "{said:?}");
}

#[test]
fn the_protocol_and_the_patience_come_from_the_command_line() {
    let said = call(&["echo", "message=hi", "--protocol", "modern"], &["--modern-only"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let place = Place::with_config(&["--slow-start", "600"], "startupTimeout: 200ms\n", "tests: []\n");
    assert_eq!(place.mcptest(&["call", "echo", "message=hi"]).code, 3);
    assert_eq!(place.mcptest(&["call", "echo", "message=hi", "--timeout", "20s"]).code, 0);
}

#[test]
fn the_server_comes_from_the_config() {
    let place = Place::new();
    let server = Value::from(fixture_server());
    place.write("mcptest.yml", &format!("servers:\n  one: {{ command: {server} }}\n  two: {{ command: nowhere }}\n"));
    let said = place.mcptest(&["call", "--server", "one", "echo", "message=hi"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let said = place.mcptest(&["call", "echo", "message=hi"]);
    assert!(said.code == 2 && said.stderr.contains("`one`, `two`"), "{}", said.stderr);
    let said = place.mcptest(&["call", "--server", "tow", "ping"]);
    assert!(said.code == 2 && said.stderr.contains("did you mean `two`?"), "{}", said.stderr);
    assert_eq!(place.mcptest(&["call", "--server", "two", "ping"]).code, 3);
}
