//! What will run: every test of every file, with its variables filled in and its matchers compiled.
//!
//! Nothing has been started when the plan is made, and everything that can be wrong with a suite is a diagnostic here.

mod build;
mod capture;
pub mod check;
pub mod era;
mod fill;
mod order;
pub mod scope;
pub mod select;
mod server;

pub use build::{Inputs, make};
pub(crate) use fill::fill_respond;
pub use fill::{Filled, fill_expect, fill_step};

use crate::event::Test;
use crate::source::Json;
use crate::suite::server::Server;
use crate::suite::{Case, Lane, Suite};
use check::Check;
use scope::Scope;
use std::sync::Arc;

/// Everything that will run, in order.
#[derive(Debug)]
pub struct Plan {
    /// The files that have something to report.
    pub files: Vec<FilePlan>,
    /// How many tests there are.
    pub tests: usize,
    /// The seed of the order, when it was shuffled.
    pub seed: Option<u64>,
}

/// One suite file's part of the plan.
#[derive(Debug)]
pub struct FilePlan {
    /// The suite.
    pub suite: Arc<Suite>,
    /// Its names and their values.
    pub scope: Scope,
    /// `before`, then the file's own tests, then `after`, each in the order they run.
    pub cases: Vec<CasePlan>,
}

/// One test of the plan: a case, for one of its rows.
#[derive(Debug)]
pub struct CasePlan {
    /// How events name it.
    pub test: Arc<Test>,
    /// What it is of.
    pub subject: Subject,
    /// The server it runs against.
    pub server: Arc<Server>,
    /// What the client declares to that server: its own, and what `respond` implies.
    pub capabilities: Arc<Json>,
    /// Positions in [`FilePlan::cases`] of the tests whose captures it uses.
    pub needs: Vec<usize>,
    /// Why it will not run.
    pub skip: Option<String>,
    /// Its steps.
    pub steps: Vec<StepPlan>,
}

/// What a [`CasePlan`] is of.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    /// A case of the suite, and the row of `each` it runs for.
    Case {
        /// Before, own or after.
        part: Part,
        /// Position in that part.
        index: usize,
        /// Position in `each`.
        row: Option<usize>,
    },
    /// A lane that this version cannot run, reported as one skipped test.
    Unsupported(Lane),
}

/// A part of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `before`.
    Before,
    /// The file's own tests.
    Own,
    /// `after`.
    After,
}

/// A step of the plan. What uses a capture or `${tmp}` is `None`: it is filled in and compiled when its turn comes.
#[derive(Debug)]
pub struct StepPlan {
    /// What its variables became.
    pub filled: Option<Filled>,
    /// Its expectations, compiled.
    pub checks: Option<Vec<Check>>,
}

impl FilePlan {
    /// The case behind a test of the plan.
    pub fn case(&self, subject: Subject) -> Option<&Case> {
        let Subject::Case { part, index, .. } = subject else { return None };
        self.suite.part(part).get(index)
    }
}

impl Suite {
    /// The cases of one part.
    pub fn part(&self, part: Part) -> &[Case] {
        match part {
            Part::Before => &self.before,
            Part::Own => &self.cases,
            Part::After => &self.after,
        }
    }
}

impl CasePlan {
    /// The part of the suite it belongs to.
    pub fn part(&self) -> Part {
        match self.subject {
            Subject::Case { part, .. } => part,
            Subject::Unsupported(_) => Part::Own,
        }
    }
}
