//! How a date is written.

use super::parse;
use crate::matcher::leaf::{Rule, Verdict};
use crate::source::Json;
use jiff::civil::Date;
use jiff::fmt::strtime;

/// The named formats.
pub(in crate::matcher) const NAMES: [&str; 8] =
    ["iso", "iso-date", "iso-time", "us-date", "eu-date", "timestamp", "rfc2822", "any"];

/// A way to write a date.
#[derive(Debug)]
pub(in crate::matcher) enum Format {
    /// One of [`NAMES`].
    Named(&'static str),
    /// With `%Y` and its like.
    Pattern(String),
}

impl Format {
    pub(in crate::matcher) fn parse(text: &str) -> Option<Format> {
        if text.contains('%') {
            return is_pattern(text).then(|| Format::Pattern(text.to_owned()));
        }
        NAMES.iter().find(|name| **name == text).map(|name| Format::Named(name))
    }

    fn holds(&self, text: &str) -> bool {
        match self {
            Format::Pattern(pattern) => strtime::parse(pattern, text).is_ok_and(|date| {
                let whole = date.year().is_some() && date.month().is_some() && date.day().is_some();
                !whole || date.to_date().is_ok()
            }),
            Format::Named("iso") => {
                let shape = text.len() >= 19 && text.as_bytes()[10] == b'T' && digits(&text.as_bytes()[..4]);
                shape && parse::written(text).is_some()
            }
            Format::Named("iso-date") => {
                let shape = text.len() == 10 && [4, 7].iter().all(|at| text.as_bytes()[*at] == b'-');
                shape && parse::written(text).is_some()
            }
            Format::Named("iso-time") => {
                let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
                clock.len() == 8
                    && strtime::parse("%H:%M:%S", clock).is_ok()
                    && !fraction.is_empty()
                    && digits(fraction.as_bytes())
            }
            Format::Named("us-date") => slashed(text).is_some_and(|(month, day, year)| real(year, month, day)),
            Format::Named("eu-date") => slashed(text).is_some_and(|(day, month, year)| real(year, month, day)),
            Format::Named("timestamp") => !text.is_empty() && digits(text.as_bytes()),
            Format::Named("rfc2822") => jiff::fmt::rfc2822::parse(text).is_ok(),
            Format::Named(_) => parse::of_text(text).is_some(),
        }
    }

    fn name(&self) -> &str {
        match self {
            Format::Named(name) => name,
            Format::Pattern(pattern) => pattern,
        }
    }
}

/// Whether every `%X` of a pattern is known: one that is not would never hold.
fn is_pattern(pattern: &str) -> bool {
    let noon = jiff::Zoned::new(jiff::Timestamp::UNIX_EPOCH, jiff::tz::TimeZone::UTC);
    strtime::format(pattern, &noon).is_ok()
}

fn digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}

/// `1/2/2024` in the order it is written; years have four digits.
fn slashed(text: &str) -> Option<(u8, u8, i16)> {
    let (first, rest) = text.split_once('/')?;
    let (second, year) = rest.split_once('/')?;
    let part = |text: &str| (text.len() <= 2 && digits(text.as_bytes())).then(|| text.parse().ok()).flatten();
    Some((
        part(first)?,
        part(second)?,
        (year.len() == 4 && digits(year.as_bytes())).then(|| year.parse().ok()).flatten()?,
    ))
}

fn real(year: i16, month: u8, day: u8) -> bool {
    match (i8::try_from(month), i8::try_from(day)) {
        (Ok(month), Ok(day)) => Date::new(year, month, day).is_ok(),
        _ => false,
    }
}

impl Rule for Format {
    fn judge(&self, actual: &Json) -> Verdict {
        match (self, actual) {
            (_, Json::String(text)) => self.holds(text).into(),
            (Format::Named("timestamp"), Json::Number(number)) => number.is_u64().into(),
            (Format::Named("any"), Json::Number(_)) => parse::of_json(actual).is_some().into(),
            _ => Verdict::Needs("a date as text"),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        let is_date = parse::of_json(actual).is_some();
        let name = self.name();
        if is_date {
            format!("it is a date, and not written as `{name}`")
        } else {
            format!("it is not a date written as `{name}`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_admit_real_dates_only() {
        let holds = |name: &str, text: &str| Format::parse(name).is_some_and(|format| format.holds(text));
        assert!(holds("iso", "2024-03-07T12:00:00Z"));
        assert!(holds("iso", "2024-03-07T12:00:00.123456+02:00"));
        assert!(holds("iso", "2024-03-07T12:00:00"));
        assert!(!holds("iso", "2024-03-07"));
        assert!(!holds("iso", "2024-99-99T12:00:00Z"));
        assert!(!holds("iso", "2024-03-07Té:00:00Z!!"));
        assert!(holds("iso-date", "2024-03-07"));
        assert!(!holds("iso-date", "2024-02-30"));
        assert!(
            !holds("iso-date", "2024/03/07") && !holds("iso-date", "03-07-2024") && !holds("iso-date", "Mar 7 2024")
        );
        assert!(holds("iso-time", "23:59:59.123"));
        assert!(!holds("iso-time", "25:00:00"));
        assert!(holds("us-date", "12/31/2024") && !holds("us-date", "31/12/2024"));
        assert!(holds("eu-date", "31/12/2024") && !holds("eu-date", "12/31/2024"));
        assert!(holds("timestamp", "1709812800") && !holds("timestamp", "17e8"));
        assert!(holds("%d.%m.%Y", "07.03.2024") && !holds("%d.%m.%Y", "2024-03-07"));
        assert!(!holds("%Y-%m-%d", "2023-02-29") && holds("%Y-%m-%d", "2024-02-29") && holds("%m/%d", "02/29"));
        assert!(Format::parse("nope").is_none() && Format::parse("%Y %Ö").is_none() && Format::parse("%").is_none());
    }
}
