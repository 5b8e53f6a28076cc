//! YAML (and so JSON) text to a spanned tree.

use super::{Node, Source};
use crate::diagnostic::Diagnostics;
use std::sync::Arc;

/// Parses one document; every problem goes into `diagnostics`, and `None` means that there is no usable tree.
pub fn parse(source: &Arc<Source>, diagnostics: &mut Diagnostics) -> Option<Node> {
    let _ = (source, diagnostics);
    None
}
