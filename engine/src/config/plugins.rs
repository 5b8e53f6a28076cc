//! `plugins` of a config: programs that are asked first who they are, and what each may have.
//!
//! ```yaml
//! plugins:
//!   near: { command: [python3, near.py], tools: [near], capabilities: ["env:TOKEN"], timeout: 5s }
//! ```

use super::extensions::{folder, grants, place};
use crate::extension::declared::{Backend, Declared, Launch, PLUGIN_TIMEOUT};
use crate::extension::{PROTOCOL_VERSION, plugin, spec};
use crate::schema::PLUGIN;
use crate::source::reader::{Given, Reader};
use crate::source::{Entry, Kind, Node, Span};
use std::path::{Path, PathBuf};

/// Reads the entries, a mapping by id or a list, and adds them to the extensions.
pub(super) fn plugins(reader: &mut Reader<'_>, given: Option<Given>, mut all: Vec<Declared>) -> Vec<Declared> {
    let Some(given) = given else { return all };
    let base = folder(reader);
    let entries: Vec<(Option<(String, Span)>, Node)> = match given.value.kind {
        Kind::List(items) => items.into_iter().map(|item| (None, item)).collect(),
        _ => reader
            .entries(given)
            .into_iter()
            .filter(|entry| !entry.key.starts_with("x-"))
            .map(|Entry { key, key_span, value }| (Some((key, key_span)), value))
            .collect(),
    };
    for (key, value) in entries {
        let span = key.as_ref().map_or(value.span, |(_, span)| *span);
        let Some(declared) = entry(reader, key.map(|(key, _)| key), span, value, &base) else { continue };
        if declared.id.is_some() && all.iter().any(|other| other.id == declared.id) {
            let id = declared.id.as_deref().unwrap_or_default();
            reader.error(span, format!("there are two extensions called `{id}`")).hints.push("rename one".to_owned());
            continue;
        }
        all.push(declared);
    }
    all
}

fn entry(reader: &mut Reader<'_>, key: Option<String>, span: Span, value: Node, base: &Path) -> Option<Declared> {
    if let Kind::String(file) = &value.kind {
        let declared = Declared::spec(manifest(reader, value.span, base, file), file.clone());
        return Some(Declared { id: key, place: place(reader, span), ..declared });
    }
    let mut fields = reader.fields(value, &PLUGIN)?;
    let spec = fields.take("manifest").and_then(|given| Some((given.value.span, reader.text(given)?)));
    let id_place = fields.place_of("id");
    let missing = ["command", "tools"].map(|key| (key, fields.place_of(key).is_none()));
    let written = fields.take("id").and_then(|given| reader.text(given));
    let argv = fields.take("command").and_then(|given| argv(reader, given, base));
    let version = fields.take("protocol_version").and_then(|given| Some((given.value.span, reader.count(given)?)));
    let tools = fields.take("tools").map(|given| tools(reader, given));
    let allow = fields.take("capabilities").map(|given| grants(reader, given, base)).unwrap_or_default();
    let timeout = fields.take("timeout").and_then(|given| reader.time_of_a_call(given));
    reader.finish(fields);
    if let (Some(key), Some(written), Some(place)) = (&key, &written, id_place)
        && key != written
    {
        reader.error(place, format!("the plugin is already called `{key}`, by its key"));
    }
    let Some(id) = key.or(written).filter(|id| !id.trim().is_empty()) else {
        reader.error(span, "a plugin needs an `id`").hints.push("`id: near`".to_owned());
        return None;
    };
    if let Some((at, file)) = spec {
        if argv.is_some() || tools.is_some() {
            reader.error(span, format!("plugin `{id}` has a `manifest`, which says its command and tools"));
        }
        let declared = Declared::spec(manifest(reader, at, base, &file), file);
        let backend = Backend::Spec(timeout);
        return Some(Declared { id: Some(id), allow, backend, place: place(reader, span), ..declared });
    }
    for (key, _) in missing.into_iter().filter(|(_, missing)| *missing) {
        let example = PLUGIN.key(key).map_or("", |key| key.example);
        reader.error(span, format!("plugin `{id}` needs `{key}`")).hints.push(format!("`{key}: {example}`"));
    }
    if let Some((span, version)) = version.filter(|(_, version)| u64::from(*version) != PROTOCOL_VERSION) {
        let message = format!("plugin `{id}` is to speak protocol version {version} (protocol_version_mismatch)");
        let problem = reader.error(span, message);
        problem.hints.push(format!("this mcptest speaks version {PROTOCOL_VERSION}"));
        *problem = problem.clone().by_extension();
    }
    let (argv, tools) = (argv?, tools?);
    let shown = argv.join(" ");
    let path = base.join(argv.first().map_or("", String::as_str));
    let launch = Launch { argv, folder: base.to_owned(), env: Vec::new() };
    Some(Declared {
        id: Some(id),
        allow,
        backend: Backend::Bound { launch, tools },
        timeout: timeout.unwrap_or(PLUGIN_TIMEOUT),
        place: place(reader, span),
        ..Declared::bare(path, shown)
    })
}

fn manifest(reader: &mut Reader<'_>, span: Span, base: &Path, file: &str) -> PathBuf {
    let path = base.join(file);
    spec::at(&path).unwrap_or_else(|| {
        if path.is_file() {
            let problem = reader.error(span, format!("`{file}` is no `{}`", spec::FILE));
            problem
                .hints
                .push(format!("a program is named with what it has: `{{ command: [{file}], tools: [near] }}`"));
        }
        path
    })
}

/// A program, or a program and its arguments.
fn argv(reader: &mut Reader<'_>, given: Given, base: &Path) -> Option<Vec<String>> {
    let span = given.value.span;
    let argv = reader.texts(given);
    if !reader.is_program(&argv, base, span) {
        return None;
    }
    match argv.first() {
        Some(first) if !first.trim().is_empty() => Some(argv),
        Some(_) => {
            reader.error(span, "`command` is empty");
            None
        }
        None => None,
    }
}

fn tools(reader: &mut Reader<'_>, given: Given) -> Vec<String> {
    let span = given.value.span;
    let tools = reader.texts(given);
    for (at, tool) in tools.iter().enumerate() {
        if !plugin::is_tool(tool) {
            let problem = reader.error(span, format!("`{tool}` is no tool"));
            problem.hints.push(format!("a tool is the name of a matcher, {}", plugin::HOOKS));
        } else if tools[..at].contains(tool) {
            reader.error(span, format!("the tool `{tool}` stands here twice"));
        }
    }
    tools
}
