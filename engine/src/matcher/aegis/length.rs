//! Patterns over sizes. Texts are counted in UTF-16 units, as JavaScript counts them.

use super::number::leading;
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
        "stringLengthGreaterThan" => (number(it)? + 1, usize::MAX),
        "stringLengthGreaterThanOrEqual" => (number(it)?, usize::MAX),
        "stringLengthLessThan" => match number(it)? {
            0 => return malformed("no text is shorter than 0", names::example(it.name)),
            most => (0, most - 1),
        },
        "stringLengthLessThanOrEqual" => (0, number(it)?),
        "stringLengthBetween" => {
            let text = it.argument.plain();
            let pair = text.split_once(':').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
            match pair {
                Some((least, most)) if least <= most => (least, most),
                Some(_) => return malformed("the first number is greater than the second", names::example(it.name)),
                None => return malformed(format!("`{}` takes two whole numbers", it.name), names::example(it.name)),
            }
        }
        _ => {
            let exactly = number(it)?;
            (exactly, exactly)
        }
    };
    Ok(Some(it.leaf(Size { of, least, most })))
}

/// As JavaScript's `parseInt` has it: what follows the digits is not read.
fn number(it: &Named<'_>) -> Result<usize, Malformed> {
    let text = it.argument.plain();
    let size =
        leading(&text).and_then(|(number, _)| number.as_f64()).filter(|size| size.fract() == 0.0 && *size >= 0.0);
    match size {
        Some(size) if size <= f64::from(u32::MAX) => Ok(size as usize),
        _ => malformed(format!("`{}` takes a whole number, and this is `{text}`", it.name), names::example(it.name)),
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
