//! Suite text to a typed suite, with every problem in one go.
//!
//! The tree is consumed: expectations, requests and arguments move into the suite as [`Node`]s with their places, and
//! `${variables}` in them stay as they are until the plan fills them in.

mod action;
mod case;
mod each;
mod expect;
mod imports;
mod respond;
mod timestamp;

pub(crate) use respond::respond;

use super::server::{self, Server};
use super::{Case, Lane, Respond, ServerChoice, Setting, Suite, Unsupported, Variable};
use crate::diagnostic::Diagnostics;
use crate::schema::{LANES, SUITE};
use crate::source::reader::{Fields, Given, Reader};
use crate::source::{Entry, Json, Kind, Node, Source, Span, yaml};
use std::sync::Arc;

/// Parses a suite; every problem goes into `diagnostics`, and a suite that comes back beside errors is of no use.
pub fn parse(source: &Arc<Source>, setting: &Setting, diagnostics: &mut Diagnostics) -> Option<Suite> {
    let root = yaml::parse(source, diagnostics)?;
    parse_tree(root, source, setting, diagnostics)
}

/// Parses a suite whose text is a tree already.
pub fn parse_tree(root: Node, source: &Arc<Source>, setting: &Setting, diagnostics: &mut Diagnostics) -> Option<Suite> {
    let reader = Reader { source, diagnostics, lenient: setting.lenient };
    Parser { reader, setting }.suite(root)
}

/// YAML and suite parsing of any text, for fuzzing: whatever it holds, this returns.
pub fn parse_text(text: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let source = Source::new("fuzz.test.mcp.yml", "fuzz.test.mcp.yml", text.to_owned());
    parse(&source, &Setting::default(), &mut diagnostics);
    diagnostics
}

struct Parser<'a> {
    reader: Reader<'a>,
    setting: &'a Setting,
}

