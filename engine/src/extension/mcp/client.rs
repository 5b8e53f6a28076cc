//! One MCP server, opened when it is needed and opened again when it has crashed.

use super::result::{self, Outcome};
use super::trouble;
use crate::child::{Grace, Spawn};
use crate::extension::fault::{Code, Fault, plain};
use crate::extension::log::{Level, Said};
use crate::extension::plugin::words::{self, INVALID};
use crate::extension::{Introduced, Limits};
use crate::mcp::connection::{Connection, HURRIED, Witness};
use crate::mcp::lifecycle::Introduction;
use crate::mcp::message::{Kind, Message};
use crate::mcp::target::Target;
use crate::mcp::transport::http::endpoint::Endpoint;
use crate::source::Json;
use serde_json::json;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The wait before the first restart, and the longest: each is twice the one before.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// How many starts in a row may come to nothing: a run of a thousand calls would wait for each of them.
const STARTS: u32 = 5;
/// How often a request over HTTP is made that a 5xx or a broken connection answers.
const ATTEMPTS: u32 = 4;
/// What authors do about a result that is only text.
const STRUCTURED: &str = "a tool with an output schema has structured content: with the Python SDK, annotate what it returns (`-> list[dict]`)";
/// What is asked last before the first call.
pub(super) const LIST: &str = "tools/list";
/// What later calls add to the fault.
const LOST: &str = "that was the first fault of it";
/// Pages of tools: more is a server that goes round in circles.
const MOST_PAGES: usize = 100;

/// How the server is reached.
#[derive(Debug, Clone)]
pub(in crate::extension) enum Way {
    /// It is started.
    Stdio {
        /// The process.
        spawn: Spawn,
        /// How long its handshake may take.
        startup: Duration,
    },
    /// It runs behind a URL.
    Http(Box<Endpoint>),
}

/// A server and how it stands with it.
pub(super) struct Client {
    name: Arc<str>,
    pub(super) way: Way,
    pub(super) timeout: Duration,
    pub(super) link: Option<(Connection, Vec<String>)>,
    /// What it said in its handshake.
    introduction: Introduction,
    /// Crashes since the last answer, and when the next start may be.
    crashes: u32,
    not_before: Option<Instant>,
    /// Starts since it last ran, all of which came to nothing.
    stillborn: u32,
    /// It cannot be reached at all.
    lost: Option<Fault>,
    /// The last request may fare better a moment later.
    transient: bool,
    /// The service has lost the session, with everything else from before.
    forgotten: bool,
    pub(super) seen: Seen,
    said: Vec<Said>,
}

/// What came beside the answer.
#[derive(Default)]
pub(super) struct Seen {
    stderr: String,
    /// The first line that answers nothing.
    strange: Option<String>,
    /// Requests that were given up: their answers are late, and not strange.
    given_up: Vec<Json>,
}

impl Witness for Seen {
    fn received(&mut self, message: Message) {
        let is_late = message.id().is_some_and(|id| self.given_up.contains(id));
        if matches!(message.kind, Kind::Response { .. } | Kind::Invalid { .. }) && !is_late {
            self.strange.get_or_insert(message.raw);
        }
    }

    fn noise(&mut self, line: String) {
        self.strange.get_or_insert(line);
    }

    fn stderr(&mut self, text: &str) {
        self.stderr.push_str(text);
        let over = self.stderr.len().saturating_sub(Limits::TAIL);
        self.stderr.drain(..self.stderr.ceil_char_boundary(over));
    }
}

