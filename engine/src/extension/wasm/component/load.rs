//! From a file to a live component: read, compiled or found in the cache, linked, described, granted.

use super::super::bindings::exports::mcptest::extension::{describing, matching, reporting, transforming};
use super::super::bindings::prompt::exports::mcptest::extension::matching as prompt;
use super::super::cache::hex;
use super::super::host::Host;
use super::super::instance::{Indices, Mold};
use super::super::sandbox::Sandbox;
use super::{Component, Settings, Shape, manifest};
use crate::extension::capability::{self, Grant};
use crate::extension::fault::{Code, Fault};
use crate::extension::{Declared, Extension as _, Manifest};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use wasmtime::component::{Component as Compiled, InstancePre};

/// Bytes of a component: the largest language runtimes have 20 MB.
const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// How a component begins, and how a core module does.
const COMPONENT: [u8; 8] = *b"\0asm\x0d\x00\x01\x00";
const MODULE: [u8; 8] = *b"\0asm\x01\x00\x00\x00";

/// What a load came to, beside the component.
#[derive(Debug, Default)]
pub struct Notes {
    /// Worth telling: an entry of the cache that was not used, a grant that nobody asked for.
    pub notices: Vec<String>,
    /// Told when code has to be compiled, which takes a while.
    pub compiling: Option<Sender<()>>,
}

impl Notes {
    fn compiling(&self) {
        // Nobody may be listening any more.
        let _ = self.compiling.as_ref().map(|told| told.send(()));
    }
}

impl Component {
    /// Loads what was declared and lets it describe itself, with nothing granted.
    pub fn describe(host: &Arc<Host>, declared: &Declared, notes: &mut Notes) -> Result<Component, Fault> {
        let stem =
            declared.path.file_stem().map_or_else(|| declared.shown.clone(), |stem| stem.to_string_lossy().into());
        let name: Arc<str> = declared.id.clone().unwrap_or(stem).into();
        let code = compiled(host, declared, &name, notes)?;
        let shape = Shape::of(&code);
        shape.accept(&name)?;
        let settings = Settings {
            timeout: declared.timeout,
            isolation: declared.isolation,
            limits: declared.limits,
            section: declared.section(),
        };
        let prompt = host.spares_a_stack() && !shape.waits();
        let pre = host.linker(prompt).instantiate_pre(&code).map_err(|error| unlinkable(&name, &error))?;
        let indices = indices(&pre, &shape, prompt).map_err(|error| unlinkable(&name, &error))?;
        let mold = Mold {
            host: host.clone(),
            pre,
            indices,
            limits: declared.limits,
            timeout: declared.timeout,
            waits: shape.waits(),
        };
        let mut component = Component {
            name: name.clone(),
            manifest: Manifest::default(),
            shape,
            mold,
            settings,
            sandbox: Sandbox::default(),
            idle: Mutex::default(),
            reporting: Mutex::default(),
        };
        let described =
            component.call("`describe`", async |guest, store| guest.describing.call_describe(store).await)?;
        component.manifest = manifest::manifest(&name, described, component.shape.roles())?;
        component.name = declared.id.clone().unwrap_or_else(|| component.manifest().id.clone()).into();
        Ok(component)
    }

    /// Opens the sandbox as far as it is granted. The instance that described itself had nothing, and goes.
    pub fn grant(
        &mut self,
        granted: &[Grant],
        environment: &dyn Fn(&str) -> Option<String>,
        notes: &mut Notes,
    ) -> Result<(), Fault> {
        let unasked = capability::settle(&self.name, &self.manifest.capabilities, granted)?;
        notes.notices.extend(
            unasked
                .iter()
                .map(|grant| format!("extension `{}` was granted `{grant}`, and does not ask for it", self.name)),
        );
        if !granted.is_empty() {
            self.sandbox = Sandbox::new(granted, environment);
            self.idle().clear();
            let first = self.fresh("anything")?;
            self.idle().push(first);
        }
        Ok(())
    }

    /// What is granted to it.
    pub fn grants(&self) -> &[Grant] {
        self.sandbox.grants()
    }

    /// What it imports and exports.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How reports call it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }
}

