//! A guest that has nothing to wait for runs on the stack of its caller, and is stopped there all the same.

use crate::guests::{ask, declared, load};
use crate::hostile::{PATIENCE, SOON, faults, on, way};
use mcptest_engine::extension::log;
use mcptest_engine::extension::{Code, Declared, Limits, Live};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn homebody(timeout: Duration) -> Arc<Live> {
    load(Declared { timeout, ..declared("homebody") }, &[]).expect("it loads")
}

#[test]
fn it_ends_when_its_time_is_up() {
    let live = homebody(Duration::from_millis(300));
    let began = Instant::now();
    faults(&live, &way("loop"), Code::Timeout, "did not end `evaluate` within 300ms");
    let argument = json!({"check": "loop"}).to_string();
    assert_eq!(live.extension.check("homebody", &argument).expect_err("it loops").code, Code::Timeout);
    assert!(began.elapsed() < SOON, "two deadlines took {:?}", began.elapsed());
}

#[test]
fn it_takes_no_more_than_it_may() {
    let live = homebody(PATIENCE);
    faults(&live, &way("memory"), Code::Crashed, "bytes of memory, and may have 67108864");
    faults(&live, &way("stack"), Code::Crashed, "crashed in `evaluate`");
    faults(&live, &way("frames"), Code::Crashed, "crashed in `evaluate`");
    faults(&live, &way("huge"), Code::MalformedResponse, "has 41943040 bytes, and may have 1048576");
}

#[test]
fn it_dies_as_others_do() {
    let live = homebody(PATIENCE);
    faults(&live, &way("panic"), Code::Crashed, "panicked");
    let fault = ask(&live, &way("panic")).expect_err("it panics");
    assert!(fault.stderr.contains("told to panic, and to say so"), "{fault:?}");
    faults(&live, &way("exit"), Code::Crashed, "it called `exit`");
    faults(&live, &way("exit-well"), Code::Crashed, "it called `exit`");
}

#[test]
fn it_sees_and_says_what_others_do() {
    let live = homebody(PATIENCE);
    assert_eq!(ask(&live, &way("stdout-flood")).unwrap(), "flooded");
    assert_eq!(ask(&live, &way("stdin")).unwrap(), "0 bytes of stdin");
    assert_eq!(ask(&live, &on("env", "HOME")).unwrap(), "Err(NotPresent) of 0 variables");
    assert_eq!(ask(&live, &way("args")).unwrap(), "0 arguments");
    assert_eq!(ask(&live, &way("random")).unwrap(), ask(&homebody(PATIENCE), &way("random")).unwrap());
    let _ = log::take();
    ask(&live, &on("log", "hello")).unwrap();
    assert_eq!(log::take()[0].text, "hello");
}

/// A runtime and threads with little stack, as callers may be.
#[test]
fn it_can_be_called_from_anywhere() {
    let live = homebody(PATIENCE);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { faults(&live, &way("panic"), Code::Crashed, "panicked") });
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| faults(&live, &way("stack"), Code::Crashed, "crashed in `evaluate`"));
        }
    });
}

/// A stack that was asked for is not the caller's.
#[test]
fn a_large_stack_is_its_own() {
    let limits = Limits { stack: 32 * 1024 * 1024, ..Limits::default() };
    let live = load(Declared { limits, timeout: PATIENCE, ..declared("homebody") }, &[]).expect("it loads");
    faults(&live, &way("stack"), Code::Crashed, "crashed in `evaluate`");
}
