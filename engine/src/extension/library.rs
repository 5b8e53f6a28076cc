//! The matchers that one suite file can call: the run's, and those it imports itself.

use super::{Argument, Extension, Live, Request, Verdict};
use crate::matcher::{self, Broken, Foreign, Objection, Question};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Matchers by name.
#[derive(Debug, Clone, Default)]
pub struct Library {
    matchers: BTreeMap<String, Arc<Offered>>,
    incomplete: bool,
}

/// Two extensions that offer a matcher of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// The name, with its `$`.
    pub name: String,
    /// The one that had it first.
    pub first: Arc<str>,
    /// The one that wanted it too.
    pub second: Arc<str>,
}

impl Library {
    /// Adds the matchers of an extension; the clashes are left out.
    pub fn add(&mut self, live: &Arc<Live>) -> Vec<Clash> {
        let mut clashes = Vec::new();
        for info in &live.extension.manifest().matchers {
            let key = format!("${}", info.name);
            match self.matchers.get(&key) {
                Some(there) if Arc::ptr_eq(&there.extension, &live.extension) => {}
                Some(there) => {
                    clashes.push(Clash { name: key, first: there.id.clone(), second: live.id.clone() });
                }
                None => {
                    let offered = Offered {
                        id: live.id.clone(),
                        name: info.name.clone(),
                        extension: live.extension.clone(),
                        checked: Mutex::default(),
                    };
                    self.matchers.insert(key, Arc::new(offered));
                }
            }
        }
        clashes
    }

    /// A library of which nothing is known yet.
    pub fn unknown() -> Library {
        Library { incomplete: true, ..Library::default() }
    }

    /// Notes that something that belongs here could not be loaded.
    pub fn miss(&mut self) {
        self.incomplete = true;
    }
}

impl matcher::Library for Library {
    fn find(&self, name: &str) -> Option<Arc<dyn Foreign>> {
        if self.matchers.is_empty() {
            return None;
        }
        self.matchers.get(&format!("${name}")).map(|offered| offered.clone() as Arc<dyn Foreign>)
    }

    fn names(&self) -> Vec<&str> {
        self.matchers.keys().map(String::as_str).collect()
    }

    fn is_incomplete(&self) -> bool {
        self.incomplete
    }
}

/// One matcher of an extension.
#[derive(Debug)]
struct Offered {
    id: Arc<str>,
    name: String,
    extension: Arc<dyn Extension>,
    /// What was said of arguments: many steps share one.
    checked: Mutex<HashMap<String, Option<String>>>,
}

impl Foreign for Offered {
    fn refuses(&self, argument: &str) -> Result<Option<String>, Broken> {
        let checked = || self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = checked().get(argument) {
            return Ok(known.clone());
        }
        let refusal = match self.extension.check(&self.name, argument)? {
            Argument::Valid => None,
            Argument::Invalid(why) => Some(why),
        };
        checked().insert(argument.to_owned(), refusal.clone());
        Ok(refusal)
    }

    fn judge(&self, question: &Question<'_>) -> Result<Option<Objection>, Broken> {
        let Question { expected, actual, path, step } = *question;
        let request = Request { matcher: &self.name, expected, actual, path, step };
        Ok(match self.extension.evaluate(&request)? {
            Verdict::Pass => None,
            Verdict::Fail(difference) => Some(Objection {
                message: difference.message,
                path: difference.path,
                expected: difference.expected,
                actual: difference.actual,
            }),
        })
    }
}
