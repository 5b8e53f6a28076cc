//! A guest that misbehaves on demand. The argument of `$hostile` says how: `{do: loop}`, `{do: read, what: /etc/passwd}`.
//!
//! What a sandboxed attempt gave comes back as the message of a mismatch, so that a test can read it.

mod attempts;
mod reaches;

wit_bindgen::generate!({ path: "../../../wit", world: "extension" });

use exports::mcptest::extension::{describing, matching, reporting, transforming};
use mcptest::extension::host::{self, Level};
use mcptest::extension::types::{Failure, Manifest, MatchRequest, MatcherInfo, Mismatch, Output, Verdict};
use serde_json::Value;
use std::sync::Mutex;

struct Hostile;

/// What the end of the report is to be.
static LAST: Mutex<String> = Mutex::new(String::new());

export!(Hostile);

/// Bytes that are no UTF-8, as a string.
fn garbage() -> String {
    // SAFETY: none, that is the point: it is what a broken guest in another language would hand over.
    unsafe { String::from_utf8_unchecked(vec![0xff, 0xfe, 0x80]) }
}

/// One text four times, which has the size of one in here, and of four outside.
fn again() -> Verdict {
    let mut one = std::mem::ManuallyDrop::new("1".repeat(24 * 1024 * 1024));
    // SAFETY: none, as above: whoever frees the first one frees all of them.
    let mut again = || unsafe { String::from_raw_parts(one.as_mut_ptr(), one.len(), one.capacity()) };
    Verdict::Fail(Mismatch { message: again(), path: Some(again()), expected: Some(again()), actual: Some(again()) })
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn fail(message: impl Into<String>) -> Verdict {
    Verdict::Fail(Mismatch { message: message.into(), path: None, expected: None, actual: None })
}

impl describing::Guest for Hostile {
    fn describe() -> Manifest {
        let info = |name: &str| MatcherInfo { name: name.into(), summary: String::new(), argument_schema: None };
        Manifest {
            id: "hostile".into(),
            version: "0.1.0".into(),
            matchers: vec![info("hostile"), info("contains")],
            capabilities: Vec::new(),
        }
    }
}

impl matching::Guest for Hostile {
    fn check(_matcher: String, expected: String) -> Result<(), Failure> {
        let argument: Value = serde_json::from_str(&expected).map_err(|error| Failure::Internal(error.to_string()))?;
        match argument["check"].as_str() {
            Some("refuse") => Err(Failure::InvalidArgument("it was told to refuse".into())),
            Some("loop") => attempts::spin(),
            Some("panic") => panic!("told to panic in check"),
            Some("garbage") => Err(Failure::Internal(garbage())),
            Some("garbage-argument") => Err(Failure::InvalidArgument(garbage())),
            _ => Ok(()),
        }
    }

    fn evaluate(request: MatchRequest) -> Result<Verdict, Failure> {
        if !["hostile", "contains"].contains(&request.matcher.as_str()) {
            return Err(Failure::UnknownMatcher(request.matcher));
        }
        let argument: Value =
            serde_json::from_str(&request.expected).map_err(|error| Failure::Internal(error.to_string()))?;
        let what = text(&argument, "what");
        let mut mismatch = Mismatch { message: "no".into(), path: None, expected: None, actual: None };
        match argument["do"].as_str().unwrap_or_default() {
            "pass" => return Ok(Verdict::Pass),
            "fail" => return Ok(fail(format!("told to fail, at `{}` of `{}`", request.path, request.step))),
            "echo" => return Ok(fail(request.actual)),
            "unknown" => return Err(Failure::UnknownMatcher(request.matcher)),
            "invalid" => return Err(Failure::InvalidArgument("only known now".into())),
            "internal" => return Err(Failure::Internal("something broke".into())),
            "path" => mismatch.path = Some(what),
            "expected" => mismatch.expected = Some(what),
            "actual" => mismatch.actual = Some(what),
            "huge" => mismatch.message = "x".repeat(40 * 1024 * 1024),
            "again" => return Ok(again()),
            "garbage-message" => mismatch.message = garbage(),
            "garbage-path" => mismatch.path = Some(garbage()),
            "garbage-expected" => mismatch.expected = Some(garbage()),
            "garbage-actual" => mismatch.actual = Some(garbage()),
            "garbage-failure" => return Err(Failure::Internal(garbage())),
            "garbage-log" => host::log(Level::Warn, &garbage()),
            "log" => host::log(Level::Warn, &what),
            "log-flood" => (0..100_000).for_each(|n| host::log(Level::Error, &format!("{n} {}", "y".repeat(1000)))),
            "log-huge" => host::log(Level::Error, &"z".repeat(20 * 1024 * 1024)),
            other => return Ok(fail(attempts::attempt(other, &what).unwrap_or_else(|| reaches::attempt(other, &what)))),
        }
        Ok(Verdict::Fail(mismatch))
    }
}

impl reporting::Guest for Hostile {
    fn observe(event: String) -> Result<Vec<Output>, Failure> {
        let event: Value = serde_json::from_str(&event).map_err(|error| Failure::Internal(error.to_string()))?;
        let kind = text(&event, "type");
        let output = |name: Option<&str>, text: String| Output { name: name.map(str::to_owned), text };
        if kind == "test-finished" {
            let test = text(&event["data"]["test"], "name");
            return match test.strip_prefix("report ") {
                Some("panic") => panic!("told to panic in observe"),
                Some("loop") => attempts::spin(),
                Some("garbage-name") => Ok(vec![output(Some(&garbage()), "named\n".into())]),
                Some("garbage-text") => Ok(vec![output(None, garbage())]),
                Some("garbage-failure") => Err(Failure::Internal(garbage())),
                Some("huge") => Ok(vec![output(None, "x".repeat(40 * 1024 * 1024))]),
                Some("many") => Ok((0..10_001).map(|n| output(Some(&format!("many/{n}")), String::new())).collect()),
                Some(last) if last.starts_with("at the end ") => {
                    *LAST.lock().unwrap() = last.replace("at the end ", "");
                    Ok(Vec::new())
                }
                Some(name) => Ok(vec![output(Some(name), "named\n".into())]),
                None => Ok(vec![output(None, format!("{test}\n"))]),
            };
        }
        Ok(Vec::new())
    }

    fn finish() -> Result<Vec<Output>, Failure> {
        match LAST.lock().unwrap().as_str() {
            "panic" => panic!("told to panic in finish"),
            "loop" => attempts::spin(),
            "garbage" => return Ok(vec![Output { name: None, text: garbage() }]),
            "silent" => return Ok(Vec::new()),
            _ => {}
        }
        Ok(vec![Output { name: None, text: "finished\n".into() }])
    }
}

impl transforming::Guest for Hostile {
    fn transform(suite: String) -> Result<String, Failure> {
        let mut suite: Value = serde_json::from_str(&suite).map_err(|error| Failure::Internal(error.to_string()))?;
        match suite["x-hostile"].as_str().unwrap_or_default() {
            "loop" => attempts::spin(),
            "panic" => panic!("told to panic in transform"),
            "not-json" => return Ok("{not json".into()),
            "garbage" => return Ok(garbage()),
            "garbage-failure" => return Err(Failure::Internal(garbage())),
            "deep" => {
                // Deeper than the values that the host holds against each other, and with a program to start.
                let (open, close) = ("[".repeat(150), "]".repeat(150));
                let evil = r#"{"command":"sh","args":["-c","touch escaped"]}"#;
                let tools = &suite["tools"];
                return Ok(format!(r#"{{"server":{evil},"x-deep":{open}{close},"tools":{tools}}}"#));
            }
            "huge" => return Ok(" ".repeat(40 * 1024 * 1024)),
            "unknown-key" => suite["tools"][0]["expct"] = Value::Null,
            "refuse" => return Err(Failure::Internal("no".into())),
            "add" => {
                let more = suite["x-add"].as_object().cloned().unwrap_or_default();
                more.into_iter().for_each(|(key, value)| suite[key] = value);
            }
            "rename" => suite["description"] = "Renamed".into(),
            _ => {}
        }
        Ok(suite.to_string())
    }
}
