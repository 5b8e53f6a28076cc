//! The config file as written, and how it becomes a [`Config`].
//!
//! ```yaml
//! command: node
//! args: [server.js]
//! env: { TOKEN: "${TOKEN}" }
//! ```

use super::{Config, extensions, plugins};
use crate::child::Grace;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::schema::{CONFIG, SERVER};
use crate::source::reader::{Fields, Given, Reader};
use crate::source::{self, Entry, yaml};
use crate::suite::Setting;
use crate::suite::server::{Server, parse as server};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where a config is looked for, first to last.
pub const NAMES: [&str; 5] =
    ["mcptest.yml", "mcptest.yaml", "mcptest.json", "conductor.config.json", "aegis.config.json"];
/// Names of configs of the Conductor family, whose suites carry stray keys, end so.
const FAMILY: &str = ".config.json";
/// The one JSON config that is ours.
const OWN_JSON: &str = "mcptest.json";
/// Servers of that family are used to SIGTERM as soon as their input has ended.
const AT_ONCE: Grace = Grace { stdin: Duration::ZERO, term: Duration::from_secs(2) };
/// What a config of that family must say.
const FAMILY_REQUIRED: [&str; 3] = ["name", "command", "args"];

/// The config of a folder; when there are several the first is taken, with a warning.
pub fn discover(working_dir: &Path, diagnostics: &mut Diagnostics) -> Option<PathBuf> {
    let mut found = NAMES.into_iter().filter(|name| working_dir.join(name).is_file());
    let first = found.next()?;
    for other in found {
        diagnostics.push(
            Diagnostic::warning(format!("`{other}` is not read, because `{first}` stands beside it"))
                .hint(format!("remove one of them, or choose with `--config {other}`")),
        );
    }
    Some(working_dir.join(first))
}

/// Reads a config; every problem goes into `diagnostics`, and a config that comes back beside errors is of no use.
pub fn load(path: &Path, setting: &Setting, diagnostics: &mut Diagnostics) -> Option<Config> {
    let shown = path.strip_prefix(&setting.working_dir).unwrap_or(path).to_string_lossy();
    let source = source::load(path, &shown).map_err(|problem| diagnostics.push(problem)).ok()?;
    let family = path.to_string_lossy().ends_with(FAMILY);
    let root = yaml::parse(&source, diagnostics)?;
    // Authors of that family keep JSON configs under any name, beside suites that carry strays.
    let foreign_json = path.extension().is_some_and(|end| end == "json") && !path.ends_with(OWN_JSON);
    let lenient = setting.lenient || foreign_json;
    let setting = &Setting { shutdown: if foreign_json { AT_ONCE } else { setting.shutdown }, ..setting.clone() };
    let mut reader = Reader { source: &source, diagnostics, lenient };
    let mut fields = reader.fields(root, &CONFIG)?;
    if family {
        require(&mut reader, &fields);
    }
    let servers = named_servers(&mut reader, &mut fields, setting);
    let secrets = fields.take("secrets").map(|given| reader.texts(given)).unwrap_or_default();
    let extensions = extensions::extensions(&mut reader, fields.take("extensions"));
    let extensions = plugins::plugins(&mut reader, fields.take("plugins"), extensions);
    let reporters = fields.take("reporters").map(|given| reader.texts(given)).unwrap_or_default();
    let server = top_level_server(&mut reader, &mut fields, setting, family);
    reader.finish(fields);
    let source = Some(source.clone());
    Some(Config { source, lenient, server, servers, secrets, extensions, reporters, broken: false })
}

fn require(reader: &mut Reader<'_>, fields: &Fields) {
    let missing: Vec<String> =
        FAMILY_REQUIRED.iter().filter(|key| fields.place_of(key).is_none()).map(|key| format!("`{key}`")).collect();
    if !missing.is_empty() {
        let diagnostic = reader.error(fields.head(), format!("the config needs {}", missing.join(", ")));
        diagnostic.hints.push(
            "for example `{\"name\": \"My server\", \"command\": \"node\", \"args\": [\"server.js\"]}`".to_owned(),
        );
    }
}

/// The server at the top level, when there is a command; settings without one would apply to nothing.
fn top_level_server(
    reader: &mut Reader<'_>,
    fields: &mut Fields,
    setting: &Setting,
    family: bool,
) -> Option<Arc<Server>> {
    if ["command", "url", "cassette"].iter().any(|key| fields.place_of(key).is_some()) {
        return server::server(reader, fields, None, setting).map(Arc::new);
    }
    let has_later = CONFIG.later.iter().any(|later| fields.place_of(later.name).is_some());
    let strays: Vec<Given> = SERVER.keys().filter_map(|key| fields.take(key.name)).collect();
    if let Some(first) = strays.iter().map(|given| given.key_span).min_by_key(|span| span.start)
        && !family
        && !has_later
    {
        let names: Vec<String> = strays.iter().map(|given| format!("`{}`", given.key.name)).collect();
        let message = format!("there is no `command` or `url` to go with {}", names.join(", "));
        reader.error(first, message).hints.push("add one, or move this into an entry of `servers`".to_owned());
    }
    None
}

fn named_servers(reader: &mut Reader<'_>, fields: &mut Fields, setting: &Setting) -> Vec<Arc<Server>> {
    let Some(given) = fields.take("servers") else { return Vec::new() };
    let mut servers = Vec::new();
    for Entry { key, value, .. } in reader.entries(given) {
        if key.starts_with("x-") {
            continue;
        }
        servers.extend(server::parse(reader, value, Some(&key), setting).map(Arc::new));
    }
    servers
}

#[cfg(test)]
mod tests;
