//! Asks a server for everything that it has, and tries it.

use super::{Call, Item, Kind, Survey, TMP, Tried};
use crate::mcp::connection::{Connection, Witness};
use crate::mcp::fault::{Code, Fault};
use crate::mcp::instance::instance;
use crate::mcp::lifecycle::{self, Introduction};
use crate::mcp::message::Kind as Message;
use crate::mcp::mirror;
use crate::mcp::uri_template;
use crate::source::Json;
use serde_json::{Map, json};
use std::collections::HashSet;
use std::time::Duration;

/// How many pages a list may have.
const MOST_PAGES: usize = 1000;
/// How long a list is waited for that the server does not say it has.
const UNDECLARED: Duration = Duration::from_secs(5);
/// A server without a list answers so.
const METHOD_NOT_FOUND: i64 = -32601;
/// Why a tool that may change something is not called.
pub const REVIEW: &str = "review the arguments first";

/// How to ask.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which tools are called.
    pub call: Call,
    /// How long a request may take.
    pub timeout: Duration,
    /// The value of `${tmp}` in this session.
    pub tmp: String,
}

/// Asks for everything, and tries it.
pub async fn survey(
    connection: &mut Connection,
    introduction: Introduction,
    options: &Options,
    witness: &mut dyn Witness,
) -> Result<Survey, Fault> {
    let mut survey = list(connection, introduction, options, witness).await?;
    attempt(connection, &mut survey, options, witness).await;
    Ok(survey)
}

/// Asks for everything that there is; nothing is tried yet.
pub async fn list(
    connection: &mut Connection,
    introduction: Introduction,
    options: &Options,
    witness: &mut dyn Witness,
) -> Result<Survey, Fault> {
    let mut asking = Asking { connection, options, witness, gone: None };
    let (mut items, mut unlisted) = (Vec::new(), Vec::new());
    for (kind, method, key, read) in LISTS {
        let capability = method.split('/').next().unwrap_or_default();
        let declared = introduction.result.pointer(&format!("/capabilities/{capability}")).is_some();
        let patience = if declared { options.timeout } else { options.timeout.min(UNDECLARED) };
        let (listed, trouble) = asking.list(method, key, patience).await?;
        items.extend(listed.iter().filter_map(read));
        // What a server never said that it has may be missing.
        let trouble = trouble.filter(|_| declared);
        unlisted.extend(trouble.map(|why| (kind, format!("`{method}` did not come to its end: {why}"))));
    }
    if connection.modern().is_some() && connection.transport.http().is_some() {
        // A client must not use a tool whose headers it cannot make.
        for tool in items.iter_mut().filter(|item| item.kind == Kind::Tool) {
            tool.tried = mirror::parameters(&tool.schema).err().map_or_else(untried, Tried::Not);
        }
    }
    let Introduction { server_info, protocol_version, .. } = introduction;
    Ok(Survey { server_info, protocol_version, items, unlisted })
}

/// Tries everything that may be tried.
pub async fn attempt(connection: &mut Connection, survey: &mut Survey, options: &Options, witness: &mut dyn Witness) {
    let mut asking = Asking { connection, options, witness, gone: None };
    for item in &mut survey.items {
        item.tried = asking.attempt(item).await;
    }
}

/// Tries again what changes nothing, in another session: what stays the same there can be expected.
pub async fn again(connection: &mut Connection, survey: &mut Survey, options: &Options, witness: &mut dyn Witness) {
    let mut asking = Asking { connection, options, witness, gone: None };
    for item in survey.items.iter_mut().filter(|item| item.harmless) {
        if let Tried::Result(_, None) = item.tried
            && asking.gone.is_none()
            && let Tried::Result(second, None) = asking.once(item).await
            && let Tried::Result(_, again) = &mut item.tried
        {
            *again = Some(second);
        }
    }
}

type Read = fn(&Json) -> Option<Item>;

/// What is listed, in the order of the suite.
const LISTS: [(Kind, &str, &str, Read); 4] = [
    (Kind::Tool, "tools/list", "tools", tool),
    (Kind::Resource, "resources/list", "resources", resource),
    (Kind::Template, "resources/templates/list", "resourceTemplates", template),
    (Kind::Prompt, "prompts/list", "prompts", prompt),
];

struct Asking<'a> {
    connection: &'a mut Connection,
    options: &'a Options,
    witness: &'a mut dyn Witness,
    /// Why nothing more can be asked.
    gone: Option<String>,
}

