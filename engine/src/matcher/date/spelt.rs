//! Dates in words and other common spellings, as JavaScript reads them: `Mon Jan 15 2024 10:30:00 GMT+0000 (Coordinated
//! Universal Time)`, `1/15/2024, 10:30:00 AM`, `15 January 2024`. Unlike JavaScript, what is no date is none: every word
//! must be a part of one, and days and months must exist.

use super::instant::Instant;
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::Offset;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Names of zones, with their hours from UTC.
const ZONES: [(&str, i8); 12] = [
    ("utc", 0),
    ("gmt", 0),
    ("ut", 0),
    ("z", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
];

/// The moment that a text spells.
pub(super) fn parse(text: &str) -> Option<Instant> {
    // The name of the zone in brackets says what the offset before it says.
    let text = match text.strip_suffix(')') {
        Some(open) => open.split_once(" (")?.0,
        None => text,
    };
    let mut spelling = Spelling::default();
    for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        spelling.take(word)?;
    }
    spelling.instant()
}

/// The parts of a date that were read so far.
#[derive(Default)]
struct Spelling {
    date: Option<Date>,
    month: Option<i8>,
    day: Option<i8>,
    year: Option<i16>,
    weekday: Option<Weekday>,
    time: Option<Time>,
    offset: Option<Offset>,
}

impl Spelling {
    /// Reads one word; `None` when it belongs to no date, or says again what was said.
    fn take(&mut self, word: &str) -> Option<()> {
        let lower = word.to_ascii_lowercase();
        if let Some(offset) = zone(&lower) {
            return set(&mut self.offset, offset);
        }
        if lower.contains(':') {
            return self.clock(&lower);
        }
        if let "am" | "pm" = lower.as_str() {
            self.time = Some(half_day(self.time?, &lower)?);
            return Some(());
        }
        if lower.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.number(&lower);
        }
        if lower.starts_with(|c: char| c.is_ascii_digit()) {
            return match numeric(&lower) {
                Some(date) => set(&mut self.date, date),
                // `15-Jan-2024`.
                None if lower.contains('-') => lower.split('-').try_for_each(|part| self.take(part)),
                None => None,
            };
        }
        let name = lower.strip_suffix('.').unwrap_or(&lower);
        match MONTHS.iter().position(|month| is_short_for(name, month)) {
            Some(at) => set(&mut self.month, at as i8 + 1),
            None => set(&mut self.weekday, DAYS.iter().find(|(day, _)| is_short_for(name, day))?.1),
        }
    }

    /// `10:30`, `10:30:00.5`, `10:30am`, `10:30:00+02:00`.
    fn clock(&mut self, text: &str) -> Option<()> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
        let (clock, rest) = text.split_at(end);
        let mut parts = clock.split(':');
        let hour = small(parts.next()?)?;
        let minute = small(parts.next()?)?;
        let (second, nanosecond) = match parts.next() {
            Some(second) => seconds(second)?,
            None => (0, 0),
        };
        let time = Time::new(hour, minute, second, nanosecond).ok().filter(|_| parts.next().is_none())?;
        set(&mut self.time, time)?;
        if rest.is_empty() { Some(()) } else { self.take(rest) }
    }

    /// A day, or a year: the one that has more digits, or comes later.
    fn number(&mut self, digits: &str) -> Option<()> {
        match (digits.len(), self.day) {
            (1 | 2, None) => set(&mut self.day, digits.parse().ok()?),
            (2 | 4, _) => set(&mut self.year, year(digits)?),
            _ => None,
        }
    }

    fn instant(self) -> Option<Instant> {
        let date = match (self.date, self.year, self.month, self.day) {
            (Some(date), None, None, None) => date,
            (None, Some(year), Some(month), Some(day)) => Date::new(year, month, day).ok()?,
            _ => return None,
        };
        if self.weekday.is_some_and(|day| day != date.weekday()) {
            return None;
        }
        let at = DateTime::from_parts(date, self.time.unwrap_or_default());
        Some(Instant::civil(at, self.offset.unwrap_or(Offset::UTC)))
    }
}

fn set<T>(part: &mut Option<T>, value: T) -> Option<()> {
    part.replace(value).is_none().then_some(())
}

/// Whether a word is a name, or its usual short form.
fn is_short_for(word: &str, name: &str) -> bool {
    word == name || word.len() == 3 && name.starts_with(word) || word == "sept" && name == "september"
}

/// A number of one or two digits.
fn small(digits: &str) -> Option<i8> {
    ((1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

/// Of four digits, or of two as JavaScript has them: 49 is 2049, 50 is 1950.
fn year(digits: &str) -> Option<i16> {
    let year: i16 = digits.parse().ok()?;
    match digits.len() {
        4 => Some(year),
        2 => Some(if year < 50 { 2000 + year } else { 1900 + year }),
        _ => None,
    }
}

/// `15` and `15.25`, as seconds and nanoseconds.
fn seconds(text: &str) -> Option<(i8, i32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
    let nanoseconds = format!("{:0<9}", fraction.get(..9).unwrap_or(fraction)).parse().ok()?;
    Some((small(whole)?, nanoseconds)).filter(|_| digits)
}

fn half_day(time: Time, half: &str) -> Option<Time> {
    let hour = match (time.hour(), half) {
        (12, "am") => 0,
        (12, _) => 12,
        (hour @ 1..=11, "am") => hour,
        (hour @ 1..=11, _) => hour + 12,
        _ => return None,
    };
    time.with().hour(hour).build().ok()
}

/// `1/15/2024` with the month first, `2024/1/15`, both also with hyphens.
fn numeric(text: &str) -> Option<Date> {
    let mark = if text.contains('/') { '/' } else { '-' };
    let mut parts = text.split(mark);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == mark as u8) {
        return None;
    }
    match first.len() {
        4 => Date::new(year(first)?, small(second)?, small(third)?).ok(),
        _ => Date::new(year(third)?, small(first)?, small(second)?).ok(),
    }
}

/// `utc`, `+0000`, `-05:30`, `gmt+0100`.
fn zone(word: &str) -> Option<Offset> {
    if let Some((_, hours)) = ZONES.iter().find(|(name, _)| *name == word) {
        return Offset::from_hours(*hours).ok();
    }
    let number = word.strip_prefix("gmt").or_else(|| word.strip_prefix("utc")).unwrap_or(word);
    let (sign, digits) = match number.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, number.strip_prefix('-')?),
    };
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some(pair), _) => pair,
        (None, 4) => digits.split_at_checked(2)?,
        _ => (digits, "0"),
    };
    let (hours, minutes) = (i32::from(small(hours)?), i32::from(small(minutes)?));
    (minutes < 60).then(|| Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()).flatten()
}
