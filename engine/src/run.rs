//! Runs a plan: workers open sessions, sessions run steps, everything that happens is posted as an event.
//!
//! Nothing here returns an error because a server is bad: crashes, timeouts and garbage are faults inside events.

mod alarm;
mod call;
mod capture;
mod conclude;
mod early;
mod ending;
mod evidence;
mod exchange;
mod fault;
mod file;
mod files;
mod hearing;
mod judge;
mod line;
mod modern;
mod outcome;
mod output_schema;
mod over_http;
mod pages;
mod picked;
mod polling;
mod ready;
mod respond;
mod session;
mod signals;
mod slot;
mod step;
mod stop;
mod task;
mod window;
mod worker;

use crate::event::collector::{Collector, Finished};
use crate::event::redact::Redactor;
use crate::event::{Body, Outbox, RunStarted, What};
use crate::extension::Live;
use crate::mcp::cassette::Reel;
use crate::plan::Plan;
pub use early::Early;
pub use picked::Picked;
pub use signals::Watch;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stop::Stop;

/// How often the collector comes by while workers are busy.
const TICK: Duration = Duration::from_millis(50);

/// How a plan is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// `-j`: how many files run at once.
    pub jobs: usize,
    /// `--max-fail`: stop after so many failed or faulted tests.
    pub max_fail: Option<usize>,
    /// `--timeout`: for steps that do not say otherwise.
    pub timeout: Option<Duration>,
    /// Whether frames of passed steps are posted too.
    pub frames: bool,
    /// Whether stderr of passed steps is posted too.
    pub logs: bool,
    /// The extensions that take part.
    pub extensions: Vec<Arc<Live>>,
    /// What `--env-file` adds to what servers inherit.
    pub environment: Vec<(String, String)>,
    /// `--record`, `--replay`.
    pub reel: Option<Reel>,
    /// The exit code of a run without a test.
    pub nothing: u8,
}

/// What workers share.
struct Shared {
    plan: Plan,
    options: Options,
    outbox: Outbox,
    stop: Arc<Stop>,
    next_file: AtomicUsize,
    next_session: AtomicUsize,
    failures: AtomicUsize,
    start_failed: AtomicBool,
    /// For what is cut before the collector sees it: half a secret is not found any more.
    redactor: Mutex<Arc<Redactor>>,
}

impl Shared {
    fn redactor(&self) -> Arc<Redactor> {
        self.redactor.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A value that came up during the run is hidden from here on.
    fn hide<S: AsRef<str>>(&self, secrets: &[S]) {
        let mut redactor = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        *redactor = Arc::new(secrets.iter().fold((**redactor).clone(), |all, secret| all.with(secret.as_ref())));
    }
}

/// Runs the plan to its end; the exit code is 130, 3, 1 or 0, in this order of precedence, and what is asked for when there is no test. Workers that are there
/// already go on with what they have opened.
pub fn run(
    plan: Plan,
    options: Options,
    mut collector: Collector,
    early: Option<Early>,
) -> std::io::Result<(Finished, u8)> {
    prepare_process();
    let jobs = options.jobs.clamp(1, plan.files.len().max(1));
    let started = RunStarted {
        version: env!("CARGO_PKG_VERSION"),
        files: plan.files.len(),
        tests: plan.tests,
        jobs,
        seed: plan.seed,
        extensions: options.extensions.iter().map(|live| live.used()).collect(),
    };
    let outbox = Outbox::default();
    outbox.post(None, What::Event(Body::RunStarted(started)));
    let shared = Arc::new(Shared {
        plan,
        options,
        outbox,
        stop: early.as_ref().map_or_else(Arc::default, |early| early.stop.clone()),
        // Each worker begins with the file of its number.
        next_file: AtomicUsize::new(jobs),
        next_session: AtomicUsize::new(early.as_ref().map_or(0, Early::sessions)),
        failures: AtomicUsize::new(0),
        start_failed: AtomicBool::new(false),
        redactor: Mutex::new(Arc::new(collector.redactor().clone())),
    });
    // A reporter is called from here, and one that waits for whoever reads its output hears no signal.
    let _hearing = hear(&shared)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(watch(&shared, jobs, &mut collector, early))?;
    let interrupted = shared.stop.interrupted();
    collector.accept(shared.outbox.take());
    let summary = collector.summary();
    let exit_code = if interrupted {
        130
    } else if shared.plan.tests == 0 {
        shared.options.nothing
    } else if shared.start_failed.load(Ordering::Relaxed) {
        3
    } else {
        u8::from(summary.failed + summary.faulted > 0)
    };
    let finished = collector.finish(interrupted, exit_code);
    // A signal while reporters finished comes too late for the report, and not for the exit code.
    Ok((finished, if shared.stop.interrupted() { 130 } else { exit_code }))
}

/// Hears signals: workers stop at the first one, and calls of extensions end with it.
fn hear(shared: &Arc<Shared>) -> std::io::Result<Watch> {
    let (stop, extensions) = (shared.stop.clone(), shared.options.extensions.clone());
    let react = move || {
        stop.interrupt();
        extensions.iter().for_each(|live| live.extension.interrupt());
    };
    Watch::begin(react)
}

/// Starts the workers and hands what they post to the collector until the last one is done.
async fn watch(
    shared: &Arc<Shared>,
    jobs: usize,
    collector: &mut Collector,
    mut early: Option<Early>,
) -> std::io::Result<()> {
    // The channel closes when the last worker is done.
    let (done, mut finished) = tokio::sync::mpsc::unbounded_channel::<()>();
    let mut threads = Vec::with_capacity(jobs);
    for number in 0..jobs {
        let (shared, done) = (shared.clone(), done.clone());
        let waiting = early.as_mut().and_then(|early| early.workers.get_mut(number));
        if let Some((call, thread)) = waiting.and_then(|worker| worker.call.take().zip(worker.thread.take())) {
            // A worker that is gone has panicked, and the file that it would have run first is reported as lost.
            if call.send((shared.clone(), done)).is_err() {
                worker::lose(&shared, number);
            }
            threads.push(thread);
            continue;
        }
        let thread = worker::thread(number);
        threads.push(thread.spawn(move || {
            worker::run(&shared, number, None);
            drop(done);
        })?);
    }
    drop((done, early));
    let mut tick = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            biased;
            next = finished.recv() => if next.is_none() { break },
            _ = tick.tick() => {
                collector.accept(shared.outbox.take());
                collector.tick();
            }
        }
    }
    for thread in threads {
        let _ = thread.join();
    }
    Ok(())
}

/// What has to hold before the first server is started.
fn prepare_process() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        crate::child::become_subreaper();
        leave_nothing_behind_on_panic();
    });
}

/// A worker's own panic unwinds through its sessions, which end their servers; anybody else's would leave them running.
fn leave_nothing_behind_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        if !std::thread::current().name().is_some_and(|name| name.starts_with("worker-")) {
            crate::child::kill_everything();
        }
    }));
}
