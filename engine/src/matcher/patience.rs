//! Work that cannot be stopped, and may take for ever.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Does the work on a thread of its own; `None` where it takes longer. Then it is left behind, and ends with the process.
pub(super) fn within<T: Send + 'static>(patience: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(work()));
    receive.recv_timeout(patience).ok()
}
