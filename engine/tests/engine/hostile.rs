//! A guest that does its worst, mode by mode: which failure code, that it ends, and that the next check works.

use crate::guests::{ask, declared, grants, load};
use mcptest_engine::extension::log::{self, Level};
use mcptest_engine::extension::{Argument, Code, Declared, Isolation, Live};
use serde_json::{Value, json};
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Far more than any deadline here, and far less than a guest that is not stopped.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

fn hostile() -> Arc<Live> {
    load(Declared { timeout: Duration::from_millis(300), ..declared("hostile") }, &[]).expect("it loads")
}

/// What a deadline of 300 ms leaves time for, with much to spare for a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(15);

/// For what is slow and right: a busy machine must not turn it into a timeout.
fn patient() -> Arc<Live> {
    load(Declared { timeout: PATIENCE, ..declared("hostile") }, &[]).expect("it loads")
}

pub(crate) fn way(name: &str) -> Value {
    json!({"do": name})
}

pub(crate) fn on(name: &str, what: &str) -> Value {
    json!({"do": name, "what": what})
}

/// Does something bad, and then something good.
pub(crate) fn faults(live: &Live, what: &Value, code: Code, words: &str) {
    let began = Instant::now();
    let fault = ask(live, what).expect_err(&what.to_string());
    assert!(began.elapsed() < PATIENCE, "{what} took {:?}", began.elapsed());
    assert_eq!(fault.code, code, "{what}: {fault:?}");
    assert_eq!(*fault.source, live.extension.manifest().id);
    assert!(fault.message.contains(words), "{what}: {}", fault.message);
    assert!(fault.message.len() < 4096, "{what}: a message of {} bytes", fault.message.len());
    assert_eq!(ask(live, &way("pass")).expect("the next check works"), "passed", "after {what}");
}

#[test]
fn a_guest_that_never_ends_is_stopped() {
    let live = hostile();
    let began = Instant::now();
    faults(&live, &way("loop"), Code::Timeout, "did not end `evaluate` within 300ms");
    faults(&live, &way("sleep"), Code::Timeout, "within 300ms");
    let argument = json!({"check": "loop"}).to_string();
    assert_eq!(live.extension.check("hostile", &argument).expect_err("it loops").code, Code::Timeout);
    assert!(began.elapsed() < SOON, "three deadlines took {:?}", began.elapsed());
    assert_eq!(ask(&live, &way("nap")).expect("a short sleep is none of our business"), "slept");
}

#[test]
fn a_guest_that_takes_too_much_is_stopped() {
    let live = patient();
    faults(&live, &way("memory"), Code::Crashed, "bytes of memory, and may have 67108864");
    faults(&live, &way("stack"), Code::Crashed, "crashed in `evaluate`");
    faults(&live, &way("frames"), Code::Crashed, "crashed in `evaluate`");
    faults(&live, &way("huge"), Code::MalformedResponse, "has 41943040 bytes, and may have 1048576");
    faults(&live, &way("again"), Code::MalformedResponse, "handed over more than 83886080 bytes in `evaluate`");
}

#[test]
fn a_guest_that_dies_says_why() {
    let live = patient();
    faults(&live, &way("panic"), Code::Crashed, "panicked");
    let fault = ask(&live, &way("panic")).expect_err("it panics");
    assert!(fault.stderr.contains("told to panic, and to say so"), "{fault:?}");
    assert!(fault.all_hints()[0].contains("`hostile` wrote to stderr:"), "{:?}", fault.all_hints());
    faults(&live, &way("exit"), Code::Crashed, "it called `exit`");
    faults(&live, &way("exit-well"), Code::Crashed, "it called `exit`");
}

#[test]
fn an_answer_that_cannot_be_read_is_a_fault() {
    let live = patient();
    for field in ["message", "path", "expected", "actual", "failure"] {
        faults(&live, &way(&format!("garbage-{field}")), Code::MalformedResponse, "cannot be read");
    }
    for refusal in ["garbage", "garbage-argument"] {
        let argument = json!({ "check": refusal }).to_string();
        let fault = live.extension.check("hostile", &argument).expect_err("it cannot be read");
        assert_eq!(fault.code, Code::MalformedResponse, "{refusal}: {fault:?}");
    }
    faults(&live, &way("garbage-log"), Code::MalformedResponse, "cannot be read");
    for field in ["expected", "actual"] {
        for text in ["", "{", "nul", "1 2", "\u{0}", "{\"a\":}"] {
            faults(&live, &on(field, text), Code::MalformedResponse, "is not JSON");
        }
    }
}

