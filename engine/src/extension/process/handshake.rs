//! The handshake of a plugin that is bound with a spec: who it is, what it offers, what it asks for.
//!
//! ```text
//! → {"method":"handshake","params":{"protocol_version":1,"host":{"name":"mcptest","version":"…"},
//!    "tools":["near"],"capabilities":["env:TOKEN"]},"id":1}
//! ← {"id":1,"result":{"manifest":{"plugin_id":"near","plugin_version":"1.0.0","protocol_version":1,
//!    "exposed_tools":["near"],"capabilities":["env:TOKEN"]}}}
//! ```

use super::PROTOCOL_VERSION;
use crate::extension::Introduced;
use crate::extension::capability::{self, Grant, Kind};
use crate::extension::fault::{Code, Fault, plain};
use crate::extension::log::{self, Level, Said};
use crate::extension::naming::quoted;
use crate::extension::plugin::object::Object;
use crate::extension::plugin::words::without_place;
use crate::source::Json;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
struct Answered<T> {
    manifest: Object<T>,
}

/// The one field that every version of the protocol has.
#[derive(Debug, Deserialize)]
struct Spoken {
    protocol_version: Json,
}

/// What a plugin says of itself.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    plugin_id: String,
    plugin_version: String,
    protocol_version: u64,
    exposed_tools: Vec<String>,
    #[serde(default)]
    capabilities: Vec<String>,
}

/// What a plugin is asked.
pub(super) fn params(tools: &[String], granted: &[Grant]) -> String {
    json!({
        "protocol_version": PROTOCOL_VERSION,
        "host": { "name": "mcptest", "version": env!("CARGO_PKG_VERSION") },
        "tools": tools,
        "capabilities": granted.iter().map(Grant::to_string).collect::<Vec<_>>(),
    })
    .to_string()
}

impl Manifest {
    /// The same, for whoever asked.
    pub(super) fn introduced(self) -> Introduced {
        Introduced {
            name: self.plugin_id,
            version: self.plugin_version,
            protocol: self.protocol_version.to_string(),
            tools: self.exposed_tools,
            capabilities: self.capabilities,
        }
    }
}

/// Reads the answer, and holds it against the rules that have nothing to do with what is granted.
pub(super) fn read(name: &Arc<str>, result: &str) -> Result<Manifest, Fault> {
    let bad = |what: String| {
        Fault::new(Code::HandshakeFailed, name, format!("the manifest of plugin `{name}` has {what}"))
            .hint(format!("it answered the handshake with {}", plain(result)))
    };
    // Another version may have other fields: it is looked at before them.
    if let Ok(Object(Answered { manifest: Object(Spoken { protocol_version }) })) = serde_json::from_str(result)
        && (protocol_version.is_number() || protocol_version.is_string())
        && protocol_version != PROTOCOL_VERSION
    {
        return Err(other_version(name, &protocol_version));
    }
    let answered: Result<Object<Answered<Manifest>>, _> = serde_json::from_str(result);
    let Object(Answered { manifest: Object(manifest) }) =
        answered.map_err(|error| bad(format!("a mistake: {}", without_place(&error))))?;
    for (field, value) in [("plugin_id", &manifest.plugin_id), ("plugin_version", &manifest.plugin_version)] {
        if value.is_empty() || value.trim() != value {
            return Err(bad(format!("the {field} {}", quoted(value))));
        }
    }
    distinct("exposed tool", &manifest.exposed_tools).map_err(&bad)?;
    distinct("capability", &manifest.capabilities).map_err(&bad)?;
    Ok(manifest)
}

fn other_version(name: &Arc<str>, theirs: &Json) -> Fault {
    let side = match theirs.as_u64() {
        Some(number) if number > PROTOCOL_VERSION => "update mcptest".to_owned(),
        Some(_) => "update the plugin".to_owned(),
        None => format!("`protocol_version` is the number {PROTOCOL_VERSION}"),
    };
    let theirs = plain(&theirs.to_string());
    let message =
        format!("plugin `{name}` speaks protocol version {theirs}, and this mcptest speaks {PROTOCOL_VERSION}");
    Fault::new(Code::ProtocolVersionMismatch, name, message).hint(side)
}

/// Holds the answer against all the rules; gives the tools that the plugin exposes.
pub(super) fn settle(name: &Arc<str>, result: &str, granted: &[Grant]) -> Result<Vec<String>, Fault> {
    let manifest = read(name, result)?;
    let mut asked = Vec::new();
    for text in &manifest.capabilities {
        // What stands in the allow-list may be asked for as it stands there.
        let granted = granted.iter().find(|grant| grant.to_string() == *text);
        asked.push(match granted {
            Some(grant) => grant.kind(),
            None => Kind::parse(text).map_err(|_| unknown(name, text))?,
        });
    }
    for grant in capability::settle(name, &asked, granted)? {
        let text = format!("was granted `{grant}`, and does not ask for it");
        log::keep([Said { by: name.clone(), level: Level::Info, text }]);
    }
    Ok(manifest.exposed_tools)
}

