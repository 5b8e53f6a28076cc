//! Everything before the first request: the ready line, the era, the handshake of the legacy one.
//!
//! ```text
//! legacy   initialize → notifications/initialized → an awaited ping
//! modern   server/discover
//! auto     server/discover; a modern answer is kept to, any other one or none means legacy
//! ```

use super::asking::Lost;
use super::{Connection, HURRIED, Modern, Witness, plain};
use crate::mcp::era::{self, Discovered, Era, MODERN, Protocol};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::lifecycle::{self, Introduction, REVISIONS};
use crate::mcp::message::Message;
use crate::mcp::transport::{Incoming, Transport};
use crate::source::Json;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the awaited `ping` after the handshake may take: a server that never answers it costs this once.
const BARRIER: Duration = Duration::from_secs(2);
/// How long `server/discover` may go unanswered before the server is asked whether it is awake at all.
const PROBE: Duration = Duration::from_millis(1500);
/// How much of stderr `readyPattern` is held against: the end.
const MOST_STARTUP: usize = 1024 * 1024;

/// What a refusal of `initialize` may mean.
const NO_INITIALIZE: &str = "a server of the modern era has no `initialize`: `protocol: auto` in the config finds that out, and so does `--protocol auto` of `call` and `discover`";

/// What a refusal of `server/discover` may mean.
const OTHER_ERAS: &str =
    "`protocol: legacy` opens the conversation with `initialize`, `protocol: auto` with what works";

/// What became of the probe.
enum Probed {
    Answered(Discovered),
    /// The server is awake and leaves `server/discover` unanswered, or it sleeps for longer than it may.
    Silent,
    Ended,
}

impl Connection {
    /// Everything before the first request. Without a handshake nothing is sent, and the era is the one that the target
    /// names: `auto` cannot know it, and is legacy.
    pub async fn begin(&mut self, handshake: bool, witness: &mut dyn Witness) -> Result<Introduction, Fault> {
        self.ready(witness).await?;
        match self.target.protocol.clone() {
            protocol @ Protocol::Modern(_) if !handshake => {
                Ok(self.speak_modern(protocol.modern_revision(), None, Json::Null))
            }
            _ if !handshake => Ok(Introduction::default()),
            Protocol::Legacy(_) => self.initialize(witness).await,
            protocol @ Protocol::Modern(_) => self.discover(&protocol, witness).await,
            Protocol::Auto => self.probe(witness).await,
        }
    }

    /// The process is up, and whatever the transport needs is done.
    async fn ready(&mut self, witness: &mut dyn Witness) -> Result<(), Fault> {
        self.await_ready_line(witness).await?;
        let patience = self.target.startup_timeout;
        if let Some(http) = self.transport.http() {
            let prepared = http.prepare(patience).await;
            let queued = self.note_queued(witness);
            // It knows more about an exit than that it came.
            prepared?;
            queued.map_err(Lost::early)?;
        }
        Ok(())
    }

    /// The handshake of the legacy era.
    pub async fn initialize(&mut self, witness: &mut dyn Witness) -> Result<Introduction, Fault> {
        let revision = self.target.protocol.revision().map(str::to_owned);
        let id = self.fresh_id();
        let request = lifecycle::initialize(&id, revision.as_deref(), &self.target.capabilities);
        let value = self.ask_in_time("initialize", &request, &id, witness).await?;
        let mut introduction = lifecycle::introduction(&value, revision.as_deref()).map_err(|message| {
            let fault = Fault::new(Code::HandshakeFailed, message);
            let chosen = value.pointer("/result/protocolVersion").and_then(Json::as_str);
            let is_error = value.get("error").is_some_and(|error| !error.is_null());
            match is_error || chosen.is_some_and(|chosen| MODERN.contains(&chosen)) {
                true => fault.hint(NO_INITIALIZE),
                false => fault,
            }
        })?;
        if let (Some(http), Some(revision)) = (self.transport.http(), &introduction.protocol_version) {
            http.negotiated(revision);
        }
        let told = self.send(&lifecycle::initialized(), witness).await;
        if let Some(http) = self.transport.http() {
            // What is asked next may take another connection, and must not be there first.
            if let Some(told) = told {
                http.await_head(told).await;
            }
            http.listen_to_server().await;
        }
        if self.target.barrier {
            let note = self.barrier(witness).await.map_err(Lost::early)?;
            introduction.notes.extend(note);
        }
        Ok(introduction)
    }

