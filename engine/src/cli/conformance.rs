//! `mcptest conformance-client URL`: what the official conformance suite runs as the client under test.
//!
//! The suite starts a server, runs this with its URL, and judges what it saw on the wire. Everything is listed; every tool,
//! prompt and resource is used once, with the arguments that the suite gives or with some made from the schema; what the
//! server asks is answered, forms with their defaults.

use super::client::{Seen, converse};
use super::{OK, Talk};
use crate::discover::survey;
use crate::discover::{Call, Item, Kind, Survey, Tried};
use crate::event::redact::Redactor;
use crate::mcp::era::Protocol;
use crate::source::Json;
use crate::suite::server::Server;
use serde_json::json;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// The tool that wants to be told the schema of another one, as it came.
const SCHEMA_ECHO: &str = "json_schema_echo";

pub(super) fn conformance_client(url: &str, talk: &Talk) -> u8 {
    let mut server = Server::from_url(url, PathBuf::from("."));
    let revision = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").ok();
    server.protocol = revision.map(|revision| Protocol::of(&revision)).unwrap_or_default();
    let context: Json = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|context| serde_json::from_str(&context).ok())
        .unwrap_or_default();
    let seen = Seen::new(talk.verbose, true, Rc::new(Redactor::new(Vec::<String>::new())));
    converse(&Arc::new(server), seen, None, async |conversation| {
        let options = conversation.survey_options(Call::All);
        let introduction = conversation.introduction.clone();
        let (connection, seen) = (&mut conversation.connection, &mut conversation.seen);
        let mut survey = survey::list(connection, introduction, &options, seen).await?;
        give_arguments(&mut survey, &context);
        survey::attempt(connection, &mut survey, &options, seen).await;
        Ok(OK)
    })
}

/// The arguments that the suite asks for, instead of those that were made.
fn give_arguments(survey: &mut Survey, context: &Json) {
    let schema = survey.items.iter().find(|item| item.kind == Kind::Tool && item.name != SCHEMA_ECHO);
    let schema = schema.map(|item| item.schema.clone());
    let is_echo = |item: &&mut Item| item.kind == Kind::Tool && item.name == SCHEMA_ECHO;
    if let (Some(echo), Some(schema)) = (survey.items.iter_mut().find(is_echo), schema) {
        echo.args = json!({"schema": schema});
    }
    let Some(calls) = context.get("toolCalls").and_then(Json::as_array) else { return };
    let given = |call: &Json| Item {
        kind: Kind::Tool,
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        about: None,
        schema: Json::Null,
        args: call["arguments"].clone(),
        task: false,
        harmless: false,
        tried: Tried::Not(String::new()),
    };
    survey.items.retain(|item| item.kind != Kind::Tool);
    survey.items.extend(calls.iter().map(given));
}
