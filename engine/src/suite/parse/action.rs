//! What a step sends or does.

use super::{Parser, timestamp};
use crate::schema::{ACTIONS, COMPLETE, LEVELS, RAW};
use crate::source::reader::{Fields, Given};
use crate::source::{Kind, Node, Span};
use crate::suite::{Action, Close, Listing, Reference};
use base64::Engine;

const LISTINGS: [Listing; 5] =
    [Listing::Tools, Listing::Resources, Listing::Templates, Listing::Prompts, Listing::Tasks];
const CLOSES: [Close; 3] = [Close::Stdin, Close::Term, Close::Kill];

impl Parser<'_> {
    /// The one action of a step; none or several are reported.
    pub(super) fn action(&mut self, fields: &mut Fields, head: Span) -> Option<Action> {
        let Some((key, place)) = first_action(fields) else {
            let names: Vec<&str> = ACTIONS.iter().map(|key| key.name).collect();
            fields.take("args");
            if self.reader.lenient || !fields.has_near(&names) {
                let title = fields.table.title;
                let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let missing = self.reader.error(head, format!("{title} needs an action"));
                missing.hints.push(format!("one of {known}; or several in `steps:`"));
            }
            return None;
        };
        let given = fields.take(key)?;
        self.one_action(fields, key, place);
        let action = self.single(given, fields);
        self.no_company(fields, key, place);
        action
    }

    /// Reports every further action.
    pub(super) fn one_action(&mut self, fields: &mut Fields, key: &str, place: Span) {
        let names = ACTIONS.iter().map(|key| key.name).chain(["steps", "parallel"]);
        for name in names.filter(|name| fields.table.key(name).is_some()) {
            let Some(other) = fields.take(name) else { continue };
            let title = fields.table.title;
            let mut pair = [(place, key), (other.key_span, name)];
            pair.sort_by_key(|(place, _)| place.start);
            let message = format!("{title} has one action, and `{}` and `{}` are two", pair[0].1, pair[1].1);
            let several = self.reader.error(pair[1].0, message);
            several.label = Some("second action".to_owned());
            several.also.push((pair[0].0, "first action".to_owned()));
            several.hints.push("to do one after the other, write `steps: [{…}, {…}]`".to_owned());
        }
    }

    fn single(&mut self, given: Given, fields: &mut Fields) -> Option<Action> {
        Some(match given.key.name {
            "request" => {
                let mut request = self.envelope(given)?;
                if self.reader.lenient {
                    timestamp::as_sent(&mut request, self.reader.source);
                }
                Action::Request(request)
            }
            "notify" => Action::Notify(self.envelope(given)?),
            "raw" => self.raw(given)?,
            "tool" => Action::Tool { args: self.args(fields), name: self.reader.text_node(given)? },
            "uri" => Action::Read(self.reader.text_node(given)?),
            "template" => Action::Template { args: self.args(fields), template: self.reader.text_node(given)? },
            "subscribe" => Action::Subscribe(self.reader.text_node(given)?),
            "unsubscribe" => Action::Unsubscribe(self.reader.text_node(given)?),
            "logLevel" => Action::LogLevel(LEVELS[self.reader.choice(given)?]),
            "prompt" => Action::Prompt { args: self.args(fields), name: self.reader.text_node(given)? },
            "complete" => self.complete(given)?,
            "list" => Action::List(LISTINGS[self.reader.choice(given)?]),
            "wait" => Action::Wait(self.reader.duration(given)?),
            "close" => Action::Close(CLOSES[self.reader.choice(given)?]),
            _ => {
                self.reader.only_true(&given);
                Action::Ping
            }
        })
    }

    fn args(&mut self, fields: &mut Fields) -> Option<Node> {
        fields.take("args").and_then(|given| self.reader.mapping(given))
    }

    /// A message as written; a list would be a batch, which only `raw` can send.
    fn envelope(&mut self, given: Given) -> Option<Node> {
        if let Kind::List(_) = given.value.kind {
            let message = format!("`{}` takes one message, found a list", given.key.name);
            self.reader
                .error(given.value.span, message)
                .hints
                .push("a batch is sent with `raw`, or as several `steps`".into());
            return None;
        }
        self.reader.mapping(given)
    }

    fn raw(&mut self, given: Given) -> Option<Action> {
        match given.value.kind {
            Kind::String(_) => Some(Action::Raw(given.value)),
            Kind::Map(_) => {
                let mut fields = self.reader.fields(given.value, &RAW)?;
                let place = fields.span;
                let base64 = fields.take("base64");
                self.reader.finish(fields);
                let Some(base64) = base64 else {
                    self.reader.error(place, "`raw` takes text, or `{base64: …}`");
                    return None;
                };
                let span = base64.value.span;
                let text: String = self.reader.text(base64)?.split_whitespace().collect();
                match base64::engine::general_purpose::STANDARD.decode(text) {
                    Ok(bytes) => Some(Action::Bytes(bytes)),
                    Err(error) => {
                        let problem = match error {
                            base64::DecodeError::InvalidByte(at, byte) => {
                                format!("`{}` at offset {at}", byte.escape_ascii())
                            }
                            _ => "its length or its padding is wrong".to_owned(),
                        };
                        self.reader.error(span, "this is not base64").label = Some(problem);
                        None
                    }
                }
            }
            _ => {
                self.reader.wrong_type(&given);
                None
            }
        }
    }

    fn complete(&mut self, given: Given) -> Option<Action> {
        let mut fields = self.reader.fields(given.value, &COMPLETE)?;
        let head = fields.head();
        let (prompt, template) = (fields.take("prompt"), fields.take("template"));
        let (argument, value) = (fields.take("argument"), fields.take("value"));
        let missing: Vec<&str> = [
            ("`prompt` or `template`", prompt.is_none() && template.is_none()),
            ("`argument`", argument.is_none()),
            ("`value`", value.is_none()),
        ]
        .into_iter()
        .filter_map(|(name, missing)| missing.then_some(name))
        .collect();
        if !missing.is_empty() {
            let message = format!("`complete` needs {}", missing.join(", "));
            self.reader.error(head, message).hints.push(format!("for example `complete: {}`", COMPLETE.example));
        }
        if let (Some(prompt), Some(template)) = (&prompt, &template) {
            let both = self.reader.error(template.key_span, "`complete` takes `prompt` or `template`, not both");
            both.also.push((prompt.key_span, "`prompt` is here".to_owned()));
        }
        let context = fields.take("context").and_then(|given| self.reader.mapping(given));
        self.reader.finish(fields);
        let reference = match (prompt, template) {
            (Some(prompt), _) => self.reader.text_node(prompt).map(Reference::Prompt),
            (None, template) => self.reader.text_node(template?).map(Reference::Template),
        };
        let argument = argument.and_then(|given| self.reader.text_node(given));
        let value = value.and_then(|given| self.reader.text_node(given));
        Some(Action::Complete { reference: reference?, argument: argument?, value: value?, context })
    }

    /// Reports what means nothing beside this action.
    fn no_company(&mut self, fields: &mut Fields, key: &str, place: Span) {
        let reasons = [
            ("args", !matches!(key, "tool" | "prompt" | "template"), "goes with `tool`, `prompt` or `template`"),
            ("task", key != "tool", "goes with `tool`"),
            (
                "cancelAfter",
                matches!(key, "notify" | "raw" | "wait" | "close"),
                "takes a request back, and this step sends none",
            ),
            (
                "meta",
                matches!(key, "raw" | "wait" | "close"),
                "goes into a message, and this step sends none of its own",
            ),
        ];
        for (stray, wrong, reason) in reasons {
            if !wrong {
                continue;
            }
            if let Some(given) = fields.take(stray) {
                let diagnostic = self.reader.error(given.key_span, format!("`{stray}` means nothing beside `{key}`"));
                diagnostic.label = Some(format!("`{stray}` {reason}"));
                diagnostic.also.push((place, "the action is here".to_owned()));
            }
        }
    }
}

/// The action that is written first.
fn first_action(fields: &Fields) -> Option<(&'static str, Span)> {
    let written = ACTIONS.iter().filter_map(|key| Some((key.name, fields.place_of(key.name)?)));
    written.min_by_key(|(_, place)| place.start)
}
