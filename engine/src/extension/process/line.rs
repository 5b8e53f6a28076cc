//! One line from a plugin, held against the schema of an answer.
//!
//! ```text
//! {"id":7,"result":true}
//! {"id":7,"error":{"code":-32602,"message":"no number","data":null}}
//! ```

use crate::extension::plugin::object::Object;
use crate::extension::plugin::words::{INVALID, PARSE_ERROR, kind, without_place};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// What a plugin answers.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// The result, as JSON text.
    Result(String),
    /// The plugin's own error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// What it adds, as JSON text.
        data: Option<String>,
    },
}

/// A line that is no answer.
#[derive(Debug, PartialEq)]
pub(super) struct Bad {
    /// The JSON-RPC code.
    pub(super) code: i64,
    /// Why.
    pub(super) why: String,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Refusal<'a> {
    code: i64,
    message: String,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// Keeps a written `null` apart from nothing.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads a line: the id it answers, and the answer. `known` says of an id whether its answer is wanted; where it is
/// not, nothing else is looked at.
pub(super) fn read<T>(
    line: &[u8],
    known: impl FnOnce(u64) -> Result<Option<T>, Bad>,
) -> Result<Option<(T, Answer)>, Bad> {
    let Object(envelope): Object<Envelope<'_>> = serde_json::from_slice(line).map_err(|error| unlike(line, &error))?;
    let invalid = |why: String| Bad { code: INVALID, why };
    let id = envelope.id.ok_or_else(|| invalid("it has no `id`".to_owned()))?.get();
    let number = id.parse().map_err(|_| match id.trim_matches('"').parse::<u64>() {
        Ok(number) => invalid(format!("its id is {id}, and was sent as the number {number}")),
        Err(_) => invalid(format!("the id {id} was never issued")),
    })?;
    let Some(wanted) = known(number)? else { return Ok(None) };
    let answer = match (envelope.result, envelope.error) {
        (Some(result), None) => Answer::Result(result.get().to_owned()),
        (None, Some(error)) => {
            let Object(Refusal { code, message, data }) = serde_json::from_str(error.get()).map_err(|why| {
                invalid(format!("its `error` is no `{{\"code\", \"message\"}}`: {}", without_place(&why)))
            })?;
            Answer::Error { code, message, data: data.map(|data| data.get().to_owned()) }
        }
        (Some(_), Some(_)) => return Err(invalid("it has both `result` and `error`".to_owned())),
        (None, None) => return Err(invalid("it has neither `result` nor `error`".to_owned())),
    };
    Ok(Some((wanted, answer)))
}

/// Why a line is no answer, in words that name nothing of this program.
fn unlike(line: &[u8], error: &serde_json::Error) -> Bad {
    if line.trim_ascii().is_empty() {
        return Bad { code: PARSE_ERROR, why: "it is an empty line".to_owned() };
    }
    let not_json = |error: &serde_json::Error| Bad { code: PARSE_ERROR, why: format!("it is not JSON: {error}") };
    if !error.is_data() {
        return not_json(error);
    }
    // What stands behind the place where it stopped was not looked at.
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
        return not_json(&error);
    }
    let why = match serde_json::from_slice(line) {
        Ok(serde_json::Value::Object(_)) | Err(_) => without_place(error),
        Ok(value) => format!("it is {}, and no object with `id` and `result`", kind(&value)),
    };
    Bad { code: INVALID, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Answer, i64> {
        let known = |id: u64| if id == 7 { Ok(Some(())) } else { Err(Bad { code: INVALID, why: String::new() }) };
        super::read(line.as_bytes(), known).map(|read| read.expect("wanted").1).map_err(|bad| bad.code)
    }

    #[test]
    fn exactly_one_of_result_and_error() {
        assert_eq!(read(r#"{"id":7,"result":[1, 2]}"#), Ok(Answer::Result("[1, 2]".into())));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":7,"result":null}"#), Ok(Answer::Result("null".into())));
        let error = Answer::Error { code: -32602, message: "no".into(), data: Some("{\"a\":1}".into()) };
        assert_eq!(read(r#"{"id":7,"error":{"code":-32602,"message":"no","data":{"a":1}}}"#), Ok(error));
        assert_eq!(read(r#"{"id":7,"result":null,"error":{"code":1,"message":"x"}}"#), Err(INVALID));
        assert_eq!(read(r#"{"id":7}"#), Err(INVALID));
    }

    #[test]
    fn what_is_not_json_and_what_is_no_answer_have_their_codes() {
        for line in ["", " ", "\"id\": 7,", "hello", "{\"id\":7,", "{\"id\":7,\"result\":1}{}", "\u{0}\u{1}"] {
            assert_eq!(read(line), Err(PARSE_ERROR), "{line:?}");
        }
        let known = |_: u64| Ok(Some(()));
        assert_eq!(super::read(b"{\"id\":7,\"result\":\"\xff\"}", known).map_err(|bad| bad.code), Err(PARSE_ERROR));
        for line in [
            "[]",
            "1",
            "[7,true]",
            r#"{"id":7,"error":[1,"x"]}"#,
            r#"{"result":1}"#,
            r#"{"id":"7","result":1}"#,
            r#"{"id":null,"result":1}"#,
            r#"{"id":7.0,"result":1}"#,
            r#"{"id":8,"result":1}"#,
            r#"{"id":7,"error":null}"#,
            r#"{"id":7,"error":{"code":"x","message":"y"}}"#,
            r#"{"id":7,"error":{"code":1}}"#,
            r#"{"id":7,"result":1,"result":2}"#,
        ] {
            assert_eq!(read(line), Err(INVALID), "{line}");
        }
    }
}
