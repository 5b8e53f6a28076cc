//! The coprocess: one SDK, served over stdin and stdout.
//!
//! An SDK starts `mcptest exec --connection-server`, writes one request a line and reads one answer a line, strictly one
//! after the other. stdout carries nothing but these frames. Direct calls go to a server under test that is started with
//! the first of them; suites are planned and run by the engine itself, so that a verdict is the same in every language.
//!
//! The end comes with `mcp.shutdown`, with the end of stdin, with SIGTERM, or when nobody reads stdout any more: the servers
//! are ended, and nothing is left behind. What suites still have to take down runs before that, unless a signal came.

mod cache;
mod events;
mod frame;
mod heard;
mod hidden;
mod methods;
mod params;
mod peer;
mod suites;
mod upload;
mod upstream;
mod verdict;

use crate::diagnostic::Diagnostics;
use crate::source::Json;
use crate::suite::server::Server;
pub use cache::{clean_calls, place as calls_folder};
use frame::{Refusal, Request, response};
use methods::Methods;
pub use methods::NAMES as METHODS;
use peer::{Input, Line, Output};
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
pub use suites::Planned;
use tokio::signal::unix::{SignalKind, signal};

/// The version of the channel. It changes with the shape of a frame, and with nothing else.
pub const PROTOCOL_VERSION: u64 = 2;

/// How a coprocess serves.
pub struct Options {
    /// The server of direct calls, or why there is none; asked when the first of them comes.
    pub server: Source,
    /// Plans a suite file, or the suites of a folder.
    pub planner: Planner,
    /// Where results of calls are kept; `None` where there is no such folder.
    pub cache: Option<PathBuf>,
    /// `--timeout`: how long a call may take.
    pub timeout: Option<Duration>,
}

/// The server of direct calls.
pub struct Direct {
    /// The server.
    pub server: Arc<Server>,
    /// Added to what it inherits.
    pub environment: Vec<(String, String)>,
    /// Values that nothing may show, beside those of the server.
    pub secrets: Vec<String>,
}

impl Direct {
    /// What results of its calls are kept under; nothing for a server that is a cassette.
    fn identity(&self) -> Option<Json> {
        self.server.cassette.is_none().then(|| self.server.identity(&self.environment))
    }
}

/// Servers are played by a cassette: they need nothing that only a start needs.
#[derive(Debug, Clone)]
pub struct Played {
    /// The one server that all of it was recorded with, which stands in where none is named.
    pub server: Option<String>,
}

/// Looks the server of direct calls up.
pub type Source = Box<dyn FnMut(Option<&Played>) -> Result<Direct, String>>;

/// Reads config and suites of a path, and makes a plan of them.
pub type Planner = Box<dyn FnMut(&str, Option<&Played>) -> Result<Planned, Diagnostics>>;

/// Serves one SDK to the end.
pub fn serve(options: Options) -> std::io::Result<()> {
    crate::child::become_subreaper();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let output = Rc::new(Output::new()?);
        let (mut ending, mut signalled) = (ending(&output)?, signalled()?);
        let mut methods = Methods::new(options);
        converse(&mut Input::new()?, &output, &mut methods, &mut ending).await;
        methods.close(&mut signalled).await;
        Ok(())
    })
}

/// A future that lives as long as the conversation, so that asking it costs a look and not a registration.
type Ending = Pin<Box<dyn Future<Output = ()>>>;

/// Ready when a signal came, or when nobody listens any more.
fn ending(output: &Rc<Output>) -> std::io::Result<Ending> {
    let signalled = signalled()?;
    let output = output.clone();
    Ok(Box::pin(async move {
        tokio::select! {
            () = signalled => {}
            () = output.closed() => {}
        }
    }))
}

/// Ready when a signal came since this was called.
fn signalled() -> std::io::Result<Ending> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(Box::pin(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }))
}

/// Answers one request after the other until there is none.
async fn converse(input: &mut Input, output: &Output, methods: &mut Methods, ending: &mut Ending) {
    loop {
        let line = match input.linger() {
            Some(line) => line,
            None => tokio::select! {
                biased;
                () = &mut *ending => return,
                line = input.next() => line,
                () = methods.listen() => continue,
            },
        };
        let (id, reply, last) = match &line {
            Line::End => return,
            Line::Oversize(bytes) => ("null".to_owned(), Err(oversize(*bytes)), false),
            Line::Whole(line) => match Request::read(line) {
                Err((id, refusal)) => (id, Err(refusal), false),
                Ok(request) => {
                    let reply = tokio::select! {
                        // First, because a server that never pauses would keep a signal from being heard.
                        biased;
                        () = &mut *ending => return,
                        reply = methods.answer(&request) => reply,
                    };
                    (request.id.get().to_owned(), reply, request.method == "mcp.shutdown")
                }
            },
        };
        let last = last && reply.is_ok();
        let text = response(&id, &reply.map_err(|refusal| methods.hide(refusal)));
        let written = tokio::select! {
            biased;
            written = output.write(&text) => written.is_ok(),
            () = &mut *ending => return,
        };
        if last || !written {
            return;
        }
        methods.take_down();
    }
}

fn oversize(bytes: usize) -> Refusal {
    let message = format!("the line has {bytes} bytes, more than the {} that a request may have", peer::MAX_LINE);
    Refusal::new(frame::INVALID_REQUEST, message)
}
