//! Suites: planned for a framework that collects them, and run test by test with the engine's own verdict.

use super::events::Events;
use super::frame::{Refusal, Reply};
use super::{Ending, Planner, Played};
use crate::diagnostic::{Diagnostics, Severity};
use crate::mcp::cassette::Reel;
use crate::plan::{FilePlan, Plan, Subject};
use crate::reporter::json::test_object;
use crate::run::{self, Picked};
use crate::source::Json;
use crate::suite::Lane;
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::pin::pin;

/// What a path came to.
pub struct Planned {
    /// Its tests.
    pub plan: Plan,
    /// Values that no report may show.
    pub secrets: Vec<String>,
    /// How its tests are run.
    pub options: run::Options,
    /// What is worth knowing, for stderr.
    pub warnings: String,
}

/// The suites that were planned so far.
pub(super) struct Suites {
    planner: Planner,
    files: Vec<Picked>,
    /// The file whose servers are up.
    current: Option<usize>,
    reel: Option<Reel>,
    played: Option<Played>,
}

#[derive(Serialize)]
struct Collected<'a> {
    id: &'a str,
    lane: Lane,
    name: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip: Option<&'a str>,
}

impl Suites {
    pub(super) fn new(planner: Planner) -> Suites {
        Suites { planner, files: Vec::new(), current: None, reel: None, played: None }
    }

    /// The tests of a suite file, or of every suite in a folder; read anew each time.
    pub(super) async fn plan(&mut self, path: &str, events: &mut Events) -> Reply {
        let planned = self.load(path, events).await?;
        if planned.is_empty() {
            // Nothing that a framework collects would look like everything passed.
            return Err(Refusal::params(format!("`{path}` holds no suite: suites are named `*.test.mcp.yml`")));
        }
        let tests = planned.iter().flat_map(|at| self.files[*at].tests()).map(|case| Collected {
            id: &case.test.id,
            lane: case.test.lane,
            name: &case.test.name,
            line: case.test.line,
            skip: case.skip.as_deref(),
        });
        Ok(json!({ "tests": tests.collect::<Vec<_>>() }).to_string())
    }

    /// Runs one test, and gives its object of the `json` report.
    pub(super) async fn run(&mut self, id: &str, events: &mut Events) -> Reply {
        if self.find(id).is_none()
            && let Some(file) = file_of(id)
        {
            self.load(file, events).await?;
        }
        let Some((file, position)) = self.find(id) else {
            let hint = "`mcp.suite.plan` gives the ids of a file";
            return Err(Refusal::params(format!("no test has the id `{id}`; {hint}")));
        };
        if let Some(before) = self.current.replace(file).filter(|before| *before != file) {
            // Servers that nobody asks any more would only pile up.
            events.accept(self.files[before].rest().await);
        }
        let happened = events.accept(self.files[file].run(position).await);
        test_object(&happened, id).ok_or_else(|| Refusal::internal(format!("`{id}` left no result")))
    }

    /// Records or plays from now on; servers are started anew.
    pub(super) async fn set_reel(&mut self, reel: Option<Reel>, played: Option<Played>, events: &mut Events) {
        for file in &mut self.files {
            events.accept(file.rest().await);
            file.set_reel(reel.clone());
        }
        (self.reel, self.played) = (reel, played);
    }

    /// Ends everything, `after` included; what goes wrong there has nobody left to tell but stderr. Once a signal came,
    /// only the servers are ended.
    pub(super) async fn close(&mut self, events: &mut Events, signalled: &mut Ending) {
        let mut hurried = false;
        for file in &mut self.files {
            let interrupt = file.interrupter();
            let mut finish = pin!(file.finish());
            let finished = match hurried {
                true => None,
                false => tokio::select! {
                    biased;
                    () = &mut *signalled => None,
                    happened = &mut finish => Some(happened),
                },
            };
            let happened = match finished {
                Some(happened) => happened,
                None => {
                    hurried = true;
                    interrupt();
                    finish.await
                }
            };
            for event in events.accept(happened) {
                events.tell_failure(&event, hurried);
            }
        }
        self.files.clear();
    }

    /// Reads a path and takes what it holds in place of what was there before; the positions of its files.
    async fn load(&mut self, path: &str, events: &mut Events) -> Result<Vec<usize>, Refusal> {
        let Planned { plan, secrets, options, warnings } =
            (self.planner)(path, self.played.as_ref()).map_err(|found| problems(path, &found))?;
        events.hide(&secrets);
        if !warnings.is_empty() {
            events.tell(&warnings);
        }
        let mut positions = Vec::new();
        for mut file in plan.files {
            name_the_command(&mut file);
            let name = file.suite.name().clone();
            let options = run::Options { reel: self.reel.clone(), ..options.clone() };
            let mut picked = Picked::new(file, options);
            picked.hide(&secrets);
            let same = |known: &Picked| known.tests().first().is_some_and(|case| case.test.file == name);
            match self.files.iter().position(same) {
                Some(at) => {
                    let mut old = std::mem::replace(&mut self.files[at], picked);
                    events.accept(old.finish().await);
                    positions.push(at);
                }
                None => {
                    self.files.push(picked);
                    positions.push(self.files.len() - 1);
                }
            }
        }
        Ok(positions)
    }

    fn find(&self, id: &str) -> Option<(usize, usize)> {
        let position = |file: &Picked| file.tests().iter().position(|case| case.test.id == id);
        self.files.iter().enumerate().find_map(|(at, file)| Some((at, position(file)?)))
    }
}

/// The file in an id, `file#lane/name`; either part may hold a `#` of its own.
fn file_of(id: &str) -> Option<&str> {
    id.match_indices('#').map(|(at, _)| &id[..at]).find(|file| Path::new(file).is_file())
}

/// A lane that the channel cannot drive says which command does.
fn name_the_command(file: &mut FilePlan) {
    let name = file.suite.name().clone();
    for case in &mut file.cases {
        if let Subject::Unsupported(lane) = case.subject {
            case.skip = Some(lane_hint(lane, &name));
        }
    }
}

/// What SDKs say of a lane that cannot be driven over this channel, in every language.
pub(super) fn lane_hint(lane: Lane, suite: &str) -> String {
    let command = match lane {
        Lane::Compliance => format!("mcptest compliance run --from-suite {suite}"),
        Lane::Evals => format!("mcptest eval {suite}"),
        _ => format!("mcptest run {suite}"),
    };
    format!("the `{}` lane cannot be driven over the coprocess; run it with `{command}`", lane.key())
}

/// Problems of a suite or its config, as text to read and as data to point with.
fn problems(path: &str, found: &Diagnostics) -> Refusal {
    let list = found.list.iter().filter(|problem| problem.severity == Severity::Error).map(|problem| {
        let place = problem.place.as_ref().map(|(source, span)| {
            let at = source.position(span.start);
            json!({ "file": source.name, "line": at.line, "column": at.column })
        });
        json!({ "message": problem.message, "hints": problem.hints, "at": place })
    });
    let data = json!({ "problems": list.collect::<Vec<Json>>() });
    Refusal::params(format!("`{path}` cannot be run:\n{}", found.render(false).trim_end())).with(data)
}