/// The component's code, from the cache or from the compiler.
fn compiled(host: &Host, declared: &Declared, name: &Arc<str>, notes: &mut Notes) -> Result<Compiled, Fault> {
    let remembered = match (&declared.sha256, &host.cache) {
        (None, Some(cache)) => cache.remembered(&declared.path),
        _ => None,
    };
    if let (Some(cache), Some(digest)) = (&host.cache, &remembered)
        && let Ok(Some(code)) = cache.load(&host.engine, digest)
    {
        return Ok(code);
    }
    let bytes = read(&declared.path).map_err(|why| {
        Fault::new(Code::LaunchFailed, name, format!("extension `{}` cannot be read: {why}", declared.shown))
    })?;
    recognise(&bytes, declared, name)?;
    let digest = hex(&Sha256::digest(&bytes));
    if let Some(pinned) = &declared.sha256
        && *pinned != digest
    {
        let message =
            format!("extension `{name}` is not the file that was pinned: `{}` has another digest", declared.shown);
        return Err(Fault::new(Code::LaunchFailed, name, message)
            .hint(format!("pinned: {pinned}"))
            .hint(format!("found:  {digest}")));
    }
    let uncompilable = |error: &wasmtime::Error| {
        let root = error.root_cause().to_string();
        if root.contains("component model async") {
            let message = format!("extension `{name}` needs the component model's concurrency: {root}");
            return Fault::new(Code::RuntimeNotSupported, name, message);
        }
        Fault::new(Code::LaunchFailed, name, format!("extension `{name}` cannot be compiled: {root}"))
            .hint("the file is damaged or not all there: build or fetch it again")
    };
    let Some(cache) = &host.cache else {
        notes.compiling();
        return Compiled::from_binary(&host.engine, &bytes).map_err(|error| uncompilable(&error));
    };
    cache.remember(&declared.path, &digest);
    match cache.load(&host.engine, &digest) {
        Ok(Some(code)) => return Ok(code),
        Ok(None) => {}
        Err(why) => notes
            .notices
            .push(format!("the compiled code of `{name}` in the cache was not used: {why}; it was compiled again")),
    }
    notes.compiling();
    let code = Compiled::from_binary(&host.engine, &bytes).map_err(|error| uncompilable(&error))?;
    // What was compiled is used whether it can be kept or not: a folder that is full or closed costs no second compilation.
    let serialized = code.serialize().map_err(io::Error::other);
    if let Err(error) = serialized.and_then(|bytes| cache.store(&host.engine, &digest, &bytes)) {
        notes.notices.push(format!("the compiled code of `{name}` cannot be kept: {error}"));
    }
    Ok(code)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::Error::other("it is a folder"));
    }
    // A pipe or a device may never end.
    if !about.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    if about.len() > MOST_BYTES {
        return Err(io::Error::other(format!("it has {} bytes, more than {MOST_BYTES}", about.len())));
    }
    fs::read(path)
}

/// Says what a file is when it is no component.
fn recognise(bytes: &[u8], declared: &Declared, name: &Arc<str>) -> Result<(), Fault> {
    if bytes.starts_with(&COMPONENT) {
        return Ok(());
    }
    let shown = &declared.shown;
    let fault = |what: String| Fault::new(Code::LaunchFailed, name, what);
    if bytes.starts_with(&MODULE) {
        return Err(fault(format!("`{shown}` is a core module, and extensions are components"))
            .hint(format!("`mcptest extension build {shown} -o component.wasm` makes one of it")));
    }
    if bytes.trim_ascii_start().starts_with(b"(") {
        return Err(fault(format!("`{shown}` is WebAssembly text, and extensions are components in binary form")));
    }
    let fault = fault(format!("`{shown}` is no WebAssembly"));
    Err(match bytes.starts_with(b"#!") {
        true => fault.hint(format!("a script is a plugin once it is executable: `chmod +x {shown}`")),
        false => fault.hint("an extension is a component: `mcptest extension new` begins one"),
    })
}

fn indices(pre: &InstancePre<super::State>, shape: &Shape, prompt: bool) -> wasmtime::Result<Indices> {
    use crate::extension::Role;
    let roles = shape.roles();
    let plays = |role: Role| roles.contains(&role);
    Ok(Indices {
        describing: describing::GuestIndices::new(pre)?,
        matching: plays(Role::Matcher).then(|| matching::GuestIndices::new(pre)).transpose()?,
        reporting: plays(Role::Reporter).then(|| reporting::GuestIndices::new(pre)).transpose()?,
        transforming: plays(Role::Transform).then(|| transforming::GuestIndices::new(pre)).transpose()?,
        prompt: (prompt && plays(Role::Matcher)).then(|| prompt::GuestIndices::new(pre)).transpose()?,
    })
}

fn unlinkable(name: &Arc<str>, error: &wasmtime::Error) -> Fault {
    let chain: Vec<String> = error.chain().map(|cause| cause.to_string()).collect();
    Fault::new(Code::HandshakeFailed, name, format!("`{name}` does not fit the contract: {}", chain.join(": ")))
        .hint("build it against the `wit/` folder of this version of mcptest")
}
