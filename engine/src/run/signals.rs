//! The signals that end a run, and a thread that hears them for those who cannot listen themselves.

use std::io;
use std::thread::JoinHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// Ctrl-C, SIGTERM and the end of the terminal.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Hears signals on a thread of its own: whoever waits for an extension cannot. Dropping it ends the watch, after what a
/// signal has begun: whoever sees a plugin die of it does not get to say something else first.
#[derive(Debug)]
pub struct Watch {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// From now on every signal has this effect.
    pub fn begin(mut react: impl FnMut() + Send + 'static) -> io::Result<Watch> {
        let (end, mut ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut signals = {
            // Not `block_on`: whoever begins may stand in a runtime of its own.
            let _inside = runtime.enter();
            Signals::listen()?
        };
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async {
                loop {
                    tokio::select! {
                        biased;
                        _ = &mut ended => return,
                        () = signals.next() => react(),
                    }
                }
            });
        })?;
        Ok(Watch { end: Some(end), thread: Some(thread) })
    }

    /// A signal ends everything at once: there is nothing to report yet, or any more.
    pub fn for_the_end() -> io::Result<Watch> {
        Watch::begin(|| {
            crate::child::kill_everything();
            std::process::exit(130);
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
