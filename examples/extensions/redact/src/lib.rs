//! Takes secrets out of expectations, so that a recorded suite can be shared and still holds with other credentials.
//!
//! ```yaml
//! x-redact: [sessionId]                     # besides the usual names
//! tools:
//!   - it: logs in
//!     tool: login
//!     expect: { structured: { user: ada, token: 9f86d08 } }      # token: { $type: string }
//! ```
//!
//! A text that stands in an `expect` under the name of a secret becomes `{ $type: string }`. Matchers stay.

use mcptest_guest::{Failure, Transform, Value, export_transform, json};

/// Names of secrets, compared without regard to case, `-` and `_`.
const USUAL: [&str; 8] =
    ["token", "accesstoken", "refreshtoken", "password", "secret", "clientsecret", "apikey", "authorization"];

struct Redact;

impl Transform for Redact {
    fn transform(mut suite: Value) -> Result<Value, Failure> {
        let more = match &suite["x-redact"] {
            Value::Null => Vec::new(),
            Value::Array(names) => {
                names.iter().map(|name| name.as_str().map(plain)).collect::<Option<_>>().ok_or_else(bad)?
            }
            _ => return Err(bad()),
        };
        visit(&mut suite, false, &|name| USUAL.contains(&plain(name).as_str()) || more.contains(&plain(name)));
        Ok(suite)
    }
}

fn bad() -> Failure {
    Failure::internal("`x-redact` must be a list of names")
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !"-_".contains(*c)).flat_map(char::to_lowercase).collect()
}

fn visit(value: &mut Value, expected: bool, is_secret: &dyn Fn(&str) -> bool) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|value| visit(value, expected, is_secret)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match value {
            Value::String(text) if expected && is_secret(name) && !text.starts_with("match:") => {
                *value = json!({ "$type": "string" });
            }
            _ => visit(value, expected || name == "expect", is_secret),
        }),
        _ => {}
    }
}

export_transform!(Redact);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run_transform::<super::Redact>("cases.json");
    }
}
