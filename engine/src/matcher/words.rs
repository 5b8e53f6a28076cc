//! Text of a suite, with what was written and what was inserted kept apart.

use crate::source::{Json, Kind, Node, Piece};

/// Text in pieces; inserted pieces are literal wherever they stand.
#[derive(Clone, Debug)]
pub(super) struct Words(Vec<Piece>);

impl Words {
    /// The text of a node that is text.
    pub(super) fn of(node: &Node) -> Option<Words> {
        match &node.kind {
            Kind::String(text) => Some(Words(vec![Piece::Written(text.clone())])),
            Kind::Mixed(pieces) => Some(Words(pieces.clone())),
            Kind::Literal(Json::String(text)) => Some(Words(vec![Piece::Inserted(text.clone())])),
            _ => None,
        }
    }

    /// What follows a prefix, when the text begins with it and it was written.
    pub(super) fn after(&self, prefix: &str) -> Option<Words> {
        let (Piece::Written(first), rest) = self.0.split_first()? else { return None };
        let first = first.strip_prefix(prefix)?;
        let mut pieces = vec![Piece::Written(first.to_owned())];
        pieces.extend_from_slice(rest);
        Some(Words(pieces))
    }

    /// The written text at the beginning.
    pub(super) fn head(&self) -> &str {
        match self.0.first() {
            Some(Piece::Written(text)) => text,
            _ => "",
        }
    }

    /// Whether a test holds for any written piece.
    pub(super) fn written(&self, test: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Written(text) if test(text)))
    }

    /// All of it as plain text.
    pub(super) fn plain(&self) -> String {
        self.0.iter().map(Piece::text).collect()
    }

    /// All of it as a pattern in which inserted text stands for itself.
    pub(super) fn pattern(&self) -> String {
        let mut pattern = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Written(text) => pattern.push_str(text),
                Piece::Inserted(text) => text.chars().for_each(|c| {
                    if r"\^$.*+?()[]{}|/-".contains(c) {
                        pattern.push('\\');
                    }
                    pattern.push(c);
                }),
            }
        }
        pattern
    }
}
