//! Fills the variables of a step.

use crate::source::{Node, Span};
use crate::suite::template::{Filler, Found};
use crate::suite::{Action, Expectation, Reference, Respond, RespondEntry, Step};

/// The parts of a step that had variables in them, filled in; `None` stays as it is written.
#[derive(Debug, Default)]
pub struct Filled {
    /// The action.
    pub action: Option<Action>,
    /// `meta`.
    pub meta: Option<Node>,
    /// `respond`.
    pub respond: Option<Respond>,
    /// Whether something is known only later; nothing here is of use then.
    pub later: bool,
}

/// A step's expectations, filled in; `None` stays as it is written.
#[derive(Debug, Default)]
pub struct FilledExpect {
    /// The expectations, when one of them had variables in it.
    pub expect: Option<Vec<Expectation>>,
    /// For each expectation, whether something in it is known only later.
    pub later: Vec<bool>,
}

/// Fills the variables of what a step sends, from `scope`.
pub fn fill_step(step: &Step, scope: &mut dyn FnMut(&str, Span) -> Found) -> Filled {
    let mut scope = |name: &str, span: Span| scope(name, span);
    let mut filler = Filler::new(&mut scope);
    let mut filled = Filled {
        action: fill_action(&step.action, &mut filler),
        meta: step.meta.as_ref().and_then(|meta| filler.fill(meta)),
        respond: fill_respond(&step.respond, &mut filler),
        later: false,
    };
    filled.later = filler.later;
    filled
}

impl Filled {
    /// The action to take.
    pub fn action<'a>(&'a self, step: &'a Step) -> &'a Action {
        self.action.as_ref().unwrap_or(&step.action)
    }

    /// The `meta` to send.
    pub fn meta<'a>(&'a self, step: &'a Step) -> Option<&'a Node> {
        self.meta.as_ref().or(step.meta.as_ref())
    }

    /// The answers to the server's requests.
    pub fn respond<'a>(&'a self, step: &'a Step) -> &'a Respond {
        self.respond.as_ref().unwrap_or(&step.respond)
    }
}

/// Every tree of a step in which a variable may stand.
pub(super) fn trees<'a>(step: &'a Step, each: &mut dyn FnMut(&'a Node)) {
    match &step.action {
        Action::Request(node)
        | Action::Notify(node)
        | Action::Raw(node)
        | Action::Read(node)
        | Action::Subscribe(node)
        | Action::Unsubscribe(node) => each(node),
        Action::Tool { name, args } | Action::Prompt { name, args } | Action::Template { template: name, args } => {
            each(name);
            args.iter().for_each(&mut *each);
        }
        Action::Complete { reference, argument, value, context } => {
            let (Reference::Prompt(node) | Reference::Template(node)) = reference;
            [node, argument, value].into_iter().chain(context).for_each(&mut *each);
        }
        Action::Bytes(_)
        | Action::List(_)
        | Action::LogLevel(_)
        | Action::Wait(_)
        | Action::Close(_)
        | Action::Ping => {}
    }
    step.meta.iter().for_each(&mut *each);
    for answer in step.respond.entries.iter().flat_map(|entry| &entry.answers) {
        answer.node().into_iter().for_each(&mut *each);
    }
    step.expect.iter().for_each(|expectation| each(&expectation.value));
}

fn fill_action(action: &Action, filler: &mut Filler<'_>) -> Option<Action> {
    let named = |name: &Node, args: &Option<Node>, filler: &mut Filler<'_>| {
        let (new_name, new_args) = (filler.fill(name), args.as_ref().and_then(|args| filler.fill(args)));
        (new_name.is_some() || new_args.is_some())
            .then(|| (new_name.unwrap_or_else(|| name.clone()), new_args.or_else(|| args.clone())))
    };
    match action {
        Action::Request(node) => filler.fill(node).map(Action::Request),
        Action::Notify(node) => filler.fill(node).map(Action::Notify),
        Action::Raw(node) => filler.fill(node).map(Action::Raw),
        Action::Read(node) => filler.fill(node).map(Action::Read),
        Action::Subscribe(node) => filler.fill(node).map(Action::Subscribe),
        Action::Unsubscribe(node) => filler.fill(node).map(Action::Unsubscribe),
        Action::Template { template, args } => {
            named(template, args, filler).map(|(template, args)| Action::Template { template, args })
        }
        Action::Tool { name, args } => named(name, args, filler).map(|(name, args)| Action::Tool { name, args }),
        Action::Prompt { name, args } => named(name, args, filler).map(|(name, args)| Action::Prompt { name, args }),
        Action::Complete { reference, argument, value, context } => {
            let fill = |node: &Node, filler: &mut Filler<'_>| filler.fill(node).unwrap_or_else(|| node.clone());
            Some(Action::Complete {
                reference: match reference {
                    Reference::Prompt(node) => Reference::Prompt(fill(node, filler)),
                    Reference::Template(node) => Reference::Template(fill(node, filler)),
                },
                argument: fill(argument, filler),
                value: fill(value, filler),
                context: context.as_ref().map(|node| fill(node, filler)),
            })
        }
        Action::Bytes(_)
        | Action::List(_)
        | Action::LogLevel(_)
        | Action::Wait(_)
        | Action::Close(_)
        | Action::Ping => None,
    }
}

/// Fills the variables of scripted answers; `None` when there are none.
pub(crate) fn fill_respond(respond: &Respond, filler: &mut Filler<'_>) -> Option<Respond> {
    if respond.entries.is_empty() {
        return None;
    }
    let mut changed = false;
    let mut fill = |node: &Node| {
        let filled = filler.fill(node);
        changed |= filled.is_some();
        filled.unwrap_or_else(|| node.clone())
    };
    let entries = respond
        .entries
        .iter()
        .map(|entry| RespondEntry {
            method: entry.method.clone(),
            span: entry.span,
            answers: entry.answers.iter().map(|answer| answer.with(&mut fill)).collect(),
        })
        .collect();
    changed.then_some(Respond { entries })
}

/// Fills the variables of a step's expectations, from `scope`.
pub fn fill_expect(expect: &[Expectation], scope: &mut dyn FnMut(&str, Span) -> Found) -> FilledExpect {
    let mut later = Vec::with_capacity(expect.len());
    let mut values = Vec::with_capacity(expect.len());
    for expectation in expect {
        let mut scope = |name: &str, span: Span| scope(name, span);
        let mut filler = Filler::new(&mut scope);
        values.push(filler.fill(&expectation.value));
        later.push(filler.later);
    }
    let expect = values.iter().any(Option::is_some).then(|| {
        let pairs = values.into_iter().zip(expect);
        pairs
            .map(|(new, old)| match new {
                Some(value) => Expectation { value, ..old.clone() },
                None => old.clone(),
            })
            .collect()
    });
    FilledExpect { expect, later }
}
