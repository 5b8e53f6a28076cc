use super::*;

/// Schemas as servers write them; every value made for one must be valid against it.
const SCHEMAS: [&str; 42] = [
    r#"{"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}"#,
    r#"{"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "integer", "minimum": 3}}, "required": ["a", "b"]}"#,
    r#"{"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 5}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"n": {"type": "number", "maximum": -2.5}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"n": {"type": "number", "minimum": 0.2, "maximum": 0.4}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"s": {"enum": ["x", "y"]}, "c": {"const": 7}}, "required": ["s", "c"]}"#,
    r#"{"type": "object", "properties": {"s": {"type": "string", "minLength": 20}, "t": {"type": "string", "maxLength": 3}}, "required": ["s", "t"]}"#,
    r#"{"type": "object", "properties": {"s": {"type": "string", "pattern": "^[A-Z]{3}$"}}, "required": ["s"]}"#,
    r#"{"type": "object", "properties": {"s": {"type": "string", "pattern": "^[0-9a-f]{40}$"}}, "required": ["s"]}"#,
    r#"{"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}, "u": {"type": "string", "format": "uuid"}}, "required": ["at", "u"]}"#,
    r#"{"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}}}, "required": ["l"]}"#,
    r#"{"type": "object", "properties": {"l": {"type": "array", "minItems": 3, "items": {"type": "integer"}}}, "required": ["l"]}"#,
    r#"{"type": "object", "properties": {"l": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}}, "required": ["l"]}"#,
    r#"{"type": "object", "properties": {"v": {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 1}]}}, "required": ["v"]}"#,
    r#"{"type": "object", "properties": {"v": {"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]}, {"type": "string"}]}}, "required": ["v"]}"#,
    r##"{"type": "object", "properties": {"p": {"$ref": "#/$defs/point"}}, "required": ["p"], "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}}}"##,
    r##"{"type": "object", "properties": {"p": {"$ref": "#/definitions/a"}}, "required": ["p"], "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"type": "boolean"}}}"##,
    r##"{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}, "v": {"type": "string"}}, "required": ["v"]}}}"##,
    r#"{"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}"#,
    r#"{"type": "object", "properties": {"t": {"type": ["null", "integer"], "default": null}}, "required": ["t"]}"#,
    r#"{"type": "object", "required": ["undescribed"]}"#,
    r#"{"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": "string"}}}, "required": ["m"]}"#,
    r#"{"type": "object", "properties": {"url": {"type": "string", "format": "uri", "minLength": 1}}, "required": ["url"]}"#,
    r#"true"#,
    r#"{"type": "object", "properties": {"n": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"n": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"n": {"type": "integer", "maximum": 3, "multipleOf": 5}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"n": {"type": "number", "minimum": 0.25, "multipleOf": 0.1}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": -9, "maximum": -3}}, "required": ["n"]}"#,
    r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": true}}, "required": ["n"]}"#,
    r#"{"type": "object", "properties": {"s": {"type": "string", "pattern": "^[A-Z]{2,3}-\\d{4}$"}}, "required": ["s"]}"#,
    r#"{"type": "object", "properties": {"s": {"type": "string", "pattern": "^proj_[a-z0-9]+$", "minLength": 12, "maxLength": 14}}, "required": ["s"]}"#,
    r#"{"type": "object", "properties": {"s": {"type": "string", "pattern": "^(?!-)[a-z-]+$"}}, "required": ["s"]}"#,
    r#"{"type": "object", "properties": {"l": {"type": "array", "minItems": 2, "uniqueItems": true, "items": {"enum": ["a", "b"]}}}, "required": ["l"]}"#,
    r#"{"type": "object", "properties": {"l": {"type": "array", "minItems": 3, "uniqueItems": true, "items": {"type": "string"}}}, "required": ["l"]}"#,
    r#"{"type": "object", "properties": {"l": {"type": "array", "minItems": 2, "uniqueItems": true, "items": {"type": "integer"}}}, "required": ["l"]}"#,
    r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {"l": {"type": "array", "minItems": 3, "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": {"type": "boolean"}}}, "required": ["l"]}"#,
    r#"{"type": "object", "properties": {"m": {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}}, "required": ["m"]}"#,
    r#"{"type": "object", "minProperties": 1, "additionalProperties": false, "properties": {"a": {"type": "boolean"}}}"#,
    r#"{"type": "object", "minProperties": 1, "propertyNames": {"pattern": "^x-[0-9]$"}}"#,
    r#"{"type": "object", "properties": {"e": {"type": "string", "enum": [null, "a"]}, "d": {"type": "integer", "default": "three"}}, "required": ["e", "d"]}"#,
    r##"{"type": "object", "properties": {"p": {"$ref": "#/$defs/a%20b%7E1c"}}, "required": ["p"], "$defs": {"a b/c": {"type": "integer"}}}"##,
];

#[test]
fn every_value_is_valid() {
    for text in SCHEMAS {
        let schema: Json = serde_json::from_str(text).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for made in [instance(&schema), form(&schema)] {
            let problems: Vec<String> = validator.iter_errors(&made).map(|error| error.to_string()).collect();
            assert!(problems.is_empty(), "{text}\n{made}\n{problems:?}");
        }
    }
}

#[test]
fn what_the_author_wrote_comes_first() {
    let schema = json!({"type": "object", "required": ["a", "b", "c", "d"], "properties": {
        "a": {"type": "string", "examples": ["Paris"], "default": "x"},
        "b": {"type": "integer", "default": 7, "enum": [1, 7]},
        "c": {"type": "string", "enum": ["first", "second"]},
        "d": {"oneOf": [{"const": "low", "title": "Low"}, {"const": "high"}]},
        "optional": {"type": "string", "default": "left out"},
    }});
    assert_eq!(instance(&schema), json!({"a": "Paris", "b": 7, "c": "first", "d": "low"}));
    assert_eq!(form(&schema), json!({"a": "Paris", "b": 7, "c": "first", "d": "low", "optional": "left out"}));
}

/// The bounds of every integer that a language has say nothing about the one that is meant.
#[test]
fn a_number_is_one_that_a_person_would_write() {
    for (schema, expected) in [
        (json!({"type": "integer", "minimum": -9007199254740991_i64, "maximum": 9007199254740991_i64}), json!(1)),
        (json!({"type": "number", "minimum": -90, "maximum": 90}), json!(1)),
        (json!({"type": "integer", "minimum": 0}), json!(0)),
        (json!({"type": "integer", "minimum": -5, "exclusiveMaximum": 0}), json!(-1)),
        (json!({"type": "number", "minimum": 0.25, "multipleOf": 0.1}), json!(0.3)),
    ] {
        assert_eq!(instance(&schema), expected, "{schema}");
    }
}

#[test]
fn schemas_without_end_come_to_one() {
    let endless = [
        r##"{"$ref": "#"}"##,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
        r##"{"type": "object", "properties": {"again": {"$ref": "#"}}, "required": ["again"]}"##,
        r##"{"anyOf": [{"$ref": "#"}]}"##,
        r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}]}"##,
        r##"{"type": "array", "items": {"$ref": "#"}, "minItems": 2}"##,
    ];
    for text in endless {
        let schema: Json = serde_json::from_str(text).expect("JSON");
        assert!(instance(&schema).to_string().len() < 100_000, "{text}");
    }
}
