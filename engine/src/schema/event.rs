//! The JSON Schema of the event stream.

use serde_json::{Value, json};

pub(super) fn document() -> Value {
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "mcptest event", "type": "object" })
}
