//! `mcptest extension check`: an extension's own cases, and values that no author thinks of.

use super::cases::File;
use super::{CheckArgs, load};
use crate::cli::{BAD_INPUT, FAILED, OK, Talk, screen};
use crate::extension::{Argument, Code, Extension, Request, Role};
use crate::reporter::text::count;
use crate::reporter::visible::visible;
use serde_json::{Value, json};

/// Deep enough for a careless recursion to show.
const DEPTH: usize = 100;

pub(super) fn check(args: &CheckArgs, talk: &Talk) -> u8 {
    let (registry, live) = match load(&args.file, &args.allow, None, talk) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let extension = &*live.extension;
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
    if extension.manifest().is(Role::Matcher) {
        let (more, found) = nasty(extension, &arguments);
        held += more;
        problems.extend(found);
    }
    let probed = extension.probe();
    held += usize::from(probed.is_empty());
    problems.extend(probed);
    problems.extend(registry.close());
    let _ = crate::extension::log::take();
    for problem in &problems {
        screen::print(&format!("✗ {}\n", visible(problem)));
    }
    screen::print(&format!("{}: {}, {}\n", live.id, count(held, "check") + " held", count(problems.len(), "problem")));
    if problems.is_empty() { OK } else { FAILED }
}

/// Whatever a matcher says of these, it says so without a fault, and says the same twice.
fn nasty(extension: &dyn Extension, written: &[(String, Value)]) -> (usize, Vec<String>) {
    let values: Vec<String> = values().iter().map(Value::to_string).collect();
    let (mut held, mut problems) = (0, Vec::new());
    for matcher in &extension.manifest().matchers {
        let own = written.iter().filter(|(name, _)| *name == matcher.name).map(|(_, argument)| argument.to_string());
        for expected in own.chain(values.iter().cloned()) {
            match extension.check(&matcher.name, &expected) {
                Ok(Argument::Valid) => {}
                Ok(Argument::Invalid(_)) => {
                    held += 1;
                    continue;
                }
                Err(fault) => {
                    problems.push(format!("`{}` looking at the argument {}: {fault}", matcher.name, cut(&expected)));
                    continue;
                }
            }
            for actual in &values {
                match twice(extension, &matcher.name, &expected, actual) {
                    Ok(()) => held += 1,
                    Err(why) => problems.push(why),
                }
            }
        }
    }
    problems.dedup();
    (held, problems)
}

fn twice(extension: &dyn Extension, matcher: &str, expected: &str, actual: &str) -> Result<(), String> {
    let request = Request { matcher, expected, actual, path: "$", step: "nasty" };
    let about = || format!("`{matcher}` judging {} as {}", cut(actual), cut(expected));
    let first = match extension.evaluate(&request) {
        // A plugin looks at its argument when it is called, and may say no then.
        Err(fault) if fault.code == Code::ExtensionError && extension.judges_late() => return Ok(()),
        judged => judged.map_err(|fault| format!("{}: {fault}", about()))?,
    };
    let second = extension.evaluate(&request).map_err(|fault| format!("{}: {fault}", about()))?;
    if first == second { Ok(()) } else { Err(format!("{}: it changed its mind", about())) }
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
