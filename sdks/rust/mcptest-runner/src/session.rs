//! A session with a server, or with a suite file, through the binary.

use crate::answer::typed;
use crate::coprocess::Coprocess;
use crate::suite::Plan;
use crate::{Error, Outcome, Planned, Verdict, binary, verdict};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a call may take.
const CALL: Duration = Duration::from_secs(60);
/// How long a test of a suite may take: its steps have time limits of their own, in the engine.
const TEST: Duration = Duration::from_secs(600);

/// How to start a session.
#[derive(Debug, Clone, Default)]
pub struct Options {
    server: Vec<String>,
    binary: Option<PathBuf>,
    folder: Option<PathBuf>,
    environment: Vec<(String, String)>,
    limit: Option<Duration>,
}

impl Options {
    /// The server under test is this command, split as a POSIX shell would, without a shell.
    pub fn server_command(mut self, command: impl Into<String>) -> Options {
        self.server = vec!["--server-command".into(), command.into()];
        self
    }

    /// The server under test is this program with these arguments.
    pub fn server_argv<I: IntoIterator<Item = S>, S: AsRef<str>>(self, argv: I) -> Options {
        let words: Vec<String> = argv.into_iter().map(|word| quoted(word.as_ref())).collect();
        self.server_command(words.join(" "))
    }

    /// The server under test answers at this address.
    pub fn server_url(mut self, url: impl Into<String>) -> Options {
        self.server = vec!["--server-url".into(), url.into()];
        self
    }

    /// The binary, instead of `MCPTEST_BIN` or the one on PATH.
    pub fn binary(mut self, path: impl Into<PathBuf>) -> Options {
        self.binary = Some(path.into());
        self
    }

    /// The folder to run in, where the config is looked up; default: the working directory.
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Options {
        self.folder = Some(path.into());
        self
    }

    /// A variable for the binary and the server, beside this process's.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Options {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// How long each call may take; default: 60 s, and 10 minutes for a test of a suite.
    pub fn timeout(mut self, limit: Duration) -> Options {
        self.limit = Some(limit);
        self
    }

    /// Starts the binary and shakes hands.
    pub fn open(self) -> Result<Session, Error> {
        let mut command = Command::new(binary::find(self.binary.as_deref())?);
        command.args(["exec", "--connection-server"]).args(&self.server).envs(self.environment);
        if let Some(folder) = &self.folder {
            if !folder.is_dir() {
                let missing = format!("cannot start the mcptest binary: there is no folder `{}`", folder.display());
                return Err(Error::BinaryNotFound(missing));
            }
            command.current_dir(folder);
        }
        let coprocess = Coprocess::start(&mut command, self.limit.unwrap_or(CALL))?;
        Ok(Session { coprocess: Mutex::new(coprocess), limit: self.limit })
    }
}

