//! Skips every test whose name starts with `slow`.

use mcptest_guest::{Failure, Transform, Value, export_transform, json};

struct SkipSlow;

impl Transform for SkipSlow {
    fn transform(mut suite: Value) -> Result<Value, Failure> {
        let lanes = suite.as_object_mut().into_iter().flat_map(|suite| suite.values_mut());
        for test in lanes.filter_map(Value::as_array_mut).flatten() {
            if test["it"].as_str().is_some_and(|name| name.starts_with("slow")) {
                test["skip"] = json!("it is slow");
            }
        }
        Ok(suite)
    }
}

export_transform!(SkipSlow);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run_transform::<super::SkipSlow>("cases.json");
    }
}
