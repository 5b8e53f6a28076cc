//! The keys `match:partial`, `match:arrayElements`, `match:extractField` with `value`, and `match:crossField`, each
//! also as `match:not:…`.

use super::field::{self, Steps};
use super::{Malformed, names, never};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::matcher::array;
use crate::matcher::leaf::Leaf;
use crate::matcher::logic::{self, Not};
use crate::matcher::tree::{Field, Manner, Tree};
use crate::matcher::words::Words;
use crate::matcher::{Compiler, Found, Head, Matcher, Path, Rank};
use crate::source::{Entry, Json, Node, Span};
use serde_json::Map;

pub(super) const KEYS: [&str; 4] = ["partial", "arrayElements", "extractField", "crossField"];

/// The name and the negation of a key of this family.
fn key(key: &str) -> Option<(&'static str, bool)> {
    let rest = key.strip_prefix("match:")?;
    let (rest, negated) = rest.strip_prefix("not:").map_or((rest, false), |rest| (rest, true));
    KEYS.iter().find(|known| **known == rest).map(|known| (*known, negated))
}

/// A key of this family that stands in a text, as if it were a pattern: `partial:x`.
pub(super) fn key_in_text(text: &str) -> Option<&'static str> {
    let (typed, rest) = text.split_once(':')?;
    let known = KEYS.iter().find(|known| **known == typed)?;
    (!rest.is_empty() && !rest.starts_with(' ')).then_some(*known)
}

/// Whether a mapping has a key of this family.
pub(in crate::matcher) fn is_one(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| key(&entry.key).is_some())
}

impl Compiler<'_> {
    /// Compiles a mapping that has keys of this family; other keys beside them are compared too.
    pub(in crate::matcher) fn object(&mut self, entries: &[Entry], span: Span, manner: Manner) -> Tree {
        let has = |name: &str| entries.iter().any(|entry| key(&entry.key).is_some_and(|(known, _)| known == name));
        // A negated condition leaves the other keys to be compared as usual; beside the rest mcp-aegis looks at none of
        // them, or only at those that are written.
        let usual = entries.iter().all(|entry| key(&entry.key).is_none_or(|it| it == ("crossField", true)));
        let (around, inside) = match (usual, has("partial")) {
            (true, _) => (manner, manner),
            (false, true) => (Manner::Prefix, Manner::Exact),
            (false, false) => (Manner::Prefix, Manner::Prefix),
        };
        let mut trees = Vec::new();
        let mut fields = Vec::new();
        for entry in entries {
            match key(&entry.key) {
                Some((name, negated)) => trees.push(self.special(name, negated, entry, entries)),
                None if entry.key == "value" && has("extractField") => {}
                None if has("arrayElements") => self.beside_elements(entry),
                None => {
                    let key = entry.key.strip_prefix("$$").map_or_else(|| entry.key.clone(), |rest| format!("${rest}"));
                    let tree = self.tree(&entry.value, inside);
                    fields.push(Field { key, span: entry.key_span, tree });
                }
            }
        }
        if !fields.is_empty() {
            fields.extend(entries.iter().filter(|entry| usual && key(&entry.key).is_some()).map(may_be_there));
            trees.push(Tree::Map { fields, span, manner: around });
        }
        match trees.len() {
            1 => trees.swap_remove(0),
            _ => logic::every(trees, span),
        }
    }

    fn special(&mut self, name: &'static str, negated: bool, entry: &Entry, entries: &[Entry]) -> Tree {
        let span = Span { start: entry.key_span.start, end: entry.value.span.end.max(entry.key_span.end) };
        let written = Json::Object(Map::from_iter([(entry.key.clone(), entry.value.to_json())]));
        let malformed = self.malformed;
        let compiled = match name {
            "partial" => Ok(self.tree(&entry.value, Manner::Prefix)),
            "arrayElements" => {
                let item = self.tree(&entry.value, Manner::Exact);
                Ok(array::every_element(Head::whole("match:arrayElements", span, written.clone()), item))
            }
            "extractField" => self.extract(entry, entries, span),
            _ => condition(&entry.value)
                .map(|condition| Leaf::tree(Head::whole("match:crossField", span, written.clone()), condition)),
        };
        match compiled {
            Ok(_) if negated && self.malformed > malformed => never(Head::whole("match:not", span, written)),
            Ok(inner) if negated => {
                Tree::Matcher(Box::new(Not { head: Head::whole("match:not", span, written), inner }))
            }
            Ok(tree) => tree,
            Err(problem) => self.never(problem, entry.value.span, written),
        }
    }

    fn extract(&mut self, entry: &Entry, entries: &[Entry], span: Span) -> Result<Tree, Malformed> {
        let example = "match:extractField: tools.*.name";
        let Some(path) = Words::of(&entry.value).map(|words| words.plain()).filter(|path| !path.is_empty()) else {
            let message = format!("`match:extractField` takes a path, and this is {}", entry.value.describe());
            return Err(Malformed { message, example });
        };
        let Some(value) = entries.iter().find(|entry| entry.key == "value") else {
            let message = "`match:extractField` needs `value` beside it: what is expected there".to_owned();
            return Err(Malformed { message, example });
        };
        let tree = self.tree(&value.value, Manner::Exact);
        let query = if path.starts_with('[') { path.clone() } else { format!(".{path}") };
        let written = serde_json::json!({"match:extractField": path, "value": tree.written()});
        let head = Head::whole("match:extractField", span, written);
        Ok(Tree::Matcher(Box::new(Extract { steps: Steps::with_wildcards(&path), path, query, tree, head })))
    }

    fn beside_elements(&mut self, entry: &Entry) {
        let message =
            format!("`{}` stands beside `match:arrayElements`, which is about a list, and is not compared", entry.key);
        self.diagnostics.push(Diagnostic::warning(message).at(self.source, entry.key_span));
    }

    /// Warns about a key that looks like one of this family.
    pub(in crate::matcher) fn stray_key(&mut self, entry: &Entry) {
        let Some(typed) = entry.key.strip_prefix("match:") else { return };
        let name = typed.strip_prefix("not:").unwrap_or(typed);
        let mut warning = Diagnostic::warning(format!("`{}` is taken as a key of the answer", entry.key))
            .at(self.source, entry.key_span);
        if let Some(near) = did_you_mean(name, KEYS) {
            warning = warning.hint(format!("did you mean `match:{}`?", typed.replace(name, near)));
        } else if names::is_known(name) {
            warning = warning.hint(format!("patterns are values: `{}`", names::example(name)));
        } else {
            return;
        }
        self.diagnostics.push(warning);
    }
}

