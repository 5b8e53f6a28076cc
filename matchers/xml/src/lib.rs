//! `$xml`: text is well-formed XML in which a path finds what is expected.
//!
//! ```yaml
//! text: { $xml: true }                                          # well-formed
//! text: { $xml: "/catalog/book[@id='7']/title" }                # the path finds something
//! text: { $xml: { path: //book, count: 2 } }
//! text: { $xml: { path: /catalog/book[1]/@lang, text: en } }    # the first one found has this text
//! ```
//!
//! A path is made of `/name` (a child), `//name` (at any depth), `*`, `[2]`, `[@name]`, `[@name='value']`, and may end
//! in `/@name` (an attribute). Names compare without their namespace prefix. DTDs are refused: they can be made to
//! explode.

mod path;

use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, export_matcher, text};
use path::Path;
use roxmltree::Document;
use serde::Deserialize;

#[derive(Default)]
struct Xml {
    path: Option<(String, Path)>,
    text: Option<String>,
    count: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    path: String,
    text: Option<String>,
    count: Option<usize>,
}

impl Matcher for Xml {
    const NAME: &'static str = "xml";
    const SUMMARY: &'static str = "text is well-formed XML in which a path finds what is expected";

    fn prepare(expected: &Value) -> Result<Xml, Failure> {
        let Argument { path, text, count } = match expected {
            Value::Bool(true) => return Ok(Xml::default()),
            Value::String(path) => Argument { path: path.clone(), text: None, count: None },
            _ => decode(expected)?,
        };
        let parsed = Path::parse(&path).map_err(Failure::invalid)?;
        Ok(Xml { path: Some((path, parsed)), text, count })
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Xml {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let document = Document::parse(text(actual)?)
            .map_err(|error| Mismatch::new(format_args!("expected well-formed XML: {error}")))?;
        let Some((written, path)) = &self.path else {
            return Ok(());
        };
        let found = path.find(&document);
        match self.count {
            Some(count) if count != found.len() => {
                return Err(Mismatch::new(format_args!("`{written}` finds {}, expected {count}", found.len())));
            }
            None if found.is_empty() => return Err(Mismatch::new(format_args!("`{written}` finds nothing"))),
            _ => {}
        }
        match (&self.text, found.first()) {
            (Some(wanted), Some(text)) if wanted != text.trim() => {
                let message = format_args!("`{written}` has another text");
                Err(Mismatch::new(message).expected(wanted.as_str()).actual(text.trim()))
            }
            _ => Ok(()),
        }
    }
}

export_matcher!(Xml);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Xml>("cases.json");
    }
}
