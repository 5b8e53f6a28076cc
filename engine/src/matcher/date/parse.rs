//! Dates as servers write them: RFC 3339 and its parts, RFC 2822, common spellings, and seconds or milliseconds since
//! 1970. What names no time zone is taken as UTC.

use crate::source::Json;
use jiff::civil::{Date, DateTime};
use jiff::fmt::{rfc2822, strtime};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// Numbers above this are milliseconds, those below are seconds: the year 2286 in seconds, April 1970 in milliseconds.
const MILLISECONDS: f64 = 1e10;

/// Other spellings, with a four-digit year so that nothing short is a date by accident.
const SPELLINGS: [&str; 12] = [
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%m-%d-%Y",
    "%B %d, %Y",
    "%B %d, %Y %H:%M:%S",
    "%b %d, %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%a %b %d %Y",
];

/// A date as text, or as seconds or milliseconds since 1970.
pub(in crate::matcher) fn of_json(value: &Json) -> Option<Timestamp> {
    match value {
        Json::String(text) => of_text(text),
        Json::Number(number) => unix(number.as_f64()?),
        _ => None,
    }
}

/// A date as text.
pub(in crate::matcher) fn of_text(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return unix(text.parse().ok()?);
    }
    written(text)
}

/// A date that is written as one, and no bare number.
pub(in crate::matcher) fn written(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    // Dates are short and have a digit: whatever else a server sends is dismissed here.
    if text.len() < 6 || text.len() > 64 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    iso(text).or_else(|| rfc2822::parse(text).ok().map(|zoned| zoned.timestamp())).or_else(|| spelt(text))
}

fn iso(text: &str) -> Option<Timestamp> {
    let mut bytes = text.bytes();
    let year = bytes.by_ref().take(4).filter(u8::is_ascii_digit).count() == 4 && bytes.next() == Some(b'-');
    if !year {
        return None;
    }
    let month_only = text.len() == 7;
    if month_only {
        return format!("{text}-01").parse::<Date>().ok().and_then(|date| utc(date.to_datetime(Default::default())));
    }
    text.parse::<Timestamp>().ok().or_else(|| {
        let no_zone = !text.ends_with(['Z', 'z']);
        no_zone.then(|| text.parse::<DateTime>().ok()).flatten().and_then(utc)
    })
}

fn spelt(text: &str) -> Option<Timestamp> {
    SPELLINGS.iter().find_map(|format| strtime::parse(format, text).ok()).and_then(|broken| {
        let at = broken.to_datetime().or_else(|_| broken.to_date().map(|date| date.to_datetime(Default::default())));
        at.ok().and_then(utc)
    })
}

fn utc(at: DateTime) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(at).ok()
}

fn unix(number: f64) -> Option<Timestamp> {
    let milliseconds = if number.abs() > MILLISECONDS { number } else { number * 1000.0 };
    if milliseconds.abs() > 8.64e15 {
        return None;
    }
    Timestamp::from_millisecond(milliseconds.trunc() as i64).ok()
}

/// `500ms`, `5s`, `1.5h`, `2d`, `1w`.
pub(in crate::matcher) fn duration(text: &str) -> Option<SignedDuration> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let number: f64 =
        text[..unit_at].trim().parse().ok().filter(|number: &f64| *number >= 0.0 && number.is_finite())?;
    let milliseconds = match &text[unit_at..] {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        "w" => 604_800_000.0,
        _ => return None,
    };
    let total = number * milliseconds;
    (total < 1e15).then(|| SignedDuration::from_millis(total as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spellings_of_one_moment() {
        let noon: Timestamp = "2024-03-07T12:00:00Z".parse().expect("a date");
        for text in [
            "2024-03-07T12:00:00Z",
            "2024-03-07T13:00:00+01:00",
            "2024-03-07T12:00:00.000Z",
            "2024-03-07 12:00:00",
            "2024-03-07T12:00",
            "Thu, 07 Mar 2024 12:00:00 GMT",
            "March 7, 2024 12:00:00",
            "03/07/2024 12:00:00",
            "1709812800",
            "1709812800000",
        ] {
            assert_eq!(of_text(text), Some(noon), "{text}");
        }
        assert_eq!(of_json(&json!(1_709_812_800)), Some(noon));
        assert_eq!(of_json(&json!(1_709_812_800_000_i64)), Some(noon));
    }

    #[test]
    fn dates_without_time_and_what_is_no_date() {
        let day: Timestamp = "2024-03-07T00:00:00Z".parse().expect("a date");
        for text in ["2024-03-07", "2024/03/07", "3/7/2024", "March 7, 2024", "7 Mar 2024", "Thu Mar 07 2024"] {
            assert_eq!(of_text(text), Some(day), "{text}");
        }
        for text in
            ["", "hello", "2024-13-01", "2024-02-30", "99/99/2024", "12:00", "1e400", "2024-03-07T25:00:00Z", "--"]
        {
            assert_eq!(of_text(text), None, "{text}");
        }
        assert_eq!(of_json(&json!(1e300)), None);
    }

    #[test]
    fn durations() {
        assert_eq!(duration("1.5h"), Some(SignedDuration::from_mins(90)));
        assert_eq!(duration("250ms"), Some(SignedDuration::from_millis(250)));
        assert_eq!(duration("5"), None);
        assert_eq!(duration("-5s"), None);
        assert_eq!(duration("5 fortnights"), None);
    }
}
