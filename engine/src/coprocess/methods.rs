//! What an SDK can ask, and what it is answered.

use super::cache::{self, Cache};
use super::events::Events;
use super::frame::{METHOD_NOT_FOUND, Refusal, Reply, Request};
use super::hidden::Hidden;
use super::params::{CacheMode, Call, CassetteMode, Handshake, Id, Nothing, Path, Prompt, Read, Recording};
use super::suites::Suites;
use super::upload::{self, Upload};
use super::upstream::Upstream;
use super::verdict::{clean, verdict};
use super::{Ending, Options, PROTOCOL_VERSION, Played};
use crate::diagnostic::{Diagnostics, did_you_mean};
use crate::mcp::cassette::{Cassette, Deck, Reel, Tape};
use crate::source::Json;
use serde_json::{Map, json};
use std::path::PathBuf;
use std::time::Instant;

/// Every method.
pub const NAMES: [&str; 14] = [
    "coprocess/handshake",
    "mcp.initialize",
    "mcp.call",
    "mcp.listTools",
    "mcp.listResources",
    "mcp.readResource",
    "mcp.callPrompt",
    "mcp.cassette.set_mode",
    "mcp.cache.set_mode",
    "mcp.reporter.setUpload",
    "mcp.reporter.flush",
    "mcp.suite.plan",
    "mcp.suite.run",
    "mcp.shutdown",
];

/// The code with which a server says that it does not know a method.
const NOT_FOUND_UPSTREAM: i64 = -32601;
/// Where a cassette lies that nobody gave a place.
const CASSETTE: &str = ".mcptest/cassette.json";

/// One SDK's side of the conversation.
pub(super) struct Methods {
    upstream: Upstream,
    suites: Suites,
    events: Events,
    hidden: Hidden,
    tape: Option<Tape>,
    cache: Cache,
    upload: Option<Upload>,
}

impl Methods {
    pub(super) fn new(options: Options) -> Methods {
        let Options { server, planner, cache, timeout } = options;
        let hidden = Hidden::default();
        Methods {
            upstream: Upstream::new(server, timeout, hidden.clone()),
            suites: Suites::new(planner),
            events: Events::new(hidden.clone()),
            hidden,
            tape: None,
            cache: Cache::new(cache),
            upload: None,
        }
    }

    /// Answers one request.
    pub(super) async fn answer(&mut self, request: &Request<'_>) -> Reply {
        match &*request.method {
            "coprocess/handshake" => handshake(request),
            "mcp.initialize" => self.initialize(request.params()?).await,
            "mcp.call" => {
                request.refuse_long_integers()?;
                self.call(request.params()?).await
            }
            "mcp.listTools" => self.list_tools(request.params()?).await,
            "mcp.listResources" => self.list_resources(request.params()?).await,
            "mcp.readResource" => self.read_resource(request.params()?).await,
            "mcp.callPrompt" => self.call_prompt(request.params()?).await,
            "mcp.cassette.set_mode" => self.set_cassette(request.params()?).await,
            "mcp.cache.set_mode" => self.set_cache(request.params()?),
            "mcp.reporter.setUpload" => self.set_upload(request.params()?),
            "mcp.reporter.flush" => self.flush(request.params()?).await,
            "mcp.suite.plan" => {
                let Path { path } = request.params()?;
                self.suites.plan(&path, &mut self.events).await
            }
            "mcp.suite.run" => {
                let Id { id } = request.params()?;
                self.suites.run(&id, &mut self.events).await
            }
            "mcp.shutdown" => shutdown(request.params()?),
            unknown => Err(unknown_method(unknown)),
        }
    }

    /// A refusal as it may leave the engine.
    pub(super) fn hide(&self, refusal: Refusal) -> Refusal {
        self.hidden.refusal(refusal)
    }

    /// Takes down what happened during a request, once nobody waits for its answer any more.
    pub(super) fn take_down(&mut self) {
        self.events.accept(self.upstream.take_events());
    }

    /// Hears what servers say between two requests; returns never.
    pub(super) async fn listen(&mut self) {
        self.upstream.listen().await;
    }

    /// Ends everything, and writes what was recorded; a signal spares what suites still have to take down.
    pub(super) async fn close(&mut self, signalled: &mut Ending) {
        self.suites.close(&mut self.events, signalled).await;
        self.upstream.close().await;
        if let Err(refusal) = self.save_tape() {
            self.events.tell(&format!("error: {}\n", refusal.message));
        }
    }

    async fn initialize(&mut self, Nothing {}: Nothing) -> Reply {
        let mut introduced = self.upstream.initialize().await?;
        introduced["ready"] = true.into();
        Ok(introduced.to_string())
    }

