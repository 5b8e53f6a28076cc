//! `$jsonSchema`: draft-07 and 2020-12 (and those between), formats asserted, nothing fetched.

mod load;

use super::argument::Call;
use super::found::Found;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::shown;
use super::tree::Tree;
use super::{Head, Matcher};
use crate::source::Json;
use jsonschema::{PatternOptions, Validator};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Steps that a `pattern` may take back before it counts as not matching.
const BACKTRACK_LIMIT: usize = 1_000_000;
/// How long a schema that refers to itself more than once may take over a deep value: each level can double the work.
const PATIENCE: Duration = Duration::from_secs(5);
/// Values as deep as this are judged in place; 2^12 repetitions are nothing.
const SHALLOW: usize = 12;
/// How many problems of one value are reported.
const PROBLEMS: usize = 10;

#[derive(Debug)]
struct Schema {
    validator: Arc<Validator>,
    /// Whether it can take exponential time.
    branches: bool,
    head: Head,
}

/// What a schema says about a value: where (a JSON pointer in pieces) and what.
type Problem = (Vec<String>, String);

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
            let (head, branches) = (call.head(), references(&schema) > 1);
            call.matcher(Schema { validator: Arc::new(validator), branches, head })
        }
        Err(error) => {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
            let problem = shown::cut(&error.to_string(), 200);
            call.bad(call.node.span, format!("not a JSON Schema{place}: {problem}"))
        }
    }
}

/// How often a schema refers to something.
fn references(schema: &Json) -> usize {
    match schema {
        Json::Object(members) => members
            .iter()
            .map(|(key, value)| {
                usize::from(matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef")) + references(value)
            })
            .sum(),
        Json::Array(items) => items.iter().map(references).sum(),
        _ => 0,
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
    let problem = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().to_string();
        let pieces = place.split('/').skip(1).map(|piece| piece.replace("~1", "/").replace("~0", "~"));
        (pieces.collect(), shown::cut(&error.masked_with("the value").to_string(), 300))
    };
    validator.iter_errors(value).take(PROBLEMS).map(problem).collect()
}

impl Schema {
    /// `None` when it took too long.
    fn judge(&self, value: &Json) -> Option<Vec<Problem>> {
        if !self.branches || !is_deep(value, SHALLOW) {
            return Some(problems(&self.validator, value));
        }
        let (send, receive) = mpsc::channel();
        let (validator, value) = (self.validator.clone(), value.clone());
        // The validator cannot be stopped: a hopeless one is left behind and ends with the process.
        std::thread::spawn(move || send.send(problems(&validator, &value)));
        receive.recv_timeout(PATIENCE).ok()
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
                let message = format!("the schema refers to itself so often that it was given up after {PATIENCE:?}");
                Mismatch::new(Rank::Kind, path, self.head.span(), message).by(self.head.name())
            });
        };
        for (place, message) in problems {
            found.add(|| {
                at_place(&place, actual, path, &mut |value, path| {
                    Mismatch::new(Rank::Different, path, self.head.span(), message.clone())
                        .by(self.head.name())
                        .actual(Some(value))
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
