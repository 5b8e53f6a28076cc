//! The outer object of a message: read in one pass, its body skipped over, and judged by the rules of JSON-RPC 2.0.

use super::{Kind, MAX_DEPTH, Malformed};
use crate::source::Json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The members of the outer object, as text.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    twice: bool,
}

#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

type Classified<'a> = (Kind, Option<&'a RawValue>);

impl<'a> Envelope<'a> {
    /// What the message is, and which of its members is the body.
    pub(super) fn classify(&self, notes: &mut Vec<String>) -> Classified<'a> {
        match self.jsonrpc.map(RawValue::get) {
            Some(r#""2.0""#) => {}
            Some(other) => notes.push(format!("`jsonrpc` is `{}`, not `\"2.0\"`", shortened(other))),
            None => notes.push("without `jsonrpc`".to_owned()),
        }
        if self.twice {
            notes.push("a key of the message is there twice; the last one counts".to_owned());
        }
        let id = match self.id.map(|id| json(id.get())).transpose() {
            Ok(id) => id,
            Err(error) => return (Kind::Invalid { id: None, why: format!("its `id` cannot be read: {error}") }, None),
        };
        if let Some(odd) = id.as_ref().filter(|id| !matches!(id, Json::Null | Json::String(_) | Json::Number(_))) {
            notes.push(format!("its `id` is `{}`, neither a string nor a number", shortened(&odd.to_string())));
        }
        let invalid = |why: &str| (Kind::Invalid { id: id.clone(), why: why.to_owned() }, None);
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => self.call(method, id),
            (Some(_), _, _) => invalid("both a call and an answer: `method` beside `result` or `error`"),
            (None, None, None) => invalid("neither `method` nor `result` nor `error`"),
            (None, Some(result), None) => match id {
                None => invalid("a `result` without `id`"),
                Some(id) => (Kind::Response { id, is_error: false }, Some(result)),
            },
            (None, None, Some(error)) => {
                if id.is_none() {
                    notes.push("an `error` without `id`".to_owned());
                }
                (Kind::Response { id: id.unwrap_or_default(), is_error: true }, Some(error))
            }
            (None, Some(result), Some(error)) => match (id, result.get(), error.get()) {
                (Some(id), result_text, "null") if result_text != "null" => {
                    notes.push("`error: null` beside a `result`".to_owned());
                    (Kind::Response { id, is_error: false }, Some(result))
                }
                (id, "null", error_text) if error_text != "null" => {
                    notes.push("`result: null` beside an `error`".to_owned());
                    (Kind::Response { id: id.unwrap_or_default(), is_error: true }, Some(error))
                }
                (id, _, _) => (Kind::Invalid { id, why: "both `result` and `error`".to_owned() }, None),
            },
        }
    }

    fn call(&self, method: &RawValue, id: Option<Json>) -> Classified<'a> {
        match (serde_json::from_str::<String>(method.get()), id) {
            (Ok(method), Some(id)) => (Kind::Request { id, method }, self.params),
            (Ok(method), None) => (Kind::Notification { method }, self.params),
            (Err(_), id) => (Kind::Invalid { id, why: "its `method` is not a string".to_owned() }, None),
        }
    }
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key::<Key>()? {
                    let value = map.next_value::<&RawValue>()?;
                    let member = match key {
                        Key::Jsonrpc => &mut envelope.jsonrpc,
                        Key::Id => &mut envelope.id,
                        Key::Method => &mut envelope.method,
                        Key::Params => &mut envelope.params,
                        Key::Result => &mut envelope.result,
                        Key::Error => &mut envelope.error,
                        Key::Other => continue,
                    };
                    envelope.twice |= member.replace(value).is_some();
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The value of a text that is known to be JSON, or why it cannot be held.
pub(super) fn json(text: &str) -> Result<Json, Malformed> {
    serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        let why = match why.split(" at line ").next() {
            Some("recursion limit exceeded") => format!("nested deeper than {MAX_DEPTH} levels"),
            Some(reason) => reason.to_owned(),
            None => why,
        };
        Malformed { why }
    })
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_owned() } else { text.chars().take(39).chain(['…']).collect() }
}
