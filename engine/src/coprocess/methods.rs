//! What an SDK can ask, and what it is answered.

use super::events::Events;
use super::frame::{METHOD_NOT_FOUND, Refusal, Reply, Request};
use super::suites::Suites;
use super::upstream::Upstream;
use super::verdict::{clean, verdict};
use super::{Options, PROTOCOL_VERSION};
use crate::diagnostic::did_you_mean;
use crate::source::Json;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, json};
use std::time::Instant;

/// Every method.
pub const NAMES: [&str; 10] = [
    "coprocess/handshake",
    "mcp.initialize",
    "mcp.call",
    "mcp.listTools",
    "mcp.listResources",
    "mcp.readResource",
    "mcp.callPrompt",
    "mcp.suite.plan",
    "mcp.suite.run",
    "mcp.shutdown",
];

/// The code with which a server says that it does not know a method.
const NOT_FOUND_UPSTREAM: i64 = -32601;

/// One SDK's side of the conversation.
pub(super) struct Methods {
    upstream: Upstream,
    suites: Suites,
    events: Events,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Handshake {
    #[expect(dead_code, reason = "it was looked at before the rest")]
    protocol_version: u64,
    #[expect(dead_code, reason = "diagnostic only")]
    sdk: Option<String>,
    #[expect(dead_code, reason = "diagnostic only")]
    sdk_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    arguments: Option<Map<String, Json>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    uri: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prompt {
    prompt: String,
    arguments: Option<Map<String, Json>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Path {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Id {
    id: String,
}

impl Methods {
    pub(super) fn new(options: Options) -> Methods {
        let Options { server, planner, timeout } = options;
        Methods { upstream: Upstream::new(server, timeout), suites: Suites::new(planner), events: Events::new() }
    }

    /// Answers one request.
    pub(super) async fn answer(&mut self, request: &Request<'_>) -> Reply {
        match &*request.method {
            "coprocess/handshake" => handshake(request),
            "mcp.initialize" => self.initialize(params(request)?).await,
            "mcp.call" => self.call(params(request)?).await,
            "mcp.listTools" => self.list_tools(params(request)?).await,
            "mcp.listResources" => self.list_resources(params(request)?).await,
            "mcp.readResource" => self.read_resource(params(request)?).await,
            "mcp.callPrompt" => self.call_prompt(params(request)?).await,
            "mcp.suite.plan" => {
                let Path { path } = params(request)?;
                self.suites.plan(&path, &mut self.events).await
            }
            "mcp.suite.run" => {
                let Id { id } = params(request)?;
                self.suites.run(&id, &mut self.events).await
            }
            "mcp.shutdown" => shutdown(params(request)?),
            unknown => Err(unknown_method(unknown)),
        }
    }

    /// Hears what servers say between two requests; returns never.
    pub(super) async fn listen(&mut self) {
        self.upstream.listen().await;
    }

    /// Ends everything.
    pub(super) async fn close(&mut self) {
        self.suites.close(&mut self.events).await;
        self.upstream.close().await;
    }

    async fn initialize(&mut self, Nothing {}: Nothing) -> Reply {
        let mut introduced = self.upstream.initialize().await?;
        introduced["ready"] = true.into();
        Ok(introduced.to_string())
    }

    async fn call(&mut self, Call { tool, arguments }: Call) -> Reply {
        let params = json!({ "name": tool, "arguments": arguments.unwrap_or_default() });
        let begun = Instant::now();
        let answer = self.upstream.request("tools/call", Some(params)).await?;
        verdict(&answer, begun.elapsed())
    }

    async fn list_tools(&mut self, Nothing {}: Nothing) -> Reply {
        let tools = self.upstream.list("tools/list", "tools").await?;
        Ok(json!({ "tools": tools }).to_string())
    }

    async fn list_resources(&mut self, Nothing {}: Nothing) -> Reply {
        let resources = self.upstream.list("resources/list", "resources").await?;
        let templates = match self.upstream.list("resources/templates/list", "resourceTemplates").await {
            // A server may have resources and no templates.
            Err(refusal) if refusal.data.as_ref().is_some_and(|data| data["code"] == NOT_FOUND_UPSTREAM) => Vec::new(),
            templates => templates?,
        };
        Ok(json!({ "resources": resources, "resourceTemplates": templates }).to_string())
    }

    async fn read_resource(&mut self, Read { uri }: Read) -> Reply {
        let answer = self.upstream.request("resources/read", Some(json!({ "uri": uri }))).await?;
        clean(&answer).map(Into::into)
    }

    async fn call_prompt(&mut self, Prompt { prompt, arguments }: Prompt) -> Reply {
        let params = match arguments {
            Some(arguments) => json!({ "name": prompt, "arguments": arguments }),
            None => json!({ "name": prompt }),
        };
        let answer = self.upstream.request("prompts/get", Some(params)).await?;
        clean(&answer).map(Into::into)
    }
}

fn params<T: DeserializeOwned>(request: &Request<'_>) -> Result<T, Refusal> {
    request.params()
}

/// The version comes first: an SDK of another version may well send fields that this one does not know.
fn handshake(request: &Request<'_>) -> Reply {
    let sent: Json = request.params().unwrap_or_default();
    if let Some(theirs) = sent["protocol_version"].as_u64().filter(|version| *version != PROTOCOL_VERSION) {
        let sdk = match sent["sdk"].as_str() {
            Some(name) => format!("the {name} SDK"),
            None => "the SDK".into(),
        };
        let advice = if theirs > PROTOCOL_VERSION {
            "Upgrade the mcptest binary (or pin the SDK to the matching release)".to_owned()
        } else {
            format!("Upgrade {sdk} (or pin the mcptest binary to the matching release)")
        };
        return Err(Refusal::params(format!(
            "coprocess protocol version mismatch: this mcptest binary speaks v{PROTOCOL_VERSION}, {sdk} sent v{theirs}. {advice}."
        )));
    }
    let Handshake { .. } = params(request)?;
    Ok(json!({ "protocol_version": PROTOCOL_VERSION, "binary_version": env!("CARGO_PKG_VERSION") }).to_string())
}

fn shutdown(Nothing {}: Nothing) -> Reply {
    Ok(json!({ "ok": true }).to_string())
}

fn unknown_method(name: &str) -> Refusal {
    let near = did_you_mean(name, NAMES).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Refusal::new(METHOD_NOT_FOUND, format!("there is no method `{name}`{near}"))
}
