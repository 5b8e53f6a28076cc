//! Durations, bounds of durations, and sizes, as users write them.
//!
//! A number alone counts milliseconds, in quotes or not; units are `250ms`, `1.5s`, `2m`, `1h`. Sizes count bytes:
//! `64MiB`, `10kB`.

use super::{Kind, Node};
use std::time::Duration;

/// Longer than any test; keeps sums of deadlines within what clocks can hold.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

const DURATION_UNITS: &[(&str, f64)] = &[("", 0.001), ("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
const SIZE_UNITS: &[(&str, f64)] = &[
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("B", 1.0),
];

/// How a [`Bound`] compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

/// A bound of a duration: `<500ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// How it compares.
    pub comparison: Comparison,
    /// With what.
    pub limit: Duration,
}

impl Bound {
    /// Whether `actual` is within the bound.
    pub fn holds(self, actual: Duration) -> bool {
        match self.comparison {
            Comparison::Less => actual < self.limit,
            Comparison::LessOrEqual => actual <= self.limit,
            Comparison::Greater => actual > self.limit,
            Comparison::GreaterOrEqual => actual >= self.limit,
        }
    }
}

/// The duration that `text` says; the error says what is wrong with it.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text)?;
    let Some((_, seconds)) = DURATION_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("has no unit of time: `{unit}` is none of `ms`, `s`, `m`, `h`"));
    };
    within(number * seconds)
}

/// The duration that a node says: text with a unit, or a number of milliseconds.
pub fn duration_of(node: &Node) -> Result<Duration, String> {
    match &node.kind {
        Kind::Number(number) => within(number.as_f64().unwrap_or(f64::INFINITY) / 1000.0),
        _ => duration(node.as_str().unwrap_or_default()),
    }
}

/// A bound of a duration: `<500ms`, `>= 1s`.
pub fn bound(text: &str) -> Result<Bound, String> {
    let operators = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    let text = text.trim();
    for (operator, comparison) in operators {
        if let Some(rest) = text.strip_prefix(operator) {
            return Ok(Bound { comparison, limit: duration(rest)? });
        }
    }
    Err("needs a comparison: `<`, `<=`, `>` or `>=`".to_owned())
}

/// The number of bytes that `text` says.
pub fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text)?;
    let Some((_, bytes)) = SIZE_UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(match unit {
            "" => "needs a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`".to_owned(),
            _ => format!("has no unit of size: `{unit}` is none of `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB`, `GB`"),
        });
    };
    let total = number * bytes;
    if !(1.0..=u32::MAX as f64).contains(&total) {
        return Err("is not between 1 byte and 4 GiB".to_owned());
    }
    Ok(total as usize)
}

fn within(seconds: f64) -> Result<Duration, String> {
    if seconds < 0.0 {
        return Err("is negative".to_owned());
    }
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| *duration <= LONGEST);
    duration.ok_or_else(|| "is longer than a year".to_owned())
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    let number = text[..end].parse::<f64>().map_err(|_| "does not begin with a number".to_owned())?;
    Ok((number, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let millis = |text| duration(text).map(|duration| duration.as_millis());
        for (text, expected) in [
            ("250ms", 250),
            ("30s", 30_000),
            ("2m", 120_000),
            ("1.5s", 1500),
            (" .5 s ", 500),
            ("1h", 3_600_000),
            ("0s", 0),
        ] {
            assert_eq!(millis(text), Ok(expected), "{text}");
        }
        for text in ["", "s", "5 parsecs", "-1s", "1e3s", "9999999h", "1.2.3s", "NaNs", "infs", "5 MS"] {
            assert!(millis(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_have_comparisons() {
        let bound = bound("<= 1.5s").expect("a bound");
        assert!(bound.holds(Duration::from_millis(1500)) && !bound.holds(Duration::from_millis(1501)));
        assert!(super::bound("500ms").is_err() && super::bound("<5 kg").is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("10 kB"), Ok(10_000));
        for text in ["64", "0B", "-1B", "64Mib", "9999GiB", "x"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