/// Nobody can grant what has no name here.
fn unknown(name: &Arc<str>, text: &str) -> Fault {
    let message = format!("plugin `{name}` asks for {}, which was not granted", quoted(text));
    Fault::new(Code::CapabilityNotAllowed, name, message).hint(format!("what can be granted is {}", capability::FORMS))
}

fn distinct(what: &str, values: &[String]) -> Result<(), String> {
    for (at, value) in values.iter().enumerate() {
        if value.trim().is_empty() {
            return Err(format!("an empty {what}"));
        }
        if value.trim() != value {
            return Err(format!("the {what} {} with white space around it", quoted(value)));
        }
        if values[..at].contains(value) {
            return Err(format!("the {what} {} twice", quoted(value)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::path::Path;

    fn manifest(change: impl FnOnce(&mut Value)) -> String {
        let mut answer = json!({"manifest": {
            "plugin_id": "near", "plugin_version": "1.0.0", "protocol_version": 1, "exposed_tools": ["near"],
        }});
        change(&mut answer["manifest"]);
        answer.to_string()
    }

    fn code(answer: &str, granted: &[&str]) -> Option<Code> {
        let granted: Vec<Grant> = granted.iter().map(|text| Grant::parse(text, Path::new("/")).expect(text)).collect();
        settle(&"near".into(), answer, &granted).err().map(|fault| fault.code)
    }

    #[test]
    fn a_manifest_has_its_four_fields() {
        assert_eq!(code(&manifest(|_| ()), &[]), None);
        for field in ["plugin_id", "plugin_version", "protocol_version", "exposed_tools"] {
            let without = manifest(|manifest| drop(manifest.as_object_mut().unwrap().remove(field)));
            assert_eq!(code(&without, &[]), Some(Code::HandshakeFailed), "{field}");
            for wrong in [json!({}), json!(null), json!([[]])] {
                let wrong = manifest(|manifest| manifest[field] = wrong);
                assert_eq!(code(&wrong, &[]), Some(Code::HandshakeFailed), "{field}");
            }
        }
        let list = r#"["near", "1.0.0", 1, ["near"], []]"#;
        for bad in ["null", "{}", "[]", "true", &format!(r#"{{"manifest":{list}}}"#), &format!("[{list}]")] {
            assert_eq!(code(bad, &[]), Some(Code::HandshakeFailed), "{bad}");
        }
        for (field, value) in [("plugin_id", ""), ("plugin_id", " near"), ("plugin_version", "")] {
            assert_eq!(code(&manifest(|m| m[field] = json!(value)), &[]), Some(Code::HandshakeFailed));
        }
    }

    #[test]
    fn the_protocol_version_must_match() {
        for version in [json!(0), json!(2), json!(-1), json!(1.5), json!("1"), json!("2.0")] {
            let answer = manifest(|manifest| manifest["protocol_version"] = version.clone());
            assert_eq!(code(&answer, &[]), Some(Code::ProtocolVersionMismatch), "{version}");
        }
        let next = r#"{"manifest":{"protocol_version":2,"name":"near","tools":{"near":{}}}}"#;
        assert_eq!(code(next, &[]), Some(Code::ProtocolVersionMismatch), "whatever else it has");
    }

    #[test]
    fn empty_padded_and_duplicate_values_are_refused() {
        for values in [json!([""]), json!([" "]), json!([" clock"]), json!(["clock", "clock"]), json!([1])] {
            for field in ["capabilities", "exposed_tools"] {
                let answer = manifest(|manifest| manifest[field] = values.clone());
                assert_eq!(code(&answer, &["clock"]), Some(Code::HandshakeFailed), "{field}: {values}");
            }
        }
    }

    #[test]
    fn a_plugin_never_grants_itself_anything() {
        let asking = |kind: &str| manifest(|manifest| manifest["capabilities"] = json!([kind]));
        assert_eq!(code(&asking("clock"), &[]), Some(Code::CapabilityNotAllowed));
        assert_eq!(code(&asking("clock"), &["random"]), Some(Code::CapabilityNotAllowed));
        assert_eq!(code(&asking("everything"), &["clock"]), Some(Code::CapabilityNotAllowed));
        assert_eq!(code(&asking("clock"), &["clock"]), None);
        for (asked, granted) in [("fs.read:./a", "fs.read:./a"), ("net:a.example:80", "net:a.example:80")] {
            assert_eq!(code(&asking(asked), &[granted]), None, "as it was granted");
        }
        assert_eq!(code(&asking("fs.read:./b"), &["fs.read:./a"]), Some(Code::CapabilityNotAllowed));
        assert_eq!(code(&asking("env:A"), &["env:A", "clock"]), None, "it asks for less than it may have");
        assert_eq!(code(&manifest(|_| ()), &["clock"]), Some(Code::CapabilityNotDeclared));
    }
}
