//! The resources: a text that can change, a picture, and a template.

use super::connection::Connection;
use super::lifecycle::Revision;
use super::modern;
use super::reply::{INVALID_PARAMS, RESOURCE_NOT_FOUND, Refusal, Reply};
use serde_json::{Value, json};

/// The text that `set_motd` changes.
pub(super) const MOTD: &str = "demo://motd";
/// A picture.
pub(super) const PIXEL: &str = "demo://pixel";
/// The template's URI up to its variable.
const GREETING: &str = "demo://greeting/";
/// The template.
pub(super) const TEMPLATE: &str = "demo://greeting/{name}";
/// One opaque blue pixel as PNG, in base64.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mOQz38NAAIqAXpGbxguAAAAAElFTkSuQmCC";

/// `resources/list`.
pub(super) fn list(connection: &Connection<'_>) -> Vec<Value> {
    let motd =
        json!({ "uri": MOTD, "name": "motd", "description": "The message of the day", "mimeType": "text/plain" });
    let pixel = json!({ "uri": PIXEL, "name": "pixel", "description": "A single pixel", "mimeType": "image/png" });
    titled(connection, vec![(motd, "Message of the day"), (pixel, "Pixel")])
}

/// `resources/templates/list`.
pub(super) fn templates(connection: &Connection<'_>) -> Vec<Value> {
    let greeting = json!({
        "uriTemplate": TEMPLATE, "name": "greeting", "description": "A greeting by name", "mimeType": "text/plain",
    });
    titled(connection, vec![(greeting, "Greeting")])
}

fn titled(connection: &Connection<'_>, entries: Vec<(Value, &str)>) -> Vec<Value> {
    let titles = connection.revision() >= Revision::Jun2025;
    let with_title = |(mut entry, title): (Value, &str)| {
        if titles {
            entry["title"] = json!(title);
        }
        entry
    };
    entries.into_iter().map(with_title).collect()
}

/// `resources/read`.
pub(super) fn read(connection: &Connection<'_>, uri: &str) -> Reply {
    let text = match uri {
        MOTD => connection.state().motd.clone(),
        PIXEL => return Ok(json!({ "contents": [{ "uri": uri, "mimeType": "image/png", "blob": PNG }] })),
        _ => match uri.strip_prefix(GREETING).and_then(decode) {
            Some(name) => format!("Hello, {name}!"),
            None => return Err(missing(connection, uri)),
        },
    };
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] }))
}

/// `resources/subscribe`.
pub(super) fn subscribe(connection: &Connection<'_>, uri: &str) -> Reply {
    read(connection, uri)?;
    connection.state().subscriptions.insert(uri.to_owned());
    Ok(json!({}))
}

/// `resources/unsubscribe`.
pub(super) fn unsubscribe(connection: &Connection<'_>, uri: &str) -> Reply {
    connection.state().subscriptions.remove(uri);
    Ok(json!({}))
}

/// Changes the message of the day, and tells a client that subscribed to it.
pub(super) fn set_motd(connection: &Connection<'_>, text: &str) {
    let subscribed = {
        let mut state = connection.state();
        state.motd = text.to_owned();
        state.subscriptions.contains(MOTD)
    };
    if subscribed {
        connection.notify("notifications/resources/updated", json!({ "uri": MOTD }));
    }
    modern::updated(connection, MOTD);
}

fn missing(connection: &Connection<'_>, uri: &str) -> Refusal {
    let code = if connection.revision() >= Revision::Jul2026 { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
    Refusal::error(code, "resource not found").with(json!({ "uri": uri }))
}

/// A template variable's value: not empty, one segment, percent-decoded.
fn decode(segment: &str) -> Option<String> {
    if segment.is_empty() || segment.contains('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(rest.next()?).to_digit(16)?;
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).ok()
}
