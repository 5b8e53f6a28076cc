//! `respond`: scripted answers to the server's requests.

use crate::diagnostic::did_you_mean;
use crate::schema::ANSWER;
use crate::source::reader::{Given, Reader};
use crate::source::{Entry, Kind, Node, Span};
use crate::suite::{Answer, Respond, RespondEntry};

/// Short names of the requests that servers send.
const ALIASES: &[(&str, &str)] =
    &[("sampling", "sampling/createMessage"), ("elicitation", "elicitation/create"), ("roots", "roots/list")];

/// Reads a `respond` mapping, of a server, a suite or a step.
pub(crate) fn respond(reader: &mut Reader<'_>, given: Given) -> Respond {
    let mut entries: Vec<RespondEntry> = Vec::new();
    for Entry { key, key_span, value } in reader.entries(given) {
        if key.starts_with("x-") {
            continue;
        }
        let answers = answers(reader, value);
        let Some(method) = method(reader, &key, key_span) else { continue };
        if let Some(first) = entries.iter().find(|entry| entry.method == method) {
            let twice = reader.error(key_span, format!("`{method}` is answered twice"));
            twice.also.push((first.span, "first here".to_owned()));
            twice.hints.push("several answers used in turn are a list: `[{result: …}, {error: …}]`".to_owned());
            continue;
        }
        entries.push(RespondEntry { method, span: key_span, answers });
    }
    Respond { entries }
}

fn method(reader: &mut Reader<'_>, key: &str, span: Span) -> Option<String> {
    if let Some((_, method)) = ALIASES.iter().find(|(alias, _)| *alias == key) {
        return Some((*method).to_owned());
    }
    if key.contains('/') || key == "ping" {
        return Some(key.to_owned());
    }
    let near = did_you_mean(key, ALIASES.iter().map(|(alias, _)| *alias));
    let diagnostic = reader.error(span, format!("`{key}` is no request that a server sends"));
    diagnostic.label = near.map(|near| format!("did you mean `{near}`?"));
    diagnostic.hints.push(
        "write `sampling`, `elicitation`, `roots`, or a full method name such as `sampling/createMessage`".into(),
    );
    None
}

fn answers(reader: &mut Reader<'_>, node: Node) -> Vec<Answer> {
    let span = node.span;
    match node.kind {
        Kind::List(items) if items.is_empty() => {
            reader.error(span, "a list of answers needs at least one");
            Vec::new()
        }
        Kind::List(items) => items.into_iter().filter_map(|item| answer(reader, item)).collect(),
        _ => answer(reader, node).into_iter().collect(),
    }
}

fn answer(reader: &mut Reader<'_>, node: Node) -> Option<Answer> {
    let mut fields = reader.fields(node, &ANSWER)?;
    let span = fields.span;
    let mut written = ANSWER.keys().filter_map(|key| fields.take(key.name)).collect::<Vec<Given>>().into_iter();
    let Some(given) = written.next() else {
        let none = reader.error(span, "an answer is one of `result`, `error`, `ignore`");
        none.hints.push("what the server is to get goes under `result`: `{result: {…}}`".to_owned());
        return None;
    };
    reader.finish(fields);
    for other in written {
        let message =
            format!("an answer is one of `result`, `error`, `ignore`, and `{}` is a second one", other.key.name);
        reader.error(other.key_span, message).also.push((given.key_span, "the first one".to_owned()));
    }
    match given.key.name {
        "result" => Some(Answer::Result(given.value)),
        "error" => reader.mapping(given).map(Answer::Error),
        _ => reader.only_true(&given).then_some(Answer::Ignore),
    }
}
