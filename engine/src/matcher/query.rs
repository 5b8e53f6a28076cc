//! JSONPath (RFC 9535) queries: one place gives a value or absence, any other query a list.

use super::path::write_key;
use super::{equality, hint, shown};
use crate::source::Json;
use serde_json_path::JsonPath;
use std::borrow::Cow;

/// A parsed query.
#[derive(Clone, Debug)]
pub struct Query {
    path: JsonPath,
    text: String,
    /// The keys and indexes of a query that names one place.
    place: Option<Vec<Step>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(i64),
}

impl Query {
    /// Parses a query; the error says what is wrong and at which character, from 1.
    pub fn parse(text: &str) -> Result<Query, String> {
        let path = crate::source::path::parse(text).map_err(|problem| {
            let at = text.get(..problem.position).map_or(0, |before| before.chars().count()) + 1;
            let why = match text.get(problem.position..) {
                _ if !problem.message.is_empty() => problem.message,
                _ if !text.starts_with('$') => "it begins with `$`".to_owned(),
                None | Some("") => "it ends too early".to_owned(),
                Some(rest) => format!("`{rest}` has no meaning there"),
            };
            format!("not a JSONPath at character {at}: {why}")
        })?;
        Ok(Query { path, text: text.to_owned(), place: place(text) })
    }

    /// The query as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names one place.
    pub fn is_singular(&self) -> bool {
        self.place.is_some()
    }

    /// Of a place where nothing is: how far the way goes, and what is there instead.
    pub fn lost(&self, value: &Json) -> Option<String> {
        let (mut here, mut way) = (value, String::from("$"));
        for step in self.place.as_deref()? {
            let next = match (step, here) {
                (Step::Key(key), Json::Object(members)) => members.get(key),
                (Step::Index(at), Json::Array(items)) => {
                    let at =
                        if *at < 0 { items.len().checked_sub(at.unsigned_abs() as usize) } else { Some(*at as usize) };
                    at.and_then(|at| items.get(at))
                }
                _ => None,
            };
            let Some(next) = next else { return Some(astray(step, here, &way)) };
            match step {
                // Writing to text cannot fail.
                Step::Key(key) => drop(write_key(&mut way, key)),
                Step::Index(at) => way.push_str(&format!("[{at}]")),
            }
            here = next;
        }
        None
    }

    /// What it selects: the value or absence for one place, a list otherwise.
    pub fn select<'v>(&self, value: &'v Json) -> Option<Cow<'v, Json>> {
        match self.place {
            Some(_) => self.path.query(value).first().map(Cow::Borrowed),
            None => Some(Cow::Owned(Json::Array(self.path.query(value).all().into_iter().cloned().collect()))),
        }
    }
}

/// What is where the way ends.
fn astray(step: &Step, here: &Json, way: &str) -> String {
    match (step, here) {
        (Step::Key(key), Json::Object(members)) => match hint::near_key(key, members.keys().map(String::as_str)) {
            Some(near) => format!("`{way}` has no `{key}`, and has `{near}`"),
            None if members.is_empty() => format!("`{way}` is empty"),
            None => {
                let keys: Vec<String> =
                    members.keys().take(6).map(|key| format!("`{}`", shown::cut(key, 40))).collect();
                let more = if members.len() > keys.len() { ", …" } else { "" };
                format!("`{way}` has no `{key}`, only {}{more}", keys.join(", "))
            }
        },
        (Step::Index(_), Json::Array(items)) => {
            format!("`{way}` has {} element{}", items.len(), if items.len() == 1 { "" } else { "s" })
        }
        _ => format!("`{way}` is {}", equality::kind(here)),
    }
}

/// The steps of a query that names one place: only names and indexes, as RFC 9535 §2.3.5.1 has it.
fn place(text: &str) -> Option<Vec<Step>> {
    let mut rest = text.trim().strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.trim_start().is_empty() {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[', ' ', '\t', '\n', '\r']).unwrap_or(after.len());
            let name = &after[..end];
            if name.is_empty() || name.contains('*') {
                return None;
            }
            steps.push(Step::Key(name.to_owned()));
            rest = &after[end..];
            continue;
        }
        let inside = rest.strip_prefix('[')?.trim_start();
        let after = match inside.chars().next()? {
            quote @ ('\'' | '"') => {
                let (name, after) = quoted(&inside[1..], quote)?;
                steps.push(Step::Key(name));
                after
            }
            _ => {
                let end = inside.find(|c: char| !c.is_ascii_digit() && c != '-')?;
                steps.push(Step::Index(inside[..end].parse().ok()?));
                &inside[end..]
            }
        };
        rest = after.trim_start().strip_prefix(']')?;
    }
    Some(steps)
}

fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '\\' => name.extend(rest.next().map(|(_, escaped)| escaped)),
            c if c == quote => return Some((name, &text[at + c.len_utf8()..])),
            c => name.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_place_gives_a_value_or_absence_and_the_rest_lists() {
        let value = json!({"a": [{"b": 1}, {"b": 2}], "x y": null});
        let select = |text: &str| Query::parse(text).expect(text).select(&value).map(Cow::into_owned);
        assert_eq!(select("$.a[1].b"), Some(json!(2)));
        assert_eq!(select("$.a[-1]['b']"), Some(json!(2)));
        assert_eq!(select("$[\"x y\"]"), Some(json!(null)));
        assert_eq!(select("$.nope"), None);
        assert_eq!(select("$"), Some(value.clone()));
        assert_eq!(select("$.a[*].b"), Some(json!([1, 2])));
        assert_eq!(select("$.a[0,1].b"), Some(json!([1, 2])));
        assert_eq!(select("$..b"), Some(json!([1, 2])));
        assert_eq!(select("$.a[?@.b > 1].b"), Some(json!([2])));
        assert_eq!(select("$.a[0:1]"), Some(json!([{"b": 1}])));
    }

    #[test]
    fn a_bad_query_says_where() {
        let error = Query::parse("$.a[").expect_err("not closed");
        assert!(error.starts_with("not a JSONPath at character"), "{error}");
        for (text, why) in [
            ("a.b", "not a JSONPath at character 1: it begins with `$`"),
            ("$.a[", "not a JSONPath at character 4: `[` has no meaning there"),
            ("$.a.length()", "`()` has no meaning there"),
            ("$.", "in dot member name, must start with lowercase alpha or `_`"),
        ] {
            let error = Query::parse(text).expect_err(text);
            assert!(error.ends_with(why), "{error}");
        }
    }

    #[test]
    fn a_way_that_ends_says_where() {
        let value = json!({"result": {"tools": [{"name": "a"}], "n": 5, "none": {}}});
        let lost = |text: &str| Query::parse(text).expect(text).lost(&value);
        assert_eq!(lost("$.result.tool"), Some("`$.result` has no `tool`, and has `tools`".into()));
        assert_eq!(lost("$.result.v"), Some("`$.result` has no `v`, only `tools`, `n`, `none`".into()));
        assert_eq!(lost("$.result.tools[1].name"), Some("`$.result.tools` has 1 element".into()));
        assert_eq!(lost("$.result.tools[-2]"), Some("`$.result.tools` has 1 element".into()));
        assert_eq!(lost("$.result.n.x"), Some("`$.result.n` is a number".into()));
        assert_eq!(lost("$.result.none.x"), Some("`$.result.none` is empty".into()));
        assert_eq!(lost("$.result.tools[-1].name"), None);
        assert_eq!(lost("$..x"), None);
    }
}
