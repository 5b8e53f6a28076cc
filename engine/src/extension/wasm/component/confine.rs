//! What a transform in the sandbox cannot add to a suite: whatever reaches out of the sandbox once the suite is run.
//!
//! A suite names servers to start, extensions to load, files of rows and schemas to read, and variables of the environment.
//! What the file holds was written by the user; what a component adds to that would be a grant that it gave itself. It may
//! copy and leave out what stands there, and name the servers of the config.

use crate::source::Json;
use crate::suite::template;

/// What the suite that came back reaches, and the one that was given does not; in words.
pub(super) fn added(before: &Json, after: &Json, is_granted: &dyn Fn(&str) -> bool) -> Option<String> {
    let known = inline_servers(before);
    if let Some(server) = inline_servers(after).into_iter().find(|server| !known.iter().any(|one| alike(one, server))) {
        return Some(format!("a server to the suite: {server}"));
    }
    for (key, entry) in imports(after) {
        if !imports(before).iter().any(|(other, known)| *other == key && alike_entries(known, &entry)) {
            let (name, value) = entry;
            let shown = name.map_or_else(|| value.to_string(), |name| format!("{name}: {value}"));
            return Some(format!("`imports` to the suite: `{key}` has {shown}"));
        }
    }
    let files = row_files(before);
    if let Some(file) = row_files(after).into_iter().find(|file| !files.contains(file)) {
        return Some(format!("a file of rows to the suite: `each: {file}`"));
    }
    let by_name = names_a_schema(after);
    let schemas = schema_files(before, by_name);
    if let Some(file) = schema_files(after, by_name).into_iter().find(|file| !schemas.contains(file)) {
        return Some(format!("a file of a schema to the suite: `$jsonSchema: {{file: {file}}}`"));
    }
    let (mut variables, mut more) = (Vec::new(), Vec::new());
    named_variables(before, &mut variables);
    named_variables(after, &mut more);
    let name = more.into_iter().find(|name| !variables.contains(name) && !is_granted(name))?;
    Some(format!("a variable of the environment to the suite: `${{env:{name}}}`"))
}

/// The suite itself, then every test: whatever key their lists stand under.
fn owners(suite: &Json) -> impl Iterator<Item = &Json> {
    let lists = suite.as_object().into_iter().flat_map(|suite| suite.values()).filter_map(Json::as_array);
    std::iter::once(suite).chain(lists.flatten())
}

/// Servers that are defined, not named; each is mostly the one before.
fn inline_servers(suite: &Json) -> Vec<&Json> {
    let mut servers: Vec<&Json> = Vec::new();
    for server in owners(suite).filter_map(|owner| owner.get("server")).filter(|server| server.is_object()) {
        if servers.last().is_none_or(|last| *last != server) {
            servers.push(server);
        }
    }
    servers
}

type Entry<'a> = (Option<&'a str>, &'a Json);

/// What is imported, with the key of `imports` that it stands under; and its own, in a map.
fn imports(suite: &Json) -> Vec<(&str, Entry<'_>)> {
    let mut all = Vec::new();
    for (key, value) in suite.get("imports").and_then(Json::as_object).into_iter().flatten() {
        match value {
            Json::Array(items) => all.extend(items.iter().map(|item| (key.as_str(), (None, item)))),
            Json::Object(map) => all.extend(map.iter().map(|(name, item)| (key.as_str(), (Some(name.as_str()), item)))),
            other => all.push((key.as_str(), (None, other))),
        }
    }
    all
}

fn alike_entries(one: &Entry<'_>, other: &Entry<'_>) -> bool {
    one.0 == other.0 && alike(one.1, other.1)
}

