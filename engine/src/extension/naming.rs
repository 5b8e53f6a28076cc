//! Names that extensions give themselves and their matchers.

/// Characters of an id or a name.
pub(super) const MOST_NAME: usize = 64;

/// Whether reports and grants can name an extension by this.
#[cfg_attr(not(feature = "wasm"), expect(dead_code, reason = "only components name themselves"))]
pub(super) fn is_id(id: &str) -> bool {
    (1..=MOST_NAME).contains(&id.len())
        && id.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Whether a suite can call a matcher by this.
pub(super) fn is_matcher(name: &str) -> bool {
    (1..=MOST_NAME).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Whether a suite can call a plugin's matcher by this: names of files and functions have underscores.
pub fn is_plugin_matcher(name: &str) -> bool {
    is_matcher(&name.replace('_', "-"))
}

/// A name as messages show it, whatever it holds.
pub(crate) fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(MOST_NAME).collect();
    format!("`{}`", cut.escape_debug())
}