    /// Goes on after a pause: what came meanwhile belongs to nothing that is asked from now on. The note says that the
    /// server did not answer.
    pub async fn resume(&mut self, witness: &mut dyn Witness) -> Option<String> {
        if !self.target.barrier || self.exit.is_some() {
            return None;
        }
        if self.modern.is_some() {
            self.transport.drain().await;
            let _ = self.note_queued(witness);
            return None;
        }
        // An exit is kept, and met by whoever asks next.
        self.barrier(witness).await.unwrap_or_default()
    }

    /// Opens a modern conversation: a server that does not speak that era is a fault.
    async fn discover(&mut self, protocol: &Protocol, witness: &mut dyn Witness) -> Result<Introduction, Fault> {
        let revision = protocol.modern_revision();
        let discovered = self.ask_discover(revision, witness).await.map_err(|fault| match fault.code {
            // Most servers of the legacy era over HTTP refuse what names no session with words of their own.
            Code::HandshakeFailed => fault.hint(OTHER_ERAS),
            _ => fault,
        })?;
        self.commit(discovered, revision, witness).await?.map_err(|why| {
            Fault::new(Code::HandshakeFailed, format!("the server does not speak the modern era: {why}"))
                .hint(OTHER_ERAS)
                .hint("a test with `handshake: false` sends its steps without asking first")
        })
    }

    /// Finds out which era the server speaks, and opens the conversation in it.
    ///
    /// Some servers are locked into the modern era by the probe, so a modern answer is kept to. Servers of the legacy era
    /// that answer with an error were seen to go on as if nothing had happened; the others get a fresh process.
    async fn probe(&mut self, witness: &mut dyn Witness) -> Result<Introduction, Fault> {
        let revision = MODERN[MODERN.len() - 1];
        match self.probed(revision, witness).await? {
            Probed::Answered(discovered) => match self.commit(discovered, revision, witness).await? {
                Ok(introduction) => Ok(introduction),
                Err(_) => {
                    if let Ok(introduction) = self.initialize(witness).await {
                        return Ok(introduction);
                    }
                    self.restart(witness).await?;
                    self.initialize(witness).await
                }
            },
            Probed::Ended => {
                self.restart(witness).await?;
                let mut introduction = self.initialize(witness).await?;
                introduction.notes.push(unprobed("the server ended at `server/discover`"));
                Ok(introduction)
            }
            Probed::Silent => {
                self.restart(witness).await?;
                let mut introduction = self.initialize(witness).await?;
                introduction.notes.push(unprobed("the server left `server/discover` unanswered"));
                Ok(introduction)
            }
        }
    }

    /// Asks a server of any era for its revisions. One that is merely slow to start is waited for: silence counts only
    /// from a server that answers something else.
    async fn probed(&mut self, revision: &str, witness: &mut dyn Witness) -> Result<Probed, Fault> {
        let deadline = Instant::now() + self.target.startup_timeout;
        let (id, ping) = (self.fresh_id(), self.fresh_id());
        let request = era::discover(&id, &era::meta(revision, &self.target.capabilities));
        let Ok(ticket) = timeout_at(deadline, self.send(&request, witness)).await else { return Ok(Probed::Silent) };
        let mut asked_twice = false;
        let mut answer = self.await_answer(&[&id], ticket, deadline.min(Instant::now() + PROBE), witness).await;
        if let Ok(None) = answer {
            let message = json!({"jsonrpc": "2.0", "id": ping, "method": "ping"});
            asked_twice = true;
            answer = match timeout_at(deadline, self.send(&message, witness)).await {
                Ok(_) => self.await_answer(&[&id, &ping], ticket, deadline, witness).await,
                Err(_) => Ok(None),
            };
        }
        if asked_twice && matches!(&answer, Ok(Some(answer)) if answer.id() == Some(&id)) {
            // The server woke up late: its answer to the `ping` follows, and belongs to nothing that is asked later.
            let _ = self.await_answer(&[&ping], None, Instant::now() + HURRIED, witness).await;
        }
        Ok(match answer {
            Err(Lost::Exited(_) | Lost::Closed) => Probed::Ended,
            // A refusal without a word of JSON-RPC is one that a server of the modern era does not give.
            Err(lost) => Probed::Answered(Discovered::Legacy(lost.early_at("server/discover").message)),
            Ok(Some(answer)) if answer.id() != Some(&ping) => {
                Probed::Answered(era::discovered(&read(&answer, "server/discover")?))
            }
            Ok(_) => Probed::Silent,
        })
    }

