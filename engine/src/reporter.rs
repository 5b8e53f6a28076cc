//! Readers of the event stream: each turns events into one output.
//!
//! `--reporter NAME[=FILE]`, repeatable. Where each one writes:
//!
//! - with `=FILE`, into that file (its folders are made), and `human` still shows the run on stdout beside it;
//! - `json`, `ndjson` and `junit` without a file take stdout, for one of them at most. `human` then keeps quiet, or goes
//!   to stderr when it is asked for by name: stdout is data, stderr is talk;
//! - with nothing asked for, `human` writes to stdout.

mod escaped;
pub mod extension;
pub mod failure;
pub mod human;
pub mod json;
pub mod junit;
pub mod ndjson;
mod open;
mod results;
#[cfg(test)]
pub(crate) mod sample;
mod tail;
pub mod text;
pub use crate::source::visible;

use crate::event::Event;
pub(crate) use open::is_input;
pub use open::{Options, Screen, create, names, open, open_with};
use std::io;

/// One reader of the stream.
pub trait Reporter: Send {
    /// Its name, with its file, as the user would type it: `junit=report.xml`.
    fn name(&self) -> &str;
    /// An event, in order.
    fn event(&mut self, event: &Event) -> io::Result<()>;
    /// Called some twenty times a second, for what moves on a terminal and for what is held back until then.
    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// The stream is over: write what is left.
    fn finish(&mut self) -> io::Result<()>;
    /// Whether it wants the frames of passed steps too.
    fn wants_frames(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::human::{Human, Look};
    use super::*;

    const PLAIN: Look =
        Look { color: false, width: 100, live: false, quiet: false, verbose: false, show_frames: false };

    fn written<R: Reporter>(make: impl FnOnce(Box<dyn io::Write + Send>) -> R) -> String {
        let output = sample::Output::default();
        let mut reporter = make(Box::new(output.clone()));
        for event in sample::run() {
            reporter.event(&event).unwrap();
            reporter.tick().unwrap();
        }
        reporter.finish().unwrap();
        output.text()
    }

    fn human(look: Look) -> String {
        written(|output| Human::new("human", output, look))
    }

    fn golden(actual: String, file: &str) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports").join(file);
        let expected = snapbox::Data::read_from(&path, Some(snapbox::data::DataFormat::Text)).raw();
        snapbox::assert_data_eq!(snapbox::Data::text(actual).raw(), expected);
    }

    #[test]
    fn human_is_plain_in_a_file() {
        let report = human(PLAIN);
        assert!(!report.chars().any(|character| character != '\n' && visible::is_invisible(character)), "{report}");
        golden(report, "human.txt");
    }

    #[test]
    fn human_with_colours() {
        let report = human(Look { color: true, width: 80, ..PLAIN });
        golden(report.replace('\x1b', "␛"), "human-color.txt");
    }

    #[test]
    fn human_quiet() {
        golden(human(Look { quiet: true, ..PLAIN }), "human-quiet.txt");
    }

    #[test]
    fn human_verbose_with_frames() {
        golden(human(Look { verbose: true, show_frames: true, ..PLAIN }), "human-verbose.txt");
    }

    #[test]
    fn colours_only_repeat_what_is_said() {
        let plain = human(PLAIN);
        let mut colored = human(Look { color: true, ..PLAIN });
        let codes = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
        colored = codes.replace_all(&colored, "").into_owned();
        assert_eq!(plain, colored);
    }

    #[test]
    fn json_is_one_document() {
        let report = written(|output| json::Json::new("json", output));
        let document: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report.matches('\n').count(), 1);
        golden(format!("{document:#}\n"), "report.json");
    }

    #[test]
    fn ndjson_is_the_stream() {
        let report = written(|output| ndjson::Ndjson::new("ndjson", output, false));
        assert!(report.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
        golden(report, "events.ndjson");
    }

    #[test]
    fn junit_is_xml_whatever_the_server_sent() {
        let report = written(|output| junit::Junit::new("junit", output));
        assert_well_formed(&report);
        golden(report, "junit.xml");
    }

    /// Reads the document as a strict parser would, as far as the reporter uses XML.
    fn assert_well_formed(document: &str) {
        let attribute = r#"\s[a-z]+="(?:[^<>"&]|&(?:amp|lt|gt|quot|#\d+);)*""#;
        let token = format!(
            r#"\A(?:<\?xml[^?]*\?>|<(?<open>[a-zA-Z-]+)(?:{attribute})*>|<[a-zA-Z-]+(?:{attribute})*/>|</(?<close>[a-zA-Z-]+)>|(?:[^<>&]|&(?:amp|lt|gt|quot|#\d+);)+)"#
        );
        let token = regex::Regex::new(&token).unwrap();
        let (mut rest, mut open) = (document, Vec::new());
        while let Some(found) = token.captures(rest) {
            if let Some(name) = found.name("open") {
                open.push(name.as_str());
            } else if let Some(name) = found.name("close") {
                assert_eq!(open.pop(), Some(name.as_str()), "before {rest}");
            }
            rest = &rest[found[0].len()..];
        }
        assert_eq!((rest, open.len()), ("", 0));
    }

    #[test]
    fn the_docs_show_every_event() {
        let docs = include_str!("../../docs/events.md");
        for event in sample::run() {
            let value = serde_json::to_value(&event).unwrap();
            let title = format!("### `{}`", value["type"].as_str().unwrap());
            let Some((_, section)) = docs.split_once(&title) else { panic!("{title} is missing") };
            let section = section.split("\n### ").next().unwrap();
            for field in value["data"].as_object().unwrap().keys() {
                assert!(section.contains(&format!("`{field}`")), "{title} does not explain `{field}`");
            }
        }
    }
}
