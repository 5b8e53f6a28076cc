//! One line per test, and the count at the end.

use mcptest_guest::{Event, Failure, Output, Reporter, export_reporter};

#[derive(Default)]
struct Lines {
    tests: usize,
}

impl Reporter for Lines {
    fn observe(&mut self, event: &Event) -> Result<Vec<Output>, Failure> {
        if event.kind != "test-finished" {
            return Ok(Vec::new());
        }
        self.tests += 1;
        Ok(vec![Output::main(format!("{}: {}\n", event.text("/test/name"), event.text("/status")))])
    }

    fn finish(&mut self) -> Result<Vec<Output>, Failure> {
        Ok(vec![Output::main(format!("{} tests\n", self.tests))])
    }
}

export_reporter!(Lines);

#[cfg(test)]
mod tests {
    #[test]
    fn cases() {
        mcptest_guest::testkit::run_reporter::<super::Lines>("cases.json");
    }
}
