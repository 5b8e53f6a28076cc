//! What a [`Reader`] makes of single values.

use super::{Given, Reader};
use crate::diagnostic::did_you_mean;
use crate::schema::Takes;
use crate::source::{Entry, Kind, Node, Span, path, quantity};
use regex::Regex;
use serde_json_path::JsonPath;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// What `capture` and `checks` find in an outcome.
const OUTCOME: [&str; 15] = [
    "response",
    "result",
    "error",
    "isError",
    "text",
    "structured",
    "content",
    "notifications",
    "progress",
    "task",
    "requests",
    "stderr",
    "stdout",
    "duration",
    "exitCode",
];
/// Where a small number without a unit was most likely meant as seconds.
const TIMEOUTS: [&str; 4] = ["timeout", "startupTimeout", "shutdownTimeout", "wait"];
/// Below this a timeout in bare milliseconds is suspicious.
const SHORT: Duration = Duration::from_millis(100);

impl Reader<'_> {
    /// Reports that a value is not what its key takes.
    pub fn wrong_type(&mut self, given: &Given) {
        let (key, value) = (given.key, &given.value);
        let quoted = match (&key.takes, &value.kind) {
            (Takes::Text, Kind::Number(_) | Kind::Bool(_)) => Some(self.source.slice(value.span).to_owned()),
            _ => None,
        };
        let found = match (&key.takes, &value.kind) {
            (Takes::Count(_) | Takes::Size, Kind::Number(number)) => format!("`{number}`"),
            _ => value.describe().to_owned(),
        };
        self.error(value.span, format!("`{}` takes {}, found {found}", key.name, key.takes.describe())).hints.push(
            match quoted {
                Some(text) => format!("put it in quotes: `{}: \"{text}\"`", key.name),
                None => format!("for example `{}: {}`", key.name, key.example),
            },
        );
    }

    /// Text.
    pub fn text(&mut self, given: Given) -> Option<String> {
        match given.value.kind {
            Kind::String(text) => Some(text),
            _ => {
                self.wrong_type(&given);
                None
            }
        }
    }

    /// Text, kept with its place.
    pub fn text_node(&mut self, given: Given) -> Option<Node> {
        match given.value.kind {
            Kind::String(_) => Some(given.value),
            _ => {
                self.wrong_type(&given);
                None
            }
        }
    }

    /// A mapping, or text that a variable turns into one.
    pub fn mapping(&mut self, given: Given) -> Option<Node> {
        match &given.value.kind {
            Kind::Map(_) => Some(given.value),
            Kind::String(text) if is_variable(text) => Some(given.value),
            _ => {
                self.wrong_type(&given);
                None
            }
        }
    }

    /// The entries of a mapping.
    pub fn entries(&mut self, given: Given) -> Vec<Entry> {
        match given.value.kind {
            Kind::Map(entries) => entries,
            _ => {
                self.wrong_type(&given);
                Vec::new()
            }
        }
    }

    /// The elements of a list; where the key needs at least one, an empty list is an error.
    pub fn list(&mut self, given: Given) -> Vec<Node> {
        if given.value.items().is_some_and(<[Node]>::is_empty) && needs_elements(&given.key.takes) {
            self.error(given.key_span, format!("`{}` is empty", given.key.name))
                .hints
                .push(format!("remove it, or write `{}: {}`", given.key.name, given.key.example));
        }
        match given.value.kind {
            Kind::List(items) => items,
            _ => {
                self.wrong_type(&given);
                Vec::new()
            }
        }
    }

    /// A list of texts; where the key takes it, text alone is a list of one.
    pub fn texts(&mut self, given: Given) -> Vec<String> {
        if let (Takes::OneOf(_), Kind::String(text)) = (&given.key.takes, &given.value.kind) {
            return vec![text.clone()];
        }
        let key = given.key;
        let items = self.list(given);
        items.into_iter().filter_map(|item| self.element(key.name, item)).collect()
    }

    fn element(&mut self, key: &str, item: Node) -> Option<String> {
        let found = item.describe();
        match item.kind {
            Kind::String(text) => Some(text),
            _ => {
                self.error(item.span, format!("`{key}` takes a list of texts, found {found} in it"));
                None
            }
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, given: Given) -> Option<bool> {
        match given.value.kind {
            Kind::Bool(value) => Some(value),
            _ => {
                self.wrong_type(&given);
                None
            }
        }
    }

    /// `true` alone; says whether it is.
    pub fn only_true(&mut self, given: &Given) -> bool {
        let holds = matches!(given.value.kind, Kind::Bool(true));
        if !holds {
            self.error(given.value.span, format!("`{0}` is written `{0}: true`, or left out", given.key.name));
        }
        holds
    }

    /// A whole number.
    pub fn count(&mut self, given: Given) -> Option<u32> {
        let least = if let Takes::Count(least) = given.key.takes { least } else { 0 };
        let count = match &given.value.kind {
            Kind::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        let count = count.filter(|count| *count >= least);
        if count.is_none() {
            self.wrong_type(&given);
        }
        count
    }

    /// Whether a `command` is a program with its arguments, and no command line in one text: that would be looked for as one
    /// program, and never found.
    pub fn is_program(&mut self, argv: &[String], folder: &Path, span: Span) -> bool {
        let [line] = argv else { return true };
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() < 2 || folder.join(line).exists() {
            return true;
        }
        let list = format!("write it as a list: `command: [{}]`", words.join(", "));
        self.error(span, format!("`{line}` is a command line, and no program")).hints.push(list);
        false
    }

    /// The time that a call has: in none at all nothing can be answered.
    pub fn time_of_a_call(&mut self, given: Given) -> Option<Duration> {
        let (name, span) = (given.key.name, given.value.span);
        let time = self.duration(given)?;
        if time.is_zero() {
            self.error(span, format!("`{name}` is 0, and no call is answered in no time"));
            return None;
        }
        Some(time)
    }

    /// A duration: milliseconds, or text with a unit.
    pub fn duration(&mut self, given: Given) -> Option<Duration> {
        if !matches!(given.value.kind, Kind::Number(_) | Kind::String(_)) {
            self.wrong_type(&given);
            return None;
        }
        match quantity::duration_of(&given.value) {
            Ok(duration) => {
                let bare = matches!(given.value.kind, Kind::Number(_));
                if bare && TIMEOUTS.contains(&given.key.name) && !duration.is_zero() && duration < SHORT {
                    let (name, millis) = (given.key.name, duration.as_millis());
                    self.warn(given.value.span, format!("`{name}: {millis}` is {millis} milliseconds"))
                        .hints
                        .push(format!("for seconds write `{name}: {millis}s`; if you mean it, write `{millis}ms`"));
                }
                Some(duration)
            }
            Err(problem) => {
                let text = self.source.slice(given.value.span).trim_matches(['"', '\'']).to_owned();
                let hint = match text.contains("${") {
                    true => format!(
                        "variables are not filled in here; write the duration itself, for example `{}: {}`",
                        given.key.name, given.key.example
                    ),
                    false => format!(
                        "for example `{}: {}`; a number alone counts milliseconds",
                        given.key.name, given.key.example
                    ),
                };
                self.error(given.value.span, format!("`{}`: `{text}` {problem}", given.key.name)).hints.push(hint);
                None
            }
        }
    }

    /// A number of bytes.
    pub fn size(&mut self, given: Given) -> Option<usize> {
        let size = match &given.value.kind {
            Kind::Number(number) => {
                number.as_u64().filter(|size| (1..=u64::from(u32::MAX)).contains(size)).map(|size| size as usize)
            }
            Kind::String(text) => match quantity::size(text) {
                Ok(size) => Some(size),
                Err(problem) => {
                    let message = format!("`{}`: `{text}` {problem}", given.key.name);
                    self.error(given.value.span, message)
                        .hints
                        .push(format!("for example `{}: {}`", given.key.name, given.key.example));
                    return None;
                }
            },
            _ => None,
        };
        if size.is_none() {
            self.wrong_type(&given);
        }
        size
    }

    /// One of the words that the key takes, by its position among them.
    pub fn choice(&mut self, given: Given) -> Option<usize> {
        let Takes::Choice(words) = given.key.takes else { return None };
        let Kind::String(text) = &given.value.kind else {
            self.wrong_type(&given);
            return None;
        };
        let found = words.iter().position(|word| word == text);
        if found.is_none() {
            let message = format!("`{}` takes {}, found `{text}`", given.key.name, given.key.takes.describe());
            let near = did_you_mean(text, words.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            self.error(given.value.span, message).label = near;
        }
        found
    }

    /// A JSONPath over the outcome.
    pub fn path(&mut self, key: &str, node: &Node) -> Option<JsonPath> {
        let Some(text) = node.as_str() else {
            self.error(node.span, format!("`{key}` takes a JSONPath, found {}", node.describe()))
                .hints
                .push("for example `$.result.content[0].text`".to_owned());
            return None;
        };
        match path::parse(text) {
            Ok(path) => {
                self.unknown_field(node, text);
                Some(path)
            }
            Err(error) => {
                let place = self.within_one(node, text, error.position);
                let hint = match text.starts_with('$') {
                    true => "JSONPath as in RFC 9535, for example `$.result.content[0].text`".to_owned(),
                    false => format!("a JSONPath begins with `$`: `$.{}`", text.trim_start_matches(['.', '/'])),
                };
                let diagnostic = self.error(place, format!("`{text}` is not a JSONPath"));
                diagnostic.label = Some(error.message).filter(|message| !message.is_empty());
                diagnostic.hints.push(hint);
                None
            }
        }
    }

    /// Warns of a path that begins with something an outcome never has.
    fn unknown_field(&mut self, node: &Node, text: &str) {
        let Some(rest) = text.strip_prefix("$.") else { return };
        let name = &rest[..rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())];
        let known = OUTCOME.iter().copied();
        if name.is_empty() || known.clone().any(|field| field == name) {
            return;
        }
        let near = did_you_mean(name, known).map(|near| format!("did you mean `{near}`?"));
        let fields = OUTCOME.map(|field| format!("`{field}`")).join(", ");
        let place = self.within(node, text, 2..2 + name.len());
        let warning = self.warn(place, format!("the outcome of a step has no `{name}`, so this finds nothing"));
        warning.hints.extend(near.is_none().then(|| format!("it has {fields}")));
        warning.label = near;
    }

    /// A regular expression.
    pub fn regex(&mut self, given: Given) -> Option<Regex> {
        let Kind::String(text) = &given.value.kind else {
            self.wrong_type(&given);
            return None;
        };
        match Regex::new(text) {
            Ok(regex) => Some(regex),
            Err(error) => {
                let (problem, at) = regex_problem(&error.to_string());
                let place = at.map_or(given.value.span, |at| self.within_one(&given.value, text, at));
                self.error(place, format!("`{}` is not a regular expression", given.key.name)).label = Some(problem);
                None
            }
        }
    }

    /// The place of a part of a text, where the text stands in the source as it is; else the place of the whole.
    pub fn within(&self, node: &Node, text: &str, part: Range<usize>) -> Span {
        let written = self.source.slice(node.span);
        let lead = [0, 1].into_iter().find(|lead| written.get(*lead..).is_some_and(|rest| rest.starts_with(text)));
        match (lead, text.get(part.clone())) {
            (Some(lead), Some(found)) if !found.is_empty() => {
                let start = node.span.start as usize + lead;
                Span::new(start + part.start, start + part.end)
            }
            _ => node.span,
        }
    }

    fn within_one(&self, node: &Node, text: &str, at: usize) -> Span {
        let width = text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        self.within(node, text, at..at + width)
    }
}

/// Whether a text is one variable and nothing else, so that it can stand for a value of any type.
fn is_variable(text: &str) -> bool {
    text.strip_prefix("${").is_some_and(|rest| rest.find('}') == Some(rest.len() - 1))
}

fn needs_elements(takes: &Takes) -> bool {
    match takes {
        Takes::Filled(_) => true,
        Takes::OneOf(forms) => forms.iter().any(needs_elements),
        _ => false,
    }
}

/// The last line of the regex crate's message, and the byte its caret points at in a pattern of one line.
fn regex_problem(message: &str) -> (String, Option<usize>) {
    let lines: Vec<&str> = message.lines().collect();
    let problem = lines.last().map_or(message, |line| line.trim_start_matches("error: "));
    let at = match lines.as_slice() {
        [_, pattern, caret, _] => caret
            .find('^')
            .and_then(|column| pattern.char_indices().nth(column))
            .map(|(byte, _)| byte.saturating_sub(pattern.len() - pattern.trim_start().len())),
        _ => None,
    };
    (problem.to_owned(), at)
}
