//! What can stand in the way of a program.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn spawn(program: &str, cwd: &Path) -> Spawn {
    Spawn { program: program.into(), args: Vec::new(), cwd: cwd.into(), env: Vec::new(), inherit_env: true }
}

fn write(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).expect("written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("allowed");
}

/// The message with its hints, without the folder's name.
fn refusal(program: &str, cwd: &Path) -> String {
    let spawn = spawn(program, cwd);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let _entered = runtime.enter();
    let error = crate::child::Child::spawn(&spawn).expect_err("it cannot start");
    let lines: Vec<String> =
        [error.to_string()].into_iter().chain(error.hints().into_iter().map(|hint| format!("hint: {hint}"))).collect();
    lines.join("\n").replace(&cwd.display().to_string(), "DIR")
}

#[test]
fn every_refusal_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let cwd = folder.path();
    write(&cwd.join("plain.py"), "print()", 0o644);
    write(&cwd.join("tool"), "#!/bin/sh\n", 0o755);
    write(&cwd.join("lost"), "#!/no/such/interpreter -x\n", 0o755);
    write(&cwd.join("data"), "neither\n", 0o755);
    std::fs::create_dir(cwd.join("folder")).expect("made");
    let cases = [
        ("no-such-program", "no program `no-such-program` on `PATH`\nhint: is it installed, and on `PATH`?"),
        ("", "no program `` on `PATH`\nhint: is it installed, and on `PATH`?"),
        ("tool", "no program `tool` on `PATH`\nhint: the working directory has one: write `./tool`"),
        ("plain.py", "no program `plain.py` on `PATH`\nhint: run it with its interpreter: `python3 plain.py`"),
        (
            "./plain.py",
            "`DIR/./plain.py` is not executable\nhint: make it executable: `chmod +x DIR/./plain.py`\nhint: or run it with `python3`",
        ),
        (
            "./gone",
            "no program `./gone` at that path\nhint: a relative path is taken against the working directory, `DIR`",
        ),
        ("./folder", "`DIR/./folder` is a directory, not a program"),
        ("./lost", "the interpreter of `DIR/./lost` does not exist: its first line is `#!/no/such/interpreter -x`"),
        ("./data", "`DIR/./data` is not a program that this machine can run\nhint: a script needs a first line `#!…`"),
    ];
    for (program, expected) in cases {
        assert_eq!(refusal(program, cwd), expected, "{program}");
    }
}

#[test]
fn a_missing_working_directory_is_named() {
    let error = resolve(&spawn("sh", Path::new("/no/such/folder"))).expect_err("no folder");
    assert_eq!(error.to_string(), "the working directory `/no/such/folder` does not exist");
    let error = resolve(&spawn("sh", Path::new("/dev/null"))).expect_err("no folder");
    assert_eq!(error.to_string(), "the working directory `/dev/null` is not a directory");
}

#[test]
fn the_path_of_the_child_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&folder.path().join("tool"), "#!/bin/sh\n", 0o755);
    let mut spawn = spawn("tool", folder.path());
    assert!(resolve(&spawn).is_err());
    spawn.env.push(("PATH".into(), ".".into()));
    assert_eq!(resolve(&spawn).expect("found"), folder.path().join("./tool"));
}
