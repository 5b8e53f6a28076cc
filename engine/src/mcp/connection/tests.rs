//! The client against the fixture server, which cargo builds beside the tests.

use super::*;
use crate::child::Spawn;
use std::path::PathBuf;

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Seen {
    asked: Vec<String>,
    noise: usize,
}

impl Witness for Seen {
    fn noise(&mut self, _line: String) {
        self.noise += 1;
    }

    fn answer(&mut self, id: &Json, method: &str, _request: &Message) -> Option<Json> {
        self.asked.push(method.to_owned());
        Some(lifecycle::refusal(id, method))
    }
}

fn fixture(flags: &[&str]) -> Target {
    crate::child::become_subreaper();
    let tests = std::env::current_exe().expect("the tests have a path");
    let program = tests.with_file_name("").join("../examples/fixture-server");
    Target::command(Spawn {
        program: program.display().to_string(),
        args: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        cwd: PathBuf::from("."),
        env: Vec::new(),
        inherit_env: true,
    })
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("no hang") })
}

fn echo(message: &str) -> Option<Json> {
    Some(json!({"name": "echo", "arguments": {"message": message}}))
}

#[test]
fn shakes_hands_asks_and_closes() {
    run(async {
        let mut seen = Seen::default();
        let target = fixture(&["--ask-at-init", "roots/list", "--garbage"]);
        let (mut connection, introduction) = Connection::open(target, &mut seen).await.expect("an open connection");
        assert_eq!(introduction.protocol_version.as_deref(), Some("2025-11-25"));
        let answer = connection.request("tools/call", echo("hi"), PATIENCE, &mut seen).await.expect("an answer");
        assert_eq!(answer.body().expect("a body")["content"][0]["text"], "hi");
        assert_eq!(seen.asked, ["roots/list"]);
        assert!(seen.noise >= 3);
        assert_eq!(connection.close(false, &mut seen).await.by, "eof");
    });
}

#[test]
fn a_request_without_an_answer_is_a_fault_and_the_next_one_is_asked() {
    run(async {
        let target = fixture(&["--hang-on", "tools/list"]);
        let (mut connection, _) = Connection::open(target, &mut ()).await.expect("an open connection");
        let fault = connection.request("tools/list", None, Duration::from_millis(50), &mut ()).await.expect_err("none");
        assert_eq!(fault.code, Code::Timeout);
        connection.request("tools/call", echo("hi"), PATIENCE, &mut ()).await.expect("an answer");
    });
}

#[test]
fn a_server_that_dies_is_a_fault() {
    run(async {
        let target = fixture(&["--crash-at", "3"]);
        let (mut connection, _) = Connection::open(target, &mut ()).await.expect("an open connection");
        for _ in 0..2 {
            let fault = connection.request("tools/call", echo("hi"), PATIENCE, &mut ()).await.expect_err("a crash");
            assert_eq!(fault.code, Code::Crashed);
        }
        let fault = Connection::open(fixture(&["--exit-at-start", "3"]), &mut ()).await.expect_err("no start");
        assert_eq!(fault.code, Code::StartFailed);
    });
}
