//! What all plugins have in common: an extension whose hooks are called over some wire, with the same JSON on each.
//!
//! ```text
//! hook              arguments                                     result
//! near (a matcher)  {"expected":…,"actual":…,"path":"…","step":"…"}  true, false, {"pass":false,"message":"…"}
//! report.observe    {"event":{…}}                                 null, [{"text":"…"},{"name":"…","text":"…"}]
//! report.finish     {}                                            the same
//! transform.suite   {"suite":{…}}                                 the suite
//! ```
//!
//! A plugin has no hook to look at an argument before the run: it is started when something is judged, not before.

mod answer;
pub(super) mod object;
pub(super) mod words;

use super::fault::Fault;
use super::naming;
use super::{Argument, Extension, Introduced, Manifest, MatcherInfo, Output, Probe, Request, Role, Verdict};
use crate::source::Json;
use std::fmt::Write as _;
use std::sync::Arc;

/// Takes the next event.
pub const OBSERVE: &str = "report.observe";
/// Ends a report.
pub const FINISH: &str = "report.finish";
/// Rewrites a suite.
pub const TRANSFORM: &str = "transform.suite";

/// What a tool may be called beside the name of a matcher, for messages.
pub const HOOKS: &str = "`report.observe`, `report.finish` or `transform.suite`";

/// Whether a plugin can offer a tool of this name.
pub fn is_tool(name: &str) -> bool {
    [OBSERVE, FINISH, TRANSFORM].contains(&name) || naming::is_plugin_matcher(name)
}

/// How hooks are called: one implementation per backend.
pub(super) trait Wire: Send + Sync + std::fmt::Debug {
    /// Calls a hook; arguments and result are JSON text, on one line.
    fn call(&self, hook: &str, arguments: &str) -> Result<String, Fault>;
    /// Starts it and asks who it is; none for one that is never asked.
    fn introduce(&self) -> Option<Result<Introduced, Fault>>;
    /// Tries what no run does, for authors.
    fn probe(&self) -> Vec<Probe>;
    /// Ends the call at hand, and lets no later one take long.
    fn interrupt(&self);
    /// Ends what stands at the other end; gives what is worth telling.
    fn close(&self) -> Vec<String>;
}

/// An extension behind a wire.
#[derive(Debug)]
pub struct Plugin {
    name: Arc<str>,
    manifest: Manifest,
    wire: Box<dyn Wire>,
}

impl Plugin {
    /// A plugin that offers these tools.
    pub(super) fn new(name: Arc<str>, version: String, tools: &[String], wire: Box<dyn Wire>) -> Plugin {
        let is_report = |tool: &&String| [OBSERVE, FINISH].contains(&tool.as_str());
        let is_hook = |tool: &&String| is_report(tool) || *tool == TRANSFORM;
        let info = |tool: &String| MatcherInfo { name: tool.clone(), summary: String::new(), argument_schema: None };
        let matchers: Vec<MatcherInfo> = tools.iter().filter(|tool| !is_hook(tool)).map(info).collect();
        let mut roles = Vec::new();
        roles.extend((!matchers.is_empty()).then_some(Role::Matcher));
        roles.extend(tools.iter().any(|tool| is_report(&tool)).then_some(Role::Reporter));
        roles.extend(tools.iter().any(|tool| tool == TRANSFORM).then_some(Role::Transform));
        let manifest = Manifest { id: name.to_string(), version, roles, matchers, capabilities: Vec::new() };
        Plugin { name, manifest, wire }
    }
}

impl Extension for Plugin {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn check(&self, _: &str, _: &str) -> Result<Argument, Fault> {
        Ok(Argument::Valid)
    }

    fn evaluate(&self, request: &Request<'_>) -> Result<Verdict, Fault> {
        let Request { matcher, expected, actual, path, step } = *request;
        let mut arguments = String::with_capacity(expected.len() + actual.len() + path.len() + step.len() + 64);
        let (path, step) = (Json::from(path), Json::from(step));
        let _ = write!(
            arguments,
            r#"{{"expected":{},"actual":{},"path":{path},"step":{step}}}"#,
            one_line(expected),
            one_line(actual)
        );
        let result = self.wire.call(matcher, &arguments)?;
        answer::verdict(&self.name, matcher, &result)
    }

    fn transform(&self, suite: &str) -> Result<String, Fault> {
        let result = self.wire.call(TRANSFORM, &format!(r#"{{"suite":{}}}"#, one_line(suite)))?;
        answer::suite(&self.name, result)
    }

    fn observe(&self, event: &str) -> Result<Vec<Output>, Fault> {
        let result = self.wire.call(OBSERVE, &format!(r#"{{"event":{}}}"#, one_line(event)))?;
        answer::outputs(&self.name, OBSERVE, &result)
    }

    fn finish(&self) -> Result<Vec<Output>, Fault> {
        let result = self.wire.call(FINISH, "{}")?;
        answer::outputs(&self.name, FINISH, &result)
    }

    fn judges_late(&self) -> bool {
        true
    }

    fn introduce(&self) -> Option<Result<Introduced, Fault>> {
        self.wire.introduce()
    }

    fn probe(&self) -> Vec<Probe> {
        self.wire.probe()
    }

    fn interrupt(&self) {
        self.wire.interrupt();
    }

    fn close(&self) -> Vec<String> {
        self.wire.close()
    }
}

/// JSON text without line ends: between its values they are nothing but space, inside of strings they are escaped.
fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ").into() } else { text.into() }
}
