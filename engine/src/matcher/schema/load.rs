//! A schema, inline or from a file beside the suite.

use crate::source::{Json, Node, Source, Span};
use std::fs;

/// Larger files are no schemas that anyone wrote.
const LARGEST: u64 = 8 * 1024 * 1024;

/// The schema of an argument, or the place and the sentence of what is wrong.
pub(super) fn schema(node: &Node, source: &Source) -> Result<Json, (Span, String)> {
    if let Some(file) = node.get("file") {
        let Some(path) = file.as_str() else {
            return Err((file.span, format!("`file` is the path of a schema, and this is {}", file.describe())));
        };
        return match node.entries().and_then(|entries| entries.iter().find(|entry| entry.key != "file")) {
            // A schema has no keyword `file`, and would hold for everything.
            Some(other) => Err((other.key_span, format!("`file` stands alone, and here `{}` is beside it", other.key))),
            None => read(path, source).map_err(|problem| (file.span, problem)),
        };
    }
    match node.to_json() {
        schema @ (Json::Object(_) | Json::Bool(_)) => Ok(schema),
        _ => {
            Err((node.span, format!("`$jsonSchema` takes a schema or `{{file: …}}`, and this is {}", node.describe())))
        }
    }
}

/// Whether the schema is in a file of its own.
pub(super) fn is_file(node: &Node) -> bool {
    node.get("file").is_some()
}

/// Reads a schema from below the suite's folder; a link that leads out of it is outside too.
fn read(path: &str, source: &Source) -> Result<Json, String> {
    let problem = |error: std::io::Error| format!("cannot read `{path}`: {error}");
    let folder = source.folder().canonicalize().map_err(problem)?;
    let file = folder.join(path).canonicalize().map_err(problem)?;
    if !file.starts_with(&folder) {
        return Err(format!("`{path}` lies outside of the suite's folder"));
    }
    let size = fs::metadata(&file).map_err(problem)?.len();
    if size > LARGEST {
        return Err(format!("`{path}` is too large for a schema: {size} bytes"));
    }
    let text = fs::read_to_string(&file).map_err(problem)?;
    serde_json::from_str(&text).map_err(|error| format!("`{path}` is not JSON: {error}"))
}