/// A server that sends a key of this family itself sends nothing unexpected.
fn may_be_there(entry: &Entry) -> Field {
    let tree = Tree::Matcher(Box::new(Whatever(Head::whole("match", entry.key_span, Json::Null))));
    Field { key: entry.key.clone(), span: entry.key_span, tree }
}

/// Holds for everything, and for nothing.
#[derive(Debug)]
struct Whatever(Head);

impl Matcher for Whatever {
    fn head(&self) -> &Head {
        &self.0
    }

    fn judges_absence(&self) -> bool {
        true
    }

    fn check(&self, _actual: Option<&Json>, _path: &Path<'_>, _found: &mut Found) {}
}

fn condition(node: &Node) -> Result<field::Condition, Malformed> {
    match Words::of(node) {
        Some(words) => field::condition(words.plain().trim()),
        None => {
            let message = format!("`match:crossField` takes text, and this is {}", node.describe());
            Err(Malformed { message, example: "match:crossField: start < end" })
        }
    }
}

/// `match:extractField` with `value`.
#[derive(Debug)]
struct Extract {
    steps: Steps,
    path: String,
    query: String,
    tree: Tree,
    head: Head,
}

impl Matcher for Extract {
    fn head(&self) -> &Head {
        &self.head
    }

    fn check(&self, actual: Option<&Json>, path: &Path<'_>, found: &mut Found) {
        let Some(actual) = actual else {
            return found.add(|| self.head.missing(path));
        };
        let value = self.steps.get(actual);
        if value.is_none() && !self.tree.holds(None) {
            return found.add(|| {
                let message = format!("there is nothing at `{}`", self.path);
                self.head.mismatch(Rank::Missing, path, message).actual(Some(actual)).hints(self.steps.lost(actual))
            });
        }
        self.tree.check(value.as_deref(), &path.query(&self.query), found);
    }
}
