//! Which recorded request is the one that is asked, and which is nearest when none is.

use super::{Cassette, Exchange, TOKEN};
use crate::mcp::connection::is_own_id;
use crate::mcp::era::CLIENT_INFO;
use crate::source::Json;
use serde_json_path::JsonPath;

/// How many differences a miss shows.
const MOST: usize = 8;
/// How much of a value a difference shows.
const SHOWN: usize = 120;

/// What is left out of a comparison.
#[derive(Debug)]
pub(super) struct Ignored(Vec<JsonPath>);

impl Ignored {
    /// What the cassette says.
    pub(super) fn new(cassette: &Cassette) -> Ignored {
        let own = cassette.ignore.iter().filter_map(|path| JsonPath::parse(path).ok());
        Ignored(own.collect())
    }

    /// A request as it is compared: without what is ignored, what differs with every version of the engine and what the
    /// engine counts in a session; keys in order.
    pub(super) fn key(&self, request: &Json) -> Json {
        let mut key = request.clone();
        let is_initialize = key.get("method").is_some_and(|method| method == "initialize");
        if let Some(params) = key.get_mut("params").and_then(Json::as_object_mut) {
            if is_initialize {
                params.shift_remove("clientInfo");
            }
            if let Some(meta) = params.get_mut("_meta").and_then(Json::as_object_mut) {
                meta.shift_remove(CLIENT_INFO);
                if meta.get(TOKEN).is_some_and(is_own_id) {
                    meta.shift_remove(TOKEN);
                }
            }
        }
        for path in &self.0 {
            let pointers: Vec<String> =
                path.query_located(&key).locations().map(|location| location.to_json_pointer()).collect();
            pointers.iter().rev().for_each(|pointer| remove(&mut key, pointer));
        }
        sorted(&key)
    }
}

fn remove(value: &mut Json, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    let last = last.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(parent) {
        Some(Json::Object(map)) => drop(map.shift_remove(&last)),
        Some(Json::Array(items)) => {
            if let Some(item) = last.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                *item = Json::Null;
            }
        }
        _ => {}
    }
}

fn sorted(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect()
        }
        other => other.clone(),
    }
}

/// The recorded request that is most like this one: of the same method, with the fewest differences.
pub(super) fn nearest<'a>(wanted: &Json, recorded: &'a [(Json, &'a Exchange)]) -> Option<(&'a Json, Vec<String>)> {
    let same = recorded.iter().filter(|(key, _)| key.get("method") == wanted.get("method"));
    same.map(|(key, _)| (key, differences(key, wanted))).min_by_key(|(_, found)| found.len())
}

/// Every place in which two values differ: what was recorded, and what was asked.
pub(super) fn differences(recorded: &Json, asked: &Json) -> Vec<String> {
    let mut found = Vec::new();
    differ(Some(recorded), Some(asked), "$", &mut found);
    found
}

fn differ(recorded: Option<&Json>, asked: Option<&Json>, path: &str, found: &mut Vec<String>) {
    match (recorded, asked) {
        (Some(Json::Object(old)), Some(Json::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                differ(old.get(key), new.get(key), &format!("{path}{}", step(key)), found);
            }
        }
        (Some(Json::Array(old)), Some(Json::Array(new))) => {
            for at in 0..old.len().max(new.len()) {
                differ(old.get(at), new.get(at), &format!("{path}[{at}]"), found);
            }
        }
        (old, new) if old == new => {}
        (old, new) => found.push(format!("{path}: recorded {}, asked {}", shown(old), shown(new))),
    }
}

/// A step to a key as `ignore` takes it: `.key`, or `['key']` where the short form would be another path.
fn step(key: &str) -> String {
    let starts = key.starts_with(|first: char| first.is_alphabetic() || first == '_');
    if starts && key.chars().all(|c| c.is_alphanumeric() || c == '_') {
        format!(".{key}")
    } else {
        format!("['{}']", key.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

fn shown(value: Option<&Json>) -> String {
    let Some(value) = value else { return "nothing".into() };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("`{}…`", &text[..cut]),
        None => format!("`{text}`"),
    }
}

/// Differences in one text, the first few of them.
pub(super) fn told(differences: &[String]) -> String {
    let mut text = differences.iter().take(MOST).cloned().collect::<Vec<_>>().join("; ");
    if differences.len() > MOST {
        text.push_str(&format!("; and {} more", differences.len() - MOST));
    }
    text
}
