//! What a step sends: its action as one line of JSON-RPC, and what is awaited after it.

use crate::mcp::uri_template;
use crate::source::{Json, Kind, Node};
use crate::suite::{Action, Listing, Reference, Task};
use serde::Serialize;
use serde_json::json;

/// A line to send.
#[derive(Debug)]
pub(super) struct Line {
    /// The bytes, with the end of the line where one belongs.
    pub(super) bytes: Vec<u8>,
    /// What comes back.
    pub(super) awaits: Awaits,
    /// The method, for messages.
    pub(super) method: Option<String>,
}

/// What is awaited after a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Awaits {
    /// Nothing comes back.
    Nothing,
    /// The answer with this id.
    Answer {
        /// The id.
        id: Json,
        /// The line is no proper request, so that an answer with `id: null` is its answer too.
        or_null: bool,
    },
    /// Whatever answer comes: the line has no id.
    AnyAnswer,
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: &'a Json,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

#[derive(Default, Serialize)]
struct Params<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a Node>,
}

/// The line of an action; `fresh` gives an id that no suite uses. `None` for actions that send nothing.
pub(super) fn line(
    action: &Action,
    meta: Option<&Node>,
    task: Option<&Task>,
    fresh: &mut dyn FnMut() -> Json,
) -> Option<Line> {
    let empty = Node::new(Kind::Map(Vec::new()), Default::default());
    let none = Params { meta, ..Params::default() };
    let typed = |method: &str, params: Params<'_>, id: Json| request(method, Some(params), id);
    Some(match action {
        Action::Request(node) => written(node, meta, true, fresh),
        Action::Notify(node) => written(node, meta, false, fresh),
        Action::Raw(node) => {
            let text = crate::suite::template::text_of(node);
            let awaits = raw_awaits(&text);
            Line { bytes: format!("{text}\n").into_bytes(), awaits, method: None }
        }
        Action::Bytes(bytes) => Line { bytes: bytes.clone(), awaits: Awaits::AnyAnswer, method: None },
        Action::Tool { name, args } => {
            let arguments = Some(args.as_ref().unwrap_or(&empty));
            let task = task.map(|task| match task.ttl {
                Some(ttl) => json!({"ttl": ttl.as_millis() as u64}),
                None => json!({}),
            });
            typed("tools/call", Params { name: Some(name), arguments, task, ..none }, fresh())
        }
        Action::Read(uri) => typed("resources/read", Params { uri: Some(uri), ..none }, fresh()),
        Action::Template { template, args } => {
            let values = args.as_ref().map_or(Json::Null, Node::to_json);
            let uri = uri_template::expand(&crate::suite::template::text_of(template), &values);
            let uri = Node::new(Kind::String(uri), template.span);
            typed("resources/read", Params { uri: Some(&uri), ..none }, fresh())
        }
        Action::Subscribe(uri) => typed("resources/subscribe", Params { uri: Some(uri), ..none }, fresh()),
        Action::Unsubscribe(uri) => typed("resources/unsubscribe", Params { uri: Some(uri), ..none }, fresh()),
        Action::LogLevel(level) => typed("logging/setLevel", Params { level: Some(level), ..none }, fresh()),
        Action::Prompt { name, args } => {
            typed("prompts/get", Params { name: Some(name), arguments: args.as_ref(), ..none }, fresh())
        }
        Action::Complete { .. } => request("completion/complete", Some(completion(action, meta)), fresh()),
        Action::List(listing) => page(*listing, None, meta, fresh()),
        Action::Ping => request("ping", meta.is_some().then_some(none), fresh()),
        Action::Wait(_) | Action::Close(_) => return None,
    })
}

/// One page of a listing.
pub(super) fn page(listing: Listing, cursor: Option<&str>, meta: Option<&Node>, id: Json) -> Line {
    request(listing.method(), Some(Params { cursor, meta, ..Params::default() }), id)
}

/// A request about a task.
pub(super) fn of_task(method: &str, task: &str, id: Json) -> Line {
    request(method, Some(json!({"taskId": task})), id)
}

/// A request with these parameters.
pub(super) fn composed(method: &str, params: &Json, id: Json) -> Line {
    request(method, Some(params), id)
}

/// `_meta` with what the step writes over what the session says.
pub(super) fn meta_node(own: &serde_json::Map<String, Json>, written: Option<&Node>) -> Node {
    let mut members = own.clone();
    if let Some(Json::Object(written)) = written.map(Node::to_json) {
        members.extend(written);
    }
    Node::new(Kind::Literal(Json::Object(members)), Default::default())
}

