//! Tests and steps.

use super::Parser;
use crate::schema::{CANCEL_AFTER, CASE, STEP, TASK};
use crate::source::reader::{Fields, Given};
use crate::source::{Entry, Kind, Node, Span};
use crate::suite::{Action, Body, CancelAfter, Capture, Case, Expectation, Field, Lane, Step, Task};
use std::time::Duration;

/// What belongs to a step, and so has no place beside `steps`.
const STEP_KEYS: &[&str] =
    &["args", "meta", "timeout", "settle", "cancelAfter", "task", "capture", "respond", "outputSchema", "expect"];

impl Parser<'_> {
    pub(super) fn case(&mut self, node: Node, lane: Lane) -> Option<Case> {
        let mut fields = self.reader.fields(node, &CASE)?;
        let head = fields.head();
        let name = self.name(&mut fields);
        if name.is_none() && (self.reader.lenient || !fields.has_near(&["it", "name"])) {
            let missing = self.reader.error(head, "a test needs a name");
            missing.hints.push("say what it shows: `it: reads an existing file`".to_owned());
        }
        let (name, span) = name.unwrap_or((String::new(), head));
        let mut case = Case {
            lane,
            name,
            span,
            tags: fields.take("tags").map(|given| self.reader.texts(given)).unwrap_or_default(),
            skip: self.skip(fields.take("skip")),
            only: fields.take("only").and_then(|given| self.on(given)),
            retry: fields.take("retry").and_then(|given| self.reader.count(given)).unwrap_or(0),
            repeat: fields.take("repeat").and_then(|given| self.reader.count(given)).unwrap_or(1),
            each: fields.take("each").and_then(|given| self.each(given)),
            server: self.server_choice(fields.take("server")),
            restart: fields.take("restart").and_then(|given| self.restart(given)).unwrap_or(false),
            handshake: fields.take("handshake").and_then(|given| self.reader.boolean(given)).unwrap_or(true),
            body: Body::Steps(Vec::new()),
        };
        let body = self.body(&mut fields, head);
        self.reader.finish(fields);
        case.body = body?;
        Some(case)
    }

    fn name(&mut self, fields: &mut Fields) -> Option<(String, Span)> {
        let (it, name) = (fields.take("it"), fields.take("name"));
        if let (Some(it), Some(name)) = (&it, &name) {
            let twice = self.reader.error(name.key_span, "`it` and `name` say the same thing");
            twice.label = Some("remove one of the two".to_owned());
            twice.also.push((it.key_span, "`it` is here".to_owned()));
        }
        let given = it.or(name)?;
        let span = given.value.span;
        if matches!(&given.value.kind, Kind::String(text) if text.trim().is_empty()) {
            self.reader.error(span, format!("`{}` is empty", given.key.name));
        }
        // A name of another type is reported as such, and is not missing.
        Some((self.reader.text(given).unwrap_or_default(), span))
    }

    fn skip(&mut self, given: Option<Given>) -> Option<String> {
        let given = given?;
        match given.value.kind {
            Kind::String(reason) => Some(reason),
            Kind::Bool(true) => Some(String::new()),
            Kind::Bool(false) => None,
            _ => {
                self.reader.wrong_type(&given);
                None
            }
        }
    }

    fn on(&mut self, given: Given) -> Option<Span> {
        let span = given.key_span;
        self.reader.boolean(given).filter(|on| *on).map(|_| span)
    }

    fn restart(&mut self, given: Given) -> Option<bool> {
        if let Kind::String(word) = &given.value.kind
            && matches!(word.as_str(), "run" | "file" | "test")
        {
            let message = "on a test, `restart` takes `true` or `false`";
            self.reader.error(given.value.span, message).hints.push(format!("`restart: {word}` belongs to a server"));
            return None;
        }
        self.reader.boolean(given)
    }

    fn body(&mut self, fields: &mut Fields, head: Span) -> Option<Body> {
        let several = ["steps", "parallel"].into_iter().find(|key| fields.place_of(key).is_some());
        let Some(key) = several else {
            return self.step(fields, head).map(|step| Body::Single(Box::new(step)));
        };
        let place = fields.place_of(key)?;
        let steps = fields.take(key).map(|given| self.steps(given)).unwrap_or_default();
        self.one_action(fields, key, place);
        for stray in STEP_KEYS {
            if let Some(given) = fields.take(stray) {
                let message = format!("`{stray}` stands beside `{key}`, and belongs to one of its steps");
                self.reader.error(given.key_span, message).also.push((place, format!("`{key}` is here")));
            }
        }
        Some(if key == "steps" { Body::Steps(steps) } else { Body::Parallel(steps) })
    }

    fn steps(&mut self, given: Given) -> Vec<Step> {
        let items = self.reader.list(given);
        items.into_iter().filter_map(|node| self.numbered_step(node)).collect()
    }

    fn numbered_step(&mut self, node: Node) -> Option<Step> {
        let mut fields = self.reader.fields(node, &STEP)?;
        let head = fields.head();
        let label = self.name(&mut fields).map(|(name, _)| name);
        let step = self.step(&mut fields, head);
        self.reader.finish(fields);
        Some(Step { label, ..step? })
    }

    /// The action of a test or a step, and everything that goes with it.
    fn step(&mut self, fields: &mut Fields, head: Span) -> Option<Step> {
        let span = fields.span;
        let action = self.action(fields, head);
        let timeout = fields.take("timeout").and_then(|given| self.reader.duration(given));
        let (cancel_after, task) = self.stream(fields, timeout);
        let expect = fields.take("expect").map(|given| self.expect(given));
        let any_outcome = self.any_outcome(action.as_ref(), expect.as_deref());
        let step = Step {
            span,
            label: None,
            meta: fields.take("meta").and_then(|given| self.reader.mapping(given)),
            timeout,
            settle: fields.take("settle").and_then(|given| self.reader.duration(given)),
            cancel_after,
            task,
            captures: fields.take("capture").map(|given| self.captures(given)).unwrap_or_default(),
            respond: self.respond(fields.take("respond")),
            output_schema: fields.take("outputSchema").and_then(|given| self.reader.choice(given)).is_none(),
            expect: expect.unwrap_or_default(),
            any_outcome,
            action: action?,
        };
        Some(step)
    }

    /// Whether a step that mcp-aegis could have looks at stderr and the time alone.
    fn any_outcome(&self, action: Option<&Action>, expect: Option<&[Expectation]>) -> bool {
        let beside = |it: &Expectation| matches!(it.field, Field::Stderr | Field::Performance);
        self.reader.lenient
            && matches!(action, Some(Action::Request(_)))
            && expect.is_some_and(|expect| expect.iter().all(beside))
    }

    /// `cancelAfter` and `task`: a task is not taken back by a notification.
    fn stream(&mut self, fields: &mut Fields, timeout: Option<Duration>) -> (Option<CancelAfter>, Option<Task>) {
        let (cancel, task) = (fields.take("cancelAfter"), fields.take("task"));
        if let (Some(cancel), Some(task)) = (&cancel, &task) {
            let both = self.reader.error(cancel.key_span, "`cancelAfter` does not cancel a task");
            both.also.push((task.key_span, "the task is here".to_owned()));
            both.hints.push(
                "end the step with `task: {wait: false}`, capture `$.task.taskId`, and send `tasks/cancel` with `request`"
                    .to_owned(),
            );
        }
        (cancel.and_then(|given| self.cancel_after(given, timeout)), task.and_then(|given| self.task(given)))
    }

    fn cancel_after(&mut self, given: Given, timeout: Option<Duration>) -> Option<CancelAfter> {
        if !matches!(given.value.kind, Kind::Map(_)) {
            let span = given.value.span;
            let time = self.reader.duration(given)?;
            if timeout.is_some_and(|timeout| time >= timeout) {
                let late = self.reader.error(span, "`cancelAfter` is not before the step's `timeout`");
                late.hints.push("a request is taken back while it is still waited for: raise `timeout`".to_owned());
            }
            return Some(CancelAfter::Time(time));
        }
        let mut fields = self.reader.fields(given.value, &CANCEL_AFTER)?;
        let progress = fields.take("progress");
        if progress.is_none() {
            let missing = self.reader.error(fields.head(), "`cancelAfter` needs a time, or `progress`");
            missing.hints.push(format!("for example `cancelAfter: 100ms` or `cancelAfter: {}`", CANCEL_AFTER.example));
        }
        self.reader.finish(fields);
        progress.and_then(|given| self.reader.count(given)).map(CancelAfter::Progress)
    }

    fn task(&mut self, given: Given) -> Option<Task> {
        if !matches!(given.value.kind, Kind::Map(_)) {
            return self.reader.only_true(&given).then_some(Task { ttl: None, wait: true });
        }
        let mut fields = self.reader.fields(given.value, &TASK)?;
        let ttl = fields.take("ttl").and_then(|given| self.reader.duration(given));
        let wait = fields.take("wait").and_then(|given| self.reader.boolean(given)).unwrap_or(true);
        self.reader.finish(fields);
        Some(Task { ttl, wait })
    }

    fn captures(&mut self, given: Given) -> Vec<Capture> {
        let entries = self.reader.entries(given);
        entries.into_iter().filter_map(|entry| self.capture(entry)).collect()
    }

    fn capture(&mut self, Entry { key, key_span, value }: Entry) -> Option<Capture> {
        let (name, all) = match key.strip_suffix("[]") {
            Some(name) => (name.to_owned(), true),
            None => (key, false),
        };
        let named = self.is_name("a capture", &name, key_span);
        let path = self.reader.path("capture", &value)?;
        named.then_some(Capture { name, all, path, span: value.span })
    }
}
