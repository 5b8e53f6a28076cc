//! What a step came to, as one value: the fields that `expect` names and that `capture` and `checks` look into.

use super::call::Unfit;
use super::window::Window;
use crate::child::Exit;
use crate::mcp::message::{Kind, Malformed, Message};
use crate::mcp::transport::http::outcome::Ended;
use crate::source::Json;
use serde_json::{Map, json};
use std::cell::OnceCell;
use std::time::Duration;

/// The outcome of a step.
#[derive(Debug)]
pub(super) struct Outcome<'a> {
    /// The answer.
    pub(super) answer: Option<Answer>,
    /// Everything that came while the step was open.
    pub(super) window: &'a Window,
    /// How long the answer took.
    pub(super) took: Duration,
    /// The exit code, when the exit was awaited; `null` when a signal ended the process.
    pub(super) exit_code: Option<Json>,
    /// How the process ended, when a signal did it and the exit was awaited.
    pub(super) signal: Option<Exit>,
    /// The answer over HTTP.
    pub(super) ended: Option<&'a Ended>,
    /// The same as [one value](Outcome::http).
    pub(super) http: OnceCell<Option<Json>>,
    /// The token under which the server told of its progress.
    pub(super) token: Option<&'a Json>,
    /// The task that the call became, as the server last told it.
    pub(super) task: Option<Json>,
    /// Why it is no success, whatever the answer says.
    pub(super) unfit: Option<&'a Unfit>,
}

/// An answer, read as far as somebody looks at it: most checks look only at the body.
#[derive(Debug)]
pub(super) enum Answer {
    /// The whole envelope.
    Whole(Json),
    /// Its `result`.
    Result(Json),
    /// Its `error`.
    Error(Json),
}

impl Answer {
    /// Reads a response; `whole` when its envelope is wanted too.
    pub(super) fn read(message: &Message, whole: bool) -> Result<Answer, Malformed> {
        match message.kind {
            Kind::Response { is_error: false, .. } if !whole => message.body().map(Answer::Result),
            Kind::Response { is_error: true, .. } if !whole => message.body().map(Answer::Error),
            _ => message.value().map(Answer::Whole),
        }
    }
}

