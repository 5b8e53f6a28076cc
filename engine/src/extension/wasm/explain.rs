//! From what wasmtime says to a fault that names the extension, the call, and the next action.

use super::component::Settings;
use super::instance::{Ended, Stop};
use super::state::State;
use crate::extension::fault::{Code, Fault};
use std::sync::Arc;
use wasmtime::component::ResourceTableError;
use wasmtime::{Store, Trap};
use wasmtime_wasi::I32Exit;

/// What to do where nobody knows why it ended.
const SILENT: &str =
    "it wrote nothing to stderr: JavaScript and Python say why, unless they are built with `--stub-wasi`";

/// What to do about a limit.
pub(super) const RAISE: &str = "if it is right to, raise the limit in the config's `extensions`, under `limits`";

/// The fault of a call that ended without a result.
pub(super) fn fault<T>(
    name: &Arc<str>,
    call: &str,
    ended: Ended<T>,
    settings: &Settings,
    store: Option<&mut Store<State>>,
) -> Fault {
    let Ended { result, took } = ended;
    let (hit, stderr) = match store {
        Some(store) => {
            let state = store.data_mut();
            let stderr = state.stderr.take();
            (state.limiter.hit.take(), if stderr.trim().is_empty() { state.stdout.take() } else { stderr })
        }
        None => (None, String::new()),
    };
    let is_silent = stderr.trim().is_empty();
    let mut fault = match result {
        Err(Stop::Late) => late(name, call, settings),
        Err(Stop::Trap(error)) => match trap(name, call, settings, &error, hit) {
            fault if is_silent && is_panic(&error) => fault.hint(SILENT),
            fault => fault,
        },
        Err(Stop::Setup(why)) => Fault::new(Code::LaunchFailed, name, format!("extension `{name}`: {why}")),
        Ok(_) => Fault::new(Code::ExtensionError, name, format!("extension `{name}` gave no answer to {call}")),
    };
    fault.took = took;
    fault.stderr = stderr;
    fault
}

fn late(name: &Arc<str>, call: &str, settings: &Settings) -> Fault {
    let Settings { timeout, section, .. } = settings;
    Fault::new(Code::Timeout, name, format!("extension `{name}` did not end {call} within {timeout:?}"))
        .hint(format!("if it needs longer, raise its `timeout` in the config's `{section}`"))
}

fn is_panic(error: &wasmtime::Error) -> bool {
    matches!(error.downcast_ref(), Some(Trap::UnreachableCodeReached))
}

fn trap(name: &Arc<str>, call: &str, settings: &Settings, error: &wasmtime::Error, hit: Option<String>) -> Fault {
    let crashed =
        |what: String| Fault::new(Code::Crashed, name, format!("extension `{name}` crashed in {call}: {what}"));
    if let Some(hit) = hit {
        return crashed(hit).hint(RAISE);
    }
    if error.downcast_ref::<I32Exit>().is_some() {
        return crashed("it called `exit`".to_owned()).hint("an extension answers by returning, never by ending");
    }
    if let Some(trap) = error.downcast_ref::<Trap>() {
        let fault = crashed(match trap {
            Trap::UnreachableCodeReached => "it panicked or aborted (`unreachable` was executed)".to_owned(),
            Trap::StackOverflow => "its stack is used up".to_owned(),
            other => other.to_string(),
        });
        return match trap {
            Trap::StackOverflow | Trap::MemoryOutOfBounds => fault.hint("endless recursion looks like this"),
            _ => fault,
        };
    }
    if matches!(error.downcast_ref(), Some(ResourceTableError::Full)) {
        return crashed(format!(
            "it wants more open files, streams, sockets and timers than {}",
            settings.limits.handles
        ))
        .hint("one that is done with them closes them")
        .hint(RAISE);
    }
    let root = error.root_cause().to_string();
    if is_over_and_over(&root) {
        let message =
            format!("extension `{name}` handed over more than {} bytes in {call}", settings.limits.handed_over());
        return Fault::new(Code::MalformedResponse, name, message).hint("that is more than its memory holds");
    }
    if is_unreadable(&root) {
        return Fault::new(
            Code::MalformedResponse,
            name,
            format!("the answer of extension `{name}` to {call} cannot be read: {root}"),
        );
    }
    crashed(root)
}

/// What wasmtime says when the bytes that were handed over are more than may be.
fn is_over_and_over(text: &str) -> bool {
    text.contains("fuel allocated for hostcalls")
}

/// What wasmtime says of an answer that breaks the canonical ABI.
fn is_unreadable(text: &str) -> bool {
    ["utf-8", "utf-16", "utf8", "out of bounds of memory", "pointer not aligned", "discriminant", "not in bounds"]
        .iter()
        .any(|sign| text.to_lowercase().contains(sign))
}