    async fn ask_discover(&mut self, revision: &str, witness: &mut dyn Witness) -> Result<Discovered, Fault> {
        let id = self.fresh_id();
        let request = era::discover(&id, &era::meta(revision, &self.target.capabilities));
        Ok(era::discovered(&self.ask_in_time("server/discover", &request, &id, witness).await?))
    }

    /// Takes a server at its word; the inner error says why it does not speak the modern era after all.
    async fn commit(
        &mut self,
        mut discovered: Discovered,
        revision: &str,
        witness: &mut dyn Witness,
    ) -> Result<Result<Introduction, String>, Fault> {
        if let Discovered::OtherRevision { supported, .. } = &discovered
            && let Some(common) = era::common(supported)
        {
            discovered = self.ask_discover(common, witness).await?;
        }
        let (supported, server_info, result) = match discovered {
            Discovered::Modern { supported, server_info, result } => (supported, server_info, result),
            Discovered::OtherRevision { supported, why } if speaks_legacy(&supported) => return Ok(Err(why)),
            Discovered::OtherRevision { supported, .. } => return Err(foreign(&supported)),
            Discovered::Refused(why) => {
                let message = format!("the server refused `server/discover`: {why}");
                return Err(Fault::new(Code::HandshakeFailed, message)
                    .hint("the capabilities that the client declares stand under `client` in the config"));
            }
            Discovered::Legacy(why) => return Ok(Err(format!("it answered `server/discover` with {why}"))),
        };
        let pinned = self.target.protocol.revision().filter(|pinned| supported.iter().any(|theirs| theirs == pinned));
        let settled = match (pinned, era::common(&supported)) {
            (Some(pinned), _) => pinned.to_owned(),
            (None, Some(common)) => common.to_owned(),
            (None, None) if speaks_legacy(&supported) => {
                return Ok(Err(format!("it speaks {}", supported.join(", "))));
            }
            (None, None) => return Err(foreign(&supported)),
        };
        let mut introduction = self.speak_modern(&settled, server_info, result);
        if settled != revision {
            introduction.notes.push(format!("asked for protocol version {revision}, the server speaks {settled}"));
        }
        self.transport.drain().await;
        self.note_queued(witness).map_err(Lost::early)?;
        Ok(Ok(introduction))
    }

    /// From here on every request says that it belongs to the modern era.
    fn speak_modern(&mut self, revision: &str, server_info: Option<Json>, result: Json) -> Introduction {
        let meta = era::meta(revision, &self.target.capabilities);
        if let Some(http) = self.transport.http() {
            http.negotiated(revision);
        }
        self.modern = Some(Modern { revision: revision.to_owned(), meta });
        let protocol_version = Some(revision.to_owned());
        Introduction { era: Some(Era::Modern), protocol_version, server_info, result, notes: Vec::new() }
    }

    /// Ends the server and starts it anew.
    async fn restart(&mut self, witness: &mut dyn Witness) -> Result<(), Fault> {
        self.close(true, witness).await;
        self.transport = Connection::start(self.target.clone())?.transport;
        self.exit = None;
        self.overdue.clear();
        self.ready(witness).await
    }

