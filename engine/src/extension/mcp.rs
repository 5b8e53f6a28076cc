//! The MCP backend: a server whose tools are the hooks, on stdio or behind a URL, spoken to by the engine's own client.
//!
//! The client is asynchronous and belongs to a runtime, and hooks are called from inside of other runtimes: it lives on a
//! thread of its own, made by the first call, which answers one call after the other.

mod client;
mod probe;
mod result;
mod trouble;

use super::fault::{Code, Fault};
use super::hurry::Hurry;
use super::log::{self, Said};
use super::plugin::{Wire, words};
use super::{Introduced, Probe};
use client::Client;
pub(super) use client::Way;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A plugin that is an MCP server.
#[derive(Debug)]
pub(super) struct Server {
    name: Arc<str>,
    way: Way,
    timeout: Duration,
    hurry: Arc<Hurry>,
    worker: Mutex<Option<Worker>>,
}

#[derive(Debug)]
struct Worker {
    jobs: Sender<Job>,
    thread: JoinHandle<Vec<String>>,
}

/// Something to do with the client, on its thread.
type Job = Box<dyn FnOnce(&Runtime, &mut Client) + Send>;

impl Server {
    /// A server that nobody has called yet.
    pub(super) fn new(name: Arc<str>, way: Way, timeout: Duration) -> Server {
        Server { name, way, timeout, hurry: Arc::default(), worker: Mutex::default() }
    }

    fn start(&self) -> Result<Worker, Fault> {
        let name = &self.name;
        let failed = |why: std::io::Error| {
            Fault::new(Code::LaunchFailed, name, format!("plugin `{name}` could not be started: {why}"))
        };
        crate::child::become_subreaper();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let client = Client::new(name.clone(), self.way.clone(), self.timeout);
        let hurry = self.hurry.clone();
        let (jobs, todo) = channel();
        let thread = std::thread::Builder::new().name(format!("plugin-{name}"));
        let thread = thread.spawn(move || work(&runtime, client, &todo, &hurry)).map_err(failed)?;
        Ok(Worker { jobs, thread })
    }

    /// Has something done on the client's thread, which is made where there is none, and awaits what comes of it.
    fn have_done<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Runtime, &mut Client) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = match &mut *worker {
            Some(worker) => worker,
            none => none.insert(self.start()?),
        };
        let (done, outcome) = channel();
        let gone = || {
            let name = &self.name;
            Fault::new(Code::Crashed, name, format!("plugin `{name}` cannot be called: mcptest itself failed"))
        };
        let job: Job = Box::new(move |runtime, client| drop(done.send(job(runtime, client))));
        worker.jobs.send(job).map_err(|_| gone())?;
        outcome.recv().map_err(|_| gone())
    }
}

/// Answers calls until nobody can make any.
fn work(runtime: &Runtime, mut client: Client, todo: &Receiver<Job>, hurry: &Hurry) -> Vec<String> {
    while let Ok(job) = todo.recv() {
        job(runtime, &mut client);
    }
    runtime.block_on(client.close(hurry.is_on()))
}

impl Wire for Server {
    fn call(&self, hook: &str, arguments: &str) -> Result<String, Fault> {
        let (hook, arguments, hurry) = (hook.to_owned(), arguments.to_owned(), self.hurry.clone());
        let call = move |runtime: &Runtime, client: &mut Client| {
            let result = runtime.block_on(async {
                let interrupted = words::interrupted(client.name(), &hook);
                tokio::select! {
                    biased;
                    () = hurry.over(&hook) => Err(interrupted),
                    result = client.call(&hook, &arguments) => result,
                }
            });
            (result, client.said())
        };
        let (result, said): (_, Vec<Said>) = self.have_done(call)?;
        log::keep(said);
        result
    }

    fn introduce(&self) -> Option<Result<Introduced, Fault>> {
        Some(self.have_done(|runtime, client| runtime.block_on(client.introduce())).flatten())
    }

    fn probe(&self) -> Vec<Probe> {
        let probed = self.have_done(|runtime, client| runtime.block_on(client.probe()));
        probed.unwrap_or_else(|fault| vec![Probe::failed("it starts", fault.message)])
    }

    fn interrupt(&self) {
        self.hurry.begin();
    }

    fn close(&self) -> Vec<String> {
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Worker { jobs, thread }) = worker {
            drop(jobs);
            let name = &self.name;
            let notices = thread.join().unwrap_or_default();
            return notices.into_iter().map(|notice| format!("plugin `{name}` {notice}")).collect();
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
