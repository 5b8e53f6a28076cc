//! The environment variables that configs and suites read.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A snapshot of environment variables; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// The variables of this process; those that are no text are left out.
    pub fn of_process() -> Environment {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// The same variables and further ones (of an `--env-file`), which do not replace those that are set.
    pub fn or(&self, further: impl IntoIterator<Item = (String, String)>) -> Environment {
        further.into_iter().chain(self.0.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Whether this is continuous integration: `CI=true`.
    pub fn is_ci(&self) -> bool {
        self.get("CI") == Some("true")
    }

    /// The names of all variables, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Environment {
        Environment(Arc::new(pairs.into_iter().collect()))
    }
}
