//! `mcptest list`.

use super::load::load;
use super::{NO_TESTS, OK, SuiteArgs, Talk, screen};
use crate::plan::{CasePlan, FilePlan};
use crate::reporter::text::count;
use serde_json::{Value, json};

pub(super) fn list(args: &SuiteArgs, as_json: bool, talk: &Talk) -> u8 {
    let loaded = load(args, Vec::new());
    if let Some(code) = loaded.tell(talk) {
        return code;
    }
    let files = &loaded.plan.files;
    if as_json {
        let files: Vec<Value> = files.iter().map(file_json).collect();
        screen::print(&format!("{:#}\n", json!({"tests": loaded.plan.tests, "files": files})));
    } else {
        files.iter().for_each(print_file);
        let total = count(loaded.plan.tests, "test");
        screen::print(&format!("{total} in {}\n", count(files.len(), "file")));
    }
    if loaded.plan.tests == 0 { NO_TESTS } else { OK }
}

fn print_file(file: &FilePlan) {
    let mut text = format!("{}: {}\n", file.suite.name(), file.suite.description);
    for plan in &file.cases {
        let tags = tags(file, plan).iter().map(|tag| format!(" #{tag}")).collect::<String>();
        let skip = plan.skip.as_ref().map_or(String::new(), |reason| format!(" (skipped: {reason})"));
        text.push_str(&format!("  {}:{}  {}{tags}{skip}\n", plan.test.lane.key(), plan.test.line, plan.test.name));
    }
    screen::print(&text);
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
