//! JavaScript's regular expressions, rewritten for Rust's engines.
//!
//! What differs: a lone `{`, `}` or `]` is itself; `[` inside a class is itself; `\d`, `\w` and `\b` are ASCII; `.`
//! stops at every line end; `\/` and other escaped punctuation is itself; `\uXXXX`, surrogate pairs included. Inline
//! flags such as `(?i)`, which JavaScript lacks, are let through.

use std::iter::Peekable;
use std::str::Chars;

/// A pattern in Rust's syntax.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) pattern: String,
    /// Whether it looks around or back, which the linear engine cannot.
    pub(super) backtracks: bool,
}

/// What `\b` is to JavaScript, for the engine that has no ASCII word boundary; and `\B`.
const BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))";
const NO_BOUNDARY: &str = "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))";

/// Rewrites a pattern; the error says what is wrong with it.
pub(super) fn translate(source: &str, dot_all: bool) -> Result<Translated, String> {
    let once = |backtracks| {
        let mut it = Translator {
            rest: source.chars().peekable(),
            out: String::new(),
            backtracks,
            dot_all,
            repeatable: false,
            names: names(source),
        };
        it.run().map(|()| it)
    };
    let mut it = once(false)?;
    if it.backtracks {
        // What stands before the first lookaround is for the other engine too.
        it = once(true)?;
    }
    Ok(Translated { pattern: it.out, backtracks: it.backtracks })
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    backtracks: bool,
    dot_all: bool,
    /// Whether what was read last can be repeated: a place cannot, nor can a repetition.
    repeatable: bool,
    /// How many groups capture, for what `\1` means.
    names: usize,
}

/// How many groups capture.
fn names(source: &str) -> usize {
    let (mut count, mut class) = (0, false);
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '[' => class = true,
            ']' => class = false,
            '(' if !class => {
                let mut ahead = rest.clone();
                let named =
                    ahead.next() == Some('?') && ahead.next() == Some('<') && !matches!(ahead.next(), Some('=' | '!'));
                count += usize::from(rest.peek() != Some(&'?') || named);
            }
            _ => {}
        }
    }
    count
}

