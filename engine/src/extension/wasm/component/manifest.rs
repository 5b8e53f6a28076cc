//! What a component says about itself, held against the rules.

use super::super::bindings::mcptest::extension::types;
use super::infos;
use crate::extension::capability::Kind;
use crate::extension::fault::{Code, Fault};
use crate::extension::naming::{self, MOST_NAME, quoted};
use crate::extension::{Limits, Manifest, Role};
use crate::source::Json;
use crate::source::visible::is_invisible;
use std::collections::HashSet;
use std::sync::Arc;

/// Matchers of one extension.
const MOST_MATCHERS: usize = 256;
/// Capabilities that one extension asks for: more than anybody would look through.
const MOST_CAPABILITIES: usize = 64;

/// Turns what came over the boundary into a manifest; what breaks a rule is named.
pub(super) fn manifest(name: &Arc<str>, given: types::Manifest, roles: Vec<Role>) -> Result<Manifest, Fault> {
    let bad = |what: String| Fault::new(Code::HandshakeFailed, name, format!("the manifest of `{name}` has {what}"));
    let size = size(&given);
    if size > Limits::RESULT {
        let message = format!("the manifest of `{name}` has {size} bytes, and may have {}", Limits::RESULT);
        return Err(Fault::new(Code::MalformedResponse, name, message));
    }
    let types::Manifest { id, version, matchers, capabilities } = given;
    if !naming::is_id(&id) {
        return Err(
            bad(format!("the id {}", quoted(&id))).hint("an id has lowercase letters, digits and hyphens: `near`")
        );
    }
    if version.is_empty() || version.len() > MOST_NAME || version.chars().any(|c| is_invisible(c) || c.is_whitespace())
    {
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
        if let Some(error) = matcher.argument_schema.as_deref().and_then(|schema| schema.parse::<Json>().err()) {
            return Err(bad(format!("an `argument-schema` of `{}` that is not JSON: {error}", matcher.name)));
        }
        if !names.insert(&matcher.name) {
            return Err(bad(format!("two matchers named `{}`", matcher.name)));
        }
    }
    if capabilities.len() > MOST_CAPABILITIES {
        return Err(bad(format!("{} capabilities; the most is {MOST_CAPABILITIES}", capabilities.len())));
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

/// Bytes of all its texts.
fn size(given: &types::Manifest) -> usize {
    let types::Manifest { id, version, matchers, capabilities } = given;
    let matchers = matchers.iter().map(|types::MatcherInfo { name, summary, argument_schema }| {
        name.len() + summary.len() + argument_schema.as_ref().map_or(0, String::len)
    });
    id.len() + version.len() + matchers.sum::<usize>() + capabilities.iter().map(String::len).sum::<usize>()
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
        let broken: [fn(&mut types::Manifest); 14] = [
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
            |m| m.capabilities = vec!["env:A\u{1b}[2J".into()],
            |m| m.capabilities = (0..100_000).map(|n| format!("env:A{n}")).collect(),
        ];
        for (at, change) in broken.into_iter().enumerate() {
            assert_eq!(judge(change).err(), Some(Code::HandshakeFailed), "rule {at}");
        }
        assert!(manifest(&"x".into(), given(), vec![Role::Reporter]).is_err(), "matchers without the role");
    }

    #[test]
    fn a_manifest_is_no_longer_than_a_verdict() {
        let long = || "a\u{1b}".repeat(Limits::RESULT);
        let changes: [&dyn Fn(&mut types::Manifest); 6] = [
            &|m| m.id = long(),
            &|m| m.version = long(),
            &|m| m.matchers[0].name = long(),
            &|m| m.matchers[0].summary = long(),
            &|m| m.matchers[0].argument_schema = Some(long()),
            &|m| m.capabilities = vec![long()],
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let mut given = given();
            change(&mut given);
            let fault = manifest(&"x".into(), given, vec![Role::Matcher]).expect_err("too long");
            assert_eq!(fault.code, Code::MalformedResponse, "field {at}");
            assert!(fault.message.len() < 200, "{}", fault.message);
        }
    }

    #[test]
    fn what_it_asks_for_is_quoted() {
        let given = types::Manifest { capabilities: vec!["x\u{1b}[2J\u{202e}\ny".into()], ..given() };
        let fault = manifest(&"x".into(), given, vec![Role::Matcher]).expect_err("unknown");
        assert!(fault.message.ends_with(r"the unknown capability `x\u{1b}[2J\u{202e}\ny`"), "{}", fault.message);
    }
}