impl<'a> Outcome<'a> {
    /// An answer and what came beside it, and nothing else.
    pub(super) fn new(answer: Option<Answer>, window: &'a Window) -> Outcome<'a> {
        Outcome {
            answer,
            window,
            took: Duration::ZERO,
            exit_code: None,
            signal: None,
            token: None,
            task: None,
            ended: None,
            http: OnceCell::new(),
            unfit: None,
        }
    }

    /// The answer over HTTP as one value, made when somebody looks at it.
    pub(super) fn http(&self) -> Option<&Json> {
        self.http.get_or_init(|| self.ended.map(Ended::to_json)).as_ref()
    }

    /// The `result`; one that is `null` beside an `error` says nothing.
    pub(super) fn result(&self) -> Option<&Json> {
        match self.answer.as_ref()? {
            Answer::Whole(whole) => {
                whole.get("result").filter(|result| !result.is_null() || whole.get("error").is_none_or(Json::is_null))
            }
            Answer::Result(result) => Some(result),
            Answer::Error(_) => None,
        }
    }

    /// The `error`; one that is `null` beside a `result` says nothing.
    pub(super) fn error(&self) -> Option<&Json> {
        match self.answer.as_ref()? {
            Answer::Whole(whole) => {
                whole.get("error").filter(|error| !error.is_null() || whole.get("result").is_none())
            }
            Answer::Error(error) => Some(error),
            Answer::Result(_) => None,
        }
    }

    /// The whole envelope, when it was read.
    pub(super) fn response(&self) -> Option<&Json> {
        match self.answer.as_ref()? {
            Answer::Whole(whole) => Some(whole),
            Answer::Result(_) | Answer::Error(_) => None,
        }
    }

    /// `isError` of a result: false when the server omits it.
    pub(super) fn is_error(&self) -> Option<Json> {
        Some(self.result()?.get("isError").cloned().unwrap_or(Json::Bool(false)))
    }

    pub(super) fn structured(&self) -> Option<&Json> {
        self.result()?.get("structuredContent")
    }

    pub(super) fn content(&self) -> Option<&Json> {
        let result = self.result()?;
        result.get("content").or_else(|| result.get("contents"))
    }

    /// The text blocks of a tool result, of a resource's contents, or of a prompt's messages, joined by newlines.
    pub(super) fn text(&self) -> Option<String> {
        let result = self.result()?;
        let blocks = ["content", "contents", "messages"].iter().find_map(|key| result.get(key)?.as_array())?;
        let mut texts = Vec::new();
        for block in blocks {
            match block.get("content") {
                Some(Json::Array(inner)) => texts.extend(inner.iter().filter_map(block_text)),
                Some(inner) => texts.extend(block_text(inner)),
                None => texts.extend(block_text(block)),
            }
        }
        Some(texts.join("\n"))
    }

    /// Lines on stdout that were no message.
    pub(super) fn stdout(&self) -> String {
        self.window.noise_lines().collect::<Vec<_>>().join("\n")
    }

    pub(super) fn milliseconds(&self) -> f64 {
        self.took.as_secs_f64() * 1000.0
    }

    /// The params of every notification (or request) of a method.
    pub(super) fn params_of(&self, requests: bool, method: &str) -> Json {
        let mut list: Vec<Json> = Vec::new();
        if requests {
            list.extend(self.window.requests().filter(|(name, _)| *name == method).map(|(_, params)| params));
        } else {
            list.extend(self.window.notifications().filter(|(name, _)| *name == method).map(|(_, params)| params));
        }
        Json::Array(list)
    }

    /// What the server told of the step's progress, in order; without a token, of any progress.
    pub(super) fn progress(&self) -> Vec<Json> {
        let told = self.window.notifications().filter(|(method, _)| *method == "notifications/progress");
        let own = |params: &Json| self.token.is_none_or(|token| params.get("progressToken") == Some(token));
        let without_token = |mut params: Json| {
            if let Some(members) = params.as_object_mut() {
                members.shift_remove("progressToken");
            }
            params
        };
        told.map(|(_, params)| params).filter(own).map(without_token).collect()
    }

    /// The whole outcome as one value.
    pub(super) fn to_json(&self) -> Json {
        let mut whole = Map::new();
        let mut put = |key: &str, value: Option<Json>| {
            if let Some(value) = value {
                whole.insert(key.to_owned(), value);
            }
        };
        let message = |(method, params): (&str, Json)| json!({"method": method, "params": params});
        put("response", self.response().cloned());
        put("result", self.result().cloned());
        put("error", self.error().cloned());
        put("isError", self.is_error());
        put("text", self.text().map(Json::String));
        put("structured", self.structured().cloned());
        put("content", self.content().cloned());
        put("notifications", Some(self.window.notifications().map(message).collect()));
        put("progress", Some(Json::Array(self.progress())));
        put("task", self.task.clone());
        put("requests", Some(self.window.requests().map(message).collect()));
        put("stderr", Some(Json::String(self.window.stderr.clone())));
        put("stdout", Some(Json::String(self.stdout())));
        put("duration", Some(json!(self.milliseconds())));
        put("exitCode", self.exit_code.clone());
        put("http", self.http().cloned());
        Json::Object(whole)
    }

    /// Why the text is empty, when there is content that holds none.
    pub(super) fn why_no_text(&self) -> Option<String> {
        let blocks = self.content()?.as_array()?;
        if blocks.iter().any(|block| block_text(block).is_some()) {
            return None;
        }
        let mut kinds: Vec<&str> = blocks.iter().filter_map(|block| block.get("type")?.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Some(match kinds.is_empty() {
            true => "the answer has no content".to_owned(),
            false => format!("the answer has no text, only `{}`", short(&kinds.join("`, `"))),
        })
    }

    /// Where the values are, when there is no structured content.
    pub(super) fn why_not_structured(&self) -> Option<String> {
        self.result()?;
        let parsed = self.text().and_then(|text| serde_json::from_str::<Json>(&text).ok());
        Some(match parsed {
            Some(Json::Object(_) | Json::Array(_)) => {
                "the answer has no `structuredContent`, and its text is JSON: `text: { $json: … }` looks inside"
                    .to_owned()
            }
            _ => "the answer has no `structuredContent`".to_owned(),
        })
    }

    /// What the answer says, in a few words, for hints: an error's message, an error result's text.
    pub(super) fn in_words(&self) -> Option<String> {
        if let Some(error) = self.error() {
            return Some(format!("the answer is an error: {}", crate::mcp::lifecycle::error_text(error)));
        }
        match self.is_error()? {
            Json::Bool(false) => None,
            Json::Bool(true) => {
                Some(format!("the answer is an error result: {}", short(&self.text().unwrap_or_default())))
            }
            other => {
                Some(format!("`isError` of the answer is neither `true` nor `false`: {}", short(&other.to_string())))
            }
        }
    }
}

fn block_text(block: &Json) -> Option<&str> {
    match block {
        Json::String(text) => Some(text),
        _ => block.get("text").or_else(|| block.get("resource")?.get("text"))?.as_str(),
    }
}

/// A text cut to a line's length.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: Json) -> Option<String> {
        let window = Window::default();
        let answer = Some(Answer::Result(result));
        Outcome::new(answer, &window).text()
    }

