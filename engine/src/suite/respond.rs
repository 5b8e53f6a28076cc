//! `respond`: the scripted answers to a server's requests.

use crate::source::{Node, Span};

/// Scripted answers to the server's requests.
#[derive(Debug, Clone, Default)]
pub struct Respond {
    /// By method.
    pub entries: Vec<RespondEntry>,
}

/// The answers for one method.
#[derive(Debug, Clone)]
pub struct RespondEntry {
    /// The full method name: `sampling/createMessage`.
    pub method: String,
    /// Where it is written.
    pub span: Span,
    /// Used in turn; the last one stays.
    pub answers: Vec<Answer>,
}

/// One scripted answer.
#[derive(Debug, Clone)]
pub enum Answer {
    /// `{result: …}`.
    Result(Node),
    /// `{error: …}`.
    Error(Node),
    /// `accept`: the form is filled in with its own defaults, under the fields that are written.
    Accept(Option<Node>),
    /// `{ignore: true}`: the request stays unanswered.
    Ignore,
}

impl Answer {
    /// What is written in it.
    pub fn node(&self) -> Option<&Node> {
        match self {
            Answer::Result(node) | Answer::Error(node) => Some(node),
            Answer::Accept(node) => node.as_ref(),
            Answer::Ignore => None,
        }
    }

    /// The same answer with something else written in it.
    #[must_use]
    pub fn with(&self, change: impl FnOnce(&Node) -> Node) -> Answer {
        match self {
            Answer::Result(node) => Answer::Result(change(node)),
            Answer::Error(node) => Answer::Error(change(node)),
            Answer::Accept(node) => Answer::Accept(node.as_ref().map(change)),
            Answer::Ignore => Answer::Ignore,
        }
    }
}
