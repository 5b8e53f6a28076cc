//! What the server asks of its client, and what it is told.

use crate::kit::{Place, messages, verdicts};

/// A step that makes the scripted server ask `method` with `params`, and expects that it was told `told`.
fn asks(it: &str, method: &str, params: &str, more: &str, told: &str) -> String {
    let other = if told.starts_with("{ result") { "error" } else { "result" };
    let told = told.replacen('{', &format!("{{ {other}: null,"), 1);
    format!(
        "  - it: {it}\n    tool: ask\n    args: {{ method: {method}, params: {params} }}\n    {more}\n    expect: {{ text: {{ $json: {told} }} }}\n"
    )
}

#[test]
fn answers_in_short_are_whole_answers() {
    let form = r#"{ message: who?, requestedSchema: { type: object, required: [name], properties: { name: { type: string }, size: { enum: [s, m], default: m }, note: { type: string } } } }"#;
    let elicitation = "elicitation/create";
    let accepted = |content: &str| format!("{{ result: {{ action: accept, content: {content} }} }}");
    let model = "{ result: { role: assistant, model: mcptest, stopReason: endTurn, content: { type: text, text: forty-two } } }";
    let suite = [
        "variables: { who: Ada }\nrespond:\n  elicitation: [accept, { accept: { name: \"${who}\", note: hi } }, decline, { cancel: true }]\n  sampling: forty-two\n  roots: [\"file:///a\", \"file:///b\"]\ntools:\n".to_owned(),
        asks("fills a form in", elicitation, form, "", &accepted("{ name: example, size: m }")),
        asks("puts its own fields over it", elicitation, form, "", &accepted("{ name: Ada, size: m, note: hi }")),
        asks("declines", elicitation, form, "", "{ result: { action: decline } }"),
        asks("goes away", elicitation, form, "", "{ result: { action: cancel } }"),
        asks("knows no URLs", elicitation, "{ mode: url, url: \"https://a.example/\" }", "", "{ error: { $partial: { code: -32602 } } }"),
        asks("takes the step's word first", elicitation, form, "respond: { elicitation: { accept: { name: Bob } } }", &accepted("{ name: Bob, size: m }")),
        asks("samples", "sampling/createMessage", "{ messages: [] }", "", model),
        asks("has roots", "roots/list", "{}", "", "{ result: { roots: [{ uri: \"file:///a\" }, { uri: \"file:///b\" }] } }"),
        asks("has other roots in one step", "roots/list", "{}", "respond: { roots: { roots: [{ uri: \"file:///c\", name: c }] } }", "{ result: { roots: [{ uri: \"file:///c\", name: c }] } }"),
    ];
    let place = Place::with_fixture(&[], &suite.concat());
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
    assert_eq!(verdicts(&report).len(), 9);
}

#[test]
fn only_what_is_declared_is_announced_and_a_url_is_accepted_where_it_is() {
    let url = "{ mode: url, elicitationId: one, message: go, url: \"https://a.example/\" }";
    let suite = [
        "client: { elicitation: { url: {} } }\nrespond: { elicitation: accept }\ntools:\n".to_owned(),
        asks("accepts a URL", "elicitation/create", url, "", "{ result: { action: accept } }"),
        asks("refuses a form", "elicitation/create", "{ message: x }", "", "{ error: { $partial: { code: -32602 } } }"),
        asks("knows no roots", "roots/list", "{}", "", "{ error: { $partial: { code: -32601 } } }"),
    ];
    let place = Place::with_fixture(&[], &suite.concat());
    let (code, report) = place.report(&[]);
    assert_eq!(code, 0, "{:#?} {:#?}", verdicts(&report), messages(&report));
    let undeclared = "tools:\n  - it: a\n    tool: echo\n    args: { message: x }\n    respond: { sampling: hello }\n";
    place.write("suite.test.mcp.yml", undeclared);
    let said = place.mcptest(&["check"]);
    assert_eq!(said.code, 2, "{}", said.stderr);
    assert!(said.stderr.contains("the client does not declare `sampling`"), "{}", said.stderr);
}