impl Translator<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            let repeatable = std::mem::replace(&mut self.repeatable, !matches!(c, '^' | '$' | '|'));
            match c {
                '*' | '+' | '?' => self.repetition(&c.to_string(), repeatable)?,
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '.' if self.dot_all => self.out.push_str(r"[\s\S]"),
                '.' => self.out.push_str(r"[^\n\r\x{2028}\x{2029}]"),
                '{' => match self.counted() {
                    Some(counted) => {
                        self.skip(counted.len() - 1);
                        self.repetition(&counted, repeatable)?;
                    }
                    None => self.out.push_str(r"\{"),
                },
                '}' | ']' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '(' => self.group(),
                // The linear engine would read these as part of its own syntax only in its verbose mode.
                c => self.out.push(c),
            }
        }
        Ok(())
    }

    /// After a `{` that counts repetitions, all of it: digits, perhaps a comma and more digits, and `}`.
    fn counted(&self) -> Option<String> {
        let inside: String = self.rest.clone().take_while(|c| *c != '}').collect();
        let closed = self.rest.clone().any(|c| c == '}');
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let (low, high) = inside.split_once(',').unwrap_or((&inside, ""));
        let counts = !self.out.is_empty() && closed && !low.is_empty() && digits(low) && digits(high);
        counts.then(|| format!("{{{inside}}}"))
    }

    /// A repetition, and the `?` that makes it lazy. Rust's engines also repeat repetitions and places, or take `a++`
    /// for something of their own.
    fn repetition(&mut self, sign: &str, repeatable: bool) -> Result<(), String> {
        if !repeatable {
            return Err(format!("there is nothing that `{sign}` could repeat"));
        }
        self.out.push_str(sign);
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        self.repeatable = false;
        Ok(())
    }

    fn group(&mut self) {
        self.out.push('(');
        self.repeatable = false;
        if self.rest.next_if_eq(&'?').is_none() {
            return;
        }
        self.out.push('?');
        let mut ahead = self.rest.clone();
        let kind = ahead.next();
        let look = matches!(kind, Some('=' | '!')) || kind == Some('<') && matches!(ahead.next(), Some('=' | '!'));
        self.backtracks |= look;
    }

    fn class(&mut self) -> Result<(), String> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            self.out.push_str(if negated { r"[\s\S]" } else { r"[^\s\S]" });
            return Ok(());
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        while self.rest.peek() != Some(&']') {
            let left_is_set = self.is_set();
            self.class_atom()?;
            let mut ahead = self.rest.clone();
            if ahead.next() != Some('-') || matches!(ahead.next(), Some(']') | None) {
                continue;
            }
            self.rest.next();
            // A hyphen is a range only between two single characters.
            self.out.push_str(if left_is_set || self.is_set() { r"\-" } else { "-" });
            self.class_atom()?;
        }
        self.rest.next();
        self.out.push(']');
        Ok(())
    }

    /// Whether what comes next in a class stands for more than one character: `\d`, `\p{L}`.
    fn is_set(&self) -> bool {
        let mut ahead = self.rest.clone();
        ahead.next() == Some('\\')
            && match ahead.next() {
                Some('p' | 'P') => ahead.next() == Some('{'),
                Some(c) => "dDwWsS".contains(c),
                None => false,
            }
    }

    fn class_atom(&mut self) -> Result<(), String> {
        match self.rest.next() {
            None => return Err("a `[` is not closed".into()),
            Some('\\') => self.escape(true)?,
            Some(c @ ('[' | '&' | '~' | '^' | '-')) => {
                self.out.push('\\');
                self.out.push(c);
            }
            Some(c) => self.out.push(c),
        }
        Ok(())
    }

    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some(c) = self.rest.next() else { return Err("it ends in a lone `\\`".into()) };
        self.repeatable = in_class || !matches!(c, 'b' | 'B');
        match c {
            'd' if in_class => self.out.push_str("0-9"),
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' if in_class => self.out.push_str("0-9A-Za-z_"),
            'w' => self.out.push_str("[0-9A-Za-z_]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            's' if in_class => self.out.push_str(r"\x{feff}\s"),
            's' => self.out.push_str(r"[\s\x{feff}]"),
            'S' => self.out.push_str(r"[^\s\x{feff}]"),
            'b' if in_class => self.out.push_str(r"\x08"),
            'b' if self.backtracks => self.out.push_str(BOUNDARY),
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' if in_class => self.out.push('B'),
            'B' if self.backtracks => self.out.push_str(NO_BOUNDARY),
            'B' => self.out.push_str(r"(?-u:\B)"),
            'n' | 'r' | 't' | 'f' | 'v' => {
                self.out.push('\\');
                self.out.push(c);
            }
            'p' | 'P' if self.rest.peek() == Some(&'{') => {
                self.out.push('\\');
                self.out.push(c);
                for c in self.rest.by_ref() {
                    self.out.push(c);
                    if c == '}' {
                        break;
                    }
                }
            }
            'u' => self.unicode(),
            'x' => match self.hex(2) {
                Some(code) => self.code(code),
                None => self.out.push('x'),
            },
            'c' if self.rest.peek().is_some_and(char::is_ascii_alphabetic) => {
                let letter = self.rest.next().map_or(0, |letter| u32::from(letter) % 32);
                self.code(letter);
            }
            'k' if !in_class && self.rest.peek() == Some(&'<') => {
                let name: String = self.rest.by_ref().take_while(|c| *c != '>').skip(1).collect();
                self.reference(&format!("<{name}>"), &format!(r"\k<{name}>"));
            }
            'c' => self.out.push_str(r"\\c"),
            '0'..='9' => self.digits(c, in_class),
            c => self.itself(c),
        }
        Ok(())
    }

    /// After a backslash: the number of a group, else a character in octal, else the digit itself.
    fn digits(&mut self, first: char, in_class: bool) {
        let more = |radix| self.rest.clone().take_while(move |c| c.is_digit(radix));
        let decimal: String = std::iter::once(first).chain(more(10)).collect();
        if !in_class && first != '0' && decimal.parse().is_ok_and(|group: usize| group <= self.names) {
            self.reference(&decimal, &format!(r"\{decimal}"));
            return self.skip(decimal.len() - 1);
        }
        let most = if first <= '3' { 3 } else { 2 };
        let octal: String = std::iter::once(first).chain(more(8)).take(most).collect();
        match u32::from_str_radix(&octal, 8) {
            Ok(code) => {
                self.skip(octal.len() - 1);
                self.code(code);
            }
            Err(_) => self.out.push(first),
        }
    }

    /// What a group has found, or nothing where it has found nothing.
    fn reference(&mut self, group: &str, reference: &str) {
        self.backtracks = true;
        self.out.push_str(&format!("(?({group}){reference}|)"));
    }

    fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.rest.next();
        }
    }

    fn itself(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || !c.is_ascii() || matches!(c, '<' | '>') || c.is_whitespace() {
            return self.out.push(c);
        }
        self.out.push('\\');
        self.out.push(c);
    }

    /// After `\u`: `XXXX`, a pair of surrogates, or `{X…}`.
    fn unicode(&mut self) {
        if self.rest.peek() == Some(&'{') {
            let inside: String = self.rest.clone().skip(1).take_while(|c| *c != '}').collect();
            if let Ok(code) = u32::from_str_radix(&inside, 16) {
                self.rest.nth(inside.len() + 1);
                return self.code(code);
            }
        }
        let Some(high) = self.hex(4) else { return self.out.push('u') };
        let mut ahead = self.rest.clone();
        let pair = (0xd800..0xdc00).contains(&high) && ahead.next() == Some('\\') && ahead.next() == Some('u');
        if pair {
            let low: String = ahead.take(4).collect();
            if let Some(low) = u32::from_str_radix(&low, 16).ok().filter(|low| (0xdc00..0xe000).contains(low)) {
                self.rest.nth(5);
                return self.code(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            }
        }
        self.code(high);
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text: String = self.rest.clone().take(digits).collect();
        if text.len() != digits || !text.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        self.rest.nth(digits - 1);
        u32::from_str_radix(&text, 16).ok()
    }

    /// A character by its number; a lone surrogate stands in no text, so it matches what stands in for it.
    fn code(&mut self, code: u32) {
        let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.out.push_str(&format!(r"\x{{{:x}}}", u32::from(c)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use std::time::Duration;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern, "").unwrap_or_else(|error| panic!("{pattern}: {error}")).matches(text) == Some(true)
    }

    #[test]
    fn reads_what_javascript_reads() {
        for (pattern, text) in [
            (r#"{"a":1}"#, r#"x {"a":1}"#),
            ("a{2}", "aa"),
            ("a{,2}", "a{,2}"),
            ("^a{2,}$", "aaa"),
            ("x]", "x]"),
            ("[[]", "["),
            ("[^]", "\n"),
            ("[a&&b]", "&"),
            (r"https:\/\/x", "https://x"),
            (r"^[\w.+-]+@[\w-]+\.\w+$", "a.b+c@d-e.io"),
            (r"\u00e9\x41\u{1F600}\uD83D\uDE00", "éA😀😀"),
            (r"(?<y>\d{4})-\k<y>", "2024-2024"),
            (r"(a)(b)\2\1", "abba"),
            (r"^(?=.*\d)(?!.*x).+$", "a1"),
            (r"(?<=\$)\d+", "$42"),
            (r"\bfoo\b", "a foo b"),
            (r"a\-b\ c\:d\_e\<f\>", "a-b c:d_e<f>"),
            (r"[\]\-\\]", "]"),
            (r"[\d-x]", "-"),
            (r"[a\-z]", "-"),
            (r"[\s\S]*end", "a\n end"),
            ("(?i)HELLO", "hello"),
            (r"\cJ", "\n"),
            (r"^\p{L}+$", "äé"),
            (r"^\1[\1]\07\101\8$", "\u{1}\u{1}\u{7}A8"),
            (r"(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\10", "abcdefghijj"),
            (r"^(a)\10$", "a\u{8}"),
            (r#"^(["'])?a\1$"#, "a"),
            (r#"^(["'])?a\1$"#, "'a'"),
            (r"^(?<q>')?a\k<q>{1,2}$", "'a''"),
            (r"^(?:(a)|b)\1$", "b"),
            (r"^\c$", r"\c"),
            ("^a+?b*?c??d{1}?$", "abd"),
            ("a|(?:b)+|(c)*", "c"),
            (r"[*+?]+\*\+", "*+?*+"),
            (r"^[\u4e00-\u9fff]+$", "中文"),
            (r"^[\x41-\x43\u{1F600}-\u{1F64F}]+$", "ABC😀"),
            (r"^[^\x00-\x7F]$", "é"),
            (r"^[\cA-\cC\t-\r]+$", "\u{1}\t\n"),
            ("^[+--]$", ","),
            ("^[--/]$", "."),
            (r"^[\w-]+$", "a-b"),
            (r"^[-a]+$", "a-"),
            (r"^[a-]+$", "a-"),
            (r"^[a-c-e]+$", "b-e"),
            (r"^[\p{L}-z]+$", "é-"),
            (r"\bfoo(?=bar)", "a foobar"),
            (r"(?=f)\bfoo\b", "a foo b"),
            (r"(?<!x)\bé", "aé"),
            (r"^a\Bb", "ab"),
            (r"é\Bé", "éé"),
            (r"(?=é)é\Bé", "éé"),
            (r"^[\B]$", "B"),
            (r"\B", "é"),
            (r"^C:\\{1,2}data$", r"C:\data"),
            (r"^\{2}$", "{2}"),
            (r"^\\{2}$", r"\\"),
            (r"^\\\{2}$", r"\{2}"),
            ("^.{1,9999}$", "a"),
            (r"^\S{1,5000}$", "a"),
            ("^(.{1,200}\\n?){1,100}$", "a\nb"),
        ] {
            assert!(matches(pattern, text), "{pattern} on {text:?}");
        }
    }

    #[test]
    fn refuses_what_javascript_refuses_to_match() {
        for (pattern, text) in [
            (r"^\d$", "٣"),
            (r"^\w$", "é"),
            ("a.b", "a\nb"),
            ("a.b", "a\u{2028}b"),
            ("[]", "a"),
            (r"^a$", "a\n"),
            (r"\<a", "a"),
            (r"[^\x00-\x7F]", "plain"),
            (r"[\u4e00-\u9fff]", "-"),
            ("^[a-c-e]$", "d"),
            (r"^[a-\d]$", "b"),
            (r"foo\b(?=.)", "food"),
            (r"\B", "aéb"),
            (r"a\Bé", "aé"),
            (r#"^(["'])?a\1$"#, "'a"),
            (r#"^(["'])?a\1$"#, "a'"),
        ] {
            assert!(!matches(pattern, text), "{pattern} on {text:?}");
        }
        for pattern in [
            "[a", "[a-", "[^", "(a", r"a\", "a)", "*a", "[b-a]", "a**", "a++", "a+*", "a{2}{3}", "a???", "^*", "$+",
            r"\b+", "a|*", "(*a)", "(?:a*+)",
        ] {
            assert!(Pattern::new(pattern, "").is_err(), "{pattern}");
        }
    }

    #[test]
    fn hopeless_backtracking_is_given_up() {
        let pattern = Pattern::new(r"^(?=(a+)+$)(\1)*$", "").expect("compiles");
        let text = format!("{}b", "a".repeat(40));
        assert_ne!(pattern.matches(&text), Some(true));
    }

    #[test]
    fn a_text_that_is_read_again_at_every_place_is_given_up() {
        let pattern = Pattern::new("(?=a)a*c", "").expect("compiles");
        let text = "a".repeat(50_000);
        // It takes seconds, and for a text four times as long minutes.
        assert_eq!(pattern.within(Duration::from_millis(20), &text), None);
        assert_eq!(pattern.matches(&text), None);
        assert!(pattern.reason(&text).contains("given up") && pattern.hints(&text).is_empty());
        assert_eq!(pattern.matches(&format!("{}ac", "b".repeat(50_000))), Some(true));
    }

    #[test]
    fn long_texts_are_searched_to_their_end() {
        let text = format!("{}zz", "ab".repeat(500_000));
        assert!(matches(r"b\Bz", &text) && !matches(r"b\By", &text));
        for pattern in [r"(?<=b)\By", r"(?=\w)\w\B\By"] {
            assert_eq!(Pattern::new(pattern, "").expect("compiles").matches(&text), Some(false), "{pattern}");
        }
        assert!(matches(r"^(?:(?!error)[\s\S])*$", &text[..900_000]));
    }
}
