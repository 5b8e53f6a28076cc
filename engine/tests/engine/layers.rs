//! The direction of the modules: what stands left in the pipeline knows nothing of what stands right of it.

use std::collections::BTreeMap;
use std::path::Path;

/// Lowest first; a module uses modules of its own layer or below.
const LAYERS: [&[&str]; 7] = [
    &["source", "ndjson", "child", "cache", "diagnostic", "schema"],
    &["mcp"],
    &["suite", "matcher", "event"],
    &["extension"],
    &["config", "transform", "plan"],
    &["run", "reporter", "coprocess", "demo", "discover"],
    &["cli"],
];

/// Uses that point the wrong way for a reason.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("matcher", "event", "a mismatch becomes a failure, which is data"),
    ("event", "reporter", "the collector hands events to reporters, through their trait"),
];

#[test]
fn modules_use_only_what_stands_left_of_them() {
    let mut layer = BTreeMap::new();
    for (height, names) in LAYERS.iter().enumerate() {
        names.iter().for_each(|name| {
            layer.insert(*name, height);
        });
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    visit(&root, &mut |path, text| {
        let inside = path.strip_prefix(&root).expect("below src").to_string_lossy().into_owned();
        let module = inside.split(['/', '.']).next().unwrap_or_default().to_owned();
        let Some(own) = layer.get(module.as_str()) else { return };
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for used in code.lines().filter_map(|line| line.trim().strip_prefix("use crate::")) {
            let used = used.split([':', ';', ' ']).next().unwrap_or_default();
            let excepted = EXCEPTIONS.iter().any(|(from, to, _)| *from == module && *to == used);
            if layer.get(used).is_some_and(|height| height > own) && !excepted {
                wrong.push(format!("{inside} uses {used}"));
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_module_has_its_layer() {
    let lib = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).expect("lib.rs");
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let homeless: Vec<&str> = modules.filter(|module| !LAYERS.iter().any(|names| names.contains(module))).collect();
    assert!(homeless.is_empty(), "{homeless:?}");
}

fn visit(folder: &Path, each: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            visit(&path, each);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            each(&path, &std::fs::read_to_string(&path).expect("a file"));
        }
    }
}
