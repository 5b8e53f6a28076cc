//! The two eras of the protocol: what a config asks for, and the words of the modern one.
//!
//! The legacy era (up to 2025-11-25) begins with `initialize` and keeps a session. The modern era (2026-07-28) has neither:
//! every request says by itself, under `_meta`, which revision it speaks and what its client can do; `server/discover`
//! tells what a server offers; and what a server wants to know of its client comes as a result that asks for input.

use super::lifecycle::{CLIENT_NAME, error_text};
use crate::source::Json;
use serde_json::{Map, json};

/// The revisions of the modern era, oldest first.
pub const MODERN: [&str; 1] = ["2026-07-28"];
/// The key under which a request names its revision.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key under which a request says what its client can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key under which a client names itself.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The key under which a request asks for log messages.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The key under which a server names itself.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The key under which a notification names the `subscriptions/listen` that it belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The extension under which a server makes tasks of calls.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";
/// The errors that only the modern era has: a wrong header, a capability that is missing, a revision that is.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, UNSUPPORTED_VERSION];
const UNSUPPORTED_VERSION: i64 = -32022;

/// An era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `initialize`, sessions, requests of the server.
    Legacy,
    /// Stateless.
    Modern,
}

impl Era {
    /// As configs and reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}

/// What `protocol` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protocol {
    /// The legacy era: this revision, or else the newest.
    Legacy(Option<String>),
    /// The modern era: this revision, or else the newest that both sides speak.
    Modern(Option<String>),
    /// Whatever the server speaks, the modern era first.
    Auto,
}

impl Default for Protocol {
    fn default() -> Protocol {
        Protocol::Legacy(None)
    }
}

impl Protocol {
    /// What a word of a config asks for: an era, `auto`, or a revision.
    pub fn of(word: &str) -> Protocol {
        match word {
            "auto" => Protocol::Auto,
            "legacy" => Protocol::Legacy(None),
            "modern" => Protocol::Modern(None),
            revision if MODERN.contains(&revision) => Protocol::Modern(Some(revision.to_owned())),
            revision => Protocol::Legacy(Some(revision.to_owned())),
        }
    }

    /// The revision that is named.
    pub fn revision(&self) -> Option<&str> {
        match self {
            Protocol::Legacy(revision) | Protocol::Modern(revision) => revision.as_deref(),
            Protocol::Auto => None,
        }
    }

    /// The modern revision to begin with.
    pub fn modern_revision(&self) -> &str {
        match self {
            Protocol::Modern(Some(revision)) => revision,
            _ => MODERN[MODERN.len() - 1],
        }
    }
}

/// The `_meta` of a request in the modern era.
pub fn meta(revision: &str, capabilities: &Json) -> Map<String, Json> {
    let mut meta = Map::new();
    meta.insert(PROTOCOL_VERSION.into(), revision.into());
    meta.insert(CLIENT_CAPABILITIES.into(), capabilities.clone());
    meta.insert(CLIENT_INFO.into(), json!({"name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION")}));
    meta
}

/// Says in a `_meta` that the client can deal with an extension.
pub fn declare_extension(meta: &mut Map<String, Json>, extension: &str) {
    let capabilities = meta.entry(CLIENT_CAPABILITIES).or_insert_with(|| json!({}));
    let Some(capabilities) = capabilities.as_object_mut() else { return };
    if let Some(extensions) = capabilities.entry("extensions").or_insert_with(|| json!({})).as_object_mut() {
        extensions.entry(extension).or_insert_with(|| json!({}));
    }
}

