//! `mcptest list`.

use super::load::load;
use super::{NO_TESTS, SuiteArgs, Talk, screen};
use crate::event::redact::Redactor;
use crate::plan::{CasePlan, FilePlan};
use crate::reporter::text::count;
use crate::reporter::visible::visible;
use serde_json::{Value, json};

pub(super) fn list(args: &SuiteArgs, as_json: bool, talk: &Talk) -> u8 {
    let loaded = load(args, Vec::new());
    if let Some(code) = loaded.tell(talk) {
        return code;
    }
    let files = &loaded.plan.files;
    let redactor = loaded.redactor();
    let text = if as_json {
        let mut files: Vec<Value> = files.iter().map(file_json).collect();
        files.iter_mut().for_each(|file| redactor.json(file));
        format!("{:#}\n", json!({"tests": loaded.plan.tests, "files": files}))
    } else {
        let total = count(loaded.plan.tests, "test");
        let shown: String = files.iter().map(|file| shown(file, &redactor)).collect();
        format!("{shown}{total} in {}\n", count(files.len(), "file"))
    };
    let printed = screen::print_data(&text);
    if loaded.plan.tests == 0 {
        loaded.tell_nothing("error");
        return NO_TESTS;
    }
    printed
}

fn shown(file: &FilePlan, redactor: &Redactor) -> String {
    let line = |text: String| format!("{}\n", visible(&redactor.text(&text)));
    let mut text = line(format!("{}: {}", file.suite.name(), file.suite.description));
    for plan in &file.cases {
        let tags = tags(file, plan).iter().map(|tag| format!(" #{tag}")).collect::<String>();
        let skip = plan.skip.as_ref().map_or(String::new(), |reason| format!(" (skipped: {reason})"));
        let test = format!("  {}:{}  {}{tags}{skip}", plan.test.lane.key(), plan.test.line, plan.test.name);
        text.push_str(&line(test));
    }
    text
}

fn file_json(file: &FilePlan) -> Value {
    let tests = file.cases.iter().map(|plan| {
        json!({
            "id": plan.test.id,
            "lane": plan.test.lane,
            "name": plan.test.name,
            "line": plan.test.line,
            "server": plan.test.server,
            "tags": tags(file, plan),
            "skip": plan.skip,
        })
    });
    json!({
        "file": file.suite.name(),
        "description": file.suite.description,
        "tests": tests.collect::<Vec<_>>(),
    })
}

fn tags<'a>(file: &'a FilePlan, plan: &CasePlan) -> &'a [String] {
    file.case(plan.subject).map_or(&[], |case| &case.tags)
}