    /// Asks something that must be answered before the server is ready.
    async fn ask_in_time(
        &mut self,
        method: &str,
        request: &Json,
        id: &Json,
        witness: &mut dyn Witness,
    ) -> Result<Json, Fault> {
        let patience = self.target.startup_timeout;
        let answer =
            self.ask(request, id, Instant::now() + patience, witness).await.map_err(|lost| lost.early_at(method))?;
        let answer = answer.ok_or_else(|| {
            let message = format!("no answer to `{method}` within `startupTimeout` ({})", plain(patience));
            Fault::new(Code::HandshakeFailed, message)
                .hint("a slow server needs a longer `startupTimeout` in its config, or `--startup-timeout 30s` in `run`, `call` and `discover`")
                .hint("a server that prints a line when it is ready can be awaited with `readyPattern`")
        })?;
        read(&answer, method)
    }

    async fn await_ready_line(&mut self, witness: &mut dyn Witness) -> Result<(), Fault> {
        if matches!(self.transport, Transport::Replay(_)) {
            return Ok(());
        }
        let Some(pattern) = self.target.ready_pattern.clone() else { return Ok(()) };
        let patience = self.target.startup_timeout;
        let deadline = Instant::now() + patience;
        let mut said = String::new();
        while !pattern.is_match(&said) {
            let Some(incoming) = self.transport.receive_by(deadline).await else {
                let message = format!(
                    "stderr did not match `readyPattern` /{pattern}/ within `startupTimeout` ({})",
                    plain(patience)
                );
                return Err(Fault::new(Code::StartFailed, message));
            };
            if let Incoming::Stderr(text) = &incoming {
                said.push_str(text);
                if said.len() > 2 * MOST_STARTUP {
                    said.drain(..said.ceil_char_boundary(said.len() - MOST_STARTUP));
                }
            }
            if let Some(exit) = self.note(incoming, witness) {
                return Err(Lost::Exited(exit).early());
            }
        }
        Ok(())
    }

    fn note_queued(&mut self, witness: &mut dyn Witness) -> Result<(), Lost> {
        while let Some(incoming) = self.transport.next_queued() {
            if let Some(exit) = self.note(incoming, witness) {
                return Err(Lost::Exited(exit));
            }
        }
        Ok(())
    }

    /// An awaited `ping`: what a server does on start-up comes before its answer, and so belongs to nothing that is asked
    /// later. The note says that no answer came.
    async fn barrier(&mut self, witness: &mut dyn Witness) -> Result<Option<String>, Lost> {
        let id = self.fresh_id();
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let answered = self.ask(&ping, &id, Instant::now() + BARRIER, witness).await?.is_some();
        self.transport.drain().await;
        self.note_queued(witness)?;
        if answered {
            return Ok(None);
        }
        self.overdue.push(id);
        Ok(Some(format!(
            "the server did not answer `ping` within {}; `barrier: false` in its config leaves the ping out",
            plain(BARRIER)
        )))
    }
}

fn read(answer: &Message, method: &str) -> Result<Json, Fault> {
    answer.value().map_err(|malformed| {
        Fault::new(Code::HandshakeFailed, format!("the answer to `{method}` cannot be read: {malformed}"))
    })
}

fn speaks_legacy(supported: &[String]) -> bool {
    supported.iter().any(|theirs| REVISIONS.contains(&theirs.as_str()))
}

/// A server from a time that this version knows nothing of.
fn foreign(supported: &[String]) -> Fault {
    if let Some(common) = era::common(supported) {
        let message = format!("the server refuses protocol version {common}, and names it among those it speaks");
        return Fault::new(Code::HandshakeFailed, message);
    }
    let theirs = if supported.is_empty() { "none that it names".to_owned() } else { supported.join(", ") };
    let ours = REVISIONS.iter().chain(&MODERN).copied().collect::<Vec<_>>().join(", ");
    let message = format!("the server and mcptest share no protocol version: it speaks {theirs}, mcptest {ours}");
    Fault::new(Code::HandshakeFailed, message)
}

fn unprobed(what: &str) -> String {
    format!("{what}, so it was started anew in the legacy era; `protocol: legacy` in its config leaves the probe out")
}
