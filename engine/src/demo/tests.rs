//! Conversations with the demo server through pipes in memory.

use super::serve;
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::thread::JoinHandle;

/// A client that reads and writes lines.
struct Client {
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    server: JoinHandle<io::Result<()>>,
    next: u64,
}

impl Client {
    fn start() -> Client {
        let (server_input, input) = io::pipe().unwrap();
        let (output, server_output) = io::pipe().unwrap();
        let server = std::thread::spawn(move || serve(BufReader::new(server_input), server_output));
        Client { input: Some(input), output: BufReader::new(output), server, next: 0 }
    }

    /// A client past the handshake.
    fn at(revision: &str, capabilities: Value) -> Client {
        let mut client = Client::start();
        let info = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info });
        let answer = client.ask("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], revision);
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn ready() -> Client {
        Client::at("2025-11-25", json!({}))
    }

    fn write(&mut self, message: &Value) {
        self.write_line(&message.to_string());
    }

    fn write_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    fn names(&mut self) -> Vec<String> {
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let result = self.ask("tools/list", params)["result"].take();
            let page = result["tools"].as_array().unwrap();
            names.extend(page.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            match result.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return names,
            }
        }
    }

    /// Closes the input; the server must end, and must have said nothing more.
    fn finish(mut self) {
        drop(self.input.take());
        self.server.join().unwrap().unwrap();
        let mut rest = String::new();
        self.output.read_line(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"))
}

#[test]
fn every_revision_is_negotiated_and_an_unknown_one_becomes_the_latest() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        Client::at(revision, json!({})).finish();
    }
    let mut client = Client::start();
    let answer = client.ask("initialize", json!({ "protocolVersion": "1900-01-01", "capabilities": {} }));
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(client.ask("initialize", json!({ "protocolVersion": "2025-11-25" }))["error"]["code"], -32600);
    client.finish();
}

#[test]
fn before_the_handshake_only_ping_is_answered() {
    let mut client = Client::start();
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], -32600);
    assert_eq!(client.ask("initialize", json!(null))["error"]["code"], -32602);
    client.finish();
}

#[test]
fn what_is_no_request_gets_the_code_of_its_mistake() {
    let mut client = Client::ready();
    for (line, code) in [
        ("{nonsense", -32700),
        ("\u{feff}{}", -32700),
        ("[]", -32600),
        ("3", -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"x","method":"no/such"}"#, -32601),
    ] {
        client.write_line(line);
        assert_eq!(client.read()["error"]["code"], code, "{line}");
    }
    client.write_line("");
    client.write_line(r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#);
    client.write_line(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.finish();
}

#[test]
fn tools_are_listed_in_pages_and_by_capability() {
    let mut client = Client::ready();
    let plain = ["echo", "echo_json", "add", "picture", "fail", "slow", "log", "complain", "set_motd"];
    assert_eq!(client.names(), plain);
    assert_eq!(client.ask("tools/list", json!({ "cursor": "after-x" }))["error"]["code"], -32602);
    assert_eq!(client.call("ask_model", json!({ "prompt": "hi" }))["error"]["code"], -32602);
    client.finish();

    let everything = json!({ "sampling": {}, "elicitation": {}, "roots": {} });
    let mut client = Client::at("2025-11-25", everything.clone());
    assert_eq!(client.names()[9..], ["ask_model", "ask_user", "list_roots"]);
    client.finish();
    let mut client = Client::at("2025-03-26", everything);
    assert_eq!(client.names()[9..], ["ask_model", "list_roots"]);
    client.finish();
}

#[test]
fn plain_tools_answer() {
    let mut client = Client::ready();
    assert_eq!(
        client.call("echo", json!({ "message": "hé\n" }))["result"],
        json!({ "content": [{ "type": "text", "text": "hé\n" }] })
    );
    let sum = client.call("add", json!({ "a": 2, "b": 40 }));
    assert_eq!((text(&sum), &sum["result"]["structuredContent"]), ("42", &json!({ "sum": 42 })));
    assert_eq!(text(&client.call("add", json!({ "a": 0.5, "b": 0.25 }))), "0.75");
    assert_eq!(text(&client.call("add", json!({ "a": i64::MAX, "b": 1 }))), "9.223372036854776e+18");
    assert_eq!(client.call("add", json!({ "a": 1e308, "b": 1e308 }))["result"]["isError"], true);
    let object = client.call("echo_json", json!({ "value": { "b": [1], "a": null } }));
    assert_eq!(text(&object), r#"{"b":[1],"a":null}"#);
    assert_eq!(object["result"]["structuredContent"], json!({ "b": [1], "a": null }));
    assert_eq!(client.call("echo_json", json!({ "value": [1] }))["result"].get("structuredContent"), None);
    assert_eq!(client.call("picture", json!({}))["result"]["content"].as_array().map(Vec::len), Some(3));
    assert_eq!(client.call("fail", json!({ "message": "no" }))["result"]["isError"], true);
    client.finish();
}

#[test]
fn wrong_arguments_are_an_error_result_and_were_an_error_before() {
    let mut client = Client::ready();
    let answer = client.call("add", json!({ "a": "1", "b": 2 }));
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).contains("/a"), "{answer}");
    assert_eq!(client.call("echo", json!({}))["result"]["isError"], true);
    assert_eq!(client.call("echo", json!([]))["result"]["isError"], true);
    assert_eq!(client.call("nope", json!({}))["error"]["code"], -32602);
    client.finish();
    let mut client = Client::at("2025-06-18", json!({}));
    assert_eq!(client.call("echo", json!({}))["error"]["code"], -32602);
    client.finish();
}

#[test]
fn a_revision_without_structured_content_gets_none() {
    let mut client = Client::at("2024-11-05", json!({}));
    let answer = client.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!((text(&answer), answer["result"].get("structuredContent")), ("3", None));
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].take();
    assert!(tools.as_array().unwrap().iter().all(|tool| tool.get("outputSchema").is_none()));
    client.finish();
}

