//! Trees of shells, and that nothing of them is left.

use super::*;
use std::path::Path;
use std::process::Command;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

/// Enough for a process to end that means to; a stage that must run out uses [`SHORT`].
const GRACE: Grace = Grace::each(Duration::from_secs(20));
const SHORT: Grace = Grace::each(Duration::from_millis(100));
/// Where a test that runs as a process of its own works.
const SCENE: &str = "MCPTEST_SCENE";

/// A background process, one whose parent is gone, one in another session, and one both.
const FAMILY: &str = r#"
    sleep 1000 & echo $! >> pids
    sh -c 'sleep 1000 & echo $! >> pids'
    setsid sh -c 'echo $$ >> pids; exec sleep 1000' &
    setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >> pids'
    while [ "$(wc -l < pids)" -lt 4 ]; do sleep 0.01; done
"#;

struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        become_subreaper();
        Scene { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a script up to its `echo ready`.
    async fn start(&self, script: &str) -> (Child, Pipes) {
        let (child, mut pipes) = Child::spawn(&shell(script, self.path())).expect("sh starts");
        let mut line = String::new();
        BufReader::new(&mut pipes.stdout).read_line(&mut line).await.expect("a line");
        assert_eq!(line, "ready\n");
        (child, pipes)
    }

    fn pids(&self) -> Vec<u32> {
        let pids = std::fs::read_to_string(self.path().join("pids")).expect("the script notes its processes");
        pids.lines().map(|line| line.parse().expect("a number")).collect()
    }

    fn assert_gone(&self, count: usize) {
        let pids = self.pids();
        assert_eq!(pids.len(), count);
        for pid in pids {
            assert_eq!(lineage::state(pid), None, "{pid} is gone and reaped");
        }
    }
}

fn shell(script: &str, cwd: &Path) -> Spawn {
    Spawn {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: cwd.into(),
        env: Vec::new(),
        inherit_env: true,
    }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test)
}

