//! `$markdown`: text has the expected headings, links and code blocks.
//!
//! ```yaml
//! text: { $markdown: "## Usage" }                                     # a heading
//! text: { $markdown: { headings: ["# Title", "Usage"], links: ["https://example.com"], code: [json] } }
//! ```
//!
//! `headings` come in this order, others may stand between; without `#` any level will do. `links` are the targets of
//! links and images. `code` are the languages of fenced blocks.

use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Markdown {
    headings: Vec<String>,
    links: Vec<String>,
    code: Vec<String>,
}

#[derive(Default)]
struct Found {
    headings: Vec<String>,
    links: Vec<String>,
    code: Vec<String>,
}

impl Matcher for Markdown {
    const NAME: &'static str = "markdown";
    const SUMMARY: &'static str = "text has the expected headings, links and code blocks";

    fn prepare(expected: &Value) -> Result<Markdown, Failure> {
        let markdown: Markdown = match expected {
            Value::String(heading) => Markdown { headings: vec![heading.clone()], ..Markdown::default() },
            _ => decode(expected)?,
        };
        match markdown.headings.iter().find(|heading| heading.trim_start_matches('#').trim().is_empty()) {
            Some(empty) => Err(Failure::invalid(format_args!("`{empty}` is no heading"))),
            None => Ok(markdown),
        }
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Markdown {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let found = Found::of(text(actual)?);
        let mut rest = found.headings.iter();
        for wanted in &self.headings {
            if !rest.any(|heading| is_heading(wanted, heading)) {
                let elsewhere = found.headings.iter().any(|heading| is_heading(wanted, heading));
                let problem = if elsewhere { "stands in another place" } else { "is missing" };
                let message = format_args!("the heading `{wanted}` {problem}");
                return Err(Mismatch::new(message).expected(self.headings.clone()).actual(found.headings.clone()));
            }
        }
        all_there("link to", &self.links, &found.links)?;
        all_there("code block in", &self.code, &found.code)
    }
}

impl Found {
    fn of(text: &str) -> Found {
        let mut found = Found::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::Start(Tag::Heading { level, .. }) => heading = Some(format!("{} ", marks(level))),
                Event::End(TagEnd::Heading(_)) => found.headings.extend(heading.take()),
                Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    found.links.push(dest_url.into_string());
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    found.code.extend(language.split_whitespace().next().map(str::to_owned));
                }
                _ => {}
            }
        }
        found
    }
}

fn marks(level: HeadingLevel) -> String {
    "#".repeat(level as usize)
}

fn is_heading(wanted: &str, heading: &str) -> bool {
    let wanted = wanted.trim();
    wanted == heading || (!wanted.starts_with('#') && heading.trim_start_matches('#').trim() == wanted)
}

fn all_there(what: &str, wanted: &[String], found: &[String]) -> Result<(), Mismatch> {
    match wanted.iter().find(|wanted| !found.contains(wanted)) {
        Some(missing) => {
            let message = format_args!("there is no {what} `{missing}`");
            Err(Mismatch::new(message).expected(wanted.to_vec()).actual(found.to_vec()))
        }
        None => Ok(()),
    }
}

export_matcher!(Markdown);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Markdown>("cases.json");
    }
}