/// `each: rows.csv`.
fn row_files(suite: &Json) -> Vec<&str> {
    let mut files: Vec<&str> = owners(suite).filter_map(|owner| owner.get("each")?.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The texts that name a file of a schema, and those of every variable in them.
fn schema_files(suite: &Json, by_name: bool) -> Vec<&str> {
    let mut files = Vec::new();
    written_files(suite, by_name, &mut files);
    let mut at = 0;
    while let Some(text) = files.get(at).copied() {
        template::names(text).for_each(|name| texts_under(suite, name, &mut files));
        at += 1;
    }
    files
}

/// `$jsonSchema: { file: schema.json }`, wherever it stands; where a schema is named by a variable, every `{ file: … }`
/// may be one, and so may what stands under a key that is a variable.
fn written_files<'a>(value: &'a Json, by_name: bool, files: &mut Vec<&'a str>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| written_files(item, by_name, files)),
        Json::Object(map) => {
            let schema = if by_name { Some(value) } else { map.get("$jsonSchema") };
            let entries = schema.and_then(Json::as_object).into_iter().flatten();
            for (_, file) in entries.filter(|(key, _)| *key == "file" || key.contains("${")) {
                texts(file, files);
            }
            map.values().for_each(|item| written_files(item, by_name, files));
        }
        _ => {}
    }
}

/// What a variable may be: whatever stands under its name, in `variables`, a row or a capture. A row without names is
/// the variable `row`.
fn texts_under<'a>(value: &'a Json, name: &str, found: &mut Vec<&'a str>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| texts_under(item, name, found)),
        Json::Object(map) => {
            map.get(name).into_iter().for_each(|value| texts(value, found));
            let rows = map.get("each").filter(|_| name == "row").and_then(Json::as_array);
            rows.into_iter().flatten().for_each(|row| texts(row, found));
            map.values().for_each(|item| texts_under(item, name, found));
        }
        _ => {}
    }
}

fn texts<'a>(value: &'a Json, found: &mut Vec<&'a str>) {
    found.extend(value.as_str().filter(|text| !found.contains(text)));
}

/// Whether there is a `$jsonSchema: "${variable}"`, or a key that a variable may make one.
fn names_a_schema(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.iter().any(names_a_schema),
        Json::Object(map) => map.iter().any(|(key, item)| {
            (key == "$jsonSchema" && item.is_string()) || key.contains("${") || names_a_schema(item)
        }),
        _ => false,
    }
}

/// The names in `${env:NAME}`, wherever they stand.
fn named_variables<'a>(value: &'a Json, names: &mut Vec<&'a str>) {
    match value {
        Json::String(text) => in_text(text, names),
        Json::Array(items) => items.iter().for_each(|item| named_variables(item, names)),
        Json::Object(map) => map.iter().for_each(|(key, item)| {
            in_text(key, names);
            named_variables(item, names);
        }),
        _ => {}
    }
}

fn in_text<'a>(text: &'a str, names: &mut Vec<&'a str>) {
    for rest in text.split("${").skip(1) {
        let name = rest.split('}').next().unwrap_or(rest).trim_start().strip_prefix("env:");
        let name = name.map(|name| name.split(":-").next().unwrap_or(name));
        names.extend(name.filter(|name| !names.contains(name)));
    }
}