/// Puts the `_meta` of the modern era into the parameters of a request; what they hold already stays as it is.
pub fn add_meta(params: Option<Json>, meta: &Map<String, Json>) -> Json {
    let mut params = params.filter(|params| !params.is_null()).unwrap_or_else(|| json!({}));
    if let Some(params) = params.as_object_mut() {
        let own = params.entry("_meta").or_insert_with(|| json!({}));
        if let Some(own) = own.as_object_mut() {
            for (key, value) in meta {
                own.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    params
}

/// `server/discover`.
pub fn discover(id: &Json, meta: &Map<String, Json>) -> Json {
    json!({"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": {"_meta": meta}})
}

/// What an answer to `server/discover` says.
#[derive(Debug, Clone, PartialEq)]
pub enum Discovered {
    /// The server speaks the modern era.
    Modern {
        /// What it calls itself.
        server_info: Option<Json>,
        /// The revisions it speaks.
        supported: Vec<String>,
        /// Its result, whole.
        result: Json,
    },
    /// It speaks the modern era, but not the revision of the request.
    OtherRevision {
        /// The revisions it speaks.
        supported: Vec<String>,
        /// Its error in a few words.
        why: String,
    },
    /// It refused in a way that only servers of the modern era know.
    Refused(String),
    /// It knows nothing of it.
    Legacy(String),
}

/// Reads the answer to `server/discover`.
pub fn discovered(response: &Json) -> Discovered {
    let texts = |list: Option<&Json>| -> Option<Vec<String>> {
        let texts = list?.as_array()?.iter().filter_map(|text| text.as_str().map(str::to_owned));
        Some(texts.collect())
    };
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        let why = error_text(error);
        return match error.get("code").and_then(Json::as_i64) {
            Some(UNSUPPORTED_VERSION) => {
                let supported = texts(error.pointer("/data/supported")).unwrap_or_default();
                Discovered::OtherRevision { supported, why }
            }
            Some(code) if MODERN_ERRORS.contains(&code) => Discovered::Refused(why),
            _ => Discovered::Legacy(why),
        };
    }
    let result = response.get("result").cloned().unwrap_or_default();
    // A server that answers every method with some result is not one that knows this one.
    let Some(supported) = texts(result.get("supportedVersions")) else {
        return Discovered::Legacy("a result without `supportedVersions`".into());
    };
    let server_info = result.get("_meta").and_then(|meta| meta.get(SERVER_INFO)).or_else(|| result.get("serverInfo"));
    Discovered::Modern { server_info: server_info.cloned(), supported, result }
}

/// The newest modern revision among those that a server speaks.
pub fn common(supported: &[String]) -> Option<&'static str> {
    MODERN.iter().rev().copied().find(|revision| supported.iter().any(|theirs| theirs == revision))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(response: Json) -> Discovered {
        discovered(&response)
    }

    #[test]
    fn only_what_a_modern_server_says_is_modern() {
        let error = |code: i64| json!({"error": {"code": code, "message": "no"}});
        assert_eq!(read(error(-32601)), Discovered::Legacy("-32601 no".into()));
        assert_eq!(read(error(-32602)), Discovered::Legacy("-32602 no".into()));
        assert_eq!(read(error(0)), Discovered::Legacy("0 no".into()));
        assert_eq!(read(error(-32021)), Discovered::Refused("-32021 no".into()));
        assert!(matches!(read(json!({"result": {}})), Discovered::Legacy(_)));
        assert!(matches!(read(json!({"result": null, "error": {"code": -32601}})), Discovered::Legacy(_)));
        let other = json!({"error": {"code": -32022, "message": "no", "data": {"supported": ["2027-01-01", 3]}}});
        let supported = vec!["2027-01-01".to_owned()];
        assert_eq!(read(other), Discovered::OtherRevision { supported, why: "-32022 no".into() });
    }

    #[test]
    fn a_server_names_itself_under_meta() {
        let result = json!({"supportedVersions": ["2026-07-28"], "_meta": {SERVER_INFO: {"name": "a"}}});
        match read(json!({"result": result})) {
            Discovered::Modern { server_info, supported, .. } => {
                assert_eq!(server_info, Some(json!({"name": "a"})));
                assert_eq!(common(&supported), Some("2026-07-28"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_request_says_of_itself_stays() {
        let meta = meta("2026-07-28", &json!({}));
        let params = add_meta(Some(json!({"name": "x", "_meta": {PROTOCOL_VERSION: "1900-01-01", "a": 1}})), &meta);
        assert_eq!(params["_meta"][PROTOCOL_VERSION], "1900-01-01");
        assert_eq!(params["_meta"]["a"], 1);
        assert_eq!(params["_meta"][CLIENT_CAPABILITIES], json!({}));
        assert_eq!(add_meta(None, &meta)["_meta"][PROTOCOL_VERSION], "2026-07-28");
    }
}
