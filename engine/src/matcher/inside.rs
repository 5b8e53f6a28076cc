//! `$json` and `$path`: matching inside a text that is JSON, and at the places of a query.

use super::argument::Call;
use super::equality::kind;
use super::found::Found;
use super::mismatch::Rank;
use super::path::Path;
use super::query::Query;
use super::tree::Tree;
use super::{Head, Matcher};
use crate::source::Json;

pub(super) fn json(mut call: Call<'_, '_>) -> Option<Tree> {
    let inner = call.tree(call.node);
    call.matcher(InJson { head: call.head(), inner })
}

#[derive(Debug)]
struct InJson {
    head: Head,
    inner: Tree,
}

impl Matcher for InJson {
    fn head(&self) -> &Head {
        &self.head
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
                self.head
                    .mismatch(rank, path, message)
                    .actual(actual)
                    .hints(already.then(|| "it is a value already: leave `$json` out".to_owned()))
            }),
        }
    }
}

pub(super) fn path(mut call: Call<'_, '_>) -> Option<Tree> {
    let node = call.node;
    let Some(entries) = node.entries() else {
        return call.wrong(node, "a mapping from JSONPaths to what is expected there");
    };
    if entries.is_empty() {
        return call.bad(node.span, "`$path` of nothing always holds");
    }
    let mut places = Vec::new();
    for entry in entries {
        match Query::parse(&entry.key) {
            Ok(query) => places.push((query, call.tree(&entry.value))),
            Err(problem) => return call.bad(entry.key_span, problem),
        }
    }
    call.matcher(AtPaths { head: call.head(), places })
}

#[derive(Debug)]
struct AtPaths {
    head: Head,
    places: Vec<(Query, Tree)>,
}

impl Matcher for AtPaths {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(actual) = actual else {
            return found.add(|| self.head.missing(path));
        };
        for (query, tree) in &self.places {
            let place = path.query(query.text().trim().trim_start_matches('$'));
            let selected = query.select(actual);
            let mark = found.len();
            tree.check(selected.as_deref(), &place, found);
            if selected.is_none()
                && let Some(first) = found.since(mark).first_mut()
            {
                first.hints.extend(query.lost(actual));
            }
        }
    }
}
