//! JSON text to a spanned tree.
//!
//! JSON is almost YAML: tabs indent it, and its strings hold surrogate pairs. Files named `.json` are read here, strictly
//! (RFC 8259), into the same tree with the same rules for duplicate keys, depth and wide numbers.

use super::yaml::{self, MAX_DEPTH};
use super::{Entry, Kind, Node, Source, Span};
use crate::diagnostic::{Diagnostic, Diagnostics};
use std::collections::HashMap;
use std::sync::Arc;

/// Parses one value; every problem goes into `diagnostics`, and `None` means that there is no usable tree.
pub fn parse(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Node> {
    let mut parser = Parser { source, text: source.text.as_bytes(), at: 0, depth: 0, diagnostics };
    parser.blank();
    if parser.at == parser.text.len() {
        diagnostics.push(yaml::empty(source));
        return None;
    }
    let parsed = parser.value().and_then(|node| {
        parser.blank();
        if parser.at < parser.text.len() {
            return Err(parser.error("text after the end of the value"));
        }
        Ok(node)
    });
    parsed.map_err(|fatal| diagnostics.push(*fatal)).ok()
}

type Fatal = Box<Diagnostic>;

struct Parser<'a> {
    source: &'a Arc<Source>,
    text: &'a [u8],
    at: usize,
    depth: usize,
    diagnostics: &'a mut Diagnostics,
}

impl Parser<'_> {
    fn value(&mut self) -> Result<Node, Fatal> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.nested(Self::map)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node::new(kind, Span::new(start, self.at)))
    }

    fn nested(&mut self, collection: fn(&mut Self) -> Result<Kind, Fatal>) -> Result<Kind, Fatal> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        self.at += 1;
        self.blank();
        let kind = collection(self);
        self.depth -= 1;
        kind
    }

    fn list(&mut self) -> Result<Kind, Fatal> {
        let mut items = Vec::new();
        if self.eat(b']') {
            return Ok(Kind::List(items));
        }
        loop {
            items.push(self.value()?);
            if !self.more(b']')? {
                return Ok(Kind::List(items));
            }
        }
    }

    fn map(&mut self) -> Result<Kind, Fatal> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        if self.eat(b'}') {
            return Ok(Kind::Map(entries));
        }
        loop {
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.strange("expected a key in double quotes", "for example `{\"command\": \"node\"}`"));
            }
            let key = self.string()?;
            let key_span = Span::new(start, self.at);
            self.blank();
            if !self.eat(b':') {
                return Err(self.error("expected `:` after the key"));
            }
            self.blank();
            let value = self.value()?;
            match seen.get(&key) {
                Some(&first) => self.diagnostics.push(
                    Diagnostic::error(format!("duplicate key `{key}`"))
                        .at(self.source, key_span)
                        .label("written again here")
                        .also(first, "first written here"),
                ),
                None => {
                    seen.insert(key.clone(), key_span);
                    entries.push(Entry { key, key_span, value });
                }
            }
            if !self.more(b'}')? {
                return Ok(Kind::Map(entries));
            }
        }
    }

    /// After an element: `true` when a comma promises another one, `false` at the end.
    fn more(&mut self, close: u8) -> Result<bool, Fatal> {
        self.blank();
        if self.eat(close) {
            return Ok(false);
        }
        let comma = self.at;
        if !self.eat(b',') {
            return Err(self.error(format!("expected `,` or `{}`", close as char)));
        }
        self.blank();
        if self.peek() == Some(close) {
            self.at = comma;
            return Err(Box::new(self.error("a comma with nothing after it").hint("JSON has no trailing commas")));
        }
        Ok(true)
    }

    fn string(&mut self) -> Result<String, Fatal> {
        let open = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let from = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1F)) {
                self.at += 1;
            }
            text.push_str(&self.source.text[from..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                None | Some(b'\n' | b'\r') => {
                    self.at = open;
                    return Err(self.error("this text is never closed"));
                }
                Some(_) => return Err(self.error("a control character in text has to be escaped")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fatal> {
        let start = self.at;
        self.at += 2;
        let plain = match self.text.get(start + 1) {
            Some(byte @ (b'"' | b'\\' | b'/')) => *byte as char,
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => {
                self.at = start;
                return Err(self.error("unknown escape"));
            }
        };
        Ok(plain)
    }

    fn unicode(&mut self, start: usize) -> Result<char, Fatal> {
        let mut code = self.hex();
        if let Some(high @ 0xD800..=0xDBFF) = code {
            let low = match self.text[self.at..].starts_with(b"\\u") {
                true => {
                    self.at += 2;
                    self.hex()
                }
                false => None,
            };
            code = low
                .filter(|low| (0xDC00..=0xDFFF).contains(low))
                .map(|low| 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
        code.and_then(char::from_u32).ok_or_else(|| {
            self.at = start;
            self.error("this escape is no character")
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let digits =
            std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Result<Kind, Fatal> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            self.at += 1;
        }
        let text = &self.source.text[start..self.at];
        let wide = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
            && text.parse::<i64>().is_err()
            && text.parse::<u64>().is_err();
        match serde_json::from_str(text) {
            Ok(number) if !wide => Ok(Kind::Number(number)),
            Ok(_) => {
                let problem = Diagnostic::error(format!("`{text}` does not fit in 64 bits"));
                self.diagnostics
                    .push(problem.at(self.source, Span::new(start, self.at)).hint("put it in quotes to mean the text"));
                Ok(Kind::String(text.to_owned()))
            }
            Err(_) => {
                self.at = start;
                Err(self.error("not a number"))
            }
        }
    }

    fn word(&mut self) -> Result<Kind, Fatal> {
        let words = [("true", Kind::Bool(true)), ("false", Kind::Bool(false)), ("null", Kind::Null)];
        for (word, kind) in words {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(kind);
            }
        }
        Err(self.strange(
            "expected a value",
            "JSON values are text in double quotes, numbers, `true`, `false`, `null`, lists and mappings",
        ))
    }

    /// An error where something other than JSON stands, with a hint for what people write there.
    fn strange(&self, message: &str, otherwise: &str) -> Fatal {
        let hint = match self.peek() {
            Some(b'/' | b'#') => "JSON has no comments",
            Some(b'\'') => "JSON quotes text with `\"`",
            None => "the file ends too early",
            _ => otherwise,
        };
        Box::new(self.error(message).hint(hint))
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn error(&self, message: impl Into<String>) -> Fatal {
        let width = self.source.text[self.at..].chars().next().filter(|c| !c.is_control()).map_or(0, char::len_utf8);
        let message = format!("not valid JSON: {}", message.into());
        Box::new(Diagnostic::error(message).at(self.source, Span::new(self.at, self.at + width)))
    }
}
