//! The MCP backend: a server whose tools are the hooks, on stdio or behind a URL, spoken to by the engine's own client.
//!
//! The client is asynchronous and belongs to a runtime, and hooks are called from inside of other runtimes: it lives on a
//! thread of its own, made by the first call, which answers one call after the other.

mod client;
mod result;

use super::fault::{Code, Fault};
use super::log::{self, Said};
use super::plugin::Wire;
use client::Client;
pub(super) use client::Way;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A plugin that is an MCP server.
#[derive(Debug)]
pub(super) struct Server {
    name: Arc<str>,
    way: Way,
    timeout: Duration,
    worker: Mutex<Option<Worker>>,
}

#[derive(Debug)]
struct Worker {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
}

/// One call, and where its outcome goes.
#[derive(Debug)]
struct Job {
    hook: String,
    arguments: String,
    done: Sender<(Result<String, Fault>, Vec<Said>)>,
}

impl Server {
    /// A server that nobody has called yet.
    pub(super) fn new(name: Arc<str>, way: Way, timeout: Duration) -> Server {
        Server { name, way, timeout, worker: Mutex::default() }
    }

    fn start(&self) -> Result<Worker, Fault> {
        let name = &self.name;
        let failed = |why: std::io::Error| {
            Fault::new(Code::LaunchFailed, name, format!("plugin `{name}` could not be started: {why}"))
        };
        crate::child::become_subreaper();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let client = Client::new(name.clone(), self.way.clone(), self.timeout);
        let (jobs, todo) = channel();
        let thread = std::thread::Builder::new().name(format!("plugin-{name}"));
        let thread = thread.spawn(move || work(&runtime, client, &todo)).map_err(failed)?;
        Ok(Worker { jobs, thread })
    }
}

/// Answers calls until nobody can make any.
fn work(runtime: &tokio::runtime::Runtime, mut client: Client, todo: &Receiver<Job>) {
    while let Ok(Job { hook, arguments, done }) = todo.recv() {
        let result = runtime.block_on(client.call(&hook, &arguments));
        let _ = done.send((result, client.said()));
    }
    runtime.block_on(client.close());
}

impl Wire for Server {
    fn call(&self, hook: &str, arguments: &str) -> Result<String, Fault> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = match &mut *worker {
            Some(worker) => worker,
            none => none.insert(self.start()?),
        };
        let (done, outcome) = channel();
        let job = Job { hook: hook.to_owned(), arguments: arguments.to_owned(), done };
        let gone = || {
            let name = &self.name;
            Fault::new(Code::Crashed, name, format!("plugin `{name}` cannot be called: mcptest itself failed"))
        };
        worker.jobs.send(job).map_err(|_| gone())?;
        let (result, said) = outcome.recv().map_err(|_| gone())?;
        log::keep(said);
        result
    }

    fn close(&self) -> Vec<String> {
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Worker { jobs, thread }) = worker {
            drop(jobs);
            let _ = thread.join();
        }
        Vec::new()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}

/// A number of crashes, for people.
fn crashes(count: u32) -> String {
    if count == 1 { "a crash".to_owned() } else { format!("{count} crashes") }
}
