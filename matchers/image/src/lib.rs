//! `$image`: an image in base64 has the expected type and size, by its header.
//!
//! ```yaml
//! content: [{ $image: png }]                                          # an image block, its mimeType agreeing
//! structured: { icon: { $image: { type: [png, gif], width: 64, height: { min: 16, max: 64 } } } }
//! ```
//!
//! Takes an MCP content block with `data`, a `data:` URL, or bare base64. PNG, JPEG and GIF; only the header is read.

mod header;

use base64::{Engine, engine::general_purpose::STANDARD};
use header::Header;
use mcptest_guest::{Failure, Matcher, Mismatch, Request, Value, Verdict, decode, describe, export_matcher};
use serde::Deserialize;

struct Image {
    kinds: Vec<String>,
    width: (u32, u32),
    height: (u32, u32),
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Argument {
    r#type: Value,
    width: Value,
    height: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    #[serde(default)]
    min: u32,
    #[serde(default = "endless")]
    max: u32,
}

fn endless() -> u32 {
    u32::MAX
}

impl Matcher for Image {
    const NAME: &'static str = "image";
    const SUMMARY: &'static str = "an image in base64 has the expected type and size";

    fn prepare(expected: &Value) -> Result<Image, Failure> {
        let argument = match expected {
            Value::Bool(true) => Argument::default(),
            Value::String(_) => Argument { r#type: expected.clone(), ..Argument::default() },
            _ => decode(expected)?,
        };
        let kinds: Vec<String> = match &argument.r#type {
            Value::Null => header::KINDS.map(str::to_owned).to_vec(),
            Value::String(kind) => vec![kind.clone()],
            kinds => decode(kinds)?,
        };
        if let Some(unknown) = kinds.iter().find(|kind| !header::KINDS.contains(&kind.as_str())) {
            return Err(Failure::invalid(format_args!("unknown type `{unknown}`: there are `png`, `jpeg`, `gif`")));
        }
        Ok(Image { kinds, width: bounds(&argument.width)?, height: bounds(&argument.height)? })
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        self.judge(actual).into()
    }
}

impl Image {
    fn judge(&self, actual: &Value) -> Result<(), Mismatch> {
        let (data, declared) = source(actual)?;
        let bytes =
            STANDARD.decode(data.trim()).map_err(|error| Mismatch::new(format_args!("expected base64: {error}")))?;
        let Header { kind, width, height } = header::read(&bytes).map_err(Mismatch::new)?;
        if !self.kinds.iter().any(|wanted| wanted == kind) {
            let message = format_args!("expected {}, got {kind}", self.kinds.join(" or "));
            return Err(Mismatch::new(message).expected(self.kinds.clone()).actual(kind));
        }
        if let Some(declared) = declared.filter(|declared| *declared != format!("image/{kind}")) {
            return Err(Mismatch::new(format_args!("the image is declared as `{declared}`, and is {kind}")));
        }
        within("width", width, self.width)?;
        within("height", height, self.height)
    }
}

/// The base64 text, and the media type that stands beside it.
fn source(actual: &Value) -> Result<(&str, Option<&str>), Mismatch> {
    let text = match (actual, actual.get("data")) {
        (Value::String(text), _) => text,
        (_, Some(Value::String(data))) => return Ok((data, actual["mimeType"].as_str())),
        _ => return Err(Mismatch::new(format_args!("expected an image as text or block, got {}", describe(actual)))),
    };
    match text.strip_prefix("data:").map(|url| url.split_once(";base64,")) {
        Some(Some((media, data))) => Ok((data, Some(media))),
        Some(None) => Err(Mismatch::new("expected a data URL in base64")),
        None => Ok((text, None)),
    }
}

fn bounds(written: &Value) -> Result<(u32, u32), Failure> {
    match written {
        Value::Null => Ok((0, u32::MAX)),
        Value::Number(_) => decode(written).map(|exact| (exact, exact)),
        range => decode(range).map(|Range { min, max }| (min, max)),
    }
}

fn within(what: &str, found: u32, (min, max): (u32, u32)) -> Result<(), Mismatch> {
    match found {
        found if found < min => Err(Mismatch::new(format_args!("the {what} is {found}, expected at least {min}"))),
        found if found > max => Err(Mismatch::new(format_args!("the {what} is {found}, expected at most {max}"))),
        _ => Ok(()),
    }
}

export_matcher!(Image);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run::<super::Image>("cases.json");
    }
}
