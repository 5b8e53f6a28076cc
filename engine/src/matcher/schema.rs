//! `$jsonSchema`: draft-07 and 2020-12 (and those between), formats asserted, nothing fetched.

mod load;

use super::argument::Call;
use super::found::Found;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::patience;
use super::shown;
use super::tree::Tree;
use super::{Head, Matcher, size};
use crate::source::{Json, Kind, Node, Span};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use std::sync::Arc;
use std::time::Duration;

/// Steps that a `pattern` may take back before it counts as not matching.
const BACKTRACK_LIMIT: usize = 1_000_000;
/// How long a schema that refers to itself more than once may take over a deep value, where each level can double the
/// work, and one with patterns over a long text.
const PATIENCE: Duration = Duration::from_secs(5);
/// Values as deep as this are judged in place; 2^12 repetitions are nothing.
const SHALLOW: usize = 12;
/// Texts as long as this too.
const SHORT: usize = 4096;
/// How many problems of one value are reported.
const PROBLEMS: usize = 10;

#[derive(Debug)]
struct Schema {
    validator: Arc<Validator>,
    /// Whether it can take exponential time over a deep value.
    branches: bool,
    /// Whether it can take long over a long text.
    searches: bool,
    /// The schema where it stands in the suite.
    written: Option<Node>,
    head: Head,
}

/// What a schema says about a value.
struct Problem {
    /// Where in the value, as a JSON pointer in pieces.
    place: Vec<String>,
    /// Which part of the schema says so.
    keyword: Vec<String>,
    message: String,
}

pub(super) fn build(mut call: Call<'_, '_>) -> Option<Tree> {
    let schema = match load::schema(call.node, call.compiler.source) {
        Ok(schema) => schema,
        Err((span, problem)) => return call.bad(span, problem),
    };
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT));
    match options.build(&schema) {
        Ok(validator) => {
            let head = call.head();
            let branches = count(&schema, &["$ref", "$dynamicRef", "$recursiveRef"]) > 1;
            let searches = count(&schema, &["pattern", "patternProperties"]) > 0;
            let written = matches!(call.node.kind, Kind::Map(_)) && !load::is_file(call.node);
            let written = written.then(|| call.node.clone());
            call.matcher(Schema { validator: Arc::new(validator), branches, searches, written, head })
        }
        Err(error) => {
            let (place, problem) = objection(&error, &schema);
            let span = if load::is_file(call.node) { call.node.span } else { span_of(call.node, &place) };
            let place = if place.is_empty() { String::new() } else { format!(" at `/{}`", place.join("/")) };
            call.bad(span, format!("not a JSON Schema{place}: {}", shown::cut(&problem, 200)))
        }
    }
}

/// Where a schema is none, and why.
fn objection(error: &ValidationError<'_>, schema: &Json) -> (Vec<String>, String) {
    let place = pieces(&error.instance_path().to_string());
    if matches!(error.kind(), ValidationErrorKind::Referencing(_)) {
        let known = |reference: &str| reference.strip_prefix('#').is_some_and(|at| schema.pointer(at).is_some());
        let mut way = Vec::new();
        if let Some(reference) = dangling(schema, &known, &mut way) {
            let why = if reference.starts_with('#') { "is not in it" } else { "is not in it, and nothing is fetched" };
            return (way, format!("`{reference}` {why}"));
        }
    }
    let wrong = schema.pointer(&error.instance_path().to_string());
    match (place.last().map(String::as_str), wrong) {
        (Some("type"), Some(Json::String(kind))) => {
            let near = size::near_kind(kind).map(|near| format!(": did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| format!("; there are `{}`", size::KINDS.join("`, `")));
            (place, format!("there is no type `{kind}`{near}"))
        }
        _ => (place, error.to_string()),
    }
}

/// The first reference that leads nowhere, and the way to it.
fn dangling(schema: &Json, known: &impl Fn(&str) -> bool, way: &mut Vec<String>) -> Option<String> {
    let children: Vec<(String, &Json)> = match schema {
        Json::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Json::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => return None,
    };
    for (key, child) in children {
        let reference = child.as_str().filter(|text| matches!(key.as_str(), "$ref" | "$dynamicRef") && !known(text));
        way.push(key);
        if let Some(found) = reference.map(str::to_owned).or_else(|| dangling(child, known, way)) {
            return Some(found);
        }
        way.pop();
    }
    None
}

/// The place in the suite to which a JSON pointer leads, or as far towards it as there is anything.
fn span_of(node: &Node, place: &[String]) -> Span {
    let Some((first, rest)) = place.split_first() else { return node.span };
    if let Some(entry) = node.entries().unwrap_or_default().iter().find(|entry| entry.key == *first) {
        let inside = span_of(&entry.value, rest);
        return if rest.is_empty() { Span { start: entry.key_span.start, end: inside.end } } else { inside };
    }
    let item = node.items().unwrap_or_default().get(first.parse::<usize>().unwrap_or(usize::MAX));
    item.map_or(node.span, |item| span_of(item, rest))
}

fn pieces(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|piece| piece.replace("~1", "/").replace("~0", "~")).collect()
}

/// How often a schema has one of some keywords.
fn count(schema: &Json, keywords: &[&str]) -> usize {
    match schema {
        Json::Object(members) => members
            .iter()
            .map(|(key, value)| usize::from(keywords.contains(&key.as_str())) + count(value, keywords))
            .sum(),
        Json::Array(items) => items.iter().map(|item| count(item, keywords)).sum(),
        _ => 0,
    }
}

/// Whether a value has a text that takes long to search.
fn is_long(value: &Json) -> bool {
    match value {
        Json::String(text) => text.len() > SHORT,
        Json::Array(items) => items.iter().any(is_long),
        Json::Object(members) => members.iter().any(|(key, value)| key.len() > SHORT || is_long(value)),
        _ => false,
    }
}

fn is_deep(value: &Json, levels: usize) -> bool {
    levels == 0
        || match value {
            Json::Array(items) => items.iter().any(|item| is_deep(item, levels - 1)),
            Json::Object(members) => members.values().any(|member| is_deep(member, levels - 1)),
            _ => false,
        }
}

fn problems(validator: &Validator, value: &Json) -> Vec<Problem> {
    if validator.is_valid(value) {
        return Vec::new();
    }
    let problem = |error: ValidationError<'_>| Problem {
        place: pieces(&error.instance_path().to_string()),
        keyword: pieces(&error.schema_path().to_string()),
        message: shown::cut(&error.masked_with("the value").to_string(), 300),
    };
    validator.iter_errors(value).take(PROBLEMS).map(problem).collect()
}

