//! What a component imports and exports, before anything of it runs.

use super::super::{PACKAGE, VERSION};
use crate::extension::Role;
use crate::extension::fault::{Code, Fault};
use std::sync::Arc;

/// The WASI packages that this host has; whether they give anything is a matter of grants.
const OFFERED: [&str; 6] = ["wasi:cli", "wasi:clocks", "wasi:filesystem", "wasi:io", "wasi:random", "wasi:sockets"];
/// Imports behind which a guest can wait.
const WAITING: [&str; 4] = ["wasi:clocks/monotonic-clock", "wasi:filesystem", "wasi:sockets", "wasi:cli/stdin"];

/// The names that a component imports and exports.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// `wasi:io/streams@0.2.6`.
    pub imports: Vec<String>,
    /// `mcptest:extension/matching@0.1.0`.
    pub exports: Vec<String>,
}

impl Shape {
    /// Reads the names of a compiled component.
    pub(super) fn of(component: &wasmtime::component::Component) -> Shape {
        let (engine, ty) = (component.engine(), component.component_type());
        Shape {
            imports: ty.imports(engine).map(|(name, _)| name.to_owned()).collect(),
            exports: ty.exports(engine).map(|(name, _)| name.to_owned()).collect(),
        }
    }

    /// The roles that it plays.
    pub fn roles(&self) -> Vec<Role> {
        let roles = [(Role::Matcher, "matching"), (Role::Reporter, "reporting"), (Role::Transform, "transforming")];
        roles.into_iter().filter(|(_, interface)| self.exports_our(interface)).map(|(role, _)| role).collect()
    }

    /// Whether it imports something behind which it can wait.
    pub(super) fn waits(&self) -> bool {
        self.imports.iter().any(|name| WAITING.iter().any(|waiting| name.starts_with(waiting)))
    }

    /// Whether it is an extension that this host can link.
    pub(super) fn accept(&self, name: &Arc<str>) -> Result<(), Fault> {
        let ours: Vec<(&str, &str)> = self.exports.iter().filter_map(|export| our_interface(export)).collect();
        if ours.is_empty() {
            return Err(self.no_extension(name));
        }
        if let Some((_, version)) = ours.iter().find(|(_, version)| !is_spoken(version)) {
            return Err(other_version(name, version));
        }
        if !self.exports_our("describing") {
            return Err(Fault::new(
                Code::HandshakeFailed,
                name,
                format!("`{name}` does not export `{PACKAGE}/describing`, so nobody knows what it offers"),
            )
            .hint("every world of the package exports it: build against `matcher`, `reporter`, `transform` or `extension`"));
        }
        if self.roles().is_empty() {
            return Err(Fault::new(
                Code::HandshakeFailed,
                name,
                format!("`{name}` plays no role: it exports none of `matching`, `reporting` and `transforming`"),
            ));
        }
        let strange: Vec<&String> = self.imports.iter().filter(|import| !is_offered(import)).collect();
        match strange[..] {
            [] => Ok(()),
            [first, ..] => Err(foreign_imports(name, first, strange.len())),
        }
    }

    fn exports_our(&self, interface: &str) -> bool {
        self.exports.iter().filter_map(|export| our_interface(export)).any(|(found, _)| found == interface)
    }

    fn no_extension(&self, name: &Arc<str>) -> Fault {
        let exports = match &self.exports[..] {
            [] => "it exports nothing".to_owned(),
            [one] => format!("it exports `{one}`"),
            [one, rest @ ..] => format!("it exports `{one}` and {} more", rest.len()),
        };
        Fault::new(Code::HandshakeFailed, name, format!("`{name}` is a component and no extension: {exports}"))
            .hint(format!("an extension exports the interfaces of `{PACKAGE}@{VERSION}`: see `mcptest extension new`"))
    }
}

/// The interface and version of an export of our package.
fn our_interface(export: &str) -> Option<(&str, &str)> {
    let rest = export.strip_prefix(PACKAGE)?.strip_prefix('/')?;
    Some(rest.split_once('@').unwrap_or((rest, "")))
}

/// Versions that differ in the patch only are compatible while the major version is 0.
fn is_spoken(version: &str) -> bool {
    let line = |version: &str| version.rsplit_once('.').map(|(line, _)| line.to_owned());
    line(version) == line(VERSION)
}

fn other_version(name: &Arc<str>, version: &str) -> Fault {
    let numbers = |version: &str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u64>>();
    let next = if numbers(version) > numbers(VERSION) {
        "update mcptest, or build the extension against the older package".to_owned()
    } else {
        format!("build the extension again, against `{PACKAGE}@{VERSION}`")
    };
    Fault::new(
        Code::ProtocolVersionMismatch,
        name,
        format!("`{name}` is built for `{PACKAGE}@{version}`, and this mcptest speaks `{VERSION}`"),
    )
    .hint(next)
}

fn is_offered(import: &str) -> bool {
    let package = import.split('/').next().unwrap_or(import);
    if package == PACKAGE {
        return our_interface(import)
            .is_some_and(|(interface, version)| ["host", "types"].contains(&interface) && is_spoken(version));
    }
    OFFERED.contains(&package) && import.split_once('@').is_some_and(|(_, version)| version.starts_with("0.2."))
}

fn foreign_imports(name: &Arc<str>, first: &str, count: usize) -> Fault {
    let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    let fault = Fault::new(
        Code::RuntimeNotSupported,
        name,
        format!("`{name}` imports `{first}`{more}, which this host does not have and no grant can give"),
    );
    if first.starts_with("wasi:http") {
        return fault
            .hint("build it without HTTP: with componentize-js, disable the features `http` and `fetch-event`");
    }
    fault.hint(format!(
        "an extension may import {} of WASI 0.2, and `{PACKAGE}/host`",
        OFFERED.map(|name| format!("`{name}`")).join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(imports: &[&str], exports: &[&str]) -> Result<(), (Code, String)> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let shape = Shape { imports: texts(imports), exports: texts(exports) };
        shape.accept(&"near".into()).map_err(|fault| (fault.code, fault.message))
    }

    const GOOD: [&str; 2] = ["mcptest:extension/describing@0.1.0", "mcptest:extension/matching@0.1.3"];

    #[test]
    fn patches_are_compatible_and_minors_are_not() {
        assert_eq!(accept(&["wasi:io/poll@0.2.12", "mcptest:extension/host@0.1.0"], &GOOD), Ok(()));
        let newer = ["mcptest:extension/describing@0.2.0", "mcptest:extension/matching@0.2.0"];
        assert_eq!(accept(&[], &newer).unwrap_err().0, Code::ProtocolVersionMismatch);
    }

    #[test]
    fn what_it_is_not_is_named() {
        assert_eq!(accept(&[], &[]).unwrap_err().0, Code::HandshakeFailed);
        assert!(accept(&[], &["wasi:cli/run@0.2.6"]).unwrap_err().1.contains("it exports `wasi:cli/run@0.2.6`"));
        assert!(accept(&[], &GOOD[..1]).unwrap_err().1.contains("no role"));
        assert!(accept(&[], &GOOD[1..]).unwrap_err().1.contains("describing"));
        for foreign in
            ["wasi:http/types@0.2.0", "acme:kv/store@1.0.0", "wasi:io/poll@0.3.0", "mcptest:extension/secret@0.1.0"]
        {
            let (code, message) = accept(&[foreign], &GOOD).unwrap_err();
            assert_eq!(code, Code::RuntimeNotSupported, "{foreign}");
            assert!(message.contains(foreign), "{message}");
        }
    }
}
