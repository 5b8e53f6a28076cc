//! Compiled code that cannot be trusted is never executed: it is compiled again, and the run says so.

use crate::guests::guest;
use crate::kit::{Place, Said, said};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const SUITE: &str =
    "tools:\n  - { it: passes, tool: echo, args: { message: hi }, expect: { text: { $hostile: { do: pass } } } }\n";

fn place() -> Place {
    let place = Place::with_config(&[], "extensions: { hostile: ./hostile.wasm }\n", SUITE);
    std::fs::copy(guest("hostile"), place.path("hostile.wasm")).expect("a copy");
    place
}

fn run(place: &Place, args: &[&str]) -> Said {
    let mut command = place.command(&[&["run"], args].concat());
    let said = said(command.env("MCPTEST_CACHE_DIR", place.path("cache")).output().expect("the binary runs"));
    assert_eq!(said.code, 0, "{}{}", said.stdout, said.stderr);
    said
}

fn entry(place: &Place) -> PathBuf {
    let folder = std::fs::read_dir(place.path("cache/extensions")).expect("the cache");
    let mut entries = folder.flatten().map(|entry| entry.path());
    entries.find(|path| path.extension().is_some_and(|extension| extension == "cwasm")).expect("an entry")
}

#[test]
fn a_second_run_uses_what_the_first_one_compiled() {
    let place = place();
    assert_eq!(run(&place, &[]).stderr, "");
    let path = entry(&place);
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(run(&place, &[]).stderr, "");
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written);
}

#[test]
fn what_was_changed_is_compiled_again() {
    let place = place();
    run(&place, &[]);
    let path = entry(&place);
    let good = std::fs::read(&path).unwrap();
    let corrupt = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        bytes
    };
    let changed =
        [corrupt(good.len() / 2), corrupt(4), good[..good.len() / 2].to_vec(), Vec::new(), b"#!/bin/sh".to_vec()];
    for bytes in changed {
        std::fs::write(&path, bytes).unwrap();
        let said = run(&place, &[]);
        assert!(said.stderr.contains("it is not what was written; it was compiled again"), "{}", said.stderr);
        assert_eq!(run(&place, &[]).stderr, "", "and is good again");
    }
}

#[test]
fn what_was_swapped_is_compiled_again() {
    let place = place();
    run(&place, &[]);
    let hostile = entry(&place);
    std::fs::rename(&hostile, place.path("hostile.cwasm")).unwrap();
    std::fs::copy(guest("greedy"), place.path("hostile.wasm")).unwrap();
    let mut command = place.command(&["extension", "inspect", "hostile.wasm"]);
    command.env("MCPTEST_CACHE_DIR", place.path("cache")).output().unwrap();
    let greedy = entry(&place);
    std::fs::rename(&greedy, &hostile).unwrap();
    std::fs::copy(guest("hostile"), place.path("hostile.wasm")).unwrap();
    let said = run(&place, &[]);
    assert!(said.stderr.contains("it was compiled again"), "{}", said.stderr);
}

#[test]
fn what_others_can_write_is_not_loaded() {
    let place = place();
    run(&place, &[]);
    let path = entry(&place);
    let mode =
        |path: &PathBuf, mode: u32| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(&path, 0o666);
    assert!(run(&place, &[]).stderr.contains("somebody else can write it; it was compiled again"));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert!(run(&place, &[]).stderr.contains("it is no file; it was compiled again"));
    let folder = place.path("cache/extensions");
    mode(&folder, 0o777);
    assert!(run(&place, &[]).stderr.contains("compiled extensions are not kept: somebody else can write"));
}

#[test]
fn a_missing_seal_is_no_seal() {
    let place = place();
    run(&place, &[]);
    std::fs::remove_file(entry(&place).with_extension("seal")).unwrap();
    assert!(run(&place, &[]).stderr.contains("its seal is missing; it was compiled again"));
}

/// A disk that is full, or a folder that cannot be written, is no reason not to run.
#[test]
fn what_cannot_be_kept_is_used_all_the_same() {
    let place = place();
    run(&place, &[]);
    let path = entry(&place);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let said = run(&place, &[]);
    assert!(said.stderr.contains("the compiled code of `hostile` cannot be kept: "), "{}", said.stderr);
}

#[test]
fn it_can_be_left_alone_and_cleaned() {
    let place = place();
    run(&place, &["--no-cache"]);
    assert!(!place.path("cache").exists());
    run(&place, &[]);
    let mut command = place.command(&["cache", "clean"]);
    let cleaned = said(command.env("MCPTEST_CACHE_DIR", place.path("cache")).output().expect("the binary runs"));
    assert_eq!(cleaned.code, 0);
    assert!(cleaned.stdout.starts_with("compiled extensions: removed "), "{}", cleaned.stdout);
    assert_eq!(std::fs::read_dir(place.path("cache/extensions")).unwrap().count(), 0);
}

/// A server starts while a component is compiled, and is ended again when the plan turns out to be wrong.
#[test]
fn on_a_cold_cache_servers_start_meanwhile_and_no_step_is_sent_too_early() {
    let place = place();
    let wrong = SUITE.replace("{ do: pass }", "{ check: refuse }");
    place.write("suite.test.mcp.yml", &wrong);
    let mcptest = |args: &[&str]| {
        let mut command = place.command(&[&["run"], args].concat());
        said(command.env("MCPTEST_CACHE_DIR", place.path("cache")).output().expect("the binary runs"))
    };
    let cold = mcptest(&[]);
    assert_eq!(cold.code, 2, "{}{}", cold.stdout, cold.stderr);
    assert_eq!(place.read("pids").lines().count(), 1, "the server was started, and nothing else of it");
    place.assert_nothing_left();
    let warm = mcptest(&[]);
    assert_eq!((warm.code, &warm.stderr), (2, &cold.stderr), "with the code at hand the answer is the same");
    assert_eq!(place.read("pids").lines().count(), 1, "and no server is started for it");
    place.write("suite.test.mcp.yml", SUITE);
    assert_eq!(mcptest(&["--no-cache"]).code, 0);
    assert_eq!(place.read("pids").lines().count(), 2, "the server that was started first is the one that is used");
    place.assert_nothing_left();
}