impl Parser<'_> {
    fn suite(&mut self, root: Node) -> Option<Suite> {
        if let Kind::List(_) = root.kind {
            self.reader
                .error(Span { start: root.span.start, end: root.span.start + 1 }, "a suite is a mapping, found a list")
                .hints
                .push(
                    "put the list under a lane: `tests:` for raw JSON-RPC, or `tools:`, `resources:`, `prompts:`"
                        .into(),
                );
            return None;
        }
        if let Some(span) = config_key(&root) {
            let name = self.reader.source.name.clone();
            let diagnostic = self.reader.error(span, "this is a config, and a suite is wanted here");
            diagnostic.hints.push(format!("pass it with `--config {name}`; suites are named `*.test.mcp.yml`"));
            return None;
        }
        let mut fields = self.reader.fields(root, &SUITE)?;
        let head = fields.head();
        let source = self.reader.source.clone();
        let mut suite = Suite {
            description: self.description(&mut fields),
            server: self.server_choice(fields.take("server")),
            imports: self.imports(fields.take("imports")),
            variables: self.variables(fields.take("variables")),
            client: self.client(fields.take("client")),
            respond: self.respond(fields.take("respond")),
            before: self.cases(fields.take("before"), Lane::Before),
            cases: Vec::new(),
            after: self.cases(fields.take("after"), Lane::After),
            unsupported: Vec::new(),
            source,
            origin: None,
        };
        let lanes = self.lanes(&mut fields, &mut suite);
        if !lanes && (self.reader.lenient || !fields.has_near(&LANES.iter().map(|lane| lane.name).collect::<Vec<_>>()))
        {
            self.reader.error(head, "the suite has no tests").hints.push(
                "write them in a list under `tests:` (raw JSON-RPC), `tools:`, `resources:` or `prompts:`".into(),
            );
        }
        self.reader.finish(fields);
        Some(suite)
    }

    /// The lanes in document order; says whether there is any.
    fn lanes(&mut self, fields: &mut Fields, suite: &mut Suite) -> bool {
        let mut lanes: Vec<(Span, Lane)> =
            Lane::ALL.iter().filter_map(|lane| Some((fields.place_of(lane.key())?, *lane))).collect();
        lanes.sort_by_key(|(span, _)| span.start);
        for (span, lane) in &lanes {
            let given = fields.take(lane.key());
            match lane {
                Lane::Agents | Lane::Compliance | Lane::Security | Lane::Evals => {
                    suite.unsupported.push(Unsupported { lane: *lane, rule: None, span: *span });
                    if *lane == Lane::Compliance {
                        suite.unsupported.extend(given.iter().flat_map(|given| rules(&given.value)));
                    }
                }
                _ => suite.cases.extend(self.cases(given, *lane)),
            }
        }
        !lanes.is_empty()
    }

    fn description(&mut self, fields: &mut Fields) -> Arc<str> {
        let written = fields.take("description").and_then(|given| self.reader.text(given));
        written.map(Arc::from).unwrap_or_else(|| {
            let path = &self.reader.source.path;
            path.file_name().map_or(self.reader.source.name.clone(), |name| name.to_string_lossy().into())
        })
    }

    fn cases(&mut self, given: Option<Given>, lane: Lane) -> Vec<Case> {
        let Some(given) = given else { return Vec::new() };
        self.reader.list(given).into_iter().filter_map(|node| self.case(node, lane)).collect()
    }

    fn server_choice(&mut self, given: Option<Given>) -> Option<ServerChoice> {
        let given = given?;
        match given.value.kind {
            Kind::String(name) => Some(ServerChoice::Named(name, given.value.span)),
            Kind::Map(_) => self.server(given.value).map(|server| ServerChoice::Inline(Arc::new(server))),
            _ => {
                self.reader.wrong_type(&given);
                None
            }
        }
    }

    fn server(&mut self, node: Node) -> Option<Server> {
        server::parse::parse(&mut self.reader, node, None, self.setting)
    }

    fn variables(&mut self, given: Option<Given>) -> Vec<Variable> {
        let Some(given) = given else { return Vec::new() };
        let entries = self.reader.entries(given);
        let named = entries.into_iter().filter(|entry| self.is_name("a variable", &entry.key, entry.key_span));
        let variable = |Entry { key, key_span, value }| Variable { name: key, span: key_span, value };
        named.map(variable).collect()
    }

    fn client(&mut self, given: Option<Given>) -> Json {
        given.map_or_else(|| Json::Object(Default::default()), |given| server::parse::client(&mut self.reader, given))
    }

    fn respond(&mut self, given: Option<Given>) -> Respond {
        given.map(|given| respond(&mut self.reader, given)).unwrap_or_default()
    }

    /// Whether `${name}` can stand for something; reports it when not.
    fn is_name(&mut self, what: &str, name: &str, span: Span) -> bool {
        let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let problem = if name == "tmp" {
            "`tmp` is taken: it is the server's fresh folder"
        } else if !starts || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) {
            "a name has letters, digits, `_`, `-` and `.`, and begins with a letter"
        } else {
            return true;
        };
        self.reader.error(span, format!("`{name}` cannot name {what}")).label = Some(problem.to_owned());
        false
    }
}

/// The key that shows that a file without any lane is a config.
fn config_key(root: &Node) -> Option<Span> {
    let entries = root.entries()?;
    let has_tests = entries.iter().any(|entry| Lane::ALL.iter().any(|lane| lane.key() == entry.key));
    let tell = |entry: &&Entry| matches!(entry.key.as_str(), "command" | "servers" | "mcpServers");
    entries.iter().find(tell).filter(|_| !has_tests).map(|entry| entry.key_span)
}

/// The rules that `compliance` names: `[a, b]`, `{rules: [a, b]}`, or a list of maps with a `rule`.
fn rules(node: &Node) -> Vec<Unsupported> {
    let named = |node: &Node| match &node.kind {
        Kind::String(name) => Some((name.clone(), node.span)),
        Kind::Map(entries) => {
            entries.iter().find(|entry| entry.key == "rule").and_then(|entry| match &entry.value.kind {
                Kind::String(name) => Some((name.clone(), entry.value.span)),
                _ => None,
            })
        }
        _ => None,
    };
    match &node.kind {
        Kind::List(nodes) => {
            let rule = |(rule, span)| Unsupported { lane: Lane::Compliance, rule: Some(rule), span };
            nodes.iter().filter_map(named).map(rule).collect()
        }
        Kind::Map(entries) => {
            entries.iter().filter(|entry| entry.key == "rules").flat_map(|entry| rules(&entry.value)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
