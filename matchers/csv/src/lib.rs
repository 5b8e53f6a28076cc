//! `$csv`: text is CSV with the expected columns and rows.
//!
//! ```yaml
//! text: { $csv: true }                                              # every row has as many fields as the first
//! text: { $csv: [id, name] }                                        # these columns, in this order
//! text: { $csv: { columns: [id, name], rows: 2, has: { id: "7" }, delimiter: ";" } }
//! text: { $csv: { rows: { min: 1, max: 10 }, header: false } }
//! ```
//!
//! The first row names the columns unless `header` is false. `has` is a row that must be there, by column.

use csv_reader::{ReaderBuilder, StringRecord};
use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Csv {
    columns: Option<Vec<String>>,
    rows: Option<Value>,
    #[serde(default)]
    has: BTreeMap<String, String>,
    #[serde(default = "comma")]
    delimiter: char,
    #[serde(default = "yes")]
    header: bool,
    #[serde(skip)]
    least: usize,
    #[serde(skip)]
    most: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    #[serde(default)]
    min: usize,
    max: Option<usize>,
}

fn comma() -> char {
    ','
}

fn yes() -> bool {
    true
}

impl Matcher for Csv {
    const NAME: &'static str = "csv";
    const SUMMARY: &'static str = "text is CSV with the expected columns and rows";

    fn prepare(expected: &Value) -> Result<Csv, Failure> {
        let mut csv: Csv = match expected {
            Value::Bool(true) => decode(&Value::Object(Default::default()))?,
            Value::Array(_) => Csv { columns: Some(decode(expected)?), ..Csv::prepare(&true.into())? },
            _ => decode(expected)?,
        };
        if !csv.delimiter.is_ascii() || "\"\r\n".contains(csv.delimiter) {
            return Err(Failure::invalid("`delimiter` must be one ASCII character, no quote and no newline"));
        }
        if !csv.header && (csv.columns.is_some() || !csv.has.is_empty()) {
            return Err(Failure::invalid("`columns` and `has` need a header"));
        }
        (csv.least, csv.most) = match csv.rows.take() {
            None => (0, None),
            Some(Value::Number(rows)) => decode(&rows.into()).map(|rows: usize| (rows, Some(rows)))?,
            Some(range) => decode(&range).map(|Range { min, max }| (min, max))?,
        };
        Ok(csv)
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Csv {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let text = text(actual)?;
        let mut builder = ReaderBuilder::new();
        let mut reader = builder.delimiter(self.delimiter as u8).has_headers(self.header).from_reader(text.as_bytes());
        let broken = |error| Mismatch::new(format_args!("expected CSV: {error}"));
        let columns = if self.header { reader.headers().map_err(broken)?.clone() } else { StringRecord::new() };
        if let Some(wanted) = &self.columns {
            let found: Vec<&str> = columns.iter().collect();
            if *wanted != found {
                return Err(Mismatch::new("the columns differ").expected(wanted.clone()).actual(found));
            }
        }
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(broken)?;
        if ends_in_quotes(text, self.delimiter) {
            return Err(Mismatch::new("expected CSV: a quoted field is not closed"));
        }
        if rows.len() < self.least || self.most.is_some_and(|most| rows.len() > most) {
            let wanted = match self.most {
                Some(most) if most == self.least => format!("{most}"),
                Some(most) => format!("{} to {most}", self.least),
                None => format!("at least {}", self.least),
            };
            return Err(Mismatch::new(format_args!("there are {} rows, expected {wanted}", rows.len())));
        }
        if self.has.is_empty() || rows.iter().any(|row| self.is_wanted(&columns, row)) {
            return Ok(());
        }
        Err(Mismatch::new("no row has the expected fields").expected(self.has.clone().into_iter().collect::<Value>()))
    }

    fn is_wanted(&self, columns: &StringRecord, row: &StringRecord) -> bool {
        self.has
            .iter()
            .all(|(name, value)| columns.iter().zip(row).any(|(column, field)| column == name && field == value))
    }
}

/// What a reader takes for the last field, and is mostly text that was cut off.
fn ends_in_quotes(text: &str, delimiter: char) -> bool {
    let (mut is_inside, mut is_start) = (false, true);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_inside => is_inside = characters.next_if_eq(&'"').is_some(),
            '"' => is_inside = is_start,
            _ => {}
        }
        is_start = !is_inside && (character == delimiter || "\r\n".contains(character));
    }
    is_inside
}

export_matcher!(Csv);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Csv>("cases.json");
    }
}