/// Runs a test of this file as a process of its own, because what it does reaches every child of the process.
fn run_alone(name: &str, folder: &Path) {
    let this = std::env::current_exe().expect("the tests have a path");
    let test = format!("child::tests::{name}");
    let output = Command::new(this).args(["--exact", &test]).env(SCENE, folder).output().expect("the tests start");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn dropping_a_child_ends_its_whole_family() {
    let scene = Scene::new();
    run(async {
        let (child, _pipes) = scene.start(&format!("{FAMILY} echo $$ >> pids; echo ready; cat")).await;
        assert_eq!(lineage::state(child.id()).map(|state| state.ended), Some(false));
        drop(child);
        scene.assert_gone(5);
    });
}

#[test]
fn a_shutdown_ends_what_outlives_the_process() {
    let scene = Scene::new();
    run(async {
        let (mut child, pipes) = scene.start(&format!("{FAMILY} echo ready; cat")).await;
        child.stdin_closes();
        drop(pipes.stdin);
        let shutdown = child.shutdown(GRACE).await;
        assert_eq!((shutdown.by, shutdown.exit.code), ("eof", Some(0)));
        scene.assert_gone(4);
    });
}

#[test]
fn a_process_that_ended_by_itself_leaves_nothing_either() {
    let scene = Scene::new();
    run(async {
        let (mut child, _pipes) = scene.start(&format!("{FAMILY} echo ready; exit 3")).await;
        assert_eq!(child.wait().await, Exit { code: Some(3), signal: None });
        assert_eq!(child.try_exit(), Some(Exit { code: Some(3), signal: None }));
        let shutdown = child.shutdown(GRACE).await;
        assert_eq!((shutdown.by, shutdown.exit.code), ("itself", Some(3)));
        scene.assert_gone(4);
    });
}

#[test]
fn one_that_ignores_eof_is_terminated() {
    let scene = Scene::new();
    run(async {
        let (mut child, pipes) = scene.start("echo $$ >> pids; echo ready; exec sleep 1000").await;
        drop(pipes.stdin);
        let exit = child.end_leader(SHORT).await;
        assert_eq!((child.by, exit.to_string()), ("term", "signal 15 (SIGTERM)".to_owned()));
        scene.assert_gone(1);
    });
}

#[test]
fn one_that_ignores_everything_is_killed_with_its_children() {
    let scene = Scene::new();
    run(async {
        let script =
            "trap '' TERM; setsid sleep 1000 & echo $! >> pids; sleep 1000 & echo $! >> pids; echo ready; wait";
        let (mut child, pipes) = scene.start(script).await;
        drop(pipes.stdin);
        let shutdown = child.shutdown(SHORT).await;
        assert_eq!((shutdown.by, shutdown.exit.to_string()), ("kill", "signal 9 (SIGKILL)".to_owned()));
        scene.assert_gone(2);
    });
}

#[test]
fn a_leftover_that_ignores_sigterm_is_killed() {
    let scene = Scene::new();
    run(async {
        let script = "trap '' TERM; setsid sleep 1000 >/dev/null 2>&1 & echo $! >> pids; echo ready; exit 0";
        let (mut child, _pipes) = scene.start(script).await;
        child.wait().await;
        assert_eq!(child.shutdown(SHORT).await.by, "itself");
        scene.assert_gone(1);
    });
}

#[test]
fn what_a_dying_wrapper_leaves_may_end_in_peace() {
    let scene = Scene::new();
    run(async {
        let server = "trap 'sleep 0.1; echo saved > state; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
        let (mut child, _pipes) = scene.start(&format!("sh -c \"{server}\"; true")).await;
        child.terminate();
        let exit = child.wait().await;
        assert_eq!(exit.signal, Some(15));
        child.end_rest(GRACE.term).await;
        assert_eq!(std::fs::read_to_string(scene.path().join("state")).ok().as_deref(), Some("saved\n"));
    });
}

#[test]
fn neighbours_are_left_alone() {
    let (ours, theirs) = (Scene::new(), Scene::new());
    run(async {
        let (mut child, pipes) = ours.start(&format!("{FAMILY} echo ready; cat")).await;
        let (neighbour, _pipes) = theirs.start(&format!("{FAMILY} echo ready; cat")).await;
        drop(pipes.stdin);
        child.shutdown(GRACE).await;
        drop(child);
        for pid in theirs.pids().into_iter().chain([neighbour.id()]) {
            assert_eq!(lineage::state(pid).map(|state| state.ended), Some(false), "{pid} lives");
        }
        drop(neighbour);
        theirs.assert_gone(4);
    });
}

#[test]
fn waiting_can_be_given_up_and_taken_up_again() {
    let scene = Scene::new();
    run(async {
        let (mut child, pipes) = scene.start("echo ready; cat; exit 7").await;
        assert_eq!(child.try_exit(), None);
        assert!(tokio::time::timeout(Duration::ZERO, child.wait()).await.is_err());
        drop(pipes.stdin);
        assert_eq!(child.wait().await.code, Some(7));
    });
}

#[test]
fn the_environment_is_inherited_only_if_wanted() {
    let scene = Scene::new();
    run(async {
        let mut spawn = shell("", scene.path());
        spawn.env = vec![("GREETING".into(), "hello".into()), ("PATH".into(), "/usr/bin:/bin".into())];
        spawn.inherit_env = false;
        spawn.program = "env".into();
        spawn.args.clear();
        let (_child, mut pipes) = Child::spawn(&spawn).expect("env starts");
        let mut listed = String::new();
        pipes.stdout.read_to_string(&mut listed).await.expect("text");
        let names: Vec<&str> = listed.lines().filter_map(|line| line.split('=').next()).collect();
        assert_eq!(names, ["GREETING", tree::TAG, "PATH"]);
    });
}

#[test]
fn everything_can_be_killed_at_once() {
    let scene = Scene::new();
    run_alone("scene_kill_everything", scene.path());
    let pids = scene.pids();
    assert_eq!(pids.len(), 10);
    for pid in pids {
        assert!(lineage::state(pid).is_none_or(|state| state.ended), "{pid} is gone");
    }
}

#[test]
fn scene_kill_everything() {
    let Some(folder) = std::env::var_os(SCENE) else { return };
    let scene = Scene::new();
    run(async {
        // The orphan of this one hides: no parent, no session, no environment that would tell.
        let hidden = "env -i setsid sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >> pids'";
        let (first, _pipes) = scene.start(&format!("{FAMILY} {hidden}; echo ready; cat")).await;
        std::fs::rename(scene.path().join("pids"), scene.path().join("first")).expect("noted");
        let (second, _pipes) = scene.start(&format!("{FAMILY} echo $$ >> pids; echo ready; cat")).await;
        std::thread::spawn(kill_everything).join().expect("no panic");
        let pids = ["first", "pids"].map(|name| std::fs::read(scene.path().join(name)).expect("noted")).concat();
        std::fs::write(Path::new(&folder).join("pids"), pids).expect("noted");
        let refused = Child::spawn(&shell("true", scene.path())).expect_err("nothing is started any more");
        assert_eq!(refused.to_string(), "`sh` was not started: the run is ending");
        std::mem::forget((first, second));
    });
}

#[test]
fn without_adopting_orphans_they_are_still_found() {
    let scene = Scene::new();
    run_alone("scene_without_adopting", scene.path());
    let pids = scene.pids();
    assert_eq!(pids.len(), 4);
    for pid in pids {
        assert!(lineage::state(pid).is_none_or(|state| state.ended), "{pid} is gone");
    }
}

#[test]
fn scene_without_adopting() {
    let Some(folder) = std::env::var_os(SCENE) else { return };
    run(async {
        let (child, mut pipes) =
            Child::spawn(&shell(&format!("{FAMILY} echo ready; cat"), Path::new(&folder))).expect("sh starts");
        BufReader::new(&mut pipes.stdout).read_line(&mut String::new()).await.expect("a line");
        drop(child);
    });
}

#[test]
fn the_children_of_an_engine_under_test_belong_to_the_outer_tree() {
    let scene = Scene::new();
    run(async {
        let inner =
            format!("{}=$MCPTEST_SESSION/inner-1 setsid sleep 1000 >/dev/null 2>&1 & echo $! >> pids", tree::TAG);
        let (child, _pipes) = scene.start(&format!("sh -c '{inner}'; echo ready; cat")).await;
        drop(child);
        scene.assert_gone(1);
    });
}
