//! `mcptest extension check`: an extension's own cases, values that no author thinks of, and requests that nobody should
//! send.
//!
//! ```text
//! ✓ a method that it does not have
//! ✗ the params null: it ended (exit code 1); -32602 is the error for params that cannot be used
//! near: 403 checks held, 1 problem
//! ```

use super::cases::{File, told};
use super::{CheckArgs, load, tell_fault};
use crate::cli::{BAD_INPUT, FAILED, OK, Talk, screen};
use crate::extension::{Argument, Code, Extension, Fault, Probe, Request, Role};
use crate::reporter::text::count;
use crate::reporter::visible::visible;
use crate::run::Watch;
use serde_json::{Value, json};

/// Deep enough for a careless recursion to show.
const DEPTH: usize = 100;
/// How many problems of one matcher are told: what is wrong with one value is mostly wrong with many.
const MOST_PROBLEMS: usize = 5;
/// What a matcher is asked for that no extension has.
const UNKNOWN: &str = "mcptest-unknown";

pub(super) fn check(args: &CheckArgs, talk: &Talk) -> u8 {
    // A plugin that hangs must not outlive a Ctrl-C.
    let _watch = Watch::for_the_end();
    let (registry, live) = match load(&args.file, &args.allow, None, talk) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let extension = &*live.extension;
    let mut probes = match extension.introduce() {
        Some(Err(fault)) => {
            registry.close();
            return tell_fault(&fault);
        }
        Some(Ok(_)) => vec![Probe::held("its handshake")],
        None => Vec::new(),
    };
    let (mut held, mut problems) = (0, Vec::new());
    let mut arguments = Vec::new();
    for path in &args.cases {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
        let file = match text.and_then(|text| File::parse(&text)) {
            Ok(file) => file,
            Err(why) => {
                screen::tell(&format!("error: `{}`: {why}\n", path.display()));
                return BAD_INPUT;
            }
        };
        for case in &file.cases {
            match file.run(case, extension) {
                Ok(()) => held += 1,
                Err(why) => problems.push(format!("{}: {why}", case.name)),
            }
        }
        if let Some(matcher) = &file.matcher {
            arguments.extend(file.cases.iter().filter_map(|case| Some((matcher.clone(), case.expected.clone()?))));
        }
    }
    probes.extend(samples(extension));
    if extension.manifest().is(Role::Matcher) {
        let (more, found) = nasty(extension, &arguments);
        held += more;
        problems.extend(found);
        probes.extend((!extension.judges_late()).then(|| unknown(extension)));
    }
    probes.extend(extension.probe());
    problems.extend(registry.close());
    let _ = crate::extension::log::take();
    for Probe { what, problem } in probes {
        match problem {
            None => {
                held += 1;
                screen::print(&format!("✓ {}\n", visible(&what)));
            }
            Some(problem) => problems.push(format!("{what}: {problem}")),
        }
    }
    for problem in &problems {
        screen::print(&format!("✗ {}\n", visible(problem)));
    }
    screen::print(&format!("{}: {}, {}\n", live.id, count(held, "check") + " held", count(problems.len(), "problem")));
    if problems.is_empty() { OK } else { FAILED }
}

/// What a reporter and a transform are asked in every run.
fn samples(extension: &dyn Extension) -> Vec<Probe> {
    let probe = |what: &str, outcome: Result<(), Fault>| match outcome {
        Ok(()) => Probe::held(what),
        Err(fault) => Probe::failed(what, told(fault)),
    };
    let mut probes = Vec::new();
    if extension.manifest().is(Role::Reporter) {
        let event = |number: u32, kind: &str, data: Value| {
            json!({ "seq": number, "at": "2026-01-01T00:00:00.000Z", "type": kind, "data": data }).to_string()
        };
        let test = json!({ "id": "a.test.mcp.yml#tools/adds", "file": "a.test.mcp.yml", "server": "demo",
            "lane": "tools", "name": "adds", "line": 3 });
        let summary = json!({ "total": 1, "passed": 1, "failed": 0, "faulted": 0, "skipped": 0, "durationMs": 2.5 });
        let finished = json!({ "test": test, "status": "passed", "durationMs": 2.5, "failures": [] });
        let events = [
            event(1, "run-started", json!({ "version": "0.1.0", "files": 1, "tests": 1, "jobs": 1 })),
            event(2, "test-finished", finished),
            event(3, "run-finished", json!({ "summary": summary, "exitCode": 0, "interrupted": false })),
        ];
        let observed = events.iter().try_for_each(|event| extension.observe(event).map(drop));
        probes.push(probe("the events of a run of one test", observed.and_then(|()| extension.finish().map(drop))));
    }
    if extension.manifest().is(Role::Transform) {
        let suite = json!({ "description": "A suite", "tools": [{ "it": "adds", "tool": "add", "args": { "a": 1 } }] });
        probes.push(probe("a suite of one test", extension.transform(&suite.to_string()).map(drop)));
    }
    probes
}