#[test]
fn a_guest_that_cannot_answer_says_so() {
    let live = patient();
    faults(&live, &way("unknown"), Code::ToolNotExposed, "no matcher `hostile`");
    faults(&live, &way("invalid"), Code::ExtensionError, "only known now");
    faults(&live, &way("internal"), Code::ExtensionError, "something broke");
    let refused = live.extension.check("hostile", &json!({"check": "refuse"}).to_string());
    assert_eq!(refused.expect("an answer"), Argument::Invalid("it was told to refuse".into()));
    assert_eq!(live.extension.check("hostile", "{}").expect("an answer"), Argument::Valid);
}

#[test]
fn floods_are_bounded_and_attributed() {
    let live = patient();
    let _ = log::take();
    ask(&live, &way("log-flood")).expect("a flood is no fault");
    let said = log::take();
    assert_eq!(said.len(), 101);
    assert_eq!((&*said[0].by, said[0].level), ("hostile", Level::Error));
    assert_eq!(said[100].text, "99900 more messages were not kept");
    ask(&live, &way("log-huge")).expect("no fault either");
    assert!(log::take()[0].text.len() < 5000);
    assert_eq!(ask(&live, &way("stdout-flood")).expect("writing never fails"), "flooded");
}

#[test]
fn nothing_is_granted_by_default() {
    let live = patient();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine");
    std::fs::write(&file, "mine").unwrap();
    let file = file.to_str().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp = listener.local_addr().unwrap().to_string();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let udp = socket.local_addr().unwrap().to_string();
    let tries = [
        on("read", "/etc/passwd"),
        on("read", file),
        on("list", "/"),
        on("list", "."),
        on("write", file),
        on("write", "/tmp/guest"),
        on("remove", file),
        on("tcp", &tcp),
        on("listen", "0.0.0.0:0"),
        on("listen", "127.0.0.1:0"),
        on("symlink", "/tmp/guest"),
        on("udp", &udp),
        on("dns", "localhost"),
        on("dns", "example.org"),
    ];
    for what in &tries {
        let said = ask(&live, what).expect("an attempt is no fault");
        assert!(said.starts_with("refused"), "{what}: {said}");
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine");
    for name in ["HOME", "PATH", "USER", "MCPTEST_CACHE_DIR"] {
        assert_eq!(ask(&live, &on("env", name)).unwrap(), "Err(NotPresent) of 0 variables");
    }
    assert_eq!(ask(&live, &way("args")).unwrap(), "0 arguments");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nobody came");
}

#[test]
fn without_a_grant_there_is_no_clock_and_no_chance() {
    let apart = Declared { isolation: Isolation::Call, timeout: PATIENCE, ..declared("hostile") };
    let apart = load(apart, &[]).expect("it loads");
    for name in ["clock", "random"] {
        let said = ask(&apart, &way(name)).unwrap();
        assert_eq!(said, ask(&apart, &way(name)).unwrap(), "{name} of one instance and the next");
        assert_eq!(said, ask(&patient(), &way(name)).unwrap(), "{name} of one run and the next");
    }
    let live = patient();
    let clock = ask(&live, &way("clock")).unwrap();
    assert!(clock.starts_with("946684800"), "the year 2000: {clock}");
    assert_eq!(clock, ask(&live, &way("clock")).unwrap(), "every call begins at the same moment");
}

#[test]
fn grants_open_what_they_name_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name);
    for name in ["ro", "rw", "outside"] {
        std::fs::create_dir(inside(name)).unwrap();
        std::fs::write(inside(name).join("file"), name).unwrap();
    }
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, inside(name)).unwrap();
    link("../outside/file", "ro/relative");
    link(inside("outside/file").to_str().unwrap(), "ro/absolute");
    link("/etc", "ro/etc");
    link("../outside/file", "rw/relative");
    link(inside("outside").to_str().unwrap(), "rw/absolute");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (here, other) = (listener.local_addr().unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let net = format!("net:localhost:{}", here.port());
    let allow = grants(&["fs.read:ro", "fs.write:rw", "env:GREEDY", "clock", "random", &net], folder.path());
    let live =
        load(Declared { allow, timeout: PATIENCE, ..declared("greedy") }, &[("GREEDY", "yes"), ("SECRET", "no")])
            .expect("it loads");
    let try_ = |name: &str, what: &str| ask(&live, &on(name, what)).expect("no fault");

    assert_eq!(try_("read", "ro/file"), "ok: 2");
    assert_eq!(try_("list", "ro"), "ok: 4");
    assert_eq!(try_("write", "rw/new"), "ok: written");
    assert_eq!(std::fs::read_to_string(inside("rw/new")).unwrap(), "written by a guest");
    for escape in [
        "ro/../outside/file",
        "ro/relative",
        "ro/absolute",
        "ro/etc/passwd",
        "rw/../../../etc/passwd",
        "/etc/passwd",
        "outside/file",
        "../outside/file",
    ] {
        assert!(try_("read", escape).starts_with("refused"), "read {escape}: {}", try_("read", escape));
    }
    for (name, what) in [
        ("write", "ro/file"),
        ("write", "ro/new"),
        ("remove", "ro/file"),
        ("link", "ro/file"),
        ("write", "rw/../outside/new"),
        ("write", "rw/relative"),
        ("write", "rw/absolute/new"),
        ("write", "rw/absolute/file"),
    ] {
        assert!(try_(name, what).starts_with("refused"), "{name} {what}");
    }
    assert_eq!(std::fs::read_to_string(inside("ro/file")).unwrap(), "ro");
    // A link may be made, and leads nowhere.
    let made = try_("symlink", "rw/made");
    for name in ["read", "write"] {
        assert!(try_(name, "rw/made").starts_with("refused"), "{made}, then {name}: {}", try_(name, "rw/made"));
    }
    assert_eq!(std::fs::read_to_string(inside("outside/file")).unwrap(), "outside");
    assert!(!inside("outside/new").exists());

    assert_eq!(try_("env", "GREEDY"), "Ok(\"yes\") of 1 variables");
    assert_eq!(try_("env", "SECRET"), "Err(NotPresent) of 1 variables");
    assert_ne!(try_("clock", ""), try_("clock", ""));
    assert_ne!(try_("random", ""), try_("random", ""));
    assert_eq!(try_("tcp", &here.to_string()), "ok: connected");
    assert_eq!(try_("tcp", &format!("localhost:{}", here.port())), "ok: connected");
    let elsewhere = other.local_addr().unwrap().to_string();
    assert_eq!(try_("tcp", &elsewhere), "refused: PermissionDenied");
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "nobody came");
    assert!(try_("listen", "127.0.0.1:0").starts_with("refused"));
    assert!(try_("listen", "0.0.0.0:0").starts_with("refused"));
    assert!(try_("dns", "example.org").starts_with("refused"));
    assert!(try_("udp", &here.to_string()).starts_with("refused"));
}

