//! The transport against the fixture server, which cargo builds beside the tests.

use super::*;
use crate::mcp::message::Kind;
use crate::source::Json;
use serde_json::json;
use std::path::PathBuf;

const GRACE: Duration = Duration::from_secs(5);
/// Far more than anything here takes: a hang must fail, not hang.
const PATIENCE: Duration = Duration::from_secs(60);
const MAX_LINE: usize = 64 * 1024 * 1024;

fn fixture(flags: &[&str]) -> Stdio {
    crate::child::become_subreaper();
    let tests = std::env::current_exe().expect("the tests have a path");
    let program = tests.with_file_name("").join("../examples/fixture-server");
    let spawn = Spawn {
        program: program.display().to_string(),
        args: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        cwd: PathBuf::from("."),
        env: Vec::new(),
        inherit_env: true,
    };
    Stdio::start(&spawn, MAX_LINE).expect("the fixture server starts")
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.expect("no hang") })
}

fn echo(id: usize, message: &str) -> Vec<u8> {
    call(id, "echo", json!({"message": message}))
}

fn call(id: usize, tool: &str, arguments: Json) -> Vec<u8> {
    let params = json!({"name": tool, "arguments": arguments});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).into_bytes()
}

async fn message(stdio: &mut Stdio) -> Message {
    match stdio.receive().await {
        Incoming::Message(message) => message,
        other => panic!("a message, not {other:?}"),
    }
}

fn text(message: &Message) -> String {
    let result = message.body().expect("the result can be read");
    result["content"][0]["text"].as_str().expect("a text block").to_owned()
}

async fn close(mut stdio: Stdio) -> Closed {
    stdio.close(GRACE).await
}

#[test]
fn calls_are_answered_and_eof_ends_the_server() {
    run(async {
        let mut stdio = fixture(&[]);
        for id in 1..=3 {
            stdio.send(&echo(id, "hello")).await.expect("sent");
            let message = message(&mut stdio).await;
            assert_eq!(message.kind, Kind::Response { id: json!(id), is_error: false });
            assert_eq!(text(&message), "hello");
            assert!(message.notes.is_empty());
        }
        let closed = close(stdio).await;
        assert_eq!((closed.shutdown.by, closed.shutdown.exit.code), ("eof", Some(0)));
        assert!(closed.rest.iter().all(|rest| rest.size() == 0), "{:?}", closed.rest);
    });
}
