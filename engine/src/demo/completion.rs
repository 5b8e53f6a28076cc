//! `completion/complete`: the language of a review, and the name to greet.

use super::reply::{Refusal, Reply, text_of};
use super::resources::TEMPLATE;
use serde_json::{Value, json};

const LANGUAGES: [&str; 7] = ["go", "java", "javascript", "python", "ruby", "rust", "typescript"];
const NAMES: [&str; 6] = ["Ada", "Alan", "Barbara", "Edsger", "Grace", "Margaret"];

/// `completion/complete`: the known values that begin with what was typed, whatever its case.
pub(super) fn complete(params: &Value) -> Reply {
    let reference = params.get("ref").unwrap_or(&Value::Null);
    let argument = params.get("argument").unwrap_or(&Value::Null);
    let (name, typed) = (text_of(argument, "name")?, text_of(argument, "value")?);
    let known: &[&str] = match text_of(reference, "type")? {
        "ref/prompt" => match (text_of(reference, "name")?, name) {
            ("greet", "name") => &NAMES,
            ("review", "language") => &LANGUAGES,
            ("greet" | "review", _) => &[],
            (prompt, _) => return Err(Refusal::params(format!("unknown prompt `{prompt}`"))),
        },
        "ref/resource" => match (text_of(reference, "uri")?, name) {
            (TEMPLATE, "name") => &NAMES,
            (TEMPLATE, _) => &[],
            (uri, _) => return Err(Refusal::params(format!("unknown resource template `{uri}`"))),
        },
        kind => return Err(Refusal::params(format!("unknown reference type `{kind}`"))),
    };
    let typed = typed.to_lowercase();
    let values: Vec<&&str> = known.iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
    Ok(json!({ "completion": { "total": values.len(), "hasMore": false, "values": values } }))
}
