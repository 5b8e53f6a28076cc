//! Arguments and values that no author thinks of. Whatever a matcher says about them, it says so without a panic, and
//! says the same twice.

use crate::matchers::{Call, Matchers};
use serde_json::{Value, json};

/// Deep enough for a careless recursion to show, within what the parser accepts.
const DEPTH: usize = 100;

/// A text of more bytes than a 16-bit length can say.
const LONG: usize = 70_000;

/// Tries every nasty argument, and every nasty value against every argument that is valid.
#[track_caller]
pub(super) fn run<'a>(matchers: &Matchers, name: &str, written: impl Iterator<Item = &'a Value>) {
    let nasty = values();
    let arguments: Vec<String> = written.map(Value::to_string).chain(nasty.iter().cloned()).collect();
    for expected in arguments.iter().filter(|expected| matchers.check(name, expected).is_ok()) {
        for actual in &nasty {
            let call = Call { matcher: name, expected, actual, path: "$", step: "nasty" };
            let first = matchers.evaluate(&call);
            assert_eq!(first, matchers.evaluate(&call), "`{name}` changed its mind about {actual} as {expected}");
        }
    }
}

fn values() -> Vec<String> {
    let deep = (0..DEPTH).fold(json!(null), |inner, _| json!([inner]));
    let nested = (0..DEPTH).fold(json!(1), |inner, _| json!({ "a": inner }));
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(5e-324),
        json!(""),
        json!(" "),
        json!("\u{0}"),
        json!("\u{feff}é𝄞e\u{301}\u{202e}"),
        json!("[](*+?{1,999999}\\"),
        json!("%s%n ${env:HOME} ../../etc/passwd"),
        json!("a".repeat(LONG)),
        json!([]),
        json!([null, [], {}]),
        json!({}),
        json!({ "": "", "$ref": "#", "__proto__": {} }),
        deep,
        nested,
    ];
    values.iter().map(Value::to_string).collect()
}
