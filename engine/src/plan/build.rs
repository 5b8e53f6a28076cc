//! Makes a [`Plan`] from a config and its suites.

use super::capture::{captured, wanted};
use super::order::{Shuffle, after_needs};
use super::scope::Scope;
use super::select::Filter;
use super::server::{Servers, capabilities, capability_of};
use super::{CasePlan, FilePlan, Part, Plan, StepPlan, Subject, check, era, fill};
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::event::Test;
use crate::extension::library::Library;
use crate::mcp::era::Protocol;
use crate::source::{Json, Node, Span};
use crate::suite::environment::Environment;
use crate::suite::server::Server;
use crate::suite::template::{self, Filler, Found};
use crate::suite::{Action, Body, Case, Row, Step, Suite, Unsupported};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a plan is made from.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// The config.
    pub config: &'a Config,
    /// The suites, in the order they were found, and the matchers that each can call.
    pub suites: Vec<(Arc<Suite>, Arc<Library>)>,
    /// The server of the command line, after `--`.
    pub command: Option<Arc<Server>>,
    /// `--var`.
    pub vars: Vec<(String, Node)>,
    /// The environment.
    pub environment: Environment,
    /// `--filter`, `--tag`, `--skip-tag`.
    pub filter: &'a Filter,
    /// The seed of `--shuffle`.
    pub shuffle: Option<u64>,
    /// Unknown names stay as they are written.
    pub lenient: bool,
}

/// Makes the plan; every problem goes to the diagnostics.
pub fn make(inputs: Inputs<'_>, diagnostics: &mut Diagnostics) -> Plan {
    let Inputs { config, suites, command, vars, environment, filter, shuffle, lenient } = inputs;
    let vars = Arc::new(vars);
    let ci = environment.is_ci();
    let mut drafts: Vec<Draft> = Vec::new();
    for (suite, library) in suites {
        let captured = Arc::new(captured(&suite));
        let scope = Scope {
            suite: suite.clone(),
            vars: vars.clone(),
            environment: environment.clone(),
            captured,
            lenient: lenient || config.lenient,
            library,
        };
        let servers = Servers { config, command: command.as_ref(), suite: &suite, undecided: RefCell::default() };
        drafts
            .push(File { scope: &scope, servers, filter, ci, ids: HashMap::new(), declared: None }.draft(diagnostics));
    }
    let only = drafts.iter().any(|draft| draft.only);
    let mut shuffler = shuffle.map(Shuffle::new);
    let mut files: Vec<FilePlan> =
        drafts.into_iter().filter_map(|draft| draft.finish(only, shuffler.as_mut())).collect();
    if let Some(shuffler) = &mut shuffler {
        shuffler.shuffle(&mut files);
    }
    let tests = files.iter().map(|file| file.cases.len()).sum();
    drop_repeats(diagnostics);
    Plan { files, tests, seed: shuffle }
}

/// A file's tests before selection.
struct Draft {
    suite: Arc<Suite>,
    scope: Scope,
    cases: Vec<CasePlan>,
    wanted: Vec<bool>,
    only: bool,
}

impl Draft {
    /// Keeps the selected tests, what they need, and `before` and `after` around them.
    fn finish(self, only: bool, shuffler: Option<&mut Shuffle>) -> Option<FilePlan> {
        let Draft { suite, scope, mut cases, wanted, .. } = self;
        let is_only = |plan: &CasePlan| match plan.subject {
            Subject::Case { part: Part::Own, index, .. } => suite.cases[index].only.is_some(),
            _ => false,
        };
        let own = |at: &usize| cases[*at].part() == Part::Own;
        let mut selected: Vec<usize> =
            (0..cases.len()).filter(|at| own(at) && wanted[*at] && (!only || is_only(&cases[*at]))).collect();
        if selected.is_empty() {
            return None;
        }
        if let Some(shuffler) = shuffler {
            shuffler.shuffle(&mut selected);
        }
        let part = |part: Part| (0..cases.len()).filter(|at| cases[*at].part() == part).collect::<Vec<_>>();
        let sequence: Vec<usize> = [part(Part::Before), selected, part(Part::After)].concat();
        let order = after_needs(&sequence, |at| cases[at].needs.clone(), cases.len());
        let mut position = vec![usize::MAX; cases.len()];
        order.iter().enumerate().for_each(|(new, old)| position[*old] = new);
        let mut slots: Vec<Option<CasePlan>> = cases.drain(..).map(Some).collect();
        let cases = order
            .iter()
            .filter_map(|old| slots[*old].take())
            .map(|mut plan| {
                plan.needs.iter_mut().for_each(|need| *need = position[*need]);
                plan
            })
            .collect();
        Some(FilePlan { suite, scope, cases })
    }
}

/// One suite on its way into the plan.
struct File<'a> {
    scope: &'a Scope,
    servers: Servers<'a>,
    filter: &'a Filter,
    ci: bool,
    ids: HashMap<String, u32>,
    /// What the client declares to the server of the last test: mostly that of the next one too.
    declared: Option<(Arc<Server>, Arc<Json>)>,
}

