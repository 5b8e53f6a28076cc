//! `$url`: text is an absolute URL whose parts are as expected.
//!
//! ```yaml
//! link: { $url: true }                    # any URL
//! link: { $url: https }                   # a scheme
//! link: { $url: { scheme: [http, https], host: "*.example.com", port: 8080, path: /a, query: { page: "2" } } }
//! ```
//!
//! Scheme and host compare without regard to case; `*.` takes any subdomain; `query` names parameters that must be
//! there, percent-decoded.

mod parts;

use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use parts::Parts;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Url {
    scheme: Option<Value>,
    host: Option<Value>,
    port: Option<u16>,
    path: Option<String>,
    query: BTreeMap<String, String>,
    fragment: Option<String>,
}

impl Matcher for Url {
    const NAME: &'static str = "url";
    const SUMMARY: &'static str = "text is an absolute URL whose parts are as expected";

    fn prepare(expected: &Value) -> Result<Url, Failure> {
        let url = match expected {
            Value::Bool(true) => Url::default(),
            Value::String(_) => Url { scheme: Some(expected.clone()), ..Url::default() },
            _ => decode(expected)?,
        };
        for (name, wanted) in [("scheme", &url.scheme), ("host", &url.host)] {
            if wanted.as_ref().is_some_and(|wanted| alternatives(wanted).is_empty()) {
                return Err(Failure::invalid(format_args!("`{name}` must be text or a list of texts")));
            }
        }
        Ok(url)
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Url {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let parts = Parts::of(text(actual)?).map_err(Mismatch::new)?;
        one_of("scheme", &self.scheme, parts.scheme, |a, b| a.eq_ignore_ascii_case(b))?;
        one_of("host", &self.host, parts.host, is_host)?;
        same("port", self.port, parts.port)?;
        same("path", self.path.as_deref(), Some(parts.path))?;
        same("fragment", self.fragment.as_deref(), parts.fragment)?;
        let found = parts.parameters();
        self.query.iter().try_for_each(|(name, wanted)| {
            let mut values = found.iter().filter(|(key, _)| key == name).map(|(_, value)| value).peekable();
            match values.peek().copied() {
                None => Err(Mismatch::new(format_args!("the query has no `{name}`")).expected(wanted.as_str())),
                Some(first) if !values.any(|value| value == wanted) => {
                    Err(differs(&format!("query parameter `{name}`"), wanted.as_str().into(), first.as_str().into()))
                }
                Some(_) => Ok(()),
            }
        })
    }
}

fn alternatives(wanted: &Value) -> Vec<&str> {
    match wanted {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().map(Value::as_str).collect::<Option<_>>().unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn one_of(part: &str, wanted: &Option<Value>, found: &str, is: fn(&str, &str) -> bool) -> Result<(), Mismatch> {
    match wanted {
        Some(wanted) if !alternatives(wanted).iter().any(|wanted| is(wanted, found)) => {
            Err(differs(part, wanted.clone(), found.into()))
        }
        _ => Ok(()),
    }
}

fn same<T: PartialEq + Into<Value>>(part: &str, wanted: Option<T>, found: Option<T>) -> Result<(), Mismatch> {
    match wanted {
        Some(wanted) if found.as_ref() != Some(&wanted) => Err(differs(part, wanted.into(), found.into())),
        _ => Ok(()),
    }
}

fn differs(part: &str, wanted: Value, found: Value) -> Mismatch {
    Mismatch::new(format_args!("the {part} differs: expected {wanted}, got {found}")).expected(wanted).actual(found)
}

fn is_host(wanted: &str, found: &str) -> bool {
    let (wanted, found) = (wanted.to_lowercase(), found.to_lowercase());
    match wanted.strip_prefix("*.") {
        Some(domain) => found.strip_suffix(domain).is_some_and(|sub| sub.len() > 1 && sub.ends_with('.')),
        None => wanted == found,
    }
}

export_matcher!(Url);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Url>("cases.json");
    }
}
