//! Every `$` matcher, by name.

use super::argument::Call;
use super::tree::Tree;
use super::{array, compare, date, inside, logic, number, regex, schema, size, text, unordered};

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
    entry("$unordered", "[1, 2, { $gt: 2 }]", unordered::build),
    entry("$contains", "hello", array::contains),
    entry("$containsIgnoreCase", "hello", text::contains_ignore_case),
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
    entry("$between", "[1, 5]", number::between),
    entry("$approx", "[3.14, 0.01]", number::approx),
    entry("$multipleOf", "5", number::multiple_of),
    entry("$decimalPlaces", "2", number::decimal_places),
    entry("$dateAfter", "\"2026-01-31T12:00:00Z\"", date::after),
    entry("$dateBefore", "now", date::before),
    entry("$dateBetween", "[now-1d, now]", date::between),
    entry("$dateWithin", "5s", date::within),
    entry("$dateFormat", "iso", date::format),
    entry("$jsonSchema", "{ type: object }", schema::build),
    entry("$json", "{ ok: true }", inside::json),
    entry("$path", "{ \"$.items[*].id\": { $length: 2 } }", inside::path),
    entry("$compare", "[\"$.start\", \"<\", \"$.end\"]", compare::build),
    entry("$distance", "{ to: hello, max: 2 }", text::distance),
];

pub(super) fn find(name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.name)
}
