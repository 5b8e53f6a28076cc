//! What judging costs, against parsing the answer and against the bare regex; one figure per line: `name value`.

use mcptest_engine::diagnostic::Diagnostics;
use mcptest_engine::event::Failure;
use mcptest_engine::matcher::{Compiler, Expected, Mode};
use mcptest_engine::reporter::failure::{Style, render_all};
use mcptest_engine::source::{Json, Source, yaml};
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    partial();
    equality();
    regex();
}

/// A 1 MB answer under a `$partial` of ten keys.
fn partial() {
    let text = answer(1_000_000).to_string();
    let value: Json = serde_json::from_str(&text).expect("JSON");
    let keys: Vec<String> =
        (0..10).map(|key| format!("key{}: {}", key * 700, value[format!("key{}", key * 700)])).collect();
    let (_, expected) = compile(&format!("$partial: {{ {} }}", keys.join(", ")));
    assert!(expected.check(Some(&value), "$").is_empty());
    let parse = median(21, || serde_json::from_str::<Json>(&text).is_ok());
    // The answer comes as text: judging it is parsing it too.
    let judge = median(21, || {
        let value = serde_json::from_str::<Json>(&text).expect("JSON");
        expected.check(Some(&value), "$").is_empty()
    });
    println!("partial {:.3}", ratio(judge, parse));
}

/// Two values of 4 MB: equal, and with changes all over.
fn equality() {
    let text = answer(4_000_000).to_string();
    let value: Json = serde_json::from_str(&text).expect("JSON");
    let (source, expected) = compile(&text);
    assert!(expected.check(Some(&value), "$").is_empty());
    let parse = median(7, || serde_json::from_str::<Json>(&text).is_ok());
    let judge = median(7, || expected.check(Some(&value), "$").is_empty());
    println!("equality {:.3}", ratio(judge, parse));
    let mut other = value;
    for (index, (_, item)) in other.as_object_mut().expect("an object").iter_mut().enumerate() {
        if index % 3 == 0 {
            item["name"] = json!(format!("changed {index}"));
        }
    }
    let before = reset_peak();
    let start = Instant::now();
    let failures: Vec<Failure> =
        expected.check(Some(&other), "$").into_iter().map(|mismatch| mismatch.into_failure(&source)).collect();
    let text = render_all(&failures, Style { color: true, width: 100 }).join("\n");
    println!("diff_ms {:.1}", start.elapsed().as_secs_f64() * 1e3);
    println!("diff_mb {:.1}", memory("VmHWM:").saturating_sub(before) as f64 / 1e6);
    assert!(!text.is_empty());
}

/// Ten thousand checks with one compiled pattern.
fn regex() {
    let pattern = r"^order-\d{4}-[a-z]+$";
    let (_, expected) = compile(&format!("$regex: '{pattern}'"));
    let bare = regex::Regex::new(pattern).expect("a pattern");
    let texts: Vec<Json> = (0..10_000).map(|number| json!(format!("order-{:04}-shipped", number % 10_000))).collect();
    let alone = median(21, || texts.iter().all(|text| bare.is_match(black_box(text.as_str().unwrap_or_default()))));
    let judged = median(21, || texts.iter().all(|text| expected.check(black_box(Some(text)), "$.text").is_empty()));
    println!("regex {:.3}", ratio(judged, alone));
}

fn compile(text: &str) -> (Arc<Source>, Expected) {
    let source = Source::new("bench.yml", "bench.yml", text.to_owned());
    let mut diagnostics = Diagnostics::default();
    let node = yaml::parse(&source, &mut diagnostics).expect("a tree");
    let expected = Compiler::new(&source, &mut diagnostics).compile(&node, Mode::Exact);
    assert!(!diagnostics.has_errors(), "{:?}", diagnostics.list);
    (source, expected)
}

/// An object of about so many bytes.
fn answer(bytes: usize) -> Json {
    let item = |index: usize| json!({"id": index, "name": format!("item {index}"), "tags": ["a", "b"], "on": true, "score": 0.5});
    let each = item(100_000).to_string().len() + 14;
    Json::Object((0..bytes / each).map(|index| (format!("key{index}"), item(index))).collect())
}

fn median(rounds: usize, mut work: impl FnMut() -> bool) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            assert!(black_box(work()));
            start.elapsed()
        })
        .collect();
    times.sort();
    times[rounds / 2]
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// Forgets how much memory this process held at most; how much it holds now, in bytes.
fn reset_peak() -> u64 {
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be reset");
    memory("VmRSS:")
}

/// A line of this process's status, in bytes.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    line.expect("a number of kB") * 1024
}