/// What a guest holds open is held open by this process, and servers and other guests need some too.
#[test]
fn what_is_open_at_once_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "a file").unwrap();
    let allow = grants(&["fs.read:.", "env:GREEDY", "clock", "random", "net:localhost:1"], folder.path());
    let live = load(Declared { allow, timeout: PATIENCE, ..declared("greedy") }, &[]).expect("it loads");
    let fault = ask(&live, &on("hoard", "file")).expect_err("no end of files");
    assert_eq!(fault.code, Code::Crashed, "{fault:?}");
    assert!(fault.message.ends_with("more open files, streams, sockets and timers than 256"), "{}", fault.message);
    assert_eq!(ask(&live, &on("read", "file")).expect("the next check works"), "ok: 6");
}

#[test]
fn asking_and_granting_must_agree() {
    let folder = tempfile::tempdir().unwrap();
    let problem = load(declared("greedy"), &[]).expect_err("it asks for what it does not get");
    assert!(problem.contains("(capability_not_allowed)"), "{problem}");
    assert!(problem.contains("--allow greedy=fs.read:DIR"), "{problem}");
    let allow = grants(&["clock"], folder.path());
    let problem = load(Declared { allow, ..declared("hostile") }, &[]).expect_err("it declares nothing");
    assert!(problem.contains("(capability_not_declared)"), "{problem}");
    let allow = grants(&["fs.read:none", "env:GREEDY", "clock", "random", "net:localhost:1"], folder.path());
    let problem = load(Declared { allow, ..declared("greedy") }, &[]).expect_err("there is no such folder");
    assert!(problem.contains("`none` cannot be opened"), "{problem}");
}

#[test]
fn isolation_gives_every_call_its_own_instance() {
    let live =
        load(Declared { isolation: Isolation::Call, timeout: PATIENCE, ..declared("hostile") }, &[]).expect("it loads");
    faults(&live, &way("panic"), Code::Crashed, "panicked");
    assert_eq!(ask(&live, &way("pass")).unwrap(), "passed");
}

#[test]
fn workers_do_not_disturb_each_other() {
    let live = patient();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let live = &live;
            scope.spawn(move || {
                for round in 0..20 {
                    match (worker + round) % 4 {
                        0 => drop(ask(live, &way("panic")).expect_err("it panics")),
                        _ => assert_eq!(ask(live, &way("pass")).expect("it works"), "passed"),
                    }
                }
            });
        }
    });
}

#[test]
fn inside_a_runtime_it_works_as_well() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (live, hasty) = (patient(), hostile());
    runtime.block_on(async {
        assert_eq!(ask(&live, &way("nap")).unwrap(), "slept");
        assert_eq!(ask(&live, &way("stdout-flood")).unwrap(), "flooded");
        faults(&hasty, &way("sleep"), Code::Timeout, "300ms");
        (0..300).for_each(|_| drop(ask(&live, &on("read", "/etc/passwd")).unwrap()));
    });
}
