use super::*;
use crate::mcp::fault::Code;
use crate::mcp::message::{Line, Message, parse_line};
use crate::mcp::transport::Incoming;
use crate::mcp::transport::http::outcome::{self, Head};
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderValue};
use serde_json::json;

fn message(value: Json) -> Message {
    match parse_line(value.to_string().as_bytes()) {
        Line::Message(message) => message,
        other => panic!("{other:?}"),
    }
}

fn line(value: Json) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn plain() -> Redact {
    Arc::new(|_, _| {})
}

/// A conversation in which one question has two answers, and another asks back.
fn recorded(folder: &Path) -> Cassette {
    let path = folder.join("a.json");
    let hide: Redact = Arc::new(|value, _| replace(value, "s3cret", "[redacted]"));
    let tape = Tape::new(&path, hide).unwrap();
    let mut recorder = tape.recorder("demo", "/tmp/one");
    for (id, text) in [(1, "first s3cret"), (2, "second")] {
        recorder.sent(&line(json!({"jsonrpc": "2.0", "id": id, "method": "read", "params": {"path": "/tmp/one/a"}})));
        recorder.stderr("reading /tmp/one/a\n");
        recorder.received(&message(json!({"jsonrpc": "2.0", "id": id, "result": {"text": text, "at": "/tmp/one/a"}})));
    }
    recorder.sent(&line(json!({"jsonrpc": "2.0", "method": "notifications/cancelled"})));
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": 3, "method": "ask", "params": {"key": "s3cret"}})));
    recorder.received(&message(json!({"jsonrpc": "2.0", "id": 9, "method": "roots/list"})));
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": 9, "result": {"roots": []}})));
    recorder.received(&message(json!({"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "no"}})));
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": 4, "method": "die"})));
    recorder.exited(Exit { code: Some(3), signal: None });
    assert_eq!(tape.save().unwrap(), 4);
    assert!(!std::fs::read_to_string(&path).unwrap().contains("s3cret"));
    Cassette::load(&path).unwrap()
}

fn player(cassette: Cassette) -> Player {
    let hide: Redact = Arc::new(|value, _| replace(value, "s3cret", "[redacted]"));
    let deck = Deck::new(Path::new("a.json"), cassette);
    deck.hide(hide);
    deck.player("demo", "/tmp/two")
}

fn raw(player: &mut Player) -> Json {
    match player.heard() {
        Some(Incoming::Message(message)) => message.value().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_recorded_is_played_in_order_and_the_last_answer_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut player = player(recorded(folder.path()));
    for (id, text) in [("x", "first [redacted]"), ("y", "second"), ("z", "second")] {
        player.send(&line(json!({"jsonrpc": "2.0", "id": id, "method": "read", "params": {"path": "/tmp/two/a"}})));
        assert!(matches!(player.heard(), Some(Incoming::Stderr(said)) if said == "reading /tmp/two/a\n"));
        let expected = json!({"jsonrpc": "2.0", "id": id, "result": {"text": text, "at": "/tmp/two/a"}});
        assert_eq!(raw(&mut player), expected);
        assert!(player.heard().is_none());
    }
    player.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "die"})));
    assert!(matches!(player.heard(), Some(Incoming::Exited(Exit { code: Some(3), .. }))));
}

#[test]
fn a_question_of_the_server_is_awaited_and_its_answer_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut player = player(recorded(folder.path()));
    for (roots, fits) in [(json!([]), true), (json!(["elsewhere"]), false)] {
        player.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {"key": "s3cret"}})));
        assert_eq!(raw(&mut player), json!({"jsonrpc": "2.0", "id": 9, "method": "roots/list"}));
        assert!(player.heard().is_none(), "the answer comes first");
        player.send(&line(json!({"jsonrpc": "2.0", "id": 9, "result": {"roots": roots}})));
        if !fits {
            let Some(Incoming::Failed(fault)) = player.heard() else { panic!("a miss") };
            assert_eq!(fault.code, Code::CassetteMiss);
            assert!(fault.hints[0].contains("$.result.roots[0]: recorded nothing"), "{:?}", fault.hints);
        }
        assert_eq!(raw(&mut player)["error"]["message"], "no");
    }
}

#[test]
fn a_miss_shows_the_nearest_recording() {
    let folder = tempfile::tempdir().unwrap();
    let mut cassette = recorded(folder.path());
    let read = |path: &str| line(json!({"jsonrpc": "2.0", "id": 1, "method": "read", "params": {"path": path}}));
    let mut strict = player(cassette.clone());
    strict.send(&read("/etc/other"));
    let Some(Incoming::Failed(fault)) = strict.heard() else { panic!("a miss") };
    assert_eq!(fault.message, "`a.json` has no recording of this `read`");
    assert_eq!(
        fault.hints[0],
        "the nearest one differs: $.params.path: recorded `\"${tmp}/a\"`, asked `\"/etc/other\"`"
    );
    strict.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "never"})));
    let Some(Incoming::Failed(fault)) = strict.heard() else { panic!("a miss") };
    assert!(fault.hints[0].starts_with("nothing like it"), "{:?}", fault.hints);
    strict.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})));
    assert_eq!(raw(&mut strict)["result"], json!({}));

    cassette.ignore.push("$.params.path".into());
    let mut lenient = player(cassette);
    lenient.send(&read("/etc/other"));
    assert!(matches!(lenient.heard(), Some(Incoming::Stderr(_))));
}

