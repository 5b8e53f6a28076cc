//! The first lines of a report: which extensions take part, what they may do, and what they take the place of.
//!
//! ```text
//! extension near 1.0.0 (near.wasm): $near, $far
//!   may: fs.read:./fixtures
//!   replaces the built-in $contains
//! ```

use super::paint::Paint;
use crate::event::ExtensionUsed;
use crate::reporter::visible::visible;

/// The lines about one extension.
pub(super) fn lines(used: &ExtensionUsed, paint: Paint) -> Vec<String> {
    let list = |items: &[String]| items.iter().map(|item| visible(item).into_owned()).collect::<Vec<_>>().join(", ");
    let offers = if used.matchers.is_empty() { used.roles.join(", ") } else { list(&used.matchers) };
    let (id, file) = (visible(&used.id), visible(&used.file));
    let version = if used.version.is_empty() { String::new() } else { format!(" {}", visible(&used.version)) };
    let mut lines = vec![paint.dim(&format!("extension {id}{version} ({file}): {offers}"))];
    if !used.grants.is_empty() {
        lines.push(format!("  {} {}", paint.warning("may:"), list(&used.grants)));
    }
    if !used.replaces.is_empty() {
        lines.push(format!("  {} the built-in {}", paint.warning("replaces"), list(&used.replaces)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_and_replacements_are_told() {
        let mut used = ExtensionUsed {
            id: "near".into(),
            version: "1.0.0".into(),
            file: "near.wasm".into(),
            roles: vec!["matcher"],
            matchers: vec!["$near".into()],
            replaces: Vec::new(),
            grants: Vec::new(),
        };
        let plain = Paint { color: false };
        assert_eq!(lines(&used, plain), ["extension near 1.0.0 (near.wasm): $near"]);
        used.grants = vec!["fs.read:./a\u{1b}".into(), "clock".into()];
        used.replaces = vec!["$contains".into()];
        assert_eq!(lines(&used, plain)[1..], ["  may: fs.read:./a\\x1b, clock", "  replaces the built-in $contains"]);
    }
}
