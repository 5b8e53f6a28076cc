//! The attempts of `hostile` that need nothing from outside, by a guest that imports nothing behind which it could wait:
//! such a guest runs on the stack of its caller.

#[path = "../../src/attempts.rs"]
mod attempts;

wit_bindgen::generate!({ path: "../../../../wit", world: "matcher" });

use exports::mcptest::extension::{describing, matching};
use mcptest::extension::host::{self, Level};
use mcptest::extension::types::{Failure, Manifest, MatchRequest, MatcherInfo, Mismatch, Verdict};
use serde_json::Value;

struct Homebody;

export!(Homebody);

fn argument(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Internal(error.to_string()))
}

impl describing::Guest for Homebody {
    fn describe() -> Manifest {
        let matcher = MatcherInfo { name: "homebody".into(), summary: String::new(), argument_schema: None };
        Manifest { id: "homebody".into(), version: "0.1.0".into(), matchers: vec![matcher], capabilities: Vec::new() }
    }
}

impl matching::Guest for Homebody {
    fn check(_matcher: String, expected: String) -> Result<(), Failure> {
        if argument(&expected)?["check"] == "loop" { attempts::spin() } else { Ok(()) }
    }

    fn evaluate(request: MatchRequest) -> Result<Verdict, Failure> {
        let argument = argument(&request.expected)?;
        let text = |key: &str| argument[key].as_str().unwrap_or_default();
        let message = match text("do") {
            "pass" => return Ok(Verdict::Pass),
            "huge" => "x".repeat(40 * 1024 * 1024),
            "log" => {
                host::log(Level::Warn, text("what"));
                "logged".into()
            }
            way => attempts::attempt(way, text("what")).unwrap_or_else(|| format!("there is no way `{way}`")),
        };
        Ok(Verdict::Fail(Mismatch { message, path: None, expected: None, actual: None }))
    }
}
