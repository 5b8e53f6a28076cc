//! A structural diff as data, ready to be drawn: only what changed, with a little of what is around it.
//!
//! ```json
//! {"path": "$.result", "lines": [
//!   {"op": " ", "path": "$.result.content[0]", "depth": 1, "text": "[0]:"},
//!   {"op": "-", "path": "$.result.content[0].text", "depth": 2, "text": "text: \"Hello, world!\"", "marks": [[14, 15]]},
//!   {"op": "+", "path": "$.result.content[0].text", "depth": 2, "text": "text: \"Hello, World!\"", "marks": [[14, 15]]}]}
//! ```

use serde::Serialize;

/// What is expected against what came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The JSON path of the value that was compared.
    pub path: String,
    /// From top to bottom.
    pub lines: Vec<Line>,
    /// How many further lines were cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

/// One line of a [`Diff`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// Whether it is expected, came, or both.
    pub op: Op,
    /// The JSON path of what stands in it.
    pub path: String,
    /// How deep it lies below the compared value.
    pub depth: usize,
    /// A key and a value; what is invisible is escaped, long texts are cut around the change.
    pub text: String,
    /// The characters of `text`, from and to, in which the change lies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<[usize; 2]>,
}

/// Which side a line is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Op {
    /// On both sides.
    #[serde(rename = " ")]
    Same,
    /// Expected, and did not come.
    #[serde(rename = "-")]
    Expected,
    /// Came, and was not expected.
    #[serde(rename = "+")]
    Actual,
}

impl Op {
    /// The sign before the line.
    pub fn sign(self) -> char {
        match self {
            Op::Same => ' ',
            Op::Expected => '-',
            Op::Actual => '+',
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
