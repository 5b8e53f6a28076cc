//! What the engine's own client says of a server, as faults of a plugin.

use super::client::{LIST, Way};
use crate::extension::fault::{Code, Fault, plain};
use crate::extension::plugin::words::{self, INVALID};
use crate::mcp::fault::{Code as ServerCode, Fault as ServerFault};
use std::sync::Arc;
use std::time::Duration;

impl Way {
    /// What is done about a start that takes its time.
    fn slow_start(&self) -> &'static str {
        match self {
            Way::Stdio { .. } => "if it needs longer to start, raise `startup_timeout_sec` in its `plugin.toml`",
            Way::Http(_) => "if it needs longer to start, raise `timeout_sec` in its `plugin.toml`",
        }
    }
}

/// Why it was not started.
pub(super) fn unstarted(name: &Arc<str>, way: &Way, fault: ServerFault) -> Fault {
    let start = Fault::new(Code::LaunchFailed, name, format!("plugin `{name}` could not be started: {fault}"));
    match way {
        // The usual hint is about the config of a server.
        Way::Stdio { spawn, .. } if !spawn.cwd.is_dir() => start.hint(words::WORKING_DIR),
        _ => fault.hints.into_iter().fold(start, Fault::hint),
    }
}

/// Why there is no conversation with it; `late` is the time that it had, where that is over.
pub(super) fn unopened(
    name: &Arc<str>,
    way: &Way,
    fault: ServerFault,
    late: Option<Duration>,
    strange: Option<String>,
) -> Fault {
    let because = |code: Code, what: &str| Fault::new(code, name, format!("plugin `{name}` {what}: {fault}"));
    match (fault.code, late) {
        (ServerCode::ConnectionLost, _) => because(Code::LaunchFailed, "cannot be reached"),
        (ServerCode::HttpError, _) => because(Code::HandshakeFailed, "refused the handshake"),
        (ServerCode::StartFailed, _) if matches!(way, Way::Http(_)) => {
            let unreached = because(Code::LaunchFailed, "cannot be reached");
            fault.hints.into_iter().fold(unreached, Fault::hint)
        }
        (ServerCode::StartFailed, _) => because(Code::Crashed, "ended in its handshake"),
        (_, Some(startup)) => {
            let message = format!("plugin `{name}` did not answer the handshake within {startup:?}");
            let late = Fault::new(Code::Timeout, name, message);
            let wrote = strange.map(|line| format!("it wrote: {}", plain(&line)));
            wrote.into_iter().fold(late, Fault::hint).hint(way.slow_start())
        }
        _ => Fault::new(Code::HandshakeFailed, name, format!("plugin `{name}`: {fault}")),
    }
}

/// Why a call came to nothing.
pub(super) fn unanswered(
    name: &Arc<str>,
    way: &Way,
    call: &str,
    fault: ServerFault,
    most: Duration,
    strange: Option<String>,
) -> Fault {
    match (fault.code, strange) {
        (ServerCode::Timeout, Some(raw)) => {
            words::malformed(name, call, INVALID, &format!("no answer came within {most:?}, and this did"), &raw)
        }
        (ServerCode::Timeout, None) => match way {
            Way::Stdio { .. } if call == LIST => words::late(name, call, most, way.slow_start()),
            Way::Stdio { .. } => words::unflushed(name, call, most),
            Way::Http(_) => {
                words::late(name, call, most, "if it needs longer, raise `timeout_sec` in its `plugin.toml`")
            }
        },
        (ServerCode::HttpError, _) => {
            Fault::new(Code::ExtensionError, name, format!("plugin `{name}` failed in `{}`: {fault}", plain(call)))
        }
        (ServerCode::MalformedResponse, raw) => {
            words::malformed(name, call, INVALID, &fault.message, &raw.unwrap_or_default())
        }
        _ => {
            let message = format!("plugin `{name}` is gone before it answered `{}`: {fault}", plain(call));
            Fault::new(Code::Crashed, name, message)
        }
    }
}