impl Client {
    pub(super) fn new(name: Arc<str>, way: Way, timeout: Duration) -> Client {
        Client {
            name,
            way,
            timeout,
            link: None,
            introduction: Introduction::default(),
            crashes: 0,
            not_before: None,
            stillborn: 0,
            lost: None,
            transient: false,
            forgotten: false,
            seen: Seen::default(),
            said: Vec::new(),
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Who the server says it is; it is started where it does not run yet.
    pub(super) async fn introduce(&mut self) -> Result<Introduced, Fault> {
        if self.link.is_none() {
            self.link = Some(self.open().await.map_err(|fault| self.with_stderr(fault))?);
        }
        let text = |key: &str| {
            let info = self.introduction.server_info.as_ref()?;
            info[key].as_str().map(plain)
        };
        Ok(Introduced {
            name: text("name").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            protocol: self.introduction.protocol_version.clone().unwrap_or_default(),
            tools: self.link.iter().flat_map(|(_, tools)| tools.iter().cloned()).collect(),
            capabilities: Vec::new(),
        })
    }

    fn with_stderr(&mut self, fault: Fault) -> Fault {
        Fault { stderr: std::mem::take(&mut self.seen.stderr), ..fault }
    }

    /// Takes what is worth telling of the last call.
    pub(super) fn said(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.said)
    }

    /// Calls a hook.
    pub(super) async fn call(&mut self, hook: &str, arguments: &str) -> Result<String, Fault> {
        if let Some(fault) = &self.lost {
            return Err(fault.clone());
        }
        self.seen = Seen::default();
        let began = Instant::now();
        let mut called = self.exchange(hook, arguments).await;
        if std::mem::take(&mut self.forgotten) {
            self.close(true).await;
            let text = "has lost the session, and a new one is opened".to_owned();
            self.said.push(Said { by: self.name.clone(), level: Level::Warn, text });
            called = self.exchange(hook, arguments).await;
        }
        for attempt in 2..=ATTEMPTS {
            let Some(fault) = called.as_ref().err().filter(|_| std::mem::take(&mut self.transient)) else { break };
            let pause = jittered(BACKOFF.0.saturating_mul(1 << (attempt - 2)).min(BACKOFF.1));
            let text = format!("attempt {attempt} of {ATTEMPTS} in {pause:?}: {}", fault.message);
            self.said.push(Said { by: self.name.clone(), level: Level::Warn, text });
            tokio::time::sleep(pause).await;
            called = self.exchange(hook, arguments).await;
        }
        if called.is_ok() {
            self.crashes = 0;
        }
        let called = called.map_err(|fault| Fault {
            took: began.elapsed(),
            stderr: std::mem::take(&mut self.seen.stderr),
            ..fault
        });
        if let Err(fault) = &called {
            match fault.code {
                Code::Crashed if matches!(self.way, Way::Http(_)) => {}
                Code::Crashed => {
                    self.stillborn = if self.link.is_none() { self.stillborn + 1 } else { 0 };
                    if self.stillborn == STARTS {
                        let hint = format!("it ended in {STARTS} starts in a row, and is not started again");
                        self.lost = Some(fault.clone().hint(hint));
                    }
                    self.link = None;
                    let pause = BACKOFF.0.saturating_mul(1 << self.crashes.min(10)).min(BACKOFF.1);
                    self.not_before = Some(Instant::now() + pause);
                    self.crashes += 1;
                }
                Code::LaunchFailed | Code::HandshakeFailed => self.lost = Some(fault.clone().hint(LOST)),
                // It never got as far as a call.
                Code::Timeout if self.link.is_none() => self.lost = Some(fault.clone().hint(LOST)),
                _ => {}
            }
        }
        called
    }

    async fn exchange(&mut self, hook: &str, arguments: &str) -> Result<String, Fault> {
        if self.link.is_none() {
            self.link = Some(self.open().await?);
        }
        let Some((connection, tools)) = &mut self.link else { unreachable!("it was opened above") };
        let name = &self.name;
        if !tools.iter().any(|tool| tool == hook) {
            return Err(words::not_exposed(name, hook, tools));
        }
        let arguments: Json = serde_json::from_str(arguments)
            .map_err(|error| words::malformed(name, hook, INVALID, &format!("the arguments: {error}"), arguments))?;
        let params = json!({ "name": hook, "arguments": arguments });
        self.seen.given_up.clone_from(&connection.overdue);
        let answer = connection.request("tools/call", Some(params), self.timeout, &mut self.seen).await;
        self.forgotten = connection.status.is_some_and(|status| status == 404);
        let answer = answer.map_err(|fault| {
            self.transient = fault.transient;
            trouble::unanswered(name, &self.way, hook, fault, self.timeout, self.seen.strange.take())
        })?;
        let body =
            answer.body().map_err(|malformed| words::malformed(name, hook, INVALID, &malformed.why, &answer.raw))?;
        if let Kind::Response { is_error: true, .. } = answer.kind {
            self.transient = is_down(connection);
            let code = body["code"].as_i64().unwrap_or_default();
            let data = body.get("data").map(Json::to_string);
            return Err(words::refused(
                name,
                hook,
                code,
                body["message"].as_str().unwrap_or_default(),
                data.as_deref(),
            ));
        }
        result::of(&body).map_err(|outcome| match outcome {
            Outcome::Failed(text) => {
                Fault::new(Code::ExtensionError, name, format!("plugin `{name}` failed in `{hook}`: {}", plain(&text)))
            }
            Outcome::Unreadable(why) => words::malformed(name, hook, INVALID, why, &answer.raw).hint(STRUCTURED),
        })
    }

    /// Starts the server, shakes hands, and lists its tools.
    async fn open(&mut self) -> Result<(Connection, Vec<String>), Fault> {
        if let Some(when) = self.not_before.take() {
            tokio::time::sleep_until(when.into()).await;
            let text = format!("is started again after {}", super::crashes(self.crashes));
            self.said.push(Said { by: self.name.clone(), level: Level::Warn, text });
        }
        let name = self.name.clone();
        let (target, startup) = match &self.way {
            Way::Stdio { spawn, startup } => (Target::command(spawn.clone()), *startup),
            Way::Http(endpoint) => (Target::url(Endpoint::clone(endpoint)), self.timeout),
        };
        let target = Target { startup_timeout: startup, ..target };
        let mut connection = Connection::start(target).map_err(|fault| trouble::unstarted(&name, &self.way, fault))?;
        let began = Instant::now();
        let begun = connection.begin(true, &mut self.seen).await.map(|introduction| self.introduction = introduction);
        if let Err(fault) = begun {
            self.transient = fault.transient || is_down(&connection);
            connection.close(true, &mut self.seen).await;
            let late = (began.elapsed() >= startup).then_some(startup);
            return Err(trouble::unopened(&name, &self.way, fault, late, self.seen.strange.take()));
        }
        let tools = self.tools(&mut connection, startup).await?;
        Ok((connection, tools))
    }

    async fn tools(&mut self, connection: &mut Connection, most: Duration) -> Result<Vec<String>, Fault> {
        let (name, call) = (&self.name, LIST);
        let mut tools = Vec::new();
        let mut cursor: Option<Json> = None;
        for _ in 0..MOST_PAGES {
            let params = cursor.take().map(|cursor| json!({ "cursor": cursor }));
            let answer = connection.request(call, params, most, &mut self.seen).await;
            let answer = answer.map_err(|fault| {
                self.transient = fault.transient;
                trouble::unanswered(name, &self.way, call, fault, most, self.seen.strange.take())
            })?;
            let body = answer.body().unwrap_or_default();
            let Some(page) = body["tools"].as_array() else {
                self.transient = is_down(connection);
                return Err(Fault::new(Code::HandshakeFailed, name, format!("plugin `{name}` lists no tools"))
                    .hint(format!("it answered `tools/list` with {}", plain(&answer.raw))));
            };
            tools.extend(page.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned));
            cursor = body.get("nextCursor").filter(|cursor| cursor.is_string()).cloned();
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Ends the server; says what is worth telling.
    pub(super) async fn close(&mut self, hurried: bool) -> Vec<String> {
        let Some((mut connection, _)) = self.link.take() else { return Vec::new() };
        let closed = connection.close(hurried, &mut self.seen).await;
        let by = match closed.by {
            "term" => "SIGTERM",
            "kill" => "SIGKILL",
            _ => return Vec::new(),
        };
        let usual = Grace::default();
        let most = if hurried { usual.at_most(HURRIED) } else { usual }.stdin;
        vec![format!("did not end within {most:?} of the end of its stdin, and was ended with {by}")]
    }
}

/// Whether the service answered with a 5xx, whatever it said in it.
fn is_down(connection: &Connection) -> bool {
    connection.status.is_some_and(|status| status.is_server_error())
}

/// Between half of a pause and the whole of it, so that many clients don't come back at once.
fn jittered(pause: Duration) -> Duration {
    let random = RandomState::new().hash_one(Instant::now()) % 1000;
    pause / 2 + pause.mul_f64(random as f64 / 2000.0)
}
