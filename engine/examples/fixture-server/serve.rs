//! The conversation: a line in, what it asks for out.

use crate::modern::{self, Modern};
use crate::options::Options;
use crate::processes;
use crate::tasks::Tasks;
use crate::tools::{self, Outcome};
use crate::wire::Wire;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// How long `--out-of-order` waits for a second answer.
const PAIR: Duration = Duration::from_millis(100);

/// Serves until stdin ends.
pub(crate) fn run(options: Options) {
    let (lines, incoming) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    let wire = Arc::new(Wire::new(options));
    let mut server = Server {
        wire: Arc::clone(&wire),
        requests: 0,
        calls: 0,
        asked: HashMap::new(),
        held: None,
        tasks: Tasks::default(),
        modern: Modern::default(),
    };
    server.converse(&incoming);
    if wire.options().ignore_eof {
        loop {
            std::thread::park();
        }
    }
    std::thread::sleep(wire.options().linger);
    std::process::exit(wire.options().die_on_eof_code);
}

struct Server {
    wire: Arc<Wire>,
    requests: usize,
    calls: usize,
    /// Requests sent to the client, by id, and the call that waits for the answer.
    asked: HashMap<String, Option<Value>>,
    held: Option<Value>,
    tasks: Tasks,
    modern: Modern,
}

impl Server {
    fn converse(&mut self, incoming: &Receiver<Vec<u8>>) {
        loop {
            let patience = if self.held.is_some() { PAIR } else { Duration::MAX };
            match incoming.recv_timeout(patience) {
                Ok(line) => self.line(&line),
                Err(RecvTimeoutError::Timeout) => self.release(),
                Err(RecvTimeoutError::Disconnected) => break self.release(),
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return self.fail(&Value::Null, -32700, "parse error");
        };
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => self.request(method, id, &message["params"]),
            (Some(_), None) => {}
            (None, Some(id)) => self.answered(id, &message),
            (None, None) => self.fail(&Value::Null, -32600, "invalid request"),
        }
    }

