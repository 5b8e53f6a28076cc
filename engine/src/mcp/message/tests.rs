//! What a line is taken for.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn one(line: &str) -> Message {
    match parse_line(line.as_bytes()) {
        Line::Message(message) => message,
        other => panic!("one message, not {other:?}"),
    }
}

#[test]
fn messages_are_told_apart() {
    let response = |id, is_error| Kind::Response { id, is_error };
    let cases = [
        (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, response(json!(7), false)),
        (r#"{"jsonrpc":"2.0","id":"a","result":null}"#, response(json!("a"), false)),
        (r#" {"result":1,"id":0,"jsonrpc":"2.0","extra":[]} "#, response(json!(0), false)),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, response(Json::Null, true)),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Kind::Request { id: json!(1), method: "ping".into() }),
        (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, Kind::Request { id: Json::Null, method: "a".into() }),
        (r#"{"jsonrpc":"2.0","m\u0065thod":"\u0061"}"#, Kind::Notification { method: "a".into() }),
    ];
    for (line, kind) in cases {
        let message = one(line);
        assert_eq!(message.kind, kind, "{line}");
        assert_eq!(message.notes, Vec::<String>::new(), "{line}");
        assert_eq!(message.raw, line);
    }
}

#[test]
fn oddities_are_noted_and_survived() {
    let cases = [
        (r#"{"id":7,"result":{}}"#, "without `jsonrpc`"),
        (r#"{"jsonrpc":2.0,"id":7,"result":{}}"#, "`jsonrpc` is `2.0`, not `\"2.0\"`"),
        (r#"{"jsonrpc":"2.0","error":{"code":-32700}}"#, "an `error` without `id`"),
        (r#"{"jsonrpc":"2.0","id":7,"id":8,"result":{}}"#, "a key of the message is there twice; the last one counts"),
        (r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#, "its `id` is `[1]`, neither a string nor a number"),
        (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":null}"#, "`error: null` beside a `result`"),
        (r#"{"jsonrpc":"2.0","id":7,"result":null,"error":{}}"#, "`result: null` beside an `error`"),
    ];
    for (line, note) in cases {
        let message = one(line);
        assert!(matches!(message.kind, Kind::Response { .. }), "{line}");
        assert_eq!(message.notes, [note], "{line}");
    }
}

#[test]
fn json_that_is_no_message_says_why_and_keeps_its_id() {
    let cases = [
        ("{}", None, "neither `method` nor `result` nor `error`"),
        (r#"{"id":3}"#, Some(json!(3)), "neither `method` nor `result` nor `error`"),
        (r#"{"id":3,"result":1,"error":2}"#, Some(json!(3)), "both `result` and `error`"),
        (r#"{"id":3,"result":null,"error":null}"#, Some(json!(3)), "both `result` and `error`"),
        (r#"{"result":1}"#, None, "a `result` without `id`"),
        (r#"{"id":3,"method":7}"#, Some(json!(3)), "its `method` is not a string"),
        (
            r#"{"id":3,"method":"a","result":1}"#,
            Some(json!(3)),
            "both a call and an answer: `method` beside `result` or `error`",
        ),
        (r#"{"id":1e400,"result":1}"#, None, "its `id` cannot be read: number out of range"),
        ("[]", None, "an empty batch"),
    ];
    for (line, id, why) in cases {
        assert_eq!(one(line).kind, Kind::Invalid { id, why: why.to_owned() }, "{line}");
    }
}

#[test]
fn everything_else_is_noise() {
    for line in
        ["", " ", "Listening…", "42", "null", "\"text\"", "{oops", "[INFO] up", "{} {}", "{\"a\":1", "\u{FEFF}{}"]
    {
        assert!(matches!(parse_line(line.as_bytes()), Line::Noise(text) if text == line), "{line}");
    }
}

#[test]
fn the_body_is_read_when_asked_for() {
    let message = one(r#"{"jsonrpc":"2.0","id":7,"result": {"a": [1, 2]} }"#);
    assert_eq!(message.body_text(), Some(r#"{"a": [1, 2]}"#));
    assert_eq!(message.body(), Ok(json!({"a": [1, 2]})));
    assert_eq!(message.value(), Ok(json!({"jsonrpc": "2.0", "id": 7, "result": {"a": [1, 2]}})));
    assert_eq!(one(r#"{"jsonrpc":"2.0","method":"a"}"#).body(), Ok(Json::Null));
    assert_eq!(one(r#"{"jsonrpc":"2.0","method":"a","params":[1]}"#).body(), Ok(json!([1])));
    assert_eq!(one(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#).body(), Ok(json!({"code": 1})));
}

#[test]
fn a_batch_is_several_messages() {
    let line = br#"[{"jsonrpc":"2.0","id":1,"result":{}}, {"jsonrpc":"2.0","method":"a"}, 7]"#;
    let Line::Batch(messages) = parse_line(line) else { panic!("a batch") };
    assert_eq!(messages[0].kind, Kind::Response { id: json!(1), is_error: false });
    assert_eq!(messages[0].raw, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(messages[0].notes, ["sent in a batch"]);
    assert_eq!(messages[1].kind, Kind::Notification { method: "a".into() });
    assert_eq!(messages[2].kind, Kind::Invalid { id: None, why: "not an object".into() });

    let endless = format!("[{}{{}}]", "{},".repeat(MAX_BATCH));
    let why = format!("a batch of {} messages, more than {MAX_BATCH}", MAX_BATCH + 1);
    assert_eq!(one(&endless).kind, Kind::Invalid { id: None, why });
}

#[test]
fn lone_surrogates_are_read_as_replacement_characters() {
    let line = r#"{"jsonrpc":"2.0","id":"\ud83d","result":{"k\udc00":"a\ud83d","ok":"\ud83d\ude00"}}"#;
    let message = one(line);
    assert_eq!(message.raw, line);
    assert_eq!(message.kind, Kind::Response { id: json!("\u{FFFD}"), is_error: false });
    assert_eq!(message.notes, ["an escaped surrogate without its other half, read as U+FFFD"]);
    assert_eq!(message.body(), Ok(json!({"k\u{FFFD}": "a\u{FFFD}", "ok": "😀"})));
    assert_eq!(one(r#"{"jsonrpc":"2.0","id":1,"\ud83d":2,"result":3}"#).body(), Ok(json!(3)));
}

#[test]
fn invalid_utf8_is_survived() {
    let Line::Message(message) = parse_line(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xFFe\xC3\"}") else {
        panic!("a message")
    };
    assert_eq!(message.notes, ["invalid UTF-8, read as U+FFFD"]);
    assert!(message.body().is_ok());
    assert!(matches!(parse_line(b"\xFF\xFE"), Line::Noise(text) if text == "\u{FFFD}\u{FFFD}"));
}

#[test]
fn what_cannot_be_held_is_an_answer_all_the_same() {
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    let message = one(&deep);
    assert_eq!(message.kind, Kind::Response { id: json!(1), is_error: false });
    assert_eq!(message.body().expect_err("too deep").to_string(), "nested deeper than 128 levels");
    assert!(message.value().is_err());
    let message = one(r#"{"jsonrpc":"2.0","id":1,"result":{"n":1e400}}"#);
    assert_eq!(message.kind, Kind::Response { id: json!(1), is_error: false });
    assert_eq!(message.body().expect_err("too large").to_string(), "number out of range");
    let endless = format!(r#"{{"id":1,"result":{}"#, "[".repeat(1_000_000));
    assert!(matches!(parse_line(endless.as_bytes()), Line::Noise(_)));
}

proptest! {
    #[test]
    fn no_line_is_too_much(bytes: Vec<u8>, fragments in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", "\"", ":", ",", "\\ud83d", "\\", "id", "\"id\":", "\"result\":", "\"method\":", "1", "null", "é",
    ]), 0..30)) {
        let text = fragments.concat();
        for line in [&bytes[..], text.as_bytes(), &[b"{", &bytes[..], b"}"].concat()] {
            if let Line::Message(message) = parse_line(line) {
                let _ = (message.body(), message.value());
                prop_assert_eq!(&message.raw, &String::from_utf8_lossy(line));
            }
        }
    }
}
