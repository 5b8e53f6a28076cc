//! Tickets such as `SHOP-12`, in three roles of one component.
//!
//! ```yaml
//! imports: { matchers: [./tickets.wasm], transforms: [./tickets.wasm] }
//! tools:
//!   - it: "SHOP-12: says which ticket it is about"      # the transform tags it `SHOP-12`: `mcptest run --tag SHOP-12`
//!     tool: echo
//!     args: { message: see SHOP-12 }
//!     expect: { text: { $ticket: SHOP } }                 # the matcher: some ticket of the project is named
//! ```
//!
//! `--reporter tickets.wasm=tickets.md` lists what became of every ticket.

use mcptest_guest::{
    Event, Failure, Matcher, Output, Reporter, Request, Transform, Value, Verdict, decode, export_extension,
};
use std::collections::BTreeMap;
use std::fmt::Write;

/// `$ticket: PROJECT`: the text names a ticket of the project.
struct Ticket(String);

impl Matcher for Ticket {
    const NAME: &'static str = "ticket";
    const SUMMARY: &'static str = "text names a ticket of a project";

    fn prepare(expected: &Value) -> Result<Ticket, Failure> {
        let project: String = decode(expected)?;
        match !project.is_empty() && project.chars().all(|c| c.is_ascii_uppercase()) {
            true => Ok(Ticket(project)),
            false => Err(Failure::invalid("a project is a word in capitals: `SHOP`")),
        }
    }

    fn evaluate(&self, actual: &Value, _: &Request<'_>) -> Verdict {
        let text = actual.as_str().unwrap_or_default();
        match tickets(text).any(|ticket| ticket.split_once('-').is_some_and(|(project, _)| project == self.0)) {
            true => Verdict::pass(),
            false => Verdict::fail(format_args!("no ticket of `{}` is named", self.0)),
        }
    }
}

/// Tags every test with the tickets that its name names.
struct Tagging;

impl Transform for Tagging {
    fn transform(mut suite: Value) -> Result<Value, Failure> {
        let lanes = suite.as_object_mut().into_iter().flat_map(|suite| suite.values_mut());
        for test in lanes.filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut) {
            let name = test.get("it").or(test.get("name")).and_then(Value::as_str).unwrap_or_default().to_owned();
            for ticket in tickets(&name) {
                let tags = test.entry("tags").or_insert_with(|| Value::Array(Vec::new()));
                if let Some(tags) = tags.as_array_mut().filter(|tags| !tags.iter().any(|tag| tag == ticket)) {
                    tags.push(ticket.into());
                }
            }
        }
        Ok(suite)
    }
}

/// Lists the tickets, and how many of their tests passed.
#[derive(Default)]
struct Listing(BTreeMap<String, (u32, u32)>);

impl Reporter for Listing {
    fn observe(&mut self, event: &Event) -> Result<Vec<Output>, Failure> {
        if event.kind == "test-finished" {
            for ticket in tickets(event.text("/test/name")) {
                let (passed, all) = self.0.entry(ticket.to_owned()).or_default();
                *passed += u32::from(event.text("/status") == "passed");
                *all += 1;
            }
        }
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<Output>, Failure> {
        let mut text = String::new();
        for (ticket, (passed, all)) in &self.0 {
            let _ = writeln!(text, "- {ticket}: {passed} of {all} passed");
        }
        Ok(vec![Output::main(text)])
    }
}

/// The tickets in a text: capitals, a hyphen, digits.
fn tickets(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| {
        let (project, number) = word.split_once('-').unwrap_or_default();
        let is = |part: &str, right: fn(&char) -> bool| !part.is_empty() && part.chars().all(|c| right(&c));
        is(project, char::is_ascii_uppercase) && is(number, char::is_ascii_digit)
    })
}

export_extension! {
    matchers: [Ticket],
    reporter: Listing,
    transform: Tagging,
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_guest::testkit;

    #[test]
    fn cases() {
        testkit::run::<Ticket>("cases.json");
        testkit::run_reporter::<Listing>("cases-reporter.json");
        testkit::run_transform::<Tagging>("cases-transform.json");
    }
}