    fn request(&mut self, method: &str, id: &Value, params: &Value) {
        self.requests += 1;
        let wire = Arc::clone(&self.wire);
        let options = wire.options();
        if options.crash_at == Some(self.requests) {
            eprintln!("crashing at request {}", self.requests);
            std::process::exit(70);
        }
        if options.hang_on.iter().any(|hang| hang == method) {
            return;
        }
        match self.modern.answer(options, method, params, self.requests) {
            modern::Reply::Result(result) => return self.reply(id, result),
            modern::Reply::Error(code, message, data) => {
                let error = json!({"code": code, "message": message, "data": data});
                return self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            modern::Reply::Pass => {}
        }
        if options.refuse.iter().any(|refused| refused == method) {
            return self.fail(id, -32603, "not today");
        }
        match method {
            "initialize" => self.initialize(id, params),
            "ping" => self.reply(id, json!({})),
            "tools/list" if options.odd_names => self.reply(id, tools::odd()),
            "tools/list" => self.reply(id, tools::list(params, options.page_size, options.last_page.as_deref())),
            "tools/call" => self.call(id, params),
            "resources/list" => {
                self.reply(
                    id,
                    json!({"resources": [{"uri": "fixture://motd", "name": "motd", "mimeType": "text/plain"}]}),
                );
            }
            "resources/templates/list" => {
                self.reply(id, json!({"resourceTemplates": [{"uriTemplate": "fixture://text/{text}", "name": "text"}]}))
            }
            "resources/read" => self.read(id, params["uri"].as_str().unwrap_or_default()),
            "prompts/list" if options.odd_names => {
                let arguments = json!([{"name": "${x}"}]);
                let prompts = json!([{"name": "${all}", "arguments": arguments}, {"name": "${none}"}]);
                self.reply(id, json!({"prompts": prompts}));
            }
            "prompts/get" if options.odd_names => {
                // Whether `arguments` was sent is part of the answer.
                let content = json!({"type": "text", "text": params.to_string()});
                self.reply(id, json!({"messages": [{"role": "user", "content": content}]}));
            }
            "prompts/list" => self
                .reply(id, json!({"prompts": [{"name": "greet", "arguments": [{"name": "name", "required": true}]}]})),
            "prompts/get" => self.prompt(id, params),
            "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel" => match self.tasks.answer(method, params) {
                Ok(result) => self.reply(id, result),
                Err(why) => self.fail(id, -32602, &why),
            },
            _ => self.fail(id, -32601, &format!("method not found: {method}")),
        }
    }

    fn initialize(&mut self, id: &Value, params: &Value) {
        let wire = Arc::clone(&self.wire);
        let options = wire.options();
        if options.notify_before_init {
            let params = json!({"level": "info", "data": "before initialize"});
            wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}));
        }
        if let Some(method) = &options.ask_at_init {
            self.ask(method, &Value::Null, None);
        }
        if options.no_init_answer {
            return;
        }
        if options.init_error {
            return self.fail(id, -32603, "initialize fails");
        }
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let known = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&"2025-11-25");
        let version = options.bad_version.as_deref().unwrap_or(known);
        let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "logging": {}});
        let info = json!({"name": "fixture-server", "version": "1.0.0"});
        self.reply(id, json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}));
    }

    fn call(&mut self, id: &Value, params: &Value) {
        self.calls += 1;
        let wire = Arc::clone(&self.wire);
        let options = wire.options();
        if options.close_stdout {
            processes::close_stdout();
        }
        if let Some(result) = &options.result {
            return self.reply(id, serde_json::from_str(result).unwrap_or_default());
        }
        tools::flood(&wire);
        let late = options.late.filter(|_| self.calls == 1);
        match tools::call(&wire, params) {
            Outcome::Result(result) | Outcome::Later(result, _) if params["task"].is_object() => {
                let created = self.tasks.create(&params["task"], result);
                self.reply(id, created);
            }
            Outcome::Result(result) => self.result(id, result, late),
            Outcome::Later(result, pause) => self.result(id, result, Some(pause)),
            Outcome::Error(code, message) => self.fail(id, code, &message),
            Outcome::Ask(method, params) => self.ask(&method, &params, Some(id.clone())),
        }
        if options.leave_at == Some(self.calls) {
            std::process::exit(7);
        }
    }

    fn result(&mut self, id: &Value, result: Value, pause: Option<Duration>) {
        let options = self.wire.options();
        let wrong = json!(format!("wrong-{id}"));
        let id = if options.wrong_id { &wrong } else { id };
        let response = json!({"jsonrpc": "2.0", "id": id, "result": result});
        if let Some(pause) = pause {
            let wire = Arc::clone(&self.wire);
            std::thread::spawn(move || {
                std::thread::sleep(pause);
                wire.send(&response);
            });
        } else if options.out_of_order && self.held.is_none() {
            self.held = Some(response);
        } else if options.batch {
            let params = json!({"level": "info", "data": "in a batch"});
            let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
            self.wire.send(&json!([note, response]));
        } else {
            self.send(&response);
            self.release();
        }
    }

    fn read(&self, id: &Value, uri: &str) {
        let text = match uri.strip_prefix("fixture://") {
            Some("motd") => "hello from the fixture",
            Some(other) if other.starts_with("text/") => &other[5..],
            _ => return self.fail(id, -32002, "resource not found"),
        };
        self.reply(id, json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}));
    }

    fn prompt(&self, id: &Value, params: &Value) {
        match (params["name"].as_str(), params["arguments"]["name"].as_str()) {
            (Some("greet"), Some(name)) => {
                let content = json!({"type": "text", "text": format!("Say hello to {name}.")});
                self.reply(id, json!({"messages": [{"role": "user", "content": content}]}));
            }
            (Some("greet"), None) => self.fail(id, -32602, "missing argument: name"),
            _ => self.fail(id, -32602, "unknown prompt"),
        }
    }

    fn ask(&mut self, method: &str, params: &Value, for_call: Option<Value>) {
        let id = format!("ask-{}", self.asked.len() + 1);
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            request["params"] = params.clone();
        }
        self.wire.send(&request);
        self.asked.insert(id, for_call);
    }

    fn answered(&mut self, id: &Value, message: &Value) {
        let Some(waiting) = id.as_str().and_then(|id| self.asked.get(id)).cloned() else { return };
        let answer = json!({"result": message.get("result"), "error": message.get("error")});
        match waiting {
            Some(call) => self.result(&call, tools::text(&answer.to_string()), None),
            None => eprintln!("answered: {answer}"),
        }
    }

    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.send(&held);
        }
    }

    fn reply(&self, id: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn fail(&self, id: &Value, code: i64, message: &str) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
    }

    fn send(&self, response: &Value) {
        self.wire.send(response);
        if self.wire.options().duplicate_reply {
            self.wire.send(response);
        }
    }
}
