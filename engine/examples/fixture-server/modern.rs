//! The modern era: `server/discover` in all its wrong ways, requests with `_meta`, questions that may never end.

use crate::options::Options;
use crate::polled::Polled;
use serde_json::{Value, json};

const REVISION: &str = "2026-07-28";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// What the server remembers of the era.
#[derive(Debug, Default)]
pub(crate) struct Modern {
    locked: bool,
    discovered: usize,
    rounds: usize,
    polled: Polled,
}

/// What becomes of a request.
pub(crate) enum Reply {
    Result(Value),
    Error(i64, &'static str, Value),
    /// The request is none of this module's business.
    Pass,
}

impl Modern {
    /// Answers a request; `number` counts the requests from 1.
    pub(crate) fn answer(&mut self, options: &Options, method: &str, params: &Value, number: usize) -> Reply {
        let speaks = options.modern || options.modern_only;
        let version = params["_meta"][VERSION].as_str();
        match method {
            "server/discover" => return self.discover(options, version.unwrap_or_default()),
            "initialize" if options.init_once && number > 1 => return Reply::Error(-32600, "too late", Value::Null),
            "initialize" if options.modern_only || self.locked => return unsupported(&[REVISION], "initialize"),
            "initialize" => return Reply::Pass,
            _ => {}
        }
        self.locked |= speaks && version.is_some();
        if !self.locked {
            return Reply::Pass;
        }
        let told = json!({"method": method, "meta": params["_meta"]});
        eprintln!("heard: {told}");
        match version {
            None => Reply::Error(-32602, "`_meta` is missing", Value::Null),
            Some(REVISION) if method == "ping" => Reply::Error(-32601, "method not found: ping", Value::Null),
            Some(REVISION) if options.polled.is_some() && (method == "tools/call" || method.starts_with("tasks/")) => {
                self.polled.answer(options.polled.as_deref().unwrap_or_default(), method, params)
            }
            Some(REVISION) if method == "tools/call" => self.call(options, params),
            Some(REVISION) => Reply::Pass,
            Some(other) => unsupported(&[REVISION], other),
        }
    }

    fn discover(&mut self, options: &Options, version: &str) -> Reply {
        self.discovered += 1;
        if options.discover_exits {
            std::process::exit(1);
        }
        if let Some(code) = options.discover_error {
            return Reply::Error(code, "no discovery here", Value::Null);
        }
        if let Some(revisions) = &options.discover_revisions {
            return unsupported(&revisions.split(',').collect::<Vec<_>>(), version);
        }
        if options.discover_twice && self.discovered == 1 {
            return unsupported(&[REVISION], version);
        }
        if !options.modern && !options.modern_only {
            return Reply::Error(-32601, "method not found: server/discover", Value::Null);
        }
        self.locked = true;
        let info = json!({"name": "fixture-server", "version": "1.0.0"});
        Reply::Result(json!({
            "resultType": "complete",
            "supportedVersions": [REVISION],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
        }))
    }

    /// Asks as often as it is told to; the state counts, so that a client must return it as it came.
    fn call(&mut self, options: &Options, params: &Value) -> Reply {
        let Some(rounds) = options.ask_rounds else { return Reply::Pass };
        if params.get("inputResponses").is_none() {
            self.rounds = 0;
        }
        if self.rounds > 0 && params["requestState"] != json!(format!("round {}", self.rounds)) {
            return Reply::Error(-32602, "that is not the state I gave you", params["requestState"].clone());
        }
        if self.rounds == rounds {
            return Reply::Result(json!({
                "resultType": "complete",
                "content": [{"type": "text", "text": params["inputResponses"].to_string()}],
            }));
        }
        self.rounds += 1;
        let ask = json!({"method": "elicitation/create", "params": {"message": format!("question {}", self.rounds)}});
        let state = format!("round {}", self.rounds);
        Reply::Result(json!({"resultType": "input_required", "inputRequests": {"q": ask}, "requestState": state}))
    }
}

fn unsupported(supported: &[&str], requested: &str) -> Reply {
    Reply::Error(-32022, "unsupported protocol version", json!({"supported": supported, "requested": requested}))
}
