//! How a matcher stands in the suite, the same for all of them: its name, its place, and what was written.

use super::mismatch::{Mismatch, Rank};
use super::path::Path;
use crate::source::{Json, Span};
use serde_json::Map;
use std::borrow::Cow;

/// A matcher's name, place and text.
#[derive(Debug)]
pub struct Head {
    name: Cow<'static, str>,
    span: Span,
    written: Written,
}

/// What was written; a mapping of one key is put together only when a report shows it, which is rare.
#[derive(Debug)]
enum Written {
    /// The argument of `{name: argument}`.
    Argument(Json),
    Whole(Json),
}

impl Head {
    /// A matcher that was called as `{name: argument}`.
    pub(super) fn call(name: impl Into<Cow<'static, str>>, span: Span, argument: Json) -> Head {
        Head { name: name.into(), span, written: Written::Argument(argument) }
    }

    /// A matcher that was written in any other way.
    pub(super) fn whole(name: impl Into<Cow<'static, str>>, span: Span, written: Json) -> Head {
        Head { name: name.into(), span, written: Written::Whole(written) }
    }

    /// Its name as a report shows it: `$regex`, `match:contains`.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where it stands.
    pub(super) fn span(&self) -> Span {
        self.span
    }

    /// As it was written: `{"$regex": "^a"}`, `"match:^a"`.
    pub(super) fn written(&self) -> Json {
        match &self.written {
            Written::Argument(argument) => {
                Json::Object(Map::from_iter([(self.name.clone().into_owned(), argument.clone())]))
            }
            Written::Whole(written) => written.clone(),
        }
    }

    /// A mismatch that this matcher found.
    pub(super) fn mismatch(&self, rank: Rank, path: &Path<'_>, message: impl Into<String>) -> Mismatch {
        Mismatch::new(rank, path, self.span, message).by(self.name()).expected(&self.written())
    }

    /// The mismatch where nothing is.
    pub(super) fn missing(&self, path: &Path<'_>) -> Mismatch {
        self.mismatch(Rank::Missing, path, "there is no value")
    }
}
