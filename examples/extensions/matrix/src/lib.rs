//! Expands a test over every combination of values.
//!
//! ```yaml
//! tools:
//!   - it: reads ${size} bytes in ${mode} mode
//!     x-matrix: { size: [0, 1, 4096], mode: [text, binary] }    # six tests
//!     tool: read
//!     args: { size: "${size}", mode: "${mode}" }
//! ```
//!
//! `x-matrix` becomes `each`, one row per combination; the last name changes fastest.

use mcptest_guest::{Failure, Transform, Value, export_transform, json};

/// More combinations than this are a mistake more often than a wish.
const MOST_ROWS: usize = 1000;

struct Matrix;

impl Transform for Matrix {
    fn transform(mut suite: Value) -> Result<Value, Failure> {
        let lanes = suite.as_object_mut().into_iter().flat_map(|suite| suite.values_mut());
        for test in lanes.filter_map(Value::as_array_mut).flatten() {
            expand(test)?;
        }
        Ok(suite)
    }
}

fn expand(test: &mut Value) -> Result<(), Failure> {
    let it = test["it"].as_str().or(test["name"].as_str()).unwrap_or("a test").to_owned();
    let wrong = |problem: &str| Failure::internal(format_args!("`{it}`: {problem}"));
    let Some(fields) = test.as_object_mut() else { return Ok(()) };
    let Some(matrix) = fields.get("x-matrix") else { return Ok(()) };
    if fields.contains_key("each") {
        return Err(wrong("has both `each` and `x-matrix`"));
    }
    let rows = rows(matrix).map_err(wrong)?;
    // In the place of `x-matrix`, so that the rest stays where it was written.
    let old = std::mem::take(fields);
    *fields = old
        .into_iter()
        .map(|(key, value)| match key.as_str() {
            "x-matrix" => ("each".to_owned(), rows.clone()),
            _ => (key, value),
        })
        .collect();
    Ok(())
}

fn rows(matrix: &Value) -> Result<Value, &'static str> {
    let names = matrix.as_object().ok_or("`x-matrix` must map names to lists of values")?;
    let mut rows = vec![json!({})];
    for (name, values) in names {
        let values = values.as_array().filter(|values| !values.is_empty());
        let values = values.ok_or("`x-matrix` must map names to lists of values")?;
        if rows.len() * values.len() > MOST_ROWS {
            return Err("`x-matrix` has more than 1000 combinations");
        }
        let with = |row: &Value, value: &Value| {
            let mut row = row.clone();
            row[name] = value.clone();
            row
        };
        rows = rows.iter().flat_map(|row| values.iter().map(move |value| with(row, value))).collect();
    }
    Ok(rows.into())
}

export_transform!(Matrix);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run_transform::<super::Matrix>("cases.json");
    }
}
