//! Which arguments of a tool are said again in headers, in the modern era over HTTP: those whose schema has an
//! `x-mcp-header`. A client must not use a tool whose schema says it wrongly.

use crate::source::Json;

/// Where a schema names the header of an argument.
const HEADER: &str = "x-mcp-header";
/// Keywords that hold a schema, or a list of them.
const NESTED: [&str; 15] = [
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];
/// Keywords that hold schemas by name.
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

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

/// Follows `properties` alone: what is reached through anything else may be there or not, or more than once.
fn collect(schema: &Json, path: &mut Vec<String>, found: &mut Vec<Parameter>) -> Result<(), String> {
    match (schema.get(HEADER), path.last()) {
        (Some(header), Some(name)) => {
            let header = checked(header, name, schema)?;
            if found.iter().any(|other: &Parameter| other.header.eq_ignore_ascii_case(header)) {
                return Err(format!("the `x-mcp-header` `{header}` stands twice"));
            }
            found.push(Parameter { header: header.to_owned(), path: path.clone() });
        }
        (Some(_), None) => return Err("the arguments as a whole have an `x-mcp-header`".to_owned()),
        (None, _) => {}
    }
    for (keyword, name, inner) in inside(schema) {
        if let ("properties", Some(name)) = (keyword, name) {
            path.push(name.to_owned());
            collect(inner, path, found)?;
            path.pop();
        } else if says_header(inner) {
            return Err(format!("an `x-mcp-header` stands below `{keyword}`, where no argument can be told from it"));
        }
    }
    Ok(())
}

/// The header of an argument, when it can be one.
fn checked<'a>(header: &'a Json, name: &str, schema: &Json) -> Result<&'a str, String> {
    let header = header.as_str().ok_or_else(|| format!("the `x-mcp-header` of `{name}` is no text"))?;
    if header.is_empty() || !header.bytes().all(is_token) {
        return Err(format!("`{header}`, the `x-mcp-header` of `{name}`, cannot name a header"));
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("string" | "integer" | "boolean") => Ok(header),
        _ => Err(format!("`{name}` has an `x-mcp-header`, and is no text, integer or boolean")),
    }
}

/// The schemas right inside one: the keyword, the name where it gives them names, the schema.
fn inside(schema: &Json) -> impl Iterator<Item = (&'static str, Option<&str>, &Json)> {
    let nested = NESTED.into_iter().filter_map(|keyword| Some((keyword, schema.get(keyword)?)));
    let nested = nested.flat_map(|(keyword, value)| {
        let several = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        several.iter().map(move |inner| (keyword, None, inner))
    });
    let named = NAMED.into_iter().filter_map(|keyword| Some((keyword, schema.get(keyword)?.as_object()?)));
    let named =
        named.flat_map(|(keyword, inner)| inner.iter().map(move |(name, inner)| (keyword, Some(name.as_str()), inner)));
    nested.chain(named)
}

fn says_header(schema: &Json) -> bool {
    schema.get(HEADER).is_some() || inside(schema).any(|(_, _, inner)| says_header(inner))
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
            json!({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}),
            json!({"a": {"anyOf": [{"type": "integer"}, {"type": "string", "x-mcp-header": "A"}]}}),
            json!({"a": {"not": {"properties": {"b": {"type": "string", "x-mcp-header": "A"}}}}}),
        ];
        for properties in wrong {
            assert!(parameters(&schema(properties.clone())).is_err(), "{properties}");
        }
        assert!(parameters(&json!({"$defs": {"a": {"type": "string", "x-mcp-header": "A"}}})).is_err());
        assert!(parameters(&json!({"type": "object", "x-mcp-header": "A"})).is_err());
    }

    #[test]
    fn what_only_looks_like_a_header_spoils_nothing() {
        let fine = [
            json!({"x-mcp-header": {"type": "number"}}),
            json!({"a": {"type": "object", "default": {"x-mcp-header": 3}, "enum": [{"x-mcp-header": ""}]}}),
        ];
        for properties in fine {
            assert_eq!(parameters(&schema(properties)), Ok(Vec::new()));
        }
        assert_eq!(parameters(&json!({"type": "object"})), Ok(Vec::new()));
        assert_eq!(parameters(&json!(true)), Ok(Vec::new()));
    }
}
