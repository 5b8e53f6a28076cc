//! The envelopes of the channel: one line of JSON-RPC in, one line out.
//!
//! ```text
//! {"jsonrpc":"2.0","id":7,"method":"mcp.call","params":{"tool":"echo"}}
//! {"jsonrpc":"2.0","id":7,"result":{…}}
//! {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"…","data":{…}}}
//! ```
//!
//! Both shapes are closed: a request with any other field is refused. What cannot be read is refused with the id that it
//! carries, where it carries one, and `null` otherwise; the session goes on.

use crate::reporter::text::cut_middle;
use crate::source::Json;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Not JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// JSON, but no request.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// No method of that name.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// Params that the method does not take.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// The engine could not do its own part: a file, a cassette, an upload.
pub(super) const INTERNAL_ERROR: i64 = -32603;
/// The server under test answered with an error, or not as it should.
pub(super) const UPSTREAM_ERROR: i64 = -32000;
/// There is no server under test to talk to: it did not start, or it is gone.
pub(super) const UPSTREAM_GONE: i64 = -32001;

/// How much of a number a message shows.
const MOST_DIGITS: usize = 40;
/// The fields of a request.
const FIELDS: [&str; 4] = ["jsonrpc", "id", "method", "params"];

/// A request, as it stands in its line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request<'a> {
    #[serde(borrow)]
    jsonrpc: Cow<'a, str>,
    /// Echoed in the answer exactly as it was written.
    #[serde(borrow)]
    pub(super) id: &'a RawValue,
    /// What is asked.
    #[serde(borrow)]
    pub(super) method: Cow<'a, str>,
    /// With what.
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) struct Refusal {
    /// One of the codes above.
    pub(super) code: i64,
    /// In one sentence.
    pub(super) message: String,
    /// What a program can use.
    pub(super) data: Option<Box<Json>>,
}

/// The text of a result.
pub(super) type Reply = Result<String, Refusal>;

impl Refusal {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), data: None }
    }

    pub(super) fn with(self, data: Json) -> Refusal {
        Refusal { data: Some(data.into()), ..self }
    }

    /// The params of a method are not what it takes.
    pub(super) fn params(message: impl Into<String>) -> Refusal {
        Refusal::new(INVALID_PARAMS, message)
    }

    /// The engine failed at its own part.
    pub(super) fn internal(message: impl Into<String>) -> Refusal {
        Refusal::new(INTERNAL_ERROR, message)
    }
}

impl<'a> Request<'a> {
    /// Reads a line; a refusal comes with the text of the id to answer to.
    pub(super) fn read(line: &'a [u8]) -> Result<Request<'a>, (String, Refusal)> {
        let unreadable = |why: String| ("null".to_owned(), Refusal::new(PARSE_ERROR, why));
        let text = std::str::from_utf8(line).map_err(|_| unreadable("the line is not UTF-8".into()))?;
        match serde_json::from_str::<Request<'_>>(text) {
            // A list of as many values would be read as the fields in their order.
            Ok(_) if !text.trim_start().starts_with('{') => Err(refuse(text, "")),
            Ok(request) if request.jsonrpc == "2.0" && is_id(request.id.get()) => Ok(request),
            Ok(_) => Err(refuse(text, "")),
            Err(error) => match serde_json::from_str::<IgnoredAny>(text) {
                Err(error) => Err(unreadable(format!("the line is not JSON: {error}"))),
                Ok(_) => Err(refuse(text, &plain(&error))),
            },
        }
    }

    /// Refuses whole numbers that would change on their way: nothing here holds more than 64 bits.
    pub(super) fn refuse_long_integers(&self) -> Result<(), Refusal> {
        match self.params.and_then(|params| long_integer(params.get())) {
            Some(number) => Err(Refusal::params(format!(
                "the params of `{}` hold the number {}, which has more than 64 bits and would change on its way; \
                 pass it as a text",
                self.method,
                cut_middle(number, MOST_DIGITS)
            ))),
            None => Ok(()),
        }
    }

    /// The params, as the method takes them: an object with no field but its own; none is an empty one.
    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let text = self.params.map_or("{}", |params| params.get());
        if !text.starts_with('{') {
            return Err(Refusal::params(format!("the params of `{}` are an object", self.method)));
        }
        serde_json::from_str(text)
            .map_err(|error| Refusal::params(format!("the params of `{}`: {}", self.method, plain(&error))))
    }
}

/// The one field of a request that a refusal needs.
#[derive(Deserialize)]
struct Addressed<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// JSON, but no request: says why, and whom it may be answered to.
fn refuse(text: &str, otherwise: &str) -> (String, Refusal) {
    let value: Json = match serde_json::from_str(text) {
        Ok(value) => value,
        // JSON as its grammar goes, and nothing that can be held: half a character, or nested too deep.
        Err(error) => {
            let id = serde_json::from_str::<Addressed<'_>>(text).ok().and_then(|addressed| addressed.id);
            let id = id.map(|id| id.get().to_owned()).filter(|id| is_id(id));
            let why = format!("the request cannot be read: {}", plain(&error));
            return (id.unwrap_or_else(|| "null".into()), Refusal::new(INVALID_REQUEST, why));
        }
    };
    let id = value.get("id").map(Json::to_string).filter(|id| is_id(id));
    let why = match &value {
        Json::Object(fields) => match fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            Some(key) => format!("a request has no field `{key}`, only `jsonrpc`, `id`, `method` and `params`"),
            None if value["jsonrpc"] != "2.0" => "`jsonrpc` must be \"2.0\"".into(),
            None if id.is_none() => "a request has an `id`, a number or a text".into(),
            None if !value["method"].is_string() => "a request has a `method`, a text".into(),
            None => otherwise.to_owned(),
        },
        Json::Array(_) => "a batch is no request: one request a line".into(),
        _ => "a request is a JSON object".into(),
    };
    (id.unwrap_or_else(|| "null".into()), Refusal::new(INVALID_REQUEST, why))
}

