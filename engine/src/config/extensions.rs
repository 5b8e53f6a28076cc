//! `extensions` of a config: what may be used by its id, how, and what it is granted.
//!
//! ```yaml
//! extensions:
//!   near: { path: ./near.wasm, sha256: "…", allow: ["fs.read:./fixtures"], timeout: 1s, isolation: run }
//! ```

use crate::extension::declared::{Backend, Declared, Isolation};
use crate::extension::{Grant, Limits, declared};
use crate::schema::{EXTENSION, EXTENSION_LIMITS};
use crate::source::reader::{Fields, Given, Reader};
use crate::source::{Entry, Kind, Node, Span};
use std::path::{Path, PathBuf};

/// Reads the entries; files and folders are taken against the config's own folder.
pub(super) fn extensions(reader: &mut Reader<'_>, given: Option<Given>) -> Vec<Declared> {
    let Some(given) = given else { return Vec::new() };
    let base = folder(reader);
    let mut declared = Vec::new();
    for Entry { key, key_span, value } in reader.entries(given) {
        if !key.starts_with("x-") {
            declared.extend(entry(reader, key, key_span, value, &base));
        }
    }
    declared
}

fn entry(reader: &mut Reader<'_>, id: String, span: Span, value: Node, base: &Path) -> Option<Declared> {
    if let Kind::String(path) = &value.kind {
        return Some(Declared {
            id: Some(id),
            place: place(reader, span),
            ..Declared::bare(base.join(path), path.clone())
        });
    }
    let mut fields = reader.fields(value, &EXTENSION)?;
    let path = fields.take("path").and_then(|given| reader.text(given));
    let sha256 = fields.take("sha256").and_then(|given| digest(reader, given));
    let allow = fields.take("allow").map(|given| grants(reader, given, base)).unwrap_or_default();
    let timeout = fields.take("timeout").and_then(|given| reader.time_of_a_call(given));
    let isolation = fields.take("isolation").and_then(|given| reader.choice(given));
    let limits = fields.take("limits").and_then(|given| reader.fields(given.value, &EXTENSION_LIMITS));
    let limits = limits.map(|fields| self::limits(reader, fields)).unwrap_or_default();
    if path.is_none() && fields.place_of("path").is_none() {
        reader.error(span, format!("extension `{id}` needs a `path`")).hints.push("`path: ./near.wasm`".to_owned());
    }
    reader.finish(fields);
    let shown = path?;
    Some(Declared {
        id: Some(id),
        named_itself: false,
        version: String::new(),
        path: base.join(&shown),
        backend: Backend::Component,
        shown,
        sha256,
        allow,
        timeout: timeout.unwrap_or(declared::TIMEOUT),
        isolation: if isolation == Some(1) { Isolation::Call } else { Isolation::Run },
        limits,
        place: place(reader, span),
    })
}

/// The config's own folder.
pub(super) fn folder(reader: &Reader<'_>) -> PathBuf {
    let folder = reader.source.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

pub(super) fn place(reader: &Reader<'_>, span: Span) -> Option<(std::sync::Arc<crate::source::Source>, Span)> {
    Some((reader.source.clone(), span))
}

fn digest(reader: &mut Reader<'_>, given: Given) -> Option<String> {
    let span = given.value.span;
    let text = reader.text(given)?.to_ascii_lowercase();
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Some(text);
    }
    let problem = reader.error(span, "`sha256` is a digest of 64 hexadecimal digits");
    problem.hints.push("`sha256sum FILE` and `mcptest extension inspect FILE` print it".to_owned());
    None
}

pub(super) fn grants(reader: &mut Reader<'_>, given: Given, base: &Path) -> Vec<Grant> {
    let mut grants = Vec::new();
    for node in reader.list(given) {
        let Kind::String(text) = &node.kind else {
            reader.error(node.span, format!("expected a grant, found {}", node.describe()));
            continue;
        };
        match Grant::parse(text, base) {
            Ok(grant) if grants.contains(&grant) => {
                reader.error(node.span, format!("the grant `{text}` stands here twice"));
            }
            Ok(grant) => grants.push(grant),
            Err(why) => drop(reader.error(node.span, why)),
        }
    }
    grants
}

fn limits(reader: &mut Reader<'_>, mut fields: Fields) -> Limits {
    let mut limits = Limits::default();
    let sizes: [(&str, &mut usize); 4] = [
        ("memory", &mut limits.memory),
        ("stack", &mut limits.stack),
        ("result", &mut limits.result),
        ("output", &mut limits.output),
    ];
    for (key, limit) in sizes {
        if let Some(size) = fields.take(key).and_then(|given| reader.size(given)) {
            *limit = size;
        }
    }
    let counts: [(&str, &mut usize); 4] = [
        ("logLines", &mut limits.log_lines),
        ("tableElements", &mut limits.table_elements),
        ("instances", &mut limits.instances),
        ("handles", &mut limits.handles),
    ];
    for (key, limit) in counts {
        if let Some(count) = fields.take(key).and_then(|given| reader.count(given)) {
            *limit = count as usize;
        }
    }
    reader.finish(fields);
    limits
}
