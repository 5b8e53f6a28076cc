//! Tables to JSON Schema (2020-12).

use super::table::{Key, Table, Takes};
use serde_json::{Map, Value, json};

/// A number, with or without a unit of time.
const DURATION: &str = r"^(\d+(\.\d*)?|\.\d+)\s*(ms|s|m|h)?$";
/// A variable and nothing else.
const VARIABLE: &str = r"^\$\{[^}]+\}$";
/// A number with a unit of size.
const SIZE: &str = r"^(\d+(\.\d*)?|\.\d+)\s*([kKMG]i?)?B$";

/// The schema of a document whose root is `table`; every table it reaches stands in `$defs`.
pub(super) fn document(table: &'static Table, title: &str) -> Value {
    let mut definitions = Map::new();
    let mut root = object(table, &mut definitions);
    let Some(members) = root.as_object_mut() else { return root };
    members.insert("$defs".into(), Value::Object(definitions));
    let mut document = Map::new();
    document.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    document.insert("title".into(), json!(title));
    document.append(members);
    Value::Object(document)
}

fn object(table: &'static Table, definitions: &mut Map<String, Value>) -> Value {
    let properties: Map<String, Value> =
        table.keys().map(|key| (key.name.to_owned(), property(key, definitions))).collect();
    let mut schema = json!({
        "description": table.doc,
        "type": "object",
        "properties": properties,
        "patternProperties": { "^x-": true },
        "additionalProperties": false,
    });
    if !table.required.is_empty() {
        schema["required"] = json!(table.required);
    }
    if !table.one_of.is_empty() {
        let choice = |names: &&[&str]| json!({ "oneOf": names.iter().map(|name| json!({ "required": [name] })).collect::<Vec<_>>() });
        schema["allOf"] = table.one_of.iter().map(choice).collect();
    }
    schema
}

fn property(key: &Key, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = takes(&key.takes, definitions);
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".into(), json!(format!("{} Example: `{}: {}`", key.doc, key.name, key.example)));
    }
    schema
}

fn takes(value: &Takes, definitions: &mut Map<String, Value>) -> Value {
    match value {
        Takes::Anything => json!({}),
        Takes::Text | Takes::Path => json!({ "type": "string" }),
        Takes::Regex => json!({ "type": "string", "format": "regex" }),
        Takes::Scalar => json!({ "type": ["string", "number", "boolean"] }),
        Takes::Boolean => json!({ "type": "boolean" }),
        Takes::True => json!({ "const": true }),
        Takes::Count(least) => json!({ "type": "integer", "minimum": least }),
        Takes::Duration => {
            json!({ "anyOf": [{ "type": "number", "minimum": 0 }, { "type": "string", "pattern": DURATION }] })
        }
        Takes::Size => json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": SIZE }] }),
        Takes::Choice(words) => json!({ "enum": words }),
        Takes::List(inner) => json!({ "type": "array", "items": takes(inner, definitions) }),
        Takes::Filled(inner) => json!({ "type": "array", "minItems": 1, "items": takes(inner, definitions) }),
        Takes::Map(inner) => json!({ "type": "object", "additionalProperties": takes(inner, definitions) }),
        Takes::Mapping => json!({ "anyOf": [{ "type": "object" }, { "type": "string", "pattern": VARIABLE }] }),
        Takes::Table(table) => reference(table, definitions),
        Takes::OneOf(forms) => {
            json!({ "anyOf": forms.iter().map(|form| takes(form, definitions)).collect::<Vec<_>>() })
        }
    }
}

fn reference(table: &'static Table, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(table.name) {
        // Entered before it is filled, because tables refer to each other.
        definitions.insert(table.name.to_owned(), Value::Null);
        let schema = object(table, definitions);
        definitions.insert(table.name.to_owned(), schema);
    }
    json!({ "$ref": format!("#/$defs/{}", table.name) })
}
