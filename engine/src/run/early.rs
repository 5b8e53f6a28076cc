//! Servers that start while extensions are still being compiled.
//!
//! Compiling takes a second or ten, and starting a server may take as long: so that it does not add up, each worker opens
//! the session that its first file begins with before the plan is there. Nothing but the handshake is sent until the plan
//! has come. When it never comes, because something is wrong with it, the servers are ended again.

use super::signals::Watch;
use super::slot::Ahead;
use super::stop::Stop;
use super::{Shared, prepare_process, worker};
use crate::plan::{FilePlan, Plan};
use crate::source::Json;
use crate::suite::server::{Restart, Server};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// What a worker opens first.
pub(super) struct First {
    pub(super) server: Arc<Server>,
    pub(super) capabilities: Arc<Json>,
    /// The file that it is opened for, without its tests.
    pub(super) file: FilePlan,
}

/// What a waiting worker gets: the run, and where it says that it is done.
pub(super) type Call = (Arc<Shared>, mpsc::UnboundedSender<()>);

/// Workers that have a server and wait for the plan. Dropping them ends the servers.
pub struct Early {
    pub(super) stop: Arc<Stop>,
    pub(super) workers: Vec<Waiting>,
    /// Until the run itself listens, a signal ends everything at once: there is nothing to report yet.
    _watch: Watch,
}

/// A worker that waits.
pub(super) struct Waiting {
    pub(super) call: Option<oneshot::Sender<Call>>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Early {
    /// Starts the servers that the first files of a plan begin with, one for each worker; none when there is nothing to
    /// start ahead.
    pub fn start(plan: &Plan, jobs: usize, environment: &[(String, String)]) -> Option<Early> {
        let jobs = jobs.clamp(1, plan.files.len().max(1));
        let firsts: Option<Vec<First>> = plan.files.iter().take(jobs).map(first).collect();
        let firsts = firsts.filter(|firsts| !firsts.is_empty())?;
        prepare_process();
        let mut early = Early { stop: Arc::default(), workers: Vec::new(), _watch: Watch::for_the_end().ok()? };
        for (number, first) in firsts.into_iter().enumerate() {
            let (call, called) = oneshot::channel();
            let (stop, environment) = (early.stop.clone(), environment.to_vec());
            let thread = worker::thread(number);
            let thread = thread.spawn(move || wait(number, &first, &stop, &environment, called)).ok()?;
            early.workers.push(Waiting { call: Some(call), thread: Some(thread) });
        }
        Some(early)
    }

    /// How many sessions were opened.
    pub(super) fn sessions(&self) -> usize {
        self.workers.len()
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.call = None;
        }
        for thread in self.workers.iter_mut().filter_map(|worker| worker.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Early {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Early").field("workers", &self.workers.len()).finish_non_exhaustive()
    }
}

/// The session that a file begins with, when it is one that tests share.
fn first(file: &FilePlan) -> Option<First> {
    let case = file.cases.iter().find(|case| case.skip.is_none())?;
    let written = file.case(case.subject)?;
    let own = written.restart || !written.handshake || case.server.restart == Restart::Test;
    let (server, capabilities) = (case.server.clone(), case.capabilities.clone());
    let file = FilePlan { suite: file.suite.clone(), scope: file.scope.clone(), cases: Vec::new() };
    (!own).then_some(First { server, capabilities, file })
}

/// A worker's life until the plan comes.
fn wait(number: usize, first: &First, stop: &Stop, environment: &[(String, String)], called: oneshot::Receiver<Call>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        if let Ok((shared, _done)) = called.blocking_recv() {
            worker::run(&shared, number, None);
        }
        return;
    };
    let (ahead, call) = runtime.block_on(async {
        let name = format!("{}#{}", first.server.name, number + 1);
        let mut ahead = Ahead::open(first, name.into(), environment, &mut stop.listen()).await;
        let call = called.await.ok();
        match call {
            Some(_) => ahead.resume(first).await,
            None => ahead.abandon().await,
        }
        (ahead, call)
    });
    if let Some((shared, _done)) = call {
        worker::run(&shared, number, Some((runtime, ahead)));
    }
}
