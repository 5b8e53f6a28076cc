//! A value that a JSON Schema accepts, made from what the schema itself says.
//!
//! What the author wrote comes first (`const`, `examples`, `default`, `enum`), then the type with its bounds and formats.
//! Only what is required is filled in, so that the value stays small enough to be read and changed by a person. References
//! are followed inside the schema and never outside of it, and only so deep.

mod text;

use crate::source::Json;
use serde_json::{Map, json};
use std::cell::Cell;

/// How deep values nest: a schema that refers to itself has no end.
const MOST_DEPTH: usize = 8;
/// How many references in a row are followed.
const MOST_REFERENCES: usize = 16;
/// How many parts of schemas are looked at: one that refers to itself many times over grows faster than it nests.
const MOST_PARTS: usize = 2000;

/// A value for the schema with everything that it requires.
pub fn instance(schema: &Json) -> Json {
    Maker { root: schema, with_defaults: false, parts: Cell::new(0) }.value(schema, "", 0)
}

/// The answer to a form: what the schema requires, and everything that has a default.
pub fn form(schema: &Json) -> Json {
    Maker { root: schema, with_defaults: true, parts: Cell::new(0) }.value(schema, "", 0)
}

/// The answer to an elicitation with these params when the user agrees: a form with its defaults, a URL with nothing.
pub fn accepted(params: &Json) -> Json {
    if is_url(params) {
        return json!({"action": "accept"});
    }
    let content = params.get("requestedSchema").map_or_else(|| json!({}), form);
    json!({"action": "accept", "content": content})
}

/// Whether an elicitation sends the user to a page instead of showing a form.
pub fn is_url(params: &Json) -> bool {
    params.get("mode").is_some_and(|mode| mode == "url")
}

struct Maker<'a> {
    root: &'a Json,
    with_defaults: bool,
    parts: Cell<usize>,
}

impl Maker<'_> {
    /// Whether there is room for one more part.
    fn has_room(&self) -> bool {
        self.parts.set(self.parts.get() + 1);
        self.parts.get() <= MOST_PARTS
    }

    /// A value for `schema`; `name` is the property it is for.
    fn value(&self, schema: &Json, name: &str, depth: usize) -> Json {
        if !self.has_room() {
            return Json::Null;
        }
        let schema = &self.whole(schema, depth);
        if let Some(written) = written(schema) {
            return written;
        }
        if let Some(option) = self.option(schema).filter(|_| depth < 2 * MOST_DEPTH) {
            let mut merged = schema.clone();
            merge(&mut merged, option);
            return self.value(&merged, name, depth + 1);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "string" => Json::String(text::text(schema, name)),
            "integer" => number(schema, true),
            "number" => number(schema, false),
            "boolean" => json!(false),
            "null" => Json::Null,
            // Anything goes, and text says best what is meant.
            _ if name.is_empty() => json!({}),
            _ => Json::String(text::text(schema, name)),
        }
    }

    /// The schema with its references and `allOf` put into it.
    fn whole(&self, schema: &Json, depth: usize) -> Json {
        let mut whole = schema.clone();
        for _ in 0..MOST_REFERENCES {
            let Some(members) = whole.as_object_mut() else { break };
            if let Some(reference) = members.remove("$ref") {
                let target = reference.as_str().and_then(|reference| self.resolve(reference)).cloned();
                merge(&mut whole, target.unwrap_or(Json::Null));
            } else if let Some(Json::Array(parts)) = members.remove("allOf") {
                for part in parts.iter().filter(|_| depth < MOST_DEPTH && self.has_room()) {
                    merge(&mut whole, self.whole(part, depth + 1));
                }
            } else {
                break;
            }
        }
        whole
    }

    fn resolve(&self, reference: &str) -> Option<&Json> {
        let pointer = reference.strip_prefix('#')?;
        self.root.pointer(&pointer.replace("%24", "$").replace("%20", " "))
    }

    /// The first option of `anyOf` or `oneOf` that is more than `null`.
    fn option(&self, schema: &Json) -> Option<Json> {
        let options = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)?.as_array())?;
        let options: Vec<Json> = options.iter().map(|option| self.whole(option, 0)).collect();
        let is_null = |option: &&Json| option.get("type").is_some_and(|kind| kind == "null");
        let chosen = options.iter().find(|option| !is_null(option)).or(options.first())?.clone();
        Some(chosen)
    }

    fn object(&self, schema: &Json, depth: usize) -> Json {
        let mut made = Map::new();
        if depth >= MOST_DEPTH {
            return Json::Object(made);
        }
        let required: Vec<&str> =
            schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
        let none = Map::new();
        let properties = schema.get("properties").and_then(Json::as_object).unwrap_or(&none);
        for (name, property) in properties {
            let has_default = || self.whole(property, depth).get("default").is_some();
            if required.contains(&name.as_str()) || (self.with_defaults && has_default()) {
                made.insert(name.clone(), self.value(property, name, depth + 1));
            }
        }
        for name in required.into_iter().filter(|name| !properties.contains_key(*name)) {
            made.insert(name.to_owned(), Json::String(text::text(&json!({}), name)));
        }
        Json::Object(made)
    }

    fn array(&self, schema: &Json, name: &str, depth: usize) -> Json {
        let count = |key: &str| schema.get(key).and_then(Json::as_u64).map(|count| count.min(16) as usize);
        let listed: &[Json] = schema.get("prefixItems").and_then(Json::as_array).map_or(&[], Vec::as_slice);
        let items = schema.get("items").filter(|items| items.is_object());
        let least = count("minItems").unwrap_or(0).max(listed.len());
        let wished = match items {
            _ if depth >= MOST_DEPTH => 0,
            Some(_) => least.max(1),
            None => least,
        };
        let wished = wished.min(count("maxItems").unwrap_or(usize::MAX));
        let any = json!({});
        let item = |at: usize| self.value(listed.get(at).or(items).unwrap_or(&any), name, depth + 1);
        (0..wished).map(item).collect()
    }
}

