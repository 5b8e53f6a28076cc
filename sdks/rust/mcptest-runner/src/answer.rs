//! Reading what the binary answers, strictly: every shape is closed, so a field that is not declared, or one that is
//! missing, is contract drift and never a default.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

/// An answer that carries either a result or an error.
pub(crate) enum Answer {
    /// The result.
    Result(Value),
    /// The error.
    Error(RpcError),
}

/// The `error` of an answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) data: Box<Value>,
}

/// Reads one line as the answer to the request `id`; the error says what is wrong with it.
pub(crate) fn read(line: &[u8], id: u64) -> Result<Answer, String> {
    let mut fields: Map<String, Value> = serde_json::from_slice(line).map_err(|error| unreadable(line, &error))?;
    if fields.remove("jsonrpc") != Some(Value::from("2.0")) {
        return Err("`jsonrpc` is not \"2.0\"".to_owned());
    }
    let theirs = fields.remove("id").ok_or("`id` is missing")?;
    let (result, error) = (fields.remove("result"), fields.remove("error"));
    if let Some(name) = fields.keys().next() {
        return Err(format!("unknown field `{name}`"));
    }
    // A line that the binary could not read has no id that it could repeat.
    if theirs != id && !(theirs.is_null() && error.is_some()) {
        return Err(format!("`id` is {theirs}, and {id} was asked"));
    }
    match (result, error) {
        (Some(result), None) => Ok(Answer::Result(result)),
        (None, Some(error)) => typed(error).map(Answer::Error),
        (Some(_), Some(_)) => Err("both `result` and `error`".to_owned()),
        (None, None) => Err("neither `result` nor `error`".to_owned()),
    }
}

/// A value as a closed shape.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Why a line is no object: it is none, or one with a value that goes too deep, or is too great a number, for this SDK.
fn unreadable(line: &[u8], error: &serde_json::Error) -> String {
    if line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok() {
        return format!("JSON that this SDK cannot read: {error}");
    }
    format!("no JSON object: `{}`", excerpt(line))
}

/// The beginning of a line, for a message.
fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 200;
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).trim_end().to_owned();
    if line.len() > SHOWN { format!("{text}…") } else { text }
}
