//! `mcptest extension inspect`: what an extension is declared to be, beside what it says itself.

use super::{declared, registry, tell_fault};
use crate::cli::{EXTENSION, FAILED, OK, screen};
use crate::extension::wasm::{PACKAGE, Shape};
use crate::extension::{Backend, Declared, Extension as _, Introduced, Manifest, Registry};
use crate::reporter::visible::visible;
use crate::run::Watch;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::path::Path;

pub(super) fn inspect(file: &Path, as_json: bool) -> u8 {
    let mut registry = registry(Vec::new());
    let declared = match registry.resolve(declared(file)) {
        Ok(declared) => declared,
        Err(fault) => return tell_fault(&fault),
    };
    if declared.backend != Backend::Component {
        return plugin(registry, declared, as_json);
    }
    let file = declared.path.as_path();
    let component = match registry.inspect(&declared) {
        Ok(component) => component,
        Err(fault) => return tell_fault(&fault),
    };
    let bytes = std::fs::read(file).unwrap_or_default();
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let (manifest, shape) = (component.manifest(), component.shape());
    match as_json {
        true => screen::print(&format!("{:#}\n", document(manifest, shape, bytes.len(), &digest))),
        false => screen::print(&page(manifest, shape, bytes.len(), &digest)),
    }
    OK
}

/// What a plugin is declared to be, and what it says itself where it is asked: it is started for that.
fn plugin(mut registry: Registry, declared: Declared, as_json: bool) -> u8 {
    // One that hangs must not outlive a Ctrl-C.
    let _watch = Watch::for_the_end();
    let ((runtime, reached), tools) = (declared.backend.describe(), declared.backend.tools().to_vec());
    let Some(live) = registry.declare(declared) else {
        screen::tell(&registry.problems.render(false));
        return EXTENSION;
    };
    let introduced = live.extension.introduce();
    registry.close();
    let used = live.used();
    let missing = match &introduced {
        Some(Ok(introduced)) => tools.into_iter().filter(|tool| !introduced.tools.contains(tool)).collect(),
        _ => Vec::new(),
    };
    if as_json {
        let says = introduced.as_ref().and_then(|says| says.as_ref().ok()).map(|says| {
            json!({"name": says.name, "version": says.version, "protocol": says.protocol, "tools": says.tools,
                "capabilities": says.capabilities})
        });
        screen::print(&format!(
            "{:#}\n",
            json!({"id": used.id, "version": used.version, "roles": used.roles, "matchers": used.matchers,
                "runtime": runtime, "reachedBy": reached, "says": says, "missing": missing})
        ));
    } else {
        let named = format!("{} {}", used.id, used.version);
        let mut page = format!(
            "{}\n  roles     {}\n  runtime   {runtime}: {}\n  matchers  {}\n",
            visible(named.trim_end()),
            used.roles.join(", "),
            visible(&reached),
            visible(&used.matchers.join(", ")),
        );
        match &introduced {
            None => page += "  says      nothing of itself: it has no handshake, and is not started here\n",
            Some(Ok(introduced)) => page += &says(introduced),
            Some(Err(_)) => page += "  says      nothing: it could not be asked\n",
        }
        screen::print(&page);
    }
    match introduced {
        Some(Err(fault)) => return tell_fault(&fault),
        _ if missing.is_empty() => return OK,
        _ => {}
    }
    let missing: Vec<String> = missing.iter().map(|tool| format!("`{}`", visible(tool))).collect();
    screen::tell(&format!("error: it does not expose {}, which is declared\n", missing.join(", ")));
    screen::tell("hint: expose it under that name, or name in `tools` what it exposes\n");
    FAILED
}

/// What a plugin says of itself, beside what is declared.
fn says(introduced: &Introduced) -> String {
    let Introduced { name, version, protocol, tools, capabilities } = introduced;
    let list = |items: &[String]| if items.is_empty() { "nothing".to_owned() } else { items.join(", ") };
    format!(
        "  says      {}, protocol {}\n  exposes   {}\n  asks for  {}\n",
        visible(format!("{name} {version}").trim()),
        visible(protocol),
        visible(&list(tools)),
        visible(&list(capabilities)),
    )
}

fn document(manifest: &Manifest, shape: &Shape, size: usize, digest: &str) -> serde_json::Value {
    let matchers: Vec<_> = manifest
        .matchers
        .iter()
        .map(|matcher| {
            let schema = matcher.argument_schema.as_deref();
            let schema = schema.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
            json!({"name": matcher.name, "summary": matcher.summary, "argumentSchema": schema})
        })
        .collect();
    json!({
        "id": manifest.id,
        "version": manifest.version,
        "roles": manifest.roles.iter().map(|role| role.name()).collect::<Vec<_>>(),
        "matchers": matchers,
        "capabilities": manifest.capabilities.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "imports": shape.imports,
        "exports": shape.exports,
        "bytes": size,
        "sha256": digest,
    })
}

fn page(manifest: &Manifest, shape: &Shape, size: usize, digest: &str) -> String {
    let list = |items: &[String], none: &str| match items {
        [] => none.to_owned(),
        items => visible(&items.join(", ")).into_owned(),
    };
    let roles: Vec<String> = manifest.roles.iter().map(|role| role.name().to_owned()).collect();
    let asks: Vec<String> = manifest.capabilities.iter().map(ToString::to_string).collect();
    let wasi: Vec<String> = shape.imports.iter().filter(|name| !name.starts_with(PACKAGE)).cloned().collect();
    let package = shape.exports.iter().find_map(|name| name.strip_prefix(PACKAGE)?.split_once('@'));
    let mut text = format!(
        "{} {}\n  roles     {}\n  contract  {PACKAGE}@{}\n  asks for  {}\n  imports   {}\n  size      {size} bytes\n  sha256    {digest}\n",
        manifest.id,
        manifest.version,
        list(&roles, "none"),
        package.map_or("?", |(_, version)| version),
        list(&asks, "nothing"),
        list(&wasi, "nothing of WASI"),
    );
    for matcher in &manifest.matchers {
        text.push_str(&format!("\n  ${}  {}\n", matcher.name, visible(&matcher.summary)));
        if let Some(schema) = &matcher.argument_schema {
            text.push_str(&format!("    argument: {}\n", visible(schema)));
        }
    }
    text
}