/// What the author of the schema wrote as a value.
fn written(schema: &Json) -> Option<Json> {
    let first = |key: &str| schema.get(key)?.as_array()?.first();
    let chosen = schema
        .get("const")
        .or_else(|| first("examples"))
        .or_else(|| schema.get("example"))
        .or_else(|| schema.get("default").filter(|default| !default.is_null()))
        .or_else(|| first("enum"))?;
    Some(chosen.clone())
}

/// Puts what a part of a schema says into the whole, where the whole does not say it.
fn merge(whole: &mut Json, part: Json) {
    let Some(whole) = whole.as_object_mut() else { return };
    whole.remove("oneOf");
    whole.remove("anyOf");
    let Json::Object(part) = part else { return };
    for (key, value) in part {
        match (whole.get_mut(&key), value) {
            (Some(Json::Object(known)), Json::Object(more)) if key == "properties" || key == "$defs" => {
                for (name, value) in more {
                    known.entry(name).or_insert(value);
                }
            }
            (Some(Json::Array(known)), Json::Array(more)) if key == "required" => {
                for name in more {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
            }
            (Some(_), _) => {}
            (None, value) => drop(whole.insert(key, value)),
        }
    }
}

/// The type that a schema asks for, or that its keywords speak of.
fn kind(schema: &Json) -> &str {
    match schema.get("type") {
        Some(Json::String(kind)) => return kind,
        Some(Json::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Json::as_str);
            let first = kinds.clone().find(|kind| *kind != "null");
            return first.or_else(|| kinds.next()).unwrap_or_default();
        }
        _ => {}
    }
    let speaks = [
        ("object", ["properties", "required", "additionalProperties"]),
        ("array", ["items", "prefixItems", "minItems"]),
        ("string", ["format", "pattern", "minLength"]),
        ("number", ["minimum", "maximum", "multipleOf"]),
    ];
    let said = speaks.iter().find(|(_, keys)| keys.iter().any(|key| schema.get(key).is_some()));
    said.map_or("", |(kind, _)| kind)
}

/// The smallest number that the bounds allow, or 1.
fn number(schema: &Json, whole: bool) -> Json {
    let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let step = if whole { step.max(1.0) } else { step };
    let floor = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| least + step));
    let ceiling = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - step));
    let mut value = match (floor, ceiling) {
        (Some(floor), _) => (floor / step).ceil() * step,
        (None, Some(ceiling)) if ceiling < 1.0 => (ceiling / step).floor() * step,
        _ => step,
    };
    // Between two bounds that no step lies in, halfway is as good as it gets.
    if let (Some(floor), Some(ceiling)) = (floor, ceiling)
        && !whole
        && value > ceiling
    {
        value = f64::midpoint(floor, ceiling);
    }
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests;
