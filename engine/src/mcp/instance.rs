//! A value that a JSON Schema accepts, made from what the schema itself says.
//!
//! What the author wrote comes first (`const`, `examples`, `default`, `enum`), then the type with its bounds and formats.
//! Only what is required is filled in, so that the value stays small enough to be read and changed by a person. References
//! are followed inside the schema and never outside of it, and only so deep.

mod number;
mod pattern;
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
            "integer" => number::number(schema, true),
            "number" => number::number(schema, false),
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
        self.root.pointer(&unescaped(reference.strip_prefix('#')?)?)
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
        let least = schema.get("minProperties").and_then(Json::as_u64).map_or(0, |least| least.min(16) as usize);
        self.fill_up(&mut made, least, schema, depth);
        Json::Object(made)
    }

    /// Puts in what is not required, until there are as many properties as there have to be.
    fn fill_up(&self, made: &mut Map<String, Json>, least: usize, schema: &Json, depth: usize) {
        for (name, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            if made.len() < least && !made.contains_key(name) {
                made.insert(name.clone(), self.value(property, name, depth + 1));
            }
        }
        let any = json!({"type": "string"});
        let further = match schema.get("additionalProperties") {
            Some(Json::Bool(false)) => return,
            Some(further @ Json::Object(_)) => further,
            _ => &any,
        };
        let names = schema.get("propertyNames").unwrap_or(&Json::Null);
        for number in 1..=least {
            if made.len() >= least {
                return;
            }
            let name = varied(self.value(&merged(names, &any), "", depth + 1), number);
            let name = name.as_str().unwrap_or_default().to_owned();
            made.entry(name).or_insert_with(|| self.value(further, "", depth + 1));
        }
    }

    fn array(&self, schema: &Json, name: &str, depth: usize) -> Json {
        let count = |key: &str| schema.get(key).and_then(Json::as_u64).map(|count| count.min(16) as usize);
        // Before `prefixItems` a list of `items` said the same, and `additionalItems` what follows.
        let listed = ["prefixItems", "items"].iter().find_map(|key| schema.get(key)?.as_array());
        let listed: &[Json] = listed.map_or(&[], Vec::as_slice);
        let items =
            ["items", "additionalItems"].iter().find_map(|key| schema.get(key).filter(|items| items.is_object()));
        let least = count("minItems").unwrap_or(0).max(listed.len());
        let wished = match items {
            _ if depth >= MOST_DEPTH => 0,
            Some(_) => least.max(1),
            None => least,
        };
        let wished = wished.min(count("maxItems").unwrap_or(usize::MAX));
        let any = json!({});
        let item = |at: usize| self.value(listed.get(at).or(items).unwrap_or(&any), name, depth + 1);
        let mut made: Vec<Json> = (0..wished).map(item).collect();
        if schema.get("uniqueItems").is_some_and(|unique| unique == true) {
            let items = self.whole(items.unwrap_or(&any), depth);
            let options = items.get("enum").and_then(Json::as_array);
            for at in 1..made.len() {
                if made[..at].contains(&made[at]) {
                    let option = options.and_then(|options| options.get(at));
                    made[at] = option.cloned().unwrap_or_else(|| varied(made[at].clone(), at + 1));
                }
            }
        }
        Json::Array(made)
    }
}

/// What the author of the schema wrote as a value: the first that is of the schema's own type.
fn written(schema: &Json) -> Option<Json> {
    let list = |key: &str| schema.get(key).and_then(Json::as_array).into_iter().flatten();
    let only = |key: &str| schema.get(key).into_iter();
    if let Some(constant) = schema.get("const") {
        return Some(constant.clone());
    }
    let chosen = list("examples").chain(only("example")).chain(only("default")).chain(list("enum"));
    let chosen = chosen.filter(|value| !value.is_null()).find(|value| is_of_type(value, schema));
    chosen.or_else(|| list("enum").next()).cloned()
}

/// Whether a value is of a type that the schema names.
fn is_of_type(value: &Json, schema: &Json) -> bool {
    let kinds = match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.as_slice(),
        Some(kind) => std::slice::from_ref(kind),
        None => return true,
    };
    kinds.iter().filter_map(Json::as_str).any(|kind| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    })
}

/// Another value of the same kind, where one can be told from it.
fn varied(value: Json, number: usize) -> Json {
    match value {
        Json::String(text) if number > 1 => Json::String(format!("{text}{number}")),
        Json::Number(old) if number > 1 => old.as_i64().map_or(Json::Number(old), |old| json!(old + number as i64 - 1)),
        same => same,
    }
}

/// The first schema with what the second says where the first does not.
fn merged(schema: &Json, more: &Json) -> Json {
    let mut merged = if schema.is_object() { schema.clone() } else { json!({}) };
    merge(&mut merged, more.clone());
    merged
}

/// The fragment of a URL as it was meant.
fn unescaped(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'%').then(|| after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok())).flatten();
        match escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
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

#[cfg(test)]
mod tests;
