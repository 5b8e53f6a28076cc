//! A worker: one thread, one runtime, one file after the other, each server's process kept as long as its `restart` says.

use super::slot::{Ahead, Desk, Slot};
use super::{Shared, file};
use crate::event::{At, Body, Failure, FailureKind, Status, TestFinished, What};
use crate::plan::FilePlan;
use crate::source::Span;
use crate::suite::server::Restart;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use tokio::runtime::Runtime;

/// How far a file has come: the status of every test that is over.
pub(super) type Progress = RefCell<Vec<Option<Status>>>;

/// Bytes of a worker's stack: values 128 levels deep are judged on it, and at their end a guest may use half a MiB more.
const STACK: usize = 8 * 1024 * 1024;

/// The thread of a worker.
pub(super) fn thread(number: usize) -> std::thread::Builder {
    std::thread::Builder::new().name(format!("worker-{number}")).stack_size(STACK)
}

/// Runs files, the one of its number first, until there is none left. A bug in the engine costs the rest of the file it
/// struck, never the report.
pub(super) fn run(shared: &Shared, number: usize, ahead: Option<(Runtime, Ahead)>) {
    let (runtime, ahead) = match ahead {
        Some((runtime, ahead)) => (Ok(runtime), Some(ahead)),
        None => (tokio::runtime::Builder::new_current_thread().enable_all().build(), None),
    };
    let Ok(runtime) = runtime else {
        lose(shared, number);
        return abandon_all(shared, "no runtime can be made for a worker");
    };
    let desk = Desk { shared, listener: shared.stop.listen(), file: Some(number) };
    let mut slots: Vec<Slot> = ahead.map(|ahead| ahead.arrive(&desk)).into_iter().collect();
    let mut at = number;
    while let Some(plan) = shared.plan.files.get(at) {
        let progress: Progress = RefCell::new(vec![None; plan.cases.len()]);
        let ran = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async {
                let mut desk = Desk { shared, listener: shared.stop.listen(), file: Some(at) };
                file::run(plan, &mut desk, &mut slots, &progress).await;
                let over = |slot: &Slot| {
                    slot.server.restart != Restart::Run || slot.lost_in.is_some() || !is_wanted(slot, shared)
                };
                close(&mut slots, &desk, over).await;
                slots.iter_mut().for_each(|slot| slot.lost_in = None);
            });
        }));
        if let Err(panic) = ran {
            slots.clear();
            abandon(shared, plan, at, &progress, &panic_text(&*panic));
        }
        shared.outbox.post(Some(at), What::FileDone);
        at = shared.next_file.fetch_add(1, Ordering::Relaxed);
    }
    let ended = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let desk = Desk { shared, listener: shared.stop.listen(), file: None };
            close(&mut slots, &desk, |_| true).await;
        });
    }));
    if ended.is_err() {
        crate::child::kill_everything();
    }
}

/// Whether a file that no worker has taken yet could use what is open there: a server that a suite wrote itself is its own.
fn is_wanted(slot: &Slot, shared: &Shared) -> bool {
    let left = shared.plan.files.iter().skip(shared.next_file.load(Ordering::Relaxed));
    left.flat_map(|file| &file.cases).any(|case| {
        Arc::ptr_eq(&case.server, &slot.server) && case.capabilities == slot.capabilities && case.skip.is_none()
    })
}

async fn close(slots: &mut [Slot], desk: &Desk<'_>, which: impl Fn(&Slot) -> bool) {
    // All at once: each may take as long as its server's grace.
    let mut closing: Vec<_> =
        slots.iter_mut().filter(|slot| which(slot)).map(|slot| Box::pin(slot.close(desk))).collect();
    std::future::poll_fn(|cx| {
        closing.retain_mut(|slot| slot.as_mut().poll(cx).is_pending());
        if closing.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Reports the tests of a file that never came to their turn.
fn abandon(shared: &Shared, plan: &FilePlan, at: usize, progress: &Progress, why: &str) {
    let progress = progress.try_borrow().map(|statuses| statuses.clone()).unwrap_or_default();
    for (position, case) in plan.cases.iter().enumerate() {
        if progress.get(position).copied().flatten().is_some() {
            continue;
        }
        let span = plan.case(case.subject).map_or(Span::default(), |case| case.span);
        let message = format!("mcptest itself failed: {why}");
        let mut failure = Failure::new(FailureKind::Fault, message, At::new(&plan.suite.source, span));
        failure.hints.push("this is a bug in mcptest: please report it with the suite that shows it".into());
        let finished = TestFinished {
            test: case.test.clone(),
            status: Status::Faulted,
            duration_ms: 0.0,
            failures: vec![failure],
            reason: None,
            attempts: None,
        };
        shared.outbox.post(Some(at), What::Event(Body::TestFinished(finished)));
    }
}

/// Reports the first file of a worker that is not there.
pub(super) fn lose(shared: &Shared, number: usize) {
    if let Some(plan) = shared.plan.files.get(number) {
        abandon(shared, plan, number, &RefCell::new(Vec::new()), "a worker could not begin");
        shared.outbox.post(Some(number), What::FileDone);
    }
}

fn abandon_all(shared: &Shared, why: &str) {
    loop {
        let at = shared.next_file.fetch_add(1, Ordering::Relaxed);
        let Some(plan) = shared.plan.files.get(at) else { return };
        abandon(shared, plan, at, &RefCell::new(Vec::new()), why);
        shared.outbox.post(Some(at), What::FileDone);
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}
