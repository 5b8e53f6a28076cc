//! JSON values as YAML that a person would write: plain where that is safe, on one line where it fits.

use crate::source::Json;

/// How long a line becomes before its value is spread over several.
const WIDTH: usize = 110;

/// `key: value`, indented, with its line end.
pub(super) fn entry(indent: usize, key: &str, value: &Json) -> String {
    let line = format!("{:indent$}{}: {}\n", "", named(key), flow(value));
    let spread = line.chars().count() > WIDTH && matches!(value, Json::Object(_) | Json::Array(_)) && !is_empty(value);
    if spread { format!("{:indent$}{}:\n{}", "", named(key), block(indent + 2, value)) } else { line }
}

fn block(indent: usize, value: &Json) -> String {
    match value {
        Json::Object(members) => members.iter().map(|(key, value)| entry(indent, key, value)).collect(),
        Json::Array(items) => items.iter().map(|item| format!("{:indent$}- {}\n", "", flow(item))).collect(),
        other => format!("{:indent$}{}\n", "", flow(other)),
    }
}

fn is_empty(value: &Json) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

/// A value on one line.
pub(super) fn flow(value: &Json) -> String {
    match value {
        Json::String(text) => named(text),
        Json::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Json::Object(members) if members.is_empty() => "{}".to_owned(),
        Json::Object(members) => {
            let member = |(key, value): (&String, &Json)| format!("{}: {}", named(key), flow(value));
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A text or a key in which nothing is taken for a variable.
fn named(text: &str) -> String {
    scalar(&text.replace("${", "$${"))
}

/// A text: as it is where YAML takes it for nothing else, in double quotes otherwise.
pub(super) fn scalar(text: &str) -> String {
    let first = text.chars().next().unwrap_or(' ');
    let starts = first.is_ascii_alphabetic() || matches!(first, '_' | '/' | '$');
    let plain = |c: char| c.is_alphanumeric() || " _-./$()+%@=;?!'".contains(c);
    let word = text.to_ascii_lowercase();
    let means_something = matches!(word.as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    if starts && !means_something && text.len() <= 400 && text.chars().all(plain) && !text.ends_with(' ') {
        return text.to_owned();
    }
    // JSON's quotes are YAML's, but for characters that YAML does not print.
    let quoted = Json::String(text.to_owned()).to_string();
    let odd =
        |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    quoted.chars().map(|c| if odd(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() }).collect()
}

/// A text as comment lines, cut where it becomes a document.
pub(super) fn comment(indent: usize, text: &str) -> String {
    const MOST: usize = 160;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let cut: String = line.chars().take(MOST).collect();
    let more = if cut.len() < line.len() { "…" } else { "" };
    format!("{:indent$}# {cut}{more}\n", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostics;
    use crate::source::{Source, yaml};
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Json {
        let source = Source::new("a.yml", "a.yml", text.to_owned());
        let mut diagnostics = Diagnostics::default();
        let node = yaml::parse(&source, &mut diagnostics).expect(text);
        assert!(!diagnostics.has_errors(), "{text}\n{}", diagnostics.render(false));
        node.to_json()
    }

    #[test]
    fn what_is_plain_is_written_plain() {
        assert_eq!(
            flow(&json!({"a": "hello world", "b": [1, true, null, "true", "1", "", "x: y"]})),
            r#"{ a: hello world, b: [1, true, null, "true", "1", "", "x: y"] }"#
        );
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in any::<String>(), key in any::<String>()) {
            let value = json!({key.replace("${", ""): [text.replace("${", "")]});
            let written = entry(0, "k", &value);
            prop_assert_eq!(read(&written), json!({"k": value}));
        }
    }
}
