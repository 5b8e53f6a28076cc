//! Dates as servers write them: RFC 3339 and its parts, RFC 2822, common spellings, and seconds or milliseconds since
//! 1970. What names no time zone is taken as UTC.

use super::instant::Instant;
use super::spelt;
use crate::source::Json;
use jiff::civil::{Date, DateTime};
use jiff::fmt::{rfc2822, temporal::Pieces};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

/// Numbers above this are milliseconds, those below are seconds: the year 2286 in seconds, April 1970 in milliseconds.
const MILLISECONDS: f64 = 1e10;

/// A date as text, or as seconds or milliseconds since 1970.
pub(in crate::matcher) fn of_json(value: &Json) -> Option<Instant> {
    match value {
        Json::String(text) => of_text(text),
        Json::Number(number) => unix(number.as_f64()?),
        _ => None,
    }
}

/// A date as text.
pub(in crate::matcher) fn of_text(text: &str) -> Option<Instant> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.starts_with(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return unix(text.parse().ok()?);
    }
    written(text)
}

/// A date that is written as one, and no bare number.
pub(in crate::matcher) fn written(text: &str) -> Option<Instant> {
    let text = text.trim();
    // Dates are short and have a digit: whatever else a server sends is dismissed here.
    if text.len() < 6 || text.len() > 100 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    iso(text).or_else(|| rfc2822::parse(text).ok().map(|zoned| zoned.timestamp().into())).or_else(|| spelt::parse(text))
}

fn iso(text: &str) -> Option<Instant> {
    let mut bytes = text.bytes();
    let year = bytes.by_ref().take(4).filter(u8::is_ascii_digit).count() == 4 && bytes.next() == Some(b'-');
    if !year {
        return None;
    }
    if text.len() == 7 {
        return format!("{text}-01").parse::<Date>().ok().map(|date| utc(date.to_datetime(Default::default())));
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.into());
    }
    let no_zone = || (!text.ends_with(['Z', 'z'])).then(|| text.parse::<DateTime>().ok()).flatten().map(utc);
    last_days(text).or_else(no_zone)
}

/// A moment with an offset, so late that a [`Timestamp`] does not reach it: `9999-12-31T23:59:59Z`.
fn last_days(text: &str) -> Option<Instant> {
    let pieces = Pieces::parse(text).ok()?;
    Some(Instant::civil(pieces.date().to_datetime(pieces.time()?), pieces.to_numeric_offset()?))
}

fn utc(at: DateTime) -> Instant {
    Instant::civil(at, Offset::UTC)
}

fn unix(number: f64) -> Option<Instant> {
    let milliseconds = if number.abs() > MILLISECONDS { number } else { number * 1000.0 };
    if milliseconds.abs() > 8.64e15 {
        return None;
    }
    Some(Instant::milliseconds(milliseconds.trunc() as i64))
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
        let noon = Instant::from(noon);
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
            "Thu Mar 07 2024 13:00:00 GMT+0100 (Central European Standard Time)",
            "Thu Mar 07 2024 12:00:00 GMT+0000 (Coordinated Universal Time)",
            "Thu Mar  7 12:00:00 UTC 2024",
            "Thu Mar  7 12:00:00 2024",
            "3/7/2024, 12:00:00 PM",
            "3/7/2024 12:00pm",
            "3/7/24, 12:00 PM",
            "2024-03-07 12:00:00 UTC",
            "2024-03-07 07:00:00 EST",
            "2024-03-07 12:00:00 +0000",
            "2024-03-07 17:30:00.000 +05:30",
            "Mar 7 2024 12:00:00Z",
            "March 7, 2024 12:00 PM",
            "Thursday, March 7, 2024 12:00",
            "Thu, 07-Mar-2024 12:00:00 GMT",
        ] {
            assert_eq!(of_text(text), Some(noon), "{text}");
        }
        assert_eq!(of_json(&json!(1_709_812_800)), Some(noon));
        assert_eq!(of_json(&json!(1_709_812_800_000_i64)), Some(noon));
    }

    #[test]
    fn dates_without_time_and_what_is_no_date() {
        let day: Timestamp = "2024-03-07T00:00:00Z".parse().expect("a date");
        for text in [
            "2024-03-07",
            "2024/03/07",
            "3/7/2024",
            "03-07-2024",
            "2024-3-7",
            "March 7, 2024",
            "7 Mar 2024",
            "7-Mar-2024",
            "Mar 7 2024",
            "Mar. 7, 2024",
            "Thu Mar 07 2024",
            "Thursday, March 7, 2024",
            "3/7/2024 12:00 AM",
        ] {
            assert_eq!(of_text(text), Some(day.into()), "{text}");
        }
        for text in [
            "",
            "hello",
            "2024-13-01",
            "2024-02-30",
            "2024-2-30",
            "99/99/2024",
            "12:00",
            "1e400",
            "2024-03-07T25:00:00Z",
            "--",
            "Fri Mar 07 2024",
            "Mar 7 2024 2024",
            "Mar 2024",
            "March 7, 2024 13:00 PM",
            "3/7/2024 10:99",
            "3/7/2024 at 10:00",
            "item-42 of 2024",
            "7 (of 2024)",
            "3/7/2024 +99:00",
            "127.0.0.1:8080",
            "1-2-3-4",
            "2024/0é/07",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
        assert_eq!(of_json(&json!(1e300)), None);
    }

    #[test]
    fn the_last_day_of_9999_is_one() {
        let last = ["9999-12-31", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999+00:00"].map(of_text);
        assert!(last[0].is_some() && last[0] < last[1] && last[1] < last[2], "{last:?}");
        assert_eq!(last[2], of_json(&json!(253_402_300_799_999_u64)));
        assert_eq!(of_text("9999-12-31T23:59:59-01:00"), of_json(&json!(253_402_304_399_000_u64)));
        let shown = |at: Option<Instant>| at.expect("a date").to_string();
        assert_eq!(shown(last[1]), "9999-12-31T23:59:59Z");
        assert_eq!(shown(of_json(&json!(8.64e15))), "8640000000000000 ms after 1970");
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
