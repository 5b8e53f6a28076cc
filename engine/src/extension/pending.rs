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
    /// Told once when code is being compiled; closed when that is over, or was never needed.
    compiling: Receiver<()>,
    stage: Stage,
    thread: JoinHandle<(Result<Component, Fault>, Notes)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Unknown,
    Compiling,
    Over,
}

impl Pending {
    /// Begins to load it; none when there is no thread to be had, and it is then loaded when it is needed.
    pub(super) fn begin(loader: Arc<Loader>, declared: Declared, id: Option<String>, path: PathBuf) -> Option<Pending> {
        let (told, compiling) = channel();
        let shown = declared.shown.clone();
        let thread = std::thread::Builder::new().name("extension-loader".to_owned());
        let work = move || {
            let mut notes = Notes { compiling: Some(told), ..Notes::default() };
            let described = loader.describe(&declared, &mut notes);
            notes.compiling = None;
            (described, notes)
        };
        let thread = thread.spawn(work).ok()?;
        Some(Pending { id, path, shown, compiling, stage: Stage::Unknown, thread })
    }

    /// Whether its code is being compiled; waits until that is known.
    pub(super) fn is_compiling(&mut self) -> bool {
        if self.stage == Stage::Unknown {
            self.stage = if self.compiling.recv().is_ok() { Stage::Compiling } else { Stage::Over };
        }
        self.stage == Stage::Compiling && !self.thread.is_finished()
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
