//! The subprocess protocol, right by default, and wrong in the way that the argument says.

use crate::{Options, deeds, fork, mcp, note};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::time::Duration;

/// Answers line by line until stdin ends.
pub(crate) fn serve(options: &Options) {
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.expect("text")).expect("a request is JSON");
        if options.mcp {
            mcp::answer(&request, options.careful).iter().for_each(|answer| raw(format!("{answer}\n").as_bytes()));
            continue;
        }
        let (id, params) = (&request["id"], &request["params"]);
        match request["method"].as_str() {
            Some("handshake") if options.bound => handshake(options, id),
            Some("execute") if options.bound => {
                let tool = params["tool"].as_str().or(options.careful.then_some(""));
                answer(options, id, tool.expect("a tool"), &params["arguments"]);
            }
            Some(method) if !options.bound => answer(options, id, method, params),
            _ => say(&json!({ "id": id, "error": { "code": -32601, "message": "no such method" } })),
        }
    }
}

fn handshake(options: &Options, id: &Value) {
    let manifest = json!({ "manifest": {
        "plugin_id": "hostile", "plugin_version": "0.1.0", "protocol_version": 1,
        "exposed_tools": ["hostile", "report.observe", "report.finish", "transform.suite"],
    } });
    match options.handshake.as_deref() {
        None => say(&json!({ "id": id, "result": manifest })),
        Some("hang") => deeds::hang(&Value::Null),
        Some("crash") => std::process::exit(3),
        Some("garbage") => raw(b"hello\n"),
        Some("refuse") => say(&json!({ "id": id, "error": { "code": 5, "message": "not today" } })),
        Some(result) => {
            let result: Value = serde_json::from_str(result).expect("a result is JSON");
            say(&json!({ "id": id, "result": result }));
        }
    }
}

fn answer(options: &Options, id: &Value, hook: &str, arguments: &Value) {
    if let (true, Err((code, message))) = (options.careful, deeds::refuse(hook, arguments)) {
        return say(&json!({ "id": id, "error": { "code": code, "message": message } }));
    }
    let good = json!({ "id": id, "result": true });
    match arguments["expected"]["do"].as_str().unwrap_or_default() {
        "hang" => deeds::hang(&arguments["expected"]["mark"]),
        "late" => {
            std::thread::sleep(Duration::from_millis(arguments["expected"]["ms"].as_u64().unwrap_or(1500)));
            say(&good);
        }
        "crash" => {
            eprintln!("told to crash");
            std::process::exit(3);
        }
        "half" => {
            raw(b"{\"id\":1,\"resu");
            std::process::exit(0);
        }
        "wrong-id" => say(&json!({ "id": 1_000_000, "result": true })),
        "text-id" => say(&json!({ "id": id.to_string(), "result": true })),
        "twice" => {
            say(&good);
            say(&good);
        }
        "both" => say(&json!({ "id": id, "result": true, "error": { "code": 1, "message": "no" } })),
        "neither" => say(&json!({ "id": id })),
        "not-json" => raw(b"Traceback (most recent call last):\n"),
        "binary" => raw(b"\x00\xff\xfe\x1b[2J\x80\n"),
        "close" => deeds::close(),
        "fork" => {
            note(options, fork());
            say(&good);
        }
        "fork-and-die" => {
            note(options, fork());
            std::process::exit(4);
        }
        "flood" => flood(),
        "chatter" => {
            let line = [&[b'e'; 1023][..], b"\n"].concat();
            (0..1024).for_each(|_| std::io::stderr().write_all(&line).expect("stderr takes a line"));
            say(&good);
        }
        "deaf" => loop {
            std::thread::park();
        },
        _ => match deeds::call(hook, arguments) {
            Ok(result) => say(&json!({ "id": id, "result": result })),
            Err((code, message)) => say(&json!({ "id": id, "error": { "code": code, "message": message } })),
        },
    }
}

/// A gigabyte without a line end.
pub(crate) fn flood() {
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..1024 {
        if std::io::stdout().write_all(&piece).is_err() {
            return;
        }
    }
    raw(b"\n");
}

fn say(answer: &Value) {
    raw(format!("{answer}\n").as_bytes());
}

pub(crate) fn raw(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).expect("stdout takes a line");
}
