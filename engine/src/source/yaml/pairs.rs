//! Surrogate pairs, as JSON escapes what stands beyond U+FFFF: `"\ud83d\ude00"`. YAML has no such escapes, and suites hold
//! JSON that was pasted.

/// How many characters shorter the escape of YAML is: `\U0001F600`.
const SHORTER: usize = 2;
/// Characters of a pair.
const PAIR: usize = 12;

/// A text in which every pair is one escape of YAML.
pub(super) struct Joined {
    pub(super) text: String,
    pairs: Vec<Pair>,
}

/// One pair that was joined.
struct Pair {
    /// The character at which its escape begins, in the new text.
    at: usize,
    escape: String,
    written: String,
}

/// Joins the pairs of a text; `None` when it has none.
pub(super) fn join(text: &str) -> Option<Joined> {
    let mut joined = Joined { text: String::with_capacity(text.len()), pairs: Vec::new() };
    let (mut rest, mut characters) = (text, 0);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        joined.text.push_str(before);
        characters += before.chars().count();
        // What a backslash escapes is no escape itself; a pair is ASCII.
        let (taken, put) = match code(escape) {
            Some(code) => {
                let put = format!("\\U{code:08X}");
                joined.pairs.push(Pair { at: characters, escape: put.clone(), written: escape[..PAIR].to_owned() });
                (PAIR, put)
            }
            None => {
                let taken = escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at);
                (taken, escape[..taken].to_owned())
            }
        };
        characters += put.chars().count();
        joined.text.push_str(&put);
        rest = &escape[taken..];
    }
    joined.text.push_str(rest);
    (!joined.pairs.is_empty()).then_some(joined)
}

/// The character that the pair at the start of a text stands for.
fn code(text: &str) -> Option<u32> {
    let unit = |text: &str| u32::from_str_radix(text.strip_prefix("\\u")?, 16).ok();
    let (high, low) = (unit(text.get(..PAIR / 2)?)?, unit(text.get(PAIR / 2..PAIR)?)?);
    let is_pair = (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low);
    is_pair.then(|| 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
}

impl Joined {
    /// The character of the text as it was written, for one of the new text.
    pub(super) fn written_at(&self, index: usize) -> usize {
        index + SHORTER * self.pairs.partition_point(|pair| pair.at < index)
    }

    /// What was written in a scalar without escapes, which lies between two characters of the new text.
    pub(super) fn restore(&self, scalar: String, from: usize, to: usize) -> String {
        let first = self.pairs.partition_point(|pair| pair.at < from);
        let inside = self.pairs[first..].iter().take_while(|pair| pair.at < to);
        let (mut restored, mut done) = (String::new(), 0);
        for pair in inside {
            let Some(at) = scalar[done..].find(&pair.escape) else { break };
            restored.push_str(&scalar[done..done + at]);
            restored.push_str(&pair.written);
            done += at + pair.escape.len();
        }
        restored + &scalar[done..]
    }
}
