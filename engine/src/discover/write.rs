//! The suite's text.

use super::value::{expectation, literal};
use super::yaml::{comment, entry, flow, scalar};
use super::{Item, Kind, Survey, TMP, Tried};
use crate::event::redact::Redactor;
use crate::mcp::era::MODERN;
use crate::source::Json;
use crate::suite::environment::Environment;
use serde_json::json;

/// Texts longer than this are not expected word by word.
const MOST_TEXT: usize = 2000;

/// What the text says beside what was found.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The command that runs it.
    pub command: &'a str,
    /// The value of `server`, when the suite names one.
    pub server: Option<Json>,
    /// The value of `respond`, when the server was answered.
    pub respond: Option<Json>,
    /// Whether answers are expected as they came.
    pub capture: bool,
    /// Hides what must not be written down.
    pub redactor: &'a Redactor,
    /// The environment that the server inherits: an answer that tells it is not written down.
    pub environment: &'a Environment,
}

/// How many variables an answer may tell, name and value, before it counts as telling the environment.
const MOST_VARIABLES: usize = 2;

impl Frame<'_> {
    /// The value without secrets.
    fn public(&self, value: &Json) -> Json {
        let mut shown = value.clone();
        self.redactor.json(&mut shown);
        shown
    }

    /// Whether what an item is called by, or called with, holds a secret.
    fn hides(&self, item: &Item) -> bool {
        *self.redactor.text(&item.name) != *item.name || self.public(&item.args) != item.args
    }

    /// Whether a value must not be written down.
    fn is_private(&self, value: &Json) -> bool {
        if self.public(value) != *value {
            return true;
        }
        let text = value.to_string();
        let told = |name: &&str| {
            self.environment.get(name).is_some_and(|value| value.len() >= 4 && text.contains(value))
                && text.contains(name)
        };
        self.environment.names().filter(told).count() > MOST_VARIABLES
    }
}

/// The suite.
pub fn suite(survey: &Survey, frame: &Frame<'_>) -> String {
    let info = |key: &str| survey.server_info.as_ref().and_then(|info| info.get(key)?.as_str());
    let name = info("title").or(info("name")).unwrap_or("A server");
    let description = match info("version") {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    };
    let mut text = String::from(
        "# A first suite, written by `mcptest discover` from what the server says and does. It is yours now: keep what is\n\
         # useful, put in arguments that mean something, and say more about what must come back.\n",
    );
    text.push_str(&format!("#\n#   {}\n\n", frame.command));
    text.push_str(&entry(0, "description", &Json::String(frame.redactor.text(&description).into_owned())));
    if let Some(server) = &frame.server {
        let shown = frame.public(server);
        if shown != *server {
            text.push_str("# What is redacted here was secret: a variable of the environment can take its place.\n");
        }
        text.push_str(&entry(0, "server", &shown));
    }
    if let Some(respond) = &frame.respond {
        text.push_str("# What the server is told when it asks for a model, the user or folders.\n");
        text.push_str(&entry(0, "respond", respond));
    }
    for (_, why) in &survey.unlisted {
        text.push_str(&format!("\n{}", comment(0, &frame.redactor.text(&format!("Something is missing here: {why}")))));
    }
    let mut any = false;
    for (lane, kinds) in
        [("tools", &[Kind::Tool][..]), ("resources", &[Kind::Resource, Kind::Template]), ("prompts", &[Kind::Prompt])]
    {
        let items: Vec<&Item> = survey.items.iter().filter(|item| kinds.contains(&item.kind)).collect();
        if items.is_empty() {
            continue;
        }
        any = true;
        text.push_str(&format!("\n{lane}:\n"));
        for kind in kinds {
            let whole = !survey.unlisted.iter().any(|(unlisted, _)| unlisted == kind);
            let told = |item: &&&Item| *frame.redactor.text(&item.name) == *item.name;
            let told: Vec<&Item> = items.iter().filter(told).copied().collect();
            text.push_str(&listing(*kind, &told, whole));
        }
        items.iter().for_each(|item| text.push_str(&test(item, frame)));
    }
    if !any {
        let modern = survey.protocol_version.as_deref().is_some_and(|revision| MODERN.contains(&revision));
        let asks = match modern {
            true => "request: { method: server/discover, params: { _meta: \"${session:meta}\" } }",
            false => "ping: true",
        };
        let lists = "\n# The server lists no tools, resources or prompts.\n";
        text.push_str(&format!("{lists}tests:\n  - it: answers\n    {asks}\n"));
    }
    text.replace(TMP, "${tmp}")
}

/// A test that everything of a kind is listed; it is skipped where the list did not come to its end.
fn listing(kind: Kind, items: &[&Item], whole: bool) -> String {
    let (word, key, name) = match kind {
        Kind::Tool => ("tools", "tools", "name"),
        Kind::Resource => ("resources", "resources", "uri"),
        Kind::Template => ("templates", "resourceTemplates", "uriTemplate"),
        Kind::Prompt => ("prompts", "prompts", "name"),
    };
    let names: Vec<Json> =
        items.iter().filter(|item| item.kind == kind).map(|item| json!({name: literal(&json!(item.name))})).collect();
    if names.is_empty() {
        return String::new();
    }
    let expect = json!({"result": {"$partial": {key: names}}});
    let skip = if whole { "" } else { "    skip: the list did not come to its end\n" };
    format!("  - it: lists its {word}\n{skip}    list: {word}\n{}", entry(4, "expect", &expect))
}

