//! JSONPath (RFC 9535) queries: one place gives a value or absence, any other query a list.

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
        let path = crate::source::path::parse(text)
            .map_err(|problem| format!("not a JSONPath at character {}: {}", problem.position + 1, problem.message))?;
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

    /// What it selects: the value or absence for one place, a list otherwise.
    pub fn select<'v>(&self, value: &'v Json) -> Option<Cow<'v, Json>> {
        match self.place {
            Some(_) => self.path.query(value).first().map(Cow::Borrowed),
            None => Some(Cow::Owned(Json::Array(self.path.query(value).all().into_iter().cloned().collect()))),
        }
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
    }
}
