//! Stands in for the WASM backend in a build without the feature `wasm`: every component is refused, with the reason.

use super::fault::{Code, Fault};
use super::{Argument, Declared, Extension, Grant, Manifest, Output, Request, Verdict};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Loads nothing.
#[derive(Debug)]
pub struct Loader;

/// A component: there is none.
#[derive(Debug)]
pub enum Component {}

/// What a load came to, beside the component.
#[derive(Debug, Default)]
pub struct Notes {
    /// Worth telling.
    pub notices: Vec<String>,
    /// Told when code has to be compiled.
    pub compiling: Option<Sender<()>>,
}

impl Loader {
    /// A loader that keeps nothing.
    pub fn new(_: bool, _: &dyn Fn(&str) -> Option<String>, _: &mut Notes) -> Loader {
        Loader
    }

    /// Says why nothing can be loaded.
    pub fn describe(&self, declared: &Declared, _: &mut Notes) -> Result<Component, Fault> {
        let name: Arc<str> = declared.id.as_deref().unwrap_or(&declared.shown).into();
        let message = format!("extension `{name}` is a component, and this mcptest was built without WebAssembly");
        Err(Fault::new(Code::RuntimeNotSupported, &name, message).hint("build it with the feature `wasm`"))
    }
}

impl Component {
    /// How reports call it.
    pub fn name(&self) -> &Arc<str> {
        match *self {}
    }

    /// What is granted to it.
    pub fn grants(&self) -> &[Grant] {
        match *self {}
    }

    /// Opens its sandbox.
    pub fn grant(&mut self, _: &[Grant], _: &dyn Fn(&str) -> Option<String>, _: &mut Notes) -> Result<(), Fault> {
        match *self {}
    }
}

impl Extension for Component {
    fn manifest(&self) -> &Manifest {
        match *self {}
    }

    fn check(&self, _: &str, _: &str) -> Result<Argument, Fault> {
        match *self {}
    }

    fn evaluate(&self, _: &Request<'_>) -> Result<Verdict, Fault> {
        match *self {}
    }

    fn transform(&self, _: &str) -> Result<String, Fault> {
        match *self {}
    }

    fn observe(&self, _: &str) -> Result<Vec<Output>, Fault> {
        match *self {}
    }

    fn finish(&self) -> Result<Vec<Output>, Fault> {
        match *self {}
    }
}