fn test(item: &Item, frame: &Frame<'_>) -> String {
    let mut text = String::from("\n");
    if let Some(about) = &item.about {
        text.push_str(&comment(2, &frame.redactor.text(about)));
    }
    let (verb, key) = match item.kind {
        Kind::Tool => ("calls", "tool"),
        Kind::Resource => ("reads", "uri"),
        Kind::Template => ("reads", "template"),
        Kind::Prompt => ("renders", "prompt"),
    };
    let name = frame.redactor.text(&item.name).into_owned();
    text.push_str(&format!("  - it: {}\n", scalar(&format!("{verb} {}", name.replace("${", "$${")))));
    match &item.tried {
        Tried::Not(why) => text.push_str(&entry(4, "skip", &Json::String(frame.redactor.text(why).into_owned()))),
        _ if frame.hides(item) => text.push_str("    skip: what is redacted here was secret\n"),
        _ => {}
    }
    text.push_str(&format!("    {key}: {}\n", flow(&Json::String(name))));
    // What is left out is not sent, unless to a tool.
    let sent = |args: &serde_json::Map<String, Json>| !args.is_empty() || item.kind == Kind::Prompt;
    if item.args.as_object().is_some_and(sent) {
        text.push_str(&entry(4, "args", &frame.public(&item.args)));
    }
    if item.task {
        text.push_str("    task: true\n");
    }
    text.push_str(&expected(item, frame));
    text
}

/// What is expected, from what came.
fn expected(item: &Item, frame: &Frame<'_>) -> String {
    match &item.tried {
        Tried::Not(_) if item.kind == Kind::Tool => "    expect: { isError: false }\n".to_owned(),
        Tried::Not(_) => String::new(),
        Tried::Error(error) => {
            let message = error.get("message").and_then(Json::as_str).unwrap_or_default();
            let said = format!("with these arguments the answer is an error: {message}");
            let code = error.get("code").cloned().unwrap_or_else(|| json!({"$exists": true}));
            comment(4, &frame.redactor.text(&said)) + &entry(4, "expect", &json!({"error": {"code": code}}))
        }
        Tried::Result(result, again) => {
            let failed = result.get("isError").is_some_and(|failed| failed == true);
            let mut text = String::new();
            if failed {
                let said = format!("with these arguments the answer is an error result: {}", texts(result).join(" "));
                text.push_str(&comment(4, &frame.redactor.text(&said)));
            }
            let expect = match (frame.capture, again) {
                (true, Some(again)) => captured(result, again, failed, frame),
                _ if item.kind == Kind::Tool => json!({"isError": failed}),
                _ => plain(result),
            };
            text + &entry(4, "expect", &expect)
        }
    }
}

/// Without capturing: that something came.
fn plain(result: &Json) -> Json {
    match ["contents", "messages"].iter().find(|key| result.get(key).is_some()) {
        Some(key) => json!({"result": {"$partial": {*key: {"$length": {"$gte": 1}}}}}),
        None => json!({"result": {"$type": "object"}}),
    }
}

/// With capturing: what came both times.
fn captured(first: &Json, second: &Json, failed: bool, frame: &Frame<'_>) -> Json {
    let mut expect = json!({});
    if failed {
        expect["isError"] = json!(true);
    }
    if let (Some(one), Some(other)) = (first.get("structuredContent"), second.get("structuredContent")) {
        let safe = !frame.is_private(one) && one.to_string().len() <= MOST_TEXT;
        expect["structured"] = if safe { expectation(one, other) } else { super::value::shape(one, other) };
        return expect;
    }
    let (one, other) = (texts(first).join("\n"), texts(second).join("\n"));
    let count = |result: &Json| {
        ["content", "contents", "messages"].iter().find_map(|key| Some(result.get(key)?.as_array()?.len()))
    };
    let text = json!(one);
    if one.len() > MOST_TEXT || frame.is_private(&text) || one != other {
        expect["text"] = json!({"$length": {"$gt": 0}});
        if one.is_empty() {
            expect["text"] = json!({"$type": "string"});
        }
    } else if !texts(first).is_empty() {
        expect["text"] = literal(&text);
    }
    let blocks = first.get("content").is_some() && count(first) == count(second) && count(first) != Some(1);
    if blocks || expect.as_object().is_some_and(serde_json::Map::is_empty) {
        match (first.get("content").or(first.get("contents")), count(first)) {
            (Some(_), Some(count)) => expect["content"] = json!({"$length": count}),
            _ => expect["result"] = json!({"$type": "object"}),
        }
    }
    expect
}

/// The texts of a result, as `text` joins them.
fn texts(result: &Json) -> Vec<String> {
    let blocks = ["content", "contents", "messages"].iter().find_map(|key| result.get(key)?.as_array());
    let text = |block: &Json| {
        let own = block.get("text").or_else(|| block.get("resource")?.get("text"));
        own.and_then(Json::as_str).map(str::to_owned)
    };
    let mut found = Vec::new();
    for block in blocks.into_iter().flatten() {
        match block.get("content") {
            Some(Json::Array(inner)) => found.extend(inner.iter().filter_map(text)),
            Some(Json::String(said)) => found.push(said.clone()),
            Some(inner) => found.extend(text(inner)),
            None => found.extend(text(block)),
        }
    }
    found
}