    #[test]
    fn a_null_beside_the_other_member_says_nothing() {
        let window = Window::default();
        let outcome = |response: Json| Outcome::new(Some(Answer::Whole(response)), &window);
        let both = outcome(json!({"result": {"a": 1}, "error": null}));
        assert_eq!((both.error(), both.in_words()), (None, None));
        let both = outcome(json!({"result": null, "error": {"code": 1, "message": "no"}}));
        assert_eq!((both.result(), both.in_words().as_deref()), (None, Some("the answer is an error: 1 no")));
        assert_eq!(outcome(json!({"result": null})).result(), Some(&Json::Null));
        assert_eq!(outcome(json!({"error": null})).error(), Some(&Json::Null));
    }

    #[test]
    fn an_answer_without_text_says_what_it_has() {
        let window = Window::default();
        let why = |result: Json| Outcome::new(Some(Answer::Result(result)), &window).why_no_text();
        let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
        let only = why(json!({"content": [image, {"type": "audio"}, {"type": "image"}]}));
        assert_eq!(only.as_deref(), Some("the answer has no text, only `audio`, `image`"));
        assert_eq!(why(json!({"content": []})).as_deref(), Some("the answer has no content"));
        assert_eq!(why(json!({"content": [{"type": "text", "text": ""}]})), None);
        assert_eq!(why(json!({})), None);
    }

    #[test]
    fn an_is_error_that_is_no_boolean_is_no_success() {
        let window = Window::default();
        let answer = Some(Answer::Result(json!({"content": [], "isError": "yes"})));
        let outcome = Outcome::new(answer, &window);
        let words = outcome.in_words();
        assert_eq!(words.as_deref(), Some("`isError` of the answer is neither `true` nor `false`: \"yes\""));
    }

    #[test]
    fn text_is_joined_from_every_kind_of_answer() {
        let tool =
            json!({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]});
        assert_eq!(text(tool).as_deref(), Some("a\nb"));
        assert_eq!(text(json!({"contents": [{"uri": "x", "text": "c"}]})).as_deref(), Some("c"));
        let prompt = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "d"}}]});
        assert_eq!(text(prompt).as_deref(), Some("d"));
        assert_eq!(text(json!({"tools": []})), None);
    }
}
