//! What hooks return, read strictly: what is not in the contract is a fault, never a verdict.

use super::object::Object;
use super::words::{self, INVALID};
use crate::extension::Limits;
use crate::extension::fault::Fault;
use crate::extension::{Difference, Output, Verdict};
use crate::source::Json;
use serde::Deserialize;
use std::sync::Arc;

/// What a bare `false` is put into words as.
const NO: &str = "it does not match";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Judged {
    pass: bool,
    message: Option<String>,
    path: Option<String>,
    #[serde(default, deserialize_with = "present")]
    expected: Option<Json>,
    #[serde(default, deserialize_with = "present")]
    actual: Option<Json>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    name: Option<String>,
    text: String,
}

/// Keeps a written `null` apart from nothing.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// A matcher's result: `true`, `false`, or an object with `pass`.
pub(super) fn verdict(name: &Arc<str>, call: &str, result: &str) -> Result<Verdict, Fault> {
    match result {
        "true" => return Ok(Verdict::Pass),
        "false" => return Ok(fail(NO.to_owned())),
        _ => {}
    }
    bounded(name, call, result, Limits::RESULT)?;
    let Object(judged): Object<Judged> =
        read(name, call, result, "a verdict is `true`, `false` or an object with `pass`")?;
    let Judged { pass, message, path, expected, actual } = judged;
    if pass {
        return Ok(Verdict::Pass);
    }
    let Verdict::Fail(difference) = fail(message.unwrap_or_else(|| NO.to_owned())) else { return Ok(Verdict::Pass) };
    Ok(Verdict::Fail(Difference { path, expected, actual, ..difference }))
}

fn fail(message: String) -> Verdict {
    Verdict::Fail(Difference { message, path: None, expected: None, actual: None })
}

/// A reporter's result: `null`, or a list of outputs.
pub(super) fn outputs(name: &Arc<str>, call: &str, result: &str) -> Result<Vec<Output>, Fault> {
    bounded(name, call, result, Limits::OUTPUT)?;
    let form = "a reporter returns `null` or a list of `{\"text\": …, \"name\": …}`";
    let written: Option<Vec<Object<Written>>> = read(name, call, result, form)?;
    let written = written.unwrap_or_default().into_iter();
    Ok(written.map(|Object(Written { name, text })| Output { name, text }).collect())
}

/// A transform's result: a suite, which is an object.
pub(super) fn suite(name: &Arc<str>, result: String) -> Result<String, Fault> {
    bounded(name, super::TRANSFORM, &result, Limits::OUTPUT)?;
    if !result.starts_with('{') {
        return Err(words::malformed(name, super::TRANSFORM, INVALID, "a suite is an object", &result));
    }
    Ok(result)
}

fn bounded(name: &Arc<str>, call: &str, result: &str, most: usize) -> Result<(), Fault> {
    if result.len() <= most {
        return Ok(());
    }
    let why = format!("it has {} bytes, and may have {most}", result.len());
    Err(words::malformed(name, call, INVALID, &why, result))
}

fn read<'a, T: Deserialize<'a>>(name: &Arc<str>, call: &str, result: &'a str, form: &str) -> Result<T, Fault> {
    serde_json::from_str(result).map_err(|error| {
        let why = match serde_json::from_str(result) {
            // The mistake lies inside.
            Ok(Json::Object(_) | Json::Array(_)) | Err(_) => words::without_place(&error),
            Ok(value) => format!("its result is {}", words::kind(&value)),
        };
        words::malformed(name, call, INVALID, &why, result).hint(form)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::Code;
    use serde_json::json;

    fn judge(result: &str) -> Result<Verdict, Code> {
        verdict(&"near".into(), "near", result).map_err(|fault| fault.code)
    }

    #[test]
    fn a_verdict_is_a_boolean_or_an_object_with_pass() {
        assert_eq!(judge("true"), Ok(Verdict::Pass));
        assert_eq!(judge(r#"{"pass":true}"#), Ok(Verdict::Pass));
        assert_eq!(judge("false"), Ok(fail(NO.to_owned())));
        let full = r#"{"pass":false,"message":"far","path":"$.a","expected":null,"actual":[1]}"#;
        let wanted = Difference {
            message: "far".into(),
            path: Some("$.a".into()),
            expected: Some(json!(null)),
            actual: Some(json!([1])),
        };
        assert_eq!(judge(full), Ok(Verdict::Fail(wanted)));
    }

    #[test]
    fn anything_else_is_malformed() {
        for bad in [
            "null",
            "1",
            "\"true\"",
            "[]",
            "[true,null,null,null,null]",
            "{}",
            r#"{"pass":1}"#,
            r#"{"pass":false,"msg":"x"}"#,
            r#"{"ok":true}"#,
        ] {
            assert_eq!(judge(bad), Err(Code::MalformedResponse), "{bad}");
        }
        let long = format!(r#"{{"pass":false,"message":"{}"}}"#, "x".repeat(Limits::RESULT));
        assert_eq!(judge(&long), Err(Code::MalformedResponse));
    }

    #[test]
    fn outputs_and_suites_are_read_as_strictly() {
        let outputs = |result: &str| super::outputs(&"r".into(), "report.observe", result).map_err(|fault| fault.code);
        assert_eq!(outputs("null"), Ok(Vec::new()));
        let text = |text: &str, name: Option<&str>| Output { name: name.map(str::to_owned), text: text.into() };
        let both = r#"[{"text":"a"},{"name":"b.txt","text":"c"}]"#;
        assert_eq!(outputs(both), Ok(vec![text("a", None), text("c", Some("b.txt"))]));
        for bad in [
            "true",
            "{}",
            "[1]",
            r#"[[null,"a"]]"#,
            r#"[{"name":"a"}]"#,
            r#"[{"text":1}]"#,
            r#"[{"text":"a","to":"b"}]"#,
        ] {
            assert_eq!(outputs(bad), Err(Code::MalformedResponse), "{bad}");
        }
        let list = super::outputs(&"r".into(), "report.observe", r#"[{"txt":"a"}]"#).unwrap_err().message;
        assert!(list.contains("unknown field `txt`"), "a list is right, what is in it is not: {list}");
        let half = verdict(&"near".into(), "near", r#"{"pass":false,"message":"\ud83d…"}"#).unwrap_err().message;
        assert!(half.contains("half of a surrogate pair"), "{half}");
        assert!(suite(&"t".into(), "{}".into()).is_ok());
        assert_eq!(suite(&"t".into(), "[]".into()).unwrap_err().code, Code::MalformedResponse);
    }
}
