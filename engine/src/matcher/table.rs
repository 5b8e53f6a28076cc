//! Every `$` matcher, by name.

use super::argument::Call;
use super::tree::Tree;
use super::{array, logic, number, regex, size, text};

/// One matcher of the language.
pub(super) struct Entry {
    /// With its `$`.
    pub(super) name: &'static str,
    /// A good argument, for the hint after a bad one.
    pub(super) example: &'static str,
    /// Compiles the argument; `None` when it is bad and was reported.
    pub(super) build: fn(Call<'_, '_>) -> Option<Tree>,
}

const fn entry(name: &'static str, example: &'static str, build: fn(Call<'_, '_>) -> Option<Tree>) -> Entry {
    Entry { name, example, build }
}

static TABLE: &[Entry] = &[
    entry("$exactly", "{ name: echo }", logic::exactly),
    entry("$partial", "{ name: echo }", logic::partial),
    entry("$literal", "\"match:is plain text here\"", logic::literal),
    entry("$not", "{ $contains: error }", logic::not),
    entry("$all", "[{ $gt: 0 }, { $lt: 9 }]", logic::all),
    entry("$any", "[1, { $type: string }]", logic::any),
    entry("$one", "[{ $gt: 0 }, { $multipleOf: 2 }]", logic::one),
    entry("$each", "{ $type: string }", array::each),
    entry("$some", "{ $contains: error }", array::some),
    entry("$none", "{ $contains: error }", array::none),
    entry("$contains", "hello", array::contains),
    entry("$startsWith", "Hello", text::starts_with),
    entry("$endsWith", "world", text::ends_with),
    entry("$equalsIgnoreCase", "hello", text::equals_ignore_case),
    entry("$regex", "\"^a+$\"", regex::build),
    entry("$length", "3", size::length),
    entry("$empty", "true", size::empty),
    entry("$type", "string", size::kind),
    entry("$exists", "true", size::exists),
    entry("$absent", "true", size::absent),
    entry("$gt", "0", number::gt),
    entry("$gte", "0", number::gte),
    entry("$lt", "10", number::lt),
    entry("$lte", "10", number::lte),
];

pub(super) fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.name)
}
