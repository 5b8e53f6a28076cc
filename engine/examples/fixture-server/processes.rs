//! What the fixture does as a process: how it starts, what it starts, how it refuses to end.

use crate::options::Options;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Set once SIGTERM is ignored, which lasts through `exec`.
const TERM_IGNORED: &str = "FIXTURE_TERM_IGNORED";

/// Everything that comes before the first line is read.
pub(crate) fn prepare(options: &Options) {
    if options.ignore_term && std::env::var_os(TERM_IGNORED).is_none() {
        ignore_term();
    }
    note_pid(options, std::process::id());
    if let Some(code) = options.exit_at_start {
        eprintln!("cannot start");
        std::process::exit(code);
    }
    if options.fork_child {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn();
        note_pid(options, child.expect("sleep starts").id());
    }
    if options.setsid_child {
        note_pid(options, orphan());
    }
    std::thread::sleep(options.slow_start);
    if let Some(line) = &options.ready_line {
        std::thread::sleep(options.ready_after);
        eprintln!("{line}");
    }
}

/// Becomes a process without stdout that lives until stdin ends.
pub(crate) fn close_stdout() -> ! {
    let error = Command::new("sh").args(["-c", "exec >&-; while read -r line; do :; done"]).exec();
    panic!("sh does not start: {error}");
}

fn ignore_term() -> ! {
    let this = std::env::current_exe().expect("this program has a path");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' TERM; exec \"$0\" \"$@\""]).arg(this).args(std::env::args_os().skip(1));
    let error = shell.env(TERM_IGNORED, "1").exec();
    panic!("sh does not start: {error}");
}

/// Starts a process in a session of its own whose parent is gone.
fn orphan() -> u32 {
    let script = "sleep 1000 >/dev/null 2>&1 & echo $!";
    let mut parent =
        Command::new("setsid").args(["sh", "-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let parent = parent.as_mut().expect("setsid starts");
    let mut pid = String::new();
    parent.stdout.take().expect("stdout is piped").read_to_string(&mut pid).expect("the shell tells the number");
    parent.wait().expect("the shell ends");
    pid.trim().parse().expect("the number is one")
}

fn note_pid(options: &Options, pid: u32) {
    if let Some(path) = &options.pid_file {
        let mut file = std::fs::File::options().create(true).append(true).open(path).expect("the pid file opens");
        writeln!(file, "{pid}").expect("the pid file takes a line");
    }
}
