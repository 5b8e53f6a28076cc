//! Cassettes: a conversation with a server, recorded into a file and played again without one.
//!
//! ```json
//! {
//!   "cassette": 1,
//!   "recordedBy": "mcptest 0.1.0",
//!   "ignore": ["$.params.arguments.now"],
//!   "exchanges": [
//!     {
//!       "server": "demo",
//!       "test": "demo.test.mcp.yml#tools/echoes",
//!       "request": { "method": "tools/call", "params": { "name": "echo", "arguments": { "message": "hi" } } },
//!       "during": [ { "notification": { "method": "notifications/progress", "params": { … } } } ],
//!       "response": { "result": { "content": [ { "type": "text", "text": "hi" } ] } }
//!     }
//!   ]
//! }
//! ```
//!
//! One request is one exchange, with everything that the server said until it was answered. Ids belong to a session and
//! are not kept; the folder behind `${tmp}` is written as `${tmp}`, and put back when the cassette is played.

mod carried;
mod matching;
mod names;
mod record;
mod replay;

pub use carried::Carried;
pub use record::{Recorder, Tape};
pub use replay::{Deck, Player};

use crate::child::Exit;
use crate::diagnostic::Diagnostic;
use crate::source::{Json, Source, Span};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// The version of the format.
const VERSION: u64 = 1;
/// The key under which a request asks for its progress, and a notification tells of it.
const TOKEN: &str = "progressToken";
/// What stands for the folder behind `${tmp}`.
const TMP: &str = "${tmp}";

/// A cassette in use.
#[derive(Debug, Clone)]
pub enum Reel {
    /// What happens is recorded.
    Record(Tape),
    /// What was recorded happens.
    Replay(Deck),
}

/// A reel, for one connection.
#[derive(Debug, Clone)]
pub struct Spool {
    /// The reel.
    pub reel: Reel,
    /// The server's name.
    pub server: Arc<str>,
    /// The folder behind `${tmp}`.
    pub tmp: String,
}

/// Takes secrets out of a value: those that were known from the beginning, and these, which came up since.
pub type Redact = Arc<dyn Fn(&mut Json, &[String]) + Send + Sync>;

/// A recorded conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cassette {
    /// The version of the format.
    pub cassette: u64,
    /// Which version of mcptest recorded it.
    #[serde(default)]
    pub recorded_by: String,
    /// JSONPaths over a request (`$.params…`): what they name is not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// In the order in which the requests were sent.
    pub exchanges: Vec<Exchange>,
}

/// One request, and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exchange {
    /// The server's name.
    pub server: String,
    /// The test that asked: its file, from where the cassette lies, and its name there; none for what nobody's step asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// What was sent: `{method, params}`, or a text that is no request. Over HTTP a notification of a test, too, since it is
    /// answered with a status.
    pub request: Json,
    /// What the server said before it answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<Said>,
    /// `{result}` or `{error}`; absent when no answer came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Json>,
    /// How it came over HTTP, or what came in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Carried>,
    /// How the process ended, when it did instead of answering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Ended>,
}

/// Something that a server said on its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Said {
    /// `{method, params}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification: Option<Json>,
    /// `{id, method, params}`: it asked the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Json>,
    /// `{result}` or `{error}`: what the client answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Json>,
    /// Text on stderr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// A line on stdout that is no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// Its exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

impl From<Exit> for Ended {
    fn from(Exit { code, signal }: Exit) -> Ended {
        Ended { code, signal }
    }
}

impl From<Ended> for Exit {
    fn from(Ended { code, signal }: Ended) -> Exit {
        Exit { code, signal }
    }
}

impl Said {
    const NOTHING: Said = Said { notification: None, request: None, answer: None, stderr: None, stdout: None };
}

impl Default for Cassette {
    fn default() -> Cassette {
        let recorded_by = concat!("mcptest ", env!("CARGO_PKG_VERSION")).to_owned();
        Cassette { cassette: VERSION, recorded_by, ignore: Vec::new(), exchanges: Vec::new() }
    }
}

/// What a client sends, as a cassette sees it.
enum Outgoing {
    /// A request under its id, without what belongs to a session; a text that is no message stands for itself.
    Request(Json, Json),
    /// The answer to a request of the server.
    Answer(Json),
    /// Something that nobody answers.
    Notification(Json),
}

