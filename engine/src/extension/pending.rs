//! Components that are loaded on threads of their own, while the rest of the input is read.

use super::Declared;
use super::fault::{Code, Fault};
use super::wasm::{Component, Loader, Notes};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// One component on its way.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) id: Option<String>,
    pub(super) path: PathBuf,
    shown: String,
    /// Told when code is to be compiled; closed when it was there.
    told: Receiver<()>,
    compiles: Option<bool>,
    thread: JoinHandle<(Result<Component, Fault>, Notes)>,
}

impl Pending {
    /// Begins to load it; none when there is no thread to be had, and it is then loaded when it is needed.
    pub(super) fn begin(loader: Arc<Loader>, declared: Declared, id: Option<String>, path: PathBuf) -> Option<Pending> {
        let (tell, told) = channel();
        let shown = declared.shown.clone();
        let thread = std::thread::Builder::new().name("extension-loader".to_owned());
        let work = move || {
            let mut notes = Notes { compiling: Some(tell), ..Notes::default() };
            let described = loader.describe(&declared, &mut notes);
            notes.compiling = None;
            (described, notes)
        };
        let thread = thread.spawn(work).ok()?;
        Some(Pending { id, path, shown, told, compiles: None, thread })
    }

    /// Whether its code has to be compiled; waits until that is known, which is soon.
    pub(super) fn compiles(&mut self) -> bool {
        *self.compiles.get_or_insert_with(|| self.told.recv().is_ok())
    }

    /// What came of it.
    pub(super) fn finish(self, notes: &mut Notes) -> Result<Component, Fault> {
        match self.thread.join() {
            Ok((described, mut own)) => {
                notes.notices.append(&mut own.notices);
                described
            }
            Err(_) => {
                let name: Arc<str> = self.shown.as_str().into();
                let message = format!("extension `{}` cannot be loaded: mcptest itself failed", self.shown);
                Err(Fault::new(Code::LaunchFailed, &name, message))
            }
        }
    }
}