impl Asking<'_> {
    /// Every page of a list, and why there may be more of it; a server that does not know the list has nothing in it.
    async fn list(
        &mut self,
        method: &str,
        key: &str,
        patience: Duration,
    ) -> Result<(Vec<Json>, Option<String>), Fault> {
        let (mut all, mut cursors, mut cursor) = (Vec::new(), HashSet::new(), None::<String>);
        loop {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let mut result = match self.ask(method, params, patience).await {
                Ok(Ok(result)) => result,
                Ok(Err(error)) => {
                    let unknown = error.get("code").and_then(Json::as_i64) == Some(METHOD_NOT_FOUND);
                    return Ok((all, (!unknown).then(|| lifecycle::error_text(&error))));
                }
                Err(fault) if survives(&fault) => return Ok((all, Some(fault.message))),
                Err(fault) => return Err(fault),
            };
            match result.get_mut(key).map(Json::take) {
                Some(Json::Array(items)) => all.extend(items),
                _ => return Ok((all, Some(format!("the result has no list of `{key}`")))),
            }
            cursor = result.get("nextCursor").and_then(Json::as_str).map(str::to_owned);
            let Some(next) = &cursor else { return Ok((all, None)) };
            if !cursors.insert(next.clone()) || cursors.len() > MOST_PAGES {
                return Ok((all, Some(format!("the cursor `{next}` came twice"))));
            }
        }
    }

    /// A result, or an error of the server.
    async fn ask(&mut self, method: &str, params: Json, patience: Duration) -> Result<Result<Json, Json>, Fault> {
        let answer = self.connection.request(method, Some(params), patience, self.witness).await?;
        let body = answer.body().map_err(|malformed| {
            Fault::new(Code::MalformedResponse, format!("the answer to `{method}` cannot be read: {malformed}"))
        })?;
        Ok(match answer.kind {
            Message::Response { is_error: false, .. } => Ok(body),
            _ => Err(body),
        })
    }

    async fn attempt(&mut self, item: &Item) -> Tried {
        let wanted = match (item.kind, self.options.call) {
            (Kind::Tool, Call::None) => false,
            (Kind::Tool, Call::ReadOnly) => item.harmless,
            (Kind::Tool, Call::All) => !item.task,
            _ => true,
        };
        if let Tried::Not(why) = &item.tried
            && !why.is_empty()
        {
            return item.tried.clone();
        }
        match &self.gone {
            _ if !wanted => Tried::Not(REVIEW.to_owned()),
            Some(gone) => Tried::Not(gone.clone()),
            None => self.once(item).await,
        }
    }

    async fn once(&mut self, item: &Item) -> Tried {
        let (method, params) = match item.kind {
            Kind::Tool => ("tools/call", json!({"name": item.name, "arguments": item.args})),
            // Some servers refuse a call without `arguments` even where all of them may be left out.
            Kind::Prompt if item.args.is_null() => ("prompts/get", json!({"name": item.name})),
            Kind::Prompt => ("prompts/get", json!({"name": item.name, "arguments": item.args})),
            Kind::Resource => ("resources/read", json!({"uri": item.name})),
            Kind::Template => ("resources/read", json!({"uri": uri_template::expand(&item.name, &item.args)})),
        };
        match self.ask(method, params, self.options.timeout).await {
            Ok(Ok(result)) => Tried::Result(without_tmp(result, &self.options.tmp), None),
            Ok(Err(error)) => Tried::Error(without_tmp(error, &self.options.tmp)),
            Err(fault) => {
                if !survives(&fault) {
                    self.gone = Some(format!("not tried: the server was gone after `{}`", item.name));
                }
                Tried::Not(format!("when it was tried, {}", fault.message))
            }
        }
    }
}

/// Whether a server that failed like this can be asked something else.
fn survives(fault: &Fault) -> bool {
    matches!(fault.code, Code::Timeout | Code::MalformedResponse | Code::HttpError)
}

/// The value with a mark in place of the folder that only this session has.
fn without_tmp(value: Json, tmp: &str) -> Json {
    match value {
        Json::String(text) if !tmp.is_empty() => Json::String(text.replace(tmp, TMP)),
        Json::Array(items) => items.into_iter().map(|item| without_tmp(item, tmp)).collect(),
        Json::Object(members) => {
            let members = members.into_iter().map(|(key, value)| (key, without_tmp(value, tmp)));
            Json::Object(members.collect())
        }
        other => other,
    }
}

fn untried() -> Tried {
    Tried::Not(String::new())
}

fn text(value: &Json, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn tool(tool: &Json) -> Option<Item> {
    let schema = tool.get("inputSchema").cloned().unwrap_or_else(|| json!({"type": "object"}));
    let args = instance(&schema);
    let read_only = tool.pointer("/annotations/readOnlyHint").is_some_and(|hint| hint == true);
    let task = tool.pointer("/execution/taskSupport").is_some_and(|support| support == "required");
    Some(Item {
        kind: Kind::Tool,
        name: text(tool, "name")?,
        about: text(tool, "description").or_else(|| text(tool, "title")),
        args: if args.is_object() { args } else { json!({}) },
        task,
        harmless: read_only && !task,
        tried: untried(),
        schema,
    })
}

fn resource(resource: &Json) -> Option<Item> {
    let about = text(resource, "description").or_else(|| text(resource, "title")).or_else(|| text(resource, "name"));
    Some(Item {
        kind: Kind::Resource,
        name: text(resource, "uri")?,
        about,
        schema: Json::Null,
        args: json!({}),
        task: false,
        harmless: true,
        tried: untried(),
    })
}

fn template(template: &Json) -> Option<Item> {
    let name = text(template, "uriTemplate")?;
    let properties: Map<String, Json> =
        uri_template::variables(&name).into_iter().map(|name| (name.to_owned(), json!({"type": "string"}))).collect();
    let required: Vec<&String> = properties.keys().collect();
    let args = instance(&json!({"type": "object", "required": required, "properties": properties}));
    let about = text(template, "description").or_else(|| text(template, "title")).or_else(|| text(template, "name"));
    Some(Item {
        kind: Kind::Template,
        name,
        about,
        schema: Json::Null,
        args,
        task: false,
        harmless: true,
        tried: untried(),
    })
}

fn prompt(prompt: &Json) -> Option<Item> {
    let arguments = prompt.get("arguments").and_then(Json::as_array).cloned().unwrap_or_default();
    let required =
        arguments.iter().filter(|argument| argument.get("required").is_some_and(|required| required == true));
    let names: Vec<String> = required.filter_map(|argument| text(argument, "name")).collect();
    let properties: Map<String, Json> = names.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    Some(Item {
        kind: Kind::Prompt,
        name: text(prompt, "name")?,
        about: text(prompt, "description").or_else(|| text(prompt, "title")),
        schema: Json::Null,
        args: match arguments.is_empty() {
            true => Json::Null,
            false => instance(&json!({"type": "object", "required": names, "properties": properties})),
        },
        task: false,
        harmless: true,
        tried: untried(),
    })
}
