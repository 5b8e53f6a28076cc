//! The matchers of one extension, called by name with JSON text: what the exported functions do, without the bindings.
//!
//! Arguments are prepared once per distinct text and kept. Compiling a pattern costs hundreds of times what using it
//! does, and a suite says the same thing at every step.

use crate::failure::Failure;
use crate::matcher::{Matcher, Request};
use crate::verdict::Verdict;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many prepared arguments are kept for one matcher. Suites hold dozens; arguments made of captured values could be
/// without end, and an instance has a memory limit. When it is reached, all are dropped: the next ones are soon back.
const KEPT: usize = 512;

/// The matchers of one extension.
pub struct Matchers(Vec<Box<dyn Serve>>);

/// One call of a matcher, as it crosses the boundary.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The matcher's name.
    pub matcher: &'a str,
    /// Its argument, as JSON text.
    pub expected: &'a str,
    /// The value to judge, as JSON text.
    pub actual: &'a str,
    /// Where the value stands.
    pub path: &'a str,
    /// The step being judged.
    pub step: &'a str,
}

/// What an extension says about one matcher.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Info {
    /// See [`Matcher::NAME`].
    pub name: &'static str,
    /// See [`Matcher::SUMMARY`].
    pub summary: &'static str,
    /// See [`Matcher::ARGUMENT_SCHEMA`].
    pub argument_schema: Option<&'static str>,
    /// See [`Matcher::CAPABILITIES`].
    pub capabilities: &'static [&'static str],
}

impl Matchers {
    /// An extension with one matcher.
    pub fn of<T: Matcher>() -> Matchers {
        Matchers(Vec::new()).and::<T>()
    }

    /// The same extension with one matcher more.
    pub fn and<T: Matcher>(mut self) -> Matchers {
        self.0.push(Box::new(Prepared::<T>(RefCell::default())));
        self
    }

    /// What it offers.
    pub fn infos(&self) -> impl Iterator<Item = Info> {
        self.0.iter().map(|matcher| matcher.info())
    }

    /// The capabilities that its matchers need, each once.
    pub fn capabilities(&self) -> Vec<&'static str> {
        let mut all: Vec<_> = self.infos().flat_map(|info| info.capabilities.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a matcher can work with this argument.
    pub fn check(&self, matcher: &str, expected: &str) -> Result<(), Failure> {
        self.named(matcher)?.check(expected)
    }

    /// Judges one value.
    pub fn evaluate(&self, call: &Call<'_>) -> Result<Verdict, Failure> {
        self.named(call.matcher)?.evaluate(call)
    }

    fn named(&self, name: &str) -> Result<&dyn Serve, Failure> {
        let found = self.0.iter().find(|matcher| matcher.info().name == name);
        found.map(Box::as_ref).ok_or_else(|| Failure::UnknownMatcher(name.to_owned()))
    }
}

trait Serve {
    fn info(&self) -> Info;
    fn check(&self, expected: &str) -> Result<(), Failure>;
    fn evaluate(&self, call: &Call<'_>) -> Result<Verdict, Failure>;
}

/// A matcher with the arguments that it has prepared, by their text.
struct Prepared<T>(RefCell<BTreeMap<String, Rc<T>>>);

impl<T: Matcher> Prepared<T> {
    fn get(&self, expected: &str) -> Result<Rc<T>, Failure> {
        if let Some(kept) = self.0.borrow().get(expected) {
            return Ok(Rc::clone(kept));
        }
        let made = Rc::new(T::prepare(&parse("expected", expected)?)?);
        let mut all = self.0.borrow_mut();
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert(expected.to_owned(), Rc::clone(&made));
        Ok(made)
    }
}

impl<T: Matcher> Serve for Prepared<T> {
    fn info(&self) -> Info {
        Info { name: T::NAME, summary: T::SUMMARY, argument_schema: T::ARGUMENT_SCHEMA, capabilities: T::CAPABILITIES }
    }

    fn check(&self, expected: &str) -> Result<(), Failure> {
        self.get(expected).map(drop)
    }

    fn evaluate(&self, call: &Call<'_>) -> Result<Verdict, Failure> {
        let prepared = self.get(call.expected)?;
        let actual = parse("actual", call.actual)?;
        Ok(prepared.evaluate(&actual, &Request { path: call.path, step: call.step }))
    }
}

fn parse(what: &str, text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::internal(format_args!("`{what}` is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::decode;
    use std::cell::Cell;

    thread_local!(static PREPARED: Cell<usize> = const { Cell::new(0) });

    struct Above(f64);

    impl Matcher for Above {
        const NAME: &'static str = "above";
        const CAPABILITIES: &'static [&'static str] = &["clock", "clock"];

        fn prepare(expected: &Value) -> Result<Above, Failure> {
            PREPARED.set(PREPARED.get() + 1);
            decode(expected).map(Above)
        }

        fn evaluate(&self, actual: &Value, request: &Request<'_>) -> Verdict {
            let above = actual.as_f64().is_some_and(|number| number > self.0);
            if above { Verdict::pass() } else { Verdict::fail("too small").path(request.path) }
        }
    }

    fn call<'a>(expected: &'a str, actual: &'a str) -> Call<'a> {
        Call { matcher: "above", expected, actual, path: "$.n", step: "a" }
    }

    #[test]
    fn an_argument_is_prepared_once_however_often_it_is_used() {
        let matchers = Matchers::of::<Above>();
        assert_eq!(matchers.check("above", "3"), Ok(()));
        for _ in 0..5 {
            assert_eq!(matchers.evaluate(&call("3", "4")), Ok(Verdict::Pass));
        }
        assert_eq!(matchers.evaluate(&call("3", "2")), Ok(Verdict::fail("too small").path("$.n")));
        assert_eq!(PREPARED.get(), 1);
    }

    #[test]
    fn arguments_without_end_do_not_fill_the_memory() {
        let matchers = Prepared::<Above>(RefCell::default());
        for number in 0..2 * KEPT {
            assert!(matchers.check(&number.to_string()).is_ok());
        }
        assert!(matchers.0.borrow().len() <= KEPT);
    }

    #[test]
    fn what_cannot_be_answered_is_a_failure_of_its_kind() {
        let matchers = Matchers::of::<Above>();
        assert_eq!(matchers.check("below", "3"), Err(Failure::UnknownMatcher("below".into())));
        assert!(matches!(matchers.check("above", "\"3\""), Err(Failure::InvalidArgument(_))));
        assert!(matches!(matchers.check("above", "{"), Err(Failure::Internal(_))));
        assert!(matches!(matchers.evaluate(&call("3", "nothing")), Err(Failure::Internal(_))));
        assert_eq!(matchers.capabilities(), ["clock"]);
    }
}
