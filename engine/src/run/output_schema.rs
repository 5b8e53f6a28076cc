//! Structured content is held against the tool's own `outputSchema`, which is listed once per session, when the first
//! structured answer comes; or before the first call, where the transport has to know the tools too.

use super::call::{Call, End};
use super::ending::fault_of;
use super::exchange::Exchange;
use super::fault::{Code, Fault, failure};
use super::judge::Judge;
use super::line::page;
use super::modern;
use super::pages::Pages;
use super::respond::Scripts;
use super::session::Session;
use super::step::Steps;
use crate::diagnostic::Diagnostics;
use crate::event::Failure;
use crate::matcher::{Compiler, Expected, Mode};
use crate::mcp::lifecycle::error_text;
use crate::plan::scope::Moment;
use crate::source::{Entry, Json, Kind, Node};
use crate::suite::{Action, Listing, Respond};
use std::collections::HashMap;

/// By tool; `None` where the schema is none.
pub(super) type Schemas = HashMap<String, Option<Declared>>;

const IGNORE: &str = "`outputSchema: ignore` on the step leaves this check out";

/// What a tool declares of its structured content.
#[derive(Debug)]
pub(super) struct Declared {
    expected: Expected,
    schema: Json,
}

impl Declared {
    /// The part of the schema that speaks of a place in the content, as far as it can be followed.
    fn at(&self, path: &str) -> &Json {
        let mut part = &self.schema;
        let rest = path.strip_prefix("$.structured").unwrap_or_default();
        for key in rest.split(['.', '[']).filter(|key| !key.is_empty()) {
            let key = key.trim_end_matches(']');
            let name = serde_json::from_str::<String>(key).unwrap_or_else(|_| key.to_owned());
            let next =
                part.get("properties").and_then(|properties| properties.get(&name)).or_else(|| part.get("items"));
            let Some(next) = next else { break };
            part = next;
        }
        part
    }
}

/// Lists the tools before the first of them is called, where their arguments may have to stand in headers.
pub(super) async fn list_first(calls: &[Call], session: &mut Session, judge: &Judge<'_>, steps: &mut Steps<'_, '_>) {
    let calls_tool = calls.iter().any(|call| call.line.method.as_deref() == Some("tools/call"));
    if calls_tool && session.connection.should_list_tools() {
        session.output_schemas = Some(list(session, judge, steps).await);
    }
}

/// Every way in which structured content violates the schema that the tool declares. What has none is held against it
/// only when the tools were listed already.
pub(super) async fn violations(
    tool: &str,
    structured: Option<&Json>,
    session: &mut Session,
    judge: &Judge<'_>,
    steps: &mut Steps<'_, '_>,
) -> Vec<Failure> {
    if session.output_schemas.is_none() && structured.is_some() {
        session.output_schemas = Some(list(session, judge, steps).await);
    }
    let declared = match (&session.output_schemas, structured) {
        (Some(Ok(schemas)), _) => schemas.get(tool),
        (Some(Err(fault)), Some(_)) => return vec![unknown(fault, tool, &session.server.name, judge)],
        _ => None,
    };
    let Some(Some(declared)) = declared else { return Vec::new() };
    let Some(structured) = structured else {
        let message = format!("`{tool}` declares an `outputSchema`, and the answer has no `structuredContent`");
        let mut failure = judge.mismatch(message, judge.step.span);
        failure.path = Some("$.structured".into());
        failure.hints.push(IGNORE.into());
        return vec![failure];
    };
    let mismatches = declared.expected.check(Some(structured), "$.structured");
    let failures = mismatches.into_iter().map(|mismatch| {
        let mut failure = mismatch.into_failure(judge.source);
        failure.at = judge.at(judge.step.span);
        failure.matcher = Some("outputSchema".into());
        failure.expected = failure.path.as_deref().map(|path| declared.at(path).clone());
        failure.message = format!("`{tool}` violates its own `outputSchema`: {}", failure.message);
        failure.hints.push(IGNORE.into());
        failure
    });
    failures.collect()
}

/// What a listing that did not come makes of a call that would be held against it.
fn unknown(fault: &Fault, tool: &str, server: &str, judge: &Judge<'_>) -> Failure {
    let message = format!("`tools/list`, asked for the `outputSchema` of `{tool}`: {}", fault.message);
    let fault = Fault { message, ..fault.clone() }.hint(IGNORE);
    failure(fault, server, judge.at(judge.step.span))
}

/// What the tools declare; a fault when the listing ended in one, and nothing where the server, or a cassette, has none.
async fn list(session: &mut Session, judge: &Judge<'_>, steps: &mut Steps<'_, '_>) -> Result<Schemas, Fault> {
    let id = session.connection.fresh_id();
    let meta = modern::meta(session, &Action::List(Listing::Tools), None);
    let mut call = Call::new(page(Listing::Tools, None, meta.as_ref(), id), session.server.timeout);
    call.pages = Some(Pages::new(Listing::Tools, meta.as_ref()));
    let mut calls = [call];
    let none = Respond::default();
    let (server, capabilities) = (session.server.clone(), session.capabilities.clone());
    let (tmp, meta) = (session.tmp(), session.meta());
    let scripts = Scripts {
        step: &none,
        suite: &steps.file.suite.respond,
        server: &server.respond,
        capabilities: &capabilities,
        scope: &steps.file.scope,
        row: steps.row,
        moment: Moment { captures: steps.captures, tmp: &tmp, meta: &meta },
    };
    let listener = &mut steps.desk.listener;
    Exchange { session, calls: &mut calls, scripts: &scripts, turns: steps.turns, listener }.run().await;
    let [mut call] = calls;
    let window = std::mem::take(&mut call.window);
    let end = call.end.take().unwrap_or(End::Interrupted);
    let fault = (end != End::Done).then(|| fault_of(&end, &call, &window));
    // What came meanwhile belongs to the next step.
    session.between = window.without_answers();
    let note = |why: &str| {
        let text = format!("structured content is not validated, for the tools cannot be listed: {why}");
        steps.desk.note(Some(&session.name), text);
    };
    match fault {
        Some(fault) if fault.code == Code::CassetteMiss => note(&fault.message),
        Some(fault) => return Err(fault),
        None => {}
    }
    let answer = call.pages.and_then(|mut pages| pages.joined.take());
    if let Some(error) = answer.as_ref().and_then(|answer| answer.get("error")) {
        note(&error_text(error));
    }
    let tools = answer.as_ref().and_then(|answer| answer.pointer("/result/tools")?.as_array());
    let declared = tools.into_iter().flatten().filter_map(|tool| {
        let schema = tool.get("outputSchema")?;
        Some((
            tool.get("name")?.as_str()?.to_owned(),
            compile(schema, judge).map(|expected| Declared { expected, schema: schema.clone() }),
        ))
    });
    Ok(declared.collect())
}

/// The schema as a matcher; `None` when it is no valid schema, which is for the author of the server to test elsewhere.
fn compile(schema: &Json, judge: &Judge<'_>) -> Option<Expected> {
    let span = judge.step.span;
    let value = Node::new(Kind::Literal(schema.clone()), span);
    let node = Node::new(Kind::Map(vec![Entry { key: "$jsonSchema".into(), key_span: span, value }]), span);
    let mut diagnostics = Diagnostics::default();
    let source = crate::source::Source::new(judge.source.name.clone(), judge.source.path.clone(), String::new());
    let mut compiler = Compiler::new(&source, &mut diagnostics);
    let expected = compiler.compile(&node, Mode::Exact);
    (!diagnostics.has_errors()).then_some(expected)
}