/// A word that a POSIX shell reads as it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A running binary; it and the server end with this value.
pub struct Session {
    coprocess: Mutex<Coprocess>,
    limit: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mode {
    mode: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    ok: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flushed {
    events: u64,
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tools {
    tools: Vec<Value>,
}

impl Session {
    /// A session with the server that a command starts.
    pub fn open(server_command: &str) -> Result<Session, Error> {
        Options::default().server_command(server_command).open()
    }

    /// The version of the binary.
    pub fn binary_version(&self) -> String {
        self.lock().binary_version().to_owned()
    }

    /// The end of what the binary wrote to stderr so far, such as warnings about a suite.
    pub fn stderr(&self) -> String {
        self.lock().stderr()
    }

    /// Starts the server, if no other call did, and returns its `initialize` result.
    pub fn initialize(&self) -> Result<Value, Error> {
        self.request("mcp.initialize", None)
    }

    /// Calls a tool.
    pub fn call(&self, tool: &str, arguments: Value) -> Result<Verdict, Error> {
        let params = json!({ "tool": tool, "arguments": arguments });
        self.read("mcp.call", Some(params), self.limit.unwrap_or(CALL), verdict::read)
    }

    /// Every tool of the server, of every page.
    pub fn list_tools(&self) -> Result<Vec<Value>, Error> {
        self.typed::<Tools>("mcp.listTools", None).map(|listed| listed.tools)
    }

    /// Every resource and template of the server: `{"resources": […], "resourceTemplates": […]}`.
    pub fn list_resources(&self) -> Result<Value, Error> {
        self.request("mcp.listResources", None)
    }

    /// A resource, as the server sends it.
    pub fn read_resource(&self, uri: &str) -> Result<Value, Error> {
        self.request("mcp.readResource", Some(json!({ "uri": uri })))
    }

    /// A prompt, as the server sends it.
    pub fn call_prompt(&self, prompt: &str, arguments: Value) -> Result<Value, Error> {
        self.request("mcp.callPrompt", Some(json!({ "prompt": prompt, "arguments": arguments })))
    }

    /// Records to a cassette, replays one, or neither: `record`, `replay`, `off`.
    pub fn cassette(&self, mode: &str, path: Option<&Path>) -> Result<(), Error> {
        let mut params = json!({ "mode": mode });
        if let Some(path) = path {
            params["path"] = Value::from(path.to_string_lossy());
        }
        self.typed::<Mode>("mcp.cassette.set_mode", Some(params)).map(|set| drop(set.mode))
    }

    /// Caches the results of calls that the server marks read-only: `read`, `write`, `readwrite`, `off`.
    pub fn cache(&self, mode: &str) -> Result<(), Error> {
        self.typed::<Mode>("mcp.cache.set_mode", Some(json!({ "mode": mode }))).map(|set| drop(set.mode))
    }

    /// Where [`flush`](Session::flush) sends this session's events; the token is read from an environment variable.
    pub fn upload_to(&self, url: &str, token_env: Option<&str>) -> Result<(), Error> {
        let mut params = json!({ "url": url });
        if let Some(name) = token_env {
            params["token_env"] = Value::from(name);
        }
        self.done("mcp.reporter.setUpload", Some(params))
    }

    /// Sends this session's events; says how many, and where to.
    pub fn flush(&self) -> Result<(u64, String), Error> {
        self.typed::<Flushed>("mcp.reporter.flush", None).map(|flushed| (flushed.events, flushed.to))
    }

    /// Any other method of the coprocess protocol: its result as it is.
    pub fn request(&self, method: &str, params: Option<Value>) -> Result<Value, Error> {
        self.lock().request(method, params, self.limit.unwrap_or(CALL))
    }

    /// The tests of a suite file, lanes that cannot be driven included.
    pub fn plan(&self, suite: impl AsRef<Path>) -> Result<Vec<Planned>, Error> {
        let params = json!({ "path": suite.as_ref().to_string_lossy() });
        self.typed::<Plan>("mcp.suite.plan", Some(params)).map(|plan| plan.tests)
    }

    /// Runs a planned test.
    pub fn run_test(&self, id: &str) -> Result<Outcome, Error> {
        self.read("mcp.suite.run", Some(json!({ "id": id })), self.limit.unwrap_or(TEST), typed)
    }

    /// Stops the server and the binary; a session that is over already has none. What suites still have to take down has as
    /// long as a call.
    pub fn close(self) -> Result<(), Error> {
        if self.lock().is_over() {
            return Ok(());
        }
        self.done("mcp.shutdown", None)?;
        self.end_in_order()
    }

    /// Ends the session; what the binary wrote to stderr.
    pub(crate) fn end(&self) -> String {
        match self.end_in_order() {
            Ok(()) => self.lock().stderr(),
            Err(error) => error.to_string(),
        }
    }

    fn end_in_order(&self) -> Result<(), Error> {
        self.lock().end_in_order("the session was closed", self.limit.unwrap_or(CALL))
    }

    fn typed<T: DeserializeOwned>(&self, method: &str, params: Option<Value>) -> Result<T, Error> {
        self.read(method, params, self.limit.unwrap_or(CALL), typed)
    }

    fn done(&self, method: &str, params: Option<Value>) -> Result<(), Error> {
        let read =
            |result| typed(result).and_then(|Done { ok }| if ok { Ok(()) } else { Err("`ok` is false".to_owned()) });
        self.read(method, params, self.limit.unwrap_or(CALL), read)
    }

    fn read<T>(
        &self,
        method: &str,
        params: Option<Value>,
        limit: Duration,
        read: impl FnOnce(Value) -> Result<T, String>,
    ) -> Result<T, Error> {
        let mut coprocess = self.lock();
        let result = coprocess.request(method, params, limit)?;
        read(result).map_err(|problem| coprocess.drift(method, problem))
    }

    /// One call at a time: the protocol is one line in, one line out.
    fn lock(&self) -> MutexGuard<'_, Coprocess> {
        self.coprocess.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    /// What nobody can be handed any more is told.
    fn drop(&mut self) {
        if let Err(error) = self.end_in_order() {
            eprintln!("{error}");
        }
    }
}
