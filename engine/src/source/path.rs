//! JSONPath (RFC 9535), with a limit that keeps the parser from running out of stack.

use serde_json_path::JsonPath;

/// How deep brackets and parentheses may nest: the parser calls itself once or more for each of them.
const MAX_NESTING: usize = 24;

/// Why a text is no JSONPath, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The byte.
    pub position: usize,
    /// What is wrong; empty when all there is to say is that it is none.
    pub message: String,
}

/// Parses a query.
pub fn parse(text: &str) -> Result<JsonPath, Problem> {
    if let Some(position) = too_deep(text) {
        let message = format!("brackets nest more than {MAX_NESTING} levels deep");
        return Err(Problem { position, message });
    }
    JsonPath::parse(text).map_err(|error| {
        let message = match error.message() {
            "parser error" => String::new(),
            message => message.replace('\'', "`"),
        };
        Problem { position: error.position(), message }
    })
}

/// The first bracket beyond the limit; those in quotes do not count.
fn too_deep(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'[' | b'(') => depth += 1,
            (None, b']' | b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_refused_before_the_parser_sees_it() {
        let deep = format!("${}@.a{}", "[?(".repeat(50_000), ")]".repeat(50_000));
        assert_eq!(parse(&deep).expect_err("too deep").message, "brackets nest more than 24 levels deep");
        assert!(parse(&format!("$[?@['{}']]", "[(".repeat(1000))).is_ok());
        assert!(parse(&format!("$[?{}@.a{}]", "(".repeat(20), ")".repeat(20))).is_ok());
    }

    #[test]
    fn a_problem_has_its_place() {
        assert_eq!(parse("$.a[").expect_err("open").position, 3);
        assert!(parse("$.a[0]['b c']").is_ok());
    }
}
