//! What the sandbox costs: the same matcher, called natively and inside its component; one figure per line: `name value`.
//!
//! The argument is the component of `matchers/regex`, whose crate is also linked into this program.

use mcptest_engine::extension::registry::Options;
use mcptest_engine::extension::{Registry, Request, Role, Verdict};
use mcptest_engine::suite::environment::Environment;
use mcptest_guest::{Call, Matchers, Verdict as GuestVerdict};
use regex_matcher::Regex;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXPECTED: &str = r#""^order-\\d{4}-[a-z]+$""#;
const ACTUAL: &str = r#""order-0042-shipped""#;
/// Calls in one batch, and how often the two are measured in turn.
const CALLS: u32 = 10_000;
const ROUNDS: usize = 31;

fn main() {
    let component = PathBuf::from(std::env::args_os().nth(1).expect("the component"));
    let options = Options { cache: true, environment: Environment::of_process(), ..Options::default() };
    let mut registry = Registry::new(options);
    registry.begin_named(&component.to_string_lossy(), Path::new("."), None);
    let live = registry.named(&component.to_string_lossy(), Path::new("."), None, Role::Matcher).expect("a matcher");
    let matchers = Matchers::of::<Regex>();
    let native = || {
        let call = Call { matcher: "regex", expected: EXPECTED, actual: black_box(ACTUAL), path: "$", step: "bench" };
        matchers.evaluate(&call).is_ok_and(|verdict| verdict == GuestVerdict::pass())
    };
    let sandboxed = || {
        let actual = black_box(ACTUAL);
        let request = Request { matcher: "regex", expected: EXPECTED, actual, path: "$", step: "bench" };
        matches!(live.extension.evaluate(&request), Ok(Verdict::Pass))
    };
    let (mut natively, mut inside) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        natively.push(batch(&native));
        inside.push(batch(&sandboxed));
    }
    let (natively, inside) = (median(natively), median(inside));
    println!("native_us {natively:.3}");
    println!("sandbox_us {inside:.3}");
    println!("ratio {:.2}", inside / natively);
}

/// Microseconds per call.
fn batch(call: &dyn Fn() -> bool) -> f64 {
    let begun = Instant::now();
    for _ in 0..CALLS {
        assert!(call());
    }
    begun.elapsed().max(Duration::from_nanos(1)).as_secs_f64() * 1e6 / f64::from(CALLS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