fn request<P: Serialize>(method: &str, params: Option<P>, id: Json) -> Line {
    let envelope = Request { jsonrpc: "2.0", id: &id, method, params };
    let mut bytes = serde_json::to_vec(&envelope).unwrap_or_default();
    bytes.push(b'\n');
    Line { bytes, awaits: Awaits::Answer { id, or_null: false }, method: Some(method.to_owned()) }
}

/// A message as the suite writes it; what it leaves out of the envelope is filled in.
fn written(node: &Node, meta: Option<&Node>, is_request: bool, fresh: &mut dyn FnMut() -> Json) -> Line {
    let mut value = node.to_json();
    let awaits = match &mut value {
        Json::Object(map) => {
            let proper = map.get("method").is_some_and(Json::is_string);
            let mut whole = serde_json::Map::new();
            if !map.contains_key("jsonrpc") {
                whole.insert("jsonrpc".into(), "2.0".into());
            }
            if is_request && !map.contains_key("id") {
                whole.insert("id".into(), fresh());
            }
            whole.append(map);
            *map = whole;
            if let Some(meta) = meta {
                let params = map.entry("params").or_insert_with(|| json!({}));
                if let Some(params) = params.as_object_mut() {
                    put_meta(params, meta.to_json());
                }
            }
            let strict = proper && map.get("jsonrpc").is_some_and(|version| version == "2.0");
            match map.get("id") {
                _ if !is_request => Awaits::Nothing,
                Some(id) => Awaits::Answer { id: id.clone(), or_null: !strict || !(id.is_string() || id.is_number()) },
                None => Awaits::AnyAnswer,
            }
        }
        _ if is_request => Awaits::AnyAnswer,
        _ => Awaits::Nothing,
    };
    let method = value.get("method").and_then(Json::as_str).map(str::to_owned);
    let mut bytes = serde_json::to_vec(&value).unwrap_or_default();
    bytes.push(b'\n');
    Line { bytes, awaits, method }
}

/// Puts `meta` over the `_meta` that is written in the params.
fn put_meta(params: &mut serde_json::Map<String, Json>, meta: Json) {
    match (params.get_mut("_meta"), meta) {
        (Some(Json::Object(written)), Json::Object(more)) => written.extend(more),
        (_, meta) => drop(params.insert("_meta".into(), meta)),
    }
}

/// The progress token that an action sends, in `meta` or in the params that it writes itself.
pub(super) fn progress_token(action: &Action, meta: Option<&Node>) -> Option<Json> {
    let written = match action {
        Action::Request(node) => node.get("params").and_then(|params| params.get("_meta")),
        _ => None,
    };
    [meta, written].into_iter().flatten().find_map(|meta| meta.to_json().get("progressToken").cloned())
}

/// `meta` with a progress token.
pub(super) fn with_token(meta: Option<&Node>, token: Json) -> Node {
    let mut members = meta.map_or_else(|| json!({}), Node::to_json);
    members["progressToken"] = token;
    Node::new(Kind::Literal(members), Default::default())
}

fn raw_awaits(text: &str) -> Awaits {
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Object(map)) => match map.get("id") {
            Some(id) => Awaits::Answer { id: id.clone(), or_null: true },
            None => Awaits::AnyAnswer,
        },
        _ => Awaits::AnyAnswer,
    }
}

fn completion(action: &Action, meta: Option<&Node>) -> Json {
    let Action::Complete { reference, argument, value, context } = action else { return Json::Null };
    let reference = match reference {
        Reference::Prompt(name) => json!({"type": "ref/prompt", "name": name.to_json()}),
        Reference::Template(uri) => json!({"type": "ref/resource", "uri": uri.to_json()}),
    };
    let mut params = json!({"ref": reference, "argument": {"name": argument.to_json(), "value": value.to_json()}});
    if let Some(context) = context {
        let context = context.to_json();
        params["context"] = if context.get("arguments").is_some() { context } else { json!({"arguments": context}) };
    }
    if let Some(meta) = meta {
        params["_meta"] = meta.to_json();
    }
    params
}

impl Listing {
    /// The method that lists them.
    pub(super) fn method(self) -> &'static str {
        match self {
            Listing::Tools => "tools/list",
            Listing::Resources => "resources/list",
            Listing::Templates => "resources/templates/list",
            Listing::Prompts => "prompts/list",
            Listing::Tasks => "tasks/list",
        }
    }

    /// The key of the result that holds them.
    pub(super) fn key(self) -> &'static str {
        match self {
            Listing::Tools => "tools",
            Listing::Resources => "resources",
            Listing::Templates => "resourceTemplates",
            Listing::Prompts => "prompts",
            Listing::Tasks => "tasks",
        }
    }
}
