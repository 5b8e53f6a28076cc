//! What no run does to an MCP server, and its author wants to know: a method and a tool that it cannot have, arguments of
//! the wrong kind, and then the end. How servers refuse them differs from SDK to SDK; that they do is what counts.

use super::client::{Client, Way};
use super::result::{self, Outcome};
use crate::extension::fault::plain;
use crate::extension::probe::{self, Probe, judged_nothing};
use crate::mcp::fault::Code;
use crate::mcp::message::Kind;
use crate::source::Json;
use serde_json::json;

/// A method, and a tool, that no server has.
const UNKNOWN: &str = "mcptest-unknown";

/// How a server took a request.
enum Took {
    /// It refused, with an error or a result that says so.
    Refused,
    Answered(String),
    /// There is no answer to come.
    Lost(String),
}

impl Client {
    /// Says how it takes what it should refuse, and, where it is a process, the end of its stdin; it is started where it does not run yet.
    pub(super) async fn probe(&mut self) -> Vec<Probe> {
        let hook = match self.introduce().await {
            Ok(introduced) => introduced.tools.into_iter().next(),
            Err(fault) => return vec![Probe::failed("it starts", fault.message)],
        };
        let mut probes = Vec::new();
        let call = |arguments: Json, tool: &str| ("tools/call", json!({ "name": tool, "arguments": arguments }));
        for (what, (method, params)) in [
            ("a method that it does not have", (UNKNOWN, json!({}))),
            ("a tool that it does not have", call(json!({}), UNKNOWN)),
        ] {
            probes.push(match self.ask(method, params).await {
                Took::Refused => Probe::held(what),
                Took::Answered(result) => {
                    Probe::failed(what, format!("it answers {}: refuse it with an error", plain(&result)))
                }
                Took::Lost(why) => {
                    probes.push(Probe::failed(what, format!("{why}; refuse it with an error")));
                    return probes;
                }
            });
        }
        for arguments in [json!(null), json!(7), json!([]), json!({})] {
            let Some(hook) = &hook else { break };
            let what = format!("the arguments {arguments}");
            let (method, params) = call(arguments, hook);
            probes.push(match self.ask(method, params).await {
                Took::Refused => Probe::held(what),
                Took::Answered(result) => judged_nothing(what, &result),
                Took::Lost(why) => {
                    probes.push(Probe::failed(what, format!("{why}; refuse them with an error")));
                    return probes;
                }
            });
        }
        if let Way::Stdio { .. } = self.way {
            probes.extend(probe::ended(self.close(false).await));
        }
        probes
    }

    async fn ask(&mut self, method: &str, params: Json) -> Took {
        let timeout = self.timeout;
        let Some((connection, _)) = &mut self.link else { return Took::Lost("it does not run".to_owned()) };
        let answer = match connection.request(method, Some(params), timeout, &mut self.seen).await {
            Ok(answer) => answer,
            Err(fault) if fault.code == Code::HttpError => return Took::Refused,
            Err(fault) => return Took::Lost(fault.to_string()),
        };
        match (&answer.kind, answer.body()) {
            (Kind::Response { is_error: true, .. }, _) => Took::Refused,
            (_, Ok(body)) if method == "tools/call" => match result::of(&body) {
                Ok(result) => Took::Answered(result),
                Err(Outcome::Failed(_)) => Took::Refused,
                Err(Outcome::Unreadable(why)) => Took::Answered(why.to_owned()),
            },
            _ => Took::Answered(answer.raw.clone()),
        }
    }
}