/// A matcher that a component does not have.
fn unknown(extension: &dyn Extension) -> Probe {
    let what = "a matcher that it does not have";
    let request = Request { matcher: UNKNOWN, expected: "null", actual: "null", path: "$", step: "unknown" };
    match extension.evaluate(&request) {
        Err(fault) if fault.code == Code::ToolNotExposed => Probe::held(what),
        Err(fault) => Probe::failed(what, format!("{}; answer with `unknown-matcher`", told(fault))),
        Ok(_) => Probe::failed(what, "it gives a verdict: look at `matcher`, and answer others with `unknown-matcher`"),
    }
}

/// Whatever a matcher says of these, it says so without a fault, and says the same twice.
fn nasty(extension: &dyn Extension, written: &[(String, Value)]) -> (usize, Vec<String>) {
    let values: Vec<String> = values().iter().map(Value::to_string).collect();
    let (mut held, mut problems) = (0, Vec::new());
    for matcher in &extension.manifest().matchers {
        let own = written.iter().filter(|(name, _)| *name == matcher.name).map(|(_, argument)| argument.to_string());
        let mut found = Vec::new();
        'arguments: for expected in own.chain(values.iter().cloned()) {
            match extension.check(&matcher.name, &expected) {
                Ok(Argument::Valid) => {}
                Ok(Argument::Invalid(_)) => {
                    held += 1;
                    continue;
                }
                Err(fault) => {
                    let is_lost = fault.code == Code::Timeout;
                    found.push(format!("`{}` looking at the argument {}: {fault}", matcher.name, cut(&expected)));
                    if is_lost {
                        break;
                    }
                    continue;
                }
            }
            for actual in &values {
                match twice(extension, &matcher.name, &expected, actual) {
                    Ok(()) => held += 1,
                    Err(Wrong { why, is_lost }) => {
                        found.push(why);
                        if is_lost {
                            break 'arguments;
                        }
                    }
                }
            }
        }
        found.dedup();
        let more = found.len().saturating_sub(MOST_PROBLEMS);
        found.truncate(MOST_PROBLEMS);
        found.extend((more > 0).then(|| format!("`{}`: and {more} more like these", matcher.name)));
        problems.extend(found);
    }
    (held, problems)
}

/// What is wrong with a verdict.
struct Wrong {
    why: String,
    /// Whatever is asked next would cost as much time, and come to the same.
    is_lost: bool,
}

fn twice(extension: &dyn Extension, matcher: &str, expected: &str, actual: &str) -> Result<(), Wrong> {
    let request = Request { matcher, expected, actual, path: "$", step: "nasty" };
    let about = || format!("`{matcher}` judging {} as {}", cut(actual), cut(expected));
    let wrong = |fault: Fault| {
        let gone = !matches!(fault.code, Code::MalformedResponse | Code::ExtensionError);
        let is_lost = fault.code == Code::Timeout || (gone && extension.judges_late());
        let advice = if extension.judges_late() && matches!(fault.code, Code::Crashed | Code::Timeout) {
            "; answer what you cannot judge with `false`, or with the error -32602"
        } else {
            ""
        };
        Wrong { why: format!("{}: {}{advice}", about(), told(fault)), is_lost }
    };
    let first = match extension.evaluate(&request) {
        // A plugin looks at its argument when it is called, and may say no then.
        Err(fault) if fault.code == Code::ExtensionError && extension.judges_late() => return Ok(()),
        judged => judged.map_err(wrong)?,
    };
    let second = extension.evaluate(&request).map_err(wrong)?;
    if first == second {
        return Ok(());
    }
    Err(Wrong { why: format!("{}: it changed its mind", about()), is_lost: false })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn values() -> Vec<Value> {
    let deep = (0..DEPTH).fold(json!(null), |inner, _| json!([inner]));
    let nested = (0..DEPTH).fold(json!(1), |inner, _| json!({ "a": inner }));
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(5e-324),
        json!(""),
        json!("\u{0}"),
        json!("\u{feff}é𝄞e\u{301}\u{202e}"),
        json!("[](*+?{1,999999}\\"),
        json!("%s%n ${env:HOME} ../../etc/passwd"),
        json!("a".repeat(70_000)),
        json!([]),
        json!([null, [], {}]),
        json!({}),
        json!({ "": "", "$ref": "#", "__proto__": {} }),
        deep,
        nested,
    ]
}