/// Whether two values say the same: many languages have one kind of number.
fn alike(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| alike(value, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given() -> Json {
        json!({
            "server": { "command": "files", "args": ["-v"], "timeout": 1.0 },
            "variables": { "named": "own" },
            "imports": { "matchers": ["./near.wasm"], "subprocess_matchers": { "far": "./far.py" } },
            "tools": [
                { "it": "a", "tool": "x", "each": "rows.csv", "args": { "server": 1, "key": "${env:GIVEN}" } },
                { "it": "b", "tool": "x", "server": { "url": "http://a" } },
                { "it": "c", "tool": "x", "expect": { "$jsonSchema": { "file": "own.json" } } },
                { "it": "d", "tool": "x", "expect": { "$jsonSchema": { "file": "${named}.json" } } },
                { "it": "e", "tool": "x", "each": ["own.json"], "expect": { "$jsonSchema": { "file": "${row}" } } },
            ],
        })
    }

    fn change(change: impl FnOnce(&mut Json)) -> Option<String> {
        let mut after = given();
        change(&mut after);
        added(&given(), &after, &|name| name == "GRANTED")
    }

    #[test]
    fn tests_are_free() {
        assert_eq!(change(|_| ()), None);
        assert_eq!(change(|suite| suite["tools"] = json!([suite["tools"][1], suite["tools"][1]])), None, "copies");
        assert_eq!(change(|suite| suite["tools"][0]["server"] = json!("named")), None, "a server of the config");
        assert_eq!(change(|suite| suite["before"] = json!([{ "it": "c", "server": { "url": "http://a" } }])), None);
        assert_eq!(change(|suite| suite["server"]["timeout"] = json!(1)), None, "the same number");
        assert_eq!(
            change(|suite| suite["tools"][0]["args"]["server"] = json!({ "command": "x" })),
            None,
            "an argument"
        );
        assert_eq!(change(|suite| suite["tools"][0]["each"] = json!([{ "n": 1 }])), None, "rows of its own");
        assert_eq!(change(|suite| suite["tools"][0]["args"] = json!({ "file": "a.txt" })), None, "an argument");
        assert_eq!(
            change(|suite| suite["tools"][1]["expect"] = json!({ "$jsonSchema": { "file": "own.json" } })),
            None
        );
        assert_eq!(change(|suite| suite["imports"] = json!({ "matchers": [] })), None);
        assert_eq!(change(|suite| suite["tools"][1]["args"] = json!(["${env:GIVEN}", "${env:GRANTED}", "${x}"])), None);
    }

    #[test]
    fn what_reaches_further_is_named() {
        let sh = json!({ "command": "sh", "args": ["-c", "true"] });
        type Change<'a> = &'a dyn Fn(&mut Json);
        let read = json!({ "file": "private.json" });
        let rows: [(Change<'_>, &str); 16] = [
            (&|suite| suite["server"] = sh.clone(), "a server to the suite: {\"command\":\"sh\""),
            (&|suite| suite["server"]["env"] = json!({ "A": "${env:SECRET}" }), "a server"),
            (&|suite| suite["tools"][0]["server"] = sh.clone(), "a server"),
            (&|suite| suite["after"] = json!([{ "it": "c", "server": sh }]), "a server"),
            (&|suite| suite["imports"]["matchers"] = json!(["./plugin"]), "`matchers` has \"./plugin\""),
            (&|suite| suite["imports"]["subprocess_matchers"]["far"] = json!("./evil"), "has far: \"./evil\""),
            (&|suite| suite["imports"]["subprocess_matchers"] = json!(["./evil"]), "`subprocess_matchers`"),
            (&|suite| suite["imports"]["transforms"] = json!("./evil"), "`transforms`"),
            (&|suite| suite["tools"][1]["each"] = json!("../secret.json"), "`each: ../secret.json`"),
            (
                &|suite| suite["tools"][1]["expect"] = json!([{ "$jsonSchema": read }]),
                "`$jsonSchema: {file: private.json}`",
            ),
            (
                &|suite| {
                    suite["variables"]["x"] = read.clone();
                    suite["tools"][1]["expect"] = json!({ "text": { "$jsonSchema": "${x}" } });
                },
                "a file of a schema",
            ),
            (
                &|suite| {
                    suite["variables"]["key"] = json!("file");
                    suite["tools"][1]["expect"] = json!({ "$jsonSchema": { "${key}": "private.json" } });
                },
                "a file of a schema",
            ),
            (&|suite| suite["variables"]["named"] = json!("private"), "`$jsonSchema: {file: private}`"),
            (&|suite| suite["tools"][4]["each"] = json!(["private.json"]), "`$jsonSchema: {file: private.json}`"),
            (&|suite| suite["tools"][1]["args"] = json!({ "${env:SECRET}": 1 }), "`${env:SECRET}`"),
            (&|suite| suite["variables"]["x"] = json!("a ${ env:SECRET} b"), "`${env:SECRET}`"),
        ];
        for (changed, words) in rows {
            let said = change(|suite| changed(suite)).unwrap_or_default();
            assert!(said.contains(words), "{words}: {said}");
        }
    }
}