impl Schema {
    /// `None` when it took too long.
    fn judge(&self, value: &Json) -> Option<Vec<Problem>> {
        if !(self.branches && is_deep(value, SHALLOW) || self.searches && is_long(value)) {
            return Some(problems(&self.validator, value));
        }
        let (validator, value) = (self.validator.clone(), value.clone());
        patience::within(PATIENCE, move || problems(&validator, &value))
    }
}

impl Matcher for Schema {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(actual) = actual else {
            return found.add(|| self.head.missing(path));
        };
        let Some(problems) = self.judge(actual) else {
            return found.add(|| {
                let why = match self.branches && is_deep(actual, SHALLOW) {
                    true => "it refers to itself too often for a value so deep",
                    false => "a pattern in it takes too many steps over a text so long",
                };
                let message = format!("the schema was given up after {PATIENCE:?}: {why}");
                Mismatch::new(Rank::Kind, path, self.head.span(), message).by(self.head.name())
            });
        };
        for Problem { place, keyword, message } in problems {
            let span = self.written.as_ref().map_or(self.head.span(), |schema| span_of(schema, &keyword));
            found.add(|| {
                at_place(&place, actual, path, &mut |value, path| {
                    Mismatch::new(Rank::Different, path, span, message.clone()).by(self.head.name()).actual(Some(value))
                })
            });
        }
    }
}

/// Follows a JSON pointer, so that the path is written as any other.
fn at_place(
    place: &[String],
    value: &Json,
    path: &Path<'_>,
    make: &mut dyn FnMut(&Json, &Path<'_>) -> Mismatch,
) -> Mismatch {
    let Some((first, rest)) = place.split_first() else { return make(value, path) };
    match value {
        Json::Array(items) => match first.parse::<usize>().ok().and_then(|at| Some((at, items.get(at)?))) {
            Some((at, item)) => at_place(rest, item, &path.index(at), make),
            None => make(value, path),
        },
        Json::Object(members) => match members.get(first) {
            Some(member) => at_place(rest, member, &path.key(first), make),
            None => make(value, path),
        },
        _ => make(value, path),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, compile, node, say};
    use serde_json::json;

    #[test]
    fn says_where_and_what() {
        let schema =
            json!({"$jsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["m"]}});
        let found = say(schema, json!({"n": "x"}));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|it| it.starts_with("$.n: ")), "{found:?}");
        let schema = json!({"$jsonSchema": {"properties": {"n": {"type": "integer"}}, "required": ["m"]}});
        assert!(check(&schema, Some(&json!({"n": "x"})))[0].diff.is_none());
    }

    #[test]
    fn formats_are_asserted_in_both_drafts() {
        for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
            let schema = json!({"$jsonSchema": {"$schema": draft, "type": "string", "format": "date-time"}});
            assert!(check(&schema, Some(&json!("2024-01-01T00:00:00Z"))).is_empty(), "{draft}");
            assert_eq!(check(&schema, Some(&json!("yesterday"))).len(), 1, "{draft}");
        }
    }

    #[test]
    fn nothing_is_fetched_and_no_file_is_opened() {
        for reference in ["http://127.0.0.1:9/x.json", "file:///etc/hostname", "other.json"] {
            let (_, diagnostics) = compile(&node(&json!({"$jsonSchema": {"$ref": reference}})));
            assert!(diagnostics.has_errors(), "{reference}");
        }
        for file in ["../outside.json", "/etc/hostname", "missing.json"] {
            let (_, diagnostics) = compile(&node(&json!({"$jsonSchema": {"file": file}})));
            assert!(diagnostics.has_errors(), "{file}");
        }
    }

    #[test]
    fn recursive_schemas_end() {
        assert!(check(&json!({"$jsonSchema": {"$ref": "#"}}), Some(&json!(1))).len() <= 1);
        let tree = json!({"$jsonSchema": {"type": "object", "properties": {"next": {"$ref": "#"}}}});
        assert!(check(&tree, Some(&json!({"next": {"next": {}}}))).is_empty());
        assert_eq!(check(&tree, Some(&json!({"next": {"next": 1}}))).len(), 1);
    }
}