    async fn call(&mut self, Call { tool, arguments }: Call) -> Reply {
        let arguments = arguments.unwrap_or_default();
        if self.cache.mode != cache::Mode::Off
            && let Some(server) = self.upstream.identity()?
        {
            return self.call_with_cache(&server, &tool, arguments).await;
        }
        let begun = Instant::now();
        let answer = self.upstream.request("tools/call", Some(tool_call(&tool, arguments))).await?;
        verdict(&clean(&answer)?, begun.elapsed())
    }

    async fn call_with_cache(&mut self, server: &Json, tool: &str, arguments: Map<String, Json>) -> Reply {
        let begun = Instant::now();
        if let Some(kept) = self.cache.get(server, tool, &arguments) {
            return verdict(&kept, begun.elapsed());
        }
        if self.cache.writes() && self.cache.repeatable.is_none() {
            // A server without a list, or a cassette, says of no tool that it may be repeated; the call itself is not its price.
            let tools = self.upstream.list("tools/list", "tools").await.unwrap_or_default();
            self.cache.repeatable = Some(cache::repeatable(&tools));
        }
        let begun = Instant::now();
        let answer = self.upstream.request("tools/call", Some(tool_call(tool, arguments.clone()))).await?;
        let took = begun.elapsed();
        let result = clean(&answer)?;
        self.cache.put(server, tool, &arguments, &result);
        verdict(&result, took)
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

    /// The servers are ended: a recording begins with a handshake, and a replay has no server.
    async fn set_cassette(&mut self, CassetteMode { mode, path }: CassetteMode) -> Reply {
        let path = path.unwrap_or_else(|| PathBuf::from(CASSETTE));
        let mut played = None;
        let (reel, name) = match mode {
            Recording::Off => (None, "off"),
            Recording::Record => {
                let tape = Tape::new(&path, self.hidden.redact()).map_err(|error| unwritable(&path, &error))?;
                (Some(Reel::Record(tape)), "record")
            }
            Recording::Replay => {
                // What was recorded so far may be what is to be played.
                if self.tape.is_some() {
                    self.end_servers(None, None).await?;
                }
                let cassette = Cassette::load(&path).map_err(|problem| {
                    let text = Diagnostics::from(vec![*problem]).render(false);
                    Refusal::internal(text.trim_end().to_owned())
                })?;
                played = Some(Played { server: cassette.sole_server().map(str::to_owned) });
                let deck = Deck::new(&path, cassette);
                deck.hide(self.hidden.redact());
                (Some(Reel::Replay(deck)), "replay")
            }
        };
        self.end_servers(reel.clone(), played).await?;
        self.tape = match reel {
            Some(Reel::Record(tape)) => Some(tape),
            _ => None,
        };
        Ok(json!({ "mode": name }).to_string())
    }

    /// Those that are started from now on record or play; what was recorded before is written.
    async fn end_servers(&mut self, reel: Option<Reel>, played: Option<Played>) -> Result<(), Refusal> {
        self.upstream.set_reel(reel.clone(), played.clone()).await;
        self.suites.set_reel(reel, played, &mut self.events).await;
        self.save_tape()
    }

    fn save_tape(&mut self) -> Result<(), Refusal> {
        let Some(tape) = self.tape.take() else { return Ok(()) };
        let saved = tape.save();
        saved.map(drop).map_err(|error| unwritable(&tape.path(), &error))
    }

    fn set_cache(&mut self, CacheMode { mode }: CacheMode) -> Reply {
        self.cache.set(mode)?;
        Ok(json!({ "mode": mode.name() }).to_string())
    }

    fn set_upload(&mut self, upload: Upload) -> Reply {
        if let Some(token) = upload.check()? {
            self.events.hide(&[token]);
        }
        self.upload = Some(upload);
        Ok(json!({ "ok": true }).to_string())
    }

    async fn flush(&mut self, Nothing {}: Nothing) -> Reply {
        let lines = self.events.lines();
        let to = match &self.upload {
            Some(upload) => upload.post(&lines).await?,
            None => upload::write(&lines)?,
        };
        let events = lines.len();
        self.events.forget();
        Ok(json!({ "events": events, "to": to }).to_string())
    }
}

fn tool_call(tool: &str, arguments: Map<String, Json>) -> Json {
    json!({ "name": tool, "arguments": arguments })
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
    let Handshake { .. } = request.params()?;
    Ok(json!({ "protocol_version": PROTOCOL_VERSION, "binary_version": env!("CARGO_PKG_VERSION") }).to_string())
}

fn unwritable(path: &std::path::Path, error: &std::io::Error) -> Refusal {
    Refusal::internal(format!("the cassette `{}` cannot be written: {error}", path.display()))
}

fn shutdown(Nothing {}: Nothing) -> Reply {
    Ok(json!({ "ok": true }).to_string())
}

fn unknown_method(name: &str) -> Refusal {
    let near = did_you_mean(name, NAMES).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Refusal::new(METHOD_NOT_FOUND, format!("there is no method `{name}`{near}"))
}