impl Outgoing {
    /// A message as a cassette keeps it: without what belongs to a session.
    fn kept(message: &mut Json) -> Json {
        let mut request = json!({ "method": message["method"].take() });
        if let Some(params) = message.get_mut("params") {
            request["params"] = params.take();
        }
        request
    }

    fn read(line: &[u8]) -> Outgoing {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        match serde_json::from_str::<Json>(text) {
            Ok(mut message) if message.get("method").is_some_and(Json::is_string) => {
                let Some(id) = message.get("id").cloned() else { return Outgoing::Notification(message) };
                Outgoing::Request(id, Outgoing::kept(&mut message))
            }
            Ok(message) if message.get("id").is_some() => Outgoing::Answer(message),
            _ => Outgoing::Request(Json::Null, Json::from(text)),
        }
    }
}

impl Cassette {
    /// The server that all of it was recorded with.
    pub fn sole_server(&self) -> Option<&str> {
        let first = self.exchanges.first()?;
        self.exchanges.iter().all(|exchange| exchange.server == first.server).then_some(&*first.server)
    }

    /// Reads a cassette; the problem has a place in it.
    pub fn load(path: &Path) -> Result<Cassette, Box<Diagnostic>> {
        let source = crate::source::load(path, &path.to_string_lossy())?;
        let wrong = |message: String, span: Span| Box::new(Diagnostic::error(message).at(&source, span));
        let version = serde_json::from_str::<Json>(&source.text).ok().and_then(|value| value.get("cassette")?.as_u64());
        if let Some(version) = version.filter(|version| *version != VERSION) {
            let message = format!("the cassette has the format {version}, and this version of mcptest reads {VERSION}");
            return Err(Box::new(wrong(message, place_of(&source, "\"cassette\"")).hint("record it anew")));
        }
        let cassette: Cassette = serde_json::from_str(&source.text).map_err(|error| {
            let text = error.to_string();
            let what = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
            let problem =
                wrong(format!("this is no cassette: {what}"), position(&source, error.line(), error.column()));
            Box::new(problem.hint("record it anew with `--record`, or take it from version control"))
        })?;
        for path in &cassette.ignore {
            if let Err(error) = serde_json_path::JsonPath::parse(path) {
                let place = place_of(&source, &Json::from(path.as_str()).to_string());
                return Err(wrong(format!("`ignore`: `{path}` is no JSONPath: {error}"), place));
            }
        }
        Ok(cassette)
    }

    /// Writes it in one go: whoever reads the file sees the old one or the new one.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = beside(path)?;
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        file.write_all(text.as_bytes())?;
        readable_as_usual(file.as_file())?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}

/// The file that is written in the place of a cassette until it is whole.
fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)?;
    tempfile::Builder::new().prefix(".cassette-").tempfile_in(folder)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A test as a cassette calls it: its file from where the cassette lies, wherever the run was started, and its name there.
fn test_label(cassette: &Path, file: &str, test: &str) -> String {
    let seen = folder_of(cassette).canonicalize().ok().zip(Path::new(file).canonicalize().ok());
    let seen = seen.and_then(|(folder, file)| seen_from(&folder, &file));
    let name =
        || Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into_owned());
    format!("{}{test}", seen.unwrap_or_else(name))
}

/// A path as it is written in a folder; none where the two have nothing in common.
fn seen_from(folder: &Path, path: &Path) -> Option<String> {
    let above = folder.ancestors().position(|above| above.parent().is_some() && path.starts_with(above))?;
    let below = path.strip_prefix(folder.ancestors().nth(above)?).ok()?;
    Some(format!("{}{}", "../".repeat(above), below.display()))
}

/// A cassette is read by colleagues and committed, so it gets what a new file gets, and not the mode of a secret.
fn readable_as_usual(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

fn position(source: &Source, line: usize, column: usize) -> Span {
    let start: usize = source.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (start + column.saturating_sub(1)).min(source.text.len());
    let at = source.text.floor_char_boundary(at);
    Span::new(at, (at + 1).min(source.text.len()))
}

fn place_of(source: &Source, text: &str) -> Span {
    source.text.find(text).map_or(Span::default(), |at| Span::new(at, at + text.len()))
}

/// Replaces a text in every string of a value.
fn replace(value: &mut Json, from: &str, to: &str) {
    match value {
        Json::String(text) if !from.is_empty() && text.contains(from) => *text = text.replace(from, to),
        Json::Array(items) => items.iter_mut().for_each(|item| replace(item, from, to)),
        Json::Object(map) => map.values_mut().for_each(|value| replace(value, from, to)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
