//! `mcptest extension bench`: what a call costs, with an instance that is reused and with a fresh one.

use super::{BenchArgs, declared, load, tell_fault};
use crate::cli::{BAD_INPUT, OK, Talk, screen};
use crate::extension::{Argument, Declared, Extension, Fault, Isolation, Request, Role};
use crate::reporter::visible::visible;
use std::time::{Duration, Instant};

/// How long each of the two is measured.
const BUDGET: Duration = Duration::from_millis(500);
/// Batches per measurement: the fastest one had the fewest disturbances.
const BATCHES: u32 = 20;

pub(super) fn bench(args: &BenchArgs, talk: &Talk) -> u8 {
    for (flag, text) in [("expected", &args.expected), ("actual", &args.actual)] {
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            screen::tell(&format!("error: `--{flag} {text}` is not JSON: {error}\n"));
            return BAD_INPUT;
        }
    }
    let began = Instant::now();
    let (registry, live) = match load(&args.file, &args.allow, Some(Role::Matcher), talk) {
        Ok(loaded) => loaded,
        Err(code) => return code,
    };
    let loaded = began.elapsed();
    let matchers = &live.extension.manifest().matchers;
    let matcher = match &args.matcher {
        Some(name) => matchers.iter().find(|matcher| matcher.name == *name),
        None => matchers.first(),
    };
    let Some(matcher) = matcher else {
        let names: Vec<&str> = matchers.iter().map(|matcher| matcher.name.as_str()).collect();
        screen::tell(&format!("error: there is no such matcher\nhint: there are `{}`\n", names.join("`, `")));
        return BAD_INPUT;
    };
    match live.extension.check(&matcher.name, &args.expected) {
        Ok(Argument::Valid) => {}
        Ok(Argument::Invalid(why)) => {
            screen::tell(&format!("error: `{}` cannot work with the argument: {}\n", matcher.name, visible(&why)));
            screen::tell("hint: `--expected JSON` gives it one that it can work with, `--actual JSON` a value\n");
            return BAD_INPUT;
        }
        Err(fault) => return tell_fault(&fault),
    }
    let request =
        Request { matcher: &matcher.name, expected: &args.expected, actual: &args.actual, path: "$", step: "bench" };
    if live.extension.judges_late() {
        let cost = cost(&*live.extension, &request);
        registry.close();
        return match cost {
            Ok(call) => {
                screen::print(&format!(
                    "${} of {}\n  a call          {:>10.2} µs\n",
                    matcher.name,
                    live.id,
                    call * 1e6
                ));
                OK
            }
            Err(fault) => tell_fault(&fault),
        };
    }
    let fresh = Declared { isolation: Isolation::Call, allow: live.grants.clone(), ..declared(&args.file) };
    let fresh = super::registry(vec![fresh]).configured().into_iter().next().flatten();
    let reused = cost(&*live.extension, &request);
    let fresh = fresh.map(|live| cost(&*live.extension, &request));
    match (reused, fresh) {
        (Ok(reused), Some(Ok(fresh))) => {
            screen::print(&format!(
                "${} of {} {}\n  loaded in       {:>10.2} ms\n  a call          {:>10.2} µs\n  a fresh call    {:>10.2} µs  (isolation: call)\n",
                matcher.name,
                live.id,
                live.extension.manifest().version,
                loaded.as_secs_f64() * 1e3,
                reused * 1e6,
                fresh * 1e6,
            ));
            OK
        }
        (Err(fault), _) | (_, Some(Err(fault))) => tell_fault(&fault),
        (_, None) => BAD_INPUT,
    }
}

/// Seconds per call, of the fastest batch.
fn cost(extension: &dyn Extension, request: &Request<'_>) -> Result<f64, Fault> {
    let began = Instant::now();
    extension.evaluate(request)?;
    let once = began.elapsed().max(Duration::from_nanos(100));
    let calls = (BUDGET.as_nanos() / u128::from(BATCHES) / once.as_nanos()).clamp(1, 1_000_000) as u32;
    let mut best = f64::MAX;
    for _ in 0..BATCHES {
        let began = Instant::now();
        for _ in 0..calls {
            extension.evaluate(request)?;
        }
        best = best.min(began.elapsed().as_secs_f64() / f64::from(calls));
    }
    Ok(best)
}
