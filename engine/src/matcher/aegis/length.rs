//! Patterns over sizes. Texts are counted in UTF-16 units, as JavaScript counts them.

use super::number::whole;
use super::{Malformed, Named, malformed, names};
use crate::matcher::leaf::{Rule, Verdict};
use crate::matcher::tree::Tree;
use crate::source::Json;

/// A size within bounds, both inclusive.
#[derive(Debug)]
struct Size {
    of: Of,
    least: usize,
    most: usize,
}

/// Whose size.
#[derive(Clone, Copy, Debug)]
enum Of {
    Text,
    List,
    TextOrList,
    ListOrObject,
}

pub(super) fn compile(it: &Named<'_>) -> Result<Option<Tree>, Malformed> {
    let of = match it.name {
        "length" => Of::TextOrList,
        "arrayLength" => Of::List,
        "count" => Of::ListOrObject,
        name if name.starts_with("string") => Of::Text,
        _ => return Ok(None),
    };
    let (least, most) = match it.name {
        "stringEmpty" => (0, 0),
        "stringNotEmpty" => (1, usize::MAX),
        "stringLengthGreaterThan" => (at_least(number(it)?.saturating_add(1)), usize::MAX),
        "stringLengthGreaterThanOrEqual" => (at_least(number(it)?), usize::MAX),
        "stringLengthLessThan" => (0, at_most(it, number(it)?.saturating_sub(1))?),
        "stringLengthLessThanOrEqual" => (0, at_most(it, number(it)?)?),
        "stringLengthBetween" => {
            let text = it.argument.plain();
            let mut numbers = text.split(':').map(|part| whole(part).map(|(number, _)| number));
            match (numbers.next().flatten(), numbers.next().flatten()) {
                (Some(least), Some(most)) if least <= most => (at_least(least), at_most(it, most)?),
                (Some(_), Some(_)) => {
                    return malformed("the first number is greater than the second", names::example(it.name));
                }
                _ => return malformed(format!("`{}` takes two whole numbers", it.name), names::example(it.name)),
            }
        }
        _ => {
            let exactly = at_most(it, number(it)?)?;
            (exactly, exactly)
        }
    };
    Ok(Some(it.leaf(Size { of, least, most })))
}

/// The whole number of an argument.
fn number(it: &Named<'_>) -> Result<i64, Malformed> {
    let text = it.argument.plain();
    match whole(&text) {
        Some((number, _)) => Ok(number),
        None => malformed(format!("`{}` takes a whole number, and this is `{text}`", it.name), names::example(it.name)),
    }
}

/// Every size is more than a negative number.
fn at_least(size: i64) -> usize {
    usize::try_from(size.max(0)).unwrap_or(usize::MAX)
}

fn at_most(it: &Named<'_>, size: i64) -> Result<usize, Malformed> {
    match usize::try_from(size) {
        Ok(size) => Ok(size),
        Err(_) => malformed("nothing is shorter than 0", names::example(it.name)),
    }
}

impl Size {
    fn of(&self, actual: &Json) -> Result<usize, &'static str> {
        match (self.of, actual) {
            (Of::Text | Of::TextOrList, Json::String(text)) => Ok(text.encode_utf16().count()),
            (Of::List | Of::TextOrList | Of::ListOrObject, Json::Array(items)) => Ok(items.len()),
            (Of::ListOrObject, Json::Object(members)) => Ok(members.len()),
            (Of::Text, _) => Err("text"),
            (Of::List, _) => Err("a list"),
            (Of::TextOrList, _) => Err("text or a list"),
            (Of::ListOrObject, _) => Err("a list or an object"),
        }
    }
}

impl Rule for Size {
    fn judge(&self, actual: &Json) -> Verdict {
        match self.of(actual) {
            Ok(size) => (self.least <= size && size <= self.most).into(),
            Err(needs) => Verdict::Needs(needs),
        }
    }

    fn reason(&self, actual: &Json) -> String {
        let unit = match actual {
            Json::String(_) => "character",
            Json::Array(_) => "element",
            _ => "key",
        };
        let size = self.of(actual).unwrap_or(0);
        let expected = match (self.least, self.most) {
            (least, most) if least == most => format!("{least}"),
            (least, usize::MAX) => format!("at least {least}"),
            (0, most) => format!("at most {most}"),
            (least, most) => format!("{least} to {most}"),
        };
        format!("it has {size} {unit}{}, expected {expected}", if size == 1 { "" } else { "s" })
    }
}
