//! `$json` and `$path`: matching inside a text that is JSON, and at the places of a query.

use super::Matcher;
use super::argument::Call;
use super::equality::kind;
use super::found::Found;
use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use super::query::Query;
use super::tree::Tree;
use crate::source::{Json, Span};

pub(super) fn json(mut call: Call<'_, '_>) -> Option<Tree> {
    let inner = call.tree(call.node);
    call.matcher(InJson { inner, span: call.span(), written: call.written() })
}

#[derive(Debug)]
struct InJson {
    inner: Tree,
    span: Span,
    written: Json,
}

impl Matcher for InJson {
    fn name(&self) -> &str {
        "$json"
    }

    fn expected(&self) -> Json {
        self.written.clone()
    }

    fn span(&self) -> Span {
        self.span
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let parsed = match actual {
            Some(Json::String(text)) => {
                serde_json::from_str::<Json>(text).map_err(|error| format!("the text is not JSON: {error}"))
            }
            Some(other) => Err(format!("`$json` needs text, and this is {}", kind(other))),
            None => Err("there is no value".to_owned()),
        };
        match parsed {
            Ok(value) => self.inner.check(Some(&value), &path.json(), found),
            Err(message) => found.add(|| {
                let rank = if actual.is_none() { Rank::Missing } else { Rank::Kind };
                let already = matches!(actual, Some(Json::Object(_) | Json::Array(_)));
                Mismatch::new(rank, path, self.span, message)
                    .by("$json")
                    .expected(&self.written)
                    .actual(actual)
                    .hints(already.then(|| "it is a value already: leave `$json` out".to_owned()))
            }),
        }
    }
}

pub(super) fn path(mut call: Call<'_, '_>) -> Option<Tree> {
    let node = call.node;
    let Some(entries) = node.entries().filter(|entries| !entries.is_empty()) else {
        return call.wrong(node, "a mapping from JSONPaths to what is expected there");
    };
    let mut places = Vec::new();
    for entry in entries {
        match Query::parse(&entry.key) {
            Ok(query) => places.push((query, call.tree(&entry.value))),
            Err(problem) => return call.bad(entry.key_span, problem),
        }
    }
    call.matcher(AtPaths { places, span: call.span(), written: call.written() })
}

#[derive(Debug)]
struct AtPaths {
    places: Vec<(Query, Tree)>,
    span: Span,
    written: Json,
}

impl Matcher for AtPaths {
    fn name(&self) -> &str {
        "$path"
    }

    fn expected(&self) -> Json {
        self.written.clone()
    }

    fn span(&self) -> Span {
        self.span
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(actual) = actual else {
            return found.add(|| {
                Mismatch::new(Rank::Missing, path, self.span, "there is no value").by("$path").expected(&self.written)
            });
        };
        for (query, tree) in &self.places {
            let place = path.query(query.text().trim().trim_start_matches('$'));
            tree.check(query.select(actual).as_deref(), &place, found);
        }
    }
}
