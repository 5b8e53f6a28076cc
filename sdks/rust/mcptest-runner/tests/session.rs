//! Sessions with the demo server, and with a real one.

use mcptest_runner::{Error, Options, Session};
use serde_json::json;
use std::path::Path;

const DEMO: &str = "mcptest demo-server";

fn code(error: &Error) -> i64 {
    match error {
        Error::Rpc { code, .. } => *code,
        other => panic!("no answer: {other}"),
    }
}

#[test]
fn every_method() -> Result<(), Error> {
    let mcp = Session::open(DEMO)?;
    assert_eq!(mcp.initialize()?["serverInfo"]["name"], "mcptest-demo");
    assert_eq!(mcp.call("add", json!({ "a": 2, "b": 40 }))?.data, json!({ "sum": 42 }));
    let failed = mcp.call("fail", json!({}))?;
    assert_eq!((failed.success, failed.error.as_deref()), (false, Some("this tool always fails")));
    let picture = mcp.call("picture", json!({}))?.raw.expect("a picture is forwarded as it is");
    assert!(picture["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "image")));
    assert!(mcp.list_tools()?.iter().any(|tool| tool["name"] == "echo"));
    let listed = mcp.list_resources()?;
    let length = |name: &str| listed[name].as_array().map(Vec::len);
    assert_eq!((length("resources"), length("resourceTemplates")), (Some(2), Some(1)));
    assert!(mcp.read_resource("demo://motd")?.to_string().contains("hello"));
    assert!(mcp.call_prompt("greet", json!({ "name": "Ada" }))?.to_string().contains("Ada"));
    let error = mcp.call("nope", json!({})).expect_err("there is no such tool");
    assert!(matches!(&error, Error::Rpc { code: -32000, data, .. } if data["code"] == -32602), "{error}");
    mcp.close()
}

#[test]
fn a_server_that_cannot_be_started() -> Result<(), Error> {
    let mcp = Options::default().server_argv(["/nowhere/server", "--an argument"]).open()?;
    let error = mcp.call("echo", json!({})).expect_err("there is no server");
    assert!(code(&error) == -32001 && error.to_string().contains("/nowhere/server"), "{error}");
    Ok(())
}

/// The demo server over HTTP, ended with the test.
struct Demo(std::process::Child);

impl Demo {
    fn start() -> (Demo, String) {
        let mut command = std::process::Command::new("mcptest");
        command.args(["demo-server", "--http"]).stdout(std::process::Stdio::piped());
        let mut demo = Demo(command.spawn().expect("the demo server starts"));
        let mut url = String::new();
        let stdout = demo.0.stdout.take().expect("a pipe");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut url).expect("it says where it is");
        (demo, url.trim().to_owned())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_by_its_address_and_its_cassette() -> Result<(), Error> {
    let tape = std::env::temp_dir().join(format!("mcptest-http-{}.json", std::process::id()));
    let (demo, url) = Demo::start();
    let mcp = Options::default().server_url(&url).open()?;
    mcp.cassette("record", Some(&tape))?;
    assert_eq!(mcp.initialize()?["serverInfo"]["name"], "mcptest-demo");
    assert_eq!(mcp.call("add", json!({ "a": 2, "b": 40 }))?.data, json!({ "sum": 42 }));
    mcp.close()?;
    drop(demo);
    let mcp = Options::default().server_url(&url).open()?;
    let error = mcp.call("add", json!({ "a": 2, "b": 40 })).expect_err("nobody is there");
    assert!(code(&error) == -32001 && error.to_string().contains("cannot connect"), "{error}");
    mcp.cassette("replay", Some(&tape))?;
    assert_eq!(mcp.call("add", json!({ "a": 2, "b": 40 }))?.data, json!({ "sum": 42 }));
    let _ = std::fs::remove_file(tape);
    Ok(())
}

#[test]
fn a_cassette_replays_without_the_server() -> Result<(), Error> {
    let tape = std::env::temp_dir().join(format!("mcptest-tape-{}.json", std::process::id()));
    let mcp = Session::open(DEMO)?;
    mcp.cassette("record", Some(&tape))?;
    mcp.call("add", json!({ "a": 2, "b": 40 }))?;
    mcp.close()?;
    let mcp = Session::open("/nowhere/server")?;
    mcp.cassette("replay", Some(&tape))?;
    assert_eq!(mcp.call("add", json!({ "a": 2, "b": 40 }))?.data, json!({ "sum": 42 }));
    code(&mcp.call("add", json!({ "a": 1, "b": 1 })).expect_err("this was never recorded"));
    mcp.cassette("off", None)?;
    let _ = std::fs::remove_file(tape);
    Ok(())
}

#[test]
fn cache_and_events() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("mcptest-events-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the events");
    let mcp = Options::default().server_command(DEMO).folder(&folder).open()?;
    mcp.cache("readwrite")?;
    assert_eq!(mcp.call("echo", json!({ "message": "hi" }))?.text, "hi");
    // A call that the cache answers is no event of the server's.
    mcp.cache("off")?;
    assert_eq!(mcp.call("echo", json!({ "message": "hi" }))?.text, "hi");
    let (events, to) = mcp.flush()?;
    assert!(events > 0 && !to.is_empty());
    let unset = mcp.upload_to("http://127.0.0.1:9/events", Some("NO_SUCH_TOKEN"));
    assert_eq!(code(&unset.expect_err("there is no such variable")), -32602);
    mcp.upload_to("http://127.0.0.1:9/events", None)?;
    mcp.close()?;
    let _ = std::fs::remove_dir_all(folder);
    Ok(())
}

#[test]
fn a_real_server() -> Result<(), Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let program = root.join("target/tools/node/node_modules/.bin/mcp-server-filesystem");
    let mcp = Options::default().server_argv([program.to_string_lossy(), root.to_string_lossy()]).open()?;
    assert!(mcp.call("read_text_file", json!({ "path": root.join("LICENSE").to_string_lossy() }))?.success);
    assert!(!mcp.call("read_text_file", json!({ "path": "/etc/hostname" }))?.success);
    Ok(())
}
