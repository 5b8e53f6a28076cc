//! `$fuzzy`: text is like another text.
//!
//! ```yaml
//! text: { $fuzzy: "the quick brown fox" }                            # at least 0.8 alike
//! text: { $fuzzy: { to: "brown fox, quick", ratio: 0.9, by: words } }
//! ```
//!
//! By `characters` (the default) the ratio is one minus the edit distance over the longer length. By `words` order and
//! repetition don't count, and a text that holds all words of the other is wholly like it.

use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The edit distance costs the product of both lengths: this many steps take about a tenth of a second.
const LARGEST_PRODUCT: usize = 20_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fuzzy {
    to: String,
    #[serde(default = "usual_ratio")]
    ratio: f64,
    #[serde(default)]
    by: By,
}

#[derive(Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    #[default]
    Characters,
    Words,
}

fn usual_ratio() -> f64 {
    0.8
}

impl Matcher for Fuzzy {
    const NAME: &'static str = "fuzzy";
    const SUMMARY: &'static str = "text is like another text, by characters or by words";

    fn prepare(expected: &Value) -> Result<Fuzzy, Failure> {
        let fuzzy = match expected {
            Value::String(to) => Fuzzy { to: to.clone(), ratio: usual_ratio(), by: By::Characters },
            _ => decode(expected)?,
        };
        if (0.0..=1.0).contains(&fuzzy.ratio) {
            Ok(fuzzy)
        } else {
            Err(Failure::invalid("`ratio` must be from 0 to 1"))
        }
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Fuzzy {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let text = text(actual)?;
        let ratio = match self.by {
            By::Characters => characters(&self.to, text),
            By::Words => words(&self.to, text),
        };
        let ratio = ratio.ok_or_else(|| Mismatch::new("the texts are too long to compare"))?;
        if ratio >= self.ratio {
            return Ok(());
        }
        // Rounded down, so that a near miss doesn't read as a hit.
        let shown = (ratio * 100.0).floor() / 100.0;
        Err(Mismatch::new(format_args!("the texts are {shown:.2} alike, expected at least {}", self.ratio))
            .expected(self.to.as_str()))
    }
}

fn characters(one: &str, other: &str) -> Option<f64> {
    if one == other {
        return Some(1.0);
    }
    let (a, b) = (one.chars().count(), other.chars().count());
    (a.saturating_mul(b) <= LARGEST_PRODUCT).then(|| strsim::normalized_levenshtein(one, other))
}

/// The best likeness among the shared words and the shared words with those that only one text has.
fn words(one: &str, other: &str) -> Option<f64> {
    let (one, other) = (set(one), set(other));
    let join = |words: Vec<&String>| words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
    let shared = join(one.intersection(&other).collect());
    let with = |rest: Vec<&String>| format!("{shared} {}", join(rest)).trim().to_owned();
    let (first, second) = (with(one.difference(&other).collect()), with(other.difference(&one).collect()));
    let whole = characters(&first, &second)?;
    if shared.is_empty() {
        return Some(whole);
    }
    Some(whole.max(characters(&shared, &first)?).max(characters(&shared, &second)?))
}

fn set(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

export_matcher!(Fuzzy);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Fuzzy>("cases.json");
    }
}
