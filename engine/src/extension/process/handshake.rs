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
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

#[derive(Debug, Deserialize)]
struct Answered {
    manifest: Manifest,
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
    let Answered { manifest } = serde_json::from_str(result).map_err(|error| bad(format!("a mistake: {error}")))?;
    for (field, value) in [("plugin_id", &manifest.plugin_id), ("plugin_version", &manifest.plugin_version)] {
        if value.is_empty() || value.trim() != value {
            return Err(bad(format!("the {field} {}", quoted(value))));
        }
    }
    if manifest.protocol_version != PROTOCOL_VERSION {
        let theirs = manifest.protocol_version;
        let side = if theirs > PROTOCOL_VERSION { "update mcptest" } else { "update the plugin" };
        let message = format!("plugin `{name}` speaks protocol version {theirs}, and this is {PROTOCOL_VERSION}");
        return Err(Fault::new(Code::ProtocolVersionMismatch, name, message).hint(side));
    }
    distinct("exposed tool", &manifest.exposed_tools).map_err(&bad)?;
    distinct("capability", &manifest.capabilities).map_err(&bad)?;
    Ok(manifest)
}

/// Holds the answer against all the rules; gives the tools that the plugin exposes.
pub(super) fn settle(name: &Arc<str>, result: &str, granted: &[Grant]) -> Result<Vec<String>, Fault> {
    let manifest = read(name, result)?;
    let mut asked = Vec::new();
    for text in &manifest.capabilities {
        asked.push(Kind::parse(text).map_err(|_| unknown(name, text))?);
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
            let wrong = manifest(|manifest| manifest[field] = json!({}));
            assert_eq!(code(&wrong, &[]), Some(Code::HandshakeFailed), "{field}");
        }
        for bad in ["null", "{}", "[]", "true"] {
            assert_eq!(code(bad, &[]), Some(Code::HandshakeFailed), "{bad}");
        }
        for (field, value) in [("plugin_id", ""), ("plugin_id", " near"), ("plugin_version", "")] {
            assert_eq!(code(&manifest(|m| m[field] = json!(value)), &[]), Some(Code::HandshakeFailed));
        }
    }

    #[test]
    fn the_protocol_version_must_match() {
        for version in [0, 2] {
            let answer = manifest(|manifest| manifest["protocol_version"] = json!(version));
            assert_eq!(code(&answer, &[]), Some(Code::ProtocolVersionMismatch));
        }
        assert_eq!(code(&manifest(|m| m["protocol_version"] = json!("1")), &[]), Some(Code::HandshakeFailed));
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
        assert_eq!(code(&asking("env:A"), &["env:A", "clock"]), None, "it asks for less than it may have");
        assert_eq!(code(&manifest(|_| ()), &["clock"]), Some(Code::CapabilityNotDeclared));
    }
}