/// The first whole number of a JSON text that does not fit into 64 bits.
fn long_integer(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                at += bytes[at..].iter().take_while(|byte| b"+-.0123456789Ee".contains(byte)).count();
                let number = &text[start..at];
                let fits = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
                if !fits && !number.contains(['.', 'e', 'E']) {
                    return Some(number);
                }
            }
            _ => at += 1,
        }
    }
    None
}

fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// What serde says, without the column of a line that nobody sees and without the names of Rust's types.
pub(super) fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
    let text =
        text.replace("expected u64", "expected a whole number").replace("invalid type: sequence", "invalid type: list");
    match text.split_once("expected struct ").or(text.split_once("expected a map")) {
        Some((what, _)) => format!("{what}expected an object"),
        None => text,
    }
}

/// The line that answers a request.
pub(super) fn response(id: &str, reply: &Reply) -> String {
    match reply {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"),
        Err(Refusal { code, message, data }) => {
            let data = data.as_ref().map(|data| format!(",\"data\":{data}")).unwrap_or_default();
            let message = Json::from(message.as_str());
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}{data}}}}}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> (String, i64, String) {
        let (id, refusal) = Request::read(line.as_bytes()).expect_err(line);
        (id, refusal.code, refusal.message)
    }

    #[test]
    fn the_envelope_is_closed() {
        let request = Request::read(br#"{"jsonrpc":"2.0","id":1.0,"method":"mcp.call","params":null}"#).unwrap();
        assert_eq!((request.id.get(), &*request.method, request.params.is_none()), ("1.0", "mcp.call", true));
        for (line, id, code, why) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","extra":1}"#, "1", INVALID_REQUEST, "no field `extra`"),
            (r#"{"jsonrpc":"2.0","id":"x","method":7}"#, "\"x\"", INVALID_REQUEST, "`method`, a text"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "1", INVALID_REQUEST, "must be \"2.0\""),
            (r#"{"id":1,"method":"a"}"#, "1", INVALID_REQUEST, "must be \"2.0\""),
            (r#"{"jsonrpc":"2.0","method":"a"}"#, "null", INVALID_REQUEST, "an `id`"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "null", INVALID_REQUEST, "an `id`"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, "null", INVALID_REQUEST, "an `id`"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, "2", INVALID_REQUEST, "duplicate field `id`"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"a\ud800"}"#, "7", INVALID_REQUEST, "cannot be read: "),
            ("[]", "null", INVALID_REQUEST, "a batch"),
            (r#" ["2.0", 1, "mcp.shutdown", {}]"#, "null", INVALID_REQUEST, "a batch"),
            ("7", "null", INVALID_REQUEST, "a JSON object"),
            ("", "null", PARSE_ERROR, "not JSON"),
            (r#"{"extra":1,"jsonrpc""#, "null", PARSE_ERROR, "not JSON"),
        ] {
            let (found_id, found_code, message) = refused(line);
            assert_eq!((found_id.as_str(), found_code), (id, code), "{line}");
            assert!(message.contains(why), "{line}: {message}");
        }
        assert_eq!(Request::read(b"\"\xff\"").unwrap_err().1.code, PARSE_ERROR);
    }

    #[test]
    fn whole_numbers_that_would_change_are_found() {
        for fits in
            ["18446744073709551615", "-9223372036854775808", "[1e400, 1.5, -0, 0]", r#"{"1\"99999999999999999999":1}"#]
        {
            assert_eq!(long_integer(fits), None, "{fits}");
        }
        for long in ["18446744073709551616", "-9223372036854775809"] {
            assert_eq!(long_integer(long), Some(long));
            assert_eq!(long_integer(&format!(r#"{{"a": ["\\", {long}]}}"#)), Some(long));
        }
    }

    #[test]
    fn params_are_closed_too() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct One {
            #[expect(dead_code, reason = "only its shape is of interest")]
            tool: String,
        }
        let read = |params: &str| {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
            Request::read(line.as_bytes()).unwrap().params::<One>().map_err(|refusal| refusal.message)
        };
        assert!(read(r#"{"tool":"a"}"#).is_ok());
        assert_eq!(read(r#"["a"]"#).unwrap_err(), "the params of `m` are an object");
        assert_eq!(
            read(r#"{"tool":1}"#).unwrap_err(),
            "the params of `m`: invalid type: integer `1`, expected a string"
        );
        assert_eq!(read("{}").unwrap_err(), "the params of `m`: missing field `tool`");
        let number = serde_json::from_str::<u64>("true").unwrap_err();
        assert_eq!(plain(&number), "invalid type: boolean `true`, expected a whole number");
        assert_eq!(read(r#"{"tool":"a","b":1}"#).unwrap_err(), "the params of `m`: unknown field `b`, expected `tool`");
    }
}
