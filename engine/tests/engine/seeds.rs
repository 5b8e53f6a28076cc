//! `docs/seeds.md` names tests that are there.

use std::path::Path;

#[test]
fn every_test_that_the_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../docs/seeds.md")).expect("the page");
    let mut code = String::new();
    for folder in ["src/extension", "tests/engine"] {
        gather(&root.join(folder), &mut code);
    }
    let mut rows = 0;
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| sentence")) {
        let cells: Vec<&str> = row.trim_matches('|').rsplitn(2, '|').collect();
        let names: Vec<&str> = cells[0].split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test holds this: {row}");
        for name in names {
            assert!(code.contains(&format!("fn {name}()")), "there is no test `{name}`, which holds: {row}");
        }
        rows += 1;
    }
    assert!(rows > 30, "{rows} rows");
}

fn gather(folder: &Path, code: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, code);
        } else if path.extension().is_some_and(|end| end == "rs") {
            code.push_str(&std::fs::read_to_string(&path).expect("a file"));
        }
    }
}
