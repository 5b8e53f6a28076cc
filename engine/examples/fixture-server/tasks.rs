//! Calls that are run as tasks (2025-11-25): made by `tools/call` with `task`, over when their result was asked for.

use serde_json::{Value, json};

/// How many tasks a page lists: fewer than a test makes.
const PAGE: usize = 2;

/// The tasks of one conversation, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    all: Vec<Task>,
}

#[derive(Debug)]
struct Task {
    status: &'static str,
    ttl: Value,
    result: Value,
}

impl Tasks {
    /// Makes a task whose result is known already.
    pub(crate) fn create(&mut self, task: &Value, result: Value) -> Value {
        self.all.push(Task { status: "working", ttl: task["ttl"].clone(), result });
        json!({"task": self.state(self.all.len() - 1)})
    }

    /// Answers a `tasks/…` request.
    pub(crate) fn answer(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        if method == "tasks/list" {
            return Ok(self.list(params));
        }
        let number = params["taskId"].as_str().and_then(|id| id.strip_prefix("task-")?.parse::<usize>().ok());
        let at = number.filter(|number| (1..=self.all.len()).contains(number)).ok_or("unknown task")? - 1;
        match method {
            "tasks/result" => {
                self.all[at].status = "completed";
                let mut result = self.all[at].result.clone();
                result["_meta"] =
                    json!({"io.modelcontextprotocol/related-task": {"taskId": format!("task-{}", at + 1)}});
                Ok(result)
            }
            "tasks/cancel" if self.all[at].status != "working" => Err(format!("the task is {}", self.all[at].status)),
            "tasks/cancel" => {
                self.all[at].status = "cancelled";
                Ok(self.state(at))
            }
            _ => Ok(self.state(at)),
        }
    }

    fn list(&self, params: &Value) -> Value {
        let start = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0).min(self.all.len());
        let end = (start + PAGE).min(self.all.len());
        let mut result = json!({"tasks": (start..end).map(|at| self.state(at)).collect::<Vec<_>>()});
        if end < self.all.len() {
            result["nextCursor"] = json!(end.to_string());
        }
        result
    }

    fn state(&self, at: usize) -> Value {
        let time = "2025-01-01T00:00:00Z";
        let Task { status, ttl, .. } = &self.all[at];
        json!({"taskId": format!("task-{}", at + 1), "status": status, "ttl": ttl, "createdAt": time, "lastUpdatedAt": time})
    }
}
