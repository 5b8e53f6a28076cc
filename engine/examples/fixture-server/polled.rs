//! Tasks as the modern era has them: made of a `tools/call` by the server, looked at with `tasks/get`.

use crate::modern::Reply;
use serde_json::{Value, json};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// How often a task that comes to an end is `working` when it is looked at.
const LOOKS: usize = 2;

/// The one task of this server.
#[derive(Debug, Default)]
pub(crate) struct Polled {
    made: usize,
    looked: usize,
    message: Value,
    told: Option<Value>,
}

impl Polled {
    /// Answers a request; `mode` is what becomes of the task.
    pub(crate) fn answer(&mut self, mode: &str, method: &str, params: &Value) -> Reply {
        let declared = params["_meta"][CAPABILITIES]["extensions"].get(EXTENSION).is_some();
        match method {
            "tools/call" if declared || mode == "forced" => self.create(mode, params),
            "tools/call" => Reply::Pass,
            _ if !declared => Reply::Error(-32021, "the extension was not declared", Value::Null),
            _ if params["taskId"] != self.id() => Reply::Error(-32602, "no such task", params["taskId"].clone()),
            "tasks/get" => self.look(mode),
            "tasks/update" => {
                self.told = Some(params["inputResponses"].clone());
                Reply::Result(json!({"resultType": "complete"}))
            }
            _ => Reply::Pass,
        }
    }

    fn id(&self) -> Value {
        json!(format!("task-{}", self.made))
    }

    fn create(&mut self, mode: &str, params: &Value) -> Reply {
        *self = Polled { made: self.made + 1, message: params["arguments"]["message"].clone(), ..Polled::default() };
        let mut task = self.told("working");
        task["resultType"] = json!("task");
        if mode == "nameless" {
            task["taskId"] = Value::Null;
        }
        Reply::Result(task)
    }

    fn look(&mut self, mode: &str) -> Reply {
        self.looked += 1;
        let over = self.looked > LOOKS;
        let text = |text: Value| json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
        Reply::Result(match mode {
            "asks" if self.told.is_none() => {
                let ask = json!({"method": "elicitation/create", "params": {"message": "which?"}});
                let mut task = self.told("input_required");
                task["inputRequests"] = json!({"q": ask});
                task
            }
            "asks" => self.over("completed", "result", text(json!(self.told.as_ref().map(Value::to_string)))),
            "lost" => return Reply::Error(-32602, "no such task", Value::Null),
            "odd" => self.told("dreaming"),
            "empty" => self.told("completed"),
            "cancelled" if over => self.told("cancelled"),
            "fails" if over => self.over("failed", "error", json!({"code": -32050, "message": "it broke"})),
            "endless" => self.told("working"),
            _ if over => self.over("completed", "result", text(self.message.clone())),
            _ => self.told("working"),
        })
    }

    fn told(&self, status: &str) -> Value {
        json!({
            "resultType": "complete", "taskId": self.id(), "status": status, "pollIntervalMs": 5, "ttlMs": null,
            "createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": "2026-07-28T10:00:00Z",
        })
    }

    fn over(&self, status: &str, key: &str, came_to: Value) -> Value {
        let mut task = self.told(status);
        task[key] = came_to;
        task
    }
}
