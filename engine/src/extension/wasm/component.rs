//! One extension: a component that was compiled and linked once, and its instances.

mod confine;
mod load;
mod manifest;
mod shape;

pub use load::Notes;
pub use shape::Shape;

use super::bindings::mcptest::extension::types;
use super::explain;
use super::instance::{Ended, Guest, Instance, Mold, Stillborn};
use super::sandbox::Sandbox;
use super::state::State;
use crate::extension::capability::Grant;
use crate::extension::fault::{Code, Fault, plain};
use crate::extension::{
    Argument, Difference, Extension, Isolation, Limits, Manifest, MatcherInfo, Output, Request, Role, Verdict, log,
};
use crate::source::Json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wasmtime::Store;

/// A live WASM extension.
pub struct Component {
    name: Arc<str>,
    manifest: Manifest,
    shape: Shape,
    mold: Mold,
    settings: Settings,
    sandbox: Sandbox,
    /// Idle instances: as many as there were calls at the same time.
    idle: Mutex<Vec<Instance>>,
    /// Events all go to the same instance.
    reporting: Mutex<Option<Instance>>,
}

/// How calls are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) timeout: Duration,
    pub(super) isolation: Isolation,
    pub(super) limits: Limits,
    /// Where the config names it.
    pub(super) section: &'static str,
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Component").field("name", &self.name).field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

impl Component {
    fn idle(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self, call: &str) -> Result<Instance, Fault> {
        self.mold.instance(&self.sandbox).map_err(|Stillborn { stop, mut store }| {
            let ended: Ended<()> = Ended { result: Err(stop), took: Duration::ZERO };
            let call = format!("its start before {call}");
            explain::fault(&self.name, &call, ended, &self.settings, store.as_deref_mut())
        })
    }

