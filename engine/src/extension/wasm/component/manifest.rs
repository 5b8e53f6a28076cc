//! What a component says about itself, held against the rules.

use super::super::bindings::mcptest::extension::types;
use super::infos;
use crate::extension::capability::Kind;
use crate::extension::fault::{Code, Fault};
use crate::extension::naming::{self, MOST_NAME, quoted};
use crate::extension::{Manifest, Role};
use std::collections::HashSet;
use std::sync::Arc;

/// Matchers of one extension.
const MOST_MATCHERS: usize = 256;

/// Turns what came over the boundary into a manifest; what breaks a rule is named.
pub(super) fn manifest(name: &Arc<str>, given: types::Manifest, roles: Vec<Role>) -> Result<Manifest, Fault> {
    let bad = |what: String| Fault::new(Code::HandshakeFailed, name, format!("the manifest of `{name}` has {what}"));
    let types::Manifest { id, version, matchers, capabilities } = given;
    if !naming::is_id(&id) {
        return Err(
            bad(format!("the id {}", quoted(&id))).hint("an id has lowercase letters, digits and hyphens: `near`")
        );
    }
    if version.is_empty() || version.len() > MOST_NAME || version.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(bad(format!("the version {}", quoted(&version))).hint("a version looks like `1.4.0`"));
    }
    let is_matcher = roles.contains(&Role::Matcher);
    match matchers.len() {
        0 if is_matcher => return Err(bad("no matcher, and the component exports `matching`".to_owned())),
        0 => {}
        _ if !is_matcher => return Err(bad("matchers, and the component does not export `matching`".to_owned())),
        count if count > MOST_MATCHERS => return Err(bad(format!("{count} matchers; the most is {MOST_MATCHERS}"))),
        _ => {}
    }
    let mut names = HashSet::new();
    for matcher in &matchers {
        if !naming::is_matcher(&matcher.name) {
            return Err(bad(format!("a matcher named {}", quoted(&matcher.name)))
                .hint("a name is a letter, then letters, digits and hyphens"));
        }
        if !names.insert(&matcher.name) {
            return Err(bad(format!("two matchers named `{}`", matcher.name)));
        }
    }
    let mut kinds = Vec::new();
    for text in &capabilities {
        let kind = Kind::parse(text).map_err(&bad)?;
        if kinds.contains(&kind) {
            return Err(bad(format!("the capability `{kind}` twice")));
        }
        kinds.push(kind);
    }
    Ok(Manifest { id, version, roles, matchers: infos(matchers), capabilities: kinds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> types::Manifest {
        let matcher = types::MatcherInfo { name: "near".into(), summary: String::new(), argument_schema: None };
        types::Manifest {
            id: "near".into(),
            version: "1.0.0".into(),
            matchers: vec![matcher],
            capabilities: vec!["clock".into()],
        }
    }

    #[test]
    fn every_rule_is_held() {
        let judge = |change: fn(&mut types::Manifest)| {
            let mut given = given();
            change(&mut given);
            manifest(&"x".into(), given, vec![Role::Matcher]).map_err(|fault| fault.code)
        };
        assert!(judge(|_| ()).is_ok());
        let broken: [fn(&mut types::Manifest); 12] = [
            |m| m.id = String::new(),
            |m| m.id = "Near".into(),
            |m| m.id = "a\u{0}b".into(),
            |m| m.id = "x".repeat(65),
            |m| m.version = String::new(),
            |m| m.version = "1 0".into(),
            |m| m.matchers.clear(),
            |m| m.matchers[0].name = "$near".into(),
            |m| m.matchers.push(m.matchers[0].clone()),
            |m| m.capabilities = vec!["clock".into(), "clock".into()],
            |m| m.capabilities = vec![" clock".into()],
            |m| m.capabilities = vec![String::new()],
        ];
        for (at, change) in broken.into_iter().enumerate() {
            assert_eq!(judge(change).err(), Some(Code::HandshakeFailed), "rule {at}");
        }
        assert!(manifest(&"x".into(), given(), vec![Role::Reporter]).is_err(), "matchers without the role");
    }
}
