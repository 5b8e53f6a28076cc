//! Guests that `cargo xtask guests` built, and extensions made of them.

use mcptest_engine::extension::registry::{Options, Registry};
use mcptest_engine::extension::{Declared, Fault, Grant, Live, Request, Role, Verdict};
use mcptest_engine::suite::environment::Environment;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    let path = std::env::current_exe().expect("the test binary has a path");
    path.ancestors().nth(3).expect("target/debug/deps/TEST").to_owned()
}

/// The file of a guest.
pub(crate) fn guest(name: &str) -> PathBuf {
    let path = target().join("guests/wasm32-wasip2/release").join(name).with_extension("wasm");
    assert!(path.exists(), "`{}` is not built: run `cargo xtask guests` first", path.display());
    path
}

/// Compiled guests are shared by all tests: compiling one takes longer than most of them.
pub(crate) fn cache() -> PathBuf {
    target().join("guests/cache")
}

/// A registry with variables of its own.
pub(crate) fn registry(declared: Vec<Declared>, variables: &[(&str, &str)]) -> Registry {
    let mut all = vec![("MCPTEST_CACHE_DIR".to_owned(), cache().to_string_lossy().into_owned())];
    all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let environment = Environment::default().or(all);
    Registry::new(Options { declared, allow: Vec::new(), cache: true, environment })
}

/// A guest as it is, with nothing granted.
pub(crate) fn declared(name: &str) -> Declared {
    Declared::bare(guest(name), format!("{name}.wasm"))
}

/// Loads one extension; the error is what the user would read.
pub(crate) fn load(declared: Declared, variables: &[(&str, &str)]) -> Result<Arc<Live>, String> {
    let (id, path) = (declared.id.clone(), declared.path.clone());
    let mut registry = registry(vec![declared], variables);
    let reference = id.unwrap_or_else(|| path.to_string_lossy().into_owned());
    let live = registry.named(&reference, Path::new("/"), None, Role::Matcher);
    live.ok_or_else(|| registry.problems.render(false))
}

pub(crate) fn grants(texts: &[&str], base: &Path) -> Vec<Grant> {
    texts.iter().map(|text| Grant::parse(text, base).expect("a grant")).collect()
}

/// Asks a guest to do something; the message of its mismatch is what came of it.
pub(crate) fn ask(live: &Live, what: &Value) -> Result<String, Fault> {
    let matcher = &live.extension.manifest().matchers[0].name;
    let request =
        Request { matcher, expected: &what.to_string(), actual: "\"actual\"", path: "$.text", step: "a.yml#tools/a/1" };
    Ok(match live.extension.evaluate(&request)? {
        Verdict::Pass => "passed".to_owned(),
        Verdict::Fail(difference) => difference.message,
    })
}
