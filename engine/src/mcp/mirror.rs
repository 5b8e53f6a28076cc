//! Which arguments of a tool are said again in headers, in the modern era over HTTP: those whose schema has an
//! `x-mcp-header`. A client must not use a tool whose schema says it wrongly.

use crate::source::Json;

/// Where a schema names the header of an argument.
const HEADER: &str = "x-mcp-header";
/// How deep arguments are looked for: a header belongs to what can be reached through `properties` alone.
const MOST_DEPTH: usize = 16;

/// An argument that is said again in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What follows `Mcp-Param-`.
    pub header: String,
    /// Where it stands in the arguments.
    pub path: Vec<String>,
}

/// The arguments of a schema that are said again in headers; the error says what is wrong with one of them.
pub fn parameters(schema: &Json) -> Result<Vec<Parameter>, String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    Ok(found)
}

fn collect(schema: &Json, path: &mut Vec<String>, found: &mut Vec<Parameter>) -> Result<(), String> {
    if path.len() > MOST_DEPTH {
        return Ok(());
    }
    for (name, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get(HEADER) {
            let header = header.as_str().ok_or_else(|| format!("the `x-mcp-header` of `{name}` is no text"))?;
            if header.is_empty() || !header.bytes().all(is_token) {
                return Err(format!("`{header}`, the `x-mcp-header` of `{name}`, cannot name a header"));
            }
            let kind = property.get("type").and_then(Json::as_str);
            if !matches!(kind, Some("string" | "integer" | "boolean")) {
                return Err(format!("`{name}` has an `x-mcp-header`, and is no text, integer or boolean"));
            }
            if found.iter().any(|other: &Parameter| other.header.eq_ignore_ascii_case(header)) {
                return Err(format!("the `x-mcp-header` `{header}` stands twice"));
            }
            found.push(Parameter { header: header.to_owned(), path: path.clone() });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// What may stand in the name of a header (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(properties: Json) -> Json {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn arguments_are_found_through_properties() {
        let note = json!({"type": "object", "properties": {"note": {"type": "string", "x-mcp-header": "Note"}}});
        let found = parameters(&schema(json!({"in": note, "query": {"type": "string"}})));
        assert_eq!(
            found,
            Ok(vec![Parameter { header: "Note".to_owned(), path: vec!["in".to_owned(), "note".to_owned()] }])
        );
    }

    #[test]
    fn wrong_headers_spoil_a_tool() {
        let wrong = [
            json!({"a": {"type": "string", "x-mcp-header": ""}}),
            json!({"a": {"type": "object", "x-mcp-header": "A"}}),
            json!({"a": {"type": "number", "x-mcp-header": "A"}}),
            json!({"a": {"x-mcp-header": "A"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A b"}}),
            json!({"a": {"type": "string", "x-mcp-header": "Ä"}}),
            json!({"a": {"type": "string", "x-mcp-header": 3}}),
        ];
        for properties in wrong {
            assert!(parameters(&schema(properties.clone())).is_err(), "{properties}");
        }
        assert_eq!(parameters(&json!({"type": "object"})), Ok(Vec::new()));
    }
}
