//! What hooks return, whatever wire they were called over: a result, or an error with a code.

use serde_json::{Value, json};
use std::os::unix::process::CommandExt;
use std::process::Command;

pub(crate) const TOOLS: [&str; 4] = ["hostile", "report.observe", "report.finish", "transform.suite"];

/// A result, or a code with a message.
pub(crate) type Done = Result<Value, (i64, &'static str)>;

/// Calls a hook.
pub(crate) fn call(hook: &str, arguments: &Value) -> Done {
    match hook {
        "report.observe" => Ok(observe(&arguments["event"])),
        "report.finish" => Ok(json!([{ "text": "finished\n" }])),
        "transform.suite" => transform(arguments["suite"].clone()),
        _ => judge(arguments),
    }
}

/// What a careful plugin says of what it does not have, and of arguments that are none.
pub(crate) fn refuse(hook: &str, arguments: &Value) -> Result<(), (i64, &'static str)> {
    match hook {
        "report.observe" if arguments["event"].is_object() => Ok(()),
        "report.finish" => Ok(()),
        "transform.suite" if arguments["suite"].is_object() => Ok(()),
        "hostile" if arguments["expected"]["do"].is_string() => Ok(()),
        "" => Err((-32602, "a tool is needed")),
        hook if TOOLS.contains(&hook) => Err((-32602, "the arguments are wrong")),
        _ => Err((-32601, "no such hook")),
    }
}

fn judge(arguments: &Value) -> Done {
    let fail = |message: String| Ok(json!({ "pass": false, "message": message }));
    match arguments["expected"]["do"].as_str().unwrap_or_default() {
        "pass" => Ok(json!(true)),
        "no" => Ok(json!(false)),
        "fail" => fail(format!("told to fail, at `{}` of `{}`", text(&arguments["path"]), text(&arguments["step"]))),
        "echo" => fail(arguments["actual"].to_string()),
        "inside" => Ok(json!({ "pass": false, "message": "no", "path": "$.a", "expected": 1, "actual": null })),
        "unknown" => Err((-32601, "no such matcher")),
        "invalid" => Err((-32602, "only known now")),
        "internal" => Err((7, "something broke")),
        "unexpected" => Err((-32603, "nobody expected that")),
        "huge" => fail("x".repeat(2 * 1024 * 1024)),
        "nothing" => Ok(Value::Null),
        "text" => Ok(json!("true")),
        "environment" => fail(std::env::vars().map(|(name, value)| format!("{name}={value}\n")).collect()),
        "folder" => fail(std::env::current_dir().expect("a folder").display().to_string()),
        "process" => fail(std::process::id().to_string()),
        other => panic!("told to {other}"),
    }
}

fn observe(event: &Value) -> Value {
    if event["type"] != "test-finished" {
        return Value::Null;
    }
    let test = text(&event["data"]["test"]["name"]);
    match test.strip_prefix("report ") {
        Some("panic") => panic!("told to panic in observe"),
        Some("hang") => hang(&Value::Null),
        Some(name) => json!([{ "name": name, "text": "named\n" }]),
        None => json!([{ "text": format!("{test}\n") }]),
    }
}

fn transform(mut suite: Value) -> Done {
    match suite["x-hostile"].as_str().unwrap_or_default() {
        "panic" => panic!("told to panic in transform"),
        "hang" => hang(&suite["x-mark"]),
        "list" => return Ok(json!([])),
        "refuse" => return Err((7, "no")),
        "unknown-key" => suite["tools"][0]["expct"] = Value::Null,
        "rename" => suite["description"] = "Renamed".into(),
        _ => {}
    }
    Ok(suite)
}

/// Never answers; says so with a file, where one is named.
pub(crate) fn hang(mark: &Value) -> ! {
    if let Some(path) = mark.as_str() {
        std::fs::write(path, "").expect("the mark is written");
    }
    loop {
        std::thread::park();
    }
}

/// Closes stdout, and lives on until it is killed.
pub(crate) fn close() -> ! {
    let error = Command::new("sh").args(["-c", "exec >&-; while read -r line; do :; done; exec sleep 1000"]).exec();
    panic!("sh does not start: {error}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