    /// Makes a call on an idle instance; one that did not end well is thrown away.
    fn call<T>(
        &self,
        call: &str,
        work: impl AsyncFnOnce(&Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Result<T, Fault> {
        let idle = if self.settings.isolation == Isolation::Run { self.idle().pop() } else { None };
        let mut instance = match idle {
            Some(instance) => instance,
            None => self.fresh(call)?,
        };
        let answer = self.call_on(&mut instance, call, work)?;
        if self.settings.isolation == Isolation::Run {
            self.idle().push(instance);
        }
        Ok(answer)
    }

    fn call_on<T>(
        &self,
        instance: &mut Instance,
        call: &str,
        work: impl AsyncFnOnce(&Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Result<T, Fault> {
        let ended = self.mold.call(instance, work);
        log::keep(instance.said(&self.name));
        match ended {
            Ended { result: Ok(value), .. } => Ok(value),
            ended => Err(explain::fault(&self.name, call, ended, &self.settings, Some(&mut instance.store))),
        }
    }

    /// Makes a call on the instance that sees all events; when it is gone, so is the report.
    fn report<T>(
        &self,
        call: &str,
        work: impl AsyncFnOnce(&Guest, &mut Store<State>) -> wasmtime::Result<T>,
    ) -> Result<T, Fault> {
        let mut slot = self.reporting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut instance = match slot.take() {
            Some(instance) => instance,
            None => self.fresh(call)?,
        };
        let answer = self.call_on(&mut instance, call, work)?;
        *slot = Some(instance);
        Ok(answer)
    }

    fn outputs(&self, call: &str, answer: Result<Vec<types::Output>, types::Failure>) -> Result<Vec<Output>, Fault> {
        let outputs = answer.map_err(|failure| self.failure(call, failure))?;
        let size = outputs.iter().map(|one| one.text.len() + one.name.as_ref().map_or(0, String::len)).sum();
        self.bounded(call, size, self.settings.limits.output)?;
        Ok(outputs.into_iter().map(|types::Output { name, text }| Output { name, text }).collect())
    }

    /// What an extension says of itself when it cannot answer.
    fn failure(&self, call: &str, failure: types::Failure) -> Fault {
        let name = &self.name;
        match failure {
            types::Failure::UnknownMatcher(matcher) => Fault::new(
                Code::ToolNotExposed,
                name,
                format!("extension `{name}` says that it has no matcher `{}`", plain(&matcher)),
            ),
            types::Failure::InvalidArgument(why) => Fault::new(
                Code::ExtensionError,
                name,
                format!("extension `{name}` cannot work with the argument: {}", plain(&why)),
            ),
            types::Failure::Internal(why) => {
                Fault::new(Code::ExtensionError, name, format!("extension `{name}` failed in {call}: {}", plain(&why)))
            }
        }
    }

    fn bounded(&self, call: &str, size: usize, most: usize) -> Result<(), Fault> {
        if size <= most {
            return Ok(());
        }
        let name = &self.name;
        let message = format!("the answer of extension `{name}` to {call} has {size} bytes, and may have {most}");
        Err(Fault::new(Code::MalformedResponse, name, message).hint(explain::RAISE))
    }

    fn json(&self, call: &str, field: &str, text: Option<String>) -> Result<Option<Json>, Fault> {
        let Some(text) = text else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            let name = &self.name;
            let message = format!("the answer of extension `{name}` to {call}: `{field}` is not JSON: {error}");
            Fault::new(Code::MalformedResponse, name, message).hint(format!("it is: {}", plain(&text)))
        })
    }

    /// Holds a suite that a transform returned to what the one that it was given reaches; one that cannot be looked at
    /// does not pass.
    fn confine(&self, given: &Json, returned: &str) -> Result<(), Fault> {
        let returned = self.suite("returned", returned).map_err(|fault| match returned.trim().is_empty() {
            true => fault.hint("it returned nothing: a suite that needs no change is returned as it is"),
            false => fault.hint(format!("it returned: {}", plain(returned))),
        })?;
        let is_granted = |name: &str| self.sandbox.grants().contains(&Grant::Env(name.to_owned()));
        let Some(what) = confine::added(given, &returned, &is_granted) else { return Ok(()) };
        let name = &self.name;
        let fault = Fault::new(Code::CapabilityNotAllowed, name, format!("extension `{name}` adds {}", plain(&what)));
        Err(fault.hint("a transform in the sandbox cannot widen what a suite reaches").hint(
            "if you trust it with that, write it into the suite, or name a server of the config; a variable can be granted: `--allow ID=env:NAME`",
        ))
    }

    /// A suite that it was given or returned.
    fn suite(&self, way: &str, text: &str) -> Result<Json, Fault> {
        serde_json::from_str(text).map_err(|error| {
            let name = &self.name;
            let message = format!("the suite that extension `{name}` {way} cannot be looked at: {error}");
            Fault::new(Code::MalformedResponse, name, message)
        })
    }

    fn no_role(&self, role: Role) -> Fault {
        let name = &self.name;
        Fault::new(Code::ToolNotExposed, name, format!("extension `{name}` is no {}", role.name()))
    }
}

impl Extension for Component {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn check(&self, matcher: &str, expected: &str) -> Result<Argument, Fault> {
        let call = "`check`";
        if self.mold.indices.matching.is_none() {
            return Err(self.no_role(Role::Matcher));
        }
        let answer = self.call(call, async |guest, store| match (&guest.prompt, &guest.matching) {
            (Some(role), _) => role.call_check(store, matcher, expected),
            (None, Some(role)) => role.call_check(store, matcher, expected).await,
            (None, None) => Ok(Ok(())),
        })?;
        match answer {
            Ok(()) => Ok(Argument::Valid),
            Err(types::Failure::InvalidArgument(why)) => Ok(Argument::Invalid(plain(&why))),
            Err(failure) => Err(self.failure(call, failure)),
        }
    }

    fn evaluate(&self, request: &Request<'_>) -> Result<Verdict, Fault> {
        let call = "`evaluate`";
        if self.mold.indices.matching.is_none() {
            return Err(self.no_role(Role::Matcher));
        }
        let Request { matcher, expected, actual, path, step } = *request;
        let request = types::MatchRequest { matcher, expected, actual, path, step };
        let answer = self.call(call, async |guest, store| match (&guest.prompt, &guest.matching) {
            (Some(role), _) => role.call_evaluate(store, request),
            (None, Some(role)) => role.call_evaluate(store, request).await,
            (None, None) => Ok(Err(types::Failure::UnknownMatcher(String::new()))),
        })?;
        let mismatch = match answer {
            Ok(types::Verdict::Pass) => return Ok(Verdict::Pass),
            Ok(types::Verdict::Fail(mismatch)) => mismatch,
            Err(failure) => return Err(self.failure(call, failure)),
        };
        let types::Mismatch { message, path, expected, actual } = mismatch;
        let size = message.len() + [&path, &expected, &actual].into_iter().flatten().map(String::len).sum::<usize>();
        self.bounded(call, size, self.settings.limits.result)?;
        Ok(Verdict::Fail(Difference {
            message,
            path,
            expected: self.json(call, "expected", expected)?,
            actual: self.json(call, "actual", actual)?,
        }))
    }

    fn transform(&self, suite: &str) -> Result<String, Fault> {
        let call = "`transform`";
        if self.mold.indices.transforming.is_none() {
            return Err(self.no_role(Role::Transform));
        }
        let deep = "at most 127 levels can be looked at: take out what lies deeper, or the transform";
        let given = self.suite("is given", suite).map_err(|fault| fault.hint(deep))?;
        let answer = self.call(call, async |guest, store| match &guest.transforming {
            Some(role) => role.call_transform(store, suite).await,
            None => Ok(Ok(String::new())),
        })?;
        let text = answer.map_err(|failure| self.failure(call, failure))?;
        self.bounded(call, text.len(), self.settings.limits.output)?;
        self.confine(&given, &text)?;
        Ok(text)
    }

    fn observe(&self, event: &str) -> Result<Vec<Output>, Fault> {
        let call = "`observe`";
        if self.mold.indices.reporting.is_none() {
            return Err(self.no_role(Role::Reporter));
        }
        let answer = self.report(call, async |guest, store| match &guest.reporting {
            Some(role) => role.call_observe(store, event).await,
            None => Ok(Ok(Vec::new())),
        })?;
        self.outputs(call, answer)
    }

    fn interrupt(&self) {
        self.mold.host.interrupt(self.settings.timeout);
    }

    fn finish(&self) -> Result<Vec<Output>, Fault> {
        let call = "`finish`";
        if self.mold.indices.reporting.is_none() {
            return Err(self.no_role(Role::Reporter));
        }
        let answer = self.report(call, async |guest, store| match &guest.reporting {
            Some(role) => role.call_finish(store).await,
            None => Ok(Ok(Vec::new())),
        })?;
        // Whatever is observed next is another report.
        self.reporting.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.outputs(call, answer)
    }
}

/// What a component says about itself, as it came over the boundary.
fn infos(matchers: Vec<types::MatcherInfo>) -> Vec<MatcherInfo> {
    let info = |types::MatcherInfo { name, summary, argument_schema }| MatcherInfo { name, summary, argument_schema };
    matchers.into_iter().map(info).collect()
}