#[test]
fn progress_comes_before_the_answer_and_only_when_asked_for() {
    let mut client = Client::ready();
    let arguments = json!({ "steps": 2, "ms": 0 });
    let id =
        client.send("tools/call", json!({ "name": "slow", "arguments": arguments, "_meta": { "progressToken": "t" } }));
    for step in 1..=2 {
        let note = client.read();
        assert_eq!(note["method"], "notifications/progress");
        assert_eq!((&note["params"]["progress"], &note["params"]["progressToken"]), (&json!(step), &json!("t")));
    }
    assert_eq!(client.read()["id"], id);
    assert_eq!(text(&client.call("slow", json!({ "steps": 1, "ms": 0 }))), "finished step 1 of 1");
    client.finish();
}

#[test]
fn a_slow_call_leaves_room_for_others_and_can_be_cancelled() {
    let mut client = Client::ready();
    let id = client.send("tools/call", json!({ "name": "slow", "arguments": { "steps": 1000, "ms": 60000 } }));
    assert_eq!(text(&client.call("echo", json!({ "message": "meanwhile" }))), "meanwhile");
    client.write(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "slow" } }));
    assert_eq!(client.read()["error"]["code"], -32600);
    client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    client.finish();
}

#[test]
fn the_end_of_input_ends_waiting_calls() {
    let mut client = Client::at("2025-11-25", json!({ "sampling": {} }));
    client.send("tools/call", json!({ "name": "slow", "arguments": { "steps": 1000, "ms": 60000 } }));
    client.send("tools/call", json!({ "name": "ask_model", "arguments": { "prompt": "hi" } }));
    assert_eq!(client.read()["method"], "sampling/createMessage");
    client.finish();
}

#[test]
fn a_client_that_stops_reading_is_no_error() {
    let (server_input, mut input) = io::pipe().unwrap();
    let (output, server_output) = io::pipe().unwrap();
    drop(output);
    let server = std::thread::spawn(move || serve(BufReader::new(server_input), server_output));
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    server.join().unwrap().unwrap();
}

#[test]
fn log_messages_respect_the_level() {
    let mut client = Client::ready();
    client.send("tools/call", json!({ "name": "log", "arguments": { "level": "info", "message": "m" } }));
    assert_eq!(client.read()["params"], json!({ "level": "info", "logger": "demo", "data": "m" }));
    assert_eq!(text(&client.read()), "logged");
    assert_eq!(client.ask("logging/setLevel", json!({ "level": "error" }))["result"], json!({}));
    let quiet = client.call("log", json!({ "level": "warning", "message": "m" }));
    assert_eq!(text(&quiet), "below the level that the client asked for");
    assert_eq!(client.ask("logging/setLevel", json!({ "level": "loud" }))["error"]["code"], -32602);
    client.finish();
}

