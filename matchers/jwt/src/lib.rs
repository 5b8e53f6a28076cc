//! `$jwt`: text is a JSON Web Token whose header and claims are as expected. The signature is not verified.
//!
//! ```yaml
//! token: { $jwt: true }                                                   # three parts, header and claims are JSON
//! token: { $jwt: { header: { alg: RS256 }, claims: { sub: "7", roles: [admin] }, has: [exp, iat] } }
//! ```
//!
//! Header and claims compare by the keys that are written; `has` names claims that must be there, whatever they are.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Jwt {
    header: BTreeMap<String, Value>,
    claims: BTreeMap<String, Value>,
    has: Vec<String>,
}

impl Matcher for Jwt {
    const NAME: &'static str = "jwt";
    const SUMMARY: &'static str = "text is a JSON Web Token whose header and claims are as expected";

    fn prepare(expected: &Value) -> Result<Jwt, Failure> {
        if *expected == Value::Bool(true) { Ok(Jwt::default()) } else { decode(expected) }
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Jwt {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let parts: Vec<&str> = text(actual)?.split('.').collect();
        let [header, claims, signature] = parts[..] else {
            return Err(Mismatch::new(format_args!("expected three parts between dots, got {}", parts.len())));
        };
        let (header, claims) = (object("header", header)?, object("claims", claims)?);
        if header["alg"].as_str().is_none() {
            return Err(Mismatch::new("the header names no `alg`"));
        }
        URL_SAFE_NO_PAD
            .decode(signature)
            .map_err(|error| Mismatch::new(format_args!("the signature is not base64url: {error}")))?;
        compare("header", &header, &self.header)?;
        compare("claim", &claims, &self.claims)?;
        match self.has.iter().find(|name| claims.get(name).is_none()) {
            Some(name) => Err(Mismatch::new(format_args!("there is no claim `{name}`"))),
            None => Ok(()),
        }
    }
}

fn object(part: &str, encoded: &str) -> Result<Value, Mismatch> {
    let bytes = URL_SAFE_NO_PAD
        .decode(encoded)
        .map_err(|error| Mismatch::new(format_args!("the {part} part is not base64url: {error}")))?;
    let value = str::from_utf8(&bytes).ok().and_then(|text| text.parse::<Value>().ok());
    value.filter(Value::is_object).ok_or_else(|| Mismatch::new(format_args!("the {part} part holds no JSON object")))
}

fn compare(what: &str, found: &Value, wanted: &BTreeMap<String, Value>) -> Result<(), Mismatch> {
    wanted.iter().try_for_each(|(name, wanted)| match found.get(name) {
        Some(value) if value == wanted => Ok(()),
        Some(value) => {
            let message = format_args!("the {what} `{name}` differs: expected {wanted}, got {value}");
            Err(Mismatch::new(message).expected(wanted.clone()).actual(value.clone()))
        }
        None => Err(Mismatch::new(format_args!("there is no {what} `{name}`")).expected(wanted.clone())),
    })
}

export_matcher!(Jwt);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Jwt>("cases.json");
    }
}
