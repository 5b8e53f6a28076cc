//! The environment as the engine sees it: the process's own, under what `--env-file` adds.

use std::collections::BTreeMap;

/// The one reader of environment variables.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    added: BTreeMap<String, String>,
}

impl Environment {
    /// The value of a variable, when it is set and is text.
    pub fn get(&self, name: &str) -> Option<String> {
        self.added.get(name).cloned().or_else(|| std::env::var(name).ok())
    }

    /// Whether this runs under continuous integration (`CI=true`).
    pub fn is_ci(&self) -> bool {
        self.get("CI").is_some_and(|value| value == "true" || value == "1")
    }

    /// What `--env-file` added: servers inherit it too.
    pub fn added(&self) -> impl Iterator<Item = (&str, &str)> {
        self.added.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Adds the variables of an env file: `NAME=value` lines, `#` comments, an optional `export`, quotes around values.
    /// The error names the line.
    pub fn add_file(&mut self, text: &str) -> Result<(), (usize, String)> {
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = line.strip_prefix("export ").unwrap_or(line);
            let Some((name, value)) = line.split_once('=') else {
                return Err((index + 1, format!("`{line}` is not `NAME=value`")));
            };
            let name = name.trim();
            if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Err((index + 1, format!("`{name}` is not a variable's name")));
            }
            self.added.insert(name.to_owned(), unquote(value.trim()).to_owned());
        }
        Ok(())
    }
}

fn unquote(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn env_files_give_names_and_values() {
        let mut environment = Environment::default();
        environment.add_file("# note\nA=1\nexport B = \"two words\"\nC='x#y' \nD=z # why\n\n").unwrap();
        let added: Vec<_> = environment.added().collect();
        assert_eq!(added, [("A", "1"), ("B", "two words"), ("C", "x#y"), ("D", "z")]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let mut environment = Environment::default();
        assert_eq!(environment.add_file("A=1\noops\n"), Err((2, "`oops` is not `NAME=value`".into())));
    }
}
