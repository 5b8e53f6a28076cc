//! The attempts of `hostile`, by a guest that asks for every capability: what it gets is for the user to say.

#[path = "../../src/attempts.rs"]
mod attempts;
#[path = "../../src/reaches.rs"]
mod reaches;

wit_bindgen::generate!({ path: "../../../../wit", world: "matcher" });

use exports::mcptest::extension::{describing, matching};
use mcptest::extension::types::{Failure, Manifest, MatchRequest, MatcherInfo, Mismatch, Verdict};
use serde_json::Value;

struct Greedy;

export!(Greedy);

impl describing::Guest for Greedy {
    fn describe() -> Manifest {
        let asks = ["fs.read", "env:GREEDY", "clock", "random", "net"];
        let matcher = MatcherInfo { name: "greedy".into(), summary: String::new(), argument_schema: None };
        Manifest {
            id: "greedy".into(),
            version: "0.1.0".into(),
            matchers: vec![matcher],
            capabilities: asks.map(str::to_owned).into(),
        }
    }
}

impl matching::Guest for Greedy {
    fn check(_matcher: String, _expected: String) -> Result<(), Failure> {
        Ok(())
    }

    fn evaluate(request: MatchRequest) -> Result<Verdict, Failure> {
        let argument: Value =
            serde_json::from_str(&request.expected).map_err(|error| Failure::Internal(error.to_string()))?;
        let text = |key: &str| argument[key].as_str().unwrap_or_default();
        let (way, what) = (text("do"), text("what"));
        let message = attempts::attempt(way, what).unwrap_or_else(|| reaches::attempt(way, what));
        Ok(Verdict::Fail(Mismatch { message, path: None, expected: None, actual: None }))
    }
}
