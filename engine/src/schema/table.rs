//! What a table of keys says.

/// The keys that one kind of mapping takes.
#[derive(Debug)]
pub struct Table {
    /// Its name in the JSON Schema: `test`.
    pub name: &'static str,
    /// What a message calls it: `a test`.
    pub title: &'static str,
    /// One line about it, for editors.
    pub doc: &'static str,
    /// What to write where one is wanted and something else stands.
    pub example: &'static str,
    /// Its keys, in groups.
    pub groups: &'static [&'static [Key]],
    /// Of each of these lists exactly one key must be written.
    pub one_of: &'static [&'static [&'static str]],
    /// Keys that must be written.
    pub required: &'static [&'static str],
    /// Keys that are known, and that this version does not take yet.
    pub later: &'static [Later],
    /// Keys of other tables that people write here, and where they belong instead.
    pub elsewhere: &'static [(&'static [&'static [Key]], &'static str)],
}

/// A key that this version does not take yet.
#[derive(Debug)]
pub struct Later {
    /// Its name.
    pub name: &'static str,
    /// What it waits for: `extensions come in a later version`.
    pub waits_for: &'static str,
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub takes: Takes,
    /// A value, as YAML.
    pub example: &'static str,
    /// One line about it, for editors.
    pub doc: &'static str,
}

/// What a value may be.
#[derive(Debug)]
pub enum Takes {
    /// Any value.
    Anything,
    /// Text.
    Text,
    /// Text, a number or a boolean.
    Scalar,
    /// `true` or `false`.
    Boolean,
    /// `true` alone.
    True,
    /// A whole number, at least this.
    Count(u32),
    /// Milliseconds, or text with a unit.
    Duration,
    /// Bytes, or text with a unit.
    Size,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A JSONPath.
    Path,
    /// A regular expression.
    Regex,
    /// A list of these.
    List(&'static Takes),
    /// A list of these with at least one element.
    Filled(&'static Takes),
    /// A mapping of anything, or a variable that stands for one.
    Mapping,
    /// A mapping from any key to these.
    Map(&'static Takes),
    /// A mapping with the keys of a table.
    Table(&'static Table),
    /// One of several forms.
    OneOf(&'static [Takes]),
}

impl Key {
    /// A key.
    pub const fn new(name: &'static str, takes: Takes, example: &'static str, doc: &'static str) -> Key {
        Key { name, takes, example, doc }
    }
}

impl Table {
    /// All its keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

impl Takes {
    /// What a message says that is expected: `text`, `a duration`, `a list of tests`.
    pub fn describe(&self) -> String {
        match self {
            Takes::Anything => "a value".into(),
            Takes::Text => "text".into(),
            Takes::Scalar => "text, a number or a boolean".into(),
            Takes::Boolean => "`true` or `false`".into(),
            Takes::True => "`true`".into(),
            Takes::Count(least) => format!("a whole number from {least} on"),
            Takes::Duration => "a duration".into(),
            Takes::Size => "a number of bytes".into(),
            Takes::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                if words.len() > 2 { format!("one of {}", words.join(", ")) } else { words.join(" or ") }
            }
            Takes::Path => "a JSONPath".into(),
            Takes::Regex => "a regular expression".into(),
            Takes::List(inner) | Takes::Filled(inner) => match inner {
                Takes::Table(table) => format!("a list of {}s", table.name),
                _ => "a list".into(),
            },
            Takes::Map(_) | Takes::Mapping => "a mapping".into(),
            Takes::Table(table) => format!("a mapping ({})", table.title),
            Takes::OneOf(forms) => forms.iter().map(Takes::describe).collect::<Vec<_>>().join(" or "),
        }
    }
}
