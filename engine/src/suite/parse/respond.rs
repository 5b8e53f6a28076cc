//! `respond`: scripted answers to the server's requests, whole or in short.
//!
//! ```yaml
//! respond:
//!   sampling: forty-two                                  # what the model says
//!   elicitation: [accept, { accept: { name: Ada } }, decline, cancel]
//!   roots: ["file:///project"]
//!   some/method: [{ result: {} }, { error: { code: 1, message: no } }, { ignore: true }]
//! ```

use crate::diagnostic::did_you_mean;
use crate::schema::ANSWER;
use crate::source::reader::{Given, Reader};
use crate::source::{Entry, Kind, Node, Span};
use crate::suite::{Answer, Respond, RespondEntry};

const SAMPLING: &str = "sampling/createMessage";
const ELICITATION: &str = "elicitation/create";
const ROOTS: &str = "roots/list";

/// Short names of the requests that servers send.
const ALIASES: &[(&str, &str)] = &[("sampling", SAMPLING), ("elicitation", ELICITATION), ("roots", ROOTS)];
/// The keys of an answer that mean something to one request only.
const OWN: &[(&str, &str)] =
    &[("accept", ELICITATION), ("decline", ELICITATION), ("cancel", ELICITATION), ("text", SAMPLING), ("roots", ROOTS)];
/// What a user does with a form.
const DEEDS: [&str; 3] = ["accept", "decline", "cancel"];

/// Reads a `respond` mapping, of a server, a suite or a step.
pub(crate) fn respond(reader: &mut Reader<'_>, given: Given) -> Respond {
    let mut entries: Vec<RespondEntry> = Vec::new();
    for Entry { key, key_span, value } in reader.entries(given) {
        if key.starts_with("x-") {
            continue;
        }
        let Some(method) = method(reader, &key, key_span) else { continue };
        let answers = answers(reader, value, &method);
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

fn answers(reader: &mut Reader<'_>, node: Node, method: &str) -> Vec<Answer> {
    let span = node.span;
    match node.kind {
        Kind::List(items) if items.is_empty() => {
            let diagnostic = reader.error(span, "a list of answers needs at least one");
            if method == ROOTS {
                diagnostic.hints.push("no roots at all are written `{roots: []}`".to_owned());
            }
            Vec::new()
        }
        // URIs are one answer, not one after the other: roots come together.
        Kind::List(items) if method == ROOTS && items.iter().all(|item| item.as_str().is_some()) => {
            vec![Answer::Result(roots(items, span))]
        }
        Kind::List(items) => items.into_iter().filter_map(|item| answer(reader, item, method)).collect(),
        _ => answer(reader, node, method).into_iter().collect(),
    }
}

fn answer(reader: &mut Reader<'_>, node: Node, method: &str) -> Option<Answer> {
    if let Kind::String(word) = &node.kind {
        let word = word.clone();
        return in_short(reader, node, &word, method);
    }
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
    let key = given.key.name;
    if let Some((_, meant)) = OWN.iter().find(|(own, _)| *own == key).filter(|(_, meant)| *meant != method) {
        let diagnostic = reader.error(given.key_span, format!("`{key}` answers `{meant}`, not `{method}`"));
        diagnostic.hints.push("what the server is to get goes under `result`: `{result: {…}}`".to_owned());
        return None;
    }
    match key {
        "result" => Some(Answer::Result(given.value)),
        "error" => reader.mapping(given).map(Answer::Error),
        "accept" if matches!(given.value.kind, Kind::Bool(true)) => Some(Answer::Accept(None)),
        "accept" => reader.mapping(given).map(|node| Answer::Accept(Some(node))),
        "decline" | "cancel" => reader.only_true(&given).then(|| Answer::Result(deed(key, given.value.span))),
        "text" => reader.text_node(given).map(|node| Answer::Result(said(node))),
        "roots" => {
            let span = given.value.span;
            Some(Answer::Result(roots(reader.list(given), span)))
        }
        _ => reader.only_true(&given).then_some(Answer::Ignore),
    }
}

/// An answer that is one word or one text.
fn in_short(reader: &mut Reader<'_>, node: Node, word: &str, method: &str) -> Option<Answer> {
    match method {
        ELICITATION if word == "accept" => Some(Answer::Accept(None)),
        ELICITATION if DEEDS.contains(&word) => Some(Answer::Result(deed(word, node.span))),
        SAMPLING => Some(Answer::Result(said(node))),
        ROOTS => {
            let span = node.span;
            Some(Answer::Result(roots(vec![node], span)))
        }
        ELICITATION => {
            let near = did_you_mean(word, DEEDS).map(|near| format!("did you mean `{near}`?"));
            let message = format!("an answer to `{ELICITATION}` is `accept`, `decline` or `cancel`, found `{word}`");
            let diagnostic = reader.error(node.span, message);
            diagnostic.label = near;
            diagnostic.hints.push("to fill in fields, write `{accept: {name: Ada}}`".to_owned());
            None
        }
        _ => {
            let message = format!("an answer to `{method}` is a mapping, found text");
            reader.error(node.span, message).hints.push(format!("for example `{}`", ANSWER.example));
            None
        }
    }
}

fn deed(action: &str, span: Span) -> Node {
    map(span, [("action", text(action, span))])
}

/// What a model would say.
fn said(node: Node) -> Node {
    let span = node.span;
    let content = map(span, [("type", text("text", span)), ("text", node)]);
    map(
        span,
        [
            ("role", text("assistant", span)),
            ("content", content),
            ("model", text("mcptest", span)),
            ("stopReason", text("endTurn", span)),
        ],
    )
}

fn roots(items: Vec<Node>, span: Span) -> Node {
    let root = |item: Node| match item.kind {
        Kind::String(_) => map(item.span, [("uri", item)]),
        _ => item,
    };
    map(span, [("roots", Node::new(Kind::List(items.into_iter().map(root).collect()), span))])
}

fn text(text: &str, span: Span) -> Node {
    Node::new(Kind::String(text.to_owned()), span)
}

fn map<const N: usize>(span: Span, entries: [(&str, Node); N]) -> Node {
    let entry = |(key, value): (&str, Node)| Entry { key: key.to_owned(), key_span: value.span, value };
    Node::new(Kind::Map(entries.into_iter().map(entry).collect()), span)
}
