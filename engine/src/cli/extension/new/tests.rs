use super::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

const LANGUAGES: [Language; 4] = [Language::Rust, Language::Js, Language::Python, Language::C];
const PARTS: [Part; 3] = [Part::Matcher, Part::Reporter, Part::Transform];

fn args(lang: Language, role: Part, name: &str) -> NewArgs {
    NewArgs { name: name.to_owned(), lang, role }
}

/// The texts of all files below a folder.
fn texts(folder: &Path) -> BTreeSet<String> {
    let mut folders = vec![folder.to_owned()];
    let mut found = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("readable") {
            let path: PathBuf = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(std::fs::read_to_string(path).expect("text"));
            }
        }
    }
    found
}

#[test]
fn every_project_is_written_without_placeholders() {
    let home = tempfile::tempdir().expect("a folder");
    for lang in LANGUAGES {
        for role in PARTS {
            let folder = home.path().join(format!("{lang:?}-{role:?}"));
            match write(&args(lang, role, "my-check"), &folder) {
                Ok(count) => {
                    assert!(count >= 6, "{lang:?} {role:?}: {count} files");
                    assert!(folder.join("cases.json").is_file() && folder.join(".gitignore").is_file());
                    let silent = texts(&folder).into_iter().any(|text| text.contains("--stub-wasi"));
                    assert!(!silent, "{lang:?} {role:?}: an exception that nobody catches would say nothing");
                    let left: Vec<String> = texts(&folder).into_iter().filter(|text| text.contains("{{")).collect();
                    assert!(left.iter().all(|text| !text.contains("{{name}}") && !text.contains("{{role}}")));
                }
                Err(_) => assert!(lang == Language::C && role != Part::Matcher, "{lang:?} {role:?}"),
            }
        }
    }
}

#[test]
fn no_template_and_no_part_of_the_sdk_is_forgotten() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known: BTreeSet<String> = BTreeSet::new();
    for lang in LANGUAGES {
        known.extend(project(lang).into_iter().flatten().map(|(_, text)| (*text).to_owned()));
        for role in PARTS {
            known.extend(part(lang, role).into_iter().flatten().flatten().map(|(_, text)| (*text).to_owned()));
        }
    }
    for folder in ["any", "rust", "js", "python", "c"] {
        let forgotten: Vec<String> =
            texts(&here.join("templates/extension").join(folder)).difference(&known).cloned().collect();
        assert!(forgotten.is_empty(), "{forgotten:?}");
    }
    let forgotten: Vec<String> = texts(&here.join("../guest-sdk/src")).difference(&known).cloned().collect();
    assert!(forgotten.is_empty(), "{forgotten:?}");
}

#[test]
fn a_bad_name_or_a_taken_folder_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    for name in ["", "Near", "1a", "a b", "../a", "a-"] {
        let refused = write(&args(Language::Js, Part::Matcher, name), &home.path().join("x"));
        assert!(refused.is_err_and(|(message, _)| message.contains("is no name")), "{name}");
    }
    let taken = write(&args(Language::Js, Part::Matcher, "near"), home.path());
    assert!(taken.is_err_and(|(message, _)| message.contains("cannot be made")));
}