#[test]
fn a_place_with_an_odd_name_is_shown_as_ignore_takes_it() {
    let asked = json!({"params": {"a-b": {"it's": 1}, "plain_1": [0]}});
    let found = matching::differences(&json!({"params": {"a-b": {"it's": 2}, "plain_1": [1]}}), &asked);
    assert_eq!(
        found,
        [r"$.params['a-b']['it\'s']: recorded `2`, asked `1`", "$.params.plain_1[0]: recorded `1`, asked `0`"]
    );
    for told in found {
        let (path, _) = told.split_once(": recorded").unwrap();
        assert_eq!(serde_json_path::JsonPath::parse(path).unwrap().query(&asked).len(), 1, "{path}");
    }
}

/// What the server says after a request that was given up belongs to the next one, its death too.
#[test]
fn a_request_that_was_given_up_keeps_nothing_that_came_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let tape = Tape::new(&folder.path().join("a.json"), plain()).unwrap();
    let mut recorder = tape.recorder("demo", "/tmp/one");
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "hang"})));
    recorder.sent(&line(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "timeout"}}),
    ));
    recorder.received(&message(json!({"jsonrpc": "2.0", "id": 1, "result": "late"})));
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": 2, "method": "never"})));
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": 3, "method": "die"})));
    recorder.stderr("dying\n");
    recorder.exited(Exit { code: Some(3), signal: None });
    tape.save().unwrap();
    let mut player = player(Cassette::load(&folder.path().join("a.json")).unwrap());
    for method in ["hang", "never"] {
        player.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": method})));
        assert!(player.heard().is_none(), "{method}");
    }
    player.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "die"})));
    assert!(matches!(player.heard(), Some(Incoming::Stderr(said)) if said == "dying\n"));
    assert!(matches!(player.heard(), Some(Incoming::Exited(Exit { code: Some(3), .. }))));
}

/// Over several requests that are open at once, and a subscription that stays open.
#[test]
fn a_notification_is_kept_with_the_request_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let tape = Tape::new(&path, plain()).unwrap();
    let mut recorder = tape.recorder("demo", "/tmp/one");
    let meta = |id: &str| json!({"io.modelcontextprotocol/subscriptionId": id});
    let call = |id: &str| {
        let params = json!({"name": "slow", "_meta": {"progressToken": format!("mcptest-{id}")}});
        line(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    };
    let progress = |id: &str| {
        let params = json!({"progressToken": format!("mcptest-{id}"), "progress": 1});
        message(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
    };
    let told = |method: &str| {
        message(json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": {"_meta": meta("s")}}))
    };
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen"})));
    recorder.received(&told("subscriptions/acknowledged"));
    recorder.received(&told("resources/updated"));
    recorder.sent(&call("a"));
    recorder.sent(&call("b"));
    ["a", "b", "a"].iter().for_each(|id| recorder.received(&progress(id)));
    tape.save().unwrap();
    let cassette = Cassette::load(&path).unwrap();
    let said = |at: usize| -> Vec<String> {
        let notifications = cassette.exchanges[at].during.iter().filter_map(|said| said.notification.as_ref());
        notifications.map(|said| said["params"].to_string()).collect()
    };
    assert_eq!(said(0), [json!({"_meta": meta("s")}).to_string()]);
    assert_eq!((said(1).len(), said(2).len()), (3, 1), "{:?}", cassette.exchanges);
    let mut player = player(cassette.clone());
    player.send(&line(json!({"jsonrpc": "2.0", "id": "today", "method": "subscriptions/listen"})));
    assert_eq!(raw(&mut player)["params"]["_meta"], meta("today"));
    assert!(player.heard().is_none());
    player.send(&call("9"));
    assert_eq!(raw(&mut player)["params"]["_meta"], meta("today"));
    assert_eq!(raw(&mut player)["params"]["progressToken"], "mcptest-9");
}

#[test]
fn each_test_hears_what_it_heard_whatever_else_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/a.json");
    let suite = folder.path().join("s.test.mcp.yml");
    std::fs::write(&suite, "").unwrap();
    let suite = suite.to_str().unwrap();
    let tape = Tape::new(&path, plain()).unwrap();
    let mut recorder = tape.recorder("demo", "/tmp/one");
    for (test, count) in [("#tools/a", 1), ("#tools/a", 2), ("#tools/b", 3)] {
        recorder.concerns(suite, test);
        recorder.sent(&line(json!({"jsonrpc": "2.0", "id": count, "method": "count"})));
        recorder.received(&message(json!({"jsonrpc": "2.0", "id": count, "result": count})));
    }
    tape.save().unwrap();
    let cassette = Cassette::load(&path).unwrap();
    assert_eq!(cassette.exchanges[2].test.as_deref(), Some("../s.test.mcp.yml#tools/b"));
    let deck = Deck::new(&path, cassette);
    let ask = |test: Option<&str>| {
        let mut player = deck.player("demo", "/tmp/two");
        if let Some(test) = test {
            player.concerns(suite, test);
        }
        player.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "count"})));
        raw(&mut player)["result"].as_i64().unwrap()
    };
    // A test of another name takes what nobody else took.
    let asked = ["#tools/b", "#tools/a", "#tools/b", "#tools/a", "#tools/a", "#tools/new"].map(|test| ask(Some(test)));
    assert_eq!(asked, [3, 1, 3, 2, 2, 3]);
    let deck = Deck::new(&path, Cassette::load(&path).unwrap());
    let mut player = deck.player("demo", "/tmp/two");
    player.concerns(suite, "#tools/new");
    player.send(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "count"})));
    assert_eq!(raw(&mut player)["result"], 1);
}