#[test]
fn the_server_asks_and_hands_on_the_answer() {
    let mut client = Client::at("2025-11-25", json!({ "sampling": {}, "elicitation": {}, "roots": {} }));
    let said = json!({ "role": "assistant", "model": "m1", "content": { "type": "text", "text": "42" } });
    for (tool, arguments, method, result, expected) in [
        ("ask_model", json!({ "prompt": "?" }), "sampling/createMessage", said, "m1 says: 42"),
        (
            "ask_user",
            json!({ "question": "?" }),
            "elicitation/create",
            json!({ "action": "accept", "content": { "answer": "yes" } }),
            "the user says: yes",
        ),
        (
            "ask_user",
            json!({ "question": "?" }),
            "elicitation/create",
            json!({ "action": "decline" }),
            "the user declined",
        ),
        ("list_roots", json!({}), "roots/list", json!({ "roots": [{ "uri": "file:///a" }] }), "file:///a"),
    ] {
        let id = client.send("tools/call", json!({ "name": tool, "arguments": arguments }));
        let request = client.read();
        assert_eq!(request["method"], method);
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        client.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
        let answer = client.read();
        assert_eq!((&answer["id"], text(&answer)), (&json!(id), expected));
    }
    client.send("tools/call", json!({ "name": "list_roots", "arguments": {} }));
    let request = client.read();
    let error = json!({ "code": -32601, "message": "no roots" });
    client.write(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }));
    assert_eq!(client.read()["result"]["isError"], true);
    client.finish();
}

#[test]
fn resources_are_read_and_watched() {
    let mut client = Client::ready();
    let read = |client: &mut Client, uri: &str| client.ask("resources/read", json!({ "uri": uri }));
    assert_eq!(read(&mut client, "demo://greeting/Ada%20L")["result"]["contents"][0]["text"], "Hello, Ada L!");
    assert_eq!(read(&mut client, "demo://pixel")["result"]["contents"][0]["mimeType"], "image/png");
    for unknown in
        ["demo://nope", "demo://greeting/", "demo://greeting/a/b", "demo://greeting/%zz", "demo://greeting/%ff"]
    {
        let error = &read(&mut client, unknown)["error"];
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!(unknown)));
    }
    assert_eq!(client.ask("resources/subscribe", json!({ "uri": "demo://motd" }))["result"], json!({}));
    client.send("tools/call", json!({ "name": "set_motd", "arguments": { "text": "new" } }));
    assert_eq!(client.read()["params"], json!({ "uri": "demo://motd" }));
    client.read();
    assert_eq!(read(&mut client, "demo://motd")["result"]["contents"][0]["text"], "new");
    client.ask("resources/unsubscribe", json!({ "uri": "demo://motd" }));
    client.call("set_motd", json!({ "text": "quiet" }));
    client.finish();
}

#[test]
fn prompts_and_completions() {
    let mut client = Client::ready();
    let greet = client.ask("prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } }));
    assert_eq!(greet["result"]["messages"][0]["content"]["text"], "Say hello to Ada.");
    let review = json!({ "name": "review", "arguments": { "code": "x", "language": "rust" } });
    let review = client.ask("prompts/get", review);
    assert_eq!(review["result"]["messages"][0]["content"]["text"], "Please review this rust code:\n\nx");
    assert_eq!(client.ask("prompts/get", json!({ "name": "greet" }))["error"]["code"], -32602);
    assert_eq!(client.ask("prompts/get", json!({ "name": "nope" }))["error"]["code"], -32602);
    let mut complete = |reference: Value, name: &str, value: &str| {
        let argument = json!({ "name": name, "value": value });
        client.ask("completion/complete", json!({ "ref": reference, "argument": argument }))
    };
    let languages = complete(json!({ "type": "ref/prompt", "name": "review" }), "language", "ru");
    assert_eq!(languages["result"]["completion"]["values"], json!(["ruby", "rust"]));
    let names = complete(json!({ "type": "ref/resource", "uri": "demo://greeting/{name}" }), "name", "a");
    assert_eq!(names["result"]["completion"]["values"], json!(["Ada", "Alan"]));
    assert_eq!(complete(json!({ "type": "ref/prompt", "name": "nope" }), "x", "")["error"]["code"], -32602);
    client.finish();
}

#[test]
fn a_batch_is_answered_where_the_revision_has_batches() {
    let batch = r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},
        {"jsonrpc":"2.0","id":"b","method":"no/such"}]"#
        .replace('\n', "");
    let mut client = Client::at("2025-03-26", json!({}));
    client.write_line(&batch);
    let answers = client.read();
    assert_eq!((&answers[0]["id"], &answers[1]["error"]["code"]), (&json!("a"), &json!(-32601)));
    client.finish();
    let mut client = Client::ready();
    client.write_line(&batch);
    assert_eq!(client.read()["error"]["code"], -32600);
    client.finish();
}
