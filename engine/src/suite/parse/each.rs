//! `each`: the rows that a test runs for.
//!
//! A row is a mapping of variables, or any other value, which is then called `row`. Rows stand in the suite or in a file
//! beside it: a `.json` list, or a `.csv` with a header. A cell of a CSV that reads as a JSON number, `true` or `false` is
//! that value; every other cell is text (`007` too, and an empty cell is empty text). Rows of a file are as if they were
//! written in the suite, at the place of the file's name.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::source::reader::Given;
use crate::source::{self, Entry, Kind, Node, Span, json};
use crate::suite::Row;
use std::path::Path;

impl Parser<'_> {
    pub(super) fn each(&mut self, given: Given) -> Option<Vec<Row>> {
        let span = given.value.span;
        match &given.value.kind {
            Kind::String(path) => {
                let path = path.clone();
                let rows = self.rows_of_file(&path, span)?;
                if rows.is_empty() {
                    self.reader.error(span, format!("`{path}` has no rows"));
                }
                Some(rows)
            }
            _ => Some(self.reader.list(given).into_iter().map(row).collect()),
        }
    }

    fn rows_of_file(&mut self, path: &str, span: Span) -> Option<Vec<Row>> {
        let full = self.reader.source.folder().join(path);
        let extension = full.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
        if !matches!(extension.as_str(), "json" | "csv") {
            let diagnostic = self
                .reader
                .error(span, format!("`each` takes a list of rows, or a `.json` or `.csv` file, found `{path}`"));
            diagnostic.hints.push("for example `each: [{n: 1}, {n: 2}]` or `each: rows.csv`".to_owned());
            return None;
        }
        let shown = Path::new(&*self.reader.source.name).with_file_name(path);
        let file = match source::load(&full, &shown.to_string_lossy()) {
            Ok(file) => file,
            Err(problem) => {
                let problem = Diagnostic { place: Some((self.reader.source.clone(), span)), ..problem };
                self.reader.diagnostics.push(problem.hint("paths are taken against the suite's folder"));
                return None;
            }
        };
        match extension.as_str() {
            "json" => {
                let root = json::parse(&file, self.reader.diagnostics)?;
                let Kind::List(items) = root.kind else {
                    let found = root.describe();
                    let problem = Diagnostic::error(format!("a file of rows is a list, found {found}"));
                    self.reader.diagnostics.push(problem.at(&file, root.span));
                    return None;
                };
                Some(items.into_iter().map(|item| row(moved(item, span))).collect())
            }
            _ => match csv_rows(&file.text, span) {
                Ok(rows) => Some(rows),
                Err(problem) => {
                    self.reader.error(span, format!("`{path}` is not a CSV file with a header: {problem}"));
                    None
                }
            },
        }
    }
}

fn row(node: Node) -> Row {
    match node.kind {
        Kind::Map(entries) => Row { values: entries.into_iter().map(|entry| (entry.key, entry.value)).collect() },
        _ => Row { values: vec![("row".to_owned(), node)] },
    }
}

fn csv_rows(text: &str, span: Span) -> Result<Vec<Row>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    if let Some(twice) =
        names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|before| before == *name))
    {
        return Err(format!("two columns are called `{}`", twice.1));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| csv_problem(&error))?;
        let cells = names.iter().zip(record.iter());
        rows.push(Row {
            values: cells.map(|(name, cell)| (name.to_owned(), Node::new(cell_kind(cell), span))).collect(),
        });
    }
    Ok(rows)
}

fn csv_problem(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line} has {len} cells, and the header has {expected_len}")
        }
        _ => error.to_string(),
    }
}

fn cell_kind(cell: &str) -> Kind {
    match cell {
        "true" => Kind::Bool(true),
        "false" => Kind::Bool(false),
        _ if cell.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            let exact = cell.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'-')
                || cell.parse::<i64>().is_ok()
                || cell.parse::<u64>().is_ok();
            match serde_json::from_str(cell) {
                Ok(number) if exact => Kind::Number(number),
                _ => Kind::String(cell.to_owned()),
            }
        }
        _ => Kind::String(cell.to_owned()),
    }
}

/// The same value, standing at `span` with everything in it.
fn moved(node: Node, span: Span) -> Node {
    let kind = match node.kind {
        Kind::List(items) => Kind::List(items.into_iter().map(|item| moved(item, span)).collect()),
        Kind::Map(entries) => {
            let entry = |Entry { key, value, .. }| Entry { key, key_span: span, value: moved(value, span) };
            Kind::Map(entries.into_iter().map(entry).collect())
        }
        other => other,
    };
    Node::new(kind, span)
}