impl File<'_> {
    fn draft(mut self, diagnostics: &mut Diagnostics) -> Draft {
        let suite = self.scope.suite.clone();
        let mut cases = Vec::new();
        let mut wanted_flags = Vec::new();
        // Where each captured name was last filled, so that a later test can name the test it needs; nowhere, when that
        // test has no rows, which is told elsewhere.
        let mut makers: HashMap<String, Option<usize>> = HashMap::new();
        self.check_suite_names(diagnostics);
        for part in [Part::Before, Part::Own, Part::After] {
            for (index, case) in suite.part(part).iter().enumerate() {
                self.check_case(case, diagnostics);
                let server = self.servers.of(case, diagnostics);
                let first = cases.len();
                let rows: Vec<Option<usize>> = match &case.each {
                    Some(rows) => (0..rows.len()).map(Some).collect(),
                    None => vec![None],
                };
                for row in rows {
                    let values = row.and_then(|row| case.each.as_ref().map(|rows| &rows[row]));
                    let mut plan = self.case_plan(case, part, index, row, &server, diagnostics);
                    for (name, span) in wanted(&suite, case, &self.scope.captured) {
                        if values.is_some_and(|row| row.values.iter().any(|(key, _)| *key == name)) {
                            continue;
                        }
                        match makers.get(&name) {
                            Some(None) => {}
                            Some(Some(maker)) if plan.needs.contains(maker) => {}
                            Some(Some(maker)) => plan.needs.push(*maker),
                            None => diagnostics.push(too_early(&suite, case, &name, span)),
                        }
                    }
                    wanted_flags.push(self.filter.wants(&plan.test, case));
                    cases.push(plan);
                }
                let last = (cases.len() > first).then(|| cases.len() - 1);
                for capture in case.body.steps().iter().flat_map(|step| &step.captures) {
                    makers.insert(capture.name.clone(), last);
                }
            }
        }
        self.servers.tell_undecided(diagnostics);
        for found in &suite.unsupported {
            let plan = self.unsupported(found);
            wanted_flags.push(self.filter.wants_lane(&plan.test));
            cases.push(plan);
        }
        let only = suite.cases.iter().any(|case| case.only.is_some());
        Draft { suite, scope: self.scope.clone(), cases, wanted: wanted_flags, only }
    }

    /// Names in `variables` and `respond`, which belong to no test.
    fn check_suite_names(&self, diagnostics: &mut Diagnostics) {
        let mut report = |name: &str, span: Span| {
            let found = self.scope.lookup(name, None, None);
            if matches!(found, Found::Unknown) {
                self.scope.report_unknown(name, span, None, diagnostics);
            }
            found
        };
        let mut filler = Filler::new(&mut report);
        for variable in &self.scope.suite.variables {
            // A row may still define what is unknown here, so only a variable that no row can save is reported.
            if self.scope.suite.cases.iter().all(|case| case.each.is_none()) {
                filler.fill(&variable.value);
            }
        }
        super::fill_respond(&self.scope.suite.respond, &mut filler);
    }

    fn check_case(&self, case: &Case, diagnostics: &mut Diagnostics) {
        let source = &self.scope.suite.source;
        if let Some(span) = case.only.filter(|_| self.ci) {
            diagnostics.push(
                Diagnostic::error("`only` would leave the other tests out")
                    .at(source, span)
                    .hint("`only` is refused when `CI=true`: remove it before committing"),
            );
        }
        let Body::Parallel(steps) = &case.body else { return };
        for step in steps {
            let name = match step.action {
                Action::Wait(_) => "wait",
                Action::Close(_) => "close",
                _ => continue,
            };
            diagnostics.push(
                Diagnostic::error(format!("`{name}` cannot stand in `parallel`"))
                    .at(source, step.span)
                    .hint("put it into `steps`, before or after"),
            );
        }
    }

    fn case_plan(
        &mut self,
        case: &Case,
        part: Part,
        index: usize,
        row: Option<usize>,
        server: &Arc<Server>,
        diagnostics: &mut Diagnostics,
    ) -> CasePlan {
        let values = row.and_then(|row| case.each.as_ref().map(|rows| &rows[row]));
        let capabilities = self.capabilities(server);
        let steps = case.body.steps().iter().map(|step| {
            self.check_respond(step, &capabilities, diagnostics);
            if let (Protocol::Modern(_), Some(removed)) = (&server.protocol, era::removed(step)) {
                diagnostics.push(removed.diagnostic(&self.scope.suite.source, step));
            }
            self.step_plan(step, values, diagnostics)
        });
        let steps = steps.collect();
        CasePlan {
            test: self.test(case, row, values, server),
            subject: Subject::Case { part, index, row },
            server: server.clone(),
            capabilities,
            needs: Vec::new(),
            skip: case.skip.clone(),
            steps,
        }
    }

    fn capabilities(&mut self, server: &Arc<Server>) -> Arc<Json> {
        match &self.declared {
            Some((of, declared)) if Arc::ptr_eq(of, server) => declared.clone(),
            _ => {
                let declared = Arc::new(capabilities(server, &self.scope.suite));
                self.declared = Some((server.clone(), declared.clone()));
                declared
            }
        }
    }

    fn step_plan(&self, step: &Step, row: Option<&Row>, diagnostics: &mut Diagnostics) -> StepPlan {
        let mut scope = |name: &str, span: Span| {
            let found = self.scope.lookup(name, row, None);
            if matches!(found, Found::Unknown) {
                self.scope.report_unknown(name, span, row, diagnostics);
            }
            found
        };
        let filled = fill::fill_step(step, &mut scope);
        let expect = fill::fill_expect(&step.expect, &mut scope);
        let expectations = expect.expect.as_deref().unwrap_or(&step.expect);
        let checks = if expect.later.contains(&true) {
            for (expectation, later) in expectations.iter().zip(&expect.later) {
                if !later {
                    check::compile(std::slice::from_ref(expectation), self.scope, diagnostics);
                }
            }
            None
        } else {
            Some(check::compile(expectations, self.scope, diagnostics))
        };
        StepPlan { filled: (!filled.later).then_some(filled), checks }
    }

    /// An answer for something the client never declared would never be asked for.
    fn check_respond(&self, step: &Step, capabilities: &Json, diagnostics: &mut Diagnostics) {
        for entry in step.respond.entries.iter().filter(|_| !self.servers.config.broken) {
            let Some(capability) = capability_of(&entry.method).filter(|name| capabilities.get(name).is_none()) else {
                continue;
            };
            diagnostics.push(
                Diagnostic::error(format!("the client does not declare `{capability}`, so the server will not ask"))
                    .at(&self.scope.suite.source, entry.span)
                    .hint(format!(
                        "declare it in the config with `client: {{ {capability}: true }}`, or give the suite a `respond` for `{}`",
                        entry.method
                    )),
            );
        }
    }

    fn test(&mut self, case: &Case, row: Option<usize>, values: Option<&Row>, server: &Server) -> Arc<Test> {
        let mut scope = |name: &str, _: Span| match self.scope.lookup(name, values, None) {
            Found::Later | Found::Unknown => Found::Verbatim,
            found => found,
        };
        let written = Node::new(crate::source::Kind::String(case.name.clone()), case.span);
        let filled = Filler::new(&mut scope).fill(&written).map(|node| template::text_of(&node));
        let name = match (filled, row) {
            (Some(name), _) => name,
            (None, Some(row)) => format!("{} [{}]", case.name, row + 1),
            (None, None) => case.name.clone(),
        };
        let suite = &self.scope.suite;
        let row = row.map_or(String::new(), |row| format!("[{}]", row + 1));
        let id = self.unique(format!("{}#{}/{}{row}", suite.name(), case.lane.key(), case.name));
        Arc::new(Test {
            id,
            file: suite.name().clone(),
            suite: suite.description.clone(),
            server: server.name.clone(),
            lane: case.lane,
            name,
            line: suite.line(case.lane, &case.name, case.span),
        })
    }

    fn unsupported(&mut self, Unsupported { lane, rule, span }: &Unsupported) -> CasePlan {
        let lane = *lane;
        let suite = self.scope.suite.clone();
        let server = self.servers.placeholder();
        let below = rule.as_ref().map(|rule| format!("/{rule}")).unwrap_or_default();
        let id = format!("{}#{}{below}", suite.name(), lane.key());
        let test = Test {
            id: self.unique(id),
            file: suite.name().clone(),
            suite: suite.description.clone(),
            server: server.name.clone(),
            lane,
            name: rule.clone().unwrap_or_else(|| lane.key().to_owned()),
            line: suite.line(lane, rule.as_deref().unwrap_or_default(), *span),
        };
        CasePlan {
            test: Arc::new(test),
            subject: Subject::Unsupported(lane),
            server,
            capabilities: Arc::new(Json::Null),
            needs: Vec::new(),
            skip: Some(format!("this version of mcptest cannot run the `{}` lane", lane.key())),
            steps: Vec::new(),
        }
    }

    /// Two tests of one name stay apart: `…/name`, `…/name~2`.
    fn unique(&mut self, id: String) -> String {
        let count = self.ids.entry(id.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { id } else { format!("{id}~{count}") }
    }
}

fn too_early(suite: &Suite, case: &Case, name: &str, span: Span) -> Diagnostic {
    let beside = matches!(case.body, Body::Parallel(_))
        && case.body.steps().iter().flat_map(|step| &step.captures).any(|capture| capture.name == name);
    if beside {
        return Diagnostic::error(format!("`{name}` is captured by a step of the same `parallel`"))
            .at(&suite.source, span)
            .hint("its steps are sent without waiting for each other: `steps` runs them one after the other");
    }
    Diagnostic::error(format!("`{name}` is captured only later"))
        .at(&suite.source, span)
        .hint("a capture can be used by the steps and tests that come after it")
}

/// Drops repeats: a test with rows reports a problem once, not once per row.
fn drop_repeats(diagnostics: &mut Diagnostics) {
    let mut seen = HashSet::new();
    diagnostics.list.retain(|diagnostic| {
        let place = diagnostic.place.as_ref().map(|(source, span)| (source.name.clone(), span.start, span.end));
        seen.insert((diagnostic.message.clone(), place))
    });
}
