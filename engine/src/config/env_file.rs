//! Env files: `NAME=value` lines, `#` comments, an optional `export`, quotes around values.

/// The variables of an env file; the error names the line.
pub fn parse(text: &str) -> Result<Vec<(String, String)>, (usize, String)> {
    let mut variables = Vec::new();
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
        variables.push((name.to_owned(), unquote(value.trim()).to_owned()));
    }
    Ok(variables)
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
        let text = "# note\nA=1\nexport B = \"two words\"\nC='x#y' \nD=z # why\n\n";
        let pairs = [("A", "1"), ("B", "two words"), ("C", "x#y"), ("D", "z")];
        let expected: Vec<_> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(parse(text), Ok(expected));
    }

    #[test]
    fn a_bad_line_is_named() {
        assert_eq!(parse("A=1\noops\n"), Err((2, "`oops` is not `NAME=value`".into())));
    }
}
