//! `$near: [3, 0.5]`: a number is at most 0.5 away from 3.

use mcptest_guest::{Failure, Matcher, Request, Value, Verdict, decode, export_matcher};

struct Near {
    to: f64,
    tolerance: f64,
}

impl Matcher for Near {
    const NAME: &'static str = "near";
    const SUMMARY: &'static str = "a number is near another";

    fn prepare(expected: &Value) -> Result<Near, Failure> {
        match decode::<[f64; 2]>(expected) {
            Ok([to, tolerance]) if tolerance >= 0.0 => Ok(Near { to, tolerance }),
            _ => Err(Failure::invalid("expected `[number, tolerance]`")),
        }
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        match actual.as_f64() {
            Some(number) if (number - self.to).abs() <= self.tolerance => Verdict::pass(),
            Some(_) => Verdict::fail("the number is too far away"),
            None => Verdict::fail("expected a number"),
        }
    }
}

export_matcher!(Near);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Near>("../cases.json");
    }
}