#[test]
fn no_header_that_may_be_a_secret_is_kept() {
    let mut headers = HeaderMap::new();
    for name in ["set-cookie", "mcp-session-id", "authorization", "proxy-authenticate", "x-api-key", "x-auth-token"] {
        headers.append(name, HeaderValue::from_static("canary"));
    }
    headers.append("www-authenticate", HeaderValue::from_static("Bearer"));
    headers.append("date", HeaderValue::from_static("today"));
    headers.append("location", HeaderValue::from_static("http://a/b?code=canary"));
    let head = Arc::new(Head { status: StatusCode::OK, headers });
    let ended = outcome::Ended { ticket: 1, head: Some(head.clone()), body: Some("no".into()), ..Default::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let tape = Tape::new(&path, plain()).unwrap();
    let mut recorder = tape.recorder("demo", "/tmp/one");
    recorder.sent(&line(json!({"jsonrpc": "2.0", "id": 1, "method": "ask"})));
    recorder.carried_by(1);
    recorder.came(&Incoming::Head { ticket: 1, head });
    recorder.came(&Incoming::Ended(Box::new(ended)));
    tape.save().unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(!written.contains("canary") && !written.contains("today"), "{written}");
    let mut player = player(Cassette::load(&path).unwrap());
    assert_eq!(player.send(&line(json!({"jsonrpc": "2.0", "id": 2, "method": "ask"}))), 1);
    assert!(matches!(player.heard(), Some(Incoming::Head { ticket: 1, .. })));
    let Some(Incoming::Ended(ended)) = player.heard() else { panic!("an end") };
    let head = ended.head.as_ref().expect("a head");
    assert_eq!((head.header("set-cookie"), head.header("www-authenticate")), (Some("[redacted]"), Some("Bearer")));
    assert_eq!(head.header("location"), Some("http://a/b?[redacted]"));
    assert_eq!((ended.body.as_deref(), ended.answered), (Some("no"), false));
}

#[test]
fn a_tape_that_cannot_be_written_is_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    for place in [folder.path().to_owned(), folder.path().join("file/below.json")] {
        assert!(Tape::new(&place, plain()).is_err(), "{}", place.display());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn a_corrupt_cassette_is_a_problem_with_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    for (text, message, line) in [
        ("{\n  \"cassette\": 1,\n  oops\n", "this is no cassette: key must be a string", 3),
        ("{\n  \"cassette\": 1,\n  \"tracks\": []\n}", "this is no cassette: unknown field `tracks`", 3),
        ("{\n  \"cassette\": 7,\n  \"exchanges\": []\n}", "the cassette has the format 7", 2),
        ("{\n  \"cassette\": 1,\n  \"ignore\": [\"$$\"],\n  \"exchanges\": []\n}", "`ignore`: `$$` is no JSONPath", 3),
    ] {
        std::fs::write(&path, text).unwrap();
        let problem = Cassette::load(&path).expect_err(text);
        assert!(problem.message.starts_with(message), "{}", problem.message);
        let (source, span) = problem.place.as_ref().expect("a place");
        assert_eq!(source.position(span.start).line, line, "{text}");
    }
    assert!(Cassette::load(&folder.path().join("none.json")).unwrap_err().message.contains("does not exist"));
}

#[test]
fn an_older_recording_keeps_what_it_ignores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/a.json");
    Cassette { ignore: vec!["$.params.now".into()], ..Cassette::default() }.save(&path).unwrap();
    let tape = Tape::new(&path, plain()).unwrap();
    tape.save().unwrap();
    assert_eq!(Cassette::load(&path).unwrap().ignore, ["$.params.now"]);
}
