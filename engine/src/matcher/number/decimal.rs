//! Numbers as they are written, in decimal: 0.3 is three times 0.1, whatever binary fractions say.

use serde_json::Number;

/// A number as digits and a power of ten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    power: i32,
}

impl Decimal {
    /// The number, in the shortest way to write it.
    pub(super) fn of(number: &Number) -> Option<Decimal> {
        let text = number.to_string();
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i32>().ok()?),
            None => (text.as_str(), 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, power: power - i32::try_from(fraction.len()).ok()? })
    }

    /// Whether this is a whole number of times `of`, which is not 0.
    pub(super) fn is_multiple_of(self, of: Decimal) -> bool {
        let shift = self.power - of.power;
        if shift >= 0 {
            // Step by step, so that the remainder stays small however large the number is.
            return (0..shift).fold(self.digits % of.digits, |rest, _| rest * 10 % of.digits) == 0;
        }
        match 10i128.checked_pow(shift.unsigned_abs()).and_then(|scale| of.digits.checked_mul(scale)) {
            Some(of) => self.digits % of == 0,
            None => self.digits == 0,
        }
    }

    /// Whether this is at most `by` away from `to`; `None` when the numbers lie too far apart to be written out.
    pub(super) fn is_within(self, by: Decimal, to: Decimal) -> Option<bool> {
        let least = self.power.min(by.power).min(to.power);
        let scaled = |it: Decimal| {
            let scale = 10i128.checked_pow(u32::try_from(it.power - least).ok()?)?;
            it.digits.checked_mul(scale)
        };
        let away = scaled(self)?.checked_sub(scaled(to)?)?.checked_abs()?;
        Some(away <= scaled(by)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::of(&serde_json::from_str(text).expect("a number")).expect("a decimal")
    }

    #[test]
    fn multiples_are_exact_however_large_the_numbers_are() {
        let is = |number: &str, of: &str| decimal(number).is_multiple_of(decimal(of));
        assert!(is("0.3", "0.1") && is("19.99", "0.01") && is("3e-7", "1e-7") && is("-4.5", "1.5") && is("0", "7"));
        assert!(is("1e300", "8") && is("1e21", "1e-300") && is("18446744073709551615", "5"));
        assert!(!is("10000000000.5", "1") && !is("1e16", "3") && !is("1e300", "7") && !is("1e-300", "2"));
    }

    #[test]
    fn distances_are_exact() {
        let is = |number: &str, by: &str, to: &str| decimal(number).is_within(decimal(by), decimal(to));
        assert_eq!(is("1.1", "0.1", "1"), Some(true));
        assert_eq!(is("1.1001", "0.1", "1"), Some(false));
        assert_eq!(is("9007199254740992", "0", "9007199254740993"), Some(false));
        assert_eq!(is("18446744073709551605", "10", "18446744073709551615"), Some(true));
        assert_eq!(is("1e300", "1", "0"), None);
    }
}
